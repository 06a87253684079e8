"""A store of the oldest schema is taken to this version as an operator does it, and goes on."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from optional import optional

import grbp
from grbp.cli import main
from grbp.live.upkeep import Head, append_heads, read_heads

optional("fastapi", "'.[serve]'")
optional("httpx")
from serving import Serving  # noqa: E402 (what it needs is here)

ASSETS = Path(__file__).parent / "assets"
OLDEST = min(ASSETS.glob("schema-*.sqlite"), key=lambda path: int(path.stem.partition("-")[2]))

pytestmark = pytest.mark.slow


def heads_of(path: Path) -> list[Head]:
    """What the old version would have written down, read without any of our code."""
    last = (
        "select study, count(*), max(events.id) from studies join events"
        " on events.id >> 40 = studies.id group by study order by study"
    )
    found: list[Head] = []
    with closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)) as connection:
        rows: list[Any] = connection.execute(last).fetchall()
        for study, events, end in rows:
            hashed: Any = connection.execute("select hash from events where id = ?", (end,)).get
            found.append(Head("2026-01-01T00:00:00", "old", study, events, hashed))
    return found


def test_the_oldest_store_is_upgraded_as_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, heads = tmp_path / "studies.sqlite", tmp_path / "elsewhere" / "heads"
    for folder in (heads.parent, tmp_path / "backups"):
        folder.mkdir()
    shutil.copy(OLDEST, store)
    store.chmod(0o600)
    before = heads_of(store)
    assert [head.study for head in before] == ["Größe", "ward"]
    append_heads(heads, before)

    def shell(*words: object) -> str:
        assert main(["live", *map(str, words)]) == 0
        return capsys.readouterr().out

    # Rehearsed on a copy: this version opens it, and finds all that was written down.
    copy = tmp_path / "rehearsal.sqlite"
    shutil.copy(OLDEST, copy)
    assert f"All {len(before)} heads" in shell("verify", "--heads", heads, "--store", copy)
    for name in grbp.Study.names(copy):
        assert "All is well" in shell("replay", "--study", name, "--store", copy)

    shell("backup", "--to", tmp_path / "backups", "--keep", 2, "--heads", heads, "--store", store)
    with Serving(tmp_path) as serving:
        ask, place = serving.ask, "/api/studies/ward"
        recorder, checker = serving.token("recorder"), serving.token("statistician")
        opened = ask("POST", f"{place}/cases", recorder, json={"state": 2}).json()
        told = ask(
            "POST", f"{place}/cases/{opened['case']}/steps", recorder,
            json={"state": 3, "took": "continue", "why": "as always"},
        )  # fmt: skip
        assert told.status_code == 201, told.text
        found = ask("POST", f"{place}/verify", checker).json()
        assert (found["ok"], found["problems"]) == (True, [])
    shell("verify", "--all", "--store", store)
    assert "heads of" in shell("verify", "--heads", heads, "--store", store)
    assert len(read_heads(heads)) > len(before)
    # What was there before is there still, event by event, and more.
    now = {head.study: head.events for head in heads_of(store)}
    assert now["ward"] == before[1].events + 2
    (backup,) = (tmp_path / "backups").iterdir()
    assert [head[2:] for head in heads_of(backup) if not str(head.study).startswith("\x01")] == [
        head[2:] for head in before
    ]
