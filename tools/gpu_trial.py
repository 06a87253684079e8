"""Try the CUDA engine on a GPU: versions, equality with the CPU, speed. Temporary; not to be merged.

tools/gpu_trial.py [--packages DIR] [--expect FILE]    on the GPU machine
tools/gpu_trial.py --write FILE                        on a CPU: what the CPU decides
"""

import argparse
import dataclasses
import functools
import os
import platform
import site
import sys
import time
import traceback
import warnings
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--packages", action="append", default=[])
parser.add_argument("--write")
parser.add_argument("--expect", default=str(Path(__file__).with_name("gpu_expected.npz")))
parser.add_argument("--only", default="")
args = parser.parse_args()
for folder in args.packages:
    site.addsitedir(str(Path(folder).resolve()))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402

CHECKPOINTS, REPLICAS, SEEDS = [100, 1000], 512, [5, 2**100 + 3]
REPS = range(7, 7 + REPLICAS)
T0 = time.time()


def say(*words: object) -> None:
    print(f"[{time.time() - T0:6.1f}]", *words, flush=True)


def step(name):  # a step that fails does not stop the others
    def wrap(function):
        if args.only and not any(part in name for part in args.only.split(",")):
            return function
        say("=====", name)
        try:
            function()
        except BaseException:  # noqa: BLE001
            say("FAILED", name)
            traceback.print_exc()
            sys.stderr.flush()
        return function

    return wrap


def learners():
    from grbp.learners.registry import LEARNERS, find_learner

    return {n: find_learner(n, 4) for n in LEARNERS if n not in ("ucb1-policies", "oracle")}


def problems():
    from grbp import Problem

    return [Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.4)]


def on_cpu(problem, learner, engine, seed):
    from grbp.engine.decisions import decisions

    if engine == "draw":
        learner, engine = dataclasses.replace(learner, stable=None, thinning=None), "leap"
    blocks = decisions(problem, learner, CHECKPOINTS, REPS.stop, seed, engine=engine, regret="pseudo")
    return np.concatenate([block.played for block in blocks])[REPS.start :]


if args.write:
    kept = {}
    for name, learner in learners().items():
        for engine in ("walk", "draw"):
            kept[f"{name}/{engine}"] = np.array(
                [on_cpu(p, learner, engine, s) for p, s in zip(problems(), SEEDS)], dtype=np.int16
            )
        say(name)
    np.savez_compressed(args.write, **kept)
    sys.exit()


@step("versions")
def versions():
    say(sys.version, platform.machine(), "numpy", np.__version__)
    import numba

    say("numba", numba.__version__)
    from grbp.engine import cuda as gc

    say("numba-cuda", gc.cuda and gc.cuda.__file__)
    import importlib.metadata as md

    for package in ("numba-cuda", "cuda-bindings", "cuda-core", "cuda-pathfinder", "llvmlite"):
        try:
            say(package, md.version(package))
        except md.PackageNotFoundError:
            say(package, "?")
    say("available", gc.cuda.is_available(), gc.cuda.cuda_error())
    device = gc.cuda.get_current_device()
    say(device.name, device.compute_capability, device.MULTIPROCESSOR_COUNT)
    os.system("nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv")


def compare(engines=("draw", "walk")):
    from grbp.engine import cuda as gc

    expected = np.load(args.expect) if Path(args.expect).exists() else {}
    for name, learner in learners().items():
        for engine in engines:
            try:
                start = time.time()
                got = gc.cuda_decisions(problems(), learner, CHECKPOINTS, REPS, SEEDS, engine)
                took = time.time() - start
                if f"{name}/{engine}" in expected:
                    want = expected[f"{name}/{engine}"]
                else:
                    want = np.array(
                        [on_cpu(p, learner, engine, s) for p, s in zip(problems(), SEEDS)]
                    )
                differ = (got != want).any(axis=(2, 3)).sum()
                totals, products = gc.cuda_sums(
                    problems(), learner, CHECKPOINTS, REPS, SEEDS, engine
                )
                right = (totals == got.sum(1)).all() and (
                    products == np.einsum("prci,prcj->pcij", got, got)
                ).all()
                say(f"{name:20} {engine} replicas that differ: {differ} of {2 * REPLICAS};",
                    "sums right" if right else "SUMS WRONG", f"; first call {took:.1f} s")
            except BaseException:  # noqa: BLE001
                say("FAILED", name, engine)
                traceback.print_exc()


