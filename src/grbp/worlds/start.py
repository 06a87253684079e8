"""Say where a round starts: one distribution over the states, in its many forms."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats
from grbp.worlds.validation import SUM_TOLERANCE, check_probability, check_whole

Start: TypeAlias = Literal["uniform"] | tuple[tuple[int, float], ...]
"""A start distribution as a problem keeps it: the word, or (state, probability) pairs."""

StartLike: TypeAlias = str | SupportsIndex | Mapping[int, float] | Sequence[float] | Floats | Start
"""Any form in which `Problem` accepts a start distribution."""


def read_start(start: Any) -> Any:
    """Return a start as `Problem` takes it; in a file, states are texts and pairs are lists."""
    if isinstance(start, str) and "=" in start:
        start = dict(part.split("=", 1) for part in start.split(",") if "=" in part)
    if isinstance(start, Mapping):
        return {_read_number(state, int): _read_number(q, float) for state, q in start.items()}
    if isinstance(start, list | tuple):
        return [tuple(q) if isinstance(q, list) else q for q in start]
    return _read_number(start, int)


def _read_number(value: object, kind: type) -> object:
    """Return the number that a text stands for; else the value as it is."""
    if isinstance(value, str):
        with suppress(ValueError):
            return kind(value)
    return value


def check_start(start: object, goal: int) -> Start:
    """Return the start distribution in the one form in which equal ones compare equal."""
    if isinstance(start, str) and start == "uniform":
        return "uniform"
    pairs = [
        (
            check_whole("the start state", state, 1, goal - 1),
            check_probability(f"the start probability of state {state}", q),
        )
        for state, q in _start_pairs(start, goal)
    ]
    if len({state for state, _ in pairs}) < len(pairs):
        raise InvalidInput("the start distribution names a state twice; name each state once")
    total = math.fsum(q for _, q in pairs)
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InvalidInput(f"the start probabilities sum to {total:.12g}; they must sum to 1")
    kept = tuple(sorted((state, q / total) for state, q in pairs if q > 0.0))
    if len(kept) == goal - 1 and len({q for _, q in kept}) == 1:
        return "uniform"
    return kept


def _start_pairs(start: object, goal: int) -> list[tuple[object, object]]:
    """Return the (state, probability) pairs that the caller meant, not yet checked."""
    if isinstance(start, np.ndarray) and start.ndim == 0:
        start = start.item()
    if isinstance(start, SupportsIndex) and not isinstance(start, np.ndarray):
        return [(start, 1.0)]
    if isinstance(start, Mapping):
        return list(start.items())
    if isinstance(start, str) or not isinstance(start, Sequence | np.ndarray):
        raise InvalidInput(
            f"start = {start!r} was given; it must be 'uniform', one state, or probabilities"
        )
    items: list[object] = list(start)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return items  # type: ignore[return-value]
    if len(items) == goal - 1:
        return list(zip(range(1, goal), items, strict=True))
    raise InvalidInput(
        f"{len(items)} start probabilities were given; a goal of {goal} needs {goal - 1},"
        f" one for every state from 1 to {goal - 1}"
    )
