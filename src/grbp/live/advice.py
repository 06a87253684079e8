"""What a study answers: advice on a case, a case, and how the study stands."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, Final

from grbp.learners.counters import Counters
from grbp.live.basis import Basis, make_basis
from grbp.live.config import CONTINUE, FINISH, Config, this_version
from grbp.live.projection import advise
from grbp.live.schema import OPEN, CaseRow, StudyRow, loads
from grbp.model.transition import Action


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
    _explain: Callable[[], Basis] = field(repr=False, compare=False)

    @cached_property
    def basis(self) -> Basis | None:
        """The reasons, from what was known when the case was opened; None without an action."""
        return None if self.action is None else self._explain()

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
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}
        return named | {
            "action": None if self.action is None else self.action.name.lower(),
            "basis": None if reasons is None else reasons.to_dict(),
        }


def make_advice(
    config: Config, row: CaseRow, event: int | None, *, replayed: bool = False
) -> Advice:
    """Return the advice on a case."""
    action = None if config.shadow else _ACTIONS[advise(row)]
    advice = object.__new__(Advice)
    # A frozen class sets its fields one by one, which takes three times as long.
    vars(advice).update(
        study=config.name, case=row.case, rho=row.case, state=row.state, status=row.status,
        step=row.steps, action=action, shadow=config.shadow, event=event,
        replayed=replayed, _explain=partial(case_basis, config, row),
    )  # fmt: skip
    return advice


_ACTIONS: Final = {CONTINUE: Action.CONTINUE, FINISH: Action.FINISH, None: None}


def case_basis(config: Config, row: CaseRow) -> Basis:
    """Return the reasons for what is advised in the present state of a case."""
    *counters, pending = loads(row.known)
    n = Counters(*counters)
    return make_basis(
        config.goal, row.state, row.threshold, n, config.drawn, pending, config.level,
        config.learner_name, row.version,
    )  # fmt: skip


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

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return dict(vars(self))


def make_case(config: Config, row: CaseRow) -> Case:
    """Return a case as a user sees it."""
    action = None if config.shadow else advise(row)
    return Case(
        row.case, row.case, row.first, row.state, row.status, row.steps, row.overridden, row.held,
        action, row.opened, row.since,
    )  # fmt: skip


@dataclass(frozen=True)
class Status:
    """How a study stands.

    Of a study in shadow mode, a `Client` whose role is less than statistician gets None for the
    learner, the seed, the start, how many cases are planned, what is pending, the head, the next
    threshold and the basis.

    Attributes
    ----------
    study : str
    goal : int
    learner, version : str
        The learner, and the version of this package that made the study.
    seed : int
        The seed of the learner's draws.
    start : str
        How it began: "drawn", "first" or "records".
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
        The threshold that a case would get now; None if it cannot be decided.
    basis : Basis
        What is known of both actions in state 1, where the policies differ.
    archived : str or None
        Since when the study is archived, and takes no entries; None if it is not.
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
    basis: Basis
    archived: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return vars(self) | {"basis": None if self.basis is None else self.basis.to_dict()}


def make_status(
    config: Config, row: StudyRow, n: Counters, threshold: int | None, read_only: str | None
) -> Status:
    """Return how a study stands."""
    over = {"won": row.won, "lost": row.lost, "closed": row.closed}
    cases = {"opened": row.opened, OPEN: row.opened - sum(over.values()), **over}
    basis = make_basis(
        config.goal, 1, threshold or 0, n, config.drawn, row.pending, config.level,
        config.learner_name, this_version(),
    )  # fmt: skip
    start = config.start if isinstance(config.start, str) else "records"
    return Status(
        config.name, config.goal, config.learner_name, config.version, config.seed, start,
        config.days, config.shadow, cases, config.planned, row.pending, row.seq, row.head,
        read_only, threshold, basis, row.archived or None,
    )  # fmt: skip
