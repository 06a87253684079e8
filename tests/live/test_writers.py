"""Several writers at once, none of which is told that the database is locked."""

import threading
from pathlib import Path

from grbp.live.store.sqlite import SqliteStore


def test_a_store_can_be_made_by_several_at_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def make(path: Path, ready: threading.Barrier) -> None:
        ready.wait()
        try:
            SqliteStore(path, create=True).close()
        except Exception as error:
            errors.append(error)

    for number in range(20):
        ready = threading.Barrier(4)
        makers = [
            threading.Thread(target=make, args=(tmp_path / f"{number}.db", ready)) for _ in range(4)
        ]
        for one in makers:
            one.start()
        for one in makers:
            one.join()
    assert errors == []
