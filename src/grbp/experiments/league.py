"""Specify a league: the sweep of many learners over a grid of problems and several goals."""

from collections.abc import Sequence
from typing import Final

from grbp.engine.decisions import EngineLike
from grbp.errors import InvalidInput
from grbp.experiments.problem_grid import ProblemGrid
from grbp.experiments.simulation import MOST_REPLICAS
from grbp.experiments.sweep_spec import SweepSpec, check_learners
from grbp.learners.registry import LEARNERS, LearnerLike
from grbp.worlds.validation import check_count, check_goal, check_positive, check_several

GOALS, STEP, ROUNDS, REPLICAS, SEED = (4, 10, 50), 0.1, 5000, 200, 0
"""The sizes and the seed of a league of which nothing else is said."""

_EVERYONE: Final = tuple(name for name in LEARNERS if name != "oracle")
_MOST_STEPS: Final = 100


def league_spec(  # noqa: PLR0913, PLR0917 (each is a separate choice of the user)
    learners: Sequence[LearnerLike] | None = None,
    goals: Sequence[int] = GOALS,
    step: float = STEP,
    rounds: int = ROUNDS,
    replicas: int = REPLICAS,
    seed: int = SEED,
    engine: EngineLike = "auto",
) -> SweepSpec:
    """Specify a league: learners over a grid of problems and several goals.

    Parameters
    ----------
    learners : sequence of str or Learner, optional
        Two learners or more. By default all but the oracle play, each at the goals that it can
        play.
    goals : sequence of int
        The goals, each with the whole grid.
    step : float
        The step of the grid: p_c and p_f are its multiples between 0 and 1.
    rounds, replicas, seed, engine
        As for `SweepSpec`; at least two replicas, for one has no standard error.

    Returns
    -------
    SweepSpec

    See Also
    --------
    sweep : Plays it.
    SweepResult.table : Says who is best.
    league_figure : Draws who wins where.

    Examples
    --------
    >>> import grbp, tempfile
    >>> learners = ("getbe-sm", "no-explore")
    >>> spec = grbp.league_spec(learners, goals=(4,), step=0.25, rounds=200, replicas=50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = grbp.sweep(spec, folder)
    >>> for one in league.table(4).standings:
    ...     print(f"{one.learner}: {one.mean:.1f}, standard error {one.se:.1f}")
    no-explore: 3.9, standard error 0.5
    getbe-sm: 11.1, standard error 0.2
    >>> league.duel(4, *learners).winner.tolist()  # 1 where getbe-sm wins; a row for each p_f
    [[0, -1, -1], [0, 1, -1], [1, 1, 0]]
    >>> grbp.league_spec(goals=(4, 50)).left_out
    {50: ('ucb1-policies',)}
    """
    goals = check_several("goals", goals, check_goal)
    if learners is not None:
        learners = check_learners(learners, goals[0], 2)
    steps = _count_steps(step)
    grid = tuple(k / steps for k in range(1, steps))
    return SweepSpec(
        "league",
        ProblemGrid(goals, grid, grid),
        learners or _EVERYONE,
        rounds,
        check_count("replicas", replicas, 2, MOST_REPLICAS),
        seed,
        engine,
        leave_out=learners is None,
    )


def _count_steps(step: float) -> int:
    """Count the steps from 0 to 1; refuse a step unless that is a whole number."""
    steps = round(1.0 / max(check_positive("step", step), 1e-3))
    if not 3 <= steps <= _MOST_STEPS or abs(steps * step - 1.0) > 1e-9:
        raise InvalidInput(
            f"step = {step!r} was given; it must be 1 divided by a whole number from 3 to"
            f" {_MOST_STEPS}, such as 0.1"
        )
    return steps
