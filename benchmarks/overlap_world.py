"""Studies of the live advisor in a world whose truth is known: many of them, compiled.

The rules (`grbp.live.recording`, over the store in memory) take a third of a second for a study of
2,000 cases, and the tables need a hundred thousand studies. So the loop below does what the rules
do, and `audit` plays what it did again, verb by verb, through the rules themselves: every threshold
and all that every decision was made from must be the same. `overlap.py` audits some studies of
every setting that it prints.
"""

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import grbp
from grbp.learners.base import Decide
from grbp.learners.comparison import finish_is_right
from grbp.learners.counters import Counters, initial_counters, with_pending
from grbp.live.calls import Call
from grbp.live.config import make_config
from grbp.live.recording import record
from grbp.live.store.memory import MemoryStore
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import LEARNER, OPENING, OVERRULE, WORLD, fold_in, replica_key, uniform

DAY = 86_400
"""The seconds of a day; the clock of a study counts seconds."""

OBSERVED, ISSUED, FORESEEN = 0, 1, 2
"""Which FINISH counts as taken before it is told: none; if it is advised now, which is the rule;
also, by its estimated chance, if its case may still come down to where it is advised."""

STATE, THRESHOLD, PENDING, F, F_GOAL, C, C_UP, FORCED = range(8)
"""What is kept of a case: where it was opened, what was decided, what was known then (observed
counts), and whether a FINISH was taken in it only to learn."""

AT, CASE, NEXT, TOOK = range(4)
"""A verb of the log: when, in which case, which state was told, after which action (-1: opened)."""

_FORCED, _AMISS, _HELD, _SINCE, _STEP, _ACTION, _AFTER, _NOW, _TAU = range(9)
_OPENED, _PENDING, _VERBS = range(3)
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_MOST_STEPS = 40
"""Steps of a case for which there is room, on average."""


class World(NamedTuple):
    """A truth, and how a team meets it.

    Attributes
    ----------
    goal, p_c, p_f
        The truth; all first states are equally likely.
    cases : int
        The cases of a study.
    in_flight : int
        So many cases are open at any time; 0 if one is opened every day, whatever is open.
    pace, spread
        The days until an outcome is told, on average; exponential if `spread` is 1, else fixed.
    late : int
        By how many days later a goal is told.
    window, both : int
        The days after which a FINISH counts (0: at once); also a CONTINUE if `both` is 1.
    overrule, anywhere
        The probability that an action is not the one advised: in state 1, and in every state if
        `anywhere` is 1.
    counting : int
        `OBSERVED`, `ISSUED` or `FORESEEN`.
    past : int
        The cases of the records to begin with, each with half a FINISH and two CONTINUE; 0 for
        drawn first estimates.
    """

    goal: int
    p_c: float
    p_f: float
    cases: int = 2000
    in_flight: int = 1
    pace: float = 1.0
    spread: int = 1
    late: int = 0
    window: int = 0
    both: int = 0
    overrule: float = 0.0
    anywhere: int = 0
    counting: int = ISSUED
    past: int = 0


Due: TypeAlias = list[tuple[int, int]]
"""A heap of what is to come: when, and in which case; for a held step, 4 * case + what it was."""


class Study(NamedTuple):
    """What a study consists of while it is played.

    Attributes
    ----------
    cases : ndarray, shape (cases, 9)
        The cases, a column for each of the names above.
    tally : ndarray, shape (3,)
        The cases opened, FINISH pending, and verbs.
    seen : ndarray, shape (4,)
        FINISH and those to the goal, CONTINUE and those up, as far as they count.
    credit : ndarray, shape (2, 2)
        Cases over with threshold 0 and 1, and those of them won.
    """

    cases: Ints
    tally: Ints
    seen: Ints
    credit: Ints


