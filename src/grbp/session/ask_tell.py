"""Let a learner meet one real case after another, by ask and tell, without input or output.

The counters change when a case is over, as in Algorithm 1. With the seed and replica of the
walking engine and the same cases, every decision is the same, bit for bit.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from grbp._display import Displayable, Rows
from grbp._io import write_whole
from grbp.errors import InvalidInput
from grbp.learners.counters import NOBODY, Counters
from grbp.learners.registry import DEFAULT_LEARNER, LearnerLike, find_learner
from grbp.learners.serialization import check_counters
from grbp.learners.state_counters import StateCounters
from grbp.numerics.rng import LEARNER, OPENING, fold_in, replica_key, uniform
from grbp.session.knowledge import count_case, count_moves, counters_for, know
from grbp.session.saved import OpenCase, Saved, read_file, read_json, write_json
from grbp.worlds.chain import Chain
from grbp.worlds.problem import Problem
from grbp.worlds.transition import DEAD_END, Action, as_action, finish_mask, successors
from grbp.worlds.validation import as_seed, check_goal, check_whole
from grbp.worlds.world import SteadyWorld

if TYPE_CHECKING:
    from grbp.worlds.validation import SeedLike

_NOW: Final = {"open": "open_case", "abandon": "withdraw_case", "memory": "counters"}
"""Former names."""


class Session(Displayable):
    """A learner at work: it is asked what to do, and told what came of it.

    Parameters
    ----------
    goal : int, Problem or Chain
        The state in which a case is won, at least 2; or what has one. A `Chain` also says to which
        states CONTINUE can lead, by stays and jumps; its chances stay unknown to the learner.
    learner : str, Learner or StateLearner, default "doorstep-optimal"
        A learner, or the name of one, such as ``"doorstep-optimal"``, ``"getbe-sm:gamma=30"`` or
        ``"psrl"``, which decides by state.
    seed : int, numpy.random.Generator, numpy.random.SeedSequence or None, default 0
        The seed of the learner's own draws and of its initial estimates, as in `simulate`.
    replica : int, default 0
        The replica of an experiment with that seed whose draws are used.
    counters : Counters, optional
        What is known before the first case, such as `Fit.counters` of past cases, instead of drawn
        initial estimates. The learner must decide from these counters, not by state, and each
        action must have been taken.

    Attributes
    ----------
    goal : int
        The state in which a case is won.
    seed, replica : int
        The seed, as a whole number, and the replica.
    rho : int
        The number of the present case, or of the next one between two cases.
    state : int or None
        The state of the present case; None between two cases.
    threshold : int
        The threshold that was chosen for the present case, or for the last one (for the learner
        ucb1-policies and for learners by state, the number of a policy).
    counters : Counters or StateCounters
        The counters from which the learner decides; they change when a case is over. Where it
        averages over memories, these are those of the longest.

    Raises
    ------
    InvalidInput
        If there is no such learner, or a number is not allowed.

    Notes
    -----
    `to_frame` has the counters, and `plot` marks the present estimates of the two probabilities.

    Paper: alg:GRBP

    Examples
    --------
    >>> import grbp
    >>> session = grbp.Session(goal=4, learner="getbe-sm", seed=7)
    >>> session.open_case(state=2)
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

    def __init__(
        self,
        goal: int | Problem | Chain,
        learner: LearnerLike = DEFAULT_LEARNER,
        seed: "SeedLike" = 0,
        replica: int = 0,
        counters: Counters | None = None,
    ) -> None:
        world = goal if isinstance(goal, SteadyWorld) else None
        self.goal = check_goal(goal) if world is None else world.goal
        self._chain = None if world is None or world.paper else world.chain
        self.seed = as_seed(seed)
        self.replica = check_whole("replica", replica, 0, 2**63 - 1)
        self._learner = find_learner(learner, self.goal)
        self._given = learner
        self._learner_key = replica_key(self.seed, LEARNER, self.replica)
        init_key = replica_key(self.seed, OPENING, self.replica)
        known = self._learner.initial_counters(
            self.goal, uniform(init_key, 0), uniform(init_key, 1), jumps=self._may_jump
        )
        self.rho = 1
        if counters is not None:
            known = check_counters(counters, self._learner)
            self.rho = known.rho
        self._known = know(self._learner, known)
        self.state: int | None = None
        self.threshold = 0
        self._finish = finish_mask(self.goal, 0)
        self._shown = self._learner.nothing_shown(self.goal, 0, jumps=self._may_jump)
        self._overridden = False

    def __repr__(self) -> str:
        replica = f", replica={self.replica}" if self.replica else ""
        case = "no case open"
        if self.state is not None:
            case = f"one open in state {self.state}, threshold {self.threshold}"
        return (
            f"<Session(goal={self.goal}, learner={self.learner!r}, seed={self.seed}{replica}):"
            f" {self.rho - 1} cases over, {case}>"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Name what had another name before it was called as a study calls it."""
            now = f"is now: {_NOW[name]}" if name in _NOW else "is no attribute of a Session"
            raise AttributeError(f"{name!r} {now}", name=name, obj=self)

    @property
    def learner(self) -> str:
        """The name of the learner."""
        return self._learner.name

    @property
    def counters(self) -> Any:
        """The counters from which the learner decides."""
        return self._known.kept[0]

    @property
    def _may_jump(self) -> bool:
        return self._chain is not None and not self._chain.leads_to_neighbours

    def open_case(self, state: int) -> int:
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
        key = fold_in(self._learner_key, self.rho)
        counters = counters_for(self._learner, self._known, key)
        self.threshold = self._learner.choose(self.goal, counters, key)
        self._finish = finish_mask(self.goal, self._learner.policy(self.goal, self.threshold))
        self._shown = self._learner.nothing_shown(self.goal, self.state, jumps=self._may_jump)
        self._overridden = False
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

    def tell(self, state: int, took: Action | str | None = None) -> None:
        """Record the state to which an action led.

        A case that reaches the goal or the dead end is over, and is counted.

        Parameters
        ----------
        state : int
            The state that followed: after CONTINUE, one up or one down, or any to which the chain
            can lead; after FINISH, the goal or the dead end.
        took : Action or str, optional
            The action that was taken, ``Action.FINISH`` or ``"finish"``, where it is not the one
            that was asked for.

        Raises
        ------
        InvalidInput
            If no case is open, or the action cannot lead to the state.

        Notes
        -----
        What was done is what counts: every FINISH and CONTINUE with what came of it, whoever
        decided. A case in which the learner was overridden is a case like others (``rho``), but
        it does not count as played, won or lost with its threshold, since it was not played
        with it. The learner ucb1-policies counts nothing else, and so learns nothing from it.

        Examples
        --------
        >>> import grbp
        >>> session = grbp.Session(goal=4, learner="threshold-0")
        >>> session.open_case(state=1)
        0
        >>> session.ask()
        <Action.CONTINUE: 0>
        >>> session.tell(4, took="finish")
        >>> session.counters.f, session.counters.plays_0
        (2.0, 0.0)
        """
        asked, before = self.ask(), self._present()
        action = asked if took is None else as_action(took)
        finish = action == Action.FINISH
        allowed = self._successors(before, finish)
        if state not in allowed:
            *most, last = map(str, allowed)
            raise InvalidInput(
                f"state {state!r} was told after {action.name} in state {before}; it must be"
                f" {', '.join(most)}{' or ' if most else ''}{last}"
            )
        self._shown = self._learner.show(self._shown, self.goal, before, finish, int(state))
        self._overridden = self._overridden or action != asked
        self.state = int(state)
        if state in (DEAD_END, self.goal):
            credit = NOBODY if self._overridden else self.threshold
            self._known = count_case(self._learner, self._known, credit, self._shown)
            self.rho += 1
            self.state = None

    def withdraw_case(self) -> None:
        """Withdraw the open case: it has no outcome, and does not count as a round.

        The CONTINUEs seen so far are counted, with what came of them: leaving them out would
        make the estimate of p_c wrong if cases are given up because they go badly. Nothing else
        is: ``rho`` stays, no FINISH is counted, and the case is neither won nor lost. The next
        case has the same number and the same draws.
        `Study.withdraw_case` counts the same, but a case keeps its number there: the next case has
        the next one, and other draws.

        Raises
        ------
        InvalidInput
            If no case is open.

        Examples
        --------
        >>> import grbp
        >>> session = grbp.Session(goal=4, learner="threshold-0")
        >>> session.open_case(state=2)
        0
        >>> session.tell(3)
        >>> session.withdraw_case()
        >>> session.rho, session.state, session.counters.c
        (1, None, 2.0)
        """
        self._present()
        self._known = count_moves(self._learner, self._known, self._shown)
        self.state = None

    def to_json(self) -> str:
        """Write the session as JSON, from which `from_json` goes on with the same decisions.

        Returns
        -------
        str
            The goal, the learner's name and constants, the seed and the replica, the counters
            and the open case. A learner of your own is kept by its name and a digest of its
            source.

        Examples
        --------
        >>> import grbp
        >>> session = grbp.Session(goal=4)
        >>> session.open_case(state=2)
        1
        >>> again = grbp.Session.from_json(session.to_json())
        >>> again.ask() == session.ask()
        True
        """
        case = None
        if self.state is not None:
            case = OpenCase(self.state, self.threshold, self._shown, self._overridden)
        place = (self.goal, self.seed, self.replica, self.rho, self._known, case, self._chain)
        return write_json(Saved(self._given, self._learner.constants, *place))

    @classmethod
    def from_json(cls, text: str, learner: LearnerLike | None = None) -> "Session":
        """Read a session that `to_json` wrote; it goes on bit for bit.

        Parameters
        ----------
        text : str
            The session.
        learner : str or Learner, optional
            The learner of the session, where it is your own and not to be found as
            ``"module:name"``.

        Returns
        -------
        Session

        Raises
        ------
        InvalidInput
            If the text is not a session or is damaged, or if the learner or its constants are
            not those with which the session was written.
        """
        saved = read_json(text, learner)
        session = cls(saved.chain or saved.goal, saved.learner, saved.seed, saved.replica)
        session.rho, session._known = saved.rho, saved.known
        if saved.case is not None:
            session.state, session.threshold, session._shown, session._overridden = saved.case
            policy = session._learner.policy(session.goal, session.threshold)
            session._finish = finish_mask(session.goal, policy)
        return session

    def save(self, path: Path | str) -> Path:
        """Write the session to a file, whole or not at all, and return the path.

        Parameters
        ----------
        path : Path or str

        Returns
        -------
        Path
        """
        return write_whole(Path(path), self.to_json().encode())

    @classmethod
    def load(cls, path: Path | str, learner: LearnerLike | None = None) -> "Session":
        """Read a session that `save` wrote.

        Parameters
        ----------
        path : Path or str
        learner : str or Learner, optional
            See `from_json`.

        Returns
        -------
        Session

        Examples
        --------
        >>> import grbp, tempfile
        >>> session = grbp.Session(goal=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = grbp.Session.load(session.save(f"{folder}/ward.json"))
        >>> again.counters == session.counters
        True
        """
        return cls.from_json(read_file(Path(path)), learner)

    def _table(self) -> Rows:
        if isinstance(self.counters, Counters):
            return ("counter", "count"), (
                (name, float(count)) for name, count in self.counters._asdict().items()
            )
        if isinstance(self.counters, StateCounters):
            columns = ("up", "down", "won", "lost")
            counts = (getattr(self.counters, name).tolist() for name in columns)
            return ("state", *columns), zip(range(1, self.goal), *counts, strict=True)
        plays, wins = (part.tolist() for part in self.counters)
        return ("policy", "plays", "wins"), zip(range(len(plays)), plays, wins, strict=True)

    def _summary(self) -> Rows:
        n = self.counters
        if not isinstance(n, Counters):
            return self._table()
        return ("", "taken", "succeeded", "share"), [
            (name, *(f"{number:.6g}" for number in (taken, up)), f"{up / taken:.4g}")
            for name, taken, up in (("FINISH", n.f, n.f_goal), ("CONTINUE", n.c, n.c_up))
        ]

    def _draw(self, ax: Any) -> Any:
        from grbp.figures.boundary import boundary_figure  # noqa: PLC0415 (of a floor above)

        n = self.counters
        point = (n.c_up / n.c, n.f_goal / n.f) if isinstance(n, Counters) else None
        return boundary_figure([self.goal], point=point, ax=ax)

    def _present(self) -> int:
        """Return the state of the open case, or refuse if there is none."""
        if self.state is None:
            raise InvalidInput("no case is open; open one first")
        return self.state

    def _successors(self, state: int, finish: bool) -> list[int]:
        """Return the states to which an action can lead."""
        if finish or self._chain is None:
            return list(successors(self.goal, state, finish))
        can = self._chain.law[state - 1] > 0.0
        can[state] |= bool(self._chain.stay[state - 1] > 0.0)
        return [int(one) for one in np.flatnonzero(can)]
