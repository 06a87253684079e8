"""A study's own words: shown and understood everywhere, and of no weight in any decision."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import grbp
from grbp import Action, Advice, Study
from grbp.errors import Conflict, GrbpError, InvalidInput
from grbp.live.kinds import describe_events
from grbp.live.labels import check_labels, dump_labels, load_labels
from grbp.live.store.memory import MemoryStore
from grbp.live.wording import describe_choice, describe_planned, name_state
from grbp.worlds.labels import Labels, fold_word

STATES = ("dead", "severe", "moderate", "mild", "home")
ACTIONS = ("medication", "surgery")
WARD: dict[str, Any] = {"states": STATES, "actions": ACTIONS, "case_name": "patient"}
WORDS = Labels(STATES, ACTIONS, ("patient", "patients"))
FOREIGN: dict[str, Any] = {
    "states": ("ميت", "شديد", "متوسط", "خفيف", "البيت"),
    "actions": ("薬", "手術🏥"),
    "case_name": ("Größe", "Größen"),
}
SLY: dict[str, Any] = {
    "states": ("FINISH", "continue care", "finish line", "state 1", "p_F or threshold 1"),
    "actions": ("state 1 drug", "never finish; \\1 {case} %s"),
    "case_name": ("case of state 3", "cases of state 3"),
}
"""Words that look like ours."""
JARGON = "CONTINUE|FINISH|continu|finish|threshold|p_C|p_F|doorstep|rho|learner|seed"


def ward(store: Any = "memory", name: str = "ward", **given: Any) -> Study:
    """A study whose clock stands still."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return Study.create(store, name, 4, who="ada", clock=lambda: start, **(WARD | given))


def play(study: Study, words: Labels | None, cases: int = 30, seed: int = 5) -> list[Advice]:
    """Play cases at random, against the advice now and then; by words where these are given."""
    random, said = np.random.default_rng(seed), []
    for _ in range(cases):
        first = int(random.integers(1, 4))
        advice = study.open_case(words.states[first] if words else first)
        said.append(advice)
        while advice.status == "open":
            assert advice.action is not None
            against = random.random() < 0.2
            action = Action(1 - advice.action) if against else advice.action
            low, high = (0, 4) if action else (advice.state - 1, advice.state + 1)
            state = high if random.random() < 0.45 else low
            took: Any = words.actions[action].upper() if words else action
            to: int | str = f" {words.states[state].title()} " if words else state
            why = "he asked" if against else ""
            advice = study.tell(advice.case, to, took=took, why=why)
            said.append(advice)
    return said


def test_words_and_numbers_write_the_same_log() -> None:
    by_number, by_word = ward(), ward()
    play(by_number, None)
    play(by_word, WORDS)
    assert by_number.log(limit=1000) == by_word.log(limit=1000)
    assert by_word.replay().ok


@pytest.mark.parametrize("learner", ["doorstep-optimal", "getbe-ps", "psrl", "averaged-states"])
def test_words_change_no_decision(learner: str) -> None:
    """A study with words and its twin without differ in their configuration alone."""
    plain, named = (
        ward(learner=learner, **one) for one in (dict.fromkeys(WARD), {"windows": None})
    )
    assert play(plain, None) == play(named, None)
    for one, other in zip(plain.log(1, 1000), named.log(1, 1000), strict=True):
        assert (one.request, one.response) == (other.request, other.response)


@pytest.mark.parametrize("given", [WARD, FOREIGN, SLY])
def test_words_survive_export_import_and_backup(given: dict[str, Any], tmp_path: Path) -> None:
    study = ward(tmp_path / "a.sqlite", **given)
    said = [str(one) for one in play(study, None, 5)]
    there = Study.import_(MemoryStore(), study.export(tmp_path / "log.jsonl"))
    assert there.labels == study.labels
    assert there.log(limit=1000) == study.log(limit=1000)
    copy = Study(study.backup(tmp_path / "b.sqlite"))
    assert copy.status().labels == study.labels
    assert str(copy.ask(5)) == said[-1]


WORD = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=40)


@given(words=st.lists(WORD, min_size=3, max_size=3, unique_by=fold_word), case=WORD)
def test_whatever_a_study_takes_is_read_back_and_kept(words: list[str], case: str) -> None:
    try:
        labels = check_labels(2, words, words[:2], case)
    except InvalidInput:
        return
    assert load_labels(json.loads(json.dumps(dump_labels(labels))), 2) == labels
    for state, word in enumerate(words):
        for form in (word, f" {word} ", labels.states[state], str(state)):
            assert labels.read_state(form) == state
        assert labels.state(state) == f"{labels.states[state]} ({state})"
    assert [labels.read_action(word) for word in words[:2]] == ["continue", "finish"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"states": STATES[1:]}, "it must be 5 different words"),
        ({"states": (*STATES[:4], "MILD")}, "it must be 5 different words"),
        ({"states": "dead"}, "it must be a list of 5 words"),
        ({"states": (*STATES[:4], "4")}, "a word must not be a number"),
        ({"states": (*STATES[:4], "1e3")}, "a word must not be a number"),
        ({"states": (*STATES[:4], "")}, "a word of states"),
        ({"states": (*STATES[:4], "a\nb")}, "a word of states"),
        ({"states": (*STATES[:4], "x" * 41)}, "a word of states"),
        ({"states": (*STATES[:4], 4)}, "a word of states"),
        ({"actions": ("wait",)}, "it must be 2 different words"),
        ({"actions": ("finish", "continue")}, "the first must be what continues"),
        ({"case_name": ("person",)}, "it must be 2 different words"),
        ({"case_name": ""}, "case_name"),
    ],
)
def test_words_that_cannot_be_told_apart_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refusal:
        ward(**given)
    assert "\n" not in str(refusal.value)


