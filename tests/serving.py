"""A server in a thread of the test, and whoever asks it with one token or another."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self
from unittest.mock import patch

import httpx
import uvicorn
from fastapi.routing import APIRoute

from grbp.live.arguments import utc_now
from grbp.live.endpoints import ROLES
from grbp.live.store import open_store
from grbp.serve.app import create_app
from grbp.serve.connections import HttpConnection
from grbp.serve.middleware import COOKIE
from grbp.serve.server import Endpoint, listen
from grbp.serve.settings import Settings
from grbp.serve.state import ROLE, ROUTERS
from grbp.serve.tokens import Tokens

ROLES_BY_ROUTE: Final[dict[tuple[str, str], str]] = {
    (method, route.path): (route.openapi_extra or {})[ROLE]
    for router in ROUTERS.values()
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in (route.methods or set()) - {"HEAD"}
}
"""The role that each route needs."""


# What gives way to whoever waits for advice would be waited for in vain on a busy machine.
patch("grbp.serve.jobs._NICE", 0).start()


class Clock:
    """A clock that stands still until somebody sets it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class _Server(uvicorn.Server):
    """One that looks every few milliseconds whether it is to end, not ten times a second."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(0.005)


class Serving:
    """A server with a store of its own.

    Whoever asks it without a token is nobody, unless the role of those who do is named.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], datetime] = utc_now,
        dsn: str | None = None,
        asking: str | None = None,
        **settings: Any,
    ) -> None:
        self.store = open_store(dsn or folder / "studies.sqlite", create=True)
        self.tokens = Tokens(self.store, clock)
        self.asking = asking and self.tokens.make("whoever asks", asking)[0]
        self.app = create_app(self.store, self.tokens, Settings(**settings), clock)
        config = uvicorn.Config(self.app, log_config=None, proxy_headers=False, http=HttpConnection)
        self._server: uvicorn.Server = _Server(config)

    def __enter__(self) -> Self:
        self._socket = listen(Endpoint(port=0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()
        until = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.005)
        self.http = httpx.Client(base_url=self.url, timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self.app.state.server.stopping = True  # Whoever follows a stream does not hold it up.
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.store.close()

    def ask(
        self, method: str, path: str, token: str | None = None, headers: Any = None, **what: Any
    ) -> httpx.Response:
        """Make a request, with a token if there is one; an empty one is none."""
        given = self.bearer(token) | dict(headers or {})
        return self.http.request(method, path, headers=given, **what)

    def bearer(self, token: str | None = None) -> dict[str, str]:
        """Return the header that carries a token, or that of whoever asks without one."""
        given = self.asking if token is None else token
        return {"Authorization": f"Bearer {given}"} if given else {}

    @property
    def link(self) -> str:
        """The address that carries the token of whoever asks without one."""
        return f"{self.url}/sign-in#token={self.asking}"

    def signed_in(self, token: str | None = None) -> Any:
        """Return what a browser keeps that has signed in, as Playwright's `storage_state`."""
        cookie = self.http.post("/api/session", json={"token": token or self.asking}).cookies
        self.http.cookies.clear()
        (value,) = cookie.values()
        kept = {"name": COOKIE, "value": value, "domain": "127.0.0.1", "path": "/", "expires": -1}
        flags = {"httpOnly": True, "secure": False, "sameSite": "Strict"}
        return {"cookies": [kept | flags], "origins": []}

    def token(self, role: str = "admin", days: float = 1.0) -> str:
        """Make a token; no two have the same label."""
        taken = {one.label for one in self.tokens.all()}
        labels = (f"the {role}{number}" for number in ["", *(f" {n}" for n in range(2, 100))])
        return self.tokens.make(next(one for one in labels if one not in taken), role, days)[0]

    def everybody(self) -> dict[str, str]:
        """Make a token of every role."""
        return {role: self.token(role) for role in ROLES}


def refused(answer: httpx.Response, status: int, *words: str) -> str:
    """Return the sentence of a problem, which has the one shape of all."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert list(problem) == ["type", "title", "status", "detail"]
    assert problem["status"] == status
    assert problem["type"].startswith("urn:grbp:")
    detail: str = problem["detail"]
    assert "\n" not in detail
    for word in words:
        assert word in detail
    return detail
