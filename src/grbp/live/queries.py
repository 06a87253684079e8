"""The queries of a study: what reads its rows and its log, and changes nothing.

Those that verbs ask are in one table; the others are for pages and servers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from grbp._format import as_plain
from grbp._io import write_whole
from grbp.errors import Damaged, GrbpError, NotFound, ReadOnly
from grbp.learners.registry import LearnerLike
from grbp.live import codes, history
from grbp.live.advice import (
    Advice,
    AnyBasis,
    Case,
    Status,
    case_basis,
    explain_states,
    make_advice,
    make_case,
    make_status,
)
from grbp.live.arguments import format_time
from grbp.live.basis import StateBasis, estimate_chances
from grbp.live.calls import find_case
from grbp.live.choice import decide_choice, find_doubt
from grbp.live.config import Config, load_config
from grbp.live.ledger import Known, know, know_all, total_seen
from grbp.live.log_file import check_target, count_steps, dump_log, step_lines
from grbp.live.row_checks import check_types, find_checked, keep_checked
from grbp.live.schema import DAMAGE, CaseRow, Event, StudyRow, load_study
from grbp.live.starts import count_records
from grbp.live.store.base import LAST, Store, Transaction
from grbp.live.verify import Verified, verify_stored
from grbp.theory.posterior import Estimate
from grbp.worlds.validation import check_whole

T = TypeVar("T")


class Moment(NamedTuple):
    """What was known after an event.

    Of a study in shadow mode, a `Client` whose role is less than statistician gets None for the
    estimates and the threshold.

    Attributes
    ----------
    event : int
        The number of the event.
    recorded : str
        When it was recorded.
    cases : int
        How many cases had been opened.
    p_c, p_f, boundary : Estimate
        The estimates, and B(p_c), with intervals that hold whenever one looks.
    next_threshold : int or None
        The threshold that a case would have got then; None if nobody can say.
    """

    event: int
    recorded: str
    cases: int
    p_c: Estimate
    p_f: Estimate
    boundary: Estimate
    next_threshold: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types; None stands for what is unknown."""
        return {name: as_plain(value) for name, value in self._asdict().items()}


