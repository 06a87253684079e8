"""The closed forms of the explorer, in a real browser, beside those of the package."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from browser import Watched

import grbp
from grbp import Counters, Problem
from grbp.explorer.page import STATIC
from grbp.learners.base import Learner
from grbp.theory.values import excess
from grbp.worlds.chain import Chain, Move
from grbp.worlds.dynprog import evaluate, solve

pytestmark = pytest.mark.slow
HERE: Final = "http://127.0.0.1:8000"
NEAR_HALF = [0.5 + sign * size for sign in (-1, 1) for size in (2.0**-53, 1e-9, 1e-4)]
EDGES = [0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.1, 0.25, 0.45, 0.5, *NEAR_HALF, 0.75, 0.9]
EDGES += [1.0 - 1e-9, 1.0 - 2.0**-53, 1.0]
GOALS = [2, 3, 4, 5, 7, 10, 50, 1000]

ASK = """async (problems) => {
  const exact = await import("/static/exact.js");
  return problems.map(({ goal, pC, pF, states, thresholds, start, margin }) => {
    const problem = { goal, pC, pF };
    return {
      boundary: exact.boundary(goal, pC),
      excess: exact.excess(problem),
      best: exact.optimalThreshold(problem),
      margin: margin ? exact.nearest(problem).distance : 0,
      foot: margin ? exact.nearest(problem).x : 0,
      hits: states.map((s) => exact.hit(s, goal, -exact.logFailureRatio(pC))),
      values: thresholds.map((tau) => states.map((s) => exact.valueAt(problem, tau, s))),
      gaps: thresholds.map((tau) => states.map((s) => exact.gapAt(problem, tau, s))),
      means: thresholds.flatMap((tau) => [exact.valueAt, exact.gapAt].map((at) =>
        exact.startMean(goal, start, (s) => at(problem, tau, s)))),
    };
  });
}"""


FORCED = """async ([gammas, rounds]) => {
  const { forcedTries } = await import("/static/exact.js");
  const first = Array.from({ length: rounds }, (_, k) => k + 1);
  return gammas.map((gamma) => first.map((rho) => forcedTries(gamma, rho)));
}"""


class Asked(NamedTuple):
    """A problem, and for which states and thresholds it is answered."""

    problem: Problem
    states: list[int]
    thresholds: list[int]
    margin: bool

    def to_json(self) -> dict[str, Any]:
        goal, start = self.problem.goal, self.problem.canonical_start
        return {
            "goal": goal, "pC": self.problem.p_c, "pF": self.problem.p_f,
            "states": self.states, "thresholds": self.thresholds, "margin": self.margin,
            "start": start if isinstance(start, str) else start[0][0],
        }  # fmt: skip


def drawn() -> Iterator[Asked]:
    """Problems in every corner, right next to the boundary, and anywhere."""
    rng = np.random.default_rng(15)
    places = []
    for goal in GOALS:
        for p_c in EDGES:
            b = grbp.boundary(goal, p_c)
            near = [b, b * (1 + 1e-12), b * (1 + 1e-15), b * (1 - 1e-9), b * (1 + 1e-4)]
            places += [(goal, p_c, p_f) for p_f in (0.0, 0.3, 1.0 - 2.0**-53, 1.0, *near)]
    for _ in range(800):
        goal, side = int(rng.choice(GOALS)), rng.choice([-1.0, 1.0])
        low, high = 10.0 ** rng.uniform(-18, 0), 1.0 - 10.0 ** rng.uniform(-16, 0)
        half = 0.5 + side * 10.0 ** rng.uniform(-17, -0.31)
        p_c = float(rng.choice([rng.random(), low, high, half]))
        near = grbp.boundary(goal, p_c) * (1 + side * 10.0 ** rng.uniform(-15, -1))
        places.append((goal, p_c, float(rng.choice([rng.random(), near]))))
    for k, (goal, p_c, p_f) in enumerate(places):
        start = "uniform" if goal < 1000 else int(rng.integers(1, goal))
        states = sorted({1, min(2, goal - 1), goal // 2, goal - 1, int(rng.integers(1, goal))})
        thresholds = sorted({0, 1, goal // 2, goal - 1})
        # There are fewer margins because they take longest.
        problem = Problem(goal, p_c, min(p_f, 1.0), start)
        yield Asked(problem, states, thresholds, margin=k % 3 == 0)
    for goal, p_c, p_f in (
        (10**5, 0.5 + 1e-6, 0.1), (10**5, 0.499, 1e-9), (10**6, 0.5, 2e-6), (10**6, 0.3, 0.0),
        (10**6, 0.5 - 1e-7, 0.3), (10**6, 0.5001, 1e-4), (10**6, 0.75, 0.5), (10**6, 1 - 1e-9, 1.0),
    ):  # fmt: skip
        states = [1, 2, goal // 2, goal - 1]
        yield Asked(Problem(goal, p_c, p_f, goal // 3), states, [0, 1, goal - 1], margin=True)


def answered(browser: Watched, question: str, given: Any) -> Any:
    """Ask a question in a page that can load the module of the closed forms."""
    with browser.page() as page:
        page.route(f"{HERE}/", lambda route: route.fulfill(body="", content_type="text/html"))
        script: Any = {"content_type": "text/javascript", "path": STATIC / "exact.js"}
        page.route(f"{HERE}/static/exact.js", lambda route: route.fulfill(**script))
        page.goto(f"{HERE}/")
        return page.evaluate(question, given)


@pytest.fixture(scope="module")
def answers(browser: Watched) -> list[tuple[Asked, dict[str, Any]]]:
    asked = list(drawn())
    said = answered(browser, ASK, [one.to_json() for one in asked])
    return list(zip(asked, said, strict=True))


def assert_same(found: Any, expected: Any, about: object) -> int:
    """Compare to eleven digits, but for what underflows; return how many numbers there were."""
    a, b = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape
    assert (np.abs(a - b) <= 1e-11 * np.abs(b) + 1e-300).all(), (about, a, b)
    return a.size


def test_boundaries_and_thresholds(answers: list[tuple[Asked, dict[str, Any]]]) -> None:
    assert len(answers) > 2000
    ties = 0
    for (problem, *_), said in answers:
        assert_same(said["boundary"], grbp.boundary(problem.goal, problem.p_c), problem)
        # To eleven digits of the difference itself, however near the two are.
        assert_same(said["excess"], excess(problem), problem)
        assert said["best"] == grbp.optimal_threshold(problem), problem
        ties += said["excess"] == 0.0
    assert 100 < ties < len(answers) / 2


def test_values_gaps_and_their_means(answers: list[tuple[Asked, dict[str, Any]]]) -> None:
    compared = 0
    for (problem, states, thresholds, _), said in answers:
        at = np.array(states) - 1
        values = [grbp.value_at(problem, tau) for tau in thresholds]
        gaps = [grbp.gap_at(problem, tau) for tau in thresholds]
        compared += assert_same(said["values"], [one[at] for one in values], problem)
        compared += assert_same(said["gaps"], [one[at] for one in gaps], problem)
        pairs = zip(values, gaps, strict=True)
        means = [problem.start_mean(one) for pair in pairs for one in pair]
        compared += assert_same(said["means"], means, problem)
    assert compared > 50_000


def test_seen_from_the_goal_going_down_is_going_up(
    answers: list[tuple[Asked, dict[str, Any]]],
) -> None:
    compared = 0
    for (problem, states, *_), said in answers:
        turned = Problem(problem.goal, 1.0 - problem.p_c, 0.0)
        if 1.0 - turned.p_c == problem.p_c:  # else 1 - p_c was rounded
            compared += assert_same(said["hits"], grbp.value_at(turned, 0, states), problem)
    assert compared > 4000


def test_margins_and_where_they_end(answers: list[tuple[Asked, dict[str, Any]]]) -> None:
    compared = 0
    for (problem, *_, margin), said in answers:
        if margin:
            compared += assert_same(said["margin"], grbp.margin(problem), problem)
            assert said["margin"] <= abs(said["excess"]) * (1 + 1e-9)
            across = said["foot"] - problem.p_c
            along = grbp.boundary(problem.goal, said["foot"]) - problem.p_f
            assert float(np.hypot(across, along)) == pytest.approx(
                said["margin"], rel=1e-6, abs=1e-12
            )
    assert compared > 600


def test_forced_tries_are_those_of_the_rule(browser: Watched) -> None:
    gammas, rounds = [0.3, 1.0, 15.0, 62.5, 100.0], 1500
    said = answered(browser, FORCED, [[0.0, *gammas], rounds])
    assert said[0] == [0] * rounds
    for gamma, found in zip(gammas, said[1:], strict=True):
        # The estimates always call FINISH wrong, so it is tried where it is forced and only there.
        learner = grbp.find_learner(f"getbe-sm:gamma={gamma}", 4)
        assert isinstance(learner, Learner)
        tried, expected = 0, []
        for rho in range(1, rounds + 1):
            # As good as none at first: what was never tried at all is called right.
            counters = Counters(rho, max(tried, 1e-9), 0.0, 50.0, 40.0, 0.0, 0.0, 0.0, 0.0)
            tried += learner.choose(4, counters, 0) == 3
            expected.append(tried)
        assert found == expected, gamma


CHAINS: Final = """async (chains) => {
  const { bestStops, chainValues } = await import("/static/exact.js");
  return chains.map((chain) => {
    const stops = bestStops(chain);
    const thresholds = Array.from({ length: stops.length + 1 }, (_, tau) => tau);
    const below = thresholds.map((tau) => stops.map((_, k) => k < tau));
    return { stops, values: [stops, ...below].map((policy) => chainValues(chain, policy)) };
  });
}"""


def drawn_chains() -> Iterator[tuple[list[float], list[float]]]:
    """Chances by state: anywhere, in the corners, rising, and on ties, where rounding decides."""
    rng = np.random.default_rng(28)
    corners = [0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.5, 1.0 - 1e-9, 1.0 - 2.0**-53, 1.0]
    for k in range(600):
        chances = rng.random((2, int(rng.integers(1, 12))))
        if k % 2:
            chances = chances.round(1)  # many are equal
        if k % 3 == 0:
            chances = np.where(
                rng.random(chances.shape) < 0.4, rng.choice(corners, chances.shape), chances
            )
        if k % 5 == 0:
            chances[1].sort()
        yield chances[0].tolist(), chances[1].tolist()
    for goal in range(2, 13):
        fair = [0.5] * (goal - 1)
        yield fair, [s / goal for s in range(1, goal)]  # nothing is better than anything else
        yield fair, [0.0] * (goal - 1)
        yield [0.0] * (goal - 1), [0.0] * (goal - 1)
        yield [1.0] * (goal - 1), [1.0] * (goal - 1)
        yield [1.0, 0.0] * (goal - 1), [0.0] * (2 * goal - 2)  # to and fro for ever
        yield [1.0, *[1e-300] * (goal - 1)], [0.0, *[0.5] * (goal - 1)]


def test_chains_whose_chances_differ_by_state(browser: Watched) -> None:
    chains = list(drawn_chains())
    said = answered(browser, CHAINS, [{"pC": up, "pF": finish} for up, finish in chains])
    kinds = set()
    for (up, finish), found in zip(chains, said, strict=True):
        chain = Chain(len(up) + 1, Move(up, 1.0 - np.array(up)), finish)
        best = solve(chain)
        assert found["stops"] == best.action.astype(bool).tolist(), chain
        below = np.tri(len(up) + 1, len(up), -1, dtype=int)
        expected = [best.value, *(evaluate(chain, policy).value for policy in below)]
        assert_same(found["values"], expected, chain)
        kinds.add(best.threshold)
    assert {None, 0, 1, 5} <= kinds
