"""The page of a fit says all that was found, each number with its interval, as text."""

import re
from dataclasses import replace
from typing import Any, Final

import pytest
from fits import AT_ONE, NEVER, USUAL, counted, walked
from html_page import HOSTILE, SEEN, Page, check_report

from grbp._format import format_interval
from grbp.fitting.model_tests import AssumptionTest
from grbp.fitting.result import Fit, OpenCases
from grbp.fitting.sentences import list_states
from grbp.numerics.intervals import anytime, wilson
from grbp.reports.fit_report import fit_report
from grbp.theory.posterior import Estimate
from grbp.worlds.labels import Labels

pytestmark = pytest.mark.slow

FACTS: Final = {"Command": "grbp fit cases.csv --goal 4", "Version": "0"}


@pytest.fixture(scope="module")
def fit() -> Fit:
    return walked(150, group="group")


@pytest.fixture(scope="module")
def html(fit: Fit) -> str:
    return fit_report(fit, FACTS)


def text_of(html: str) -> str:
    return Page(html).all("html")[0].text


def test_the_page_is_well_formed_and_fetches_and_runs_nothing(html: str) -> None:
    page = check_report(html)
    assert len(page.all("svg")) == 4


def test_the_sentence_comes_first_then_the_map_then_the_tests(html: str, fit: Fit) -> None:
    page = Page(html)
    (answer,) = (e for e in page.all("p") if e.attributes.get("class") == "answer")
    told = fit.labels.tell(fit.sentence)
    lead, rest = (f"{part.rstrip('.')}." for part in told.split(". ", 1))
    texts = [e.text.replace("\xa0", " ") for e in page.all("p")]
    assert answer.text.replace("\xa0", " ") == lead
    assert texts[texts.index(lead) + 1] == rest
    headings = [e.text for e in page.all("h1", "h2")]
    assert headings == [
        "What 150 past cases say: continue, or finish?",
        "State by state",
        "Which side of the break-even?",
        "Three ways to value state\xa01",
        "Can the model be trusted here?",
        "Further down",
        "What the words mean",
        "Does CONTINUE change from case to case?",
        "The answer by group",
        "What was reached, and what could be",
        "Which hidden bias would reverse the answer?",
        "What was left out",
        "For statisticians",
        "How this was made",
    ]
    assert html.index('class="answer"') < html.index("<svg") < html.index('class="verdicts"')


def test_every_estimate_is_there_with_its_interval(html: str, fit: Fit) -> None:
    told = text_of(html)
    estimates = [
        fit.boundary, *fit.ways.values(), fit.practice, fit.value_0, fit.value_1, fit.difference,
    ]  # fmt: skip
    assert all(estimates)
    for share in (fit.p_c, fit.p_f):
        assert share is not None
        assert share.estimate is not None
        estimates.append(Estimate(share.estimate, *share.interval))
    for estimate in estimates:
        assert estimate is not None
        assert format_interval(*estimate) in told


def test_every_state_and_every_group_has_its_row(html: str, fit: Fit) -> None:
    cells = list(Page(html).cells())
    for state in fit.by_state:
        (row,) = (row for row in cells if row[0] == f"state\xa0{state.state}")
        assert row[3].startswith(f"{state.c_up:,} of {state.c:,}, ")
        tried = f"{state.f_goal:,} of {state.f:,}, " if state.f else "never tried"
        assert row[4].startswith(tried)
        assert row[1].startswith("unknown: FINISH was never tried" if not state.f else "FINISH")
    for name, group in fit.by_group.items():
        (row,) = (row for row in cells if row[0] == name)
        assert row[1] == f"{group.cases:,}"


LOOKS: Final = {
    "nothing against it": AssumptionTest("p", "t", 5.0, 0.02, 0.1, 0.1, "a size", False),
    "records speak against it": AssumptionTest("p", "t", 9.0, 0.001, 0.01, 0.1, "a size", True),
    "not testable": AssumptionTest("p", "none", possible=False, why="There is no way."),
}


@pytest.mark.parametrize("found", LOOKS)
def test_a_test_says_what_was_found_and_whether_the_answer_changes(fit: Fit, found: str) -> None:
    test = LOOKS[found]
    page = Page(fit_report(replace(fit, tests=(test,)), FACTS))
    (row,) = (row for row in page.cells() if row[0] == "P")
    assert row[1].endswith(f" {found}")
    asked, _, answer = row[2].partition("? ")
    assert asked == "Does the answer change"
    assert answer == {True: "yes", False: "no", None: "cannot be said"}[test.changes_answer]
    assert ("a size" in row[3]) == test.possible
    assert test.why in row[3]


