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
from grbp.learners.counters import Counters, Round
from grbp.learners.registry import EveryLearner, LearnerLike, find_learner
from grbp.learners.serialization import (
    MOST,
    are_consistent,
    check_constants,
    learner_json,
    restore_learner,
    success_pairs,
)
from grbp.learners.state_counters import StateCounters, empty_state_counters
from grbp.learners.state_learner import StateLearner
from grbp.learners.ucb1_policies import PolicyLearner, Record
from grbp.session.knowledge import Knowledge, Shown, know
from grbp.worlds.chain import Chain
from grbp.worlds.plain import from_plain
from grbp.worlds.validation import as_seed, check_goal, check_whole

_FORMAT: Final = "grbp session"
_FORMAT_VERSION: Final = 1


class Case(NamedTuple):
    """A case that is open."""

    state: int
    threshold: int
    counts: Shown
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
    case: Case | None
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
        case = _case_of(data["case"], learner, goal, known)
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
    data: Mapping[str, Any], learner: EveryLearner, rho: int, chain: Chain | None
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


def _memory_of(stored: Any, learner: EveryLearner, rho: int, goal: int, chain: Chain | None) -> Any:
    """Return the counters of a saved session, or refuse those that cannot have been counted."""
    memory: Counters | Record
    if isinstance(learner, StateLearner):
        jumps = chain is not None and not chain.leads_to_neighbours
        counters = _state_counters_of(stored, goal, jumps)
        if counters.rho != rho:
            raise InvalidInput("the saved session is damaged: its counters do not fit together")
        return counters
    if isinstance(learner, PolicyLearner):
        memory = Record(*(np.array(part, dtype=np.float64) for part in stored))
        pairs = list(zip(memory.wins, memory.plays, strict=True))
        fits = len(pairs) == len(learner.choices(learner.goal)) and memory.plays.ndim == 1
    else:
        memory = Counters(stored[0], *map(float, stored[1:]))
        pairs, fits = success_pairs(memory), memory.rho == rho
    if not fits or not are_consistent(pairs):
        raise InvalidInput("the saved session is damaged: its counters do not fit together")
    return memory


def _state_counters_of(stored: Any, goal: int, jumps: bool) -> StateCounters:
    """Return counters by state, or refuse what cannot have been counted."""
    like = empty_state_counters(goal, jumps=jumps)
    rho, *parts = stored
    *near, far = (np.array(part, dtype=np.float64) for part in parts)
    # An array without rows is written as an empty list.
    counts = [*near, far if far.size else far.reshape(0, 0)]
    if [one.shape for one in counts] != [one.shape for one in like[1:]] or not all(
        ((one >= 0.0) & np.isfinite(one)).all() for one in counts
    ):
        raise InvalidInput("the saved session is damaged: its counters do not fit together")
    return StateCounters(check_whole("rho", rho, 1, MOST), *counts)


def _case_of(stored: Any, learner: EveryLearner, goal: int, known: Knowledge) -> Case | None:
    """Return the open case of a saved session, if there is one."""
    if stored is None:
        return None
    state = check_whole("state", stored["state"], 1, goal - 1)
    if isinstance(learner, StateLearner):
        policy = check_whole("threshold", stored["threshold"], 0, (1 << (goal - 1)) - 1)
        shown = _state_counters_of(stored["counts"], goal, known.kept[0].jumps.size > 0)
        if shown.won.any() or shown.lost.any():
            raise InvalidInput("the saved session is damaged: its open case cannot have come about")
        return Case(state, policy, shown, bool(stored["overruled"]))
    counts = Round(*(check_whole("a count", count, 0, MOST) for count in stored["counts"]))
    threshold = check_whole("threshold", stored["threshold"], 0, max(learner.choices(goal)))
    if threshold not in learner.choices(goal) or counts.c_up > counts.c or counts.f or counts.won:
        raise InvalidInput("the saved session is damaged: its open case cannot have come about")
    return Case(state, threshold, counts, bool(stored["overruled"]))
