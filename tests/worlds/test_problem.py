"""What a problem accepts, how it keeps it, and what it refuses."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import grbp
from grbp import Problem

NUMBER = "it must be a number from 0 to 1"
EACH = "one for every state from 1 to 3"


def test_every_way_to_say_the_same_start_is_the_same_problem() -> None:
    assert Problem(4, 0.5, 0.3) == Problem(4, 0.5, 0.3, [1 / 3, 1 / 3, 1 / 3])
    assert (
        Problem(4, 0.5, 0.3, 2) == Problem(4, 0.5, 0.3, {2: 1.0}) == Problem(4, 0.5, 0.3, [0, 1, 0])
    )
    assert Problem(4, 0.5, 0.3, {3: 0.25, 1: 0.75}) == Problem(
        4, 0.5, 0.3, np.array([0.75, 0, 0.25])
    )
    assert Problem(2, 0.5, 0.3) == Problem(2, 0.5, 0.3, 1)
    pairs: Any = [[2, 1.0]]  # as JSON has them
    assert Problem(4, 0.5, 0.3, 2) == Problem(4, 0.5, 0.3, np.array(2))
    assert Problem(4, 0.5, 0.3, 2) == Problem(4, 0.5, 0.3, pairs)
    assert len({Problem(4, 0.5, 0.3), Problem(4, 0.5, 0.3, "uniform")}) == 1
    assert Problem(4, Fraction(1, 2), np.float64(0.3)) == Problem(np.int64(4), 0.5, 0.3)  # type: ignore[arg-type]


def test_a_problem_cannot_change() -> None:
    problem = Problem(4, 0.5, 0.3)
    with pytest.raises(FrozenInstanceError):
        problem.p_c = 0.6  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        problem.start_probabilities[0] = 1.0
    assert replace(problem, p_c=0.6).p_c == 0.6
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    assert again == problem
    assert not again.start_probabilities.flags.writeable


def test_start_probabilities_sum_to_one_after_rounding() -> None:
    q = Problem(4, 0.5, 0.3, {1: 0.1, 2: 0.2, 3: 0.7000000003}).start_probabilities
    assert math.isclose(math.fsum(q), 1.0, rel_tol=1e-15)


@pytest.mark.parametrize(
    "bad", [-0.1, 1.1, math.nan, math.inf, "0.5", None, True, np.True_, [0.5], 1j]
)
def test_probabilities_are_refused(bad: object) -> None:
    for name in ("p_c", "p_f"):
        numbers: dict[str, object] = {"p_c": 0.5, "p_f": 0.5, name: bad}
        with pytest.raises(grbp.InvalidInput) as refusal:
            Problem(4, **numbers)  # type: ignore[arg-type]
        assert str(refusal.value) == f"{name} = {bad!r} was given; it must be a number from 0 to 1"


@pytest.mark.parametrize("bad", [1, 0, -3, 2.0, "4", None, True, 10**7 + 1, 10**30, np.ones(2)])
def test_goals_are_refused(bad: object) -> None:
    with pytest.raises(grbp.InvalidInput, match="it must be a whole number from 2 to 10,000,000"):
        Problem(bad, 0.5, 0.3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (0, "the start state = 0 was given; it must be a whole number from 1 to 3"),
        (4, "the start state = 4 was given; it must be a whole number from 1 to 3"),
        ({5: 1.0}, "the start state = 5 was given; it must be a whole number from 1 to 3"),
        ({1: 0.5, 2: 0.6}, "the start probabilities sum to 1.1; they must sum to 1"),
        ({}, "the start probabilities sum to 0; they must sum to 1"),
        ({1: -1, 2: 2}, "the start probability of state 1 = -1 was given; " + NUMBER),
        ([0.5, 0.5], "2 start probabilities were given; a goal of 4 needs 3, " + EACH),
        (((1, 0.5), (1, 0.5)), "the start distribution names a state twice; name each state once"),
        ([math.nan, 0.5, 0.5], "the start probability of state 1 = nan was given; " + NUMBER),
        ("middle", "start = 'middle' was given; it must be 'uniform', one state, or probabilities"),
        (None, "start = None was given; it must be 'uniform', one state, or probabilities"),
    ],
)  # fmt: skip
def test_starts_are_refused(start: object, sentence: str) -> None:
    with pytest.raises(grbp.InvalidInput) as refusal:
        Problem(4, 0.5, 0.3, start)  # type: ignore[arg-type]
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("policy", [-1, 4, 1.5, "0", None, [0, 1], [0, 1, 2], [[0], 1, 1]])
def test_policies_are_refused(policy: object) -> None:
    with pytest.raises(grbp.InvalidInput, match=r"must be|needs 3|must hold"):
        grbp.value(Problem(4, 0.5, 0.3), policy)  # type: ignore[arg-type]


def test_other_refusals_of_the_exact_answers() -> None:
    for bad in ([0.5, 1.5], ["x"], [math.nan]):
        with pytest.raises(grbp.InvalidInput, match="must be numbers from 0 to 1"):
            grbp.boundary(4, bad)  # type: ignore[arg-type]
    with pytest.raises(grbp.InvalidInput, match="p_c = 'x' was given; it must be a number"):
        grbp.boundary(4, "x")  # type: ignore[arg-type]
    with pytest.raises(grbp.InvalidInput, match="slots = -1 was given"):
        grbp.round_length(Problem(4, 0.5, 0.3), 0, -1)
    with pytest.raises(grbp.TooLarge):
        grbp.policy_gaps(Problem(24, 0.5, 0.3))


def test_a_name_that_a_problem_does_not_have_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"argument 'pc'; did you mean 'p_c'\?$"):
        grbp.Problem(goal=4, pc=0.4, p_f=0.3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"argument 'horizon'$"):
        grbp.Problem(4, 0.4, 0.3, horizon=9)  # type: ignore[call-arg]
