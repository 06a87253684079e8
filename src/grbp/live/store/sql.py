"""The SQL that both databases understand, made from the fields of the rows.

A study has a number, and an event or a case is found by one whole number: that of the study, then
its own. So the log only grows at its end, and most entries write two pages: that of the event,
which also says how the study stands then, and that of the case.
"""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from grbp.errors import CannotWrite, Damaged, InvalidInput
from grbp.live.schema import NO_HASH, OPEN, CaseRow, CodeRow, Event, HeldRow, StudyRow, load_study
from grbp.live.store.base import Connection
from grbp.live.store.transaction import PAGE, Transaction, check_storable, refuse_taken

T = TypeVar("T")

MIGRATIONS: list[tuple[str, ...]] = [
    ("alter table cases add column \"group\" {text} not null default ''",),
    (
        "create table codes (id {whole} primary key, code {text} not null, folded {text} not null,"
        " who {text} not null, recorded {text} not null){table}",
        "create index codes_folded on codes ((id >> 40), folded)",
    ),
]
"""The statements that lead from schema 1 to 2, from 2 to 3 and so on.

The words {whole} and {text} stand for the types of a database, {table} for how the statement that
makes a table ends. A file of every schema that was released is kept in tests/live/assets, and must
become what `schema` makes.
"""

TABLES: Final = ("studies", "events", "cases", "held", "codes")

_COLUMNS: Final = {"overridden": "overruled"}
"""The columns that are not called as the fields that they keep."""

_BITS: Final = 40
"""How many bits of an identity are the number of an event or a case; the others are the study's."""

MOST: Final = 2**_BITS - 1

_INDEXES: Final = (
    f"create unique index events_key on events ((id >> {_BITS}), key) where key <> ''",
    "create index cases_status on cases (status, id)",
    'create index held_due on held (study, due, "case", step)',
    f"create index codes_folded on codes ((id >> {_BITS}), folded)",
)


class Dialect(NamedTuple):
    """What databases call differently: a whole number, text in the order of its bytes, a table."""

    whole: str
    text: str
    table: str


def schema(dialect: Dialect) -> list[str]:
    """Return the statements that make the tables."""
    whole, text, key = f"{dialect.whole} not null", f"{dialect.text} not null", "primary key"

    def columns(row: type[tuple[Any, ...]]) -> list[str]:
        kinds = {int: whole, str: text}
        fields = list(row.__annotations__.items())[1:]
        return [f"{_quote(name)} {kinds[kind]}" for name, kind in fields]

    identity, of_study = f"id {dialect.whole} {key}", f"study {whole} references studies (id)"
    tables = {
        "studies": [identity, f"study {text} unique", f"config {text}"],
        "events": [identity, *columns(Event)],
        "cases": [identity, *columns(CaseRow)],
        "held": [of_study, f'"case" {whole}', *columns(HeldRow), f'{key} (study, "case", step)'],
        "codes": [identity, *columns(CodeRow)],
    }
    made = [f"create table {name} ({', '.join(tables[name])}){dialect.table}" for name in TABLES]
    return [*made, *_INDEXES]


def newest_version() -> int:
    """Return the number of the schema that this version writes."""
    return 1 + len(MIGRATIONS)


def migration(version: int, dialect: Dialect) -> list[str]:
    """Return the statements that lead from a schema to the newest one."""
    steps = [statement for step in MIGRATIONS[version - 1 :] for statement in step]
    return [statement.format(**dialect._asdict()) for statement in steps]


def refuse_newer(where: str, version: int) -> None:
    """Refuse a schema that this version does not know."""
    if version > newest_version():
        raise InvalidInput(
            f"{where} has schema {version}; this version of grbp reads up to {newest_version()}:"
            " install a newer one"
        )


