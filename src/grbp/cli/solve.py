"""The command `solve`: exact answers about a problem."""

import argparse
import math

import grbp
from grbp.cli.options import add_json, add_problem, problem_of
from grbp.cli.printing import facts, print_json, table, title

_MOST_ROWS = 12
"""States shown to a person; --json has them all."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_problem(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the exact answers about a problem."""
    problem = problem_of(options)
    answer = grbp.summary(problem)
    if options.json:
        print_json(answer)
        return
    best = answer["optimal_threshold"]
    rule = "finish in state 1, continue above it" if best else "never finish"
    where = f"where the best policy {'finishes' if best else 'never finishes'}"
    b = _chance(answer, "0", 1)
    title(problem)
    facts(
        [
            ("best policy", f"threshold {best}", rule),
            ("boundary B(p_c)", b, "chance to win from state 1 by continuing"),
            ("region", answer["region"], where),
            ("gap at worst", answer["gap_max"], "|p_f - B|: the wrong action in state 1"),
            ("gap", answer["gap"], "the same per round: threshold 0 against 1"),
            ("margin", answer["margin"], "distance of (p_c, p_f) from the boundary"),
        ]
    )
    print("\nChance to win, by first state")
    names = ["threshold 0", "threshold 1", "finish now", "optimal"]
    rows: list[list[object]] = []
    for s in _shown(problem.goal):
        v = {name: _chance(answer, name, s) for name in answer["values"]}
        rows.append([str(s), v["0"], v["1"], problem.p_f, v["optimal"]])
    mean = answer["value"]
    rows.append(["mean", mean["0"], mean["1"], mean["finish-now"], mean["optimal"]])
    table(["state", *names], rows)
    slots = answer["slots"]
    print("\nExpected slots a round")
    table(["", "threshold 0", "threshold 1"], [["mean", slots["0"], slots["1"]]])


def _chance(answer: grbp.Summary, policy: str, state: int) -> float | str:
    """Return a chance to win; as a power of ten where it is too small for a float."""
    chance, log = answer["values"][policy][state - 1], answer["log_values"][policy][state - 1]
    return chance if chance > 0.0 or math.isinf(log) else f"1e{log / math.log(10.0):.0f}"


def _shown(goal: int) -> list[int]:
    """Return the states worth a row: all of a few, else the lowest and the highest."""
    if goal - 1 <= _MOST_ROWS:
        return list(range(1, goal))
    half = _MOST_ROWS // 2
    return [*range(1, half + 1), *range(goal - half, goal)]
