"""The command `sweep`: learners over many problems, on many processes and machines."""

import argparse
import re
import shlex
from pathlib import Path
from typing import Final

import grbp
from grbp.cli.options import (
    add_folder,
    add_json,
    add_workers,
    parse_number,
    parse_verbosity,
    parse_whole,
)
from grbp.cli.outputs import add_plot, check_outputs
from grbp.cli.printing import print_json, print_paragraph, print_table
from grbp.cli.progress import progress_bar
from grbp.errors import InvalidInput
from grbp.experiments.parts import merge_parts, part_path, sweep_part
from grbp.experiments.sweep import CHUNK_SECONDS, list_results, sweep_path
from grbp.figures.canvas import save

_MERGE: Final = "merge"

_CHUNK: Final = f"{CHUNK_SECONDS:g}"


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
    add_workers(parser.add_mutually_exclusive_group())
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
    add_plot(parser, "draw a sweep over one grid, as PNG and SVG")


def run(options: argparse.Namespace) -> None:
    """Play a sweep or a part of it, or put parts together."""
    merging, (file, *parts) = options.files[0] == _MERGE, _check_files(options.files)
    changes = {} if options.se is None else {"se": parse_number(options.se)}
    spec = grbp.SweepSpec.read(Path(file), **changes)
    folder = Path(options.out)
    check_outputs(
        options,
        [file, *parts],
        others=[] if options.part else list_results(folder, spec),
        folder=folder,
    )
    if merging:
        _write_answer(options, merge_parts(spec, folder, parts), folder)
        return
    part = None if options.part is None else _read_part(options.part)
    path = sweep_path(folder, spec) if part is None else part_path(folder, spec, part)
    with progress_bar(path, estimate=False, **parse_verbosity(options)) as progress:
        asked = {
            "threads": parse_whole(options.threads),
            "processes": parse_whole(options.processes),
            "dask": options.dask,
            "device": options.device,
            "chunk": parse_number(options.chunk),
            "progress": progress,
        }
        if part is None:
            result = grbp.sweep(spec, folder, **asked)
        else:
            sweep_part(spec, part, folder, **asked)
    if part is None:
        _write_answer(options, result, folder)
    elif options.json:
        print_json({"part": list(part), "file": str(path)})
    else:
        print(path)
        print(f"When all {part[1]:,} parts are there:")
        print(f"  {shlex.join(['grbp', 'sweep', _MERGE, file, '--out', options.out])}")


def _check_files(given: list[str]) -> list[str]:
    """Return the specification, and the files of parts where parts are merged."""
    files = given[1:] if given[0] == _MERGE else given
    if not files:
        raise InvalidInput("merge was given without a file; name the TOML file of the sweep")
    if given[0] != _MERGE and len(files) > 1:
        raise InvalidInput(
            f"{len(files)} files were given; name one TOML file (grbp sweep merge takes several)"
        )
    return files


def _read_part(text: str) -> tuple[int, int]:
    """Read a part: 3/10."""
    if not re.fullmatch("[0-9]{1,9}/[0-9]{1,9}", text):
        raise InvalidInput(f"--part {text} was given; it must be I/N, such as 3/10")
    index, _, count = text.partition("/")
    return int(index), int(count)


def _write_answer(options: argparse.Namespace, result: grbp.SweepResult, folder: Path) -> None:
    """Print a result."""
    if options.json:
        print_json(result.as_json())
    else:
        _print_sweep(result)
        print()
    files = [folder / f"{result.spec.name}.{kind}" for kind in ("csv", "json", "sweep")]
    if options.plot is not None:
        files += save(result.plot(), Path(options.plot))
    if not options.json:
        print(*files, sep="\n")


def _print_sweep(result: grbp.SweepResult) -> None:
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
    print_table(["learner", "mean", "+-", "worst", at], rows, first=18, width=15, digits=4)
    print("\n+- is half a 95 % interval.")
    print(f"digest {result.digest}")
    if result.imprecise:
        print_paragraph(
            f"{len(result.imprecise):,} cells stopped at {spec.cap:,} replicas with a standard"
            f" error above {spec.se:g}; most_replicas in the file allows more."
        )
