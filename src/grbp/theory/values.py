"""Compute what a policy is worth, and on which side of the decision boundary a problem lies.

An array over states starts at state 1 and ends at state goal - 1. A policy is a threshold
(FINISH in the states up to it) or one action for every state.
"""

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from enum import StrEnum
from functools import lru_cache
from typing import overload

import numpy as np

from grbp.numerics.arrays import Floats, Ints
from grbp.theory.ruin import log_hit
from grbp.theory.segments import segments
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Policy
from grbp.worlds.validation import check_goal, check_probabilities, check_probability

TIE = 8 * float(np.finfo(float).eps)
"""How near p_f and the boundary count as equal, relative to the boundary: rounding error."""

WIDE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Decimal arithmetic for the two differences that must survive cancellation."""


class Region(StrEnum):
    """The side of the boundary on which a problem lies.

    Attributes
    ----------
    EXPLORATION
        p_f < B(p_c): FINISH is never right, so it must be explored to be known.
    NO_EXPLORATION
        p_f >= B(p_c): FINISH is right in state 1, so playing well explores both actions.

    Notes
    -----
    Paper: eqn:boundaryP

    Examples
    --------
    >>> import grbp
    >>> grbp.Region("exploration")
    <Region.EXPLORATION: 'exploration'>
    """

    EXPLORATION = "exploration"
    NO_EXPLORATION = "no-exploration"


@overload
def boundary(goal: int, p_c: float) -> float: ...
@overload
def boundary(goal: int, p_c: Sequence[float] | Floats) -> Floats: ...
def boundary(goal: int, p_c: float | Sequence[float] | Floats) -> float | Floats:
    """Compute B(p_c), the probability of reaching the goal from state 1 by continuing.

    FINISH is right in state 1 from p_f = B(p_c) on.

    Parameters
    ----------
    goal : int
        The state in which a round is won.
    p_c : float or array_like
        The success probability of CONTINUE, or several.

    Returns
    -------
    float or ndarray
        B for each p_c, in the shape of p_c.

    Raises
    ------
    InvalidInput
        If the goal is below 2, or a p_c is not a probability.

    Notes
    -----
    B = (1 - r)/(1 - r^G) with r = (1 - p_c)/p_c; B(0) = 0, B(1/2) = 1/G and B(1) = 1.

    Paper: eqn:boundaryP
    Differs: 1/2, 0 and 1 are limits of one formula, not cases; it cannot overflow, and is
    rounded once, so that the same float comes out on every machine.

    Examples
    --------
    >>> import grbp
    >>> grbp.boundary(4, 0.5)
    0.25
    >>> grbp.boundary(4, [0.0, 0.45, 1.0]).round(4)
    array([0.    , 0.1804, 1.    ])
    """
    goal = check_goal(goal)
    if not isinstance(p_c, list | tuple) and np.ndim(p_c) == 0:
        return float(wide_boundary(goal, Decimal(check_probability("p_c", p_c))))
    p = check_probabilities("p_c", p_c)
    b = [float(wide_boundary(goal, Decimal(x))) for x in p.ravel().tolist()]
    return np.array(b).reshape(p.shape)


def optimal_threshold(problem: Problem) -> int:
    """Return the threshold of the optimal policy.

    Parameters
    ----------
    problem : Problem
        The problem to solve.

    Returns
    -------
    int
        1 where p_f >= B(p_c), else 0. A p_f that agrees with B(p_c) to the last digits is a tie,
        which gives 1.

    Notes
    -----
    Paper: lemma:GINFreduction
    Paper: thm:tauinf

    Examples
    --------
    >>> import grbp
    >>> grbp.optimal_threshold(grbp.Problem(goal=4, p_c=0.45, p_f=0.3))
    1
    >>> grbp.optimal_threshold(grbp.Problem(goal=4, p_c=0.65, p_f=0.3))
    0
    """
    return 1 if excess(problem) >= 0.0 else 0


def region(problem: Problem) -> Region:
    """Return the region in which the problem lies.

    Parameters
    ----------
    problem : Problem
        The problem to classify.

    Returns
    -------
    Region
        EXPLORATION exactly where FINISH is never right: a learner must then explore it.

    Notes
    -----
    Paper: eqn:boundaryP

    Examples
    --------
    >>> import grbp
    >>> grbp.region(grbp.Problem(goal=4, p_c=0.65, p_f=0.3))
    <Region.EXPLORATION: 'exploration'>
    """
    return Region.NO_EXPLORATION if optimal_threshold(problem) else Region.EXPLORATION


def value_at(
    problem: Problem, policy: Policy, states: Sequence[int] | Ints | None = None
) -> Floats:
    """Compute V(s), the probability of reaching the goal, for every first state s.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.
    states : sequence of int, optional
        The first states to answer for, if not all.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` is V(s); if there are `states`, entry k is that of the k-th of them.

    Notes
    -----
    V(s) is p_f where the policy finishes. Elsewhere it is V(a) Pr(a before b) + V(b) Pr(b before
    a), with a and b the nearest states below and above in which the walk stops.

    Paper: lemma:ExpRew
    Differs: one form for every policy; the paper gives thresholds 0 and 1.

    Examples
    --------
    >>> import grbp
    >>> grbp.value_at(grbp.Problem(goal=4, p_c=0.45, p_f=0.3), 1).round(4)
    array([0.3   , 0.4884, 0.7186])
    """
    return segments(problem, policy, states).mean(0.0, problem.p_f, 1.0)


def log_value_at(
    problem: Problem, policy: Policy, states: Sequence[int] | Ints | None = None
) -> Floats:
    """Compute log V(s) for every first state, also where V(s) itself underflows.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.
    states : sequence of int, optional
        The first states to answer for, if not all.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` is the natural logarithm of V(s); -inf where V(s) = 0.

    Notes
    -----
    Paper: lemma:ExpRew

    Examples
    --------
    >>> import grbp
    >>> problem = grbp.Problem(goal=1001, p_c=0.25, p_f=0.0)
    >>> float(grbp.value_at(problem, 0)[0])
    0.0
    >>> float(grbp.log_value_at(problem, 0)[0].round(3))
    -1099.018
    """
    seg, p_f = segments(problem, policy, states), problem.p_f
    log_pf = math.log(p_f) if p_f > 0.0 else -math.inf
    below = np.where(seg.a > 0, log_pf, -np.inf) + log_hit(seg.n - seg.i, seg.n, -seg.log_r)
    above = np.where(seg.b < problem.goal, log_pf, 0.0) + log_hit(seg.i, seg.n, seg.log_r)
    # Next to 1 the digits are in what is missing: 1 - V.
    lost = seg.mean(1.0, 1.0 - p_f, 0.0)
    large = np.log1p(-np.minimum(lost, 0.5))
    walking = np.where(lost < 0.5, large, np.logaddexp(below, above))
    return np.where(seg.i == 0, log_pf, walking)


def value(problem: Problem, policy: Policy) -> float:
    """Compute V, the probability that a round reaches the goal.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    float
        The mean of V(s) over the first state.

    Examples
    --------
    >>> import grbp
    >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    >>> round(grbp.value(problem, 0), 4), round(grbp.value(problem, 1), 4)
    (0.4173, 0.5023)
    """
    return problem.start_mean(value_at(problem, policy))


def q_at(problem: Problem, policy: Policy) -> Floats:
    """Compute Q(s, action): the value of one action in s, followed by the policy.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    ndarray, shape (goal - 1, 2)
        Row ``s - 1`` belongs to state s; its columns are CONTINUE and FINISH.

    Notes
    -----
    Q(s, CONTINUE) = p_c V(s + 1) + (1 - p_c) V(s - 1), and Q(s, FINISH) = p_f.

    Paper: eqn:bellval

    Examples
    --------
    >>> import grbp
    >>> grbp.q_at(grbp.Problem(goal=4, p_c=0.45, p_f=0.3), 1).round(4)
    array([[0.2198, 0.3   ],
           [0.4884, 0.3   ],
           [0.7186, 0.3   ]])
    """
    v = np.concatenate(([0.0], value_at(problem, policy), [1.0]))
    continuing = problem.p_c * v[2:] + (1.0 - problem.p_c) * v[:-2]
    return np.column_stack((continuing, np.full(problem.goal - 1, problem.p_f)))


def excess(problem: Problem) -> float:
    """Compute p_f - B(p_c) to all digits where the two are near; 0 where they are a tie."""
    return _excess(problem.goal, problem.p_c, problem.p_f)


@lru_cache(maxsize=1024)
def _excess(goal: int, p_c: float, p_f: float) -> float:
    """Compute `excess`, kept by its three numbers: a problem would keep its arrays alive."""
    b = wide_boundary(goal, Decimal(p_c))
    with localcontext(WIDE):
        difference = Decimal(p_f) - b
        return 0.0 if abs(difference) <= Decimal(TIE) * b else float(difference)


def wide_boundary(goal: int, p_c: Decimal) -> Decimal:
    """Compute B(p_c) to about 40 digits."""
    if p_c == 0 or goal == 2:
        return p_c
    with localcontext(WIDE):
        r = (1 - p_c) / p_c
        return Decimal(1) / goal if r == 1 else (1 - r) / (1 - r**goal)
