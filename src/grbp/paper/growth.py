"""How a mean regret curve grows: gains in tenfold spans of rounds, with their intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from grbp.experiments.regret import Z_95
from grbp.experiments.simulation import Simulation
from grbp.experiments.sweep_result import SweepResult
from grbp.numerics.arrays import Floats
from grbp.theory.gaps import gap
from grbp.worlds.problem import Problem

HELD: Final = "held"
DID_NOT_HOLD: Final = "did not hold"
UNDECIDED: Final = "cannot be decided"
Judgement: TypeAlias = Literal["held", "did not hold", "cannot be decided"]

_FLAT: Final = 0.01
"""A tenfold span that adds less than this share of the regret adds nothing."""

_DRIFT: Final = 0.2
"""A slope that changes by more than this share from one span to the next has not settled."""

_ROUNDING: Final = 1e-12
"""A sum or difference that is smaller than this share of its terms is rounding error."""

_POWERS: Final = frozenset(10**k for k in range(1, 19))


class MeasuredNumber(NamedTuple):
    """A number and its interval at 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        width = self.high - self.value
        if width == 0.0:
            return f"{self.value:.4g} in every replica"
        decimals = max(0, 1 - math.floor(math.log10(width)))
        value, low, high = (f"{number:,.{decimals}f}" for number in self)
        return f"{value} [{low}, {high}]"


class Finding(NamedTuple):
    """The outcome of one claim, the evidence and the reason."""

    outcome: Judgement
    evidence: str
    why: str


Results: TypeAlias = Mapping[str, SweepResult]
"""Results by the name of their experiment."""


class Missing(LookupError):
    """A result that a claim needs is not there."""


def require(results: Results, name: str) -> SweepResult:
    """Return the result of an experiment, or say that it is missing."""
    if name not in results:
        raise Missing(name)
    return results[name]


def problem_of(result: SweepResult) -> Problem:
    """Return the problem of an experiment, which has one."""
    (problem,) = result.spec.each_problem()
    return cast("Problem", problem)


@dataclass(frozen=True)
class Growth:
    """The gains of one mean curve in its last tenfold spans of rounds.

    Attributes
    ----------
    ends : ndarray
        The rounds between which the gains are taken, in order.
    mean : ndarray
        The mean regret at the ends.
    spread : ndarray
        The covariance of these means.
    replicas : int
    round_cost : float
        The most that one round can cost.
    """

    ends: Floats
    mean: Floats
    spread: Floats
    replicas: int
    round_cost: float = 0.0

    def contrast(self, weights: Floats) -> MeasuredNumber:
        """MeasuredNumber a linear combination of the means at the ends."""
        variance = stable_sum(np.outer(weights, weights) * self.spread)
        return make_estimate(stable_sum(weights * self.mean), variance)

    def _weights(self, span: int, scale: Floats) -> Floats:
        """Return the weights of the gain in a span, per unit of a scale; span -1 is the last."""
        k = span % (len(self.ends) - 1)
        weights = np.zeros(len(self.ends))
        weights[k : k + 2] = np.array([-1.0, 1.0]) / (scale[k + 1] - scale[k])
        return weights

    def gains(self, scale: Floats) -> list[MeasuredNumber]:
        """MeasuredNumber the gain in each span, per unit of a scale."""
        return [self.contrast(self._weights(k, scale)) for k in range(len(self.ends) - 1)]

    def slopes(self) -> list[MeasuredNumber]:
        """MeasuredNumber the gain in each span, per unit of log(T)."""
        return self.gains(np.log(self.ends))

    def excess(self, factor: float, scale: Floats) -> MeasuredNumber:
        """MeasuredNumber the last gain less a multiple of the one before, per unit of a scale."""
        return self.contrast(self._weights(-1, scale) - factor * self._weights(-2, scale))

    @property
    def flat(self) -> bool:
        """Return whether the last span adds next to nothing."""
        added = self.contrast(self._weights(-1, np.arange(len(self.ends), dtype=float)))
        return added.high <= _FLAT * float(self.mean[-1])

    def finite(self) -> Judgement:
        """Judge whether gains fade: nothing is added, or less than half of the gain before."""
        over_half = self.excess(0.5, np.log(self.ends))
        if self.flat or over_half.high < 0.0:
            return HELD
        return DID_NOT_HOLD if over_half.low > 0.0 else UNDECIDED

    def steady(self, scale: Floats) -> Judgement:
        """Judge whether gains per unit of a scale stay the same, within half and twice."""
        half, twice = self.excess(0.5, scale), self.excess(2.0, scale)
        if self.flat or half.high < 0.0 or twice.low > 0.0:
            return DID_NOT_HOLD
        return HELD if half.low > 0.0 and twice.high < 0.0 else UNDECIDED

    @property
    def drifting(self) -> bool:
        """Return whether the slope on log(T) surely changes, and by more than a fifth."""
        change, before = self.excess(1.0, np.log(self.ends)), self.slopes()[-2].value
        sure = change.low > 0.0 or change.high < 0.0
        return sure and abs(change.value) > _DRIFT * abs(before)

    def _trend(self) -> MeasuredNumber:
        """MeasuredNumber the slope on log(T) in the last span less that in the first."""
        scale = np.log(self.ends)
        return self.contrast(self._weights(-1, scale) - self._weights(0, scale))

    def tendency(self) -> str:
        """Describe how the slope on log(T) changes, from the first of the spans to the last."""
        change = self._trend()
        one_round = self.round_cost / math.log(self.ends[-1] / self.ends[-2])
        if max(-change.low, change.high) <= one_round * (1.0 + _ROUNDING):
            return "steady to within one round in a span"
        spans = f"over {len(self.ends) - 1} spans, by {change}"
        if change.low > 0.0:
            return f"still rising ({spans})"
        if change.high < 0.0:
            return f"falling ({spans})"
        return f"not seen to change ({spans})"

    def __str__(self) -> str:
        spans = zip(self.ends[:-1], self.ends[1:], self.slopes(), strict=True)
        gains = "; ".join(f"{slope} for T from {a:,.0f} to {b:,.0f}" for a, b, slope in spans)
        return f"gain per unit of log T: {gains} ({self.replicas:,} replicas)"


