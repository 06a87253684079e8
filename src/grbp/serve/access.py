"""Who may do what: one table from routes to roles, and who it is that asks."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grbp.live.arguments import utc_now
from grbp.serve.tokens import ROLES, Token, Tokens, hash_token

ANYBODY: Final = ""
"""The role that everybody has, also without a token."""

VIEWER, RECORDER, CORRECTOR, STATISTICIAN, ADMIN = ROLES

_RANK: Final = {role: rank for rank, role in enumerate((ANYBODY, *ROLES))}

_STUDY: Final = "/api/studies/{study}"
_CASE: Final = f"{_STUDY}/cases/{{case}}"

ROUTES: Final[dict[tuple[str, str], str]] = {
    ("GET", "/health"): ANYBODY,
    ("GET", "/ready"): VIEWER,
    ("GET", "/metrics"): VIEWER,
    ("GET", "/openapi.json"): VIEWER,
    ("POST", "/api/session"): ANYBODY,  # A token in its body is exchanged for a cookie.
    ("GET", "/api/session"): VIEWER,
    ("DELETE", "/api/session"): VIEWER,
    ("GET", "/api/studies"): VIEWER,
    ("POST", "/api/studies"): ADMIN,
    ("GET", _STUDY): VIEWER,
    ("GET", f"{_STUDY}/cases"): VIEWER,
    ("POST", f"{_STUDY}/cases"): RECORDER,
    ("GET", _CASE): VIEWER,
    ("GET", f"{_CASE}/advice"): VIEWER,
    ("GET", f"{_CASE}/basis"): VIEWER,
    ("POST", f"{_CASE}/steps"): RECORDER,
    ("POST", f"{_CASE}/void"): CORRECTOR,
    ("POST", f"{_CASE}/withdraw"): RECORDER,
    ("GET", f"{_STUDY}/events"): VIEWER,
    ("GET", f"{_STUDY}/events.ndjson"): VIEWER,
    ("POST", f"{_STUDY}/verify"): STATISTICIAN,
    ("POST", f"{_STUDY}/replay"): STATISTICIAN,
    ("GET", f"{_STUDY}/export"): STATISTICIAN,
    ("GET", f"{_STUDY}/steps.csv"): STATISTICIAN,
    ("POST", "/api/import"): ADMIN,
    ("GET", "/api/backup"): ADMIN,
    ("GET", "/api/tokens"): ADMIN,
    ("POST", "/api/tokens"): ADMIN,
    ("DELETE", "/api/tokens/{id}"): ADMIN,
    ("GET", "/api/explore"): ANYBODY,  # It says whether the rest may be asked for.
    ("POST", "/api/explore/simulations"): VIEWER,
    ("GET", "/api/explore/simulations/{id}"): VIEWER,
    ("DELETE", "/api/explore/simulations/{id}"): VIEWER,
    ("GET", "/api/explore/verdicts"): VIEWER,
    ("GET", "/explore"): ANYBODY,  # It shows no study, and a lecture has no tokens.
    ("GET", "/static"): ANYBODY,
    ("GET", "/favicon.ico"): ANYBODY,
    ("GET", f"{_STUDY}/path"): VIEWER,
    ("GET", "/"): VIEWER,
    ("GET", "/studies/{study}"): VIEWER,
    ("GET", "/studies/{study}/cases/{case}"): VIEWER,
    ("GET", "/studies/{study}/evidence"): VIEWER,
    ("GET", "/studies/{study}/log"): VIEWER,
    ("GET", "/sign-in"): ANYBODY,
}
"""The role that each route needs. A route that is not here is open to nobody."""


def may(role: str, needed: str) -> bool:
    """Return whether a role is enough."""
    return _RANK[role] >= _RANK[needed]


class Caller(NamedTuple):
    """Who asks.

    Attributes
    ----------
    actor, role : str
        Who records, and what that one may do.
    token : Token or None
        The token; None where the server is open.
    ambient : bool
        Whether a browser would send along what lets the caller in, whoever made it ask.
    """

    actor: str
    role: str
    token: Token | None
    ambient: bool


NOBODY: Final = Caller("", ANYBODY, None, False)


class Sessions:
    """Browsers that came with a token, by the hash of a cookie; a restart forgets them all."""

    MOST: Final = 10_000

    def __init__(
        self, tokens: Tokens, hours: float = 12.0, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.seconds = int(hours * 3600)
        self._tokens, self._clock = tokens, clock
        self._kept: dict[str, tuple[str, datetime]] = {}

    def begin(self, token: Token) -> str:
        """Return a new cookie for whoever has a token."""
        cookie, now = secrets.token_urlsafe(32), self._clock()
        self._kept = {k: (t, end) for k, (t, end) in self._kept.items() if end > now}
        while len(self._kept) >= self.MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[hash_token(cookie)] = token.hash, now + timedelta(seconds=self.seconds)
        return cookie

    def find(self, cookie: str) -> Token | None:
        """Return the token of a cookie, if both are still good."""
        digest, end = self._kept.get(hash_token(cookie), ("", None))
        return self._tokens.good(digest) if end is not None and self._clock() < end else None

    def end(self, cookie: str) -> None:
        """Forget a cookie."""
        self._kept.pop(hash_token(cookie), None)
