"""Check what public functions are given, by their signatures: kinds of things, choices, yes or no.

What a number or a text may be is checked where it is used. Whether a thing is what a signature says
at all (a problem, one of three words, a function) is checked here, once for all of them.
"""

import inspect
import os
import reprlib
import typing
from collections.abc import Callable
from functools import wraps
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import numpy as np

from grbp.errors import InvalidInput

P = ParamSpec("P")
T = TypeVar("T")

_WORDS: Final[dict[type, str]] = {str: "a text", os.PathLike: "a path"}
"""What kinds are called that are not called by their names."""


class Check(NamedTuple):
    """What an argument may be.

    Attributes
    ----------
    place, name : int, str
        Where it stands in the signature, and what it is called.
    kinds : tuple of type
        What it may be a thing of.
    choices : tuple
        What it may be itself.
    calls : bool
        Whether it may be a function.
    """

    place: int
    name: str
    kinds: tuple[type, ...]
    choices: tuple[object, ...]
    calls: bool

    def allows(self, value: object) -> bool:
        """Return whether a value is what it must be."""
        if isinstance(value, self.kinds) or (self.calls and callable(value)):
            return True
        # An array equals nothing and everything, and 1 equals True.
        return any(type(value) is type(one) and value == one for one in self.choices)

    def refuse(self, value: object) -> InvalidInput:
        """Say what was given, and what is allowed."""
        yes_or_no = ["True or False"] if bool in self.kinds else []
        kinds = [_WORDS.get(one) or name_kind(one) for one in self.kinds if one not in _SILENT]
        words = [*map(repr, self.choices), *kinds, *(["a function"] * self.calls), *yes_or_no]
        allowed = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
        return InvalidInput(f"{self.name} = {show(value)} was given; it must be {allowed}")


_SILENT: Final = (bool, np.bool_, NoneType)


def show(value: object) -> str:
    """Write what was given in one line, and not all of what is long."""
    return " ".join(reprlib.repr(value).split())


def name_kind(kind: type) -> str:
    """Name a kind of thing with its article; several have none, and a family names its members."""
    if kind.__name__.endswith("s"):
        return kind.__name__
    if "_CALLED" in vars(kind):
        return str(vars(kind)["_CALLED"])
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse arguments that are not what the signature of a function says."""
    parameters = enumerate(inspect.signature(function).parameters.values())
    read = (_read_annotation(place, p.name, p.annotation) for place, p in parameters)
    checks = [check for check in read if check is not None]
    if not checks:
        return function

    @wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> T:
        for check in checks:
            if check.place < len(args):
                value = args[check.place]
            elif check.name in given:
                value = given[check.name]
            else:
                continue
            if not check.allows(value):
                raise check.refuse(value)
        return function(*args, **given)

    return call


def check_choice(name: str, given: object, allowed: Any) -> None:
    """Refuse a value that a Literal does not allow."""
    check = Check(0, name, (), typing.get_args(allowed), calls=False)
    if not check.allows(given):
        raise check.refuse(given)


def _read_annotation(place: int, name: str, annotation: Any) -> Check | None:
    """Read what an argument may be; None where more than its kind decides."""
    union = typing.get_origin(annotation) in (typing.Union, UnionType)
    kinds: list[type] = []
    choices: list[object] = []
    calls = False
    for one in typing.get_args(annotation) if union else (annotation,):
        origin = typing.get_origin(one)
        if origin is typing.Literal:
            choices += typing.get_args(one)
        elif origin is Callable:
            calls = True
        elif one is None or one is NoneType:
            kinds.append(NoneType)
        elif one is bool:
            kinds += [bool, np.bool_]
        elif isinstance(one, type) and one.__module__.startswith("grbp."):
            kinds.append(one)
        elif isinstance(one, type) and (one is str or issubclass(one, os.PathLike)):
            kinds.append(str if one is str else os.PathLike)
        else:
            return None
    if {*kinds} <= {str, NoneType} and not (choices or calls):
        return None
    return Check(place, name, tuple(kinds), tuple(choices), calls)
