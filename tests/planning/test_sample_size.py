"""How many cases are enough: what the number promises, its interval, and the trial beside it."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from optional import optional

import grbp
from grbp.errors import InvalidInput
from grbp.planning import sample_size
from grbp.planning.sample_size import _begin_lasting, _checkpoints, size_trial
from grbp.planning.studies import play_studies


def needed_of(p_c: float, p_f: float, **choices: Any) -> grbp.Needed:
    """The only truth's need, of few studies."""
    sizes: dict[str, Any] = {"replicas": 100, "cases": 10} | choices
    (truth,) = grbp.plan(4, p_c, p_f, **sizes).truths
    assert truth.needed is not None
    return truth.needed


@pytest.mark.parametrize(("what", "share"), [("known", 0.8), ("right", 0.9)])
def test_the_number_is_the_least_from_which_on_enough_studies_are_right(
    what: str, share: float
) -> None:
    needed = needed_of(0.65, 0.3, **{what: share})
    looked = [n for n in _checkpoints(1000).tolist() if n >= 20]
    untold = f"{grbp.DEFAULT_LEARNER}:horizon=0"
    (truth,) = grbp.plan(4, 0.65, 0.3, looked, untold, replicas=100).truths
    name = "known" if what == "known" else "plays_right"
    shares = {n: getattr(truth.at(n), name) for n in looked}
    assert 20 < needed.cases.estimate <= 1000
    assert all(shares[n].estimate >= share for n in looked if n >= needed.cases.estimate)
    before = max(n for n in looked if n < needed.cases.estimate)
    assert shares[before].estimate < share
    # The ends belong to the ends of the share's interval.
    low, high = (int(end) for end in needed.cases[1:])
    assert low <= needed.cases.estimate <= high
    assert all(shares[n].high >= share for n in looked if n >= low)
    assert shares[max(n for n in looked if n < low)].high < share
    assert shares[max(n for n in looked if n < high)].low < share
    assert needed.goals_lost == truth.at(int(needed.cases.estimate)).goals_lost


@pytest.mark.slow
def test_the_interval_holds_the_number_of_many_studies() -> None:
    many = needed_of(0.65, 0.3, known=0.8, replicas=2000).cases.estimate
    found = [needed_of(0.65, 0.3, known=0.8, seed=seed).cases for seed in range(1, 21)]
    assert sum(one.low <= many <= one.high for one in found) >= 17
    assert len({one.estimate for one in found}) > 5


def test_the_right_policy_by_habit_is_not_enough() -> None:
    """This learner begins with FINISH; where that is right, it doubts that after 1,000 cases."""
    plan = grbp.plan(10, 0.5, 0.11, [10, 900], right=0.8, replicas=60)
    (truth,) = plan.truths
    assert truth.needed is not None
    assert min(truth.at(n).plays_right.estimate for n in plan.cases) >= 0.8
    assert truth.needed.cases.estimate > 2000


@pytest.mark.parametrize("replicas", [100, 300])
def test_few_studies_say_how_long_all_are_played(
    monkeypatch: pytest.MonkeyPatch, replicas: int
) -> None:
    played: list[tuple[int, int]] = []

    def play(study: Any, problem: Any, design: Any, checkpoints: Any) -> Any:
        played.append((study.replicas, int(checkpoints[-1])))
        return play_studies(study, problem, design, checkpoints)

    monkeypatch.setattr(sample_size, "play_studies", play)
    monkeypatch.setattr(sample_size, "_FIRST", 100)
    needed = needed_of(0.65, 0.3, known=0.8, replicas=replicas)
    few = played if replicas <= 200 else played[:-1]
    assert [studies for studies, _ in few] == [min(replicas, 200)] * len(few)
    assert played[0][1] == 100
    assert all(later == 2 * last for (_, last), (_, later) in pairwise(few))
    assert played[-1] >= (replicas, 2 * needed.cases.estimate)


def test_where_both_policies_are_equally_good_nothing_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample_size, "play_studies", lambda *_: pytest.fail("it was played"))
    plan = grbp.plan(4, 0.5, 0.25, known=0.8, replicas=5)
    (truth,) = plan.truths
    assert truth.needed is not None
    assert truth.needed.cases == (math.inf, math.inf, math.inf)
    assert plan.cases == (200, 500, 2000)
    assert plan.sentence.startswith("Where both policies are equally good, no number of cases")
    assert "never" in plan.summary()
    assert plan.to_dict()["truths"][0]["needed"]["cases"]["estimate"] is None


def test_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_NEEDED", 600)
    monkeypatch.setattr(sample_size, "_LAST", 1200)
    plan = grbp.plan(4, 0.5, (0.26, 0.6, 2), cases=20, known=0.8, replicas=250)
    close, apart = (truth.needed for truth in plan.truths)
    assert close is not None
    assert apart is not None
    assert close.cases == (math.inf, 600.0, math.inf)
    assert math.isnan(close.goals_lost.estimate)
    assert apart.cases.estimate < 100
    assert plan.sentence.startswith("More than 600 cases until 80 % of studies know the right")
    assert "> 600" in plan.summary()


