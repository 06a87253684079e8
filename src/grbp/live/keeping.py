"""The part of a study that is about it as a whole: it is made, brought in, archived."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from grbp.errors import InvalidInput, ReadOnly
from grbp.learners.registry import LearnerLike
from grbp.live import arguments
from grbp.live.advice import Status
from grbp.live.calls import Call
from grbp.live.config import check_groups, make_config, this_version
from grbp.live.export import import_log, read_log
from grbp.live.labels import find_labels
from grbp.live.models import choose_learner, is_by_state, name_learner
from grbp.live.reader import StudyReader
from grbp.live.reading import list_current
from grbp.live.recording import record
from grbp.live.row_checks import find_checked
from grbp.live.schema import ARCHIVE, UNARCHIVE, loads
from grbp.live.starts import DRAWN
from grbp.live.store import Where, open_or_make_store, open_store
from grbp.live.store.base import Transaction

T = TypeVar("T")


class StudyKeeper(StudyReader):
    """A study that is made and archived; `grbp.Study` also records cases."""

    @staticmethod
    def names(store: Where, *, archived: bool = False) -> list[str]:
        """List the studies of a store by their names.

        Parameters
        ----------
        store : str or Path
            See `Study`.
        archived : bool, default False
            Whether to list also those that are archived.

        Returns
        -------
        list of str

        Raises
        ------
        NotFound
            If there is no such store.
        """
        opened = open_store(store)
        try:
            return opened.studies() if archived else list_current(opened)
        finally:
            if opened is not store:
                opened.close()

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
        who: str | None = None,
        clock: Callable[[], datetime] = arguments.utc_now,
    ) -> Self:
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
        learner : str or Learner, optional
            The learner, with constants if they are to be others: ``"getbe-sm:gamma=30"``. By
            default it is that of the model.
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
        start : "drawn", "first", Counters, StateCounters, Fit or Study, default "drawn"
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
        learner, named = choose_learner(learner, model, memory), check_groups(groups)
        labels = find_labels(start, goal, states, actions, case_name)
        if isinstance(start, StudyReader):
            if start.goal != goal:
                raise InvalidInput(
                    f"a study with another goal was given; it must be one with goal {goal}"
                )
            start = start._count_records(by_state=is_by_state(name_learner(learner)), groups=named)
        settings = {"seed": seed, "start": start, "windows": windows, "shadow": shadow}
        settings |= {"level": level, "groups": named, "labels": labels}
        config = make_config(name, goal, learner, cases, settings)
        call = Call(arguments.check_recorder(who), arguments.format_time(clock()))
        with open_or_make_store(store) as opened:
            for reason in opened.checks():
                raise ReadOnly(f"a study was to be made in {opened.where}: {reason}")
            checked = find_checked(opened, config.name)
            checked.write(lambda tx: record(tx, call, "study", config=loads(config.text)))
            return cls(opened, config.name, who=who, learner=learner, clock=clock)

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
        return self._keep(ARCHIVE, why, who)

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
        return self._keep(UNARCHIVE, why, who)

    def _keep(self, kind: str, why: str, who: str | None) -> Status:
        """Record something about the whole study, and say how it stands."""
        call, why = self._make_call(None, None, who), arguments.check_reason(why)
        self._write(lambda tx: record(tx, call, kind, why=why))
        return self.status()

    def _write(self, script: Callable[[Transaction], T]) -> T:
        """Run a script that writes, unless something speaks against it."""
        if self.read_only:
            raise ReadOnly(f"the study {self.name!r} can only be read: {self.read_only}")
        return self._checked.write(script)

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
