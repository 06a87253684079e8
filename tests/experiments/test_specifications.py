"""Specifications: comparable, written as JSON, with an address that tells them apart."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import CURVES, GRID, one_sentence

from grbp.errors import InvalidInput
from grbp.experiments import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    GROWTH_3,
    address,
    as_printed,
    provenance,
)
from grbp.experiments.cells import make_cells
from grbp.experiments.simulation import checkpoints_up_to
from grbp.experiments.sweep_spec import SweepSpec
from grbp.worlds.problem import Problem


def keys(spec: SweepSpec) -> frozenset[str]:
    return frozenset(cell.key for cell in make_cells(spec))


def test_a_cell_is_known_by_all_that_its_numbers_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(CURVES, learners=CURVES.learners[:1])
    split = replace(one, replicas=1000, splitting=True)
    changed = [
        one,
        replace(one, problems=Problem(5, 0.45, 0.3)),
        replace(one, problems=Problem(4, 0.46, 0.3)),
        replace(one, problems=Problem(4, 0.45, 0.31)),
        replace(one, problems=Problem(4, 0.45, 0.3, 2)),
        replace(one, learners=CURVES.learners[1:2]),
        replace(one, rounds=201),
        replace(one, rounds=(100, 200)),
        replace(one, rounds=(100, 200), curves=False),
        replace(one, seed=8),
        replace(one, engine="leap"),
        replace(one, engine="draw"),
        split,
        replace(split, replicas=1001),
    ]
    assert len(set(map(keys, changed))) == len(changed)
    # More replicas go on from those that are there.
    assert keys(replace(one, replicas=41, name="other")) == keys(one)
    assert address(replace(one, name="other")) != address(one)
    before = address(one)
    monkeypatch.setattr(import_module("grbp.experiments.runner"), "source_digest", lambda: "edited")
    assert address(one) != before


@pytest.mark.parametrize("spec", [*EXPERIMENTS.values(), CURVES, GRID])
def test_a_specification_survives_json(spec: SweepSpec) -> None:
    pointed = replace(spec, problems=Problem(4, 0.45, 0.3, {1: 0.25, 3: 0.75}))
    for one in (spec, pointed):
        assert SweepSpec.from_json(json.loads(json.dumps(one.as_json()))) == one
    assert ("curves" in spec.as_json()) is spec.curves


def test_equal_questions_are_equal() -> None:
    given = replace(CURVES, rounds=(np.int64(200), 9, 3), problems=[Problem(4, 0.45, 0.3)])  # type: ignore[arg-type]
    assert given == replace(CURVES, rounds=(3, 9, 200))
    assert given.checkpoints == (3, 9, 200)
    assert CURVES.checkpoints == tuple(checkpoints_up_to(200).tolist())


def test_one_learner_and_whole_floats_are_taken_for_what_they_are() -> None:
    given = replace(CURVES, learners="getbe-sm", rounds=2e2, replicas=np.float64(40), seed=None)  # type: ignore[arg-type]
    kept = replace(CURVES, learners=("getbe-sm",))
    assert replace(given, seed=kept.seed) == kept
    assert [type(n) for n in (*given.checkpoints[:1], given.replicas, given.seed)] == [int] * 3
    assert given.seed != replace(given, seed=None).seed  # type: ignore[arg-type]


def test_the_papers_settings() -> None:
    for spec, p_c in ((FIGURE_3, 0.45), (FIGURE_4, 0.65)):
        assert list(spec.each_problem()) == [Problem(4, p_c, 0.3)]
        assert spec.rounds == (5000,)
        assert spec.replicas >= 2000
        printed = as_printed(spec)
        assert printed == replace(spec, replicas=200, splitting=False)
    assert (FIGURE_5.goals, FIGURE_5.checkpoints, FIGURE_5.names) == ((4,), (1000,), ("getbe-sm",))
    assert as_printed(FIGURE_5).replicas == 200
    (grid,) = FIGURE_5.grids
    assert grid.p_c == grid.p_f
    assert np.allclose(grid.p_c, np.arange(0.05, 0.96, 0.05))
    assert {100, 1000, 10_000, 100_000} <= set(GROWTH_3.checkpoints)
    assert list(EXPERIMENTS) == [spec.name for spec in EXPERIMENTS.values()]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../up"},
        {"name": ""},
        {"learners": ()},
        {"learners": (7,)},
        {"learners": ("json:dumps",)},
        {"learners": ("getbe-sm", "getbe-sm")},
        {"rounds": 0},
        {"replicas": 1.5},
        {"seed": -1},
        {"rounds": (0, 200)},
        {"rounds": (200, 200)},
        {"engine": "fly"},
        {"engine": None},
    ],
)
def test_a_bad_specification_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        replace(CURVES, **change)
    one_sentence(refusal.value)


@pytest.mark.parametrize(
    ("file", "counts"),
    [("experiments/runner.py", True), ("learners/getbe.py", True), ("cli/__init__.py", False)],
)
def test_an_edit_to_what_makes_numbers_is_an_edit_to_the_address(
    file: str, counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = provenance.source_digest()
    shutil.copytree(provenance._PACKAGE, tmp_path / "grbp")
    with (tmp_path / "grbp" / file).open("a") as edited:
        edited.write("# an edit\n")
    monkeypatch.setattr(provenance, "_PACKAGE", tmp_path / "grbp")
    assert (provenance.source_digest.__wrapped__() != before) == counts


def test_a_result_is_made_by_nothing_that_its_address_leaves_out() -> None:
    """Nothing of the floors left out is even imported where an experiment is run and kept."""
    asked = (
        "import sys, tempfile; import grbp; spec = grbp.SweepSpec('own', grbp.Problem(3, .5, .3),"
        "'getbe-sm', 20, 3, engine='walk', curves=True);"
        "grbp.experiments.run(spec, tempfile.mkdtemp());"
        "print(*(name for name in sys.modules if name.startswith('grbp.')))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert {"experiments", "engine", "learners"} <= loaded
    assert loaded.isdisjoint(left.removesuffix(".py") for left in provenance._CHANGES_NO_NUMBER)
