"""Who may use a server: roles, the tokens that carry them, and browsers that have signed in.

A token is shown once. Its hash is recorded in the log of the store itself, with who made it and who
revoked it, so that all servers of a store let the same people in.

It is 32 random bytes, so SHA-256 is enough: slow hashes protect passwords, which can be guessed.
"""

import asyncio
import hashlib
import secrets
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple, TypeVar

from grbp.errors import CannotWrite, Damaged, InvalidInput, NotFound
from grbp.live.arguments import check_label, check_recorder, format_time, utc_now
from grbp.live.calls import Call
from grbp.live.endpoints import ADMIN, ROLES
from grbp.live.schema import NO_HASH, Event, loads
from grbp.live.store.base import OWN_LOG, Store, Transaction
from grbp.live.store_log import GRANT, KINDS, REVOKE, append, read_log
from grbp.worlds.validation import check_positive

T = TypeVar("T")

_MOST_DAYS: Final = 3_660.0
_LONGEST_LABEL: Final = 64
DAYS: Final = 90.0
"""How many days a token is valid by default."""

_FRESH, _STALE, _PATIENCE = 0.25, 0.75, 5.0
"""After how many seconds the store is looked at again, after how many one waits for that, and for
how long at most."""

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
    made_by, revoked_by : str
        Who did that; `revoked_by` is empty as long as it is not revoked.
    hash : str
        SHA-256 of the token.
    """

    id: str
    label: str
    role: str
    made: str
    made_by: str
    expires: str
    revoked: str
    revoked_by: str
    hash: str

    def to_dict(self) -> dict[str, str | None]:
        """Return all of it but the hash."""
        seen: dict[str, str | None] = self._asdict()
        del seen["hash"]
        return seen | {"revoked": self.revoked or None, "revoked_by": self.revoked_by or None}

    def is_valid(self, now: datetime) -> bool:
        """Return whether it lets somebody in at a time."""
        return not (self.revoked or self.expires <= format_time(now, "seconds"))


class _Known(NamedTuple):
    """The tokens as the store's log has them up to one of its events, by their ids and hashes."""

    seq: int
    head: str
    by_id: dict[str, Token]
    by_hash: dict[str, Token]


_NOTHING: Final = _Known(0, NO_HASH, {}, {})


class _Look(NamedTuple):
    """A look at the store that is under way, and when it began."""

    done: "Future[None]"
    began: float


