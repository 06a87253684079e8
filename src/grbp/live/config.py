"""The configuration of a study: all that its decisions depend on beside what was observed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from grbp import __version__
from grbp.errors import Damaged, InvalidInput
from grbp.learners.base import Learner
from grbp.learners.counters import NO_COUNTS, Counters, initial_counters
from grbp.learners.registry import (
    LearnerLike,
    find_problem_learner,
    is_path,
    with_horizon,
)
from grbp.learners.serialization import (
    check_constants,
    check_counters,
    learner_json,
    restore_learner,
)
from grbp.live.arguments import MOST_CASES, check_label, check_text
from grbp.live.schema import dumps, loads
from grbp.model.transition import Action
from grbp.model.validation import as_seed, check_count, check_goal, check_positive, check_whole
from grbp.numerics.intervals import check_level
from grbp.numerics.rng import LEARNER, OPENING, replica_key, uniform

DRAWN: Final[str] = "drawn"
FIRST: Final[str] = "first"
"""Two ways to begin: with drawn estimates, or with one first CONTINUE and one first FINISH."""

CONTINUE, FINISH = (action.name.lower() for action in Action)

_DAY: Final = 86_400.0
_MOST_DAYS: Final = 36_500.0
_EMPTY: Final = NO_COUNTS._replace(rho=1)


@dataclass(frozen=True)
class Config:
    """What a study is locked to when its first case opens.

    Attributes
    ----------
    name : str
    goal : int
    learner : str or dict
        The learner as a file keeps it.
    constants : dict
        The learner's constants.
    seed : int
        The seed of the learner's draws and of drawn first estimates.
    shadow : bool
        Whether nobody is advised.
    windows : dict
        For an action, the seconds after which its outcome counts, if it has a window.
    start : str or list
        "drawn", "first", or the counters to begin with.
    level : float
        The level of the intervals.
    version : str
        The version of this package that made the study.
    """

    name: str
    goal: int
    learner: Any
    constants: dict[str, float]
    seed: int
    shadow: bool
    windows: dict[str, float]
    start: Any
    level: float
    version: str

    @property
    def text(self) -> str:
        """The configuration as JSON."""
        return dumps({one.name: getattr(self, one.name) for one in fields(self)})

    def equals(self, other: "Config") -> bool:
        """Return whether a study with the other would be the same, whichever version made it."""
        return replace(self, version="") == replace(other, version="")

    @property
    def learner_name(self) -> str:
        """The name of the learner."""
        return str(self.learner if isinstance(self.learner, str) else self.learner["name"])

    @property
    def days(self) -> dict[str, float]:
        """The windows in days."""
        return {action: seconds / _DAY for action, seconds in self.windows.items()}

    @property
    def planned(self) -> int | None:
        """The number of cases that the learner was told of; None if it was told none."""
        horizon = self.constants.get("horizon", 0.0)
        if not 0.0 < horizon < math.inf:
            return None
        return max(0, int(horizon) - self.first.rho + 1)  # Past cases are rounds as well.

    @cached_property
    def first(self) -> Counters:
        """The counters before the first case."""
        if self.start == FIRST:
            return _EMPTY
        if self.start == DRAWN:
            key = replica_key(self.seed, OPENING, 0)
            return initial_counters(uniform(key, 0), uniform(key, 1))
        return Counters(*self.start)

    @cached_property
    def drawn(self) -> Counters | None:
        """The drawn estimates among the counters, which nobody observed; None without any."""
        return self.first if self.start == DRAWN else None

    @cached_property
    def learner_key(self) -> int:
        """The key of the learner's draws."""
        return replica_key(self.seed, LEARNER, 0)

    def resolve_learner(self, given: LearnerLike | None) -> Learner:
        """Return the learner, or refuse one that is not that of the study any more."""
        if given is None and isinstance(self.learner, str):
            return self._known_learner
        return self._find_learner(given)

    @cached_property
    def _known_learner(self) -> Learner:
        return self._find_learner(None)

    def _find_learner(self, given: LearnerLike | None) -> Learner:
        found = find_problem_learner(
            restore_learner(self.learner, given, self.goal, "study"), self.goal
        )
        check_constants(self.constants, found, "study")
        return _check_thresholds(found)


@lru_cache(maxsize=256)
def load_config(text: str) -> Config:
    """Read a configuration."""
    try:
        return check_config(loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise Damaged("the configuration of the study is damaged; restore a backup") from error


def check_config(given: Any) -> Config:
    """Return a configuration that was read, or refuse one that no study can have.

    It is checked as that of a new study is, but for its learner, which may be one of the user's own
    or of another version.
    """
    names = [one.name for one in fields(Config)]
    if not isinstance(given, dict) or sorted(map(str, given)) != sorted(names):
        raise InvalidInput(f"a configuration was given that has not exactly {', '.join(names)}")
    config = Config(**given)
    _check_plain(given)
    check_text("name", config.name, 64)
    check_goal(config.goal)
    check_whole("seed", config.seed, 0, 2**128 - 1)
    _check_shadow(config.shadow)
    days = _check_windows(_to_days(config.windows))
    check_level(config.level)
    check_text("version", config.version, 64)
    name = config.learner if isinstance(config.learner, str) else _custom_name(config.learner)
    check_text("learner", name, 1_000)
    if len(days) != len(config.windows) or not isinstance(config.constants, dict):
        raise InvalidInput("constants or windows were given that are not a dict of numbers")
    for constant, value in config.constants.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"the constant {constant} = {value!r} was given; it is no number")
    if not (isinstance(config.start, str) and config.start in (DRAWN, FIRST)):
        _check_kept_start(config.start)
    return config


