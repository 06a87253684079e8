"""The ledger of a study: all that is counted, once, and what is made of it.

Whatever else counts is a view of it: the counters of Algorithm 1 from which a learner of thresholds
decides, those by state, what a memory holds, and what pages show.

There is a book for each group. Into it, a learner of thresholds has the counters of Algorithm 1, to
which a case is added when it is over and all of it counts (it is settled then); until then it is
under way. A learner by state has what was counted in each state, step by step. A learner that
forgets loses a part of what was counted whenever a case of the group is opened. So the k-th case of
the group, when n were opened, counts with the weight keep^(n - k), and is taken back with it.
Memories are weighed when a case is settled; what is taken back later does not change that.

What was seen is kept beside it as it was observed: by group and state, nothing drawn beforehand and
nothing forgotten. FINISH that was advised, or taken, and does not count yet is pending.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.learners.counters import NO_COUNTS as NO_COUNTERS, NOBODY, Counters, Totals, add_to
from grbp.learners.memory import outcomes_of, recall, reweigh
from grbp.learners.state_counters import StateCounters
from grbp.live.config import CONTINUE, FINISH, Config
from grbp.live.history import Moved
from grbp.live.schema import CLOSED, NO_COUNTS, OPEN, WON, CaseRow, StudyRow, loads
from grbp.live.starts import DRAWN, make_state_counters
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import fold_in

_UP, _DOWN, _WON, _LOST = range(4)
_DUST: Final = 1e-9
_COUNTED: Final = ("f", "f_goal", "c", "c_up")
"""What is counted of a case, in all states together."""

Counted: TypeAlias = list[int]
"""f, f_goal, c and c_up."""


@dataclass(slots=True)
class Book:
    """What is counted in one group, while it is changed.

    Attributes
    ----------
    opened : int
        How many of its cases were opened.
    pending : list of int
        The pending FINISH: one number, or one for each state.
    under_way : list of int
        f, f_goal, c and c_up of cases that are not settled; by state, nothing waits there.
    counts : list of list of float
        For each memory what is counted: the counters of Algorithm 1 from f on or, by state,
        CONTINUE up and down, FINISH won and lost, a number for each state.
    weights : list of list of float
        The weights of the memories, for CONTINUE and for FINISH.
    rounds : int
        The round after all that are settled, where the counters of Algorithm 1 are all there is.
    """

    opened: int
    pending: list[int]
    under_way: Counted
    counts: list[list[float]]
    weights: list[list[float]]
    rounds: int = 0


class Known(NamedTuple):
    """What a decision is made from, and what was seen.

    Attributes
    ----------
    n : Counters or StateCounters
        What the learner knows; with a memory, older cases count in part.
    pending : list of int
        The pending FINISH, in all or by state.
    seen : list
        What was observed: f, f_goal, c and c_up or, by state, four lists of CONTINUE up and down,
        FINISH won and lost.
    rank : int
        Which case of its group it is for, from 1.
    """

    n: Counters | StateCounters
    pending: list[int]
    seen: list[Any]
    rank: int


def finishes(config: Config, choice: int, state: int) -> bool:
    """Return whether a choice, a threshold or a policy, takes FINISH in a state."""
    return bool(choice >> (state - 1) & 1) if config.by_state else state <= choice


def issued_state(config: Config, case: CaseRow) -> int:
    """Return the state in which FINISH is advised now and not told yet; 0 if it is not."""
    if config.shadow or case.status != OPEN or not finishes(config, case.threshold, case.state):
        return 0
    return case.state


def advise(config: Config, case: CaseRow) -> str | None:
    """Return the action that is advised in the present state of a case; None if it is over."""
    if case.status != OPEN:
        return None
    return FINISH if finishes(config, case.threshold, case.state) else CONTINUE


def begin(config: Config) -> dict[str, Any]:
    """Return what a study counts that has seen nothing: what it begins with."""
    places, weights = config.goal - 1 if config.by_state else 1, config.memories.start().tolist()
    kept = []
    for group in config.groups or [""]:
        rounds, counts = config.first_of(group)
        kept.append([0, [0] * places, [0] * 4, [counts] * len(weights[0]), weights])
    empty = [[[0] * config.states_seen] * 4] * len(kept)
    return {
        "counters": [rounds, *counts] if config.plain else kept,
        "seen": empty if config.seen else NO_COUNTS,
    }


def _load_book(config: Config, study: StudyRow, at: int) -> Book:
    """Return what is counted in a group; of a study that is plain, the study says some of it."""
    if config.plain:
        rounds, *counts = study.counters
        under_way = [getattr(study, name) for name in _COUNTED]
        return Book(study.opened, [study.pending], under_way, [counts], [[1.0], [1.0]], rounds)
    opened, pending, under_way, counts, weights = study.counters[at]
    return Book(opened, [*pending], [*under_way], counts, weights)


def count(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow, moves: Sequence[Moved]
) -> dict[str, Any]:
    """Return what a study counts after a case was changed by the last of its moves, or opened.

    The last move is the step that was told, taken back or became mature; where `shows_moves` says
    so, the others are there as well.
    """
    at = config.number_of(new.group)
    before, move, book = old or new, moves[-1] if moves else None, _load_book(config, study, at)
    parts: dict[str, Any] = {"pending": study.pending - sum(book.pending)}
    _count_pending(config, book, old, new, move)
    parts["pending"] += sum(book.pending)
    if old is None:
        parts["opened"] = study.opened + 1
        _forget(config, book)
    else:
        _count_case(config, book, old, new, moves)
    if study.seen and move is not None and (sign := count_change(before, new)):
        parts["seen"] = _see(study.seen, at, move, config.states_seen, sign)
    if new.status != before.status:
        for status, more in ((before.status, -1), (new.status, 1)):
            if status != OPEN:
                parts[status] = getattr(study, status) + more
    if config.plain:
        parts |= zip(_COUNTED, book.under_way, strict=True)
        return parts | {"counters": [book.rounds, *book.counts[0]]}
    for name in _COUNTED:
        parts[name] = getattr(study, name) + getattr(new, name) - getattr(before, name)
    kept = [book.opened, book.pending, book.under_way, book.counts, book.weights]
    return parts | {"counters": _put(study.counters, at, kept)}


def _put(parts: list[Any], at: int, new: Any) -> list[Any]:
    """Return a list with one of its parts anew."""
    return [*parts[:at], new, *parts[at + 1 :]]


def _see(seen: list[Any], at: int, move: Moved, states: int, sign: int) -> list[Any]:
    """Return what was seen with a step more in a group, or one less."""
    kind, place = _kind_of(move), min(move[1], states) - 1
    counts = seen[at][kind]
    return _put(seen, at, _put(seen[at], kind, _put(counts, place, counts[place] + sign)))


def _kind_of(move: Moved) -> int:
    """Return what a step showed: up, down, won or lost."""
    action, state, after = move
    if action == FINISH:
        return _WON if after > state else _LOST
    return _UP if after > state else _DOWN


def shows_moves(config: Config, old: CaseRow | None, new: CaseRow) -> bool:
    """Return whether all moves of a case are needed, since memories are weighed by them."""
    averaged = config.by_state and config.memory == "averaged"
    return averaged and old is not None and bool(new.settled) and not old.settled


def count_change(old: CaseRow, new: CaseRow) -> int:
    """Return 1 if a step was counted, -1 if one was taken out again, else 0."""
    return new.f + new.c - old.f - old.c


def _forget(config: Config, book: Book) -> None:
    """Open a case: what was counted loses its part."""
    book.opened += 1
    book.counts = [
        counts if keep == 1.0 else [keep * number for number in counts]
        for keep, counts in zip(config.memories.keep.tolist(), book.counts, strict=True)
    ]


def _count_pending(
    config: Config, book: Book, old: CaseRow | None, new: CaseRow, move: Moved | None
) -> None:
    """Count how much FINISH is pending after a case was changed or opened.

    It is pending while it is advised, and while it is held since it was taken.
    """
    changes = [(issued_state(config, new), 1)]
    if old is not None:
        changes.append((issued_state(config, old), -1))
        if move is not None:
            changes.append((move[1], new.held_f - old.held_f))
    for state, number in changes:
        if state:
            book.pending[state - 1 if config.by_state else 0] += number


def _count_case(
    config: Config, book: Book, old: CaseRow, new: CaseRow, moves: Sequence[Moved]
) -> None:
    """Count what a case has more than before, or take out what it has less."""
    if config.by_state and (sign := count_change(old, new)):
        step = [0.0] * len(book.counts[0])
        step[_kind_of(moves[-1]) * (config.goal - 1) + moves[-1][1] - 1] = 1.0
        _add(config, book, new, step, sign)
    if config.memory == "averaged" and new.settled and not old.settled:
        book.weights = _weigh(config, book, new, moves)
    if config.by_state:
        return
    for case, sign in ((old, -1), (new, 1)):
        if case.settled:
            ended, *shown = _count_settled(case)
            _add(config, book, case, shown, sign)
            book.rounds += sign * ended
        else:
            for k, name in enumerate(_COUNTED):
                book.under_way[k] += sign * getattr(case, name)


def _count_settled(case: CaseRow) -> Counters:
    """Return what a case that is over adds to the counters of Algorithm 1.

    A case in which something else was done than advised counts for no threshold.
    """
    ended = case.status != CLOSED
    credit = case.threshold if ended and not case.overridden else NOBODY
    totals = Totals(ended, case.status == WON, case.f, case.f_goal, case.c, case.c_up)
    return add_to(NO_COUNTERS, credit, totals)


def _add(config: Config, book: Book, case: CaseRow, shown: Sequence[float], sign: int) -> None:
    """Add what a case showed to every memory, as far as it counts there, or take it out again."""
    counts = []
    for n, weight in zip(book.counts, _case_weights(config, book, case), strict=True):
        new = [number + sign * weight * part for number, part in zip(n, shown, strict=True)]
        if config.memory is not None and sign < 0:  # What rounding leaves is nothing.
            new = [0.0 if number < _DUST else number for number in new]
            if not config.by_state:  # No more successes than tries.
                new[1::2] = map(min, new[1::2], new[::2])
        counts.append(new)
    book.counts = counts


def _case_weights(config: Config, book: Book, case: CaseRow) -> list[float]:
    """Return what a case counts by now in each memory."""
    if config.memory is None:
        return [1.0]
    age = book.opened - load_known(config, case.known).rank
    return [keep**age for keep in config.memories.keep.tolist()]


def _weigh(config: Config, book: Book, case: CaseRow, moves: Sequence[Moved]) -> list[list[float]]:
    """Return the weights of the memories after a case, by how well each foretold it.

    What was counted of the case itself, with a weight in each memory, is left out, and so is what
    was forgotten when it was opened.
    """
    memories = config.memories
    before = np.array([outcomes_of(_make_counters(config, 0, n)) for n in book.counts])
    if config.by_state:
        shown: Floats = np.zeros((4, config.goal - 1))
        for move in moves:
            shown[_kind_of(move), move[1] - 1] += 1.0
        before -= np.array(_case_weights(config, book, case))[:, None, None] * shown
    else:
        rows = case.c_up, case.c - case.c_up, case.f_goal, case.f - case.f_goal
        shown = np.array(rows, dtype=float)[:, None]
    if not shown.any():
        return book.weights
    before /= memories.keep[:, None, None]
    weights: list[list[float]] = reweigh(memories, np.array(book.weights), before, shown).tolist()
    return weights


def know(config: Config, study: StudyRow, group: str = "") -> Known:
    """Return what a case of a group that is opened now is decided from."""
    at = config.number_of(group)
    book = _load_book(config, study, at)
    rho = config.first_of(group)[0] + book.opened
    kept: Any = [_make_counters(config, rho, n, book.under_way) for n in book.counts]
    n = kept[0]
    if config.memory is not None:
        key = fold_in(config.learner_key, config.first_round + study.opened)
        n = recall(config.memories, kept, np.array(book.weights), key)
    return _make_known(config, study, [at], n, book.pending, 1 + book.opened)


def know_all(config: Config, study: StudyRow) -> dict[str, Known]:
    """Return what is known in all ("") and in each group.

    With one set of counters, a decision is made from what is known in all.
    """
    if not config.groups:
        return {"": know(config, study)}
    return {"": _pool(config, study), **{one: know(config, study, one) for one in config.groups}}


def _pool(config: Config, study: StudyRow) -> Known:
    """Return what is known of all groups together; what all begin with counts once."""
    books = [_load_book(config, study, at) for at in range(len(config.groups))]
    keep = config.memories.keep[0]
    first = np.zeros(len(books[0].counts[0]))
    if not isinstance(config.start, dict):
        first = np.array(config.first_of(config.groups[0])[1])
    total = np.array(books[0].counts[0])
    for book in books[1:]:
        total += np.array(book.counts[0]) - keep**book.opened * first
    pending, under_way = (
        [sum(part) for part in zip(*many, strict=True)]
        for many in ([book.pending for book in books], [book.under_way for book in books])
    )
    rho = config.first_round + study.opened
    n = _make_counters(config, rho, np.maximum(total, 0.0).tolist(), under_way)
    return _make_known(config, study, range(len(books)), n, pending, 1 + study.opened)


def _make_known(
    config: Config, study: StudyRow, groups: Iterable[int], n: Any, pending: list[int], rank: int
) -> Known:
    """Return what is known of some groups, with what was seen in them."""
    seen = _load_seen(config, study, groups) or _find_seen(config, n, rank)
    if not (study.seen or config.groups or config.by_state or config.plain):
        seen = total_seen(config, study)  # A memory has not forgotten these sums.
    return Known(n, pending, seen, rank)


def _make_counters(
    config: Config, rho: int, counts: list[float], under_way: Sequence[int] = (0, 0, 0, 0)
) -> Any:
    """Return the counters of a memory as the learner gets them."""
    if config.by_state:
        return make_state_counters(rho, counts)
    return add_to(Counters(rho, *counts), NOBODY, Totals(0, 0, *under_way))


def _load_seen(config: Config, study: StudyRow, groups: Iterable[int]) -> list[Any] | None:
    """Return what was seen in some groups, with what the records told that they began with."""
    if not study.seen:
        return None
    chosen = list(groups)
    parts = [study.seen[at] for at in chosen]
    records = [one[1:5] for one in _find_records(config, chosen)]
    if config.by_state:
        return list(np.sum(np.array(parts + records, dtype=int), axis=0).tolist())
    up, down, won, lost = (sum(sum(part[k]) for part in parts) for k in range(4))
    total = [won + lost, won, up + down, up]
    return [int(sum(counts)) for counts in zip(total, *records, strict=True)]


def _find_records(config: Config, groups: list[int]) -> list[list[Any]]:
    """Return the counters with which some groups began; those of all groups count once."""
    if isinstance(config.start, dict):
        return [config.start[config.groups[at]] for at in groups]
    return [] if isinstance(config.start, str) else [config.start]


def _find_seen(config: Config, n: Counters | StateCounters, rank: int) -> list[Any]:
    """Return what was seen by what is counted, where that is not kept for itself.

    Of first estimates that were drawn there is left what no memory has forgotten. Where a memory
    has forgotten some of what was seen, that cannot be known.
    """
    if isinstance(n, StateCounters):
        return [np.rint(part).astype(int).tolist() for part in n[1:5]]
    left = float(config.memories.keep[0]) ** (rank - 1) if config.start == DRAWN else 0.0
    return [
        max(0, round(counted - left * drawn))
        for counted, drawn in zip(n[1:5], config.first[1:5], strict=True)
    ]


def total_seen(config: Config, study: StudyRow) -> Counted:
    """Return what was seen in all: f, f_goal, c and c_up, in all groups and states together."""
    if config.plain:
        return know(config, study).seen
    begun = [0] * 4 if isinstance(config.start, str) else config.first[1:5]
    return [getattr(study, name) + round(part) for name, part in zip(_COUNTED, begun, strict=True)]


def dumps_known(config: Config, known: Known) -> list[Any]:
    """Return what a decision is made from, as an event keeps it."""
    n, more = known.n, list[Any]([] if config.plain else [known.rank])
    if config.memory is not None and config.seen:
        more.append(known.seen)
    if isinstance(n, StateCounters):
        return [n.rho, *(part.tolist() for part in n[1:5]), known.pending, *more]
    return [*n, *known.pending, *more]


def load_known(config: Config, text: str) -> Known:
    """Return what a decision was made from."""
    parts: list[Any] = loads(text)
    if config.by_state:
        rho, *counts, pending, rank = parts[:7]
        n: Counters | StateCounters = make_state_counters(rho, counts)
    else:
        n, pending, rank = Counters(*parts[:9]), parts[9:10], 1 if config.plain else parts[10]
    more = parts[7 if config.by_state else 11 :]
    return Known(n, pending, more[0] if more else _find_seen(config, n, rank), rank)
