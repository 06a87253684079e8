"""Say why an action is advised: what is known of both, how well, and what speaks for the other.

A basis is a pure function of what stood in the study when its case was opened. A learner chose the
actions and people look after every case, so the intervals are anytime ones, and both of them hold
at once: each of the two probabilities has half of the error. Whatever follows from the two is
monotone in each of them, and its ends are those of the rectangle; nothing further can go wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from grbp._format import as_plain
from grbp.learners.comparison import finish_is_right
from grbp.learners.counters import Counters, with_pending
from grbp.live.grounds import Ground, find_ground
from grbp.live.words import reasons
from grbp.model.labels import NO_WORDS, Labels
from grbp.model.transition import Action
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import anytime, check_level
from grbp.theory.posterior import Estimate, Posterior
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from grbp.live.state_basis import StateBasis


@dataclass(frozen=True)
class Basis:
    """The reasons of one piece of advice, from what was known when its case was opened.

    Attributes
    ----------
    goal, state, threshold : int
        The goal, the state of the case, and the threshold that the learner chose for the case.
    action : Action
        What is advised: FINISH in states up to the threshold, else CONTINUE.
    f, f_goal : int
        How often FINISH was observed, and how often it reached the goal.
    c, c_up : int
        How often CONTINUE was observed, and how often it moved up.
    pending : int
        How often FINISH was advised and its outcome was not known yet.
    p_c, p_f : Estimate
        The observed shares with their intervals. FINISH reaches the goal with probability p_f from
        any state.
    value_continue : Estimate
        The chance of reaching the goal from this state by CONTINUE now and the better one of
        thresholds 0 and 1 from then on.
    boundary : Estimate
        B(p_c), which p_f must reach for FINISH in state 1 to be right.
    difference : Estimate
        p_f - B(p_c).
    drawn : tuple of float or None
        The first estimates of p_c and p_f that the learner drew and counts as one try each; None
        where it counts what was observed and nothing else.
    forced : bool
        Whether the action is taken only to learn: the learner's own means call the other right.
    other_better : float or None
        The posterior probability that the other action is better in this state, under Jeffreys'
        priors; None in state 1 if an action was never observed, as a prior alone would say it.
    level : float
        The probability with which all intervals hold together, whenever one looks.
    learner, version : str
        The learner and the version of this package that decided.
    memory : float, str or None
        How many cases are remembered, or "averaged"; None if nothing is forgotten. With a memory,
        what was observed counts in part, rounded, and intervals hold only as far as the chances did
        not change.

    Notes
    -----
    Where an action was never observed, estimates that need it are NaN, or None in `to_dict`, and
    its interval is from 0 to 1. Outcomes that are told the later the better they are (or the
    worse) deceive every estimate, and no interval allows for that.

    Paper: thm:tauinf

    Examples
    --------
    >>> import grbp
    >>> from grbp.live.basis import make_basis
    >>> counters = grbp.Counters(90, 50.0, 15.0, 100.0, 45.0, 9.0, 3.0, 80.0, 40.0)
    >>> seen, learner = [50, 15, 100, 45], ("doorstep-optimal", "0.1.0")
    >>> basis = make_basis(4, 1, 1, counters, seen, None, 2, 0.95, *learner)
    >>> basis.action, basis.forced, round(basis.other_better, 3)
    (<Action.FINISH: 1>, False, 0.097)
    >>> print(basis.summary)
    Finishing is advised in state 1. Before this case, finishing was tried 50 times
    and reached the goal 15 times (2 more are awaited); continuing was tried 100
    times and moved up 45 times. From here, finishing is estimated to reach the goal
    in 30.0 % (11.8 to 54.0 %), and continuing in 22.0 % (5.9 to 48.3 %). By that,
    finishing is better here, but the intervals allow for either. The probability
    that continuing is better here is 9.7 %.
    <BLANKLINE>
    For statisticians:
    The learner doorstep-optimal (grbp 0.1.0) chose threshold 1 of 3. FINISH is
    right in state 1 where p_F is B(p_C) or more. B(p_C) is estimated at 18.0 % (3.9
    to 45.8 %), so that p_F is on the side of FINISH; the intervals allow for
    either. All intervals hold together, after every case, with probability 95 %.
    """

    goal: int
    state: int
    threshold: int
    action: Action
    f: int
    f_goal: int
    c: int
    c_up: int
    pending: int
    p_c: Estimate
    p_f: Estimate
    value_continue: Estimate
    boundary: Estimate
    difference: Estimate
    drawn: tuple[float, float] | None
    forced: bool
    other_better: float | None
    level: float
    learner: str
    version: str
    memory: float | str | None = None

    @property
    def side(self) -> Action | None:
        """The action in state 1 on whose side of the boundary the estimate is; None if unknown."""
        if math.isnan(self.difference.estimate):
            return None
        return Action.FINISH if self.difference.estimate >= 0.0 else Action.CONTINUE

    @property
    def settled(self) -> bool:
        """Whether the interval of p_f - B(p_c) leaves only one side of the boundary."""
        return self.difference.low >= 0.0 or self.difference.high < 0.0

    @property
    def by_state(self) -> Literal[False]:
        """Whether chances may differ by state."""
        return False

    @property
    def choice(self) -> int:
        """The threshold that was chosen for the case."""
        return self.threshold

    @property
    def ground(self) -> Ground:
        """Why the action is advised."""
        return find_ground(self)

    @property
    def summary(self) -> str:
        """The reasons in plain words and then for statisticians, at 80 columns."""
        return reasons.summarize(self)

    def sentences(self, labels: Labels = NO_WORDS) -> list[str]:
        """Return the reasons as plain sentences, the most important first.

        Parameters
        ----------
        labels : Labels, optional
            What states, actions and cases are called.

        Returns
        -------
        list of str
        """
        return reasons.list_reasons(self, labels)

    def details(self) -> list[str]:
        """Return what statisticians want to know, as sentences.

        Returns
        -------
        list of str
            The learner and its threshold, what it drew before the first case, the estimate that
            decides, and with which probability the intervals hold.
        """
        return reasons.list_details(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; None stands for what is unknown."""
        drawn = None if self.drawn is None else dict(zip(("p_c", "p_f"), self.drawn, strict=True))
        return plain_basis(self) | {"drawn": drawn}


