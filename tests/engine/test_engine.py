"""The engine: compiled and interpreted, threads and blocks, laws, refusals."""

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from runs import BOTH_ENGINES, FIGURE_3, FIGURE_4, UNEVEN, all_at_once, slow_but
from scipy import stats

from grbp import Problem, expected_slots, value
from grbp.engine import decisions as engine_module, leap
from grbp.engine.batches import draw_whole_batch
from grbp.engine.decisions import Engine, Kind
from grbp.engine.recorder import StepLaw
from grbp.engine.walk import Starts
from grbp.errors import InvalidInput
from grbp.experiments.simulation import simulate
from grbp.learners.base import Learner, NoConstants
from grbp.learners.counters import Counters, initial_counters as counters_before_round_one, play
from grbp.learners.getbe import Control
from grbp.learners.registry import LEARNERS
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in, uniform
from grbp.session import Session
from grbp.worlds.transition import first_state

# One definition, two lives.


@pytest.mark.sample(
    "realised-doorstep-optimal", "realised-getbe-*", "by-start-getbe-sm", "*-ucb1-policies"
)
@pytest.mark.parametrize("name", slow_but({"getbe-sm"}, [*LEARNERS, "threshold-2"]))
@pytest.mark.parametrize("regret", ["realised", "by-start"])
def test_interpreted_replicas_are_the_compiled_ones_bit_for_bit(
    name: str, regret: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = UNEVEN if regret == "by-start" else FIGURE_4
    rounds, replicas = (60, 2) if name == "bayes-ucb" else (400, 4)
    checkpoints = [1, 2, 3, 10, rounds // 2 if problem is UNEVEN else rounds]
    engines = ["walk"] if name == "ucb1-policies" else ["walk", "leap", "draw"]
    asked: Any = (problem, name, checkpoints, replicas, 8)
    fast = [all_at_once(*asked, engine=engine, regret=regret) for engine in engines]
    monkeypatch.setattr(engine_module, "_compile", lambda function, _name: function)
    monkeypatch.setattr(engine_module, "_leap_loop", leap.make_leap_loop)
    monkeypatch.setattr(leap, "compile_draw", lambda _: draw_whole_batch)
    slow = [all_at_once(*asked, engine=engine, regret=regret) for engine in engines]
    for one, two in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(one.played, two.played)
        np.testing.assert_array_equal(one.won, two.won)
        assert (one.played.reshape(replicas, len(checkpoints), -1).sum(axis=2) == checkpoints).all()


def in_words(_goal: int, k: Control, n: Counters, key: int) -> int:
    """A decision that Numba does not take."""
    known = n._asdict()
    return 1 if uniform(key, 0) * known["rho"] > k.gamma else 0


def in_numbers(_goal: int, k: Control, n: Counters, key: int) -> int:
    """The same, which Numba takes."""
    return 1 if uniform(key, 0) * n.rho > k.gamma else 0


@pytest.mark.sample("walk")
@pytest.mark.slow
@BOTH_ENGINES
def test_what_numba_does_not_take_runs_all_the_same(engine: Engine) -> None:
    asked: Any = (FIGURE_4, Learner("in-words", in_words, Control(9.0)), [1, 10, 100], 20, 4)
    with pytest.warns(RuntimeWarning, match="in-words cannot be compiled and runs interpreted"):
        slow = all_at_once(*asked, engine=engine)
    in_time = Learner("in-numbers", in_numbers, Control(9.0))
    fast = all_at_once(FIGURE_4, in_time, *asked[2:], engine=engine)
    np.testing.assert_array_equal(fast.played, slow.played)
    np.testing.assert_array_equal(fast.won, slow.won)


@BOTH_ENGINES
def test_the_warning_says_what_numba_minds(engine: Engine) -> None:
    learner = Learner("in-words", in_words, Control(9.0))
    with pytest.warns(RuntimeWarning) as said:
        all_at_once(FIGURE_4, learner, [1], 1, 4, engine=engine)
    assert "_asdict" in str(said[0].message)


class Callables:
    """A decision that is not a function."""

    def __call__(self, _goal: int, k: Control, n: Counters, key: int) -> int:
        return in_numbers(_goal, k, n, key)


@pytest.mark.slow
@BOTH_ENGINES
def test_a_decision_that_is_no_function_runs_all_the_same(engine: Engine) -> None:
    thing = Learner("object", Callables(), Control(9.0))
    with pytest.warns(RuntimeWarning, match="object cannot be compiled and runs interpreted"):
        slow = all_at_once(FIGURE_4, thing, [50], 20, 4, engine=engine)
    function = Learner("in-numbers", in_numbers, Control(9.0))
    fast = all_at_once(FIGURE_4, function, [50], 20, 4, engine=engine)
    np.testing.assert_array_equal(fast.won, slow.won)


def imports_inside(_goal: int, k: Control, n: Counters, key: int) -> int:
    """The same, with a statement that no part of Numba knows."""
    import grbp.numerics.rng as own  # noqa: PLC0415

    return 1 if own.uniform(key, 0) * n.rho > k.gamma else 0


@pytest.mark.slow
@BOTH_ENGINES
@pytest.mark.parametrize("error", [KeyError, AssertionError, NotImplementedError])
def test_a_learner_runs_whatever_the_compiler_raises(
    engine: Engine, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = all_at_once(
        FIGURE_4, Learner("in-numbers", in_numbers, Control(9.0)), [50], 20, 4, engine=engine
    )

    def fails(*_: Any) -> None:
        raise error("the inside of a compiler")

    learner = Learner("mine", imports_inside, Control(9.0))
    with pytest.warns(RuntimeWarning, match="mine cannot be compiled and runs interpreted"):
        slow = all_at_once(FIGURE_4, learner, [50], 20, 4, engine=engine)
    np.testing.assert_array_equal(fast.won, slow.won)
    monkeypatch.setattr(engine_module, "compile_function", fails)
    with pytest.warns(RuntimeWarning, match="mine cannot be compiled and runs interpreted"):
        slow = all_at_once(FIGURE_4, learner, [50], 20, 4, engine=engine)
    np.testing.assert_array_equal(fast.won, slow.won)


@BOTH_ENGINES
def test_what_a_learner_raises_is_not_taken_for_the_compiler(engine: Engine) -> None:
    def breaks(_goal: int, _: Any, n: Counters, _key: int) -> int:
        return {1: 0}[n._asdict()["rho"]]

    with (
        pytest.warns(RuntimeWarning, match="cannot be compiled"),
        pytest.raises(KeyError, match="2"),
    ):
        all_at_once(FIGURE_4, Learner("breaks", breaks), [50], 2, 4, engine=engine)


def truth(_goal: int, k: Control, n: Counters, key: int) -> Any:
    return uniform(key, 0) * n.rho > k.gamma


def truth_in_words(_goal: int, k: Control, n: Counters, key: int) -> Any:
    return np.bool_(in_words(_goal, k, n, key))


@pytest.mark.slow
@BOTH_ENGINES
def test_a_bool_is_a_threshold_compiled_and_interpreted(engine: Engine) -> None:
    function = Learner("in-numbers", in_numbers, Control(9.0))
    expected = all_at_once(FIGURE_4, function, [50], 20, 4, engine=engine)
    compiled_one = all_at_once(
        FIGURE_4, Learner("truth", truth, Control(9.0)), [50], 20, 4, engine=engine
    )
    np.testing.assert_array_equal(compiled_one.played, expected.played)
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        interpreted = all_at_once(
            FIGURE_4, Learner("words", truth_in_words, Control(9.0)), [50], 20, 4, engine=engine
        )
    np.testing.assert_array_equal(interpreted.played, expected.played)
    assert (
        Learner("truth", truth, Control(0.0)).choose(4, counters_before_round_one(0.5, 0.5), 1) == 1
    )


def one_as_float(_goal: int, _: Any, _n: Any, _key: int) -> Any:
    return 1.0


def open_three_cases(session: Session) -> None:
    for _ in range(3):
        session.open_case(1)
        session.tell(4)


def later_a_float(_goal: int, _: Any, n: Counters, _key: int) -> Any:
    return 1.0 if n.rho > 2 else 1


@pytest.mark.slow
@BOTH_ENGINES
@pytest.mark.filterwarnings("ignore:later cannot be compiled")
def test_a_float_is_refused_in_one_sentence(engine: Engine) -> None:
    words = "decided 1.0; it must be a threshold, which is an int"
    for learner in (Learner("float", one_as_float), Learner("later", later_a_float)):
        with pytest.raises(InvalidInput, match=words):
            all_at_once(FIGURE_4, learner, [50], 2, 4, engine=engine)
        with pytest.raises(InvalidInput, match=words):
            open_three_cases(Session(4, learner, seed=0))


# Neither threads nor blocks change anything.


@pytest.mark.slow
@BOTH_ENGINES
def test_threads_change_nothing(engine: Engine) -> None:
    one, three = (
        simulate(FIGURE_4, ["getbe-ps"], 100, 300, 1, engine=engine, threads=threads)
        for threads in (1, 3)
    )
    for field in ("mean", "covariance", "final"):
        np.testing.assert_array_equal(
            getattr(one.curves["getbe-ps"], field), getattr(three.curves["getbe-ps"], field)
        )


@pytest.mark.slow
@BOTH_ENGINES
@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_and_slices_change_nothing(
    block: int, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = 60 if engine == "walk" else 400
    checkpoints = [5, rounds]
    asked: Any = (FIGURE_3, ["getbe-ps"], rounds, 130, 1)
    named: Any = {"checkpoints": checkpoints, "engine": engine}
    whole = all_at_once(FIGURE_3, "getbe-ps", checkpoints, 130, 1, engine=engine, regret="by-start")
    curve = simulate(*asked, **named).curves["getbe-ps"]
    monkeypatch.setattr(engine_module, "BLOCK", block)
    monkeypatch.setattr(engine_module, "_SLICE", 100)
    parts = all_at_once(FIGURE_3, "getbe-ps", checkpoints, 130, 1, engine=engine, regret="by-start")
    np.testing.assert_array_equal(whole.played, parts.played)
    np.testing.assert_array_equal(whole.won, parts.won)
    again = simulate(*asked, **named).curves["getbe-ps"]
    np.testing.assert_array_equal(curve.final, again.final)
    np.testing.assert_array_equal(curve.mean, again.mean)
    np.testing.assert_array_equal(curve.covariance, again.covariance)


def test_more_replicas_and_rounds_keep_what_was() -> None:
    few = all_at_once(FIGURE_3, "getbe-ps", [10, 20], 5, 1)
    many = all_at_once(FIGURE_3, "getbe-ps", [10, 20, 50], 9, 1)
    np.testing.assert_array_equal(few.played, many.played[:5, :2])
    np.testing.assert_array_equal(few.won, many.won[:5, :2])


def test_seeds_change_everything() -> None:
    finals = [
        simulate(FIGURE_4, ["getbe-ps"], 100, 50, seed, engine=engine)
        .curves["getbe-ps"]
        .final.tobytes()
        for seed in (0, 1, 2, 2**64, 2**127)
        for engine in ("walk", "leap")
    ]
    assert len(set(finals)) == len(finals)


# Common random numbers.


def always_1(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return 1 if n.rho > 0 else 0


def alternating(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return n.rho % 2


@pytest.mark.slow
def test_learners_meet_the_same_cases() -> None:
    checkpoints = range(1, 61)
    one = all_at_once(FIGURE_4, "threshold-1", checkpoints, 100, 3).won
    np.testing.assert_array_equal(
        one, all_at_once(FIGURE_4, Learner("1", always_1), checkpoints, 100, 3).won
    )
    zero = all_at_once(FIGURE_4, "threshold-0", checkpoints, 100, 3).won
    mixed = all_at_once(FIGURE_4, Learner("mixed", alternating), checkpoints, 100, 3).won
    rounds = [np.diff(won, axis=1, prepend=0) for won in (zero, one, mixed)]
    np.testing.assert_array_equal(rounds[2][:, 0::2], rounds[1][:, 0::2])
    np.testing.assert_array_equal(rounds[2][:, 1::2], rounds[0][:, 1::2])
    assert (rounds[0] != rounds[1]).any()
    # FINISH everywhere, as a threshold and as a policy of UCB1, which plays it in round 8.
    policies = np.diff(
        all_at_once(FIGURE_4, "ucb1-policies", checkpoints, 100, 3).won, axis=1, prepend=0
    )
    at_once = np.diff(
        all_at_once(FIGURE_4, "threshold-3", checkpoints, 100, 3).won, axis=1, prepend=0
    )
    np.testing.assert_array_equal(policies[:, 7], at_once[:, 7])
    np.testing.assert_array_equal(policies[:, 0], rounds[0][:, 0])
    np.testing.assert_array_equal(policies[:, 1], rounds[1][:, 1])


def coin(_goal: int, _: NoConstants, _n: Counters, key: int) -> int:
    return 1 if uniform(key, 0) < 0.5 else 0


def test_a_learner_draws_apart_from_the_world() -> None:
    played = all_at_once(FIGURE_4, Learner("coin", coin), [200], 200, 3, regret="by-start").played
    table = played[:, 0, :, :2].sum(axis=0)
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert abs(table[:, 0].sum() - 20_000) <= 4 * 100


# Laws.


@pytest.mark.sample(6)
@pytest.mark.slow
@BOTH_ENGINES
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4, UNEVEN], ids=["3", "4", "uneven"])
@pytest.mark.parametrize("threshold", [0, 1, 2, 3])
def test_rounds_are_won_as_often_as_the_exact_value_says(
    problem: Problem, threshold: int, engine: Engine
) -> None:
    rounds = 400 * 250
    won = all_at_once(problem, f"threshold-{threshold}", [250], 400, 6, engine=engine).won
    v = value(problem, threshold)
    assert abs(won.sum() / rounds - v) <= 4 * math.sqrt(v * (1 - v) / rounds)


@BOTH_ENGINES
def test_rounds_start_as_often_as_the_distribution_says(engine: Engine) -> None:
    played = all_at_once(
        UNEVEN, "threshold-0", [250], 200, 6, engine=engine, regret="by-start"
    ).played
    possible = UNEVEN.start_probabilities > 0
    seen = played[:, 0, :, 0].sum(axis=0)
    assert (seen[~possible] == 0).all()
    wanted = 250 * 200 * UNEVEN.start_probabilities[possible]
    assert stats.chisquare(seen[possible], wanted).pvalue > 1e-3


def _slots(world: StepLaw, starts: Starts, threshold: int, begin: int, out: Any) -> None:
    for k in range(len(out)):
        key = fold_in(begin, k)
        first = first_state(starts[0], starts[1], uniform(key, 0))
        outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
        out[k] = outcome.f + outcome.c


@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4, UNEVEN], ids=["3", "4", "uneven"])
def test_rounds_are_as_long_as_the_exact_mean_says(problem: Problem) -> None:
    run = compile_function(_slots)
    world = StepLaw(problem.goal, problem.p_c, problem.p_f)
    for threshold in (0, 1, 2, problem.goal - 1):
        out = np.zeros(40_000)
        run(world, problem.start_table, threshold, np.uint64(9), out)
        se = out.std(ddof=1) / 200
        assert abs(out.mean() - expected_slots(problem, threshold)) <= 4 * se


@pytest.mark.slow
@BOTH_ENGINES
def test_each_action_is_taken_once_before_round_1_if_asked(engine: Engine) -> None:
    """Algorithm 1's own beginning: the estimates are 0 or 1, as often as the chances say."""

    def told(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
        whole = n.f_goal in (0.0, 1.0) and n.c_up in (0.0, 1.0)
        return 3 if not whole else int(n.f_goal) + 2 * int(n.c_up) if n.f_goal + n.c_up < 2 else 4

    learner = Learner("told", told, thresholds=(0, 1, 2, 3, 4))
    problem = Problem(7, 0.6, 0.3)
    once = all_at_once(problem, learner, [1], 20_000, 1, engine=engine, initial_estimates="once")
    seen = once.played[:, 0].sum(axis=0)
    assert seen[3] == 0
    wanted = 20_000 * np.array([0.4 * 0.7, 0.4 * 0.3, 0.6 * 0.7, 0.0, 0.6 * 0.3])
    assert stats.chisquare(seen[[0, 1, 2, 4]], wanted[[0, 1, 2, 4]]).pvalue > 1e-3
    drawn = all_at_once(problem, learner, [1], 200, 1, engine=engine).played[:, 0].sum(axis=0)
    assert drawn[3] == 200


# Memory.


def peak_memory(rounds: int, replicas: int, engine: Engine) -> int:
    tracemalloc.start()
    try:
        simulate(
            FIGURE_4,
            ["getbe-sm"],
            rounds,
            replicas,
            0,
            checkpoints=[5, 50],
            engine=engine,
            threads=1,
        )
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@BOTH_ENGINES
def test_memory_does_not_grow_with_rounds_times_replicas(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "BLOCK", 256)
    peak_memory(50, 10, engine)  # compiles
    short, long = peak_memory(100, 256, engine), peak_memory(4000, 256, engine)
    assert long < short + 100_000
    # Of a replica more, only its final regret is kept, which is copied once.
    many = peak_memory(100, 256 * 16, engine)
    assert many < 2 * short + 256 * 16 * 8 * 3 + 100_000


# Refusals.


def three_in_the_end(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return 3 if n.rho > 20 else 0


def minus_one(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return -1 if n.rho > 20 else 0


def too_far(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return goal + 3 if n.rho > 20 else 0


@pytest.mark.slow
@pytest.mark.sample("3-*")
@BOTH_ENGINES
@pytest.mark.parametrize(
    ("learner", "answer"),
    [
        (Learner("mine", three_in_the_end, thresholds=(0, 1)), 3),
        (Learner("mine", minus_one), -1),
        (Learner("mine", too_far), 7),
    ],
    ids=["3", "-1", "7"],
)
def test_thresholds_not_declared_are_refused(learner: Learner, answer: int, engine: Engine) -> None:
    with pytest.raises(
        InvalidInput, match=f"learner mine decided {answer}, which is not"
    ) as refusal:
        simulate(FIGURE_4, [learner], 100, 40, 0, engine=engine)
    assert "\n" not in str(refusal.value)
    # As long as it does not play it, nobody minds.
    done = simulate(FIGURE_4, [learner], 20, 40, 0, engine=engine)
    assert done.curves["mine"].threshold_share[0] == 1.0


@pytest.mark.parametrize("threshold", [4, 7, -2])
def test_thresholds_that_the_goal_lacks_are_refused(threshold: int) -> None:
    learner = Learner("mine", three_in_the_end, thresholds=(0, 3, threshold))
    with pytest.raises(InvalidInput, match=f"{threshold}"):
        simulate(FIGURE_4, [learner], 10, 4, 0)
