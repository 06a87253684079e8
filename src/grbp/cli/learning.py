"""Commands about learners: learners, simulate."""

import argparse
import csv
import io
import math
from pathlib import Path

import grbp
from grbp._io import write_whole
from grbp.cli.options import problem_of, whole
from grbp.cli.printing import print_json, table, title
from grbp.cli.progress import bar
from grbp.errors import InvalidInput

_SHOWN_LOOKS = 6
"""Rounds shown to a person; --json and --csv have them all."""


def learners(options: argparse.Namespace) -> None:
    """Lists every learner with one line and its reference."""
    any_problem = grbp.Problem(4, 0.5, 0.5)
    listed = [grbp.find_learner(name, any_problem) for name in grbp.LEARNERS]
    if options.json:
        named = ("name", "summary", "reference")
        print_json({"learners": [{key: getattr(one, key) for key in named} for one in listed]})
        return
    for learner in listed:
        print(f"{learner.name:<20} {learner.summary}")
        for constant in grbp.learner_constants(learner):
            print(f"{'':<20} :{constant}=NUMBER changes {constant}")
        if learner.reference:
            print(f"{'':<20} {learner.reference}")
    print(f"{'threshold-0, ...':<20} that threshold for ever")


def simulate(options: argparse.Namespace) -> None:
    """Simulates learners on one problem and shows their regret."""
    outputs = [name for name in ("json", "csv", "plot") if getattr(options, name)]
    if len(outputs) > 1:
        raise InvalidInput(f"--{outputs[0]} and --{outputs[1]} were given; there must be one")
    problem = problem_of(options)
    at = None if options.at is None else [whole(part) for part in options.at.split(",")]
    threads = None if options.threads is None else whole(options.threads)
    with bar() as progress:
        result = grbp.simulate(
            problem,
            options.learner or [grbp.DEFAULT_LEARNER],
            whole(options.rounds),
            whole(options.replicas),
            whole(options.seed),
            checkpoints=at,
            regret=options.regret,
            opening=options.opening,
            engine=options.engine,
            threads=threads,
            progress=progress,
        )
    if options.json:
        print_json(_as_json(result))
    elif options.csv:
        write_whole(Path(options.csv), _as_csv(result).encode())
        print(options.csv)
    elif options.plot:
        print(*grbp.save_simulation(result, Path(options.plot)), sep="\n")
    else:
        _show(result)


def _as_json(result: grbp.Simulation) -> dict[str, object]:
    problem = result.problem
    return {
        "problem": {
            "goal": problem.goal,
            "p_c": problem.p_c,
            "p_f": problem.p_f,
            "start": problem.canonical_start,
        },
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


def _as_csv(result: grbp.Simulation) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["learner", "round", "mean", "se"])
    for name, curve in result.curves.items():
        for look, mean, se in zip(
            result.checkpoints.tolist(), curve.mean.tolist(), curve.se.tolist(), strict=True
        ):
            rows.writerow([name, look, repr(mean), repr(se)])
    return text.getvalue()


def _show(result: grbp.Simulation) -> None:
    title(result.problem)
    print(f"{result.replicas:,} replicas of {result.rounds:,} rounds, seed {result.seed}")
    print("Mean regret after a number of rounds, and its standard error at the last\n")
    last = len(result.checkpoints) - 1
    step = max(1, math.ceil(last / (_SHOWN_LOOKS - 1)))
    looks = sorted({last, *range(last, -1, -step)})[-_SHOWN_LOOKS + 1 :]
    names = [f"{int(result.checkpoints[k]):,}" for k in looks]
    rows = [
        [name, *(float(curve.mean[k]) for k in looks), float(curve.se[-1])]
        for name, curve in sorted(result.curves.items(), key=lambda item: item[1].mean[-1])
    ]
    table(["learner", *names, "+-"], rows, first=20, width=9, digits=4)
