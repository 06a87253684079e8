"""The configuration of a study: all that its decisions depend on beside what was observed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from grbp import __version__
from grbp.errors import Damaged, InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.counters import NO_COUNTS, Counters, initial_counters
from grbp.learners.memory import Memory, MemoryLike, as_memory
from grbp.learners.registry import LearnerLike, find_learner, with_horizon
from grbp.learners.serialization import check_constants, learner_json, restore_learner
from grbp.learners.state_counters import LARGEST_GOAL, empty_state_counters
from grbp.live.arguments import MOST_CASES, check_label, check_text
from grbp.live.labels import dump_labels, load_labels
from grbp.live.learner_names import (
    BY_STATE,
    choose_learner,
    name_learner,
    read_memory,
    read_model,
)
from grbp.live.schema import dumps, loads
from grbp.live.starts import (
    DRAWN,
    FIRST,
    check_kept_start,
    check_start,
    first_counts,
    first_round,
)
from grbp.numerics.intervals import check_level
from grbp.numerics.rng import LEARNER, OPENING, replica_key, uniform
from grbp.worlds.labels import Labels
from grbp.worlds.transition import Action
from grbp.worlds.validation import as_seed, check_count, check_goal, check_positive, check_whole

CONTINUE, FINISH = (action.name.lower() for action in Action)

_DAY: Final = 86_400.0
_MOST_DAYS: Final = 36_500.0
_EMPTY: Final = NO_COUNTS._replace(rho=1)
_OPTIONAL: Final = ("groups", "alarms", "labels", "seen", "former")
_MOST_GROUPS: Final = 100
_MOST_COUNTS: Final = 5_000


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
    start : str, list or dict
        "drawn", "first", or the counters to begin with; those of each group, if they differ.
    level : float
        The level of the intervals, and of the alarms.
    version : str
        The version of this package that made the study.
    groups : list of str
        The names of the groups, each of which has counters of its own; empty without groups.
    alarms : bool
        Whether the study watches if one chance describes its cases.
    labels : dict
        The study's own words for its states, actions and cases; no decision depends on them.
    seen : bool
        Whether every event says what was seen by group and, unless there are many, by state; no
        decision depends on it.
    former : list of dict
        The learners that decided before this one, the first one first: each as a file keeps it
        (`learner`), its `constants`, the last of its `cases`, and the `event` that changed it.

    Notes
    -----
    Studies of former versions have neither groups nor alarms nor words, nor do they keep what was
    seen, and their configurations name none of them: what has its old meaning is left out, and so
    are former learners where there are none.
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
    groups: list[str] = field(default_factory=list)
    alarms: bool = False
    labels: dict[str, list[str]] = field(default_factory=dict)
    seen: bool = False
    former: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The configuration as JSON."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        return dumps({k: value for k, value in named.items() if value or k not in _OPTIONAL})

    def equals(self, other: "Config") -> bool:
        """Return whether a study with the other would be the same from now on.

        Which version made it does not matter, nor which learners decided before.
        """
        same: dict[str, Any] = {"version": "", "seen": False, "former": []}
        return replace(self, **same) == replace(other, **same)

    def change_learner(self, learner: Any, constants: Any, cases: int, event: int) -> "Config":
        """Return the configuration after an event from which on another learner decides."""
        was = {"learner": self.learner, "constants": self.constants, "cases": cases, "event": event}
        return replace(self, learner=learner, constants=constants, former=[*self.former, was])

    @property
    def former_cases(self) -> int:
        """How many cases former learners decided."""
        return int(self.former[-1]["cases"]) if self.former else 0

    def at(self, case: int) -> "Config":
        """Return the configuration by which a case is, or was, decided: with the learner then."""
        for one in self.former:
            if case <= one["cases"]:
                return replace(self, learner=one["learner"], constants=one["constants"], former=[])
        return self

    @property
    def learner_name(self) -> str:
        """The name of the learner."""
        return str(self.learner if isinstance(self.learner, str) else self.learner["name"])

    @cached_property
    def words(self) -> Labels:
        """What the states, the actions and the cases are called."""
        return load_labels(self.labels, self.goal)

    @cached_property
    def by_state(self) -> bool:
        """Whether the learner decides by state: it chooses a policy, and no threshold."""
        return self.model != "one"

    @cached_property
    def model(self) -> str:
        """What the learner takes for granted: "one", "state" or "averaged"."""
        return read_model(self.learner)

    @cached_property
    def memory(self) -> MemoryLike | None:
        """How many cases the learner remembers, or "averaged"; None if it never forgets."""
        return read_memory(self.learner_name)

    @cached_property
    def memories(self) -> Memory:
        """What is left of every count when a case is opened, for each memory of the learner."""
        return as_memory(self.memory or 0.0)

    @cached_property
    def plain(self) -> bool:
        """Whether one set of counters of Algorithm 1 is all that is kept."""
        return not (self.groups or self.by_state or self.memory)

    @cached_property
    def states_seen(self) -> int:
        """How many states are told apart where events say what was seen: all, or none of many."""
        states, groups = self.goal - 1, max(len(self.groups), 1)
        few = self.goal <= LARGEST_GOAL and 4 * states * groups <= _MOST_COUNTS
        return states if few else 1

    def number_of(self, group: str) -> int:
        """Return the number of a group, from 0."""
        return self.groups.index(group) if self.groups else 0

    @property
    def days(self) -> dict[str, float]:
        """The windows in days."""
        return {action: seconds / _DAY for action, seconds in self.windows.items()}

    @property
    def planned(self) -> int | None:
        """The number of cases that the learner was told of; None if it was told none."""
        horizon = self.constants.get("horizon", 0.0)
        if self.groups or not 0.0 < horizon < math.inf:
            return None
        return max(0, int(horizon) - self.first_round + 1)  # Past cases are rounds as well.

    @cached_property
    def first_round(self) -> int:
        """The round of the first case: those of the records come before."""
        return first_round(self.start)

    @cached_property
    def first(self) -> Counters:
        """The counters of Algorithm 1 before the first case, of all groups together."""
        if self.start == FIRST or (self.by_state and self.start == DRAWN):
            return _EMPTY
        if self.start == DRAWN:
            key = replica_key(self.seed, OPENING, 0)
            return initial_counters(uniform(key, 0), uniform(key, 1))
        return first_counts(self.start, by_state=self.by_state)

    def first_of(self, group: str) -> tuple[int, list[float]]:
        """Return the first round of a group, and what is counted in it before."""
        start = self.start[group] if isinstance(self.start, dict) else self.start
        if not isinstance(start, str):
            rho, *counts = start
            return rho, [one for part in counts for one in part] if self.by_state else counts
        return 1, [0.0] * (4 * (self.goal - 1)) if self.by_state else list(self.first[1:])

    @cached_property
    def drawn(self) -> Counters | None:
        """The drawn estimates among the counters, which nobody observed; None without any.

        With a memory they are forgotten case by case, and not worth a word.
        """
        counted = self.start == DRAWN and not self.by_state and self.memory is None
        return self.first if counted else None

    @cached_property
    def learner_key(self) -> int:
        """The key of the learner's draws."""
        return replica_key(self.seed, LEARNER, 0)

    def resolve_learner(self, given: LearnerLike | None) -> AnyLearner:
        """Return the learner, or refuse one that is not that of the study any more."""
        if given is None and isinstance(self.learner, str):
            return self._known_learner
        return self._find_learner(given)

    @cached_property
    def _known_learner(self) -> AnyLearner:
        return self._find_learner(None)

    def _find_learner(self, given: LearnerLike | None) -> AnyLearner:
        kept = self.learner
        if not isinstance(kept, str):
            kept = {name: part for name, part in kept.items() if name != "model"}
        found = find_learner(restore_learner(kept, given, self.goal, "study", ""), self.goal)
        check_constants(self.constants, found, "study")
        return _check_learner(found)


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
    names = [one.name for one in fields(Config) if one.name not in _OPTIONAL]
    if not isinstance(given, dict) or sorted({*map(str, given)} - {*_OPTIONAL}) != sorted(names):
        raise InvalidInput(f"a configuration was given that has not exactly {', '.join(names)}")
    config = Config(**given)
    _check_plain(given)
    check_text("name", config.name, 64)
    check_goal(config.goal)
    check_whole("seed", config.seed, 0, 2**128 - 1)
    _check_bool("shadow", config.shadow)
    _check_windows(config.windows, unit=_DAY)
    check_level(config.level)
    check_text("version", config.version, 64)
    _check_learners(config)
    check_groups(config.groups)
    _check_bool("alarms", config.alarms)
    _check_bool("seen", config.seen)
    load_labels(config.labels, config.goal)
    _check_size(config)
    if not (isinstance(config.start, str) and config.start in (DRAWN, FIRST)):
        check_kept_start(config.start, config.goal, config.groups, by_state=config.by_state)
    return config


