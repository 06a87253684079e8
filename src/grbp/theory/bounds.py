"""Compute the regret bounds of the paper, and what no learner can beat.

Theorem 1 bounds UCB1 over all deterministic policies; Theorem 3 bounds GETBE with the control
function gamma log(rho). Theorem 3 asks for a gamma so large that none of the paper's own
experiments satisfies it: `GetbeBound.applies` says so, and `GetbeBound.why` in words.

`regret_floor` and `gamma_bounded` are not the paper's; docs/doorstep.md proves them.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grbp.numerics.special import divergence_apart
from grbp.theory.gaps import gap, gap_max, policy_gaps
from grbp.theory.margin import margin
from grbp.theory.round_length import continue_probability, expected_continues, finish_probability
from grbp.theory.values import boundary, excess, optimal_threshold
from grbp.worlds.problem import Problem
from grbp.worlds.validation import check_positive, check_whole

MOST_BOUNDED_ROUNDS = 10**18
"""The largest number of rounds for which a bound is computed."""

_LARGEST_ROUND = 2.0**900
"""A condition that has not settled by this round is taken never to settle."""


class GetbeBound(NamedTuple):
    """The bound of Theorem 3 for one problem, one gamma and one number of rounds, step by step.

    A quantity that does not exist is inf.

    Attributes
    ----------
    p_c1 : float
        The probability that a round under threshold 1 takes CONTINUE at least once.
    p_f1 : float
        The probability that a round under threshold 1 ends by FINISH.
    margin : float
        The distance delta from the decision boundary.
    x_1 : float
        The root whose square gamma must exceed.
    gamma_required : float
        The number that gamma must exceed.
    rho_c : float
        The round from which on Lemma 4 holds for CONTINUE.
    rho_f : float
        The round from which on Lemma 4 holds for FINISH.
    rho_pp : float
        The round from which on delta^2 >= 3 log(rho)/f_a(rho) for both actions a.
    rho_prime : float
        The largest of the three.
    w : float
        The bound on the expected number of rounds with the wrong policy.
    regret_bound : float
        The bound on the expected regret; inf where the theorem does not apply.
    applies : bool
        Whether the theorem applies.
    why : str
        Why the theorem applies or does not, in words.
    """

    p_c1: float
    p_f1: float
    margin: float
    x_1: float
    gamma_required: float
    rho_c: float
    rho_f: float
    rho_pp: float
    rho_prime: float
    w: float
    regret_bound: float
    applies: bool
    why: str


def ucb1_bound(problem: Problem, rounds: int) -> float:
    """Compute Theorem 1: the bound on the expected regret of UCB1 over all policies.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    rounds : int
        The number T of rounds.

    Returns
    -------
    float
        The bound for UCB1 over all 2^(goal-1) deterministic policies.

    Raises
    ------
    TooLarge
        If the goal is above 23, where the policies are too many to be enumerated.

    Notes
    -----
    The bound is 8 log(T) sum 1/Delta + (1 + pi^2/3) sum Delta, with both sums over the policies
    that are worse than the best.

    Paper: thm:UCB1Reg
    Differs: "<=" where the paper prints "="; policies as good as the best cost nothing.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.ucb1_bound(grbp.Problem(goal=4, p_c=0.45, p_f=0.3), rounds=5000), 1)
    3108.9
    """
    rounds = check_whole("rounds", rounds, 1, MOST_BOUNDED_ROUNDS)
    gaps = policy_gaps(problem)
    gaps = gaps[gaps > 0.0]
    with np.errstate(over="ignore"):
        inverse = float((1.0 / gaps).sum())
    growth = 8.0 * math.log(rounds) * inverse if rounds > 1 else 0.0
    return growth + (1.0 + math.pi**2 / 3.0) * float(gaps.sum())


def getbe_bound(problem: Problem, gamma: float, rounds: int) -> GetbeBound:
    """Compute Theorem 3: the bound on the expected regret of GETBE.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    gamma : float
        The constant of the control function gamma log(rho), positive.
    rounds : int
        The number T of rounds.

    Returns
    -------
    GetbeBound
        The bound with every number on the way to it, and whether the theorem applies.

    Raises
    ------
    InvalidInput
        If gamma is not positive, or the number of rounds is not allowed.

    Notes
    -----
    The bound is w where finishing in state 1 is right, else ceil(gamma log T) + w Delta_max, with
    w = 4 rho' + (2 pi^2/3) (1 + 1/(1 - exp(-delta^2))).

    It is proved for the first samples of Algorithm 1, which takes each action once before round
    1: ``initial_estimates="once"`` of `simulate`. The default, "drawn", begins as the paper's
    experiments do, with numbers that no action gave, and the proof does not cover it.

    Paper: thm:GRBPreg
    Differs: rho_c with the root of the proof, not of the lemma; "first round in which" read as
    "from which round on"; what the paper assumes without saying so is checked.

    Examples
    --------
    >>> import grbp
    >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    >>> grbp.getbe_bound(problem, gamma=15, rounds=5000).why
    'gamma = 15 is not above the 1818.73 that Theorem 3 asks for'
    >>> round(grbp.getbe_bound(problem, gamma=1900, rounds=5000).regret_bound)
    168921
    """
    rounds = check_whole("rounds", rounds, 1, MOST_BOUNDED_ROUNDS)
    gamma = check_positive("gamma", gamma)
    p_c1, p_f1, delta = continue_probability(problem), finish_probability(problem), margin(problem)
    x_1 = required_root(p_f1, delta)
    required = x_1 * x_1
    rho_c, rho_f = settling_rounds(p_c1, p_f1, gamma)
    rho_pp = _error_round(p_c1, delta) if gamma >= required else math.inf
    rho_prime = max(rho_c, rho_f, rho_pp)
    near = -math.expm1(-delta * delta)
    w = 4.0 * rho_prime + 2.0 * math.pi**2 / 3.0 * (1.0 + 1.0 / near) if near > 0.0 else math.inf
    obstacle = _find_hurdle(problem, gamma, required, p_c1, delta)
    bound = math.inf if obstacle else w
    if not obstacle and optimal_threshold(problem) == 0:
        bound = math.ceil(gamma * math.log(rounds)) + w * gap_max(problem)
    why = obstacle or f"gamma = {gamma:g} exceeds the {required:.6g} that Theorem 3 asks for"
    return GetbeBound(
        p_c1, p_f1, delta, x_1, required,
        rho_c, rho_f, rho_pp, rho_prime, w, bound, not obstacle, why,
    )  # fmt: skip


def required_root(p_f1: float, delta: float) -> float:
    """Compute x_1 = (1 + sqrt(1 + 24 p_f1/delta^2))/(2 p_f1), whose square gamma must exceed.

    The square is never below 1/p_f1^2, which the theorem asks for as well.

    Paper: thm:GRBPreg
    """
    if p_f1 == 0.0 or delta == 0.0:
        return math.inf
    return (1.0 + math.sqrt(1.0 + 24.0 * p_f1 / delta / delta)) / (2.0 * p_f1)


def settling_rounds(p_c1: float, p_f1: float, gamma: float) -> tuple[float, float]:
    """Compute rho'_C and rho'_F, from which rounds on each action was likely taken often enough.

    C: p_c1 (rho/2 - k) > sqrt((rho - k) log rho), with k = ceil(gamma log rho);
    F: a/2 log rho > sqrt(log rho), with a = p_f1 gamma - sqrt(gamma), and rho - 2 > k.

    Paper: lemma:MinNumPBinf
    Differs: the root covers the whole product, as in the proof; the printed one is false.
    """
    return _continue_round(p_c1, gamma), _finish_round(p_f1, gamma)


def _continue_round(p_c1: float, gamma: float) -> float:
    """Compute rho'_C of `settling_rounds`."""
    squared = p_c1 * p_c1
    if squared == 0.0:
        return math.inf

    def room(rho: float) -> float:
        # The condition solved for k: it holds where room(rho) > k - gamma log(rho).
        # Convex in rho: the logarithm and the geometric mean under the root are concave.
        log = math.log(rho)
        needed = (log + math.sqrt(log * (log + 2.0 * squared * rho))) / (2.0 * squared)
        return rho / 2.0 - needed - gamma * log

    def holds(rho: float) -> bool:
        log = math.log(rho)
        k = math.ceil(gamma * log)
        return rho > k and p_c1 * (rho / 2.0 - k) > math.sqrt((rho - k) * log)

    return _settling_round(room, holds, slack=1.0)


