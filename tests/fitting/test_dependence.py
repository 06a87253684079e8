"""Moves of one case belong together where cases differ."""

from typing import Any

import numpy as np
import pytest
from optional import optional

import grbp
from grbp.fitting.fit import fit_records
from grbp.fitting.transitions import Transitions
from grbp.records.reading import read_records


def drawn(kind: Any, cases: int, seed: int, goal: int = 4) -> Transitions:
    size = 1.0 if kind == "cases" else None
    table = grbp.example_records(kind, goal, cases=cases, seed=seed, size=size)
    return Transitions(read_records(table, goal))


@pytest.mark.parametrize("kind", ["cases", "model"])
def test_the_variance_is_that_of_a_regression_clustered_by_case(kind: str) -> None:
    api = optional("statsmodels.api")
    moves = drawn(kind, 120, 1)
    steps = moves.steps
    fitted = api.OLS(steps.up, np.ones(len(steps.up))).fit(
        cov_type="cluster", cov_kwds={"groups": steps.case}
    )
    cases, share = len(set(steps.case.tolist())), steps.up.mean()
    worth = share * (1.0 - share) / fitted.bse[0] ** 2 * (cases - 3) / (cases - 1)
    assert moves.steps.effective_tries() == pytest.approx(min(worth, len(steps.up)), rel=1e-9)


def test_the_variance_is_that_of_drawing_cases_again() -> None:
    moves = drawn("cases", 400, 2, goal=8)
    steps = moves.steps
    ups = steps.sum_by_case(steps.up)
    tries = steps.sum_by_case(np.ones(len(steps.up)))
    random = np.random.default_rng(0)
    again = random.integers(0, len(ups), (2000, len(ups)))
    spread = float((ups[again].sum(axis=1) / tries[again].sum(axis=1)).var())
    share = float(steps.up.mean())
    assert moves.steps.effective_tries() == pytest.approx(share * (1.0 - share) / spread, rel=0.1)
    assert moves.steps.effective_tries() < 0.8 * len(steps.up)


def test_it_is_never_more_than_there_are() -> None:
    for seed in range(20):
        for cases in (1, 2, 3, 5, 40):
            moves = drawn("model", cases, seed)
            if len(moves.steps.up):
                assert 0.0 <= moves.steps.effective_tries() <= len(moves.steps.up)


def test_where_cases_differ_all_that_rests_on_p_c_is_less_sure() -> None:
    fit = fit_records(drawn("cases", 1000, 3).records)
    p_c, plain = fit.p_c, grbp.Proportion(fit.p_c.successes, fit.p_c.tries)
    assert p_c.effective is not None
    assert p_c.effective < p_c.tries
    worth = plain.successes / plain.tries * p_c.effective
    assert p_c.interval == p_c.by_case == pytest.approx(grbp.wilson(worth, p_c.effective))
    assert p_c.interval.low < plain.wilson.low < plain.wilson.high < p_c.interval.high
    assert fit.boundary == pytest.approx(
        [grbp.boundary(4, p) for p in (plain.successes / plain.tries, *p_c.interval)]
    )
    assert fit.p_f is not None
    won, lost = fit.p_f.successes, fit.p_f.failures
    assert fit.posterior == grbp.Posterior(4, *p_c.counts, won, lost)
    assert fit.posterior.c_up + fit.posterior.c_down == pytest.approx(p_c.effective)
    sure = grbp.Posterior(4, plain.successes, plain.failures, won, lost)
    wide, narrow = fit.posterior.difference(), sure.difference()
    assert wide.estimate == pytest.approx(narrow.estimate)
    assert wide.high - wide.low > narrow.high - narrow.low
    line = next(one for one in fit.summary().splitlines() if "by case, since" in one)
    low, high = p_c.interval
    ends = [f"{plain.estimate:.3f}", f"{low:.3f}", "to", f"{high:.3f}", f"{p_c.effective:,.0f}"]
    assert line.split()[-5:] == ends
    assert fit.to_dict()["p_c"]["by_case"] == list(p_c.interval)


def test_where_cases_are_alike_nothing_is_added() -> None:
    fit = fit_records(drawn("model", 300, 1).records)
    assert fit.p_c.effective is None
    assert fit.p_c.by_case is None
    assert fit.p_c.interval == fit.p_c.wilson
    assert "by case" not in fit.summary()


def test_where_a_learner_chose_too_the_anytime_interval_is_on_the_effective_number() -> None:
    fit = fit_records(drawn("cases", 1000, 3).records, adaptive=True)
    share, effective = fit.p_c.successes / fit.p_c.tries, fit.p_c.effective
    assert effective is not None
    assert fit.p_c.interval == pytest.approx(grbp.anytime(share * effective, effective))


def test_the_interval_by_case_holds() -> None:
    """Of p_C = 0.5 the effects of cases leave 0.5, with a goal at which moves belong together."""
    held, plain = 0, 0
    for seed in range(60):
        table = grbp.example_records("cases", 10, 0.5, cases=100, seed=seed, size=1.0, finish=0.0)
        moves = Transitions(read_records(table, 10))
        share, effective = float(moves.steps.up.mean()), moves.steps.effective_tries()
        low, high = grbp.wilson(share * effective, effective)
        held += low <= 0.5 <= high
        low, high = grbp.wilson(moves.steps.up.sum(), len(moves.steps.up))
        plain += low <= 0.5 <= high
    assert held >= 52
    assert plain < held
