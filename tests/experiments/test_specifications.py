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
    Spec,
    address,
    as_printed,
    provenance,
)
from grbp.experiments.sweep_spec import AnySpec
from grbp.worlds.problem import Problem


def test_the_address_changes_with_all_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [
        CURVES,
        replace(CURVES, name="other"),
        replace(CURVES, problem=Problem(5, 0.45, 0.3)),
        replace(CURVES, problem=Problem(4, 0.46, 0.3)),
        replace(CURVES, problem=Problem(4, 0.45, 0.31)),
        replace(CURVES, problem=Problem(4, 0.45, 0.3, 2)),
        replace(CURVES, learners=CURVES.learners[:2]),
        replace(CURVES, learners=CURVES.learners[::-1]),
        replace(CURVES, rounds=201),
        replace(CURVES, replicas=41),
        replace(CURVES, seed=8),
        replace(CURVES, checkpoints=(200,)),
        replace(CURVES, engine="walk"),
        replace(CURVES, engine="leap"),
        replace(CURVES, engine="draw"),
    ]
    addresses = {address(spec) for spec in changed}
    assert len(addresses) == len(changed)
    swept = address(GRID)
    assert address(replace(GRID, name="other")) != swept
    # The file of a sweep knows its cells one by one, so that other sizes go on from there.
    assert address(replace(GRID, replicas=31)) == swept
    monkeypatch.setattr(import_module("grbp.experiments.store"), "source_digest", lambda: "edited")
    assert address(CURVES) not in addresses
    assert address(GRID) != swept


@pytest.mark.parametrize("spec", [*EXPERIMENTS.values(), CURVES, GRID])
def test_a_specification_survives_json(spec: AnySpec) -> None:
    assert type(spec).from_json(json.loads(json.dumps(spec.as_json()))) == spec
    pointed = replace(CURVES, problem=Problem(4, 0.45, 0.3, {1: 0.25, 3: 0.75}))
    assert Spec.from_json(json.loads(json.dumps(pointed.as_json()))) == pointed


def test_equal_questions_have_one_address() -> None:
    given = Spec("small", CURVES.problem, CURVES.learners, np.int64(200), 40, 7, (9, 3, 3))  # type: ignore[arg-type]
    assert address(given) == address(replace(CURVES, checkpoints=(3, 9)))


def test_one_learner_and_whole_floats_are_taken_for_what_they_are() -> None:
    given = replace(CURVES, learners="getbe-sm", rounds=2e2, replicas=np.float64(40), seed=None)  # type: ignore[arg-type]
    kept = replace(CURVES, learners=("getbe-sm",))
    assert replace(given, seed=kept.seed) == kept
    assert [type(n) for n in (given.rounds, given.replicas, given.seed)] == [int] * 3
    assert given.seed != replace(given, seed=None).seed  # type: ignore[arg-type]


def test_the_papers_settings() -> None:
    for spec, p_c in ((FIGURE_3, 0.45), (FIGURE_4, 0.65)):
        assert spec.problem == Problem(4, p_c, 0.3)
        assert spec.rounds == 5000
        assert spec.replicas >= 2000
        printed = as_printed(spec)
        assert printed == replace(spec, replicas=200, splitting=False)
    assert (FIGURE_5.goals, FIGURE_5.checkpoints, FIGURE_5.names) == ((4,), (1000,), ("getbe-sm",))
    assert as_printed(FIGURE_5).replicas == 200
    (grid,) = FIGURE_5.grids
    assert grid.p_c == grid.p_f
    assert np.allclose(grid.p_c, np.arange(0.05, 0.96, 0.05))
    assert GROWTH_3.checkpoints is not None
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
        {"checkpoints": (0,)},
        {"checkpoints": (201,)},
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
        "import sys, tempfile; import grbp; from grbp.experiments import Spec, run;"
        "spec = Spec('own', grbp.Problem(3, .5, .3), ('getbe-sm',), 20, 3, engine='walk');"
        "run(spec, tempfile.mkdtemp());"
        "print(*(name for name in sys.modules if name.startswith('grbp.')))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert {"experiments", "engine", "learners"} <= loaded
    assert loaded.isdisjoint(left.removesuffix(".py") for left in provenance._CHANGES_NO_NUMBER)
