"""What the tests of the environments share: problems, comparisons, refusals."""

import re
from typing import Any

import numpy as np
import pytest

from grbp import Chain, Drift, Groups, Move, Problem
from grbp.errors import InvalidInput

ID = "grbp.env:grbp/GamblersRuin-v0"

PROBLEMS: list[dict[str, Any]] = [
    {},
    {"goal": 2, "p_c": 0.5, "p_f": 0.5},
    {"goal": 4, "p_c": 0.65, "p_f": 0.3, "start": 2},
    {"goal": 7, "p_c": 0.55, "p_f": 0.1, "start": {1: 0.25, 5: 0.75}},
    {"goal": 9, "p_c": 1.0, "p_f": 0.0},
    {"goal": 60, "p_c": 0.5, "p_f": 0.02, "start": 59},
]

_LOW, _HIGH = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3, start=2)
_LAZY = Chain(4, Move(0.3, 0.2, stay=0.2, windfall=0.3), [0.1, 0.3, 0.7])
_RISING = Drift([(1, _LOW), (30, Problem(4, 0.75, 0.1))])

WORLDS: list[dict[str, Any]] = [
    {"problem": _LOW},
    {"problem": Chain(6, Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])},
    {"problem": _LAZY},
    {"problem": _RISING},
    {"problem": Drift([(1, _LOW), (9, _LAZY)], "sine")},
    {"problem": Groups({"north": _LOW, "south": _HIGH}, {"north": 0.25, "south": 0.75})},
    {"problem": Groups({"still": _LAZY, "rising": _RISING})},
]
"""Truths of every kind, as the argument of an environment."""


def same(one: object, two: object) -> bool:
    """Whether two answers of an environment agree in values, types, shapes and dtypes."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.dtype == two.dtype and one.shape == two.shape and bool((one == two).all())
    return type(one) is type(two) and one == two


def refuses(sentence: str) -> Any:
    return pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$")