def studying(decide: Decide) -> Callable[..., float]:
    """The loop that plays a study: it fills what is kept and the log, and returns the regret."""
    kernel(decide)

    def study(  # noqa: PLR0913, PLR0917
        constants: Any, world: World, keys: Words, start: Counters, loss: Floats, s: Study,
        kept: Ints, log: Ints,
    ) -> float:  # fmt: skip
        regret, now, told, held = 0.0, 0, [(0, 0)], [(0, 0)]
        told.pop()
        held.pop()
        while s.tally[_OPENED] < world.cases or len(told) > 0:
            rho = int(s.tally[_OPENED]) + 1
            arrival = now if world.in_flight else rho * DAY
            room = len(told) < world.in_flight
            if world.in_flight == 0:
                room = len(told) == 0 or arrival < told[0][0]
            if rho <= world.cases and room:
                now, case = arrival, rho - 1
                _ripen(world, s, held, now)
                known = _known(world, s, told, start, start.rho + rho - 1)
                tau = 0 + decide(world.goal, constants, known, fold_in(u64(keys[1]), known.rho))
                one = s.cases[case]
                one[_NOW] = 1 + int(uniform(fold_in(u64(keys[0]), rho), 0) * (world.goal - 1))
                one[_SINCE], one[_TAU] = now, tau
                up, down = known.c_up, known.c - known.c_up
                if tau > 0 and not finish_is_right(world.goal, known.f_goal, known.f, up, down):
                    one[_FORCED] = 1
                kept[case, STATE], kept[case, THRESHOLD] = one[_NOW], tau
                kept[case, PENDING] = s.tally[_PENDING]
                kept[case, F : C_UP + 1] = s.seen
                s.tally[_OPENED] += 1
                s.tally[_PENDING] += one[_NOW] <= tau
            else:
                now, case = heappop(told)
                one = s.cases[case]
                _tell(world, s, held, case, now)
                if one[_FORCED] == 1 and one[_ACTION] == 1 and one[_AMISS] == 0:
                    kept[case, FORCED] = 1
            verb = log[s.tally[_VERBS]]
            verb[AT], verb[CASE], verb[NEXT] = now, case, one[_NOW]
            verb[TOOK] = one[_ACTION] if one[_STEP] else -1
            s.tally[_VERBS] += 1
            if 0 < one[_NOW] < world.goal:
                heappush(told, (_act(world, s, keys, case, now), case))
                regret += loss[one[_ACTION], one[_NOW]]
        return regret

    return study


@kernel
def _known(world: World, s: Study, told: Due, start: Counters, rho: int) -> Counters:
    """Return the counters to decide a case from."""
    n = Counters(
        rho, start.f + s.seen[0], start.f_goal + s.seen[1], start.c + s.seen[2],
        start.c_up + s.seen[3], float(s.credit[0, 0]), float(s.credit[0, 1]),
        float(s.credit[1, 0]), float(s.credit[1, 1]),
    )  # fmt: skip
    issued = float(s.tally[_PENDING]) if world.counting != OBSERVED else 0.0
    if world.counting == FORESEEN:
        for _, case in told:
            tau, state = s.cases[case, _TAU], s.cases[case, _NOW]
            if 0 < tau < state:
                issued += _comes_down(world.goal - tau, state - tau, n.c_up / n.c)
    return with_pending(n, rho, issued)


@kernel
def _comes_down(length: int, height: int, p: float) -> float:
    """Compute the chance of coming down to 0 before `length`; p is that of a step up."""
    r, below, all_ = (1.0 - p) / max(p, 1e-9), 0.0, 0.0
    for k in range(length):
        below += r**k if k < height else 0.0
        all_ += r**k
    return 1.0 - below / all_


@kernel
def _act(world: World, s: Study, keys: Words, case: int, now: int) -> int:
    """Take the next action of a case; draw what comes of it, and return when that is told."""
    one, key = s.cases[case], fold_in(u64(keys[0]), case + 1)
    one[_STEP] += 1
    step = int(one[_STEP])
    finish = one[_NOW] <= one[_TAU]
    if one[_NOW] == 1 or world.anywhere == 1:
        finish = finish != (uniform(fold_in(u64(keys[2]), case + 1), step) < world.overrule)
    well = uniform(key, step) < (world.p_f if finish else world.p_c)
    one[_ACTION] = 1 if finish else 0
    if finish:
        one[_AFTER] = world.goal if well else 0
    else:
        one[_AFTER] = one[_NOW] + (1 if well else -1)
    days = world.pace
    if world.spread == 1:
        days *= -math.log(1.0 - uniform(fold_in(key, 1), step))
    if one[_AFTER] == world.goal:
        days += world.late
    return now + int(days * DAY)


@kernel
def _tell(world: World, s: Study, held: Due, case: int, now: int) -> None:
    """Tell what came of the last action of an open case, as `grbp.live.recording.tell` does."""
    one = s.cases[case]
    finish, advised = one[_ACTION] == 1, one[_NOW] <= one[_TAU]
    well = one[_AFTER] > one[_NOW]
    mature = int(one[_SINCE]) + (world.window * DAY if finish or world.both == 1 else 0)
    s.tally[_PENDING] -= advised
    if mature > now:
        heappush(held, (mature, 4 * case + 2 * finish + well))
        s.tally[_PENDING] += finish
        one[_HELD] += 1
    else:
        _count(s, finish, well)
    if finish != advised:
        one[_AMISS] = 1
    one[_NOW], one[_SINCE] = one[_AFTER], now
    if 0 < one[_NOW] < world.goal:
        s.tally[_PENDING] += one[_NOW] <= one[_TAU]
    else:
        _settle(world, s, case)


@kernel
def _count(s: Study, finish: bool, well: bool) -> None:
    """Count a step."""
    first = 0 if finish else 2
    s.seen[first] += 1
    s.seen[first + 1] += well


