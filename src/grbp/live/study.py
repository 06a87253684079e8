"""A study: cases opened, asked about, told and corrected, of which nothing is lost."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from grbp.errors import Conflict, Damaged, ReadOnly
from grbp.learners.registry import LearnerLike
from grbp.live import arguments
from grbp.live.advice import Advice, Case, Status, make_advice, make_case
from grbp.live.calls import Answer, Call
from grbp.live.choice import find_doubt
from grbp.live.codes import read_codes, refuse_shared_code, set_code
from grbp.live.config import Config, describe_learner, load_config, this_version
from grbp.live.export import check_target, import_log
from grbp.live.queries import (
    QUERIES,
    Opened,
    count_all,
    find_only_study,
    find_study,
    list_current,
    read_status,
)
from grbp.live.recording import record, undo
from grbp.live.row_checks import find_checked, keep_checked
from grbp.live.schema import ARCHIVE, LEARNER, UNARCHIVE, CaseRow, Event, StudyRow, loads
from grbp.live.store import Where, open_or_make_store, open_store
from grbp.live.store.base import Store, Transaction
from grbp.live.verbs import Verbs
from grbp.live.verify import Verified, find_fault, verify_stored

T = TypeVar("T")

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
        # A name is in the configuration.
        self._learner = None if isinstance(learner, str) else learner
        self._clock = clock
        self._store = open_store(store)
        self._where = self._store.where
        try:
            self.name = (
                find_only_study(self._store)
                if name is None
                else arguments.check_text("name", name, 64)
            )
            self._reason = self._find_reason()
        except BaseException:
            if not isinstance(store, Store):
                self.close()
            raise

    def _find_reason(self) -> str | None:
        """Say what speaks against writing, if something does; look at the rows as they are."""

        def look(tx: Transaction) -> tuple[StudyRow, list[Event], list[CaseRow]]:
            study = find_study(tx, self.name)
            return study, tx.events(study.seq - 1, 2), tx.cases(max(study.opened, 1) - 1, 2)

        with find_checked(self._store, self.name):
            study, last, cases = self._store.read(self.name, look)
            config = load_config(study.config)
            self.goal, self.labels = config.goal, config.words
            fault = find_fault(study, last, cases)
            fault = fault or self._store.missing(self.name)
            checked = keep_checked(self._store, self.name)
            self._opened = Opened(self._store, self.name, checked, self._learner)
            with suppress(Damaged):  # which is kept, and said from now on
                self._opened.read(lambda _, study: study)
            return next(iter(self._store.checks()), fault)

    @property
    def read_only(self) -> str | None:
        """Why the study cannot be written to; None if it can."""
        return self._opened.checked.damage or self._reason

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
        """Carry a verb out in the store: by a query, by a check of the whole, or by a command."""
        if verb in QUERIES:
            return QUERIES[verb](self._opened, **given)
        if verb == "status":
            return read_status(self._opened, self.read_only)
        if verb in ("verify", "replay"):
            return self._verify(decide=verb == "replay")
        call = self._sign(given.pop("key", None), given.pop("observed", None), given.pop("who"))
        own: dict[str, Callable[..., Any]] = {
            "set_code": self._set_code, "change_learner": self._change_learner,
        }  # fmt: skip
        if verb in own:
            return own[verb](call, **given)
        if verb in ("archive", "unarchive"):
            self._write(lambda tx: self._record(tx, call, verb, given))
            return self.status()
        code = given.pop("code", None)
        return self._advise(verb, call, given, code)

    def _verify(self, *, decide: bool) -> Verified:
        """Check the study; write again where all is well, and not where something is damaged."""
        checked = self._opened.checked
        with checked:
            found = verify_stored(self._store, self.name, self._learner, decide=decide)
        if not (decide and found.problems):  # A decision that comes out differently may be sound.
            checked.note_check(found.problems)
        if found.ok:
            self._reason = self._find_reason()
        return found

    def _sign(self, key: str | None, observed: str | None, who: str | None) -> Call:
        """Say who asks, and when."""
        who = self._who if who is None else arguments.check_recorder(who)
        now = arguments.format_time(self._clock())
        return Call(who, now, key or "", observed or "", self._learner, this_version())

    def _write(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that writes, unless something speaks against it."""
        if self.read_only:
            raise ReadOnly(f"the study {self.name!r} can only be read: {self.read_only}")
        return self._opened.checked.write(script)

    def _set_code(self, call: Call, case: int, code: str | None) -> Case:
        """Give a case a code, which no event has."""

        def write(tx: Transaction) -> Case:
            study = find_study(tx, self.name)
            row = set_code(tx, call, study, case, code)
            return make_case(load_config(study.config), row, code)

        return self._write(write)

    def _change_learner(self, call: Call, learner: LearnerLike, why: str) -> Status:
        """Let another learner decide the next cases, unless the study has it and it decides."""
        kept, constants = describe_learner(learner, self.goal)
        own = None if isinstance(learner, str) else learner

        def write(tx: Transaction) -> None:
            study = find_study(tx, self.name)
            config = load_config(study.config)
            last = tx.case(study.opened) if study.opened else None
            same = (kept, constants) == (config.learner, config.constants)
            if same and find_doubt(config, last, own) is None:
                raise Conflict(
                    f"the learner of the study {self.name!r} was to be changed to"
                    f" {config.learner_name}; it has that one already"
                )
            record(tx, call, LEARNER, learner=kept, constants=constants, why=why)

        self._write(write)
        self._learner = self._opened.learner = own
        return self.status()

    def _record(self, tx: Transaction, call: Call, verb: str, request: dict[str, Any]) -> Answer:
        """Record what a verb asks for."""
        if verb == "open_case":
            doubt = self._opened.find_doubt(tx, find_study(tx, self.name))
            call = call._replace(doubt=doubt or "")
        if verb == "undo":
            return undo(tx, call, **request)
        return record(tx, call, RECORDED[verb], **request)

    def _advise(self, verb: str, call: Call, request: dict[str, Any], code: str | None) -> Advice:
        """Record something, and return the advice that follows; a new case may get a code."""

        def write(tx: Transaction) -> Advice:
            event, study, row, replayed = self._record(tx, call, verb, request)
            if code is not None and not replayed:
                set_code(tx, call, study, row.case, code)
            elif event.kind == "void" and not replayed:
                refuse_shared_code(tx, study, row)
            own = read_codes(tx, [row]).get(row.case)
            config = load_config(study.config)
            return make_advice(config, study, row, event.seq, code=own, replayed=replayed)

        return self._write(write)
