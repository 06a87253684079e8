"""Where a store lies is for admins alone, whatever goes wrong with it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import Server as Postgres
from serving import Serving

from grbp import CannotWrite, Damaged, Study
from grbp.live.store import open_store
from grbp.serve.discretion import hide_places

pytestmark = pytest.mark.slow

WARD = "/api/studies/ward"


def told(server: Serving, token: str) -> Iterator[str]:
    """Yield what a server says to somebody of a study that it has trouble with."""
    for method, path, body in (
        ("GET", WARD, None),
        ("GET", "/?all=true", None),
        ("GET", "/studies/ward", None),
        ("GET", f"{WARD}/cases", None),
        ("POST", f"{WARD}/cases", {"state": 2}),
        ("POST", f"{WARD}/verify", None),
        ("GET", f"{WARD}/export", None),
        ("GET", "/ready", None),
        ("GET", "/metrics", None),
    ):
        accept = {"Accept": "text/html"} if not path.startswith("/api") else {}
        yield server.ask(method, path, token, headers=accept, json=body).text


def check(server: Serving, secrets: list[str]) -> None:
    """Ask as everybody, and look for places in what is said."""
    tokens = {role: server.token(role) for role in ("recorder", "statistician", "admin")}
    said: dict[str, str] = {}
    for role, token in tokens.items():
        said[role] = "\n".join(told(server, token))
    for role in ("recorder", "statistician"):
        for secret in secrets:
            assert secret not in said[role], said[role]


def test_a_file_that_was_moved(tmp_path: Path) -> None:
    with Serving(tmp_path) as server:
        Study.create(server.store, "ward", 4)
        token, admin = server.token("recorder"), server.token("admin")
        Path(server.store.where).rename(tmp_path / "moved")
        for one in told(server, token):
            assert str(tmp_path) not in one
        refusal = server.ask("POST", f"{WARD}/cases", token, json={"state": 2}).json()["detail"]
        assert refusal.startswith("the store was moved")
        whole = server.ask("POST", f"{WARD}/cases", admin, json={"state": 2}).json()["detail"]
        assert whole.startswith(f"{server.store.where} was moved")
        (tmp_path / "moved").rename(server.store.where)


def test_a_store_that_can_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Serving(tmp_path) as server:
        Study.create(server.store, "ward", 4)
        reason = f"{server.store.where} can only be read; change that, or copy it elsewhere"
        monkeypatch.setattr(server.store, "checks", lambda: [reason])
        viewer, admin = server.token("viewer"), server.token("admin")
        hidden = "the store can only be read; change that, or copy it elsewhere"
        assert server.ask("GET", WARD, viewer).json()["read_only"] == hidden
        assert server.ask("GET", WARD, admin).json()["read_only"] == reason
        assert str(tmp_path) not in server.ask("GET", "/ready").text
        check(server, [str(tmp_path)])


@pytest.mark.parametrize("error", [CannotWrite, Damaged])
def test_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[CannotWrite]
) -> None:
    with Serving(tmp_path) as server:
        Study.create(server.store, "ward", 4)
        where = server.store.where

        def fail(*_: object) -> None:
            raise error(f"{where} cannot be read or written (the file {where}-wal is malformed)")

        tokens = [server.token("viewer"), server.token("admin")]
        monkeypatch.setattr(Study, "cases", fail)
        seen = [server.ask("GET", f"{WARD}/cases", one).json()["detail"] for one in tokens]
        assert seen[0] == "the store cannot be read or written (the file the store is malformed)"
        assert f"{where}-wal" in seen[1]


def test_a_database_that_has_gone(tmp_path: Path, postgres: Postgres) -> None:
    with Serving(tmp_path, dsn=postgres.url) as server:
        Study.create(server.store, "ward", 4)
        tokens = [server.token("viewer"), server.token("statistician")]
        for one in tokens:
            assert server.ask("GET", WARD, one).status_code == 200
        postgres.stop()
        try:
            for token in tokens:
                for one in told(server, token):
                    for secret in (str(postgres.port), "postgresql://", "clerk", "127.0.0.1"):
                        assert secret not in one
        finally:
            postgres.start()


def test_places_are_taken_out_of_sentences_and_words_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("a", create=True)
    for given, hidden in {
        "a was moved; a case can be lost": "the store was moved; the store case can be lost",
        f"{tmp_path}/a.schema-1 exists already": "the store exists already",
        f"the folder {tmp_path} cannot be made": "the folder the store cannot be made",
        f"{tempfile.gettempdir()}/grbp-x1/log, line 2": "the store, line 2",
        "/openapi.json lists what there is": "/openapi.json lists what there is",
        "postgresql://me@host:5/x?y=1 is gone.": "the store is gone.",
    }.items():
        assert hide_places(given, store) == hidden
    assert hide_places("postgres", open_store("memory")) == "postgres"
    store.close()
    assert os.path.exists("a")  # noqa: PTH110


def test_the_folder_of_a_store_is_hidden_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grbp.serve.discretion.gettempdir", lambda: "/another/place")
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to(tmp_path / "real")
    store = open_store(tmp_path / "named" / "live.sqlite", create=True)
    for folder in ("named", "real"):
        sentence = f"the folder {tmp_path / folder} is full; empty {tmp_path / folder}/backup"
        hidden = "the folder the store is full; empty the store"
        assert hide_places(sentence, store) == hidden
    store.close()
