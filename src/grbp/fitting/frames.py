"""The result of a fit as tables, a row for each thing that was estimated or tested."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from grbp._display import Rows
from grbp.errors import InvalidInput
from grbp.fitting.estimates import Proportion, include_estimate
from grbp.fitting.watch import Alarm
from grbp.numerics.intervals import check_level
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from grbp.fitting.result import Fit

_SHARE: Final = ("n", "successes", "estimate", "low", "high", "method")
"""The columns of a share."""


def known_estimates(fit: "Fit") -> Iterator[tuple[str, Estimate]]:
    """Yield every estimate that the records allow, with its name."""
    estimates = {
        "p_c": fit.p_c.as_estimate,
        "p_f": None if fit.p_f is None else fit.p_f.as_estimate,
        "boundary": fit.boundary,
        "general": fit.ways["general"],
        "direct": fit.ways["direct"],
        "difference": fit.difference,
        "practice": fit.practice,
        "value_0": fit.value_0,
        "value_1": fit.value_1,
        "gain": fit.threshold_gain,
    }
    yield from ((name, number) for name, number in estimates.items() if number is not None)


def make_table(fit: "Fit", of: str) -> Rows:
    """Return one of the tables of a fit by its name."""
    if of not in _TABLES:
        raise InvalidInput(f"of = {of!r} was given; it must be one of {', '.join(_TABLES)}")
    return _TABLES[of](fit)


def interval_table(fit: "Fit", level: float) -> Rows:
    """Return the intervals of what decides, at another level."""
    check_level(level)
    shares = {"p_c": fit.p_c, "p_f": fit.p_f}
    rows: list[tuple[Any, ...]] = []
    for name, share in shares.items():
        if share is not None and share.tries:
            _, _, _, low, high, method = _share_cells(replace(share, level=level))
            rows.append((name, low, high, level, method))
    if fit.p_c.tries:
        ends = (boundary(fit.goal, end) for end in replace(fit.p_c, level=level).interval)
        rows.append(("boundary", *ends, level, _method(fit.p_c)))
    # What decides may rest on state 1 alone, on groups or on another way than p_C.
    if fit.difference == include_estimate(*fit.posterior.difference(fit.level)):
        difference = include_estimate(*fit.posterior.difference(level))
        rows.append(("difference", *difference[1:], level, "posterior"))
    return ("quantity", "low", "high", "level", "method"), rows


def _method(share: Proportion) -> str:
    """Name the interval that a share is printed with."""
    return "anytime" if share.adaptive else "Wilson"


def _share_cells(share: Proportion) -> tuple[Any, ...]:
    """Return the cells of `_SHARE`; what was never tried has neither estimate nor interval."""
    estimate = share.as_estimate or (None, None, None)
    return share.tries, share.successes, *estimate, _method(share)


def _estimates(fit: "Fit") -> Rows:
    fits = {"": fit, **fit.by_group}
    return ("group", "quantity", "estimate", "low", "high"), (
        (group, name, *number)
        for group, one in fits.items()
        for name, number in known_estimates(one)
    )


def _states(fit: "Fit") -> Rows:
    rows = []
    for row in fit.by_state:
        for action, won, tries in (("continue", row.c_up, row.c), ("finish", row.f_goal, row.f)):
            right = row.probability
            if right is not None and row.action != action:
                right = 1.0 - right
            cells = _share_cells(Proportion(won, tries, fit.level, fit.adaptive))
            rows.append((row.state, action, *cells, right))
    return ("state", "action", *_SHARE, "probability_right"), rows


def _groups(fit: "Fit") -> Rows:
    rows = []
    for name, one in fit.by_group.items():
        shares = {"continue": one.p_c, "finish": one.p_f or Proportion(0, 0, one.level)}
        for action, share in shares.items():
            answer = (one.decision, one.firm, one.probability_threshold_1)
            rows.append((name, one.cases, action, *_share_cells(share), *answer))
    head = ("group", "cases", "action", *_SHARE, "decision", "firm", "probability_threshold_1")
    return head, rows


def _tests(fit: "Fit") -> Rows:
    head = (
        "name", "test", "statistic", "df", "p", "p_holm", "effect", "effect_unit",
        "changes_answer", "possible", "assumption",
    )  # fmt: skip
    return head, [tuple(getattr(test, name) for name in head) for test in fit.tests]


_TABLES: Final[Mapping[str, Callable[["Fit"], Rows]]] = {
    "estimates": _estimates,
    "states": _states,
    "groups": _groups,
    "tests": _tests,
    "alarms": lambda fit: (Alarm._fields, fit.alarms),
}
