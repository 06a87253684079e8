"""How long a plan takes: nine truths, 2,000 studies of each, 2,000 cases in each.

.venv/bin/python benchmarks/plan.py            # prints, and writes plan.md
.venv/bin/python benchmarks/plan.py --quick    # a tenth of the studies, which only prints
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import grbp
import machine
from columns import Columns
from measure import Effort, in_turn, say

STUDY = {"goal": 4, "p_c": (0.4, 0.5), "p_f": (0.2, 0.35), "cases": (200, 500, 2000)}
WAYS = {
    "one case after another": {},
    "on one thread": {"threads": 1},
    "20 cases at once": {"overlap": 20},
    "stopped when 95 % sure": {"stop_at": 0.95},
}


def measured(effort: Effort) -> Columns:
    """The seconds of a plan."""
    replicas = effort.choose(200, 2000)
    say("compiling")
    grbp.plan(**STUDY, replicas=2)
    tasks = {
        way: partial(grbp.plan, **STUDY, **how, replicas=replicas) for way, how in WAYS.items()
    }
    best = in_turn(tasks, effort.choose(1, 2))
    began = time.process_time()
    grbp.plan(**STUDY, replicas=replicas)
    busy = time.process_time() - began
    return Columns(
        f"3 x 3 truths, {replicas:,} studies of each, 2,000 cases in each",
        ["the study", "seconds"],
        [[way, f"{best[way]:.1f}"] for way in WAYS],
        [
            "The best of the passes. A plan keeps the processors busy for"
            f" {busy:.1f} s in all, for one case after another."
        ],
    )


def main() -> None:
    """Measures, prints and, after a whole run, writes."""
    parser = argparse.ArgumentParser(description="How long a plan takes")
    parser.add_argument("--quick", action="store_true", help="a tenth of the studies; only prints")
    quick = parser.parse_args().quick
    table = measured(Effort(quick))
    sys.stdout.write(table.text())
    if quick:
        return
    kept = ("date", "CPU", "cores", "busy before", "system", "Python", "grbp", "numpy", "numba")
    facts = [f"- {name}: {fact}" for name, fact in machine.describe() if name in kept]
    lines = ["# How long a plan takes", "", *facts, "", table.markdown().removeprefix("#")]
    file = Path(__file__).with_suffix(".md")
    file.write_text("\n".join(lines), "utf-8")
    say(f"wrote {file}")


if __name__ == "__main__":
    main()
