"""Completion of commands, options and learners by the shell, as `shtab` writes it."""

import argparse
from typing import Any

import grbp
from grbp.cli.options import find_subcommands
from grbp.errors import MissingExtra, how_to_install


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that teaches a shell to complete a parser that knows all commands."""
    try:
        import shtab  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise MissingExtra(
            f"completion needs shtab, which is not installed; {how_to_install('completion')}"
        ) from error
    for command in find_subcommands(parser).values():
        actions: list[Any] = [
            action
            for one in (command, *find_subcommands(command).values())
            for action in one._actions
        ]
        for action in actions:
            if action.metavar in ("FILE", "FOLDER"):
                action.complete = shtab.FILE if action.metavar == "FILE" else shtab.DIRECTORY
            elif "--learner" in action.option_strings:
                action.choices = list(grbp.LEARNERS)
    return str(shtab.complete(parser, shell))
