"""Write a session as JSON, and read it back: a learner by its name, never by its code.

What is read is checked, since a session that goes on from wrong counters decides wrongly without
anybody noticing.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.memory import outcomes_of
from grbp.learners.registry import LearnerLike, find_learner
from grbp.learners.serialization import (
    MOST,
    are_consistent,
    check_constants,
    learner_json,
    restore_learner,
)
from grbp.session.knowledge import Knowledge, know
from grbp.worlds.chain import Chain
from grbp.worlds.plain import from_plain
from grbp.worlds.validation import as_seed, check_goal, check_whole

_FORMAT: Final = "grbp session"
_FORMAT_VERSION: Final = 1
_IMPOSSIBLE: Final = "the saved session is damaged: its open case cannot have come about"
_UNFIT: Final = "the saved session is damaged: its counters do not fit together"


class OpenCase(NamedTuple):
    """A case that is open."""

    state: int
    threshold: int
    counts: Any
    overruled: bool


class Saved(NamedTuple):
    """Everything that a session goes on from."""

    learner: LearnerLike
    constants: Any
    goal: int
    seed: int
    replica: int
    rho: int
    known: Knowledge
    case: OpenCase | None
    chain: Chain | None


def write_json(saved: Saved) -> str:
    """Write a session as JSON; every number is read back as it was."""
    case, (memory, *others) = saved.case, saved.known.kept
    numbers = ("goal", "seed", "replica", "rho")
    told = {"format": _FORMAT, "format_version": _FORMAT_VERSION} | {
        "learner": learner_json(saved.learner, saved.goal),
        "constants": saved.constants._asdict(),
        **{name: getattr(saved, name) for name in numbers},
        "memory": _as_lists(memory),
        "case": None if case is None else case._asdict() | {"counts": _as_lists(case.counts)},
    }
    if others:
        told |= {"others": list(map(_as_lists, others)), "weights": saved.known.weights.tolist()}
    return json.dumps(told | ({} if saved.chain is None else {"chain": saved.chain.to_plain()}))


def _as_lists(counters: Any) -> list[Any]:
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in counters]


def read_file(path: Path) -> str:
    """Read the text of a file, or refuse it."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(f"{path} cannot be read ({why}); name a saved session") from error


def read_json(text: str, given: LearnerLike | None) -> Saved:
    """Read what `write_json` wrote, or refuse what cannot go on as it was."""
    try:
        data = json.loads(text)
        foreign = data["format"] != _FORMAT
    except (ValueError, TypeError, LookupError, RecursionError):
        data, foreign = {}, True
    if foreign:
        raise InvalidInput("what was given is damaged, or is not a saved session")
    version = data.get("format_version")
    if version != _FORMAT_VERSION:
        raise InvalidInput(
            f"the session is written in format {version}; this version reads format"
            f" {_FORMAT_VERSION}"
        )
    try:
        goal = check_goal(data["goal"])
        like = restore_learner(data["learner"], given, goal, "session")
        learner = find_learner(like, goal)
        check_constants(data["constants"], learner, "session")
        rho = check_whole("rho", data["rho"], 1, MOST)
        numbers = (as_seed(data["seed"]), check_whole("replica", data["replica"], 0, MOST), rho)
        chain = _chain_of(data.get("chain"), goal)
        known = _known_of(data, learner, rho, chain)
        case = _case_of(data["case"], learner, goal, chain)
    except InvalidInput:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput("the saved session is damaged: something is missing") from error
    return Saved(like, learner.constants, goal, *numbers, known, case, chain)


def _chain_of(stored: Any, goal: int) -> Chain | None:
    """Return the chain of a saved session, if it has one."""
    if stored is None:
        return None
    chain = from_plain(stored).chain
    if chain is None or chain.goal != goal:
        raise InvalidInput("the saved session is damaged: its chain does not fit its goal")
    return chain


def _known_of(
    data: Mapping[str, Any], learner: AnyLearner, rho: int, chain: Chain | None
) -> Knowledge:
    """Return what a saved session knows, or refuse what cannot have been counted."""
    kept = tuple(
        _memory_of(one, learner, rho, data["goal"], chain)
        for one in (data["memory"], *data.get("others", ()))
    )
    fresh = know(learner, kept[0])
    weights = np.array(data.get("weights", fresh.weights), dtype=np.float64)
    if (
        len(kept) != len(fresh.kept)
        or weights.shape != fresh.weights.shape
        or not (np.abs(weights.sum(axis=1) - 1.0) < 1e-6).all()
        or (weights < 0.0).any()
    ):
        raise InvalidInput("the saved session is damaged: its memories do not fit together")
    return Knowledge(kept, weights)


def _memory_of(stored: Any, learner: AnyLearner, rho: int, goal: int, chain: Chain | None) -> Any:
    """Return the counters of a saved session, or refuse those that cannot have been counted."""
    counters = _read_like(stored, learner.initial_counters(goal, jumps=_may_jump(chain)))
    if getattr(counters, "rho", rho) != rho or not are_consistent(learner.pairs(counters)):
        raise InvalidInput(_UNFIT)
    return counters


def _may_jump(chain: Chain | None) -> bool:
    return chain is not None and not chain.leads_to_neighbours


def _read_like(stored: Any, like: Any) -> Any:
    """Return counts that were written as lists, of the kind and the shapes of others."""
    counts: list[Any] = []
    for part, other in zip(stored, like, strict=True):
        if not isinstance(other, np.ndarray):
            whole = isinstance(other, int)
            counts.append(check_whole("a count", part, 0, MOST) if whole else float(part))
            continue
        array = np.array(part, dtype=np.float64)
        if array.shape != other.shape and array.size + other.size:
            raise InvalidInput(_UNFIT)
        counts.append(array.reshape(other.shape))  # Without rows, it is written as an empty list.
    return type(like)(*counts)


def _case_of(stored: Any, learner: AnyLearner, goal: int, chain: Chain | None) -> OpenCase | None:
    """Return the open case of a saved session, if there is one."""
    if stored is None:
        return None
    state = check_whole("state", stored["state"], 1, goal - 1)
    choice = check_whole("threshold", stored["threshold"], 0, MOST)
    if choice not in learner.choices(goal):
        raise InvalidInput(_IMPOSSIBLE)
    shown = _read_like(stored["counts"], learner.nothing_shown(goal, state, jumps=_may_jump(chain)))
    outcomes = outcomes_of(shown)
    if (outcomes < 0.0).any() or outcomes[2:].any() or np.any(shown.won):
        raise InvalidInput(_IMPOSSIBLE)
    return OpenCase(state, choice, shown, bool(stored["overruled"]))
