"""Begin a study where records end: with a fit, or with a file that `grbp fit --json` wrote."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.fitting.estimates import Proportion
from grbp.fitting.result import Fit
from grbp.learners.counters import Counters
from grbp.model.problem import Start
from grbp.numerics.arrays import Ints
from grbp.numerics.intervals import Interval


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
    """

    goal: int | None
    p_c: Interval | None
    p_f: Interval | None
    start: Start
    before: Counters

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
        fit = records
        return _past_of(fit.goal, fit.cases, fit.p_c, fit.p_f or Proportion(0, 0), fit.first_states)
    is_file = isinstance(records, str | Path)
    try:
        stored = json.loads(Path(records).read_text("utf-8")) if is_file else records
        return _past_of(
            int(stored["goal"]),
            int(stored["cases"]),
            _read_share(stored, "p_c", "ups"),
            _read_share(stored, "p_f", "wins"),
            [int(count) for count in stored.get("first_states", ())],
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


def _read_share(stored: Mapping[str, Any], name: str, successes: str) -> Proportion:
    """Return a share that a file has; one of an action that was never tried may be missing."""
    counts = stored[name] or {successes: 0, "tries": 0}
    won, tries = int(counts[successes]), int(counts["tries"])
    if not 0 <= won <= tries:
        raise ValueError
    return Proportion(won, tries, float(stored.get("level", 0.95)), bool(stored.get("adaptive")))


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
