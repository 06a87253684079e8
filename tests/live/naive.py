"""A naive model of a live study: it keeps what was told, and works all else out again each time.

It is written from the rules in words and shares no code with `grbp.live`: of the package it uses
the learner's decision, the counters it decides from, and the streams of draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from grbp import Counters, find_learner
from grbp.learners.counters import initial_counters, with_pending
from grbp.numerics.rng import LEARNER, OPENING, fold_in, replica_key, uniform

Time = datetime


@dataclass(frozen=True)
class Settings:
    """What a study is made with."""

    goal: int = 4
    learner: Any = "getbe-sm"
    seed: int = 0
    start: Any = "drawn"
    windows: dict[str, float] | None = None
    shadow: bool = False


class Told(NamedTuple):
    """A request that was accepted, with the answer to it."""

    kind: str
    case: int
    now: Time
    since: Time
    state: int = 0
    action: str = ""
    threshold: int = 0
    answer: Any = None


@dataclass
class Step:
    """A step that was told and not taken back."""

    state: int
    after: int
    action: str
    advised: str
    since: Time
    due: Time | None
    place: int

    @property
    def finish(self) -> bool:
        return self.action == "finish"


@dataclass
class Case:
    """A case as what was told leaves it."""

    number: int
    first: int
    threshold: int
    opened: Time
    since: Time
    goal: int
    closed: bool = False
    steps: list[Step] = field(default_factory=list)

    @property
    def state(self) -> int:
        return self.steps[-1].after if self.steps else self.first

    @property
    def status(self) -> str:
        if self.state in (0, self.goal):
            return "won" if self.state else "lost"
        return "closed" if self.closed else "open"

    @property
    def advised(self) -> str | None:
        if self.status != "open":
            return None
        return "finish" if self.state <= self.threshold else "continue"

    @property
    def overridden(self) -> int:
        return sum(step.action != step.advised for step in self.steps)


class Model:
    """A study as the rules in words have it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.told: list[Told] = []
        self.events: list[tuple[str, int, int]] = [("study", 0, 0)]

    # What follows from what was told.

    def cases(self) -> list[Case]:
        """Return all cases."""
        found: list[Case] = []
        windows = self.settings.windows or {}
        for place, one in enumerate(self.told):
            if one.kind == "open":
                number = len(found) + 1
                case = Case(
                    number, one.state, one.threshold, one.now, one.since, self.settings.goal
                )
                found.append(case)
                continue
            case = found[one.case - 1]
            if one.kind == "tell":
                days = windows.get(one.action)
                due = None if days is None else case.since + timedelta(days=days)
                advised = case.advised
                assert advised is not None
                case.steps.append(
                    Step(case.state, one.state, one.action, advised, case.since, due, place)
                )
                case.since = one.since
            elif one.kind == "close":
                case.closed = True
            elif case.closed:
                case.closed = False
            else:
                case.since = case.steps.pop().since
        return found

    def counts(self, step: Step, now: Time | None = None) -> bool:
        """Return whether a step counts: something was recorded when its window was over."""
        if step.due is None:
            return True
        times = [one.now for one in self.told[step.place :]] + ([now] if now else [])
        return any(time >= step.due for time in times)

    def first(self) -> Counters:
        """Return the counters before the first case."""
        if self.settings.start == "first":
            return Counters(1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if self.settings.start == "drawn":
            key = replica_key(self.settings.seed, OPENING, 0)
            return initial_counters(uniform(key, 0), uniform(key, 1))
        counters: Counters = self.settings.start
        return counters

    def counters(self, now: Time | None = None) -> Counters:
        """Return what is known: all steps that count, and the cases that do."""
        n = self.first()._asdict()
        for case in self.cases():
            counted = [step for step in case.steps if self.counts(step, now)]
            for step in counted:
                name, good = "c", step.after > step.state
                if step.finish:
                    name, good = "f", step.after == self.settings.goal
                n[name] += 1
                n["f_goal" if step.finish else "c_up"] += good
            if case.status in ("won", "lost"):
                played = len(counted) == len(case.steps) and not case.overridden
                if played and case.threshold in (0, 1):
                    n[f"plays_{case.threshold}"] += 1
                    n[f"wins_{case.threshold}"] += case.status == "won"
        return Counters(**n)._replace(rho=self.first().rho + len(self.cases()))

    def pending(self, now: Time | None = None) -> int:
        """Return the FINISH that was advised, or taken, and does not count yet."""
        cases = self.cases()
        held = sum(
            step.finish and not self.counts(step, now) for case in cases for step in case.steps
        )
        issued = sum(case.advised == "finish" for case in cases)
        return held + (0 if self.settings.shadow else issued)

    def threshold(self, now: Time | None = None) -> int:
        """Decide as if a case were opened now."""
        goal, seed = self.settings.goal, self.settings.seed
        n, pending = self.counters(now), self.pending(now)
        if self.settings.start == "first" and (n.c == 0 or n.f == 0):
            return goal - 1 if n.c > 0 and n.f + pending == 0 else 0
        draw = fold_in(replica_key(seed, LEARNER, 0), n.rho)
        learner: Any = find_learner(self.settings.learner, goal)
        return int(learner.choose(goal, with_pending(n, n.rho, float(pending)), draw))

    def due(self, now: Time) -> Iterator[tuple[str, int, int]]:
        """Yield what becomes mature when something is recorded now."""
        held = [
            (step.due, case.number, number)
            for case in self.cases()
            for number, step in enumerate(case.steps, 1)
            if step.due is not None and step.due <= now and not self.counts(step)
        ]
        for _, case, step in sorted(held):
            yield "mature", case, step

    def answers_again(self, kind: str, case: int, then: Time, now: Time) -> bool:
        """Return whether a request that comes again with its key is answered as it was."""
        over = self.cases()[case - 1].status != "open"
        return now < then + timedelta(days=1) and not (kind == "open_case" and over)

    # What is told.

    def record(self, one: Told) -> None:
        """Keep a request that was accepted."""
        self.events += self.due(one.now)
        if one.kind == "open":
            one = one._replace(threshold=self.threshold(one.now), case=len(self.cases()) + 1)
        step = 0
        if one.kind in ("tell", "void"):
            case = self.cases()[one.case - 1]
            step = len(case.steps) + (one.kind == "tell")
            step = 0 if one.kind == "void" and case.closed else step
        self.told.append(one)
        self.events.append((one.kind, one.case, step))
