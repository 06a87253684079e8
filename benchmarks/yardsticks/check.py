"""Whether every yardstick does the same work as grbp: the same mean regret after 1,000 rounds.

    .venv/bin/python benchmarks/yardsticks/check.py [--replicas 2000]

Takes some minutes, most of them for Gymnasium. A mean that is more than four standard errors
away from grbp's is marked, and the exit status is then 1.
"""

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path

# A script sees its own folder; the modules lie one above it.
sys.path[0] = str(Path(__file__).parents[1])

import ours  # noqa: E402
from yardsticks import cpp_steps, gymnasium_loop, inline_python, numpy_replicas, plain_python  # noqa: E402
from yardsticks.work import LEARNERS, P_C, Curve, Work  # noqa: E402

ROUNDS = 1000
MOST = 4.0
"""Standard errors of the difference."""

FAST = 10
"""How many times as many replicas the fast ones play."""


def main() -> int:
    """0 if all agree, else 1; prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replicas", type=int, default=2000, help="of the slow ones")
    replicas = parser.parse_args().replicas
    out = sys.stdout
    out.write(f"Mean regret after {ROUNDS:,} rounds, and how far from grbp's it is\n\n")
    out.write(f"{'':<16}{'mean':>10}{'+-':>8}{'standard errors away':>24}\n")
    differ = False
    for learner in LEARNERS:
        for p_c in P_C:
            work = Work(learner, p_c, ROUNDS, FAST * replicas)
            few = Work(learner, p_c, ROUNDS, replicas)
            truth = ours.run(work, engine="walk")
            out.write(f"{learner}, p_c = {p_c}\n")
            differ |= tell("grbp, walking", truth, None)
            leapt = ours.run(replace(work, seed=1), engine="leap")
            differ |= tell("grbp, leaping", leapt, truth)
            differ |= tell("C++", cpp_steps.run(work), truth)
            differ |= tell("NumPy", numpy_replicas.run(work), truth)
            differ |= tell("plain Python", plain_python.run(few), truth)
            differ |= tell("inline Python", inline_python.run(few), truth)
            differ |= tell("Gymnasium", gymnasium_loop.run(few), truth)
    return 1 if differ else 0


def tell(name: str, curve: Curve | None, truth: Curve | None) -> bool:
    """Whether a yardstick is too far from the truth; prints its line."""
    if curve is None:
        sys.stdout.write(f"  {name:<14}  not compared: {cpp_steps.absence()}\n")
        return False
    mean, se = float(curve.mean[-1]), float(curve.se[-1])
    line, differs = f"  {name:<14}{mean:>10.3f}{se:>8.3f}", False
    if truth is not None:
        away = (mean - float(truth.mean[-1])) / math.hypot(se, float(truth.se[-1]))
        differs = not abs(away) <= MOST
        line += f"{away:>24.1f}{'   DIFFERS' if differs else ''}"
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return differs


if __name__ == "__main__":
    sys.exit(main())
