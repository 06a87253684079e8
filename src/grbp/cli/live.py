"""The command `live`: a study run from the shell, one verb at a time."""

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import grbp
from grbp._io import CASES, Output, check_outputs
from grbp.cli import upkeep
from grbp.cli.live_options import NEW_STUDY
from grbp.cli.live_printing import (
    event_to_dict,
    show_advice,
    show_cases,
    show_log,
    show_study,
    show_verified,
)
from grbp.cli.options import (
    add_json,
    parse_number,
    parse_pairs,
    parse_table_words,
    parse_whole,
    parse_words,
)
from grbp.cli.printing import print_json
from grbp.errors import Damaged, InvalidInput
from grbp.live import Advice, Event, Verified
from grbp.live.codes import CODE_HINT
from grbp.live.export import log_kind, read_log
from grbp.live.schema import OPEN, STATUSES
from grbp.live.shadow import show
from grbp.live.starts import DRAWN
from grbp.live.verify import replay_log
from grbp.live.words.entries import describe_events

STORE: Final = "grbp-live.sqlite"
"""The file in the present folder that keeps studies, unless something else is said."""

_VARIABLE: Final = "GRBP_STORE"

_Options: TypeAlias = dict[str, dict[str, Any]]


class _Verb(NamedTuple):
    """A verb: what it does, its own options, what runs it, and whether that gets the study."""

    line: str
    options: _Options
    run: Callable[..., int | None]
    opens: bool = True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs, each with its options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name, entry in _VERBS.items():
        verb = verbs.add_parser(name, help=entry.line, description=f"{entry.line}.")
        for option, settings in entry.options.items():
            verb.add_argument(option, **settings)
        add_store(verb)
        if name not in ("studies", "import", "backup"):
            there = "" if name == "init" else "; not needed if there is only one"
            verb.add_argument(
                "--study", metavar="NAME", required=name == "init", help=f"its name{there}"
            )
        add_json(verb)
        verb.set_defaults(verb=entry)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the option for where studies are kept."""
    where = f"SQLite file or PostgreSQL address (${_VARIABLE}, or {STORE})"
    parser.add_argument("--store", metavar="FILE", help=where)


def run(options: argparse.Namespace) -> int | None:
    """Run a verb; return 1 if it is a check that found a problem."""
    verb: _Verb = options.verb
    if not verb.opens:
        return verb.run(options)
    with _open_study(options) as study:
        return verb.run(options, study)


def store_of(options: argparse.Namespace) -> str:
    """Return where studies are kept."""
    named: str | None = options.store
    store = (os.environ.get(_VARIABLE) or STORE) if named is None else named
    if store in ("", "memory"):
        raise InvalidInput(f"the store {store!r} was given; it must be a file or a database")
    return store


def _open_study(options: argparse.Namespace) -> grbp.Study:
    """Open the study that is asked about."""
    return grbp.Study(store_of(options), options.study, who=getattr(options, "who", None))


def _init(options: argparse.Namespace) -> None:
    """Make a study."""
    words = parse_table_words(options)
    if options.records is None and any(words.values()):
        raise InvalidInput("words of a table were given; they need --records")
    begun = {"--start": options.start, "--records": options.records, "--from": options.old}
    given = [name for name, value in begun.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} were given; a study begins in one way")
    if options.goal is None and options.old is None and options.states is None:
        raise InvalidInput(
            "no --goal was given; it must be the state that wins a case, or name all --states"
        )
    goal, start = parse_whole(options.goal), options.start or DRAWN
    if goal is None and options.states is not None:
        goal = len(parse_words(options.states)) - 1
    with ExitStack() as stack:
        if options.records is not None:
            start = grbp.fit(options.records, goal, **words)
        elif options.old is not None:
            start = stack.enter_context(grbp.Study(store_of(options), options.old))
            goal = start.goal if goal is None else goal
        study = stack.enter_context(_create(options, goal, start))
        _status(options, study)


def _create(options: argparse.Namespace, goal: int, start: Any) -> grbp.Study:
    """Make a study that begins with something."""
    windows = parse_pairs("window", options.window or [], "finish=30")
    memory, groups = options.memory, options.groups
    return grbp.Study.create(
        store_of(options),
        options.study,
        goal,
        options.learner,
        model=options.model,
        memory=memory if memory in (None, "averaged") else parse_number(memory),
        groups=None if groups is None else parse_words(groups),
        seed=parse_whole(options.seed),
        start=start,
        cases=parse_whole(options.cases),
        windows={action: parse_number(days) for action, days in windows.items()},
        shadow=options.shadow,
        level=parse_number(options.level),
        states=None if options.states is None else parse_words(options.states),
        actions=None if options.actions is None else parse_words(options.actions),
        case_name=_parse_case_name(options.case_name),
        who=options.who,
    )


def _parse_case_name(text: str | None) -> str | list[str] | None:
    """Read what a case is called, or also what several are called."""
    return text if text is None or "," not in text else parse_words(text)


def _open(options: argparse.Namespace, study: grbp.Study) -> None:
    """Open a case."""
    state = parse_whole(options.state)
    advice = study.open_case(
        state, group=options.group, code=options.code, key=options.key, observed=options.observed
    )
    _show(options, advice)


def _ask(options: argparse.Namespace, study: grbp.Study) -> None:
    """Say what to do next with a case."""
    _show(options, study.ask(_find_case(options, study)))


def _tell(options: argparse.Namespace, study: grbp.Study) -> None:
    """Record what came of a step."""
    advice = study.tell(
        _find_case(options, study),
        parse_whole(options.state),
        took=options.took,
        why=options.why or "",
        step=parse_whole(options.step),
        key=options.key,
        observed=options.observed,
    )
    _show(options, advice, f"Step {advice.step:,} is recorded.")


def _void(options: argparse.Namespace, study: grbp.Study) -> None:
    """Take back the last entry of a case."""
    case, step = _find_case(options, study), parse_whole(options.step)
    advice = study.void(case, options.why, step=step, key=options.key)
    _show(options, advice, "The last entry is taken back; the log keeps it.")


def _undo(options: argparse.Namespace, study: grbp.Study) -> None:
    """Undo one's own last entry of a case."""
    advice = study.undo(_find_case(options, study), key=options.key)
    _show(options, advice, "Your last entry is undone; the log keeps it.")


