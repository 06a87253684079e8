"""The Gymnasium environments: laws they obey, what they equal, what they refuse."""

import copy
import itertools
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from environments import ID, PROBLEMS, refuses, same
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from scipy import stats

import grbp
from grbp.env import GamblersRuinEnv, GamblersRuinVectorEnv
from grbp.errors import InvalidInput
from grbp.theory import round_length, values
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Action, next_state
from grbp.worlds.validation import LARGEST_GOAL

STATES_4 = (1, 2, 3)


class Rigged(np.random.Generator):
    """A generator that gives the draws it was told to."""

    def __init__(self, draws: Sequence[float]) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws: Iterator[float] = iter(draws)

    def random(self, *_args: Any, **_kwargs: Any) -> Any:
        return next(self._draws)


def play(env: GamblersRuinEnv, threshold: int) -> tuple[float, int]:
    """The reward and the number of slots of one round under a threshold."""
    state, _ = env.reset()
    reward, over = 0.0, False
    while not over:
        state, gained, over, _, info = env.step(state <= threshold)
        reward += gained
    return reward, info["slot"]


# Gymnasium's own demands


@pytest.mark.parametrize("render_mode", [None, "ansi"])
@pytest.mark.parametrize("arguments", PROBLEMS)
def test_gymnasium_checker_has_nothing_to_say(
    arguments: dict[str, Any], render_mode: str | None
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(ID, render_mode=render_mode, **arguments).unwrapped)
        # Without a spec the checker cannot make another one to try the render modes on.
        bare = GamblersRuinEnv(render_mode=render_mode, **arguments)
        check_env(bare, skip_render_check=True)


@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_made_environment_runs_through_every_wrapper_without_a_warning(
    render_mode: str | None,
) -> None:
    env = gym.make(ID, goal=5, render_mode=render_mode)
    env.reset(seed=0)
    for _ in range(200):
        over = env.step(env.action_space.sample())[2]
        assert isinstance(env.render(), str) == (render_mode == "ansi")
        if over:
            env.reset()


def test_arguments_become_the_problem() -> None:
    want = Problem(7, 0.55, 0.1, {1: 0.25, 5: 0.75})
    env = gym.make(ID, **PROBLEMS[3]).unwrapped
    envs = gym.make_vec(ID, num_envs=2, **PROBLEMS[3]).unwrapped
    assert isinstance(env, GamblersRuinEnv)
    assert isinstance(envs, GamblersRuinVectorEnv)
    assert env.problem == envs.problem == want
    assert GamblersRuinEnv().problem == GamblersRuinVectorEnv().problem == Problem(4, 0.45, 0.3)


# The law of a round


@pytest.mark.parametrize("arguments", PROBLEMS)
def test_every_step_obeys_the_rules_of_the_problem(arguments: dict[str, Any]) -> None:
    env = GamblersRuinEnv(**arguments)
    goal = env.problem.goal
    possible = 1 + np.flatnonzero(env.problem.start_probabilities)
    chooser = np.random.default_rng(1)
    for round_ in range(300):
        state, info = env.reset(seed=1 if round_ == 0 else None)
        assert state in possible
        assert info == {"slot": 0, "start": state}
        first, over = state, False
        for slot in itertools.count(1):
            before, action = state, int(chooser.integers(2))
            state, reward, over, truncated, info = env.step(action)
            assert type(state) is np.int64
            assert state in ((0, goal) if action == Action.FINISH else (before - 1, before + 1))
            assert over == (state in (0, goal))
            assert reward == (1.0 if state == goal else 0.0)
            assert truncated is False
            assert info == {"slot": slot, "start": first}
            if over:
                break


@pytest.mark.parametrize("state", [1, 2, 5, 6])
def test_certain_outcomes(state: int) -> None:
    for p_c, p_f, threshold, won, slots in [
        (1.0, 0.0, 0, 1.0, 7 - state),
        (0.0, 1.0, 0, 0.0, state),
        (0.0, 1.0, 6, 1.0, 1),
        (1.0, 0.0, 6, 0.0, 1),
    ]:
        env = GamblersRuinEnv(goal=7, p_c=p_c, p_f=p_f, start=state)
        assert [play(env, threshold) for _ in range(20)] == [(won, slots)] * 20


@pytest.mark.parametrize("arguments", PROBLEMS)
def test_a_reset_and_a_step_take_one_draw_each(arguments: dict[str, Any]) -> None:
    env = GamblersRuinEnv(**arguments)
    problem = env.problem
    draw = seeding.np_random(7)[0].random
    cumulative = list(itertools.accumulate(problem.start_probabilities.tolist()))
    chooser = np.random.default_rng(7)
    for round_ in range(200):
        u = draw()
        state = 1 + next(i for i, total in enumerate(cumulative) if total > u)
        assert env.reset(seed=7 if round_ == 0 else None)[0] == state
        while 0 < state < problem.goal:
            action = int(chooser.integers(2))
            state = next_state(state, action, problem.goal, problem.p_c, problem.p_f, draw())
            assert env.step(action)[0] == state


