"""Check what a user gives, so that everything behind it may trust its numbers.

Each check returns the value in its one type, or refuses it in one clear sentence.
"""

import math
import operator
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from grbp.errors import InvalidInput, did_you_mean
from grbp.numerics.arrays import Floats

if TYPE_CHECKING:  # NumPy's generators take a while to load.
    SeedLike: TypeAlias = SupportsIndex | np.random.Generator | np.random.SeedSequence | None
    """Anything that `as_seed` turns into a whole number."""

LARGEST_GOAL = 10_000_000
"""The largest goal accepted: one vector over the states then takes 80 MB."""

SUM_TOLERANCE = 1e-9
"""The distance from one at which a sum of probabilities is refused."""

_NO_NUMBERS = (str, bytes, bool, np.bool_, complex, np.complexfloating)


def check_goal(goal: object) -> int:
    """Return the goal as an int, or refuse it."""
    return check_whole("goal", goal, 2, LARGEST_GOAL)


def check_threshold(threshold: object, goal: int) -> int:
    """Return the threshold as an int, or refuse it."""
    return check_whole("threshold", threshold, 0, goal - 1)


def check_probability(name: str, value: object) -> float:
    """Return the value as a float in [0, 1], or refuse it by its name."""
    number = _as_float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a number from 0 to 1")
    return number


def check_probabilities(name: str, values: object) -> Floats:
    """Return the values as an array of floats in [0, 1], or refuse them by their name."""
    array = np.array(np.nan)
    with suppress(TypeError, ValueError):
        array = np.asarray(values, dtype=np.float64)
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise InvalidInput(f"{name} = {values!r} was given; it must be numbers from 0 to 1")
    return array


def check_positive(name: str, value: object) -> float:
    """Return the value as a positive, finite float, or refuse it by its name."""
    number = _as_float(value)
    if not 0.0 < number < math.inf:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a positive number")
    return number


def check_number(name: str, value: object) -> float:
    """Return the value as a float of at least 0, or refuse it by its name."""
    number = _as_float(value)
    if not 0.0 <= number < math.inf:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a number of at least 0")
    return number


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """Return the value as an int between two limits, or refuse it by its name."""
    if type(value) is int and least <= value <= most:  # nearly always, and quick
        return value
    # `int` stands first because the test for an index takes long.
    if isinstance(value, int | SupportsIndex) and not isinstance(value, bool):
        # Every array claims to be an index, but only a single whole number is one.
        with suppress(TypeError):
            number = operator.index(value)
            if least <= number <= most:
                return number
    raise InvalidInput(
        f"{name} = {value!r} was given; it must be a whole number from {least:,} to {most:,}"
    )


def check_count(name: str, value: object, least: int, most: int) -> int:
    """Return a number of things as an int; a whole float such as 1e9 is one, too."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return check_whole(name, value, least, most)


def check_keys(
    what: str, data: Mapping[Any, object], needed: Sequence[str], others: Sequence[str] = ()
) -> None:
    """Refuse keys of plain data that mean nothing, and data that lack one they need."""
    known = (*needed, *others)
    for key in data:
        if key not in known:
            meant = did_you_mean(str(key), known) or f"there is {', '.join(known)}"
            raise InvalidInput(f"the key {key!r} was given for {what}; {meant}")
    for key in needed:
        if key not in data:
            raise InvalidInput(f"the key {key!r} is missing for {what}; write one")


def check_several(
    name: str, values: Any, check: Callable[[object], Any], least: int = 1
) -> tuple[Any, ...]:
    """Return the checked values as a tuple; refuse unless there are enough, each once."""
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    checked = tuple(check(value) for value in values) if listed else ()
    if len(checked) < least or len(set(checked)) < len(checked):
        enough = "one or more" if least == 1 else "two or more"
        raise InvalidInput(f"{name} = {values!r} was given; it must be {enough}, each once")
    return checked


def as_seed(seed: object) -> int:
    """Return the whole number that a seed stands for, from which everything can be made again.

    None is drawn by the operating system, a Generator draws the number and so moves on, and a
    SeedSequence makes the same one each time.
    """
    if seed is None:
        return secrets.randbits(64)
    if not isinstance(seed, int | SupportsIndex):
        if isinstance(seed, np.random.Generator):
            return int(seed.integers(2**64, dtype=np.uint64))
        if isinstance(seed, np.random.SeedSequence):
            return int(seed.generate_state(1, np.uint64)[0])
    return check_whole("seed", seed, 0, 2**128 - 1)


def _as_float(value: object) -> float:
    """Return the number that a value is, or NaN, which every check refuses."""
    if isinstance(value, SupportsFloat) and not isinstance(value, _NO_NUMBERS):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    return math.nan
