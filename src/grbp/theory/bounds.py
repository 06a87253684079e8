"""The regret bounds of the paper, and whether they say anything; and what no learner can beat.

Theorem 1 bounds UCB1 over all deterministic policies; Theorem 3 bounds GETBE with the control
function gamma log(rho). Theorem 3 asks for a gamma so large that none of the paper's own
experiments satisfies it: `GetbeBound.applies` says so, and `GetbeBound.why` in words.

`regret_floor` and `gamma_bounded` are not the paper's; docs/doorstep.md proves them.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grbp.model.problem import Problem
from grbp.model.validation import check_positive, check_whole
from grbp.numerics.special import divergence_apart
from grbp.theory.gaps import gap_max, policy_gaps
from grbp.theory.margin import margin
from grbp.theory.round_length import continue_probability, expected_continues, finish_probability
from grbp.theory.values import boundary, excess, optimal_threshold

MOST_BOUNDED_ROUNDS = 10**18
"""The largest number of rounds that is asked about."""

_LARGEST_ROUND = 2.0**900
"""A round beyond which a condition is taken never to settle."""


class GetbeBound(NamedTuple):
    """Theorem 3 for one problem, one gamma and one number of rounds, step by step.

    p_c1, p_f1      chance that a round under threshold 1 continues at least once; finishes
    margin          delta, the distance from the decision boundary
    x_1             the root whose square gamma must exceed
    gamma_required  what gamma must exceed
    rho_c, rho_f    from which round on Lemma 4 holds for CONTINUE and for FINISH
    rho_pp          from which round on delta^2 >= 3 log(rho)/f_a(rho) for both
    rho_prime       the largest of the three
    w               the bound on the expected number of rounds with the wrong policy
    regret_bound    the bound on the expected regret; inf where the theorem does not apply
    applies, why    whether the theorem applies, and in words why or why not
    A quantity that does not exist is inf.
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
    """The bound on the expected regret of UCB1 over all 2^(goal-1) deterministic policies.

    8 log(T) sum 1/Delta + (1 + pi^2/3) sum Delta, over the policies worse than the best.

    Paper: thm:UCB1Reg
    Differs: "<=" where the paper prints "="; policies as good as the best cost nothing.
    """
    rounds = check_whole("rounds", rounds, 1, MOST_BOUNDED_ROUNDS)
    gaps = policy_gaps(problem)
    gaps = gaps[gaps > 0.0]
    with np.errstate(over="ignore"):
        inverse = float((1.0 / gaps).sum())
    growth = 8.0 * math.log(rounds) * inverse if rounds > 1 else 0.0
    return growth + (1.0 + math.pi**2 / 3.0) * float(gaps.sum())


def getbe_bound(problem: Problem, gamma: float, rounds: int) -> GetbeBound:
    """The bound on the expected regret of GETBE with control function gamma log(rho).

    w where finishing in state 1 is right, else ceil(gamma log T) + w Delta_max, with
    w = 4 rho' + (2 pi^2/3) (1 + 1/(1 - exp(-delta^2))).

    Paper: thm:GRBPreg
    Differs: rho_c with the root of the proof, not of the lemma; "first round in which" read as
    "from which round on"; what the paper assumes without saying so is checked.
    """
    rounds, gamma = (
        check_whole("rounds", rounds, 1, MOST_BOUNDED_ROUNDS),
        check_positive("gamma", gamma),
    )
    p_c1, p_f1, delta = continue_probability(problem), finish_probability(problem), margin(problem)
    x_1 = required_root(p_f1, delta)
    required = x_1 * x_1
    rho_c, rho_f = settling_rounds(p_c1, p_f1, gamma)
    rho_pp = _error_round(p_c1, delta) if gamma >= required else math.inf
    rho_prime = max(rho_c, rho_f, rho_pp)
    w, near = math.inf, -math.expm1(-delta * delta)
    if near > 0.0:
        w = 4.0 * rho_prime + 2.0 * math.pi**2 / 3.0 * (1.0 + 1.0 / near)
    obstacle = _obstacle(problem, gamma, required, p_c1, delta)
    bound = math.inf
    if not obstacle:
        bound = w
        if optimal_threshold(problem) == 0:
            bound = math.ceil(gamma * math.log(rounds)) + w * gap_max(problem)
    why = obstacle or f"gamma = {gamma:g} exceeds the {required:.6g} that Theorem 3 asks for"
    return GetbeBound(
        p_c1, p_f1, delta, x_1, required,
        rho_c, rho_f, rho_pp, rho_prime, w, bound, not obstacle, why,
    )  # fmt: skip


