"""Regret, measured: on one problem, on a grid of them, and against the best of the paper's five."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

import grbp
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Z_95
from grbp.learners.base import Learner
from grbp.numerics.arrays import Floats
from measure import Effort, say

OURS = "doorstep-optimal"
FIVE = PAPER_LEARNERS
SHORT = {"ps-polselection": "ps-pol.", "ucb-polselection": "ucb-pol."}
"""What two of the five are called where there is little room."""

FIG3, FIG4 = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.3)
ROUNDS = 5000
NEAREST = 1e-4
"""How near to the boundary problems are drawn on purpose."""


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{figure(self.mean)}±{figure(self.se, 1)}"

    @property
    def interval(self) -> str:
        """The interval that holds 95 %."""
        low, high = self.ends
        return f"[{figure(low)}, {figure(high)}]"

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of that interval."""
        return self.mean - Z_95 * self.se, self.mean + Z_95 * self.se

    def over(self, other: "Estimate") -> "Estimate":
        """The ratio to another estimate, as if the two were independent (the delta method)."""
        if self.mean <= 0.0 or other.mean <= 0.0:
            return Estimate(math.nan, math.nan)
        ratio = self.mean / other.mean
        return Estimate(ratio, ratio * math.hypot(self.se / self.mean, other.se / other.mean))

    def less(self, other: "Estimate", factor: float = 1.0) -> "Estimate":
        """The difference to so many times another estimate."""
        return Estimate(self.mean - factor * other.mean, math.hypot(self.se, factor * other.se))


class Map(NamedTuple):
    """A learner on the points of a grid: mean regret and its standard error at each."""

    mean: Floats
    se: Floats

    def at(self, k: int) -> Estimate:
        """The regret at a point."""
        return Estimate(float(self.mean[k]), float(self.se[k]))

    @property
    def all(self) -> Estimate:
        """The mean over all points, which have draws of their own."""
        return Estimate(float(self.mean.mean()), float(np.sqrt((self.se**2).sum()) / len(self.se)))


def figure(number: float, digits: int = 3) -> str:
    """A number with so many digits, without an exponent."""
    if not math.isfinite(number):
        return "-"
    if number == 0.0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:,.{min(places, 4)}f}"
    return text.replace("0.", ".", 1) if abs(number) < 1.0 and text.strip("-")[0] == "0" else text


def points(effort: Effort) -> list[tuple[float, float]]:
    """The points (p_c, p_f) of the grid."""
    steps = [0.2, 0.5, 0.8] if effort.quick else [k / 10 for k in range(1, 10)]
    return [(p_c, p_f) for p_c in steps for p_f in steps]


def told(horizon: int) -> str:
    """The rule that is told how many rounds there will be."""
    return f"{OURS}:horizon={horizon}"


def near_boundary(b: Floats, place: Floats) -> tuple[Floats, Floats]:
    """p_f of problems that are uniform by their places, half of them near B; weights undo that.

    In long runs the few problems very near to it have most of the regret. Those have a p_f whose
    distance from B is uniform in its logarithm; where that is not a probability, nothing counts.
    """
    near = math.log(1.0 / NEAREST)
    kind, part = np.divmod(2.0 * place, 1.0)
    side, far = np.divmod(2.0 * part, 1.0)
    p_f = np.where(kind, b + (2.0 * side - 1.0) * np.exp(-near * far), part)
    apart, inside = np.abs(p_f - b), (p_f > 0.0) & (p_f < 1.0)
    chance = np.where(apart >= NEAREST, 0.5 / (near * np.maximum(apart, NEAREST)), 0.0)
    return np.where(inside, p_f, 0.5), np.where(inside, 1.0 / (0.5 + 0.5 * chance), 0.0)


def once(
    problem: grbp.Problem,
    learner: str | Learner,
    replicas: int,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> Estimate:
    """The regret of a learner on a problem."""
    result = grbp.simulate(problem, [learner], rounds, replicas, seed, checkpoints=[rounds])
    (curve,) = result.curves.values()
    return Estimate(float(curve.mean[-1]), float(curve.se[-1]))


def grid(at: Sequence[tuple[float, float]], learner: str, replicas: int) -> Map:
    """The regret of a learner at every point; one seed a point."""
    say(f"{learner} at {len(at)} points")
    found = [once(grbp.Problem(4, *point), learner, replicas, k) for k, point in enumerate(at)]
    mean, se = np.array(found).T
    return Map(mean, se)


def best(estimates: dict[str, Estimate]) -> tuple[str, Estimate]:
    """Who regrets the least, and how much."""
    name = min(estimates, key=lambda one: estimates[one].mean)
    return name, estimates[name]


def hindsight(maps: Iterable[Map]) -> Map:
    """At every point the best of some learners, chosen after all have played."""
    kept = list(maps)
    mean, se = np.array([one.mean for one in kept]), np.array([one.se for one in kept])
    first = mean.argmin(axis=0)[None]
    return Map(np.take_along_axis(mean, first, 0)[0], np.take_along_axis(se, first, 0)[0])


def worst_points(learner: Map, five: Map, count: int) -> Sequence[int]:
    """The points where a learner is furthest above the best of the five, the worst first."""
    order = (learner.mean - five.mean).argsort()[::-1]
    return [int(k) for k in order[:count]]


def place(point: tuple[float, float]) -> str:
    """A point in words."""
    return ", ".join(f"{p:g}".lstrip("0") for p in point)
