"""Check a study against its log: the chain of hashes, and that every row follows from it."""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from grbp._format import plural
from grbp.errors import GrbpError
from grbp.learners.registry import LearnerLike
from grbp.live.choice import UNDECIDED
from grbp.live.config import load_config
from grbp.live.models import name_learner
from grbp.live.recording import Again, replay
from grbp.live.row_checks import DAMAGE, describe_damage
from grbp.live.schema import NO_HASH, CaseRow, Event, StudyRow, hash_fields
from grbp.live.store.base import LAST, Store, Transaction
from grbp.live.store.memory import MemoryTransaction, StudyRows

_MOST_PROBLEMS: Final = 20
"""The problems that are named."""

_CLOCK_TOLERANCE: Final = timedelta(minutes=5)

_REPLAYED_FIELDS: Final = ("kind", "case", "step", "request", "response")
"""The parts of an event that the rules make; the others are taken over or follow from these."""


class Verified(NamedTuple):
    """What a look at a whole study found.

    Attributes
    ----------
    events : int
        The events in the log.
    head : str
        The hash of the last one, which stands for the whole log.
    decisions : int
        The decisions that were made again, if they were.
    problems : tuple of str
        What is wrong, a sentence each; empty if all is well.
    notes : tuple of str
        What is unusual and not wrong: a clock that went back by more than five minutes.
    """

    events: int
    head: str
    decisions: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems


class _ReplayedRows(MemoryTransaction):
    """The rows that follow from a log, without the log itself where that is at hand.

    Where an event could not be played again, or came out otherwise, they follow no more.
    """

    def __init__(self, log: Transaction | None) -> None:
        super().__init__("", StudyRows())
        self._log, self.follow = log, True

    def append(self, event: Event) -> None:
        """Keep an event if there is no log."""
        if self._log is None:
            self._rows.events[event.seq] = event

    def event(self, seq: int) -> Event | None:
        """Return an event that was played before."""
        return self._rows.events.get(seq) if self._log is None else self._log.event(seq)

    def case(self, case: int) -> CaseRow | None:
        """Return a case."""
        return self._rows.cases.get(case)

    def all_cases(self, _: str = "") -> Iterator[CaseRow]:
        """Yield every case, in the order in which they were opened."""
        return iter(self._rows.cases.values())

    def put_study(self, row: StudyRow) -> None:
        """Write the study's row."""
        self._rows.study[""] = row

    def put_case(self, row: CaseRow) -> None:
        """Write a case's row."""
        self._rows.cases[row.case] = row


def replay_log(
    events: Iterable[Event],
    learner: LearnerLike | None,
    *,
    decide: bool,
    log: Transaction | None = None,
    again: Again | None = None,
) -> tuple[Verified, _ReplayedRows]:
    """Play a log again in memory; return what was found, and the rows that follow from it.

    Where the log is at hand, what was played is found there, and need not be kept. `again` records
    an event once more, if the rules of a study are not those of the log.
    """
    tx = _ReplayedRows(log)
    problems: list[str] = []
    count, decisions, head, seq = 0, 0, NO_HASH, 0
    undecided: Counter[str] = Counter()
    if again is None and decide:
        again = partial(_decide_again, learner=learner, undecided=undecided)
    again = again or partial(replay, learner=None, decide=False)
    folding, clock, back = True, "", []
    for event in events:
        count += 1
        if event.recorded < clock and _clock_went_back(clock, event.recorded):
            back.append(event.seq)
        clock = event.recorded
        made: Event | None = None
        # After a gap, or what stands there twice, nothing follows from anything.
        folding = folding and event.seq == seq + 1
        if folding:
            try:
                made = again(tx, event)
            except Exception as error:
                fault = describe_error(error)
                problems.append(f"event {event.seq} cannot be played again: {fault}")
                folding = False
        if made is None or made != event:
            problems += _find_chain_faults(event, seq, head)
            if made is not None:
                problems += _find_differences(made, event)
                folding = False
        decisions += decide and event.kind == "open"
        # The key of a damaged event need not even be a number.
        head, seq = event.hash, event.seq if isinstance(event.seq, int) else seq + 1
    tx.follow, decisions = folding, decisions - undecided.total()
    for why, many in undecided.items():
        problems.append(f"{plural(many, 'decision')} could not be made again: {why}")
    notes: tuple[str, ...] = ()
    if back:
        more = f" and {len(back) - 1:,} times later" if back[1:] else ""
        notes = (f"the clock went back before event {back[0]}{more}; the order of the log counts",)
    return Verified(count, head, decisions, tuple(problems), notes), tx


