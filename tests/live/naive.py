"""A naive model of a live study: it keeps what was told, and works all else out again each time.

It is written from the rules in words and shares no code with `grbp.live`: of the package it uses
the learner's decision, the counters it decides from and how they are forgotten, and the streams of
draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from grbp import Counters, StateCounters, StateLearner, empty_state_counters, find_learner
from grbp.learners.counters import initial_counters, with_pending
from grbp.learners.memory import Memory, as_memory, outcomes_of, recall, reweigh
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
    groups: tuple[str, ...] | None = None

    @property
    def by_state(self) -> bool:
        """Whether the learner decides by state."""
        return isinstance(find_learner(self.learner, self.goal), StateLearner)

    @property
    def memories(self) -> Memory:
        """How the learner forgets."""
        found: Any = find_learner(self.learner, self.goal)
        return as_memory(found.memory)

    @property
    def plain(self) -> bool:
        """Whether it is a study as the first version had them."""
        return not (self.groups or self.by_state or "memory" in str(self.learner))


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
    group: str = ""


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
    group: str
    rank: int
    by_state: bool
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
        if self.by_state:
            return "finish" if self.threshold & (1 << (self.state - 1)) else "continue"
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
                rank = 1 + sum(other.group == one.group for other in found)
                case = Case(
                    number, one.state, one.threshold, one.now, one.since, self.settings.goal,
                    one.group, rank, self.settings.by_state,
                )  # fmt: skip
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
        """Return what is known of all groups together, with nothing forgotten."""
        every = [self._counters(1.0, self.cases(), None, now)]
        return every[0]._replace(rho=self.first().rho + len(self.cases()))

    def _counters(
        self, keep: float, cases: list[Case], opened: int | None, now: Time | None
    ) -> Counters:
        """Count some cases, each with its weight; those that are not settled count in full."""
        n = self.first()._asdict()
        if opened is not None:
            n = {name: count * keep**opened for name, count in n.items()}
        for case in cases:
            counted = [step for step in case.steps if self.counts(step, now)]
            settled = case.status != "open" and len(counted) == len(case.steps)
            weight = keep ** (opened - case.rank) if opened is not None and settled else 1.0
            for step in counted:
                name, good = "c", step.after > step.state
                if step.finish:
                    name, good = "f", step.after == self.settings.goal
                n[name] += weight
                n["f_goal" if step.finish else "c_up"] += weight * good
            if case.status in ("won", "lost"):
                played = settled and not case.overridden
                if played and case.threshold in (0, 1):
                    n[f"plays_{case.threshold}"] += weight
                    n[f"wins_{case.threshold}"] += weight * (case.status == "won")
        return Counters(**n)

    def _state_counters(
        self, keep: float, cases: list[Case], opened: int, now: Time | None
    ) -> StateCounters:
        """Count some cases by state, each with its weight."""
        n = empty_state_counters(self.settings.goal)
        for case in cases:
            for step in case.steps:
                if self.counts(step, now):
                    good = step.after > step.state
                    into = (n.won, n.lost) if step.finish else (n.up, n.down)
                    into[not good][step.state - 1] += keep ** (opened - case.rank)
        return n

    def kept(self, group: str, now: Time | None = None, without: int = 0) -> list[Any]:
        """Return what each memory holds of a group; without a case, where one is left out."""
        cases = [case for case in self.cases() if case.group == group]
        rest = [case for case in cases if case.number != without]
        count = self._state_counters if self.settings.by_state else self._counters
        first = 1 if self.settings.by_state else self.first().rho
        found: list[Any] = [
            count(keep, rest, len(cases), now) for keep in self.settings.memories.keep.tolist()
        ]
        return [n._replace(rho=first + len(cases)) for n in found]

    def weights(self, group: str) -> Any:
        """Return the weights of the memories, which are weighed when a case is over."""
        memories = self.settings.memories
        weights, over = memories.start(), set[int]()
        for end in range(1, len(self.told) + 1):
            then = Model(self.settings)
            then.told = self.told[:end]
            cases = {case.number: case for case in then.cases() if case.group == group}
            now_over = {number for number, case in cases.items() if case.status != "open"}
            for number in now_over - over:
                one = Model(self.settings)
                one.told = then.told
                shown = outcomes_of(one.shown(cases[number]))
                settled = [k for k, case in cases.items() if case.status == "open"]
                before = (
                    np.array([outcomes_of(n) for n in one.kept_of_settled(group, number, settled)])
                    / memories.keep[:, None, None]
                )
                weights = reweigh(memories, weights, before, shown)
            over = now_over
        return weights

    def shown(self, case: Case) -> Any:
        """Return what a case showed, as counters from nothing."""
        if self.settings.by_state:
            return self._state_counters(1.0, [case], case.rank, None)
        n = self._counters(1.0, [case], None, None)
        return Counters(0, *(a - b for a, b in zip(n[1:], self.first()[1:], strict=True)))

    def kept_of_settled(self, group: str, without: int, under_way: list[int]) -> list[Any]:
        """Return what each memory holds without a case; of thresholds, without those under way."""
        if self.settings.by_state:
            return self.kept(group, None, without)
        cases = [case for case in self.cases() if case.group == group]
        rest = [case for case in cases if case.number not in {without, *under_way}]
        keeps = self.settings.memories.keep.tolist()
        return [self._counters(keep, rest, len(cases), None) for keep in keeps]

    def pending_places(self, group: str | None = None, now: Time | None = None) -> list[int]:
        """Return the FINISH that was advised, or taken, and does not count yet, by state."""
        places = [0] * (self.settings.goal - 1)
        for case in self.cases():
            if group is None or case.group == group:
                for step in case.steps:
                    if step.finish and not self.counts(step, now):
                        places[step.state - 1] += 1
                if case.advised == "finish" and not self.settings.shadow:
                    places[case.state - 1] += 1
        return places

    def pending(self, now: Time | None = None) -> int:
        """Return the pending FINISH of all cases."""
        return sum(self.pending_places(None, now))

    def key(self) -> int:
        """Return the key of the draws of a case that is opened now."""
        begin = 1 if self.settings.by_state else self.first().rho
        return fold_in(replica_key(self.settings.seed, LEARNER, 0), begin + len(self.cases()))

    def known(self, group: str = "", now: Time | None = None) -> Any:
        """Return what a case of a group that is opened now is decided from."""
        memories = self.settings.memories
        weights = self.weights(group) if len(memories.keep) > 1 else memories.start()
        return recall(memories, self.kept(group, now), weights, self.key())

    def threshold(self, now: Time | None = None, group: str = "") -> int:
        """Decide as if a case were opened now."""
        goal = self.settings.goal
        n, places = self.known(group, now), self.pending_places(group, now)
        learner: Any = find_learner(self.settings.learner, goal)
        if self.settings.by_state:
            waits, mean = np.array(places), (n.won + 1) / (n.won + n.lost + 2)
            n = n._replace(won=n.won + waits * mean, lost=n.lost + waits * (1 - mean))
            return int(learner.choose(goal, n, self.key()))
        if self.settings.start == "first" and (n.c == 0 or n.f == 0):
            return goal - 1 if n.c > 0 and n.f + sum(places) == 0 else 0
        return int(learner.choose(goal, with_pending(n, n.rho, float(sum(places))), self.key()))

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

    def last_entry(self, case: Case) -> Time:
        """Return when the last entry of a case that stands was recorded."""
        if case.closed:
            return [
                one.now for one in self.told if one.kind == "close" and one.case == case.number
            ][-1]
        return self.told[case.steps[-1].place].now if case.steps else case.opened

    # What is told.

    def record(self, one: Told) -> None:
        """Keep a request that was accepted."""
        self.events += self.due(one.now)
        if one.kind == "open":
            threshold = self.threshold(one.now, one.group)
            one = one._replace(threshold=threshold, case=len(self.cases()) + 1)
        step = 0
        if one.kind in ("tell", "void"):
            case = self.cases()[one.case - 1]
            step = len(case.steps) + (one.kind == "tell")
            step = 0 if one.kind == "void" and case.closed else step
        self.told.append(one)
        self.events.append((one.kind, one.case, step))
