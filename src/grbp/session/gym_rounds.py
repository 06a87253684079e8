"""One round an episode: alone, or many side by side.

Neither environment knows what a decision costs; `grbp.experiments.regret` does.
"""

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, SupportsIndex

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Ints
from grbp.worlds.course import as_course
from grbp.worlds.problem import Problem
from grbp.worlds.round_chances import Chances
from grbp.worlds.start import StartLike
from grbp.worlds.transition import DEAD_END, Action, first_state
from grbp.worlds.validation import check_whole
from grbp.worlds.world import World, check_world

MOST_ENVS: Final = 10_000_000
"""The largest number of sub-environments side by side."""

_NO_ACTION: Final = -1
"""The last action before there is one."""

_DRAWN_WHOLE: Final = 16
"""The largest goal for which every state is drawn; of more, only those near the present one."""

_NEAR: Final = 3
"""How many states are drawn on each side where not all are."""

_next_states = np.frompyfunc(Chances.next_state, 4, 1)
"""`Chances.next_state` over arrays, so that the transition is not written a second time."""


class GamblersRuinEnv(Env[np.int64, SupportsIndex | np.bool_]):
    """One round of the problem as an episode.

    The observation is the state, from 0 (the dead end) to `goal`; action 0 continues and
    action 1 finishes (`Action`). The reward is 1.0 on reaching the goal and 0.0 otherwise, so
    that its mean is the value of the policy. The episode terminates in the states 0 and `goal`
    and is never truncated; ``gymnasium.make(..., max_episode_steps=n)`` adds a limit.

    Parameters
    ----------
    goal, p_c, p_f, start
        The problem; see `Problem`.
    problem : Problem, Chain, Drift or Groups, optional
        What is true, in place of these. The chances of a `Drift` are those of the round, counted
        from the last reset with a seed; a round of `Groups` has a group, which is drawn when it
        starts.
    render_mode : {None, "ansi"}
        With "ansi", `render` returns one line of text.

    Attributes
    ----------
    problem : Problem, Chain, Drift or Groups

    Notes
    -----
    The info holds `slot`, the number of actions taken in this round so far, and `start`, the
    first state of the round; with `Groups` also `group`, its name, which ``reset(options={"group":
    name})`` chooses. ``reset(options={"state": s})`` starts the round in state s. A reset draws one
    uniform number, or none where the state is given, and with `Groups` one before that for the
    group, unless it is given; a step draws one.

    Paper: sec:problem

    Examples
    --------
    >>> from grbp.env import GamblersRuinEnv
    >>> env = GamblersRuinEnv(goal=4, p_c=0.45, p_f=0.3)
    >>> state, info = env.reset(seed=1)
    >>> int(state), info["slot"]
    (2, 0)
    >>> state, reward, terminated, truncated, info = env.step(0)
    >>> int(state), reward, terminated, info["slot"]
    (1, 0.0, False, 1)

    A chain, whose chances differ by state:

    >>> import grbp
    >>> chain = grbp.Chain(6, grbp.Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])
    >>> state, info = GamblersRuinEnv(problem=chain).reset(seed=1)
    >>> int(state)
    3
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012
    observation_space: Discrete
    action_space: Discrete

    def __init__(
        self,
        *,
        goal: int = 4,
        p_c: float = 0.45,
        p_f: float = 0.3,
        start: StartLike = "uniform",
        problem: World | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.problem: Any = _choose_world(problem, goal, p_c, p_f, start)
        self.render_mode = _check_render_mode(render_mode)
        self.observation_space = Discrete(self.problem.goal + 1)
        self.action_space = Discrete(len(Action))
        self._rho, self._group = 0, ""
        # Until the first reset the round counts as over, and no round starts in state 0.
        self._state = self._start = DEAD_END
        self._slot, self._action = 0, _NO_ACTION

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Start a new round; return its first state and its info."""
        asked = _check_options(self.problem, options or {})
        super().reset(seed=seed)
        self._rho = 1 if seed is not None else self._rho + 1
        self._group, self._chances, self._state = _begin(
            self.problem, self._rho, self.np_random, *asked
        )
        self._start, self._slot, self._action = self._state, 0, _NO_ACTION
        return np.int64(self._state), self._info()

    def step(
        self, action: SupportsIndex | np.bool_
    ) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """Take an action; return the state, the reward, whether the round is over, and more."""
        problem = self.problem
        if not 0 < self._state < problem.goal:
            raise InvalidInput("step() was called with no round under way; call reset() first")
        self._action = _check_action(action)
        draw = self.np_random.random()
        self._state = self._chances.next_state(self._state, self._action, draw)
        self._slot += 1
        won = self._state == problem.goal
        over = won or self._state == DEAD_END
        return np.int64(self._state), float(won), over, False, self._info()

    def render(self) -> str | None:
        """Return one line with the states, the present one in brackets; None without a mode."""
        if self.render_mode is None:
            return None
        if self._start == DEAD_END:
            raise InvalidInput("render() was called before the first round; call reset() first")
        return _draw_line(self.problem.goal, self._state, self._slot, self._action)

    def _place(self) -> tuple[int, int, int]:
        """Return the state, the number of actions in this round so far, and the last of them."""
        return self._state, self._slot, self._action

    def _info(self) -> dict[str, Any]:
        known = {"group": self._group} if self._group else {}
        return {"slot": self._slot, "start": self._start, **known}


