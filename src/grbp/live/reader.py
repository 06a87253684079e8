"""The part of a study that only reads: what to do, how it stands, and whether all is well."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, Self, TypeVar

from grbp._io import write_whole
from grbp.errors import Damaged, GrbpError, InvalidInput
from grbp.learners.registry import LearnerLike
from grbp.live.advice import (
    Advice,
    AnyBasis,
    Case,
    Status,
    case_basis,
    make_advice,
    make_case,
    make_status,
)
from grbp.live.arguments import check_case, check_page, check_recorder, check_text, utc_now
from grbp.live.calls import find_case
from grbp.live.choice import decide_choice
from grbp.live.codes import check_code, find_cases, read_codes
from grbp.live.config import Config, load_config
from grbp.live.export import check_target, count_steps, dump_log, step_tables
from grbp.live.history import case_entries, find_taken_back
from grbp.live.ledger import Known, know_all
from grbp.live.reading import find_only_study, find_study
from grbp.live.row_checks import check_types, find_checked, keep_checked
from grbp.live.schema import STATUSES, CaseRow, Event, StudyRow
from grbp.live.starts import count_records
from grbp.live.store import Where, open_store
from grbp.live.store.base import Store, Transaction
from grbp.live.trajectory import Moment, make_moments, sample_events
from grbp.live.verify import Verified, find_fault, verify_stored
from grbp.model.steps import steps_text
from grbp.model.validation import check_whole

T = TypeVar("T")


class StudyReader:
    """A study that was opened, and can be read; `grbp.Study` also writes."""

    def __init__(
        self,
        store: Where,
        name: str | None = None,
        *,
        who: str | None = None,
        learner: LearnerLike | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._who = check_recorder(who)
        # A name is in the configuration.
        self._learner = None if isinstance(learner, str) else learner
        self._clock = clock
        self._store = open_store(store)
        try:
            self.name = (
                find_only_study(self._store) if name is None else check_text("name", name, 64)
            )
            self._reason = self._find_reason()
        except BaseException:
            if not isinstance(store, Store):
                self._store.close()
            raise

    def _find_reason(self) -> str | None:
        """Say what speaks against writing, if something does; look at the rows as they are."""

        def look(tx: Transaction) -> tuple[StudyRow, list[Event], list[CaseRow]]:
            study = find_study(tx, self.name)
            return study, tx.events(study.seq - 1, 2), tx.cases(max(study.opened, 1) - 1, 2)

        with find_checked(self._store, self.name):
            study, last, cases = self._store.read(self.name, look)
            config = load_config(study.config)
            self.goal, self.labels = config.goal, config.words
            fault = find_fault(study, last, cases, self._learner)
            fault = fault or self._store.missing(self.name)
            self._checked = keep_checked(self._store, self.name)
            with suppress(Damaged):  # which is kept, and said from now on
                self._read(lambda _, study: study)
            return next(iter(self._store.checks()), fault)

    @property
    def read_only(self) -> str | None:
        """Why the study cannot be written to; None if it can."""
        return self._checked.damage or self._reason

    def __repr__(self) -> str:
        note = f", read-only: {self.read_only}" if self.read_only else ""
        return f"<Study({self._store.where!r}, {self.name!r}): goal {self.goal}{note}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file or the connection."""
        self._store.close()

    def ask(self, case: int) -> Advice:
        """Say what to do next with a case; this changes nothing.

        Parameters
        ----------
        case : int
            The number of the case.

        Returns
        -------
        Advice

        Raises
        ------
        NotFound
            If there is no such case.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(1).action == study.ask(1).action
        True
        """
        number = check_case(case)

        def advise(tx: Transaction) -> Advice:
            study = find_study(tx, self.name)
            row = find_case(tx, study, number)
            code = read_codes(tx, [row]).get(number)
            return make_advice(load_config(study.config), study, row, None, code=code)

        return self._checked.read(advise)  # One call fewer: people wait for this one.

    def case(self, case: int) -> Case:
        """Return a case.

        Parameters
        ----------
        case : int
            The number of the case.

        Returns
        -------
        Case
        """
        number = check_case(case)
        return self._read_cases(lambda tx, study: [find_case(tx, study, number)])[0]

    def find_cases(self, code: str, limit: int = 100) -> list[Case]:
        """Find the cases with a code: those in progress first, then the last ones first.

        Parameters
        ----------
        code : str
            All of the code; small and capital letters are the same.
        limit : int, default 100
            How many to return at most.

        Returns
        -------
        list of Case

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.open_case(3, code="B-12")
        >>> [case.case for case in study.find_cases("b-12")]
        [2]
        """
        wanted, (_, most) = check_code(code), check_page(0, limit)
        return self._read_cases(lambda tx, study: find_cases(tx, study, wanted, most))

    def _read_cases(self, script: Callable[[Transaction, StudyRow], list[CaseRow]]) -> list[Case]:
        """Return the cases that a script reads, with their codes."""

        def read(tx: Transaction, study: StudyRow) -> list[Case]:
            config, rows = load_config(study.config), script(tx, study)
            codes = read_codes(tx, rows)
            return [make_case(config, row, codes.get(row.case)) for row in rows]

        return self._read(read)

    def basis(self, case: int, state: int | None = None) -> AnyBasis | None:
        """Give the reasons for what is advised in a state of a case, from when it was opened.

        Parameters
        ----------
        case : int
        state : int, optional
            A state from 1 to goal - 1, by default the present one.

        Returns
        -------
        Basis, StateBasis or None
            None in shadow mode.
        """
        config, row = self._find_case(case)
        if config.shadow:
            return None
        at = check_whole("state", row.state if state is None else state, 1, config.goal - 1)
        return case_basis(config, row._replace(state=at))

    def trajectory(self, points: int = 100) -> list[Moment]:
        """Return what was known after some events, evenly spaced, and after the last one."""
        study, events = self._read(lambda tx, study: (study, sample_events(tx, study.seq, points)))
        with self._checked:
            return make_moments(study, events, self._learner)

    def cases(self, after: int = 0, limit: int = 100, status: str | None = None) -> list[Case]:
        """List cases in the order of their numbers.

        Parameters
        ----------
        after : int, default 0
            The number after which to begin.
        limit : int, default 100
            How many to return at most.
        status : str, optional
            "open", "won", "lost" or "closed", to list those alone.

        Returns
        -------
        list of Case

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.open_case(1)
        >>> [case.state for case in study.cases(status="open")]
        [2, 1]
        """
        if status is not None and not (isinstance(status, str) and status in STATUSES):
            raise InvalidInput(
                f"status = {status!r} was given; it must be one of {', '.join(STATUSES)}"
            )
        page = check_page(after, limit)
        return self._read_cases(lambda tx, _: tx.cases(*page, status or ""))

    def log(self, after: int = 0, limit: int = 100, case: int | None = None) -> list[Event]:
        """List events in the order in which they were recorded.

        Parameters
        ----------
        after : int, default 0
            The number of the event after which to begin.
        limit : int, default 100
            How many to return at most.
        case : int, optional
            The case whose events to list; by default those of all.

        Returns
        -------
        list of Event

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4, who="ada")
        >>> _ = study.open_case(2)
        >>> [(event.kind, event.who) for event in study.log()]
        [('study', 'ada'), ('open', 'ada')]
        """
        page = after, limit = check_page(after, limit)
        if case is None:
            return self._read_events(lambda tx: tx.events(*page))
        number = check_case(case)

        def read_events(tx: Transaction) -> list[Event]:
            row = tx.case(number)
            events = (entry.event for entry in case_entries(tx, row)) if row else ()
            return list(takewhile(lambda event: event.seq > after, events))

        return self._read_events(read_events)[::-1][:limit]

    def find_taken_back(self, events: Iterable[Event]) -> set[int]:
        """Find out which events were taken back, now or later, by reading the cases they are about.

        Parameters
        ----------
        events : iterable of Event
            Such as a page of the log.

        Returns
        -------
        set of int
            The numbers of those that were taken back; there may be others of the same cases.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.tell(1, 3), study.undo(1)
        >>> study.find_taken_back(study.log())
        {3}
        """
        cases = {event.case for event in events if event.case}

        def find(tx: Transaction) -> set[int]:
            rows = filter(None, map(tx.case, sorted(cases)))
            found = (
                find_taken_back([e.event for e in case_entries(tx, row)][::-1]) for row in rows
            )
            return set().union(*found)

        with self._checked:
            return self._store.read(self.name, find)

    def status(self) -> Status:
        """Say how the study stands: its cases, what is known, and how sure that is.

        Returns
        -------
        Status

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.status().cases
        {'opened': 0, 'open': 0, 'won': 0, 'lost': 0, 'closed': 0}
        """
        study = self._read(lambda _, study: study)
        config = load_config(study.config)
        with self._checked:
            known = {
                name: (one, self._decide(config, study, name, one))
                for name, one in know_all(config, study).items()
            }
            return make_status(config, study, known, self.read_only)

    def _decide(self, config: Config, study: StudyRow, group: str, known: Known) -> int | None:
        """Return what a case of a group would get now; None if that cannot be decided."""
        if not config.groups or group:
            with suppress(GrbpError):
                return decide_choice(config, study, self._learner, known)
        return None

    def _count_records(self, *, by_state: bool = False, groups: Sequence[str] | None = None) -> Any:
        """Count the steps that stand in the log and count by now, for another study to begin with.

        Where the groups of the other are those of this one, each has its own. What this one began
        with is counted as well, if it is known by state where that is asked for.
        """
        study, found = self._read(lambda tx, study: (study, count_steps(tx, study)))
        config = load_config(study.config)
        if groups and sorted(groups) == sorted(config.groups):
            return {
                name: count_records(config.start, {name: one}, by_state=by_state)
                for name, one in found.items()
            }
        return count_records(config.start, found, by_state=by_state)

    def verify(self) -> Verified:
        """Check the whole study: the chain of hashes, and that all rows follow from the log.

        Returns
        -------
        Verified

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.verify().events, study.verify().problems
        (2, ())
        """
        return self._verify(decide=False)

    def replay(self) -> Verified:
        """Check the whole study, and make every decision again.

        Returns
        -------
        Verified
            With the number of decisions; a problem names the first that comes out differently.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.replay().decisions, study.replay().ok
        (1, True)
        """
        return self._verify(decide=True)

    def _verify(self, *, decide: bool) -> Verified:
        """Check the study; write again where all is well, and not where something is damaged."""
        with self._checked:
            found = verify_stored(self._store, self.name, self._learner, decide=decide)
        if not (decide and found.problems):  # A decision that comes out differently may be sound.
            self._checked.note_check(found.problems)
        if found.ok:
            self._reason = self._find_reason()
        return found

    def export(self, path: Path | str) -> Path:
        """Write the log to a file, a line of JSON for each event, whole or not at all.

        Parameters
        ----------
        path : Path or str

        Returns
        -------
        Path
        """
        return write_whole(check_target(path, self._store), dump_log(self._store, self.name), 0o600)

    def export_lines(self) -> Iterator[bytes]:
        """Yield the lines that `export` writes.

        Returns
        -------
        iterator of bytes
            A head, then the events, up to the last one there is now.
        """
        with self._checked:
            for part in dump_log(self._store, self.name):
                yield from part.splitlines(keepends=True)

    def export_steps(self, path: Path | str, *, codes: bool = False) -> Path:
        """Write all steps to a CSV file, as `fit` and ``grbp fit`` read them.

        Beside the numbers stand the study's words, what was advised, why something else was done,
        who recorded it, and when.

        Parameters
        ----------
        path : Path or str
        codes : bool, default False
            Whether to write the short codes of cases as well, which may point to people.

        Returns
        -------
        Path
        """
        target = check_target(path, self._store)
        with self._checked:
            return self._store.read(
                self.name,
                lambda tx: write_whole(target, steps_text(step_tables(tx, codes=codes)), 0o600),
            )

    def backup(self, path: Path | str) -> Path:
        """Copy all studies of the store, as they are now, to a new SQLite file.

        Parameters
        ----------
        path : Path or str
            A file that is not there yet.

        Returns
        -------
        Path
        """
        self._store.backup(Path(path))
        return Path(path)

    def _find_case(self, case: object) -> tuple[Config, CaseRow]:
        """Return the configuration and a case, or refuse a number that no case has."""
        at = check_case(case)
        return self._read(lambda tx, study: (load_config(study.config), find_case(tx, study, at)))

    def _read(self, script: Callable[[Transaction, StudyRow], T]) -> T:
        """Run a script that reads this study, whose rows are checked against its log."""
        return self._checked.read(lambda tx: script(tx, find_study(tx, self.name)))

    def _read_events(self, script: Callable[[Transaction], list[Event]]) -> list[Event]:
        """Run a script that returns events as they are stored, changed or not."""
        with self._checked:
            events = self._store.read(self.name, script)
            for event in events:
                check_types(event, f"event {event.seq}")
            return events
