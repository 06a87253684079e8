"""List public names in a page of the reference: a table of them, then each in full.

A page names what it documents and nothing else:

    ```{public} grbp
    Problem
    Action
    ```

Names of `grbp` are loaded when they are first used, and come from modules that a reader need not
know; so what a name is (a class, a function, a constant) is found here when the page is built.
"""

import inspect
from enum import Enum
from functools import cache
from pkgutil import resolve_name, walk_packages

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

import grbp

LABELS = ("Paper: ", "Differs: ")
LOGGER = logging.getLogger(__name__)


class Public(SphinxDirective):
    """Document some names of a module."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a table of the names, and each of them in full."""
        module, names = self.arguments[0], [name.strip() for name in self.content if name.strip()]
        rows = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", ""]
        rows += [f"   {name}" for name in names]
        for name in names:
            kind, *options = directive(resolve_name(f"{module}.{name}"))
            rows += ["", f".. auto{kind}:: {module}.{name}", *(f"   :{one}:" for one in options)]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *rows, "```"]))


def directive(thing: object) -> list[str]:
    """Return the name of the directive that documents a thing, and its options."""
    if not inspect.isclass(thing):
        return ["function"] if inspect.isroutine(thing) else ["data", "no-value"]
    if issubclass(thing, BaseException):
        return ["exception", "show-inheritance"]
    # A base that is not public has no page of its own.
    bases = [base for base in thing.__mro__[1:] if base.__module__.startswith("grbp.")]
    inherited = ["inherited-members"] * bool(bases)
    return ["class", "members"] + ["undoc-members"] * issubclass(thing, Enum) + inherited


@cache
def constants() -> dict[str, list[str]]:
    """Collect the words under every constant of the package, by the constant's name."""
    found: dict[str, list[str]] = {}
    for module in walk_packages(grbp.__path__, "grbp."):
        if not module.name.endswith("__main__"):
            words = ModuleAnalyzer.for_module(module.name).find_attr_docs()
            found |= {name: lines for (scope, name), lines in words.items() if not scope}
    return found


def describe(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Describe a constant by the words under it, and give every label a line of its own."""
    del app, thing, options
    if what == "data":
        lines[:] = constants().get(name.rpartition(".")[2], [])
        if not lines:
            LOGGER.warning("the public constant %s has no words under it", name)
    lines[:] = [part for line in lines for part in ([""] * line.startswith(LABELS) + [line])]


def skip(
    app: Sphinx, what: str, name: str, thing: object, skipped: bool, options: object
) -> bool | None:
    """Leave out the fields of named tuples that say no more than that they are fields."""
    del app, what, name, skipped, options
    return True if str(thing.__doc__).startswith("Alias for field number") else None


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive, and what is done to docstrings."""
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", describe)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
