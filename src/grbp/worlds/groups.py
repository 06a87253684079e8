"""Cases of several groups, each with a truth of its own."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from grbp.errors import InvalidInput
from grbp.worlds.validation import SUM_TOLERANCE, check_keys, check_probability
from grbp.worlds.world import UngroupedWorld, World


@dataclass(frozen=True, eq=False)
class Groups(World):
    """Cases that come from several groups, such as wards or machines.

    The group of a case is known when it begins. A learner keeps counters for each group, so that
    nothing is pooled, unless it is told to take all cases for one group.

    Parameters
    ----------
    truths : mapping of str to Problem, Chain or Drift
        The truth of each group, by its name; all have one goal.
    shares : mapping of str to float, optional
        The probability that a case is of each group; by default all alike.

    Raises
    ------
    InvalidInput
        If the goals differ, or the shares are not a distribution over the groups.

    Examples
    --------
    >>> import grbp
    >>> wards = {"north": grbp.Problem(4, 0.45, 0.3), "south": grbp.Problem(4, 0.65, 0.3)}
    >>> grbp.Groups(wards, {"north": 0.25, "south": 0.75}).goal
    4
    """

    truths: Mapping[str, UngroupedWorld]
    shares: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        truths: object = self.truths
        if (
            not isinstance(truths, Mapping)
            or not truths
            or not all(isinstance(name, str) and name for name in truths)
            or not all(isinstance(truth, UngroupedWorld) for truth in truths.values())
        ):
            raise InvalidInput(
                f"truths = {truths!r} was given; it must be a dict from the names of groups to a"
                " Problem, Chain or Drift"
            )
        if len({truth.goal for truth in truths.values()}) > 1:
            raise InvalidInput("groups were given whose goals differ; they must have one goal")
        shares: object = self.shares
        if shares is None:
            shares = dict.fromkeys(truths, 1.0 / len(truths))
        if not isinstance(shares, Mapping) or {*shares} != {*truths}:
            raise InvalidInput(
                f"shares = {shares!r} was given; it must be a dict from the groups"
                f" {', '.join(sorted(truths))} to their shares"
            )
        known = {name: check_probability(f"the share of {name}", shares[name]) for name in truths}
        total = math.fsum(known.values())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidInput(f"the shares sum to {total:.12g}; they must sum to 1")
        object.__setattr__(self, "truths", dict(truths))
        object.__setattr__(self, "shares", {name: share / total for name, share in known.items()})

    @property
    def goal(self) -> int:
        """The goal of all groups."""
        return next(iter(self.truths.values())).goal

    @property
    def parts(self) -> Mapping[str, UngroupedWorld]:
        """The truth of each group, by its name."""
        return self.truths

    groups = parts

    @property
    def group_shares(self) -> Collection[float]:
        """The probability that a case is of each group."""
        return (self.shares or {}).values()

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data; see `World.to_plain`."""
        groups = {name: truth.to_plain() for name, truth in self.truths.items()}
        return {"groups": groups, "shares": dict(self.shares or {})}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], read: Callable[[Any], Any]) -> "Groups":
        """Return the groups that plain data describe, or refuse them; see `World.from_plain`."""
        check_keys("groups", data, ("groups",), ("shares",))
        given = data["groups"]
        if not isinstance(given, Mapping):
            raise InvalidInput(f"groups = {given!r} was given; it must be a table")
        return cls({name: read(truth) for name, truth in given.items()}, data.get("shares"))
