"""A table's own words for states and actions, and sentences that are told in them."""

import pytest

from grbp.worlds.labels import Labels

OWN = Labels(("dead", "severe", "", "home"), ("medication", "surgery"))


def test_a_state_has_its_word_and_its_number() -> None:
    assert [OWN.state(k) for k in range(4)] == ["dead (0)", "severe (1)", "state 2", "home (3)"]
    assert OWN.own
    assert not Labels().own
    assert Labels(("", "", "")).own is False


@pytest.mark.parametrize(
    ("said", "plain", "own"),
    [
        ("FINISH was tried.", "FINISH was tried.", "Surgery was tried."),
        ("Never finish.", "Never finish.", "Never choose surgery."),
        ("So: Finish there.", "So: Finish there.", "So: Choose surgery there."),
        ("Finishing or continuing?", "Finishing or continuing?",
         "Choosing surgery or choosing medication?"),
        ("In state 1, p_C is low. p_F too.",
         "In state 1, the chance that CONTINUE moves up is low. The chance that FINISH wins too.",
         "In severe (1), the chance that medication moves up is low. The chance that surgery wins"
         " too."),
        ("from a p_F of .3 on", "from a chance to win by FINISH of .3 on",
         "from a chance to win by surgery of .3 on"),
        ("B(p_C) in state 2, and state 9", "The break-even in state 2, and state 9",
         "The break-even in state 2, and state 9"),
        ("threshold 1, not threshold 0", "FINISH in state 1 alone, not never FINISH",
         "Surgery in severe (1) alone, not never surgery"),
        ("unfinished, REFINISH and up_F", "unfinished, REFINISH and up_F",
         "unfinished, REFINISH and up_F"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_a_sentence_is_told_in_the_words_of_the_table(said: str, plain: str, own: str) -> None:
    assert Labels().tell(said) == plain
    assert OWN.tell(said) == own
