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


def read_cells(texts: Sequence[str], read: Callable[[str], int | None]) -> Cells:
    """Read each text, without the blanks around it; None breaks the rule."""
    values = [read(text.strip()) for text in texts]
    return Cells(
        np.array([OPEN if value is None else value for value in values], dtype=np.int64),
        np.array([value is None for value in values], dtype=np.bool_),
    )


def number_texts(texts: Sequence[str]) -> Cells:
    """Give every text its number; none may be empty."""
    return Cells(np.arange(len(texts)), np.array([not text for text in texts], dtype=np.bool_))


def read_whole(text: str, most: int) -> int | None:
    """Read a whole number up to a limit."""
    matched = _WHOLE.fullmatch(text)
    return int(matched[1]) if matched and int(matched[1]) <= most else None


def read_state(text: str, goal: int, named: Mapping[str, int]) -> int | None:
    """Read a state, some of which have names."""
    return named[text] if text in named else read_whole(text, goal)


def read_action(text: str, named: Mapping[str, int]) -> int | None:
    """Read an action: continue, c or 0; finish, f or 1; in any case of letters."""
    return named.get(text, _ACTIONS.get(text.lower()))


def rank_orders(texts: Sequence[str]) -> Cells:
    """Rank numbers, or dates in ISO form; whichever the first text is, all must be."""
    keys = [_order_key(text) for text in texts]
    kind = next((key[0] for key in keys if key is not None), None)
    keys = [key if key is not None and key[0] == kind else None for key in keys]
    rank = {key: k for k, key in enumerate(sorted({key for key in keys if key is not None}))}
    return Cells(
        np.array([len(rank) if key is None else rank[key] for key in keys], dtype=np.int64),
        np.array([key is None for key in keys], dtype=np.bool_),
    )


def check_map(name: str, given: object, check: Callable[[str, Any], int]) -> dict[str, int]:
    """Check a mapping from texts of the table, each of whose meanings has a check."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"{name} = {given!r} was given; it must be a mapping from the texts of the table"
        )
    return {
        str(text).strip(): check(f"{name}[{text!r}]", meaning) for text, meaning in given.items()
    }


def check_action(name: str, action: object) -> int:
    """Return what a text may mean as an action."""
    text = str(int(action)) if isinstance(action, Action) else str(action)
    if text.lower() not in _ACTIONS:
        raise InvalidInput(f"{name} = {action!r} was given; it must be continue or finish")
    return _ACTIONS[text.lower()]


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