class Tokens:
    """The tokens of a store, as they were when it was last looked at.

    Whoever asks for one never waits for a database that hangs. If the store cannot be read, what
    was last seen counts, since nothing can be recorded then. If its log is damaged, or was never
    read, nobody is let in. Threads may share it.
    """

    def __init__(self, store: Store, clock: Callable[[], datetime] = utc_now) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._known, self._fault = _NOTHING, "the store cannot be read; try again later"
        self._looked, self._adopted, self._failing = float("-inf"), float("-inf"), False
        self._look: _Look | None = None

    def all(self) -> list[Token]:
        """Return all tokens, the oldest first, as the store has them now."""
        self.refresh()
        return list(self._known.by_id.values())

    def find(self, token: str) -> Token | None:
        """Return what is known of a token, if it is valid now."""
        return self.find_valid(hash_token(token))

    def find_valid(self, digest: str) -> Token | None:
        """Return the token with a hash, if it is valid now."""
        if self._fault:
            raise CannotWrite(self._fault)
        found = self._known.by_hash.get(digest)
        return found if found is not None and found.is_valid(self._clock()) else None

    async def recognise(self, token: str) -> Token | None:
        """Return what is known of a token, if it is valid; one that is new is looked for."""
        await self.keep_up()
        if not self._fault and hash_token(token) not in self._known.by_hash:
            under_way = self._look
            if under_way is not None:  # It may have begun before the token was made.
                await _wait_for(under_way)
            await _wait_for(self._look_again())
        return self.find(token)

    async def keep_up(self) -> None:
        """Have the store looked at if that was not done of late; wait only if it was long ago."""
        age = time.monotonic() - self._looked
        if age >= _FRESH:
            look = self._look_again()
            if age >= _STALE and not self._failing:
                await _wait_for(look)

    def _look_again(self) -> _Look:
        """Return the look that is under way, or begin one, which holds up nobody."""
        with self._lock:
            if self._look is None or self._look.done.done():
                self._look = _Look(Future(), time.monotonic())
                # At the end of the program nobody waits for a database that hangs.
                threading.Thread(target=self._run_look, args=(self._look,), daemon=True).start()
            return self._look

    def _run_look(self, look: _Look) -> None:
        with suppress(Exception):  # What it was is kept for those who ask.
            self.refresh()
        look.done.set_result(None)

    def refresh(self) -> None:
        """Read what was recorded since the last time."""
        began = time.monotonic()
        try:
            found = self._store.read(OWN_LOG, partial(_read_tokens, self._known))
        except Exception as error:
            with self._lock:
                self._looked, self._failing = time.monotonic(), True
                if isinstance(error, Damaged) and began > self._adopted:
                    # Whoever is not let in does not learn where the store is.
                    self._fault = str(error).replace(self._store.where, "the store")
            raise
        with self._lock:
            if began > self._adopted:  # Of two looks, the one that began later has seen more.
                self._adopted, self._known, self._fault = began, found, ""
                self._looked, self._failing = began, False

    def make(
        self, label: str, role: str, days: float = DAYS, *, who: str | None = None
    ) -> tuple[str, Token]:
        """Make a token; return its text, which is shown only here, and what is kept of it."""
        label = check_label("label", label, _LONGEST_LABEL)
        if role not in ROLES:
            raise InvalidInput(f"role = {role!r} was given; it must be one of {', '.join(ROLES)}")
        made = self._grant(label, role, days, who)
        assert made is not None  # noqa: S101 (there may be others)
        return made

    def make_first(self, who: str | None = None) -> str | None:
        """Make a token for an administrator if none was ever made; return its text."""
        label = check_recorder(who)
        label = label if len(label) <= _LONGEST_LABEL and label != "unknown" else "first-admin"
        made = self._grant(label, ADMIN, DAYS, who, first=True)
        return None if made is None else made[0]

    def _grant(
        self, label: str, role: str, days: float, who: str | None, *, first: bool = False
    ) -> tuple[str, Token] | None:
        """Record a token under an id that no other has; the first one only if there is none."""
        call, expires, now = self._call(who), self._find_end(days), self._clock()
        token = f"grbp_{secrets.token_urlsafe(32)}"

        def grant(tx: Transaction) -> tuple[_Known, tuple[str, Token] | None]:
            known = _read_tokens(self._known, tx)
            if first and known.by_id:
                return known, None
            _refuse_equal_label(label, known, now)
            name = secrets.token_hex(4)
            while name in known.by_id:
                name = secrets.token_hex(4)
            what = {"id": name, "label": label, "role": role, "expires": expires}
            known = _fold(known, [append(tx, call, GRANT, **what, hash=hash_token(token))])
            return known, (token, known.by_id[name])

        return self._write(grant)

    def revoke(self, name: str, *, who: str | None = None, why: str = "") -> Token:
        """End a token by its id: here at once, at other servers of the store within a second."""
        call = self._call(who)

        def end(tx: Transaction) -> tuple[_Known, Token]:
            known = _read_tokens(self._known, tx)
            if name not in known.by_id:
                raise NotFound(f"the token {name!r} was to be revoked; there is none with this id")
            if not known.by_id[name].revoked:
                more = {"why": why} if why else {}
                known = _fold(known, [append(tx, call, REVOKE, id=name, **more)])
            return known, known.by_id[name]

        return self._write(end)

    def _call(self, who: str | None) -> Call:
        return Call(check_recorder(who), format_time(self._clock()))

    def _find_end(self, days: object) -> str:
        """Return when a token ends that is valid for some days from now."""
        number = check_positive("days", days)
        if number > _MOST_DAYS:
            raise InvalidInput(f"days = {days!r} was given; it must be at most {_MOST_DAYS:,.0f}")
        try:
            return format_time(self._clock() + timedelta(number), "seconds")
        except OverflowError:
            raise InvalidInput(
                f"days = {days!r} was given; the token would end after the year 9999: give fewer"
            ) from None

    def _write(self, script: Callable[[Transaction], tuple[_Known, T]]) -> T:
        """Run a script on the store's log; what it knows then is known here at once."""
        known, result = self._store.write(OWN_LOG, script)
        with self._lock:
            if known.seq > self._known.seq:
                # Whoever began to look before may not have seen this.
                self._adopted, self._known, self._fault = time.monotonic(), known, ""
        return result


