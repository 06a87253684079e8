"""What a decision rests on: the values of state 1 that can be trusted, and how sure each is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from grbp.fitting.assumptions import Assumption, find_broken
from grbp.fitting.estimates import Proportion, are_apart, chance_above, spread_out, subtract
from grbp.fitting.model_tests import AssumptionTest
from grbp.fitting.standardize import Standardized
from grbp.fitting.statewise import StatewiseChain
from grbp.theory.posterior import Estimate, Posterior

_DRAWS: Final = 4000
"""Draws of p_F, each of which is compared with each draw of a value."""

_ROUNDING: Final = 1e-9
"""Two shares that differ by less, relative to them, are equal."""

FINISH: Final = "finish"
CONTINUE: Final = "continue"
UNDECIDED: Final = "undecided"
UNKNOWN: Final = "unknown"

Support = dict[str, tuple[int, ...]]
"""The states in which the records support each action, are undecided, or know nothing."""


class Ground(NamedTuple):
    """What a decision can rest on.

    Attributes
    ----------
    name : str
        The way to value state 1: "boundary", "direct", "general", or "standardized" over groups.
    p_f, value : Estimate
        How often FINISH reaches the goal, and how often continuing from state 1 does.
    probability : float
        How probable it is that FINISH is right in state 1.
    """

    name: str
    p_f: Estimate
    value: Estimate
    probability: float

    @property
    def difference(self) -> Estimate:
        """How much more often FINISH reaches the goal."""
        return subtract(self.p_f, self.value)

    @property
    def tie(self) -> bool:
        """Whether both are equally good, as far as the digits go that are told."""
        apart = abs(self.p_f.estimate - self.value.estimate)
        even = round(100.0 * self.probability, 1) == 50.0  # as it is written
        return even or apart <= _ROUNDING * self.value.estimate


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """A decision in words, or the reason why there is none; `Fit` says what each attribute is."""

    decision: str
    reason: str | None = None
    sentence: str
    firm: bool = False
    probabilities: tuple[float, float] | None = None
    doubts: tuple[str, ...] = ()
    way: str = "boundary"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a decision rests on.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    level : float
        How sure a firm decision is.
    goals : int
        How many rows reached the goal.
    p_c, p_f : Proportion
        How often CONTINUE went up, and FINISH won: in state 1 alone, where p_F surely differs
        between states.
    ways : mapping of Estimate
        The values of continuing in state 1.
    chain : StatewiseChain or None
        The chain state by state.
    tests : tuple of AssumptionTest
        The tests of the assumptions.
    posterior : Posterior
        That of p_C and p_F.
    untried : tuple of str
        The actions that were never tried in state 1.
    in_state_1 : bool
        Whether `p_f` is of state 1 alone.
    standardized : Standardized or None
        The estimates standardised over groups.
    groups : mapping of Decision
        What each group says by itself.
    among_groups : float or None
        Of one group, how probable it is that finishing is right, beside what the others say.
    """

    goal: int
    level: float
    goals: int
    p_c: Proportion
    p_f: Proportion
    ways: Mapping[str, Estimate | None]
    chain: StatewiseChain | None
    tests: tuple[AssumptionTest, ...]
    posterior: Posterior
    untried: tuple[str, ...] = ()
    in_state_1: bool = False
    standardized: Standardized | None = None
    groups: Mapping[str, Decision] = field(default_factory=dict)
    among_groups: float | None = None

    @cached_property
    def trusted(self) -> tuple[str, ...]:
        """The ways to value state 1 on which a decision can rest, fewest assumptions first.

        It is the boundary alone, unless another way is apart from it. What was seen judges the
        chain state by state: moves with a memory, or cases that differ, mislead the chain more
        than they mislead B(p_C).
        """
        base, direct, general = (self.ways[name] for name in ("boundary", "direct", "general"))
        trusted = {} if direct is None else {"direct": direct}
        if general is not None and not self.chain_is_belied:
            trusted["general"] = general
        if base is None or not any(are_apart(base, way) for way in trusted.values()):
            return ("boundary",)
        return tuple(trusted)

    @cached_property
    def broken(self) -> tuple[Assumption, ...]:
        """The assumptions against which the records speak."""
        return find_broken(self.tests, self.level)

    def differing(self, over: str) -> tuple[str, ...]:
        """Return which of p_C and p_F surely differ over "states", or over "groups".

        Groups count where the answer can be standardised over them.
        """
        if over == "groups" and (self.standardized is None or self.standardized.p_f is None):
            return ()
        return tuple(dict.fromkeys(entry.chance for entry in self.broken if entry.over == over))

    @cached_property
    def support(self) -> Support:
        """What the records support state by state.

        Where groups differ, states look different because of who gets there; and state 1 is
        judged by the groups.
        """
        finish = [] if self.chain is None else self.chain.finish.tolist()
        if finish and self.differing("groups"):
            finish[0] = 0.5
        return support_of(finish, self.level)

    def right_for(self, threshold: int) -> float:
        """Return for which share of cases a threshold is expected to be right, if groups differ."""
        whole = self.standardized
        if whole is None or whole.right_share is None or not self.differing("groups"):
            return 1.0
        return whole.right_share if threshold else 1.0 - whole.right_share

    @property
    def chain_is_belied(self) -> bool:
        """Whether what was seen of state 1 speaks against the chain state by state."""
        direct, general = self.ways["direct"], self.ways["general"]
        return direct is not None and general is not None and are_apart(direct, general)

    @cached_property
    def grounds(self) -> tuple[Ground, ...]:
        """What the decision rests on; where there are several, all of them must agree."""
        f = self.p_f.as_estimate
        if f is None:
            return ()
        grounds = []
        for name in self.trusted:
            way = self.ways[name]
            if way is not None:
                grounds.append(Ground(name, f, way, self._chance_of_finish(name, way)))
        whole = self.standardized
        if whole is None or whole.p_f is None or whole.worth is None or whole.probability is None:
            return tuple(grounds)
        ground = Ground("standardized", whole.p_f, whole.worth, whole.probability)
        pooled = least_sure(grounds)
        other = pooled is None or (pooled.probability >= 0.5) != (ground.probability >= 0.5)
        return (ground,) if other or self.differing("groups") else (*grounds, ground)

    def _chance_of_finish(self, name: str, way: Estimate) -> float:
        """Return how probable it is that FINISH is right, by one way to value state 1."""
        if name == "boundary":
            return self.posterior.probability
        of, prior = self.posterior, self.posterior.prior_f
        shares = np.random.default_rng(0).beta(of.f_goal + prior[0], of.f_lost + prior[1], _DRAWS)
        if name == "general" and self.chain is not None:
            return chance_above(shares, self.chain.continue_value[:, 0])
        return chance_above(shares, spread_out(way, self.level))


def least_sure(grounds: Iterable[Ground]) -> Ground | None:
    """Return the least sure of some grounds; None where they do not agree."""
    listed = list(grounds)
    if len({ground.probability >= 0.5 for ground in listed}) != 1:
        return None
    return min(listed, key=lambda ground: abs(ground.probability - 0.5))


def support_of(finish: Iterable[float | None], level: float) -> Support:
    """Sort states by what is sure there, given how probable it is that FINISH is right.

    None, or NaN, is a state in which one of the actions was never tried.
    """
    support: dict[str, list[int]] = {name: [] for name in (FINISH, CONTINUE, UNDECIDED, UNKNOWN)}
    for state, share in enumerate(finish, start=1):
        if share is None or share != share:  # noqa: PLR0124 (NaN)
            support[UNKNOWN].append(state)
        elif share >= level:
            support[FINISH].append(state)
        else:
            support[CONTINUE if 1.0 - share >= level else UNDECIDED].append(state)
    return {name: tuple(states) for name, states in support.items()}


def disagrees(support: Support, threshold: int) -> bool:
    """Return whether a state supports another action than a threshold takes there."""
    return any(state > threshold for state in support[FINISH]) or any(
        state <= threshold for state in support[CONTINUE]
    )
