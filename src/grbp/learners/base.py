"""The contract of every learner: its constants, and one pure function from counters to a policy.

A policy is one action for every state, and a threshold is one of them. What the kinds of learners
differ in is what is counted for them, and what the number stands for that `decide` answers; all
that others want to know of a learner, they ask it here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.counters import (
    Counters,
    Round,
    add_to,
    as_totals,
    initial_counters,
    step_counts,
    with_pending,
)
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


Share: TypeAlias = Callable[[int], float]
"""A number from 0 to 1 for each index: drawn, or extreme."""


class AnyLearner:
    """What everybody may ask a learner, whatever its kind.

    Attributes
    ----------
    name, decide, constants, summary, reference, memory
        See `Learner`.
    stable, thinning : callable or None
        See `Learner`; what a learner claims of boxes of counters, if anything.
    by_threshold : bool
        Whether it decides a threshold from the counters of Algorithm 1. Only then can its rounds
        be leapt over or drawn whole, split, planned with, or played on a GPU.
    by_state : bool
        Whether it decides an action for every state from counters by state. A learner that is
        neither has counters of its own, and plays a `Problem` alone.
    """

    name: str
    decide: Callable[..., Any]
    constants: Any
    summary: str
    reference: str
    memory: MemoryLike = 0.0
    stable: Stable | None = None
    thinning: Thinning | None = None
    by_threshold: ClassVar[bool] = False
    by_state: ClassVar[bool] = False
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        """Check what it is made of; its summary is that of `decide` unless it has one."""
        if not callable(self.decide):
            raise InvalidInput(
                f"decide = {self.decide!r} was given for the learner {self.name}; it must be a"
                " function of the goal, the constants, the counters and a key"
            )
        object.__setattr__(self, "memory", check_memory(self.memory))
        if not isinstance(self.summary, str):
            raise InvalidInput(
                f"summary = {self.summary!r} was given for the learner {self.name}; it must be a"
                " text"
            )
        if not self.summary:
            first, _, _ = (self.decide.__doc__ or "").strip().partition("\n")
            object.__setattr__(self, "summary", first.removesuffix("."))

    # What it decides.

    def choices(self, goal: int) -> Sequence[int]:
        """Return the numbers that `decide` may answer: those of all policies."""
        return range(1 << (goal - 1))

    def policy(self, goal: int, choice: int) -> Policy:
        """Return the policy that a number stands for: one action for every state."""
        return [(choice >> bit) & 1 for bit in range(goal - 1)]

    def choose(self, goal: int, counters: Any, key: int) -> int:
        """Choose the policy of the next round, as a number."""
        return self.decide_or_refuse(goal, self.constants, counters, key)

    def decide_or_refuse(self, goal: int, constants: Any, counters: Any, key: int) -> int:
        """Return the answer of `decide` as an int, or refuse it."""
        return self.check_choice(goal, self.decide(goal, constants, counters, key))

    def check_choice(self, goal: int, answer: Any) -> int:
        """Return an answer of `decide` as an int, or refuse what it may not answer."""
        fault = self.fault_of(goal, answer)
        if fault:
            raise InvalidInput(f"the learner {self.name} decided {answer!r}{fault}")
        return int(answer)

    def fault_of(self, goal: int, answer: Any) -> str:
        """Say what is wrong with an answer of `decide`; nothing if it may answer that."""
        if isinstance(answer, int | np.integer) and 0 <= answer < 1 << (goal - 1):
            return ""
        return (
            f"; it must be a policy, an int from 0 to 2^{goal - 1} - 1 with a bit for every state"
        )

    # What is counted for it: unless a kind says otherwise, the counters of Algorithm 1.

    def initial_counters(
        self, goal: int, f_goal: float = 0.0, c_up: float = 0.0, *, jumps: bool = False
    ) -> Any:
        """Return the counters before round 1, which hold the initial estimates."""
        return initial_counters(f_goal, c_up)

    def settle(self, counters: Any, choice: int, shown: Any, rounds: int = 1) -> Any:
        """Return the counters after a round that was played with a choice, and what it showed.

        The choice is NOBODY where it was not played with one; of no round, its moves count alone.

        Paper: eqn:updcounts
        """
        return add_to(counters, choice, as_totals(shown)._replace(rounds=rounds))

    def nothing_shown(self, goal: int, state: int, *, jumps: bool = False) -> Any:
        """Return what a round has shown when it begins in a state."""
        return Round(state, 0, 0, 0, 0)

    def show(self, shown: Any, goal: int, state: int, finish: bool, after: int) -> Any:
        """Return what a round has shown after a step; a jump counts only by state."""
        f, _, c, c_up = step_counts(goal, state, finish, after)
        if not finish and abs(after - state) != 1:
            c = c_up = 0
        return Round(shown.first, int(after == goal), shown.f + f, shown.c + c, shown.c_up + c_up)

    def expect(self, counters: Any, pending: Sequence[int]) -> Any:
        """Return the counters to decide from while outcomes of FINISH are pending."""
        return with_pending(counters, counters.rho, float(pending[0])) if counters.f else counters

    # How it is kept, and checked.

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that its decisions depend on, of which a file keeps a digest."""
        return (self.decide, self.constants)

    def pairs(self, counters: Any) -> Iterable[tuple[float, float]]:
        """Return how often something succeeded, and was tried, of everything that is counted."""
        n = counters
        return [(n.f_goal, n.f), (n.c_up, n.c), (n.wins_0, n.plays_0), (n.wins_1, n.plays_1)]

    def example_counters(self, goal: int, rho: int, share: Share) -> Any:
        """Return counters before a round as they could have come about.

        The shares are those of FINISH that won, of CONTINUE that moved up, and of two ways to play.
        """
        (won, up, in_0, in_1), rounds = map(share, range(4)), rho - 1
        f, c = 1.0 + math.floor(rounds * (1.0 - in_0)), 1.0 + math.floor(3.0 * rounds * in_1)
        plays_0 = float(math.floor(rounds * in_0))
        plays_1 = float(math.floor((rounds - plays_0) * in_1))
        wins_0, wins_1 = float(math.floor(plays_0 * up)), float(math.floor(plays_1 * won))
        return Counters(rho, f, f * won, c, c * up, plays_0, wins_0, plays_1, wins_1)

    def checked_goals(self, goal: int) -> list[int]:
        """Return the goals at which `check_learner` asks it, that which is given among them."""
        return sorted({2, 3, 9, goal})

    def faults_of_choices(self, goal: int) -> Iterator[str]:
        """Yield what is wrong with the choices that it declares."""
        yield from ()


