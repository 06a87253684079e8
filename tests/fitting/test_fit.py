"""The fit as a whole: what it returns, what it refuses, and when the answer changes."""

import dataclasses
import json
import math
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from fits import counted
from optional import optional
from paths import columns_of, records_of
from scipy import stats

import grbp
from grbp.fitting.statewise import draw_shares, solve_statewise
from grbp.fitting.transitions import Transitions

KEYS = {
    "rows", "cases", "open", "dropped", "stays", "jumps", "p_c", "p_f", "boundary",
    "probability_threshold_1", "decision", "reason", "ways", "tests", "by_state", "by_group",
}  # fmt: skip


def fitted(kind: Any = "model", *, group: str = "", **drawn: Any) -> grbp.Fit:
    goal = drawn.get("goal", 4)
    return grbp.fit(grbp.example_records(kind, **drawn), goal, group=[group] if group else [])


@pytest.fixture(scope="module")
def fit() -> grbp.Fit:
    return fitted(cases=300, seed=1)


def test_its_dictionary_is_json_with_every_key(fit: grbp.Fit) -> None:
    told = fit.to_dict()
    assert told.keys() >= KEYS
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["open"].keys() == {"empty_next", "no_row"}
    assert told["p_c"].keys() == {
        "ups", "tries", "estimate", "wilson", "jeffreys", "clopper_pearson", "anytime",
        "effective", "by_case",
    }  # fmt: skip
    assert told["ways"].keys() == {"boundary", "general", "direct"}
    assert all(way.keys() == {"estimate", "low", "high"} for way in told["ways"].values())
    assert all(
        test.keys() >= {"assumption", "test", "statistic", "p", "p_holm", "effect",
                        "changes_answer", "possible"}
        for test in told["tests"]
    )  # fmt: skip
    assert [row["state"] for row in told["by_state"]] == [1, 2, 3]


def test_it_cannot_be_changed_and_does_not_hold_the_table() -> None:
    table = pd.DataFrame(grbp.example_records(cases=50))
    fit = grbp.fit(table, goal=4)
    before = fit.to_dict()
    table["next_state"] = 0
    assert fit.to_dict() == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.goal = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        fit.ways["x"] = None  # type: ignore[index]
    assert pickle.loads(pickle.dumps(fit)).to_dict() == before  # noqa: S301 (our own)


@pytest.mark.slow
def test_files_frames_and_mappings_say_the_same(tmp_path: Any) -> None:
    table = grbp.example_records("groups", cases=80)
    file = tmp_path / "cases.csv"
    pd.DataFrame(table).to_csv(file, index=False)
    answers = [
        grbp.fit(source, goal=4, group="site").to_dict()
        for source in (table, pd.DataFrame(table), file, str(file))
    ]
    assert all(answer == answers[0] for answer in answers)
    assert list(answers[0]["by_group"]) == ["north", "south"]


@pytest.mark.soak
def test_a_frame_of_polars_says_the_same() -> None:
    table = grbp.example_records("groups", cases=80)
    frame = optional("polars").DataFrame(table)
    answers = [grbp.fit(source, goal=4, group="site").to_dict() for source in (table, frame)]
    assert answers[0] == answers[1]


def test_intervals_are_those_of_scipy(fit: grbp.Fit) -> None:
    assert fit.p_f is not None
    for share in (fit.p_c, fit.p_f):
        won, tried = share.successes, share.tries
        exact = stats.binomtest(won, tried)
        near = pytest.approx
        assert share.wilson == near(exact.proportion_ci(method="wilson")[:2], abs=1e-9)
        assert share.clopper_pearson == near(exact.proportion_ci(method="exact")[:2], abs=1e-9)
        jeffreys = stats.beta(won + 0.5, tried - won + 0.5).interval(0.95)
        assert share.jeffreys == near(jeffreys, abs=1e-9)
        assert share.anytime.low < share.wilson.low < share.wilson.high < share.anytime.high


