"""The command `live`: a study run from the shell, one verb at a time."""

import argparse
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from inspect import Signature
from pathlib import Path
from typing import Any, Final, NamedTuple

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
    COMMON,
    TABLE_WORDS,
    Option,
    add_all,
    add_commands,
    add_common,
    given,
    parse_number,
    parse_pairs,
    parse_table_words,
    parse_whole,
    parse_words,
    refuse_given,
    store_of,
)
from grbp.cli.printing import answer
from grbp.errors import Damaged, InvalidInput
from grbp.live import Advice, Status, Verified
from grbp.live.kinds import describe_events
from grbp.live.log_file import log_kind, read_log
from grbp.live.parameters import PARAMETERS, Parameter
from grbp.live.schema import OPEN
from grbp.live.shadow import show
from grbp.live.verbs import parameters_of
from grbp.live.verify import replay_log

_NONE: Final[dict[str, Option]] = {}

_OTHERWISE: Final = ("goal", "code")
"""What the verbs of a study need, and the shell can also be told in another way."""


class _Command(NamedTuple):
    """A verb at the shell: the verb of a study whose options it has, and more of its own."""

    line: str
    verb: str
    run: Callable[..., int | None]
    options: Mapping[str, Option] = _NONE
    opens: bool = True
    recorded: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs, each with its options."""
    add_command = add_commands(parser, "VERB")
    for name, entry in _COMMANDS.items():
        verb = add_command(name, entry.line)
        _add_parameters(verb, entry.verb)
        add_all(verb, entry.options)
        add_common(verb, "store")
        if name not in ("studies", "import", "backup"):
            there = "" if name == "init" else "; not needed if there is only one"
            verb.add_argument(
                "--study",
                metavar="NAME",
                required=name == "init",
                help=f"the name of the study{there}",
            )
        add_common(verb, "json")
        verb.set_defaults(entry=entry)


def _add_parameters(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add options for the parameters of a verb; a case can also be named by its code."""
    known = parameters_of(verb) if verb else {}
    for name, parameter in known.items():
        if not parameter.help or parameter.option == "study":
            continue
        needed = parameter.default is Signature.empty and name not in _OTHERWISE
        by_code = needed and name == "case" and "code" not in known
        _add_parameter(parser, name, parameter, needed=needed and not by_code)
        if by_code:
            parser.add_argument("--code", metavar="CODE", help="its code, instead of its number")


def _add_parameter(
    parser: argparse.ArgumentParser, name: str, parameter: Parameter, *, needed: bool
) -> None:
    """Add an option for a parameter."""
    kind, words = parameter.schema.get("type"), parameter.schema.get("enum")
    words = words or parameter.schema.get("anyOf", [{}])[0].get("enum")
    settings: dict[str, Any] = {"required": needed}
    if words and not parameter.metavar:
        settings["choices"] = words
    if kind == "integer" and isinstance(parameter.default, int):
        settings["default"] = parameter.default
    option = Option(
        parameter.help, _READERS.get(kind or name), parameter.metavar,
        f"--{parameter.option}" if parameter.option else "",
        more=kind == "object", flag=kind == "boolean",
    )  # fmt: skip
    option.add_to(parser, name, **settings)


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
    words, settings = parse_table_words(options), _read_given(options)
    if options.records is None and any(words.values()):
        raise InvalidInput("words of a table were given; they need --records")
    begun = [name for name in ("--start", "--records", "--from") if name in options.named]
    if len(begun) > 1:
        raise InvalidInput(f"{' and '.join(begun)} were given; a study begins in one way")
    if options.goal is None and options.old is None and options.states is None:
        raise InvalidInput(
            "no --goal was given; it must be the state that wins a case, or name all --states"
        )
    if options.windows is not None:
        days = parse_pairs("window", options.windows, "finish=30")
        settings["windows"] = {action: parse_number(text) for action, text in days.items()}
    if options.states is not None:
        settings.setdefault("goal", len(options.states) - 1)
    with ExitStack() as stack:
        if options.records is not None:
            settings["start"] = grbp.fit(options.records, settings["goal"], **words)
        elif options.old is not None:
            old = stack.enter_context(grbp.Study(store_of(options), options.old))
            settings |= {"start": old, "goal": settings.get("goal", old.goal)}
        study = grbp.Study.create(store_of(options), options.study, **settings, who=options.who)
        _show(options, stack.enter_context(study).status())


def _read_given(options: argparse.Namespace) -> dict[str, Any]:
    """Return what was given of the parameters of a verb."""
    return given(options, parameters_of(options.entry.verb))


def _ask(options: argparse.Namespace, study: grbp.Study) -> None:
    """Ask a study by a verb, and show its answer."""
    asked = _read_given(options)
    if hasattr(options, "case"):
        asked["case"] = _find_case(options, study)
    _show(options, getattr(study, options.entry.verb)(**asked))


def _show(options: argparse.Namespace, found: Advice | Status) -> None:
    """Give advice, or how a study stands, to a program or to a person."""
    found, details = show(found, shadow=found.shadow), getattr(options, "details", False)

    def say() -> None:
        if isinstance(found, Advice):
            show_advice(found, options.entry.recorded.format(step=found.step), details=details)
        else:
            show_study(found, details=details)

    answer(options, found.to_dict, say)


def _code(options: argparse.Namespace, study: grbp.Study) -> None:
    """Give a case a code, or erase it."""
    if (options.code is None) == (not options.erase):
        raise InvalidInput("give either --code, to give the case a code, or --erase")
    case = study.set_code(**_read_given(options) | {"code": options.code})
    case = show(case, shadow=study.status().shadow)
    answer(options, case.to_dict, lambda: show_cases([case], 1, study.labels))


