"""The basis of advice: against closed forms and dynamic programming, and its laws."""

import json
import math
import re

import pytest
from bases import make_basis
from hypothesis import given, strategies as st

import grbp
from grbp import Action, Counters, Estimate, Posterior, Problem, dynprog
from grbp.errors import InvalidInput
from grbp.learners.getbe import SAMPLE_MEAN
from grbp.live.basis import Basis, value_of_continuing
from grbp.live.reasons import Ground, count_times, explain_advice
from grbp.worlds.labels import Labels

NOBODY = (0.0, 0.0, 0.0, 0.0)
WARD = Labels(
    ("dead", "severe", "moderate", "mild", "home", *"abcde"),
    ("medication", "surgery"),
    ("patient", "patients"),
)
ESTIMATES = ("p_c", "p_f", "value_continue", "boundary")


def advice(
    counts: tuple[float, float, float, float],
    goal: int = 4,
    state: int = 1,
    threshold: int = 1,
    *,
    start: tuple[float, float] | None = None,
    pending: int = 0,
    level: float = 0.95,
) -> Basis:
    """The basis of observed counts (f, f_goal, c, c_up), with first estimates (p_f, p_c) on top."""
    f, f_goal, c, c_up = counts
    seen, first = [*map(int, counts)], None
    if start is not None:
        first = Counters(1, 1.0, start[0], 1.0, start[1], *NOBODY)
        f, f_goal, c, c_up = f + 1.0, f_goal + start[0], c + 1.0, c_up + start[1]
    known = Counters(100, f, f_goal, c, c_up, *NOBODY)
    return make_basis(goal, state, threshold, known, seen, pending, drawn=first, level=level)


@st.composite
def counts(draw: st.DrawFn, least: int = 0) -> tuple[int, int, int, int]:
    f, c = draw(st.integers(least, 60)), draw(st.integers(least, 200))
    return f, draw(st.integers(0, f)), c, draw(st.integers(0, c))


@st.composite
def places(draw: st.DrawFn) -> tuple[int, int, int]:
    """A goal, a state and a threshold."""
    goal = draw(st.integers(2, 9))
    return goal, draw(st.integers(1, goal - 1)), draw(st.integers(0, goal - 1))


def optimal(goal: int, p_c: float, p_f: float) -> list[float]:
    """The optimal value of every state from 0 to the goal, by dynamic programming."""
    chain = dynprog.Chain.of(Problem(goal, p_c, p_f))
    return [0.0, *dynprog.solve(chain).value.tolist(), 1.0]


CHANCES = st.sampled_from([0.0, 0.01, 0.2, 0.45, 0.5, 0.65, 0.97, 1.0])


@given(place=places(), p_c=CHANCES, p_f=CHANCES)
def test_continue_is_worth_what_dynamic_programming_says(
    place: tuple[int, int, int], p_c: float, p_f: float
) -> None:
    goal, state, _ = place
    v = optimal(goal, p_c, p_f)
    assert value_of_continuing(goal, state, p_c, p_f) == pytest.approx(
        p_c * v[state + 1] + (1.0 - p_c) * v[state - 1], abs=1e-13
    )


def test_continue_is_worth_the_better_threshold_above_state_1() -> None:
    problem = Problem(6, 0.45, 0.3)
    for state in (2, 3, 4, 5):
        both = [grbp.value_at(problem, threshold)[state - 1] for threshold in (0, 1)]
        assert value_of_continuing(6, state, 0.45, 0.3) == pytest.approx(max(both), rel=1e-13)


@given(counts=counts(1), place=places())
def test_estimates_are_those_of_the_observed_shares(
    counts: tuple[int, int, int, int], place: tuple[int, int, int]
) -> None:
    f, f_goal, c, c_up = counts
    goal, state, _ = place
    basis = advice(counts, *place)
    assert (basis.p_f.estimate, basis.p_c.estimate) == (f_goal / f, c_up / c)
    assert basis.boundary.estimate == grbp.boundary(goal, c_up / c)
    assert basis.difference.estimate == basis.p_f.estimate - basis.boundary.estimate
    assert basis.value_continue.estimate == value_of_continuing(goal, state, c_up / c, f_goal / f)
    assert (basis.f, basis.f_goal, basis.c, basis.c_up) == counts


