"""The result of planning: what to expect of a study, over a range of plausible truths."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grbp._display import Displayable, Rows
from grbp._format import as_plain, plural
from grbp.model.problem import Start
from grbp.planning.operating_characteristics import Outlook, Truth
from grbp.planning.summary import expectations, summarize
from grbp.theory.posterior import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLUMNS: Final = (
    "p_c", "p_f", "boundary", "right", "loss",
    *(
        column
        for name, kind in Outlook.__annotations__.items()
        for column in ([name, f"{name}_low", f"{name}_high"] if kind is Estimate else [name])
    ),
)  # fmt: skip
"""The columns of a plan as a table: an estimate is followed by the ends of its interval."""


@dataclass(frozen=True, repr=False)
class Plan(Displayable):
    """What can be expected of learning, over a range of plausible truths; `plan` makes it.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    start : str or tuple
        The distribution of the first state, as `Problem.start`.
    learner : str
        The name of the learner.
    cases : tuple of int
        The numbers of cases that were asked about, in order.
    truths : tuple of Truth
        The truths: p_c from the lowest on and, for each, p_f from the lowest on.
    replicas, seed : int
        How many studies of each truth were played, and with which seed.
    level : float
        The probability from which on one is sure: 0.95, or `stop_at`.
    overlap, late_wins, look_from : int
        See `plan`.
    overrule : float
        See `plan`.
    stop_at : float or None
        See `plan`.
    past_cases : int
        The number of cases in the records with which the study begins; 0 without records.
    weights : tuple of float or None
        How plausible the records make each truth, in all 1; None without records.

    Notes
    -----
    `to_frame` has a row for each truth and number of cases; `plot` draws both curves of every
    truth: how many studies play the right policy, and how many know it.

    See Also
    --------
    plan : Makes a plan.

    Examples
    --------
    >>> import grbp
    >>> result = grbp.plan(4, p_c=0.65, p_f=0.3, cases=[50, 200], replicas=100)
    >>> (truth,) = result.truths
    >>> truth.right, round(truth.boundary, 3)
    (0, 0.504)
    >>> truth.at(200).plays_right.estimate > truth.at(50).plays_right.estimate
    True
    """

    goal: int
    start: Start
    learner: str
    cases: tuple[int, ...]
    truths: tuple[Truth, ...]
    replicas: int
    seed: int
    level: float
    overlap: int
    late_wins: int
    look_from: int
    overrule: float
    stop_at: float | None
    past_cases: int
    weights: tuple[float, ...] | None = None

    def __hash__(self) -> int:
        return hash((self.goal, self.learner, self.cases, self.replicas, self.seed))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        truths = plural(len(self.truths), "truth")
        return (
            f"<Plan of {self.learner} for {truths}, {self.replicas:,} studies each, seed"
            f" {self.seed}: {' '.join(expectations(self)[:2])}>"
        )

    @property
    def sentence(self) -> str:
        """What to expect with the largest number of cases, for people who are not statisticians."""
        return " ".join(expectations(self))

    def summary(self) -> str:
        """Return the result as text, 80 columns wide, with the sentence on top.

        Returns
        -------
        str
        """
        return summarize(self)

    def cells(self) -> Iterator[tuple[float, ...]]:
        """Yield a row of `COLUMNS` for every truth and number of cases that was asked about."""
        for truth in self.truths:
            right = math.nan if truth.right is None else truth.right
            for cases in self.cases:
                numbers = (
                    part
                    for one in truth.at(cases)
                    for part in (one if isinstance(one, Estimate) else (one,))
                )
                yield truth.p_c, truth.p_f, truth.boundary, right, truth.loss, *numbers

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers and words, as ``grbp plan --json`` prints it.

        Returns
        -------
        dict
        """
        truths = [
            {name: value for name, value in vars(truth).items() if name != "outlooks"}
            | {"after": [truth.at(cases) for cases in self.cases]}
            for truth in self.truths
        ]
        plain: dict[str, Any] = as_plain(vars(self) | {"sentence": self.sentence, "truths": truths})
        return plain

    def report(self, facts: Mapping[str, str] | None = None) -> str:
        """Return a page that explains the result to someone who is not a statistician.

        Parameters
        ----------
        facts : mapping of str, optional
            More facts on how the page was made, such as the command.

        Returns
        -------
        str
            One file of HTML that fetches nothing.

        Raises
        ------
        MissingExtra
            If Matplotlib or Jinja2 is not installed.
        """
        from grbp.reports.plan_report import plan_report  # noqa: PLC0415 (it is above, and slow)

        return plan_report(self, facts or {})

    def _table(self) -> Rows:
        return COLUMNS, self.cells()

    def _summary(self) -> Rows:
        last = self.cases[-1]
        columns = ("p_c", "p_f", f"plays right after {last:,} cases", "known", "goals lost")
        ends = [(truth, truth.at(last)) for truth in self.truths]
        return columns, (
            (
                f"{truth.p_c:g}",
                f"{truth.p_f:g}",
                *(one.estimate for one in (end.plays_right, end.known, end.goals_lost)),
            )
            for truth, end in ends
        )

    def _draw(self, ax: "Axes | None") -> "Figure":
        return self.plot_knowing(ax)

    def plot_knowing(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how many studies play the right policy, and know it; `ax` is as in `plot`."""
        from grbp.figures.planning import knowing_figure  # noqa: PLC0415 (it is above)

        return knowing_figure(self, ax)

    def plot_lost(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how many goals learning costs, by cases; `ax` is as in `plot`."""
        from grbp.figures.planning import lost_figure  # noqa: PLC0415 (it is above)

        return lost_figure(self, ax)
