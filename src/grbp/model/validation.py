"""Checks of what a user gives: the value in its one type, or one clear sentence."""

import math
import operator
from contextlib import suppress
from typing import SupportsFloat, SupportsIndex

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats

LARGEST_GOAL = 10_000_000
"""The largest goal accepted: one vector over the states then takes 80 MB."""

SUM_TOLERANCE = 1e-9
"""How far probabilities may be from summing to one before they are refused."""


def check_goal(goal: object) -> int:
    """The goal as an int, or a refusal."""
    return check_whole("goal", goal, 2, LARGEST_GOAL)


def check_threshold(threshold: object, goal: int) -> int:
    """The threshold as an int, or a refusal."""
    return check_whole("threshold", threshold, 0, goal - 1)


def check_probability(name: str, value: object) -> float:
    """The value as a float in [0, 1], or a refusal that names it."""
    number = _as_float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a number from 0 to 1")
    return number


def check_probabilities(name: str, values: object) -> Floats:
    """The values as an array of floats in [0, 1], or a refusal that names them."""
    array = np.array(np.nan)
    with suppress(TypeError, ValueError):
        array = np.asarray(values, dtype=np.float64)
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise InvalidInput(f"{name} = {values!r} was given; it must be numbers from 0 to 1")
    return array


def check_positive(name: str, value: object) -> float:
    """The value as a positive, finite float, or a refusal that names it."""
    number = _as_float(value)
    if not 0.0 < number < math.inf:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a positive number")
    return number


_NO_NUMBERS = (str, bytes, bool, np.bool_, complex, np.complexfloating)


def _as_float(value: object) -> float:
    """The number that a value is; NaN, which every check refuses, if it is none."""
    if isinstance(value, SupportsFloat) and not isinstance(value, _NO_NUMBERS):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    return math.nan


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """The value as an int between two limits, or a refusal that names it."""
    # An int first: to ask whether something is an index takes long.
    if isinstance(value, int | SupportsIndex) and not isinstance(value, bool):
        # An array calls itself an index and then is none, unless it is a whole number.
        with suppress(TypeError):
            number = operator.index(value)
            if least <= number <= most:
                return number
    raise InvalidInput(
        f"{name} = {value!r} was given; it must be a whole number from {least:,} to {most:,}"
    )
