"""The contract of a learner by state: its constants, and one pure function to a policy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from grbp.learners.base import AnyLearner, NoConstants, Share
from grbp.learners.memory import MemoryLike
from grbp.learners.state_counters import StateCounters, add_step, empty_state_counters

DecidePolicy: TypeAlias = Callable[[int, Any, StateCounters, int], int]
"""(goal, constants, counters by state, key of the round's own draws) -> the policy to play."""


@dataclass(frozen=True)
class StateLearner(AnyLearner):
    """A way to choose one action for every state from what was seen in each.

    It is to `grbp.Learner` what a chain is to a problem: the paper's two chances may differ by
    state, and any policy may be best. The counters are kept for it, and one definition serves
    simulations, `grbp.Session`, the Gymnasium loop and the live advisor.

    Parameters
    ----------
    name : str
        The name that tables and figures show.
    decide : callable
        ``decide(goal, constants, counters, key)`` returns the policy of the next round, an int
        whose bit s - 1 is set where state s takes FINISH. The answer depends on the arguments
        alone. `counters` are `StateCounters`, and random numbers are ``grbp.uniform(key, i)`` for
        i = 0, 1, ... Numba compiles the function where it can; functions that it calls must be
        marked with `grbp.kernel`.
    constants : NamedTuple, optional
        The numbers that `decide` gets as its second argument.
    summary : str, optional
        One line that says what the learner does; by default the first line of the docstring of
        `decide`.
    reference : str, optional
        The publication or document that describes the learner.
    memory : float or "averaged", default 0
        How many rounds the learner remembers; see `grbp.Learner`.

    See Also
    --------
    best_policy : Find the best policy from the chances by state.
    StateCounters : The history that a decision is made from.

    Examples
    --------
    A learner that believes the shares it has seen, each with one success and one failure more:

    >>> import grbp
    >>> def greedy(goal, constants, n, key):
    ...     '''Play what is best by the shares seen so far.'''
    ...     up = (n.up + 1.0) / (n.up + n.down + 2.0)
    ...     return grbp.best_policy(up, (n.won + 1.0) / (n.won + n.lost + 2.0))
    >>> learner = grbp.StateLearner("greedy", greedy)
    >>> learner.policy(4, learner.choose(4, grbp.empty_state_counters(4), 0))
    [1, 0, 0]
    """

    name: str
    decide: DecidePolicy = field(repr=False)
    constants: Any = field(default_factory=NoConstants)
    summary: str = ""
    reference: str = ""
    memory: MemoryLike = 0.0

    by_state: ClassVar[bool] = True

    def initial_counters(
        self, goal: int, f_goal: float = 0.0, c_up: float = 0.0, *, jumps: bool = False
    ) -> StateCounters:
        """Return the counters before round 1, which are zero."""
        return empty_state_counters(goal, jumps=jumps)

    def settle(
        self, counters: StateCounters, choice: int, shown: StateCounters, rounds: int = 1
    ) -> StateCounters:
        """Return the counters after a round, and what it showed by state."""
        counts = (old + new for old, new in zip(counters[1:], shown[1:], strict=True))
        return StateCounters(counters.rho + rounds, *counts)

    def nothing_shown(self, goal: int, state: int, *, jumps: bool = False) -> StateCounters:
        """Return what a round has shown when it begins."""
        return empty_state_counters(goal, jumps=jumps)

    def show(
        self, shown: StateCounters, goal: int, state: int, finish: bool, after: int
    ) -> StateCounters:
        """Return what a round has shown after a step."""
        return add_step(shown, state, finish, after)

    def expect(self, counters: StateCounters, pending: Sequence[int]) -> StateCounters:
        """Return the counters to decide from while outcomes of FINISH are pending.

        They count as taken, and as won in the proportion in which FINISH is expected to win there.
        """
        n, waits = counters, np.array(pending, dtype=float)
        mean = (n.won + 1.0) / (n.won + n.lost + 2.0)
        return n._replace(won=n.won + waits * mean, lost=n.lost + waits * (1.0 - mean))

    def pairs(self, counters: StateCounters) -> Iterable[tuple[float, float]]:
        """Return every count twice: nothing is counted as a part of anything."""
        return ((count, count) for part in counters[1:] for count in part.flat)

    def example_counters(self, goal: int, rho: int, share: Share) -> StateCounters:
        """Return counters before a round as they could have come about; a part of them jump."""
        n, rounds = empty_state_counters(goal, jumps=share(2 * goal) < 0.25), rho - 1.0
        shares = np.array([share(k) for k in range(2 * goal - 2)]).reshape(-1, 2)
        up, won = np.floor(shares.T * rounds)
        return StateCounters(rho, up, rounds - up, won, np.floor((rounds - won) / 2.0), n.jumps + 1)
