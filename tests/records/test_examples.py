"""Synthetic tables: each has the law that it says, and breaks one assumption and no other.

Shares are compared with their probabilities, within five standard errors, with fixed seeds.
"""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from tables import everything

import grbp
from grbp.cli import main
from grbp.numerics.arrays import Bools
from grbp.records import examples
from grbp.records.examples import KINDS, Kind, example_records
from grbp.records.reading import read_records

CASES = 20_000
P_C, P_F = 0.45, 0.3


def drawn(kind: Kind, **options: Any) -> dict[str, NDArray[Any]]:
    return example_records(kind, cases=CASES, seed=7, **options)


def is_share(hits: NDArray[Any], probability: float) -> bool:
    """Whether a share is as it should be; there must be enough to tell."""
    assert len(hits) > 1000
    error = float(np.sqrt(probability * (1.0 - probability) / len(hits)))
    return abs(float(hits.mean()) - probability) < 5.0 * error


def logit_of(p: float, change: float) -> float:
    odds = p / (1.0 - p) * np.exp(change)
    return float(odds / (1.0 + odds))


def parts(table: dict[str, NDArray[Any]]) -> tuple[Bools, Bools, Bools]:
    """Return which rows continue, which go up, and which reach the goal."""
    up = table["next_state"] == table["state"] + 1
    return table["action"] == 0, up, table["next_state"] == 4


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_valid_table_of_its_cases(kind: Kind) -> None:
    table = example_records(kind, goal=5, cases=300, seed=3)
    records = read_records(table, 5, group="site" if kind == "groups" else ())
    assert (records.cases, dict(records.dropped)) == (300, {})
    assert records.notes == ()
    assert (records.open_no_row > 0) == (kind == "open")
    assert np.unique(table["case"]).tolist() == list(range(1, 301))
    assert set(np.unique(table["action"]).tolist()) == {0, 1}
    jumps = abs(records.next_state - records.state)[records.action == 0] != 1
    assert jumps.any() == (kind == "jumps")
    # The same seed gives the same table, and another one gives another.
    same, other = (example_records(kind, goal=5, cases=300, seed=k) for k in (3, 4))
    assert all((same[name] == column).all() for name, column in table.items())
    assert len(other["case"]) != len(table["case"]) or (other["state"] != table["state"]).any()


def test_a_table_of_the_model_has_its_probabilities() -> None:
    table = drawn("model")
    c, up, goal = parts(table)
    first = table["state"][table["step"] == 1]
    assert all(is_share(first == state, 1 / 3) for state in (1, 2, 3))
    assert all(is_share(up[c & (table["state"] == state)], P_C) for state in (1, 2, 3))
    assert is_share(goal[~c], P_F)
    assert is_share(~c[table["state"] == 1], 0.5)
    assert c[table["state"] > 1].all()


@pytest.mark.parametrize(("finish", "threshold"), [(1.0, 1), (0.0, 0), ([1, 1, 0], 2)])
def test_a_threshold_is_a_way_to_finish(finish: Any, threshold: int) -> None:
    table = example_records(cases=2000, finish=finish)
    assert ((table["action"] == 1) == (table["state"] <= threshold)).all()


def test_in_a_trial_a_case_has_one_policy() -> None:
    """Half of the cases finish at once, and the others never do."""
    table = drawn("model", finish=[0.5] * 3, trial=True)
    finishes, first = table["action"] == 1, table["step"] == 1
    assert is_share(finishes[first], 0.5)
    assert not finishes[~first].any()


@pytest.mark.parametrize("size", [0.5, -1.0])
def test_by_state(size: float) -> None:
    table = drawn("state", size=size)
    c, up, goal = parts(table)
    for state, share in ((1, -0.5), (2, 0.0), (3, 0.5)):
        assert is_share(up[c & (table["state"] == state)], logit_of(P_C, share * size))
    assert is_share(goal[~c], P_F)


def test_memory() -> None:
    table = drawn("memory", size=0.6)
    c, up, _ = parts(table)
    again = c[1:] & (table["case"][1:] == table["case"][:-1])
    for before, change in ((True, 0.6), (False, -0.6)):
        assert is_share(up[1:][again & (up[:-1] == before)], logit_of(P_C, change))
    assert is_share(up[c & (table["step"] == 1)], P_C)


