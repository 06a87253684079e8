"""What is shown of a study in shadow mode, in which nobody is advised.

Whoever records or looks sees what people recorded: cases, their states, what was done, when and by
whom. What the learner makes of it is for those who examine the study, and so is everything from
which that could be computed or tried out: its settings, what it counts, and the hashes over both.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from grbp.live.advice import Advice, Case, Status
from grbp.live.queries import Moment
from grbp.live.schema import Event, dumps, loads

T = TypeVar("T")

SHOWN: Final[Mapping[type, frozenset[str]]] = {
    Status: frozenset(
        {
            "study", "goal", "version", "windows", "shadow", "cases", "events", "read_only",
            "archived", "groups", "labels", "undecided",
        }
    ),
    Case: frozenset(
        {
            "case", "rho", "first", "state", "status", "steps", "held", "opened", "since", "group",
            "code",
        }
    ),
    Advice: frozenset(
        {
            "study", "case", "rho", "state", "status", "step", "shadow", "event", "replayed",
            "group", "code", "labels",
        }
    ),
    Moment: frozenset({"event", "recorded", "cases"}),
    Event: frozenset(
        {
            "seq", "kind", "case", "step", "request", "response", "who", "recorded", "observed",
            "key",
        }
    ),
}  # fmt: skip
"""The parts of each answer that everybody sees. A part that is not listed is hidden: one that is
added to a class stays so until somebody lists it here. No part of a basis is shown."""

_FACTS: Final = frozenset(
    {"case", "state", "took", "why", "step", "status", "from", "counted", "config", "group", "own"}
)
"""What everybody sees of that which an event asked and was answered."""

_SETTINGS: Final = frozenset({"name", "goal", "windows", "shadow", "version", "groups", "labels"})
"""What everybody sees of a configuration."""


def show(value: T, *, shadow: bool, examiner: bool = False) -> T:
    """Return an answer about a study as somebody may see it.

    In shadow mode, only those who examine the study see all of it; for others, what is hidden is
    None, or an empty text in an event.
    """
    if examiner or not shadow:
        return value
    shown = SHOWN[type(value)]
    if isinstance(value, Event):
        texts = {name: _show_text(getattr(value, name)) for name in ("request", "response")}
        hidden = dict.fromkeys(set(Event._fields) - shown, "")
        return value._replace(**(hidden | texts))  # type: ignore[arg-type]
    if is_dataclass(value):
        names = {one.name for one in fields(value)}
        return replace(value, **dict.fromkeys(names - shown))  # type: ignore[type-var]
    return value._replace(**dict.fromkeys(set(value._fields) - shown))  # type: ignore[attr-defined, no-any-return]


def _show_text(text: str) -> str:
    """Return what everybody sees of a request or an answer; nothing if it cannot be read."""
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        parts = _keep(loads(text), _FACTS)
        if parts.get("config") is not None:
            parts["config"] = _keep(parts["config"], _SETTINGS)
        return dumps(parts)
    return ""


def _keep(parts: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Return an object in which only some parts are not None."""
    return {name: part if name in names else None for name, part in parts.items()}
