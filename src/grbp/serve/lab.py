"""What the explorer has beyond its sliders where a server is behind it: simulations and verdicts.

A simulation runs in a process of its own: the compiler and its code are never loaded here, and it
can be ended at any moment. Verdicts are read off the results that `grbp reproduce` has left;
nothing is measured for them here.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from grbp.errors import GrbpError, InvalidInput, NotFound, how_to_install
from grbp.learners.base import Learner
from grbp.learners.registry import DEFAULT_LEARNER, LEARNERS, find_learner
from grbp.model.problem import Problem
from grbp.serve.access import VIEWER, may
from grbp.serve.desk import caller_of, check_learner, desk_of, json_answer
from grbp.serve.lab_models import (
    MOST_LEARNERS,
    MOST_REPLICAS,
    MOST_ROUNDS,
    LabModel,
    NewSimulation,
    SimulationModel,
    VerdictModel,
    VerdictsModel,
)
from grbp.serve.problems import Refusal

router = APIRouter(generate_unique_id_function=lambda route: route.name)

AT_ONCE: Final = 2
"""How many simulations may run at once, one for each caller."""

LONGEST: Final = 180.0
"""Seconds after which a simulation is ended, whatever it does; compiling learners counts here."""

KEPT: Final = 600.0
"""Seconds for which a simulation is kept when it has ended."""

_MOST_KEPT: Final = 100
_FIRST: Final = (DEFAULT_LEARNER, "getbe-sm", "getbe-ps", "getbe-ucb")
_WITHOUT: Final = ("ucb1-policies", "oracle")  # They depend on the problem, and play for their own.


class Job:
    """A simulation in its process."""

    def __init__(self, owner: str, asked: dict[str, Any], clock: Callable[[], float]) -> None:
        self.id, self.owner, self._clock = secrets.token_urlsafe(12), owner, clock
        self.ended: float | None = None
        self.state: dict[str, Any] = {
            "id": self.id, "status": "running", "learner": asked["learners"][0], "done": 0,
            "total": asked["replicas"], "detail": None, "command": command_of(asked),
            "checkpoints": [], "curves": [],
        }  # fmt: skip
        # The process finds this package where this process has found it, and nothing else.
        there = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grbp.serve.simulating"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", env=there,
        )  # fmt: skip
        threading.Thread(target=self._follow, args=(asked,), daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return bool(self.state["status"] == "running")

    def _follow(self, asked: dict[str, Any]) -> None:
        """Take in what the process says until it ends."""
        last = threading.Timer(LONGEST, self.process.kill)
        last.daemon = True
        last.start()
        with suppress(OSError, ValueError), self.process as process:
            assert process.stdin  # noqa: S101 (a pipe)
            assert process.stdout  # noqa: S101
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()  # It stays open: when it ends, the process does.
            for line in process.stdout:
                self._take(json.loads(line))
        last.cancel()
        if self.running:
            self._take({"refused": "the simulation was ended before it was done; try it again"})
        self.ended = self._clock()

    def _take(self, said: dict[str, Any]) -> None:
        """Take in one answer."""
        if "curve" in said:
            kept = [*self.state["curves"], said["curve"]]
            said = {"checkpoints": said["checkpoints"], "curves": kept}
        elif "refused" in said:
            said = {"status": "failed", "detail": said["refused"]}
        elif "ended" in said:
            said = {"status": "done"}
        self.state = {**self.state, **said}  # Others read it meanwhile, the old one or the new.


class Lab:
    """The simulations that were asked for, by their numbers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._jobs: dict[str, Job] = {}

    def begin(self, owner: str, asked: dict[str, Any]) -> Job:
        """Begin a simulation, unless there are too many."""
        with self._lock:
            self._forget()
            running = [job.owner for job in self._jobs.values() if job.running]
            if owner in running:
                raise Refusal(
                    429, "a simulation of yours is running; wait for it, or cancel it",
                    {"Retry-After": "5"},
                )  # fmt: skip
            if len(running) >= AT_ONCE:
                raise Refusal(
                    429, f"{AT_ONCE} simulations of others are running; try it again in a moment",
                    {"Retry-After": "5"},
                )  # fmt: skip
            job = Job(owner, asked, self._clock)
            self._jobs[job.id] = job
            return job

    def find(self, owner: str, number: str) -> Job:
        """Return a simulation to whoever has asked for it."""
        with self._lock:
            self._forget()
            job = self._jobs.get(number)
        if job is None or job.owner != owner:
            raise NotFound(
                f"the simulation {number!r} was asked for; there is none, or it is forgotten"
            )
        return job

    def end(self, owner: str, number: str) -> None:
        """End a simulation, and forget it."""
        job = self.find(owner, number)
        job.process.kill()
        with self._lock:
            self._jobs.pop(number, None)

    def _forget(self) -> None:
        """Forget what ended long ago, and the oldest of too many."""
        since = self._clock() - KEPT
        over = [name for name, job in self._jobs.items() if job.ended is not None]
        for k, name in enumerate(over):
            if (self._jobs[name].ended or 0.0) < since or len(over) - k > _MOST_KEPT:
                del self._jobs[name]


