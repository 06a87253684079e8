"""Simulations and verdicts of the served explorer: the package's numbers, limits, and an end."""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import BaseModel
from runs import one_sentence
from serving import Serving, refused

import grbp
from grbp import experiments
from grbp.cli import main
from grbp.errors import NotFound, TooLarge
from grbp.explorer import explorer_models as models, simulation_worker, simulations

JOBS: Final = "/api/explore/simulations"
SMALL: Final[dict[str, Any]] = {
    "goal": 4, "p_c": 0.65, "p_f": 0.3, "start": 2, "rounds": 1_000, "replicas": 50, "seed": 7,
    "learners": ["getbe-sm:gamma=3", "doorstep-optimal"],
}  # fmt: skip
LONG: Final = SMALL | {
    "goal": 10, "p_c": 0.5, "p_f": 0.1, "start": 5, "learners": ["doorstep-optimal"],
    "rounds": 100_000, "replicas": 2_000,
}  # fmt: skip
"""It lies on the boundary, where a learner changes its mind again and again."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path, asking="viewer", results=tmp_path / "results") as serving:
        yield serving
        for job in serving.app.state.server.simulations._by_id.values():
            job.process.kill()


def ended(server: Serving, address: str, token: str | None = None) -> list[dict[str, Any]]:
    """All that was seen of a simulation until it ended."""
    seen: list[dict[str, Any]] = []
    until = time.monotonic() + 120
    while not seen or seen[-1]["status"] == "running":
        assert time.monotonic() < until
        seen.append(server.ask("GET", address, token).json())
        time.sleep(0.02)
    return seen


@pytest.mark.slow
def test_a_simulation_is_what_the_package_simulates_to_the_last_bit(server: Serving) -> None:
    begun = server.ask("POST", JOBS, json=SMALL)
    assert begun.status_code == 202
    assert begun.headers["location"] == f"{JOBS}/{begun.json()['id']}"
    seen = ended(server, begun.headers["location"])
    last = seen[-1]
    assert last["status"] == "done"
    assert last["detail"] is None
    problem = grbp.Problem(4, 0.65, 0.3, 2)
    expected = grbp.simulate(problem, SMALL["learners"], 1_000, 50, 7)
    assert last["checkpoints"] == expected.checkpoints.tolist()
    assert [one["learner"] for one in last["curves"]] == SMALL["learners"]
    for shown, curve in zip(last["curves"], expected.curves.values(), strict=True):
        low, high = curve.band()
        assert shown["mean"] == curve.mean.tolist()
        assert (shown["low"], shown["high"]) == (low.tolist(), high.tolist())
        assert shown["covered"] == curve.covered
        assert shown["thresholds"] == {str(k): v for k, v in curve.threshold_share.items()}
    # It goes forward, learner by learner.
    places = [(SMALL["learners"].index(one["learner"]), one["done"]) for one in seen]
    assert places == sorted(places)
    assert places[-1] == (1, 50)

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*shlex.split(last["command"])[1:], "--json", "--quiet"]) == 0
    again = json.loads(out.getvalue())["learners"]
    assert [one["mean"] for one in again.values()] == [one["mean"] for one in last["curves"]]


@pytest.mark.slow
def test_a_simulation_that_is_cancelled_uses_no_more_time(server: Serving) -> None:
    address = server.ask("POST", JOBS, json=LONG).headers["location"]
    (job,) = server.app.state.server.simulations._by_id.values()
    until = time.monotonic() + 120
    while server.ask("GET", address).json()["done"] == 0:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert server.ask("DELETE", address).status_code == 204
    assert job.process.wait(timeout=2) != 0
    refused(server.ask("GET", address), 404, "none")
    refused(server.ask("DELETE", address), 404, "none")
    # The next one may begin at once.
    assert server.ask("POST", JOBS, json=LONG).status_code == 202


def test_everybody_has_one_simulation_and_few_run_at_once(server: Serving) -> None:
    one, two, three = (server.token("viewer") for _ in range(3))
    first = server.ask("POST", JOBS, one, json=LONG)
    assert first.status_code == 202
    again = server.ask("POST", JOBS, one, json=LONG)
    refused(again, 429, "of yours is running", "cancel")
    assert int(again.headers["retry-after"]) > 0
    address = first.headers["location"]
    refused(server.ask("GET", address, two), 404)
    refused(server.ask("DELETE", address, two), 404)
    assert server.ask("POST", JOBS, two, json=LONG).status_code == 202
    refused(server.ask("POST", JOBS, three, json=LONG), 429, "2 simulations of others")
    assert server.ask("DELETE", address, one).status_code == 204
    assert server.ask("POST", JOBS, three, json=LONG).status_code == 202
    refused(server.ask("POST", JOBS, "", json=LONG), 401)


def test_a_process_that_dies_is_reported_and_in_time_removed() -> None:
    now = 0.0
    kept = simulations.Simulations(lambda: now)
    job = kept.begin("", dict(LONG))
    job.process.kill()
    until = time.monotonic() + 30
    while job.ended is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert kept.find("", job.id).state["status"] == "failed"
    assert "ended before it was done" in job.state["detail"]
    now = simulations.KEPT
    assert kept.find("", job.id) is job
    now = simulations.KEPT + 1.0
    with pytest.raises(NotFound, match="has been removed"):
        kept.find("", job.id)


@pytest.mark.slow
def test_a_process_ends_with_whoever_asked_for_it() -> None:
    program = [sys.executable, "-m", "grbp.explorer.simulation_worker"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(LONG).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["learner"] == "doorstep-optimal"
        process.stdin.close()
        assert process.wait(timeout=20) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"goal": 51}, "goal = 51"),
        ({"start": 4}, "from 1 to 3"),
        ({"start": "middle"}, "start"),
        ({"p_c": 1.5}, "p_c = 1.5"),
        ({"rounds": 100_001}, "100000"),
        ({"rounds": "1000"}, "rounds = '1000'"),
        ({"replicas": 2_001}, "2000"),
        ({"replicas": 1}, "replicas = 1"),
        ({"seed": -1}, "seed = -1"),
        ({"learners": []}, "learners = []"),
        ({"learners": ["getbe-sm"] * 7}, "learners"),
        ({"learners": ["nobody"]}, "'nobody' was asked for"),
        ({"learners": ["getbe-sm:gamma=0"]}, "gamma"),
        ({"learners": ["os:path"]}, "over HTTP it must be one of the package's"),
        ({"learners": ["getbe-sm", "GETBE-SM"]}, "each must be named once"),
        ({"threads": 8}, "threads = 8"),
    ],
)
def test_what_is_beyond_the_limits_is_refused(
    server: Serving, given: dict[str, Any], words: str
) -> None:
    refused(server.ask("POST", JOBS, json=SMALL | given), 422, words)
    assert server.app.state.server.simulations._by_id == {}


def test_what_would_take_too_long_is_refused_when_that_is_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("grbp.explorer.simulation_worker.time.monotonic", lambda: now)
    limit = simulation_worker.TimeLimit(20.0)
    limit.begin("quick", 1_000)
    now += 60.0  # It was compiled, which does not count.
    limit("quick", 10, 1_000)
    now += 5.0
    limit("quick", 1_000, 1_000)
    limit.begin("slow", 1_000)
    limit("slow", 10, 1_000)
    now += 0.9
    limit("slow", 20, 1_000)  # It is too early to say.
    now += 0.7
    with pytest.raises(TooLarge, match="about 58 s; at most 20 s") as error:
        limit("slow", 40, 1_000)
    one_sentence(error.value)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"curves": [], "learner": "quick", "done": 1_000, "total": 1_000} in said


def test_the_learners_and_the_limits_are_said(server: Serving) -> None:
    said = server.ask("GET", "/api/explore").json()
    names = [one["name"] for one in said["learners"]]
    assert names[:2] == [grbp.DEFAULT_LEARNER, "getbe-sm"]
    assert set(names) == set(grbp.LEARNERS) - {"oracle", "ucb1-policies"}
    assert {one["name"]: one["gamma"] for one in said["learners"]}["getbe-sm"] == 15.0
    assert (said["most_rounds"], said["most_replicas"]) == (100_000, 2_000)
    assert (said["allowed"], said["missing"]) == (True, None)
    token = server.token("viewer")
    assert server.ask("GET", "/api/explore", token).json()["allowed"]
    assert not server.ask("GET", "/api/explore", "").json()["allowed"]


def test_without_numba_it_says_so_and_the_rest_works(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulations, "find_spec", lambda _: None)
    said = server.ask("GET", "/api/explore").json()["missing"]
    assert "Numba" in said
    assert "grbp[engine]" in said
    assert refused(server.ask("POST", JOBS, json=SMALL), 503, "Numba") == said
    assert server.ask("GET", "/explore").status_code == 200
    assert server.ask("GET", "/api/explore/verdicts").status_code == 200


def test_every_example_is_one() -> None:
    found = [one for one in vars(models).values() if isinstance(one, type)]
    described = [one for one in found if issubclass(one, BaseModel) and one is not BaseModel]
    assert len(described) == 7
    for model in described:
        for example in model.model_json_schema()["examples"]:
            model.model_validate(example)


ASKED: Final = """
import asyncio, sys
import httpx
from grbp.live.store import open_store
from grbp.serve import server
from grbp.serve.app import create_app
from grbp.serve.tokens import Tokens

