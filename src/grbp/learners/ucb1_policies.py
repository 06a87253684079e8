"""UCB1 over all 2^(goal-1) deterministic policies: the one learner that plays no thresholds.

Theorem 1 is about it, and its point is how badly that goes. A policy is a number whose bit
s - 1 says whether to FINISH in state s; the counters are the rounds and wins of every policy.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from grbp.errors import TooLarge
from grbp.learners.base import NoConstants
from grbp.learners.comparison import ucb_index
from grbp.learners.counters import Round
from grbp.learners.getbe import PAPER
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel
from grbp.numerics.rng import uniform
from grbp.worlds.transition import Action, Policy, next_state

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


@dataclass(frozen=True)
class PolicyLearner:
    """UCB1 with the deterministic policies of one goal as its arms.

    It has the methods of `Learner`, with the number of a policy in place of a threshold.

    Paper: thm:UCB1Reg
    """

    goal: int
    name: str = "ucb1-policies"
    constants: NoConstants = field(default_factory=NoConstants)
    summary: str = "Play UCB1 over all 2^(goal-1) deterministic policies"
    reference: str = PAPER
    memory: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.goal > MOST_POLICIES_GOAL:
            raise TooLarge(
                f"ucb1-policies was asked for with a goal of {self.goal:,}; it tries all"
                f" 2^(goal-1) policies, which is allowed up to a goal of {MOST_POLICIES_GOAL}"
            )

    def choices(self, goal: int) -> tuple[int, ...]:
        """Return the numbers of all policies."""
        return tuple(range(2 ** (goal - 1)))

    def policy(self, goal: int, choice: int) -> Policy:
        """Return the policy of a number: one action for every state."""
        return [(choice >> bit) & 1 for bit in range(goal - 1)]

    def initial_counters(self, goal: int, f_goal: float, c_up: float) -> Record:  # noqa: ARG002
        """Return the counters before round 1, which are zero."""
        return Record(np.zeros(2 ** (goal - 1)), np.zeros(2 ** (goal - 1)))

    def choose(self, goal: int, counters: Record, key: int) -> int:  # noqa: ARG002
        """Choose the policy of the next round."""
        return ucb1_choice(counters.plays, counters.wins)

    def settle(self, counters: Record, choice: int, one: Round) -> Record:
        """Return the counters after a round that was played with a policy."""
        plays, wins = counters.plays.copy(), counters.wins.copy()
        plays[choice] += 1
        wins[choice] += one.won
        return Record(plays, wins)