def _check_learners(config: Config) -> None:
    """Refuse learners, the present one or a former one, of which something is missing or wrong."""
    check_deciding(config.learner, config.constants)
    for one in config.former:
        if sorted(one) != ["cases", "constants", "event", "learner"]:
            raise InvalidInput(f"a former learner {one!r} was given, which lacks a part")
        check_change(config, one["learner"], one["constants"])
        check_whole("cases", one["cases"], 0, MOST_CASES)
        check_whole("event", one["event"], 2, MOST_CASES)


def check_change(config: Config, learner: Any, constants: Any) -> None:
    """Refuse a learner that cannot go on from what a study counts."""
    check_deciding(learner, constants)
    name = learner if isinstance(learner, str) else learner["name"]
    kinds, counts = ("a threshold", "by state"), "; this study counts for one that"
    by_state, memory = read_model(learner) != "one", config.memory
    if by_state != config.by_state:
        raise InvalidInput(
            f"the learner {name} was given, which decides {kinds[by_state]}{counts} decides"
            f" {kinds[config.by_state]}: begin a new study with its records"
        )
    if read_memory(name) != memory:
        must = "never forgets" if memory is None else f"remembers as memory={memory} says"
        raise InvalidInput(
            f"the learner {name} was given{counts} {must}: say that in its name, or begin a new"
            " study with its records"
        )