@given(counts=counts(), place=places(), level=st.sampled_from([0.5, 0.95, 0.999]))
def test_intervals_are_those_of_both_probabilities_at_half_the_error(
    counts: tuple[int, int, int, int], place: tuple[int, int, int], level: float
) -> None:
    f, f_goal, c, c_up = counts
    goal, state, _ = place
    basis = advice(counts, *place, level=level)
    each = 0.5 * (1.0 + level)
    low_c, high_c = basis.p_c[1:]
    low_f, high_f = basis.p_f[1:]
    assert (low_c, high_c) == grbp.anytime(c_up, c, each)
    assert (low_f, high_f) == grbp.anytime(f_goal, f, each)
    low_b, high_b = grbp.boundary(goal, [low_c, high_c])
    assert basis.boundary[1:] == (low_b, high_b)
    assert basis.difference[1:] == (low_f - high_b, high_f - low_b)
    ends = value_of_continuing(goal, state, [low_c, high_c], [low_f, high_f])
    assert basis.value_continue[1:] == tuple(ends.tolist())


@given(counts=counts(), place=places(), p_c=st.floats(0, 1), p_f=st.floats(0, 1))
def test_whenever_both_probabilities_are_held_everything_is(
    counts: tuple[int, int, int, int], place: tuple[int, int, int], p_c: float, p_f: float
) -> None:
    """The rectangle of the two: what follows from a point in it lies in the intervals."""
    goal, state, _ = place
    basis = advice(counts, *place)
    p_c = min(max(p_c, basis.p_c.low), basis.p_c.high)
    p_f = min(max(p_f, basis.p_f.low), basis.p_f.high)
    b, value = grbp.boundary(goal, p_c), float(value_of_continuing(goal, state, p_c, p_f))
    held = {"boundary": b, "difference": p_f - b, "value_continue": value}
    for name, truth in held.items():
        one = getattr(basis, name)
        assert one.low - 1e-14 <= truth <= one.high + 1e-14, name


@given(counts=counts(), place=places())
def test_estimates_lie_in_their_intervals_and_these_in_0_to_1(
    counts: tuple[int, int, int, int], place: tuple[int, int, int]
) -> None:
    basis = advice(counts, *place)
    for name in ESTIMATES:
        one = getattr(basis, name)
        assert 0.0 <= one.low <= one.high <= 1.0, name
        assert math.isnan(one.estimate) or one.low - 1e-14 <= one.estimate <= one.high + 1e-14
    assert -1.0 <= basis.difference.low <= basis.difference.high <= 1.0


@given(counts=counts(1), place=places(), one_more=st.sampled_from(["win", "up"]))
def test_a_win_or_a_step_up_makes_no_value_worse(
    counts: tuple[int, int, int, int], place: tuple[int, int, int], one_more: str
) -> None:
    f, f_goal, c, c_up = counts
    more = (f + 1, f_goal + 1, c, c_up) if one_more == "win" else (f, f_goal, c + 1, c_up + 1)
    before, after = advice(counts, *place), advice(more, *place)
    changed = before.p_f, after.p_f
    if one_more == "up":
        changed = before.boundary, after.boundary
        assert before.p_f == after.p_f
        assert after.difference.estimate <= before.difference.estimate
    assert changed[1].estimate >= changed[0].estimate
    assert after.value_continue.estimate >= before.value_continue.estimate - 1e-14


@given(counts=counts(1), goal=st.integers(2, 9))
def test_the_two_answers_in_state_1_are_complements(
    counts: tuple[int, int, int, int], goal: int
) -> None:
    f, f_goal, c, c_up = counts
    finish, carry_on = (advice(counts, goal, 1, threshold) for threshold in (1, 0))
    assert (finish.action, carry_on.action) == (Action.FINISH, Action.CONTINUE)
    assert carry_on.other_better == Posterior(goal, c_up, c - c_up, f_goal, f - f_goal).probability
    assert finish.other_better is not None
    assert finish.other_better + carry_on.other_better == pytest.approx(1.0, abs=1e-15)
    assert finish.forced != carry_on.forced


