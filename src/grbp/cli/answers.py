"""Commands that answer: solve, bounds, export."""

import argparse
import json
import math
import textwrap

import grbp
from grbp.cli.options import number, problem_of, whole
from grbp.cli.printing import facts, print_json, table, title
from grbp.errors import TooLarge

_MOST_ROWS = 12
"""States shown to a person; --json has them all."""


def solve(options: argparse.Namespace) -> None:
    """Prints the exact answers about a problem."""
    problem = problem_of(options)
    answer = grbp.summary(problem)
    if options.json:
        print_json(answer)
        return
    best = answer["optimal_threshold"]
    rule = "finish in state 1, continue above it" if best else "never finish"
    title(problem)
    facts(
        [
            ("best policy", f"threshold {best}", rule),
            (
                "boundary B(p_c)",
                _chance(answer, "0", 1),
                "chance to win from state 1 by continuing",
            ),
            (
                "region",
                answer["region"],
                "where the best policy " + ("finishes" if best else "never finishes"),
            ),
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
    """A chance to win; as a power of ten where it is too small for a float."""
    chance, log = answer["values"][policy][state - 1], answer["log_values"][policy][state - 1]
    return chance if chance > 0.0 or math.isinf(log) else f"1e{log / math.log(10.0):.0f}"


def _shown(goal: int) -> list[int]:
    """The states worth a row: all of a few, else the lowest and the highest."""
    if goal - 1 <= _MOST_ROWS:
        return list(range(1, goal))
    half = _MOST_ROWS // 2
    return [*range(1, half + 1), *range(goal - half, goal)]


def bounds(options: argparse.Namespace) -> None:
    """Prints the bounds of Theorems 1 and 3, and what no learner can beat."""
    problem = problem_of(options)
    gamma, rounds = number(options.gamma), whole(options.rounds)
    bound = grbp.getbe_bound(problem, gamma, rounds)
    floor, enough = grbp.regret_floor(problem), grbp.gamma_bounded(problem)
    try:
        ucb1, note = grbp.ucb1_bound(problem, int(rounds)), ""
    except TooLarge as error:
        ucb1, note = math.inf, str(error)
    if options.json:
        start = problem.canonical_start
        asked = {"goal": problem.goal, "p_c": problem.p_c, "p_f": problem.p_f, "start": start}
        named = bound._asdict() | {"gamma": gamma, "rounds": rounds, "ucb1_bound": ucb1}
        named |= {"floor": floor, "gamma_bounded": enough}
        print_json(asked | named)
        return
    title(problem)
    facts([("gamma", gamma, "control function gamma log(rho)"), ("rounds T", rounds, "")])
    print(f"\nTheorem 3 (GETBE) {'applies' if bound.applies else 'does NOT apply'}:")
    print(textwrap.fill(bound.why + ".", 78, initial_indent="  ", subsequent_indent="  "))
    facts(
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
            ("regret at most", bound.regret_bound, _verdict(bound.regret_bound, rounds)),
        ]
    )
    print("\nTheorem 1 (UCB1 over every deterministic policy):")
    facts([("regret at most", ucb1, _verdict(ucb1, rounds))])
    if note:
        print(textwrap.fill(note + ".", 78, initial_indent="  ", subsequent_indent="  "))
    print("\nWhat no learner can beat, and when GETBE-SM is bounded (docs/doorstep.md):")
    facts(
        [
            ("floor", floor, "least growth of regret per unit of log T"),
            ("gamma_bounded", enough, _enough(enough, gamma)),
        ]
    )


def _enough(enough: float, gamma: float) -> str:
    """What the gamma that keeps regret bounded says about the one that was given."""
    if math.isinf(enough):
        return "no gamma bounds the regret here"
    return f"regret is {'bounded' if gamma > enough else 'NOT bounded'} with gamma = {gamma:g}"


def _verdict(bound: float, rounds: int) -> str:
    """What a bound is worth: no round can cost more than one goal."""
    if math.isinf(bound):
        return "no bound follows"
    return "no news: T rounds can cost no more than T" if bound >= rounds else ""


def export(options: argparse.Namespace) -> None:
    """Prints the problem in the language of another tool."""
    problem = problem_of(options)
    if options.format == "prism":
        print(grbp.to_prism(problem), end="")
    else:
        print(json.dumps(grbp.to_toy_text(problem)))
