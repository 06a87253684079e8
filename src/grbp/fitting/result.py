"""The result of a fit: what the records say, how sure that is, and what it rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from grbp._display import Displayable, Rows
from grbp._words import with_interval
from grbp.fitting.assumptions import AssumptionTest
from grbp.fitting.estimates import Proportion, spanned
from grbp.fitting.parts import Cusum, OpenCases, StateRow
from grbp.learners.counters import Counters
from grbp.model.validation import check_whole
from grbp.theory.posterior import Estimate, Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MAPPINGS: Final = ("dropped", "first_lines", "ways", "by_group")


@dataclass(frozen=True, eq=False)
class Fit(Displayable):
    """What records of past cases say: estimates, the decision, and whether to believe it.

    It holds numbers only, not the records. `fit` makes it.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    level : float
        The level of all intervals.
    adaptive : bool
        Whether a learner chose the actions.
    rows, cases : int
        The rows that were read, and the cases in them (0 for aggregated rows).
    open : OpenCases
        How many cases have no end yet.
    dropped : dict of int
        How many rows were left out, by the rule that they break.
    first_lines : dict of int
        The first line of each of these.
    stays, jumps : int
        How often CONTINUE stayed in place, or went further than one state.
    notes : tuple of str
        What a reader should know about the table, in sentences.
    p_c, p_f : Proportion
        The estimated probabilities with their intervals; `p_f` is None if FINISH was never tried.
    boundary : Estimate or None
        B(p_c), what continuing in state 1 is worth: the p_f from which finishing there is right.
    ways : dict of Estimate
        What continuing in state 1 is worth in three ways: by the boundary, by the general chain,
        and directly. A way that the records do not allow is None.
    decision : {"threshold-0", "threshold-1", "by-state", "none"}
        The policy that is right, as far as the records say.
    reason : str or None
        Why there is no decision, or why it is one by state.
    sentence : str
        What the records say, how sure that is, and what would settle it.
    firm : bool
        Whether the records are sure of the decision, at the level of the fit.
    probabilities : tuple of float or None
        The probabilities that never finishing, and that finishing in state 1 alone, is right; None
        without a decision.
    difference : Estimate or None
        p_f - B(p_c): how much FINISH is better in state 1; a hidden bias of that size in p_f would
        turn the decision round.
    tests : tuple of AssumptionTest
        The assumptions of the model, tested.
    general : tuple of StateRow
        The general chain, state by state.
    by_group : dict of Fit
        The answer of each group.
    first_states : tuple of int
        How many cases started in each state; for aggregated rows, which do not say that, how often
        one stood there.
    practice, value_0, value_1 : Estimate or None
        The share of ended cases that reached the goal, and what the thresholds 0 and 1 would have
        reached from the same first states.
    pending : tuple of float or None
        The share of goals if all open cases are lost, and if all are won.
    cusum : Cusum or None
        The running sum for the picture of drift.
    """

    goal: int
    level: float
    adaptive: bool
    rows: int
    cases: int
    open: OpenCases
    dropped: Mapping[str, int]
    first_lines: Mapping[str, int]
    stays: int
    jumps: int
    notes: tuple[str, ...]
    p_c: Proportion
    p_f: Proportion | None
    boundary: Estimate | None
    ways: Mapping[str, Estimate | None]
    decision: str
    reason: str | None
    sentence: str
    firm: bool
    probabilities: tuple[float, float] | None
    difference: Estimate | None
    tests: tuple[AssumptionTest, ...]
    general: tuple[StateRow, ...]
    first_states: tuple[int, ...]
    practice: Estimate | None
    value_0: Estimate | None
    value_1: Estimate | None
    pending: tuple[float, float] | None
    cusum: Cusum | None = field(repr=False)
    by_group: Mapping[str, "Fit"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        return _restored, (kept | {name: dict(kept[name]) for name in _MAPPINGS},)

    def __repr__(self) -> str:
        return f"<Fit of {self.rows:,} rows, {self.cases:,} cases: {self.sentence}>"

    @property
    def posterior(self) -> Posterior:
        """The posterior of the two probabilities, with Jeffreys' prior."""
        won, lost = (0, 0) if self.p_f is None else _both(self.p_f)
        return Posterior(self.goal, *_both(self.p_c), won, lost)

    @property
    def probability_threshold_1(self) -> float | None:
        """The probability that finishing in state 1 is right; None without a decision."""
        return self.probability(1)

    def probability(self, threshold: int) -> float | None:
        """Return the probability that a threshold is right.

        Parameters
        ----------
        threshold : {0, 1}
            Never finish, or finish in state 1 alone.

        Returns
        -------
        float or None
            None where there is no decision.
        """
        tau = check_whole("threshold", threshold, 0, 1)
        return None if self.probabilities is None else self.probabilities[tau]

    def gain(self) -> Estimate | None:
        """Return how many more cases in one threshold 1 wins than threshold 0, on average.

        Returns
        -------
        Estimate or None
            With first states as in the records; None where there is no decision.
        """
        if self.probabilities is None:
            return None
        shares = [count / sum(self.first_states) for count in self.first_states]
        return spanned(*self.posterior.gain(shares, self.level))

    @property
    def counters(self) -> Counters | None:
        """The counts from which a session or a study can go on; None without both actions.

        They give no credit to a threshold: whoever took the actions need not have played one.
        """
        if self.p_f is None or not self.p_c.tries:
            return None
        f, c = self.p_f, self.p_c
        return Counters(
            self.cases + 1, float(f.tries), float(f.successes), float(c.tries),
            float(c.successes), 0.0, 0.0, 0.0, 0.0,
        )  # fmt: skip

    def summary(self) -> str:
        """Return the result as text, 80 columns wide, with the sentence on top.

        Returns
        -------
        str
        """
        return str(import_module("grbp.fitting.summary").summary_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers and words, as ``grbp fit --json`` prints it.

        Returns
        -------
        dict
        """
        return {
            "goal": self.goal,
            "level": self.level,
            "adaptive": self.adaptive,
            "sentence": self.sentence,
            "rows": self.rows,
            "cases": self.cases,
            "open": self.open._asdict(),
            "dropped": dict(self.dropped),
            "stays": self.stays,
            "jumps": self.jumps,
            "notes": list(self.notes),
            "p_c": _proportion(self.p_c, "ups"),
            "p_f": None if self.p_f is None else _proportion(self.p_f, "wins"),
            "boundary": _estimate(self.boundary),
            "probability_threshold_1": self.probability_threshold_1,
            "difference": _estimate(self.difference),
            "gain": _estimate(self.gain()),
            "decision": self.decision,
            "firm": self.firm,
            "reason": self.reason,
            "ways": {name: _estimate(way) for name, way in self.ways.items()},
            "tests": [asdict(test) for test in self.tests],
            "by_state": [row._asdict() for row in self.general],
            "first_states": list(self.first_states),
            "practice": _estimate(self.practice),
            "value_0": _estimate(self.value_0),
            "value_1": _estimate(self.value_1),
            "pending": None if self.pending is None else list(self.pending),
            "counters": None if self.counters is None else self.counters._asdict(),
            "by_group": {name: group.to_dict() for name, group in self.by_group.items()},
        }

    def report(self, facts: Mapping[str, str] | None = None) -> str:
        """Return a page that explains the result to someone who is not a statistician.

        Parameters
        ----------
        facts : mapping of str, optional
            What else is said of how the page was made, such as the name of the table.

        Returns
        -------
        str
            One file of HTML that fetches nothing.

        Raises
        ------
        MissingExtra
            If Matplotlib or Jinja2 is not installed.
        """
        return str(import_module("grbp.pages.fit_page").fit_report(self, facts or {}))

    def _table(self) -> Rows:
        fits = {"": self, **self.by_group}
        return ("group", "quantity", "estimate", "low", "high"), (
            (group, name, *number) for group, fit in fits.items() for name, number in fit._known()
        )

    def _summary(self) -> Rows:
        return ("", "estimate, with its interval"), (
            (name, with_interval(*number)) for name, number in self._known()
        )

    def _known(self) -> Iterator[tuple[str, Estimate]]:
        """Yield every estimate that the records allow, with its name."""
        for name, share in (("p_c", self.p_c), ("p_f", self.p_f)):
            if share is not None and share.estimate is not None:
                yield name, Estimate(share.estimate, *share.interval)
        estimates = {
            "boundary": self.boundary,
            "general": self.ways["general"],
            "direct": self.ways["direct"],
            "difference": self.difference,
            "practice": self.practice,
            "value_0": self.value_0,
            "value_1": self.value_1,
            "gain": self.gain(),
        }
        yield from ((name, number) for name, number in estimates.items() if number is not None)

    def _draw(self, ax: "Axes | None") -> "Figure":
        return self.plot_boundary(ax)

    def plot_boundary(self, ax: "Axes | None" = None) -> "Figure":
        """Draw where the probabilities lie beside the boundary, with their uncertainty.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self._drawn("boundary", ax)

    def plot_ways(self, ax: "Axes | None" = None) -> "Figure":
        """Draw the three ways to value continuing in state 1, beside p_f.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self._drawn("ways", ax)

    def plot_states(self, ax: "Axes | None" = None) -> "Figure":
        """Draw p_c and p_f state by state, with the number of records.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self._drawn("states", ax)

    def plot_cusum(self, ax: "Axes | None" = None) -> "Figure":
        """Draw the running sum of what cases were above the model, in their order.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self._drawn("cusum", ax)

    def _drawn(self, what: str, ax: "Axes | None") -> "Figure":
        """Call the function of `grbp.figures.records` for a picture."""
        draw = getattr(import_module("grbp.figures.records"), f"{what}_figure")
        figure: Figure = draw(self, ax)
        return figure


def _restored(kept: dict[str, Any]) -> Fit:
    """Make a fit again from its pickled fields."""
    return Fit(**kept)


def _both(share: Proportion) -> tuple[int, int]:
    return share.successes, share.tries - share.successes


def _estimate(number: Estimate | None) -> dict[str, float] | None:
    return None if number is None else number._asdict()


def _proportion(share: Proportion, successes: str) -> dict[str, Any]:
    return {
        successes: share.successes,
        "tries": share.tries,
        "estimate": share.estimate,
        "wilson": list(share.wilson),
        "jeffreys": list(share.jeffreys),
        "clopper_pearson": list(share.clopper_pearson),
        "anytime": list(share.anytime),
    }
