"""Commands that draw: figure, reproduce."""

import argparse
import time
from pathlib import Path

import grbp
from grbp.cli.options import whole
from grbp.cli.progress import Bar, bar


def figure(options: argparse.Namespace) -> None:
    """Draws one figure of the paper."""
    number = int(options.number)
    goals = [] if options.goal is None else [whole(part) for part in options.goal.split(",")]
    folder = Path(options.out)
    with bar() as progress:
        picture = grbp.paper_figure(number, goals, folder=folder / "data", progress=progress)
    for path in grbp.save_figure(picture, folder, number):
        print(path)


def reproduce(options: argparse.Namespace) -> None:
    """Makes every figure of the paper, the tables and the report, and prints the verdicts."""
    folder = Path(options.out)
    began = time.monotonic()
    try:
        with bar() as progress:
            found = grbp.reproduce(
                folder,
                printed=options.as_printed,
                progress=progress,
                say=lambda line: _say(progress, line),
            )
    except KeyboardInterrupt:
        print(f"\nInterrupted; what was measured is kept in {folder / 'data'}.")
        print("The same command goes on from there.")
        raise
    print("\nWhat the paper claims, and what was measured:")
    print(*grbp.short_lines(found), sep="\n")
    print(f"\nDone in {time.monotonic() - began:.0f} s; open {folder / 'report.html'}.")


def _say(progress: Bar, line: str) -> None:
    progress.clear()
    print(line, flush=True)
