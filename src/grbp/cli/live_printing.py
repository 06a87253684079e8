"""Printing a live study for a person, at 80 columns and in the study's own words.

What only statisticians want to know is printed when it is asked for, below a line that says so.
"""

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import product, zip_longest
from typing import Any, Final

from grbp._format import begin, format_share, format_span, plural
from grbp.cli.printing import print_filled
from grbp.live import Advice, Basis, Case, Event, Status, Verified, wording
from grbp.live.advice import AnyBasis
from grbp.live.reasons import fill_lines, name_goal, say_drawn, see
from grbp.live.wording import EventLine, describe_choice, name_ends, say_window
from grbp.theory.posterior import Estimate
from grbp.worlds.labels import Labels
from grbp.worlds.transition import Action

_WIDTH: Final = 80
_GAP: Final = 2
_TIMES: Final = ("recorded", "since")
_DETAILS: Final = "\nFor statisticians:"


def _show_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; where it is too wide, the widest columns of words go on in the next line."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    words = [k for k, head in enumerate(heads) if head not in _TIMES]
    while sum(widths) + _GAP * (len(widths) - 1) > _WIDTH:
        widths[max(words, key=widths.__getitem__)] -= 1
    for line in lines:
        cells = [
            textwrap.wrap(cell, width, break_on_hyphens=False)
            for cell, width in zip(line, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (f"{part:<{width}}" for part, width in zip(parts, widths, strict=True))
            print((" " * _GAP).join(padded).rstrip())


def show_advice(advice: Advice, done: str = "", *, details: bool = False) -> None:
    """Say what to do, then what was recorded, then why."""
    print_filled(str(advice))
    if advice.replayed:
        print(f"This was recorded before, as entry {advice.event:,}; nothing was recorded now.")
    elif done:
        print(done)
    for warning in advice.warnings or ():
        print_filled(f"WARNING: {warning}")
    if advice.basis is not None:
        print()
        print(fill_lines(advice.basis.sentences(advice.labels)))
        if details:
            print(_DETAILS)
            print(fill_lines(advice.basis.details()))


def show_study(status: Status, *, details: bool = False) -> None:
    """Say at a glance how a study stands."""
    n, words = status.cases, status.labels
    print_filled(f"Study {status.study}: from {name_ends(status.goal, words)}.")
    if status.shadow:
        print("Shadow mode: nobody is advised.")
    if status.groups:
        print_filled(f"Groups, each with counts of its own: {', '.join(status.groups)}.")
    for action, days in status.windows.items():
        print_filled(f"{begin(say_window(action, days, words))}.")
    _show_hindrances(status)
    if not n["opened"]:
        print(f"There is no {words.case[0]} yet.")
    else:
        stages = ", ".join(f"{n[stage]:,} {said}" for stage, said in wording.STAGES.items())
        print_filled(f"{begin(words.count_cases(n['opened']))}: {stages}.")
    if status.planned is not None:
        print_filled(wording.describe_planned(status.planned, n["opened"], words))
    if not status.shadow:
        _show_learned(status)
    if details:
        _show_details(status)


def _show_hindrances(status: Status) -> None:
    """Say what cannot be recorded, if anything cannot be."""
    if status.archived:
        print(f"ARCHIVED on {status.archived[:10]}: it takes no entries.")
    if status.read_only:
        print_filled(f"READ-ONLY: {status.read_only}.")
    elif status.undecided:
        print_filled(f"NO NEW {status.labels.case[0].upper()}: {status.undecided}.")


def _show_learned(status: Status) -> None:
    """Say what a study has learned, and what follows from that."""
    basis, words = status.basis, status.labels
    if status.model != "one" or status.memory is not None:
        print_filled(f"The advice takes for granted {'; '.join(wording.describe_granted(status))}.")
    for alarm in wording.describe_alarms(status):
        print_filled(f"{'WARNING: ' if alarm.speaks else ''}{alarm.sentence}")
    if status.pending:
        many, are = ("outcome", "is") if status.pending == 1 else ("outcomes", "are")
        finish = words.doing(Action.FINISH)
        print_filled(f"{status.pending:,} {many} of {finish} {are} still awaited.")
    _show_next(status)
    rows = [basis] if isinstance(basis, Basis) else status.by_state
    if any(one.f or one.c for one in rows):
        _show_known(rows, words)
    if status.cases["opened"] or basis.side is not None:
        print_filled(wording.describe_certainty(basis, words))


def _show_next(status: Status) -> None:
    """Say what the next case gets, in each group."""
    words, by_state = status.labels, status.model != "one"
    choices = {name: one.next_threshold for name, one in status.by_group.items()}
    for group, choice in (choices or {"": status.next_threshold}).items():
        if choice is not None:
            rule = describe_choice(choice, status.goal, words, by_state=by_state)
            print_filled(f"The next {words.case[0]}{f' of {group}' if group else ''} gets: {rule}.")


def _show_known(rows: Sequence[AnyBasis], words: Labels) -> None:
    """Print what is known of both actions, in all states together or in each."""
    interval = f"{100 * rows[0].level:g} % interval"
    goal = name_goal(rows[0].goal, words)
    did = {Action.CONTINUE: "moved up", Action.FINISH: f"reached {goal}"}
    cells = []
    for basis, action in product(rows, Action):
        seen, place = see(basis, action), f"in {words.state(basis.state)}, " * basis.by_state
        share = seen.share
        cells.append(
            (
                begin(f"{place}{words.doing(action)} {did[action]}"),
                f"{seen.good:,} of {seen.tries:,}",
                format_share(share.estimate),
                format_span(share.low, share.high) if seen.tries else "",
            )
        )
    print()
    _show_table(("what was seen", "how often", "share", interval), cells)
    print()


def _show_details(status: Status) -> None:
    """Print what statisticians want to know of a study."""
    basis = status.basis
    print(_DETAILS)
    if status.shadow:
        print(f"grbp {status.version}. {plural(status.events, 'event')}.")
        return
    print_filled(f"Learner {status.learner} (grbp {status.version}), seed {status.seed}.")
    if status.next_threshold is not None and status.model == "one":
        print(f"The next threshold is {status.next_threshold:,}.")
    for alarm in status.alarms or ():
        print(f"Alarm {alarm.name}: evidence {alarm.evidence:,.0f}.")
    if basis.drawn is not None:
        print_filled(say_drawn(*basis.drawn))
    if isinstance(basis, Basis) and (basis.f or basis.c):
        _show_estimates(basis)
    print(f"{plural(status.events, 'event')}, head {status.head[:16]}.")


def _show_estimates(basis: Basis) -> None:
    """Print what is known of both actions, in the symbols of the paper."""
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


def show_cases(cases: Sequence[Case], limit: int, words: Labels) -> None:
    """Print cases as a table."""
    if not cases:
        print(f"There is no such {words.case[0]}.")
        return
    parts = {
        words.case[0]: [f"{one.case:,}" for one in cases],
        "code": [one.code or "" for one in cases],
        "state": [words.state(one.state).removeprefix("state ") for one in cases],
        "status": [wording.STAGES.get(one.status, one.status) for one in cases],
        "steps": [_describe_steps(one) for one in cases],
        "advised": [words.do(one.action) if one.action else "" for one in cases],
        "since": [_format_time(one.since)[:-3] for one in cases],
        "group": [one.group or "" for one in cases],
    }
    shown = {head: cells for head, cells in parts.items() if any(cells)}
    _show_table(list(shown), list(zip(*shown.values(), strict=True)))
    since = f", and say since when each {words.case[0]} has been in that state"
    _show_end((one.since for one in cases), len(cases) == limit, cases[-1].case, since)


def _describe_steps(case: Case) -> str:
    """Say how many steps were told, how many against the advice, and how many do not count yet."""
    against = f", {case.overridden:,} against the advice" if case.overridden else ""
    held = f", {case.held:,} not counted yet" if case.held else ""
    return f"{case.steps:,}{against}{held}"


def show_log(lines: Sequence[EventLine], limit: int, words: Labels, *, details: bool) -> None:
    """Print events as a table: number, time, case, who, and what happened."""
    if not lines:
        print("There is no such entry.")
        return
    _show_table(
        ("entry", "recorded", words.case[0], "who", "what"),
        [
            (
                f"{line.event.seq:,}",
                _format_time(line.event.recorded),
                f"{line.event.case:,}" if line.event.case else "",
                line.event.who,
                _join_sentences(line, details=details),
            )
            for line in lines
        ],
    )
    stamps = (line.event.recorded for line in lines)
    _show_end(stamps, len(lines) == limit, lines[-1].event.seq)


def _join_sentences(line: EventLine, *, details: bool) -> str:
    """Say what an event recorded, with its notes, when it was observed, and why."""
    notes = [f"{begin(note)}." for note in line.notes]
    observed = line.event.observed
    when = [f"Observed {_format_time(observed)}."] if observed else []
    why = [f"Reason: {line.why}"] if line.why else []
    more = [line.details] if details and line.details else []
    return " ".join([line.what, *notes, *more, *when, *why])


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
            print_filled(f"  {problem}", 4)
    for note in found.notes:
        print_filled(f"Note: {note}.")
    print(f"head {found.head}")


def _show_end(stamps: Iterable[str], full: bool, last: int, meaning: str = "") -> None:
    """Say in which zone times are, and how to read on."""
    times = filter(None, map(_local_time, stamps))
    zones = sorted({time.tzname() or "local time" for time in times}) or ["UTC"]
    more = f" There may be more: --after {last}." if full else ""
    print()
    print_filled(f"Times are in {' and '.join(zones)}{meaning}.{more}")


def _format_time(stamp: str) -> str:
    """Write a time as the user's clock shows it; a damaged one as it is."""
    time = _local_time(stamp)
    return f"{stamp[:19]:<19}" if time is None else time.strftime("%Y-%m-%d %H:%M:%S")


def _local_time(stamp: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(stamp).astimezone()
    return None
