"""The verbs have one signature each; whoever passes them on has exactly that one."""

import argparse
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from optional import optional
from serving import Serving

from grbp import Advice, Client, Study
from grbp.cli import live, main
from grbp.live.endpoints import BESIDE, CORRECTOR, ENDPOINTS, Endpoint
from grbp.live.kinds import KINDS
from grbp.live.parameters import PARAMETERS
from grbp.live.queries import QUERIES
from grbp.live.study import RECORDED
from grbp.live.verbs import Verbs, parameters_of, verb as as_verb

optional("fastapi", "'.[serve]'")

from grbp.serve import models, routes  # noqa: E402
from grbp.serve.state import ROUTERS  # noqa: E402

pytestmark = pytest.mark.slow

VERBS = [
    name
    for name, member in vars(Verbs).items()
    if inspect.isfunction(member) and not name.startswith("_") and name != "close"
]

COMPOSED = {"export", "find_taken_back"}
"""The verbs that others are enough for, over HTTP."""

HERE = {"path", "events"}
"""What is given to this machine alone: where to write a file, and what was read before."""

IN_STORE = {"set_code", "change_learner", "undo", "export"}
"""The verbs that a study carries out in a way of its own."""

SHELL = {entry.verb: name for name, entry in live._COMMANDS.items() if entry.verb}
COMPOSED_IN_SHELL = {
    "case": "ask", "basis": "ask", "find_cases": "cases", "find_taken_back": "log",
    "export": "export", "export_lines": "export", "export_steps": "export", "backup": "backup",
    "trajectory": "serve",
}  # fmt: skip
"""The verbs that have no verb of the shell to themselves, and where they are instead."""

MORE = {"store", "study", "json", "details", "help", "quiet", "verbose"}
"""What any verb of the shell may also be told."""
OWN = {
    "create": {"records", "columns", "map_state", "map_action", "old", "who"},
    "set_code": {"erase"},
    "cases": {"code"},
    "verify": {"all", "heads"},
    "replay": {"file", "all"},
} | {key: {"code"} for key in ("ask", "tell", "void", "undo", "withdraw_case")}
"""What some may be told beside: most of all which case is meant, by its code."""


def test_a_study_and_a_client_have_the_same_verbs_from_one_place() -> None:
    public = [{name for name in dir(one) if not name.startswith("_")} for one in (Study, Client)]
    assert public[0] == public[1] >= {*VERBS, "create", "import_", "names"}
    again = {*vars(Study), *vars(Client)} & {*VERBS, "create", "import_", "names"}
    assert not again, "these signatures stand twice"


def test_every_verb_is_carried_out_in_the_store_and_has_a_route() -> None:
    assert {*QUERIES, *RECORDED, *IN_STORE} == {*VERBS}
    assert {*ENDPOINTS} | COMPOSED == {*VERBS, "create"}
    assert not {*ENDPOINTS} & COMPOSED
    for verb, kind in RECORDED.items():
        assert ENDPOINTS[verb].role == KINDS[kind].role
    paths = {(method, one.path) for one in _routes() for method in one.methods}
    assert all((entry.method, entry.path) in paths for entry in ENDPOINTS.values())


def _routes() -> list[Any]:
    return [one for router in ROUTERS.values() for one in router.routes]


def test_every_parameter_is_described_once() -> None:
    used = set()
    for verb in (*VERBS, "create"):
        for name in parameters_of(verb).keys() - HERE:
            used.add(f"{verb}.{name}" if f"{verb}.{name}" in PARAMETERS else name)
    assert used == {*PARAMETERS}
    assert all(one.schema.get("type") or one.schema["anyOf"] for one in PARAMETERS.values())


