"""Plans on the shell: a screen for a person, everything for a program, a page for everybody."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from html_page import Page

import grbp
from grbp.cli import main
from grbp.planning.result import COLUMNS

ASKED = ["--goal", "4", "--p-c", ".4:.5", "--p-f", ".2:.35:2", "--cases", "20,60"]
SIZE = ["--replicas", "30", "--seed", "7"]


def expected() -> grbp.Plan:
    return grbp.plan(4, (0.4, 0.5), (0.2, 0.35, 2), [20, 60], replicas=30, seed=7)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    # Progress would be said where a machine is slow.
    assert main(["plan", "--quiet", *ASKED, *SIZE, *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_json_is_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--json")
    assert out.count("\n") == 1
    answer = json.loads(out, parse_constant=pytest.fail)
    assert answer == json.loads(json.dumps(expected().to_dict()))
    assert len(answer["truths"]) == 6
    assert [one["cases"] for one in answer["truths"][0]["after"]] == [20, 60]
    known = answer["truths"][0]["after"][1]["known"]
    assert known["low"] <= known["estimate"] <= known["high"]


def test_a_person_reads_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys)
    assert out == expected().summary() + "\n"
    assert max(map(len, out.splitlines())) <= 80


def test_csv_has_a_row_for_every_truth_and_number_of_cases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = list(csv.reader(io.StringIO(said(capsys, "--csv", "-"))))
    assert tuple(rows[0]) == COLUMNS
    assert rows[1:] == [list(map(str, row)) for row in expected().cells()]
    assert len(rows) == 1 + 6 * 2


def test_pictures_and_pages_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page, picture = tmp_path / "plan.html", tmp_path / "plan.svg"
    assert main(["plan", *ASKED, *SIZE, "--plot", str(picture), "--report", str(page)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{picture}\n"
    assert f"wrote {page}" in err
    assert picture.read_bytes().startswith(b"<?xml")
    (title,) = Page(page.read_text("utf-8")).all("h1")
    assert title.text == "How much can be learned from 60 cases?"


def test_every_option_reaches_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--learner", "getbe-sm:gamma=2", "--start", "1=.5,3=.5", "--overlap", "3", "--late-wins",
        "2", "--overrule", ".1", "--stop-at", ".9", "--look-from", "4", "--threads", "1",
    ]  # fmt: skip
    answer = json.loads(said(capsys, *options, "--json"))
    plan = grbp.plan(
        4, (0.4, 0.5), (0.2, 0.35, 2), [20, 60], "getbe-sm:gamma=2", start={1: 0.5, 3: 0.5},
        overlap=3, late_wins=2, overrule=0.1, stop_at=0.9, look_from=4, replicas=30, seed=7,
    )  # fmt: skip
    assert answer == json.loads(json.dumps(plan.to_dict()))
    assert answer["level"] == answer["stop_at"] == 0.9


@pytest.mark.parametrize("option", ["--known", "--right"])
def test_how_many_cases_are_enough(capsys: pytest.CaptureFixture[str], option: str) -> None:
    asked = ["plan", "--quiet", "--goal", "4", "--p-c", ".65", "--p-f", ".3:.4:2", option, ".8"]
    share: dict[str, Any] = {option[2:]: 0.8}
    plan = grbp.plan(4, 0.65, (0.3, 0.4, 2), replicas=30, seed=7, **share)
    assert main([*asked, *SIZE]) == 0
    assert capsys.readouterr().out == plan.summary() + "\n"
    assert main([*asked, *SIZE, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == json.loads(json.dumps(plan.to_dict()))
    assert answer["target"] == {"what": option[2:], "share": 0.8}
    (first, _), needed = plan.truths, answer["truths"][0]["needed"]
    assert first.needed is not None
    assert needed["cases"] == first.needed.cases._asdict()
    assert main([*asked, *SIZE, "--csv", "-"]) == 0
    head, row, _ = csv.reader(io.StringIO(capsys.readouterr().out))
    assert tuple(head) == plan.columns
    numbers = dict(zip(head, row, strict=True))
    assert float(numbers["needed"]) == first.needed.cases.estimate
    assert float(numbers["needed_goals_lost"]) == first.needed.goals_lost.estimate
    assert float(numbers["trial_cases"]) == first.needed.trial_cases
    assert float(numbers["trial_goals_lost"]) == first.needed.trial_goals_lost


def test_records_come_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fit = {
        "goal": 4,
        "cases": 90,
        "p_c": {"ups": 60, "tries": 130},
        "p_f": None,
        "first_states": [30, 30, 30],
    }
    file = tmp_path / "fit.json"
    file.write_text(json.dumps(fit), "utf-8")
    asked = ["plan", "--from", str(file), "--cases", "30", *SIZE]
    assert main(asked) == 2
    assert "say between which probabilities it lies (--p-f .2:.35" in capsys.readouterr().err
    assert main([*asked, "--p-f", ".3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    low, high = grbp.wilson(60, 130)
    points = [truth["p_c"] for truth in answer["truths"]]
    assert points == pytest.approx([low, (low + high) / 2, high])
    assert (answer["past_cases"], answer["start"]) == (90, "uniform")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--goal", "x"], "goal = 'x' was given"),
        (["--p-c", ".5:.4"], "the first end must be below the second"),
        (["--p-c", ".4:.5:x"], "the points of p_c = 'x' was given"),
        (["--p-c", ".4:high"], "p_c = 'high' was given"),
        (["--p-c", ".4:.5:3:3"], "it must be a number, (low, high) or (low, high, points)"),
        (["--cases", "20,x"], "cases = 'x' was given"),
        (["--stop-at", "2"], "stop_at = 2.0 was given"),
        (["--known", "80"], "known = 80.0 was given"),
        (["--known", ".8", "--right", ".9"], "plan for one of them at a time"),
        (["--overrule", "often"], "overrule = 'often' was given"),
        (["--start", "1=.9,2"], "start = '1=.9,2' was given"),
        (["--from", "no/such.json"], "the records 'no/such.json' cannot be read"),
        (["--json", "--csv", "-"], "--csv - and --json were given"),
        (["--report", "/dev/null/x"], "/dev/null/x cannot be written"),
        (["--models", "one"], "models are compared on --chain or under --drift"),
        (["--chain", "c.toml"], "--chain and --goal were given"),
        (["--drift", "linear:p_c=.65@50"], "p_c = [0.4, 0.5] was given"),
        (
            ["--chain", "c.toml", "--known", ".8"],
            "--known was given; where models are compared, with --chain or --drift,",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(["plan", *ASKED, *SIZE, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grbp: ")
    assert err.count("\n") == 1
    assert sentence in err


@pytest.mark.usefixtures("interpreted")
def test_models_are_compared_on_a_chain_and_under_a_drift(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "chain.toml"
    file.write_text("goal = 4\np_c = 0.5\np_f = [0.05, 0.6, 0.9]\n")
    size = ["--quiet", "--cases", "40", "--replicas", "5", "--models", "one,state"]
    assert main(["plan", "--chain", str(file), *size, "--json"]) == 0
    chain = grbp.Chain(4, grbp.Move(0.5, 0.5), [0.05, 0.6, 0.9])
    models = grbp.plan_models(chain, 40, ["one", "state"], replicas=5)
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(models.to_dict()))
    asked = ["--goal", "4", "--p-c", ".45", "--p-f", ".3", "--drift", "linear:p_c=.65@40"]
    assert main(["plan", *asked, *size]) == 0
    assert "a study that" in capsys.readouterr().out
    assert main(["plan", *asked, *size, "--plot", str(tmp_path / "models.png")]) == 0
    assert (tmp_path / "models.png").stat().st_size > 1000


@pytest.mark.parametrize("command", ["plan", "fit", "simulate"])
def test_only_tables_go_to_standard_output(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {
        "plan": [*ASKED, *SIZE, "--report", "-"],
        "fit": ["cases.csv", "--goal", "4", "--report", "-"],
        "simulate": ["--goal", "4", "--p-c", ".5", "--p-f", ".3", "--steps", "-"],
    }
    assert main([command, *asked[command]]) == 2
    assert "it must name a file" in capsys.readouterr().err


def test_a_goal_beyond_walking_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--goal", "1e7", "--p-c", ".5", "--p-f", ".3"]) == 2
    assert "whole number from 2 to 100,000" in capsys.readouterr().err
