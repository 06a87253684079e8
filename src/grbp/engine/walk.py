"""Rounds walked step by step: the reference against which every faster way is tested."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from grbp.engine.recorder import Recorder, World, begin_replica, carry_forward, end_replica
from grbp.learners.base import Decide
from grbp.learners.counters import play, settle
from grbp.learners.ucb1_policies import play_policy, ucb1_choice
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.jit import kernel
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import first_state

DONE: Final = -(2**63)
"""The answer of a loop in which all went well: no learner can mean it as a threshold."""

Loop: TypeAlias = Callable[..., int]
"""A loop over the replicas and rounds of a recorder; it returns DONE or a wrong threshold."""

Starts: TypeAlias = tuple[Ints, Floats]
"""The possible first states and their cumulative probabilities; see `Problem.start_table`."""


def make_walk_loop(decide: Decide) -> Loop:
    """Make the loop that plays every round of a recorder step by step.

    The loop returns DONE, or a threshold that the learner played without having declared it.

    Notes
    -----
    Paper: alg:GRBP
    """
    kernel(decide)

    def walk(constants: Any, world: World, starts: Starts, column: Ints, recorder: Recorder) -> int:
        for r in range(len(recorder.keys)):
            world_key, learner_key, n = begin_replica(world, recorder, r)
            rho = n.rho - 1
            for checkpoint in range(len(recorder.checkpoints)):
                carry_forward(recorder, r, checkpoint)
                while rho < recorder.checkpoints[checkpoint]:
                    rho += 1
                    # Added to 0, a bool is a number, compiled as well.
                    threshold = 0 + decide(world.goal, constants, n, fold_in(learner_key, rho))
                    if not 0 <= threshold < world.goal or column[threshold] < 0:
                        return threshold
                    key = fold_in(world_key, rho)
                    first = first_state(starts[0], starts[1], uniform(key, 0))
                    outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
                    n = settle(n, threshold, outcome)
                    recorder.played[
                        r, checkpoint, column[threshold] + recorder.stride * (first - 1)
                    ] += 1
                    if recorder.wins:
                        recorder.won[r, checkpoint] += outcome.won
            end_replica(recorder, r, n)
        return DONE

    return walk


def walk_policies(world: World, starts: Starts, recorder: Recorder) -> int:
    """Play every round of a recorder with UCB1 over all policies, whose memory is an array."""
    count = 2 ** (world.goal - 1)
    for r in range(len(recorder.keys)):
        world_key, _, _ = begin_replica(world, recorder, r)
        plays, wins = np.zeros(count), np.zeros(count)
        rho = 0
        for checkpoint in range(len(recorder.checkpoints)):
            carry_forward(recorder, r, checkpoint)
            while rho < recorder.checkpoints[checkpoint]:
                rho += 1
                policy = ucb1_choice(plays, wins)
                key = fold_in(world_key, rho)
                first = first_state(starts[0], starts[1], uniform(key, 0))
                won = play_policy(world.goal, world.p_c, world.p_f, policy, first, key)
                plays[policy] += 1.0
                wins[policy] += won
                recorder.played[r, checkpoint, policy + recorder.stride * (first - 1)] += 1
                if recorder.wins:
                    recorder.won[r, checkpoint] += won
    return DONE
