"""Every learner, by its name on the shell.

A new one is one function in a file of this folder and one line in the table below.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeAlias

from grbp.errors import InvalidInput
from grbp.learners.base import Decide, Doubt, Learner, NoConstants, Stable, Thinning
from grbp.learners.baselines import EPSILON_GREEDY, EXPLORE_THEN_COMMIT, Fixed, fixed, fixed_stable
from grbp.learners.bayes_ucb import BAYES_UCB
from grbp.learners.doorstep import DOORSTEP_BAYES, DOORSTEP_KL, DOORSTEP_LAI, DOORSTEP_SM
from grbp.learners.getbe import (
    NO_EXPLORE,
    POSTERIOR_SAMPLING,
    SAMPLE_MEAN,
    UPPER_CONFIDENCE,
    Control,
    getbe_with,
)
from grbp.learners.policy_bandits import KL_UCB, PS_POLSELECTION, UCB_POLSELECTION
from grbp.learners.ucb1_policies import PolicyLearner
from grbp.model.problem import Problem
from grbp.model.validation import check_goal, check_positive, check_threshold
from grbp.theory.values import optimal_threshold

__all__ = [
    "DEFAULT_LEARNER",
    "LEARNERS",
    "AnyLearner",
    "Control",
    "Decide",
    "Doubt",
    "Learner",
    "LearnerLike",
    "NoConstants",
    "PolicyLearner",
    "Stable",
    "Thinning",
    "find_learner",
    "getbe_with",
    "learner_constants",
]

AnyLearner: TypeAlias = Learner | PolicyLearner
"""A learner of thresholds, or the one of policies."""

LearnerLike: TypeAlias = str | AnyLearner
"""A learner, or the name of one."""


def oracle(problem: Problem | int) -> Learner:
    """Make the learner that knows the problem: it plays the optimal threshold."""
    if not isinstance(problem, Problem):
        raise InvalidInput(
            "the learner 'oracle' was asked for; it knows the probabilities, and here nobody does"
        )
    best = optimal_threshold(problem)
    summary = "knows the probabilities"
    return Learner("oracle", fixed, Fixed(best), (best,), summary, stable=fixed_stable)


def fixed_threshold(threshold: int) -> Learner:
    """The learner that plays one threshold for ever."""
    name, summary = f"threshold-{threshold}", f"threshold {threshold} for ever"
    return Learner(name, fixed, Fixed(threshold), (threshold,), summary, stable=fixed_stable)


def ucb1_policies(problem: Problem | int) -> PolicyLearner:
    """Make UCB1 over all deterministic policies of a goal."""
    return PolicyLearner(_goal_of(problem))


def _goal_of(problem: Problem | int) -> int:
    return problem.goal if isinstance(problem, Problem) else check_goal(problem)


LEARNERS: dict[str, Learner | Callable[[Problem | int], AnyLearner]] = {
    learner.name: learner
    for learner in (
        DOORSTEP_LAI,
        DOORSTEP_BAYES,
        DOORSTEP_KL,
        DOORSTEP_SM,
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
"""Every learner by its name; a learner that depends on the problem is made by a function of it."""

DEFAULT_LEARNER: Final = DOORSTEP_LAI.name
"""The learner to use where nothing speaks for another: it needs no horizon and no tuning."""


def find_learner(given: LearnerLike, problem: Problem | int) -> AnyLearner:
    """Find the learner that is meant, made for a problem, or for its goal, where it must be.

    A name may set constants: "getbe-sm:gamma=30".
    """
    if isinstance(given, Learner | PolicyLearner):
        return given
    if not isinstance(given, str):
        raise InvalidInput(f"learner {given!r} was given; it must be a name or a grbp.Learner")
    name, _, settings = given.partition(":")
    empty, _, number = name.partition("threshold-")
    if not empty and number.isdecimal():
        entry: Learner | Callable[[Problem | int], AnyLearner] = fixed_threshold(
            check_threshold(int(number), _goal_of(problem))
        )
    elif name in LEARNERS:
        entry = LEARNERS[name]
    else:
        raise InvalidInput(
            f"learner {given!r} was asked for; there is {', '.join(LEARNERS)}, threshold-0, ..."
        )
    learner = entry if isinstance(entry, Learner) else entry(problem)
    return _with_settings(learner, given, settings) if settings else learner


def _with_settings(learner: AnyLearner, given: str, settings: str) -> AnyLearner:
    """The learner with constants set as "gamma=30" says, under the name given."""
    known, changed = learner_constants(learner), {}
    for setting in settings.split(","):
        name, _, value = setting.partition("=")
        number = math.nan
        with suppress(ValueError):
            number = float(value)
        if name not in known or math.isnan(number):
            allowed = ", ".join(f"{field}=NUMBER" for field in known)
            raise InvalidInput(
                f"learner {given!r} was asked for; after the colon there can be"
                f" {allowed or 'nothing for this learner'}"
            )
        changed[name] = check_positive(name, number)
    return replace(learner, name=given, constants=learner.constants._replace(**changed))


def learner_constants(learner: AnyLearner) -> tuple[str, ...]:
    """Return the names of a learner's constants that a user may set."""
    return tuple(name for name in learner.constants._fields if name != "threshold")
