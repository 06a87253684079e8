"""The claims of the paper about curves of regret."""

from typing import Final

import numpy as np

from grbp.experiments.catalog import FIGURE_3, FIGURE_4, GETBE, PAPER_LEARNERS, TITLES
from grbp.experiments.sweep_result import SweepResult
from grbp.numerics.arrays import Floats
from grbp.paper.growth import (
    DID_NOT_HOLD,
    HELD,
    UNDECIDED,
    Finding,
    MeasuredNumber,
    Missing,
    Results,
    find_onset,
    make_estimate,
    measure_growth,
    problem_of,
    require,
)
from grbp.theory.bounds import forced_exploration_slope, gamma_bounded, getbe_bound
from grbp.theory.gaps import gap
from grbp.theory.values import boundary, optimal_threshold, value

_FURTHER: Final = {
    "figure-3": ("growth-3", "growth-3-others", "growth-3-ucb"),
    "figure-4": ("growth-4", "growth-4-others"),
}
"""Where the curves of a figure are followed further."""

_PRINTED_ROUNDS: Final = {spec.name: spec.checkpoints[-1] for spec in (FIGURE_3, FIGURE_4)}


def _find_result(learner: str, results: Results, *names: str) -> SweepResult | None:
    """Return the first of some results, by their names, that has a curve of a learner."""
    found = (results[name] for name in names if name in results)
    return next((one for one in found if learner in one.simulation().curves), None)


def _find_furthest(results: Results, figure: str, learner: str) -> SweepResult:
    """Return the result that follows a learner of a figure furthest."""
    names = _FURTHER[figure]
    found = _find_result(learner, results, *names)
    if found is None:
        some = any(name in results for name in names)
        raise Missing(f"{learner} in {' or '.join(names)}" if some else names[0])
    return found


def _describe_end(results: Results, figure: str, learner: str) -> str:
    """Describe the mean regret at the last round of a figure; nothing if it was not run."""
    found = _find_result(learner, results, figure)
    if found is None:
        return ""
    simulation = found.simulation()
    curve = simulation.curves[learner]
    end = make_estimate(float(curve.mean[-1]), float(curve.covariance[-1, -1]))
    return f"regret at T = {simulation.rounds:,}: {end}; "


def _estimate_mean(samples: Floats) -> MeasuredNumber:
    """MeasuredNumber the mean of independent samples."""
    count = len(samples)
    variance = float(samples.var(ddof=1)) / count if count > 1 else 0.0
    return make_estimate(float(samples.mean()), variance)


def threshold_is_optimal(figure: str, threshold: int, results: Results) -> Finding:
    """Judge whether a threshold is the optimal one."""
    problem = problem_of(require(results, figure))
    best, b = optimal_threshold(problem), boundary(problem.goal, problem.p_c)
    return Finding(
        HELD if best == threshold else DID_NOT_HOLD,
        f"exact: V(0) = {value(problem, 0):.6f}, V(1) = {value(problem, 1):.6f}",
        f"p_f = {problem.p_f:g} is {'not below' if best else 'below'} the boundary"
        f" B({problem.p_c:g}) = {b:.6f} (Theorem 2)",
    )


def is_finite(figure: str, learner: str, results: Results) -> Finding:
    """Judge whether a learner's regret stays finite."""
    result = _find_furthest(results, figure, learner)
    grown = measure_growth(result, learner)
    outcome = grown.finite()
    whys = {
        HELD: f"the gains have faded by T = {grown.ends[-1]:,.0f}",
        DID_NOT_HOLD: f"the regret still grows at T = {grown.ends[-1]:,.0f}",
        UNDECIDED: "the interval is too wide to tell a fading gain from a lasting one",
    }
    theory = _explain_growth(result, learner)
    if theory and outcome == HELD:
        outcome, whys[UNDECIDED] = UNDECIDED, "the curve does not show what theory says"
    evidence = f"{_describe_end(results, figure, learner)}{grown}"
    return Finding(outcome, evidence, f"{whys[outcome]}{theory}")


def _explain_growth(result: SweepResult, learner: str) -> str:
    """Explain why the regret of GETBE-SM is not finite, where that is so."""
    problem, gamma = (
        problem_of(result),
        result.meta.constants.get(learner, {}).get("gamma"),
    )
    asked = gamma_bounded(problem)
    if gamma is None or gamma > asked or optimal_threshold(problem) == 0:
        return ""
    return (
        f"; a finite regret requires gamma > 1/KL(B, p_f) = {asked:.4g} and gamma is {gamma:g}:"
        f" about T^-{gamma / asked:.2f} of the replicas are stuck with a low estimate of p_f and"
        f" try FINISH too rarely, so the regret grows like T^{1.0 - gamma / asked:.2f}"
    )


