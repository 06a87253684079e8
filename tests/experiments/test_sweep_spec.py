"""What a sweep is: the same in Python and in a file, exact in its points, strict in its words."""

import json
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence

import grbp
from grbp.errors import GrbpError
from grbp.experiments.cells import make_cells
from grbp.experiments.problem_grid import ProblemGrid
from grbp.experiments.sweep_spec import SweepSpec

GRID = {"goal": 4, "p_c": [0.4, 0.6], "p_f": 0.3}
SMALL = SweepSpec("tour", GRID, ["getbe-sm"], rounds=100, replicas=20)
TEXT = """
name = "tour"
rounds = 100
replicas = 20
learners = ["getbe-sm"]
[problems]
goal = 4
p_c = [0.4, 0.6]
p_f = 0.3
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tour.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_says_what_python_says(tmp_path: Path) -> None:
    assert SweepSpec.read(written(tmp_path, TEXT)) == SMALL
    assert SweepSpec.read(written(tmp_path, TEXT), se=0.5).se == 0.5
    assert SweepSpec.from_json(json.loads(json.dumps(SMALL.as_json()))) == SMALL


def test_a_range_hits_the_floats_that_are_written_out(tmp_path: Path) -> None:
    text = TEXT.replace("[0.4, 0.6]", "{from = .05, to = .95, step = .05}".replace(" .", " 0."))
    (grid,) = SweepSpec.read(written(tmp_path, text)).grids
    assert grid.p_c == tuple(k / 20 for k in range(1, 20))
    fine = ProblemGrid(4, {"from": 0.005, "to": 0.995, "step": 0.005}, 0.3)  # type: ignore[arg-type]
    assert fine.p_c == tuple(k / 200 for k in range(1, 200))
    goals = ProblemGrid({"from": 4, "to": 10, "step": 3}, 0.4, 0.3)  # type: ignore[arg-type]
    assert goals.goal == (4, 7, 10)
    assert all(type(goal) is int for goal in goals.goal)


def test_several_grids_make_a_union(tmp_path: Path) -> None:
    text = TEXT.replace("[problems]", "[[problems]]")
    more = '\n[[problems]]\ngoal = [4, 5]\np_c = 0.4\np_f = 0.3\nstart = "uniform"\n'
    spec = SweepSpec.read(written(tmp_path, text + more))
    pairs = [(one.goal, one.p_c) for one in spec.each_problem()]
    assert pairs == [(4, 0.4), (4, 0.6), (5, 0.4)]
    assert len(spec) == 3
    single = SweepSpec("tour", [grbp.Problem(4, 0.4, 0.3)], ["getbe-sm"], 100, 20)
    assert list(single.each_problem()) == [grbp.Problem(4, 0.4, 0.3)]


@pytest.mark.parametrize(
    ("start", "same"),
    [
        ('"uniform"', "uniform"),
        ("2", 2),
        ("{1 = 0.25, 3 = 0.75}", {1: 0.25, 3: 0.75}),
        ('"1=.25,3=.75"', {1: 0.25, 3: 0.75}),
        ("[0.25, 0.0, 0.75]", {1: 0.25, 3: 0.75}),
    ],
)
def test_a_start_is_written_in_any_form(start: str, same: object, tmp_path: Path) -> None:
    spec = SweepSpec.read(written(tmp_path, f"{TEXT}start = {start}\n"))
    wanted = grbp.Problem(4, 0.4, 0.3, same)  # type: ignore[arg-type]
    assert next(spec.each_problem()) == wanted
    assert SweepSpec.from_json(json.loads(json.dumps(spec.as_json()))) == spec


def test_what_is_uniform_at_one_goal_need_not_be_at_another() -> None:
    grid = ProblemGrid((3, 4), 0.4, 0.3, {1: 0.5, 2: 0.5})  # type: ignore[arg-type]
    assert [one.start for one in grid] == ["uniform", ((1, 0.5), (2, 0.5))]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "tour"', 'name = "My Tour"', "the name 'My Tour' was given"),
        ("rounds = 100", "round = 100", "the key 'round' was given for a sweep; did you mean"),
        ("rounds = 100\n", "", "the key 'rounds' is missing"),
        ("rounds = 100", "rounds = [100, 100]", "rounds = .* each once"),
        ("rounds = 100", 'rounds = "many"', "rounds = 'many' was given"),
        ("replicas = 20", "replicas = 0", "replicas = 0 was given"),
        ("replicas = 20", "replicas = 20\nse = -1", "se = -1 was given"),
        ("replicas = 20", 'replicas = 20\nengine = "run"', "engine = 'run' was given"),
        ("replicas = 20", "replicas = 20\nse = 1\nmost_replicas = 5", "most_replicas = 5"),
        ('["getbe-sm"]', "[]", "one or more"),
        ('["getbe-sm"]', '["getbe-sm", "GETBE-SM"]', "each once"),
        ('["getbe-sm"]', '["getbe-smm"]', "learner 'getbe-smm' was asked for; did you mean"),
        ('["getbe-sm"]', "[4]", "learner 4 was given"),
        ("goal = 4", "goal = 1", "goal = 1 was given"),
        ("goal = 4", "goals = 4", "the key 'goals' was given for problems; did you mean 'goal'"),
        ("goal = 4\n", "", "the key 'goal' is missing for problems"),
        ("goal = 4", "goal = 40", r"ucb1-policies .* up to a goal of 11"),
        ("p_f = 0.3", "p_f = []", r"p_f = \[\] was given; it must be one or more"),
        ("p_f = 0.3", "p_f = [0.3, 0.3]", "each once"),
        ("p_f = 0.3", "p_f = 1.5", "p_f = 1.5 was given"),
        ("p_f = 0.3", 'p_f = "0.3"', "p_f = '0.3' was given"),
        ("p_f = 0.3", "p_f = {from = 0.1, to = 0.4, step = 0.2}", "whole steps from A up to B"),
        ("p_f = 0.3", "p_f = {from = 0.1, to = 0.4}", "a range must be"),
        ("p_f = 0.3", "p_f = {from = 0.4, to = 0.1, step = 0.1}", "a range must be"),
        ("p_f = 0.3", "p_f = 0.3\nstart = 9", "the start state = 9 was given"),
        ("p_f = 0.3", 'p_f = 0.3\nstart = "early"', "start = 'early' was given"),
        ("[problems]", "[problems", "is not valid TOML"),
        ("[problems]", "problems = 4\n[other]", "problems = 4 was given|the key 'other'"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_file(
    old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    if "ucb1" in sentence:
        new, old = TEXT.replace(old, new).replace("getbe-sm", "ucb1-policies"), TEXT
    path = written(tmp_path, TEXT.replace(old, new))
    with pytest.raises(GrbpError, match=sentence) as refusal:
        SweepSpec.read(path)
    assert one_sentence(refusal.value).startswith(str(path))


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(GrbpError, match="cannot be read") as refusal:
        SweepSpec.read(tmp_path / "none.toml")
    one_sentence(refusal.value)


def test_a_cell_is_known_by_all_that_changes_its_numbers() -> None:
    def keys(**changes: object) -> set[str]:
        asked = {"rounds": (100,), "seed": 0, "engine": "auto", "start": "uniform"} | changes
        problem = grbp.Problem(4, 0.4, 0.3, asked["start"])  # type: ignore[arg-type]
        learner = str(changes.get("learner", "getbe-sm"))
        sizes: Any = {name: asked[name] for name in ("rounds", "seed", "engine")}
        return {
            cell.key for cell in make_cells(SweepSpec("x", problem, learner, replicas=1, **sizes))
        }

    variants: list[dict[str, object]] = [
        {}, {"rounds": (50, 100)}, {"seed": 1}, {"engine": "leap"}, {"start": 2},
        {"learner": "getbe-sm:gamma=2"}, {"learner": "getbe-ps"}, {"engine": "draw"},
    ]  # fmt: skip
    assert len(set().union(*(keys(**one) for one in variants))) == len(variants)
    assert keys(engine="walk") == keys()  # which is what "auto" means here
