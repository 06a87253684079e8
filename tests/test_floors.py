"""Imports go down only, at run time too: no string names a module of a floor above."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import grbp

SOURCE = Path(grbp.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
IMPORTERS = {"import_module", "__import__", "find_spec", "resolve_name"}


def name_of(file: Path) -> str:
    return ".".join(("grbp", *file.relative_to(SOURCE).with_suffix("").parts))


(CONTRACT,) = (
    contract
    for contract in tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))[
        "tool"
    ]["importlinter"]["contracts"]
    if contract["type"] == "layers"
)
FLOORS = [re.findall(r"\w+", layer) for layer in CONTRACT["layers"]]
MODULES = {name_of(file).removesuffix(".__init__") for file in FILES} - {"grbp"}


def first_words(node: ast.expr) -> str:
    """The string that an expression is, or that an f-string or a sum begins with."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and node.values:
        return first_words(node.values[0])
    return first_words(node.left) if isinstance(node, ast.BinOp) else ""


def imported_by_name(tree: ast.AST) -> Iterator[str]:
    """The names, or their beginnings, by which code imports modules of this package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else ""
            called = function.id if isinstance(function, ast.Name) else called
            for argument in node.args if called in IMPORTERS else ():
                words = first_words(argument)
                if words.split(".")[0] == "grbp" or words.startswith("."):
                    yield words


def depth_of(module: str) -> int:
    """The number of floors above that of a module."""
    return next(k for k, floor in enumerate(FLOORS) if module.split(".")[1] in floor)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.AST]:
    return {name_of(file): ast.parse(file.read_text("utf-8")) for file in FILES}


def test_no_module_is_imported_by_a_string(trees: dict[str, ast.AST]) -> None:
    """But for the shell, which imports the one command that it was asked for."""
    names = {(module, name) for module, tree in trees.items() for name in imported_by_name(tree)}
    shell = {
        one for one in names if one[0] == "grbp.cli.__init__" and one[1].startswith("grbp.cli.")
    }
    assert names - shell == set()


def test_no_string_names_a_module_of_a_floor_above(trees: dict[str, ast.AST]) -> None:
    """Strings name modules for their templates, their log, or to run them in another process."""
    named = {
        (module, node.value)
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in MODULES
    }
    assert named
    assert {one for one in named if depth_of(one[1]) < depth_of(one[0])} == set()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('import_module("grbp.figures")', {"grbp.figures"}),
        ('importlib.import_module(f"grbp.{name}")', {"grbp."}),
        ('import_module("grbp." + name)', {"grbp."}),
        ('__import__("grbp")', {"grbp"}),
        ('import_module(".figures", "grbp")', {".figures", "grbp"}),
        ('import_module("numba"); getLogger("grbp")', set()),
        ("from grbp.figures import save", set()),
    ],
)
def test_an_import_by_a_string_would_be_found(code: str, found: set[str]) -> None:
    assert set(imported_by_name(ast.parse(code))) == found
