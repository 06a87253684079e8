"""Rounds not walked: drawn whole, and in stretches over which a learner does not change its mind.

A learner that says where its decision is stable is asked about a box of counters that the next
rounds will hardly leave. Up to the first round that leaves it, all rounds have one threshold, and
nobody needs to be asked again. So a stretch is exact whatever the box; a good one saves time.

A learner that draws says how likely, at most, something unusual is in a round of the box. Rounds
where it might be are drawn, a geometric number apart; those between are one stretch.

A learner that says neither is asked in every round, and the round is drawn whole.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._numba.jit import compiled, inlined, kernel
from grbp.engine.leap.batch_totals import Blocks, Room, blocks_of
from grbp.engine.leap.batches import NOTHING, as_block, from_table, plus
from grbp.engine.leap.counter_box import Box, box_of, inside, sizes_of
from grbp.engine.leap.hops import Hops, hop_round, hops_of
from grbp.engine.leap.lookahead import FEWEST, gap_before, planning
from grbp.engine.leap.round_table import PACKED, TABLE_GOAL, Table, Walk, table_of, table_round
from grbp.engine.recorder import Recorder, carry_forward, columns_of, first_counters, keys_of
from grbp.engine.walk import DONE, Loop
from grbp.learners.base import Decide, Stable, Thinning
from grbp.learners.counters import Counters, Round, Totals, add_to, as_totals
from grbp.model.problem import Problem
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.rng import fold_in

STRETCH_GOAL: Final = 4_096
"""The largest goal for which stretches are planned: blocks need memory for every state, and the
steps of 10^12 rounds must fit into 64 bits."""

_WAIT: Final = 8
_LONGEST_WAIT: Final = 1024
"""Rounds before an arm is planned for again, after a plan that failed: at first, and at most."""

_APART: Final = 1 << 32
"""The part of a round's key for what concerns more than that round."""

_NEVER: Final = 1 << 62

_ASK: Final = DONE
"""In place of a threshold, and no learner can mean it: ask the learner, or plan for nothing."""


class Leaps(NamedTuple):
    """What stretches of a problem are planned and drawn with.

    arms     the thresholds
    columns  of `played`, for every threshold; -1 if it is not declared
    sizes    see `sizes_of`
    single   the longest stretch that is drawn round by round
    once     see `World`
    """

    walk: Walk
    table: Table
    hops: Hops
    blocks: Blocks
    arms: Ints
    columns: Ints
    sizes: Floats
    single: int
    once: bool


@lru_cache(maxsize=8)
def leaps_of(problem: Problem, thresholds: tuple[int, ...], once: bool = False) -> Leaps:
    """What stretches of a problem's rounds under some thresholds are drawn with.

    Learners with the same thresholds share it, on the same problem.
    """
    return Leaps(
        Walk(problem.goal, problem.p_c, problem.p_f),
        table_of(problem, thresholds),
        hops_of(problem),
        blocks_of(problem),
        np.array(thresholds, dtype=np.int64),
        columns_of(problem.goal, thresholds),
        sizes_of(problem, thresholds) if problem.goal <= STRETCH_GOAL else np.zeros((1, 1, 1)),
        3 * PACKED if problem.goal <= TABLE_GOAL else 4 * problem.goal,
        once,
    )


def leaping(decide: Decide, stable: Stable | None, thinning: Thinning | None, tabled: bool) -> Loop:
    """The loop that plays every round of a tape with a learner's decisions, in leaps.

    It returns DONE, or a threshold that was not declared. tabled: whether rounds are drawn from
    tables, not by hops.

    Paper: alg:GRBP
    """
    if stable is None and thinning is None:
        return _asking(decide, tabled)
    return _skipping(decide, stable, thinning, tabled)


def _asking(decide: Decide, tabled: bool) -> Loop:
    """The loop for a learner that is asked in every round."""
    play, law_of = _playing(decide, None, tabled), _law_of(tabled)

    def leap(constants: Any, leaps: Leaps, _room: Room, recorder: Recorder) -> int:
        gate = np.empty_like(leaps.columns)
        for threshold in range(len(gate)):
            gate[threshold] = _NEVER if leaps.columns[threshold] >= 0 else 0
        for r in range(len(recorder.keys)):
            world_key, learner_key, init_key = keys_of(recorder, r)
            n = first_counters(leaps.walk.p_c, leaps.walk.p_f, leaps.once, init_key)
            for checkpoint in range(len(recorder.checkpoints)):
                carry_forward(recorder, r, checkpoint)
                n, threshold = play(
                    constants, n, world_key, learner_key, law_of(leaps), leaps.walk, leaps.columns,
                    gate, recorder.played, recorder.won, r, checkpoint,
                    recorder.checkpoints[checkpoint], recorder.stride, recorder.wins, _ASK,
                )  # fmt: skip
                if threshold != _ASK:
                    return int(threshold)
        return DONE

    return leap


