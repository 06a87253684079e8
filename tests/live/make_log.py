"""Make assets/log-1.ndjson, an export with every kind of event: `python tests/live/make_log.py`.

Nothing in it is drawn afresh. What is kept stays as it is: a version of the package that cannot
read it, or decides otherwise, cannot go on with the studies of those who use it.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from grbp import Action, Advice, Study

ASSETS = Path(__file__).parent / "assets"
WHY = (
    "she wished it",
    "kein Bett frei: \u201eNotfall\u201c",
    "\u533b\u5e08\u51b3\u5b9a",
    "\U0001f6cf\ufe0f",
)


class Clock:
    """A clock that mostly goes forward."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def make() -> Study:
    """Run a study of overlapping cases, with all that can happen to them."""
    clock, draws = Clock(), np.random.default_rng(14)
    named: dict[str, Any] = {"who": "Zo\u00eb", "clock": clock, "seed": 2**70 + 3}
    store = Study.create("memory", "Ward 6\u2009\u2013\u2009north", 4, "getbe-sm", **named)._store
    study = Study.create(
        store, "Ward 6\u2009\u2013\u2009north", 5, "getbe-ps", start="first",
        windows={"finish": 5, "continue": 0.5}, **named,
    )  # fmt: skip
    last: dict[int, Advice] = {}
    for k in range(450):
        luck = draws.random()
        clock.now += timedelta(hours=float(draws.exponential(9.0)) - 3.0, microseconds=k)
        under_way = [case for case, advice in last.items() if advice.status == "open"]
        if luck < 0.28 or not under_way:
            advice = study.open_case(
                int(draws.integers(1, 5)),
                key=f"open {k}" if luck < 0.1 else None,
                observed=clock.now - timedelta(days=2) if luck < 0.05 else None,
            )
        elif luck < 0.86:
            advice = told(study, last[int(draws.choice(under_way))], draws, k)
        elif luck < 0.93:
            advice = study.withdraw_case(int(draws.choice(under_way)), WHY[k % 4], who="Bo")
        else:
            case = int(draws.choice(sorted(last)))
            if last[case].status != "closed" and not last[case].step:
                continue
            advice = study.void(case, WHY[k % 4], key=f"void {k}" if k % 2 else None)
        last[advice.case] = advice
    return study


def told(study: Study, advice: Advice, draws: np.random.Generator, k: int) -> Advice:
    """Tell what came of a case: mostly of what was advised."""
    luck, action = draws.random(), advice.action
    overridden = luck < 0.15
    if overridden:
        action = Action.FINISH if action == Action.CONTINUE else Action.CONTINUE
    if action == Action.FINISH:
        state = 5 if draws.random() < 0.2 else 0
    else:
        state = advice.state + (1 if draws.random() < 0.5 else -1)
    return study.tell(
        advice.case, state, took=action if overridden else None,
        why=WHY[k % 4] if overridden else "",
        key=f"tell {k}" if luck > 0.7 else None, step=advice.step + 1 if luck > 0.5 else None,
    )  # fmt: skip


def facts(study: Study) -> dict[str, Any]:
    """Return what a study comes to: its decisions, what is counted, and the hash of its log."""
    answers = [json.loads(event.response) for event in study.log(limit=10_000)]
    status = study.status()
    return {
        "head": status.head,
        "events": status.events,
        "cases": status.cases,
        "pending": status.pending,
        "next": status.next_threshold,
        "thresholds": [answer["threshold"] for answer in answers if "threshold" in answer],
        "known": next(answer["known"] for answer in answers[::-1] if "known" in answer),
        "counted": [getattr(status.basis, name) for name in ("f", "f_goal", "c", "c_up")],
        "states": [case.state for case in study.cases(limit=10_000)],
    }


if __name__ == "__main__":
    study = make()
    study.export(ASSETS / "log-1.ndjson")
    (ASSETS / "log-1.json").write_text(json.dumps(facts(study), indent=1) + "\n", "utf-8")
