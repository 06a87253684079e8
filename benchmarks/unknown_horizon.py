"""What it costs not to know the horizon: the least worst ratio, and the shape that has it.

    .venv/bin/python benchmarks/unknown_horizon.py          # prints, and writes unknown_horizon.md
    .venv/bin/python benchmarks/unknown_horizon.py --quick  # on a coarse grid, which only prints

A one-armed bandit in the normal model: FINISH has an unknown mean, CONTINUE is worth 0, every round
is a chance to try FINISH. A learner that knows the horizon T has the regret R(T). One that does not
has a regret for every T; the worst of its ratios to R(T) is to be small. Against it plays somebody
who chooses weights of the horizons; for given weights the best learner is a dynamic programme, and
what it has left is a limit that no learner can be below.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from columns import Columns
from grbp.learners.doorstep_optimal import rounds_to_come
from grbp.learners.optimal_stopping import stopping_evidence
from grbp.numerics.arrays import Floats
from measure import Effort, say
from sections import Section, Sections, run

PRIOR = 3.0
"""A flat prior of a probability has the variance of so many samples."""

WIDE = 8.0
"""As many deviations from 0 as are looked at."""

LEGEND = (
    "The normal model, with CONTINUE known; every round is a chance to try FINISH. Rounds and"
    " samples of FINISH are on a grid of equal ratios. Where FINISH is tried, a step is taken in"
    " samples, and one in rounds with the chance that makes both right on average. The ratio is"
    " 1.08, and means are a twentieth of a deviation apart. Nothing is drawn at random."
)
SHAPES: dict[str, Callable[[float], float]] = {
    "as many as played": lambda played: played,
    "twice as many": lambda played: 2.0 * played,
    "three times as many": lambda played: 3.0 * played,
    "1,000 and twice as many": lambda played: 1000.0 + 2.0 * played,
    "as many, at least 5,000": lambda played: max(5000.0, played),
    "doorstep-optimal": lambda played: rounds_to_come(0.0, max(1, round(played))),
}
"""How many rounds are thought to come, by how many were played."""


@dataclass(frozen=True)
class Model:
    """The grid: the ratio of its rounds, the step of deviations, and the most rounds."""

    ratio: float
    step: float
    most: float

    @cached_property
    def rounds(self) -> Floats:
        """Rounds played, with those that the prior is worth."""
        count = math.ceil(math.log(3.0 * self.most / PRIOR) / math.log(self.ratio)) + 1
        return PRIOR * self.ratio ** np.arange(count + 1)

    @cached_property
    def at(self) -> Floats:
        """The mean of FINISH in its deviations."""
        return np.linspace(-WIDE, WIDE, round(2.0 * WIDE / self.step) + 1)

    @cached_property
    def losses(self) -> tuple[Floats, Floats]:
        """What FINISH, and what CONTINUE, loses on average, in deviations."""
        density = np.exp(-0.5 * self.at**2) / math.sqrt(2.0 * math.pi)
        below = np.array([0.5 * math.erfc(z / math.sqrt(2.0)) for z in self.at])
        return density - self.at * below, density + self.at * (1.0 - below)

    @cached_property
    def moves(self) -> tuple[np.ndarray, Floats, Floats]:
        """Where a step in samples leads: grid points below, the parts above, the chances."""
        chance = np.array([1 / 6, 2 / 3, 1 / 6])
        by = math.sqrt(3.0 * (1.0 - 1.0 / self.ratio)) * np.array([-1.0, 0.0, 1.0])
        to = np.clip(math.sqrt(self.ratio) * (self.at + by[:, None]), -WIDE, WIDE)
        place = (to + WIDE) / self.step
        below = np.minimum(place.astype(np.int64), len(self.at) - 2)
        return below, place - below, chance

    def solve(self, weight: Floats) -> tuple[float, np.ndarray]:
        """Find the least regret, with weights of the rounds, and when FINISH is tried for it."""
        count = len(self.rounds) - 1
        tried = np.zeros((count, count, len(self.at)), np.uint8)
        left = _solve(self.rounds, weight, *self.losses, *self.moves, tried)
        return float(left @ self.start), tried

    def regrets(self, tried: np.ndarray) -> Floats:
        """Compute the regret after every number of rounds of the grid."""
        return np.cumsum(_play(self.rounds, *self.losses, *self.moves, tried, self.start))

    @cached_property
    def start(self) -> Floats:
        """The chances of the first mean: as if all p_f, and all B, were alike."""
        inside = np.abs(self.at) <= math.sqrt(PRIOR) * 1.0001
        return inside / inside.sum()

    def ends(self, first: float) -> np.ndarray:
        """The grid points that are horizons, from a first one on."""
        played = self.rounds[1:] - PRIOR
        return np.flatnonzero((played > 0.95 * first) & (played < 1.05 * self.most))

    def known(self, end: int) -> float:
        """The regret of a learner that knows the horizon."""
        return self.solve((np.arange(len(self.rounds) - 1) <= end).astype(float))[0]

    def shaped(self, to_come: Callable[[float], float]) -> np.ndarray:
        """When FINISH is tried by optimal stopping, with so many rounds to come."""
        count = len(self.rounds) - 1
        tried = np.zeros((count, count, len(self.at)), np.uint8)
        for k in range(count):
            coming = max(1.0, to_come(self.rounds[k] - PRIOR))
            for i in range(k + 1):
                needed = math.sqrt(2.0 * stopping_evidence(self.rounds[i], coming))
                tried[k, i] = self.at >= -needed
        return tried


@njit
def _solve(rounds, weight, finish, go_on, below, above, chance, tried):  # noqa: PLR0913, PLR0917
    """Go backwards through the rounds; within them, from the most samples to the fewest."""
    count, wide = len(rounds) - 1, len(finish)
    then, now = np.zeros((count + 1, wide)), np.zeros((count + 1, wide))
    for k in range(count - 1, -1, -1):
        for i in range(k, -1, -1):
            passed = (rounds[i + 1] - rounds[i]) / (rounds[k + 1] - rounds[k])
            cost = weight[k] * (rounds[k + 1] - rounds[k]) / math.sqrt(rounds[i])
            for z in range(wide):
                wait = cost * go_on[z] + then[i, z]
                try_it = cost * passed * finish[z]
                for j in range(len(chance)):
                    a, w = below[j, z], above[j, z]
                    later = (1.0 - w) * then[i + 1, a] + w * then[i + 1, a + 1]
                    soon = (1.0 - w) * now[i + 1, a] + w * now[i + 1, a + 1] if i < k else later
                    try_it += chance[j] * (passed * later + (1.0 - passed) * soon)
                tried[k, i, z] = 1 if try_it <= wait else 0
                now[i, z] = min(try_it, wait)
        then[: k + 1] = now[: k + 1]
    return then[0]


@njit
def _play(rounds, finish, go_on, below, above, chance, tried, start):  # noqa: PLR0913, PLR0917
    """Go forwards with the law of where a learner is; return the regret of every step."""
    count, wide = len(rounds) - 1, len(finish)
    now, then, regret = np.zeros((count + 1, wide)), np.zeros((count + 1, wide)), np.zeros(count)
    now[0] = start
    for k in range(count):
        then[:] = 0.0
        for i in range(k + 1):
            passed = (rounds[i + 1] - rounds[i]) / (rounds[k + 1] - rounds[k])
            cost = (rounds[k + 1] - rounds[k]) / math.sqrt(rounds[i])
            for z in range(wide):
                here = now[i, z]
                if here < 1e-14:
                    continue
                if not tried[k, i, z]:
                    regret[k] += here * cost * go_on[z]
                    then[i, z] += here
                    continue
                regret[k] += here * cost * passed * finish[z]
                for j in range(len(chance)):
                    a, w, part = below[j, z], above[j, z], here * chance[j]
                    then[i + 1, a] += part * passed * (1.0 - w)
                    then[i + 1, a + 1] += part * passed * w
                    if i < k:
                        now[i + 1, a] += part * (1.0 - passed) * (1.0 - w)
                        now[i + 1, a + 1] += part * (1.0 - passed) * w
        now, then = then, now
    return regret


@dataclass(frozen=True)
class Game:
    """The game over horizons: the limit, the best learner found, and what others have."""

    limit: float
    best: float
    shape: list[tuple[float, float]]
    others: dict[str, tuple[float, list[float]]]


def played_out(model: Model, first: float, passes: int) -> Game:
    """Find the weights of the horizons that cost most, by raising those that cost more."""
    ends = model.ends(first)
    say(f"{len(ends)} horizons from {first:g} to {model.most:g}")
    known = np.array([model.known(end) for end in ends])
    weights, limit, best = np.full(len(ends), 1.0 / len(ends)), 0.0, math.inf
    kept = np.zeros(0)
    for k in range(passes):
        rounds = np.zeros(len(model.rounds) - 1)
        np.add.at(rounds, ends, weights / known)
        value, tried = model.solve(rounds[::-1].cumsum()[::-1])
        ratio = model.regrets(tried)[ends] / known
        limit = max(limit, value)
        if ratio.max() < best:
            best, kept = float(ratio.max()), tried
        weights = weights * np.exp(3.0 / (1.0 + k / 30) * (ratio - ratio.max()))
        weights /= weights.sum()
    others = {}
    for name, shape in SHAPES.items():
        ratio = model.regrets(model.shaped(shape))[ends] / known
        some = [float(ratio[k]) for k in np.linspace(0, len(ends) - 1, 5).astype(int)]
        others[name] = float(ratio.max()), some
    return Game(limit, best, _shape(model, kept, first), others)


def _shape(model: Model, tried: np.ndarray, first: float) -> list[tuple[float, float]]:
    """Find for how many rounds to come, over those played, optimal stopping does the same."""
    found = []
    samples = int(np.argmin(np.abs(model.rounds - 20.0)))
    played = first * 2.0
    while played < model.most:
        k = int(np.argmin(np.abs(np.log(model.rounds[:-1] / (played + PRIOR)))))
        z = model.at[int(np.argmax(tried[k, samples]))] - 0.5 * model.step
        low, high = -20.0, 60.0
        while high - low > 1e-6:
            middle = 0.5 * (low + high)
            enough = stopping_evidence(model.rounds[samples], math.exp(middle)) > 0.5 * z * z
            low, high = (low, middle) if enough else (middle, high)
        found.append((played, math.exp(low) / model.rounds[k]))
        played *= 5.0
    return found


def measured(effort: Effort) -> list[Columns]:
    """Measure for horizons from 100 and from 10 on."""
    model = Model(*((1.25, 0.1, 1e5) if effort.quick else (1.08, 0.05, 1e6)))
    tables = []
    for first in (100.0, 10.0):
        game = played_out(model, first, effort.choose(40, 300))
        ends = np.geomspace(first, model.most, 5)
        table = Columns(
            f"Horizons from {first:g} to {model.most:,.0f}: worst ratio to a learner that knows the"
            " horizon, and ratios at some",
            ("rounds thought to come", "worst", *(f"T = {end:,.0f}" for end in ends)),
            notes=[
                f"No learner has less than {game.limit:.3f}; the best that was found has"
                f" {game.best:.3f}.",
                "That one gives up as optimal stopping does with so many rounds to come for each"
                " that was played: "
                + ", ".join(f"{c:.1f} after {played:,.0f}" for played, c in game.shape)
                + ".",
            ],
        )
        for name, (worst, some) in game.others.items():
            table.rows.append((name, f"{worst:.3f}", *(f"{one:.3f}" for one in some)))
        tables.append(table)
    return tables


SECTIONS: Sections = {"minimax": Section("The least worst ratio", measured)}

if __name__ == "__main__":
    run(__file__, "What it costs not to know the horizon", LEGEND, SECTIONS)
