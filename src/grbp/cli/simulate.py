"""The command `simulate`: the regret of learners on one problem."""

import argparse
import logging
import math
from pathlib import Path
from typing import Final, cast

import grbp
from grbp._io import Output, table_kind
from grbp.cli.options import Option, add_given, given, parse_wholes
from grbp.cli.outputs import add_outputs, check_outputs, name_file, write_answer
from grbp.cli.printing import (
    choose_states,
    format_power,
    print_paragraph,
    print_problem,
    print_table,
)
from grbp.cli.progress import progress_bar
from grbp.cli.truths import add_drift, add_truth, parse_truth
from grbp.errors import InvalidInput
from grbp.experiments.step_log import LOG_COLUMNS, step_blocks
from grbp.worlds.step_table import write_steps
from grbp.worlds.world import World

_SHOWN_CHECKPOINTS: Final = 5
"""Checkpoints shown to a person who did not ask for any; --json and --csv have them all."""

_NAME, _CELL = 20, 9
"""The widths of the columns of the table."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_truth(parser)
    add_drift(parser)
    add_given(parser, grbp.simulate, "learners", "rounds", "replicas", "seed", "threads")
    rounds = "rounds to look at: 10,100,1e3 (about 100, five shown)"
    add_given(
        parser, grbp.simulate, checkpoints=Option(rounds, parse_wholes, "N,...", "--at"),
        regret="the mean loss of what was played, what was lost, or the first by state",
        initial_estimates="first estimates: drawn at random, or from taking each action once",
        engine="with the same law: walk takes every step, leap goes over many, draw plays each"
        " round whole, as a GPU does; auto is walk or leap, the faster one",
        splitting="look for rare replicas that carry the mean",
        horizon="tell learners the number of rounds, if they ask",
        pooled="count all groups of a chain's file as one",
    )  # fmt: skip
    parser.add_argument(
        "--steps", metavar="FILE", help="write every step as a table of cases (takes every step)"
    )
    add_outputs(parser, "write the curves as a table", "draw the curves, as PNG and SVG")


def run(options: argparse.Namespace) -> None:
    """Simulate learners and show their regret."""
    problem = parse_truth(options)
    if options.steps is not None:
        _check_steps(options, problem)
        options.engine = "walk"
    check_outputs(options, others=_list_steps(options))
    asked = given(options, grbp.simulate)
    with progress_bar(options) as progress:
        result = grbp.simulate(problem, **asked, progress=progress)
    for name, engine in result.engines.items():
        logging.getLogger("grbp").debug("%s was played by the engine '%s'", name, engine)
    if options.steps is not None:
        _write_steps(result, options)
    write_answer(
        options,
        _as_json(result),
        result.rows(),
        lambda path: grbp.save_simulation(result, path),
        lambda: _print_simulation(result, "checkpoints" in asked),
    )


def _check_steps(options: argparse.Namespace, problem: World) -> None:
    """Refuse what steps cannot be written of."""
    if problem.paper is None:
        raise InvalidInput(
            f"--steps and a {type(problem).__name__} were given; steps are written of a problem"
            " with one p_c and one p_f"
        )
    if options.engine in {"leap", "draw"} or options.splitting:
        what = "--splitting" if options.splitting else f"--engine {options.engine}"
        raise InvalidInput(
            f"--steps and {what} were given; steps are written of replicas that take every step,"
            " so leave one of the two out"
        )


def _list_steps(options: argparse.Namespace) -> list[Output]:
    """Return the file of the steps, if one is asked for."""
    if options.steps is None:
        return []
    return [Output(name_file("--steps", options.steps), table_kind(LOG_COLUMNS))]


def _write_steps(result: grbp.Simulation, options: argparse.Namespace) -> None:
    """Write the steps of the rounds that were simulated."""
    problem = cast("grbp.Problem", result.problem)
    size = {"rounds": result.rounds, "replicas": result.replicas, "seed": result.seed}
    asked = {"learners": [grbp.DEFAULT_LEARNER]} | given(options, step_blocks) | size
    blocks = step_blocks(problem, **asked)
    logging.getLogger("grbp").info("wrote %s", write_steps(Path(options.steps), blocks))


def _as_json(result: grbp.Simulation) -> dict[str, object]:
    return {
        "problem": result.problem.to_plain(),
        "rounds": result.rounds,
        "checkpoints": result.checkpoints.tolist(),
        "replicas": result.replicas,
        "seed": result.seed,
        "regret": result.kind,
        "engines": result.engines,
        "splitting": _is_split(result),
        "learners": {
            name: {
                "mean": curve.mean.tolist(),
                "se": curve.se.tolist(),
                "sd": curve.sd,
                "covered": curve.covered,
                "threshold_share": {str(k): share for k, share in curve.threshold_share.items()},
            }
            | ({} if curve.by_start is None else {"by_start": curve.by_start.tolist()})
            for name, curve in result.curves.items()
        },
    }


def _is_split(result: grbp.Simulation) -> bool:
    return any(curve.weights is not None for curve in result.curves.values())


def _print_simulation(result: grbp.Simulation, asked: bool) -> None:
    """Print the regret at the checkpoints that were asked for, or at a few, the smallest first."""
    print_problem(result.problem)
    replicas = "1 replica" if result.replicas == 1 else f"{result.replicas:,} replicas"
    how = ", by splitting" if _is_split(result) else ""
    print(f"{replicas} of {result.rounds:,} rounds, seed {result.seed}{how}")
    print("Mean regret after a number of rounds, and its standard error at the last\n")
    last = len(result.checkpoints) - 1
    step = 1 if asked else max(1, math.ceil(last / _SHOWN_CHECKPOINTS))
    shown = list(range(last, -1, -step))[::-1][0 if asked else -_SHOWN_CHECKPOINTS :]
    curves = sorted(result.curves.items(), key=lambda item: item[1].mean[-1])
    names = [_round_name(int(result.checkpoints[k]), asked) for k in shown]
    rows = [[name, *curve.mean[shown].tolist(), float(curve.se[-1])] for name, curve in curves]
    width = max(_CELL, 2 + max(map(len, names)))
    print_table(["learner", *names, "+-"], rows, first=_NAME, width=width, digits=4)
    belied = [name for name, curve in curves if not curve.covered]
    if belied and result.replicas > 1:
        print()
        more = (
            "A few replicas carry the mean; more --replicas would make it sure."
            if _is_split(result)
            else "Stuck replicas, too rare to be seen here, could add more than the mean itself"
            " (see --splitting)."
        )
        print_paragraph(f"Not covered by the standard error: {', '.join(belied)}. {more}")
    if result.kind == "by-start":
        states = choose_states(result.problem.goal)
        print(f"\nOf that after {result.rounds:,} rounds, by the state in which rounds began\n")
        parts = [
            [name, *(float(curve.by_start[-1, state - 1]) for state in states)]
            for name, curve in curves
            if curve.by_start is not None
        ]
        width = max(_CELL, 2 + len(f"{states[-1]:,}"))
        head = [f"{state:,}" for state in states]
        print_table(["first state", *head], parts, first=_NAME, width=width, digits=4)


def _round_name(number: int, exactly: bool) -> str:
    """Write the number of a round in a few letters, if it need not be exact or they say it all."""
    short = format_power(number)
    return short if number >= 10**6 and (not exactly or float(short) == number) else f"{number:,}"
