"""Begin a study where records end: with a fit, or with a file that `grbp fit --json` wrote."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.fitting.estimates import Proportion
from grbp.fitting.result import Fit, StateRow
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Ints
from grbp.numerics.intervals import Interval
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

    @property
    def differs_by_group(self) -> bool:
        """Whether the fit decides by group, or doubts that groups are alike."""
        return self.decision == "by-group" or any("group" in one.lower() for one in self.doubts)

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
        return _past_of_fit(records)
    is_file = isinstance(records, str | Path)
    try:
        return _past_of_mapping(
            json.loads(Path(records).read_text("utf-8")) if is_file else records
        )
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


def _past_of_fit(fit: Fit) -> Past:
    past = _past_of(fit.goal, fit.cases, fit.p_c, fit.p_f or Proportion(0, 0), fit.first_states)
    by_group = {name: _past_of_fit(group) for name, group in fit.by_group.items()}
    return _with_doubts(past, fit.doubts, fit.decision, fit.by_state, by_group)


def _past_of_mapping(stored: Mapping[str, Any]) -> Past:
    past = _past_of(
        int(stored["goal"]),
        int(stored["cases"]),
        _read_share(stored, "p_c", "ups"),
        _read_share(stored, "p_f", "wins"),
        [int(count) for count in stored.get("first_states", ())],
    )
    rows = [
        StateRow(*(row.get(name) for name in StateRow._fields))
        for row in stored.get("by_state", ())
    ]
    groups = {str(k): _past_of_mapping(group) for k, group in stored.get("by_group", {}).items()}
    doubts = tuple(map(str, stored.get("doubts", ())))
    return _with_doubts(past, doubts, str(stored.get("decision", "")), rows, groups)


def _with_doubts(
    past: Past, doubts: tuple[str, ...], decision: str, rows: Sequence[StateRow],
    by_group: Mapping[str, Past],
) -> Past:  # fmt: skip
    lost = _lose_by_threshold(past, rows) if decision == "by-state" else None
    return past._replace(doubts=doubts, decision=decision, lost_by_state=lost, by_group=by_group)


def _lose_by_threshold(past: Past, rows: Sequence[StateRow]) -> float | None:
    """Return the goals in 100 cases that the better threshold loses against the policy by state.

    Both are judged by the shares of each state, with the means of Jeffreys' posterior. There is no
    number where cases jump, because the rows do not say whereto.
    """
    goal = past.goal
    if goal is None or len(rows) != goal - 1 or any(row.jumps for row in rows):
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


def _past_of(
    goal: int, cases: int, c: Proportion, f: Proportion, first_states: Sequence[int]
) -> Past:
    total = sum(first_states)
    start = tuple((k, count / total) for k, count in enumerate(first_states, 1) if count)
    f_tries, wins, c_tries, ups = map(float, (f.tries, f.successes, c.tries, c.successes))
    return Past(
        goal,
        c.interval if c.tries else None,
        f.interval if f.tries else None,
        start or "uniform",
        # Whoever took the actions need not have played a threshold, so none gets the credit.
        Counters(cases, f_tries, wins, c_tries, ups, 0.0, 0.0, 0.0, 0.0),
    )
