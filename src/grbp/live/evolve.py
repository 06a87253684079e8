"""What an event does: the only place where one has an effect, on its case and on its study.

A request is checked, and made an event, by `grbp.live.decide`. Here stands what follows from an
event that was recorded, now or long ago: it is applied to what stands in a store when something is
recorded, and folded over a log to find out what should stand there.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from grbp.errors import InvalidInput
from grbp.fitting.watch import Step, Watch
from grbp.learners.counters import step_counts
from grbp.live import ledger
from grbp.live.config import FINISH, Config, load_config
from grbp.live.history import Entry, Move, keep_steps
from grbp.live.schema import CLOSED, LOST, OPEN, WON, CaseRow, HeldRow, Recent, StudyRow, dumps

Past: TypeAlias = Callable[[], Iterator[Entry]]
"""What was recorded of a case before, as far as it stands, the last entry first."""


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


def configure(study: StudyRow, entry: Entry) -> StudyRow:
    """Make a study, or configure one anew in which no case was opened yet."""
    config = Config(**entry.asked["config"])
    alarms = ""
    if config.alarms:
        alarms = dumps(Watch.start(config.goal, max(len(config.groups), 1), config.level))
    return ledger.begin(config, study._replace(name=config.name, config=config.text, alarms=alarms))


def archive(study: StudyRow, entry: Entry) -> StudyRow:
    """Close a study for entries."""
    return study._replace(archived=entry.event.recorded)


def unarchive(study: StudyRow, _: Entry) -> StudyRow:
    """Open a study for entries again, as every event does that is recorded in it."""
    return study


def change_learner(study: StudyRow, entry: Entry) -> StudyRow:
    """Let another learner decide the next cases; those that were opened are played as decided."""
    config, asked, seq = load_config(study.config), entry.asked, entry.event.seq
    new = config.change_learner(asked["learner"], asked["constants"], study.opened, seq)
    return study._replace(config=new.text)


def open_case(_config: Config, _case: None, entry: Entry, _past: Past) -> Effect:
    """Begin with a case."""
    event, asked, answer = entry.event, entry.asked, entry.answer
    return Effect(
        CaseRow(
            case=event.case, first=asked["state"], state=asked["state"],
            threshold=answer["threshold"], status=OPEN, steps=0, overridden=0, f=0, f_goal=0, c=0,
            c_up=0, held=0, held_f=0, settled=0, opened=event.recorded, since=entry.since,
            known=dumps(answer["known"]), version=answer["version"], last=event.seq,
            group=asked.get("group", ""),
        )
    )  # fmt: skip


def tell(config: Config, case: CaseRow, entry: Entry, _past: Past) -> Effect:
    """Lead a case to another state; the step counts, or waits until it may."""
    event, answer, after = entry.event, entry.answer, entry.asked["state"]
    move = answer["took"], case.state, after
    due = due_time(config, answer["took"], case.since, event.recorded)
    new = case._replace(
        **_count(config, case, move, 1, held=bool(due)),
        state=after,
        status=WON if after == config.goal else LOST if after == 0 else OPEN,
        steps=event.step,
        overridden=case.overridden + (answer["took"] != answer["advised"]),
        since=entry.since,
    )
    return Effect(new, move, HeldRow(case.case, event.step, due, event.seq) if due else None)


def void(config: Config, case: CaseRow, entry: Entry, past: Past) -> Effect:
    """Take back the withdrawal of a case, or its last step."""
    step, matured, steps = entry.event.step, False, list[Entry]()
    if not step:
        return Effect(case._replace(status=OPEN))
    for one in past():
        matured = matured or (one.event.kind, one.event.step) == ("mature", step)
        steps += keep_steps([one])
        if len(steps) == 2:
            break
    done, before = steps
    answer, waits = done.answer, not (matured or done.answer["counted"])
    new = case._replace(
        **_count(config, case, done.move, -1, held=waits),
        state=answer["from"],
        status=OPEN,
        steps=step - 1,
        overridden=case.overridden - (answer["took"] != answer["advised"]),
        since=before.since,
    )
    return Effect(new, done.move, None, step if waits else 0)


def close(_config: Config, case: CaseRow, _entry: Entry, _past: Past) -> Effect:
    """Withdraw a case."""
    return Effect(case._replace(status=CLOSED))


def mature(config: Config, case: CaseRow, entry: Entry, past: Past) -> Effect:
    """Let a step count, whose window is over."""
    step = entry.event.step
    move = next(one.move for one in keep_steps(past()) if one.event.step == step)
    case = case._replace(**_count(config, case, move, -1, held=True))
    new = case._replace(**_count(config, case, move, 1, held=False))
    return Effect(new, move, None, step)


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
    sign, alarms = 0 if old is None else ledger.count_change(old, new), study.alarms
    if alarms and sign and move is not None:
        alarms = _watch(config, alarms, new, move, sign)
    return study._replace(alarms=alarms, **ledger.count(config, study, old, new, moves))


def _count(config: Config, case: CaseRow, move: Move, sign: int, *, held: bool) -> dict[str, Any]:
    """Return the numbers of a case with a step counted or held, or without it again."""
    action, state, after = move
    f, f_goal, c, c_up = step_counts(config.goal, state, action == FINISH, after)
    if held:
        return {"held": case.held + sign, "held_f": case.held_f + sign * f}
    return {
        "f": case.f + sign * f, "f_goal": case.f_goal + sign * f_goal,
        "c": case.c + sign * c, "c_up": case.c_up + sign * c_up,
    }  # fmt: skip


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
    return _WATCHES.write(watch.follow(step) if sign > 0 else watch.take_back(step))


_WATCHES: Final = Recent(Watch.from_list)


def load_watch(text: str) -> Watch:
    """Return what the alarms know."""
    watch: Watch = _WATCHES.read(text)
    return watch
