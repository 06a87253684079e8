"""Say why an action is advised: what is known of both, how well, and what speaks for the other.

A basis is a pure function of what stood in the study when its case was opened. A learner chose the
actions and people look after every case, so the intervals are anytime ones, and both of them hold
at once: each of the two probabilities has half of the error. Whatever follows from the two is
monotone in each of them, and its ends are those of the rectangle; nothing further can go wrong.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from grbp._format import percent
from grbp.learners.comparison import finish_is_right
from grbp.learners.counters import Counters, with_pending
from grbp.model.labels import Labels, begin
from grbp.model.transition import Action
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import anytime, check_level
from grbp.theory.posterior import Estimate, Posterior
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import boundary

_WIDTH: Final = 80
NO_WORDS: Final = Labels()


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
    def summary(self) -> str:
        """The reasons in plain words and then for statisticians, at 80 columns."""
        return summarize(self)

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
        finish, go_on = labels.doing(Action.FINISH), labels.doing(Action.CONTINUE)
        sentences = [*describe_advised(self, labels), self._describe_tries(labels)]
        if self.f and self.c:
            won, worth = format_estimate(self.p_f), format_estimate(self.value_continue)
            sentences.append(
                f"From here, {finish} is estimated to reach {name_goal(self, labels)} in {won}, and"
                f" {go_on} in {worth}."
            )
        else:
            sentences.append("So the two cannot be compared yet.")
        if self.state > 1:
            sentences.append(
                f"Above {labels.state(1)}, {finish} is never better, whatever the two chances are."
            )
        elif self.side is not None:
            doubt = "and" if self.settled else "but"
            sure = "leave no doubt" if self.settled else "allow for either"
            better = labels.doing(self.side)
            sentences.append(f"By that, {better} is better here, {doubt} the intervals {sure}.")
        if self.state == 1 and self.other_better is not None:
            other = labels.doing(Action(1 - self.action))
            chance = percent(min(max(self.other_better, 1e-12), 1.0 - 1e-12))  # its precision
            sentences.append(f"The probability that {other} is better here is {chance}.")
        return sentences

    def _describe_tries(self, labels: Labels) -> str:
        """Say how often both actions were tried before the case, and what came of them."""
        if not (self.f or self.c or self.pending):
            return f"Before this {labels.case[0]}, neither was tried."
        won = describe_finish(self, labels, count_times(self.f_goal))
        moved = describe_continue(self, labels, count_times(self.c_up))
        return f"Before this {labels.case[0]}, {won}; {moved}.{say_what_counts(self, labels)}"

    def details(self) -> list[str]:
        """Return what statisticians want to know, as sentences.

        Returns
        -------
        list of str
            The learner and its threshold, what it drew before the first case, the estimate that
            decides, and with which probability the intervals hold.
        """
        sentences = [
            f"The learner {self.learner} (grbp {self.version}) chose threshold"
            f" {self.threshold:,} of {self.goal - 1:,}."
        ]
        if self.drawn is not None:
            sentences.append(
                "It also counts one try of each that was drawn before the first case, with"
                f" p_C = {self.drawn[0]:.2f} and p_F = {self.drawn[1]:.2f}."
            )
        sentences.append("FINISH is right in state 1 where p_F is B(p_C) or more.")
        if self.c:
            even = format_estimate(self.boundary)
            sentences.append(f"B(p_C) is estimated at {even}, {self._describe_side()}.")
        return sentences + say_how_intervals_hold(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; None stands for what is unknown."""
        side, drawn = self.side, self.drawn
        fields = {
            name: estimate_to_dict(value) if isinstance(value, Estimate) else value
            for name, value in vars(self).items()
        }
        return fields | {
            "action": self.action.name.lower(),
            "value_finish": fields["p_f"],
            "side": None if side is None else side.name.lower(),
            "settled": self.settled,
            "drawn": None if drawn is None else {"p_c": drawn[0], "p_f": drawn[1]},
        }

    def _describe_side(self) -> str:
        """Say where the estimate stands relative to the boundary."""
        if self.side is None:
            return "so that nobody can say yet on which side p_F is"
        also = ", also by the intervals" if self.settled else "; the intervals allow for either"
        return f"so that p_F is on the side of {self.side.name}{also}"


