"""Files of another kind are known by their marks, and refused before anything is written."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from optional import optional
from runs import one_sentence

from grbp.errors import InvalidInput, NotFound
from grbp.experiments.sweep_file import SweepFile
from grbp.live import Study
from grbp.live.store import open_store

optional("apsw")


def as_if_killed(path: Path) -> None:
    """Leave a file and its log as they are now, for nobody else writes to the copy."""
    for name in (path.name, f"{path.name}-wal"):
        shutil.copy(path.with_name(name), path.parent.parent / name)


def a_sweep(path: Path) -> None:
    SweepFile(path).close()


def a_store(path: Path) -> None:
    open_store(path, create=True).close()


def a_store_in_its_log(path: Path) -> None:
    """A store that was killed before anything of it went from the log into the file."""
    with closing(open_store(path.parent / "first" / path.name, create=True)):
        as_if_killed(path.parent / "first" / path.name)
    shutil.rmtree(path.parent / "first")
    assert path.read_bytes()[68:72] == bytes(4)


def theirs(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE diary (day TEXT)")


def theirs_in_its_log(path: Path) -> None:
    (path.parent / "first").mkdir()
    with closing(sqlite3.connect(path.parent / "first" / path.name)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE diary (day TEXT)")
        as_if_killed(path.parent / "first" / path.name)
    shutil.rmtree(path.parent / "first")


def theirs_with_a_mark(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA application_id = 7")


def theirs_with_a_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 1")


def a_letter(path: Path) -> None:
    path.write_text("This is a letter and no database.\n" * 40)


STORES = [a_store, a_store_in_its_log]
OTHERS = [theirs, theirs_in_its_log, theirs_with_a_mark, theirs_with_a_version]


def open_sweep(path: Path) -> None:
    SweepFile(path).close()


def make_store(path: Path) -> None:
    open_store(path, create=True).close()


def open_study(path: Path) -> None:
    Study(path).close()


@pytest.mark.parametrize(
    ("make", "use", "sentence"),
    [
        (a_sweep, make_store, "{} is a sweep of grbp, not a store of studies; `grbp sweep` open"),
        (a_sweep, open_study, "{} is a sweep of grbp, not a store of studies; `grbp sweep` open"),
        *(
            (m, open_sweep, "{} is a store of studies of grbp, not a sweep; `grbp l")
            for m in STORES
        ),
        *((m, make_store, "{} is a SQLite file of another program, not a store") for m in OTHERS),
        *((m, open_sweep, "{} is a SQLite file of another program, not a sweep") for m in OTHERS),
        (a_letter, make_store, "{} was given; it is not a SQLite file"),
        (a_letter, open_sweep, "{} is damaged, or is not a file of a sweep"),
    ],
)
def test_a_file_of_another_kind_is_named_and_stays(
    make: Callable[[Path], None], use: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "a file"
    make(path)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(InvalidInput) as refusal:
        use(path)
    assert one_sentence(refusal.value).startswith(sentence.format(path))
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


@pytest.mark.parametrize("make", STORES)
def test_a_store_is_known_as_one(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "x")
    with closing(open_store(tmp_path / "x")) as store:
        assert store.studies() == []
    assert (tmp_path / "x").read_bytes()[68:72] == b"grbp"


def test_a_sweep_is_known_as_one(tmp_path: Path) -> None:
    with SweepFile(tmp_path / "x") as file:
        file.put("asked", "this")
    with SweepFile(tmp_path / "x") as file:
        assert file.get("asked") == "this"
    assert (tmp_path / "x").read_bytes()[68:72] == b"grbs"


def test_an_empty_file_is_of_no_kind(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for make, mark in ((make_store, b"grbp"), (open_sweep, b"grbs")):
        path.write_bytes(b"")
        with pytest.raises(NotFound):
            open_study(path)
        assert [one.read_bytes() for one in tmp_path.iterdir()] == [b""]
        make(path)
        assert path.read_bytes()[68:72] == mark


def test_to_look_at_a_mark_lets_go_of_no_lock(tmp_path: Path) -> None:
    """Whoever closes a file loses all locks of the process on it, unless SQLite opened it."""
    path = tmp_path / "x"
    code = (
        "import sqlite3, sys\n"
        "link = sqlite3.connect(sys.argv[1], timeout=0)\n"
        "print(link.execute('PRAGMA journal_mode = DELETE').fetchone()[0])\n"
        "link.close()"
    )
    with closing(open_store(path, create=True)):
        open_store(path).close()
        other = [sys.executable, "-c", code, str(path)]
        said = subprocess.run(other, capture_output=True, text=True, check=False)
    assert "database is locked" in said.stderr
