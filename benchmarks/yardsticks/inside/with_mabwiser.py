"""MABWiser on the bandit of the two policies: UCB1 and Thompson sampling."""

from importlib.metadata import version
from typing import Any

import two_policies
from mabwiser.mab import MAB, LearningPolicy


def beginning(policy: Any) -> two_policies.Beginning:
    """How a policy of the library begins: it wants one round of every arm first."""

    def begin() -> tuple[two_policies.Choose, two_policies.Tell]:
        learner = MAB([0, 1], policy)
        learner.fit([0, 1], [0, 1])

        def tell(arm: int, won: int) -> None:
            learner.partial_fit([arm], [won])

        return learner.predict, tell

    return begin


two_policies.main(
    version("mabwiser"),
    beginning(LearningPolicy.UCB1(alpha=1.0)),
    beginning(LearningPolicy.ThompsonSampling()),
)
