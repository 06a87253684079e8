"""Simulate learners on one problem, or another truth: the function that most users call."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from grbp._arguments import check_choice
from grbp._display import Displayable, Rows
from grbp._progress import ProgressLike, as_progress
from grbp.engine.decisions import (
    Engine,
    EngineLike,
    InitialEstimates,
    Kind,
)
from grbp.errors import InvalidInput
from grbp.experiments.game import make_game
from grbp.experiments.regret import Curve
from grbp.experiments.tables import COLUMNS, Row, learner_rows
from grbp.experiments.world_regret import check_pooled
from grbp.learners.base import AnyLearner
from grbp.learners.registry import (
    DEFAULT_LEARNER,
    LearnerLike,
    find_learner,
    has_horizon,
    lacks_horizon,
    with_horizon,
)
from grbp.numerics.arrays import Ints
from grbp.worlds.validation import as_seed, check_count, check_whole
from grbp.worlds.words import describe_world
from grbp.worlds.world import World, check_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.worlds.validation import SeedLike

ROUNDS, REPLICAS, SEED = 5000, 1000, 0
"""The sizes and the seed of a simulation of which nothing else is said."""

MOST_ROUNDS = 10**12
MOST_REPLICAS = 10**9
"""The largest numbers of rounds and replicas that are accepted."""

_MOST_SHOWN = 12
"""Learners that a simulation names when it is printed."""

_CHECKPOINTS = 100
"""The number of checkpoints by default; among few rounds, some of them coincide."""


@dataclass(frozen=True, repr=False)
class Simulation(Displayable):
    """The regret curves of some learners on one problem.

    Attributes
    ----------
    problem : Problem, Chain, Drift or Groups
    checkpoints : ndarray of int
        The rounds at which the curves are known; the last one is the number of rounds.
    replicas, seed : int
    kind : {"pseudo", "realised", "by-start"}
        The kind of regret.
    curves : dict of str to Curve
        The curve of every learner, by its name.
    engines : dict
        The engine that played each learner's rounds: ``{learner: "walk", "leap" or "draw"}``.

    Notes
    -----
    A notebook shows a simulation as a table and a picture. `to_frame` has a row for each learner
    and checkpoint, and `plot` draws the curves as `regret_figure` does.

    See Also
    --------
    simulate : Makes a simulation.
    regret_figure : Draws one.

    Examples
    --------
    >>> import grbp
    >>> result = grbp.simulate(
    ...     grbp.Problem(4, 0.45, 0.3), ["getbe-sm"], 200, 20, seed=0, checkpoints=[10, 100]
    ... )
    >>> result.checkpoints.tolist(), result.rounds
    ([10, 100, 200], 200)
    >>> result.curves["getbe-sm"].mean.shape
    (3,)
    """

    problem: World
    checkpoints: Ints
    replicas: int
    seed: int
    kind: Kind
    curves: dict[str, Curve]
    engines: dict[str, Engine] = field(default_factory=dict)

    def __repr__(self) -> str:
        ends = [f"{name}: {curve.ends}" for name, curve in self.curves.items()]
        more = [f"and {len(ends) - _MOST_SHOWN} more"] if len(ends) > _MOST_SHOWN else []
        lines = [
            f"<Simulation of {describe_world(self.problem)}: {self.replicas:,} replicas of"
            f" {self.rounds:,} rounds, seed {self.seed}; {self.kind} regret at the end",
            *ends[:_MOST_SHOWN],
            *more,
        ]
        return "\n  ".join(lines) + ">"

    columns = COLUMNS
    """The columns of its table."""

    @property
    def rounds(self) -> int:
        """The number of rounds: the last checkpoint."""
        return int(self.checkpoints[-1])

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table."""
        sizes = (self.rounds, self.replicas, self.seed)
        for name, one in self.curves.items():
            how = (self.engines.get(name, ""), one.weights is not None, self.kind)
            columns = (self.checkpoints, one.mean, one.se, *one.band())
            yield from learner_rows(self.problem, (name, *sizes, *how), *columns)

    def _table(self) -> Rows:
        return COLUMNS, self.rows()

    def _summary(self) -> Rows:
        columns = ("learner", f"mean regret after {self.rounds:,} rounds", "engine")
        return columns, (
            (name, curve.ends, self.engines.get(name, ""))
            for name, curve in sorted(self.curves.items(), key=lambda item: item[1].mean[-1])
        )

    def _draw(self, ax: "Axes | None") -> "Figure":
        from grbp.figures.regret_curves import regret_figure  # noqa: PLC0415 (a picture is of a floor above)

        return regret_figure(self, ax=ax)


