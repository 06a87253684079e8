"""The shell command: what it says to a person, to a program, and to a mistake."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import grbp
from grbp import Problem
from grbp.cli import main
from grbp.cli.options import parse_whole

COMMANDS = ["solve", "export", "learners", "simulate", "sweep", "reproduce"]
ASKED = ["--goal", "4", "--p-c", "0.45", "--p-f", "0.3"]


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a shell would start it."""
    return subprocess.run(
        [sys.executable, "-m", "grbp", *arguments],
        capture_output=True, text=True, check=False, cwd=cwd,
    )  # fmt: skip


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    said: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return said


def test_solve_says_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "solve", *ASKED)
    problem = Problem(4, 0.45, 0.3)
    assert said["boundary"] == pytest.approx(0.180445544554, abs=1e-12)
    assert said["optimal_threshold"] == 1
    assert said["region"] == "no-exploration"
    assert said["values"]["0"] == grbp.value_at(problem, 0).tolist()
    assert said["values"]["optimal"] == said["values"]["1"]
    assert set(said["value"]) == {"0", "1", "finish-now", "optimal"}
    assert said["gap"] == pytest.approx(said["value"]["1"] - said["value"]["0"])
    assert said["slots"]["1"] == grbp.expected_slots(problem, 1)
    assert said["margin"] == grbp.margin(problem)
    assert (said["goal"], said["p_c"], said["p_f"]) == (4, 0.45, 0.3)


@pytest.mark.parametrize(
    ("text", "start"),
    [("uniform", "uniform"), ("2", 2), ("1=.9,2=.1", {1: 0.9, 2: 0.1}), ("3=1", 3)],
)
def test_start_distributions(capsys: pytest.CaptureFixture[str], text: str, start: Any) -> None:
    said = answer(capsys, "solve", *ASKED, "--start", text)
    assert said["value"]["0"] == grbp.value(Problem(4, 0.45, 0.3, start), 0)


def test_bounds_say_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "solve", "--bounds", *ASKED, "--gamma", "15", "--rounds", "5000")
    assert said["applies"] is False
    assert said["gamma_required"] == pytest.approx(1818.73, abs=0.005)
    assert [said[key] for key in ("rho_pp", "rho_prime", "w", "regret_bound")] == [None] * 4
    assert said["ucb1_bound"] == grbp.ucb1_bound(Problem(4, 0.45, 0.3), 5000)
    assert {"p_c1", "p_f1", "margin", "rho_c", "rho_f"} <= set(said)
    assert said == answer(capsys, "solve", "--bounds", *ASKED)  # the paper's gamma and rounds
    said = answer(capsys, "solve", "--bounds", *ASKED, "--gamma", "2000", "--rounds", "5000")
    bound = grbp.getbe_bound(Problem(4, 0.45, 0.3), 2000, 5000)
    assert said["applies"] is True
    assert said["regret_bound"] == bound.regret_bound
    assert said["rho_c"] == bound.rho_c
    assert isinstance(said["rho_c"], int)


def test_bounds_of_many_policies_are_null_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--goal", "99", "--p-c", ".4", "--p-f", ".3", "--gamma", "9", "--rounds", "9"]
    assert answer(capsys, "solve", "--bounds", *asked)["ucb1_bound"] is None
    assert main(["solve", "--bounds", *asked]) == 0
    assert "2^98 deterministic policies" in capsys.readouterr().out


