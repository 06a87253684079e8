"""Read a truth from plain data or from a TOML file, or refuse it; and write such a file."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.worlds.drift import Drift
from grbp.worlds.groups import Groups
from grbp.worlds.problem import Problem
from grbp.worlds.world import World

KINDS: Final[dict[str, type[World]]] = {"stages": Drift, "groups": Groups, "goal": Problem}
"""Every kind of truth, by the key that only its plain data have.

Those of a chain are those of a problem that say more, and a problem reads them.
"""


def from_plain(data: Any) -> World:
    """Return the truth that plain data describe, or refuse them."""
    if not isinstance(data, Mapping):
        raise InvalidInput(f"{data!r} was given for a truth; it must be a table of keys")
    kind = next((kind for key, kind in KINDS.items() if key in data), Problem)
    return kind.from_plain(data, from_plain)


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
    return "".join(f"{name} = {_as_toml(given)}\n" for name, given in world.to_plain().items())


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
