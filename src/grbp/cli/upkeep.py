"""The verbs of `live` for whoever looks after a store: check all of it, back it up, keep few."""

import argparse
import logging
import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from grbp._format import plural
from grbp._io import check_writable, reason, sync_folder
from grbp.cli.options import Option, parse_whole, refuse_given, store_of
from grbp.cli.printing import answer, print_filled
from grbp.errors import CannotWrite, GrbpError, InvalidInput
from grbp.live import store_log
from grbp.live.arguments import check_recorder, format_time, utc_now
from grbp.live.store import open_store
from grbp.live.store.base import OWN_LOG, Store
from grbp.live.upkeep import (
    Checked,
    append_heads,
    check_heads_file,
    find_lost_heads,
    list_heads,
    name_log,
    read_heads,
    verify_store,
)
from grbp.worlds.validation import check_whole

VERIFY: Final = {
    "all": Option("check every study, and the store itself", flag=True),
    "heads": Option("the same, and that all is there that backup --heads wrote down", Path, "FILE"),
}
BACKUP: Final = {
    "file": Option("a file that does not exist yet", None, "FILE", "file", nargs="?"),
    "to": Option("write a file named by the time to this folder, and verify it", Path, "FOLDER"),
    "keep": Option("keep the latest N of these, and remove the others", parse_whole, "N"),
    "heads": Option(
        "add the heads of all logs to this file, which is kept elsewhere", Path, "FILE"
    ),
}

_MOST_KEPT: Final = 1_000_000
_BESIDE: Final = ("-wal", "-shm", "-head")
"""How the names of the files end that SQLite and a store make beside a file."""


def verify_all(options: argparse.Namespace) -> int:
    """Check every log of a store, and what was written down of it; return 1 after a problem."""
    if options.study is not None:
        raise InvalidInput("--study was given with --all or --heads; these check every study")
    heads = [] if options.heads is None else read_heads(options.heads)
    with closing(open_store(store_of(options))) as store:
        found = verify_store(store)
        # Nothing is written into a file that is damaged, or whose log may still be put back.
        sound = not found.problems
        found = found._replace(problems=(*found.problems, *find_lost_heads(store, heads)))
        if sound:
            _record(store, "verified", ok=found.ok, logs=len(found.logs), events=found.events)
    status = _show(options, found, {"heads": len(heads)})
    if heads and found.ok and not options.json:
        print(f"All {plural(len(heads), 'head')} of {options.heads} are there.")
    return status


def replay_all(options: argparse.Namespace) -> int:
    """Make every decision again, in every study of a store; return 1 after a problem."""
    if options.study is not None or options.file is not None:
        raise InvalidInput("--study or a file was given with --all, which plays every study again")
    with closing(open_store(store_of(options))) as store:
        return _show(options, verify_store(store, decide=True), {})


def back_up(options: argparse.Namespace) -> int:
    """Copy a store: to a file that is named, or to one of several that are kept."""
    if (options.file is None) == (options.to is None):
        raise InvalidInput("a backup was asked for; name a file, or a folder by --to")
    if options.to is None:
        refuse_given(options, ("--keep", "--heads"), "it needs --to")
        with closing(open_store(store_of(options))) as store:
            store.backup(Path(options.file))
        answer(options, {"backup": options.file}, lambda: print(options.file))
        return 0
    keep = None if options.keep is None else check_whole("--keep", options.keep, 1, _MOST_KEPT)
    with closing(open_store(store_of(options))) as store:
        return _back_up_to(options, store, keep)


def _back_up_to(options: argparse.Namespace, store: Store, keep: int | None) -> int:
    """Write a backup, verify it, write its heads down, and remove the oldest ones."""
    folder: Path = options.to
    if not folder.is_dir():
        raise InvalidInput(
            f"--to {folder} was given; there is no such folder: make it, or mount its disk"
        )
    heads = []
    if options.heads is not None:
        beside = [] if _is_database(store) else [Path(_address(store)).parent]
        heads = check_heads_file(options.heads, folder, *beside)
        _note_same_disk(options.heads, [folder, *beside])
    name, now = _name_backups(store), utc_now()
    path = folder / f"{name}-{now:%Y%m%dT%H%M%SZ}.sqlite"
    if path.exists():
        raise InvalidInput(f"a backup to {path} was asked for; it exists already: try again later")
    # It has its name when it is known to be good: nothing that counts as a backup was not read.
    draft = path.with_name(f"{path.name}.unverified")
    check_writable(draft)
    store.backup(draft)
    with closing(open_store(draft)) as copy:
        found = verify_store(copy)
        found = found._replace(problems=(*found.problems, *find_lost_heads(copy, heads)))
    if not found.ok:
        bad = _rename(draft, path.with_name(f"{path.name}.damaged"))
        first = next(_list_problems(found))
        said = f"The backup is not good ({first}); it is kept as {bad}, and nothing was removed."
        listed = _list_logs(found) | {"backup": str(bad), "removed": []}
        answer(options, listed, lambda: print(said))
        return 1
    _rename(draft, path)
    if options.heads is not None:
        append_heads(options.heads, list_heads(found, format_time(now), path.name))
    removed = [] if keep is None else _remove_oldest(path, name, keep)
    _record(store, "backup", file=path.name, logs=len(found.logs), events=found.events)
    logs = f"{plural(found.events, 'event')} in {plural(len(found.logs), 'log')}"
    lines = [str(path), f"Verified: {logs}.", *(f"Removed: {one}" for one in removed)]
    listed = {"backup": str(path), "removed": list(map(str, removed))}
    answer(options, _list_logs(found) | listed, lambda: print(*lines, sep="\n"))
    return 0


