"""Records on the shell: an answer for a person or a program, or one sentence that refuses."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from html_page import Page
from paths import columns_of
from runs import without_notes

import grbp
from grbp._io import table_text
from grbp.cli import main

KEYS = {
    "rows", "cases", "open", "dropped", "stays", "jumps", "p_c", "p_f", "boundary",
    "probability_threshold_1", "decision", "reason", "ways", "tests", "by_state", "by_group",
}  # fmt: skip
TESTED = {
    "assumption", "test", "statistic", "p", "p_holm", "effect", "changes_answer", "possible",
}  # fmt: skip
INTERVALS = ("wilson", "jeffreys", "clopper_pearson", "anytime")
COUNTED = "state,action,next_state,count"


def text_of(table: Any) -> str:
    columns = {name: ["" if cell is None else cell for cell in table[name]] for name in table}
    return table_text([*columns], zip(*columns.values(), strict=True))


def written(folder: Path, text: str) -> str:
    path = folder / "cases.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> str:
    return written(tmp_path, text_of(grbp.example_records(cases=60, seed=1)))


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["fit", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert without_notes(err) == ""
    assert max(map(len, out.splitlines())) <= 80 or "--json" in arguments
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    try:
        status = main(["fit", *map(str, arguments)])
    except SystemExit as end:  # what the parser itself refuses
        status = int(str(end.code))
    assert status == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grbp: ")
    assert "Traceback" not in err
    return err


def check_answer(answer: dict[str, Any]) -> None:
    """Check that an answer has every key, and numbers that make sense."""
    assert answer.keys() >= KEYS
    assert answer["open"].keys() == {"empty_next", "no_row"}
    assert answer["ways"].keys() == {"boundary", "general", "direct"}
    one = answer["probability_threshold_1"]
    assert (one is None) == (answer["decision"] == "none")
    assert one is None or 0.0 <= one <= 1.0
    assert (answer["reason"] is None) == answer["decision"].startswith("threshold")
    names = ("boundary", "difference", "gain", "practice", "value_0", "value_1")
    for number in [*answer["ways"].values(), *(answer[name] for name in names)]:
        assert number is None or number["low"] <= number["estimate"] <= number["high"]
    for name, successes in (("p_c", "ups"), ("p_f", "wins")):
        share = answer[name]
        if share is not None:
            assert share.keys() == {
                successes, "tries", "estimate", *INTERVALS, "effective", "by_case"
            }  # fmt: skip
            ends = [end for interval in INTERVALS for end in share[interval]]
            assert 0.0 <= min(ends) <= max(ends) <= 1.0
        if share is not None and share["tries"]:
            for interval in ("wilson", "clopper_pearson", "anytime"):
                low, high = share[interval]
                assert low - 1e-12 <= share["estimate"] <= high + 1e-12
    for test in answer["tests"]:
        assert test.keys() >= TESTED
        assert test["possible"] == (test["p"] is not None)
        assert test["p"] is None or 0.0 <= test["p"] <= test["p_holm"] <= 1.0
    for row in answer["by_state"]:
        keys = {"state", "c", "c_up", "f", "f_goal", "action", "probability"}
        assert row.keys() >= keys
        assert (row["probability"] is None) == (row["action"] == "unknown")
    for group in answer["by_group"].values():
        check_answer(group)


def answered(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    out = said(capsys, *arguments, "--json")
    assert out.count("\n") == 1
    answer: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    check_answer(answer)
    return answer


def test_json_is_what_the_library_says(capsys: pytest.CaptureFixture[str], table: str) -> None:
    answer = answered(capsys, table, "--goal", 4)
    expected = grbp.fit(table, goal=4)
    assert answer == json.loads(json.dumps(expected.to_dict()))
    assert said(capsys, table, "--goal", 4) == expected.summary() + "\n"


def test_the_answer_is_in_the_words_of_the_table_and_its_tables_name_the_symbols(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "cases.csv"
    words = ["dead", "severe", "moderate", "mild", "home"]
    rows = [
        f"{case},{words[state]},{('medication', 'surgery')[action]},{words[after]}"
        for case, state, action, after in [(1, 1, 1, 4), (2, 1, 1, 0), (3, 2, 0, 1), (3, 1, 1, 4)]
    ]
    table.write_text("\n".join(["case,state,action,next_state", *rows]))
    states = ",".join(f"{word}={state}" for state, word in enumerate(words))
    options = ["--map-state", states, "--map-action", "medication=continue,surgery=finish"]
    assert main(["fit", str(table), "--goal", "4", *options]) == 0
    answer, _, rest = capsys.readouterr().out.partition("For statisticians:")
    assert "surgery" in answer.lower()
    assert not re.search(r"CONTINUE|FINISH|[Ff]inish|threshold|p_[CF]|state 1", answer)
    named = " ".join(rest.partition("\n\n")[0].split())
    assert named == (
        "CONTINUE is medication, FINISH is surgery, state 0 is dead, state 1 is severe,"
        " state 2 is moderate, state 4 is home."
    )


def test_every_choice_reaches_the_library(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = grbp.example_records("groups", cases=80, seed=3)
    names = {"case": "id", "step": "visit", "state": "level", "next_state": "after"}
    words = {1: "severe", 2: "2", 3: "mild"}
    own: dict[str, list[Any]] = {names.get(name, name): list(records[name]) for name in records}
    own["level"] = [words[int(state)] for state in own["level"]]
    own["after"] = [words.get(int(state), str(state)) for state in own["after"]]
    own["action"] = ["stop" if action == 1 else "punt" for action in own["action"]]
    group = next(name for name in own if name not in {*names.values(), "action"})
    answer = answered(
        capsys, written(tmp_path, text_of(own)), "--goal", 4,
        "--columns", "case=id,step=visit", "--columns", "state=level,next_state=after",
        "--map-state", "severe=1", "--map-state", "mild=3",
        "--map-action", "stop=finish,punt=continue",
        "--group", group, "--adaptive", "--level", ".9",
    )  # fmt: skip
    expected = grbp.fit(records, 4, group=group, adaptive=True, level=0.9)
    # But for its words, the table is the one that was drawn.
    own_words = {
        "states": ["", "severe", "", "mild", ""],
        "actions": ["punt", "stop"],
        "case": ["case", "cases"],
    }
    for one in (answer, *answer["by_group"].values()):
        assert one["labels"] == own_words
        one["labels"] = json.loads(json.dumps(expected.to_dict()["labels"]))
    assert answer == json.loads(json.dumps(expected.to_dict()))
    assert len(answer["by_group"]) > 1


def test_standard_input_is_read(
    capsys: pytest.CaptureFixture[str], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answered(capsys, table, "--goal", 4)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(table).read_bytes())))
    assert answered(capsys, "-", "--goal", 4) == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert "there is no standard input" in refused(capsys, "-", "--goal", 4)


def test_a_page_is_written_beside_the_answer(
    capsys: pytest.CaptureFixture[str], table: str, tmp_path: Path
) -> None:
    path = tmp_path / "fit.html"
    assert main(["fit", table, "--goal", "4", "--json", "--report", str(path)]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert f"wrote {path}" in err
    page = Page(path.read_text("utf-8"))
    lead, rest = answer["sentence"].split(". ", 1)
    texts = [e.text.replace("\u00a0", " ") for e in page.elements]
    assert {f"{lead}.", rest} <= {*texts}


def test_a_page_that_cannot_be_written_is_refused_before_the_table_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = refused(capsys, tmp_path / "none.csv", "--goal", 4, "--report", tmp_path)
    assert "cannot be written" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--goal", "1"], "goal = 1 was given"),
        (["--goal", "10001"], "from 2 to 10,000"),
        (["--goal", "10000000"], "from 2 to 10,000"),
        (["--goal", "four"], "goal = 'four' was given"),
        (["--goal", "3"], "state 3 is an end"),
        (["--goal", "4", "--columns", "case=id"], "there is no column 'id'"),
        (["--goal", "4", "--columns", "cas=case"], "did you mean 'case'"),
        (["--goal", "4", "--columns", "case"], "pairs such as"),
        (["--goal", "4", "--columns", "case=step"], "read as case and as step"),
        (["--goal", "4", "--columns", "case=case", "--columns", "case=step"], "'case' twice"),
        (["--goal", "4", "--map-state", "mild=9"], "whole number from 0 to 4"),
        (["--goal", "4", "--map-state", "mild=much"], "map_state['mild'] = 'much'"),
        (["--goal", "4", "--map-action", "punt=jump"], "continue or finish"),
        (["--goal", "4", "--group", "ward"], "there is no column 'ward'"),
        (["--goal", "4", "--group", "case", "--group", "case"], "each column once"),
        (["--goal", "4", "--level", "0"], "between 0 and 1"),
        (["--goal", "4", "--level", "1"], "between 0 and 1"),
        (["--goal", "4", "--level", "sure"], "level = 'sure'"),
        (["--goal", "4", "--level", ".4"], "from 0.5 to 0.9999"),
        (["--goal", "4", "--level", "0.9999999999999999"], "from 0.5 to 0.9999"),
        ([], "--goal"),
    ],
)
def test_what_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], table: str, arguments: Sequence[str], words: str
) -> None:
    assert words in refused(capsys, table, *arguments)


def test_what_is_no_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv", "x" * 5000):
        told = refused(capsys, path, "--goal", 4)
        assert "cannot be read" in told
        assert len(told) < 500


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the table is empty"),
        ("case,step,state,action,next_state\n", "has no rows"),
        (f"{COUNTED}\n1,c,2,0\n", "every count of the table is 0"),
        (f"{COUNTED}\n1,c,2,{10**13}\n", "from 0 to 1,000,000,000,000"),
        (f"{COUNTED}\n1,c,2,{10**19}\n", "from 0 to 1,000,000,000,000"),
        (f"{COUNTED}\n" + f"1,c,2,{10**12}\n" * 1001, "the counts add up to more than"),
        ("x" * (1 << 24), "is this a table in CSV"),
    ],
)
def test_what_is_no_table_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str
) -> None:
    assert words in refused(capsys, written(tmp_path, text), "--goal", 4)


def test_more_groups_than_anybody_reads_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A column of cases as the group would be fitted ten thousand times."""
    path = written(tmp_path, text_of(columns_of(["1c0"] * 10_000)))
    told = refused(capsys, path, "--goal", 4, "--group", "case")
    assert "makes 10,000 groups of cases; at most 200" in told


