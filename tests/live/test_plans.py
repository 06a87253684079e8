"""How SQLite finds rows: by a key or an index; only the events of one case by reading the log."""

from pathlib import Path

import pytest

from grbp.live.store import sql
from grbp.live.store.sqlite import SqliteStore


@pytest.mark.parametrize(
    ("statement", "plan"),
    [
        (sql.STUDY, "studies USING PRIMARY KEY (study=?)"),
        (sql.CASE, "cases USING PRIMARY KEY (study=? AND case=? AND step=?)"),
        (sql.STEP, "cases USING PRIMARY KEY (study=? AND case=? AND step=?)"),
        (sql.KEYED, "events USING INDEX events_key (study=? AND key=?)"),
        (sql.EVENTS, "events USING PRIMARY KEY (study=? AND seq>?)"),
        (sql.CASES, "cases USING PRIMARY KEY (study=? AND case>?)"),
        (sql.CASES_OF, "cases USING COVERING INDEX cases_status (study=? AND status=? AND case>?)"),
        (sql.STEPS, "cases USING PRIMARY KEY (study=? AND (case,step)>(?,?))"),
        (sql.DUE, "cases USING INDEX cases_due (study=? AND due<?)"),
    ],
)
def test_what_an_entry_asks_walks_along_no_table(tmp_path: Path, statement: str, plan: str) -> None:
    store = SqliteStore(tmp_path / "a.db", create=True)
    values = ("1",) * statement.count("?")
    rows = store._connection.execute(f"explain query plan {statement}", values).fetchall()
    assert rows[-1][3] == f"SEARCH {plan}"
    assert not any("SCAN" in str(row[3]) for row in rows)
    store.close()
