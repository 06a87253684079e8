"""A truth round by round: what the engine is given is what was meant, and so is the environment."""

import numpy as np
import pytest

from grbp import Action, Chain, Drift, Groups, Move, Problem
from grbp.worlds.course import as_course

LOW, HIGH = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.5)


def test_every_group_has_its_own_share_in_whatever_order_they_are_given() -> None:
    shares = {"b": 0.1, "c": 0.2, "a": 0.7}
    groups = Groups({"c": HIGH, "a": LOW, "b": LOW}, shares)
    course = as_course(groups, 1)
    np.testing.assert_allclose(np.diff(course.shares, prepend=0.0), [0.2, 0.7, 0.1])
    assert course.up[:, 0, 0].tolist() == [0.65, 0.45, 0.45]


@pytest.mark.parametrize("chain", [False, True], ids=["problems", "chains"])
def test_on_a_straight_line_every_round_has_chances_of_its_own(chain: bool) -> None:
    ends = [Chain.of(one) for one in (LOW, HIGH)] if chain else [LOW, HIGH]
    drift = Drift([(1, ends[0]), (11, ends[1])])
    for rho in range(1, 15):
        part = min(1.0, (rho - 1) / 10)
        chances = drift.chances(rho)
        np.testing.assert_allclose(chances.up, 0.45 + 0.2 * part)
        np.testing.assert_allclose(chances.p_f, 0.3 + 0.2 * part)


def test_where_one_stage_has_jumps_the_law_of_every_round_is_between() -> None:
    still, jumping = Chain(3, Move(0.5, 0.5), 0.3), Chain(3, Move(0.4, 0.4, windfall=0.2), 0.3)
    drift = Drift([(1, still), (5, jumping)])
    for rho, part in ((1, 0.0), (2, 0.25), (9, 1.0)):
        law = drift.chances(rho).law
        assert law is not None
        np.testing.assert_allclose(law, (1.0 - part) * still.law + part * jumping.law)


def test_a_step_is_taken_with_the_chances_of_its_own_state() -> None:
    chances = Chain(4, Move(0.5, 0.5), [0.1, 0.5, 0.9]).chances(1)
    for state, p_f in ((1, 0.1), (2, 0.5), (3, 0.9)):
        assert chances.next_state(state, Action.FINISH, p_f - 0.01) == 4
        assert chances.next_state(state, Action.FINISH, p_f + 0.01) == 0
        assert chances.next_state(state, Action.CONTINUE, 0.49) == state + 1
        assert chances.next_state(state, Action.CONTINUE, 0.51) == state - 1


def test_a_chance_that_is_the_same_throughout_is_written_once() -> None:
    groups = Groups({"a": LOW, "b": Problem(4, 0.65, 0.3)})
    assert groups.columns == (4, "a: 0.45; b: 0.65", 0.3, "uniform")
    drift = Drift([(1, LOW), (11, HIGH)])
    assert drift.columns == (4, "1: 0.45; 11: 0.65", "1: 0.3; 11: 0.5", "uniform")
    assert Chain(3, Move(0.5, 0.5), [0.2, 0.4]).columns == (3, 0.5, "0.2 0.4", "uniform")