def simulate(  # noqa: PLR0913 (each is a separate choice of the user)
    problem: World,
    learners: LearnerLike | Iterable[LearnerLike] = DEFAULT_LEARNER,
    rounds: float = ROUNDS,
    replicas: float = REPLICAS,
    seed: "SeedLike" = SEED,
    *,
    checkpoints: Sequence[float] | None = None,
    regret: Kind = "pseudo",
    initial_estimates: InitialEstimates = "drawn",
    engine: EngineLike = "auto",
    splitting: bool = False,
    horizon: bool = False,
    pooled: bool = False,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Simulation:
    """Simulate learners on a problem, and return how their regret grows with the rounds.

    A replica is one learner that plays all rounds of the problem, starting without knowledge of
    p_c and p_f and learning from round to round. Regret is what it has lost, up to a round, to
    the optimal policy; the curves are means over many independent replicas.

    Parameters
    ----------
    problem : Problem, Chain, Drift or Groups
        The goal, the two probabilities and the distribution of the first state. With a `Chain`,
        chances differ by state, and regret is against its best policy, whatever that is; with a
        `Drift` they change over rounds, and regret is against the best policy of each round; with
        `Groups` they differ by group, and it is against the best policy of the group.
    learners : str, Learner or sequence of them, default "doorstep-optimal"
        The learners, each a name, which may set constants, or a `Learner` or `StateLearner` of
        your own: ``["getbe-sm", "getbe-sm:gamma=30", mine]``. `LEARNERS` and `STATE_LEARNERS` have
        all names; `find_learner` says what else is one.
    rounds : int, default 5000
        The number of rounds, up to 10^12; a whole float such as 1e9 will do.
    replicas : int, default 1000
        The number of replicas of each learner. Standard errors fall with its square root.
    seed : int, numpy.random.Generator, numpy.random.SeedSequence or None, default 0
        A whole number from 0 to 2^128 - 1, or what one is taken from: a generator draws it, and
        None leaves it to chance. `Simulation.seed` is the number that was used. The same number
        gives the same result to the last bit, whatever else is simulated along with it.
    checkpoints : sequence of int, optional
        The rounds at which curves are kept. The last round is always one of them. By default
        there are about a hundred, evenly spaced in their logarithm.
    regret : {"pseudo", "realised", "by-start"}
        How a round counts: with the gap of the policy played, which has the least noise; with
        what was lost in fact, V* less 1 or 0; or with the gap from the state in which the round
        started, which also gives `Curve.by_start`. All three have the same mean.
    initial_estimates : {"drawn", "once"}
        Where the estimates before round 1 come from: a uniform draw from [0, 1], as in the
        paper's experiments, or taking each action once, as in its Algorithm 1, which is not
        counted as a round.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played. "walk" takes every step, and all learners meet the same cases.
        "leap" draws whole rounds, and many at once while a learner cannot change its mind: it
        has the same law with other draws, and a billion rounds take it seconds. "draw" asks the
        learner in every round and draws the round whole from a table, with the same law; it is
        the engine that also runs on a GPU. "auto" leaps unless there is too little to play.
        Learners by state, and truths that are no `Problem`, can only be walked.
    splitting : bool
        Whether to look for rare replicas that carry the mean, by multilevel splitting. Where
        finishing in state 1 is right, a replica can be stuck with never finishing, and one in a
        million may then matter. `replicas`, at least 1,000, is then the size of a population that
        is resampled as it plays, and replicas have weights.
    horizon : bool
        Whether learners are told the number of rounds: each that has a constant ``horizon`` which
        is not set, and its name says so. The others play as they are.
    pooled : bool
        Whether all groups are counted as one. By default nothing is pooled: a learner has counters
        for each of the `Groups`, and decides from those of the case's group alone.
    threads : int, optional
        The number of threads, by default one for each processor. It changes no bit.
    progress : bool or callable, optional
        True for a bar, which appears when something takes longer than a second; or a function
        that is called with (learner's name, replicas done, replicas in all).

    Returns
    -------
    Simulation
        The checkpoints, and the `Curve` of every learner by its name.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or no such learner exists.

    See Also
    --------
    regret_figure : Draws the curves.
    sweep : Plays learners on many problems.
    grbp.experiments.run : Runs a frozen specification and keeps its result in a file.

    Notes
    -----
    The first simulation with a learner compiles it, which takes some seconds, and says so on
    standard error, unless ``logging.getLogger("grbp").setLevel("ERROR")`` makes it quiet; the
    compiled code of the package's own learners is kept for later processes.

    Paper: sec:numeric

    Examples
    --------
    Two learners on the problem of the paper's Figure 3:

    >>> import grbp
    >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    >>> result = grbp.simulate(
    ...     problem, ["getbe-sm", "no-explore"], rounds=200, replicas=100, seed=0
    ... )
    >>> for name, curve in result.curves.items():
    ...     print(f"{name}: {curve.mean[-1]:.2f}, standard error {curve.se[-1]:.2f}")
    getbe-sm: 7.41, standard error 0.70
    no-explore: 6.14, standard error 0.77

    Another constant, and only the regret after 10 rounds and at the end:

    >>> less = grbp.simulate(problem, ["getbe-sm:gamma=2"], 200, 100, seed=0, checkpoints=[10])
    >>> less.checkpoints.tolist()
    [10, 200]
    >>> less.curves["getbe-sm:gamma=2"].mean.round(2).tolist()
    [0.46, 4.09]

    The default learner, told that there will be 200 rounds:

    >>> told = grbp.simulate(problem, rounds=200, replicas=100, horizon=True)
    >>> list(told.curves) == [f"{grbp.DEFAULT_LEARNER}:horizon=200"]
    True

    A chain in which finishing is good near the goal alone, which no threshold can say:

    >>> chain = grbp.Chain(4, grbp.Move(0.5, 0.5), [0.05, 0.1, 0.95])
    >>> result = grbp.simulate(chain, ["getbe-ps", "psrl"], rounds=500, replicas=50, seed=0)
    >>> bool(result.curves["psrl"].mean[-1] < result.curves["getbe-ps"].mean[-1])
    True
    """
    problem = check_world(problem)
    rounds = check_count("rounds", rounds, 1, MOST_ROUNDS)
    replicas = check_count("replicas", replicas, 1, MOST_REPLICAS)
    seed = as_seed(seed)
    if threads is not None:
        threads = check_whole("threads", threads, 1, 1024)
    check_choice("regret", regret, Kind)
    check_choice("initial_estimates", initial_estimates, InitialEstimates)
    ends = checkpoints_up_to(rounds, checkpoints)
    found, pooled = find_learners(learners, problem, horizon, rounds), check_pooled(pooled, problem)
    games = [
        make_game(
            problem,
            learner,
            ends,
            seed,
            engine,
            kind=regret,
            initial_estimates=initial_estimates,
            pooled=pooled,
            splitting=splitting,
        )
        for learner in found
    ]
    if splitting and regret != "pseudo":
        raise InvalidInput(f"regret = {regret!r} was given; splitting measures 'pseudo' alone")
    curves, report_on = {}, as_progress(progress)
    for game in games:
        name = game.learner.name
        report = None if report_on is None else partial(report_on, name)
        curves[name] = game.curve(game.play(0, replicas, threads, report))
    engines = {game.learner.name: game.engine for game in games}
    return Simulation(problem, ends, replicas, seed, regret, curves, engines)


def find_learners(
    learners: LearnerLike | Iterable[LearnerLike], world: World, horizon: bool, rounds: int
) -> list[AnyLearner]:
    """Find one or more learners, told the number of rounds if so asked; refuse one named twice."""
    known = world.known
    found = [find_learner(learner, known) for learner in as_learner_list(learners)]
    if _check_horizon(horizon, found):
        told = (with_horizon(x, rounds, known) if lacks_horizon(x) else x for x in found)
        found = [find_learner(learner, known) for learner in told]
    names = [learner.name for learner in found]
    if len(set(names)) < len(names) or not names:
        raise InvalidInput(
            f"the learners {names} were given; there must be one or more, each named once"
        )
    return found


def _check_horizon(horizon: object, learners: list[AnyLearner]) -> bool:
    """Return whether to tell learners the number of rounds; refuse if none can be told."""
    if not isinstance(horizon, bool | np.bool_):
        raise InvalidInput(
            f"horizon = {horizon!r} was given; it must be True, for as many rounds as are played,"
            " or False"
        )
    if horizon and not any(map(has_horizon, learners)):
        names = ", ".join(learner.name for learner in learners)
        raise InvalidInput(
            f"horizon = True was given with {names or 'no learner'}; one at least must have a"
            f" constant horizon, such as {DEFAULT_LEARNER}"
        )
    return bool(horizon)


def checkpoints_up_to(rounds: int, asked: Sequence[float] | None = None) -> Ints:
    """Return the rounds at which a curve is kept, in order, the last one always among them.

    By default they are evenly spaced in their logarithm.
    """
    given: object = asked
    if asked is None:
        return _space_checkpoints(rounds).copy()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(f"checkpoints = {asked!r} was given; it must be a list of rounds")
    return np.unique([rounds, *(check_count("checkpoints", one, 1, rounds) for one in asked)])


def as_learner_list(learners: LearnerLike | Iterable[LearnerLike]) -> Iterable[LearnerLike]:
    """Return learners as they were given; one that was given alone is a list of one."""
    return (
        learners if isinstance(learners, Iterable) and not isinstance(learners, str) else [learners]
    )


@lru_cache(maxsize=64)
def _space_checkpoints(rounds: int) -> Ints:
    """Return the default checkpoints; simulations ask for the same ones again and again."""
    spaced = np.floor(np.geomspace(1, rounds, _CHECKPOINTS) + 0.5).astype(np.int64)
    return np.unique([rounds, *spaced.tolist()])
