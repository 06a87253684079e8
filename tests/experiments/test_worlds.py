"""Chains, drift and groups as problems: what they have in common with the paper's, and refusals."""

import math
from typing import Any

import numpy as np
import pytest
from optional import optional

import grbp
from grbp import Chain, Drift, Groups, Move, Problem, simulate
from grbp.worlds.plain import from_plain

PROBLEM = Problem(4, 0.45, 0.3, start={1: 0.5, 3: 0.5})
GOALS = Chain(6, Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])
HOPS = Chain(
    4, Move(0.3, 0.2, stay=0.2, windfall=0.05, catastrophe=[0.05, 0.0, 0.05], jumps=[
        [0.0, 0.0, 0.2], [0.1, 0.1, 0.05], [0.2, 0.0, 0.0]]), [0.1, 0.5, 0.6], start=2,
)  # fmt: skip
BOTH = ["getbe-ps", "psrl"]


def same(one: grbp.Simulation, other: grbp.Simulation) -> None:
    """Check that two simulations have the same curves, to the last bit."""
    assert one.curves.keys() == other.curves.keys()
    for name, curve in one.curves.items():
        for part in ("mean", "covariance", "final"):
            np.testing.assert_array_equal(getattr(curve, part), getattr(other.curves[name], part))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("regret", ["pseudo", "realised"])
@pytest.mark.parametrize("first", ["drawn", "once"])
def test_the_chain_of_a_problem_is_the_problem(regret: Any, first: Any) -> None:
    sizes: Any = {"rounds": 60, "replicas": 5, "seed": 3, "checkpoints": [20]}
    how: Any = sizes | {"regret": regret, "initial_estimates": first, "engine": "walk"}
    names = ["getbe-ps", "threshold-1", "oracle"]
    walked, chain = (simulate(one, names, **how) for one in (PROBLEM, Chain.of(PROBLEM)))
    for name in names:
        one, other = walked.curves[name], chain.curves[name]
        np.testing.assert_allclose(other.mean, one.mean, atol=1e-10)
        np.testing.assert_allclose(other.final, one.final, atol=1e-10)
        np.testing.assert_allclose(other.covariance, one.covariance, atol=1e-10)
    by_state = simulate(PROBLEM, "psrl", **sizes)
    same(by_state, simulate(Chain.of(PROBLEM), "psrl", **sizes))
    assert by_state.engines == {"psrl": "walk"}


@pytest.mark.parametrize("world", [PROBLEM, GOALS, HOPS], ids=["problem", "chain", "hops"])
def test_what_does_not_change_or_differ_is_what_it_is_of(world: Any) -> None:
    alone = simulate(world, BOTH, 150, 30, seed=1, engine="walk")
    if isinstance(world, Problem):
        alone = simulate(Chain.of(world), BOTH, 150, 30, seed=1)
    for other in (
        Drift([(1, world)]),
        Drift([(1, world), (100, world)], "jumps"),
        Groups({"all": world}),
    ):
        same(alone, simulate(other, BOTH, 150, 30, seed=1))
    still: Any = Drift([(1, world), (100, world)], "linear")
    moved = simulate(still, BOTH, 150, 30, seed=1)
    for name in BOTH:
        np.testing.assert_allclose(moved.curves[name].final, alone.curves[name].final, atol=1e-9)


def test_chances_jump_in_the_round_that_is_given() -> None:
    never, always = Problem(4, 0.5, 0.01), Problem(4, 0.5, 0.99)
    drift = Drift([(1, never), (11, always)], "jumps")
    lost = simulate(drift, "threshold-0", 20, 3, checkpoints=range(1, 21)).curves["threshold-0"]
    steps = np.diff(lost.mean, prepend=0.0)
    np.testing.assert_allclose(steps[:10], 0.0, atol=1e-15)
    np.testing.assert_allclose(steps[10:], grbp.gap(always, 0) + 0.0, rtol=1e-9)


def test_nothing_is_lost_by_the_oracle_of_a_chain() -> None:
    for chain in (GOALS, HOPS):
        assert np.all(simulate(chain, "oracle", 50, 5).curves["oracle"].final == 0.0)


def test_threshold_learners_lose_where_the_best_policy_is_no_threshold() -> None:
    result = simulate(GOALS, ["threshold-0", "threshold-1", "oracle"], 10, 2)
    best = grbp.dynprog.solve(GOALS)
    assert best.threshold is None
    for threshold in (0, 1):
        policy = np.arange(5) < threshold
        value = grbp.dynprog.evaluate(GOALS, policy.astype(int)).value
        lost = 10 * GOALS.start_mean(best.value - value)
        np.testing.assert_allclose(result.curves[f"threshold-{threshold}"].final, lost)


def test_groups_have_counters_of_their_own_unless_they_are_pooled() -> None:
    one = Problem(4, 0.5, 0.3)
    alike = Groups({"a": one, "b": one}, {"a": 0.5, "b": 0.5})
    pooled = simulate(alike, BOTH, 100, 20, seed=2, pooled=True)
    same(pooled, simulate(Chain.of(one), BOTH, 100, 20, seed=2))
    apart = simulate(alike, BOTH, 100, 20, seed=2)
    assert not np.array_equal(apart.curves["psrl"].final, pooled.curves["psrl"].final)


