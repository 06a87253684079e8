"""The contract of a learner: its constants, and one pure function from counters to a threshold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.counters import Counters, Round, initial_counters, settle
from grbp.learners.memory import MemoryLike, check_memory
from grbp.worlds.transition import Policy

Decide: TypeAlias = Callable[[int, Any, Counters, int], int]
"""(goal, constants, counters, key of the round's own draws) -> the threshold to play."""


Stable: TypeAlias = Callable[[int, Any, Counters, Counters], bool]
"""The type of a claim that a learner does not change its mind within a box of counters.

``stable(goal, constants, low, high)`` returns True only if `decide` gives the same answer for all
counters in the box, and the engine then skips rounds on its word. False is always right and costs
time alone. The box holds all counters whose round lies between those of `low` and `high`, and
whose wins and losses of each kind do: FINISH that reached the goal and that did not, moves up and
down, rounds won and lost with threshold 0 and with threshold 1. `grbp.corners` finds the two
corners between which every estimate lies.
"""


class Doubt(NamedTuple):
    """The answer of a learner that draws about a box of counters.

    Parameters
    ----------
    usual : int
        The threshold that it plays unless something rare happens.
    chance : float
        An upper bound on the probability of that rare event, wherever in the box the counters
        are; 1 says nothing.
    first, second : float
        Two numbers that `Thinning.resolve` needs, such as the values beyond which a draw is rare.

    See Also
    --------
    Thinning : The three functions that make and use a doubt.

    Examples
    --------
    >>> from grbp import Doubt
    >>> Doubt(usual=1, chance=0.002, first=0.41, second=0.57).usual
    1
    """

    usual: int
    chance: float
    first: float
    second: float


class Thinning(NamedTuple):
    """A way to skip rounds of a learner that draws: three pure functions.

    Over a box of counters the learner names its usual threshold and bounds the probability of any
    other. The engine then draws which rounds may be unusual, each with probability `chance`
    (thinning of a Bernoulli process), and asks `resolve` in those alone.

    Parameters
    ----------
    usual : callable
        ``usual(goal, constants, counters)`` returns the threshold that is most likely played.
    doubt : callable
        ``doubt(goal, constants, low, high)`` returns the `Doubt` over a box, about
        ``usual(goal, constants, low)``.
    resolve : callable
        ``resolve(goal, constants, counters, doubt, key)`` returns the threshold of a round that
        may be unusual. All other rounds play ``doubt.usual``, and together the two must have the
        law of `decide`.

    Examples
    --------
    >>> import grbp
    >>> learner = grbp.LEARNERS["getbe-ps"]
    >>> low = grbp.Counters(500, 40.0, 6.0, 900.0, 590.0, 400.0, 250.0, 99.0, 60.0)
    >>> high = low._replace(rho=510, c=920.0, c_up=603.0)
    >>> doubt = learner.thinning.doubt(4, learner.constants, low, high)
    >>> doubt.usual, round(doubt.chance, 4)
    (0, 0.0084)
    """

    usual: Callable[[int, Any, Counters], int]
    doubt: Callable[[int, Any, Counters, Counters], Doubt]
    resolve: Callable[[int, Any, Counters, Doubt, int], int]


class NoConstants(NamedTuple):
    """The constants of a learner that has none.

    Examples
    --------
    >>> import grbp
    >>> grbp.LEARNERS["no-explore"].constants
    NoConstants()
    """


def complete(learner: Any) -> None:
    """Check what a new learner is made of; its summary is that of `decide` unless it has one."""
    if not callable(learner.decide):
        raise InvalidInput(
            f"decide = {learner.decide!r} was given for the learner {learner.name}; it must be a"
            " function of the goal, the constants, the counters and a key"
        )
    object.__setattr__(learner, "memory", check_memory(learner.memory))
    if not isinstance(learner.summary, str):
        raise InvalidInput(
            f"summary = {learner.summary!r} was given for the learner {learner.name}; it must be a"
            " text"
        )
    if not learner.summary:
        first, _, _ = (learner.decide.__doc__ or "").strip().partition("\n")
        object.__setattr__(learner, "summary", first.removesuffix("."))


@dataclass(frozen=True)
class Learner:
    """A way to choose the threshold of the next round from what was seen so far.

    A learner is its constants and one pure function, `decide`. It never updates anything, never
    plays a round and never computes regret. The counters are kept for it, in the same way for
    every learner, and one definition serves simulations, `grbp.Session` and the Gymnasium loop.

    Parameters
    ----------
    name : str
        The name that tables and figures show.
    decide : callable
        ``decide(goal, constants, counters, key)`` returns the threshold of the next round, an int
        from 0 to ``goal - 1``: the round takes FINISH in the states up to it and CONTINUE above.
        The answer depends on the arguments alone. `counters` is a `Counters`, and random numbers
        are ``grbp.uniform(key, i)`` for i = 0, 1, ... Numba compiles the function where it can;
        functions that it calls must be marked with `grbp.kernel`.
    constants : NamedTuple, optional
        The numbers that `decide` gets as its second argument.
    thresholds : tuple of int, optional
        The thresholds that `decide` may return. Here -1 stands for ``goal - 1``.
    summary : str, optional
        One line that says what the learner does; by default the first line of the docstring of
        `decide`.
    reference : str, optional
        The publication or document that describes the learner.
    stable : Stable, optional
        A claim about where decisions do not change, so that many rounds are skipped at once.
    thinning : Thinning, optional
        The same for a learner that draws. A learner has `stable` or `thinning`, never both.
    memory : float or "averaged", default 0
        How many rounds the learner remembers, from 1 on: what was counted loses the part 1/memory
        of itself with every round. 0 forgets nothing, and "averaged" draws from several memories,
        by how well each foretold what came.

    See Also
    --------
    check_learner : Say in words what is wrong with a learner.
    Counters : The history that a decision is made from.
    finish_is_right : Compare estimates as Theorem 2 compares probabilities.

    Examples
    --------
    A learner that thinks better of FINISH than the estimates do, beside one that does not:

    >>> from typing import NamedTuple
    >>> import grbp
    >>> class Optimism(NamedTuple):
    ...     bonus: float = 3.0
    >>> def optimist(goal, constants, n, key):
    ...     '''Act as if FINISH had succeeded a few times more than it did.'''
    ...     won, tried = n.f_goal + constants.bonus, n.f + constants.bonus
    ...     return 1 if grbp.finish_is_right(goal, won, tried, n.c_up, n.c - n.c_up) else 0
    >>> learner = grbp.Learner("optimist", optimist, Optimism(), thresholds=(0, 1))
    >>> grbp.check_learner(learner)
    []
    >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    >>> result = grbp.simulate(problem, [learner, "no-explore"], rounds=100, replicas=50, seed=0)
    >>> bool(result.curves["optimist"].mean[-1] < result.curves["no-explore"].mean[-1])
    True
    """

    name: str
    decide: Decide = field(repr=False)
    constants: Any = field(default_factory=NoConstants)
    thresholds: tuple[int, ...] = (0, 1, -1)
    summary: str = ""
    reference: str = ""
    stable: Stable | None = field(default=None, repr=False)
    thinning: Thinning | None = field(default=None, repr=False)
    memory: MemoryLike = 0.0

    def __post_init__(self) -> None:
        complete(self)

    def choices(self, goal: int) -> tuple[int, ...]:
        """Return the thresholds that the learner may choose from in a round.

        Parameters
        ----------
        goal : int
            The goal of the problem.

        Returns
        -------
        tuple of int

        Raises
        ------
        InvalidInput
            If the learner declares a threshold that this goal does not have.
        """
        for threshold in self.thresholds:
            if not -1 <= threshold < goal:
                raise InvalidInput(
                    f"the learner {self.name} declares threshold {threshold}; for a goal of"
                    f" {goal} it must be from 0 to {goal - 1}, or -1 for the last"
                )
        return tuple(threshold % goal for threshold in self.thresholds)

    def policy(self, goal: int, choice: int) -> Policy:  # noqa: ARG002 (as for any other learner)
        """Return the policy that a choice stands for: the threshold itself."""
        return choice

    def initial_counters(self, goal: int, f_goal: float, c_up: float) -> Counters:  # noqa: ARG002
        """Return the counters before round 1, which hold the initial estimates."""
        return initial_counters(f_goal, c_up)

    def choose(self, goal: int, counters: Counters, key: int) -> int:
        """Choose the threshold of the next round."""
        return self.decide_as_int(goal, self.constants, counters, key)

    def decide_as_int(self, goal: int, constants: Any, counters: Counters, key: int) -> int:
        """Return the answer of `decide` as an int, or refuse it."""
        return self.as_threshold(self.decide(goal, constants, counters, key))

    def as_threshold(self, answer: object) -> int:
        """Return an answer of `decide` as an int, or refuse what is not a whole number."""
        if isinstance(answer, int | np.integer | np.bool_):
            return int(answer)
        raise InvalidInput(
            f"the learner {self.name} decided {answer!r}; it must be a threshold, which is an int"
        )

    def settle(self, counters: Counters, choice: int, one: Round) -> Counters:
        """Return the counters after a round that was played with a choice."""
        return settle(counters, choice, one)
