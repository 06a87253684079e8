"""What a study counts, and what it decides from that.

A study's row is a sum over its cases: what each of them adds depends on the case's own row alone.
A case that is over, and of which all is mature, is settled into the learner's counters as one
round, as in Algorithm 1; what was counted in other cases is kept beside them and added when a
decision is due. FINISH that was advised, or taken, and does not count yet counts as taken.
"""

from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from grbp.errors import GrbpError, InvalidInput
from grbp.learners.counters import NOBODY, Counters, Totals, add_to, step_counts, with_pending
from grbp.learners.registry import LearnerLike
from grbp.live.config import CONTINUE, FINISH, FIRST, Config
from grbp.live.history import Entry
from grbp.live.schema import (
    CLOSED,
    LOST,
    OPEN,
    WON,
    CaseRow,
    Event,
    HeldRow,
    Numbers,
    StudyRow,
    dumps,
    dumps_numbers,
    loads,
)
from grbp.numerics.rng import fold_in

Counts: TypeAlias = tuple[int, int, int, int, int, int]
"""The counts of a case, from f to held_f."""

Move: TypeAlias = tuple[str, int, int]
"""What was done in a step, and from where it led where."""


UNDECIDED: Final = "the study's learner cannot decide, and shadow mode hides why"


def advise(case: CaseRow) -> str | None:
    """Return the action that is advised in the present state of a case; None if it is over."""
    if case.status != OPEN:
        return None
    return FINISH if case.state <= case.threshold else CONTINUE


_RECENT: Final[dict[str, Counters]] = {}
"""Counters that were written not long ago, by their texts: most are read again soon."""


def _load_counters(text: str) -> Counters:
    return _RECENT.get(text) or Counters(*loads(text))


def _dumps_counters(n: Counters) -> str:
    text = dumps_numbers(n)
    if len(_RECENT) > 100:
        _RECENT.clear()
    _RECENT[text] = n
    return text


def count_step(config: Config, case: CaseRow, step: Move, sign: int, *, held: bool) -> Counts:
    """Return the counts of a case, from f to held_f, with a step, or without it again."""
    (action, state, next_state), (f, f_goal, c, c_up, waits, waits_f) = step, case[7:13]
    one = step_counts(config.goal, state, action == FINISH, next_state)
    finish, won, moved, up = (sign * count for count in one)
    if held:
        return f, f_goal, c, c_up, waits + sign, waits_f + finish
    return f + finish, f_goal + won, c + moved, c_up + up, waits, waits_f


def load_move(event: Event) -> Move:
    """Return the step that an event told."""
    then = loads(event.response)
    return then["took"], then["from"], then["state"]


def name_counts(counts: Counts) -> dict[str, Any]:
    """Return the counts of a case by the names of their columns."""
    names = ("f", "f_goal", "c", "c_up", "held", "held_f")
    return dict(zip(names, counts, strict=True))


def due_time(config: Config, action: str, since: str, now: str) -> str:
    """Return when a step will be mature; nothing if it is by now."""
    if action not in config.windows:
        return ""
    after = timedelta(seconds=config.windows[action])
    try:
        due = (datetime.fromisoformat(since) + after).isoformat(timespec="microseconds")
    except OverflowError:
        raise InvalidInput(
            f"a window of {after.days:,} days that begins {since} was to be waited for; it ends"
            " after the year 9999: correct the clock, or when it was observed"
        ) from None
    return due if due > now else ""


def total_counters(study: StudyRow) -> Counters:
    """Return all that is counted: in cases that are settled, and in the others."""
    n = _load_counters(study.counters)
    if not (study.f or study.c):
        return n
    return add_to(n, NOBODY, Totals(0, 0, study.f, study.f_goal, study.c, study.c_up))


def dumps_known(study: StudyRow, round_: int) -> str:
    """Write all that is counted before a round, and what is pending, as JSON."""
    if study.f or study.c:
        return dumps_numbers((round_, *total_counters(study)[1:], study.pending))
    # All of it stands in the row already, but for the round.
    return f"[{round_},{study.counters.partition(',')[2][:-1]},{study.pending}]"


def decide_threshold(config: Config, study: StudyRow, given: LearnerLike | None) -> int:
    """Decide the threshold of a case that is opened now."""
    round_ = config.first.rho + study.opened
    n = total_counters(study)._replace(rho=round_)
    try:
        return _choose_threshold(config, given, n, study.pending)
    except GrbpError as error:
        if config.shadow:  # The learner's own words may tell what it would advise.
            raise InvalidInput(f"{UNDECIDED}; let somebody verify the study") from error
        raise


def decides_as_before(config: Config, case: CaseRow, given: LearnerLike | None) -> bool:
    """Return whether a case would get the same threshold again from what was known then."""
    *counters, pending = loads(case.known)
    return _choose_threshold(config, given, Counters(*counters), pending) == case.threshold