def unused_name(name: str, taken: Callable[[str], bool]) -> str:
    """Return a name that is not taken: this one, or with a number after it."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(one for one in names if not taken(one))


def _quote(name: str) -> str:
    """Write the name of the column that keeps a field."""
    return f'"{_COLUMNS.get(name, name)}"'


def _quote_names(names: Sequence[str]) -> str:
    return ", ".join(map(_quote, names))


def _select(row: type[tuple[Any, ...]], table: str) -> str:
    """Write the start of a statement that reads rows; their first field is in the identity."""
    own, *others = row.__annotations__
    return f'select id & {MOST} as "{own}", {_quote_names(others)} from {table} where'  # noqa: S608 (our names)


def _insert(row: type[tuple[Any, ...]], table: str) -> str:
    """Write the statement that writes a new row."""
    names = ["id", *list(row.__annotations__)[1:]]
    return f"insert into {table} ({_quote_names(names)}) values ({', '.join('?' * len(names))})"  # noqa: S608


def _put(row: type[tuple[Any, ...]], table: str, *kept: str) -> str:
    """Write the statement that writes a row, new or not; of an old one some fields are kept."""
    columns = [_quote(name) for name in list(row.__annotations__)[1:] if name not in kept]
    new = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return f"{_insert(row, table)} on conflict (id) do update set {new}"


STUDY: Final = "select id, config from studies where study = ?"
STUDIES: Final = "select study from studies order by study"
_NEW_STUDY: Final = (
    "insert into studies (id, study, config)"
    " select coalesce(max(id), 0) + 1, ?, ? from studies where true"
    " on conflict (study) do update set config = excluded.config"
)
_RENAME: Final = "update studies set study = ? where id = ?"
_REMOVE_HELD: Final = "delete from held where study = ?"
_REMOVE_STUDY: Final = "delete from studies where id = ?"
_EVENT: Final = _select(Event, "events")
EVENTS: Final = f"{_EVENT} id > ? and id <= ? order by id limit ?"
LAST: Final = f"{_EVENT} id > ? and id <= ? order by id desc limit ?"
# Without the last condition, the index of keys, which has no empty ones, cannot be used.
KEYED: Final = f"{_EVENT} id >> {_BITS} = ? and key = ? and key <> ''"
APPEND: Final = _insert(Event, "events")
CASE: Final = f"{_select(CaseRow, 'cases')} id = ?"
CASES: Final = f"{_select(CaseRow, 'cases')} id > ? and id <= ? order by id limit ?"
CASES_OF: Final = (
    f"{_select(CaseRow, 'cases')} status = ? and id > ? and id <= ? order by status, id limit ?"
)
_PUT_CASE: Final = _put(CaseRow, "cases")
# As long as a case has its status, its entry in the index of these need not be written.
_PUT_CASE_OF_STATUS: Final = _put(CaseRow, "cases", "status")
_COUNT_HELD: Final = "select coalesce(sum(held), 0) from cases where id > ? and id <= ?"
_HELD: Final = 'select "case", step, due, seq from held where study = ?'
HELD_STEP: Final = f'{_HELD} and "case" = ? and step = ?'
DUE: Final = f'{_HELD} and due <= ? order by due, "case", step'
_PUT_HELD: Final = (
    'insert into held (study, "case", step, due, seq) values (?, ?, ?, ?, ?)'
    ' on conflict (study, "case", step) do update set due = excluded.due, seq = excluded.seq'
)
_DROP_HELD: Final = 'delete from held where study = ? and "case" = ? and step = ?'

CODES: Final = f"{_select(CodeRow, 'codes')} id in"
FIND_CODES: Final = (
    f'select codes.id & {MOST} as "case", code, folded, who, recorded'  # noqa: S608
    " from codes join cases on cases.id = codes.id"
    f" where codes.id >> {_BITS} = ? and folded = ?"
    f" order by cases.status <> '{OPEN}', codes.id desc limit ?"
)
_PUT_CODE: Final = _put(CodeRow, "codes")
_DROP_CODE: Final = "delete from codes where id = ?"

_MOST_CACHED: Final = 1_000
"""The cases that are kept in memory."""


class CachedStudy:
    """What was read, or written, of a study: its number, its row, and some of its cases."""

    def __init__(self, number: int, study: StudyRow) -> None:
        self.first = number << _BITS
        self.number, self.study = number, study
        self.cases: dict[int, CaseRow] = {}
        self.codes: dict[int, CodeRow | None] = {}


class SqlConnection(Connection):
    """A connection to a database, and what was read through it.

    That is not read again. A connection forgets it as soon as somebody else could have changed it,
    and whenever something is rolled back.
    """

    def __init__(self) -> None:
        self.cache: dict[str, CachedStudy] = {}

    def bind(self, name: str) -> "SqlTransaction":
        """Return the transaction that has begun."""
        return SqlTransaction(name, self)

    @abstractmethod
    def run(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, if it has any."""

    def find_study(self, name: str) -> list[tuple[Any, ...]]:
        """Return the number and the configuration of a study, if there is one."""
        return self.run(STUDY, (name,))

    def note(self, number: int, event: Event) -> None:
        """Do what a database needs beside when an event is added to a log."""

    def forget(self, number: int) -> None:
        """Do what a database needs beside when a log is removed."""


