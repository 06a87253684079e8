"""The books of a study with groups, with a learner by state or with a memory: one for each group.

A learner of thresholds gets the counters of Algorithm 1, into which a case is settled when it is
over; a learner by state gets what was counted in each state, step by step. A learner that forgets
loses a part of what was counted whenever a case of the group is opened. So the k-th case of the
group, when n were opened, counts with the weight keep^(n - k), and is taken back with it.
"""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.learners.counters import NOBODY, Counters, Totals, add_to
from grbp.learners.statewise.counters import StateCounters
from grbp.live.config import FINISH, Config
from grbp.live.schema import CLOSED, OPEN, WON, CaseRow, StudyRow, dumps, dumps_numbers, loads

Move: TypeAlias = tuple[str, int, int]
"""What was done in a step, and from where it led where."""

Known: TypeAlias = tuple[Counters | StateCounters, list[int]]
"""What a decision is made from: what is counted, and the pending FINISH, in all or by state."""

_UP, _DOWN, _WON, _LOST = range(4)
_NO_JUMPS: Final = np.zeros((0, 0))


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
    weights : list of float
        The weights of the memories.
    """

    opened: int
    pending: list[int]
    under_way: list[int]
    counts: list[list[float]]
    weights: list[float]


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
    memories, places = len(config.keeps), config.goal - 1 if config.by_state else 1
    return dumps(
        [
            Book(0, [0] * places, [0] * 4, [config.first_of(group)[1]] * memories,
                 [1.0 / memories] * memories)
            for group in config.groups or [""]
        ]
    )  # fmt: skip


def load_books(study: StudyRow) -> list[Book]:
    """Return the books of a study."""
    return [Book(*one) for one in loads(study.counters)]


def update_books(
    config: Config, study: StudyRow, old: CaseRow | None, new: CaseRow, move: Move | None
) -> str:
    """Return the books after a case was changed by a move, or opened."""
    books, number = load_books(study), config.number_of(new.group)
    books[number] = _update_book(config, books[number], old, new, move)
    return dumps(books)


def _update_book(
    config: Config, book: Book, old: CaseRow | None, new: CaseRow, move: Move | None
) -> Book:
    if old is None:
        book = _forget(config, book)
    book = book._replace(pending=_update_pending(config, book.pending, old, new, move))
    if old is None:
        return book
    if not config.by_state:
        for case, sign in ((old, -1), (new, 1)):
            book = _count_case(config, book, case, sign)
    elif move is not None and (sign := count_change(old, new)):
        book = _count_move(config, book, new, move, sign)
    return book


def count_change(old: CaseRow, new: CaseRow) -> int:
    """Return 1 if a step was counted, -1 if one was taken out again, else 0."""
    return new.f + new.c - old.f - old.c


def _forget(config: Config, book: Book) -> Book:
    """Open a case: what was counted loses its part."""
    counts = [
        n if keep == 1.0 else [keep * count for count in n]
        for keep, n in zip(config.keeps, book.counts, strict=True)
    ]
    return book._replace(opened=book.opened + 1, counts=counts)


def _update_pending(
    config: Config, pending: list[int], old: CaseRow | None, new: CaseRow, move: Move | None
) -> list[int]:
    """Return the pending FINISH: what is advised, and what is held since it was taken."""
    pending = list(pending)

    def add(state: int, number: int) -> None:
        pending[state - 1 if config.by_state else 0] += number

    for case, sign in ((old, -1), (new, 1)):
        if case is not None and (state := issued_state(config, case)):
            add(state, sign)
    if old is not None and move is not None and new.held_f != old.held_f:
        add(move[1], new.held_f - old.held_f)
    return pending


def _count_move(config: Config, book: Book, case: CaseRow, move: Move, sign: int) -> Book:
    """Count a step in its state, or take it out again."""
    (action, state, after), places = move, config.goal - 1
    kind = _UP if after > state else _DOWN
    if action == FINISH:
        kind = _WON if after == config.goal else _LOST
    counts = [list(n) for n in book.counts]
    for n, weight in zip(counts, _weights(config, book, case), strict=True):
        n[kind * places + state - 1] += sign * weight
    return book._replace(counts=counts)


def _count_case(config: Config, book: Book, case: CaseRow, sign: int) -> Book:
    """Settle a case into the counters, or keep it apart; or take it out of there again."""
    if not case.settled:
        parts = zip(book.under_way, case[7:11], strict=True)
        return book._replace(under_way=[total + sign * one for total, one in parts])
    counts = [
        list(settle_case(Counters(0, *n), case, sign * weight)[1:])
        for n, weight in zip(book.counts, _weights(config, book, case), strict=True)
    ]
    return book._replace(counts=counts)


def _weights(config: Config, book: Book, case: CaseRow) -> list[float]:
    """Return what a case counts by now in each memory."""
    if config.memory is None:
        return [1.0] * len(book.counts)
    rank = loads(case.known)[0] - config.first_of(case.group)[0] + 1
    return [keep ** (book.opened - rank) for keep in config.keeps]


def settle_case(n: Counters, case: CaseRow, weight: float) -> Counters:
    """Return the counters with a case that is over or, where the weight is negative, without it.

    A case in which something else was done than advised counts for no threshold.
    """
    ended = case.status != CLOSED
    credit = case.threshold if ended and not case.overridden else NOBODY
    parts = (ended, case.status == WON, case.f, case.f_goal, case.c, case.c_up)
    return add_to(n, credit, Totals(*[weight * part for part in parts]))  # type: ignore[arg-type]


def know(config: Config, study: StudyRow, group: str, _: int) -> Known:
    """Return what is known in a group before its next case."""
    book = load_books(study)[config.number_of(group)]
    counts, rho = book.counts[0], config.first_of(group)[0] + book.opened
    if not config.by_state:
        n = add_to(Counters(rho, *counts), NOBODY, Totals(0, 0, *book.under_way))
        return n, book.pending
    return StateCounters(rho, *np.array(counts).reshape(4, -1), _NO_JUMPS), book.pending


def pool(config: Config, study: StudyRow) -> Known:
    """Return what is known of all groups together; records that all begin with count once."""
    rho, once = config.first_round + study.opened, not isinstance(config.start, dict)
    found = load_books(study)
    total = np.sum([book.counts[0] for book in found], axis=0)
    if once:
        total -= (len(found) - 1) * np.array(config.first_of(config.groups[0])[1])
    pending = [sum(part) for part in zip(*(book.pending for book in found), strict=True)]
    if config.by_state:
        return StateCounters(rho, *total.reshape(4, -1), _NO_JUMPS), pending
    under_way = [sum(part) for part in zip(*(book.under_way for book in found), strict=True)]
    n = add_to(Counters(rho, *total.tolist()), NOBODY, Totals(0, 0, *under_way))
    return n, pending


def dumps_known(known: Known) -> str:
    """Write what a decision is made from, as JSON."""
    n, pending = known
    if isinstance(n, StateCounters):
        return dumps([n.rho, *(part.tolist() for part in n[1:5]), pending])
    return dumps_numbers((*n, *pending))


def load_known(config: Config, text: str) -> Known:
    """Return what a decision was made from."""
    parts: list[Any] = loads(text)
    if not config.by_state:
        return Counters(*parts[:-1]), parts[-1:]
    rho, *counts, pending = parts
    return StateCounters(rho, *np.array(counts, dtype=float), _NO_JUMPS), pending


def with_pending_by_state(n: StateCounters, pending: list[int]) -> StateCounters:
    """Return the counters to decide from while outcomes of FINISH are not known yet.

    They count as taken, and as won in the proportion in which FINISH is expected to win there.
    """
    waits = np.array(pending, dtype=float)
    mean = (n.won + 1.0) / (n.won + n.lost + 2.0)
    return n._replace(won=n.won + waits * mean, lost=n.lost + waits * (1.0 - mean))
