"""What a study holds as values has words in one place: all of it, and nowhere twice."""

import ast
from itertools import product
from pathlib import Path
from typing import Any

from bases import make_basis, make_state_basis

import grbp
from grbp.fitting.watch import NAMES, Alarm
from grbp.learners.registry import MODELS
from grbp.live.kinds import KINDS, describe_events
from grbp.live.reasons import GRANTED, GROUNDS, STATES, Ground, explain_advice, list_reasons
from grbp.live.schema import ARCHIVE, STATUSES, UNARCHIVE
from grbp.live.wording import (
    CHANCES,
    DIFFERENCES,
    STAGES,
    describe_alarms,
    describe_certainty,
    describe_granted,
)
from grbp.worlds.labels import Labels

WARD = Labels(
    ("dead", "severe", "mild", "home"), ("medication", "surgery"), ("patient", "patients")
)
SOURCE = Path(grbp.__file__).parent


def is_sentence(text: str) -> bool:
    return text[:1].isupper() and text.endswith(".") and "{" not in text and "  " not in text


def test_every_ground_has_words_in_all_forms() -> None:
    found = set()
    for f, c, state, choice, pending in product((0, 9), (0, 9), (1, 2), (0, 1, 2), (0, 1)):
        counts = grbp.Counters(20, f, f / 3, c, c / 3, 0.0, 0.0, 0.0, 0.0)
        seen = (f, f // 3, c, c // 3)
        rows = [[tries // 3] * 2 for tries in (c, c, f, f)]
        for learner in ("getbe-sm", f"threshold-{choice}"):
            by_state = make_state_basis(3, state, choice, rows, pending)
            one = make_basis(3, state, choice, counts, seen, pending, learner=learner)
            for basis in (one, by_state):
                found.add(basis.ground)
                short, long = explain_advice(basis, WARD), list_reasons(basis, WARD)
                assert all(map(is_sentence, (short, *long, *basis.details())))
                assert is_sentence(describe_certainty(basis, WARD))
                told = basis.ground in (Ground.FIRST_TRY, Ground.AWAITED, Ground.TO_LEARN)
                assert (short in long[1:2]) == told
    assert found == set(Ground) == set(GROUNDS)


def test_every_alarm_has_words_for_those_whom_it_warns_and_for_others() -> None:
    alarms = [Alarm(name, 7, 200.0, "") for name in NAMES]
    assert {alarm.over for alarm in alarms} == set(DIFFERENCES)
    assert {alarm.action for alarm in alarms} == set(CHANCES)
    status = grbp.Study.create("memory", "ward", 3).status()
    warned = describe_alarms(_with(status, alarms=tuple(alarms), labels=WARD))
    allows = {"model": "averaged", "memory": "averaged", "groups": ("north", "south")}
    others = describe_alarms(_with(status, alarms=tuple(alarms), labels=WARD, **allows))
    assert [line.speaks for line in warned] == [True] * 5
    assert [line.speaks for line in others] == [False] * 5
    for line in warned + others:
        assert is_sentence(line.sentence)
        assert "as it seems since patient 7" in line.sentence
    assert {line.follows for line in others} == {"The advice allows for that."}


def _with(status: grbp.Status, **changed: Any) -> grbp.Status:
    return grbp.Status(**vars(status) | changed)


def test_what_speaks_against_the_advice_is_what_it_takes_for_granted() -> None:
    alarms = tuple(Alarm(name, 7, 200.0, "") for name in NAMES)
    status = _with(grbp.Study.create("memory", "ward", 3).status(), alarms=alarms)
    for changed, over in (
        ({"model": "state"}, "state"),
        ({"memory": 9.0}, "time"),
        ({"groups": ("a", "b")}, "groups"),
    ):
        left = [alarm.over for alarm in _with(status, **changed).against]
        assert left == [alarm.over for alarm in alarms if alarm.over != over]


def test_every_model_and_every_way_a_case_can_stand_has_words() -> None:
    assert set(STATES) == set(GRANTED) == set(MODELS)
    assert tuple(STAGES) == STATUSES
    for model, memory in product(MODELS, (None, 50, "averaged")):
        status = grbp.Study.create("memory", "x", 3, model=model, memory=memory).status()
        assert len(describe_granted(status)) == 2
        assert describe_granted(status)[0] == GRANTED[model]


def test_every_kind_of_event_has_words() -> None:
    study = grbp.Study.create("memory", "ward", 3, "threshold-0", windows={"continue": 1.0})
    study.open_case(1)
    study.tell(1, 2)
    study.void(1, "wrong bed")
    study.withdraw_case(1, "gone")
    study.archive("over")
    study.unarchive("not over")
    study.change_learner("threshold-1", "better")
    log = study.log()
    kinds = {event.kind: event for event in log}
    assert set(KINDS) - set(kinds) == {"mature"}
    log.append(kinds["tell"]._replace(kind="mature"))
    said = [line.what for line in describe_events(log, 3, shadow=False)]
    assert all(map(is_sentence, said))
    assert len({*said}) == len(said) == len(KINDS)
    assert {ARCHIVE, UNARCHIVE} <= set(kinds)
    (line,) = describe_events([kinds["close"]._replace(kind="note")], 3, shadow=False)
    assert line.what == "An entry of the kind 'note', which this version does not know."
    assert line.why == "gone"


def pieces(path: Path) -> set[str]:
    """The constant parts of the texts of a module, but its docstrings, that have seven words."""
    tree = ast.parse(path.read_text("utf-8"))
    said = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    texts = (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in said)
    found = {one.value.strip(" .,;:") for one in texts if isinstance(one.value, str)}
    return {text for text in found if len(text.split()) >= 7}


def test_no_other_module_and_no_page_says_what_the_words_say() -> None:
    paths = [SOURCE / "live" / name for name in ("reasons.py", "wording.py")]
    room = {path: pieces(path) for path in paths}
    said = [text for texts in room.values() for text in texts]
    assert len(said) == len({*said}) > 30
    for path in SOURCE.rglob("*.py"):
        if path not in room:
            assert not pieces(path) & {*said}, path
    for path in (SOURCE / "serve" / "templates").glob("*.html"):
        page = " ".join(path.read_text("utf-8").split())
        assert [text for text in said if text in page] == [], path
