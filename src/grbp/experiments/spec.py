"""Specify an experiment on one problem before it is run: frozen, comparable, plain JSON."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from grbp._arguments import check_choice
from grbp.engine.decisions import EngineLike
from grbp.errors import InvalidInput
from grbp.experiments.simulation import MOST_REPLICAS, MOST_ROUNDS, as_learner_list
from grbp.learners.custom import CustomLearner
from grbp.learners.registry import LearnerLike, StoredLearner, stored_learner
from grbp.worlds.problem import Problem
from grbp.worlds.validation import as_seed, check_count
from grbp.worlds.world import check_paper


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
        The rounds at which curves are checked; about a hundred of them by default.
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
        check_paper(self.problem, "a specification is of a Problem, and simulate plays others")
        _set(self, "rounds", check_count("rounds", self.rounds, 1, MOST_ROUNDS))
        check_common(self)
        _set(self, "learners", check_learners(as_learner_list(self.learners), self.problem))
        if self.checkpoints is not None:
            checked = {check_count("checkpoints", k, 1, self.rounds) for k in self.checkpoints}
            _set(self, "checkpoints", tuple(sorted(checked)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the learners."""
        return tuple(map(str, self.learners))

    def as_json(self) -> dict[str, Any]:
        """Return the specification as plain data; `from_json` is the way back."""
        learners = [learner_as_json(learner) for learner in self.learners]
        problem = self.problem.__getstate__()
        return {"kind": "curves", **vars(self), "problem": problem, "learners": learners}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spec":
        """Read the specification that was written as plain data."""
        fields = {name: value for name, value in data.items() if name != "kind"}
        learners = tuple(map(learner_from_json, fields["learners"]))
        return cls(**fields | {"problem": Problem(**fields["problem"]), "learners": learners})


def learner_as_json(learner: LearnerLike) -> str | dict[str, str]:
    """Return a learner as plain data: its name or, where others wrote it, with a digest."""
    return learner.as_json() if isinstance(learner, CustomLearner) else str(learner)


def learner_from_json(learner: Any) -> Any:
    """Return the learner that plain data stand for; else what was given, to be refused later."""
    if isinstance(learner, Mapping) and set(learner) == {"name", "digest"}:
        return CustomLearner(learner["name"], None, learner["digest"])
    return learner


def check_common(spec: Any) -> None:
    """Check what every kind of specification has: a name, replicas, a seed and an engine."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(spec.name)):
        raise InvalidInput(
            f"the name {spec.name!r} was given; it must be small letters, digits and hyphens"
        )
    _set(spec, "replicas", check_count("replicas", spec.replicas, 1, MOST_REPLICAS))
    _set(spec, "seed", as_seed(spec.seed))
    check_choice("engine", spec.engine, EngineLike)


def check_several(
    name: str, values: Any, check: Callable[[object], Any], least: int = 1
) -> tuple[Any, ...]:
    """Return the checked values as a tuple; refuse unless there are enough, each once."""
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    checked = tuple(check(value) for value in values) if listed else ()
    if len(checked) < least or len(set(checked)) < len(checked):
        enough = "one or more" if least == 1 else "two or more"
        raise InvalidInput(f"{name} = {values!r} was given; it must be {enough}, each once")
    return checked


def check_learners(
    learners: Any, problem: Problem | int, least: int = 1
) -> tuple[StoredLearner, ...]:
    """Return learners as a file keeps them; refuse unless there are enough, each named once."""
    checked = check_several("learners", learners, partial(stored_learner, problem=problem), least)
    if len(set(map(str, checked))) < len(checked):
        raise InvalidInput(
            f"the learners {[str(one) for one in checked]} were given; each must have its own name"
        )
    return checked


def _set(spec: object, field: str, value: object) -> None:
    object.__setattr__(spec, field, value)
