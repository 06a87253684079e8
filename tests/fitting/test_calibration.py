"""A small version of benchmarks/fit.py: intervals hold as often as they say, and so do tests."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import grbp
from grbp.fitting.assumptions import assumption_tests
from grbp.fitting.fit import fit_records
from grbp.fitting.transitions import Transitions
from grbp.records.reading import read_records

pytestmark = pytest.mark.slow

TABLES = 400
"""A share near .95 has a standard error of .011; limits leave room for four of them."""


class Setting(NamedTuple):
    goal: int
    p_c: float
    p_f: float
    cases: int


def drawn(setting: Setting, tables: int = TABLES) -> Iterator[Transitions]:
    goal, p_c, p_f, cases = setting
    for seed in range(tables):
        table = grbp.example_records("model", goal, p_c, p_f, cases, seed)
        yield Transitions(read_records(table, goal))


SETTINGS = [Setting(4, 0.45, 0.3, 50), Setting(4, 0.65, 0.3, 200), Setting(8, 0.52, 0.4, 50)]


@pytest.mark.sample("*p_c=0.65*")
@pytest.mark.parametrize("setting", [*SETTINGS, Setting(4, 0.45, 0.3, 20)], ids=str)
def test_intervals_hold_as_often_as_they_say(setting: Setting) -> None:
    held, seen = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for moves in drawn(setting):
        counts = ((moves.ups, moves.downs, setting.p_c), (moves.wins, moves.losses, setting.p_f))
        for letter, (won, lost, p) in zip("CF", counts, strict=True):
            share = grbp.Proportion(int(won.sum()), int(won.sum() + lost.sum()))
            for method in ("wilson", "jeffreys", "clopper_pearson", "anytime"):
                low, high = getattr(share, method)
                seen[method, letter] += share.tries > 0
                held[method, letter] += low <= p <= high and share.tries > 0
    for method, letter in seen:
        part = held[method, letter] / seen[method, letter]
        if method == "anytime":
            assert part >= 0.97, letter
        else:
            assert 0.90 <= part <= 1.0, (method, letter)
            assert method == "clopper_pearson" or part <= 0.99, (method, letter)


@pytest.mark.sample("*p_c=0.65*")
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_tests_reject_what_is_true_as_rarely_as_they_say(setting: Setting) -> None:
    rejected, seen = Counter[str](), Counter[str]()
    for moves in drawn(setting):
        tests = assumption_tests(moves)
        for test in tests:
            seen[test.assumption] += test.p is not None
            rejected[test.assumption] += test.p is not None and test.p < 0.05
        rejected["family"] += any(t.p_holm is not None and t.p_holm < 0.05 for t in tests)
    for assumption, count in seen.items():
        if count > TABLES // 2:
            assert 0.005 <= rejected[assumption] / count <= 0.095, assumption
    assert rejected["family"] / TABLES <= 0.11


@pytest.mark.soak
@pytest.mark.parametrize(("p_c", "p_f"), [(0.45, 0.3), (0.5, 0.2)])
def test_what_follows_from_them_holds_as_often_too(p_c: float, p_f: float) -> None:
    setting = Setting(4, p_c, p_f, 100)
    even = grbp.boundary(setting.goal, setting.p_c)
    right = "threshold-1" if setting.p_f >= even else "threshold-0"
    outcomes = defaultdict[str, list[bool]](list)
    for moves in drawn(setting, 200):
        fit = fit_records(moves.records)
        for name, way in {**fit.ways, "difference": fit.difference}.items():
            truth = setting.p_f - even if name == "difference" else even
            if way is not None:
                outcomes[name].append(way.low <= truth <= way.high)
        outcomes["wrong and firm"].append(fit.firm and fit.decision != right)
    wrong = outcomes.pop("wrong and firm")
    assert sum(wrong) / len(wrong) <= 0.08
    for name, held in outcomes.items():
        assert len(held) >= 150, name
        assert sum(held) / len(held) >= 0.88, name


def test_records_of_a_learner_keep_their_anytime_intervals() -> None:
    problem = grbp.Problem(4, 0.65, 0.3)
    log = grbp.step_log(problem, "no-explore", rounds=100, replicas=200, seed=3)
    held = []
    for replica in range(200):
        rows = (log["replica"] == replica) & (log["action"] == grbp.Action.FINISH)
        won = log["next_state"][rows] == problem.goal
        low, high = grbp.anytime(int(won.sum()), len(won))
        held.append(low <= problem.p_f <= high)
    assert sum(held) / len(held) >= 0.97
