"""Sweeps: one result, whoever played it, in whatever order, and whatever was killed meanwhile."""

import math
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sweeping
from runs import one_sentence
from sweeping import CELLS, GRID, SPEC

import grbp
from grbp.errors import CannotWrite, GrbpError, WorkersFailed
from grbp.experiments import FIGURE_5
from grbp.experiments.cells import Chunk, make_cells
from grbp.experiments.game import Tally
from grbp.experiments.parts import merge_parts, sweep_part
from grbp.experiments.sweep import Driver, duration, sweep_path
from grbp.experiments.sweep_file import SweepFile
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS
from grbp.experiments.workers import Pool, Processes

WORKERS = import_module("grbp.experiments.workers")
PLAY = WORKERS.play
DRIVER = import_module("grbp.experiments.sweep")
FILE = import_module("grbp.experiments.sweep_file")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> grbp.SweepResult:
    """The sweep in one process, in large chunks."""
    return grbp.sweep(SPEC, tmp_path_factory.mktemp("whole"), processes=1)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """The chunks that this process plays."""
    seen: list[Chunk] = []

    def counted(chunks: Sequence[Chunk], *options: Any) -> Any:
        seen.extend(chunks)
        return PLAY(chunks, *options)

    monkeypatch.setattr(WORKERS, "play", counted)
    return seen


def replicas_of(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.size for chunk in chunks)


# --- one result -------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_cell_is_the_end_of_a_simulation(whole: grbp.SweepResult) -> None:
    assert len(whole.cells) == CELLS
    for one in whole.cells:
        cell = one.cell
        simulation = grbp.simulate(
            cell.problem, [cell.learner], 300, 400, cell.seed, checkpoints=[20]
        )
        (curve,) = simulation.curves.values()
        assert (one.mean, one.se) == (tuple(curve.mean), tuple(curve.se))


def test_a_learner_of_many_choices_is_the_end_of_a_simulation_too(tmp_path: Path) -> None:
    grid = {"goal": 7, "p_c": 0.45, "p_f": 0.3}
    spec = SweepSpec("many", grid, ["ucb1-policies"], (50, 200), 30)
    for who in ({"threads": 1}, {"threads": 2, "chunk": 1e-4}):
        (one,) = grbp.sweep(spec, tmp_path / str(len(who)), **who).cells
        asked = (one.cell.problem, "ucb1-policies", 200, 30, one.cell.seed)
        (curve,) = grbp.simulate(*asked, checkpoints=[50]).curves.values()
        assert (one.mean, one.se) == (tuple(curve.mean), tuple(curve.se))
        assert isinstance(one.tally, Tally)
        assert len(one.tally.sums[0].totals) == 1


def test_the_cells_of_figure_5_keep_their_seeds(tmp_path: Path) -> None:
    grid = {"goal": 4, "p_c": {"from": 0.45, "to": 0.5, "step": 0.05}, "p_f": [0.2, 0.25]}
    few = replace(FIGURE_5, problems=grid, replicas=10)
    whole = {cell.key: cell.seed for cell in make_cells(FIGURE_5)}
    played = grbp.sweep(few, tmp_path)
    assert all(whole[one.cell.key] == one.cell.seed for one in played.cells)
    again = grbp.experiments.run(few, tmp_path)
    assert again.digest == played.digest
    assert list(again.rows()) == list(played.rows())
    assert played.cells[0].cell.seed == 15251434088386389004  # as ever


@pytest.mark.sample("*threads*", "*processes*2*chunk*")
@pytest.mark.parametrize(
    "who",
    [
        {"processes": 1, "chunk": 0.001},
        {"threads": 3},
        {"threads": 2, "chunk": 0.003},
        pytest.param({"processes": 2}, marks=pytest.mark.slow),
        {"processes": 2, "chunk": 0.002},
    ],
    ids=str,
)
def test_who_plays_changes_no_bit(
    who: dict[str, Any], whole: grbp.SweepResult, tmp_path: Path
) -> None:
    assert grbp.sweep(SPEC, tmp_path, **who).digest == whole.digest


