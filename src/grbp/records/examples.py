"""Synthetic tables of past cases: some satisfy the model, others break one assumption of it.

The argument `size` sets how strongly it is broken. Where a probability changes, the size is that of
the change of its logit, which keeps it between 0 and 1.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from grbp.errors import InvalidInput, TooLarge, did_you_mean
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.step_table import STEP_COLUMNS
from grbp.worlds.transition import DEAD_END
from grbp.worlds.validation import (
    as_seed,
    check_probabilities,
    check_probability,
    check_whole,
)

Kind: TypeAlias = Literal[
    "model", "state", "memory", "cases", "drift", "finish-by-state", "groups", "jumps", "open"
]
"""A kind of synthetic table."""

KINDS: Final[tuple[str, ...]] = get_args(Kind)

SIZES: Final = {
    "model": 0.0,
    "state": 0.5,
    "memory": 0.25,
    "cases": 0.5,
    "drift": 0.5,
    "finish-by-state": 1.0,
    "groups": 0.5,
    "jumps": 0.1,
    "open": 0.2,
}
"""By how much each kind breaks its assumption by default."""

SITES: Final = ("north", "south")
"""The groups of the kind "groups", in turn."""

MOST_CASES: Final = 10_000_000
MOST_STATES: Final = 1000
MOST_ROWS: Final = 20_000_000
"""The largest numbers of cases and of rows, and the largest goal, of a table."""

_LARGEST: Final = 20
"""The largest change of a logit; more would leave nothing to chance."""

_SHARES: Final = ("jumps", "open")
"""The kinds whose size is a share, from 0 to 1."""


def example_records(  # noqa: PLR0913 (each is a separate choice of the user)
    kind: Kind = "model",
    goal: int = 4,
    p_c: float = 0.45,
    p_f: float = 0.3,
    cases: int = 200,
    seed: Any = 0,
    *,
    size: float | None = None,
    finish: Any = None,
    trial: bool = False,
) -> dict[str, Any]:
    """Draw a table of past cases that satisfies the model, or that breaks one assumption.

    Cases start in states drawn uniformly from 1 to goal - 1.

    Parameters
    ----------
    kind : str, default "model"
        What is wrong with the table, and what `size` then means (in brackets, by default):

        - ``"model"``: nothing; there is no size.
        - ``"state"``: p_c differs by state; the change of its logit from the first state to the
          last (0.5).
        - ``"memory"``: after a step up, the logit of p_c is higher by the size, and after a step
          down lower (0.25).
        - ``"cases"``: the logit of p_c differs between cases; its standard deviation (0.5).
        - ``"drift"``: p_c drifts; the change of its logit from the first case to the last (0.5).
        - ``"finish-by-state"``: p_f differs by state; as for "state" (1).
        - ``"groups"``: p_c differs between two sites, in the column ``site``; the difference of
          its logits (0.5).
        - ``"jumps"``: continuing sometimes goes further than one state; how often (0.1).
        - ``"open"``: the last cases came shortly before the end of the study; their share (0.2).
          Of each, at most a number of steps is seen that is drawn uniformly from 1 to goal.
    goal : int, default 4
        The state in which a case is won.
    p_c, p_f : float, default 0.45 and 0.3
        The probabilities that continuing moves up, and that finishing reaches the goal; where
        one of them differs, they are those in the middle.
    cases : int, default 200
        The number of cases.
    seed : int, numpy.random.Generator, numpy.random.SeedSequence or None, default 0
        The seed; a generator is used as it is, and moves on.
    size : float, optional
        How strongly the assumption is broken.
    finish : float or sequence of float, optional
        How often FINISH is taken: in state 1, or one probability for every state from 1 on. 1 is
        the policy with threshold 1, and 0 never finishes. By default 0.5 in state 1, and for
        "finish-by-state" also 0.2 in the others.
    trial : bool, default False
        Whether it is drawn once for a case where it finishes, as in a randomised trial of
        policies, and not at every step. Half of the cases then finish at once and the others
        never do where ``finish`` is 0.5 in every state.

    Returns
    -------
    dict of str to ndarray
        The columns case, step, state, action and next_state, sorted, with an entry for each step.

    Raises
    ------
    InvalidInput
        If there is no such kind, or a number is out of range.
    TooLarge
        If there are more than 20 million rows.

    Examples
    --------
    >>> import grbp
    >>> table = grbp.example_records("drift", cases=1000, seed=1)
    >>> list(table)
    ['case', 'step', 'state', 'action', 'next_state']
    >>> up = table["next_state"] > table["state"]
    >>> [round(float(up[(table["action"] == 0) & half].mean()), 2)
    ...  for half in (table["case"] <= 500, table["case"] > 500)]
    [0.42, 0.48]
    """
    goal = check_whole("goal", goal, 2, MOST_STATES)
    _check_kind(kind, goal)
    setting = _Setting(
        kind,
        goal,
        check_probability("p_c", p_c),
        check_probability("p_f", p_f),
        check_whole("cases", cases, 1, MOST_CASES),
        _check_size(kind, size),
        seed if isinstance(seed, np.random.Generator) else np.random.default_rng(as_seed(seed)),
    )
    table = _draw_rows(setting, _check_finish(kind, finish, goal), trial)
    columns: dict[str, Any] = dict(zip(STEP_COLUMNS, table, strict=True))
    if kind == "groups":
        columns["site"] = np.array(SITES)[columns["case"] % 2]
    columns["case"] = columns["case"] + 1
    return columns


class _Setting(NamedTuple):
    """What a table is drawn from."""

    kind: str
    goal: int
    p_c: float
    p_f: float
    cases: int
    size: float
    rng: np.random.Generator


def _draw_rows(setting: _Setting, finish: Floats, trial: bool) -> Ints:
    """Draw the rows, a step of all cases that go on at a time; return them sorted by case."""
    goal, rng = setting.goal, setting.rng
    case, state = np.arange(setting.cases), rng.integers(1, goal, setting.cases)
    before = np.zeros(setting.cases, dtype=np.int64)
    up_of, limit = _chance_of_up(setting), _most_steps(setting)
    p_f = _shift_logit(setting.p_f, _shift_by_state(setting, "finish-by-state"))
    arm = rng.random(setting.cases) if trial else None
    rows: list[Ints] = []
    room = MOST_ROWS
    while len(case):
        room -= len(case)
        if room < 0:
            raise TooLarge(
                f"the table has more than {MOST_ROWS:,} rows; ask for fewer cases or a smaller goal"
            )
        draw, choice = rng.random((2, len(case)))
        finishes = (choice if arm is None else arm[case]) < finish[state]
        move = np.where(draw < up_of(case, state, before), 1, -1)
        if setting.kind == "jumps":
            move = _add_jumps(setting, state, move)
        after = np.where(finishes, np.where(draw < p_f[state], goal, DEAD_END), state + move)
        step = np.full(len(case), len(rows) + 1)
        rows.append(np.stack([case, step, state, finishes, after]))
        on = (after > DEAD_END) & (after < goal)
        if setting.kind == "open":
            on &= step < limit[case]
        case, state, before = case[on], after[on], move[on]
    table = np.concatenate(rows, axis=1)
    return table[:, np.argsort(table[0], kind="stable")]


def _chance_of_up(setting: _Setting) -> Callable[[Ints, Ints, Ints], Floats]:
    """Return the function from case, state and last move to the chance that continuing goes up."""
    size, cases = setting.size, np.arange(setting.cases)
    if setting.kind == "state":
        by_state = _shift_logit(setting.p_c, _shift_by_state(setting, "state"))
        return lambda case, state, before: by_state[state]  # noqa: ARG005 (one signature for all)
    if setting.kind == "memory":
        by_move = _shift_logit(setting.p_c, size * np.array([0.0, 1.0, -1.0]))  # -1 is the last
        return lambda case, state, before: by_move[before]  # noqa: ARG005
    shifts: dict[str, Callable[[], Any]] = {
        "cases": lambda: size * setting.rng.standard_normal(setting.cases),
        "drift": lambda: size * (cases / max(1, setting.cases - 1) - 0.5),
        "groups": lambda: size * (cases % 2 - 0.5),
    }
    none = np.zeros(setting.cases)
    by_case = _shift_logit(setting.p_c, shifts[setting.kind]() if setting.kind in shifts else none)
    return lambda case, state, before: by_case[case]  # noqa: ARG005


def _shift_by_state(setting: _Setting, kind: str) -> Floats:
    """Return the change of a logit in every state from 0 on, if this is the kind; else zeros."""
    states = np.arange(setting.goal + 1)
    size = setting.size if setting.kind == kind else 0.0
    return size * ((states - 1) / max(1, setting.goal - 2) - 0.5) * (setting.goal > 2)


def _most_steps(setting: _Setting) -> Ints:
    """Draw how many steps of each case are seen at most."""
    limit = np.full(setting.cases, np.iinfo(np.int64).max)
    late = round(setting.size * setting.cases) if setting.kind == "open" else 0
    if late:
        limit[-late:] = setting.rng.integers(1, setting.goal + 1, late)
    return limit


def _add_jumps(setting: _Setting, state: Ints, move: Ints) -> Ints:
    """Let some moves go further than one state, to any such state alike."""
    draw = setting.rng.random(len(state))
    place = setting.rng.integers(0, setting.goal - 2, len(state))
    # The states from 0 to goal without the present one and its two neighbours.
    far = np.where(place < state - 1, place, place + 3)
    return np.where(draw < setting.size, far - state, move)


def _shift_logit(p: float, shift: Floats) -> Floats:
    """Return probabilities whose logits are those of another with something added."""
    odds = np.exp(shift)
    shifted: Floats = p * odds / (1.0 - p + p * odds)
    return shifted


def _check_kind(kind: object, goal: int) -> None:
    if kind not in KINDS:
        meant = did_you_mean(str(kind), KINDS) or f"it must be one of {', '.join(KINDS)}"
        raise InvalidInput(f"kind = {kind!r} was given; {meant}")
    if kind == "jumps" and goal < 3:
        raise InvalidInput(f"goal = {goal} was given; a jump needs a goal of 3 or more")


def _check_size(kind: str, size: object) -> float:
    """Return the size as a float, or refuse it."""
    if size is None:
        return SIZES[kind]
    if kind == "model":
        raise InvalidInput(f"size = {size!r} was given; the kind 'model' has no size")
    if kind in _SHARES:
        return check_probability("size", size)
    if isinstance(size, int | float) and not isinstance(size, bool) and abs(size) <= _LARGEST:
        return float(size)
    raise InvalidInput(
        f"size = {size!r} was given; it must be a number from -{_LARGEST} to {_LARGEST}"
    )


def _check_finish(kind: str, finish: Any, goal: int) -> Floats:
    """Return the probability of FINISH in every state from 0 on, or refuse what was given."""
    if finish is None:
        finish = [0.5] + [0.2 if kind == "finish-by-state" else 0.0] * (goal - 2)
    if not isinstance(finish, Sequence | np.ndarray):
        finish = [check_probability("finish", finish)] + [0.0] * (goal - 2)
    given = check_probabilities("finish", finish)
    if given.shape != (goal - 1,):
        raise InvalidInput(
            f"{given.size} probabilities of finishing were given; a goal of {goal} needs one, or"
            f" {goal - 1}, one for every state from 1 to {goal - 1}"
        )
    return np.concatenate([[0.0], given, [0.0]])
