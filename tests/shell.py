"""What tests of `grbp simulate` ask for, and what it must answer."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from runs import without_notes

import grbp
from grbp import Problem
from grbp.cli import main

ASKED = ["--goal", "4", "--p-c", ".45", "--p-f", ".3"]
SIZE = ["--rounds", "300", "--replicas", "40", "--seed", "7"]
TWO = ["--learner", "getbe-sm", "--learner", "getbe-ucb"]


def expected(**options: Any) -> grbp.Simulation:
    return grbp.simulate(Problem(4, 0.45, 0.3), ["getbe-sm", "getbe-ucb"], 300, 40, 7, **options)


def instead(monkeypatch: pytest.MonkeyPatch, name: str, do: Callable[..., Any]) -> None:
    """Let something else be done in place of a public function that has options on the shell."""

    def done(*args: Any, **given: Any) -> Any:
        return do(*args, **given)

    monkeypatch.setattr(grbp, name, wraps(getattr(grbp, name))(done))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["simulate", *ASKED, *SIZE, *arguments]) == 0
    out, err = capsys.readouterr()
    assert without_notes(err) == ""
    return out
