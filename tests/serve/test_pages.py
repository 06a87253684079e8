"""A real browser at the server: the explorer, a session, and a page of another site."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from browser import Watched, browser
from serving import Serving

from grbp import Study

__all__ = ["browser"]

pytestmark = pytest.mark.slow

ASK = """async ([url, method, body, mode]) => {
    const headers = mode === "no-cors" ? {} : {"Content-Type": "application/json"};
    try {
        return (await fetch(url, {method, body, mode, headers, credentials: "include"})).status;
    } catch {
        return 0;  // The browser keeps the answer from the page.
    }
}"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path) as serving:
        Study.create(serving.store, "ward", 4)
        yield serving


class Elsewhere(BaseHTTPRequestHandler):
    """Another site, with a page of its own, which leads to wherever its path says."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        where = unquote(self.path[1:])
        self.wfile.write(f'<p><a href="{where}" rel="noreferrer">there</a>'.encode())

    def log_message(self, *_: object) -> None: ...


def ask(page: Any, url: str, method: str = "GET", body: Any = None, mode: str = "cors") -> int:
    status: int = page.evaluate(ASK, [url, method, body, mode])
    return status


def test_the_explorer_runs_under_the_servers_own_policy(browser: Watched, server: Serving) -> None:
    with browser.page() as page:
        page.goto(f"{server.url}/explore")
        page.wait_for_function("document.querySelectorAll('svg').length > 0")


def test_a_browser_comes_in_by_a_cookie_that_no_script_sees(
    browser: Watched, server: Serving
) -> None:
    token = server.token("recorder")
    with browser.page() as page:
        page.goto(f"{server.url}/explore")
        assert ask(page, "/api/session", "POST", f'{{"token": "{token}"}}') == 200
        assert page.evaluate("document.cookie") == ""
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert ask(page, "/api/studies/ward/cases", "POST", '{"state": 2}') == 201
        assert ask(page, "/api/session", "DELETE") == 204
        assert page.context.cookies() == []
    assert [one.who for one in Study(server.store, "ward").log()][1:] == ["the recorder"]


@pytest.mark.parametrize("signed_in", [True, False])
def test_a_page_of_another_site_changes_nothing(
    browser: Watched, server: Serving, signed_in: bool
) -> None:
    """Another port is of the same site, so that even a strict cookie is sent along."""

    def attack() -> None:
        with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as evil, browser.page() as page:
            threading.Thread(target=evil.serve_forever, daemon=True).start()
            if signed_in:
                page.goto(f"{server.url}/explore")
                token = server.token("admin")
                assert ask(page, "/api/session", "POST", f'{{"token": "{token}"}}') == 200
            page.goto(f"http://127.0.0.1:{evil.server_port}/")
            for path in ("studies/ward/cases", "tokens", "studies/ward/verify"):
                assert ask(page, f"{server.url}/api/{path}", "POST", "{}", "no-cors") == 0
            evil.shutdown()

    with pytest.raises(AssertionError, match="failed: "):  # What the browser says of it.
        attack()
    text = server.app.state.server.metrics.text().decode()
    status = 403 if signed_in else 401
    counted = re.findall(rf'^grbp_requests_total.*status="{status}"}} (.+)', text, re.M)
    assert sum(map(float, counted)) == 3
    assert Study(server.store, "ward").status().events == 1
    assert len(server.tokens.all()) == int(signed_in)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-in?next=%2Fstudies%2Fward%2Flog"])
def test_the_address_of_the_first_start_signs_in(
    browser: Watched, server: Serving, path: str
) -> None:
    token = server.token("recorder")
    with browser.page() as page:
        page.goto(f"{server.url}{path}#token={token}")
        page.get_by_role("button", name="Sign out").wait_for()
        assert page.url == f"{server.url}/studies/ward{'/log' if 'next' in path else ''}"
        assert "the recorder" in page.inner_text("body")
        assert page.evaluate("document.cookie") == ""
        assert page.evaluate("performance.getEntries().every((one) => !one.name.includes('grbp_'))")
        page.go_back()  # The page before is not the one with the token.
        assert token not in page.content()
        assert token not in page.url


def test_a_token_that_came_along_is_taken_out_of_the_address(
    browser: Watched, server: Serving
) -> None:
    with browser.page(meant=("status of 401",)) as page:
        page.goto(f"{server.url}/sign-in#token=grbp_wrong")
        page.get_by_text("This token is unknown").wait_for()
        assert page.url == f"{server.url}/sign-in"
        token = server.token("viewer")
        page.evaluate(f"location.hash = 'token={token}'")  # as when it is pasted there
        page.get_by_role("button", name="Sign out").wait_for()


def test_another_site_signs_nobody_in_by_a_link(browser: Watched, server: Serving) -> None:
    """Entries would be recorded in the name of whoever made the link."""
    link = f"{server.url}/sign-in#token={server.token('recorder')}"
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as evil, browser.page() as page:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{evil.server_port}/{quote(link, '')}")
        page.get_by_role("link").click()
        page.wait_for_url(f"{server.url}/sign-in")
        assert page.get_by_label("Token").input_value() == link.partition("=")[2]
        assert page.context.cookies() == []
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Sign out").wait_for()
        evil.shutdown()
