"""The default, judged once on problems and seeds that chose nothing; what it is worth to know more.

    .venv/bin/python benchmarks/judge.py            # prints, and writes judge.md
    .venv/bin/python benchmarks/judge.py --quick    # a small version with other seeds; only prints
    .venv/bin/python benchmarks/judge.py --only hindsight

The seeds were written down, and the rule was frozen, before this was run. A quick run has seeds of
its own, so that whoever works on the rule does not see the problems that judge it.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import grbp
from columns import Columns
from grbp.numerics.arrays import Floats
from grbp.numerics.beta import beta_quantile
from measure import Effort, say
from regrets import FIVE, OURS, Estimate, figure, near_boundary, once, place, told
from sections import Section, Sections, run

JUDGED, TRIED = 28_000_000, 1000
"""The first of the seeds that judge, and of those of a quick run."""

REPLICAS = {0: 60, 1: 10}
"""How often a problem is played in the first two sections, which judge; in the others 20 times."""

FLAT = (1.0, 1.0)
LEGEND = (
    "Regret is pseudo-regret with drawn initial estimates; rounds start uniformly. Problems are"
    " drawn at random: p_c is uniform, and so is p_f unless a heading says otherwise, two problems"
    " in each cell of a grid. A figure is a ratio of mean regrets over the same problems. After ±"
    " stands its standard error, by how much the two of a cell differ; intervals hold 95 %."
    f" T known: {OURS}:horizon=T; not known: {OURS}; the five: {', '.join(FIVE)}."
)


class Field(NamedTuple):
    """Random problems of one goal, two in each cell of a grid; everyone plays from one seed on."""

    problems: Sequence[grbp.Problem]
    first: int
    replicas: int
    weights: Floats | float = 1.0

    def regret(self, learner: str, *ends: int) -> Floats:
        """Mean regret by half of the replicas, by problem, and at each end."""

        def at(task: tuple[int, grbp.Problem]) -> Floats:
            seed, problem = task
            found = grbp.simulate(
                problem, [learner], ends[-1], self.replicas // 2, seed, checkpoints=ends, threads=1
            )
            (curve,) = found.curves.values()
            return curve.mean

        goal = self.problems[0].goal
        say(f"{learner} on {len(self.problems)} problems, goal {goal}, {ends[-1]:,} rounds")
        with ThreadPoolExecutor() as pool:
            means = list(pool.map(at, enumerate([*self.problems, *self.problems], self.first)))
        found = np.array(means).reshape(2, len(self.problems), len(ends))
        return found * np.reshape(self.weights, (1, -1, 1))

    def known(self, *ends: int) -> Floats:
        """The same for the rule that is told each end as its horizon."""
        return np.concatenate([self.regret(told(end), end) for end in ends], axis=2)


class Ratios(NamedTuple):
    """Ratios of two regrets at each end, and how every problem pulls at them."""

    ratio: Floats
    pull: Floats

    def at(self, k: int) -> Estimate:
        """The ratio at an end."""
        return Estimate(float(self.ratio[k]), error(self.pull[:, k]))


def field(effort: Effort, section: int, goal: int, prior: tuple[float, float] = FLAT) -> Field:
    """The problems of a section: p_c is uniform, p_f has a prior."""
    side, replicas = effort.choose(2, 16), effort.choose(4, REPLICAS.get(section, 20))
    first = (TRIED if effort.quick else JUDGED) + 100_000 * section + 2000 * goal
    low = np.stack(np.meshgrid(range(side), range(side)))
    p_c, part = (
        (low[:, None] + np.random.default_rng(first).random((2, 2, side, side))) / side
    ).reshape(2, -1)
    p_f = [beta_quantile(share, *prior) for share in part]
    problems = [grbp.Problem(goal, *pair) for pair in zip(p_c, p_f, strict=True)]
    return Field(problems, first, replicas)


def near_field(effort: Effort, section: int, goal: int) -> Field:
    """The same with half of the problems near the boundary, and weights that undo that."""
    plain = field(effort, section, goal)
    b = np.array([grbp.boundary(goal, one.p_c) for one in plain.problems])
    p_f, weights = near_boundary(b, np.array([one.p_f for one in plain.problems]))
    problems = [replace(one, p_f=float(p)) for one, p in zip(plain.problems, p_f, strict=True)]
    return plain._replace(problems=problems, weights=weights)


def ratios(ours: Floats, theirs: Floats) -> Ratios:
    """The ratios of the means over problems, at each end."""
    ours, theirs = ours.mean(axis=0), theirs.mean(axis=0)
    ratio = ours.mean(axis=0) / theirs.mean(axis=0)
    return Ratios(ratio, (ours - ratio * theirs) / theirs.mean(axis=0))


def mean_ratio(of: Sequence[Ratios]) -> Estimate:
    """The mean over all cells; the ends of a goal share problems, goals do not."""
    mean = float(np.mean([one.ratio for one in of]))
    return Estimate(mean, math.hypot(*(error(one.pull.mean(axis=1)) for one in of)) / len(of))


def error(pull: Floats) -> float:
    """The standard error of a mean over problems: by how much the two of each cell differ."""
    one, other = np.split(pull, 2)
    return float(np.linalg.norm(one - other) / len(pull))


def best_of(five: Floats) -> Floats:
    """The best of the five at each problem and end, chosen by the same replicas."""
    chosen = five.mean(axis=1, keepdims=True).argmin(axis=0, keepdims=True)
    return np.take_along_axis(five, np.repeat(chosen, 2, axis=1), axis=0)[0]


def best_by_the_other_half(five: Floats) -> Floats:
    """The same, chosen by one half of the replicas and measured by the other."""
    chosen = five[:, ::-1].argmin(axis=0, keepdims=True)
    return np.take_along_axis(five, chosen, axis=0)[0]


def verdict(what: str, found: Estimate, bound: float) -> tuple[str, ...]:
    """A row that says whether a target was reached."""
    low, high = found.ends
    held = "held" if found.mean <= bound else "NOT held"
    held += " *" if low < bound < high else ""
    return what, figure(found.mean), found.interval, f"<= {figure(bound)}", held


def _targets(title: str) -> Columns:
    """An empty table of targets."""
    return Columns(
        title,
        ("", "measured", "95 % interval", "target", "verdict"),
        notes=[
            "*: the target lies within the interval. The most of many measured ratios is, on"
            " average, above the most of the true ones."
        ],
    )


# 1. the best of five in hindsight


def hindsight(effort: Effort) -> list[Columns]:
    """The rule, with and without T, over the best of the paper's five."""
    ends = (500, 5000, 50_000)
    table = Columns(
        "Regret over that of the best of the five, chosen at each problem after all have played."
        f" {_sizes(effort, 0)}",
        ("G, T", "T known", "not known"),
        notes=[
            "One of five that is chosen by the replicas that also measure it looks better than it"
            " is, to the disadvantage of the others. Chosen by one half of them and measured by the"
            " other, it is not always the best. The truth lies between; the table has the first."
        ],
    )
    cells, fair = dict[str, list[Ratios]](), list[Ratios]()
    for goal in (3, 4, 7, 12):
        at = field(effort, 0, goal)
        known, without = at.known(*ends), at.regret(OURS, *ends)
        five = np.array([at.regret(name, *ends) for name in FIVE])
        found = [ratios(one, best_of(five)) for one in (known, without)]
        fair += [ratios(one, best_by_the_other_half(five)) for one in (known, without)]
        for k, end in enumerate(ends):
            table.rows.append((f"{goal}, {end:,}", *(str(one.at(k)) for one in found)))
        for head, one in zip(table.heads[1:], found, strict=True):
            cells.setdefault(head, []).append(one)
    table.rows.append(("mean", *(str(mean_ratio(one)) for one in cells.values())))
    other = " and ".join(str(mean_ratio(fair[k::2])) for k in (0, 1))
    table.notes.append(f"Chosen by the other half, the first two means are {other}.")
    judged = _targets("What was asked of the default, on problems and seeds that chose nothing")
    for head, bound in (("T known", 0.88), ("not known", 1.02)):
        judged.rows.append(verdict(f"{head}, mean", mean_ratio(cells[head]), bound))
    return [judged, table]


