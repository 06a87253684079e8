"""Errors over HTTP: problem+json of RFC 9457, with one plain sentence.

The client reads it back and raises the error that the server raised.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from grbp.errors import (
    CannotWrite,
    Conflict,
    Damaged,
    GrbpError,
    InvalidInput,
    NotFound,
    ReadOnly,
    TooLarge,
)
from grbp.live.schema import dumps

MEDIA_TYPE: Final = "application/problem+json"

SENT: Final = "the log that was sent"
"""What a server calls an imported file; its client puts the path there."""

_TYPE: Final = "urn:grbp:"

_ERRORS: Final[dict[str, tuple[type[GrbpError], int]]] = {
    "not-found": (NotFound, 404),
    "conflict": (Conflict, 409),
    "invalid-input": (InvalidInput, 422),
    "too-large": (TooLarge, 422),
    "read-only": (ReadOnly, 503),
    "damaged": (Damaged, 503),
    "cannot-write": (CannotWrite, 503),
    "refused": (GrbpError, 500),
}
"""The type and status of each error; the first class that fits counts."""


class Refusal(GrbpError):
    """What only a server refuses, such as a missing token or a body that is too long.

    With `retry`, it is worth asking again after so many seconds.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        kind: str = "",
        retry: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.headers = status, dict(headers or {})
        if retry is not None:
            self.headers["Retry-After"] = str(retry)
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")


class ProblemDetail(NamedTuple):
    """Why a request was refused, in the four members of problem+json."""

    type: str
    title: str
    status: int
    detail: str

    @property
    def body(self) -> bytes:
        """The problem as JSON."""
        return dumps(self._asdict()).encode()


def make_problem(status: int, kind: str, detail: str) -> ProblemDetail:
    """Make a problem."""
    return ProblemDetail(_TYPE + kind, HTTPStatus(status).phrase, status, " ".join(detail.split()))


def describe_error(error: Exception) -> ProblemDetail:
    """Return the problem for an error; nothing of a fault is told."""
    if not isinstance(error, GrbpError):
        return make_problem(500, "fault", "the server failed at this; its log says where")
    if isinstance(error, Refusal):
        return make_problem(error.status, error.kind, str(error))
    kind, status = next((k, s) for k, (e, s) in _ERRORS.items() if isinstance(error, e))
    return make_problem(status, kind, str(error))


def read_error(status: int, body: bytes) -> GrbpError:
    """Return the error in an answer; one that is not a problem of ours comes from a proxy."""
    problem: Any = {}
    with suppress(ValueError):
        problem = json.loads(body)
    problem = problem if isinstance(problem, dict) else {}
    kind = str(problem.get("type", "")).removeprefix(_TYPE)
    detail = str(problem.get("detail") or f"the server answered with the status {status}")
    if kind in _ERRORS:
        return _ERRORS[kind][0](detail)
    return (InvalidInput if status < 500 else CannotWrite)(detail)


def describe_mistake(errors: list[Any]) -> Refusal:
    """Return the refusal of a request whose form is wrong."""
    first = errors[0]
    where, *names = first["loc"]
    if first["type"] == "json_invalid":
        error, place = first["ctx"]["error"], names[0]
        return Refusal(
            400, f"the body is not valid JSON ({error} at character {place})", kind="malformed"
        )
    name = ".".join(map(str, names)) or f"the {where}"
    place = "" if where == "path" or not names else f" in the {where}"
    given = repr(first["input"])
    given = given if len(given) <= 200 else f"{given[:200]}..."
    if first["type"] == "missing":
        detail = f"{name} is missing{place}; it must be given"
    elif first["type"] == "extra_forbidden":
        detail = f"{name} = {given} was given{place}; there is no such field: leave it out"
    else:
        wanted = first["msg"]
        detail = f"{name} = {given} was given{place}; {wanted[:1].lower()}{wanted[1:]}"
    return Refusal(422, detail, kind="invalid-input")
