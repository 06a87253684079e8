"""Where an answer goes: to the screen, as one JSON object, into tables and pictures."""

import argparse
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grbp._io import check_writable, table_text, write_table, write_whole
from grbp.cli.options import add_json
from grbp.cli.printing import print_json
from grbp.errors import InvalidInput
from grbp.experiments.tables import COLUMNS, Row
from grbp.figures.canvas import check_matplotlib, picture_files

_LOG: Final = logging.getLogger("grbp")


def add_outputs(parser: argparse.ArgumentParser, table: str, picture: str) -> None:
    """Add the options for where the answer goes, each with a line on what is written."""
    add_json(parser)
    parser.add_argument("--csv", metavar="FILE", help=f"{table} (- is standard output)")
    parser.add_argument("--plot", metavar="FILE", help=f"{picture}; .png, .svg or .pdf for one")


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the option for a page."""
    parser.add_argument("--report", metavar="FILE", help="write a page that explains itself (HTML)")


def check_file(option: str, file: str) -> None:
    """Refuse a file that cannot be written, before the work; what is not a table has no "-"."""
    if file == "-":
        raise InvalidInput(f"{option} - was given; it must name a file")
    check_writable(Path(file))


def check_report(options: argparse.Namespace) -> None:
    """Refuse a page that cannot be written or drawn, before the work."""
    if options.report is not None:
        check_file("--report", options.report)
        check_matplotlib()


def write_report(options: argparse.Namespace, page: Callable[[], str]) -> None:
    """Write the page, if one was asked for."""
    if options.report is not None:
        _LOG.info("wrote %s", write_whole(Path(options.report), page().encode()))


def check_outputs(
    options: argparse.Namespace, pictures: Callable[[Path], Iterable[Path]] = lambda path: [path]
) -> None:
    """Refuse what cannot be written, before the work; `pictures` says into what a path is drawn."""
    if options.csv == "-" and options.json:
        raise InvalidInput("--csv - and --json were given; only one can be on standard output")
    if options.csv not in (None, "-"):
        check_writable(Path(options.csv))
    check_plot(options.plot, pictures)


def check_plot(
    plot: str | None, pictures: Callable[[Path], Iterable[Path]] = lambda path: [path]
) -> None:
    """Refuse a picture that cannot be written or drawn, before the work."""
    if plot is not None:
        for path in pictures(Path(plot)):
            for file in picture_files(path).values():
                check_writable(file)
        check_matplotlib()


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
    name_file: Callable[[object], None] = (
        (lambda path: _LOG.info("wrote %s", path)) if printed else print
    )
    try:
        if options.csv not in (None, "-"):
            name_file(write_table(Path(options.csv), columns, rows))
        if options.plot is not None:
            for path in draw(Path(options.plot)):
                name_file(path)
    except Exception:
        if not printed:
            show()
        raise
    if not printed and options.csv is None and options.plot is None:
        show()
