"""What an experiment is, before it is run: frozen, comparable, written as plain JSON.

A specification falls into parts that are specifications themselves, one learner or one row of
the map each; what comes of a part does not depend on the whole it belongs to.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

from grbp.engine.decisions import EngineLike, check_engine
from grbp.errors import InvalidInput
from grbp.experiments.simulation import MOST_REPLICAS, MOST_ROUNDS
from grbp.model.problem import Problem
from grbp.model.validation import check_goal, check_probability, check_whole

PRINTED_REPLICAS: Final = 200
"""The paper's number of iterations."""


@dataclass(frozen=True)
class Spec:
    """Regret curves of some learners on one problem.

    name       what files and tables call it: small letters, digits and hyphens
    learners   their names
    at         the rounds looked at; None for about a hundred, see `simulate`
    engine     how rounds are played, see `simulate`

    Paper: sec:numeric
    """

    name: str
    problem: Problem
    learners: tuple[str, ...]
    rounds: int
    replicas: int
    seed: int = 0
    at: tuple[int, ...] | None = None
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        _check_sizes(self)
        _set(self, "learners", _several("learners", self.learners, str))
        if self.at is not None:
            looks = [check_whole("at", look, 1, self.rounds) for look in self.at]
            _set(self, "at", tuple(sorted(set(looks))))

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
            "at": None if self.at is None else list(self.at),
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


def as_printed(spec: S) -> S:
    """The specification with the paper's 200 replicas.

    Paper: sec:numeric
    """
    return replace(spec, replicas=PRINTED_REPLICAS)


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


GETBE: Final = ("getbe-sm", "getbe-ps", "getbe-ucb")
"""The paper's three variants of GETBE."""

PAPER_LEARNERS: Final = (*GETBE, "ps-polselection", "ucb-polselection")
"""The five learners of Figures 3 and 4."""

_ALL: Final = (*PAPER_LEARNERS, "no-explore")
_IN_NO_EXPLORATION: Final = Problem(4, 0.45, 0.3)
_IN_EXPLORATION: Final = Problem(4, 0.65, 0.3)
_TWENTIETHS: Final = tuple(k / 20 for k in range(1, 20))
# Ten looks a decade, every power of ten among them.
_FAR: Final = 10**9
_DECADES: Final = tuple(sorted({round(10 ** (k / 10)) for k in range(91)}))

FIGURE_3: Final = Spec("figure-3", _IN_NO_EXPLORATION, _ALL, 5000, 10_000)
"""Where the optimal policy finishes in state 1."""

FIGURE_4: Final = Spec("figure-4", _IN_EXPLORATION, _ALL, 5000, 10_000)
"""Where the optimal policy never finishes."""

FIGURE_5: Final = GridSpec("figure-5", 4, _TWENTIETHS, _TWENTIETHS, "getbe-sm", 1000, 2000)
"""The map of regret."""

GROWTH_3: Final = Spec(
    "growth-3", _IN_NO_EXPLORATION, (*GETBE, "no-explore"), _FAR, 4000, at=_DECADES
)
"""Figure 3 out to a thousand million rounds, for those who are soon sure of their mind."""

GROWTH_3_POLICIES: Final = Spec(
    "growth-3-policies", _IN_NO_EXPLORATION, PAPER_LEARNERS[3:], _FAR, 120, at=_DECADES
)
"""The same for those who are not: they change it ten thousand times."""

GROWTH_4: Final = Spec(
    "growth-4",
    _IN_EXPLORATION,
    ("getbe-sm", "getbe-ps", "ps-polselection", "no-explore"),
    _FAR,
    2000,
    at=_DECADES,
)
"""Figure 4 out to a thousand million rounds."""

GROWTH_4_UCB: Final = Spec(
    "growth-4-ucb", _IN_EXPLORATION, ("getbe-ucb", "ucb-polselection"), _FAR, 120, at=_DECADES
)
"""The same for those who stay where they can hardly tell."""

NEAR_BOUNDARY: Final = Spec(
    "near-boundary", Problem(4, 0.45, 0.22), ("getbe-sm",), _FAR, 4000, at=_DECADES
)
"""GETBE-SM in the region of Figure 3, nearer the boundary: there its regret plainly grows."""

EXPERIMENTS: Final[dict[str, AnySpec]] = {
    spec.name: spec
    for spec in (
        FIGURE_3,
        FIGURE_4,
        FIGURE_5,
        GROWTH_3,
        GROWTH_3_POLICIES,
        GROWTH_4,
        GROWTH_4_UCB,
        NEAR_BOUNDARY,
    )
}
"""Every experiment, by its name, in the order of running."""
