"""The page of a plan says what to expect, each number with its interval, as text."""

from dataclasses import replace

import pytest
from html_page import HOSTILE, SEEN, Page, check_report

import grbp
from grbp._format import format_interval
from grbp.planning.printed_plan import describe_needed, expectations, needs


@pytest.fixture(scope="module")
def plan() -> grbp.Plan:
    return grbp.plan(4, (0.45, 0.5, 2), (0.2, 0.35, 2), [50, 300], replicas=100)


@pytest.fixture(scope="module")
def html(plan: grbp.Plan) -> str:
    return plan.report({"Command": HOSTILE})


@pytest.mark.slow
def test_the_page_is_well_formed_and_fetches_and_runs_nothing(html: str) -> None:
    page = check_report(html)
    assert len(page.all("svg")) == 2
    assert SEEN in "".join(e.text for e in page.all("dd"))


def test_the_sentence_comes_first_and_then_the_two_curves(html: str, plan: grbp.Plan) -> None:
    page = Page(html)
    (answer,) = (e for e in page.all("p") if e.attributes.get("class") == "answer")
    assert answer.text.replace("\xa0", " ") == " ".join(expectations(plan)[:2])
    told = page.all("html")[0].text.replace("\xa0", " ")
    assert " ".join(expectations(plan)[2:]) in told
    assert [e.text for e in page.all("h1", "h2")] == [
        "How much can be learned from 300 cases?",
        "To play the right policy is not yet to know it",
        "How many cases are enough?",
        "Further down",
        "What the words mean",
        "What learning costs",
        "Every truth",
        "Can the estimates be trusted afterwards?",
        "How this was made",
    ]
    assert html.index('class="answer"') < html.index("<svg") < html.index('id="cases"')


def test_every_truth_is_there_with_its_intervals(html: str, plan: grbp.Plan) -> None:
    rows = list(Page(html).cells())
    for truth in plan.truths:
        for cases in plan.cases:
            seen = truth.at(cases)
            name = [f"{truth.p_c:g}, {truth.p_f:g}", f"{cases:,}"]
            (row,) = (row for row in rows if row[:3] == [*name, str(truth.right)])
            assert row[3:5] == [format_interval(*seen.plays_right), format_interval(*seen.known)]


def test_a_stopped_study_and_one_after_records_say_so(plan: grbp.Plan) -> None:
    stopped = grbp.plan(4, 0.5, 0.2, 50, replicas=50, stop_at=0.9).report()
    told = Page(stopped).all("html")[0].text
    assert "settle on the wrong policy" in told
    assert "and stop when they are sure." in told
    more = replace(plan, past_cases=77).report()
    assert "How much can be learned from 300 more cases?" in more
    assert "after 77 past cases" in more


@pytest.mark.slow
def test_the_same_plan_gives_the_same_page(plan: grbp.Plan) -> None:
    assert plan.report() == plan.report()


def test_how_many_cases_come_first_where_that_was_asked() -> None:
    plan = grbp.plan(4, 0.65, (0.3, 0.4, 2), known=0.8, replicas=50)
    html = plan.report()
    page = check_report(html)
    assert [e.text for e in page.all("h1", "h2")][:2] == [
        "How many cases does it take to know the right policy?",
        "How many cases?",
    ]
    (answer,) = (e for e in page.all("p") if e.attributes.get("class") == "answer")
    assert answer.text.replace("\xa0", " ") == " ".join(needs(plan)[:2])
    rows = list(page.cells())
    for truth in plan.truths:
        assert [f"{truth.p_c:g}, {truth.p_f:g}", *describe_needed(truth)] in rows
    played = grbp.plan(4, 0.5, 0.25, 5, right=0.8, replicas=5).report()
    told = check_report(played).all("html")[0].text
    assert "to play the right policy?" in told
    assert "make its answer right as often" in " ".join(told.split())


def test_doubts_of_the_records_are_the_first_answer(plan: grbp.Plan) -> None:
    doubted = replace(plan, doubts=("Cases & more drift.",), decision="by-state", lost_by_state=2.0)
    page = check_report(doubted.report())
    (answer,) = (e for e in page.all("p") if e.attributes.get("class") == "answer")
    assert answer.text == (
        "The records raise doubts about the model on which this plan rests. Cases & more drift."
    )
    told = page.all("html")[0].text.replace("\xa0", " ")
    assert "the better threshold loses 2 goals in 100 cases against it." in told
    assert " ".join(expectations(plan)) in told
    grouped = replace(doubted, decision="by-group", by_group={HOSTILE: plan, "b": doubted})
    page = check_report(grouped.report())
    terms = [e.text for e in page.all("dt")]
    assert SEEN in "".join(terms)
    assert terms.index("b") < terms.index("All groups together")
    assert "Cases & more drift. With 300 cases" in page.all("html")[0].text


def test_the_page_says_with_what_a_learner_begins(plan: grbp.Plan) -> None:
    for past, words in ((0, "Before the first case nothing was seen"), (9, "what the past cases")):
        told = Page(replace(plan, past_cases=past).report()).all("html")[0].text
        assert words in " ".join(told.split())
        assert "weighs as much as one try" in told
