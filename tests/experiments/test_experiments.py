"""Experiments: kept whole, found again, resumed to the same bits, and never lost."""

import csv
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from runs import CURVES, FIGURE_3, GRID, UNEVEN, one_sentence

import grbp
from grbp.cli import main
from grbp.errors import CannotWrite, InvalidInput
from grbp.experiments import address, load_result, run, to_csv
from grbp.experiments.cells import Chunk, cell_seed
from grbp.experiments.parts import merge_parts, sweep_part
from grbp.experiments.simulation import Simulation, simulate
from grbp.experiments.sweep_file import SweepFile
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS
from grbp.worlds.problem import Problem

WORKERS = import_module("grbp.experiments.workers")
PLAY = WORKERS.play
CHAIN = grbp.Chain(4, grbp.Move(0.5, 0.5), [0.05, 0.1, 0.95])
SPLIT = replace(CURVES, name="split", rounds=300, replicas=1000, splitting=True)
ALL_KINDS = pytest.mark.parametrize("spec", [CURVES, SPLIT, GRID], ids=["curves", "split", "map"])
BOTH = pytest.mark.parametrize("spec", [CURVES, GRID], ids=["curves", "map"])


def bits(result: SweepResult) -> list[Any]:
    """Everything a result says, but not how it was made."""
    return [result.spec, result.digest, list(result.rows())]


def told(simulation: Simulation) -> list[Any]:
    """Everything a simulation says, to the last bit."""
    found: list[Any] = [vars(simulation) | {"curves": 0, "checkpoints": 0}]
    found.append(simulation.checkpoints.tobytes())
    for name, curve in simulation.curves.items():
        arrays = (curve.mean, curve.covariance, curve.final, curve.weights, curve.unseen)
        found += [name, curve.threshold_share, curve.by_start, *map(str, curve.band())]
        found += [None if array is None else array.tobytes() for array in arrays]
    return found


@pytest.fixture
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("played again")

    monkeypatch.setattr(WORKERS, "play", refuse)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """The chunks that this process plays."""
    seen: list[Chunk] = []

    def counted(chunks: Any, *options: Any) -> Any:
        seen.extend(chunks)
        return PLAY(chunks, *options)

    monkeypatch.setattr(WORKERS, "play", counted)
    return seen


@ALL_KINDS
def test_what_is_loaded_is_what_was_played(spec: SweepSpec, tmp_path: Path) -> None:
    made = run(spec, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / address(spec)]
    loaded = load_result(tmp_path, spec)
    assert bits(loaded) == bits(made)
    assert loaded.meta == made.meta
    assert loaded.meta.versions["grbp"] == grbp.__version__
    assert loaded.meta.constants["getbe-sm"] == {"gamma": 15.0}
    assert loaded.meta.revision


@pytest.mark.sample("small", "some", "split", "chain")
@pytest.mark.parametrize(
    "spec",
    [
        CURVES,
        replace(CURVES, name="some", rounds=(1, 30, 300), learners="getbe-ps"),
        replace(CURVES, name="once", rounds=1, learners=("getbe-sm", "no-explore")),
        SPLIT,
        replace(SPLIT, name="split-some", rounds=(10, 20, 3000), learners="getbe-ps"),
        replace(CURVES, name="alone", replicas=1),
        replace(CURVES, name="policies", learners=("ucb1-policies", "getbe-sm"), problems=UNEVEN),
        replace(CURVES, name="nothing-lost", learners=("oracle",), problems=UNEVEN),
        replace(CURVES, name="chain", learners=("psrl", "getbe-ps"), problems=CHAIN),
        replace(CURVES, name="forgets", learners=("getbe-ps:memory=50",)),
    ],
    ids=lambda spec: spec.name,
)
def test_curves_are_those_of_simulate(spec: SweepSpec, tmp_path: Path) -> None:
    (problem,) = spec.each_problem()
    rounds: Any = spec.rounds
    direct = simulate(
        problem,
        spec.learners,
        rounds[-1],
        spec.replicas,
        spec.seed,
        checkpoints=rounds if len(rounds) > 1 else None,
        splitting=spec.splitting,
    )
    kept = run(spec, tmp_path)
    assert told(kept.simulation()) == told(direct)
    assert str(list(kept.rows())) == str(list(direct.rows()))
    assert kept.meta.engines == direct.engines