def test_the_order_of_learners_and_problems_is_nothing(
    whole: grbp.SweepResult, tmp_path: Path
) -> None:
    grid = GRID | {"p_c": [0.7, 0.5, 0.3]}
    turned = replace(SPEC, learners=SPEC.learners[::-1], problems=grid)
    assert grbp.sweep(turned, tmp_path).digest == whole.digest


def test_files_for_other_programs_have_every_cell(tmp_path: Path) -> None:
    result = grbp.sweep(SPEC, tmp_path)
    lines = (tmp_path / "tour.csv").read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 1 + 2 * CELLS
    assert result.digest in (tmp_path / "tour.json").read_text()
    frame = result.to_frame()
    assert frame["mean"].tolist() == [row[COLUMNS.index("mean")] for row in result.rows()]
    assert "7,200 replicas of 300 rounds" in result._repr_html_()


# --- nothing is lost --------------------------------------------------------------------------


def test_a_second_run_plays_nothing(
    whole: grbp.SweepResult, tmp_path: Path, played: list[Chunk]
) -> None:
    grbp.sweep(SPEC, tmp_path, threads=1)
    assert replicas_of(played) == 400 * CELLS
    played.clear()
    assert grbp.sweep(SPEC, tmp_path, threads=1, chunk=0.01).digest == whole.digest
    assert not played


def test_more_replicas_extend_and_fewer_are_found_or_played(
    whole: grbp.SweepResult, tmp_path: Path, played: list[Chunk]
) -> None:
    for replicas, new in ((150, 150), (400, 250), (400, 0), (150, 0)):
        played.clear()
        result = grbp.sweep(replace(SPEC, replicas=replicas), tmp_path, threads=1, chunk=0.01)
        assert replicas_of(played) == new * CELLS
        assert {one.replicas for one in result.cells} == {replicas}
        assert (result.digest == whole.digest) is (replicas == 400)
    grbp.sweep(replace(SPEC, replicas=7), tmp_path, threads=1)
    assert grbp.sweep(SPEC, tmp_path, threads=1).digest == whole.digest


def test_a_learner_or_a_problem_that_is_added_is_played_alone(
    tmp_path: Path, played: list[Chunk]
) -> None:
    grbp.sweep(replace(SPEC, learners=SPEC.learners[:2]), tmp_path, threads=1)
    played.clear()
    grbp.sweep(SPEC, tmp_path, threads=1)
    assert {str(chunk.cell.learner) for chunk in played} == {"no-explore"}


def test_an_interruption_keeps_what_was_played(
    whole: grbp.SweepResult, tmp_path: Path, played: list[Chunk]
) -> None:
    kept = 0

    def interrupt(_: str, done: int, total: int) -> None:
        nonlocal kept
        kept = done
        if 3 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grbp.sweep(SPEC, tmp_path, threads=1, chunk=0.002, progress=interrupt)
    played.clear()
    assert grbp.sweep(SPEC, tmp_path, threads=1).digest == whole.digest
    assert replicas_of(played) == 400 * CELLS - kept


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_its_chunks_alone(
    whole: grbp.SweepResult, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(_: str, done: int, total: int) -> None:
        if 4 * done > total and len(killed) < 1:
            victim = multiprocessing.active_children()[0]
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    result = grbp.sweep(SPEC, tmp_path, processes=2, chunk=0.002, progress=kill)
    assert killed
    assert result.digest == whole.digest


@pytest.mark.slow
def test_a_driver_that_is_killed_goes_on_with_what_it_had_not_kept(
    whole: grbp.SweepResult, tmp_path: Path, played: list[Chunk]
) -> None:
    command = [sys.executable, sweeping.__file__, str(tmp_path)]
    told = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            told, total = map(int, line.split())
            if 3 * told > total:
                driver.kill()
                break
    assert 0 < told < 400 * CELLS
    with Driver(SPEC, sweep_path(tmp_path, SPEC)) as again:
        kept = sum(one.size for cell in again.cells for one in again.file.chunks(cell))
    assert 0 < kept < 400 * CELLS
    assert grbp.sweep(SPEC, tmp_path, threads=1).digest == whole.digest
    assert replicas_of(played) == 400 * CELLS - kept


def test_workers_that_die_again_and_again_are_given_up() -> None:
    class Broken:
        def submit(self, *_: object) -> "Future[Any]":
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("killed"))
            return future

        def shutdown(self, **_: object) -> None:
            pass

    (cell,) = make_cells(SweepSpec("x", grbp.Problem(4, 0.4, 0.3), ["getbe-sm"], 10, 1))
    pool = Pool(Broken, 1)  # type: ignore[arg-type]
    with pytest.raises(WorkersFailed, match="died 4 times over the same chunk") as refusal:
        list(pool.play(iter([(Chunk(cell, 0, 5),)])))
    one_sentence(refusal.value)


