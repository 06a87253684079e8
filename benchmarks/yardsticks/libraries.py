"""Bandit libraries on the two-armed baselines: UCB1 and Thompson sampling over two policies.

Each is installed on demand into an environment of its own (benchmarks/.environments, which git
ignores) and runs there as a process of its own (the scripts in `inside`).
"""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".environments"
PATIENCE = 600
"""Seconds for an installation or a run."""


class Library(NamedTuple):
    """A library: its name, what pip is asked for, and the script that runs it."""

    name: str
    requirements: tuple[str, ...]
    script: str


LIBRARIES = (
    # Its posteriors call scipy.special.btdtri, which SciPy 1.14 no longer has.
    Library("SMPyBandits", ("SMPyBandits", "scipy<1.14"), "with_smpybandits.py"),
    Library("MABWiser", ("mabwiser",), "with_mabwiser.py"),
)


class Speed(NamedTuple):
    """Nanoseconds a round of UCB1 and of Thompson sampling, and the version."""

    version: str
    ucb: float
    ps: float


class Unavailable(Exception):
    """A library does not install or does not run here; the message says why."""


def speed(library: Library, rounds: int, seconds: float, install: bool = True) -> Speed:
    """How fast a library is, in replicas of some rounds, measured for some seconds a learner."""
    script = HERE / "inside" / library.script
    # Apart (-I would hide the script's neighbours), and without what it says on its way.
    command = [
        str(environment(library, install)),
        "-W",
        "ignore",
        str(script),
        str(rounds),
        str(seconds),
    ]
    try:
        line = _output(command).strip().split("\n")[-1]
        return Speed(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise Unavailable(f"it answered no figures ({error})") from error


def environment(library: Library, install: bool = True) -> Path:
    """The Python of a library's environment, which is made if it is not there and may be."""
    folder = ENVIRONMENTS / library.name.lower()
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / "ready"
    wanted = f"{sys.version_info[:2]} {library.requirements}"
    if not ready.is_file() or ready.read_text("utf-8") != wanted:
        if not install:
            raise Unavailable("it is not installed, and a quick run installs nothing")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            venv.create(folder, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Unavailable(f"no environment could be made for it ({error})") from error
        _output([str(python), "-m", "pip", "install", "--quiet", *library.requirements])
        ready.write_text(wanted, "utf-8")
    return python


def _output(command: list[str]) -> str:
    """What a command printed; Unavailable, with the last line of its complaint, if it failed."""
    try:
        answer = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"it took more than {PATIENCE} seconds") from error
    if answer.returncode != 0:
        complaint = [line for line in answer.stderr.split("\n") if line.strip()]
        raise Unavailable(complaint[-1].strip() if complaint else f"exit {answer.returncode}")
    return answer.stdout
