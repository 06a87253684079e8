"""Files are written whole, several of them all or none, or one sentence says why not."""

import errno
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence

from grbp._io import make_folder, write_table, write_together, write_whole
from grbp.errors import CannotWrite, InvalidInput


def fails(number: int, error: BaseException, really: Callable[..., Any]) -> Callable[..., Any]:
    """Do as a function does, but fail at the call of that number, counted from 1."""
    calls: list[int] = []

    def called(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == number:
            raise error
        return really(*arguments)

    return called


def contents(folder: Path) -> dict[str, bytes | None]:
    return {p.name: p.read_bytes() if p.is_file() else None for p in folder.iterdir()}


def test_a_file_is_written_whole_and_readable_by_whoever_may_read_new_files(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "folder" / "file"
    assert write_whole(path, b"first") == path
    assert write_whole(path, b"again") == path
    assert contents(path.parent) == {"file": b"again"}
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_several_are_written_and_named_in_order(tmp_path: Path) -> None:
    files = {tmp_path / "b": b"1", tmp_path / "a" / "c": b"2"}
    assert write_together(files) == list(files)
    assert [path.read_bytes() for path in files] == [b"1", b"2"]


def test_a_table_has_every_digit(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", ("name", "x"), [("a,b", 0.1 + 0.2), ("c", 1e300)])
    assert path.read_bytes() == b'name,x\n"a,b",0.30000000000000004\nc,1e+300\n'


@pytest.mark.parametrize("method", ["write_bytes", "replace"])
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("old", [{}, {"one": b"old one"}, {"one": b"old one", "two": b"old two"}])
def test_a_disk_that_fills_up_leaves_what_was_there(
    method: str, number: int, old: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, data in old.items():
        (tmp_path / name).write_bytes(data)
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(Path, method, fails(number, full, getattr(Path, method)))
    with pytest.raises(CannotWrite) as caught:
        write_together({tmp_path / "one": b"1", tmp_path / "two": b"2"})
    said = one_sentence(caught.value)
    assert "No space left on device" in said
    assert str(tmp_path / "one") in said
    assert str(tmp_path / "two") in said
    assert contents(tmp_path) == old


@pytest.mark.parametrize("method", ["write_bytes", "replace"])
def test_an_interruption_leaves_no_drafts(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, method, fails(1, KeyboardInterrupt(), getattr(Path, method)))
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"1")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("taken", ["one", "two"])
def test_a_name_that_is_taken_by_a_folder_leaves_the_others_as_they_were(
    taken: str, tmp_path: Path
) -> None:
    (tmp_path / taken).mkdir()
    before = contents(tmp_path)
    with pytest.raises(CannotWrite) as caught:
        write_together({tmp_path / "one": b"1", tmp_path / "two": b"2"})
    one_sentence(caught.value)
    assert contents(tmp_path) == before


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        for write in (lambda f=folder: make_folder(f), lambda f=folder: write_whole(f / "x", b"")):
            with pytest.raises(CannotWrite) as caught:
                write()
            assert str(folder) in one_sentence(caught.value)
    assert contents(tmp_path) == {"file": b"mine"}


def test_a_path_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must end with a file name"):
        write_whole(Path(), b"1")
