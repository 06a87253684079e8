"""Play one planned study after another: cases that overlap, are told late, or are overruled.

With one case at a time and nothing else, this is Algorithm 1 as `grbp.engine.walk` plays it, bit
for bit. A case is a round; all that happens in it is told when its outcome is.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.engine.recorder import first_counters
from grbp.engine.walk import DONE, Starts
from grbp.learners.base import Decide
from grbp.learners.counters import NOBODY, Counters, Totals, add_to, play, with_pending
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import inlined, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.planning.confidence import (
    DOWNS,
    LOSSES,
    UPS,
    WINS,
    find_sure_threshold,
    is_inside_box,
    is_sure,
)
from grbp.worlds.transition import first_state

_CREDIT, _WON, _F, _C, _UP = 0, 1, 2, 3, 4
"""The places of what happened in a case; the first is the threshold that gets the credit."""

NEVER: Final = 2**62
"""The case after which one was sure for the first time, where one never was."""


class Design(NamedTuple):
    """The numbers of a study that do not change from case to case.

    Attributes
    ----------
    goal, p_c, p_f
        The truth.
    overlap : int
        A case is decided when the outcomes up to so many cases before it are known.
    late_wins : int
        By how many cases later a goal is told.
    overrule : float
        The probability that a case is played with the other threshold.
    level : float
        The probability from which on one is sure.
    look_from : int
        The case after which one looks for the first time whether one is sure.
    stops : bool
        Whether learning stops as soon as one is sure.
    before : Counters
        What the records hold with which the study begins.
    """

    goal: int
    p_c: float
    p_f: float
    overlap: int
    late_wins: int
    overrule: float
    level: float
    look_from: int
    stops: bool
    before: Counters


class Log(NamedTuple):
    """Some replicas of a study: their keys, and what is kept of them at each checkpoint.

    Attributes
    ----------
    checkpoints : ndarray, shape (checkpoints,)
        The numbers of cases after which one looks.
    keys : ndarray, shape (replicas, 4)
        The keys of the cases, the learner's draws, the first estimates and what is overruled.
    threshold : ndarray, shape (replicas, checkpoints)
        The threshold that the next case would be played with; at the end, the last one again.
    sure : ndarray, shape (replicas, checkpoints)
        The threshold of which one is sure; -1 where there is none.
    lost : ndarray, shape (replicas, checkpoints)
        The goals lost on average by what was played.
    taken : ndarray, shape (replicas, checkpoints)
        How often FINISH was taken, told or not.
    seen : ndarray, shape (replicas, checkpoints, 4)
        What is known: ups, downs, wins and losses, the records included.
    first : ndarray, shape (replicas, 2)
        After how many cases one was first sure of threshold 0, and of 1.
    """

    checkpoints: Ints
    keys: Words
    threshold: Ints
    sure: Ints
    lost: Floats
    taken: Ints
    seen: Ints
    first: Ints


StudyLoop: TypeAlias = Callable[..., int]
"""A loop over the replicas and cases of a log; it returns DONE or a wrong threshold."""


def make_study_loop(decide: Decide) -> StudyLoop:
    """Make the loop that plays every study of a log.

    The loop returns DONE, or a threshold that the learner decided without having declared it.
    """
    kernel(decide)

    def study(constants: Any, design: Design, starts: Starts, gaps: Floats, log: Log) -> int:
        goal, before, last = design.goal, design.before, log.checkpoints[-1]
        # A case waits here until it is told, each in the place of the one told before.
        waiting = np.zeros((design.overlap + design.late_wins, 5), dtype=np.int64)
        seen, box = np.zeros(4, dtype=np.int64), np.zeros((2, 3), dtype=np.int64)
        for r in range(len(log.keys)):
            world_key, learner_key = u64(log.keys[r, 0]), u64(log.keys[r, 1])
            first = log.first[r]
            n = _start_counters(design, u64(log.keys[r, 2]), seen, box, first)
            pending, settled, checkpoint, rho, taken, lost = 0, NOBODY, 0, 0, 0, 0.0
            while checkpoint < len(log.checkpoints):
                rho += 1
                if settled == NOBODY:
                    n, told = _tell(design, n, waiting, rho, seen)
                    pending -= told
                    sure = _first_sure(design, seen, box, first, rho - 1)
                    if design.stops:
                        settled = sure
                threshold = settled
                if settled == NOBODY:
                    # After the last case one asks how it would be played with all that is known: a
                    # learner who was told its number would begin anew beyond it.
                    known = with_pending(n, before.rho + min(rho, last), float(pending))
                    # Added to 0, a bool is a number, compiled as well.
                    threshold = 0 + decide(goal, constants, known, fold_in(learner_key, rho))
                    if not 0 <= threshold < goal or gaps[threshold] < 0.0:
                        return threshold
                if rho > log.checkpoints[checkpoint]:
                    log.threshold[r, checkpoint] = threshold
                    log.sure[r, checkpoint] = find_sure_threshold(goal, seen, design.level, box)
                    log.lost[r, checkpoint], log.taken[r, checkpoint] = lost, taken
                    log.seen[r, checkpoint, :] = seen
                    checkpoint += 1
                credit = threshold
                if uniform(u64(log.keys[r, 3]), rho) < design.overrule:
                    threshold, credit = (1 if threshold == 0 else 0), NOBODY
                key = fold_in(world_key, rho)
                start = first_state(starts[0], starts[1], uniform(key, 0))
                one = play(goal, design.p_c, design.p_f, threshold, start, key)
                place = waiting[rho % len(waiting)]
                place[_CREDIT], place[_WON], place[_F] = credit, one.won, one.f
                place[_C], place[_UP] = one.c, one.c_up
                pending += one.f
                taken += one.f
                lost += gaps[threshold]
        return DONE

    return study


@kernel
def _start_counters(design: Design, key: int, seen: Ints, box: Ints, first: Ints) -> Counters:
    """Return the counters before the first case: what the records hold.

    For an action that they never tried, there is a first estimate, as without records.
    """
    before = design.before
    n = first_counters(design.p_c, design.p_f, False, key)
    seen[UPS], seen[DOWNS] = int(before.c_up), int(before.c - before.c_up)
    seen[WINS], seen[LOSSES] = int(before.f_goal), int(before.f - before.f_goal)
    box[:, :2] = -1
    box[:, 2] = 2
    first[:] = NEVER
    f, f_goal = (before.f, before.f_goal) if before.f > 0.0 else (n.f, n.f_goal)
    c, c_up = (before.c, before.c_up) if before.c > 0.0 else (n.c, n.c_up)
    return Counters(
        n.rho + before.rho, f, f_goal, c, c_up,
        before.plays_0, before.wins_0, before.plays_1, before.wins_1,
    )  # fmt: skip


@kernel
def _tell(design: Design, n: Counters, waiting: Ints, rho: int, seen: Ints) -> tuple[Counters, int]:
    """Settle what is told before a case is decided; return also how many FINISH were told.

    A goal that is told late keeps back the last transition of its case, and that the case ended.
    """
    told, late = 0, design.late_wins
    case = rho - design.overlap
    if case > 0:
        credit, won, f, c, up = _case(waiting, case)
        if late > 0 and won == 1:
            rest = 1 - f
            n = _settle(n, NOBODY, Totals(0, 0, 0, 0, c - rest, up - rest), seen)
        else:
            n, told = _settle(n, credit, Totals(1, won, f, won * f, c, up), seen), f
    if late > 0 and case > late:
        credit, won, f, c, up = _case(waiting, case - late)
        if won == 1:
            n = _settle(n, credit, Totals(1, 1, f, f, 1 - f, 1 - f), seen)
            told += f
    return n, told


@inlined
def _case(waiting: Ints, case: int) -> tuple[int, int, int, int, int]:
    """Return what happened in a case that waits to be told."""
    one = waiting[case % len(waiting)]
    return int(one[_CREDIT]), int(one[_WON]), int(one[_F]), int(one[_C]), int(one[_UP])


@inlined
def _settle(n: Counters, credit: int, totals: Totals, seen: Ints) -> Counters:
    """Return the counters after what was told, and add it to what was seen."""
    seen[UPS] += totals.c_up
    seen[DOWNS] += totals.c - totals.c_up
    seen[WINS] += totals.f_goal
    seen[LOSSES] += totals.f - totals.f_goal
    return add_to(n, credit, totals)


@inlined
def _first_sure(design: Design, seen: Ints, box: Ints, first: Ints, cases: int) -> int:
    """Return the threshold of which one is sure for the first time after so many cases, or -1."""
    sure = NOBODY
    if cases >= design.look_from:
        for threshold in range(2):
            if (
                first[threshold] == NEVER
                and not is_inside_box(seen, threshold, box)
                and is_sure(design.goal, seen, design.level, threshold, box)
            ):
                first[threshold] = cases
                sure = threshold
    return sure
