"""What overlap costs: regret with many cases in flight, late outcomes, overruled advice.

    .venv/bin/python benchmarks/overlap.py            # prints, writes overlap.md and the picture
    .venv/bin/python benchmarks/overlap.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/overlap.py --only late

Every study has 2,000 cases (200 in a quick run) and a seed of its own, and every setting meets the
same seeds. The
studies follow the rules of the live advisor; of every setting, the first is played again by the
rules themselves, and every decision must be the same. The number of threads changes no digit.
"""

import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

import grbp
import overlap_world as world_of
from columns import Columns
from grbp._palette import PALETTE
from grbp.figures.canvas import save
from grbp.figures.style import line_styles
from grbp.numerics.arrays import Floats, Ints
from measure import Effort, say
from overlap_coverage import HELD, Missed, missed
from overlap_world import FORESEEN, ISSUED, OBSERVED, World, audit, played
from sections import Section, Sections, run

T = TypeVar("T")

LEGEND = (
    "G = 4, and first states are equally likely; 2,000 cases in each study. The n studies of a"
    " setting have the seeds 0 to n - 1. p_C and p_F are the truth, the same in all cases. The"
    " advice is followed, and learners begin with drawn estimates, unless a table says otherwise."
    " In flight: so many cases are open at any time, and what an action leads to is told after a"
    " day on average, by an exponential law, anew for each step. Regret is the number of goals lost"
    " against the best that could have been done in each state, on average over what follows from"
    " there. In brackets is the standard error. Of every setting, the first study was played again"
    " by the rules of the live advisor, with the same decisions."
)
GOAL = 4
TRUTHS = [(0.65, 0.3), (0.45, 0.3), (0.5, 0.2)]
GETBE, DEFAULT = "getbe-sm", grbp.DEFAULT_LEARNER
FLIGHTS = (1, 5, 20, 100, 500)
PAST = 100
IN_FLIGHT = "Regret by the number of cases in flight"
WITH_PAST = f", with records of {PAST} past cases"
ONLY = ", observed only"
ONE_A_DAY = {"in_flight": 0}
NO_WINDOW, FINISH_ONLY, BOTH = "no window", "a window for FINISH", "windows for both"
WITH_RECORDS = f"{BOTH}, {PAST} past cases"


class Outcome(NamedTuple):
    """What came of the studies of a setting: an entry for each of them."""

    regret: Floats
    forced: Ints
    bias: Floats


@cache
def outcome(learner: str, world: World, studies: int) -> Outcome:
    """Plays the studies of a setting, and audits the first."""
    check = partial(audit, learner, world, 0) if world.counting == ISSUED else None
    rows = over(studies, partial(_one, learner, world), check)
    return Outcome(*(np.array(column) for column in zip(*rows, strict=True)))


def _one(learner: str, world: World, seed: int) -> tuple[float, int, float]:
    """The regret of a study, the FINISH taken in it only to learn, and the final bias of p_F."""
    regret, cases, _ = played(learner, world, seed)
    f, f_goal = cases[-1, [world_of.F, world_of.F_GOAL]]
    return regret, int(cases[:, world_of.FORCED].sum()), f_goal / f - world.p_f if f else math.nan


def over(
    studies: int, task: Callable[[int], T], check: Callable[[], None] | None = None
) -> list[T]:
    """The answers of a task for all seeds, from threads: compiled loops hold nobody back."""
    first = task(0)  # It compiles.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        checked = pool.submit(check) if check else None
        found = [first, *pool.map(task, range(1, studies), chunksize=1)]
        if checked:
            checked.result()
    return found


