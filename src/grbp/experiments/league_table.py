"""Judge learners over many problems: how each does, who beats whom, and how clearly.

Learners are paired by problem: a difference is taken cell by cell. In a cell they have one seed
but not the same cases (leaping draws rounds whole), so that the standard error of a difference is
sqrt(se_1^2 + se_2^2); where they do share cases, it is rather too large. Intervals hold 95 %, one
comparison at a time, and are about chance in the simulation, not about other problems. What
happens in fewer than one of all replicas is not seen: a learner that seldom loses much, such as
no-explore, seems better with few replicas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Z_95
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.world import Point

HINDSIGHT: Final = "five in hindsight"
"""The name of the best of the paper's five learners at each problem, chosen afterwards."""

# Where all policies are equally good, the regret that remains is rounding.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Standing:
    """How one learner does over the problems of a table.

    Attributes
    ----------
    learner : str
    mean, se : float
        The mean regret over all problems, and its standard error.
    worst : float
        The largest regret.
    worst_at : tuple
        The problem that has it: goal, p_c, p_f.
    best : int or None
        The number of problems in which its regret is clearly below that of every other learner;
        None for the five in hindsight.

    Examples
    --------
    >>> import grbp
    >>> one = grbp.Standing("getbe-sm", 20.0, 0.5, 60.0, (4, 0.9, 0.1), 3)
    >>> print(f"{one.mean} +- {one.half:.2f}")
    20.0 +- 0.98
    """

    learner: str
    mean: float
    se: float
    worst: float
    worst_at: Point
    best: int | None

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval of the mean."""
        return Z_95 * self.se


@dataclass(frozen=True)
class Pair:
    """Two learners compared over the problems of a table.

    Attributes
    ----------
    first, second : str
        The names of the learners.
    difference : float
        The mean regret of the first less that of the second: negative if the first is better.
    low, high : float
        The ends of its 95 % interval.
    first_wins, second_wins : int
        The number of problems in which that learner's regret is clearly the smaller.

    Examples
    --------
    >>> import grbp
    >>> grbp.Pair("getbe-sm", "no-explore", 5.0, 4.5, 5.5, 2, 60).half
    0.5
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    first_wins: int
    second_wins: int

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval of the difference."""
        return (self.high - self.low) / 2.0


@dataclass(frozen=True)
class LeagueTable:
    """The table of one goal, or of all.

    Attributes
    ----------
    goal : int or None
        None for the table of all goals, which has the learners that play at all of them.
    problems : int
        The number of problems.
    undecided : int
        The number of problems in which no learner is clearly the best.
    standings : tuple of Standing
        The learners from the smallest mean regret to the largest.
    pairs : tuple of Pair
        Every two learners, in that order.
    hindsight : Standing or None
        The five in hindsight: at each problem the best of the paper's five learners, where all
        five play. Chance chooses too, so this flatters them a little.
    against_hindsight : tuple of Pair
        Every learner against the five in hindsight.

    See Also
    --------
    SweepResult.table : Makes a table.

    Examples
    --------
    >>> import grbp
    >>> one = grbp.Standing("getbe-sm", 20.0, 0.5, 60.0, (4, 0.9, 0.1), 81)
    >>> table = grbp.LeagueTable(goal=4, problems=81, undecided=0, standings=(one,), pairs=())
    >>> table.as_json()["standings"][0]["mean"]
    20.0
    """

    goal: int | None
    problems: int
    undecided: int
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    hindsight: Standing | None = None
    against_hindsight: tuple[Pair, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return asdict(self)


class Duel(NamedTuple):
    """Two learners compared problem by problem at one goal.

    Attributes
    ----------
    difference, se : ndarray, shape (p_f, p_c)
        The regret of the first less that of the second, and its standard error.
    winner : ndarray of int, shape (p_f, p_c)
        1 where the first clearly has less regret, -1 where the second has, else 0.
    doublings : ndarray, shape (p_f, p_c)
        How often the winner's regret must be doubled to be the loser's, with the sign of
        `winner`; 0 where there is none.

    See Also
    --------
    SweepResult.duel : Makes a duel.
    league_figure : Draws all duels of a goal.

    Examples
    --------
    >>> import grbp, numpy as np
    >>> duel = grbp.Duel(*np.zeros((4, 9, 9)))
    >>> int((duel.winner == 1).sum())  # the problems that the first learner wins
    0
    """

    difference: Floats
    se: Floats
    winner: Ints
    doublings: Floats


class Scores(NamedTuple):
    """The mean regret of one learner at each problem, and its standard error."""

    mean: Floats
    se: Floats


def make_duel(one: Scores, other: Scores) -> Duel:
    """Compare two learners, problem by problem."""
    difference, se = _subtract(one, other)
    winner = find_winner(difference, se)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log2(np.maximum(other.mean, 0.0)) - np.log2(np.maximum(one.mean, 0.0))
    return Duel(difference, se, winner, np.where(winner == 0, 0.0, ratio))


def make_table(
    goal: int | None, scores: Mapping[str, Scores], points: Sequence[Point]
) -> LeagueTable:
    """Make the table of some learners from what each has at every problem."""
    scores = dict(sorted(scores.items(), key=lambda item: (item[1].mean.mean(), item[0])))
    beaten = {name: np.zeros(len(points), dtype=np.int64) for name in scores}
    pairs = []
    for first, second in combinations(scores, 2):
        difference, se = _subtract(scores[first], scores[second])
        winner = find_winner(difference, se)
        beaten[first] += winner > 0
        beaten[second] += winner < 0
        pairs.append(_make_pair(first, second, difference, se))
    best = {name: int((count == len(scores) - 1).sum()) for name, count in beaten.items()}
    return LeagueTable(
        goal,
        len(points),
        len(points) - sum(best.values()),
        tuple(_make_standing(name, one, points, best[name]) for name, one in scores.items()),
        tuple(pairs),
        *_choose_in_hindsight(scores, points),
    )


def _make_standing(
    name: str, scores: Scores, points: Sequence[Point], best: int | None = None
) -> Standing:
    """Sum up how one learner does over some problems."""
    worst, se = int(scores.mean.argmax()), _se_of_mean(scores.se)
    mean, largest = float(scores.mean.mean()), float(scores.mean[worst])
    return Standing(name, mean, se, largest, points[worst], best)


def _make_pair(first: str, second: str, difference: Floats, se: Floats) -> Pair:
    middle, half = float(difference.mean()), Z_95 * _se_of_mean(se)
    winner = find_winner(difference, se)
    wins = int((winner > 0).sum()), int((winner < 0).sum())
    return Pair(first, second, middle, middle - half, middle + half, *wins)


def _choose_in_hindsight(
    scores: Mapping[str, Scores], points: Sequence[Point]
) -> tuple[Standing | None, tuple[Pair, ...]]:
    """Choose the best of the paper's five at each problem, and compare every learner with it."""
    if not set(PAPER_LEARNERS) <= set(scores):
        return None, ()
    mean, se = (np.array(rows) for rows in zip(*(scores[n] for n in PAPER_LEARNERS), strict=True))
    chosen, everywhere = mean.argmin(axis=0), np.arange(len(points))
    names = np.array(PAPER_LEARNERS)[chosen]
    five = Scores(mean[chosen, everywhere], se[chosen, everywhere])
    pairs = []
    for name, one in scores.items():
        difference, noise = _subtract(one, five)
        # A learner does not differ from itself.
        pairs.append(_make_pair(name, HINDSIGHT, difference, np.where(names == name, 0.0, noise)))
    return _make_standing(HINDSIGHT, five, points, None), tuple(pairs)


def _subtract(one: Scores, other: Scores) -> tuple[Floats, Floats]:
    """Subtract the regret of two learners, problem by problem, with its standard error."""
    return one.mean - other.mean, np.hypot(one.se, other.se)


def find_winner(difference: Floats, se: Floats) -> Ints:
    """Return 1 where the first clearly has less regret, -1 where the second has, else 0."""
    clear = np.abs(difference) > np.maximum(Z_95 * se, _ROUNDING)
    return np.where(clear, -np.sign(difference), 0.0).astype(np.int64)


def _se_of_mean(se: Floats) -> float:
    """Compute the standard error of the mean over cells, which are independent of each other."""
    return float(np.sqrt(np.square(se).sum())) / len(se)
