"""Write two small studies in the present schema to tests/live/assets, for tests of later ones.

``PYTHONPATH=tests .venv/bin/python tests/live/make_assets.py`` does it, with PostgreSQL's programs.
Files of a schema that was released are never written again.
"""

import itertools
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from postgres_server import HOW, Server, programs

from grbp.live import Study
from grbp.live.store.sql import newest_version

ASSETS = Path(__file__).parent / "assets"


def write_studies(store: Path | str) -> None:
    """Write every kind of event and of row into a store."""
    hours = itertools.count()

    def clock() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=next(hours))

    with closing(
        Study.create(store, "ward", 4, "doorstep-kl", seed=3, who="Ada", clock=clock)
    ) as study:
        study.open_case(2, key="bed 7")
        study.open_case(1)
        study.tell(1, 3, observed=datetime(2026, 1, 1, tzinfo=UTC))
        study.tell(1, 4, took="finish", why="a bed was free", who="Øyvind 日本")
        study.tell(2, 0, key="the second")
        study.void(2, "it was the other bed")
        study.open_case(3, code="B-12")
        study.set_code(2, "Bétt 7", who="Øyvind 日本")
        study.withdraw_case(3, "moved to another ward")
    held = {"windows": {"finish": 30, "continue": 1}, "shadow": True, "start": "first"}
    with closing(
        Study.create(store, "Größe", 3, "getbe-sm", who="Ada", clock=clock, **held)  # type: ignore[arg-type]
    ) as study:
        for case in (1, 2, 3):
            study.open_case(1)
            study.tell(case, 2, took="continue", why="as always")
        for _ in range(30):
            clock()
        study.tell(3, 3, took="finish", why="as always")
    with closing(
        Study.create(store, "wards", 4, "getbe-sm", groups=["north", "süd"], who="Ada", clock=clock)
    ) as study:
        for case, group in enumerate(("north", "süd", "north"), 1):
            study.open_case(2, group=group)
            study.tell(case, 3, took="continue", why="as always")


def main() -> None:
    """Write the files of the present schema."""
    found = programs()
    if found is None:
        sys.exit(HOW)
    ASSETS.mkdir(exist_ok=True)
    path = ASSETS / f"schema-{newest_version()}.sqlite"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_studies(Path(folder) / "live.sqlite")
        with closing(Study(Path(folder) / "live.sqlite", "ward")) as study:
            study.backup(path)
    server = Server(found)
    try:
        write_studies(server.socket)
        path.with_suffix(".sql").write_text(server.dump(), "utf-8")
    finally:
        server.remove()


if __name__ == "__main__":
    main()
