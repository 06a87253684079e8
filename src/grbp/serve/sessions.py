"""Browsers that have signed in: a token is exchanged for a cookie, which ends with it."""

import secrets
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from grbp.live.arguments import utc_now
from grbp.serve.tokens import Token, Tokens, hash_token


class Sessions:
    """Browsers that have signed in, by the hash of their cookie; a restart forgets them all."""

    MOST: Final = 10_000
    MOST_OF_TOKEN: Final = 20

    def __init__(
        self, tokens: Tokens, hours: float = 12.0, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.seconds = int(hours * 3600)
        self._tokens, self._clock = tokens, clock
        self._sessions: dict[str, tuple[str, datetime]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, token: Token) -> str:
        """Return a new cookie for a token; one session too many ends the oldest of its own."""
        cookie, now = secrets.token_urlsafe(32), self._clock()
        self._sessions = {k: (t, end) for k, (t, end) in self._sessions.items() if end > now}
        own = self._list_sessions(token.hash)
        for key in own[: max(0, len(own) + 1 - self.MOST_OF_TOKEN)]:
            del self._sessions[key]
        if len(self._sessions) >= self.MOST:
            ((most, _),) = Counter(t for t, _ in self._sessions.values()).most_common(1)
            del self._sessions[self._list_sessions(most)[0]]
        self._sessions[hash_token(cookie)] = token.hash, _add_seconds(now, self.seconds)
        return cookie

    def _list_sessions(self, digest: str) -> list[str]:
        """Return the sessions of a token, the oldest first."""
        return [key for key, (token, _) in self._sessions.items() if token == digest]

    def find(self, cookie: str) -> Token | None:
        """Return the token of a cookie, if both are still valid."""
        digest, end = self._sessions.get(hash_token(cookie), ("", None))
        return self._tokens.find_valid(digest) if end is not None and self._clock() < end else None

    def end(self, cookie: str) -> None:
        """Forget a cookie."""
        self._sessions.pop(hash_token(cookie), None)


def _add_seconds(now: datetime, seconds: float) -> datetime:
    """Return a later time, or the last one that there is."""
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
