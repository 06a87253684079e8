"""The explorer's learner and players on the same luck, beside the package, in a real browser."""

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pytest
from browser import Watched

import grbp
from grbp import Counters, Problem
from grbp.explorer.page import STATIC
from grbp.learners.base import Learner
from grbp.learners.counters import Round, initial_counters, play, settle
from grbp.numerics.rng import uniform

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.slow
HERE: Final = "http://127.0.0.1:8000"

LEARNED: Final = """async (histories) => {
  const { addCase, decide } = await import("/static/learner.js");
  return histories.map(({ goal, gamma, f_goal, c_up, rounds }) => {
    let n = { rho: 1, f: 1, fGoal: f_goal, c: 1, cUp: c_up };
    return rounds.map(([won, f, c, cUp]) => {
      const { threshold } = decide(goal, gamma, n);
      n = addCase(n, { f, c, cUp, won: won === 1 });
      return threshold;
    });
  });
}"""

DECIDED: Final = """async (asked) => {
  const { decide } = await import("/static/learner.js");
  return asked.map(([goal, gamma, rho, f, fGoal, c, cUp]) =>
    decide(goal, gamma, { rho, f, fGoal, c, cUp }));
}"""

RACED: Final = """async ([problems, seed, cases]) => {
  const { Learner, Race, always } = await import("/static/learner.js");
  return problems.map((problem) => {
    const thresholds = [0, 1, problem.goal - 1];
    const learner = new Learner(problem, 15, seed);
    const race = new Race(problem, seed, [...thresholds.map(always), learner]);
    const trails = [];
    for (let k = 0; k < cases; k += 1) {
      const next = learner.next.threshold;
      race.play(1);
      trails.push([next, ...race.last.map(({ trail }) => trail)]);
    }
    return { wins: race.wins, trails, n: learner.n };
  });
}"""

WON: Final = """async ([problems, seed, cases]) => {
  const { Race, always } = await import("/static/learner.js");
  return problems.map((problem) => {
    const race = new Race(problem, seed, [0, 1, problem.goal - 1].map(always));
    race.play(cases);
    return race.wins.map((won) => won.at(-1));
  });
}"""


class History(NamedTuple):
    """What a learner of the package met, and what it chose."""

    goal: int
    gamma: float
    f_goal: float
    c_up: float
    rounds: list[list[int]]
    chosen: list[int]


def serve_module(route: "Route") -> None:
    name = route.request.url.rpartition("/")[2]
    route.fulfill(content_type="text/javascript", path=STATIC / name)


def answered(browser: Watched, question: str, given: Any) -> Any:
    """Ask a question in a page that can load the modules of the explorer."""
    with browser.page() as page:
        page.route(f"{HERE}/", lambda route: route.fulfill(body="", content_type="text/html"))
        page.route(f"{HERE}/static/*", serve_module)
        page.goto(f"{HERE}/")
        return page.evaluate(question, given)


def sample_mean(gamma: float, goal: int) -> Learner:
    learner = grbp.find_learner(f"getbe-sm:gamma={gamma}", goal)
    assert isinstance(learner, Learner)
    return learner


def drawn_histories() -> Iterator[History]:
    """Let the package's learner play drawn problems, also those whose chances are 0 or 1."""
    rng = np.random.default_rng(29)
    for k in range(1000):
        goal, gamma = int(rng.integers(2, 51)), float(rng.choice([0, 0.3, 2, 15, 62.5, 100]))
        p_c, p_f = rng.random(2).round(2).tolist()
        if k % 5 == 0:
            p_c, p_f = rng.choice([0.0, 0.5, 1.0], 2).tolist()
        learner = sample_mean(gamma, goal) if gamma else grbp.find_learner("no-explore", goal)
        assert isinstance(learner, Learner)
        f_goal, c_up = (rng.random(2) < (p_f, p_c)).astype(float).tolist()
        n, rounds, chosen = initial_counters(f_goal, c_up), [], []
        for key in rng.integers(2**62, size=12).tolist():
            threshold = learner.choose(goal, n, 0)
            first = 1 + int(uniform(key, 0) * (goal - 1))
            one = play(goal, p_c, p_f, threshold, first, key)
            n = settle(n, threshold, one)
            rounds.append([one.won, one.f, one.c, one.c_up])
            chosen.append(threshold)
        yield History(goal, gamma, f_goal, c_up, rounds, chosen)


def drawn_counters() -> Iterator[list[float]]:
    """Counters anywhere, on ties and right next to them: goal, gamma, rho, f, f_goal, c, c_up."""
    rng = np.random.default_rng(30)
    for _ in range(1500):
        goal, rho = int(rng.integers(2, 51)), int(10.0 ** rng.uniform(0, 6))
        c, f = (int(10.0 ** rng.uniform(0, 4)) for _ in "cf")
        c_up, f_goal = int(rng.integers(c + 1)), int(rng.integers(f + 1))
        yield [goal, float(rng.uniform(0.1, 100)), rho, f, f_goal, c, c_up]
    for goal, nudge in product(range(2, 51), (0.0, 1e-15, -1e-15, 5e-15, -2e-14, 1e-12, -1e-12)):
        for ratio in (1.0, 2.0, 0.5, 3.0, 1 / 3):  # down for each up
            total = sum(ratio**k for k in range(goal))
            for rho in (1, 2, 1000):
                yield [goal, 15.0, rho, total * (1.0 + nudge), 1.0, 6 * (1 + ratio), 6.0]
    for goal, f, rho in product((2, 4, 50), (1, 2, 7, 300), (2, 3, 10, 10**5)):
        due = f / np.log(rho)  # FINISH has been tried as often as it must, nearly
        for nudge in (-1e-13, 1e-13):
            yield [goal, due * (1.0 + nudge), rho, f, 0, 10, 6]
    for goal, f_goal, c_up in product((2, 3, 50), (0, 1), (0, 1)):
        yield [goal, 15.0, 1, 1, f_goal, 1, c_up]
        yield [goal, 15.0, 1, 0, 0, 0, 0]  # nothing is counted yet
        yield [goal, 15.0, 40, 40, 40 * f_goal, 90, 90 * c_up]


