"""The shell command `grbp`: parsing and printing only.

Exit status: 0 answered, 2 a mistake in what was asked (one sentence on standard error),
130 interrupted.
"""

import argparse
import json
import math
import os
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import grbp
from grbp.errors import GrbpError, InvalidInput, TooLarge

_MOST_ROWS = 12
"""States shown to a person; --json has them all."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except GrbpError as error:
        print(f"grbp: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("grbp: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _Format(argparse.HelpFormatter):
    """Help with room for a long name and its meaning on the same line, at 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=80)

    def add_argument(self, action: argparse.Action) -> None:
        """Widens the first column, which argparse forgets to do for indented commands."""
        super().add_argument(action)
        self._action_max_length = max(self._action_max_length, 16)


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="grbp",
        description="The gambler's ruin bandit problem: exact answers, bounds and figures.",
        allow_abbrev=False,
        formatter_class=_Format,
    )
    parser.add_argument("--version", action="version", version=f"grbp {grbp.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], None], line: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=line,
            description=line + ".",
            allow_abbrev=False,
            formatter_class=_Format,
        )
        sub.set_defaults(run=run)
        return sub

    solve = command("solve", _solve, "values, best policy, boundary, gaps and round length")
    _add_problem(solve)
    _add_json(solve)

    bounds = command("bounds", _bounds, "the regret bounds of Theorems 1 and 3, if they apply")
    _add_problem(bounds)
    bounds.add_argument("--gamma", required=True, help="of the control function gamma log(rho)")
    bounds.add_argument("--rounds", required=True, help="the number of rounds T")
    _add_json(bounds)

    export = command("export", _export, "the problem in the language of another tool")
    _add_problem(export)
    export.add_argument(
        "--format", required=True, choices=["prism", "toy-text"], help="PRISM, or Gymnasium's P"
    )

    figure = command("figure", _figure, "one figure of the paper, as PNG and SVG")
    numbers = [str(n) for n in grbp.PAPER_FIGURES]
    figure.add_argument("number", choices=numbers, help=f"one of {', '.join(numbers)}")
    figure.add_argument("--goal", help="the goal (Figure 1), or several: 2,4,10 (Figure 2)")
    _add_folder(figure)

    reproduce = command("reproduce", _reproduce, "every figure of the paper")
    _add_folder(reproduce)
    return parser


