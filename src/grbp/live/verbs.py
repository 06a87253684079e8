"""The verbs of a study: everything that can be asked of it, whoever carries it out.

The signatures here are the only ones. From them and from the table of parameters the server makes
its routes and their description, the client what it sends, and the shell its options.
"""
# ruff: noqa: B027
# mypy: disable-error-code="empty-body"
# (`verb` gives each the body that carries it out.)

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, wraps
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, Self, TypeVar, cast, get_args

from grbp._io import write_whole
from grbp.errors import InvalidInput
from grbp.learners.registry import LearnerLike
from grbp.live.advice import Advice, AnyBasis, Case, Status
from grbp.live.config import Config, check_groups, make_config
from grbp.live.labels import find_labels
from grbp.live.learner_names import choose_learner
from grbp.live.log_file import read_log
from grbp.live.parameters import PARAMETERS, Parameter
from grbp.live.queries import Moment
from grbp.live.schema import Event
from grbp.live.starts import DRAWN
from grbp.live.store import Where
from grbp.live.verify import Verified
from grbp.worlds.labels import Labels
from grbp.worlds.transition import Action

P = ParamSpec("P")
T = TypeVar("T")


def verb(signature: Callable[P, T]) -> Callable[P, T]:
    """Let a method, of which only the signature is written, check what is given and be done."""
    name = signature.__name__

    @wraps(signature)
    def do(*args: P.args, **given: P.kwargs) -> T:
        signature(*args, **given)  # It does nothing but refuse what it cannot be given.
        (study, *by_place), takes = cast("Any", args), parameters_of(name)
        known = given | dict(zip(takes, by_place, strict=False))
        for parameter, how in takes.items():
            value = known.get(parameter, how.default)
            known[parameter] = value if value is None and how.nullable else how.check(value)
        return cast("T", study._carry_out(name, known))

    return do