def test_a_test_without_a_sign_beside_its_colour_would_be_lost_on_some(html: str) -> None:
    marks = [e for e in Page(html).all("span") if "mark" in e.attributes.get("class", "")]
    assert len(marks) > 5
    assert all(re.match(r"[✓✗?↕] \w", mark.text) for mark in marks)


def test_without_a_decision_there_is_the_reason_and_the_break_even() -> None:
    fit = counted(USUAL, NEVER)
    assert fit.decision == "none"
    assert fit.boundary is not None
    html = fit_report(fit, FACTS)
    told = text_of(html)
    assert "? no decision" in told
    assert "FINISH was never tried" in told
    assert f"would have to win with, {format_interval(*fit.boundary)}" in html
    assert "FINISH wins\nnot known" in told.replace(
        "FINISH winsnot known", "FINISH wins\nnot known"
    )
    # Nothing is explained that is not drawn.
    assert "orange band" not in told
    assert "dark shade" not in told
    # No probability that only a prior made, and no hidden bias of what is not known.
    assert "how probable it is, given" not in told
    assert "hidden bias" not in told
    assert "Does CONTINUE change" not in told


def test_a_decision_by_state_says_where_what_is_right() -> None:
    rising = counted([(300, 500), (200, 500), (100, 500)], [(10, 300), (100, 300), (200, 300)])
    assert rising.decision == "by-state"
    told = text_of(fit_report(rising, FACTS))
    right = {
        action: [row.state for row in rising.by_state if row.action == action]
        for action in ("finish", "continue")
    }
    assert right == {"finish": [3], "continue": [1, 2]}
    assert "Decide state by state: finish in 3, continue in 1 and 2." in told
    assert "it does not decide" in told
    assert "hatched" not in told


def test_what_is_not_sure_of_a_state_is_not_supported(fit: Fit) -> None:
    unsure = replace(fit, by_state=(fit.by_state[0]._replace(probability=0.9), *fit.by_state[1:]))
    told = text_of(fit_report(unsure, FACTS))
    assert "the records support: no sure answer in state 1; nothing in states 2 and 3" in told
    assert "perhaps FINISH" in told


@pytest.mark.parametrize(
    ("decision", "other"),
    [
        ("threshold-1", "never FINISH."),
        ("threshold-0", "FINISH when a case stands in state\xa01, one"),
    ],
)
def test_a_policy_is_named_beside_the_other(fit: Fit, decision: str, other: str) -> None:
    told = text_of(fit_report(replace(fit, decision=decision), FACTS))
    assert f"The other policy would be: {other}" in told


@pytest.mark.parametrize(("firm", "told"), [(False, "? perhaps finish"), (True, "✓ finish")])
def test_a_lean_is_not_shown_as_a_decision(fit: Fit, firm: bool, told: str) -> None:
    lean = replace(fit, decision="threshold-1", firm=firm)
    assert f"{told} in state 1" in text_of(fit_report(lean, FACTS))


def test_what_was_left_out_is_told_by_rule_with_its_first_line(fit: Fit) -> None:
    with_gaps = replace(
        fit, dropped={"after-end": 3, "gap": 1200}, first_lines={"after-end": 17, "gap": 4},
        open=OpenCases(2, 1), pending=(0.4, 0.5), stays=7, jumps=5,
    )  # fmt: skip
    page = Page(fit_report(with_gaps, FACTS))
    assert ["after end", "3", "17"] in list(page.cells())
    assert ["gap", "1,200", "4"] in list(page.cells())
    told = page.all("html")[0].text
    assert "2 with an empty next state at the end, and 1 in a state without a row" in told
    assert "stayed in place 7 times" in told
    assert "further than one state 5 times" in told
    assert "if all such cases are lost, the share is 40.0 %; if all are won, it is 50.0 %" in told


@pytest.mark.parametrize(
    ("estimate", "more", "less"), [(0.1, "more", "less"), (-0.1, "less", "more")]
)
def test_the_hidden_bias_has_its_direction(fit: Fit, estimate: float, more: str, less: str) -> None:
    bias = replace(fit, difference=Estimate(estimate, estimate - 0.2, estimate + 0.2))
    told = text_of(fit_report(bias, FACTS))
    assert f"FINISH wins {more} often than CONTINUE does" in told
    assert f"really wins {less} often than recorded" in told


