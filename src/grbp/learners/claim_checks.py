"""What is wrong with what a learner says about boxes of counters: rounds are skipped on its word.

Boxes are drawn, and counters in them. At these `stable` must be right wherever it says True; and
`thinning` must have the law of `decide`, as far as counting many answers of both can tell.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from grbp._numba.jit import compiled, compiler_errors, kernel, numba, reason
from grbp.learners.base import Doubt, Learner
from grbp.learners.counters import Counters
from grbp.numerics.rng import fold_in, uniform

_SIZES = (1e-3, 0.03, 1.0)
"""Sizes of boxes, relative to the counters below them."""

_WITHIN = 5
"""Counters drawn from every box."""

_DOUBTED = (1e-4, 0.3)
"""Chances of the unusual at which many answers show whether a claim about them is true."""

_TALLIED = 8
_ASKED, _ASKED_COMPILED = 2_000, 200_000
"""Boxes at which answers are counted, and how many, interpreted and compiled."""


class Case(NamedTuple):
    """What a decision is asked with."""

    goal: int
    counters: Counters
    key: int

    def __str__(self) -> str:
        return f"goal = {self.goal}, {self.counters}, key = {self.key}"


class Raised(Exception):
    """What a decision raised, and at which case."""


def ask(
    decide: Callable[..., Any], constants: Any, case: Case, key: Callable[[int], Any] = int
) -> Any:
    """The answer of a decision; compiled, it needs the key as a NumPy number."""
    try:
        return decide(case.goal, constants, case.counters, key(case.key))
    except Exception as error:
        raise Raised(f"{type(error).__name__} ({error}) at {case}") from error


class _Boxed(NamedTuple):
    """A box of counters, and some counters in it."""

    goal: int
    low: Counters
    high: Counters
    within: tuple[Counters, ...]
    key: int

    def __str__(self) -> str:
        return f"goal = {self.goal}, from {self.low} to {self.high}"


def faults_of_claims(learner: Learner, cases: list[Case], seed: int) -> Iterator[str]:
    """What is wrong with what it says about boxes of counters."""
    if learner.stable is not None and learner.thinning is not None:
        yield "it has both stable and thinning; one that draws has thinning, any other stable"
        return
    boxes = [
        _box(case, size, fold_in(fold_in(seed, k), j))
        for k, case in enumerate(cases)
        for j, size in enumerate(_SIZES)
    ]
    try:
        if learner.stable is not None:
            yield from _faults_of_stable(learner, boxes)
        if learner.thinning is not None:
            yield from _faults_of_thinning(learner, boxes)
    except Raised as error:
        yield f"a claim about a box raised {error}"


def _faults_of_stable(learner: Learner, boxes: list[_Boxed]) -> Iterator[str]:
    """The first box that is called stable and is not; or that it cannot be compiled."""
    for box in boxes:
        if not _claim(learner.stable, box, box.goal, learner.constants, box.low, box.high):
            continue
        answer = ask(learner.decide, learner.constants, Case(box.goal, box.low, box.key))
        for n in box.within:
            other = ask(learner.decide, learner.constants, Case(box.goal, n, fold_in(box.key, 1)))
            if other != answer:
                yield (
                    f"stable says that decide has one answer in a box, but it answers {answer}"
                    f" at its lower corner and {other} at {n}; {box}"
                )
                return
    box = boxes[0]
    yield from _faults_of_compiling(
        "stable", learner.stable, (box.goal, learner.constants, box.low, box.high)
    )


def _faults_of_thinning(learner: Learner, boxes: list[_Boxed]) -> Iterator[str]:
    """Whether doubt names what is usual, and rounds in doubt have the law of decide."""
    if learner.thinning is None:
        return
    usual, doubt_over, resolve = learner.thinning
    doubtful = []
    for box in boxes:
        goal, constants = box.goal, learner.constants
        doubt = _claim(doubt_over, box, goal, constants, box.low, box.high)
        if _claim(usual, box, goal, constants, box.low) != doubt.usual:
            yield f"doubt and usual name different thresholds; {box}"
            return
        if doubt.chance < _DOUBTED[1]:
            doubtful.append((doubt.chance < _DOUBTED[0], box, doubt))
    if not doubtful:
        return
    _, box, doubt = doubtful[0]
    arguments = (box.goal, learner.constants, box.low)
    for name, function, given in (
        ("usual", usual, arguments),
        ("doubt", doubt_over, (*arguments, box.high)),
        ("resolve", resolve, (*arguments, doubt, np.uint64(1))),
    ):
        faults = list(_faults_of_compiling(f"thinning's {name}", function, given))
        if faults:
            yield faults[0]
            return
    # Those in which something can be seen to happen first.
    told = sorted(doubtful, key=lambda one: one[0])[:_TALLIED]
    yield from _faults_of_law(learner, [(box, doubt) for _, box, doubt in told])


def _faults_of_law(learner: Learner, told: list[tuple[_Boxed, Doubt]]) -> Iterator[str]:
    """Whether unusual answers are as many as decide gives, and no more than doubt says."""
    tally, size = _tally(learner), _ASKED if numba() is None else _ASKED_COMPILED
    for box, doubt in told:
        for n in (box.low, box.high, box.within[-1]):
            asked, resolved = tally(box.goal, learner.constants, n, doubt, np.uint64(box.key), size)
            most = size * doubt.chance
            if asked > most + 5.0 * math.sqrt(most + 1.0):
                yield (
                    f"doubt says that an unusual answer has a chance of at most"
                    f" {doubt.chance:.3g}, but {asked} of {size:,} were, at {n}; {box}"
                )
                return
            if abs(asked - resolved) > 5.0 * math.sqrt(asked + resolved + 1.0):
                yield (
                    f"decide gave {asked} unusual answers of {size:,}, but resolving those in"
                    f" doubt gave {resolved}, at {n}; {box}"
                )
                return


def _tally(learner: Learner) -> Callable[..., tuple[int, int]]:
    """What counts unusual answers: of decide, and of resolve in the rounds in doubt."""
    decide = kernel(learner.decide)
    resolve = kernel(learner.thinning.resolve if learner.thinning is not None else decide)

    def tally(
        goal: int, constants: Any, n: Counters, doubt: Doubt, key: int, size: int
    ) -> tuple[int, int]:
        asked, resolved = 0, 0
        for k in range(size):
            own = fold_in(key, k)
            if decide(goal, constants, n, own) != doubt.usual:
                asked += 1
            in_doubt = uniform(own, 1 << 40) < doubt.chance
            if in_doubt and resolve(goal, constants, n, doubt, fold_in(own, 1)) != doubt.usual:
                resolved += 1
        return asked, resolved

    return compiled(tally, "the check of a learner")


def _faults_of_compiling(name: str, function: Any, given: tuple[Any, ...]) -> Iterator[str]:
    """That a function cannot be compiled, if it cannot."""
    if numba() is None:
        return
    not_compiled: tuple[type[Exception], ...] = (TypeError, *compiler_errors())
    try:
        compiled(function)(*given)
    except not_compiled as error:
        yield (
            f"Numba cannot compile {name}, so it runs interpreted, about a hundred times slower"
            f" (functions that it calls must be marked with @kernel): {reason(error)}"
        )
    except Exception as error:
        raise Raised(f"{type(error).__name__} ({error}) in {name}") from error


def _claim(function: Any, box: _Boxed, *arguments: Any) -> Any:
    """What a function says about a box."""
    try:
        return function(*arguments)
    except Exception as error:
        raise Raised(f"{type(error).__name__} ({error}) at {box}") from error


def _box(case: Case, size: float, key: int) -> _Boxed:
    """A box above counters, of a size relative to them, with its corner and others in it."""
    n = case.counters
    extents = [size * (10.0 + n.rho) * uniform(key, k) ** 3 for k in range(8)]
    rounds = math.ceil(size * n.rho * uniform(key, 9))
    if uniform(key, 10) < 0.3:
        # As when one threshold is played: the others' counts stand still.
        extents[0] = extents[1] = extents[6] = extents[7] = 0.0
    corners = [tuple(float(math.floor(e)) for e in extents)]
    corners += [
        tuple(float(math.floor(e * uniform(key, 20 + 8 * j + k))) for k, e in enumerate(extents))
        for j in range(_WITHIN)
    ]
    grown = [_grown(n, rounds if j == 0 else int(rounds * uniform(key, 11 + j)), corner)
             for j, corner in enumerate(corners)]  # fmt: skip
    return _Boxed(case.goal, n, grown[0], tuple(grown), fold_in(key, 1))


def _grown(n: Counters, rounds: int, more: tuple[float, ...]) -> Counters:
    """The counters after so many rounds more, and so many more wins and losses of each kind."""
    f_goal, f_lost, up, down, won_0, lost_0, won_1, lost_1 = more
    return Counters(
        n.rho + rounds,
        n.f + f_goal + f_lost,
        n.f_goal + f_goal,
        n.c + up + down,
        n.c_up + up,
        n.plays_0 + won_0 + lost_0,
        n.wins_0 + won_0,
        n.plays_1 + won_1 + lost_1,
        n.wins_1 + won_1,
    )
