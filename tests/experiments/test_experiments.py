"""Experiments: kept whole, found again, resumed to the same bits, and never lost."""

import csv
import io
import json
import sqlite3
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import CURVES, GRID, UNEVEN, one_sentence

import grbp
from grbp.cli import main
from grbp.errors import CannotWrite, InvalidInput
from grbp.experiments import (
    CurveResult,
    Result,
    Spec,
    address,
    find,
    load,
    load_result,
    run,
    save,
    to_csv,
)
from grbp.experiments.cells import cell_seed
from grbp.experiments.runner import PARTS
from grbp.experiments.simulation import simulate
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS
from grbp.worlds.problem import Problem

# The function has the name of its module.
RUN = import_module("grbp.experiments.runner")
WORKERS = import_module("grbp.experiments.workers")
PLAY = WORKERS.play
BOTH = pytest.mark.parametrize("spec", [CURVES, GRID], ids=["curves", "sweep"])


def bits(result: Result) -> list[Any]:
    """Everything a result says, but not how it was made."""
    if isinstance(result, SweepResult):
        return [result.spec, result.digest, list(result.rows())]
    s = result.simulation
    found: list[Any] = [result.spec, s.problem, s.replicas, s.seed, s.kind, s.checkpoints.tobytes()]
    found.append(s.engines)
    for name, curve in s.curves.items():
        arrays = (curve.mean, curve.covariance, curve.final)
        found += [name, *(array.tobytes() for array in arrays), curve.threshold_share]
        found.append(curve.by_start)
    return found


@pytest.fixture
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(RUN, "simulate", refuse)
    monkeypatch.setattr(WORKERS, "play", refuse)


@BOTH
def test_what_is_loaded_is_what_was_saved(spec: Spec | SweepSpec, tmp_path: Path) -> None:
    made = run(spec, tmp_path)
    path = tmp_path / address(spec)
    assert list(tmp_path.iterdir()) == [path]
    loaded = load_result(tmp_path, spec)
    assert type(loaded) is type(made)
    assert bits(loaded) == bits(made)
    assert loaded.meta == made.meta
    assert loaded.meta.versions["grbp"] == grbp.__version__
    assert loaded.meta.constants["getbe-sm"] == {"gamma": 15.0}
    assert loaded.meta.revision


def test_curves_are_those_of_simulate(tmp_path: Path) -> None:
    direct = simulate(CURVES.problem, CURVES.learners, 200, 40, 7)
    kept = run(CURVES, tmp_path).simulation
    assert list(kept.curves) == list(direct.curves)
    for name, curve in direct.curves.items():
        assert kept.curves[name].covariance.tobytes() == curve.covariance.tobytes()
        assert kept.curves[name].final.tobytes() == curve.final.tobytes()


def test_a_cell_of_the_map_is_a_simulation_of_its_own(tmp_path: Path) -> None:
    result = run(GRID, tmp_path)
    assert len({one.cell.seed for one in result.cells}) == 6
    direct = simulate(
        Problem(4, 0.75, 0.2), ["getbe-sm"], 50, 30, cell_seed(7, 0.75, 0.2), checkpoints=[50]
    ).curves["getbe-sm"]
    found = result.regret_map()
    assert (found.mean[0, 2], found.se[0, 2]) == (direct.mean[-1], direct.se[-1])


@pytest.mark.parametrize(
    ("asked", "rounds", "engines"),
    [
        ("auto", 200, {"getbe-sm": "walk", "ucb1-policies": "walk"}),
        ("auto", 300, {"getbe-sm": "leap", "ucb1-policies": "walk"}),
        ("walk", 300, {"getbe-sm": "walk", "ucb1-policies": "walk"}),
    ],
)
def test_a_result_says_which_engine_played(
    asked: Any, rounds: int, engines: dict[str, str], tmp_path: Path
) -> None:
    learners = ("getbe-sm", "ucb1-policies")
    spec = replace(CURVES, learners=learners, rounds=rounds, replicas=5, engine=asked)
    made = run(spec, tmp_path)
    direct = simulate(spec.problem, learners, rounds, 5, 7, engine=asked)
    loaded = load(tmp_path / address(spec))
    assert isinstance(loaded, CurveResult)
    assert loaded.spec.engine == asked
    assert direct.engines == made.simulation.engines == made.meta.engines == engines
    assert loaded.simulation.engines == loaded.meta.engines == engines
    for name, curve in direct.curves.items():
        assert loaded.simulation.curves[name].final.tobytes() == curve.final.tobytes()


