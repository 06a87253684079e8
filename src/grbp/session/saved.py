"""Write a session as JSON, and read it back: a learner by its name, never by its code.

What is read is checked, since a session that goes on from wrong counters decides wrongly without
anybody noticing.
"""

import json
import math
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.learners.counters import Counters, Round
from grbp.learners.registry import (
    AnyLearner,
    LearnerLike,
    find_learner,
    is_path,
    kept_learner,
)
from grbp.learners.ucb1_policies import PolicyLearner, Record
from grbp.model.validation import as_seed, check_goal, check_number, check_whole

_FORMAT: Final = "grbp session"
_FORMAT_VERSION: Final = 1
_MOST: Final = 2**63 - 1
_COUNTS: Final = Counters._fields[1:]


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
    kept = kept_learner(saved.learner, saved.goal)
    memory = [part.tolist() if isinstance(part, np.ndarray) else part for part in saved.memory]
    return json.dumps(
        {"format": _FORMAT, "format_version": _FORMAT_VERSION}
        | saved._asdict()
        | {
            "learner": kept if isinstance(kept, str) else kept.as_json(),
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
        said = reason(error) if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(f"{path} cannot be read ({said}); name a saved session") from error


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
        like = _learner_of(data["learner"], given, goal)
        learner = find_learner(like, goal)
        _check_constants(data["constants"], learner)
        rho = check_whole("rho", data["rho"], 1, _MOST)
        numbers = (as_seed(data["seed"]), check_whole("replica", data["replica"], 0, _MOST), rho)
        memory = _memory_of(data["memory"], learner, rho)
        case = _case_of(data["case"], learner, goal)
    except InvalidInput:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput("the saved session is damaged: something is missing") from error
    return Saved(like, learner.constants, goal, *numbers, memory, case)


def _learner_of(stored: Any, given: LearnerLike | None, goal: int) -> LearnerLike:
    """Return the learner of a saved session, or refuse another one."""
    name = stored if isinstance(stored, str) else stored["name"]
    if given is None:
        if not isinstance(stored, str) and not is_path(name):
            raise InvalidInput(
                f"the session was saved with the learner {name}, whose code is not in the file;"
                " give the learner as well"
            )
        given = name
    kept = kept_learner(given, goal)
    if str(kept) != name:
        raise InvalidInput(f"the session was saved with the learner {name}; {kept} was given")
    if (kept if isinstance(kept, str) else kept.as_json()) != stored:
        raise InvalidInput(
            f"the session was saved with another learner {name}: its source has changed since, or"
            " what it reads has"
        )
    return given


def _check_constants(stored: Any, learner: AnyLearner) -> None:
    """Refuse to go on with other constants than before."""
    now = learner.constants._asdict()
    if stored != now:
        raise InvalidInput(
            f"the session was saved when {learner.name} had the constants {stored}; it has {now}"
        )


def _memory_of(stored: Any, learner: AnyLearner, rho: int) -> Any:
    """Return the counters of a saved session, or refuse those that nobody can have counted."""
    memory: Counters | Record
    if isinstance(learner, PolicyLearner):
        memory = Record(*(np.array(part, dtype=np.float64) for part in stored))
        pairs = list(zip(memory.wins, memory.plays, strict=True))
        fits = len(pairs) == len(learner.choices(learner.goal)) and memory.plays.ndim == 1
    else:
        memory = Counters(stored[0], *map(float, stored[1:]))
        pairs, fits = _pairs_of(memory), memory.rho == rho
    if not fits or not _fit_together(pairs):
        raise InvalidInput("the saved session is damaged: its counters do not fit together")
    return memory


def known_counters(given: object, learner: AnyLearner) -> Counters:
    """Return counters to begin with, or refuse those from which a learner cannot decide."""
    if isinstance(learner, PolicyLearner):
        raise InvalidInput(
            f"counters were given; {learner.name} does not decide from counters, and begins without"
        )
    if not isinstance(given, Counters):
        raise InvalidInput(f"counters = {given!r} was given; it must be Counters, as of a fit")
    rho = check_whole("counters.rho", given.rho, 1, _MOST)
    n = Counters(rho, *(check_number(f"counters.{k}", getattr(given, k)) for k in _COUNTS))
    if min(n.f, n.c) <= 0.0 or not _fit_together(_pairs_of(n)):
        raise InvalidInput(
            f"counters = {given!r} was given; each action must have been taken, and nothing can"
            " have succeeded more often than it was tried"
        )
    return n


def _pairs_of(n: Counters) -> list[tuple[float, float]]:
    """Return how often something succeeded, and was tried, of every kind."""
    return [(n.f_goal, n.f), (n.c_up, n.c), (n.wins_0, n.plays_0), (n.wins_1, n.plays_1)]


def _fit_together(pairs: list[tuple[float, float]]) -> bool:
    return all(0.0 <= part <= whole < math.inf for part, whole in pairs)


def _case_of(stored: Any, learner: AnyLearner, goal: int) -> Case | None:
    """Return the open case of a saved session, if there is one."""
    if stored is None:
        return None
    state = check_whole("state", stored["state"], 1, goal - 1)
    counts = Round(*(check_whole("a count", count, 0, _MOST) for count in stored["counts"]))
    threshold = check_whole("threshold", stored["threshold"], 0, max(learner.choices(goal)))
    if threshold not in learner.choices(goal) or counts.c_up > counts.c or counts.f or counts.won:
        raise InvalidInput("the saved session is damaged: its open case cannot have come about")
    return Case(state, threshold, counts, bool(stored["overruled"]))