# 2. what it costs not to know T, or to be told a wrong one


def price(effort: Effort) -> list[Columns]:
    """The rule without T over the rule that knows it."""
    ends = [10**k for k in range(2, 5 if effort.quick else 7)]
    table = Columns(
        "The regret of who does not know T, over that of who does; half of the problems are near"
        f" the boundary, with weights that undo that. {_sizes(effort, 1)}",
        ("G", *(f"T = {end:,}" for end in ends)),
    )
    cells = dict[str, Estimate]()
    found = list[Ratios]()
    for goal in (3, 4, 7, 12, 25):
        at = near_field(effort, 1, goal)
        one = ratios(at.regret(OURS, *ends), at.known(*ends))
        row = {f"G = {goal}, T = {end:,}": one.at(k) for k, end in enumerate(ends)}
        table.rows.append((str(goal), *map(str, row.values())))
        cells |= row
        found.append(one)
    means = {
        f"T = {end:,}": mean_ratio([Ratios(one.ratio[[k]], one.pull[:, [k]]) for one in found])
        for k, end in enumerate(ends)
    }
    table.rows.append(("mean", *map(str, means.values())))
    judged = _targets("What was asked of the rule without a horizon")
    for what, asked in (("the most", cells), ("the most of the means over G", means)):
        where = max(asked, key=lambda cell: asked[cell].mean)
        judged.rows.append(verdict(f"{what}, at {where}", asked[where], 1.3))
    return [judged, table]


