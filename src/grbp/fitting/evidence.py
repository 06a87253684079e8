"""What a decision rests on, and the words for it."""

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from grbp._format import format_interval, percent
from grbp.fitting import assumptions as a
from grbp.fitting.assumptions import AssumptionTest
from grbp.fitting.estimates import Proportion
from grbp.fitting.grounds import are_apart
from grbp.fitting.groups import Standardized
from grbp.fitting.statewise import StatewiseChain
from grbp.fitting.support import Support, support_of
from grbp.theory.posterior import Estimate, Posterior

WAYS: Final = {
    "boundary": "by one p_C for all states",
    "direct": "as observed",
    "general": "state by state",
    "standardized": "standardised over the groups",
}

_BROKEN: Final = {
    a.SAME_BY_STATE: "p_C differs between states",
    a.TREND_BY_STATE: "p_C changes from state to state",
    a.NO_MEMORY: "a move depends on the one before",
    a.CASES_ALIKE: "cases differ from each other",
    a.NO_DRIFT: "p_C drifts from case to case",
    a.NO_SHIFT: "p_C shifts at some case",
    a.NO_DRIFT_F: "p_F drifts from case to case",
    a.SAME_F_BY_STATE: "p_F differs between states",
    a.SAME_C_BY_GROUP: "p_C differs between groups",
    a.SAME_F_BY_GROUP: "p_F differs between groups",
}
"""What is the case where an assumption does not hold."""


class Answer(Protocol):
    """What a group says by itself: a `Fit`."""

    @property
    def decision(self) -> str:
        """The policy that is right there."""

    @property
    def firm(self) -> bool:
        """Whether its records are sure of it."""


class Evidence(NamedTuple):
    """What a decision rests on."""

    goal: int
    level: float
    goals: int
    """How many rows reached the goal."""
    p_c: Proportion
    p_f: Proportion
    """How often FINISH won: in state 1 alone, where p_F surely differs between states."""
    ways: Mapping[str, Estimate | None]
    chain: StatewiseChain | None
    tests: tuple[AssumptionTest, ...]
    posterior: Posterior
    untried: tuple[str, ...] = ()
    """The actions that were never tried in state 1."""
    stand: tuple[str, ...] = ("boundary",)
    """The ways to value state 1 that stand, the one with fewest assumptions first."""
    in_state_1: bool = False
    """Whether `p_f` is of state 1 alone."""
    standardized: Standardized | None = None
    groups: Mapping[str, Answer] = {}
    among_groups: float | None = None
    """Of one group, how probable it is that finishing is right, beside what the others say."""

    def _say_difference(self, between: str, of_c: tuple[str, ...], of_f: str) -> str:
        """Say which of p_C and p_F surely differ between groups or states, if any."""
        broken = {test.assumption for test in self.tests if test.rejected_at(self.level)}
        names = [
            name for name, tests in (("p_C", of_c), ("p_F", (of_f,))) if broken.intersection(tests)
        ]
        verb = "differ" if len(names) > 1 else "differs"
        return f"{' and '.join(names)} {verb} between {between}" if names else ""

    @property
    def states_differ(self) -> str:
        """How states surely differ, if they do."""
        return self._say_difference(
            "states", (a.SAME_BY_STATE, a.TREND_BY_STATE), a.SAME_F_BY_STATE
        )

    @property
    def groups_differ(self) -> str:
        """How groups surely differ, if they do, and the answer can be standardised over them."""
        whole = self.standardized
        if whole is None or whole.p_f is None:
            return ""
        return self._say_difference("groups", (a.SAME_C_BY_GROUP,), a.SAME_F_BY_GROUP)

    @property
    def support(self) -> Support:
        """What the records support state by state.

        Where groups differ, states look different because of who gets there; and state 1 is
        judged by the groups.
        """
        if self.chain is None:
            return support_of((), self.level)
        finish = self.chain.finish.tolist()
        return support_of([0.5, *finish[1:]] if self.groups_differ else finish, self.level)

    def right_for(self, threshold: int) -> float:
        """Return for which share of cases a threshold is expected to be right, if groups differ."""
        whole = self.standardized
        if not self.groups_differ or whole is None or whole.right_share is None:
            return 1.0
        return whole.right_share if threshold else 1.0 - whole.right_share

    @property
    def chain_is_belied(self) -> bool:
        """Whether what was seen of state 1 speaks against the chain state by state."""
        direct, general = self.ways["direct"], self.ways["general"]
        return direct is not None and general is not None and are_apart(direct, general)


def say_broken(assumption: str) -> str:
    """Say what is the case where an assumption does not hold."""
    return _BROKEN.get(assumption, f"it does not hold that {assumption}")


def say_rejected(seen: Evidence) -> str:
    """Say what the model claims that the records speak against."""
    even = seen.ways["boundary"]
    if even is None:
        return ""
    return (
        f"the model in which p_C is the same in all states says {percent(even.estimate)}, and these"
        " records speak against it."
    )


def say_values(values: list[tuple[str, Estimate]]) -> str:
    """Write values of continuing in state 1, each with its way."""
    (name, first), *others = values
    told = [f"{share_text(first)} of cases {WAYS[name]}"]
    told += [f"in {share_text(way)} {WAYS[other]}" for other, way in others]
    return " and ".join(told)


def share_text(share: Estimate) -> str:
    """Write an estimated share with its interval, in the letters of any terminal."""
    return format_interval(*share).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
