"""Rounds of any truth, walked step by step: chains, chances that drift, groups that differ.

On the chain of a problem it plays what `grbp.engine.walk` plays, draw for draw. A learner's
counters are kept for every group and every memory. What a round has lost is the value of the best
policy of its moment less that of the policy played, in its group, averaged over first states.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.engine.recorder import first_counters
from grbp.engine.walk import DONE, Loop
from grbp.learners.base import Decide
from grbp.learners.best_policy import best_by_law, values_by_law
from grbp.learners.counters import Counters
from grbp.learners.memory import Memory, draw_memories, remembered_rho, reweigh
from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import DecidePolicy
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.course import Course
from grbp.worlds.transition import Action, first_state, next_state, state_by_law

_LAST_DRAW: Final = 2**40
"""The index of the draw that chooses a group: no round has so many slots."""

WRONG: Final = DONE + 1
"""The answer of a loop in which a learner decided something that is no policy."""

Ask: TypeAlias = Callable[[int, Any, "Remembered", int], int]
"""(goal, constants, what is known, key of the round's own draws) -> the policy to play."""


class LossRecorder(NamedTuple):
    """Some replicas: their keys, and what they lost up to each checkpoint.

    Attributes
    ----------
    checkpoints : ndarray, shape (checkpoints,)
    keys : ndarray, shape (replicas, 3)
        See `grbp.engine.recorder.Recorder`.
    lost : ndarray, shape (replicas, checkpoints)
    won : ndarray, shape (replicas, checkpoints)
        How many rounds were won.
    once : bool
        Whether the first estimates come from taking each action once.
    pooled : bool
        Whether all groups are counted as one.
    """

    checkpoints: Ints
    keys: Words
    lost: Floats
    won: Ints
    once: bool
    pooled: bool


class Remembered(NamedTuple):
    """What a learner decides from: the parts of two memories of one group.

    Attributes
    ----------
    rho : int
        The round that the learner thinks it is in.
    c, f : ndarray, shape (4, goal - 1)
        CONTINUE up and down, FINISH won and lost, by state: as the memory of CONTINUE, and as that
        of FINISH, holds them.
    jumps : ndarray, shape (goal - 1, goal + 1) or (0, 0)
        Other moves of CONTINUE.
    totals_c, totals_f : ndarray, shape (8,)
        The counters of Algorithm 1 after the round's number.
    """

    rho: int
    c: Floats
    f: Floats
    jumps: Floats
    totals_c: Floats
    totals_f: Floats


class GroupChances(NamedTuple):
    """The chances of a group in a round."""

    up: Floats
    p_f: Floats
    law: Floats


class StepCounts(NamedTuple):
    """What a round showed, by state: up, down, won and lost, a row each; and jumps."""

    counts: Floats
    jumps: Floats


@kernel
def chances_in_round(course: Course, group: int, rho: int) -> GroupChances:
    """Return the chances of a group in a round."""
    column = min(rho, course.stage.shape[1]) - 1
    k, w = course.stage[group, column], course.weight[group, column]
    up, p_f, near = course.up[group, k], course.p_f[group, k], course.law.shape[0] == 0
    law = np.zeros((0, 0)) if near else course.law[group, k]
    if w > 0.0:
        up = (1.0 - w) * up + w * course.up[group, k + 1]
        p_f = (1.0 - w) * p_f + w * course.p_f[group, k + 1]
        if not near:
            law = (1.0 - w) * law + w * course.law[group, k + 1]
    return GroupChances(up, p_f, law)


@kernel
def mean_value(course: Course, group: int, moment: GroupChances, policy: int) -> float:
    """Compute the value of a policy in a moment, averaged over first states."""
    value = values_by_law(moment.up, moment.law, moment.p_f, policy)
    total = 0.0
    for k in range(course.goal - 1):
        total += course.q[group, k] * value[k]
    return total


@kernel
def best_values(course: Course) -> Floats:
    """Compute the best value of every group in every round; one column where nothing changes."""
    groups, rounds = course.stage.shape
    best = np.empty((groups, rounds))
    for g in range(groups):
        for rho in range(rounds):
            moment = chances_in_round(course, g, rho + 1)
            policy = best_by_law(moment.up, moment.law, moment.p_f)
            best[g, rho] = mean_value(course, g, moment, policy)
    return best


@kernel
def _step(goal: int, moment: GroupChances, state: int, finish: int, draw: float) -> int:
    """Return the state after one action, given a uniform draw; a jump is a chain's alone."""
    if finish or moment.law.shape[0] == 0:
        action = Action.FINISH if finish else Action.CONTINUE
        p_c, p_f = moment.up[state - 1], moment.p_f[state - 1]
        return next_state(state, action, goal, p_c, p_f, draw)
    return state_by_law(moment.law[state - 1], state, draw)


@kernel
def play_round(
    goal: int, moment: GroupChances, policy: int, state: int, key: int, seen: StepCounts
) -> int:
    """Play a round from a state under a policy, count what it shows, and return where it ends."""
    slot = 0
    seen.counts[:, :], seen.jumps[:, :] = 0.0, 0.0
    while 0 < state < goal:
        slot += 1
        before, finish = state, (policy >> (state - 1)) & 1
        state = _step(goal, moment, state, finish, uniform(key, slot))
        if finish:
            seen.counts[2 if state == goal else 3, before - 1] += 1.0
        elif abs(state - before) == 1:
            seen.counts[0 if state > before else 1, before - 1] += 1.0
        elif state != before:
            seen.jumps[before - 1, state] += 1.0
    return state


@kernel
def draw_group(cumulative: Floats, key: int) -> int:
    """Draw one of some by their cumulative probabilities, if there are several."""
    last = len(cumulative) - 1
    if last > 0:
        draw = uniform(key, _LAST_DRAW)
        for k in range(last):
            if draw < cumulative[k]:
                return k
    return last


@kernel
def first_totals(
    course: Course, recorder: LossRecorder, r: int, groups: int, memories: int
) -> Floats:
    """Return the counters of Algorithm 1 before round 1, for every group and memory."""
    begin = first_counters(
        course.up[0, 0, 0], course.p_f[0, 0, 0], recorder.once, u64(recorder.keys[r, 2])
    )
    totals = np.zeros((groups, memories, 8))
    totals[:, :, 0], totals[:, :, 1] = begin.f, begin.f_goal
    totals[:, :, 2], totals[:, :, 3] = begin.c, begin.c_up
    return totals


@kernel
def outcomes(counts: Floats, totals: Floats, by_state: bool) -> Floats:
    """Return the counts that foretell; see `grbp.learners.memory.outcomes_of`."""
    if by_state:
        return counts
    pooled = np.empty((len(totals), 4, 1))
    for j in range(len(totals)):
        f, f_goal, c, c_up = totals[j, 0], totals[j, 1], totals[j, 2], totals[j, 3]
        pooled[j, 0, 0], pooled[j, 1, 0] = c_up, c - c_up
        pooled[j, 2, 0], pooled[j, 3, 0] = f_goal, f - f_goal
    return pooled


@kernel
def pool_states(shown: Floats, by_state: bool) -> Floats:
    """Return what a round showed, by state or for all states together."""
    if by_state:
        return shown
    pooled = np.empty((4, 1))
    for k in range(4):
        pooled[k, 0] = shown[k].sum()
    return pooled


@kernel
def count_round(n: Floats, seen: StepCounts, keep: float, policy: int, won: int) -> None:
    """Count a round in the counters of Algorithm 1, after these have lost their part."""
    up, down = seen.counts[0].sum(), seen.counts[1].sum()
    good, bad = seen.counts[2].sum(), seen.counts[3].sum()
    n *= keep
    n[0] += good + bad
    n[1] += good
    n[2] += up + down
    n[3] += up
    if policy <= 1:  # As a threshold, it is the same number.
        n[4 + 2 * policy] += 1.0
        n[5 + 2 * policy] += won


def ask_by_state(decide: DecidePolicy) -> Ask:
    """Make the function that asks a learner by state for a policy."""

    def ask(goal: int, constants: Any, known: Remembered, key: int) -> int:
        counters = StateCounters(
            known.rho, known.c[0], known.c[1], known.f[2], known.f[3], known.jumps
        )
        policy = 0 + decide(goal, constants, counters, key)
        return policy if 0 <= policy < 1 << (goal - 1) else WRONG

    return kernel(ask)


def ask_for_threshold(decide: Decide) -> Ask:
    """Make the function that asks a learner of thresholds for a policy."""

    def ask(goal: int, constants: Any, known: Remembered, key: int) -> int:
        c, f = known.totals_c, known.totals_f
        counters = Counters(known.rho, f[0], f[1], c[2], c[3], c[4], c[5], f[6], f[7])
        threshold = 0 + decide(goal, constants, counters, key)
        return (1 << threshold) - 1 if 0 <= threshold < goal else WRONG

    return kernel(ask)


def make_loss_loop(ask: Ask, by_state: bool) -> Loop:
    """Make the loop that plays every round of a recorder; it returns DONE, or WRONG.

    Paper: alg:GRBP
    Differs: the chances may differ by state, by group and by round, and the learner may forget.
    """

    def walk(
        constants: Any, memory: Memory, course: Course, best: Floats, recorder: LossRecorder
    ) -> int:
        goal, groups = course.goal, 1 if recorder.pooled else len(course.shares)
        count, memories = goal - 1, len(memory.keep)
        far = course.law.shape[2:] if course.law.shape[0] > 0 else (0, 0)
        seen = StepCounts(np.zeros((4, count)), np.zeros(far))
        for r in range(len(recorder.keys)):
            world_key, learner_key = u64(recorder.keys[r, 0]), u64(recorder.keys[r, 1])
            counts = np.zeros((groups, memories, 4, count))
            jumps = np.zeros((groups, memories, far[0], far[1]))
            totals = first_totals(course, recorder, r, groups, memories)
            weights, played = np.empty((groups, 2, memories)), np.zeros(groups, np.int64)
            weights[:] = memory.prior
            rho, lost, won = 0, 0.0, 0
            for checkpoint in range(len(recorder.checkpoints)):
                while rho < recorder.checkpoints[checkpoint]:
                    rho += 1
                    key, own = fold_in(world_key, rho), fold_in(learner_key, rho)
                    group = draw_group(course.shares, key)
                    g = 0 if recorder.pooled else group
                    played[g] += 1
                    drawn = draw_memories(weights[g], own)
                    c, f = drawn
                    known = Remembered(
                        remembered_rho(memory.keep, drawn, played[g]), counts[g, c], counts[g, f],
                        jumps[g, c], totals[g, c], totals[g, f],
                    )  # fmt: skip
                    policy = ask(goal, constants, known, own)
                    if policy == WRONG:
                        return WRONG
                    moment = chances_in_round(course, group, rho)
                    first = first_state(
                        course.starts[group], course.cumulative[group], uniform(key, 0)
                    )
                    end = play_round(goal, moment, policy, first, key, seen)
                    if memories > 1:
                        before = outcomes(counts[g], totals[g], by_state)
                        shown = pool_states(seen.counts, by_state)
                        weights[g] = reweigh(memory, weights[g], before, shown)
                    for i in range(memories):
                        keep = memory.keep[i]
                        counts[g, i] = keep * counts[g, i] + seen.counts
                        jumps[g, i] = keep * jumps[g, i] + seen.jumps
                        count_round(totals[g, i], seen, keep, policy, int(end == goal))
                    column = min(rho, best.shape[1]) - 1
                    lost += best[group, column] - mean_value(course, group, moment, policy)
                    won += int(end == goal)
                recorder.lost[r, checkpoint], recorder.won[r, checkpoint] = lost, won
        return DONE

    return walk
