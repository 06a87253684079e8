"""What is wrong with a learner, in words, for the person who wrote it.

The rules, each with its reason:
- `decide` takes (goal, constants, counters, key); `constants` is a named tuple of ints and
  floats. So Numba can compile it, and nothing it is given can be changed by it.
- Its answer is a whole number: an int or a NumPy integer. True or 1.0 is none, since compiled
  and interpreted code would not mean the same by it.
- The answer lies from 0 to goal - 1 and is among the declared thresholds. There -1 stands for
  goal - 1; as an answer it stands for nothing.
- It depends on the arguments alone: what is random comes from the key.
- It raises nothing, and compiled it answers the same.
- `stable`, where there is one, says True only of a box of counters over which `decide` has one
  answer: rounds are skipped on its word. False is always right.
- `thinning`, where there is one: over a box, its `doubt` is not below the chance of an unusual
  answer, and a round that is usual, but in doubt resolved, has the law of `decide`.
"""

import inspect
import math
import random
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np

from grbp._numba.jit import compiled, numba, reason
from grbp.errors import InvalidInput
from grbp.learners.base import Learner
from grbp.learners.claim_checks import Case, Raised, ask, faults_of_claims
from grbp.learners.counters import Counters
from grbp.model.validation import check_goal, check_whole
from grbp.numerics.rng import fold_in, uniform

_GOALS = (2, 3, 4, 50)
_DRAWN = 40
_ROUNDS = (1, 2, 7, 1_000, 10**12)
_INSTEAD = "draw with grbp.numerics.rng.uniform(key, i)"
_SLOW = (
    "Numba cannot compile decide, so it runs interpreted, about a hundred times slower"
    " (functions that it calls must be marked with @kernel): "
)


def check_learner(learner: object, goal: int = 4, seed: int = 0) -> list[str]:
    """What is wrong with a learner, a sentence each; nothing when nothing is.

    It is asked for decisions at the goal given and at 2, 3, 4 and 50, as far as those have the
    thresholds that it declares, with counters drawn from a seed and with extreme ones.
    """
    goal, seed = check_goal(goal), check_whole("seed", seed, 0, 2**128 - 1)
    if not isinstance(learner, Learner):
        raise InvalidInput(f"a {type(learner).__name__} was given; it must be a Learner")
    faults = list(_faults_of_form(learner, goal))
    if faults:
        return faults
    most = max(learner.thresholds)
    cases = [
        case
        for other in sorted({*_GOALS, goal})
        if other > most
        for case in _cases(other, fold_in(seed, other))
    ]
    # Neither is a generator to draw from: they are here because an author may have done so.
    before, before_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        faults += _faults_interpreted(learner, cases)
        if random.getstate() != before:
            faults.append(f"decide draws from the module random; {_INSTEAD}")
        if repr(np.random.get_state()) != repr(before_numpy):  # noqa: NPY002
            faults.append(f"decide draws from numpy.random; {_INSTEAD}")
    finally:
        random.setstate(before)
        np.random.set_state(before_numpy)  # noqa: NPY002
    faults = faults or list(_faults_compiled(learner, cases))
    return faults or list(faults_of_claims(learner, cases, seed))


def _faults_of_form(learner: Learner, goal: int) -> Iterator[str]:
    if not isinstance(learner.name, str) or not learner.name.strip():
        yield f"its name is {learner.name!r}; it must be a word, for tables and figures"
    yield from _faults_of_signature(learner.decide)
    yield from _faults_of_constants(learner.constants)
    yield from _faults_of_thresholds(learner.thresholds, goal)


def _faults_of_signature(decide: object) -> Iterator[str]:
    if not callable(decide):
        yield f"decide is a {type(decide).__name__}; it must be a function"
        return
    try:
        inspect.signature(decide).bind(0, 0, 0, 0)
    except TypeError as error:
        yield f"decide must take four arguments (goal, constants, counters, key): {error}"
    except ValueError:
        return


def _faults_of_constants(constants: object) -> Iterator[str]:
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
    if not isinstance(thresholds, tuple) or not thresholds:
        yield f"its thresholds are {thresholds!r}; they must be a tuple of one or more ints"
        return
    for threshold in thresholds:
        if not _is_whole(threshold):
            yield f"it declares the threshold {threshold!r}; a threshold must be an int"
        elif not -1 <= threshold < goal:
            yield (
                f"it declares the threshold {threshold}, which a goal of {goal} does not have:"
                f" they run from 0 to {goal - 1}, and -1 stands for goal - 1"
            )
    if len(set(thresholds)) < len(thresholds):
        yield f"its thresholds {thresholds} name one twice"