def _withdraw(options: argparse.Namespace, study: grbp.Study) -> None:
    """Withdraw a case."""
    case = _find_case(options, study)
    _show(options, study.withdraw_case(case, options.why, key=options.key))


def _code(options: argparse.Namespace, study: grbp.Study) -> None:
    """Give a case a code, or erase it."""
    if (options.code is None) == (not options.erase):
        raise InvalidInput("give either --code, to give the case a code, or --erase")
    case = study.set_code(parse_whole(options.case), options.code)
    case = show(case, shadow=study.status().shadow)
    if options.json:
        print_json(case.to_dict())
    else:
        show_cases([case], 1, study.labels)


def _find_case(options: argparse.Namespace, study: grbp.Study) -> int:
    """Return the number of the case that is named by it or by its code."""
    if (options.case is None) == (options.code is None):
        raise InvalidInput("give either --case, the number of the case, or --code")
    if options.code is None:
        number: int = parse_whole(options.case)
        return number
    found = study.find_cases(options.code, 2)
    if not found or (found[0].status != OPEN and len(found) > 1):
        many = "several cases that are over have it: give --case" if found else "no case has it"
        raise InvalidInput(f"--code {options.code} was given; {many}")
    return found[0].case


def _archive(options: argparse.Namespace, study: grbp.Study) -> None:
    """Close the study for entries."""
    study.archive(options.why)
    _status(options, study)


def _unarchive(options: argparse.Namespace, study: grbp.Study) -> None:
    """Open the study for entries again."""
    study.unarchive(options.why)
    _status(options, study)


def _status(options: argparse.Namespace, study: grbp.Study) -> None:
    """Say how the study stands."""
    status = study.status()
    status = show(status, shadow=status.shadow)
    if options.json:
        print_json(status.to_dict())
    else:
        show_study(status, details=getattr(options, "details", False))


def _studies(options: argparse.Namespace) -> None:
    """List the studies of the store."""
    names = grbp.Study.names(store_of(options), archived=options.all)
    if options.json:
        print_json({"studies": names})
    else:
        print("\n".join(names) if names else "There is no study yet.")


def _cases(options: argparse.Namespace, study: grbp.Study) -> None:
    """List cases."""
    limit = parse_whole(options.limit)
    if options.code is None:
        cases = study.cases(parse_whole(options.after), limit, options.status)
    else:
        cases = study.find_cases(options.code, limit)
    shadow = study.status().shadow
    cases = [show(case, shadow=shadow) for case in cases]
    if options.json:
        print_json({"cases": [case.to_dict() for case in cases]})
    else:
        show_cases(cases, limit, study.labels)


def _is_shadow(study: grbp.Study) -> bool:
    """Return whether nobody is advised; in a damaged study, in doubt nobody is."""
    try:
        return study.status().shadow
    except Damaged:
        return True


