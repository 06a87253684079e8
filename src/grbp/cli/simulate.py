"""The command `simulate`: the regret of learners on one problem."""

import argparse
import math
from pathlib import Path
from typing import Final

import grbp
from grbp._io import write_table
from grbp.cli.options import (
    add_json,
    add_problem,
    add_threads,
    check_one_output,
    problem_of,
    whole,
    wholes,
)
from grbp.cli.printing import print_json, table, title
from grbp.cli.progress import progress_bar
from grbp.experiments.results import COLUMNS, curve_rows

_SHOWN_CHECKPOINTS: Final = 5
"""Checkpoints shown to a person; --json and --csv have them all."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_problem(parser)
    parser.add_argument(
        "--learner", action="append", help=f"repeat for several ({grbp.DEFAULT_LEARNER})"
    )
    parser.add_argument("--rounds", required=True, help="rounds in a replica")
    parser.add_argument("--replicas", required=True, help="independent repetitions")
    parser.add_argument("--seed", required=True, help="a whole number; same seed, same result")
    parser.add_argument("--at", help="rounds to look at: 10,100,1000 (about 100 of them)")
    parser.add_argument(
        "--regret", default="pseudo", choices=["pseudo", "realised", "by-start"], help="(pseudo)"
    )
    parser.add_argument(
        "--opening", default="drawn", choices=["drawn", "once"], help="first estimates (drawn)"
    )
    parser.add_argument(
        "--engine", default="auto", choices=["auto", "walk", "leap"],
        help="take every step, or leap over them with the same law (auto: the faster one)",
    )  # fmt: skip
    add_threads(parser)
    add_json(parser)
    parser.add_argument("--csv", metavar="FILE", help="write the curves as a table")
    parser.add_argument("--plot", metavar="FILE", help="draw the curves, as PNG and SVG")


def run(options: argparse.Namespace) -> None:
    """Simulate learners and show their regret."""
    check_one_output(options, "json", "csv", "plot")
    problem = problem_of(options)
    with progress_bar() as progress:
        result = grbp.simulate(
            problem,
            options.learner or [grbp.DEFAULT_LEARNER],
            whole(options.rounds),
            whole(options.replicas),
            whole(options.seed),
            checkpoints=wholes(options.at),
            regret=options.regret,
            opening=options.opening,
            engine=options.engine,
            threads=whole(options.threads),
            progress=progress,
        )
    if options.json:
        print_json(_as_json(result))
    elif options.csv:
        print(write_table(Path(options.csv), COLUMNS, curve_rows(result)))
    elif options.plot:
        print(*grbp.save_simulation(result, Path(options.plot)), sep="\n")
    else:
        _show(result)


def _as_json(result: grbp.Simulation) -> dict[str, object]:
    return {
        "problem": result.problem.__getstate__(),
        "rounds": result.rounds,
        "checkpoints": result.checkpoints.tolist(),
        "replicas": result.replicas,
        "seed": result.seed,
        "regret": result.kind,
        "engines": result.engines,
        "learners": {
            name: {
                "mean": curve.mean.tolist(),
                "se": curve.se.tolist(),
                "sd": curve.sd,
                "threshold_share": {str(k): share for k, share in curve.threshold_share.items()},
            }
            | ({} if curve.by_start is None else {"by_start": curve.by_start.tolist()})
            for name, curve in result.curves.items()
        },
    }


def _show(result: grbp.Simulation) -> None:
    title(result.problem)
    print(f"{result.replicas:,} replicas of {result.rounds:,} rounds, seed {result.seed}")
    print("Mean regret after a number of rounds, and its standard error at the last\n")
    last = len(result.checkpoints) - 1
    step = max(1, math.ceil(last / _SHOWN_CHECKPOINTS))
    shown = list(range(last, -1, -step))[_SHOWN_CHECKPOINTS - 1 :: -1]
    rows = [
        [name, *(float(curve.mean[k]) for k in shown), float(curve.se[-1])]
        for name, curve in sorted(result.curves.items(), key=lambda item: item[1].mean[-1])
    ]
    names = [f"{int(result.checkpoints[k]):,}" for k in shown]
    table(["learner", *names, "+-"], rows, first=20, width=9, digits=4)
