"""Shadow mode hides what the study would advise: twins that differ in that alone look the same.

Two studies of the same name, in two stores, are driven by the same clock and the same requests.
They differ only in what their learners would advise. Whoever records or looks gets the same bytes
from both, by every route, page and stream, and on the shell; whoever examines them does not.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import pytest
from browser import DESK, PHONE, Watched, misplaced
from fonts import WIDE
from serving import ROLES_BY_ROUTE, Clock, Serving, refused

import grbp
from grbp import Client, Study
from grbp.cli import live, main, options
from grbp.live import arguments
from grbp.live.advice import Advice, Case, Status
from grbp.live.endpoints import ROLES
from grbp.live.schema import Event
from grbp.live.shadow import SHOWN, show
from grbp.live.transport import NDJSON
from grbp.serve.models import AdviceModel, CaseModel, EventModel, MomentModel, StatusModel
from grbp.serve.settings import EVENT_STREAM
from grbp.serve.tokens import ANYBODY, may

pytestmark = pytest.mark.slow

WARD: Final = "/api/studies/ward"
FREE: Final = ("viewer", "recorder", "corrector")
"""Those who are to decide freely, or to look."""

SEED: Final = 918_273_645
TWINS: Final = {
    "seeds": (
        {"learner": "getbe-sm", "seed": SEED},
        {"learner": "getbe-sm", "seed": SEED + 1},
    ),
    "learners": (
        {"learner": "threshold-0", "seed": SEED, "start": "first"},
        {"learner": "threshold-3", "seed": SEED, "level": 0.9},
    ),
    "cases": (
        {"learner": grbp.DEFAULT_LEARNER, "seed": SEED, "cases": 1},
        {"learner": "threshold-0", "seed": SEED, "level": 0.9},
    ),
    "groups": (
        {"model": "state", "memory": "averaged", "seed": SEED, "groups": ("north", "south")},
        {"learner": "threshold-3", "seed": SEED, "level": 0.9, "groups": ("north", "south")},
    ),
}
"""What twins differ in, which nobody but an examiner may notice."""

LOOKS_DIFFERENT: Final = {
    "date": "the second in which it was answered",
    "set-cookie": "the cookie of a session is drawn anew",
}
"""The headers that may differ between twins, and why."""


# What is asked.

VALUES: Final = {"study": "ward", "case": "2", "name": "page.css", "id": "nobody"}
QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "/": ("", "?all=1", "?from=ward"),
    "/studies/{study}": ("", "?show=all", "?show=won", "?after=1", "?group=south"),
    "/studies/{study}/log": ("", "?case=1", "?case=99", "?before=5"),
    f"{WARD}/cases": ("", "?status=open", "?limit=1", "?status=x", "?code=c"),
    f"{WARD}/events": ("", "?case=1", "?after=3&limit=2"),
    f"{WARD}/events.ndjson": ("", "?after=4"),
    f"{WARD}/path": ("", "?points=3"),
    f"{WARD}/cases/2/advice": ("", "?basis=false"),
    f"{WARD}/cases/2/basis": ("", "?state=1", "?state=4"),
}
"""How a route is asked that has options; the others are asked plainly."""

_TELL: Final = f"{WARD}/cases/2/steps"
BODIES: Final[Mapping[tuple[str, str], tuple[Any, ...]]] = {
    ("POST", f"{WARD}/cases"): (
        {"state": 2},
        {"state": 1, "code": "C"},
        {"state": 4},
        {"state": "x"},
    ),
    ("POST", _TELL): (
        {"state": 0},
        {"state": 1},
        {"state": 3, "took": "finish"},
        {"state": 0, "took": "continue"},
        {"state": 2, "took": "wait"},
        {"state": 1, "took": "continue", "step": 7},
        {"state": 1, "took": "continue"},
        {"state": 2, "took": "continue", "why": "as it was"},
        {"state": 2, "step": 2},
        {"state": 1, "step": 1},
        {"state": 3, "step": 1, "took": "finish"},
        {"state": 4, "took": "finish"},
        {"state": 3, "took": "continue"},
    ),
    ("POST", f"{WARD}/cases/2/void"): ({"why": "a slip", "step": 9}, {"why": "a slip"}),
    ("POST", f"{WARD}/cases/2/code"): ({"code": "B-12"}, {"code": ""}, {"code": None}),
    ("POST", f"{WARD}/cases/2/undo"): (None, None),
    ("POST", f"{WARD}/cases/2/withdraw"): ({"why": ""}, {"why": "moved"}, {"why": "moved"}),
    ("POST", "/api/session"): ({"token": "grbp_nobody"},),
    # A simulation knows no study, and what it draws differs each time.
    ("POST", "/api/explore/simulations"): ({"goal": 1},),
}
"""What is sent to a route that wants something; every one that a free role may use is here."""


class Asked(NamedTuple):
    """A request of the walk."""

    role: str
    method: str
    path: str
    what: dict[str, Any]


def fill(method: str, route: str, needed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests to a route; refuse one that nobody has said how to ask."""
    unknown = set(re.findall(r"\{(\w+)\}", route)) - set(VALUES)
    assert not unknown, f"{method} {route} is new: say in VALUES what {unknown} are"
    path = route.format(**VALUES)
    if method == "POST":
        bodies = BODIES.get((method, path))
        free = any(may(role, needed) for role in FREE)
        assert bodies or not free, f"{method} {route} is new: say in BODIES what is sent to it"
        for body in bodies or (None,):
            yield path, {} if body is None else {"json": body}
        return
    for query in QUERIES.get(route, QUERIES.get(path, ("",))):
        yield path + query, {"headers": {"Accept": "text/html"}}
        if not path.startswith("/api"):
            yield path + query, {}


