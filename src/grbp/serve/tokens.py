"""Who may use a server: roles, the tokens that carry them, and the sessions of browsers.

A token is shown once, stored as a hash in a private file, and ends by itself or when it is revoked.

It is 32 random bytes, so SHA-256 is enough: slow hashes protect passwords, which can be guessed.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from grbp._io import make_private, reason, write_whole
from grbp.errors import CannotWrite, InvalidInput, NotFound
from grbp.live.arguments import check_text, utc_now
from grbp.model.validation import check_positive

try:
    import fcntl
except ImportError:  # Another system than Unix: two programs that make tokens are not kept apart.
    fcntl = None  # type: ignore[assignment]

_FORMAT: Final = "grbp tokens"
_MOST_DAYS: Final = 3_660.0
DAYS: Final = 90.0
"""How many days a token is valid by default."""

ROLES: Final = ("viewer", "recorder", "corrector", "statistician", "admin")
"""The roles; each may do what those before it may."""

VIEWER, RECORDER, CORRECTOR, STATISTICIAN, ADMIN = ROLES

ANYBODY: Final = "anybody"
"""The role that everybody has, also without a token."""

_RANK: Final = {role: rank for rank, role in enumerate((ANYBODY, *ROLES))}


def may(role: str, needed: str) -> bool:
    """Return whether a role is enough."""
    return _RANK[role] >= _RANK[needed]


class Token(NamedTuple):
    """What is known of a token; not the token itself.

    Attributes
    ----------
    id : str
        Its name in lists and for revocation.
    label : str
        Who records with it: a role or a pseudonym, never the name of a person.
    role : str
    made, expires, revoked : str
        Times in UTC; `revoked` is empty as long as it is not.
    hash : str
        SHA-256 of the token.
    """

    id: str
    label: str
    role: str
    made: str
    expires: str
    revoked: str
    hash: str

    def to_dict(self) -> dict[str, str | None]:
        """Return all of it but the hash."""
        seen: dict[str, str | None] = self._asdict()
        del seen["hash"]
        return seen | {"revoked": self.revoked or None}


class Tokens:
    """The tokens in a file, read again whenever it has changed."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self.path, self._clock = path, clock
        self._mark: object = None
        self._by_hash: dict[str, Token] = {}
        self._ever = False

    @property
    def were_made(self) -> bool:
        """Whether a token was ever made; from then on, nobody gets in without one."""
        self._reload()
        return self._ever

    def all(self) -> list[Token]:
        """Return all tokens, the oldest first."""
        self._reload()
        return list(self._by_hash.values())

    def find(self, token: str) -> Token | None:
        """Return what is known of a token, if it is valid now."""
        return self.find_valid(hash_token(token))

    def find_valid(self, digest: str) -> Token | None:
        """Return the token with a hash, if it is valid now."""
        self._reload()
        found = self._by_hash.get(digest)
        if found is None or found.revoked or found.expires <= _format_time(self._clock()):
            return None
        return found

    def make(self, label: str, role: str, days: float = DAYS) -> tuple[str, Token]:
        """Make a token; return its text, which is shown only here, and what is kept of it."""
        label = check_text("label", label, 64)
        if role not in ROLES:
            raise InvalidInput(f"role = {role!r} was given; it must be one of {', '.join(ROLES)}")
        number = check_positive("days", days)
        if number > _MOST_DAYS:
            raise InvalidInput(f"days = {days!r} was given; it must be at most {_MOST_DAYS:,.0f}")
        token, now = f"grbp_{secrets.token_urlsafe(32)}", self._clock()
        made, expires = _format_time(now), _format_time(now + timedelta(number))
        one = Token(secrets.token_hex(4), label, role, made, expires, "", hash_token(token))
        with self._edit_file() as kept:
            kept.append(one)
        return token, one

    def revoke(self, name: str) -> Token:
        """End a token by its id; a running server refuses it from now on."""
        with self._edit_file() as kept:
            for place, one in enumerate(kept):
                if one.id == name:
                    kept[place] = one._replace(revoked=one.revoked or _format_time(self._clock()))
                    return kept[place]
        raise NotFound(f"the token {name!r} was to be revoked; there is none with this id")

    @contextmanager
    def _edit_file(self) -> Iterator[list[Token]]:
        """Lock the file, yield its tokens, and write back what became of them."""
        lock = self.path.with_name(f"{self.path.name}.lock")
        make_private(lock)
        with lock.open("rb+") as held:
            if fcntl is not None:
                fcntl.flock(held, fcntl.LOCK_EX)
            kept = self.all()
            yield kept
            data = {"format": _FORMAT, "tokens": [one._asdict() for one in kept]}
            write_whole(self.path, json.dumps(data, indent=1).encode() + b"\n", 0o600)

    def _reload(self) -> None:
        """Read the file if it has changed."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            # Taking the file away does not open the server to everybody.
            self._mark, self._by_hash = None, {}
            return
        except OSError as error:
            raise CannotWrite(f"{self.path} cannot be read ({reason(error)})") from error
        mark = found.st_ino, found.st_size, found.st_mtime_ns
        if mark == self._mark:
            return
        before, self._by_hash, self._ever = self._ever, {}, True  # A damaged file lets nobody in.
        if found.st_mode & 0o077:
            raise InvalidInput(f"{self.path} can be read or written by others; run chmod 600 on it")
        self._by_hash = {one.hash: one for one in _read_tokens(self.path)}
        self._mark, self._ever = mark, before or bool(self._by_hash)


class Sessions:
    """Browsers that have signed in, by the hash of their cookie; a restart forgets them all."""

    MOST: Final = 10_000

    def __init__(
        self, tokens: Tokens, hours: float = 12.0, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.seconds = int(hours * 3600)
        self._tokens, self._clock = tokens, clock
        self._sessions: dict[str, tuple[str, datetime]] = {}

    def begin(self, token: Token) -> str:
        """Return a new cookie for a token."""
        cookie, now = secrets.token_urlsafe(32), self._clock()
        self._sessions = {k: (t, end) for k, (t, end) in self._sessions.items() if end > now}
        while len(self._sessions) >= self.MOST:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[hash_token(cookie)] = token.hash, now + timedelta(seconds=self.seconds)
        return cookie

    def find(self, cookie: str) -> Token | None:
        """Return the token of a cookie, if both are still valid."""
        digest, end = self._sessions.get(hash_token(cookie), ("", None))
        return self._tokens.find_valid(digest) if end is not None and self._clock() < end else None

    def end(self, cookie: str) -> None:
        """Forget a cookie."""
        self._sessions.pop(hash_token(cookie), None)


def hash_token(token: str) -> str:
    """Compute the hash by which a token is kept."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _read_tokens(path: Path) -> list[Token]:
    """Read the tokens of a file, or refuse it."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        data = json.loads(path.read_bytes())
        if data["format"] == _FORMAT:
            return [Token(**one) for one in data["tokens"]]
    raise InvalidInput(
        f"{path} was given; it is not a file of tokens, or it is damaged: name another"
    )


def _format_time(time: datetime) -> str:
    """Write a time in UTC, to the second."""
    return time.astimezone(UTC).isoformat(timespec="seconds")
