"""Studies of any configuration, at work: drawn from a number, so that each can be drawn again.

What is asked of them is always allowed, so that whatever is refused is a fault. As a program,
``PYTHONPATH=tests python tests/live/any_study.py FIRST LAST`` lives through many of them.
"""

import random
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from serving import Serving

from grbp import Study
from grbp.errors import Conflict
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
        for group in old.status().groups or [None]:
            for took in ("continue", "finish", self._pick("continue", "finish")):
                advice = old.open_case(self.rng.randint(1, goal - 1), group=group)
                old.tell(
                    advice.case, self._lead(advice.state, took, goal), took=took, why="to begin"
                )
        return old

    def _lead(self, state: int, took: str, goal: int) -> int:
        """Return a state to which an action can lead."""
        to = (0, goal) if took == "finish" else (state - 1, state + 1)
        return self.rng.choice(to)

    def play(self, steps: int) -> Iterator[str]:
        """Ask for so much, whatever there is to ask for; yield the verb that comes next."""
        verbs = {
            "open_case": 5, "tell": 12, "void": 2, "undo": 1, "withdraw_case": 1, "wait": 1,
            "set_code": 1, "archive": 0.1, "change_learner": 0.3,
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
        code: str | None = self._pick(None, None, f"B-{self.codes}")
        return code

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
        """Ask for what another case's code, or the same learner, may forbid."""
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

    def _change_learner(self) -> None:
        status = self.study.status()
        names: tuple[str, ...] = ONE if status.model == "one" else BY_STATE
        if status.memory is not None:
            names = tuple(name for name in names if not name.startswith(("threshold", "explore")))
        name = self.rng.choice(names)
        if status.memory is not None:
            name += f"{',' if '=' in name else ':'}memory={status.memory}"
        self._may_clash(lambda: self.study.change_learner(name, "another one"))

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


def pages(study: Study) -> Iterator[str]:
    """Return the addresses of all pages of a study, and of what they fetch."""
    name = quote(study.name)
    page, api = f"/studies/{name}", f"/api/studies/{name}"
    yield from (page, f"{page}?show=all", f"{page}/evidence", f"{page}/log", f"/?from={name}")
    yield from (api, f"{api}/cases", f"{api}/events", f"{api}/path", f"{api}/steps.csv")
    for group in study.status().groups:
        yield from (f"{page}?group={quote(group)}", f"{page}/evidence?group={quote(group)}")
    for case in study.cases(0, 1000):
        yield from (f"{page}/cases/{case.case}", f"{api}/cases/{case.case}/advice")
        yield f"{page}/log?case={case.case}"


def live_through(number: int, server: Serving, folder: Path) -> None:
    """Draw a study, work with it and look at it in every way; whatever is refused is a fault."""
    ward = AnyStudy(server.store, number)
    for at, _ in enumerate(ward.play(24)):
        if at % 8 == 7:
            ward.look()
    ward.look()
    study = ward.study
    for page in pages(study):
        answer = server.ask("GET", page)
        assert answer.status_code == 200, (page, answer.status_code, answer.text[:500])
    for found in (study.verify(), study.replay()):
        assert found.problems == ()
    log = study.export(folder / f"{number}.log")
    study.export_steps(folder / f"{number}.csv")
    with Study.import_("memory", log, clock=lambda: ward.now) as other:
        assert other.verify() == study.verify()
        assert other.status().to_dict() == study.status().to_dict()
        assert other.cases(0, 1000) == [replace(one, code=None) for one in study.cases(0, 1000)]
    with Study(server.store.where, study.name, who="ada", clock=lambda: ward.now) as again:
        assert again.read_only is None
        ward.study = again
        for _ in ward.play(4):
            pass
        assert again.verify().ok


def main() -> None:
    """Live through the studies of many numbers, and name those at fault."""
    first, last = map(int, sys.argv[1:3])
    faults = 0
    with tempfile.TemporaryDirectory() as name, Serving(Path(name), asking="admin") as server:
        for number in range(first, last):
            try:
                live_through(number, server, Path(name))
            except Exception:
                faults += 1
                print(f"number {number}:", traceback.format_exc(limit=-4), flush=True)  # noqa: T201
    print(f"{last - first:,} configurations, {faults} at fault")  # noqa: T201


if __name__ == "__main__":
    main()
