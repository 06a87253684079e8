"""The SQL that both databases understand: three tables, made from the fields of the rows.

A case and its steps are rows of one table, in which the case stands after its last step: what an
entry changes lies side by side, and a commit writes fewer pages.
"""

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
"""The kinds of rows, and their key within a study."""

_AFTER: Final = 2**62
"""The number of the step after all steps, which is the case itself."""

TABLES: Final = ("studies", "events", "cases")

_INDEXES: Final = (
    "create unique index events_key on events (study, key) where key <> ''",
    f'create index cases_status on cases (study, status, "case") where step = {_AFTER}',
    "create index cases_due on cases (study, due) where due <> ''",
)


class Words(NamedTuple):
    """What databases call differently: a whole number, text in the order of its bytes, a table."""

    whole: str
    text: str
    table: str


def schema(words: Words) -> list[str]:
    """Return the statements that make the tables."""
    tables = []
    for table in TABLES:
        row, key = _KEYS[table]
        fields, default = _fields(row), {int: "", str: ""}
        if table == "cases":
            key, fields = ("case", "step"), _fields(StepRow) | fields
            default = {int: " default 0", str: " default ''"}
        kinds = {int: words.whole, str: words.text}
        columns = [
            f'"{name}" {kinds[kind]} not null{default[kind]}'
            for name, kind in fields.items()
            if name != "name"
        ]
        parent = " references studies (study)" if key else ""
        columns = [f"study {words.text} not null{parent}", *columns]
        columns.append(f"primary key ({_listed(('study', *key))})")
        tables.append(f"create table {table} ({', '.join(columns)}){words.table}")
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


def _select(kind: str) -> str:
    names = ["study" if name == "name" else name for name in _fields(_KEYS[kind][0])]
    only = {"cases": f" and step = {_AFTER}", "steps": f" and step < {_AFTER}"}.get(kind, "")
    table = "cases" if kind == "steps" else kind
    return f"select {_listed(names)} from {table} where study = ?{only}"  # noqa: S608 (our names)


def _put(kind: str) -> str:
    """Write the statement that writes a row, new or not."""
    row, key = _KEYS[kind]
    names = [name for name in _fields(row) if name != "name"]
    columns, marks = ["study", *names], ", ".join("?" * (1 + len(names)))
    if kind == "cases":
        key, columns, marks = ("case", "step"), [*columns, "step"], f"{marks}, {_AFTER}"
    table = "cases" if kind == "steps" else kind
    new = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in key)
    return (
        f"insert into {table} ({_listed(columns)}) values ({marks})"  # noqa: S608
        f" on conflict ({_listed(('study', *key))}) do update set {new}"
    )


@lru_cache(maxsize=256)
def _update(kind: str, columns: tuple[int, ...]) -> str:
    """Write the statement that writes some columns of a study or a case, by their numbers."""
    names = tuple(_fields(_KEYS[kind][0]))
    new = ", ".join(f'"{names[column]}" = ?' for column in columns)
    which = f' and "case" = ? and step = {_AFTER}' if kind == "cases" else ""
    return f"update {kind} set {new} where study = ?{which}"  # noqa: S608


STUDY, CASE = _select("studies"), _select("cases") + ' and "case" = ?'
STEP = _select("steps") + ' and "case" = ? and step = ?'
# Without the second condition, the index of keys, which has no empty ones, cannot be used.
KEYED = _select("events") + " and key = ? and key <> ''"
EVENTS = _select("events") + " and seq > ? order by seq limit ?"
# An index for this would cost every entry a page; it is seldom asked, and reads the log.
EVENTS_OF = _select("events") + ' and "case" = ? and seq > ? order by seq limit ?'
CASES = _select("cases") + ' and "case" > ? order by "case" limit ?'
# SQLite would rather walk along the table than find a page in the index.
_PAGE = f'study = ? and status = ? and step = {_AFTER} and "case" > ? order by "case" limit ?'
CASES_OF = _select("cases") + f' and "case" in (select "case" from cases where {_PAGE})'  # noqa: S608
CASES_OF += ' order by "case"'
STEPS = _select("steps") + ' and ("case", step) > (?, ?) order by "case", step limit ?'
DUE = _select("steps") + " and due <> '' and due <= ? order by due, \"case\", step"
PUT_STUDY, PUT_CASE, PUT_STEP = _put("studies"), _put("cases"), _put("steps")
APPEND = _put("events").partition(" on conflict")[0]
_STEP = f'study = ? and "case" = ? and step = ? and step < {_AFTER}'
DROP_STEP = f"delete from cases where {_STEP}"  # noqa: S608
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
            found = self._rows(EVENTS_OF, self._name, case, after, limit)
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
