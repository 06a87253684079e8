"""Fit records of past cases: from a table to estimates, tests and a decision."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.errors import InvalidInput
from grbp.fitting.alarms import watch_records
from grbp.fitting.assumptions import (
    SAME_F_BY_STATE,
    AssumptionTest,
    assumption_tests,
    shift_limit,
    sum_over_cases,
)
from grbp.fitting.decide import decide
from grbp.fitting.dependence import with_dependence
from grbp.fitting.estimates import Proportion, include_estimate
from grbp.fitting.evidence import Evidence
from grbp.fitting.grounds import average, find_ways_that_stand, subtract, summarize_draws
from grbp.fitting.groups import Standardized, standardize
from grbp.fitting.result import Cusum, Fit, OpenCases, StateRow
from grbp.fitting.sensitivity import Sensitivity
from grbp.fitting.statewise import StatewiseChain, mean_chain, solve_statewise
from grbp.fitting.transitions import Transitions
from grbp.fitting.value_estimators import direct_value
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.intervals import check_level, wilson
from grbp.records.clean import Records
from grbp.records.reading import read_records
from grbp.theory.posterior import JEFFREYS, Estimate, Posterior, Prior, check_prior
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import boundary
from grbp.worlds.validation import check_whole

_DRAWS: Final = 4000
"""Draws from the posterior for the values of the two thresholds."""

_MOST_CELLS: Final = 4_000_000
"""Values of draws by first states: where cases started in many states there are fewer draws."""

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
        whole = replace(whole, alarms=watch_records(read, level))
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
    ups, downs = int(moves.ups.sum()), int(moves.downs.sum())
    won, lost = int(moves.wins.sum()), int(moves.losses.sum())
    made = assumption_tests(moves)
    p_c = with_dependence(Proportion(ups, ups + downs, level, adaptive), moves, made)
    p_f = Proportion(won, won + lost, level, adaptive)
    chain = solve_statewise(moves)
    direct = direct_value(moves, level, adaptive)
    ways = {
        "boundary": _boundary(records.goal, p_c),
        "general": None if chain is None else summarize_draws(chain.continue_value[:, 0], level),
        "direct": direct,
    }
    stand = find_ways_that_stand(ways)
    sensitivity = Sensitivity(moves, direct, chain)
    tests = tuple(sensitivity.judge(test) for test in made)
    # The decision is about state 1: where p_F surely differs, that of other states is no evidence.
    apart = any(t.assumption == SAME_F_BY_STATE and t.rejected_at(level) for t in tests)
    in_state_1 = apart and bool(moves.wins[0] + moves.losses[0])
    f = p_f
    if in_state_1:
        won, lost = int(moves.wins[0]), int(moves.losses[0])
        f = Proportion(won, won + lost, level, adaptive)
    posterior = Posterior(records.goal, *p_c.counts, *f.counts, *priors)
    standardized, parts = None, {}
    if len(records.groups) > 1:
        rows = moves.finished & (records.state == 1) if in_state_1 else moves.finished
        standardized = standardize(moves, level, rows)
        parts = {
            name: fit_records(
                records.in_group(k), level, adaptive, priors, standardized.sides.get(name)
            )
            for k, name in enumerate(records.groups)
        }
    decision = decide(
        Evidence(
            goal=records.goal,
            level=level,
            goals=int((records.next_state == records.goal).sum()),
            p_c=p_c,
            p_f=f,
            ways=ways,
            chain=chain,
            tests=tests,
            posterior=posterior,
            untried=_untried(moves),
            stand=stand,
            in_state_1=in_state_1,
            standardized=standardized,
            groups=parts,
            among_groups=among,
        )
    )
    practice, pending = _practice(moves, level)
    values = _Values(None, None, None)
    if decision.way == "standardized":
        values = _value_by_group(parts.values())
    elif stand == ("boundary",):
        values = _value_by_model(moves, p_c, f, posterior, level)
    elif "general" in stand and chain is not None:
        values = _value_by_chain(moves, chain, level)
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
        boundary=ways["boundary"],
        ways=ways,
        difference=_difference(decision.way, ways, f, posterior, standardized),
        tests=tests,
        by_state=_by_state(moves, chain),
        first_states=tuple(moves.first_states.tolist()),
        practice=practice,
        value_0=values.value_0,
        value_1=values.value_1,
        pending=pending,
        cusum=_cusum(moves, tests, level),
        labels=records.labels,
        by_group=parts,
        standardized=standardized,
        threshold_gain=None if decision.probabilities is None else values.gain,
        prior_c=priors[0],
        prior_f=priors[1],
        mean_chain=None if chain is None else mean_chain(chain),
    )


def _untried(moves: Transitions) -> tuple[str, ...]:
    """Return the actions that were never tried in state 1."""
    tries = {
        "CONTINUE": moves.ups + moves.downs + moves.jumps,
        "FINISH": moves.wins + moves.losses,
    }
    return tuple(action for action, count in tries.items() if not count[0])


def _boundary(goal: int, p_c: Proportion) -> Estimate | None:
    """Return B(p_C), with the interval that p_C has."""
    share = p_c.as_estimate
    return None if share is None else Estimate(*(boundary(goal, p) for p in share))


def _difference(
    way: str,
    ways: Mapping[str, Estimate | None],
    f: Proportion,
    posterior: Posterior,
    standardized: Standardized | None,
) -> Estimate | None:
    """Return p_F less what continuing in state 1 is worth, in the way that the answer rests on."""
    if way == "standardized":
        return None if standardized is None else standardized.difference
    share, value = f.as_estimate, ways[way]
    if share is None or value is None:
        return None
    if way == "boundary":
        return include_estimate(*posterior.difference(f.level))
    return subtract(share, value)


def _by_state(moves: Transitions, chain: StatewiseChain | None) -> tuple[StateRow, ...]:
    """Return what the records say about each state, and which action is right there."""
    columns = (
        moves.ups + moves.downs, moves.ups, moves.wins + moves.losses, moves.wins,
        moves.stays, moves.jumps,
    )  # fmt: skip
    rows = []
    for k, (c, c_up, f, f_goal, stays, jumps) in enumerate(np.column_stack(columns).tolist()):
        action, probability = "unknown", None
        if chain is not None and not math.isnan(chain.finish[k]):
            finishes, share = bool(chain.action[k] == 1), float(chain.finish[k])
            action = "finish" if finishes else "continue"
            probability = share if finishes else 1.0 - share
        rows.append(StateRow(k + 1, c, c_up, f, f_goal, stays, jumps, action, probability))
    return tuple(rows)


def _practice(
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


class _Values(NamedTuple):
    """The goals that the thresholds 0 and 1 would have reached, and 1 more than 0."""

    value_0: Estimate | None
    value_1: Estimate | None
    gain: Estimate | None


def _value_by_model(
    moves: Transitions, p_c: Proportion, p_f: Proportion, posterior: Posterior, level: float
) -> _Values:
    """Value the thresholds from the first states, with one p_C and one p_F."""
    if not p_c.tries:
        return _Values(None, None, None)
    goal, starts = moves.records.goal, moves.first_states
    states = np.flatnonzero(starts) + 1
    weights = starts[states - 1] / starts.sum()
    random = np.random.default_rng(0)
    draws = min(_DRAWS, _MOST_CELLS // len(states))
    log_r = log_failure_ratio(_with_draws(p_c, posterior.prior_c, draws, random))[:, None]
    value_0 = _estimate_and_draws(hit(states, goal, log_r) @ weights, level)
    if not p_f.tries:
        return _Values(value_0, None, None)
    up = hit(states - 1, goal - 1, log_r) @ weights
    value_1 = up + (1.0 - up) * _with_draws(p_f, posterior.prior_f, draws, random)
    gain = include_estimate(*posterior.gain(starts / starts.sum(), level))
    return _Values(value_0, _estimate_and_draws(value_1, level), gain)


def _value_by_chain(moves: Transitions, chain: StatewiseChain, level: float) -> _Values:
    """Value the thresholds from the first states, with the chances of each state."""
    weights = moves.first_states / moves.first_states.sum()
    zero, one = (value @ weights for value in chain.value_thresholds())
    value_0 = summarize_draws(zero, level)
    if np.isnan(one).any():
        return _Values(value_0, None, None)
    return _Values(value_0, *(summarize_draws(draws, level) for draws in (one, one - zero)))


def _value_by_group(parts: Iterable[Fit]) -> _Values:
    """Value the thresholds in each group by itself, weighed by where its cases began."""
    groups = [*parts]
    weights = np.array([sum(one.first_states) for one in groups], dtype=np.float64)
    weights /= weights.sum()
    columns = zip(*((one.value_0, one.value_1, one.threshold_gain) for one in groups), strict=True)
    return _Values(*(average(column, weights.tolist()) for column in columns))


def _with_draws(share: Proportion, prior: Prior, draws: int, random: np.random.Generator) -> Floats:
    """Return the estimate, and draws from its posterior."""
    won, lost = share.counts
    drawn = random.beta(won + prior[0], lost + prior[1], draws)
    return np.append(share.successes / share.tries, drawn)


def _estimate_and_draws(values: Floats, level: float) -> Estimate:
    """Return the first of some values with an interval from the others."""
    return include_estimate(float(values[0]), *summarize_draws(values[1:], level)[1:])


def _cusum(moves: Transitions, tests: tuple[AssumptionTest, ...], level: float) -> Cusum | None:
    """Return the sum over cases, with the limits beyond which its test speaks against no shift."""
    total = sum_over_cases(moves)
    if total is None:
        return None
    x: Ints = np.arange(1, len(total) + 1)
    return Cusum(x.astype(np.float64), total, shift_limit(tests, level))
