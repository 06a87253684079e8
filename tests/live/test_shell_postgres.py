"""The shell on PostgreSQL: the same study, moved there and back, with nothing secret shown."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from postgres_server import Server

from grbp.cli import main

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them


def test_a_study_moves_to_postgresql_and_back(
    postgres: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    password = urlsplit(postgres.url).password or ""
    assert password

    def said(*arguments: object, status: int = 0) -> str:
        assert main(["live", *map(str, arguments)]) == status
        out, err = capsys.readouterr()
        assert password not in out + err
        return out or err

    file, log, back = (tmp_path / name for name in ("a.sqlite", "log.jsonl", "b.sqlite"))
    said("init", "--study", "ward", "--goal", 4, "--store", file)
    said("open", "--state", 2, "--store", file)
    said("export", "--out", log, "--store", file)
    assert "there is no store in postgresql://" in said("status", "--store", postgres.url, status=2)
    said("import", log, "--store", postgres.url)
    heads = [
        json.loads(said("verify", "--store", s, "--json"))["head"] for s in (file, postgres.url)
    ]
    assert heads[0] == heads[1]
    assert said("tell", "--case", 1, "--state", 1, "--store", postgres.url).startswith(
        "Case 1 is in state 1: finish."
    )
    assert said("backup", back, "--store", postgres.url) == f"{back}\n"
    found = json.loads(said("replay", "--store", back, "--json"))
    assert (found["ok"], found["events"], found["decisions"]) == (True, 3, 1)
    wrong = postgres.url.replace(password, "something")
    assert "cannot be reached" in said("status", "--store", wrong, status=2)