def is_logarithmic(figure: str, learner: str, results: Results) -> Finding:
    """Judge whether a learner's regret grows like log(T)."""
    result = _find_furthest(results, figure, learner)
    grown = measure_growth(result, learner)
    outcome = grown.steady(np.log(grown.ends))
    whys = {
        HELD: f"the slope on log T is {grown.tendency()}",
        DID_NOT_HOLD: f"the slope on log T is not steady: {grown.tendency()}",
        UNDECIDED: "the intervals are too wide to tell a steady slope from another",
    }
    if outcome == HELD and grown.drifting:
        outcome = UNDECIDED
        whys[UNDECIDED] = (
            f"up to T = {grown.ends[-1]:,.0f} the slope on log T is {grown.tendency()}"
        )
    limit, begun = _explain_slope(result, learner), find_onset(result.simulation(), learner)
    evidence = f"{_describe_end(results, figure, learner)}{grown}" + (f"; {begun}" if begun else "")
    printed = _PRINTED_ROUNDS[figure]
    if outcome == HELD and begun and begun.begins > printed:
        limit += f"; the paper's {printed:,} rounds do not show it"
    return Finding(outcome, evidence, f"{whys[outcome]}{limit}")


def _explain_slope(result: SweepResult, learner: str) -> str:
    """Explain what the slope tends to, where that is known.

    Forced explorations cost gamma (V* - p_f). UCB1 with two arms costs 2/gap, for it plays the
    worse one 2 log(T)/gap^2 times.
    """
    problem = problem_of(result)
    if learner == "getbe-sm" and optimal_threshold(problem) == 0:
        slope = forced_exploration_slope(problem, result.meta.constants[learner]["gamma"])
        return f"; in the long run it is gamma (V* - p_f) = {slope:.3g}"
    if learner == "ucb-polselection":
        return f"; in the long run it is 2/gap = {2.0 / gap(problem):.3g}"
    return ""


def is_linear(figure: str, learner: str, results: Results) -> Finding:
    """Judge whether a learner's regret grows like T."""
    grown = measure_growth(_find_furthest(results, figure, learner), learner)
    outcome = grown.steady(grown.ends)
    before, last = grown.gains(grown.ends)[-2:]
    whys = {
        HELD: "the cost of a round stays the same: replicas whose estimate of p_f is too low"
        " never try FINISH again",
        DID_NOT_HOLD: "the cost of a round does not stay the same",
        UNDECIDED: "the intervals are too wide to tell a steady cost from another",
    }
    return Finding(
        outcome,
        f"{_describe_end(results, figure, learner)}regret per round: {before} up to"
        f" T = {grown.ends[-2]:,.0f}, {last} up to T = {grown.ends[-1]:,.0f}"
        f" ({grown.replicas:,} replicas)",
        whys[outcome],
    )


def is_lowest(figure: str, learner: str, results: Results) -> Finding:
    """Judge whether a learner has the lowest regret of the paper's five."""
    simulation = require(results, figure).simulation()
    curves = simulation.curves
    others = [name for name in PAPER_LEARNERS if name in curves and name != learner]
    if learner not in curves or len(others) < len(PAPER_LEARNERS) - 1:
        raise Missing(f"curve of every learner of the paper in {figure}")
    own = curves[learner].final
    # Replica by replica: differences between replicas cancel.
    more = {name: _estimate_mean(curves[name].final - own) for name in others}
    listed = ", ".join(f"{TITLES[name]} {estimate}" for name, estimate in more.items())
    evidence = (
        f"regret at T = {simulation.rounds:,}: {_estimate_mean(own)}; more than it, replica by"
        f" replica: {listed} ({len(own):,} replicas)"
    )
    better = [TITLES[name] for name, estimate in more.items() if estimate.high < 0.0]
    if better:
        return Finding(DID_NOT_HOLD, evidence, f"{', '.join(better)} is lower")
    if all(estimate.low > 0.0 for estimate in more.values()):
        why = "the other four of the five printed curves have more regret"
        if "no-explore" in curves:
            last = _estimate_mean(curves["no-explore"].final)
            why += f" (NoExplore, which is not printed, has {last})"
        return Finding(HELD, evidence, why)
    return Finding(UNDECIDED, evidence, "the interval of a difference contains 0")


def theorem_applies(figure: str, results: Results) -> Finding:
    """Judge whether Theorem 3 applies with the paper's gamma."""
    result = require(results, figure)
    gamma = result.meta.constants.get(GETBE[0], {}).get("gamma")
    if gamma is None:
        raise Missing(f"{GETBE[0]} in {figure}")
    bound = getbe_bound(problem_of(result), gamma, result.spec.checkpoints[-1])
    return Finding(
        HELD if bound.applies else DID_NOT_HOLD,
        f"exact: gamma must exceed {bound.gamma_required:.6g} and is {gamma:g}",
        bound.why if bound.applies else f"{bound.why}, so it says nothing about this experiment",
    )