def _faults_interpreted(learner: Learner, cases: list[Case]) -> list[str]:
    try:
        answers = [ask(learner.decide, learner.constants, case) for case in cases]
        return [
            *_faults_of_answers(learner, cases, answers),
            *_faults_of_purity(learner, cases, answers),
        ]
    except Raised as error:
        return [f"decide raised {error}"]


def _faults_of_answers(learner: Learner, cases: list[Case], answers: list[Any]) -> Iterator[str]:
    """The first answer of each kind that is none."""
    seen = set()
    for case, answer in zip(cases, answers, strict=True):
        declared = {threshold % case.goal for threshold in learner.thresholds}
        if not _is_whole(answer):
            kind = f"decide answered {answer!r}; a threshold must be an int (not a bool or a float)"
        elif not 0 <= answer < case.goal:
            kind = f"decide answered {answer}, which is not from 0 to goal - 1"
            kind += " (goal - 1 must be answered as such)" if answer == -1 else ""
        elif answer not in declared:
            kind = (
                f"decide answered {answer}, which is not among the thresholds it declares,"
                f" {learner.thresholds}"
            )
        else:
            continue
        if kind not in seen:
            seen.add(kind)
            yield f"{kind}; at {case}"
        if len(seen) == 3:
            return


def _faults_of_purity(learner: Learner, cases: list[Case], answers: list[Any]) -> Iterator[str]:
    """Whether it answers the same when it is asked again, in another order."""
    for case, answer in list(zip(cases, answers, strict=True))[::-3]:
        again = ask(learner.decide, learner.constants, case)
        if again != answer:
            yield (
                f"decide answered {answer!r} and then {again!r} to the same arguments, but must"
                f" depend on nothing else; at {case}"
            )
            return


def _faults_compiled(learner: Learner, cases: list[Case]) -> Iterator[str]:
    compiler = numba()
    if compiler is None:
        return
    try:
        decide = compiled(learner.decide)
    except TypeError as error:
        yield _SLOW + reason(error)
        return
    try:
        for case in cases:
            answer = ask(learner.decide, learner.constants, case)
            other = ask(decide, learner.constants, case, np.uint64)
            if other != answer:
                yield f"compiled, decide answered {other}; interpreted, {answer}; at {case}"
                return
    except Raised as error:
        if isinstance(error.__cause__, compiler.core.errors.NumbaError):
            yield _SLOW + reason(error.__cause__)
        else:
            yield f"compiled, decide raised {error}; interpreted it did not"


def _is_whole(answer: object) -> TypeGuard[int]:
    return isinstance(answer, int | np.integer) and not isinstance(answer, bool)


def _cases(goal: int, key: int) -> Iterator[Case]:
    """Extreme counters, then drawn ones; each could have come about."""
    for k, rho in enumerate(_ROUNDS):
        for share in (0.0, 1.0):
            for other in (0.0, 1.0):
                yield Case(goal, _counters(rho, (share, other, other, 0.5)), fold_in(key, k))
        yield Case(goal, _counters(rho, (0.0, 1.0, 1.0, 0.0)), fold_in(key, k))
        yield Case(goal, _counters(rho, (0.5, 0.5, 0.0, 1.0)), fold_in(key, k))
    for k in range(_DRAWN):
        own = fold_in(key, 100 + k)
        rho = int(math.exp(uniform(own, 0) * math.log(1e6)))
        shares = (uniform(own, 1), uniform(own, 2), uniform(own, 3), uniform(own, 4))
        yield Case(goal, _counters(rho, shares), fold_in(own, 0))


def _counters(rho: int, shares: tuple[float, float, float, float]) -> Counters:
    """Counters before round rho; shares of FINISH that won, CONTINUE that rose, and of plays."""
    won, up, in_0, in_1 = shares
    rounds = rho - 1
    f, c = 1.0 + math.floor(rounds * (1.0 - in_0)), 1.0 + math.floor(3.0 * rounds * in_1)
    plays_0 = float(math.floor(rounds * in_0))
    plays_1 = float(math.floor((rounds - plays_0) * in_1))
    return Counters(
        rho, f, f * won, c, c * up,
        plays_0, float(math.floor(plays_0 * up)), plays_1, float(math.floor(plays_1 * won)),
    )  # fmt: skip
