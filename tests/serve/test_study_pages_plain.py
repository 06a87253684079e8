"""What pages say and are made of, without a browser."""

import html
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import httpx
import pytest
from serving import ROLES_BY_ROUTE, Serving, refused

import grbp
from grbp.live.kinds import describe_events
from grbp.live.queries import read_config, read_states
from grbp.live.wording import describe_choice, describe_granted
from grbp.serve.drawing import Frame, draw_chain, draw_map
from grbp.serve.rendering import describe_regret
from grbp.theory.values import boundary

pytestmark = pytest.mark.slow

HTML = {"Accept": "text/html"}


def _played(
    store: object, name: str, learner: str | None = "doorstep-optimal", **more: object
) -> grbp.Study:
    """Return a study with twelve cases, one of them in progress."""
    study = grbp.Study.create(store, name, 4, learner, who="ada", **more)  # type: ignore[arg-type]
    for case in range(1, 13):
        study.open_case(1 + case % 3)
        state = study.ask(case).state
        for step in range(9):
            if case == 12 or study.ask(case).status != "open":
                break
            finish = step == 8 or (state == 1 and case % 2)
            state = (4 if case % 3 else 0) if finish else state + (1 if (case + step) % 3 else -1)
            study.tell(case, state, took="finish" if finish else "continue", why="so it was")
    return study


def leave_out_folds(text: str) -> str:
    """Return what everybody reads of a page: all but what is for statisticians."""
    return re.sub(r'(?s)<details class="more statisticians">.*?</details>', "", text)