@dataclass(frozen=True)
class Learner(AnyLearner):
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
    by_threshold: ClassVar[bool] = True

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
        for fault in self._lacking(goal):
            raise InvalidInput(f"the learner {self.name} was given; {fault}")
        return tuple(threshold % goal for threshold in self.thresholds)

    def policy(self, goal: int, choice: int) -> Policy:
        """Return the policy that a choice stands for: the threshold itself."""
        return choice

    def fault_of(self, goal: int, answer: Any) -> str:
        """Say what is wrong with an answer of `decide`; nothing if it is a declared threshold."""
        if not isinstance(answer, int | np.integer | np.bool_):
            return "; it must be a threshold, which is an int"
        if not 0 <= answer < goal:
            hint = " (goal - 1 must be answered as such)" if answer == -1 else ""
            return f", which is not from 0 to goal - 1{hint}"
        if answer not in self.choices(goal):
            return f", which is not among the thresholds that it declares, {self.thresholds}"
        return ""

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that its decisions depend on, of which a file keeps a digest."""
        return ((self.decide, self.stable, self.thinning), self.constants, self.thresholds)

    def checked_goals(self, goal: int) -> list[int]:
        """Return the goals at which it is asked: those that have the thresholds it declares."""
        return [some for some in sorted({2, 3, 4, 50, goal}) if some > max(self.thresholds)]

    def faults_of_choices(self, goal: int) -> Iterator[str]:
        """Yield what is wrong with the declared thresholds."""
        given: Any = self.thresholds
        if not isinstance(given, tuple) or not given or not all(map(_is_whole, given)):
            yield f"its thresholds are {given!r}; they must be a tuple of one or more ints"
            return
        yield from self._lacking(goal)
        if len(set(given)) < len(given):
            yield f"its thresholds {given} name one twice"

    def _lacking(self, goal: int) -> Iterator[str]:
        """Yield which declared thresholds a goal does not have."""
        for threshold in self.thresholds:
            if not -1 <= threshold < goal:
                yield (
                    f"it declares the threshold {threshold}, which a goal of {goal} does not have:"
                    f" they run from 0 to {goal - 1}, and -1 stands for goal - 1"
                )


def _is_whole(threshold: object) -> bool:
    """Return whether a threshold is an int or a NumPy integer."""
    return isinstance(threshold, int | np.integer) and not isinstance(threshold, bool)
