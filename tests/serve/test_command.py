"""`grbp serve` on the shell: the first line, the end, what is refused, and its tokens."""

import getpass
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import httpx
import pytest

from grbp import Client, InvalidInput, Study
from grbp.cli import main
from grbp.live.store import open_store
from grbp.live.transport import LOOPBACK
from grbp.serve.server import Endpoint, make_settings
from grbp.serve.tokens import Tokens, hash_token

FAULTS = Path(__file__).parents[2] / "tools" / "faults.py"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRBP_STORE", raising=False)


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "grbp", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_first_line_is_the_address_and_a_signal_ends_it_cleanly(
    tmp_path: Path, how: signal.Signals
) -> None:
    with serving("-v") as (process, url):
        place, token = url.split("/sign-in#token=")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", place)
        with Client.create(url, "ward", 4) as client:
            client.open_case(2)
            # Whoever waits for events does not keep the server from ending.
            path = f"{place}/api/studies/ward/events.ndjson?follow=3600"
            bearer = {"Authorization": f"Bearer {token}"}
            with httpx.stream("GET", path, headers=bearer) as stream:
                lines = stream.iter_lines()
                assert json.loads(next(lines))["kind"] == "study"
                process.send_signal(how)
                assert [json.loads(line)["kind"] for line in lines] == ["open"]
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert token not in err
    assert re.search(r"Z INFO 127\.0\.0\.1 '.+' POST '/api/studies/ward/cases' 201 [0-9.]+ ms", err)
    # All is in the one file, with its witness beside it, and both are their owner's alone.
    names = ["grbp-live.sqlite", "grbp-live.sqlite-head"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names} == {0o600}
    with Study("grbp-live.sqlite") as study:
        assert study.verify().events == 2


@pytest.mark.slow
@pytest.mark.sample("0")
@pytest.mark.parametrize("seed", range(2))
def test_a_killed_server_loses_nothing_that_was_acknowledged(seed: int) -> None:
    command = [sys.executable, str(FAULTS), "serve", "--cycles", "15", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()[-1]
    assert said.startswith("15 servers killed under their clients")
    assert said.endswith(" 0 cycles lost an acknowledged event or left a damaged study")


@pytest.mark.slow
def test_with_a_certificate_others_come_by_https_and_with_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("openssl"):
        pytest.skip(
            "tests with HTTPS: openssl is not installed; on Debian and Ubuntu, get it with:"
            " apt-get install openssl"
        )
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",  # noqa: S607
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    with closing(open_store("grbp-live.sqlite", create=True)) as store:
        token, _ = Tokens(store).make("nurse", "admin")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with serving("--tls-cert", "cert.pem", "--tls-key", "key.pem") as (_, url):
        assert re.fullmatch(r"https://127\.0\.0\.1:\d+", url)
        with pytest.raises(InvalidInput, match="a token is needed"):
            Client(url)
        with Client.create(url, "ward", 4, token=token) as client:
            client.open_case(2)
            assert client.log()[-1].who == "nurse"


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"grbp: .*\n", err)
    return err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--host 0.0.0.0", "needs --tls-cert and --tls-key, or --behind-proxy"),
        ("--host 192.0.2.1", "which others can reach"),
        ("--host ward.example.org", "which others can reach"),
        ("--tls-cert a", "TLS needs both"),
        ("--tls-key a", "TLS needs both"),
        ("--tls-cert a --tls-key b --behind-proxy https://a", "one of them does the TLS"),
        (
            "--host 0.0.0.0 --behind-proxy https://a",
            "name the proxy's own address by --trust-proxy",
        ),
        ("--behind-proxy https://a --trust-proxy a.example", "--trust-proxy a.example was given"),
        ("--trust-proxy 10.0.0.5", "it needs --behind-proxy"),
        ("--tls-cert a --tls-key b", "they cannot be used (No such file"),
        ("--port 65536", "port = 65536"),
        ("--port x", "port = 'x'"),
        ("--rate 0", "rate = 0"),
        ("--store memory", "'memory'"),
        ("--store ward.sqlite", "there is no store ward.sqlite; --create makes one, or look at"),
        ("--tokens no", "there is no option --tokens"),
        ("--hots 1", "did you mean '--host'?"),
    ],
)
def test_a_server_that_would_not_be_safe_does_not_start(
    capsys: pytest.CaptureFixture[str], arguments: str, words: str
) -> None:
    assert words in refusal(capsys, "serve", *arguments.split())
    assert not list(Path().iterdir())  # What does not start makes no store.


