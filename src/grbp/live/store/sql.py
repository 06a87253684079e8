"""The SQL that both databases understand: four tables, made from the fields of the rows."""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from grbp.errors import InvalidInput
from grbp.live.rows import CaseRow, Event, StepRow, StudyRow
from grbp.live.store.base import Transaction, storable

MIGRATIONS: list[tuple[str, ...]] = []
"""The statements that lead from schema 1 to 2, from 2 to 3 and so on.

The words {whole} and {text} stand for the types of a database. A file of every schema that was
released is kept in tests/live/assets, and must become what `schema` makes.
"""

_KEYS: Final[dict[str, tuple[type[tuple[Any, ...]], tuple[str, ...]]]] = {
    "studies": (StudyRow, ()),
    "events": (Event, ("seq",)),
    "cases": (CaseRow, ("case",)),
    "steps": (StepRow, ("case", "step")),
}
"""The rows of each table, and their key within a study."""

TABLES: Final = tuple(_KEYS)

_INDEXES: Final = (
    "create unique index events_key on events (study, key) where key <> ''",
    'create index events_case on events (study, "case", seq) where "case" > 0',
    'create index cases_status on cases (study, status, "case")',
    "create index steps_due on steps (study, due) where due <> ''",
)


class Words(NamedTuple):
    """What databases call differently: a whole number, text in the order of its bytes, a table."""

    whole: str
    text: str
    table: str


def schema(words: Words) -> list[str]:
    """Return the statements that make the tables."""
    whole, text, clustered = words
    tables = []
    for table, (row, key) in _KEYS.items():
        kinds = {name: whole if kind is int else text for name, kind in _fields(row).items()}
        columns = [f'"{name}" {kind} not null' for name, kind in kinds.items() if name != "name"]
        parent = " references studies (study)" if key else ""
        columns = [f"study {text} not null{parent}", *columns]
        columns.append(f"primary key ({_listed(('study', *key))})")
        tables.append(f"create table {table} ({', '.join(columns)}){clustered}")
    return [*tables, *_INDEXES]


def newest() -> int:
    """Return the number of the schema that this version writes."""
    return 1 + len(MIGRATIONS)


def migration(version: int, words: Words) -> list[str]:
    """Return the statements that lead from a schema to the newest one."""
    steps = [statement for step in MIGRATIONS[version - 1 :] for statement in step]
    return [statement.format(whole=words.whole, text=words.text) for statement in steps]


def refuse_newer(where: str, version: int) -> None:
    """Refuse a schema that this version does not know."""
    if version > newest():
        raise InvalidInput(
            f"{where} has schema {version}; this version of grbp reads up to {newest()}: install a"
            " newer one"
        )


