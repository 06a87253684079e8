"""What a body says of a new study: its name, its learner and where it begins."""

from typing import Any

from grbp.errors import InvalidInput
from grbp.learners.counters import NO_COUNTS, Counters
from grbp.learners.registry import is_path
from grbp.live.starts import check_kept_start, make_state_counters
from grbp.worlds.validation import check_goal


def check_name(name: object) -> None:
    """Refuse a study's name that cannot be part of an address."""
    if isinstance(name, str) and ("/" in name or name in (".", "..")):
        raise InvalidInput(f"name = {name!r} was given; over HTTP it must not have a /")


def check_learner(learner: object) -> None:
    """Refuse a learner that would be imported: only this machine decides what runs here."""
    if learner is not None and (not isinstance(learner, str) or is_path(learner)):
        raise InvalidInput(
            f"learner = {learner!r} was given; over HTTP it must be one of the package's, as"
            " `grbp learners` lists them"
        )


def read_start(start: Any, goal: object) -> Any:
    """Return where a study begins: counters where they were sent, in all or for each group."""
    if isinstance(start, dict):
        return {name: read_start(one, goal) for name, one in start.items()}
    if not isinstance(start, list):
        return start
    by_state = len(start) != len(NO_COUNTS)
    check_kept_start(start, check_goal(goal), [], by_state=by_state)
    return make_state_counters(start[0], start[1:]) if by_state else Counters(*start)
