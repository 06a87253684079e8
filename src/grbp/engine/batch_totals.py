"""Draw what a batch of many rounds adds up to at once, and take it apart where that is needed.

While the threshold does not change, rounds are independent and alike, so only their totals
matter. They are drawn by counts. The numbers of rounds that start in each state are multinomial.
Then all walks hop: from a state at least d = 2^j away from both ends of the interval, a binomial
number of them goes up by d. Hops of length 2^j take time: a walk that leaves a distance of 2^j
does so in pairs of hops half as long, each of which either leaves (both go the same way) or comes
back. So N hops are 2N hops half as long, and twice a negative binomial number more, and so on
down to single steps. Times are independent of sides, so the sums are exact for any number of
rounds.

The totals of a part of the rounds can be drawn given those of all, so that nothing has to be
kept. Every count is exchangeable between rounds: of the walks that were in a state, those that
went up are a hypergeometric draw, and of the failures in a negative binomial number, those of some
of its successes are a beta-binomial one. The draws depend on the key and on the part alone. So
a batch is a tree: its halves, their halves, down to single rounds, each the same whenever it is
drawn.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np

from grbp.engine.exit_time import exit_up
from grbp.learners.counters import Totals
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.counts import (
    beta_binomial_draw,
    binomial_draw,
    hypergeometric_draw,
    negative_binomial_draw,
)
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import fold_in
from grbp.worlds.problem import Problem

ALL, CHOSEN, LATER, FINISHING = 0, 1, 2, 3
"""The rows of `Workspace.counts`: a total and the share of it that a draw chose; the rounds that
start in a later state; those that take FINISH."""

DEEPEST: Final = 62
"""Halvings of a batch: more than any number of rounds has."""


class Part(NamedTuple):
    """A part of a batch: at each of `depth` halvings, the first half (bit 0) or the second.

    The bits are those of `path`, the last halving's the lowest.
    """

    path: int
    depth: int


AnyPart: TypeAlias = Part | None
"""A part of a batch; None is the whole, of which compiled code that takes nothing apart is half."""


class BatchLaw(NamedTuple):
    """The numbers with which batches of a problem's rounds are drawn.

    Attributes
    ----------
    goal : int
    p_f : float
    states : ndarray
        The states in which rounds start.
    share : ndarray
        For each of them, the chance that a round starts there if it starts there or later.
    up : ndarray
        Entry j is the chance that a hop of length 2^j goes up.
    leaves : ndarray
        Entry j is the chance that two such hops go the same way.
    """

    goal: int
    p_f: float
    states: Ints
    share: Floats
    up: Floats
    leaves: Floats


class Workspace(NamedTuple):
    """The memory in which a batch is drawn: about 1,000 bytes a state.

    A row of depth k belongs to the piece of the batch that k halvings towards the part lead to:
    row 0 to the whole, and the last one to the part.

    Attributes
    ----------
    walks : ndarray, shape (2, depths, goal + 1)
        The walks in each state, before and after a hop in turn.
    hops : ndarray, shape (depths, levels)
        The hops of each length.
    counts : ndarray, shape (4, depths)
        The counts of one draw; see ALL.
    starts : ndarray, shape (goal + 1,)
        The part's rounds by first state.
    elsewhere : ndarray, shape (goal + 1,)
        Free to add up the starts of several parts.
    """

    walks: Ints
    hops: Ints
    counts: Ints
    starts: Ints
    elsewhere: Ints


def batch_law(problem: Problem) -> BatchLaw:
    """Compute the numbers with which batches of a problem's rounds are drawn."""
    states = problem.start_table[0].astype(np.int64)
    weights = problem.start_probabilities[states - 1]
    later = np.cumsum(weights[::-1])[::-1]
    share = np.append((weights / later)[:-1], 1.0)
    levels = max(1, problem.goal.bit_length())
    up = np.array([exit_up(problem.p_c, 2**j) for j in range(levels)])
    return BatchLaw(problem.goal, problem.p_f, states, share, up, up * up + (1.0 - up) * (1.0 - up))


