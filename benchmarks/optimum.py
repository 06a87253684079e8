"""How near the doorstep learners are to the best that any learner can do.

    .venv/bin/python benchmarks/optimum.py            # prints, writes optimum.md and the picture
    .venv/bin/python benchmarks/optimum.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/optimum.py --only 500

p_C and p_F are drawn evenly from 0 to 1, rounds start anywhere, and the number of rounds is known.
`optimum_limits` says what nobody can be below, `optimum_policy` has the dynamic programme.
"""

import math
import sys
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from columns import Columns
from grbp._palette import PALETTE
from grbp.figures.canvas import save
from grbp.numerics.arrays import Floats
from measure import Effort, say
from optimum_limits import foreseen, told, two_armed
from optimum_policy import best_policy
from optimum_world import player, regrets
from regrets import Estimate, figure
from sections import Section, Sections, run

LEGEND = (
    "Mean regret over p_C and p_F drawn evenly from 0 to 1, with uniform starts, and its standard"
    " error. Limit: no learner can be below it. Best found: the least regret of the policies that"
    " were tried with T known, chosen with other seeds. All meet the same problems and draws, so"
    " ratios are more certain than means. The target is a ratio of at most 1.05; within two"
    " standard errors of it, the verdict is open. From 5,000 rounds on, half of the problems are"
    " near the boundary, with weights that undo that. First estimates are drawn. Replicas have the"
    " seed 0, and the best was chosen by a quarter as many with the seed 1."
)

RULE = "doorstep-optimal"
KNOWN = "the rule"
"""What the rule is called where it is told T."""

GOALS = 2, 3, 4, 7, 12, 25
REPLICAS = {100: (2000, 100_000), 500: (1000, 40_000), 5000: (100, 10_000), 50_000: (16, 1500)}
"""For every number of rounds: how many replicas in a quick run, and in a whole one."""

FORESEEN = 500
"""The largest number of rounds for which the estimates of B are foreseen; then it takes long."""

EXACT = "exact"
"""Who has a limit that is attained."""

CHOOSING, MEASURING = 1, 0
"""Seeds."""

DRAWN = 5000
"""The most rounds in the picture; over more, the errors are larger than what is to be seen."""

MOST = 1.05
"""What the rule with T known may have of the best that was found."""


class Limit(NamedTuple):
    """A regret that no learner can be below, its standard error, and who has it."""

    mean: float
    se: float
    who: str

    def __str__(self) -> str:
        error = f"±{figure(self.se, 1)}" if self.se else ""
        return f"{figure(self.mean)}{error} ({self.who})"


class Cell(NamedTuple):
    """What was found for one goal and one number of rounds."""

    limit: Limit
    best: str
    found: dict[str, Floats]

    @property
    def least(self) -> Estimate:
        """The least regret that is known to be attained."""
        return Estimate(self.limit.mean, 0.0) if self.limit.who == EXACT else self.mean(self.best)

    def mean(self, name: str) -> Estimate:
        """The mean regret of one of the players."""
        regret = self.found[name]
        return Estimate(float(regret.mean()), float(regret.std(ddof=1) / math.sqrt(len(regret))))

    def ratio(self, name: str) -> Estimate:
        """The regret of a player over that of the best, in the same problems."""
        if self.limit.who == EXACT:
            mean = self.mean(name)
            return Estimate(mean.mean / self.limit.mean, mean.se / self.limit.mean)
        regret, best = self.found[name], self.found[self.best]
        over = regret.mean() / best.mean()
        error = (regret - over * best).std(ddof=1) / math.sqrt(len(best)) / best.mean()
        return Estimate(float(over), float(error))


def limit(goal: int, rounds: int, effort: Effort) -> Limit:
    """The largest of the limits."""
    if goal == 2 and rounds <= FORESEEN:
        return Limit(two_armed(rounds), 0.0, EXACT)
    points = effort.choose(40, 400 if rounds <= FORESEEN else 50)
    limits = [Limit(told(goal, rounds, points), 0.0, "told")]
    if rounds <= FORESEEN:
        paths = effort.choose(200, 40_000 if rounds <= 100 else 3000)
        limits.append(Limit(*foreseen(goal, rounds, paths, MEASURING), "foreseen"))
    return max(limits)


def tried(goal: int, rounds: int) -> dict[str, str | None]:
    """What is tried with T known: learners by name, and the dynamic programme, which has none."""
    known = {KNOWN: f"{RULE}:horizon={rounds}"}
    return {**known, "programme": None} if goal > 2 else {**known}


def replicas_for(goal: int, rounds: int, effort: Effort) -> int:
    """How many replicas are played: fewer with G = 2, where the rule has more to compute."""
    count = effort.choose(*REPLICAS[rounds])
    return count if goal > 2 else count // 4


