"""What a policy loses: gaps to the optimum, policy by policy and state by state."""

import math

import numpy as np

from grbp.errors import TooLarge
from grbp.model.problem import Problem
from grbp.model.transition import Policy
from grbp.numerics.arrays import Floats
from grbp.theory.round_length import finish_probability
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import excess, optimal_threshold, segments

MOST_ENUMERATED_GOAL = 23
"""The largest goal for which all 2^(goal-1) policies are enumerated (4 million at 23)."""


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
    seg = segments(problem, policy)
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
