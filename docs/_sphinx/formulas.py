"""Draw mathematics as outlines in the page: no script, no network, one look in every browser.

Matplotlib sets the formula. The outlines take the colour of the text around them, so that a page
reads well in light and in dark; the source of the formula is kept for programs that read aloud.
"""

from html import escape

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, TextToPath
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

# Outlines are drawn in hundredths of the letter size, which whole numbers are fine enough for.
EM = 100
COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    translator.body.append(drawn(translator, node.astext()))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone, one row for each of its lines."""
    rows = [row.strip() for row in node.astext().split(r"\\")]
    lines = "".join(f"<div>{drawn(translator, row)}</div>" for row in rows)
    translator.body.append(f'<div class="formula">{lines}</div>')
    raise nodes.SkipNode


def drawn(translator: HTML5Translator, latex: str) -> str:
    """Return a formula as a drawing; one that the page has already is referred to."""
    width, height, descent, path = outlines(" ".join(latex.split()))
    known: dict[str, str] = translator.__dict__.setdefault("formulas", {})
    if path in known:
        content = f'<use href="#{known[path]}"/>'
    else:
        known[path] = f"formula-{len(known)}"
        content = f'<path id="{known[path]}" d="{path}"/>'
    # Letters with serifs look smaller beside the page's letters, which have none.
    em = EM / 1.06
    size = (
        f"width:{width / em:.3f}em;height:{height / em:.3f}em;vertical-align:{-descent / em:.3f}em"
    )
    return (
        f'<svg class="formula" role="img" aria-label="{escape(latex)}" style="{size}"'
        f' viewBox="0 {descent - height} {width} {height}">{content}</svg>'
    )


def outlines(latex: str) -> tuple[int, int, int, str]:
    """Return the width, the height and the depth of a formula, and its outlines."""
    font, text = FontProperties(size=EM, math_fontfamily="stix"), f"${latex}$"
    extent = TextToPath().get_text_width_height_descent(text, font, ismath=True)
    path = TextPath((0, 0), text, prop=font)
    steps = []
    for points, code in path.iter_segments(simplify=False):
        points[1::2] *= -1
        steps.append(COMMANDS.get(code, "Z"))
        if code in COMMANDS:
            steps.append(" ".join(f"{number:.0f}" for number in points))
    width, height, descent = (round(number) for number in extent)
    return width, height, descent, "".join(steps)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the renderer under the name that `html_math_renderer` chooses it by."""
    app.add_html_math_renderer("outlines", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