def make_basis(  # noqa: PLR0913, PLR0917
    goal: int,
    state: int,
    threshold: int,
    counters: Counters,
    seen: Sequence[int],
    start: Counters | None,
    pending: int,
    level: float,
    learner: str,
    version: str,
    memory: float | str | None = None,
) -> Basis:
    """Give the reasons of the advice in a state of a case.

    The counters are those from which the learner decided when the case was opened, without what was
    pending; f, f_goal, c and c_up are what was seen by then. `start` are the drawn first estimates
    that stand in the counters as one try each, if there are any to be told of.
    """
    f, f_goal, c, c_up = seen
    p_c, p_f, even = estimate_chances(goal, seen, level)
    action = Action.FINISH if state <= threshold else Action.CONTINUE
    finish_better: float | None = 0.0
    if state == 1:
        counts = c_up, c - c_up, f_goal, f - f_goal
        finish_better = Posterior(goal, *counts).probability if c and f else None
    other = finish_better
    if action == Action.FINISH and finish_better is not None:
        other = 1.0 - finish_better
    return Basis(
        goal, state, threshold, action, f, f_goal, c, c_up, pending, p_c, p_f,
        value_continue=Estimate(*value_of_continuing(goal, state, p_c, p_f).tolist()),
        boundary=even,
        difference=Estimate(p_f.estimate - even.estimate, p_f.low - even.high, p_f.high - even.low),
        drawn=None if start is None else (start.c_up, start.f_goal),
        # Whoever always plays one threshold does not do it in order to learn.
        forced=learner != f"threshold-{threshold}"
        and is_forced(goal, state, action, counters, pending),
        other_better=other,
        level=float(level),
        learner=learner,
        version=version,
        memory=memory,
    )  # fmt: skip


def estimate_chances(
    goal: int, seen: Sequence[int], level: float
) -> tuple[Estimate, Estimate, Estimate]:
    """Estimate p_c, p_f and B(p_c), with intervals that hold together whenever one looks.

    What was seen is f, f_goal, c and c_up.
    """
    f, f_goal, c, c_up = seen
    each = 0.5 * (1.0 + check_level(level))
    p_c, p_f = estimate_share(c_up, c, each), estimate_share(f_goal, f, each)
    return p_c, p_f, Estimate(*(p if math.isnan(p) else boundary(goal, p) for p in p_c))


def value_of_continuing(goal: int, state: ArrayLike, p_c: ArrayLike, p_f: ArrayLike) -> Floats:
    """Compute the value of CONTINUE now and the better one of thresholds 0 and 1 from then on.

    Above state 1 both thresholds continue, so it is the value of the better one there.

    Paper: lemma:ExpRew
    """
    log_r, at = log_failure_ratio(p_c), np.maximum(state, 2)
    never = hit(at, goal, log_r)
    doorstep = hit(at - 1, goal - 1, log_r) + hit(goal - at, goal - 1, -log_r) * np.asarray(p_f)
    first = np.where(np.asarray(state) == 1, p_c, 1.0)
    return np.asarray(np.minimum(1.0, first * np.maximum(never, doorstep)))


def is_forced(goal: int, state: int, action: Action, n: Counters, pending: int) -> bool:
    """Return whether an action is taken only to learn: the learner's means call the other right.

    That of an action without a single try, drawn or observed, is unknown: it is taken to learn.
    """
    if state > 1:
        return action == Action.FINISH
    if min(n.f, n.c) <= 0.0:
        return (n.f if action == Action.FINISH else n.c) <= 0.0
    n = with_pending(n, n.rho, float(pending))
    return finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up) != (action == Action.FINISH)


@lru_cache(maxsize=10_000)  # Of many states, a step changes one.
def estimate_share(won: int, tries: int, level: float) -> Estimate:
    """Estimate a probability by a share, with the interval that holds whenever one looks."""
    return Estimate(won / tries if tries else math.nan, *anytime(won, tries, level))


def plain_basis(basis: "Basis | StateBasis") -> dict[str, Any]:
    """Return a basis in plain types."""
    plain, side = {name: as_plain(value) for name, value in vars(basis).items()}, basis.side
    return plain | {
        "action": basis.action.name.lower(),
        "value_finish": plain["p_f"],
        "side": None if side is None else side.name.lower(),
        "settled": basis.settled,
    }
