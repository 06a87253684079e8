"""SMPyBandits on the bandit of the two policies: UCB1 and Thompson sampling."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import two_policies
from SMPyBandits.Policies import UCB, Thompson


def beginning(policy: Callable[[int], Any]) -> two_policies.Beginning:
    """How a policy of the library begins."""

    def begin() -> tuple[two_policies.Choose, two_policies.Tell]:
        learner = policy(2)
        learner.startGame()
        return learner.choice, learner.getReward

    return begin


two_policies.main(version("SMPyBandits"), beginning(UCB), beginning(Thompson))
