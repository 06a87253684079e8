"""`import grbp` makes the environment known to Gymnasium, and costs and breaks nothing.

What an import does can be seen only in an interpreter in which it has not happened yet, so
each of these runs one.
"""

import subprocess
import sys
from pathlib import Path

import pytest

KNOWN = """
import sys
from importlib.machinery import SourceFileLoader
env = gymnasium.make("grbp/GamblersRuin-v0", goal=5)
envs = gymnasium.make_vec("grbp/GamblersRuin-v0", num_envs=3, goal=5)
assert type(env.unwrapped).__module__ == type(envs).__module__ == "grbp.env"
assert env.unwrapped.problem == envs.problem == grbp.Problem(5, 0.45, 0.3)
# Nothing of the waiting is left behind.
assert not [f for f in sys.meta_path if type(f).__module__.startswith("grbp")]
for module in (gymnasium, gymnasium.envs.registration):
    assert type(module.__spec__.loader) is type(module.__loader__) is SourceFileLoader
"""

HIDE = """
import sys
from importlib.machinery import PathFinder

folders = []

class Only(PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname == "gymnasium":
            path = folders
        return super().find_spec(fullname, path, target)

sys.meta_path[:] = [Only if f is PathFinder else f for f in sys.meta_path]
"""

FORBID = """
import sys

class Forbidden:
    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname == "gymnasium":
            raise ModuleNotFoundError("No module named 'gymnasium'", name="gymnasium")

sys.meta_path.insert(0, Forbidden)
"""


def run(*programs: str) -> None:
    """Nothing; runs the programs as one in a new interpreter, where a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(programs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def fake(folder: Path, files: dict[str, str]) -> None:
    """Nothing; writes another package called gymnasium into the folder."""
    for name, text in {"envs/__init__.py": "", "envs/registration.py": "", **files}.items():
        path = folder / "gymnasium" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    "imports",
    [
        "import grbp, gymnasium",
        "import gymnasium, grbp",
        "import grbp.env, gymnasium",
        "import grbp, gymnasium.vector; import gymnasium",
    ],
)
def test_registered_whichever_is_imported_first(imports: str) -> None:
    run(imports, KNOWN)


def test_import_alone_does_not_load_gymnasium() -> None:
    run("import sys, grbp", "assert not [m for m in sys.modules if m.startswith('gymnasium')]")


@pytest.mark.parametrize("absent", [HIDE, FORBID])
def test_without_gymnasium_only_the_environment_is_missing(absent: str) -> None:
    run(
        absent,
        """
import importlib.util
import grbp
from grbp.errors import MissingExtra
for _ in range(2):
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        assert error.name == "gymnasium"
    else:
        raise SystemExit("gymnasium was not hidden")
    try:
        import grbp.env
    except MissingExtra as error:
        assert "grbp[gymnasium]" in str(error)
    else:
        raise SystemExit("grbp.env was imported")
""",
    )


def test_a_search_for_gymnasium_does_not_use_the_waiting_up() -> None:
    run(
        """
import importlib.util
import sys
import grbp
for _ in range(2):
    spec = importlib.util.find_spec("gymnasium")
    assert spec.origin.endswith("__init__.py")
    assert spec.loader.is_package("gymnasium")
assert "gymnasium" not in sys.modules
import gymnasium
""",
        KNOWN,
    )


@pytest.mark.parametrize("broken", ["__init__.py", "envs/registration.py"])
def test_an_import_that_fails_is_not_disturbed_and_can_be_repeated(
    tmp_path: Path, broken: str
) -> None:
    fake(tmp_path, {"__init__.py": "import gymnasium.envs.registration", broken: "1 / 0"})
    run(
        HIDE,
        f"""
import grbp
folders.append({str(tmp_path)!r})
for _ in range(2):
    try:
        import gymnasium
    except ZeroDivisionError:
        sys.modules.pop("gymnasium.envs", None)
    else:
        raise SystemExit("the broken module was imported")
folders[:] = sys.path
import gymnasium
""",
        KNOWN,
    )


OTHERS: list[dict[str, str]] = [
    {},
    {"__init__.py": ""},
    {"__init__.py": "import gymnasium.envs.registration"},
    {
        "__init__.py": "import gymnasium.envs.registration",
        "envs/registration.py": "registry = {}\nclass EnvSpec:\n    def __init__(self, id): ...",
    },
]


@pytest.mark.parametrize("imports", ["import grbp, gymnasium", "import gymnasium, grbp"])
@pytest.mark.parametrize("files", OTHERS)
def test_something_else_of_that_name_is_left_alone(
    tmp_path: Path, files: dict[str, str], imports: str
) -> None:
    fake(tmp_path, files)
    run(
        HIDE,
        f"folders.append({str(tmp_path)!r})",
        imports,
        f"assert list(gymnasium.__path__) == [{str(tmp_path / 'gymnasium')!r}]",
        "assert not getattr(sys.modules.get('gymnasium.envs.registration'), 'registry', None)",
    )


def test_calling_it_again_changes_nothing() -> None:
    run(
        """
import importlib
import sys
import grbp
from grbp import _registration

def waiting():
    return [f for f in sys.meta_path if type(f).__module__ == "grbp._registration"]

_registration.register_when_imported()
importlib.reload(_registration).register_when_imported()
assert len(waiting()) == 1
import gymnasium
_registration.register_when_imported()
""",
        KNOWN,
    )


def test_an_entry_that_is_there_is_kept() -> None:
    run(
        """
import gymnasium
gymnasium.register("grbp/GamblersRuin-v0", entry_point="somewhere:Else")
import grbp
assert gymnasium.spec("grbp/GamblersRuin-v0").entry_point == "somewhere:Else"
"""
    )


def test_threads_that_import_both_at_once() -> None:
    run(
        """
import importlib
import threading
import numpy
gate = threading.Barrier(8)

def load(name):
    gate.wait()
    importlib.import_module(name)

names = ["grbp", "gymnasium"] * 4
threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import grbp, gymnasium
""",
        KNOWN,
    )
