"""Estimates that are standardised over groups, and on which side of the decision each group lies.

Where one group finishes more often than another, and the groups also differ in p_C or p_F, the
shares over all cases compare cases of different groups. So FINISH and continuing are compared
inside each stratum, and the strata are weighed by the cases that stood in state 1: it is for these
that one has to decide. A stratum is a group, or the cases of a group with the same first state
where these are enough. Its shares are shrunk towards those of the others as far as strata are alike
(empirical Bayes), so that many small groups do not add up to a false certainty.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from grbp.fitting.direct_value import direct_value
from grbp.fitting.estimates import (
    are_apart,
    average,
    chance_above,
    spread_out,
    subtract,
    summarize_draws,
)
from grbp.fitting.model_tests import compare_choices_of_groups
from grbp.fitting.statewise import draw_shares
from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.records.clean import first_of_case
from grbp.theory.posterior import Estimate, Posterior
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.worlds.transition import Action

_DRAWS: Final = 4000
_MOST_CELLS: Final = 4_000_000
"""Draws by strata: of many strata there are fewer draws."""

_ENOUGH: Final = 10
"""Cases of a group are divided by first state where each part has so many tries of each action."""


class Standardized(NamedTuple):
    """What FINISH and continuing reach if every group has the weight of its cases in state 1.

    Attributes
    ----------
    p_f : Estimate or None
        How often FINISH reaches the goal; None where no group tried both actions in state 1, as
        for the next four.
    value : Estimate or None
        How often continuing from state 1 does, by the p_C of each group.
    direct : Estimate or None
        The same as observed; None also where that is unknown of a group.
    difference : Estimate or None
        How much more often FINISH does than continuing: as observed where the two values of
        continuing are apart, else by p_C.
    probability : float or None
        How probable it is that the difference is not below 0.
    right_share : float or None
        The share of cases in state 1 for which finishing there is expected to be right, if each
        group is judged beside the others.
    sides : dict of float
        For each group that tried both actions in state 1, how probable it is that finishing there
        is right: the less sure of what the group says alone and of what it says among the others.
    uncovered : tuple of str
        The groups, or parts of them, in which an action was never tried in state 1.
    uncovered_share : float
        Their share of the cases that stood in state 1.
    strata : int
        How many strata there are.
    choice_p : float or None
        The probability that groups finish in state 1 as differently as this by chance; None where
        that cannot be tested.
    """

    p_f: Estimate | None
    value: Estimate | None
    direct: Estimate | None
    difference: Estimate | None
    probability: float | None
    right_share: float | None
    sides: dict[str, float]
    uncovered: tuple[str, ...]
    uncovered_share: float
    strata: int
    choice_p: float | None

    @property
    def worth(self) -> Estimate | None:
        """What continuing from state 1 is worth: by p_C, unless what was observed is apart."""
        if self.direct is not None and self.value is not None:
            return self.direct if are_apart(self.direct, self.value) else self.value
        return self.value


def standardize(moves: Transitions, level: float, finishes: Bools) -> Standardized:
    """Standardise over groups; `finishes` are the rows of FINISH that tell of state 1."""
    strata = _Strata(moves, finishes)
    shares = strata.weight / max(1, strata.weight.sum())
    stood = strata.weight > 0
    covered, bare = (np.flatnonzero(stood & rows) for rows in (strata.covered, ~strata.covered))
    told = Standardized(
        None, None, None, None, None, None, {},
        tuple(dict.fromkeys(strata.names[k] for k in bare.tolist())),
        float(shares[bare].sum()), len(strata.names), compare_choices_of_groups(moves).p,
    )  # fmt: skip
    if not len(covered):
        return told
    # Groups that lack an action, or never stood in state 1, are drawn too: to leave them out would
    # choose groups by how their cases went. What they lack is drawn from what the others have.
    p_f, value = strata.draw()
    gain = (p_f - value) @ shares
    by_p_c, by_finish = (summarize_draws(x @ shares, level) for x in (value, p_f))
    direct = strata.observe(shares, level)
    difference, probability = summarize_draws(gain, level), float((gain >= 0.0).mean())
    if direct is not None and are_apart(direct, by_p_c):
        difference = subtract(by_finish, direct)
        probability = chance_above(spread_out(by_finish, level), spread_out(direct, level))
    among = strata.judge_groups(p_f - value)
    return told._replace(
        p_f=by_finish,
        value=by_p_c,
        direct=direct,
        difference=difference,
        probability=probability,
        right_share=float(among[strata.group] @ shares),
        sides=strata.find_sides(covered, among),
    )


@dataclass(frozen=True, eq=False)
class _Strata:
    """The strata of records: which row is in which, and what was counted there."""

    moves: Transitions
    finishes: Bools

    @cached_property
    def _numbers(self) -> tuple[Ints, Ints]:
        """The groups of the strata, and the stratum of each row."""
        records = self.moves.records
        if records.aggregated:
            return np.arange(len(records.groups)), records.group
        starts = records.state[first_of_case(records.case)][records.case]
        key = records.group * records.goal + starts
        at_one = records.state == 1
        chosen = records.action == Action.FINISH
        finished, continued = (
            np.bincount(key[at_one & rows], minlength=len(records.groups) * records.goal)
            for rows in (chosen, ~chosen)
        )
        # Cases that never stood in state 1 have no weight, and do not ask for a part of their own.
        enough = (finished + continued == 0) | (np.minimum(finished, continued) >= _ENOUGH)
        whole = ~enough.reshape(len(records.groups), records.goal).all(axis=1)
        key = np.where(whole[records.group], records.group * records.goal, key)
        keys, stratum = np.unique(key, return_inverse=True)
        return keys // records.goal, stratum.ravel()

    @property
    def group(self) -> Ints:
        """The group of each stratum."""
        return self._numbers[0]

    @cached_property
    def names(self) -> list[str]:
        """The name of the group of each stratum."""
        return [self.moves.records.groups[k] for k in self.group.tolist()]

    def _count(self, rows: Bools) -> Ints:
        return self.moves.count_by(self._numbers[1], rows, len(self.names))

    @cached_property
    def weight(self) -> Ints:
        """How many cases stood in state 1; of aggregated rows, how often one did."""
        records = self.moves.records
        at_one = records.state == 1
        if records.aggregated:
            return self._count(at_one)
        stratum = self._numbers[1][first_of_case(records.case)]
        stood = np.bincount(records.case[at_one], minlength=records.cases) > 0
        return np.bincount(stratum[stood], minlength=len(self.names))

    @cached_property
    def counts(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The wins and losses of FINISH, and the moves up and down of CONTINUE."""
        m, good = self.moves, self.moves.forward
        rows = (self.finishes & good, self.finishes & ~good, m.stepped & good, m.stepped & ~good)
        won, lost, up, down = map(self._count, rows)
        return won, lost, up, down

    @cached_property
    def covered(self) -> Bools:
        """Which strata tried both actions in state 1, and moved by one state anywhere."""
        m = self.moves
        at_one = m.records.state == 1
        finished = self._count(m.finished & at_one)
        continued = self._count((m.stepped | m.jumped) & at_one)
        won, lost, up, down = self.counts
        tried: Bools = np.minimum.reduce([finished, continued, won + lost, up + down]) > 0
        return tried

    def draw(self) -> tuple[Floats, Floats]:
        """Draw p_F and B(p_C) of strata from their posterior."""
        random = np.random.default_rng(0)
        draws = max(200, min(_DRAWS, _MOST_CELLS // len(self.names)))
        won, lost, up, down = self.counts
        p_f = draw_shares(won, lost, draws, random)
        p_c = draw_shares(up, down, draws, random)
        value = hit(1, self.moves.records.goal, log_failure_ratio(p_c).ravel())
        return p_f, value.reshape(p_c.shape)

    def observe(self, shares: Floats, level: float) -> Estimate | None:
        """Return what continuing from state 1 reached as observed; None if unknown of a stratum."""
        records = replace(
            self.moves.records, group=self._numbers[1], groups=tuple(self.names)
        )  # fmt: skip
        stood = np.flatnonzero(shares).tolist()
        seen = (direct_value(Transitions(records.in_group(k)), level) for k in stood)
        return average(seen, shares[stood].tolist())

    def judge_groups(self, gain: Floats) -> Floats:
        """Compute how probable it is that finishing is right in each group, beside the others."""
        begin = np.flatnonzero(np.diff(self.group, prepend=-1))  # strata are sorted by group
        among: Floats = (np.add.reduceat(gain * self.weight, begin, axis=1) >= 0.0).mean(axis=0)
        return among

    def find_sides(self, chosen: Ints, among: Floats) -> dict[str, float]:
        """Return the less sure of what each group says alone, and beside the others."""
        goal, names = self.moves.records.goal, self.moves.records.groups
        sides = {}
        for k in np.unique(self.group[chosen]).tolist():
            won, lost, up, down = (int(count[self.group == k].sum()) for count in self.counts)
            if up and down:
                alone = Posterior(goal, up, down, won, lost).probability
                sides[names[k]] = min(alone, float(among[k]), key=lambda one: abs(one - 0.5))
        return sides
