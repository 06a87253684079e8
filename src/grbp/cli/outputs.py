"""Where an answer goes: to the screen, as one JSON object, into tables, pictures and pages."""

import argparse
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grbp import _io
from grbp._io import PAGE, PICTURES, Output, table_kind, table_text, write_table, write_whole
from grbp.cli.options import add_common
from grbp.cli.printing import print_json
from grbp.errors import InvalidInput
from grbp.experiments.tables import COLUMNS, Row
from grbp.figures.canvas import check_matplotlib, picture_files

_LOG: Final = logging.getLogger("grbp")


def add_outputs(
    parser: argparse.ArgumentParser, table: str = "", picture: str = "", *, page: bool = False
) -> None:
    """Add the options for where the answer goes, each with a line on what is written."""
    add_common(parser, "json")
    if table:
        parser.add_argument("--csv", metavar="FILE", help=f"{table} (- is standard output)")
    if picture:
        parser.add_argument("--plot", metavar="FILE", help=f"{picture}; .png, .svg or .pdf for one")
    if page:
        line = "write a page that explains itself (HTML)"
        parser.add_argument("--report", metavar="FILE", help=line)
    add_common(parser, "force")


def write_report(options: argparse.Namespace, page: Callable[[], str]) -> None:
    """Write the page, if one was asked for."""
    if options.report is not None:
        _LOG.info("wrote %s", write_whole(Path(options.report), page().encode()))


def check_outputs(
    options: argparse.Namespace,
    inputs: Iterable[str] = (),
    *,
    heads: Iterable[Sequence[str]] = (COLUMNS,),
    pictures: Callable[[Path], Iterable[Path]] = lambda path: [path],
    others: Iterable[Output] = (),
    folder: Path | None = None,
) -> None:
    """Refuse what cannot or may not be written, before the work.

    The heads are those that the table may have, `pictures` says into what a path is drawn, and the
    folder is the one that the command makes.
    """
    csv, plot, report = (getattr(options, name, None) for name in ("csv", "plot", "report"))
    if csv == "-" and options.json:
        raise InvalidInput("--csv - and --json were given; only one can be on standard output")
    outputs = list(others)
    if csv not in (None, "-"):
        outputs.append(Output(Path(csv), table_kind(*heads)))
    if plot is not None:
        outputs += [one for path in pictures(Path(plot)) for one in list_pictures(path)]
    if report is not None:
        outputs.append(Output(name_file("--report", report), PAGE))
    _io.check_outputs(outputs, inputs, folder=folder, force=options.force)
    if plot is not None or report is not None:
        check_matplotlib()


def list_pictures(path: Path) -> list[Output]:
    """Return the files that a picture is written to."""
    return [Output(file, PICTURES[kind]) for kind, file in picture_files(path).items()]


def name_file(option: str, file: str) -> Path:
    """Return the path of a file that cannot go to standard output."""
    if file == "-":
        raise InvalidInput(f"{option} - was given; it must name a file")
    return Path(file)


def write_answer(
    options: argparse.Namespace,
    answer: Mapping[str, object],
    rows: Iterable[Row],
    draw: Callable[[Path], list[Path]],
    show: Callable[[], None],
    columns: Sequence[str] = COLUMNS,
) -> None:
    """Give the answer in every form that was asked for; show it if it cannot be written."""
    printed = options.json or options.csv == "-"
    if options.json:
        print_json(answer)
    if options.csv == "-":
        print(table_text(columns, rows), end="")
    name_path: Callable[[object], None] = (
        (lambda path: _LOG.info("wrote %s", path)) if printed else print
    )
    try:
        if options.csv not in (None, "-"):
            name_path(write_table(Path(options.csv), columns, rows))
        if options.plot is not None:
            for path in draw(Path(options.plot)):
                name_path(path)
    except Exception:
        if not printed:
            show()
        raise
    if not printed and options.csv is None and options.plot is None:
        show()