def test_the_path_ends_where_the_study_stands(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        study = _played(server.store, "ward")
        status = study.status()
        for points in (1, 2, 7, 1_000):
            answer = server.ask("GET", f"/api/studies/ward/path?points={points}")
            items = answer.json()["items"]
            events = [one["event"] for one in items]
            assert len(items) <= points
            assert events == sorted(set(events))
            last = items[-1]
            assert last["event"] == status.events
            assert last["cases"] == status.cases["opened"] == 12
            basis = status.basis.to_dict()
            assert [last[name] for name in ("p_c", "p_f", "boundary")] == [
                basis[name] for name in ("p_c", "p_f", "boundary")
            ]
            assert last["next_threshold"] == status.next_threshold
        assert events == list(range(2, status.events + 1))  # all of them, from the first case on
        for wrong in ("0", "1001", "x"):
            refused(server.ask("GET", f"/api/studies/ward/path?points={wrong}"), 422)
        refused(server.ask("GET", "/api/studies/nothing/path"), 404)


def test_the_path_is_what_each_case_was_decided_from(tmp_path: Path) -> None:
    """The moment before a case was opened is the basis that the case keeps."""
    with Serving(tmp_path, asking="admin") as server:
        study = _played(server.store, "ward", start="first")
        moments = {one.event: one for one in study.trajectory(1_000)}
        opened = [event for event in study.log(limit=1_000) if event.kind == "open"]
        compared = 0
        for event in opened[1:]:
            known, before = study.basis(event.case, 1), moments[event.seq - 1]
            assert known is not None
            assert before.next_threshold == known.threshold
            for name in ("p_c", "p_f", "boundary"):
                then, now = getattr(known, name), getattr(before, name)
                assert all(a == b or math.isnan(a) for a, b in zip(then, now, strict=True))
                compared += 1
        assert compared == 33


def test_the_path_of_a_study_in_shadow_mode_says_no_threshold_but_to_statisticians(
    tmp_path: Path,
) -> None:
    with Serving(tmp_path, asking="admin") as server:
        _played(server.store, "ward", shadow=True)
        tokens = server.everybody()
        for role, hidden in (("viewer", True), ("corrector", True), ("statistician", False)):
            answer = server.ask("GET", "/api/studies/ward/path", tokens[role])
            thresholds = {one["next_threshold"] for one in answer.json()["items"]}
            assert (thresholds == {None}) is hidden


def test_pages_have_nothing_inline_and_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        _played(server.store, 'a "b" <i>&c')
        _played(server.store, "ward")
        paths = [
            path.replace("{study}", name).replace("{case}", "12").replace("{file}", "page.css")
            for method, path in ROLES_BY_ROUTE
            if method == "GET" and not path.startswith(("/api", "/static"))
            for name in ("ward", "a%20%22b%22%20%3Ci%3E%26c")
        ]
        pages = 0
        for path in [*paths, "/?all=1", "/studies/none", "/nowhere"]:
            answer = server.ask("GET", path, headers=HTML)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            pages += 1
            text = answer.text
            assert "style-src 'self';" in answer.headers["content-security-policy"]
            assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", text), path
            assert not re.search(r"(src|href)=\"(https?:|//)", text), path
            assert "<i>" not in text.replace("<i>D", "").replace("<i>G", "") or path == "/explore"
        assert pages >= 14


def test_browsers_get_pages_where_programs_get_problems(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        answer = server.ask("GET", "/studies/none", headers=HTML)
        assert answer.status_code == 404
        assert "there is none of this name" in answer.text
        assert answer.headers["x-frame-options"] == "DENY"
        refused(server.ask("GET", "/studies/none"), 404)
        refused(server.ask("GET", "/api/studies/none", headers=HTML), 404)
        answer = server.ask("GET", "/studies/a%2Fb/log?case=1", "", headers=HTML)
        assert answer.status_code == 303
        where = answer.headers["location"]
        assert where.startswith("/sign-in?next=%2Fstudies%2F")
        assert server.ask("GET", where, "", headers=HTML).status_code == 200
        refused(server.ask("GET", "/studies/ward", ""), 401)


@pytest.mark.parametrize("bad", ["//evil.example", "/\\evil.example", "https://evil.example", "x"])
def test_the_sign_in_leads_nowhere_else(tmp_path: Path, bad: str) -> None:
    with Serving(tmp_path, asking="admin") as server:
        text = server.http.get("/sign-in", params={"next": bad}).text
        assert 'data-next="/"' in text
        text = server.http.get("/sign-in", params={"next": "/studies/ward?case=1"}).text
        assert 'data-next="/studies/ward?case=1"' in text


def test_what_pages_load_is_theirs_alone_and_asked_for_anew(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        for file in ("/static/page.css", "/static/palette.css"):
            answer = server.ask("GET", file)
            assert answer.headers["content-type"].startswith("text/css")
            assert answer.headers["cache-control"] == "no-cache"
            again = server.ask("GET", file, headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        for bad in ("../app.py", "..%2Fapp.py", "%2e%2e%2fapp.py", "nothing.js", "."):
            assert server.ask("GET", f"/static/{bad}").status_code in (404, 401)


def test_one_study_is_gone_to_at_once(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        assert server.ask("GET", "/").status_code == 200
        grbp.Study.create(server.store, "a b", 4)
        answer = server.ask("GET", "/")
        assert (answer.status_code, answer.headers["location"]) == (303, "/studies/a%20b")
        assert server.ask("GET", "/?all=1").status_code == 200


def test_pages_ask_how_many_cases_will_come_and_say_when_they_are_over(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        form = server.ask("GET", "/", headers=HTML).text
        assert "About how many will there be?" in form
        assert 'name="cases" data-kind="number"' in form
        made = server.ask("POST", "/api/studies", json={"name": "ward", "goal": 4, "cases": 1})
        assert (made.status_code, made.json()["planned"]) == (201, 1)
        page = server.ask("GET", "/studies/ward", headers=HTML).text
        assert "Planned for 1 case, of which 0 were opened." in page
        grbp.Study(server.store, "ward").open_case(2)
        page = server.ask("GET", "/studies/ward", headers=HTML).text
        assert "goes on as if it did not know how many come" in page
        for bad in (0, 2.5, "many"):
            body = {"name": "next", "goal": 4, "cases": bad}
            refused(server.ask("POST", "/api/studies", json=body), 422)
        body = {"name": "next", "goal": 4, "learner": "getbe-sm", "cases": 9}
        refused(server.ask("POST", "/api/studies", json=body), 422)


def test_a_history_says_what_was_taken_back_and_what_counts() -> None:
    study = grbp.Study.create("memory", "ward", 4, windows={"continue": 1.0}, who="ada")
    study.open_case(2)
    study.tell(1, 3)
    study.tell(1, 2)
    study.void(1, "wrong bed")
    study.withdraw_case(1, "gone")
    study.void(1, "not gone")
    study.tell(1, 4)
    log = study.log(case=1)
    back = study.find_taken_back(log)
    lines = describe_events(log, 4, shadow=False, taken_back=back)
    assert [line.event.seq for line in lines if line.taken_back] == [4, 6]
    assert [line.event.seq for line in lines if "taken back" in line.notes] == [4, 6]
    assert [line.event.seq for line in lines if "does not count yet" in line.notes] == [3, 4, 8]
    lines = describe_events(log, 4, shadow=False, taken_back=back, waiting={8})
    assert [line.event.seq for line in lines if "does not count yet" in line.notes] == [8]
    assert [line.why for line in lines if line.why] == ["wrong bed", "gone", "not gone"]


def test_a_damaged_event_is_said_to_be_damaged() -> None:
    study = grbp.Study.create("memory", "ward", 4)
    study.open_case(2)
    event = study.log()[1]
    for broken in (event._replace(request="{"), event._replace(response="[]")):
        assert "damaged" in describe_events([broken], 4, shadow=False)[0].what


def _alarmed(store: object, name: str, **more: object) -> grbp.Study:
    """Return a study whose cases move down from state 1 and up from state 3; one is open."""
    study = grbp.Study.create(store, name, 4, who="ada", **more)  # type: ignore[arg-type]
    for case in range(1, 41):
        state = 1 if case % 2 else 3
        study.open_case(state)
        study.tell(case, 0 if state == 1 else 4, took="continue", why="so it was")
    study.open_case(2)
    return study


def test_pages_warn_of_what_the_advice_takes_for_granted(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        study, allows = _alarmed(server.store, "ward"), _alarmed(server.store, "x", model="state")
        (alarm,) = study.status().alarms or ()
        sentence = "A new study in which each state has its own chances would fit better."
        recorder = server.token("recorder")
        case = server.ask("GET", "/studies/ward/cases/41", recorder, headers=HTML).text
        assert case.index("Do this now") < case.index(sentence) < case.index("Why this advice?")
        assert '<a href="/studies/ward#title-fit">What you can do about it</a>' in case
        assert sentence not in server.ask("GET", "/studies/ward/cases/1", headers=HTML).text
        for token, button in ((recorder, False), (None, True)):
            page = server.ask("GET", "/studies/ward", token, headers=HTML).text
            assert "The same chances in every state." in page
            assert "The chance that continuing moves up differs from state to state" in page
            assert f'href="/studies/ward/cases/{alarm.case}">Case {alarm.case}</a>' in page
            assert sentence in page
            assert ("Somebody with the role admin can begin a new study" in page) is not button
            assert ('<a class="button" href="/?from=ward">' in page) is button
        page = server.ask("GET", "/studies/x", headers=HTML).text
        assert allows.status().alarms
        assert "The advice allows for that." in page
        assert "do not look as the advice assumes" not in page
        assert "Take care" not in server.ask("GET", "/studies/x/cases/41", headers=HTML).text


def test_a_form_begins_a_study_from_the_records_of_another(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        _alarmed(server.store, "ward", windows={"finish": 2.0}, level=0.9)
        grbp.Study.create(server.store, "quiet", 5, groups=["north", "south"], memory=50)
        form = server.ask("GET", "/?from=ward", headers=HTML).text
        for part in ('name="from" value="ward"', 'name="level" data-kind="number" value="0.9"',
                     'value=\'{"finish": 2.0}\'', 'value="ward 2"'):  # fmt: skip
            assert part in form, part
        assert not re.search('<option value="one" selected|id="memory"[^>]* checked', form)
        form = server.ask("GET", "/?from=quiet", headers=HTML).text
        assert 'value="north, south"' in form
        assert re.search('<option value="one" selected', form)
        assert re.search('id="memory"[^>]* checked', form)
        viewer = server.ask("GET", "/?from=ward", server.token("statistician"), headers=HTML).text
        assert "<form data-send" not in viewer
        assert server.ask("GET", "/?from=none", headers=HTML).status_code == 404


def test_pages_of_a_study_by_state_say_it_in_plain_words(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        study = grbp.Study.create(
            server.store, "ward", 4, model="state", memory=50, groups=["north", "south"], who="ada"
        )
        for case in range(1, 13):
            study.open_case(1 + case % 3, group="south")
            study.tell(case, 4 if case % 2 else 0, took="finish", why="so it was")
        study.open_case(2, group="north")
        pages = {
            path: server.ask("GET", path, headers=HTML).text
            for path in ("/?all=1", "/studies/ward?group=south", "/studies/ward/cases/13",
                         "/studies/ward/cases/1", "/studies/ward/evidence?group=south")
        }  # fmt: skip
        for path, text in pages.items():
            body = text[text.index("<main") :]
            assert not re.search(r"(?i)e-process|e-value|policy", body), path
            assert "psrl" not in leave_out_folds(body), path
        lines = read_states(server.store, "ward", "south")
        assert [one.f for one in lines] == [4, 4, 4]
        for path in ("/studies/ward?group=south", "/studies/ward/evidence?group=south"):
            for one in lines:
                share = f"{100 * one.p_f.estimate:.1f}"
                cell = rf"State {one.state}</th>(?s:.*?)goal \(4\)\">{share}.%.in {one.f} tries"
                assert re.search(cell, pages[path]), path
            assert pages[path].count("not tried yet") == 3
        assert "Group north." in pages["/studies/ward/cases/13"]
        for group in ("north", "south"):
            also = f"""name="state" value="3" data-also='{{"group": "{group}"}}'"""
            assert also in pages["/studies/ward?group=south"]


def test_forced_exploration_is_said_plainly(tmp_path: Path) -> None:
    poor = grbp.Counters(40, 6.0, 1.0, 60.0, 36.0, 0.0, 0.0, 0.0, 0.0)
    with Serving(tmp_path, asking="admin") as server:
        starts = {"forced": poor, "unseen": "first", "drawn": "drawn"}
        texts = {}
        for name, start in starts.items():
            study = grbp.Study.create(server.store, name, 4, "getbe-sm", start=start)
            study.open_case(1 if name == "unseen" else 2)
            texts[name] = server.ask("GET", f"/studies/{name}/cases/1").text
            basis = study.ask(1).basis
            assert basis is not None
            learns = basis.forced and name != "unseen"
            assert ("This is to learn:" in texts[name]) is learns
        assert "by what the study counts so far, continuing is better here" in texts["forced"]
        first = "Nothing is known about continuing yet: somebody has to be the first."
        assert first in texts["unseen"]


def test_regret_is_bounded_only_where_the_theorem_applies() -> None:
    counters = grbp.Counters(900, 3e5, 2.7e5, 6e5, 2.4e5, 0.0, 0.0, 0.0, 0.0)
    said = {}
    for name, learner in (
        ("no", "getbe-sm"),
        ("yes", "getbe-sm:gamma=1000"),
        ("other", "doorstep-optimal"),
    ):
        study = grbp.Study.create("memory", name, 4, learner, start=counters)
        study.open_case(2)
        said[name] = describe_regret(read_config(study._store, study.name), study.status())[0]
    assert said["no"].startswith("No regret bound applies: gamma = 15 is not above")
    assert said["yes"].startswith("By Theorem 3, learning costs at most")
    assert "this study's learner is doorstep-optimal" in said["other"]
    empty = grbp.Study.create("memory", "empty", 4)
    assert (
        "before a case was opened"
        in describe_regret(read_config(empty._store, empty.name), empty.status())[0]
    )
    shadow = grbp.Study.create("memory", "shadow", 4, shadow=True)
    assert (
        "nobody is advised"
        in describe_regret(read_config(shadow._store, shadow.name), shadow.status())[0]
    )


@pytest.mark.parametrize("goal", [2, 3, 8, 9, 10, 50, 10_000_000])
def test_the_chain_shows_the_ends_and_the_present_state(goal: int) -> None:
    for state in {0, 1, 2, goal // 2, goal - 1, goal}:
        chain = draw_chain(goal, state, lambda one: one == 1)
        shown = [stop.state for stop in chain.stops]
        assert {0, state, goal} <= {*shown}
        assert state in (0, goal) or {state - 1, state + 1} <= {*shown}
        assert len(shown) <= 9
        there = [one for one in shown if one >= 0]
        assert there == sorted(set(there))
        for left, right in pairwise(shown):
            assert right == left + 1 or -1 in (left, right)
        assert all(stop.action == ("finish" if stop.state == 1 else "continue")
                   for stop in chain.stops if 0 < stop.state < goal)  # fmt: skip


def test_the_map_has_the_boundary_on_it() -> None:
    study = grbp.Study.create("memory", "ward", 4)
    basis = study.status().basis
    assert isinstance(basis, grbp.Basis)
    found = draw_map(basis)
    points = [tuple(map(float, one.split())) for one in re.findall(r"[ML]([\d. ]+)", found.curve)]
    for x, y in points:
        p_c = (x - found.frame.left) / found.frame.width
        p_f = 1.0 - (y - found.frame.top) / found.frame.height
        assert p_f == pytest.approx(float(boundary(4, p_c)), abs=1e-3)


def test_every_threshold_has_a_meaning() -> None:
    assert [describe_choice(t, 5, by_state=False) for t in range(5)] == [
        "continue in every state", "finish in state 1, continue above",
        "finish up to state 2, continue above", "finish up to state 3, continue above",
        "finish in every state, in order to learn",
    ]  # fmt: skip


_WARD: Final[dict[str, Any]] = {
    "states": ["dead", "severe", "moderate", "mild", "home"],
    "actions": ["medication", "surgery"],
    "case_name": "patient",
}
_PAGES = ("", "?show=all", "/cases/12", "/cases/1", "/evidence", "/log")


def _read_pages(server: Serving, name: str) -> dict[str, str]:
    """Return what everybody reads of the pages of a study."""
    return {
        page: leave_out_folds(server.ask("GET", f"/studies/{name}{page}", headers=HTML).text)
        for page in _PAGES
    }


@pytest.mark.parametrize("more", [{}, {"model": "state"}, _WARD, {**_WARD, "shadow": True}])
def test_nobody_has_to_read_jargon(tmp_path: Path, more: dict[str, object]) -> None:
    jargon = r"CONTINUE|FINISH|[Tt]hreshold|p_[CF]\b|<sub>|B\(p|doorstep|getbe|psrl|\brho\b"
    with Serving(tmp_path, asking="admin") as server:
        _played(server.store, "ward", None if "model" in more else "doorstep-optimal", **more)
        pages = _read_pages(server, "ward")
        for path in ("/?all=1", "/?from=ward", "/sign-in"):
            pages[path] = leave_out_folds(server.ask("GET", path, headers=HTML).text)
        for page, text in pages.items():
            assert not re.search(rf"{jargon}|(?i:learner|\bseed\b|regret)", text), page


def test_pages_speak_in_the_words_of_the_study(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        _played(server.store, "ward", **_WARD)
        pages = _read_pages(server, "ward")
        others = r"\b[Cc]ases? (?!\{)|\b(continu|finish)(e|ing|)\b(?![\"'])|\bstate [0-9]|the goal"
        for page, text in pages.items():
            said = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(head|svg).*?</\1>", "", text))
            said += " ".join(re.findall(r'data-(?:said|done|note|label)="([^"]*)"', text))
            assert not re.search(others, said), page
        assert "12 patients so far: 1 in progress," in pages[""]
        assert "<h1>Patient 12" in pages["/cases/12"]
        for one in ("medication", "surgery", "severe (1)", "home (4)"):
            assert one in pages["/cases/1"], one


def test_what_was_tried_is_not_called_unknown(tmp_path: Path) -> None:
    """Where continuing leads cannot be said before finishing was tried, and nothing contradicts."""
    with Serving(tmp_path, asking="admin") as server:
        study = grbp.Study.create(server.store, "ward", 4, start="first", **_WARD)
        for case in range(1, 5):
            study.open_case(2)
            study.tell(case, 1, took="continue", why="so it was")
            study.withdraw_case(case, "gone")
        study.open_case(1)
        text = server.ask("GET", "/studies/ward/cases/5", headers=HTML).text
        assert "Nothing is known about surgery yet: somebody has to be the first." in text
        assert "can be said when surgery was tried too" in text
        assert "Tried 4 times, 0 of them up." in text
        assert text.count("Not tried yet.") == 1


def test_an_ended_case_keeps_its_reasons(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        study = _played(server.store, "ward", **_WARD)
        study.open_case(2)
        study.tell(13, 1, took="continue", why="so it was")
        study.tell(13, 2, took="continue", why="so it was")
        study.void(13, "wrong bed")
        study.tell(13, 0, took="continue", why="so it was")
        text = server.ask("GET", "/studies/ward/cases/13", headers=HTML).text
        reasons = re.findall(r'<li value="(\d+)">In (.*?), (\w+) was advised', text)
        assert [(step, place) for step, place, _ in reasons] == [
            ("1", "moderate (2)"),
            ("2", "severe (1)"),
        ]
        for (_, _, advised), state in zip(reasons, (2, 1), strict=True):
            basis = study.basis(13, state)
            assert basis is not None
            assert advised == study.status().labels.action(basis.action)
        assert "Above severe (1), surgery is never better, if the chances are" in text


def test_a_case_is_found_by_its_code_and_by_its_number(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="recorder") as server:
        study = grbp.Study.create(server.store, "ward", 4, who="ada")
        for code in ("b-12", "2", "B-13"):
            study.open_case(1, code=code)

        def find(wanted: str) -> httpx.Response:
            return server.ask("GET", f"/studies/ward?find={wanted}", headers=HTML)

        for wanted, case in (("B-12", 1), ("%203%20", 3), ("b-13", 3)):
            answer = find(wanted)
            assert answer.status_code == 303
            assert answer.headers["location"].endswith(f"/studies/ward/cases/{case}")
        assert find("2").headers["location"].endswith("/studies/ward/cases/2")
        nobody = find("b-14")
        assert nobody.status_code == 200
        assert "/studies/ward/cases/" not in nobody.text


def test_the_whole_log_says_what_was_taken_back(tmp_path: Path) -> None:
    """Also where the entry that took it back stands on another page."""
    with Serving(tmp_path, asking="admin") as server:
        study = grbp.Study.create(server.store, "ward", 4)
        for case in (1, 2):
            study.open_case(2, who="ada")
            study.tell(case, 3, took="continue", why="so it was", who="ada")
        study.void(1, "wrong bed")
        study.undo(2, who="ada")
        struck = r'data-seq="(\d+)" data-who="ada" class="void">(?s:.*?)<s class="what">Step 1'
        for page in ("", "?before=6"):
            text = server.ask("GET", f"/studies/ward/log{page}", headers=HTML).text
            assert re.findall(struck, text) == ["5", "3"]
            assert text.count(">taken back</span>") == 2


def test_a_study_leads_to_the_explorer_with_its_words(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        words = {**_WARD, "states": ["dead", "a, b", "c&d", "mild", "home"]}
        study = _played(server.store, "ward", **words)
        basis = study.status().basis
        text = server.ask("GET", "/studies/ward", headers=HTML).text
        link = html.unescape(re.findall(r'href="(/explore#[^"]*)"', text)[0])
        said = dict(part.split("=") for part in link.partition("#")[2].split("&"))
        assert [unquote(one) for one in said["states"].split(",")] == words["states"]
        assert (said["actions"], said["case"], said["G"]) == ("medication,surgery", "patient", "4")
        assert float(said["pC"]) == pytest.approx(basis.p_c.estimate, rel=1e-3)
        assert float(said["pF"]) == pytest.approx(basis.p_f.estimate, rel=1e-3)
        grbp.Study.create(server.store, "empty", 4)
        text = server.ask("GET", "/studies/empty", headers=HTML).text
        assert 'href="/explore#G=4"' in text


@pytest.mark.parametrize(
    ("site", "led"),
    [(None, "here"), ("none", "here"), ("same-origin", "here"), ("cross-site", "elsewhere")],
)
def test_whoever_was_led_to_sign_in_by_another_site_presses_a_button(
    site: str | None, led: str, tmp_path: Path
) -> None:
    with Serving(tmp_path) as server:
        page = server.ask("GET", "/sign-in", headers={"Sec-Fetch-Site": site} if site else None)
    assert f'data-led="{led}"' in page.text


@pytest.mark.parametrize(
    ("memory", "lasts"),
    [
        (None, "chances that do not change over time"),
        (1, "little about time, as old cases count less, with a memory of 1 case"),
        (50.0, "little about time, as old cases count less, with a memory of 50 cases"),
        ("averaged", "nothing about time, as old cases count less if the chances change"),
    ],
)
def test_what_is_taken_for_granted_says_for_how_long(
    memory: float | str | None, lasts: str
) -> None:
    status = grbp.Study.create("memory", "ward", 4, memory=memory).status()
    assert describe_granted(status) == ["the same chances in every state", lasts]


def test_the_ends_of_a_scale_are_the_ends_of_its_frame() -> None:
    frame = Frame(*([0.0] * 4))._replace(left=10.0, width=200.0, low=0.25, high=0.75)
    assert [frame.x(number) for number in (0.25, 0.5, 0.75)] == [10.0, 110.0, 210.0]