@kernel
def _settle(world: World, s: Study, case: int) -> None:
    """Count a case for its threshold if it is over, mature, and was played with it."""
    one = s.cases[case]
    over = not 0 < one[_NOW] < world.goal
    if over and one[_HELD] == 0 and one[_AMISS] == 0 and one[_TAU] < 2:
        s.credit[one[_TAU], 0] += 1
        s.credit[one[_TAU], 1] += one[_NOW] == world.goal


@kernel
def _ripen(world: World, s: Study, held: Due, now: int) -> None:
    """Count the steps that are mature by now."""
    while len(held) > 0 and held[0][0] <= now:
        _, step = heappop(held)
        case, finish = step // 4, step // 2 % 2
        _count(s, finish == 1, step % 2 == 1)
        s.tally[_PENDING] -= finish
        s.cases[case, _HELD] -= 1
        _settle(world, s, case)


class Played(NamedTuple):
    """A study that was played: its regret, its cases and its log."""

    regret: float
    cases: Ints
    log: Ints


def played(learner: str, world: World, seed: int) -> Played:
    """Plays the study of a seed."""
    keys = np.array([replica_key(seed, part, 0) for part in (WORLD, LEARNER, OVERRULE)], np.uint64)
    many = _MOST_STEPS * world.cases
    shapes = (world.cases, 9), 3, 4, (2, 2)
    study = Study(*(np.zeros(shape, np.int64) for shape in shapes))
    kept, log = np.zeros((world.cases, 8), np.int64), np.zeros((many, 4), np.int64)
    loop, constants = _loop(learner, world.goal)
    start, loss = first_counters(world, seed), losses(*world[:3])
    regret = loop(constants, world, keys, start, loss, study, kept, log)
    return Played(regret, kept, log[: study.tally[_VERBS]])


def first_counters(world: World, seed: int) -> Counters:
    """The counters before the first case of a study."""
    key, f, c = replica_key(seed, OPENING, 0), world.past // 2, 2 * world.past
    if not world.past:
        return initial_counters(uniform(key, 0), uniform(key, 1))
    won = sum(uniform(fold_in(key, 1), k) < world.p_f for k in range(f))
    up = sum(uniform(fold_in(key, 2), k) < world.p_c for k in range(c))
    return Counters(world.past + 1, float(f), float(won), float(c), float(up), 0.0, 0.0, 0.0, 0.0)


@cache
def _loop(learner: str, goal: int) -> tuple[Callable[..., float], Any]:
    """The compiled loop of a learner, and its constants."""
    found = grbp.find_learner(learner, goal)
    return compile_function(studying(found.decide)), found.constants


@cache
def losses(goal: int, p_c: float, p_f: float) -> Floats:
    """What each action in each state loses against the best that can be done from there."""
    problem = grbp.Problem(goal, p_c, p_f)
    best = grbp.optimal_threshold(problem)
    lost = grbp.value_at(problem, best)[:, None] - grbp.q_at(problem, best)
    return np.maximum(np.vstack([np.zeros(2), lost]).T, 0.0)


def audit(learner: str, world: World, seed: int) -> None:
    """Plays a study again by the rules of the live advisor, and refuses any difference."""
    study, windows = played(learner, world, seed), {"finish": world.window}
    if world.both:
        windows["continue"] = world.window
    settings = {
        "seed": seed, "shadow": False, "windows": windows if world.window else None, "level": 0.95,
        "start": first_counters(world, seed) if world.past else "drawn",
    }  # fmt: skip
    config = make_config("audit", world.goal, learner, None, settings)
    store = MemoryStore()
    _by_rules(store, 0, "study", config=vars(config))
    for at, case, state, took in study.log.tolist():
        if took >= 0:
            action = ("continue", "finish")[took]
            told = {"case": case + 1, "state": state, "took": action}
            _by_rules(store, at, "tell", why="as it happened", **told)
            continue
        opened = _by_rules(store, at, "open", state=state).case
        _, *known, pending = json.loads(opened.known)
        theirs = [opened.threshold, pending, *np.subtract(known[:4], config.first[1:5])]
        if not np.allclose(theirs, study.cases[case, THRESHOLD : C_UP + 1]):
            raise SystemExit(f"{learner}, {world}, seed {seed}: the rules open case {case} as"
                             f" {theirs}, the loop as {study.cases[case]}")  # fmt: skip


def _by_rules(store: MemoryStore, at: int, kind: str, **asked: object) -> Any:
    """What is recorded by the rules at a time."""
    now = (_BEGAN + timedelta(seconds=at)).isoformat(timespec="microseconds")
    return store.write("audit", lambda tx: record(tx, Call("audit", now), kind, **asked))
