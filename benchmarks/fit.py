"""How often the intervals that `fit` prints hold the truth, and how often its tests reject.

    .venv/bin/python benchmarks/fit.py            # prints, and writes fit.md
    .venv/bin/python benchmarks/fit.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/fit.py --only power

Tables of past cases are drawn from a known truth, each with a seed of its own, and fitted.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import grbp
from columns import Columns
from fit_designs import cases_differ, designs, learners, other_chains, sites
from fit_tables import (
    OUTCOMES,
    TRUTHS,
    Setting,
    cells,
    judge_decision,
    settings,
    shares,
    table_of,
)
from grbp.fitting.assumptions import ASSUMPTIONS, assumption_tests
from grbp.fitting.direct_value import direct_value
from grbp.fitting.fit import fit_records
from grbp.fitting.transitions import Transitions
from grbp.records.clean import Records
from grbp.records.reading import read_records
from measure import Effort, say
from sections import Section, Sections, run

PRACTICE = "; ".join(
    f"{finish:g} and {above:g} for {goal}: {p_c:g}, {p_f:g}"
    for goal, p_c, p_f, finish, above in TRUTHS
)
LEGEND = (
    "Every interval is meant to hold the truth in 95 % of tables, and every test to reject in 5 %"
    " of those that satisfy the model. A share of 2,000 tables has a standard error of .5 points,"
    " one of 400 of 1.1. Tables are those of `grbp.example_records` with the seeds 0 to n - 1 and"
    " equally likely first states, unless a learner made them. A row gives G, p_C, p_F and the"
    " number of cases. FINISH is drawn at every step, in state 1 and above it with the"
    f" probabilities {PRACTICE}; in the tables about power as in the first of these (above state 1"
    " with .2 for finish-by-state), in those of cases that differ with .5 in state 1 alone, and"
    " elsewhere as their notes say. Records of learners are those of `grbp.step_log`: replicas of"
    " seed 11 in the first table, one replica of each seed from 0 on in the second, with equally"
    " likely first states and drawn first estimates."
)

SHORT = {
    "p_c by state": "states",
    "p_c trend over states": "trend",
    "memory": "memory",
    "cases alike": "cases",
    "p_c drift": "drift",
    "p_c shift": "shift",
    "p_f drift": "drift, F",
    "p_f by state": "F, states",
}
"""What the columns of some tests are headed by, where their own names are too long."""

TESTS = {
    entry.name: SHORT.get(entry.name, entry.name)
    for entry in ASSUMPTIONS
    if entry.needs in ("", "cases")
}
"""The tests that tables without groups allow, with the heads of their columns."""

FAMILY = "family"


# Intervals of the two probabilities.

METHODS = ("wilson", "jeffreys", "clopper_pearson", "anytime")


def held_by(p_c: grbp.Proportion, p_f: grbp.Proportion, truth: Setting) -> dict[str, bool]:
    """Says which intervals of the two probabilities hold the truth."""
    answer = {}
    for letter, share, p in (("C", p_c, truth.p_c), ("F", p_f, truth.p_f)):
        for method in METHODS if share.tries else ():
            low, high = getattr(share, method)
            answer[f"{method} {letter}"] = low <= p <= high
    return answer


def proportions_of(setting: Setting, seed: int) -> Mapping[str, bool]:
    """Judges the intervals of one table."""
    moves = Transitions(table_of(setting, seed))
    up, down = int(moves.ups.sum()), int(moves.downs.sum())
    won, lost = int(moves.wins.sum()), int(moves.losses.sum())
    return held_by(grbp.Proportion(up, up + down), grbp.Proportion(won, won + lost), setting)


def intervals(effort: Effort) -> list[Columns]:
    """The intervals of p_C and p_F, over 24 settings."""
    names = [f"{method} {letter}" for method in METHODS for letter in "CF"]
    heads = ["G: p_C, p_F; size", "Wilson C", "F", "Jeffreys C", "F", "Clopper-Pearson C", "F",
             "anytime C", "F"]  # fmt: skip
    tables = effort.choose(200, 2000)
    table = Columns(
        "Intervals of p_C and p_F", heads, notes=[f"{tables:,} tables in each setting."]
    )
    for setting in settings(20, 50, 200, 1000):
        found = shares(partial(proportions_of, setting), tables)
        table.rows.append([str(setting), *cells(found, names)])
        say(str(setting))
    return [table]


# Everything else that has an interval.


def truths_of(setting: Setting, fit: grbp.Fit) -> dict[str, float]:
    """The truth of what `fit` estimates, from the first states of its table."""
    start = {k + 1: count / fit.cases for k, count in enumerate(fit.first_states) if count}
    problem = grbp.Problem(setting.goal, setting.p_c, setting.p_f, start)
    even = grbp.boundary(setting.goal, setting.p_c)
    zero, one = grbp.value(problem, 0), grbp.value(problem, 1)
    return {
        "boundary": even, "general": even, "direct": even, "difference": setting.p_f - even,
        "gain": one - zero, "value 0": zero, "value 1": one,
    }  # fmt: skip


def decision_of(setting: Setting, kind: str, seed: int) -> Mapping[str, bool]:
    """Judges the other intervals of one table, and its decision."""
    fit = fit_records(table_of(setting, seed, kind))
    found = {
        **fit.ways, "difference": fit.difference, "gain": fit.gain(), "value 0": fit.value_0,
        "value 1": fit.value_1,
    }  # fmt: skip
    truth = truths_of(setting, fit)
    answer = {
        name: one.low <= truth[name] <= one.high for name, one in found.items() if one is not None
    }
    right = "threshold-1" if truth["difference"] >= 0.0 else "threshold-0"
    return answer | judge_decision(fit, right)


def decisions(effort: Effort) -> list[Columns]:
    """The three ways, differences, values, and how often a firm sentence is wrong."""
    names = ["boundary", "general", "direct", "difference", "gain", "value 0", "value 1"]
    tables = effort.choose(40, 400)
    note = (
        f"{tables:,} tables in each setting. B is the interval of B(p_C), general that of the chain"
        " by state, direct what was seen. Values and the gain are from the table's first states."
    )
    held = Columns(
        "The other intervals",
        ["G: p_C, p_F; size", "B", "general", "direct", "p_F - B", "gain", "value 0", "value 1"],
        notes=[note],
    )
    chosen = Columns(
        "Decisions",
        ["G: p_C, p_F; size", *OUTCOMES],
        notes=["Right, firm and firm-and-wrong are shares of the tables with a decision."],
    )
    for setting in settings(50, 1000):
        found = shares(partial(decision_of, setting, "model"), tables)
        held.rows.append([str(setting), *cells(found, names)])
        chosen.rows.append([str(setting), *cells(found, OUTCOMES)])
        say(str(setting))
    return [held, chosen]


# Open cases.


def open_of(setting: Setting, seed: int) -> Mapping[str, bool]:
    """Judges a table with open cases as it is, and without them."""
    whole = table_of(setting, seed, "open", size=0.5)
    kept = closed_only(whole)
    answer = {}
    for name, records in (("used", whole), ("dropped", kept)):
        moves = Transitions(records)
        up, down = int(moves.ups.sum()), int(moves.downs.sum())
        low, high = grbp.wilson(up, up + down)
        answer[f"{name} C"] = low <= setting.p_c <= high
        way = direct_value(moves, 0.95)
        if way is not None:
            even = grbp.boundary(setting.goal, setting.p_c)
            answer[f"{name} direct"] = way.low <= even <= way.high
    return answer


def closed_only(records: Records) -> Records:
    """The table without its open cases."""
    ended = np.flatnonzero(Transitions(records).ends >= 0)
    kept = np.isin(records.case, ended)
    columns = {
        name: getattr(records, name)[kept]
        for name in ("case", "step", "state", "action", "next_state")
    }
    return read_records(columns, records.goal)


def open_cases(effort: Effort) -> list[Columns]:
    """Tables in which half of the cases are seen for a few steps only."""
    names = ["used C", "used direct", "dropped C", "dropped direct"]
    tables = effort.choose(40, 1000)
    table = Columns(
        "Half of the cases seen for at most G steps",
        ["G: p_C, p_F; size", "p_C", "direct", "p_C, dropped", "direct, dropped"],
        notes=[
            f"{tables:,} tables in each setting. Dropped: if open cases are left out, which"
            " `fit` never does."
        ],
    )
    for setting in settings(200):
        table.rows.append([str(setting), *cells(shares(partial(open_of, setting), tables), names)])
        say(str(setting))
    return [table]


# Records that a learner steered.


def adaptive(effort: Effort) -> list[Columns]:
    """Records of learners: bias, intervals, and what is decided from them."""
    replicas = effort.choose(400, 4000)
    names = [f"{method} {letter}" for method in ("wilson", "anytime") for letter in "CF"]
    table = Columns(
        "Records that a learner steered",
        ["learner; G: p_C, p_F; size", "bias of p_F", "Wilson C", "F", "anytime C", "F"],
        notes=[
            f"{replicas:,} replicas of each. The anytime interval is the one that `--adaptive`"
            " prints."
        ],
    )
    for learner in (grbp.DEFAULT_LEARNER, "getbe-sm", "no-explore"):
        for setting in (Setting(4, 0.45, 0.3, 200), Setting(4, 0.65, 0.3, 200),
                        Setting(4, 0.5, 0.2, 1000), Setting(10, 0.55, 0.2, 200)):  # fmt: skip
            held, seen, bias = Counter[str](), Counter[str](), []
            for p_c, p_f in steered(learner, setting, replicas):
                answer = held_by(p_c, p_f, setting)
                seen.update(answer.keys())
                held.update(name for name, holds in answer.items() if holds)
                if p_f.estimate is not None:
                    bias.append(p_f.estimate - setting.p_f)
            found = {name: held[name] / seen[name] for name in seen}
            table.rows.append(
                [f"{learner}; {setting}", f"{np.mean(bias):.3f}", *cells(found, names)]
            )
            say(table.rows[-1][0])
    return [table, learners(effort)]


def steered(
    learner: str, setting: Setting, replicas: int
) -> list[tuple[grbp.Proportion, grbp.Proportion]]:
    """The shares that the records of a learner have, replica by replica."""
    problem = grbp.Problem(setting.goal, setting.p_c, setting.p_f)
    log = grbp.step_log(problem, [learner], setting.cases, replicas, seed=11)
    replica = log["replica"]
    up = log["next_state"] > log["state"]
    finish = log["action"] == grbp.Action.FINISH

    def counted(rows: Any) -> Any:
        return np.bincount(replica[rows], minlength=replicas).tolist()

    counts = zip(
        counted(~finish & up), counted(~finish & ~up), counted(finish & up), counted(finish & ~up),
        strict=True,
    )  # fmt: skip
    return [(grbp.Proportion(a, a + b), grbp.Proportion(c, c + d)) for a, b, c, d in counts]


# The tests of the assumptions.


def tests_of(setting: Setting, kind: str, size: float | None, seed: int) -> Mapping[str, bool]:
    """Says which tests reject."""
    made = assumption_tests(Transitions(table_of(setting, seed, kind, size=size)))
    answer = {TESTS[one.name]: one.p < 0.05 for one in made if one.p is not None}
    answer[FAMILY] = any(one.p_holm is not None and one.p_holm < 0.05 for one in made)
    return answer


def size(effort: Effort) -> list[Columns]:
    """How often tests reject what is true."""
    tables = effort.choose(200, 2000)
    table = Columns(
        "Tables that satisfy the model: how often tests reject at 5 %",
        ["G: p_C, p_F; size", *TESTS.values(), FAMILY],
        notes=[f"{tables:,} tables in each setting. Family: at least one, adjusted after Holm."],
    )
    for setting in settings(50, 200, 1000):
        found = shares(partial(tests_of, setting, "model", None), tables)
        table.rows.append([str(setting), *cells(found, [*TESTS.values(), FAMILY])])
        say(str(setting))
    return [table]


BROKEN = [("state", 0.5), ("memory", 0.25), ("cases", 0.5), ("cases", 1.0), ("drift", 0.5),
          ("finish-by-state", 1.0)]  # fmt: skip


def power(effort: Effort) -> list[Columns]:
    """How often tests reject what is false."""
    tables = effort.choose(100, 1000)
    table = Columns(
        "Tables that break an assumption: how often tests reject at 5 %",
        ["kind, size; cases", *TESTS.values()],
        notes=[
            f"{tables:,} tables of each kind, G = 4, p_C = .45, p_F = .3. What the kinds and sizes"
            " mean is said at `example_records`. Momentum and differences between cases also trip"
            " the tests of the states."
        ],
    )
    for kind, amount in BROKEN:
        for cases in (200, 1000):
            above = 0.2 if kind == "finish-by-state" else 0.0
            setting = Setting(4, 0.45, 0.3, cases, 0.5, above)
            found = shares(partial(tests_of, setting, kind, amount), tables)
            row = [f"{kind}, {amount:g}; {cases:,}", *cells(found, list(TESTS.values()))]
            table.rows.append(row)
            say(row[0])
    return [table]


SECTIONS: Sections = {
    "intervals": Section("The two probabilities", intervals),
    "decisions": Section("What follows from them", decisions),
    "designs": Section("Trials and practice", designs),
    "open": Section("Open cases", open_cases),
    "adaptive": Section("Records of learners", adaptive),
    "chains": Section("Where the model is wrong", other_chains),
    "cases": Section("Cases that differ", cases_differ),
    "sites": Section("Two sites", sites),
    "size": Section("Size of the tests", size),
    "power": Section("Power of the tests", power),
}


if __name__ == "__main__":
    run(__file__, "What a fit promises, measured", LEGEND, SECTIONS)
