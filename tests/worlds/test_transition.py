"""One transition at the edges of its draw: a draw is below 1 and may be 0, so 0 never succeeds."""

import numpy as np
import pytest

from grbp import Action, next_state
from grbp.worlds.transition import first_state

JUST_BELOW_1 = 1.0 - 2.0**-53


@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
def test_an_action_succeeds_where_the_draw_is_below_its_probability(p: float) -> None:
    for draw in (0.0, 0.25 - 2.0**-53, 0.25, JUST_BELOW_1):
        assert next_state(2, Action.CONTINUE, 4, p, 0.5, draw) == (3 if draw < p else 1)
        assert next_state(2, Action.FINISH, 4, 0.5, p, draw) == (4 if draw < p else 0)


def test_a_round_starts_in_the_first_state_whose_cumulative_probability_is_above_the_draw() -> None:
    states, cumulative = np.array([1, 3, 6]), np.array([0.25, 0.5, JUST_BELOW_1])
    draws = {0.0: 1, 0.25 - 2.0**-53: 1, 0.25: 3, 0.5: 6, JUST_BELOW_1: 6}
    assert {draw: first_state(states, cumulative, draw) for draw in draws} == draws