def check_deciding(learner: Any, constants: Any) -> None:
    """Refuse what a configuration cannot keep of the learner that decides."""
    name = learner
    if isinstance(learner, dict):
        name = learner.get("name")
        if learner.get("model", "state") not in BY_STATE:
            raise InvalidInput(
                f"the model {learner['model']!r} was given; it must be one of {', '.join(BY_STATE)}"
            )
    check_text("learner", name, 1_000)
    if not isinstance(constants, dict):
        raise InvalidInput(f"constants = {constants!r} was given; it must be a dict of numbers")
    for constant, value in constants.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"the constant {constant} = {value!r} was given; it is no number")


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


def make_config(
    name: str, goal: object, learner: LearnerLike, cases: object, settings: Mapping[str, Any]
) -> Config:
    """Check what a study is to be, and return its configuration."""
    goal = check_goal(goal)
    found = _check_learner(find_learner(learner, goal))
    groups = check_groups(settings.get("groups"))
    start = check_start(settings["start"], found, goal, groups)
    if cases is not None:
        learner = _tell_cases(learner, goal, cases, start, groups)
    alarms, words = settings.get("alarms"), settings.get("labels", Labels())
    kept, constants = describe_learner(learner, goal, settings.get("model"))
    config = Config(
        name=check_label("name", name, 64),
        goal=goal,
        learner=kept,
        constants=constants,
        seed=as_seed(settings["seed"]),
        shadow=_check_bool("shadow", settings["shadow"]),
        windows=_check_windows(_read_windows(settings["windows"], words)),
        start=start,
        level=check_level(settings["level"]),
        version=this_version(),
        groups=groups,
        # They count every state apart, in every event.
        alarms=goal <= LARGEST_GOAL if alarms is None else _check_bool("alarms", alarms),
        labels=dump_labels(words),
        seen=True,
    )
    _check_size(config)
    return replace(config)  # Nothing is worked out in it yet.


