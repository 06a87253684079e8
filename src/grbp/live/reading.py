"""Read parts of a study from a store: its row, its configuration, held steps, its states."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

from grbp.errors import GrbpError, NotFound
from grbp.live.advice import explain_states
from grbp.live.arguments import format_time
from grbp.live.calls import find_case
from grbp.live.choice import decide_choice
from grbp.live.config import Config, load_config
from grbp.live.history import Undoable, find_undoable
from grbp.live.ledger import know
from grbp.live.row_checks import DAMAGE, find_checked
from grbp.live.schema import StudyRow
from grbp.live.state_basis import StateBasis
from grbp.live.store.base import LAST, Store, Transaction

T = TypeVar("T")


def find_study(tx: Transaction, name: str) -> StudyRow:
    """Return the row of a study, or say that there is none."""
    study = tx.study()
    if study is None:
        raise NotFound(
            f"the study {name!r} was asked for; there is none of this name: `grbp live studies`"
            " lists those of a store"
        )
    return study


def read_study(store: Store, name: str, script: Callable[[Transaction, StudyRow], T]) -> T:
    """Run a script that reads a study, whose rows are checked, or say that there is none."""
    return find_checked(store, name).read(lambda tx: script(tx, find_study(tx, name)))


def read_config(store: Store, name: str) -> Config:
    """Return the configuration of a study as it is now; it is locked from the first case on."""
    return read_study(store, name, lambda _, study: load_config(study.config))


def read_held_steps(store: Store, name: str, case: int) -> list[tuple[int, str]]:
    """List the steps of a case that do not count yet, and when they will."""
    rows = read_study(store, name, lambda tx, _: tx.due(LAST))
    return sorted((row.step, row.due) for row in rows if row.case == case)


def read_undoable(store: Store, name: str, case: int, who: str, now: datetime) -> Undoable | None:
    """Return the last entry of a case if somebody can undo it now; None if not."""

    def find(tx: Transaction, study: StudyRow) -> Undoable | None:
        row = find_case(tx, study, case)
        return None if study.archived else find_undoable(tx, row, who, format_time(now))

    return read_study(store, name, find)


def read_states(store: Store, name: str, group: str) -> tuple[StateBasis, ...]:
    """Say what a learner by state knows in each state of a group, and would advise there."""
    study = read_study(store, name, lambda _, row: row)
    config, choice = load_config(study.config), None
    known = know(config, study, group)
    with suppress(GrbpError):
        choice = decide_choice(config, study, None, known)
    return explain_states(config, known, choice)


def list_current(store: Store) -> list[str]:
    """List the studies that are not archived; one that cannot be read is among them."""
    return [name for name in store.studies() if not _is_archived(store, name)]


def _is_archived(store: Store, name: str) -> bool:
    """Return whether a study is archived, as far as that can be read."""
    study = None
    with suppress(GrbpError, *DAMAGE):
        study = store.read(name, lambda tx: tx.study())
    return study is not None and bool(study.archived)


def find_only_study(store: Store) -> str:
    """Return the name of the only study in a store."""
    names = store.studies()
    names = list_current(store) or names if len(names) > 1 else names
    if len(names) != 1:
        raise NotFound(f"no study was named for {store.where}; {describe_studies(names)}")
    return names[0]


def describe_studies(names: list[str]) -> str:
    """Say which studies there are, and what to do."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    have = f"it has {', '.join(map(repr, names[:5]))}{more}: name one of them"
    return have if names else "it has none: `grbp live init` makes one"