@pytest.mark.parametrize("threshold", [0, 1])
@pytest.mark.parametrize(
    "arguments",
    [
        {"goal": 4, "p_c": 0.65, "p_f": 0.3},
        {"goal": 4, "p_c": 0.45, "p_f": 0.3},
        {"goal": 6, "p_c": 0.5, "p_f": 0.2, "start": {1: 0.7, 4: 0.3}},
    ],
)
def test_frequencies_agree_with_the_exact_answers(
    arguments: dict[str, Any], threshold: int
) -> None:
    env = GamblersRuinEnv(**arguments)
    env.reset(seed=2026)
    rewards, slots = np.array([play(env, threshold) for _ in range(8000)]).T
    for sample, mean in [
        (rewards, values.value(env.problem, threshold)),
        (slots, round_length.expected_slots(env.problem, threshold)),
    ]:
        error = sample.std(ddof=1) / math.sqrt(len(sample))
        assert abs(sample.mean() - mean) < 4 * error


@pytest.mark.parametrize("start", ["uniform", {2: 0.05, 3: 0.6, 7: 0.35}])
def test_first_states_have_the_start_distribution(start: Any) -> None:
    env = GamblersRuinEnv(goal=9, start=start)
    env.reset(seed=3)
    counts = np.bincount([env.reset()[0] for _ in range(20_000)], minlength=10)
    q = np.concatenate(([0.0], env.problem.start_probabilities, [0.0]))
    assert counts[q == 0.0].sum() == 0
    assert stats.chisquare(counts[q > 0.0], 20_000 * q[q > 0.0]).pvalue > 0.001


def test_no_draw_gives_a_first_state_that_cannot_happen() -> None:
    # Ten tenths add up to less than one, so the largest draw lies above their sum.
    tenths = dict.fromkeys(range(2, 12), 0.1)
    env = GamblersRuinEnv(goal=13, start=tenths)
    largest = np.nextafter(1.0, 0.0)
    assert np.cumsum(env.problem.start_probabilities)[-1] <= largest
    draws = [0.0, np.nextafter(0.0, 1.0), *np.linspace(0.0, 1.0, 1000)[1:-1], largest]
    env.np_random = Rigged(draws)
    envs = GamblersRuinVectorEnv(num_envs=len(draws), goal=13, start=tenths)
    envs.reset(seed=0)
    envs._random = [(Rigged([draw]), -1) for draw in draws]
    states = [int(env.reset()[0]) for _ in draws]
    assert states == sorted(states)
    assert set(states) == set(tenths)
    assert envs.reset()[0].tolist() == states


def test_a_draw_equal_to_a_cumulative_probability_belongs_to_the_next_state() -> None:
    env = GamblersRuinEnv(goal=6, start={1: 0.25, 2: 0.25, 5: 0.5})
    edges = [0.0, 0.25, 0.5]
    env.np_random = Rigged([*edges, *(np.nextafter(edge, 0.0) for edge in edges[1:])])
    assert [int(env.reset()[0]) for _ in range(5)] == [1, 2, 5, 1, 2]


# Equalities


def test_same_seed_same_trajectory_and_another_seed_another() -> None:
    def trajectory(seed: int) -> list[Any]:
        env = GamblersRuinEnv(goal=8, p_c=0.5)
        seen: list[Any] = [env.reset(seed=seed)]
        for _ in range(500):
            seen.append(env.step(0))
            if seen[-1][2]:
                seen.append(env.reset())
        return seen

    assert trajectory(11) == trajectory(11)
    assert trajectory(11) != trajectory(12)


def test_a_copy_goes_on_as_the_original_does() -> None:
    env = GamblersRuinEnv(goal=50, p_c=0.5, start=25)
    env.reset(seed=5)
    env.step(0)
    twin = copy.deepcopy(env)
    assert [env.step(0) for _ in range(20)] == [twin.step(0) for _ in range(20)]


# What a user does with it