def measure_growth(result: SweepResult, learner: str) -> Growth:
    """Take the gains of a learner's mean regret in the last three tenfold spans of rounds."""
    simulation = result.simulation()
    if learner not in simulation.curves:
        raise Missing(f"{learner} in {result.spec.name}")
    curve, rounds = simulation.curves[learner], simulation.checkpoints.astype(np.float64)
    wanted = rounds[-1] / 10.0 ** np.arange(3, -1, -1)
    nearest = [int(np.abs(np.log(rounds / end)).argmin()) for end in wanted if end >= 1.0]
    at = np.unique(nearest)
    if len(at) < 3:
        raise Missing(f"curve of {learner} over two tenfold spans in {result.spec.name}")
    spread = curve.covariance[np.ix_(at, at)]
    costs = [gap(problem_of(result), threshold) for threshold in curve.threshold_share]
    return Growth(rounds[at], curve.mean[at], spread, simulation.replicas, max(costs, default=0.0))


class Onset(NamedTuple):
    """Where a mean regret curve becomes a logarithm.

    Attributes
    ----------
    begins : float
        The round from which on the slope on log(T), tenfold span by tenfold span, stays within a
        fifth of its last value.
    peak, peak_from, peak_to : float
        The largest slope, and the rounds between which the curve has it.
    """

    begins: float
    peak: float
    peak_from: float
    peak_to: float

    def __str__(self) -> str:
        return (
            f"the slope is largest, {self.peak:.3g}, for T from {self.peak_from:,.0f} to"
            f" {self.peak_to:,.0f}, and within a fifth of its last value from T ="
            f" {self.begins:,.0f} on"
        )


def find_onset(simulation: Simulation, learner: str) -> Onset | None:
    """Find where a learner's curve becomes a logarithm; None if its last two spans differ."""
    curve, rounds = simulation.curves[learner], simulation.checkpoints
    ends = [k for k, look in enumerate(rounds.tolist()) if look in _POWERS]
    slopes = np.diff(curve.mean[ends]) / math.log(10.0)
    if len(slopes) < 2 or slopes[-1] <= 0.0:
        return None
    settled = len(slopes) - 1
    while settled > 0 and abs(slopes[settled - 1] / slopes[-1] - 1.0) < _DRIFT:
        settled -= 1
    if settled == len(slopes) - 1:
        return None
    top = int(slopes.argmax())
    begins, start, stop = (float(rounds[ends[k]]) for k in (settled, top, top + 1))
    return Onset(begins, float(slopes[top]), start, stop)


def stable_sum(terms: Floats) -> float:
    """Add terms; the sum is 0 where they cancel but for rounding errors."""
    total = math.fsum(terms.ravel())
    return total if abs(total) > _ROUNDING * float(np.abs(terms).sum()) else 0.0


def make_estimate(mean: float, variance: float) -> MeasuredNumber:
    """Return a mean with its interval, from the variance of that mean."""
    width = Z_95 * math.sqrt(max(variance, 0.0))
    return MeasuredNumber(mean, mean - width, mean + width)
