"""Simulations that a server plays for the explorer, each in a process of its own.

So the compiler and its code are never loaded into the server, and a simulation can be ended at any
moment.
"""

import json
import secrets
import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Final

from grbp._process import module_command
from grbp.errors import GrbpError, NotFound, how_to_install

AT_ONCE: Final = 2
"""How many simulations may run at once, one for each caller."""

LONGEST: Final = 180.0
"""Seconds after which a simulation is ended, whatever it does; compiling learners counts here."""

KEPT: Final = 600.0
"""Seconds for which a simulation is kept when it has ended."""

_MOST_KEPT: Final = 100


class Busy(GrbpError):
    """Too many simulations are running."""


class SimulationJob:
    """A simulation in its process."""

    def __init__(self, owner: str, asked: dict[str, Any], clock: Callable[[], float]) -> None:
        self.id, self.owner, self._clock = secrets.token_urlsafe(12), owner, clock
        self.ended: float | None = None
        self.state: dict[str, Any] = {
            "id": self.id, "status": "running", "learner": asked["learners"][0], "done": 0,
            "total": asked["replicas"], "detail": None, "command": shell_command(asked),
            "checkpoints": [], "curves": [],
        }  # fmt: skip
        command, environment = module_command("grbp.explorer.simulation_worker")
        self.process = subprocess.Popen(  # noqa: S603 (a module of this package)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", env=environment,
        )  # fmt: skip
        threading.Thread(target=self._follow, args=(asked,), daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return bool(self.state["status"] == "running")

    def _follow(self, asked: dict[str, Any]) -> None:
        """Follow the reports of the process until it ends."""
        last = threading.Timer(LONGEST, self.process.kill)
        last.daemon = True
        last.start()
        with suppress(OSError, ValueError), self.process as process:
            assert process.stdin  # noqa: S101 (a pipe)
            assert process.stdout  # noqa: S101
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()  # It stays open: the process ends when it is closed.
            for line in process.stdout:
                self._update(**json.loads(line))
        last.cancel()
        if self.running:
            detail = "the simulation was ended before it was done; try it again"
            self._update([], status="failed", detail=detail)
        self.ended = self._clock()

    def _update(self, curves: list[Any], **changes: Any) -> None:
        """Take in a report of the process: curves that are done, and whatever else has changed."""
        # Threads that answer requests see the old state or the new one.
        self.state = {**self.state, **changes, "curves": [*self.state["curves"], *curves]}


class Simulations:
    """The simulations that run or have ended lately, by their ids."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._by_id: dict[str, SimulationJob] = {}

    def begin(self, owner: str, asked: dict[str, Any]) -> SimulationJob:
        """Begin a simulation, or refuse if too many are running."""
        with self._lock:
            self._remove_old()
            running = [one.owner for one in self._by_id.values() if one.running]
            if owner in running:
                raise Busy("a simulation of yours is running; wait for it, or cancel it")
            if len(running) >= AT_ONCE:
                raise Busy(f"{AT_ONCE} simulations of others are running; try it again in a moment")
            simulation = SimulationJob(owner, asked, self._clock)
            self._by_id[simulation.id] = simulation
            return simulation

    def find(self, owner: str, name: str) -> SimulationJob:
        """Return a simulation to its owner."""
        with self._lock:
            self._remove_old()
            simulation = self._by_id.get(name)
        if simulation is None or simulation.owner != owner:
            raise NotFound(
                f"the simulation {name!r} was asked for; there is none, or it has been removed"
            )
        return simulation

    def end(self, owner: str, name: str) -> None:
        """End a simulation, and remove it."""
        simulation = self.find(owner, name)
        simulation.process.kill()
        with self._lock:
            self._by_id.pop(name, None)

    def _remove_old(self) -> None:
        """Remove simulations that ended long ago, and the oldest if there are too many."""
        since = self._clock() - KEPT
        over = [name for name, one in self._by_id.items() if one.ended is not None]
        for k, name in enumerate(over):
            if (self._by_id[name].ended or 0.0) < since or len(over) - k > _MOST_KEPT:
                del self._by_id[name]


def shell_command(asked: dict[str, Any]) -> str:
    """Return the shell command that gives the same numbers."""
    options = [
        word
        for name in ("goal", "p_c", "p_f", "start", "rounds", "replicas", "seed")
        for word in (f"--{name.replace('_', '-')}", str(asked[name]))
    ]
    learners = [word for name in asked["learners"] for word in ("--learner", name)]
    return shlex.join(["grbp", "simulate", *options, *learners])


def why_impossible() -> str | None:
    """Return why nothing can be simulated here, or None."""
    if find_spec("numba") is not None:
        return None
    return f"simulations need Numba, which is not installed; {how_to_install('engine')}"
