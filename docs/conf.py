"""How Sphinx builds the site; `make docs` runs it, with warnings as errors and no network."""

import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS
from sphinx.application import Sphinx

import grbp

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

project = "grbp"
author = "The grbp developers"
project_copyright = author
version = release = grbp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "formulas",
    "notebook",
    "reference",
]
exclude_patterns = ["_sphinx"]
nitpicky = True
# What is outside this package cannot be linked to without the network; what is inside it and not
# public has no page.
nitpick_ignore_regex = [("py:.*", r"(?!grbp\.).*"), ("py:class", r"grbp\.\w+\..*")]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is allowed, in words
autosummary_generate = False
default_role = "py:obj"  # a link where a name is public, and code elsewhere
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
DEFAULT_LINKS.clear()  # they lead to other sites

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"grbp {version}"
html_math_renderer = "outlines"
html_static_path = ["_static"]
html_css_files = ["grbp.css"]
html_copy_source = False
html_show_sphinx = False

# Files of the repository that are pages of the site under another name.
PAGES = {
    "../benchmarks/results.md": "speed.md",
    "../benchmarks/doorstep.md": "measurements.md",
    "../benchmarks/judge.md": "measurements.md",
    "../benchmarks/drift.md": "measurements.md",
    "../benchmarks/chains.md": "measurements.md",
}


def link_to_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let a link to a file of the repository lead to its page."""
    del app, docname
    for file, page in PAGES.items():
        source[0] = source[0].replace(f"]({file})", f"]({page})")


def setup(app: Sphinx) -> None:
    """Connect what is particular to this site."""
    app.connect("source-read", link_to_pages)
