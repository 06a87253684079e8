"""Read back what a server answers, so that it is what a study would have returned here."""

import math
from functools import cache
from types import UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from grbp.worlds.transition import Action


@cache
def _fields(cls: type) -> dict[str, Any]:
    """Return the types of the fields of a class."""
    hints = get_type_hints(cls)
    return {name: kind for name, kind in hints.items() if get_origin(kind) is not ClassVar}


def read_as(kind: Any, said: Any) -> Any:
    """Read a value of some type from plain JSON, by the types of its fields.

    Shadow mode hides some parts, which are null; so is a number of an estimate that nobody knows.
    """
    if said is None:
        return math.nan if kind is float else None
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if _has_fields(one, said))
    if kind is Action:
        return Action[said.upper()]
    if isinstance(said, list):
        read = [read_as(get_args(kind)[0], one) for one in said]
        return read if get_origin(kind) is list else tuple(read)
    if get_origin(kind) is tuple:  # First estimates have names in JSON.
        return tuple(said.values())
    if isinstance(said, dict) and get_origin(kind) is dict:
        return {name: read_as(get_args(kind)[1], one) for name, one in said.items()}
    return kind(**read_fields(kind, said)) if isinstance(said, dict) else said


def read_fields(cls: type, said: dict[str, Any]) -> dict[str, Any]:
    """Read the fields of a class from a JSON object, which may say more than they do."""
    kinds = _fields(cls)
    return {name: read_as(kinds[name], one) for name, one in said.items() if name in kinds}


def _has_fields(kind: Any, said: Any) -> bool:
    """Return whether a JSON object has the fields of a class; anything else has them all."""
    return not (isinstance(said, dict) and isinstance(kind, type)) or (
        _fields(kind).keys() <= said.keys()
    )