def _to_days(windows: object) -> object:
    """Return windows in days, from seconds, where they are windows at all."""
    if not isinstance(windows, dict):
        return windows
    return {
        action: seconds / _DAY if type(seconds) in (int, float) else seconds
        for action, seconds in windows.items()
    }


def _custom_name(learner: object) -> object:
    """Return the name of a learner of the user's own, as a file keeps it."""
    return learner.get("name") if isinstance(learner, dict) else learner


def _check_plain(value: object) -> None:
    """Refuse what is in no configuration, at any depth: NaN, and what is not JSON."""
    parts = [value]
    for part in parts:
        if isinstance(part, dict):
            parts += [*part, *part.values()]
        elif isinstance(part, list):
            parts += part
        elif isinstance(part, float) and math.isnan(part):
            raise InvalidInput("a configuration was given with NaN; it must have numbers")


def _check_kept_start(start: object) -> None:
    """Refuse a start that is neither a word nor counters."""
    if not isinstance(start, list) or len(start) != len(_EMPTY):
        raise InvalidInput(
            f"start = {start!r} was given; it must be 'drawn', 'first', or {len(_EMPTY)} counters"
        )
    check_counters(Counters(*start), find_problem_learner("threshold-0", 2))
    if any(count != int(count) for count in start):
        raise InvalidInput(f"start = {start!r} was given; counts must be whole numbers")


def check_imported(given: Any) -> Config:
    """Return the configuration of a study that others send, or refuse it as `make_config` would."""
    config = check_config(given)
    check_label("name", config.name, 64)
    if isinstance(config.learner, str) and not is_path(config.learner):
        _check_thresholds(find_problem_learner(config.learner, config.goal))
    return config


def make_config(
    name: str, goal: object, learner: LearnerLike, cases: object, settings: Mapping[str, Any]
) -> Config:
    """Check what a study is to be, and return its configuration."""
    goal = check_goal(goal)
    found = _check_thresholds(find_problem_learner(learner, goal))
    start = _check_start(settings["start"], found, goal)
    if cases is not None:
        learner = _tell_cases(learner, goal, cases, start)
        found = _check_thresholds(find_problem_learner(learner, goal))
    return Config(
        name=check_label("name", name, 64),
        goal=goal,
        learner=learner_json(learner, goal),
        constants=found.constants._asdict(),
        seed=as_seed(settings["seed"]),
        shadow=_check_shadow(settings["shadow"]),
        windows=_check_windows(settings["windows"]),
        start=start,
        level=check_level(settings["level"]),
        version=this_version(),
    )


def this_version() -> str:
    """Return the version of this package."""
    return __version__


def _tell_cases(learner: LearnerLike, goal: int, cases: object, start: Any) -> LearnerLike:
    """Tell a learner how many cases will come, in addition to those of the records."""
    number = check_count("cases", cases, 1, MOST_CASES)
    if not isinstance(learner, str):
        raise InvalidInput(
            f"cases = {number} was given with a learner that is no name; set its horizon yourself"
        )
    past = start[0] - 1 if isinstance(start, list) else 0
    return with_horizon(learner, past + number, goal)


def _check_thresholds(found: object) -> Learner:
    """Refuse the learner of policies: a case is advised by a threshold."""
    if not isinstance(found, Learner):
        raise InvalidInput(
            "the learner ucb1-policies was given; a study needs one that decides a threshold from"
            " counters, such as doorstep-optimal"
        )
    return found


def _check_shadow(given: object) -> bool:
    """Return whether nobody is advised; a word is not an answer."""
    if not isinstance(given, bool | np.bool_):
        raise InvalidInput(f"shadow = {given!r} was given; it must be True or False")
    return bool(given)


def _check_windows(given: object) -> dict[str, float]:
    """Return the windows in seconds, from days."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"windows = {given!r} was given; it must be a dict of days by action, such as"
            " {'finish': 30}"
        )
    windows = {}
    for action, days in (given or {}).items():
        if not isinstance(action, str) or action not in (CONTINUE, FINISH):
            raise InvalidInput(
                f"a window for {action!r} was given; it must be for 'continue' or 'finish'"
            )
        number = check_positive(f"the window for {action}", days)
        if number > _MOST_DAYS:
            raise InvalidInput(
                f"a window of {number:g} days was given; it must be at most {_MOST_DAYS:,.0f}"
            )
        windows[action] = number * _DAY
    return dict(sorted(windows.items()))


def _check_start(given: object, learner: Learner, goal: int) -> Any:
    """Return how a study begins: a word, or counters."""
    if isinstance(given, str) and given in (DRAWN, FIRST):
        return given
    counters = getattr(given, "counters", given)  # A fit has counters.
    if not isinstance(counters, Counters):
        raise InvalidInput(
            f"start = {given!r} was given; it must be 'drawn', 'first', counters or a fit"
        )
    if getattr(given, "goal", goal) != goal:
        raise InvalidInput(f"a fit with another goal was given; it must be one with goal {goal}")
    known = check_counters(counters, learner)
    if any(count != int(count) for count in known):
        raise InvalidInput(f"start = {known!r} was given; counts of records must be whole numbers")
    return list(known)
