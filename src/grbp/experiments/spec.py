"""What an experiment is, before it is run: frozen, comparable, written as plain JSON.

A specification falls into parts that are specifications themselves, one learner or one row of
the map each; what comes of a part does not depend on the whole it belongs to.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from grbp.engine.decisions import EngineLike, check_engine
from grbp.errors import InvalidInput
from grbp.experiments.simulation import MOST_REPLICAS, MOST_ROUNDS
from grbp.model.problem import Problem
from grbp.model.validation import check_goal, check_probability, check_whole


@dataclass(frozen=True)
class Spec:
    """Regret curves of some learners on one problem.

    name       what files and tables call it: small letters, digits and hyphens
    learners   their names
    checkpoints  the rounds at which curves are kept; None for about a hundred
    engine     how rounds are played, see `simulate`

    Paper: sec:numeric
    """

    name: str
    problem: Problem
    learners: tuple[str, ...]
    rounds: int
    replicas: int
    seed: int = 0
    checkpoints: tuple[int, ...] | None = None
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        _check_sizes(self)
        _set(self, "learners", _several("learners", self.learners, str))
        if self.checkpoints is not None:
            checkpoints = [
                check_whole("checkpoints", checkpoint, 1, self.rounds)
                for checkpoint in self.checkpoints
            ]
            _set(self, "checkpoints", tuple(sorted(set(checkpoints))))

    @property
    def parts(self) -> "list[Spec]":
        """The same experiment for each learner alone."""
        return [replace(self, learners=(learner,)) for learner in self.learners]

    def as_json(self) -> dict[str, Any]:
        """The specification as plain data; `from_json` is the way back."""
        problem = self.problem
        return {
            "kind": "curves",
            "name": self.name,
            "goal": problem.goal,
            "p_c": problem.p_c,
            "p_f": problem.p_f,
            "start": problem.canonical_start,
            "learners": list(self.learners),
            "rounds": self.rounds,
            "replicas": self.replicas,
            "seed": self.seed,
            "checkpoints": None if self.checkpoints is None else list(self.checkpoints),
            "engine": self.engine,
        }


@dataclass(frozen=True)
class GridSpec:
    """The regret of one learner over a map of problems: every p_c with every p_f.

    Paper: fig:3D
    Differs: the paper does not print the goal or the grid.
    """

    name: str
    goal: int
    p_c: tuple[float, ...]
    p_f: tuple[float, ...]
    learner: str
    rounds: int
    replicas: int
    seed: int = 0
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        _check_sizes(self)
        _set(self, "goal", check_goal(self.goal))
        for axis in ("p_c", "p_f"):
            values = [check_probability(axis, p) for p in getattr(self, axis)]
            _set(self, axis, _several(axis, values, float))

    @property
    def parts(self) -> "list[GridSpec]":
        """The same experiment for each p_f alone: the rows of the map."""
        return [replace(self, p_f=(p_f,)) for p_f in self.p_f]

    @property
    def learners(self) -> tuple[str, ...]:
        """The one learner of the map."""
        return (self.learner,)

    def as_json(self) -> dict[str, Any]:
        """The specification as plain data; `from_json` is the way back."""
        return {
            "kind": "grid",
            "name": self.name,
            "goal": self.goal,
            "p_c": list(self.p_c),
            "p_f": list(self.p_f),
            "learner": self.learner,
            "rounds": self.rounds,
            "replicas": self.replicas,
            "seed": self.seed,
            "engine": self.engine,
        }


AnySpec: TypeAlias = Spec | GridSpec
"""A specification of either kind."""

S = TypeVar("S", bound=AnySpec)


def from_json(data: dict[str, Any]) -> AnySpec:
    """The specification that was written as plain data."""
    fields = dict(data)
    kind = fields.pop("kind")
    if kind == "grid":
        return GridSpec(**fields)
    if kind != "curves":
        raise InvalidInput(f"a result of kind {kind!r} was given; there is 'curves' and 'grid'")
    start = fields.pop("start")
    start = start if isinstance(start, str) else tuple((state, q) for state, q in start)
    problem = Problem(fields.pop("goal"), fields.pop("p_c"), fields.pop("p_f"), start)
    return Spec(problem=problem, **fields)


def _check_sizes(spec: AnySpec) -> None:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(spec.name)):
        raise InvalidInput(
            f"the name {spec.name!r} was given; it must be small letters, digits and hyphens"
        )
    _set(spec, "rounds", check_whole("rounds", spec.rounds, 1, MOST_ROUNDS))
    _set(spec, "replicas", check_whole("replicas", spec.replicas, 1, MOST_REPLICAS))
    _set(spec, "seed", check_whole("seed", spec.seed, 0, 2**128 - 1))
    check_engine(spec.engine)


def _several(name: str, values: Any, kind: type) -> tuple[Any, ...]:
    """The values as a tuple, or a refusal unless there are some, all of a kind, each once."""
    kept = () if isinstance(values, str) else tuple(values)
    if not kept or len(set(kept)) < len(kept) or not all(isinstance(v, kind) for v in kept):
        raise InvalidInput(f"{name} = {values!r} was given; it must be one or more, each once")
    return kept


def _set(spec: AnySpec, field: str, value: object) -> None:
    object.__setattr__(spec, field, value)