def _is_database(store: Store) -> bool:
    return "://" in _address(store)


def _address(store: Store) -> str:
    return store.address or store.where


def _name_backups(store: Store) -> str:
    """Return how the names of a store's backups begin: with that of the file, or the database."""
    if _is_database(store):
        return re.sub(r"[^\w.-]", "_", unquote(urlsplit(_address(store)).path).strip("/")) or "grbp"
    return Path(_address(store)).name.removesuffix(".sqlite")


def _note_same_disk(heads: Path, folders: list[Path]) -> None:
    """Say that a file would be lost together with what it is to prove."""
    disk = Path(os.path.realpath(heads)).parent.stat().st_dev
    if any(folder.stat().st_dev == disk for folder in folders):
        logging.getLogger("grbp").info(
            "%s is on the same disk as the store or its backups; copy it to another machine", heads
        )


def _rename(old: Path, new: Path) -> Path:
    """Give a file another name, and what SQLite has left beside it."""
    try:
        for end in _BESIDE:
            beside = old.with_name(old.name + end)
            if end == "-wal" and beside.exists() and beside.stat().st_size:
                beside.rename(new.with_name(new.name + end))
            beside.unlink(missing_ok=True)
        old.rename(new)
        sync_folder(new.parent)
    except OSError as error:
        raise CannotWrite(f"{old} cannot be renamed to {new} ({reason(error)})") from error
    return new


def _remove_oldest(made: Path, name: str, keep: int) -> list[Path]:
    """Remove the oldest backups of a store beyond a number, never the one that was just made."""
    pattern = re.compile(rf"{re.escape(name)}-[0-9]{{8}}T[0-9]{{6}}Z\.sqlite")
    others = sorted(
        path
        for path in made.parent.iterdir()
        if pattern.fullmatch(path.name) and path.name != made.name
        if path.is_file() and not path.is_symlink()
    )
    old = others[: max(0, len(others) - (keep - 1))]
    try:
        for path in old:
            for end in ("", *_BESIDE):
                path.with_name(path.name + end).unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"an old backup cannot be removed ({reason(error)}: {error.filename}); the new one,"
            f" {made}, is good"
        ) from error
    return old


def _record(store: Store, kind: str, **what: Any) -> None:
    """Write into the store's own log that somebody has looked after it, where that can be done."""
    try:
        for sentence in store.checks():
            raise CannotWrite(sentence)
        store_log.record(store, kind, check_recorder(None), utc_now(), **what)
    except GrbpError as error:
        logging.getLogger("grbp").info("this is not written into the store's own log: %s", error)


def _list_logs(found: Checked) -> dict[str, Any]:
    """Return for a program what was found in every log."""
    logs = [
        {"study": None if log == OWN_LOG else log} | one._asdict() | {"ok": one.ok}
        for log, one in found.logs.items()
    ]
    return {"ok": found.ok, "logs": logs, "problems": list(found.problems)}


def _list_problems(found: Checked) -> Iterator[str]:
    """Yield every problem, with the log that has it."""
    yield from found.problems
    for log, one in found.logs.items():
        yield from (f"{name_log(log)}: {problem}" for problem in one.problems)


def _show(options: argparse.Namespace, found: Checked, more: dict[str, Any]) -> int:
    """Give what was found in each log, with its problems; return the exit status."""
    answer(options, _list_logs(found) | more, lambda: _print_checked(found))
    return 0 if found.ok else 1


def _print_checked(found: Checked) -> None:
    """Print what was found in each log, with its problems."""
    for problem in found.problems:
        print_filled(f"Problem: {problem}", 2)
    for log, one in found.logs.items():
        again = f", {plural(one.decisions, 'decision')} made again" if one.decisions else ""
        what = f"{name_log(log)}, {plural(one.events, 'event')}{again}"
        well = f"All is well: {what}, head {one.head[:16]}."
        print_filled(well if one.ok else f"Problems were found: {what}:", 2)
        for problem in one.problems:
            print_filled(f"  {problem}", 4)
        for note in one.notes:
            print_filled(f"  Note: {note}.", 4)
    if not found.logs and found.ok:
        print("There is no study yet.")
