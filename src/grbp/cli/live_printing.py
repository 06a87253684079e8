"""Printing a live study for a person, at 80 columns."""

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from grbp._format import plural
from grbp.live import Advice, Basis, Case, Event, Status, Verified
from grbp.live.narration import (
    EventLine,
    describe_choice,
    describe_events,
    describe_granted,
    describe_planned,
    format_days,
)
from grbp.live.schema import CLOSED, LOST, OPEN, WON
from grbp.live.state_basis import StateBasis
from grbp.model.transition import Action, successors
from grbp.theory.posterior import Estimate

_WIDTH: Final = 80
_SINCE: Final = ", and say since when a case has been in its state"
_WHO: Final = 10
"""The columns for a name; a longer one goes on in the next line."""


def _fill(text: str) -> None:
    print(textwrap.fill(text, _WIDTH, break_on_hyphens=False))


def show_advice(advice: Advice, goal: int, done: str = "") -> None:
    """Say what to do, then what was recorded, then why."""
    _fill(_describe_advice(advice, goal))
    if advice.replayed:
        print(f"This was recorded before, as event {advice.event:,}; nothing was recorded now.")
    elif done:
        print(done)
    for warning in advice.warnings or ():
        _fill(f"WARNING: {warning}")
    if advice.basis is not None:
        print()
        print(advice.basis.summary)


def _describe_advice(advice: Advice, goal: int) -> str:
    """Say in one line what to do with a case."""
    group = "" if advice.group is None else f" ({advice.group})"
    name, after = f"Case {advice.case:,}{group}", f"after {plural(advice.step, 'step')}"
    if advice.status == WON:
        return f"{name} is won: it reached the goal {after}."
    if advice.status == LOST:
        return f"{name} is lost: it is in the dead end {after}."
    if advice.status == CLOSED:
        return f"{name} is closed: it was withdrawn in state {advice.state:,} {after}."
    place = f"{name}, state {advice.state:,} of {goal:,}:"
    if advice.action is None or advice.basis is None:
        return f"{place} nobody is advised, as the study is in shadow mode."
    low, high = successors(goal, advice.state, advice.action == Action.FINISH)
    learn = ", in order to learn" if advice.basis.forced else ""
    return f"{place} {advice.action.name}{learn}. Then tell state {low:,} or {high:,}."


def show_study(status: Status) -> None:
    """Say at a glance how a study stands."""
    n = status.cases
    learner = f"{status.learner} (grbp {status.version})"
    if status.shadow:
        learner = f"grbp {status.version}, shadow mode: nobody is advised"
    _fill(f"Study {status.study}: goal {status.goal:,}, {learner}")
    if status.groups:
        _fill(f"Groups, each with counters of its own: {', '.join(status.groups)}.")
    for action, days in status.windows.items():
        print(f"An outcome of {action.upper()} counts after {format_days(days)}.")
    if status.archived:
        print(f"ARCHIVED on {status.archived[:10]}: it takes no entries.")
    if status.read_only:
        _fill(f"READ-ONLY: {status.read_only}.")
    if not n["opened"]:
        print("No case was opened yet.")
    else:
        ends = f"{n[WON]:,} won, {n[LOST]:,} lost, {n[CLOSED]:,} withdrawn"
        print(f"{plural(n['opened'], 'case')}: {n[OPEN]:,} open, {ends}.")
    if status.planned is not None:
        _fill(describe_planned(status.planned, n["opened"]))
    if status.shadow:
        print(f"{plural(status.events, 'event')}.")
    else:
        _show_learned(status)


