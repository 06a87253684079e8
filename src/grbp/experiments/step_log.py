"""The steps of simulated rounds as a long table, in which a learner's cases look like real ones."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from grbp._arguments import check_choice
from grbp.engine.decisions import InitialEstimates, decisions
from grbp.engine.recorder import StepLaw
from grbp.engine.walk import walk_again
from grbp.errors import TooLarge
from grbp.experiments.simulation import find_learners
from grbp.learners.base import AnyLearner
from grbp.learners.registry import (
    DEFAULT_LEARNER,
    LearnerLike,
    find_problem_learner,
)
from grbp.numerics.arrays import Ints
from grbp.numerics.rng import WORLD, replica_keys
from grbp.worlds.problem import Problem
from grbp.worlds.step_table import STEP_COLUMNS
from grbp.worlds.transition import finish_mask
from grbp.worlds.validation import as_seed, check_count
from grbp.worlds.world import check_paper

if TYPE_CHECKING:
    from grbp.worlds.validation import SeedLike

LOG_COLUMNS: Final = (*STEP_COLUMNS, "learner", "replica", "order")
"""The columns of the steps of simulated rounds."""

MOST_STEPS: Final = 20_000_000
"""The largest number of steps that are written down."""

_DECISIONS: Final = 2**22
"""Counts of decisions that are kept at a time."""


def step_log(  # noqa: PLR0913 (each is a separate choice of the user)
    problem: Problem,
    learners: LearnerLike | Iterable[LearnerLike] = DEFAULT_LEARNER,
    rounds: float = 500,
    replicas: float = 1,
    seed: "SeedLike" = 0,
    *,
    initial_estimates: InitialEstimates = "drawn",
    horizon: bool = False,
) -> dict[str, Any]:
    """Write down every step of simulated rounds, as a table of past cases.

    Parameters
    ----------
    problem, learners, seed, initial_estimates, horizon
        As for `simulate`.
    rounds : int, default 500
        The number of rounds in a replica.
    replicas : int, default 1
        The number of replicas of each learner.

    Returns
    -------
    dict of str to ndarray
        The columns, with an entry for each step: ``case``, a number that is unique over learners
        and replicas; ``step``, from 1; ``state``, ``action`` (an `Action`) and ``next_state``;
        ``learner``, ``replica`` and ``order``, the number of the round.

    Raises
    ------
    TooLarge
        If there are more than 20 million steps.
    InvalidInput
        If an argument is out of range, or no such learner exists.

    See Also
    --------
    simulate : Measures regret; with ``engine="walk"`` it plays exactly these rounds.

    Examples
    --------
    >>> import grbp
    >>> log = grbp.step_log(grbp.Problem(4, 0.45, 0.3), "getbe-sm", rounds=3, seed=1)
    >>> for row in zip(log["case"], log["step"], log["state"], log["action"], log["next_state"]):
    ...     print(*row)
    1 1 2 0 3
    1 2 3 0 4
    2 1 2 1 4
    3 1 2 1 0
    """
    how: Any = {"initial_estimates": initial_estimates, "horizon": horizon}
    blocks = list(step_blocks(problem, learners, rounds, replicas, seed, **how))
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def step_blocks(  # noqa: PLR0913 (as above)
    problem: Problem,
    learners: LearnerLike | Iterable[LearnerLike],
    rounds: float,
    replicas: float,
    seed: "SeedLike",
    *,
    initial_estimates: InitialEstimates = "drawn",
    horizon: bool = False,
    threads: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the table of `step_log` in parts, each with some replicas of one learner."""
    problem = check_paper(problem, "steps are written down of a Problem alone")
    rounds = check_count("rounds", rounds, 1, MOST_STEPS)
    replicas = check_count("replicas", replicas, 1, MOST_STEPS)
    check_choice("initial_estimates", initial_estimates, InitialEstimates)
    found = [
        find_problem_learner(learner, problem)
        for learner in find_learners(learners, problem, horizon, rounds)
    ]
    seed = as_seed(seed)
    if rounds * replicas * len(found) > MOST_STEPS:
        raise _too_many_steps()
    cases = steps = 0
    for learner in found:
        first = 0
        size = max(1, _DECISIONS // (rounds * len(learner.choices(problem.goal))))
        for block in decisions(
            problem,
            learner,
            range(1, rounds + 1),
            replicas,
            seed,
            threads=threads,
            regret="pseudo",
            initial_estimates=initial_estimates,
            block_size=size,
        ):
            chosen: Ints = np.diff(block.played, axis=1, prepend=0).argmax(axis=2)
            here = range(first, first + len(chosen))
            table = _walk_steps(problem, learner, chosen, here, seed, MOST_STEPS - steps)
            columns = (
                cases + table[:, 0] * rounds + table[:, 1],
                *table.T[2:],
                np.full(len(table), learner.name, dtype=object),
                first + table[:, 0],
                table[:, 1],
            )
            yield dict(zip(LOG_COLUMNS, columns, strict=True))
            first, steps, cases = here.stop, steps + len(table), cases + chosen.size


def _walk_steps(
    problem: Problem,
    learner: AnyLearner,
    chosen: Ints,
    replicas: range,
    seed: int,
    room: int,
) -> Ints:
    """Return the steps of some replicas, for each round of which the policy is known."""
    goal = problem.goal
    choices = learner.choices(goal)
    finish = np.array([finish_mask(goal, learner.policy(goal, one)) for one in choices])
    world, keys = StepLaw(goal, problem.p_c, problem.p_f), replica_keys(seed, WORLD, replicas)

    def into(steps: Ints) -> int:
        return walk_again(world, problem.start_table, finish, keys, chosen, steps)

    # A first walk counts the steps, a second one writes them down.
    count = into(np.empty((0, 6), dtype=np.int64))
    if count > room:
        raise _too_many_steps()
    steps = np.empty((count, 6), dtype=np.int64)
    into(steps)
    return steps


def _too_many_steps() -> TooLarge:
    return TooLarge(
        f"the rounds have more than {MOST_STEPS:,} steps to write down; ask for fewer rounds,"
        " replicas or learners"
    )
