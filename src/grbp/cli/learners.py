"""The command `learners`: every learner with a line on each."""

import argparse

import grbp
from grbp.cli.options import add_json
from grbp.cli.printing import print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print every learner with its summary, its constants and its reference."""
    any_problem = grbp.Problem(4, 0.5, 0.5)
    listed = [grbp.find_learner(name, any_problem) for name in grbp.LEARNERS]
    if options.json:
        named = ("name", "summary", "reference")
        print_json({"learners": [{key: getattr(one, key) for key in named} for one in listed]})
        return
    for learner in listed:
        print(f"{learner.name:<20} {learner.summary}")
        for constant in grbp.learner_constants(learner):
            print(f"{'':<20} :{constant}=NUMBER changes {constant}")
        if learner.reference:
            print(f"{'':<20} {learner.reference}")
    print(f"{'threshold-0, ...':<20} always that threshold")
