"""The words that a table has for its states and actions, beside their numbers."""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from grbp.records.columns import shorten

ACTIONS: Final = ("CONTINUE", "FINISH")
"""What the actions are called where a table has no words of its own."""


class Labels(NamedTuple):
    """What states and actions are called.

    Attributes
    ----------
    states : tuple of str
        The word for each state from 0 to the goal, or none at all; empty where a state has no word.
    actions : tuple of str
        The words for CONTINUE and FINISH.

    Examples
    --------
    >>> from grbp.records.labels import Labels
    >>> Labels(("dead", "severe", "home"), ("medication", "surgery")).state(1)
    'severe (1)'
    >>> Labels().state(1)
    'state 1'
    """

    states: tuple[str, ...] = ()
    actions: tuple[str, str] = ACTIONS

    def state(self, state: int) -> str:
        """Name a state, with its number."""
        word = self.states[state] if self.states else ""
        return f"{word} ({state})" if word else f"state {state}"

    @property
    def own(self) -> bool:
        """Whether the table has words of its own for anything."""
        return any(self.states) or self.actions != ACTIONS

    def tell(self, text: str) -> str:
        """Tell a sentence to people: in the words of the table, and without symbols.

        Examples
        --------
        >>> from grbp.records.labels import Labels
        >>> words = Labels(("dead", "severe", "home"), ("medication", "surgery"))
        >>> words.tell("Finish in state 1: p_F is large.")
        'Choose surgery in severe (1): the chance that surgery wins is large.'
        """
        go, end = self.actions
        meant = {
            "B(p_C)": "the break-even",
            "a p_F": f"a chance to win by {end}",
            "p_C": f"the chance that {go} moves up",
            "p_F": f"the chance that {end} wins",
            "threshold 0": f"never {end}",
            "threshold 1": f"{end} in {self.state(1)} alone",
            "neither threshold": "neither of these two policies",
            "CONTINUE": go,
            "FINISH": end,
        }
        for verb, (usual, word) in zip(
            _VERBS, zip(ACTIONS, self.actions, strict=True), strict=True
        ):
            if word != usual:
                meant |= {form: f"{choose} {word}" for form, choose in verb.items()}

        def say(found: re.Match[str]) -> str:
            word = found[0]
            if found["state"]:
                state = int(found["state"])
                said = self.state(state) if state < len(self.states) else word
            else:
                said = meant.get(word) or meant.get(word.lower()) or word
            starts = found.start() == 0 or text[: found.start()].endswith((". ", "? "))
            return said[0].upper() + said[1:] if starts or word.istitle() else said

        verbs = "|".join(form for verb in _VERBS for form in verb)
        pattern = (
            r"\bB\(p_C\)|\b(?:a p_F|p_[CF])\b|\bneither threshold\b|\bthreshold [01]\b"
            rf"|\bstate (?P<state>[0-9]+)\b|\b(?:CONTINUE|FINISH)\b|\b(?i:{verbs})\b"
        )
        return re.sub(pattern, say, text)


_VERBS: Final[tuple[Mapping[str, str], ...]] = (
    {"continue": "choose", "continues": "chooses", "continued": "chose", "continuing": "choosing"},
    {"finish": "choose", "finishes": "chooses", "finished": "chose", "finishing": "choosing"},
)
"""How to say of another action what is said of CONTINUE and FINISH."""


def find_words(mapped: Mapping[str, int], texts: Collection[str]) -> dict[int, str]:
    """Return for each number the first word of a mapping that is among the texts of a table."""
    words: dict[int, str] = {}
    for text, number in mapped.items():
        if text in texts and text != str(number):
            words.setdefault(number, _tidy(text))
    return {number: word for number, word in words.items() if word}


def _tidy(text: str) -> str:
    """Return a text as a short word on one line."""
    return shorten(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
