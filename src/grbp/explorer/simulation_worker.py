"""Simulate in a process of its own, for the explorer: it can be ended at any moment.

It reports how far it is, the curve of each learner as soon as it is known, and how it ended.
"""

import os
import time
from collections.abc import Sequence
from typing import Any, Final

from grbp._process import read_request, write_answer
from grbp.errors import GrbpError, TooLarge

WORK: Final = 20.0
"""Seconds that the rounds of a simulation may take, without the time to compile its learners."""

_OFTEN: Final = 0.05
"""Seconds between two reports."""


class TimeLimit:
    """How far a simulation is, and whether it will be done in time."""

    def __init__(self, limit: float = WORK) -> None:
        self._limit, self._spent, self._reported = limit, 0.0, 0.0
        self._began, self._first = 0.0, 0

    def begin(self, learner: str, total: int) -> None:
        """Report the next learner; until its first replicas are done, it may be compiled."""
        self._began = 0.0
        _report(learner=learner, done=0, total=total)

    def __call__(self, learner: str, done: int, total: int) -> None:
        """Report what is done, and refuse what would take too long."""
        now = time.monotonic()
        if not self._began:
            self._began, self._first = now, done
        took = now - self._began
        if took > 1.0:
            ahead = took * (total - done) / (done - self._first)
            if self._spent + took + ahead > self._limit:
                raise TooLarge(
                    f"this would take about {self._spent + took + ahead:.0f} s; at most"
                    f" {self._limit:.0f} s are allowed here: ask for fewer rounds or replicas"
                )
        if done == total:
            self._spent += took
        if done == total or now - self._reported > _OFTEN:
            self._reported = now
            _report(learner=learner, done=done, total=total)


def play(asked: dict[str, Any]) -> None:
    """Simulate one learner after another; that gives each the numbers that it has among others."""
    import grbp  # noqa: PLC0415 (the engine is loaded in this process alone)

    problem = grbp.Problem(asked["goal"], asked["p_c"], asked["p_f"], asked["start"])
    limit = TimeLimit()
    for learner in asked["learners"]:
        limit.begin(learner, asked["replicas"])
        result = grbp.simulate(
            problem, learner, asked["rounds"], asked["replicas"], asked["seed"],
            threads=1, progress=limit,
        )  # fmt: skip
        for curve in result.curves.values():
            low, high = curve.band()
            shown = {
                "learner": learner,
                "mean": curve.mean.tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "covered": curve.covered,
                "thresholds": {str(k): share for k, share in curve.threshold_share.items()},
            }
            _report([shown], checkpoints=result.checkpoints.tolist())


def main() -> None:
    """Answer the request on standard input."""
    asked = read_request()
    if hasattr(os, "nice"):
        os.nice(10)  # Whoever waits for advice comes first.
    try:
        play(asked)
    except GrbpError as error:
        _report(status="failed", detail=str(error))
    else:
        _report(status="done")


def _report(curves: Sequence[dict[str, Any]] = (), **changes: Any) -> None:
    """Write a report: curves that are done, and whatever else has changed."""
    write_answer(curves=curves, **changes)


if __name__ == "__main__":
    main()
