"""The verbs over HTTP: where each is asked for, by whom, how it is answered, and what is refused.

The routes and the client are made from this table and from the signatures of the verbs.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from grbp.errors import InvalidInput
from grbp.learners.registry import is_path

ROLES: Final = ("viewer", "recorder", "corrector", "statistician", "admin")
"""Who may use a server; each may do what those before it may."""

VIEWER, RECORDER, CORRECTOR, STATISTICIAN, ADMIN = ROLES

STUDY: Final = "/api/studies/{study}"
CASE: Final = f"{STUDY}/cases/{{case}}"

BESIDE: Final = frozenset({"case", "key", "who"})
"""The parameters that stand in no body: in the path, in a header and in the token."""


class Endpoint(NamedTuple):
    """A verb over HTTP.

    Attributes
    ----------
    method, path, role, tag : str
    operation : str
        The name of the route, if it is not that of the verb.
    body : tuple of str
        The name of what is sent, and what it is; empty where nothing is, or more than the verb has.
    status : int
        The status of an answer.
    fixed : dict
        What is sent beside what the verb is given.
    """

    method: str
    path: str
    role: str
    tag: str = "cases"
    operation: str = ""
    body: tuple[str, str] | tuple[()] = ()
    status: int = 200
    fixed: Mapping[str, Any] = MappingProxyType({})


_OPENING: Final = "Opening", "A case to be opened."
_TELLING: Final = "Telling", "What came of a step."
_VOIDING: Final = "Voiding", "The last entry of a case, to be taken back."
_WITHDRAWAL: Final = "Withdrawal", "A case to be withdrawn."
_CODING: Final = "Coding", "The short code of a case; null erases it."
_CHANGING: Final = "Changing", "Another learner, to decide the next cases."
_ARCHIVED, _OPEN_AGAIN = {"archived": True}, {"archived": False}

ENDPOINTS: Final[dict[str, Endpoint]] = {
    "create": Endpoint("POST", "/api/studies", ADMIN, "studies", "create_study", status=201),
    "status": Endpoint("GET", STUDY, VIEWER, "studies"),
    "archive": Endpoint("POST", f"{STUDY}/archive", ADMIN, "studies", fixed=_ARCHIVED),
    "unarchive": Endpoint(
        "POST", f"{STUDY}/archive", ADMIN, "studies", "archive", fixed=_OPEN_AGAIN
    ),
    "change_learner": Endpoint("POST", f"{STUDY}/learner", ADMIN, "studies", body=_CHANGING),
    "trajectory": Endpoint("GET", f"{STUDY}/path", VIEWER, "studies", "path"),
    "cases": Endpoint("GET", f"{STUDY}/cases", VIEWER, operation="list_cases"),
    "find_cases": Endpoint("GET", f"{STUDY}/cases", VIEWER, operation="list_cases"),
    "open_case": Endpoint("POST", f"{STUDY}/cases", RECORDER, body=_OPENING, status=201),
    "case": Endpoint("GET", CASE, VIEWER, operation="get_case"),
    "set_code": Endpoint("POST", f"{CASE}/code", RECORDER, body=_CODING),
    "ask": Endpoint("GET", f"{CASE}/advice", VIEWER, operation="advice"),
    "basis": Endpoint("GET", f"{CASE}/basis", VIEWER),
    "tell": Endpoint("POST", f"{CASE}/steps", RECORDER, body=_TELLING, status=201),
    "void": Endpoint("POST", f"{CASE}/void", CORRECTOR, body=_VOIDING),
    "undo": Endpoint("POST", f"{CASE}/undo", RECORDER),
    "withdraw_case": Endpoint("POST", f"{CASE}/withdraw", RECORDER, body=_WITHDRAWAL),
    "log": Endpoint("GET", f"{STUDY}/events", VIEWER, "log", "list_events"),
    "verify": Endpoint("POST", f"{STUDY}/verify", STATISTICIAN, "log"),
    "replay": Endpoint("POST", f"{STUDY}/replay", STATISTICIAN, "log"),
    "export_lines": Endpoint("GET", f"{STUDY}/export", STATISTICIAN, "log", "export"),
    "export_steps": Endpoint("GET", f"{STUDY}/steps.csv", STATISTICIAN, "log"),
    "backup": Endpoint("GET", "/api/backup", ADMIN, "server"),
}
"""The endpoint of each verb, and of making a study."""


def check_name(name: object) -> None:
    """Refuse a study's name that cannot be part of an address."""
    if isinstance(name, str) and ("/" in name or name in (".", "..")):
        raise InvalidInput(f"name = {name!r} was given; over HTTP it must not have a /")


def check_learner(learner: object) -> None:
    """Refuse a learner that would be imported: only this machine decides what runs here."""
    if learner is not None and (not isinstance(learner, str) or is_path(learner)):
        raise InvalidInput(
            f"learner = {learner!r} was given; over HTTP it must be one of the package's, as"
            " `grbp learners` lists them"
        )
