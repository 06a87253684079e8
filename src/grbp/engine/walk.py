"""Rounds walked step by step: the reference for every other way to play them."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from grbp._numba.jit import kernel, u64
from grbp.engine.recorder import Tape, World, carry, first_counters
from grbp.learners.base import Decide
from grbp.learners.counters import play, settle
from grbp.learners.ucb1_policies import play_policy, ucb1_choice
from grbp.model.transition import first_state
from grbp.numerics.arrays import Ints
from grbp.numerics.rng import noise, uniform

DONE: Final = -(2**63)
"""What a loop returns when all went well: no learner can mean it as a threshold."""

Loop = Callable[..., int]


def walking(decide: Decide) -> Loop:
    """The loop that plays every round of a tape with a learner's decisions, step by step.

    It returns DONE, or a threshold that was not declared.

    Paper: alg:GRBP
    """
    kernel(decide)

    def walk(constants: Any, world: World, column: Ints, tape: Tape) -> int:
        for r in range(len(tape.keys)):
            cases, own, begin = u64(tape.keys[r, 0]), u64(tape.keys[r, 1]), u64(tape.keys[r, 2])
            n = first_counters(world.p_c, world.p_f, world.once, begin)
            rho = 0
            for look in range(len(tape.looks)):
                carry(tape, r, look)
                while rho < tape.looks[look]:
                    rho += 1
                    threshold = decide(world.goal, constants, n, noise(own, rho))
                    if not 0 <= threshold < world.goal or column[threshold] < 0:
                        return threshold
                    key = noise(cases, rho)
                    first = first_state(world.states, world.cumulative, uniform(key, 0))
                    outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
                    n = settle(n, threshold, outcome)
                    tape.played[r, look, column[threshold] + tape.stride * (first - 1)] += 1
                    if tape.wins:
                        tape.won[r, look] += outcome.won
        return DONE

    return walk


def walk_policies(world: World, tape: Tape) -> int:
    """DONE; the same for UCB1 over all policies, whose memory is an array."""
    count = 2 ** (world.goal - 1)
    for r in range(len(tape.keys)):
        cases = u64(tape.keys[r, 0])
        plays, wins = np.zeros(count), np.zeros(count)
        rho = 0
        for look in range(len(tape.looks)):
            carry(tape, r, look)
            while rho < tape.looks[look]:
                rho += 1
                policy = ucb1_choice(plays, wins)
                key = noise(cases, rho)
                first = first_state(world.states, world.cumulative, uniform(key, 0))
                won = play_policy(world.goal, world.p_c, world.p_f, policy, first, key)
                plays[policy] += 1.0
                wins[policy] += won
                tape.played[r, look, policy + tape.stride * (first - 1)] += 1
                if tape.wins:
                    tape.won[r, look] += won
    return DONE