def _show_learned(status: Status) -> None:
    """Say what a study has learned, and what follows from that."""
    basis = status.basis
    if status.model != "one" or status.memory is not None:
        _fill(f"The advice takes {describe_granted(status.model, status.memory)} for granted.")
    for alarm in status.alarms or ():
        _fill(f"ALARM, {alarm.name}, evidence {alarm.evidence:,.0f}: {alarm.sentence}")
    if status.pending:
        print(f"{status.pending:,} FINISH pending: advised or taken, and not counted yet.")
    _show_next(status)
    if isinstance(basis, Basis) and (basis.f or basis.c):
        _show_estimates(basis)
    elif any(one.f or one.c for one in status.by_state):
        _show_states(status.by_state)
    elif status.cases["opened"]:
        print("Nothing was seen of either action yet.")
    if basis.drawn is not None:
        first = f"p_C = {basis.drawn[0]:.2f}, p_F = {basis.drawn[1]:.2f}"
        print(f"The learner also counts one drawn try of each action: {first}.")
    print(f"{plural(status.events, 'event')}, head {status.head[:16]}.")


def _show_next(status: Status) -> None:
    """Say what the next case gets, in each group."""
    by_state = status.model != "one"
    choices = {name: one.next_threshold for name, one in status.by_group.items()}
    for group, choice in (choices or {"": status.next_threshold}).items():
        if choice is not None:
            rule = describe_choice(choice, status.goal, by_state=by_state)
            what = "this policy" if by_state else f"threshold {choice:,}"
            _fill(f"The next case{f' of {group}' if group else ''} gets {what}: {rule}.")


def _show_states(rows: Sequence[StateBasis]) -> None:
    """Print what is known of both actions in each state."""
    head = f"{'share':>7}{f'{100 * rows[0].level:g} % interval':>18}{'tries':>8}"
    print(f"\n  {'':<5}{'CONTINUE moves up':>19}{'FINISH wins':>27}")
    print(f"  state{head}{head}")
    for one in rows:
        line = f"  {one.state:>5}"
        for share, tries in ((one.p_c, one.c), (one.p_f, one.f)):
            estimate = "-" if math.isnan(share.estimate) else f"{share.estimate:.3f}"
            line += f"{estimate:>7}{f'{share.low:.3f} to {share.high:.3f}':>18}{tries:>8,}"
        print(line)
    print()


def _show_estimates(basis: Basis) -> None:
    """Print what is known of both actions."""
    print(f"\n  {'':<36}{'estimate':>10}{f'{100 * basis.level:g} % interval':>20}{'tries':>10}")
    _show_estimate("p_C, CONTINUE moves up", basis.p_c, basis.c)
    _show_estimate("p_F, FINISH wins", basis.p_f, basis.f)
    _show_estimate("B(p_C), continuing in state 1 wins", basis.boundary)
    _show_estimate("p_F - B(p_C), which decides", basis.difference)
    if basis.other_better is not None:
        right = basis.other_better if basis.action == Action.CONTINUE else 1 - basis.other_better
        _show_estimate("Probability that p_F >= B(p_C)", Estimate(right, math.nan, math.nan))
    print()


def _show_estimate(name: str, one: Estimate, tries: int | None = None) -> None:
    """Print an estimate with its interval."""
    estimate = "-" if math.isnan(one.estimate) else f"{one.estimate:.3f}"
    interval = "" if math.isnan(one.low) else f"{one.low:.3f} to {one.high:.3f}"
    number = "" if tries is None else f"{tries:,}"
    print(f"  {name:<36}{estimate:>10}{interval:>20}{number:>10}".rstrip())


def show_cases(cases: Sequence[Case], limit: int) -> None:
    """Print cases as a table."""
    if not cases:
        print("There is no such case.")
        return
    wide = max(4, *(len(str(case.case)) for case in cases))
    high = max(5, *(len(str(case.state)) for case in cases))
    grouped = any(one.group is not None for one in cases)
    since = f"{'since':<16}  group" if grouped else "since"
    print(
        f"{'case':>{wide}}  {'state':>{high}}  status  steps  overridden  held  advised   {since}"
    )
    for one in cases:
        since = _format_time(one.since)[:-3]
        against = "-" if one.overridden is None else one.overridden
        line = (
            f"{one.case:>{wide}}  {one.state:>{high}}  {one.status:<6}  {one.steps:>5}"
            f"  {against:>10}  {one.held:>4}  {one.action or '-':<8}  {since}"
        )
        group = "" if one.group is None else f"  {one.group}"
        fits = len(line) + len(group) <= _WIDTH
        print(line + group if fits else f"{line}\n{'':>{wide}}  of group{group[1:]}")
    _show_end((one.since for one in cases), len(cases) == limit, cases[-1].case, _SINCE)


