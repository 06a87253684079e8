"""Write studies of learners that have left the package to tests/live/assets, by the package then.

``PYTHONPATH=FOLDER/src .venv/bin/python tests/live/make_former.py``, where FOLDER has the last
commit with doorstep-lai, the parent of "Make doorstep-optimal the default, ...". That package had
no groups yet. The files are never written again.
"""

import itertools
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grbp.live import Study

ASSETS = Path(__file__).parent / "assets"
FORMER: dict[str, tuple[str, dict[str, Any]]] = {
    "ward": ("doorstep-lai", {}),
    "planned": ("doorstep-lai:horizon=40", {}),
    "hidden": ("doorstep-lai", {"shadow": True, "start": "first"}),
    "late": ("doorstep-bayes", {"windows": {"finish": 30, "continue": 1}}),
    "plain": ("doorstep-sm", {}),
}
"""The learner of each study, and its settings."""


def write_studies(path: Path) -> None:
    """Write a study of every learner and kind: cases in progress, over and withdrawn."""
    hours = itertools.count()

    def clock() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=next(hours))

    for name, (learner, settings) in FORMER.items():
        with closing(
            Study.create(path, name, 4, learner, seed=3, who="Ada", clock=clock, **settings)
        ) as study:
            for state in (2, 1, 3, 2, 1):
                study.open_case(state, key=f"{name} {state}" if state == 3 else None)
            study.tell(1, 3, took="continue", why="as always")
            study.tell(1, 4, took="finish", why="a bed was free", who="Øyvind 日本")
            study.tell(2, 0, took="continue", why="as always")
            study.void(2, "it was the other bed")
            study.tell(4, 1, took="continue", why="as always")
            study.tell(4, 0, took="continue", why="as always")
            study.withdraw_case(3, "moved to another ward")
            study.tell(5, 2, took="continue", why="as always")


def main() -> None:
    """Write the store, and an export of each study."""
    with tempfile.TemporaryDirectory() as folder:
        write_studies(Path(folder) / "live.sqlite")
        for name in FORMER:
            with closing(Study(Path(folder) / "live.sqlite", name)) as study:
                study.export(ASSETS / f"former-{name}.ndjson")
        with closing(Study(Path(folder) / "live.sqlite", "ward")) as study:
            study.backup(ASSETS / "former.sqlite")


if __name__ == "__main__":
    main()
