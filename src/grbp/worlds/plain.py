"""Write a truth as plain data, for JSON, TOML and digests; and read it back, or refuse it."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput, did_you_mean
from grbp.worlds.chain import Chain, Move
from grbp.worlds.course import World
from grbp.worlds.drift import Drift
from grbp.worlds.groups import Groups
from grbp.worlds.problem import Problem
from grbp.worlds.validation import check_goal, check_probabilities

_MOVES: Final = ("stay", "windfall", "catastrophe")
"""What CONTINUE can do beside a step to a neighbour, and beside jumps."""


def to_plain(world: World) -> dict[str, Any]:
    """Return a truth as plain data; `from_plain` is the way back."""
    if isinstance(world, Problem):
        return world.__getstate__()
    if isinstance(world, Chain):
        return _plain_chain(world)
    if isinstance(world, Drift):
        stages = [{"round": rho} | to_plain(one) for rho, one in world.stages]
        return {"shape": world.shape, "stages": stages}
    return {
        "groups": {name: to_plain(one) for name, one in world.truths.items()},
        "shares": dict(world.shares or {}),
    }


def from_plain(data: Any) -> World:
    """Return the truth that plain data describe, or refuse them.

    Chances that are one number each are a Problem, and others a Chain; `stages` are a Drift, and
    `groups` are Groups.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput(f"{data!r} was given for a truth; it must be a table of keys")
    if "stages" in data:
        _check_keys(data, ("stages", "shape"))
        return Drift(_each(data, "stages", list, _stage), data.get("shape", "linear"))
    if "groups" in data:
        _check_keys(data, ("groups", "shares"))
        groups = _each(data, "groups", Mapping, lambda item: (item[0], _ungrouped(item[1])))
        return Groups(dict(groups), data.get("shares"))
    return _chain(data)


def read_truth(path: Path) -> World:
    """Read a truth from a TOML file; what is wrong with it is said with the file's name."""
    try:
        return from_plain(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({reason(error)})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise InvalidInput(f"{path} is not a TOML file ({why})") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def write_truth(world: World) -> str:
    """Write a truth as the text of a TOML file."""
    return "".join(f"{name} = {_as_toml(given)}\n" for name, given in to_plain(world).items())


def _as_toml(given: Any) -> str:
    """Write plain data as a value of TOML."""
    if isinstance(given, Mapping):
        keys = (str(key) for key in given)
        names = [key if key.isascii() and key.isalnum() else _as_toml(key) for key in keys]
        inside = zip(names, map(_as_toml, given.values()), strict=True)
        return f"{{ {', '.join(f'{name} = {value}' for name, value in inside)} }}"
    if isinstance(given, list):
        return f"[{', '.join(map(_as_toml, given))}]"
    return json.dumps(given, ensure_ascii=False)


def _plain_chain(chain: Chain) -> dict[str, Any]:
    """Return a chain as plain data; what it does not do is left out."""
    _, _, won, lost, stay = chain._laws[:, 0]
    p_c = np.where(np.isnan(chain.p_c), 0.5, chain.p_c)
    others = {"stay": stay, "windfall": won, "catastrophe": lost}
    data = {"goal": chain.goal, "p_c": p_c.tolist(), "p_f": chain.p_f.tolist()}
    data |= {name: chances.tolist() for name, chances in others.items() if chances.any()}
    if chain._jumps is not None:
        data["jumps"] = chain._jumps[0].tolist()
    start = chain.canonical_start
    return data | {"start": start if isinstance(start, str) else dict_of_start(start)}


def dict_of_start(start: tuple[tuple[int, float], ...]) -> dict[str, float]:
    """Return a start distribution by state; the keys of plain data are words."""
    return {str(state): q for state, q in start}


def _chain(data: Mapping[str, Any]) -> Problem | Chain:
    """Return the problem or the chain that a table describes."""
    _check_keys(data, ("goal", "p_c", "p_f", *_MOVES, "jumps", "start"), needed=3)
    goal, start = check_goal(data["goal"]), data.get("start", "uniform")
    if isinstance(start, Mapping):
        start = [(int(s) if str(s).isdecimal() else s, q) for s, q in start.items()]
    plain = not {*_MOVES, "jumps"} & set(data)
    if plain and all(isinstance(data[name], int | float) for name in ("p_c", "p_f")):
        return Problem(goal, data["p_c"], data["p_f"], start)
    p_c = _by_state(data, "p_c", goal)
    others = {name: _by_state(data, name, goal) for name in _MOVES if name in data}
    elsewhere = np.sum(list(others.values()), axis=0) if others else np.zeros(goal - 1)
    jumps = None
    if "jumps" in data:
        jumps = check_probabilities("jumps", data["jumps"])
        if jumps.shape != (goal - 1, goal - 1):
            raise InvalidInput(
                f"jumps has shape {jumps.shape}; it must have a row and a column for every state"
                f" from 1 to {goal - 1}"
            )
        elsewhere = elsewhere + jumps.sum(axis=1)
    if (elsewhere > 1.0 + 1e-9).any():
        worst = int(np.argmax(elsewhere))
        raise InvalidInput(
            f"the chances beside p_c sum to {elsewhere[worst]:.12g} in state {worst + 1}; they must"
            " sum to at most 1, and what is missing are steps to a neighbour"
        )
    near = np.where(elsewhere > 1.0 - 1e-12, 0.0, 1.0 - elsewhere)
    move = Move(near * p_c, near * (1.0 - p_c), jumps=jumps, **others)
    return Chain(goal, move, _by_state(data, "p_f", goal), start)


def _ungrouped(data: Any) -> Problem | Chain | Drift:
    """Return what the cases of one group can be."""
    found = from_plain(data)
    if isinstance(found, Groups):
        raise InvalidInput("groups were given within groups; a group must have chances of its own")
    return found


def _stage(data: Any) -> tuple[Any, Problem | Chain]:
    """Return the round of a stage, and what is true then."""
    if not isinstance(data, Mapping) or "round" not in data:
        raise InvalidInput(f"the stage {data!r} was given; it must have the key round")
    chances = {name: value for name, value in data.items() if name != "round"}
    return data["round"], _chain(chances)


def _each(
    data: Mapping[str, Any], key: str, kind: type[Any], read: Callable[[Any], Any]
) -> list[Any]:
    """Read each entry of a list or a table."""
    given: Any = data[key]
    if not isinstance(given, kind):
        what = "a list" if kind is list else "a table"
        raise InvalidInput(f"{key} = {given!r} was given; it must be {what}")
    return [read(one) for one in (given if kind is list else given.items())]


def _check_keys(data: Mapping[str, Any], allowed: tuple[str, ...], needed: int = 0) -> None:
    """Refuse keys that mean nothing, and a table that lacks the first of them."""
    for name in data:
        if name not in allowed:
            meant = did_you_mean(str(name), list(allowed)) or f"there is {', '.join(allowed)}"
            raise InvalidInput(f"the key {name!r} was given; {meant}")
    for name in allowed[:needed]:
        if name not in data:
            raise InvalidInput(f"the key {name!r} is missing; a chain needs goal, p_c and p_f")


def _by_state(data: Mapping[str, Any], key: str, goal: int) -> Any:
    """Return one chance for every state."""
    chances = check_probabilities(key, data[key])
    if chances.shape not in ((), (goal - 1,)):
        raise InvalidInput(
            f"{key} has {chances.size} chances; a goal of {goal} needs one number, or {goal - 1}:"
            f" one for every state from 1 to {goal - 1}"
        )
    return np.broadcast_to(chances, goal - 1)
