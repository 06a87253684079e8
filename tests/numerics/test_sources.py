"""The key of compiled code knows all source files that kernels can be made from."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import grbp
from grbp.numerics.fingerprint import SOURCES

SOURCE = Path(grbp.__file__).parent


def name_of(file: Path) -> str:
    parts = ("grbp", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def imports_of(file: Path) -> set[str]:
    """The names that a file imports, also inside functions, with the modules they are from."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports by a relative name"
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports."""
    return {name_of(file): imports_of(file) for file in SOURCE.rglob("*.py")}


def is_source(module: str) -> bool:
    return any(f"{module}.".startswith(f"grbp.{part}.") for part in SOURCES)


def test_every_part_is_there() -> None:
    assert {f"grbp.{part}" for part in SOURCES} <= imports().keys()


def test_every_module_that_marks_a_kernel_or_compiles_is_a_source() -> None:
    ask = {
        m for m, names in imports().items() if any(n.startswith("grbp.numerics.jit") for n in names)
    }
    assert {"grbp.engine.decisions", "grbp.learners.getbe", "grbp.planning.confidence"} <= ask
    # The package itself only looks at what was marked.
    assert [module for module in sorted(ask - {"grbp"}) if not is_source(module)] == []


def test_no_source_imports_what_is_none() -> None:
    """A kernel reads the names of its module, which were made there or imported."""
    imported = {
        (module, name)
        for module, names in imports().items()
        if is_source(module)
        for name in names & imports().keys()
    }
    assert ("grbp.planning.trial_simulation", "grbp.engine.walk") in imported
    # Nor is a picture, which is imported inside the function that draws it.
    contract = (SOURCE.parents[1] / "pyproject.toml").read_text("utf-8")
    (floors,) = (
        one
        for one in tomllib.loads(contract)["tool"]["importlinter"]["contracts"]
        if one["type"] == "layers"
    )
    imported -= {tuple(pair.split(" -> ")) for pair in floors["ignore_imports"]}
    # Neither is the package itself, which finds public names anywhere.
    assert [pair for pair in sorted(imported) if not is_source(pair[1])] == []
