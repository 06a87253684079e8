"""Checks that tell the author of a learner, in words, what is wrong with it.

The rules, each with its reason:
- `decide` takes (goal, constants, counters, key), and `constants` is a named tuple of ints and
  floats. So Numba can compile it, and it can change nothing that it is given.
- Its answer is an int or a NumPy integer, not True or 1.0: compiled and interpreted code would
  not mean the same by those.
- The answer lies from 0 to goal - 1 and is among the declared thresholds. In the declaration -1
  stands for goal - 1; as an answer it means nothing.
- The answer depends on the arguments alone: all randomness comes from the key.
- `decide` raises nothing, and it answers the same when compiled.
- `stable`, if there is one, returns True only for a box of counters over which `decide` has one
  answer, because the engine skips rounds on its word. False is always right.
- `thinning`, if there is one, states in `doubt` no less than the probability of an unusual answer
  anywhere in the box, and rounds resolved by it have the law of `decide`.
"""

import inspect
import math
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.base import Learner
from grbp.learners.claim_checks import Fault, Query, ask, call_learner, check_claims, compile_for
from grbp.learners.counters import Counters
from grbp.learners.state_checks import check_policy_answer, state_queries
from grbp.learners.state_counters import empty_state_counters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.jit import numba
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.validation import check_goal, check_whole

_GOALS = (2, 3, 4, 50)
_GOALS_BY_STATE = (2, 3, 9)
_DRAWN = 40
_ROUNDS = (1, 2, 7, 1_000, 10**12)
_EXTREMES = (
    *((share, other, other, 0.5) for share in (0.0, 1.0) for other in (0.0, 1.0)),
    (0.0, 1.0, 1.0, 0.0),
    (0.5, 0.5, 0.0, 1.0),
)
"""Shares of which to make counters, see `_counters`."""


def check_learner(learner: object, goal: int = 4, seed: int = 0) -> list[str]:
    """Say in words what is wrong with a learner.

    It is asked for decisions at the goal given and at 2, 3, 4 and 50 (by state 2, 3 and 9), as far
    as those have the thresholds that it declares, with counters drawn from a seed and with extreme
    ones.

    Parameters
    ----------
    learner : Learner or StateLearner
        The learner to check; one by state at goals up to 63.
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
        If something else than a learner is given.

    Examples
    --------
    >>> import grbp
    >>> (fault,) = grbp.check_learner(grbp.Learner("bold", lambda goal, constants, n, key: goal))
    >>> fault.partition(";")[0]
    'decide answered 2, which is not from 0 to goal - 1'
    """
    goal, seed = check_goal(goal), check_whole("seed", seed, 0, 2**128 - 1)
    if not isinstance(learner, Learner | StateLearner):
        raise InvalidInput(f"a {type(learner).__name__} was given; it must be a Learner")
    faults = list(_faults_of_form(learner, goal))
    if faults:
        return faults
    queries = _list_queries(learner, goal, seed)
    try:
        _check_answers(learner, queries)
        _check_compiled(learner, queries)
        if isinstance(learner, Learner):
            check_claims(learner, queries, seed)
    except Fault as fault:
        return [str(fault)]
    return []


def _list_queries(learner: Learner | StateLearner, goal: int, seed: int) -> list[Query]:
    """Return what to ask a learner, at every goal that it can play."""
    if isinstance(learner, StateLearner):
        empty_state_counters(goal)  # It refuses a goal that is too large.
        goals = sorted({*_GOALS_BY_STATE, goal})
        return [query for other in goals for query in state_queries(other, fold_in(seed, other))]
    goals = [other for other in sorted({*_GOALS, goal}) if other > max(learner.thresholds)]
    return [query for other in goals for query in _queries(other, fold_in(seed, other))]


def _faults_of_form(learner: Learner | StateLearner, goal: int) -> Iterator[str]:
    """Yield what is wrong with the name, the signature, the constants and the thresholds."""
    if not isinstance(learner.name, str) or not learner.name.strip():
        yield f"its name is {learner.name!r}; it must be a word, for tables and figures"
    try:
        # A callable that is not written in Python may have no signature to look at.
        with suppress(ValueError):
            inspect.signature(learner.decide).bind(0, 0, 0, 0)
    except TypeError as error:
        yield (
            f"decide must be a function of four arguments (goal, constants, counters, key): {error}"
        )
    yield from _faults_of_constants(learner.constants)
    if isinstance(learner, Learner):
        yield from _faults_of_thresholds(learner.thresholds, goal)