def test_the_probability_is_that_of_quadrature_in_higher_precision() -> None:
    fit = fitted(cases=60, seed=4)
    assert fit.p_f is not None
    a, b = fit.p_c.successes + 0.5, fit.p_c.tries - fit.p_c.successes + 0.5
    c, d = fit.p_f.successes + 0.5, fit.p_f.tries - fit.p_f.successes + 0.5
    with mpmath.workdps(30):

        def weight(p: mpmath.mpf) -> mpmath.mpf:
            r = (1 - p) / p
            even = 1 / (1 + r + r**2 + r**3)
            density = p ** (a - 1) * (1 - p) ** (b - 1) / mpmath.beta(a, b)
            return density * mpmath.betainc(c, d, even, 1, regularized=True)

        exact = mpmath.quad(weight, [0, 0.3, 0.4, 0.5, 0.6, 1])
    assert fit.probability(1) == pytest.approx(float(exact), abs=1e-6)
    assert fit.probability(0) == pytest.approx(1.0 - float(exact), abs=1e-6)


def test_estimates_are_counts_of_the_table(fit: grbp.Fit) -> None:
    table = pd.DataFrame(grbp.example_records(cases=300, seed=1))
    on = table[table.action == 0]
    off = table[table.action == 1]
    assert fit.p_f is not None
    assert (fit.p_c.successes, fit.p_c.tries) == ((on.next_state > on.state).sum(), len(on))
    assert (fit.p_f.successes, fit.p_f.tries) == ((off.next_state == 4).sum(), len(off))
    assert fit.cases == table.case.nunique()
    assert fit.rows == len(table)
    ends = table.groupby("case").next_state.last()
    assert fit.practice is not None
    assert fit.practice.estimate == pytest.approx((ends == 4).mean())
    assert fit.counters == (301, len(off), (off.next_state == 4).sum(), len(on),
                            (on.next_state > on.state).sum(), 0, 0, 0, 0)  # fmt: skip


def test_values_are_those_of_the_theory_at_the_estimates(fit: grbp.Fit) -> None:
    assert fit.p_f is not None
    assert fit.value_0 is not None
    assert fit.value_1 is not None
    start = {k + 1: count / fit.cases for k, count in enumerate(fit.first_states)}
    problem = grbp.Problem(4, fit.p_c.estimate or 0.0, fit.p_f.estimate or 0.0, start)
    assert fit.value_0.estimate == pytest.approx(grbp.value(problem, 0))
    assert fit.value_1.estimate == pytest.approx(grbp.value(problem, 1))
    gain = fit.gain()
    assert gain is not None
    assert gain.estimate == pytest.approx(grbp.value(problem, 1) - grbp.value(problem, 0))
    assert gain.low < gain.estimate < gain.high


def test_the_sentence_stands_on_top_and_80_columns_are_enough(fit: grbp.Fit) -> None:
    text = fit.summary()
    assert " ".join(text.split()).startswith(" ".join(fit.sentence.split()))
    assert max(map(len, text.splitlines())) <= 80
    assert fit.sentence in repr(fit)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["2c3c4", "2c1c0"], "FINISH was never tried"),
        (["2c1f0", "2c1c0", "2c3c2c1c0"], "no case reached the goal"),
        (["2c3c4", "1f0", "1f4"], "CONTINUE never moved down"),
        (["2c1f4", "1c0"], "CONTINUE never moved up"),
        (["1f4", "2f0"], "CONTINUE never moved by one state"),
    ],
)
def test_without_what_it_needs_there_is_no_decision(paths: list[str], reason: str) -> None:
    fit = grbp.fit(columns_of(paths), goal=4)
    assert fit.decision == "none"
    assert fit.reason == reason
    assert fit.probability_threshold_1 is None
    assert fit.gain() is None
    assert not fit.firm
    assert reason in fit.sentence
    if fit.p_c.tries:
        assert "pays off if p_F" in fit.sentence


def test_finish_that_was_never_tried_has_no_estimate() -> None:
    fit = fitted(cases=100, finish=0.0)
    assert fit.p_f is None
    assert fit.to_dict()["p_f"] is None
    assert fit.counters is None
    assert {row.action for row in fit.by_state} == {"unknown"}
    assert all(row.probability is None for row in fit.by_state)
    assert all(test.changes_answer is None for test in fit.tests)


