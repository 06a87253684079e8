"""How long a plan takes: nine truths, 2,000 studies of each, 2,000 cases in each.

.venv/bin/python benchmarks/plan.py            # prints, and writes plan.md
.venv/bin/python benchmarks/plan.py --quick    # a tenth of the studies, which only prints
"""

import time
from functools import partial

import grbp
from columns import Columns
from measure import Effort, in_turn, say
from sections import run_table

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


if __name__ == "__main__":
    run_table(__file__, "How long a plan takes", measured)
