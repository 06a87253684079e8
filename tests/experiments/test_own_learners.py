"""Learners of one's own in experiments: run once, kept, and never found again once changed."""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from runs import FIGURE_3

import grbp
from grbp.errors import InvalidInput
from grbp.experiments import load_result, run
from grbp.experiments.cells import make_cells
from grbp.learners.counters import Counters

LIMIT = 10


class Patience(NamedTuple):
    rounds: float = 5.0


def patient(_goal: int, constants: Patience, n: Counters, _key: int) -> int:
    """Wait for some rounds."""
    return 1 if n.rho > constants.rounds + LIMIT else 0


MINE = grbp.Learner("patient", patient, Patience())
CURVES = grbp.SweepSpec("own", FIGURE_3, ("getbe-sm", MINE), 50, 20, engine="walk", curves=True)
GRID = grbp.SweepSpec(
    "own", {"goal": 3, "p_c": (0.3, 0.6), "p_f": (0.2, 0.4)}, (MINE,), 50, 20, engine="walk"
)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [CURVES, GRID])
def test_a_result_is_kept_until_the_learner_changes(
    spec: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(spec, tmp_path)
    # It would have to be played.
    monkeypatch.setattr("grbp.experiments.workers.play", None)
    again = run(spec, tmp_path)
    assert again.meta == first.meta
    assert again.spec == spec
    assert getattr(again.spec.learners[-1], "learner", None) is MINE
    monkeypatch.undo()
    before = {cell.key for cell in make_cells(GRID)}
    monkeypatch.setitem(globals(), "LIMIT", 30)
    assert before.isdisjoint(cell.key for cell in make_cells(GRID))
    changed = run(spec, tmp_path)
    assert list(changed.rows()) != list(first.rows())


def test_a_file_says_whose_result_it_is(tmp_path: Path) -> None:
    run(CURVES, tmp_path)
    told = json.loads(json.dumps(CURVES.as_json()))
    assert [one if isinstance(one, str) else one["name"] for one in told["learners"]] == [
        *CURVES.names
    ]
    with pytest.raises(InvalidInput, match="so give the learner itself"):
        grbp.SweepSpec.from_json(told)
    found = load_result(tmp_path, CURVES)
    assert found.meta.constants["patient"] == {"rounds": 5.0}
    direct = grbp.simulate(FIGURE_3, ["getbe-sm", MINE], 50, 20, engine="walk")
    np.testing.assert_array_equal(
        found.simulation().curves["patient"].final, direct.curves["patient"].final
    )


def test_a_learner_of_ones_own_plays_in_a_league(tmp_path: Path) -> None:
    sizes: Any = {"goals": (3,), "step": 1 / 3, "rounds": 5e1, "replicas": 5, "engine": "walk"}
    league = run(grbp.league_spec((MINE, "getbe-sm"), **sizes), tmp_path)
    assert league.spec.names == ("patient", "getbe-sm")
    assert league.spec.checkpoints == (50,)
    assert {one.learner for one in league.table().standings} == {"patient", "getbe-sm"}
    assert league.duel(3, "patient", "getbe-sm").winner.shape == (2, 2)
    with pytest.raises(InvalidInput, match="each must have its own name"):
        grbp.league_spec(("getbe-sm", dataclasses.replace(MINE, name="getbe-sm")), **sizes)


def test_a_learner_of_the_package_is_known_by_its_name() -> None:
    known = grbp.LEARNERS["getbe-sm"]
    assert isinstance(known, grbp.Learner)
    assert dataclasses.replace(CURVES, learners=(known,)).learners == ("getbe-sm",)
    other = dataclasses.replace(known, constants=grbp.Control(7.0))
    one, two = (dataclasses.replace(CURVES, learners=(learner,)) for learner in (known, other))
    assert {cell.key for cell in make_cells(one)}.isdisjoint(cell.key for cell in make_cells(two))


def test_as_a_name_it_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__).read_text("utf-8").partition("CURVES = ")[0]
    (tmp_path / "wards.py").write_text(source.replace("from runs import FIGURE_3\n", ""), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    spec = dataclasses.replace(CURVES, learners=("wards:MINE", "wards:MINE:rounds=20"))
    result = run(spec, tmp_path)
    assert list(result.simulation().curves) == ["wards:MINE", "wards:MINE:rounds=20"]
    assert run(spec, tmp_path).meta == result.meta
