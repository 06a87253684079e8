"""The command `live`: a study run from the shell, one verb at a time."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack, suppress
from inspect import Signature
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import grbp
from grbp._io import CASES, Output, check_outputs
from grbp.cli import upkeep
from grbp.cli.live_printing import (
    event_to_dict,
    show_advice,
    show_cases,
    show_log,
    show_study,
    show_verified,
)
from grbp.cli.options import (
    TABLE_WORDS,
    add_json,
    add_store,
    parse_number,
    parse_pairs,
    parse_table_words,
    parse_whole,
    parse_words,
    store_of,
)
from grbp.cli.printing import print_json
from grbp.errors import Damaged, InvalidInput
from grbp.live import Advice, Status, Verified
from grbp.live.kinds import describe_events
from grbp.live.log_file import log_kind, read_log
from grbp.live.parameters import PARAMETERS, Parameter
from grbp.live.schema import OPEN
from grbp.live.shadow import show
from grbp.live.starts import DRAWN
from grbp.live.verbs import parameters_of
from grbp.live.verify import replay_log

_Options: TypeAlias = dict[str, dict[str, Any]]

_NONE: Final[_Options] = {}

_OTHERWISE: Final = ("goal", "code")
"""What the verbs of a study need, and the shell can also be told in another way."""


class _Command(NamedTuple):
    """A verb at the shell: the verb of a study whose options it has, and more of its own."""

    line: str
    verb: str
    run: Callable[..., int | None]
    options: _Options = _NONE
    opens: bool = True
    recorded: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs, each with its options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name, entry in _COMMANDS.items():
        verb = verbs.add_parser(name, help=entry.line, description=f"{entry.line}.")
        for option, settings in (_make_options(entry.verb) | entry.options).items():
            verb.add_argument(option, **settings)
        add_store(verb)
        if name not in ("studies", "import", "backup"):
            there = "" if name == "init" else "; not needed if there is only one"
            verb.add_argument(
                "--study", metavar="NAME", required=name == "init", help=f"its name{there}"
            )
        add_json(verb)
        verb.set_defaults(entry=entry)


def _make_options(verb: str) -> _Options:
    """Make options of the parameters of a verb; a case can also be named by its code."""
    given = parameters_of(verb) if verb else {}
    options: _Options = {}
    for name, parameter in given.items():
        if parameter.help and parameter.option != "study":
            option = f"--{(parameter.option or name).replace('_', '-')}"
            options[option] = _describe(name, parameter)
            if name == "case" and "required" in options[option] and "code" not in given:
                del options[option]["required"]
                options["--code"] = {"metavar": "CODE", "help": "its code, instead of its number"}
    return options


def _describe(name: str, parameter: Parameter) -> dict[str, Any]:
    """Describe a parameter as `argparse` takes it."""
    kind, words = parameter.schema.get("type"), parameter.schema.get("enum")
    words = words or parameter.schema.get("anyOf", [{}])[0].get("enum")
    settings: dict[str, Any] = {"dest": name, "help": parameter.help}
    if kind == "boolean":
        return settings | {"action": "store_true"}
    if kind == "object":
        settings["action"] = "append"
    if kind == "integer" and isinstance(parameter.default, int):
        settings["default"] = parameter.default
    if parameter.metavar:
        settings["metavar"] = parameter.metavar
    elif words:
        settings["choices"] = words
    if parameter.default is Signature.empty and name not in _OTHERWISE:
        settings["required"] = True
    return settings


def run(options: argparse.Namespace) -> int | None:
    """Run a verb; return 1 if it is a check that found a problem."""
    entry: _Command = options.entry
    if not entry.opens:
        return entry.run(options)
    with _open_study(options) as study:
        return entry.run(options, study)


def _open_study(options: argparse.Namespace) -> grbp.Study:
    """Open the study that is asked about."""
    return grbp.Study(store_of(options), options.study)


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
        settings = _read_given(options) | {"goal": goal, "start": start, "who": options.who}
        study = grbp.Study.create(store_of(options), options.study, **settings)
        _show(options, stack.enter_context(study).status())


def _read_given(options: argparse.Namespace) -> dict[str, Any]:
    """Read what was given of the parameters of a verb."""
    given = {}
    for name, parameter in parameters_of(options.entry.verb).items():
        value = getattr(options, name, None)
        if isinstance(value, str | list):
            value = _READERS.get(parameter.schema.get("type", name), str)(value)
        if value is not None:
            given[name] = value
    return given


def _parse_windows(pairs: list[str]) -> dict[str, Any]:
    """Read after how many days the outcomes of actions count."""
    windows = parse_pairs("window", pairs, "finish=30")
    return {action: parse_number(days) for action, days in windows.items()}


def _ask(options: argparse.Namespace, study: grbp.Study) -> None:
    """Ask a study by a verb, and show its answer."""
    given = _read_given(options)
    if hasattr(options, "case"):
        given["case"] = _find_case(options, study)
    _show(options, getattr(study, options.entry.verb)(**given))


def _show(options: argparse.Namespace, answer: Advice | Status) -> None:
    """Give advice, or how a study stands, to a program or to a person."""
    answer, details = show(answer, shadow=answer.shadow), getattr(options, "details", False)
    if options.json:
        print_json(answer.to_dict())
    elif isinstance(answer, Advice):
        show_advice(answer, options.entry.recorded.format(step=answer.step), details=details)
    else:
        show_study(answer, details=details)


def _code(options: argparse.Namespace, study: grbp.Study) -> None:
    """Give a case a code, or erase it."""
    if (options.code is None) == (not options.erase):
        raise InvalidInput("give either --code, to give the case a code, or --erase")
    case = study.set_code(**_read_given(options) | {"code": options.code})
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


def _studies(options: argparse.Namespace) -> None:
    """List the studies of the store."""
    names = grbp.Study.names(store_of(options), archived=options.all)
    if options.json:
        print_json({"studies": names})
    else:
        print("\n".join(names) if names else "There is no study yet.")


def _cases(options: argparse.Namespace, study: grbp.Study) -> None:
    """List cases."""
    given = _read_given(options)
    limit = given["limit"]
    cases = study.cases(**given) if options.code is None else study.find_cases(options.code, limit)
    shadow = study.status().shadow
    shown = [show(case, shadow=shadow) for case in cases]
    if options.json:
        print_json({"cases": [case.to_dict() for case in shown]})
    else:
        show_cases(shown, limit, study.labels)


def _log(options: argparse.Namespace, study: grbp.Study) -> None:
    """List events; of a damaged study, in doubt nobody is advised and nothing was taken back."""
    given, words = _read_given(options), study.labels
    shadow, back = True, set[int]()
    with suppress(Damaged):
        shadow = study.status().shadow
    events = [show(event, shadow=shadow) for event in study.log(**given)]
    if options.json:
        print_json({"events": [event_to_dict(event) for event in events]})
        return
    with suppress(Damaged):
        back = study.find_taken_back(events)
    lines = describe_events(events, study.goal, words, shadow=shadow, taken_back=back)
    show_log(lines, given["limit"], words, details=options.details)


def _verify(options: argparse.Namespace) -> int:
    """Check the whole study, or every study."""
    if options.all or options.heads is not None:
        return upkeep.verify_all(options)
    with _open_study(options) as study:
        return _show_verified(options, study.verify())


def _replay(options: argparse.Namespace) -> int:
    """Make every decision again, of the study, of every study or of an export."""
    if options.all:
        return upkeep.replay_all(options)
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
        _show(options, study.status())


def _show_verified(options: argparse.Namespace, found: Verified) -> int:
    """Give what a check found; return its exit status."""
    if options.json:
        print_json(found._asdict() | {"ok": found.ok})
    else:
        show_verified(found)
    return 0 if found.ok else 1


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "integer": parse_whole,
    "number": parse_number,
    "array": parse_words,
    "object": _parse_windows,
    "memory": lambda text: text if text == "averaged" else parse_number(text),
    "case_name": lambda text: parse_words(text) if "," in text else text,
}
"""How a text is read, by the kind of the parameter, or by its name if it has several."""

_WHO: Final[_Options] = {"--who": {"help": PARAMETERS["who"].help}}
_DETAILS: Final[_Options] = {
    "--details": {"action": "store_true", "help": "also say what statisticians want to know"}
}
_BY_CODE: Final[_Options] = {"--code": _make_options("find_cases")["--code"]}
_ERASE: Final[_Options] = {"--erase": {"action": "store_true", "help": "erase the code"}}
_EVERY: Final[_Options] = {"--all": {"action": "store_true", "help": "play every study again"}}
_ALL: Final[_Options] = {"--all": {"action": "store_true", "help": "also those that are archived"}}
_EXPORT: Final[_Options] = {
    "--out": {"metavar": "FILE", "help": "the log as lines of JSON (standard output)"},
    "--steps": {"metavar": "FILE", "help": "the steps as CSV, as grbp fit reads them"},
    **_make_options("export_steps"),
    "--force": {"action": "store_true", "help": "replace files even if they are something else"},
}
_BEGIN: Final[_Options] = {
    "--records": {"metavar": "CASES.csv", "help": "begin with past cases, as grbp fit reads them"},
    **TABLE_WORDS,
    "--from": {
        "metavar": "STUDY",
        "dest": "old",
        "help": "begin with the cases of another study of the store",
    },
}


def _file_option(line: str, **settings: str) -> _Options:
    return {"file": {"metavar": "FILE", "help": line, **settings}}


_COMMANDS: Final = {
    "init": _Command("make a study", "create", _init, _BEGIN | _WHO | _DETAILS, opens=False),
    "open": _Command("open a case and say what to do", "open_case", _ask, _DETAILS),
    "ask": _Command("say what to do next with a case, and why", "ask", _ask, _DETAILS),
    "tell": _Command(
        "record what came of a step, and say what to do next", "tell", _ask, _DETAILS,
        recorded="Step {step:,} is recorded.",
    ),
    "void": _Command(
        "take back the last entry of a case", "void", _ask, _DETAILS,
        recorded="The last entry is taken back; the log keeps it.",
    ),
    "undo": _Command(
        "undo your own last entry of a case, within 15 minutes", "undo", _ask, _DETAILS,
        recorded="Your last entry is undone; the log keeps it.",
    ),
    "withdraw": _Command("withdraw a case", "withdraw_case", _ask, _DETAILS),
    "code": _Command("give a case a short code, or erase it", "set_code", _code, _ERASE),
    "archive": _Command("close the study for entries, and keep it", "archive", _ask),
    "unarchive": _Command("open an archived study for entries again", "unarchive", _ask),
    "learner": _Command("let another learner decide the next cases", "change_learner", _ask),
    "studies": _Command("list the studies of the store", "", _studies, _ALL, opens=False),
    "status": _Command("say how the study stands", "status", _ask, _DETAILS),
    "cases": _Command("list cases", "cases", _cases, _BY_CODE),
    "log": _Command("list what was recorded, by whom and when", "log", _log, _DETAILS),
    "verify": _Command(
        "check that nothing was changed or lost", "verify", _verify, upkeep.VERIFY, opens=False
    ),
    "export": _Command(
        "write the log, to take it elsewhere, or the steps as a table", "", _export, _EXPORT,
        opens=False,
    ),
    "import": _Command(
        "bring an exported study into the store", "", _import, _file_option("what export wrote"),
        opens=False,
    ),
    "replay": _Command(
        "make every decision again, and compare", "replay", _replay,
        _file_option("an export to play again, without any store", nargs="?") | _EVERY,
        opens=False,
    ),
    "backup": _Command(
        "copy all studies of the store to a new file", "", upkeep.back_up, upkeep.BACKUP,
        opens=False,
    ),
}  # fmt: skip
"""The verbs of the shell; one without a verb of a study is composed of several, or asks none."""
