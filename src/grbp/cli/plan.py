"""The command `plan`: what to expect of learning, over a range of plausible truths."""

import argparse
from typing import Any, Final

import grbp
from grbp.cli.options import (
    Option,
    add_given,
    given,
    parse_number,
    parse_whole,
    parse_wholes,
    parse_words,
    refuse_given,
    require,
)
from grbp.cli.outputs import (
    add_outputs,
    check_outputs,
    write_answer,
    write_report,
)
from grbp.cli.progress import progress_bar
from grbp.cli.truths import add_drift, parse_truth
from grbp.figures.canvas import save
from grbp.learners.registry import MODELS
from grbp.planning.models import ModelPlan
from grbp.planning.plan import CASES
from grbp.planning.result import HEADS

_OF_ONE_MODEL: Final = (
    "--known", "--right", "--learner", "--overlap", "--late-wins", "--overrule", "--stop-at",
    "--look-from", "--from", "--report",
)  # fmt: skip
"""The options that a comparison of models does not take."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    cases = f"numbers of cases ({','.join(map(str, CASES))}, or as many as needed)"
    until = "how many cases until SHARE of studies {} what is right"
    add_given(
        parser,
        grbp.plan,
        "goal",
        p_c=_chance("continuing moves up"),
        p_f=_chance("finishing wins"),
        cases=Option(cases, parse_wholes, "N,..."),
        known=Option(until.format("know"), parse_number, "SHARE"),
        right=Option(until.format("play"), parse_number, "SHARE"),
    )
    parser.add_argument(
        "--chain",
        metavar="FILE.toml",
        help="what each model would lose if chances differ by state, drift or differ by group",
    )
    add_drift(parser)
    models = f"the models to compare there ({','.join(MODELS)})"
    add_given(parser, grbp.plan_models, models=Option(models, parse_words, "A,B"))
    add_given(
        parser,
        grbp.plan,
        learner=f"who decides ({grbp.DEFAULT_LEARNER})",
        start="first state: uniform, 2, or 1=.9,2=.1 (uniform)",
        overlap=Option("cases under way at once", parse_whole, "N"),
        late_wins=Option("a goal is known N cases later", parse_whole, "N"),
        overrule=Option("share of cases played otherwise", parse_number, "SHARE"),
        stop_at=Option("stop learning when sure with P, say .95", parse_number, "P"),
        look_from=Option("the case after which one first looks", parse_whole, "N"),
        records=Option(
            "begin with past cases, not with drawn estimates", metavar="FIT.json", name="--from"
        ),
        replicas="studies of each truth",
    )
    add_given(parser, grbp.plan, "seed", "threads")
    table = "write a table, one row per truth and number of cases"
    add_outputs(parser, table, "draw what to expect", page=True)


def run(options: argparse.Namespace) -> None:
    """Plan and say what to expect, of one model or of several that are compared."""
    several = options.chain is not None or options.drift is not None
    if several:
        refuse_given(
            options,
            _OF_ONE_MODEL,
            "where models are compared, with --chain or --drift, there can be --cases, --models,"
            " --replicas, --seed, --threads and outputs",
        )
    else:
        refuse_given(options, ["--models"], "models are compared on --chain or under --drift")
        if options.records is None:
            require(options, ("goal", "p_c", "p_f"), "--from FIT.json")
    read = [file for file in (options.chain, options.records) if file]
    check_outputs(options, read, heads=[ModelPlan.columns] if several else HEADS)
    result: grbp.Plan | grbp.ModelPlan
    with progress_bar(options) as progress:
        if several:
            asked = given(options, grbp.plan_models)
            result = grbp.plan_models(parse_truth(options), **asked, progress=progress)
        else:
            result = grbp.plan(**given(options, grbp.plan), progress=progress)
    if isinstance(result, grbp.Plan):
        write_report(options, result.report)
    write_answer(
        options,
        result.to_dict(),
        result.cells(),
        lambda path: save(result.plot(), path),
        lambda: print(result.summary()),
        result.columns,
    )


def _chance(line: str) -> Option:
    """Describe a chance, or a range of chances."""
    return Option(f"chance that {line}: .45, .4:.5 or .4:.5:5", _parse_range, "RANGE")


def _parse_range(text: str) -> Any:
    """Read a probability, or a range such as .4:.5 or .4:.5:5."""
    if ":" not in text:
        return parse_number(text)
    low, high, *points = text.split(":")
    return [parse_number(low), parse_number(high), *map(parse_whole, points)]
