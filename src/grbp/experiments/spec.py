"""Say what an experiment is before it is run: frozen, comparable, written as plain JSON.

That of curves falls into parts that are specifications themselves, one learner each; the result of
a part does not depend on the whole that it belongs to.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from grbp.engine.decisions import EngineLike, check_choice
from grbp.errors import InvalidInput
from grbp.experiments.simulation import MOST_REPLICAS, MOST_ROUNDS, one_or_more
from grbp.learners.custom import CustomLearner
from grbp.learners.registry import LearnerLike, StoredLearner, stored_learner
from grbp.model.problem import Problem
from grbp.model.validation import as_seed, check_count, check_goal, check_probability


@dataclass(frozen=True)
class Spec:
    """Specify regret curves of some learners on one problem.

    Parameters
    ----------
    name : str
        The name in files and tables: small letters, digits and hyphens.
    problem : Problem
    learners : tuple of str or Learner
        The learners: names, constants included (``"getbe-sm:gamma=30"``), or learners of your
        own, which are kept by name and by a digest of their source and of what they read.
    rounds, replicas, seed : int
        See `simulate`; the seed is kept as a whole number.
    checkpoints : tuple of int, optional
        The rounds at which curves are kept; about a hundred of them by default.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played, see `simulate`; "draw" draws every round whole, as a GPU does.
    splitting : bool
        Whether rare replicas are looked for, see `simulate`.

    Notes
    -----
    Paper: sec:numeric

    Examples
    --------
    >>> import grbp
    >>> spec = grbp.experiments.Spec("mine", grbp.Problem(4, 0.45, 0.3), ("getbe-sm",), 100, 20)
    >>> spec.as_json()["kind"]
    'curves'
    """

    name: str
    problem: Problem
    learners: tuple[LearnerLike, ...]
    rounds: int
    replicas: int
    seed: int = 0
    checkpoints: tuple[int, ...] | None = None
    engine: EngineLike = "auto"
    splitting: bool = False

    def __post_init__(self) -> None:
        _check_sizes(self)
        _set(self, "learners", kept_learners(one_or_more(self.learners), self.problem))
        if self.checkpoints is not None:
            kept = {check_count("checkpoints", k, 1, self.rounds) for k in self.checkpoints}
            _set(self, "checkpoints", tuple(sorted(kept)))

    @property
    def parts(self) -> "Sequence[Spec]":
        """The same experiment for each learner alone."""
        return [replace(self, learners=(learner,)) for learner in self.learners]

    @property
    def label(self) -> str:
        """The name of a part."""
        return self.names[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the learners."""
        return tuple(map(str, self.learners))

    @property
    def work(self) -> int:
        """The number of replicas that a part plays in all."""
        return self.replicas

    @property
    def example(self) -> Problem:
        """A problem of the experiment, to find its learners by."""
        return self.problem

    def as_json(self) -> dict[str, Any]:
        """Return the specification as plain data; `from_json` is the way back."""
        learners = [learner_as_json(learner) for learner in self.learners]
        problem = self.problem.__getstate__()
        return {"kind": "curves", **vars(self), "problem": problem, "learners": learners}


