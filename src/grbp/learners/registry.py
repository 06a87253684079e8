"""Every learner, by its name on the shell.

A new learner is one function in a file of this folder and one line in the table below.
"""

import inspect
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from grbp.errors import InvalidInput, did_you_mean
from grbp.learners.averaged_states import AVERAGED
from grbp.learners.base import AnyLearner, Learner
from grbp.learners.baselines import EPSILON_GREEDY, EXPLORE_THEN_COMMIT, fixed_threshold
from grbp.learners.bayes_ucb import BAYES_UCB
from grbp.learners.best_of_chain import best_of_chain
from grbp.learners.custom import CustomLearner, import_learner
from grbp.learners.doorstep import DOORSTEP_KL
from grbp.learners.doorstep_optimal import DOORSTEP_OPTIMAL
from grbp.learners.getbe import NO_EXPLORE, POSTERIOR_SAMPLING, SAMPLE_MEAN, UPPER_CONFIDENCE
from grbp.learners.kl_ucb_states import KL_UCB_STATES
from grbp.learners.memory import check_memory
from grbp.learners.policy_bandits import KL_UCB, PS_POLSELECTION, UCB_POLSELECTION
from grbp.learners.psrl import PSRL
from grbp.learners.state_learner import StateLearner
from grbp.learners.ucb1_policies import PolicyLearner
from grbp.theory.values import optimal_threshold
from grbp.worlds.chain import Chain
from grbp.worlds.problem import Problem
from grbp.worlds.validation import check_count, check_goal, check_positive, check_threshold

LearnerLike: TypeAlias = str | AnyLearner | CustomLearner
"""A learner, or the name of one; `find_learner` says which names there are."""

StoredLearner: TypeAlias = str | CustomLearner
"""A learner as a file keeps it: by its name or, where others wrote it, with a digest as well."""


def oracle(problem: Problem | Chain | int) -> AnyLearner:
    """Make the learner that knows the problem, or the chain, and plays what is optimal."""
    if isinstance(problem, Chain):
        return best_of_chain(problem)
    if not isinstance(problem, Problem):
        raise InvalidInput(
            "the learner 'oracle' was asked for; it needs the probabilities, which are not known"
            " here"
        )
    summary = "Play the optimal threshold, knowing the probabilities"
    return replace(fixed_threshold(optimal_threshold(problem)), name="oracle", summary=summary)


def ucb1_policies(problem: Problem | Chain | int) -> PolicyLearner:
    """Make UCB1 over all deterministic policies of a goal."""
    return PolicyLearner(_goal_of(problem))


def _goal_of(problem: Problem | Chain | int) -> int:
    """Return the goal of a problem, or the goal itself if it is valid."""
    return check_goal(getattr(problem, "goal", problem))


LEARNERS: Final[dict[str, Learner | Callable[[Problem | Chain | int], AnyLearner]]] = {
    learner.name: learner
    for learner in (
        DOORSTEP_OPTIMAL,
        DOORSTEP_KL,
        SAMPLE_MEAN,
        POSTERIOR_SAMPLING,
        UPPER_CONFIDENCE,
        PS_POLSELECTION,
        UCB_POLSELECTION,
        NO_EXPLORE,
        EXPLORE_THEN_COMMIT,
        EPSILON_GREEDY,
        KL_UCB,
        BAYES_UCB,
    )
} | {"ucb1-policies": ucb1_policies, "oracle": oracle}
"""Every learner by name, or a function that makes it for a problem where it depends on one.

`find_learner` looks a learner up and makes it; ``grbp learners`` lists them on the shell.
"""

STATE_LEARNERS: Final[dict[str, StateLearner]] = {
    learner.name: learner for learner in (AVERAGED, PSRL, KL_UCB_STATES)
}
"""Every learner by state by name: for chains whose chances differ by state."""

_ALL: Final = (*LEARNERS, *STATE_LEARNERS)

_MOST_TOLD: Final = 2**53
"""The most rounds that a learner is told of: as far as a float counts."""

DEFAULT_LEARNER: Final = DOORSTEP_OPTIMAL.name
"""The learner to use where nothing speaks for another: it needs no horizon and no tuning."""

MODELS: Final = {"one": DEFAULT_LEARNER, "state": PSRL.name, "averaged": AVERAGED.name}
"""The learner of each model of the cases: one chance for all states, one for each, or both."""


def find_problem_learner(given: LearnerLike, problem: Problem | int) -> AnyLearner:
    """Find a learner of the paper's problems; refuse one by state, and one that forgets."""
    found = find_learner(given, problem)
    if found.by_state:
        raise InvalidInput(
            f"the learner {found.name} was given; it decides by state, and here a threshold is"
            " needed"
        )
    if found.memory:
        raise InvalidInput(
            f"the learner {found.name} was given; it forgets, and here every round must count"
        )
    return found