def shown(values: Floats, decimals: int = 1) -> str:
    """A mean and its standard error."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        return "none"
    error = kept.std() / math.sqrt(len(kept))
    return f"{kept.mean():.{decimals}f} ({error:.{decimals}f})"


def cases_of(effort: Effort) -> int:
    """The cases of a study."""
    return effort.choose(200, 2000)


def named(learner: str, truth: tuple[float, float]) -> str:
    """A learner and a truth in a few words."""
    return f"{learner}; {truth[0]:g}, {truth[1]:g}"


def flights(effort: Effort) -> list[Columns]:
    """Cases in flight, with FINISH counted when it is issued, and only when it is observed."""
    studies, new = effort.choose(10, 400), partial(World, GOAL, cases=cases_of(effort))
    heads = ["learner; p_C, p_F", *(f"{n}" for n in FLIGHTS)]
    note = f"{studies:,} studies in each setting."
    lost = Columns(IN_FLIGHT, heads, notes=[note])
    due = math.ceil(15.0 * math.log(2000))
    forced = Columns(
        f"FINISH taken only to learn, by {GETBE}: mean (most) of a study",
        heads,
        notes=[
            f"ceil(D(2,000)) = {due}. Most: in any of {studies:,} studies. Observed only: as if"
            " FINISH counted when its outcome is told, which the live advisor does not do."
        ],
    )
    for learner, truth in product((GETBE, DEFAULT), TRUTHS):
        for counting, what in ((ISSUED, ""), (OBSERVED, ONLY)):
            found = [
                outcome(learner, new(*truth, in_flight=n, counting=counting), studies)
                for n in FLIGHTS
            ]
            name = named(learner, truth) + what
            lost.rows.append([name, *(shown(one.regret) for one in found)])
            if learner == GETBE:
                counts = [f"{one.forced.mean():.0f} ({one.forced.max()})" for one in found]
                forced.rows.append([name, *counts])
            if counting == ISSUED and learner == GETBE and max(o.forced.max() for o in found) > due:
                raise SystemExit(f"{name}: more than {due} FINISH were taken only to learn")
            say(name)
    past = Columns(
        IN_FLIGHT + WITH_PAST,
        heads,
        notes=[f"{studies:,} studies in each setting. The records hold {PAST // 2} FINISH and"
               f" {2 * PAST} CONTINUE, from which the learner begins instead of drawn estimates."],
    )  # fmt: skip
    for learner, truth in product((GETBE, DEFAULT), TRUTHS):
        worlds = [new(*truth, in_flight=n, past=PAST) for n in FLIGHTS]
        found = [outcome(learner, world, studies) for world in worlds]
        past.rows.append([named(learner, truth), *(shown(one.regret) for one in found)])
        say(past.rows[-1][0])
    return [lost, forced, past]


def foreseeing(effort: Effort) -> list[Columns]:
    """Whether FINISH should count before its case stands where it is advised."""
    studies, numbers, cases = effort.choose(10, 400), FLIGHTS[2:], cases_of(effort)
    table = Columns(
        "Regret if FINISH counts before it is advised, less that of the rule",
        ["learner; p_C, p_F", *(f"{n} in flight" for n in numbers)],
        notes=[
            f"{studies:,} studies in each setting, the same for both. The rule: FINISH counts as"
            " taken when it is advised in the state where the case is now. Here it also counts,"
            " by the estimated chance, for cases that may still come down to state 1."
        ],
    )
    for learner, truth in product((DEFAULT, "doorstep-kl"), TRUTHS):
        cells = []
        for n in numbers:
            rule = World(GOAL, *truth, cases, in_flight=n)
            more = outcome(learner, rule._replace(counting=FORESEEN), studies).regret
            cells.append(shown(more - outcome(learner, rule, studies).regret, 2))
        table.rows.append([named(learner, truth), *cells])
        say(table.rows[-1][0])
    return [table]


def delays(effort: Effort) -> list[Columns]:
    """One case a day, and outcomes that are told after some time, whatever they are."""
    studies, days = effort.choose(10, 400), (0, 1, 7, 30, 100, 365)
    new = partial(World, GOAL, cases=cases_of(effort), **ONE_A_DAY)
    table = Columns(
        "Regret by the days after which an outcome is told, one case a day",
        ["learner; p_C, p_F", *(f"{d} days" for d in days)],
        notes=[
            f"{studies:,} studies in each setting. A case is opened every day, whatever is open."
            " The days are exponential, anew for each step of a case."
        ],
    )
    for learner, truth in product((GETBE, DEFAULT), TRUTHS):
        found = [outcome(learner, new(*truth, pace=float(d)), studies) for d in days]
        table.rows.append([named(learner, truth), *(shown(one.regret) for one in found)])
        say(table.rows[-1][0])
    return [table]


def late_world(truth: tuple[float, float], cases: int, late: int, windows: str) -> World:
    """The world in which a goal is told so many days later than anything else."""
    world = World(GOAL, *truth, cases, **ONE_A_DAY, spread=0, late=late)
    if windows != NO_WINDOW:
        world = world._replace(window=late + 1, both=int(windows != FINISH_ONLY))
    return world._replace(past=PAST) if windows == WITH_RECORDS else world


def late(effort: Effort) -> list[Columns]:
    """Goals that are told later than all else, with and without windows."""
    studies, days, cases = effort.choose(10, 300), (30, 100, 500), cases_of(effort)
    heads = ["learner; p_C, p_F", "0 days", *(f"{d} days" for d in days)]
    lost = Columns(
        "Regret by how much later a goal is told, one case a day",
        heads,
        notes=[
            f"{studies:,} studies in each setting. A case is opened every day, whatever is open."
            " All else is told a day after the action, exactly. A window holds every outcome of its"
            " action until a goal would have been told as well."
        ],
    )
    bias = Columns(
        "Bias of p_F after 2,000 days",
        heads,
        notes=[
            f"The same {studies:,} studies: the share of FINISH that won, of those that count at"
            " the end, less p_F; in studies that have any."
        ],
    )
    for learner, truth in product((GETBE, DEFAULT), TRUTHS):
        at_once = outcome(learner, late_world(truth, cases, 0, NO_WINDOW), studies)
        for windows in (NO_WINDOW, FINISH_ONLY, BOTH, WITH_RECORDS):
            found = [outcome(learner, late_world(truth, cases, d, windows), studies) for d in days]
            if windows == NO_WINDOW:
                found = [at_once, *found]
            name, blank = f"{named(learner, truth)}, {windows}", [""] * (4 - len(found))
            lost.rows.append([name, *blank, *(shown(one.regret) for one in found)])
            if windows != WITH_RECORDS:
                bias.rows.append([name, *blank, *(shown(one.bias, 3) for one in found)])
            say(name)
    return [lost, bias]


def overruled(effort: Effort) -> list[Columns]:
    """Advice that is not followed, in state 1 and everywhere."""
    studies, shares = effort.choose(10, 300), (0.0, 0.05, 0.1, 0.3)
    tables = []
    for anywhere, where in ((0, "in state 1"), (1, "in every state")):
        table = Columns(
            f"Regret by the share of advice that is overruled, {where}",
            ["learner; p_C, p_F", *(f"{100.0 * share:g} %" for share in shares)],
            notes=[f"{studies:,} studies in each setting, one case after another. An action is the"
                   " other one by this chance, whatever the case. Oracle: who knows the truth is"
                   " overruled as often."],
        )  # fmt: skip
        for learner, truth in product((GETBE, DEFAULT, "oracle"), TRUTHS):
            best = f"threshold-{grbp.optimal_threshold(grbp.Problem(GOAL, *truth))}"
            found = [
                outcome(
                    best if learner == "oracle" else learner,
                    World(GOAL, *truth, cases_of(effort), overrule=share, anywhere=anywhere),
                    studies,
                )
                for share in shares
            ]
            table.rows.append([named(learner, truth), *(shown(one.regret) for one in found)])
            say(table.rows[-1][0])
        tables.append(table)
    return tables


def coverage(effort: Effort) -> list[Columns]:
    """How often the intervals that are printed with advice miss the truth."""
    studies, cases = effort.choose(10, 500), cases_of(effort)
    ever = Columns(
        "Studies in which an interval ever missed, in percent",
        ["setting; learner", "any", *HELD],
        notes=[
            f"Of {studies:,} studies of each truth (a share of 3 % has a standard error of .8):"
            " those in which it missed at the opening of one case at least. The truths are those of"
            " the other tables; 10 % are overruled in every state; late goals come as above. Shown"
            " is the largest of the three truths. All intervals together are to hold in 95 % of"
            " studies. B(p_C) misses where p_C does; CONTINUE is its value in the state in which"
            " the case was opened."
        ],
    )
    advice = Columns(
        "Cases at whose opening an interval missed, in percent",
        ["setting; learner", *HELD],
        notes=["The same studies, and again the largest of the three truths."],
    )
    for (setting, make), learner in product(SETTINGS.items(), (GETBE, DEFAULT)):
        found = [over(studies, partial(_missed, learner, make(truth, cases))) for truth in TRUTHS]
        for table, part in ((ever, 0), (advice, 1)):
            most = np.max([np.mean([one[part] for one in rows], axis=0) for rows in found], axis=0)
            table.rows.append(
                [f"{setting}; {learner}", *(f"{100.0 * share:.1f}" for share in most)]
            )
        say(f"{setting}; {learner}")
    return [ever, advice]


SETTINGS: dict[str, Callable[[tuple[float, float], int], World]] = {
    "one case after another": lambda truth, n: World(GOAL, *truth, n),
    "20 in flight": lambda truth, n: World(GOAL, *truth, n, in_flight=20),
    "100 in flight": lambda truth, n: World(GOAL, *truth, n, in_flight=100),
    "told after 30 days": lambda truth, n: World(GOAL, *truth, n, **ONE_A_DAY, pace=30.0),
    "10 % overruled": lambda truth, n: World(GOAL, *truth, n, overrule=0.1, anywhere=1),
    "goals 100 days late, windows for both": lambda truth, n: late_world(truth, n, 100, BOTH),
    "goals 100 days late, no window": lambda truth, n: late_world(truth, n, 100, NO_WINDOW),
}


def _missed(learner: str, world: World, seed: int) -> Missed:
    """Which intervals of a study miss."""
    return missed(world, played(learner, world, seed).cases)


SECTIONS: Sections = {
    "flights": Section("Cases in flight", flights),
    "foreseeing": Section("When FINISH counts", foreseeing),
    "delays": Section("Outcomes that come late", delays),
    "late": Section("Goals that come later than all else", late),
    "overruled": Section("Overruled advice", overruled),
    "coverage": Section("The intervals that are printed", coverage),
}


def means_in(page: str, table: str) -> dict[str, list[float]]:
    """The mean regrets of a table of a page, by the name of the row."""
    part = page.split(f"### {table}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if ") |" in line]
    return {name: [float(cell.split()[0]) for cell in cells] for name, *cells in rows}


def draw(page: str, file: Path) -> None:
    """Nothing; writes the picture of regret by cases in flight, from what the page says."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (slow to import)

    figure = Figure(figsize=(11, 3.8), dpi=150, layout="constrained")
    getbe, default = (line_styles([name])[name][0] for name in (GETBE, DEFAULT))
    without, with_past = means_in(page, IN_FLIGHT), means_in(page, IN_FLIGHT + WITH_PAST)
    lines = {
        f"{GETBE}, if FINISH counted only when observed": (GETBE, ONLY, without, getbe, "--"),
        GETBE: (GETBE, "", without, getbe, "-"),
        DEFAULT: (DEFAULT, "", without, default, "-"),
        f"{DEFAULT}, with {PAST} past cases": (DEFAULT, "", with_past, default, "--"),
    }
    for axes, truth in zip(figure.subplots(1, len(TRUTHS), sharey=True), TRUTHS, strict=True):
        for label, (learner, what, means, colour, style) in lines.items():
            found = means[named(learner, truth) + what]
            axes.plot(FLIGHTS, found, style, color=colour, marker="o", markersize=4, label=label)
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(0.0, 300.0)
        axes.set_xticks(FLIGHTS, [f"{n}" for n in FLIGHTS])
        axes.set_xticks([], minor=True)
        axes.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
        axes.set_xlabel("cases in flight")
        axes.set_title(f"p_C = {truth[0]:g}, p_F = {truth[1]:g}", fontsize=11, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=PALETTE["line"].light)
    figure.axes[0].set_ylabel("goals lost in 2,000 cases")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    save(figure, file)


if __name__ == "__main__":
    run(__file__, "Overlap, measured", LEGEND, SECTIONS)
    if len(sys.argv) == 1:
        page = Path(__file__).with_suffix(".md").read_text("utf-8")
        draw(page, Path(__file__).parent.parent / "docs" / "images" / "overlap")