def _skipping(  # noqa: C901 (the loop inside counts)
    decide: Decide, stable: Stable | None, thinning: Thinning | None, tabled: bool
) -> Loop:
    """The loop for a learner that says where it does not change its mind."""
    usual = None if thinning is None else thinning.usual
    resolve = kernel(_never if thinning is None else thinning.resolve)
    play, plan = _playing(decide, usual, tabled), planning(stable, thinning)
    short, law_of = _shortly(tabled), _law_of(tabled)
    block_of = compiled(as_block, "blocks of rounds")

    def leap(constants: Any, leaps: Leaps, room: Room, recorder: Recorder) -> int:
        goal, walk, columns, law = leaps.walk.goal, leaps.walk, leaps.columns, law_of(leaps)
        cut = recorder.wins or recorder.stride > 0
        tried = np.empty(len(leaps.arms), dtype=np.int64)
        wait, gate = np.empty_like(tried), np.empty_like(columns)
        for r in range(len(recorder.keys)):
            world_key, learner_key, init_key = keys_of(recorder, r)
            n = first_counters(walk.p_c, walk.p_f, leaps.once, init_key)
            tried[:], wait[:], gate[:] = FEWEST, _WAIT, 0
            checkpoint, resolved = 0, _ASK
            while checkpoint < len(recorder.checkpoints):
                n, threshold = play(
                    constants, n, world_key, learner_key, law, walk, columns, gate,
                    recorder.played, recorder.won, r, checkpoint,
                    recorder.checkpoints[checkpoint], recorder.stride, recorder.wins, resolved,
                )  # fmt: skip
                resolved = _ASK
                if threshold == _ASK:
                    checkpoint += 1
                    if checkpoint < len(recorder.checkpoints):
                        carry_forward(recorder, r, checkpoint)
                    continue
                if not declared(columns, threshold):
                    return int(threshold)
                column = columns[threshold]
                last = recorder.checkpoints[checkpoint] if cut else recorder.checkpoints[-1]
                limit = last - n.rho + 1
                length, doubt = plan(
                    constants, n, goal, threshold, leaps.sizes, column, tried[column], limit,
                    leaps.single,
                )  # fmt: skip
                tried[column] = max(FEWEST, length if length > 1 else tried[column] // 2)
                if length == 1:
                    gate[threshold] = n.rho + wait[column]
                    wait[column] = min(_LONGEST_WAIT, 2 * wait[column])
                    continue
                wait[column] = _WAIT
                gap = gap_before(fold_in(fold_in(learner_key, n.rho), _APART), doubt.chance)
                count = min(length, gap)
                box = box_of(leaps.sizes, column, length, length > leaps.single)
                if length > leaps.single:
                    key = fold_in(fold_in(world_key, n.rho), _APART)
                    t = block_of(leaps.blocks, threshold, key, count, box, room)
                else:
                    t = short(
                        law, walk, column, threshold, world_key, n.rho, count, box, room.starts,
                        recorder.stride > 0,
                    )  # fmt: skip
                checkpoint = count_stretch(recorder, room.starts, r, checkpoint, column, n.rho, t)
                n = add_to(n, threshold, t)
                # A box that has been left says nothing about the next round any more, not even
                # that it is the one in doubt.
                if gap < length and t.rounds == count and inside(t, box):
                    while recorder.checkpoints[checkpoint] < n.rho:
                        checkpoint += 1
                        carry_forward(recorder, r, checkpoint)
                    resolved = resolve(goal, constants, n, doubt, fold_in(learner_key, n.rho))
        return DONE

    return leap


def _playing(  # noqa: C901 (the loop inside counts)
    decide: Decide, usual: Callable[..., int] | None, tabled: bool
) -> Callable[..., tuple[Counters, int]]:
    """The kernel that plays round by round until a look, or until a stretch may be planned."""
    draw = table_draw if tabled else hop_draw
    choose, thinned = inlined(decide), usual is not None
    likely = choose if usual is None else _without_key(usual)

    def play(  # noqa: PLR0913, PLR0917 (one loop, so that all it needs is at hand)
        constants: Any, n: Counters, world_key: int, learner_key: int, law: Any, walk: Walk,
        columns: Ints, gate: Ints, played: Ints, won: Ints, r: int, checkpoint: int, until: int,
        stride: int, wins: bool, resolved: int,
    ) -> tuple[Counters, int]:  # fmt: skip
        """The counters, and the threshold to plan for, or one not declared, or _ASK at a look.

        gate: by threshold, the round from which on it is not played here: it may be planned
        for, or was never declared. That of the first round may have been resolved already.
        """
        goal, answer = walk.goal, _ASK
        column_0, column_1, played_0, played_1 = columns[0], columns[1], 0, 0
        while n.rho <= until:
            threshold = resolved
            if resolved == _ASK:
                answer = likely(goal, constants, n, fold_in(learner_key, n.rho))
                if not 0 <= answer < goal or n.rho >= gate[answer]:
                    break
                threshold = (
                    choose(goal, constants, n, fold_in(learner_key, n.rho)) if thinned else answer
                )
            if thinned and not declared(columns, threshold):
                answer = threshold
                break
            resolved, answer, key = _ASK, _ASK, fold_in(world_key, n.rho)
            # A branch for each threshold, though all do the same: the processor guesses it,
            # and draws the round while the decision is still being computed. The usual two are
            # counted in variables of their own: that is faster than in an array.
            if threshold == 0:
                one = draw(law, walk, column_0, 0, key)
                n, played_0 = add_to(n, 0, as_totals(one)), played_0 + 1
            elif threshold == 1:
                one = draw(law, walk, column_1, 1, key)
                n, played_1 = add_to(n, 1, as_totals(one)), played_1 + 1
            else:
                one = draw(law, walk, columns[threshold], threshold, key)
                n = add_to(n, threshold, as_totals(one))
                played[r, checkpoint, columns[threshold]] += 1 if stride == 0 else 0
            if stride > 0:
                played[r, checkpoint, columns[threshold] + stride * (one.first - 1)] += 1
            if wins:
                won[r, checkpoint] += one.won
        if stride == 0:
            played[r, checkpoint, max(0, column_0)] += played_0
            played[r, checkpoint, max(0, column_1)] += played_1
        return n, answer

    return kernel(play)


def _without_key(usual: Callable[..., int]) -> Decide:
    """What a learner usually plays, asked as it is asked for a decision."""
    guess = kernel(usual)

    def likely(goal: int, constants: Any, n: Counters, _key: int) -> int:
        return guess(goal, constants, n)

    return kernel(likely)


def _shortly(tabled: bool) -> Callable[..., Totals]:
    """The kernel that draws a short stretch, up to the first round that leaves a box."""
    draw = table_draw if tabled else hop_draw

    def short(  # noqa: PLR0913, PLR0917
        law: Any, walk: Walk, column: int, threshold: int, world_key: int, rho: int, count: int,
        box: Box, starts: Ints, by_start: bool,
    ) -> Totals:  # fmt: skip
        """The totals of rounds from rho on; by_start, starts has how many started where."""
        t = NOTHING
        if by_start:
            starts[:] = 0
        elif tabled:
            t = from_table(law, walk, column, threshold, world_key, rho, count, box)
        while t.rounds < count and inside(t, box):
            one = draw(law, walk, column, threshold, fold_in(world_key, rho + t.rounds))
            starts[one.first] += 1
            t = plus(t, as_totals(one))
        return t

    return kernel(short)


def _law_of(tabled: bool) -> Callable[[Leaps], Any]:
    """The kernel that takes from Leaps what rounds are drawn with."""

    def table(leaps: Leaps) -> Table:
        return leaps.table

    def hops(leaps: Leaps) -> Hops:
        return leaps.hops

    return kernel(table if tabled else hops)


@inlined
def table_draw(law: Table, walk: Walk, column: int, threshold: int, key: int) -> Round:
    """A round from a table."""
    return table_round(law, walk, column, threshold, key)


@kernel
def hop_draw(law: Hops, walk: Walk, _arm: int, threshold: int, key: int) -> Round:
    """A round by hops."""
    return hop_round(law, walk, threshold, key)


@inlined
def declared(columns: Ints, threshold: int) -> bool:
    """Whether a threshold is one, and among those that the learner may play."""
    return 0 <= threshold < len(columns) and bool(columns[threshold] >= 0)


@kernel
def count_stretch(  # noqa: PLR0913, PLR0917
    recorder: Recorder, starts: Ints, r: int, checkpoint: int, column: int, rho: int, t: Totals
) -> int:
    """The look that comes next when the rounds of a stretch, from rho on, have been counted."""
    checkpoints, played, end = recorder.checkpoints, recorder.played, rho + t.rounds - 1
    if recorder.wins:
        recorder.won[r, checkpoint] += t.won
    if recorder.stride > 0:
        for state in range(1, len(starts) - 1):
            played[r, checkpoint, column + recorder.stride * (state - 1)] += starts[state]
        return checkpoint
    while checkpoints[checkpoint] < end:
        played[r, checkpoint, column] += checkpoints[checkpoint] - rho + 1
        rho = checkpoints[checkpoint] + 1
        checkpoint += 1
        carry_forward(recorder, r, checkpoint)
    played[r, checkpoint, column] += end - rho + 1
    return checkpoint


def _never(_goal: int, _: Any, _n: Counters, _doubt: Any, _key: int) -> int:
    """Nothing to resolve, for a learner that does not draw."""
    return _ASK
