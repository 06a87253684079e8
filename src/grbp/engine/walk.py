"""Rounds walked step by step: the reference against which every faster way is tested.

A walk can be repeated, to write down its steps: the draws of a round follow from its key.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from grbp.engine.recorder import Recorder, StepLaw, begin_replica, carry_forward, end_replica
from grbp.learners.base import Decide
from grbp.learners.counters import play, settle
from grbp.learners.ucb1_policies import play_policy, ucb1_choice
from grbp.numerics.arrays import Bools, Floats, Ints, Words
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import Action, first_state, next_state

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

    def walk(
        constants: Any, world: StepLaw, starts: Starts, column: Ints, recorder: Recorder
    ) -> int:
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


def walk_policies(world: StepLaw, starts: Starts, recorder: Recorder) -> int:
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


def walk_again(
    world: StepLaw, starts: Starts, finish: Bools, keys: Words, chosen: Ints, steps: Ints
) -> int:
    """Write the steps of rounds whose policies are known, as many as there is room for.

    `finish` has a row for each policy: whether it takes FINISH in the states from 1 on. `chosen`
    has the policy of every round of every replica, whose worlds have the `keys`. A row of `steps`
    holds the replica, the round, the step, the state, the action and the next state; the number
    of all steps is returned, also where there was no room.
    """
    compiled = compile_function(_write_steps, "steps")
    return int(compiled(world, starts, finish, keys, chosen, steps))


@kernel
def _write_steps(
    world: StepLaw, starts: Starts, finish: Bools, keys: Words, chosen: Ints, steps: Ints
) -> int:
    """Write the steps, with the interpreter or compiled."""
    row = 0
    for r in range(chosen.shape[0]):
        for t in range(chosen.shape[1]):
            key = fold_in(u64(keys[r]), t + 1)
            state = first_state(starts[0], starts[1], uniform(key, 0))
            slot = 0
            while 0 < state < world.goal:
                slot += 1
                action = Action.FINISH if finish[chosen[r, t], state - 1] else Action.CONTINUE
                after = next_state(
                    state, action, world.goal, world.p_c, world.p_f, uniform(key, slot)
                )
                if row < steps.shape[0]:
                    steps[row, 0], steps[row, 1], steps[row, 2] = r, t + 1, slot
                    steps[row, 3], steps[row, 4], steps[row, 5] = state, action, after
                row += 1
                state = after
    return row