def test_a_conflict_is_told_or_skipped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    head, both = "case,step,state,action,next_state\n", "1,1,1,c,2\n1,1,1,c,0\n"
    path = written(tmp_path, head + both)
    assert "line 3, column step: " in refused(capsys, path, "--goal", 4)
    assert "no row is left" in refused(capsys, path, "--goal", 4, "--skip-bad-rows")
    path = written(tmp_path, head + both + "2,1,1,c,0\n")
    answer = answered(capsys, path, "--goal", 4, "--skip-bad-rows")
    assert answer["dropped"] == {"conflict": 1, "rest-of-case": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "paths"),
    [
        (4, ["1c2"]),
        (4, ["1f4"]),
        (4, ["1c"]),
        (4, ["2c3c2c1f4"]),
        (2, ["1c2", "1c0", "1f2"]),
        (3, ["1c2c3", "2c1c0", "1f3", "1f0"] * 5),
        (4, ["1f4", "2f0", "3f4"] * 9),
        (4, ["2c2"] * 9),
        (4, ["2c4", "2c0", "1f4"] * 9),
        (4, ["1c0"] * 40 + ["3c4"] * 3 + ["1f0"] * 40),
        (4, ["2c1", "2c3", "1f", "3c"] * 5),
        (1000, ["1c2", "1c0", "999c1000", "999c998", "1f1000", "1f0"] * 5),
    ],
)
def test_odd_tables_have_an_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, goal: int, paths: list[str]
) -> None:
    path = written(tmp_path, text_of(columns_of(paths)))
    answer = answered(capsys, path, "--goal", goal)
    assert len(answer["by_state"]) == goal - 1
    said(capsys, path, "--goal", goal)


