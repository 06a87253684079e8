"""Printing a league: a table for each goal, and everything for a program."""

from typing import Final

import grbp
from grbp.cli.printing import print_paragraph
from grbp.experiments.tables import COLUMNS, Row

_NAME: Final = 20
"""Columns for a name; a longer one has a line of its own."""

_UNITS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def league_to_dict(result: grbp.SweepResult) -> dict[str, object]:
    """Return what was asked, the tables, and every map [p_f][p_c]."""
    spec = result.spec
    grid = spec.grids[0].p_c
    goals = {}
    for goal in spec.goals:
        names = map(str, spec.players(goal))
        maps = {name: result.regret_map(name, goal) for name in names}
        regret = {
            name: {"mean": one.mean.tolist(), "se": one.se.tolist()} for name, one in maps.items()
        }
        goals[str(goal)] = result.table(goal).as_json() | {"maps": regret}
    return {
        "spec": {
            "learners": None if spec.leave_out else spec.names,
            "goals": spec.goals,
            "step": 1.0 / (len(grid) + 1),
            "rounds": spec.checkpoints[-1],
            "replicas": spec.replicas,
            "seed": spec.seed,
            "engine": spec.engine,
            "grid": grid,
        },
        "left_out": {str(goal): names for goal, names in spec.left_out.items()},
        "goals": goals,
        "overall": result.table().as_json(),
    }


def sort_rows(result: grbp.SweepResult) -> list[Row]:
    """Return the rows of the table, goal by goal and learner by learner."""
    goals, names = result.spec.goals, result.spec.names
    goal, learner = COLUMNS.index("goal"), COLUMNS.index("learner")
    return sorted(
        result.rows(), key=lambda row: (goals.index(row[goal]), names.index(row[learner]))
    )


def print_league(result: grbp.SweepResult, *, pairs: bool) -> None:
    """Print the table of each goal and that of all, and every two learners if that is asked."""
    spec = result.spec
    grid = spec.grids[0].p_c
    print(f"{spec.replicas:,} replicas of {spec.checkpoints[-1]:,} rounds, seed {spec.seed}")
    print(f"p_c and p_f from {grid[0]:g} to {grid[-1]:g}: {len(grid) ** 2:,} problems a goal")
    for goal, names in spec.left_out.items():
        print_paragraph(f"left out at goal {goal:,}, which they cannot play: {', '.join(names)}")
    tables = [result.table(goal) for goal in spec.goals]
    if len(tables) > 1:
        tables.append(result.table())
    for table in tables:
        _print_table(table)
        if pairs:
            _print_pairs(table)
    print()
    print_paragraph(
        "mean: the regret averaged over all problems; worst: the largest regret, and where; best:"
        " in how many problems a learner is clearly better than every other; behind: its mean less"
        " that of the first. +- is half a 95 % interval, for each number on its own."
    )
    if tables[0].hindsight is not None:
        print_paragraph(
            f"{tables[0].hindsight.learner}: at each problem the best of the paper's five learners,"
            " chosen after all of them have played."
        )


def _print_table(table: grbp.LeagueTable) -> None:
    name = "all goals" if table.goal is None else f"goal {table.goal:,}"
    print(f"\n{name}: {table.problems:,} problems, {table.undecided:,} without a clear winner")
    at = "G: p_c, p_f" if table.goal is None else "at p_c, p_f"
    print(_format_line("learner", "mean", "+-", "worst", at, "best", "behind", "+-"))
    first = table.standings[0].learner
    behind = {pair.second: pair for pair in table.pairs if pair.first == first}
    for standing in table.standings:
        _print_standing(standing, behind.get(standing.learner), table.goal is None)
    if table.hindsight is not None:
        (pair,) = (pair for pair in table.against_hindsight if pair.first == first)
        _print_standing(table.hindsight, pair, table.goal is None)


def _print_standing(standing: grbp.Standing, pair: grbp.Pair | None, with_goal: bool) -> None:
    """Print a learner, with the first against it."""
    name = standing.learner
    if len(name) >= _NAME:
        print("  " + name)
        name = ""
    last = (
        ("", "") if pair is None else (_format_short(-pair.difference), _format_short(pair.half, 2))
    )
    at = _format_place(standing.worst_at, with_goal)
    best = "" if standing.best is None else str(standing.best)
    mean = (_format_short(standing.mean), _format_short(standing.half, 2))
    print(_format_line(name, *mean, _format_short(standing.worst), at, best, *last))


def _format_line(name: str, *cells: str) -> str:
    widths = (7, 7, 7, 16, 6, 8, 7)
    columns = "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
    return f"  {name:<{_NAME}}{columns}".rstrip()


def _format_place(place: tuple[int, float, float], with_goal: bool) -> str:
    """Write a problem: its p_c and p_f, after the goal where that is not said above."""
    goal, *probabilities = place
    where = ", ".join(f"{p:.2g}".removeprefix("0") for p in probabilities)
    return f"{goal if goal < 10**5 else format(goal, '.0e')}: {where}" if with_goal else where


def _print_pairs(table: grbp.LeagueTable) -> None:
    """Print every two learners, and every one with the five in hindsight."""
    print(f"\n  {'first':<20}{'second':<20}  second behind     +-  1st wins  2nd")
    for pair in (*table.pairs, *table.against_hindsight):
        names = f"{pair.first:<20}{pair.second:<20}"
        if max(len(pair.first), len(pair.second)) >= _NAME:
            print(f"  {pair.first}, {pair.second}")
            names = " " * 40
        numbers = f"{_format_short(-pair.difference):>15}{_format_short(pair.half, 2):>7}"
        print(f"  {names}{numbers}{pair.first_wins:>10,}{pair.second_wins:>6,}")


def _format_short(value: float, digits: int = 4) -> str:
    """Write a number in at most six columns and a sign, thousands as k and so on."""
    value += 0.0  # -0.0 would be shown with its sign
    size = abs(value)
    if 0.0 < size < 0.1:
        return f"{value:.2g}" if size >= 0.001 else f"{value:.0e}"
    if size < 10.0**digits:
        return f"{value:.{digits}g}"
    if size < 10.0 ** (digits + 1):
        return f"{value:,.0f}"
    unit, letter = next(pair for pair in _UNITS if size >= pair[0])
    return f"{value / unit:.{max(digits, 3)}g}{letter}"
