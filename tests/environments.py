"""What the tests of the environments share: problems, comparisons, refusals."""

import re
from typing import Any

import numpy as np
import pytest

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