@cache
def cell(goal: int, rounds: int, effort: Effort) -> Cell:
    """Everything for one goal and one number of rounds."""
    say(f"goal {goal}, {rounds:,} rounds")
    players = {
        name: player(known) if known else best_policy(goal, rounds)
        for name, known in tried(goal, rounds).items()
    }
    count = replicas_for(goal, rounds, effort)
    play = partial(regrets, goal, rounds=rounds)
    first = {name: play(who, replicas=count // 4, seed=CHOOSING) for name, who in players.items()}
    best = min(first, key=lambda name: float(first[name].mean()))
    players[RULE] = player(RULE)
    found = {name: play(who, replicas=count, seed=MEASURING) for name, who in players.items()}
    return Cell(limit(goal, rounds, effort), best, found)


HEADS = (
    "G", "limit", "best found", "who", "rule, T known", "ratio", "target", "rule, T unknown",
)  # fmt: skip


def verdict(ratio: Estimate) -> str:
    """Whether a ratio is at most what it may be; open within two standard errors of it."""
    if abs(ratio.mean - MOST) < 2.0 * ratio.se:
        return "open"
    return "met" if ratio.mean <= MOST else "missed"


def measured(rounds: int, effort: Effort) -> list[Columns]:
    """The table for one number of rounds."""
    replicas = replicas_for(3, rounds, effort)
    table = Columns(
        f"{rounds:,} rounds. {replicas:,} replicas, a quarter of them with G = 2", HEADS
    )
    for goal in GOALS:
        one = cell(goal, rounds, effort)
        ratio = one.ratio(KNOWN)
        best = EXACT if one.limit.who == EXACT else one.best
        table.rows.append((
            str(goal), str(one.limit), str(one.least), best, str(one.mean(KNOWN)), str(ratio),
            verdict(ratio), str(one.mean(RULE)),
        ))  # fmt: skip
    return [table]


SECTIONS: Sections = {
    str(rounds): Section(f"{rounds:,} rounds", partial(measured, rounds)) for rounds in REPLICAS
}


def read_tables(file: Path) -> dict[int, list[list[Estimate]]]:
    """The numbers of the tables that were written: by rounds, a row for each goal."""
    found: dict[int, list[list[Estimate]]] = {}
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("## "):
            rows = found.setdefault(int(line.removeprefix("## ").split()[0].replace(",", "")), [])
        elif line.startswith("| ") and not line.startswith("| G"):
            rows.append([_number(word) for word in line.strip("| ").split("|")])
    return found


def _number(word: str) -> Estimate:
    """A number of a table, with its error if there is one; what is none is not a number."""
    mean, _, error = word.split("(", maxsplit=1)[0].strip().partition("±")
    try:
        return Estimate(float(mean), float(error or 0.0))
    except ValueError:
        return Estimate(math.nan, 0.0)


def draw(tables: dict[int, list[list[Estimate]]], file: Path) -> None:
    """Nothing; writes the picture of regrets over the best that was found."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (slow to import)

    limit, least, known, unknown = 1, 2, 4, 7  # The columns of HEADS.
    lines = {
        unknown: (f"{RULE}, T unknown", PALETTE["plum"].light, "D"),
        known: (f"{RULE}, T known", PALETTE["ink"].light, "o"),
    }
    picture = Figure(figsize=(11, 3.8), dpi=150, layout="constrained")
    panels = picture.subplots(1, len(tables), sharey=True)
    for axes, (rounds, rows) in zip(panels, tables.items(), strict=True):
        places = np.arange(len(rows))
        low = [row[limit].mean / row[least].mean for row in rows]
        axes.bar(places, low, color=PALETTE["line"].light, width=0.9, label="nobody can be in here")
        for column, (label, colour, marker) in lines.items():
            ratios = [row[column].mean / row[least].mean for row in rows]
            errors = [2.0 * row[column].se / row[least].mean for row in rows]
            axes.errorbar(places, ratios, errors, fmt=marker, color=colour, ms=5, label=label)
        axes.axhline(1.0, color=PALETTE["ink"].light, lw=0.8)
        axes.set_xticks(places, [str(int(row[0].mean)) for row in rows])
        axes.set_xlabel("G")
        axes.set_ylim(0.0, 1.6)
        axes.set_title(f"T = {rounds:,}", fontsize=11, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("regret over the best found")
    handles, labels = panels[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    save(picture, file)


if __name__ == "__main__":
    run(__file__, "Regret and the best possible, measured", LEGEND, SECTIONS)
    if not {"--quick", "--stamp"} & {*sys.argv}:
        images = Path(__file__).parent.parent / "docs" / "images"
        tables = read_tables(Path(__file__).with_suffix(".md"))
        drawn = {rounds: rows for rounds, rows in tables.items() if rounds <= DRAWN}
        draw(drawn, images / "how-near-the-best")
