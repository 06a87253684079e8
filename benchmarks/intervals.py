"""How often the intervals that are printed hold the truth, at the settings where they are printed.

    .venv/bin/python benchmarks/intervals.py            # prints, and writes intervals.md
    .venv/bin/python benchmarks/intervals.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/intervals.py --only exact

An experiment is played several times over. The pool of all its replicas (of its batches, where
there is splitting) then stands for the law: experiments of the printed size are drawn from it, and
it is counted how often their intervals hold the mean of the pool. What is too rare for the pool
is not in it; in the section "exact" the truth is a formula.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import grbp
from columns import Columns
from grbp.engine.decisions import choose_engine, decisions
from grbp.experiments import EXPERIMENTS, FIGURE_3, FIGURE_5
from grbp.experiments.cells import make_cells
from grbp.experiments.game import Game, Tally, make_game
from grbp.experiments.moments import weighted_sum
from grbp.experiments.provenance import make_meta
from grbp.experiments.regret import Curve, gap_per_threshold
from grbp.experiments.splitting import BATCHES, play_batches
from grbp.experiments.sweep_result import SweptCell
from grbp.numerics.arrays import Floats
from grbp.paper.growth import measure_growth
from measure import Effort, say
from sections import Section, Sections, run

HERE = Path(__file__).parent

SEED = 10**6
"""The first seed of the pools, which no experiment of the package uses."""

LEGEND = (
    "Every interval is meant to hold the truth in 95 % of the cases. An experiment is played"
    " several times over, from the seed 1,000,000 on; its replicas are a pool, from which"
    " experiments are drawn by `numpy.random.default_rng(1000000)`: 1,000 for the curves and for"
    " independent replicas, 200 for the sweep, 400 elsewhere. The truth is the mean of the pool. A"
    " share of 1,000 draws has a standard error of .7 points, one of 400 of 1.1, one of 200 of"
    " 1.5. First states are equally likely, and first estimates are drawn. Where the truth is"
    " known: G = 4, p_C = .2, p_F = .1; the learner finishes at once until it has won once, then"
    " in state 1 alone, and never again if 100 tries were in vain; seeds from 1,000,000 on. The"
    " problem of Figure 3: G = 4, p_C = .45, p_F = .3; pools of 200,000. The league and the sweep:"
    " p_C and p_F from .1 to .9 in steps of .1; pools of 4,000 for each problem. The map: getbe-sm"
    " after 1,000 rounds, G = 4, p_C and p_F from .05 to .95 in steps of .05; 2,000 replicas,"
    " pools of 10,000. The curves: as `grbp.experiments.EXPERIMENTS` says; pools of five"
    " experiments."
)


def pool_of(spec: grbp.SweepSpec, learner: str, replicas: int, times: int) -> Floats:
    """Plays replicas, or batches of split ones: their regret, [one, checkpoint]."""
    (problem,) = spec.each_problem()
    found, kept = grbp.find_learner(learner, problem), spec.checkpoints
    engine = choose_engine(problem, found, kept[-1], spec.engine)
    if spec.splitting:
        runs = [
            play_batches(problem, found, np.array(kept), replicas, SEED + k, engine=engine)
            for k in range(times)
        ]
        return np.concatenate([run.means.T for run in runs])
    gaps = gap_per_threshold(problem, found)
    blocks = decisions(problem, found, kept, times * replicas, SEED, engine=engine, regret="pseudo")
    return np.concatenate([weighted_sum(block.played, gaps) for block in blocks])


def at_last(problem: grbp.Problem, rounds: int) -> grbp.SweepSpec:
    """Any learner on a problem, whose regret is asked for after the last round alone."""
    return grbp.SweepSpec("x", problem, "getbe-sm", rounds, 1)


def game_of(problem: grbp.Problem, learner: str, rounds: int) -> Game:
    """A learner on a problem, which knows what replicas too rare to be seen could add."""
    return make_game(problem, grbp.find_learner(learner, problem), [rounds], SEED)


def room_for(game: Game, replicas: int) -> float:
    """How much stuck replicas that are not seen could add to a mean, at most."""
    unseen = game.unseen(game.checkpoints, replicas)
    return 0.0 if unseen is None else float(unseen[0])


def drawn(pool: Floats, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws an experiment from a pool: its mean curve, and the covariance of that."""
    one = pool[rng.integers(0, len(pool), size)]
    return one.mean(axis=0), np.atleast_2d(np.cov(one.T)) / size


