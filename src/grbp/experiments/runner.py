"""Running a specification: found if it was run before, resumed if it was interrupted."""

import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, cast, overload

import numpy as np

from grbp.experiments.simulation import Progress, Simulation, simulate
from grbp.experiments.spec import AnySpec, GridSpec, Spec
from grbp.experiments.store import (
    FOLDER,
    CurveResult,
    GridResult,
    Result,
    address,
    find,
    make_folder,
    meta_now,
    save,
)
from grbp.model.problem import Problem
from grbp.numerics.rng import replica_key

PARTS: Final = "parts"
"""The folder, inside that of the results, where finished parts wait for the rest."""

_CELL: Final = 4
"""The part of a seed that makes the seeds of the cells of a map."""

_Told = Callable[[int], None]


@overload
def run(
    spec: Spec, folder: Path = ..., progress: Progress | None = ..., threads: int | None = ...
) -> CurveResult: ...
@overload
def run(
    spec: GridSpec, folder: Path = ..., progress: Progress | None = ..., threads: int | None = ...
) -> GridResult: ...
def run(
    spec: AnySpec,
    folder: Path = FOLDER,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Result:
    """The result of a specification, from the folder if it is there, else made and kept there.

    Every part (a learner, or a row of the map) is kept as soon as it is made, so that after an
    interruption the same call goes on with the next one. Neither interruptions nor threads
    change a bit. progress is called with (what runs, replicas done, replicas in all).

    Paper: sec:numeric
    """
    folder = Path(folder)
    found = find(folder, spec)
    if found is not None:
        return found
    waiting = folder / PARTS
    make_folder(waiting)
    done: list[Result] = []
    parts = cast("list[AnySpec]", spec.parts)
    for k, part in enumerate(parts):
        kept = find(waiting, part)
        if kept is None:
            kept = _made(part, _teller(progress, spec, part, k), threads)
            save(waiting, kept)
        done.append(kept)
    whole = _joined(spec, done)
    save(folder, whole)
    for part in parts:
        with suppress(OSError):
            (waiting / address(part)).unlink(missing_ok=True)
    with suppress(OSError):
        waiting.rmdir()
    return whole


def cell_seed(seed: int, p_c: float, p_f: float) -> int:
    """The seed of one cell of a map, whichever map it belongs to; cells are independent."""
    for p in (p_c, p_f):
        seed = replica_key(seed, _CELL, int.from_bytes(struct.pack("<d", p), "little"))
    return seed


def _teller(progress: Progress | None, spec: AnySpec, part: AnySpec, before: int) -> _Told:
    """What reports, for one part, how far the whole has come."""
    if progress is None:
        return lambda _: None
    cells = len(spec.p_c) if isinstance(spec, GridSpec) else 1
    each = cells * spec.replicas
    what = part.learners[0] if isinstance(part, Spec) else f"p_f = {part.p_f[0]:g}"

    def told(done: int) -> None:
        progress(f"{spec.name}: {what}", before * each + done, len(spec.parts) * each)

    told(0)
    return told


def _made(part: AnySpec, told: _Told, threads: int | None) -> Result:
    """The result of one part."""
    meta = meta_now(part)
    if isinstance(part, Spec):
        simulation = simulate(
            part.problem,
            part.learners,
            part.rounds,
            part.replicas,
            part.seed,
            checkpoints=part.checkpoints,
            engine=part.engine,
            threads=threads,
            progress=lambda _, done, __: told(done),
        )
        return CurveResult(part, simulation, meta)
    shape = (len(part.p_f), len(part.p_c))
    mean, se = np.empty(shape), np.empty(shape)
    for k, (i, j) in enumerate(np.ndindex(shape)):
        p_c, p_f = part.p_c[j], part.p_f[i]
        curve = simulate(
            Problem(part.goal, p_c, p_f),
            part.learners,
            part.rounds,
            part.replicas,
            cell_seed(part.seed, p_c, p_f),
            checkpoints=(part.rounds,),
            engine=part.engine,
            threads=threads,
        ).curves[part.learner]
        mean[i, j], se[i, j] = curve.mean[-1], curve.se[-1]
        told((k + 1) * part.replicas)
    return GridResult(part, mean, se, meta)


def _joined(spec: AnySpec, parts: list[Result]) -> Result:
    """The result of the whole from those of its parts, in their order."""
    meta = meta_now(spec)
    if isinstance(spec, GridSpec):
        rows = cast("list[GridResult]", parts)
        mean, se = np.vstack([row.mean for row in rows]), np.vstack([row.se for row in rows])
        return GridResult(spec, mean, se, meta)
    first, *_ = columns = [part.simulation for part in cast("list[CurveResult]", parts)]
    curves = {name: curve for column in columns for name, curve in column.curves.items()}
    simulation = Simulation(
        first.problem,
        first.checkpoints,
        first.replicas,
        first.seed,
        first.kind,
        curves,
        meta.engines,
    )
    return CurveResult(spec, simulation, meta)