def required_root(p_f1: float, delta: float) -> float:
    """x_1 = (1 + sqrt(1 + 24 p_f1/delta^2))/(2 p_f1); gamma must exceed its square.

    The square is never below 1/p_f1^2, the other thing that the theorem asks for.

    Paper: thm:GRBPreg
    """
    if p_f1 == 0.0 or delta == 0.0:
        return math.inf
    return (1.0 + math.sqrt(1.0 + 24.0 * p_f1 / delta / delta)) / (2.0 * p_f1)


def settling_rounds(p_c1: float, p_f1: float, gamma: float) -> tuple[float, float]:
    """rho'_C and rho'_F: from which round on each action was probably taken often enough.

    C: p_c1 (rho/2 - k) > sqrt((rho - k) log rho), with k = ceil(gamma log rho);
    F: a/2 log rho > sqrt(log rho), with a = p_f1 gamma - sqrt(gamma), and rho - 2 > k.

    Paper: lemma:MinNumPBinf
    Differs: the root covers the whole product, as in the proof; the printed one is false.
    """
    return _continue_round(p_c1, gamma), _finish_round(p_f1, gamma)


def _continue_round(p_c1: float, gamma: float) -> float:
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

    return _settles(room, holds, slack=1.0)


def _finish_round(p_f1: float, gamma: float) -> float:
    surplus = p_f1 * gamma - math.sqrt(gamma)
    if surplus <= 0.0:
        return math.inf
    exponent = 4.0 / surplus / surplus
    enough = math.floor(math.exp(exponent)) + 1 if exponent < 600.0 else math.inf
    past = _settles(
        lambda rho: rho - 2.0 - gamma * math.log(rho),
        lambda rho: rho - 2.0 - math.ceil(gamma * math.log(rho)) > 0.0,
        slack=1.0,
    )
    return max(enough, past)


def _error_round(p_c1: float, delta: float) -> float:
    """rho'': from which round on delta^2 >= 3 log(rho)/f_a(rho), once gamma is as required.

    For FINISH the quotient does not depend on the round, and that is what is required.
    """
    rate = 0.5 * p_c1 * delta * delta
    if rate == 0.0:
        return math.inf

    def room(rho: float) -> float:
        return rate * rho - 3.0 * math.log(rho)

    return _settles(room, lambda rho: room(rho) >= 0.0, slack=0.0)


def _settles(room: Callable[[float], float], holds: Callable[[float], bool], slack: float) -> float:
    """The smallest round from which on a condition holds for ever.

    room is convex in the round, the condition holds where room >= slack and fails where
    room < 0; in between it is looked at round by round. inf where it never settles.
    """
    high = 4.0
    while not (room(high) >= slack and room(2.0 * high) > room(high)):
        high *= 2.0
        if high > _LARGEST_ROUND:
            return math.inf
    low = _lowest(room, high)
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


def _lowest(room: Callable[[float], float], high: float) -> float:
    """Where a convex function is least between 1 and high, by ternary search."""
    low = 1.0
    while high - low > 1e-9 * high:
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, right) if room(left) <= room(right) else (left, high)
    return low


def _obstacle(problem: Problem, gamma: float, required: float, p_c1: float, delta: float) -> str:
    """Why Theorem 3 does not apply, or nothing."""
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
    """What regret grows by per unit of log(rounds), at least, for any learner that is good on
    every problem: (B - p_f)/kl(p_f, B) where never to finish is right, else 0.

    But if all rounds start in state 1, CONTINUE has to be explored too. Where to finish is
    right, it is (p_f - B)/(m kl(p_c, x)), with m moves in a round that continues, and B(x) = p_f.
    """  # noqa: D205
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
    """What gamma must exceed for the regret of GETBE-SM to stay bounded: 1/kl(B, p_f).

    Where p_f > B, a replica whose first estimates mislead it goes on trying FINISH gamma
    log(rho) times; that it is still misled then has a chance of about rho^(-gamma kl(B, p_f)).
    Elsewhere what is forced is lost, and no gamma will do: inf.
    """
    over = excess(problem)
    if over == 0.0 and _all_start_in_1(problem):
        return 0.0
    if over <= 0.0:
        return math.inf
    if problem.p_f == 1.0:
        return 0.0
    return 1.0 / divergence_apart(problem.p_f - over, over)


def _all_start_in_1(problem: Problem) -> bool:
    return float(problem.start_probabilities[0]) == 1.0
