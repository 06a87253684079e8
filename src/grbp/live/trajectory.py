"""How the estimates of a study came to be what they are, sampled from its log."""

from contextlib import suppress
from typing import Any, NamedTuple

from grbp._format import as_plain
from grbp.errors import GrbpError
from grbp.learners.registry import LearnerLike
from grbp.live.basis import estimate_chances
from grbp.live.choice import decide_choice
from grbp.live.config import Config, load_config
from grbp.live.ledger import know, total_seen
from grbp.live.schema import Event, StudyRow, load_study
from grbp.live.store.base import Transaction
from grbp.theory.posterior import Estimate


class Moment(NamedTuple):
    """What was known after an event.

    Of a study in shadow mode, a `Client` whose role is less than statistician gets None for the
    estimates and the threshold.

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
        return {name: as_plain(value) for name, value in self._asdict().items()}


def sample_events(tx: Transaction, last: int, points: int) -> list[Event]:
    """Return events that are evenly spaced, the last one among them."""
    many = min(points, last)
    numbers = sorted({last - (last - 1) * i // max(many - 1, 1) for i in range(many)})
    return [event for seq in numbers if (event := tx.event(seq)) is not None]


def make_moments(study: StudyRow, events: list[Event], learner: LearnerLike | None) -> list[Moment]:
    """Return what was known after each of some events."""
    config = load_config(study.config)
    return [
        _make_moment(config, then, event, learner)
        for event in events
        # What was configured before the first case may have begun otherwise.
        if (then := load_study(study.name, study.config, [event])) is not None
        and (then.opened or event.seq == study.seq)
    ]


def _make_moment(
    config: Config, then: StudyRow, event: Event, learner: LearnerLike | None
) -> Moment:
    """Return what was known after an event."""
    chances = estimate_chances(config.goal, total_seen(config, then), config.level)
    threshold = None
    with suppress(GrbpError):
        at = config.at(then.opened + 1)
        threshold = None if config.groups else decide_choice(at, then, learner, know(config, then))
    return Moment(event.seq, event.recorded, then.opened, *chances, threshold)
