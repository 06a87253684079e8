"""The page of a plan says what to expect, each number with its interval, as text."""

from dataclasses import replace

import pytest
from html_page import HOSTILE, SEEN, Page, check_report

import grbp
from grbp._format import format_interval
from grbp.planning.summary import expectations


@pytest.fixture(scope="module")
def plan() -> grbp.Plan:
    return grbp.plan(4, (0.45, 0.5, 2), (0.2, 0.35, 2), [50, 300], replicas=100)


@pytest.fixture(scope="module")
def html(plan: grbp.Plan) -> str:
    return plan.report({"Command": HOSTILE})


@pytest.mark.slow
def test_the_page_is_well_formed_and_fetches_and_runs_nothing(html: str) -> None:
    page = check_report(html)
    assert [bool(e.attributes["alt"]) for e in page.all("img")] == [True, True]
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
    assert html.index('class="answer"') < html.index("<picture") < html.index('id="cases"')


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
