"""What others record shows by itself, and whoever comes second reads who was first."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import numpy as np
import pytest
from browser import PHONE, Watched
from fonts import WIDE
from serving import Serving
from sockets import wait_until

import grbp
from grbp.live.kinds import describe_events
from grbp.serve import server_routes
from grbp.serve.settings import EVENT_STREAM, Settings

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

STATIC: Final = Path(server_routes.__file__).parent / "static"
_NAMES: Final = count(1)
_WARD: Final = "/api/studies/ward/events.ndjson"
_ACCEPT: Final = {"Accept": EVENT_STREAM}

_LISTEN: Final = """window.EventSource = class extends EventSource {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", () => { window.heard = (window.heard ?? 0) + 1; });
  }
}"""

_HIDE: Final = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("news"), asking="admin") as found:
        yield found


@pytest.fixture
def study(server: Serving) -> grbp.Study:
    """A study in which CONTINUE is advised above state 1, with a case in state 2."""
    known = grbp.Counters(40, 20.0, 8.0, 60.0, 27.0, 0.0, 0.0, 0.0, 0.0)
    made = grbp.Study.create(server.store, f"ward{next(_NAMES)}", 4, start=known, who="the office")
    made.open_case(2, who="the office")
    return made


def show(page: "Page", server: Serving, study: grbp.Study, rest: str = "/cases/1") -> None:
    """Go to a page, and wait until it follows the study."""
    with page.expect_response("**/events.ndjson*"):
        page.goto(f"{server.url}/studies/{quote(study.name)}{rest}")


def read_news(page: "Page", words: str) -> None:
    """Wait until a page says something that is new."""
    page.locator("#news", has_text=words).wait_for()


def assert_fits(page: "Page", violations: Callable[..., list[str]]) -> None:
    """Refuse what somebody cannot read, and what is wider than the window."""
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def field(page: "Page", route: str, name: str) -> "Locator":
    """Return the field of a form by what it sends, whatever words the page has for it."""
    return page.locator(f"form[data-send$='/{route}'] [name={name}]").first


def unfold(page: "Page", route: str, name: str) -> "Locator":
    """Unfold a field, and return it."""
    found = field(page, route, name)
    found.locator("xpath=ancestor::details[1]/summary").click()
    return found


def press(page: "Page", state: int) -> None:
    """Say to which state a step led."""
    button = page.locator(f"form[data-send$='/steps'] button[value='{state}']")
    button.locator("visible=true").first.click()


def say_last(study: grbp.Study) -> str:
    """Say what was recorded last, as the history of a page does."""
    return describe_events(study.log()[-1:], 4, study.status().labels, shadow=False)[0].what


def agree(page: "Page") -> None:
    page.get_by_role("button", name="Yes, record it").click()


# The stream as browsers read it.


def parse(text: str) -> list[dict[str, Any]]:
    """Read server-sent events, which say their number twice."""
    events = []
    for part in text.split("\n\n")[:-1]:
        if not part.startswith(":"):
            number, data = part.split("\n")
            events.append(json.loads(data.removeprefix("data: ")))
            assert number == f"id: {events[-1]['seq']}"
    return events


def test_a_browser_gets_the_same_events_with_their_words(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="viewer") as server:
        study = grbp.Study.create(server.store, "ward", 4)
        study.open_case(2)
        study.tell(1, 3, took="continue", why="so it was")
        answer = server.ask("GET", _WARD, headers=_ACCEPT)
        assert answer.headers["content-type"].startswith(EVENT_STREAM)
        lines = [json.loads(line) for line in server.ask("GET", _WARD).text.splitlines()]
        events = parse(answer.text)
        assert events[-1]["what"] == say_last(study)
        assert [{k: v for k, v in one.items() if k != "what"} for one in events] == lines
        for after, last in ((0, 2), (2, 0), (1, 2), (2, 1)):
            more = {**_ACCEPT, "Last-Event-ID": str(last)}
            rest = server.ask("GET", f"{_WARD}?after={after}", headers=more).text
            assert parse(rest) == events[2:]
        bad = server.ask("GET", _WARD, headers={**_ACCEPT, "Last-Event-ID": "x"})
        assert bad.status_code == 422


def test_silence_is_broken_for_browsers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_routes, "LONGEST_SILENCE", 0.0)
    with Serving(tmp_path, asking="viewer") as server:
        study = grbp.Study.create(server.store, "ward", 4)
        path = f"{_WARD}?after=1&follow=60"
        with server.http.stream("GET", path, headers=server.bearer() | _ACCEPT) as stream:
            parts = stream.iter_lines()
            assert [next(parts) for _ in range(6)] == [": nothing new", "retry: 1000", ""] * 2
        with server.http.stream("GET", path, headers=server.bearer()) as stream:
            study.open_case(2)
            assert json.loads(next(stream.iter_lines()))["seq"] == 2


def test_ten_people_with_three_pages_each_find_a_place() -> None:
    limits = Settings()
    assert limits.each_streams >= 10  # One page of each is in sight, if they share a token.
    assert 0.9 * limits.most_streams >= 30  # All are, if nobody shares one.


def test_the_reference_says_how_long_silence_lasts() -> None:
    root = Path(__file__).parents[2]
    said = (root / "docs/reference/serve.md").read_text("utf-8")
    asks = re.search(r"ASK_AGAIN = ([\d_]+);", (STATIC / "follow.js").read_text("utf-8"))
    assert asks
    assert f"at least every {server_routes.LONGEST_SILENCE:g} s" in said
    assert f"by asking every {int(asks[1]) / 1000:g} s" in said


# Two browsers.


def test_what_one_records_the_other_sees(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    ada, eve = (server.token("recorder") for _ in "ab")
    with (
        browser.page(storage_state=server.signed_in(ada)) as one,
        browser.page(storage_state=server.signed_in(eve), timezone_id="Asia/Tokyo") as other,
        browser.page(storage_state=server.signed_in(eve)) as cases,
        browser.page(storage_state=server.signed_in(eve)) as log,
    ):
        show(one, server, study)
        show(other, server, study)
        show(cases, server, study, "")
        show(log, server, study, "/log")
        before = other.inner_text("#title-do")
        press(one, 1)
        agree(one)
        one.get_by_text("Step 1 is recorded.").wait_for()
        actor, words = one.locator("body").get_attribute("data-actor"), say_last(study)
        read_news(other, f"{actor} recorded: {words}")
        assert other.inner_text("#title-do") != before
        row = other.locator("tbody tr").first
        assert row.locator(".what").inner_text() == words
        assert "UTC" not in row.inner_text()
        for page in (cases, log):
            read_news(page, f"{actor} recorded for case 1: {words}")
        assert log.locator("tbody tr").count() == 3
        # The page is as good as one that was loaded, and a question says what is new.
        press(other, 4)
        assert words in other.inner_text("#confirm-note")
        agree(other)
        other.get_by_text("Step 2 is recorded.").wait_for()
        one.locator(".verdict:not(.finish, .continue)").wait_for()
        cases.locator("#title-cases ~ table").wait_for(state="detached")
    assert study.status().cases["won"] == 1


def test_what_is_chosen_typed_and_unfolded_stays(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    with browser.page(storage_state=server.signed_in()) as page:
        show(page, server, study, "")
        field(page, "cases", "code").fill("B-3")
        when = unfold(page, "cases", "observed")
        when.fill("2026-02-03T04:05")
        when.focus()
        form = page.evaluate_handle("document.querySelector('form[data-send]')")
        study.open_case(1, who="eve")
        read_news(page, f"eve recorded for case 2: {say_last(study)}")
        assert page.locator("#title-cases ~ table tbody tr").count() == 2
        assert field(page, "cases", "code").input_value() == "B-3"
        assert when.is_visible()
        assert when.input_value() == "2026-02-03T04:05"
        assert page.evaluate("document.activeElement.id") == "observed"
        assert page.evaluate("(form) => form.isConnected", form)  # It was not touched at all.


def test_a_form_that_means_something_else_is_not_changed_under_the_hand(
    server: Serving, study: grbp.Study, browser: Watched, violations: Callable[..., list[str]]
) -> None:
    with browser.page(storage_state=server.signed_in(), viewport=PHONE, font=WIDE) as page:
        show(page, server, study)
        unfold(page, "withdraw", "why").fill("moved away")
        unfold(page, "steps", "why").fill("she asked for it")
        before = page.inner_text("#title-do")
        study.tell(1, 1, who="eve")
        read_news(page, f"eve recorded: {say_last(study)}")
        assert page.inner_text("#title-do") == before
        assert field(page, "steps", "why").input_value() == "she asked for it"
        assert_fits(page, violations)
        page.get_by_role("button", name="Show it").click()
        page.locator("tr .what", has_text=say_last(study)).wait_for()
        assert page.inner_text("#title-do") != before
        assert field(page, "withdraw", "why").input_value() == "moved away"
        assert field(page, "withdraw", "why").is_visible()
        assert field(page, "steps", "why").input_value() == ""  # It asks for something else now.
        said = page.inner_text("#said")
        assert said.startswith("eve recorded: Step 1")
        assert said.endswith("You had typed: “she asked for it”.")
        assert page.evaluate("document.activeElement.id") == "said"


def test_what_somebody_reads_stays_in_its_place(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    for _ in range(60):
        study.open_case(2)
    with browser.page(storage_state=server.signed_in()) as page:
        show(page, server, study, "/log")
        row = page.locator("tr[data-seq='40']")
        row.scroll_into_view_if_needed()
        place = "(row) => row.getBoundingClientRect().top"
        assert page.evaluate("scrollY") > 0
        handle = row.element_handle()
        before = page.evaluate(place, handle)
        for case in (1, 2):
            study.tell(case, 3, who="eve")
            read_news(page, f"eve recorded for case {case}: Step 1")
        assert page.evaluate("(row) => row.isConnected", handle)
        assert abs(page.evaluate(place, handle) - before) < 2
        assert page.locator("tr[data-seq]").count() == 50


@pytest.mark.parametrize("same", [False, True])
def test_whoever_comes_second_reads_who_was_first(
    server: Serving,
    study: grbp.Study,
    browser: Watched,
    violations: Callable[..., list[str]],
    same: bool,
) -> None:
    meant = ("status of 409",)
    with browser.page(
        storage_state=server.signed_in(),
        meant=meant,
        viewport=PHONE,
        color_scheme="dark",
        font=WIDE,
    ) as page:
        page.add_init_script(_LISTEN)
        show(page, server, study)
        unfold(page, "steps", "why").fill("she asked for it")
        press(page, 4)
        first = page.locator("body").get_attribute("data-actor") if same else "eve"
        study.tell(1, 3, who=first)
        wait_until(lambda: page.evaluate("window.heard"))
        page.evaluate("fetch(location.href).then(() => null)")  # As long as news would take.
        assert page.locator("#news").is_hidden()  # Nothing changes while a question is open.
        assert page.locator("tr[data-seq]").count() == 1
        agree(page)
        page.get_by_text("This is already recorded").wait_for()
        who = "You" if same else "Your colleague eve"
        assert page.inner_text("#refusal-said") == (
            f"{who} already recorded: {say_last(study)} Your entry was not recorded."
        )
        (button,) = [one for one in page.locator("#refusal button").all() if one.is_visible()]
        assert button.inner_text() == "Show the case"
        assert_fits(page, violations)
        button.click()
        page.locator("tr .what", has_text=say_last(study)).wait_for()
        assert field(page, "steps", "why").input_value() == "she asked for it"
        assert field(page, "steps", "why").is_visible()
        press(page, 0)
        assert "step 2" in page.inner_text("#confirm-said").lower()
        agree(page)
        page.get_by_text("Step 2 is recorded.").wait_for()
    assert [event.step for event in study.log(case=1)] == [0, 1, 2]


def test_news_are_said_in_the_words_of_the_study(server: Serving, browser: Watched) -> None:
    study = grbp.Study.create(
        server.store, "in words", 4, states=["dead", "severe", "moderate", "mild", "home"],
        actions=["medication", "surgery"], case_name="patient", who="the office",
    )  # fmt: skip
    with browser.page(storage_state=server.signed_in()) as page:
        show(page, server, study, "")
        study.open_case(2, who="eve")
        read_news(page, "eve recorded for patient 1: Opened in moderate (2)")
        study.tell(1, 3, took="continue", why="so it was", who="eve")
        read_news(page, "eve recorded for patient 1: Step 1: medication led from")


def test_another_refusal_is_the_servers_sentence(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    with browser.page(storage_state=server.signed_in(), meant=("status of 422",)) as page:
        show(page, server, study)
        unfold(page, "steps", "observed").fill("2999-01-01T00:00")
        press(page, 3)
        agree(page)
        page.get_by_role("button", name="Go back", exact=True).wait_for()
        said = page.inner_text("#refusal-said")
        assert said.startswith("Observed = ")
        assert said.endswith(".")
        page.get_by_role("button", name="Go back", exact=True).click()
        assert field(page, "steps", "observed").input_value() == "2999-01-01T00:00"


def test_a_page_that_nobody_sees_holds_no_stream(tmp_path: Path, browser: Watched) -> None:
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in()) as page,
    ):
        study = grbp.Study.create(server.store, "ward", 4)
        streams = server.app.state.server.streams
        show(page, server, study, "")
        wait_until(lambda: streams.taken == 1)
        page.evaluate(_HIDE, True)
        wait_until(lambda: streams.taken == 0)
        study.open_case(2, who="eve")
        page.evaluate(_HIDE, False)
        read_news(page, f"eve recorded for case 1: {say_last(study)}")
        assert streams.taken == 1
        page.goto("about:blank")
        wait_until(lambda: streams.taken == 0)


def test_where_there_is_no_place_for_a_stream_the_page_asks(
    tmp_path: Path, browser: Watched
) -> None:
    with (
        Serving(tmp_path, asking="admin", each_streams=0) as server,
        browser.page(storage_state=server.signed_in(), meant=("status of 429",)) as page,
    ):
        study = grbp.Study.create(server.store, "ward", 4)
        show(page, server, study, "")
        study.open_case(2, who="eve")
        read_news(page, "eve recorded something new for case 1.")
        assert page.locator("#title-cases ~ table tbody tr").count() == 1


def test_a_stream_ends_with_its_token_and_the_page_says_so(
    tmp_path: Path, browser: Watched
) -> None:
    meant = ("status of 401",)
    with Serving(tmp_path, asking="admin") as server:
        study, token = grbp.Study.create(server.store, "ward", 4), server.token("recorder")
        with browser.page(storage_state=server.signed_in(token), meant=meant) as page:
            show(page, server, study, "")
            field(page, "cases", "code").fill("B-3")
            wait_until(lambda: server.app.state.server.streams.taken == 1)
            server.tokens.revoke(server.tokens.all()[-1].id)
            wait_until(lambda: server.app.state.server.streams.taken == 0)
            read_news(page, "Your session has ended")
            assert field(page, "cases", "code").input_value() == "B-3"


def test_a_look_back_stays_where_it_is(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    study.open_case(2, who="the office")
    with browser.page(storage_state=server.signed_in()) as page:
        show(page, server, study, "/evidence")
        page.locator("#look").wait_for()
        page.get_by_label("Look back").focus()
        page.keyboard.press("ArrowLeft")
        assert page.get_by_label("Look back").get_attribute("max") == "1"
        before = page.inner_text("#then")
        assert before.startswith("After entry 2")
        study.open_case(2, who="eve")
        read_news(page, "eve recorded for case 3")
        wait_until(lambda: page.get_by_label("Look back").get_attribute("max") == "2")
        assert page.inner_text("#then") == before
        assert page.evaluate("document.activeElement.id") == "moment"
        page.keyboard.press("End")
        assert page.inner_text("#then").startswith("After entry 4")


# How a page is renewed.


def draw(chance: np.random.Generator, depth: int = 0) -> str:
    """Draw a piece of a page."""
    kind = chance.choice(["p", "ul", "form", "details", "text", "text"] if depth < 4 else ["text"])
    if kind == "text":
        return str(chance.choice(["one", "two", "<br>", "<input name=why value=x>"]))
    inside = "".join(draw(chance, depth + 1) for _ in range(chance.integers(4)))
    head = f"<summary>{chance.choice(['a', 'b'])}</summary>" if kind == "details" else ""
    marks = chance.choice(["", " class=a", " data-send=/b", " class=a hidden"])
    return f"<{kind}{marks}>{head}{inside}</{kind}>"


def test_a_renewed_page_is_the_newer_one(server: Serving, browser: Watched) -> None:
    chance = np.random.default_rng(29)
    pairs = [[draw(chance), draw(chance)] for _ in range(300)]
    renewed = """async (pairs) => {
      const { renew } = await import("/static/renewal.js");
      return pairs.filter((pair) => {
        const [now, newer] = pair.map((text) => {
          const place = document.createElement("div");
          place.innerHTML = text;
          return place;
        });
        const wanted = newer.cloneNode(true);
        renew(now, newer);
        return !now.isEqualNode(wanted);
      });
    }"""
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(f"{server.url}/?all=1")
        assert page.evaluate(renewed, pairs) == []