def _begin(
    world: World, rho: int, random: np.random.Generator, state: int | None = None, group: str = ""
) -> tuple[str, Chances, int]:
    """Begin a round: return its group, if there are some, its chances and its first state.

    Group and state are drawn unless they are given.
    """
    if group not in world.groups:
        shares = np.cumsum([*world.group_shares])
        group = [*world.groups][first_state(np.arange(len(shares)), shares, random.random())]
    truth = world.groups[group]
    if state is None:
        state = first_state(*truth.stages[0][1].start_table, random.random())
    return group, truth.chances(rho), state


class GamblersRuinVectorEnv(VectorEnv[Ints, ArrayLike, NDArray[Any]]):
    """Many rounds side by side, equal bit for bit to as many `GamblersRuinEnv`.

    Parameters
    ----------
    num_envs : int
        The number of sub-environments.
    goal, p_c, p_f, start, problem, render_mode
        The same for all of them; see `GamblersRuinEnv`. Each counts the rounds of a `Drift`, and
        draws the groups of `Groups`, for itself.

    Notes
    -----
    Each sub-environment has its own generator. ``reset(seed=n)`` seeds them with n, n + 1, ...;
    a list seeds each with its own entry, and one whose entry is None goes on as it is. A round
    that ended is followed by a new one in the next step, which ignores the action for it
    (Gymnasium's NEXT_STEP). The infos are arrays, `slot` and `start`, with the masks `_slot` and
    `_start`; with `Groups` also `group`, with the mask `_group`.

    ``reset(options={"state": s})`` starts every round in state s, and ``{"reset_mask": mask}``
    restarts only some of them. There is no truncation, so `gymnasium.make_vec` takes
    `max_episode_steps` only together with ``vectorization_mode="sync"``.

    Examples
    --------
    >>> from grbp.env import GamblersRuinVectorEnv
    >>> envs = GamblersRuinVectorEnv(num_envs=3, goal=4, p_c=0.45, p_f=0.3)
    >>> states, infos = envs.reset(seed=1)
    >>> states.tolist()
    [2, 1, 1]
    >>> envs.step([0, 1, 1])[0].tolist()
    [1, 4, 4]

    Two wards, each with chances of its own:

    >>> import grbp
    >>> wards = {"north": grbp.Problem(4, 0.45, 0.3), "south": grbp.Problem(4, 0.65, 0.3)}
    >>> envs = GamblersRuinVectorEnv(num_envs=3, problem=grbp.Groups(wards))
    >>> envs.reset(seed=1)[1]["group"].tolist()
    ['south', 'north', 'north']
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        **GamblersRuinEnv.metadata,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(  # noqa: PLR0913 (as Gymnasium passes them)
        self,
        *,
        num_envs: int = 1,
        goal: int = 4,
        p_c: float = 0.45,
        p_f: float = 0.3,
        start: StartLike = "uniform",
        problem: World | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = count = check_whole("num_envs", num_envs, 1, MOST_ENVS)
        self.problem: Any = _choose_world(problem, goal, p_c, p_f, start)
        self.render_mode = _check_render_mode(render_mode)
        self.single_observation_space = Discrete(self.problem.goal + 1)
        self.single_action_space = Discrete(len(Action))
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._random: list[tuple[np.random.Generator, int]] = []
        self._state, self._start, self._slot, self._rho = np.zeros((4, count), dtype=np.int64)
        self._group, self._chances = np.full((2, count), None, dtype=object)
        self._action: Ints = np.full(count, _NO_ACTION, dtype=np.int64)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Return the generator of every sub-environment; none before the first reset."""
        return tuple(generator for generator, _ in self._random)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Return the seed of every sub-environment; none before the first reset."""
        return tuple(seed for _, seed in self._random)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Ints, dict[str, Any]]:
        """Start new rounds; return their first states and their infos."""
        asked = _check_options(self.problem, options or {}, "reset_mask")
        mask, seeds = self._check_mask(options or {}), self._check_seeds(seed)
        self._random = self._make_generators(seeds, mask)
        self._rho[mask & [seed is not None for seed in seeds]] = 0
        self._start_rounds(mask, *asked)
        return self._state.copy(), self._infos(mask)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Ints, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take an action in each; return the states, the rewards, which are over, and more."""
        ended = self._is_over()
        chosen, on = self._check_actions(actions, ended), ~ended
        draws = np.array([self._random[i][0].random() for i in np.flatnonzero(on)])
        self._state[on] = _next_states(self._chances[on], self._state[on], chosen[on], draws)
        self._action, self._slot = chosen, self._slot + 1
        self._start_rounds(ended)
        rewards = (self._state == self.problem.goal).astype(np.float64)
        everyone = np.ones(self.num_envs, dtype=np.bool_)
        return self._state.copy(), rewards, self._is_over(), ~everyone, self._infos(everyone)

    def render(self) -> tuple[str, ...] | None:
        """Return one line for each, as `GamblersRuinEnv` draws it; None without a mode."""
        if self.render_mode is None:
            return None
        if not self._random:
            raise InvalidInput("render() was called before the first round; call reset() first")
        rows = np.column_stack((self._state, self._slot, self._action)).tolist()
        return tuple(_draw_line(self.problem.goal, *row) for row in rows)

    def _is_over(self) -> Bools:
        """Return which rounds are over."""
        over: Bools = (self._state == DEAD_END) | (self._state == self.problem.goal)
        return over

    def _start_rounds(self, mask: Bools, state: int | None = None, group: str = "") -> None:
        """Start new rounds where the mask holds, in a state and a group if they are given."""
        self._rho[mask] += 1
        for i in np.flatnonzero(mask):
            self._group[i], self._chances[i], self._state[i] = _begin(
                self.problem, int(self._rho[i]), self._random[i][0], state, group
            )
        self._start[mask], self._slot[mask], self._action[mask] = self._state[mask], 0, _NO_ACTION

    def _infos(self, mask: Bools) -> dict[str, Any]:
        """Return the infos in Gymnasium's form: zero where the mask does not hold."""
        slot, start = np.where(mask, (self._slot, self._start), 0)
        shown: dict[str, Any] = {"slot": slot, "start": start}
        if "" not in self.problem.groups:
            shown["group"] = np.where(mask, self._group, np.array(None))
        infos: dict[str, Any] = {}
        for name, info in shown.items():
            infos |= {name: info, f"_{name}": mask.copy()}
        return infos

    def _make_generators(
        self, seeds: Sequence[int | None], mask: Bools
    ) -> list[tuple[np.random.Generator, int]]:
        """Return the generators: new ones where a seed is given, or where there was none."""
        if not self._random:
            return [seeding.np_random(seed) for seed in seeds]
        return [
            kept if seed is None or not masked else seeding.np_random(seed)
            for kept, seed, masked in zip(self._random, seeds, mask, strict=True)
        ]

    def _check_seeds(self, seed: object) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int):
            return range(seed, seed + self.num_envs)
        if isinstance(seed, Sequence) and len(seed) == self.num_envs:
            return seed
        raise InvalidInput(
            f"seed = {seed!r} was given; it must be None, one whole number, or"
            f" {self.num_envs} of them, one for every sub-environment"
        )

    def _check_mask(self, options: Mapping[str, Any]) -> Bools:
        if "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask = options["reset_mask"]
        whole = isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,)
        if not (whole and mask.dtype == np.bool_ and mask.any()):
            raise InvalidInput(
                f"the reset option reset_mask = {mask!r} was given; it must be an array of"
                f" {self.num_envs} truth values, at least one of them True"
            )
        if not self._random:
            raise InvalidInput(
                "the reset option reset_mask was given before the first reset; reset every"
                " sub-environment once without it"
            )
        return np.array(mask, dtype=np.bool_)

    def _check_actions(self, actions: ArrayLike, ended: Bools) -> Ints:
        """Return the actions as whole numbers, with 0 for those that are ignored; or refuse."""
        if not self._random:
            raise InvalidInput("step() was called with no round under way; call reset() first")
        given = np.asarray(actions)
        if given.shape == (self.num_envs,) and given.dtype.kind in "biu":
            chosen = np.where(ended, 0, given)
            if ((chosen == Action.CONTINUE) | (chosen == Action.FINISH)).all():
                return chosen.astype(np.int64)
        raise InvalidInput(
            f"actions = {actions!r} was given; it must be {self.num_envs} actions, each"
            " 0 (continue) or 1 (finish)"
        )


