"""A fit for people used to other libraries: frames, intervals, text, equality, priors."""

import copy
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from fits import AT_ONE, NEVER, USUAL, counted, walked
from optional import optional
from paths import columns_of

import grbp
from grbp.errors import InvalidInput
from grbp.fitting.result import Fit
from grbp.numerics.intervals import anytime, wilson


@pytest.fixture(scope="module")
def fit() -> Fit:
    return walked(150, group="group")


# --- frames ------------------------------------------------------------------------------------


def test_each_action_in_each_state_has_a_row_with_its_number_and_method() -> None:
    for adaptive, interval, method in ((False, wilson, "Wilson"), (True, anytime, "anytime")):
        fit = counted(USUAL, AT_ONE, adaptive=adaptive)
        frame = fit.to_frame(of="states").set_index(["state", "action"])
        for action, counts in (("continue", USUAL), ("finish", AT_ONE)):
            for k, (won, tries) in enumerate(counts):
                row = frame.loc[(k + 1, action)]
                assert (row["n"], row["successes"], row["method"]) == (tries, won, method)
                wanted = [won / tries, *interval(won, tries)] if tries else [np.nan] * 3
                np.testing.assert_array_equal(row[["estimate", "low", "high"]].tolist(), wanted)
        # Of the two actions in a state one is right; where one was never tried, nobody knows.
        both = frame["probability_right"].groupby("state").sum(min_count=2)
        assert both.dropna().tolist() == pytest.approx([1.0, 1.0])
        assert both.isna().tolist() == [not tries for _, tries in AT_ONE]
        right = frame["probability_right"][1].idxmax()
        assert right == fit.by_state[0].action


def test_each_action_in_each_group_has_a_row(fit: Fit) -> None:
    frame = fit.to_frame(of="groups")
    assert frame["group"].tolist() == [name for name in fit.by_group for _ in range(2)]
    for name, one in fit.by_group.items():
        rows = frame[frame["group"] == name].set_index("action")
        assert one.p_f is not None
        for action, share in (("continue", one.p_c), ("finish", one.p_f)):
            row = rows.loc[action]
            assert (row["n"], row["successes"]) == (share.tries, share.successes)
            assert row[["estimate", "low", "high"]].tolist() == [share.estimate, *share.interval]
            assert (row["decision"], row["cases"]) == (one.decision, one.cases)
            assert row["probability_threshold_1"] == one.probability(1)
    assert len(counted(USUAL, AT_ONE).to_frame(of="groups")) == 0


def test_a_group_that_never_finished_has_a_row_that_says_so() -> None:
    columns: dict[str, Any] = dict(
        columns_of(["1c2c1c0", "1f4", "1f0", "2c3c4"] * 5 + ["2c1c0", "3c4"] * 5)
    )
    columns["ward"] = ["tried" if int(case) < 20 else "never" for case in columns["case"]]
    frame = grbp.fit(columns, 4, group="ward").to_frame(of="groups")
    row = frame[(frame["group"] == "never") & (frame["action"] == "finish")].iloc[0]
    assert (row["n"], row["successes"]) == (0, 0)
    assert row[["estimate", "low", "high"]].isna().all()


def test_each_assumption_has_a_row_with_a_short_name_and_a_unit(fit: Fit) -> None:
    frame = fit.to_frame(of="tests").set_index("name")
    assert frame.index.is_unique
    assert max(map(len, frame.index)) <= 22
    for test in fit.tests:
        row = frame.loc[test.name]
        assert (row["assumption"], row["test"]) == (test.assumption, test.test)
        assert row["effect_unit"] in ("", "probability", "log-odds", "odds ratio")
        assert (row["effect_unit"] == "") == (not test.possible)
        for name in ("p", "p_holm", "effect"):
            assert row[name] == getattr(test, name) or (row[name] != row[name])
    # Chi-squared has degrees of freedom, and its tail is the probability.
    chi2 = frame[frame["df"].notna()]
    assert {"p_c by state", "memory"} <= set(chi2.index)
    tails = optional("scipy.stats").chi2.sf(chi2["statistic"].astype(float), chi2["df"].astype(int))
    assert chi2["p"].tolist() == pytest.approx(tails.tolist(), rel=1e-9)


def test_frames_are_of_either_library_and_others_are_refused(fit: Fit) -> None:
    polars = optional("polars")
    for of in ("estimates", "states", "groups", "tests"):
        frame = fit.to_frame("polars", of=of)
        assert isinstance(frame, polars.DataFrame)
        assert frame.columns == list(fit.to_frame(of=of).columns)
    assert isinstance(fit.conf_int(0.9, library="polars"), polars.DataFrame)
    with pytest.raises(InvalidInput, match="of = 'rows' was given; it must be one of estimates, "):
        fit.to_frame(of="rows")


