"""Histories of moves, drawn with a seed."""

import numpy as np

from grbp.fitting.watch import Step, Watch


def draw_steps(
    seed: int,
    cases: int,
    p_c: tuple[float, ...] = (0.5, 0.5, 0.5),
    p_f: float = 0.3,
    groups: int = 2,
    last: float | None = None,
) -> list[Step]:
    """Cases in turn, with FINISH in a quarter of the moves; `last` is p_C in the second half."""
    random, steps = np.random.default_rng(seed), []
    for case in range(1, cases + 1):
        state = int(random.integers(1, len(p_c) + 1))
        while 0 < state <= len(p_c):
            finish = bool(random.random() < 0.25)
            up = last if last is not None and 2 * case > cases else p_c[state - 1]
            success = bool(random.random() < (p_f if finish else up))
            steps.append(Step(case, case % groups, state, finish, success))
            state = 0 if finish else state + (1 if success else -1)
    return steps


def follow_all(steps: list[Step], goal: int = 4, groups: int = 2, level: float = 0.95) -> Watch:
    watch = Watch.start(goal, groups, level)
    for step in steps:
        watch = watch.follow(step)
    return watch