def _finish_round(p_f1: float, gamma: float) -> float:
    """Compute rho'_F of `settling_rounds`."""
    surplus = p_f1 * gamma - math.sqrt(gamma)
    if surplus <= 0.0:
        return math.inf
    exponent = 4.0 / surplus / surplus
    enough = math.floor(math.exp(exponent)) + 1 if exponent < 600.0 else math.inf
    past = _settling_round(
        lambda rho: rho - 2.0 - gamma * math.log(rho),
        lambda rho: rho - 2.0 - math.ceil(gamma * math.log(rho)) > 0.0,
        slack=1.0,
    )
    return max(enough, past)


def _error_round(p_c1: float, delta: float) -> float:
    """Compute rho'', from which round on delta^2 >= 3 log(rho)/f_a(rho), for a gamma large enough.

    For FINISH the quotient does not depend on the round: it gives the least gamma instead.
    """
    rate = 0.5 * p_c1 * delta * delta
    if rate == 0.0:
        return math.inf

    def room(rho: float) -> float:
        return rate * rho - 3.0 * math.log(rho)

    return _settling_round(room, lambda rho: room(rho) >= 0.0, slack=0.0)


def _settling_round(
    room: Callable[[float], float], holds: Callable[[float], bool], slack: float
) -> float:
    """Find the first round from which on a condition always holds; inf if there is none.

    The function room must be convex in the round. The condition holds where room >= slack and
    fails where room < 0; in between it is tried round by round.
    """
    high = 4.0
    while not (room(high) >= slack and room(2.0 * high) > room(high)):
        high *= 2.0
        if high > _LARGEST_ROUND:
            return math.inf
    low = _argmin(room, high)
    if room(low) < slack:
        while high - low > 0.5 and low < (middle := (low + high) / 2.0) < high:
            low, high = (low, middle) if room(middle) >= slack else (middle, high)
    else:
        high = low
    first = math.ceil(high) + 1
    if first > 2**53:  # where floats have no room between two rounds
        return first
    while first > 1 and holds(first - 1):
        first -= 1
    return first


