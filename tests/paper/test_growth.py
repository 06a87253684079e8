"""Where growth is cut in two: gains of half the one before are finite, of half to twice steady."""

import numpy as np
import pytest

from grbp.paper.growth import DID_NOT_HOLD, HELD, Growth
from grbp.paper.map_claims import _difference

ENDS = np.array([1e1, 1e2, 1e3, 1e4])


def grown(ratio: float) -> Growth:
    """A curve, known exactly, whose gain in each tenfold span is so many times the one before."""
    gains = 4.0 * ratio ** np.arange(4)
    return Growth(ENDS, np.cumsum(gains), np.zeros((4, 4)), 10)


@pytest.mark.parametrize(("ratio", "finite"), [(0.4, HELD), (0.49, HELD), (0.51, DID_NOT_HOLD)])
def test_finite_is_what_gains_less_than_half_each_time(ratio: float, finite: str) -> None:
    assert grown(ratio).finite() == finite


@pytest.mark.parametrize(
    ("ratio", "steady"),
    [(0.49, DID_NOT_HOLD), (0.51, HELD), (1.0, HELD), (1.95, HELD), (2.05, DID_NOT_HOLD)],
)
def test_steady_is_what_gains_between_half_and_twice(ratio: float, steady: str) -> None:
    assert grown(ratio).steady(np.log(ENDS)) == steady


@pytest.mark.parametrize(
    ("ratio", "drifts"), [(0.79, True), (0.81, False), (1.19, False), (1.21, True)]
)
def test_a_slope_drifts_that_changes_by_more_than_a_fifth(ratio: float, drifts: bool) -> None:
    assert grown(ratio).drifting == drifts


@pytest.mark.parametrize(("last", "is_flat"), [(0.009, True), (0.011, False)])
def test_flat_is_what_adds_less_than_a_hundredth(last: float, is_flat: bool) -> None:
    mean = np.array([1.0, 50.0, 100.0 * (1.0 - last), 100.0])
    assert Growth(ENDS, mean, np.zeros((4, 4)), 10).flat == is_flat


def test_the_two_sides_of_a_map_differ_with_the_error_of_independent_cells() -> None:
    mean, se = np.array([1.0, 2.0, 7.0]), np.array([0.3, 0.4, 0.1])
    found = _difference(mean, se, np.array([False, False, True]))
    assert found.value == pytest.approx(5.5)
    error = np.sqrt(0.1**2 + (0.3**2 + 0.4**2) / 4)
    assert found.high - found.value == pytest.approx(1.959964 * error, rel=1e-6)
