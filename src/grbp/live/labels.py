"""Check and keep the words that a study has for its states, its actions and its cases."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from grbp.errors import InvalidInput
from grbp.live.arguments import check_label
from grbp.worlds.labels import ACTIONS, CASE, Labels, fold_word
from grbp.worlds.validation import check_goal

_MOST_LETTERS: Final = 40
_MOST_STATES: Final = 101


def check_labels(
    goal: int,
    states: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
    case_name: str | Sequence[str] | None = None,
) -> Labels:
    """Return the words of a study, or refuse what cannot be told apart.

    There is a word for every state from 0 to the goal, or for none; and one word for a case, or
    two: for one case and for several.
    """
    named = () if states is None else _check_words("states", states, goal + 1)
    for word in named:
        if _is_number(word):
            raise InvalidInput(f"the state {word!r} was given; a word must not be a number")
    pair = ACTIONS if actions is None else _check_words("actions", actions, 2)
    if pair != ACTIONS and any(
        fold_word(word) == fold_word(other)
        for word, other in zip(pair, reversed(ACTIONS), strict=True)
    ):
        raise InvalidInput(
            f"actions = {', '.join(pair)} was given; the first must be what continues, the second"
            " what finishes"
        )
    return Labels(named, (pair[0], pair[1]), _check_case_name(case_name))


def _is_number(word: str) -> bool:
    """Return whether somebody may take a word for a number."""
    folded = fold_word(word)
    try:
        return any(c.isdigit() for c in folded) and math.isfinite(float(folded))
    except ValueError:
        return False


def find_labels(
    start: object,
    goal: object,
    states: Sequence[str] | None,
    actions: Sequence[str] | None,
    case_name: str | Sequence[str] | None,
) -> Labels:
    """Return the words of a new study that begins with a fit, with another study or with nothing.

    What is given comes first. Of the words of a fit or of a study only what is complete is taken,
    and what a study can have.
    """
    number, old = check_goal(goal), getattr(start, "labels", Labels())
    given: dict[str, Any] = {"states": states, "actions": actions, "case_name": case_name}
    for name, words in zip(given, old, strict=True):
        if given[name] is None and words and all(words):
            with suppress(InvalidInput):
                check_labels(number, **{name: words})
                given[name] = words
    return check_labels(number, **given)


def _check_words(name: str, given: object, number: int) -> tuple[str, ...]:
    """Return so many different words."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(f"{name} = {given!r} was given; it must be a list of {number} words")
    words = tuple(check_label(f"a word of {name}", word, _MOST_LETTERS) for word in given)
    if len(words) != number or len({fold_word(word) for word in words}) < number:
        raise InvalidInput(
            f"{name} = {', '.join(words)} was given; it must be {number} different words"
        )
    if number > _MOST_STATES:
        raise InvalidInput(
            f"words for {number:,} states were given; there may be at most {_MOST_STATES}"
        )
    return words


def _check_case_name(given: object) -> tuple[str, str]:
    """Return the words for one case and for several."""
    if given is None:
        return CASE
    if isinstance(given, str):
        one = check_label("case_name", given, _MOST_LETTERS)
        return one, f"{one}s"
    one, many = _check_words("case_name", given, 2)
    return one, many


def dump_labels(words: Labels) -> dict[str, list[str]]:
    """Return words as a configuration keeps them: what is usual is left out."""
    kept = {name: list(getattr(words, name)) for name in Labels._fields}
    usual = Labels()
    return {name: part for name, part in kept.items() if tuple(part) != getattr(usual, name)}


def load_labels(kept: Any, goal: int) -> Labels:
    """Return the words that a configuration keeps, or refuse what it cannot keep."""
    if not isinstance(kept, Mapping) or not set(kept) <= set(Labels._fields):
        raise InvalidInput(f"labels = {kept!r} was given; it must have {', '.join(Labels._fields)}")
    words = check_labels(goal, kept.get("states"), kept.get("actions"), kept.get("case"))
    if dump_labels(words) != kept:
        raise InvalidInput(f"labels = {kept!r} was given; it must have own words only")
    return words
