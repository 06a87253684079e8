"""Compute where things lie in the pictures of pages; templates draw them as SVG."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from grbp._format import begin
from grbp.live.basis import Basis
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary
from grbp.worlds.labels import NO_WORDS, Labels

_POINTS: Final = 81
_SHOWN: Final = 9


class Frame(NamedTuple):
    """The rectangle of a picture in which numbers are drawn.

    Attributes
    ----------
    left, top, width, height : float
        Where the rectangle lies.
    low, high : float
        The numbers at its left and right ends; from bottom to top they go from 0 to 1.
    """

    left: float
    top: float
    width: float
    height: float
    low: float = 0.0
    high: float = 1.0

    def x(self, number: float) -> float:
        """Return where a number lies from left to right."""
        span = (self.high - self.low) or 1.0
        return round(self.left + self.width * (number - self.low) / span, 2)

    def y(self, number: float) -> float:
        """Return where a share lies from top to bottom."""
        return round(self.top + self.height * (1.0 - number), 2)

    def line(self, points: Iterable[tuple[float, float]]) -> str:
        """Return a line through points; it is broken where one is unknown."""
        parts, pen = [], "M"
        for x, y in points:
            if math.isnan(y):
                pen = "M"
                continue
            parts.append(f"{pen}{self.x(x):g} {self.y(y):g}")
            pen = "L"
        return "".join(parts)

    def band(self, xs: Sequence[float], ones: Sequence[Estimate]) -> str:
        """Return the outline of intervals along a line."""
        upper = [(x, one.high) for x, one in zip(xs, ones, strict=True)]
        lower = [(x, one.low) for x, one in zip(xs, ones, strict=True)]
        return "M" + self.line([*upper, *reversed(lower)])[1:] + "Z" if upper else ""


MAP: Final = Frame(60.0, 8.0, 300.0, 300.0)
"""The boundary map: p_C from left to right, p_F from bottom to top."""


class MapPicture(NamedTuple):
    """The boundary map with the estimate and its intervals on it, and what is written on it."""

    frame: Frame
    curve: str
    above: str
    basis: Basis
    across: str
    upward: str
    over: str
    below: str


def draw_map(basis: Basis, words: Labels = NO_WORDS) -> MapPicture:
    """Return the boundary map of a basis, in a study's own words."""
    xs = [i / (_POINTS - 1) for i in range(_POINTS)]
    curve = MAP.line((x, float(boundary(basis.goal, x))) for x in xs)
    corners = f"L{MAP.x(1.0):g} {MAP.y(1.0):g}L{MAP.x(0.0):g} {MAP.y(1.0):g}Z"
    go_on, finish = (_cut(begin(words.doing(action)), 18) for action in ("continue", "finish"))
    return MapPicture(
        MAP, curve, curve + corners, basis, f"{go_on} moves up", f"{finish} leads to the goal",
        f"{finish} is better", f"{go_on} is better",
    )  # fmt: skip


def _cut(text: str, most: int) -> str:
    """Return a text that has a place in a picture."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


class Stop(NamedTuple):
    """A state in the picture of the chain, and where its name stands; -1 for what is left out."""

    state: int
    x: float
    action: str
    name: str
    name_y: float


class ChainPicture(NamedTuple):
    """The states of a case, from the dead end to the goal."""

    stops: list[Stop]
    width: float
    height: float
    state: int
    goal: int


def draw_chain(
    goal: int, state: int, finishes: Callable[[int], bool] | None, words: Labels = NO_WORDS
) -> ChainPicture:
    """Return the picture of the chain: all states, or those near the present one and the ends.

    `finishes` says in which states FINISH is advised; None if nothing is. Names stand in two rows,
    so that each has a place.
    """
    if goal < _SHOWN:
        states = list(range(goal + 1))
    else:
        near = min(max(state, 3), goal - 3)
        states = [0, *range(near - 2, near + 3), goal]
    shown: list[int] = []
    for one in states:
        if shown and one > shown[-1] + 1:
            shown.append(-1)
        shown.append(one)
    stops = [
        Stop(
            one, 50.0 + 46.0 * place, _choose_look(one, goal, finishes),
            _name_stop(one, goal, words), 80.0 + 14.0 * (place % 2 if words.states else 0),
        )
        for place, one in enumerate(shown)
    ]  # fmt: skip
    return ChainPicture(
        stops, 100.0 + 46.0 * (len(shown) - 1), 104.0 if words.states else 90.0, state, goal
    )


def _name_stop(state: int, goal: int, words: Labels) -> str:
    """Return what is written below a state; nothing where it has no name."""
    if words.states:
        return _cut(words.states[state], 11) if state >= 0 else ""
    return {0: "dead end", goal: "goal"}.get(state, "")


def _choose_look(state: int, goal: int, finishes: Callable[[int], bool] | None) -> str:
    """Return the style of a state in the picture of the chain."""
    if state == 0:
        return "dead"
    if state == goal:
        return "goal"
    if finishes is None or state < 0:
        return "plain"
    return "finish" if finishes(state) else "continue"
