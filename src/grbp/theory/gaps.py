"""Compute what a policy loses against the optimum: the gaps from which regret is made."""

import math
from collections.abc import Sequence

import numpy as np

from grbp.errors import TooLarge
from grbp.numerics.arrays import Floats
from grbp.theory.round_length import finish_probability
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.segments import segments_of
from grbp.theory.values import excess
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Policy

MOST_ENUMERATED_GOAL = 23
"""The largest goal for which all 2^(goal-1) policies are enumerated (4 million at 23)."""


def gap_max(problem: Problem) -> float:
    """Compute Delta_max = abs(p_f - B(p_c)), the cost of the wrong action in state 1.

    Parameters
    ----------
    problem : Problem
        The problem that is played.

    Returns
    -------
    float
        Delta_max; 0 on the boundary.

    Notes
    -----
    Paper: lemma:DeltaBound

    Examples
    --------
    >>> import grbp
    >>> round(grbp.gap_max(grbp.Problem(goal=4, p_c=0.45, p_f=0.3)), 6)
    0.119554
    """
    return abs(excess(problem))


def gap_at(problem: Problem, policy: Policy) -> Floats:
    """Compute V*(s) - V(s), the loss of a policy, for every first state.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` is the loss from state s, never negative.

    Notes
    -----
    For the threshold that is not optimal (0 or 1) this is the paper's Delta(s), the probability
    of ever standing in state 1 times Delta_max.

    Paper: lemma:DeltaBound
    Differs: any policy, not only the two thresholds.

    Examples
    --------
    >>> import grbp
    >>> grbp.gap_at(grbp.Problem(goal=4, p_c=0.45, p_f=0.3), 0).round(4)
    array([0.1196, 0.0874, 0.0481])
    """
    log_r = log_failure_ratio(problem.p_c)
    return _losses(problem.goal, log_r, problem.p_f, excess(problem), policy)


def threshold_gaps(problems: Sequence[Problem], thresholds: Sequence[int]) -> Floats:
    """Compute the `gap` of thresholds in problems of one goal: [problem, threshold].

    It is quicker than one by one, and the same to the last bit.
    """
    goal = problems[0].goal
    log_r = log_failure_ratio([problem.p_c for problem in problems])[:, None]
    p_f = np.array([[problem.p_f] for problem in problems])
    over = np.array([[excess(problem)] for problem in problems])
    uniform = all(problem.start == "uniform" for problem in problems)
    found = np.empty((len(problems), len(thresholds)))
    for k, threshold in enumerate(thresholds):
        losses = _losses(goal, log_r, p_f, over, threshold)
        found[:, k] = (
            losses.mean(axis=1)
            if uniform
            else [one.start_mean(loss) for one, loss in zip(problems, losses, strict=True)]
        )
    return found


def _losses(
    goal: int, log_r: Floats, p_f: float | Floats, over: float | Floats, policy: Policy
) -> Floats:
    """Compute `gap_at` for one problem, or for several that are columns: [problem, state]."""
    seg, best = segments_of(goal, log_r, policy), np.asarray(over) >= 0.0
    # What FINISH loses in a state s: V*(s) - p_f, as a sum of positive terms.
    up_from_1 = hit(np.arange(goal - 1), goal - 1, log_r)
    continuing = -over + hit(goal - 1, goal, -log_r) * up_from_1
    finishing = np.where(best, (1.0 - p_f) * up_from_1, continuing)
    loss = seg.mean(0.0, finishing, 0.0)
    if best.any() and seg.i[0] > 0:
        # The policy walks through state 1, where it should finish, up to its first stop b.
        b = int(seg.b[0])
        s = np.arange(1, b)
        wrong: float | Floats = over
        later: float | Floats = 0.0
        if b < goal:
            wrong, later = p_f * hit(b - 1, b, -log_r), finishing[..., b - 1 : b]
        up, down = hit(s - 1, b - 1, log_r), hit(b - s, b - 1, -log_r)
        loss[..., : b - 1] = np.where(best, wrong * down + later * up, loss[..., : b - 1])
    return loss


def gap(problem: Problem, policy: Policy | None = None) -> float:
    """Compute Delta_pi, the loss of a policy in a round.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int, optional
        A threshold, or one action for every state; by default the threshold (0 or 1) that is
        not optimal.

    Returns
    -------
    float
        The mean of V*(s) - V(s) over the first state.

    Notes
    -----
    For the threshold that is not optimal, it is p_{F,1} Delta_max, with p_{F,1} the probability
    that a round under threshold 1 ends by FINISH.

    Paper: cor:ucbgap

    Examples
    --------
    >>> import grbp
    >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    >>> round(grbp.gap(problem), 6)
    0.084999
    >>> grbp.gap(problem, grbp.optimal_threshold(problem))
    0.0
    """
    if policy is None:
        return finish_probability(problem) * gap_max(problem)
    return problem.start_mean(gap_at(problem, policy))


def policy_gaps(problem: Problem) -> Floats:
    """Compute Delta_pi of every deterministic policy.

    Parameters
    ----------
    problem : Problem
        The problem that is played.

    Returns
    -------
    ndarray, shape (2 ** (goal - 1),)
        Bit ``s - 1`` of an index says whether that policy takes FINISH in state s.

    Raises
    ------
    TooLarge
        If the goal is above 23.

    Notes
    -----
    Paper: thm:UCB1Reg

    Examples
    --------
    >>> import grbp
    >>> grbp.policy_gaps(grbp.Problem(goal=3, p_c=0.5, p_f=0.5)).round(4)
    array([0.125, 0.   , 0.25 , 0.125])
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
            loss = gap_at(problem, np.isin(problem.states, (a, b))) * q
            parts.append(ending[a] + math.fsum(loss[a : min(b, goal - 1)]))
        ending.append(np.concatenate(parts))
    return ending[goal]
