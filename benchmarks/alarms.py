"""How often the alarms are wrong, and how soon they rise.

    .venv/bin/python benchmarks/alarms.py            # prints, and writes alarms.md
    .venv/bin/python benchmarks/alarms.py --quick    # fewer studies, which only prints
    .venv/bin/python benchmarks/alarms.py --only error

Every study is looked at after every move. The studies of a learner are those of `overlap_world`:
the loop of the live advisor, with cases that overlap and with people who overrule it.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from alarms_world import (
    NEVER,
    Truth,
    chances,
    drawn,
    moves_of_log,
    plain_rises,
    rises,
)
from columns import Columns
from grbp.fitting.watch import NAMES
from grbp.numerics.arrays import Ints
from grbp.numerics.rng import replica_key
from measure import Effort, say
from overlap_world import World, played
from sections import Section, Sections, run

SEED = 28
GROUPS = 2
IN_ALL, EACH = math.log(100.0), math.log(20.0)
"""The bars: with the first, all five together have an error of 5 %; with the second, each has."""

LEGEND = (
    "The truth is known, first states are equally likely, and every study is looked at after every"
    " move. The bar is an evidence of 100, so that the error of all five alarms together is at"
    " most 5 %; or of 20, so that it is at most 5 % for each. G = 4 unless a row says otherwise."
    " There are two groups, whose cases come in turn, with the same chances unless a row says"
    " otherwise. Nobody advises, except where a row names a learner or goals are late: FINISH is"
    " drawn for every move, whatever the state. It is taken in a quarter of the moves where there"
    " is nothing to find and where cases differ. Where there is something to find, and in the first"
    " table against plainer e-processes, it is never taken in the rows of p_C (all moves are"
    " CONTINUE), and in half of the moves in the rows of p_F, where p_C = 0.5. In the truths that"
    " chose no constant it is taken in a tenth of the moves in the rows of p_C, with p_F = 0.3, and"
    " in three tenths in the rows of p_F, with p_C = 0.45. Where there is nothing to find,"
    " p_F = 0.3. Study k, from 0 on, draws with the key replica_key(28, 0, k), against plainer"
    " e-processes with replica_key(28, 1, k), and where it is advised with the seed 28,000 + k."
)


def steady(p_c: object, p_f: object, finish: float, goal: int = 4) -> Truth:
    """The same chances in all cases; one, or by state."""
    return changed((p_c, p_f), (p_c, p_f), finish, goal=goal)


def changed(
    first: tuple[object, object],
    last: tuple[object, object],
    finish: float,
    jump: float = 0.0,
    goal: int = 4,
) -> Truth:
    """Chances that change evenly over the cases, or jump; the groups are alike."""
    both = (chances(*[pair] * GROUPS, goal=goal) for pair in (first, last))
    return Truth(*both, jump, finish)


def grouped(finish: float, *pairs: tuple[object, object]) -> Truth:
    """Chances that differ by group."""
    return Truth(chances(*pairs), chances(*pairs), 0.0, finish)


BY_STATE = {"0.4 0.5 0.6": (0.4, 0.5, 0.6), "0.3 0.5 0.7": (0.3, 0.5, 0.7)}
TRUTHS: Mapping[str, Truth] = {
    **{f"p_C {name} by state": steady(one, 0.5, 0.0) for name, one in BY_STATE.items()},
    "p_C from 0.45 to 0.65, evenly": changed((0.45, 0.5), (0.65, 0.5), 0.0),
    "p_C from 0.45 to 0.65 at case 500": changed((0.45, 0.5), (0.65, 0.5), 0.0, 0.5),
    **{f"p_F {name} by state": steady(0.5, one, 0.5) for name, one in BY_STATE.items()},
    "p_F from 0.45 to 0.65, evenly": changed((0.5, 0.45), (0.5, 0.65), 0.5),
    "p_F from 0.45 to 0.65 at case 500": changed((0.5, 0.45), (0.5, 0.65), 0.5, 0.5),
    "groups: p_C 0.45 and 0.55": grouped(0.0, (0.45, 0.5), (0.55, 0.5)),
    "groups: p_C 0.4 and 0.6": grouped(0.0, (0.4, 0.5), (0.6, 0.5)),
    "groups: p_F 0.4 and 0.6": grouped(0.5, (0.5, 0.4), (0.5, 0.6)),
}
"""The first four are moves of CONTINUE alone; in those of p_F, FINISH is taken half of the time."""

OTHERS: Mapping[str, Truth] = {
    "p_C 0.55 0.6 0.65 by state": steady((0.55, 0.6, 0.65), 0.3, 0.1),
    "p_C 0.6 0.7 0.6 by state": steady((0.6, 0.7, 0.6), 0.3, 0.1),
    "p_C 0.35 0.4 0.45 0.5 0.55, goal 6": steady((0.35, 0.4, 0.45, 0.5, 0.55), 0.3, 0.1, goal=6),
    "p_C from 0.7 to 0.55, evenly": changed((0.7, 0.3), (0.55, 0.3), 0.1),
    "p_C from 0.6 to 0.5 at case 500": changed((0.6, 0.3), (0.5, 0.3), 0.1, 0.25),
    "p_F 0.1 0.2 0.3 by state": steady(0.45, (0.1, 0.2, 0.3), 0.3),
    "p_F from 0.15 to 0.35 at case 500": changed((0.45, 0.15), (0.45, 0.35), 0.3, 0.25),
}
"""Truths that chose nothing: the constants of the alarms were chosen on those above."""


def counted(studies: Iterable[Callable[[], Ints]]) -> Ints:
    """The cases at which alarms rise, [study, alarm]; the order is that of the studies."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.array([*pool.map(lambda study: study(), studies)])


