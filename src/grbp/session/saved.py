"""Write a session as JSON, and read it back: a learner by its name, never by its code.

What is read is checked, since a session that goes on from wrong counters decides wrongly without
anybody noticing.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.learners.counters import Counters, Round
from grbp.learners.registry import AnyLearner, LearnerLike, find_problem_learner
from grbp.learners.serialization import (
    MOST,
    are_consistent,
    check_constants,
    learner_json,
    restore_learner,
    success_pairs,
)
from grbp.learners.ucb1_policies import PolicyLearner, Record
from grbp.model.validation import as_seed, check_goal, check_whole

_FORMAT: Final = "grbp session"
_FORMAT_VERSION: Final = 1


class Case(NamedTuple):
    """A case that is open."""

    state: int
    threshold: int
    counts: Round
    overruled: bool


class Saved(NamedTuple):
    """Everything that a session goes on from."""

    learner: LearnerLike
    constants: Any
    goal: int
    seed: int
    replica: int
    rho: int
    memory: Any
    case: Case | None


def write_json(saved: Saved) -> str:
    """Write a session as JSON; every number is read back as it was."""
    memory = [part.tolist() if isinstance(part, np.ndarray) else part for part in saved.memory]
    return json.dumps(
        {"format": _FORMAT, "format_version": _FORMAT_VERSION}
        | saved._asdict()
        | {
            "learner": learner_json(saved.learner, saved.goal),
            "constants": saved.constants._asdict(),
            "memory": memory,
            "case": None if saved.case is None else saved.case._asdict(),
        }
    )


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
        learner = find_problem_learner(like, goal)
        check_constants(data["constants"], learner, "session")
        rho = check_whole("rho", data["rho"], 1, MOST)
        numbers = (as_seed(data["seed"]), check_whole("replica", data["replica"], 0, MOST), rho)
        memory = _memory_of(data["memory"], learner, rho)
        case = _case_of(data["case"], learner, goal)
    except InvalidInput:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput("the saved session is damaged: something is missing") from error
    return Saved(like, learner.constants, goal, *numbers, memory, case)


def _memory_of(stored: Any, learner: AnyLearner, rho: int) -> Any:
    """Return the counters of a saved session, or refuse those that cannot have been counted."""
    memory: Counters | Record
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


def _case_of(stored: Any, learner: AnyLearner, goal: int) -> Case | None:
    """Return the open case of a saved session, if there is one."""
    if stored is None:
        return None
    state = check_whole("state", stored["state"], 1, goal - 1)
    counts = Round(*(check_whole("a count", count, 0, MOST) for count in stored["counts"]))
    threshold = check_whole("threshold", stored["threshold"], 0, max(learner.choices(goal)))
    if threshold not in learner.choices(goal) or counts.c_up > counts.c or counts.f or counts.won:
        raise InvalidInput("the saved session is damaged: its open case cannot have come about")
    return Case(state, threshold, counts, bool(stored["overruled"]))
