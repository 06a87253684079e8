"""Test what the model assumes, with tests whose size was measured.

Each is a score or likelihood-ratio test in a logistic model of "up" (or, for FINISH, of "won").
What is not here is left out on purpose. To compare p_C of cases that took FINISH with that of
others, to take each case as a stratum, or to test for overdispersion between cases by totals fires
on data that satisfy the model: FINISH is taken by those who went down, and a case ends when its
sum of moves reaches an end. A CUSUM that forgets that moves come in cases does so where cases
differ, which another test asks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.special import chi2_tail, kolmogorov_tail
from grbp.worlds.transition import Action

_FEW: Final = 5.0
"""Expected counts below it make the likelihood ratio inexact; another test takes its place."""

_MOST_TABLES: Final = 200_000
"""Tables that Fisher's test lists; beyond, Pearson's test keeps its size where counts are small."""


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
    """

    assumption: str
    test: str
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

    @property
    def name(self) -> str:
        """A short name of the assumption, for the rows of a table."""
        return _NAMES.get(self.assumption, self.assumption)

    def rejected_at(self, level: float) -> bool:
        """Return whether the records speak against the assumption, at a level such as 0.95."""
        return self.p_holm is not None and self.p_holm < 1.0 - level


SAME_BY_STATE: Final = "p_C is the same in all states"
TREND_BY_STATE: Final = "p_C has no trend over the states"
NO_MEMORY: Final = "a move does not depend on the one before"
CASES_ALIKE: Final = "cases are alike"
NO_DRIFT: Final = "p_C does not drift from case to case"
NO_SHIFT: Final = "p_C does not shift at any case"
NO_DRIFT_F: Final = "p_F does not drift from case to case"
SAME_F_BY_STATE: Final = "p_F is the same in all states"
SAME_C_BY_GROUP: Final = "p_C is the same in all groups"
SAME_F_BY_GROUP: Final = "p_F is the same in all groups"
SAME_CHOICE: Final = "FINISH is chosen alike in all groups"
AT_RANDOM: Final = "open cases are like the others"

_NAMES: Final = {
    SAME_BY_STATE: "p_c by state",
    TREND_BY_STATE: "p_c trend over states",
    NO_MEMORY: "memory",
    CASES_ALIKE: "cases alike",
    NO_DRIFT: "p_c drift",
    NO_SHIFT: "p_c shift",
    NO_DRIFT_F: "p_f drift",
    SAME_F_BY_STATE: "p_f by state",
    SAME_C_BY_GROUP: "p_c by group",
    SAME_F_BY_GROUP: "p_f by group",
    AT_RANDOM: "open cases",
}

_NEEDS_CASES: Final = "The rows are aggregated, and the test needs to know which belong together."


def assumption_tests(moves: Transitions) -> list[AssumptionTest]:
    """Make every test that the records allow, and adjust the probabilities for their number."""
    tests = [
        same_by_state(moves),
        trend_by_state(moves),
        no_memory(moves),
        cases_alike(moves),
        no_drift(moves),
        no_shift(moves),
        no_drift_in_f(moves),
        same_f_by_state(moves),
    ]
    if len(moves.records.groups) > 1:
        tests += same_by_group(moves)
    if moves.records.open_no_row or not moves.known.all():
        tests.append(_no_test(AT_RANDOM, "none", "No record of open cases shows how they end."))
    return holm(tests)


def holm(tests: Sequence[AssumptionTest]) -> list[AssumptionTest]:
    """Adjust the probabilities of tests for their number (Holm 1979)."""
    made = sorted((test.p, k) for k, test in enumerate(tests) if test.p is not None)
    adjusted, largest = list(tests), 0.0
    for rank, (p, k) in enumerate(made):
        largest = max(largest, min(1.0, (len(made) - rank) * p))
        adjusted[k] = replace(tests[k], p_holm=largest)
    return adjusted


def _no_test(assumption: str, test: str, why: str) -> AssumptionTest:
    return AssumptionTest(assumption, test, possible=False, why=why)


