"""What the records support state by state, in few words."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from grbp._format import join_words

FINISH: Final = "finish"
CONTINUE: Final = "continue"
UNDECIDED: Final = "undecided"
UNKNOWN: Final = "unknown"

Support = dict[str, tuple[int, ...]]
"""The states in which the records support each action, are undecided, or know nothing."""


def support_of(finish: Iterable[float | None], level: float) -> Support:
    """Sort states by what is sure there, given how probable it is that FINISH is right.

    None, or NaN, is a state in which one of the actions was never tried.
    """
    found: dict[str, list[int]] = {name: [] for name in (FINISH, CONTINUE, UNDECIDED, UNKNOWN)}
    for state, share in enumerate(finish, start=1):
        if share is None or share != share:  # noqa: PLR0124 (NaN)
            found[UNKNOWN].append(state)
        elif share >= level:
            found[FINISH].append(state)
        else:
            found[CONTINUE if 1.0 - share >= level else UNDECIDED].append(state)
    return {name: tuple(states) for name, states in found.items()}


def disagrees(support: Support, threshold: int) -> bool:
    """Return whether a state supports another action than a threshold takes there."""
    return any(state > threshold for state in support[FINISH]) or any(
        state <= threshold for state in support[CONTINUE]
    )


def say_support(support: Support) -> str:
    """Write which actions are supported where: "finish in 5, continue in 1 to 4"."""
    parts = [
        f"{name} in {write_states(support[name])}" for name in (FINISH, CONTINUE) if support[name]
    ]
    told = ", ".join(parts) or "neither action surely in any state"
    if support[UNDECIDED]:
        told += f"; undecided in {write_states(support[UNDECIDED])}"
    if support[UNKNOWN]:
        told += f"; in {write_states(support[UNKNOWN])} one of the two was never tried"
    return told


def write_states(states: Sequence[int], name: Callable[[int], str] = str) -> str:
    """Write states in few words: "1 to 4", "1, 3 and 5", "1 to 3 and 7"."""
    runs: list[list[int]] = []
    for state in states:
        if runs and state == runs[-1][-1] + 1:
            runs[-1].append(state)
        else:
            runs.append([state])
    words: list[str] = []
    for run in runs:
        ends = f"{name(run[0])} to {name(run[-1])}"
        words += [ends] if len(run) > 2 else map(name, run)
    return join_words(words, most=6)
