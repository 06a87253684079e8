"""Progress of a command, and what an interruption leaves."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grbp._progress import ProgressBar, write_line

__all__ = ["ProgressBar", "progress_bar", "write_line"]


@contextmanager
def progress_bar(
    options: argparse.Namespace, kept_in: Path | None = None, *, estimate: bool = True
) -> Iterator[ProgressBar]:
    """Show progress during a block; if it is interrupted, say where its results are kept."""
    bar = ProgressBar(quiet=options.quiet, verbose=options.verbose, estimate=estimate)
    try:
        yield bar
    except KeyboardInterrupt:
        bar.close()
        if kept_in is not None:
            print(f"\nInterrupted; the results so far are kept in {kept_in}.", file=sys.stderr)
            print("The same command goes on from there.", file=sys.stderr)
        raise
    finally:
        bar.close()
