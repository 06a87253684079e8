"""Tokens in the log of a store: the same rights for all who use it, whatever happens to it."""

import asyncio
import json
import shutil
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from serving import Clock

from grbp import CannotWrite, Damaged, InvalidInput, NotFound, Study
from grbp.live import store_log
from grbp.live.schema import Event
from grbp.live.store import open_store
from grbp.live.store.base import Store
from grbp.serve.tokens import Sessions, Token, Tokens, hash_token

sys.path.append(str(Path(__file__).parents[1] / "live"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "live.sqlite", create=True)) as made:
        yield made


def read(store: Store, clock: Callable[[], datetime] | None = None) -> Tokens:
    """Return the tokens of a store, as they are now."""
    tokens = Tokens(store, clock or Clock())
    tokens.refresh()
    return tokens


def test_who_made_and_who_revoked_a_token_is_recorded(store: Store) -> None:
    clock = Clock()
    tokens = Tokens(store, clock)
    token, made = tokens.make("nurse", "recorder", who="ada")
    assert tokens.find(token) == made
    clock.now += timedelta(days=1)
    ended = tokens.revoke(made.id, who="grace")
    assert tokens.find(token) is None
    assert ended == made._replace(
        revoked=store_log.read_events(store)[-1].recorded, revoked_by="grace"
    )
    assert tokens.revoke(made.id, who="somebody else") == ended
    assert [one.kind for one in store_log.read_events(store)] == ["grant", "revoke"]
    assert (ended.made_by, ended.made[:10], ended.revoked[:10]) == (
        "ada",
        "2026-01-01",
        "2026-01-02",
    )
    assert Tokens(store, clock).all() == tokens.all() == [ended]


def test_a_token_is_nowhere_but_where_it_was_shown(store: Store, tmp_path: Path) -> None:
    token, made = Tokens(store).make("nurse", "recorder")
    assert len(token) > 43
    assert "hash" not in made.to_dict()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.encode() not in kept
    assert hash_token(token).encode() in kept
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_tokens_that_cannot_be_are_refused(store: Store) -> None:
    tokens = Tokens(store)
    for words, label, role, days in (
        ("role = 'king'", "nurse", "king", 1),
        ("days = 0", "nurse", "viewer", 0),
        ("at most 3,660", "nurse", "viewer", 1e9),
        ("one line", "two\nlines", "viewer", 1),
        ("label = ''", "", "viewer", 1),
    ):
        with pytest.raises(InvalidInput, match=words):
            tokens.make(label, role, days)
    assert store.logs() == []
    with pytest.raises(NotFound, match="'5f0c11d2'"):
        tokens.revoke("5f0c11d2")


def test_a_token_in_the_last_days_of_all_is_refused_or_made(store: Store) -> None:
    tokens = Tokens(store, lambda: datetime(9999, 12, 1, tzinfo=UTC))
    with pytest.raises(InvalidInput, match="after the year 9999"):
        tokens.make("nurse", "viewer", 90)
    with pytest.raises(InvalidInput, match="after the year 9999"):
        tokens.make_first("ada")
    token, made = tokens.make("nurse", "viewer", 1)
    assert tokens.find(token) == made
    sessions = Sessions(tokens, 10_000, lambda: datetime(9999, 12, 31, tzinfo=UTC))
    assert sessions.begin(made)


@pytest.mark.parametrize("other", ["Night Desk", "\uff4eight desk", "night de\u017fk"])
def test_no_two_valid_tokens_have_labels_that_look_alike(store: Store, other: str) -> None:
    clock = Clock()
    tokens = Tokens(store, clock)
    _, one = tokens.make("night desk", "viewer", 1)
    with pytest.raises(InvalidInput, match=f"the token {one.id}.*: revoke that one, or take"):
        Tokens(store, clock).make(other, "viewer")
    clock.now += timedelta(days=1)
    _, two = tokens.make(other, "viewer")
    with pytest.raises(InvalidInput, match=two.id):
        tokens.make("night desk", "viewer")
    tokens.revoke(two.id)
    tokens.make("night desk", "viewer")


