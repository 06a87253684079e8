"""The value of continuing in state 1 as it was seen."""

import pytest
from paths import records_of

from grbp import wilson
from grbp.fitting.moves import Moves
from grbp.fitting.ways import direct_value


def direct(*paths: str, goal: int = 3):  # type: ignore[no-untyped-def]
    return direct_value(Moves(records_of(paths, goal)), 0.95)


def test_without_finish_it_is_the_share_of_cases_that_stood_in_state_1() -> None:
    """A case that never stood there says nothing, and one that stood there twice counts once."""
    seen = direct("1c2c3", "1c2c1c0", "2c3", "2c1c2c3", "1c0")
    assert seen == (pytest.approx(2 / 4), *map(pytest.approx, wilson(2, 4)))


def test_who_continued_stands_for_who_finished() -> None:
    """Half of the visits to state 1 finished, so one more visit doubles a weight."""
    seen = direct("1c2c1c0", "1c2c3", "1f3", "1f0", "1c2c1f3", "2c1c0", "1f0", "1f3")
    # State 1 was stood in ten times, and five times left by FINISH: a visit weighs 2.
    lost, won, lost_once = 2.0 * 2.0, 2.0, 2.0
    assert seen.estimate == pytest.approx(won / (lost + won + lost_once))
    effective = (lost + won + lost_once) ** 2 / (lost**2 + won**2 + lost_once**2)
    assert seen[1:] == pytest.approx(wilson(seen.estimate * effective, effective))


def test_open_cases_count_as_long_as_they_were_seen() -> None:
    """Three are seen to take a first step, two of them up; of these, one is seen to go on."""
    seen = direct("1c2c3", "1c2c", "1c0")
    # After the first step 1/3 is lost and 2/3 go on; all of those seen to go on won.
    assert seen.estimate == pytest.approx(2 / 3)
    # Dropping the open case would say one half.
    assert direct("1c2c3", "1c0").estimate == pytest.approx(1 / 2)


def test_staying_and_jumping_are_part_of_a_path() -> None:
    assert direct("1c1c1c2c3c4", "1c3c4", "1c0", goal=4).estimate == pytest.approx(2 / 3)


def test_there_is_none_where_nobody_went_on() -> None:
    assert direct("1f3", "2c3") is None
    assert direct("2c3", "2c3") is None
    assert direct("1c2c") is None
