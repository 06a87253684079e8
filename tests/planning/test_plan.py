"""Plans: what must hold of them, the figures of the guide, and what is refused."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fits import walked
from scipy import stats

import grbp
from grbp.errors import InvalidInput
from grbp.numerics.intervals import anytime, wilson
from grbp.planning.operating_characteristics import _coverage_and_bias
from grbp.planning.printed_plan import _format_span, format_short
from grbp.planning.records import read_past

FIT: dict[str, Any] = {
    "goal": 4,
    "cases": 150,
    "p_c": {"ups": 120, "tries": 260},
    "p_f": {"wins": 11, "tries": 40},
    "first_states": [50, 0, 100],
}
"""The part of what `grbp fit --json` prints that a plan reads."""


def one(goal: int = 4, p_c: float = 0.45, p_f: float = 0.3, **choices: Any) -> grbp.Truth:
    """The only truth of a small plan."""
    sizes: dict[str, Any] = {"cases": [20, 100], "replicas": 200} | choices
    (truth,) = grbp.plan(goal, p_c, p_f, **sizes).truths
    return truth


@pytest.mark.slow
def test_goals_lost_are_the_regret_that_is_simulated() -> None:
    problem = grbp.Problem(4, 0.65, 0.3, {1: 0.5, 3: 0.5})
    truth = one(p_c=0.65, start={1: 0.5, 3: 0.5}, seed=9)
    looked = [seen.cases for seen in truth.outlooks]
    curve = grbp.simulate(
        problem, rounds=100, replicas=200, seed=9, checkpoints=looked, engine="walk", horizon=True
    ).curves[f"{grbp.DEFAULT_LEARNER}:horizon=100"]
    for seen, mean, se in zip(truth.outlooks, curve.mean, curve.se, strict=True):
        assert seen.goals_lost.estimate == pytest.approx(mean, rel=1e-12)
        half = seen.goals_lost.high - seen.goals_lost.estimate
        assert half == pytest.approx(1.959963984540054 * se)
        best = seen.cases * grbp.value(problem, 0)
        assert seen.goals_oracle == pytest.approx(best)
        assert seen.goals.estimate + seen.goals_lost.estimate == pytest.approx(best)
        assert seen.goals_threshold_1 == pytest.approx(seen.cases * grbp.value(problem, 1))


@pytest.mark.slow
def test_the_oracle_loses_nothing_and_overruled_it_loses_all() -> None:
    for p_f, right in ((0.3, 1), (0.1, 0)):
        truth = one(p_f=p_f, learner="oracle")
        assert truth.right == right
        assert truth.at(100).goals_lost == (0.0, 0.0, 0.0)
        assert truth.at(100).plays_right.estimate == 1.0
        overruled = one(p_f=p_f, learner="oracle", overrule=1.0).at(100)
        assert overruled.goals_lost.estimate == pytest.approx(100 * truth.loss)
        assert overruled.goals.estimate == pytest.approx(
            overruled.goals_threshold_0 if right else overruled.goals_threshold_1
        )


def test_who_explores_with_a_high_threshold_is_overruled_by_never_finishing() -> None:
    truth = one(learner="threshold-3", overrule=1.0, goal=6, p_c=0.6)
    assert truth.at(100).finishes.estimate == 0.0


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = []
    for threads, cases_at_once in ((1, 2**19), (3, 900)):
        monkeypatch.setattr("grbp.planning.studies._SLICE", cases_at_once)
        plans += [grbp.plan(4, 0.4, 0.25, [30, 90], replicas=95, overrule=0.1, threads=threads)]
    assert plans[0].to_dict() == plans[1].to_dict()


def test_a_number_that_nobody_asked_about_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cases = 77 was given; the plan has no answer for it"):
        one().at(77)


def test_ranges_are_grids() -> None:
    plan = grbp.plan(4, (0.4, 0.5), (0.2, 0.35, 2), 5, replicas=2)
    assert [(t.p_c, t.p_f) for t in plan.truths] == [
        (0.4, 0.2), (0.4, 0.35), (0.45, 0.2), (0.45, 0.35), (0.5, 0.2), (0.5, 0.35)
    ]  # fmt: skip


def test_where_both_policies_are_equally_good_none_is_wrong() -> None:
    plan = grbp.plan(4, 0.5, 0.25, [20, 100], replicas=200)
    (truth,) = plan.truths
    assert truth.right is None
    assert truth.loss == pytest.approx(0.0)
    seen = truth.at(100)
    assert seen.plays_right.estimate == 1.0
    assert seen.ever_wrongly_sure.estimate == seen.wrongly_sure.estimate == 0.0
    assert seen.ever_sure.estimate > 0.0
    assert "nothing can be learned" in plan.sentence
    assert "both" in plan.summary()
    assert any(math.isnan(float(cell)) for row in plan.cells() for cell in row)


def test_sureness_adds_up() -> None:
    truth = one(p_c=0.5, p_f=0.27, replicas=400)
    before = truth.outlooks[0]
    for seen in truth.outlooks:
        assert seen.known.estimate + seen.wrongly_sure.estimate <= seen.ever_sure.estimate + 1e-12
        assert seen.wrongly_sure.estimate <= seen.ever_wrongly_sure.estimate
        first_wrong = seen.first_sure_wrong.estimate * seen.ever_sure.estimate
        assert first_wrong <= seen.ever_wrongly_sure.estimate + 1e-12
        assert seen.ever_sure.estimate >= before.ever_sure.estimate
        assert seen.known.low <= seen.known.estimate <= seen.known.high
        before = seen
    assert truth.at(100).ever_wrongly_sure.estimate > 0.1


def test_who_stops_when_sure_stays_with_it() -> None:
    truth = one(stop_at=0.9, cases=[50, 300])
    end = truth.at(300)
    assert end.known.estimate + end.wrongly_sure.estimate == pytest.approx(end.ever_sure.estimate)
    assert end.wrongly_sure.estimate == end.ever_wrongly_sure.estimate
    share = end.first_sure_wrong.estimate * end.ever_sure.estimate
    assert share == pytest.approx(end.ever_wrongly_sure.estimate)
    # One who stops loses as much in every later case.
    later = end.goals_lost.estimate - truth.at(50).goals_lost.estimate
    assert later >= 0.99 * 250 * truth.loss * truth.at(50).wrongly_sure.estimate
    waited = one(stop_at=0.9, cases=[50, 300], look_from=30).at(300)
    assert waited.ever_wrongly_sure.estimate < end.ever_wrongly_sure.estimate


def test_goals_that_are_told_late_make_finishing_look_worse() -> None:
    on_time, late = one(), one(late_wins=50)
    assert late.at(100).bias_p_f.high < on_time.at(100).bias_p_f.low - 0.05


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 0.02, 0.3, 0.95, 1.0])
def test_coverage_is_that_of_the_intervals(p: float) -> None:
    good, bad = (grid.ravel() for grid in np.meshgrid(np.arange(30), np.arange(30)))
    if p in (0.0, 1.0):
        (good, bad)[int(p)][:] = 0
    held = {wilson: 0, anytime: 0}
    for s, f in zip(good.tolist(), bad.tolist(), strict=True):
        for interval in held:
            low, high = interval(s, s + f)
            held[interval] += s + f > 0 and low - 1e-12 <= p <= high + 1e-12
    tried = int((good + bad > 0).sum())
    by_wilson, by_anytime, bias = _coverage_and_bias(good, bad, p)
    assert by_wilson.estimate == held[wilson] / tried
    assert by_anytime.estimate == held[anytime] / tried
    mean = np.mean([s / (s + f) - p for s, f in zip(good, bad, strict=True) if s + f])
    assert bias.estimate == pytest.approx(mean)


def test_an_action_that_is_never_tried_has_no_estimate() -> None:
    seen = one(learner="threshold-0").at(100)
    assert math.isnan(seen.bias_p_f.estimate)
    assert math.isnan(seen.wilson_p_f.estimate)
    assert seen.finishes.estimate == 0.0
    assert seen.wilson_p_c.low > 0.85


@pytest.mark.soak
def test_the_figures_of_the_guide() -> None:
    """Playing the right policy is not knowing it; overlap and overruling have their price."""
    sizes: Any = {"cases": 2000, "replicas": 2000}
    apart = one(p_c=0.5, p_f=0.2, **sizes).at(2000)
    assert apart.plays_right.estimate == pytest.approx(0.995, abs=0.005)
    assert apart.known.estimate == pytest.approx(0.40, abs=0.02)
    costs: list[dict[str, Any]] = [{}, {"overlap": 20}, {"overlap": 100}, {"overrule": 0.1}]
    lost = [one(p_c=0.65, **sizes, **how).at(2000).goals_lost.estimate for how in costs]
    assert lost == pytest.approx([4.3, 5.1, 8.7, 25.5], abs=0.3)
    wrong = [
        one(p_c=0.45, **sizes, look_from=k).at(2000).ever_wrongly_sure.estimate for k in (1, 20)
    ]
    assert wrong == pytest.approx([0.08, 0.04], abs=0.01)


def test_records_say_ranges_starts_and_what_is_known(tmp_path: Path) -> None:
    plan = grbp.plan(records=FIT, cases=50, replicas=100)
    assert (plan.goal, plan.past_cases) == (4, 150)
    assert plan.start == ((1, 1 / 3), (3, 2 / 3))
    for name, ends in (("p_c", wilson(120, 260)), ("p_f", wilson(11, 40))):
        points = sorted({getattr(truth, name) for truth in plan.truths})
        assert points == pytest.approx([ends.low, sum(ends) / 2, ends.high])
    assert plan.sentence.startswith("With 50 more cases, ")
    assert "after 150 past cases" in plan.summary()
    file = tmp_path / "fit.json"
    file.write_text(json.dumps(FIT), "utf-8")
    again = grbp.plan(records=str(file), cases=50, replicas=100)
    assert again.to_dict() == plan.to_dict()
    adaptive = read_past(FIT | {"adaptive": True})
    assert adaptive.p_c == anytime(120, 260)
    assert adaptive.before == (150, 40.0, 11.0, 260.0, 120.0, 0.0, 0.0, 0.0, 0.0)
    assert adaptive.seen.tolist() == [120, 140, 11, 29]


def test_the_learner_is_told_how_many_cases_will_come() -> None:
    """The most that are asked about, after those of the records; unless it was told already."""
    name = grbp.DEFAULT_LEARNER
    sizes: Any = {"cases": [20, 50], "replicas": 40}
    plan = grbp.plan(4, 0.45, 0.3, **sizes)
    assert plan == grbp.plan(4, 0.45, 0.3, learner=f"{name}:horizon=50", **sizes)
    assert (plan.learner, plan.told) == (f"{name}:horizon=50", 50)
    assert "told that 50 cases will come (as by grbp live init --cases 50)" in unfolded(plan)
    after = grbp.plan(records=FIT, **sizes)
    assert (after.learner, after.told) == (f"{name}:horizon=200", 50)
    assert "told that 50 more cases will come (as by grbp live init --cases 50)" in unfolded(after)
    for untold in ("getbe-sm", f"{name}:horizon=0"):
        plan = grbp.plan(4, 0.45, 0.3, learner=untold, **sizes)
        assert (plan.learner, plan.told) == (untold, 0)
        assert "told" not in plan.summary()


def unfolded(plan: grbp.Plan) -> str:
    return " ".join(plan.summary().split())


def test_after_the_last_case_nobody_begins_anew() -> None:
    """What is played at the end follows from what was seen: nothing is to be learned any more."""
    told, untold = (
        one(p_c=0.65, cases=n, learner=name).at(60).plays_right.estimate
        for n, name in ((60, None), ([60, 61], f"{grbp.DEFAULT_LEARNER}:horizon=61"))
    )
    assert told == pytest.approx(untold, abs=0.05)


def test_who_asks_how_many_cases_are_enough_does_not_know_it_yet() -> None:
    plan = grbp.plan(4, 0.65, 0.3, [20, 50], right=0.6, replicas=40)
    assert (plan.learner, plan.told) == (grbp.DEFAULT_LEARNER, 0)


def test_a_fit_is_what_records_are() -> None:
    fit = walked(120)
    assert fit.p_f is not None
    past = read_past(fit)
    assert past == read_past(json.loads(json.dumps(fit.to_dict())))
    assert past.p_c == pytest.approx(tuple(fit.p_c.wilson))
    assert past.p_f == pytest.approx(tuple(fit.p_f.wilson))
    assert past.before.rho == fit.cases == sum(fit.first_states)
    posterior = grbp.Posterior(4, *past.seen.tolist())
    assert posterior.probability == pytest.approx(fit.posterior.probability)
    plan = grbp.plan(records=fit, cases=30, replicas=50)
    assert len(plan.truths) == 9
    assert plan.past_cases == 120


def test_what_records_know_is_known_at_once_and_does_not_bias_new_estimates() -> None:
    much = FIT | {"p_c": FIT["p_c"] | {"ups": 4500, "tries": 10000}}
    much |= {"p_f": FIT["p_f"] | {"wins": 600, "tries": 2000}}
    truth = grbp.plan(4, 0.45, 0.3, 20, records=much, replicas=100).truths[0]
    assert truth.at(20).known.estimate == 1.0
    other = grbp.plan(4, 0.7, 0.3, 400, records=much, replicas=100).truths[0].at(400)
    assert other.bias_p_c.low < 0.01
    assert other.bias_p_c.high > -0.01


def test_records_without_finish_ask_for_p_f() -> None:
    never = FIT | {"p_f": None}
    with pytest.raises(InvalidInput, match=r"p_f, because it was never tried.*--p-f"):
        grbp.plan(records=never)
    plan = grbp.plan(records=never, p_f=0.2, cases=20, replicas=20)
    assert {t.p_f for t in plan.truths} == {0.2}


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"p_c": None}, "nothing is known about p_c, because it was not given"),
        ({"p_f": None}, "nothing is known about p_f, because it was not given"),
        ({"goal": None}, "goal = None was given"),
        ({"goal": 1}, "goal = 1 was given"),
        ({"p_c": 1.2}, "p_c = 1.2 was given"),
        ({"p_c": (0.5, 0.4)}, "the first end must be below the second"),
        ({"p_c": (0.4, 0.5, 1)}, "the points of p_c = 1 was given"),
        ({"p_c": (0.4,)}, "it must be a number, (low, high) or (low, high, points)"),
        ({"p_f": "much"}, "p_f = 'much' was given"),
        ({"cases": []}, "it must be one number of cases or more"),
        ({"cases": 0}, "cases = 0 was given"),
        ({"cases": "many"}, "cases = 'many' was given"),
        ({"overlap": 0}, "overlap = 0 was given"),
        ({"late_wins": -1}, "late_wins = -1 was given"),
        ({"overrule": 2.0}, "overrule = 2.0 was given"),
        ({"stop_at": 0.5}, "stop_at = 0.5 was given; it must be above 0.5"),
        ({"stop_at": 1.0}, "stop_at = 1.0 was given"),
        ({"look_from": 0}, "look_from = 0 was given"),
        ({"replicas": 0}, "replicas = 0 was given"),
        ({"seed": -1}, "seed = -1 was given"),
        ({"threads": 0}, "threads = 0 was given"),
        ({"learner": "nobody"}, "learner 'nobody' was asked for"),
        ({"learner": "ucb1-policies"}, "plays no thresholds, so nothing can be planned"),
        ({"learner": "psrl"}, "plays no thresholds, so nothing can be planned"),
        ({"learner": "getbe-ps:memory=50"}, "forgets, so nothing can be planned"),
        ({"start": 9}, "the start state = 9 was given"),
        ({"records": FIT, "goal": 5}, "the records have goal 4"),
        ({"records": {"goal": 4}}, "records = <dict> was given"),
        ({"records": 7}, "records = <int> was given"),
        ({"records": "no/such/file.json"}, "cannot be read"),
        ({"records": __file__}, "must be a result of grbp.fit"),
    ],
)
def test_a_mistake_is_refused_in_a_sentence(choices: dict[str, Any], sentence: str) -> None:
    given = {"goal": 4, "p_c": 0.5, "p_f": 0.3, "cases": 5, "replicas": 2} | choices
    with pytest.raises(InvalidInput) as refusal:
        grbp.plan(**given)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_sentence_and_the_screen() -> None:
    plan = grbp.plan(4, (0.4, 0.5), (0.2, 0.35), [50, 200], replicas=100)
    ends = [truth.at(200) for truth in plan.truths]
    low, high = (round(100 * f(e.plays_right.estimate for e in ends)) for f in (min, max))
    assert plan.sentence.startswith(
        f"With 200 cases, the learner plays the right policy in {low} to {high} of 100 studies,"
    )
    assert "is sure of the wrong policy at some time" in plan.sentence
    lines = plan.summary().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 33
    assert len(repr(plan)) < 450
    stopped = grbp.plan(4, 0.5, 0.2, 50, replicas=50, stop_at=0.9, overlap=2, look_from=5)
    assert "Stopping when 90 % sure settles on the wrong policy" in stopped.sentence
    assert "2 cases at once, stopped when 90 % sure, looking from case 5 on" in " ".join(
        stopped.summary().split()
    )


def test_one_study_is_a_study_and_has_no_interval() -> None:
    one = grbp.plan(4, 0.45, 0.3, 5, replicas=1)
    assert "1 study" in one.summary()
    assert "2 studies" in grbp.plan(4, 0.45, 0.3, 5, replicas=2).summary()
    goals = one.truths[0].at(5).goals
    assert math.isnan(goals.low)
    assert math.isnan(goals.high)


def test_many_truths_are_not_all_listed() -> None:
    plan = grbp.plan(4, (0.3, 0.6, 5), (0.2, 0.35, 4), [5, 10, 20, 40, 80], replicas=20)
    lines = plan.summary().splitlines()
    assert lines[-1] == "and 8 more truths, about which more is known"
    assert max(map(len, lines)) <= 80
    assert sum("cases" in line and "least to most" in line for line in lines) == 2


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0001, "0"), (0.5, ".500"), (-0.024, "-.024"), (0.9999, ">.999"),
        (0.9995, ">.999"), (-0.9995, "<-.999"), (0.9994, ".999"), (99.95, "100"), (99.94, "99.9"),
        (9.995, "10.0"), (1.0, "1.00"), (4.134, "4.13"), (10.12, "10.1"), (1508.6, "1,509"),
        (1e6, "1.0e+06"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_numbers_are_short(number: float, text: str) -> None:
    assert format_short(number) == text


def test_records_say_how_plausible_each_truth_is() -> None:
    planned = grbp.plan(records=FIT, cases=10, replicas=20)
    assert planned.weights is not None
    posterior = np.array(
        [
            stats.beta.pdf(truth.p_c, 120.5, 140.5) * stats.beta.pdf(truth.p_f, 11.5, 29.5)
            for truth in planned.truths
        ]
    )
    assert planned.weights == pytest.approx(posterior / posterior.sum())
    assert "how plausible the records make each truth" in planned.sentence
    assert planned.to_dict()["weights"] == list(planned.weights)
    assert grbp.plan(4, 0.5, (0.2, 0.3), cases=10, replicas=20).weights is None


def test_a_dictionary_has_none_where_there_is_no_number() -> None:
    told = grbp.plan(4, 0.01, 0.99, cases=3, replicas=3).to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_span_is_that_of_the_numbers_there_are() -> None:
    assert _format_span([math.nan, 0.25, 0.5]) == _format_span([0.5, 0.25])
    assert _format_span([math.nan]) == format_short(math.nan)


@pytest.mark.usefixtures("interpreted")
def test_progress_is_counted_in_studies() -> None:
    told: list[tuple[str, int, int]] = []
    grbp.plan(4, (0.4, 0.5), 0.3, cases=[5], replicas=20, progress=lambda *said: told.append(said))
    assert told
    for _, done, total in told:
        assert total % 20 == 0
        assert 0 <= done <= total
    assert any(done == total > 20 for _, done, total in told)