def unused(name: str, taken: Callable[[str], bool]) -> str:
    """Return a name that is not taken: this one, or with a number after it."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(one for one in names if not taken(one))


def _fields(row: type[tuple[Any, ...]]) -> dict[str, type]:
    return dict(row.__annotations__)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _select(table: str) -> str:
    row, _ = _KEYS[table]
    names = ["study" if name == "name" else name for name in _fields(row)]
    return f"select {_listed(names)} from {table} where study = ?"  # noqa: S608 (our own names)


def _indexed(table: str, key: str, where: str) -> str:
    """Write the statement that finds a page in an index; SQLite would walk along the table."""
    found = f'select "{key}" from {table} where study = ? and {where} and "{key}" > ?'  # noqa: S608
    return f'{_select(table)} and "{key}" in ({found} order by "{key}" limit ?) order by "{key}"'


def _put(table: str) -> str:
    """Write the statement that writes a row, new or not."""
    row, key = _KEYS[table]
    names = [name for name in _fields(row) if name != "name"]
    columns = ["study", *names]
    marks = ", ".join("?" * len(columns))
    new = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in key)
    return (
        f"insert into {table} ({_listed(columns)}) values ({marks})"  # noqa: S608
        f" on conflict ({_listed(('study', *key))}) do update set {new}"
    )


@lru_cache(maxsize=256)
def _update(table: str, columns: tuple[int, ...]) -> str:
    """Write the statement that writes some columns of a row, by their numbers."""
    row, key = _KEYS[table]
    names = tuple(_fields(row))
    new = ", ".join(f'"{names[column]}" = ?' for column in columns)
    which = " and ".join(f'"{name}" = ?' for name in ("study", *key))
    return f"update {table} set {new} where {which}"  # noqa: S608


STUDY, CASE = _select("studies"), _select("cases") + ' and "case" = ?'
STEP = _select("steps") + ' and "case" = ? and step = ?'
# Without the second condition, the index of keys, which has no empty ones, cannot be used.
KEYED = _select("events") + " and key = ? and key <> ''"
EVENTS = _select("events") + " and seq > ? order by seq limit ?"
EVENTS_OF = _indexed("events", "seq", '"case" = ? and "case" > 0')
CASES = _select("cases") + ' and "case" > ? order by "case" limit ?'
CASES_OF = _indexed("cases", "case", "status = ?")
STEPS = _select("steps") + ' and ("case", step) > (?, ?) order by "case", step limit ?'
DUE = _select("steps") + " and due <> '' and due <= ? order by due, \"case\", step"
PUT_STUDY, PUT_CASE, PUT_STEP = _put("studies"), _put("cases"), _put("steps")
APPEND = _put("events").partition(" on conflict")[0]
DROP_STEP = 'delete from steps where study = ? and "case" = ? and step = ?'
STUDIES = "select study from studies order by study"


class SqlTransaction(Transaction):
    """The rows of one study in a database; a subclass says how a statement is run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: dict[int, CaseRow | StudyRow] = {}
        """The rows that were read: a case by its number, the study by 0."""

    @abstractmethod
    def _execute(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, if it has any."""

    def _rows(self, statement: str, *values: int | str) -> list[tuple[Any, ...]]:
        storable(values)
        return self._execute(statement, values)

    def _study(self) -> list[tuple[Any, ...]]:
        return self._rows(STUDY, self._name)

    def study(self) -> StudyRow | None:
        """Return the study."""
        for row in self._study():
            found = self._seen[0] = StudyRow(*row)
            return found
        return None

    def case(self, case: int) -> CaseRow | None:
        """Return a case."""
        for row in self._rows(CASE, self._name, case):
            found = self._seen[case] = CaseRow(*row)
            return found
        return None

    def step(self, case: int, step: int) -> StepRow | None:
        """Return a step."""
        return next((StepRow(*row) for row in self._rows(STEP, self._name, case, step)), None)

    def keyed(self, key: str) -> Event | None:
        """Return the event of an idempotency key."""
        return next((Event(*row) for row in self._rows(KEYED, self._name, key)), None)

    def events(self, after: int, limit: int, case: int = 0) -> list[Event]:
        """Return the next events."""
        if case:
            found = self._rows(EVENTS_OF, self._name, self._name, case, after, limit)
        else:
            found = self._rows(EVENTS, self._name, after, limit)
        return [Event(*row) for row in found]

    def cases(self, after: int, limit: int, status: str = "") -> list[CaseRow]:
        """Return the next cases."""
        if status:
            found = self._rows(CASES_OF, self._name, self._name, status, after, limit)
        else:
            found = self._rows(CASES, self._name, after, limit)
        return [CaseRow(*row) for row in found]

    def steps(self, after: tuple[int, int], limit: int) -> list[StepRow]:
        """Return the next steps."""
        return [StepRow(*row) for row in self._rows(STEPS, self._name, *after, limit)]

    def due(self, now: str) -> list[StepRow]:
        """Return the held steps that are mature."""
        return [StepRow(*row) for row in self._rows(DUE, self._name, now)]

    def append(self, event: Event) -> None:
        """Add an event."""
        self._rows(APPEND, self._name, *event)

    def put_study(self, row: StudyRow) -> None:
        """Write the study's row."""
        if not self._changed("studies", row, 0):
            self._rows(PUT_STUDY, *row)

    def put_case(self, row: CaseRow) -> None:
        """Write a case's row."""
        if not self._changed("cases", row, row.case):
            self._rows(PUT_CASE, self._name, *row)

    def _changed(self, table: str, row: CaseRow | StudyRow, case: int) -> bool:
        """Write what differs in a row that was read, so that no index is written in vain.

        Return whether it was read.
        """
        before = self._seen.get(case)
        if before is None:
            return False
        changed = tuple(k for k in range(len(row)) if row[k] != before[k])
        if changed:
            key = (self._name, case) if case else (self._name,)
            self._rows(_update(table, changed), *(row[k] for k in changed), *key)
            self._seen[case] = row
        return True

    def put_step(self, row: StepRow) -> None:
        """Write a step's row."""
        self._rows(PUT_STEP, self._name, *row)

    def drop_step(self, case: int, step: int) -> None:
        """Remove a step's row."""
        self._rows(DROP_STEP, self._name, case, step)