def describe_learner(
    learner: LearnerLike, goal: int, model: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return what a configuration keeps of a learner: its name and digest, and its constants."""
    found = _check_learner(find_learner(learner, goal))
    if (found.memory or None) != read_memory(name_learner(learner)):
        raise InvalidInput(
            f"the learner {found.name} was given, which forgets; a study needs its memory in its"
            " name, such as getbe-ps:memory=500"
        )
    learner, model = choose_learner(learner, model, None, goal)
    kept = learner_json(learner, goal)
    if read_model(kept) != model:  # Only the name of a learner of the user's own does not say it.
        kept |= {"model": model}
    return kept, found.constants._asdict()


def _check_size(config: Config) -> None:
    """Refuse more counts than every event can say, and more states than are counted apart."""
    if config.by_state:
        empty_state_counters(config.goal)
    if config.alarms and config.goal > LARGEST_GOAL:
        raise InvalidInput(
            f"alarms were asked for with a goal of {config.goal:,}; it must be at most"
            f" {LARGEST_GOAL}"
        )
    places = 4 * (config.goal - 1) if config.by_state else len(NO_COUNTS)
    counts = places * max(len(config.groups), 1) * len(config.memories.keep)
    if not config.plain and counts > _MOST_COUNTS:
        raise InvalidInput(
            f"{counts:,} counts by state, group and memory were asked for; there must be at most"
            f" {_MOST_COUNTS:,}"
        )


def this_version() -> str:
    """Return the version of this package."""
    return __version__


def check_groups(given: object) -> list[str]:
    """Return the names of groups, or refuse what are none."""
    if given is None or given == []:
        return []
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"groups = {given!r} was given; it must be a list of names")
    names = [check_label("a group", one, 64) for one in given]
    if len(set(names)) < len(names) or not 2 <= len(names) <= _MOST_GROUPS:
        raise InvalidInput(
            f"groups = {given!r} was given; it must be 2 to {_MOST_GROUPS} names, none of them"
            " twice"
        )
    return names


def _tell_cases(
    learner: LearnerLike, goal: int, cases: object, start: Any, groups: list[str]
) -> LearnerLike:
    """Tell a learner how many cases will come, in addition to those of the records."""
    number = check_count("cases", cases, 1, MOST_CASES)
    if groups:
        raise InvalidInput(
            f"cases = {number} was given with groups; nobody knows how many of each will come:"
            " leave it out"
        )
    return with_horizon(learner, first_round(start) - 1 + number, goal)


def _check_learner(found: AnyLearner) -> AnyLearner:
    """Refuse the learner of policies, which has no counters."""
    if not (found.by_threshold or found.by_state):
        raise InvalidInput(
            "the learner ucb1-policies was given; a study needs one that decides a threshold,"
            " or an action for every state, from counters, such as doorstep-optimal"
        )
    return found


def _check_bool(name: str, given: object) -> bool:
    """Return an answer to yes or no; a word is none."""
    if not isinstance(given, bool | np.bool_):
        raise InvalidInput(f"{name} = {given!r} was given; it must be True or False")
    return bool(given)


def _read_windows(given: object, words: Labels) -> object:
    """Return windows by the names of the actions, which may be given by their words."""
    if not isinstance(given, Mapping):
        return {} if given is None else given
    return {words.read_action(action): days for action, days in given.items()}


def _check_windows(given: object, unit: float = 1.0) -> dict[str, float]:
    """Return the windows in seconds, from days or from another unit of which a day has so many."""
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"windows = {given!r} was given; it must be a dict of days by action, such as"
            " {'finish': 30}"
        )
    windows = {}
    for action, length in given.items():
        if not isinstance(action, str) or action not in (CONTINUE, FINISH):
            raise InvalidInput(
                f"a window for {action!r} was given; it must be for 'continue' or 'finish'"
            )
        days = length / unit if type(length) in (int, float) else length
        number = check_positive(f"the window for {action}", days)
        if number > _MOST_DAYS:
            raise InvalidInput(
                f"a window of {number:g} days was given; it must be at most {_MOST_DAYS:,.0f}"
            )
        windows[action] = number * _DAY
    return dict(sorted(windows.items()))
