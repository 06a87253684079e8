"""Leaping against walking: one law, whatever the boxes; one result, whatever the checkpoints."""

import dataclasses
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from grbp import Problem, boundary, value
from grbp.engine import decisions as engine_module
from grbp.engine.batch_plan import CounterBox
from grbp.engine.batch_totals import BatchLaw, Workspace, batch_law, workspace_for
from grbp.engine.batches import draw_long_batch
from grbp.engine.decisions import Decisions, choose_engine, decisions
from grbp.engine.leap import make_leaps
from grbp.engine.recorder import StepLaw
from grbp.engine.walk import Starts
from grbp.errors import InvalidInput
from grbp.experiments import run
from grbp.experiments.regret import gap_per_threshold
from grbp.experiments.simulation import simulate
from grbp.experiments.sweep_spec import SweepSpec
from grbp.learners import getbe, policy_bandits as selection
from grbp.learners.base import Doubt, Learner, NoConstants, Thinning
from grbp.learners.counters import Counters, play
from grbp.learners.registry import find_problem_learner
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import first_state

Ints = NDArray[np.int64]
Boxes = Callable[..., None]

LOW, HIGH, SMALL = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3), Problem(3, 0.5, 0.34)
LARGE, EDGE = Problem(20, 0.52, 0.1), Problem(4, 0.5, 0.25)
EARLY = Problem(4, 0.2, 0.8, {1: 0.2, 3: 0.8})
STABLE = ["getbe-sm", "getbe-ucb", "no-explore", "ucb-polselection", "oracle", "threshold-1"]
DRAWING = ["getbe-ps", "ps-polselection", "epsilon-greedy"]
EVERY = pytest.mark.parametrize("name", [*STABLE[:4], *DRAWING])
NEVER = 2**62
REPLICAS = 20_000

fast = cache(compile_function)


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> Boxes:
    """Batches longer than `single` are drawn at once; boxes hold a share of the mean, no more."""

    def set_boxes(single: int, share: float | None = None) -> None:
        def changed(*given: Any) -> Any:
            leaps = make_leaps(*given)
            sizes = leaps.sizes.copy()
            if share is not None:
                sizes[:, :, 0], sizes[:, :, 1:] = share * sizes[:, :, 0], 0.0
            return leaps._replace(single=single, sizes=sizes)

        monkeypatch.setattr(engine_module, "make_leaps", changed)

    return set_boxes


def played(
    problem: Problem, learner: Any, checkpoints: Any, replicas: int = REPLICAS, **options: Any
) -> Decisions:
    """The decisions of all replicas in one piece, played in leaps unless otherwise asked."""
    asked: Any = {"engine": "leap", "seed": 1, "regret": "pseudo"} | options
    blocks = decisions(
        problem, find_problem_learner(learner, problem), list(checkpoints), replicas, **asked
    )
    return Decisions(*(np.concatenate(part) for part in zip(*blocks, strict=True)))


@cache
def walked(problem: Problem, learner: Any, checkpoints: tuple[int, ...]) -> Ints:
    return played(problem, learner, checkpoints, seed=2, engine="walk").played


def assert_alike(ours: Any, theirs: Any, what: object = "") -> None:
    """By chi-square on common quantiles, by Kolmogorov and Smirnov, and by means."""
    edges = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0, 1, 41)[1:-1]))
    groups = [np.searchsorted(edges, one) for one in (ours, theirs)]
    table = np.array([np.bincount(group, minlength=len(edges) + 1) for group in groups])
    table = table[:, table.sum(axis=0) >= 5]
    assert table.shape[1] == 1 or stats.chi2_contingency(table).pvalue > 1e-5, what
    assert stats.ks_2samp(ours, theirs, method="asymp").pvalue > 1e-5, what
    error = np.hypot(ours.std() / np.sqrt(len(ours)), theirs.std() / np.sqrt(len(theirs)))
    assert abs(ours.mean() - theirs.mean()) <= 4.5 * error + 1e-12, what