@given(counts=counts(), place=places())
def test_above_state_1_the_model_knows_what_is_better(
    counts: tuple[int, int, int, int], place: tuple[int, int, int]
) -> None:
    _, state, threshold = place
    basis = advice(counts, *place)
    assert (basis.action == Action.FINISH) == (state <= threshold)
    if state > 1:
        assert basis.other_better == float(state <= threshold) == float(basis.forced)


@given(
    counts=counts(),
    goal=st.integers(2, 9),
    threshold=st.integers(0, 1),
    start=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)),
    pending=st.integers(0, 20),
)
def test_forced_is_what_the_learners_own_means_do_not_call_right(
    counts: tuple[int, int, int, int],
    goal: int,
    threshold: int,
    start: tuple[float, float],
    pending: int,
) -> None:
    f, f_goal, c, c_up = counts
    basis = advice(counts, goal, 1, threshold, start=start, pending=pending)
    p_f, p_c = (f_goal + start[0]) / (f + 1.0), (c_up + start[1]) / (c + 1.0)
    excess = p_f - grbp.boundary(goal, p_c)
    if abs(excess) > 1e-9:
        assert basis.forced == ((threshold == 1) != (excess > 0.0))
    assert (basis.f, basis.f_goal, basis.c, basis.c_up) == counts
    assert basis.drawn == (start[1], start[0])


def test_forced_is_true_of_getbe_where_it_explores_and_nowhere_else() -> None:
    for f in range(1, 60):
        known = Counters(40, float(f), 0.0, 30.0, 20.0, *NOBODY)
        threshold = SAMPLE_MEAN.choose(4, known, 0)
        for state in (1, 2, 3):
            seen = [f, 0, 30, 20]
            basis = make_basis(4, state, threshold, known, seen)
            assert basis.forced == (threshold == 3) == (f < 15.0 * math.log(40))


@pytest.mark.parametrize("threshold", [0, 1])
def test_an_action_that_was_never_tried_is_taken_to_learn(threshold: int) -> None:
    assert advice((0, 0, 5, 2), threshold=threshold).forced == (threshold == 1)
    assert advice((5, 2, 0, 0), threshold=threshold).forced == (threshold == 0)
    assert advice((0, 0, 0, 0), threshold=threshold).forced


def test_what_nobody_observed_is_unknown_and_no_prior_speaks_for_it() -> None:
    basis = advice((0, 0, 100, 45), start=(0.9, 0.1))
    assert math.isnan(basis.p_f.estimate)
    assert basis.p_f[1:] == (0.0, 1.0)
    assert math.isnan(basis.value_continue.estimate)
    assert basis.boundary.estimate == grbp.boundary(4, 0.45)
    assert (basis.other_better, basis.side, basis.settled) == (None, None, False)
    kept = basis.to_dict()
    assert (kept["p_f"]["estimate"], kept["other_better"], kept["side"]) == (None, None, None)
    assert "So the two cannot be compared yet." in basis.sentences()
    assert "unknown" not in basis.summary
    assert advice((50, 15, 0, 0)).other_better is None
    assert advice((0, 0, 0, 0), state=2, threshold=0).other_better == 0.0


def test_the_side_of_the_boundary_and_whether_it_is_settled() -> None:
    finish, carry_on = advice((400, 200, 400, 160)), advice((400, 40, 400, 260))
    doubtful = advice((10, 3, 10, 5))
    assert (finish.side, finish.settled) == (Action.FINISH, True)
    assert (carry_on.side, carry_on.settled) == (Action.CONTINUE, True)
    assert (doubtful.side, doubtful.settled) == (Action.FINISH, False)
    said = [" ".join(one.sentences() + one.details()) for one in (carry_on, doubtful)]
    assert "continuing is better here, and the intervals leave no doubt." in said[0]
    assert "p_F is on the side of CONTINUE, also by the intervals." in said[0]
    assert "finishing is better here, but the intervals allow for either." in said[1]
    assert "p_F is on the side of FINISH; the intervals allow for either." in said[1]
    assert "continuing is better here is over 99.9 %." in said[0]