def test_an_action_that_was_never_tried_in_a_state_is_unknown_there(fit: grbp.Fit) -> None:
    first, *others = fit.by_state
    assert first.action == "finish"
    assert first.probability == pytest.approx(fit.probability(1), abs=0.05)
    assert [row.action for row in others] == ["unknown", "unknown"]


def test_jumps_are_in_the_general_chain_alone() -> None:
    """Every other case that stood in state 1 jumped to the goal: no step tells of that."""
    paths = ["1c4", "1c0", "1c2c3c4", "1c2c1c0", "1f0", "1f4", "2c1c0"] * 60
    fit = grbp.fit(columns_of(paths), goal=4)
    assert fit.jumps == 60
    assert fit.p_c.tries == 60 * 9
    plain = grbp.fit(columns_of([path for path in paths if path != "1c4"]), goal=4)
    assert plain.p_c == fit.p_c
    chain, direct = fit.ways["general"], fit.ways["direct"]
    assert chain is not None
    assert direct is not None
    assert plain.ways["general"].estimate < chain.estimate - 0.1  # type: ignore[union-attr]
    assert chain.low < direct.estimate < chain.high


def test_staying_changes_nothing() -> None:
    paths = ["1c2c3c4", "1c2c1c0", "1f4", "1f0", "2c1c0"] * 20
    moved = grbp.fit(columns_of(paths), goal=4)
    stayed = grbp.fit(columns_of([path.replace("2c", "2c2c2c") for path in paths]), goal=4)
    assert stayed.stays == 120
    assert stayed.p_c == moved.p_c
    assert stayed.ways == moved.ways
    assert stayed.probability(1) == moved.probability(1)


def test_open_cases_are_used_as_far_as_they_go_and_bounded() -> None:
    fit = fitted("open", cases=200, seed=2, size=0.5)
    assert sum(fit.open) > 20
    assert fit.pending is not None
    lost, won = fit.pending
    assert won - lost == pytest.approx(sum(fit.open) / fit.cases)
    at_random = next(test for test in fit.tests if test.name == "open cases")
    assert not at_random.possible
    assert at_random.changes_answer is not None


def test_what_is_pending_can_turn_the_answer_round() -> None:
    paths = ["2c3c4", "2c1c0", "3c4", "1c2c1c0", "1f4", "1f4", "1f0"] * 4 + ["1f"] * 40
    fit = grbp.fit(columns_of(paths), goal=4)
    assert fit.open.empty_next == 40
    at_random = next(test for test in fit.tests if test.name == "open cases")
    assert at_random.changes_answer


@pytest.mark.parametrize(
    ("kind", "size", "assumption"),
    [
        ("state", 1.5, "p_c trend over states"),
        ("memory", 0.6, "memory"),
        ("cases", 1.5, "cases alike"),
        ("drift", 1.5, "p_c drift"),
        ("finish-by-state", 2.5, "p_f by state"),
    ],
)
def test_a_table_that_breaks_an_assumption_is_found_out(
    kind: str, size: float, assumption: str
) -> None:
    fit = fitted(kind, cases=600, seed=5, size=size)
    by_name = {test.name: test for test in fit.tests}
    p = by_name[assumption].p_holm
    assert p is not None
    assert p < 0.01
    assert by_name[assumption].effect_is


def test_groups_that_differ_are_found_out_and_answered_for() -> None:
    fit = fitted("groups", cases=800, seed=3, size=2.0, group="site")
    by_name = {test.name: test for test in fit.tests}
    assert by_name["p_c by group"].p_holm < 1e-6  # type: ignore[operator]
    assert by_name["p_c by group"].changes_answer
    assert fit.by_group["north"].decision == "threshold-1"
    assert fit.by_group["south"].decision == "threshold-0"
    assert sum(one.cases for one in fit.by_group.values()) == fit.cases
    # A part has no groups of its own to be compared.
    assert "p_c by group" not in {t.name for t in fit.by_group["north"].tests}


