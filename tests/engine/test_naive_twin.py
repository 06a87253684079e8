"""A naive twin of the engine, from Algorithm 1 and nothing else: final regret has its law."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from runs import FIGURE_3, FIGURE_4
from scipy import stats

from grbp import Problem
from grbp.experiments.simulation import simulate

Twin = Callable[[int, dict[str, float], np.random.Generator], int]


def twin_regret(choose: Twin, problem: Problem, rounds: int, rng: np.random.Generator) -> float:
    """The pseudo-regret of one run, with its own way to walk and to count."""
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    n = {"rho": 1.0, "F": 1.0, "FG": rng.random(), "C": 1.0, "Cu": rng.random()}
    n |= {"n0": 0.0, "w0": 0.0, "n1": 0.0, "w1": 0.0}
    continue_value = twin_values(problem)
    regret = 0.0
    for _ in range(rounds):
        tau = choose(goal, n, rng)
        state = int(rng.integers(1, goal))
        t = {"F": 0, "FG": 0, "C": 0, "Cu": 0}
        while state not in (0, goal):
            if state <= tau:
                state = goal if rng.random() < p_f else 0
                t["F"] += 1
                t["FG"] = int(state == goal)
            else:
                up = rng.random() < p_c
                state += 1 if up else -1
                t["C"] += 1
                t["Cu"] += int(up)
        for name, count in t.items():
            n[name] += count
        if tau < 2:
            n[f"n{tau}"] += 1
            n[f"w{tau}"] += state == goal
        n["rho"] += 1
        regret += max(continue_value[0], continue_value[1]) - continue_value[tau]
    return regret


def twin_values(problem: Problem) -> dict[int, float]:
    """The values of thresholds 0, 1 and goal - 1 from a uniform start, by repeated sweeps."""
    found = {}
    for tau in (0, 1, problem.goal - 1):
        v = np.zeros(problem.goal + 1)
        v[-1] = 1.0
        for _ in range(500):
            v[1:-1] = problem.p_c * v[2:] + (1 - problem.p_c) * v[:-2]
            v[1 : tau + 1] = problem.p_f
        found[tau] = float(v[1:-1].mean())
    return found


def twin_estimate(goal: int, p_f: float, p_c: float) -> int:
    if p_c in (0.0, 1.0):
        b = p_c
    elif p_c == 0.5:
        b = 1 / goal
    else:
        r = (1 - p_c) / p_c
        b = (1 - r) / (1 - r**goal)
    return 1 if p_f >= b else 0


def twin_sm(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    tau = twin_estimate(goal, n["FG"] / n["F"], n["Cu"] / n["C"])
    return goal - 1 if tau == 0 and n["F"] < 15 * math.log(n["rho"]) else tau


def twin_no_explore(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    return twin_estimate(goal, n["FG"] / n["F"], n["Cu"] / n["C"])


def twin_ucb(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    log = 2 * math.log(n["F"] + n["C"])
    p_f = min(1.0, n["FG"] / n["F"] + math.sqrt(log / n["F"]))
    return twin_estimate(goal, p_f, min(1.0, n["Cu"] / n["C"] + math.sqrt(log / n["C"])))


def twin_ps(goal: int, n: dict[str, float], rng: np.random.Generator) -> int:
    p_f = rng.beta(1 + n["FG"], 1 + n["F"] - n["FG"])
    return twin_estimate(goal, p_f, rng.beta(1 + n["Cu"], 1 + n["C"] - n["Cu"]))


def twin_ps_policies(_: int, n: dict[str, float], rng: np.random.Generator) -> int:
    draw = [rng.beta(1 + n[f"w{k}"], 1 + n[f"n{k}"] - n[f"w{k}"]) for k in (0, 1)]
    return int(draw[1] >= draw[0])


def twin_ucb_policies(_: int, n: dict[str, float], __: np.random.Generator) -> int:
    if n["rho"] <= 2:
        return int(n["rho"]) - 1
    log = 2 * math.log(n["rho"] - 1)
    index = [n[f"w{k}"] / n[f"n{k}"] + math.sqrt(log / n[f"n{k}"]) for k in (0, 1)]
    return int(index[1] >= index[0])


@pytest.mark.sample("figure 3-getbe-sm-*", "figure 4-getbe-ps-*", "figure 4-getbe-ucb-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("getbe-sm", twin_sm),
        ("getbe-ps", twin_ps),
        ("getbe-ucb", twin_ucb),
        ("no-explore", twin_no_explore),
        ("ps-polselection", twin_ps_policies),
        ("ucb-polselection", twin_ucb_policies),
    ],
)
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4], ids=["figure 3", "figure 4"])
def test_final_regret_has_the_law_of_the_naive_twin(
    name: str, twin: Twin, problem: Problem
) -> None:
    """Two samples of one distribution; means within 4 standard errors of each other."""
    rng = np.random.default_rng(11)
    naive = np.array([twin_regret(twin, problem, 200, rng) for _ in range(200)])
    for engine in ("walk", "leap"):
        ours = simulate(problem, [name], 200, 3000, 5, engine=engine).curves[name]
        assert stats.ks_2samp(naive.round(9), ours.final.round(9)).pvalue > 1e-3, engine
        se = math.hypot(naive.std(ddof=1) / math.sqrt(200), float(ours.se[-1]))
        assert abs(naive.mean() - ours.mean[-1]) <= 4 * se, engine