def test_everything_handed_in_is_text_never_html(fit: Fit) -> None:
    nasty = replace(
        fit, sentence=HOSTILE, reason=HOSTILE, notes=(HOSTILE,), by_group={HOSTILE: fit},
        dropped={HOSTILE: 1}, first_lines={HOSTILE: 2},
        tests=(AssumptionTest(HOSTILE, HOSTILE, why=HOSTILE, effect=1.0, effect_is=HOSTILE),),
    )  # fmt: skip
    html = fit_report(nasty, {HOSTILE: HOSTILE})
    page = Page(html)
    assert page.all("script") == []
    assert len(page.all("svg")) == 4
    told = [e for e in page.all("p", "th", "td", "summary", "dt", "dd") if SEEN in e.text]
    assert len(told) >= 8
    html.encode("utf-8")


def test_the_same_fit_is_the_same_page(html: str, fit: Fit) -> None:
    assert fit_report(fit, FACTS) == html


def test_many_states_and_groups_leave_a_page_that_can_be_read(fit: Fit) -> None:
    many = counted([(2, 5)] * 400, [(1, 3), *[(0, 0)] * 399])
    html = fit_report(many, FACTS)
    assert sum(len(row) == 5 for row in Page(html).cells()) == 201
    assert "first 200 of 400 states" in text_of(html)
    html = fit_report(replace(fit, by_group={f"g{k}": fit for k in range(500)}), FACTS)
    assert sum(len(row) == 7 for row in Page(html).cells()) == 201
    assert "first 200 of 500 groups" in text_of(html)


def test_steered_records_have_anytime_intervals_by_state() -> None:
    fit = counted(USUAL, AT_ONE, adaptive=True)
    told = text_of(fit_report(fit, FACTS))
    up, moves = USUAL[0]
    assert format_interval(up / moves, *anytime(up, moves)) in told
    assert format_interval(up / moves, *wilson(up, moves)) not in told


# --- words, doubts, what is not known -----------------------------------------------------------

OWN: Final = Labels(("dead", "severe", "so-so", "fair", "home"), ("medication", "surgery"))


def test_a_table_with_words_of_its_own_has_no_others(fit: Fit) -> None:
    """Outside the part for statisticians, the words and symbols of the paper are not there."""
    page = Page(fit_report(replace(fit, labels=OWN, by_group={}), {}))
    told = page.all("main")[0].text
    before, _, rest = told.rpartition("For statisticians")
    _, _, after = rest.partition("How this was made")
    before = re.sub(r"Test: .*?(?=\n)", "", before)  # a test opens to its name and its effect
    assert not re.findall(r"CONTINUE|FINISH|\bstate [0-9]|\bp_[CF]\b|[Tt]hreshold", before)
    assert "Choose surgery in severe (1)" in before
    assert "0 (dead), where it is lost, and 4 (home), where it is won.\nMedication moves" in before
    assert "surgery in severe (1); nothing in so-so (2) and fair (3)" in before
    assert "p_C Beta(0.5, 0.5)" in after


def test_symbols_are_for_statisticians_alone(html: str) -> None:
    told = Page(html).all("main")[0].text
    before, _, rest = told.rpartition("For statisticians")
    assert not re.findall(r"\bp_[CF]\b|[Tt]hreshold", re.sub(r"Test: .*?(?=\n)", "", before))
    assert {"p_C", "p_F", "B(p_C)"} <= {row[0] for row in Page(html).cells()}
    assert "Threshold 1 is the policy that finishes in state 1" in rest


def test_doubts_stand_directly_under_the_answer(fit: Fit) -> None:
    doubts = ("p_F differs by state.", "Who finishes depends on the <group>.")
    html = fit_report(replace(fit, doubts=doubts), FACTS)
    answer, box, key = (html.index(f'class="{name}"') for name in ("answer", "doubts", "key"))
    assert answer < box < key
    items = [e.text for e in Page(html).all("li")]
    assert items[:2] == ["The chance that FINISH wins differs by state.", doubts[1]]
    assert 'class="doubts"' not in fit_report(replace(fit, doubts=()), FACTS)


