"""How the client talks to a server: connections are kept, and what goes wrong is one sentence.

An error is sent as a problem of RFC 9457, and raised here as it was raised there. The standard
library is enough: httpx would save twenty lines, and brings six packages where this needs none.
"""

import http.client
import json
import os
import select
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, Final
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

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

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""The names of this machine, to which a token may be sent without TLS."""

NDJSON: Final = "application/x-ndjson"
"""The type of a log: a line of JSON for each event."""

SENT: Final = "the log that was sent"
"""What a server calls an imported file; its client puts the path there."""

TYPE: Final = "urn:grbp:"
"""How the type of a problem begins."""

ERRORS: Final[dict[str, tuple[type[GrbpError], int]]] = {
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

_LONGEST: Final = 60.0
"""How many seconds to wait in all when a server says that there were too many requests."""

_PLAIN: Final = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
"""The characters of an idempotency key that a header can carry as they are."""


class Transport:
    """Requests to one server, with one token. Threads may share it."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        url, carried = _split_token(url)
        self.url, self._timeout, token = url, timeout, carried if token is None else token
        parts, port = urlsplit(url if isinstance(url, str) else ""), None
        with suppress(ValueError):
            port = parts.port or (443 if parts.scheme == "https" else 80)
        if (
            parts.scheme not in ("http", "https") or not parts.hostname or port is None
            or parts.path not in ("", "/") or parts.query or parts.username
        ):  # fmt: skip
            raise InvalidInput(
                f"the address {url!r} was given; it must be one such as https://ward.example.org or"
                " http://127.0.0.1:8000"
            )
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, port
        self._kind: Any = http.client.HTTPConnection
        if self._secure:
            context = ssl.create_default_context()
            self._kind = partial(http.client.HTTPSConnection, context=context)
        self._headers = {"Accept": "application/json"}
        if token is not None:
            if not token.isascii() or not token.isprintable():
                raise InvalidInput("the token is malformed; give it exactly as it was shown")
            if not self._secure and self._host not in LOOPBACK:
                raise InvalidInput(
                    f"a token was given for {url}; anybody on the way could read it: the address"
                    " must begin with https"
                )
            self._headers["Authorization"] = f"Bearer {token}"
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def close(self) -> None:
        """Close all idle connections."""
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def actor(self) -> str:
        """Return who records, as the server says."""
        said = self.get("/api/session")
        if not isinstance(said, dict) or "actor" not in said:
            raise self._not_a_server()
        return str(said["actor"])

    def get(self, path: str, **query: Any) -> Any:
        """Make a GET request; return the answer."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._request("GET", f"{path}?{urlencode(given)}" if given else path)

    def post(self, path: str, body: Any = None, key: str | None = None) -> Any:
        """Make a POST request, with an idempotency key if there is one; return the answer."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = quote(key, safe=_PLAIN)
        data = b"" if body is None else json.dumps(body, default=_to_plain).encode()
        return self._request("POST", path, data, headers, again=key is not None)

    def send(self, path: str, file: BinaryIO, size: int) -> Any:
        """Send a log."""
        headers = {"Content-Type": NDJSON, "Content-Length": str(size)}
        return self._request("POST", path, file, headers)

    def _request(
        self, method: str, path: str, body: Any = None, headers: Any = None, again: bool = False
    ) -> Any:
        """Make a request; return the answer, or raise the error that it carries."""
        waited = 0.0
        while True:
            with self._open_response(method, path, body, headers or {}, again) as answer:
                data = answer.read()
            if answer.status < 300:
                return self._read(data)
            after = answer.headers.get("Retry-After", "")
            wait = float(after) if after.isdecimal() else 1.0  # A proxy may give a date.
            if answer.status != 429 or waited + wait > _LONGEST:
                raise _read_error(answer.status, data)
            time.sleep(wait)  # Such a request was not carried out.
            waited += wait

    def _read(self, data: bytes) -> Any:
        """Read an answer, or refuse one that cannot come from `grbp serve`."""
        try:
            return json.loads(data) if data else None
        except ValueError as error:
            raise self._not_a_server() from error

    def _not_a_server(self) -> InvalidInput:
        """Return the error for an answer that does not come from `grbp serve`."""
        return InvalidInput(
            f"the address {self.url} was given; what answers there is not `grbp serve`: name"
            " another"
        )

    @contextmanager
    def stream(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """Make a GET request; yield the answer, to be read as it arrives."""
        with self._open_response("GET", path, None, {}, True) as answer:
            if answer.status >= 300:
                raise _read_error(answer.status, answer.read())
            yield answer

    @contextmanager
    def _open_response(
        self, method: str, path: str, body: Any, headers: dict[str, str], again: bool
    ) -> Iterator[http.client.HTTPResponse]:
        """Make a request, a second time if that is harmless; keep a connection that was read out.

        A request that must not be carried out twice is never sent again once it may have arrived.
        """
        for last in (not (again or method == "GET"), True):
            connection = self._take_connection()
            try:
                connection.request(method, path, body, self._headers | headers)
                answer = connection.getresponse()
                break
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if last:
                    raise self._describe_loss(method, error) from error
        try:
            yield answer
        except (OSError, http.client.HTTPException) as error:
            raise self._describe_loss(method, error) from error
        finally:
            if answer.isclosed() and not answer.will_close:
                self._idle.append(connection)
            else:
                connection.close()

    def _take_connection(self) -> http.client.HTTPConnection:
        """Return a connection that is free and alive, or a new one."""
        if self._process != os.getpid():  # A forked child must not use its parent's.
            self._idle, self._process = [], os.getpid()
        with suppress(IndexError):  # Threads share the list: `pop` gives each connection to one.
            while True:
                kept = self._idle.pop()
                # If there is something to read before a request, the server has closed it.
                if kept.sock is not None and not select.select([kept.sock], [], [], 0)[0]:
                    return kept
                kept.close()
        one: http.client.HTTPConnection = self._kind(self._host, self._port, timeout=self._timeout)
        try:
            one.connect()
        except (OSError, http.client.HTTPException) as error:
            one.close()
            raise self._describe_loss("", error) from error
        return one

    def _describe_loss(self, method: str, error: Exception) -> CannotWrite:
        """Return the error for a broken connection; without a method, none was made."""
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if method in ("GET", ""):
            return CannotWrite(
                f"{self.url} cannot be reached ({why}), so nothing was written; check the"
                " address, or try again later"
            )
        return CannotWrite(
            f"the connection to {self.url} was lost while this was being written ({why}), so it may"
            " be stored or not; give it again with the same key, and it will be stored once"
        )


def _read_error(status: int, body: bytes) -> GrbpError:
    """Return the error in an answer; one that is not a problem of ours comes from a proxy."""
    problem: Any = {}
    with suppress(ValueError):
        problem = json.loads(body)
    problem = problem if isinstance(problem, dict) else {}
    kind = str(problem.get("type", "")).removeprefix(TYPE)
    detail = str(problem.get("detail") or f"the server answered with the status {status}")
    if kind in ERRORS:
        return ERRORS[kind][0](detail)
    return (InvalidInput if status < 500 else CannotWrite)(detail)


def _split_token(url: str) -> tuple[str, str | None]:
    """Return an address as it is shown, and the token that it carries behind a # if it does."""
    if not isinstance(url, str) or "#" not in url:
        return url, None
    plain, _, end = url.partition("#")
    plain = plain.removesuffix("/").removesuffix("/sign-in")
    return plain, end.removeprefix("token=") if end.startswith("token=") else None


def _to_plain(value: object) -> Any:
    """Return a NumPy number as a plain one; refuse everything else that JSON cannot carry."""
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidInput(f"{value!r} was given; it must be a number or text, which JSON can carry")
