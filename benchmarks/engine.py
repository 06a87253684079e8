"""Rounds a second of every learner, compiled and interpreted, in one run on the same work.

    .venv/bin/python benchmarks/engine.py

The work is the paper's: G = 4, p_C = .45, p_F = .3, 5,000 rounds, one thread. The interpreted
loop is the same source run by Python, so the ratio is what compiling it brings.
"""

import sys
import time
from unittest.mock import patch

from grbp import LEARNERS, Problem, engine, find_learner

ROUNDS, PROBLEM = 5000, Problem(4, 0.45, 0.3)


def speed(name: str, replicas: int) -> float:
    """Rounds a second of a learner, after a first call that compiles."""
    learner = find_learner(name, PROBLEM)
    list(engine.decisions(PROBLEM, learner, [10], 1, 0, threads=1))
    began = time.perf_counter()
    list(engine.decisions(PROBLEM, learner, [ROUNDS], replicas, 0, threads=1))
    return replicas * ROUNDS / (time.perf_counter() - began)


def main() -> None:
    """Prints the table."""
    out = sys.stdout
    out.write(f"{'learner':<20}{'rounds/s':>14}{'interpreted':>14}{'ratio':>8}\n")
    for name in LEARNERS:
        slow = name in ("kl-ucb", "bayes-ucb")
        fast = speed(name, 20 if slow else 400)
        with patch.object(engine, "_compiled", lambda function: function):
            plain = speed(name, 1)
        out.write(f"{name:<20}{fast:>14,.0f}{plain:>14,.0f}{fast / plain:>8.0f}\n")


if __name__ == "__main__":
    main()
