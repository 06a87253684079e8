"""Plan how many of the next rounds a learner will play with one threshold.

The longer such a batch is, the less it costs. The learner is asked about a box of counters that so
many rounds will hardly leave. It should be large enough that rounds seldom leave it, and small
enough that the learner's decision is the same all over it. Only speed depends on how well it is
chosen, never results.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.learners.base import Doubt, Stable
from grbp.learners.counters import Counters, Totals
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import uniform
from grbp.worlds.problem import Problem

SPARE_SHORT: Final = 3.0
SPARE_LONG: Final = 6.0
"""Standard deviations to spare in the box of a short and of a long batch."""


FEWEST: Final = 16
"""A batch of fewer rounds is not worth planning."""

_LIKELY: Final = 0.05
"""The chance of an unusual decision above which rounds are played one by one."""

_UNUSUAL: Final = 2.0
"""The number of unusual rounds, about, after which a batch is planned anew."""

FOREVER: Final = 1 << 62
"""More rounds than are ever played."""

Plan: TypeAlias = Callable[..., tuple[int, Doubt]]
"""(constants, counters, goal, threshold, sizes, column, tried, limit, single) -> the length of the
next batch, 1 if it would be too short, and the doubt in it; `tried` is the length of the last."""


class CounterBox(NamedTuple):
    """The most that rounds may add up to, of each kind."""

    f_goal: float
    f_lost: float
    up: float
    down: float
    won: float
    lost: float


def round_sizes(problem: Problem, thresholds: tuple[int, ...]) -> Floats:
    """Compute what one round adds: [threshold, kind, mean or standard deviation or slack].

    The kinds are those of a CounterBox. The slack is what a box has to spare for the few rounds
    that are much longer than others. The deviation of moves up and down is an upper bound.
    """
    return np.array([_sizes_under(problem, threshold) for threshold in thresholds])


def _sizes_under(problem: Problem, threshold: int) -> list[tuple[float, float, float]]:
    goal, p, q = problem.goal, problem.p_c, 1.0 - problem.p_c
    states = np.arange(threshold + 1, goal)
    weight, inner = problem.start_probabilities[threshold:], len(states)
    wins = _solve_tridiagonal(p, q, np.where(states == goal - 1, p, 0.0))
    steps = _solve_tridiagonal(p, q, np.ones(inner))
    squares = _solve_tridiagonal(p, q, 2.0 * steps - 1.0)
    c = float(weight @ steps)
    f = 1.0 - float(weight @ wins) if threshold else 0.0
    won = float(weight @ wins) + f * problem.p_f
    rise = float(weight @ (wins * goal + (1.0 - wins) * threshold - states))
    rise_2 = float(
        weight @ (wins * (goal - states) ** 2 + (1.0 - wins) * (threshold - states) ** 2)
    )
    moved = (math.sqrt(max(0.0, float(weight @ squares) - c * c)) + math.sqrt(rise_2)) / 2.0
    # A long round is less likely by this factor with every step more.
    decay = 2.0 * math.sqrt(p * q) * math.cos(math.pi / (inner + 1)) if inner else 0.0
    slack = 20.0 / -math.log(decay) if decay > 1e-9 else 2.0
    counts = [f * problem.p_f, f * (1.0 - problem.p_f), won, 1.0 - won]
    kinds = [(mean, math.sqrt(max(0.0, mean * (1.0 - mean))), 10.0) for mean in counts]
    moves = [((c + rise) / 2.0, moved, slack), ((c - rise) / 2.0, moved, slack)]
    ordered = [*kinds[:2], *moves, *kinds[2:]]
    return [kind if kind[0] > 0.0 else (0.0, 0.0, 0.0) for kind in ordered]


def _solve_tridiagonal(p: float, q: float, right: Floats) -> Floats:
    """Solve x[i] - p x[i+1] - q x[i-1] = right[i], with x = 0 beyond the ends."""
    ratio, rest = np.zeros(len(right) + 1), np.append(right, 0.0)
    for i in range(len(right)):
        pivot = 1.0 - q * ratio[i - 1]
        ratio[i], rest[i] = p / pivot, (right[i] + q * rest[i - 1]) / pivot
    for i in range(len(right) - 2, -1, -1):
        rest[i] += ratio[i] * rest[i + 1]
    return rest[:-1]


@inlined
def likely_bound(
    sizes: Floats, column: int, kind: int, rounds: float, spare: float, slack: float
) -> float:
    """Compute a number that rounds will hardly add up to more than, of one kind."""
    mean, sd, extra = sizes[column, kind, 0], sizes[column, kind, 1], sizes[column, kind, 2]
    return float(rounds * mean + spare * sd + slack * extra)


@inlined
def choose_box(sizes: Floats, column: int, rounds: int, long: bool) -> CounterBox:
    """Choose a box that a number of rounds will hardly leave: their means, and some to spare.

    A long batch has more to spare, because taking it apart costs more.
    """
    deviations, slack = SPARE_SHORT, 0.1
    if long:
        deviations, slack = SPARE_LONG, 1.0
    k = float(rounds)
    spare = deviations * math.sqrt(k)
    return CounterBox(
        min(k, likely_bound(sizes, column, 0, k, spare, slack)),
        min(k, likely_bound(sizes, column, 1, k, spare, slack)),
        likely_bound(sizes, column, 2, k, spare, slack),
        likely_bound(sizes, column, 3, k, spare, slack),
        min(k, likely_bound(sizes, column, 4, k, spare, slack)),
        min(k, likely_bound(sizes, column, 5, k, spare, slack)),
    )


@inlined
def upper_corner(n: Counters, threshold: int, rounds: int, box: CounterBox) -> Counters:
    """Return the upper corner of a box: the most that counters can be before its last round."""
    in_0 = 1.0 if threshold == 0 else 0.0
    in_1 = 1.0 if threshold == 1 else 0.0
    return Counters(
        n.rho + rounds - 1,
        n.f + box.f_goal + box.f_lost,
        n.f_goal + box.f_goal,
        n.c + box.up + box.down,
        n.c_up + box.up,
        n.plays_0 + in_0 * (box.won + box.lost),
        n.wins_0 + in_0 * box.won,
        n.plays_1 + in_1 * (box.won + box.lost),
        n.wins_1 + in_1 * box.won,
    )


@inlined
def is_inside(t: Totals, box: CounterBox) -> bool:
    """Return whether rounds add up to no more than a box allows."""
    return (
        t.f_goal <= box.f_goal
        and t.f - t.f_goal <= box.f_lost
        and t.c_up <= box.up
        and t.c - t.c_up <= box.down
        and t.won <= box.won
        and t.rounds - t.won <= box.lost
    )


def make_planner(doubt_over: Callable[..., Doubt], certain: bool) -> Plan:
    """Make the kernel that plans for a learner, from the doubt over a box: 0 or 1 if `certain`."""

    def doubt_in(  # noqa: PLR0913, PLR0917 (few arrays, and each by itself: many are slow to pass)
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        rounds: int, single: int,
    ) -> Doubt:  # fmt: skip
        """Return the doubt over the box of a number of rounds: a chance of 1 if too much."""
        box = choose_box(sizes, column, rounds, rounds > single)
        high = upper_corner(n, threshold, rounds, box)
        doubt = doubt_over(goal, constants, n, high)
        if doubt.chance > _LIKELY or doubt.chance * rounds > _UNUSUAL:
            return Doubt(doubt.usual, 1.0, 0.0, 0.0)
        return doubt

    inlined(doubt_in)

    def plan(  # noqa: PLR0913, PLR0917
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        tried: int, limit: int, single: int,
    ) -> tuple[int, Doubt]:  # fmt: skip
        most = min(2 * tried, limit)
        least, best = 1, doubt_in(constants, n, goal, threshold, sizes, column, most, single)
        # Double what fits, if asking is cheap, as it is for a learner that does not draw.
        while best.chance < 1.0:
            least = most
            if least == limit or not certain:
                return least, best
            most = min(2 * least, limit)
            doubt = doubt_in(constants, n, goal, threshold, sizes, column, most, single)
            if doubt.chance == 1.0:
                break
            best = doubt
        # Halve until something fits. Then bisect, if asking is cheap: some changes of mind come
        # at a round that is known beforehand, and the batch should end right there.
        while (least == 1 and most >= 2 * FEWEST) or (
            certain and least > 1 and most - least > (1 if least > single else 1 + least // 32)
        ):
            half = most // 2 if least == 1 else (least + most) // 2
            doubt = doubt_in(constants, n, goal, threshold, sizes, column, half, single)
            if doubt.chance < 1.0:
                least, best = half, doubt
            else:
                most = half
        return least, best

    return kernel(plan)


def make_certainty(stable: Stable) -> Callable[..., Doubt]:
    """Make the kernel that says the doubt over a box of a learner that does not draw: 0 or 1."""
    sure = inlined(stable)

    def doubt_over(goal: int, constants: Any, low: Counters, high: Counters) -> Doubt:
        return Doubt(0, 0.0 if sure(goal, constants, low, high) else 1.0, 0.0, 0.0)

    return inlined(doubt_over)


@inlined
def draw_gap(key: int, chance: float) -> int:
    """Draw how many rounds pass before one in which something of a chance happens."""
    if chance <= 0.0:
        return FOREVER
    if chance >= 1.0:
        return 0
    gap = math.log(1.0 - uniform(key, 0)) / math.log1p(-chance)
    return int(gap) if gap < 4e18 else FOREVER
