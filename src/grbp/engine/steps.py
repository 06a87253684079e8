"""Rounds walked once more, to write down their steps: the draws of a round follow from its key."""

from grbp.engine.recorder import World
from grbp.engine.walk import Starts
from grbp.numerics.arrays import Bools, Ints, Words
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import Action, first_state, next_state


def walk_again(
    world: World, starts: Starts, finish: Bools, keys: Words, chosen: Ints, steps: Ints
) -> int:
    """Write the steps of rounds whose policies are known, as many as there is room for.

    `finish` has a row for each policy: whether it takes FINISH in the states from 1 on. `chosen`
    has the policy of every round of every replica, whose worlds have the `keys`. A row of `steps`
    holds the replica, the round, the step, the state, the action and the next state; the number
    of all steps is returned, also where there was no room.
    """
    return int(compile_function(_walk_again, "steps")(world, starts, finish, keys, chosen, steps))


@kernel
def _walk_again(
    world: World, starts: Starts, finish: Bools, keys: Words, chosen: Ints, steps: Ints
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
