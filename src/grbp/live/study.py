"""A study: cases opened, asked about, told and corrected, of which nothing is lost."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from grbp.errors import Conflict, ReadOnly
from grbp.learners.registry import LearnerLike
from grbp.live import arguments
from grbp.live.advice import Advice, Case, make_advice, make_case
from grbp.live.calls import Call
from grbp.live.codes import read_codes, refuse_shared_code, set_code
from grbp.live.config import Config, describe_learner, load_config, this_version
from grbp.live.log_file import check_target, import_log
from grbp.live.queries import (
    QUERIES,
    Opened,
    count_all,
    find_only_study,
    find_study,
    list_current,
)
from grbp.live.recording import record, undo
from grbp.live.row_checks import find_checked
from grbp.live.schema import ARCHIVE, LEARNER, UNARCHIVE, loads
from grbp.live.store import Where, open_or_make_store, open_store
from grbp.live.store.base import Store, Transaction
from grbp.live.verbs import Verbs

RECORDED: Final = {
    "open_case": "open",
    "tell": "tell",
    "void": "void",
    "withdraw_case": "close",
    "archive": ARCHIVE,
    "unarchive": UNARCHIVE,
}
"""The kind of event that each verb records; `undo` finds out which it is."""


class Study(Verbs):
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

    def __init__(
        self,
        store: Where,
        name: str | None = None,
        *,
        who: str | None = None,
        learner: LearnerLike | None = None,
        clock: Callable[[], datetime] = arguments.utc_now,
    ) -> None:
        self._who = arguments.check_recorder(who)
        own = None if isinstance(learner, str) else learner  # A name is in the configuration.
        self._clock = clock
        self._store = open_store(store)
        self._where = self._store.where
        try:
            self.name = (
                find_only_study(self._store)
                if name is None
                else arguments.check_text("name", name, 64)
            )
            self._opened = Opened(self._store, self.name, own)
            config = self._opened.look()
        except BaseException:
            if not isinstance(store, Store):
                self.close()
            raise
        self.goal, self.labels = config.goal, config.words

    @property
    def read_only(self) -> str | None:
        """Why the study cannot be written to; None if it can."""
        return self._opened.read_only

    def close(self) -> None:
        """Let go of the file or the connection."""
        self._store.close()

    @classmethod
    def _names(cls, store: Where, *, archived: bool) -> list[str]:  # type: ignore[override]
        """List the studies of a store, which needs no options."""
        opened = open_store(store)
        try:
            return opened.studies() if archived else list_current(opened)
        finally:
            if opened is not store:
                opened.close()

    @classmethod
    def _make(
        cls, store: Where, config: Config, given: dict[str, Any], options: dict[str, Any]
    ) -> Self:
        who, clock = options.get("who"), options.get("clock", arguments.utc_now)
        call = Call(arguments.check_recorder(who), arguments.format_time(clock()))
        with open_or_make_store(store) as opened:
            for reason in opened.checks():
                raise ReadOnly(f"a study was to be made in {opened.where}: {reason}")
            checked = find_checked(opened, config.name)
            checked.write(lambda tx: record(tx, call, "study", config=loads(config.text)))
            return cls(opened, config.name, learner=given["learner"], **options)

    @classmethod
    def _import(cls, store: Where, path: Path, options: dict[str, Any]) -> Self:
        with open_or_make_store(store) as opened:
            return cls(opened, import_log(opened, path), **options)

    def _check_target(self, path: Path | str) -> Path:
        """Return where to write a file, which must not be the store itself."""
        return check_target(path, self._store)

    def _count_records(self, *, by_state: bool = False, groups: Sequence[str] | None = None) -> Any:
        return count_all(self._opened, by_state=by_state, groups=groups)

    def _carry_out(self, verb: str, given: dict[str, Any]) -> Any:
        """Carry a verb out in the store: by a query, or by what it writes."""
        if verb in QUERIES:
            return QUERIES[verb](self._opened, **given)
        call = self._sign(given.pop("key", None), given.pop("observed", None), given.pop("who"))
        if verb == "set_code":
            return self._set_code(call, **given)
        if verb == "change_learner":
            self._change_learner(call, **given)
        elif verb in ("archive", "unarchive"):
            self._opened.write(lambda tx: record(tx, call, RECORDED[verb], **given))
        else:
            return self._advise(call, verb, **given)
        return self.status()

    def _sign(self, key: str | None, observed: str | None, who: str | None) -> Call:
        """Say who asks, and when."""
        who = self._who if who is None else arguments.check_recorder(who)
        now, learner = arguments.format_time(self._clock()), self._opened.learner
        return Call(who, now, key or "", observed or "", learner, this_version())

    def _set_code(self, call: Call, case: int, code: str | None) -> Case:
        """Give a case a code, which no event has."""

        def write(tx: Transaction) -> Case:
            study = find_study(tx, self.name)
            row = set_code(tx, call, study, case, code)
            return make_case(load_config(study.config), row, code)

        return self._opened.write(write)

    def _change_learner(self, call: Call, learner: LearnerLike, why: str) -> None:
        """Let another learner decide the next cases, unless the study has it and it decides."""
        kept, constants = describe_learner(learner, self.goal)
        own = None if isinstance(learner, str) else learner
        then = Opened(self._store, self.name, own)

        def write(tx: Transaction) -> None:
            study = find_study(tx, self.name)
            config = load_config(study.config)
            same = (kept, constants) == (config.learner, config.constants)
            if same and then.find_doubt(tx, study) is None:
                raise Conflict(
                    f"the learner of the study {self.name!r} was to be changed to"
                    f" {config.learner_name}; it has that one already"
                )
            record(tx, call, LEARNER, learner=kept, constants=constants, why=why)

        self._opened.write(write)
        self._opened.learner = own

    def _advise(self, call: Call, verb: str, *, code: str | None = None, **request: Any) -> Advice:
        """Record something, and return the advice that follows; a new case may get a code."""

        def write(tx: Transaction) -> Advice:
            asked = call
            if verb == "open_case":
                doubt = self._opened.find_doubt(tx, find_study(tx, self.name))
                asked = call._replace(doubt=doubt or "")
            if verb == "undo":
                answer = undo(tx, asked, **request)
            else:
                answer = record(tx, asked, RECORDED[verb], **request)
            event, study, row, replayed = answer
            if code is not None and not replayed:
                set_code(tx, call, study, row.case, code)
            elif event.kind == "void" and not replayed:
                refuse_shared_code(tx, study, row)
            own = read_codes(tx, [row]).get(row.case)
            config = load_config(study.config)
            return make_advice(config, study, row, event.seq, code=own, replayed=replayed)

        return self._opened.write(write)
