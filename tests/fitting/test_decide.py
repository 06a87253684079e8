"""From estimates to a decision: when there is one, and what the sentence says."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from grbp import Estimate, Posterior, Proportion, boundary
from grbp._format import percent
from grbp.fitting import decide as deciding
from grbp.fitting.estimates import are_apart, average
from grbp.fitting.evidence import Decision, Evidence
from grbp.fitting.model_tests import AssumptionTest
from grbp.fitting.sentences import write_decision
from grbp.fitting.statewise import MeanChain, StatewiseChain

WAYS = ("boundary", "general", "direct")


def evidence(
    up: int = 450, down: int = 550, won: int = 60, lost: int = 140, **other: Any
) -> Evidence:
    """Return what the records say where all ways to value state 1 agree."""
    p_c, p_f = Proportion(up, up + down), Proportion(won, won + lost)
    even = None
    if p_c.estimate is not None:
        even = Estimate(*(boundary(4, p) for p in (p_c.estimate, *p_c.interval)))
    numbers: dict[str, Any] = {
        "goal": 4, "level": 0.95, "goals": 100, "p_c": p_c, "p_f": p_f, "chain": None, "tests": (),
        "ways": dict.fromkeys(WAYS, even), "posterior": Posterior(4, up, down, won, lost),
    }  # fmt: skip
    return Evidence(**numbers | other)


def decide(seen: Evidence) -> Decision:
    """Decide, and say so."""
    return write_decision(seen, deciding.decide(seen))


def with_ways(seen: Evidence, **ways: Estimate | None) -> Evidence:
    """Return the evidence with other ways to value state 1."""
    return replace(seen, ways={**seen.ways, **ways})


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
    close = decide(evidence(won=37, lost=163))
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


def test_ways_between_which_p_f_lies_leave_no_decision() -> None:
    """FINISH wins in 30 %; continuing reaches the goal in 20 % as observed, 40 % state by state."""
    ways = {"direct": Estimate(0.22, 0.1, 0.38), "general": Estimate(0.37, 0.2, 0.5)}
    answer = decide(with_ways(evidence(900, 1100), boundary=Estimate(0.8, 0.75, 0.85), **ways))
    assert answer.decision == "none"
    assert answer.probabilities is None
    assert str(answer.reason).endswith("and p_F lies between")
    assert (
        "pays off from a p_F between 22.0 % (10.0 to 38.0 %) as observed and 37.0 % (20.0 to 50.0"
        " %) state by state on" in answer.sentence
    )
    assert "in all states says 80.0 %, and these records speak against it." in answer.sentence


REJECTED = Estimate(0.704, 0.681, 0.726)
"""A break-even by one p_C for all states that other ways speak against."""


def test_a_treatment_that_works_is_not_turned_down_by_a_model_that_is_rejected() -> None:
    """FINISH wins in 60 of 100, more than the 50 % that continuing does, and less than B."""
    ways = {"direct": Estimate(0.43, 0.4, 0.46), "general": Estimate(0.44, 0.41, 0.47)}
    seen = with_ways(evidence(won=60, lost=40), boundary=REJECTED, **ways)
    assert seen.trusted == ("direct", "general")
    answer = decide(seen)
    assert (answer.decision, answer.firm, answer.way) == ("threshold-1", True, "direct")
    assert answer.sentence.startswith("Finish in state 1")
    told = answer.sentence
    assert told.index("as observed") < told.index("state by state") < told.index("says 70.4 %")
    assert answer.doubts
    assert "43.0 % (40.0 to 46.0 %) of cases as observed" in answer.doubts[0]


def test_the_least_sure_way_says_how_sure_it_is() -> None:
    far, near = Estimate(0.3, 0.28, 0.32), Estimate(0.52, 0.45, 0.59)
    both = with_ways(evidence(won=60, lost=40), boundary=REJECTED, direct=far, general=near)
    assert both.trusted == ("direct",)  # what was seen judges the chain
    alone = [
        decide(with_ways(evidence(won=60, lost=40), boundary=REJECTED, direct=way, general=None))
        for way in (far, near)
    ]
    first = Estimate(0.46, 0.42, 0.5)
    together = decide(
        with_ways(evidence(won=60, lost=40), boundary=REJECTED, direct=first, general=near)
    )
    assert together.way == "direct"
    sure = [one.probabilities[1] for one in (*alone, together) if one.probabilities]
    assert sure[0] > 0.999
    assert sure[1] == pytest.approx(0.91, abs=0.02)
    assert sure[2] == sure[1]


def test_where_the_model_is_rejected_the_probability_is_that_of_two_normal_laws() -> None:
    way = Estimate(0.5, 0.4, 0.6)
    seen = with_ways(evidence(won=550, lost=450), boundary=REJECTED, direct=way, general=None)
    answer = decide(seen)
    assert answer.probabilities is not None
    deviation = np.hypot(0.1 / 1.95996, np.sqrt(0.55 * 0.45 / 1000))
    assert answer.probabilities[1] == pytest.approx(stats.norm.cdf(0.05 / deviation), abs=0.01)


def test_a_way_that_was_seen_clears_the_model_of_what_the_chain_says() -> None:
    """Momentum misleads the chain state by state; B(p_C) and what was seen agree."""
    seen = with_ways(evidence(), general=Estimate(0.05, 0.03, 0.07))
    assert seen.trusted == ("boundary",)
    assert decide(seen).sentence == decide(evidence()).sentence


def test_ways_that_differ_by_chance_do_not_matter() -> None:
    seen = with_ways(evidence(), direct=Estimate(0.4, 0.1, 0.7))
    assert decide(seen).sentence == decide(evidence()).sentence


def test_without_finish_the_break_even_is_by_the_ways_that_stand() -> None:
    ways = {"direct": Estimate(0.53, 0.5, 0.56), "general": Estimate(0.54, 0.51, 0.57)}
    answer = decide(with_ways(evidence(won=0, lost=0), boundary=REJECTED, **ways))
    assert answer.reason == "FINISH was never tried"
    assert answer.way == "direct"
    assert "between 53.0 % (50.0 to 56.0 %) as observed and 54.0 %" in answer.sentence
    assert "70.4 %, and these records speak against it" in answer.sentence


@pytest.mark.parametrize(("won", "lost", "up", "down"), [(50, 150, 500, 500), (1, 3, 30, 30)])
def test_a_tie_does_not_lean(won: int, lost: int, up: int, down: int) -> None:
    """With p_C = 1/2 and the goal 4, the break-even is 1/4; the prior alone would lean."""
    answer = decide(evidence(up, down, won, lost))
    assert answer.decision == "none"
    assert not answer.firm
    assert "equally good" in str(answer.reason)
    assert "equally good" in answer.sentence
    assert "lean" not in answer.sentence
    assert "25.0 %" in answer.sentence


def test_a_probability_that_reads_one_half_is_a_tie() -> None:
    close = evidence(up=500_000, down=500_000, won=250_010, lost=749_990)
    assert 0.5 < close.posterior.probability < 0.65
    assert decide(close).decision == "threshold-1"
    closer = evidence(up=5_000_000, down=5_000_000, won=500_001, lost=1_500_002)
    assert percent(closer.posterior.probability) == "50.0 %"
    assert decide(closer).decision == "none"


def test_intervals_that_just_meet_are_apart() -> None:
    assert are_apart(Estimate(0.2, 0.1, 0.3), Estimate(0.5, 0.4, 0.6))
    assert not are_apart(Estimate(0.2, 0.1, 0.3), Estimate(0.3, 0.2, 0.4))
    assert are_apart(Estimate(0.5, 0.4, 0.6), Estimate(0.2, 0.1, 0.3))


def test_the_sides_of_an_average_add_up_as_those_of_independent_estimates_do() -> None:
    parts = [Estimate(0.5, 0.2, 0.6), Estimate(0.7, 0.3, 0.9)]
    mean = average(parts, [0.25, 0.75])
    below, above = np.hypot(0.25 * 0.3, 0.75 * 0.4), np.hypot(0.25 * 0.1, 0.75 * 0.2)
    assert mean == pytest.approx((0.65, 0.65 - below, 0.65 + above))
    assert average(parts[:1], [1.0]) == pytest.approx(parts[0])
    assert average([parts[0], None], [0.5, 0.5]) is None


def test_only_the_sides_that_face_each_other_tell_whether_estimates_are_apart() -> None:
    assert are_apart(Estimate(0.5, 0.45, 0.95), Estimate(0.2, 0.0, 0.25))
    assert not are_apart(Estimate(0.5, 0.1, 0.55), Estimate(0.2, 0.15, 0.6))


def test_a_broken_assumption_that_matters_takes_the_firmness() -> None:
    broken = AssumptionTest(name="p_c drift", p_holm=1e-5, changes_answer=True)
    answer = decide(evidence(tests=(broken,)))
    assert answer.decision == "threshold-1"
    assert "But p_C drifts from case to case, which the model rules out" in answer.sentence
    assert answer.doubts == (answer.doubts[0],)
    assert answer.doubts[0].startswith("p_C drifts from case to case")
    assert not answer.firm
    harmless = AssumptionTest(name="p_c drift", p_holm=1e-5, changes_answer=False)
    assert decide(evidence(tests=(harmless,))).sentence == decide(evidence()).sentence


def chain(threshold: tuple[float, float], finish: Sequence[float]) -> StatewiseChain:
    share = np.array(finish)
    law = np.zeros((1, 3, 5))
    return StatewiseChain(
        np.zeros((1, 3)), share, threshold, (share > 0.5).astype(int), share, share, law, share,
        MeanChain((), ()),
    )  # fmt: skip


FAILED = AssumptionTest(name="p_c by state", p_holm=1e-8, changes_answer=True)


def test_states_that_differ_are_decided_one_by_one() -> None:
    own = chain((0.0, 0.01), (0.9, 0.99, 0.02))
    answer = decide(evidence(tests=(FAILED,), chain=own))
    assert answer.decision == "by-state"
    assert answer.firm
    assert "finish in 2, continue in 3; undecided in 1" in answer.sentence
    assert answer.probabilities == (0.0, 0.01)
    certain = decide(evidence(tests=(FAILED,), chain=chain((0.0, 0.0), (0.9, 0.99, 0.02))))
    assert "over 99.9 % sure that neither" in certain.sentence
    # Not where the test passes and a threshold may be right.
    unsure = chain((0.0, 0.3), (0.9, 0.7, 0.02))
    assert decide(evidence(tests=(FAILED,), chain=unsure)).decision != "by-state"


def test_what_was_seen_takes_the_firmness_from_a_decision_by_state_that_it_belies() -> None:
    seen = evidence(tests=(FAILED,), chain=chain((0.0, 0.01), (0.9, 0.99, 0.02)))
    belied = decide(with_ways(seen, direct=Estimate(0.05, 0.04, 0.06)))
    assert belied.decision == "by-state"
    assert not belied.firm
    assert "is not what follows from the chances of the states" in belied.sentence


def test_states_that_disagree_take_the_firmness_of_never() -> None:
    """No test of the states rejects, but in state 3 the records are sure of FINISH."""
    never = evidence(won=20, lost=180)
    assert decide(never).firm
    answer = decide(replace(never, chain=chain((0.01, 0.0), (0.02, np.nan, 0.99))))
    assert answer.decision == "threshold-0"
    assert not answer.firm
    said = "support: finish in 3, continue in 1; in 2 one of the two was never tried."
    assert said in answer.sentence
    assert said in answer.doubts[0]
    agrees = decide(replace(never, chain=chain((0.99, 0.0), (0.02, 0.5, 0.01))))
    assert agrees.firm
    assert agrees.doubts == ()


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
