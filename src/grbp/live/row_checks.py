"""Check the rows of a study against its log before anybody is advised, or writes, from them.

A row is always what the events make of it. One that is not was damaged, or changed by somebody
else, and would give wrong advice that then stands in the log. What was found to follow from the
log, and what this process wrote itself, is remembered, so that it is looked at once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, Final, TypeVar

from grbp.errors import Damaged, GrbpError
from grbp.live.config import Config, load_config
from grbp.live.history import case_entries
from grbp.live.recording import fold_case
from grbp.live.schema import (
    DAMAGE,
    LEARNER,
    NO_HASH,
    OPEN,
    CaseRow,
    Event,
    HeldRow,
    StudyRow,
    has_types,
    hash_fields,
    load_study,
    loads,
)
from grbp.live.store.base import LAST, Store, Transaction

T = TypeVar("T")

_MOST: Final = 10_000
"""The rows of a study that are remembered."""


class CheckedRows:
    """The rows of a study that follow from its log, and what was found damaged, if something was.

    Whoever advises or writes reads through it. What fails there is named as damage, and kept, so
    that the study is not written to until a verify finds all well.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.name, self._store = name, store
        # Nobody else can change rows that are in memory.
        self._needed = store.address is not None
        self.trust()

    def trust(self) -> None:
        """Forget all that is known, also of damage: a verify found all well."""
        self.damage: str | None = None
        self.forget()

    def forget(self) -> None:
        """Forget the rows: what was written was not kept, or nobody knows whether it was."""
        self.study: StudyRow | None = None
        self.config = ""
        self.cases: dict[int, CaseRow] = {}
        self.held: dict[tuple[int, int], HeldRow] = {}
        self.knows_held = False

    def note_check(self, problems: Sequence[str]) -> None:
        """Trust the rows where a check of the whole found all well, else let nobody write."""
        self.trust()
        if problems:
            self.damage = f"a check found that {problems[0]}; restore a backup"

    def read(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads rows which follow from the log."""
        if not self._needed:
            return self._store.read(self.name, script)
        with self:
            return self._store.read(self.name, lambda tx: script(CheckedTransaction(tx, self)))

    def write(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads such rows and writes; forget what was not kept."""
        if not self._needed:
            return self._store.write(self.name, script)
        bound: list[CheckedTransaction] = []

        def write(tx: Transaction) -> T:
            bound.append(CheckedTransaction(tx, self))
            return script(bound[0])

        with self:
            try:
                return self._store.write(self.name, write)
            except BaseException:
                if any(rows.wrote for rows in bound):
                    self.forget()
                raise

    def __enter__(self) -> None:
        """Begin to look at what is stored."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Look at how it ended: keep what was damaged, and name it."""
        if not self._needed:
            return
        if isinstance(error, Damaged):
            self.damage = str(error)
        elif isinstance(error, DAMAGE) and not isinstance(error, GrbpError):
            self.damage = describe_damage(self.name, error)
            raise Damaged(self.damage) from error


def describe_damage(name: str, error: BaseException) -> str:
    """Say that a study cannot be read, from an error that its rows led to."""
    return (
        f"the study {name!r} cannot be read, because what is stored is damaged"
        f" ({type(error).__name__}); verify it, and restore a backup"
    )


def find_checked(store: Store, name: str) -> CheckedRows:
    """Return what is known of the rows of a study by those who have the store open."""
    found: CheckedRows | None = store.remembered.get(name)
    return CheckedRows(store, name) if found is None else found


def keep_checked(store: Store, name: str) -> CheckedRows:
    """Return the same, kept with the store, of a study that is there."""
    found: CheckedRows = store.remembered.setdefault(name, find_checked(store, name))
    return found


class CheckedTransaction(Transaction):
    """A transaction whose rows were checked against the log; one that fails raises `Damaged`."""

    wrote = False
    """Whether anything was written in this transaction."""

    # What follows from no log; and whoever lists events wants to see them as they are.
    events: Any = property(attrgetter("_tx.events"))
    codes: Any = property(attrgetter("_tx.codes"))
    find_codes: Any = property(attrgetter("_tx.find_codes"))
    append: Any = property(attrgetter("_tx.append"))
    put_code: Any = property(attrgetter("_tx.put_code"))
    drop_code: Any = property(attrgetter("_tx.drop_code"))

    def __init__(self, tx: Transaction, checked: CheckedRows) -> None:
        self._tx, self._checked = tx, checked

    def study(self) -> StudyRow | None:
        """Return the study, which is as its last event leaves it."""
        row, known = self._tx.study(), self._checked.study
        # Mostly it is the same object; to compare takes longer.
        if row is not known and row is not None and row != known:
            with self._name_damage("the study's row"):
                self._check_study(row)
            self._checked.study = row
        return row

    def _check_study(self, row: StudyRow) -> None:
        """Refuse a study's row that its last event, or its configuration, contradicts."""
        *before, last = self._tx.events(row.seq - 2, 2)
        chain = before[0].hash if before else NO_HASH
        self._check_event(last)
        self._require(
            (last.seq, last.hash, last.previous) == (row.seq, row.head, chain)
            and len(before) == min(row.seq - 1, 1)
            and load_study(row.name, row.config, [last]) == row,
            "the study's row",
        )
        if row.config != self._checked.config:
            self._check_config(row)
            self._checked.config = row.config

    def _check_config(self, row: StudyRow) -> None:
        """Refuse a configuration that is not the last one in the log before its first case.

        Since then, only its learner may have been changed, by the events that it names.
        """
        head, said = NO_HASH, dict[str, Any]()
        for seq, event in enumerate(self._tx.all_events(), 1):
            self._check_event(event)
            self._require((event.seq, event.previous) == (seq, head), "the study's configuration")
            if event.kind == "open":
                break
            said = loads(event.request)["config"] if event.kind == "study" else said
            head = event.hash
        config = Config(**said)
        self._require(config.name == row.name, "the study's configuration")
        for one in load_config(row.config).former:
            config = self._change_learner(config, one["event"])
        self._require(config.text == row.config, "the study's configuration")

    def _change_learner(self, config: Config, seq: int) -> Config:
        """Return a configuration after an event that changed its learner."""
        event = self.event(seq)
        if event is None or event.kind != LEARNER:
            raise LookupError(seq)
        asked, (opened, *_) = loads(event.request), loads(event.response)["study"]
        return config.change_learner(asked["learner"], asked["constants"], opened, seq)

    def case(self, case: int) -> CaseRow | None:
        """Return a case, which is as its events leave it."""
        row, known = self._tx.case(case), self._checked.cases.get(case)
        if row is None or (row is not known and row != known):
            self._check_case(case, row)
        return row

    def _check_case(self, case: int, row: CaseRow | None) -> None:
        """Refuse a case's row that its events contradict, and one that should be there."""
        what, study = f"the row of case {case}", self.study()
        opened = 0 if study is None else study.opened
        self._require((row is not None) == (type(case) is int and 0 < case <= opened), what)
        if row is None or study is None:
            return
        with self._name_damage(what):
            made, held = self._fold_case(load_config(study.config), row)
            self._require(row == made, what)
            for step in held.values():
                self._require(self._tx.held(case, step.step) == step, _name_held(step))
                _remember(self._checked.held, (case, step.step), step)
        _remember(self._checked.cases, row.case, row)

    def _fold_case(self, config: Config, row: CaseRow) -> tuple[CaseRow, dict[int, HeldRow]]:
        return fold_case(config, [*case_entries(self, row)][::-1])

    def held(self, case: int, step: int) -> HeldRow | None:
        """Return a held step, if there is such a one."""
        row = self._tx.held(case, step)
        if row is not None:
            self._check_held(row)
        return row

    def due(self, now: str) -> list[HeldRow]:
        """Return the held steps that are mature by now; the first time, look at all there are."""
        rows = self._tx.due(now if self._checked.knows_held else LAST)
        for row in rows:
            self._check_held(row)
        if not self._checked.knows_held:
            # One that is missing, or that is due later than it should be, would not be counted.
            self._require(len(rows) == self._tx.count_held(), "the list of held steps")
            self._checked.knows_held = True
            rows = [row for row in rows if row.due <= now]
        return rows

    def _check_held(self, row: HeldRow) -> None:
        """Refuse a held step that the events of its case contradict."""
        if self._checked.held.get((row.case, row.step)) == row:
            return
        case, study = self.case(row.case), self.study()
        with self._name_damage(_name_held(row)):
            assert case is not None and study is not None  # noqa: PT018, S101 (or it is damage)
            _, held = self._fold_case(load_config(study.config), case)
            self._require(held.get(row.step) == row, _name_held(row))
        _remember(self._checked.held, (row.case, row.step), row)

    def event_of_key(self, key: str) -> Event | None:
        """Return the event of an idempotency key, whose hash fits."""
        return self._check_event(self._tx.event_of_key(key))

    def event(self, seq: int) -> Event | None:
        """Return the event of a number, whose hash fits."""
        return self._check_event(self._tx.event(seq))

    def cases(self, after: int, limit: int, status: str = "") -> list[CaseRow]:
        """Return the next cases; of those under way, which are advised, each was checked."""
        rows = self._tx.cases(after, limit, status)
        for row in rows:
            if row.status != OPEN:
                check_types(row, f"the row of case {row.case}")
            elif row != self._checked.cases.get(row.case):
                self._check_case(row.case, row)
        return rows

    def put_study(self, row: StudyRow) -> None:
        """Write the study's row."""
        self._tx.put_study(row)
        self.wrote = True
        self._checked.study, self._checked.config = row, row.config

    def put_case(self, row: CaseRow) -> None:
        """Write a case's row."""
        self._tx.put_case(row)
        self.wrote = True
        _remember(self._checked.cases, row.case, row)

    def put_held(self, row: HeldRow) -> None:
        """Write the row of a held step."""
        self._tx.put_held(row)
        self.wrote = True
        _remember(self._checked.held, (row.case, row.step), row)

    def drop_held(self, case: int, step: int) -> None:
        """Remove the row of a held step."""
        self._tx.drop_held(case, step)
        self.wrote = True
        self._checked.held.pop((case, step), None)

    def _check_event(self, event: Event | None) -> Event | None:
        """Refuse an event that was changed since its hash was made."""
        if event is not None and hash_fields(event[:-1]) != event.hash:
            raise Damaged(
                f"event {event.seq} of the study {self._checked.name!r} was changed: its hash does"
                " not match its content; verify the study, and restore a backup"
            )
        return event

    def _require(self, holds: bool, what: str) -> None:
        """Refuse what does not follow from the log."""
        if not holds:
            raise Damaged(self._describe(what))

    @contextmanager
    def _name_damage(self, what: str) -> Iterator[None]:
        """Refuse what cannot even be read."""
        try:
            yield
        except DAMAGE as error:
            raise Damaged(self._describe(what)) from error

    def _describe(self, what: str) -> str:
        return (
            f"{what} in the study {self._checked.name!r} does not follow from the log, so that"
            " nothing is advised or recorded; verify the study, and restore a backup"
        )


def check_types(row: CaseRow | Event, what: str) -> None:
    """Refuse a row in which something else stands than numbers and text, each in its place."""
    if not has_types(row):
        raise Damaged(f"{what} is damaged; verify the study, and restore a backup")


def _remember(known: dict[Any, Any], place: object, row: object) -> None:
    """Remember a row, and not too many."""
    if len(known) >= _MOST:
        known.clear()
    known[place] = row


def _name_held(row: HeldRow) -> str:
    return f"the row of held step {row.step} of case {row.case}"
