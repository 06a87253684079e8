"""Chances that change from round to round, between problems that are given."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from grbp._arguments import check_choice
from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.chain import Chain
from grbp.worlds.problem import Problem
from grbp.worlds.round_chances import Chances
from grbp.worlds.validation import check_count, check_keys
from grbp.worlds.world import SteadyWorld, UngroupedWorld, chances_of

Shape: TypeAlias = Literal["linear", "jumps", "sine"]
"""How a drift gets from one stage to the next."""


@dataclass(frozen=True, eq=False)
class Drift(UngroupedWorld):
    """A problem, or a chain, that changes over the rounds.

    Parameters
    ----------
    stages : sequence of (int, Problem or Chain)
        The rounds at which the truth is known, in order, the first one round 1, and what it is
        then. All have one goal and one start.
    shape : {"linear", "jumps", "sine"}, default "linear"
        What happens between two stages: every chance goes from one to the other in a straight
        line; or it stays as it was until the round of the next one. With "sine" there are two
        stages, between which every chance swings: the first at round 1, the second half a period
        later, and back.

    Raises
    ------
    InvalidInput
        If the stages are not in order, or differ in the goal or the start.

    Examples
    --------
    >>> import grbp
    >>> low, high = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.3)
    >>> rising = grbp.Drift([(1, low), (5000, high)])
    >>> rising.goal
    4
    >>> stage, weight = grbp.Drift([(1, low), (101, high)], "sine").path(201)
    >>> weight[[0, 50, 100, 200]].round(2).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """

    stages: Sequence[tuple[int, Problem | Chain]]
    shape: Shape = "linear"

    changes = True

    def __post_init__(self) -> None:
        check_choice("shape", self.shape, Shape)
        given: object = self.stages
        if not isinstance(given, list | tuple) or not given or not all(map(_is_stage, given)):
            raise InvalidInput(
                f"stages = {given!r} was given; it must be a list of (round, Problem or Chain)"
            )
        rounds = [check_count("the round of a stage", rho, 1, 10**12) for rho, _ in given]
        if rounds[0] != 1 or any(a >= b for a, b in pairwise(rounds)):
            raise InvalidInput(
                f"stages at the rounds {rounds} were given; they must rise, and begin with 1"
            )
        if self.shape == "sine" and len(rounds) != 2:
            raise InvalidInput(f"{len(rounds)} stages were given; a sine swings between 2")
        first = given[0][1]
        for _, stage in given:
            if (stage.goal, stage.canonical_start) != (first.goal, first.canonical_start):
                raise InvalidInput("stages were given that differ in the goal or the start")
        stages = tuple((rho, stage) for rho, (_, stage) in zip(rounds, given, strict=True))
        object.__setattr__(self, "stages", stages)

    @property
    def goal(self) -> int:
        """The goal of all stages."""
        return self.stages[0][1].goal

    @property
    def parts(self) -> Mapping[str, SteadyWorld]:
        """The truth of each stage, by its round."""
        return {str(rho): stage for rho, stage in self.stages}

    @property
    def words(self) -> str:
        """What it is, in one line."""
        return f"{super().words} ({self.shape})"

    def path(self, rounds: int) -> tuple[Ints, Floats]:
        """Return where every round stands: the stage before it, and the weight of the next one.

        Parameters
        ----------
        rounds : int

        Returns
        -------
        stage : ndarray of int, shape (rounds,)
        weight : ndarray, shape (rounds,)
            The chances of a round are those of its stage times 1 - weight, and those of the next
            stage times the weight.
        """
        return self._stages_of(np.arange(1, check_count("rounds", rounds, 1, 10**9) + 1))

    def chances(self, rho: int) -> Chances:
        """Return the chances of a round; see `UngroupedWorld.chances`."""
        (k,), (w,) = self._stages_of(np.array([rho]))
        far = not all(stage.leads_to_neighbours for _, stage in self.stages)
        now = chances_of(self.stages[k][1], far)
        return now if w == 0.0 else now.mix(chances_of(self.stages[k + 1][1], far), float(w))

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data; see `World.to_plain`."""
        stages = [{"round": rho} | stage.to_plain() for rho, stage in self.stages]
        return {"shape": self.shape, "stages": stages}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], read: Callable[[Any], Any]) -> "Drift":
        """Return the drift that plain data describe, or refuse them; see `World.from_plain`."""
        check_keys("a drift", data, ("stages",), ("shape",))
        given = data["stages"]
        if not isinstance(given, list):
            raise InvalidInput(f"stages = {given!r} was given; it must be a list")
        stages = []
        for stage in given:
            if not isinstance(stage, Mapping) or "round" not in stage:
                raise InvalidInput(f"the stage {stage!r} was given; it must have the key round")
            chances = {name: value for name, value in stage.items() if name != "round"}
            stages.append((stage["round"], read(chances)))
        return cls(stages, data.get("shape", "linear"))

    def _stages_of(self, at: Ints) -> tuple[Ints, Floats]:
        """Return where some rounds stand, as `path` does for all."""
        rounds = len(at)
        known = np.array([rho for rho, _ in self.stages])
        if self.shape == "sine":
            turn = math.pi * (at - 1) / (known[1] - known[0])
            return np.zeros(rounds, dtype=np.int64), 0.5 - 0.5 * np.cos(turn)
        stage = np.searchsorted(known, at, side="right") - 1
        after = np.minimum(stage + 1, len(known) - 1)
        apart = np.maximum(known[after] - known[stage], 1)
        weight = (at - known[stage]) / apart if self.shape == "linear" else np.zeros(rounds)
        return stage, np.where(after > stage, weight, 0.0)


def _is_stage(pair: object) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[1], SteadyWorld)
