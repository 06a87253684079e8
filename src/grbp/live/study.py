"""A study: cases opened, asked about, told and corrected, of which nothing is lost."""

from collections.abc import Callable
from datetime import datetime

from grbp.live import arguments
from grbp.live.advice import Advice, Case, make_advice, make_case
from grbp.live.calls import Answer, Call
from grbp.live.codes import check_code, read_codes, refuse_shared_code, set_code
from grbp.live.config import load_config
from grbp.live.keeping import StudyKeeper
from grbp.live.reading import find_study
from grbp.live.recording import record, undo
from grbp.live.store.base import Transaction
from grbp.model.transition import Action


class Study(StudyKeeper):
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
    labels : Labels
        What the states, the actions and the cases are called.
    read_only : str or None
        Why the study cannot be written to: a check failed when it was opened, or what is stored
        was found to be damaged since. Whatever would write raises `ReadOnly` then, until `verify`
        finds all well.

    Raises
    ------
    NotFound
        If there is no such store or study.
    Damaged
        If what is stored cannot be read, or does not follow from the log: nobody is advised, and
        nothing is recorded, from a row that was damaged or changed.

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
        call = self._make_call(key, observed, who)
        given = None if code is None else check_code(code)
        return self._record("open", call, given, state=state, group=group)

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
        call, number = self._make_call(key, observed, who), arguments.check_case(case)
        took = took.name.lower() if isinstance(took, Action) else took
        why = "" if isinstance(why, str) and not why else arguments.check_reason(why)
        return self._record("tell", call, case=number, state=state, took=took, why=why, step=step)

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
        return self._record("void", call, case=number, why=arguments.check_reason(why), step=step)

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
        return self._record("close", call, case=number, why=arguments.check_reason(why))

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
        call, number = self._make_call(key, None, who), arguments.check_case(case)
        return self._advise(lambda tx: undo(tx, call, number), call)

    def set_code(self, case: int, code: str | None, *, who: str | None = None) -> Case:
        """Give a case a short code, change it, or erase it.

        A code is not in the log. What it was before is not kept; backups that were made before
        still have it.

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
        call, number = self._make_call(None, None, who), arguments.check_case(case)
        given = None if code is None else check_code(code)

        def write(tx: Transaction) -> Case:
            study = find_study(tx, self.name)
            return make_case(
                load_config(study.config), set_code(tx, call, study, number, given), given
            )

        return self._write(write)

    def _record(self, kind: str, call: Call, code: str | None = None, **request: object) -> Advice:
        """Record something, and return the advice that follows; a new case may get a code."""
        return self._advise(lambda tx: record(tx, call, kind, **request), call, code)

    def _advise(
        self, ask: Callable[[Transaction], Answer], call: Call, code: str | None = None
    ) -> Advice:
        """Record what is asked for, and return the advice that follows."""

        def write(tx: Transaction) -> Advice:
            event, study, row, replayed = ask(tx)
            if code is not None and not replayed:
                set_code(tx, call, study, row.case, code)
            elif event.kind == "void" and not replayed:
                refuse_shared_code(tx, study, row)
            own = read_codes(tx, [row]).get(row.case)
            config = load_config(study.config)
            return make_advice(config, study, row, event.seq, code=own, replayed=replayed)

        return self._write(write)
