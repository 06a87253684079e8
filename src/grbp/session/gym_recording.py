"""Record the rounds that are played in an environment as a table of cases."""

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import Env, Wrapper
from gymnasium.utils import RecordConstructorArgs

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Ints
from grbp.session.gym_rounds import GamblersRuinEnv
from grbp.worlds.step_table import STEP_COLUMNS, write_steps


class RecordSteps(Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Record every step of every round, as the table of cases that `simulate --steps` writes.

    The rounds are played as they would be without it. A round that is truncated or abandoned
    stays in the table with the steps that it had: its case is open.

    Parameters
    ----------
    env : gymnasium.Env
        A `GamblersRuinEnv`, which may be inside other wrappers. What is recorded are its own
        states and actions, whatever those wrappers show of them.

    Raises
    ------
    InvalidInput
        If there is another environment inside.

    Examples
    --------
    >>> import gymnasium
    >>> from grbp.env import RecordSteps
    >>> env = RecordSteps(gymnasium.make("grbp.env:grbp/GamblersRuin-v0", goal=4))
    >>> for seed in (1, 2):
    ...     state, _ = env.reset(seed=seed)
    ...     over = False
    ...     while not over:
    ...         state, _, over, _, _ = env.step(int(state <= 1))
    >>> for row in zip(*env.columns.values()):
    ...     print(*row)
    1 1 2 0 1
    1 2 1 1 4
    2 1 1 1 4
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GamblersRuinEnv):
            raise InvalidInput(
                f"an environment of type {type(env.unwrapped).__name__} was given; steps are"
                " recorded of a GamblersRuinEnv"
            )
        self._round: GamblersRuinEnv = env.unwrapped
        self._case = 0
        self._rows: list[tuple[int, ...]] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new round, which is the next case."""
        answer = self.env.reset(seed=seed, options=options)
        self._case += 1
        return answer

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action, and record the step."""
        state, slot, _ = self._round._place()
        answer = self.env.step(action)
        after, now, taken = self._round._place()
        if now == slot + 1:
            self._rows.append((self._case, now, state, taken, after))
        elif now == 0:  # A wrapper inside has started the next round instead.
            self._case += 1
        else:
            raise InvalidInput(
                f"a wrapper inside took {now - slot} steps at once; record steps inside of it"
            )
        return answer

    @property
    def columns(self) -> dict[str, Ints]:
        """The steps so far, as the columns case, step, state, action and next_state."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, len(STEP_COLUMNS))
        return dict(zip(STEP_COLUMNS, rows.T, strict=True))

    def write(self, path: str | Path) -> Path:
        """Write the steps so far to a CSV file.

        Parameters
        ----------
        path : str or Path
            The file. On failure, whatever was there before stays.

        Returns
        -------
        Path

        Raises
        ------
        CannotWrite
            If the file cannot be written.
        """
        return write_steps(Path(path), [self.columns])