def watched(truth: Truth, cases: int, number: int, bar: float) -> Ints:
    """Where the alarms of one study rise."""
    groups, _, states = truth.first.shape
    moves = drawn(truth, cases, np.uint64(replica_key(SEED, 0, number)))
    return rises(states + 1, groups, moves, bar)


def advised(learner: str, world: World, number: int) -> Ints:
    """Where the alarms of one study of the live advisor rise."""
    moves = moves_of_log(played(learner, world, 1000 * SEED + number).log, GROUPS)
    return rises(world.goal, GROUPS, moves, IN_ALL)


def error(effort: Effort) -> list[Columns]:
    """How often an alarm rises where there is nothing to find."""
    studies, cases = effort.choose(200, 10_000), 2000
    table = Columns(
        f"The share of {studies:,} studies of {cases:,} cases in which an alarm rose, with one"
        " chance for all",
        ["studies", *NAMES, "any"],
        notes=[
            "At most 5 % may have any. Practice: FINISH in a quarter of the moves, whatever the"
            " state. Advised: by the live advisor, with the learner's own actions; overlapping:"
            " with 20 cases open at any time, whose moves are told as they end; overruled: a fifth"
            " of the actions in all states are not those advised. There are two groups."
        ],
    )
    kinds: dict[str, Callable[[int], Ints]] = {}
    for goal, p_c in ((4, 0.5), (4, 0.65), (8, 0.5), (8, 0.65)):
        truth = steady(p_c, 0.3, 0.25, goal)
        kinds[f"goal {goal}, p_C {p_c}: practice"] = partial(
            lambda truth, k: watched(truth, cases, k, IN_ALL), truth
        )
    for p_c in (0.5, 0.65):
        for learner in ("getbe-ps", "doorstep-optimal"):
            world = World(4, p_c, 0.3, cases)
            for name, one in {
                "advised": world,
                "overlapping": world._replace(in_flight=20),
                "overlapping, overruled": world._replace(in_flight=20, overrule=0.2, anywhere=1),
            }.items():
                kinds[f"goal 4, p_C {p_c}: {learner}, {name}"] = partial(advised, learner, one)
    for name, study in kinds.items():
        table.rows.append([name, *shares_of(study, name, studies)])
    return [table]


def shares_of(study: Callable[[int], Ints], name: str, studies: int) -> list[str]:
    """The shares of studies in which each alarm, and any, rose."""
    say(name)
    rose = counted(partial(study, k) for k in range(studies)) != NEVER
    return [f"{100.0 * share:.2f} %" for share in (*rose.mean(axis=0), rose.any(axis=1).mean())]


