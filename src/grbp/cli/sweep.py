"""The command `sweep`: learners over many problems, on many processes and machines."""

import argparse
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import cpu_count
from pathlib import Path
from typing import Any, Final

import grbp
from grbp.cli.options import add_folder, add_json, add_workers, loudness, number, whole
from grbp.cli.outputs import check_plot
from grbp.cli.printing import paragraph, print_json, table
from grbp.cli.progress import ProgressBar
from grbp.errors import InvalidInput
from grbp.experiments.sweeps.driver import CHUNK_SECONDS
from grbp.experiments.sweeps.parts import merge_parts, part_path, sweep_part
from grbp.figures.canvas import save

_MERGE: Final = "merge"

_CHUNK: Final = f"{CHUNK_SECONDS:g}"

_WHO: Final = {
    "processes": None, "dask": None, "part": None, "device": "cpu", "se": None, "chunk": _CHUNK,
    "plot": None,
}  # fmt: skip
"""The options that a command that goes on repeats, with what they are if nobody gives them."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.usage = (
        "grbp sweep SPEC.toml [options]\n       grbp sweep merge SPEC.toml [PART ...] [options]"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="what to play, as TOML; after 'merge', also the files of parts",
    )  # fmt: skip
    add_folder(parser)
    add_workers(parser.add_mutually_exclusive_group(), "as many as cores")
    parser.add_argument("--part", metavar="I/N", help="play part I of N, to be merged later")
    parser.add_argument(
        "--device", default="cpu", choices=["cpu", "cuda"], help="where rounds are played (cpu)"
    )
    parser.add_argument("--se", metavar="X", help="double replicas until standard errors are X")
    parser.add_argument(
        "--chunk", metavar="SECONDS", default=_CHUNK,
        help=f"seconds that a task takes ({_CHUNK}); more for large clusters",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--plot", metavar="FILE",
        help="draw a sweep over one grid, as PNG and SVG; .png, .svg or .pdf for one",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Play a sweep or a part of it, or put parts together."""
    merging, (file, *parts) = options.files[0] == _MERGE, _files(options.files)
    changes = {} if options.se is None else {"se": number(options.se)}
    spec = grbp.SweepSpec.read(Path(file), **changes)
    folder = Path(options.out)
    check_plot(options.plot)
    if merging:
        _give(options, merge_parts(spec, folder, parts), folder)
        return
    asked = _who(options) | {"device": options.device, "chunk": number(options.chunk)}
    kept_in = folder / f"{spec.name}.sweep"
    if options.part is not None:
        part = _part(options.part)
        kept_in = part_path(folder, spec, part)
    with _progress(options, kept_in) as bar:
        if options.part is None:
            result = grbp.sweep(spec, folder, progress=bar, **asked)
        else:
            path = sweep_part(spec, part, folder, progress=bar, **asked)
    if options.part is None:
        _give(options, result, folder)
    elif options.json:
        print_json({"part": list(part), "file": str(path)})
    else:
        print(path)
        print(f"When all {part[1]:,} parts are there:")
        print(f"  {shlex.join(['grbp', 'sweep', _MERGE, file, '--out', options.out])}")


def _files(given: list[str]) -> list[str]:
    """Return the specification, and the files of parts where parts are merged."""
    files = given[1:] if given[0] == _MERGE else given
    if not files:
        raise InvalidInput("merge was given without a file; name the TOML file of the sweep")
    if given[0] != _MERGE and len(files) > 1:
        raise InvalidInput(
            f"{len(files)} files were given; name one TOML file (grbp sweep merge takes several)"
        )
    return files


def _who(options: argparse.Namespace) -> dict[str, Any]:
    """Return who plays: a cluster, or processes of this machine."""
    if options.dask is not None:
        return {"dask": options.dask}
    if options.device != "cpu":
        return {}
    return {"processes": cpu_count() if options.processes is None else whole(options.processes)}


def _part(text: str) -> tuple[int, int]:
    """Read a part: 3/10."""
    if not re.fullmatch("[0-9]{1,9}/[0-9]{1,9}", text):
        raise InvalidInput(f"--part {text} was given; it must be I/N, such as 3/10")
    index, _, count = text.partition("/")
    return int(index), int(count)


@contextmanager
def _progress(options: argparse.Namespace, kept_in: Path) -> Iterator[ProgressBar]:
    """Show progress during a block; if it is interrupted, say what is kept and how to go on."""
    bar = ProgressBar(estimate=False, **loudness(options))
    try:
        yield bar
    except KeyboardInterrupt:
        bar.close()
        print(
            f"\nInterrupted; {bar.done:,} of {bar.total:,} replicas are kept in {kept_in}.",
            file=sys.stderr,
        )
        print(f"To go on: {_command(options)}", file=sys.stderr)
        raise
    finally:
        bar.close()


def _command(options: argparse.Namespace) -> str:
    """Return the command that was given."""
    words = ["grbp", "sweep", *options.files, "--out", options.out]
    for name, usual in _WHO.items():
        value = getattr(options, name)
        words += [] if value == usual else [f"--{name}", value]
    return shlex.join(words)


def _give(options: argparse.Namespace, result: grbp.SweepResult, folder: Path) -> None:
    """Print a result."""
    if options.json:
        print_json(result.as_json())
    else:
        _show(result)
        print()
    files = [folder / f"{result.spec.name}.{kind}" for kind in ("csv", "json", "sweep")]
    if options.plot is not None:
        files += save(result.plot(), Path(options.plot))
    if not options.json:
        print(*files, sep="\n")


def _show(result: grbp.SweepResult) -> None:
    spec = result.spec
    problems, last = len(spec), spec.checkpoints[-1]
    replicas = sorted({one.replicas for one in result.cells})
    many = " to ".join(f"{count:,}" for count in dict.fromkeys((replicas[0], replicas[-1])))
    print(f"{problems:,} problems, {many} replicas of {last:,} rounds, seed {spec.seed}")
    print(f"Regret after {last:,} rounds, over all problems\n")
    rows = []
    for one in result.table().standings:
        goal, p_c, p_f = one.worst_at
        at = f"{p_c:.3g}, {p_f:.3g}" if len(spec.goals) == 1 else f"{goal}: {p_c:.2g}, {p_f:.2g}"
        rows.append([one.learner, one.mean, one.half, one.worst, at])
    at = "at p_c, p_f" if len(spec.goals) == 1 else "G: p_c, p_f"
    table(["learner", "mean", "+-", "worst", at], rows, first=18, width=15, digits=4)
    print("\n+- is half a 95 % interval.")
    print(f"digest {result.digest}")
    if result.imprecise:
        paragraph(
            f"{len(result.imprecise):,} cells stopped at {spec.cap:,} replicas with a standard"
            f" error above {spec.se:g}; most_replicas in the file allows more."
        )
