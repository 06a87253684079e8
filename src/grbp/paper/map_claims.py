"""The claims of the paper about a map of regret over all probabilities."""

import numpy as np

from grbp.experiments.results import GridResult
from grbp.model.problem import Problem
from grbp.numerics.arrays import Bools, Floats
from grbp.paper.growth import (
    DID_NOT_HOLD,
    HELD,
    UNDECIDED,
    Estimate,
    Finding,
    Judgement,
    Missing,
    Results,
    estimate,
    needed,
)
from grbp.theory.values import boundary, optimal_threshold


def regions_differ(figure: str, results: Results) -> Finding:
    """Judge whether regret is higher in the exploration region, on average over a map."""
    found = needed(results, figure, GridResult)
    explored = _explored(found)
    if explored.all() or not explored.any():
        raise Missing(f"map of both regions in {figure}")
    more = _difference(found.mean, found.se, explored)
    with_depth = _rank_correlation(found.mean, _depth(found))
    outcome: Judgement = HELD if more.low > 0.0 else DID_NOT_HOLD if more.high < 0.0 else UNDECIDED
    whys = {
        HELD: "learning costs more where FINISH must be forced and is never right",
        DID_NOT_HOLD: "learning costs less in the exploration region",
        UNDECIDED: "the interval of the difference contains 0",
    }
    return Finding(
        outcome,
        f"mean regret at T = {found.spec.rounds:,}: {found.mean[explored].mean():.3g} over"
        f" {explored.sum()} cells in the exploration region, {found.mean[~explored].mean():.3g}"
        f" over {(~explored).sum()} in the other; difference {more}; rank correlation with"
        f" B(p_c) - p_f over all cells: {with_depth:.2f} ({found.spec.replicas:,} replicas a cell)",
        whys[outcome],
    )


def every_line_rises(figure: str, results: Results) -> Finding:
    """Judge the same for each line of the map that crosses the boundary, at one p_f or p_c."""
    found = needed(results, figure, GridResult)
    explored = _explored(found)
    arrays = found.mean, found.se, explored
    lines = {f"p_f = {p:g}": [a[i] for a in arrays] for i, p in enumerate(found.spec.p_f)}
    lines |= {f"p_c = {p:g}": [a[:, j] for a in arrays] for j, p in enumerate(found.spec.p_c)}
    rises = {
        line: _difference(mean, se, inside)
        for line, (mean, se, inside) in lines.items()
        if inside.any() and not inside.all()
    }
    if not rises:
        raise Missing(f"line across the boundary in {figure}")
    fall = [f"{line}: {rise}" for line, rise in rises.items() if rise.high < 0.0]
    up = sum(rise.low > 0.0 for rise in rises.values())
    smallest = min(rises, key=lambda line: rises[line].value)
    evidence = (
        f"{up} of {len(rises)} lines that cross the boundary have more regret beyond it;"
        f" smallest difference {rises[smallest]} at {smallest};"
        f" less regret beyond it at {len(fall)} of them"
    )
    evidence += f" ({'; '.join(fall)})" if fall else ""
    if fall:
        at = ", ".join(line.partition(":")[0] for line in fall)
        return Finding(DID_NOT_HOLD, evidence, f"there is less regret beyond the boundary at {at}")
    if up < len(rises):
        return Finding(UNDECIDED, evidence, "the interval of a difference contains 0")
    return Finding(HELD, evidence, "every line has more regret beyond the boundary than before it")


def _explored(found: GridResult) -> Bools:
    """Return which cells of a map lie in the exploration region: [p_f, p_c]."""
    goal, p_c = found.spec.goal, found.spec.p_c
    rows = [[optimal_threshold(Problem(goal, p, p_f)) == 0 for p in p_c] for p_f in found.spec.p_f]
    return np.array(rows)


def _depth(found: GridResult) -> Floats:
    """Return B(p_c) - p_f in every cell: how deep in the exploration region it lies."""
    edge: Floats = boundary(found.spec.goal, found.spec.p_c)
    depth: Floats = edge[None, :] - np.array(found.spec.p_f)[:, None]
    return depth


def _difference(mean: Floats, se: Floats, explored: Bools) -> Estimate:
    """Estimate the mean over the exploration region less that elsewhere.

    The cells are independent of each other.
    """
    weights = np.where(explored, 1.0 / explored.sum(), -1.0 / (~explored).sum())
    return estimate(float((weights * mean).sum()), float((weights**2 * se**2).sum()))


def _rank_correlation(x: Floats, y: Floats) -> float:
    """Compute Spearman's rank correlation, for numbers without ties."""
    first, second = (values.ravel().argsort().argsort() for values in (x, y))
    return float(np.corrcoef(first, second)[0, 1])
