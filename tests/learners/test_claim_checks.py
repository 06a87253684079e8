"""What learners claim about boxes of counters: the right is passed, too much is shown."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from runs import BUILT_IN, FIGURE_4

from grbp.experiments.simulation import simulate
from grbp.learners.base import Doubt, Learner, Thinning
from grbp.learners.baselines import EPSILON_GREEDY, EXPLORE_THEN_COMMIT
from grbp.learners.checks import check_learner
from grbp.learners.counters import Counters
from grbp.learners.getbe import (
    NO_EXPLORE,
    POSTERIOR_SAMPLING,
    SAMPLE_MEAN,
    UPPER_CONFIDENCE,
    getbe_with,
    no_explore_stable,
    ps_doubt,
    ps_resolve,
    ps_usual_threshold,
)
from grbp.learners.policy_bandits import PS_POLSELECTION, UCB_POLSELECTION
from grbp.learners.registry import find_learner
from grbp.numerics.rng import uniform

pytestmark = pytest.mark.slow

CLAIMING = [
    learner for learner in BUILT_IN if learner.stable is not None or learner.thinning is not None
]


def always(_goal: int, _: Any, _low: Counters, _high: Counters) -> bool:
    return True


def never(_goal: int, _: Any, _low: Counters, _high: Counters) -> bool:
    return False


def divides(_goal: int, _: Any, low: Counters, _high: Counters) -> bool:
    return low.wins_0 / low.plays_0 > 2.0


def at_the_corners(goal: int, _: Any, low: Counters, high: Counters) -> bool:
    """Asks about the two corners alone, as if all between were between."""
    answers = {NO_EXPLORE.decide(goal, NO_EXPLORE.constants, n, 0) for n in (low, high)}
    return len(answers) == 1


def test_all_who_can_be_skipped_claim_something() -> None:
    """The paper's six; those of the textbook are asked in every round."""
    names = {learner.name for learner in CLAIMING}
    assert {learner.name for learner in BUILT_IN[:6]} <= names
    draw = {learner.name for learner in CLAIMING if learner.thinning is not None}
    assert draw == {"getbe-ps", "ps-polselection"}
    assert all(learner.stable is None or learner.thinning is None for learner in BUILT_IN)


@pytest.mark.sample("doorstep-optimal", "getbe-sm", "getbe-ps")
@pytest.mark.slow
@pytest.mark.parametrize("learner", CLAIMING, ids=lambda learner: learner.name)
def test_the_claims_of_this_package_are_right(learner: Learner) -> None:
    assert check_learner(learner, seed=1) == []


@pytest.mark.parametrize(
    "known", ["horizon=500", "horizon=100000", "good=2,bad=6,up=5,down=5", "good=0.5,down=0.5"]
)
def test_the_claims_of_the_default_are_right_whatever_it_knows(known: str) -> None:
    learner = find_learner(f"doorstep-optimal:{known}", 4)
    assert check_learner(learner, seed=1) == []


def test_the_claim_of_an_own_control_function_is_right() -> None:
    assert check_learner(getbe_with(lambda rho: 3.0 * math.sqrt(rho))) == []
    assert check_learner(getbe_with(lambda rho: 40.0 if rho > 20 else 2.0)) == []


def test_to_claim_nothing_is_always_right() -> None:
    assert check_learner(replace(EXPLORE_THEN_COMMIT, stable=never)) == []


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "learner",
    [
        replace(SAMPLE_MEAN, name="without forced exploration", stable=no_explore_stable),
        replace(NO_EXPLORE, name="the corners alone", stable=at_the_corners),
        replace(UPPER_CONFIDENCE, name="of another", stable=no_explore_stable),
        *(
            replace(learner, name=f"always {learner.name}", stable=always, thinning=None)
            for learner in (
                SAMPLE_MEAN,
                NO_EXPLORE,
                UPPER_CONFIDENCE,
                UCB_POLSELECTION,
                EXPLORE_THEN_COMMIT,
                EPSILON_GREEDY,
                POSTERIOR_SAMPLING,
            )
        ),
    ],
    ids=lambda learner: learner.name,
)
def test_a_box_that_is_not_stable_is_shown(learner: Learner, seed: int) -> None:
    (said,) = check_learner(learner, seed=seed)
    words = r"it answers (\d+) at its lower corner and (\d+) at Counters\(.*; goal = .*from Count"
    found = re.search(words, said)
    assert found is not None, said
    assert found[1] != found[2]


def test_what_is_shown_is_a_counterexample() -> None:
    """The counters that are named lie in the box, and the decisions are those that are told."""
    learner = replace(SAMPLE_MEAN, stable=no_explore_stable)
    (said,) = check_learner(learner)
    other, low, high = (Counters(*numbers(part)) for part in re.findall(r"Counters\(.*?\)", said))
    goal = int(re.findall(r"goal = (\d+)", said)[0])
    told = [int(answer) for answer in re.findall(r"(?:answers|and) (\d+) at", said)]
    assert [learner.choose(goal, n, 0) for n in (low, other)] == told
    assert no_explore_stable(goal, learner.constants, low, high)
    for least, most, n in zip(low, high, other, strict=True):
        assert least <= n <= most