def test_a_late_change_that_turns_the_answer_round_takes_its_firmness() -> None:
    """p_C is low at first and high later, so that finishing was right and is not any more."""
    early = grbp.example_records(goal=4, p_c=0.25, p_f=0.3, cases=600, seed=1)
    late = grbp.example_records(goal=4, p_c=0.68, p_f=0.3, cases=400, seed=2)
    table = {name: np.append(early[name], late[name] + 600 * (name == "case")) for name in early}
    fit = grbp.fit(table, goal=4)
    drift = next(test for test in fit.tests if test.name == "p_c drift")
    assert drift.p_holm is not None
    assert drift.p_holm < 1e-6
    assert drift.changes_answer
    assert not fit.firm


def test_states_that_differ_much_are_decided_one_by_one() -> None:
    """FINISH wins in state 2 far more often than in state 1 or than continuing there."""
    bad = ["1c2c1c0", "1c0", "1c0", "2c1c0", "2c1c0", "3c2c1c0", "3c4", "1f0", "1f0", "1f0",
           "3f0", "3f0", "2f4", "2f4", "2f4", "2f0"]  # fmt: skip
    fit = grbp.fit(columns_of(bad * 20), goal=4)
    assert fit.decision == "by-state"
    assert fit.by_state[1].action == "finish"
    assert fit.by_state[2].action == "continue"
    # Each has the probability of the action that it names.
    assert all(row.probability is not None and row.probability > 0.9 for row in fit.by_state[1:])
    assert fit.reason


def test_adaptive_records_have_anytime_intervals() -> None:
    table = grbp.example_records(cases=100)
    fit = grbp.fit(table, goal=4, adaptive=True)
    assert fit.p_c.interval == fit.p_c.anytime
    assert fit.boundary is not None
    assert fit.boundary.low == grbp.boundary(4, fit.p_c.anytime.low)
    assert "anytime" in fit.summary()


def test_the_level_is_that_of_all_intervals() -> None:
    table = grbp.example_records(cases=100)
    wide, narrow = (grbp.fit(table, goal=4, level=level) for level in (0.99, 0.5))
    ways: list[Callable[[Any], Any]] = [
        lambda fit: fit.p_c.interval, lambda fit: fit.boundary[1:], lambda fit: fit.difference[1:],
        lambda fit: fit.ways["general"][1:], lambda fit: fit.ways["direct"][1:],
        lambda fit: fit.value_1[1:], lambda fit: fit.practice[1:], lambda fit: fit.gain()[1:],
    ]  # fmt: skip
    for of in ways:
        low, high = of(wide)
        inner_low, inner_high = of(narrow)
        assert low < inner_low < inner_high < high


@pytest.mark.parametrize("level", [0, 1, "0.95", math.nan])
def test_a_level_that_is_none_is_refused(level: Any) -> None:
    with pytest.raises(grbp.InvalidInput, match="between 0 and 1"):
        grbp.fit(grbp.example_records(cases=5), goal=4, level=level)


def test_only_thresholds_0_and_1_have_a_probability(fit: grbp.Fit) -> None:
    with pytest.raises(grbp.InvalidInput, match="threshold = 2"):
        fit.probability(2)


def test_a_session_goes_on_from_the_records(fit: grbp.Fit) -> None:
    session = grbp.Session(goal=4, counters=fit.counters)
    assert session.rho == 301
    assert session.open_case(state=1) == 1


def test_shares_of_states_are_shrunk_as_far_as_they_are_alike() -> None:
    random = np.random.default_rng(0)
    alike = draw_shares(np.array([45, 44, 5]), np.array([55, 56, 0]), 4000, random).mean(axis=0)
    assert 0.45 < alike[2] < 0.9
    apart = draw_shares(np.array([900, 100]), np.array([100, 900]), 4000, random).mean(axis=0)
    assert apart == pytest.approx([0.9, 0.1], abs=0.02)


def test_the_same_table_gives_the_same_answer_to_the_last_bit() -> None:
    table = grbp.example_records("jumps", cases=60)
    assert grbp.fit(table, goal=4).to_dict() == grbp.fit(table, goal=4).to_dict()


