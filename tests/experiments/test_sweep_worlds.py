"""Sweeps over chains, drift and groups: the numbers of simulations, however they are played."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grbp
from grbp import Chain, Drift, Groups, Move, Problem, SweepSpec
from grbp.experiments.sweep import sweep

pytestmark = pytest.mark.usefixtures("interpreted")

PROBLEM = Problem(4, 0.45, 0.3)
GOALS = Chain(6, Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])
LAZY = Chain(4, Move(0.3, 0.4, stay=[0.3, 0.3, 0.3]), [0.1, 0.3, 0.7])
WORLDS: list[Any] = [PROBLEM, GOALS, LAZY, Drift([(1, PROBLEM), (50, LAZY)]), Groups({"a": GOALS})]
LEARNERS = ("getbe-ps", "psrl", "getbe-ps:memory=30", "oracle")


def spec(**changes: Any) -> SweepSpec:
    asked: dict[str, Any] = {
        "problems": WORLDS[:3], "learners": LEARNERS, "rounds": (20, 60), "replicas": 12,
    }  # fmt: skip
    return SweepSpec("worlds", **asked | changes)


def test_cells_of_any_truth_are_those_of_simulations(tmp_path: Path) -> None:
    result = sweep(spec(), tmp_path, threads=2)
    assert len(result.cells) == 12
    for one in result.cells:
        cell = one.cell
        alone = grbp.simulate(
            cell.problem, cell.learner, 60, 12, cell.seed, checkpoints=[20], engine=cell.engine
        )
        np.testing.assert_allclose(one.mean, alone.curves[str(cell.learner)].mean, rtol=1e-12)
    assert {row[0] for row in result.rows()} == {4, 6}
    assert "psrl" in result._repr_html_()


def test_neither_threads_chunks_nor_going_on_changes_a_bit(tmp_path: Path) -> None:
    asked: Any = {"problems": [GOALS, WORLDS[3], WORLDS[4]], "learners": LEARNERS[:2]}
    whole = sweep(spec(**asked), tmp_path / "one", threads=2)
    sweep(spec(**asked, replicas=5), tmp_path / "two", threads=1, chunk=1e-3)
    again = sweep(spec(**asked), tmp_path / "two", threads=1, chunk=1e-3)
    assert again.digest == whole.digest


def test_a_specification_survives_being_written(tmp_path: Path) -> None:
    given = spec(problems=WORLDS)
    again = SweepSpec.from_json(given.as_json())
    assert again == given
    assert again.as_json() == given.as_json()
    file = tmp_path / "tour.toml"
    file.write_text(
        'name = "tour"\nlearners = ["psrl"]\nrounds = 10\nreplicas = 3\n'
        "[[problems]]\nworld = { goal = 6, p_c = 0.5, p_f = [0.01, 0.02, 0.1, 0.76, 0.93] }\n"
    )
    (one,) = SweepSpec.read(file).each_problem()
    np.testing.assert_array_equal(one.law, GOALS.law)


def test_every_truth_has_a_seed_and_a_key_of_its_own() -> None:
    from grbp.experiments.cells import make_cells  # noqa: PLC0415

    near = Chain(6, Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.94])
    cells = list(make_cells(spec(problems=[GOALS, near, GOALS], learners=("psrl",))))
    assert len({cell.key for cell in cells}) == len({cell.seed for cell in cells}) == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"engine": "leap"}, "engine = 'leap' was given with"),
        ({"learners": ("ucb1-policies",)}, "it plays a Problem alone"),
        ({"problems": [4]}, "a Problem, or several of these"),
        ({"problems": [{"world": {"goal": 4}}]}, "the key 'p_c' is missing"),
    ],
)
def test_what_cannot_be_swept_is_refused(
    changes: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(grbp.InvalidInput, match=sentence):
        sweep(spec(**changes), tmp_path)


NAMED: dict[str, Any] = {"paper": PROBLEM, "ward": GOALS, "clinic": WORLDS[4]}


def test_names_stand_in_tables_and_change_no_number(tmp_path: Path) -> None:
    asked: Any = {"learners": LEARNERS[:2], "rounds": 20, "replicas": 5}
    plain = sweep(spec(problems=[*NAMED.values()], **asked), tmp_path / "plain", threads=1)
    named = sweep(spec(problems=NAMED, **asked), tmp_path / "named", threads=1)
    assert named.digest == plain.digest
    assert named.columns == ("name", *plain.columns)
    assert [row[1:] for row in named.rows()] == list(plain.rows())
    assert list(dict.fromkeys(row[0] for row in named.rows())) == [*NAMED]
    again = sweep(spec(problems=[*NAMED.values()], **asked), tmp_path / "named", threads=1)
    tables = [(tmp_path / one / "worlds.csv").read_bytes() for one in ("plain", "named")]
    assert again.digest == plain.digest
    assert tables[0] == tables[1]  # Without names it is the table that it was.
    assert [one["name"] for one in named.as_json()["cells"]] == [row[0] for row in named.rows()]
    assert "name" not in plain.as_json()["cells"][0]
    assert any(name in named._repr_html_() for name in NAMED)


def test_names_are_kept_with_a_specification() -> None:
    named = spec(problems=NAMED)
    assert SweepSpec.from_json(named.as_json()) == named
    entries = [{"name": name, "world": world.to_plain()} for name, world in NAMED.items()]
    assert spec(problems=entries) == named
    grid = {"goal": 4, "p_c": {"from": 0.3, "to": 0.5, "step": 0.1}, "p_f": 0.3}
    both = spec(problems=[grid | {"name": "grid"}, GOALS])
    assert set(both.world_names.values()) == {"grid"}
    assert [both.world_names.get(one) for one in both.each_problem()] == ["grid"] * 3 + [None]
    assert spec(problems={"grid": grid}).grids == (both.grids[0],)


@pytest.mark.parametrize(
    "problems",
    [
        [{"name": "a", "world": GOALS.to_plain()}, {"name": "a", "world": LAZY.to_plain()}],
        [{"name": 5, "world": GOALS.to_plain()}],
        {5: GOALS},
        {"a\nb": GOALS},
    ],
)
def test_bad_names_are_refused(problems: Any) -> None:
    with pytest.raises(grbp.InvalidInput, match=r"each must be a text, and no two the same$"):
        spec(problems=problems)


def test_a_map_needs_problems(tmp_path: Path) -> None:
    result = sweep(spec(problems=[GOALS], learners=("oracle",), rounds=5), tmp_path, threads=1)
    with pytest.raises(grbp.InvalidInput, match="cannot be drawn as a map"):
        result.regret_map()
