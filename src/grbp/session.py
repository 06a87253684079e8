"""Let a learner meet one real case after another, by ask and tell, without input or output.

The counters change when a case is over, as in Algorithm 1. With the seed and replica of the
walking engine and the same cases, every decision is the same, bit for bit.
"""

from typing import Any

from grbp.errors import InvalidInput
from grbp.learners.counters import Round
from grbp.learners.registry import LearnerLike, find_learner
from grbp.model.transition import DEAD_END, Action, finish_mask
from grbp.model.validation import check_goal, check_whole
from grbp.numerics.rng import LEARNER, OPENING, fold_in, replica_key, uniform


class Session:
    """A learner at work: it is asked what to do, and told what came of it.

    Parameters
    ----------
    goal : int
        The state in which a case is won, at least 2.
    learner : str or Learner
        A learner, or the name of one, such as ``"doorstep-lai"`` or ``"getbe-sm:gamma=30"``.
    seed : int
        The seed of the learner's own draws and of its initial estimates.
    replica : int, optional
        The replica of an experiment with that seed whose draws are used.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    rho : int
        The number of the present case, or of the next one between two cases.
    state : int or None
        The state of the present case; None between two cases.
    threshold : int
        The threshold that was chosen for the present case, or for the last one (for the learner
        ucb1-policies, the number of a policy).
    memory : Counters
        The counters from which the learner decides; they change when a case is over.

    Raises
    ------
    InvalidInput
        If there is no such learner, or a number is not allowed.

    Notes
    -----
    Paper: alg:GRBP

    Examples
    --------
    >>> import grbp
    >>> session = grbp.Session(goal=4, learner="getbe-sm", seed=7)
    >>> session.open(state=2)
    1
    >>> session.ask()
    <Action.CONTINUE: 0>
    >>> session.tell(1)
    >>> session.ask()
    <Action.FINISH: 1>
    >>> session.tell(4)
    >>> session.rho, session.state
    (2, None)
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
        """Open a case, and choose the threshold it is played with.

        Parameters
        ----------
        state : int
            The first state of the case, from 1 to goal - 1.

        Returns
        -------
        int
            The threshold, chosen for the whole case.

        Raises
        ------
        InvalidInput
            If a case is still open, or there is no such state.
        """
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
        """Return the action to take in the present state of the open case.

        Asking changes nothing.

        Returns
        -------
        Action
            CONTINUE or FINISH.

        Raises
        ------
        InvalidInput
            If no case is open.
        """
        return Action.FINISH if self._finish[self._present() - 1] else Action.CONTINUE

    def tell(self, state: int) -> None:
        """Record the state to which the action that was asked for led.

        A case that reaches the goal or the dead end is over, and is counted.

        Parameters
        ----------
        state : int
            The state that followed: after CONTINUE, one up or one down; after FINISH, the goal
            or the dead end.

        Raises
        ------
        InvalidInput
            If no case is open, or the action cannot lead to the state.
        """
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
        """Return the state of the open case, or refuse if there is none."""
        if self.state is None:
            raise InvalidInput("no case is open; open one first")
        return self.state
