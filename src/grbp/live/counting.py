"""What a study counts, and what it decides from that.

A study's row is a sum over its cases: what each of them adds depends on the case's own row alone.
A case that is over, and of which all is mature, is settled into the learner's counters as one
round, as in Algorithm 1; what was counted in other cases is kept beside them and added when a
decision is due. FINISH that was advised, or taken, and does not count yet counts as taken.
"""

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from grbp.errors import GrbpError, InvalidInput
from grbp.learners.counters import Counters, Totals, add_to, with_pending
from grbp.learners.registry import LearnerLike
from grbp.live.config import CONTINUE, FINISH, FIRST, Config
from grbp.live.rows import CLOSED, LOST, OPEN, WON, CaseRow, Event, StudyRow, read, written
from grbp.numerics.rng import fold_in

_NOBODY: Final = -1
"""The threshold that gets the credit of a case that was not played with its own."""

_NOTHING: Final = (0, 0, 0, 0)

Counts: TypeAlias = tuple[int, int, int, int, int, int]
"""The counts of a case, from f to held_f."""


def advised(case: CaseRow) -> str | None:
    """Return the action that is advised in the present state of a case; None if it is over."""
    if case.status != OPEN:
        return None
    return FINISH if case.state <= case.threshold else CONTINUE


_RECENT: Final[dict[str, Counters]] = {}
"""Counters that were written not long ago, by their texts: most are read again soon."""


def _counters(text: str) -> Counters:
    return _RECENT.get(text) or Counters(*read(text))


def _written(n: Counters) -> str:
    text = written(list(n))
    if len(_RECENT) > 100:
        _RECENT.clear()
    _RECENT[text] = n
    return text


class Move(NamedTuple):
    """A step: what was done, from where it led where, and whether it is held."""

    action: str
    state: int
    next_state: int
    held: bool


def move_of(event: Event, held: bool) -> Move:
    """Return the step that an event told."""
    then = read(event.response)
    return Move(then["took"], then["from"], then["state"], held)


def counted(config: Config, case: CaseRow, step: Move, sign: int) -> Counts:
    """Return the counts of a case, from f to held_f, with a step, or without it again."""
    f = sign * (step.action == FINISH)
    if step.held:
        counts = case.f, case.f_goal, case.c, case.c_up
        return *counts, case.held + sign, case.held_f + f
    c = sign - f
    return (
        case.f + f,
        case.f_goal + f * (step.next_state == config.goal),
        case.c + c,
        case.c_up + c * (step.next_state > step.state),
        case.held,
        case.held_f,
    )


def by_name(counts: Counts) -> dict[str, Any]:
    """Return the counts of a case by the names of their columns."""
    names = ("f", "f_goal", "c", "c_up", "held", "held_f")
    return dict(zip(names, counts, strict=True))


def due_of(config: Config, action: str, since: str, now: str) -> str:
    """Return when a step will be mature; nothing if it is by now."""
    if action not in config.windows:
        return ""
    after = timedelta(seconds=config.windows[action])
    due = (datetime.fromisoformat(since) + after).isoformat(timespec="microseconds")
    return due if due > now else ""


def known(study: StudyRow) -> Counters:
    """Return all that is counted: in cases that are settled, and in the others."""
    n = _counters(study.counters)
    return add_to(n, _NOBODY, Totals(0, 0, study.f, study.f_goal, study.c, study.c_up))


def decided(config: Config, study: StudyRow, given: LearnerLike | None) -> int:
    """Decide the threshold of a case that is opened now."""
    round_ = config.first.rho + study.opened
    return _decide(config, given, known(study)._replace(rho=round_), study.pending)


def decides_as_before(config: Config, case: CaseRow, given: LearnerLike | None) -> bool:
    """Return whether a case would get the same threshold again from what was known then."""
    *counters, pending = read(case.known)
    return _decide(config, given, Counters(*counters), pending) == case.threshold


def _decide(config: Config, given: LearnerLike | None, n: Counters, pending: int) -> int:
    """Decide a threshold from the counters and what is pending.

    Paper: alg:GRBP
    """
    if config.start == FIRST and not (n.c and n.f):
        # One first CONTINUE, then one first FINISH; the learner needs an outcome of both.
        return config.goal - 1 if n.c and not n.f + pending else 0
    learner, draw = config.found_learner(given), fold_in(config.learner_key, n.rho)
    try:
        threshold = learner.choose(config.goal, with_pending(n, n.rho, float(pending)), draw)
    except GrbpError:
        raise
    except Exception as error:  # A learner of the user's own may do anything.
        raise InvalidInput(
            f"the learner {learner.name} could not decide ({type(error).__name__}: {error}); mend"
            " it, and ask again"
        ) from error
    if threshold not in learner.choices(config.goal):
        raise InvalidInput(
            f"the learner {learner.name} decided threshold {threshold}, which it does not declare"
        )
    return threshold


def is_settled(status: str, held: int) -> int:
    """Return 1 if a case is over and all of it is mature, else 0."""
    return int(status != OPEN and not held)


def study_after(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow
) -> tuple[StudyRow, CaseRow]:
    """Return a study and a case after the case was changed, or opened, before it is recorded."""
    settled = is_settled(new.status, new.held)
    if settled != new.settled:
        new = new._replace(settled=settled)
    counters = study.counters
    if settled or (old is not None and old.settled):
        n = _counters(counters)
        if old is not None and old.settled:
            n = _settled(n, old, -1)
        if settled:
            n = _settled(n, new, 1)
        counters = _written(n)
    plus = _NOTHING if settled else _counts(new)
    minus = _NOTHING if old is None or old.settled else _counts(old)
    status = "" if old is None else old.status
    after = StudyRow(
        study.name,
        study.config,
        study.seq,
        study.head,
        study.opened + (old is None),
        study.won + (new.status == WON) - (status == WON),
        study.lost + (new.status == LOST) - (status == LOST),
        study.closed + (new.status == CLOSED) - (status == CLOSED),
        study.pending + _pending(config, new) - (0 if old is None else _pending(config, old)),
        counters,
        study.f + plus[0] - minus[0],
        study.f_goal + plus[1] - minus[1],
        study.c + plus[2] - minus[2],
        study.c_up + plus[3] - minus[3],
    )
    return after, new


def _counts(case: CaseRow) -> tuple[int, int, int, int]:
    return case.f, case.f_goal, case.c, case.c_up


def _pending(config: Config, case: CaseRow) -> int:
    """Return the FINISH of a case that is advised, or taken, and does not count yet."""
    return case.held_f + (not config.shadow and advised(case) == FINISH)


def _settled(n: Counters, case: CaseRow, sign: int) -> Counters:
    """Return the counters with a case that is over, or without it again.

    A case in which something else was done than advised counts for no threshold.
    """
    ended = case.status != CLOSED
    credit = case.threshold if ended and not case.overruled else _NOBODY
    parts = (ended, case.status == WON, *_counts(case))
    return add_to(n, credit, Totals(*(sign * part for part in parts)))