@pytest.mark.parametrize("verb", ENDPOINTS)
def test_a_route_takes_exactly_what_its_verb_does(verb: str) -> None:
    entry, parameters = ENDPOINTS[verb], parameters_of(verb)
    (found,) = (one for one in _routes() if one.path == entry.path and entry.method in one.methods)
    assert (found.name, found.status_code) == (entry.operation or verb, entry.status)
    assert ("key" in parameters) == any(
        one.alias == "Idempotency-Key" for one in found.dependant.header_params
    )
    body = found.body_field.field_info.annotation.model_fields if found.body_field else {}
    given = parameters.keys() - BESIDE - HERE if entry.method == "POST" else set()
    assert {*body} - {"from_"} == given | {*entry.fixed}
    for name in given:
        optional_ = parameters[name].default is not inspect.Signature.empty
        assert body[name].is_required() == (not optional_)
    if entry.method == "GET":
        same = [one for one, other in ENDPOINTS.items() if other[:2] == entry[:2]]
        asked = {name for one in same for name in parameters_of(one)}
        taken = {one.name for one in found.dependant.query_params + found.dependant.path_params}
        assert taken - {"basis", "study"} == asked - HERE


def test_the_shell_has_every_verb_with_exactly_its_options() -> None:
    assert {*SHELL} | {*COMPOSED_IN_SHELL} == {*VERBS, "create"}
    assert not {*SHELL} & {*COMPOSED_IN_SHELL}
    parser = argparse.ArgumentParser()
    live.add_options(parser)
    (verbs,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    for verb, name in SHELL.items():
        options = {one.dest for one in verbs.choices[name]._actions} - MORE
        assert options - OWN.get(verb, set()) == parameters_of(verb).keys() - {"name"}, verb
        for parameter in parameters_of(verb).values():
            assert parameter.help


@as_verb
def again(  # type: ignore[empty-body]
    self: Any, case: int, why: str, *, key: str | None = None, who: str | None = None
) -> Advice:
    """Take back an entry, in a verb that somebody adds."""


def test_a_wrong_call_of_a_verb_is_refused_as_python_refuses_any() -> None:
    study = Study.create("memory", "ward", 4)
    with pytest.raises(TypeError, match=r"Verbs\.tell\(\) missing 1 required .* 'state'"):
        study.tell(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Verbs\.undo\(\) got an unexpected .* 'why'"):
        study.undo(1, why="so")  # type: ignore[call-arg]


def test_a_verb_that_is_added_is_one_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for router in ROUTERS.values():
        monkeypatch.setattr(router, "routes", [*router.routes])
    path = ENDPOINTS["void"].path.replace("void", "again")
    entry = Endpoint("POST", path, CORRECTOR, body=("Again", "An entry to be taken back."))
    monkeypatch.setattr(Verbs, "again", again, raising=False)
    monkeypatch.setitem(RECORDED, "again", "void")
    monkeypatch.setitem(ENDPOINTS, "again", entry)
    monkeypatch.setitem(models.BODIES, "again", models._make_body("again"))
    shown = live._Command("take back an entry", "again", live._ask, live._DETAILS)
    monkeypatch.setitem(live._COMMANDS, "again", shown)
    routes._serve("again")
    with Serving(tmp_path, asking="admin") as server:
        study = Study.create(server.store, "ward", 4)
        for case in (1, 2):
            study.open_case(2)
            study.tell(case, 3, took="continue", why="so")
        schema = server.ask("GET", "/openapi.json").json()
        described = schema["paths"][entry.path]["post"]
        assert described["description"] == "Take back an entry, in a verb that somebody adds."
        assert schema["components"]["schemas"]["Again"]["required"] == ["why"]
        assert study.again(1, "here", key="k").state == 2  # type: ignore[attr-defined]
        with Client(server.link) as client:
            assert client.again(2, "there", key="far").state == 2  # type: ignore[attr-defined]
        study.tell(2, 3, took="continue", why="so")
        place = ["--store", str(server.store.where), "--json"]
        assert main(["live", "again", "--case", "2", "--why", "shell", *place]) == 0
        assert json.loads(capsys.readouterr().out)["state"] == 2
        kinds = [json.loads(one.request).get("why") for one in study.log() if one.kind == "void"]
        assert kinds == ["here", "there", "shell"]
