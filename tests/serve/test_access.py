"""Who is let in: every route by its role, tokens and sessions by their time, and nobody else."""

import json
import re
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from serving import ROLES_BY_ROUTE, Clock, Serving, refused
from starlette.routing import Mount, Route

from grbp import Client, InvalidInput, NotFound, Study
from grbp.serve.tokens import ANYBODY, ROLES, Sessions, Tokens, hash_token, may

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


def test_the_server_is_open_until_the_first_token_is_made_and_never_again(server: Serving) -> None:
    who = server.ask("GET", "/api/session").json()
    assert who["role"] == "admin"
    made = server.ask("POST", "/api/tokens", json={"label": "chief", "role": "admin"})
    assert made.status_code == 201
    refused(server.ask("GET", "/api/studies"), 401)
    token = made.json()["token"]
    assert server.ask("GET", "/api/session", token).json()["actor"] == "chief"
    assert server.ask("DELETE", f"/api/tokens/{made.json()['id']}", token).status_code == 204
    refused(server.ask("GET", "/api/studies", token), 401, "revoked")
    refused(server.ask("GET", "/api/studies"), 401)
    server.tokens.path.unlink()
    refused(server.ask("GET", "/api/studies"), 401)


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
        elsewhere = Tokens(server.tokens.path, clock)
        elsewhere.revoke(elsewhere.all()[1].id)
        refused(server.ask("GET", "/api/studies", long), 401, "revoked")
        for wrong in ("x", long[:-1], f"{long}x", "grbp_", "\xe9"):
            bearer = {"Authorization": f"Bearer {wrong}".encode("latin-1")}
            refused(server.ask("GET", "/api/studies", headers=bearer), 401)


def test_a_token_is_nowhere_but_where_it_was_shown(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens")
    token, made = tokens.make("nurse", "recorder")
    text = tokens.path.read_text("utf-8")
    assert token not in text
    assert hash_token(token) in text
    assert "hash" not in made.to_dict()
    assert len(token) > 43
    for path in (tokens.path, tmp_path / "tokens.lock"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    tokens.path.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        Tokens(tokens.path).find(token)


def test_tokens_that_cannot_be_are_refused(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens")
    with pytest.raises(InvalidInput, match="role = 'king'"):
        tokens.make("nurse", "king")
    with pytest.raises(InvalidInput, match="days = 0"):
        tokens.make("nurse", "viewer", 0)
    with pytest.raises(InvalidInput, match="at most 3,660"):
        tokens.make("nurse", "viewer", 1e9)
    with pytest.raises(InvalidInput, match="one line"):
        tokens.make("two\nlines", "viewer")
    assert not tokens.path.exists()
    with pytest.raises(NotFound, match="'5f0c11d2'"):
        tokens.revoke("5f0c11d2")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "grbp tokens", "tokens": [{}]}'])
def test_a_damaged_file_of_tokens_lets_nobody_in(server: Serving, text: str) -> None:
    server.tokens.path.write_text(text, "utf-8")
    server.tokens.path.chmod(0o600)
    refused(server.ask("GET", "/api/studies"), 503, "nobody can be let in", "damaged")
    refused(server.ask("GET", "/api/studies"), 503)
    refused(server.ask("POST", "/api/tokens", json={"label": "a", "role": "admin"}), 503)


def test_a_file_of_tokens_that_is_emptied_opens_nothing(server: Serving) -> None:
    server.token()
    refused(server.ask("GET", "/api/studies"), 401)
    server.tokens.path.write_text('{"format": "grbp tokens", "tokens": []}', "utf-8")
    refused(server.ask("GET", "/api/studies"), 401)


def test_two_programs_that_make_tokens_keep_both(tmp_path: Path) -> None:
    one, other = Tokens(tmp_path / "tokens"), Tokens(tmp_path / "tokens")
    made = [tokens.make(f"{n}", "viewer")[1] for n in range(5) for tokens in (one, other)]
    assert one.all() == other.all() == made


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


def test_a_page_from_elsewhere_cannot_use_a_server_that_is_open(server: Serving) -> None:
    foreign = {"Origin": "https://evil.example"}
    make = {"label": "thief", "role": "admin"}
    refused(server.ask("POST", "/api/tokens", headers=foreign, json=make), 403, "another site")
    crossing = {"Sec-Fetch-Site": "cross-site"}
    refused(server.ask("GET", "/api/backup", headers=crossing), 403, "another site")
    for name in ("X-Forwarded-For", "Forwarded", "Via"):
        refused(server.ask("GET", "/api/studies", headers={name: "x"}), 403, "--behind-proxy")


def test_a_session_ends_in_time_with_its_token_and_with_the_server(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens(tmp_path / "tokens", clock)
    _, token = tokens.make("nurse", "viewer", 0.75)
    sessions = Sessions(tokens, 12, clock)
    cookie = sessions.begin(token)
    assert sessions.find(cookie) == token
    assert Sessions(tokens, 12, clock).find(cookie) is None
    clock.now += timedelta(hours=12)
    assert sessions.find(cookie) is None
    later = sessions.begin(token)
    clock.now += timedelta(hours=6)
    assert sessions.find(later) is None
    clock.now -= timedelta(hours=6)
    assert sessions.find(later) == token
    tokens.revoke(token.id)
    assert sessions.find(later) is None


def test_the_cookie_is_for_https_alone_where_browsers_come_by_it(tmp_path: Path) -> None:
    with Serving(tmp_path, secure=True) as server:
        assert "; Secure" in begun(server, server.token())
        assert "strict-transport-security" in server.ask("GET", "/health").headers


def test_a_server_that_others_can_reach_is_never_open(tmp_path: Path) -> None:
    with Serving(tmp_path, exposed=True) as server:
        refused(server.ask("GET", "/api/studies"), 401)
        assert server.ask("GET", "/health").status_code == 200


def test_what_is_known_of_tokens_is_listed_without_their_hashes(server: Serving) -> None:
    token = server.token("admin")
    listed = server.ask("GET", "/api/tokens", token).json()["items"]
    assert [sorted(one) for one in listed] == [
        ["expires", "id", "label", "made", "revoked", "role"]
    ]
    assert hash_token(token) not in json.dumps(listed)
    refused(server.ask("DELETE", "/api/tokens/nobody", token), 404, "'nobody'")
