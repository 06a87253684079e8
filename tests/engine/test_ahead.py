"""The first simulation compiles on two cores, and never waits for what will not come."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from optional import optional

from grbp.engine import ahead

optional("numba")

# What this process compiles for a first simulation, and the second entry that it then finds.
FIRST = """
import json, os
os.cpu_count = lambda: 2
import grbp
from grbp.numerics.jit import numba
numba()
from numba.core import event
class Heard(event.Listener):
    def on_start(self, said): compiled.append(said.data["dispatcher"].py_func.__name__)
    def on_end(self, said): pass
compiled = []
event.register("numba:compile", Heard())
grbp.simulate(grbp.Problem(4, 0.45, 0.3), "threshold-1", 2000, 2, engine="leap", threads=1)
print(json.dumps(compiled))
"""


def start(command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", command])


@pytest.fixture(autouse=True)
def nothing_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_begun", [])


@pytest.mark.soak
def test_another_process_compiles_what_a_loop_asks_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST], capture_output=True, text=True, check=True,
        env=os.environ | {"GRBP_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    compiled = json.loads(done.stdout)
    assert "leap" in compiled
    assert not {"draw_whole_batch", "draw_batch", "binomial_draw"} & set(compiled)
    assert len(list(tmp_path.glob("*.code"))) == 2


def test_a_process_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_LONGEST", 0.05)
    process = start("import time; time.sleep(600)")
    ahead._begun.append(process)
    ahead._await_process()
    assert ahead._begun == []
    assert process.returncode != 0


@pytest.mark.parametrize("command", ["nowhere/python", None])
def test_where_no_process_can_be_started_nothing_is_waited_for(
    command: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", command)
    ahead._start_process()
    assert ahead._begun == []
    ahead._await_process()


def test_one_process_is_started_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "module_command", lambda _: ([sys.executable, "-c", ""], {}))
    ahead._start_process()
    ahead._start_process()
    assert len(ahead._begun) == 1
    ahead._await_process()
    assert ahead._begun == []
