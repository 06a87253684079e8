"""Find where an optimal policy finishes, when only one action continues in each state.

The scan starts from FINISH everywhere, and withdraws it from a state where continuing to the next
states that finish is better. A withdrawal only ever makes others more attractive, so none is
taken back and the scan takes as many steps as there are states.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grbp.numerics.arrays import Bools

TIE = 8 * float(np.finfo(float).eps)
"""The relative gain that is no more than rounding error: a tie. Ties go to FINISH."""


class StateLaw(NamedTuple):
    """The probabilities of an action in a state: up, down, won and lost at once (else it stays)."""

    up: float
    down: float
    won: float
    lost: float


class _Crossing(NamedTuple):
    """The walk between two neighbouring stops, entered from one of them.

    Attributes
    ----------
    over : float
        The log probability of coming out on the other side (a log, for it can underflow).
    won, lost : float
        The probabilities that the round ends in between. Else the walk comes back.
    """

    over: float
    won: float
    lost: float


_STEP = _Crossing(0.0, 0.0, 0.0)
"""The crossing between neighbouring states: there is nothing in between."""


class _Stop(NamedTuple):
    """A state that finishes, its reward, and the crossings from the stop below and back."""

    state: int
    reward: float
    rising: _Crossing = _STEP
    falling: _Crossing = _STEP


def optimal_stops(laws: Sequence[StateLaw], rewards: Sequence[float]) -> Bools:
    """Return the states in which an optimal policy finishes, given the reward for that."""
    kept = [_Stop(0, 0.0)]
    for state, reward in enumerate([*rewards, 1.0], start=1):
        kept.append(_Stop(state, reward))
        while len(kept) > 2:
            merged = _remove_stop(kept[-3], kept[-2], kept[-1], laws[kept[-2].state - 1])
            if merged is None:
                break
            kept[-2:] = [merged]
    stops = np.zeros(len(rewards), dtype=bool)
    stops[[stop.state - 1 for stop in kept[1:-1]]] = True
    return stops


def _remove_stop(below: _Stop, here: _Stop, above: _Stop, law: StateLaw) -> _Stop | None:
    """Return the stop above, made the neighbour of the one below, if continuing here is better."""
    log_up, log_down = _log(law.up) + above.rising.over, _log(law.down) + here.falling.over
    won = law.won + law.up * above.rising.won + law.down * here.falling.won
    lost = law.lost + law.up * above.rising.lost + law.down * here.falling.lost
    ways = [
        (log_up, above.reward - here.reward),
        (log_down, below.reward - here.reward),
        (_log(won), 1.0 - here.reward),
        (_log(lost), -here.reward),
    ]
    largest = max((weight for weight, gain in ways if gain != 0.0), default=-math.inf)
    if largest == -math.inf:
        return None  # there is nothing to gain or lose, or it never ends: a tie
    gains = [math.exp(weight - largest) * gain for weight, gain in ways if gain != 0.0]
    if math.fsum(gains) <= TIE * math.fsum(map(abs, gains)):
        return None
    outs = [weight for weight, _ in ways]
    most = max(outs)  # a sum of such small chances may underflow
    log_leave = most + math.log(math.fsum(math.exp(out - most) for out in outs))

    def join(first: _Crossing, log_on: float) -> _Crossing:
        """Cross to this state first, and then on from it."""
        return _Crossing(
            first.over + log_on - log_leave,
            first.won + math.exp(first.over + _log(won) - log_leave),
            first.lost + math.exp(first.over + _log(lost) - log_leave),
        )

    rising, falling = join(here.rising, log_up), join(above.falling, log_down)
    return _Stop(above.state, above.reward, rising, falling)


def _log(x: float) -> float:
    """Compute the logarithm, -inf at 0."""
    return math.log(x) if x > 0.0 else -math.inf
