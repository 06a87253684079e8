"""What the learners of the doorstep regret, next to the paper's five, measured in one run.

    .venv/bin/python benchmarks/doorstep.py            # prints, and writes doorstep.md
    .venv/bin/python benchmarks/doorstep.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/doorstep.py --only starts

Why they are what they are: docs/doorstep.md. Random problems, other goals, and what a horizon and a
prior are worth: judge.py. Chances that drift: drift.py.
"""

import math
from collections.abc import Sequence

import numpy as np

import grbp
from columns import Columns
from grbp.numerics.arrays import Floats
from measure import Effort, say
from regrets import (
    FIG3,
    FIG4,
    FIVE,
    OURS,
    ROUNDS,
    SHORT,
    Estimate,
    Map,
    best,
    grid,
    hindsight,
    once,
    place,
    points,
    told,
    worst_points,
)
from sections import Section, Sections, run

KNOWN = told(ROUNDS)
LEGEND = (
    "Regret is pseudo-regret: every round is priced by the gap of the threshold played. Goal 4,"
    f" uniform start, {ROUNDS:,} rounds and drawn initial estimates unless a heading says"
    f" otherwise. The five are {', '.join(FIVE)} (ps-pol. and ucb-pol. for short). After ± stands"
    " one standard error. Fig. 3: p_c = .45, p_f = .3, finishing in state 1 is right; Fig. 4:"
    " p_c = .65, p_f = .3, it is wrong. The grid: p_c and p_f from .1 to .9 in steps of .1, 81"
    " points with a seed each, from 0 on."
)


# 1. the settings of the paper, and the grid


def paper(effort: Effort) -> list[Columns]:
    """Everyone in the settings of Figures 3 and 4 and on the grid."""
    some, less = effort.choose(200, 20_000), effort.choose(20, 1000)
    table = Columns(
        f"Figs. 3 and 4: {some:,} replicas, seed 0; grid: {less:,} a point",
        ("", "Fig. 3", "Fig. 4", "mean of grid", "over hindsight", "most on grid"),
        notes=[
            "Over hindsight: over the five, chosen at each point by what chance gave them. So their"
            " regret is biased downwards, to the disadvantage of those compared with them."
        ],
    )
    names = (OURS, KNOWN, "doorstep-kl", *FIVE)
    maps = {name: grid(points(effort), name, less) for name in names}
    limit = hindsight(maps[name] for name in FIVE)
    for name, one in maps.items():
        figures = (once(FIG3, name, some), once(FIG4, name, some))
        most = one.at(int(one.mean.argmax()))
        cells = (*figures, one.all, one.all.over(limit.all), most)
        table.rows.append((name, *map(str, cells)))
    most = limit.at(int(limit.mean.argmax()))
    table.rows.append(("the five in hindsight", "", "", str(limit.all), "", str(most)))
    five = {name: maps[name] for name in FIVE}
    return [table, *(_worst(effort, name, maps[name], five) for name in (OURS, KNOWN))]


def _worst(effort: Effort, name: str, ours: Map, five: dict[str, Map]) -> Columns:
    """Where a learner is furthest above the best of the five."""
    limit = hindsight(five.values())
    table = Columns(
        f"Where {name} does worst: the points of the grid with the largest difference to the best"
        " of the five",
        ("p_c, p_f", "regret", "best of five", "who", "difference"),
    )
    for k in worst_points(ours, limit, 6):
        who = best({one: found.at(k) for one, found in five.items()})[0]
        difference = ours.at(k).less(limit.at(k))
        row = (place(points(effort)[k]), str(ours.at(k)), str(limit.at(k)), who, str(difference))
        table.rows.append(row)
    return table


# 2. growth


def growth(effort: Effort) -> list[Columns]:
    """Growth per unit of log T, against the floor."""
    ends = [10**k for k in range(4, 7 if effort.quick else 9)]
    fourth, third = effort.choose(20, 1000), effort.choose(200, 20_000)
    return [_growth("Fig. 4", FIG4, fourth, ends), _growth("Fig. 3", FIG3, third, ends)]


def _growth(setting: str, problem: grbp.Problem, replicas: int, ends: Sequence[int]) -> Columns:
    """Regret at powers of ten, and the slopes between them."""
    curves = {}
    for name in (OURS, "doorstep-kl"):
        say(f"{name} over {ends[-1]:,} rounds, {setting}")
        result = grbp.simulate(problem, [name], ends[-1], replicas, 0, checkpoints=ends)
        curves[name] = result.curves[name].mean, result.curves[name].covariance
    say(f"{told(ends[-1])}, and with each T before, {setting}")
    known = np.array([once(problem, told(end), replicas, 0, end) for end in ends])
    curves[f"{OURS}:horizon=T"] = known[:, 0], np.diag(known[:, 1] ** 2)
    table = Columns(
        f"Growth per unit of log T in the setting of {setting}, where no uniformly good learner"
        f" grows by less than {grbp.regret_floor(problem):.3f} in the long run. {replicas:,}"
        " replicas, seed 0; with horizon=T another run for each T",
        ("", *curves),
    )
    for k, end in enumerate(ends):
        means = (Estimate(mean[k], math.sqrt(of[k, k])) for mean, of in curves.values())
        table.rows.append((f"regret at 10^{len(str(end)) - 1}", *map(str, means)))
    for k in range(len(ends) - 1):
        slopes = (_slope(*curve, k) for curve in curves.values())
        table.rows.append((f"slope, 10^{k + 4} to 10^{k + 5}", *map(str, slopes)))
    return table


def _slope(mean: Floats, covariance: Floats, k: int) -> Estimate:
    """The gain from one power of ten to the next, divided by log 10."""
    variance = covariance[k, k] + covariance[k + 1, k + 1] - 2.0 * covariance[k, k + 1]
    gain = float(mean[k + 1] - mean[k])
    return Estimate(gain / math.log(10.0), math.sqrt(max(0.0, float(variance))) / math.log(10.0))


# 3. starts


def starts(effort: Effort) -> list[Columns]:
    """All rounds in one state: where it is 1, CONTINUE is not learned on the way."""
    replicas = effort.choose(40, 2000)
    settings = [(0.45, 0.3), (0.65, 0.3), (0.3, 0.5), (0.8, 0.6)]
    names = {"T known": KNOWN, "not known": OURS} | {SHORT.get(name, name): name for name in FIVE}
    tables: list[Columns] = []
    for goal, start in ((4, 1), (4, 2), (4, 3), (2, 1)):
        say(f"goal {goal}, all rounds in state {start}")
        table = Columns(
            f"All rounds start in state {start}, goal {goal}. {replicas:,} replicas, seed 0",
            ("p_c, p_f", "best", *names),
            notes=[] if tables else [f"best: the threshold that is right; T known: {KNOWN}."],
        )
        for p_c, p_f in settings:
            problem = grbp.Problem(goal, p_c, p_f, start)
            found = [str(once(problem, name, replicas)) for name in names.values()]
            row = (place((p_c, p_f)), str(grbp.optimal_threshold(problem)), *found)
            table.rows.append(row)
        tables.append(table)
    return tables


SECTIONS: Sections = {
    "paper": Section("The settings of the paper, and the grid", paper),
    "growth": Section("Growth and the floor", growth),
    "starts": Section("All rounds in one state", starts),
}


if __name__ == "__main__":
    run(__file__, "What the learners of the doorstep regret", LEGEND, SECTIONS)
