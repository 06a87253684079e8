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

from grbp.model.problem import Problem
from grbp.model.transition import Action, Policy, finish_mask
from grbp.model.validation import check_goal, check_probabilities, check_probability
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.theory.ruin import hit, log_failure_ratio, log_hit

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
    seg = segments(problem, policy)
    below = np.where(seg.a > 0, problem.p_f, 0.0)
    above = np.where(seg.b < problem.goal, problem.p_f, 1.0)
    return np.where(seg.finish, problem.p_f, below * seg.down + above * seg.up)


def log_value_at(problem: Problem, policy: Policy) -> Floats:
    """log V(s) for every state, also where V(s) itself underflows; -inf where it is 0.

    Paper: lemma:ExpRew
    """
    seg = segments(problem, policy)
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


class Segments(NamedTuple):
    """For every state: whether it finishes, and the stretch a < s < b it walks in."""

    finish: Bools
    a: Ints
    b: Ints
    i: Ints
    n: Ints
    up: Floats
    down: Floats


def segments(problem: Problem, policy: Policy) -> Segments:
    """Find the stretch that every state walks in under a policy."""
    goal, s = problem.goal, problem.states
    finish = finish_mask(goal, policy)
    a = np.maximum.accumulate(np.where(finish, s, 0))
    b = np.minimum.accumulate(np.where(finish, s, goal)[::-1])[::-1]
    # A state that finishes stands for itself; give it a harmless stretch of length one.
    i, n = np.where(finish, 0, s - a), np.where(finish, 1, b - a)
    log_r = log_failure_ratio(problem.p_c)
    return Segments(finish, a, b, i, n, hit(i, n, log_r), hit(n - i, n, -log_r))


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