def _faults_of_constants(constants: object) -> Iterator[str]:
    """Yield what is wrong with the constants."""
    names = getattr(constants, "_fields", None)
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


def _faults_of_thresholds(thresholds: object, goal: int) -> Iterator[str]:
    """Yield what is wrong with the declared thresholds."""
    if not isinstance(thresholds, tuple) or not thresholds or not all(map(_is_whole, thresholds)):
        yield f"its thresholds are {thresholds!r}; they must be a tuple of one or more ints"
        return
    for threshold in thresholds:
        if not -1 <= threshold < goal:
            yield (
                f"it declares the threshold {threshold}, which a goal of {goal} does not have:"
                f" they run from 0 to {goal - 1}, and -1 stands for goal - 1"
            )
    if len(set(thresholds)) < len(thresholds):
        yield f"its thresholds {thresholds} name one twice"


def _check_answers(learner: Learner | StateLearner, queries: list[Query]) -> None:
    """Check that answers are thresholds, and depend on nothing but the arguments."""
    # Neither is a generator to draw from: they are here because an author may have done so.
    before, before_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        answers = [ask(learner, query) for query in queries]
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
    for query, answer in zip(queries, answers, strict=True):
        if isinstance(learner, StateLearner):
            check_policy_answer(query, answer)
        else:
            _check_answer(learner, query, answer)
    # Asked again, and in another order.
    for query, answer in list(zip(queries, answers, strict=True))[::-3]:
        again = ask(learner, query)
        if again != answer:
            raise Fault(
                f"decide answered {answer!r} and then {again!r} to the same arguments, but must"
                f" depend on nothing else; at {query}"
            )


def _check_answer(learner: Learner, query: Query, answer: object) -> None:
    """Check that an answer is a threshold, and a declared one."""
    if not isinstance(answer, int | np.integer | np.bool_):
        fault = "; a threshold must be an int"
    elif not 0 <= answer < query.goal:
        fault = ", which is not from 0 to goal - 1"
        fault += " (goal - 1 must be answered as such)" if answer == -1 else ""
    elif answer not in learner.choices(query.goal):
        fault = f", which is not among the thresholds it declares, {learner.thresholds}"
    else:
        return
    raise Fault(f"decide answered {answer!r}{fault}; at {query}")


def _is_whole(answer: object) -> TypeGuard[int]:
    """Return whether an answer is an int or a NumPy integer."""
    return isinstance(answer, int | np.integer) and not isinstance(answer, bool)


def _check_compiled(learner: Learner | StateLearner, queries: list[Query]) -> None:
    """Check that compiled code decides the same."""
    if numba() is None:
        return

    def arguments_of(query: Query) -> tuple[Any, ...]:
        return query.goal, learner.constants, query.counters, np.uint64(query.key)

    decide = compile_for("decide", learner.decide, *arguments_of(queries[0]))
    for query in queries:
        answer, other = (
            ask(learner, query),
            call_learner("compiled, decide", decide, query, *arguments_of(query)),
        )
        if other != answer:
            raise Fault(f"compiled, decide answered {other}; interpreted, {answer}; at {query}")


def _queries(goal: int, key: int) -> Iterator[Query]:
    """Yield queries with extreme counters, then with drawn ones; each could have come about."""
    for k, rho in enumerate(_ROUNDS):
        for shares in _EXTREMES:
            yield Query(goal, _counters(rho, *shares), fold_in(key, k))
    for k in range(_DRAWN):
        own = fold_in(key, 100 + k)
        rho = int(math.exp(uniform(own, 0) * math.log(1e6)))
        won, up, in_0, in_1 = (uniform(own, j) for j in range(1, 5))
        yield Query(goal, _counters(rho, won, up, in_0, in_1), fold_in(own, 0))


def _counters(rho: int, won: float, up: float, in_0: float, in_1: float) -> Counters:
    """Make counters before round rho from shares of FINISH that won, CONTINUE up, and of plays."""
    rounds = rho - 1
    f, c = 1.0 + math.floor(rounds * (1.0 - in_0)), 1.0 + math.floor(3.0 * rounds * in_1)
    plays_0 = float(math.floor(rounds * in_0))
    plays_1 = float(math.floor((rounds - plays_0) * in_1))
    wins_0, wins_1 = float(math.floor(plays_0 * up)), float(math.floor(plays_1 * won))
    return Counters(rho, f, f * won, c, c * up, plays_0, wins_0, plays_1, wins_1)
