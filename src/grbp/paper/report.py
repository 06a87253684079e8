"""One page that says what the experiments showed, for someone who has not read the paper.

Its words stand in `reports/templates`; the verdicts, figures and numbers are handed in.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from grbp._format import format_number
from grbp.experiments.simulation import Simulation
from grbp.figures.numbers import rounds_in_words
from grbp.figures.regret_curves import NOT_COVERED
from grbp.paper.verdict import LEGEND, Verdict, tally
from grbp.reports.page import Section, environment

_NO_NUMBER: Final = "\N{EN DASH}"


class Recommendation(NamedTuple):
    """Which learner to use, and why.

    Attributes
    ----------
    learner : str
        The one whose larger loss, of the two in Figures 3 and 4, is the smallest.
    rounds : str
        After how many rounds.
    losses : tuple of str
        Its regret in Figure 3 and in Figure 4.
    next : tuple of str
        The second best and the larger of its losses; empty if there is none.
    tempting : list of tuple
        Learners that lose less in one figure: the name, that figure and the loss there, the other
        figure and the loss there.
    """

    learner: str
    rounds: str
    losses: tuple[str, str]
    next: tuple[str, ...]
    tempting: list[tuple[str, int, str, int, str]]


def choose_learner(right: Simulation, never: Simulation) -> Recommendation:
    """Choose the learner that loses little whether or not it is right to finish.

    The simulations are those of Figure 3, where it is right in state 1, and of Figure 4.
    """
    losses = {
        name: (float(right.curves[name].mean[-1]), float(never.curves[name].mean[-1]))
        for name in right.curves
        if name in never.curves
    }
    best, *others = sorted(losses, key=lambda name: (max(losses[name]), name))
    tempting = [
        (name, 3 + k, format_number(losses[name][k]), 4 - k, format_number(losses[name][1 - k]))
        for name in others
        for k in (0, 1)
        if losses[name][k] < losses[best][k]
    ]
    first, second = map(format_number, losses[best])
    following = (others[0], format_number(max(losses[others[0]]))) if others else ()
    return Recommendation(best, rounds_in_words(right), (first, second), following, tempting)


def report_html(
    sections: Sequence[Section],
    verdicts: Sequence[Verdict],
    facts: Mapping[str, str],
    advice: Recommendation | None = None,
) -> str:
    """Write the page: the words, what leads, what to use, the other figures, and the verdicts.

    Everything handed in is taken as text, never as HTML.
    """
    page = environment().get_template("report.html.j2")
    return page.render(
        sections=list(sections),
        verdicts=verdicts,
        tally=tally(verdicts),
        legend=LEGEND,
        facts=facts,
        advice=advice,
    )


def regret_table(simulation: Simulation) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the numbers under a figure, the largest regret first."""
    shares = sorted({tau for curve in simulation.curves.values() for tau in curve.threshold_share})
    head = [
        "learner",
        f"mean regret after {rounds_in_words(simulation)}",
        "95% interval",
        "standard deviation over replicas",
        *(f"rounds with threshold {tau}" for tau in shares),
    ]
    rows = []
    for name, curve in sorted(
        simulation.curves.items(), key=lambda one: (-one[1].mean[-1], one[0])
    ):
        mean, interval, spread = float(curve.mean[-1]), _NO_NUMBER, _NO_NUMBER
        if simulation.replicas > 1:
            ends = (format_number(float(end[-1]), mean) for end in curve.band())
            interval = " to ".join(ends) if curve.covered else NOT_COVERED
            spread = format_number(curve.sd)
        share = [_share(curve.threshold_share.get(tau)) for tau in shares]
        rows.append([name, format_number(mean), interval, spread, *share])
    return head, rows


def _share(share: float | None) -> str:
    """Write a share in percent; what is not quite none or all does not read as if it were."""
    if share is None:
        return _NO_NUMBER
    if 0.0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1.0:
        return "> 99.9%"
    return f"{100.0 * share:.1f}%"
