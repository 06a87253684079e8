"""Small studies for the tests: a clock that is set by hand, and what is in a store."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from grbp import Advice, Counters, Study
from grbp.live.schema import CaseRow, HeldRow, StudyRow
from grbp.live.store.base import LAST, Transaction

RECORDS = Counters(41, 12.0, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def add(self, days: float) -> None:
        self.now += timedelta(days=days)


def ward(learner: Any = "threshold-1", where: Any = "memory", **settings: Any) -> Study:
    """Make a study of goal 4 that begins with counts of records, unless it is told otherwise."""
    named: dict[str, Any] = {"goal": 4, "start": RECORDS, "who": "ada", "clock": Clock()} | settings
    return Study.create(where, "ward", learner=learner, **named)


def clock_of(study: Study) -> Clock:
    clock = study._clock
    assert isinstance(clock, Clock)
    return clock


def rows(study: Study) -> tuple[StudyRow, list[CaseRow], list[HeldRow]]:
    """Return all rows of a study that follow from its log."""

    def script(tx: Transaction) -> tuple[StudyRow, list[CaseRow], list[HeldRow]]:
        row = tx.study()
        assert row is not None
        return row, list(tx.all_cases()), tx.due(LAST)

    return study._store.read(study.name, script)


def answer(study: Study, advice: Advice) -> dict[str, Any]:
    """Return what was recorded as the answer to a request."""
    assert advice.event is not None
    found: dict[str, Any] = json.loads(study.log(advice.event - 1)[0].response)
    return found


def known(study: Study) -> tuple[Counters, int]:
    """Return what would be known to a case that is opened now, and what is pending; open it."""
    *counters, pending = answer(study, study.open_case(3))["known"]
    return Counters(*counters), pending


def kinds(study: Study) -> list[str]:
    """Return the kinds of all events, in their order."""
    return [event.kind for event in study.log()]
