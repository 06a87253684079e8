"""UCB1 over all 2^(goal-1) deterministic policies: the one learner that plays no thresholds.

Theorem 1 is about it, and its point is how badly that goes. A policy is a number whose bit
s - 1 says whether to FINISH in state s; the counters are the rounds and wins of every policy.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from grbp.errors import TooLarge
from grbp.learners.base import AnyLearner, NoConstants, Share
from grbp.learners.comparison import ucb_index
from grbp.learners.counters import NOBODY, Round
from grbp.learners.getbe import PAPER
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel
from grbp.numerics.rng import uniform
from grbp.worlds.transition import Action, next_state

MOST_POLICIES_GOAL = 11
"""The largest goal for which all policies are tried, 1,024 of them."""


class Record(NamedTuple):
    """The rounds played and won with every policy."""

    plays: Floats
    wins: Floats


@kernel
def ucb1_choice(plays: Floats, wins: Floats) -> int:
    """Return the first policy not yet played, or that with the largest mean + sqrt(2 log N/n).

    Paper: thm:UCB1Reg
    """
    total = 0.0
    for k in range(len(plays)):
        if plays[k] == 0.0:
            return k
        total += plays[k]
    best, largest = 0, -1.0
    for k in range(len(plays)):
        index = ucb_index(wins[k], plays[k], total)
        if index > largest:
            best, largest = k, index
    return best


@kernel
def play_policy(goal: int, p_c: float, p_f: float, policy: int, state: int, key: int) -> int:
    """Play a round from a state under a policy with the draws of a key; return 1 if it is won."""
    slot = 0
    while 0 < state < goal:
        slot += 1
        action = Action.FINISH if (policy >> (state - 1)) & 1 else Action.CONTINUE
        state = next_state(state, action, goal, p_c, p_f, uniform(key, slot))
    return 1 if state == goal else 0


@kernel
def ucb1_policy(_goal: int, _: NoConstants, n: Record, _key: int) -> int:
    """Play UCB1 over all 2^(goal-1) deterministic policies."""
    return ucb1_choice(n.plays, n.wins)


@dataclass(frozen=True)
class PolicyLearner(AnyLearner):
    """UCB1 with the deterministic policies of one goal as its arms.

    Paper: thm:UCB1Reg
    """

    goal: int
    name: str = "ucb1-policies"
    decide: Callable[..., int] = field(default=ucb1_policy, repr=False)
    constants: NoConstants = field(default_factory=NoConstants)
    summary: str = ""
    reference: str = PAPER

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.goal > MOST_POLICIES_GOAL:
            raise TooLarge(
                f"ucb1-policies was asked for with a goal of {self.goal:,}; it tries all"
                f" 2^(goal-1) policies, which is allowed up to a goal of {MOST_POLICIES_GOAL}"
            )

    def initial_counters(
        self, goal: int, f_goal: float = 0.0, c_up: float = 0.0, *, jumps: bool = False
    ) -> Record:
        """Return the counters before round 1, which are zero."""
        return Record(*np.zeros((2, 2 ** (goal - 1))))

    def settle(self, counters: Record, choice: int, shown: Round, rounds: int = 1) -> Record:
        """Return the counters after a round that was played with a policy; no other counts."""
        plays, wins = counters.plays.copy(), counters.wins.copy()
        if choice != NOBODY:
            plays[choice] += rounds
            wins[choice] += shown.won
        return Record(plays, wins)

    def pairs(self, counters: Record) -> Iterable[tuple[float, float]]:
        """Return how often every policy won, and was played."""
        return zip(counters.wins, counters.plays, strict=True)

    def checked_goals(self, goal: int) -> list[int]:
        """Return the one goal at which it plays."""
        return [self.goal]

    def example_counters(self, goal: int, rho: int, share: Share) -> Record:
        """Return the plays and wins of every policy as they could have come about."""
        policies = self.choices(goal)
        shares = np.array([share(k) for k in range(2 * len(policies))]).reshape(-1, 2)
        plays = np.floor(shares[:, 0] * ((rho - 1.0) / len(policies)))
        return Record(plays, np.floor(shares[:, 1] * plays))
