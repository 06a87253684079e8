"""The client is a study: one body of code runs over both, and everything it sees is the same."""

import json
import math
import os
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Clock, Serving

from grbp import (
    Action,
    Advice,
    Basis,
    CannotWrite,
    Client,
    Conflict,
    Counters,
    GrbpError,
    InvalidInput,
    NotFound,
    ReadOnly,
    Study,
)
from grbp.live.queries import read_config
from grbp.live.transport import Transport

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path / "served", asking="admin") as serving:
        yield serving


def plain(value: Any) -> Any:
    """What something says, so that NaN equals NaN."""
    if isinstance(value, Advice):
        return type(value).__mro__[-2], value.to_dict(), repr(value), hash(value)
    if hasattr(value, "to_dict"):
        return type(value), value.to_dict()
    if isinstance(value, Iterator):
        return list(value)
    return type(value), value


def said(verb: str, *given: Any, **more: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    return verb, given, more


KEY = "bed 7 % ä\u20ac"
VISIT = [
    said("open_case", 2, key=KEY),
    said("open_case", 2, key=KEY),
    said("open_case", 1, key=KEY),
    said("open_case", np.int64(3), observed="2026-01-01T00:00Z"),
    said("open_case", 1, observed=datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))),
    *(said("open_case", one) for one in (0, 4, 2.5, "2", None, True, math.nan, 10**30, -1)),
    said("open_case", 2, observed="tomorrow"),
    said("open_case", 2, observed=datetime(2030, 1, 1, tzinfo=UTC)),
    said("open_case", 2, key=""),
    said("open_case", 2, key="x" * 201),
    said("ask", 1),
    said("tell", 1, 1),
    said("tell", 1, 4, took=Action.FINISH, step=2),
    said("tell", 2, 2, took="continue", why="", step=1),
    said("tell", 2, 2, step=1),
    said("tell", 2, 4, step=1),
    said("tell", 2, 4, took="finish"),
    said("tell", 2, 4, took="finish", why="a bed was free"),
    said("tell", 2, 4, took="jump", why="x"),
    said("tell", 2, 0, why="two\nlines"),
    said("tell", 99, 1),
    said("tell", "1", 1),
    said("void", 2, "it was the other bed", step=9),
    said("void", 2, "it was the other bed", key="v"),
    said("void", 2, None),
    said("void", 99, "x"),
    said("set_code", 2, "Bétt % 7"),
    said("set_code", 3, "BéTT % 7"),
    said("set_code", 3, "x" * 17),
    said("set_code", 99, "x"),
    said("find_cases", "bétt % 7"),
    said("find_cases", ""),
    said("open_case", 1, code="bétt % 7"),
    said("open_case", 1, code="C", key="C"),
    said("set_code", 2, None),
    said("undo", 2, key="u"),
    said("undo", 2, key="u"),
    said("undo", 99),
    said("withdraw_case", 3, ""),
    said("withdraw_case", 3, "moved away", key="c"),
    said("withdraw_case", 3, "moved away"),
    said("ask", 3),
    said("ask", 0),
    said("cases"),
    said("cases", 1, 1),
    said("cases", status="open"),
    said("cases", status="lost"),
    said("cases", limit=0),
    said("cases", after=-1),
    said("log"),
    said("log", 2, 3),
    said("log", case=2),
    said("log", case=-2),
    said("status"),
    said("verify"),
    said("replay"),
    said("archive", ""),
    said("archive", "it is over"),
    said("archive", "again"),
    said("open_case", 2),
    said("unarchive", "it goes on"),
    said("unarchive", "again"),
    said("export_lines"),
]
"""Everything that can be done with a study, and mistakes in it."""


def visit(study: Any, clock: Clock, folder: Path) -> Iterator[Any]:
    """Do all of it, and yield what is seen; in a study with groups, all cases are of the last."""
    yield study.name, study.goal, study.read_only
    grouped = {"group": study.status().groups[-1]} if study.status().groups else {}
    for verb, given, said_of_it in VISIT:
        more = said_of_it | (grouped if verb == "open_case" else {})
        clock.now += timedelta(minutes=1)
        try:
            yield plain(getattr(study, verb)(*given, **more))
        except GrbpError as error:
            yield type(error), str(error)
    for verb in ("export", "export_steps", "backup"):
        yield getattr(study, verb)(folder / verb) == folder / verb
        yield verb == "backup" or (folder / verb).read_bytes()
    with pytest.raises(InvalidInput, match="it exists already"):
        study.backup(folder / "backup")
    with Study(folder / "backup", study.name) as copy:
        yield copy.log()


