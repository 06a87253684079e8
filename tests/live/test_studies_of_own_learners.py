"""Learners by state that others wrote live as learners of thresholds do, in every kind of study."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from optional import optional
from runs import one_sentence

import grbp
from grbp import Action, StateCounters, StateLearner, Study
from grbp.errors import Conflict, InvalidInput, TooLarge
from grbp.live.basis import StateBasis
from grbp.live.config import check_config
from grbp.live.queries import read_config
from grbp.live.store.memory import MemoryStore

GROUPS = ("north", "south")
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "all": ("own", {}),
    "groups": ("own", {"groups": GROUPS}),
    "memory": ("own:memory=20", {}),
    "averaged memories": ("own:memory=averaged", {"groups": GROUPS}),
    "windows": ("own", {"windows": {"finish": 3}, "level": 0.9}),
    "shadow": ("own:memory=5", {"shadow": True, "groups": GROUPS}),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def play(_goal: int, _: Any, n: StateCounters, _key: int) -> int:
    """Finish in the second state, and in the first once something was seen there."""
    return 0b011 if n.up[0] + n.won[0] + n.down[0] + n.lost[0] else 0b010


def learner(name: str = "own", decide: Callable[..., Any] = play) -> StateLearner:
    _, _, memory = name.partition("memory=")
    told: Any = memory if memory == "averaged" else float(memory or 0)
    return StateLearner(name, decide, memory=told)


def made(kind: str, where: Any = "memory", **more: Any) -> Study:
    name, settings = KINDS[kind]
    return Study.create(where, "ward", 4, learner(name), who="ada", **settings | more)


def group_of(study: Study) -> str | None:
    return next(iter(study.status().groups), None)


def go(study: Study) -> None:
    """Open three cases, tell, take back, undo and withdraw."""
    group = group_of(study)
    policies = []
    for state in (1, 2, 3):
        advice = study.open_case(state, group=group)
        assert advice.event is not None
        policies.append(json.loads(study.log(advice.event - 1)[0].response)["threshold"])
        if state == 1:
            study.tell(advice.case, 2, took="continue", why="so")
    assert policies == [0b010, 0b011, 0b011]
    study.tell(2, 4, took="finish", why="so")
    study.void(2, "it was the other bed")
    study.tell(2, 3, took="continue", why="so")
    study.undo(2)
    study.withdraw_case(3, "moved")


@EVERY_KIND
def test_a_study_with_an_own_learner_by_state_goes_on_in_every_way(
    kind: str, tmp_path: Path
) -> None:
    name, settings = KINDS[kind]
    path, own = tmp_path / "x.db", learner(name)
    with made(kind, path) as study:
        go(study)
        study.export(tmp_path / "log")
        status = study.status()
    assert (status.model, status.learner, len(status.by_state)) == ("state", name, 3)
    assert (status.start, status.next_threshold is None) == ("nothing", bool(status.groups))
    with Study(path, learner=own) as again:
        assert again.read_only is None
        assert again.status() == status
        replayed = again.replay()
        assert (again.verify().ok, replayed.ok, replayed.decisions) == (True, True, 3)
        assert again.open_case(1, group=group_of(again)).case == 4
        basis = again.basis(2)
        assert (basis is None) == bool(settings.get("shadow"))
        if basis is not None:
            assert isinstance(basis, StateBasis)
            assert (basis.model, basis.learner, basis.threshold) == ("state", name, None)
            assert basis.action == Action.FINISH
            assert "each state has its own chances" in " ".join(basis.summary.split())
    # Whoever asks again for the same study gets it, and nobody gets another of its name.
    with made(kind, path) as again:
        assert again.status().cases["opened"] == 4
        with pytest.raises(Conflict, match="it is locked"):
            made(kind, path, model="averaged")
    with Study.import_(tmp_path / "y.db", tmp_path / "log", learner=own) as taken:
        assert (taken.read_only, taken.replay().problems) == (None, ())
        assert taken.status() == status
        assert taken.export(tmp_path / "same").read_bytes() == (tmp_path / "log").read_bytes()
        taken.export_steps(tmp_path / "steps.csv")
    assert grbp.fit(tmp_path / "steps.csv", 4).by_state[0].c == 1


def test_a_configuration_says_that_an_own_learner_decides_by_state() -> None:
    made("all", store := MemoryStore())
    config = read_config(store, "ward")
    assert (config.by_state, config.model, config.learner["model"]) == (True, "state", "state")
    given = json.loads(config.text)
    assert check_config(given).equals(config)
    for wrong in ("one", "", 3, None):
        with pytest.raises(InvalidInput, match=r"the model .* was given; it must be"):
            check_config(given | {"learner": given["learner"] | {"model": wrong}})
    with pytest.raises(TooLarge, match="by state was asked for with a goal of 64"):
        check_config(given | {"goal": 64, "alarms": False})
    # Its name says it as well, where it is that of one of the package's.
    renamed = StateLearner("psrl", play)
    assert set(_kept(Study.create("memory", "x", 4, renamed))) == {"name", "digest"}
    assert set(_kept(Study.create("memory", "x", 4, grbp.Learner("mine", lambda *_: 0)))) == {
        "name", "digest"
    }  # fmt: skip


def _kept(study: Study) -> Any:
    return json.loads(study.log()[0].request)["config"]["learner"]


def test_an_own_learner_by_state_may_take_either_model_for_granted() -> None:
    study = Study.create("memory", "ward", 4, learner(), model="averaged")
    assert study.open_case(2).basis.model == study.status().model == "averaged"  # type: ignore[union-attr]
    for given, model, its in ((learner(), "one", "state"), ("psrl", "averaged", "state")):
        with pytest.raises(InvalidInput, match=f"its model is '{its}': leave one") as refused:
            Study.create("memory", "ward", 4, given, model=model)
        one_sentence(refused.value)
    with pytest.raises(InvalidInput, match="its name is that of one by state") as refused:
        Study.create("memory", "ward", 4, grbp.Learner("psrl:x=1", lambda *_: 0))
    one_sentence(refused.value)


def test_records_and_other_studies_are_counted_by_state_for_an_own_learner() -> None:
    old = Study.create("memory", "old", 4, "threshold-0")
    old.open_case(2)
    old.tell(1, 3)
    study = Study.create("memory", "new", 4, learner(), start=old)
    assert json.loads(study.log()[0].request)["config"]["start"][1] == [0.0, 1.0, 0.0]
    assert (study.status().start, study.basis(study.open_case(2).case).c_up) == ("records", 1)  # type: ignore[union-attr]
    assert study.replay().ok


def test_an_own_learner_by_state_is_found_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("a_ward_by_state")
    module.mine = learner()
    monkeypatch.setitem(sys.modules, "a_ward_by_state", module)
    for name in ("a_ward_by_state:mine", "a_ward_by_state:mine:memory=20"):
        with Study.create(tmp_path / "x.db", name, 4, name, groups=GROUPS) as study:
            go(study)
            study.export(tmp_path / "log")
        with Study(tmp_path / "x.db", name) as again:
            assert (again.read_only, again.status().model) == (None, "state")
            assert again.open_case(2, group="south").action == Action.FINISH
            assert again.replay().ok
        with Study.import_("memory", tmp_path / "log") as taken:
            assert taken.replay().ok


def test_a_page_shows_a_study_with_an_own_learner_by_state(tmp_path: Path) -> None:
    optional("fastapi", "'.[serve]'")
    optional("httpx")
    from serving import Serving, refused  # noqa: PLC0415 (what it needs is here)

    with Serving(tmp_path, asking="admin") as server:
        study = made("groups", server.store)
        go(study)
        for page in ("", "/cases/1", "/cases/2", "/evidence", "/log"):
            shown = server.ask("GET", f"/studies/ward{page}")
            assert shown.status_code == 200, shown.text
        assert "each state has its own chances" in server.ask("GET", "/studies/ward").text
        status = server.ask("GET", "/api/studies/ward").json()
        assert (status["model"], status["learner"]) == ("state", "own")
        body = {"name": "x", "goal": 4, "learner": "a_ward:mine", "model": "state"}
        refused(server.ask("POST", "/api/studies", json=body), 422, "over HTTP it must be one of")


def test_a_learner_without_a_function_is_refused() -> None:
    for kind in (StateLearner, grbp.Learner):
        for wrong in (None, 3):
            with pytest.raises(
                InvalidInput, match=f"decide = {wrong} was given.*it must be a f"
            ) as e:
                kind("x", wrong)  # type: ignore[arg-type]
            one_sentence(e.value)
