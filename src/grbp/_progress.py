"""Progress on standard error for whatever takes longer than a moment."""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Final, TextIO, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""A function that is called with (what runs, replicas done, replicas in all)."""

ProgressLike: TypeAlias = Progress | bool | None
"""Such a function; True for a bar, and False or None for nothing."""

_PATIENCE: Final = 1.0
"""Seconds before anything is shown."""


class ProgressBar:
    """A bar on a terminal and in a notebook; elsewhere a line when something long is done.

    It is called as `simulate`, `run` and `sweep` call their argument `progress`. A learner
    may be compiled before its first replicas are done, so that the time up to its first report
    does not count in the estimate of the time left; `estimate` says whether there is one. A quiet
    one shows nothing, and a verbose one writes a line on whatever is done.
    """

    def __init__(
        self, *, quiet: bool = False, verbose: bool = False, estimate: bool = True
    ) -> None:
        self._quiet, self._verbose = quiet, verbose
        self._left = " {remaining} left" if estimate else ""
        self._name, self.done, self.total = "", 0, 0
        self._began, self._may_compile = 0.0, False
        self._bar: Any = None  # tqdm does not say its types

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show how much is done, and how much there is in all."""
        if self._quiet:
            self.done, self.total = done, total
            return
        if self.done == self.total or total != self.total or done < self.done:
            self.close()  # something else has begun
            self._began = time.monotonic()
        seconds = time.monotonic() - self._began
        if self._bar is not None:
            self._advance(name, done)
        elif seconds > _PATIENCE and (bar := _bar_class()) is not None:
            self._bar = bar(
                desc=name, total=total, initial=done, leave=False, smoothing=0.0, miniters=1,
                bar_format="{desc} {percentage:3.0f}%|{bar}|" + self._left, dynamic_ncols=True,
            )  # fmt: skip
        if done == total and (self._verbose or (seconds > _PATIENCE and self._bar is None)):
            whole = name.partition(": ")[0]
            write_line(f"{whole}: done in {seconds:.1f} s", sys.stderr)
        self._may_compile = name != self._name
        self._name, self.done, self.total = name, done, total

    def _advance(self, name: str, done: int) -> None:
        bar = self._bar
        bar.set_description_str(name, refresh=False)
        if self._may_compile:
            bar.unpause()
            bar.initial += done - bar.n
        bar.update(done - bar.n)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def as_progress(given: ProgressLike) -> Progress | None:
    """Return the function that shows progress: for True, a bar that goes away when it is full."""
    if given is not True:
        return given or None
    bar = ProgressBar()

    def show(name: str, done: int, total: int) -> None:
        bar(name, done, total)
        if done == total:
            bar.close()

    return show


def write_line(line: str, stream: TextIO) -> None:
    """Write a line without disturbing a bar."""
    from tqdm import tqdm  # noqa: PLC0415 (loaded only when something is shown)

    with tqdm.external_write_mode(file=stream):
        print(line, file=stream, flush=True)


def _bar_class() -> Any:
    """Return tqdm's bar; None where no bar can be shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Without widgets, a notebook shows a bar of letters.
        from tqdm import auto, std  # noqa: PLC0415 (slow to import)

    in_notebook = auto.notebook_tqdm is not std.tqdm or "ipykernel" in sys.modules
    return auto.tqdm if in_notebook or sys.stderr.isatty() else None
