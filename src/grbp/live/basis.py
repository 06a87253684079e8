"""Say why an action is advised: what is known of both, how well, and what speaks for the other.

A basis is a pure function of what stood in the study when its case was opened. A learner chose the
actions and people look after every case, so the intervals are anytime ones, and all of them hold
together: each chance has its part of the error, one of two or, by state, of 2 (goal - 1). Whatever
follows from the chances is monotone in each of them, and its ends are those of all their ends;
nothing further can go wrong. By state, that is so because from a higher state one is never worse
off: one could go on until one is back, or has won.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from grbp._format import as_plain
from grbp.learners.best_policy import best_policy, policy_values
from grbp.learners.comparison import finish_is_right
from grbp.learners.counters import Counters, with_pending
from grbp.live import reasons
from grbp.live.config import Config
from grbp.live.ledger import Known, finishes
from grbp.live.reasons import Ground, find_ground
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import anytime, check_level
from grbp.theory.posterior import Estimate, Posterior
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import boundary
from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action


class Reasons:
    """What every basis says in the same way, from the parts that all of them have."""

    @property
    def ground(self: Any) -> Ground:
        """Why the action is advised."""
        return find_ground(self)

    @property
    def summary(self: Any) -> str:
        """The reasons in plain words and then for statisticians, at 80 columns."""
        return reasons.summarize(self)

    def sentences(self: Any, labels: Labels = NO_WORDS) -> list[str]:
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

    def details(self: Any) -> list[str]:
        """Return what statisticians want to know, as sentences.

        Returns
        -------
        list of str
            The learner and what it chose, or what it takes for granted; what it drew before the
            first case, the estimate that decides, and with which probability the intervals hold.
        """
        return reasons.list_details(self)

    def to_dict(self: Any) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; None stands for what is unknown."""
        plain, side = {name: as_plain(value) for name, value in vars(self).items()}, self.side
        return plain | {
            "action": self.action.name.lower(),
            "value_finish": plain["p_f"],
            "side": None if side is None else side.name.lower(),
            "settled": self.settled,
        }


