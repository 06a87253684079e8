"""A study on the shell: every verb for a person and for a program, and what is refused."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loading import loaded_by, others
from optional import optional

import grbp
from grbp._io import table_text
from grbp.cli import main
from grbp.cli.options import STORE

pytestmark = pytest.mark.slow

optional("apsw")

VERBS = [
    "init", "open", "ask", "tell", "void", "undo", "withdraw", "code", "archive", "unarchive",
    "learner", "studies", "status", "cases", "log", "verify", "export", "import", "replay",
    "backup",
]  # fmt: skip

Shell = Callable[..., str]

names = grbp.Study.names


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRBP_STORE", raising=False)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Shell:
    """What a person reads: at 80 columns, with nothing on standard error."""

    def shell(*arguments: object, status: int = 0) -> str:
        assert main(["live", *map(str, arguments)]) == status
        out, err = capsys.readouterr()
        assert err == ""
        if "--json" not in arguments and arguments != ("export",):
            assert max(map(len, out.splitlines()), default=0) <= 80
        return out

    return shell


@pytest.fixture
def answer(said: Shell) -> Callable[..., dict[str, Any]]:
    """What a program reads: one object."""

    def shell(*arguments: object, status: int = 0) -> dict[str, Any]:
        out = said(*arguments, "--json", status=status)
        assert out.count("\n") == 1
        one: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
        return one

    return shell


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Shell:
    def shell(*arguments: object) -> str:
        assert main(["live", *map(str, arguments)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(r"grbp: .*\n", err)
        return err

    return shell


def begun(said: Shell, *options: object) -> None:
    """Make a study whose second case is advised to finish."""
    said("init", "--study", "ward", "--goal", 4, "--who", "ada", *options)


def test_a_study_from_the_first_case_to_the_last_check(
    answer: Callable[..., dict[str, Any]],
) -> None:
    made = answer("init", "--study", "ward", "--goal", 4, "--who", "ada")
    assert (made["study"], made["goal"], made["events"]) == ("ward", 4, 1)
    first = answer("open", "--state", 2, "--who", "ada")
    assert first.keys() >= {"case", "rho", "state", "action", "basis"}
    assert (first["case"], first["rho"], first["state"], first["action"]) == (1, 1, 2, "continue")
    assert first["basis"]["action"] == "continue"
    assert answer("ask", "--case", 1) == first | {"event": None}
    after = answer("tell", "--case", 1, "--state", 1, "--who", "ada")
    assert (after["state"], after["step"], after["action"]) == (1, 1, "finish")
    over = answer("tell", "--case", 1, "--state", 2, "--took", "continue", "--why", "he asked")
    assert (over["state"], over["action"]) == (2, "continue")
    back = answer("void", "--case", 1, "--step", 2, "--why", "another bed")
    assert (back["state"], back["step"], back["action"]) == (1, 1, "finish")
    won = answer("tell", "--case", 1, "--state", 4)
    assert (won["status"], won["action"], won["basis"]) == ("won", None, None)
    answer("open", "--state", 3)
    assert answer("withdraw", "--case", 2, "--why", "moved away")["status"] == "closed"
    status = answer("status")
    assert status["cases"] == {"opened": 2, "open": 0, "won": 1, "lost": 0, "closed": 1}
    found = answer("verify")
    assert (found["ok"], found["problems"]) == (True, [])
    assert (found["events"], found["head"]) == (status["events"], status["head"])
    again = answer("replay")
    assert (again["ok"], again["decisions"], again["head"]) == (True, 2, status["head"])


def test_the_shell_says_what_the_library_says(answer: Callable[..., dict[str, Any]]) -> None:
    answer("init", "--study", "ward", "--goal", 5, "--learner", "getbe-sm:gamma=30", "--seed", 3)
    answer("open", "--state", 2)
    with grbp.Study(STORE) as study:
        assert answer("ask", "--case", 1) == json.loads(json.dumps(study.ask(1).to_dict()))
        assert answer("status") == json.loads(json.dumps(study.status().to_dict()))
        assert answer("cases") == {"cases": [case.to_dict() for case in study.cases()]}
        assert study.status().learner == "getbe-sm:gamma=30"


def test_every_option_of_init_reaches_the_study(
    said: Shell, answer: Callable[..., dict[str, Any]]
) -> None:
    answer(
        "init", "--study", "ward", "--goal", 4, "--learner", "doorstep-optimal", "--seed", 7,
        "--start", "first", "--cases", "1e3", "--window", "finish=30,continue=1",
        "--level", ".9", "--who", "ada",
    )  # fmt: skip
    (event,) = answer("log")["events"]
    config = event["request"]["config"]
    assert event["who"] == "ada"
    assert config["windows"] == {"continue": 86_400.0, "finish": 30 * 86_400.0}
    assert (config["seed"], config["start"], config["shadow"]) == (7, "first", False)
    assert (config["level"], config["constants"]["horizon"]) == (0.9, 1000.0)
    kept = answer("status")
    assert (kept["seed"], kept["start"], kept["windows"]) == (
        7,
        "first",
        {"continue": 1, "finish": 30},
    )
    assert "\nAn outcome of continuing counts after 1 day.\n" in said("status")
    words = " ".join(said("log", "--details").split())
    for part in ("seed 7", "with one first try of each", "finishing counts after 30 days"):
        assert part in words
    answer("init", "--study", "ward", "--goal", 4, "--shadow")
    assert answer("status")["shadow"] is True


def test_past_cases_come_first(said: Shell, answer: Callable[..., dict[str, Any]]) -> None:
    table = grbp.example_records(cases=60, seed=2)
    rows = zip(*(table[name] for name in table), strict=True)
    Path("cases.csv").write_text(table_text([*table], rows), "utf-8")
    counters = grbp.fit("cases.csv", 4).counters
    assert counters is not None
    begun(said, "--records", "cases.csv")
    basis = answer("status")["basis"]
    assert (basis["f"], basis["c"]) == (counters.f, counters.c)
    assert basis["drawn"] is None
    assert "from records." in " ".join(said("log", "--details").split())
    text = Path("cases.csv").read_text("utf-8").replace("continue", "wait")
    Path("cases.csv").write_text(text.replace("case,", "id,", 1), "utf-8")
    begun(said, "--records", "cases.csv", "--columns", "case=id", "--map-action", "wait=continue")
    assert answer("status")["basis"] == basis


def test_a_person_reads_first_what_to_do(said: Shell) -> None:
    begun(said)
    out = said("open", "--state", 2)
    assert out.startswith("Case 1 is in state 2: continue. Then tell state 1 or 3.\n\n")
    with grbp.Study(STORE) as study:
        basis = study.ask(1).basis
    assert basis is not None
    plain, details = basis.summary.split("\n\n")
    assert out.endswith(f"\n\n{plain}\n")
    assert said("ask", "--case", 1) == out
    assert said("ask", "--case", 1, "--details") == f"{out}\n{details}\n"
    out = said("tell", "--case", 1, "--state", 1)
    assert out.startswith("Case 1 is in state 1: finish. Then tell state 0 or 4.\nStep 1 is rec")
    assert said("tell", "--case", 1, "--state", 0).startswith(
        "Case 1 ended in the dead end after 2 steps.\n"
    )
    out = said("void", "--case", 1, "--why", "no")
    assert out.startswith("Case 1 is in state 1: finish. Then tell state 0 or 4.\nThe last entry")
    assert said("tell", "--case", 1, "--state", 4).startswith(
        "Case 1 ended in the goal (4) after 2 steps.\n"
    )
    said("open", "--state", 3)
    assert (
        said("withdraw", "--case", 2, "--why", "moved")
        == "Case 2 was withdrawn in state 3 after 0 steps.\n"
    )


def test_forced_exploration_is_said(said: Shell, answer: Callable[..., dict[str, Any]]) -> None:
    begun(said, "--start", "first")
    assert "continue, in order to learn." in said("open", "--state", 1).splitlines()[0]
    assert answer("ask", "--case", 1)["basis"]["forced"] is True
    said("tell", "--case", 1, "--state", 2)
    out = said("open", "--state", 3)
    assert out.startswith("Case 2 is in state 3: finish, in order to learn. Then tell state 0 or 4")
    first = "Nothing is known about finishing yet: somebody has to be the first."
    assert first in " ".join(out.split())


def test_shadow_mode_advises_nobody(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    begun(said, "--shadow")
    assert (
        said("open", "--state", 2)
        == "Case 1 is in state 2. Nobody is advised: the study is in shadow mode.\n"
    )
    shown = answer("ask", "--case", 1)
    assert (shown["action"], shown["basis"], shown["shadow"]) == (None, None, True)
    assert "also tell what was done" in refused("tell", "--case", 1, "--state", 3)
    said("tell", "--case", 1, "--state", 3, "--took", "continue")
    assert said("cases").splitlines()[0].split() == ["case", "state", "status", "steps", "since"]
    case = answer("cases")["cases"][0]
    assert case["action"] is case["overridden"] is None
    assert "continue above" not in said("log", "--details")
    _, opened, told = (event["response"] for event in answer("log")["events"])
    assert (opened["threshold"], opened["action"], told["advised"]) == (None, None, None)
    assert (opened["state"], told["took"]) == (2, "continue")
    kept = answer("status")
    hidden = {"learner", "seed", "start", "planned", "pending", "head", "next_threshold", "basis"}
    hidden |= {"model", "memory", "by_group", "by_state", "alarms"}
    assert {name for name in kept if kept[name] is None} == hidden | {
        "read_only",
        "archived",
        "undecided",
    }
    assert said("status") == (
        "Study ward: from the dead end to the goal (4).\n"
        "Shadow mode: nobody is advised.\n"
        "1 case: 1 in progress, 0 won, 0 lost, 0 withdrawn.\n"
    )
    details = f"\nFor statisticians:\ngrbp {grbp.__version__}. 3 events.\n"
    assert said("status", "--details") == said("status") + details


OWN = """
from typing import NamedTuple
import grbp
class Nothing(NamedTuple):
    unused: float = 1.0