def _add_problem(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--goal", required=True, help="the state G that wins a round")
    parser.add_argument("--p-c", required=True, help="chance that continuing moves up")
    parser.add_argument("--p-f", required=True, help="chance that finishing wins")
    parser.add_argument(
        "--start", default="uniform", help="first state: uniform, 2, or 1=.9,2=.1 (uniform)"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", default="results", help="the folder to write to (results)")


def _problem(options: argparse.Namespace) -> grbp.Problem:
    return grbp.Problem(
        _whole(options.goal),
        _number(options.p_c),
        _number(options.p_f),
        _start(options.start),
    )


def _whole(text: str) -> Any:
    """The whole number that a text means; the text itself if none, for the model to refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def _number(text: str) -> Any:
    """The number that a text means; the text itself if none, for the model to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def _start(text: str) -> Any:
    """The start distribution that a text means: uniform, 2, or 1=.9,2=.1."""
    if "=" not in text:
        return _whole(text)
    pairs = [part.split("=", 1) for part in text.split(",")]
    if any(len(pair) < 2 for pair in pairs):
        raise InvalidInput(
            f"start = {text!r} was given; it must be 'uniform', one state, or state=probability"
            " pairs such as 1=.9,2=.1"
        )
    return tuple((_whole(state), _number(q)) for state, q in pairs)


# --- solve ------------------------------------------------------------------------------------


def _solve(options: argparse.Namespace) -> None:
    problem = _problem(options)
    answer = grbp.summary(problem)
    if options.json:
        _print_json(answer)
        return
    best = answer["optimal_threshold"]
    rule = "finish in state 1, continue above it" if best else "never finish"
    _title(problem)
    _facts(
        [
            ("best policy", f"threshold {best}", rule),
            (
                "boundary B(p_c)",
                _chance(answer, "0", 1),
                "chance to win from state 1 by continuing",
            ),
            (
                "region",
                answer["region"],
                "where the best policy " + ("finishes" if best else "never finishes"),
            ),
            ("gap at worst", answer["gap_max"], "|p_f - B|: the wrong action in state 1"),
            ("gap", answer["gap"], "the same per round: threshold 0 against 1"),
            ("margin", answer["margin"], "distance of (p_c, p_f) from the boundary"),
        ]
    )
    print("\nChance to win, by first state")
    names = ["threshold 0", "threshold 1", "finish now", "optimal"]
    rows: list[list[object]] = []
    for s in _shown(problem.goal):
        v = {name: _chance(answer, name, s) for name in answer["values"]}
        rows.append([str(s), v["0"], v["1"], problem.p_f, v["optimal"]])
    mean = answer["value"]
    rows.append(["mean", mean["0"], mean["1"], mean["finish-now"], mean["optimal"]])
    _table(["state", *names], rows)
    slots = answer["slots"]
    print("\nExpected slots a round")
    _table(["", "threshold 0", "threshold 1"], [["mean", slots["0"], slots["1"]]])


def _chance(answer: grbp.Summary, policy: str, state: int) -> float | str:
    """A chance to win; as a power of ten where it is too small for a float."""
    chance, log = answer["values"][policy][state - 1], answer["log_values"][policy][state - 1]
    return chance if chance > 0.0 or math.isinf(log) else f"1e{log / math.log(10.0):.0f}"


def _shown(goal: int) -> list[int]:
    """The states worth a row: all of a few, else the lowest and the highest."""
    if goal - 1 <= _MOST_ROWS:
        return list(range(1, goal))
    half = _MOST_ROWS // 2
    return [*range(1, half + 1), *range(goal - half, goal)]


# --- bounds -----------------------------------------------------------------------------------


def _bounds(options: argparse.Namespace) -> None:
    problem = _problem(options)
    gamma, rounds = _number(options.gamma), _whole(options.rounds)
    bound = grbp.getbe_bound(problem, gamma, rounds)
    try:
        ucb1, note = grbp.ucb1_bound(problem, int(rounds)), ""
    except TooLarge as error:
        ucb1, note = math.inf, str(error)
    if options.json:
        start = problem.canonical_start
        asked = {"goal": problem.goal, "p_c": problem.p_c, "p_f": problem.p_f, "start": start}
        named = bound._asdict() | {"gamma": gamma, "rounds": rounds, "ucb1_bound": ucb1}
        _print_json(asked | named)
        return
    _title(problem)
    _facts([("gamma", gamma, "control function gamma log(rho)"), ("rounds T", rounds, "")])
    print(f"\nTheorem 3 (GETBE) {'applies' if bound.applies else 'does NOT apply'}:")
    print(f"  {bound.why}.")
    _facts(
        [
            ("p_{C,1}", bound.p_c1, "chance that a round of threshold 1 continues"),
            ("p_{F,1}", bound.p_f1, "chance that it finishes"),
            ("margin delta", bound.margin, "distance from the boundary"),
            ("x_1", bound.x_1, "its square is the gamma required"),
            ("gamma required", bound.gamma_required, "gamma must exceed this"),
            ("rho'_C", bound.rho_c, "round from which C was taken often enough"),
            ("rho'_F", bound.rho_f, "the same for F"),
            ("rho''", bound.rho_pp, "round from which estimates are good enough"),
            ("rho'", bound.rho_prime, "the largest of the three"),
            ("w", bound.w, "bound on rounds with the wrong policy"),
            ("regret at most", bound.regret_bound, _verdict(bound.regret_bound, rounds)),
        ]
    )
    print("\nTheorem 1 (UCB1 over every deterministic policy):")
    _facts([("regret at most", ucb1, _verdict(ucb1, rounds))])
    if note:
        print(textwrap.fill(note + ".", 78, initial_indent="  ", subsequent_indent="  "))


def _verdict(bound: float, rounds: int) -> str:
    """What a bound is worth: no round can cost more than one goal."""
    if math.isinf(bound):
        return "no bound follows"
    return "no news: T rounds can cost no more than T" if bound >= rounds else ""


# --- export, figure, reproduce ----------------------------------------------------------------


def _export(options: argparse.Namespace) -> None:
    problem = _problem(options)
    if options.format == "prism":
        print(grbp.to_prism(problem), end="")
    else:
        print(json.dumps(grbp.to_toy_text(problem)))


def _figure(options: argparse.Namespace) -> None:
    number = int(options.number)
    goals = [] if options.goal is None else [_whole(part) for part in options.goal.split(",")]
    for path in grbp.save_figure(grbp.paper_figure(number, goals), Path(options.out), number):
        print(path)


def _reproduce(options: argparse.Namespace) -> None:
    folder = Path(options.out)
    began = time.monotonic()
    total = len(grbp.PAPER_FIGURES)
    for done, number in enumerate(grbp.PAPER_FIGURES, start=1):
        print(f"[{done}/{total}] Figure {number} ... ", end="", flush=True)
        paths = grbp.save_figure(grbp.paper_figure(number), folder, number)
        print(" and ".join(str(path) for path in paths))
    print(f"Done in {time.monotonic() - began:.1f} s; the figures are in {folder}.")


# --- printing ---------------------------------------------------------------------------------


def _print_json(answer: Mapping[str, object]) -> None:
    print(json.dumps(_plain(answer), allow_nan=False))


def _plain(value: object) -> object:
    """The value with null where a number is infinite, which JSON cannot say."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _title(problem: grbp.Problem) -> None:
    start = problem.start if isinstance(problem.start, str) else _start_text(problem)
    print(f"goal {problem.goal}, p_c = {problem.p_c:g}, p_f = {problem.p_f:g}, start {start}\n")


def _start_text(problem: grbp.Problem) -> str:
    named = [f"{s}={q:g}" for s, q in enumerate(problem.start_probabilities.tolist(), 1) if q]
    return ",".join(named[:4]) + (",..." if len(named) > 4 else "")


def _facts(rows: Sequence[tuple[str, object, str]]) -> None:
    for name, value, meaning in rows:
        print(f"  {name:<16} {_shown_number(value):<14}  {meaning}".rstrip())


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    print("  " + f"{head[0]:<8}" + "".join(f"{name:>14}" for name in head[1:]))
    previous = 0
    for first, *numbers in rows:
        label = str(first)
        if label.isdigit() and previous and int(label) > previous + 1:
            print("  ...")
        previous = int(label) if label.isdigit() else 0
        print("  " + f"{label:<8}" + "".join(f"{_shown_number(x):>14}" for x in numbers))


def _shown_number(value: object) -> str:
    if isinstance(value, float):
        if math.isinf(value):
            return "none"
        return f"{value:,.0f}" if value == int(value) and value > 1 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