@pytest.mark.parametrize("p_c", ["0", "1"])
@pytest.mark.parametrize("p_f", ["0", "1"])
def test_certainties_are_answered(capsys: pytest.CaptureFixture[str], p_c: str, p_f: str) -> None:
    asked = ["--goal", "5", "--p-c", p_c, "--p-f", p_f]
    said = answer(capsys, "solve", *asked)
    assert said["boundary"] == float(p_c)
    assert said["optimal_threshold"] == int(float(p_f) >= float(p_c))
    said = answer(capsys, "solve", "--bounds", *asked, "--gamma", "15", "--rounds", "10")
    assert said["applies"] is False
    assert main(["solve", *asked]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", *ASKED],
        ["solve", "--goal", "1000000", "--p-c", "1e-12", "--p-f", "0.123456789"],
        ["solve", *ASKED, "--start", "1=.25,2=.25,3=.5"],
        ["solve", "--bounds", *ASKED, "--gamma", "123456.789", "--rounds", "1000000000000"],
        ["solve", "--bounds", *ASKED, "--gamma", "2.3", "--rounds", "9"],
        ["solve", "--bounds", *ASKED, "--gamma", "1e15", "--rounds", "9"],
        ["solve", "--bounds", "--goal", "4", "--p-c", ".5", "--p-f", ".25", "--gamma", "1"],
        ["solve", "--goal", "9999", *ASKED[2:], "--start", "1=.123456,2=.123456,77=.753088"],
        ["solve", "--bounds", "--goal", "1000000", *ASKED[2:], "--gamma", "1", "--rounds", "9"],
    ],
)  # fmt: skip
def test_a_person_reads_it_at_80_columns(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    wide = [line for line in lines if len(line) > 80]
    assert wide == []
    assert len(lines) < 35


def test_a_person_sees_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["solve", *ASKED])
    out = capsys.readouterr().out
    assert "threshold 1     finish in state 1, continue above it" in out
    assert "0.180446" in out
    main(["solve", "--bounds", *ASKED, "--gamma", "15", "--rounds", "5000"])
    out = capsys.readouterr().out
    assert "Theorem 3 (GETBE) does NOT apply" in out
    assert "gamma = 15 is not above the 1818.73 that Theorem 3 asks for." in out


