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


def test_there_is_none_where_a_path_led_to_a_state_that_nobody_continued() -> None:
    """Those who went up all finished in state 2, so only those who went down are left."""
    assert direct("1c2f3", "1c0", "1c2f0") is None
    # One who continues there stands for all three, and without a path to it all is as before.
    assert direct("1c2f3", "1c0", "1c2f0", "1c2c3").estimate == pytest.approx(3 / 4)
    assert direct("1c2c4", "1c0", "3f0", goal=4).estimate == pytest.approx(1 / 2)


def test_a_finish_that_is_pending_is_a_finish() -> None:
    """Nobody knows what came of it, but the case did not continue, and is not an open path."""
    assert direct("1c2c3", "1f", "1c0", "1c2c1c0") == direct("1c2c3", "1f3", "1c0", "1c2c1c0")


def test_who_continued_stands_for_who_finished_among_open_cases_too() -> None:
    seen = direct("1c2c3", "1c1c0", "1f0", "1f3", "1c")
    # State 1 was stood in six times, and twice left by FINISH: a visit weighs 3/2.
    won, lost = 1.5, 1.5**2
    assert seen.estimate == pytest.approx(won / (won + lost))