def test_a_port_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refusal(capsys, "serve", "--port", taken.getsockname()[1])
    assert "no server can listen there (Address already in use)" in said


def test_where_it_may_be_reached_and_by_which_names() -> None:
    here = make_settings(Endpoint(names=["Ward"]))
    assert here.hosts == ("ward", *LOOPBACK)
    assert (here.secure, here.proxied) == (False, False)
    assert "127.8.8.8" in make_settings(Endpoint("127.8.8.8")).hosts
    proxy = "https://ward.example.org"
    behind = make_settings(Endpoint(proxy=proxy))
    assert behind.hosts == (*LOOPBACK, "ward.example.org")
    assert (behind.secure, behind.proxied) == (True, True)
    anywhere = make_settings(Endpoint("0.0.0.0", proxy=proxy, trusted=["10.0.0.5"]))  # noqa: S104
    assert anywhere.hosts == ("ward.example.org",)
    files = 8000, Path("a"), Path("b")
    direct = make_settings(Endpoint("192.0.2.1", *files))
    assert (direct.hosts, direct.secure) == (("192.0.2.1",), True)
    with pytest.raises(InvalidInput, match="name the one that is in the certificate"):
        make_settings(Endpoint("0.0.0.0", *files))  # noqa: S104
    for wrong in ("http://ward.example.org", "ward.example.org", "https://", "https://a/b"):
        with pytest.raises(InvalidInput, match="the address that browsers see"):
            make_settings(Endpoint(proxy=wrong))


@pytest.mark.slow
def test_the_first_start_of_all_prints_a_token_and_no_other_does() -> None:
    Path("grbp-live.sqlite.tokens").touch()
    with serving() as (process, first):
        place, token = first.split("/sign-in#token=")
        assert Client.names(first) == []
        assert httpx.get(f"{place}/api/studies").status_code == 401
        # Another server of the same store has the same door.
        with serving() as (_, second):
            assert "#" not in second
            assert Client.names(second, token=token) == []
        process.terminate()
        _, err = process.communicate()
    assert token not in err
    assert "grbp-live.sqlite.tokens is not used any more" in err
    with serving() as (process, later):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", later)
        assert Client.names(later, token=token) == []
        process.terminate()
        _, err = process.communicate()
    assert "`grbp serve token make --role admin --label ...`" in err


@pytest.mark.slow
def test_others_are_let_in_by_the_first_token_alone() -> None:
    with serving("--behind-proxy", "https://ward.example.org") as (_, url):
        assert url.startswith("https://ward.example.org/sign-in#token=grbp_")


@pytest.mark.slow
def test_the_folder_in_which_a_server_is_started_opens_nothing(dsn: str, tmp_path: Path) -> None:
    with serving("--store", dsn, "--create") as (_, first):
        token = first.partition("=")[2]
        Client.create(first, "ward", 4).close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    with serving("--store", dsn) as (_, url):
        assert "#" not in url
        assert httpx.get(f"{url}/api/studies").status_code == 401
        assert Client.names(url, token=token) == ["ward"]


@pytest.mark.slow
def test_a_store_that_is_named_is_made_only_if_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRBP_STORE", "typo.sqlite")
    assert "there is no store typo.sqlite; --create" in refusal(capsys, "serve")
    assert not list(Path().iterdir())
    with serving("--create") as (_, url):
        assert "#token=" in url
    assert Path("typo.sqlite").exists()


