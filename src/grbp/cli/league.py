"""The command about many learners on many problems: league."""

import argparse
import csv
import io
import sys
import textwrap
from pathlib import Path
from typing import Any

import grbp
from grbp._io import write_whole
from grbp.cli.options import add_folder, add_json, number, whole
from grbp.cli.printing import print_json
from grbp.cli.progress import bar
from grbp.errors import InvalidInput

_NAME = 20
"""Columns for a name; a longer one has a line of its own."""

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds what the command can be told."""
    usual = grbp.LeagueSpec()
    parser.add_argument(
        "--learner", action="append",
        help="repeat for several; NAME:CONSTANT=NUMBER sets a constant (all but the oracle)",
    )  # fmt: skip
    goals = ",".join(map(str, usual.goals))
    parser.add_argument("--goal", help=f"one goal or several ({goals})")
    parser.add_argument("--step", help=f"p_c and p_f are its multiples ({usual.step:g})")
    parser.add_argument("--rounds", help=f"rounds in a replica ({usual.rounds:,})")
    parser.add_argument("--replicas", help=f"independent repetitions ({usual.replicas:,})")
    parser.add_argument("--seed", help=f"a whole number; same seed, same result ({usual.seed})")
    parser.add_argument("--threads", help="threads to use (as many as cores)")
    add_folder(parser)
    parser.add_argument("--pairs", action="store_true", help="list every two learners as well")
    add_json(parser)
    parser.add_argument("--csv", metavar="FILE", help="write every cell as a table")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw who wins where, as PNG and SVG for each goal"
    )


def league(options: argparse.Namespace) -> None:
    """Plays a league and shows its tables."""
    outputs = [name for name in ("pairs", "json", "csv", "plot") if getattr(options, name)]
    if len(outputs) > 1:
        raise InvalidInput(f"--{outputs[0]} and --{outputs[1]} were given; there must be one")
    spec = _spec(options)
    threads = None if options.threads is None else whole(options.threads)
    data = Path(options.out) / "data"
    try:
        with bar() as progress:
            played = grbp.run_league(spec, data, progress, threads)
    except KeyboardInterrupt:
        print(f"\nInterrupted; what was measured is kept in {data}.", file=sys.stderr)
        print("The same command goes on from there.", file=sys.stderr)
        raise
    if options.json:
        print_json(played.as_json())
    elif options.csv:
        write_whole(Path(options.csv), _as_csv(played).encode())
        print(options.csv)
    elif options.plot:
        print(*grbp.save_league(played, Path(options.plot)), sep="\n")
    else:
        _show(played, options.pairs)


def _spec(options: argparse.Namespace) -> grbp.LeagueSpec:
    """The league that the options describe."""
    asked: dict[str, Any] = {}
    if options.learner is not None:
        asked["learners"] = tuple(options.learner)
    if options.goal is not None:
        asked["goals"] = tuple(whole(part) for part in options.goal.split(","))
    if options.step is not None:
        asked["step"] = number(options.step)
    for name in ("rounds", "replicas", "seed"):
        if getattr(options, name) is not None:
            asked[name] = whole(getattr(options, name))
    return grbp.LeagueSpec(**asked)


def _as_csv(played: grbp.League) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["goal", "learner", "p_c", "p_f", "mean", "se"])
    for goal, learner, *numbers in played.cells():
        rows.writerow([goal, learner, *map(repr, numbers)])
    return text.getvalue()


def _show(played: grbp.League, pairs: bool) -> None:
    spec = played.spec
    points = len(spec.grid)
    print(f"{spec.replicas:,} replicas of {spec.rounds:,} rounds, seed {spec.seed}")
    print(f"p_c and p_f from {spec.grid[0]:g} to {spec.grid[-1]:g}: {points**2:,} problems a goal")
    for goal, names in spec.left_out.items():
        _say(f"left out at goal {goal:,}, which they cannot play: {', '.join(names)}")
    tables = [played.table(goal) for goal in spec.goals]
    if len(tables) > 1:
        tables.append(played.table())
    for table in tables:
        _show_table(table)
        if pairs:
            _show_pairs(table)
    print()
    _say(
        "mean: regret over all problems; worst: the largest, and where; best: problems in which"
        " a learner is clearly better than every other; behind: how far the mean is behind the"
        " first. +- holds 95 %, for one number at a time."
    )
    if tables[0].hindsight is not None:
        _say(
            f"{tables[0].hindsight.learner}: at each problem the best of the paper's five learners,"
            " chosen after all have played."
        )


def _show_table(table: grbp.LeagueTable) -> None:
    name = "all goals" if table.goal is None else f"goal {table.goal:,}"
    print(f"\n{name}: {table.problems:,} problems, {table.undecided:,} without a clear winner")
    at = "G: p_c, p_f" if table.goal is None else "at p_c, p_f"
    print(_line("learner", "mean", "+-", "worst", at, "best", "behind", "+-"))
    first = table.standings[0].learner
    behind = {pair.second: pair for pair in table.pairs if pair.first == first}
    for standing in table.standings:
        _show_standing(standing, behind.get(standing.learner), table.goal is None)
    if table.hindsight is not None:
        (pair,) = (pair for pair in table.against_hindsight if pair.first == first)
        _show_standing(table.hindsight, pair, table.goal is None)


def _show_standing(standing: grbp.Standing, pair: grbp.Pair | None, with_goal: bool) -> None:
    """Prints a learner, with the first against it."""
    name = standing.learner
    if len(name) >= _NAME:
        print("  " + name)
        name = ""
    last = ("", "") if pair is None else (_short(-pair.difference), _short(pair.half, 2))
    at = _place(standing.worst_at, with_goal)
    best = "" if standing.best is None else str(standing.best)
    mean = (_short(standing.mean), _short(standing.half, 2))
    print(_line(name, *mean, _short(standing.worst), at, best, *last))


def _line(name: str, *cells: str) -> str:
    widths = (7, 7, 7, 16, 6, 8, 7)
    columns = "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
    return f"  {name:<{_NAME}}{columns}".rstrip()


def _place(place: tuple[int, float, float], with_goal: bool) -> str:
    """A problem as a person reads it: the goal where it is not said above, and p_c, p_f."""
    goal, *probabilities = place
    where = ", ".join(f"{p:.2g}".removeprefix("0") for p in probabilities)
    return f"{goal if goal < 10**5 else format(goal, '.0e')}: {where}" if with_goal else where


def _show_pairs(table: grbp.LeagueTable) -> None:
    """Prints every two learners, and every one with the five in hindsight."""
    print(f"\n  {'first':<20}{'second':<20}  second behind     +-  1st wins  2nd")
    for pair in (*table.pairs, *table.against_hindsight):
        names = f"{pair.first:<20}{pair.second:<20}"
        if max(len(pair.first), len(pair.second)) >= _NAME:
            print(f"  {pair.first}, {pair.second}")
            names = " " * 40
        numbers = f"{_short(-pair.difference):>15}{_short(pair.half, 2):>7}"
        print(f"  {names}{numbers}{pair.first_wins:>10,}{pair.second_wins:>6,}")


def _short(value: float, digits: int = 4) -> str:
    """A number in at most six columns and a sign; thousands as k and so on where they are many."""
    value += 0.0  # not minus nothing
    size = abs(value)
    if 0.0 < size < 0.1:
        return f"{value:.2g}" if size >= 0.001 else f"{value:.0e}"
    if size < 10.0**digits:
        return f"{value:.{digits}g}"
    if size < 10.0 ** (digits + 1):
        return f"{value:,.0f}"
    unit, letter = next(pair for pair in _UNITS if size >= pair[0])
    return f"{value / unit:.{max(digits, 3)}g}{letter}"


def _say(text: str) -> None:
    print(textwrap.fill(text, 78, subsequent_indent="  "))