def test_intervals_at_another_level_are_those_of_a_fit_at_that_level() -> None:
    fit, other = (counted(USUAL, AT_ONE, level=level) for level in (0.95, 0.8))
    frame = fit.conf_int(0.8).set_index("quantity")
    assert list(frame.index) == ["p_c", "p_f", "boundary", "difference"]
    shown = other.to_frame().set_index("quantity")
    for name in frame.index:
        ends, wanted = frame.loc[name, ["low", "high"]], shown.loc[name, ["low", "high"]]
        assert ends.tolist() == pytest.approx(wanted.tolist(), abs=1e-9)
    same = fit.conf_int().set_index("quantity")
    assert same.loc["p_f", ["low", "high"]].tolist() == list(fit.p_f.interval)  # type: ignore[union-attr]
    assert set(same["level"]) == {0.95}
    assert list(counted(USUAL, NEVER).conf_int(0.9)["quantity"]) == ["p_c", "boundary"]
    # Where p_F differs between states, that of state 1 is what decides.
    rising = counted([(300, 500), (200, 500), (100, 500)], [(10, 300), (100, 300), (200, 300)])
    assert list(rising.conf_int(0.9)["quantity"]) == ["p_c", "p_f", "boundary"]
    for level in (0, 1, 95, "0.9"):
        with pytest.raises(InvalidInput, match="level"):
            fit.conf_int(level)  # type: ignore[arg-type]


# --- text, equality ----------------------------------------------------------------------------


def test_printing_a_result_prints_its_summary(fit: Fit) -> None:
    assert str(fit) == fit.summary()
    assert "\n" not in repr(fit)
    assert repr(fit).startswith("<Fit of ")
    plan = grbp.plan(4, 0.45, 0.3, cases=[20], replicas=20)
    assert str(plan) == plan.summary()
    assert repr(plan).startswith("<Plan of ")


def test_a_copy_is_equal_and_what_differs_anywhere_is_not(fit: Fit) -> None:
    for twin in (
        pickle.loads(pickle.dumps(fit)),  # noqa: S301 (our own)
        copy.copy(fit),
        copy.deepcopy(fit),
        walked(150, group="group"),
    ):
        assert twin == fit
        assert hash(twin) == hash(fit)
    others: dict[str, Any] = {one.name: "other" for one in fields(fit)}
    others |= {name: {"a": 1} for name in ("dropped", "first_lines", "ways", "by_group")}
    for name, value in others.items():
        assert replace(fit, **{name: value}) != fit, name
    assert fit.cusum is not None
    moved = fit.cusum._replace(y=fit.cusum.y + 1e-9)
    assert replace(fit, cusum=moved) != fit
    other: object = fit.sentence
    assert fit != other


def test_a_plan_is_equal_to_its_copy() -> None:
    plan = grbp.plan(4, 0.45, 0.3, cases=[20], replicas=20)
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301 (our own)
    assert hash(copy.deepcopy(plan)) == hash(plan)
    assert replace(plan, seed=1) != plan


# --- priors ------------------------------------------------------------------------------------


def test_a_prior_moves_how_sure_the_answer_is_and_no_estimate() -> None:
    plain = counted(USUAL, AT_ONE)
    given = counted(USUAL, AT_ONE, prior_f=(2, 60), prior_c=(1, 1))
    assert (given.prior_c, given.prior_f) == ((1.0, 1.0), (2.0, 60.0))
    assert given.posterior.prior_f == (2.0, 60.0)
    assert (given.p_c, given.p_f, given.ways) == (plain.p_c, plain.p_f, plain.ways)
    assert plain.probability(1) > 0.95 > given.posterior.probability  # type: ignore[operator]
    assert given.value_1.low < plain.value_1.low  # type: ignore[union-attr]
    assert given.to_dict()["prior_f"] == [2.0, 60.0]
    for words in ("prior of p_F: Beta(2, 60)", "prior of p_C: Beta(1, 1)"):
        assert words in given.summary()
    assert "prior" not in plain.summary()
    assert counted(USUAL, AT_ONE, prior_c=(0.5, 0.5)) == plain


def test_what_only_a_prior_says_is_told() -> None:
    """The shares speak against FINISH, and a strong prior for it."""
    fit = counted(USUAL, ((10, 130), (0, 0), (0, 5)), prior_f=(5000, 5000))
    assert fit.decision == "threshold-1"
    assert not fit.firm
    told = " ".join((fit.sentence, *fit.doubts))
    assert "it is the prior, what was assumed before any record, that does" in told


def test_a_prior_that_is_none_is_refused() -> None:
    for name in ("prior_c", "prior_f"):
        with pytest.raises(InvalidInput, match=f"{name} = .0, 1. was given; it must be two pos"):
            counted(USUAL, AT_ONE, **{name: (0, 1)})
