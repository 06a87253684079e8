"""Studies of learners that have left the package go on: cases, exports and checks."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from make_former import ASSETS, FORMER
from runs import one_sentence

import grbp
from grbp import Study
from grbp.errors import Conflict
from grbp.live.config import load_config
from grbp.live.shadow import show
from grbp.live.store import open_store
from grbp.live.upkeep import verify_store

EVERY = pytest.mark.parametrize("name", FORMER)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that a package of that time made."""
    return Path(shutil.copy(ASSETS / "former.sqlite", tmp_path / "former.sqlite"))


def export_of(name: str) -> Path:
    return ASSETS / f"former-{name}.ndjson"


@EVERY
def test_cases_of_a_former_learner_are_finished_by_what_was_decided(name: str, store: Path) -> None:
    learner, settings = FORMER[name]
    with Study(store, name) as study:
        assert (study.read_only, study.verify().problems) == (None, ())
        assert study.export(store.with_name("log")).read_bytes() == export_of(name).read_bytes()
        assert study.status().cases == {"opened": 5, "open": 2, "won": 1, "lost": 1, "closed": 1}
        asked = study.ask(5)
        done = {"took": "continue", "why": "as always"}
        assert (asked.action is None) == study.status().shadow
        assert study.tell(5, 3, **done).state == 3  # type: ignore[arg-type]
        assert study.undo(5).action == asked.action
        assert study.void(4, "it was the other bed").state == 1
        assert study.tell(4, 2, **done).state == 2  # type: ignore[arg-type]
        assert study.withdraw_case(4, "moved to another ward").status == "closed"
        assert study.void(4, "it was the other ward").status == "open"
        assert study.set_code(5, "B-12").code == "B-12"
        assert (study.archive("so").archived, study.unarchive("so").archived)[1] is None
        assert study.verify().problems == ()
        basis = study.basis(5)
        if basis is not None:
            assert basis.learner == learner
            assert basis.action == study.ask(5).action
    with Study(store, name) as study:
        replayed = study.replay()
        assert (study.read_only, replayed.decisions) == (None, 0)
        (problem,) = replayed.problems
        assert problem.startswith("5 decisions could not be made again: ")
        assert (learner in problem) is not settings.get("shadow", False)


@EVERY
def test_no_case_is_opened_by_a_learner_that_is_gone_and_it_is_said_why(
    name: str, store: Path
) -> None:
    learner, settings = FORMER[name]
    with Study(store, name) as study:
        before = study.log()
        with pytest.raises(Conflict) as refused:
            study.open_case(2)
        said = one_sentence(refused.value)
        assert "cases in progress go on" in said
        assert f"`grbp live learner --study {name}`" in said
        assert (f"learner {learner}, which" in said) is not settings.get("shadow", False)
        status = study.status()
        assert status.undecided is not None
        assert status.undecided in said
        assert status.next_threshold is None
        assert show(status, shadow=status.shadow).undecided == status.undecided
        assert study.log() == before
        assert {one.next_threshold for one in study.trajectory(3)} == {None}


@EVERY
def test_an_export_of_a_former_learner_is_brought_in_and_goes_on(name: str, tmp_path: Path) -> None:
    for where in ("memory", tmp_path / "x.db"):
        with Study.import_(where, export_of(name)) as study:
            assert (study.read_only, study.verify().problems) == (None, ())
            assert study.export(tmp_path / "log").read_bytes() == export_of(name).read_bytes()
            assert study.tell(5, 3, took="continue", why="as always").state == 3
            assert study.verify().ok
            study.export(tmp_path / "longer")
        with Study.import_("memory", tmp_path / "longer") as again:
            assert again.verify().ok


@pytest.mark.parametrize("settings", [{"groups": ["north", "south"]}, {"memory": 20}])
def test_so_do_studies_with_groups_and_with_a_memory(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    group = "south" if "groups" in settings else None
    former: Any = replace(grbp.LEARNERS["doorstep-kl"], name="doorstep-former")  # type: ignore[type-var]
    monkeypatch.setitem(grbp.LEARNERS, "doorstep-former", former)
    with Study.create(tmp_path / "x.db", "x", 4, "doorstep-former", **settings) as study:
        opened = study.open_case(1, group=group, key="the first")
        study.open_case(2, group=group)
    monkeypatch.delitem(grbp.LEARNERS, "doorstep-former")
    load_config.cache_clear()
    with Study(tmp_path / "x.db") as study:
        again = study.open_case(1, group=group, key="the first")  # It is answered still.
        assert (again.replayed, again.action) == (True, opened.action)
        study.tell(1, 2, took="continue", why="so")
        study.withdraw_case(2, "so")
        with pytest.raises(Conflict, match="learner doorstep-former"):
            study.open_case(1, group=group)
        assert study.verify().ok
        study.export(tmp_path / "log")
    with Study.import_("memory", tmp_path / "log") as study:
        assert study.tell(1, 3, took="continue", why="so").state == 3
        assert study.verify().ok


def test_a_store_of_former_learners_is_sound(store: Path) -> None:
    found = verify_store(open_store(store))
    assert (found.ok, len(found.logs)) == (True, len(FORMER))


def test_another_study_begins_with_what_a_former_learner_counted(store: Path) -> None:
    with Study(store, "ward") as old, Study.create("memory", "new", 4, start=old) as new:
        kept: Any = json.loads(new.log()[0].request)["config"]["start"]
        assert kept[3] >= 1.0
        assert new.open_case(2).case == 1
