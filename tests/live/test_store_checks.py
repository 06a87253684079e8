"""What a store looks at before it is written to, each made to fail."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from optional import optional
from postgres_server import Server
from runs import one_sentence
from stored import create, eventually, log, tell

from grbp.errors import CannotWrite, InvalidInput, ReadOnly
from grbp.live import Study
from grbp.live.store import files, open_store
from grbp.live.store.base import Store, Transaction

apsw = optional("apsw")
sqlite = import_module("grbp.live.store.sqlite")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A SQLite store that fails no check."""
    with closing(open_store(tmp_path / "live.sqlite", create=True)) as store:
        store.write("s", create)
        assert store.checks() == []
        yield store


def only_check(store: Store) -> str:
    """Return the one sentence that speaks against writing."""
    (said,) = store.checks()
    return one_sentence(ValueError(said))


@pytest.mark.parametrize(
    ("version", "safe"), [("3.40.1", False), ("3.51.2", False), ("3.51.3", True), ("3.100.0", True)]
)
def test_a_sqlite_that_can_lose_writes_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch, version: str, safe: bool
) -> None:
    monkeypatch.setattr(sqlite.apsw, "sqlite_lib_version", lambda: version)
    assert safe == (store.checks() == [])
    if not safe:
        assert f"SQLite {version} can lose" in only_check(store)


def test_the_file_system_is_the_one_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    here = files.MOUNTS
    assert files.file_system(here) == ("proc" if here.exists() else "")
    monkeypatch.setattr(files, "MOUNTS", Path("/is/not/there"))
    assert files.file_system(here) == ""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/ward/ada/live.sqlite", "nfs4"),
        ("/ward", "nfs4"),
        ("/wards/live.sqlite", "ext4"),
        ("/data/a b\\c/live.sqlite", "xfs"),
        ("/data/live.sqlite", "cifs"),
    ],
)
def test_the_line_that_fits_best_says_the_kind_of_file_system(place: str, kind: str) -> None:
    """Of those at one place, the last; where none fits, as in a chroot, nobody says."""
    lines = [
        r"5 1 0:1 / /data/a\040b\134c rw - xfs /dev/vdb rw",
        "1 0 0:1 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw",
        "2 1 0:1 / /ward rw - ext4 /dev/vdc rw",
        "3 1 0:1 / /ward rw shared:3 - nfs4 server:/ward rw",
        "4 1 0:1 / /data rw - cifs //server/data rw",
    ]
    assert files.find_kind(Path(place), "\n".join(lines)) == kind
    assert files.find_kind(Path("/srv/live.sqlite"), lines[-1]) == ""
    assert files.find_kind(Path(place), "") == ""


