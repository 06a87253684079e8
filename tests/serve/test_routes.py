"""The routes: what they answer, with which status, page by page and line by line."""

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from optional import optional
from prometheus_client.parser import text_string_to_metric_families
from serving import ROLES_BY_ROUTE, Serving, refused

import grbp
from grbp import Study, fit
from grbp.explorer.page import served_page
from grbp.live.schema import Event
from grbp.serve import models

pytestmark = pytest.mark.slow

apsw = optional("apsw")

WARD = "/api/studies/ward"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path, asking="admin") as serving:
        Study.create(serving.store, "ward", 4, who="ada")
        yield serving


def opened(server: Serving, count: int) -> None:
    study = Study(server.store, "ward", who="ada")
    for _ in range(count):
        study.open_case(2)


def test_a_case_from_its_opening_to_its_end(server: Serving) -> None:
    answer = server.ask("POST", f"{WARD}/cases", json={"state": 2})
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{WARD}/cases/1"
    study = Study(server.store, "ward")
    assert answer.json() == study.ask(1).to_dict() | {"event": 2}
    case = server.ask("GET", answer.headers["location"])
    assert case.json() == study.cases()[0].to_dict()
    assert server.ask("GET", f"{WARD}/cases/1/advice").json() == study.ask(1).to_dict()
    told = server.ask("POST", f"{WARD}/cases/1/steps", json={"state": 1, "step": 1})
    assert told.status_code == 201
    assert told.json() == study.ask(1).to_dict() | {"event": 3}
    assert told.json()["basis"]["action"] == told.json()["action"]
    void = server.ask("POST", f"{WARD}/cases/1/void", json={"why": "a slip", "step": 1})
    assert (void.status_code, void.json()["state"]) == (200, 2)
    closed = server.ask("POST", f"{WARD}/cases/1/withdraw", json={"why": "moved"})
    assert (closed.status_code, closed.json()["status"]) == (200, "closed")
    assert closed.json()["basis"] is None
    assert server.ask("GET", WARD).json() == study.status().to_dict()
    assert server.ask("POST", f"{WARD}/verify").json()["ok"] is True
    assert server.ask("POST", f"{WARD}/replay").json()["decisions"] == 1


