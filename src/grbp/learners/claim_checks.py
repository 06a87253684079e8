"""Checks of what a learner claims about boxes of counters: the engine skips rounds on its word.

Boxes are drawn, and counters in them. There `stable` must be right wherever it says True, and
`thinning` must have the law of `decide`, as far as counting many answers of both can tell.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from grbp.learners.base import Doubt, Learner, Thinning
from grbp.learners.counters import Counters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.jit import compile_function, kernel, numba, reason
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


class Fault(Exception):
    """A rule that a learner breaks, in words for its author."""


class Query(NamedTuple):
    """The arguments that a decision is asked with, apart from the constants."""

    goal: int
    counters: Any
    key: int

    def __str__(self) -> str:
        return f"goal = {self.goal}, {self.counters}, key = {self.key}"


class Box(NamedTuple):
    """A box of counters, with some counters in it and a key for what is drawn there."""

    goal: int
    low: Counters
    high: Counters
    within: list[Counters]
    key: int

    def __str__(self) -> str:
        return f"goal = {self.goal}, from {self.low} to {self.high}"


def call_learner(name: str, function: Any, place: object, *arguments: Any) -> Any:
    """Call a function of a learner, and raise a fault if it raises anything."""
    try:
        return function(*arguments)
    except Exception as error:
        raise Fault(f"{name} raised {type(error).__name__} ({error}) at {place}") from error


def ask(learner: Learner | StateLearner, query: Query) -> Any:
    """Ask a learner for a decision."""
    goal, counters, key = query
    return call_learner("decide", learner.decide, query, goal, learner.constants, counters, key)


def compile_for(name: str, function: Any, *arguments: Any) -> Any:
    """Compile a function of a learner for some arguments, and raise a fault if Numba cannot."""
    if numba() is None:
        return function
    fast: Any = None
    try:
        fast = compile_function(function)
        fast(*arguments)
    except Exception as error:
        if getattr(fast, "signatures", None):  # It was compiled, so running it failed.
            raise Fault(f"compiled, {name} raised {type(error).__name__} ({error})") from error
        raise Fault(
            f"Numba cannot compile {name}, so it runs interpreted, about a hundred times slower"
            f" (functions that it calls must be marked with @kernel): {reason(error)}"
        ) from error
    return fast


def check_claims(learner: Learner, queries: list[Query], seed: int) -> None:
    """Check what a learner claims about boxes of counters above those of some queries."""
    if learner.stable is not None and learner.thinning is not None:
        raise Fault(
            "it has both stable and thinning; one that draws has thinning, any other stable"
        )
    boxes = [
        _draw_box(query, size, fold_in(fold_in(seed, k), j))
        for k, query in enumerate(queries)
        for j, size in enumerate(_SIZES)
    ]
    if learner.stable is not None:
        _check_stable(learner, boxes)
    if learner.thinning is not None:
        _check_thinning(learner, learner.thinning, boxes)


def _check_stable(learner: Learner, boxes: list[Box]) -> None:
    """Check that decisions are the same in every box that is called stable."""
    for box in boxes:
        goal, low, high, within, key = box
        if not call_learner("stable", learner.stable, box, goal, learner.constants, low, high):
            continue
        answer = ask(learner, Query(goal, low, key))
        for n in within:
            other = ask(learner, Query(goal, n, fold_in(key, 1)))
            if other != answer:
                raise Fault(
                    f"stable says that decide has one answer in a box, but it answers {answer}"
                    f" at its lower corner and {other} at {n}; {box}"
                )
    goal, low, high, *_ = boxes[0]
    compile_for("stable", learner.stable, goal, learner.constants, low, high)


def _check_thinning(learner: Learner, thinning: Thinning, boxes: list[Box]) -> None:
    """Check that doubt names what is usual, and that rounds in doubt have the law of decide."""
    doubtful = []
    for box in boxes:
        given = box.goal, learner.constants, box.low
        doubt = call_learner("thinning's doubt", thinning.doubt, box, *given, box.high)
        if call_learner("thinning's usual", thinning.usual, box, *given) != doubt.usual:
            raise Fault(f"doubt and usual name different thresholds; {box}")
        if doubt.chance < _DOUBTED[1]:
            doubtful.append((box, doubt))
    if not doubtful:
        return
    box, doubt = doubtful[0]
    given = box.goal, learner.constants, box.low
    compile_for("thinning's usual", thinning.usual, *given)
    compile_for("thinning's doubt", thinning.doubt, *given, box.high)
    compile_for("thinning's resolve", thinning.resolve, *given, doubt, np.uint64(1))
    # First those in which something unusual can be seen to happen.
    doubtful.sort(key=lambda pair: pair[1].chance < _DOUBTED[0])
    tally = _tally(learner.decide, thinning.resolve)
    for box, doubt in doubtful[:_TALLIED]:
        for n in (box.low, box.high, box.within[-1]):
            _check_law(learner, tally, box, n, doubt)


def _check_law(
    learner: Learner, tally: Callable[..., Any], box: Box, n: Counters, doubt: Doubt
) -> None:
    """Check that unusual answers are as many as decide gives, and no more than doubt says."""
    size = _ASKED if numba() is None else _ASKED_COMPILED
    asked, resolved = call_learner(
        "thinning", tally, box, box.goal, learner.constants, n, doubt, np.uint64(box.key), size
    )
    most = size * doubt.chance
    if asked > most + 5.0 * math.sqrt(most + 1.0):
        raise Fault(
            f"doubt says that an unusual answer has a chance of at most {doubt.chance:.3g}, but"
            f" {asked} of {size:,} were, at {n}; {box}"
        )
    if abs(asked - resolved) > 5.0 * math.sqrt(asked + resolved + 1.0):
        raise Fault(
            f"decide gave {asked} unusual answers of {size:,}, but resolving those in doubt gave"
            f" {resolved}, at {n}; {box}"
        )


def _tally(decide: Any, resolve: Any) -> Callable[..., Any]:
    """Make the loop that counts unusual answers: of decide, and of resolve in rounds in doubt."""
    kernel(decide)
    kernel(resolve)

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

    return compile_function(tally, "the check of a learner")


def _draw_box(query: Query, size: float, key: int) -> Box:
    """Draw a box above counters, of a size relative to them, and counters in it."""
    n = query.counters
    extents = [size * (10.0 + n.rho) * uniform(key, k) ** 3 for k in range(8)]
    if uniform(key, 10) < 0.3:
        # As when one threshold is played: the others' counts stand still.
        extents[0] = extents[1] = extents[6] = extents[7] = 0.0
    extents.append(math.ceil(size * n.rho * uniform(key, 9)))
    high = _add_counts(n, extents)
    shares = ([uniform(key, 20 + 9 * j + k) for k in range(9)] for j in range(_WITHIN))
    within = [_add_counts(n, map(operator.mul, extents, share)) for share in shares]
    return Box(query.goal, n, high, [high, *within], fold_in(key, 1))


def _add_counts(n: Counters, more: Iterable[float]) -> Counters:
    """Return the counters after more wins and losses of each kind, and more rounds."""
    f_goal, f_lost, up, down, won_0, lost_0, won_1, lost_1, rounds = map(math.floor, more)
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