def test_underflow_is_shown_as_a_power_of_ten(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--goal", "2000", "--p-c", ".3", "--p-f", ".3"]
    main(["solve", *asked])
    assert "1e-736" in capsys.readouterr().out
    log = answer(capsys, "solve", *asked)["log_values"]["0"][0]
    assert log / math.log(10) == pytest.approx(-735.83, abs=0.01)


MISTAKES = [
    (["solve", "--goal", "four", "--p-c", ".4", "--p-f", ".3"], "goal = 'four' was given"),
    (["solve", "--goal", "1", "--p-c", ".4", "--p-f", ".3"], "goal = 1 was given"),
    (["solve", "--goal", "4.5", "--p-c", ".4", "--p-f", ".3"], "goal = '4.5' was given"),
    (["solve", "--goal", "4", "--p-c", "1.2", "--p-f", ".3"], "p_c = 1.2 was given"),
    (["solve", "--goal", "4", "--p-c", "-.2", "--p-f", ".3"], "p_c = -0.2 was given"),
    (["solve", "--goal", "4", "--p-c", ".4", "--p-f", "nan"], "p_f = nan was given"),
    (["solve", "--goal", "4", "--p-c", ".4", "--p-f", "x"], "p_f = 'x' was given"),
    (["solve", "--goal", "1_0", "--p-c", ".4", "--p-f", ".3"], "goal = '1_0' was given"),
    (["solve", "--goal", "\u0663", "--p-c", ".4", "--p-f", ".3"], "was given"),
    (["solve", "--goal", "4", "--p-c", "-1e-3", "--p-f", ".3"], "p_c = -0.001 was given"),
    (["reproduce", "--only", "2", "--out", "/dev/null/a\nb"], "cannot be written"),
    (["solve", *ASKED, "--start", "7"], "the start state = 7 was given"),
    (["solve", *ASKED, "--start", "1=.5,2=.6"], "sum to 1.1; they must sum to 1"),
    (["solve", *ASKED, "--start", "1=.5,2"], "start = '1=.5,2' was given"),
    (["solve", *ASKED, "--start", "1=a,2=.5"], "state 1 = 'a' was given"),
    (["solve", *ASKED, "--start", "everywhere"], "start = 'everywhere' was given"),
    (["solve", *ASKED, "--jason"], "there is no option --jason; did you mean '--json'?"),
    (["solve", "--goal", "4", "--pc", ".4", "--pf", ".3"], "did you mean '--p-c'?"),
    (["solve", "--bounds", "--goal", "4", "--p_c=.4", "--p-f", ".3"], "did you mean '--p-c'?"),
    (["fit", "cases.csv", "--gaol", "4"], "--gaol; did you mean '--goal'? (see grbp fit"),
    (["solve", *ASKED, "--zzz"], "there is no option --zzz (see grbp solve --help)"),
    (["solve", *ASKED, "-q", "-v"], "-v/--verbose and -q/--quiet were given; give one of them"),
    (["solve", *ASKED, "--start"], "--start was given without its value (see grbp solve --help)"),
    (["solve", *ASKED, "--json=1"], "--json was given with '1'; it has no value"),
    (["solve", *ASKED, "4"], "there is no place for 4"),
    (["-x"], "there is no option -x (see grbp --help)"),
    (["plan"], "required: --goal, --p-c, --p-f; or give --from FIT.json in their place"),
    (["solve", "--goal", "1e-3", "--p-c", ".4", "--p-f", ".3"], "goal = '1e-3' was given"),
    (["solve", "--goal", "1e999", "--p-c", ".4", "--p-f", ".3"], "goal = '1e999' was given"),
    (["solve", "--goal", "9" * 5000, "--p-c", ".4", "--p-f", ".3"], "must be a whole number"),
    (["solve", "--goal", "4"], "required: --p-c, --p-f"),
    (["solve", *ASKED, "--gamma", "9"], "--gamma was given; it needs --bounds"),
    (["reproduce", "--goal", "9"], "--goal was given; it needs --only"),
    (["reproduce", "--only", "1", "--as-printed"], "it is for all figures, without --only"),
    (["sweep"], "no file was given; name the TOML file of the sweep, or play a league by --league"),
    (["sweep", "a.toml", "--pairs"], "--pairs was given; it needs --league"),
    (["sweep", "a.toml", "--league"], "a.toml was given with --league; give one of the two"),
    (["sweep", "--league", "--part=1/2"], "--part was given; it is for the sweep of a file"),
    (["serve", "tokens"], "the verb 'tokens' was given; did you mean 'token'?"),
    (["solve", "--bounds", *ASKED, "--gamma", "0", "--rounds", "5"], "gamma = 0.0 was given"),
    (["solve", "--bounds", *ASKED, "--gamma", "inf", "--rounds", "5"], "gamma = inf was given"),
    (
        ["solve", "--bounds", *ASKED, "--gamma", "1", "--rounds", "many"],
        "rounds = 'many' was given",
    ),
    (["reproduce", "--only", "9"], "--only '9' was given; it must be 1, 2, 3, 4, 5"),
    (["reproduce", "--only", "2", "--goal", "2,x"], "goal = 'x' was given"),
    (["reproduce", "--only", "1", "--goal", "2,3"], "2 goals were given"),
    (["reproduce", "--only", "4", "--goal", "5"], "Figure 4 has the paper's, which is 4"),
    (["export", *ASKED, "--format", "xml"], "--format 'xml' was given; it must be prism, toy-text"),
    (["dance"], "the command 'dance' was given; it must be solve, export"),
    (["simulat", *ASKED], "the command 'simulat' was given; did you mean 'simulate'?"),
    (
        ["--print-completion", "fish"],
        "--print-completion 'fish' was given; it must be bash, zsh, tcsh",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grbp: ")
    assert err.count("\n") == 1
    assert sentence in err


LEAGUE = ["--goal", "3", "--step", ".25", "--rounds", "9", "--replicas", "4", "--csv", "-"]
TWO = ["--learner", "threshold-0", "--learner", "threshold-1"]
FORMER = [
    (["bounds", *ASKED], ["solve", "--bounds", *ASKED], "solve --bounds"),
    (
        ["figure", "1", "--goal", "5"],
        ["reproduce", "--only", "1", "--goal", "5"],
        "reproduce --only",
    ),
    (["league", *LEAGUE, *TWO], ["sweep", "--league", *LEAGUE, *TWO], "sweep --league"),
    (["token", "list", "--json"], ["serve", "token", "list", "--json"], "serve token"),
]


@pytest.mark.parametrize(("former", "now", "named"), FORMER)
def test_former_commands_are_carried_out_as_what_they_are_now(
    former: list[str], now: list[str], named: str, capsys: pytest.CaptureFixture[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["live", "init", "--study", "ward", "--goal", "4"]) == 0
    capsys.readouterr()
    answers = []
    for arguments in (now, ["-q", *former], former):
        assert main(arguments) == 0
        answers.append(capsys.readouterr())
    assert answers[0].out == answers[1].out == answers[2].out
    note = f"grbp: note: {former[0]} is now: grbp {named}\n"
    assert [note in one.err for one in answers] == [False, False, True]
    assert f"\n    {former[0]} " not in run("--help").stdout


@pytest.mark.parametrize(
    ("former", "now"),
    [("bounds", "solve"), ("figure", "reproduce"), ("league", "sweep"), ("token", "serve token")],
)
def test_the_help_of_a_former_command_is_that_of_what_it_is_now(
    former: str, now: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([former, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: grbp {now} ")


@pytest.mark.parametrize(
    ("arguments", "last"), [([], "reproduce"), (["-q"], "reproduce"), (["live"], "backup")]
)
def test_whoever_names_no_command_is_shown_which_there_are(
    capsys: pytest.CaptureFixture[str], arguments: list[str], last: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    assert out.startswith("usage: grbp")
    assert last in out


def test_a_folder_that_cannot_be_written_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    for arguments in (["reproduce", "--only", "2"], ["reproduce", "--only", "3"], ["reproduce"]):
        assert main([*arguments, "--out", str(tmp_path / "file")]) == 2
        err = capsys.readouterr().err
        assert str(tmp_path / "file") in err
        assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_figure_writes_both_files_and_names_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["reproduce", "--only", "2", "--goal", "3,30", "--out", str(tmp_path)]) == 0
    named = capsys.readouterr().out.splitlines()
    assert named == [str(tmp_path / "figure-2.png"), str(tmp_path / "figure-2.svg")]
    assert sorted(str(path) for path in tmp_path.iterdir()) == named


def test_export_is_what_the_library_exports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *ASKED, "--format", "prism"]) == 0
    assert capsys.readouterr().out == grbp.to_prism(Problem(4, 0.45, 0.3))
    assert main(["export", *ASKED, "--format", "toy-text"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["1"]["1"] == [[0.3, 4, 1.0, True], [0.7, 0, 0.0, True]]


@pytest.mark.parametrize(
    ("text", "number"),
    [("4", 4), ("4e0", 4), ("1E9", 10**9), ("+5e3", 5000), ("1.5e3", 1500), ("2.0", 2), (".5e1", 5),
     ("1e39", 10**39), ("-2e1", -20), ("340282366920938463463374607431768211455", 2**128 - 1)],
)  # fmt: skip
def test_whole_numbers_may_be_written_with_a_power_of_ten(text: str, number: int) -> None:
    assert (parse_whole(text), type(parse_whole(text))) == (number, int)


@pytest.mark.parametrize("text", ["1.5", "1e-3", "1e", "e3", "1e1000", "0x10", "1_000", "", "inf"])
def test_other_texts_are_no_whole_numbers(text: str) -> None:
    assert parse_whole(text) == text


def test_a_large_goal_needs_little_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """A list of Python's numbers for every state would take 16 bytes or more for each of them."""
    asked = ["--goal", "1e6", "--p-c", ".5", "--p-f", ".3"]
    tracemalloc.start()
    try:
        assert main(["solve", *asked]) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * 8 * 10**6  # twenty vectors over the states
    lines = capsys.readouterr().out.splitlines()
    assert lines[11].split() == ["1", "1e-6", "0.3", "0.3", "0.3"]
    assert lines[17].split() == ["..."]


def test_memory_that_is_not_there_is_said_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (MemoryError(), MemoryError("Unable to allocate 8.00 EiB for an array")):
        monkeypatch.setattr(grbp, "summary", Mock(side_effect=error))
        assert main(["solve", *ASKED]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("grbp: there is not enough memory for this; ask for a smaller goal")
        assert err.count("\n") == 1
        assert str(error) in err


def test_completion_knows_every_option_of_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scripts = {}
    for shell in ("bash", "zsh", "tcsh"):
        with pytest.raises(SystemExit) as stopped:
            main(["--print-completion", shell])
        assert stopped.value.code == 0
        scripts[shell] = capsys.readouterr().out
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
        assert options >= {"--quiet", "--verbose"}
        (known,) = re.findall(
            rf"^_shtab_grbp_{command}_option_strings=\((.*)\)", scripts["bash"], re.MULTILINE
        )
        assert options <= set(re.findall(r"--[a-z-]+", known))
        for option in options:
            assert option in scripts["zsh"]
    for script in scripts.values():
        assert all(name in script for name in grbp.LEARNERS)


@pytest.mark.skipif(
    shutil.which("bash") is None,
    reason="tests of completion: bash is not installed; on Debian and Ubuntu, get it with:"
    " apt-get install bash",
)
def test_bash_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    (tmp_path / "grbp.sh").write_text(capsys.readouterr().out)
    for line, expected in (
        ("grbp sim", ["simulate"]),
        ("grbp simulate --repl", ["--replicas"]),
        ("grbp simulate --learner getbe-s", ["getbe-sm"]),
        ("grbp export --format ", ["prism", "toy-text"]),
    ):
        words = " ".join(f"'{word}'" for word in line.split(" "))
        last = len(line.split(" ")) - 1
        asked = f"COMP_WORDS=({words}); COMP_CWORD={last}; COMP_LINE='{line}'"
        script = f"source grbp.sh; {asked}; _shtab_grbp; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(
            [str(shutil.which("bash")), "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert [word.strip() for word in done.stdout.splitlines()] == expected


def test_without_shtab_the_extra_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    assert "pip install 'grbp[completion]'" in capsys.readouterr().err


def test_the_command_in_a_process_of_its_own() -> None:
    good = run("solve", *ASKED, "--json")
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout)["optimal_threshold"] == 1
    bad = run("solve", "--goal", "4", "--p-c", "2", "--p-f", ".3")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "grbp: p_c = 2.0 was given; it must be a number from 0 to 1\n"
    assert run("--version").stdout == f"grbp {grbp.__version__}\n"


def test_help_lists_every_command_at_80_columns() -> None:
    said = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"\n    {command} +[a-z]", said)
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="tests of a full device: /dev/full is on Linux only"
)
def test_an_answer_that_cannot_be_written_is_said() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "grbp", "solve", *ASKED],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "grbp: the answer cannot be written (No space left on device)\n"


@pytest.mark.slow
def test_a_path_outside_the_terminals_alphabet_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grbp", "reproduce", "--only=1", "--out", str(tmp_path / "\u00e9")],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xe9" in done.stdout


def test_a_reader_that_stops_early_is_no_error() -> None:
    read, write = os.pipe()
    asked = ["solve", "--goal", "20000", "--p-c", ".4", "--p-f", ".3", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "grbp", *asked], stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        os.close(read)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
