"""Fonts for the pages in the tests: what fits in them fits with whatever fonts a machine has."""

from base64 import b64encode
from functools import cache
from io import BytesIO
from typing import Final

WIDE: Final = 0.75
"""The width of every character in ems: more than bold DejaVu Sans has, the widest in common use."""

NARROW: Final = 0.4
"""The same for a font as narrow as a condensed one."""

_UNIT: Final = 1000
_CHARACTERS: Final = [*range(0x20, 0x7F), *range(0xA0, 0x400), *range(0x2000, 0x2300)]

_USE: Final = """
const data = Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0));
document.fonts.add(new FontFace("every machine", data, { weight: "1 1000" }));
const sheet = new CSSStyleSheet();
sheet.replaceSync('* { font-family: "every machine" !important; }');
document.adoptedStyleSheets.push(sheet);
"""

WIDTH: Final = """() => {
  const probe = document.createElement("span");
  probe.append("mil");
  document.body.append(probe);
  const size = parseFloat(getComputedStyle(probe).fontSize);
  const width = probe.getBoundingClientRect().width / probe.textContent.length;
  probe.remove();
  return width / size;
}"""
"""Measure the width of letters on a page, in ems."""


@cache
def script(width: float) -> str:
    """Return a script that lets a page have one font: a box of a width for every character.

    No content policy is in its way, for it loads nothing.
    """
    from fontTools.fontBuilder import FontBuilder  # noqa: PLC0415 (comes with Matplotlib)
    from fontTools.pens.ttGlyphPen import TTGlyphPen  # noqa: PLC0415

    advance = round(width * _UNIT)
    pen = TTGlyphPen(None)
    pen.moveTo((60, 0))
    for corner in ((60, 700), (advance - 60, 700), (advance - 60, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", "box"]
    builder = FontBuilder(_UNIT)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict.fromkeys(_CHARACTERS, "box"))
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (advance, 60)))
    builder.setupHorizontalHeader(ascent=930, descent=-240)
    builder.setupNameTable({"familyName": "every machine", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=930, sTypoDescender=-240, usWinAscent=930, usWinDescent=240)
    builder.setupPost()
    file = BytesIO()
    builder.save(file)
    return _USE % b64encode(file.getvalue()).decode()
