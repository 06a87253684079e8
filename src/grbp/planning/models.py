"""Plan a study where the model may be wrong: what each model would win there, and lose."""

import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from grbp._display import Displayable, Rows
from grbp._format import as_plain, format_number, plural
from grbp._progress import ProgressLike, as_progress
from grbp.engine.losses import losses
from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.registry import (
    MODELS,
    LearnerLike,
    find_learner,
    lacks_horizon,
    with_horizon,
)
from grbp.numerics.arrays import Floats, Ints
from grbp.planning.plan import CASES, check_cases
from grbp.theory.posterior import Estimate
from grbp.worlds.dynprog import best_value, threshold_values
from grbp.worlds.validation import as_seed, check_count, check_whole
from grbp.worlds.world import World

if TYPE_CHECKING:
    from grbp.worlds.validation import SeedLike

REPLICAS: Final = 400
"""How many studies of each model are played by default."""

_FORGETS: Final = "-forgets"

_WORDS: Final = {
    "one": "takes one chance for all states",
    "state": "gives each state its own chances",
    "averaged": "averages over both",
}
"""What a study under each model does."""

_MOST_REPLICAS: Final = 10**5
_WIDTH: Final = 78
_Z: Final = 1.959963984540054


class ModelOutlook(NamedTuple):
    """What a study under one model would win, and lose, after some cases.

    Attributes
    ----------
    model : str
        The model of the study, as in `plan_models`.
    learner : str
        The learner that decides.
    cases : int
    won, lost : Estimate
        The mean number of goals, and by how much it is below that of the best policy of each
        moment, with intervals at 95 %.
    """

    model: str
    learner: str
    cases: int
    won: Estimate
    lost: Estimate

    @property
    def words(self) -> str:
        """What a study under this model does."""
        base = self.model.removesuffix(_FORGETS)
        return _WORDS[base] + ("" if base == self.model else " and forgets")