def command_of(asked: dict[str, Any]) -> str:
    """Return the command that gives the numbers of a simulation."""
    options = [
        word
        for name in ("goal", "p_c", "p_f", "start", "rounds", "replicas", "seed")
        for word in (f"--{name.replace('_', '-')}", str(asked[name]))
    ]
    learners = [word for name in asked["learners"] for word in ("--learner", name)]
    return shlex.join(["grbp", "simulate", *options, *learners])


def missing() -> str | None:
    """Say why nothing can be simulated, if so."""
    if find_spec("numba") is not None:
        return None
    return f"simulations need Numba, which is not installed; {how_to_install('engine')}"


def _owner(request: Request) -> str:
    """Return whose simulations are meant: those of a token, or of whoever uses the machine."""
    token = caller_of(request).token
    return "" if token is None else token.id


def _lab(request: Request) -> Lab:
    lab: Lab = request.app.state.lab
    return lab


@router.get("/api/explore", response_model=LabModel, tags=["explorer"])
def laboratory(request: Request) -> Response:
    """Say what can be simulated, the learners and the limits, and whether for whoever asks."""
    names = [*_FIRST, *(name for name in LEARNERS if name not in (*_FIRST, *_WITHOUT))]
    known = {name: LEARNERS[name] for name in names}
    learners = [
        {
            "name": name,
            "summary": one.summary,
            "gamma": getattr(one.constants, "gamma", None),
        }
        for name, one in known.items()
        if isinstance(one, Learner)
    ]
    return json_answer(
        {
            "learners": learners, "most_learners": MOST_LEARNERS, "most_rounds": MOST_ROUNDS,
            "most_replicas": MOST_REPLICAS, "allowed": may(caller_of(request).role, VIEWER),
            "missing": missing(),
        }
    )  # fmt: skip


@router.post(
    "/api/explore/simulations", status_code=202, response_model=SimulationModel, tags=["explorer"]
)
def begin_simulation(request: Request, body: NewSimulation) -> Response:
    """Begin to simulate learners on a problem; ask again how far it is."""
    if (why := missing()) is not None:
        raise Refusal(503, why)
    asked = body.model_dump()
    problem = Problem(body.goal, body.p_c, body.p_f, body.start)
    for name in body.learners:
        check_learner(name)
    names = [find_learner(name, problem).name for name in body.learners]
    if len(set(names)) < len(names):
        raise InvalidInput(f"learners = {body.learners} was given; each must be named once")
    job = _lab(request).begin(_owner(request), asked)
    return json_answer(job.state, 202, Location=f"/api/explore/simulations/{job.id}")


@router.get(
    "/api/explore/simulations/{id}", response_model=SimulationModel, tags=["explorer"]
)  # fmt: skip
def simulation(request: Request, id: str) -> Response:  # noqa: A002 (its name in the address)
    """Say how far a simulation is, and what it has found."""
    return json_answer(_lab(request).find(_owner(request), id).state)


@router.delete("/api/explore/simulations/{id}", status_code=204, tags=["explorer"])
def end_simulation(request: Request, id: str) -> Response:  # noqa: A002
    """End a simulation at once, if it still runs, and forget it."""
    _lab(request).end(_owner(request), id)
    return Response(status_code=204)


@router.get("/api/explore/verdicts", response_model=VerdictsModel, tags=["explorer"])
def get_verdicts(request: Request) -> Response:
    """Judge the paper's claims by the results that are there."""
    return json_answer(judged(desk_of(request).settings.results))


def judged(folder: Path) -> dict[str, Any]:
    """Return the verdicts on the paper's claims, from the results in a folder.

    A result that is damaged, or that another version of this software has made, is not counted.
    """
    from grbp.experiments import EXPERIMENTS, Result, as_printed, load_result  # noqa: PLC0415 (slow)
    from grbp.paper.verdict import LEGEND, tally, verdicts  # noqa: PLC0415 (slow)

    results: dict[str, Result] = {}
    for name, spec in EXPERIMENTS.items():
        for one in (as_printed(spec), spec):  # What was measured more precisely counts.
            with suppress(GrbpError):
                results[name] = load_result(folder / "data", one)
    rows = verdicts(results)
    curves = results.get("figure-3")
    return {
        "items": [{name: getattr(row, name) for name in VerdictModel.model_fields} for row in rows],
        "legend": LEGEND,
        "tally": tally(rows),
        "missing": [name for name in EXPERIMENTS if name not in results],
        "made": max((one.meta.made for one in results.values()), default=None),
        "replicas": None if curves is None else curves.spec.replicas,
        "command": shlex.join(["grbp", "reproduce", "--out", str(folder)]),
    }
