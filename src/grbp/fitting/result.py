"""The result of a fit: what the records say, how sure that is, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from grbp._display import Displayable, Rows, make_frame
from grbp._format import as_plain, format_interval
from grbp.errors import InvalidInput
from grbp.fitting.estimates import Proportion
from grbp.fitting.evidence import FINISH, Decision, support_of
from grbp.fitting.frames import interval_table, known_estimates, make_table
from grbp.fitting.model_tests import AssumptionTest
from grbp.fitting.printed_fit import summarize
from grbp.fitting.sentences import SUPPORT, say_support
from grbp.fitting.standardize import Standardized
from grbp.fitting.statewise import LARGEST_GOAL, MeanChain
from grbp.fitting.watch import Alarm
from grbp.learners.counters import Counters
from grbp.learners.registry import DEFAULT_LEARNER
from grbp.numerics.arrays import Floats
from grbp.theory.posterior import JEFFREYS, Estimate, Posterior, Prior
from grbp.worlds.chain import Chain
from grbp.worlds.labels import Labels
from grbp.worlds.validation import check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MAPPINGS: Final = ("dropped", "first_lines", "ways", "by_group")


class OpenCases(NamedTuple):
    """How many cases have no end yet.

    Attributes
    ----------
    empty_next : int
        Cases whose last row has no next state.
    no_row : int
        Cases that are in an inner state for which there is no row.
    """

    empty_next: int
    no_row: int


class StateRow(NamedTuple):
    """What the records say about one state.

    Attributes
    ----------
    state : int
        The state.
    c, c_up : int
        The moves by one state under CONTINUE, and those of them that went up.
    f, f_goal : int
        How often FINISH was tried, and how often it reached the goal.
    stays, jumps : int
        How often CONTINUE stayed, and how often it jumped further than one state.
    action : str
        The action that is right in the general chain: "continue" or "finish"; "unknown" where one
        of the two was never tried.
    probability : float or None
        How probable it is that this action is the right one.
    """

    state: int
    c: int
    c_up: int
    f: int
    f_goal: int
    stays: int
    jumps: int
    action: str
    probability: float | None

    @property
    def finish_probability(self) -> float | None:
        """How probable it is that FINISH is right."""
        if self.probability is None:
            return None
        return self.probability if self.action == FINISH else 1.0 - self.probability


class Cusum(NamedTuple):
    """The running sum of what cases were above the model, in their order.

    Attributes
    ----------
    x : ndarray
        The number of the case.
    y : ndarray
        The sum up to it, in units of its standard deviation at the end.
    limit : float
        How far from 0 it may come before its test, adjusted for all others, says that p_c shifted.
    """

    x: Floats
    y: Floats
    limit: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cusum) or self.limit != other.limit:
            return False
        return np.array_equal(self.x, other.x) and np.array_equal(self.y, other.y)

    def __hash__(self) -> int:
        return hash((len(self.x), self.limit))


@dataclass(frozen=True)
class Fit(Decision, Displayable):
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
    decision : {"threshold-0", "threshold-1", "by-state", "by-group", "none"}
        The policy that is right, as far as the records say. A tie is "none": both are equally good.
    reason : str or None
        Why there is no decision, or why it is one by state or by group.
    sentence : str
        What the records say, how sure that is, and what would settle it.
    firm : bool
        Whether the records are sure of the decision, at the level of the fit.
    probabilities : tuple of float or None
        The probabilities that never finishing, and that finishing in state 1 alone, is right; None
        without a decision.
    doubts : tuple of str
        What speaks against the model of one p_C and one p_F, in sentences, the gravest first.
    way : {"boundary", "direct", "general", "standardized"}
        The way to value state 1 that the sentence rests on: the boundary, unless the records speak
        against it or groups differ.
    difference : Estimate or None
        p_f less the value of continuing in state 1: B(p_c), or the first way that stands where the
        records speak against that. A hidden bias of that size in p_f would reverse the decision.
    tests : tuple of AssumptionTest
        The assumptions of the model, tested.
    by_state : tuple of StateRow
        What the records say about each state, and which action is right there.
    by_group : dict of Fit
        The answer of each group.
    first_states : tuple of int
        How many cases started in each state; for aggregated rows, which do not say that, how often
        one stood there.
    practice, value_0, value_1 : Estimate or None
        The share of ended cases that reached the goal, and what the thresholds 0 and 1 would have
        reached from the same first states; by the chain state by state where the records speak
        against B(p_c), and None where they speak against that too.
    pending : tuple of float or None
        The share of goals if all open cases are lost, and if all are won.
    cusum : Cusum or None
        The running sum for the picture of drift.
    labels : Labels
        What the table calls its states and actions.
    standardized : Standardized or None
        The estimates standardised over groups; None without groups.
    threshold_gain : Estimate or None
        What `gain` returns.
    prior_c, prior_f : tuple of float
        The priors with which probabilities of decisions were computed, as Beta laws.
    alarms : tuple of Alarm
        Of adaptive records, the alarms that rose when every move was looked at, the one with the
        most evidence first. All of them together are wrong with a probability of at most
        1 - level.
    mean_chain : MeanChain or None
        What `to_chain` is made from.
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
    difference: Estimate | None
    tests: tuple[AssumptionTest, ...]
    by_state: tuple[StateRow, ...]
    first_states: tuple[int, ...]
    practice: Estimate | None
    value_0: Estimate | None
    value_1: Estimate | None
    pending: tuple[float, float] | None
    cusum: Cusum | None = field(repr=False)
    by_group: Mapping[str, "Fit"] = field(default_factory=dict)
    labels: Labels = Labels()  # noqa: RUF009 (it cannot be changed)
    standardized: Standardized | None = None
    threshold_gain: Estimate | None = None
    prior_c: Prior = JEFFREYS
    prior_f: Prior = JEFFREYS
    alarms: tuple[Alarm, ...] = ()
    mean_chain: MeanChain | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        mappings = {name: dict(getattr(self, name)) for name in _MAPPINGS}
        return partial(Fit, **(vars(self) | mappings)), ()

    def __hash__(self) -> int:
        return hash((self.goal, self.rows, self.cases, self.sentence))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Fit of {self.rows:,} rows, {self.cases:,} cases: {self.sentence}>"

    @property
    def posterior(self) -> Posterior:
        """The posterior of the two probabilities, with the priors of the fit."""
        c, f = self.p_c, self.p_f or Proportion(0, 0)
        return Posterior(self.goal, *c.counts, *f.counts, self.prior_c, self.prior_f)

    @property
    def learner(self) -> str:
        """The default learner, with what these records say of p_c and p_f as its priors.

        Records that depend on one another count for less than their number, so it believes them
        less firmly than a study that begins with them. Where p_f or p_c differs between
        groups or states, it knows nothing of that.

        Returns
        -------
        str
            Its name with constants, for `simulate`, `Session`, `Study.create` and the shell.

        Examples
        --------
        >>> import grbp
        >>> grbp.fit(grbp.example_records("model", cases=60, seed=2), goal=4).learner
        'doorstep-optimal:good=8.5,bad=19.5,up=46.5,down=55.5'
        """
        of = self.posterior
        counts = {
            "good": of.f_goal + of.prior_f[0],
            "bad": of.f_lost + of.prior_f[1],
            "up": of.c_up + of.prior_c[0],
            "down": of.c_down + of.prior_c[1],
        }
        known = ",".join(f"{name}={count:.6g}" for name, count in counts.items())
        return f"{DEFAULT_LEARNER}:{known}"

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
        """Return by how much the share of cases won is larger with threshold 1 than with 0.

        Returns
        -------
        Estimate or None
            With first states as in the records; None where there is no decision, or no way to
            value state 1 stands from which it follows.
        """
        return self.threshold_gain

    @property
    def support(self) -> dict[str, tuple[int, ...]]:
        """The states in which the records support "finish", or "continue", at the level of the fit.

        The others are "undecided", or "unknown" where one of the actions was never tried.
        """
        return support_of((row.finish_probability for row in self.by_state), self.level)

    @property
    def support_sentence(self) -> str:
        """The same as a sentence."""
        return SUPPORT.format(support=say_support(self.support))

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

    def to_chain(self, unknown: float | Literal["pooled"] | None = None) -> Chain:
        """Return the chain that the records show, to be simulated or planned for.

        Chances by state are those of the general chain, each shrunk towards the others as far as
        states are alike; stays are the shares seen, and rounds start as the cases did.

        Parameters
        ----------
        unknown : float or "pooled", optional
            The chance of FINISH to take in states where it was never tried: a number, or the share
            of all states together. Records say nothing about it, so that it has to be chosen.

        Returns
        -------
        Chain

        Raises
        ------
        InvalidInput
            If FINISH was never tried in some state and nothing is chosen for it, or if the goal is
            too large for a general chain, or CONTINUE never moved.

        Examples
        --------
        >>> import grbp
        >>> records = grbp.example_records("model", cases=60, seed=2)
        >>> grbp.fit(records, goal=4).to_chain("pooled").p_f.round(2)
        array([0.3, 0.3, 0.3])
        """
        if self.mean_chain is None:
            raise InvalidInput(
                "the records show no chain; CONTINUE must have moved, and the goal must be at most"
                f" {LARGEST_GOAL}"
            )
        untried = [k + 1 for k, p in enumerate(self.mean_chain.p_f) if p is None]
        taken = unknown
        if unknown == "pooled":
            taken = None if self.p_f is None else self.p_f.successes / self.p_f.tries
        if untried and taken is None:
            raise InvalidInput(
                f"FINISH was never tried in {join_states(untried)}; say what its chance is there"
                " (unknown), a number or, where it was tried elsewhere, 'pooled'"
            )
        p_f = np.array([taken if p is None else p for p in self.mean_chain.p_f], dtype=np.float64)
        stays = np.array(
            [row.stays / max(row.c + row.jumps + row.stays, 1) for row in self.by_state]
        )
        law = np.array(self.mean_chain.law) * (1.0 - stays)[:, None]
        first = np.array(self.first_states, dtype=np.float64)
        return Chain.from_law(law, p_f, first / first.sum() if first.any() else "uniform")

    def summary(self) -> str:
        """Return the result as text, 80 columns wide, with the sentence on top.

        Returns
        -------
        str
        """
        return summarize(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers and words, as ``grbp fit --json`` prints it.

        Returns
        -------
        dict
        """
        plain = {name: as_plain(value) for name, value in vars(self).items()}
        for name in ("first_lines", "cusum", "probabilities", "threshold_gain", "mean_chain"):
            del plain[name]
        return plain | {
            "p_c": _plain_share(self.p_c, "ups"),
            "p_f": None if self.p_f is None else _plain_share(self.p_f, "wins"),
            "probability_threshold_1": self.probability_threshold_1,
            "gain": as_plain(self.threshold_gain),
            "support": as_plain(self.support),
            "tests": [
                {key: value for key, value in asdict(test).items() if key != "name"}
                for test in self.tests
            ],
            "alarms": [alarm._asdict() for alarm in self.alarms],
            "counters": as_plain(self.counters),
        }

    def report(self, facts: Mapping[str, str] | None = None) -> str:
        """Return a page that explains the result to someone who is not a statistician.

        Parameters
        ----------
        facts : mapping of str, optional
            More facts on how the page was made, such as the name of the table.

        Returns
        -------
        str
            One file of HTML that fetches nothing.

        Raises
        ------
        MissingExtra
            If Matplotlib or Jinja2 is not installed.
        """
        from grbp.reports.fit_report import fit_report  # noqa: PLC0415 (it is above, and slow)

        return fit_report(self, facts or {})

    def to_frame(self, library: str | None = None, *, of: str = "estimates") -> Any:
        """Return numbers of the result as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            The library whose data frame is made; by default pandas, or else Polars, whichever is
            installed.
        of : {"estimates", "states", "groups", "tests", "alarms"}
            What has a row: each estimate, of all cases and of each group; each action in each
            state; each action in each group; each assumption that was tested; or each alarm that
            rose.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Raises
        ------
        MissingExtra
            If the library is not installed.

        Examples
        --------
        >>> import grbp
        >>> result = grbp.fit(grbp.example_records(cases=500, seed=1), goal=4)
        >>> tests = result.to_frame(of="tests").set_index("name")
        >>> tests.loc["memory", ["effect_unit", "test"]].tolist()
        ['odds ratio', 'Cochran-Mantel-Haenszel']
        """
        return make_frame(make_table(self, of), library)

    def conf_int(self, level: float | None = None, *, library: str | None = None) -> Any:
        """Return the intervals of what decides, at this level or another, as a data frame.

        Parameters
        ----------
        level : float, optional
            The level, between 0 and 1; by default that of the fit.
        library : {"pandas", "polars"}, optional
            As for `to_frame`.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            A row for p_c, p_f, the boundary and their difference, each with its method; the last
            is left out where the answer rests on something else.

        Examples
        --------
        >>> import grbp
        >>> result = grbp.fit(grbp.example_records(cases=500, seed=1), goal=4)
        >>> narrow = result.conf_int(level=0.8).set_index("quantity")
        >>> narrow.loc["p_f", ["low", "high"]].round(3).tolist()
        [0.266, 0.348]
        """
        return make_frame(interval_table(self, self.level if level is None else level), library)

    def _table(self) -> Rows:
        return make_table(self, "estimates")

    def _summary(self) -> Rows:
        return ("", "estimate, with its interval"), (
            (name, format_interval(*number)) for name, number in known_estimates(self)
        )

    def _draw(self, ax: "Axes | None") -> "Figure":
        return self.plot_boundary(ax)

    def plot_boundary(self, ax: "Axes | None" = None) -> "Figure":
        """Draw how sure the side of the boundary is; `ax` is as in `plot`."""
        from grbp.figures.fit_map import boundary_figure  # noqa: PLC0415 (it is above)

        return boundary_figure(self, ax)

    def plot_ways(self, ax: "Axes | None" = None) -> "Figure":
        """Draw the three ways to value continuing in state 1, beside p_f; `ax` is as in `plot`."""
        from grbp.figures.fit_ways import ways_figure  # noqa: PLC0415 (it is above)

        return ways_figure(self, ax)

    def plot_states(self, ax: "Axes | None" = None) -> "Figure":
        """Draw p_c and p_f state by state, with the number of records; `ax` is as in `plot`."""
        from grbp.figures.fit_states import states_figure  # noqa: PLC0415 (it is above)

        return states_figure(self, ax)

    def plot_cusum(self, ax: "Axes | None" = None) -> "Figure":
        """Draw what cases were above the model, summed in order; `ax` is as in `plot`."""
        from grbp.figures.fit_cusum import cusum_figure  # noqa: PLC0415 (it is above)

        return cusum_figure(self, ax)


def join_states(states: Sequence[int]) -> str:
    """Write some states: "state 3", or "the states 3, 4"."""
    return f"the states {', '.join(map(str, states))}" if len(states) > 1 else f"state {states[0]}"


def _plain_share(share: Proportion, successes: str) -> dict[str, Any]:
    """Return a share with all its intervals, under the names that files have."""
    kinds = ("wilson", "jeffreys", "clopper_pearson", "anytime")
    return {
        successes: share.successes,
        "tries": share.tries,
        "estimate": share.estimate,
        **{kind: list(getattr(share, kind)) for kind in kinds},
        "effective": share.effective,
        "by_case": None if share.by_case is None else list(share.by_case),
    }