@pytest.mark.parametrize("regret", ["pseudo", "realised"])
def test_neither_threads_nor_blocks_change_a_bit(
    regret: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = Groups({"a": GOALS, "b": Drift([(1, GOALS), (50, Chain(6, Move(0.6, 0.4), 0.3))])})
    how: Any = {"rounds": 60, "replicas": 25, "seed": 5, "checkpoints": [7, 30], "regret": regret}
    one = simulate(groups, BOTH, threads=1, **how)
    monkeypatch.setattr("grbp.experiments.game._BLOCK", 4)
    monkeypatch.setattr("grbp.engine.losses._SLICE", 1)
    other = simulate(groups, BOTH, threads=3, **how)
    same(one, other)


def test_realised_regret_has_the_mean_of_what_was_lost() -> None:
    world = Groups({"a": GOALS, "b": HOPS_6}, {"a": 0.3, "b": 0.7})
    how: Any = {"rounds": 40, "replicas": 2000, "seed": 8}
    pseudo = simulate(world, "psrl", **how).curves["psrl"]
    realised = simulate(world, "psrl", regret="realised", **how).curves["psrl"]
    apart = abs(pseudo.mean[-1] - realised.mean[-1])
    assert apart < 5.0 * math.hypot(pseudo.se[-1], realised.se[-1])


HOPS_6 = Chain(6, Move(0.3, 0.3, stay=0.1, windfall=0.3), 0.2, start=3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"engine": "leap"}, "engine = 'leap' was given with a Chain"),
        ({"engine": "draw"}, "engine = 'draw' was given with a Chain"),
        ({"splitting": True, "replicas": 1000}, "splitting was given with a Chain"),
        ({"regret": "by-start"}, "regret = 'by-start' was given with a Chain"),
        ({"pooled": True}, "it must be False, or True where there are Groups"),
        ({"learners": "ucb1-policies"}, "it plays a Problem alone"),
        ({"problem": 4}, "it must be a Problem, a Chain, a Drift or Groups"),
        ({"problem": Chain(4, [Move(0.5, 0.5)] * 2, 0.3)}, "one of each to be played"),
        ({"problem": Chain(4, Move(0.0, 0.0, stay=1.0), 0.3)}, "may go on for ever"),
        ({"problem": Chain(64, Move(0.5, 0.5), 0.3)}, "at most 63"),
        ({"problem": Drift([(1, PROBLEM)]), "learners": "oracle"}, "needs the probabilities"),
        ({"problem": Drift([(1, PROBLEM)]), "rounds": 10**8}, "at most 10,000,000"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    asked: Any = {"problem": GOALS, "learners": "getbe-sm", "rounds": 10, "replicas": 2}
    with pytest.raises(grbp.GrbpError, match=sentence) as refusal:
        simulate(**asked | given)
    assert "\n" not in str(refusal.value)


def test_learners_by_state_on_a_problem_are_walked_alone() -> None:
    with pytest.raises(grbp.InvalidInput, match="was given with psrl"):
        simulate(PROBLEM, ["psrl"], 10, 2, engine="leap")
    result = simulate(PROBLEM, [*BOTH, "getbe-ps:memory=500"], 5000, 3)
    assert list(result.engines.values()) == ["leap", "walk", "walk"]
    same(simulate(PROBLEM, "getbe-ps", 5000, 3), simulate(PROBLEM, ["getbe-ps"], 5000, 3))


def test_results_of_any_truth_are_tables_and_pictures() -> None:
    optional("matplotlib")
    wards = Groups({"north $": PROBLEM, "south": HOPS})
    for world in (GOALS, HOPS, Drift([(1, GOALS), (9, GOALS)], "sine"), wards):
        result = simulate(world, BOTH, 20, 4)
        rows = list(result.rows())
        assert {row[0] for row in rows} == {world.goal}
        assert len(repr(result).splitlines()) == 3
        assert result.plot() is not None
        assert "psrl" in result._repr_html_()


@pytest.mark.parametrize(
    "world",
    [PROBLEM, GOALS, HOPS, Drift([(1, GOALS), (9, GOALS)], "sine"), Groups({"a": HOPS})],
    ids=["problem", "chain", "hops", "drift", "groups"],
)
def test_a_truth_is_read_back_from_plain_data(world: Any) -> None:
    again = from_plain(world.to_plain())
    assert type(again) is type(world)
    for name in BOTH:
        one, other = (simulate(x, name, 50, 10, engine="walk").curves[name] for x in (world, again))
        np.testing.assert_allclose(one.final, other.final, atol=1e-9)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (4, "it must be a table of keys"),
        ({"goal": 4, "p_c": 0.5}, "the key 'p_f' is missing"),
        ({"goal": 4, "p_c": 0.5, "p_f": 0.3, "stya": 0.1}, "did you mean 'stay'"),
        (
            {"goal": 4, "p_c": [0.5, 0.5], "p_f": 0.3},
            "p_c has shape",
        ),
        ({"goal": 4, "p_c": [0.5, 0.5, 2.0], "p_f": 0.3}, "p_c"),
        ({"goal": 4, "p_c": 0.5, "p_f": 0.3, "stay": 0.8, "windfall": 0.3}, "sum to 1.1"),
        (
            {"goal": 4, "p_c": 0.5, "p_f": 0.3, "jumps": [[0.1]]},
            "one for every pair of states",
        ),
        ({"stages": 4}, "it must be a list"),
        ({"stages": [{"goal": 4}]}, "it must have the key round"),
        ({"groups": {"a": {"groups": {}}}}, "within groups|must be a dict"),
        ({"goal": 4, "p_c": "high", "p_f": 0.3}, "p_c"),
        ({"goal": 4, "p_c": 0.5, "p_f": 0.3, "start": {"x": 1.0}}, "the start state"),
    ],
)
def test_plain_data_that_describe_no_truth_are_refused(data: Any, sentence: str) -> None:
    with pytest.raises(grbp.InvalidInput, match=sentence) as refusal:
        from_plain(data)
    assert "\n" not in str(refusal.value)