@pytest.mark.parametrize("level", [0.49, 0.99999, 1 - 1e-16])
def test_a_level_that_says_nothing_is_refused(level: float) -> None:
    with pytest.raises(grbp.InvalidInput, match=r"from 0\.5 to 0\.9999"):
        grbp.fit(grbp.example_records(cases=5), goal=4, level=level)
    if level > 0.9999999:
        with pytest.raises(grbp.InvalidInput, match="at least 1e-9 below 1"):
            grbp.Posterior(4, 3, 4, 5, 6).difference(level)


@pytest.mark.parametrize("group", [5, None])
def test_groups_that_are_no_names_are_refused(group: Any) -> None:
    with pytest.raises(grbp.InvalidInput, match="the name of a column"):
        grbp.fit(grbp.example_records(cases=5), goal=4, group=group)


def test_finish_that_was_never_tried_in_state_1_leaves_no_firm_sentence() -> None:
    fit = counted(((500, 1000),) * 3, ((0, 0), (400, 1000), (0, 0)))
    assert fit.decision == "threshold-1"
    assert not fit.firm
    assert "FINISH was never tried in state 1" in fit.sentence


@pytest.mark.slow
def test_cases_that_start_in_many_states_do_not_fill_the_memory() -> None:
    goal = 10_000
    rows = [(s, "c", s + way, 1) for s in range(1, goal) for way in (1, -1)]
    rows += [(1, "f", goal, 5), (1, "f", 0, 5)]
    names = ("state", "action", "next_state", "count")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    tracemalloc.start()
    fit = grbp.fit(table, goal=goal)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fit.value_0 is not None
    assert fit.value_0.estimate == pytest.approx(0.5, abs=1e-3)
    assert peak < 500e6


def test_where_nobody_continued_no_prior_chooses() -> None:
    """In state 3 all finished and won: whether continuing is better there, nobody knows."""
    paths = ["1c2c1c0", "2c1c0", "1c0", "1c2c3f4", "2c3f4", "1f0", "1f0", "1f4"] * 30
    moves = Transitions(records_of(paths, 4))
    chain = solve_statewise(moves)
    assert chain is not None
    assert np.isnan(chain.finish).tolist() == [False, True, True]
    assert chain.action[2] == 0
    # Only state 1 is left to say which threshold is right, so it is one of the two.
    assert sum(chain.threshold) == pytest.approx(1.0)
    assert chain.threshold[1] == chain.finish[0]


def test_the_mean_of_states_that_differ_is_not_that_of_their_records() -> None:
    """What is guessed of a state without records counts states, not rows, where states differ."""
    random = np.random.default_rng(0)
    won, lost = np.array([9000, 10, 0]), np.array([1000, 90, 0])
    assert draw_shares(won, lost, 4000, random).mean(axis=0)[2] == pytest.approx(0.5, abs=0.1)
    alike = draw_shares(won, np.array([1000, 1, 0]), 4000, random).mean(axis=0)
    assert alike[2] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(("first", "second", "changes"), [(0, 15, True), (10, 0, False)])
def test_the_p_f_of_state_1_is_what_counts_where_states_differ(
    first: int, second: int, changes: bool
) -> None:
    paths = ["1c0", "1c2c1c0", "2c3c2c1c0", "2c3c4"] * 20
    paths += ["1f4"] * first + ["1f0"] * (20 - first) + ["2f4"] * second + ["2f0"] * (20 - second)
    fit = grbp.fit(columns_of(paths), goal=4)
    test = next(test for test in fit.tests if test.name == "p_f by state")
    assert fit.boundary is not None
    assert fit.p_f is not None
    assert fit.p_f.successes / fit.p_f.tries > fit.boundary.estimate
    assert test.changes_answer is changes


def test_the_running_sum_ends_where_it_began_and_has_unit_variance(fit: grbp.Fit) -> None:
    assert fit.cusum is not None
    parts = np.diff(fit.cusum.y, prepend=0.0)
    assert fit.cusum.y[-1] == pytest.approx(0.0, abs=1e-9)
    assert (parts**2).sum() == pytest.approx(1.0)
    assert len(fit.cusum.x) == fit.cases