def test_at_most_101_states_have_words() -> None:
    words = [f"grade {chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(102)]
    assert check_labels(100, words[:101]).states == tuple(words[:101])
    with pytest.raises(InvalidInput, match="words for 102 states were given"):
        check_labels(101, words)


@pytest.mark.parametrize("given", [WARD, FOREIGN, SLY])
def test_what_people_read_has_their_words_as_they_are(given: dict[str, Any]) -> None:
    study = ward(**given)
    play(study, None, 6)
    study.open_case(2)
    study.withdraw_case(7, "moved")
    study.void(7, "a slip")
    labels = study.labels
    advice = study.ask(7)
    assert advice.basis is not None
    assert advice.action is not None
    two, name = labels.state(2), labels.case[0]
    assert str(advice)[1:].startswith(f"{name[1:]} 7 is in {two}: {labels.do(advice.action)}")
    assert advice.basis.sentences(labels)[0].endswith(f" is advised in {two}.")
    lines = describe_events(study.log(limit=1000), 4, labels, shadow=False)
    told = [line for line in lines if line.event.kind == "tell"]
    for line in told:
        then = json.loads(line.event.response)
        assert line.what == (
            f"Step {line.event.step}: {labels.doing(then['took'])} led from"
            f" {labels.state(then['from'])} to {labels.state(then['state'])}."
        )
    assert any(line.notes for line in told)
    read = " ".join(line.what for line in lines if line.event.kind != "study")
    if given is not SLY:
        assert not re.search(JARGON, f"{read} {advice} {advice.basis.sentences(labels)}")
    log = study.log(case=7)
    back = study.find_taken_back(log)
    history = describe_events(log, 4, labels, shadow=False, taken_back=back)
    assert "taken back" in history[1].notes
    assert [line.taken_back for line in history] == [False, True, False]


def test_the_sentences_of_a_log_and_of_a_rule() -> None:
    study = ward(learner="threshold-1")
    study.open_case("moderate")
    study.tell(1, "severe")
    study.tell(1, "moderate", took="medication", why="he asked")
    lines = describe_events(study.log(), 4, WORDS, shadow=False)
    assert [line.what for line in lines] == [
        "The study was set up: from dead (0) to home (4).",
        "Opened in moderate (2); surgery in severe (1), medication above.",
        "Step 1: medication led from moderate (2) to severe (1).",
        "Step 2: medication led from severe (1) to moderate (2).",
    ]
    assert lines[3].notes == ("surgery was advised",)
    assert lines[0].details.startswith("Learner threshold-1, seed 0")
    assert [describe_choice(k, 4, WORDS, by_state=False) for k in range(4)] == [
        "medication in every state",
        "surgery in severe (1), medication above",
        "surgery up to moderate (2), medication above",
        "surgery in every state, in order to learn",
    ]
    assert describe_choice(0b101, 4, WORDS, by_state=True) == (
        "surgery in severe (1) and mild (3), medication elsewhere"
    )
    assert (
        describe_choice(0b101, 4, by_state=True) == "finish in states 1 and 3, continue elsewhere"
    )
    assert [name_state(k, 4, WORDS) for k in (0, 2, 4)] == ["dead (0)", "moderate (2)", "home (4)"]
    assert [name_state(k, 4) for k in (0, 2, 4)] == ["the dead end", "state 2", "the goal (4)"]
    assert describe_planned(1, 0, WORDS) == "Planned for 1 patient, of which 0 were opened."


def test_refusals_are_in_the_words_of_the_study() -> None:
    study = ward(learner="threshold-1")
    study.open_case("moderate")
    refused: dict[str, Callable[[], object]] = {
        "home (4) was told after medication in moderate (2) of patient 1; it must be severe (1) or"
        " mild (3); if it was surgery instead, tell that and why": lambda: study.tell(1, 4),
        "surgery was told of patient 1 where medication was advised; also tell why": lambda: (
            study.tell(1, "home", took="surgery")
        ),
        "took = 'surgey' was given; it must be 'medication' or 'surgery' (did you mean"
        " 'surgery'?)": lambda: study.tell(1, 3, took="surgey"),
        "patient 2 was asked for; the study has patients 1 to 1": lambda: study.ask(2),
        "an entry of patient 1 was to be taken back; there is none yet: withdraw it if it was"
        " opened by mistake": lambda: study.void(1, "a slip"),
    }
    for sentence, ask in refused.items():
        with pytest.raises(GrbpError) as refusal:
            ask()
        assert str(refusal.value) == sentence
    with pytest.raises(InvalidInput, match="or one of dead, severe, moderate, mild, home"):
        study.tell(1, "worse")
    study.tell(1, 3, step=1, who="anna")
    already = "already recorded step 1 of patient 1: medication led from moderate (2) to mild (3)"
    for who, said in (("anna", "you"), ("bob", "a colleague ('anna')")):
        with pytest.raises(Conflict) as conflict:
            study.tell(1, 1, step=1, who=who)
        assert str(conflict.value).startswith(f"{said} {already}")
    study.tell(1, "home")
    with pytest.raises(Conflict, match=r"it ended in home \(4\) after step 2: take that back"):
        study.tell(1, "mild")


def test_a_study_takes_the_words_of_what_it_begins_with() -> None:
    old = ward()
    play(old, None, 3)
    assert Study.create("memory", "b", 4, start=old).labels == WORDS
    own = Study.create("memory", "c", 4, start=old, actions=("wait", "act")).labels
    assert own == WORDS._replace(actions=("wait", "act"))


def table(words: dict[int, str]) -> grbp.Fit:
    """A fit of a small table in which some states have words."""
    moves = [(1, 2, "rest", 3), (1, 3, "rest", 4), (2, 2, "rest", 1), (2, 1, "cut", 0)]
    rows = {
        "case": [case for case, *_ in moves],
        "step": [1, 2, 1, 2],
        "state": [words.get(state, str(state)) for _, state, _, _ in moves],
        "action": [action for *_, action, _ in moves],
        "next_state": [words.get(state, str(state)) for *_, state in moves],
    }
    return grbp.fit(
        rows, 4, map_state={word: state for state, word in words.items()},
        map_action={"rest": "continue", "cut": "finish"},
    )  # fmt: skip


def test_a_study_takes_the_words_of_a_table_if_they_are_complete() -> None:
    all_of_them = dict(enumerate(STATES))
    labels = Study.create("memory", "a", 4, start=table(all_of_them)).labels
    assert labels == Labels(STATES, ("rest", "cut"))
    assert Study.create("memory", "b", 4, start=table({1: "severe"})).labels.states == ()
    long = Study.create("memory", "c", 4, start=table(all_of_them | {3: "x" * 60})).labels
    assert all(len(word) <= 40 for word in long.states)


def test_windows_are_given_by_words_as_well() -> None:
    one, other = (ward(windows=given) for given in ({"surgery": 30}, {"finish": 30}))
    assert one.log() == other.log()
    with pytest.raises(InvalidInput, match="a window for 'drug'"):
        ward(windows={"drug": 3})


def test_an_old_configuration_without_words_is_written_as_before() -> None:
    study = Study.create("memory", "ward", 4)
    assert "labels" not in json.loads(study.log()[0].request)["config"]
    assert study.labels == Labels()
    assert not study.labels.own


def test_words_are_locked_with_the_first_case() -> None:
    store = MemoryStore()
    ward(store)
    study = ward(store, actions=("wait", "act"))
    assert study.labels.actions == ("wait", "act")
    study.open_case(1)
    with pytest.raises(Conflict, match="it already has cases"):
        ward(store)


def test_advice_says_what_to_do_in_a_sentence() -> None:
    study = ward(learner="threshold-1", groups=["north", "south"])
    assert str(study.open_case("moderate", group="south", code="B-12")) == (
        "Patient 1 (B-12, south) is in moderate (2): medication. Then tell severe (1) or mild (3)."
    )
    study.tell(1, 1)
    assert str(study.tell(1, "dead")) == "Patient 1 (B-12, south) ended in dead (0) after 2 steps."
    plain = Study.create("memory", "b", 4, "threshold-1")
    assert str(plain.open_case(1)).startswith("Case 1 is in state 1: finish")
    assert str(plain.tell(1, 4)) == "Case 1 ended in the goal (4) after 1 step."
    hidden = ward(shadow=True).open_case(2)
    assert str(hidden).endswith("Nobody is advised: the study is in shadow mode.")


def test_a_waiting_time_is_said_in_words() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    study = Study.create(
        "memory", "w", 4, "threshold-1", windows={"surgery": 1}, clock=lambda: now[0], **WARD
    )
    study.open_case(1)
    study.tell(1, "home")
    now[0] += timedelta(days=2)
    study.open_case(2)
    lines = describe_events(study.log(case=1), 4, WORDS, shadow=False)
    assert lines[-1].what == "Step 1 counts from now on: its waiting time is over."
    assert "an outcome of surgery counts after 1 day" in (
        describe_events(study.log(limit=1), 4, WORDS, shadow=False)[0].what
    )
