"""The command `sweep`: what it prints and writes, and how it goes on."""

import json
from pathlib import Path
from typing import Any

import pytest
from shell import instead

import grbp
from grbp.cli import main

TEXT = """
name = "tour"
rounds = [20, 200]
replicas = 30
learners = ["getbe-sm", "no-explore"]
[problems]
goal = 4
p_c = {from = 0.25, to = 0.75, step = 0.25}
p_f = 0.3
"""


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    path = tmp_path / "tour.toml"
    path.write_text(TEXT, "utf-8")
    return [str(path), "--out", str(tmp_path / "out"), "--processes", "1"]


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["-q", "sweep", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_json_is_one_object_with_the_digest(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = json.loads(answered(capsys, *asked, "--json"))
    result = grbp.sweep(tmp_path / "tour.toml", tmp_path / "python", threads=1)
    assert answer["digest"] == result.digest
    assert answer == json.loads((tmp_path / "python" / "tour.json").read_text())
    assert [one["mean"] for one in answer["cells"]] == [list(one.mean) for one in result.cells]


def test_a_person_sees_a_short_table_and_the_files(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = answered(capsys, *asked).splitlines()
    assert lines[0] == "3 problems, 30 replicas of 200 rounds, seed 0"
    assert max(map(len, lines[:-3])) <= 80
    for line, kind in zip(lines[-3:], ("csv", "json", "sweep"), strict=True):
        assert line == str(tmp_path / "out" / f"tour.{kind}")
        assert Path(line).is_file()


def test_problems_are_called_by_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words = tmp_path / "tour.toml", TEXT.replace("[problems]", '[[problems]]\nname = "three"')
    lab = '[[problems]]\nname = "lab"\nworld = {goal = 4, p_c = 0.5, p_f = [0.1, 0.2, 0.3]}\n'
    path.write_text(words + lab, "utf-8")
    shown = answered(capsys, str(path), "--out", str(tmp_path / "out"))
    assert "  learner                  three         lab\n" in shown
    assert len({line.split()[-1] for line in shown.splitlines()[4:6]} - {"three", "lab"}) == 0
    rows = (tmp_path / "out" / "tour.csv").read_text().splitlines()
    assert {row.partition(",")[0] for row in rows} == {"name", "three", "lab"}
    # A table that has no names yet is replaced by one that has, and the other way round.
    path.write_text(TEXT, "utf-8")
    assert "lab" not in answered(capsys, str(path), "--out", str(tmp_path / "out"))


@pytest.mark.slow
def test_parts_and_their_merge(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = answered(capsys, *asked, "--part", "2/2")
    out = tmp_path / "out"
    assert said.splitlines()[0] == str(out / "tour.part-2-of-2.sweep")
    assert f"sweep merge {asked[0]} --out" in said
    assert main(["sweep", "merge", *asked[:3]]) == 2
    assert "part 1 of 2 is missing" in capsys.readouterr().err
    part = json.loads(answered(capsys, *asked, "--part", "1/2", "--json"))
    assert part == {"part": [1, 2], "file": str(out / "tour.part-1-of-2.sweep")}
    merged = json.loads(answered(capsys, "merge", *asked[:3], "--json"))
    again = json.loads(answered(capsys, "merge", asked[0], part["file"], *asked[1:3], "--json"))
    whole = json.loads(answered(capsys, *asked[:1], "--out", str(tmp_path / "2"), "--json"))
    assert merged["digest"] == again["digest"] == whole["digest"]


def test_what_is_said_on_the_shell_holds_in_place_of_what_the_file_says(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--learner", "threshold-1", "--rounds", "40", "--replicas", "8", "--seed", "3"]
    answer = json.loads(answered(capsys, *asked, *more, "--json"))
    spec = grbp.SweepSpec.read(
        tmp_path / "tour.toml", learners=["threshold-1"], rounds=40, replicas=8, seed=3
    )
    assert answer["digest"] == grbp.sweep(spec, tmp_path / "python", threads=1).digest
    said = answered(capsys, *asked, *more, "--part", "1/2").splitlines()[-1]
    assert said.split()[:4] == ["grbp", "-q", "sweep", "merge"]
    assert " ".join(more) in said
    assert "--part" not in said


def test_precision_says_where_it_ended(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tour.toml"
    path.write_text(f"most_replicas = 60\n{TEXT}", "utf-8")
    said = answered(capsys, *asked, "--se", ".2")
    assert "30 to 60 replicas" in said
    assert "cells stopped at 60 replicas with a standard error above 0.2" in " ".join(said.split())


def test_an_interruption_says_what_is_kept_and_how_to_go_on(
    asked: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: Any, progress: Any, **__: Any) -> None:
        progress("tour", 40, 180)
        raise KeyboardInterrupt

    instead(monkeypatch, "sweep", interrupted)
    assert main(["sweep", *asked]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert f"the results so far are kept in {tmp_path / 'out' / 'tour.sweep'}" in err
    assert "The same command goes on from there." in err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--part", "two"], "--part two was given; it must be I/N, such as 3/10"),
        (["--part", "3/2"], "the part = 3 was given"),
        (["--processes", "0"], "processes = 0 was given"),
        (["--processes", "some"], "processes = 'some' was given"),
        (["--se", "small"], "se = 'small' was given"),
        (["--chunk", "0"], "chunk = 0.0 was given"),
        (["--device", "tpu"], "--device 'tpu' was given; did you mean 'cpu'?"),
        (["--dask", "tcp://x:1"], "--dask and --processes were given; give one of them"),
    ],
)
def test_a_mistake_is_one_sentence(
    more: list[str], sentence: str, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = asked[:3] if "--processes" in more else asked
    assert main(["sweep", *given, *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.startswith("grbp: ")
    assert err.count("\n") == 1


def test_one_sweep_is_played_and_a_merge_needs_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "merge"]) == 2
    assert "merge was given without a file" in capsys.readouterr().err
    assert main(["sweep", "one.toml", "two.toml"]) == 2
    assert "2 files were given; name one TOML file" in capsys.readouterr().err
