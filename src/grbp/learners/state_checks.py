"""Questions to ask a learner by state, to check its answers."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from grbp.learners.claim_checks import Fault, Query
from grbp.learners.state_counters import StateCounters
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import fold_in, uniform

_ROUNDS: Final = (1, 2, 7, 1_000, 10**9)
_DRAWN: Final = 12


def state_queries(goal: int, key: int) -> Iterator[Query]:
    """Yield queries with extreme counters by state, then with drawn ones; a part of them jump."""
    for k, rho in enumerate(_ROUNDS):
        for shares in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.5, 0.5)):
            up, won = (np.full(goal - 1, (rho - 1) * share) for share in shares)
            yield _query(goal, rho, (up, won), 0.0, fold_in(key, k))
    for k in range(_DRAWN):
        own = fold_in(key, 100 + k)
        rho = int(math.exp(uniform(own, 0) * math.log(1e6)))
        draws = np.array([uniform(own, 1 + i) for i in range(2 * (goal - 1))]).reshape(2, -1)
        up, won = np.floor(draws * rho)
        yield _query(goal, rho, (up, won), float(k % 4 == 0), fold_in(own, 0))


def _query(goal: int, rho: int, good: tuple[Floats, Floats], far: float, key: int) -> Query:
    """Make a query from counts of moves up and of FINISH that won; the rest went down, and lost."""
    up, won = good
    shape = (goal - 1, goal + 1) if far else (0, 0)
    down, lost = float(rho) - up, np.floor((float(rho) - won) / 2.0)
    n = StateCounters(rho, up, down, won, lost, np.full(shape, far))
    return Query(goal, n, key)


def check_policy_answer(query: Query, answer: object) -> None:
    """Check that an answer is a policy of the goal."""
    if not isinstance(answer, int | np.integer):
        raise Fault(f"decide answered {answer!r}; a policy must be an int; at {query}")
    if not 0 <= answer < 1 << (query.goal - 1):
        raise Fault(
            f"decide answered {answer!r}, which is not from 0 to 2^(goal - 1) - 1; at {query}"
        )
