"""Bases from counts that no study has to have counted."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from numpy.typing import ArrayLike

from grbp import Basis, Counters, StateBasis
from grbp.live.basis import explain
from grbp.live.ledger import Known


def make_basis(
    goal: int,
    state: int,
    threshold: int,
    counters: Counters,
    seen: Sequence[int],
    pending: int = 0,
    *,
    drawn: Counters | None = None,
    level: float = 0.95,
    learner: str = "getbe-sm",
) -> Basis:
    """The reasons of a threshold, from what its learner counts and what was seen."""
    config: Any = SimpleNamespace(
        goal=goal, level=level, learner_name=learner, memory=None, drawn=drawn, by_state=False
    )
    basis = explain(config, Known(counters, [pending], [*seen], 1), state, threshold, "1.2.3")
    assert isinstance(basis, Basis)
    return basis


def make_state_basis(
    goal: int, state: int, policy: int, seen: ArrayLike, pending: int = 0, level: float = 0.95
) -> StateBasis:
    """The reasons of a policy, from what was seen by state."""
    config: Any = SimpleNamespace(
        goal=goal, level=level, learner_name="psrl", memory=None, by_state=True, model="state"
    )
    n: Any = None
    known = Known(n, [pending] * (goal - 1), [*seen], 1)  # type: ignore[misc]
    basis = explain(config, known, state, policy, "1")
    assert isinstance(basis, StateBasis)
    return basis