def numbers(text: str) -> list[Any]:
    rho, *rest = re.findall(r"=([^,)]+)", text)
    return [int(rho), *map(float, rest)]


# Learners that draw.


def thinned(factor: float) -> Any:
    """The doubt of getbe-ps, with another chance."""

    def doubt(goal: int, constants: Any, low: Counters, high: Counters) -> Doubt:
        true = ps_doubt(goal, constants, low, high)
        chance = 1.0 if true.chance >= 1.0 else factor * true.chance
        return Doubt(true.usual, chance, true.first, true.second)

    return doubt


def usual_alone(_goal: int, _: Any, _n: Counters, doubt: Doubt, _key: int) -> int:
    return doubt.usual


def the_other(_goal: int, _: Any, _n: Counters, doubt: Doubt, _key: int) -> int:
    return 1 - doubt.usual


def coin(_goal: int, _: Any, _n: Counters, _doubt: Doubt, key: int) -> int:
    return 1 if uniform(key, 7) < 0.5 else 0


def zero(_goal: int, _: Any, _n: Counters) -> int:
    return 0


def no_resolve(_goal: int, _: Any, n: Counters, _doubt: Doubt, _key: int) -> int:
    return int(1.0 / (n.wins_0 - n.wins_0))


@pytest.mark.sample("*-0")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("thinning", "words"),
    [
        (
            Thinning(ps_usual_threshold, thinned(0.0), ps_resolve),
            r"a chance of at most 0, but \d+ of",
        ),
        (
            Thinning(ps_usual_threshold, thinned(0.1), ps_resolve),
            r"a chance of at most 0\.\d+, but \d+ of",
        ),
        (Thinning(ps_usual_threshold, thinned(0.5), ps_resolve), "unusual answer|in doubt gave"),
        (
            Thinning(ps_usual_threshold, ps_doubt, usual_alone),
            "resolving those in doubt gave 0, at",
        ),
        (
            Thinning(ps_usual_threshold, ps_doubt, the_other),
            r"resolving those in doubt gave \d+, at",
        ),
        (Thinning(ps_usual_threshold, ps_doubt, coin), r"resolving those in doubt gave \d+, at"),
        (Thinning(zero, ps_doubt, ps_resolve), "doubt and usual name different thresholds"),
        (Thinning(ps_usual_threshold, ps_doubt, no_resolve), "raised ZeroDivisionError"),
    ],
    ids=[
        "chance 0",
        "chance too small",
        "half the chance",
        "resolved as usual",
        "resolved as the other",
        "resolved by a coin",
        "other usual",
        "resolve raises",
    ],
)
def test_doubt_that_is_too_small_or_wrongly_resolved_is_shown(
    thinning: Thinning, words: str, seed: int
) -> None:
    (said,) = check_learner(replace(POSTERIOR_SAMPLING, thinning=thinning), seed=seed)
    assert re.search(words, said), said


@pytest.mark.slow
def test_the_thinning_of_another_learner_is_shown() -> None:
    assert check_learner(replace(PS_POLSELECTION, thinning=POSTERIOR_SAMPLING.thinning))
    assert check_learner(replace(POSTERIOR_SAMPLING, thinning=PS_POLSELECTION.thinning))


def test_more_doubt_than_there_is_does_no_harm() -> None:
    """Only time: the law stays that of decide, whatever is played in doubt."""

    def all_in_doubt(goal: int, constants: Any, low: Counters, high: Counters) -> Doubt:
        return ps_doubt(goal, constants, low, high)._replace(chance=1.0)

    assert (
        check_learner(
            replace(
                POSTERIOR_SAMPLING, thinning=Thinning(ps_usual_threshold, all_in_doubt, ps_resolve)
            )
        )
        == []
    )


def test_one_or_the_other() -> None:
    both = replace(POSTERIOR_SAMPLING, stable=never)
    assert check_learner(both) == [
        "it has both stable and thinning; one that draws has thinning, any other stable"
    ]


def test_a_claim_that_raises_is_told() -> None:
    (said,) = check_learner(replace(NO_EXPLORE, stable=divides))
    assert re.match(r"stable raised ZeroDivisionError \(.*\) at goal = ", said)


@pytest.mark.slow
def test_a_claim_too_much_costs_the_law() -> None:
    """Why it is checked: who is skipped where exploration would have ended explores on."""
    wrong = replace(SAMPLE_MEAN, name="wrong", stable=no_explore_stable)
    curves = simulate(FIGURE_4, [SAMPLE_MEAN, wrong], 2000, 400, 1, engine="leap").curves
    honest, skipped = curves["getbe-sm"], curves["wrong"]
    assert skipped.mean[-1] - honest.mean[-1] > 5 * math.hypot(honest.se[-1], skipped.se[-1])