def experiments(effort: Effort) -> list[Columns]:
    """The curves of `make reproduce`: the interval at the last round, the band, the last slope."""
    table = Columns(
        "The curves of make reproduce",
        ["experiment, learner", "at the end", "whole band", "last slope", "pool"],
        notes=[
            "At the end: the interval in the table under a figure. Whole band: the shade, at every"
            " checkpoint at once, which is wider than needed at each one. Last slope: the gain"
            " per unit of log T in the last tenfold span, from which the verdict judges growth."
            " Where it is next to nothing (getbe-ps and doorstep-optimal in growth-3), its interval"
            " misses rare gains; the verdict then asks only whether the span adds less than a"
            " hundredth of the regret. With 120 replicas the whole band holds less often, and the"
            " figure says so. The pool has replicas, or batches where there is splitting."
        ],
    )
    for spec in EXPERIMENTS.values():
        if spec.curves:
            for learner in spec.learners:
                say(f"{spec.name}: {learner}")
                table.rows.append(_experiment(spec, learner, effort))
    return [table]


def _experiment(spec: grbp.SweepSpec, learner: str, effort: Effort) -> list[str]:
    replicas = effort.choose(1000 if spec.splitting else 20, spec.replicas)
    pool = pool_of(spec, learner, replicas, effort.choose(1, 5))
    kept, alone = np.array(spec.checkpoints), replace(spec, learners=(learner,))
    (cell,) = make_cells(alone)
    unseen = None if spec.splitting else cell.game.unseen(kept, replicas)
    size, meta = BATCHES if spec.splitting else replicas, make_meta({}, {})
    follows = spec.name.startswith("growth")

    def result(mean: Floats, covariance: Floats) -> grbp.SweepResult:
        curve = Curve(mean, covariance, np.zeros(2), {}, unseen=unseen)
        return grbp.SweepResult(alone, (SweptCell(cell, Tally(()), (), (), curve),), meta)

    truth = pool.mean(axis=0)
    slope = measure_growth(result(truth, np.zeros((len(kept),) * 2)), learner).slopes()[-1].value
    rng, draws, held = np.random.default_rng(SEED), effort.choose(20, 1000), np.zeros(3)
    for _ in range(draws):
        one = result(*drawn(pool, size, rng))
        curve = one.simulation().curves[learner]
        low, high = curve.band()
        inside = (low <= truth) & (truth <= high)
        # Where all replicas agree there is nothing to hold but rounding.
        held += inside[-1], inside[curve.se > 1e-9 * curve.mean].all(), 0.0
        if follows:
            last = measure_growth(one, learner).slopes()[-1]
            held[2] += last.low <= slope <= last.high or last.low == last.high
    shares = [*held[:2] / draws, held[2] / draws if follows else math.nan]
    covered = curve.covered
    cells = [_percent(share) if covered else "not covered" for share in shares[:2]]
    return [f"{spec.name}, {learner}", *cells, _percent(shares[2]), f"{len(pool):,}"]


def plain(effort: Effort) -> list[Columns]:
    """A mean and its standard error, with and without room for what is unseen."""
    table = Columns(
        "Independent replicas on the problem of Figure 3, 5,000 rounds",
        [
            "learner",
            *(f"{n:,}{with_room}" for n in (200, 1000, 10_000) for with_room in ("", " *")),
        ],
        notes=[
            "How often the mean and 1.96 standard errors hold the truth, by the number of replicas;"
            " under *, with room for stuck replicas that are not seen (Curve.unseen), as in every"
            " band and table of intervals."
        ],
    )
    (problem,) = FIGURE_3.each_problem()
    spec = at_last(problem, 5000)
    for learner in ("getbe-sm", "getbe-ps", "getbe-ucb", "ps-polselection", "doorstep-optimal"):
        say(f"plain: {learner}")
        pool = pool_of(spec, learner, effort.choose(2000, 200_000), 1)[:, 0]
        game, rng = game_of(problem, learner, 5000), np.random.default_rng(SEED)
        cells, draws = [], effort.choose(50, 1000)
        for size in (200, 1000, 10_000):
            room, held = room_for(game, size), np.zeros(2)
            for _ in range(draws):
                one = pool[rng.integers(0, len(pool), size)]
                off = pool.mean() - one.mean()
                half = 1.96 * one.std(ddof=1) / math.sqrt(size)
                held += abs(off) <= half, -half <= off <= half + room
            cells += [_percent(share) for share in held / draws]
        table.rows.append([learner, *cells])
    return [table]


