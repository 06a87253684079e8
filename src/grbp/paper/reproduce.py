"""The paper again: its figures by their numbers, and all of it with one call."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from grbp.errors import InvalidInput
from grbp.experiments import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FOLDER,
    AnySpec,
    CurveResult,
    GridResult,
    Result,
    as_printed,
    run,
    to_csv,
)
from grbp.experiments.simulation import Progress, Simulation
from grbp.figures import (
    boundary_figure,
    regret_figure,
    regret_map_figure,
    save,
    transition_figure,
)
from grbp.figures.canvas import drawing
from grbp.paper.report import Section, regret_table, report_html, write_page
from grbp.paper.verdict import Verdict, verdicts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_FIGURES: Final = {
    1: "What the two actions do in a state",
    2: "The boundary between the exploration and the no-exploration region",
    3: "Regret where finishing in state 1 is right",
    4: "Regret where finishing is never right",
    5: "Regret of GETBE-SM over all probabilities",
}
"""What each figure shows, by its number; `make reproduce` makes them all."""

_MEASURED: Final[dict[int, AnySpec]] = {3: FIGURE_3, 4: FIGURE_4, 5: FIGURE_5}

_READING: Final = {
    1: "A round starts in one of the states between the dead end and the goal. Continuing moves"
    " it one state up or down; finishing ends it at once, at the goal or at the dead end.",
    2: "Each curve is the chance of reaching the goal from state 1 by continuing for ever. Where"
    " finishing succeeds more often than that, finishing in state 1 is right (no-exploration"
    " region); elsewhere it never is, and a learner must try it on purpose to know (exploration"
    " region).",
    3: "The optimal policy finishes in state 1, so every round of it teaches something about"
    " both actions, and a learner may stop paying. The paper has 200 runs of each learner; two"
    " hundred cannot tell these means apart, so there are more here. Shades are simultaneous"
    " 95% bands. The verdicts above use intervals for one number at a time, which are narrower.",
    4: "The optimal policy never finishes, so finishing must be tried on purpose, at a price, for"
    " ever: regret grows at least with the logarithm of the rounds. The dashed guide is what"
    " forced exploration costs in theory.",
    5: "The regret of GETBE-SM for every pair of probabilities, as a map and as a surface. The"
    " black line is the boundary of Figure 2 for this goal.",
}

_FURTHER: Final = {
    "growth-3": "Figure 3, followed a hundred thousand times further. What is bounded stays where"
    " it is; NoExplore, whose regret grows with every round, leaves the picture at once.",
    "growth-3-policies": "The same for the two learners that compare policies by their wins. On"
    " the logarithmic axis a logarithm is a straight line; that of UCB-PolSelection is steeper at"
    " first than it will be.",
    "growth-4": "Figure 4, followed a hundred thousand times further: straight lines.",
    "growth-4-ucb": "The same for the learners with upper confidence bounds, which bend before"
    " they are straight.",
}
"""The curves beyond the paper's horizon, and what to see in them."""

_BEYOND: Final = {
    "growth-3": "3",
    "growth-3-policies": "3, learners of policies",
    "growth-4": "4",
    "growth-4-ucb": "4, upper confidence bounds",
}
"""The figure of the paper that each goes on from, and with whom."""

Say = Callable[[str], None]
"""Called with a line that says what has been done."""


def paper_figure(
    number: int,
    goals: Sequence[int] = (),
    *,
    folder: Path = FOLDER,
    progress: Progress | None = None,
) -> "Figure":
    """One figure of the paper; Figures 1 and 2 for the goals given, or the usual ones.

    Figures 3 to 5 are measured: their data are taken from the folder, or made and kept there.

    Paper: fig:GRBP
    Paper: fig:Boundary
    Paper: fig:regretinf
    Paper: fig:closetobound
    Paper: fig:3D
    """
    if number not in PAPER_FIGURES:
        known = ", ".join(map(str, PAPER_FIGURES))
        raise InvalidInput(f"figure {number!r} was asked for; there is {known}")
    if number == 1 and len(goals) > 1:
        raise InvalidInput(f"{len(goals)} goals were given; Figure 1 shows one")
    if number in _MEASURED and goals:
        raise InvalidInput(f"a goal was given; Figure {number} has the paper's, which is 4")
    if number == 1:
        return transition_figure(*goals)
    if number == 2:
        return boundary_figure(goals) if goals else boundary_figure()
    return _drawn(run(_MEASURED[number], folder, progress), _title(number))