def test_time_limit_is_truncation_and_not_termination() -> None:
    env = gym.make(ID, goal=100, p_c=0.5, start=50, max_episode_steps=10)
    env.reset(seed=0)
    ends = [env.step(Action.CONTINUE)[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]


def test_an_option_starts_the_round_in_any_state_and_takes_no_draw() -> None:
    env = GamblersRuinEnv(start=1)
    envs = GamblersRuinVectorEnv(num_envs=3, start=1)
    for state in (1, 2, np.int64(3)):
        assert env.reset(seed=1, options={"state": state}) == (state, {"slot": 0, "start": state})
        assert env.np_random.random() == seeding.np_random(1)[0].random()
        assert envs.reset(options={"state": state})[0].tolist() == [state] * 3
    assert env.reset()[0] == 1


@pytest.mark.parametrize("goal", [2, 4, 16, 17, 23, 1000, LARGEST_GOAL])
def test_picture_shows_the_state_and_fits_a_line(goal: int) -> None:
    env = GamblersRuinEnv(goal=goal, start=1, p_f=1.0, render_mode="ansi")
    near = range(1, min(goal, 30))
    for state in {*near, *(goal - s for s in near), goal // 2}:
        env.reset(options={"state": state})
        line = env.render()
        assert line is not None
        assert re.findall(r"\[(\d+)\]", line) == [str(state)]
        assert re.match(rf"0 .* {goal}  slot 0, no action yet$", line)
        assert len(line) <= 80
    env.step(Action.FINISH)
    assert str(env.render()).endswith(f"[{goal}]  slot 1, last action FINISH")


def test_picture_of_a_small_problem_has_a_mark_for_every_state() -> None:
    env = GamblersRuinEnv(goal=4, p_c=1.0, start=1, render_mode="ansi")
    env.reset()
    lines = [env.render()]
    for _ in range(3):
        env.step(Action.CONTINUE)
        lines.append(env.render())
    assert lines == [
        "0 [1] . . 4  slot 0, no action yet",
        "0 . [2] . 4  slot 1, last action CONTINUE",
        "0 . . [3] 4  slot 2, last action CONTINUE",
        "0 . . . [4]  slot 3, last action CONTINUE",
    ]


def test_nothing_is_drawn_without_a_render_mode() -> None:
    assert GamblersRuinEnv().render() is None
    assert GamblersRuinVectorEnv().render() is None


@pytest.mark.parametrize(("p_c", "threshold"), [(0.65, 0), (0.45, 1)])
def test_q_learning_finds_the_optimal_policy(p_c: float, threshold: int) -> None:
    env = GamblersRuinEnv(goal=4, p_c=p_c, p_f=0.3)
    assert values.optimal_threshold(env.problem) == threshold
    chooser = np.random.default_rng(0)
    q = [[0.0, 0.0] for _ in range(5)]
    visits = [[0, 0] for _ in range(5)]
    state, _ = env.reset(seed=0)
    for action in chooser.integers(2, size=60_000).tolist():
        after, reward, over, _, _ = env.step(action)
        visits[state][action] += 1
        rate = visits[state][action] ** -0.8
        q[state][action] += rate * (reward + max(q[after]) - q[state][action])
        state = env.reset()[0] if over else after
    best = values.q_at(env.problem, threshold)
    assert np.abs(np.array(q[1:4]) - best).max() < 0.04
    for s in STATES_4:
        ahead = q[s][Action.FINISH] - q[s][Action.CONTINUE]
        assert (ahead if s <= threshold else -ahead) > 0.06


# Refusals


@pytest.mark.parametrize("make", [GamblersRuinEnv, GamblersRuinVectorEnv])
def test_bad_arguments_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^goal = 1 was given"):
        make(goal=1)
    with pytest.raises(InvalidInput, match=r"^p_c = 1\.5 was given"):
        make(p_c=1.5)
    with pytest.raises(InvalidInput, match=r"^the start state = 4 was given"):
        make(start=4)
    with refuses("render_mode = 'human' was given; it must be None or 'ansi'"):
        make(render_mode="human")


@pytest.mark.parametrize("make", [GamblersRuinEnv, GamblersRuinVectorEnv])
def test_nothing_can_be_done_before_the_first_reset(make: Any) -> None:
    env = make(render_mode="ansi")
    with refuses("step() was called with no round under way; call reset() first"):
        env.step([0])
    with refuses("render() was called before the first round; call reset() first"):
        env.render()


def test_a_step_after_the_end_is_refused_until_a_reset() -> None:
    for p_f in (0.0, 1.0):
        env = gym.make(ID, p_f=p_f)
        env.reset(seed=0)
        assert env.step(Action.FINISH)[2]
        for _ in range(2):
            with refuses("step() was called with no round under way; call reset() first"):
                env.step(Action.FINISH)
        env.reset()
        assert env.step(Action.FINISH)[2]


@pytest.mark.parametrize("action", [2, -1, 0.0, 1.0, "1", None, np.array([1]), np.int64(2)])
def test_bad_action_is_refused_and_changes_nothing(action: Any) -> None:
    env = GamblersRuinEnv()
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    with refuses(f"action = {action!r} was given; it must be 0 (continue) or 1 (finish)"):
        env.step(action)
    assert env.step(0) == twin.step(0)


@pytest.mark.parametrize("action", [1, True, np.True_, np.uint8(1), np.array(1), Action.FINISH])
def test_every_form_of_the_number_one_finishes(action: Any) -> None:
    env = GamblersRuinEnv(p_f=1.0)
    env.reset(seed=0)
    assert int(env.step(action)[0]) == 4
    envs = GamblersRuinVectorEnv(num_envs=2, p_f=1.0)
    envs.reset(seed=0)
    assert envs.step([action, action])[0].tolist() == [4, 4]


@pytest.mark.parametrize("make", [GamblersRuinEnv, GamblersRuinVectorEnv])
@pytest.mark.parametrize("state", [0, 4, -1, 1.0, "2", None, True, np.array([1, 2])])
def test_bad_first_state_is_refused_and_changes_nothing(make: Any, state: Any) -> None:
    env = make()
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    with refuses(
        f"the reset option state = {state!r} was given; it must be a whole number from 1 to 3"
    ):
        env.reset(seed=1, options={"state": state})
    assert same(env.reset(), twin.reset())


def test_unknown_options_are_refused() -> None:
    with refuses("the reset option 'slot' was given; it must be state"):
        GamblersRuinEnv().reset(options={"slot": 1})
    with refuses("the reset option 'slot' was given; it must be state or reset_mask"):
        GamblersRuinVectorEnv().reset(options={"state": 1, "slot": 1})


CHAINS: dict[str, Any] = {
    "chain": grbp.Chain(5, grbp.Move([0.3, 0.5, 0.6, 0.7], [0.7, 0.5, 0.4, 0.3]), 0.4, start=2),
    "hops": grbp.Chain(
        4,
        grbp.Move(0.3, 0.2, 0.1, 0.1, 0.1, jumps=[[0, 0, 0.2], [0.1, 0.1, 0], [0.2, 0, 0]]),
        [0.2, 0.4, 0.6],
    ),
}
CHAINS["drift"] = grbp.Drift([(1, CHAINS["chain"]), (9, grbp.Chain.of(Problem(5, 0.5, 0.3, 2)))])
CHAINS["groups"] = grbp.Groups({"a": CHAINS["hops"], "b": Problem(4, 0.5, 0.3)})


@pytest.mark.parametrize("world", CHAINS.values(), ids=CHAINS)
def test_other_truths_pass_the_checks_of_gymnasium(world: Any) -> None:
    check_env(gym.make(ID, problem=world).unwrapped, skip_render_check=True)


def test_chains_are_stepped_as_the_engine_steps() -> None:
    env = GamblersRuinEnv(problem=CHAINS["hops"])
    law, seen = CHAINS["hops"].law, np.zeros((3, 5))
    env.reset(seed=4)
    for _ in range(6000):
        state, _ = env.reset()
        after = env.step(0)[0]
        seen[state - 1, after] += 1.0
    stay = 1.0 - law.sum(axis=1)
    law = law.copy()
    law[np.arange(3), np.arange(1, 4)] += stay
    share = seen / seen.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(share, law, atol=0.05)
    assert (seen[law == 0.0] == 0.0).all()


def test_the_rounds_of_a_drift_are_counted_from_the_last_seed() -> None:
    never, always = Problem(4, 0.5, 0.0), Problem(4, 0.5, 1.0)
    env = GamblersRuinEnv(problem=grbp.Drift([(1, never), (3, always)], "jumps"))
    for _ in range(2):
        won = []
        for k in range(4):
            env.reset(seed=5 if k == 0 else None)
            won.append(env.step(1)[1])
        assert won == [0.0, 0.0, 1.0, 1.0]


def test_a_round_of_groups_has_a_group_that_may_be_chosen() -> None:
    env = GamblersRuinEnv(problem=CHAINS["groups"])
    env.reset(seed=1)
    drawn = [env.reset()[1]["group"] for _ in range(400)]
    assert 150 < drawn.count("a") < 250
    assert env.reset(options={"group": "b"})[1]["group"] == "b"
    with pytest.raises(InvalidInput, match="must be one of a, b"):
        env.reset(options={"group": "c"})
    with pytest.raises(InvalidInput, match="reset option 'group'"):
        GamblersRuinEnv().reset(options={"group": "a"})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (4, "must be a Problem, a Chain, a Drift or Groups"),
        (grbp.Chain(4, grbp.Move(0.0, 0.0, stay=1.0), 0.3), "may go on for ever"),
        (grbp.Chain(4, [grbp.Move(0.5, 0.5)] * 2, 0.3), "one of each"),
    ],
)
def test_what_is_no_truth_to_play_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        GamblersRuinEnv(problem=given)
