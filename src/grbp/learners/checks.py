"""Checks that tell the author of a learner, in words, what is wrong with it.

Each rule is a function, whose docstring says it, and all of them are listed at the end, once for
every kind of learner. What the kinds differ in, they say themselves; see `AnyLearner`.

The engine skips rounds on the word of `stable` and `thinning`, so these are checked in boxes of
counters that are drawn, at counters within: `stable` must be right wherever it says True, and
`thinning` must have the law of `decide`, as far as counting many answers of both can tell.
"""

import inspect
import math
import operator
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.learners.base import AnyLearner, Doubt
from grbp.learners.counters import Counters
from grbp.learners.registry import LearnerLike, find_learner
from grbp.numerics.jit import compile_function, kernel, numba, reason
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.validation import check_goal, check_whole

_DRAWN: Final = 40
_ROUNDS: Final = (1, 2, 7, 1_000, 10**12)
_EXTREMES: Final = (
    *((share, other, other, 0.5) for share in (0.0, 1.0) for other in (0.0, 1.0)),
    (0.0, 1.0, 1.0, 0.0),
    (0.5, 0.5, 0.0, 1.0),
)
"""Shares of which to make counters, again and again; see `AnyLearner.example_counters`."""

_SIZES: Final = (1e-3, 0.03, 1.0)
"""Sizes of boxes, relative to the counters below them."""

_WITHIN: Final = 5
"""Counters drawn from every box."""

_DOUBTED: Final = (1e-4, 0.3)
"""Chances of the unusual at which many answers show whether a claim about them is true."""

_TALLIED: Final = 8
_ASKED: Final = 2_000
_ASKED_COMPILED: Final = 200_000
"""Boxes at which answers are counted, and how many, interpreted and compiled."""


class Fault(Exception):
    """A rule that a learner breaks, in words for its author."""


class Query(NamedTuple):
    """The arguments that a decision is asked with, apart from the constants, and the answer."""

    goal: int
    counters: Any
    key: int
    answer: Any = None

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


def check_learner(learner: LearnerLike, goal: int = 4, seed: int = 0) -> list[str]:
    """Say in words what is wrong with a learner.

    It is asked for decisions at the goal given and at 2, 3, 4 and 50 (by state 2, 3 and 9), as far
    as those have the thresholds that it declares, with counters drawn from a seed and with extreme
    ones.

    Parameters
    ----------
    learner : str, Learner or StateLearner
        The learner to check, or the name of one, such as "module:name"; one by state at goals up to
        63.
    goal : int, default 4
        A goal that it is meant for.
    seed : int, default 0
        The seed of the counters that it is asked with.

    Returns
    -------
    list of str
        A sentence for each fault of its form; or, if the form is right, one for the first fault
        that its answers or its claims show. The list is empty if nothing was found.

    Raises
    ------
    InvalidInput
        If there is no such learner.

    Examples
    --------
    >>> import grbp
    >>> (fault,) = grbp.check_learner(grbp.Learner("bold", lambda goal, constants, n, key: goal))
    >>> fault.partition(";")[0]
    'decide answered 2, which is not from 0 to goal - 1'
    """
    goal, seed = check_goal(goal), check_whole("seed", seed, 0, 2**128 - 1)
    found = find_learner(learner, goal)
    faults = [fault for rule in _FORM for fault in rule(found, goal)]
    if faults:
        return faults
    try:
        asked = _ask_from_the_key(found, list(_list_queries(found, goal, seed)))
        for check in _RULES:
            check(found, asked)
    except Fault as fault:
        return [str(fault)]
    return []


def _list_queries(learner: AnyLearner, goal: int, seed: int) -> Iterator[Query]:
    """Yield what to ask a learner: extreme counters, then drawn ones, as they could come about."""
    extreme = [(rho, partial(_repeat, shares)) for rho in _ROUNDS for shares in _EXTREMES]
    for some in learner.checked_goals(goal):
        key = fold_in(seed, some)
        keys = [fold_in(key, 100 + k) for k in range(_DRAWN)]
        drawn = [(int(1e6 ** uniform(own, 0)), partial(uniform, fold_in(own, 1))) for own in keys]
        for k, (rho, share) in enumerate([*extreme, *drawn]):
            yield Query(some, learner.example_counters(some, rho, share), fold_in(key, k))