@dataclass(frozen=True)
class Basis(Reasons):
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
    >>> past = grbp.Counters(90, 50.0, 15.0, 100.0, 45.0, 9.0, 3.0, 80.0, 40.0)
    >>> study = grbp.Study.create("memory", "ward", goal=4, start=past)
    >>> first, second, third = (study.open_case(state=1) for _ in range(3))
    >>> basis = third.basis
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

    by_state: ClassVar[Literal[False]] = False

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
    def choice(self) -> int:
        """The threshold that was chosen for the case."""
        return self.threshold

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; None stands for what is unknown."""
        drawn = None if self.drawn is None else dict(zip(("p_c", "p_f"), self.drawn, strict=True))
        return super().to_dict() | {"drawn": drawn}


@dataclass(frozen=True)
class StateBasis(Reasons):
    """The reasons of advice by a learner by state, from what was known when its case was opened.

    Attributes
    ----------
    goal, state : int
        The goal, and the state of the case.
    policy : int
        The policy that the learner chose for the case, with bit s - 1 for FINISH in state s.
    action : Action
        What is advised in the state.
    f, f_goal, c, c_up : int
        How often FINISH was observed in this state and reached the goal, and how often CONTINUE was
        and moved up; what a learner that forgets still counts, rounded.
    pending : int
        How often FINISH was advised in this state and its outcome was not known yet.
    p_c, p_f : Estimate
        The shares observed in this state, with their intervals.
    value_continue : Estimate
        The chance of reaching the goal by CONTINUE now and what is best from then on, as far as it
        was seen: FINISH only in states where it was tried, and each chance as its share with one
        success and one failure more. The interval allows for what nobody tried.
    forced : bool
        Whether the action is taken only to learn: it is FINISH that was never tried here, or by
        these means the other is better.
    model : str
        What is taken for granted: "state" or "averaged".
    level : float
        The probability with which all intervals hold together, whenever one looks; with a memory
        they hold only as far as the chances did not change.
    memory : float, str or None
        How many cases are remembered, or "averaged"; None if nothing is forgotten.
    learner, version : str
        The learner and the version of this package that decided.

    Examples
    --------
    >>> import grbp, numpy
    >>> up, down, won, lost = numpy.array([[30.0, 60.0], [70.0, 40.0], [8.0, 0.0], [12.0, 0.0]])
    >>> past = grbp.empty_state_counters(3)._replace(up=up, down=down, won=won, lost=lost)
    >>> study = grbp.Study.create("memory", "ward", goal=3, learner="psrl", start=past)
    >>> basis = study.open_case(1).basis
    >>> basis.action, basis.forced
    (<Action.FINISH: 1>, False)
    >>> print(basis.summary)
    Finishing is advised in state 1. Before this case, in state 1: finishing was
    tried 20 times and reached the goal in 40.0 % (10.2 to 76.6 %); continuing was
    tried 100 times and moved up in 30.0 % (15.3 to 48.3 %). Continuing here, and
    then what is best as far as it was seen, is estimated to reach the goal in
    23.2 % (7.2 to 48.3 %).
    <BLANKLINE>
    For statisticians:
    The learner psrl (grbp 0.1.0) takes for granted nothing about states, as each
    state has its own chances. All intervals hold together, after every case, with
    probability 95 %.
    """

    goal: int
    state: int
    policy: int
    action: Action
    f: int
    f_goal: int
    c: int
    c_up: int
    pending: int
    p_c: Estimate
    p_f: Estimate
    value_continue: Estimate
    forced: bool
    model: str
    level: float
    memory: float | str | None
    learner: str
    version: str

    by_state: ClassVar[Literal[True]] = True
    threshold: ClassVar[None] = None
    drawn: ClassVar[None] = None
    other_better: ClassVar[None] = None

    @property
    def side(self) -> Action | None:
        """The action that is better here by what was seen; None if FINISH was never seen here."""
        if not self.f:
            return None
        return self.action if not self.forced else Action(1 - self.action)

    @property
    def settled(self) -> bool:
        """Whether the intervals leave only one action that is better here."""
        worth = self.value_continue
        return self.p_f.low >= worth.high or self.p_f.high < worth.low

    @property
    def choice(self) -> int:
        """The policy that was chosen for the case."""
        return self.policy


def explain(
    config: Config, known: Known, state: int, choice: int, version: str
) -> Basis | StateBasis:
    """Give the reasons of what a choice takes in a state, from all that was known to choose."""
    action, n, pending = Action(finishes(config, choice, state)), known.n, known.pending
    given: dict[str, Any] = {
        "goal": config.goal, "state": state, "action": action, "level": float(config.level),
        "learner": config.learner_name, "version": version, "memory": config.memory,
    }  # fmt: skip
    if not isinstance(n, Counters):
        given |= _find_reasons_by_state(config, known, state, action)
        return StateBasis(**given, policy=choice, model=config.model, pending=pending[state - 1])
    given |= _find_reasons(config, known.seen, state, action)
    # Whoever always plays one threshold does not do it in order to learn.
    forced = config.learner_name != f"threshold-{choice}"
    return Basis(
        **given,
        threshold=choice,
        pending=pending[0],
        drawn=None if config.drawn is None else (config.drawn.c_up, config.drawn.f_goal),
        forced=forced and is_forced(config.goal, state, action, n, pending[0]),
    )


def _find_reasons(
    config: Config, seen: Sequence[int], state: int, action: Action
) -> dict[str, Any]:
    """Find out what was seen of both actions in all states, and what follows from that."""
    goal, (f, f_goal, c, c_up) = config.goal, seen
    p_c, p_f, even = estimate_chances(goal, seen, config.level)
    finish_better: float | None = 0.0
    if state == 1:
        counts = c_up, c - c_up, f_goal, f - f_goal
        finish_better = Posterior(goal, *counts).probability if c and f else None
    other = finish_better
    if action == Action.FINISH and finish_better is not None:
        other = 1.0 - finish_better
    return {
        "f": f, "f_goal": f_goal, "c": c, "c_up": c_up, "p_c": p_c, "p_f": p_f, "boundary": even,
        "value_continue": Estimate(*value_of_continuing(goal, state, p_c, p_f).tolist()),
        "difference": Estimate(
            p_f.estimate - even.estimate, p_f.low - even.high, p_f.high - even.low
        ),
        "other_better": other,
    }  # fmt: skip


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


def _find_reasons_by_state(
    config: Config, known: Known, state: int, action: Action
) -> dict[str, Any]:
    """Find out what was seen of both actions in a state, and what follows from all states."""
    at = state - 1
    up, down, won, lost = np.array(known.seen, dtype=int)
    each = 1.0 - (1.0 - config.level) / (2.0 * (config.goal - 1))
    p_c = [estimate_share(int(a), int(a + b), each) for a, b in zip(up, down, strict=True)]
    p_f = [estimate_share(int(a), int(a + b), each) for a, b in zip(won, lost, strict=True)]
    tried, mean = won + lost > 0, (won + 1.0) / (won + lost + 2.0)
    chances = [((up + 1.0) / (up + down + 2.0), np.where(tried, mean, 0.0))]
    chances += [(np.array(p_c)[:, end], np.array(p_f)[:, end]) for end in (1, 2)]
    worth = Estimate(*(_value_of_continuing(*both, state) for both in chances))
    better = Action(bool(tried[at] and mean[at] >= worth.estimate))
    return {
        "f": int(won[at] + lost[at]), "f_goal": int(won[at]),
        "c": int(up[at] + down[at]), "c_up": int(up[at]),
        "p_c": p_c[at], "p_f": p_f[at], "value_continue": worth, "forced": action != better,
    }  # fmt: skip


def _value_of_continuing(up: Floats, p_f: Floats, state: int) -> float:
    """Compute what CONTINUE is worth in a state, and what is best from then on."""
    values = [0.0, *policy_values(up, p_f, best_policy(up, p_f)).tolist(), 1.0]
    chance = float(up[state - 1])
    worth = chance * values[state + 1] + (1.0 - chance) * values[state - 1]
    return math.nan if math.isnan(worth) else min(1.0, worth)
