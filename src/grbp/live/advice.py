"""What a study answers: advice on a case, a case, and how the study stands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

from grbp._format import as_plain
from grbp.fitting.watch import Alarm
from grbp.live.basis import Basis, StateBasis, explain
from grbp.live.config import Config, this_version
from grbp.live.ledger import Known, advise, load_known
from grbp.live.schema import OPEN, CaseRow, StudyRow
from grbp.live.starts import DRAWN
from grbp.live.wording import describe_advice
from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action

AnyBasis: TypeAlias = Basis | StateBasis
"""The reasons of a learner of thresholds, or of one by state."""


@dataclass(frozen=True)
class Advice:
    """What to do next with a case, and why.

    Attributes
    ----------
    study : str
        The name of the study.
    case, rho : int
        The number of the case, which is its round: its place in the order of opening.
    state : int
        The present state.
    status : str
        "open", "won" (at the goal), "lost" (in the dead end) or "closed" (withdrawn).
    step : int
        How many steps were told.
    action : Action or None
        What to do next; None if the case is over, or the study is in shadow mode.
    shadow : bool
        Whether the study advises nobody.
    event : int or None
        The number of the event that recorded the request; None after `Study.ask`.
    replayed : bool
        Whether that was before: the same was asked again, and nothing was recorded now.
    group : str or None
        The group of the case; None in a study without groups.
    code : str or None
        The short code of the case now, such as a bed; None without one.
    warnings : tuple of str
        A sentence for each alarm that has risen by now and speaks against what the advice takes
        for granted. It changes no advice.
    labels : Labels
        What the study calls its states, actions and cases.
    """

    study: str
    case: int
    rho: int
    state: int
    status: str
    step: int
    action: Action | None
    shadow: bool
    event: int | None
    replayed: bool = field(compare=False)
    group: str | None
    code: str | None = field(compare=False)
    warnings: tuple[str, ...] = field(compare=False)
    labels: Labels = field(compare=False)
    _explain: Callable[[], AnyBasis] = field(repr=False, compare=False)

    @cached_property
    def basis(self) -> AnyBasis | None:
        """The reasons, from what was known when the case was opened; None without an action."""
        return None if self.action is None else self._explain()

    def __str__(self) -> str:
        return describe_advice(self)

    def to_dict(self, *, basis: bool = True) -> dict[str, Any]:
        """Return all of it in plain types, as JSON has them; without the reasons if so asked.

        Parameters
        ----------
        basis : bool, default True
            Whether to give the reasons, which take a while to compute.

        Returns
        -------
        dict
        """
        reasons = self.basis if basis else None
        named = {one.name: as_plain(getattr(self, one.name)) for one in fields(self) if one.repr}
        action = None if self.action is None else self.action.name.lower()
        return named | {"action": action, "basis": as_plain(reasons)}


def make_advice(
    config: Config,
    study: StudyRow,
    row: CaseRow,
    event: int | None,
    *,
    code: str | None = None,
    replayed: bool = False,
) -> Advice:
    """Return the advice on a case."""
    advised = None if config.shadow else advise(config, row)
    action = None if advised is None else Action[advised.upper()]
    return Advice(
        study=config.name, case=row.case, rho=row.case, state=row.state, status=row.status,
        step=row.steps, action=action, shadow=config.shadow, event=event,
        replayed=replayed, group=row.group or None, code=code,
        warnings=() if action is None else find_warnings(config, study),
        labels=config.words,
        _explain=partial(case_basis, config, row),
    )  # fmt: skip


def find_warnings(config: Config, study: StudyRow) -> tuple[str, ...]:
    """Return the sentences of the alarms that speak against what is taken for granted."""
    if not (alarms := find_alarms(study)):
        return ()
    found = _speak_against(alarms, config.model, config.memory, config.groups)
    return tuple(config.words.tell(alarm.sentence) for alarm in found)


def _speak_against(
    alarms: Iterable[Alarm], model: str, memory: object, groups: Sequence[str]
) -> tuple[Alarm, ...]:
    """Return the alarms of what the advice does not allow for."""
    allowed = {"state": model != "one", "time": memory is not None, "groups": bool(groups)}
    return tuple(alarm for alarm in alarms if not allowed[alarm.over])


def find_alarms(study: StudyRow) -> tuple[Alarm, ...]:
    """Return the alarms of a study that rose, the one with the most evidence first."""
    return study.alarms.alarms() if study.alarms else ()


def case_basis(config: Config, row: CaseRow) -> AnyBasis:
    """Return the reasons for what is advised in the present state of a case."""
    config = config.at(row.case)
    known = load_known(config, row.known)
    return explain(config, known, row.state, row.threshold, row.version)


def explain_states(config: Config, known: Known, choice: int | None) -> tuple[StateBasis, ...]:
    """Return what is known in each state, and what a policy takes there; nothing for thresholds."""
    found = [
        explain(config, known, state, choice or 0, this_version())
        for state in range(1, config.goal if config.by_state else 1)
    ]
    return tuple(one for one in found if isinstance(one, StateBasis))


@dataclass(frozen=True)
class Case:
    """A case of a study.

    Attributes
    ----------
    case, rho : int
        Its number, which is its round.
    first, state : int
        The state in which it was opened, and the present one.
    status : str
        "open", "won", "lost" or "closed".
    steps, overridden : int
        The steps told, and those of them in which something else was done than advised; in shadow
        mode, a `Client` whose role is less than statistician gets None for the latter.
    held : int
        The steps that do not count yet, because their windows are not over.
    action : str or None
        What is advised now; None if it is over, or the study is in shadow mode.
    opened, since : str
        When its opening was recorded, and since when it has been in its state.
    group : str or None
        Its group; None in a study without groups.
    code : str or None
        Its short code, such as a bed; None without one.
    """

    case: int
    rho: int
    first: int
    state: int
    status: str
    steps: int
    overridden: int
    held: int
    action: str | None
    opened: str
    since: str
    group: str | None = None
    code: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return dict(vars(self))


def make_case(config: Config, row: CaseRow, code: str | None = None) -> Case:
    """Return a case as a user sees it."""
    action = None if config.shadow else advise(config, row)
    return Case(
        row.case, row.case, row.first, row.state, row.status, row.steps, row.overridden, row.held,
        action, row.opened, row.since, row.group or None, code,
    )  # fmt: skip


class GroupStatus(NamedTuple):
    """How a group of a study stands.

    Attributes
    ----------
    opened, pending : int
        How many of its cases were opened, and the pending FINISH among them.
    next_threshold : int or None
        The threshold, or the policy, that a case of it would get now.
    basis : Basis or StateBasis
        What is known of both actions in state 1.
    """

    opened: int
    pending: int
    next_threshold: int | None
    basis: AnyBasis

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return self._asdict() | {"basis": self.basis.to_dict()}


@dataclass(frozen=True)
class Status:
    """How a study stands.

    Of a study in shadow mode, a `Client` whose role is less than statistician gets None for the
    learner, the seed, the start, how many cases are planned, what is pending, the head, the next
    threshold, the basis, the model, the memory, the alarms and the groups one by one.

    Attributes
    ----------
    study : str
    goal : int
    learner, version : str
        The learner, and the version of this package that made the study.
    seed : int
        The seed of the learner's draws.
    start : str
        How it began: "drawn", "first", "records" or, by state, "nothing".
    windows : dict
        For an action, the days after which its outcome counts, if it has a window.
    shadow : bool
        Whether the study advises nobody.
    cases : dict
        The number of cases by status, and of all.
    planned : int or None
        For how many cases the study is planned; None if nobody said.
    pending : int
        FINISH that was advised or taken and does not count yet.
    events : int
    head : str
        The number of events, and the hash of the last one.
    read_only : str or None
        Why the study cannot be written to, if it cannot.
    next_threshold : int or None
        The threshold that a case would get now; None if it cannot be decided, or if there are
        groups. Of a learner by state it is the policy, with bit s - 1 for FINISH in state s.
    basis : Basis or StateBasis
        What is known of both actions in state 1, of all groups together.
    archived : str or None
        Since when the study is archived, and takes no entries; None if it is not.
    model : str
        What the advice takes for granted: "one" chance for all states, one in each "state", or
        both "averaged".
    memory : float, str or None
        How many cases are remembered, or "averaged"; None if nothing is forgotten.
    groups : tuple of str
        The names of the groups; empty without groups.
    by_group : dict of GroupStatus
        How each group stands.
    by_state : tuple of StateBasis
        Of a learner by state, what is known of both actions in each state, of all groups together.
    alarms : tuple of Alarm or None
        The alarms that rose, the one with the most evidence first; None if the study, which an
        older version made, does not watch its cases.
    labels : Labels
        What the study calls its states, actions and cases.
    undecided : str or None
        Why no case can be opened, and what to do, where the learner cannot decide any more; cases
        in progress go on by what was decided for them.
    """

    study: str
    goal: int
    learner: str
    version: str
    seed: int
    start: str
    windows: dict[str, float]
    shadow: bool
    cases: dict[str, int]
    planned: int | None
    pending: int
    events: int
    head: str
    read_only: str | None
    next_threshold: int | None
    basis: AnyBasis
    archived: str | None
    model: str
    memory: float | str | None
    groups: tuple[str, ...]
    by_group: dict[str, GroupStatus]
    by_state: tuple[StateBasis, ...]
    alarms: tuple[Alarm, ...] | None
    labels: Labels = NO_WORDS
    undecided: str | None = None

    @property
    def against(self) -> tuple[Alarm, ...]:
        """The alarms that speak against what the advice takes for granted: it warns of them."""
        return _speak_against(self.alarms or (), self.model, self.memory, self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return {name: as_plain(value) for name, value in vars(self).items()}


def make_status(
    config: Config,
    row: StudyRow,
    known: dict[str, tuple[Known, int | None]],
    read_only: str | None,
    undecided: str | None,
) -> Status:
    """Return how a study stands.

    `known` has what the next case would be decided from, and what it would get, of all groups
    together ("") and of each group by its name.
    """
    over = {"won": row.won, "lost": row.lost, "closed": row.closed}
    cases = {"opened": row.opened, OPEN: row.opened - sum(over.values()), **over}
    found = {
        name: GroupStatus(
            one.rank - 1,
            sum(one.pending),
            choice,
            explain(config, one, 1, choice or 0, this_version()),
        )
        for name, (one, choice) in known.items()
    }
    study = found.pop("")
    start = config.start if isinstance(config.start, str) else "records"
    if config.by_state and start == DRAWN:
        start = "nothing"
    return Status(
        config.name, config.goal, config.learner_name, config.version, config.seed, start,
        config.days, config.shadow, cases, config.planned, row.pending, row.seq, row.head,
        read_only, study.next_threshold, study.basis, row.archived or None, config.model,
        config.memory, tuple(config.groups), found,
        explain_states(config, known[""][0], study.next_threshold),
        find_alarms(row) if config.alarms else None,
        config.words, undecided,
    )  # fmt: skip
