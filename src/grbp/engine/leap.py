"""Play rounds without walking them: one at a time, or in batches under one threshold.

A learner that says where its decision is stable is asked about a box of counters that the next
rounds will hardly leave. Up to the first round that leaves the box, all rounds have one threshold
and are one batch. So a batch is exact whatever the box is; a good box saves time.

A learner that draws bounds the chance of an unusual decision in any round of the box. By thinning,
the rounds in which one may come are a geometric number apart, and the learner resolves them; the
rounds between are one batch.

A learner that says neither is asked in every round, and the round is drawn whole.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.engine.ahead import compile_draw
from grbp.engine.batch_plan import (
    FEWEST,
    FOREVER,
    CounterBox,
    choose_box,
    draw_gap,
    is_inside,
    make_certainty,
    make_planner,
    round_sizes,
)
from grbp.engine.batch_totals import BatchLaw, Workspace, batch_law
from grbp.engine.batches import (
    NOTHING,
    add_totals,
    draw_from_table,
)
from grbp.engine.hops import Hops, hop_round, make_hops
from grbp.engine.recorder import (
    Recorder,
    StepLaw,
    begin_replica,
    carry_forward,
    columns_of,
    end_replica,
)
from grbp.engine.round_table import PACKED, TABLE_GOAL, RoundTable, make_table, table_round
from grbp.engine.walk import DONE, Loop
from grbp.learners.base import Decide, Stable, Thinning
from grbp.learners.counters import Counters, Round, Totals, add_to, as_totals
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import fold_in
from grbp.worlds.problem import Problem

BATCH_GOAL: Final = 4_096
"""The largest goal for which batches are planned: they need memory for every state, and the
steps of 10^12 rounds must fit into 64 bits."""

_WAIT: Final = 8
_LONGEST_WAIT: Final = 1024
"""Rounds before a threshold is planned for again, when a plan failed: at first, and at most."""

_APART: Final = 1 << 32
"""The part of a round's key for draws that concern more than that round."""

LEFT: Final = DONE + 1
"""The answer of a loop in which a long batch left its box, and would have to be taken apart."""

_ASK: Final = DONE
"""In place of a threshold, which no learner can mean: ask the learner, or plan for nothing."""


class Leaps(NamedTuple):
    """The tables with which a problem's rounds are planned and drawn.

    Attributes
    ----------
    world : StepLaw
    table : RoundTable
        The law of single rounds of a small goal.
    hops : Hops
        The law of single rounds of a larger goal. The one of the two that is not used is empty.
    batches : BatchLaw
        The law of batches.
    columns : ndarray, shape (goal,)
        The column of every threshold in a recorder; -1 if it is not declared.
    sizes : ndarray, shape (thresholds, 6, 3)
        What a round adds to a box; see `round_sizes`.
    single : int
        The longest batch that is drawn round by round.
    """

    world: StepLaw
    table: RoundTable
    hops: Hops
    batches: BatchLaw
    columns: Ints
    sizes: Floats
    single: int


@lru_cache(maxsize=8)
def make_leaps(problem: Problem, thresholds: tuple[int, ...]) -> Leaps:
    """Make the tables for a problem's rounds under some thresholds; learners share them."""
    goal = problem.goal
    return Leaps(
        StepLaw(goal, problem.p_c, problem.p_f),
        make_table(problem, thresholds),
        make_hops(problem),
        batch_law(problem),
        columns_of(goal, thresholds),
        round_sizes(problem, thresholds) if goal <= BATCH_GOAL else np.zeros((1, 1, 1)),
        3 * PACKED if goal <= TABLE_GOAL else 4 * goal,
    )


def make_leap_loop(  # noqa: C901, PLR0915 (the loop inside counts)
    decide: Decide,
    stable: Stable | None,
    thinning: Thinning | None,
    tabled: bool,
    apart: bool = True,
) -> Loop:
    """Make the loop that plays every round of a recorder in leaps.

    The loop returns DONE, or a threshold that the learner played without having declared it.
    Rounds are drawn from tables if `tabled`, else in hops. Long batches that leave their boxes are
    taken `apart`; a loop that cannot do that, of which there is less to compile, returns LEFT.

    Notes
    -----
    Paper: alg:GRBP
    """
    # What is false here has no branch in the compiled loop.
    planned, thinned = stable is not None or thinning is not None, thinning is not None
    plan: Any = None
    if stable is not None:
        plan = make_planner(make_certainty(stable), True)
    elif thinning is not None:
        plan = make_planner(kernel(thinning.doubt), False)
    resolve: Any = None if thinning is None else kernel(thinning.resolve)
    play = _make_play_kernel(decide, thinning, tabled)
    draw_short = _make_short_batch(tabled)
    draw_long: Any = compile_draw(apart) if planned else None

    def leap(  # noqa: C901, PLR0912 (one loop: what it calls is compiled by itself)
        constants: Any, leaps: Leaps, work: Workspace, recorder: Recorder
    ) -> int:
        goal, world, columns = leaps.world.goal, leaps.world, leaps.columns
        law = leaps.table if tabled else leaps.hops
        cut = recorder.wins or recorder.stride > 0
        tried = np.empty(len(leaps.sizes), dtype=np.int64)
        wait, gate = np.empty_like(tried), np.empty_like(columns)
        for threshold in range(goal):
            gate[threshold] = FOREVER if columns[threshold] >= 0 else 0
        for r in range(len(recorder.keys)):
            world_key, learner_key, n = begin_replica(world, recorder, r)
            if planned:
                tried[:], wait[:], gate[:] = FEWEST, _WAIT, 0
            checkpoint, resolved = 0, _ASK
            while checkpoint < len(recorder.checkpoints):
                n, threshold = play(
                    constants, n, world_key, learner_key, law, world, columns, gate,
                    recorder.played, recorder.won, r, checkpoint,
                    recorder.checkpoints[checkpoint], recorder.stride, recorder.wins, resolved,
                )  # fmt: skip
                resolved = _ASK
                if threshold == _ASK:
                    checkpoint += 1
                    if checkpoint < len(recorder.checkpoints):
                        carry_forward(recorder, r, checkpoint)
                    continue
                if not planned or not is_declared(columns, threshold):
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
                gap = draw_gap(fold_in(fold_in(learner_key, n.rho), _APART), doubt.chance)
                count = min(length, gap)
                box = choose_box(leaps.sizes, column, length, length > leaps.single)
                if length <= leaps.single:
                    t = draw_short(
                        law, world, column, threshold, world_key, n.rho, count, box, work.starts,
                        recorder.stride > 0,
                    )  # fmt: skip
                else:
                    key = fold_in(fold_in(world_key, n.rho), _APART)
                    t = draw_long(leaps.batches, threshold, key, count, box, work)
                    if not (apart or is_inside(t, box)):
                        return LEFT
                checkpoint = record_batch(recorder, work.starts, r, checkpoint, column, n.rho, t)
                n = add_to(n, threshold, t)
                # Once the box is left, nothing is known about the next round, not even that it is
                # the one in doubt.
                if thinned and gap < length and t.rounds == count and is_inside(t, box):
                    while recorder.checkpoints[checkpoint] < n.rho:
                        checkpoint += 1
                        carry_forward(recorder, r, checkpoint)
                    resolved = resolve(goal, constants, n, doubt, fold_in(learner_key, n.rho))
            end_replica(recorder, r, n)
        return DONE

    return leap


