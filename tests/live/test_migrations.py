"""Files of every schema that was released, what becomes of them, and how a migration goes."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from make_assets import ASSETS
from optional import optional
from runs import one_sentence
from stored import create, everything, log, some_rows, tell

from grbp.errors import CannotWrite, InvalidInput
from grbp.live import Study
from grbp.live.store import open_store, sql
from grbp.live.store.base import Store

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them

Place: TypeAlias = Path | str
Shape: TypeAlias = list[tuple[Any, ...]]
DATABASES = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
PRESENT = sql.newest_version()
NEXT = (
    "alter table cases add column note {text} not null default 'none'",
    "alter table cases add column weight {whole} not null default 7",
)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a store is not yet."""
    if request.param == "sqlite":
        return tmp_path / "live.sqlite"
    return str(request.getfixturevalue("dsn"))


def run(place: Place, statement: str) -> Shape:
    """Run a statement on a connection of its own."""
    if isinstance(place, Path):
        apsw = optional("apsw")
        with closing(apsw.Connection(str(place))) as connection:
            return list(connection.execute(statement))
    psycopg = optional("psycopg")
    with closing(psycopg.connect(place, autocommit=True)) as connection:
        cursor = connection.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def shape(place: Place) -> tuple[Shape, Shape]:
    """Return the columns and the indexes of the tables; new columns come last, with a default."""
    if isinstance(place, Path):
        columns = (
            "select t.name, i.name, i.type, i.[notnull], i.pk from sqlite_schema t,"
            " pragma_table_xinfo(t.name) i where t.type = 'table' order by 1, 2"
        )
        indexes = "select name, sql from sqlite_schema where type = 'index' order by name"
        return run(place, columns), run(place, indexes)
    columns = (
        "select table_name, column_name, data_type, collation_name, is_nullable"
        " from information_schema.columns where table_schema = 'grbp' order by 1, 2"
    )
    constraints = (
        "select conname, pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'grbp'::regnamespace union"
        " select indexname, indexdef from pg_indexes where schemaname = 'grbp' order by 1, 2"
    )
    return run(place, columns), run(place, constraints)


def copies(place: Place) -> list[str]:
    """Return the names of what was kept before a migration."""
    if isinstance(place, Path):
        return sorted(path.name for path in place.parent.glob("*schema-*"))
    found = run(place, "select nspname from pg_namespace where nspname like 'grbp-%' order by 1")
    return [name for (name,) in found]


@pytest.fixture
def filled(place: Place) -> dict[str, list[object]]:
    """What is in a store of the present schema."""
    with closing(open_store(place, create=True)) as store:
        for name in ("s", "t"):
            store.write(name, create)
        store.write("s", some_rows)
        return everything(store)


def laid_down(asset: Path, place: Place) -> Place:
    """Put an asset where a store is expected."""
    if isinstance(place, Path):
        shutil.copy(asset.with_suffix(".sqlite"), place)
    else:
        run(place, asset.with_suffix(".sql").read_text("utf-8"))
    return place


@DATABASES
@pytest.mark.parametrize("version", range(1, sql.newest_version() + 1))
def test_a_store_of_every_schema_becomes_one_of_the_newest(
    place: Place, version: int, tmp_path: Path
) -> None:
    laid_down(ASSETS / f"schema-{version}", place)
    with closing(open_store(place)) as store:
        names = store.studies()
    assert {"ward", "Größe"} <= set(names)
    for name in names:
        with closing(Study(place, name)) as study:
            assert study.read_only is None
            assert study.verify().ok
            group = next(iter(study.status().groups), None)
            study.export(tmp_path / "then")
            with Study.import_(tmp_path / f"{name}.db", tmp_path / "then") as copy:
                copy.export(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "then").read_bytes()
            assert study.open_case(1, group=group).case == 4
            assert study.tell(4, 2, took="continue", why="as always").state == 2
            assert study.verify().ok
            assert study.replay().ok
    found = shape(place)
    new: Place = tmp_path / "new.sqlite"
    if isinstance(place, str):
        run(place, "drop schema grbp cascade")
        new = place
    open_store(new, create=True).close()
    # If this fails, the rows were changed: add a migration, or before a release run
    # tests/live/make_assets.py.
    assert found == shape(new)


