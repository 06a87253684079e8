"""Read back what a server answers, so that it is what a study would have returned here."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from grbp.live.advice import Advice
from grbp.live.basis import Basis
from grbp.live.verify import Verified
from grbp.model.transition import Action
from grbp.theory.posterior import Estimate


class RemoteAdvice(Advice):
    """Advice whose reasons are fetched when they are asked for: they never change."""

    __qualname__ = "Advice"

    @cached_property
    def basis(self) -> Basis | None:
        """The reasons."""
        return None if self.action is None else read_basis(self.__dict__["_fetch"]())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Advice) and _compared_fields(self) == _compared_fields(other)

    def __hash__(self) -> int:
        return hash(_compared_fields(self))


def _compared_fields(advice: Advice) -> tuple[object, ...]:
    """Return what two pieces of advice are compared by."""
    return (
        advice.study, advice.case, advice.rho, advice.state, advice.status, advice.step,
        advice.action, advice.shadow, advice.event,
    )  # fmt: skip


def to_utc(observed: datetime | str | None) -> str | None:
    """Write a time in UTC: one without a zone is in ours, not in the server's."""
    if observed is None:
        return None
    with suppress(ValueError, OverflowError, TypeError, AttributeError):
        time = datetime.fromisoformat(observed) if isinstance(observed, str) else observed
        return time.astimezone(UTC).isoformat()
    return str(observed)  # It is refused there, as here.


def read_basis(said: dict[str, Any]) -> Basis:
    """Read the reasons of a piece of advice."""
    kept: dict[str, Any] = {
        name: Estimate(**{k: math.nan if x is None else x for k, x in value.items()})
        if isinstance(value, dict) and "low" in value
        else value
        for name, value in said.items()
        if name not in ("value_finish", "side", "settled")
    }
    if kept["action"] is not None:
        kept["action"] = Action[kept["action"].upper()]
    if kept["drawn"] is not None:
        kept["drawn"] = (kept["drawn"]["p_c"], kept["drawn"]["p_f"])
    return Basis(**kept)


def read_verified(said: dict[str, Any]) -> Verified:
    """Read what a check found."""
    lists = {name: tuple(said[name]) for name in ("problems", "notes")}
    return Verified(said["events"], said["head"], said["decisions"], **lists)
