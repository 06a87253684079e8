"""The claims of the paper about a map of regret over all probabilities."""

from typing import Any

import numpy as np

from grbp.experiments.sweep_result import RegretMap
from grbp.numerics.arrays import Bools, Floats
from grbp.paper.growth import (
    DID_NOT_HOLD,
    HELD,
    UNDECIDED,
    Finding,
    Judgement,
    MeasuredNumber,
    Missing,
    Results,
    make_estimate,
    require,
)
from grbp.theory.values import boundary, optimal_threshold
from grbp.worlds.problem import Problem


def regions_differ(figure: str, results: Results) -> Finding:
    """Judge whether regret is higher in the exploration region, on average over a map."""
    result = require(results, figure)
    found, spec = result.regret_map(), result.spec
    explored = _find_explored(found)
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
        f"mean regret at T = {spec.checkpoints[-1]:,}: {found.mean[explored].mean():.3g} over"
        f" {explored.sum()} cells in the exploration region, {found.mean[~explored].mean():.3g}"
        f" over {(~explored).sum()} in the other; difference {more}; rank correlation with"
        f" B(p_c) - p_f over all cells: {with_depth:.2f} ({spec.replicas:,} replicas a cell)",
        whys[outcome],
    )


def every_line_rises(figure: str, results: Results) -> Finding:
    """Judge the same for each line of the map that crosses the boundary, at one p_f or p_c."""
    found = require(results, figure).regret_map()
    arrays = found.mean, found.se, _find_explored(found)
    lines = {f"p_f = {p:g}": [a[i] for a in arrays] for i, p in enumerate(found.p_f)}
    lines |= {f"p_c = {p:g}": [a[:, j] for a in arrays] for j, p in enumerate(found.p_c)}
    crossing = {name: line for name, line in lines.items() if line[2].any() and not line[2].all()}
    if not crossing:
        raise Missing(f"line across the boundary in {figure}")
    rises = {name: _difference(*line) for name, line in crossing.items()}
    steps = {name: _difference(*_cells_at_boundary(*line)) for name, line in crossing.items()}
    up, down = (_names_with_sign(rises, sign) for sign in (1.0, -1.0))
    steps_up, steps_down = (_names_with_sign(steps, sign) for sign in (1.0, -1.0))
    smallest = min(rises, key=lambda name: rises[name].value)
    falls = "; ".join(f"{steps[name]} at {name}" for name in steps_down)
    evidence = (
        f"{len(up)} of {len(rises)} lines that cross the boundary have more regret beyond it, on"
        f" average, and {len(down)} less; smallest difference {rises[smallest]} at {smallest};"
        f" between the two cells next to the boundary it surely rises in"
        f" {len(steps_up)} lines and surely falls in {len(steps_down)}"
        f"{f' ({falls})' if falls else ''}"
    )
    if down:
        return Finding(
            DID_NOT_HOLD, evidence, f"there is less regret beyond the boundary at {', '.join(down)}"
        )
    if len(up) < len(rises):
        return Finding(UNDECIDED, evidence, "the interval of a difference contains 0")
    return Finding(HELD, evidence, "every line has more regret beyond the boundary than before it")


def _names_with_sign(differences: dict[str, MeasuredNumber], sign: float) -> list[str]:
    """Return the names of the differences that surely have a sign."""
    return [name for name, d in differences.items() if min(sign * d.low, sign * d.high) > 0.0]


def _cells_at_boundary(mean: Floats, se: Floats, explored: Bools) -> list[Any]:
    """Return the two cells of a line between which the boundary lies."""
    k = int(np.flatnonzero(np.diff(explored))[0])
    return [array[k : k + 2] for array in (mean, se, explored)]


def _find_explored(found: RegretMap) -> Bools:
    """Return which cells of a map lie in the exploration region: [p_f, p_c]."""
    goal, p_c = found.goal, found.p_c
    rows = [[optimal_threshold(Problem(goal, p, p_f)) == 0 for p in p_c] for p_f in found.p_f]
    return np.array(rows)


def _depth(found: RegretMap) -> Floats:
    """Return B(p_c) - p_f in every cell: how deep in the exploration region it lies."""
    edge: Floats = boundary(found.goal, found.p_c)
    depth: Floats = edge[None, :] - np.array(found.p_f)[:, None]
    return depth


def _difference(mean: Floats, se: Floats, explored: Bools) -> MeasuredNumber:
    """MeasuredNumber the mean over the exploration region less that elsewhere.

    The cells are independent of each other.
    """
    weights = np.where(explored, 1.0 / explored.sum(), -1.0 / (~explored).sum())
    return make_estimate(float((weights * mean).sum()), float((weights**2 * se**2).sum()))


def _rank_correlation(x: Floats, y: Floats) -> float:
    """Compute Spearman's rank correlation, for numbers without ties."""
    first, second = (values.ravel().argsort().argsort() for values in (x, y))
    return float(np.corrcoef(first, second)[0, 1])
