"""Begin a study where records end: with a fit, or with a file that `grbp fit --json` wrote."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.fitting.assumptions import ASSUMPTIONS
from grbp.fitting.decide import decide
from grbp.fitting.estimates import Proportion
from grbp.fitting.evidence import Evidence
from grbp.fitting.model_tests import AssumptionTest
from grbp.fitting.objections import ABOUT_GROUPS
from grbp.fitting.result import Fit, StateRow
from grbp.fitting.standardize import Standardized
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Ints
from grbp.numerics.intervals import Interval
from grbp.theory.posterior import Estimate, Posterior
from grbp.worlds.chain import Chain, Move
from grbp.worlds.dynprog import evaluate
from grbp.worlds.problem import Problem
from grbp.worlds.start import Start


class Past(NamedTuple):
    """What records say that a plan needs.

    Attributes
    ----------
    goal : int or None
        The state in which a case is won; None without records.
    p_c, p_f : Interval or None
        Their intervals; None where an action was never tried.
    start : str or tuple
        The first states as they were observed.
    before : Counters
        What was counted, with the number of cases as `rho`.
    doubts : tuple of str
        What speaks against the model, the gravest first.
    decision : str
        What the fit decided, as in `Fit`; empty if it is not said.
    lost_by_state : float or None
        The goals in 100 cases that the better threshold loses against the policy by state, where
        the decision is one by state.
    by_group : mapping of Past
        The same of every group.
    groups_differ : bool
        Whether the fit decides by group, or doubts that groups can be taken together.
    """

    goal: int | None
    p_c: Interval | None
    p_f: Interval | None
    start: Start
    before: Counters
    doubts: tuple[str, ...] = ()
    decision: str = ""
    lost_by_state: float | None = None
    by_group: Mapping[str, "Past"] = MappingProxyType({})
    groups_differ: bool = False

    @property
    def seen(self) -> Ints:
        """The ups, downs, wins and losses that were counted."""
        n = self.before
        counts = [n.c_up, n.c - n.c_up, n.f_goal, n.f - n.f_goal]
        return np.array(counts, dtype=np.int64)


NO_RECORDS: Final = Past(None, None, None, "uniform", Counters(0, *[0.0] * 8))
"""What a study begins with where there are no records."""


def read_past(records: Any) -> Past:
    """Return what records say: a `Fit`, the dictionary of one, or a file that holds it as JSON."""
    if records is None:
        return NO_RECORDS
    if isinstance(records, Fit):
        return _past_of(records.to_dict())
    is_file = isinstance(records, str | Path)
    try:
        return _past_of(json.loads(Path(records).read_text("utf-8")) if is_file else records)
    except OSError as error:
        raise InvalidInput(
            f"the records {str(records)!r} cannot be read ({reason(error)}); name a file that"
            " grbp fit --json wrote"
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        name = repr(str(records)) if is_file else f"<{type(records).__name__}>"
        raise InvalidInput(
            f"records = {name} was given; it must be a result of grbp.fit, or a file that"
            " grbp fit --json wrote"
        ) from error


def _past_of(fit: Mapping[str, Any]) -> Past:
    """Return what a fit says, as `Fit.to_dict` returned it."""
    goal, decision = int(fit["goal"]), str(fit.get("decision", ""))
    c, f = _read_share(fit, "p_c", "ups"), _read_share(fit, "p_f", "wins")
    rows = [
        StateRow(*(row.get(name) for name in StateRow._fields)) for row in fit.get("by_state", ())
    ]
    starts = [int(count) for count in fit.get("first_states", ())]
    start = tuple((k, count / sum(starts)) for k, count in enumerate(starts, 1) if count)
    f_tries, wins, c_tries, ups = map(float, (f.tries, f.successes, c.tries, c.successes))
    past = Past(
        goal,
        c.interval if c.tries else None,
        f.interval if f.tries else None,
        start or "uniform",
        # Whoever took the actions need not have played a threshold, so none gets the credit.
        Counters(int(fit["cases"]), f_tries, wins, c_tries, ups, 0.0, 0.0, 0.0, 0.0),
        doubts=tuple(map(str, fit.get("doubts", ()))),
        decision=decision,
        by_group={str(name): _past_of(group) for name, group in fit.get("by_group", {}).items()},
        groups_differ=decision == "by-group" or _groups_are_doubted(fit, c, f, rows),
    )
    return past._replace(lost_by_state=_lose_by_threshold(past, rows))


def _groups_are_doubted(
    fit: Mapping[str, Any], c: Proportion, f: Proportion, rows: Sequence[StateRow]
) -> bool:
    """Return whether a fit speaks against taking all its groups together."""
    stored = fit.get("standardized")
    if not stored:
        return False
    estimates = {
        name: Estimate(**stored[name])
        for name in ("p_f", "value", "direct", "difference")
        if stored[name]
    }
    names = {entry.words: entry.name for entry in ASSUMPTIONS}
    evidence = Evidence(
        goal=int(fit["goal"]),
        level=c.level,
        goals=f.successes + rows[-1].c_up + sum(row.jumps for row in rows),
        p_c=c,
        p_f=f,
        ways={name: way and Estimate(**way) for name, way in fit["ways"].items()},
        chain=None,
        tests=tuple(
            AssumptionTest(name=names.get(test["assumption"], ""), p_holm=test["p_holm"])
            for test in fit["tests"]
        ),
        posterior=Posterior(int(fit["goal"]), *c.counts, *f.counts),
        standardized=Standardized(**stored | estimates),
    )
    if any(entry.name == "p_f by state" for entry in evidence.broken) and rows[0].f:
        decisive = replace(f, successes=rows[0].f_goal, tries=rows[0].f)
        evidence = replace(evidence, p_f=decisive)
    return any(objection.code in ABOUT_GROUPS for objection in decide(evidence).objections)


def _lose_by_threshold(past: Past, rows: Sequence[StateRow]) -> float | None:
    """Return the goals in 100 cases that the better threshold loses against the policy by state.

    Both are judged by the shares of each state, with the means of Jeffreys' posterior. There is no
    number where cases jump, because the rows do not say whereto, or without such a decision.
    """
    goal = past.goal
    if past.decision != "by-state" or goal is None or len(rows) != goal - 1:
        return None
    if any(row.jumps for row in rows):
        return None
    up = np.array([(row.c_up + 0.5) / (row.c + 1.0) for row in rows])
    won = np.array([(row.f_goal + 0.5) / (row.f + 1.0) for row in rows])
    chain = Chain(goal, Move(up, 1.0 - up), won)
    finish = np.array([row.action == "finish" for row in rows], dtype=np.int64)
    problem = Problem(goal, 0.5, 0.5, past.start)

    def goals(action: Ints) -> float:
        return 100.0 * problem.start_mean(evaluate(chain, action).value)

    thresholds = [goals((np.arange(1, goal) <= threshold).astype(np.int64)) for threshold in (0, 1)]
    return max(0.0, goals(finish) - max(thresholds))


def _read_share(stored: Mapping[str, Any], name: str, successes: str) -> Proportion:
    """Return a share that a file has; one of an action that was never tried may be missing."""
    counts = stored[name] or {successes: 0, "tries": 0}
    won, tries = int(counts[successes]), int(counts["tries"])
    effective = counts.get("effective")
    if not 0 <= won <= tries or not (effective is None or 0.0 < float(effective) <= tries):
        raise ValueError
    level, adaptive = float(stored.get("level", 0.95)), bool(stored.get("adaptive"))
    return Proportion(won, tries, level, adaptive, None if effective is None else float(effective))