def test_cases_differ_and_their_steps_do_not() -> None:
    # Of a first step, the mean over a normal effect; of two steps in a row, that of the square.
    table = drawn("cases", size=1.5, finish=0.0)
    c, up, _ = parts(table)
    first = c & (table["step"] == 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    chances = np.array([logit_of(P_C, 1.5 * node) for node in nodes])
    assert is_share(up[first], float(chances @ weights / weights.sum()))
    pairs = first[:-1] & (table["case"][1:] == table["case"][:-1]) & (table["state"][:-1] == 2)
    both = up[:-1][pairs] & up[1:][pairs]
    assert is_share(both, float(chances**2 @ weights / weights.sum()))


def test_drift() -> None:
    table = drawn("drift", size=2.0)
    c, up, _ = parts(table)
    for part in range(4):
        here = c & ((table["case"] - 1) * 4 // CASES == part)
        grid = (np.arange(1000) + 0.5) / 4000 + part / 4
        mean = float(np.mean([logit_of(P_C, 2.0 * (x - 0.5)) for x in grid]))
        assert is_share(up[here], mean)


def test_finishing_by_state() -> None:
    table = drawn("finish-by-state")
    c, up, goal = parts(table)
    for state, share in ((1, -0.5), (2, 0.0), (3, 0.5)):
        assert is_share(goal[~c & (table["state"] == state)], logit_of(P_F, share))
    assert is_share(up[c], P_C)


def test_groups() -> None:
    table = drawn("groups", size=0.8)
    c, up, _ = parts(table)
    for site, change in (("north", -0.4), ("south", 0.4)):
        assert is_share(up[c & (table["site"] == site)], logit_of(P_C, change))


def test_jumps() -> None:
    table = drawn("jumps", size=0.3)
    c, up, _ = parts(table)
    move = table["next_state"] - table["state"]
    assert is_share(abs(move[c]) > 1, 0.3)
    assert is_share(up[c & (abs(move) == 1)], P_C)
    assert (move[c] != 0).all()
    far = c & (abs(move) > 1) & (table["state"] == 2)
    assert is_share(table["next_state"][far] == 4, 0.5)


def test_the_last_cases_are_open_for_reasons_of_time_alone() -> None:
    table = drawn("open", size=0.4, finish=0.0)
    c, up, _ = parts(table)
    late = table["case"] > 0.6 * CASES
    assert table["step"][late].max() == 4
    assert read_records({k: v[~late] for k, v in table.items()}, 4).open_no_row == 0
    # A case of two steps is cut after the first with probability 1/4, whatever its state.
    first = late & (table["step"] == 1) & (table["next_state"] % 4 != 0)
    cut = np.append(table["case"][1:] != table["case"][:-1], True)
    assert all(is_share(cut[first & (table["next_state"] == s)], 0.25) for s in (1, 2, 3))
    assert is_share(up[c & late], P_C)


def test_the_size_of_no_change_is_the_model() -> None:
    for kind in ("state", "memory", "drift", "finish-by-state", "groups"):
        finish = [0.5, 0.2, 0.2]
        table = example_records(kind, size=0.0, finish=finish)
        for name, column in example_records(finish=finish).items():
            assert (table[name] == column).all(), kind


def test_a_generator_moves_on() -> None:
    rng = np.random.default_rng(0)
    one, two = example_records(seed=rng), example_records(seed=rng)
    assert len(one["case"]) != len(two["case"]) or (one["state"] != two["state"]).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "drifts"}, "did you mean 'drift'"),
        ({"kind": None}, "it must be one of model, state"),
        ({"kind": "jumps", "goal": 2}, "a jump needs a goal of 3"),
        ({"kind": "jumps", "size": 1.5}, "number from 0 to 1"),
        ({"kind": "drift", "size": "much"}, "number from -20 to 20"),
        ({"kind": "drift", "size": float("nan")}, "number from -20 to 20"),
        ({"size": 0.5}, "the kind 'model' has no size"),
        ({"goal": 1001}, "whole number from 2 to 1,000"),
        ({"cases": 0}, "whole number from 1"),
        ({"finish": 2}, "finish = 2 was given"),
        ({"finish": [0.5, 0.5]}, "a goal of 4 needs one, or 3"),
        ({"p_c": -1}, "p_c = -1"),
        ({"seed": "x"}, "seed = 'x'"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(grbp.GrbpError, match=words):
        example_records(**options)


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "MOST_ROWS", 500)
    with pytest.raises(grbp.TooLarge, match="more than 500 rows; ask for fewer cases"):
        example_records(cases=300)


def test_the_shell_prints_or_writes_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["example", "groups", "--cases", "30", "--seed", "5", "--size", "1", "--finish", ".2"]
    path = tmp_path / "cases.csv"
    assert main([*asked, "--out", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert main(asked) == 0
    assert capsys.readouterr().out == path.read_text("utf-8")
    table = example_records("groups", cases=30, seed=5, size=1.0, finish=0.2)
    file, columns = (read_records(source, 4, group="site") for source in (path, table))
    assert everything(file) == everything(columns)


def test_every_kind_has_a_size() -> None:
    assert get_args(Kind) == KINDS
    assert example_records.__doc__ is not None
    assert all(f'``"{kind}"``' in example_records.__doc__ for kind in KINDS)
