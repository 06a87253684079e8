"""The words that a table has for its states and actions, beside their numbers."""

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