def _repeat(shares: tuple[float, ...], k: int) -> float:
    """Return some shares, again and again."""
    return shares[k % len(shares)]


def _call(name: str, function: Any, place: object, *arguments: Any) -> Any:
    """Call a function of a learner, and raise a fault if it raises anything."""
    try:
        return function(*arguments)
    except Exception as error:
        raise Fault(f"{name} raised {type(error).__name__} ({error}) at {place}") from error


def _ask(learner: AnyLearner, query: Query) -> Any:
    """Ask a learner for a decision."""
    goal, counters, key, _ = query
    return _call("decide", learner.decide, query, goal, learner.constants, counters, key)


def _compile(name: str, function: Any, *arguments: Any) -> Any:
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


# The form of a learner.


def _name_is_a_word(learner: AnyLearner, _: int) -> Iterator[str]:
    """Demand a name that is a word, for tables and figures."""
    if not isinstance(learner.name, str) or not learner.name.strip():
        yield f"its name is {learner.name!r}; it must be a word, for tables and figures"


def _decides_from_four(learner: AnyLearner, _: int) -> Iterator[str]:
    """Demand that `decide` takes (goal, constants, counters, key)."""
    try:
        # A callable that is not written in Python may have no signature to look at.
        with suppress(ValueError):
            inspect.signature(learner.decide).bind(0, 0, 0, 0)
    except TypeError as error:
        yield (
            f"decide must be a function of four arguments (goal, constants, counters, key): {error}"
        )


def _constants_are_numbers(learner: AnyLearner, _: int) -> Iterator[str]:
    """Demand a named tuple of ints and floats: Numba can read it, and nothing can change it."""
    constants, names = learner.constants, getattr(learner.constants, "_fields", None)
    if not isinstance(constants, tuple) or names is None:
        yield (
            f"its constants are a {type(constants).__name__}; they must be a named tuple"
            " (NoConstants() where there are none)"
        )
        return
    for name, constant in zip(names, constants, strict=True):
        number = isinstance(constant, int | float) and not isinstance(constant, bool)
        if not number or math.isnan(constant):
            yield f"its constant {name} is {constant!r}; it must be an int or a float"


def _choices_are_those_of_the_goal(learner: AnyLearner, goal: int) -> Iterator[str]:
    """Demand declared thresholds of the goal, each once, where -1 stands for goal - 1."""
    return learner.faults_of_choices(goal)


# What it answers, and claims.


def _ask_from_the_key(learner: AnyLearner, queries: list[Query]) -> list[Query]:
    """Ask a learner, and demand that all randomness comes from the key."""
    # Neither is a generator to draw from: they are here because an author may have done so.
    before, before_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        asked = [query._replace(answer=_ask(learner, query)) for query in queries]
        drawn = {
            "the module random": random.getstate() != before,
            "numpy.random": repr(np.random.get_state()) != repr(before_numpy),  # noqa: NPY002
        }
    finally:
        random.setstate(before)
        np.random.set_state(before_numpy)  # noqa: NPY002
    for source, moved in drawn.items():
        if moved:
            raise Fault(f"decide draws from {source}; draw with grbp.uniform(key, i)")
    return asked


def _answers_a_choice(learner: AnyLearner, asked: list[Query]) -> None:
    """Demand a threshold that it declares or, by state, a policy of the goal, as an int."""
    for query in asked:
        if fault := learner.fault_of(query.goal, query.answer):
            raise Fault(f"decide answered {query.answer!r}{fault}; at {query}")


def _answers_the_same_again(learner: AnyLearner, asked: list[Query]) -> None:
    """Demand the same answer to the same arguments, asked again and in another order."""
    for query in asked[::-3]:
        again = _ask(learner, query)
        if again != query.answer:
            raise Fault(
                f"decide answered {query.answer!r} and then {again!r} to the same arguments, but"
                f" must depend on nothing else; at {query}"
            )


