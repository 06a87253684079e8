"""Which proxies are believed, and what everybody else invents."""

from pathlib import Path

import pytest
from serving import Serving, refused

from grbp import InvalidInput
from grbp.serve.proxies import THIS_MACHINE, find_client, is_trusted, read_networks
from grbp.serve.server import Endpoint, make_settings

TRUSTED = read_networks(["10.0.0.5", "192.0.2.0/24", "2001:db8::/32"])


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("", "10.0.0.5"),
        ("203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9, 192.0.2.7", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("[2001:db9::1]:4711, 2001:db8::5", "2001:db9::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("192.0.2.1,192.0.2.2", "10.0.0.5"),
        ("unknown", "unknown"),
        ("x" * 200, "x" * 64),
    ],
)
def test_the_last_address_that_is_no_proxy_counts(forwarded: str, client: str) -> None:
    assert find_client("10.0.0.5", forwarded, TRUSTED) == client


def test_who_is_trusted() -> None:
    assert all(is_trusted(one, THIS_MACHINE) for one in ("127.0.0.1", "::1", "::ffff:127.0.0.1"))
    assert not any(is_trusted(one, THIS_MACHINE) for one in ("127.0.0.2", "10.0.0.5", "", "x"))
    assert is_trusted("192.0.2.77", TRUSTED)
    for wrong in ("ward.example.org", "10.0.0.1/24", "10.0.0.0/33", ""):
        with pytest.raises(InvalidInput, match="it must be an address such as"):
            read_networks([wrong])


def test_a_server_that_others_can_reach_must_name_its_proxies() -> None:
    proxy = "https://ward.example.org"
    for host in ("0.0.0.0", "::", "192.0.2.1"):  # noqa: S104
        with pytest.raises(InvalidInput, match="by --trust-proxy"):
            make_settings(Endpoint(host, proxy=proxy))
        named = make_settings(Endpoint(host, proxy=proxy, trusted=["10.0.0.0/8"]))
        assert named.trusted == read_networks(["10.0.0.0/8"])
    assert make_settings(Endpoint(proxy=proxy)).trusted == THIS_MACHINE
    with pytest.raises(InvalidInput, match="needs --behind-proxy"):
        make_settings(Endpoint(trusted=["10.0.0.1"]))


def test_whoever_comes_around_the_proxy_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    settings = {"proxied": True, "trusted": read_networks(["10.0.0.5"])}
    with Serving(tmp_path, **settings) as server:  # type: ignore[arg-type]
        token = server.token("admin")
        seen = {"X-Forwarded-For": "203.0.113.9"}
        refused(server.ask("GET", "/api/session", token, headers=seen), 403, "--trust-proxy")
        assert server.ask("GET", "/health").status_code == 200
    assert "127.0.0.1 nobody GET '/api/session' 403" in caplog.text
    assert "203.0.113.9" not in caplog.text


def test_a_proxy_says_who_asks_and_nobody_else_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    seen = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    for folder, settings, rate in (("a", {"proxied": True}, 0.01), ("b", {}, 0.01)):
        with Serving(tmp_path / folder, rate=rate, **settings) as server:  # type: ignore[arg-type]
            assert server.ask("GET", "/explore", headers=seen).status_code == 200
            late = {"X-Forwarded-For": "198.51.100.2, 203.0.113.9"}
            refused(server.ask("GET", "/explore", headers=late), 429)
            other = server.ask("GET", "/explore", headers={"X-Forwarded-For": "203.0.113.10"})
            assert other.status_code == (200 if settings else 429)
    lines = [line for line in caplog.text.splitlines() if " nobody GET '/explore' 429 " in line]
    assert ["203.0.113.9 " in line for line in lines] == [True, False, False]
