"""The books of a study with groups, with a learner by state or with a memory: one for each group.

A learner of thresholds gets the counters of Algorithm 1, into which a case is settled when it is
over; a learner by state gets what was counted in each state, step by step. A learner that forgets
loses a part of what was counted whenever a case of the group is opened. So the k-th case of the
group, when n were opened, counts with the weight keep^(n - k), and is taken back with it. Memories
are weighed when a case is settled; what is taken back later does not change that.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.learners.counters import NOBODY, Counters, Totals, add_to
from grbp.learners.memory import outcomes_of, recall, reweigh
from grbp.learners.statewise.counters import StateCounters
from grbp.live.config import FINISH, Config
from grbp.live.schema import CLOSED, OPEN, WON, CaseRow, StudyRow, dumps, dumps_numbers, loads
from grbp.live.starts import make_state_counters
from grbp.numerics.arrays import Floats

Move: TypeAlias = tuple[str, int, int]
"""What was done in a step, and from where it led where."""

Known: TypeAlias = tuple[Counters | StateCounters, list[int]]
"""What a decision is made from: what is counted, and the pending FINISH, in all or by state."""

_UP, _DOWN, _WON, _LOST = range(4)
_DUST: Final = 1e-9


class Book(NamedTuple):
    """What is counted in one group.

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
    """

    opened: int
    pending: list[int]
    under_way: list[int]
    counts: list[list[float]]
    weights: list[list[float]]


def finishes(config: Config, choice: int, state: int) -> bool:
    """Return whether a choice, a threshold or a policy, takes FINISH in a state."""
    return bool(choice >> (state - 1) & 1) if config.by_state else state <= choice


def issued_state(config: Config, case: CaseRow) -> int:
    """Return the state in which FINISH is advised now and not told yet; 0 if it is not."""
    if config.shadow or case.status != OPEN or not finishes(config, case.threshold, case.state):
        return 0
    return case.state


def first_books(config: Config) -> str:
    """Return what is counted before the first case, as JSON."""
    places, weights = config.goal - 1 if config.by_state else 1, config.memories.start().tolist()
    made = [
        Book(0, [0] * places, [0] * 4, [config.first_of(group)[1]] * len(weights[0]), weights)
        for group in config.groups or [""]
    ]
    return dumps(made)


def load_books(study: StudyRow) -> list[Book]:
    """Return the books of a study."""
    return list(_load_books(study.counters))


@lru_cache(maxsize=100)  # What is written is mostly read again soon.
def _load_books(text: str) -> tuple[Book, ...]:
    return tuple(Book(*one) for one in loads(text))


def update_books(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow, moves: Sequence[Move]
) -> str:
    """Return the books after a case was changed by the last of its moves, or opened."""
    books, number = load_books(study), config.number_of(new.group)
    book = books[number]
    if old is None:
        book = _forget(config, book)
    book = book._replace(pending=_update_pending(config, book.pending, old, new, moves))
    if old is not None:
        book = _count(config, book, old, new, moves)
    books[number] = book
    return dumps(books)


def _count(config: Config, book: Book, old: CaseRow, new: CaseRow, moves: Sequence[Move]) -> Book:
    """Count what a case has more than before, or take out what it has less."""
    weights, settles = book.weights, new.settled and not old.settled
    if not config.by_state:
        if settles:
            weights = _weigh(config, book, _show_case(new), np.zeros(len(book.counts)))
        for case, sign in ((old, -1), (new, 1)):
            book = _count_case(config, book, case, sign)
    else:
        if moves and (sign := count_change(old, new)):
            book = _count_move(config, book, new, moves[-1], sign)
        if settles:
            shown = np.sum([_show_move(config, move) for move in moves], axis=0)
            weights = _weigh(config, book, shown, np.array(_case_weights(config, book, new)))
    return book._replace(weights=weights)


def shows_moves(config: Config, old: CaseRow | None, new: CaseRow) -> bool:
    """Return whether all moves of a case are needed, since memories are weighed by them."""
    averaged = config.by_state and config.memory == "averaged"
    return averaged and old is not None and bool(new.settled) and not old.settled


def _weigh(config: Config, book: Book, shown: Floats, counted: Floats) -> list[list[float]]:
    """Return the weights of the memories after a case, by how well each foretold it.

    What was counted of the case itself, with a weight in each memory, is left out, and so is what
    was forgotten when it was opened.
    """
    if config.memory != "averaged" or not shown.any():
        return book.weights
    memories = config.memories
    made: Any = [_make_counters(config, 0, counts) for counts in book.counts]
    before = np.array([outcomes_of(n) for n in made]) - counted[:, None, None] * shown
    before /= memories.keep[:, None, None]
    weights: list[list[float]] = reweigh(memories, np.array(book.weights), before, shown).tolist()
    return weights


def _show_case(case: CaseRow) -> Floats:
    """Return what a case showed, for all states together: up, down, won and lost."""
    f, f_goal, c, c_up = case[7:11]
    return np.array([[c_up], [c - c_up], [f_goal], [f - f_goal]], dtype=float)


def _show_move(config: Config, move: Move) -> Floats:
    """Return what a step showed by state: a row each for up, down, won and lost."""
    (action, state, after), shown = move, np.zeros((4, config.goal - 1))
    kind = _UP if after > state else _DOWN
    if action == FINISH:
        kind = _WON if after == config.goal else _LOST
    shown[kind, state - 1] = 1.0
    return shown


def count_change(old: CaseRow, new: CaseRow) -> int:
    """Return 1 if a step was counted, -1 if one was taken out again, else 0."""
    return new.f + new.c - old.f - old.c


def _forget(config: Config, book: Book) -> Book:
    """Open a case: what was counted loses its part."""
    counts = [
        n if keep == 1.0 else [keep * count for count in n]
        for keep, n in zip(config.memories.keep.tolist(), book.counts, strict=True)
    ]
    return book._replace(opened=book.opened + 1, counts=counts)


def _update_pending(
    config: Config, pending: list[int], old: CaseRow | None, new: CaseRow, moves: Sequence[Move]
) -> list[int]:
    """Return the pending FINISH: what is advised, and what is held since it was taken."""
    pending = list(pending)

    def add(state: int, number: int) -> None:
        pending[state - 1 if config.by_state else 0] += number

    for case, sign in ((old, -1), (new, 1)):
        if case is not None and (state := issued_state(config, case)):
            add(state, sign)
    if old is not None and moves and new.held_f != old.held_f:
        add(moves[-1][1], new.held_f - old.held_f)
    return pending


def _count_move(config: Config, book: Book, case: CaseRow, move: Move, sign: int) -> Book:
    """Count a step in its state, or take it out again."""
    shown = _show_move(config, move).ravel()
    counts = [
        _without_dust(config, np.array(n) + sign * weight * shown, sign)
        for n, weight in zip(book.counts, _case_weights(config, book, case), strict=True)
    ]
    return book._replace(counts=counts)


def _count_case(config: Config, book: Book, case: CaseRow, sign: int) -> Book:
    """Settle a case into the counters, or keep it apart; or take it out of there again."""
    if not case.settled:
        parts = zip(book.under_way, case[7:11], strict=True)
        return book._replace(under_way=[total + sign * one for total, one in parts])
    counts = [
        _without_dust(config, np.array(settle_case(Counters(0, *n), case, sign * weight)[1:]), sign)
        for n, weight in zip(book.counts, _case_weights(config, book, case), strict=True)
    ]
    return book._replace(counts=counts)


def _without_dust(config: Config, counts: Floats, sign: int) -> list[float]:
    """Return counts without what rounding leaves where a part of them is taken back."""
    if config.memory is not None and sign < 0:
        counts = np.where(counts < _DUST, 0.0, counts)
        if not config.by_state:
            counts[1::2] = np.minimum(counts[1::2], counts[::2])  # No more successes than tries.
    kept: list[float] = counts.tolist()
    return kept


def _case_weights(config: Config, book: Book, case: CaseRow) -> list[float]:
    """Return what a case counts by now in each memory."""
    if config.memory is None:
        return [1.0]
    age = book.opened - loads(case.known)[-1]
    return [keep**age for keep in config.memories.keep.tolist()]


def settle_case(n: Counters, case: CaseRow, weight: float) -> Counters:
    """Return the counters with a case that is over or, where the weight is negative, without it.

    A case in which something else was done than advised counts for no threshold.
    """
    ended = case.status != CLOSED
    credit = case.threshold if ended and not case.overridden else NOBODY
    parts = (ended, case.status == WON, case.f, case.f_goal, case.c, case.c_up)
    return add_to(n, credit, Totals(*[weight * part for part in parts]))  # type: ignore[arg-type]


def know(config: Config, study: StudyRow, group: str, key: int) -> Known:
    """Return what is known in a group before its next case, with the key of its own draws."""
    book = load_books(study)[config.number_of(group)]
    rho = config.first_of(group)[0] + book.opened
    under_way = Totals(0, 0, *book.under_way)
    kept: Any = [_make_counters(config, rho, counts, under_way) for counts in book.counts]
    n = recall(config.memories, kept, np.array(book.weights), key)
    return n, book.pending


def _make_counters(
    config: Config, rho: int, counts: list[float], under_way: Totals | None = None
) -> Counters | StateCounters:
    """Return the counters of a memory as the learner gets them."""
    if config.by_state:
        return make_state_counters(rho, counts)
    n = Counters(rho, *counts)
    return n if under_way is None else add_to(n, NOBODY, under_way)


def pool(config: Config, study: StudyRow) -> Known:
    """Return what is known of all groups together; records that all begin with count once."""
    found = load_books(study)
    total = np.sum([book.counts[0] for book in found], axis=0)
    if not isinstance(config.start, dict):
        total -= (len(found) - 1) * np.array(config.first_of(config.groups[0])[1])
    pending, under_way = (
        [sum(part) for part in zip(*many, strict=True)]
        for many in ([book.pending for book in found], [book.under_way for book in found])
    )
    rho = config.first_round + study.opened
    return _make_counters(config, rho, total.tolist(), Totals(0, 0, *under_way)), pending


def count_opened(config: Config, study: StudyRow, group: str) -> int:
    """Return how many cases of a group were opened."""
    return load_books(study)[config.number_of(group)].opened


def dumps_known(config: Config, known: Known, rank: int) -> str:
    """Write what a decision is made from, as JSON, and which case of its group it is for."""
    n, pending = known
    if isinstance(n, StateCounters):
        return dumps([n.rho, *(part.tolist() for part in n[1:5]), pending, rank])
    return dumps_numbers((*n, *pending) if config.plain else (*n, *pending, rank))


def load_known(config: Config, text: str) -> Known:
    """Return what a decision was made from."""
    parts: list[Any] = loads(text)
    if config.by_state:
        rho, *counts, pending, _ = parts
        return make_state_counters(rho, counts), pending
    return Counters(*parts[:9]), parts[9:10]


def with_pending_by_state(n: StateCounters, pending: list[int]) -> StateCounters:
    """Return the counters to decide from while outcomes of FINISH are not known yet.

    They count as taken, and as won in the proportion in which FINISH is expected to win there.
    """
    waits = np.array(pending, dtype=float)
    mean = (n.won + 1.0) / (n.won + n.lost + 2.0)
    return n._replace(won=n.won + waits * mean, lost=n.lost + waits * (1.0 - mean))