async def ask(app, token):
    transport, bearer = httpx.ASGITransport(app), {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", headers=bearer
    ) as http:
        for path in ("/explore", "/api/explore", "/static/simulations.js", "/openapi.json"):
            assert (await http.get(path)).status_code == 200, path
        begun = await http.post("/api/explore/simulations", json=JOB)
        assert begun.status_code == 202
        assert (await http.delete(begun.headers["location"])).status_code == 204

store = open_store("memory")
tokens = Tokens(store)
asyncio.run(ask(create_app(store, tokens), tokens.make_first()))
print([name for name in ("numba", "grbp.engine", "grbp.experiments", "grbp.paper", "matplotlib")
       if name in sys.modules])
"""


@pytest.mark.slow
def test_serving_the_explorer_loads_neither_the_engine_nor_numba(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = ASKED.replace("JOB", repr(LONG))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stderr


def test_verdicts_are_read_off_the_results_that_are_there(
    server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = server.ask("GET", "/api/explore/verdicts").json()
    assert [one["claim"] for one in said["items"]] == [row.claim for row in grbp.verdicts({})]
    assert {one["evidence"] for one in said["items"]} == {"no data"}
    assert said["missing"] == list(experiments.EXPERIMENTS)
    assert (said["made"], said["replicas"]) == (None, None)
    assert said["command"] == f"grbp reproduce --out {tmp_path / 'results'}"

    spec = replace(experiments.FIGURE_4, learners=("getbe-sm",), rounds=100, replicas=5)
    monkeypatch.setattr(experiments, "EXPERIMENTS", experiments.EXPERIMENTS | {"figure-4": spec})
    result = experiments.run(spec, tmp_path / "results" / "data")
    said = server.ask("GET", "/api/explore/verdicts").json()
    assert "figure-4" not in said["missing"]
    assert said["made"] == result.meta.made
    rows = grbp.verdicts({"figure-4": result})
    assert [tuple(one.values()) for one in said["items"]] == [
        (row.claim, row.where, row.outcome, row.evidence, row.why) for row in rows
    ]
    assert "held" in {one["outcome"] for one in said["items"]}

    # One that is damaged does not count, and stays where it is.
    damaged = tmp_path / "results" / "data" / experiments.address(spec)
    damaged.write_bytes(b"nothing")
    assert "figure-4" in server.ask("GET", "/api/explore/verdicts").json()["missing"]
    assert damaged.read_bytes() == b"nothing"