def workspace_for(goal: int, depth: int = DEEPEST) -> Workspace:
    """Make the workspace for batches of a goal, and for their parts down to a depth."""
    shapes = [(2, depth + 1, goal + 1), (depth + 1, goal.bit_length() + 1), (4, depth + 1)]
    shapes += [(goal + 1,), (goal + 1,)]
    return Workspace(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


@kernel
def lies_in_second_half(part: Part, halving: int) -> bool:
    """Return whether a part lies in the second half at a halving, counted from 0."""
    return (part.path >> (part.depth - 1 - halving)) & 1 == 1


@kernel
def piece_number(part: Part, halving: int) -> int:
    """Return a number for the piece that is halved there, the same for all parts of it."""
    return (1 << halving) | (part.path >> (part.depth - halving))


@inlined
def depth_of(part: AnyPart) -> int:
    """Return how many halvings lead to a part."""
    return 0 if part is None else part.depth


@kernel
def part_rounds(rounds: int, part: AnyPart) -> int:
    """Count the rounds of a batch that are in a part."""
    if part is None:
        return rounds
    for halving in range(part.depth):
        first = rounds // 2
        rounds = rounds - first if lies_in_second_half(part, halving) else first
    return rounds


@kernel
def draw_chosen(counts: Ints, part: AnyPart, key: int, p: float) -> None:
    """Choose each of counts[ALL] with chance p, and write the numbers chosen to counts[CHOSEN].

    The first number is the whole's; each next one is that of a half of the piece before.
    """
    counts[CHOSEN, 0] = binomial_draw(key, counts[ALL, 0], p)
    if part is None:
        return
    for k in range(part.depth):
        second = lies_in_second_half(part, k)
        within = counts[ALL, k] - counts[ALL, k + 1] if second else counts[ALL, k + 1]
        own = fold_in(key, piece_number(part, k))
        chosen = hypergeometric_draw(own, counts[ALL, k], counts[CHOSEN, k], within)
        counts[CHOSEN, k + 1] = counts[CHOSEN, k] - chosen if second else chosen


@kernel
def draw_failures(counts: Ints, part: AnyPart, key: int, p: float) -> None:
    """Draw the failures before counts[ALL] successes of chance p into counts[CHOSEN].

    The pieces are those of `draw_chosen`.
    """
    counts[CHOSEN, 0] = negative_binomial_draw(key, counts[ALL, 0], p)
    if part is None:
        return
    for k in range(part.depth):
        second = lies_in_second_half(part, k)
        within = counts[ALL, k] - counts[ALL, k + 1] if second else counts[ALL, k + 1]
        failed = 0
        if within == counts[ALL, k]:
            failed = counts[CHOSEN, k]
        elif within > 0:
            a, b = float(within), float(counts[ALL, k] - within)
            failed = beta_binomial_draw(
                fold_in(key, piece_number(part, k)), counts[CHOSEN, k], a, b
            )
        counts[CHOSEN, k + 1] = counts[CHOSEN, k] - failed if second else failed


@kernel
def level_of(state: int, threshold: int, goal: int) -> int:
    """Find the largest j such that both ends of the interval are at least 2^j away."""
    near = min(state - threshold, goal - state)
    level = 0
    while 2 << level <= near:
        level += 1
    return level


@kernel
def open_rounds(
    law: BatchLaw, threshold: int, rounds: int, key: int, part: AnyPart, work: Workspace
) -> tuple[int, int]:
    """Draw where rounds start, state by state out of those that start there or later.

    Rounds that start at the threshold or below finish at once. Returns the number of walks in
    all, and minus the sum of the first states of those in the part.
    """
    counts, depth = work.counts, depth_of(part)
    left = rounds
    for k in range(depth + 1):
        counts[FINISHING, k], counts[LATER, k] = 0, left
        if part is not None and k < depth:
            left = left - left // 2 if lies_in_second_half(part, k) else left // 2
    walking, risen = 0, 0
    for i in range(len(law.states)):
        state = law.states[i]
        for k in range(depth + 1):
            counts[ALL, k] = counts[LATER, k]
        draw_chosen(counts, part, fold_in(key, i), law.share[i])
        work.starts[state] = counts[CHOSEN, depth]
        for k in range(depth + 1):
            counts[LATER, k] -= counts[CHOSEN, k]
            if state > threshold:
                work.walks[0, k, state] = counts[CHOSEN, k]
            else:
                counts[FINISHING, k] += counts[CHOSEN, k]
        if state > threshold:
            walking += counts[CHOSEN, 0]
            risen -= state * counts[CHOSEN, depth]
    return walking, risen


@kernel
def hop_partner(state: int, threshold: int, goal: int, level: int) -> int:
    """Return 1 or -1 if a hop up or down leads to a state from which one leads back; else 0.

    Walks leave such two states together: see `hop_all_from`.
    """
    above, below = state + (1 << level), state - (1 << level)
    if above < goal and level_of(above, threshold, goal) == level:
        return 1
    if below > threshold and level_of(below, threshold, goal) == level:
        return -1
    return 0


@kernel
def hop_all_from(  # noqa: PLR0913, PLR0917 (arrays by themselves: a tuple of many is slow to pass)
    law: BatchLaw, threshold: int, state: int, now: int, key: int, part: AnyPart, work: Workspace
) -> tuple[int, int]:
    """Let all walks in a state hop; count those that end, and the part's that reach the goal.

    A walk that hops up (chance u) to a state from which a hop down (chance d) leads back may do
    so many times. It comes back with chance ud, and how often it does so is independent of
    where it goes in the end: down with chance d/(1 - ud), up by two hops with u^2/(1 - ud).
    """
    counts, walks, depth = work.counts, work.walks, depth_of(part)
    level = level_of(state, threshold, law.goal)
    length, u = 1 << level, law.up[level]
    partner = hop_partner(state, threshold, law.goal, level)
    for k in range(depth + 1):
        counts[ALL, k] = walks[now, k, state]
        walks[now, k, state] = 0
        work.hops[k, level] += counts[ALL, k]
    above, below = state + length, state - length
    if partner != 0:
        stays = u * (1.0 - u)
        draw_failures(counts, part, fold_in(key, 0), 1.0 - stays)
        for k in range(depth + 1):
            work.hops[k, level] += 2 * counts[CHOSEN, k]
        u = u * u / (1.0 - stays) if partner > 0 else u / (1.0 - stays)
        above, below = above + max(0, partner) * length, below + min(0, partner) * length
    draw_chosen(counts, part, fold_in(key, 1), u)
    for k in range(depth + 1):
        rose, fell = counts[CHOSEN, k], counts[ALL, k] - counts[CHOSEN, k]
        if partner != 0:
            work.hops[k, level] += rose if partner > 0 else fell
        if above < law.goal:
            walks[1 - now, k, above] += rose
        if below > threshold:
            walks[1 - now, k, below] += fell
        else:
            counts[FINISHING, k] += fell
    ends = counts[CHOSEN, 0] if above == law.goal else 0
    ends += counts[ALL, 0] - counts[CHOSEN, 0] if below == threshold else 0
    return ends, counts[CHOSEN, depth] if above == law.goal else 0


@kernel
def draw_steps(law: BatchLaw, key: int, part: AnyPart, work: Workspace) -> int:
    """Draw how many steps the part's hops took: each is pairs of hops half as long."""
    counts, hops, depth = work.counts, work.hops, depth_of(part)
    for level in range(hops.shape[1] - 1, 0, -1):
        if hops[0, level] > 0:
            for k in range(depth + 1):
                counts[ALL, k] = hops[k, level]
                hops[k, level] = 0
            draw_failures(counts, part, fold_in(key, level), law.leaves[level - 1])
            for k in range(depth + 1):
                hops[k, level - 1] += 2 * (counts[ALL, k] + counts[CHOSEN, k])
    steps = hops[depth, 0]
    for k in range(depth + 1):
        hops[k, 0] = 0
    return int(steps)


@kernel
def draw_batch(
    law: BatchLaw, threshold: int, rounds: int, key: int, part: AnyPart, work: Workspace
) -> Totals:
    """Draw the totals of a part of a batch of rounds under a threshold.

    Afterwards work.starts has the part's rounds by first state.
    """
    counts, depth = work.counts, depth_of(part)
    walking, risen = open_rounds(law, threshold, rounds, fold_in(key, 0), part, work)
    at_once = counts[FINISHING, depth]
    own = fold_in(key, 1)
    goals, draw, now = 0, 0, 0
    while walking > 0:
        for state in range(threshold + 1, law.goal):
            if work.walks[now, 0, state] > 0:
                ends, won = hop_all_from(law, threshold, state, now, fold_in(own, draw), part, work)
                walking, goals, draw = walking - ends, goals + won, draw + 1
        now = 1 - now
    steps = draw_steps(law, fold_in(key, 2), part, work)
    fallen = counts[FINISHING, depth] - at_once
    c_up = (steps + risen + goals * law.goal + fallen * threshold) // 2
    size = part_rounds(rounds, part)
    if threshold == 0:
        return Totals(size, goals, 0, 0, steps, c_up)
    for k in range(depth + 1):
        counts[ALL, k] = counts[FINISHING, k]
    draw_chosen(counts, part, fold_in(key, 3), law.p_f)
    f, f_goal = counts[FINISHING, depth], counts[CHOSEN, depth]
    return Totals(size, goals + f_goal, f, f_goal, steps, c_up)