@dataclass(frozen=True, repr=False)
class ModelPlan(Displayable):
    """What studies under different models would win and lose under one truth.

    Attributes
    ----------
    world : Problem, Chain, Drift or Groups
        The truth.
    cases : tuple of int
        The numbers of cases that were asked about, in order.
    outlooks : tuple of ModelOutlook
        One for each model and number of cases.
    best, best_threshold : float or None
        The share of cases that the best policy wins, and the best threshold policy; None where the
        truth changes or differs by group.
    replicas, seed : int
        How many studies of each model were played, and with which seed.

    See Also
    --------
    plan_models : Makes it.
    """

    world: World
    cases: tuple[int, ...]
    outlooks: tuple[ModelOutlook, ...]
    best: float | None
    best_threshold: float | None
    replicas: int
    seed: int

    columns = (
        "model", "learner", "cases", "won", "won_low", "won_high", "lost", "lost_low", "lost_high",
    )  # fmt: skip
    """The columns of its table."""

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Say what each model would win and lose, at 80 columns.

        Returns
        -------
        str
        """
        lines = [textwrap.fill(" ".join(self.sentences()), _WIDTH), "", self._head()]
        return "\n".join([*lines, *(self._line(one) for one in self.outlooks)])

    def sentences(self) -> list[str]:
        """Return the answer as sentences, the most important first."""
        last = [one for one in self.outlooks if one.cases == self.cases[-1]]
        ranked = sorted(last, key=lambda one: one.lost.estimate)
        first, *others = ranked
        said = [
            f"In {plural(self.cases[-1], 'case')} like these, a study that {first.words} loses"
            f" {format_number(first.lost.estimate)} goals compared with knowing the truth"
            + "".join(
                f"; one that {one.words}, {format_number(one.lost.estimate)}" for one in others
            )
            + "."
        ]
        if self.best is not None and self.best_threshold is not None:
            gap = 100.0 * (self.best - self.best_threshold)
            said.append(
                "A threshold is best here."
                if gap < 1e-9
                else "No threshold is best here: even the best one loses"
                f" {format_number(gap)} goals in 100 cases, for ever."
            )
        return said

    def _head(self) -> str:
        return f"{'model':<18}{'cases':>9}{'won':>9}{'lost':>9}  (95 %)"

    def _line(self, one: ModelOutlook) -> str:
        low, high = (format_number(end) for end in (one.lost.low, one.lost.high))
        return (
            f"{one.model:<18}{one.cases:>9,}{format_number(one.won.estimate):>9}"
            f"{format_number(one.lost.estimate):>9}  ({low} to {high})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them."""
        return {
            "cases": list(self.cases),
            "outlooks": [as_plain(one) for one in self.outlooks],
            "best": self.best,
            "best_threshold": self.best_threshold,
            "replicas": self.replicas,
            "seed": self.seed,
            "sentences": self.sentences(),
        }

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of its table."""
        for one in self.outlooks:
            yield one.model, one.learner, one.cases, *one.won, *one.lost

    def _table(self) -> Rows:
        return self.columns, self.cells()

    def _summary(self) -> Rows:
        return ("model", "cases", "goals lost"), (
            (one.model, one.cases, one.lost.estimate) for one in self.outlooks
        )

    def _draw(self, ax: Any) -> Any:
        from grbp.figures.planning import models_figure  # noqa: PLC0415 (of a floor above)

        return models_figure(self, ax)


def plan_models(  # noqa: PLR0913 (each is a separate choice of the user)
    world: World,
    cases: float | Iterable[float] | None = None,
    models: Iterable[str] | None = None,
    *,
    replicas: float = REPLICAS,
    seed: "SeedLike" = 0,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> ModelPlan:
    """Say what a study under each model would win or lose if the truth is not the paper's.

    Parameters
    ----------
    world : Problem, Chain, Drift or Groups
        The truth: chances that differ by state, change over the cases or differ by group. `fit`
        gives the chain of past records.
    cases : int or sequence of int, optional
        The numbers of cases to answer for; by default 200, 500 and 2,000.
    models : sequence of str, optional
        The models, of "one", "state" and "averaged", and of those that forget, with "-forgets"
        behind; by default the three, and where the truth changes their forgetting twins.
    replicas : int
        How many studies of each model are played.
    seed : int, numpy.random.Generator, numpy.random.SeedSequence or None
    threads : int, optional
    progress : bool or callable, optional
        As in `simulate`.

    Returns
    -------
    ModelPlan

    See Also
    --------
    plan : Says much more, where the paper's model holds.

    Examples
    --------
    >>> import grbp
    >>> chain = grbp.Chain(4, grbp.Move(0.5, 0.5), [0.05, 0.6, 0.9])
    >>> result = grbp.plan_models(chain, 200, ["one", "state"], replicas=50)
    >>> [one.learner for one in result.outlooks][1], result.best > result.best_threshold
    ('psrl', True)
    """
    asked = CASES if cases is None else check_cases(cases)
    count = check_count("replicas", replicas, 2, _MOST_REPLICAS)
    number = as_seed(seed)
    threads = None if threads is None else check_whole("threads", threads, 1, 1024)
    report_on, outlooks = as_progress(progress), []
    chosen = [_find_model(name, world, asked[-1]) for name in _check_models(models, world)]
    for k, (name, learner) in enumerate(chosen):
        lost, won = losses(world, learner, asked, count, number, threads=threads)
        outlooks += [
            ModelOutlook(name, learner.name, cases, _mean(won[:, i]), _mean(lost[:, i]))
            for i, cases in enumerate(asked)
        ]
        if report_on is not None:
            report_on("plan", (k + 1) * count, len(chosen) * count)
    best, threshold = _best_shares(world)
    return ModelPlan(world, asked, tuple(outlooks), best, threshold, count, number)


def _check_models(models: object, world: World) -> list[object]:
    """Return the models to compare, or refuse what is no list of them."""
    if models is None:
        return [*_usual_models(world)]
    if isinstance(models, str) or not isinstance(models, Iterable) or not (named := [*models]):
        raise InvalidInput(
            f"models = {models!r} was given; it must be one or several of {', '.join(MODELS)}"
        )
    return named


def _usual_models(world: World) -> list[str]:
    """Return the models that are compared unless others are asked for."""
    return [*MODELS, *(f"{name}{_FORGETS}" for name in MODELS if world.changes)]


def _find_model(name: object, world: World, cases: int) -> tuple[str, Any]:
    """Return a model and its learner; refuse what is none."""
    base = name.removesuffix(_FORGETS) if isinstance(name, str) else ""
    if base not in MODELS:
        allowed = ", ".join(MODELS)
        raise InvalidInput(
            f"model {name!r} was given; it must be one of {allowed}, with {_FORGETS} behind or not"
        )
    learner: LearnerLike = MODELS[base]
    forgets = base != name
    if forgets:
        learner = f"{learner}:memory=averaged"
    found: AnyLearner = find_learner(learner, world.goal)
    if not forgets and lacks_horizon(found):
        found = find_learner(with_horizon(learner, cases, world.goal), world.goal)
    return str(name), found


def _mean(numbers: Floats | Ints) -> Estimate:
    """Estimate a mean over studies, with its interval."""
    mean, error = float(np.mean(numbers)), float(np.std(numbers, ddof=1)) / math.sqrt(len(numbers))
    return Estimate(mean, mean - _Z * error, mean + _Z * error)


def _best_shares(world: World) -> tuple[float | None, float | None]:
    """Compute the shares of cases that the best policy wins, and the best threshold."""
    chain = world.chain
    return (None, None) if chain is None else (best_value(chain), max(threshold_values(chain)))
