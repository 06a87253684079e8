"""The tests of the assumptions, beside tools that nobody here wrote, and their forbidden kin."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from optional import optional
from paths import records_of
from scipy import stats

from grbp.fitting import assumptions
from grbp.fitting.assumptions import Assumption, assumption_tests, holm, shift_limit
from grbp.fitting.fit import fit, fit_records
from grbp.fitting.model_tests import AssumptionTest, compare_shares, fisher
from grbp.fitting.transitions import Transitions
from grbp.records.clean import Records
from grbp.records.examples import example_records
from grbp.records.reading import read_records
from grbp.reports.fit_report import fit_report


def moves_of(kind: Any, goal: int, **other: Any) -> Transitions:
    """Draw a table, and read it."""
    return Transitions(read_records(example_records(kind, goal=goal, **other), goal))


def aggregated(rows: list[tuple[int, str, int | None, int]], goal: int) -> Records:
    """Read rows of state, action, next state and count."""
    names = ("state", "action", "next_state", "count")
    return read_records(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), goal)


@pytest.fixture(scope="module", params=["model", "memory", "cases", "drift"])
def moves(request: pytest.FixtureRequest) -> Transitions:
    return moves_of(request.param, cases=300, goal=5, p_c=0.52, finish=0.4, seed=3)


def made(moves: Transitions) -> dict[str, AssumptionTest]:
    return {test.name: test for test in assumption_tests(moves)}


def same(test: AssumptionTest, statistic: float, p: float) -> None:
    assert test.statistic == pytest.approx(statistic, rel=1e-6)
    assert test.p == pytest.approx(p, rel=1e-6)


def test_states_are_compared_as_scipy_does(moves: Transitions) -> None:
    table = np.column_stack((moves.ups, moves.downs))
    chi2, p, _, _ = stats.chi2_contingency(table, correction=False)
    same(made(moves)["p_c by state"], chi2, p)


@pytest.mark.soak
def test_the_trend_over_states_is_that_of_statsmodels(moves: Transitions) -> None:
    sm = optional("statsmodels.api")
    steps = moves.steps
    null = sm.GLM(steps.up, np.ones(len(steps.up)), family=sm.families.Binomial()).fit()
    chi2, p = null.score_test(exog_extra=steps.state.astype(float)[:, None])
    same(made(moves)["p_c trend over states"], float(np.squeeze(chi2)), float(np.squeeze(p)))


@pytest.mark.soak
def test_memory_is_that_of_statsmodels(moves: Transitions) -> None:
    tables_of = optional("statsmodels.stats.contingency_tables")
    steps = moves.steps
    tables = []
    for state in range(1, moves.records.goal):
        kept = (steps.state == state) & (steps.previous >= 0)
        table = np.zeros((2, 2))
        np.add.at(table, (steps.previous[kept], steps.up[kept].astype(int)), 1)
        if table.sum() > 1:
            tables.append(table)
    with warnings.catch_warnings():  # A table with an empty row has no odds ratio of its own.
        warnings.simplefilter("ignore")
        theirs = tables_of.StratifiedTable(np.stack(tables, axis=2))
        answer = theirs.test_null_odds(correction=False)
        same(made(moves)["memory"], answer.statistic, answer.pvalue)
        effect = made(moves)["memory"].effect
        assert effect == pytest.approx(theirs.oddsratio_pooled)


@pytest.mark.soak
def test_likeness_of_cases_is_the_score_test_of_statsmodels(moves: Transitions) -> None:
    sm = optional("statsmodels.api")
    steps = moves.steps
    dummies = (steps.state[:, None] == np.unique(steps.state)).astype(float)
    null = sm.GLM(steps.up, dummies, family=sm.families.Binomial()).fit()
    past = np.zeros(len(steps.up))
    for k in range(1, len(past)):
        if steps.case[k] == steps.case[k - 1]:
            past[k] = past[k - 1] + steps.up[k - 1] - null.fittedvalues[k - 1]
    chi2, p = null.score_test(exog_extra=past[:, None])
    ours = made(moves)["cases alike"]
    assert ours.statistic is not None
    assert ours.statistic**2 == pytest.approx(float(np.squeeze(chi2)), rel=1e-3)
    one_sided = float(np.squeeze(p)) / 2
    assert ours.p == pytest.approx(one_sided if ours.statistic > 0 else 1 - one_sided, rel=1e-3)


@pytest.mark.soak
def test_drift_is_the_clustered_score_test_of_statsmodels(moves: Transitions) -> None:
    sm = optional("statsmodels.api")
    steps, cases = moves.steps, moves.records.cases
    dummies = (steps.state[:, None] == np.unique(steps.state)).astype(float)
    order = (steps.case / (cases - 1))[:, None]
    family = sm.families.Binomial()
    whole = sm.GEE(steps.up, np.hstack((dummies, order)), groups=steps.case, family=family)
    null = sm.GEE(steps.up, dummies, groups=steps.case, family=family).fit()
    answer = whole.compare_score_test(null)
    ours = made(moves)["p_c drift"]
    assert ours.statistic is not None
    assert ours.statistic**2 == pytest.approx(answer["statistic"], rel=1e-3)
    assert ours.p == pytest.approx(answer["p-value"], rel=1e-3)


@pytest.mark.soak
def test_a_drift_of_p_f_is_the_score_test_of_statsmodels(moves: Transitions) -> None:
    sm = optional("statsmodels.api")
    rows = moves.finished
    won = (moves.records.next_state[rows] == moves.records.goal).astype(float)
    order = moves.records.case[rows] / (moves.records.cases - 1)
    null = sm.GLM(won, np.ones(len(won)), family=sm.families.Binomial()).fit()
    chi2, p = null.score_test(exog_extra=order[:, None])
    same(made(moves)["p_f drift"], float(np.squeeze(chi2)), float(np.squeeze(p)))


def test_a_drift_of_p_f_is_the_trend_test_of_cochran_and_armitage() -> None:
    outcomes = "01001011011101111"
    paths = [f"1f{'3' if won == '1' else '0'}" for won in outcomes]
    test = made(Transitions(records_of(paths, 3)))["p_f drift"]
    won, order = np.array([int(one) for one in outcomes]), np.arange(len(outcomes))
    mean = won.mean()
    score, spread = (order * (won - mean)).sum(), ((order - order.mean()) ** 2).sum()
    chi2 = score**2 / (mean * (1.0 - mean) * spread)
    same(test, chi2, stats.chi2.sf(chi2, 1))
    assert test.effect is not None
    assert test.effect > 0.0


def test_shares_of_finish_are_compared_as_scipy_does() -> None:
    moves = moves_of("model", cases=400, goal=4, finish=[0.3, 0.3, 0.3], seed=5)
    table = np.column_stack((moves.wins, moves.losses))
    chi2, p, _, _ = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    test = made(moves)["p_f by state"]
    assert test.test == "likelihood ratio"
    same(test, chi2, p)


@pytest.mark.parametrize("table", [[[3, 1], [1, 3]], [[0, 5], [4, 2]], [[2, 7], [8, 2]]])
def test_fisher_is_that_of_scipy(table: list[list[int]]) -> None:
    won, lost = np.array(table).T
    assert fisher(won, lost) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


def test_fisher_of_three_rows_counts_all_tables() -> None:
    won, lost = np.array([3, 0, 2]), np.array([1, 4, 2])
    n, total = won + lost, 5
    weights = {
        (a, b): math.comb(4, a) * math.comb(4, b) * math.comb(4, total - a - b)
        for a in range(5)
        for b in range(5)
        if 0 <= total - a - b <= 4
    }
    own = weights[3, 0]
    expected = sum(w for w in weights.values() if w <= own) / math.comb(int(n.sum()), total)
    assert fisher(won, lost) == pytest.approx(expected, rel=1e-9)


def test_a_few_tries_of_finish_are_compared_exactly() -> None:
    moves = moves_of("model", cases=12, goal=3, finish=[0.5, 0.5], seed=1)
    test = made(moves)["p_f by state"]
    table = np.column_stack((moves.wins, moves.losses))
    assert test.test == "Fisher"
    assert test.statistic is None
    assert test.p == pytest.approx(stats.fisher_exact(table).pvalue)


@pytest.mark.soak
def test_holm_is_that_of_statsmodels() -> None:
    multipletests = optional("statsmodels.stats.multitest").multipletests
    given = [0.004, 0.9, 0.0111, 0.011, 0.3, 0.3]  # one that would fall below another, and ties
    tests = [AssumptionTest(str(p), "", p=p) for p in given]
    tests.insert(2, AssumptionTest("not possible", "", possible=False))
    adjusted = holm(tests)
    assert adjusted[2].p_holm is None
    ours = [test.p_holm for test in adjusted if test.p is not None]
    assert ours == pytest.approx(multipletests(given, method="holm")[1])


def test_under_threshold_1_at_goal_4_memory_cannot_be_tested() -> None:
    """The state fixes the previous move there: 3 is entered from 2 and 2 from 3."""
    moves = moves_of("model", cases=500, goal=4, finish=1.0, seed=2)
    test = made(moves)["memory"]
    assert not test.possible
    assert test.p is None
    assert test.why


def test_aggregated_rows_leave_out_what_needs_cases() -> None:
    records = aggregated([(1, "c", 0, 30), (1, "c", 2, 20), (2, "c", 1, 25), (2, "c", 3, 45)], 3)
    tests = made(Transitions(records))
    impossible = {name for name, test in tests.items() if not test.possible}
    assert impossible >= {"memory", "cases alike", "p_c drift", "p_f drift"}
    chi2, p, _, _ = stats.chi2_contingency([[20, 30], [45, 25]], correction=False)
    same(tests["p_c by state"], chi2, p)


def test_staying_and_jumping_are_no_previous_moves() -> None:
    """A stay between two moves leaves them neighbours; after a jump there is no previous move."""
    state = np.array([2, 3, 3, 4, 2, 3])
    after = np.array([3, 3, 4, 2, 3, 4])
    ones = np.ones(6, dtype=np.int64)
    records = Records(
        goal=6, rows=6, cases=1, case=0 * ones, step=np.arange(6), state=state, action=0 * ones,
        next_state=after, count=ones, groups=(), group=0 * ones, aggregated=False,
        open_empty_next=0, open_no_row=1,
    )  # fmt: skip
    moves = Transitions(records)
    assert moves.stays.sum() == 1
    assert moves.jumps.tolist() == [0, 0, 0, 1, 0]
    assert moves.steps.previous.tolist() == [-1, 1, -1, 1]
    assert moves.ups.sum() == 4
    assert moves.downs.sum() == 0


def test_many_small_groups_that_are_alike_are_not_taken_for_different() -> None:
    """The likelihood ratio would find them different in a third of all such tables."""
    random = np.random.default_rng(1)
    found = 0
    for _ in range(400):
        won = random.binomial(3, 0.3, 50)
        test = compare_shares(won, 3 - won, "")
        assert test.test == "Pearson"
        table = np.array([won, 3 - won])
        assert test.statistic == pytest.approx(stats.chi2_contingency(table).statistic)
        found += test.p is not None and test.p < 0.05
    assert 4 <= found <= 32


@pytest.mark.parametrize("times", [7, 100])
def test_one_past_for_all_leaves_nothing_to_compare(times: int) -> None:
    """Every move from state 2 follows one up, and what rounding leaves of that is no difference."""
    paths = ["1c2c3", "1c2c3", "1c2c1f0", "1c0"] * times
    test = made(Transitions(records_of(paths, 3)))["cases alike"]
    assert not test.possible
    assert test.p is None


@pytest.mark.parametrize("which", range(12))
def test_one_case_has_no_drift(which: int) -> None:
    """All moves are of one case, wherever it stands in the order, so there is no trend."""
    paths = ["1c2c1c2c1c2c3" if case == which else "1f0" for case in range(12)]
    assert not made(Transitions(records_of(paths, 3)))["p_c drift"].possible


def test_likeness_of_cases_is_asked_on_one_side() -> None:
    """Cases that did well and then badly are no sign of cases that differ."""
    turning = Transitions(records_of(["2c3c2c1f0", "2c1c2c3f4"] * 20, 4))
    test = made(turning)["cases alike"]
    assert test.statistic is not None
    assert test.statistic < -2.0
    assert test.p is not None
    assert test.p > 0.97
    assert test.effect == 0.0


def test_the_spread_between_states_is_what_is_beyond_chance() -> None:
    """With many moves, it is the standard deviation of the shares themselves."""
    rows = aggregated([(1, "c", 2, 30_000), (1, "c", 0, 70_000), (2, "c", 3, 70_000),
                       (2, "c", 1, 30_000)], 3)  # fmt: skip
    test = made(Transitions(rows))["p_c by state"]
    # The shares are .3 and .7, whose unbiased variance is .4 ** 2 / 2.
    assert test.effect == pytest.approx(math.sqrt(0.08), rel=1e-3)
    alike = aggregated([(1, "c", 2, 50), (1, "c", 0, 50), (2, "c", 3, 49), (2, "c", 1, 51)], 3)
    assert made(Transitions(alike))["p_c by state"].effect == 0.0


def test_a_row_that_counts_n_is_n_rows() -> None:
    once = [(1, "c", 2, 1), (1, "c", 0, 1), (2, "c", 3, 1), (2, "c", 1, 1), (3, "c", 1, 1),
            (1, "f", 0, 1), (1, "f", 4, 1), (2, "f", 4, 1), (2, "c", 2, 1),
            (1, "f", None, 1), (3, "c", 4, 1)]  # fmt: skip
    times = [20, 31, 22, 25, 6, 9, 12, 7, 3, 200, 4]
    counted = aggregated([(*row[:3], n) for row, n in zip(once, times, strict=True)], 4)
    repeated = aggregated([row for row, n in zip(once, times, strict=True) for _ in range(n)], 4)
    one, other = fit_records(counted).to_dict(), fit_records(repeated).to_dict()
    assert one.pop("rows") == 11
    assert other.pop("rows") == sum(times)
    assert one == other
    at_random = one["tests"][-1]
    assert at_random["assumption"] == "open cases are like the others"
    assert at_random["changes_answer"]


def test_without_cases_nobody_says_what_a_drift_would_change() -> None:
    rows = aggregated([(1, "c", 2, 20), (1, "c", 0, 30), (2, "c", 3, 25), (2, "c", 1, 45),
                       (1, "f", 3, 5), (1, "f", 0, 5)], 3)  # fmt: skip
    tests = {test.name: test for test in fit_records(rows).tests}
    for name in ("p_c drift", "p_f drift", "memory"):
        assert not tests[name].possible
        assert tests[name].changes_answer is None
    assert tests["p_c by state"].changes_answer is not None


def test_the_chance_of_a_statistic_is_that_of_its_degrees_of_freedom(moves: Transitions) -> None:
    of_one = {"p_c trend over states", "memory", "p_f drift"}
    for name, test in made(moves).items():
        if test.df is not None:
            assert test.p == pytest.approx(stats.chi2.sf(test.statistic, test.df), rel=1e-6), name
            assert test.df == 1 or name not in of_one


def test_memory_is_measured_by_the_odds_of_mantel_and_haenszel() -> None:
    """Only state 2 is entered from both sides here: 3 of 4 go up after up, 2 of 4 after down."""
    paths = ["1c2c3f4"] * 3 + ["1c2c1f0"] + ["3c2c3f4"] * 2 + ["3c2c1f0"] * 2
    test = made(Transitions(records_of(paths, 4)))["memory"]
    assert test.effect == pytest.approx((3 / 1) / (2 / 2))


@pytest.mark.parametrize(("level", "limit"), [(0.5, 0.8275736), (0.95, 1.3580986)])
def test_alone_a_shift_is_judged_by_the_quantile_of_kolmogorov(level: float, limit: float) -> None:
    assert shift_limit([], level) == pytest.approx(limit, rel=1e-6)
    assert limit == pytest.approx(stats.kstwobign.ppf(level), rel=1e-6)


def test_two_cases_are_enough_for_a_sum_over_cases() -> None:
    total = Transitions(records_of(["1c2", "1c0"], 3)).sum_over_cases
    assert total is not None
    np.testing.assert_allclose(np.abs(total), [0.5**0.5, 0.0], atol=1e-12)


@pytest.mark.parametrize("entry", assumptions.ASSUMPTIONS, ids=lambda entry: entry.name)
def test_an_assumption_has_all_its_parts(entry: Assumption) -> None:
    words = (entry.name, entry.words, entry.broken, entry.how)
    assert all(words)
    assert all(one.name == entry.name or one.name not in words for one in assumptions.ASSUMPTIONS)
    assert entry.needs in ("", "cases", "groups", "open cases")
    assert (entry.chance, entry.over) == ("", "") or entry.over in ("states", "groups")
    lacking = aggregated([(2, "continue", 3, 5), (3, "continue", 4, 5)], 4)
    test = entry.test(Transitions(lacking)) if entry.needs != "cases" else None
    assert test is None or test.possible or test.why.endswith(".")


def test_an_assumption_that_is_added_is_tested_told_and_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(_: Transitions) -> AssumptionTest:
        return AssumptionTest(statistic=40.0, p=1e-9, effect=0.5, effect_unit="probability")

    added = Assumption(
        name="weekdays", words="weekdays are alike", broken="weekdays differ", how="a calendar",
        test=never, without=lambda answers: 1 - (answers.by_model or 0),
    )  # fmt: skip
    table = example_records(cases=500, seed=1)
    before = fit(table, 4)
    monkeypatch.setattr(assumptions, "ASSUMPTIONS", (*assumptions.ASSUMPTIONS, added))
    after = fit(table, 4)
    (test,) = (one for one in after.tests if one.name == "weekdays")
    assert (test.assumption, test.test, test.changes_answer) == (added.words, added.how, True)
    assert before.firm
    assert not after.firm
    assert after.doubts[0].lower().startswith("weekdays differ")
    assert "  weekdays are alike  " in after.summary()
    assert "weekdays are alike" in [one["assumption"] for one in after.to_dict()["tests"]]
    assert "Weekdays differ" in fit_report(after, {})