def test_huge_counts_stay_in_their_columns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = ("1,c,2", "1,c,0", "2,c,3", "2,c,1", "3,c,4", "3,c,2", "1,f,4", "1,f,0")
    path = written(tmp_path, f"{COUNTED}\n" + "".join(f"{row},{10**12}\n" for row in rows))
    answer = answered(capsys, path, "--goal", 4)
    assert answer["p_c"]["tries"] == 6 * 10**12
    assert "2e+12    1e+12     2e+12    1e+12" in said(capsys, path, "--goal", 4)


def test_only_a_page_needs_matplotlib(table: str) -> None:
    code = (
        "import sys; from grbp.cli import main;"
        f"main(['fit', {table!r}, '--goal', '4']);"
        "print({'matplotlib', 'numba', 'jinja2'} & {*sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.endswith("\nset()\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_the_options(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", shell])
    script = capsys.readouterr().out
    assert "skip-bad-rows" in script
    assert "map-action" in script


@pytest.mark.slow
def test_a_page_is_written_though_nobody_reads_the_text(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "grbp", "fit", "-", "--goal", "4", "--report", str(page)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdout.close()
        running.stdin.write(
            b"case,step,state,action,next_state\n1,1,2,c,3\n1,2,3,c,4\n2,1,1,f,0\n3,1,1,c,0\n"
        )
        running.stdin.close()
        running.wait()
    assert "</html>" in page.read_text("utf-8")


def test_a_prior_is_given_as_two_numbers(capsys: pytest.CaptureFixture[str], table: str) -> None:
    answer = answered(capsys, table, "--goal", 4, "--prior-f", "2,3.5", "--prior-c", "1,1")
    expected = grbp.fit(table, goal=4, prior_f=(2, 3.5), prior_c=(1, 1))
    assert answer == json.loads(json.dumps(expected.to_dict()))
    for given in ("2", "2,x", "0,1", "1,2,3", "inf,1", ""):
        said_no = refused(capsys, table, "--goal", 4, "--prior-f", given)
        assert "it must be two positive numbers" in said_no
        assert said_no.count("\n") == 1


def test_the_page_says_when_and_how_it_was_made(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    page = tmp_path / "page.html"
    pages = []
    for _ in range(2):
        assert main(["fit", table, "--goal", "4", "--report", str(page)]) == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]
    told = [e.text for e in Page(pages[0].decode()).all("dd")]
    assert "2023-11-14 22:13 UTC" in told
    assert f"grbp fit {table} --goal 4 --report {page}" in told