def _log(options: argparse.Namespace, study: grbp.Study) -> None:
    """List events."""
    limit = parse_whole(options.limit)
    events = study.log(parse_whole(options.after), limit, parse_whole(options.case))
    shadow = _is_shadow(study)
    events = [show(event, shadow=shadow) for event in events]
    if options.json:
        print_json({"events": [event_to_dict(event) for event in events]})
    else:
        goal, words, back = study.goal, study.labels, _find_taken_back(study, events)
        lines = describe_events(events, goal, words, shadow=shadow, taken_back=back)
        show_log(lines, limit, words, details=options.details)


def _find_taken_back(study: grbp.Study, events: list[Event]) -> set[int]:
    """Return the numbers of the events that were taken back; of a damaged study none."""
    try:
        return study.find_taken_back(events)
    except Damaged:
        return set()


def _verify(options: argparse.Namespace) -> int:
    """Check the whole study, or every study."""
    if options.all or options.heads is not None:
        return upkeep.verify_all(options, store_of(options))
    with _open_study(options) as study:
        return _show_verified(options, study.verify())


def _replay(options: argparse.Namespace) -> int:
    """Make every decision again, of the study or of an export."""
    if options.file is None:
        with _open_study(options) as study:
            return _show_verified(options, study.replay())
    if options.store is not None or options.study is not None:
        raise InvalidInput(f"{options.file} was given; an export needs no --store and no --study")
    _, events = read_log(Path(options.file))
    return _show_verified(options, replay_log(events, None, decide=True)[0])


def _export(options: argparse.Namespace) -> None:
    """Write the log, the steps or both."""
    written = {"log": options.out, "steps": options.steps}
    if "-" in written.values():
        raise InvalidInput("- was given; it must name a file (without one, the log is printed)")
    if options.codes and options.steps is None:
        raise InvalidInput("--codes was given; it needs --steps, as the log has no codes")
    if options.json and options.out is None and options.steps is None:
        raise InvalidInput("--json was given; it needs a file to write to, by --out or --steps")
    with _open_study(options) as study:
        asked = (options.out, log_kind(study.name)), (options.steps, CASES)
        outputs = [Output(Path(file), kind) for file, kind in asked if file is not None]
        check_outputs(outputs, [store_of(options)], force=options.force)
        if options.out is not None:
            study.export(options.out)
        if options.steps is not None:
            study.export_steps(options.steps, codes=options.codes)
        if options.out is None and options.steps is None:
            for line in study.export_lines():
                print(line.decode(), end="")
    if options.json:
        print_json(written)
    else:
        for file in filter(None, written.values()):
            print(file)


def _import(options: argparse.Namespace) -> None:
    """Record an exported study in the store."""
    with grbp.Study.import_(store_of(options), options.file) as study:
        _status(options, study)


def _backup(options: argparse.Namespace) -> int:
    """Copy all studies of the store."""
    return upkeep.back_up(options, store_of(options))


def _show(options: argparse.Namespace, advice: Advice, recorded: str = "") -> None:
    """Give advice to a program or to a person."""
    advice = show(advice, shadow=advice.shadow)
    if options.json:
        print_json(advice.to_dict())
    else:
        show_advice(advice, recorded, details=options.details)


def _show_verified(options: argparse.Namespace, found: Verified) -> int:
    """Give what a check found; return its exit status."""
    if options.json:
        print_json(found._asdict() | {"ok": found.ok})
    else:
        show_verified(found)
    return 0 if found.ok else 1


