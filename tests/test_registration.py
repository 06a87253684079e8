"""Gymnasium makes the environment by its name, and `import grbp` does not load Gymnasium.

What an import does can be seen only in an interpreter in which it has not happened yet, so
each of these runs one.
"""

import subprocess
import sys

import pytest

MADE = """
env = gymnasium.make(prefix + "grbp/GamblersRuin-v0", goal=5)
for mode in (None, "sync"):
    envs = gymnasium.make_vec(
        prefix + "grbp/GamblersRuin-v0", num_envs=3, vectorization_mode=mode, goal=5
    )
    assert envs.num_envs == 3
    assert envs.single_observation_space.n == env.observation_space.n == 6
import grbp.env
assert type(env.unwrapped) is grbp.env.GamblersRuinEnv
assert env.unwrapped.problem == grbp.Problem(5, 0.45, 0.3)
"""


def run(*programs: str) -> None:
    """Run the programs as one in a new interpreter, where a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(programs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium; prefix = 'grbp.env:'",
        "import gymnasium, grbp; prefix = 'grbp.env:'",
        "import grbp.env, gymnasium; prefix = ''",
        "import gymnasium; from grbp.env import GamblersRuinEnv; prefix = ''",
    ],
)
def test_gymnasium_makes_it_by_name(imports: str) -> None:
    run(imports, MADE)


def test_importing_again_changes_nothing() -> None:
    run(
        "import importlib, gymnasium, grbp.env",
        "before = gymnasium.spec(grbp.env.ENV_ID)",
        "importlib.reload(grbp.env)",
        "assert gymnasium.spec(grbp.env.ENV_ID) is before",
        "prefix = ''",
        MADE,
    )


def test_import_alone_does_not_load_gymnasium() -> None:
    run("import sys, grbp", "assert not [m for m in sys.modules if m.startswith('gymnasium')]")


def test_without_gymnasium_only_the_environment_is_missing() -> None:
    run(
        """
import sys
sys.modules["gymnasium"] = None
import grbp
for _ in range(2):
    try:
        import grbp.env
    except grbp.MissingExtra as error:
        assert "grbp[gymnasium]" in str(error)
    else:
        raise SystemExit("grbp.env was imported")
"""
    )
