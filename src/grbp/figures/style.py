"""The colour and line style of every learner in figures, the same in whatever figure."""

from collections.abc import Sequence
from typing import Final, TypeAlias
from zlib import crc32

from grbp import _palette
from grbp._palette import LEARNERS, OTHER_DASHES, PALETTE, TONES

Dashes: TypeAlias = str | tuple[int, tuple[float, ...]]
"""A line style as Matplotlib takes it."""

Look: TypeAlias = tuple[str, Dashes]


def _as_style(dashes: _palette.Dashes) -> Dashes:
    """Return dashes as Matplotlib takes them."""
    return (0, dashes) if dashes else "-"


SOLID: Final = _as_style(_palette.SOLID)
DASHED: Final = _as_style(_palette.DASHED)
DOTTED: Final = _as_style(_palette.DOTTED)

_LOOKS: Final[dict[str, Look]] = {
    name: (PALETTE[colour].light, _as_style(dashes)) for name, (colour, dashes) in LEARNERS.items()
}

_OTHER_LOOKS: Final[list[Look]] = [
    (PALETTE[tone].light, _as_style(dashes)) for dashes in OTHER_DASHES for tone in TONES
]
"""The looks of learners that this package does not know."""


def line_styles(names: Sequence[str]) -> dict[str, Look]:
    """Return the colour and the line style of every learner, whatever others are in the figure.

    A learner of this package has its own look; another one gets a look by its name. Only where
    two such names lead to the same look does the later one take the next that is free.
    """
    given: dict[str, Look] = {}
    for name in names:
        if name in _LOOKS:
            given[name] = _LOOKS[name]
            continue
        first = crc32(name.encode("utf-8", "replace")) % len(_OTHER_LOOKS)
        ring = _OTHER_LOOKS[first:] + _OTHER_LOOKS[:first]
        given[name] = next((look for look in ring if look not in given.values()), ring[0])
    return given
