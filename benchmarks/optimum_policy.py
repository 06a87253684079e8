"""A policy by dynamic programming that reckons with how p_C is learned on the way.

p_C is put on a scale psi on which a round of CONTINUE tells the same everywhere, so that the
estimate after t rounds is psi plus a normal error of variance 1/t. The state is the rounds that
are over, the samples of FINISH, the share of them that were won, and that estimate. Rounds and
samples are counted one by one at first, then in steps of a few percent. That is a model; what the
policy is worth is found by playing it.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.jit import compile_function, kernel
from optimum_world import Player, door_value, in_parts, moves, reach

FAR = 6.0
"""The standard deviations beyond which a normal variable is not followed."""


class Fineness(NamedTuple):
    """How fine the grids are."""

    one_by_one: int = 60
    ratio: float = 1.04
    shares: int = 120
    estimates: int = 160
    hidden: int = 4000


FINE = Fineness()


class Scale(NamedTuple):
    """p_C on a scale on which a round tells the same everywhere."""

    psi: Floats
    p_c: Floats
    weight: Floats
    share: Floats
    worth: Floats
    grid: Floats


class Means(NamedTuple):
    """What is believed for every estimate on the grid: means, and the variance of psi."""

    psi: Floats
    variance: Floats
    p_c: Floats
    share: Floats
    worth: Floats


def scale(goal: int, fine: Fineness) -> Scale:
    """Make the scale, with the values of p_C that are reckoned with and the grid of estimates."""
    angles = np.linspace(0.0, 0.5 * math.pi, 20 * fine.hidden + 1)
    middles = np.sin(0.5 * (angles[1:] + angles[:-1])) ** 2
    lengths = 2.0 * np.sqrt(moves(goal, middles)) * np.diff(angles)  # sqrt(nu/(p (1-p))) dp
    psi_at = np.concatenate([[0.0], np.cumsum(lengths)])
    edges = np.linspace(0.0, psi_at[-1], fine.hidden + 1)
    p_edges = np.sin(np.interp(edges, psi_at, angles)) ** 2
    p_c = 0.5 * (p_edges[1:] + p_edges[:-1])
    share = reach(goal, p_c)
    grid = np.linspace(-1.0, psi_at[-1] + 1.0, fine.estimates)
    middle = 0.5 * (edges[1:] + edges[:-1])
    return Scale(middle, p_c, np.diff(p_edges), share, share * door_value(goal, p_c), grid)


def _means(s: Scale, t: Any, answer: Means) -> None:
    """Nothing; averages over p_C for every estimate after t rounds."""
    for k in range(len(s.grid)):
        nearest = min(max(s.grid[k], s.psi[0]), s.psi[-1])
        total = 0.0
        for h in range(len(s.psi)):
            away = (s.psi[h] - s.grid[k]) ** 2 - (nearest - s.grid[k]) ** 2
            if 0.5 * t * away > 0.5 * FAR * FAR:
                continue
            w = s.weight[h] * math.exp(-0.5 * t * away)
            total += w
            answer.psi[k] += w * s.psi[h]
            answer.variance[k] += w * s.psi[h] ** 2
            answer.p_c[k] += w * s.p_c[h]
            answer.share[k] += w * s.share[h]
            answer.worth[k] += w * s.worth[h]
        answer.psi[k] /= total
        answer.variance[k] = max(0.0, answer.variance[k] / total - answer.psi[k] ** 2)
        answer.p_c[k] /= total
        answer.share[k] /= total
        answer.worth[k] /= total


def means(s: Scale, t: int) -> Means:
    """What is believed for every estimate after t rounds."""
    answer = Means(*np.zeros((len(Means._fields), len(s.grid))))
    compile_function(_means)(s, t, answer)
    return answer


def _spread(grid: Any, mean: Any, variance: Any, matrix: Any) -> None:
    """Nothing; puts normal variables on the grid, with their means and variances."""
    h = grid[1] - grid[0]
    for k in range(len(mean)):
        if variance[k] > 2.0 * h * h:
            sd = math.sqrt(2.0 * (variance[k] - h * h / 12.0))
            before = 0.0
            for i in range(len(grid)):
                last = i == len(grid) - 1
                below = 1.0 if last else 0.5 * math.erfc((mean[k] - grid[i] - 0.5 * h) / sd)
                matrix[k, i], before = below - before, below
            continue
        wide = 1 if variance[k] < 0.7 * h * h else 2
        i = min(max(round((mean[k] - grid[0]) / h), wide), len(grid) - 1 - wide)
        off = (mean[k] - grid[i]) / (wide * h)
        moved = min(1.0, max(variance[k] / (wide * h) ** 2 + off * off, abs(off)))
        off = min(max(off, -moved), moved)
        matrix[k, i + wide] += 0.5 * (moved + off)
        matrix[k, i - wide] += 0.5 * (moved - off)
        matrix[k, i] += 1.0 - moved


def steps(s: Scale, now: Means, t: int, later: int) -> Floats:
    """The probabilities with which an estimate after t rounds becomes others later."""
    matrix = np.zeros((len(s.grid), len(s.grid)))
    spread = compile_function(_spread)
    if t == 0:
        every = np.zeros((len(s.psi), len(s.grid)))
        spread(s.grid, s.psi, np.full(len(s.psi), 1.0 / later), every)
        matrix[:] = s.weight @ every
        return matrix
    fresh = 1.0 - t / later
    mean = s.grid + fresh * (now.psi - s.grid)
    spread(s.grid, mean, fresh**2 * now.variance + (later - t) / later**2, matrix)
    return matrix


def counts(fine: Fineness, most: int) -> Ints:
    """The numbers that are reckoned with: one by one at first, then in steps of some percent."""
    found = list(range(min(fine.one_by_one, most) + 1))
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, round(found[-1] * fine.ratio))))
    return np.array(found)


class Samples(NamedTuple):
    """The samples of FINISH: how many, the means that are reckoned with, and where they lead."""

    taken: Ints
    size: Ints
    mean: Floats
    to: Ints
    chance: Floats


def samples(fine: Fineness, rounds: int) -> Samples:
    """The means of p_F after every number of samples, and how they change with the next ones."""
    taken, even = counts(fine, rounds), even_shares(fine.shares)
    rows = [(np.arange(n + 1) + 1) / (n + 2) if n <= fine.one_by_one else even for n in taken]
    size = np.array([len(row) for row in rows])
    shape = len(rows), int(size.max())
    mean, to, chance = np.zeros(shape), np.zeros((*shape, 4), np.int64), np.zeros((*shape, 4))
    for j, row in enumerate(rows):
        mean[j, : len(row)] = row
        if j + 1 == len(rows):
            break
        weight, after = taken[j] + 2.0, taken[j + 1] + 2.0
        for k, p in enumerate(row):
            sd = math.sqrt(p * (1.0 - p) / (weight + 1.0) * (1.0 - weight / after))
            if after <= fine.one_by_one + 2.0:
                to[j, k, :2], chance[j, k, :2] = (k, k + 1), (1.0 - p, p)
            else:
                to[j, k], chance[j, k] = two_ways(rows[j + 1], p, sd)
    return Samples(taken, size, mean, to, chance)


def even_shares(count: int) -> Floats:
    """Probabilities that are evenly spread as angles, where variances are alike."""
    return np.sin((np.arange(count) + 0.5) * 0.5 * math.pi / count) ** 2


def two_ways(row: Floats, p: float, sd: float) -> tuple[Ints, Floats]:
    """Four points of a row and their chances, with the mean p and, if it can be, a deviation."""
    k = int(np.argmin(np.abs(row - p)))
    if 0 < k < len(row) - 1 and row[k] == p:
        for wide in range(1, min(k, len(row) - 1 - k) + 1):
            down, up = p - row[k - wide], row[k + wide] - p
            lower, upper = sd**2 / (down * (down + up)), sd**2 / (up * (down + up))
            if lower + upper <= 1.0:
                chances = [lower, 1.0 - lower - upper, upper, 0.0]
                return np.array([k - wide, k, k + wide, 0]), np.array(chances)
    to, chance = [], []
    for end in (max(p - sd, row[0]), min(p + sd, row[-1])):
        i = min(max(int(np.searchsorted(row, end)), 1), len(row) - 1)
        up = min(max((end - row[i - 1]) / (row[i] - row[i - 1]), 0.0), 1.0)
        to += [i - 1, i]
        chance += [0.5 - 0.5 * up, 0.5 * up]
    return np.array(to), np.array(chance)


def _decide_all(  # noqa: PLR0913, PLR0917 (a compiled loop)
    t: Any, pace: Any, f: Samples, now: Means, first: Any, last: Any, step: Any, value: Any,
    answer: Any, least: Any, columns: Any,
) -> None:  # fmt: skip
    """Nothing; fills in gains and the least mean of p_F at which FINISH is right, at one time.

    `pace` is how many rounds pass until the next time, at which `value` is known.
    """
    top = len(f.taken) - 1
    waited = np.zeros((2, value.shape[1]))
    for x in columns:
        share, worth = now.share[x], now.worth[x]
        for j in range(top, -1, -1):
            here, above = waited[j % 2], waited[(j + 1) % 2]
            for k in range(f.size[j]):
                here[k] = 0.0
                for i in range(first[x], last[x] + 1):
                    here[k] += step[x, i] * value[j, k, i]
            if j > 4 and f.taken[j - 4] > t:
                continue
            ahead = f.taken[min(j + 1, top)] - f.taken[j] if j < top else 1
            # Either at most one jump in the samples, or jumps while the time stands still.
            slow = j == top or share * pace <= ahead
            jump = share * pace / ahead
            jump = 0.0 if j == top else jump if slow else jump / (1.0 + jump)
            length = pace if slow else pace * (1.0 - jump)
            before, lost = -1, 0.0
            least[j, x] = 0.0
            for k in range(f.size[j]):
                gained = 0.0
                for e in range(4):
                    to = f.to[j, k, e]
                    gained += f.chance[j, k, e] * (above[to] if slow else answer[j + 1, to, x])
                better = length * (f.mean[j, k] * share - worth) + jump * (gained - here[k])
                answer[j, k, x] = here[k] + max(0.0, better)
                if better < 0.0:
                    before, lost, least[j, x] = k, better, 1.5
                elif k > 0 and before == k - 1:
                    part = -lost / (better - lost)
                    least[j, x] = f.mean[j, k - 1] + part * (f.mean[j, k] - f.mean[j, k - 1])


class Table(NamedTuple):
    """The policy: the least mean of p_F at which FINISH is right, by time, samples and p_C."""

    rounds: Ints
    taken: Ints
    row: Ints
    column: Ints
    least: Floats


def best_policy(goal: int, rounds: int, fine: Fineness = FINE) -> Player:
    """The policy for a known number of rounds."""
    s, f, times = scale(goal, fine), samples(fine, rounds), counts(fine, rounds)
    value = np.zeros((len(f.taken), f.mean.shape[1], len(s.grid)), np.float32)
    means_of_p_c = even_shares(fine.estimates)
    least = np.zeros((len(times) - 1, len(f.taken), fine.estimates), np.float32)
    loop = compile_function(_decide_all)
    for i in range(len(times) - 2, -1, -1):
        t, later = int(times[i]), int(times[i + 1])
        now = means(s, t)
        step = steps(s, now, t, later)
        reached = step > 1e-7
        ends = reached.argmax(1), len(s.grid) - 1 - reached[:, ::-1].argmax(1)
        answer, cut = np.zeros_like(value), np.full((len(f.taken), len(s.grid)), 1.5)
        play = partial(loop, t, later - t, f, now, *ends, step, value, answer, cut)
        in_parts(play, np.arange(len(s.grid)))
        for j, row in enumerate(cut):
            least[i, j] = np.interp(means_of_p_c, now.p_c, row) if t else row[len(row) // 2]
        value = answer
    places = np.arange(rounds + 1)
    row = np.minimum(np.searchsorted(times, places, "right") - 1, len(times) - 2)
    column = np.minimum(np.searchsorted(f.taken, places, "right") - 1, len(f.taken) - 2)
    return Player(by_table, Table(times, f.taken, row, column, least))


@kernel
def by_table(_: int, table: Table, n: Counters, _key: int) -> int:
    """Take FINISH in state 1 if the mean of p_F is what the table asks for, between its places."""
    won, up = math.floor(n.f_goal), math.floor(n.c_up)
    taken, c = won + math.floor(n.f - n.f_goal), up + math.floor(n.c - n.c_up)
    t = n.rho - 1
    i, j = table.row[t], table.column[taken]
    late = (t - table.rounds[i]) / (table.rounds[i + 1] - table.rounds[i])
    more = (taken - table.taken[j]) / (table.taken[j + 1] - table.taken[j])
    if i + 1 == len(table.least):
        late = 0.0
    size = table.least.shape[2]
    place = math.asin(math.sqrt((up + 1.0) / (c + 2.0))) * size / (0.5 * math.pi) - 0.5
    k = min(max(int(place), 0), size - 2)
    high = min(max(place - k, 0.0), 1.0)
    least = 0.0
    for a in range(2 if late > 0.0 else 1):
        for b in range(2 if more > 0.0 else 1):
            weight = (late if a == 1 else 1.0 - late) * (more if b == 1 else 1.0 - more)
            cuts = table.least[i + a, j + b]
            least += weight * ((1.0 - high) * cuts[k] + high * cuts[k + 1])
    return 1 if (won + 1.0) / (taken + 2.0) >= least else 0
