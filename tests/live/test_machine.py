"""Every verb of a live study, in any order, against a naive model that keeps what was told."""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import note, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from naive import Case, Model, Settings, Step, Told

from grbp import Action, Advice, Counters, Study
from grbp.errors import Conflict, InvalidInput, NotFound
from grbp.live.store.base import Store
from grbp.live.store.memory import MemoryStore

LEARNERS = (
    "doorstep-optimal", "getbe-sm", "getbe-sm:gamma=2", "getbe-ps", "ps-polselection",
    "ucb-polselection", "kl-ucb", "epsilon-greedy", "threshold-1",
)  # fmt: skip
OTHERS = (
    "psrl", "psrl:prior=2", "psrl:memory=20", "psrl:memory=averaged", "getbe-ps:memory=20",
    "getbe-ps:memory=averaged", "averaged-states",
)  # fmt: skip
"""Learners by state, and with memories: nothing in them falls with the last digit of a count."""
RECORDS = Counters(41, 12.0, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0)
NUMBER = count()

pytestmark = pytest.mark.hypothesis


@st.composite
def some_settings(draw: st.DrawFn) -> Settings:
    windows = draw(st.dictionaries(st.sampled_from(["continue", "finish"]), st.just(30.0)))
    learner = draw(st.sampled_from(draw(st.sampled_from([LEARNERS, OTHERS]))))
    if (
        "memory=averaged" in learner
    ):  # The model weighs memories where each case is over by its last step.
        windows = {}
    by_state = learner.startswith(("psrl", "averaged"))
    return Settings(
        goal=draw(st.integers(2, 5)),
        learner=learner,
        seed=draw(st.sampled_from([0, 7, 2**100])),
        start="drawn" if by_state else draw(st.sampled_from(["drawn", "first", RECORDS])),
        windows=windows or None,
        shadow=draw(st.sampled_from([False, False, True])),
        groups=draw(st.sampled_from([None, None, ("north", "süd")])),
    )


class Ask(NamedTuple):
    """A request: a verb and what it is given."""

    verb: str
    given: tuple[Any, ...]
    named: dict[str, Any]

    def to(self, study: Study) -> Advice:
        advice: Advice = getattr(study, self.verb)(*self.given, **self.named)
        return advice


