"""Show a notebook as a page: its words, its code, and the outputs that are stored in it.

A page names a notebook, relative to itself, and everything is put there when the page is read:

    ```{notebook} ../examples/tour.ipynb
    ```
"""

import json
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PLACE = re.compile(r"^```\{notebook\} (\S+)\n```$", re.MULTILINE)


def insert_notebooks(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put notebooks into a page where it names them."""
    folder = app.env.doc2path(docname).parent

    def insert(place: re.Match[str]) -> str:
        cells = json.loads((folder / place[1]).read_text("utf-8"))["cells"]
        return "\n\n".join(part for cell in cells for part in write_cell(cell))

    source[0] = PLACE.sub(insert, source[0])


def write_cell(cell: dict[str, Any]) -> list[str]:
    """Write a cell as Markdown, and what came of it below."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [text]
    return [fence("python", text), *(write_output(output) for output in cell["outputs"])]


def write_output(output: dict[str, Any]) -> str:
    """Write the richest form of an output: a page's own, a picture, or text."""
    data = output.get("data", {})
    if "text/html" in data:
        return fence(
            "{raw} html", f'<div class="output" tabindex="0">{"".join(data["text/html"])}</div>'
        )
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return fence(
            "{raw} html", f'<img alt="What this code draws" src="data:image/png;base64,{picture}">'
        )
    text = "".join(output.get("text") or data["text/plain"])
    return fence("{code-block} text", f":class: output\n\n{text}")


def fence(language: str, text: str) -> str:
    """Return a block of code that may have fences in it."""
    return f"````{language}\n{text.rstrip()}\n````"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Put notebooks into pages before these are parsed."""
    app.connect("source-read", insert_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