@dataclass(frozen=True)
class GridSpec:
    """Specify the regret of one learner over a map of problems: every p_c with every p_f.

    Parameters
    ----------
    name : str
        The name in files and tables: small letters, digits and hyphens.
    goal : int
    p_c, p_f : tuple of float
        The probabilities of the columns and of the rows.
    learner : str or Learner
        The learner: a name, constants included, or a learner of your own, which is kept as in
        `Spec`.
    rounds, replicas, seed : int
        See `simulate`; the seed is kept as a whole number.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played, see `simulate`; "draw" draws every round whole, as a GPU does.

    Notes
    -----
    Paper: fig:3D
    Differs: the paper does not print the goal or the grid.

    Examples
    --------
    >>> import grbp
    >>> spec = grbp.experiments.GridSpec("map", 4, (0.4, 0.6), (0.2, 0.3), "getbe-sm", 100, 20)
    >>> spec.as_json()["kind"]
    'grid'
    """

    name: str
    goal: int
    p_c: tuple[float, ...]
    p_f: tuple[float, ...]
    learner: LearnerLike
    rounds: int
    replicas: int
    seed: int = 0
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        _check_sizes(self)
        _set(self, "goal", check_goal(self.goal))
        for axis in ("p_c", "p_f"):
            check = partial(check_probability, axis)
            _set(self, axis, several(axis, getattr(self, axis), check))
        _set(self, "learner", kept_learners([self.learner], self.goal)[0])

    @property
    def learners(self) -> tuple[LearnerLike, ...]:
        """The one learner of the map."""
        return (self.learner,)

    @property
    def names(self) -> tuple[str, ...]:
        """Its name."""
        return (str(self.learner),)

    @property
    def example(self) -> Problem:
        """A problem like those of the map, to find its learner by."""
        return Problem(self.goal, 0.5, 0.5)

    def as_json(self) -> dict[str, Any]:
        """Return the specification as plain data; `from_json` is the way back."""
        return {"kind": "grid", **vars(self), "learner": learner_as_json(self.learner)}


AnySpec: TypeAlias = Spec | GridSpec
"""A specification of either kind."""


def from_json(data: dict[str, Any]) -> AnySpec:
    """Read the specification that was written as plain data."""
    fields = dict(data)
    kind = fields.pop("kind")
    if kind == "grid":
        return GridSpec(**fields | {"learner": learner_from_json(fields["learner"])})
    if kind != "curves":
        raise InvalidInput(f"a result of kind {kind!r} was given; there is 'curves' and 'grid'")
    learners = tuple(map(learner_from_json, fields["learners"]))
    return Spec(**fields | {"problem": Problem(**fields["problem"]), "learners": learners})


def learner_as_json(learner: LearnerLike) -> str | dict[str, str]:
    """Return a learner as plain data: its name or, where others wrote it, with a digest."""
    return learner.as_json() if isinstance(learner, CustomLearner) else str(learner)


def learner_from_json(learner: Any) -> StoredLearner:
    """Read a learner that was written as plain data."""
    return (
        learner
        if isinstance(learner, str)
        else CustomLearner(learner["name"], None, learner["digest"])
    )


def _check_sizes(spec: AnySpec) -> None:
    _set(spec, "rounds", check_count("rounds", spec.rounds, 1, MOST_ROUNDS))
    check_common(spec)


def check_common(spec: Any) -> None:
    """Check what every kind of specification has: a name, replicas, a seed and an engine."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(spec.name)):
        raise InvalidInput(
            f"the name {spec.name!r} was given; it must be small letters, digits and hyphens"
        )
    _set(spec, "replicas", check_count("replicas", spec.replicas, 1, MOST_REPLICAS))
    _set(spec, "seed", as_seed(spec.seed))
    check_choice("engine", spec.engine, EngineLike)


def several(
    name: str, values: Any, check: Callable[[object], Any], least: int = 1
) -> tuple[Any, ...]:
    """Return the checked values as a tuple; refuse unless there are enough, each once."""
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    kept = tuple(check(value) for value in values) if listed else ()
    if len(kept) < least or len(set(kept)) < len(kept):
        enough = "one or more" if least == 1 else "two or more"
        raise InvalidInput(f"{name} = {values!r} was given; it must be {enough}, each once")
    return kept


def kept_learners(
    learners: Any, problem: Problem | int, least: int = 1
) -> tuple[StoredLearner, ...]:
    """Return learners as a file keeps them; refuse unless there are enough, each named once."""
    kept = several("learners", learners, partial(stored_learner, problem=problem), least)
    if len(set(map(str, kept))) < len(kept):
        raise InvalidInput(
            f"the learners {[str(one) for one in kept]} were given; each must have its own name"
        )
    return kept


def _set(spec: object, field: str, value: object) -> None:
    object.__setattr__(spec, field, value)
