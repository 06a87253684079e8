"""Find the words that a table has for its states and actions."""

from collections.abc import Collection, Mapping

from grbp.records.columns import shorten


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