def describe_advised(basis: Any, labels: Labels) -> list[str]:
    """Say what is advised, and why it is if it does not look better."""
    advised, other = (labels.doing(one) for one in (basis.action, Action(1 - basis.action)))
    sentences = [f"{begin(advised)} is advised in {labels.state(basis.state)}."]
    if first := describe_first_try(basis, labels):
        sentences.append(first)
    elif basis.forced:
        sentences.append(
            f"This is to learn: by what the study counts so far, {other} is better here."
        )
    return sentences


def describe_first_try(basis: Any, labels: Labels = NO_WORDS) -> str:
    """Say that nothing is known about the action that is advised; an empty text if something is.

    Where chances differ by state, this is about the present state.
    """
    finish = basis.action == Action.FINISH
    if basis.f if finish else basis.c:
        return ""
    here = f" in {labels.state(basis.state)}" if basis.threshold is None else ""
    waits = finish and basis.pending
    why = "its first outcome is still awaited" if waits else "somebody has to be the first"
    return f"Nothing is known about {labels.doing(basis.action)}{here} yet: {why}."


def name_goal(basis: Any, labels: Labels) -> str:
    """Name the goal."""
    return labels.state(basis.goal) if labels.states else "the goal"


def describe_finish(basis: Any, labels: Labels, good: str) -> str:
    """Say how often FINISH was tried and was good, and how many outcomes are not known yet."""
    finish, n = labels.doing(Action.FINISH), basis.pending
    if not basis.f:
        return f"{finish} was never tried" if not n else f"no outcome of {finish} was known yet"
    waits = f" ({n:,} more {'is' if n == 1 else 'are'} awaited)" if n else ""
    did = _say_how_often(f"reached {name_goal(basis, labels)}", good)
    return f"{finish} was tried {count_times(basis.f)} and {did}{waits}"


def describe_continue(basis: Any, labels: Labels, good: str) -> str:
    """Say how often CONTINUE was tried and was good."""
    go_on = labels.doing(Action.CONTINUE)
    if not basis.c:
        return f"{go_on} was never tried"
    return f"{go_on} was tried {count_times(basis.c)} and {_say_how_often('moved up', good)}"


def _say_how_often(did: str, good: str) -> str:
    """Say how often something was done, in its place in the sentence."""
    return f"never {did}" if good == count_times(0) else f"{did} {good}"


def say_what_counts(basis: Any, labels: Labels) -> str:
    """Say that older cases count in part, if they do."""
    return "" if basis.memory is None else f" Older {labels.case[1]} count in part."


def count_times(number: int) -> str:
    """Write how often something happened."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def summarize(basis: Any) -> str:
    """Return the reasons for everybody, and then those for statisticians, at 80 columns."""
    details = fill_lines(basis.details())
    return f"{fill_lines(basis.sentences())}\n\nFor statisticians:\n{details}"


def fill_lines(sentences: list[str]) -> str:
    """Return sentences in lines of 80 columns."""
    text = " ".join(sentences).replace(" %", "\xa0%")  # No line begins with a sign.
    return textwrap.fill(text, _WIDTH).replace("\xa0", " ")


def say_how_intervals_hold(basis: Any) -> list[str]:
    """Say with which probability the intervals of a basis hold, if there is something to hold."""
    if basis.memory is not None:
        return ["Intervals hold as far as the chances did not change."]
    if not (basis.f or basis.c):
        return []
    return [
        "All intervals hold together, after every case, with probability"
        f" {100.0 * basis.level:.6g} %."
    ]


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


def estimate_to_dict(one: Estimate) -> dict[str, float | None]:
    """Return an estimate in plain types."""
    return {name: None if math.isnan(x) else x for name, x in one._asdict().items()}


def format_estimate(one: Estimate) -> str:
    """Write an estimated probability with its interval, in percent."""
    share = "an unknown share" if math.isnan(one.estimate) else percent(one.estimate)
    return f"{share} ({100.0 * one.low:.1f} to {100.0 * one.high:.1f} %)"