def test_reasons_can_be_left_out_and_asked_for_later(server: Serving) -> None:
    whole = server.ask("POST", f"{WARD}/cases", json={"state": 2}).json()
    short = server.ask("GET", f"{WARD}/cases/1/advice?basis=false").json()
    assert short == whole | {"basis": None, "event": None}
    assert server.ask("GET", f"{WARD}/cases/1/basis").json() == whole["basis"]
    opened(server, 3)
    server.ask("POST", f"{WARD}/cases/1/steps", json={"state": 1})
    # What was known when the case was opened does not change, nor do the reasons.
    assert server.ask("GET", f"{WARD}/cases/1/basis?state=2").json() == whole["basis"]
    refused(server.ask("GET", f"{WARD}/cases/1/basis?state=4"), 422, "from 1 to 3")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "/api/studies/none", None, 404, "'none'"),
        ("GET", f"{WARD}/cases/7", None, 404, "7"),
        ("GET", f"{WARD}/cases/x", None, 422, "case = 'x'"),
        ("GET", f"{WARD}/cases/0", None, 422, "case = "),
        ("GET", f"{WARD}/cases?limit=0", None, 422, "limit = '0' was given in the query"),
        ("GET", f"{WARD}/cases?limit=1001", None, 422, "1000"),
        ("GET", f"{WARD}/cases?status=x", None, 422, "status = 'x'"),
        ("GET", f"{WARD}/", None, 404, "nothing"),
        ("PUT", WARD, {}, 405, "/openapi.json"),
        ("POST", f"{WARD}/cases", {"state": 4}, 422, "state = 4 was given"),
        ("POST", f"{WARD}/cases", {"state": True}, 422, "state = True"),
        ("POST", f"{WARD}/cases", {"state": "2"}, 422, "state = '2'"),
        ("POST", f"{WARD}/cases", {}, 422, "state is missing in the body"),
        ("POST", f"{WARD}/cases", [], 422, "the body = [] was given"),
        ("POST", f"{WARD}/cases", {"state": 2, "x": 1}, 422, "x = 1 was given in the body"),
        ("POST", f"{WARD}/cases", {"state": 2, "observed": "x"}, 422, "observed = x"),
        ("POST", f"{WARD}/cases/1/steps", {"state": 3, "took": "finish"}, 422, "finish"),
        ("POST", f"{WARD}/cases/1/steps", {"state": 3, "took": "x"}, 422, "x"),
        ("POST", f"{WARD}/cases/1/steps", {"state": 4, "took": "finish"}, 422, "why"),
        ("POST", f"{WARD}/cases/1/void", {"why": "x"}, 409, "1"),
        ("POST", f"{WARD}/cases/1/withdraw", {"why": ""}, 422, "why = ''"),
        ("POST", "/api/studies", {"name": "a/b", "goal": 4}, 422, "must not have a /"),
        ("POST", "/api/studies", {"name": "a", "goal": 1}, 422, "goal = 1"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "learner": "os:path"}, 422, "os:path"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "learner": 5}, 422, "learner = 5"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "start": [1, 2]}, 422, "start = [1, 2]"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "model": "x"}, 422, "model = 'x'"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "memory": -1}, 422, "memory"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "memory": [1]}, 422, "memory"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "groups": "a,b"}, 422, "groups = 'a,b'"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "groups": ["a"]}, 422, "2 to 100 names"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "from": "none"}, 404, "'none'"),
        ("POST", "/api/studies", {"name": "a", "goal": 4, "from": 7}, 422, "from = 7"),
        ("POST", "/api/studies", {"name": "a", "goal": 5, "from": "ward"}, 422, "another goal"),
        (
            "POST",
            "/api/studies",
            {"name": "a", "goal": 4, "from": "ward", "start": "first"},
            422,
            "leave one of the two out",
        ),
        (
            "POST",
            "/api/studies",
            {"name": "a", "goal": 4, "start": {"north": [1, [0] * 3, [0] * 3, [0] * 3, [0] * 3]}},
            422,
            "groups north",
        ),
        (
            "POST",
            "/api/studies",
            {"name": "a", "goal": 4, "model": "state", "start": [1, [0], [0], [0], [0]]},
            422,
            "4 lists of 3 counts",
        ),
        ("POST", f"{WARD}/cases", {"state": 2, "group": "north"}, 422, "group"),
        ("POST", "/api/tokens", {"label": "a", "role": "x"}, 422, "role = 'x'"),
    ],
)
def test_a_mistake_is_answered_by_one_sentence(
    server: Serving, method: str, path: str, body: Any, status: int, words: str
) -> None:
    opened(server, 1)
    refused(server.ask(method, path, json=body), status, words)
    assert Study(server.store, "ward").status().events == 2
    assert server.store.studies() == ["ward"]


def test_what_is_no_json_is_answered_by_one_sentence(server: Serving) -> None:
    kind = {"Content-Type": "application/json"}
    for text in (b"{", b"nothing", b'{"state": 2', b"\xff\xfe", b"[" * 60_000, b"1" * 5_000):
        refused(server.ask("POST", f"{WARD}/cases", headers=kind, content=text), 400, "JSON")
    refused(server.ask("POST", f"{WARD}/cases", headers=kind), 422, "the body is missing")


def test_a_study_that_is_locked_is_a_conflict(server: Serving) -> None:
    same = server.ask("POST", "/api/studies", json={"name": "ward", "goal": 5})
    assert same.status_code == 201
    assert same.headers["location"] == WARD
    opened(server, 1)
    refused(server.ask("POST", "/api/studies", json={"name": "ward", "goal": 6}), 409, "locked")
    again = server.ask("POST", "/api/studies", json={"name": "ward", "goal": 5})
    assert again.json()["goal"] == 5


def test_a_study_begins_with_past_cases(server: Serving) -> None:
    table: dict[str, list[Any]] = {"case": [1, 1, 2], "step": [1, 2, 1], "state": [2, 1, 1]}
    table |= {"action": ["continue", "finish", "finish"], "next_state": [1, 4, 0]}
    past = fit(table, 4)
    assert past.counters is not None
    body = {"name": "next", "goal": 4, "start": list(past.counters)}
    made = server.ask("POST", "/api/studies", json=body)
    assert made.json()["start"] == "records"
    assert (
        Study.create("memory", "next", 4, start=past).status().basis.to_dict()
        == (made.json()["basis"])
    )