class Live(RuleBasedStateMachine):
    """A study, in some store, and the model of it."""

    def __init__(self, place: Callable[[Path], str | Path | Store]) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="live")
        self.files = (Path(self.folder.name) / f"{k}" for k in count())
        self.store = place(next(self.files))
        self.name = f"ward {next(NUMBER)}"
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.codes: list[str | None] = []
        self.keyed: dict[str, tuple[Ask, Advice, datetime]] = {}

    @initialize(given=some_settings())
    def create(self, given: Settings) -> None:
        self.model = Model(given)
        self.study = self.created(given)

    def created(self, given: Settings) -> Study:
        words: dict[str, Any] = {}
        if given.seed == 7:  # No decision depends on them.
            words = {"states": [f"bed {k}" for k in range(given.goal + 1)], "case_name": "child"}
            words["actions"] = ("state 1 drug", "finish line")
        return Study.create(
            self.store, self.name, clock=lambda: self.now, who="ada", **vars(given), **words
        )

    def teardown(self) -> None:
        with suppress(AttributeError):
            self.study.close()
        self.folder.cleanup()

    # What the rules below stand on.

    def says(self, ask: Ask, told: Told) -> None:
        """Record something in both, and compare what they say then."""
        before = len(self.model.events)
        advice = ask.to(self.study)
        self.model.record(told._replace(answer=advice))
        assert advice.event == len(self.model.events)
        case = self.model.cases()[advice.case - 1]
        self.same(advice, case)
        new = self.study.log(after=before)
        assert [(one.kind, one.case, one.step) for one in new] == self.model.events[before:]
        assert all(one.who == "ada" for one in new)
        assert {one.recorded for one in new} == {told.now.isoformat(timespec="microseconds")}
        if told.kind == "open":
            self.same_decision(json.loads(new[-1].response), advice.case)
        if "key" in ask.named:
            self.keyed[ask.named["key"]] = ask, advice, self.now

    def same(self, advice: Advice, case: Case) -> None:
        assert (advice.case, advice.rho, advice.state) == (case.number, case.number, case.state)
        assert (advice.status, advice.step) == (case.status, len(case.steps))
        assert (advice.group or "") == case.group
        assert advice.code == self.codes[case.number - 1]
        shown = None if self.model.settings.shadow else case.advised
        assert (None if advice.action is None else advice.action.name.lower()) == shown

    def same_decision(self, answer: dict[str, Any], number: int) -> None:
        """Compare a decision with that of the model just before the case was opened."""
        *told, last = self.model.told
        before = Model(self.model.settings)
        before.told = told
        group, places = last.group, before.pending_places(last.group, last.now)
        n, by_state = before.known(group, last.now), before.settings.by_state
        known = [*map(float, np.hstack(n[: 5 if by_state else 9]))]
        known += places if by_state else [sum(places)]
        if not before.settings.plain:
            known.append(1 + sum(case.group == group for case in before.cases()))
        kept = answer["known"]
        if "memory" in before.settings.learner:
            kept = kept[:-1]  # What was seen and is not forgotten: `test_ledger` looks at that.
        # A correction takes back what was added to a fraction, which rounds.
        assert np.hstack(kept) == pytest.approx(known, rel=1e-9, abs=1e-9)
        assert answer["threshold"] == self.model.cases()[number - 1].threshold

    def refuses(self, ask: Ask, error: type[Exception]) -> None:
        """See a request refused, in one sentence, and nothing recorded."""
        with pytest.raises(InvalidInput) as refusal:
            ask.to(self.study)
        assert type(refusal.value) is error
        assert "\n" not in str(refusal.value)
        note(f"refused: {refusal.value}")

    def repeats(self, ask: Ask, answer: Advice) -> None:
        """See a request answered as it was before."""
        again = ask.to(self.study)
        assert (again, again.replayed) == (answer, True)
        now = {"replayed": True, "code": self.codes[again.case - 1]}
        assert again.to_dict() == answer.to_dict() | now

    def chosen(self, data: st.DataObject, *statuses: str) -> Case | None:
        cases = [one for one in self.model.cases() if not statuses or one.status in statuses]
        return data.draw(st.sampled_from(cases)) if cases else None

    def extras(self, data: st.DataObject, *, timed: bool = True) -> dict[str, Any]:
        """Draw an idempotency key, and when it was observed, or neither."""
        extras: dict[str, Any] = {}
        if data.draw(st.booleans()):
            extras["key"] = f"key {len(self.keyed)}"
        if timed and data.draw(st.booleans()):
            ago = data.draw(st.sampled_from([-timedelta(minutes=4), timedelta(0), timedelta(40)]))
            extras["observed"] = self.now - ago
        return extras

    def some_step(self, data: st.DataObject, case: Case) -> tuple[int, dict[str, Any], Told]:
        """Draw what was done in an open case, and what came of it."""
        advised, goal = case.advised, self.model.settings.goal
        assert advised is not None
        action = data.draw(st.sampled_from([advised, advised, "continue", "finish"]))
        by = {"continue": (case.state - 1, case.state + 1), "finish": (0, goal)}
        after = data.draw(st.sampled_from(by[action]))
        named: dict[str, Any] = {}
        if self.model.settings.shadow or action != advised or data.draw(st.booleans()):
            named["took"] = data.draw(st.sampled_from([action, Action[action.upper()]]))
        if action != advised and not self.model.settings.shadow:
            named["why"] = "she wished it"
        if data.draw(st.booleans()):
            named["step"] = len(case.steps) + 1
        told = Told("tell", case.number, self.now, self.now, after, action)
        return after, named, told

    def told_steps(self) -> list[tuple[Case, int, Step]]:
        cases = self.model.cases()
        return [(one, k, step) for one in cases for k, step in enumerate(one.steps, 1)]

    # The verbs.

    @rule(data=st.data(), times=st.integers(1, 3))
    def open_case(self, data: st.DataObject, times: int) -> None:
        for _ in range(times):
            state, named = self.a_state(data), self.extras(data) | self.a_group(data)
            code = data.draw(st.sampled_from([None, "a", "B"]))
            if self.in_use(code):
                self.refuses(Ask("open_case", (state,), named | {"code": code}), Conflict)
                code = None
            self.codes.append(code)
            since = named.get("observed", self.now)
            told = Told("open", 0, self.now, since, state, group=named.get("group", ""))
            self.says(Ask("open_case", (state,), named | {"code": code}), told)

    def in_use(self, code: str | None, other_than: int = 0) -> bool:
        """Return whether another case in progress has a code."""
        return code is not None and any(
            case.status == "open" and self.codes[case.number - 1] == code
            for case in self.model.cases()
            if case.number != other_than
        )

    @rule(data=st.data(), code=st.sampled_from([None, "a", "B"]))
    def set_code(self, data: st.DataObject, code: str | None) -> None:
        case = self.chosen(data)
        if case is None:
            return
        ask = Ask("set_code", (case.number, code), {})
        if case.status == "open" and self.in_use(code, case.number):
            self.refuses(ask, Conflict)
        else:
            assert ask.to(self.study).code == code
            self.codes[case.number - 1] = code

    def a_group(self, data: st.DataObject) -> dict[str, Any]:
        groups = self.model.settings.groups
        return {"group": data.draw(st.sampled_from(groups))} if groups else {}

    def a_state(self, data: st.DataObject) -> int:
        return data.draw(st.integers(1, self.model.settings.goal - 1))

    @rule(data=st.data(), times=st.integers(1, 4))
    def tell(self, data: st.DataObject, times: int) -> None:
        for _ in range(times):
            case = self.chosen(data, "open")
            if case is None:
                return
            after, named, told = self.some_step(data, case)
            named |= self.extras(data)
            told = told._replace(since=named.get("observed", self.now))
            self.says(Ask("tell", (case.number, after), named), told)

    @rule(data=st.data())
    def void(self, data: st.DataObject) -> None:
        case = self.chosen(data)
        if case is None:
            return
        named = self.extras(data, timed=False)
        ask = Ask("void", (case.number, "another bed"), named)
        if not case.steps and not case.closed:
            self.refuses(ask, Conflict)
            return
        if case.steps and not case.closed and data.draw(st.booleans()):
            named["step"] = len(case.steps)
        if self.in_use(self.codes[case.number - 1], case.number):
            self.refuses(ask, Conflict)
            return
        self.says(ask, Told("void", case.number, self.now, self.now))

    @rule(data=st.data(), who=st.sampled_from(["ada", "ada", "bob"]))
    def undo(self, data: st.DataObject, who: str) -> None:
        case = self.chosen(data)
        if case is None:
            return
        ask = Ask("undo", (case.number,), self.extras(data, timed=False) | {"who": who})
        age = self.now - self.model.last_entry(case)
        kind = "void" if case.steps or case.closed else "close"
        shared = kind == "void" and self.in_use(self.codes[case.number - 1], case.number)
        if who == "bob" or age > timedelta(minutes=15) or shared:
            self.refuses(ask, Conflict)
        else:
            self.says(ask, Told(kind, case.number, self.now, self.now))

    @rule(data=st.data())
    def withdraw_case(self, data: st.DataObject) -> None:
        case = self.chosen(data)
        if case is None:
            return
        ask = Ask("withdraw_case", (case.number, "moved"), self.extras(data, timed=False))
        if case.status == "open":
            self.says(ask, Told("close", case.number, self.now, self.now))
        else:
            self.refuses(ask, Conflict)

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        case = self.chosen(data)
        if case is not None:
            self.same(self.study.ask(case.number), case)

    @rule(days=st.sampled_from([-400, -1, 0.001, 1 / 96, 1, 29, 31, 400]))
    def time_passes(self, days: float) -> None:
        self.now += timedelta(days=days)

    # What was said before, and what contradicts it.

    @precondition(lambda self: self.keyed)
    @rule(data=st.data())
    def the_same_key(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.keyed)))
        ask, answer, then = self.keyed[key]
        if self.model.answers_again(ask.verb, answer.case, then, self.now):
            self.repeats(ask, answer)
        else:
            self.refuses(ask, Conflict)
        self.refuses(Ask(ask.verb, ask.given, ask.named | {"who": "bob"}), Conflict)
        if ask.verb == "open_case":
            other = Ask("tell", (answer.case, 0), {"key": key})
        else:
            other = Ask("open_case", (1,), {"key": key} | self.a_group(data))
        self.refuses(other, Conflict)

    @rule(data=st.data())
    def the_same_step(self, data: st.DataObject) -> None:
        steps = self.told_steps()
        if not steps:
            return
        case, number, step = data.draw(st.sampled_from(steps))
        named: dict[str, Any] = {"step": number}
        if data.draw(st.booleans()):
            named["took"] = step.action
        answer = self.model.told[step.place].answer
        self.repeats(Ask("tell", (case.number, step.after), named), answer)
        other = "continue" if step.finish else "finish"
        self.refuses(Ask("tell", (case.number, step.after), {**named, "took": other}), Conflict)
        wrong = (step.after + 1) % (self.model.settings.goal + 1)
        self.refuses(Ask("tell", (case.number, wrong), named), Conflict)

    @rule(data=st.data())
    def too_early_or_too_late(self, data: st.DataObject) -> None:
        case = self.chosen(data)
        if case is None:
            return
        number, last = case.number, len(case.steps)
        named = {"took": "finish", "why": "so"}
        self.refuses(Ask("tell", (number, 0), {**named, "step": last + 2}), Conflict)
        if case.status != "open":
            self.refuses(Ask("tell", (number, 0), named), Conflict)
        self.refuses(Ask("void", (number, "x"), {"step": last + 1}), Conflict)
        if last > 1:
            self.refuses(Ask("void", (number, "x"), {"step": last - 1}), Conflict)
        future = {"observed": self.now + timedelta(minutes=6)}
        self.refuses(Ask("open_case", (1,), future | self.a_group(data)), InvalidInput)
        if case.status == "open":
            self.refuses(Ask("tell", (number, 0), {**named, **future}), InvalidInput)

    @rule(data=st.data())
    def impossible(self, data: st.DataObject) -> None:
        goal, case = self.model.settings.goal, self.chosen(data, "open")
        state = data.draw(st.sampled_from([0, goal, -1, goal + 1]))
        self.refuses(Ask("open_case", (state,), self.a_group(data)), InvalidInput)
        self.refuses(Ask("open_case", (1,), {"group": "nowhere"}), InvalidInput)
        if self.model.settings.groups:
            self.refuses(Ask("open_case", (1,), {}), InvalidInput)
        nobody = len(self.model.cases()) + 1
        for ask in (Ask("ask", (nobody,), {}), Ask("tell", (nobody, 1), {})):
            self.refuses(ask, NotFound)
        if case is None:
            return
        by = {"continue": (case.state - 1, case.state + 1), "finish": (0, goal)}
        for took, allowed in by.items():
            others = sorted({*range(-1, goal + 2)} - {*allowed})
            after = data.draw(st.sampled_from(others))
            named = {"took": took, "why": "so"}
            self.refuses(Ask("tell", (case.number, after), named), InvalidInput)
        other = "continue" if case.advised == "finish" else "finish"
        if not self.model.settings.shadow:
            self.refuses(Ask("tell", (case.number, by[other][0]), {"took": other}), InvalidInput)
        else:
            self.refuses(Ask("tell", (case.number, by[other][0]), {}), InvalidInput)

    # The study as a whole.

    @rule(given=some_settings())
    def configure(self, given: Settings) -> None:
        if given == self.model.settings:
            self.created(given).close() if self.has_a_file() else self.created(given)
        elif self.model.told:
            with pytest.raises(Conflict, match="it is locked: it already has cases"):
                self.created(given)
        else:
            self.release()
            self.study = self.created(given)
            events = [*self.model.events, ("study", 0, 0)]
            self.model = Model(given)
            self.model.events = events

    def has_a_file(self) -> bool:
        return not isinstance(self.store, Store)

    def release(self) -> None:
        if self.has_a_file():
            self.study.close()

    @rule()
    def reopen(self) -> None:
        self.release()
        self.study = Study(self.store, self.name, clock=lambda: self.now, who="ada")
        assert self.study.read_only is None

    @rule(data=st.data())
    def archive(self, data: st.DataObject) -> None:
        """Close the study for a while."""
        assert self.study.archive("closed").archived == self.now.isoformat(timespec="microseconds")
        self.refuses(Ask("open_case", (self.a_state(data),), {}), Conflict)
        self.reopen()
        case = self.chosen(data)
        if case is not None:
            self.same(self.study.ask(case.number), case)
            self.refuses(Ask("withdraw_case", (case.number, "so"), {}), Conflict)
        assert self.study.verify().ok
        assert self.study.unarchive("open again").archived is None
        self.model.events += [("archive", 0, 0), ("unarchive", 0, 0)]

    @rule(file=st.booleans())
    def move(self, file: bool) -> None:
        """Go on elsewhere with what was exported."""
        path = self.study.export(next(self.files))
        with pytest.raises(Conflict, match="the store has one already"):
            Study.import_(self.store, path)
        head = self.study.status().head
        self.release()
        self.store = next(self.files) if file else MemoryStore()
        self.study = Study.import_(self.store, path, clock=lambda: self.now, who="ada")
        assert self.study.status().head == head
        self.codes = [None] * len(self.codes)  # A log has none.
        assert self.study.export(next(self.files)).read_bytes() == path.read_bytes()

    @rule()
    def restore(self) -> None:
        """Go on with a copy."""
        copy = self.study.backup(next(self.files))
        with pytest.raises(InvalidInput, match="it exists already"):
            self.study.backup(copy)
        self.release()
        self.store = copy
        self.study = Study(copy, self.name, clock=lambda: self.now, who="ada")

    @rule()
    def all_is_well(self) -> None:
        cases = self.model.cases()
        for found in (self.study.verify(), self.study.replay()):
            assert found.problems == ()
            assert found.events == len(self.model.events)
        assert found.decisions == len(cases)
        assert found.head == self.study.status().head

    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        status = data.draw(st.sampled_from([None, "open", "won", "lost", "closed"]))
        cases = [one for one in self.model.cases() if status in (None, one.status)]
        after, limit = data.draw(st.integers(0, len(cases) + 1)), data.draw(st.integers(1, 9))
        page = [one for one in cases if one.number > after][:limit]
        found = self.study.cases(after, limit, status)
        assert [one.case for one in found] == [one.number for one in page]
        for one, case in zip(found, page, strict=True):
            held = sum(not self.model.counts(step) for step in case.steps)
            assert (one.first, one.state, one.status) == (case.first, case.state, case.status)
            assert (one.steps, one.overridden, one.held) == (len(case.steps), case.overridden, held)
            assert one.action == (None if self.model.settings.shadow else case.advised)
            assert one.code == self.codes[case.number - 1]
            assert one.opened == case.opened.isoformat(timespec="microseconds")
            assert one.since == case.since.isoformat(timespec="microseconds")
        of_case = data.draw(st.sampled_from([None, *range(1, len(cases) + 2)]))
        events = [
            (seq, *one)
            for seq, one in enumerate(self.model.events, 1)
            if seq > after and of_case in (None, one[1])
        ]
        log = self.study.log(after, limit, of_case)
        assert [(one.seq, one.kind, one.case, one.step) for one in log] == events[:limit]

    @invariant()
    def stands_as_the_model_does(self) -> None:
        if not hasattr(self, "model"):
            return
        status, model = self.study.status(), self.model
        statuses = [case.status for case in model.cases()]
        names = ("open", "won", "lost", "closed")
        counted = {"opened": len(statuses)} | {name: statuses.count(name) for name in names}
        assert status.cases == counted
        assert (status.events, status.pending) == (len(model.events), model.pending())
        assert status.read_only is None
        if model.settings.groups:
            assert status.next_threshold is None
            next_ones = {name: one.next_threshold for name, one in status.by_group.items()}
            assert next_ones == {g: model.threshold(None, g) for g in model.settings.groups}
        else:
            assert status.next_threshold == model.threshold()
        self.watches_as_the_model_does()
        if model.settings.by_state or len(model.settings.memories.keep) > 1:
            return
        n, first = model.counters(), model.first()
        drawn = first if model.settings.start == "drawn" else Counters(0, *[0.0] * 8)
        seen = [round(a - b) for a, b in zip(n[1:5], drawn[1:5], strict=True)]
        known = status.basis
        if "memory" not in model.settings.learner:
            assert [known.f, known.f_goal, known.c, known.c_up] == seen

    def watches_as_the_model_does(self) -> None:
        """See that the alarms count each step that counts, in its state, and no other."""
        model, last = self.model, self.study.log(len(self.model.events) - 1)[0]
        wanted = np.zeros((2, 2, model.settings.goal - 1), int)
        for case in model.cases():
            for step in case.steps:
                failed = step.after < step.state
                wanted[int(step.finish), int(failed), step.state - 1] += model.counts(step)
        assert json.loads(last.response)["alarms"][1] == wanted.tolist()


def run(place: Callable[[Path], str | Path | Store], share: float) -> None:
    """Run the machine; `share` is that of the examples which other tests draw."""
    most = round(share * settings().max_examples)
    machine: Any = partial(Live, place)
    run_state_machine_as_test(machine, settings=settings(max_examples=most, stateful_step_count=40))


@pytest.mark.hypothesis
def test_in_memory() -> None:
    run(lambda _: MemoryStore(), 0.2)


@pytest.mark.hypothesis
@pytest.mark.slow
def test_in_a_file() -> None:
    run(lambda path: path, 0.12)


@pytest.mark.hypothesis
@pytest.mark.slow
def test_in_postgresql(dsn: str) -> None:
    run(lambda _: dsn, 0.12)
