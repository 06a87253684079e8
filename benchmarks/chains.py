"""What learners lose on chains whose chances differ by state, measured in one run.

    .venv/bin/python benchmarks/chains.py            # prints, and writes chains.md
    .venv/bin/python benchmarks/chains.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/chains.py --only judged

How they decide, and what they cannot learn: docs/chains-learners.md.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

import grbp
from columns import Columns
from grbp.engine.losses import losses
from grbp.learners.averaged_states import log_beta
from grbp.learners.best_policy import best_policy
from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.arrays import Floats
from grbp.numerics.beta import gamma_pair
from grbp.numerics.jit import kernel
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.chain import Chain, Move
from measure import Effort, in_turn, say
from regrets import Estimate, Map
from reinforcement import QLearning, Ucrl2, played_by_steps
from sections import Section, Sections, run

MARKS = (500, 5000)
AVERAGED, PSRL = "averaged-states", "psrl"
LEARNERS = (AVERAGED, PSRL, "kl-ucb-states", "doorstep-optimal", "getbe-ps")
SEED = 2026
"""The seed of everything here; the constants were chosen with other seeds and other chains."""

LEGEND = (
    "Regret is what the best policy of the chain would have won more, each round priced by the"
    " policy played; first states are uniform. After ± stands one standard error, the chains"
    " taken as given. Fig. 3: G = 4, p_C = .45, p_F = .3 in all states; Fig. 4: p_C = .65. Random"
    " chains: p_C uniform on [.3, .8] and p_F on [.1, .9], in each state its own. Field goals:"
    " G = 6, p_F = .01 .02 .1 .76 .93, p_C = .85 .7 .55 .4 .25. No learner knows the horizon."
    f" Seed {SEED}."
)


def chain_of(p_c: Sequence[float] | Floats, p_f: Sequence[float] | Floats) -> Chain:
    """The chain with these chances by state."""
    up = np.asarray(p_c, dtype=float)
    return Chain(len(up) + 1, Move(up, 1.0 - up), np.asarray(p_f, dtype=float))


def random_chains(goal: int, count: int, wide: bool = False) -> list[Chain]:
    """Chains drawn from the seed: as the legend says or, if wide, with any chances."""
    random = np.random.default_rng((SEED, goal, int(wide)))
    low_c, high_c, low_f, high_f = (0.0, 1.0, 0.0, 1.0) if wide else (0.3, 0.8, 0.1, 0.9)
    return [
        chain_of(random.uniform(low_c, high_c, goal - 1), random.uniform(low_f, high_f, goal - 1))
        for _ in range(count)
    ]


FIG3, FIG4 = chain_of([0.45] * 3, [0.3] * 3), chain_of([0.65] * 3, [0.3] * 3)
FIELD_GOALS = chain_of([0.85, 0.7, 0.55, 0.4, 0.25], [0.01, 0.02, 0.1, 0.76, 0.93])


def places(effort: Effort) -> dict[str, list[Chain]]:
    """The chains of every column."""
    count = effort.choose(3, 40)
    return {
        "Fig. 3": [FIG3],
        "Fig. 4": [FIG4],
        "random, G = 4": random_chains(4, count),
        "random, G = 6": random_chains(6, count),
        "field goals": [FIELD_GOALS],
    }


def regret(
    chains: Sequence[Chain], learner: str | StateLearner, replicas: int,
    marks: Sequence[int] = MARKS,
) -> list[Estimate]:  # fmt: skip
    """Mean regret over some chains at every mark, with so many replicas in all."""
    each = max(2, replicas // len(chains))
    found = grbp.find_learner(learner, chains[0].goal)
    lost = [losses(chain, found, marks, each, SEED + k)[0] for k, chain in enumerate(chains)]  # type: ignore[arg-type]
    means = np.array([one.mean(axis=0) for one in lost])
    errors = np.array([one.std(axis=0, ddof=1) for one in lost]) / math.sqrt(each)
    return [Map(means[:, k], errors[:, k]).all for k in range(len(marks))]


def joined(estimates: Sequence[Estimate]) -> str:
    """Estimates at several marks in one cell."""
    return " / ".join(map(str, estimates))


def table(effort: Effort) -> list[Columns]:
    """Everyone on every kind of chain, after 500 and 5,000 rounds."""
    replicas, where = effort.choose(20, 600), places(effort)
    whole = Columns(f"{replicas:,} replicas, over all chains of a column", ("", *where))
    for name in LEARNERS:
        say(name)
        whole.rows.append(
            (name, *(joined(regret(chains, name, replicas)) for chains in where.values()))
        )
    whole.notes.append(
        "The targets of `averaged-states` at 5,000 rounds: 10, 12, none, 28 and 25. `getbe-ps` and"
        " `doorstep-optimal` believe in one chance for all states, and play a threshold."
    )
    return [whole]


def told(effort: Effort) -> list[Columns]:
    """The averaged learner where it knows how many rounds there will be."""
    replicas, where = effort.choose(20, 600), places(effort)
    one = Columns(f"Regret after as many rounds as it is told, {replicas:,} replicas", ("", *where))
    for rounds in MARKS:
        name = f"{AVERAGED}:horizon={rounds}"
        cells = (regret(chains, name, replicas, (rounds,))[0] for chains in where.values())
        one.rows.append((name, *map(str, cells)))
    return [one]


# The line along which prior odds alone trade one for the other.


class Odds(NamedTuple):
    """The prior odds of one chance for all states."""

    odds: float = 1.0


@kernel
def draw_chances(won: Floats, lost: Floats, odds: float, key: int) -> Floats:
    """Draw which model holds, by its posterior probability, and then the chances."""
    count, apart = len(won), 0.0
    for k in range(count):
        apart += log_beta(1.0 + won[k], 1.0 + lost[k])
    gain = log_beta(1.0 + won.sum(), 1.0 + lost.sum()) - apart + math.log(odds)
    chances = np.empty(count)
    if uniform(key, 0) * (1.0 + math.exp(min(700.0, -gain))) < 1.0:
        x, y = gamma_pair(fold_in(key, 1), 1.0 + won.sum(), 1.0 + lost.sum())
        chances[:] = x / (x + y)
        return chances
    for k in range(count):
        x, y = gamma_pair(fold_in(key, 2 + k), 1.0 + won[k], 1.0 + lost[k])
        chances[k] = x / (x + y)
    return chances


@kernel
def sample_a_model(goal: int, constants: Odds, n: StateCounters, key: int) -> int:  # noqa: ARG001
    """Draw whether all states share a chance, for each action apart, and then the chances."""
    up = draw_chances(n.up, n.down, constants.odds, fold_in(key, 0))
    return best_policy(up, draw_chances(n.won, n.lost, constants.odds, fold_in(key, 1)))


def odds(effort: Effort) -> list[Columns]:
    """Posterior sampling over the two models, with prior odds for the paper's."""
    replicas, where = effort.choose(20, 300), places(effort)
    line = Columns(f"Regret after {MARKS[-1]:,} rounds, {replicas:,} replicas", ("", *where))
    learners: list[tuple[str, str | StateLearner]] = [
        (f"odds {odds:g}", StateLearner(f"odds-{odds:g}", sample_a_model, Odds(odds)))
        for odds in (1.0, 9.0, 99.0, 999.0)
    ]
    for name, learner in [*learners, (AVERAGED, AVERAGED)]:
        cells = (regret(chains, learner, replicas)[-1] for chains in where.values())
        line.rows.append((name, *map(str, cells)))
    return [line]


