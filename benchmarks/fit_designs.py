"""What `fit` promises where others chose the actions, and where the model is wrong.

These are sections of `fit.py`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import grbp
from columns import Columns
from fit_tables import (
    OUTCOMES,
    Setting,
    cells,
    judge_decision,
    judge_ways,
    numbers,
    shares,
)
from grbp.fitting.assumptions import assumption_tests
from grbp.fitting.direct_value import direct_value
from grbp.fitting.fit import fit_records
from grbp.fitting.transitions import Transitions
from grbp.records.reading import read_records
from measure import Effort, say

WAYS = ("boundary", "general", "direct")
BIASES = tuple(f"{way}, bias" for way in WAYS)
PRACTICE = (0.5, 0.2, 0.1)

MANY = 400_000
"""Cases of the long simulation from which a truth is read that has no formula."""


# Trials and practice.


class Design(NamedTuple):
    """Who finishes: how often in each state, drawn at every step or once for each case."""

    name: str
    finish: Sequence[float]
    trial: bool


DESIGNS = [
    Design("trial: at once or never", (0.5, 0.5, 0.5), True),
    Design("trial: thresholds 0 and 1", (0.5, 0.0, 0.0), True),
    Design("trial: finish in 2 or never", (0.0, 0.5, 0.0), True),
    Design("practice by state", PRACTICE, False),
]


def design_of(design: Design, truth: Setting, seed: int) -> Mapping[str, float]:
    """Judges one table of a design."""
    table = grbp.example_records(
        "model", truth.goal, truth.p_c, truth.p_f, truth.cases, seed, finish=design.finish,
        trial=design.trial,
    )  # fmt: skip
    fit = fit_records(read_records(table, truth.goal))
    even = grbp.boundary(truth.goal, truth.p_c)
    right = "threshold-1" if truth.p_f >= even else "threshold-0"
    return judge_ways(fit, even) | judge_decision(fit, right)


def designs(effort: Effort) -> list[Columns]:
    """Randomised trials, and practice: the three ways to value state 1, and the decision."""
    tables = effort.choose(40, 400)
    table = Columns(
        "Who finishes was drawn for each case, or at every step",
        ["design; G: p_C, p_F; size", "direct: bias", "B", "general", "direct", *OUTCOMES],
        notes=[
            f"{tables:,} tables in each setting. B, general and direct are the ways to value state"
            " 1, and how often their intervals hold it. Practice finishes with the probabilities"
            " .5, .2 and .1 in the states 1, 2 and 3. Where FINISH is never tried in state 1, no"
            " decision is firm."
        ],
    )
    for design in DESIGNS:
        for truth in (Setting(4, 0.45, 0.3, 200), Setting(4, 0.45, 0.3, 1000)):
            found = shares(partial(design_of, design, truth), tables)
            bias = numbers(found, BIASES[-1:])
            name = f"{design.name}; {truth}"
            table.rows.append([name, *bias, *cells(found, [*WAYS, *OUTCOMES])])
            say(name)
    return [table]


# Records of learners.


def learner_of(learner: str, truth: Setting, seed: int) -> Mapping[str, float]:
    """Judges the records of one replica of a learner, as they are and as adaptive ones."""
    problem = grbp.Problem(truth.goal, truth.p_c, truth.p_f)
    log = grbp.step_log(problem, [learner], truth.cases, seed=seed)
    table = {name: log[name] for name in ("case", "step", "state", "action", "next_state")}
    records = read_records(table, truth.goal)
    even = grbp.boundary(truth.goal, truth.p_c)
    right = "threshold-1" if truth.p_f >= even else "threshold-0"
    fit = fit_records(records, adaptive=True)
    answer = judge_ways(fit, even) | judge_decision(fit, right)
    direct = direct_value(Transitions(records), 0.95)
    if direct is not None:
        answer["direct, fixed"] = direct.low <= even <= direct.high
    return answer


def learners(effort: Effort) -> Columns:
    """What is decided from the records of learners."""
    replicas = effort.choose(40, 400)
    table = Columns(
        "What is decided from records that a learner steered",
        ["learner; G: p_C, p_F; size", "direct: bias", "B", "direct", "direct, Wilson", *OUTCOMES],
        notes=[
            f"{replicas:,} replicas of each, fitted with `--adaptive`: the intervals of B and of"
            " the direct way are anytime ones. Direct, Wilson: without it."
        ],
    )
    default = grbp.DEFAULT_LEARNER
    for learner, truth in (
        (default, Setting(4, 0.45, 0.3, 200)), (default, Setting(4, 0.65, 0.3, 200)),
        (default, Setting(4, 0.5, 0.2, 1000)), ("no-explore", Setting(4, 0.65, 0.3, 200)),
    ):  # fmt: skip
        found = shares(partial(learner_of, learner, truth), replicas)
        name, held = f"{learner}; {truth}", ["boundary", "direct", "direct, fixed"]
        bias = numbers(found, BIASES[-1:])
        table.rows.append([name, *bias, *cells(found, [*held, *OUTCOMES])])
        say(name)
    return table


# Where the model is wrong.


def value_in_truth(kind: Any, amount: float, finish: Sequence[float], cases: int) -> float:
    """What continuing in state 1 is worth to the cases that come there, by a long simulation.

    Who finishes before the first visit does not come there. Nobody finishes in the simulation:
    a case counts as much as the probability that it would have come.
    """
    goal = len(finish) + 1
    table = grbp.example_records(kind, goal, cases=cases, seed=10**6, size=amount, finish=0.0)
    case, state = table["case"] - 1, table["state"]
    last = np.flatnonzero(np.append(case[1:] != case[:-1], True))
    visits = np.flatnonzero(state == 1)
    who, first = np.unique(case[visits], return_index=True)
    begin = np.zeros(cases, dtype=np.int64)
    begin[who] = visits[first]
    before = np.arange(len(case)) < begin[case]
    stays = np.log1p(-np.array([0.0, *finish]))[state]
    weight = np.exp(np.bincount(case[before], stays[before], minlength=cases))[who]
    won = table["next_state"][last][who] == goal
    return float((weight * won).sum() / weight.sum())


def chain_of(kind: Any, amount: float, truth: float, seed: int) -> Mapping[str, float]:
    """Judges the ways to value state 1 of one table that breaks the model."""
    table = grbp.example_records(kind, cases=1000, seed=seed, size=amount, finish=PRACTICE)
    return judge_ways(fit_records(read_records(table, 4)), truth)


def other_chains(effort: Effort) -> list[Columns]:
    """The ways to value state 1 in chains that are not the model's."""
    tables = effort.choose(40, 400)
    table = Columns(
        "The ways to value state 1 where the model is wrong, in practice by state",
        ["kind, size", "truth", "B: bias", "general", "direct", "B", "general", "direct"],
        notes=[
            f"{tables:,} tables of 1,000 cases of each kind, G = 4, p_C = .45. First how far the"
            " means of the estimates are off, then how often their intervals hold the truth: what"
            " continuing from the first visit on is worth to the cases that come to state 1, by a"
            f" simulation of {MANY:,}."
        ],
    )
    for kind, amount in (("state", 1.0), ("state", -1.0), ("memory", 0.5), ("cases", 0.5),
                         ("cases", 1.0)):  # fmt: skip
        truth = value_in_truth(kind, amount, PRACTICE, effort.choose(MANY // 20, MANY))
        found = shares(partial(chain_of, kind, amount, truth), tables)
        name = f"{kind}, {amount:g}"
        row = [name, f"{truth:.3f}", *numbers(found, BIASES), *cells(found, WAYS)]
        table.rows.append(row)
        say(name)
    return [table]


# Cases that differ.


def case_of(setting: Setting, amount: float, truth: float, seed: int) -> Mapping[str, bool]:
    """Judges the intervals of p_C, and of what follows from it, where cases differ."""
    table = grbp.example_records(
        "cases", setting.goal, setting.p_c, setting.p_f, setting.cases, seed, size=amount
    )
    moves = Transitions(read_records(table, setting.goal))
    (up, moved), (won, finished) = moves.count(moves.stepped), moves.count(moves.finished)
    (alike,) = (test for test in assumption_tests(moves) if test.name == "cases alike")
    effective = moves.steps.effective_tries() if alike.rejected_at(0.95) else None
    p_c = grbp.Proportion(up, moved, effective=effective)
    gap = grbp.Posterior(setting.goal, *p_c.counts, won, finished - won).difference()
    even = setting.p_f - grbp.boundary(setting.goal, truth)
    answer = {
        "Wilson": p_c.wilson.low <= truth <= p_c.wilson.high,
        "printed": p_c.interval.low <= truth <= p_c.interval.high,
        "p_F - B": gap.low <= even <= gap.high,
        "rejected": p_c.effective is not None,
    }
    return answer | ({"by case": answer["printed"]} if answer["rejected"] else {})


def cases_differ(effort: Effort) -> list[Columns]:
    """The interval of p_C by case, beside Wilson's."""
    tables = effort.choose(40, 400)
    names = ["rejected", "Wilson", "by case", "printed", "p_F - B"]
    table = Columns(
        "Intervals of p_C where its logit differs between cases",
        ["G: p_C, p_F; size; sd", *names],
        notes=[
            f"{tables:,} tables in each setting. What is estimated is the share of moves up among"
            " all moves, of such cases played in the same way, by a long simulation; and p_F less B"
            " of it. Rejected: how often the test says that cases differ. Then the interval by case"
            " is printed, else Wilson's."
        ],
    )
    for goal, p_c, sizes in ((4, 0.45, (200, 1000)), (10, 0.5, (50, 200))):
        for amount in (0.5, 1.0):
            many = effort.choose(MANY // 20, MANY * 4 // goal)
            drawn = grbp.example_records("cases", goal, p_c, 0.3, many, 10**6, size=amount)
            moves = drawn["action"] == grbp.Action.CONTINUE
            truth = float((drawn["next_state"] > drawn["state"])[moves].mean())
            for cases in sizes:
                setting = Setting(goal, p_c, 0.3, cases)
                found = shares(partial(case_of, setting, amount, truth), tables)
                table.rows.append([f"{setting}; {amount:g}", *cells(found, names)])
                say(table.rows[-1][0])
    return [table]


# Two sites.


class Site(NamedTuple):
    """The chances at a site, and how often it finishes in state 1."""

    p_c: float
    p_f: float
    finish: float


ALIKE = {"north": Site(0.45, 0.3, 0.8), "south": Site(0.45, 0.3, 0.1)}
DIFFER = {"north": Site(0.65, 0.4, 0.8), "south": Site(0.35, 0.05, 0.1)}


def site_of(chances: Mapping[str, Site], cases: int, seed: int) -> Mapping[str, bool]:
    """Judges one table of two sites, without and with its groups."""
    parts, gaps, weights = [], [], []
    for k, (name, site) in enumerate(chances.items()):
        part = grbp.example_records(
            "model", 4, site.p_c, site.p_f, cases // 2, 2 * seed + k, finish=site.finish
        )
        part["case"] = part["case"] + k * cases
        part["site"] = np.full(len(part["case"]), name)
        parts.append(part)
        gaps.append(site.p_f - grbp.boundary(4, site.p_c))
        weights.append(len(np.unique(part["case"][part["state"] == 1])))
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    truth = float(np.average(gaps, weights=weights))
    pooled, grouped = grbp.fit(table, 4), grbp.fit(table, 4, group="site")
    answer = {}
    for name, fit in (("pooled", pooled), ("by site", grouped)):
        answer[f"{name}, FINISH"] = fit.firm and fit.decision == "threshold-1"
        answer[f"{name}, never"] = fit.firm and fit.decision == "threshold-0"
    standardized = getattr(grouped, "standardized", None)
    gap = None if standardized is None else standardized.difference
    for name, one in (("pooled", pooled.difference), ("standardised", gap)):
        if one is not None:
            answer[f"{name} holds"] = one.low <= truth <= one.high
    return answer


def sites(effort: Effort) -> list[Columns]:
    """Two sites, of which one finishes more often: the estimate over all cases misleads."""
    tables = effort.choose(20, 100)
    names = ["pooled, FINISH", "pooled, never", "by site, FINISH", "by site, never",
             "pooled holds", "standardised holds"]  # fmt: skip
    table = Columns(
        "Two sites of the same size, of which one finishes more often",
        ["sites; cases", *names],
        notes=[
            f"{tables:,} tables of each, G = 4. FINISH and never: how often a firm sentence says"
            " so, without `--group` and with it. Holds: how often the interval of p_F - B holds it,"
            " averaged over the cases that stood in state 1. Alike: p_C = .45 and p_F = .3 at both,"
            " and FINISH is right. Differ: .65 and .4, .35 and .05, and FINISH is wrong at both."
            " The first site finishes in state 1 with probability .8, the second with .1."
        ],
    )
    for name, chances in (("alike", ALIKE), ("differ", DIFFER)):
        for cases in (400, 1000):
            found = shares(partial(site_of, chances, cases), tables)
            table.rows.append([f"{name}; {cases:,}", *cells(found, names)])
            say(table.rows[-1][0])
    return [table]
