"""The paper again: its figures by their numbers, and all of it with one call."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grbp._io import PAGE, PICTURES, Output, make_folder, table_kind, write_whole
from grbp._progress import Progress
from grbp.errors import InvalidInput
from grbp.experiments import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FOLDER,
    as_printed,
    run,
    to_csv,
)
from grbp.experiments.simulation import Simulation
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS
from grbp.figures import (
    boundary_figure,
    regret_figure,
    regret_map_figure,
    save,
    transition_figure,
)
from grbp.figures.canvas import (
    check_matplotlib,
    drawing_style,
    put_title,
    render,
    svg_of,
    write_pictures,
)
from grbp.figures.regret_curves import is_crowded
from grbp.paper.report import choose_learner, regret_table, report_html
from grbp.paper.verdict import Verdict, verdicts
from grbp.reports.page import Section, environment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_FIGURES: Final = {
    1: "What the two actions do in a state",
    2: "The boundary between the two regions",
    3: "Regret where finishing in state 1 is right",
    4: "Regret where finishing is never right",
    5: "Regret of GETBE-SM over all probabilities",
}
"""What each figure shows, by its number; `make reproduce` makes them all."""

_PAGE: Final = "report.html"

_MEASURED: Final[dict[int, SweepSpec]] = {3: FIGURE_3, 4: FIGURE_4, 5: FIGURE_5}

_LEADING: Final = "figure-1"
"""The figure that the page begins with."""


_BETWEEN: Final = (
    "Between two curves it depends on the goal: a problem above the curve of its goal\n"
    "lies in the no-exploration region."
)

_BARE: Final[dict[str, Callable[[], "Figure"]]] = {
    "figure-1": transition_figure,
    "figure-2": boundary_figure,
}
"""The figures that are not measured, without a title."""

Say: TypeAlias = Callable[[str], None]
"""A function that is called with a line on what has been done."""


def paper_figure(
    number: int,
    goals: Sequence[int] = (),
    *,
    folder: Path = FOLDER,
    progress: Progress | None = None,
) -> "Figure":
    """Draw one figure of the paper.

    Parameters
    ----------
    number : int
        A key of `PAPER_FIGURES`.
    goals : sequence of int, optional
        The goal of Figure 1 or the goals of Figure 2.
    folder : Path, optional
        Figures 3 to 5 are measured: their data are taken from this folder, or made and kept
        there.
    progress : callable, optional
        It is called with (what runs, replicas done, replicas in all).

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Paper: fig:GRBP
    Paper: fig:Boundary
    Paper: fig:regretinf
    Paper: fig:closetobound
    Paper: fig:3D

    Examples
    --------
    >>> import grbp
    >>> figure = grbp.paper_figure(2, [2, 10])
    >>> len(figure.axes[0].get_lines())
    2
    """
    if number not in PAPER_FIGURES:
        known = ", ".join(map(str, PAPER_FIGURES))
        raise InvalidInput(f"figure {number!r} was asked for; there is {known}")
    if number == 1 and len(goals) > 1:
        raise InvalidInput(f"{len(goals)} goals were given; Figure 1 shows one")
    if number in _MEASURED and goals:
        raise InvalidInput(f"a goal was given; Figure {number} has the paper's, which is 4")
    if number == 1:
        return put_title(transition_figure(*goals), _title(1))
    if number == 2:
        figure = boundary_figure(goals) if goals else boundary_figure()
        return put_title(figure, _title(2), "" if len(goals) == 1 else _BETWEEN)
    return _draw(run(_MEASURED[number], folder, progress), _title(number))


def save_figure(figure: "Figure", folder: Path, number: int) -> list[Path]:
    """Write a figure of the paper to figure-NUMBER.png and .svg, both of them or neither.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, as `paper_figure` returns it.
    folder : Path
        It is made if it is missing.
    number : int
        The figure's number in the paper.

    Returns
    -------
    list of Path
        The two files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import grbp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = grbp.save_figure(grbp.paper_figure(1), Path(folder), 1)
    >>> [path.name for path in files]
    ['figure-1.png', 'figure-1.svg']
    """
    make_folder(folder)
    return save(figure, folder / f"figure-{number}")


def save_simulation(simulation: Simulation, path: Path) -> list[Path]:
    """Draw the curves of a simulation into files, all of them or none.

    Parameters
    ----------
    simulation : Simulation
        The curves, as `simulate` returns them.
    path : Path
        Where to: a name that ends with .png, .svg or .pdf is one file of that kind, any other
        name is the beginning of a PNG and an SVG.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import grbp
    >>> result = grbp.simulate(grbp.Problem(4, 0.65, 0.3), ["getbe-sm"], 100, replicas=5, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = grbp.save_simulation(result, Path(folder) / "curves")
    >>> [path.name for path in files]
    ['curves.png', 'curves.svg']
    """
    return save(regret_figure(simulation), path)


def reproduce(
    folder: Path,
    *,
    printed: bool = False,
    progress: Progress | None = None,
    say: Say = lambda _: None,
) -> list[Verdict]:
    """Run every experiment of the paper; write its figures, tables and a report; judge it.

    Parameters
    ----------
    folder : Path
        Where to write. Results of an earlier call are found again in its subfolder `data`.
    printed : bool, optional
        Whether to use the paper's 200 replicas, which are too few to decide much.
    progress : callable, optional
        It is called with (what runs, replicas done, replicas in all).
    say : callable, optional
        It is called with a line on everything that has been done.

    Returns
    -------
    list of Verdict
        The verdict on every claim of the paper.

    Notes
    -----
    Paper: sec:numeric

    Examples
    --------
    It takes minutes:

    >>> from pathlib import Path
    >>> import grbp
    >>> rows = grbp.reproduce(Path("results"), say=print)  # doctest: +SKIP
    """
    # What is not installed is missed now and not after everything was measured.
    environment()
    check_matplotlib()
    results: dict[str, SweepResult] = {}
    for done, (name, spec) in enumerate(EXPERIMENTS.items(), start=1):
        asked = as_printed(spec) if printed else spec
        say(f"[{done}/{len(EXPERIMENTS)}] {_describe(asked)}")
        results[name] = run(asked, folder / "data", progress)
        to_csv(results[name], folder / f"{name}.csv")
    sections = []
    for name, words in _read_texts().items():
        title = (
            f"Figure {words['follows']}, out to {_rounds(results[name].spec):,} rounds"
            if "follows" in words
            else _title(int(name[-1]))
        )
        sections.append(_make_section(folder, name, title, words, results))
    say(f"{len(sections)} figures, as PNG and SVG")
    found = verdicts(results)
    advice = choose_learner(*(results[f"figure-{k}"].simulation() for k in (3, 4)))
    page = report_html(sections, found, _list_facts(results), advice)
    write_whole(folder / _PAGE, page.encode())
    say("report.html: every claim of the paper, and whether it held")
    return found


def list_files(folder: Path) -> list[Output]:
    """Return the files that `reproduce` writes, beside what it keeps in `data`."""
    return [
        *(Output(folder / f"{name}.csv", table_kind(COLUMNS)) for name in EXPERIMENTS),
        *(
            Output(folder / f"{name}.{kind}", PICTURES[kind])
            for name in _read_texts()
            for kind in ("png", "svg")
        ),
        Output(folder / _PAGE, PAGE),
    ]


def _read_texts() -> dict[str, Any]:
    """Read what the page says of each figure."""
    return tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))


def _title(number: int) -> str:
    return f"Figure {number}. {PAPER_FIGURES[number]}"


def _make_section(
    folder: Path,
    stem: str,
    title: str,
    words: Mapping[str, str],
    results: Mapping[str, SweepResult],
) -> Section:
    """Draw a figure, write its files, and make the part of the page about it.

    On the page the title is the heading, so the picture there has none.
    """
    result = results.get(stem)
    narrow, kinds = b"", ["svg", "png"]
    head: list[str] = []
    rows: list[list[str]] = []
    if result is None:
        figure, bare = paper_figure(int(stem[-1])), _BARE[stem]()
    else:
        figure, bare = _draw(result, title), _draw(result)
        narrow = svg_of(_draw_narrow(result))
        kinds = ["csv", *kinds]
        if result.spec.curves:
            head, rows = regret_table(result.simulation())
    write_pictures(render(figure), folder / stem)
    return Section(
        title,
        words["text"],
        svg_of(bare),
        f"{title}: {words['seen']}",
        head,
        rows,
        narrow=narrow,
        files=[f"{stem}.{kind}" for kind in kinds],
        leads=stem == _LEADING,
        seen=words["seen"],
    )


def _draw(result: SweepResult, title: str = "") -> "Figure":
    """Draw the figure of a result."""
    spec = result.spec
    if spec.curves:
        return regret_figure(result.simulation(), title)
    if title:
        title = f"{title}: {_rounds(spec):,} rounds, {spec.replicas:,} replicas a cell"
    return _draw_map(result, title)


def _draw_map(result: SweepResult, title: str = "", ax: "Axes | None" = None) -> "Figure":
    found = result.regret_map()
    return regret_map_figure(found.p_c, found.p_f, found.mean, found.goal, title, ax=ax)


def _draw_narrow(result: SweepResult) -> "Figure":
    """Draw a result for a narrow screen: one panel, and the legend below it."""
    with drawing_style():
        from matplotlib.figure import Figure  # noqa: PLC0415 (slow to import)

        if not result.spec.curves:
            axes = Figure(figsize=(4.6, 4.2)).add_axes((0.15, 0.13, 0.7, 0.82))
            return _draw_map(result, ax=axes)
        simulation = result.simulation()
        height = 4.25 + 0.2 * len(simulation.curves)
        figure = Figure(figsize=(4.6, height))
        axes = figure.add_axes((0.14, 1.0 - 3.3 / height, 0.82, 3.2 / height))
        if simulation.rounds > _rounds(FIGURE_3) or is_crowded(simulation):
            axes.set_xscale("log")
        if is_crowded(simulation):
            axes.set_yscale("log")
        regret_figure(simulation, ax=axes)
        if (legend := axes.get_legend()) is not None:
            legend.set_loc("upper left")
            legend.set_bbox_to_anchor((-0.12, -0.17), axes.transAxes)
        return figure


def _describe(spec: SweepSpec) -> str:
    return f"{spec.name}: {spec.replicas:,} replicas of {_rounds(spec):,} rounds"


def _rounds(spec: SweepSpec) -> int:
    return spec.checkpoints[-1]


def _list_facts(results: Mapping[str, SweepResult]) -> dict[str, str]:
    """List how the numbers were made."""
    metas = [result.meta for result in results.values()]
    specs = [result.spec for result in results.values()]
    versions = {f"{name} {version}" for meta in metas for name, version in meta.versions.items()}
    return {
        "Command": "make reproduce",
        "Experiments": "; ".join(map(_describe, specs)),
        "Seeds": ", ".join(sorted({str(spec.seed) for spec in specs})),
        "Versions": ", ".join(sorted(versions)),
        "Code revision": ", ".join(sorted({meta.revision for meta in metas})),
        "Measured": f"{min(m.made for m in metas)} to {max(m.made for m in metas)}",
    }
