"""Say why an action is advised by a learner by state: what is known of both in the present state.

All intervals are anytime ones and hold together: each of the 2 (goal - 1) chances has its part of
the error. From a higher state one is never worse off (one could go on until one is back, or has
won), so that what CONTINUE is worth rises with every chance, and its ends are those of all lower
and of all upper ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from grbp.learners.statewise.solving import best_policy, policy_values
from grbp.live.basis import estimate_share, plain_basis
from grbp.live.grounds import Ground, find_ground
from grbp.live.words import reasons
from grbp.model.labels import NO_WORDS, Labels
from grbp.model.transition import Action
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import check_level
from grbp.theory.posterior import Estimate


@dataclass(frozen=True)
class StateBasis:
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
    >>> from grbp.live.state_basis import make_state_basis
    >>> seen = [[30, 60], [70, 40], [8, 0], [12, 0]]
    >>> basis = make_state_basis(3, 1, 0b01, seen, [0, 0], 0.95, "psrl", "0.2.0")
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
    The learner psrl (grbp 0.2.0) takes for granted nothing about states, as each
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

    @property
    def threshold(self) -> None:
        """None: a policy need not be a threshold."""

    @property
    def drawn(self) -> None:
        """None: nothing is drawn before the first case."""

    @property
    def other_better(self) -> None:
        """None: how probable it is that the other action is better is not computed."""

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
    def by_state(self) -> Literal[True]:
        """Whether chances may differ by state."""
        return True

    @property
    def choice(self) -> int:
        """The policy that was chosen for the case."""
        return self.policy

    @property
    def ground(self) -> Ground:
        """Why the action is advised."""
        return find_ground(self)

    @property
    def summary(self) -> str:
        """The reasons in plain words and then for statisticians, at 80 columns."""
        return reasons.summarize(self)

    def sentences(self, labels: Labels = NO_WORDS) -> list[str]:
        """Return the reasons as plain sentences, the most important first; see `Basis`."""
        return reasons.list_reasons(self, labels)

    def details(self) -> list[str]:
        """Return what statisticians want to know, as sentences; see `Basis`."""
        return reasons.list_details(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; None stands for what is unknown."""
        return plain_basis(self)


def make_state_basis(  # noqa: PLR0913, PLR0917
    goal: int,
    state: int,
    policy: int,
    seen: ArrayLike,
    pending: Sequence[int],
    level: float,
    learner: str,
    version: str,
    model: str = "state",
    memory: float | str | None = None,
) -> StateBasis:
    """Give the reasons of the advice in a state of a case, from what was known at its opening.

    What was seen is a row each for CONTINUE up and down, FINISH won and lost, by state.
    """
    at = state - 1
    up, down, won, lost = np.array(seen, dtype=int)
    each = 1.0 - (1.0 - check_level(level)) / (2.0 * (goal - 1))
    p_c = [estimate_share(int(a), int(a + b), each) for a, b in zip(up, down, strict=True)]
    p_f = [estimate_share(int(a), int(a + b), each) for a, b in zip(won, lost, strict=True)]
    tried, mean = won + lost > 0, (won + 1.0) / (won + lost + 2.0)
    means = (up + 1.0) / (up + down + 2.0), np.where(tried, mean, 0.0)
    value = Estimate(
        _value_of_continuing(*means, state),
        *(
            _value_of_continuing(
                np.array([one[end] for one in p_c]), np.array([one[end] for one in p_f]), state
            )
            for end in (1, 2)
        ),
    )
    finish = bool(policy >> at & 1)
    better = bool(tried[at] and mean[at] >= value.estimate)
    return StateBasis(
        goal, state, policy, Action.FINISH if finish else Action.CONTINUE,
        int(won[at] + lost[at]), int(won[at]), int(up[at] + down[at]), int(up[at]), pending[at],
        p_c[at], p_f[at], value, finish != better, model, float(level), memory, learner, version,
    )  # fmt: skip


def _value_of_continuing(up: Floats, p_f: Floats, state: int) -> float:
    """Compute what CONTINUE is worth in a state, and what is best from then on."""
    values = [0.0, *policy_values(up, p_f, best_policy(up, p_f)).tolist(), 1.0]
    chance = float(up[state - 1])
    worth = chance * values[state + 1] + (1.0 - chance) * values[state - 1]
    return math.nan if math.isnan(worth) else min(1.0, worth)