def assert_same_play(problem: Problem, learner: Any, ours: Ints, theirs: Ints) -> None:
    """The rounds of every threshold up to each checkpoint and between them, and what they cost."""
    gaps = gap_per_threshold(problem, find_problem_learner(learner, problem))
    for column in range(ours.shape[2]):
        for k in range(ours.shape[1]):
            assert_alike(ours[:, k, column], theirs[:, k, column], (column, k))
        one, two = (np.diff(x[:, -2:, column], axis=1)[:, 0] for x in (ours, theirs))
        assert_alike(one, two, (column, "between"))
    assert_alike((ours[:, -1] @ gaps).round(9), (theirs[:, -1] @ gaps).round(9), "regret")


@pytest.mark.sample("problem0-getbe-sm")
@pytest.mark.slow
@pytest.mark.parametrize("name", STABLE)
@pytest.mark.parametrize("problem", [LOW, EARLY, EDGE, LARGE, Problem(20, 0.5, 0.05)])
def test_short_batches_are_bit_for_bit_rounds_one_by_one(
    name: str, problem: Problem, boxes: Boxes
) -> None:
    learner = find_problem_learner(name, problem)
    assert isinstance(learner, Learner)
    asked = dataclasses.replace(learner, stable=None)
    checkpoints = [1, 2, 50, 333, 2000]
    for regret in ("pseudo", "realised", "by-start"):
        plain = played(problem, asked, checkpoints, 50, regret=regret)
        for share in (None, 0.5):
            boxes(NEVER, share)
            ours = played(problem, learner, checkpoints, 50, regret=regret)
            np.testing.assert_array_equal(ours.played, plain.played)
            np.testing.assert_array_equal(ours.won, plain.won)