def _find_case(options: argparse.Namespace, study: grbp.Study) -> int:
    """Return the number of the case that is named by it or by its code."""
    if (options.case is None) == (options.code is None):
        raise InvalidInput("give either --case, the number of the case, or --code")
    if options.code is None:
        number: int = options.case
        return number
    found = study.find_cases(options.code, 2)
    if not found or (found[0].status != OPEN and len(found) > 1):
        many = "several cases that are over have it: give --case" if found else "no case has it"
        raise InvalidInput(f"--code {options.code} was given; {many}")
    return found[0].case


def _studies(options: argparse.Namespace) -> None:
    """List the studies of the store."""
    names = grbp.Study.names(store_of(options), archived=options.all)
    lines = names or ["There is no study yet."]
    answer(options, {"studies": names}, lambda: print(*lines, sep="\n"))


def _cases(options: argparse.Namespace, study: grbp.Study) -> None:
    """List cases."""
    asked, limit = _read_given(options), options.limit
    cases = study.cases(**asked) if options.code is None else study.find_cases(options.code, limit)
    shadow = study.status().shadow
    shown = [show(case, shadow=shadow) for case in cases]
    listed = {"cases": [case.to_dict() for case in shown]}
    answer(options, listed, lambda: show_cases(shown, limit, study.labels))


def _log(options: argparse.Namespace, study: grbp.Study) -> None:
    """List events; of a damaged study, in doubt nobody is advised and nothing was taken back."""
    words, shadow = study.labels, True
    with suppress(Damaged):
        shadow = study.status().shadow
    events = [show(event, shadow=shadow) for event in study.log(**_read_given(options))]

    def say() -> None:
        back = set[int]()
        with suppress(Damaged):
            back = study.find_taken_back(events)
        lines = describe_events(events, study.goal, words, shadow=shadow, taken_back=back)
        show_log(lines, options.limit, words, details=options.details)

    answer(options, lambda: {"events": [event_to_dict(event) for event in events]}, say)


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
    refuse_given(options, ("--store", "--study"), f"the export {options.file} needs none")
    _, events = read_log(Path(options.file))
    return _show_verified(options, replay_log(events, None, decide=True)[0])


def _export(options: argparse.Namespace) -> None:
    """Write the log, the steps or both."""
    written = {"log": options.out, "steps": options.steps}
    if "-" in written.values():
        raise InvalidInput("- was given; it must name a file (without one, the log is printed)")
    if options.steps is None:
        refuse_given(options, ["--codes"], "it needs --steps, as the log has no codes")
        if options.out is None:
            refuse_given(options, ["--json"], "it needs a file to write to, by --out or --steps")
    with _open_study(options) as study:
        asked = (options.out, log_kind(study.name)), (options.steps, CASES)
        outputs = [Output(Path(file), kind) for file, kind in asked if file is not None]
        check_outputs(outputs, [store_of(options)], force=options.force)
        if options.out is not None:
            study.export(options.out)
        if options.steps is not None:
            study.export_steps(options.steps, codes=options.codes)
        if not outputs:
            for line in study.export_lines():
                print(line.decode(), end="")
            return
    answer(options, written, lambda: print(*filter(None, written.values()), sep="\n"))


def _import(options: argparse.Namespace) -> None:
    """Record an exported study in the store."""
    with grbp.Study.import_(store_of(options), options.file) as study:
        _show(options, study.status())


def _show_verified(options: argparse.Namespace, found: Verified) -> int:
    """Give what a check found; return its exit status."""
    answer(options, found._asdict() | {"ok": found.ok}, lambda: show_verified(found))
    return 0 if found.ok else 1


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "integer": parse_whole,
    "number": parse_number,
    "array": parse_words,
    "memory": lambda text: text if text == "averaged" else parse_number(text),
    "case_name": lambda text: parse_words(text) if "," in text else text,
}
"""How a text is read, by the kind of the parameter, or by its name if it has several."""

_WHO: Final = {"who": COMMON["who"]}
_DETAILS: Final = {"details": Option("also say what statisticians want to know", flag=True)}
_BY_CODE: Final = {"code": Option(PARAMETERS["find_cases.code"].help, metavar="CODE")}
_ERASE: Final = {"erase": Option("erase the code", flag=True)}
_EVERY: Final = {"all": Option("play every study again", flag=True)}
_ALL: Final = {"all": Option("also those that are archived", flag=True)}
_EXPORT: Final = {
    "out": Option("the log as lines of JSON (standard output)", metavar="FILE"),
    "steps": Option("the steps as CSV, as grbp fit reads them", metavar="FILE"),
    "codes": Option(PARAMETERS["codes"].help, flag=True),
    "force": COMMON["force"],
}
_BEGIN: Final = {
    "records": Option("begin with past cases, as grbp fit reads them", metavar="CASES.csv"),
    **TABLE_WORDS,
    "old": Option("begin with the cases of another study of the store", None, "STUDY", "--from"),
}
_FILE: Final = {"file": Option("what export wrote", None, "FILE", "file")}
_EXPORTED: Final = {
    "file": Option("an export to play again, without any store", None, "FILE", "file", nargs="?")
}


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
        "bring an exported study into the store", "", _import, _FILE,
        opens=False,
    ),
    "replay": _Command(
        "make every decision again, and compare", "replay", _replay,
        _EXPORTED | _EVERY,
        opens=False,
    ),
    "backup": _Command(
        "copy all studies of the store to a new file", "", upkeep.back_up, upkeep.BACKUP,
        opens=False,
    ),
}  # fmt: skip
"""The verbs of the shell; one without a verb of a study is composed of several, or asks none."""
