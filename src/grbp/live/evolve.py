"""What an event does: the only place where one has an effect, on its case and on its study.

A request is checked, and made an event, by `grbp.live.decide`. Here stands what follows from an
event that was recorded, now or long ago: it is applied to what stands in a store when something is
recorded, and folded over a log to find out what should stand there.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from grbp.alarms.watch import Step, Watch
from grbp.errors import InvalidInput
from grbp.learners.counters import step_counts
from grbp.live import ledger
from grbp.live.config import FINISH, Config, load_config
from grbp.live.history import Entry, Move, keep_steps
from grbp.live.schema import (
    CLOSED,
    LOST,
    OPEN,
    WON,
    CaseRow,
    Event,
    HeldRow,
    StudyRow,
    dumps,
    loads,
)

Past: TypeAlias = Callable[[], Iterator[Entry]]
"""What was recorded of a case before, as far as it stands, the last entry first."""


class Happened(NamedTuple):
    """An event as far as it has an effect.

    Attributes
    ----------
    seq : int
    kind : str
    case, step : int
        The number of the event, its kind, and what it is about.
    asked, said : dict
        What was asked, and what was answered.
    recorded, observed : str
        When it was recorded, and when it happened if somebody said so.
    """

    seq: int
    kind: str
    case: int
    step: int
    asked: dict[str, Any]
    said: dict[str, Any]
    recorded: str
    observed: str

    @classmethod
    def read(cls, event: Event) -> "Happened":
        """Read an event from a log."""
        return cls(
            event.seq, event.kind, event.case, event.step, loads(event.request),
            loads(event.response), event.recorded, event.observed,
        )  # fmt: skip

    @property
    def since(self) -> str:
        """Since when the case has been in the state that it led to."""
        return self.observed or self.recorded


class Effect(NamedTuple):
    """What an event changes in its case.

    Attributes
    ----------
    case : CaseRow
        The case after it.
    move : tuple or None
        The step that it told, took back or let count.
    held : HeldRow or None
        The step, where it does not count yet.
    released : int
        The number of the step that need not wait any more; 0 for none.
    """

    case: CaseRow
    move: Move | None = None
    held: HeldRow | None = None
    released: int = 0


def configure(study: StudyRow, one: Happened) -> StudyRow:
    """Make a study, or configure one anew in which no case was opened yet."""
    config = Config(**one.asked["config"])
    alarms = ""
    if config.alarms:
        alarms = dumps(Watch.start(config.goal, max(len(config.groups), 1), config.level))
    return ledger.begin(config, study._replace(name=config.name, config=config.text, alarms=alarms))


def archive(study: StudyRow, one: Happened) -> StudyRow:
    """Close a study for entries."""
    return study._replace(archived=one.recorded)


def unarchive(study: StudyRow, _: Happened) -> StudyRow:
    """Open a study for entries again, as every event does that is recorded in it."""
    return study


def change_learner(study: StudyRow, one: Happened) -> StudyRow:
    """Let another learner decide the next cases; those that were opened are played as decided."""
    config, asked = load_config(study.config), one.asked
    new = config.change_learner(asked["learner"], asked["constants"], study.opened, one.seq)
    return study._replace(config=new.text)


def open_case(_config: Config, _case: CaseRow | None, one: Happened, _past: Past) -> Effect:
    """Begin with a case."""
    first, said = one.asked["state"], one.said
    return Effect(
        CaseRow(
            case=one.case, first=first, state=first, threshold=said["threshold"], status=OPEN,
            steps=0, overridden=0, f=0, f_goal=0, c=0, c_up=0, held=0, held_f=0, settled=0,
            opened=one.recorded, since=one.since, known=dumps(said["known"]),
            version=said["version"], last=one.seq, group=one.asked.get("group", ""),
        )
    )  # fmt: skip


def tell(config: Config, case: CaseRow | None, one: Happened, _past: Past) -> Effect:
    """Lead a case to another state; the step counts, or waits until it may."""
    assert case is not None  # noqa: S101 (it was opened before)
    said, after = one.said, one.asked["state"]
    move = said["took"], case.state, after
    due = due_time(config, said["took"], case.since, one.recorded)
    new = _count(config, case, move, 1, held=bool(due))._replace(
        state=after,
        status=WON if after == config.goal else LOST if after == 0 else OPEN,
        steps=one.step,
        overridden=case.overridden + (said["took"] != said["advised"]),
        since=one.since,
    )
    return Effect(new, move, HeldRow(case.case, one.step, due, one.seq) if due else None)


def void(config: Config, case: CaseRow | None, one: Happened, past: Past) -> Effect:
    """Take back the withdrawal of a case, or its last step."""
    assert case is not None  # noqa: S101
    if not one.step:
        return Effect(case._replace(status=OPEN))
    entries = list(_up_to_two_steps(past()))
    (done, before), waits = keep_steps(entries), not _counts(entries, one.step)
    said = done.answer
    new = _count(config, case, done.move, -1, held=waits)._replace(
        state=said["from"],
        status=OPEN,
        steps=one.step - 1,
        overridden=case.overridden - (said["took"] != said["advised"]),
        since=before.since,
    )
    return Effect(new, done.move, None, one.step if waits else 0)


def close(_config: Config, case: CaseRow | None, _one: Happened, _past: Past) -> Effect:
    """Withdraw a case."""
    assert case is not None  # noqa: S101
    return Effect(case._replace(status=CLOSED))


def mature(config: Config, case: CaseRow | None, one: Happened, past: Past) -> Effect:
    """Let a step count, whose window is over."""
    assert case is not None  # noqa: S101
    move = next(entry.move for entry in keep_steps(past()) if entry.event.step == one.step)
    waited = _count(config, case, move, -1, held=True)
    return Effect(_count(config, waited, move, 1, held=False), move, None, one.step)


def count_effect(
    config: Config, study: StudyRow, old: CaseRow | None, effect: Effect, past: Past
) -> StudyRow:
    """Return a study after an event about a case of it."""
    new, move = effect.case, effect.move
    moves = [] if move is None else [move]
    if ledger.shows_moves(config, old, new):
        before = [entry.move for entry in keep_steps(past()) if entry.event.kind == "tell"]
        if effect.released and move is not None:
            before.remove(move)  # It was told before.
        moves = before + moves
    study = ledger.count(config, study, old, new, moves)
    sign = 0 if old is None else ledger.count_change(old, new)
    if study.alarms and sign and move is not None:
        return study._replace(alarms=_watch(config, study.alarms, new, move, sign))
    return study


def _up_to_two_steps(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield entries up to the second one that is a step, or the opening."""
    steps = 0
    for entry in entries:
        yield entry
        steps += entry.event.kind in ("tell", "open")
        if steps == 2:
            return


