"""Files are written whole, several of them all or none, or one sentence says why not."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence

from grbp import _io
from grbp._io import (
    CASES,
    JSON,
    PAGE,
    PICTURES,
    Kind,
    Output,
    check_outputs,
    check_writable,
    make_folder,
    table_kind,
    write_table,
    write_together,
    write_whole,
)
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
    path = tmp_path / "file"
    assert write_whole(path, b"first") == path
    assert write_whole(path, b"again") == path
    assert contents(tmp_path) == {"file": b"again"}
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_several_are_written_and_named_in_order(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    files = {tmp_path / "b": b"1", tmp_path / "a" / "c": b"2"}
    assert write_together(files) == list(files)
    assert [path.read_bytes() for path in files] == [b"1", b"2"]


def test_a_table_has_every_digit(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", ("name", "x"), [("a,b", 0.1 + 0.2), ("c", 1e300)])
    assert path.read_bytes() == b'name,x\n"a,b",0.30000000000000004\nc,1e+300\n'


def test_what_is_no_number_is_left_empty(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", ("name", "x"), [("a", float("nan"))])
    assert path.read_bytes() == b"name,x\na,\n"


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    target, link, second = tmp_path / "kept" / "target", tmp_path / "link", tmp_path / "second"
    link.symlink_to(target)
    second.symlink_to("link")
    for data in (b"new", b"again"):  # there is no target at first
        assert write_whole(second, data) == second
        assert contents(target.parent) == {"target": data}
    assert link.readlink() == target
    assert second.readlink() == Path("link")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(_io, "_write_data", fails(1, full, _io._write_data))
    with pytest.raises(CannotWrite):
        write_whole(link, b"lost")
    assert target.read_bytes() == b"again"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    check_writable(pipe)  # which does not wait for a reader
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_together({pipe: b"through", tmp_path / "file": b"beside"})
    reader.join()
    assert read == [b"through"]
    assert pipe.is_fifo()
    assert (tmp_path / "file").read_bytes() == b"beside"


def test_a_device_is_written_to(tmp_path: Path) -> None:
    keyboard, terminal = os.openpty()
    try:
        try:
            device, link = Path(os.ttyname(terminal)), tmp_path / "link"
        except OSError:
            pytest.skip("tests of a terminal: it has no name here; mount devpts on /dev/pts")
        link.symlink_to(device)
        for path, data in ((device, b"direct"), (link, b"linked")):
            check_writable(path)
            write_whole(path, data)
            assert os.read(keyboard, 99) == data
        assert device.is_char_device()
        assert link.is_symlink()
    finally:
        os.close(keyboard)
        os.close(terminal)


@pytest.mark.parametrize("name", ["here", "link"])
def test_a_file_that_is_printed_to_is_not_replaced(name: str, tmp_path: Path) -> None:
    """The link is like /dev/stdout, which no test may name: what fails here might replace it."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1" if Path("/proc/self/fd").exists() else "here")
    code = (
        "from pathlib import Path; from grbp._io import write_whole; print('before');"
        f"write_whole(Path({name!r}), b'written\\n'); print('after')"
    )
    with (tmp_path / "here").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=tmp_path)
    assert (tmp_path / "here").read_bytes() == b"before\nwritten\nafter\n"
    assert (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "target")
    for bad in (
        tmp_path, tmp_path / "file" / "x", tmp_path / ("x" * 999), Path("/proc/no/x"),
        tmp_path / "a" / "b", tmp_path / "link", tmp_path / ("x" * 999) / "y",
    ):  # fmt: skip
        for refuse in (lambda path: write_whole(path, b"1"), check_writable):
            with pytest.raises(CannotWrite) as caught:
                refuse(bad)
            assert str(bad) in one_sentence(caught.value)
    for nameless in (Path(), Path("/")):
        with pytest.raises(InvalidInput, match="must end with a file name"):
            check_writable(nameless)
    for good in (tmp_path / "file", tmp_path / "new"):
        check_writable(good)
    assert contents(tmp_path) == {"file": b"mine", "link": None}


def test_a_folder_is_not_made_for_a_file_unless_it_is_to_be_made(tmp_path: Path) -> None:
    path = tmp_path / "slip" / "file"
    for refuse in (lambda: write_whole(path, b"1"), lambda: check_writable(path)):
        with pytest.raises(CannotWrite, match=r"there is no folder .*slip\); make it") as caught:
            refuse()
        assert str(path) in one_sentence(caught.value)
    for made in (tmp_path, path):
        with pytest.raises(CannotWrite, match="there is no folder"):
            check_writable(path, made)
    check_writable(path, path.parent)
    assert contents(tmp_path) == {}


WRITING = [(_io, "_write_data"), (Path, "replace")]
"""What writes a file: its data, and then its name."""


