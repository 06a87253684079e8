"""The house itself: what is public, and what stays light."""

import inspect
import re

import pytest
from loading import loaded_by, others

import grbp

NOT_ON_IMPORT = {"gymnasium", "matplotlib", "scipy", "numba", "mpmath", "stormpy", "PIL"}


def test_every_public_name_is_there_and_documented() -> None:
    assert {"Problem", "simulate", "__version__"} <= {*grbp.__all__, *dir(grbp)}
    for name in grbp.__all__:
        thing = getattr(grbp, name)
        assert not (inspect.isfunction(thing) or inspect.isclass(thing)) or thing.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = grbp.nothing  # type: ignore[attr-defined]


def test_the_package_lists_public_names_alone_and_suggests_them() -> None:
    assert {name for name in dir(grbp) if not name.startswith("_")} == {*grbp.__all__}
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        _ = grbp.simulat  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=re.escape("grbp.summary(problem)")):
        _ = grbp.solve  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute '_hidden'$"):
        _ = grbp._hidden  # type: ignore[attr-defined]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["solve", "--help"]])
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    code = (
        "import sys, contextlib, grbp\n"
        "if sys.argv[1:]:\n"
        "    from grbp.cli import main\n"
        "    with contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
    )
    loaded = loaded_by(code, *arguments)
    assert loaded & NOT_ON_IMPORT == set()
    assert others(loaded) <= {"grbp", "numpy"}


def test_a_session_needs_neither_the_engine_nor_numba() -> None:
    code = (
        "import grbp\n"
        "session = grbp.Session(4, 'doorstep-optimal', seed=1)\n"
        "session.open_case(2)\n"
        "session.tell(1 if session.ask() == grbp.Action.CONTINUE else 0)\n"
    )
    loaded = loaded_by(code)
    assert "grbp.learners.doorstep" in loaded
    assert not loaded & {"numba", "matplotlib", "grbp.engine", "grbp.experiments"}
