"""What a verb of a study can be given: each parameter described once, for all who pass it on.

A study checks it, the server describes it in OpenAPI, and the shell makes an option of it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from grbp.errors import InvalidInput
from grbp.learners.registry import DEFAULT_LEARNER, MODELS
from grbp.live.arguments import (
    MOST_CASES,
    check_case,
    check_observed,
    check_reason,
    check_text,
)
from grbp.live.codes import CODE_HINT, CODE_LETTERS, check_code
from grbp.live.schema import STATUSES
from grbp.live.starts import DRAWN, FIRST
from grbp.worlds.transition import Action
from grbp.worlds.validation import check_whole

MOST_ROWS: Final = 1_000_000
"""How many rows can be asked for at once."""

PAGE: Final = 1_000
"""How many a server sends at once."""


def _keep(value: object) -> Any:
    """Return a value as it is, for the study to check."""
    return value


class Parameter(NamedTuple):
    """A parameter of a verb.

    Attributes
    ----------
    schema : dict
        Its kind, its limits and what it is, as JSON Schema says it.
    help, metavar : str
        What the shell says of it; without help, the shell gives it otherwise.
    check : callable
        What returns a value in its one form, or refuses it.
    option : str
        What the shell calls it, if not as the verb does.
    default : object
        What stands for it if it is left out; `Parameter.empty` of `inspect` if it cannot be.
    nullable : bool
        Whether it can be None.
    """

    schema: Mapping[str, Any]
    help: str = ""
    metavar: str | None = None
    check: Callable[[Any], Any] = _keep
    option: str = ""
    default: Any = None
    nullable: bool = False


def _check_status(status: object) -> str:
    if isinstance(status, str) and status in STATUSES:
        return status
    raise InvalidInput(f"status = {status!r} was given; it must be one of {', '.join(STATUSES)}")


def _check_deviation(why: object) -> str:
    """Return why something else was done than advised, which nobody says where nothing was."""
    return "" if isinstance(why, str) and not why else check_reason(why)


def _name_action(took: object) -> object:
    return took.name.lower() if isinstance(took, Action) else took


def _is(kind: str, about: str = "", /, **limits: Any) -> dict[str, Any]:
    """Describe a value of some kind."""
    return {"type": kind} | limits | ({"description": about} if about else {})


def _whole(low: int, high: int | None = None, about: str = "") -> dict[str, Any]:
    """Describe a whole number between two."""
    return _is("integer", about, minimum=low, **({"maximum": high} if high else {}))


_WORD: Final = _is("string", minLength=1, maxLength=40)
_CASE, _STEP = _whole(1, MOST_CASES), _whole(1, 10**15)
_STATE: Final = _whole(0, 10_000_000)
_CODE: Final = _is("string", CODE_HINT, minLength=1, maxLength=CODE_LETTERS)
_REASON: Final = _is("string", minLength=1, maxLength=1_000)
_COUNTERS: Final = _is("array", items=_is("number", minimum=0), minItems=9, maxItems=9)
_BY_STATE: Final = _is(
    "array",
    prefixItems=[_whole(1), *([_is("array", items=_whole(0))] * 4)],
    items=False,
    minItems=5,
)
_DEFAULTS: Final = ", ".join(f"{model}={learner}" for model, learner in MODELS.items())

PARAMETERS: Final[dict[str, Parameter]] = {
    "case": Parameter(_CASE, "the number of the case", "N", check_case),
    "log.case": Parameter(_CASE, "the case whose events to list (all)", "N", check_case),
    "open_case.state": Parameter(_STATE, "its state, by its number or its word", "STATE"),
    "tell.state": Parameter(_STATE, "the state it led to, by its number or its word", "STATE"),
    "basis.state": Parameter(_whole(1, None, "by default the present one")),
    "group": Parameter(
        _is("string", "its group, if the study has groups"),
        "its group, in a study with groups",
        "NAME",
    ),
    "open_case.code": Parameter(_CODE, f"a short code of it: {CODE_HINT}", "CODE", check_code),
    "set_code.code": Parameter(_CODE, f"the code: {CODE_HINT}", "CODE", check_code),
    "find_cases.code": Parameter(
        _is("string", "find those with this code, in progress first, and no page"),
        "find those with this code",
        "CODE",
        check_code,
    ),
    "took": Parameter(
        _is("string", enum=["continue", "finish"]),
        "what was done, if not what was advised",
        "ACTION",
        _name_action,
    ),
    "why": Parameter(_REASON, "the reason", "TEXT", check_reason),
    "tell.why": Parameter(
        _is("string", maxLength=1_000), "why something else was done", "TEXT", _check_deviation
    ),
    "void.why": Parameter(_REASON, "what was wrong with it", "TEXT", check_reason),
    "tell.step": Parameter(_STEP, "the number of the step, so that none is told twice", "N"),
    "void.step": Parameter(_STEP, "the step that is meant, for safety", "N"),
    "key": Parameter(
        _is("string"),
        "a UUID; sent again, the request is recorded once",
        check=lambda key: check_text("key", key, 200),
    ),
    "observed": Parameter(
        _is("string", "such as 2026-11-16T08:30Z; without a zone, it is the server's"),
        "when it happened, if not now: 2026-11-16T08:30",
        "TIME",
        check_observed,
    ),
    "who": Parameter(_is("string"), "who records (your user name)", "NAME"),
    "after": Parameter(
        _whole(0, MOST_CASES, "the number after which to begin"),
        "begin after this number (0)",
        "N",
        lambda after: check_whole("after", after, 0, MOST_CASES),
    ),
    "limit": Parameter(
        _whole(1, PAGE, "how many to return at most"),
        "list at most this many (100)",
        "N",
        lambda limit: check_whole("limit", limit, 1, MOST_ROWS),
    ),
    "status": Parameter(
        _is("string", enum=[*STATUSES]), "list those of one status", check=_check_status
    ),
    "points": Parameter(_whole(1, PAGE, "how many events to look at")),
    "codes": Parameter(
        _is("boolean", "whether to give the codes of cases, which may point to people"),
        "with --steps, also codes, which may name people",
    ),
    "name": Parameter(_is("string", minLength=1, maxLength=64), "its name", "NAME", option="study"),
    "goal": Parameter(
        _whole(2, 10_000_000),
        "the state G that wins (that of --states, or of the study --from)",
        "G",
    ),
    "change_learner.learner": Parameter(
        _is("string", "its name, also with constants"), "the learner, as for init", "NAME"
    ),
    "learner": Parameter(
        _is(
            "string",
            "its name, also with constants; null for that of the model, which is"
            f" {DEFAULT_LEARNER} if that is null as well",
        ),
        f"the learner, with constants if you like (that of the model: {_DEFAULTS})",
        "NAME",
    ),
    "model": Parameter(
        _is(
            "string",
            "what the advice takes for granted: one chance for all states, or one in each",
            enum=[*MODELS],
        ),
        "what is taken for granted: one chance for all states, or one in each (one)",
    ),
    "memory": Parameter(
        {
            "anyOf": [_is("number", minimum=1), _is("string", enum=["averaged"])],
            "description": "about how many cases are remembered; null if nothing is forgotten",
        },
        "how many cases are remembered, or averaged: for chances that change (all)",
        "CASES",
    ),
    "groups": Parameter(
        _is(
            "array",
            "their names; each case is of one of them, and each has counts of its own",
            items=_is("string", minLength=1, maxLength=64),
            maxItems=100,
            uniqueItems=True,
        ),
        "groups with counts of their own, such as north,south (none)",
        "NAMES",
    ),
    "seed": Parameter(
        _whole(0), "seed of the learner's draws and of drawn first estimates (0)", "N"
    ),
    "start": Parameter(
        {
            "anyOf": [
                _is("string", enum=[DRAWN, FIRST]),
                _COUNTERS,
                _BY_STATE,
                _is("object", additionalProperties={"anyOf": [_COUNTERS, _BY_STATE]}),
            ],
            "description": "where it begins: a word, or the counters of past cases: nine numbers;"
            " by state the next round, and CONTINUE up and down, FINISH won and lost; or those of"
            " each group",
        },
        "drawn first estimates, or one first step of each action (drawn)",
    ),
    "cases": Parameter(
        _whole(1, None, "about how many will come; null if nobody knows"),
        "about how many will come, rather too many than too few (nobody knows)",
        "N",
    ),
    "windows": Parameter(
        _is(
            "object",
            "for an action, the days after which an outcome counts",
            properties={"continue": _is("number"), "finish": _is("number")},
            additionalProperties=False,
        ),
        "count an outcome only after this many days: finish=30",
        "ACTION=DAYS",
        option="window",
    ),
    "shadow": Parameter(_is("boolean"), "advise nobody, learn by watching"),
    "level": Parameter(
        _is("number", exclusiveMinimum=0, exclusiveMaximum=1),
        "the level of the intervals (0.95)",
        "P",
    ),
    "states": Parameter(
        _is("array", "what the states are called, from the dead end to the goal", items=_WORD),
        "what the states are called, from 0 to the goal: dead,severe,mild,home",
        "WORDS",
    ),
    "actions": Parameter(
        _is("array", "what continuing and finishing are called", items=_WORD),
        "what continuing and finishing are called: medication,surgery",
        "WORDS",
    ),
    "case_name": Parameter(
        {
            "anyOf": [_WORD, _is("array", items=_is("string"), minItems=2, maxItems=2)],
            "description": "what a case is called, or what one and what several are called",
        },
        "what a case is called: patient, or also several: person,people (case)",
        "WORD",
    ),
}
"""The parameters by their names; `tell.why` is the one of a verb that has a meaning of its own."""
