"""The contract of a learner by state: its constants, and one pure function to a policy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.base import NoConstants, complete
from grbp.learners.memory import MemoryLike
from grbp.learners.state_counters import StateCounters, empty_state_counters
from grbp.worlds.transition import Policy

DecidePolicy: TypeAlias = Callable[[int, Any, StateCounters, int], int]
"""(goal, constants, counters by state, key of the round's own draws) -> the policy to play."""


@dataclass(frozen=True)
class StateLearner:
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

    def __post_init__(self) -> None:
        complete(self)

    def policy(self, goal: int, choice: int) -> Policy:
        """Return the policy of a number: one action for every state."""
        return [(choice >> bit) & 1 for bit in range(goal - 1)]

    def initial_counters(self, goal: int, f_goal: float = 0.0, c_up: float = 0.0) -> StateCounters:  # noqa: ARG002 (as for any other learner)
        """Return the counters before round 1, which are zero."""
        return empty_state_counters(goal)

    def choose(self, goal: int, counters: StateCounters, key: int) -> int:
        """Choose the policy of the next round, or refuse what is none."""
        return self.decide_as_int(goal, self.constants, counters, key)

    def decide_as_int(self, goal: int, constants: Any, counters: StateCounters, key: int) -> int:
        """Return the answer of `decide` as an int, or refuse it."""
        return self.check_policy(goal, self.decide(goal, constants, counters, key))

    def check_policy(self, goal: int, answer: object) -> int:
        """Return an answer of `decide` as an int, or refuse what is no policy of this goal."""
        if not isinstance(answer, int | np.integer) or not 0 <= answer < 1 << (goal - 1):
            raise InvalidInput(
                f"the learner {self.name} decided {answer!r}; it must be a policy, an int from 0 to"
                f" 2^{goal - 1} - 1 with a bit for every state"
            )
        return int(answer)
