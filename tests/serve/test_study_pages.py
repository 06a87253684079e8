"""The pages by their tasks, in a real browser: as somebody uses them who has read nothing."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from browser import DESK, PHONE, Watched, misplaced
from fonts import WIDE
from serving import Serving

import grbp
from grbp.live.queries import read_states

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

pytestmark = pytest.mark.slow

_NAMES: Final = count(1)
_LOST: Final = ("failed: ", "net::ERR_FAILED")
_REFUSED: Final = ("status of 401", "status of 409")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("pages"), asking="admin") as found:
        yield found


@pytest.fixture
def study(server: Serving) -> grbp.Study:
    """A study with some past, in which CONTINUE is advised above state 1."""
    return grbp.Study.create(
        server.store,
        f"ward {next(_NAMES)}",
        goal=4,
        start=grbp.Counters(40, 20.0, 8.0, 60.0, 27.0, 0.0, 0.0, 0.0, 0.0),
        who="the office",
    )


def address(server: Serving, study: grbp.Study, rest: str = "") -> str:
    return f"{server.url}/studies/{study.name.replace(' ', '%20')}{rest}"


def confirm(page: "Page", *words: str) -> None:
    """Read what will be recorded, and agree."""
    said = page.locator("#confirm-said").inner_text()
    for word in words:
        assert word in said
    page.get_by_role("button", name="Yes, record it").click()


def kinds(study: grbp.Study, case: int | None = None) -> list[str]:
    return [event.kind for event in study.log(case=case)]


def test_a_case_from_its_opening_to_its_end(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study))
        assert "There are no cases yet." in page.inner_text("main")
        page.get_by_role("button", name="State 2").click()
        confirm(page, "Open a new case in state 2")
        page.wait_for_url("**/cases/1")
        assert page.inner_text("#said") == "Case 1 is open."
        assert page.inner_text("#title-do") == "Do this now: continue"

        page.get_by_role("button", name="Down to state 1").click()
        confirm(page, "Step 1 of case 1: continuing led down to state 1.")
        page.get_by_text("Step 1 is recorded.").wait_for()
        assert page.inner_text("#title-do") == "Do this now: finish"

        page.get_by_text("It was continuing instead").click()
        page.get_by_label("Why continuing?").fill("the patient asked for a week")
        page.get_by_role("button", name="Up to state 2").click()
        confirm(page, "instead of finishing, led up to state 2", "the patient asked for a week")
        page.get_by_text("Step 2 is recorded.").wait_for()
        assert "finishing was advised" in page.inner_text("main")

        page.get_by_text("Correct the last entry").click()
        page.get_by_label("What was wrong with it?").fill("that was another patient")
        page.get_by_role("button", name="Take it back").click()
        confirm(page, "Take back step 2 of case 1", "that was another patient")
        page.get_by_text("Step 2 is taken back.").wait_for()
        assert page.locator("tr.void").count() == 1

        page.get_by_text("Withdraw case 1").click()
        page.get_by_label("Why is it withdrawn?").fill("moved away")
        page.get_by_role("button", name="Withdraw it").click()
        confirm(page, "Withdraw case 1, which is in state 1", "moved away")
        page.get_by_text("Case 1 is withdrawn.").wait_for()
        assert page.inner_text("#title-do") == "Case 1: withdrawn"
        assert page.locator("form.tell").count() == 0

    assert kinds(study, 1) == ["open", "tell", "tell", "void", "close"]
    assert study.verify().ok
    assert all(event.key.startswith("page-") for event in study.log(case=1))


_WARD: Final[dict[str, Any]] = {
    "states": ["dead", "severe", "moderate", "mild", "home"],
    "actions": ["medication", "surgery"],
    "case_name": "patient",
}
_COUNT: Final = """addEventListener("click", (event) => {
  if (!event.isTrusted || event.detail === 0) return;  // A key or a script pressed it.
  sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks") ?? 0) + 1);
}, true);"""


@pytest.mark.parametrize(
    ("role", "size"), [("recorder", PHONE), ("admin", {"width": 1366, "height": 650})]
)
def test_every_task_takes_few_clicks(
    tmp_path: Path, browser: Watched, role: str, size: dict[str, int]
) -> None:
    """Opening and recording take two clicks, overruling, correcting and withdrawing three."""
    with (
        Serving(tmp_path) as server,
        browser.page(storage_state=server.signed_in(server.token(role)), viewport=size) as page,
    ):
        page.add_init_script(_COUNT)
        known = grbp.Counters(40, 20.0, 8.0, 60.0, 27.0, 0.0, 0.0, 0.0, 0.0)
        grbp.Study.create(server.store, "ward", 4, start=known, **_WARD)

        def take(
            most: int, done: str, *presses: "Locator", reason: tuple[str, str] = ("", "")
        ) -> None:
            """Press what there is to press, and count; what is typed is not counted."""
            page.evaluate("sessionStorage.removeItem('clicks')")
            for place, press in enumerate(presses):
                if reason[0] and place == 1:
                    page.get_by_label(reason[0]).fill(reason[1])
                press.click()
            page.get_by_text(done).first.wait_for()
            assert int(page.evaluate("sessionStorage.getItem('clicks')")) <= most, done

        def button(name: str) -> "Locator":
            return page.get_by_role("button", name=name, exact=True)

        page.goto(f"{server.url}/studies/ward")
        yes = button("Yes, record it")
        page.get_by_label("Bed or pseudonym").fill("B-12")
        take(2, "Patient 1 is open.", button("Moderate (2)"), yes)
        assert page.locator("h1 .code").inner_text() == "B-12"
        take(2, "Step 1 is recorded.", button("Down to severe (1)"), yes)
        instead = page.get_by_text("It was medication instead")
        take(3, "Step 2 is recorded.", instead, button("Up to moderate (2)"), yes,
             reason=("Why medication?", "she asked for it"))  # fmt: skip
        take(1, "It is undone.", button("Undo"))
        assert page.locator("tr.void").count() == 1
        if role == "admin":
            correct = page.get_by_text("Correct the last entry")
            take(3, "Step 1 is taken back.", correct, button("Take it back"), yes,
                 reason=("What was wrong with it?", "another patient"))  # fmt: skip
        withdraw = page.get_by_text("Withdraw patient 1", exact=True)
        take(3, "Patient 1 is withdrawn.", withdraw, button("Withdraw it"), yes,
             reason=("Why is it withdrawn?", "moved away"))  # fmt: skip
        for wanted in ("b-12", "1"):
            page.goto(f"{server.url}/studies/ward")
            page.get_by_label("Find a patient").fill(wanted)
            take(1, "Patient 1: withdrawn", button("Find"))
        page.get_by_text("Change the code").click()
        page.get_by_label("Bed or pseudonym").fill("")
        button("Save").click()
        page.get_by_text("The code is changed.").wait_for()
        assert page.locator(".code").count() == 0
        if role == "admin":
            page.goto(f"{server.url}/studies/ward")
            page.evaluate("sessionStorage.removeItem('clicks')")
            page.get_by_role("link", name="Log and export").click()
            with page.expect_download():
                page.get_by_role("link", name="Download the steps").click()
            assert page.evaluate("sessionStorage.getItem('clicks')") == "2"


def test_what_is_not_agreed_to_is_not_recorded(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    study.open_case(2)
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study, "/cases/1"))
        page.get_by_role("button", name="Up to state 3").click()
        page.get_by_role("button", name="No, go back").click()
        page.get_by_role("button", name="Up to state 3").click()
        page.keyboard.press("Escape")
        page.get_by_text("It was finishing instead").click()
        page.get_by_role("button", name="The goal").click()
        assert not page.locator("#confirm").is_visible()  # The reason is missing.
    assert kinds(study, 1) == ["open"]


def test_when_something_happened_is_told_by_the_own_clock(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    study.open_case(2, observed="2026-01-01T00:00Z")
    with browser.page(storage_state=server.signed_in(), timezone_id="America/New_York") as page:
        page.goto(address(server, study, "/cases/1"))
        page.get_by_text("It happened earlier than now").first.click()
        page.get_by_label("When was that?").first.fill("2026-02-03T04:05")
        page.get_by_role("button", name="Up to state 3").click()
        confirm(page, "It happened on", "4:05")
        page.get_by_text("Step 1 is recorded.").wait_for()
    assert study.log(case=1)[-1].observed == "2026-02-03T09:05:00.000000+00:00"


@pytest.mark.parametrize(("arrives", "by_itself"), [(False, True), (True, False)])
def test_a_broken_connection_records_once(
    server: Serving, study: grbp.Study, browser: Watched, arrives: bool, by_itself: bool
) -> None:
    study.open_case(2)
    keys: list[str | None] = []

    def broken(route: "Route") -> None:
        keys.append(route.request.header_value("Idempotency-Key"))
        if len(keys) > 2:
            route.continue_()
            return
        if arrives:
            route.fetch()
        route.abort()

    with browser.page(storage_state=server.signed_in(), meant=_LOST) as page:
        page.route("**/steps", broken)
        page.clock.install(time="2026-11-16T08:00:00")
        page.clock.pause_at("2026-11-16T08:00:01")  # Nothing is sent again by itself.
        page.goto(address(server, study, "/cases/1"))
        page.get_by_role("button", name="Up to state 3").click()
        confirm(page)
        page.get_by_text("Not recorded yet").wait_for()
        assert page.locator("form.tell button").first.is_disabled()
        page.reload()  # The entry outlives its page.
        page.get_by_text("Not recorded yet").wait_for()
        if by_itself:
            page.clock.run_for(1_001)
        else:
            page.get_by_role("button", name="Try now").click()
        page.get_by_text("Step 1 is recorded.").wait_for()
        twice = "This had been recorded before (event 3); nothing was recorded twice."
        assert page.get_by_text(twice).count() == arrives
        assert not page.locator("#outbox").is_visible()
        assert page.evaluate("localStorage.getItem('grbp-outbox')") == "[]"
    assert kinds(study, 1) == ["open", "tell"]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert study.log(case=1)[-1].key == keys[0]


def test_a_double_click_records_once(server: Serving, study: grbp.Study, browser: Watched) -> None:
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study))
        page.get_by_role("button", name="State 3").dblclick()
        page.locator("#confirm-yes").dblclick()
        page.wait_for_url("**/cases/1")
        page.get_by_role("button", name="Down to state 2").dblclick()
        page.evaluate(
            "() => { for (let i = 0; i < 5; i++) document.getElementById('confirm-yes').click(); }"
        )
        page.get_by_text("Step 1 is recorded.").wait_for()
    assert kinds(study) == ["study", "open", "tell"]


def test_the_keyboard_is_enough(server: Serving, study: grbp.Study, browser: Watched) -> None:
    def reach(page: "Page", name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = page.evaluate(
                "(document.activeElement.labels?.[0] ?? document.activeElement).innerText"
            )
            if name in (focused or ""):
                return
        raise AssertionError(f"{name} cannot be reached")

    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study))
        reach(page, "State 2")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "confirm-yes"
        page.keyboard.press("Enter")
        page.wait_for_url("**/cases/1")
        page.locator("#said").wait_for()
        assert page.evaluate("document.activeElement.id") == "said"
        reach(page, "Up to state 3")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.get_by_text("Step 1 is recorded.").wait_for()
    assert study.ask(1).state == 3


def _tour(server: Serving) -> dict[str, str]:
    """Make studies of all kinds; return the addresses of pages that show them."""
    random = iter([0.9, 0.1, 0.6, 0.3, 0.2, 0.8, 0.4, 0.7] * 40)
    ward = grbp.Study.create(server.store, "tour", goal=4, learner="getbe-sm", who="ada")
    for _ in range(30):
        advice = ward.open_case(1 + int(3 * next(random)))
        while advice.action is not None:
            finish = advice.action == grbp.Action.FINISH
            up, down = (4, 0) if finish else (advice.state + 1, advice.state - 1)
            advice = ward.tell(advice.case, up if next(random) < 0.45 else down)
    ward.open_case(1)
    ward.tell(31, 2, took="continue", why="she asked for it") if ward.ask(31).action else None
    grbp.Study.create(server.store, "nothing yet", goal=20, who="ada")
    shadow = grbp.Study.create(server.store, "shadow", goal=5, shadow=True, who="ada")
    shadow.open_case(3)
    shadow.tell(1, 2, took="continue")
    held = grbp.Study.create(
        server.store, "held", goal=30, windows={"continue": 2.0, "finish": 30.0}, who="ada"
    )
    held.open_case(14)
    held.tell(1, 15, took="continue", why="as agreed")
    grbp.Study.create(server.store, "far", goal=10_000_000, who="ada").open_case(5_000_000)
    groups = ["north", "a group with a rather long name", "south"]
    warned = grbp.Study.create(server.store, "warned", goal=4, who="ada")
    states = grbp.Study.create(
        server.store, "states", goal=5, model="state", memory=50, groups=groups, who="ada"
    )
    for case in range(1, 42):
        state = 2 if case == 41 else 1 if case % 2 else 3
        for one, more in ((warned, {}), (states, {"group": groups[case % 3]})):
            one.open_case(state, **more)
            if case < 41:
                one.tell(case, 0 if state == 1 else 4, took="continue", why="so it was")
    long = [f"a state with quite a long name {number}" for number in range(5)]
    words = grbp.Study.create(
        server.store, "words", goal=4, states=long, who="ada",
        actions=["wait and see for another whole week", "operate at once, whatever may come"],
        case_name="participant",
    )  # fmt: skip
    words.open_case(2, code="WWWWWWWWWWWWWWWW", who="whoever asks")
    words.tell(1, 3, took="continue", why="so it was", who="whoever asks")
    words.open_case(1, who="ada")
    words.tell(2, 4, took="finish", why="so it was", who="ada")
    return {
        "words": "/studies/words",
        "words case": "/studies/words/cases/1",
        "words over": "/studies/words/cases/2",
        "words evidence": "/studies/words/evidence",
        "words log": "/studies/words/log",
        "words found": "/studies/words?find=nothing",
        "warned": "/studies/warned",
        "warned case": "/studies/warned/cases/41",
        "begin again": "/?from=warned",
        "by state": "/studies/states?show=all",
        "by state case": "/studies/states/cases/41",
        "by state evidence": "/studies/states/evidence",
        "studies": "/?all=1",
        "cases": "/studies/tour",
        "case": "/studies/tour/cases/31",
        "over": "/studies/tour/cases/2",
        "evidence": "/studies/tour/evidence",
        "log": "/studies/tour/log",
        "empty": "/studies/nothing%20yet",
        "empty evidence": "/studies/nothing%20yet/evidence",
        "shadow": "/studies/shadow/cases/1",
        "held": "/studies/held/cases/1",
        "far": "/studies/far/cases/1",
        "sign in": "/sign-in",
    }


@pytest.mark.soak
def test_every_page_is_for_everybody(
    tmp_path: Path, browser: Watched, violations: Callable[..., list[str]]
) -> None:
    """Light and dark, at a desk and on a phone: no violation, and all fits in a wide font."""
    with Serving(tmp_path, asking="admin") as server:
        tour = _tour(server)
        ways: Any = ((DESK, "light", "dark"), (PHONE, "dark", "light"))
        for size, first, then in ways:
            with browser.page(
                storage_state=server.signed_in(), viewport=size, color_scheme=first, font=WIDE
            ) as page:
                for name, path in tour.items():
                    page.goto(server.url + path)
                    assert violations(page) == [], (name, size, first)
                    page.emulate_media(color_scheme=then)  # Colours are all that changes.
                    assert violations(page, "color-contrast") == [], (name, size, then)
                    page.emulate_media(color_scheme=first)
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    assert wide <= size["width"], (name, wide)
                    assert misplaced(page) == [], (name, size)
                page.goto(f"{server.url}/studies/tour/cases/31")
                for more in page.locator("summary").all():
                    more.click()
                assert violations(page) == [], "all of it unfolded"
                page.locator("form.tell button").first.click()
                assert violations(page) == [], "the question whether to record it"


def test_a_printed_case_has_what_is_known_and_no_questions(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    study.open_case(2, code="B-12", who="whoever asks")
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study, "/cases/1"))
        assert page.locator(".undo").is_visible()
        page.emulate_media(media="print")
        for shown in ("h1", "#title-do", "#title-why", "#title-history", ".map"):
            assert page.locator(shown).is_visible(), shown
        for asks in ("form", "button", "#title-record", "#title-mend", "header"):
            assert not any(one.is_visible() for one in page.locator(asks).all()), asks


def test_shadow_held_and_read_only_studies_say_so(
    tmp_path: Path, browser: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in()) as page,
    ):
        tour = _tour(server)
        page.goto(server.url + tour["shadow"])
        assert "Shadow mode" in page.inner_text("main")
        assert page.locator(".verdict").count() == 0
        page.get_by_role("button", name="The dead end").click()
        confirm(page, "finishing led to the dead end")
        page.get_by_text("Step 2 is recorded.").wait_for()
        assert "advised" not in page.inner_text("table")

        page.goto(server.url + tour["held"])
        assert "Step 1 is held" in page.inner_text("main")
        assert "does not count yet" in page.inner_text("table")

        monkeypatch.setattr(server.store, "checks", lambda: ["the disk is full"])
        page.goto(server.url + tour["case"])
        assert "This study can only be read. The disk is full." in page.inner_text("main")
        assert page.locator("form[data-send]").count() == 0
        page.goto(server.url + tour["cases"])
        assert page.locator("form[data-send]").count() == 0


def test_why_and_how_sure_are_shown(server: Serving, study: grbp.Study, browser: Watched) -> None:
    study.open_case(1)
    basis = study.ask(1).basis
    assert basis is not None
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study, "/cases/1"))
        why = page.locator("section", has=page.locator("#title-why"))
        text = why.inner_text()
        for number in (basis.p_f.estimate, basis.value_continue.estimate, basis.other_better):
            assert f"{100 * (number or 0):.1f} %" in text
        assert page.locator(".doubt").count() == page.locator(".point").count() == 1
        page.get_by_text("For statisticians").click()
        for sentence in basis.details():
            assert sentence in why.inner_text()

        page.get_by_role("button", name=re.compile("dead end")).click()
        confirm(page)
        page.get_by_role("link", name="How sure?").click()
        page.locator("#look").wait_for()
        now = page.inner_text("#then")
        assert now.startswith("After entry 3")
        page.get_by_label("Look back").focus()
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#then").startswith("After entry 2")
        page.get_by_text("For statisticians").click()
        assert "No regret bound of the paper applies" in page.inner_text("main")


def test_who_did_what_when_is_found_and_taken_along(
    server: Serving, study: grbp.Study, browser: Watched, tmp_path: Path
) -> None:
    for case in range(1, 41):
        study.open_case(2, who="the ward")
        study.tell(case, 3, who=f"nurse {case}")
    with browser.page(storage_state=server.signed_in()) as page:
        page.goto(address(server, study, "/log"))
        assert page.locator("tbody tr").count() == 50
        page.get_by_role("link", name="Older entries").click()
        page.wait_for_url("**before=*")
        assert page.locator("tbody tr").count() == 31
        page.locator("#case").fill("7")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**case=7")
        assert page.locator("tbody tr").count() == 2
        assert "nurse 7" in page.inner_text("table")
        page.get_by_role("button", name="Check that the log is intact").click()
        page.get_by_text("The log is intact: 81 entries").wait_for()
        files = {}
        for name in ("log", "steps", "backup"):
            with page.expect_download() as coming:
                page.get_by_role("link", name=re.compile(f"Download (the|a) {name}")).click()
            files[name] = tmp_path / name
            coming.value.save_as(files[name])
    assert files["log"].read_bytes() == b"".join(study.export_lines())
    assert len(files["steps"].read_text().splitlines()) == 41
    with closing(sqlite3.connect(files["backup"])) as copy:
        assert copy.execute("pragma quick_check").fetchone() == ("ok",)


def test_whoever_has_a_token_signs_in_and_sees_what_the_role_allows(
    tmp_path: Path, browser: Watched
) -> None:
    with Serving(tmp_path, asking="admin") as server, browser.page(meant=_REFUSED) as page:
        study = grbp.Study.create(server.store, "ward", goal=4, who="ada")
        study.open_case(2)
        study.tell(1, 3)
        tokens = server.everybody()
        page.goto(f"{server.url}/studies/ward/cases/1?x=1")
        assert page.url.startswith(f"{server.url}/sign-in?next=")
        page.get_by_label("Token").fill("grbp_wrong")
        page.keyboard.press("Enter")
        page.get_by_text("This token is unknown").wait_for()
        allowed = {
            "viewer": (0, 0, 0, 0), "recorder": (1, 0, 0, 0), "corrector": (1, 1, 0, 0),
            "statistician": (1, 1, 3, 0), "admin": (1, 1, 3, 1),
        }  # fmt: skip
        for role, token in tokens.items():
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/cases/1?x=1" if role == "viewer" else "**/studies/ward")
            page.goto(f"{server.url}/studies/ward/cases/1")
            assert f"the {role}, {role}" in page.inner_text(".who")
            forms = page.locator("form.tell").count(), page.locator("form[data-send$=void]").count()
            page.goto(f"{server.url}/studies/ward/log")
            files = page.locator("a[href^='/api/studies']").count()
            backup = page.locator("a[href='/api/backup']").count()
            assert (min(forms[0], 1), forms[1], files, backup) == allowed[role]
            page.get_by_role("button", name="Sign out").click()
            page.wait_for_url("**/sign-in")


def test_an_entry_waits_for_whoever_made_it(tmp_path: Path, browser: Watched) -> None:
    """A session ends between the page and the entry; somebody else signs in, then the first."""

    def sign_in(page: "Page", token: str) -> None:
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()

    with Serving(tmp_path, asking="admin") as server, browser.page(meant=_REFUSED) as page:
        study = grbp.Study.create(server.store, "ward", goal=4, who="ada")
        study.open_case(2)
        tokens = server.everybody()
        page.goto(f"{server.url}/studies/ward/cases/1")
        sign_in(page, tokens["recorder"])
        page.wait_for_url("**/cases/1")
        page.context.clear_cookies()
        page.get_by_role("button", name="Up to state 3").click()
        confirm(page)
        page.locator("#outbox").get_by_text("Your session has ended").wait_for()
        page.locator("#outbox").get_by_role("link", name="Sign in").click()
        sign_in(page, tokens["admin"])
        page.get_by_text("This was entered by the recorder").wait_for()
        assert study.ask(1).state == 2
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in")
        sign_in(page, tokens["recorder"])
        page.wait_for_url("**/studies/ward")
        page.get_by_text("Step 1 is recorded.").wait_for()
        assert [(event.kind, event.who) for event in study.log()][-1] == ("tell", "the recorder")


def test_an_entry_never_gets_into_another_study_of_the_same_name(
    tmp_path: Path, browser: Watched
) -> None:
    """A server was started anew at the same address, over another store."""
    entry = (
        "(url) => localStorage.setItem('grbp-outbox', JSON.stringify([{url, body: {state: 3},"
        " done: '', then: '', said: 'Record it.', actor: document.body.dataset.actor, id: 'other',"
        " page: location.pathname, key: 'k'}]))"
    )
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in()) as page,
    ):
        study = grbp.Study.create(server.store, "ward", goal=4, who="ada")
        study.open_case(2)
        page.goto(f"{server.url}/studies/ward/cases/1")
        page.evaluate(entry, "/api/studies/ward/cases/1/steps")
        page.reload()
        page.get_by_text("This was entered in another study of the same name").wait_for()
        page.goto(f"{server.url}/studies/ward")
        page.get_by_text("It is sent from the page where it was entered").wait_for()
        page.on("dialog", lambda asked: asked.accept())
        page.get_by_role("button", name="Give up").click()
        page.get_by_text("It will not be sent again").wait_for()
        assert page.evaluate("localStorage.getItem('grbp-outbox')") == "[]"
        assert kinds(study) == ["study", "open"]


def test_nothing_is_sent_before_the_page_is_ready(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    """The module comes late: a form that is sent without it records nothing and shows the token."""
    late: list[Any] = []
    with browser.page() as page:
        page.route("**/page.js", lambda route: late.append(route), times=1)  # noqa: PLW0108
        page.goto(f"{server.url}/sign-in", wait_until="commit")
        page.get_by_label("Token").fill(server.token("recorder"))
        page.keyboard.press("Enter")
        assert page.get_by_role("button", name="Sign in").is_disabled()
        assert page.url == f"{server.url}/sign-in"
        late.pop().continue_()
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Sign out").wait_for()
        page.route("**/page.js", lambda route: late.append(route), times=1)  # noqa: PLW0108
        page.goto(address(server, study), wait_until="commit")
        page.get_by_label("Bed or pseudonym").fill("B-2")
        page.keyboard.press("Enter")
        buttons = page.locator("form[data-send] button, #sign-out")
        assert buttons.count() >= 2
        assert all(one.is_disabled() for one in buttons.all())
        late.pop().continue_()
        page.get_by_role("button", name="State 2").click()
        confirm(page, "Open a new case in state 2")
        page.wait_for_url("**/cases/1")
    assert kinds(study, 1) == ["open"]


def test_a_slow_answer_keeps_the_question_open(
    server: Serving, study: grbp.Study, browser: Watched
) -> None:
    study.open_case(2)
    held: list[Any] = []
    with browser.page(storage_state=server.signed_in()) as page:
        page.route("**/steps", lambda route: held.append(route))  # noqa: PLW0108
        page.goto(address(server, study, "/cases/1"))
        page.get_by_role("button", name="Up to state 3").click()
        confirm(page)
        page.get_by_text("Recording …").wait_for()
        page.keyboard.press("Escape")
        assert page.locator("#confirm").is_visible()
        assert page.locator("#confirm-no").is_disabled()
        held[0].continue_()
        page.get_by_text("Step 1 is recorded.").wait_for()
    assert kinds(study, 1) == ["open", "tell"]


def test_a_first_study_is_made_on_the_page(tmp_path: Path, browser: Watched) -> None:
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in()) as page,
    ):
        page.goto(server.url)
        assert "There is no study here yet" in page.inner_text("main")
        page.get_by_label("Name", exact=False).first.fill("Nächte & <b>Tage")
        page.get_by_label("The number of the goal").fill("5")
        page.get_by_role("button", name="Make the study").click()
        confirm(page, "Nächte & <b>Tage", "goal 5")
        page.get_by_role("heading", name="Nächte & <b>Tage").wait_for()
        page.get_by_role("button", name="State 4").click()
        confirm(page)
        page.wait_for_url("**/cases/1")
        assert server.store.studies() == ["Nächte & <b>Tage"]


@pytest.mark.parametrize("people", ["patient", "person, people"])
def test_a_study_is_made_with_words_and_refuses_a_code_twice(
    tmp_path: Path, browser: Watched, people: str
) -> None:
    one, many = people.split(", ") if "," in people else (people, f"{people}s")
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in(), meant=_REFUSED) as page,
    ):
        page.goto(server.url)
        page.get_by_label("Name", exact=False).first.fill("ward")
        page.get_by_label("What is one case?").fill(people)
        page.get_by_label("The states, from the worst").fill("dead, severe,mild, home")
        page.get_by_label("What can be done?").fill("medication, surgery")
        page.get_by_role("button", name="Make the study").click()
        confirm(page, "the study ward with the goal 3")
        page.wait_for_url("**/studies/ward")
        status = grbp.Study(server.store, "ward").status()
        assert status.goal == 3
        assert status.labels == (
            ("dead", "severe", "mild", "home"), ("medication", "surgery"), (one, many),
        )  # fmt: skip
        grbp.Study(server.store, "ward").open_case(1, code="B-12")
        page.get_by_label("Bed or pseudonym").fill("b-12")
        page.get_by_role("button", name="Mild (2)").click()
        confirm(page, f"Open a new {one} in mild (2). Code: b-12.")
        page.locator("#refusal-said", has_text=f"it is the code of {one} 1").wait_for()
        page.get_by_role("button", name="Go back", exact=True).click()
        assert page.get_by_label("Bed or pseudonym").input_value() == "b-12"
        assert kinds(grbp.Study(server.store, "ward")) == ["study", "open"]


def test_a_study_begins_again_from_the_records_of_another(tmp_path: Path, browser: Watched) -> None:
    with (
        Serving(tmp_path, asking="admin") as server,
        browser.page(storage_state=server.signed_in()) as page,
    ):
        page.goto(server.url)
        page.get_by_label("Name", exact=False).first.fill("ward")
        page.get_by_text("If your cases differ").click()
        page.get_by_label("Groups").fill("north , south,")
        page.get_by_role("button", name="Make the study").click()
        confirm(page, "the study ward")
        page.wait_for_url("**/studies/ward")
        south = page.get_by_role("group", name="south")
        south.get_by_role("button", name="State 2").click()
        confirm(page, "of the group south in state 2")
        page.wait_for_url("**/cases/1")
        page.get_by_role("button", name="Up to state 3").click()
        confirm(page)
        page.get_by_text("Step 1 is recorded.").wait_for()
        page.goto(f"{server.url}/studies/ward")
        page.get_by_role("link", name="Begin a new study from these records").click()
        page.get_by_label("How are the states?").select_option("Each state has its own chances")
        page.get_by_label("Chances may change over time").check()
        page.get_by_role("button", name="Make the study").click()
        confirm(page, "the study ward 2", "from the records of ward")
        page.wait_for_url("**/studies/ward%202")
        assert "Nothing about states" in page.inner_text("main")
        status = grbp.Study(server.store, "ward 2").status()
        assert (status.model, status.memory, status.start) == ("state", "averaged", "records")
        lines = read_states(server.store, "ward 2", "south")
        assert [one.c for one in lines] == [0, 1, 0]