def always_one(goal, constants, n, key):
    return 1
learner = grbp.Learner("always-one", always_one, Nothing())
"""


def test_a_study_whose_learner_is_gone_finishes_its_cases(
    said: Shell, refused: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("own_learner_of_a_study.py").write_text(OWN, "utf-8")
    begun(said, "--learner", "own_learner_of_a_study:learner")
    said("open", "--state", 1)
    Path("own_learner_of_a_study.py").unlink()
    monkeypatch.delitem(sys.modules, "own_learner_of_a_study")
    assert "\nNO NEW CASE: learner 'own_learner_of_a_study:learner'" in said("status")
    assert said("ask", "--case", 1).startswith("Case 1 is in state 1: finish.")
    assert "`grbp live learner --study ward` lets" in refused("open", "--state", 1)
    assert said("tell", "--case", 1, "--state", 4).startswith("Case 1 ended in the goal")
    assert said("verify").startswith("All is well")
    assert "1 decision could not be made again: learner" in " ".join(
        said("replay", status=1).split()
    )


BY_STATE = """
import grbp
def finish_below(goal, constants, n, key):
    'Finish in the first two states.'
    return 0b011
learner = grbp.StateLearner("finish-below", finish_below)
"""


def test_an_own_learner_by_state_is_named_by_its_path(
    said: Shell, answer: Callable[..., dict[str, Any]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("own_learner_by_state.py").write_text(BY_STATE, "utf-8")
    named = ("--learner", "own_learner_by_state:learner", "--memory", 50, "--groups", "north,south")
    begun(said, *named)
    opened = said("open", "--state", 2, "--group", "south")
    assert opened.startswith("Case 1 (south) is in state 2: finish")
    said("tell", "--case", 1, "--state", 4)
    assert said("open", "--state", 3, "--group", "north").startswith("Case 2 (north) is in state 3")
    status = answer("status")
    assert (status["model"], status["memory"]) == ("state", 50.0)
    assert status["learner"] == "own_learner_by_state:learner:memory=50"
    assert "each state has its own chances" in " ".join(said("status").split())
    assert "2 decisions made again" in said("replay")
    said("export", "--out", "log")
    assert "2 decisions made again" in said("replay", "log")
    said("import", "log", "--store", "other.sqlite")
    assert "Case 3 (north)" in said(
        "open", "--state", 1, "--group", "north", "--store", "other.sqlite"
    )


def test_wide_numbers_keep_their_columns(said: Shell) -> None:
    begun(said)
    said("init", "--study", "large", "--goal", 10**7)
    said("open", "--study", "large", "--state", 10**7 - 1)
    head, row, *_ = said("cases", "--study", "large").splitlines()
    for name, cell in {
        "state": "9,999,999",
        "status": "in progress",
        "advised": "continue",
    }.items():
        assert row[head.index(name) :].startswith(f"{cell}  ")


def test_status_at_a_glance(said: Shell) -> None:
    begun(said)
    out = said("status")
    assert out.startswith("Study ward: from the dead end to the goal (4).\n")
    assert "There is no case yet." in out
    said("open", "--state", 1)
    said("open", "--state", 1)
    said("tell", "--case", 1, "--state", 4)
    said("tell", "--case", 2, "--state", 2, "--took", "continue", "--why", "so")
    out = said("status")
    assert "2 cases: 1 in progress, 1 won, 0 lost, 0 withdrawn.\n" in out
    assert re.search(r"Continuing moved up +1 of 1 +100.0 % +\S+ to 100.0 %\n", out)
    assert "In state 1, finishing seems better, but that is not certain yet." in out
    assert not re.search("p_C|p_F|CONTINUE|FINISH|threshold|doorstep|seed|head", out)
    plain, out = out, said("status", "--details")
    assert out.startswith(f"{plain}\nFor statisticians:\nLearner doorstep-optimal (grbp ")
    assert re.search(r"p_C, CONTINUE moves up +1\.000 +\S+ to 1\.000 +1\n", out)
    assert re.search(r"Probability that p_F >= B\(p_C\) +0\.\d{3}\n", out)
    with grbp.Study(STORE) as study:
        assert f"5 events, head {study.status().head[:16]}.\n" in out


def test_lists_and_pages_of_them(said: Shell, answer: Callable[..., dict[str, Any]]) -> None:
    begun(said)
    assert said("cases") == "There is no such case.\n"
    for state in (1, 2, 3, 2):
        said("open", "--state", state, "--who", "a nurse with a long and hyphen-ated name")
    said("withdraw", "--case", 2, "--why", "one reason, and another, " * 12 + "and so on")
    cases = answer("cases", "--status", "open", "--after", 1, "--limit", 1)["cases"]
    assert [one["case"] for one in cases] == [3]
    assert " ".join(said("cases", "--limit", 2).split()).endswith("There may be more: --after 2.")
    assert "There may be more" not in said("cases")
    events = answer("log", "--case", 2)["events"]
    assert [one["kind"] for one in events] == ["open", "close"]
    assert answer("log", "--after", 5)["events"][0]["request"]["case"] == 2
    assert said("log", "--after", 99) == "There is no such entry.\n"
    assert "one reason," in said("log", "--case", 2)


def test_the_log_says_who_did_what_and_why(said: Shell) -> None:
    begun(said, "--window", "finish=30")
    said("open", "--state", 1, "--who", "ada", "--observed", "2020-02-03T04:05+00:00")
    said("tell", "--case", 1, "--state", 2, "--took", "continue", "--why", "he asked")
    said("void", "--case", 1, "--why", "a slip", "--who", "bob")
    said("open", "--state", 1)
    said("tell", "--case", 2, "--state", 4)
    said("tell", "--case", 1, "--state", 4)
    words = " ".join(said("log").split())
    assert "1 ada Opened in state 1; finish in state 1, continue above. Observed 2020-" in words
    assert "state 2. Finishing was advised. Taken back. Reason: he asked" in words
    assert "1 bob Step 1 was taken back. Reason: a slip" in words
    assert "Step 1: finishing led from state 1 to the goal (4). Does not count yet." in words
    row = " ".join(said("cases").splitlines()[2].split())
    assert row.startswith("2 4 won 1, 1 not counted yet 20")


def test_times_are_those_of_the_user_and_the_zone_is_said(tmp_path: Path) -> None:
    store = tmp_path / "zones.sqlite"
    grbp.Study.create(store, "ward", 4).open_case(2, observed="2026-07-01T12:00+00:00")
    for zone, hour, name in (("UTC", "12:00", "UTC"), ("XYZ-5:30", "17:30", "XYZ")):
        done = run("cases", "--store", str(store), TZ=zone)
        assert f"2026-07-01 {hour}\n" in done.stdout
        assert f"\nTimes are in {name}, and say since when" in done.stdout


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grbp", "live", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip


def test_a_problem_is_named_and_the_exit_status_says_so(
    said: Shell, answer: Callable[..., dict[str, Any]]
) -> None:
    import apsw  # noqa: PLC0415 (optional)

    begun(said)
    said("open", "--state", 2)
    said("tell", "--case", 1, "--state", 3)
    connection = apsw.Connection(STORE)
    connection.execute("update events set who = 'eve' where id % (1 << 40) = 2")
    connection.close()
    found = answer("verify", status=1)
    assert not found["ok"]
    assert any("event 2 was changed" in problem for problem in found["problems"])
    out = said("verify", status=1)
    assert out.startswith("Problems were found in 3 events:\n")
    assert "event 2 was changed: its hash does not match its content" in " ".join(out.split())
    assert said("replay", status=1).startswith("Problems were found in 3 events")


def test_a_file_that_sqlite_cannot_read_any_more_is_a_problem_that_is_named(
    said: Shell, answer: Callable[..., dict[str, Any]]
) -> None:
    begun(said)
    with grbp.Study(STORE) as study:
        for k in range(60):
            study.open_case(2, who=f"number {k}")
    data = bytearray(Path(STORE).read_bytes())
    page = data.index(b"number 30") // 4096 * 4096
    data[page : page + 4096] = bytes(4096)
    Path(STORE).write_bytes(data)
    found = answer("verify", status=1)
    assert (
        f"{STORE} cannot be read or written (it is damaged); restore a backup" in found["problems"]
    )
    assert any("SQLite says of the file: " in problem for problem in found["problems"])
    assert said("verify", status=1).startswith("Problems were found in ")


def test_what_is_damaged_is_listed_all_the_same(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    import apsw  # noqa: PLC0415 (optional)

    begun(said)
    said("open", "--state", 2)
    said("open", "--state", 3)
    said("open", "--state", 3)
    connection = apsw.Connection(STORE)
    connection.execute(
        "update events set response = '{', recorded = '2026-1x' where id % (1 << 40) = 2"
    )
    connection.execute("update cases set since = 'never'")
    connection.execute("delete from events where id % (1 << 40) = 3")
    connection.close()
    words = said("log")
    assert "This entry is damaged: verify the study." in " ".join(words.split())
    assert "2026-1x  " in words
    # Nobody can say whether it is in shadow mode, so nothing is shown that might be hidden.
    assert answer("log")["events"][1]["response"] == ""
    assert "does not follow from the log" in refused("cases")
    assert said("verify", status=1)
    assert "damaged after event 2 of 4; verify it" in refused("export", "--out", "log.jsonl")


def test_a_study_goes_elsewhere_and_comes_back(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    begun(said)
    said("open", "--state", 2)
    said("tell", "--case", 1, "--state", 1)
    head = answer("verify")["head"]
    log = said("export")
    assert len(log.splitlines()) == 4
    assert said("export", "--out", "log.jsonl", "--steps", "steps.csv") == "log.jsonl\nsteps.csv\n"
    assert Path("log.jsonl").read_text("utf-8") == log
    assert [line.split(",")[:5] for line in Path("steps.csv").read_text("utf-8").splitlines()] == [
        ["case", "step", "state", "action", "next_state"], ["1", "1", "2", "continue", "1"],
    ]  # fmt: skip
    assert said("export", "--steps", "again.csv") == "again.csv\n"
    # A later log of the same study replaces this one; a table that may be records is not replaced.
    assert said("export", "--out", "log.jsonl") == "log.jsonl\n"
    assert "may be somebody's records" in refused("export", "--steps", "again.csv")
    assert "not an export of this study" in refused("export", "--out", "again.csv")
    assert said("export", "--steps", "again.csv", "--force") == "again.csv\n"
    said("init", "--study", "other", "--goal", 4)
    assert "not an export of this" in refused("export", "--study", "other", "--out", "log.jsonl")
    said("archive", "--study", "other", "--why", "done")
    assert answer("export", "--out", "more.jsonl") == {"log": "more.jsonl", "steps": None}
    Path(STORE).rename("away.sqlite")
    played = answer("replay", "log.jsonl")
    assert (played["ok"], played["head"], played["decisions"]) == (True, head, 1)
    assert not Path(STORE).exists()
    brought = answer("import", "log.jsonl")
    assert (brought["study"], brought["head"]) == ("ward", head)
    assert "the store has one already" in refused("import", "log.jsonl")
    assert said("backup", "copy.sqlite") == "copy.sqlite\n"
    assert answer("verify", "--store", "copy.sqlite")["head"] == head
    assert "it exists already: name a new file" in refused("backup", "copy.sqlite")
    assert answer("backup", "other.sqlite") == {"backup": "other.sqlite"}


def test_an_export_that_was_changed_is_found(said: Shell, refused: Shell) -> None:
    begun(said)
    said("open", "--state", 2)
    said("open", "--state", 1)
    lines = said("export").splitlines(keepends=True)
    Path("short.jsonl").write_text("".join(lines[:-1]), "utf-8")
    assert "it is incomplete" in refused("replay", "short.jsonl")
    forged = lines[2].replace('"who":"', '"who":"not ')
    Path("forged.jsonl").write_text("".join([*lines[:2], forged, lines[3]]), "utf-8")
    assert "event 2 was changed" in said("replay", "forged.jsonl", status=1)
    assert "event 2 was changed" in refused("import", "forged.jsonl", "--store", "new")
    assert "is not an exported study" in refused("replay", _written("x.jsonl", "{}\n"))
    assert "not an export" in refused("import", _written("y.jsonl", "case,step\n"))
    assert "cannot be read" in refused("replay", "none.jsonl")


def _written(name: str, text: str) -> str:
    Path(name).write_text(text, "utf-8")
    return name


def test_a_store_is_named_in_three_ways(
    said: Shell,
    answer: Callable[..., dict[str, Any]],
    refused: Shell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun(said)
    assert Path(STORE).exists()
    monkeypatch.setenv("GRBP_STORE", "else.sqlite")
    assert "there is no store else.sqlite; `grbp live init` makes one" in refused("status")
    said("init", "--study", "other", "--goal", 5)
    assert answer("status")["study"] == "other"
    assert answer("status", "--store", STORE)["study"] == "ward"
    assert "it must be a file or a database" in refused("status", "--store", "memory")


def test_one_of_several_studies_must_be_named(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    begun(said)
    said("init", "--study", "clinic", "--goal", 3)
    assert "it has 'clinic', 'ward': name one" in refused("status")
    assert said("studies") == "clinic\nward\n"
    assert answer("studies") == {"studies": ["clinic", "ward"]} == {"studies": names(STORE)}
    assert answer("open", "--study", "clinic", "--state", 2)["study"] == "clinic"
    assert "the study 'wrad' was asked for" in refused("cases", "--study", "wrad")
    assert said("backup", "both.sqlite") == "both.sqlite\n"
    assert answer("status", "--store", "both.sqlite", "--study", "ward")["events"] == 1


def test_a_study_is_made_once(said: Shell, refused: Shell) -> None:
    begun(said)
    begun(said, "--seed", 5)
    said("open", "--state", 2)
    begun(said, "--seed", 5)
    assert "it is locked: it already has cases" in refused("init", "--study", "ward", "--goal", 4)


def test_an_archived_study_is_left_out_and_kept(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    begun(said)
    said("open", "--state", 2)
    said("init", "--study", "other", "--goal", 4)
    assert answer("archive", "--study", "ward", "--why", "it was a trial")["archived"]
    assert answer("studies") == {"studies": ["other"]}
    assert answer("studies", "--all") == {"studies": ["other", "ward"]}
    assert answer("status")["study"] == "other"  # It is the only one left.
    assert "ARCHIVED on 20" in said("status", "--study", "ward")
    words = " ".join(said("log", "--study", "ward").split())
    assert "The study was archived: it takes no more entries. Reason: it was a trial" in words
    for entry in (("open", "--state", 2), ("tell", "--case", 1, "--state", 3)):
        assert "`grbp live unarchive` opens it again" in refused(*entry, "--study", "ward")
    assert answer("verify", "--study", "ward")["ok"]
    assert answer("unarchive", "--study", "ward", "--why", "it goes on")["archived"] is None
    assert answer("tell", "--study", "ward", "--case", 1, "--state", 3)["step"] == 1
    assert "it is not archived" in refused("unarchive", "--study", "ward", "--why", "so")


def test_the_same_is_recorded_once(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    answer("init", "--study", "ward", "--goal", 4)
    opened = ("open", "--state", 2, "--key", "bed 7")
    first = answer(*opened)
    assert (first["replayed"], answer(*opened)) == (False, first | {"replayed": True})
    told = ("tell", "--case", 1, "--state", 3, "--step", 1)
    assert answer(*told)["event"] == answer(*told)["event"]
    before = "This was recorded before, as entry {}; nothing was recorded now.\n"
    assert before.format(2) in said(*opened)
    assert before.format(3) in said(*told)
    assert "already recorded step 1 of case 1" in refused(
        "tell", "--case", 1, "--state", 1, "--step", 1
    )
    assert "give a new key, such as a UUID" in refused("open", "--state", 1, "--key", "bed 7")
    assert answer("status")["events"] == 3


MISTAKES = [
    (["opne"], "the verb 'opne' was given; did you mean 'open'?"),
    (["init", "--goal", 4], "required: --study (see grbp live init --help)"),
    (["init", "--study", "x"], "no --goal was given; it must be the state that wins a case"),
    (["init", "--study", "x", "--goal", 1], "goal = 1 was given"),
    (["init", "--study", " x", "--goal", 4], "name = ' x' was given"),
    (["init", "--study", "x", "--goal", 4, "--learner", "getbee-sm"], "did you mean 'getbe-sm'?"),
    (["init", "--study", "x", "--goal", 4, "--start", "drwan"], "did you mean 'drawn'?"),
    (["init", "--study", "x", "--goal", 4, "--start", "first", "--records", "y"], "in one way"),
    (["init", "--study", "x", "--goal", 4, "--records", "none.csv"], "none.csv"),
    (["init", "--study", "x", "--goal", 4, "--columns", "case=id"], "they need --records"),
    (["init", "--study", "x", "--goal", 4, "--window", "finish"], "pairs such as finish=30"),
    (["init", "--study", "x", "--goal", 4, "--window", "end=3"], "a window for 'end' was given"),
    (["init", "--study", "x", "--goal", 4, "--window", "finish=-3"], "the window for finish"),
    (["init", "--study", "x", "--goal", 4, "--cases", "many"], "cases = 'many' was given"),
    (["init", "--study", "x", "--goal", 4, "--cases", "2.5"], "cases = '2.5' was given"),
    (["init", "--study", "x", "--goal", 4, "--cases", "-3"], "cases = -3 was given"),
    (["init", "--study", "x", "--goal", 4, "--level", "2"], "level = 2"),
    (["init", "--study", "x", "--goal", 4, "--seed", "pi"], "seed = 'pi' was given"),
    (["open"], "required: --state"),
    (["open", "--state", 4], "state = 4 was given"),
    (["open", "--state", "low"], "state = 'low' was given"),
    (["open", "--state", 2, "--who", "a\nb"], "who = 'a\\nb' was given"),
    (["open", "--state", 2, "--observed", "soon"], "observed = soon was given"),
    (
        ["open", "--state", 2, "--observed", "2999-01-01"],
        "it must not be in the future, and now it is 20",
    ),
    (["ask", "--case", 9], "case 9 was asked for; the study has cases 1 to 1"),
    (["ask", "--case", "first"], "case = 'first' was given"),
    (["tell", "--case", 1, "--state", 2], "it must be state 1 or 3"),
    (["tell", "--case", 1, "--state", 4], "if it was finishing instead, tell that and why"),
    (["tell", "--case", 1, "--state", 4, "--took", "finish"], "also tell why"),
    (["tell", "--case", 1, "--state", 4, "--took", "finsih"], "did you mean 'finish'?"),
    (["tell", "--case", 1, "--state", 3, "--step", 5], "the next step is 1"),
    (["tell", "--case", 1, "--state", 3, "--stpe", 5], "did you mean '--step'?"),
    (["void", "--case", 1], "required: --why"),
    (["void", "--case", 1, "--why", "slip"], "there is none yet"),
    (["withdraw", "--case", 1, "--why", ""], "why = '' was given"),
    (["cases", "--status", "opened"], "did you mean 'open'?"),
    (["cases", "--limit", 0], "limit = 0 was given"),
    (["log", "--after", "x"], "after = 'x' was given"),
    (["export", "--json"], "it needs a file to write to"),
    (["export", "--out", "-"], "it must name a file"),
    (["export", "--out", "/dev/null/x"], "cannot be"),
    (["export", "--out", "one", "--steps", "one"], "they must name two"),
    (["export", "--out", "one", "--steps", "./one"], "they must name two"),
    (["export", "--out", STORE], "it is also read"),
    (
        ["replay", "log.jsonl", "--study", "ward"],
        "--study was given; the export log.jsonl needs none",
    ),
    (["backup", "cases.csv/copy"], "cannot be written (Not a directory)"),
    (["import", "cases.csv", "--store", "new.sqlite"], "or the file is not an export"),
    (["status", "--store", ""], "the store '' was given"),
    (["init", "--study", "x", "--goal", 4, "--store", "sqlite:///x.db"], "neither a file nor"),
    (["init", "--study", "x", "--goal", 4, "--store", "host=a dbname=b"], "neither a file nor"),
    (["status", "--store", "."], "it must end with a file name"),
    (["status", "--store", "../"], "it is a folder"),
    (["status", "--store", "cases.csv"], "it is not a SQLite file"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence_and_changes_nothing(
    said: Shell,
    answer: Callable[..., dict[str, Any]],
    refused: Shell,
    arguments: list[object],
    sentence: str,
) -> None:
    begun(said)
    said("open", "--state", 2)
    Path("cases.csv").write_text("case,step,state,action,next_state\n" * 99, "utf-8")
    before, files = answer("verify"), sorted(Path().rglob("*"))
    assert sentence in refused(*arguments)
    assert answer("verify") == before
    assert sorted(Path().rglob("*")) == files
    with pytest.raises(grbp.InvalidInput):
        grbp.Study(STORE, "x")


def test_help_has_two_levels_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["live", "--help"])
    out = capsys.readouterr().out
    assert re.findall(r"^    ([a-z]+) ", out, re.M) == VERBS
    for verb in VERBS:
        with pytest.raises(SystemExit):
            main(["live", verb, "--help"])
        out = capsys.readouterr().out
        assert out.startswith(f"usage: grbp live {verb} [-h]")
        assert "--json" in out
        assert "--store" in out
        assert max(map(len, out.splitlines())) <= 80


def test_completion_knows_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    optional("shtab")
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    script = capsys.readouterr().out
    (verbs,) = re.findall(r"^_shtab_grbp_live_subparsers=\((.*)\)", script, re.M)
    assert re.findall(r"[a-z]+", verbs) == VERBS
    (options,) = re.findall(r"^_shtab_grbp_live_tell_option_strings=\((.*)\)", script, re.M)
    assert {"--case", "--state", "--took", "--why", "--step", "--key", "--quiet"} <= set(
        re.findall(r"--[a-z]+", options)
    )
    assert re.search(r"^_shtab_grbp_live_init___learner_choices=\(.*getbe-sm", script, re.M)


HEAVY = {"numba", "matplotlib", "pandas", "scipy", "gymnasium", "tqdm", "jinja2"}


@pytest.mark.parametrize("arguments", [["status"], ["open", "--state", "2"], ["verify"]])
def test_a_verb_loads_little(said: Shell, arguments: list[str]) -> None:
    begun(said)
    code = (
        "import sys\nfrom grbp.cli import main\nassert main(['live', *sys.argv[1:], '--json']) == 0"
    )
    loaded = loaded_by(code, *arguments)
    assert not loaded & HEAVY
    assert not loaded & {
        f"grbp.{name}" for name in ("engine", "experiments", "fitting.fit", "figures")
    }
    assert others(loaded) <= {"grbp", "numpy", "apsw"}


@pytest.mark.slow
def test_in_a_process_of_its_own() -> None:
    assert run("init", "--study", "ward", "--goal", "4", "--quiet").returncode == 0
    done = run("open", "--state", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["action"] == "continue"
    done = run("open", "--state", "7", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "grbp: state = 7 was given; it must be a whole number from 1 to 3\n"
    assert run("verify").returncode == 0


def test_a_study_by_state_with_groups_begins_from_another_by_one_command(
    said: Shell, answer: Callable[..., dict[str, Any]], refused: Shell
) -> None:
    said("init", "--study", "old", "--goal", 4, "--seed", 7)
    said("open", "--state", 2)
    said("tell", "--case", 1, "--state", 3, "--took", "continue", "--why", "so")
    made = said(
        "init", "--study", "new", "--from", "old", "--model", "state", "--groups", "north, south",
        "--memory", 500,
    )  # fmt: skip
    assert "Study new: from the dead end to the goal (4)." in made
    assert "Groups, each with counts of its own: north, south." in made
    kept = answer("status", "--study", "new")
    assert (kept["model"], kept["memory"], kept["start"]) == ("state", 500.0, "records")
    assert (kept["groups"], list(kept["by_group"])) == (["north", "south"], ["north", "south"])
    assert (kept["alarms"], kept["next_threshold"]) == ([], None)
    named = ("--study", "new", "--state", 2)
    assert "without its group; it must be one of north, south" in refused("open", *named)
    shown = said("open", *named, "--group", "south")
    assert shown.startswith("Case 1 (south) is in state 2:")
    assert "Older cases count in part" in shown
    assert said("cases", "--study", "new").splitlines()[1].endswith("  south")
    assert "of group south; " in " ".join(said("log", "--study", "new").split())
    assert "All is well" in said("replay", "--study", "new")
    other = ("init", "--study", "x", "--from", "old")
    assert "--start and --from were given" in refused(*other, "--start", "first")
    assert "a study with another goal was given" in refused(*other, "--goal", 5, "--model", "state")


def test_an_alarm_stands_on_every_advice(said: Shell) -> None:
    said("init", "--study", "x", "--goal", 3, "--learner", "threshold-0")
    with grbp.Study(STORE) as study:
        for case in range(1, 61):
            state = 1 + case % 2
            study.open_case(state)
            study.tell(case, 0 if state == 1 else 3)
    told = " ".join(said("open", "--state", 1).split())
    assert "WARNING: The advice assumes one chance for all states" in told
    warning = "WARNING: The chance that continuing moves up differs from state to state"
    assert warning in said("status")
    assert "Alarm p_C by state: evidence " in said("status", "--details")