def test_a_study_has_a_model_groups_and_a_memory(server: Serving) -> None:
    body = {"name": "wards", "goal": 4, "model": "state", "memory": "averaged"}
    body["groups"] = ["north", "south"]
    made = server.ask("POST", "/api/studies", json=body)
    assert made.status_code == 201, made.text
    told = made.json()
    assert (told["model"], told["memory"], told["alarms"]) == ("state", "averaged", [])
    assert [*told["by_group"]] == told["groups"] == ["north", "south"]
    models.StatusModel.model_validate(told)
    place = "/api/studies/wards/cases"
    for wrong in ({}, {"group": None}, {"group": "west"}, {"group": 7}):
        refused(server.ask("POST", place, json={"state": 2, **wrong}), 422, "group")
    advice = server.ask("POST", place, json={"state": 2, "group": "south"}).json()
    models.AdviceModel.model_validate(advice)
    assert (advice["group"], advice["warnings"]) == ("south", [])
    assert advice["basis"]["model"] == "state"
    assert server.ask("GET", f"{place}/1").json()["group"] == "south"
    assert server.ask("GET", f"{place}/1/basis?state=3").json()["state"] == 3
    status = server.ask("GET", "/api/studies/wards").json()
    assert [one["opened"] for one in status["by_group"].values()] == [0, 1]


def test_a_request_with_a_key_is_recorded_once(server: Serving) -> None:
    refused(
        server.ask("POST", f"{WARD}/cases", headers={"Idempotency-Key": "%FF"}, json={"state": 2}),
        422,
        "UTF-8",
    )
    key = {"Idempotency-Key": "bed%207 %C3%A4"}
    first = server.ask("POST", f"{WARD}/cases", headers=key, json={"state": 2})
    again = server.ask("POST", f"{WARD}/cases", headers=key, json={"state": 2})
    assert again.json() == first.json() | {"replayed": True}
    assert first.json()["replayed"] is False
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    refused(server.ask("POST", f"{WARD}/cases", headers=key, json={"state": 1}), 409, "bed 7 ä")
    told = [
        server.ask(
            "POST", f"{WARD}/cases/1/steps", headers={"Idempotency-Key": "k"}, json={"state": 1}
        )
        for _ in range(2)
    ]
    assert told[1].json() == told[0].json() | {"replayed": True}
    assert [one.headers.get("idempotency-replayed") for one in told] == [None, "true"]
    assert [one.key for one in Study(server.store, "ward").log()] == ["", "bed 7 ä", "k"]


def test_an_archived_study_is_left_out_of_lists(server: Serving) -> None:
    Study.create(server.store, "other", 4)
    where = f"{WARD}/archive"
    refused(server.ask("POST", where, json={"archived": "yes", "why": "so"}), 422, "true or false")
    refused(server.ask("POST", where, json={"archived": True, "why": ""}), 422, "one line")
    refused(server.ask("POST", where, json={"archived": False, "why": "so"}), 409, "not archived")
    assert server.ask("POST", where, json={"archived": True, "why": "so"}).json()["archived"]
    refused(
        server.ask("POST", f"{WARD}/cases", json={"state": 2}),
        409,
        "takes no entries",
    )
    assert server.ask("GET", "/api/studies").json()["items"] == ["other"]
    assert server.ask("GET", "/api/studies?all=true").json()["items"] == ["other", "ward"]
    page = server.ask("GET", "/?all=1")
    assert ("/studies/other" in page.text, "/studies/ward" in page.text) == (True, False)
    assert "1 archived study</a> left out" in page.text
    assert "/studies/ward" in server.ask("GET", "/?all=1&archived=1").text
    shown = server.ask("GET", "/studies/ward").text
    assert "This study is archived" in shown
    assert "Nothing can be recorded now." in shown
    assert "<form data-send" not in shown
    opened = server.ask("POST", where, json={"archived": False, "why": "so"})
    assert opened.json()["archived"] is None
    assert server.ask("GET", "/api/studies").json()["items"] == ["other", "ward"]


OF_WARD = "id >> 40 = (select id from studies where study = 'ward')"