@step("equality")
def equality():
    compare()


def grid():
    from grbp import Problem

    steps = np.linspace(0.05, 0.95, 19)
    return [Problem(4, c, f) for c in steps.tolist() for f in steps.tolist()]


def timed(gc, name, engine="draw", times=3, replicas=100_000, rounds=1000):
    many = grid()
    learner = learners()[name]
    (game,) = gc._games(many, learner, [rounds], range(len(many)), engine)
    game.sums(range(10))
    best = 1e9
    for _ in range(times):
        begin, end = gc.cuda.event(timing=True), gc.cuda.event(timing=True)
        begin.record()
        sums = game.sums(range(replicas))
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) / 1000)
    assert sums[..., -1].sum() == len(many) * replicas * rounds, "rounds are missing"
    kernel = next(iter(list(gc._DISPATCHERS.values())[-1][0].specializations.values()))
    overload = next(iter(kernel.overloads.values()))
    facts = []
    for fact in ("regs_per_thread", "shared_mem_per_block", "local_mem_per_thread"):
        try:
            facts.append(f"{fact} {getattr(overload, fact)}")
        except BaseException as error:  # noqa: BLE001
            facts.append(f"{fact} {error}")
    rate = len(many) * replicas * rounds / best / 1e9
    return f"{best:.4f} s, {rate:.0f} G rounds/s; " + ", ".join(facts)


@step("speed")
def speed():
    from grbp.engine import cuda as gc

    say("getbe-sm as it is:", timed(gc, "getbe-sm"))
    jit, threads, fits = gc.cuda.jit, gc.THREADS, gc.SHARED
    for label, setting in {
        "fused": {"FUSED": True},
        "tables in global memory": {"SHARED": 0},
        "128 threads": {"THREADS": 128},
        "512 threads": {"THREADS": 512},
        "40 registers": {"registers": 40},
        "48 registers": {"registers": 48},
        "56 registers": {"registers": 56},
        "64 registers": {"registers": 64},
        "80 registers": {"registers": 80},
    }.items():
        try:
            gc._DISPATCHERS.clear()
            gc.FUSED, gc.THREADS, gc.SHARED = False, threads, fits
            for key, value in setting.items():
                setattr(gc, key, value)
            if "registers" in setting:
                gc.cuda.jit = functools.partial(jit, max_registers=setting["registers"])
            say(f"getbe-sm, {label}:", timed(gc, "getbe-sm"))
        except BaseException:  # noqa: BLE001
            say("FAILED", label)
            traceback.print_exc()
        finally:
            gc.cuda.jit = jit
            gc.FUSED, gc.THREADS, gc.SHARED = False, threads, fits
            gc._DISPATCHERS.clear()


@step("learners")
def others():
    from grbp.engine import cuda as gc

    for name in learners():
        for engine in ("draw", "walk"):
            try:
                fewer = 100_000 if engine == "draw" else 20_000
                say(f"{name:20} {engine}:", timed(gc, name, engine, 1, fewer))
            except BaseException:  # noqa: BLE001
                say("FAILED", name, engine)
                traceback.print_exc()


@step("whole calls")
def whole():
    from grbp.engine import cuda as gc

    many, learner = grid(), learners()["getbe-sm"]
    for _ in range(2):
        start = time.time()
        gc.cuda_sums(many, learner, [1000], range(100_000), range(len(many)), "draw")
        say("cuda_sums of 361 problems, tables and all:", f"{time.time() - start:.3f} s")
    start = time.time()
    gc._drawn(many, (0, 1, 3))
    say("their tables alone:", f"{time.time() - start:.3f} s")


@step("fused equality")
def fused():
    from grbp.engine import cuda as gc

    gc.FUSED = True
    gc._DISPATCHERS.clear()
    compare(("draw",))
