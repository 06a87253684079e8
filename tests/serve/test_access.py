"""Who is let in: every route by its role, tokens and sessions by their time, and nobody else."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from serving import ROLES_BY_ROUTE, Clock, Serving, refused
from starlette.routing import Mount, Route

from grbp import Client, InvalidInput, Study
from grbp.live.endpoints import ROLES
from grbp.live.store import open_store
from grbp.live.transport import NDJSON
from grbp.serve.middleware import PROBES
from grbp.serve.settings import EVENT_STREAM
from grbp.serve.tokens import ANYBODY, Tokens, hash_token, may

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path) as serving:
        Study.create(serving.store, "ward", 4)
        yield serving


def filled(path: str) -> str:
    return (
        path.replace("{name}", "explorer.css")
        .replace("{study}", "ward")
        .replace("{case}", "1")
        .replace("{id}", "nobody")
    )


def test_every_route_has_a_role(server: Serving) -> None:
    there = [
        (method, route.path)
        for route in server.app.router.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    ]
    assert sorted(there) == sorted(ROLES_BY_ROUTE)
    assert len(server.app.router.routes) == len(there)
    assert set(ROLES_BY_ROUTE.values()) == {ANYBODY, *ROLES}


def test_the_reference_lists_every_route_and_its_role() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "serve.md"
    listed = re.findall(r"^\| `([A-Z]+) (\S+)` \| ([a-z]+) \|", page.read_text("utf-8"), re.M)
    assert sorted(listed) == sorted((*route, role) for route, role in ROLES_BY_ROUTE.items())


def test_every_route_is_refused_without_its_role(server: Serving) -> None:
    tokens = server.everybody()
    for (method, path), needed in ROLES_BY_ROUTE.items():
        answer = server.ask(method, filled(path))
        if needed == ANYBODY:
            assert answer.status_code in (200, 204, 422), path
        else:
            refused(answer, 401, "token")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        for role, token in tokens.items():
            answer = server.ask(method, filled(path), token)
            if may(role, needed):
                assert answer.status_code not in (401, 403), (method, path, role)
            else:
                refused(answer, 403, f"the role {role}", f"needs the role {needed}")


def test_a_role_may_do_what_those_before_it_may() -> None:
    assert [[may(role, needed) for needed in ROLES] for role in ROLES] == [
        [place <= rank for place in range(5)] for rank in range(5)
    ]


def test_a_route_without_a_role_is_open_to_nobody(tmp_path: Path) -> None:
    serving = Serving(tmp_path)
    more = APIRouter()
    more.get("/included")(lambda: "in")
    serving.app.include_router(more)
    serving.app.get("/added")(lambda: "in")
    serving.app.router.routes.append(
        Mount("/mounted", routes=[Route("/x", lambda _: PlainTextResponse("in"))])
    )
    with serving:
        for path in ("/included", "/added", "/mounted/x"):
            refused(serving.ask("GET", path), 403, "open to nobody")
            refused(serving.ask("GET", path, serving.token("admin")), 403, "open to nobody")
        serving.app.get("/later")(lambda: "in")
        refused(serving.ask("GET", "/later", serving.token("admin")), 403, "open to nobody")
        refused(serving.ask("GET", "/nothing"), 401)
        refused(serving.ask("GET", "/nothing", serving.token("viewer")), 404, "/openapi.json")


def test_nobody_gets_in_before_the_first_token_is_made_nor_when_all_have_ended(
    server: Serving,
) -> None:
    def look() -> None:
        for (method, path), needed in ROLES_BY_ROUTE.items():
            answer = server.ask(method, filled(path))
            if needed == ANYBODY:
                assert answer.status_code in (200, 204, 422), path
            else:
                refused(answer, 401, "a token is needed")
            if path not in PROBES:
                guess = server.ask(method, filled(path), "grbp_guessed")
                refused(guess, 401, "unknown")

    look()
    token = server.tokens.make_first("ada")
    assert server.ask("GET", "/api/session", token).json()["role"] == "admin"
    look()
    made = server.ask("POST", "/api/tokens", token, json={"label": "chief", "role": "admin"})
    assert made.status_code == 201
    assert (made.json()["made_by"], made.json()["revoked_by"]) == ("ada", None)
    chief = made.json()["token"]
    (first, _) = server.ask("GET", "/api/tokens", chief).json()["items"]
    assert server.ask("DELETE", f"/api/tokens/{first['id']}", chief).status_code == 204
    assert server.tokens.all()[0].revoked_by == "chief"
    assert server.ask("DELETE", f"/api/tokens/{made.json()['id']}", chief).status_code == 204
    for ended in (token, chief):
        refused(server.ask("GET", "/api/studies", ended), 401, "revoked")
    look()


def test_who_records_is_always_who_the_token_says(server: Serving) -> None:
    token = server.token("recorder")
    body = {"state": 2, "who": "somebody else"}
    refused(server.ask("POST", "/api/studies/ward/cases", token, json=body), 422, "who")
    server.ask("POST", "/api/studies/ward/cases", token, json={"state": 2})
    with Client(server.url, "ward", token=token) as client:
        assert client.log()[-1].who == "the recorder"
        client.open_case(1, who="the recorder")
        with pytest.raises(InvalidInput, match="the token says who records"):
            client.open_case(1, who="somebody else")
    with pytest.raises(InvalidInput, match="the token says who records"):
        Client(server.url, "ward", token=token, who="ada")


def test_tokens_end_in_time_and_when_they_are_revoked(tmp_path: Path) -> None:
    clock = Clock()
    with Serving(tmp_path, clock) as server:
        short, long = server.token(days=1), server.token(days=2)
        assert server.ask("GET", "/api/studies", short).status_code == 200
        clock.now += timedelta(days=1)
        refused(server.ask("GET", "/api/studies", short), 401, "expired")
        # Another program revokes it, while the server runs.
        with closing(open_store(tmp_path / "studies.sqlite")) as store:
            elsewhere = Tokens(store, clock)
            elsewhere.revoke(elsewhere.all()[1].id)
        _until_refused(server, long)
        for wrong in ("x", long[:-1], f"{long}x", "grbp_", "\xe9"):
            bearer = {"Authorization": f"Bearer {wrong}".encode("latin-1")}
            refused(server.ask("GET", "/api/studies", headers=bearer), 401)


def _until_refused(server: Serving, token: str) -> None:
    """Wait until a token is refused that was revoked elsewhere: within a second, but for load."""
    until = time.monotonic() + 30
    while server.ask("GET", "/api/studies", token).status_code == 200:
        assert time.monotonic() < until
        time.sleep(0.01)
    refused(server.ask("GET", "/api/studies", token), 401, "revoked")


@pytest.mark.parametrize(
    "statement",
    ["update events set who = 'eve'", "update studies set config = '{}'", "delete from events"],
)
def test_a_damaged_log_of_the_store_lets_nobody_in(tmp_path: Path, statement: str) -> None:
    with Serving(tmp_path) as first:
        token = first.token()
    with closing(sqlite3.connect(tmp_path / "studies.sqlite")) as run, run:
        run.execute(statement)
    with Serving(tmp_path) as server:
        for given in (token, "grbp_guessed"):
            said = refused(server.ask("GET", "/api/studies", given), 503, "nobody can be let in: ")
            assert "the store's own log" in said
        said = refused(server.ask("POST", "/api/session", json={"token": token}), 503, "nobody can")
        assert "the store's own log" in said
        refused(server.ask("GET", "/api/studies"), 401)
        assert server.ask("GET", "/health").status_code == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_all_servers_of_a_store_have_the_same_door(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    dsn = request.getfixturevalue("dsn") if kind == "postgres" else None
    with Serving(tmp_path, dsn=dsn) as one, Serving(tmp_path, dsn=dsn) as two:
        Study.create(one.store, "ward", 4)
        token = one.tokens.make_first("ada")
        assert two.tokens.make_first("eve") is None
        for server in (two, one):
            refused(server.ask("GET", "/api/studies"), 401)
            assert server.ask("GET", "/api/session", token).json()["actor"] == "ada"
        made = one.ask("POST", "/api/tokens", token, json={"label": "b", "role": "viewer"}).json()
        sent = {"Cookie": begun(two, made["token"]).split("; ")[0]}
        assert two.ask("GET", "/api/session", headers=sent).json()["actor"] == "b"
        assert one.ask("DELETE", f"/api/tokens/{made['id']}", token).status_code == 204
        refused(one.ask("GET", "/api/studies", made["token"]), 401, "revoked")
        _until_refused(two, made["token"])
        refused(two.ask("GET", "/api/session", headers=sent), 401)


@pytest.mark.parametrize("kind", [NDJSON, EVENT_STREAM])
@pytest.mark.parametrize("end", ["here", "elsewhere", "in time"])
def test_a_stream_ends_with_the_token_of_whoever_follows_it(
    tmp_path: Path, end: str, kind: str
) -> None:
    clock = Clock()
    with Serving(tmp_path, clock) as server:
        study = Study.create(server.store, "ward", 4)
        admin, token = server.token("admin", 2), server.token("viewer", 1)
        path = "/api/studies/ward/events.ndjson?follow=3600"
        headers = server.bearer(token) | {"Accept": kind}
        with server.http.stream("GET", path, headers=headers) as stream:
            # A browser reads more around the lines.
            lines = (line[line.find("{") :] for line in stream.iter_lines() if "{" in line)
            assert json.loads(next(lines))["kind"] == "study"
            study.open_case(2)
            assert json.loads(next(lines))["kind"] == "open"
            one = server.tokens.all()[1]
            if end == "here":
                assert server.ask("DELETE", f"/api/tokens/{one.id}", admin).status_code == 204
            elif end == "elsewhere":
                Tokens(server.store, clock).revoke(one.id)
            else:
                clock.now += timedelta(days=1)
            assert list(lines) == []
        assert server.ask("GET", "/api/studies", admin).status_code == 200


def test_who_is_refused_is_logged_without_the_token(
    server: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    refused(server.ask("GET", "/api/studies", "grbp_guessed"), 401)
    refused(server.ask("POST", "/api/session", json={"token": "grbp_guessed"}), 401)
    said = [one.getMessage() for one in caplog.records if one.name == "grbp.serve"]
    assert said == ["sign-in refused: a token that is not valid came from 127.0.0.1"] * 2


def test_whoever_guesses_keeps_the_store_busy_only_at_the_rate_of_an_address(
    tmp_path: Path,
) -> None:
    with Serving(tmp_path, rate=0.01) as server:
        server.token()
        refused(server.ask("GET", "/api/studies", "grbp_one"), 401)
        with patch.object(server.tokens, "recognise", None):  # It is not even asked.
            refused(server.ask("GET", "/api/studies", "grbp_two"), 429)


def begun(server: Serving, token: str) -> str:
    """Exchange a token for a cookie; return it as a browser sends it."""
    answer = server.ask("POST", "/api/session", json={"token": token})
    assert answer.status_code == 200
    server.http.cookies.clear()
    return answer.headers["set-cookie"]


def test_a_token_is_exchanged_for_a_strict_cookie(server: Serving) -> None:
    token = server.token("recorder")
    cookie, *flags = begun(server, token).split("; ")
    assert sorted(flags) == ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict"]
    assert token not in cookie
    sent = {"Cookie": cookie}
    assert server.ask("GET", "/api/session", headers=sent).json()["actor"] == "the recorder"
    post = ("POST", "/api/studies/ward/cases")
    refused(server.ask(*post, headers=sent, json={"state": 1}), 403, "another site")
    for foreign in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": server.url.replace("http:", "https:")},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": server.url, "Sec-Fetch-Site": "cross-site"},
    ):
        refused(server.ask(*post, headers=sent | foreign, json={"state": 1}), 403, "another site")
    assert Study(server.store, "ward").status().cases["opened"] == 0
    for own in ({"Origin": server.url}, {"Sec-Fetch-Site": "same-origin"}):
        answer = server.ask(*post, headers=sent | own, json={"state": 1})
        assert answer.status_code == 201
    refused(server.ask("GET", "/api/tokens", headers=sent), 403)
    ended = server.ask("DELETE", "/api/session", headers=sent | {"Origin": server.url})
    assert ended.status_code == 204
    assert "Max-Age=0" in ended.headers["set-cookie"]
    refused(server.ask("GET", "/api/session", headers=sent), 401)
    refused(server.ask("POST", "/api/session", json={"token": "grbp_wrong"}), 401)


def test_a_page_from_elsewhere_is_refused_whoever_it_says_asks(server: Serving) -> None:
    foreign, token = {"Origin": "https://evil.example"}, server.token()
    make = {"label": "thief", "role": "admin"}
    post = ("POST", "/api/tokens", token)
    refused(server.ask(*post, headers=foreign, json=make), 403, "another site")
    crossing = {"Sec-Fetch-Site": "cross-site"}
    refused(server.ask("GET", "/api/backup", token, headers=crossing), 403, "another site")
    body = {"token": token}
    refused(server.ask("POST", "/api/session", headers=foreign, json=body), 403, "another site")


def test_the_cookie_is_for_https_alone_where_browsers_come_by_it(tmp_path: Path) -> None:
    with Serving(tmp_path, secure=True) as server:
        assert "; Secure" in begun(server, server.token())
        assert "strict-transport-security" in server.ask("GET", "/health").headers


def test_what_is_known_of_tokens_is_listed_without_their_hashes(server: Serving) -> None:
    token = server.token("admin")
    listed = server.ask("GET", "/api/tokens", token).json()["items"]
    assert [sorted(one) for one in listed] == [
        ["expires", "id", "label", "made", "made_by", "revoked", "revoked_by", "role"]
    ]
    assert hash_token(token) not in json.dumps(listed)
    refused(server.ask("DELETE", "/api/tokens/nobody", token), 404, "'nobody'")