def save_figure(figure: "Figure", folder: Path, number: int) -> list[Path]:
    """The files a figure was written to: figure-NUMBER.png and .svg in the folder, or neither."""
    return save(figure, folder / f"figure-{number}")


def save_simulation(simulation: Simulation, path: Path) -> list[Path]:
    """The files that the curves of a simulation were drawn into: .png and .svg, or neither."""
    stem = path.with_suffix("") if path.suffix in (".png", ".svg") else path
    return save(regret_figure(simulation), stem)


def reproduce(
    folder: Path,
    *,
    printed: bool = False,
    progress: Progress | None = None,
    say: Say = lambda _: None,
) -> list[Verdict]:
    """The verdict on every claim; figures, tables and the report are written to the folder.

    What an earlier call has measured is found again in its subfolder `data`. With printed, as
    many replicas as the paper has, which is too few to decide much.

    Paper: sec:numeric
    """
    with drawing():
        pass  # without Matplotlib, refuse now and not after everything was measured
    results: dict[str, Result] = {}
    for done, (name, spec) in enumerate(EXPERIMENTS.items(), start=1):
        asked = as_printed(spec) if printed else spec
        size = f"{asked.replicas:,} replicas of {asked.rounds:,} rounds"
        say(f"[{done}/{len(EXPERIMENTS)}] {name}: {size}")
        results[name] = run(asked, folder / "data", progress)
        to_csv(results[name], folder / f"{name}.csv")
    sections = []
    for number, shows in PAPER_FIGURES.items():
        result = results.get(f"figure-{number}")
        # On the page the heading says what the file must say itself.
        figure = paper_figure(number) if result is None else _drawn(result)
        titled = figure if result is None else _drawn(result, _title(number))
        save_figure(titled, folder, number)
        say(f"figure-{number}.png and figure-{number}.svg")
        head, rows = (
            regret_table(result.simulation) if isinstance(result, CurveResult) else ((), ())
        )
        title = f"Figure {number}. {shows}"
        sections.append(Section(title, _READING[number], figure, shows, head, rows))
    for name, text in _FURTHER.items():
        result = results[name]
        if isinstance(result, CurveResult):
            title = f"Figure {_BEYOND[name]}, out to {result.spec.rounds:,} rounds"
            figure = regret_figure(result.simulation)
            save(regret_figure(result.simulation, title), folder / name)
            say(f"{name}.png and {name}.svg")
            head, rows = regret_table(result.simulation)
            sections.append(Section(title, text, figure, title, head, rows))
    found = verdicts(results)
    write_page(report_html(sections, found, _facts(results)), folder / "report.html")
    say("report.html: every claim of the paper, and whether it held")
    return found


def _title(number: int) -> str:
    return f"Figure {number}: {PAPER_FIGURES[number][0].lower()}{PAPER_FIGURES[number][1:]}"


def _drawn(result: Result, title: str = "") -> "Figure":
    """The figure of a result."""
    if isinstance(result, GridResult):
        spec = result.spec
        p_c, p_f = np.array(spec.p_c), np.array(spec.p_f)
        return regret_map_figure(p_c, p_f, result.mean.T, spec.goal, title)
    return regret_figure(result.simulation, title)


def _facts(results: dict[str, Result]) -> dict[str, str]:
    """How the numbers were made, in words."""
    metas = [result.meta for result in results.values()]
    versions = {f"{name} {version}" for meta in metas for name, version in meta.versions.items()}
    specs = [result.spec for result in results.values()]
    sizes = [f"{s.name}: {s.replicas:,} replicas of {s.rounds:,} rounds" for s in specs]
    return {
        "Command": "make reproduce",
        "Experiments": "; ".join(sizes),
        "Seeds": ", ".join(sorted({str(spec.seed) for spec in specs})),
        "Versions": ", ".join(sorted(versions)),
        "Code revision": ", ".join(sorted({meta.revision for meta in metas})),
        "Measured": f"{min(m.made for m in metas)} to {max(m.made for m in metas)}",
    }