@pytest.mark.parametrize(("owner", "method"), WRITING)
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("old", [{}, {"one": b"old one"}, {"one": b"old one", "two": b"old two"}])
def test_a_disk_that_fills_up_leaves_what_was_there(
    owner: Any,
    method: str,
    number: int,
    old: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, data in old.items():
        (tmp_path / name).write_bytes(data)
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(owner, method, fails(number, full, getattr(owner, method)))
    with pytest.raises(CannotWrite) as caught:
        write_together({tmp_path / "one": b"1", tmp_path / "two": b"2"})
    said = one_sentence(caught.value)
    assert "No space left on device" in said
    assert str(tmp_path / "one") in said
    assert str(tmp_path / "two") in said
    assert contents(tmp_path) == old


@pytest.mark.parametrize(("owner", "method"), WRITING)
def test_an_interruption_leaves_no_drafts(
    owner: Any, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, fails(1, KeyboardInterrupt(), getattr(owner, method)))
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


SAME = {
    "page": (PAGE, b'<!DOCTYPE html>\n<head>\n<meta name="generator" content="grbp">\n'),
    "json": (JSON, b'{"a": 1}'),
    "table": (table_kind(["a b", "c"]), b"a b,c\r\n1,2\r\n"),
    "png": (PICTURES["png"], b"\x89PNG\r\n\x1a\n..."),
    "svg": (
        PICTURES["svg"],
        b'<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE svg PUBLIC "x">\n<svg>',
    ),
    "pdf": (PICTURES["pdf"], b"%PDF-1.4\n"),
}
OTHER = [
    b"case,step,state,action,next_state\n1,1,2,c,3\n", b"<!doctype html><title>mine</title>",
    b"mine", b"a b,c,d\n", b"a b,c", b"\xff\xd8\xff\xe0", b"PK\x03\x04", b"<?xml ?><rss/>",
    b"<!---->" * 500,
    b"SQLite format 3\0", b"\n", b"x" * 5000 + b'<meta name="generator" content="grbp">',
]  # fmt: skip


@pytest.mark.parametrize(("kind", "content"), SAME.values(), ids=SAME)
def test_a_file_is_replaced_by_one_of_its_kind_and_no_other(
    kind: Kind, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    (tmp_path / "link").symlink_to(path)
    for fine in (None, b"", content):
        if fine is not None:
            path.write_bytes(fine)
        check_outputs([Output(path, kind)])
        check_outputs([Output(tmp_path / "link", kind)])
    others = [data for other, data in SAME.values() if other is not kind]
    for data in [*others, *OTHER, b"mine: " + content]:
        path.write_bytes(data)
        for name in (path, tmp_path / "link"):
            with pytest.raises(InvalidInput, match="is there already, and it is not") as caught:
                check_outputs([Output(name, kind)])
            assert str(name) in one_sentence(caught.value)
            check_outputs([Output(name, kind)], force=True)
        assert path.read_bytes() == data


def test_a_file_that_cannot_be_read_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"{")
    locked = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(Path, "open", fails(1, locked, Path.open))
    with pytest.raises(InvalidInput, match="it is not JSON"):
        check_outputs([Output(path, JSON)])


def test_a_table_of_cases_replaces_nothing_unasked(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    check_outputs([Output(path, CASES)])
    path.write_text("case,step,state,action,next_state\n")
    with pytest.raises(InvalidInput, match="it may be somebody's records"):
        check_outputs([Output(path, CASES)])
    check_outputs([Output(path, CASES)], force=True)


def test_no_output_is_an_input_or_another_output_by_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read = Path("read")
    read.write_bytes(b"{")
    Path("folder").symlink_to(tmp_path)
    Path("link").symlink_to("folder/read")
    Path("hard").hardlink_to(read)
    names = [read, Path("folder/read"), Path("link"), Path("hard"), tmp_path / "x" / ".." / "read"]
    (tmp_path / "x").mkdir()
    for name in names:
        for source in ("read", read, "link"):
            with pytest.raises(InvalidInput, match="is to be written, but it is also read"):
                check_outputs([Output(name, JSON)], [source], force=True)
        if name != read:
            with pytest.raises(InvalidInput, match="are the same file"):
                check_outputs([Output(read, JSON), Output(name, JSON)], force=True)
    # Nor where no file is there yet.
    with pytest.raises(InvalidInput, match="are the same file"):
        check_outputs([Output(Path("new"), JSON), Output(Path("folder/x/../new"), JSON)])
    check_outputs([Output(Path("new"), JSON), Output(Path("newer"), JSON)], ["read", "no\0file"])
    # A device holds nothing, however often it is named.
    check_outputs([Output(Path("/dev/null"), JSON), Output(Path("/dev/null"), PAGE)], ["/dev/null"])


def test_standard_input_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "read"
    path.write_bytes(b"{")
    code = (
        "from pathlib import Path; from grbp._io import *;"
        "check_outputs([Output(Path('read'), JSON)], ['-'])"
    )
    for name in (path, Path(os.devnull)):
        with name.open("rb") as stdin:
            done = subprocess.run(
                [sys.executable, "-c", code],
                stdin=stdin, cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
        assert ("it is also read" in done.stderr) == (name == path), done.stderr
