"""How a live study is configured: its settings, its learner, and every type that is refused."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runs import one_sentence
from small_wards import RECORDS, Clock, kinds, rows, ward

import grbp
from grbp import Action, Counters, Study
from grbp.errors import Conflict, GrbpError, InvalidInput, NotFound
from grbp.live.config import check_config, load_config
from grbp.live.queries import read_config
from grbp.live.schema import Event
from grbp.live.store.memory import MemoryStore
from grbp.live.wording import describe_planned

CONTINUE, FINISH = Action.CONTINUE, Action.FINISH


def test_a_study_can_be_configured_until_its_first_case_opens() -> None:
    store = MemoryStore()
    ward("getbe-sm", store)
    study = ward("threshold-2", store, goal=5, seed=9, windows={"finish": 3})
    assert (study.goal, kinds(study)) == (5, ["study", "study"])
    ward("threshold-2", store, goal=5, seed=9, windows={"finish": 3.0})
    assert kinds(study) == ["study", "study"]  # Nothing new was said.
    study.open_case(4)
    with pytest.raises(Conflict, match="it is locked: it already has cases"):
        ward("threshold-2", store, goal=6, seed=9, windows={"finish": 3})
    again = ward("threshold-2", store, goal=5, seed=9, windows={"finish": 3.0})
    assert again.ask(1).action == CONTINUE
    assert study.replay().ok


def test_a_newer_version_finds_its_study_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store, now = MemoryStore(), grbp.__version__
    ward("threshold-1", store).open_case(2)
    for place in ("config", "study"):
        monkeypatch.setattr(f"grbp.live.{place}.this_version", lambda: "99.0")
    study = ward("threshold-1", store)
    assert (study.status().version, kinds(study)) == (now, ["study", "open"])
    study.open_case(2)
    assert [answer["version"] for answer in map(said, study.log()[1:])] == [now, "99.0"]
    assert study.replay().ok


def said(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event.response)
    return found


def test_studies_in_one_store_do_not_know_each_other(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    one = Study.create(path, "one", 4, "threshold-1", clock=Clock(), who="ada")
    with pytest.raises(NotFound, match="there is none of this name"):
        Study(path, "two")
    assert Study(path).name == "one"
    one.open_case(2, key="k")
    alone = rows(one), one.log()
    two = Study.create(path, "two", 5, "threshold-2", clock=Clock(), who="bob")
    with pytest.raises(NotFound, match="it has 'one', 'two': name one"):
        Study(path)
    assert two.open_case(4, key="k").case == 1
    assert (two.open_case(2).case, two.tell(2, 0).status) == (2, "lost")
    assert (rows(one), one.log()) == alone
    assert one.tell(1, 3).step == 1
    assert [one.verify().ok, two.verify().ok] == [True, True]
    assert [one.status().cases["opened"], two.status().cases["opened"]] == [1, 2]
    one.close()
    two.close()


def test_planned_cases_are_the_horizon_of_the_learner_beyond_the_records() -> None:
    name = grbp.DEFAULT_LEARNER
    study = ward(name, start="drawn", cases=np.int64(500))
    assert (study.read_only, study.status().planned) == (None, 500)
    assert study.status().learner == f"{name}:horizon=500"
    study = ward(name, cases=0.5e3)
    assert study.status().learner == f"{name}:horizon={500 + RECORDS.rho - 1}"
    assert (study.status().planned, study.open_case(1).case) == (500, 1)
    # Whoever sets the constant has said the same.
    assert ward(f"{name}:horizon=540").status() == ward(name, cases=500).status()
    assert ward(grbp.LEARNERS[name], cases=500).status() == ward(name, cases=500).status()
    assert ward(f"{name}:horizon=7").status().planned == 0
    assert ward(name).status().planned is ward("getbe-sm").status().planned is None


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("getbe-sm", f"it cannot be told how many.*{grbp.DEFAULT_LEARNER}.* can$"),
        (f"{grbp.DEFAULT_LEARNER}:horizon=3", "it has a horizon already"),
        (f"{grbp.DEFAULT_LEARNER}:horizon=0", "it has a horizon already"),
    ],
)
def test_cases_are_planned_with_a_learner_that_can_be_told(learner: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        ward(learner, cases=500)


def test_beyond_the_planned_cases_a_study_goes_on() -> None:
    study = ward(grbp.DEFAULT_LEARNER, cases=2)
    said = []
    for _ in range(4):
        status = study.status()
        assert status.planned is not None
        said.append(describe_planned(status.planned, status.cases["opened"]))
        assert study.open_case(1).action is not None
    assert said[:2] == [f"Planned for 2 cases, of which {k} opened." for k in ("0 were", "1 was")]
    assert [text.partition(": ")[0] for text in said[2:]] == [
        f"Planned for 2 cases, and {k} were opened" for k in (2, 3)
    ]
    assert said[-1].endswith("The advisor goes on as if it did not know how many come.")
    assert study.replay().ok


# Learners that others wrote.

LIMIT = 3


def patient(_goal: int, _: Any, n: Counters, _key: int) -> int:
    """Wait for some cases."""
    return 1 if n.rho > LIMIT else 0


def test_a_learner_of_ones_own_is_given_again_and_must_be_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, learner = MemoryStore(), grbp.Learner("patient", patient)
    study = ward(learner, store, start="drawn")
    actions = [study.open_case(1).action for _ in range(5)]
    assert actions == [CONTINUE] * 3 + [FINISH] * 2
    again = Study(store, learner=learner)
    assert (again.read_only, again.open_case(1).action) == (None, FINISH)

    for given, changed, words in (
        (None, 3, "whose code is not in the file; give the learner as well"),
        (learner, 4, "its source has changed since, or what it reads has"),
        (grbp.LEARNERS["getbe-sm"], 3, "made with the learner patient; getbe-sm was given"),
    ):
        monkeypatch.setitem(globals(), "LIMIT", changed)
        left = Study(store, learner=given)  # type: ignore[arg-type]
        with pytest.raises(Conflict, match="a case was to be opened; ") as refusal:
            left.open_case(1)
        assert words in one_sentence(refusal.value)
        # Cases in progress go on.
        assert (left.read_only, left.ask(1).action) == (None, CONTINUE)
        left.tell(1, 2)
        left.void(1, "it was the other bed")
        assert left.verify().ok
        replayed = left.replay()
        assert (len(replayed.problems), replayed.decisions) == (1, 0)
        assert replayed.problems[0].startswith("6 decisions could not be made again: ")
        gone = "whose code is not in the file" if "was given" in words else words
        assert gone in replayed.problems[0]
        status = left.status()
        assert (status.next_threshold, status.cases["opened"]) == (None, 6)
        assert status.undecided is not None
        assert f"{status.undecided}" in str(refusal.value)
    assert len(study.log()) == 7 + 6


def test_a_study_with_a_learner_of_ones_own_goes_elsewhere(tmp_path: Path) -> None:
    learner = grbp.Learner("patient", patient)
    study = ward(learner)
    study.open_case(1)
    path = study.export(tmp_path / "log")
    alone = Study.import_("memory", path)
    assert "give the learner as well" in str(alone.status().undecided)
    assert alone.log() == study.log()
    again = Study.import_("memory", path, learner=learner)
    assert (again.read_only, again.replay().problems) == (None, ())
    assert again.open_case(1).case == 2


def test_a_learner_of_ones_own_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("some_ward")
    module.mine = grbp.Learner("mine", patient)
    monkeypatch.setitem(sys.modules, "some_ward", module)
    store = MemoryStore()
    study = ward("some_ward:mine", store)
    study.open_case(1)
    assert (Study(store).read_only, study.status().learner) == (None, "some_ward:mine")
    module.mine = grbp.Learner("mine", lambda _goal, _constants, _n, _key: 0)
    assert "its source has changed since" in str(Study(store).status().undecided)
    monkeypatch.delitem(sys.modules, "some_ward")
    assert "importing it failed" in str(Study(store).status().undecided)
    assert Study(store).ask(1).case == 1


def test_a_learner_whose_constants_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    ward("getbe-sm", store).open_case(2)
    changed = replace(grbp.find_learner("getbe-sm:gamma=14", 4), name="getbe-sm")
    monkeypatch.setitem(grbp.LEARNERS, "getbe-sm", changed)
    load_config.cache_clear()
    left = Study(store)
    assert "when getbe-sm had the constants {'gamma': 15.0}" in str(left.status().undecided)
    with pytest.raises(Conflict, match="had the constants"):
        left.open_case(2)
    assert left.tell(1, 3).step == 1
    load_config.cache_clear()


def test_a_learner_that_fails_opens_no_case() -> None:
    study = ward(grbp.Learner("odd", lambda _goal, _constants, n, _key: 1 // int(n.rho - n.rho)))
    with pytest.raises(InvalidInput, match="the learner odd could not decide") as refused:
        study.open_case(1)
    one_sentence(refused.value)
    assert study.status().next_threshold is None
    assert study.status().events == 1


def test_whoever_plays_one_threshold_for_ever_does_not_explore() -> None:
    study = ward("threshold-0")
    assert study.open_case(1).basis.forced is False  # type: ignore[union-attr]
    assert ward("explore-then-commit").open_case(1).basis.forced is True  # type: ignore[union-attr]


def test_a_learner_that_decides_what_it_does_not_declare_opens_no_case() -> None:
    study = ward(grbp.Learner("odd", lambda _goal, _constants, _n, _key: 2, thresholds=(0, 1)))
    with pytest.raises(InvalidInput, match="decided 2, which is not among the thresholds that it"):
        study.open_case(1)
    assert study.status().cases["opened"] == 0


# What is given.

TEXTS = [
    "Å", "A\u030a", "東京", "👩\u200d⚕️", "\U0001fae8", "\ue000", "a\u200fb", "x" * 197,
    "'; drop table --", "\\u0000",
]  # fmt: skip


UNSEEN = ("👩\u200d⚕️", "\ue000", "a\u200fb")
"""Reasons may have letters that join or turn others; a name has nothing that is not seen."""


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_texts_of_any_language_come_back(kind: str, tmp_path: Path) -> None:
    study = ward(where=tmp_path / "x.db" if kind == "file" else "memory")
    # Whether a Python knows a letter that is new depends on its age.
    names = ["ada" if text in (*UNSEEN, "\U0001fae8") else text for text in TEXTS]
    for number, (text, who) in enumerate(zip(TEXTS, names, strict=True), 1):
        study.open_case(1, key=f"{number}!{text}", who=who)
        study.tell(number, 2, took="continue", why=text, key=f"{number}?{text}")
        study.withdraw_case(number, text)
    texts = [TEXTS[0], TEXTS[0], *TEXTS[2:]]  # One letter is written in one way.
    log = study.log(after=1)
    assert [event.who for event in log[::3]] == [names[0], names[0], *names[2:]]
    for events in (log[1::3], log[2::3]):
        assert [json.loads(event.request)["why"] for event in events] == texts
    assert study.verify().ok
    path = study.export(tmp_path / "log")
    assert Study.import_("memory", path).log(limit=99) == study.log(limit=99)
    study.close()


def test_a_name_is_written_in_one_way() -> None:
    store = MemoryStore()
    study = Study.create(store, "cafe\u0301", 4)
    assert study.name == "caf\u00e9"
    assert Study(store, "cafe\u0301").name == Study(store, "caf\u00e9").name


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int64])
def test_whole_numbers_of_any_kind(kind: Callable[[int], Any]) -> None:
    study = Study.create("memory", "ward", kind(4), "threshold-1", seed=kind(3))
    plain = Study.create("memory", "ward", 4, "threshold-1", seed=3)
    for one, of in ((study, kind), (plain, int)):
        one.open_case(of(2))
        one.tell(of(1), of(3), step=of(1))
        one.void(of(1), "wrong", step=of(1))
        one.tell(of(1), of(1))
        one.log(of(0), of(5), of(1))
        one.cases(of(0), of(5))
        one.ask(of(1))
    assert [event.request for event in study.log()] == [event.request for event in plain.log()]
    assert rows(study)[1][0].known == rows(plain)[1][0].known


WRONG: list[Any] = ["x", "", None, b"1", 1.5, 2.0, True, [], [1, 2], np.array([1, 2]), {}]
NAMES = {
    **dict.fromkeys(("key", "who", "why"), WRONG[2:]),
    **dict.fromkeys(("case", "state", "step", "took", "observed"), WRONG),
}
OPTIONAL = ("step", "took", "key", "observed", "who")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (name, one)
        for name, several in NAMES.items()
        for one in several
        if one is not None or name not in OPTIONAL
    ],
)
def test_what_has_another_type_is_refused_in_one_sentence(name: str, wrong: Any) -> None:
    study = ward("threshold-1")
    study.open_case(2)
    right = {"case": 1, "state": 4, "took": "finish", "why": "so"}
    before = rows(study), study.log()
    with pytest.raises(InvalidInput) as refusal:
        study.tell(**right | {name: wrong})  # type: ignore[arg-type]
    assert "\n" not in str(refusal.value)
    assert "was given" in str(refusal.value) or "also tell why" in str(refusal.value)
    assert (rows(study), study.log()) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"goal": 1}, "goal = 1 was given"),
        ({"goal": "4"}, "goal = '4' was given"),
        ({"learner": "nobody"}, "learner 'nobody' was asked for"),
        ({"learner": "oracle"}, "which are not known here"),
        ({"learner": "ucb1-policies"}, "a study needs one that decides a threshold"),
        ({"seed": -1}, "seed = -1 was given"),
        ({"start": "now"}, "it must be 'drawn', 'first', counters or a fit"),
        ({"start": np.array([1, 2])}, "it must be 'drawn', 'first', counters or a fit"),
        ({"start": SimpleNamespace(counters=RECORDS, goal=5)}, "a fit with another goal was given"),
        ({"start": RECORDS._replace(f=12.5)}, "counts of records must be whole numbers"),
        ({"start": RECORDS._replace(f=0.0, f_goal=0.0)}, "each action must have been taken"),
        ({"start": RECORDS._replace(wins_0=11.0)}, "more often than it was tried"),
        ({"windows": 3}, "it must be a dict of days by action"),
        ({"windows": {"stop": 3}}, "a window for 'stop' was given"),
        ({"windows": {1: 3, "finish": 2}}, "a window for 1 was given"),
        ({"windows": {"finish": 0}}, "it must be a positive number"),
        ({"windows": {"finish": 40_000}}, "it must be at most 36,500"),
        ({"shadow": "no"}, "it must be True or False"),
        ({"shadow": 1}, "it must be True or False"),
        ({"level": 1.0}, "level = 1.0 was given"),
        ({"cases": "x"}, "cases = 'x' was given"),
        ({"cases": 0}, "cases = 0 was given; it must be a whole number from 1"),
        ({"cases": -3}, "cases = -3 was given"),
        ({"cases": 2.5}, "cases = 2.5 was given"),
        ({"cases": True}, "cases = True was given"),
        ({"who": ""}, "who = '' was given"),
        ({"who": "a\nb"}, "it must be one line"),
    ],
)
def test_what_a_study_cannot_be_is_refused_before_anything_is_made(
    given: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        ward(where=tmp_path / "x.db", **{"learner": "doorstep-optimal"} | given)
    assert "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "a\nb", "a\x00b", "a\u2028b", "\ud800", "x" * 65, 7]
)
def test_what_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput, match="it must be one line of 1 to 64 characters"):
        Study.create("memory", name, 4)
    with pytest.raises(InvalidInput, match="it must be one line of 1 to 64 characters"):
        Study("memory", name)


HIDDEN = {
    "a\u200bb": "U+200B (zero width space)", "a\u00adb": "U+00AD (soft hyphen)",
    "\u2067ab": "U+2067 (right-to-left isolate)", "a\u202eb": "U+202E (right-to-left override)",
    "\ue000": "U+E000 (which has no name)", "\u0378": "U+0378 (which has no name)",
}  # fmt: skip


@pytest.mark.parametrize("text", [*HIDDEN, *UNSEEN])
def test_a_name_has_no_character_that_nobody_sees(text: str) -> None:
    study = ward()
    for call in (
        lambda: Study.create("memory", text, 4),
        lambda: Study.create("memory", "ward", 4, who=text),
        lambda: study.open_case(2, who=text),
    ):
        with pytest.raises(InvalidInput, match="it has the character U\\+") as refusal:
            call()
        assert HIDDEN.get(text, "") in one_sentence(refusal.value)
        assert one_sentence(refusal.value).isascii()
    assert len(study.log()) == 1


def test_a_reason_may_join_letters_and_not_turn_what_stands_around_it() -> None:
    study = ward()
    for text in ("نمی\u200cشود", *UNSEEN):
        study.withdraw_case(study.open_case(2).case, text)
    for text in ("a\u202eb", "\u2066ab", "ab\u2069"):
        with pytest.raises(InvalidInput, match="it has the character U") as refusal:
            study.withdraw_case(1, text)
        one_sentence(refusal.value)


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar(year: int) -> None:
    clock = Clock()
    study = ward(windows={"continue": 30.0}, clock=clock)
    study.open_case(2)
    for zone in (-12, 12):
        end = datetime.min if year == 1 else datetime.max
        clock.now = end.replace(tzinfo=timezone(timedelta(hours=zone)))
        calls: list[Callable[[], Any]] = [
            lambda: study.open_case(2), lambda: study.tell(1, 3), lambda: study.void(1, "so"),
        ]  # fmt: skip
        for call in calls:
            try:
                call()
            except GrbpError as error:
                one_sentence(error)
    assert study.verify().ok


def test_a_window_that_ends_after_the_calendar_is_refused() -> None:
    clock = Clock()
    clock.now = datetime(9999, 12, 15, tzinfo=UTC)
    study = ward(windows={"continue": 30.0}, clock=clock)
    study.open_case(2)
    with pytest.raises(InvalidInput, match="it ends after the year 9999") as refusal:
        study.tell(1, 3)
    one_sentence(refusal.value)
    assert (len(study.log()), study.verify().ok) == (2, True)


@pytest.mark.parametrize(
    "time", [date(2026, 1, 1), datetime.min, "0001-01-01T00:00+14:00", "yesterday", 1772366400]
)
def test_what_is_no_time_is_refused(time: Any) -> None:
    study = ward()
    with pytest.raises(GrbpError, match="it must be a time, such as 2026-11-16T08:30"):
        study.open_case(2, observed=time)
    assert len(study.log()) == 1


def test_pages_and_statuses_are_checked() -> None:
    study = ward()
    for call in (study.cases, study.log):
        for named in ({"after": -1}, {"limit": 0}, {"limit": 10**7}, {"after": "x"}):
            with pytest.raises(InvalidInput, match="was given; it must be a whole number"):
                call(**named)
    wrong: list[Any] = ["lots", [], np.array(["open", "won"])]
    for status in wrong:
        with pytest.raises(InvalidInput, match="it must be one of open, won, lost, closed"):
            study.cases(status=status)
    with pytest.raises(NotFound, match="case 1 was asked for; the study has none yet"):
        study.ask(1)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("name", 5), ("name", "x" * 65), ("goal", 1), ("goal", "4"), ("seed", -1), ("seed", 2**128),
        ("shadow", 1), ("windows", []), ("level", 1.0), ("level", "high"), ("version", 5),
        ("version", "x" * 65), ("learner", 5), ("learner", "x" * 1001), ("constants", []),
        ("constants", {"gamma": "15"}), ("constants", {"gamma": True}), ("groups", "north"),
        ("groups", ["north", "north"]), ("alarms", 1), ("labels", []), ("start", "somehow"),
        ("start", [1.0]), ("mood", "good"),
    ],
)  # fmt: skip
def test_a_configuration_that_no_study_can_have_is_refused(field: str, wrong: Any) -> None:
    """Whoever made the file: one that is taken in would be found damaged later."""
    Study.create(store := MemoryStore(), "ward", 4)
    config = read_config(store, "ward")
    whole = json.loads(config.text)
    assert check_config(whole).equals(config)
    with pytest.raises((InvalidInput, TypeError, ValueError)):
        check_config(whole | {field: wrong})