def test_a_learner_of_a_session_cannot_be_given_to_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mine(goal: int, constants: Any, n: grbp.Counters, key: int) -> int:  # noqa: ARG001
        return 0

    mine.__module__ = "__main__"
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    learner = grbp.Learner("mine", mine)
    spec = SweepSpec("x", grbp.Problem(4, 0.4, 0.3), [learner], 10, 1, engine="walk")
    (cell,) = make_cells(spec)
    with pytest.raises(GrbpError, match="put it into a module or leave processes out") as refusal:
        Processes(2).prepare([cell])
    one_sentence(refusal.value)


@pytest.mark.slow
def test_a_learner_of_ones_own_is_known_by_its_source(tmp_path: Path, played: list[Chunk]) -> None:
    def patient(wait: int) -> grbp.Learner:
        def decide(goal: int, constants: Any, n: grbp.Counters, key: int) -> int:  # noqa: ARG001
            return 1 if n.rho > wait else 0

        return grbp.Learner("patient", decide)

    for wait, new in ((5, True), (5, False), (6, True)):
        played.clear()
        spec = replace(SPEC, learners=(patient(wait),), replicas=10)
        grbp.sweep(spec, tmp_path, threads=1)
        assert bool(played) is new


# --- parts ------------------------------------------------------------------------------------


def test_parts_are_put_together(whole: grbp.SweepResult, tmp_path: Path) -> None:
    for index in (3, 1):
        sweep_part(SPEC, (index, 3), tmp_path, threads=1, chunk=0.01 * index)
    with pytest.raises(GrbpError, match=r"part 2 of 3 is missing.* replicas are ") as refusal:
        merge_parts(SPEC, tmp_path)
    one_sentence(refusal.value)
    path = sweep_part(SPEC, (2, 3), tmp_path, threads=1)
    assert path.name == "tour.part-2-of-3.sweep"
    assert merge_parts(SPEC, tmp_path).digest == whole.digest
    assert merge_parts(SPEC, tmp_path).digest == whole.digest


def test_what_is_missing_of_parts_can_be_played_here(
    whole: grbp.SweepResult, tmp_path: Path, played: list[Chunk]
) -> None:
    path = sweep_part(SPEC, (1, 4), tmp_path / "parts", threads=1)
    with pytest.raises(GrbpError, match="are missing"):
        merge_parts(SPEC, tmp_path, [path])
    played.clear()
    assert grbp.sweep(SPEC, tmp_path, threads=1).digest == whole.digest
    assert replicas_of(played) == 400 * CELLS * 3 // 4


def test_parts_cut_differently_overlap_without_harm(
    whole: grbp.SweepResult, tmp_path: Path
) -> None:
    for part in ((1, 2), (3, 3), (5, 7)):
        sweep_part(SPEC, part, tmp_path, threads=1)
    with pytest.raises(GrbpError, match="are missing"):
        merge_parts(SPEC, tmp_path)
    assert grbp.sweep(SPEC, tmp_path, threads=1).digest == whole.digest


