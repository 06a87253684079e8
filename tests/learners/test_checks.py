"""Each way in which a learner can be wrong is told its author in words."""

import dataclasses
import functools
import itertools
import math
import random
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from runs import BUILT_IN

import grbp
from grbp.errors import InvalidInput
from grbp.learners.base import Learner
from grbp.learners.checks import check_learner
from grbp.learners.counters import Counters
from grbp.learners.getbe import Control, getbe_sm
from grbp.learners.registry import find_learner
from grbp.learners.state_learner import StateLearner
from grbp.numerics.rng import uniform


def good(_goal: int, _: Any, n: Counters, key: int) -> int:
    return 1 if n.f_goal + uniform(key, 0) > 0.5 * n.f else 0


def three(_goal: int, _: Any, _n: Any) -> int:
    return 0


def minus_one(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return -1 if n.rho > 100 else 0


def too_far(goal: int, _: Any, n: Counters, _key: int) -> int:
    return goal if n.f_goal == n.f else 0


def undeclared(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return 1 if n.c_up == 0.0 else 0


def truth(_goal: int, _: Any, n: Counters, _key: int) -> Any:
    return n.f_goal > 0.5 * n.f


def test_a_bool_is_a_threshold() -> None:
    assert check_learner(Learner("x", truth)) == []


def fraction(_goal: int, _: Any, n: Counters, _key: int) -> Any:
    return 0.0 if n.rho > 3 else 1


def nothing(_goal: int, _: Any, n: Counters, _key: int) -> Any:
    if n.rho < 1000:
        return 0
    return None


def divides(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return 1 if n.wins_0 / n.plays_0 > 0.5 else 0


def draws_python(_goal: int, _: Any, _n: Counters, _key: int) -> int:
    return 1 if random.random() < 0.5 else 0  # noqa: S311


def draws_numpy_once(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return 1 if n.rho == 7 and np.random.random() < 2.0 else 0  # noqa: NPY002


_ticks = itertools.count()


def remembers(_goal: int, _: Any, _n: Counters, _key: int) -> int:
    return next(_ticks) % 2


def untyped(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return int(n._asdict()["rho"] > 3)


def helper(n: Counters) -> int:
    return 1 if n.rho > 3 else 0


def unmarked(_goal: int, _: Any, n: Counters, _key: int) -> int:
    return helper(n)


def disagrees(_goal: int, _: Any, n: Counters, _key: int) -> int:
    # Whole numbers wrap around at 64 bits when compiled.
    return 1 if n.rho * n.rho > 1e20 else 0


class Named(NamedTuple):
    word: Any


@pytest.mark.sample("doorstep-optimal", "getbe-sm", "getbe-ps")
@pytest.mark.slow
@pytest.mark.parametrize("learner", BUILT_IN, ids=lambda learner: learner.name)
def test_nothing_is_wrong_with_a_learner_of_this_package(learner: Learner) -> None:
    assert check_learner(learner, goal=5, seed=3) == []


def test_nothing_is_wrong_with_a_good_one_and_the_seed_of_others_stays() -> None:
    before, before_numpy = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    assert check_learner(Learner("good", good, thresholds=(0, 1))) == []
    assert check_learner(Learner("draws", draws_python))
    assert (random.getstate(), repr(np.random.get_state())) == (before, before_numpy)  # noqa: NPY002


@pytest.mark.parametrize("make", [Learner, StateLearner])
@pytest.mark.parametrize("decide", [3, None, "psrl"])
def test_what_is_no_function_decides_for_no_learner(make: Any, decide: object) -> None:
    with pytest.raises(InvalidInput, match="for the learner x; it must be a function of the goal"):
        make("x", decide)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Learner("x", three), r"four arguments \(goal, constants, counters, key\)"),  # type: ignore[arg-type]
        (Learner(" ", good), "its name is ' '"),
        (Learner("x", good, {"gamma": 1.0}), "constants are a dict; they must be a named tuple"),
        (Learner("x", good, (1.0,)), "constants are a tuple; they must be a named tuple"),
        (Learner("x", good, Named("a")), "constant word is 'a'; it must be an int or a float"),
        (Learner("x", good, Named(math.nan)), "constant word is nan"),
        (Learner("x", good, Named(True)), "constant word is True"),
        (Learner("x", good, Named(np.zeros(2))), "constant word is array"),
        (Learner("x", good, thresholds=()), "thresholds are .*one or more"),
        (Learner("x", good, thresholds=[0, 1]), "must be a tuple"),  # type: ignore[arg-type]
        (Learner("x", good, thresholds=(0, 4)), "threshold 4, which a goal of 4 does not have"),
        (Learner("x", good, thresholds=(0, -2)), "threshold -2, which a goal of 4"),
        (Learner("x", good, thresholds=(0, 1.0)), r"thresholds are \(0, 1.0\)"),  # type: ignore[arg-type]
        (Learner("x", good, thresholds=([0],)), r"thresholds are \(\[0\],\)"),  # type: ignore[arg-type]
        (Learner("x", good, thresholds=(0, 1, 1)), "name one twice"),
        (Learner("x", minus_one), "answered -1, which is not from 0 to goal - 1 .goal - 1 must"),
        (Learner("x", too_far), "answered 2, which is not from 0 to goal - 1; at goal = 2"),
        (Learner("x", undeclared, thresholds=(0,)), "answered 1, which is not among the thresh"),
        (Learner("x", fraction), "answered 0.0; it must be a threshold, which is an int"),
        (Learner("x", nothing), "answered None; it must be a threshold, which is an int"),
        (Learner("x", divides), "decide raised ZeroDivisionError .* at goal = 2, Counters"),
        (Learner("x", draws_python), "draws from the module random; draw with grbp.uniform"),
        (Learner("x", draws_numpy_once), "draws from numpy.random; draw with grbp.uniform"),
        (Learner("x", remembers), "answered [01] and then [01] to the same arguments"),
        (Learner("x", untyped), "Numba cannot compile decide, .* slower .*: .*_asdict"),
        (Learner("x", unmarked), r"marked with @kernel\): .*helper"),
        (Learner("x", functools.partial(getbe_sm), Control()), "cannot compile .* not a function"),
        (Learner("x", disagrees), "compiled, decide answered 0; interpreted, 1; at goal"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_wrong_is_said(learner: Learner, words: str) -> None:
    with np.errstate(all="ignore"):
        said = check_learner(learner)
    assert len(said) <= 3
    assert any(re.search(words, line) for line in said), said


def test_nothing_is_wrong_with_the_learner_of_policies() -> None:
    assert check_learner("ucb1-policies", goal=5) == []
    learner = find_learner("ucb1-policies", 3)
    for wrong, words in ((lambda *_: 4, "answered 4; it must be a policy, an int from 0 to 2^2"),
                         (draws_python, "draws from the module random")):  # fmt: skip
        (fault,) = check_learner(dataclasses.replace(learner, decide=wrong))
        assert words in fault


def test_something_else_than_a_learner_and_a_wrong_goal_are_refused() -> None:
    with pytest.raises(InvalidInput, match="learner 3 was given; it must be a name or a"):
        check_learner(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="goal = 1 was given"):
        check_learner(BUILT_IN[0], goal=1)
    with pytest.raises(InvalidInput, match="seed = -1 was given"):
        check_learner(BUILT_IN[0], seed=-1)


def test_a_threshold_that_small_goals_lack_is_tried_where_it_exists() -> None:
    fixed = find_learner("threshold-7", 9)
    assert check_learner(fixed, goal=9) == []
    assert "threshold 7, which a goal of 4 does not have" in check_learner(fixed)[0]


def below_zero(_goal: int, _: Any, _n: Any, _key: int) -> int:
    return -1


def a_word(_goal: int, _: Any, _n: Any, _key: int) -> Any:
    return "finish"


COUNTED = [0]


def restless(goal: int, _: Any, _n: Any, _key: int) -> int:
    COUNTED[0] += 1
    return COUNTED[0] % (1 << (goal - 1))


@pytest.mark.sample("averaged-states")
@pytest.mark.slow
@pytest.mark.parametrize("learner", grbp.STATE_LEARNERS.values(), ids=grbp.STATE_LEARNERS)
def test_nothing_is_wrong_with_a_learner_by_state(learner: grbp.StateLearner) -> None:
    assert grbp.check_learner(learner) == []


@pytest.mark.parametrize(
    ("decide", "words"),
    [
        (below_zero, "answered -1; it must be a policy, an int from 0 to 2^1 - 1"),
        (a_word, "answered 'finish'; it must be a policy, an int"),
        (restless, "to the same arguments"),
    ],
)
def test_what_is_wrong_with_a_learner_by_state_is_said(decide: Any, words: str) -> None:
    (fault,) = grbp.check_learner(grbp.StateLearner("odd", decide))
    assert words in fault
