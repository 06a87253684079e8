"""How colours look: how bright they are, how far apart, and to readers who are colour-blind."""

import math
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]

SIGHTS: Final[dict[str, Numbers]] = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""What is seen of red, green and blue light: Machado, Oliveira and Fernandes 2009, severity 1."""

_XYZ: Final = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE: Final = np.array([0.95047, 1.0, 1.08883])
"""sRGB in CIE XYZ, and its white, D65."""


def light_of(colour: str) -> Numbers:
    """Return the red, green and blue light of #rrggbb, from 0 to 1."""
    shares = np.array([int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])
    linear: Numbers = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    low, high = sorted(float(_XYZ[1] @ light_of(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab_of(colour: str, sight: str = "normal") -> Numbers:
    """Return a colour in CIELAB, as a sight sees it."""
    part = _XYZ @ np.clip(SIGHTS[sight] @ light_of(colour), 0.0, 1.0) / _WHITE
    f = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16.0) / 116.0)
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


def grey_of(colour: str) -> float:
    """Return how light a colour is when it is printed in grey, from 0 to 100."""
    return float(lab_of(colour)[0])


def apart(one: Any, other: Any) -> float:
    """Return CIEDE2000 between two colours in CIELAB: Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2.0
    stretch = 1.5 - 0.5 * math.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * stretch)) % 360.0 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180.0) % 360.0 - 180.0 if c1 * c2 else 0.0
    light, c = (l1 + l2) / 2.0, (c1 + c2) / 2.0
    hue = (h1 + turn / 2.0) % 360.0 if c1 * c2 else h1 + h2
    t = 1.0 + sum(
        part * math.cos(math.radians(times * hue + shift))
        for part, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    by_light = (l2 - l1) / (1.0 + 0.015 * (light - 50.0) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    by_chroma = (c2 - c1) / (1.0 + 0.045 * c)
    by_hue = 2.0 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2.0)) / (1.0 + 0.015 * c * t)
    bent = math.radians(60.0 * math.exp(-(((hue - 275.0) / 25.0) ** 2)))
    mixed = -2.0 * math.sqrt(c**7 / (c**7 + 25.0**7)) * math.sin(bent)
    return math.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + mixed * by_chroma * by_hue)


def least_apart(colours: list[str], sight: str) -> float:
    """Return how far apart the two nearest of some colours are, as a sight sees them."""
    seen = [lab_of(colour, sight) for colour in colours]
    return min(apart(one, other) for one, other in combinations(seen, 2))