class Patience(NamedTuple):
    """How often FINISH may fail before it is given up."""

    tries: float = 100.0


def gives_up(goal: int, constants: Patience, n: grbp.Counters, _key: int) -> int:
    """Finish at once until FINISH succeeds, and never again if it has failed too often."""
    if n.f_goal >= 1.0:
        return 1
    return goal - 1 if n.f <= constants.tries else 0


def given_up(_goal: int, constants: Patience, low: grbp.Counters, high: grbp.Counters) -> bool:
    """Whether FINISH has succeeded throughout a box, or is due throughout, or nowhere."""
    if low.f_goal >= 1.0:
        return True
    return high.f_goal < 1.0 and (high.f <= constants.tries or low.f > constants.tries)


def exact(effort: Effort) -> list[Columns]:
    """Intervals of a learner whose regret is known: one replica in 37,649 is stuck."""
    learner = grbp.Learner("gives-up", gives_up, Patience(), stable=given_up)
    problem, rounds, draws = grbp.Problem(4, 0.2, 0.1), 10**7, effort.choose(5, 150)
    fails, tries = 1.0 - problem.p_f, int(learner.constants.tries)
    forced = grbp.gap(problem, 3) * sum(fails**k for k in range(tries))
    truth = forced + grbp.gap(problem, 0) * fails**tries * (rounds - tries)
    table = Columns(
        f"A learner whose regret after {rounds:,} rounds is known: {truth:.2f}",
        ["replicas", "trusted", "then it holds", "mean of all", "their spread"],
        notes=[
            f"{draws} simulations of each kind. Trusted: how often the interval is printed at all"
            " (Curve.covered). Then it holds: how often it holds the truth if it is."
        ],
    )
    for splitting, replicas in ((False, 1000), (True, 1000), (True, 4000)):
        say(f"exact: {replicas:,} {'split' if splitting else 'independent'}")
        held, printed, means = 0, 0, []
        for seed in range(SEED, SEED + draws):
            curve = grbp.simulate(
                problem,
                learner,
                rounds,
                replicas,
                seed,
                splitting=splitting,
                checkpoints=[rounds],
            ).curves["gives-up"]
            low, high = curve.band()
            held += curve.covered and bool(low[-1] <= truth <= high[-1])
            printed += curve.covered
            means.append(curve.mean[-1])
        name = f"{replicas:,}, {'split' if splitting else 'independent'}"
        shares = _percent(printed / draws), _percent(held / printed if printed else math.nan)
        table.rows.append([name, *shares, f"{np.mean(means):.4g}", f"{np.std(means):.3g}"])
    return [table]


def league(effort: Effort) -> list[Columns]:
    """The mean of a league over its problems, and its interval."""
    table = Columns(
        "The mean of a league over the 81 problems of goal 4",
        ["learner", "interval holds it", "with 5 times the replicas"],
        notes=[
            "200 replicas of 5,000 rounds on each problem, as in the league: the mean over the"
            " problems and 1.96 of its standard errors. Rare replicas that are stuck carry a part"
            " of the means of the doorstep learners."
        ],
    )
    tenths = [k / 10 for k in range(1, 10)]
    for learner in ("doorstep-optimal", "doorstep-kl", "getbe-ps", "getbe-ucb"):
        say(f"league: {learner}")
        pools = []
        for p_c, p_f in ((a, b) for a in tenths for b in tenths):
            spec = at_last(grbp.Problem(4, p_c, p_f), 5000)
            pools.append(pool_of(spec, learner, effort.choose(300, 4000), 1)[:, 0])
        truth = sum(float(pool.mean()) for pool in pools)
        rng, draws, cells = np.random.default_rng(SEED), effort.choose(20, 400), []
        for size in (200, 1000):
            held = 0
            for _ in range(draws):
                ones = [pool[rng.integers(0, len(pool), size)] for pool in pools]
                half = 1.96 * math.sqrt(sum(one.var(ddof=1) for one in ones) / size)
                held += abs(sum(one.mean() for one in ones) - truth) <= half
            cells.append(_percent(held / draws))
        table.rows.append([learner, *cells])
    return [table]