def walk(*roles: str) -> Iterator[Asked]:
    """Yield requests to every route that there is, as each of some roles."""
    for role in roles:
        for (method, route), needed in sorted(ROLES_BY_ROUTE.items()):
            for path, what in fill(method, route, needed):
                yield Asked(role, method, path, what)


_PLAY: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("", {"state": 1}),
    ("/1/steps", {"state": 2, "took": "continue"}),
    ("/1/steps", {"state": 4, "took": "finish"}),
    ("", {"state": 2}),
    ("", {"state": 1}),
    ("/3/steps", {"state": 0, "took": "finish", "why": "she asked for it"}),
    ("", {"state": 3}),
    ("/4/steps", {"state": 2, "took": "continue", "step": 1}),
    ("/4/steps", {"state": 2, "took": "continue", "step": 1}),
    ("/4/void", {"why": "another bed"}),
    ("", {"state": 1}),
    ("/5/steps", {"state": 4, "took": "finish"}),
)
"""What has happened before anybody looks."""


class Twins:
    """Two servers that are asked the same at the same time."""

    def __init__(self, folder: Path, settings: tuple[dict[str, Any], ...]) -> None:
        self.clock = Clock()
        self.servers = [Serving(folder / str(k), self.clock, rate=1e9) for k in (0, 1)]
        self._settings = settings
        self._open = ExitStack()

    def __enter__(self) -> "Twins":
        for server, hidden in zip(self.servers, self._settings, strict=True):
            self._open.enter_context(server)
            Study.create(
                server.store, "ward", 4, shadow=True, windows={"finish": 0.1}, who="the office",
                clock=self.clock, **hidden,
            )  # fmt: skip
        self.tokens = [
            {role: server.token(role, 90.0) for role in ROLES} for server in self.servers
        ]
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def ask(self, asked: Asked) -> list[Any]:
        """Make one request to both, a little later than the last one."""
        self.clock.now += timedelta(minutes=7)
        what = {**asked.what, "headers": {"Host": "127.0.0.1", **asked.what.get("headers", {})}}
        opens = (asked.method, asked.path) == ("POST", f"{WARD}/cases")
        if opens and "groups" in self._settings[0]:
            what["json"] = {"group": "south", **what["json"]}
        return [
            server.ask(asked.method, asked.path, tokens.get(asked.role), **what)
            for server, tokens in zip(self.servers, self.tokens, strict=True)
        ]

    def play(self) -> Iterator[tuple[Asked, list[Any]]]:
        """Record some cases, each entry twice with one key."""
        for number, (end, body) in enumerate(_PLAY):
            headers = {"Idempotency-Key": f"entry {number}".replace(" ", "%20")}
            for _ in range(2):
                what = {"json": body, "headers": headers}
                asked = Asked("corrector", "POST", f"{WARD}/cases{end}", what)
                yield asked, self.ask(asked)

    def studies(self) -> list[Study]:
        """Open both studies here, where everything is shown."""
        return [Study(server.store, "ward") for server in self.servers]


