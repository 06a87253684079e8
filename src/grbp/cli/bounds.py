"""The command `bounds`: the bounds of Theorems 1 and 3, and what no learner can beat."""

import argparse
import math

import grbp
from grbp.cli.options import add_json, add_problem, parse_number, parse_problem, parse_whole
from grbp.cli.printing import print_facts, print_json, print_paragraph, print_problem
from grbp.errors import TooLarge
from grbp.experiments.simulation import ROUNDS


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_problem(parser)
    gamma = f"{grbp.Control().gamma:g}"
    parser.add_argument(
        "--gamma", default=gamma, help=f"of the control function gamma log(rho) ({gamma})"
    )
    parser.add_argument(
        "--rounds", default=str(ROUNDS), help=f"the number of rounds T ({ROUNDS:,})"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the bounds, and whether they apply."""
    problem = parse_problem(options)
    gamma, rounds = parse_number(options.gamma), parse_whole(options.rounds)
    bound = grbp.getbe_bound(problem, gamma, rounds)
    floor, enough = grbp.regret_floor(problem), grbp.gamma_bounded(problem)
    try:
        ucb1, note = grbp.ucb1_bound(problem, int(rounds)), ""
    except TooLarge as error:
        ucb1, note = math.inf, str(error)
    if options.json:
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
