"""A small sweep for the tests, and a driver to be killed: it says on a line what it has kept."""

import os
import sys
from pathlib import Path

import grbp
from grbp.experiments.sweep_spec import SweepSpec

GRID = {"goal": 4, "p_c": [0.3, 0.5, 0.7], "p_f": [0.2, 0.6]}
SPEC = SweepSpec(
    "tour",
    GRID,
    ("getbe-sm", "getbe-ps", "no-explore"),
    rounds=(20, 300),
    replicas=400,
    seed=3,
)
CELLS = 18


def tell(_: str, done: int, total: int) -> None:
    os.write(1, f"{done} {total}\n".encode())


def drive(folder: str) -> None:
    grbp.sweep(
        SPEC,
        Path(folder),
        processes=2,
        chunk=0.002,
        progress=tell,
    )


if __name__ == "__main__":
    drive(sys.argv[1])