@pytest.fixture(params=TWINS)
def twins(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Twins]:
    with Twins(tmp_path, TWINS[request.param]) as found:
        yield found


def seen(answer: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return all that somebody gets, apart from how long it took."""
    headers = [pair for pair in answer.headers.items() if pair[0] not in LOOKS_DIFFERENT]
    body: bytes = answer.content
    if answer.request.url.path == "/metrics" and answer.status_code == 200:
        body = b"\n".join(line for line in body.splitlines() if b"seconds" not in line)
        headers = [pair for pair in headers if pair[0] != "content-length"]
    return answer.status_code, headers, body


def decided(study: Study) -> list[int]:
    """Return the thresholds of a study's cases."""
    return [
        json.loads(event.response)["threshold"]
        for event in study.log(limit=1_000)
        if event.kind == "open"
    ]


@pytest.mark.sample("groups")
def test_twins_look_the_same_to_whoever_records_or_looks(twins: Twins) -> None:
    statuses = set()
    for asked, (one, other) in [*twins.play()]:
        assert seen(one) == seen(other), asked
        assert one.status_code in (200, 201), one.text
    for server, tokens in zip(twins.servers, twins.tokens, strict=True):
        # What an examiner does must not show either.
        assert server.ask("POST", f"{WARD}/verify", tokens["statistician"]).json()["ok"] is True
        assert server.ask("GET", f"{WARD}/export", tokens["statistician"]).status_code == 200
    for asked in walk(*FREE, ANYBODY):
        one, other = twins.ask(asked)
        assert seen(one) == seen(other), asked
        statuses.add((asked.method, one.status_code))
        assert one.status_code != 401 or ANYBODY in asked or asked.path == "/api/session", asked
    assert statuses >= {("GET", 200), ("POST", 201), ("POST", 200), ("POST", 409), ("POST", 422)}
    studies = twins.studies()
    # They are twins only in what people did: all else differs, also how much was overridden.
    assert decided(studies[0]) != decided(studies[1])
    assert len({tuple(case.overridden for case in study.cases()) for study in studies}) == 2
    assert len({study.status().head for study in studies}) == 2
    assert len({study.status().events for study in studies}) == 1
    assert (
        len({study.status().seed for study in studies})
        + len({study.status().learner for study in studies})
        == 3
    )


@pytest.mark.parametrize("kind", [NDJSON, EVENT_STREAM])
def test_a_stream_that_is_followed_looks_the_same(twins: Twins, kind: str) -> None:
    list(twins.play())
    for role in FREE:
        with ExitStack() as stack:
            streams = []
            for server, tokens in zip(twins.servers, twins.tokens, strict=True):
                headers = {"Authorization": f"Bearer {tokens[role]}", "Accept": kind}
                path = f"{WARD}/events.ndjson?after=2&follow=60"
                stream = stack.enter_context(server.http.stream("GET", path, headers=headers))
                # A browser reads more around the lines.
                streams.append(
                    line[line.find("{") :] for line in stream.iter_lines() if "{" in line
                )
            there = twins.studies()[0].status().events - 2
            before = [[next(lines) for _ in range(there)] for lines in streams]
            twins.ask(Asked("recorder", "POST", f"{WARD}/cases", {"json": {"state": 2}}))
            after: list[list[Any]] = [[] for _ in streams]
            for lines, page in zip(streams, after, strict=True):
                while not page or page[-1]["kind"] != "open":
                    page.append(json.loads(next(lines)))
        assert before[0] == before[1]
        assert after[0] == after[1]
        assert {(event["hash"], event["previous"]) for event in after[0]} == {("", "")}


@pytest.mark.sample("cases")
def test_twins_look_different_to_whoever_examines_them(twins: Twins) -> None:
    list(twins.play())
    thresholds = [decided(study) for study in twins.studies()]
    for role in ROLES:
        if role in FREE:
            continue
        differ = set()
        for asked in walk(role):
            if asked.method != "GET":
                continue
            one, other = twins.ask(asked)
            assert one.status_code == other.status_code
            if seen(one)[2] != seen(other)[2]:
                differ.add(asked.path)
        assert differ >= {
            WARD, f"{WARD}/cases", f"{WARD}/events", f"{WARD}/events.ndjson", f"{WARD}/path",
            f"{WARD}/export", "/studies/ward/evidence", "/studies/ward/log",
        }  # fmt: skip
        for k, server in enumerate(twins.servers):
            events = server.ask("GET", f"{WARD}/events", twins.tokens[k][role]).json()["items"]
            told = [json.loads(one["response"]) for one in events if one["kind"] == "open"]
            assert [one["threshold"] for one in told] == thresholds[k]
            status = server.ask("GET", WARD, twins.tokens[k][role]).json()
            assert status == twins.studies()[k].status().to_dict()
            assert status["next_threshold"] is not None or status["by_group"]
            page = server.ask("GET", "/studies/ward/evidence", twins.tokens[k][role]).text
            assert "What is known" in page
            page = server.ask("GET", "/studies/ward/log", twins.tokens[k][role]).text
            assert "would be advised" in page
            assert "was advised" not in page


# What is hidden, by its names and values.

HIDDEN: Final = {
    "threshold", "next_threshold", "action", "advised", "forced", "other_better", "side", "settled",
    "basis", "p_c", "p_f", "boundary", "difference", "value_continue", "value_finish", "f", "c",
    "f_goal", "c_up", "pending", "overridden", "seed", "drawn", "draw", "start", "learner", "level",
    "constants", "counters", "known", "head", "hash", "previous", "alarms", "by_group",
    "by_state", "memory", "model", "policy", "warnings",
}  # fmt: skip
WORDS: Final = (
    "threshold", "p_C", "p_F", "<sub>", "interval", "estimate", "regret", "Regret", "overridden",
    "against the advice", "was advised", "would be advised", "in order to learn", "seed",
    " drawn ", str(SEED), str(SEED + 1), 'class="map"', 'class="path"', "CONTINUE above",
    "in every state", "for granted", "each state", "Take care", "do not look as", "count less",
)  # fmt: skip


def named(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every name in an answer with its value, also those in the texts of events."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield name, part
            if name in ("request", "response"):
                yield from named(json.loads(part) if isinstance(part, str) else part)
            yield from named(part)
    elif isinstance(value, list):
        for one in value:
            yield from named(one)


def check_json(value: Any) -> None:
    for name, part in named(value):
        assert name not in HIDDEN or part in (None, ""), name
        assert name != "study" or part is None or isinstance(part, str)  # Not its counters.


@pytest.mark.sample("groups")
def test_no_answer_has_what_is_hidden_in_it(twins: Twins) -> None:
    answers = [(asked, one) for asked, both in twins.play() for one in both]
    answers += [(asked, one) for asked in walk(*FREE) for one in twins.ask(asked)]
    secrets = {
        one
        for study in twins.studies()
        for event in study.log(limit=1_000)
        for one in (event.hash, event.hash[:16], str(json.loads(event.response).get("draw", SEED)))
    } | {study.status().learner for study in twins.studies()}
    looked = 0
    for asked, answer in answers:
        if "ward" not in asked.path and asked.path not in ("/", "/?all=1"):
            continue  # The explorer and the description name learners and fields, but no study.
        whole = f"{answer.headers} {answer.text}"
        assert not [one for one in secrets if one in whole], asked
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if kind == "application/x-ndjson":
            for line in answer.text.splitlines():
                check_json(json.loads(line))
        elif kind in ("application/json", "application/problem+json"):
            check_json(answer.json())
        words = WORDS if kind in ("text/html", "application/problem+json") else ()
        assert not [word for word in words if word in answer.text], asked
        looked += 1
    assert looked > 200


def test_an_alarm_of_one_twin_is_for_examiners_alone(tmp_path: Path) -> None:
    settings = ({"learner": "threshold-0", "level": 0.5}, {"model": "state", "level": 0.9})
    with Twins(tmp_path, settings) as twins:
        for server in twins.servers:
            study = Study(server.store, "ward", clock=twins.clock)
            for case in range(1, 61):
                twins.clock.now += timedelta(minutes=1)
                state = 1 if case % 2 else 3
                study.open_case(state, who="the office")
                study.tell(case, 0 if state == 1 else 4, took="continue", who="the office")
            twins.clock.now -= timedelta(minutes=60)  # The other one does it at the same time.
        twins.clock.now += timedelta(days=1)
        found = [study.status().alarms or () for study in twins.studies()]
        first = [{one.name: one.case or 0 for one in alarms} for alarms in found]
        assert first[0]["p_C by state"] < first[1]["p_C by state"]
        statistician = [tokens["statistician"] for tokens in twins.tokens]
        pages = [
            server.ask("GET", "/studies/ward", token).text
            for server, token in zip(twins.servers, statistician, strict=True)
        ]
        assert ["The advice allows for that." in page for page in pages] == [False, True]
        for asked in walk("recorder", ANYBODY):
            one, other = twins.ask(asked)
            assert seen(one) == seen(other), asked
            if asked.path == WARD and asked.role == "recorder":
                assert (one.json()["alarms"], one.json()["model"]) == (None, None)


def test_what_people_recorded_is_shown(twins: Twins) -> None:
    list(twins.play())
    server, token = twins.servers[0], twins.tokens[0]["recorder"]
    items = server.ask("GET", f"{WARD}/events", token).json()["items"]
    told = [one for one in items if (one["kind"], one["case"]) == ("tell", 3)]
    assert json.loads(told[0]["request"])["why"] == "she asked for it"
    answered = json.loads(told[0]["response"])
    assert (answered["from"], answered["took"], answered["state"]) == (1, "finish", 0)
    assert answered["status"] == "lost"
    config = json.loads(items[0]["request"])["config"]
    assert (config["goal"], config["windows"]) == (4, {"finish": 8640.0})
    cases = server.ask("GET", f"{WARD}/cases", token).json()["items"]
    assert [one["status"] for one in cases] == ["won", "open", "lost", "open", "won"]
    log = server.ask("GET", "/studies/ward/log", token).text
    assert "Step 1: finishing led from state 1 to the dead end." in log
    assert "Reason: she asked for it" in log
    assert "damaged" not in log
    evidence = server.ask("GET", "/studies/ward/evidence", token).text
    assert "only the role statistician" in evidence
    refused(server.ask("GET", f"{WARD}/cases/1/basis", token), 403, "shadow mode")


def test_a_client_reads_what_is_left(twins: Twins) -> None:
    list(twins.play())
    for server, tokens in zip(twins.servers, twins.tokens, strict=True):
        with Client(server.url, "ward", token=tokens["recorder"]) as client:
            status = client.status().to_dict()
            assert (status["basis"], status["head"], status["goal"]) == (None, None, 4)
            assert [case.overridden for case in client.cases()] == [None] * 5
            assert client.case(1).status == "won"
            advice = client.ask(2)
            assert (advice.action, advice.basis, advice.shadow) == (None, None, True)
            group = next(iter(status["groups"]), None)
            assert client.open_case(2, group=group).state == 2
            assert client.basis(2) is None
            assert {one.p_f for one in client.trajectory()} == {None}
            assert {event.hash for event in client.log()} == {""}
        with Client(server.url, "ward", token=tokens["statistician"]) as client:
            assert client.status().to_dict() == Study(server.store, "ward").status().to_dict()
            assert client.log() == Study(server.store, "ward").log()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_pages_stay_of_use_to_whoever_records(
    tmp_path: Path, browser: Watched, size: dict[str, int]
) -> None:
    with Twins(tmp_path, TWINS["seeds"]) as twins:
        list(twins.play())
        server, token = twins.servers[0], twins.tokens[0]["recorder"]
        bearer = {"Authorization": f"Bearer {token}"}
        with browser.page(viewport=size, extra_http_headers=bearer, font=WIDE) as page:
            for path in ("?show=all", "/cases/1", "/cases/2", "/evidence", "/log"):
                page.goto(f"{server.url}/studies/ward{path}")
                text = page.inner_text("main")
                assert "Shadow mode. The study watches and learns" in text
                assert not re.search(r"\bNone\b|\bnull\b|\(\)", text), path
                assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path
                assert misplaced(page) == [], path
                for box in page.locator("section, figure, dl, td, table").all():
                    assert box.inner_html().strip(), path
            page.goto(f"{server.url}/studies/ward/cases/2")
            page.get_by_role("button", name="Up to state 3").click()
            page.get_by_role("button", name="Yes, record it").click()
            page.get_by_text("Step 1 is recorded.").wait_for()
        told = twins.studies()[0].log(case=2)[-1]
    assert (told.kind, told.step, told.who) == ("tell", 1, "the recorder")


# The shell, on which everybody is taken for somebody who decides freely.

SHELL: Final[Mapping[str, tuple[str, ...]]] = {
    "studies": ("",),
    "status": ("",),
    "open": ("--state 1", "--state 3 --key k", "--state 3 --key k", "--state 4"),
    "tell": (
        "--case 1 --state 2",
        "--case 1 --state 2 --took continue",
        "--case 1 --state 3 --took finish",
        "--case 1 --state 4 --took finish",
        "--case 1 --state 4 --took finish",
        "--case 2 --state 2 --took continue --step 1",
        "--case 2 --state 2 --step 1",
        "--case 2 --state 4 --step 1",
    ),
    "void": ("--case 2 --why slip --step 4", "--case 2 --why slip"),
    "undo": ("--case 2", "--case 1 --who somebody"),
    "code": ("--case 2 --code B-12", "--case 2 --code B-12 --erase", "--case 2 --erase"),
    "ask": ("--case 1", "--case 2", "--code B-12", "--case 99"),
    "withdraw": ("--case 2 --why moved", "--case 2 --why moved"),
    "cases": ("", "--status won", "--code B-12"),
    "log": ("", "--case 1", "--after 2 --limit 1"),
    "archive": ("--why done", "--why again"),
    "unarchive": ("--why more", "--why more"),
}
"""How each verb is used, in this order."""

COMPLETE: Final = {"verify", "replay", "export", "import", "backup", "learner"}
"""The verbs of a statistician or an admin, who see everything."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock by which the shell records."""
    clock = Clock()
    monkeypatch.setattr(arguments, "utc_now", clock)
    monkeypatch.setitem(Study.__init__.__kwdefaults__, "clock", clock)  # type: ignore[arg-type]
    return clock


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a verb in one of two folders."""
    monkeypatch.delenv("GRBP_STORE", raising=False)

    def shell(folder: int, *arguments: str) -> tuple[int, str, str]:
        (tmp_path / str(folder)).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / str(folder))
        status = main(["live", *arguments])
        return status, *capsys.readouterr()

    return shell


def _write(given: Any) -> str:
    """Write a setting as the shell takes it."""
    return ",".join(given) if isinstance(given, tuple) else str(given)


@pytest.mark.sample("seeds", "groups")
@pytest.mark.parametrize("settings", TWINS.values(), ids=TWINS)
def test_twins_look_the_same_on_the_shell(
    settings: tuple[dict[str, Any], ...], clock: Clock, run: Callable[..., tuple[int, str, str]]
) -> None:
    assert {*SHELL, *COMPLETE, "init"} >= {*live._COMMANDS}, "say in SHELL how a new verb is used"
    made = ["init", "--study", "ward", "--goal", "4", "--shadow", "--who", "ada", "--window"]
    begun = [
        run(k, *made, "finish=2", *(f"--{name}={_write(given)}" for name, given in hidden.items()))
        for k, hidden in enumerate(settings)
    ]
    assert begun[0] == begun[1]
    assert begun[0][0] == 0
    for verb, uses in SHELL.items():
        for use in uses:
            words = use + " --group north" * (verb == "open" and "groups" in settings[0])
            for form in ([], ["--json"]):
                clock.now += timedelta(minutes=7)
                one, other = (run(k, verb, *words.split(), *form) for k in (0, 1))
                assert one == other, (verb, words)
                assert one[0] in (0, 2)
                if form and one[0] == 0:
                    check_json(json.loads(one[1]))
    studies = [Study(Path(f"../{k}/{options.STORE}")) for k in (0, 1)]
    assert decided(studies[0]) != decided(studies[1])
    assert studies[0].status().events == studies[1].status().events > 8
    for verb in ("verify", "export"):
        assert run(0, verb) != run(1, verb)


def test_the_shell_shows_what_a_recorder_sees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Twins(tmp_path, TWINS["seeds"]) as twins:
        list(twins.play())
        server, token = twins.servers[0], twins.tokens[0]["recorder"]

        def shell(*arguments: str) -> Any:
            assert main(["live", *arguments, "--store", server.store.where, "--json"]) == 0
            return json.loads(capsys.readouterr().out)

        assert shell("status") == server.ask("GET", WARD, token).json()
        assert shell("ask", "--case", "2") == (
            server.ask("GET", f"{WARD}/cases/2/advice", token).json()
        )
        assert shell("cases")["cases"] == server.ask("GET", f"{WARD}/cases", token).json()["items"]
        events = server.ask("GET", f"{WARD}/events", token).json()["items"]
        for event in events:
            event |= {name: json.loads(event[name]) for name in ("request", "response")}
        assert shell("log")["events"] == events


# The list of what is shown.


@pytest.mark.parametrize(
    ("cls", "model"),
    [
        (Status, StatusModel), (Case, CaseModel), (Advice, AdviceModel), (Event, EventModel),
        (grbp.live.queries.Moment, MomentModel),
    ],
)  # fmt: skip
def test_a_part_that_is_not_listed_is_hidden_and_described_as_such(cls: Any, model: Any) -> None:
    names = getattr(cls, "_fields", None) or [one.name for one in fields(cls)]
    texts = {"request": "{}", "response": "{}"}
    shown = show(cls(**{name: texts.get(name, 7) for name in names}), shadow=True)
    for name in names:
        left = getattr(shown, name)
        assert left == texts.get(name, 7) if name in SHOWN[cls] else left in (None, ""), name
    schema = model.model_json_schema()["properties"]
    for name in set(names) & set(schema) - SHOWN[cls]:
        assert "shadow mode" in schema[name]["description"]
        null = {"type": "null"} in schema[name].get("anyOf", [])
        assert null is (cls is not Event)


def test_what_nobody_has_listed_is_not_shown_at_all() -> None:
    study = Study.create("memory", "ward", 4)
    study.open_case(2)
    basis = study.ask(2 - 1).basis
    with pytest.raises(KeyError):
        show(basis, shadow=True)
    assert show(basis, shadow=True, examiner=True) is basis
    assert show(basis, shadow=False) is basis


def test_a_damaged_event_shows_nothing() -> None:
    study = Study.create("memory", "ward", 4, shadow=True)
    study.open_case(2)
    event = study.log()[1]
    for broken in ("{", "[]", "", '{"config":7}', '"threshold"', "[" * 100_000):
        assert show(event._replace(response=broken), shadow=True).response == ""


def test_a_learner_that_fails_tells_nothing() -> None:
    for name, choose in (
        ("odd", lambda _goal, _constants, n, _key: 2 // int(n.rho - n.rho)),
        ("other", lambda _goal, _constants, _n, _key: 2),
    ):
        learner = grbp.Learner(name, choose, thresholds=(0, 1))
        study = Study.create("memory", "ward", 4, learner, shadow=True)
        with pytest.raises(grbp.InvalidInput) as raised:
            study.open_case(1)
        assert str(raised.value) == (
            "the study's learner cannot decide, and shadow mode hides why; cases in progress go on,"
            " and `grbp live learner --study ward` lets another learner decide the next ones"
        )
    store = grbp.live.store.memory.MemoryStore()
    Study.create(store, "ward", 4, "getbe-sm:gamma=14", shadow=True).open_case(1)
    with patch.dict(grbp.LEARNERS):  # which gives all back in their order
        del grbp.LEARNERS["getbe-sm"]
        grbp.live.config.load_config.cache_clear()
        left = Study(store)
        said = [str(left.status().undecided), *left.replay().problems]
    grbp.live.config.load_config.cache_clear()
    assert left.read_only is None
    assert all("getbe" not in one and "shadow mode hides why" in one for one in said)
