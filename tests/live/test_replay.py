"""A study elsewhere: an export comes to the same again, or is refused by its line."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from make_log import ASSETS, facts
from small_wards import Clock, known, rows, ward

import grbp
from grbp import Study
from grbp.errors import CannotWrite, Conflict, Damaged, InvalidInput, NotFound, ReadOnly
from grbp.live.schema import CaseRow, Event, HeldRow, hash_fields
from grbp.live.store.base import Transaction
from grbp.live.store.memory import MemoryStore

LOG = ASSETS / "log-1.ndjson"
LINES = LOG.read_text("utf-8").splitlines()


def test_a_kept_log_has_every_kind_of_event() -> None:
    events = [json.loads(line) for line in LINES[1:]]
    assert {event["kind"] for event in events} == {
        "study", "open", "tell", "mature", "void", "close"
    }  # fmt: skip
    assert [event["kind"] for event in events[:2]] == ["study", "study"]
    times = [event["recorded"] for event in events]
    assert times != sorted(times)
    told = [json.loads(event["response"]) for event in events if event["kind"] == "tell"]
    assert {(one["counted"], one["took"] == one["advised"]) for one in told} == {
        (True, True), (True, False), (False, True), (False, False)
    }  # fmt: skip
    assert len({json.loads(LINES[0])["head"], *(event["hash"] for event in events)}) == len(events)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_kept_log_comes_to_the_same_again(kind: str, tmp_path: Path) -> None:
    """On any Python and any machine."""
    study = Study.import_(tmp_path / "x.db" if kind == "file" else "memory", LOG)
    assert study.read_only is None
    assert facts(study) == json.loads((ASSETS / "log-1.json").read_text("utf-8"))
    replayed = study.replay()
    assert (replayed.problems, replayed.events) == ((), len(LINES) - 1)
    assert replayed.decisions == study.status().cases["opened"]
    assert study.verify()._replace(decisions=replayed.decisions) == replayed
    assert study.export(tmp_path / "again").read_bytes() == LOG.read_bytes()
    assert rows(study) == rows(Study.import_("memory", LOG))
    assert study.open_case(1).case == replayed.decisions + 1  # It goes on.
    assert study.replay().ok
    study.close()


def test_in_postgresql_as_well(dsn: str) -> None:
    with Study.import_(dsn, LOG) as study:
        assert facts(study) == json.loads((ASSETS / "log-1.json").read_text("utf-8"))
        assert rows(study) == rows(Study.import_("memory", LOG))
        assert study.replay().ok


def test_a_study_is_not_imported_over_another() -> None:
    store = MemoryStore()
    study = Study.import_(store, LOG)
    before = rows(study)
    with pytest.raises(Conflict, match="was to be imported; the store has one already"):
        Study.import_(store, LOG)
    assert rows(study) == before


def refused(text: bytes | str, tmp_path: Path) -> str:
    """See an export refused in one sentence, and nothing imported; return what was said."""
    path, store = tmp_path / "changed", MemoryStore()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidInput) as refusal:
        Study.import_(store, path)
    assert store.studies() == []
    said = str(refusal.value)
    assert "\n" not in said
    return said.removeprefix(str(path))


Change = Callable[[list[str]], list[str]]
K = 300
OPENED = next(
    k
    for k, line in enumerate(LINES)
    if '"kind":"open"' in line
    and '"kind":"tell"' in LINES[k + 1]
    and json.loads(line)["case"] == json.loads(LINES[k + 1])["case"]
)
"""An event without which the next one cannot be played."""

KEYED = next(k for k, line in enumerate(LINES) if '"key":"tell' in line)
CHANGES: list[tuple[Change, str]] = [
    (lambda lines: [*lines[:K], *lines[K + 1 :]], f"event {K} is missing: event {K + 1} follows"),
    (
        lambda lines: [*lines[:OPENED], *lines[OPENED + 1 :]],
        f"event {OPENED} is missing: event {OPENED + 1} follows",
    ),
    (lambda lines: lines[:-1], f"has {len(LINES) - 2} events; {len(LINES) - 1} were exported"),
    (lambda lines: lines[:K], f"has {K - 1} events; {len(LINES) - 1} were exported"),
    (lambda lines: lines[:1], f"has 0 events; {len(LINES) - 1} were exported"),
    (lambda lines: [*lines[:-1], lines[-1][:40]], f", line {len(LINES)}, is damaged"),
    (
        lambda lines: [*lines[:K], lines[K + 1], lines[K], *lines[K + 2 :]],
        f"event {K} is missing: event {K + 1} follows event {K - 1}",
    ),
    *(
        (lambda lines, k=k: [*lines[: k + 1], *lines[k:]], f"event {k + 1} is missing: event {k}")
        for k in (K, KEYED)
    ),
    (lambda lines: [*lines, lines[-1]], f"event {len(LINES)} is missing"),
    (lambda lines: [*lines[:K], "", *lines[K:]], f", line {K + 1}, is damaged"),
    (lambda lines: [*lines[:K], "[]", *lines[K:]], f", line {K + 1}, is damaged"),
    (lambda lines: [*lines[:K], "[" * 10**5, *lines[K:]], f", line {K + 1}, is damaged"),
    (lambda lines: [*lines[:K], "{}", *lines[K:]], f", line {K + 1}, is not an event"),
    (lambda lines: [*lines[:K], lines[0], *lines[K:]], f", line {K + 1}, is not an event"),
    (lambda lines: lines[1:], "it is not an exported study"),
    (lambda _: [], ", line 1, is damaged, or the file is not an export"),
    (lambda lines: [lines[0].replace("live log", "log"), *lines[1:]], "is not an exported study"),
    (lambda lines: [lines[0].replace('version":1', 'version":2'), *lines[1:]], "in format 2; this"),
    (lambda lines: [lines[0].replace("Ward 6", "Ward 7"), *lines[1:]], "events are not those of"),
    (lambda lines: [lines[0].replace('events":', 'events":1'), *lines[1:]], "it is incomplete"),
    (lambda lines: [lines[0].replace('head":"', 'head":"0'), *lines[1:]], "it is incomplete"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[words for _, words in CHANGES])
def test_a_changed_export_is_refused_by_its_line_or_event(
    change: Change, words: str, tmp_path: Path
) -> None:
    said = refused("".join(f"{line}\n" for line in change(LINES)), tmp_path)
    assert words in said
    file = tmp_path / "x.db"
    with pytest.raises(InvalidInput) as refusal:
        Study.import_(file, tmp_path / "changed")
    assert str(refusal.value).endswith(said)
    with pytest.raises(NotFound, match="`grbp live init` makes one"):
        Study(file)


@pytest.mark.slow
@pytest.mark.parametrize("name", Event._fields)
@pytest.mark.parametrize("seq", [1, 2, 3, 150, len(LINES) - 1])
def test_a_changed_part_of_an_event_is_named(name: str, seq: int, tmp_path: Path) -> None:
    event = json.loads(LINES[seq])
    others: list[Any] = [_other(event[name]), None, [], 1.5]
    for new in others:
        changed = [*LINES]
        changed[seq] = json.dumps(event | {name: new}, separators=(",", ":"))
        said = refused("\n".join(changed), tmp_path)
        if type(new) is type(event[name]):
            assert f"event {seq}" in said
        else:
            assert said == f", line {seq + 1}, is not an event of a study"


def test_a_field_of_two_lines_is_refused(tmp_path: Path) -> None:
    # Two fields of one line each would have the same hash.
    changed = [*LINES]
    changed[2] = json.dumps(json.loads(LINES[2]) | {"who": "ada\nbob"}, separators=(",", ":"))
    assert refused("\n".join(changed), tmp_path) == ", line 3, is not an event of a study"


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    return value.replace("1", "2") if "1" in value else f"{value}x"


def test_any_flipped_bit_of_an_export_is_noticed(tmp_path: Path) -> None:
    study = ward("getbe-ps", windows={"finish": 3})
    for state in (1, 2, 3):
        study.open_case(state, key=f"k{state}")
    study.tell(1, 4, took="finish", why="\u00e9")
    study.tell(2, 3, took="continue")
    study.void(2, "so")
    study.withdraw_case(2, "so")
    whole = study.export(tmp_path / "log").read_bytes()
    lines = [json.loads(line) for line in whole.splitlines()]
    draws, refusals = np.random.default_rng(0), 0
    for place in draws.integers(0, 8 * len(whole), 400).tolist():
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        with suppress(ValueError):
            if [json.loads(line) for line in flipped.splitlines()] == lines:
                continue  # It is a letter written in another way, such as \u00E9.
        assert refused(bytes(flipped), tmp_path)
        refusals += 1
    assert refusals > 390


def forged(lines: list[str], seq: int, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """Change what an event says, and make all hashes fit again."""
    head, *events = (json.loads(line) for line in lines)
    events[seq - 1] = change(events[seq - 1])
    previous = "0" * 64
    for event in events:
        event["previous"] = previous
        fields: Any = tuple(event.values())
        event["hash"] = previous = hash_fields(fields[:-1])
    new = [head | {"head": previous}, *events]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in new)


def _with(name: str, **new: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(event: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(json.loads(event[name]) | new, separators=(",", ":"))
        return event | {name: text}

    return change


FIRST_TELL = next(k for k, line in enumerate(LINES) if '"kind":"tell"' in line)
FIRST_RIPE = next(k for k, line in enumerate(LINES) if '"kind":"mature"' in line)
LAST_OPEN = max(k for k, line in enumerate(LINES) if '"kind":"open"' in line)
FORGERIES = {
    "a blank": (LAST_OPEN, lambda event: event | {"request": event["request"] + " "}),
    "a case": (FIRST_TELL, _with("request", case=9999)),
    "a state": (FIRST_TELL, _with("request", state=77)),
    "a word": (FIRST_TELL, _with("request", colour="red")),
    "an answer": (FIRST_TELL, _with("response", status="won")),
    "a time": (FIRST_RIPE, lambda event: event | {"recorded": "2020-01-01T00:00:00.000000+00:00"}),
    "a last day": (3, lambda event: event | {"recorded": "9999-12-31T23:59:59.000000+00:00"}),
    "a kind": (FIRST_TELL, lambda event: event | {"kind": "tall"}),
    "nothing": (LAST_OPEN, lambda event: event | {"request": "null"}),
    "no JSON": (LAST_OPEN, lambda event: event | {"response": "{"}),
    "a threshold": (LAST_OPEN, _with("response", threshold="x")),
    "a config": (1, lambda event: event | {"request": '{"config":{"name":"Ward"}}'}),
    "no config": (2, lambda event: event | {"request": '{"config":[]}'}),
    "depth": (LAST_OPEN, lambda event: event | {"request": "[" * 10**5}),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_what_the_rules_do_not_make_is_refused_even_if_all_hashes_fit(
    what: str, tmp_path: Path
) -> None:
    seq, change = FORGERIES[what]
    said = refused(forged(LINES, seq, change), tmp_path)
    assert "cannot be imported: event " in said


def test_a_forged_decision_is_found_when_it_is_made_again(tmp_path: Path) -> None:
    study = ward("threshold-1")
    study.open_case(3)
    study.open_case(3)
    path, lines = tmp_path / "log", study.export(tmp_path / "log").read_text("utf-8").splitlines()
    for seq in (2, 3):
        path.write_text(forged(lines, seq, _with("response", threshold=0)), "utf-8")
        found = Study.import_("memory", path)
        assert found.verify().ok
        (problem,) = found.replay().problems
        assert problem.startswith(
            f"event {seq} differs from what the rules make of it now in its response"
        )
        last = f"this version decides case 2 differently than version {grbp.__version__} did"
        said = str(found.status().undecided)
        assert (found.read_only, said.startswith(last)) == (None, seq == 3)
    with pytest.raises(Conflict, match="cases in progress go on"):
        found.open_case(1)


Rows = Callable[[Transaction], None]


def _case(tx: Transaction) -> CaseRow:
    row = tx.case(2)
    assert row is not None
    return row


def _held(tx: Transaction) -> HeldRow:
    row = tx.held(1, 1)
    assert row is not None
    return row


def _configured(tx: Transaction) -> None:
    row = tx.study()
    assert row is not None
    tx.put_study(row._replace(config=row.config.replace('"seed":0', '"seed":1')))


DAMAGE: list[tuple[Rows, str]] = [
    (lambda tx: tx.put_case(_case(tx)._replace(state=3)), "the row of case 2"),
    (lambda tx: tx.put_case(_case(tx)._replace(known="[]")), "the row of case 2"),
    (lambda tx: tx.put_case(_case(tx)._replace(last=1)), "the row of case 2"),
    (
        lambda tx: tx.put_held(_held(tx)._replace(due="1")),
        "the row of held step 1 of case 1",
    ),
    (lambda tx: tx.drop_held(1, 1), "the row of held step 1 of case 1"),
    (lambda tx: tx.put_held(_held(tx)._replace(step=9)), "the row of held step 9 of case 1"),
    (_configured, "the study's row"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGE)
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_row_that_does_not_follow_from_the_log_is_named(
    damage: Rows, words: str, kind: str, tmp_path: Path
) -> None:
    where = tmp_path / "x.db" if kind == "file" else "memory"
    study = ward(where=where, windows={"continue": 1.0})
    for _ in range(3):
        study.open_case(2)
    study.tell(1, 3)
    assert study.verify().ok
    study._store.write("ward", damage)
    for found in (study.verify(), study.replay()):
        assert found.problems == (f"{words} does not follow from the log",)
    study.close()


@pytest.mark.parametrize("told", [False, True])
def test_a_log_that_has_lost_its_end_is_not_gone_on_with(told: bool, tmp_path: Path) -> None:
    with ward(where=tmp_path / "x.db") as study:
        study.open_case(2)
        study.open_case(2)
        if told:
            study.tell(1, 3)
        connection = study._store._connection  # type: ignore[attr-defined]
        connection.execute("delete from events where id = (select max(id) from events)")
        named = "the row of case 1" if told else "the row of case 2"
        lost, not_followed = study.verify().problems
        assert "was acknowledged, but its log ends with event" in lost
        assert not_followed == f"{named} does not follow from the log"
    (tmp_path / "x.db-head").unlink()  # which knows better
    with Study(tmp_path / "x.db", clock=Clock()) as study:
        if told:
            assert study.read_only is None
            with pytest.raises(Damaged, match="event 4 of case 1 is missing or damaged; verify"):
                study.tell(1, 2)
            with pytest.raises(ReadOnly, match="event 4 of case 1 is missing or damaged; verify"):
                study.tell(2, 1)
            assert study.ask(2).state == 2
        else:
            assert study.read_only is not None
            assert study.read_only.startswith("its cases do not match its log")


def test_a_log_that_lost_its_end_under_an_open_study_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with ward(where=path) as study:
        study.open_case(2)
        study.tell(1, 3)
        with closing(apsw.Connection(str(path))) as other:
            other.execute("delete from events where id = (select max(id) from events)")
        with pytest.raises(CannotWrite, match="last changed by event 3; the log ends with event 2"):
            study.tell(1, 2)
        assert len(study.log()) == 2


def test_no_more_than_twenty_problems_are_named() -> None:
    study = ward()
    for _ in range(30):
        study.open_case(2)

    def script(tx: Transaction) -> None:
        for case in tx.all_cases():
            tx.put_case(case._replace(state=1))

    study._store.write("ward", script)
    problems = study.verify().problems
    assert len(problems) == 21
    assert problems[-1] == "and 10 more"


def test_an_export_of_steps_can_be_fitted(tmp_path: Path) -> None:
    study = Study.import_("memory", LOG)
    fit = grbp.fit(study.export_steps(tmp_path / "steps.csv"), goal=5)
    # What is held is among the steps, and does not count yet.
    held = sum(case.held for case in study.cases(limit=10_000))
    n = study.status().basis
    assert fit.counters is not None
    assert fit.counters.f + fit.counters.c == n.f + n.c + held
    # Another study can begin with what was seen in this one.
    counters, pending = known(ward("getbe-ps", goal=5, start=fit))
    assert (counters, pending) == (fit.counters, 0)


def test_the_live_advisor_loads_neither_the_engine_nor_numba_nor_matplotlib() -> None:
    code = (
        "import sys, grbp.live; s = grbp.Study.create('memory', 'w', 4); s.open_case(2).basis;"
        " s.tell(1, 3); s.verify(); s.status();"
        " print(*sorted({name.partition('.')[0] for name in sys.modules}),"
        " *(name for name in sys.modules if name.startswith('grbp.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "grbp.live.recording" in loaded
    assert not loaded & {"numba", "llvmlite", "matplotlib", "pandas", "scipy", "apsw", "psycopg"}
    assert not [name for name in loaded if name.startswith(("grbp.engine", "grbp.experiments"))]