def _decide_again(
    tx: Transaction, event: Event, learner: LearnerLike | None, undecided: Counter[str]
) -> Event:
    """Record an event once more, and decide anew; where the learner is gone, as it was decided.

    Of that, the reason is counted.
    """
    study = tx.study()
    if study is None or event.kind != "open":
        return replay(tx, event, learner, decide=True)
    config = load_config(study.config)
    # One that is given need not be the one that decided then.
    given = learner if name_learner(learner) == config.learner_name else None
    try:
        config.resolve_learner(given)
    except GrbpError as error:
        undecided[UNDECIDED if config.shadow else str(error)] += 1
        return replay(tx, event, None, decide=False)
    return replay(tx, event, given, decide=True)


def verify_stored(
    store: Store, name: str, learner: LearnerLike | None, *, decide: bool
) -> Verified:
    """Check a study in a store, and the store itself."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (other verbs need none)

    # The database's own check needs no Python, so that it takes no time beside ours.
    with ThreadPoolExecutor(1) as beside:
        damage = beside.submit(store.damage)
        missing = None
        try:
            missing = store.missing(name)
            found = store.read(name, lambda tx: verify_study(tx, learner, decide=decide))
        except (GrbpError, *DAMAGE) as error:
            # It may be somebody else's fault, such as that of a network.
            if isinstance(error, GrbpError) and not damage.result():
                raise
            what = str(error) if isinstance(error, GrbpError) else describe_damage(name, error)
            found = Verified(0, "", 0, (what,), ())
        first = [missing] if missing else []
        return found._replace(problems=(*first, *found.problems, *damage.result()))


def verify_study(
    tx: Transaction,
    learner: LearnerLike | None,
    *,
    decide: bool,
    again: Again | None = None,
) -> Verified:
    """Check a study: its log, and that its rows are what the log makes of them."""
    with _pause_collector():
        events = tx.all_events()
        found, made = replay_log(events, learner, decide=decide, log=tx, again=again)
        problems = list(found.problems)
        if made.follow:
            problems += _compare_rows("study", [tx.study()], [made.study()])
            problems += _compare_rows("case", tx.all_cases(), made.all_cases())
            problems += _compare_rows("held step", tx.due(LAST), made.due(LAST))
    more = len(problems) - _MOST_PROBLEMS
    named = [*problems[:_MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
    return found._replace(problems=tuple(named))


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Keep Python from searching millions of new rows for cycles, which they do not make."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _clock_went_back(before: str, after: str) -> bool:
    """Return whether a clock went back by more than clocks and waiting writers differ."""
    with suppress(TypeError, ValueError):
        return datetime.fromisoformat(before) - datetime.fromisoformat(after) > _CLOCK_TOLERANCE
    return False  # no times: the event is damaged, and named


def _find_chain_faults(event: Event, seq: int, head: str) -> Iterator[str]:
    """Say what is wrong with an event in its chain."""
    if event.seq != seq + 1:
        yield f"event {seq + 1} is missing: event {event.seq} follows event {seq}"
    elif event.previous != head:
        yield f"event {event.seq} does not continue the chain: it names another hash before it"
    if hash_fields(event[:-1]) != event.hash:
        yield f"event {event.seq} was changed: its hash does not match its content"


def _find_differences(made: Event, event: Event) -> Iterator[str]:
    """Say in what an event differs from the one that the rules make of its request."""
    named = [name for name in _REPLAYED_FIELDS if getattr(made, name) != getattr(event, name)]
    if named:
        yield (
            f"event {event.seq} differs from what the rules make of it now in its"
            f" {' and '.join(named)}: {made.response} instead of {event.response}"
        )


def _compare_rows(kind: str, stored: Iterable[Any], made: Iterable[Any]) -> Iterator[str]:
    """Say which rows are not what the log makes of them."""
    for one, other in zip_longest(stored, made):
        if one != other:
            row = one if one is not None else other
            which = "the study's row" if kind == "study" else f"the row of {kind} {row[0]}"
            if kind == "held step":
                which = f"the row of held step {row[1]} of case {row[0]}"
            yield f"{which} does not follow from the log"


def find_fault(study: StudyRow, last: list[Event], cases: list[CaseRow]) -> str | None:
    """Say what speaks against going on with a study, whose end is damaged.

    `last` and `cases` are what the log and the cases have from the last one of the study's row on.
    """
    if [one.hash for one in last] != [study.head] or hash_fields(last[0][:-1]) != study.head:
        return "its last event does not match its head: verify it, and restore a backup"
    if [one.case for one in cases] != [study.opened][: study.opened]:
        return "its cases do not match its log: verify it, and restore a backup"
    return None


def describe_error(error: Exception) -> str:
    """Say what went wrong: in a sentence if there is one, else by its name."""
    return str(error) if isinstance(error, GrbpError) else type(error).__name__
