"""How long a million rows take, and how much memory: from CSV, from a frame, and a batched solve.

    .venv/bin/python benchmarks/records.py            # prints, and writes records.md
    .venv/bin/python benchmarks/records.py --quick    # a tenth of the rows; only prints

Each line is a process of its own, which says how long the call took and how much memory the process
had at its peak, with Python, NumPy and the frame's library in it.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from columns import Columns
from machine import cores, cpu, system
from measure import Effort, say
from sections import Section, Sections, run

ROWS_A_CASE = 2.54
"""How many rows a case of the synthetic table has, about."""

MEASURED = """
import resource, sys, time
{before}
began = time.perf_counter()
{call}
took = time.perf_counter() - began
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measured(before: str, call: str, file: Path) -> list[str]:
    """Runs a call in a process of its own: the shortest of three times, and the largest peak."""
    code = MEASURED.format(before=before, call=call)
    runs = [
        subprocess.run(  # noqa: S603 (our own code)
            [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(3)
    ]
    return [f"{min(float(r[0]) for r in runs):.2f} s", f"{max(float(r[1]) for r in runs):.0f} MB"]


def rows(effort: Effort) -> list[Columns]:
    """A million rows, read and fitted."""
    count = effort.choose(100_000, 1_000_000)
    table = Columns(
        f"{count:,} rows: grbp.fit as a whole", ["from", "time", "peak memory", "at most"]
    )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cases.csv"
        drawn = (
            "import grbp, itertools\n"
            "from grbp._io import write_table\n"
            "from pathlib import Path\n"
            f"made = grbp.example_records(cases={round(1.1 * count / ROWS_A_CASE)}, seed=1)\n"
            f"columns = [made[name][:{count}].tolist() for name in made]"
        )
        written = "write_table(Path(sys.argv[1]), list(made), zip(*columns))"
        measured(drawn, written, file)
        say("written")
        ways = {
            "CSV": ("import grbp", "grbp.fit(sys.argv[1], 4)", "5 s, 400 MB"),
            "pandas": (
                "import grbp, pandas; frame = pandas.read_csv(sys.argv[1])",
                "grbp.fit(frame, 4)", "1.5 s",
            ),
            "Polars": (
                "import grbp, polars; frame = polars.read_csv(sys.argv[1])",
                "grbp.fit(frame, 4)", "1.5 s",
            ),
        }  # fmt: skip
        for name, (before, call, most) in ways.items():
            table.rows.append([name, *measured(before, call, file), most])
            say(name)
    return [table]


def chains(effort: Effort) -> list[Columns]:
    """Draws of the general chain, solved together."""
    draws = effort.choose(400, 4000)
    table = Columns(
        f"{draws:,} chains of goal 50: grbp.dynprog.solve_many",
        ["chains", "time", "peak memory", "at most"],
    )
    before = (
        "import grbp, numpy as np\n"
        "random = np.random.default_rng(1)\n"
        f"up = random.uniform(.3, .7, ({draws}, 49))\n"
        f"laws, inner = np.zeros(({draws}, 49, 51)), np.arange(49)\n"
        "laws[:, inner, inner + 2], laws[:, inner, inner] = up, 1 - up\n"
        f"wins = random.uniform(0, .5, ({draws}, 49))\n"
    )
    jumps = "laws = .9 * laws + .1 * random.dirichlet(np.ones(51), laws.shape[:2])\n"
    for name, more in (("steps of one", ""), ("with jumps to every state", jumps)):
        cells = measured(before + more, "grbp.dynprog.solve_many(laws, wins)", Path())
        table.rows.append([name, *cells, "2 s"])
        say(name)
    return [table]


SECTIONS: Sections = {
    "rows": Section("A million rows", rows, timed=True),
    "chains": Section("Many chains at once", chains, timed=True),
}


if __name__ == "__main__":
    where = f"{cpu()}, {cores()} cores, {system()}"
    legend = f"Each time is the shortest of three. The machine: {where}."
    run(__file__, "Records: time and memory", legend, SECTIONS)