def test_a_file_system_that_nobody_names_is_no_reason_to_refuse(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mountinfo").write_text("1 0 0:1 / /elsewhere rw - nfs4 server:/x rw\n")
    monkeypatch.setattr(files, "MOUNTS", tmp_path / "mountinfo")
    assert store.checks() == []


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_network_file_system_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The table of what is mounted where says so; a later line at one place covers an earlier."""
    mounted = tmp_path.as_posix().replace(" ", r"\040")
    lines = [
        f"9 1 0:1 / {mounted} rw - {kind} server:/x rw",
        "2 1 0:1 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw",
        f"3 1 0:1 / {mounted[:-1]} rw - tmpfs tmpfs rw",
    ]
    table = tmp_path / "mountinfo"
    table.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(files, "MOUNTS", table)
    assert f"is on a network file system ({kind})" in only_check(store)
    table.write_text("\n".join([*lines, f"4 1 0:1 / {mounted} rw - ext4 /dev/vdb rw"]) + "\n")
    assert store.checks() == []
    link = tmp_path.parent / f"link-{kind}"
    link.symlink_to(tmp_path)
    table.write_text("\n".join(lines) + "\n")
    with closing(open_store(link / "live.sqlite")) as linked:
        assert f"({kind})" in only_check(linked)


def test_commits_that_do_not_wait_for_the_disk_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "live.sqlite"
    with closing(sqlite.SqliteStore(path, create=True, synchronous="NORMAL")) as store:
        assert "synchronous=1" in only_check(store)


def test_a_journal_that_is_not_written_ahead_is_refused(store: Store, tmp_path: Path) -> None:
    store._connection.pragma("journal_mode", "delete")  # type: ignore[attr-defined]
    assert "journal_mode=delete" in only_check(store)
    # It is set again at every start.
    with closing(open_store(tmp_path / "live.sqlite")) as again:
        assert again.checks() == []


def test_rows_without_their_study_are_possible_only_where_a_check_says_so(store: Store) -> None:
    store._connection.pragma("foreign_keys", False)  # type: ignore[attr-defined]
    assert "foreign_keys=0" in only_check(store)


def test_a_study_is_read_only_where_a_check_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "live.sqlite"
    with closing(Study.create(path, "s", goal=4)) as study:
        study.open_case(2)
    monkeypatch.setattr(sqlite.apsw, "sqlite_lib_version", lambda: "3.51.2")
    with closing(Study(path)) as study:
        assert study.ask(1).case == 1
        with pytest.raises(ReadOnly, match=r"SQLite 3\.51\.2 can lose") as caught:
            study.tell(1, state=1)
        one_sentence(caught.value)


@contextmanager
def configured(server: Server, setting: str) -> Iterator[None]:
    """A server with another setting."""
    psycopg = optional("psycopg")
    with closing(psycopg.connect(server.socket, autocommit=True)) as connection:
        connection.execute(f"alter system set {setting}")
        connection.execute("select pg_reload_conf()")
        try:
            yield
        finally:
            connection.execute(f"alter system reset {setting.partition(' ')[0]}")
            connection.execute("select pg_reload_conf()")


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_does_not_wait_for_its_disk_is_refused(
    postgres: Server, setting: str
) -> None:
    with closing(open_store(postgres.socket, create=True)) as store:
        assert store.checks() == []
        with configured(postgres, f"{setting} = off"):
            eventually(store.checks)
            assert f"{setting}=off" in only_check(store)


def test_a_server_that_is_read_only_is_refused(postgres: Server) -> None:
    with (
        closing(open_store(postgres.socket, create=True)) as store,
        configured(postgres, "default_transaction_read_only = on"),
    ):
        eventually(store.checks)
        assert "default_transaction_read_only=on" in only_check(store)


@pytest.mark.slow
def test_a_standby_can_be_read(postgres: Server) -> None:
    with closing(open_store(postgres.socket, create=True)) as store:
        store.write("s", create)
        store.write("s", tell)
        with postgres.in_recovery():
            assert "is a standby, which can only be read" in only_check(store)
            assert len(log(store)) == 1
            with pytest.raises(CannotWrite) as caught:
                store.write("s", tell)
            one_sentence(caught.value)
        assert store.checks() == []
        assert store.write("s", tell) == 2


def test_a_file_that_was_moved_is_not_written_to(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What SQLite would answer goes to a file that nobody finds; put back, nothing is missing."""
    before, here = log(store), tmp_path / "live.sqlite"
    monkeypatch.chdir(here.parent.parent)  # which is no reason to lose sight of it
    store.write("s", tell)
    here.rename(tmp_path / "moved")
    for attempt in (
        lambda: store.write("s", tell),
        lambda: log(store),
        lambda: store.backup(tmp_path / "copy"),
    ):
        with pytest.raises(CannotWrite, match="was moved, removed or replaced") as refused:
            attempt()
        one_sentence(refused.value)
    assert not here.exists()
    assert not (tmp_path / "copy").exists()
    (tmp_path / "moved").rename(here)
    store.write("s", tell)
    assert len(log(store)) == len(before) + 2
    store.backup(tmp_path / "copy")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_is_not_shared_with_a_forked_process_nor_used_when_closed(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = request.getfixturevalue("dsn") if kind == "postgres" else tmp_path / "live.sqlite"
    store = open_store(where, create=True)
    store.write("s", create)
    with monkeypatch.context() as forked:
        forked.setattr("os.getpid", lambda: 1)
        for attempt in (lambda: store.write("s", tell), lambda: log(store), store.studies):
            with pytest.raises(InvalidInput, match="was opened in another process") as refused:
                attempt()
            one_sentence(refused.value)
        if kind == "postgres":
            session: Any = store._writer
            connection = session.connection
            store._disconnect()
            assert not connection.closed
            session._connection = connection
    store.write("s", tell)
    store.close()
    for attempt in (lambda: store.write("s", tell), lambda: log(store), store.studies):
        with pytest.raises(InvalidInput, match="was closed; open it again"):
            attempt()


def test_a_store_is_closed_when_no_other_thread_uses_it(store: Store) -> None:
    started, go_on, said = Event(), Event(), []

    def slowly(rows: Transaction) -> int:
        started.set()
        assert go_on.wait(60)
        return tell(rows)

    writer = Thread(target=lambda: said.append(store.write("s", slowly)))
    writer.start()
    assert started.wait(60)
    closer = Thread(target=store.close)
    closer.start()
    closer.join(0.1)
    assert closer.is_alive()
    go_on.set()
    writer.join(60)
    closer.join(60)
    assert said == [1]
    with pytest.raises(InvalidInput, match="was closed; open it again"):
        store.studies()


@pytest.mark.parametrize(
    "where", ["sqlite:///x", "mysql://u:secret@h/x", "POSTGRESQL://h/x", "port=1 host=h", 3, None]
)
def test_what_is_neither_a_file_nor_an_address_is_refused(
    where: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="neither a file nor an address") as refused:
        open_store(where, create=True)  # type: ignore[arg-type]
    assert "secret" not in one_sentence(refused.value)
    assert not list(tmp_path.iterdir())