def test_one_damaged_study_is_no_reason_to_fail_for_all(server: Serving) -> None:
    other = Study.create(server.store, "other", 4)
    assert other.open_case(2).case == 1
    opened(server, 2)
    for change, words in (
        (
            f"update cases set threshold = 3 where {OF_WARD}",  # noqa: S608 (ours)
            "the row of case 1 in the study 'ward' does not follow",
        ),
        ("update studies set config = '{}' where study = 'ward'", "configuration of the study is"),
        (
            f"update events set response = '{{' where {OF_WARD}",  # noqa: S608 (ours)
            "damaged",
        ),
    ):
        with closing(apsw.Connection(str(server.store.address))) as somebody:
            somebody.execute(change)
        advice = server.ask("GET", f"{WARD}/cases/1/advice")
        refused(advice, 503, words)
        for path in ("/?all=1", "/api/studies", "/studies/other", "/api/studies/other"):
            assert server.ask("GET", path).status_code == 200, (change, path)
        for path in ("/studies/ward", "/studies/ward/evidence", "/studies/ward/cases/1", WARD):
            assert server.ask("GET", path).status_code in (200, 503), (change, path)
        tell = server.ask("POST", f"{WARD}/cases/1/steps", json={"state": 3})
        refused(tell, 503)


def pages(server: Serving, path: str, limit: int) -> Iterator[dict[str, Any]]:
    after: Any = 0
    while after is not None:
        page = server.ask("GET", f"{path}{'&' if '?' in path else '?'}limit={limit}&after={after}")
        yield from page.json()["items"]
        assert len(page.json()["items"]) <= limit
        after = page.json()["next"]


def test_pages_are_complete_and_have_nothing_twice_while_others_write(server: Serving) -> None:
    opened(server, 20)
    writer = threading.Thread(target=opened, args=(server, 200))
    writer.start()
    try:
        cases = [one["case"] for one in pages(server, f"{WARD}/cases", 7)]
        events = list(pages(server, f"{WARD}/events", 7))
    finally:
        writer.join()
    assert cases == list(range(1, len(cases) + 1))
    assert len(cases) >= 20
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
    assert [Event(**one) for one in events] == Study(server.store, "ward").log(0, len(events))


def test_pages_are_of_one_status_or_one_case(server: Serving) -> None:
    opened(server, 5)
    study = Study(server.store, "ward")
    study.withdraw_case(2, "moved")
    study.withdraw_case(4, "moved")
    closed = [one["case"] for one in pages(server, f"{WARD}/cases?status=closed", 1)]
    assert closed == [2, 4]
    kinds = [one["kind"] for one in pages(server, f"{WARD}/events?case=2", 1)]
    assert kinds == ["open", "close"]
    exact = server.ask("GET", f"{WARD}/cases?limit=5").json()
    assert (len(exact["items"]), exact["next"]) == (5, None)


def test_studies_are_listed_by_name(server: Serving) -> None:
    for name in ("b", "a", "ä ö"):
        Study.create(server.store, name, 4)
    one = server.ask("GET", "/api/studies?limit=2").json()
    assert one == {"items": ["a", "b"], "next": "b"}
    two = server.ask("GET", "/api/studies", params={"after": "b"}).json()
    assert two == {"items": ["ward", "ä ö"], "next": None}
    assert server.ask("GET", "/api/studies/%C3%A4%20%C3%B6").json()["study"] == "ä ö"


def test_events_are_streamed_after_a_number(server: Serving) -> None:
    opened(server, 3)
    study = Study(server.store, "ward")
    answer = server.ask("GET", f"{WARD}/events.ndjson?after=2")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [Event(**json.loads(line)) for line in answer.text.splitlines()] == study.log(2)
    refused(server.ask("GET", "/api/studies/none/events.ndjson"), 404)
    path = f"{WARD}/events.ndjson?after=3&follow=60"
    with server.http.stream("GET", path, headers=server.bearer()) as stream:
        lines = stream.iter_lines()
        assert json.loads(next(lines))["seq"] == 4
        study.open_case(1)
        assert json.loads(next(lines))["seq"] == 5
        server.app.state.server.stopping = True
        assert list(lines) == []