def find_learner(given: LearnerLike, problem: Problem | Chain | int) -> AnyLearner:
    """Find a learner by name, made for a problem or a goal where it depends on one.

    Parameters
    ----------
    given : str or Learner
        A key of `LEARNERS`, or "threshold-0", "threshold-1" and so on for one fixed threshold.
        Capitals and hyphens make no difference, so that the paper's names are found as well.
        Constants may follow the name: "getbe-sm:gamma=30", "doorstep-optimal:horizon=500,good=2".
        A learner that counts also takes "memory=500", the rounds that it remembers, and
        "memory=averaged". A learner of your own is "module:name", which is imported; the name
        stands for a `Learner`, or for a function that makes one for a problem or goal. A learner
        is returned as it is.
    problem : Problem, Chain or int
        The problem, or its goal alone, which is enough for all but the oracle.

    Returns
    -------
    Learner
        Or, for "ucb1-policies", a learner of policies with the same methods.

    Raises
    ------
    InvalidInput
        If there is no such learner, constant or threshold.

    See Also
    --------
    learner_constants : List the constants that can be set.

    Examples
    --------
    >>> import grbp
    >>> grbp.find_learner("getbe-sm:gamma=30", 4).constants.gamma
    30.0
    >>> grbp.find_learner("UCB-PolSelection", 4).name
    'ucb-polselection'
    >>> grbp.find_learner("oracle", grbp.Problem(4, 0.65, 0.3)).thresholds
    (0,)
    """
    if isinstance(given, AnyLearner):
        return given
    if isinstance(given, CustomLearner):
        return given.resolve()
    if not isinstance(given, str):
        raise InvalidInput(f"learner {given!r} was given; it must be a name or a grbp.Learner")
    known = learner_name(given)
    name, _, settings = known.partition(":")
    number = name.removeprefix("threshold-")
    if number != name and number.isdecimal():
        learner: AnyLearner = fixed_threshold(check_threshold(int(number), _goal_of(problem)))
    elif entry := _look_up(name):
        learner = entry(problem) if callable(entry) else entry
    elif is_path(given):
        path, _, settings = settings.partition(":")
        known_to_all = _goal_of(problem) if isinstance(problem, Chain) else problem
        learner = import_learner(f"{name}:{path}", known_to_all)
    else:
        others = f"there is {', '.join(_ALL)}, threshold-0, ..."
        meant = did_you_mean(name, [*_ALL, "threshold-0"])
        raise InvalidInput(f"learner {given!r} was asked for; {meant or others}")
    return with_settings(learner, known, settings) if settings else learner


@lru_cache(maxsize=1024)
def learner_name(given: str) -> str:
    """Return the name of a learner as it is written here: "getbe-sm" for "GETBE-SM"."""
    name, colon, settings = given.partition(":")
    if re.fullmatch("threshold-[0-9]+", name.lower()):
        name = name.lower()
    return (
        next((one for one in _ALL if _normalize(one) == _normalize(name)), name) + colon + settings
    )


def _normalize(name: str) -> str:
    """Return a name without what people write differently."""
    return re.sub("[-_ ]", "", name).lower()


def is_built_in(name: str) -> bool:
    """Return whether a name is that of a learner of this package, settings or not."""
    name = learner_name(name).partition(":")[0]
    return bool(_look_up(name) or re.fullmatch("threshold-[0-9]+", name))


def _look_up(name: str) -> Any:
    """Return the learner of this package that has a name, or the function that makes it."""
    return LEARNERS.get(name) or STATE_LEARNERS.get(name)


def is_path(name: str) -> bool:
    """Return whether a name is that of something to import, `module:name`, settings or not."""
    module, _, rest = name.partition(":")
    words = [*module.split("."), *rest.partition(":")[0].split(".")]
    return module not in _ALL and all(word.isidentifier() for word in words)


def with_settings(learner: AnyLearner, given: str, settings: str) -> AnyLearner:
    """Set constants of a learner as "gamma=30" says, and name it as it was asked for."""
    known, changed = {one.name: one for one in learner_constants(learner)}, {}
    keeps = "memory" in learner.__dataclass_fields__
    forgets = keeps and "threshold" not in learner.constants._fields
    for setting in settings.split(","):
        name, _, value = setting.partition("=")
        number = math.nan
        with suppress(ValueError):
            number = float(value)
        if name == "memory" and forgets:
            told = check_memory(value if math.isnan(number) else number)
            learner = replace(learner, memory=told)
            continue
        if name not in known or math.isnan(number):
            allowed = [f"{field}=NUMBER" for field in known]
            allowed += ["memory=ROUNDS", "memory=averaged"] if forgets else []
            raise InvalidInput(
                f"learner {given!r} was asked for; after the colon there can be"
                f" {', '.join(allowed) or 'nothing for this learner'}"
            )
        off = number == known[name].default == 0.0
        changed[name] = number if off else check_positive(name, number)
    return replace(learner, name=given, constants=learner.constants._replace(**changed))


