"""How much moves say about p_C where cases differ: as much as fewer independent ones would."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from grbp.fitting.assumptions import CASES_ALIKE, AssumptionTest
from grbp.fitting.estimates import Proportion
from grbp.fitting.transitions import Transitions


def with_dependence(
    p_c: Proportion, moves: Transitions, tests: Iterable[AssumptionTest]
) -> Proportion:
    """Return p_C with its effective number of tries, where the records say that cases differ.

    What it then estimates is the share of moves up among all moves, of cases such as these that
    are played in the same way.
    """
    if any(test.assumption == CASES_ALIKE and test.rejected_at(p_c.level) for test in tests):
        return replace(p_c, effective=effective_tries(moves))
    return p_c


def effective_tries(moves: Transitions) -> float:
    """Return how many independent moves would say as much about p_C, never more than there are.

    The variance of the share is that of a ratio of totals by case (cluster-robust, with n/(n - 1)
    for n cases that moved). It is itself estimated, from n cases: so it is made larger by the
    variance of Student's t with n - 1 degrees of freedom.
    """
    steps = moves.steps
    tries, share = len(steps.up), float(steps.up.mean())
    cases = len(np.unique(steps.case))
    if cases <= 3:
        return float(min(tries, cases))
    parts = steps.sum_by_case(steps.up - share, moves.records.cases)
    variance = cases / (cases - 1.0) * float((parts * parts).sum()) / tries**2
    worth = share * (1.0 - share) / max(variance, 1e-300)
    return min(float(tries), (cases - 3.0) / (cases - 1.0) * worth)
