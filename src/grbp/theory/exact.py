"""Exact answers about one problem: values, boundary, gaps, round length.

An array over states starts at state 1 and ends at state goal - 1. A policy is a threshold
(FINISH in the states up to it) or one action for every state. Between two neighbouring
states that finish, or are terminal, the round is a plain gambler's ruin, so every formula
here is `ruin.hit` on such a segment; nothing is obtained by subtracting two near numbers.
"""

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np

from grbp.errors import TooLarge
from grbp.model.problem import (
    Action,
    Policy,
    Problem,
    check_goal,
    check_probabilities,
    check_probability,
    check_whole,
    finish_mask,
)
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.theory.ruin import duration, hit, log_failure_ratio, log_hit

MOST_ENUMERATED_GOAL = 23
"""The largest goal for which all 2^(goal-1) policies are enumerated (4 million at 23)."""

MOST_SLOTS = 100_000_000
"""The longest round whose law is carried forward slot by slot."""

TIE = 8 * float(np.finfo(float).eps)
"""How near p_f and the boundary count as equal, relative to the boundary: rounding error."""

WIDE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Decimal arithmetic for the two differences that must survive cancellation."""


class Region(StrEnum):
    """On which side of the boundary a problem lies.

    Paper: eqn:boundaryP
    """

    EXPLORATION = "exploration"
    NO_EXPLORATION = "no-exploration"


class RoundLength(NamedTuple):
    """The law of the number of slots of a round, as far as it was asked for.

    goal[k]      the probability that the round ends at the goal after exactly k slots
    dead_end[k]  the same for the dead end
    beyond       the probability that it takes more slots than were asked for
    """

    goal: Floats
    dead_end: Floats
    beyond: float


@overload
def boundary(goal: int, p_c: float) -> float: ...
@overload
def boundary(goal: int, p_c: Sequence[float] | Floats) -> Floats: ...
def boundary(goal: int, p_c: float | Sequence[float] | Floats) -> float | Floats:
    """B(p_c), the chance of reaching the goal from state 1 by continuing: (1-r)/(1-r^G).

    FINISH is right in state 1 from p_f = B on. An array of p_c gives an array. B(0) = 0,
    B(1/2) = 1/G and B(1) = 1.

    Paper: eqn:boundaryP
    Differs: 1/2, 0 and 1 are limits of one formula, not cases; it cannot overflow, and is
    rounded once, so that the same float comes out on every machine.
    """
    goal = check_goal(goal)
    if np.ndim(p_c) == 0:
        return _rounded_boundary(goal, check_probability("p_c", p_c))
    p = check_probabilities("p_c", p_c)
    return np.array([_rounded_boundary(goal, x) for x in p.ravel().tolist()]).reshape(p.shape)


def optimal_threshold(problem: Problem) -> int:
    """1 where p_f >= B(p_c), else 0; what agrees to the last digits is a tie and gives 1.

    Paper: lemma:GINFreduction
    Paper: thm:tauinf
    """
    return 1 if excess(problem) >= 0.0 else 0


def region(problem: Problem) -> Region:
    """Where the problem lies: FINISH must be explored exactly where it is never right.

    Paper: eqn:boundaryP
    """
    return Region.NO_EXPLORATION if optimal_threshold(problem) else Region.EXPLORATION


def value_at(problem: Problem, policy: Policy) -> Floats:
    """V(s), the probability of reaching the goal from every state s under a policy.

    p_f where it finishes; elsewhere V(a) Pr(a before b) + V(b) Pr(b before a) with a and b
    the nearest states below and above in which the walk stops.

    Paper: lemma:ExpRew
    Differs: one form for every policy; the paper gives thresholds 0 and 1.
    """
    seg = _segments(problem, policy)
    below = np.where(seg.a > 0, problem.p_f, 0.0)
    above = np.where(seg.b < problem.goal, problem.p_f, 1.0)
    return np.where(seg.finish, problem.p_f, below * seg.down + above * seg.up)


def log_value_at(problem: Problem, policy: Policy) -> Floats:
    """log V(s) for every state, also where V(s) itself underflows; -inf where it is 0.

    Paper: lemma:ExpRew
    """
    seg = _segments(problem, policy)
    i, n = seg.i, seg.n
    log_pf = math.log(problem.p_f) if problem.p_f > 0.0 else -math.inf
    below = np.where(seg.a > 0, log_pf, -np.inf)
    above = np.where(seg.b < problem.goal, log_pf, 0.0)
    log_r = log_failure_ratio(problem.p_c)
    small = np.logaddexp(below + log_hit(n - i, n, -log_r), above + log_hit(i, n, log_r))
    # Next to 1 the digits are in what is missing: 1 - V.
    lost = np.where(seg.a > 0, 1.0 - problem.p_f, 1.0) * seg.down
    lost = lost + np.where(seg.b < problem.goal, 1.0 - problem.p_f, 0.0) * seg.up
    large = np.log1p(-np.minimum(lost, 0.5))
    return np.where(seg.finish, log_pf, np.where(lost < 0.5, large, small))


def value(problem: Problem, policy: Policy) -> float:
    """V, the probability that a round reaches the goal, averaged over its first state."""
    return problem.start_mean(value_at(problem, policy))


def q_at(problem: Problem, policy: Policy) -> Floats:
    """Q(s, action): one action in s, then the policy; a row a state, a column an Action.

    Paper: eqn:bellval
    """
    v = np.concatenate(([0.0], value_at(problem, policy), [1.0]))
    q = np.empty((problem.goal - 1, len(Action)))
    q[:, Action.CONTINUE] = problem.p_c * v[2:] + (1.0 - problem.p_c) * v[:-2]
    q[:, Action.FINISH] = problem.p_f
    return q


def gap_max(problem: Problem) -> float:
    """Delta_max = |p_f - B(p_c)|: what the wrong action in state 1 costs.

    Paper: lemma:DeltaBound
    """
    return abs(excess(problem))


def gap_at(problem: Problem, policy: Policy) -> Floats:
    """V*(s) - V(s) for every state: what a policy loses from there.

    For the threshold that is not optimal (0 or 1) this is the paper's Delta(s), the
    probability of ever standing in state 1 times Delta_max.

    Paper: lemma:DeltaBound
    Differs: any policy, not only the two thresholds.
    """
    seg = _segments(problem, policy)
    p_f, goal = problem.p_f, problem.goal
    log_r = log_failure_ratio(problem.p_c)
    over = excess(problem)
    # What FINISH loses in a state s: V*(s) - p_f, as a sum of positive terms.
    up_from_1 = hit(problem.states - 1, goal - 1, log_r)
    if optimal_threshold(problem):
        finishing = (1.0 - p_f) * up_from_1
    else:
        finishing = -over + float(hit(goal - 1, goal, -log_r)) * up_from_1
    padded = np.concatenate(([0.0], finishing, [0.0]))
    loss = np.where(seg.finish, finishing, seg.down * padded[seg.a] + seg.up * padded[seg.b])
    if optimal_threshold(problem) and not seg.finish[0]:
        # The policy walks through state 1, where it should finish, up to its first stop b.
        b = int(seg.b[0])
        s = np.arange(1, b)
        wrong = p_f * float(hit(b - 1, b, -log_r)) if b < goal else over
        up, down = hit(s - 1, b - 1, log_r), hit(b - s, b - 1, -log_r)
        loss[: b - 1] = wrong * down + padded[b] * up
    return loss


def gap(problem: Problem, policy: Policy | None = None) -> float:
    """Delta_pi, the loss of a policy averaged over the first state.

    Without a policy: that of the threshold (0 or 1) that is not optimal, which is
    p_{F,1} Delta_max.

    Paper: cor:ucbgap
    """
    if policy is None:
        return finish_probability(problem) * gap_max(problem)
    return problem.start_mean(gap_at(problem, policy))


def policy_gaps(problem: Problem) -> Floats:
    """Delta_pi of all 2^(goal-1) deterministic policies; bit s-1 of the index: FINISH in s.

    Paper: thm:UCB1Reg
    """
    goal = problem.goal
    if goal > MOST_ENUMERATED_GOAL:
        raise TooLarge(
            f"a goal of {goal:,} has 2^{goal - 1:,} deterministic policies; they are enumerated"
            f" only up to a goal of {MOST_ENUMERATED_GOAL}"
        )
    # A gap is a sum over the stretches between stops, so the policies whose highest stop is b
    # are those whose highest stop is some a < b, plus the stretch from a to b: bit order.
    q = problem.start_probabilities
    ending: list[Floats] = [np.zeros(1)]
    for b in range(1, goal + 1):
        parts = []
        for a in range(b):
            stops = np.zeros(goal - 1, dtype=bool)
            stops[[x - 1 for x in (a, b) if 0 < x < goal]] = True
            loss = gap_at(problem, stops) * q
            parts.append(ending[a] + math.fsum(loss[a : min(b, goal - 1)]))
        ending.append(np.concatenate(parts))
    return ending[goal]


def finish_probability(problem: Problem, policy: Policy = 1) -> float:
    """The probability that a round ends by FINISH; under threshold 1, the paper's p_{F,1}.

    Paper: lemma:MinNumPBinf
    Paper: cor:probs
    Differs: the corollary as stated (it is commented out) is wrong; its proof is right.
    """
    return problem.start_mean(_finish_at(problem, policy))


def continue_probability(problem: Problem, policy: Policy = 1) -> float:
    """The probability that a round continues at least once; under 1, the paper's p_{C,1}.

    Paper: lemma:MinNumPBinf
    """
    walks = ~finish_mask(problem.goal, policy)
    return problem.start_mean(walks.astype(np.float64))


def continues_at(problem: Problem, policy: Policy) -> Floats:
    """The expected number of CONTINUE in a round under a policy, for every first state."""
    seg = _segments(problem, policy)
    return np.where(seg.finish, 0.0, duration(seg.i, seg.n, log_failure_ratio(problem.p_c)))


def slots_at(problem: Problem, policy: Policy) -> Floats:
    """The expected number of slots of a round under a policy, for every first state."""
    return continues_at(problem, policy) + _finish_at(problem, policy)


def expected_continues(problem: Problem, policy: Policy) -> float:
    """The expected number of CONTINUE in a round, averaged over its first state."""
    return problem.start_mean(continues_at(problem, policy))


def expected_slots(problem: Problem, policy: Policy) -> float:
    """The expected number of slots of a round, averaged over its first state."""
    return problem.start_mean(slots_at(problem, policy))


def round_length(problem: Problem, policy: Policy, slots: int) -> RoundLength:
    """The law of the round's length up to a number of slots, with where it ends.

    Carries the mass over the states forward slot by slot: goal x slots additions of
    positive numbers.
    """
    slots = check_whole("slots", slots, 0, MOST_SLOTS)
    finish = finish_mask(problem.goal, policy)
    p_c, p_f = problem.p_c, problem.p_f
    won, lost = np.zeros(slots + 1), np.zeros(slots + 1)
    mass = problem.start_probabilities
    for k in range(1, slots + 1):
        ending, walking = float(mass[finish].sum()), np.where(finish, 0.0, mass)
        won[k] = ending * p_f + walking[-1] * p_c
        lost[k] = ending * (1.0 - p_f) + walking[0] * (1.0 - p_c)
        mass = np.zeros_like(walking)
        mass[1:] += walking[:-1] * p_c
        mass[:-1] += walking[1:] * (1.0 - p_c)
    return RoundLength(won, lost, float(mass.sum()))


class _Segments(NamedTuple):
    """For every state: whether it finishes, and the stretch a < s < b it walks in."""

    finish: Bools
    a: Ints
    b: Ints
    i: Ints
    n: Ints
    up: Floats
    down: Floats


def _segments(problem: Problem, policy: Policy) -> _Segments:
    goal, s = problem.goal, problem.states
    finish = finish_mask(goal, policy)
    a = np.maximum.accumulate(np.where(finish, s, 0))
    b = np.minimum.accumulate(np.where(finish, s, goal)[::-1])[::-1]
    # A state that finishes stands for itself; give it a harmless stretch of length one.
    i, n = np.where(finish, 0, s - a), np.where(finish, 1, b - a)
    log_r = log_failure_ratio(problem.p_c)
    return _Segments(finish, a, b, i, n, hit(i, n, log_r), hit(n - i, n, -log_r))


def _finish_at(problem: Problem, policy: Policy) -> Floats:
    """The probability that a round from each state ends by FINISH."""
    seg = _segments(problem, policy)
    below = np.where(seg.a > 0, seg.down, 0.0)
    above = np.where(seg.b < problem.goal, seg.up, 0.0)
    return np.where(seg.finish, 1.0, below + above)


def excess(problem: Problem) -> float:
    """p_f - B(p_c), correct to all digits where the two are near; 0 where they are a tie."""
    return _excess(problem.goal, problem.p_c, problem.p_f)


@lru_cache(maxsize=1024)
def _excess(goal: int, p_c: float, p_f: float) -> float:
    with localcontext(WIDE):
        b = wide_boundary(goal, Decimal(p_c))
        difference = Decimal(p_f) - b
        return 0.0 if abs(difference) <= Decimal(TIE) * b else float(difference)


def _rounded_boundary(goal: int, p_c: float) -> float:
    with localcontext(WIDE):
        return float(wide_boundary(goal, Decimal(p_c)))


def wide_boundary(goal: int, p_c: Decimal) -> Decimal:
    """B(p_c) to about 40 digits, in the caller's decimal context."""
    if p_c == 0 or goal == 2:
        return p_c
    r = (1 - p_c) / p_c
    return Decimal(1) / goal if r == 1 else (1 - r) / (1 - r**goal)