def test_it_decides_as_the_package_over_a_thousand_histories(browser: Watched) -> None:
    histories = list(drawn_histories())
    said = answered(browser, LEARNED, [history._asdict() for history in histories])
    assert len(said) == 1000
    kinds = set()
    for history, found in zip(histories, said, strict=True):
        assert found == history.chosen, history
        last = history.goal - 1
        kinds |= {"all" if tau == last > 1 else tau for tau in history.chosen}
    assert kinds == {0, 1, "all"}


def test_it_decides_as_the_package_on_ties_and_next_to_them(browser: Watched) -> None:
    asked = list(drawn_counters())
    said = answered(browser, DECIDED, asked)
    reasons = {"never up": 1, "looks better": 1, "looks worse": 0}
    for (goal, gamma, rho, f, f_goal, c, c_up), found in zip(asked, said, strict=True):
        counters = Counters(int(rho), f, f_goal, c, c_up, 0.0, 0.0, 0.0, 0.0)
        expected = sample_mean(gamma, int(goal)).choose(int(goal), counters, 0)
        assert found["threshold"] == expected, (goal, gamma, counters)
        assert found["threshold"] == reasons.get(found["why"], goal - 1)
    assert {one["why"] for one in said} == {*reasons, "to learn"}
    assert len(said) > 6000


PROBLEMS: Final = [
    Problem(4, 0.45, 0.3, 2), Problem(4, 0.65, 0.3, 2), Problem(7, 0.4, 0.05, "uniform"),
    Problem(2, 0.5, 0.5, 1), Problem(9, 0.0, 0.5, 8), Problem(5, 1.0, 0.2, 1),
]  # fmt: skip


def raced(browser: Watched, question: str, seed: int, cases: int) -> Any:
    problems = [
        {"goal": one.goal, "pC": one.p_c, "pF": one.p_f, "start": start}
        for one, start in zip(PROBLEMS, (2, 2, "uniform", 1, 8, 1), strict=True)
    ]
    return answered(browser, question, [problems, seed, cases])


def test_all_players_meet_the_same_luck_and_a_seed_gives_the_same_cases(browser: Watched) -> None:
    once = raced(browser, RACED, 7, 100)
    assert once == raced(browser, RACED, 7, 100)
    assert once != raced(browser, RACED, 8, 100)
    for problem, found in zip(PROBLEMS, once, strict=True):
        n, learner = None, sample_mean(15.0, problem.goal)
        for number, (chosen, never, low, at_once, learned) in enumerate(found["trails"], start=1):
            # Until one player finishes and the other does not, their walks are one and the same.
            meets = low[:-1] if low[-2] == 1 else low
            assert never[: len(meets)] == meets
            assert at_once[0] == never[0]
            assert len(at_once) == 2
            assert learned == {0: never, 1: low}.get(chosen, at_once)
            for wins, trail in zip(found["wins"], (never, low, at_once, learned), strict=True):
                assert wins[number] - wins[number - 1] == (trail[-1] == problem.goal)
            if n is None:
                n = first_counters(found, problem.goal)
            assert learner.choose(problem.goal, n, 0) == chosen
            n = settle(n, chosen, as_round(problem.goal, chosen, learned))
        assert n is not None
        assert found["n"] == {
            "rho": n.rho, "f": n.f, "fGoal": n.f_goal, "c": n.c, "cUp": n.c_up,
        }  # fmt: skip


def as_round(goal: int, threshold: int, trail: list[int]) -> Round:
    """Count what a player did on its walk."""
    finished = int(trail[-2] <= threshold)
    moves = np.diff(trail[: len(trail) - finished])
    return Round(trail[0], int(trail[-1] == goal), finished, moves.size, int((moves > 0).sum()))


def first_counters(found: Any, goal: int) -> Counters:
    """Find what each action did beforehand: what remains of the last counters without the cases."""
    rounds = [as_round(goal, chosen, walks[-1]) for chosen, *walks in found["trails"]]
    f_goal = found["n"]["fGoal"] - sum(one.won * one.f for one in rounds)
    return initial_counters(f_goal, found["n"]["cUp"] - sum(one.c_up for one in rounds))


def test_wins_come_to_rest_at_the_values_of_the_package(browser: Watched) -> None:
    cases = 20_000
    said = raced(browser, WON, 3, cases)
    for problem, found in zip(PROBLEMS, said, strict=True):
        for threshold, wins in zip((0, 1, problem.goal - 1), found, strict=True):
            exact = grbp.value(problem, threshold)
            spread = (exact * (1.0 - exact) / cases) ** 0.5
            assert abs(wins / cases - exact) <= 4.5 * spread, (problem, threshold)