def show_log(events: Sequence[Event], limit: int, goal: int, *, shadow: bool) -> None:
    """Print events as a table: number, time, case, who, and what happened."""
    if not events:
        print("There is no such event.")
        return
    wide, cases = (max(5, *(len(f"{k:,}") for k in ks)) for ks in _numbers(events))
    print(f"{'event':>{wide}}  {'recorded':<19}  {'case':>{cases}}  {'who':<{_WHO}}  what")
    for line in describe_events(events, goal, shadow=shadow):
        event = line.event
        case = f"{event.case:,}" if event.case else ""
        left = f"{event.seq:>{wide},}  {_format_time(event.recorded)}  {case:>{cases}}  "
        who = textwrap.wrap(event.who, _WHO)
        what = textwrap.wrap(
            _join_sentences(line), _WIDTH - len(left) - _WHO - 2, break_on_hyphens=False
        )
        for k in range(max(len(who), len(what))):
            name, text = (part[k] if k < len(part) else "" for part in (who, what))
            print(f"{left if k == 0 else ' ' * len(left)}{name:<{_WHO}}  {text}".rstrip())
    _show_end((event.recorded for event in events), len(events) == limit, events[-1].seq)


def _numbers(events: Sequence[Event]) -> tuple[list[int], list[int]]:
    return [event.seq for event in events], [event.case for event in events]


def _join_sentences(line: EventLine) -> str:
    """Say what an event recorded, with its notes, when it was observed, and why."""
    notes = [f"{note[:1].upper()}{note[1:]}." for note in line.notes]
    observed = line.event.observed
    when = [f"Observed {_format_time(observed)}."] if observed else []
    why = [f"Reason: {line.why}"] if line.why else []
    return " ".join([line.what, *notes, *when, *why])


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return an event for a program: what was asked and answered as objects."""
    fields = event._asdict()
    for name in ("request", "response"):
        with suppress(ValueError, RecursionError):  # a damaged one stays text
            fields[name] = json.loads(fields[name])
    return fields


def show_verified(found: Verified) -> None:
    """Say what a check found."""
    again = f", {plural(found.decisions, 'decision')} made again" if found.decisions else ""
    if found.ok:
        print(f"All is well: {plural(found.events, 'event')}{again}.")
    else:
        print(f"Problems were found in {plural(found.events, 'event')}{again}:")
        for problem in found.problems:
            print(textwrap.fill(problem, _WIDTH, initial_indent="  ", subsequent_indent="    "))
    for note in found.notes:
        _fill(f"Note: {note}.")
    print(f"head {found.head}")


def _show_end(stamps: Iterable[str], full: bool, last: int, meaning: str = "") -> None:
    """Say in which zone times are, and how to read on."""
    times = filter(None, map(_local_time, stamps))
    zones = sorted({time.tzname() or "local time" for time in times}) or ["UTC"]
    more = f" There may be more: --after {last}." if full else ""
    print()
    _fill(f"Times are in {' and '.join(zones)}{meaning}.{more}")


def _format_time(stamp: str) -> str:
    """Write a time as the user's clock shows it; a damaged one as it is."""
    time = _local_time(stamp)
    return f"{stamp[:19]:<19}" if time is None else time.strftime("%Y-%m-%d %H:%M:%S")


def _local_time(stamp: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(stamp).astimezone()
    return None
