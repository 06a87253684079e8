"""The colour and line style of every learner, the same in whatever figure."""

from collections.abc import Sequence
from typing import Final, TypeAlias
from zlib import crc32

Dashes: TypeAlias = str | tuple[int, tuple[float, ...]]

SOLID: Final[Dashes] = "-"
DASHED: Final[Dashes] = (0, (5.0, 1.6))
DASH_DOT: Final[Dashes] = (0, (6.0, 1.5, 1.2, 1.5))
DOTTED: Final[Dashes] = (0, (1.2, 1.2))

_LOOK: Final[dict[str, tuple[str, Dashes]]] = {
    # The doorstep family is black, as no other is.
    "doorstep-optimal": ("#000000", SOLID),
    "doorstep-kl": ("#000000", DASH_DOT),
    # A family is a colour of the Okabe-Ito palette, a way to decide a style: sample means are
    # solid, posterior sampling is dashed, upper confidence bounds are dashed and dotted.
    "getbe-sm": ("#0072B2", SOLID),
    "getbe-ps": ("#009E73", DASHED),
    "getbe-ucb": ("#56B4E9", DASH_DOT),
    "ps-polselection": ("#E69F00", DASHED),
    "ucb-polselection": ("#D55E00", DASH_DOT),
    "no-explore": ("#CC79A7", DOTTED),
    # These are of Paul Tol's muted palette.
    "ucb1-policies": ("#882255", SOLID),
    "kl-ucb": ("#332288", DASH_DOT),
    "bayes-ucb": ("#999933", DASH_DOT),
    "epsilon-greedy": ("#AA4499", SOLID),
    "explore-then-commit": ("#117733", DOTTED),
    "oracle": ("#555555", DOTTED),
}

_OTHER_LOOKS: Final[list[tuple[str, Dashes]]] = [
    (colour, (0, dashes))
    for dashes in (
        (9.0, 2.0),
        (3.0, 1.2, 1.0, 1.2, 1.0, 1.2),
        (2.4, 1.4),
        (8.0, 1.5, 3.0, 1.5),
        (1.0, 2.4),
    )
    for colour in ("#332288", "#882255", "#999933", "#AA4499", "#117733", "#0072B2", "#D55E00")
]
"""The looks of learners that this package does not know."""


def line_styles(names: Sequence[str]) -> dict[str, tuple[str, Dashes]]:
    """Return the colour and the line style of every learner, whatever others are in the figure.

    A learner of this package has its own look; another one gets a look by its name. Only where
    two such names lead to the same look does the later one take the next that is free.
    """
    given: dict[str, tuple[str, Dashes]] = {}
    for name in names:
        if name in _LOOK:
            given[name] = _LOOK[name]
            continue
        first = crc32(name.encode("utf-8", "replace")) % len(_OTHER_LOOKS)
        ring = _OTHER_LOOKS[first:] + _OTHER_LOOKS[:first]
        given[name] = next((look for look in ring if look not in given.values()), ring[0])
    return given