def _counts(entries: Iterable[Entry], step: int) -> bool:
    """Return whether a step counts: it did when it was told, or has become mature since."""
    return any(
        entry.event.kind == "mature" or entry.answer["counted"]
        for entry in entries
        if entry.event.step == step
    )


def _count(config: Config, case: CaseRow, move: Move, sign: int, *, held: bool) -> CaseRow:
    """Return a case with a step counted or held, or without it again."""
    action, state, after = move
    one = step_counts(config.goal, state, action == FINISH, after)
    f, f_goal, c, c_up = (sign * number for number in one)
    if held:
        return case._replace(held=case.held + sign, held_f=case.held_f + f)
    return case._replace(
        f=case.f + f, f_goal=case.f_goal + f_goal, c=case.c + c, c_up=case.c_up + c_up
    )


def due_time(config: Config, action: str, since: str, now: str) -> str:
    """Return when a step will be mature; nothing if it is by now."""
    if action not in config.windows:
        return ""
    after = timedelta(seconds=config.windows[action])
    try:
        due = (datetime.fromisoformat(since) + after).isoformat(timespec="microseconds")
    except OverflowError:
        raise InvalidInput(
            f"a window of {after.days:,} days that begins {since} was to be waited for; it ends"
            " after the year 9999: correct the clock, or when it was observed"
        ) from None
    return due if due > now else ""


def _watch(config: Config, alarms: str, case: CaseRow, move: Move, sign: int) -> str:
    """Let the alarms follow a step that counts, or take it back."""
    (action, state, after), watch = move, load_watch(alarms)
    step = Step(case.case, config.number_of(case.group), state, action == FINISH, after > state)
    return _keep_watch(watch.follow(step) if sign > 0 else watch.take_back(step))


_RECENT: Final[dict[str, Watch]] = {}
"""What was written not long ago, by the texts: most is read again soon."""


def load_watch(text: str) -> Watch:
    """Return what the alarms know."""
    return _RECENT.get(text) or Watch.from_list(loads(text))


def _keep_watch(watch: Watch) -> str:
    """Write what the alarms know."""
    if len(_RECENT) > 100:
        _RECENT.clear()
    text = dumps(watch)
    _RECENT[text] = watch
    return text
