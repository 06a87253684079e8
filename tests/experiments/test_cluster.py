"""A Dask cluster: the same result as one process, and no worker that would spoil it."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from optional import optional
from runs import one_sentence
from sweeping import SPEC

import grbp
from grbp.errors import GrbpError
from grbp.experiments.cells import Chunk, make_cells, play_canary
from grbp.experiments.cluster import WorkerCheck, check_and_play, check_self
from grbp.experiments.sweep_spec import SweepSpec

CLUSTER = import_module("grbp.experiments.cluster")
ONE = SweepSpec("x", grbp.Problem(4, 0.4, 0.3), ["getbe-sm"], 50, 1)
(CELL,) = make_cells(ONE)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes and a scheduler."""
    dask = optional("distributed")
    with dask.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as made:
        yield made


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    return grbp.sweep(SPEC, tmp_path_factory.mktemp("one"), processes=1).digest


@pytest.mark.sample("0.003")
@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1.0, 0.003])
def test_a_cluster_plays_the_same_bits(
    chunk: float, cluster: Any, digest: str, tmp_path: Path
) -> None:
    address = cluster.scheduler_address
    assert grbp.sweep(SPEC, tmp_path, dask=address, chunk=chunk).digest == digest


@pytest.mark.soak
def test_a_worker_of_a_cluster_that_is_killed_changes_no_bit(
    cluster: Any, digest: str, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(_: str, done: int, total: int) -> None:
        if 4 * done > total and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.process.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_address
    result = grbp.sweep(SPEC, tmp_path, dask=address, chunk=0.002, progress=kill)
    assert killed
    assert result.digest == digest


@pytest.mark.soak
def test_a_learner_of_ones_own_goes_to_the_cluster(cluster: Any, tmp_path: Path) -> None:
    # A module that workers do not have is sent along, as long as it is this one.
    import_module("cloudpickle").register_pickle_by_value(import_module(__name__))
    spec = replace(SPEC, learners=(grbp.Learner("patient", patient),), replicas=20)
    there = grbp.sweep(spec, tmp_path / "there", dask=cluster.scheduler_address)
    assert there.digest == grbp.sweep(spec, tmp_path / "here", threads=1).digest


def patient(goal: int, constants: Any, n: grbp.Counters, key: int) -> int:  # noqa: ARG001
    return 1 if n.rho > 100 else 0


@pytest.mark.slow
def test_a_cluster_whose_source_or_numbers_differ_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for field, sentence in (
        ("source", "its source of grbp differs"),
        ("canary", "its results differ"),
    ):
        with monkeypatch.context() as other:
            other.setattr(
                CLUSTER,
                "check_self",
                lambda cell, f=field: check_self(cell)._replace(**{f: "other"}),
            )
            with pytest.raises(GrbpError, match=f"the worker tcp.* was refused.*{sentence}") as no:
                grbp.sweep(SPEC, tmp_path, dask=cluster.scheduler_address)
        one_sentence(no.value)


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("source", "its source of grbp differs"),
        ("learner", "of a learner"),
        ("canary", "its results"),
    ],
)
def test_a_worker_that_comes_later_refuses_by_itself(field: str, sentence: str) -> None:
    task = (Chunk(CELL, 0, 5),)
    done: Any = check_and_play(task, check_self(CELL))
    assert [one.chunk for one in done] == list(task)
    said = check_and_play(task, check_self(CELL)._replace(**{field: "other"}))
    assert isinstance(said, str)
    assert sentence in said
    one_sentence(GrbpError(said))


@pytest.mark.slow
def test_the_canary_tells_learners_goals_and_engines_apart() -> None:
    problems = [grbp.Problem(4, 0.4, 0.3), grbp.Problem(6, 0.4, 0.3)]
    both = replace(ONE, problems=problems, learners=["getbe-sm", "no-explore"])
    told = {
        play_canary(cell)
        for engine in ("walk", "draw")
        for cell in make_cells(replace(both, engine=engine))
    }
    assert len(told) == 8
    assert WorkerCheck("a", "b", "c").differs(WorkerCheck("a", "b", "c")) == ""


@pytest.mark.slow
def test_an_address_without_a_scheduler_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optional("distributed")
    monkeypatch.setattr(CLUSTER, "_CALL", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://"):
        with pytest.raises(GrbpError, match="there is no scheduler") as refusal:
            grbp.sweep(SPEC, tmp_path, dask=address)
        one_sentence(refusal.value)
