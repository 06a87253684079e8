"""The vector environment: it equals single ones and Gymnasium's own, and what it refuses."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from environments import ID, PROBLEMS, WORLDS, refuses, same
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from grbp.env import GamblersRuinEnv, GamblersRuinVectorEnv
from grbp.worlds.transition import Action


def stacked(answers: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The answers of single environments in the form of a vector environment."""
    *parts, infos = zip(*answers, strict=True)
    everyone = np.ones(len(answers), dtype=bool)
    together: dict[str, Any] = {}
    for key in infos[0]:
        kind = object if key == "group" else None
        shown = np.array([info[key] for info in infos], dtype=kind)
        together |= {key: shown, f"_{key}": everyone}
    return (*map(np.array, parts), together)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [*PROBLEMS, *WORLDS])
def test_vector_environment_equals_single_ones(arguments: dict[str, Any]) -> None:
    count = 7
    envs = GamblersRuinVectorEnv(num_envs=count, render_mode="ansi", **arguments)
    singles = [GamblersRuinEnv(render_mode="ansi", **arguments) for _ in range(count)]
    chooser = np.random.default_rng(8)
    first = [env.reset(seed=100 + i) for i, env in enumerate(singles)]
    assert same(envs.reset(seed=100), stacked(first))
    over, rounds = [False] * count, 0
    for _ in range(3000):
        actions = chooser.integers(2, size=count)
        answers: list[tuple[Any, ...]] = []
        for env, action, ended in zip(singles, actions, over, strict=True):
            if ended:
                state, info = env.reset()
                answers.append((state, 0.0, False, False, info))
            else:
                answers.append(env.step(action))
        assert same(envs.step(actions), stacked(answers))
        assert envs.render() == tuple(env.render() for env in singles)
        over = [answer[2] for answer in answers]
        rounds += sum(over)
    assert rounds > 1000


@pytest.mark.parametrize("arguments", [*PROBLEMS, *WORLDS])
def test_vector_environment_equals_gymnasiums_own_vectorisation(
    arguments: dict[str, Any],
) -> None:
    ours: Any = gym.make_vec(ID, num_envs=5, **arguments)
    theirs: Any = gym.make_vec(ID, num_envs=5, vectorization_mode="sync", **arguments)
    assert isinstance(ours, GamblersRuinVectorEnv)
    assert isinstance(theirs, SyncVectorEnv)
    assert ours.metadata == theirs.metadata
    assert ours.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    for space in (
        "single_observation_space",
        "single_action_space",
        "observation_space",
        "action_space",
    ):
        assert getattr(ours, space) == getattr(theirs, space)
    ours.action_space.seed(4)
    resets: list[dict[str, Any]] = [
        {"seed": 4},
        {},
        {"seed": [9, None, 3, None, 2]},
        {"options": {"state": 1}},
        {"options": {"reset_mask": np.array([True, False, False, True, False])}},
        {"seed": 6, "options": {"reset_mask": np.array([False, True, True, False, False])}},
    ]
    if groups := [name for name in ours.problem.groups if name]:
        mask = np.array([True, True, False, False, False])
        resets += [
            {"options": {"group": groups[1]}},
            {"options": {"group": groups[0], "state": 1, "reset_mask": mask}},
        ]
    for arguments_ in resets:
        # Gymnasium takes the mask out of the options it is given.
        assert same(ours.reset(**copy.deepcopy(arguments_)), theirs.reset(**arguments_))
        assert ours.np_random_seed == theirs.np_random_seed
        for _ in range(100):
            actions = ours.action_space.sample()
            assert same(ours.step(actions), theirs.step(actions))


def test_answers_of_a_vector_environment_stay_as_they_were_given() -> None:
    envs = GamblersRuinVectorEnv(num_envs=4, goal=30, start=15)
    kept: list[Any] = [envs.reset(seed=0), *(envs.step([0] * 4) for _ in range(5))]
    then = copy.deepcopy(kept)
    envs.step([0] * 4)
    assert all(map(same, kept, then))
    # Nor does it matter to the environment what the user does with them.
    twin = copy.deepcopy(envs)
    states, infos = envs.step([0] * 4)[0::4]
    for array in (states, *infos.values()):
        array[...] = 1
    twin.step([0] * 4)
    assert same(envs.step([0] * 4), twin.step([0] * 4))


# Refusals


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None, True])
def test_bad_number_of_sub_environments_is_refused(count: Any) -> None:
    with refuses(f"num_envs = {count!r} was given; it must be a whole number from 1 to 10,000,000"):
        GamblersRuinVectorEnv(num_envs=count)


def test_bad_worlds_and_groups_are_refused() -> None:
    with refuses("4 was given; it must be a Problem, a Chain, a Drift or Groups of them"):
        GamblersRuinVectorEnv(problem=4)  # type: ignore[arg-type]
    envs = GamblersRuinVectorEnv(num_envs=2, **WORLDS[-1])
    with refuses("the reset option group = 'east' was given; it must be one of still, rising"):
        envs.reset(options={"group": "east"})
    with refuses("the reset option 'group' was given; it must be state or reset_mask"):
        GamblersRuinVectorEnv().reset(options={"group": "east"})


@pytest.mark.parametrize("actions", [0, [0], [0, 0, 0], [0, 2], [0, -1], [0.0, 1.0], [[0, 1]]])
def test_bad_actions_are_refused_and_change_nothing(actions: Any) -> None:
    envs = GamblersRuinVectorEnv(num_envs=2)
    envs.reset(seed=0)
    twin = copy.deepcopy(envs)
    with refuses(
        f"actions = {actions!r} was given; it must be 2 actions, each 0 (continue) or 1 (finish)"
    ):
        envs.step(actions)
    assert same(envs.step([0, 0]), twin.step([0, 0]))


def test_the_action_for_a_round_that_is_over_is_ignored() -> None:
    envs = GamblersRuinVectorEnv(num_envs=2, goal=50, start=25)
    envs.reset(seed=0)
    assert envs.step([Action.FINISH, Action.CONTINUE])[2].tolist() == [True, False]
    states, _, _, _, infos = envs.step([-1, Action.CONTINUE])
    assert states[0] == 25
    assert infos["slot"].tolist() == [0, 2]


@pytest.mark.parametrize("seed", [[1], [1, 2, 3], 1.5])
def test_bad_seeds_are_refused(seed: Any) -> None:
    with refuses(
        f"seed = {seed!r} was given; it must be None, one whole number, or 2 of them, one for"
        " every sub-environment"
    ):
        GamblersRuinVectorEnv(num_envs=2).reset(seed=seed)


@pytest.mark.parametrize("mask", [True, [True, False], np.array([1, 0]), np.zeros(2, dtype=bool)])
def test_bad_masks_are_refused(mask: Any) -> None:
    envs = GamblersRuinVectorEnv(num_envs=2)
    with refuses(
        f"the reset option reset_mask = {mask!r} was given; it must be an array of 2 truth"
        " values, at least one of them True"
    ):
        envs.reset(options={"reset_mask": mask})
    with refuses(
        "the reset option reset_mask was given before the first reset; reset every"
        " sub-environment once without it"
    ):
        envs.reset(options={"reset_mask": np.array([True, False])})
