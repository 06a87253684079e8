"""How long a round takes: the law slot by slot against the closed forms."""

import math

import numpy as np
from draws import problems
from hypothesis import given

import grbp
from grbp import Problem


@given(problems())
def test_round_length_law_agrees_with_its_closed_forms(problem: Problem) -> None:
    for tau in (0, 1, problem.goal - 1):
        law = grbp.round_length(problem, tau, 60)
        total = law.goal.sum() + law.dead_end.sum() + law.beyond
        assert math.isclose(total, 1.0, rel_tol=1e-12)
        shown = np.arange(61) @ (law.goal + law.dead_end)
        # The mean lies between what is seen and that plus what is beyond, at 61 slots or more.
        slots = grbp.expected_slots(problem, tau)
        assert shown + 61 * law.beyond <= slots * (1 + 1e-12)
        won = grbp.value(problem, tau)
        assert law.goal.sum() * (1 - 1e-12) <= won <= (law.goal.sum() + law.beyond) * (1 + 1e-12)
        if law.beyond < 1e-18:
            assert math.isclose(shown, slots, rel_tol=1e-12)


def test_round_length_by_hand() -> None:
    # G = 3, from state 1, fair: dead at slot 1 w.p. 1/2; goal at slot 2 w.p. 1/4; back to 1.
    law = grbp.round_length(Problem(3, 0.5, 0.3, start=1), 0, 4)
    assert law.dead_end.tolist() == [0, 0.5, 0, 0.125, 0]
    assert law.goal.tolist() == [0, 0, 0.25, 0, 0.0625]
    assert law.beyond == 0.0625


@given(problems())
def test_slots_are_continues_plus_the_finish(problem: Problem) -> None:
    for tau in (0, 1, problem.goal - 1):
        continues = grbp.expected_continues(problem, tau)
        finish = grbp.finish_probability(problem, tau)
        slots = grbp.expected_slots(problem, tau)
        assert math.isclose(slots, continues + finish, rel_tol=1e-13)
    assert grbp.expected_continues(problem, problem.goal - 1) == 0