def _choose_threshold(config: Config, given: LearnerLike | None, n: Counters, pending: int) -> int:
    """Decide a threshold from the counters and what is pending.

    Paper: alg:GRBP
    """
    if config.start == FIRST and not (n.c and n.f):
        # One first CONTINUE, then one first FINISH; the learner needs an outcome of both.
        return config.goal - 1 if n.c and not n.f + pending else 0
    learner, draw = config.resolve_learner(given), fold_in(config.learner_key, n.rho)
    try:
        threshold = learner.choose(config.goal, with_pending(n, n.rho, float(pending)), draw)
    except GrbpError:
        raise
    except Exception as error:  # A learner of the user's own may do anything.
        raise InvalidInput(
            f"the learner {learner.name} could not decide ({type(error).__name__}: {error});"
            " correct it, and ask again"
        ) from error
    if threshold not in learner.choices(config.goal):
        raise InvalidInput(
            f"the learner {learner.name} decided threshold {threshold}, which it does not declare"
        )
    return threshold


def is_settled(status: str, held: int) -> int:
    """Return 1 if a case is over and all of it is mature, else 0."""
    return int(status != OPEN and not held)


def update_study(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow
) -> tuple[Numbers, CaseRow]:
    """Return the numbers of a study, and a case, after the case was changed or opened."""
    opened, won, lost, closed, pending, counters, f, f_goal, c, c_up = study[4:14]
    settled = is_settled(new.status, new.held)
    if settled != new.settled:
        new = new._replace(settled=settled)
    n = _load_counters(counters) if settled or (old is not None and old.settled) else None
    for case, sign in ((old, -1), (new, 1)):
        if case is None:
            opened += 1
            continue
        pending += sign * _count_pending(config, case)
        if case.settled and n is not None:
            n = _settle(n, case, sign)
        else:
            f, f_goal = f + sign * case.f, f_goal + sign * case.f_goal
            c, c_up = c + sign * case.c, c_up + sign * case.c_up
        if case.status != OPEN:
            won, lost = won + sign * (case.status == WON), lost + sign * (case.status == LOST)
            closed += sign * (case.status == CLOSED)
    if n is not None:
        counters = _dumps_counters(n)
    return (opened, won, lost, closed, pending, counters, f, f_goal, c, c_up), new


def _count_pending(config: Config, case: CaseRow) -> int:
    """Return the FINISH of a case that is advised, or taken, and does not count yet."""
    if config.shadow or case.status != OPEN:
        return case.held_f
    return case.held_f + (case.state <= case.threshold)


def _settle(n: Counters, case: CaseRow, sign: int) -> Counters:
    """Return the counters with a case that is over, or without it again.

    A case in which something else was done than advised counts for no threshold.
    """
    ended = case.status != CLOSED
    credit = case.threshold if ended and not case.overridden else NOBODY
    parts = (ended, case.status == WON, case.f, case.f_goal, case.c, case.c_up)
    return add_to(n, credit, Totals(*[sign * part for part in parts]))


def fold_case(config: Config, entries: list[Entry]) -> tuple[CaseRow, dict[int, HeldRow]]:
    """Return the row of a case as its entries leave it, the first one first, and its held steps."""
    (opening, said), *others = entries
    first = loads(opening.request)["state"]
    row = CaseRow(
        opening.case, first, first, said["threshold"], OPEN, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        opening.recorded, entries[0].since, dumps(said["known"]), said["version"], opening.seq,
    )  # fmt: skip
    if opening.kind != "open":
        raise ValueError(opening.kind)
    told: list[tuple[Entry, CaseRow]] = []
    held: dict[int, HeldRow] = {}
    for entry in others:
        event, said = entry
        if event.kind == "tell":
            told.append((entry, row))
            due = due_time(config, said["took"], row.since, event.recorded)
            if due:
                held[event.step] = HeldRow(row.case, event.step, due, event.seq)
            row = _count_said(config, row, said, 1, held=bool(due))._replace(
                state=said["state"],
                status=said["status"],
                steps=event.step,
                overridden=row.overridden + (said["took"] != said["advised"]),
                since=entry.since,
            )
        elif event.kind == "void" and event.step:
            done, before = told.pop()
            waits = held.pop(event.step, None) is not None
            row = _count_said(config, row, done.answer, -1, held=waits)._replace(
                state=before.state,
                status=OPEN,
                steps=before.steps,
                overridden=before.overridden,
                since=before.since,
            )
        elif event.kind == "mature":
            del held[event.step]
            move = next(one.answer for one, _ in told if one.event.step == event.step)
            row = _count_said(
                config, _count_said(config, row, move, -1, held=True), move, 1, held=False
            )
        else:
            row = row._replace(status={"close": CLOSED, "void": OPEN}[event.kind])
        row = row._replace(last=event.seq)
    return row._replace(settled=is_settled(row.status, row.held)), held


def _count_said(
    config: Config, row: CaseRow, said: dict[str, Any], sign: int, *, held: bool
) -> CaseRow:
    """Return a case with a step, or without it again."""
    move = said["took"], said["from"], said["state"]
    return row._replace(**name_counts(count_step(config, row, move, sign, held=held)))
