"""Forced explorations of GETBE, however cases overlap: never more than D(T), rounded up."""

import json
import math
from typing import Any

import numpy as np
import pytest

from grbp import Action, Advice, Counters, Study

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them

GOAL = 4
FORCED = GOAL - 1
# FINISH looks bad and CONTINUE good, so that whoever takes FINISH at once does so to learn.
POOR = Counters(1, 1.0, 0.0, 10.0, 9.0, 0.0, 0.0, 0.0, 0.0)


class Ward:
    """A study in which things happen at random, and a count of what was forced."""

    def __init__(self, learner: str, seed: int, **settings: Any) -> None:
        self.study = Study.create("memory", "ward", GOAL, learner, **settings)
        self.draws = np.random.default_rng(seed)
        self.open: dict[int, Advice] = {}
        self.last: dict[int, Advice] = {}
        self.forced: set[int] = set()
        self.taken: set[int] = set()
        self.revived = 0

    @property
    def opened(self) -> int:
        return len(self.last)

    def new_case(self) -> None:
        advice = self.study.open_case(int(self.draws.integers(1, GOAL)))
        assert advice.event is not None
        if json.loads(self.study.log(advice.event - 1)[0].response)["threshold"] == FORCED:
            self.forced.add(advice.case)
        self.keep(advice)

    def keep(self, advice: Advice) -> None:
        self.last[advice.case] = advice
        self.open.pop(advice.case, None)
        if advice.action is not None:
            self.open[advice.case] = advice

    def some(self, cases: dict[int, Advice]) -> int:
        return int(self.draws.choice(sorted(cases)))

    def tell(self, *, as_advised: bool = True) -> None:
        case = self.some(self.open)
        advice = self.open[case]
        action = advice.action if as_advised else Action(1 - int(advice.action or 0))
        luck = self.draws.random()
        state = GOAL if luck < 0.1 else 0
        if action == Action.CONTINUE:
            state = advice.state + (1 if luck < 0.9 else -1)
        elif case in self.forced:
            self.taken.add(case)
        why = "" if as_advised else "so"
        self.keep(self.study.tell(case, state, took=action, why=why))

    def void(self) -> None:
        case = self.some(self.last)
        advice = self.last[case]
        if advice.step or advice.status == "closed":
            was_pending = advice.action == Action.FINISH or case in self.taken
            new = self.study.void(case, "so")
            if case in self.forced and not was_pending and new.action == Action.FINISH:
                self.revived += 1  # its FINISH was given up, perhaps for another case's
            if advice.status != "closed" and advice.action is None:
                self.taken.discard(case)
            self.keep(new)

    def act(self, in_flight: int) -> None:
        luck = self.draws.random()
        if len(self.open) < in_flight or not self.open:
            self.new_case()
        elif luck < 0.7:
            self.tell()
        elif luck < 0.85:
            self.tell(as_advised=False)
        elif luck < 0.92:
            case = self.some(self.open)
            self.keep(self.study.withdraw_case(case, "so"))
        else:
            self.void()


@pytest.mark.parametrize("in_flight", [1, 7, 60, 400])
@pytest.mark.parametrize("gamma", [2.0, 5.0, 15.0])
def test_never_more_than_the_control_function_allows(in_flight: int, gamma: float) -> None:
    start: Any = POOR if in_flight != 7 else "first"
    ward = Ward(f"getbe-sm:gamma={gamma}", in_flight, start=start)
    for _ in range(900):
        ward.act(in_flight)
        most = math.ceil(gamma * math.log(ward.opened))
        # Only a correction can bring back a FINISH that another case was given instead.
        assert len(ward.taken) <= most + ward.revived
        issued = len(ward.taken) + sum(ward.open[k].action == 1 for k in ward.forced & {*ward.open})
        assert issued <= most + ward.revived
    assert ward.study.replay().ok
    assert ward.forced


def test_without_corrections_never_more_and_nearly_as_many() -> None:
    for seed in range(8):
        ward = Ward("getbe-sm:gamma=6", seed, start=POOR)
        for _ in range(500):
            luck = ward.draws.random()
            if luck < 0.6 or not ward.open:
                ward.new_case()
            else:
                ward.tell(as_advised=luck < 0.95)
            assert len(ward.taken) <= math.ceil(6 * math.log(ward.opened))
        assert len(ward.taken) > 0.5 * 6 * math.log(ward.opened)


def test_a_withdrawal_that_was_a_mistake_is_not_made_undone_for_others() -> None:
    """What a mistaken withdrawal released stays released: that alone exceeds the bound."""
    ward = Ward("getbe-sm:gamma=3", 0, start=POOR)
    while ward.opened < 50:
        ward.new_case()
    mistaken = sorted(ward.forced)
    for case in mistaken:
        ward.study.withdraw_case(case, "moved")
    while ward.opened < 100:
        ward.new_case()
    most = math.ceil(3 * math.log(100))
    assert len(ward.forced - {*mistaken}) <= most < len(ward.forced)
    for case in mistaken:
        assert ward.study.void(case, "it was another").action == Action.FINISH
    for case in sorted(ward.forced):
        ward.study.tell(case, 0)
    assert ward.study.status().basis.f - POOR.f == len(ward.forced) <= most + len(mistaken)
    ward.forced.clear()
    for _ in range(300):
        ward.new_case()
    assert not ward.forced  # No other case explores until the round allows for all of them.


def forced_among(count: int) -> int:
    """Open so many cases without a word about any; return how many are forced."""
    ward = Ward("getbe-sm", 0, start=POOR)
    for _ in range(count):
        ward.new_case()
    return len(ward.forced)


def test_a_pending_finish_counts_as_taken() -> None:
    issued = int(POOR.f)
    for rho in range(1, 501):
        issued += issued < 15 * math.log(rho)
    assert forced_among(500) == issued - POOR.f == math.ceil(15 * math.log(500)) - POOR.f


def test_were_it_not_counted_the_bound_would_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(n: Counters, rho: int, _pending: float) -> Counters:
        return n._replace(rho=rho)

    monkeypatch.setattr("grbp.learners.base.with_pending", forgetful)
    assert forced_among(500) > 4 * math.ceil(15 * math.log(500))


def test_one_first_continue_and_one_first_finish_however_many_cases_there_are() -> None:
    ward = Ward("getbe-sm", 0, start="first")

    def thresholds(count: int) -> list[int]:
        first = ward.opened
        for _ in range(count):
            ward.new_case()
        return [
            FORCED if case in ward.forced else 0 for case in range(first + 1, first + count + 1)
        ]

    assert thresholds(5) == [0] * 5  # Nothing is known of CONTINUE yet.
    ward.study.tell(1, ward.open[1].state + 1)
    assert thresholds(5) == [FORCED, 0, 0, 0, 0]  # One FINISH is under way.
    ward.study.withdraw_case(6, "moved")
    assert thresholds(3) == [FORCED, 0, 0]
    assert ward.study.status().next_threshold == 0
    ward.study.tell(11, 0)
    assert thresholds(2) == [FORCED, FORCED]  # From now on the learner decides.
