"""The command `plan`: what to expect of learning, over a range of plausible truths."""

import argparse
from typing import Any, Final

import grbp
from grbp.cli.options import (
    add_threads,
    parse_number,
    parse_start,
    parse_verbosity,
    parse_whole,
    parse_wholes,
)
from grbp.cli.outputs import (
    add_outputs,
    add_report,
    check_outputs,
    write_answer,
    write_report,
)
from grbp.cli.progress import progress_bar
from grbp.cli.truths import add_drift, parse_truth
from grbp.errors import InvalidInput
from grbp.figures.canvas import save
from grbp.learners.registry import MODELS
from grbp.planning.models import REPLICAS as STUDIES, ModelPlan
from grbp.planning.plan import CASES, REPLICAS
from grbp.planning.result import HEADS


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--goal", help="the state G that wins a case")
    for option, line in (("--p-c", "continuing moves up"), ("--p-f", "finishing wins")):
        parser.add_argument(
            option, metavar="RANGE", help=f"chance that {line}: .45, .4:.5 or .4:.5:5"
        )
    usual = ",".join(map(str, CASES))
    parser.add_argument("--cases", help=f"numbers of cases ({usual}, or as many as needed)")
    for option, does in (("--known", "know"), ("--right", "play")):
        parser.add_argument(
            option,
            metavar="SHARE",
            help=f"how many cases until SHARE of studies {does} what is right",
        )
    parser.add_argument(
        "--chain",
        metavar="FILE.toml",
        help="what each model would lose if chances differ by state, drift or differ by group",
    )
    add_drift(parser)
    parser.add_argument(
        "--models", metavar="A,B", help=f"the models to compare there ({','.join(MODELS)})"
    )
    parser.add_argument("--learner", help=f"who decides ({grbp.DEFAULT_LEARNER})")
    parser.add_argument("--start", help="first state: uniform, 2, or 1=.9,2=.1 (uniform)")
    parser.add_argument("--overlap", default="1", metavar="N", help="cases under way at once (1)")
    parser.add_argument(
        "--late-wins", default="0", metavar="N", help="a goal is known N cases later (0)"
    )
    parser.add_argument(
        "--overrule", default="0", metavar="SHARE", help="share of cases played otherwise (0)"
    )
    parser.add_argument("--stop-at", metavar="P", help="stop learning when sure with P, say .95")
    parser.add_argument(
        "--look-from", default="1", metavar="N", help="the case after which one first looks (1)"
    )
    parser.add_argument(
        "--from",
        dest="records",
        metavar="FIT.json",
        help="begin with past cases, not with drawn estimates",
    )
    parser.add_argument("--replicas", help=f"studies of each truth ({REPLICAS:,})")
    parser.add_argument("--seed", default="0", help="a whole number; same seed, same result (0)")
    add_threads(parser)
    add_outputs(
        parser, "write a table, one row per truth and number of cases", "draw what to expect"
    )
    add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Plan and say what to expect."""
    if options.chain is not None or options.drift is not None:
        _compare_models(options)
        return
    if options.models is not None:
        raise InvalidInput("--models was given; models are compared on --chain or under --drift")
    check_outputs(options, [options.records] if options.records else [], heads=HEADS)
    with progress_bar(None, **parse_verbosity(options)) as progress:
        result = grbp.plan(
            parse_whole(options.goal),
            _parse_range(options.p_c),
            _parse_range(options.p_f),
            None if options.cases is None else parse_wholes(options.cases),
            options.learner,
            known=parse_number(options.known),
            right=parse_number(options.right),
            start=None if options.start is None else parse_start(options.start),
            overlap=parse_whole(options.overlap),
            late_wins=parse_whole(options.late_wins),
            overrule=parse_number(options.overrule),
            stop_at=parse_number(options.stop_at),
            look_from=parse_whole(options.look_from),
            records=options.records,
            replicas=parse_whole(options.replicas or str(REPLICAS)),
            seed=parse_whole(options.seed),
            threads=parse_whole(options.threads),
            progress=progress,
        )
    write_report(options, result.report)
    _answer(options, result)


def _compare_models(options: argparse.Namespace) -> None:
    """Say what a study under each model would win and lose under one truth."""
    for name, default in _OF_ONE_MODEL.items():
        if getattr(options, name) != default:
            option = "--from" if name == "records" else f"--{name.replace('_', '-')}"
            raise InvalidInput(
                f"{option} was given with --chain or --drift; where models are compared, there can"
                " be --cases, --models, --replicas, --seed, --threads and outputs"
            )
    check_outputs(options, [options.chain] if options.chain else [], heads=[ModelPlan.columns])
    with progress_bar(None, **parse_verbosity(options)) as progress:
        result = grbp.plan_models(
            parse_truth(options),
            None if options.cases is None else parse_wholes(options.cases),
            None if options.models is None else options.models.split(","),
            replicas=parse_whole(options.replicas or str(STUDIES)),
            seed=parse_whole(options.seed),
            threads=parse_whole(options.threads),
            progress=progress,
        )
    _answer(options, result)


def _answer(options: argparse.Namespace, result: grbp.Plan | grbp.ModelPlan) -> None:
    """Give the answer in every form that was asked for."""
    write_answer(
        options,
        result.to_dict(),
        result.cells(),
        lambda path: save(result.plot(), path),
        lambda: print(result.summary()),
        result.columns,
    )


_OF_ONE_MODEL: Final = {
    "known": None, "right": None, "learner": None, "overlap": "1", "late_wins": "0",
    "overrule": "0", "stop_at": None, "look_from": "1", "records": None, "report": None,
}  # fmt: skip
"""The options that a comparison of models does not take, as they are if nobody gives them."""


def _parse_range(text: str | None) -> Any:
    """Read a probability, or a range such as .4:.5 or .4:.5:5."""
    if text is None or ":" not in text:
        return parse_number(text)
    low, high, *points = text.split(":")
    return [parse_number(low), parse_number(high), *map(parse_whole, points)]
