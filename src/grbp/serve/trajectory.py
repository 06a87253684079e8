"""How the estimates of a study came to be what they are, sampled from its log."""

import math
from contextlib import suppress
from typing import Any, NamedTuple

from grbp.errors import GrbpError
from grbp.learners.counters import Counters
from grbp.live.basis import estimate_share
from grbp.live.config import Config, load_config
from grbp.live.projection import decide_threshold, total_counters
from grbp.live.schema import Event, StudyRow, load_study
from grbp.live.store.base import Transaction
from grbp.live.study import Study
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary


class Moment(NamedTuple):
    """What was known after an event.

    Attributes
    ----------
    event : int
        The number of the event.
    recorded : str
        When it was recorded.
    cases : int
        How many cases had been opened.
    p_c, p_f, boundary : Estimate
        The estimates, and B(p_c), with intervals that hold whenever one looks.
    next_threshold : int or None
        The threshold that a case would have got then; None if nobody can say.
    """

    event: int
    recorded: str
    cases: int
    p_c: Estimate
    p_f: Estimate
    boundary: Estimate
    next_threshold: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types; None stands for what is unknown."""
        return {
            name: {end: None if math.isnan(x) else x for end, x in value._asdict().items()}
            if isinstance(value, Estimate)
            else value
            for name, value in self._asdict().items()
        }


def sample_trajectory(study: Study, points: int) -> list[Moment]:
    """Return what was known after some events, evenly spaced, and after the last one."""

    def script(tx: Transaction) -> tuple[StudyRow | None, list[Event]]:
        row = tx.study()
        last = 0 if row is None else row.seq
        many = min(points, last)
        numbers = sorted({last - (last - 1) * i // max(many - 1, 1) for i in range(many)})
        return row, [event for seq in numbers if (event := tx.event(seq)) is not None]

    row, events = study._store.read(study.name, script)
    if row is None:
        return []
    config = load_config(row.config)
    return [
        _moment_after(config, then, event)
        for event in events
        # What was configured before the first case may have begun otherwise.
        if (then := load_study(row.name, row.config, [event])) is not None
        and (then.opened or event.seq == row.seq)
    ]


def _moment_after(config: Config, then: StudyRow, event: Event) -> Moment:
    """Return what was known after an event."""
    n = total_counters(then)
    first = config.drawn or Counters(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    each = 0.5 * (1.0 + config.level)
    p_c = estimate_share(round(n.c_up - first.c_up), round(n.c - first.c), each)
    p_f = estimate_share(round(n.f_goal - first.f_goal), round(n.f - first.f), each)
    even = Estimate(*(p if math.isnan(p) else boundary(config.goal, p) for p in p_c))
    threshold = None
    with suppress(GrbpError):
        threshold = decide_threshold(config, then, None)
    return Moment(event.seq, event.recorded, then.opened, p_c, p_f, even, threshold)
