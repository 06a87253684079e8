"""Regret, measured: on one problem, on a grid of them, and against the best of the paper's five."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

import grbp
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Z_95
from grbp.model.problem import StartLike
from grbp.numerics.arrays import Floats
from measure import Effort, say

DEFAULT = grbp.DEFAULT_LEARNER
FIVE = PAPER_LEARNERS
SHORT = {"ps-polselection": "ps-pol.", "ucb-polselection": "ucb-pol."}
"""What two of the five are called where there is little room."""

FIG3, FIG4 = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.3)
ROUNDS = 5000
FACTOR, ALLOWANCE = 1.5, 4.0
"""What the default may regret at any point: so many times the best of the five, and so much."""


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


class Three(NamedTuple):
    """The three figures by which a learner is judged."""

    fig3: Estimate
    fig4: Estimate
    grid: Map


def figure(number: float, digits: int = 3) -> str:
    """A number with so many digits, without an exponent."""
    if not math.isfinite(number):
        return "-"
    if number == 0.0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:,.{min(places, 4)}f}"
    return text.replace("0.", ".", 1) if abs(number) < 1.0 and text.strip("-")[0] == "0" else text


def steps(effort: Effort) -> list[float]:
    """Every p_c, and every p_f, of a grid."""
    return [0.2, 0.5, 0.8] if effort.quick else [k / 10 for k in range(1, 10)]


def between(effort: Effort) -> list[tuple[float, float]]:
    """The points half-way between those of the grid, and around them."""
    steps = [0.25, 0.55, 0.85] if effort.quick else [(k + 0.5) / 10 for k in range(10)]
    return [(p_c, p_f) for p_c in steps for p_f in steps]


def points(effort: Effort) -> list[tuple[float, float]]:
    """The points (p_c, p_f) of the grid."""
    return [(p_c, p_f) for p_c in steps(effort) for p_f in steps(effort)]


def once(
    problem: grbp.Problem, learner: str, replicas: int, seed: int = 0, rounds: int = ROUNDS
) -> Estimate:
    """The regret of a learner on a problem."""
    result = grbp.simulate(problem, [learner], rounds, replicas, seed, checkpoints=[rounds])
    curve = result.curves[learner]
    return Estimate(float(curve.mean[-1]), float(curve.se[-1]))


def grid(
    at: Sequence[tuple[float, float]],
    learner: str,
    replicas: int,
    rounds: int = ROUNDS,
    case: tuple[int, StartLike] = (4, "uniform"),
    first: int = 0,
) -> Map:
    """The regret of a learner at every point, with a goal and a start; one seed a point."""
    goal, start = case
    say(f"{learner} at {len(at)} points, goal {goal}, {rounds:,} rounds")
    found = [
        once(grbp.Problem(goal, p_c, p_f, start), learner, replicas, seed, rounds)
        for seed, (p_c, p_f) in enumerate(at, first)
    ]
    mean, se = np.array(found).T
    return Map(mean, se)


def three(effort: Effort, learner: str, replicas: tuple[int, int, int], first: int = 0) -> Three:
    """The three figures of a learner, each with its replicas, from a first seed on."""
    say(f"{learner} in the settings of Figures 3 and 4")
    fig3, fig4 = (once(FIG3, learner, replicas[0], first), once(FIG4, learner, replicas[1], first))
    return Three(fig3, fig4, grid(points(effort), learner, replicas[2], first=first))


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


def beyond(learner: Map, five: Map) -> tuple[int, Estimate]:
    """The point where a learner is furthest above what is allowed, and by how much."""
    k = int((learner.mean - FACTOR * five.mean).argmax())
    over = learner.at(k).less(five.at(k), FACTOR)
    return k, Estimate(over.mean - ALLOWANCE, over.se)


def worst_points(learner: Map, five: Map, count: int) -> Sequence[int]:
    """The points where a learner is furthest above the best of the five, the worst first."""
    order = (learner.mean - five.mean).argsort()[::-1]
    return [int(k) for k in order[:count]]


def clearly_above(learner: Map, five: Map) -> int:
    """At how many points a learner is above the best of the five by two standard errors."""
    return int((learner.mean - five.mean > 2.0 * np.hypot(learner.se, five.se)).sum())


def place(point: tuple[float, float]) -> str:
    """A point in words."""
    return ", ".join(f"{p:g}".lstrip("0") for p in point)


def seeds(effort: Effort, first: int = 0) -> str:
    """The seeds of a grid, in words."""
    return f"seeds {first} to {first + len(points(effort)) - 1}"


def brief(learner: str) -> str:
    """A learner of the doorstep where there is little room."""
    return learner.removeprefix("doorstep-")
