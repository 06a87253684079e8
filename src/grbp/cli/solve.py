"""The command `solve`: exact answers about a problem, and bounds on the regret of learners."""

import argparse
import math
from typing import Final

import numpy as np

import grbp
from grbp.cli.options import (
    Option,
    add_common,
    add_given,
    given,
    parse_number,
    parse_whole,
    refuse_given,
)
from grbp.cli.printing import (
    choose_states,
    print_facts,
    print_json,
    print_paragraph,
    print_problem,
    print_table,
)
from grbp.cli.truths import add_truth, parse_truth
from grbp.errors import InvalidInput, TooLarge
from grbp.experiments.simulation import ROUNDS
from grbp.worlds.chain import as_chain
from grbp.worlds.dynprog import threshold_values

_MOST_THRESHOLDS: Final = 200
"""Thresholds of a chain that are compared: the lowest ones."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_truth(parser)
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="instead, the regret bounds of Theorems 1 and 3, if they apply, and the floor",
    )
    add_given(
        parser,
        _show_bounds,
        gamma=Option("with --bounds, of the control function gamma log(rho)", parse_number, "X"),
        rounds=Option("with --bounds, the number of rounds T", parse_whole, "N"),
    )
    add_common(parser, "json")


def run(options: argparse.Namespace) -> None:
    """Print the exact answers about a problem, or the bounds."""
    problem = parse_truth(options)
    if not options.bounds:
        refuse_given(options, ("--gamma", "--rounds"), "it needs --bounds")
        if problem.paper is None:
            _show_chain(as_chain(problem), options.json)
            return
    if problem.paper is None:
        raise InvalidInput(
            f"{options.chain} has a {type(problem).__name__}; bounds are about one p_c and one p_f"
        )
    problem = problem.paper
    if options.bounds:
        _show_bounds(problem, **given(options, _show_bounds), as_json=options.json)
    elif options.json:
        print_json(grbp.summary(problem))
    else:
        _print_summary(problem)


def _print_summary(problem: grbp.Problem) -> None:
    """Print the exact answers about a problem to a person."""
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


def _show_chain(chain: grbp.Chain, as_json: bool) -> None:
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


def _show_bounds(
    problem: grbp.Problem,
    gamma: float = grbp.Control().gamma,
    rounds: int = ROUNDS,
    *,
    as_json: bool,
) -> None:
    """Print the bounds, whether they apply, and what no learner can beat."""
    bound = grbp.getbe_bound(problem, gamma, rounds)
    floor, enough = grbp.regret_floor(problem), grbp.gamma_bounded(problem)
    try:
        ucb1, note = grbp.ucb1_bound(problem, rounds), ""
    except TooLarge as error:
        ucb1, note = math.inf, str(error)
    if as_json:
        named = {"gamma": gamma, "rounds": rounds, "ucb1_bound": ucb1}
        named |= {"floor": floor, "gamma_bounded": enough}
        print_json(problem.__getstate__() | bound._asdict() | named)
        return
    print_problem(problem)
    print_facts([("gamma", gamma, "control function gamma log(rho)"), ("rounds T", rounds, "")])
    print(f"\nTheorem 3 (GETBE) {'applies' if bound.applies else 'does NOT apply'}:")
    print_paragraph(f"{bound.why}.", "  ")
    print_facts(
        [
            ("p_{C,1}", bound.p_c1, "chance that a round of threshold 1 continues"),
            ("p_{F,1}", bound.p_f1, "chance that it finishes"),
            ("margin delta", bound.margin, "distance from the boundary"),
            ("x_1", bound.x_1, "its square is the gamma required"),
            ("gamma required", bound.gamma_required, "gamma must exceed this"),
            ("rho'_C", bound.rho_c, "round from which C was taken often enough"),
            ("rho'_F", bound.rho_f, "the same for F"),
            ("rho''", bound.rho_pp, "round from which estimates are good enough"),
            ("rho'", bound.rho_prime, "the largest of the three"),
            ("w", bound.w, "bound on rounds with the wrong policy"),
            ("regret at most", bound.regret_bound, _describe_bound(bound.regret_bound, rounds)),
        ]
    )
    print("\nTheorem 1 (UCB1 over every deterministic policy):")
    print_facts([("regret at most", ucb1, _describe_bound(ucb1, rounds))])
    if note:
        print_paragraph(f"{note}.", "  ")
    print("\nWhat no learner can beat, and when GETBE-SM is bounded (docs/doorstep.md):")
    print_facts(
        [
            ("floor", floor, "least growth of regret per unit of log T"),
            ("gamma_bounded", enough, _describe_gamma(enough, gamma)),
        ]
    )


def _describe_gamma(enough: float, gamma: float) -> str:
    """Say whether the gamma that was given keeps regret bounded."""
    if math.isinf(enough):
        return "no gamma bounds the regret here"
    if enough == 0.0:
        return "regret is bounded with any gamma"
    return f"regret is {'bounded' if gamma > enough else 'NOT bounded'} with gamma = {gamma:g}"


def _describe_bound(bound: float, rounds: int) -> str:
    """Say what a bound is worth: no round can cost more than one goal."""
    if math.isinf(bound):
        return "no bound follows"
    return "no news: T rounds can cost no more than T" if bound >= rounds else ""


def _winning_chance(answer: grbp.Summary, policy: str, k: int) -> float | str:
    """Return a chance to win; as a power of ten where it is too small for a float."""
    chance, log = answer["values"][policy][k], answer["log_values"][policy][k]
    return chance if chance > 0.0 or math.isinf(log) else f"1e{log / math.log(10.0):.0f}"