def _draw_line(goal: int, state: int, slot: int, action: int) -> str:
    """Write the states from 0 to goal, the slot and the action in at most 80 columns."""
    near = goal if goal <= _DRAWN_WHOLE else _NEAR
    low, high = max(state - near, 0), min(state + near, goal)
    marks = ["."] * (high - low + 1)
    if low == 0:
        marks[0] = "0"
    if high == goal:
        marks[-1] = str(goal)
    marks[state - low] = f"[{state}]"
    before = [] if low == 0 else ["0"] if low == 1 else ["0", "..."]
    after = [] if high == goal else [str(goal)] if high == goal - 1 else ["...", str(goal)]
    last = "no action yet" if action == _NO_ACTION else f"last action {Action(action).name}"
    return f"{' '.join(before + marks + after)}  slot {slot}, {last}"


def _check_action(action: object) -> int:
    # A threshold policy, `state <= threshold`, answers with a truth value.
    with suppress(TypeError):
        number = int(action) if isinstance(action, np.bool_) else operator.index(action)  # type: ignore[arg-type]
        if 0 <= number < len(Action):
            return number
    raise InvalidInput(f"action = {action!r} was given; it must be 0 (continue) or 1 (finish)")


def _check_render_mode(render_mode: str | None) -> str | None:
    if render_mode not in (None, "ansi"):
        raise InvalidInput(f"render_mode = {render_mode!r} was given; it must be None or 'ansi'")
    return render_mode


def _choose_world(given: object, *numbers: Any) -> World:
    """Return a truth that was given, or else a problem; refuse what cannot be played."""
    if given is None:
        return Problem(*numbers)
    world = check_world(given)
    as_course(world, 1)  # It refuses a round that may never end.
    return world


def _check_options(
    world: World, options: Mapping[str, Any], *others: str
) -> tuple[int | None, str]:
    """Return the first state and the group that the reset options name, if they do."""
    groups = [name for name in world.groups if name]
    allowed = ("state", *others, *(["group"] * bool(groups)))
    for name in options:
        if name not in allowed:
            raise InvalidInput(
                f"the reset option {name!r} was given; it must be {' or '.join(allowed)}"
            )
    state, group = options.get("state"), options.get("group", "")
    if "group" in options and group not in groups:
        raise InvalidInput(
            f"the reset option group = {group!r} was given; it must be one of {', '.join(groups)}"
        )
    if "state" in options:
        state = check_whole("the reset option state", state, 1, world.goal - 1)
    return state, group