@pytest.mark.sample("getbe-sm")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps"])
def test_a_batch_that_leaves_its_box_is_taken_apart_wherever_it_was_begun(
    name: str, boxes: Boxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a loop that is compiled only then, and plays anew what had been played."""
    boxes(16, 0.6)
    usual, asked = engine_module._leap_loop, list[bool]()

    def noted(*given: Any, apart: bool, **more: Any) -> Any:
        asked.append(apart)
        return usual(*given, apart=apart or not found, **more)

    monkeypatch.setattr(engine_module, "_leap_loop", noted)
    found: list[tuple[Ints, Ints, Any]] = []
    for _ in range(2):
        counters = np.zeros((40, len(Counters._fields)))
        counters[:20] = 9, 5, 2, 40, 21, 3, 2, 5, 2
        told = {"regret": "realised", "counters": counters, "threads": 1}
        plays = played(LOW, name, (50, 5000), 40, **told)
        found.append((plays.played, plays.won, counters))
    assert asked == [False, False, True]
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


SHORT, LONG = (30, 100, 300), (100, 300, 600)
PLAIN = [(HIGH, (100, 1000, 5000), 256), (LOW, LONG, 16), (SMALL, LONG, 16), (LARGE, SHORT, 16)]


@pytest.mark.sample("problem0-*-getbe-sm")
@pytest.mark.slow
@EVERY
@pytest.mark.parametrize(("problem", "checkpoints", "single"), PLAIN)
def test_leaping_has_the_law_of_walking(
    name: str, problem: Problem, checkpoints: Any, single: int, boxes: Boxes
) -> None:
    """With batches as they are, and with more of them drawn at once."""
    boxes(single)
    checkpoints = (100, 1000, 2000) if problem is HIGH and name in DRAWING[:2] else checkpoints
    ours = played(problem, name, checkpoints).played
    assert_same_play(problem, name, ours, walked(problem, name, checkpoints))


INDEXED = ["doorstep-optimal", "doorstep-kl", "kl-ucb", "bayes-ucb"]


@pytest.mark.sample("high-doorstep-optimal")
@pytest.mark.slow
@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.parametrize(
    ("problem", "checkpoints", "single"),
    [(HIGH, (50, 200, 500), 64), (LOW, LONG, 16), (Problem(4, 0.45, 0.3, 1), SHORT, 16)],
    ids=["high", "low", "start 1"],
)
def test_leaping_has_the_law_of_walking_for_those_that_weigh_evidence(
    name: str, problem: Problem, checkpoints: Any, single: int, boxes: Boxes
) -> None:
    """The default among them; where all rounds start in state 1, CONTINUE has to be explored."""
    boxes(single)
    ours = played(problem, name, checkpoints).played
    assert_same_play(problem, name, ours, walked(problem, name, checkpoints))


@pytest.mark.sample("getbe-sm")
@pytest.mark.slow
@pytest.mark.parametrize("name", [*STABLE[:4], *DRAWING[:2]])
def test_batches_that_leave_their_box_have_the_law_of_walking(name: str, boxes: Boxes) -> None:
    problem, checkpoints = (EARLY, SHORT) if name in DRAWING else (LOW, (30, 80, 160))
    boxes(8, 0.6)
    ours = played(problem, name, checkpoints).played
    assert_same_play(problem, name, ours, walked(problem, name, checkpoints))


@pytest.mark.soak
@pytest.mark.parametrize("p", [(0.6565, 0.3), (0.65, 0.303)])
def test_the_judge_would_notice_one_in_a_hundred(p: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, checkpoints, off = "getbe-ucb", PLAIN[0][1], Problem(4, *p)
    monkeypatch.setattr(engine_module, "make_leaps", lambda _, *rest: make_leaps(off, *rest))
    ours, theirs = played(HIGH, name, checkpoints).played, walked(HIGH, name, checkpoints)
    with pytest.raises(AssertionError):
        assert_same_play(HIGH, name, ours, theirs)


CHANCE = 0.02
RARE = Learner(
    "rare",
    lambda _goal, _k, _n, key: 1 if uniform(key, 0) < CHANCE else 0,
    thinning=Thinning(
        lambda _goal, _k, _n: 0,
        lambda _goal, _k, _low, _high: Doubt(0, 1.5 * CHANCE, 0.0, 0.0),
        lambda _goal, _k, _n, doubt, key: 1 if uniform(key, 0) * doubt.chance < CHANCE else 0,
    ),
)


def assert_binomial(seen: Any, rounds: tuple[int, int], chance: float) -> None:
    """So many rounds up to the first checkpoint, and up to the second, with a chance each."""
    later, between = seen[:, 1] - seen[:, 0], rounds[1] - rounds[0]
    for some, count in ((seen[:, 0], rounds[0]), (seen[:, 1], rounds[1]), (later, between)):
        assert_alike(some, stats.binom.rvs(count, chance, size=300_000, random_state=count))


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize(("single", "share"), [(256, None), (16, None), (NEVER, 0.3), (16, 0.6)])
def test_what_is_seldom_drawn_is_drawn_as_often_as_it_should(
    single: int, share: float | None, boxes: Boxes
) -> None:
    """Rounds with a chance of 1 in 50 each are binomial, also next to where a box is left."""
    boxes(single, share)
    size = 4000 if (single, share) == (16, 0.6) else REPLICAS
    assert_binomial(played(LOW, RARE, (50, 400), size).played[:, :, 1], (50, 400), CHANCE)


@pytest.mark.sample("4")
@pytest.mark.slow
@pytest.mark.parametrize("problem", [LOW, LARGE], ids=["4", "20"])
def test_rounds_of_one_threshold_are_won_with_its_value(problem: Problem, boxes: Boxes) -> None:
    boxes(16)
    for threshold in (0, 1, problem.goal - 1):
        won = played(problem, f"threshold-{threshold}", (300, 3000), 10_000, regret="realised").won
        assert_binomial(won, (300, 3000), value(problem, threshold))


def _in_batches(
    law: BatchLaw, threshold: int, rounds: int, box: CounterBox, work: Workspace, out: Ints
) -> None:
    for i in range(len(out)):
        t = draw_long_batch(law, threshold, fold_in(8, i), rounds, box, work)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = t
        out[i, 6] = work.starts.sum()


def _walked(world: StepLaw, starts: Starts, threshold: int, key: int, out: Any) -> None:
    for i in range(len(out)):
        own = fold_in(key, i)
        first = first_state(starts[0], starts[1], uniform(own, 0))
        one = play(world.goal, world.p_c, world.p_f, threshold, first, own)
        out[i, 0], out[i, 1], out[i, 2] = 1, one.won, one.f
        out[i, 3], out[i, 4], out[i, 5] = one.won * one.f, one.c, one.c_up


@pytest.mark.sample("problem6-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "threshold", "kind"),
    [(LOW, 1, kind) for kind in (*CounterBox._fields, "all")]
    + [(Problem(9, 0.5, 0.2), 4, kind) for kind in ("up", "won", "all")],
)
def test_a_batch_ends_with_the_round_that_leaves_the_box(
    problem: Problem, threshold: int, kind: str
) -> None:
    """Against rounds walked one by one, up to the first at which a sum is beyond the box."""
    count = 40
    rounds = np.zeros((REPLICAS * count, 6), dtype=np.int32)
    world = StepLaw(problem.goal, problem.p_c, problem.p_f)
    fast(_walked)(world, problem.start_table, threshold, np.uint64(7), rounds)
    sums = rounds.reshape(REPLICAS, count, 6).cumsum(axis=1)
    n, won, f, f_goal, c, up = np.moveaxis(sums, 2, 0)
    kinds: Any = np.stack([f_goal, f - f_goal, up, c - up, won, n - won], axis=2)
    most = kinds[:, -1].mean(axis=0) * 0.6
    box = np.where([kind in (name, "all") for name in CounterBox._fields], most, 1e18)
    left = (kinds > box).any(axis=2)
    last = np.where(left.any(axis=1), left.argmax(axis=1), count - 1)
    theirs = sums[np.arange(REPLICAS), last]
    ours = np.zeros((REPLICAS, 7), dtype=np.int64)
    law, work = batch_law(problem), workspace_for(problem.goal)
    fast(_in_batches)(law, threshold, count, CounterBox(*box.tolist()), work, ours)
    assert np.array_equal(ours[:, 6], ours[:, 0])
    assert left.any(axis=1).mean() > 0.8
    mixed = np.array([[0, 0, -3, 0, 1, 0], [0, -1, 0, 0, 0, 1], [-5, 0, 0, 0, 1, 0]])
    for mix in [*np.eye(6, dtype=np.int64), *mixed]:
        assert_alike(ours[:, :6] @ mix, theirs @ mix, mix)


# Learners that draw: usual, doubt and resolve are decide.


def _resolved(decide: Any, resolve: Any) -> Any:
    def loop(goal: int, n: Counters, doubt: Doubt, key: int, out: Ints) -> None:
        for i in range(len(out)):
            out[i, 0] = decide(goal, NoConstants(), n, fold_in(key, i))
            out[i, 1] = resolve(goal, NoConstants(), n, doubt, fold_in(key, i))

    return loop


resolving = cache(_resolved)


def posteriors(learner: Learner, n: Counters) -> tuple[Any, Any]:
    """The distributions of the two numbers that it draws."""
    first = learner is getbe.POSTERIOR_SAMPLING
    pairs = [(n.f_goal, n.f), (n.c_up, n.c), (n.wins_1, n.plays_1), (n.wins_0, n.plays_0)]
    x, y = (stats.beta(1 + a, 1 + n - a) for a, n in (pairs[:2] if first else pairs[2:]))
    return x, y


def chance_of_1(learner: Learner, goal: int, n: Counters) -> float:
    """The chance that threshold 1 is decided on, by quadrature."""
    x, y = posteriors(learner, n)
    values = learner is selection.PS_POLSELECTION

    def at(drawn: float) -> float:
        return float(x.sf(drawn if values else boundary(goal, drawn)) * y.pdf(drawn))

    edges = y.ppf([1e-14, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9]).tolist()
    parts = zip([0.0, *edges], [*edges, 1.0], strict=True)
    return float(sum(integrate.quad(at, a, b, epsabs=1e-16, epsrel=1e-9)[0] for a, b in parts))


def scaled(n: Counters, by: Any) -> Counters:
    """Counters whose wins and losses of each kind are so many times as large, each by its own."""
    counts = np.array(n[1:]).reshape(4, 2)
    wins, losses = counts[:, 1] * by[:4], (counts[:, 0] - counts[:, 1]) * by[4:]
    return Counters(n.rho, *np.column_stack([wins + losses, wins]).ravel().tolist())


@pytest.mark.sample("*-n0")
@pytest.mark.slow
@pytest.mark.parametrize(
    "n",
    [
        Counters(60, 41.0, 6.3, 100.0, 72.4, 30.0, 19.0, 30.0, 8.0),
        Counters(200, 91.0, 58.3, 240.0, 92.4, 60.0, 14.0, 141.0, 70.0),
        Counters(4000, 900.0, 180.0, 9000.0, 5800.0, 3000.0, 1400.0, 1000.0, 330.0),
    ],
)
@pytest.mark.parametrize("learner", [getbe.POSTERIOR_SAMPLING, selection.PS_POLSELECTION])
def test_thinning_has_the_law_of_decide(learner: Learner, n: Counters) -> None:
    assert learner.thinning is not None
    goal, k, out = 4, NoConstants(), np.zeros((200_000, 2), dtype=np.int64)
    usual, _, resolve = learner.thinning
    exact, rng = chance_of_1(learner, goal, n), np.random.default_rng(1)
    for size in (0.0, 0.01, 0.03):
        # A box whose sides have all lengths, and the counters anywhere in it.
        sides = 1 - size * rng.random(8), 1 + size * rng.random(8)
        doubt = learner.thinning.doubt(goal, k, *(scaled(n, side) for side in sides))
        first, second = doubt.first, doubt.second
        assert doubt.chance < 1.0
        assert doubt.usual == usual(goal, k, n)
        for _ in range(20):
            share = rng.random(8).round(rng.integers(3))
            x, y = posteriors(learner, scaled(n, (1 - share) * sides[0] + share * sides[1]))
            one, two = (x.cdf(first), y.sf(second)) if doubt.usual else (x.sf(first), y.cdf(second))
            assert one + two - one * two <= doubt.chance
        fast(resolving(learner.decide, resolve))(goal, n, doubt, np.uint64(3), out)
        rare = 1 - exact if doubt.usual else exact
        wanted, seen = np.array([rare, rare / doubt.chance]), (out != doubt.usual).mean(axis=0)
        assert np.all(wanted <= 1.0)
        assert np.all(np.abs(seen - wanted) <= 4.5 * np.sqrt(wanted / len(out)) + 3 / len(out))


# What else is counted, and what changes nothing.


@pytest.mark.sample("*getbe-sm")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps", "ps-polselection"])
@pytest.mark.parametrize(
    "asked", [{"regret": "realised"}, {"initial_estimates": "once"}, {"regret": "by-start"}]
)
def test_wins_starts_and_openings_have_the_law_of_walking(
    name: str, asked: Any, boxes: Boxes
) -> None:
    boxes(16)
    for problem in (LOW, EARLY):
        ours = played(problem, name, (60, 300), 10_000, **asked)
        theirs = played(problem, name, (60, 300), 10_000, seed=2, engine="walk", **asked)
        one, two = (x.played.reshape(10_000, 2, -1) for x in (ours, theirs))
        assert (one.sum(axis=2) == (60, 300)).all()
        for checkpoint, what in np.ndindex(one.shape[1:]):
            assert_alike(one[:, checkpoint, what], two[:, checkpoint, what], (checkpoint, what))
        for checkpoint in range(ours.won.shape[1]):
            assert_alike(ours.won[:, checkpoint], theirs.won[:, checkpoint], (checkpoint, "won"))


@pytest.mark.sample("*getbe-sm", "4-getbe-ps")
@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("problem", [EARLY, LARGE], ids=["4", "20"])
def test_neither_checkpoints_nor_threads_nor_blocks_change_a_bit(
    name: str, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = played(problem, name, [1000, 3000], 100).played
    many = played(problem, name, [1, 2, 7, 500, 999, 1000, 1001, 2500, 3000], 100, threads=1).played
    np.testing.assert_array_equal(few, many[:, [5, 8]])
    np.testing.assert_array_equal(played(problem, name, [1000, 3000], 10).played, few[:10])
    for options in ({"regret": "realised"}, {"regret": "by-start"}):
        whole = played(problem, name, [20, 3000], 100, threads=1, **options)
        assert (whole.played.reshape(100, 2, -1).sum(axis=2) == (20, 3000)).all()
        for threads, block in ((2, 64), (3, 7)):
            monkeypatch.setattr(engine_module, "BLOCK", block)
            monkeypatch.setattr(engine_module, "_SLICE", 20_000)
            parts = played(problem, name, [20, 3000], 100, threads=threads, **options)
            np.testing.assert_array_equal(whole.played, parts.played)
            np.testing.assert_array_equal(whole.won, parts.won)


def test_the_faster_engine_is_chosen_and_told(tmp_path: Path) -> None:
    sm, policies = (find_problem_learner(name, LOW) for name in ("getbe-sm", "ucb1-policies"))
    assert [choose_engine(LOW, sm, rounds) for rounds in (250, 251)] == ["walk", "leap"]
    assert [choose_engine(LARGE, sm, rounds) for rounds in (50, 51)] == ["walk", "leap"]
    assert choose_engine(LOW, policies, 10**6) == choose_engine(LOW, sm, 10**6, "walk") == "walk"
    assert choose_engine(LOW, sm, 1, "leap") == "leap"
    with pytest.raises(InvalidInput, match=r"^engine = 'leap' was given; ucb1-policies .* walked"):
        simulate(LOW, ["ucb1-policies"], 10, 2, 0, engine="leap")
    with pytest.raises(InvalidInput, match=r"^engine = 'run' was given; it must be 'walk', 'leap'"):
        simulate(LOW, ["getbe-sm"], 10, 2, 0, engine="run")  # type: ignore[arg-type]
    told = {"getbe-sm": "leap", "ucb1-policies": "walk"}
    assert simulate(LOW, list(told), 300, 2, 0).engines == told
    made = run(SweepSpec("told", LOW, tuple(told), 300, 2, curves=True), tmp_path)
    assert made.meta.engines == made.simulation().engines == told


@pytest.mark.sample("4-*")
@pytest.mark.slow
@pytest.mark.parametrize("p_c", [0.0, 1.0])
@pytest.mark.parametrize("goal", [2, 4, 20])
def test_leaps_are_right_where_moves_are_certain(goal: int, p_c: float) -> None:
    problem = Problem(goal, p_c, 0.3)
    for name in ("getbe-sm", "getbe-ps", "threshold-0"):
        ours = played(problem, name, (100, 1000), 2000, regret="realised")
        theirs = played(problem, name, (100, 1000), 2000, seed=2, regret="realised", engine="walk")
        assert_alike(ours.won[:, -1], theirs.won[:, -1])
        for column in range(ours.played.shape[2]):
            assert_alike(ours.played[:, -1, column], theirs.played[:, -1, column])


@pytest.mark.slow
def test_a_large_goal_and_many_rounds_can_be_played() -> None:
    for problem in (Problem(4000, 0.45, 0.3), Problem(4000, 0.55, 0.1)):
        simulate(problem, ["getbe-sm"], 10, 1, 0, engine="leap")
        tracemalloc.start()
        make_leaps(problem, (0, 1, 3999))
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()
        curve = simulate(problem, ["getbe-sm"], 10**9, 4, 0, checkpoints=[10**6]).curves["getbe-sm"]
        assert sum(curve.threshold_share.values()) == pytest.approx(1, rel=1e-12)
