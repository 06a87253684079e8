"""The colours: one table for pages, the explorer, reports and figures, on screens and on paper.

An action, a region, an end of the chain and a learner have the same colour wherever they are shown.
Pages take the colours from `css`; figures are drawn in the light ones. Tests measure that words
can be read, and that what is to be told apart can be, also by readers who are colour-blind.
"""

from typing import Final, NamedTuple, TypeAlias


class Shade(NamedTuple):
    """A colour on a light screen and on a dark one, and on paper where that differs from light."""

    light: str
    dark: str
    paper: str = ""


PALETTE: Final[dict[str, Shade]] = {
    # The page: its ground, words, quiet words, lines, the rims of fields, links and cards.
    "paper": Shade("#ffffff", "#15171a"),
    "ink": Shade("#1a1a1a", "#e8e8e6", "#000000"),
    "soft": Shade("#5a5a5a", "#a9adb2", "#444444"),
    "line": Shade("#dcdcdc", "#363a40", "#bbbbbb"),
    "field": Shade("#767676", "#7d8288"),
    "link": Shade("#005a8f", "#7cc4f2", "#000000"),
    "card": Shade("#f6f6f4", "#1d2024", "#ffffff"),
    # The actions: their words, their lines and marks, and the regions where each is right.
    "continue": Shade("#005f96", "#7cc4f2", "#00507f"),
    "continue-line": Shade("#0072b2", "#56b4e9"),
    "continue-tint": Shade("#e3eef8", "#16303f", "#f4f8fc"),
    "finish": Shade("#b34600", "#ffa372", "#8f3800"),
    "finish-line": Shade("#d55e00", "#ff8a4c"),
    "finish-tint": Shade("#fdeadf", "#40210f", "#f4d0b6"),
    # The ends of the chain.
    "goal": Shade("#cdeadd", "#12443a"),
    "goal-ink": Shade("#00664a", "#6fd6b0"),
    "dead": Shade("#bdbdbd", "#5a5f66"),
    # What is well, and what waits or went wrong.
    "good": Shade("#e2f3ec", "#12342a", "#ffffff"),
    "wait": Shade("#fdeadf", "#40210f", "#ffffff"),
    "wait-ink": Shade("#8a3500", "#ffb48f"),
    # Learners have these and ink; none of them is near the colour of an action.
    "forest": Shade("#2f5601", "#7ff18c"),
    "teal": Shade("#0ea09e", "#2f9895"),
    "olive": Shade("#899708", "#ab9408"),
    "violet": Shade("#735be7", "#875ee8"),
    "plum": Shade("#680269", "#fe9bfe"),
    "rose": Shade("#a95665", "#e1196f"),
}
"""The colours by their names, which are also those of the variables in CSS."""

RAMP: Final = tuple(
    Shade(light, dark)
    for light, dark in (
        ("#440154", "#2e6f8e"), ("#481467", "#287d8e"), ("#482576", "#238a8d"),
        ("#453781", "#1f988b"), ("#3f4788", "#21a685"), ("#39558c", "#2fb47c"),
        ("#32648e", "#48c16e"), ("#2d718e", "#67cc5c"), ("#287d8e", "#8bd646"),
        ("#238a8d", "#b2dd2d"), ("#1f968b", "#dae319"), ("#20a386", "#fde725"),
    )
)  # fmt: skip
"""From dark to light, for curves in an order: parts of Matplotlib's viridis."""

AREAS: Final = (
    "#f0e442", "#999999", "#b07a4f", "#77aadd", "#ee8866", "#44bb99", "#ffaabb", "#aaaa00",
    "#99ddff", "#bbcc33", "#ddaa33", "#bb5566", "#664477", "#225555", "#cccccc", "#882200",
)  # fmt: skip
"""Further colours for the cells of a map, which have no dashes to tell learners apart."""

MAP_INK: Final = "#000000"
MAP_HALO: Final = "#fefefe"
"""Words and lines on a map, and what surrounds them: its cells have their colours on any screen."""

Dashes: TypeAlias = tuple[float, ...]
"""The lengths of dashes and of the gaps between them, in widths of the line."""

SOLID: Final[Dashes] = ()
DASHED: Final[Dashes] = (5.0, 1.6)
DASH_DOT: Final[Dashes] = (6.0, 1.5, 1.2, 1.5)
DOTTED: Final[Dashes] = (1.2, 1.2)

OTHER_DASHES: Final[tuple[Dashes, ...]] = (
    (9.0, 2.0),
    (3.0, 1.2, 1.0, 1.2, 1.0, 1.2),
    (2.4, 1.4),
    (8.0, 1.5, 3.0, 1.5),
    (1.0, 2.4),
    (12.0, 1.5, 1.2, 1.5, 1.2, 1.5),
)
"""The dashes of learners that this package does not know."""

TONES: Final = ("forest", "teal", "olive", "violet", "plum", "rose")
"""The colours that learners have, beside ink."""

LEARNERS: Final[dict[str, tuple[str, Dashes]]] = {
    # The doorstep family is black, as no other is.
    "doorstep-optimal": ("ink", SOLID),
    "doorstep-kl": ("ink", DASH_DOT),
    # Posterior sampling is dashed, upper confidence bounds are dashed and dotted.
    "getbe-sm": ("teal", SOLID),
    "getbe-ps": ("forest", DASHED),
    "getbe-ucb": ("olive", DASH_DOT),
    "ps-polselection": ("violet", DASHED),
    "ucb-polselection": ("plum", DASH_DOT),
    "no-explore": ("rose", DOTTED),
    "ucb1-policies": ("plum", SOLID),
    "kl-ucb": ("violet", DASH_DOT),
    "bayes-ucb": ("olive", DASHED),
    "epsilon-greedy": ("rose", SOLID),
    "explore-then-commit": ("olive", DOTTED),
    "oracle": ("soft", DOTTED),
    "averaged-states": ("forest", SOLID),
    "psrl": ("plum", DASHED),
    "kl-ucb-states": ("forest", DASH_DOT),
}
"""The colour and the dashes of every learner of this package."""

_WIDTH: Final = 2.4
"""The width of a learner's line on a page, in pixels."""


def css() -> str:
    """Write the colours as a style sheet: variables, and a class for each learner.

    What has the class `printed` is light on any screen.
    """
    shades = PALETTE | {f"ramp-{k}": shade for k, shade in enumerate(RAMP)}
    light = _declare({name: shade.light for name, shade in shades.items()})
    dark = _declare({name: shade.dark for name, shade in shades.items()})
    paper = _declare({name: shade.paper for name, shade in shades.items() if shade.paper})
    learners = "".join(
        f".learner-{name} {{ --own: var(--{colour}); --dashes: {_scale(dashes)}; }}\n"
        for name, (colour, dashes) in LEARNERS.items()
    )
    return (
        f":root, .printed {{ {light} }}\n"
        ":root { color-scheme: light dark; }\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ color-scheme: light; {paper} }} }}\n"
        f"{learners}"
    )


def _declare(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def _scale(dashes: Dashes) -> str:
    """Write dashes in pixels."""
    return " ".join(f"{_WIDTH * length:.3g}" for length in dashes) or "none"
