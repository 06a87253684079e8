"""What a study counts, and what it decides from that.

A study's row is a sum over its cases: what each of them adds depends on the case's own row alone.
A case that is over, and of which all is mature, is settled into the learner's counters as one
round, as in Algorithm 1; what was counted in other cases is kept beside them and added when a
decision is due. FINISH that was advised, or taken, and does not count yet counts as taken. What is
counted by group, by state or with a memory is in `grbp.live.books`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from grbp.alarms.watch import Step, Watch
from grbp.errors import GrbpError, InvalidInput
from grbp.learners.base import Learner
from grbp.learners.counters import NOBODY, Counters, Totals, add_to, step_counts, with_pending
from grbp.learners.registry import LearnerLike
from grbp.learners.statewise.base import StateLearner
from grbp.learners.statewise.counters import StateCounters
from grbp.live import books
from grbp.live.books import Known, Move, count_change, finishes, issued_state, settle_case
from grbp.live.config import CONTINUE, FINISH, Config
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
from grbp.live.starts import FIRST
from grbp.numerics.rng import fold_in

Counts: TypeAlias = tuple[int, int, int, int, int, int]
"""The counts of a case, from f to held_f."""


UNDECIDED: Final = "the study's learner cannot decide, and shadow mode hides why"


def advise(config: Config, case: CaseRow) -> str | None:
    """Return the action that is advised in the present state of a case; None if it is over."""
    if case.status != OPEN:
        return None
    return FINISH if finishes(config, case.threshold, case.state) else CONTINUE


_RECENT: Final[dict[str, Any]] = {}
"""What was written not long ago, counters and watches, by the texts: most is read again soon."""


def _load_counters(text: str) -> Counters:
    return _RECENT.get(text) or Counters(*loads(text))


def load_watch(text: str) -> Watch:
    """Return what the alarms know."""
    return _RECENT.get(text) or Watch.from_list(loads(text))


def _keep_recent(text: str, value: object) -> str:
    if len(_RECENT) > 100:
        _RECENT.clear()
    _RECENT[text] = value
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


def total_counters(config: Config, study: StudyRow) -> Counters:
    """Return all that is counted, of all groups and states together, and nothing forgotten."""
    n = _load_counters(study.counters) if config.plain else config.first
    if not (study.f or study.c):
        return n
    return add_to(n, NOBODY, Totals(0, 0, study.f, study.f_goal, study.c, study.c_up))


def know(config: Config, study: StudyRow, group: str = "") -> Known:
    """Return what a case that is opened now is decided from."""
    round_ = config.first_round + study.opened
    if config.plain:
        return total_counters(config, study)._replace(rho=round_), [study.pending]
    return books.know(config, study, group, fold_in(config.learner_key, round_))


def know_all(config: Config, study: StudyRow) -> dict[str, tuple[Known, int]]:
    """Return what is known, and how many cases were opened, in all ("") and in each group.

    With one set of counters, a decision is made from what is known in all.
    """
    if not config.groups:
        return {"": (know(config, study), study.opened)}
    found = {
        group: (know(config, study, group), book.opened)
        for group, book in zip(config.groups, books.load_books(study), strict=True)
    }
    return {"": (books.pool(config, study), study.opened), **found}


def dumps_known(config: Config, study: StudyRow, group: str) -> str:
    """Write what a case that is opened now is decided from, as JSON."""
    if not config.plain:
        rank = 1 + books.count_opened(config, study, group)
        return books.dumps_known(config, know(config, study, group), rank)
    if study.f or study.c:
        return books.dumps_known(config, know(config, study), 0)
    # All of it stands in the row already, but for the round.
    round_ = config.first_round + study.opened
    return f"[{round_},{study.counters.partition(',')[2][:-1]},{study.pending}]"


def decide_choice(
    config: Config, study: StudyRow, given: LearnerLike | None, group: str = ""
) -> int:
    """Decide the threshold, or the policy, of a case that is opened now."""
    try:
        return _choose(config, given, config.first_round + study.opened, know(config, study, group))
    except GrbpError as error:
        if config.shadow:  # The learner's own words may tell what it would advise.
            raise InvalidInput(f"{UNDECIDED}; let somebody verify the study") from error
        raise


def decides_as_before(config: Config, case: CaseRow, given: LearnerLike | None) -> bool:
    """Return whether a case would get the same choice again from what was known then."""
    round_ = config.first_round + case.case - 1
    return _choose(config, given, round_, books.load_known(config, case.known)) == case.threshold


def _choose(config: Config, given: LearnerLike | None, round_: int, known: Known) -> int:
    """Decide from what is counted and what is pending.

    Paper: alg:GRBP
    """
    n, pending = known
    if isinstance(n, Counters) and config.start == FIRST and not (n.c and n.f):
        # One first CONTINUE, then one first FINISH; the learner needs an outcome of both.
        return config.goal - 1 if n.c and not n.f + pending[0] else 0
    learner, draw = config.resolve_learner(given), fold_in(config.learner_key, round_)
    try:
        choice = _ask(learner, config.goal, n, pending, draw)
    except GrbpError:
        raise
    except Exception as error:  # A learner of the user's own may do anything.
        raise InvalidInput(
            f"the learner {learner.name} could not decide ({type(error).__name__}: {error});"
            " correct it, and ask again"
        ) from error
    if isinstance(learner, Learner) and choice not in learner.choices(config.goal):
        raise InvalidInput(
            f"the learner {learner.name} decided threshold {choice}, which it does not declare"
        )
    return choice


def _ask(
    learner: Learner | StateLearner,
    goal: int,
    n: Counters | StateCounters,
    pending: list[int],
    draw: int,
) -> int:
    """Ask a learner, with the pending FINISH counted as taken."""
    if isinstance(learner, StateLearner):
        assert isinstance(n, StateCounters)  # noqa: S101 (a study by state counts so)
        return learner.choose(goal, books.with_pending_by_state(n, pending), draw)
    assert isinstance(n, Counters)  # noqa: S101
    if n.f > 0.0:
        n = with_pending(n, n.rho, float(pending[0]))
    return learner.choose(goal, n, draw)


def is_settled(status: str, held: int) -> int:
    """Return 1 if a case is over and all of it is mature, else 0."""
    return int(status != OPEN and not held)


def first_numbers(config: Config) -> tuple[str, str]:
    """Return the counters, and what the alarms know, before the first case."""
    counters = dumps_numbers(config.first) if config.plain else books.first_books(config)
    if not config.alarms:
        return counters, ""
    watch = Watch.start(config.goal, max(len(config.groups), 1), config.level)
    return counters, dumps(watch)


def update_study(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow, moves: Sequence[Move] = ()
) -> Numbers:
    """Return the numbers of a study after a case was changed, or opened.

    The last move is the step that was told, taken back or became mature; where `shows_moves` says
    so, the others are there as well.
    """
    opened, won, lost, closed, pending, counters, f, f_goal, c, c_up, alarms = study[4:15]
    settled, plain, n = new.settled, config.plain, None
    if plain and (settled or (old is not None and old.settled)):
        n = _load_counters(counters)
    for case, sign in ((old, -1), (new, 1)):
        if case is None:
            opened += 1
            continue
        pending += sign * (case.held_f + bool(issued_state(config, case)))
        if plain and case.settled and n is not None:
            n = settle_case(n, case, sign)
        else:
            f, f_goal = f + sign * case.f, f_goal + sign * case.f_goal
            c, c_up = c + sign * case.c, c_up + sign * case.c_up
        if case.status != OPEN:
            won, lost = won + sign * (case.status == WON), lost + sign * (case.status == LOST)
            closed += sign * (case.status == CLOSED)
    if n is not None:
        counters = _keep_recent(dumps_numbers(n), n)
    elif not plain:
        counters = books.update_books(config, study, old, new, moves)
    if alarms and old is not None and moves and (sign := count_change(old, new)):
        alarms = _watch(config, alarms, new, moves[-1], sign)
    return opened, won, lost, closed, pending, counters, f, f_goal, c, c_up, alarms


def _watch(config: Config, alarms: str, case: CaseRow, move: Move, sign: int) -> str:
    """Let the alarms follow a step that counts, or take it back."""
    (action, state, after), watch = move, load_watch(alarms)
    finish = action == FINISH
    success = after == config.goal if finish else after > state
    step = Step(case.case, config.number_of(case.group), state, finish, success)
    watch = watch.follow(step) if sign > 0 else watch.take_back(step)
    return _keep_recent(dumps(watch), watch)


def fold_case(config: Config, entries: list[Entry]) -> tuple[CaseRow, dict[int, HeldRow]]:
    """Return the row of a case as its entries leave it, the first one first, and its held steps."""
    (opening, said), *others = entries
    asked = loads(opening.request)
    first = asked["state"]
    row = CaseRow(
        opening.case, first, first, said["threshold"], OPEN, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        opening.recorded, entries[0].since, dumps(said["known"]), said["version"], opening.seq,
        asked.get("group", ""),
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
