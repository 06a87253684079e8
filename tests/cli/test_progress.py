"""Progress: a bar on a terminal, which nothing overprints, and plain lines elsewhere."""

import io
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from tqdm import std

from grbp._progress import as_progress
from grbp.cli.progress import progress_bar, write_line

LOUD = Namespace(quiet=False, verbose=False)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("grbp._progress.time.monotonic", lambda: self.now)
        # tqdm keeps its own reference to the clock.
        monkeypatch.setattr(std, "time", lambda: self.now)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    def seen(self) -> list[str]:
        """What is on the screen now, line by line, after all that was overprinted."""
        lines = []
        for line in self.getvalue().split("\n"):
            screen: list[str] = []
            for piece in line.split("\r"):
                screen[: len(piece)] = piece
            lines.append("".join(screen).rstrip())
        return lines


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put both streams on one screen; not as a fixture, for pytest sets them afterwards."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    return screen


def test_a_bar_appears_only_when_it_takes_long_and_goes_away(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_bar(LOUD) as progress:
        for done in range(5):
            progress("getbe-sm", done, 4)
            shown = terminal.seen()[-1]
            assert shown.startswith(f"getbe-sm {25 * done:3}%|" if done > 1 else "")
            assert len(shown) <= 80
            assert bool(shown) == (done > 1)  # more than a second has passed
            clock.now += 0.6
    assert terminal.seen() == [""]


def test_compiling_is_no_work(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_bar(LOUD) as progress:
        progress("figure-3: getbe-sm", 0, 200)
        clock.now += 50.0  # getbe-sm is compiled
        for done in (20, 40, 60, 80, 100):
            progress("figure-3: getbe-sm", done, 200)
            clock.now += 1.0
        assert terminal.seen()[-1].endswith("| 00:05 left")
        progress("figure-3: getbe-ps", 100, 200)
        clock.now += 70.0  # getbe-ps is compiled
        for done in (120, 140):
            progress("figure-3: getbe-ps", done, 200)
            clock.now += 1.0
        shown = terminal.seen()[-1]
        assert shown.startswith("figure-3: getbe-ps  70%|")
        assert shown.endswith("| 00:03 left")


def test_something_else_has_a_bar_of_its_own(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_bar(LOUD) as progress:
        for name in ("getbe-sm", "getbe-ps"):
            for done in (10, 20):
                progress(name, done, 20)
                clock.now += 2.0
            assert terminal.seen()[-1].startswith(f"{name} 100%|")
        progress("one piece", 20, 20)
        assert terminal.seen() == [""]


def test_a_note_does_not_overprint_a_bar(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_bar(LOUD) as progress:
        for done in (0, 1, 2):
            clock.now += 2.0
            progress("getbe-sm", done, 4)
        bar = terminal.seen()[-1]
        assert bar.startswith("getbe-sm  50%|")
        write_line("figure-1.png and figure-1.svg", sys.stdout)
        assert terminal.seen() == ["figure-1.png and figure-1.svg", bar]
        write_line("grbp: note: compiling getbe-ps", sys.stderr)
        assert terminal.seen()[1:] == ["grbp: note: compiling getbe-ps", bar]


def test_elsewhere_a_line_is_written_when_it_is_done(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with progress_bar(LOUD) as progress:
        for seconds, whole in ((0.6, "getbe-sm"), (0.2, "quick"), (1.0, "figure-5: p_f = 0.2")):
            for done in range(5):
                progress(whole, done, 4)
                clock.now += seconds
    assert log.getvalue() == "getbe-sm: done in 2.4 s\nfigure-5: done in 4.0 s\n"


def test_true_is_a_bar_that_goes_when_it_is_full(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = on_terminal(monkeypatch)
    progress = as_progress(True)
    assert progress is not None
    for done in range(5):
        clock.now += 2.0
        progress("getbe-sm", done, 4)
        shown = terminal.seen()[-1]
        assert shown.startswith(f"getbe-sm {25 * done:3}%|" if 0 < done < 4 else "")
    assert terminal.seen() == [""]
    assert as_progress(False) is as_progress(None) is None
    assert as_progress(progress) is progress


def test_an_interruption_says_where_results_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    terminal = on_terminal(monkeypatch)
    for kept_in in (None, tmp_path):
        with pytest.raises(KeyboardInterrupt), progress_bar(LOUD, kept_in):
            raise KeyboardInterrupt
        assert (str(tmp_path) in terminal.getvalue()) == (kept_in is not None)
