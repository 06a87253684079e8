"""Test what the model assumes, with tests whose size was measured.

Each is a score or likelihood-ratio test in a logistic model of "up" (or, for FINISH, of "won").
What is not here is left out on purpose. To compare p_C of cases that took FINISH with that of
others, to take each case as a stratum, or to test for overdispersion between cases by totals fires
on data that satisfy the model: FINISH is taken by those who went down, and a case ends when its
sum of moves reaches an end. A CUSUM that forgets that moves come in cases does so where cases
differ, which another test asks.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.special import chi2_tail, kolmogorov_tail
from grbp.worlds.transition import Action

_FEW: Final = 5.0
"""Expected counts below it make the likelihood ratio inexact; another test takes its place."""

_MOST_TABLES: Final = 200_000
"""Tables that Fisher's test lists; beyond, Pearson's test keeps its size where counts are small."""

_BOTH_WAYS: Final = "CONTINUE must have moved up and down, from two states."
_FEW_CASES: Final = "There are too few cases with moves both up and down."


@dataclass(frozen=True)
class AssumptionTest:
    """The test of one assumption.

    Attributes
    ----------
    assumption : str
        What is assumed, in words.
    test : str
        The name of the test.
    statistic : float or None
        Its statistic: chi-squared, or a normal deviate for a one-sided or clustered test; none for
        an exact test, or where no test is possible.
    p : float or None
        The probability of such a statistic, or one more extreme, if the assumption holds.
    p_holm : float or None
        The same, adjusted for all tests that were made (Holm 1979).
    effect : float or None
        How far the records are from the assumption, in the unit that `effect_is` names.
    effect_is : str
        What the effect measures.
    changes_answer : bool or None
        Whether the decision would be another one without the assumption; None where that cannot be
        said.
    possible : bool
        Whether the records allow the test.
    why : str
        A sentence on why no test is possible, or on what the answer is without the assumption.
    df : int or None
        The degrees of freedom of chi-squared; None of another statistic.
    effect_unit : str
        The unit of the effect: "probability", "log-odds" or "odds ratio".
    name : str
        A short name of the assumption, for the rows of a table.
    """

    assumption: str = ""
    test: str = ""
    statistic: float | None = None
    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    effect_is: str = ""
    changes_answer: bool | None = None
    possible: bool = True
    why: str = ""
    df: int | None = None
    effect_unit: str = ""
    name: str = field(default="", repr=False)

    def rejected_at(self, level: float) -> bool:
        """Return whether the records speak against the assumption, at a level such as 0.95."""
        return self.p_holm is not None and self.p_holm < 1.0 - level


def not_possible(why: str) -> AssumptionTest:
    """Return a test that the records do not allow, with the reason."""
    return AssumptionTest(possible=False, why=why)


def _chi_squared(chi2: float, df: int, **effect: Any) -> AssumptionTest:
    """Return a test by chi-squared."""
    return AssumptionTest(statistic=chi2, p=chi2_tail(chi2, df), df=df, **effect)


# p_C and the state.


def compare_ups_of_states(moves: Transitions) -> AssumptionTest:
    """Compare p_C between states by Pearson's chi-squared."""
    tried = (moves.ups + moves.downs) > 0
    up, down = moves.ups[tried], moves.downs[tried]
    if len(up) < 2 or not up.sum() or not down.sum():
        return not_possible(_BOTH_WAYS)
    n, p = up + down, up.sum() / (up + down).sum()
    chi2 = float((((up - n * p) ** 2) / (n * p * (1.0 - p))).sum())
    df, total = len(up) - 1, n.sum()
    excess = (chi2 - df) * p * (1.0 - p) / (total - (n * n).sum() / total)
    return _chi_squared(
        chi2, df, effect=math.sqrt(max(0.0, excess)), effect_unit="probability",
        effect_is="standard deviation of p_C between states, beyond chance",
    )  # fmt: skip


