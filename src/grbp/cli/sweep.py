"""The command `sweep`: learners over many problems, on many processes and machines; a league."""

import argparse
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Final

import grbp
from grbp.cli.league_printing import league_to_dict, print_league, sort_rows
from grbp.cli.options import (
    Option,
    add_common,
    add_given,
    given,
    parse_number,
    refuse_given,
)
from grbp.cli.outputs import add_outputs, check_outputs, write_answer
from grbp.cli.printing import answer, print_paragraph, print_table
from grbp.cli.progress import progress_bar
from grbp.errors import InvalidInput
from grbp.experiments.parts import merge_parts, part_path, sweep_part
from grbp.experiments.sweep import list_results, sweep_path
from grbp.figures.canvas import save
from grbp.figures.league_map import league_paths

_MERGE: Final = "merge"
_OF_LEAGUE: Final = ("--goal", "--step", "--pairs", "--csv")
_OF_FILE: Final = ("--part", "--se", "--device", "--chunk")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.usage = (
        "grbp sweep SPEC.toml [options]\n       grbp sweep merge SPEC.toml [PART ...] [options]"
        "\n       grbp sweep --league [options]"
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help="what to play, as TOML; after 'merge', also the files of parts",
    )  # fmt: skip
    parser.add_argument(
        "--league", action="store_true", help="instead of a file: every learner on many problems"
    )
    add_common(parser, "out", default="results")
    add_given(parser.add_mutually_exclusive_group(), grbp.sweep, "threads", "processes", "dask")
    words = "in place of what the file says; in brackets, what holds for a league without them"
    both = parser.add_argument_group("for a file and a league", words)
    learners = "who plays; repeat for several (all but the oracle)"
    add_given(both, grbp.league_spec, learners=learners)
    add_given(both, grbp.league_spec, "rounds", "replicas", "seed")
    league = parser.add_argument_group("for a league")
    step = Option("p_c and p_f are its multiples", parse_number, "P")
    add_given(league, grbp.league_spec, "goals", step=step)
    league.add_argument("--pairs", action="store_true", help="list every two learners as well")
    file = parser.add_argument_group("for a file")
    file.add_argument("--part", metavar="I/N", help="play part I of N, to be merged later")
    precise = Option("double replicas until standard errors are X", parse_number, "X")
    add_given(file, grbp.SweepSpec, se=precise)
    add_given(
        file, grbp.sweep,
        device="where rounds are played",
        chunk=Option("seconds that a task takes; more for large clusters", parse_number, "SECONDS"),
    )  # fmt: skip
    picture = "draw who wins where, or a sweep over one grid, as PNG and SVG"
    add_outputs(parser, "write every cell of a league as a table", picture)


def run(options: argparse.Namespace) -> None:
    """Play a sweep or a part of it, put parts together, or play a league."""
    if options.league:
        refuse_given(options, _OF_FILE, "it is for the sweep of a file, not for a league")
        if options.files:
            raise InvalidInput(f"{options.files[0]} was given with --league; give one of the two")
        _play_league(options)
    else:
        refuse_given(options, _OF_LEAGUE, "it needs --league")
        _play_file(options)


def _play_league(options: argparse.Namespace) -> None:
    """Play a league and show its tables."""
    spec, folder = grbp.league_spec(**given(options, grbp.league_spec)), Path(options.out)
    check_outputs(
        options, pictures=lambda path: league_paths(spec.goals, path).values(), folder=folder
    )
    asked = given(options, ("threads", "processes", "dask"))
    with progress_bar(options, folder / "data") as progress:
        result = grbp.experiments.run(spec, folder / "data", progress, **asked)
    write_answer(
        options,
        league_to_dict(result),
        sort_rows(result),
        lambda path: grbp.save_league(result, path),
        lambda: print_league(result, pairs=options.pairs),
    )


def _play_file(options: argparse.Namespace) -> None:
    """Play what a file says, or a part of that, or put parts together."""
    merging, (file, *parts) = _MERGE in options.files[:1], _check_files(options.files)
    spec = grbp.SweepSpec.read(Path(file), **given(options, grbp.SweepSpec))
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
    asked = given(options, grbp.sweep)
    with progress_bar(options, path, estimate=False) as progress:
        if part is None:
            result = grbp.sweep(spec, folder, **asked, progress=progress)
        else:
            sweep_part(spec, part, folder, **asked, progress=progress)
    if part is None:
        _write_answer(options, result, folder)
        return
    merge = re.sub(r" --part[ =]\S+", "", options.command).replace(
        " sweep ", f" sweep {_MERGE} ", 1
    )
    then = f"When all {part[1]:,} parts are there:\n  {merge}"
    told = {"part": list(part), "file": str(path)}
    answer(options, told, lambda: print(path, then, sep="\n"))


def _check_files(given: list[str]) -> list[str]:
    """Return the specification, and the files of parts where parts are merged."""
    merging = _MERGE in given[:1]
    files = given[1:] if merging else given
    if not files:
        what = "merge was given without a file" if merging else "no file was given"
        ending = "" if merging else ", or play a league by --league"
        raise InvalidInput(f"{what}; name the TOML file of the sweep{ending}")
    if not merging and len(files) > 1:
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
    """Print a result and the names of its files, and draw it if that is asked."""
    if not options.json:
        _print_sweep(result)
        print()
    files = [folder / f"{result.spec.name}.{kind}" for kind in ("csv", "json", "sweep")]
    if options.plot is not None:
        files += save(result.plot(), Path(options.plot))
    answer(options, result.as_json, lambda: print(*files, sep="\n"))


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
        at = result.name_at(one.worst_at) or at
        rows.append([one.learner, one.mean, one.half, one.worst, at])
    at = "at p_c, p_f" if len(spec.goals) == 1 else "G: p_c, p_f"
    print_table(["learner", "mean", "+-", "worst", at], rows, first=18, width=15, digits=4)
    print("\n+- is half a 95 % interval.")
    _print_named(result)
    print(f"digest {result.digest}")
    if result.imprecise:
        print_paragraph(
            f"{len(result.imprecise):,} cells stopped at {spec.cap:,} replicas with a standard"
            f" error above {spec.se:g}; most_replicas in the file allows more."
        )


def _print_named(result: grbp.SweepResult) -> None:
    """Print the regret of every learner on every problem that has a name."""
    names, lost = result.spec.world_names, defaultdict(list)
    for one in result.cells:
        lost[str(one.cell.learner), names.get(one.cell.problem)].append(one.mean[-1])
    if names:
        head = [*dict.fromkeys(names.values())]
        learners = [one.learner for one in result.table().standings]
        rows = [[who, *(fmean(lost[who, name]) for name in head)] for who in learners]
        print("\nThe same on each problem, by its name\n")
        print_table(
            ["learner", *head], rows, first=18, width=max(12, 2 + max(map(len, head))), digits=4
        )
        print()
