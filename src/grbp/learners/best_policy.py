"""Solve a chain in a learner's own time: some dozen operations a state, compiled.

`grbp.dynprog` solves far more chains, and the tests compare the two. A policy is a number whose bit
s - 1 says whether to FINISH in state s.
"""

import numpy as np

from grbp.learners.state_counters import StateCounters
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel

_TIE = 8.0 * 2.0**-52
"""The relative gain that is no more than rounding error. Ties go to FINISH."""


@kernel
def best_policy(up: Floats, p_f: Floats) -> int:
    """Find the best policy where CONTINUE leads one state up, with these chances, or one down.

    The scan is that of ``grbp.dynprog.solve``: it keeps the states that finish, with the
    chances of crossing from each to the next, and withdraws one where continuing is better.

    Paper: eqn:bellval
    """
    goal = len(up) + 1
    stop, reward = np.empty(goal + 1, np.int64), np.empty(goal + 1)
    # The chance of crossing from the stop below, once one step above it, and of crossing back.
    rising, falling = np.empty(goal + 1), np.empty(goal + 1)
    stop[0], reward[0], rising[0], falling[0] = 0, 0.0, 1.0, 1.0
    last = 0
    for state in range(1, goal + 1):
        last += 1
        stop[last], rising[last], falling[last] = state, 1.0, 1.0
        reward[last] = 1.0 if state == goal else p_f[state - 1]
        while last > 1:
            here = stop[last - 1]
            on, back = up[here - 1] * rising[last], (1.0 - up[here - 1]) * falling[last - 1]
            gain = on * (reward[last] - reward[last - 1])
            loss = back * (reward[last - 1] - reward[last - 2])
            if gain - loss <= _TIE * (abs(gain) + abs(loss)):
                break
            leave = on + back
            rising[last - 1] = rising[last - 1] * on / leave
            falling[last - 1] = falling[last] * back / leave
            stop[last - 1], reward[last - 1] = stop[last], reward[last]
            last -= 1
    policy = 0
    for k in range(1, last):
        policy |= 1 << (stop[k] - 1)
    return policy


@kernel
def policy_values(up: Floats, p_f: Floats, policy: int) -> Floats:
    """Compute the chance of reaching the goal from every state under a policy.

    Nothing is subtracted: the states are eliminated from the lowest on, as `grbp.dynprog` does.
    """
    count = len(up)
    over, value = np.empty(count), np.empty(count)
    won, lost = 0.0, 1.0  # Below state 1 the round is lost.
    for k in range(count):
        if (policy >> k) & 1:
            over[k], won, lost = 0.0, p_f[k], 1.0 - p_f[k]
        else:
            leave = up[k] + (1.0 - up[k]) * (won + lost)
            back = (1.0 - up[k]) / leave
            over[k], won, lost = up[k] / leave, back * won, back * lost
        value[k] = won
    above = 1.0
    for k in range(count - 1, -1, -1):
        value[k] += over[k] * above
        above = value[k]
    return value


@kernel
def law_values(law: Floats, p_f: Floats, policy: int) -> Floats:
    """Compute the same where CONTINUE follows a law with a row for each inner state.

    A row has the chances of all states from 0 to the goal; it takes goal^3 operations.
    """
    count = len(law)
    rows, value = law.copy(), np.zeros(count)
    for k in range(count):
        if (policy >> k) & 1:
            rows[k, :] = 0.0
            rows[k, 0], rows[k, count + 1] = 1.0 - p_f[k], p_f[k]
    for k in range(count - 1, -1, -1):
        rows[k, k + 1] = 0.0  # Staying delays, and no more.
        leave = rows[k].sum()
        rows[k] /= leave if leave > 0.0 else 1.0
        for i in range(k):
            rows[i] += rows[i, k + 1] * rows[k]
            rows[i, k + 1] = 0.0
    for k in range(count):
        value[k] = rows[k, count + 1]
        for i in range(k):
            value[k] += rows[k, i + 1] * value[i]
    return value


@kernel
def best_policy_of_law(law: Floats, p_f: Floats) -> int:
    """Find the best policy where CONTINUE follows a law with a row for each inner state.

    From FINISH everywhere, FINISH is withdrawn wherever continuing is better, until it is nowhere:
    a withdrawal only makes others more attractive.
    """
    count = len(law)
    policy = (1 << count) - 1
    while True:
        value, before = law_values(law, p_f, policy), policy
        for k in range(count):
            if (before >> k) & 1:
                ahead, leave = law[k, count + 1], law[k, count + 1] + law[k, 0]
                for t in range(1, count + 1):
                    if t != k + 1:  # Staying delays, and no more.
                        ahead += law[k, t] * value[t - 1]
                        leave += law[k, t]
                if ahead > p_f[k] * leave * (1.0 + count * _TIE):
                    policy &= ~(1 << k)
        if policy == before:
            return policy


@kernel
def best_by_law(up: Floats, law: Floats, p_f: Floats) -> int:
    """Find the best policy by a law of CONTINUE or, where it is empty, by chances of one state up.

    A law is empty where CONTINUE leads to neighbours alone, which takes far less time to solve.
    """
    return best_policy(up, p_f) if law.shape[0] == 0 else best_policy_of_law(law, p_f)


@kernel
def values_by_law(up: Floats, law: Floats, p_f: Floats, policy: int) -> Floats:
    """Compute the values of a policy by a law or, where it is empty, by chances of one state up."""
    if law.shape[0] == 0:
        return policy_values(up, p_f, policy)
    return law_values(law, p_f, policy)


@kernel
def law_of_means(n: StateCounters, up: Floats) -> Floats:
    """Return the law of CONTINUE with jumps as often as they were seen, and these chances of up.

    Both neighbours were seen once beforehand. Where CONTINUE leads to neighbours alone it is empty,
    as `n.jumps` is, which callers take then: to make one takes a tenth of a round.
    """
    count = n.jumps.shape[0]
    law = n.jumps.copy()
    for k in range(count):
        near = n.up[k] + n.down[k] + 2.0
        law[k, k + 2] += near * up[k]
        law[k, k] += near * (1.0 - up[k])
        law[k] /= near + n.jumps[k].sum()
    return law
