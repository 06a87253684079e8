"""V* against solvers that nobody here wrote, through the two exports."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional import optional

import grbp
from grbp import Problem
from grbp.worlds.chain import Chain
from grbp.worlds.dynprog import evaluate, solve_many

pytestmark = pytest.mark.soak


def drawn(count: int) -> list[Problem]:
    """Problems of all kinds, the same ones each time; extremes first."""
    rng = random.Random(2016)  # noqa: S311
    problems = [
        Problem(4, 0.45, 0.3),
        Problem(4, 0.65, 0.3),
        Problem(2, 0.5, 0.5),
        Problem(6, 1e-12, 0.3),
        Problem(6, 1 - 1e-9, 0.999),
        Problem(12, 0.5, 1 / 12),
        Problem(3, 1.0, 0.5),
        Problem(3, 0.0, 0.5, start=2),
    ]
    while len(problems) < count:
        goal = rng.choice([2, 3, 4, 5, 8, 13, 30])
        start: Any = rng.choice(
            [
                "uniform",
                rng.randint(1, goal - 1),
                {1: 0.3, goal - 1: 0.7} if goal > 2 else "uniform",
            ]
        )
        problems.append(Problem(goal, rng.random(), rng.random(), start))
    return problems


@pytest.fixture(scope="module")
def storm() -> Any:
    return optional("stormpy")


@pytest.fixture(scope="module")
def markov() -> Any:
    return optional("quantecon.markov")


def storm_answers(storm: Any, problem: Problem, path: Path, query: str) -> dict[int, Fraction]:
    """What Storm answers in exact rationals: by state, and under -1 averaged over the start."""
    path.write_text(grbp.to_prism(problem), "utf-8")
    program = storm.parse_prism_program(str(path))
    prop = storm.parse_property(query, program)
    options = storm.BuilderOptions(prop)
    options.set_build_state_valuations()
    model = storm.build_model[storm.Rational](program, options=options)
    result = storm.model_checking(model, prop)
    answers = {}
    for state in range(model.nr_states):
        names = json.loads(str(model.state_valuations.to_json(state)))
        where = int(names["s"]) if names["started"] else -1
        answers[where] = Fraction(str(result.get_value(state)))
    return answers


def check_against_storm(storm: Any, problem: Problem, path: Path) -> None:
    answers = storm_answers(storm, problem, path, 'Pmax=? [F "goal"]')
    tau = grbp.optimal_threshold(problem)
    mine = grbp.value_at(problem, tau)
    # The PRISM file holds the decimals of the floats; both round the same number.
    assert float(answers[-1]) == pytest.approx(grbp.value(problem, tau), rel=1e-12, abs=1e-300)
    for state, true in answers.items():
        if 0 < state < problem.goal:
            assert mine[state - 1] == pytest.approx(float(true), rel=1e-12, abs=1e-300)


@pytest.mark.slow
def test_optimal_value_equals_storms(storm: Any, tmp_path: Path) -> None:
    problems = drawn(120)
    for problem in problems:
        check_against_storm(storm, problem, tmp_path / "round.prism")
    assert {grbp.region(problem) for problem in problems} == set(grbp.Region)


def test_round_length_equals_storms(storm: Any, tmp_path: Path) -> None:
    # The least expected number of slots until the end: finish at once. The largest: never.
    for problem in drawn(20):
        if not 0 < problem.p_c < 1:
            continue
        query = 'R{"slots"}max=? [F "goal" | "dead_end"]'
        longest = storm_answers(storm, problem, tmp_path / "round.prism", query)
        slots = grbp.expected_slots(problem, 0)
        assert float(longest[-1]) == pytest.approx(slots, rel=1e-11)


def test_optimal_value_equals_undiscounted_value_iteration(markov: Any) -> None:
    for problem in drawn(40):
        if problem.goal > 13:
            continue
        table = grbp.to_toy_text(problem)
        n = problem.goal + 1
        reward, law = np.zeros((n, 2)), np.zeros((n, 2, n))
        for state, actions in table.items():
            for action, outcomes in actions.items():
                for p, to, r, _ in outcomes:
                    law[state, action, to] += p
                    reward[state, action] += p * r
        with pytest.warns(UserWarning, match="infinite horizon solution methods are disabled"):
            program = markov.DiscreteDP(reward, law, 1.0)
        values, _ = markov.backward_induction(program, 3000)
        best = grbp.value_at(problem, grbp.optimal_threshold(problem))
        np.testing.assert_allclose(values[0][1:-1], best, rtol=1e-10)
        # The table is the problem: a policy played on it is worth what the solver says.
        never = evaluate(Chain.of(problem), np.zeros(problem.goal - 1, int)).value
        stay = law[1:-1, 0, 1:-1]
        np.testing.assert_allclose(never, stay @ never + reward[1:-1, 0], rtol=1e-12, atol=1e-300)


def test_chains_that_jump_equal_undiscounted_value_iteration(markov: Any) -> None:
    rng = np.random.default_rng(2016)
    for goal in (2, 3, 5, 9):
        laws = rng.dirichlet(np.full(goal + 1, 0.5), (5, goal - 1))
        finishes = rng.random((5, goal - 1)) ** 2
        many = solve_many(laws, finishes)
        for moves, p_f, value in zip(laws, finishes, many.value, strict=True):
            law = np.zeros((goal + 1, 2, goal + 1))
            law[0, :, 0] = law[goal, :, 0] = 1.0  # the reward for the goal is given once
            law[1:-1, 0], law[1:-1, 1, 0] = moves, 1.0
            reward = np.zeros((goal + 1, 2))
            reward[goal] = 1.0
            reward[1:-1, 1] = p_f
            with pytest.warns(UserWarning, match="infinite horizon solution methods are disabled"):
                program = markov.DiscreteDP(reward, law, 1.0)
            values, _ = markov.backward_induction(program, 3000)
            np.testing.assert_allclose(values[0][1:-1], value, rtol=1e-10)


def test_prism_text_is_what_it_says() -> None:
    text = grbp.to_prism(Problem(5, 0.45, 1e-12, {1: 0.1, 3: 0.2, 4: 0.7}))
    assert "const int goal_state = 5;" in text
    assert "const double p_c = 0.45;" in text
    assert "const double p_f = 1e-12;" in text
    weights = [line.split(":")[0].strip() for line in text.splitlines() if "started'=true" in line]
    assert weights == ["0.1", "0.2", "(1 - 0.1 - 0.2)"]
    # The rest goes to the largest, so that nothing turns negative or zero.
    text = grbp.to_prism(Problem(4, 0.45, 0.3, {1: 0.9, 2: 0.1, 3: 1e-20}))
    weights = [line.split(":")[0].strip() for line in text.splitlines() if "started'=true" in line]
    assert weights == ["(1 - 0.1 - 1e-20)", "0.1", "1e-20"]


def test_toy_text_ends_are_absorbing() -> None:
    table = grbp.to_toy_text(Problem(3, 0.45, 0.3))
    assert list(table) == [0, 1, 2, 3]
    assert table[0] == {0: [(1.0, 0, 0.0, True)], 1: [(1.0, 0, 0.0, True)]}
    assert table[2][0] == [(0.45, 3, 1.0, True), (0.55, 1, 0.0, False)]
    assert table[2][1] == [(0.3, 3, 1.0, True), (0.7, 0, 0.0, True)]
