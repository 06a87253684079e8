"""Ask and tell: a learner that meets one case after another, without any input or output.

    session = Session(goal=4, learner="getbe-ps", seed=7)
    session.open(state=2)          # the threshold is chosen now, for the whole case
    session.ask()                  # Action.CONTINUE or Action.FINISH
    session.tell(3)                # the state that followed

Counters change when a case is over, as in Algorithm 1. With the same seed and replica as the
walking engine's and the same cases, every decision is the same, bit for bit.
"""

from typing import Any

from grbp.errors import InvalidInput
from grbp.learners.counters import Round
from grbp.learners.registry import LearnerLike, find_learner
from grbp.model.transition import DEAD_END, Action, finish_mask
from grbp.model.validation import check_goal, check_whole
from grbp.numerics.rng import LEARNER, OPENING, fold_in, replica_key, uniform


class Session:
    """A learner at work.

    rho     the number of the present case, or of the next one between two cases
    state   where the present case stands; None between two cases
    threshold  what was chosen for it (for ucb1-policies: the number of a policy)
    memory  what the learner knows: `Counters`

    Paper: alg:GRBP
    """

    def __init__(self, goal: int, learner: LearnerLike, seed: int, replica: int = 0) -> None:
        self.goal = check_goal(goal)
        self._learner = find_learner(learner, self.goal)
        self._learner_key = replica_key(seed, LEARNER, replica)
        init_key = replica_key(seed, OPENING, replica)
        self.memory: Any = self._learner.initial_counters(
            goal, uniform(init_key, 0), uniform(init_key, 1)
        )
        self.rho = 1
        self.state: int | None = None
        self.threshold = 0
        self._finish = finish_mask(goal, 0)
        self._counts = Round(0, 0, 0, 0, 0)

    def open(self, state: int) -> int:
        """Open a case that starts in a state, and choose the threshold it is played with."""
        if self.state is not None:
            raise InvalidInput("a case is still open; tell how it ends before opening another")
        self.state = check_whole("state", state, 1, self.goal - 1)
        self.threshold = self._learner.choose(
            self.goal, self.memory, fold_in(self._learner_key, self.rho)
        )
        self._finish = finish_mask(self.goal, self._learner.policy(self.goal, self.threshold))
        self._counts = Round(self.state, 0, 0, 0, 0)
        return self.threshold

    def ask(self) -> Action:
        """What to do in the present state of the open case; asking changes nothing."""
        state = self._present()
        return Action.FINISH if self._finish[state - 1] else Action.CONTINUE

    def tell(self, state: int) -> None:
        """Nothing; the case moved to a state, as the action that was asked for can move it."""
        action, before = self.ask(), self._present()
        ends = action == Action.FINISH
        allowed = (DEAD_END, self.goal) if ends else (before - 1, before + 1)
        if state not in allowed:
            raise InvalidInput(
                f"state {state!r} was told after {action.name} in state {before}; it must be"
                f" {allowed[0]} or {allowed[1]}"
            )
        n = self._counts
        up = not ends and state > before
        self._counts = n._replace(f=n.f + ends, c=n.c + (not ends), c_up=n.c_up + up)
        self.state = int(state)
        if state in (DEAD_END, self.goal):
            one = self._counts._replace(won=int(state == self.goal))
            self.memory = self._learner.settle(self.memory, self.threshold, one)
            self.rho += 1
            self.state = None

    def _present(self) -> int:
        if self.state is None:
            raise InvalidInput("no case is open; open one first")
        return self.state