@pytest.mark.parametrize(
    ("part", "sentence"),
    [((0, 3), "the part = 0"), ((4, 3), "the part = 4"), ((1, 0), "parts = 0")],
)
def test_a_part_is_a_number_of_a_number(
    part: tuple[int, int], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(GrbpError, match=sentence) as refusal:
        sweep_part(SPEC, part, tmp_path)
    one_sentence(refusal.value)


def test_without_parts_there_is_nothing_to_merge(tmp_path: Path) -> None:
    for files, sentence in (((), "has no parts of the sweep"), (("x.sweep",), "there is none")):
        with pytest.raises(GrbpError, match=sentence) as refusal:
            merge_parts(SPEC, tmp_path, files)
        one_sentence(refusal.value)
    assert not list(tmp_path.iterdir())


# --- precision --------------------------------------------------------------------------------

PRECISE = replace(SPEC, learners=("getbe-sm", "threshold-0"), replicas=10, se=0.5)
PRECISE = replace(PRECISE, most_replicas=300)


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> grbp.SweepResult:
    return grbp.sweep(PRECISE, tmp_path_factory.mktemp("precise"), threads=1)


def test_replicas_are_doubled_where_the_standard_error_is_too_large(
    precise: grbp.SweepResult,
) -> None:
    for one in precise.cells:
        cell, replicas = one.cell, 10
        while True:
            direct = grbp.simulate(cell.problem, [cell.learner], 300, replicas, cell.seed)
            (curve,) = direct.curves.values()
            if curve.se[-1] <= 0.5 or replicas == 300:
                break
            replicas = min(2 * replicas, 300)
        assert one.replicas == replicas
    assert len({one.replicas for one in precise.cells}) > 2
    assert [one.replicas for one in precise.imprecise] == [300] * len(precise.imprecise)


@pytest.mark.slow
@pytest.mark.parametrize("who", [{"threads": 3, "chunk": 0.0001}, {"threads": 1, "chunk": 1e-5}])
def test_precision_does_not_depend_on_the_order(
    who: dict[str, Any], precise: grbp.SweepResult, tmp_path: Path
) -> None:
    assert grbp.sweep(PRECISE, tmp_path, **who).digest == precise.digest


def test_parts_reach_the_same_precision(precise: grbp.SweepResult, tmp_path: Path) -> None:
    for index in (2, 1):
        sweep_part(PRECISE, (index, 2), tmp_path, threads=1)
    assert merge_parts(PRECISE, tmp_path).digest == precise.digest


def test_a_closer_look_goes_on_from_the_one_before(tmp_path: Path, played: list[Chunk]) -> None:
    first = grbp.sweep(PRECISE, tmp_path, threads=1)
    played.clear()
    closer = grbp.sweep(replace(PRECISE, se=0.25), tmp_path, threads=1)
    before, after = (sum(one.replicas for one in r.cells) for r in (first, closer))
    assert replicas_of(played) == after - before > 0


# --- files that are not ours ------------------------------------------------------------------


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def foreign(path: Path) -> None:
    path.write_bytes(b"This is my diary." * 100)


def foreign_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE diary (day TEXT)")


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (truncated, "is damaged"),
        (foreign, "is damaged, or is not a file of a sweep"),
        (foreign_database, "is a SQLite file of another program, not a sweep"),
        (lambda path: changed(path, "PRAGMA user_version = 9"), "is written in format 9"),
        (lambda path: changed(path, "UPDATE chunks SET sums = '[]'"), "is damaged"),
        (lambda path: changed(path, "UPDATE chunks SET first = 1 + first"), "is damaged"),
        (lambda path: changed(path, "UPDATE header SET value = ''"), "by other source"),
    ],
    ids=["truncated", "foreign", "database", "newer", "sums", "place", "source"],
)
def test_a_file_that_is_damaged_or_others_is_refused_and_stays(
    harm: Any, sentence: str, tmp_path: Path
) -> None:
    grbp.sweep(SPEC, tmp_path, threads=1)
    path = sweep_path(tmp_path, SPEC)
    harm(path)
    before = path.read_bytes()
    with pytest.raises(GrbpError, match=sentence) as refusal:
        grbp.sweep(SPEC, tmp_path, threads=1)
    one_sentence(refusal.value)
    assert path.read_bytes() == before


