"""Writers killed at seeded moments: what they were told is there, and what is there is whole."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from clerk import Answer, Clerk, ask
from killing import STUDIES, Witness

from grbp import Study
from grbp.live.store.sqlite import SqliteStore

TOOL = Path(__file__).parents[2] / "tools" / "faults.py"


@pytest.mark.sample("0")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_writers_lose_nothing_that_was_acknowledged(seed: int) -> None:
    # In a program of its own, since writers are forked and this one may have threads.
    command = [sys.executable, str(TOOL), "kill", "--cycles", "125", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()[-1]
    assert said.startswith("125 cycles with synchronous=FULL")
    assert said.endswith(" 0 cycles lost an acknowledged event or left a damaged study")


def test_the_witness_misses_what_is_lost(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "studies.db", create=True)
    told: dict[str, Answer] = {}
    for name in STUDIES:
        study, clerk = Study.create(store, name, 4), Clerk(name)
        for _ in range(5):
            request = clerk.request()
            answer = ask(study, request)
            clerk.learn(answer)
            told |= {request.arguments["key"]: answer}
    store.close()
    witness = Witness(tmp_path / "studies.db")
    witness.told["a"] = {key: answer for key, answer in told.items() if key.startswith("a")}
    bare = apsw.Connection(str(tmp_path / "studies.db"))
    fourth = "SELECT id << 40 | 4 FROM studies WHERE study = 'a'"
    bare.execute(f"DELETE FROM events WHERE id = ({fourth})")  # noqa: S608
    bare.close()
    found = list(witness.look(whole=True))
    assert found[0] == "a: event 4 (key a-0-3) was acknowledged and is lost"
    assert found[1].startswith("a: event 4 is missing")
    assert len(found) >= 2
    assert all(one.startswith("a: ") for one in found)
