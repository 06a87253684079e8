"""One palette: words can be read, and what is to be told apart can be, by every reader."""

import re
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest
from sight import SIGHTS, apart, contrast, grey_of, least_apart

import grbp
from grbp import _palette
from grbp._palette import LEARNERS, OTHER_DASHES, PALETTE, RAMP, TONES, Shade
from grbp.explorer.page import STATIC, single_file
from grbp.learners.registry import LEARNERS as OF_PROBLEMS, STATE_LEARNERS

SOURCE: Final = Path(grbp.__file__).parent
ROOT: Final = SOURCE.parents[1]
LIGHT, DARK, PAPER = 0, 1, 2

GROUNDS: Final = ("paper", "card", "continue-tint", "finish-tint")
"""What words stand on."""

WORDS: Final = {
    "ink": (*GROUNDS, "line", "goal", "dead", "good", "wait"),
    "soft": GROUNDS,
    "link": GROUNDS,
    "continue": GROUNDS,
    "finish": GROUNDS,
    "goal-ink": ("paper", "card", "goal", "good"),
    "wait-ink": ("paper", "card", "wait"),
    # Words on a button are paper.
    "paper": ("link",),
}

MARKS: Final = ("continue-line", "finish-line", "field", "goal-ink", *TONES)
"""Lines and other large marks."""

APART: Final = {
    "actions": (("continue-line", "finish-line"), 40.0),
    "their words": (("continue", "finish"), 35.0),
    "regions": (("continue-tint", "finish-tint"), 11.0),
    "ends": (("goal", "dead"), 9.0),
    "learners": (("ink", *TONES), 18.0),
}
"""What is to be told apart, and how far its colours are from each other at least."""


def colour_of(name: str, screen: int) -> str:
    shade = PALETTE[name]
    return (shade.paper or shade.light) if screen == PAPER else shade[screen]


@pytest.mark.parametrize(
    ("one", "other", "far"),
    # Of the table that Sharma, Wu and Dalal published with the formula.
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065),
        ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distances_are_those_of_the_published_table(
    one: tuple[float, ...], other: tuple[float, ...], far: float
) -> None:
    assert apart(one, other) == pytest.approx(far, abs=1e-4)
    assert apart(other, one) == pytest.approx(far, abs=1e-4)


def test_contrast_is_that_of_its_definition() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("screen", [LIGHT, DARK, PAPER])
def test_words_can_be_read_on_their_ground_and_marks_be_seen(screen: int) -> None:
    for word, grounds in WORDS.items():
        for ground in grounds:
            found = contrast(colour_of(word, screen), colour_of(ground, screen))
            assert found >= 4.5, (word, ground)
    paper = colour_of("paper", screen)
    for mark in MARKS:
        assert contrast(colour_of(mark, screen), paper) >= 3.0, mark


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("screen", [LIGHT, DARK, PAPER])
def test_what_is_to_be_told_apart_is_far_apart(screen: int, sight: str) -> None:
    for what, (names, least) in APART.items():
        found = least_apart([colour_of(name, screen) for name in names], sight)
        assert found >= least, (what, found)


def test_a_learner_is_not_taken_for_an_action() -> None:
    for screen in (LIGHT, DARK):
        for tone in ("ink", *TONES):
            for action in ("continue", "continue-line", "finish", "finish-line"):
                pair = [colour_of(name, screen) for name in (tone, action)]
                assert least_apart(pair, "normal") >= 15.0, (tone, action)


def test_in_grey_a_learner_is_known_by_its_lightness_or_its_dashes() -> None:
    for (one, (tone, dashes)), (other, (second, others)) in combinations(LEARNERS.items(), 2):
        greys = [grey_of(colour_of(name, PAPER)) for name in (tone, second)]
        assert dashes != others or abs(greys[0] - greys[1]) >= 7.0, (one, other)
    # Someone else's learners have dashes that ours have not.
    assert not {dashes for _, dashes in LEARNERS.values()} & set(OTHER_DASHES)
    assert len(set(OTHER_DASHES)) == len(OTHER_DASHES)


def test_in_grey_the_regions_differ() -> None:
    greys = [grey_of(colour_of(name, PAPER)) for name in ("continue-tint", "finish-tint")]
    assert abs(greys[0] - greys[1]) >= 10.0


def test_every_learner_of_this_package_has_a_look() -> None:
    assert set(LEARNERS) == {*OF_PROBLEMS, *STATE_LEARNERS}
    assert {tone for tone, _ in LEARNERS.values()} == {"ink", "soft", *TONES}


def test_curves_in_an_order_go_from_dark_to_light_and_are_seen() -> None:
    for screen in (LIGHT, DARK):
        greys = [grey_of(shade[screen]) for shade in RAMP]
        assert greys == sorted(greys)
        assert all(contrast(shade[screen], PALETTE["paper"][screen]) >= 3.0 for shade in RAMP)


def test_every_colour_is_written_in_one_way() -> None:
    for shade in (*PALETTE.values(), *RAMP):
        assert isinstance(shade, Shade)
        assert all(re.fullmatch(r"#[0-9a-f]{6}", one) for one in shade if one)
    # A figure is drawn in light colours; each leads back to a colour that is right in the dark.
    by_light: dict[str, set[str]] = {}
    for shade in PALETTE.values():
        by_light.setdefault(shade.light, set()).add(shade.dark)
    assert all(len(dark) == 1 for dark in by_light.values())


def test_pages_have_their_colours_from_the_table_alone() -> None:
    style = _palette.css()
    for name, shade in PALETTE.items():
        assert f"--{name}: {shade.light};" in style
        assert f"--{name}: {shade.dark};" in style
    assert style in single_file()
    set_here = set(re.findall(r"(--[\w-]+):", style))
    for folder in (STATIC, SOURCE / "serve" / "static", SOURCE / "reports" / "templates"):
        for file in sorted(folder.iterdir()):
            text = file.read_text("utf-8")
            used = set(re.findall(r"var\((--[\w-]+)", text))
            assert used <= set_here | set(re.findall(r"(--[\w-]+):", text)), file.name


def test_no_colour_is_written_elsewhere() -> None:
    colour = re.compile(r"(?<![&\w])(?:#|%23)(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b")
    kinds = {".py", ".css", ".js", ".html", ".j2"}
    folders = (SOURCE, ROOT / "tools", ROOT / "benchmarks", ROOT / "docs" / "_static")
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in kinds]
    assert len(files) > 300
    found = {
        (file.name, one)
        for file in files
        if file.name != "_palette.py"
        for one in colour.findall(file.read_text("utf-8"))
    }
    # The icon stands in the address of a picture, where variables are not known.
    ours = {one.replace("#", "%23") for shade in PALETTE.values() for one in shade if one}
    assert {one for one in found if one[1] not in ours} == set()
    assert {name for name, _ in found} == {"base.html"}
