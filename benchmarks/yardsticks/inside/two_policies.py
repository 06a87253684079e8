"""The bandit of the two threshold policies, for a library in an environment of its own.

Nothing here needs anything but Python: grbp is not installed where this runs.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

Choose = Callable[[], Any]
Tell = Callable[[Any, int], None]
Beginning = Callable[[], tuple[Choose, Tell]]
"""A new learner: what asks it for an arm, and what tells it the arm and whether it won."""

GOAL, P_C, P_F = 4, 0.45, 0.3


def won(threshold: int, draws: random.Random) -> int:
    """1 if a round with a threshold reached the goal, else 0; walked step by step."""
    uniform = draws.random
    state = 1 + int((GOAL - 1) * uniform())
    while threshold < state < GOAL:
        state += 1 if uniform() < P_C else -1
    if state == GOAL:
        return 1
    return 1 if state == 1 and uniform() < P_F else 0


def nanoseconds(begin: Beginning, rounds: int, seconds: float) -> float:
    """The time of one round: that of the fastest replica, of those begun within some seconds."""
    draws = random.Random(0)  # noqa: S311 (nothing secret)
    times: list[float] = []
    while sum(times) < seconds:
        began = time.perf_counter()
        choose, tell = begin()
        for _ in range(rounds):
            arm = choose()
            tell(arm, won(int(arm), draws))
        times.append(time.perf_counter() - began)
    return min(times) / rounds * 1e9


def main(version: str, ucb: Beginning, ps: Beginning) -> None:
    """Prints a line of JSON: the version, and nanoseconds a round of both learners."""
    rounds, seconds = int(sys.argv[1]), float(sys.argv[2])
    answer = {
        "version": version,
        "ucb": nanoseconds(ucb, rounds, seconds),
        "ps": nanoseconds(ps, rounds, seconds),
    }
    sys.stdout.write(json.dumps(answer) + "\n")