@pytest.mark.sample("settings2", "settings4")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"learner": "getbe-sm", "seed": 7, "start": "first", "level": 0.9},
        {"start": Counters(90, 50.0, 15.0, 100.0, 45.0, 9.0, 3.0, 80.0, 40.0), "cases": 100},
        {"shadow": True, "windows": {"finish": 0.1}},
        {"model": "state", "memory": 50, "groups": ["north", "south"]},
    ],
)
def test_one_body_of_code_sees_the_same_over_both(tmp_path: Path, settings: Any) -> None:
    seen: list[list[Any]] = []
    near, far = Clock(), Clock()
    with Serving(tmp_path / "served", far, asking="admin") as server:
        who = server.ask("GET", "/api/session").json()["actor"]
        for clock, study in (
            (near, Study.create(tmp_path / "s", "ward", 4, **settings, who=who, clock=near)),
            (far, Client.create(server.link, "ward", 4, **settings, who=who)),
        ):
            folder = tmp_path / type(study).__name__
            folder.mkdir()
            with study:
                seen.append(list(visit(study, clock, folder)))
    for ours, theirs in zip(*seen, strict=True):
        assert ours == theirs


def _play(study: Study) -> Study:
    """Record cases that move down from state 1 and up from state 3; at the end FINISH for all."""
    groups = study.status().groups or (None,)
    for case in range(1, 41):
        state, took = 1 if case % 2 else 3, "continue" if case < 37 else "finish"
        study.open_case(state, group=groups[case // 2 % len(groups)])
        study.tell(case, 0 if state == 1 else 4, took=took, why="as it was")
    return study


def test_warnings_are_the_same_over_both(server: Serving) -> None:
    study = _play(Study.create(server.store, "ward", 4))
    advice = study.open_case(2)
    assert "one chance" in " ".join(advice.warnings)
    with Client(server.link, "ward") as client:
        assert client.ask(41).warnings == client.open_case(2).warnings == advice.warnings
        assert client.status() == study.status()
        assert client.status().against == study.status().against
        assert [one.sentence for one in client.status().against] == [*advice.warnings]
    allows = _play(Study.create(server.store, "by state", 4, model="state"))
    assert allows.status().alarms
    assert allows.status().against == ()
    assert allows.open_case(2).warnings == ()


@pytest.mark.parametrize("groups", [None, ["south", "north"], ["a", "b", "c"]])
def test_a_study_begins_with_the_records_of_another(server: Serving, groups: Any) -> None:
    study = _play(Study.create(server.store, "ward", 4, groups=["north", "south"]))
    next_ = Study.create("memory", "next", 4, model="state", groups=groups, start=study)
    made = next_.status()
    # The cases of the records were rounds as well.
    settled = sum(study.status().cases[end] for end in ("won", "lost"))
    assert settled > 0
    assert read_config(next_._store, "next").first_round == 1 + settled
    with Client(server.link, "ward") as client:
        for name, start in (("near", study), ("far", client)):
            with Client.create(
                server.link, name, 4, model="state", groups=groups, start=start
            ) as found:
                assert found.status().basis == made.basis
                assert found.status().by_group == made.by_group
                assert found.status().start == "records"
        body = {"name": "there", "goal": 4, "model": "state", "groups": groups, "from": "ward"}
        answer = server.ask("POST", "/api/studies", json=body).json()
        assert answer["basis"] == made.basis.to_dict()
        with Client.create(server.link, "one", 4, start=client) as one:
            near = Study.create("memory", "one", 4, start=study)
            assert one.status().basis == near.status().basis


def test_advice_is_equal_on_both_sides_and_gives_its_reasons_later(server: Serving) -> None:
    study = Study.create(server.store, "ward", 4)
    with Client(server.link, "ward") as client:
        far = client.open_case(1)
        near = study.ask(1)
        assert client.ask(1) == near
        assert near == client.ask(1)
        assert far != near  # Only one of them was an event.
        assert hash(client.ask(1)) == hash(near)
        study.tell(1, 0, took="finish", why="as it was")
        study.open_case(2)
        assert isinstance(far.basis, Basis)
        assert far.basis.to_dict() == near.to_dict()["basis"]
        assert client.ask(1).basis is None


def test_a_study_can_be_left_unnamed_where_there_is_one(server: Serving) -> None:
    with pytest.raises(NotFound, match="it has none"):
        Client(server.link)
    with pytest.raises(NotFound, match="'ward'"):
        Client(server.link, "ward")
    Client.create(server.link, "a study/2".replace("/", " "), 4).close()
    with Client(server.link) as client:
        assert client.name == "a study 2"
        assert repr(client) == f"<Client({server.url!r}, 'a study 2'): goal 4>"
    Study.create(server.store, "b", 4)
    with pytest.raises(NotFound, match="it has 'a study 2', 'b'"):
        Client(server.link)
    assert Client.names(server.link) == ["a study 2", "b"]


def test_an_export_comes_back_as_it_was(server: Serving, tmp_path: Path) -> None:
    with Study.create(tmp_path / "one.sqlite", "ward", 4) as study:
        study.open_case(2)
        path = study.export(tmp_path / "ward.jsonl")
        with Client.import_(server.link, path) as client:
            assert client.log() == study.log()
            assert client.status().to_dict() == study.status().to_dict()
    with pytest.raises(Conflict, match="'ward'"):
        Client.import_(server.link, path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InvalidInput, match=f"^{path}"):
        Client.import_(server.link, path)
    (tmp_path / "no").write_text("{}\n", "utf-8")
    with pytest.raises(InvalidInput, match="not an exported study"):
        Client.import_(server.link, tmp_path / "no")


@pytest.mark.slow
def test_studies_in_postgresql_are_served_as_well(tmp_path: Path, dsn: str) -> None:
    with (
        Serving(tmp_path, dsn=dsn, asking="admin") as server,
        Client.create(server.link, "ward", 4) as client,
    ):
        threads = [
            threading.Thread(target=lambda: [client.open_case(2) for _ in range(10)])
            for _ in range(4)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert client.verify() == Study(server.store, "ward").verify()
        assert client.status().cases["open"] == 40
        assert Study(client.backup(tmp_path / "copy"), "ward").log() == client.log()


def test_more_rows_than_a_page_come_in_several(server: Serving) -> None:
    study = Study.create(server.store, "ward", 4)
    study._store.write("ward", lambda tx: [_opened(tx) for _ in range(2_300)])
    with Client(server.link) as client:
        assert client.cases(limit=2_100) == study.cases(limit=2_100)
        assert client.log(150, 1_000_000) == study.log(150, 1_000_000)


def _opened(tx: Any) -> object:
    from grbp.live.calls import Call  # noqa: PLC0415
    from grbp.live.recording import record  # noqa: PLC0415

    return record(tx, Call("ada", "2026-01-01T00:00:00+00:00", version="0"), "open", state=2)


def test_a_study_that_cannot_be_written_says_so_on_both_sides(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study.create(server.store, "ward", 4)
    monkeypatch.setattr(server.store, "checks", lambda: ["the disk is on fire"])
    with Client(server.link) as client:
        assert client.read_only == "the disk is on fire"
        with pytest.raises(ReadOnly, match="the disk is on fire"):
            client.open_case(2)


def test_a_learner_is_a_name_of_the_packages(server: Serving) -> None:
    from grbp import find_learner  # noqa: PLC0415

    with pytest.raises(InvalidInput, match="over HTTP it must be a name"):
        Client.create(server.link, "ward", 4, find_learner("getbe-sm", 4))
    with pytest.raises(InvalidInput, match="goal = 1 "):
        Client.create(server.link, "ward", 1)


@pytest.mark.parametrize(
    "url",
    ["", "ward.sqlite", "http://", "ftp://127.0.0.1", "http://127.0.0.1:x", "http://127.0.0.1/x",
     "http://a:b@127.0.0.1", "http://127.0.0.1?x", None],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^the address .* was given"):
        Client(url)


def test_a_token_is_never_sent_for_everybody_to_read() -> None:
    with pytest.raises(InvalidInput, match="must begin with https"):
        Client("http://ward.example.org", token="grbp_x")  # noqa: S106
    with pytest.raises(InvalidInput, match="the token is malformed"):
        Client("http://127.0.0.1", token="a\r\nb")  # noqa: S106


def test_an_address_carries_its_token_and_never_shows_it(server: Serving) -> None:
    Study.create(server.store, "ward", 4)
    token = str(server.asking)
    for end in (f"/sign-in#token={token}", f"/sign-in/#token={token}", f"/#token={token}",
                f"#token={token}"):  # fmt: skip
        with Client(server.url + end) as client:
            assert repr(client) == f"<Client({server.url!r}, 'ward'): goal 4>"
    with Client(f"{server.url}/sign-in#token=grbp_wrong", token=token):
        pass  # The one that is given counts.
    for wrong in (f"{server.url}/other#token={token}", f"ftp://ward#token={token}",
                  f"http://ward.example.org/sign-in#token={token}"):  # fmt: skip
        with pytest.raises(InvalidInput) as refusal:
            Client(wrong)
        assert "grbp_" not in str(refusal.value)


def test_a_wrong_token_is_refused(server: Serving) -> None:
    server.token()
    for token in (None, "grbp_wrong"):
        with pytest.raises(InvalidInput, match="token"):
            Client(server.url, token=token)


def test_a_server_that_is_not_there_cannot_be_written_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(CannotWrite, match="cannot be reached"):
        Client(f"http://127.0.0.1:{port}")


class Broken:
    """A server that reads requests, and answers to some of them only."""

    def __init__(self, answers: list[bytes]) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked: list[bytes] = []
        self._answers = answers
        self._socket.settimeout(10)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for answer in self._answers:
            link, _ = self._socket.accept()
            with link:
                self.asked.append(link.recv(65_536))
                link.sendall(answer)

    def close(self) -> None:
        self._thread.join()
        self._socket.close()


DONE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


def test_what_may_be_stored_is_sent_again_only_with_a_key() -> None:
    broken = Broken([b"", b"", DONE, b"", DONE, b""])
    transport = Transport(broken.url, None, 10)
    with pytest.raises(CannotWrite, match="may be stored or not"):
        transport.post("/a", {"state": 1})
    assert transport.post("/b", {"state": 1}, key="k") == {}
    assert transport.get("/c") == {}
    with pytest.raises(CannotWrite, match="may be stored or not"):
        transport.post("/d")
    broken.close()
    assert [one.split()[1] for one in broken.asked] == [b"/a", b"/b", b"/b", b"/c", b"/c", b"/d"]
    with pytest.raises(CannotWrite, match="cannot be reached"):
        transport.post("/x", key="k")


def test_an_answer_that_is_cut_off_is_not_taken_for_whole(tmp_path: Path) -> None:
    half = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    broken = Broken([half, DONE[:-1]])
    transport = Transport(broken.url, None, 10)
    with pytest.raises(CannotWrite), transport.stream("/x") as answer:
        answer.read()
    with pytest.raises(CannotWrite):
        transport.post("/x")
    broken.close()
    assert not list(tmp_path.iterdir())


def test_what_is_no_problem_of_ours_is_said_all_the_same() -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\n<h1>"
    broken = Broken([page, page.replace(b"502", b"404")])
    transport = Transport(broken.url, None, 10)
    with pytest.raises(CannotWrite, match="status 502"):
        transport.get("/x")
    with pytest.raises(InvalidInput, match="status 404"):
        transport.get("/y")
    broken.close()
    transport.close()


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b'{"a": 1}', b""])
def test_another_server_is_not_taken_for_ours(body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    broken = Broken([head % len(body) + body])
    with pytest.raises(InvalidInput, match="what answers there is not `grbp serve`"):
        Client(broken.url)
    broken.close()


def test_a_server_that_sends_elsewhere_is_not_followed() -> None:
    away = b"HTTP/1.1 301 Moved\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n"
    late = b"HTTP/1.1 503 Later\r\nRetry-After: Mon, 16 Nov\r\nContent-Length: 0\r\n\r\n"
    broken = Broken([away, late])
    with pytest.raises(InvalidInput, match="status 301"):
        Client(broken.url)
    with pytest.raises(CannotWrite, match="status 503"):
        Client(broken.url)
    broken.close()


def test_whoever_asked_too_often_waits_and_asks_again() -> None:
    wait = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n"
    broken = Broken([wait % b"0", DONE, wait % b"61"])
    transport = Transport(broken.url, None, 10)
    assert transport.post("/x", {"state": 1}) == {}
    with pytest.raises(InvalidInput, match="status 429"):
        transport.get("/x")
    broken.close()
    transport.close()


def test_one_connection_carries_all_requests(server: Serving) -> None:
    Study.create(server.store, "ward", 4)
    with Client(server.link) as client:
        kept = list(client._transport._idle)
        assert len(kept) == 1
        assert [client.open_case(2).case for _ in range(3)] == [1, 2, 3]
        assert client._transport._idle == kept


def test_threads_share_a_client_and_a_child_has_its_own_connections(server: Serving) -> None:
    Study.create(server.store, "ward", 4)
    with Client(server.link) as client:
        found: list[int] = []

        def work() -> None:
            found.extend(client.open_case(2).case for _ in range(20))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert sorted(found) == list(range(1, 81))
        idle = client._transport._idle
        assert 1 <= len(idle) <= 4
        client._transport._process = os.getpid() + 1  # As if it were forked now.
        assert client.ask(1).case == 1
        assert client._transport._idle[0] not in idle
        for link in idle:
            link.close()


def test_what_json_cannot_carry_is_refused(server: Serving) -> None:
    Study.create(server.store, "ward", 4)
    with Client(server.link) as client, pytest.raises(InvalidInput, match="number or text"):
        client.open_case(object())  # type: ignore[arg-type]
    assert json.dumps(math.nan) == "NaN"