_WHO: Final[_Options] = {"--who": {"help": "who records (your user name)"}}
_DETAILS: Final[_Options] = {
    "--details": {"action": "store_true", "help": "also say what statisticians want to know"}
}
_KEY: Final[_Options] = {"--key": {"help": "a UUID; sent again, the request is recorded once"}}
_OBSERVED: Final[_Options] = {
    "--observed": {"metavar": "TIME", "help": "when it happened, if not now: 2026-11-16T08:30"}
}
_CASE: Final[_Options] = {
    "--case": {"metavar": "N", "help": "the number of the case"},
    "--code": {"metavar": "CODE", "help": "its code, instead of its number"},
}
_NUMBER: Final[_Options] = {
    "--case": {"required": True, "metavar": "N", "help": "the number of the case"}
}
_PAGE: Final[_Options] = {
    "--after": {"default": "0", "metavar": "N", "help": "begin after this number (0)"},
    "--limit": {"default": "100", "metavar": "N", "help": "list at most this many (100)"},
}
_TELL: Final[_Options] = {
    "--state": {"required": True, "help": "the state it led to, by its number or its word"},
    "--took": {"metavar": "ACTION", "help": "what was done, if not what was advised"},
    "--why": {"metavar": "TEXT", "help": "why something else was done"},
    "--step": {"metavar": "N", "help": "the number of the step, so that none is told twice"},
}
_VOID: Final[_Options] = {
    "--why": {"required": True, "metavar": "TEXT", "help": "what was wrong with it"},
    "--step": {"metavar": "N", "help": "the step that is meant, for safety"},
}
_STATE: Final[_Options] = {
    "--state": {"required": True, "help": "its state, by its number or its word"},
    "--group": {"metavar": "NAME", "help": "its group, in a study with groups"},
    "--code": {"metavar": "CODE", "help": f"a short code of it: {CODE_HINT}"},
}
_CODE: Final[_Options] = {
    "--code": {"metavar": "CODE", "help": f"the code: {CODE_HINT}"},
    "--erase": {"action": "store_true", "help": "erase the code"},
}
_BY_CODE: Final[_Options] = {"--code": {"metavar": "CODE", "help": "find those with this code"}}
_WHY: Final[_Options] = {"--why": {"required": True, "metavar": "TEXT", "help": "the reason"}}
_ALL: Final[_Options] = {"--all": {"action": "store_true", "help": "also those that are archived"}}
_STATUS: Final[_Options] = {
    "--status": {"choices": list(STATUSES), "help": "list those of one status"}
}
_OF_CASE: Final[_Options] = {
    "--case": {"metavar": "N", "help": "the case whose events to list (all)"}
}

_EXPORT: Final[_Options] = {
    "--out": {"metavar": "FILE", "help": "the log as lines of JSON (standard output)"},
    "--steps": {"metavar": "FILE", "help": "the steps as CSV, as grbp fit reads them"},
    "--codes": {"action": "store_true", "help": "with --steps, also codes, which may name people"},
    "--force": {"action": "store_true", "help": "replace files even if they are something else"},
}


def _file_option(line: str, **settings: str) -> _Options:
    return {"file": {"metavar": "FILE", "help": line, **settings}}


_VERBS: Final = {
    "init": _Verb("make a study", NEW_STUDY | _WHO | _DETAILS, _init, opens=False),
    "open": _Verb(
        "open a case and say what to do", _STATE | _KEY | _OBSERVED | _WHO | _DETAILS, _open
    ),
    "ask": _Verb("say what to do next with a case, and why", _CASE | _DETAILS, _ask),
    "tell": _Verb(
        "record what came of a step, and say what to do next",
        _CASE | _TELL | _KEY | _OBSERVED | _WHO | _DETAILS,
        _tell,
    ),
    "void": _Verb(
        "take back the last entry of a case", _CASE | _VOID | _KEY | _WHO | _DETAILS, _void
    ),
    "undo": _Verb(
        "undo your own last entry of a case, within 15 minutes",
        _CASE | _KEY | _WHO | _DETAILS,
        _undo,
    ),
    "withdraw": _Verb("withdraw a case", _CASE | _WHY | _KEY | _WHO | _DETAILS, _withdraw),
    "code": _Verb("give a case a short code, or erase it", _NUMBER | _CODE | _WHO, _code),
    "archive": _Verb("close the study for entries, and keep it", _WHY | _WHO, _archive),
    "unarchive": _Verb("open an archived study for entries again", _WHY | _WHO, _unarchive),
    "studies": _Verb("list the studies of the store", _ALL, _studies, opens=False),
    "status": _Verb("say how the study stands", _DETAILS, _status),
    "cases": _Verb("list cases", _STATUS | _BY_CODE | _PAGE, _cases),
    "log": _Verb("list what was recorded, by whom and when", _OF_CASE | _PAGE | _DETAILS, _log),
    "verify": _Verb("check that nothing was changed or lost", upkeep.VERIFY, _verify, opens=False),
    "export": _Verb(
        "write the log, to take it elsewhere, or the steps as a table",
        _EXPORT,
        _export,
        opens=False,
    ),
    "import": _Verb(
        "bring an exported study into the store",
        _file_option("what export wrote"),
        _import,
        opens=False,
    ),
    "replay": _Verb(
        "make every decision again, and compare",
        _file_option("an export to play again, without any store", nargs="?"),
        _replay,
        opens=False,
    ),
    "backup": _Verb(
        "copy all studies of the store to a new file",
        upkeep.BACKUP,
        _backup,
        opens=False,
    ),
}