def _make_play_kernel(  # noqa: C901 (the loop inside counts)
    decide: Decide, thinning: Thinning | None, tabled: bool
) -> Callable[..., tuple[Counters, int]]:
    """Make the kernel that plays round by round until a checkpoint, or a batch may be planned."""
    draw: Callable[..., Round] = table_round if tabled else hop_round
    choose, thinned = inlined(decide), thinning is not None
    usual: Any = choose if thinning is None else kernel(thinning.usual)

    def play(  # noqa: C901, PLR0913, PLR0917 (one loop, so that all it needs is at hand)
        constants: Any, n: Counters, world_key: int, learner_key: int, law: Any, world: StepLaw,
        columns: Ints, gate: Ints, played: Ints, won: Ints, r: int, checkpoint: int, until: int,
        stride: int, wins: bool, resolved: int,
    ) -> tuple[Counters, int]:  # fmt: skip
        """Return the counters, and a threshold to plan for or not declared; _ASK at a checkpoint.

        gate has, by threshold, the round from which on it is not played here, because it may be
        planned for or was never declared. The first threshold may have been resolved already.
        """
        goal, answer = world.goal, _ASK
        column_0, column_1, played_0, played_1 = columns[0], columns[1], 0, 0
        while n.rho <= until:
            threshold = resolved
            if resolved == _ASK:
                # Added to 0, a bool is a number, compiled as well.
                if thinned:
                    answer = 0 + usual(goal, constants, n)
                else:
                    answer = 0 + usual(goal, constants, n, fold_in(learner_key, n.rho))
                if not 0 <= answer < goal or n.rho >= gate[answer]:
                    break
                threshold = (
                    choose(goal, constants, n, fold_in(learner_key, n.rho)) if thinned else answer
                )
            if thinned and not is_declared(columns, threshold):
                answer = threshold
                break
            resolved, answer, key = _ASK, _ASK, fold_in(world_key, n.rho)
            # There is a branch for each threshold, though all do the same: the processor guesses
            # it, and draws the round while the decision is still being computed. The usual two
            # are counted in variables of their own, which is faster than in an array.
            if threshold == 0:
                one = draw(law, world, column_0, 0, key)
                n, played_0 = add_to(n, 0, as_totals(one)), played_0 + 1
            elif threshold == 1:
                one = draw(law, world, column_1, 1, key)
                n, played_1 = add_to(n, 1, as_totals(one)), played_1 + 1
            else:
                one = draw(law, world, columns[threshold], threshold, key)
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


def _make_short_batch(tabled: bool) -> Callable[..., Totals]:
    """Make the kernel that draws a batch round by round, up to the first that leaves a box."""
    draw: Callable[..., Round] = table_round if tabled else hop_round

    def draw_short_batch(  # noqa: PLR0913, PLR0917
        law: Any, world: StepLaw, column: int, threshold: int, world_key: int, rho: int, count: int,
        box: CounterBox, starts: Ints, by_start: bool,
    ) -> Totals:  # fmt: skip
        """Draw rounds from rho on; if by_start, count them by first state in starts."""
        t = NOTHING
        if by_start:
            starts[:] = 0
        elif tabled:
            t = draw_from_table(law, world, column, threshold, world_key, rho, count, box)
        while t.rounds < count and is_inside(t, box):
            one = draw(law, world, column, threshold, fold_in(world_key, rho + t.rounds))
            starts[one.first] += 1
            t = add_totals(t, as_totals(one))
        return t

    return kernel(draw_short_batch)


@inlined
def is_declared(columns: Ints, threshold: int) -> bool:
    """Return whether the learner may play a threshold: it is one, and was declared."""
    return 0 <= threshold < len(columns) and bool(columns[threshold] >= 0)


@kernel
def record_batch(  # noqa: PLR0913, PLR0917
    recorder: Recorder, starts: Ints, r: int, checkpoint: int, column: int, rho: int, t: Totals
) -> int:
    """Count the rounds of a batch, from rho on, and return the checkpoint that comes next."""
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
