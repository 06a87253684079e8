"""How sure one can be of a policy, looked at after every case and so computed quickly.

The posterior has Jeffreys' priors Beta(1/2, 1/2) on p_c and p_f. Here is the probability that
threshold 1 is right, to 1e-4 and as a kernel, and a way to tell from one such number that many
more cases cannot have made one sure. Nobody is sure by the prior alone: both actions must have been
tried, and their shares must point to the policy.
"""

import math
from typing import Final

from numpy.polynomial import legendre

from grbp.learners.doorstep import continue_value
from grbp.numerics.arrays import Ints
from grbp.numerics.beta import beta_tail_roughly
from grbp.numerics.jit import inlined, kernel

UPS, DOWNS, WINS, LOSSES = 0, 1, 2, 3
"""The places of what was seen: CONTINUE up and down, FINISH at the goal and in the dead end."""

_NODES, _WEIGHTS = legendre.leggauss(12)

_REACH: Final = 4.2
"""Standard deviations of p_c on either side that are integrated over."""

_PANEL: Final = 5.0
"""Standard deviations of p_f that one panel of nodes may span."""

_MOST_PANELS: Final = 64

_STRAIGHT: Final = 1.5
"""The range of p_c, times the goal, over which B is smooth enough for evenly spread nodes."""

_INSIDE: Final = 0.8
"""The part of the range within which the bend matters; further out there is hardly any weight."""

_SHARP: Final = 8
"""The goal from which on the bend is so sharp that more nodes must gather there."""

_ERROR: Final = 1e-6
"""The error of one beta tail."""

_NOTHING: Final = 1e-5
"""A weight that may be left out, where the largest are about 1."""

_WIDEST: Final = 5
"""The steps by which a box may be wider than the narrowest."""


@inlined
def _arcsine_of_root(p: float) -> float:
    """Return asin(sqrt(p)), in which a share has nearly the same spread everywhere."""
    return math.asin(math.sqrt(min(1.0, max(0.0, p))))


@kernel
def chance_of_threshold_1(goal: int, ups: int, downs: int, wins: int, losses: int) -> float:
    """Compute the posterior probability of p_f >= B(p_c), given what was seen.

    With p_c = sin^2(t), Jeffreys' prior is flat in t, and the posterior density is proportional
    to sin^(2 ups)(t) cos^(2 downs)(t): smooth, also at both ends. It is integrated by Gauss's rule.
    For large goals B rises from 0 like a hockey stick at p_c = 1/2, and so does little else: where
    p_c may lie on either side, the nodes gather there.
    """
    middle = _arcsine_of_root((ups + 0.5) / (ups + downs + 1.0))
    reach = _REACH * 0.5 / math.sqrt(ups + downs + 1.0)
    low, high = max(0.0, middle - reach), min(0.5 * math.pi, middle + reach)
    bend = 0.25 * math.pi
    if abs(bend - middle) < _INSIDE * reach and goal * (high - low) > _STRAIGHT:
        power = 2 if goal < _SHARP else 4
        total, above = _integral(goal, ups, downs, wins, losses, bend, low, power)
        more, more_above = _integral(goal, ups, downs, wins, losses, bend, high, power)
        return (above + more_above) / (total + more)
    total, above = _integral(goal, ups, downs, wins, losses, low, high, 1)
    return above / total


