"""Rounds walked step by step: the reference for every other way to play them."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from grbp._numba.jit import kernel
from grbp.engine.recorder import Recorder, World, carry_forward, first_counters, keys_of
from grbp.learners.base import Decide
from grbp.learners.counters import play, settle
from grbp.learners.ucb1_policies import play_policy, ucb1_choice
from grbp.model.transition import first_state
from grbp.numerics.arrays import Ints
from grbp.numerics.rng import fold_in, uniform

DONE: Final = -(2**63)
"""What a loop returns when all went well: no learner can mean it as a threshold."""

Loop = Callable[..., int]


def walking(decide: Decide) -> Loop:
    """The loop that plays every round of a tape with a learner's decisions, step by step.

    It returns DONE, or a threshold that was not declared.

    Paper: alg:GRBP
    """
    kernel(decide)

    def walk(constants: Any, world: World, column: Ints, recorder: Recorder) -> int:
        for r in range(len(recorder.keys)):
            world_key, learner_key, init_key = keys_of(recorder, r)
            n = first_counters(world.p_c, world.p_f, world.once, init_key)
            rho = 0
            for checkpoint in range(len(recorder.checkpoints)):
                carry_forward(recorder, r, checkpoint)
                while rho < recorder.checkpoints[checkpoint]:
                    rho += 1
                    threshold = decide(world.goal, constants, n, fold_in(learner_key, rho))
                    if not 0 <= threshold < world.goal or column[threshold] < 0:
                        return threshold
                    key = fold_in(world_key, rho)
                    first = first_state(world.states, world.cumulative, uniform(key, 0))
                    outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
                    n = settle(n, threshold, outcome)
                    recorder.played[
                        r, checkpoint, column[threshold] + recorder.stride * (first - 1)
                    ] += 1
                    if recorder.wins:
                        recorder.won[r, checkpoint] += outcome.won
        return DONE

    return walk


def walk_policies(world: World, recorder: Recorder) -> int:
    """DONE; the same for UCB1 over all policies, whose memory is an array."""
    count = 2 ** (world.goal - 1)
    for r in range(len(recorder.keys)):
        world_key, _, _ = keys_of(recorder, r)
        plays, wins = np.zeros(count), np.zeros(count)
        rho = 0
        for checkpoint in range(len(recorder.checkpoints)):
            carry_forward(recorder, r, checkpoint)
            while rho < recorder.checkpoints[checkpoint]:
                rho += 1
                policy = ucb1_choice(plays, wins)
                key = fold_in(world_key, rho)
                first = first_state(world.states, world.cumulative, uniform(key, 0))
                won = play_policy(world.goal, world.p_c, world.p_f, policy, first, key)
                plays[policy] += 1.0
                wins[policy] += won
                recorder.played[r, checkpoint, policy + recorder.stride * (first - 1)] += 1
                if recorder.wins:
                    recorder.won[r, checkpoint] += won
    return DONE
