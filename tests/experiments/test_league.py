"""The league: what it says follows from simulations anyone can repeat, and it never loses one."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from runs import made_up, one_sentence

import grbp
from grbp.errors import GrbpError
from grbp.experiments import run
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.cells import Cell, cell_seed
from grbp.experiments.league import league_spec
from grbp.experiments.league_table import HINDSIGHT
from grbp.experiments.regret import Z_95
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS
from grbp.theory.values import boundary
from grbp.worlds.problem import Problem

THREE = ("getbe-sm", "getbe-ucb", "getbe-sm:gamma=2")
SMALL = league_spec(THREE, goals=(2, 4), step=0.25, rounds=60, replicas=12, seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("league")


@pytest.fixture(scope="module")
def small(folder: Path) -> SweepResult:
    return run(SMALL, folder / "data")


def cells_of(league: SweepResult) -> list[tuple[Any, ...]]:
    """Goal, learner, p_c, p_f, mean and standard error of every cell."""
    wanted = [COLUMNS.index(name) for name in ("goal", "learner", "p_c", "p_f", "mean", "se")]
    return [tuple(row[k] for k in wanted) for row in league.rows()]


def four_problems(means: dict[str, list[list[float]]], se: float) -> SweepResult:
    """A league of goal 4 over four problems, with regrets of one's choice."""
    spec = league_spec(tuple(means), goals=(4,), step=1 / 3)

    def regret(cell: Cell) -> tuple[float, float]:
        row, column = round(3 * cell.problem.p_f) - 1, round(3 * cell.problem.p_c) - 1
        return means[str(cell.learner)][row][column], se

    return made_up(spec, regret)


# --- what is measured -------------------------------------------------------------------------


def test_every_cell_is_a_simulation_of_its_own(small: SweepResult) -> None:
    found = {cell[:4]: cell[4:] for cell in cells_of(small)}
    assert len(found) == 2 * 3 * 9
    for (goal, name, p_c, p_f), (mean, se) in found.items():
        problem, seed = Problem(goal, p_c, p_f), cell_seed(5, p_c, p_f)
        curve = grbp.simulate(problem, [name], 60, 12, seed, checkpoints=[60]).curves[name]
        assert (mean, se) == (curve.mean[-1], curve.se[-1])


def test_means_and_worst_cells_are_those_of_the_cells(small: SweepResult) -> None:
    for goals, table in (((2,), small.table(2)), ((4,), small.table(4)), ((2, 4), small.table())):
        cells = [cell for cell in cells_of(small) if cell[0] in goals]
        assert [one.mean for one in table.standings] == sorted(one.mean for one in table.standings)
        for one in table.standings:
            mine = [cell for cell in cells if cell[1] == one.learner]
            assert len(mine) == table.problems == 9 * len(goals)
            assert one.mean == pytest.approx(sum(cell[4] for cell in mine) / len(mine))
            noise = sum(cell[5] ** 2 for cell in mine) ** 0.5 / len(mine)
            assert one.se == pytest.approx(noise)
            goal, _, p_c, p_f, worst, _ = max(mine, key=lambda cell: cell[4])
            assert (one.worst, one.worst_at) == (worst, (goal, p_c, p_f))


def test_an_interrupted_league_goes_on_to_the_same_bits(small: SweepResult, tmp_path: Path) -> None:
    kept = 0

    def interrupt(_: str, done: int, total: int) -> None:
        nonlocal kept
        assert 0 <= done <= total == 2 * 3 * 9 * 12
        kept = done
        if 3 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SMALL, tmp_path, interrupt)
    resumed: list[int] = []
    again = run(SMALL, tmp_path, lambda _, done, __: resumed.append(done))
    assert again.digest == small.digest
    assert resumed[0] == kept