def test_the_summary_gives_the_adjusted_probabilities() -> None:
    fit = fitted(cases=300, seed=2, finish=0.4)
    lines = fit.summary().splitlines()
    adjusted = [
        test for test in fit.tests if test.p is not None and test.p_holm not in (test.p, 1.0)
    ]
    assert adjusted
    for test in adjusted:
        line = next(line for line in lines if line.strip().startswith(test.assumption))
        assert f"{test.p_holm:.3f}" in line


def test_where_the_model_is_rejected_policies_are_valued_by_the_chain() -> None:
    """Hardly anybody gets out of state 1, and nearly all who do get through."""
    up, won = (0.1, 0.9, 0.9), 0.4
    fit = counted([(round(2000 * p), 2000) for p in up], ((800, 2000), (0, 0), (0, 0)))
    assert fit.way == "general"
    assert fit.decision == "threshold-1"
    assert "these records speak against it" in fit.sentence
    chain = grbp.dynprog.Chain(4, grbp.dynprog.Move(up, [1.0 - p for p in up]), won)
    start = np.array(fit.first_states) / sum(fit.first_states)
    exact = [
        float(grbp.dynprog.evaluate(chain, action).value @ start)
        for action in ([0, 0, 0], [1, 0, 0])
    ]
    assert fit.value_0 is not None
    assert fit.value_1 is not None
    gain = fit.gain()
    assert gain is not None
    assert [fit.value_0.estimate, fit.value_1.estimate] == pytest.approx(exact, abs=0.01)
    assert gain.estimate == pytest.approx(exact[1] - exact[0], abs=0.01)
    assert gain.low < gain.estimate < gain.high
    assert fit.difference is not None
    general = fit.ways["general"]
    assert general is not None
    assert fit.difference.estimate == pytest.approx(won - general.estimate)


def test_where_the_chain_is_rejected_too_no_policy_has_a_value() -> None:
    """Moves with a strong memory: what was seen speaks against B(p_C), and against the chain."""
    fit = fitted("memory", p_c=0.6, p_f=0.45, cases=4000, seed=3, size=2.0)
    assert fit.way == "direct"
    assert (fit.value_0, fit.value_1, fit.gain()) == (None, None, None)
    assert "with threshold" not in fit.summary()
    assert fit.to_dict()["gain"] is None


def test_finish_above_state_1_is_no_evidence_where_p_f_differs() -> None:
    """FINISH nearly always wins in state 3 and hardly ever in state 1."""
    fit = counted([(500, 1000)] * 3, ((50, 500), (0, 0), (475, 500)))
    assert fit.p_f is not None
    assert fit.p_f.estimate == pytest.approx(0.525)
    assert fit.difference is not None
    assert fit.difference.estimate == pytest.approx(0.1 - 0.25, abs=0.01)
    assert fit.decision == "by-state"
    assert "finish in 3, continue in 1" in fit.sentence


def test_the_learner_of_a_fit_believes_what_its_posterior_does(fit: grbp.Fit) -> None:
    learner, of = grbp.find_learner(fit.learner, fit.goal), fit.posterior
    assert isinstance(learner, grbp.Learner)
    known = learner.constants
    assert known.good / (known.good + known.bad) == pytest.approx(
        (of.f_goal + of.prior_f[0]) / (of.f_goal + of.f_lost + sum(of.prior_f))
    )
    assert known.up + known.down == pytest.approx(of.c_up + of.c_down + sum(of.prior_c))
    assert known.horizon == 0.0
    first = learner.initial_counters(fit.goal, 0.1, 0.9)
    assert learner.choose(fit.goal, first, 0) == 1
    doubtful = replace(learner, constants=known._replace(up=5000.0))
    assert doubtful.choose(fit.goal, first, 0) == 0


def test_the_text_says_why_an_assumption_cannot_be_tested() -> None:
    fit = grbp.fit(grbp.example_records(cases=60, seed=1), goal=4)
    untested = [test for test in fit.tests if not test.possible]
    assert untested
    said = " ".join(str(fit).split())
    for test in untested:
        assert f"not testable stays {test.why}" in said
