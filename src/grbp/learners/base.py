"""What a learner is: its constants, and one pure function from the counters to a threshold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from grbp.errors import InvalidInput
from grbp.learners.counters import Counters, Round, opening, settle
from grbp.model.transition import Policy

Decide: TypeAlias = Callable[[int, Any, Counters, int], int]
"""(goal, constants, counters, key of the round's own draws) -> the threshold to play."""


Stable: TypeAlias = Callable[[int, Any, Counters, Counters], bool]
"""(goal, constants, low, high) -> True only if `decide` gives one answer over the whole box.

The box: all counters whose round, and whose wins and losses of each kind (FINISH that reached the
goal and that did not, moves up and down, rounds won and lost with threshold 0 and with 1), lie
between those of low and high. False is always right, and costs time alone."""


class Doubt(NamedTuple):
    """What a learner that draws says about a box of counters.

    usual    the threshold that it plays unless something rare happens
    chance   at least the chance of that rare thing, at any counters of the box; 1 says nothing
    first, second   whatever `resolve` needs to know
    """

    usual: int
    chance: float
    first: float
    second: float


class Thinning(NamedTuple):
    """How a learner that draws lets rounds be skipped: three pure functions.

    usual     (goal, constants, counters) -> the threshold that it most likely plays
    doubt     (goal, constants, low, high) -> the Doubt over the box, about usual(low)
    resolve   (goal, constants, counters, doubt, key) -> the threshold, in a round that may be
              unusual: a round is one with probability doubt.chance, and plays doubt.usual if
              it is none; all told, that must be the law of `decide`
    """

    usual: Callable[[int, Any, Counters], int]
    doubt: Callable[[int, Any, Counters, Counters], Doubt]
    resolve: Callable[[int, Any, Counters, Doubt, int], int]


class NoConstants(NamedTuple):
    """The constants of a learner that has none."""


@dataclass(frozen=True)
class Learner:
    """A way to choose a threshold from what has been seen.

    name        what tables and figures call it
    decide      the pure function; see `Decide`. It never updates, walks or prices anything.
    constants   a named tuple of numbers, its second argument
    thresholds  those it may play; -1 stands for goal - 1
    line        what it does, in one line
    reference   where it comes from
    stable      optional: where decisions do not change, see `Stable`; many rounds are then
                skipped at once
    thinning    optional: the same for one that draws, see `Thinning`
    """

    name: str
    decide: Decide = field(repr=False)
    constants: Any = field(default_factory=NoConstants)
    thresholds: tuple[int, ...] = (0, 1, -1)
    summary: str = ""
    reference: str = ""
    stable: Stable | None = field(default=None, repr=False)
    thinning: Thinning | None = field(default=None, repr=False)

    def choices(self, goal: int) -> tuple[int, ...]:
        """What it may choose from in a round: thresholds."""
        for threshold in self.thresholds:
            if not -1 <= threshold < goal:
                raise InvalidInput(
                    f"the learner {self.name} declares threshold {threshold}; for a goal of"
                    f" {goal} it must be from 0 to {goal - 1}, or -1 for the last"
                )
        return tuple(threshold % goal for threshold in self.thresholds)

    def policy(self, goal: int, choice: int) -> Policy:  # noqa: ARG002 (as for any other learner)
        """The policy that an arm stands for: the threshold itself."""
        return choice

    def initial_counters(self, goal: int, f_goal: float, c_up: float) -> Counters:  # noqa: ARG002
        """What it knows before round 1: the initial estimates."""
        return opening(f_goal, c_up)

    def choose(self, goal: int, memory: Counters, key: int) -> int:
        """The arm for the next round."""
        return self.decide(goal, self.constants, memory, key)

    def settle(self, memory: Counters, choice: int, one: Round) -> Counters:
        """What it knows after a round played with an arm."""
        return settle(memory, choice, one)
