"""A study: cases opened, asked about, told and corrected, of which nothing is lost."""

import getpass
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from grbp._io import write_whole
from grbp.errors import GrbpError, InvalidInput, NotFound, ReadOnly
from grbp.learners.registry import DEFAULT_LEARNER, LearnerLike
from grbp.live import rules
from grbp.live.advice import Advice, Case, Status, advice_on, case_of, status_of
from grbp.live.config import DRAWN, Config, check_text, config_of, make_config
from grbp.live.counting import decided, known
from grbp.live.rows import STATUSES, Event, StudyRow, hash_of
from grbp.live.rules import Answer, Call
from grbp.live.store import Where, open_store
from grbp.live.store.base import Store, Transaction
from grbp.live.transfer import bring_in, log_lines, step_table
from grbp.live.verify import Verified, verified
from grbp.model.steps import steps_text
from grbp.model.transition import Action
from grbp.model.validation import check_whole

T = TypeVar("T")

_MOST_ROWS: Final = 1_000_000
_AHEAD: Final = timedelta(minutes=5)
"""How far in the future something may have been observed: clocks differ."""


def _now() -> datetime:
    return datetime.now(UTC)


class Study:
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
        Why the study cannot be written to, if a check failed when it was opened.

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

    def __init__(
        self,
        store: Where,
        name: str | None = None,
        *,
        who: str | None = None,
        learner: LearnerLike | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._who, self._clock = _recorder(who), clock
        # A name is in the configuration.
        self._learner = None if isinstance(learner, str) else learner
        self._store = open_store(store)
        try:
            self.name = _only(self._store) if name is None else check_text("name", name, 64)
            self.goal = self._config().goal
            self.read_only = next(iter([*self._store.checks(), *self._checks()]), None)
        except BaseException:
            if not isinstance(store, Store):
                self._store.close()
            raise

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
        clock: Callable[[], datetime] = _now,
    ) -> "Study":
        """Make a study, and the SQLite file or the tables if they are missing.

        As long as no case was opened, a study of the same name is configured anew; from then on
        its configuration is locked.

        Parameters
        ----------
        store : str or Path
            A SQLite file, or the address of a PostgreSQL database (``"postgresql://..."``).
        name : str
            The name of the study: one line of up to 64 letters.
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
        >>> study = grbp.Study.create("memory", "ward", 4, "getbe-sm", start="first")
        >>> study.status().cases["opened"]
        0
        """
        settings = {"seed": seed, "start": start, "windows": windows, "shadow": shadow}
        config = make_config(name, goal, learner, horizon, settings | {"level": level})
        call = Call(_recorder(who), _stamp(clock()))
        with _opened(store) as kept:
            kept.write(config.name, lambda tx: rules.configure(tx, call, _plain(config)))
            return cls(kept, config.name, who=who, learner=learner, clock=clock)

    def __repr__(self) -> str:
        note = f", read-only: {self.read_only}" if self.read_only else ""
        return f"<Study({self._store.where!r}, {self.name!r}): goal {self.goal}{note}>"

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file or the connection."""
        self._store.close()

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
        ReadOnly
            If the study cannot be written to.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(2, key="bed 7").case, study.open_case(2, key="bed 7").case
        (1, 1)
        """
        call = self._call(key, observed, who)
        return self._answer(lambda tx: rules.open_case(tx, call, state))

    def ask(self, case: int) -> Advice:
        """Say what to do next with a case; this changes nothing.

        Parameters
        ----------
        case : int
            The number of the case.

        Returns
        -------
        Advice

        Raises
        ------
        NotFound
            If there is no such case.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(1).action == study.ask(1).action
        True
        """
        number = _index(case)

        def script(tx: Transaction) -> Advice:
            study = _found(tx, self.name)
            return advice_on(config_of(study.config), rules.case_in(tx, study, number), None)

        return self._store.read(self.name, script)

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
        ReadOnly
            If the study cannot be written to.

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
        call, number = self._call(key, observed, who), _index(case)
        took = took.name.lower() if isinstance(took, Action) else took
        why = "" if isinstance(why, str) and not why else _reason(why)
        return self._answer(lambda tx: rules.tell(tx, call, number, state, took, why, step))

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
        call, number, why = self._call(key, None, who), _index(case), _reason(why)
        return self._answer(lambda tx: rules.void(tx, call, number, why, step))

    def close_case(
        self, case: int, why: str, *, key: str | None = None, who: str | None = None
    ) -> Advice:
        """Withdraw a case: what was observed stays, and nothing more is expected.

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
        >>> study.close_case(1, "moved to another ward").status
        'closed'
        """
        call, number, why = self._call(key, None, who), _index(case), _reason(why)
        return self._answer(lambda tx: rules.close(tx, call, number, why))

    def cases(self, after: int = 0, limit: int = 100, status: str | None = None) -> list[Case]:
        """List cases in the order of their numbers.

        Parameters
        ----------
        after : int, default 0
            The number after which to begin.
        limit : int, default 100
            How many to return at most.
        status : str, optional
            "open", "won", "lost" or "closed", to list those alone.

        Returns
        -------
        list of Case

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.open_case(1)
        >>> [case.state for case in study.cases(status="open")]
        [2, 1]
        """
        if status is not None and not (isinstance(status, str) and status in STATUSES):
            raise InvalidInput(
                f"status = {status!r} was given; it must be one of {', '.join(STATUSES)}"
            )
        page = _page(after, limit)
        config = self._config()
        rows = self._store.read(self.name, lambda tx: tx.cases(*page, status or ""))
        return [case_of(config, row) for row in rows]

    def log(self, after: int = 0, limit: int = 100, case: int | None = None) -> list[Event]:
        """List events in the order in which they were recorded.

        Parameters
        ----------
        after : int, default 0
            The number of the event after which to begin.
        limit : int, default 100
            How many to return at most.
        case : int, optional
            The case whose events to list; by default those of all.

        Returns
        -------
        list of Event

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4, who="ada")
        >>> _ = study.open_case(2)
        >>> [(event.kind, event.who) for event in study.log()]
        [('study', 'ada'), ('open', 'ada')]
        """
        page, number = _page(after, limit), 0 if case is None else _index(case)
        return self._store.read(self.name, lambda tx: tx.events(*page, number))

    def status(self) -> Status:
        """Say how the study stands: its cases, what is known, and how sure that is.

        Returns
        -------
        Status

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.status().cases
        {'opened': 0, 'open': 0, 'won': 0, 'lost': 0, 'closed': 0}
        """
        study = self._store.read(self.name, lambda tx: _found(tx, self.name))
        config, threshold = config_of(study.config), None
        with suppress(GrbpError):
            threshold = decided(config, study, self._learner)
        return status_of(config, study, known(study), threshold, self.read_only)

    def verify(self) -> Verified:
        """Check the whole study: the chain of hashes, and that all rows follow from the log.

        Returns
        -------
        Verified

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.verify().events, study.verify().problems
        (2, ())
        """
        return self._store.read(self.name, lambda tx: verified(tx, self._learner, decide=False))

    def replay(self) -> Verified:
        """Check the whole study, and make every decision again.

        Returns
        -------
        Verified
            With the number of decisions; a problem names the first that comes out differently.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.replay().decisions, study.replay().ok
        (1, True)
        """
        return self._store.read(self.name, lambda tx: verified(tx, self._learner, decide=True))

    def export(self, path: Path | str) -> Path:
        """Write the log to a file, a line of JSON for each event, whole or not at all.

        Parameters
        ----------
        path : Path or str

        Returns
        -------
        Path
        """
        return write_whole(Path(path), log_lines(self._store, self.name), 0o600)

    def export_steps(self, path: Path | str) -> Path:
        """Write all steps to a CSV file, as `fit` and ``grbp fit`` read them.

        Parameters
        ----------
        path : Path or str

        Returns
        -------
        Path
        """
        lines = self._store.read(self.name, lambda tx: list(steps_text(step_table(tx))))
        return write_whole(Path(path), lines, 0o600)

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
            If the file is no export, or was changed.
        Conflict
            If the store has a study of this name.
        """
        with _opened(store) as kept:
            return cls(kept, bring_in(kept, Path(path)), **options)

    def backup(self, path: Path | str) -> Path:
        """Copy all studies of the store, as they are now, to a new SQLite file.

        Parameters
        ----------
        path : Path or str
            A file that is not there yet.

        Returns
        -------
        Path
        """
        self._store.backup(Path(path))
        return Path(path)

    def _answer(self, script: Callable[[Transaction], Answer]) -> Advice:
        """Record something, and return the advice that follows."""
        if self.read_only:
            raise ReadOnly(f"the study {self.name!r} can only be read: {self.read_only}")
        event, study, row = self._store.write(self.name, script)
        return advice_on(config_of(study.config), row, event.seq)

    def _config(self) -> Config:
        """Return the configuration as it is now."""
        study = self._store.read(self.name, lambda tx: _found(tx, self.name))
        return config_of(study.config)

    def _call(self, key: str | None, observed: datetime | str | None, who: str | None) -> Call:
        """Say who asks, and when."""
        now = self._clock().astimezone(UTC)
        return Call(
            self._who if who is None else _recorder(who),
            _stamp(now),
            "" if key is None else check_text("key", key, 200),
            "" if observed is None else _past(observed, now),
            self._learner,
        )

    def _checks(self) -> list[str]:
        """Return what speaks against going on with this study, a sentence each."""
        study = self._store.read(self.name, lambda tx: _found(tx, self.name))
        try:
            config_of(study.config).found_learner(self._learner)
        except GrbpError as error:
            return [str(error)]
        last = self._store.read(self.name, lambda tx: tx.events(study.seq - 1, 2))
        if not _fits(study, last):
            return ["its last event does not fit its head: verify it, and restore a backup"]
        return []


def _fits(study: StudyRow, last: list[Event]) -> bool:
    return bool(last) and last[0].hash == study.head == hash_of(last[0][:-1])


def _found(tx: Transaction, name: str) -> StudyRow:
    """Return a study, or say that there is none."""
    study = tx.study()
    if study is None:
        raise NotFound(f"the study {name!r} was asked for; there is none of this name")
    return study


def _only(store: Store) -> str:
    """Return the name of the only study in a store."""
    names = store.studies()
    if len(names) != 1:
        have = f"it has {', '.join(map(repr, names[:5]))}" if names else "it has none"
        raise NotFound(f"no study was named for {store.where}; {have}: name one")
    return names[0]


def _recorder(who: str | None) -> str:
    """Return who records: the one that is named, or the user."""
    return _user() if who is None else check_text("who", who, 200)


def _reason(why: object) -> str:
    return check_text("why", why, 1_000)


@contextmanager
def _opened(where: Where) -> Iterator[Store]:
    """Open a store, or make it; close it again if what follows fails, unless others have it."""
    store = open_store(where, create=True)
    try:
        yield store
    except BaseException:
        if store is not where:
            store.close()
        raise


def _user() -> str:
    """Return the name of the user."""
    with suppress(OSError, KeyError, ImportError):
        return check_text("who", getpass.getuser(), 200)
    return "unknown"


def _plain(config: Config) -> dict[str, Any]:
    """Return a configuration as the log keeps it."""
    kept: dict[str, Any] = json.loads(config.text)
    return kept


def _stamp(time: datetime) -> str:
    """Write a time in UTC, so that texts sort as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _past(given: datetime | str, now: datetime) -> str:
    """Return when something was observed, or refuse what is no time or still to come."""
    time = None
    with suppress(ValueError, OverflowError):  # The first and last years have no other zones.
        said = datetime.fromisoformat(given) if isinstance(given, str) else given
        time = said.astimezone(UTC) if isinstance(said, datetime) else None
    if time is None or time > now + _AHEAD:
        raise InvalidInput(
            f"observed = {given!s} was given; it must be a time that is past, such as"
            " 2026-11-16T08:30"
        )
    return _stamp(time)


def _index(case: object) -> int:
    return check_whole("case", case, 1, rules.MOST_CASES)


def _page(after: object, limit: object) -> tuple[int, int]:
    return (
        check_whole("after", after, 0, rules.MOST_CASES),
        check_whole("limit", limit, 1, _MOST_ROWS),
    )
