"""What the records support state by state, and the words for it."""

import math

import pytest
from fits import counted

from grbp._format import join_words
from grbp.fitting.evidence import disagrees, support_of
from grbp.fitting.sentences import say_support, write_states


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([1, 2, 3, 4], "1 to 4"),
        ([1, 3, 5], "1, 3 and 5"),
        ([4, 5], "4 and 5"),
        ([7], "7"),
        ([1, 2, 3, 7, 9, 10], "1 to 3, 7, 9 and 10"),
        ([], ""),
    ],
)
def test_states_are_written_in_few_words(states: list[int], words: str) -> None:
    assert write_states(states) == words


def test_a_long_list_is_cut() -> None:
    names = [f"g{k}" for k in range(1200)]
    assert join_words(names, most=3) == "g0, g1 and 1,198 more"
    assert join_words(names[:3], most=3) == "g0, g1 and g2"


def test_each_state_is_in_one_list_at_the_level() -> None:
    shares = [0.02, 0.05, 0.5, 0.95, 0.949, None, math.nan]
    support = support_of(shares, 0.95)
    assert support == {
        "finish": (4,), "continue": (1, 2), "undecided": (3, 5), "unknown": (6, 7),
    }  # fmt: skip
    assert say_support(support) == (
        "finish in 4, continue in 1 and 2; undecided in 3 and 5;"
        " in 6 and 7 one of the two was never tried"
    )


@pytest.mark.parametrize(
    ("shares", "never", "first"),
    [
        ([0.01, 0.01], False, True),
        ([0.99, 0.01], True, False),
        ([0.5, 0.99], True, True),
        ([0.5, 0.5], False, False),
    ],
)
def test_a_state_may_disagree_with_a_threshold(
    shares: list[float], never: bool, first: bool
) -> None:
    support = support_of(shares, 0.95)
    assert disagrees(support, 0) is never
    assert disagrees(support, 1) is first


def test_records_of_a_game_name_the_states_near_the_goal() -> None:
    """FINISH wins hardly ever far from the goal and nearly always next to it."""
    shares = (0.01, 0.02, 0.1, 0.76, 0.93)
    fit = counted([(210, 500)] * 5, [(round(200 * p), 200) for p in shares])
    assert fit.decision == "by-state"
    assert fit.firm
    assert fit.support == {
        "finish": (4, 5), "continue": (1, 2, 3), "undecided": (), "unknown": (),
    }  # fmt: skip
    assert "finish in 4 and 5, continue in 1 to 3" in fit.sentence
    assert fit.support_sentence == (
        "State by state, the records support: finish in 4 and 5, continue in 1 to 3."
    )
    assert fit.to_dict()["support"]["finish"] == [4, 5]


def test_never_finish_is_not_sure_where_a_state_is_sure_of_finish() -> None:
    """The shares over all states say never: FINISH was mostly tried where it loses."""
    fit = counted([(300, 500)] * 5, [(20, 400), (20, 400), (4, 20), (4, 8), (200, 200)])
    assert fit.posterior.probability < 0.001
    assert fit.support["finish"] == (5,)
    assert fit.decision == "by-state"
    assert "finish in 5" in fit.sentence


def test_never_finish_is_not_said_of_a_state_in_which_that_is_open() -> None:
    """In states 1 and 2 FINISH hardly ever wins; in 3 it wins as often as continuing does."""
    moves = [(700, 1000), (700, 1000), (700, 1000)]
    open_in_3 = counted(moves, [(5, 200), (10, 200), (181, 190)])
    assert open_in_3.support == {
        "finish": (), "continue": (1, 2), "undecided": (3,), "unknown": ()
    }  # fmt: skip
    assert (open_in_3.decision, open_in_3.firm) == ("by-state", False)
    assert open_in_3.sentence.startswith(
        "Decide state by state: continue in 1 and 2; undecided in 3. p_F differs between states"
    )
    assert open_in_3.doubts[0] == (
        "p_F differs between states; the model assumes the same in all states."
    )
    # Where all states agree, the threshold is the answer.
    never = counted(moves, [(5, 200), (10, 200), (60, 200)])
    assert (never.decision, never.firm) == ("threshold-0", True)