def power(effort: Effort) -> list[Columns]:
    """How often, and at which case, alarms rise where there is something to find."""
    studies = effort.choose(100, 1000)
    tables = []
    for bar, words in ((IN_ALL, "all five together"), (EACH, "each alarm")):
        table = Columns(
            f"With an error of 5 % for {words}: {studies:,} studies of 1,000 cases",
            ["truth", *NAMES],
            notes=[
                "The share of studies in which each alarm rose and, where it is half or more, the"
                " median case at which it did."
            ],
        )
        for name, truth in TRUTHS.items():
            say(name)
            rose = counted(partial(watched, truth, 1000, k, bar) for k in range(studies))
            table.rows.append([name, *map(share_and_case, rose.T)])
        tables.append(table)
    return tables


def share_and_case(rose: Ints) -> str:
    """The share of studies, and the median case."""
    share = f"{100.0 * np.mean(rose != NEVER):.1f} %"
    middle = np.median(np.where(rose == NEVER, np.inf, rose))
    return share if middle == math.inf else f"{share}, {middle:,.0f}"


def against(effort: Effort) -> list[Columns]:
    """The alarm that is meant, beside what one would write first."""
    studies = effort.choose(100, 1000)
    tables = []
    for title, truths, cases in (
        ("Studies of 1,000 cases", dict(list(TRUTHS.items())[:8]), 1000),
        ("Truths that chose no constant: studies of 2,000 cases", OTHERS, 2000),
    ):
        table = Columns(
            f"{title}: {studies:,} of each, with an error of 5 % for each alarm",
            ["truth", "plain", "Watch"],
            notes=[
                "The share of studies in which the alarm that is meant rose, and the median case."
                " Plain: a Beta(1/2, 1/2) predictor for each state, or an average of predictors"
                " that forget with memories 50, 200 and 800, over the largest likelihood of the"
                " null."
            ],
        )
        for name, truth in truths.items():
            say(name)
            alarm = 2 * name.startswith("p_F") + ("from" in name)
            rose = counted(partial(both, truth, cases, alarm, k) for k in range(studies))
            table.rows.append([name, *map(share_and_case, rose.T)])
        tables.append(table)
    return tables


def both(truth: Truth, cases: int, alarm: int, number: int) -> Ints:
    """Where one alarm of a study rises: a plain one, and that of `Watch`."""
    groups, _, states = truth.first.shape
    moves = drawn(truth, cases, np.uint64(replica_key(SEED, 1, number)))
    plain = plain_rises(states + 1, moves, EACH)[alarm]
    return np.array([plain, rises(states + 1, groups, moves, EACH)[alarm]])


def limits(effort: Effort) -> list[Columns]:
    """What raises alarms although every state, group and time has the same chances."""
    studies, cases = effort.choose(100, 1000), 2000
    table = Columns(
        f"The share of {studies:,} studies of {cases:,} cases in which an alarm rose, at a bar of"
        " 100",
        ["studies", *NAMES, "any"],
        notes=[
            "Late goals: advised by getbe-ps with p_C = 0.5 and p_F = 0.3 and 20 cases open, where"
            " an outcome is told after a day on average, and a goal so many days later. Cases that"
            " differ: practice with p_C = 0.5 and p_F = 0.5, where both chances of a case lie above"
            " or below that by up to so much, evenly drawn."
        ],
    )
    kinds: dict[str, Callable[[int], Ints]] = {}
    for days in (3, 30):
        world = World(4, 0.5, 0.3, cases, in_flight=20, late=days)
        kinds[f"goals {days} days late"] = partial(advised, "getbe-ps", world)
    for spread in (0.1, 0.2, 0.4):
        truth = steady(0.5, 0.5, 0.25)._replace(spread=spread)
        kinds[f"cases differ by up to {spread}"] = partial(
            lambda truth, k: watched(truth, cases, k, IN_ALL), truth
        )
    for name, study in kinds.items():
        table.rows.append([name, *shares_of(study, name, studies)])
    return [table]


SECTIONS: Sections = {
    "error": Section("Where there is nothing to find", error),
    "power": Section("Where there is something to find", power),
    "against": Section("Against plainer e-processes", against),
    "limits": Section("What an alarm cannot tell apart", limits),
}

if __name__ == "__main__":
    run(__file__, "Alarms that may be looked at after every move", LEGEND, SECTIONS)
