"""A study: cases opened, asked about, told and corrected, of which nothing is lost."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from grbp.errors import ReadOnly
from grbp.learners.registry import DEFAULT_LEARNER, LearnerLike
from grbp.live import arguments, commands
from grbp.live.advice import Advice, make_advice
from grbp.live.config import DRAWN, load_config, make_config, this_version
from grbp.live.export import import_log, read_log
from grbp.live.reader import StudyReader
from grbp.live.recording import Answer, Call
from grbp.live.schema import loads
from grbp.live.store import Where, open_or_make_store
from grbp.live.store.base import Transaction
from grbp.model.transition import Action


class Study(StudyReader):
    """A study that is kept: a learner that advises on one case after another, many at once.

    Parameters
    ----------
    store : str or Path
        A SQLite file, or the address of a PostgreSQL database (``"postgresql://..."``), in which
        the study was made by `Study.create`.
    name : str, optional
        The name of the study; it can be left out where there is one alone.
    who : str, optional
        Who records, by default the name of the user. A study keeps it with every entry.
    learner : Learner, optional
        The learner, where it is your own and cannot be found as ``"module:name"``.
    clock : callable, optional
        A function that returns the time, with its zone.

    Attributes
    ----------
    name : str
    goal : int
    read_only : str or None
        Why the study cannot be written to, if a check failed when it was opened; whatever would
        write raises `ReadOnly` then.

    Raises
    ------
    NotFound
        If there is no such store or study.

    See Also
    --------
    Session : Ask and tell in memory, one case at a time.
    plan : How many cases learning takes.

    Notes
    -----
    A case is a round of Algorithm 1. Its threshold is decided when it is opened, from all that is
    known then, and never changes; asking changes nothing. With one case at a time the decisions
    are those of `simulate` and `Session` with the same seed, bit for bit.

    Paper: alg:GRBP

    Examples
    --------
    >>> import grbp
    >>> study = grbp.Study.create("memory", "ward", goal=4)
    >>> advice = study.open_case(state=2)
    >>> advice.case, advice.action
    (1, <Action.CONTINUE: 0>)
    >>> study.tell(1, state=1).action
    <Action.FINISH: 1>
    >>> study.tell(1, state=4).status
    'won'
    >>> study.verify().ok
    True
    """

    @classmethod
    def create(  # noqa: PLR0913
        cls,
        store: Where,
        name: str,
        goal: int,
        learner: LearnerLike = DEFAULT_LEARNER,
        *,
        seed: int = 0,
        start: Any = DRAWN,
        horizon: float | None = None,
        windows: Mapping[str, float] | None = None,
        shadow: bool = False,
        level: float = 0.95,
        who: str | None = None,
        clock: Callable[[], datetime] = arguments.utc_now,
    ) -> "Study":
        """Make a study, and the SQLite file or the tables if they are missing.

        As long as no case was opened, a study of the same name is configured anew; from then on
        its configuration is locked.

        Parameters
        ----------
        store : str or Path
            A SQLite file, or the address of a PostgreSQL database (``"postgresql://..."``).
        name : str
            The name of the study: one line of up to 64 characters.
        goal : int
            The state in which a case is won.
        learner : str or Learner, default "doorstep-lai"
            The learner, with constants if they are to be others: ``"getbe-sm:gamma=30"``.
        seed : int, default 0
            The seed of the learner's draws and of the first estimates.
        start : "drawn", "first", Counters or Fit, default "drawn"
            Where the study begins: with first estimates that are drawn, as the paper's experiments
            have them; with one first CONTINUE and one first FINISH, as Algorithm 1 says; or with
            what past cases tell, as `fit` counted them.
        horizon : float, optional
            How many cases there will be, for a learner that wants to know.
        windows : dict, optional
            For "continue" or "finish", the days after which an outcome counts, however early it
            is told. Where bad outcomes are known sooner than good ones, estimates are wrong
            without it.
        shadow : bool, default False
            Whether to advise nobody and learn by watching.
        level : float, default 0.95
            The level of the intervals.
        who : str, optional
        clock : callable, optional
            See `Study`.

        Returns
        -------
        Study

        Raises
        ------
        InvalidInput
            If something is not allowed.
        Conflict
            If a study of this name has cases and another configuration.

        Examples
        --------
        >>> import grbp
        >>> grbp.Study.create("memory", "ward", 4, "getbe-sm", start="first")
        <Study('memory', 'ward'): goal 4>
        """
        settings = {"seed": seed, "start": start, "windows": windows, "shadow": shadow}
        config = make_config(name, goal, learner, horizon, settings | {"level": level})
        call = Call(arguments.check_recorder(who), arguments.format_time(clock()))
        with open_or_make_store(store) as opened:
            for reason in opened.checks():
                raise ReadOnly(f"a study was to be made in {opened.where}: {reason}")
            opened.write(config.name, lambda tx: commands.configure(tx, call, loads(config.text)))
            return cls(opened, config.name, who=who, learner=learner, clock=clock)

    def open_case(
        self,
        state: int,
        *,
        key: str | None = None,
        observed: datetime | str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Open a case, and decide how it is to be played.

        Parameters
        ----------
        state : int
            The state of the case, from 1 to goal - 1.
        key : str, optional
            An idempotency key: asked again with the same key and the same words, the study
            returns the answer it gave, and records nothing.
        observed : datetime or str, optional
            When it happened, if not now.
        who : str, optional
            Who records, if not the one of the study.

        Returns
        -------
        Advice
            The number of the case, and what to do first.

        Raises
        ------
        InvalidInput
            If there is no such state.
        Conflict
            If the key was used for something else.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(2, key="bed 7").case, study.open_case(2, key="bed 7").case
        (1, 1)
        """
        return self._record(commands.open_case, self._make_call(key, observed, who), state)

    def tell(  # noqa: PLR0913
        self,
        case: int,
        state: int,
        *,
        took: Action | str | None = None,
        why: str = "",
        step: int | None = None,
        key: str | None = None,
        observed: datetime | str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Record the state to which a step led; return the next advice.

        Parameters
        ----------
        case, state : int
            The case, and its state now.
        took : Action or str, optional
            What was done, "continue" or "finish", where it is not what was advised.
        why : str, optional
            Why something else was done; it must be said then.
        step : int, optional
            The number of the step, from 1. A step that was told before is not recorded again if
            it says the same, and is refused if not.
        key, observed, who
            See `open_case`.

        Returns
        -------
        Advice

        Raises
        ------
        NotFound
            If there is no such case.
        InvalidInput
            If the action cannot lead to the state.
        Conflict
            If the case is over, or the step or the key was told otherwise.

        Notes
        -----
        The step counts by what was done, whoever decided, and from now on. A case in which
        something else was done than advised is not counted for its threshold.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(2).action
        <Action.CONTINUE: 0>
        >>> study.tell(1, 4, took="finish", why="a bed was free").status
        'won'
        """
        call, number = self._make_call(key, observed, who), arguments.check_case(case)
        took = took.name.lower() if isinstance(took, Action) else took
        why = "" if isinstance(why, str) and not why else arguments.check_reason(why)
        return self._record(commands.tell, call, number, state, took, why, step)

    def void(
        self,
        case: int,
        why: str,
        *,
        step: int | None = None,
        key: str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Take back the last entry of a case, its last step or its withdrawal, with a reason.

        What was recorded stays in the log; advice that was given stays as it was given.

        Parameters
        ----------
        case : int
        why : str
            What was wrong.
        step : int, optional
            The number of the step that is meant, for safety; it must be the last entry.
        key, who
            See `open_case`.

        Returns
        -------
        Advice
            What to do in the state before, in which the case is again.

        Raises
        ------
        NotFound
            If there is no such case.
        Conflict
            If there is nothing to take back, or something else is the last entry.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.tell(1, 3).state, study.void(1, "it was the other bed").state
        (3, 2)
        """
        call, number = self._make_call(key, None, who), arguments.check_case(case)
        return self._record(commands.void, call, number, arguments.check_reason(why), step)

    def withdraw_case(
        self, case: int, why: str, *, key: str | None = None, who: str | None = None
    ) -> Advice:
        """Withdraw a case: what was observed stays, and nothing more is expected.

        It counts for no threshold, and is neither won nor lost. `Session.abandon` counts the same,
        but gives the next case the same number; here a case keeps its number, which is its round.

        Parameters
        ----------
        case : int
        why : str
        key, who
            See `open_case`.

        Returns
        -------
        Advice

        Raises
        ------
        NotFound
            If there is no such case.
        Conflict
            If the case is over.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.withdraw_case(1, "moved to another ward").status
        'closed'
        """
        call, number = self._make_call(key, None, who), arguments.check_case(case)
        return self._record(commands.withdraw_case, call, number, arguments.check_reason(why))

    @classmethod
    def import_(cls, store: Where, path: Path | str, **options: Any) -> "Study":
        """Record an exported study in a store, which may be of another kind; all of it or nothing.

        Parameters
        ----------
        store : str or Path
            See `Study.create`.
        path : Path or str
            What `export` wrote.
        **options
            As for `Study`.

        Returns
        -------
        Study

        Raises
        ------
        InvalidInput
            If the file is not an export, or was changed.
        Conflict
            If the store has a study of this name.
        """
        read_log(Path(path))  # A file that is not an export makes no store.
        with open_or_make_store(store) as opened:
            return cls(opened, import_log(opened, Path(path)), **options)

    def _record(self, command: Callable[..., Answer], call: Call, *request: object) -> Advice:
        """Record something, and return the advice that follows."""
        if self.read_only:
            raise ReadOnly(f"the study {self.name!r} can only be read: {self.read_only}")

        def record(tx: Transaction) -> Advice:
            event, study, row = command(tx, call, *request)
            return make_advice(load_config(study.config), row, event.seq)

        return self._store.write(self.name, record)

    def _make_call(self, key: str | None, observed: datetime | str | None, who: str | None) -> Call:
        """Say who asks, and when."""
        return Call(
            self._who if who is None else arguments.check_recorder(who),
            arguments.format_time(self._clock()),
            "" if key is None else arguments.check_text("key", key, 200),
            "" if observed is None else arguments.check_observed(observed),
            self._learner,
            this_version(),
        )
