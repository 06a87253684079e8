"""The learner by state that knows a chain, and so has nothing to learn."""

from typing import NamedTuple

from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.jit import kernel
from grbp.worlds.chain import Chain
from grbp.worlds.dynprog import solve


class One(NamedTuple):
    """The one policy that is played.

    Parameters
    ----------
    policy : int
        The policy, with a bit for every state.
    """

    policy: int


@kernel
def play_one(goal: int, constants: One, n: StateCounters, key: int) -> int:
    """Play one policy for ever."""
    return constants.policy


def best_of_chain(chain: Chain) -> StateLearner:
    """Make the learner that knows a chain and plays its best policy."""
    policy = sum(int(action) << k for k, action in enumerate(solve(chain).action))
    summary = "Play the best policy, knowing the chances of every state"
    return StateLearner("oracle", play_one, One(policy), summary)
