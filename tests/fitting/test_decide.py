"""From estimates to a decision: when there is one, and what the sentence says."""

import re
from typing import Any

import numpy as np
import pytest

from grbp import Estimate, Posterior, Proportion, boundary
from grbp._format import percent
from grbp.fitting.assumptions import NO_DRIFT, SAME_BY_STATE, AssumptionTest
from grbp.fitting.decide import Evidence, are_apart, decide
from grbp.fitting.statewise import StatewiseChain

WAYS = ("boundary", "general", "direct")


def evidence(
    up: int = 450, down: int = 550, won: int = 60, lost: int = 140, **other: Any
) -> Evidence:
    """Return what the records say where all ways to value state 1 agree."""
    p_c, p_f = Proportion(up, up + down), Proportion(won, won + lost)
    even = None
    if p_c.estimate is not None:
        even = Estimate(*(boundary(4, p) for p in (p_c.estimate, *p_c.interval)))
    ways = dict.fromkeys(WAYS, even)
    seen = Evidence(4, 0.95, 100, p_c, p_f, ways, None, (), Posterior(4, up, down, won, lost))
    return seen._replace(**other)


def test_a_sure_decision_is_firm() -> None:
    one = decide(evidence())
    assert one.decision == "threshold-1"
    assert one.reason is None
    assert one.sentence.startswith("Finish in state 1, one step from the dead end")
    none = decide(evidence(won=20, lost=180))
    assert none.decision == "threshold-0"
    assert none.sentence.startswith("Never finish: the records are")
    for decision in (one, none):
        assert decision.probabilities is not None
        assert sum(decision.probabilities) == pytest.approx(1.0)
        assert max(decision.probabilities) > 0.95


def test_an_unsure_decision_says_what_would_settle_it() -> None:
    few = decide(evidence(45, 55, 6, 14))
    assert few.decision == "threshold-1"
    assert "but are only" in few.sentence
    assert "more tries of FINISH would settle it" in few.sentence
    close = decide(evidence(won=36, lost=164))
    assert "over 100 times as many records" in close.sentence


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"goals": 0}, "no case reached the goal"),
        ({"p_f": Proportion(0, 0)}, "FINISH was never tried"),
        ({"p_c": Proportion(0, 30)}, "CONTINUE never moved up"),
        ({"p_c": Proportion(30, 30)}, "CONTINUE never moved down"),
        ({"p_c": Proportion(0, 0), "ways": dict.fromkeys(WAYS)}, "never moved by one"),
    ],
)
def test_without_what_it_needs_there_is_no_decision(change: dict[str, Any], reason: str) -> None:
    answer = decide(evidence(**change))
    assert answer.decision == "none"
    assert answer.probabilities is None
    assert reason in str(answer.reason)
    assert reason in answer.sentence
    if "ways" not in change:
        assert "pays off if p_F is at least 0.18" in answer.sentence
        assert "interval" in answer.sentence


def test_ways_that_lead_to_other_decisions_leave_none() -> None:
    seen = evidence()
    direct = Estimate(0.5, 0.4, 0.6)
    answer = decide(seen._replace(ways={**seen.ways, "direct": direct}))
    assert answer.decision == "none"
    assert "disagree" in str(answer.reason)
    assert "pays off if" in answer.sentence


def test_ways_that_differ_on_one_side_of_p_f_or_by_chance_do_not_matter() -> None:
    seen = evidence()
    for direct in (Estimate(0.05, 0.01, 0.1), Estimate(0.4, 0.1, 0.7)):
        assert decide(seen._replace(ways={**seen.ways, "direct": direct})).decision == "threshold-1"


def test_intervals_that_just_meet_are_apart() -> None:
    assert are_apart(Estimate(0.2, 0.1, 0.3), Estimate(0.5, 0.4, 0.6))
    assert not are_apart(Estimate(0.2, 0.1, 0.3), Estimate(0.3, 0.2, 0.4))
    assert are_apart(Estimate(0.5, 0.4, 0.6), Estimate(0.2, 0.1, 0.3))


