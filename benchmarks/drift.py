"""What learners lose where chances drift, with and without a memory; and where groups differ.

    .venv/bin/python benchmarks/drift.py                  # prints, and writes drift.md
    .venv/bin/python benchmarks/drift.py --only judged    # one section, which only prints
    .venv/bin/python benchmarks/drift.py --quick          # with few replicas, which only prints

Regret is against the best policy of each moment; there is one start, uniform over inner states.
The constants of the averaged memory were chosen on the drifts of the first section and on three
drifts of p_F, with other seeds, and were fixed before the second section was first run.
"""

import time
from collections.abc import Mapping, Sequence

import numpy as np

import grbp
from columns import Columns
from grbp.engine.losses import losses
from grbp.learners.base import Learner
from grbp.numerics.arrays import Floats
from grbp.worlds.world import World
from measure import Effort, in_turn, say
from regrets import Estimate
from sections import Section, Sections, run

ROUNDS, GOAL, P_F, LOW, HIGH = 5000, 4, 0.3, 0.45, 0.65
BASES = ("getbe-ps", "doorstep-optimal")
MEMORIES = {
    "never forgets": "", "memory 2,000": ":memory=2000", "memory 500": ":memory=500",
    "memory 150": ":memory=150", "averaged": ":memory=averaged",
}  # fmt: skip
LEGEND = (
    "Regret against the best policy of each moment, mean and standard error. First states are"
    " uniform over inner states. Averaged: drawn from five memories, by how well each foretold."
)


def problem(p_c: float, p_f: float = P_F, goal: int = GOAL) -> grbp.Problem:
    """A problem with the goal and p_f of the first section, unless told otherwise."""
    return grbp.Problem(goal, p_c, p_f)


def along(path: Floats, rounds: int, p_f: float = P_F, goal: int = GOAL) -> grbp.Drift:
    """A drift of p_c through the points of a path, equally far apart."""
    at = np.linspace(1, rounds, len(path)).round().astype(int)
    return grbp.Drift(
        [(int(k), problem(float(p_c), p_f, goal)) for k, p_c in zip(at, path, strict=True)]
    )


def jumping(stages: Sequence[grbp.Problem], rounds: int) -> grbp.Drift:
    """A drift that jumps from one problem to the next, each for as long."""
    length = rounds // len(stages)
    return grbp.Drift([(1 + k * length, one) for k, one in enumerate(stages)], "jumps")


def swings(low: float, high: float, periods: float) -> Floats:
    """A path that swings around the middle, upwards first."""
    turn = np.linspace(0.0, 2.0 * np.pi * periods, 1 + round(100 * periods))
    return 0.5 * (low + high) + 0.5 * (high - low) * np.sin(turn)


def drifts() -> dict[str, World]:
    """The drifts of the first section, by name."""
    return {
        "always .45": problem(LOW),
        "always .65": problem(HIGH),
        "rising": along(np.array([LOW, HIGH]), ROUNDS),
        "falling": along(np.array([HIGH, LOW]), ROUNDS),
        "sine": along(swings(LOW, HIGH, 1.0), ROUNDS),
        "five levels": jumping([problem(p) for p in (LOW, HIGH, LOW, HIGH, LOW)], ROUNDS),
    }


def estimate(lost: Floats) -> Estimate:
    """The mean over replicas, with its standard error."""
    return Estimate(float(lost.mean()), float(lost.std(ddof=1) / np.sqrt(len(lost))))


def regret(
    world: World, name: str, rounds: int, replicas: int, seed: int, *, pooled: bool = False
) -> Estimate:
    """The regret of a learner after so many rounds."""
    learner = grbp.find_learner(name, world.goal)
    if not isinstance(learner, Learner):
        raise TypeError(f"{name} plays no thresholds")
    return estimate(losses(world, learner, [rounds], replicas, seed, pooled=pooled)[0][:, -1])


def table(
    title: str, worlds: Mapping[str, World], rounds: int, replicas: int, seed: int
) -> Columns:
    """A row for each learner and memory, a column for each world."""
    found = Columns(
        f"{title}: {rounds:,} rounds, {replicas:,} replicas, seed {seed}",
        ("learner, memory", *worlds),
    )
    for base in BASES:
        for memory, setting in MEMORIES.items():
            say(f"{base}, {memory}")
            row = [regret(one, base + setting, rounds, replicas, seed) for one in worlds.values()]
            found.rows.append((f"{base}, {memory}", *map(str, row)))
    return found


def chosen(effort: Effort) -> list[Columns]:
    """Measure the drifts of p_c that the issue names, and drifts of p_f."""
    replicas = effort.choose(20, 200)
    first = table(f"p_F = {P_F}, G = {GOAL}", drifts(), ROUNDS, replicas, 1)
    first.notes.append(
        "Rising and falling: between .45 and .65 in a straight line. Sine: from .55 up to .65, down"
        " to .45 and back. Five levels: .45 and .65 in turn, 1,000 rounds each."
    )
    low, high = problem(0.6, 0.3), problem(0.6, 0.6)
    second = table(
        "p_F drifts",
        {
            "better at 2,501": jumping([low, high], ROUNDS),
            "worse at 2,501": jumping([problem(0.55, 0.5), problem(0.55, 0.2)], ROUNDS),
            "sine": grbp.Drift([(1, low), (2501, high)], "sine"),
        },
        ROUNDS, replicas, 1,
    )  # fmt: skip
    second.notes.append(
        "p_C = .6 and p_F from .3 to .6; p_C = .55 and p_F from .5 to .2; p_C = .6 and p_F between"
        " .3 and .6, once up and down."
    )
    return [first, second]