def test_an_answer_by_group_has_the_groups_first(fit: Fit) -> None:
    by_group = replace(fit, decision="by-group", firm=True)
    page = Page(fit_report(by_group, FACTS))
    assert "↕ it depends on the group" in page.all("html")[0].text
    assert next(e.text for e in page.all("h2")) == "The answer by group"
    # What states support over all groups is not an answer for any of them.
    told = text_of(fit_report(by_group, FACTS))
    assert "State by state, the records support" not in told
    assert "average over them" in told


def test_what_was_never_tried_in_state_1_has_no_probability() -> None:
    fit = counted(USUAL, ((0, 0), (40, 60), (30, 40)))
    assert fit.decision == "threshold-1"
    told = text_of(fit_report(fit, FACTS))
    assert "FINISH is right in state\xa01not known" in told
    assert "how probable it is, given" not in told
    assert "P(threshold 1)" not in told


def test_wins_in_state_1_are_told_apart_where_there_are_others(html: str) -> None:
    elsewhere = text_of(fit_report(counted(USUAL, AT_ONE), FACTS))
    assert "43 of 135 tries of FINISH won. In state\xa01, 40 of 130 did." in elsewhere
    assert "tries of FINISH won. In state" not in text_of(html)


def test_no_probability_is_certain() -> None:
    fit = counted(((1, 2000), (400, 800), (400, 800)), ((1900, 2000), (0, 0), (0, 0)))
    assert fit.probability(1) == 1.0
    told = text_of(fit_report(fit, FACTS))
    assert "over 99.9\xa0%" in told
    assert "100.0" not in told.replace("100.0\xa0%)", "")


@pytest.mark.parametrize("leaves", [True, False])
def test_the_page_says_whether_the_sum_leaves_its_limits(fit: Fit, leaves: bool) -> None:
    assert fit.cusum is not None
    limit = float(abs(fit.cusum.y).max()) * (0.9 if leaves else 1.1)
    told = text_of(fit_report(replace(fit, cusum=fit.cusum._replace(limit=limit)), FACTS))
    assert ("Here the curve leaves them" in told) == leaves
    assert ("Here the curve stays between them" in told) == (not leaves)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"practice": None, "cases": 0}, "the rows are counts, and belong to no case"),
        ({"practice": None}, "reached the goal is not known: no case has ended"),
        ({"value_0": None, "value_1": None}, "the two policies would reach is left out: the rec"),
        ({"cusum": None}, "cannot be seen: too few cases moved both up and down"),
        ({"p_f": None, "difference": None}, "How often FINISH wins is not known"),
    ],
)
def test_what_is_not_there_is_said_with_the_reason(fit: Fit, changes: Any, said: str) -> None:
    assert said in text_of(fit_report(replace(fit, **changes), FACTS))
    assert said not in text_of(fit_report(fit, FACTS))


def test_the_page_says_with_which_options_it_was_made(fit: Fit) -> None:
    given = replace(fit, prior_f=(2.0, 3.0), adaptive=True, level=0.9)
    dds = [e.text for e in Page(fit_report(given, FACTS)).all("dd")]
    assert FACTS["Command"] in dds
    assert "90 %, anytime intervals: a learner chose the actions" in dds
    assert "p_C Beta(0.5, 0.5), p_F Beta(2, 3)" in dds


@pytest.mark.parametrize(
    ("states", "plain", "own"),
    [
        ([1], "state 1", "severe (1)"),
        ([1, 2], "states 1 and 2", "severe (1) and so-so (2)"),
        ([1, 2, 3], "states 1 to 3", "severe (1) to fair (3)"),
        ([1, 3], "states 1 and 3", "severe (1) and fair (3)"),
    ],
)
def test_states_are_listed_in_few_words(states: list[int], plain: str, own: str) -> None:
    assert list_states(states, Labels()) == plain
    assert list_states(states, OWN) == own
    assert list_states([*range(1, 40), 50, 52, 60], Labels()) == "states 1 to 39, 50, 52 and 60"
    assert list_states([*range(1, 40, 2)], Labels()) == "states 1, 3, 5, 7, 9 and 15 more"


def test_light_dark_and_paper_set_every_colour(html: str) -> None:
    style = html.split("<style>")[1].split("</style>", maxsplit=1)[0]
    light = set(re.findall(r"(--[a-z-]+):", style.split("@media", maxsplit=1)[0]))
    assert set(re.findall(r"var\((--[a-z-]+)\)", style)) <= light
