"""The bodies that are sent and the answers to them, as OpenAPI describes them.

What a body says is checked by the study itself, so that a refusal is the same sentence here and
there: types stand in the description, and every value is passed on as it came.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from inspect import Signature
from itertools import count
from typing import Annotated, Any, Final, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from grbp.fitting.watch import Alarm
from grbp.live.advice import Advice, Case, GroupStatus, Status
from grbp.live.basis import Basis, StateBasis
from grbp.live.endpoints import BESIDE, ENDPOINTS, ROLES
from grbp.live.kinds import KINDS
from grbp.live.parameters import Parameter
from grbp.live.queries import Moment
from grbp.live.schema import Event
from grbp.live.shadow import SHOWN
from grbp.live.study import Study
from grbp.live.verbs import parameters_of
from grbp.live.verify import Verified
from grbp.serve.http_errors import ProblemDetail, make_problem
from grbp.serve.tokens import DAYS, Token
from grbp.theory.posterior import Estimate
from grbp.worlds.labels import Labels
from grbp.worlds.transition import Action


def _describe(parameter: Parameter) -> Any:
    """Describe a value that the study will check."""
    schema = dict(parameter.schema)
    if parameter.nullable:
        more = {"type": "null", "enum": None, "anyOf": {"type": "null"}}
        for part in schema.keys() & more.keys():
            there = schema[part] if isinstance(schema[part], list) else [schema[part]]
            schema[part] = [*there, more[part]]
    default = ... if parameter.default is Signature.empty else parameter.default
    return Field(default, json_schema_extra=schema)


def _describe_field(kind: str, default: Any = Signature.empty, **limits: Any) -> Any:
    """Describe a value of some kind."""
    return _describe(Parameter({"type": kind, **limits}, default=default))


Stage = Literal["open", "won", "lost", "closed"]
Act = Literal["continue", "finish"]
Kind = Literal[tuple(KINDS)]  # type: ignore[valid-type]


class Body(BaseModel):
    """What is sent: nothing that is not named."""

    model_config = ConfigDict(extra="forbid")


def _make_body(verb: str) -> Any:
    """Make the model of what is sent for a verb: its parameters, but for those beside the body."""
    name, what = ENDPOINTS[verb].body or (verb, None)
    fields: dict[str, Any] = {
        name: (Any, _describe(parameter))
        for name, parameter in parameters_of(verb).items()
        if name not in BESIDE
    }
    return create_model(name, __base__=Body, __doc__=what, **fields)


BODIES: Final = {verb: _make_body(verb) for verb, entry in ENDPOINTS.items() if entry.body}
"""The models of what is sent for the verbs that need something sent."""


class NewStudy(_make_body("create")):  # type: ignore[misc]
    """A study to be made; see `Study.create`."""

    from_: Any = Field(
        None,
        alias="from",
        json_schema_extra={
            "type": ["string", "null"],
            "description": "another study of the store, with whose records it begins",
        },
    )


class Archiving(_make_body("archive")):  # type: ignore[misc]
    """Whether a study takes no entries any more."""

    archived: Any = _describe_field("boolean")


class NewToken(Body):
    """A token to be made; its label is a role or a pseudonym, never the name of a person."""

    label: Any = _describe_field("string", minLength=1, maxLength=64)
    role: Any = _describe_field("string", enum=list(ROLES))
    days: Any = _describe_field("number", DAYS, exclusiveMinimum=0, maximum=3_660)


class Exchange(Body):
    """A token to be exchanged for a cookie."""

    token: Any = _describe_field("string")


class EstimateModel(Body):
    """A number with its interval; null where nothing is known."""

    estimate: float | None
    low: float | None
    high: float | None


class Drawn(Body):
    """First estimates that the learner drew, and counts as one try each."""

    p_c: float
    p_f: float


class Cases(Body):
    """How many cases there are of every status."""

    opened: int
    open: int
    won: int
    lost: int
    closed: int


def _derive(name: str, cls: type, **changed: Any) -> Any:
    """Make a model of the fields of a class; `changed` differ in JSON, and None leaves one out."""
    kinds = {key: _IN_JSON.get(kind, kind) for key, kind in get_type_hints(cls).items()} | changed
    fields: dict[str, Any] = {
        key: (_may_be_hidden(cls, key, kind), ...)
        for key, kind in kinds.items()
        if kind and not key.startswith("_")
    }
    summary = (cls.__doc__ or "").partition("\n")[0]
    return create_model(name, __base__=Body, __doc__=summary, **fields)


def _may_be_hidden(cls: type, key: str, kind: Any) -> Any:
    """Return the type of a field, which is null where shadow mode hides it."""
    if key in SHOWN.get(cls, {key}):
        return kind
    if cls is Event:
        return Annotated[kind, Field(description=f"empty {_HIDDEN}")]
    return Annotated[kind | None, Field(description=f"null {_HIDDEN}")]


def _list_of(name: str, what: str, kind: Any, after: Any = None) -> Any:
    """Make a model of a list, or of a page of one, which says what to ask for after it."""
    fields: dict[str, Any] = {"items": (list[kind], ...)}
    if after:
        fields["next"] = (after | None, ...)
        what += "; `next` is what to ask for after them, null at the end"
    return create_model(name, __base__=Body, __doc__=f"{what}.", **fields)


_HIDDEN: Final = "where the study is in shadow mode and the role is less than statistician"

_IN_JSON: Final[dict[Any, Any]] = {
    Estimate: EstimateModel,
    Action: Act,
    Action | None: Act | None,
    tuple[str, ...]: list[str],
    tuple[str, str]: list[str],
    tuple[float, float] | None: Drawn | None,
}

BasisModel = _derive(
    "BasisModel", Basis, value_finish=EstimateModel, side=Act | None, settled=bool
)  # fmt: skip
StateBasisModel = _derive(
    "StateBasisModel", StateBasis, value_finish=EstimateModel, side=Act | None, settled=bool
)  # fmt: skip
AnyBasisModel = BasisModel | StateBasisModel
AlarmModel = _derive("AlarmModel", Alarm)
GroupModel = _derive("GroupModel", GroupStatus, basis=AnyBasisModel)
LabelsModel = _derive("LabelsModel", Labels)
AdviceModel = _derive(
    "AdviceModel", Advice, status=Stage, labels=LabelsModel,
    basis=Annotated[
        AnyBasisModel | None, Field(description="null without an action, or if left out")
    ],
)  # fmt: skip
CaseModel = _derive("CaseModel", Case, status=Stage, action=Act | None)
EventModel = _derive("EventModel", Event, kind=Kind)
StatusModel = _derive(
    "StatusModel", Status, start=Literal["drawn", "first", "records", "nothing"], cases=Cases,
    basis=AnyBasisModel,
    by_group=dict[str, GroupModel],  # type: ignore[valid-type]
    by_state=list[StateBasisModel],  # type: ignore[valid-type]
    alarms=list[AlarmModel] | None,  # type: ignore[valid-type]
    labels=LabelsModel,
)  # fmt: skip
VerifiedModel = _derive("VerifiedModel", Verified, ok=bool)
TokenModel = _derive("TokenModel", Token, revoked=str | None, revoked_by=str | None, hash=None)
MadeToken = create_model(
    "MadeToken", __base__=TokenModel, __doc__="A token that was made, shown once.", token=(str, ...)
)
MomentModel = _derive("MomentModel", Moment)
ProblemModel = _derive("ProblemModel", ProblemDetail)

StudyPage = _list_of("StudyPage", "Names of studies", str, str)
CasePage = _list_of("CasePage", "Cases", CaseModel, int)
EventPage = _list_of("EventPage", "Events", EventModel, int)
TokenList = _list_of("TokenList", "All tokens", TokenModel)
PathModel = _list_of("PathModel", "How the estimates came to be what they are", MomentModel)


class SessionModel(Body):
    """Who asks."""

    actor: str
    role: str
    expires: str = Field(description="when the token ends")


class Well(Body):
    """That all is well."""

    status: Literal["ok"]
    version: str


@cache
def examples() -> dict[str, Any]:
    """Return an example of every body and answer, from a small study that is really run."""
    minutes = count()
    begin = datetime(2026, 11, 16, 8, tzinfo=UTC)
    with Study.create(
        "memory", "ward", 4, who="nurse", clock=lambda: begin + timedelta(minutes=next(minutes))
    ) as study:
        advice = study.open_case(2, key="0b1f7c9e-5d1c-4a53-9c0e-3d6f0a1c2b7e").to_dict()
        case, event = study.cases()[0].to_dict(), study.log()[-1]._asdict()
        status, found = study.status().to_dict(), study.verify()
        moment = study.trajectory(1)[0].to_dict()
    with Study.create("memory", "wards", 4, model="state", groups=["north", "south"]) as study:
        group = study.status().by_group["north"].to_dict()
    token = {"id": "5f0c11d2", "label": "nurse", "role": "recorder", "revoked": None}
    token |= {"made_by": "head-nurse", "revoked_by": None}
    token |= {"made": "2026-11-16T08:00:00.000000+00:00", "expires": "2027-02-14T08:00:00+00:00"}
    detail = "state = 7 was given; it must be a whole number from 1 to 3"
    return {
        "NewStudy": {"name": "ward", "goal": 4, "learner": "doorstep-optimal"},
        "Opening": {"state": 2},
        "Telling": {"state": 1, "step": 1},
        "Voiding": {"why": "it was the other bed"},
        "Coding": {"code": "B-12"},
        "Withdrawal": {"why": "moved to another ward"},
        "Archiving": {"archived": True, "why": "the ward was closed"},
        "Changing": {"learner": "doorstep-optimal", "why": "the former one has left"},
        "NewToken": {"label": "nurse", "role": "recorder", "days": 90},
        "Exchange": {"token": "grbp_..."},
        "AdviceModel": advice,
        "BasisModel": advice["basis"],
        "StateBasisModel": group["basis"],
        "GroupModel": group,
        "CaseModel": case,
        "EventModel": event,
        "StatusModel": status,
        "VerifiedModel": found._asdict() | {"ok": found.ok},
        "StudyPage": {"items": ["ward"], "next": None},
        "CasePage": {"items": [case], "next": None},
        "EventPage": {"items": [event], "next": None},
        "MomentModel": moment,
        "PathModel": {"items": [moment]},
        "TokenModel": token,
        "MadeToken": {**token, "token": "grbp_..."},
        "TokenList": {"items": [token]},
        "SessionModel": {"actor": "nurse", "role": "recorder", "expires": token["expires"]},
        "Well": {"status": "ok", "version": status["version"]},
        "ProblemModel": make_problem(422, "invalid-input", detail)._asdict(),
    }