def test_a_league_finds_what_another_has_measured(small: SweepResult, folder: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("measured again")

    assert run(SMALL, folder / "data", refuse).digest == small.digest
    sizes: Any = {"step": 0.25, "rounds": 60, "replicas": 12, "seed": 5}
    fewer = run(league_spec(THREE[:2], (4,), **sizes), folder / "data", refuse)
    assert set(fewer.rows()) < set(small.rows())
    assert (fewer.meta.made, fewer.meta.revision) == (small.meta.made, small.meta.revision)
    assert fewer.meta.constants.items() < small.meta.constants.items()


def test_threads_change_no_bit(small: SweepResult, tmp_path: Path) -> None:
    assert run(SMALL, tmp_path, threads=1).digest == small.digest


@pytest.mark.slow
def test_processes_change_no_bit(small: SweepResult, tmp_path: Path) -> None:
    assert run(SMALL, tmp_path, processes=2).digest == small.digest


# --- what follows -----------------------------------------------------------------------------


def test_a_difference_is_that_of_the_means_and_turns_its_sign(small: SweepResult) -> None:
    for goal in (2, 4):
        table = small.table(goal)
        standing = {one.learner: one for one in table.standings}
        assert len(table.pairs) == 3
        for pair in table.pairs:
            one, other = standing[pair.first], standing[pair.second]
            assert pair.difference == pytest.approx(one.mean - other.mean)
            assert pair.difference <= 0.0  # in the order of the table
            assert pair.half == pytest.approx(Z_95 * np.hypot(one.se, other.se))
            assert pair.low + pair.high == pytest.approx(2.0 * pair.difference)
            duel = small.duel(goal, pair.first, pair.second)
            assert duel.difference.mean() == pytest.approx(pair.difference)
            assert (duel.winner == 1).sum() == pair.first_wins
            assert (duel.winner == -1).sum() == pair.second_wins
        for first, second in permutations(THREE, 2):
            there, back = small.duel(goal, first, second), small.duel(goal, second, first)
            assert (there.difference == -back.difference).all()
            assert (there.winner == -back.winner).all()
            assert (there.doublings == -back.doublings).all()
            assert (there.se == back.se).all()


def test_counts_of_the_best_add_up(small: SweepResult) -> None:
    for table in (small.table(2), small.table(4), small.table()):
        counts = [one.best for one in table.standings if one.best is not None]
        assert len(counts) == 3
        assert sum(counts) + table.undecided == table.problems
        for one, best in zip(table.standings, counts, strict=True):
            wins = [p.first_wins for p in table.pairs if p.first == one.learner]
            wins += [p.second_wins for p in table.pairs if p.second == one.learner]
            assert best <= min(wins)


def test_a_win_is_clear_when_the_interval_leaves_out_zero() -> None:
    apart = Z_95 * 2**0.5  # with standard errors of 1
    league = four_problems(
        {
            "getbe-sm": [[5.0, 5.0], [5.0, 0.0]],
            "getbe-ps": [[5.0 + 1.01 * apart, 5.0 + 0.99 * apart], [5.0 - 1.01 * apart, 20.0]],
        },
        1.0,
    )
    duel = league.duel(4, "getbe-sm", "getbe-ps")
    assert duel.winner.tolist() == [[1, 0], [-1, 1]]
    assert duel.doublings[0, 0] == pytest.approx(np.log2(1.0 + 1.01 * apart / 5.0))
    assert duel.doublings[0, 1] == 0.0
    assert duel.doublings[1, 1] == np.inf
    table = league.table(4)
    assert [one.best for one in table.standings] == [2, 1]
    assert table.undecided == 1
    assert table.standings[1].worst_at == (4, 2 / 3, 2 / 3)


def test_rounding_is_no_win() -> None:
    league = four_problems({"getbe-sm": [[0.0, 0.0]] * 2, "getbe-ps": [[1e-13, 1e-13]] * 2}, 0.0)
    assert league.table().undecided == 4


def test_the_five_in_hindsight_are_the_best_at_each_problem() -> None:
    regrets = {name: [[9.0, 9.0], [9.0, 9.0 + k]] for k, name in enumerate(PAPER_LEARNERS)}
    regrets["getbe-ps"][0][0] = 1.0
    regrets["ps-polselection"][0][1] = 2.0
    regrets["no-explore"] = [[0.5, 30.0], [9.0, 1.0]]
    table = four_problems(regrets, 0.1).table(4)
    assert table.hindsight is not None
    assert table.hindsight.mean == (1.0 + 2.0 + 9.0 + 9.0) / 4
    assert (table.hindsight.worst, table.hindsight.best) == (9.0, None)
    against = {pair.first: pair for pair in table.against_hindsight}
    assert {pair.second for pair in table.against_hindsight} == {HINDSIGHT}
    assert (against["no-explore"].first_wins, against["no-explore"].second_wins) == (2, 1)
    assert all(against[name].first_wins == 0 for name in PAPER_LEARNERS)
    # Where a learner is the one chosen, chance cannot part it from itself.
    own = against["getbe-ps"]
    assert own.half == pytest.approx(Z_95 * 0.1 * 2**0.5 * 3**0.5 / 4)
    del regrets["getbe-ucb"]
    assert four_problems(regrets, 0.1).table(4).hindsight is None


def test_who_cannot_play_a_goal_is_left_out_there_and_overall() -> None:
    spec = league_spec(goals=(4, 50))
    assert "ucb1-policies" in spec.players(4)
    assert spec.left_out == {50: ("ucb1-policies",)}
    assert "oracle" not in spec.players(4)
    assert set(spec.players(50)) == set(grbp.LEARNERS) - {"oracle", "ucb1-policies"}
    assert league_spec(THREE, goals=(4, 50)).left_out == {}
    league = made_up(spec, lambda _: (1.0, 1.0))
    assert {one.learner for one in league.table(4).standings} == set(spec.players(4))
    overall = league.table()
    assert {one.learner for one in overall.standings} == set(spec.players(50))
    assert overall.problems == 162
    assert SweepSpec.from_json(spec.as_json()) == spec
    assert "leave_out" not in SMALL.as_json()


def test_a_sweep_leaves_out_who_cannot_play_only_if_asked() -> None:
    policies = replace(league_spec(goals=(4, 50)), learners=("ucb1-policies", "getbe-sm"))
    with pytest.raises(GrbpError, match="up to a goal of 11"):
        replace(policies, leave_out=False)
    for change, sentence in (
        ({"learners": ("ucb1-policies",)}, "none of them can play at goal 50"),
        ({"leave_out": "yes"}, "leave_out = 'yes' was given; it must be true or false"),
    ):
        with pytest.raises(GrbpError, match=sentence) as refusal:
            replace(policies, **change)
        one_sentence(refusal.value)


def test_the_usual_league() -> None:
    spec = league_spec()
    assert spec.goals == (4, 10, 50)
    (grid,) = spec.grids
    assert grid.p_c == grid.p_f == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert (spec.checkpoints, spec.replicas) == ((5000,), 200)


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: league_spec(("getbe-sm", "nobody")), "learner 'nobody' was asked for"),
        (lambda: league_spec(("getbe-sm", "getbe-sm")), "two or more, each once"),
        (lambda: league_spec(()), "two or more, each once"),
        (lambda: league_spec(("getbe-sm",)), "two or more, each once"),
        (lambda: league_spec("getbe-sm"), "two or more, each once"),
        (lambda: league_spec(("getbe-sm", "ucb1-policies")), "up to a goal of 11"),
        (lambda: league_spec(("getbe-sm", "getbe-ps:gamma=1")), "memory=ROUNDS, memory=averaged"),
        (lambda: league_spec(("getbe-sm", "threshold-4")), "threshold = 4 was given"),
        (lambda: league_spec(goals=()), "one or more, each once"),
        (lambda: league_spec(goals=(4, 4)), "one or more, each once"),
        (lambda: league_spec(goals=(1,)), "goal = 1 was given"),
        (lambda: league_spec(step=0.3), "step = 0.3 was given; it must be 1 divided by"),
        (lambda: league_spec(step=0.5), "step = 0.5 was given"),
        (lambda: league_spec(step=1e-9), "step = 1e-09 was given"),
        (lambda: league_spec(step=-0.1), "step = -0.1 was given"),
        (lambda: league_spec(rounds=0), "rounds = 0 was given"),
        (lambda: league_spec(replicas=1), "replicas = 1 was given"),
        (lambda: league_spec(seed=-1), "seed = -1 was given"),
        (lambda: league_spec(engine="fly"), "fly"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_league_is_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(GrbpError, match=said) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_what_a_league_does_not_have_is_refused(small: SweepResult) -> None:
    for ask in (
        lambda: small.table(3),
        lambda: small.duel(3, *THREE[:2]),
        lambda: small.duel(4, "getbe-sm", "getbe-ps"),
        lambda: grbp.league_figure(small, 10),
    ):
        with pytest.raises(GrbpError, match="was asked for") as refusal:
            ask()
        one_sentence(refusal.value)


# --- the picture ------------------------------------------------------------------------------


def test_the_picture_colours_who_wins(small: SweepResult) -> None:
    figure = grbp.league_figure(small, 4)
    names = [one.learner for one in small.table(4).standings]
    *maps, key = figure.axes
    assert len(maps) == 3
    written = [text.get_text().replace("\n", ":") for text in figure.texts]
    assert written[:3] == names
    assert "goal 4" in written[3]
    assert written[4] == "12 replicas of 60 rounds at each of 9 problems"
    assert len(key.get_xticklabels()) == 9
    pairs = [(row, column) for row in range(3) for column in range(row)]
    for axes, (row, column) in zip(maps, pairs, strict=True):
        duel = small.duel(4, names[row], names[column])
        (cells,) = (one for one in axes.collections if isinstance(one, QuadMesh))
        shades = np.asarray(cells.get_array())
        assert (np.sign(shades) == duel.winner).all()
        assert (np.abs(shades) <= 4).all()
        assert (np.abs(shades)[duel.winner != 0] >= np.minimum(
            np.abs(duel.doublings)[duel.winner != 0], 4.0)).all()  # fmt: skip
        x, y = np.asarray(axes.lines[-1].get_xydata()).T
        assert (y == boundary(4, x)).all()


@pytest.mark.sample("2", "5")
@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5, 7, 8, 13])
def test_nothing_is_cut_off_and_no_words_meet(count: int) -> None:
    long = ["explore-then-commit", *(f"getbe-sm:gamma={k}.25" for k in range(1, count))]
    regrets = {name: [[k + 1.0, 1.0], [k + 1.0, 1.0]] for k, name in enumerate(reversed(long))}
    figure = grbp.league_figure(four_problems(regrets, 0.1), 4)
    cast("Any", FigureCanvasAgg(figure)).draw()  # Matplotlib does not say the types of a canvas
    page = figure.bbox
    boxes = [text.get_window_extent() for text in figure.texts]
    for k, box in enumerate(boxes):
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
        for other in [*boxes[:k], *(axes.get_tightbbox() for axes in figure.axes)]:
            assert other is not None
            assert not box.overlaps(other)
    for axes in figure.axes:
        tight = axes.get_tightbbox()
        assert tight is not None
        assert tight.x0 >= 0.0
        assert tight.y0 >= 0.0
        assert tight.x1 <= page.x1


@pytest.mark.slow
def test_the_picture_is_the_same_file_each_time(small: SweepResult, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    written = grbp.save_league(small, tmp_path / "one" / "league")
    assert [path.name for path in written] == [
        "league-2.png", "league-2.svg", "league-4.png", "league-4.svg",
    ]  # fmt: skip
    again = grbp.save_league(small, tmp_path / "two" / "league")
    assert [a.read_bytes() for a in written] == [b.read_bytes() for b in again]
    one = four_problems({"getbe-sm": [[1.0, 2.0]] * 2, "getbe-ps": [[2.0, 1.0]] * 2}, 0.1)
    assert [path.name for path in grbp.save_league(one, tmp_path / "x.svg")] == ["x.svg"]
    names = [path.name for path in grbp.save_league(small, tmp_path / "a.b.pdf")]
    assert names == ["a.b-2.pdf", "a.b-4.pdf"]