@kernel
def _integral(  # noqa: PLR0913, PLR0917 (it is called in a loop that Numba compiles)
    goal: int, ups: int, downs: int, wins: int, losses: int, near: float, far: float, power: int
) -> tuple[float, float]:
    """Integrate the density of t between two places, and the density times P(p_f >= B).

    There are 12 nodes in a panel, and more panels where p_f is known far better than B(p_c).
    With a power above 1, the nodes gather at the near end.
    """
    span = _arcsine_of_root(continue_value(math.sin(far) ** 2, goal))
    span = abs(span - _arcsine_of_root(continue_value(math.sin(near) ** 2, goal)))
    panels = min(_MOST_PANELS, 1 + int(span * 2.0 * math.sqrt(wins + losses + 1.0) / _PANEL))
    if power > 2:
        panels += 2
    middle = _arcsine_of_root((ups + 0.5) / (ups + downs + 1.0))
    peak = ups * math.log(math.sin(middle)) + downs * math.log(math.cos(middle))
    a, b = wins + 0.5, losses + 0.5
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    total, above = 0.0, 0.0
    for k in range(panels * len(_NODES)):
        panel, node = k // len(_NODES), k % len(_NODES)
        x = (panel + 0.5 + 0.5 * _NODES[node]) / panels
        t = near + (far - near) * x**power
        sine, cosine = math.sin(t), math.cos(t)
        height = ups * math.log(sine) + downs * math.log(cosine) - peak
        weight = _WEIGHTS[node] * math.exp(2.0 * height) * power * x ** (power - 1)
        if weight > _NOTHING:
            total += weight
            value = continue_value(sine * sine, goal)
            above += weight * beta_tail_roughly(a, b, value, log_beta, _ERROR)
    share = abs(far - near) / panels
    return total * share, above * share


@kernel
def find_sure_threshold(goal: int, seen: Ints, level: float, box: Ints) -> int:
    """Return the threshold that is right with probability `level` or more; -1 if there is none."""
    for threshold in range(2):
        if not is_inside_box(seen, threshold, box):
            f, c = _speaks_for(threshold, seen)
            if _chance_of_threshold(threshold, goal, seen, f, c) >= level:
                return threshold
    return -1


@inlined
def is_inside_box(seen: Ints, threshold: int, box: Ints) -> bool:
    """Return whether what speaks for a threshold is within the box in which one is not sure."""
    f, c = _speaks_for(threshold, seen)
    return bool(f <= box[threshold, 0] and c <= box[threshold, 1])


@inlined
def _speaks_for(threshold: int, seen: Ints) -> tuple[int, int]:
    """Return how often FINISH and CONTINUE did what speaks for a threshold."""
    if threshold == 1:
        return int(seen[WINS]), int(seen[DOWNS])
    return int(seen[LOSSES]), int(seen[UPS])


@kernel
def is_sure(goal: int, seen: Ints, level: float, threshold: int, box: Ints) -> bool:
    """Return whether a threshold is right with probability `level` or more; make a box if not.

    What speaks for threshold 1 is FINISH that won and CONTINUE that went down, for threshold 0 the
    other two; the probability rises in those and falls in the rest, and the shares come to point
    to the threshold by those alone. Where it is too low at the upper corner of a box of counts, it
    is too low throughout the box, whatever else is seen: the row of `box` holds that corner
    (FINISH, CONTINUE) and how wide the next one is tried. Counts never fall, so that nothing is
    computed until they leave it.
    """
    f, c = _speaks_for(threshold, seen)
    width = box[threshold, 2]
    more_f, more_c = ((f + 4) << width) >> 6, ((c + 4) << width) >> 6
    chance = _chance_of_threshold(threshold, goal, seen, f + more_f, c + more_c)
    if chance < level:
        box[threshold, 0], box[threshold, 1] = f + more_f, c + more_c
        if chance < 1.0 - 3.0 * (1.0 - level):
            box[threshold, 2] = min(_WIDEST, width + 1)
        return False
    narrowest = more_f + more_c == 0
    box[threshold, 2] = max(0, width - 1)
    if narrowest or _chance_of_threshold(threshold, goal, seen, f, c) >= level:
        return True
    box[threshold, 0], box[threshold, 1] = f, c
    return False


@inlined
def _chance_of_threshold(threshold: int, goal: int, seen: Ints, f: int, c: int) -> float:
    """Compute the probability that a threshold is right, with f and c of what speaks for it.

    It is 0 where the shares do not point to the threshold, so that the prior alone could.
    """
    if threshold == 1:
        ups, downs, wins, losses = seen[UPS], c, f, seen[LOSSES]
    else:
        ups, downs, wins, losses = c, seen[DOWNS], seen[WINS], f
    if ups + downs == 0 or wins + losses == 0:
        return 0.0
    more = wins / (wins + losses) - continue_value(ups / (ups + downs), goal)
    if more <= 0.0 if threshold == 1 else more >= 0.0:
        return 0.0
    chance = chance_of_threshold_1(goal, ups, downs, wins, losses)
    return chance if threshold == 1 else 1.0 - chance
