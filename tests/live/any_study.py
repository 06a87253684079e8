"""Studies of any configuration, at work: drawn from a number, so that each can be drawn again.

What is asked of them is always allowed, so that whatever is refused is a fault.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from grbp import Study
from grbp.errors import Conflict, InvalidInput
from grbp.live.store.base import Store

ONE = (
    "doorstep-optimal", "doorstep-optimal:good=2", "doorstep-kl", "getbe-sm", "getbe-sm:gamma=2",
    "getbe-ps", "getbe-ucb", "ps-polselection", "ucb-polselection", "no-explore", "kl-ucb",
    "epsilon-greedy", "explore-then-commit", "bayes-ucb", "threshold-0", "threshold-1",
)  # fmt: skip
BY_STATE = ("psrl", "psrl:prior=2", "kl-ucb-states", "averaged-states")
MEMORIES = (None, None, None, 1, 1.5, 5, 50, 1000, "averaged")


class AnyStudy:
    """A study of a drawn configuration, the clock on its wall, and what was asked of it."""

    def __init__(self, store: Store | str, number: int, begin: str = "anyhow") -> None:
        self.rng, self.number = random.Random(number), number  # noqa: S311
        self.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
        self.settings = self._draw_settings(begin)
        self.study = Study.create(
            store, f"ward {number}", who="ada", clock=lambda: self.now, **self.settings
        )
        self.goal: int = self.settings["goal"]
        self.codes = 0

    def _pick(self, *given: Any) -> Any:
        return self.rng.choice(given)

    def _draw_settings(self, begin: str) -> dict[str, Any]:
        pick, rng = self._pick, self.rng
        by_state = rng.random() < 0.4
        goal = pick(2, 3, 3, 4, 4, 4, 5, 6, 9, 20, 63)
        if not by_state:
            goal = pick(goal, goal, goal, goal, 64, 1000)
        learner: str | None = pick(None, rng.choice(BY_STATE if by_state else ONE))
        model = pick("state", "averaged") if by_state else pick(None, "one")
        groups = pick(None, None, ["north", "south"], ["a", "b", "ç d"])
        memory = pick(*MEMORIES)
        if learner is not None:
            model = None
            if learner.startswith(("threshold", "explore")):
                memory = None
        cases = None
        if groups is None and memory is None and not by_state and learner in (None, ONE[0]):
            cases = pick(None, None, 3, 40, 10**6)
        windows = pick(None, None, {"finish": 3}, {"continue": 1}, {"finish": 2, "continue": 5})
        settings: dict[str, Any] = {
            "goal": goal, "learner": learner, "model": model, "groups": groups, "memory": memory,
            "cases": cases, "windows": windows, "seed": pick(0, 7, 2**100),
            "shadow": rng.random() < 0.25, "level": pick(0.95, 0.95, 0.5, 0.999),
            "start": "drawn" if begin == "nothing" else self._draw_start(goal, by_state, groups),
        }  # fmt: skip
        if goal <= 20 and rng.random() < 0.4:
            settings["states"] = [f"bed {chr(97 + k)}" for k in range(goal + 1)]
        if rng.random() < 0.4:
            settings["actions"] = pick(["a drug", "a cut"], ["ilaç", "ameliyat"])
            settings["case_name"] = pick("hasta", ["person", "people"])
        return settings

    def _draw_start(self, goal: int, by_state: bool, groups: list[str] | None) -> Any:
        """Begin with nothing, with the first steps, or with what another study saw."""
        kind = self.rng.random()
        if kind < 0.6:
            return "drawn"
        if kind < 0.75 and not by_state:
            return "first"
        old = Study.create(
            "memory", "old", goal, self._pick("psrl", "getbe-sm") if goal < 64 else "getbe-sm",
            groups=self._pick(None, groups), who="ada", clock=lambda: self.now,
        )  # fmt: skip
        groups = list(old.status().groups)
        for case in range(1, 7):
            group = self.rng.choice(groups) if groups else None
            advice = old.open_case(self.rng.randint(1, goal - 1), group=group)
            took = ("continue", "finish")[case % 2]
            state = self._lead(advice.state, took, goal)
            old.tell(case, state, took=took, why="to begin")
        return old

    def _lead(self, state: int, took: str, goal: int) -> int:
        """Return a state to which an action can lead."""
        to = (0, goal) if took == "finish" else (state - 1, state + 1)
        return self.rng.choice(to)

    def play(self, steps: int) -> Iterator[str]:
        """Ask for so much, whatever there is to ask for; yield the verb that comes next."""
        verbs = {
            "open_case": 5, "tell": 12, "void": 2, "undo": 1, "withdraw_case": 1, "wait": 1,
            "set_code": 1, "archive": 0.1,
        }  # fmt: skip
        for verb in self.rng.choices([*verbs], [*verbs.values()], k=steps):
            yield verb
            self.now += timedelta(minutes=self.rng.choice([0, 1, 20]))
            getattr(self, f"_{verb}")()

    def _cases(self, *statuses: str) -> list[Any]:
        return [one for one in self.study.cases(0, 1000) if one.status in statuses]

    def _some_case(self, *statuses: str) -> Any:
        found = self._cases(*statuses)
        return self.rng.choice(found) if found else None

    def _open_case(self) -> None:
        state: Any = self.rng.randint(1, self.goal - 1)
        if self.study.labels.states:
            state = self._pick(state, self.study.labels.states[state])
        groups = self.settings["groups"]
        group = self.rng.choice(groups) if groups else None
        key = self._pick(None, f"key {self.codes}")
        self.study.open_case(state, group=group, key=key, code=self._draw_code())

    def _draw_code(self) -> str | None:
        self.codes += 1
        return self._pick(None, None, f"B-{self.codes}")

    def _tell(self) -> None:
        case = self._some_case("open")
        if case is None:
            return
        advised = "continue" if self.settings["shadow"] else case.action
        took = self._pick(advised, advised, advised, "continue", "finish")
        state = self._lead(case.state, took, self.goal)
        observed = self._pick(None, None, self.now - timedelta(days=1))
        self.study.tell(
            case.case, state, took=took, why=self._pick("she wished it"), observed=observed,
            step=self._pick(None, case.steps + 1),
        )  # fmt: skip

    def _void(self) -> None:
        found = [one for one in self._cases("open", "won", "lost", "closed") if one.steps]
        found += [one for one in self._cases("closed") if not one.steps]
        if found:
            self._may_clash(lambda: self.study.void(self.rng.choice(found).case, "a slip"))

    def _undo(self) -> None:
        case = self._some_case("open", "won", "lost")
        if case is not None:
            with suppress(Conflict):  # It may be too late.
                self.study.undo(case.case)

    def _may_clash(self, ask: Any) -> None:
        """Ask for what another case's code may forbid."""
        with suppress(Conflict):
            ask()

    def _withdraw_case(self) -> None:
        case = self._some_case("open")
        if case is not None:
            self.study.withdraw_case(case.case, "moved away")

    def _wait(self) -> None:
        self.now += timedelta(days=self.rng.choice([1, 4]))

    def _set_code(self) -> None:
        case = self._some_case("open", "won", "lost", "closed")
        if case is not None:
            self.study.set_code(case.case, self._draw_code())

    def _archive(self) -> None:
        self.study.archive("for a while")
        self.study.unarchive("it goes on")

    def look(self) -> None:
        """Read all that can be read, in words and in plain types."""
        study = self.study
        status = study.status()
        status.to_dict(), repr(status)
        for event in study.log(0, 1000):
            assert event.kind
        study.find_taken_back(study.log(0, 1000))
        for case in study.cases(0, 1000):
            advice = study.ask(case.case)
            str(advice), advice.to_dict()
            for state in range(1, min(self.goal, 7)):
                basis = study.basis(case.case, state)
                if basis is not None:
                    basis.to_dict(), basis.summary, basis.sentences(study.labels)
        for moment in study.trajectory(20):
            moment.to_dict()


__all__ = ["AnyStudy", "InvalidInput"]