class SqlTransaction(Transaction):
    """The rows of one study in a database."""

    def __init__(self, name: str, connection: SqlConnection) -> None:
        self._name, self._connection, self._cache = name, connection, connection.cache

    def _query(self, statement: str, *values: int | str) -> list[tuple[Any, ...]]:
        check_storable(values)
        return self._connection.run(statement, values)

    def _find_study(self) -> CachedStudy | None:
        """Return what is known of the study; None if there is none."""
        if self._name not in self._cache:
            for number, config in self._connection.find_study(self._name):
                self._cache[self._name] = CachedStudy(
                    number, self._load_study(number << _BITS, config)
                )
        return self._cache.get(self._name)

    def _load_study(self, first: int, config: str) -> StudyRow:
        """Return the study's row as the last event leaves it, or the last one that can be read."""
        for limit in (1, 1_000):
            last = [Event(*row) for row in self._query(LAST, first, first + MOST, limit)]
            found = load_study(self._name, config, last)
            if found is not None:
                return found
        seq, head = (last[0].seq, last[0].hash) if last else (0, NO_HASH)
        return StudyRow(self._name, config, seq, head)

    def _require_study(self) -> CachedStudy:
        """Return what is known of a study that must be there."""
        cached = self._find_study()
        if cached is None:
            raise CannotWrite(f"there is no study {self._name!r}; this contradicts what is stored")
        return cached

    def study(self) -> StudyRow | None:
        """Return the study."""
        cached = self._find_study()
        return None if cached is None else cached.study

    def case(self, case: int) -> CaseRow | None:
        """Return a case."""
        check_storable([case])
        cached = self._find_study()
        if cached is None or not 0 < case <= MOST:
            return None
        if case not in cached.cases:
            for row in self._query(CASE, cached.first + case):
                _remember_case(cached, CaseRow(*row))
        return cached.cases.get(case)

    def held(self, case: int, step: int) -> HeldRow | None:
        """Return a held step."""
        return next(iter(self._query_study(HeldRow, HELD_STEP, case, step)), None)

    def event_of_key(self, key: str) -> Event | None:
        """Return the event of an idempotency key."""
        return next(iter(self._query_study(Event, KEYED, key)), None)

    def due(self, now: str) -> list[HeldRow]:
        """Return the held steps that are mature."""
        return self._query_study(HeldRow, DUE, now)

    def count_held(self) -> int:
        """Return how many held steps there should be."""
        cached = self._require_study()
        ((number,),) = self._query(_COUNT_HELD, cached.first, cached.first + MOST)
        return int(number)

    def events(self, after: int, limit: int) -> list[Event]:
        """Return the next events."""
        return [Event(*row) for row in self._query_page(EVENTS, after, limit)]

    def cases(self, after: int, limit: int, status: str = "") -> list[CaseRow]:
        """Return the next cases."""
        statement, which = (CASES_OF, (status,)) if status else (CASES, ())
        return [CaseRow(*row) for row in self._query_page(statement, after, limit, *which)]

    def _query_study(self, kind: Callable[..., T], statement: str, *values: int | str) -> list[T]:
        """Return rows that are found by the number of the study, if any, and something else."""
        return [kind(*row) for row in self._query(statement, self.number() or 0, *values)]

    def _query_page(
        self, statement: str, after: int, limit: int, *which: str
    ) -> list[tuple[Any, ...]]:
        """Return the next rows after one of the study, if any."""
        first = (self.number() or 0) << _BITS
        after = min(max(after, 0), MOST)
        return self._query(statement, *which, first + after, first + MOST, limit)

    def codes(self, cases: Sequence[int]) -> dict[int, CodeRow]:
        """Return the codes of some cases."""
        check_storable(cases)
        cached = self._find_study()
        if cached is None:
            return {}
        known = cached.codes
        if len(known) >= _MOST_CACHED:
            known.clear()
        asked = [case for case in cases if 0 < case <= MOST and case not in known]
        for start in range(0, len(asked), PAGE):
            part = asked[start : start + PAGE]
            rows = self._query(
                f"{CODES} ({', '.join('?' * len(part))})", *(cached.first + case for case in part)
            )
            known |= dict.fromkeys(part) | {row[0]: CodeRow(*row) for row in rows}
        return {case: row for case in cases if (row := known.get(case)) is not None}

    def find_codes(self, folded: str, limit: int) -> list[CodeRow]:
        """Return those who have a code."""
        return self._query_study(CodeRow, FIND_CODES, folded, limit)

    def append(self, event: Event) -> None:
        """Add an event."""
        cached = self._require_study()
        self._query(APPEND, _make_identity(cached, event.seq), *event[1:])
        self._connection.note(cached.number, event)

    def names(self) -> list[str]:
        """Return the names of all logs of the store, whatever this one is."""
        found = [name for (name,) in self._query(STUDIES)]
        if not all(isinstance(name, str) for name in found):
            raise Damaged("the list of studies is damaged; verify the store, and restore a backup")
        return found

    def number(self) -> int | None:
        """Return the number of the study, by which its rows are found; None if there is none."""
        cached = self._find_study()
        return None if cached is None else cached.number

    def rename(self, name: str) -> None:
        """Give the study another name; refuse one that is taken."""
        number = self._require_study().number
        refuse_taken(name, self._connection.find_study(name))
        self._query(_RENAME, name, number)
        for known in (self._name, name):
            self._cache.pop(known, None)

    def remove(self, most: int) -> bool:
        """Remove some of its rows, and the study itself when no more than these are left."""
        cached = self._require_study()
        for table in ("events", "cases", "codes"):
            within = f"select id from {table} where id > ? and id <= ? order by id limit ?"  # noqa: S608
            bounds = cached.first, cached.first + MOST
            if len(self._query(within, *bounds, most)) == most:
                self._query(f"delete from {table} where id in ({within})", *bounds, most)  # noqa: S608
                return False
            self._query(f"delete from {table} where id > ? and id <= ?", *bounds)  # noqa: S608
        self._query(_REMOVE_HELD, cached.number)
        self._query(_REMOVE_STUDY, cached.number)
        self._connection.forget(cached.number)
        self._cache.pop(self._name, None)
        return True

    def put_study(self, row: StudyRow) -> None:
        """Write the study's configuration; the rest is in its last event."""
        cached = self._find_study()
        if cached is None or row.config != cached.study.config:
            self._query(_NEW_STUDY, self._name, row.config)
            self._cache.pop(self._name, None)
            cached = self._require_study()
        cached.study = row

    def put_case(self, row: CaseRow) -> None:
        """Write a case's row, unless it is as it was."""
        cached = self._require_study()
        identity, before = _make_identity(cached, row.case), cached.cases.get(row.case)
        if row != before:
            same = before is not None and row.status == before.status
            self._query(_PUT_CASE_OF_STATUS if same else _PUT_CASE, identity, *row[1:])
        _remember_case(cached, row)

    def put_held(self, row: HeldRow) -> None:
        """Write the row of a held step."""
        self._query(_PUT_HELD, self._require_study().number, *row)

    def drop_held(self, case: int, step: int) -> None:
        """Remove the row of a held step."""
        self._query(_DROP_HELD, self._require_study().number, case, step)

    def put_code(self, row: CodeRow) -> None:
        """Write the code of a case."""
        cached = self._require_study()
        self._query(_PUT_CODE, _make_identity(cached, row.case), *row[1:])
        cached.codes[row.case] = row

    def drop_code(self, case: int) -> None:
        """Remove the code of a case."""
        cached = self._require_study()
        self._query(_DROP_CODE, _make_identity(cached, case))
        cached.codes.pop(case, None)


def _remember_case(cached: CachedStudy, row: CaseRow) -> None:
    """Keep a case in memory."""
    if len(cached.cases) >= _MOST_CACHED:
        cached.cases.clear()
    cached.cases[row.case] = row


def _make_identity(cached: CachedStudy, own: int) -> int:
    """Return the identity of an event or a case of a study."""
    if type(own) is not int or not 0 < own <= MOST:
        raise InvalidInput(
            f"{own} was given; an event or a case must have a number from 1 to 2^40 - 1"
        )
    return cached.first + own
