"""Read back what a server answers, so that it is what a study would have returned here."""

import math
from collections.abc import Callable
from typing import Any, Final

from grbp.alarms.watch import Alarm
from grbp.errors import NotFound
from grbp.live.advice import AnyBasis, Case, GroupStatus, Status
from grbp.live.basis import Basis
from grbp.live.parameters import PAGE
from grbp.live.queries import describe_studies
from grbp.live.schema import Event
from grbp.live.state_basis import StateBasis
from grbp.live.trajectory import Moment
from grbp.live.verify import Verified
from grbp.model.labels import Labels
from grbp.model.transition import Action
from grbp.serve.transport import Transport
from grbp.theory.posterior import Estimate


def read_estimates(said: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with its estimates as they were."""
    return {
        name: Estimate(**{k: math.nan if x is None else x for k, x in value.items()})
        if isinstance(value, dict) and "low" in value
        else value
        for name, value in said.items()
    }


def read_basis(said: dict[str, Any]) -> AnyBasis:
    """Read the reasons of a piece of advice."""
    kept = read_estimates(said)
    kept["action"] = Action[kept["action"].upper()]
    for name in ("value_finish", "side", "settled"):
        del kept[name]
    if "policy" in kept:
        return StateBasis(**kept)
    if kept["drawn"] is not None:
        kept["drawn"] = (kept["drawn"]["p_c"], kept["drawn"]["p_f"])
    return Basis(**kept)


def read_status(said: dict[str, Any]) -> Status:
    """Read how a study stands; in shadow mode, a part of it may be hidden."""
    basis, groups, alarms = said["basis"], said["by_group"], said["alarms"]
    states = said["by_state"]
    read = {
        "basis": None if basis is None else read_basis(basis),
        "groups": tuple(said["groups"]),
        "by_group": groups
        and {
            name: GroupStatus(**one | {"basis": read_basis(one["basis"])})
            for name, one in groups.items()
        },
        "by_state": None if states is None else tuple(map(read_basis, states)),
        "alarms": None if alarms is None else tuple(Alarm(**one) for one in alarms),
        "labels": read_labels(said["labels"]),
    }
    return Status(**said | read)


def read_labels(said: dict[str, Any]) -> Labels:
    """Read what a study calls its states, actions and cases."""
    return Labels(*(tuple(said[name]) for name in Labels._fields))


def read_verified(said: dict[str, Any]) -> Verified:
    """Read what a check found."""
    lists = {name: tuple(said[name]) for name in ("problems", "notes")}
    return Verified(said["events"], said["head"], said["decisions"], **lists)


READERS: Final[dict[Any, Callable[[Any], Any]]] = {
    Case: lambda said: Case(**said),
    Status: read_status,
    Verified: read_verified,
    list[Case]: lambda page: [Case(**one) for one in page["items"]],
    list[Event]: lambda page: [Event(**one) for one in page["items"]],
    list[Moment]: lambda page: [Moment(**read_estimates(one)) for one in page["items"]],
}
"""What reads each type of answer."""


def find_only_study(transport: Transport) -> str:
    """Return the name of the only study at a server, or of the only one that is not archived."""
    names = list_studies(transport) or list_studies(transport, archived=True)
    if len(names) != 1:
        raise NotFound(f"no study was named for {transport.url}; {describe_studies(names)}")
    return names[0]


def list_studies(transport: Transport, *, archived: bool = False) -> list[str]:
    """List the studies of a server."""
    names: list[str] = []
    after: str | None = ""
    while after is not None:
        page = transport.get("/api/studies", after=after, limit=PAGE, all=int(archived))
        names, after = names + page["items"], page["next"]
    return names