def test_what_is_taken_elsewhere_is_what_is_here(server: Serving, tmp_path: Path) -> None:
    opened(server, 3)
    study = Study(server.store, "ward")
    study.tell(1, 1)
    log = server.ask("GET", f"{WARD}/export")
    assert log.content == b"".join(study.export_lines())
    assert log.headers["content-disposition"] == "attachment; filename*=utf-8''ward.jsonl"
    steps = study.export_steps(tmp_path / "steps.csv").read_bytes()
    assert server.ask("GET", f"{WARD}/steps.csv").content == steps
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(server.ask("GET", "/api/backup").content)
    assert Study(copy, "ward").log() == study.log()
    kind = {"Content-Type": "application/x-ndjson"}
    send = ("POST", "/api/import")
    refused(server.ask(*send, headers=kind, content=log.content), 409, "'ward'")
    with Serving(tmp_path / "other", asking="admin") as other:
        made = other.ask(*send, headers=kind, content=log.content)
        assert (made.status_code, made.headers["location"]) == (201, WARD)
        assert made.json() == study.status().to_dict()
        cut = log.content[: len(log.content) // 2]
        told = refused(other.ask(*send, headers=kind, content=cut), 422, "the log that was sent")
        assert "/" not in told
        refused(other.ask(*send, headers=kind, content=b"{}"), 422, "not an exported study")
        own = log.content.replace(b'\\"doorstep-optimal\\"', b'\\"os:getcwd\\"').replace(
            b"ward", b"wand"
        )
        refused(other.ask(*send, headers=kind, content=own), 422, "os:getcwd")
        assert other.store.studies() == ["ward"]


def test_the_hashes_of_a_shadow_study_are_for_statisticians(server: Serving) -> None:
    Study.create(server.store, "shadow", 4, shadow=True).open_case(2)
    tokens = server.everybody()
    place = "/api/studies/shadow"
    for role, token in tokens.items():
        events = server.ask("GET", f"{place}/events", token).json()["items"]
        lines = server.ask("GET", f"{place}/events.ndjson", token).text.splitlines()
        assert [json.loads(line) for line in lines] == events
        status = server.ask("GET", place, token).json()
        examiner = role in ("statistician", "admin")
        assert [bool(one["hash"]) for one in events] == [examiner] * 2
        assert (status["next_threshold"] is not None) is examiner
        assert (status["basis"] is not None) is examiner
        advice = server.ask("GET", f"{place}/cases/1/advice", token).json()
        assert advice["action"] is advice["basis"] is None
        refused(server.ask("GET", f"{place}/cases/1/basis", token), 403, "shadow mode")


def test_a_store_that_cannot_be_written_is_not_ready(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.ask("GET", "/ready").json()["status"] == "ok"
    reasons = ["the disk is on fire"]
    monkeypatch.setattr(server.store, "checks", lambda: reasons)
    refused(server.ask("GET", "/ready"), 503, "the disk is on fire")
    refused(server.ask("POST", f"{WARD}/cases", json={"state": 2}), 503, "the disk is on fire")
    assert server.ask("GET", WARD).json()["read_only"] == "the disk is on fire"
    reasons.clear()
    assert server.ask("POST", f"{WARD}/cases", json={"state": 2}).status_code == 201
    Path(server.store.where).rename(Path(server.store.where).with_name("moved"))
    refused(server.ask("POST", f"{WARD}/cases", json={"state": 2}), 503, "moved")
    refused(server.ask("GET", "/ready"), 503, "moved")


def test_requests_are_counted_as_prometheus_reads_them(server: Serving) -> None:
    for _ in range(3):
        server.ask("GET", f"{WARD}/cases/1")
    server.ask("BREW", "/coffee")
    found = {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(server.ask("GET", "/metrics").text)
        for one in family.samples
    }
    assert found["grbp_info", grbp.__version__] == 1
    where = "GET", "/api/studies/{study}/cases/{case}"
    assert found["grbp_requests_total", *where, "404"] == 3
    assert found["grbp_requests_total", "other", "(none)", "404"] == 1
    assert found["grbp_request_seconds_count", *where] == 3
    buckets = [
        number
        for (name, *labels), number in found.items()
        if name == "grbp_request_seconds_bucket" and where[1] in labels
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 3


def test_the_description_is_complete_and_its_links_lead_somewhere(server: Serving) -> None:
    schema = server.ask("GET", "/openapi.json").json()
    operations = {
        (method.upper(), path): one
        for path, verbs in schema["paths"].items()
        for method, one in verbs.items()
    }
    # Pages are for browsers.
    assert set(operations) == {
        route for route in ROLES_BY_ROUTE if re.match("/(api/|health|ready|metrics)", route[1])
    }
    names = {one["operationId"]: one for one in operations.values()}
    assert len(names) == len(operations)
    opening = names["open_case"]["responses"]["201"]["links"]
    assert {"tell", "advice", "get_case"} <= set(opening)
    assert all(names[name]["responses"]["201"]["links"] for name in ("create_study", "tell"))
    for (method, path), one in operations.items():
        assert one["x-role"] == ROLES_BY_ROUTE[method, path]
        assert one["summary"]
        assert "application/problem+json" in one["responses"]["default"]["content"]
        for answer in one["responses"].values():
            for link in answer.get("links", {}).values():
                known = {given["name"] for given in names[link["operationId"]]["parameters"]}
                assert set(link["parameters"]) <= known
    schemas = schema["components"]["schemas"]
    # Parts of others that have examples.
    small = {"AlarmModel", "EstimateModel", "Drawn", "Cases", "LabelsModel"}
    assert {name for name in schemas if "examples" not in schemas[name]} == small
    bodies = {one.__name__: one for one in models.BODIES.values()}
    for name, example in models.examples().items():
        (bodies.get(name) or getattr(models, name)).model_validate(example)
    assert not re.search("https?://", json.dumps(schema))


def test_the_explorer_and_what_it_loads_are_served_to_everybody(server: Serving) -> None:
    server.token()
    page = server.ask("GET", "/explore")
    assert page.text == served_page()
    loaded = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(loaded) >= 2
    for path in loaded:
        answer = server.ask("GET", path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-cache"
        mark = {"If-None-Match": answer.headers["etag"]}
        assert server.ask("GET", path, headers=mark).status_code == 304
    for path in ("/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/static/nothing"):
        assert server.ask("GET", path).status_code in (401, 404)


def test_a_backup_is_a_file_of_sqlite(server: Serving, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(server.ask("GET", "/api/backup").content)
    link = sqlite3.connect(tmp_path / "copy")
    assert link.execute("pragma integrity_check").fetchall() == [("ok",)]
    link.close()


# Short codes, and slips.


def test_a_code_is_given_found_and_erased(server: Serving) -> None:
    opened = server.ask("POST", f"{WARD}/cases", json={"state": 2, "code": "B-12"}).json()
    case = f"{WARD}/cases/{opened['case']}"
    assert opened["code"] == server.ask("GET", f"{case}/advice").json()["code"] == "B-12"
    found = server.ask("GET", f"{WARD}/cases?code=b-12").json()
    assert (found["next"], found["items"]) == (None, [server.ask("GET", case).json()])
    for status, number in (("open", 1), ("won", 0)):
        of_status = server.ask("GET", f"{WARD}/cases?code=B-12&status={status}").json()
        assert len(of_status["items"]) == number
    refused(server.ask("GET", f"{WARD}/cases?code=B-12&status=gone"), 422, "status = 'gone'")
    again = server.ask("POST", f"{WARD}/cases", json={"state": 2, "code": "b-12"})
    assert (again.status_code, "which is in progress" in again.json()["detail"]) == (409, True)
    assert server.ask("POST", f"{case}/code", json={}).status_code == 422
    assert server.ask("POST", f"{case}/code", json={"code": None}).json()["code"] is None
    assert server.ask("GET", f"{WARD}/cases?code=b-12").json()["items"] == []
    assert "B-12" not in server.ask("GET", f"{WARD}/export").text


def test_codes_are_in_the_table_of_steps_only_if_asked_for(server: Serving) -> None:
    case = server.ask("POST", f"{WARD}/cases", json={"state": 1, "code": "B-12"}).json()["case"]
    body = {"state": 0, "took": "finish", "why": "so"}
    assert server.ask("POST", f"{WARD}/cases/{case}/steps", json=body).status_code == 201
    assert "B-12" not in server.ask("GET", f"{WARD}/steps.csv").text
    assert "B-12" in server.ask("GET", f"{WARD}/steps.csv?codes=true").text


def test_only_who_made_a_slip_undoes_it(server: Serving) -> None:
    nurse, head = server.token("recorder", 90.0), server.token("corrector", 90.0)
    opened = server.ask("POST", f"{WARD}/cases", nurse, json={"state": 2}).json()
    where = f"{WARD}/cases/{opened['case']}/undo"
    refused = server.ask("POST", where, head)
    assert refused.status_code == 409
    assert "only the same person can undo it" in refused.json()["detail"]
    undone = server.ask("POST", where, nurse, headers={"Idempotency-Key": "u"})
    assert (undone.status_code, undone.json()["status"]) == (200, "closed")
    again = server.ask("POST", where, nurse, headers={"Idempotency-Key": "u"})
    assert again.headers["Idempotency-Replayed"] == "true"
