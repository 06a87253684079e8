"""From nothing to the curve of GETBE-SM: a whole process, the first time and the second."""

import os
import subprocess
import sys
import tempfile

from measure import Effort, say, seconds
from table import Row, Table

PROGRAM = """
import grbp
grbp.simulate(grbp.Problem(4, 0.45, 0.3), ["getbe-sm"], 5000, 200, seed=0, threads=1)
"""


def tables(effort: Effort) -> list[Table]:
    """The second process, which finds the engine compiled, against the first."""
    with tempfile.TemporaryDirectory() as folder:
        say("the first process, with an empty cache")
        first = seconds(lambda: process(folder))
        say("the second")
        second = min(seconds(lambda: process(folder)) for _ in range(effort.choose(1, 5)))
    return [
        Table(
            "The paper's GETBE-SM as a process of its own: the second against the first",
            "second",
            "first",
            [Row("GETBE-SM, p_C = 0.45", second, first)],
            ["From the start of Python to its end; the first finds an empty cache."],
        )
    ]


def process(cache: str) -> None:
    """Nothing; runs the program in a new Python with a cache folder."""
    environment = {**os.environ, "GRBP_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)  # noqa: S603
