"""Studies in worlds whose truth is known, and the alarms that rise in them: many, compiled.

`rises` does what `grbp.Watch.follow` does, move by move; a test holds the two together. The plain
e-processes beside it are what one would write first.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from grbp.fitting.watch import AFTER, BEFORE, MARKS, STRENGTH
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import compile_function, u64
from grbp.numerics.rng import fold_in, uniform

NEVER = -1
CASE, GROUP, STATE, FINISH, SUCCESS = range(5)
"""The columns of moves."""

_AT = np.array(MARKS, dtype=np.float64)
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Truth(NamedTuple):
    """Chances by group, action and state: those of the first case and of the last.

    Attributes
    ----------
    first, last : ndarray, shape (groups, 2, states)
        The chances of CONTINUE and FINISH.
    jump : float
        The share of cases after which the first become the last; 0 if they change evenly.
    finish : float
        How often FINISH is taken, in any state.
    spread : float
        By how much at most the chances of a case lie above or below those of all.
    """

    first: Floats
    last: Floats
    jump: float
    finish: float
    spread: float = 0.0


def _drawn(truth, cases, key):
    """Draws the moves of a study, one case after the other; first states are equally likely."""
    groups, _, states = truth.first.shape
    moves, n = np.zeros((64 * cases, 5), np.int64), 0
    for case in range(cases):
        one = fold_in(u64(key), case)
        group, state, step = case % groups, 1 + int(uniform(one, 0) * states), 1
        part, own = case / cases, truth.spread * (2.0 * uniform(fold_in(one, 1), 0) - 1.0)
        if truth.jump > 0.0:
            part = 1.0 if part >= truth.jump else 0.0
        while 0 < state <= states:
            finish = 1 if uniform(one, step) < truth.finish else 0
            first, last = (
                truth.first[group, finish, state - 1],
                truth.last[group, finish, state - 1],
            )
            well = 1 if uniform(one, step + 1) < first + part * (last - first) + own else 0
            step += 2
            if n == len(moves):
                more = np.zeros((2 * n, 5), np.int64)
                more[:n] = moves
                moves = more
            moves[n] = case + 1, group, state, finish, well
            n += 1
            state = state + 2 * well - 1 if finish == 0 else 0
    return moves[:n]


drawn = compile_function(_drawn)


@njit
def _log_cell(x, y, m, p):
    a, b = m * p, m * (1.0 - p)
    one = math.lgamma(m) - math.lgamma(a) - math.lgamma(b)
    return one + math.lgamma(x + a) + math.lgamma(y + b) - math.lgamma(x + y + m)


@njit
def _log_ratio(over_time, wins, losses, marks, p):
    """Cells are states or groups; over time there is one, which the marks divide."""
    x, y = wins.sum(), losses.sum()
    null = x * math.log(p) + y * math.log1p(-p)
    if not over_time:
        total = 0.0
        for k in range(len(wins)):
            total += _log_cell(wins[k], losses[k], STRENGTH, p)
        return total - null
    terms = np.full(len(marks) + 1, -np.inf)
    for k in range(len(marks)):
        before = _log_cell(marks[k], _AT[k] - marks[k], BEFORE, p)
        after = _log_cell(x - marks[k], y - _AT[k] + marks[k], AFTER, p)
        terms[k] = before + after - math.log(len(_AT))
    if len(marks) < len(_AT):
        terms[-1] = _log_cell(x, y, BEFORE, p) + math.log(1.0 - len(marks) / len(_AT))
    most = terms.max()
    return most + math.log(np.exp(terms - most).sum()) - null


@njit
def _least(over_time, wins, losses, marks, near):
    low, high, left, right = 0.0, 1.0, 1.0 - _GOLDEN, _GOLDEN
    at_left = _log_ratio(over_time, wins, losses, marks, left)
    at_right = _log_ratio(over_time, wins, losses, marks, right)
    while high - low > 1e-6 * min(near, 1.0 - near):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _log_ratio(over_time, wins, losses, marks, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _log_ratio(over_time, wins, losses, marks, right)
    return (at_left, left) if at_left < at_right else (at_right, right)


@njit
def _look(over_time, wins, losses, marks, bar):
    x, y = wins.sum(), losses.sum()
    if x == 0 or y == 0:
        return 1
    p = x / (x + y)
    log = _log_ratio(over_time, wins, losses, marks, p)
    if log >= bar:
        log, p = _least(over_time, wins, losses, marks, p)
    return 0 if log >= bar else math.ceil((bar - log) / -math.log(min(p, 1.0 - p)))


@njit
def _by_groups(counts):
    """The logarithm of the mean of what groups say of both actions."""
    total = 0.0
    for one in counts:
        x, y = one[0].sum(), one[1].sum()
        log = _least(False, one[0], one[1], one[0, :0], x / (x + y))[0] if x * y > 0 else 0.0
        total += math.exp(log) / 2.0
    return math.log(total)


@njit(nogil=True)
def rises(goal, groups, moves, bar):
    """At which cases the five alarms rise, with the logarithm of their bar; -1 for never."""
    by_state, by_group = np.zeros((2, 2, goal - 1)), np.zeros((2, 2, groups))
    told, marks, marked = np.zeros((2, 2, 1)), np.zeros((2, len(_AT))), np.zeros(2, np.int64)
    rose, looks = np.full(5, NEVER), np.zeros((2, 3), np.int64)
    for case, group, state, finish, success in moves:
        by_state[finish, 1 - success, state - 1] += 1.0
        by_group[finish, 1 - success, group] += 1.0
        told[finish, 1 - success, 0] += 1.0
        n, k = told[finish].sum(), marked[finish]
        if k < len(_AT) and n == _AT[k]:
            marks[finish, k] = told[finish, 0, 0]
            marked[finish] += 1
        for kind in range(3):
            alarm = 4 if kind == 2 else 2 * finish + kind
            if rose[alarm] != NEVER or looks[finish, kind] > n:
                continue
            counts = (
                by_state[finish] if kind == 0 else told[finish] if kind == 1 else by_group[finish]
            )
            some = marks[finish, : marked[finish]]
            wait = _look(kind == 1, counts[0], counts[1], some, bar)
            if wait == 0 and kind == 2:
                wait = 0 if _by_groups(by_group) >= bar else 1
            if wait == 0:
                rose[alarm] = case
            looks[finish, kind] = n + wait
    return rose


@njit(nogil=True)
def plain_rises(goal, moves, bar):
    """The same of plain e-processes for CONTINUE and FINISH: by state, and over time.

    By state, each has a Beta(1/2, 1/2) predictor; over time, there is an average of predictors
    that forget with memories 50, 200 and 800. The null has its largest likelihood.
    """
    counts, log_states = np.zeros((2, 2, goal - 1)), np.zeros(2)
    memory, kept = np.array([50.0, 200.0, 800.0]), np.zeros((2, 2, 3))
    log_memory, rose = np.zeros((2, 3)), np.full(4, NEVER)
    for case, _, state, finish, success in moves:
        lost = 1 - success
        one = counts[finish, :, state - 1]
        log_states[finish] += math.log((one[lost] + 0.5) / (one.sum() + 1.0))
        one[lost] += 1.0
        for k in range(3):
            some = kept[finish, :, k]
            log_memory[finish, k] += math.log((some[lost] + 0.5) / (some.sum() + 1.0))
            some *= 1.0 - 1.0 / memory[k]
            some[lost] += 1.0
        x, y = counts[finish, 0].sum(), counts[finish, 1].sum()
        null = 0.0
        if x > 0 and y > 0:
            null = x * math.log(x / (x + y)) + y * math.log(y / (x + y))
        most = log_memory[finish].max()
        over_time = most + math.log(np.exp(log_memory[finish] - most).sum() / 3.0)
        for kind, log in enumerate((log_states[finish], over_time)):
            if rose[2 * finish + kind] == NEVER and log - null >= bar:
                rose[2 * finish + kind] = case
    return rose


@njit
def moves_of_log(log, groups):
    """The moves in the log of a study of `overlap_world`, in the order in which they were told."""
    now, moves, n = np.zeros(len(log), np.int64), np.zeros((len(log), 5), np.int64), 0
    for k in range(len(log)):
        case, to, took = log[k, 1], log[k, 2], log[k, 3]
        if took >= 0:
            moves[n] = case + 1, case % groups, now[case], took, 1 if to > now[case] else 0
            n += 1
        now[case] = to
    return moves[:n]


def chances(*by_group: tuple[object, object], goal: int = 4) -> Floats:
    """Chances by group, action and state, from those of CONTINUE and FINISH: one, or by state."""
    return np.array(
        [[np.broadcast_to(np.asarray(one, float), goal - 1) for one in pair] for pair in by_group]
    )