def two_sided(z: float) -> float:
    """Compute the probability that a normal deviate is further from 0 than z."""
    return math.erfc(abs(z) / math.sqrt(2.0))


# p_C and the state.


def same_by_state(moves: Transitions) -> AssumptionTest:
    """Compare p_C between states by Pearson's chi-squared."""
    name, test = SAME_BY_STATE, "Pearson"
    up, down = _drop_empty(moves.ups, moves.downs)
    if len(up) < 2 or not up.sum() or not down.sum():
        return _no_test(name, test, "CONTINUE must have moved up and down, from two states.")
    n, p = up + down, up.sum() / (up + down).sum()
    chi2 = float((((up - n * p) ** 2) / (n * p * (1.0 - p))).sum())
    df, total = len(up) - 1, n.sum()
    excess = (chi2 - df) * p * (1.0 - p) / (total - (n * n).sum() / total)
    return AssumptionTest(
        name, test, chi2, chi2_tail(chi2, df),
        effect=math.sqrt(max(0.0, excess)),
        effect_is="standard deviation of p_C between states, beyond chance",
        df=df, effect_unit="probability",
    )  # fmt: skip


def trend_by_state(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_C over the states (Cochran and Armitage)."""
    name, test = TREND_BY_STATE, "Cochran-Armitage"
    states = np.arange(1, moves.records.goal)
    tried = (moves.ups + moves.downs) > 0
    slope = _trend(states[tried].astype(np.float64), moves.ups[tried], moves.downs[tried])
    if slope is None:
        return _no_test(name, test, "CONTINUE must have moved up and down, from two states.")
    chi2, effect = slope
    return AssumptionTest(
        name, test, chi2, chi2_tail(chi2, 1),
        effect=effect, effect_is="change of the log-odds of up from one state to the next",
        df=1, effect_unit="log-odds",
    )  # fmt: skip


def _trend(x: Floats, up: Ints, down: Ints) -> tuple[float, float] | None:
    """Return the score test of a slope of the log-odds over x, and the slope in one step."""
    n = up + down
    if not up.sum() or not down.sum():
        return None
    p = up.sum() / n.sum()
    apart = x - (n * x).sum() / n.sum()
    score, information = (apart * up).sum(), p * (1.0 - p) * (n * apart * apart).sum()
    if information <= 0.0:
        return None
    return float(score * score / information), float(score / information)


# Memory, differences between cases, drift: these need the order of moves.


def no_memory(moves: Transitions) -> AssumptionTest:
    """Relate a move to the one before, given the state (Cochran, Mantel and Haenszel)."""
    name, test = NO_MEMORY, "Cochran-Mantel-Haenszel"
    if moves.records.aggregated:
        return _no_test(name, test, _NEEDS_CASES)
    steps = moves.steps
    later = steps.previous >= 0
    cell = 4 * steps.state[later] + 2 * steps.previous[later] + steps.up[later].astype(np.int64)
    tables = np.bincount(cell, minlength=4 * moves.records.goal).reshape(-1, 2, 2).astype(float)
    n = tables.sum(axis=(1, 2))
    tables, n = tables[n > 1], n[n > 1]
    after_up, ups = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
    spread = float((after_up * (n - after_up) * ups * (n - ups) / (n * n * (n - 1.0))).sum())
    if spread <= 0.0:
        return _no_test(
            name, test, "In every state, the move before was the same, or all moves went one way."
        )
    score = float((tables[:, 1, 1] - after_up * ups / n).sum())
    agree = float((tables[:, 1, 1] * tables[:, 0, 0] / n).sum())
    differ = float((tables[:, 1, 0] * tables[:, 0, 1] / n).sum())
    chi2 = score * score / spread
    return AssumptionTest(
        name, test, chi2, chi2_tail(chi2, 1),
        effect=agree / differ if differ > 0.0 else None,
        effect_is="odds of up after up, over those after down (common odds ratio; 1 is no memory)",
        df=1, effect_unit="odds ratio",
    )  # fmt: skip


def cases_alike(moves: Transitions) -> AssumptionTest:
    """Ask whether cases that did well go on doing well, given the state."""
    name, test = CASES_ALIKE, "score of the case's past residuals, one-sided"
    if moves.records.aggregated:
        return _no_test(name, test, _NEEDS_CASES)
    steps = moves.steps
    past = steps.sum_before(steps.residual)
    score = float((past * steps.residual).sum())
    apart = steps.centre(past)
    information = float((steps.variance * apart * apart).sum())
    if information <= 0.0:
        return _no_test(name, test, "No case has two moves from states that move both ways.")
    z = score / math.sqrt(information)
    pairs = float((steps.sum_before(steps.variance) * steps.variance).sum())
    return AssumptionTest(
        name, test, z, 0.5 * math.erfc(z / math.sqrt(2.0)),
        effect=math.sqrt(max(0.0, score / pairs)) if pairs > 0.0 else None,
        effect_is="standard deviation of the log-odds of up between cases",
        effect_unit="log-odds",
    )  # fmt: skip


def no_drift(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_C in the order of cases; moves of a case may belong together."""
    name, test = NO_DRIFT, "trend in case order, clustered by case"
    if moves.records.aggregated:
        return _no_test(name, test, _NEEDS_CASES)
    steps, cases = moves.steps, moves.records.cases
    x = steps.case / max(1, cases - 1)
    apart = steps.centre(x)
    parts = steps.sum_by_case(apart * steps.residual, cases)
    score, spread = float(parts.sum()), float((parts * parts).sum())
    information = float((steps.variance * apart * apart).sum())
    if spread <= 0.0 or information <= 0.0:
        return _no_test(name, test, "There are too few cases with moves both up and down.")
    z = score / math.sqrt(spread)
    return AssumptionTest(
        name, test, z, two_sided(z),
        effect=score / information,
        effect_is="change of the log-odds of up from the first case to the last",
        effect_unit="log-odds",
    )  # fmt: skip


def sum_over_cases(moves: Transitions) -> Floats | None:
    """Sum up what the moves of each case were above the share of their states, case by case.

    It is in units of its standard deviation by cases. Residuals are from shares of the same moves,
    so that the sum ends at 0: without a change of p_C it is like a Brownian bridge.
    """
    if moves.records.aggregated:
        return None
    parts = moves.steps.sum_by_case(moves.steps.residual, moves.records.cases)
    spread = float((parts * parts).sum())
    total: Floats = np.cumsum(parts) / math.sqrt(spread or 1.0)
    return total if spread > 0.0 else None


def no_shift(moves: Transitions) -> AssumptionTest:
    """Test whether p_C changes at some case: how far from 0 the sum over cases comes."""
    name, test = NO_SHIFT, "largest sum over cases, clustered by case (Kolmogorov)"
    if moves.records.aggregated:
        return _no_test(name, test, _NEEDS_CASES)
    total = sum_over_cases(moves)
    if total is None:
        return _no_test(name, test, "There are too few cases with moves both up and down.")
    steps, largest = moves.steps, int(np.abs(total).argmax())
    later = steps.centre((steps.case > largest).astype(np.float64))
    information = float((steps.variance * later * later).sum())
    score = float((later * steps.residual).sum())
    return AssumptionTest(
        name, test, float(abs(total[largest])), kolmogorov_tail(float(abs(total[largest]))),
        effect=score / information if information > 0.0 else None,
        effect_is=f"change of the log-odds of up after case {largest + 1:,}, the largest there is",
        effect_unit="log-odds",
    )  # fmt: skip


def shift_limit(tests: Sequence[AssumptionTest], level: float) -> float:
    """Return how far from 0 the sum over cases may come before its test speaks against no shift.

    Beyond it the probability that is adjusted for all tests (Holm 1979) is below 1 - level.
    """
    others = sorted(t.p for t in tests if t.p is not None and t.assumption != NO_SHIFT)
    left = len(others) + 1
    for p in others:
        if left * p >= 1.0 - level:
            break
        left -= 1
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        less = left * kolmogorov_tail(middle) < 1.0 - level
        low, high = (low, middle) if less else (middle, high)
    return high


def no_drift_in_f(moves: Transitions) -> AssumptionTest:
    """Test for a trend of p_F in the order of cases; a case finishes once."""
    name, test = NO_DRIFT_F, "trend in case order"
    if moves.records.aggregated:
        return _no_test(name, test, _NEEDS_CASES)
    rows = moves.finished
    x = moves.records.case[rows] / max(1, moves.records.cases - 1)
    won = (moves.records.next_state[rows] == moves.records.goal).astype(np.int64)
    slope = _trend(x, won, 1 - won)
    if slope is None:
        return _no_test(name, test, "FINISH must have won and lost, in two cases.")
    return AssumptionTest(
        name, test, slope[0], chi2_tail(slope[0], 1),
        effect=slope[1], effect_is="change of the log-odds of winning, first case to last",
        df=1, effect_unit="log-odds",
    )  # fmt: skip


# FINISH and the state, and both by group.


def same_f_by_state(moves: Transitions) -> AssumptionTest:
    """Compare p_F between states."""
    return _compare_shares(
        SAME_F_BY_STATE, moves.wins, moves.losses, "FINISH must have been tried in two states."
    )


def same_by_group(moves: Transitions) -> list[AssumptionTest]:
    """Compare p_C, and p_F, between groups."""
    up, won = moves.distance > 0, moves.records.next_state == moves.records.goal
    count = moves.count_by_group
    return [
        _compare_shares(
            SAME_C_BY_GROUP, count(moves.stepped & up), count(moves.stepped & ~up),
            "CONTINUE must have moved up and down, in two groups.",
        ),
        _compare_shares(
            SAME_F_BY_GROUP, count(moves.finished & won), count(moves.finished & ~won),
            "FINISH must have been tried in two groups.",
        ),
    ]  # fmt: skip


def same_choice_by_group(moves: Transitions) -> AssumptionTest:
    """Compare between groups how often cases finish when they first stand in state 1."""
    records = moves.records
    first = records.state == 1
    if not records.aggregated:
        rows = np.flatnonzero(first)
        first = np.zeros_like(first)
        first[rows[np.unique(records.case[rows], return_index=True)[1]]] = True
    finishes = records.action == Action.FINISH
    count = moves.count_by_group
    return _compare_shares(
        SAME_CHOICE, count(first & finishes), count(first & ~finishes),
        "Both actions must have been tried in state 1, and two groups must have stood there.",
    )  # fmt: skip


def _compare_shares(assumption: str, won: Ints, lost: Ints, why: str) -> AssumptionTest:
    """Compare shares by the likelihood ratio, or by Fisher's or Pearson's test for small counts."""
    won, lost = _drop_empty(won, lost)
    if len(won) < 2 or not won.sum() or not lost.sum():
        return _no_test(assumption, "likelihood ratio", why)
    n = won + lost
    share = won.sum() / n.sum()
    expected = np.minimum(n * share, n * (1.0 - share))
    spread = won / n
    effect, effect_is = float(spread.max() - spread.min()), "largest share less the smallest"
    few = expected.min() < _FEW
    if few and math.prod((n + 1).tolist()[:-1]) <= _MOST_TABLES:
        return AssumptionTest(
            assumption, "Fisher", None, fisher(won, lost), effect=effect, effect_is=effect_is,
            effect_unit="probability",
        )  # fmt: skip
    cells = np.concatenate((won, lost)).astype(float)
    means = np.concatenate((n * share, n * (1.0 - share)))
    if few:
        # With many small groups the likelihood ratio rejects a third of all true assumptions.
        chi2 = float(((cells - means) ** 2 / means).sum())
    else:
        positive = cells > 0.0
        chi2 = float(2.0 * (cells[positive] * np.log(cells[positive] / means[positive])).sum())
    return AssumptionTest(
        assumption, "Pearson" if few else "likelihood ratio", chi2, chi2_tail(chi2, len(won) - 1),
        effect=effect, effect_is=effect_is, df=len(won) - 1, effect_unit="probability",
    )  # fmt: skip


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


def _drop_empty(won: Ints, lost: Ints) -> tuple[Ints, Ints]:
    tried = (won + lost) > 0
    return won[tried], lost[tried]
