"""One round with a goal far away, drawn and walked."""

import math
from collections.abc import Callable
from functools import cache, partial

import grbp
from grbp.engine.hops import Hops, hop_round, make_hops
from grbp.engine.recorder import StepLaw
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in
from measure import Effort, in_turn, seconds
from table import Row, Table, Target
from yardsticks import cpp_steps

NEAR, FAR, P_C = 4, 1000, 0.5


def sampler_time(goal: int, p_c: float, rounds: int) -> float:
    """The seconds in which the engine draws one round with threshold 0 by hops."""
    hops, world = drawn_with(goal, p_c)
    return seconds(partial(drawing(), hops, world, rounds)) / rounds


@cache
def drawn_with(goal: int, p_c: float) -> tuple[Hops, StepLaw]:
    """What rounds of a problem are drawn with: by hops, also where the engine has a table."""
    return make_hops(grbp.Problem(goal, p_c, 0.3), always=True), StepLaw(goal, p_c, 0.3)


def draw_many(hops: Hops, world: StepLaw, rounds: int) -> int:
    """CONTINUE taken in some rounds with threshold 0."""
    total = 0
    for k in range(rounds):
        total += hop_round(hops, world, 0, 0, fold_in(7, k)).c
    return total


@cache
def drawing() -> Callable[[Hops, StepLaw, int], int]:
    """The same, compiled."""
    draw: Callable[[Hops, StepLaw, int], int] = compile_function(draw_many)
    draw(*drawn_with(NEAR, P_C), 1)
    return draw


def walk_time(goal: int, p_c: float, rounds: int) -> float | None:
    """The seconds of one round with threshold 0, walked in C++; None where it cannot be."""
    if cpp_steps.library() is None:
        return None
    return seconds(partial(cpp_steps.walk_rounds, goal, p_c, rounds)) / rounds


def tables(effort: Effort) -> list[Table]:
    """The far goal against the near one, and against walking."""
    rounds = effort.choose(300, 2000)
    best: dict[str, float] = {"near": math.inf, "far": math.inf, "walk": math.inf}

    def keep(name: str, time: float | None) -> None:
        best[name] = min(best[name], math.inf if time is None else time)

    in_turn(
        {
            "near": lambda: keep("near", sampler_time(NEAR, P_C, 1000 * rounds)),
            "far": lambda: keep("far", sampler_time(FAR, P_C, 1000 * rounds)),
            "walk": lambda: keep("walk", walk_time(FAR, P_C, rounds)),
        },
        effort.passes,
    )
    near, far, walk = (None if time == math.inf else time for time in best.values())
    compiler = "" if walk is not None else cpp_steps.absence()
    return [
        Table(
            f"One round drawn at G = {FAR:,} against G = {NEAR}, p_C = {P_C:g}",
            f"G = {FAR:,}",
            f"G = {NEAR}",
            [Row("drawn", far, near, Target(6), longer=True)],
        ),
        Table(
            f"One round at G = {FAR:,}, p_C = {P_C:g}, drawn against walked",
            "grbp",
            "C++ steps",
            [Row("drawn against walked", far, walk, Target(500), note=compiler)],
        ),
    ]