class Opened:
    """A study in a store: its rows, as they are checked, and its learner.

    `sure` is the configuration whose learner was found to decide as it did before, and `fault` what
    spoke against writing when it was looked at.
    """

    def __init__(self, store: Store, name: str, learner: LearnerLike | None = None) -> None:
        self.store, self.name, self.learner = store, name, learner
        self.checked = find_checked(store, name)
        self.fault: str | None = None
        self.sure = ""

    @property
    def read_only(self) -> str | None:
        """Why the study cannot be written to; None if it can."""
        return self.checked.damage or self.fault

    def look(self) -> Config:
        """Find out what speaks against writing, in the rows as they are; return how it is set."""

        def look(tx: Transaction) -> tuple[StudyRow, list[CaseRow]]:
            study = find_study(tx, self.name)
            return study, tx.cases(max(study.opened, 1) - 1, 2)

        with self.checked:
            study, cases = self.store.read(self.name, look)
            config, fault = load_config(study.config), self.store.missing(self.name)
            if [one.case for one in cases] != [study.opened][: study.opened]:
                fault = "its cases do not match its log: verify it, and restore a backup"
            self.checked = keep_checked(self.store, self.name)
            with suppress(Damaged):  # which is kept, and said from now on
                self.read(lambda *_: None)
            self.fault = next(iter(self.store.checks()), fault)
            return config

    def read(self, script: Callable[[Transaction, StudyRow], T]) -> T:
        """Run a script that reads this study, whose rows are checked against its log."""
        return self.checked.read(lambda tx: script(tx, find_study(tx, self.name)))

    def read_stored(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads what is stored as it is, checked or not."""
        with self.checked:
            return self.store.read(self.name, script)

    def write(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that writes, unless something speaks against it."""
        if self.read_only:
            raise ReadOnly(f"the study {self.name!r} can only be read: {self.read_only}")
        return self.checked.write(script)

    def find_doubt(self, tx: Transaction, study: StudyRow) -> str | None:
        """Say why the next case cannot be decided; what was found to decide is looked at once."""
        if self.sure == study.config:
            return None
        last = tx.case(study.opened) if study.opened else None
        doubt = find_doubt(load_config(study.config), last, self.learner)
        self.sure = "" if doubt else study.config
        return doubt


def ask(opened: Opened, case: int) -> Advice:
    """Say what to do next with a case."""

    def advise(tx: Transaction, study: StudyRow) -> Advice:
        row = find_case(tx, study, case)
        code = codes.read_codes(tx, [row]).get(case)
        return make_advice(load_config(study.config), study, row, None, code=code)

    return opened.read(advise)


def _read_cases(
    opened: Opened, script: Callable[[Transaction, StudyRow], list[CaseRow]]
) -> list[Case]:
    """Return the cases that a script reads, with their codes."""

    def read(tx: Transaction, study: StudyRow) -> list[Case]:
        config, rows = load_config(study.config), script(tx, study)
        known = codes.read_codes(tx, rows)
        return [make_case(config, row, known.get(row.case)) for row in rows]

    return opened.read(read)


def read_case(opened: Opened, case: int) -> Case:
    """Return a case."""
    return _read_cases(opened, lambda tx, study: [find_case(tx, study, case)])[0]


def list_cases(opened: Opened, after: int, limit: int, status: str | None) -> list[Case]:
    """List cases in the order of their numbers."""
    return _read_cases(opened, lambda tx, _: tx.cases(after, limit, status or ""))


def find_cases(opened: Opened, code: str, limit: int) -> list[Case]:
    """Find the cases with a code."""
    return _read_cases(opened, lambda tx, study: codes.find_cases(tx, study, code, limit))


def explain(opened: Opened, case: int, state: int | None) -> AnyBasis | None:
    """Give the reasons for what is advised in a state of a case; None in shadow mode."""
    config, row = opened.read(
        lambda tx, study: (load_config(study.config), find_case(tx, study, case))
    )
    if config.shadow:
        return None
    at = check_whole("state", row.state if state is None else state, 1, config.goal - 1)
    return case_basis(config, row._replace(state=at))


def list_moments(opened: Opened, points: int) -> list[Moment]:
    """Return what was known after some events, evenly spaced, and after the last one."""

    def sample(tx: Transaction, study: StudyRow) -> tuple[StudyRow, list[Event | None]]:
        last, many = study.seq, min(points, study.seq)
        numbers = {last - (last - 1) * i // max(many - 1, 1) for i in range(many)}
        return study, [tx.event(seq) for seq in sorted(numbers)]

    study, events = opened.read(sample)
    config = load_config(study.config)
    with opened.checked:
        return [
            _make_moment(config, then, event, opened.learner)
            for event in filter(None, events)
            # What was configured before the first case may have begun otherwise.
            if (then := load_study(study.name, study.config, [event])) is not None
            and (then.opened or event.seq == study.seq)
        ]


def _make_moment(
    config: Config, then: StudyRow, event: Event, learner: LearnerLike | None
) -> Moment:
    """Return what was known after an event."""
    chances = estimate_chances(config.goal, total_seen(config, then), config.level)
    threshold = None
    with suppress(GrbpError):
        at = config.at(then.opened + 1)
        threshold = None if config.groups else decide_choice(at, then, learner, know(config, then))
    return Moment(event.seq, event.recorded, then.opened, *chances, threshold)


def list_events(opened: Opened, after: int, limit: int, case: int | None) -> list[Event]:
    """List events as they are stored, changed or not."""

    def read(tx: Transaction) -> list[Event]:
        row = None if case is None else tx.case(case)
        if case is None:
            found = tx.events(after, limit)
        else:
            events = (entry.event for entry in history.case_entries(tx, row)) if row else ()
            found = list(takewhile(lambda event: event.seq > after, events))[::-1][:limit]
        for event in found:
            check_types(event, f"event {event.seq}")
        return found

    return opened.read_stored(read)


def find_taken_back(opened: Opened, events: Iterable[Event]) -> set[int]:
    """Find out which events were taken back, by reading the cases they are about."""
    cases = sorted({event.case for event in events if event.case})

    def find(tx: Transaction) -> set[int]:
        rows = filter(None, map(tx.case, cases))
        entries = ([e.event for e in history.case_entries(tx, row)] for row in rows)
        return set().union(*(history.find_taken_back(events[::-1]) for events in entries))

    return opened.read_stored(find)


def read_status(opened: Opened) -> Status:
    """Say how the study stands."""
    study, doubt = opened.read(lambda tx, study: (study, opened.find_doubt(tx, study)))
    config = load_config(study.config)
    with opened.checked:
        known = {
            name: (one, None if doubt else _decide(config, study, name, one, opened.learner))
            for name, one in know_all(config, study).items()
        }
        return make_status(config, study, known, opened.read_only, doubt)


def _decide(
    config: Config, study: StudyRow, group: str, known: Known, learner: LearnerLike | None = None
) -> int | None:
    """Return what a case of a group would get now; None if that cannot be decided."""
    if not config.groups or group:
        with suppress(GrbpError):
            return decide_choice(config, study, learner, known)
    return None


def count_all(opened: Opened, *, by_state: bool, groups: Sequence[str] | None) -> Any:
    """Count the steps that stand in the log and count by now, for another study to begin with."""
    study, found = opened.read(lambda tx, study: (study, count_steps(tx, study)))
    config = load_config(study.config)
    if groups and sorted(groups) == sorted(config.groups):
        return {
            name: count_records(config.start, {name: one}, by_state=by_state)
            for name, one in found.items()
        }
    return count_records(config.start, found, by_state=by_state)


def dump_lines(opened: Opened) -> Iterator[bytes]:
    """Yield the lines of an export: a head, then the events, up to the last one there is now."""
    with opened.checked:
        yield from dump_log(opened.store, opened.name)


def write_steps(opened: Opened, path: Path | str, *, codes: bool) -> Path:
    """Write all steps to a CSV file."""
    target = check_target(path, opened.store)
    return opened.read_stored(lambda tx: write_whole(target, step_lines(tx, codes=codes), 0o600))


def back_up(opened: Opened, path: Path | str) -> Path:
    """Copy all studies of the store to a new SQLite file."""
    opened.store.backup(Path(path))
    return Path(path)


def verify(opened: Opened, *, decide: bool) -> Verified:
    """Check the study; write again where all is well, and not where something is damaged."""
    with opened.checked:
        found = verify_stored(opened.store, opened.name, opened.learner, decide=decide)
    if not (decide and found.problems):  # A decision that comes out differently may be sound.
        opened.checked.note_check(found.problems)
    if found.ok:
        opened.look()
    return found


QUERIES: Final[dict[str, Callable[..., Any]]] = {
    "ask": ask,
    "case": read_case,
    "basis": explain,
    "cases": list_cases,
    "find_cases": find_cases,
    "log": list_events,
    "find_taken_back": find_taken_back,
    "trajectory": list_moments,
    "status": read_status,
    "verify": partial(verify, decide=False),
    "replay": partial(verify, decide=True),
    "export_lines": dump_lines,
    "export_steps": write_steps,
    "backup": back_up,
}
"""What reads for a verb; it gets the study and what was given."""


def find_study(tx: Transaction, name: str) -> StudyRow:
    """Return the row of a study, or say that there is none."""
    study = tx.study()
    if study is None:
        raise NotFound(
            f"the study {name!r} was asked for; there is none of this name: `grbp live studies`"
            " lists those of a store"
        )
    return study


def read_config(store: Store, name: str) -> Config:
    """Return the configuration of a study as it is now; it is locked from the first case on."""
    return Opened(store, name).read(lambda _, study: load_config(study.config))


def read_held_steps(store: Store, name: str, case: int) -> list[tuple[int, str]]:
    """List the steps of a case that do not count yet, and when they will."""
    rows = Opened(store, name).read(lambda tx, _: tx.due(LAST))
    return sorted((row.step, row.due) for row in rows if row.case == case)


def read_undoable(
    store: Store, name: str, case: int, who: str, now: datetime
) -> history.Undoable | None:
    """Return the last entry of a case if somebody can undo it now; None if not."""

    def find(tx: Transaction, study: StudyRow) -> history.Undoable | None:
        row = find_case(tx, study, case)
        return None if study.archived else history.find_undoable(tx, row, who, format_time(now))

    return Opened(store, name).read(find)


def read_states(store: Store, name: str, group: str) -> tuple[StateBasis, ...]:
    """Say what a learner by state knows in each state of a group, and would advise there."""
    study = Opened(store, name).read(lambda _, row: row)
    config = load_config(study.config)
    known = know(config, study, group)
    return explain_states(config, known, _decide(config, study, group, known))


def list_current(store: Store) -> list[str]:
    """List the studies that are not archived; one that cannot be read is among them."""
    return [name for name in store.studies() if not _is_archived(store, name)]


def _is_archived(store: Store, name: str) -> bool:
    """Return whether a study is archived, as far as that can be read."""
    study = None
    with suppress(GrbpError, *DAMAGE):
        study = store.read(name, lambda tx: tx.study())
    return study is not None and bool(study.archived)


def find_only_study(store: Store) -> str:
    """Return the name of the only study in a store."""
    names = store.studies()
    names = list_current(store) or names if len(names) > 1 else names
    if len(names) != 1:
        raise NotFound(f"no study was named for {store.where}; {describe_studies(names)}")
    return names[0]


def describe_studies(names: list[str]) -> str:
    """Say which studies there are, and what to do."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    have = f"it has {', '.join(map(repr, names[:5]))}{more}: name one of them"
    return have if names else "it has none: `grbp live init` makes one"
