"""The live advisor: open a case, ask, tell; nothing is lost, and everything is explained."""

from grbp.live.advice import Advice, Case, GroupStatus, Status
from grbp.live.basis import Basis, StateBasis
from grbp.live.schema import Event
from grbp.live.study import Study
from grbp.live.verify import Verified

__all__ = [
    "Advice",
    "Basis",
    "Case",
    "Event",
    "GroupStatus",
    "StateBasis",
    "Status",
    "Study",
    "Verified",
]