def _argmin(room: Callable[[float], float], high: float) -> float:
    """Find where a convex function is least between 1 and high, by ternary search."""
    low = 1.0
    while high - low > 1e-9 * high:
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, right) if room(left) <= room(right) else (left, high)
    return low


def _find_hurdle(problem: Problem, gamma: float, required: float, p_c1: float, delta: float) -> str:
    """Say why Theorem 3 does not apply; the empty string if it does."""
    if not (0.0 < problem.p_c < 1.0 and 0.0 < problem.p_f < 1.0):
        return "Theorem 3 needs p_c and p_f strictly between 0 and 1"
    if delta == 0.0:
        return "the problem lies on the decision boundary (margin 0), where no gamma is enough"
    if p_c1 == 0.0:
        return "every round starts in state 1, so threshold 1 never learns about CONTINUE"
    if not gamma > required:
        return f"gamma = {gamma:g} is not above the {required:.6g} that Theorem 3 asks for"
    return ""


def regret_floor(problem: Problem) -> float:
    """Compute the slowest growth of regret that a learner good on every problem can have.

    Parameters
    ----------
    problem : Problem
        The problem that is played.

    Returns
    -------
    float
        The least growth of the expected regret per unit of log(rounds); 0 where it need not grow.

    Notes
    -----
    It is (B - p_f)/kl(p_f, B) where never finishing is right, with B = B(p_c), else 0. But if all
    rounds start in state 1, CONTINUE has to be explored too: where finishing is right, it is then
    (p_f - B)/(m kl(p_c, x)), with m the expected moves of a round that continues, and B(x) = p_f.

    Differs: the paper has no lower bound.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.regret_floor(grbp.Problem(goal=4, p_c=0.65, p_f=0.3)), 4)
    2.3867
    >>> grbp.regret_floor(grbp.Problem(goal=4, p_c=0.45, p_f=0.3))
    0.0
    """
    over, b = excess(problem), boundary(problem.goal, problem.p_c)
    if over < 0.0:
        return 0.0 if b == 1.0 else -over / divergence_apart(problem.p_f, -over)
    if over == 0.0 or not _all_start_in_1(problem) or problem.p_f == 1.0:
        return 0.0
    low, high = problem.p_c, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        if boundary(problem.goal, middle) < problem.p_f:
            low = middle
        else:
            high = middle
    moves = expected_continues(problem, 0)
    return over / (moves * divergence_apart(problem.p_c, high - problem.p_c))


def gamma_bounded(problem: Problem) -> float:
    """Compute the gamma above which the regret of GETBE-SM stays bounded.

    Parameters
    ----------
    problem : Problem
        The problem that is played.

    Returns
    -------
    float
        1/kl(B, p_f) where p_f > B = B(p_c); 0 where any gamma is enough, and inf where none is.

    Notes
    -----
    Where p_f > B, a replica whose first estimates mislead it goes on trying FINISH gamma log(rho)
    times; the probability that it is still misled then is about rho^(-gamma kl(B, p_f)).
    Elsewhere every forced FINISH loses, unless all rounds start in state 1 and p_f = B.

    If p_f = 1, or if p_c = 0 and CONTINUE never wins, FINISH loses nothing in any state, and no
    replica is misled for long.

    Differs: the paper has no such condition.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.gamma_bounded(grbp.Problem(goal=4, p_c=0.45, p_f=0.3)), 4)
    26.6683
    """
    over = excess(problem)
    if problem.p_c == 0.0 or problem.p_f == 1.0 or (over == 0.0 and _all_start_in_1(problem)):
        return 0.0
    return 1.0 / divergence_apart(problem.p_f - over, over) if over > 0.0 else math.inf


def forced_exploration_slope(problem: Problem, gamma: float) -> float:
    """Return what forced exploration costs per unit of log(rounds): gamma (V* - p_f).

    GETBE forces FINISH gamma log(rho) times; each time it plays the threshold goal - 1.
    """
    return gamma * gap(problem, problem.goal - 1)


def _all_start_in_1(problem: Problem) -> bool:
    """Return whether every round starts in state 1."""
    return float(problem.start_probabilities[0]) == 1.0
