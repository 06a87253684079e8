"""Keep a learner in a file, and go on with it: by its name, its constants and counters, no code.

What is read is checked: whoever goes on with another learner, or from wrong counters, decides
wrongly, and nobody notices.
"""

import math
from collections.abc import Iterable
from typing import Any, Final

from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.counters import Counters
from grbp.learners.registry import (
    LearnerLike,
    add_setting,
    is_built_in,
    is_path,
    stored_learner,
)
from grbp.worlds.validation import check_number, check_whole

MOST: Final = 2**63 - 1
"""The largest number of a file."""

_COUNTS: Final = Counters._fields[1:]


def learner_json(given: LearnerLike, goal: int) -> Any:
    """Return a learner as a file keeps it: a name or, where others wrote it, a digest as well."""
    kept = stored_learner(given, goal)
    return kept if isinstance(kept, str) else kept.as_json()


def restore_learner(
    stored: Any,
    given: LearnerLike | None,
    goal: int,
    what: str,
    hint: str = "; go on with the version that made it, or begin anew from its records",
) -> LearnerLike:
    """Return the learner of a session or a study, or refuse another one; the hint says what to do.

    It stands where a learner has left the package.
    """
    name = stored if isinstance(stored, str) else stored["name"]
    if given is None:
        if not isinstance(stored, str) and not is_path(name):
            raise InvalidInput(
                f"the {what} was made with the learner {name}, whose code is not in the file;"
                " give the learner as well"
            )
        if not (is_path(name) or is_built_in(name)):
            raise InvalidInput(
                f"the {what} was made with the learner {name}, which this version of grbp does not"
                f" have{hint}"
            )
        given = name
    given = set_as_kept(given, name, goal)
    kept = stored_learner(given, goal)
    if str(kept) != name:
        raise InvalidInput(f"the {what} was made with the learner {name}; {kept} was given")
    if learner_json(given, goal) != stored:
        raise InvalidInput(
            f"the {what} was made with another learner {name}: its source has changed since, or"
            " what it reads has"
        )
    return given


def set_as_kept(given: LearnerLike, name: str, goal: int) -> LearnerLike:
    """Return a learner with the settings that it has in a file, where its name alone says them."""
    begin, _, settings = name.partition(f"{getattr(given, 'name', given)}:")
    own = not isinstance(given, str) and not begin and "=" in settings
    return add_setting(given, settings, goal) if own else given


def check_constants(stored: Any, learner: AnyLearner, what: str) -> None:
    """Refuse to go on with other constants than before."""
    now = learner.constants._asdict()
    if stored != now:
        raise InvalidInput(
            f"the {what} was made when {learner.name} had the constants {stored}; it has {now}"
        )


def check_counters(given: object, learner: AnyLearner) -> Counters:
    """Return counters to begin with, or refuse those from which a learner cannot decide."""
    if not learner.by_threshold:
        raise InvalidInput(
            f"counters were given; {learner.name} does not decide from counters, so leave them out"
        )
    if not isinstance(given, Counters):
        raise InvalidInput(
            f"counters = {given!r} was given; it must be Counters, such as those of a fit"
        )
    rho = check_whole("counters.rho", given.rho, 1, MOST)
    n = Counters(rho, *(check_number(f"counters.{k}", getattr(given, k)) for k in _COUNTS))
    if min(n.f, n.c) <= 0.0 or not are_consistent(learner.pairs(n)):
        raise InvalidInput(
            f"counters = {given!r} was given; each action must have been taken, and nothing can"
            " have succeeded more often than it was tried"
        )
    return n


def are_consistent(pairs: Iterable[tuple[float, float]]) -> bool:
    """Return whether nothing succeeded more often than it was tried."""
    return all(0.0 <= part <= whole < math.inf for part, whole in pairs)
