"""The options that say what is true: a problem, a chain from a file, or one of them that drifts."""

import argparse
import re
from pathlib import Path
from typing import Any

import grbp
from grbp.cli.options import (
    PROBLEM,
    add_given,
    given,
    make_problem,
    parse_number,
    parse_whole,
    require,
)
from grbp.errors import InvalidInput
from grbp.worlds.plain import from_plain, read_truth
from grbp.worlds.world import World


def add_truth(parser: argparse.ArgumentParser) -> None:
    """Add the options of a problem, and the file that can take their place."""
    add_given(parser, make_problem, *PROBLEM, needed=False)
    parser.add_argument(
        "--chain",
        metavar="FILE.toml",
        help="instead of these: chances by state, a drift or groups",
    )


def add_drift(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets chances change."""
    parser.add_argument(
        "--drift",
        metavar="SHAPE:CHANCE@ROUND,...",
        help="how chances change: linear, jumps or sine, as in linear:p_c=.65@5000",
    )


def parse_truth(options: argparse.Namespace) -> World:
    """Return the truth that the options describe, or refuse them."""
    told = given(options, PROBLEM)
    if options.chain is None:
        require(options, PROBLEM[:-1], "--chain FILE.toml")
        world: World = make_problem(**told)
    elif told:
        one = min(told, key=PROBLEM.index).replace("_", "-")
        raise InvalidInput(
            f"--chain and --{one} were given; the file says what the chances are, so leave one of"
            " the two out"
        )
    else:
        world = read_truth(Path(options.chain))
    drift = getattr(options, "drift", None)
    return world if drift is None else _parse_drift(drift, world)


def _parse_drift(text: str, world: World) -> grbp.Drift:
    """Read how a problem or a chain changes, as in jumps:p_c=.65@1001,p_f=.2@2001."""
    if world.parts:
        raise InvalidInput(
            f"--drift was given with {type(world).__name__}; it must be with a problem or one chain"
        )
    shape, _, changes = text.partition(":")
    at: dict[Any, dict[str, Any]] = {}
    for change in changes.split(","):
        found = re.fullmatch(r"(p_c|p_f)=([^@=]+)@([^@=]+)", change.strip())
        if found is None:
            raise InvalidInput(
                f"--drift {text!r} was given; it must be a shape and chances with their rounds, as"
                " in linear:p_c=.65@5000,p_f=.2@5000"
            )
        name, chance, rho = found.groups()
        at.setdefault(parse_whole(rho), {})[name] = parse_number(chance)
    stages, plain = [(1, world)], world.to_plain()
    for rho in sorted(at, key=lambda one: one if isinstance(one, int) else 0):
        plain |= at[rho]
        one: Any = from_plain(plain)
        stages.append((rho, one))
    return grbp.Drift(stages, shape)  # type: ignore[arg-type]