@pytest.mark.parametrize("asked", ["auto", "walk", "leap", "draw"])
def test_a_map_is_played_by_the_engine_asked_for(asked: Any, tmp_path: Path) -> None:
    spec = replace(GRID, problems=Problem(4, 0.5, 0.6), engine=asked)
    result = run(spec, tmp_path)
    direct = simulate(
        Problem(4, 0.5, 0.6),
        ["getbe-sm"],
        50,
        30,
        cell_seed(7, 0.5, 0.6),
        checkpoints=[50],
        engine=asked,
    )
    assert result.cells[0].mean == (direct.curves["getbe-sm"].mean[-1],)
    assert load_result(tmp_path, spec).meta.engines == result.meta.engines == direct.engines


@pytest.mark.parametrize("engine", ["leap", "draw"])
def test_who_plays_no_thresholds_is_walked(engine: Any, tmp_path: Path) -> None:
    spec = replace(CURVES, learners=("getbe-sm", "ucb1-policies"), engine=engine)
    with pytest.raises(InvalidInput, match="ucb1-policies plays no thresholds") as refusal:
        run(spec, tmp_path / "new")
    one_sentence(refusal.value)


@BOTH
def test_a_second_run_finds_it(
    spec: Spec | SweepSpec, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    first = run(spec, tmp_path)
    request.getfixturevalue("no_simulation")
    second = run(spec, tmp_path)
    assert bits(second) == bits(first)
    assert second.meta == first.meta


def test_interrupted_curves_go_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(CURVES, tmp_path / "whole")
    folder = tmp_path / "interrupted"
    last = len(CURVES.learners) - 1
    seen = set()

    def interrupt(what: str, *_: int) -> None:
        seen.add(what)
        if len(seen) > last:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(CURVES, folder, interrupt)
    assert len(list((folder / PARTS).iterdir())) == last
    calls = []

    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return simulate(*arguments, **named)

    monkeypatch.setattr(RUN, "simulate", counted)
    resumed = run(CURVES, folder)
    assert bits(resumed) == bits(whole)
    assert len(calls) == 1
    assert [path.name for path in folder.iterdir()] == [address(CURVES)]


def test_an_interrupted_map_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(GRID, tmp_path / "whole")
    folder, kept = tmp_path / "interrupted", 0

    def interrupt(_: str, done: int, total: int) -> None:
        nonlocal kept
        kept = done
        if 2 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(GRID, folder, interrupt, threads=1)
    assert [path.name for path in folder.iterdir()] == [address(GRID)]
    with pytest.raises(InvalidInput, match="does not hold all of 'small-map'") as refusal:
        load_result(folder, GRID)
    one_sentence(refusal.value)
    played: list[int] = []

    def counted(chunks: Any, *options: Any) -> Any:
        played.extend(chunk.size for chunk in chunks)
        return PLAY(chunks, *options)

    monkeypatch.setattr(WORKERS, "play", counted)
    assert bits(run(GRID, folder, threads=1)) == bits(whole)
    assert sum(played) == 6 * GRID.replicas - kept
    assert [path.name for path in folder.iterdir()] == [address(GRID)]


def changed_row(path: Path) -> bytes:
    """The file of a sweep in which the sums of a chunk were changed."""
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE chunks SET sums = '[]'")
    after = path.read_bytes()
    path.write_bytes(before)
    return after


def test_a_damaged_file_of_a_sweep_is_set_aside_and_made_anew(tmp_path: Path) -> None:
    made = run(GRID, tmp_path)
    path = tmp_path / address(GRID)
    whole = path.read_bytes()
    for k, harmed in enumerate((whole[:-5000], b"This is my diary." * 200, changed_row(path))):
        path.write_bytes(harmed)
        with pytest.raises(InvalidInput, match="damaged"):
            load_result(tmp_path, GRID)
        with pytest.warns(RuntimeWarning, match=r"\.sweep is damaged.* set aside as"):
            assert bits(run(GRID, tmp_path)) == bits(made)
        assert path.with_name(f"{path.name}.bad{k + 1 if k else ''}").read_bytes() == harmed


@pytest.mark.slow
def test_processes_change_no_bit_of_a_map(tmp_path: Path) -> None:
    here, there = run(GRID, tmp_path / "1"), run(GRID, tmp_path / "2", processes=2)
    assert bits(here) == bits(there)
    with pytest.raises(InvalidInput, match="curves are played on threads") as refusal:
        run(CURVES, tmp_path / "3", processes=2)  # type: ignore[call-overload]
    one_sentence(refusal.value)


@BOTH
def test_threads_change_nothing(spec: Spec | SweepSpec, tmp_path: Path) -> None:
    one, three = (run(spec, tmp_path / str(n), threads=n) for n in (1, 3))
    assert bits(one) == bits(three)


@BOTH
def test_progress_rises_to_the_whole(spec: Spec | SweepSpec, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    run(spec, tmp_path, lambda *said: told.append(said))
    done = [step[1] for step in told]
    assert done == sorted(done)
    assert (done[0], {step[2] for step in told}) == (0, {done[-1]})
    assert all(step[0].startswith(spec.name) for step in told)


def test_an_unknown_learner_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="learner 'nobody' was asked for"):
        run(replace(CURVES, learners=("nobody",)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def foreign(_: bytes) -> bytes:
    return b"This is my diary."


def empty(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("harm", [truncated, flipped, foreign, empty])
def test_a_damaged_file_is_set_aside_and_made_anew(
    harm: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    spec = CURVES
    made = run(spec, tmp_path)
    path = tmp_path / address(spec)
    for name in (f"{path.name}.bad", f"{path.name}.bad2"):
        harmed = harm(path.read_bytes())
        path.write_bytes(harmed)
        with pytest.raises(InvalidInput, match="damaged") as refusal:
            load(path)
        one_sentence(refusal.value)
        with pytest.warns(RuntimeWarning, match="damaged.* set aside as") as warned:
            again = run(spec, tmp_path)
        assert len(warned) == 1
        assert bits(again) == bits(made)
        assert (tmp_path / name).read_bytes() == harmed
    assert bits(load(path)) == bits(made)


def test_a_damaged_part_is_made_anew(tmp_path: Path) -> None:
    part = replace(CURVES, learners=CURVES.learners[:1])
    (tmp_path / PARTS).mkdir()
    (tmp_path / PARTS / address(part)).write_bytes(b"half a fi")
    with pytest.warns(RuntimeWarning, match="set aside"):
        resumed = run(CURVES, tmp_path)
    assert bits(resumed) == bits(run(CURVES, tmp_path / "clean"))
    assert (tmp_path / PARTS / f"{address(part)}.bad").read_bytes() == b"half a fi"


def test_no_damaged_byte_is_taken_for_a_result(tmp_path: Path) -> None:
    spec = replace(CURVES, learners=("getbe-sm",), replicas=3, checkpoints=(100,))
    result = run(spec, tmp_path)
    path = tmp_path / address(result.spec)
    data = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(0, len(data), 11):
            path.write_bytes(data[:k] + bytes([data[k] ^ 0x55]) + data[k + 1 :])
            try:
                loaded = load(path)
            except InvalidInput:
                continue
            # Some bytes of an archive mean nothing, such as dates.
            assert bits(loaded) == bits(result)


@pytest.mark.parametrize("shape", [(10**15,), (2**40, 2**40), (10**9,)])
def test_an_array_that_says_it_is_huge_is_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    head = io.BytesIO()
    said = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, said)
    path = tmp_path / "huge.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mean.npy", head.getvalue() + bytes(80))
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="is damaged, or is not a result") as refusal:
        load(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    one_sentence(refusal.value)
    assert most < 10**7


def test_an_archive_that_unfolds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "folded.npz"
    np.savez_compressed(path, header=np.zeros(10**6))
    with pytest.raises(InvalidInput, match="is damaged, or is not a result"):
        load(path)


def test_a_result_of_something_else_is_set_aside(tmp_path: Path) -> None:
    other = run(replace(CURVES, seed=8), tmp_path)
    path = tmp_path / address(CURVES)
    (tmp_path / address(other.spec)).rename(path)
    with pytest.warns(RuntimeWarning, match="another specification; it was set aside"):
        assert find(tmp_path, CURVES) is None
    assert bits(load(tmp_path / f"{path.name}.bad")) == bits(other)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format_version": 1}, "is written in format 1; this version reads format 3"),
        ({"format": "photograph"}, "is not a result of this package"),
        ({"spec": {"kind": "song"}}, "does not hold curves; run its experiment again"),
        ({"threshold_share": {}}, "does not fit together"),
        ({"spec": CURVES.as_json() | {"replicas": 39}}, "does not fit together"),
        ({"spec": CURVES.as_json() | {"rounds": 500}}, "does not fit together"),
        ({"spec": CURVES.as_json() | {"p_c": 7}}, "does not fit together"),
        ({"spec": CURVES.as_json() | {"engine": "fly"}}, "does not fit together"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    run(CURVES, tmp_path)
    path = tmp_path / address(CURVES)
    with np.load(path) as found:
        arrays = dict(found)
    header = json.loads(str(arrays.pop("header"))) | change
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    with pytest.raises(InvalidInput, match=said) as refusal:
        load(path)
    one_sentence(refusal.value)


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "trap.npz"
    np.savez(path, header=np.array([{"format": "grbp result"}], dtype=object))
    with pytest.raises(InvalidInput, match="not a result of this package"):
        load(path)


def test_a_missing_file_or_a_folder_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read") as refusal:
            load(path)
        one_sentence(refusal.value)
    assert find(tmp_path / "none", CURVES) is None


@pytest.mark.usefixtures("no_simulation")
def test_nothing_is_computed_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CannotWrite, match="cannot be made") as refusal:
        run(CURVES, tmp_path / "file")
    one_sentence(refusal.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(CURVES, tmp_path)
    before = (tmp_path / address(CURVES)).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(CannotWrite, match="No space left on device") as refusal:
        save(tmp_path, result)
    one_sentence(refusal.value)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_curves(tmp_path: Path) -> None:
    result = run(CURVES, tmp_path)
    assert isinstance(result, CurveResult)
    table = rows(to_csv(result, tmp_path / "curves.csv"))
    assert tuple(table[0]) == COLUMNS
    checkpoints = result.simulation.checkpoints.tolist()
    assert len(table) == len(checkpoints) * 3
    for name, curve in result.simulation.curves.items():
        own = [row for row in table if row["learner"] == name]
        assert [int(row["round"]) for row in own] == checkpoints
        for column, values in zip(
            ("mean", "se", "low", "high"), (curve.mean, curve.se, *curve.band()), strict=True
        ):
            assert [float(row[column]) for row in own] == values.tolist()


def test_the_table_of_a_map(tmp_path: Path) -> None:
    result = run(GRID, tmp_path)
    table = rows(to_csv(result, tmp_path / "map.csv"))
    assert tuple(table[0]) == COLUMNS
    cells = {(float(row["p_c"]), float(row["p_f"])): row for row in table}
    assert len(cells) == len(table) == 6
    cell = cells[0.75, 0.2]
    mean, se = (table[0, 2] for table in result.regret_map()[3:])
    assert (float(cell["mean"]), float(cell["se"])) == (mean, se)
    middle = (float(cell["low"]) + float(cell["high"])) / 2
    assert middle == pytest.approx(mean, rel=1e-15)
    assert float(cell["high"]) - middle == pytest.approx(1.96 * se, rel=1e-4)


@pytest.mark.slow
@BOTH
def test_what_a_row_says_was_run_gives_the_row_again(spec: Any, tmp_path: Path) -> None:
    if isinstance(spec, Spec):
        spec = replace(spec, problem=UNEVEN, checkpoints=(20,))
    for row in rows(to_csv(run(spec, tmp_path), tmp_path / "table.csv")):
        asked = {name: row[name] for name in ("goal", "p_c", "p_f", "start", "learner", "seed")}
        sizes = ["--rounds", row["rounds"], "--replicas", row["replicas"], "--at", row["round"]]
        words = [f"--{name.replace('_', '-')}={text}" for name, text in asked.items()]
        how = [f"--engine={row['engine']}", f"--regret={row['regret']}"]
        how += ["--splitting"] if row["splitting"] == "True" else []
        path = tmp_path / "again.csv"
        assert main(["simulate", *words, *sizes, *how, "--csv", str(path)]) == 0
        again = next(one for one in rows(path) if one["round"] == row["round"])
        # The errors of other checkpoints were added up along with these, in another order.
        assert [again[name] for name in COLUMNS[:-3]] == [row[name] for name in COLUMNS[:-3]]
        assert float(again["se"]) == pytest.approx(float(row["se"]), rel=1e-12)


def test_a_table_that_cannot_be_written(tmp_path: Path) -> None:
    result = run(GRID, tmp_path)
    (tmp_path / "taken").mkdir()
    with pytest.raises(CannotWrite, match="taken cannot be written"):
        to_csv(result, tmp_path / "taken")