def test_curves_on_several_problems_are_those_of_each(tmp_path: Path) -> None:
    two = replace(CURVES, problems=[FIGURE_3, UNEVEN], learners=CURVES.learners[:2])
    result = run(two, tmp_path)
    for problem in (FIGURE_3, UNEVEN):
        direct = simulate(problem, two.learners, 200, 40, 7)
        assert told(result.simulation(problem)) == told(direct)
    assert told(result.simulation()) == told(result.simulation(FIGURE_3))
    with pytest.raises(InvalidInput, match="which the sweep 'small' lacks") as refusal:
        result.simulation(Problem(4, 0.1, 0.1))
    one_sentence(refusal.value)
    with pytest.raises(InvalidInput, match="'small-map' has no curves") as refusal:
        run(GRID, tmp_path).simulation()
    one_sentence(refusal.value)


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
    direct = simulate(FIGURE_3, learners, rounds, 5, 7, engine=asked)
    assert direct.engines == made.simulation().engines == made.meta.engines == engines
    assert told(load_result(tmp_path, spec).simulation()) == told(direct)


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


@ALL_KINDS
def test_a_second_run_finds_it(
    spec: SweepSpec, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    first = run(spec, tmp_path)
    request.getfixturevalue("no_simulation")
    second = run(spec, tmp_path)
    assert bits(second) == bits(first)
    assert second.meta == first.meta


def rows_in(path: Path) -> list[tuple[str, int, int]]:
    """The chunks that a file holds: cell, first and size."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT cell, first, size FROM chunks").fetchall()


@BOTH
def test_an_interrupted_run_goes_on_to_the_same_bits(
    spec: SweepSpec, tmp_path: Path, played: list[Chunk]
) -> None:
    whole = run(spec, tmp_path / "whole")
    folder, kept = tmp_path / "interrupted", 0
    path = folder / address(spec)

    def interrupt(_: str, done: int, total: int) -> None:
        nonlocal kept
        kept = done
        if 2 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(spec, folder, interrupt, threads=1)
    assert list(folder.iterdir()) == [path]
    assert sum(size for _, _, size in rows_in(path)) == kept
    with pytest.raises(InvalidInput, match=f"does not hold all of '{spec.name}'") as refusal:
        load_result(folder, spec)
    one_sentence(refusal.value)
    played.clear()
    assert bits(run(spec, folder, threads=2)) == bits(whole)
    assert sum(chunk.size for chunk in played) == len(whole.cells) * spec.replicas - kept
    assert list(folder.iterdir()) == [path]


def test_interrupted_splitting_goes_on_with_the_learners_that_are_missing(
    tmp_path: Path, played: list[Chunk]
) -> None:
    whole = run(SPLIT, tmp_path / "whole")

    def interrupt(_: str, done: int, total: int) -> None:
        if 2 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SPLIT, tmp_path, interrupt, threads=2)
    played.clear()
    assert bits(run(SPLIT, tmp_path, threads=1)) == bits(whole)
    assert [(str(chunk.cell.learner), *chunk[1:]) for chunk in played] == [
        (name, 0, 1000) for name in SPLIT.names[1:]
    ]


def test_the_chunks_of_a_curve_are_put_together(tmp_path: Path) -> None:
    """Each has the products of all checkpoints, so that many of them would be a large file."""
    spec = replace(CURVES, learners="getbe-sm", replicas=3000)
    result, path, most = run(spec, tmp_path / "one"), tmp_path / address(spec), []

    class Watched(SweepFile):
        def add(self, played: Any) -> None:
            super().add(played)
            most.append(len(self._chunks[played[0].chunk.cell.key]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("grbp.experiments.sweep"), "SweepFile", Watched)
        small = run(spec, tmp_path, threads=2, chunk=1e-5)
    assert bits(small) == bits(load_result(tmp_path, spec)) == bits(result)
    assert len(most) > 2 * max(most)
    assert [row[1:] for row in rows_in(path)] == [(0, 3000)]
    assert path.stat().st_size < 2**18


def test_more_replicas_of_a_curve_go_on_from_there(tmp_path: Path, played: list[Chunk]) -> None:
    run(CURVES, tmp_path, threads=1)
    played.clear()
    more = replace(CURVES, replicas=60)
    extended = run(more, tmp_path, threads=1)
    assert sum(chunk.size for chunk in played) == 3 * 20
    assert min(chunk.first for chunk in played) == 40
    assert bits(extended) == bits(run(more, tmp_path / "new"))
    assert bits(run(CURVES, tmp_path)) == bits(run(CURVES, tmp_path / "new"))


@pytest.mark.slow
@pytest.mark.parametrize("spec", [CURVES, SPLIT], ids=["curves", "split"])
def test_parts_of_curves_are_put_together(spec: SweepSpec, tmp_path: Path) -> None:
    whole = run(spec, tmp_path / "whole")
    for index in (2, 1, 3):
        sweep_part(spec, (index, 3), tmp_path, threads=1, chunk=1e-4)
    merged = merge_parts(spec, tmp_path)
    assert bits(merged) == bits(whole)
    assert len(rows_in(tmp_path / f"{spec.name}.sweep")) == len(spec.learners)


def changed_row(path: Path) -> bytes:
    """The file of a sweep in which the sums of a chunk were changed."""
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE chunks SET sums = '[]'")
    after = path.read_bytes()
    path.write_bytes(before)
    return after


@BOTH
def test_a_damaged_file_is_set_aside_and_made_anew(spec: SweepSpec, tmp_path: Path) -> None:
    made = run(spec, tmp_path)
    path = tmp_path / address(spec)
    whole = path.read_bytes()
    for k, harmed in enumerate((whole[:-5000], b"This is my diary." * 200, changed_row(path))):
        path.write_bytes(harmed)
        with pytest.raises(InvalidInput, match="damaged"):
            load_result(tmp_path, spec)
        with pytest.warns(RuntimeWarning, match=r"\.sweep is damaged.* set aside as"):
            assert bits(run(spec, tmp_path)) == bits(made)
        assert path.with_name(f"{path.name}.bad{k + 1 if k else ''}").read_bytes() == harmed


@pytest.mark.slow
@ALL_KINDS
def test_processes_change_no_bit(spec: SweepSpec, tmp_path: Path) -> None:
    here, there = run(spec, tmp_path / "1"), run(spec, tmp_path / "2", processes=2)
    assert bits(here) == bits(there)


@ALL_KINDS
def test_threads_change_nothing(spec: SweepSpec, tmp_path: Path) -> None:
    one, three = (run(spec, tmp_path / str(n), threads=n, chunk=1 / 100**n) for n in (1, 3))
    assert bits(one) == bits(three)


@ALL_KINDS
def test_progress_rises_to_the_whole(spec: SweepSpec, tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    run(spec, tmp_path, lambda *step: said.append(step))
    done = [step[1] for step in said]
    assert done == sorted(done)
    assert done.count(done[-1]) == 1
    assert (done[0], {step[2] for step in said}) == (0, {done[-1]})
    assert all(step[0].startswith(spec.name) for step in said)


def test_an_unknown_learner_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="learner 'nobody' was asked for"):
        run(replace(CURVES, learners=("nobody",)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"se": 0.1}, "se = 0.1 and curves were given"),
        ({"curves": False, "splitting": True}, "splitting was given without curves"),
        ({"splitting": True}, "splitting needs at least 1,000"),
        ({"curves": 1}, "curves = 1 was given; it must be true or false"),
    ],
)
def test_what_curves_cannot_be_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refusal:
        replace(CURVES, **change)
    one_sentence(refusal.value)


@pytest.mark.usefixtures("no_simulation")
@pytest.mark.parametrize(
    ("change", "who", "said"),
    [
        ({"splitting": True, "learners": "ucb1-policies"}, {}, "ucb1-policies keeps no counters"),
        ({"splitting": True, "problems": CHAIN}, {}, "splitting was given with a Chain"),
        (
            {"engine": "walk"},
            {"device": "cuda"},
            "getbe-sm is played to a curve, which no GPU does",
        ),
    ],
)
def test_curves_that_cannot_be_played_are_refused_before_anything_is_written(
    change: dict[str, Any], who: dict[str, Any], said: str, tmp_path: Path
) -> None:
    spec = replace(CURVES, **{"replicas": 1000} | change)
    with pytest.raises(InvalidInput, match=said) as refusal:
        run(spec, tmp_path / "new", **who)
    one_sentence(refusal.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("no_simulation")
def test_nothing_is_computed_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CannotWrite, match="cannot be made") as refusal:
        run(CURVES, tmp_path / "file")
    one_sentence(refusal.value)
    assert (tmp_path / "file").read_text() == "mine"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_curves(tmp_path: Path) -> None:
    result = run(CURVES, tmp_path)
    table = rows(to_csv(result, tmp_path / "curves.csv"))
    assert tuple(table[0]) == COLUMNS
    checkpoints = result.simulation().checkpoints.tolist()
    assert len(table) == len(checkpoints) * 3
    for name, curve in result.simulation().curves.items():
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
def test_what_a_row_says_was_run_gives_the_row_again(spec: SweepSpec, tmp_path: Path) -> None:
    if spec.curves:
        spec = replace(spec, problems=UNEVEN, rounds=(20, 200))
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