@pytest.mark.parametrize("version", range(1, sql.newest_version() + 1))
def test_both_databases_hold_the_same(version: int, tmp_path: Path, dsn: str) -> None:
    kept = []
    for place in (tmp_path / "live.sqlite", dsn):
        laid_down(ASSETS / f"schema-{version}", place)
        with closing(open_store(place)) as store:
            kept.append(everything(store))
    assert kept[0] == kept[1]
    assert {"ward", "Größe"} <= set(kept[0])


@DATABASES
def test_the_next_schema_is_reached_with_all_rows_and_a_copy(
    place: Place, filled: dict[str, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copies(place) == []
    with monkeypatch.context() as changed:
        changed.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, NEXT])
        with closing(open_store(place)) as store:
            assert everything(store) == filled
            assert store.write("s", tell) == 4
            assert len(log(store)) == 4
        # Once is enough.
        open_store(place).close()
        assert [len(copies(place)), sql.newest_version()] == [1, PRESENT + 1]
        columns, _ = shape(place)
        assert {"note", "weight"} < {cell for row in columns for cell in row[:3]}
    # This version does not know that schema: it refuses the store, and reads the copy.
    with pytest.raises(
        InvalidInput, match=rf"has schema {PRESENT + 1}; .* up to {PRESENT}: install a newer one"
    ) as caught:
        open_store(place)
    one_sentence(caught.value)
    assert brought_back(place) == filled


@DATABASES
@pytest.mark.usefixtures("filled")
def test_who_has_a_store_open_when_another_migrates_it_goes_no_further(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(place)) as store, closing(open_store(place)) as other:
        assert store.write("s", tell) == 4
        with monkeypatch.context() as changed:
            changed.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, NEXT])
            open_store(place).close()
            assert other.write("s", tell) == 5  # This one knows the new tables.
        for verb in (store.write, store.read):
            with pytest.raises(InvalidInput, match=f"has schema {PRESENT + 1}"):
                verb("s", tell)


def brought_back(place: Place) -> dict[str, list[object]]:
    """Return what is in the copy that was made before a migration, as a person restores it."""
    (name,) = copies(place)
    if isinstance(place, Path):
        assert name == f"{place.name}.schema-{PRESENT}"
        place = place.with_name(name)
        assert place.stat().st_mode & 0o077 == 0
    else:
        assert name == f"grbp-schema-{PRESENT}"
        run(place, f'drop schema grbp cascade; alter schema "{name}" rename to grbp')
    with closing(open_store(place)) as store:
        return everything(store)


@DATABASES
def test_a_migration_that_fails_changes_nothing(
    place: Place, filled: dict[str, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape(place)
    with monkeypatch.context() as changed:
        changed.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, NEXT, (NEXT[0],)])
        with pytest.raises(CannotWrite, match="note") as caught:
            open_store(place)
        one_sentence(caught.value)
    assert shape(place) == before
    with closing(open_store(place)) as store:
        assert everything(store) == filled


@DATABASES
@pytest.mark.usefixtures("filled")
def test_a_copy_is_never_written_over(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(place, Path):
        taken = place.with_name(f"{place.name}.schema-{PRESENT}")
        taken.write_text("mine")
    else:
        run(place, f'create schema "grbp-schema-{PRESENT}"')
    monkeypatch.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, NEXT])
    open_store(place).close()
    assert [name.partition("schema")[2] for name in copies(place)] == [
        f"-{PRESENT}", f"-{PRESENT}-2"
    ]  # fmt: skip
    if isinstance(place, Path):
        assert taken.read_text() == "mine"


@DATABASES
def test_one_of_several_migrates(
    place: Place, filled: dict[str, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, NEXT])
    barrier = threading.Barrier(4)

    def start(_: int) -> Store:
        barrier.wait()
        return open_store(place)

    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(start, range(4)))
    assert [everything(store) for store in stores] == [filled] * 4
    assert len(copies(place)) == 1
    for store in stores:
        store.close()
