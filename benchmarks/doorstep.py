"""What the learners of the doorstep regret, next to the paper's five, measured in one run.

    .venv/bin/python benchmarks/doorstep.py            # prints, and writes doorstep.md
    .venv/bin/python benchmarks/doorstep.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/doorstep.py --only drift

Why they are what they are: docs/doorstep.md.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import constants
import drifting
import grbp
from columns import Columns
from grbp.model.problem import StartLike
from grbp.numerics.arrays import Floats
from measure import Effort, say
from regrets import (
    ALLOWANCE,
    DEFAULT,
    FACTOR,
    FIG3,
    FIG4,
    FIVE,
    ROUNDS,
    SHORT,
    Estimate,
    Map,
    Three,
    best,
    between,
    beyond,
    brief,
    clearly_above,
    figure,
    grid,
    hindsight,
    once,
    place,
    points,
    seeds,
    three,
    worst_points,
)
from sections import Sections, run

HERE = Path(__file__).parent
LEGEND = (
    "Regret is pseudo-regret: every round is priced by the gap of the threshold played. Goal 4,"
    f" uniform start, {ROUNDS:,} rounds and drawn initial estimates unless a heading says"
    f" otherwise. The default learner is {DEFAULT}; the five are {', '.join(FIVE)} (ps-pol. and"
    " ucb-pol. for short; lai, bayes, kl and sm alone are the doorstep learners). After ± stands"
    " one standard error; intervals hold 95 %. Fig. 3: p_c = .45, p_f = .3, finishing in state 1"
    " is right; Fig. 4: p_c = .65, p_f = .3, it is wrong. The grid: p_c and p_f from .1 to .9 in"
    " steps of .1, 81 points with a seed each."
)
OTHERS = (
    "doorstep-bayes",
    "doorstep-kl",
    "doorstep-sm",
    f"{DEFAULT}:horizon={ROUNDS}",
    f"doorstep-bayes:horizon={ROUNDS}",
)
BIASED = (
    "The five in hindsight are chosen at each point by what chance gave them, so their regret is"
    " biased downwards, to the disadvantage of the learners compared with them."
)
UNSEEN = 7_000_000
"""The first of the seeds that no trial had used."""

LINEAR = {1: 1 / 6, 2: 2 / 6, 3: 3 / 6}


# 1. targets


def targets(effort: Effort) -> list[Columns]:
    """The default against the best of the five, with what it must reach; then the others."""
    sizes, default, five = _asked(effort, 0)
    many, some, less = (effort.choose(*n) for n in ((2000, 400_000), (200, 20_000), (20, 1000)))
    door = {DEFAULT: default}
    door |= {name: three(effort, name, (many, some, less)) for name in OTHERS}
    limit = hindsight(one.grid for one in five.values())
    return [
        _judged(effort, default, five, limit, sizes),
        _ratios(effort, door | five, limit, sizes),
        _regrets(door | five, limit, sizes),
        _worst(effort, default.grid, {name: one.grid for name, one in five.items()}, sizes),
    ]


def once_more(effort: Effort) -> list[Columns]:
    """The same four targets, with seeds that no trial had used when the constants were chosen."""
    sizes, default, five = _asked(effort, UNSEEN)
    return [_judged(effort, default, five, hindsight(one.grid for one in five.values()), sizes)]


def _asked(effort: Effort, first: int) -> tuple[str, Three, dict[str, Three]]:
    """How many replicas and which seeds, in words; the default and the five with them."""
    many, cell = effort.choose(2000, 400_000), effort.choose(40, 8000)
    some, less = effort.choose(200, 20_000), effort.choose(20, 1000)
    five = {name: three(effort, name, (some, some, less), first) for name in FIVE}
    sizes = (
        f"Fig. 3: {many:,} replicas ({some:,} for the five), Fig. 4: {some:,}, both with seed"
        f" {first}; grid: {less:,} a point ({cell:,} for {DEFAULT}), {seeds(effort, first)}"
    )
    return sizes, three(effort, DEFAULT, (many, some, cell), first), five


def _judged(effort: Effort, ours: Three, five: dict[str, Three], limit: Map, sizes: str) -> Columns:
    """The four targets."""
    table = Columns(
        f"{DEFAULT} against the best of the five. {sizes}",
        ("", "measured", "95 % interval", "target", "verdict"),
    )
    third, third_best = best({name: one.fig3 for name, one in five.items()})
    fourth, fourth_best = best({name: one.fig4 for name, one in five.items()})
    k, over = beyond(ours.grid, limit)
    for what, found, bound in (
        (f"Fig. 3, ratio to {third}", ours.fig3.over(third_best), 0.4),
        (f"Fig. 4, ratio to {fourth}", ours.fig4.over(fourth_best), 0.75),
        ("grid, ratio to hindsight", ours.grid.all.over(limit.all), 0.9),
        (f"worst point ({place(points(effort)[k])})", over, 0.0),
    ):
        low, high = found.ends
        verdict = "held" if found.mean <= bound else "NOT held"
        verdict += " *" if low < bound < high else ""
        row = (what, figure(found.mean), found.interval, f"<= {figure(bound)}", verdict)
        table.rows.append(row)
    table.notes.append(
        "*: the target lies within the interval. Worst point: the largest of"
        f" regret - ({FACTOR:g} * best of the five + {ALLOWANCE:g}), at (p_c, p_f). {BIASED}"
    )
    return table


def _ratios(effort: Effort, everyone: dict[str, Three], limit: Map, sizes: str) -> Columns:
    """The same figures for everyone."""
    table = Columns(
        f"The same for everyone, ratios to the best of the five. {sizes}",
        ("", "Fig. 3", "Fig. 4", "grid", "worst point", "at"),
    )
    third = best({name: everyone[name].fig3 for name in FIVE})[1]
    fourth = best({name: everyone[name].fig4 for name in FIVE})[1]
    for name, one in everyone.items():
        k, over = beyond(one.grid, limit)
        ratios = (one.fig3.over(third), one.fig4.over(fourth), one.grid.all.over(limit.all))
        table.rows.append((brief(name), *map(str, ratios), str(over), place(points(effort)[k])))
    return table


def _regrets(everyone: dict[str, Three], limit: Map, sizes: str) -> Columns:
    """What the ratios are taken of."""
    table = Columns(
        f"Regret itself. {sizes}", ("", "Fig. 3", "Fig. 4", "mean of grid", "most on grid")
    )
    for name, one in everyone.items():
        most = one.grid.at(int(one.grid.mean.argmax()))
        table.rows.append((name, *map(str, (one.fig3, one.fig4, one.grid.all, most))))
    most = limit.at(int(limit.mean.argmax()))
    table.rows.append(("the five in hindsight", "", "", str(limit.all), str(most)))
    return table


def _worst(effort: Effort, ours: Map, five: dict[str, Map], sizes: str) -> Columns:
    """Where the default is furthest above the best of the five."""
    limit = hindsight(five.values())
    above, count = clearly_above(ours, limit), len(ours.mean)
    over = int((ours.mean > FACTOR * limit.mean + ALLOWANCE).sum())
    table = Columns(
        f"Where {DEFAULT} does worst: the points with the largest difference to the best of the"
        f" five. {sizes}",
        ("p_c, p_f", DEFAULT, "best of five", "who", "difference"),
        notes=[
            f"Of {count} points it is above the best of the five by more than two standard errors"
            f" at {above}, and above {FACTOR:g} times the best and {ALLOWANCE:g} at {over}."
        ],
    )
    for k in worst_points(ours, limit, 8):
        who = best({name: one.at(k) for name, one in five.items()})[0]
        difference = ours.at(k).less(limit.at(k))
        row = (place(points(effort)[k]), str(ours.at(k)), str(limit.at(k)), who, str(difference))
        table.rows.append(row)
    return table


# 2. points between, goals


def other_points(effort: Effort) -> list[Columns]:
    """Points that had no part in the choice of the constants."""
    replicas, at = effort.choose(20, 1000), between(effort)
    maps = {name: grid(at, name, replicas) for name in (DEFAULT, OTHERS[0], *FIVE)}
    limit = hindsight(maps[name] for name in FIVE)
    table = Columns(
        f"The {len(at)} points half-way between those of the grid: p_c and p_f from .05 to .95 in"
        f" steps of .1. {replicas:,} replicas a point, seeds 0 to {len(at) - 1}",
        ("", "mean", "ratio to hindsight", "most", "worst point", "at"),
        notes=[BIASED],
    )
    for name, one in maps.items():
        k, over = beyond(one, limit)
        most = one.at(int(one.mean.argmax()))
        cells = map(str, (one.all, one.all.over(limit.all), most, over))
        table.rows.append((name, *cells, place(at[k])))
    table.rows.append(("the five in hindsight", str(limit.all), "", "", "", ""))
    return [table]


def goals(effort: Effort) -> list[Columns]:
    """Whether the order is the same for other goals and starts."""
    replicas = effort.choose(10, 200)
    cases: dict[str, tuple[int, StartLike]] = {
        "G = 10": (10, "uniform"),
        "G = 50": (50, "uniform"),
        "highest": (4, 3),
        "increasing": (4, LINEAR),
        "decreasing": (4, {4 - state: share for state, share in LINEAR.items()}),
    }
    found = {
        what: {name: grid(points(effort), name, replicas, case=case) for name in (DEFAULT, *FIVE)}
        for what, case in cases.items()
    }
    sizes = f"{replicas:,} replicas a point, {seeds(effort)}"
    return [_orders(found, sizes), _worst_by_case(effort, found, sizes)]


def _orders(found: dict[str, dict[str, Map]], sizes: str) -> Columns:
    """The means over the grid, by case."""
    table = Columns(
        "Other goals (uniform start) and other starts (goal 4: all rounds in the highest state;"
        f" chances that increase, decrease linearly with the state): mean of the grid. {sizes}",
        ("", *found),
        notes=[BIASED],
    )
    for name in (DEFAULT, *FIVE):
        table.rows.append((name, *(str(maps[name].all) for maps in found.values())))
    ours = [maps[DEFAULT].all for maps in found.values()]
    limits = [hindsight(maps[name] for name in FIVE).all for maps in found.values()]
    singles = [best({name: maps[name].all for name in FIVE})[1] for maps in found.values()]
    pairs = zip(ours, limits, strict=True)
    table.rows.append(("the five in hindsight", *map(str, limits)))
    table.rows.append(("ratio to hindsight", *(str(a.over(b)) for a, b in pairs)))
    pairs = zip(ours, singles, strict=True)
    table.rows.append(("ratio to best single", *(str(a.over(b)) for a, b in pairs)))
    return table


def _worst_by_case(effort: Effort, found: dict[str, dict[str, Map]], sizes: str) -> Columns:
    """Where the default is worst, by case."""
    table = Columns(
        f"The three points where {DEFAULT} is furthest above the best of the five, by goal and"
        f" start. {sizes}",
        ("", "p_c, p_f", DEFAULT, "best of five", "who", "difference", "clear"),
        notes=[
            "clear: at how many points the default is above the best by more than two standard"
            " errors."
        ],
    )
    for case, maps in found.items():
        limit = hindsight(maps[name] for name in FIVE)
        clear = str(clearly_above(maps[DEFAULT], limit))
        for k in worst_points(maps[DEFAULT], limit, 3):
            ours, least = maps[DEFAULT].at(k), limit.at(k)
            who = best({name: maps[name].at(k) for name in FIVE})[0]
            cells = (place(points(effort)[k]), str(ours), str(least), SHORT.get(who, who))
            table.rows.append((case, *cells, str(ours.less(least)), clear))
    return table


# 3. growth


def growth(effort: Effort) -> list[Columns]:
    """Growth per unit of log T, against the floor."""
    ends = [10**k for k in range(4, 7 if effort.quick else 9)]
    learners = {DEFAULT: (20, 1000), "doorstep-bayes": (10, 300), "doorstep-kl": (20, 1000)}
    fourth = {name: effort.choose(*sizes) for name, sizes in learners.items()}
    third = dict.fromkeys(learners, effort.choose(200, 20_000))
    return [_growth("Fig. 4", FIG4, fourth, ends), _growth("Fig. 3", FIG3, third, ends)]


def _growth(
    setting: str, problem: grbp.Problem, replicas: dict[str, int], ends: Sequence[int]
) -> Columns:
    """The slopes of each learner between powers of ten, and regret at both ends."""
    curves = {}
    for name, count in replicas.items():
        say(f"{name} over {ends[-1]:,} rounds, {setting}")
        result = grbp.simulate(problem, [name], ends[-1], count, 0, at=ends)
        curves[name] = result.curves[name]
    counts = ", ".join(f"{count:,}" for count in replicas.values())
    floor = grbp.regret_floor(problem)
    table = Columns(
        f"Growth per unit of log T in the setting of {setting}, where no uniformly good learner"
        f" grows by less than {floor:.3f} in the long run. {counts} replicas, seed 0",
        ("", *replicas),
    )
    for k, end in enumerate(ends):
        means = (Estimate(float(c.mean[k]), float(c.se[k])) for c in curves.values())
        table.rows.append((f"regret at 10^{len(str(end)) - 1}", *map(str, means)))
    for k in range(len(ends) - 1):
        slopes = (_slope(c.mean, c.covariance, k) for c in curves.values())
        table.rows.append((f"slope, 10^{k + 4} to 10^{k + 5}", *map(str, slopes)))
    return table


def _slope(mean: Floats, covariance: Floats, k: int) -> Estimate:
    """The gain from one power of ten to the next, divided by log 10."""
    variance = covariance[k, k] + covariance[k + 1, k + 1] - 2.0 * covariance[k, k + 1]
    gain = float(mean[k + 1] - mean[k])
    return Estimate(gain / math.log(10.0), math.sqrt(max(0.0, float(variance))) / math.log(10.0))


# 4. rounds


def rounds(effort: Effort) -> list[Columns]:
    """Fewer and more rounds."""
    replicas = effort.choose(10, 200)
    sizes = f"{replicas:,} replicas a point, {seeds(effort)}"
    heads = ("T", DEFAULT, "with horizon=T", "getbe-ps")
    means = Columns(f"Fewer and more rounds, T: mean of the grid. {sizes}", heads)
    mosts = Columns(f"The same: the largest on the grid, and at which p_c, p_f. {sizes}", heads)
    for count in (300, 1000, 5000, 20_000, 100_000)[: 3 if effort.quick else 5]:
        learners = (DEFAULT, f"{DEFAULT}:horizon={count}", "getbe-ps")
        maps = [grid(points(effort), name, replicas, count) for name in learners]
        most = [(one, int(one.mean.argmax())) for one in maps]
        means.rows.append((f"{count:,}", *(str(one.all) for one in maps)))
        cells = (f"{one.at(k)} at {place(points(effort)[k])}" for one, k in most)
        mosts.rows.append((f"{count:,}", *cells))
    return [means, mosts]


# 5. starts


def starts(effort: Effort) -> list[Columns]:
    """All rounds in one state: where it is 1, CONTINUE is not learned on the way."""
    replicas = effort.choose(40, 2000)
    settings = [(0.45, 0.3), (0.65, 0.3), (0.3, 0.5), (0.8, 0.6)]
    tables: list[Columns] = []
    for goal, start in ((4, 1), (4, 2), (4, 3), (2, 1)):
        say(f"goal {goal}, all rounds in state {start}")
        table = Columns(
            f"All rounds start in state {start}, goal {goal}. {replicas:,} replicas, seed 0",
            ("p_c, p_f", "best", DEFAULT, *(SHORT.get(name, name) for name in FIVE)),
            notes=["best: the threshold that is right."] if not tables else [],
        )
        for p_c, p_f in settings:
            problem = grbp.Problem(goal, p_c, p_f, start)
            found = [str(once(problem, name, replicas)) for name in (DEFAULT, *FIVE)]
            row = (place((p_c, p_f)), str(grbp.optimal_threshold(problem)), *found)
            table.rows.append(row)
        tables.append(table)
    return tables


# 6. drift


def drift(effort: Effort) -> list[Columns]:
    """A p_c that changes slowly, against the best threshold of the moment."""
    replicas = effort.choose(40, 2000)
    learners = (DEFAULT, "doorstep-bayes", "getbe-ps", "getbe-ucb", "getbe-sm", "no-explore")
    paths = drifting.paths(ROUNDS)
    table = Columns(
        f"p_c drifts over {ROUNDS:,} rounds, p_f = .3: regret against the best threshold of each"
        f" moment. {replicas:,} replicas, seed 0",
        ("", *paths),
        notes=[
            "Rising: from .45 to .65, falling: from .65 to .45, sine: from .55 up to .65, down to"
            " .45 and back. No learner forgets. Without a drift the loop regrets, replica by"
            " replica, what grbp.simulate says: checked in this run."
        ],
    )
    for name in learners:
        say(f"{name} under drifts")
        drifting.check(name, replicas=effort.choose(10, 50))
        found = (drifting.regret_under(name, path, replicas) for path in paths.values())
        table.rows.append((name, *map(str, found)))
    return [table]


SECTIONS: Sections = {
    "targets": ("What was asked of the default", targets),
    "unseen": ("The same with unseen seeds", once_more),
    "between": ("Points between", other_points),
    "goals": ("Other goals and starts", goals),
    "growth": ("Growth and the floor", growth),
    "horizon": ("A wrong horizon", constants.horizon),
    "prior": ("The constants of the default", constants.prior),
    "rounds": ("Fewer and more rounds", rounds),
    "starts": ("All rounds in one state", starts),
    "drift": ("When p_c drifts", drift),
}


if __name__ == "__main__":
    run(__file__, "What the learners of the doorstep regret", LEGEND, SECTIONS)