async def _wait_for(look: _Look) -> None:
    """Wait for a look at the store, but not for one that takes too long."""
    left = look.began + _PATIENCE - time.monotonic()
    if left > 0:
        await asyncio.wait([asyncio.wrap_future(look.done)], timeout=left)


def _read_tokens(known: _Known, tx: Transaction) -> _Known:
    """Return what is known after the events that have come; after a restored one, read all."""
    try:
        return _fold(known, read_log(tx, known.seq, known.head))
    except Damaged:
        if not known.seq:
            raise
        return _fold(_NOTHING, read_log(tx))


def _fold(known: _Known, events: Iterable[Event]) -> _Known:
    """Return what is known of tokens after some more events."""
    tokens, seq, head = dict(known.by_id), known.seq, known.head
    for event in events:
        seq, head = event.seq, event.hash
        try:
            _apply(tokens, event)
        except (LookupError, TypeError, ValueError):
            raise Damaged(
                f"event {seq} of the store's own log cannot be understood: a newer version wrote"
                " it, or it was changed; install that version, or restore a backup"
            ) from None
    if seq == known.seq:
        return known
    return _Known(seq, head, tokens, {one.hash: one for one in tokens.values()})


def _apply(tokens: dict[str, Token], event: Event) -> None:
    """Add what an event says to the tokens by their ids."""
    what = loads(event.request)
    if event.kind == GRANT:
        name, label, role = what["id"], what["label"], what["role"]
        if name in tokens or role not in ROLES:
            raise ValueError(name)
        tokens[name] = Token(
            name, label, role, event.recorded, event.who, what["expires"], "", "", what["hash"]
        )
    elif event.kind == REVOKE:
        one = tokens[what["id"]]
        if not one.revoked:
            tokens[one.id] = one._replace(revoked=event.recorded, revoked_by=event.who)
    elif event.kind not in KINDS:
        raise ValueError(event.kind)


def _refuse_equal_label(label: str, known: _Known, now: datetime) -> None:
    """Refuse a label that a valid token has: nobody could tell who recorded what."""
    for one in known.by_id.values():
        if one.is_valid(now) and _simplify(one.label) == _simplify(label):
            raise InvalidInput(
                f"label = {label!r} was given; the token {one.id}, which is valid, has the label"
                f" {one.label!r}: revoke that one, or take another label"
            )


def _simplify(label: str) -> str:
    """Return what labels have in common that look alike."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())


def hash_token(token: str) -> str:
    """Compute the hash by which a token is kept."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class Sessions:
    """Browsers that have signed in, by the hash of their cookie; a restart forgets them all."""

    MOST: Final = 10_000
    MOST_OF_TOKEN: Final = 20

    def __init__(
        self, tokens: Tokens, hours: float = 12.0, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.seconds = int(hours * 3600)
        self._tokens, self._clock = tokens, clock
        # The hash of the token and the beginning, by the hash of the cookie.
        self._sessions: dict[str, tuple[str, datetime]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, token: Token) -> str:
        """Return a new cookie for a token; one session too many ends the oldest of its own."""
        cookie = secrets.token_urlsafe(32)
        self._sessions = {k: one for k, one in self._sessions.items() if self._lasts(one[1])}
        own = self._list_sessions(token.hash)
        for key in own[: max(0, len(own) + 1 - self.MOST_OF_TOKEN)]:
            del self._sessions[key]
        if len(self._sessions) >= self.MOST:
            ((most, _),) = Counter(t for t, _ in self._sessions.values()).most_common(1)
            del self._sessions[self._list_sessions(most)[0]]
        self._sessions[hash_token(cookie)] = token.hash, self._clock()
        return cookie

    def _lasts(self, since: datetime) -> bool:
        """Return whether a session that began then has not ended."""
        return (self._clock() - since).total_seconds() < self.seconds

    def _list_sessions(self, digest: str) -> list[str]:
        """Return the sessions of a token, the oldest first."""
        return [key for key, (token, _) in self._sessions.items() if token == digest]

    def find(self, cookie: str) -> Token | None:
        """Return the token of a cookie, if both are still valid."""
        digest, since = self._sessions.get(hash_token(cookie), ("", None))
        return self._tokens.find_valid(digest) if since and self._lasts(since) else None

    def end(self, cookie: str) -> None:
        """Forget a cookie."""
        self._sessions.pop(hash_token(cookie), None)