# Chains, goals and horizons that chose no constant.


def judged(effort: Effort) -> list[Columns]:
    """Random chains of other goals, narrow and wide, at three horizons."""
    marks = (500, 5000, effort.choose(6000, 50_000))
    count, replicas = effort.choose(2, 20), effort.choose(4, 60)
    heads = ("", *(f"G = {goal}" for goal in (3, 5, 8)))
    title = "Random chains: regret after " + ", ".join(f"{mark:,}" for mark in marks) + " rounds"
    tables = []
    for wide in (False, True):
        say("wide" if wide else "narrow")
        drawn = "all chances uniform on [0, 1]" if wide else "drawn as the legend says"
        one = Columns(f"{title}; {drawn}; {replicas} replicas on {count} chains", heads)
        for name in LEARNERS[:3]:
            cells = [
                joined(regret(random_chains(goal, count, wide), name, replicas, marks))
                for goal in (3, 5, 8)
            ]
            one.rows.append((name, *cells))
        tables.append(one)
    return tables


# Learners of any Markov decision process.


def general(effort: Effort) -> list[Columns]:
    """UCRL2 and Q-learning, which know neither the moves nor what FINISH does."""
    replicas, where = effort.choose(2, 10), places(Effort(quick=True))
    rounds = effort.choose(500, MARKS[-1])
    one = Columns(f"Regret after {rounds:,} rounds, {replicas} replicas a chain", ("", *where))
    for name, make in (("UCRL2", Ucrl2), ("Q-learning", QLearning)):
        cells = []
        for chains in where.values():
            lost = [
                [
                    played_by_steps(chain, make(chain.goal), rounds, SEED + r)
                    for r in range(replicas)
                ]
                for chain in chains
            ]
            means, errors = np.mean(lost, axis=1), np.std(lost, axis=1, ddof=1) / replicas**0.5
            cells.append(str(Map(means, errors).all))
        one.rows.append((name, *cells))
    ours = (regret(chains, AVERAGED, 100, (rounds,))[0] for chains in where.values())
    one.rows.append((AVERAGED, *map(str, ours)))
    one.notes.append(
        "Columns of random chains have three of them. A round is priced by the gaps of its"
        " actions, V*(s) - Q*(s, a), as these change their minds in the middle of a round. UCRL2"
        " is that of Jaksch, Ortner and Auer (2010) with delta = .05; Q-learning has steps"
        " 1/n^0.7, starts at 1/2, and acts at random with probability 1/sqrt(round)."
    )
    return [one]


def cost(effort: Effort) -> list[Columns]:
    """The time of a round, in one thread, and its ratio to that of getbe-ps."""
    replicas, rounds = effort.choose(10, 60), 5000
    where = {"Fig. 4": FIG4, "field goals": FIELD_GOALS}
    tasks = {
        (place, name): partial(
            losses, chain, grbp.find_learner(name, chain.goal), (rounds,), replicas, SEED, threads=1
        )
        for place, chain in where.items()
        for name in ("getbe-ps", *LEARNERS[:3])
    }
    took = in_turn(tasks, effort.passes + 1)
    one = Columns("Time of a round over that of getbe-ps, in one thread", ("", *where))
    for name in ("getbe-ps", *LEARNERS[:3]):
        ratios = (took[place, name] / took[place, "getbe-ps"] for place in where)
        one.rows.append((name, *(f"{ratio:.1f}" for ratio in ratios)))
    one.notes.append("The shortest of several times, taken in turn. The target is at most 10.")
    return [one]


SECTIONS: Sections = {
    "table": Section("Learners on chains", table),
    "told": Section("Told how many rounds there will be", told),
    "odds": Section("Prior odds for one chance, and the averaged learner", odds),
    "judged": Section("Chains, goals and horizons that chose no constant", judged),
    "general": Section("Learners of any decision process", general),
    "cost": Section("What a round costs", cost, timed=True),
}

if __name__ == "__main__":
    run(__file__, "Learners of chains whose chances differ by state", LEGEND, SECTIONS)