def wrong(effort: Effort) -> list[Columns]:
    """The rule that is told half, twice, three times the horizon, over the one told the truth."""
    shares = {"told T/2": 0.5, "told 2T": 2.0, "told 3T": 3.0}
    table = Columns(
        "The regret of who is told a wrong horizon, or none, over that of who is told T."
        f" {_sizes(effort, 2)}",
        ("G, T", *shares, "told nothing"),
    )
    for goal in (4, 12):
        at = field(effort, 2, goal)
        for end in (500, 5000, 50_000):
            known = at.known(end)
            learners = [*(told(round(share * end)) for share in shares.values()), OURS]
            found = (ratios(at.regret(name, end), known).at(0) for name in learners)
            table.rows.append((f"{goal}, {end:,}", *map(str, found)))
    return [table]


# 3. what a prior is worth


def priors(effort: Effort) -> list[Columns]:
    """The right prior of p_f over the flat one, and the same prior where it is wrong."""
    end = 5000
    table = Columns(
        f"The regret of who knows the prior of p_f, over that of who takes it for flat; T = {end:,}"
        f" is known to both. {_sizes(effort, 3)} for each prior",
        ("p_f", "right, G = 4", "right, G = 12", "wrong, G = 4", "wrong, G = 12"),
        notes=["Right: p_f has that prior. Wrong: the same is told where p_f is uniform."],
    )
    for k, prior in enumerate(((2, 6), (5, 5), (20, 20), (3, 27)), 3):
        knows = f"{told(end)},good={prior[0]},bad={prior[1]}"
        row = []
        for true in (prior, FLAT):
            for goal in (4, 12):
                at = field(effort, k, goal, true)
                row.append(str(ratios(at.regret(knows, end), at.known(end)).at(0)))
        table.rows.append((f"Beta({prior[0]}, {prior[1]})", *row))
    return [table]


# 4. close to the boundary


def mirrors(effort: Effort) -> list[Columns]:
    """Pairs of problems that differ in the side of the boundary on which p_f lies."""
    cases = ((4, 0.6, 0.1, 500), (4, 0.6, 0.1, 5000), (4, 0.6, 0.02, 5000), (4, 0.6, 0.02, 50_000))
    cases += ((12, 0.6, 0.1, 5000), (7, 0.6053, 0.0272, 50_000))
    return [_mirror(effort, *case) for case in cases]


def _mirror(effort: Effort, goal: int, p_c: float, d: float, end: int) -> Columns:
    """What everyone regrets on both sides of the boundary, and in sum."""
    replicas = effort.choose(20, 2000)
    seed = (TRIED if effort.quick else JUDGED) + 900_000
    b = grbp.boundary(goal, p_c)
    say(f"mirrors at {place((p_c, b))}, goal {goal}, {end:,} rounds")
    table = Columns(
        f"G = {goal}, p_c = {figure(p_c, 4)}, B = {figure(b, 4)}, p_f = B - {figure(d)} and"
        f" B + {figure(d)}, T = {end:,}. {replicas:,} replicas, seed {seed}",
        ("", "F is wrong", "F is right", "sum"),
    )
    learners = {"always finish in state 1": "threshold-1", "never finish": "threshold-0"}
    learners = (
        {told(end): told(end), OURS: OURS}
        | {name: name for name in FIVE if name.startswith("getbe")}
        | learners
    )
    for what, learner in learners.items():
        sides = [
            once(grbp.Problem(goal, p_c, p_f), learner, replicas, seed, end)
            for p_f in (b - d, b + d)
        ]
        total = sides[0].less(sides[1], -1.0)
        table.rows.append((what, *map(str, (*sides, total))))
    return table


def _sizes(effort: Effort, section: int) -> str:
    """How many problems and replicas, and which seeds, in words."""
    one = field(effort, section, 2)
    first = one.first - 4000
    return (
        f"{len(one.problems)} problems for each G, {one.replicas} replicas of each; seeds from"
        f" {first:,} + 2,000 G on"
    )


SECTIONS: Sections = {
    "hindsight": Section("Against the best of the five in hindsight", hindsight),
    "price": Section("Not to know the horizon", price),
    "wrong": Section("A wrong horizon", wrong),
    "priors": Section("What a prior is worth", priors),
    "mirrors": Section("Close to the boundary, on both sides", mirrors),
}


if __name__ == "__main__":
    run(__file__, "The default, judged where nothing was chosen", LEGEND, SECTIONS)