def test_a_second_driver_is_refused(whole: grbp.SweepResult, tmp_path: Path) -> None:
    refused: list[str] = []

    def second(*_: object) -> None:
        if not refused:
            with pytest.raises(GrbpError, match="another sweep is writing to") as refusal:
                grbp.sweep(SPEC, tmp_path, threads=1)
            refused.append(one_sentence(refusal.value))

    assert grbp.sweep(SPEC, tmp_path, threads=1, progress=second).digest == whole.digest
    assert refused


def test_a_driver_that_fails_at_once_lets_go_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise CannotWrite("the disk is full")

    path = tmp_path / "x.sweep"
    SweepFile(path).close()
    with monkeypatch.context() as patch:
        patch.setattr(SweepFile, "put", fail)
        with pytest.raises(CannotWrite), Driver(SPEC, path) as driver:
            driver.play()
    SweepFile(path).close()


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        ({"processes": 0}, "processes = 0 was given"),
        ({"threads": 0}, "threads = 0 was given"),
        ({"processes": 2, "dask": "tcp://nowhere:1"}, "dask and processes were given"),
        ({"chunk": -1.0}, "chunk = -1.0 was given"),
        ({"device": "tpu"}, "device = 'tpu' was given"),
    ],
)
def test_who_plays_is_checked(who: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(GrbpError, match=sentence) as refusal:
        grbp.sweep(SPEC, tmp_path, **who)
    one_sentence(refusal.value)


def test_a_gpu_plays_no_leaps(tmp_path: Path) -> None:
    spec = replace(SPEC, engine="leap")
    with pytest.raises(GrbpError, match="so give engine = 'draw'") as refusal:
        grbp.sweep(spec, tmp_path, device="cuda")
    one_sentence(refusal.value)
    assert not list(tmp_path.iterdir())


def test_a_map_is_drawn_of_one_learner_over_one_grid(tmp_path: Path) -> None:
    one = grbp.sweep(replace(SPEC, learners=("getbe-sm",)), tmp_path)
    found = one.regret_map()
    assert (found.p_c.tolist(), found.p_f.tolist()) == ([0.3, 0.5, 0.7], [0.2, 0.6])
    assert found.mean.shape == found.se.shape == (2, 3)
    assert found.mean[1, 0] == one.cells[3].mean[-1]
    assert len(one.plot().axes) == 3
    with pytest.raises(GrbpError, match="has one learner"):
        one.winners()
    row = replace(SPEC, problems={"goal": 4, "p_c": [0.3, 0.5], "p_f": 0.2}, replicas=2)
    with pytest.raises(GrbpError, match="cannot be drawn as a map") as refusal:
        grbp.sweep(replace(row, name="row"), tmp_path).plot()
    one_sentence(refusal.value)


def test_a_time_is_said_as_a_person_says_it() -> None:
    said = [duration(seconds) for seconds in (0.2, 40.0, 150.0, 6000.0, 9000.0, 900_000.0)]
    assert said == ["1 s", "40 s", "2 min", "100 min", "2.5 h", "2.5e+02 h"]


def test_the_best_learner_has_the_least_regret_and_is_clear_beyond_chance(
    whole: grbp.SweepResult,
) -> None:
    names = [str(learner) for learner in whole.spec.learners]
    best, clear = whole.winners()
    for k in range(best.size):
        # The learners of a problem follow each other.
        cells = sorted(whole.cells[3 * k : 3 * k + 3], key=lambda one: one.mean[-1])
        assert names[best.flat[k]] == str(cells[0].cell.learner)
        apart = cells[1].mean[-1] - cells[0].mean[-1]
        assert clear.flat[k] == (apart > 1.96 * math.hypot(cells[0].se[-1], cells[1].se[-1]))
    legend = whole.plot().axes[0].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert sorted(word.partition(": ")[0] for word in words) == sorted(names)