def test_only_the_sides_that_face_each_other_tell_whether_estimates_are_apart() -> None:
    assert are_apart(Estimate(0.5, 0.45, 0.95), Estimate(0.2, 0.0, 0.25))
    assert not are_apart(Estimate(0.5, 0.1, 0.55), Estimate(0.2, 0.15, 0.6))


def test_as_many_tries_as_it_says_settle_it() -> None:
    said = re.search(r"About (\d+) more tries", decide(evidence(won=12, lost=38)).sentence)
    assert said is not None
    more = int(said[1])
    won = round(0.24 * more)
    after = Posterior(4, 450, 550, 12 + won, 38 + more - won).probability
    assert after == pytest.approx(0.95, abs=0.01)


def test_a_broken_assumption_that_matters_takes_the_firmness() -> None:
    broken = AssumptionTest(NO_DRIFT, "", 5.0, 1e-6, 1e-5, changes_answer=True)
    answer = decide(evidence(tests=(broken,)))
    assert answer.decision == "threshold-1"
    assert f"against the assumption that {NO_DRIFT}" in answer.sentence
    assert not answer.firm
    harmless = AssumptionTest(NO_DRIFT, "", 5.0, 1e-6, 1e-5, changes_answer=False)
    assert decide(evidence(tests=(harmless,))).sentence == decide(evidence()).sentence


def chain(threshold: tuple[float, float]) -> StatewiseChain:
    share = np.array([0.9, 0.99, 0.02])
    return StatewiseChain(np.zeros((1, 3)), share, threshold, np.array([1, 1, 0]), share, share)


def test_states_that_differ_are_decided_one_by_one() -> None:
    failed = AssumptionTest(SAME_BY_STATE, "", 50.0, 1e-9, 1e-8, changes_answer=True)
    answer = decide(evidence(tests=(failed,), chain=chain((0.0, 0.01))))
    assert answer.decision == "by-state"
    assert "finish in 1, 2;" in answer.sentence
    certain = decide(evidence(tests=(failed,), chain=chain((0.0, 0.0))))
    assert "over 99.9 % sure that neither" in certain.sentence
    assert answer.probabilities == (0.0, 0.01)
    # Not where a threshold may be right, the test passes, or what was seen belies the chain.
    assert decide(evidence(chain=chain((0.0, 0.01)))).decision == "threshold-1"
    assert decide(evidence(tests=(failed,), chain=chain((0.0, 0.3)))).decision != "by-state"
    seen = evidence(tests=(failed,), chain=chain((0.0, 0.01)))
    belied = seen._replace(ways={**seen.ways, "direct": Estimate(0.5, 0.4, 0.6)})
    assert decide(belied).decision == "none"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0.0 %"), (1e-6, "under 0.1 %"), (0.951, "95.1 %"), (1 - 1e-9, "over 99.9 %"),
     (1.0, "100.0 %")],
)  # fmt: skip
def test_shares_next_to_none_or_all_do_not_read_so(share: float, words: str) -> None:
    assert percent(share) == words


def test_what_only_the_prior_says_is_not_firm() -> None:
    """FINISH never won and continuing wins even less: only the prior lets FINISH win at all."""
    seen = evidence(up=20, down=980, won=0, lost=40)
    answer = decide(seen)
    assert seen.posterior.probability > seen.level
    assert not answer.firm
    assert "it is the prior" in answer.sentence


def test_an_action_that_was_never_tried_in_state_1_takes_the_firmness() -> None:
    assert decide(evidence()).firm
    one = decide(evidence(untried=("FINISH",)))
    assert one.decision == "threshold-1"
    assert not one.firm
    assert "But FINISH was never tried in state 1" in one.sentence
    both = decide(evidence(untried=("CONTINUE", "FINISH")))
    assert "But CONTINUE and FINISH were never tried in state 1" in both.sentence


def test_a_single_try_is_no_tries() -> None:
    assert "of 1 try," in decide(evidence(won=1, lost=0)).sentence
