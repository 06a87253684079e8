"""A clerk at a study: seeded requests of every kind, each with a key, and the answers to them."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self, TypeVar

from grbp import Conflict, Study
from grbp.live.store.base import Store

T = TypeVar("T")

GOAL = 4


class Request(NamedTuple):
    """A verb of a study, and its arguments."""

    verb: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    """What a study answered, and the hash of the event that it recorded."""

    case: int
    state: int
    status: str
    step: int
    action: str | None
    event: int
    hash: str


class Clock:
    """A clock that goes on by some minutes whenever somebody looks at it."""

    def __init__(self, minutes: float = 7.0) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)
        self.minutes = minutes

    def __call__(self) -> datetime:
        self.time += timedelta(minutes=self.minutes)
        return self.time


class Clerk:
    """A person who opens cases, tells, overrules, corrects and withdraws, as a seed says."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases: dict[int, Answer] = {}
        self.sit_down(0)

    def sit_down(self, seed: object) -> Self:
        """Begin anew with other draws and keys, and with the cases known so far."""
        self.label = f"{self.name}-{seed}"
        self.draw = random.Random(self.label)  # noqa: S311
        self.asked = 0
        return self

    def request(self) -> Request:
        """Think of the next thing to do."""
        self.asked += 1
        verb, arguments = self._verb()
        return Request(verb, arguments | {"key": f"{self.label}-{self.asked}"})

    def _verb(self) -> tuple[str, dict[str, Any]]:
        under_way = [one for one in self.cases.values() if one.status == "open"]
        if len(under_way) < 2 or self.draw.random() < 0.15:
            return "open_case", {"state": self.draw.randrange(1, GOAL)}
        chance = self.draw.random()
        if chance < 0.1:
            taken_back = [one for one in self.cases.values() if one.step or one.status == "closed"]
            if taken_back:
                return "void", {"case": self.draw.choice(taken_back).case, "why": "a slip"}
        one = self.draw.choice(under_way)
        if chance < 0.15:
            return "withdraw_case", {"case": one.case, "why": "moved away"}
        finish = (one.action == "finish") ^ (self.draw.random() < 0.1)
        ends = (0, GOAL) if finish else (one.state - 1, one.state + 1)
        told = {"case": one.case, "state": self.draw.choice(ends), "step": one.step + 1}
        return "tell", told | {"took": "finish" if finish else "continue", "why": "as it was"}

    def learn(self, answer: Answer) -> None:
        """Remember how a case stands; forget old ones that are over."""
        self.cases[answer.case] = answer
        if len(self.cases) > 12:
            over = [case for case, one in self.cases.items() if one.status != "open"]
            for case in over[:-4]:
                del self.cases[case]


def ask(study: Study, request: Request) -> Answer:
    """Put a request to a study."""
    advice = getattr(study, request.verb)(**request.arguments)
    (event,) = study.log(advice.event - 1, 1)
    return Answer(
        advice.case,
        advice.state,
        advice.status,
        advice.step,
        None if advice.action is None else advice.action.name.lower(),
        advice.event,
        event.hash,
    )


def repeats(study: Study, request: Request, answer: Answer) -> bool:
    """Put a request again that was answered; return whether it gets the same answer.

    The key of an opening ends with its case, which the request after it may have ended.
    """
    try:
        return ask(study, request) == answer
    except Conflict as error:
        return request.verb == "open_case" and "for a case that is over" in str(error)


def together(store: Store, calls: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Make calls so that one commit serves them all, in an order that is always the same."""
    results: dict[int, T | Exception] = {}

    def make(place: int, call: Callable[[], T]) -> None:
        try:
            results[place] = call()
        except Exception as error:
            results[place] = error

    threads = []
    with store._lock:
        for place, call in enumerate(calls):
            threads.append(threading.Thread(target=make, args=(place, call)))
            threads[-1].start()
            until = time.monotonic() + 60
            while len(store._waiting) <= place:
                assert time.monotonic() < until, "a call does not get as far as the store"
                time.sleep(0)
    for thread in threads:
        thread.join()
    return [results[place] for place in range(len(calls))]