def test_the_hardest_truth_says_how_many_cases_are_planned() -> None:
    plan = grbp.plan(4, (0.4, 0.65, 2), 0.4, known=0.7, replicas=60)
    hardest = max(plan.truths, key=lambda truth: truth.needed.cases.estimate if truth.needed else 0)
    assert hardest.needed is not None
    assert plan.cases == (int(hardest.needed.cases.estimate),)
    assert hardest.at(plan.cases[0]).known.estimate >= 0.7
    sentence, trial = plan.sentence.split(". ")[:2]
    assert sentence.startswith(f"About {plan.cases[0]:,} cases (")
    assert "70 % of studies know the right policy, if p_C = " in sentence
    assert sentence.endswith("the hardest of these truths")
    cases = float(f"{hardest.needed.trial_cases:.3g}")
    assert trial.startswith(f"A trial with two arms needs {cases:,.0f} and loses ")
    lines = plan.summary().splitlines()
    assert max(map(len, lines)) <= 80


def test_after_records_the_cases_are_further_ones() -> None:
    fit = {
        "goal": 4, "cases": 900, "p_c": {"ups": 900, "tries": 2000},
        "p_f": {"wins": 120, "tries": 400},
    }  # fmt: skip
    fresh = needed_of(0.45, 0.3, known=0.8)
    plan = grbp.plan(4, 0.45, 0.3, known=0.8, replicas=100, records=fit)
    (truth,) = plan.truths
    assert truth.needed is not None
    assert truth.needed.cases.estimate == 1.0 < fresh.cases.estimate
    assert plan.sentence.startswith("From the first case on, 80 % of studies know the right policy")


def test_many_truths_show_the_hardest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_size, "_FIRST", 20)
    monkeypatch.setattr(sample_size, "_LAST", 40)
    plan = grbp.plan(4, (0.3, 0.6, 5), (0.2, 0.9, 3), 10, right=0.6, replicas=10)
    lines = plan.summary().splitlines()
    assert "and 3 more truths, which need fewer" in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("value_0", "value_1", "level", "power"),
    [(0.38, 0.42, 0.95, 0.8), (0.5, 0.6, 0.9, 0.9), (0.02, 0.01, 0.99, 0.5), (0.7, 0.3, 0.5, 0.9)],
)
def test_a_trial_has_the_size_of_other_software(
    value_0: float, value_1: float, level: float, power: float
) -> None:
    proportion = optional("statsmodels.stats.proportion")
    low, high = sorted((value_0, value_1))
    arm = proportion.samplesize_proportions_2indep_onetail(
        high - low, low, power, alpha=1.0 - level, alternative="larger"
    )
    assert size_trial(value_0, value_1, level, power) == 2 * math.ceil(arm)


@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.5, 0.9)])
def test_a_trial_finds_the_better_policy_as_often_as_it_should(level: float, power: float) -> None:
    low, high = 0.417, 0.502
    arm = int(size_trial(low, high, level, power)) // 2
    random = np.random.default_rng(4)
    worse, better = (random.binomial(arm, p, 20_000) / arm for p in (low, high))
    spread = np.sqrt((worse * (1.0 - worse) + better * (1.0 - better)) / arm)
    z = (better - worse) / spread
    found = float((z > {0.95: 1.6449, 0.5: 0.0}[level]).mean())
    assert found == pytest.approx(power, abs=0.015)


def test_a_trial_loses_a_goal_where_half_of_its_cases_do() -> None:
    (truth,) = grbp.plan(4, 0.65, 0.3, 10, known=0.8, replicas=20).truths
    needed = truth.needed
    assert needed is not None
    assert needed.trial_goals_lost == pytest.approx(0.5 * needed.trial_cases * truth.loss)
    problem = grbp.Problem(4, 0.65, 0.3)
    values = grbp.value(problem, 0), grbp.value(problem, 1)
    assert needed.trial_cases == size_trial(*values, 0.95, 0.8)
    played = needed_of(0.65, 0.3, right=0.8, replicas=20)
    assert played.trial_cases == size_trial(*values, 0.5, 0.8) < needed.trial_cases


def test_a_trial_of_policies_alike_has_no_size() -> None:
    assert size_trial(0.4, 0.4, 0.95, 0.8) == math.inf
    assert size_trial(0.4, 0.4 + 1e-12, 0.95, 0.8) == math.inf
    assert size_trial(0.0, 1.0, 0.5, 0.4) == 2


def test_what_is_reached_and_lost_again_does_not_count() -> None:
    cases = np.array([1, 2, 4, 8])
    for reached, first in (([0, 1, 0, 1], 8), ([1, 1, 1, 1], 1), ([1, 1, 1, 0], math.inf)):
        assert _begin_lasting(cases, np.array(reached, dtype=bool)) == first


def test_looks_are_close_and_in_three_digits() -> None:
    looks = _checkpoints(20_000)
    assert looks[0] == 1
    assert looks[-1] == 20_000
    late = looks[looks > 100]
    assert (late[1:] / late[:-1] < 1.06).all()
    assert all(float(f"{n:.3g}") == n for n in looks[:-1].tolist())


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"known": 0.8, "right": 0.9}, "known = 0.8 and right = 0.9 were given; plan for one"),
        ({"known": 1.0}, "known = 1.0 was given; it must be above 0 and below 1"),
        ({"right": 0}, "right = 0 was given; it must be above 0 and below 1"),
        ({"known": "most"}, "known = 'most' was given"),
    ],
)
def test_a_mistake_is_refused_in_a_sentence(choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        grbp.plan(4, 0.5, 0.3, replicas=2, **choices)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
