"""How SQLite finds rows: by a key or an index."""

from pathlib import Path

import pytest

from grbp.live.store import sql
from grbp.live.store.sqlite import SqliteStore


@pytest.mark.parametrize(
    ("statement", "plan"),
    [
        (sql.STUDY, "studies USING INDEX sqlite_autoindex_studies_1 (study=?)"),
        (sql.CASE, "cases USING INTEGER PRIMARY KEY (rowid=?)"),
        (sql.LAST, "events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (sql.KEYED, "events USING INDEX events_key (<expr>=? AND key=?)"),
        (sql.EVENTS, "events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (sql.CASES, "cases USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (sql.CASES_OF, "cases USING INDEX cases_status (status=? AND id>? AND id<?)"),
        (sql.HELD_STEP, "held USING INDEX sqlite_autoindex_held_1 (study=? AND case=? AND step=?)"),
        (sql.CODES + " (?, ?)", "codes USING INTEGER PRIMARY KEY (rowid=?)"),
        (sql.DUE, "held USING INDEX held_due (study=? AND due<?)"),
    ],
)
def test_what_an_entry_asks_walks_along_no_table(tmp_path: Path, statement: str, plan: str) -> None:
    store = SqliteStore(tmp_path / "a.db", create=True)
    values = ("1",) * statement.count("?")
    rows = store._connection.execute(f"explain query plan {statement}", values).fetchall()
    assert rows[-1][3] == f"SEARCH {plan}"
    assert not any("SCAN" in str(row[3]) for row in rows)
    store.close()
