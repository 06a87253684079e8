"""Errors over HTTP: problem+json of RFC 9457, with one plain sentence."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from grbp.errors import GrbpError
from grbp.live.schema import dumps
from grbp.live.transport import ERRORS, TYPE

MEDIA_TYPE: Final = "application/problem+json"


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
    return ProblemDetail(TYPE + kind, HTTPStatus(status).phrase, status, " ".join(detail.split()))


def describe_error(error: Exception) -> ProblemDetail:
    """Return the problem for an error; nothing of a fault is told."""
    if not isinstance(error, GrbpError):
        return make_problem(500, "fault", "the server failed at this; its log says where")
    if isinstance(error, Refusal):
        return make_problem(error.status, error.kind, str(error))
    kind, status = next((k, s) for k, (e, s) in ERRORS.items() if isinstance(error, e))
    return make_problem(status, kind, str(error))


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
