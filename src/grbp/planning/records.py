"""Begin a study where records end: read what `grbp fit --json` said of them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grbp.errors import InvalidInput
from grbp.fitting.result import Fit
from grbp.learners.counters import Counters
from grbp.model.problem import Start
from grbp.numerics.arrays import Ints

NOTHING = Counters(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""What a study begins with where there are no records."""


class Past(NamedTuple):
    """What records say that a plan needs.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    p_c, p_f : tuple of float or None
        Their intervals; None where an action was never tried.
    start : str or tuple
        The first states as they were observed.
    before : Counters
        What was counted, with the number of cases as `rho`.
    """

    goal: int
    p_c: tuple[float, float] | None
    p_f: tuple[float, float] | None
    start: Start
    before: Counters

    @property
    def seen(self) -> Ints:
        """The ups, downs, wins and losses that were counted."""
        n = self.before
        counts = [n.c_up, n.c - n.c_up, n.f_goal, n.f - n.f_goal]
        return np.array(counts, dtype=np.int64)


def past_of(records: Any) -> Past:
    """Return what records say: a `Fit`, the dictionary of one, or a file that holds it as JSON."""
    said = records.to_dict() if isinstance(records, Fit) else records
    if isinstance(said, str | Path):
        said = _read(Path(said))
    try:
        return _past(said)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"records = {_name(records)} was given; it must be a result of grbp.fit, or a file that"
            " grbp fit --json wrote"
        ) from error


def _name(records: Any) -> str:
    """Name what was given in a few words."""
    return repr(str(records)) if isinstance(records, str | Path) else f"<{type(records).__name__}>"


def _read(path: Path) -> Any:
    """Return the object in a file; None where there is none."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InvalidInput(
            f"the records {str(path)!r} cannot be read ({error.strerror}); name a file that"
            " grbp fit --json wrote"
        ) from error
    except UnicodeDecodeError:
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _past(said: Mapping[str, Any]) -> Past:
    c, f = said["p_c"], said["p_f"]
    kind = "anytime" if said.get("adaptive") else "wilson"
    counted = said.get("counters") or {}
    ups, moves = int(c["ups"]), int(c["tries"])
    wins, tries = (int(f["wins"]), int(f["tries"])) if f else (0, 0)
    if not (0 <= ups <= moves and 0 <= wins <= tries):
        raise ValueError
    credit = [float(counted.get(name, 0.0)) for name in Counters._fields[5:]]
    before = Counters(
        int(said["cases"]), float(tries), float(wins), float(moves), float(ups), *credit
    )
    first = [int(count) for count in said.get("first_states", ())]
    total = sum(first)
    start: Start = "uniform"
    if total:
        start = tuple((k, count / total) for k, count in enumerate(first, 1) if count)
    return Past(
        int(said["goal"]),
        _interval(c[kind]) if moves else None,
        _interval(f[kind]) if tries else None,
        start,
        before,
    )


def _interval(ends: Any) -> tuple[float, float]:
    low, high = map(float, ends)
    return low, high
