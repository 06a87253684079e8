"""The explorer: one page to teach with, as a single file or served with its parts beside it.

The page is HTML, a style sheet and a few ES modules, which lie beside this file. Served, it is the
page as it is written, with links to them and nothing inline. As a single file the links give way to
what they lead to, and a policy in the page allows exactly that and nothing else.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

from grbp import _palette

STATIC: Final = Path(__file__).parent / "static"
"""The folder of what the page loads; it is served as /static."""

_TEMPLATES: Final = Path(__file__).parent / "templates"
_LAST: Final = '<section aria-labelledby="title-about">'
_COLOURS: Final = '<link rel="stylesheet" href="/static/palette.css">\n'
_STYLE: Final = '<link rel="stylesheet" href="/static/explorer.css">'
_SCRIPT: Final = '<script type="module" src="/static/explorer.js"></script>'
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export ((?:async function|function|class|const) (\w+))", re.MULTILINE
)


_HEAD: Final = "<header>\n"
_HOME: Final = '<p><a id="home" href="/">Back to the studies</a></p>\n'
_ALONE: Final = re.compile(r"This page is made by <code>grbp explore</code>,[^<]*")
_SERVED: Final = (
    "But for the simulations and the verdicts, <code>grbp explore</code>\nwrites this page as one"
    " file that needs nothing but a browser."
)


def served_page() -> str:
    """Return the page that loads its parts from /static, with what only a server can do."""
    page = _template("explorer.html").replace(_LAST, _template("simulations.html") + _LAST)
    page = _ALONE.sub(_SERVED, page).replace(_HEAD, _HEAD + _HOME)
    page = page.replace(_STYLE, f"{_STYLE}\n{_STYLE.replace('explorer', 'simulations')}")
    return page.replace(_SCRIPT, f"{_SCRIPT}\n{_SCRIPT.replace('explorer', 'simulations')}")


def single_file() -> str:
    """Return the page as one file that opens anywhere, without a server and without a network."""
    style = _palette.css() + (STATIC / "explorer.css").read_text("utf-8")
    script = _bundle_modules("explorer.js")
    policy = (
        f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    page = _template("explorer.html")
    page = page.replace(_COLOURS, "").replace(_STYLE, f"{meta}<style>{style}</style>")
    return page.replace(_SCRIPT, f'<script type="module">{script}</script>')


def _template(name: str) -> str:
    """Return a page, or a part of one, as it is written."""
    return (_TEMPLATES / name).read_text("utf-8")


def _hash_source(text: str) -> str:
    """Name a text in a content policy, by its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _bundle_modules(name: str) -> str:
    """Return a module and all that it imports as one script; each keeps its own names to itself."""
    parts: dict[str, str] = {}

    def add(file: str) -> None:
        text = (STATIC / file).read_text("utf-8")
        for _, wanted in _IMPORT.findall(text):
            if wanted not in parts:
                add(wanted)
        names = ", ".join(name for _, name in _EXPORT.findall(text))
        body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_js_name(found[2])};\n", text)
        body = _EXPORT.sub(r"\1", body)
        parts[file] = f"const {_js_name(file)} = (() => {{\n{body}return {{ {names} }};\n}})();\n"

    add(name)
    return "\n" + "".join(parts.values())


def _js_name(file: str) -> str:
    """Return the name by which a bundled module is known to the others."""
    return re.sub(r"\W", "_", file)
