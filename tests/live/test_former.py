"""Studies of learners that have left the package go on: cases, exports and checks."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from make_former import ASSETS, FORMER
from optional import optional
from runs import one_sentence

import grbp
from grbp import Study
from grbp.errors import Conflict, InvalidInput, ReadOnly
from grbp.live.config import load_config
from grbp.live.kinds import describe_events
from grbp.live.shadow import show
from grbp.live.store import open_store
from grbp.live.store.base import Transaction
from grbp.live.store.memory import MemoryStore
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


@EVERY
def test_another_learner_decides_from_then_on(name: str, store: Path) -> None:
    learner, settings = FORMER[name]
    with Study(store, name) as study:
        before, reasons = study.status(), study.basis(2)
        said = reasons and reasons.to_dict()
        status = study.change_learner("getbe-sm", "it has left the package", who="ada")
        assert (status.learner, status.undecided) == ("getbe-sm", None)
        assert (status.next_threshold is None, status.planned) == (False, None)
        assert (status.cases, status.pending) == (before.cases, before.pending)
        assert study.open_case(2).case == 6
        again = study.basis(2)
        assert (again and again.to_dict()) == said
        assert study.tell(5, 3, took="continue", why="so").state == 3
    with Study(store, name) as study:
        assert (study.read_only, study.verify().problems) == (None, ())
        if not settings.get("shadow"):
            assert [study.basis(case).learner for case in (5, 6)] == [learner, "getbe-sm"]  # type: ignore[union-attr]
        replayed = study.replay()
        assert replayed.decisions == 1
        assert [one.partition(":")[0] for one in replayed.problems] == [
            "5 decisions could not be made again"
        ]
        log = study.export(store.with_name("log"))
        with Study.import_("memory", log) as other:
            assert other.status() == study.status()
            assert other.verify().ok
            assert other.export(store.with_name("same")).read_bytes() == log.read_bytes()
            assert other.open_case(3).case == 7


def test_the_log_says_which_learner_came_and_shadow_mode_does_not(store: Path) -> None:
    for name, what in (
        ("ward", "The learner was changed from doorstep-lai to getbe-sm."),
        ("hidden", "The learner was changed."),
    ):
        with Study(store, name) as study:
            study.change_learner("getbe-sm", "so")
            shadow = study.status().shadow
            events = [show(event, shadow=shadow) for event in study.log()]
            (*_, line) = describe_events(events, study.goal, shadow=shadow)
            assert (line.what, line.why, events[-1].kind) == (what, "so", "learner")
            assert ("getbe" in events[-1].request) is not shadow
            (*_, line) = describe_events(study.log(), 4, shadow=shadow)
            assert "from doorstep-lai to getbe-sm" in line.what


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("psrl", "which decides by state; this study counts for one that decides a threshold"),
        ("getbe-sm:memory=20", "this study counts for one that never forgets"),
        ("getbe-smm", "learner 'getbe-smm' was asked for; did you mean"),
        ("ucb1-policies", "a study needs one that decides a threshold"),
        ("threshold-1", "it has that one already"),
    ],
)
def test_a_learner_that_cannot_go_on_is_refused(learner: Any, words: str) -> None:
    study = Study.create("memory", "ward", 4, "threshold-1")
    study.open_case(2)
    with pytest.raises((InvalidInput, Conflict), match=words) as refused:
        study.change_learner(learner, "so")
    one_sentence(refused.value)
    with pytest.raises(InvalidInput, match="why"):
        study.change_learner("getbe-sm", "")
    study.archive("it is over")
    with pytest.raises(Conflict, match="it is archived"):
        study.change_learner("getbe-sm", "so")
    assert len(study.log()) == 3


@pytest.mark.parametrize(
    ("first", "then", "settings"),
    [
        ("getbe-sm", "doorstep-optimal:horizon=50", {}),
        ("getbe-sm:memory=20", "getbe-ps:memory=20", {"groups": ["north", "south"]}),
        ("psrl", "averaged-states", {"shadow": True}),
        ("averaged-states:memory=averaged", "psrl:memory=averaged", {}),
    ],
)
def test_a_replay_decides_each_case_by_the_learner_of_its_time(
    first: str, then: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    path, group = tmp_path / "x.db", "south" if "groups" in settings else None
    with Study.create(path, "x", 4, first, **settings) as study:
        study.change_learner(then, "before any case")
        study.change_learner(first, "that was wrong")
        for learner in (then, first, then):
            study.tell(study.open_case(2, group=group).case, 3, took="continue", why="so")
            study.change_learner(learner, "so")
        study.open_case(1, group=group)
        said = [json.loads(one.response)["learner"] for one in study.log() if one.kind == "open"]
        assert said == [first, then, first, then]
    with Study(path) as study:
        replayed = study.replay()
        assert (replayed.problems, replayed.decisions, study.read_only) == ((), 4, None)
        assert study.verify().ok
        if not settings.get("shadow"):
            assert [study.basis(case).learner for case in (1, 2, 3, 4)] == said  # type: ignore[union-attr]
        # Whoever asks for the study as it is now finds it.
        with Study.create(path, "x", 4, then, **settings) as same:
            assert same.status().cases["opened"] == 4


def test_a_study_is_configured_anew_after_its_learner_was_changed() -> None:
    store = MemoryStore()
    Study.create(store, "x", 4, "getbe-sm").change_learner("getbe-ps", "so")
    study = Study.create(store, "x", 5, "threshold-1")
    assert (study.status().learner, study.goal, study.open_case(4).case) == ("threshold-1", 5, 1)
    assert study.replay().ok


def test_own_learners_follow_one_another(tmp_path: Path) -> None:
    def wait(_goal: int, _: Any, _n: Any, _key: int) -> int:
        return 0

    def hurry(_goal: int, _: Any, _n: Any, _key: int) -> int:
        return 1

    first, then = grbp.Learner("wait", wait), grbp.Learner("hurry", hurry)
    with Study.create(tmp_path / "x.db", "x", 4, first) as study:
        assert study.open_case(1).action == grbp.Action.CONTINUE
        with pytest.raises(Conflict, match="it has that one already"):
            study.change_learner(first, "so")
        study.change_learner(then, "so")
        assert study.open_case(1).action == grbp.Action.FINISH
    with Study(tmp_path / "x.db", learner=then) as study:
        assert study.open_case(1).action == grbp.Action.FINISH
        replayed = study.replay()
        assert replayed.decisions == 2
        assert "1 decision could not be made again: the study was made" in replayed.problems[0]
    with Study(tmp_path / "x.db") as study:
        # It is the same still: it is only to be given.
        with pytest.raises(Conflict, match="it has that one already"):
            study.change_learner(then, "so")
        assert study.change_learner("getbe-sm", "so").undecided is None
        assert study.open_case(1).case == 4


def test_a_learner_that_decides_otherwise_now_is_taken_by_an_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    Study.create(store, "x", 4, "threshold-1").open_case(2)
    with monkeypatch.context() as changed:
        changed.setattr("grbp.learners.base.AnyLearner.choose", lambda *_: 0)
        changed.setattr("grbp.learners.base.Learner.choices", lambda *_: (0, 1))
        study = Study(store)
        with pytest.raises(Conflict, match="this version decides case 1 differently than version"):
            study.open_case(2)
        assert study.change_learner("threshold-1", "as this version has it").undecided is None
        assert study.open_case(2).case == 2


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "the learner": lambda config: config | {"learner": "getbe-ps"},
    "a constant": lambda config: config | {"constants": {"gamma": 14.0}},
    "a former learner": lambda config: config["former"][0].update(learner="getbe-ps") or config,
    "its cases": lambda config: config["former"][0].update(cases=1) or config,
    "its event": lambda config: config["former"][0].update(event=3) or config,
    "all of them": lambda config: {name: config[name] for name in config if name != "former"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_learners_that_do_not_follow_from_the_log_are_found(what: str, store: Path) -> None:
    with Study(store, "ward") as study:
        study.change_learner("getbe-sm", "so")
        study.open_case(2)

    def forge(tx: Transaction) -> None:
        row = tx.study()
        assert row is not None
        made = CHANGES[what](json.loads(row.config))
        tx.put_study(row._replace(config=json.dumps(made, separators=(",", ":"))))

    opened = open_store(store)
    opened.write("ward", forge)
    opened.close()
    with Study(store, "ward") as study:
        assert "does not follow from the log" in str(study.read_only)
        with pytest.raises(ReadOnly):
            study.open_case(2)


def test_a_check_finds_a_change_of_the_learner_that_somebody_took_out(store: Path) -> None:
    """Only who reads the whole log can: what is left fits together."""
    with Study(store, "ward") as study:
        study.change_learner("getbe-sm", "so")

    def forge(tx: Transaction) -> None:
        row, (first,) = tx.study(), tx.events(0, 1)
        assert row is not None
        config = json.dumps(json.loads(first.request)["config"], separators=(",", ":"))
        tx.put_study(row._replace(config=config))

    opened = open_store(store)
    opened.write("ward", forge)
    opened.close()
    with Study(store, "ward") as study:
        assert study.verify().problems == ("the study's row does not follow from the log",)
        assert study.read_only is not None


def test_an_admin_changes_the_learner_over_http(tmp_path: Path) -> None:
    optional("fastapi", "'.[serve]'")
    optional("httpx")
    from serving import Serving, refused  # noqa: PLC0415 (what it needs is here)

    shutil.copy(ASSETS / "former.sqlite", tmp_path / "studies.sqlite")
    with Serving(tmp_path, asking="admin") as server:
        place = "/api/studies/ward"
        assert "No case can be opened." in server.ask("GET", "/studies/ward").text
        refused(server.ask("POST", f"{place}/cases", json={"state": 2}), 409, "doorstep-lai")
        body = {"learner": "getbe-sm", "why": "it has left"}
        for role in ("viewer", "statistician"):
            refused(server.ask("POST", f"{place}/learner", server.token(role), json=body), 403)
        path = body | {"learner": "os:getcwd"}
        refused(server.ask("POST", f"{place}/learner", json=path), 422, "over HTTP it must be one")
        changed = server.ask("POST", f"{place}/learner", json=body).json()
        assert (changed["learner"], changed["undecided"]) == ("getbe-sm", None)
        assert server.ask("POST", f"{place}/cases", json={"state": 2}).status_code == 201
        with grbp.Client(server.url, "ward", token=server.asking) as client:
            assert client.change_learner("getbe-ps", "it draws").learner == "getbe-ps"
            assert client.open_case(1).case == 7
        assert "from doorstep-lai to getbe-sm" in server.ask("GET", "/studies/ward/log").text
        assert server.ask("GET", "/studies/ward").status_code == 200
        log = server.ask("GET", f"{place}/export").content
    with Serving(tmp_path / "other", asking="admin") as other:
        kind = {"Content-Type": "application/x-ndjson"}
        own = log.replace(b'{\\"learner\\":\\"getbe-ps', b'{\\"learner\\":\\"os:getcwd')
        refused(other.ask("POST", "/api/import", headers=kind, content=own), 422, "os:getcwd")
        assert other.ask("POST", "/api/import", headers=kind, content=log).status_code == 201
