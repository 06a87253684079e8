"""The one-armed bandit: when to give up on an option that looks worse than a known one.

An option of unknown mean (unit variance, flat prior) is played against one that is worth 0, for a
known number of rounds. To play it is right as long as its mean, in standard deviations, is above
-h, where h depends only on how many rounds it has had and how many are to come. In the limit of
many rounds this is a problem of stopping a Brownian motion (Chernoff and Ray 1965; Lai 1987).
h^2/2 is the evidence that it takes to give up. Where outcomes are won or lost, the evidence is the
number of samples times the divergence.

`TABLE` has the boundary on a grid; a test computes it by backward induction.
"""

import math
from typing import Final

import numpy as np

from grbp.numerics.jit import inlined

LOWEST: Final = -32.0
HIGHEST: Final = 4.0
STEP: Final = 0.5
"""The grid of TABLE: the logarithm of rounds had over rounds to come."""

# fmt: off
TABLE: Final = np.array([
    28.37965, 27.88745, 27.39531, 26.90346, 26.41180, 25.92023, 25.42875, 24.93777, 24.44688,
    23.95610, 23.46553, 22.97528, 22.48491, 21.99501, 21.50520, 21.01556, 20.52609, 20.03690,
    19.54805, 19.05943, 18.57109, 18.08308, 17.59528, 17.10788, 16.62066, 16.13388, 15.64757,
    15.16143, 14.67596, 14.19081, 13.70609, 13.22203, 12.73845, 12.25537, 11.77292, 11.29097,
    10.80970, 10.32899, 9.84901, 9.36981, 8.89143, 8.41409, 7.93788, 7.46292, 6.98948, 6.51791,
    6.04890, 5.58292, 5.12112, 4.66459, 4.21482, 3.77368, 3.34352, 2.92721, 2.52789, 2.14918,
    1.79486, 1.46877, 1.17445, 0.91508, 0.69266, 0.50823, 0.36103, 0.24827, 0.16551, 0.10767,
    0.06854, 0.04282, 0.02657, 0.01637, 0.01011, 0.00622, 0.00383,
])
# fmt: on
"""The evidence h^2/2 on the grid."""


@inlined
def stopping_evidence(had: float, to_come: float) -> float:
    """Return the evidence that it takes to give up after some rounds, with some to come."""
    if to_come <= 0.0:
        return 0.0
    place = (math.log(had / to_come) - LOWEST) / STEP
    if place <= 0.0:
        # Before the table begins, evidence grows as log(to come/had) does.
        return float(TABLE[0]) - place * STEP
    if place >= len(TABLE) - 1:
        return float(TABLE[-1]) * math.exp(-(place - (len(TABLE) - 1)) * STEP)
    k = int(place)
    return float(TABLE[k] + (place - k) * (TABLE[k + 1] - TABLE[k]))
