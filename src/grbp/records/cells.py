"""Understand the cells of a table: numbers, states, actions and the order of cases.

Each function looks at the different texts of a column once, and returns a value for each of them
and whether it breaks the rule. Blanks around a number or an action do not count; cases and groups
are exact text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Ints
from grbp.records.clean import OPEN
from grbp.worlds.transition import Action
from grbp.worlds.validation import check_whole

MOST_STEPS: Final = 10**12
"""The largest step or count that is understood."""

NO_STEP: Final = -1
"""The step of a row whose step is not understood."""

_WHOLE: Final = re.compile(r"([0-9]{1,18})(\.0*)?", re.ASCII)
"""A whole number; a frame writes 3.0 where a column has missing values, and 03 is 3."""

_ACTIONS: Final = {
    **dict.fromkeys(("continue", "c", "0", "0.0"), int(Action.CONTINUE)),
    **dict.fromkeys(("finish", "f", "1", "1.0"), int(Action.FINISH)),
}


class Cells(NamedTuple):
    """A value for each text, and which texts break the rule."""

    values: Ints
    bad: Bools


def parse_whole_numbers(texts: Sequence[str], least: int, most: int) -> Cells:
    """Read whole numbers between two limits."""
    return _parse_each(texts, lambda text: _parse_whole(text, least, most))


def parse_states(texts: Sequence[str], goal: int, mapped: Mapping[str, int], empty: bool) -> Cells:
    """Read states, some of which have names; the next state may be empty."""
    named = {"": OPEN, **mapped} if empty else mapped
    return _parse_each(
        texts, lambda text: named[text] if text in named else _parse_whole(text, 0, goal)
    )


def parse_actions(texts: Sequence[str], mapped: Mapping[str, int]) -> Cells:
    """Read actions: continue, c or 0; finish, f or 1; in any case of letters."""
    return _parse_each(texts, lambda text: mapped.get(text, _ACTIONS.get(text.lower())))


def rank_orders(texts: Sequence[str]) -> Cells:
    """Rank numbers, or dates in ISO form; whichever the first text is, all must be."""
    found = [_order_key(text) for text in texts]
    kind = next((key[0] for key in found if key is not None), None)
    keys = [key if key is not None and key[0] == kind else None for key in found]
    rank = {key: k for k, key in enumerate(sorted({key for key in keys if key is not None}))}
    return Cells(
        np.array([len(rank) if key is None else rank[key] for key in keys], dtype=np.int64),
        np.array([key is None for key in keys], dtype=np.bool_),
    )


def number_texts(texts: Sequence[str]) -> Cells:
    """Give every text its number; none may be empty."""
    return Cells(np.arange(len(texts)), np.array([not text for text in texts], dtype=np.bool_))


def check_state_map(given: Mapping[Any, Any] | None, goal: int) -> dict[str, int]:
    """Check a mapping from names to states."""
    return {
        str(name).strip(): check_whole(f"map_state[{name!r}]", state, 0, goal)
        for name, state in _check_mapping("map_state", given).items()
    }


def check_action_map(given: Mapping[Any, Any] | None) -> dict[str, int]:
    """Check a mapping from names to actions."""
    mapped = {}
    for name, action in _check_mapping("map_action", given).items():
        text = str(int(action)) if isinstance(action, Action) else str(action)
        if text.lower() not in _ACTIONS:
            raise InvalidInput(
                f"map_action[{name!r}] = {action!r} was given; it must be continue or finish"
            )
        mapped[str(name).strip()] = _ACTIONS[text.lower()]
    return mapped


def _check_mapping(name: str, given: object) -> Mapping[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"{name} = {given!r} was given; it must be a mapping from the texts of the table"
        )
    return given or {}


def _parse_each(texts: Sequence[str], read: Callable[[str], int | None]) -> Cells:
    found = [read(text.strip()) for text in texts]
    return Cells(
        np.array([OPEN if one is None else one for one in found], dtype=np.int64),
        np.array([one is None for one in found], dtype=np.bool_),
    )


def _parse_whole(text: str, least: int, most: int) -> int | None:
    matched = _WHOLE.fullmatch(text)
    if matched and least <= int(matched[1]) <= most:
        return int(matched[1])
    return None


def _order_key(text: str) -> tuple[str, Any] | None:
    """Return what a text is compared by: its kind, then its value."""
    text = text.strip()
    if not text.isascii() or "_" in text:
        return None
    with suppress(ValueError):
        return "number", int(text)
    with suppress(ValueError):
        number = float(text)
        return ("number", number) if abs(number) < np.inf else None
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        return ("moment", moment) if moment.tzinfo is None else ("moment with zone", moment)
    return None