def _answers_the_same_compiled(learner: AnyLearner, asked: list[Query]) -> None:
    """Demand the same answers of compiled code."""
    if numba() is None:
        return

    def arguments_of(query: Query) -> tuple[Any, ...]:
        return query.goal, learner.constants, query.counters, np.uint64(query.key)

    decide = _compile("decide", learner.decide, *arguments_of(asked[0]))
    for query in asked:
        other = _call("compiled, decide", decide, query, *arguments_of(query))
        if other != query.answer:
            raise Fault(
                f"compiled, decide answered {other}; interpreted, {query.answer}; at {query}"
            )


def _claims_one_thing(learner: AnyLearner, _: list[Query]) -> None:
    """Demand `stable` or `thinning` or nothing, never both."""
    if learner.stable is not None and learner.thinning is not None:
        raise Fault(
            "it has both stable and thinning; one that draws has thinning, any other stable"
        )


def _is_stable_where_it_says(learner: AnyLearner, asked: list[Query]) -> None:
    """Demand that `stable` returns True only for a box over which `decide` has one answer.

    The engine skips rounds on its word; False is always right.
    """
    if learner.stable is None:
        return
    for box in _draw_boxes(asked):
        goal, low, high, within, key = box
        if not _call("stable", learner.stable, box, goal, learner.constants, low, high):
            continue
        answer = _ask(learner, Query(goal, low, key))
        for n in within:
            other = _ask(learner, Query(goal, n, fold_in(key, 1)))
            if other != answer:
                raise Fault(
                    f"stable says that decide has one answer in a box, but it answers {answer}"
                    f" at its lower corner and {other} at {n}; {box}"
                )
    goal, low, high, *_ = next(_draw_boxes(asked))
    _compile("stable", learner.stable, goal, learner.constants, low, high)


def _thins_by_its_law(learner: AnyLearner, asked: list[Query]) -> None:
    """Demand that rounds resolved by `thinning` have the law of `decide`.

    Its `doubt` states no less than the probability of an unusual answer anywhere in the box.
    """
    if learner.thinning is None:
        return
    thinning, doubtful = learner.thinning, []
    for box in _draw_boxes(asked):
        given = box.goal, learner.constants, box.low
        doubt = _call("thinning's doubt", thinning.doubt, box, *given, box.high)
        if _call("thinning's usual", thinning.usual, box, *given) != doubt.usual:
            raise Fault(f"doubt and usual name different thresholds; {box}")
        if doubt.chance < _DOUBTED[1]:
            doubtful.append((box, doubt))
    if not doubtful:
        return
    box, doubt = doubtful[0]
    given = box.goal, learner.constants, box.low
    _compile("thinning's usual", thinning.usual, *given)
    _compile("thinning's doubt", thinning.doubt, *given, box.high)
    _compile("thinning's resolve", thinning.resolve, *given, doubt, np.uint64(1))
    # First those in which something unusual can be seen to happen.
    doubtful.sort(key=lambda pair: pair[1].chance < _DOUBTED[0])
    tally = _tally(learner.decide, thinning.resolve)
    for box, doubt in doubtful[:_TALLIED]:
        for n in (box.low, box.high, box.within[-1]):
            _check_law(learner, tally, box, n, doubt)


def _check_law(
    learner: AnyLearner, tally: Callable[..., Any], box: Box, n: Counters, doubt: Doubt
) -> None:
    """Check that unusual answers are as many as decide gives, and no more than doubt says."""
    size = _ASKED if numba() is None else _ASKED_COMPILED
    asked, resolved = _call(
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


def _draw_boxes(asked: list[Query]) -> Iterator[Box]:
    """Yield boxes of every size above the counters of every query."""
    for query in asked:
        for j, size in enumerate(_SIZES):
            yield _draw_box(query, size, fold_in(query.key, 1_000 + j))


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


_FORM: Final[tuple[Callable[[AnyLearner, int], Iterator[str]], ...]] = (
    _name_is_a_word,
    _decides_from_four,
    _constants_are_numbers,
    _choices_are_those_of_the_goal,
)
_RULES: Final[tuple[Callable[[AnyLearner, list[Query]], None], ...]] = (
    _answers_a_choice,
    _answers_the_same_again,
    _answers_the_same_compiled,
    _claims_one_thing,
    _is_stable_where_it_says,
    _thins_by_its_law,
)