def maps(effort: Effort) -> list[Columns]:
    """The cells of Figure 5 and what the verdict compares: the two regions."""
    (rounds,), (name,) = FIGURE_5.checkpoints, FIGURE_5.names
    size, pools, rooms, right = effort.choose(100, FIGURE_5.replicas), [], [], []
    say("maps: figure-5")
    for problem in FIGURE_5.each_problem():
        pools.append(pool_of(at_last(problem, rounds), name, size, 5)[:, 0])
        rooms.append(room_for(game_of(problem, name, rounds), size))
        right.append(grbp.optimal_threshold(problem))
    truth, room, one = np.array([p.mean() for p in pools]), np.array(rooms), np.array(right) == 1
    weights = np.where(one, -1.0 / one.sum(), 1.0 / (~one).sum())
    rng, draws = np.random.default_rng(SEED), effort.choose(20, 400)
    plain, roomy, difference = np.zeros(len(pools)), np.zeros(len(pools)), 0
    for _ in range(draws):
        ones = [pool[rng.integers(0, len(pool), size)] for pool in pools]
        off = truth - [each.mean() for each in ones]
        se = np.array([each.std(ddof=1) for each in ones]) / math.sqrt(size)
        plain += np.abs(off) <= 1.96 * se
        roomy += (off >= -1.96 * se) & (off <= 1.96 * se + room)
        difference += abs((weights * off).sum()) <= 1.96 * math.sqrt(((weights * se) ** 2).sum())
    table = Columns(
        "The map of Figure 5, and the difference between its regions",
        ["where", "cells", "mean +- 1.96 se", "with room", "least of them"],
        notes=[
            "The share in which an interval holds, on average over the cells and in the cell where"
            " it holds least (with room, as the table of the map has it). The difference of the"
            f" means over the two regions is held in {_percent(difference / draws)}."
        ],
    )
    for name, these in (("threshold 1 is right", one), ("threshold 0 is right", ~one)):
        shares = (plain[these].mean(), roomy[these].mean(), roomy[these].min())
        cells = [_percent(share / draws) for share in shares]
        table.rows.append([name, str(these.sum()), *cells])
    return [table]


def adaptive(effort: Effort) -> list[Columns]:
    """The cells of a sweep whose replicas are doubled until the standard error is small enough."""
    table = Columns(
        "A sweep with se = 0.2: 81 problems of goal 4, 1,000 rounds",
        ["learner", "begun with", "with room", "least of them", "replicas"],
        notes=[
            "As for the map: the share in which the interval of a cell holds, on average over the"
            " cells and in the cell where it holds least, and how many replicas a cell had on"
            " average. Doubling ends where the standard error happens to be small, so that few"
            " replicas to begin with are not enough."
        ],
    )
    tenths = [k / 10 for k in range(1, 10)]
    problems = [grbp.Problem(4, p_c, p_f) for p_f in tenths for p_c in tenths]
    draws, rng = effort.choose(10, 200), np.random.default_rng(SEED)
    for learner in ("getbe-sm", "doorstep-optimal"):
        say(f"adaptive: {learner}")
        specs = [at_last(one, 1000) for one in problems]
        pools = [pool_of(one, learner, effort.choose(500, 4000), 1)[:, 0] for one in specs]
        for begun in (50, 200, 1000):
            held, played = np.zeros(len(problems)), 0
            for k, (problem, pool) in enumerate(zip(problems, pools, strict=True)):
                game = game_of(problem, learner, 1000)
                for _ in range(draws):
                    one = _doubled(pool, begun, 0.2, rng)
                    half = 1.96 * one.std(ddof=1) / math.sqrt(len(one))
                    room = room_for(game, len(one))
                    held[k] += -half <= pool.mean() - one.mean() <= half + room
                    played += len(one)
            shares = [_percent(share / draws) for share in (held.mean(), held.min())]
            size = f"{played / draws / len(problems):,.0f}"
            table.rows.append([learner, f"{begun:,}", *shares, size])
    return [table]


def _doubled(pool: Floats, size: int, se: float, rng: np.random.Generator) -> Floats:
    """Draws replicas from a pool, and as many again until the standard error is small enough."""
    one = pool[rng.integers(0, len(pool), size)]
    while one.std(ddof=1) / math.sqrt(len(one)) > se:
        one = np.concatenate((one, pool[rng.integers(0, len(pool), len(one))]))
    return one


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100.0 * share:.1f} %"


SECTIONS: Sections = {
    "exact": Section("Where the truth is known", exact),
    "plain": Section("Independent replicas", plain),
    "league": Section("The league", league),
    "maps": Section("The map", maps),
    "adaptive": Section("Sweeps of a given precision", adaptive),
    "experiments": Section("Every curve", experiments),
}


if __name__ == "__main__":
    run(__file__, "How often printed intervals hold the truth", LEGEND, SECTIONS)