def trend_of_ups_over_states(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_C over the states (Cochran and Armitage)."""
    tried = (moves.ups + moves.downs) > 0
    states = np.arange(1.0, moves.records.goal)[tried]
    return _trend(
        states, moves.ups[tried], moves.downs[tried], _BOTH_WAYS,
        "change of the log-odds of up from one state to the next",
    )  # fmt: skip


def _trend(x: Floats, up: Ints, down: Ints, why: str, effect_is: str) -> AssumptionTest:
    """Make the score test of a slope of the log-odds over x; its effect is the slope in a step."""
    n = up + down
    if not up.sum() or not down.sum():
        return not_possible(why)
    p = up.sum() / n.sum()
    apart = x - (n * x).sum() / n.sum()
    score, information = (apart * up).sum(), p * (1.0 - p) * (n * apart * apart).sum()
    if information <= 0.0:
        return not_possible(why)
    return _chi_squared(
        float(score * score / information), 1,
        effect=float(score / information), effect_is=effect_is, effect_unit="log-odds",
    )  # fmt: skip


# Memory, differences between cases, drift: these need the order of moves.


def relate_to_previous_move(moves: Transitions) -> AssumptionTest:
    """Relate a move to the one before, given the state (Cochran, Mantel and Haenszel)."""
    steps = moves.steps
    later = steps.previous >= 0
    cell = 4 * steps.state[later] + 2 * steps.previous[later] + steps.up[later].astype(np.int64)
    tables = np.bincount(cell, minlength=4 * moves.records.goal).reshape(-1, 2, 2).astype(float)
    n = tables.sum(axis=(1, 2))
    tables, n = tables[n > 1], n[n > 1]
    after_up, ups = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
    spread = float((after_up * (n - after_up) * ups * (n - ups) / (n * n * (n - 1.0))).sum())
    if spread <= 0.0:
        return not_possible(
            "In every state, the move before was the same, or all moves went one way."
        )
    score = float((tables[:, 1, 1] - after_up * ups / n).sum())
    agree = float((tables[:, 1, 1] * tables[:, 0, 0] / n).sum())
    differ = float((tables[:, 1, 0] * tables[:, 0, 1] / n).sum())
    return _chi_squared(
        score * score / spread, 1,
        effect=agree / differ if differ > 0.0 else None, effect_unit="odds ratio",
        effect_is="odds of up after up, over those after down (common odds ratio; 1 is no memory)",
    )  # fmt: skip


def relate_to_past_of_case(moves: Transitions) -> AssumptionTest:
    """Ask whether cases that did well go on doing well, given the state."""
    steps = moves.steps
    past = steps.sum_before(steps.residual)
    score = float((past * steps.residual).sum())
    apart = steps.centre(past)
    information = float((steps.variance * apart * apart).sum())
    if information <= 0.0:
        return not_possible("No case has two moves from states that move both ways.")
    z = score / math.sqrt(information)
    pairs = float((steps.sum_before(steps.variance) * steps.variance).sum())
    return AssumptionTest(
        statistic=z, p=0.5 * math.erfc(z / math.sqrt(2.0)),
        effect=math.sqrt(max(0.0, score / pairs)) if pairs > 0.0 else None,
        effect_is="standard deviation of the log-odds of up between cases",
        effect_unit="log-odds",
    )  # fmt: skip


def trend_of_ups_over_cases(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_C in the order of cases; moves of a case may belong together."""
    steps = moves.steps
    apart = steps.centre(steps.case / max(1, moves.records.cases - 1))
    parts = steps.sum_by_case(apart * steps.residual)
    score, spread = float(parts.sum()), float((parts * parts).sum())
    information = float((steps.variance * apart * apart).sum())
    if spread <= 0.0 or information <= 0.0:
        return not_possible(_FEW_CASES)
    z = score / math.sqrt(spread)
    return AssumptionTest(
        statistic=z, p=math.erfc(abs(z) / math.sqrt(2.0)),
        effect=score / information, effect_unit="log-odds",
        effect_is="change of the log-odds of up from the first case to the last",
    )  # fmt: skip


def largest_sum_over_cases(moves: Transitions) -> AssumptionTest:
    """Test whether p_C changes at some case: how far from 0 the sum over cases comes."""
    total = moves.sum_over_cases
    if total is None:
        return not_possible(_FEW_CASES)
    steps, largest = moves.steps, int(np.abs(total).argmax())
    later = steps.centre((steps.case > largest).astype(np.float64))
    information = float((steps.variance * later * later).sum())
    score = float((later * steps.residual).sum())
    return AssumptionTest(
        statistic=float(abs(total[largest])), p=kolmogorov_tail(float(abs(total[largest]))),
        effect=score / information if information > 0.0 else None,
        effect_is=f"change of the log-odds of up after case {largest + 1:,}, the largest there is",
        effect_unit="log-odds",
    )  # fmt: skip


def trend_of_wins_over_cases(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_F in the order of cases; a case finishes once."""
    rows = moves.finished
    won = moves.forward[rows].astype(np.int64)
    return _trend(
        moves.records.case[rows] / max(1, moves.records.cases - 1), won, 1 - won,
        "FINISH must have won and lost, in two cases.",
        "change of the log-odds of winning, first case to last",
    )  # fmt: skip


# FINISH and the state, and both by group.


def compare_groups(moves: Transitions, action: Action) -> AssumptionTest:
    """Compare p_C, or p_F, between groups."""
    rows, why = moves.stepped, "CONTINUE must have moved up and down, in two groups."
    if action == Action.FINISH:
        rows, why = moves.finished, "FINISH must have been tried in two groups."
    good, count = moves.forward, moves.count_by_group
    return compare_shares(count(rows & good), count(rows & ~good), why)


def compare_choices_of_groups(moves: Transitions) -> AssumptionTest:
    """Compare between groups how often cases finish when they first stand in state 1."""
    records = moves.records
    first = records.state == 1
    if not records.aggregated:
        rows = np.flatnonzero(first)
        first = np.zeros_like(first)
        first[rows[np.unique(records.case[rows], return_index=True)[1]]] = True
    count, finishes = moves.count_by_group, records.action == Action.FINISH
    return compare_shares(
        count(first & finishes), count(first & ~finishes),
        "Both actions must have been tried in state 1, and two groups must have stood there.",
    )  # fmt: skip


def compare_shares(won: Ints, lost: Ints, why: str) -> AssumptionTest:
    """Compare shares by the likelihood ratio, or by Fisher's or Pearson's test for small counts."""
    tried = (won + lost) > 0
    won, lost = won[tried], lost[tried]
    if len(won) < 2 or not won.sum() or not lost.sum():
        return not_possible(why)
    n = won + lost
    share = won.sum() / n.sum()
    expected = np.minimum(n * share, n * (1.0 - share))
    spread = won / n
    effect: dict[str, Any] = {
        "effect": float(spread.max() - spread.min()), "effect_unit": "probability",
        "effect_is": "largest share less the smallest",
    }  # fmt: skip
    few = expected.min() < _FEW
    if few and math.prod((n + 1).tolist()[:-1]) <= _MOST_TABLES:
        return AssumptionTest(test="Fisher", p=fisher(won, lost), **effect)
    cells = np.concatenate((won, lost)).astype(float)
    means = np.concatenate((n * share, n * (1.0 - share)))
    if few:
        # With many small groups the likelihood ratio rejects a third of all true assumptions.
        chi2 = float(((cells - means) ** 2 / means).sum())
        return _chi_squared(chi2, len(won) - 1, test="Pearson", **effect)
    positive = cells > 0.0
    chi2 = float(2.0 * (cells[positive] * np.log(cells[positive] / means[positive])).sum())
    return _chi_squared(chi2, len(won) - 1, **effect)


def fisher(won: Ints, lost: Ints) -> float:
    """Compute the probability of all tables with these sums that are no likelier than this one."""
    n, total = (won + lost).tolist(), int(won.sum())
    logs = [
        np.array([math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)
                  for k in range(m + 1)])
        for m in n
    ]  # fmt: skip
    # A table is given by how many were won in each row but the last.
    weight, used = np.zeros(1), np.zeros(1, dtype=np.int64)
    for row in logs[:-1]:
        weight = (weight[:, None] + row).ravel()
        used = (used[:, None] + np.arange(len(row))).ravel()
    rest = total - used
    allowed = (rest >= 0) & (rest <= n[-1])
    weight = weight[allowed] + logs[-1][rest[allowed]]
    own = sum(float(row[k]) for row, k in zip(logs, won.tolist(), strict=True))
    likely = np.exp(weight - weight.max())
    # Tables as likely as this one count, whatever rounding made of them.
    return float(likely[weight <= own + 1e-7].sum() / likely.sum())