class Verbs(ABC):
    """A study, in a store or at a server, and what can be asked of it."""

    name: str
    goal: int
    labels: Labels
    _where: str

    @property
    @abstractmethod
    def read_only(self) -> str | None:
        """Why the study cannot be written to; None if it can."""

    @abstractmethod
    def _carry_out(self, verb: str, given: dict[str, Any]) -> Any:
        """Carry a verb out with what is given, which was checked; return its answer."""

    @abstractmethod
    def _count_records(self, *, by_state: bool = False, groups: Sequence[str] | None = None) -> Any:
        """Count the steps that stand in the log and count by now, for another study to begin with.

        Where the groups of the other are those of this one, each has its own. What this one began
        with is counted as well, if it is known by state where that is asked for.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the file or the connections."""

    @classmethod
    @abstractmethod
    def _make(
        cls, store: Any, config: Config, given: dict[str, Any], options: dict[str, Any]
    ) -> Self:
        """Make a study of a configuration, or of the same as it was given."""

    @classmethod
    @abstractmethod
    def _import(cls, store: Any, path: Path, options: dict[str, Any]) -> Self:
        """Record a study from a file that was read."""

    @classmethod
    @abstractmethod
    def _names(cls, store: Any, *, archived: bool, **options: Any) -> list[str]:
        """List the studies."""

    def __repr__(self) -> str:
        note = f", read-only: {self.read_only}" if self.read_only else ""
        return f"<{type(self).__name__}({self._where!r}, {self.name!r}): goal {self.goal}{note}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_target(self, path: Path | str) -> Path:
        """Return where to write a file, or refuse to."""
        return Path(path)

    @classmethod
    def names(cls, store: Where, *, archived: bool = False, **options: Any) -> list[str]:
        """List the studies of a store, or of a server, by their names.

        Parameters
        ----------
        store : str or Path
            Where they are, as for `create`.
        archived : bool, default False
            Whether to list also those that are archived.
        **options
            For a server: token and timeout, as for `Client`.

        Returns
        -------
        list of str

        Raises
        ------
        NotFound
            If there is no such store.
        """
        return cls._names(store, archived=archived, **options)

    @classmethod
    def create(  # noqa: PLR0913
        cls,
        store: Where,
        name: str,
        goal: int,
        learner: LearnerLike | None = None,
        *,
        model: str | None = None,
        memory: float | str | None = None,
        groups: Sequence[str] | None = None,
        seed: int = 0,
        start: Any = DRAWN,
        cases: float | None = None,
        windows: Mapping[str, float] | None = None,
        shadow: bool = False,
        level: float = 0.95,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        case_name: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Make a study, and the SQLite file or the tables if they are missing.

        As long as no case was opened, a study of the same name is configured anew; from then on
        its configuration is locked.

        Parameters
        ----------
        store : str or Path
            A SQLite file, or the address of a PostgreSQL database (``"postgresql://..."``); for a
            `Client` the address of a server.
        name : str
            The name of the study: one line of up to 64 characters.
        goal : int
            The state in which a case is won.
        learner : str or Learner, optional
            The learner, with constants if they are to be others: ``"getbe-sm:gamma=30"``. By
            default it is that of the model. A server takes the names of the package's alone.
        model : {"one", "state", "averaged"}, optional
            What the advice takes for granted: one chance for all states, as the paper does; one in
            each state; or both, weighed by what was seen. By default that of the learner, which is
            "doorstep-optimal" for "one".
        memory : float or "averaged", optional
            How many cases are remembered, or an average over several memories, for chances that
            change over time; by default nothing is forgotten.
        groups : sequence of str, optional
            The names of groups, such as wards. Each case is of one of them, and each of them has
            counters of its own; nothing is pooled.
        seed : int, default 0
            The seed of the learner's draws and of the first estimates.
        start : "drawn", "first", Counters, StateCounters, Fit, Study or Client, default "drawn"
            Where the study begins: with first estimates that are drawn, as the paper's experiments
            have them (by state nothing is drawn); with one first CONTINUE and one first FINISH, as
            Algorithm 1 says; or with what past cases tell, as `fit` or another study counted them.
            Those of another study are the steps that count in its log and what it began with; with
            the same groups each group begins with its own, else all of them with all.
        cases : int, optional
            About how many cases there will be, if that is known: the learner then knows how long
            what it learns is of use. Rather say too many than too few; those of the records do not
            count. The learner must have a constant ``horizon``, which is set. Nothing is refused
            beyond that number: the study goes on as if it did not know how many come.
        windows : dict, optional
            For "continue" or "finish", the days after which an outcome counts, however early it
            is told. Where bad outcomes are known sooner than good ones, estimates are wrong
            without it.
        shadow : bool, default False
            Whether to advise nobody and learn by watching.
        level : float, default 0.95
            The level of the intervals.
        states : sequence of str, optional
            What the states are called, from the dead end to the goal: goal + 1 words. These and
            the other words are those of a fit or of a study that is the start, unless given.
        actions : sequence of str, optional
            What continuing and finishing are called: two words.
        case_name : str or pair of str, optional
            What a case is called, such as ``"patient"``; or also what several are called, such as
            ``("person", "people")``.
        **options
            As for `Study` or `Client`, such as who records.

        Returns
        -------
        Study or Client

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

        Begin again from its cases with a chance for each state:

        >>> old = grbp.Study.create("memory", "ward", 4)
        >>> _ = old.open_case(2), old.tell(1, 3)
        >>> new = grbp.Study.create("memory", "ward, by state", 4, model="state", start=old)
        >>> status = new.status()
        >>> status.model, status.start, new.basis(new.open_case(2).case).c_up
        ('state', 'records', 1)

        Call things by their names:

        >>> states = ["dead", "severe", "moderate", "mild", "home"]
        >>> study = grbp.Study.create(
        ...     "memory", "ward", 4, states=states, actions=["medication", "surgery"],
        ...     case_name="patient",
        ... )
        >>> print(study.open_case("moderate"))
        Patient 1 is in moderate (2): medication. Then tell severe (1) or mild (3).
        """
        chosen, granted = choose_learner(learner, model, memory, goal)
        named = check_groups(groups)
        labels = find_labels(start, goal, states, actions, case_name)
        if isinstance(start, Verbs):
            if start.goal != goal:
                raise InvalidInput(
                    f"a study with another goal was given; it must be one with goal {goal}"
                )
            start = start._count_records(by_state=granted != "one", groups=named)
        settings = {"seed": seed, "start": start, "windows": windows, "shadow": shadow}
        settings |= {"level": level, "groups": named, "labels": labels, "model": granted}
        config = make_config(name, goal, chosen, cases, settings)
        given = {"learner": chosen, "cases": cases, "windows": windows}
        return cls._make(store, config, given, options)

    @classmethod
    def import_(cls, store: Where, path: Path | str, **options: Any) -> Self:
        """Record an exported study in a store, which may be of another kind; all of it or nothing.

        Parameters
        ----------
        store : str or Path
            See `Study.create`.
        path : Path or str
            What `export` wrote.
        **options
            As for `Study` or `Client`.

        Returns
        -------
        Study or Client

        Raises
        ------
        InvalidInput
            If the file is not an export, or was changed.
        Conflict
            If the store has a study of this name.
        """
        read_log(Path(path))  # A file that is not an export makes no store, and is not sent.
        return cls._import(store, Path(path), options)

    @verb
    def open_case(
        self,
        state: int | str,
        *,
        group: str | None = None,
        code: str | None = None,
        key: str | None = None,
        observed: datetime | str | None = None,
        who: str | None = None,
    ) -> Advice:
        """Open a case, and decide how it is to be played.

        Parameters
        ----------
        state : int or str
            The state of the case, from 1 to goal - 1, or its word.
        group : str, optional
            Its group, in a study with groups; it never changes.
        code : str, optional
            A short code, such as a bed or a pseudonym, of 1 to 16 characters; never the name of a
            person. It is not in the log, and in no export unless it is asked for; see `set_code`.
        key : str, optional
            An idempotency key of this one request, such as a UUID: asked again within a day, with
            the same words and by the same person, the study returns the answer it gave, and
            records nothing (`Advice.replayed`). Any other use of a key that is in the log is
            refused, also a later one, and one for a case that is over by then.
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
            If there is no such state, or the group is missing, unknown or not wanted.
        Conflict
            If the code is that of another case in progress; if the key was used for something
            else, by somebody else, or more than a day ago; or if the study is archived.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> key = "0b1f7c9e-5d1c-4a53-9c0e-3d6f0a1c2b7e"
        >>> study.open_case(2, key=key).case
        1
        >>> again = study.open_case(2, key=key)
        >>> again.case, again.replayed
        (1, True)
        """

    @verb
    def tell(  # noqa: PLR0913
        self,
        case: int,
        state: int | str,
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
        case : int
        state : int or str
            The state of the case now, or its word.
        took : Action or str, optional
            What was done, "continue" or "finish" or the study's own word for it, where it is not
            what was advised.
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

    @verb
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

    @verb
    def withdraw_case(
        self, case: int, why: str, *, key: str | None = None, who: str | None = None
    ) -> Advice:
        """Withdraw a case: what was observed stays, and nothing more is expected.

        It counts for no threshold, and is neither won nor lost. `Session.withdraw_case` counts the
        same, but gives the next case the same number; here a case keeps it, as it is its round.

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

    @verb
    def undo(self, case: int, *, key: str | None = None, who: str | None = None) -> Advice:
        """Take back one's own last entry of a case, within 15 minutes; no reason is asked for.

        The entry may be a step or a withdrawal. A case that was opened by mistake is withdrawn.
        What was recorded stays in the log, which says that it was undone.

        Parameters
        ----------
        case : int
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
            If somebody else recorded the last entry, or if that was more than 15 minutes ago:
            `void` takes back any last entry, with a reason.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2)
        >>> study.tell(1, 3).state, study.undo(1).state
        (3, 2)
        """

    @verb
    def set_code(self, case: int, code: str | None, *, who: str | None = None) -> Case:
        """Give a case a short code, change it, or erase it; the log does not have it.

        What it was before is not kept; backups that were made before still have it.

        Parameters
        ----------
        case : int
        code : str or None
            Such as a bed or a pseudonym, of 1 to 16 characters, never the name of a person; None
            erases it.
        who : str, optional
            Who gives it, if not the one of the study.

        Returns
        -------
        Case

        Raises
        ------
        NotFound
            If there is no such case.
        Conflict
            If it is the code of another case, and both are in progress; or if the study is
            archived, in which codes can only be erased.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.open_case(2, code="B-12").code, study.set_code(1, "B-13").code
        ('B-12', 'B-13')
        >>> study.set_code(1, None).code is None
        True
        """

    @verb
    def archive(self, why: str, *, who: str | None = None) -> Status:
        """Close the study for entries: it is kept and can be read, and lists leave it out.

        Parameters
        ----------
        why : str
            Why it is closed; the log keeps it.
        who : str, optional
            Who records, if not the one of the study.

        Returns
        -------
        Status
            With `archived`. One that is archived already stays as it is.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> study.archive("the ward was closed").archived is None
        False
        >>> study.open_case(2)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        grbp.errors.Conflict: something was to be recorded in the study 'ward'; it is archived ...
        """

    @verb
    def unarchive(self, why: str, *, who: str | None = None) -> Status:
        """Open an archived study for entries again.

        Parameters
        ----------
        why : str
        who : str, optional
            See `archive`.

        Returns
        -------
        Status

        Raises
        ------
        Conflict
            If it is not archived.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.archive("the ward was closed")
        >>> study.unarchive("it opens again").archived is None
        True
        """

    @verb
    def change_learner(self, learner: LearnerLike, why: str, *, who: str | None = None) -> Status:
        """Let another learner decide the next cases, from all that was counted so far.

        Cases in progress go on by what was decided for them, and the log says which learner
        decided which cases.

        Parameters
        ----------
        learner : str or Learner
            As for `create`. It must decide as the former one did, a threshold or by state, and
            remember as many cases.
        why : str
            Why it is changed; the log keeps it, and shows it in shadow mode as well.
        who : str, optional
            See `archive`.

        Returns
        -------
        Status

        Raises
        ------
        InvalidInput
            If it could not go on from what was counted.
        Conflict
            If the study has this learner already, or is archived.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", 4, "getbe-sm")
        >>> _ = study.open_case(2)
        >>> study.change_learner("doorstep-optimal", "it loses less").learner
        'doorstep-optimal'
        >>> study.basis(1).learner, study.basis(study.open_case(2).case).learner
        ('getbe-sm', 'doorstep-optimal')
        """

    @verb
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

    @verb
    def case(self, case: int) -> Case:
        """Return a case.

        Parameters
        ----------
        case : int
            The number of the case.

        Returns
        -------
        Case
        """

    @verb
    def basis(self, case: int, state: int | None = None) -> AnyBasis | None:
        """Give the reasons for what is advised in a state of a case, from when it was opened.

        Parameters
        ----------
        case : int
        state : int, optional
            A state from 1 to goal - 1, by default the present one.

        Returns
        -------
        Basis, StateBasis or None
            None in shadow mode.
        """

    @verb
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

    @verb
    def find_cases(self, code: str, limit: int = 100) -> list[Case]:
        """Find the cases with a code: those in progress first, then the last ones first.

        Parameters
        ----------
        code : str
            All of the code; small and capital letters are the same.
        limit : int, default 100
            How many to return at most.

        Returns
        -------
        list of Case

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.open_case(3, code="B-12")
        >>> [case.case for case in study.find_cases("b-12")]
        [2]
        """

    @verb
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

    @verb
    def find_taken_back(self, events: Iterable[Event]) -> set[int]:
        """Find out which events were taken back, now or later, by reading the cases they are about.

        Parameters
        ----------
        events : iterable of Event
            Such as a page of the log.

        Returns
        -------
        set of int
            The numbers of those that were taken back; there may be others of the same cases.

        Examples
        --------
        >>> import grbp
        >>> study = grbp.Study.create("memory", "ward", goal=4)
        >>> _ = study.open_case(2), study.tell(1, 3), study.undo(1)
        >>> study.find_taken_back(study.log())
        {3}
        """

    @verb
    def trajectory(self, points: int = 100) -> list[Moment]:
        """Return what was known after some events, evenly spaced, and after the last one."""

    @verb
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

    @verb
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

    @verb
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

    def export(self, path: Path | str) -> Path:
        """Write the log to a file, a line of JSON for each event, whole or not at all.

        Parameters
        ----------
        path : Path or str

        Returns
        -------
        Path
        """
        return write_whole(self._check_target(path), self.export_lines(), 0o600)

    @verb
    def export_lines(self) -> Iterator[bytes]:
        """Yield the lines that `export` writes.

        Returns
        -------
        iterator of bytes
            A head, then the events, up to the last one there is now.
        """

    @verb
    def export_steps(self, path: Path | str, *, codes: bool = False) -> Path:
        """Write all steps to a CSV file, as `fit` and ``grbp fit`` read them.

        Beside the numbers stand the study's words, what was advised, why something else was done,
        who recorded it, and when.

        Parameters
        ----------
        path : Path or str
        codes : bool, default False
            Whether to write the short codes of cases as well, which may point to people.

        Returns
        -------
        Path
        """

    @verb
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


@cache
def parameters_of(verb: str) -> dict[str, Parameter]:
    """Return the parameters of a verb, or those of a new study, as the signature has them."""
    return {
        name: PARAMETERS.get(f"{verb}.{name}", PARAMETERS.get(name, Parameter({})))._replace(
            default=one.default, nullable=NoneType in get_args(one.annotation)
        )
        for name, one in inspect.signature(getattr(Verbs, verb)).parameters.items()
        if name not in ("self", "store", "options")
    }


@cache
def answer_of(verb: str) -> Any:
    """Return the type of what a verb answers."""
    return inspect.signature(getattr(Verbs, verb)).return_annotation
