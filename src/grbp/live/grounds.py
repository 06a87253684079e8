"""What speaks for an action, as values: what was seen of it, and on which ground it is advised."""

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from grbp.theory.posterior import Estimate
from grbp.worlds.transition import Action

if TYPE_CHECKING:
    from grbp.live.advice import AnyBasis


class Ground(Enum):
    """Why an action is advised: the first of these that is so."""

    FIRST_TRY = auto()
    """Nothing is known about it, and nothing is awaited."""
    AWAITED = auto()
    """Nothing is known about it, and its first outcome is awaited."""
    TO_LEARN = auto()
    """The learner's own means call the other action better."""
    NEVER_ABOVE = auto()
    """In this model, FINISH is better in state 1 or nowhere."""
    NOT_COMPARABLE = auto()
    """Nothing is known about the other action."""
    BETTER = auto()
    """It is estimated to reach the goal more often."""
    TOO_CLOSE = auto()
    """It is estimated to do so less often, by less than the learner can tell."""


class Seen(NamedTuple):
    """What was seen of an action before a case, and what it is worth in the state of the case."""

    tries: int
    good: int
    pending: int
    share: Estimate
    worth: Estimate


def see(basis: "AnyBasis", action: Action) -> Seen:
    """Return what was seen of an action."""
    if action == Action.FINISH:
        return Seen(basis.f, basis.f_goal, basis.pending, basis.p_f, basis.p_f)
    return Seen(basis.c, basis.c_up, 0, basis.p_c, basis.value_continue)


def find_ground(basis: "AnyBasis") -> Ground:
    """Return the ground of the action that is advised."""
    ours, theirs = see(basis, basis.action), see(basis, Action(1 - basis.action))
    if not ours.tries:
        return Ground.AWAITED if ours.pending else Ground.FIRST_TRY
    if basis.forced:
        return Ground.TO_LEARN
    if basis.state > 1 and not basis.by_state:
        return Ground.NEVER_ABOVE
    if not theirs.tries:
        return Ground.NOT_COMPARABLE
    better = ours.worth.estimate >= theirs.worth.estimate
    return Ground.BETTER if better else Ground.TOO_CLOSE
