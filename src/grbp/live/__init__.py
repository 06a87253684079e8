"""The live advisor, here or at a server: open a case, ask, tell; all is kept and explained."""

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
