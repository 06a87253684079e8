"""The result of planning: what to expect of a study, over a range of plausible truths."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from grbp._display import Displayable, Rows
from grbp._format import as_plain, plural
from grbp.planning.operating_characteristics import Outlook, Truth
from grbp.planning.printed_plan import expectations, needs, summarize, warnings
from grbp.planning.sample_size import Target
from grbp.theory.posterior import Estimate
from grbp.worlds.start import Start

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

_NEEDED_COLUMNS: Final = (
    "needed", "needed_low", "needed_high",
    "needed_goals_lost", "needed_goals_lost_low", "needed_goals_lost_high",
    "trial_cases", "trial_goals_lost",
)  # fmt: skip
"""The columns of how many cases are enough, where somebody asked."""

HEADS: Final = tuple(
    (*group, *COLUMNS, *needed) for group in ((), ("group",)) for needed in ((), _NEEDED_COLUMNS)
)
"""The columns that the table of a plan can have."""


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
    told : int
        The number of cases that the learner was told of, further ones where there are records; 0 if
        it was told none.
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
    target : Target or None
        Whether the right policy is to be "known" or, as "right", to be played, and in which share
        of studies; None where nobody asked how many cases that takes.
    doubts : tuple of str
        What the records say against the model on which the plan rests, the gravest first.
    decision : str
        What `fit` decided; empty without records.
    lost_by_state : float or None
        The goals in 100 cases that the better threshold loses against the policy by state; None
        where the records do not decide by state.
    by_group : dict of Plan
        A plan for the cases of each group, where groups differ.

    Notes
    -----
    `to_frame` has a row for each truth and number of cases; `plot` draws how many studies play the
    right policy, and how many know it, or, where that was asked, how many cases are enough.

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
    told: int
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
    target: Target | None = None
    doubts: tuple[str, ...] = ()
    decision: str = ""
    lost_by_state: float | None = None
    by_group: Mapping[str, "Plan"] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.goal, self.learner, self.cases, self.replicas, self.seed))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        truths = plural(len(self.truths), "truth")
        return (
            f"<Plan of {self.learner} for {truths}, {self.replicas:,} studies each, seed"
            f" {self.seed}: {' '.join([*warnings(self), *needs(self), *expectations(self)][:2])}>"
        )

    @property
    def sentence(self) -> str:
        """What to expect, for people who are not statisticians; doubts of the records come first.

        Then comes how many cases are enough, if that was asked, and what to expect with the largest
        number of cases.
        """
        return " ".join([*warnings(self), *needs(self), *expectations(self)])

    def summary(self) -> str:
        """Return the result as text, 80 columns wide, with the sentence on top.

        Returns
        -------
        str
        """
        return summarize(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the table; the first is the group, where groups differ."""
        group = ("group",) if self.by_group else ()
        return group + COLUMNS + (() if self.target is None else _NEEDED_COLUMNS)

    def cells(self) -> Iterator[tuple[float | str, ...]]:
        """Yield a row of the table for every truth and number of cases that was asked about."""
        if not self.by_group:
            yield from self._rows()
            return
        for name, plan in {"": self, **self.by_group}.items():
            for row in plan._rows():
                yield name, *row

    def _rows(self) -> Iterator[tuple[float, ...]]:
        for truth in self.truths:
            right = math.nan if truth.right is None else truth.right
            needed = () if truth.needed is None else _flatten(truth.needed)
            for cases in self.cases:
                numbers = _flatten(truth.at(cases))
                yield (
                    truth.p_c, truth.p_f, truth.boundary, right, truth.loss, *numbers, *needed,
                )  # fmt: skip

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
        return self.columns, self.cells()

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
        return self.plot_knowing(ax) if self.target is None else self.plot_needed(ax)

    def plot_needed(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how many cases are enough, beside a trial with two arms; `ax` is as in `plot`."""
        from grbp.figures.planning import needed_figure  # noqa: PLC0415 (it is above)

        return needed_figure(self, ax)

    def plot_knowing(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how many studies play the right policy, and know it; `ax` is as in `plot`."""
        from grbp.figures.planning import knowing_figure  # noqa: PLC0415 (it is above)

        return knowing_figure(self, ax)

    def plot_lost(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how many goals learning costs, by cases; `ax` is as in `plot`."""
        from grbp.figures.planning import lost_figure  # noqa: PLC0415 (it is above)

        return lost_figure(self, ax)


def _flatten(numbers: Iterable[Estimate | float]) -> tuple[float, ...]:
    """Return numbers in a row, an estimate as three."""
    return tuple(part for one in numbers for part in (one if isinstance(one, Estimate) else (one,)))