def test_two_who_make_tokens_at_once_keep_all_and_no_label_twice(tmp_path: Path) -> None:
    stores = [open_store(tmp_path / "live.sqlite", create=True) for _ in range(2)]

    def make(number: int) -> str:
        try:
            return Tokens(stores[number % 2]).make(f"desk {number // 4}", "viewer")[0]
        except InvalidInput:
            return ""

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(40)))
    one, two = map(read, stores)
    assert one.all() == two.all()
    assert sorted(token.label for token in one.all()) == sorted(f"desk {n}" for n in range(10))
    assert {hash_token(token) for token in made if token} == {token.hash for token in one.all()}
    assert store_log.verify(stores[0]).ok
    for store in stores:
        store.close()


def test_of_all_who_start_first_one_gets_the_first_token(tmp_path: Path) -> None:
    stores = [open_store(tmp_path / "live.sqlite", create=True) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = [*filter(None, pool.map(lambda one: Tokens(one).make_first("ada"), stores))]
    assert len(made) == 1
    tokens = Tokens(stores[0])
    (first,) = tokens.all()
    assert (first.label, first.role, first.made_by) == ("ada", "admin", "ada")
    assert tokens.find(made[0]) == first
    tokens.revoke(first.id)
    assert tokens.make_first("ada") is None  # nor when none is valid any more
    for store in stores:
        store.close()


@pytest.mark.parametrize("who", ["x" * 65, "unknown"])
def test_the_first_token_has_a_label_whoever_the_user_is(store: Store, who: str) -> None:
    Tokens(store).make_first(who)
    assert [one.label for one in Tokens(store).all()] == ["first-admin"]


GRANT = (1 << 40) + 1
CHANGES: dict[str, list[Any]] = {
    "kind": ["verified", "x"], "case": [1], "step": [1], "who": ["eve"], "key": ["k"],
    "recorded": ["2999-01-01T00:00:00+00:00"], "observed": ["x"], "response": ["{}"],
    "request": ["{}", "[]", "x"], "previous": ["1" * 64], "hash": ["0" * 64, ""],
}  # fmt: skip


def _changes() -> Iterator[tuple[str, Any]]:
    """Yield what a field of the first event can become; above all, what would let more in."""
    yield "id", GRANT + 1
    yield "id", 2 * GRANT
    yield from ((name, new) for name, values in CHANGES.items() for new in values)
    for part, new in (
        ("role", "admin"), ("role", "king"), ("expires", "2999-01-01T00:00:00+00:00"),
        ("hash", hash_token("eve's own")), ("label", "chief"), ("id", "00000000"),
    ):  # fmt: skip
        yield f"request.{part}", new


@pytest.mark.parametrize("event", [0, 1, 2])
@pytest.mark.parametrize(("field", "new"), list(_changes()))
def test_a_changed_field_gives_nobody_more_rights(
    tmp_path: Path, event: int, field: str, new: Any
) -> None:
    path, clock = tmp_path / "live.sqlite", Clock()
    with closing(open_store(path, create=True)) as store:
        tokens = Tokens(store, clock)
        texts = [tokens.make(role, role, 1)[0] for role in ("viewer", "recorder")]
        tokens.revoke(tokens.all()[1].id)
    name, _, part = field.partition(".")
    with closing(sqlite3.connect(path)) as run, run:
        identity = GRANT + event
        if part:
            ((text,),) = run.execute("select request from events where id = ?", [identity])
            new = json.dumps(json.loads(text) | {part: new}, separators=(",", ":"))
        elif name == "id":
            new += 8 + event
        done = run.execute(f'update events set "{name}" = ? where id = ?', [new, identity])  # noqa: S608
        assert done.rowcount == 1
    with closing(open_store(path)) as store:
        after = Tokens(store, clock)
        for _ in range(2):
            with pytest.raises(Damaged, match="the store's own log"):
                after.refresh()
            for text in (*texts, "eve's own"):
                with pytest.raises(CannotWrite, match="the store's own log"):
                    after.find(text)
        for attempt in (
            lambda: after.make("eve", "admin"), lambda: after.make_first("eve"),
            lambda: after.revoke("00000000"),
        ):  # fmt: skip
            with pytest.raises(Damaged):
                attempt()
        assert not store_log.verify(store).ok
    assert set(CHANGES) == set(Event._fields[1:])


def test_a_log_that_is_whole_and_not_understood_lets_nobody_in(store: Store) -> None:
    Tokens(store).make_first("ada")
    with patch.object(store_log, "KINDS", (*store_log.KINDS, "lock")):
        store_log.record(store, "lock", "ada", datetime.now(UTC))
    with pytest.raises(Damaged, match="a newer version wrote it"):
        Tokens(store).refresh()


def grant(store: Store, identity: str, role: str) -> None:
    """Write down a token as no version of ours would."""
    parts = {"label": "eve", "expires": "9999", "hash": hash_token("x")}
    store_log.record(store, "grant", "eve", datetime.now(UTC), id=identity, role=role, **parts)


def test_a_token_with_no_role_that_is_known_lets_nobody_in(store: Store) -> None:
    grant(store, "1", "king")
    with pytest.raises(Damaged, match="event 1 "):
        Tokens(store).refresh()


def test_no_two_tokens_have_one_id(store: Store) -> None:
    tokens = Tokens(store)
    with patch("secrets.token_hex", side_effect=["0a", "0a", "0a", "0b"]):
        made = [tokens.make(label, "viewer")[1] for label in ("ada", "grace")]
    assert [one.id for one in made] == ["0a", "0b"]
    grant(store, "0a", "admin")
    with pytest.raises(Damaged, match="event 3 "):
        Tokens(store).refresh()


@pytest.mark.parametrize("kind", ["move", "backup"])
def test_a_store_takes_its_tokens_along(tmp_path: Path, kind: str) -> None:
    path, there = tmp_path / "live.sqlite", tmp_path / "elsewhere" / "other.sqlite"
    there.parent.mkdir()
    with closing(open_store(path, create=True)) as store:
        token, made = Tokens(store).make("nurse", "recorder")
        Study.create(store, "ward", 4)
        if kind == "backup":
            store.backup(there)
    if kind == "move":
        shutil.move(path, there)
    with closing(open_store(there)) as store:
        tokens = read(store, lambda: datetime.now(UTC))
        assert tokens.find(token) == made
        assert tokens.make_first("eve") is None


def test_a_restored_store_has_the_tokens_that_it_had_then(tmp_path: Path) -> None:
    """As a database does that is restored under a server that runs."""
    path, clock = tmp_path / "live.sqlite", Clock()
    with closing(open_store(path, create=True)) as store:
        tokens = Tokens(store, clock)
        old, _ = tokens.make("old", "viewer")
        store.backup(tmp_path / "copy.sqlite")
        new, _ = tokens.make("new", "viewer")
    with closing(open_store(tmp_path / "copy.sqlite")) as store:
        tokens._store = store
        tokens.refresh()
        assert tokens.find(old)
        assert tokens.find(new) is None
        Tokens(store, clock).make("other", "admin")
        tokens.refresh()
        assert [one.label for one in tokens.all()] == ["old", "other"]


@pytest.mark.slow
def test_a_revocation_survives_a_power_cut(tmp_path: Path) -> None:
    from cuts import FILE, FOLDER  # noqa: PLC0415 (of tests/live)
    from power import Disk, after_cut  # noqa: PLC0415

    clock = Clock()
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        with closing(open_store(tmp_path / FILE, create=True)) as store:
            tokens, texts = Tokens(store, clock), []
            for number in range(6):
                token, made = tokens.make(f"desk {number}", "viewer")
                disk.acknowledge((token, True))
                texts.append(token)
                if number % 2:
                    tokens.revoke(made.id)
                    disk.acknowledge((token, False))
        revoked = 0
        for number, remains in after_cut(disk.trace, 150, seed=1):
            folder = tmp_path / f"cut-{number}"
            folder.mkdir(exist_ok=True)
            remains.restore(folder)
            valid = dict(remains.acknowledged)
            with closing(open_store(folder / FILE, create=True)) as store:
                after = read(store, clock)
                for token in texts[:-1]:
                    if valid.get(token) is False:
                        assert after.find(token) is None
                        revoked += 1
                    elif token in valid and texts.index(token) % 2 == 0:
                        assert after.find(token)
            shutil.rmtree(folder)
    assert revoked > 50


class Slow:
    """A store whose reads wait until they are let go, or fail."""

    def __init__(self, store: Store) -> None:
        self._store, self.go, self.reads = store, threading.Event(), 0
        self.where = store.where
        self.go.set()
        self.error: Exception | None = None

    def read(self, name: str, script: Any) -> Any:
        self.reads += 1
        self.go.wait(30)
        if self.error:
            raise self.error
        return self._store.read(name, script)

    def write(self, name: str, script: Any) -> Any:
        return self._store.write(name, script)


def patient(seconds: float) -> Any:
    return patch("grbp.serve.tokens._PATIENCE", seconds)


def forget(tokens: Tokens) -> None:
    """Pretend that the last look was long ago."""
    tokens._looked = float("-inf")


def test_nobody_waits_for_a_store_that_hangs(store: Store) -> None:
    slow: Any = Slow(store)
    tokens = Tokens(slow, Clock())
    text, made = tokens.make("nurse", "viewer")
    tokens.refresh()

    async def ask() -> None:
        slow.go.clear()
        forget(tokens)
        began = time.monotonic()
        found = await asyncio.gather(*(tokens.recognise(text) for _ in range(50)))
        assert found == [made] * 50
        await tokens.keep_up()
        assert await tokens.recognise("grbp_unknown") is None
        assert time.monotonic() - began < 20
        assert slow.reads == 2  # the one before, and one for all of these
        slow.go.set()

    with patient(0.2):
        asyncio.run(ask())


def test_what_was_last_seen_counts_while_the_store_cannot_be_read(store: Store) -> None:
    slow: Any = Slow(store)
    tokens = Tokens(slow, Clock())
    text, made = tokens.make("nurse", "viewer")
    slow.error = CannotWrite("the database is gone")
    for _ in range(3):
        forget(tokens)
        assert asyncio.run(tokens.recognise(text)) == made
    with pytest.raises(CannotWrite, match="gone"):
        tokens.all()
    late = Tokens(slow, Clock())
    with pytest.raises(CannotWrite, match="the store cannot be read"):
        late.find(text)
    with pytest.raises(CannotWrite, match=r"^the store cannot be read; try again later$"):
        asyncio.run(late.recognise(text))
    slow.error = Damaged(f"{store.where} lost its log")
    forget(late)
    late._failing = False
    with pytest.raises(CannotWrite, match=r"^the store lost its log$"):
        asyncio.run(late.recognise(text))
    slow.error = None
    late.refresh()
    assert late.find(text) == made


def test_one_who_looked_before_does_not_undo_what_was_seen_since(store: Store) -> None:
    slow: Any = Slow(store)
    tokens = Tokens(slow, Clock())
    text, made = tokens.make("nurse", "viewer")
    read_before = store.read

    def read_late(name: str, script: Any) -> Any:
        found = read_before(name, script)
        looking.set()
        go.wait(30)
        return found

    looking, go = threading.Event(), threading.Event()
    with patch.object(store, "read", read_late):
        thread = threading.Thread(target=tokens.refresh)
        thread.start()
        assert looking.wait(30)
    tokens.revoke(made.id)
    go.set()
    thread.join()
    assert tokens.find(text) is None


def test_a_token_of_another_server_is_seen_at_once_and_its_end_within_a_second(
    store: Store,
) -> None:
    here, there = Tokens(store, Clock()), Tokens(store, Clock())

    async def ask() -> None:
        assert await here.recognise("grbp_unknown") is None
        text, made = there.make("nurse", "viewer")
        assert await here.recognise(text) == made
        there.revoke(made.id)
        until = time.monotonic() + 30
        while await here.recognise(text):
            assert time.monotonic() < until
            await asyncio.sleep(0.01)
        text, made = there.make("nurse", "viewer")
        assert await here.recognise(text) == made
        there.revoke(made.id)
        forget(here)  # Nobody has asked for long: the first who does is refused.
        assert await here.recognise(text) is None

    asyncio.run(ask())


def test_a_token_that_has_ended_is_not_looked_for(store: Store) -> None:
    slow: Any = Slow(store)
    tokens = Tokens(slow, Clock())
    text, made = tokens.make("nurse", "viewer")
    tokens.revoke(made.id)
    tokens.refresh()
    with patch("grbp.serve.tokens._FRESH", 1e9):
        assert asyncio.run(tokens.recognise(text)) is None
        assert slow.reads == 1
        assert asyncio.run(tokens.recognise("grbp_unknown")) is None
        assert slow.reads == 2


def session_of(tokens: Tokens, label: str) -> Token:
    return tokens.make(label, "viewer", 1)[1]


def test_a_session_ends_in_time_with_its_token_and_with_the_server(store: Store) -> None:
    clock = Clock()
    tokens = Tokens(store, clock)
    _, token = tokens.make("nurse", "viewer", 0.75)
    sessions = Sessions(tokens, 12, clock)
    cookie = sessions.begin(token)
    assert sessions.find(cookie) == token
    assert Sessions(tokens, 12, clock).find(cookie) is None
    clock.now += timedelta(hours=12)
    assert sessions.find(cookie) is None
    later = sessions.begin(token)
    clock.now += timedelta(hours=6)
    assert sessions.find(later) is None
    clock.now -= timedelta(hours=6)
    assert sessions.find(later) == token
    tokens.revoke(token.id)
    assert sessions.find(later) is None


def test_one_token_too_many_sessions_end_its_own_alone(store: Store) -> None:
    clock = Clock()
    tokens = Tokens(store, clock)
    one, two = (session_of(tokens, label) for label in ("one", "two"))
    sessions = Sessions(tokens, 12, clock)
    quiet = sessions.begin(two)
    cookies = [sessions.begin(one) for _ in range(10 * Sessions.MOST_OF_TOKEN)]
    assert sessions.find(quiet) == two
    alive = [cookie for cookie in cookies if sessions.find(cookie)]
    assert alive == cookies[-Sessions.MOST_OF_TOKEN :]


def test_where_all_sessions_are_taken_whoever_has_the_most_loses_one(store: Store) -> None:
    tokens = Tokens(store, Clock())
    greedy, modest, late = (session_of(tokens, label) for label in ("a", "b", "c"))
    with patch.object(Sessions, "MOST", 10):
        sessions = Sessions(tokens, 12, Clock())
        kept = sessions.begin(modest)
        many = [sessions.begin(greedy) for _ in range(9)]
        new = sessions.begin(late)
    assert [bool(sessions.find(one)) for one in (kept, many[0], *many[1:], new)] == [
        True, False, *[True] * 9,
    ]  # fmt: skip


def test_a_session_that_has_ended_is_forgotten_with_the_next(store: Store) -> None:
    clock = Clock()
    tokens = Tokens(store, clock)
    one, two = (session_of(tokens, label) for label in ("one", "two"))
    sessions = Sessions(tokens, 12, clock)
    for _ in range(3):
        sessions.begin(one)
    clock.now += timedelta(hours=6)
    late = sessions.begin(one)
    assert len(sessions) == 4
    clock.now += timedelta(hours=6)
    sessions.begin(two)
    assert len(sessions) == 2
    assert sessions.find(late) == one