@given(counts=counts(), place=places(), drawn=st.booleans(), pending=st.integers(0, 3))
def test_it_is_plain_json_and_says_itself_in_80_columns(
    counts: tuple[int, int, int, int], place: tuple[int, int, int], drawn: bool, pending: int
) -> None:
    basis = advice(counts, *place, start=(0.25, 0.75) if drawn else None, pending=pending)
    kept = basis.to_dict()
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert kept["value_finish"] == kept["p_f"]
    assert kept["action"] == basis.action.name.lower()
    assert kept["drawn"] == ({"p_c": 0.75, "p_f": 0.25} if drawn else None)
    assert max(map(len, basis.summary.splitlines())) <= 80
    plain, details = (" ".join(part) for part in (basis.sentences(), basis.details()))
    assert " ".join(basis.summary.split()) == f"{plain} For statisticians: {details}"
    advised = "Finishing" if basis.action else "Continuing"
    assert plain.startswith(f"{advised} is advised in state {basis.state}.")
    unseen = not (basis.f if basis.action else basis.c)
    assert ("Nothing is known about" in plain) == unseen
    assert ("This is to learn" in plain) == (basis.forced and not unseen)
    assert ("cannot be compared" in plain) == (not basis.f or not basis.c)
    assert ("awaited" in plain) == (pending > 0 and bool(basis.f or (unseen and basis.action)))
    assert ("drawn" in details) == drawn
    assert "getbe-sm (grbp 1.2.3)" in details
    jargon = r"CONTINUE|FINISH|threshold|p_C|p_F|getbe|learner|pending"
    assert not re.search(jargon, plain)


@given(counts=counts(), place=places(), pending=st.integers(0, 3))
def test_no_reason_contradicts_what_was_seen(
    counts: tuple[int, int, int, int], place: tuple[int, int, int], pending: int
) -> None:
    """What was tried is never called unknown, and what was not is never estimated."""
    basis = advice(counts, *place, pending=pending)
    said = " ".join(basis.sentences(WARD))
    for action, tries in (("medication", basis.c), ("surgery", basis.f)):
        unknown = rf"nothing is known about {action}|no outcome of {action}|{action} was never"
        unknown += "|neither was tried"
        assert bool(re.search(unknown, said, re.IGNORECASE)) == (not tries)
        assert bool(re.search(rf"{action} was tried", said)) == bool(tries)
    assert ("is estimated to reach" in said) == bool(basis.f and basis.c)


def test_the_first_try_says_that_nothing_is_known_in_one_sentence() -> None:
    first = "Nothing is known about surgery yet: somebody has to be the first."
    assert explain_advice(advice((0, 0, 4, 1)), WARD) == first
    assert advice((0, 0, 4, 1)).sentences(WARD)[1] == first
    assert explain_advice(advice((0, 0, 4, 1), pending=1), WARD) == (
        "Nothing is known about surgery yet: its first outcome is still awaited."
    )
    unknown = {Ground.FIRST_TRY, Ground.AWAITED}
    assert advice((0, 0, 4, 1), threshold=0).ground not in unknown
    assert advice((1, 0, 0, 0)).ground not in unknown


def test_advice_in_plain_types_has_its_reasons_unless_they_are_left_out() -> None:
    said = grbp.Study.create("memory", "x", 4, "threshold-1").open_case(1)
    assert said.basis is not None
    assert said.to_dict()["basis"] == said.basis.to_dict()
    assert said.to_dict(basis=False) == said.to_dict() | {"basis": None}


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="level = 1"):
        advice((5, 2, 5, 2), level=1)


def test_a_large_goal_is_no_trouble() -> None:
    basis = advice((100, 30, 10**6, 450_000), goal=1000, state=500, threshold=0)
    assert isinstance(basis.value_continue, Estimate)
    assert basis.value_continue.estimate == pytest.approx(0.3, rel=1e-9)


def test_how_often_is_said_in_words_up_to_two() -> None:
    said = [count_times(number) for number in (0, 1, 2, 3, 1234)]
    assert said == ["never", "once", "twice", "3 times", "1,234 times"]
