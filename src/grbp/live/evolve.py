"""What an event does: the only place where one has an effect, on its case and on its study.

A request is checked, and made an event, by `grbp.live.decide`. Here stands what follows from an
event that was recorded, now or long ago: it is applied to what stands in a store when something is
recorded, and folded over a log to find out what should stand there.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from grbp.errors import InvalidInput
from grbp.fitting.watch import Step, Watch
from grbp.learners.counters import step_counts
from grbp.live import ledger
from grbp.live.config import FINISH, Config, load_config
from grbp.live.history import Entry, Moved, keep_steps
from grbp.live.schema import CLOSED, LOST, OPEN, WON, CaseRow, HeldRow, StudyRow, dumps

Past: TypeAlias = Callable[[], Iterator[Entry]]
"""What was recorded of a case before, as far as it stands, the last entry first."""


class Effect(NamedTuple):
    """What an event changes in its case.

    Attributes
    ----------
    changes : dict
        What is anew in the row of the case, by its fields; all of it, of one that is opened.
    move : tuple or None
        The step that it told, took back or let count.
    held : HeldRow or None
        The step, where it does not count yet.
    released : int
        The number of the step that need not wait any more; 0 for none.
    """

    changes: Mapping[str, Any] = MappingProxyType({})
    move: Moved | None = None
    held: HeldRow | None = None
    released: int = 0


def configure(_: StudyRow, entry: Entry) -> dict[str, Any]:
    """Make a study, or configure one anew in which no case was opened yet."""
    config = Config(**entry.asked["config"])
    alarms = None
    if config.alarms:
        alarms = Watch.start(config.goal, max(len(config.groups), 1), config.level)
    return {"name": config.name, "config": config.text, "alarms": alarms} | ledger.begin(config)


def archive(_: StudyRow, entry: Entry) -> dict[str, Any]:
    """Close a study for entries."""
    return {"archived": entry.event.recorded}


def unarchive(_: StudyRow, __: Entry) -> dict[str, Any]:
    """Open a study for entries again, as every event does that is recorded in it."""
    return {}


def change_learner(study: StudyRow, entry: Entry) -> dict[str, Any]:
    """Let another learner decide the next cases; those that were opened are played as decided."""
    config, asked, seq = load_config(study.config), entry.asked, entry.event.seq
    new = config.change_learner(asked["learner"], asked["constants"], study.opened, seq)
    return {"config": new.text}


def open_case(_config: Config, _case: None, entry: Entry, _past: Past) -> Effect:
    """Begin with a case."""
    event, asked, answer = entry.event, entry.asked, entry.answer
    nothing = ("steps", "overridden", "f", "f_goal", "c", "c_up", "held", "held_f")
    return Effect(
        dict.fromkeys(nothing, 0)
        | {
            "case": event.case, "first": asked["state"], "state": asked["state"],
            "threshold": answer["threshold"], "status": OPEN, "opened": event.recorded,
            "since": entry.since, "known": dumps(answer["known"]), "version": answer["version"],
            "group": asked.get("group", ""),
        }
    )  # fmt: skip


def tell(config: Config, case: CaseRow, entry: Entry, _past: Past) -> Effect:
    """Lead a case to another state; the step counts, or waits until it may."""
    event, answer, after = entry.event, entry.answer, entry.asked["state"]
    move = answer["took"], case.state, after
    due = due_time(config, answer["took"], case.since, event.recorded)
    changes = _count(config, case, move, 1, held=bool(due)) | {
        "state": after,
        "status": WON if after == config.goal else LOST if after == 0 else OPEN,
        "steps": event.step,
        "overridden": case.overridden + (answer["took"] != answer["advised"]),
        "since": entry.since,
    }
    return Effect(changes, move, HeldRow(case.case, event.step, due, event.seq) if due else None)


def void(config: Config, case: CaseRow, entry: Entry, past: Past) -> Effect:
    """Take back the withdrawal of a case, or its last step."""
    step, matured, steps = entry.event.step, False, list[Entry]()
    if not step:
        return Effect({"status": OPEN})
    for one in past():
        matured = matured or (one.event.kind, one.event.step) == ("mature", step)
        steps += keep_steps([one])
        if len(steps) == 2:
            break
    done, before = steps
    answer, waits = done.answer, not (matured or done.answer["counted"])
    changes = _count(config, case, done.move, -1, held=waits) | {
        "state": answer["from"],
        "status": OPEN,
        "steps": step - 1,
        "overridden": case.overridden - (answer["took"] != answer["advised"]),
        "since": before.since,
    }
    return Effect(changes, done.move, None, step if waits else 0)


def close(_config: Config, _case: CaseRow, _entry: Entry, _past: Past) -> Effect:
    """Withdraw a case."""
    return Effect({"status": CLOSED})


def mature(config: Config, case: CaseRow, entry: Entry, past: Past) -> Effect:
    """Let a step count, whose window is over."""
    step = entry.event.step
    move = next(one.move for one in keep_steps(past()) if one.event.step == step)
    changes = _count(config, case, move, -1, held=True) | _count(config, case, move, 1, held=False)
    return Effect(changes, move, None, step)


def count_effect(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow, effect: Effect, past: Past
) -> dict[str, Any]:
    """Return what a study counts after an event about a case of it."""
    move, parts = effect.move, dict[str, Any]()
    moves = [] if move is None else [move]
    if ledger.shows_moves(config, old, new):
        before = [entry.move for entry in keep_steps(past()) if entry.event.kind == "tell"]
        if effect.released and move is not None:
            before.remove(move)  # It was told before.
        moves = before + moves
    sign = 0 if old is None else ledger.count_change(old, new)
    if study.alarms and sign and move is not None:
        action, state, after = move
        step = Step(new.case, config.number_of(new.group), state, action == FINISH, after > state)
        watch = study.alarms
        parts["alarms"] = watch.follow(step) if sign > 0 else watch.take_back(step)
    return parts | ledger.count(config, study, old, new, moves)


def _count(config: Config, case: CaseRow, move: Moved, sign: int, *, held: bool) -> dict[str, Any]:
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