def test_a_store_that_everybody_can_read_is_not_served(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, runs = Path("live.sqlite"), list[int]()
    open_store(path, create=True).close()
    monkeypatch.setattr("grbp.serve.server._Server.run", lambda *_, **__: runs.append(1))
    for mode in (0o604, 0o602, 0o601, 0o666, 0o644):
        path.chmod(mode)
        assert "run chmod o-rwx on it" in refusal(
            capsys, "serve", "--port", "0", "--store", "live.sqlite"
        )
    for mode in (0o600, 0o660, 0o640):  # A group may share a store.
        path.chmod(mode)
        assert main(["serve", "--port", "0", "--store", "live.sqlite"]) == 0
    assert len(runs) == 3


def test_tokens_are_made_listed_and_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        assert main(["serve", "token", *arguments]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    store = open_store("grbp-live.sqlite", create=True)
    tokens = Tokens(store)
    assert said("list") == "There is no token yet.\n"
    token = said("make", "--label", "nurse", "--role", "recorder", "--who", "ada").strip()
    (one,) = tokens.all()
    assert tokens.find(token) == one
    made = json.loads(said("make", "--label", "b", "--role", "viewer", "--days", "2", "--json"))
    assert tokens.all()[1].hash == hash_token(made["token"])
    assert made["made_by"] == getpass.getuser()
    assert said("list").splitlines() == [
        f"{one.id}  recorder      until   {one.expires[:10]}  nurse  (made by ada)",
        f"{made['id']}  viewer        until   {made['expires'][:10]}  b"
        f"  (made by {getpass.getuser()})",
    ]
    assert said("revoke", one.id, "--who", "grace") == f"The token {one.id} of nurse is revoked.\n"
    assert re.search(rf"{one.id}  recorder      revoked \S+ by grace  nurse", said("list"))
    assert json.loads(said("revoke", made["id"], "--json"))["revoked_by"] == getpass.getuser()
    assert [bool(kept["revoked"]) for kept in json.loads(said("list", "--json"))["items"]] == [
        True,
        True,
    ]
    assert "hash" not in said("list", "--json")
    assert main(["serve", "--store", "no.sqlite", "token", "list"]) == 2
    assert "there is no store no.sqlite" in capsys.readouterr().err
    store.close()


@pytest.mark.parametrize(
    "verb", ["list", "make --label a --role viewer", "revoke 5f0c11d2", "list --store no.sqlite"]
)
def test_no_store_is_made_for_a_token(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert "there is no store" in refusal(capsys, "serve", "token", *verb.split())
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("make --label a --role king", "--role 'king' was given; it must be viewer, recorder"),
        ("make --label a", "--role"),
        ("make --label a --role viewer --days 0", "days = 0"),
        ("make --label a --role viewer --days x", "days = 'x'"),
        ("revoke 5f0c11d2", "there is none with this id"),
    ],
)
def test_a_mistake_with_tokens_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: str, words: str
) -> None:
    open_store("grbp-live.sqlite", create=True).close()
    assert words in refusal(capsys, "serve", "token", *arguments.split())


def test_the_client_needs_nothing_that_is_not_installed_with_the_package() -> None:
    code = "import sys, grbp; grbp.Client; import grbp.cli.serve; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"fastapi", "starlette", "pydantic", "uvicorn", "apsw", "numba"} & set(
        done.stdout.split()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "extra", "command"),
    [
        ("uvicorn", "serve", ["serve"]),
        ("fastapi", "serve", ["serve"]),
        ("apsw", "live", ["serve"]),
        ("apsw", "live", ["live", "status"]),
        ("psycopg", "postgres", ["serve", "--store", "postgresql://me@host/x"]),
        ("psycopg", "postgres", ["live", "status", "--store", "postgresql://me@host/x"]),
    ],
)
def test_what_is_not_installed_is_said_in_a_sentence(
    missing: str, extra: str, command: list[str]
) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None\nfrom grbp.cli import main\nmain({command!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert re.fullmatch(
        rf"grbp: {missing} is not installed; pip install 'grbp\[{extra}\]' .* installs it\n",
        done.stderr,
    )


@pytest.mark.slow
def test_the_server_is_ready_when_it_says_its_address() -> None:
    with serving("--quiet") as (_, url):
        place, token = url.split("/sign-in#token=")
        asked = Request(f"{place}/ready", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
        with urlopen(asked) as answer:  # noqa: S310
            assert json.load(answer)["status"] == "ok"


def test_an_older_copy_of_a_store_lets_nobody_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_store("s.sqlite", create=True)) as store:
        _, token = Tokens(store).make("thief", "admin")
    before = Path("s.sqlite").read_bytes()
    with closing(open_store("s.sqlite")) as store:
        Tokens(store).revoke(token.id)
    Path("s.sqlite").write_bytes(before)
    assert main(["serve", "--store", "s.sqlite", "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert "nobody can be let in: event 2 of the store's own log" in said
    assert "an older copy was put in place" in " ".join(said.split())