def judged(effort: Effort) -> list[Columns]:
    """Measure drifts, goals and horizons that chose nothing."""
    replicas = effort.choose(10, 200)
    tables = []
    for rounds in (1000, 5000, 20000):
        worlds: dict[str, World] = {
            "G = 3, still": problem(0.7, 0.35, 3),
            "G = 6, still": problem(0.5, 0.15, 6),
            "G = 3, rising": along(np.array([0.3, 0.75]), rounds, 0.35, 3),
            "G = 6, two swings": along(swings(0.4, 0.7, 2.0), rounds, 0.2, 6),
            "G = 6, one jump": jumping([problem(p, 0.2, 6) for p in (0.45, 0.45, 0.7)], rounds),
            "G = 12, falling": along(np.array([0.65, 0.4]), rounds, 0.15, 12),
            "G = 4, p_F jumps": jumping(
                [problem(0.6, p) for p in (0.55, 0.25, 0.55, 0.25)], rounds
            ),
        }
        tables.append(
            table("Not seen before", worlds, rounds, max(10, replicas * 1000 // rounds), 90)
        )
    return tables


def limits(effort: Effort) -> list[Columns]:
    """Measure changes that come fast, and a learner that counts rounds won alone."""
    replicas, names = effort.choose(10, 100), (BASES[1], "ps-polselection")
    lengths = (1000, 300, 100, 30)
    found = Columns(
        f"p_C is .45 and .65 in turn, p_F = {P_F}, G = {GOAL}: {ROUNDS:,} rounds, {replicas}"
        " replicas, seed 1",
        ("learner, memory", *(f"every {length:,}" for length in lengths)),
    )
    for base in names:
        for memory, setting in MEMORIES.items():
            say(f"{base}, {memory}")
            row = [
                regret(
                    jumping([problem((LOW, HIGH)[k % 2]) for k in range(ROUNDS // n)], ROUNDS),
                    base + setting, ROUNDS, replicas, 1,
                )
                for n in lengths
            ]  # fmt: skip
            found.rows.append((f"{base}, {memory}", *map(str, row)))
    return [found]


SPREADS = ((4, 0.0), (4, 0.03), (4, 0.1), (12, 0.1), (12, 0.2))


def groups(effort: Effort) -> list[Columns]:
    """Measure one set of counters for all groups against one for each."""
    rounds, worlds, replicas, seed = 3000, effort.choose(3, 100), effort.choose(2, 4), 3
    found = Columns(
        f"Groups whose chances lie around (.53, .3), G = {GOAL}: {rounds:,} rounds in all,"
        f" {worlds} draws of the groups with {replicas} replicas each, seed {seed}",
        ("groups, spread", *(f"{base}, {how}" for base in BASES for how in ("pooled", "each"))),
        notes=[
            "Pooled: one set of counters for all groups. Each: one for each group, and nothing is"
            " shared. The chances of a group are normal around these, with the spread as deviation,"
            " and cut off at .05 and .95. Groups are equally frequent."
        ],
    )
    for count, spread in SPREADS:
        say(f"{count} groups, spread {spread}")
        random = np.random.default_rng(seed)
        drawn = [_draw_groups(random, count, spread) for _ in range(worlds)]
        row = [
            estimate(np.array([
                regret(one, base, rounds, replicas, k, pooled=pooled).mean
                for k, one in enumerate(drawn)
            ]))
            for base in BASES for pooled in (True, False)
        ]  # fmt: skip
        found.rows.append((f"{count}, {spread:g}", *map(str, row)))
    return [found]


def _draw_groups(random: np.random.Generator, count: int, spread: float) -> grbp.Groups:
    """Groups with drawn chances."""
    p_c, p_f = np.clip(random.normal([[0.53], [0.3]], spread, (2, count)), 0.05, 0.95)
    return grbp.Groups(
        {f"group {k + 1}": problem(float(p_c[k]), float(p_f[k])) for k in range(count)}
    )


def cost(effort: Effort) -> list[Columns]:
    """Measure how long a round takes, against one of a learner that never forgets."""
    replicas, world = effort.choose(10, 100), problem(LOW)
    names = [
        base + setting for base in BASES for setting in ("", ":memory=500", ":memory=averaged")
    ]
    times = in_turn(
        {name: lambda name=name: regret(world, name, ROUNDS, replicas, 0) for name in names},
        1 + effort.passes,
    )
    found = Columns(
        "The time of a round, over that of getbe-ps without a memory, both walked; one run, which"
        " differs a little from time to time",
        ("learner", "ratio"),
    )
    for name, taken in times.items():
        found.rows.append((name, f"{taken / times['getbe-ps']:.1f}"))
    return [found]


SECTIONS: Sections = {
    "chosen": Section("Drifts, some of which chose the constants", chosen),
    "judged": Section("Judged", judged),
    "groups": Section("Groups", groups),
    "cost": Section("What a memory costs", cost, timed=True),
    "limits": Section("Limits", limits),
}

if __name__ == "__main__":
    began = time.perf_counter()
    run(__file__, "Chances that drift, and groups that differ", LEGEND, SECTIONS)
    say(f"{time.perf_counter() - began:.0f} s in all")
