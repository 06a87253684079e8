"""The command `solve`: exact answers about a problem."""

import argparse
import math
from typing import Final

import numpy as np

import grbp
from grbp.cli.options import add_json
from grbp.cli.printing import choose_states, print_facts, print_json, print_problem, print_table
from grbp.cli.truths import add_truth, parse_truth
from grbp.worlds.chain import as_chain
from grbp.worlds.dynprog import threshold_values

_MOST_THRESHOLDS: Final = 200
"""Thresholds of a chain that are compared: the lowest ones."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_truth(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the exact answers about a problem."""
    problem = parse_truth(options)
    if problem.paper is None:
        _solve_chain(as_chain(problem), options.json)
        return
    problem = problem.paper
    if options.json:
        print_json(grbp.summary(problem))
        return
    answer = grbp.summary(problem, choose_states(problem.goal))
    best = answer["optimal_threshold"]
    rule = "finish in state 1, continue above it" if best else "never finish"
    where = f"where the best policy {'finishes' if best else 'never finishes'}"
    print_problem(problem)
    print_facts(
        [
            ("best policy", f"threshold {best}", rule),
            (
                "boundary B(p_c)",
                _winning_chance(answer, "0", 0),
                "chance to win from state 1 by continuing",
            ),
            ("region", answer["region"], where),
            ("gap at worst", answer["gap_max"], "|p_f - B|: the wrong action in state 1"),
            ("gap", answer["gap"], "the same per round: threshold 0 against 1"),
            ("margin", answer["margin"], "distance of (p_c, p_f) from the boundary"),
        ]
    )
    print("\nChance to win, by first state")
    names = ["threshold 0", "threshold 1", "finish now", "optimal"]
    rows: list[list[object]] = []
    for k, state in enumerate(answer["states"]):
        v = {name: _winning_chance(answer, name, k) for name in answer["values"]}
        rows.append([str(state), v["0"], v["1"], problem.p_f, v["optimal"]])
    mean = answer["value"]
    rows.append(["mean", mean["0"], mean["1"], mean["finish-now"], mean["optimal"]])
    print_table(["state", *names], rows)
    slots = answer["slots"]
    print("\nExpected slots a round")
    print_table(["", "threshold 0", "threshold 1"], [["mean", slots["0"], slots["1"]]])


def _solve_chain(chain: grbp.Chain, as_json: bool) -> None:
    """Print the best policy of a chain, and what the best threshold loses to it."""
    best = grbp.dynprog.solve(chain)
    values = threshold_values(chain, _MOST_THRESHOLDS)
    threshold, value = int(np.argmax(values)), chain.start_mean(best.value)
    if as_json:
        found = {"value": value, "best_threshold": threshold, "gap": value - values[threshold]}
        by_state = {"action": best.action.tolist(), "values": best.value.tolist()}
        print_json({"problem": chain.to_plain()} | found | by_state)
        return
    print_problem(chain)
    print_facts(
        [
            ("chance to win", value, "by the best policy, over first states"),
            ("best threshold", f"threshold {threshold}", f"wins {values[threshold]:.4g}"),
            ("gap", value - values[threshold], "what it loses to the best policy, a round"),
        ]
    )
    print("\nBest action and chance to win, by state")
    names = [grbp.Action(int(action)).name for action in best.action]
    rows: list[list[object]] = [
        [str(state), float(chain.p_c[state - 1]), float(chain.p_f[state - 1]), names[state - 1],
         float(best.value[state - 1])]
        for state in choose_states(chain.goal)
    ]  # fmt: skip
    print_table(["state", "p_c", "p_f", "best action", "chance to win"], rows)


def _winning_chance(answer: grbp.Summary, policy: str, k: int) -> float | str:
    """Return a chance to win; as a power of ten where it is too small for a float."""
    chance, log = answer["values"][policy][k], answer["log_values"][policy][k]
    return chance if chance > 0.0 or math.isinf(log) else f"1e{log / math.log(10.0):.0f}"