def add_setting(given: LearnerLike, setting: str, problem: Problem | Chain | int) -> LearnerLike:
    """Set one thing more of a learner, such as "memory=500"; a name stays a name."""
    found = find_learner(given, problem)
    name = learner_name(given if isinstance(given, str) else found.name)
    told = f"{name}{',' if '=' in name else ':'}{setting}"
    by_name = isinstance(given, str) or found is _look_up(found.name)
    return told if by_name else with_settings(found, told, setting)


def with_horizon(
    learner: LearnerLike, rounds: float, problem: Problem | Chain | int
) -> LearnerLike:
    """Tell a learner how many rounds there will be; refuse one that cannot be told, or was.

    A name stays a name: "doorstep-optimal:good=2" becomes "doorstep-optimal:good=2,horizon=400".
    """
    rounds, found = check_count("rounds", rounds, 1, _MOST_TOLD), find_learner(learner, problem)
    if not has_horizon(found):
        known = [one for one in LEARNERS.values() if not callable(one)]
        able = [one.name for one in known if has_horizon(one)]
        raise InvalidInput(
            f"the learner {found.name} was given; it cannot be told how many rounds (cases) there"
            f" will be, as {' and '.join(able)} can"
        )
    if not lacks_horizon(found):
        raise InvalidInput(
            f"the learner {found.name} was given; it has a horizon already, and cannot be told"
            f" of {rounds:,} rounds (cases) as well"
        )
    return add_setting(learner, f"horizon={rounds}", problem)


def has_horizon(learner: AnyLearner) -> bool:
    """Return whether a learner can be told how many rounds there will be."""
    return "horizon" in learner.constants._fields


def lacks_horizon(learner: AnyLearner) -> bool:
    """Return whether a learner can be told how many rounds there will be, and was told nothing.

    Whoever writes "horizon=0" has said that nobody knows.
    """
    told = learner.constants._asdict().get("horizon")
    return told == 0.0 and "horizon=" not in learner.name


class Constant(NamedTuple):
    """A number of a learner that can be set, as in "getbe-sm:gamma=30".

    Attributes
    ----------
    name : str
    default : float
        Its value unless it is set.
    range : str
        The values that it may have.
    meaning : str
        What it does, in a sentence.

    See Also
    --------
    learner_constants : Lists those of a learner.
    """

    name: str
    default: float
    range: str
    meaning: str


def learner_constants(learner: AnyLearner) -> tuple[Constant, ...]:
    """Return the constants of a learner that a user may set.

    Parameters
    ----------
    learner : Learner
        A learner, as `find_learner` returns it.

    Returns
    -------
    tuple of Constant
        Their meanings are taken from the docstring of the class of `Learner.constants`.

    Examples
    --------
    >>> import grbp
    >>> [one.name for one in grbp.learner_constants(grbp.LEARNERS["doorstep-optimal"])]
    ['horizon', 'good', 'bad', 'up', 'down']
    >>> print(*grbp.learner_constants(grbp.LEARNERS["explore-then-commit"])[0], sep="; ")
    rounds; 100.0; above 0; How often each policy is played before the choice.
    """
    kind = type(learner.constants)
    entries = re.findall(r"^(\w+) : .*\n((?: +.*\n?)+)", inspect.getdoc(kind) or "", re.MULTILINE)
    meanings = {name: " ".join(text.split()) for name, text in entries}
    defaults = learner.constants._asdict() | kind._field_defaults
    return tuple(
        # 0 stands for a constant that is not in use.
        Constant(name, value, "above 0" if value else "0 or more", meanings.get(name, ""))
        for name, value in defaults.items()
        if name not in {"threshold", "policy"}
    )


def stored_learner(given: LearnerLike, problem: Problem | int) -> StoredLearner:
    """Return a learner as a file keeps it; refuse what others wrote if it has no digest."""
    if isinstance(given, str) and not is_path(given):
        return learner_name(given)
    if isinstance(given, CustomLearner) and given.learner is None:
        return given
    found = find_learner(given, problem)
    if isinstance(found, PolicyLearner) or found is _look_up(found.name):
        return found.name
    own = CustomLearner(found.name, found)
    own.as_json()
    return own
