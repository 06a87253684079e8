"""Fit records of past cases: from a table to estimates, tests and a decision."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from grbp.errors import InvalidInput
from grbp.fitting.assumptions import Answers, assumption_tests, shift_limit
from grbp.fitting.decide import decide
from grbp.fitting.direct_value import direct_value
from grbp.fitting.estimates import Proportion, include_estimate, subtract, summarize_draws
from grbp.fitting.evidence import CONTINUE, FINISH, UNKNOWN, Evidence
from grbp.fitting.policy_values import (
    PolicyValues,
    average_over_groups,
    value_by_chain,
    value_by_model,
)
from grbp.fitting.result import Cusum, Fit, OpenCases, StateRow
from grbp.fitting.sentences import write_decision
from grbp.fitting.standardize import standardize
from grbp.fitting.statewise import StatewiseChain, solve_statewise
from grbp.fitting.transitions import Transitions
from grbp.fitting.watch import watch_moves
from grbp.numerics.intervals import check_level, wilson
from grbp.records.clean import Records
from grbp.records.reading import read_records
from grbp.theory.posterior import JEFFREYS, Estimate, Posterior, Prior, check_prior
from grbp.theory.values import boundary
from grbp.worlds.validation import check_whole

LARGEST_GOAL: Final = 10_000
"""The largest goal of records: the answer has a row for every state."""

_LEVELS: Final = (0.5, 0.9999)
"""The levels that a fit can have: below, "sure" means nothing; beyond, there are too few draws."""


def fit(  # noqa: PLR0913 (each is a separate choice of the caller)
    records: Any,
    goal: int,
    *,
    columns: Mapping[str, str] | None = None,
    map_state: Mapping[str, int] | None = None,
    map_action: Mapping[str, str] | None = None,
    group: str | Iterable[str] = (),
    adaptive: bool = False,
    skip_bad_rows: bool = False,
    level: float = 0.95,
    prior_c: tuple[float, float] = JEFFREYS,
    prior_f: tuple[float, float] = JEFFREYS,
) -> Fit:
    """Fit records of past cases: estimate, test the assumptions, and decide.

    Parameters
    ----------
    records : path, data frame or mapping
        The table, one row for each step: a CSV file, a pandas or Polars frame, or a mapping from
        names of columns to their values. It has the columns `case`, `step`, `state`, `action` and
        `next_state`; `order` (of cases in time) and `count` (of aggregated rows) may be there.
    goal : int
        The state in which a case is won.
    columns : mapping of str, optional
        The names that the table has for these columns, such as ``{"case": "id"}``.
    map_state : mapping, optional
        The numbers of states that the table names by words.
    map_action : mapping, optional
        What other actions mean: ``{"punt": "continue"}``.
    group : str or list of str, optional
        Columns by which cases are also answered for apart; several are crossed.
    adaptive : bool
        Whether a learner chose the actions from what it had seen. The estimates are then biased,
        and only the anytime intervals hold; the alarms say whether the model describes the cases.
    skip_bad_rows : bool
        Whether to leave out rows that break a rule, and what followed them in the case, instead of
        refusing the table.
    level : float
        The level of all intervals, and how sure a firm sentence must be: from 0.5 to 0.9999.
    prior_c, prior_f : pair of float
        What is assumed of p_c and p_f before any record, as the two numbers of a Beta law: so many
        ups and downs, or wins and losses. How sure the answer is rests on it; the estimates, their
        intervals and the chain state by state do not. By default it is Jeffreys' (0.5, 0.5).

    Returns
    -------
    Fit
        The estimates with their intervals, the tests, the decision and the sentence.

    Raises
    ------
    InvalidRecords
        If rows break a rule; it names them all, up to a limit, with line and column.
    InvalidInput
        If an argument is out of range, or the table cannot be read.

    See Also
    --------
    plan : Says how many cases learning takes.

    Notes
    -----
    p_C has the moves by one state alone. Staying changes time, not who reaches the goal; a jump
    further than one state is used by the general chain only. Cases that are open are used as far
    as they go.

    Examples
    --------
    >>> import grbp
    >>> table = grbp.example_records(cases=500, seed=1)
    >>> result = grbp.fit(table, goal=4)
    >>> result.decision
    'threshold-1'
    """
    level = check_level(level)
    if not _LEVELS[0] <= level <= _LEVELS[1]:
        raise InvalidInput(
            f"level = {level!r} was given; it must be a number from {_LEVELS[0]} to {_LEVELS[1]}"
        )
    goal = check_whole("goal", goal, 2, LARGEST_GOAL)
    read = read_records(
        records,
        goal,
        columns=columns,
        map_state=map_state,
        map_action=map_action,
        group=group if isinstance(group, str) or not isinstance(group, Iterable) else [*group],
        skip_bad_rows=skip_bad_rows,
    )
    priors = check_prior("prior_c", prior_c), check_prior("prior_f", prior_f)
    whole = fit_records(read, level, adaptive, priors)
    if adaptive:
        whole = replace(whole, alarms=watch_moves(Transitions(read), level))
    return whole if len(read.groups) != 1 else replace(whole, by_group={read.groups[0]: whole})


def fit_records(
    records: Records,
    level: float = 0.95,
    adaptive: bool = False,
    priors: tuple[Prior, Prior] = (JEFFREYS, JEFFREYS),
    among: float | None = None,
) -> Fit:
    """Fit clean records, and each group of them; the priors are those of p_C and p_F.

    For one of several groups, `among` is how probable the others make it that finishing is right.
    """
    moves = Transitions(records)
    p_c = Proportion(*moves.count(moves.stepped), level, adaptive)
    p_f = Proportion(*moves.count(moves.finished), level, adaptive)
    chain, direct = solve_statewise(moves), direct_value(moves, level, adaptive)
    tests = assumption_tests(moves, Answers(moves, direct, chain))
    rejected = {test.name for test in tests if test.rejected_at(level)}
    if "cases alike" in rejected:
        p_c = replace(p_c, effective=moves.steps.effective_tries())
    # The decision is about state 1: where p_F surely differs, that of other states is no evidence.
    in_state_1 = "p_f by state" in rejected and bool(moves.wins[0] + moves.losses[0])
    rows = moves.finished & (records.state == 1) if in_state_1 else moves.finished
    decisive = Proportion(*moves.count(rows), level, adaptive)
    standardized, parts = None, {}
    if len(records.groups) > 1:
        standardized = standardize(moves, level, rows)
        parts = {
            name: fit_records(
                records.in_group(k), level, adaptive, priors, standardized.sides.get(name)
            )
            for k, name in enumerate(records.groups)
        }
    share = p_c.as_estimate
    even = None if share is None else Estimate(*(boundary(records.goal, p) for p in share))
    general = None if chain is None else summarize_draws(chain.continue_value[:, 0], level)
    evidence = Evidence(
        goal=records.goal,
        level=level,
        goals=int((records.next_state == records.goal).sum()),
        p_c=p_c,
        p_f=decisive,
        ways={"boundary": even, "general": general, "direct": direct},
        chain=chain,
        tests=tests,
        posterior=Posterior(records.goal, *p_c.counts, *decisive.counts, *priors),
        untried=tuple(
            action
            for action, tries in (
                ("CONTINUE", moves.ups + moves.downs + moves.jumps),
                ("FINISH", moves.wins + moves.losses),
            )
            if not tries[0]
        ),
        in_state_1=in_state_1,
        standardized=standardized,
        groups=parts,
        among_groups=among,
    )
    decision = write_decision(evidence, decide(evidence))
    values = _value_policies(evidence, decision.way, moves, parts.values())
    practice, pending = _count_ends(moves, level)
    cusum, total = None, moves.sum_over_cases
    if total is not None:
        cusum = Cusum(np.arange(1.0, len(total) + 1.0), total, shift_limit(tests, level))
    return Fit(
        **vars(decision),
        goal=records.goal,
        level=level,
        adaptive=adaptive,
        rows=records.rows,
        cases=records.cases,
        open=OpenCases(records.open_empty_next, records.open_no_row),
        dropped=records.dropped,
        first_lines=records.first_lines,
        stays=int(moves.stays.sum()),
        jumps=int(moves.jumps.sum()),
        notes=records.notes,
        p_c=p_c,
        p_f=p_f if p_f.tries else None,
        boundary=even,
        ways=evidence.ways,
        difference=_difference(evidence, decision.way),
        tests=tests,
        by_state=_by_state(moves, chain),
        first_states=tuple(moves.first_states.tolist()),
        practice=practice,
        value_0=values.value_0,
        value_1=values.value_1,
        pending=pending,
        cusum=cusum,
        labels=records.labels,
        by_group=parts,
        standardized=standardized,
        threshold_gain=None if decision.probabilities is None else values.gain,
        prior_c=priors[0],
        prior_f=priors[1],
        mean_chain=None if chain is None else chain.mean,
    )


def _difference(seen: Evidence, way: str) -> Estimate | None:
    """Return p_F less what continuing in state 1 is worth, in the way that the answer rests on."""
    if way == "standardized":
        return None if seen.standardized is None else seen.standardized.difference
    share, value = seen.p_f.as_estimate, seen.ways[way]
    if share is None or value is None:
        return None
    if way == "boundary":
        return include_estimate(*seen.posterior.difference(seen.level))
    return subtract(share, value)


def _value_policies(
    seen: Evidence, way: str, moves: Transitions, groups: Iterable[Fit]
) -> PolicyValues:
    """Value the thresholds from the first states, by what the answer rests on."""
    if way == "standardized":
        parts = [*groups]
        values = [(one.value_0, one.value_1, one.threshold_gain) for one in parts]
        return average_over_groups(values, [sum(one.first_states) for one in parts])
    if seen.trusted == ("boundary",):
        return value_by_model(moves, seen.p_c, seen.p_f, seen.posterior)
    if "general" in seen.trusted and seen.chain is not None:
        return value_by_chain(moves, seen.chain, seen.level)
    return PolicyValues()


def _by_state(moves: Transitions, chain: StatewiseChain | None) -> tuple[StateRow, ...]:
    """Return what the records say about each state, and which action is right there."""
    columns = (
        moves.ups + moves.downs, moves.ups, moves.wins + moves.losses, moves.wins,
        moves.stays, moves.jumps,
    )  # fmt: skip
    rows = []
    for k, (c, c_up, f, f_goal, stays, jumps) in enumerate(np.column_stack(columns).tolist()):
        action, probability = UNKNOWN, None
        if chain is not None and not math.isnan(chain.finish[k]):
            finishes, share = bool(chain.action[k] == 1), float(chain.finish[k])
            action = FINISH if finishes else CONTINUE
            probability = share if finishes else 1.0 - share
        rows.append(StateRow(k + 1, c, c_up, f, f_goal, stays, jumps, action, probability))
    return tuple(rows)


def _count_ends(
    moves: Transitions, level: float
) -> tuple[Estimate | None, tuple[float, float] | None]:
    """Return the share of ended cases that reached the goal; and its bounds with open ones."""
    if moves.records.aggregated:
        return None, None
    won, ended = int((moves.ends > 0).sum()), int((moves.ends >= 0).sum())
    cases = moves.records.cases
    practice = Estimate(won / ended, *wilson(won, ended, level)) if ended else None
    pending = (won / cases, (won + cases - ended) / cases) if ended < cases else None
    return practice, pending
