"""Check a study against its log: the chain of hashes, and that every row follows from it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from grbp._format import plural
from grbp.errors import GrbpError
from grbp.learners.registry import LearnerLike
from grbp.learners.serialization import set_as_kept
from grbp.live.choice import UNDECIDED
from grbp.live.config import load_config
from grbp.live.learner_names import name_learner
from grbp.live.recording import Again, replay
from grbp.live.row_checks import describe_damage
from grbp.live.schema import DAMAGE, NO_HASH, Event, hash_fields
from grbp.live.store.base import LAST, Store, Transaction
from grbp.live.store.memory import MemoryTransaction, StudyRows

_MOST_PROBLEMS: Final = 20
"""The problems that are named."""

_CLOCK_TOLERANCE: Final = timedelta(minutes=5)

_REPLAYED_FIELDS: Final = ("kind", "case", "step", "request", "response")
"""The parts of an event that the rules make; the others are taken over or follow from these."""


_RECORD_AGAIN: Final[Again] = partial(replay, learner=None, decide=False)

Failures: TypeAlias = type[Exception] | tuple[type[Exception], ...]


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
    """The rows that follow from a log, without the log itself where that is at hand."""

    def __init__(self, log: Transaction | None) -> None:
        super().__init__("", StudyRows())
        self._log = log

    def append(self, event: Event) -> None:
        """Keep an event if there is no log."""
        if self._log is None:
            self._rows.events[event.seq] = event

    def event(self, seq: int) -> Event | None:
        """Return an event that was played before."""
        return self._rows.events.get(seq) if self._log is None else self._log.event(seq)


class Replay:
    """A log that is played again.

    Attributes
    ----------
    tx : Transaction
        The rows that follow from it.
    follow : bool
        Whether they do: an event may be one that cannot be played again, or come out otherwise.
    events, opened : int
        How many events there were, and how many of these opened a case.
    head : str
        The hash of the last one.
    back : list of int
        The events before which the clock went back.
    """

    def __init__(self, tx: Transaction, again: Again = _RECORD_AGAIN) -> None:
        self.tx, self._again = tx, again
        self.follow, self.head = True, NO_HASH
        self.events = self.opened = 0
        self.back: list[int] = []

    def find_problems(
        self, events: Iterable[Event], failures: Failures = Exception
    ) -> Iterator[str]:
        """Play events again, each by some failures or none; say what is wrong with them."""
        seq, clock = 0, ""
        for event in events:
            self.events += 1
            self.opened += event.kind == "open"
            if event.recorded < clock and _clock_went_back(clock, event.recorded):
                self.back.append(event.seq)
            clock = event.recorded
            made: Event | None = None
            # After a gap, or what stands there twice, nothing follows from anything.
            self.follow = self.follow and event.seq == seq + 1
            if self.follow:
                try:
                    made = self._again(self.tx, event)
                except failures as error:
                    yield f"event {event.seq} cannot be played again: {describe_error(error)}"
                self.follow = made == event
            if made != event:
                yield from _find_chain_faults(event, seq, self.head)
                yield from _find_differences(made, event)
            # The key of a damaged event need not even be a number.
            self.head, seq = event.hash, event.seq if isinstance(event.seq, int) else seq + 1


def replay_log(
    events: Iterable[Event],
    learner: LearnerLike | None,
    *,
    decide: bool,
    log: Transaction | None = None,
    again: Again = _RECORD_AGAIN,
) -> tuple[Verified, Replay]:
    """Play a log again in memory; return what was found, and the rows that follow from it.

    Where the log is at hand, what was played is found there, and need not be kept. `again` records
    an event once more, if the rules of a study are not those of the log.
    """
    undecided: Counter[str] = Counter()
    if decide:
        again = partial(_decide_again, learner=learner, undecided=undecided)
    played = Replay(_ReplayedRows(log), again)
    problems = list(played.find_problems(events))
    decisions = played.opened - undecided.total() if decide else 0
    for why, many in undecided.items():
        problems.append(f"{plural(many, 'decision')} could not be made again: {why}")
    notes: tuple[str, ...] = ()
    if played.back:
        first, *later = played.back
        more = f" and {len(later):,} times later" if later else ""
        notes = (f"the clock went back before event {first}{more}; the order of the log counts",)
    return Verified(played.events, played.head, decisions, tuple(problems), notes), played


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
    given = set_as_kept(learner, config.learner_name, config.goal) if learner else None
    if name_learner(given) != config.learner_name:
        given = None
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
    again: Again = _RECORD_AGAIN,
) -> Verified:
    """Check a study: its log, and that its rows are what the log makes of them."""
    events = tx.all_events()
    found, played = replay_log(events, learner, decide=decide, log=tx, again=again)
    problems = list(found.problems)
    if played.follow:
        made = played.tx
        problems += _compare_rows("study", [tx.study()], [made.study()])
        problems += _compare_rows("case", tx.all_cases(), made.all_cases())
        problems += _compare_rows("held step", tx.due(LAST), made.due(LAST))
    more = len(problems) - _MOST_PROBLEMS
    named = [*problems[:_MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
    return found._replace(problems=tuple(named))


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


def _find_differences(made: Event | None, event: Event) -> Iterator[str]:
    """Say in what an event differs from the one that the rules make of its request."""
    named = [
        name for name in _REPLAYED_FIELDS if made and getattr(made, name) != getattr(event, name)
    ]
    if made and named:
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


def describe_error(error: Exception) -> str:
    """Say what went wrong: in a sentence if there is one, else by its name."""
    return str(error) if isinstance(error, GrbpError) else type(error).__name__
