"""From a table to clean records: the columns read, the rules applied, the rows sorted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from grbp.errors import InvalidInput, did_you_mean
from grbp.numerics.arrays import Bools, Ints
from grbp.records.cells import (
    MOST_STEPS,
    NO_STEP,
    Cells,
    check_action,
    check_map,
    number_texts,
    rank_orders,
    read_action,
    read_cells,
    read_state,
    read_whole,
)
from grbp.records.clean import OPEN, Records, count_open_cases, first_of_case, renumber_cases
from grbp.records.columns import (
    ACTION,
    CASE,
    COUNT,
    NEXT_STATE,
    ORDER,
    ROLES,
    STATE,
    STEP,
    Column,
    ColumnChoice,
    Table,
    refuse,
    shorten,
)
from grbp.records.data_frames import read_frame
from grbp.records.files import read_file
from grbp.records.rules import DUPLICATE, REST, Rows, cut_cases
from grbp.worlds.labels import ACTIONS, Labels
from grbp.worlds.transition import Action
from grbp.worlds.validation import check_goal, check_whole

MOST_GROUPS: Final = 200
"""The largest number of groups: each is fitted like a table of its own."""

_OTHER_CELLS: Final = (
    "the row has a different number of cells than the header; put quotation marks around a cell"
    " with a comma in it"
)

_MOST_MOVES: Final = 10**15
"""The largest sum of counts: beyond, shares have no digits for one more."""


def read_records(  # noqa: PLR0913 (each is a separate choice of the user)
    source: Any,
    goal: int,
    *,
    columns: Mapping[str, str] | None = None,
    map_state: Mapping[Any, int] | None = None,
    map_action: Mapping[Any, Any] | None = None,
    group: str | Sequence[str] = (),
    skip_bad_rows: bool = False,
) -> Records:
    """Read a table of past cases, and check it by every rule.

    Parameters
    ----------
    source : str, Path, data frame or mapping
        The path of a CSV file in UTF-8 with commas, also packed by gzip, or of an Excel workbook
        (``"-"`` is standard input), a pandas or Polars frame, or a mapping from names to columns.
        There is one row for each step.
    goal : int
        The state in which a case is won.
    columns : mapping of str to str, optional
        The names of columns that are not called case, step, state, action, next_state (or next),
        order or count, in any spelling: ``{"case": "patient"}``.
    map_state : mapping, optional
        The states that other texts stand for, such as ``{"mild": 3}``; all others are whole
        numbers from 0 to the goal.
    map_action : mapping, optional
        The actions that other texts stand for, such as ``{"punt": "continue"}``; all others are
        continue, c or 0, and finish, f or 1.
    group : str or sequence of str, optional
        The columns that make the groups; several are crossed.
    skip_bad_rows : bool
        Whether to cut a case at its first bad row instead of refusing the table.

    Returns
    -------
    Records

    Raises
    ------
    InvalidRecords
        If rows break a rule, or the table as a whole cannot be read.
    InvalidInput
        If there is no such file, or another argument is not allowed.
    """
    goal = check_goal(goal)
    named_states = check_map(
        "map_state", map_state, lambda name, state: check_whole(name, state, 0, goal)
    )
    named_actions = check_map("map_action", map_action, check_action)
    choice = _check_choice(columns, group)
    is_file = isinstance(source, str | Path)
    table = read_file(source, choice) if is_file else read_frame(source, choice)
    rows = Rows(table, goal, {}, np.zeros(len(table.places), dtype=np.int64))
    has_case = _parse_columns(rows, named_states, named_actions)
    rows.check_transitions()
    order = np.flatnonzero(has_case)
    left_out: dict[str, Ints] = {}
    if CASE in table.columns:
        if STEP not in rows.values or (rows.values[STEP] == NO_STEP).any():
            rows.values[STEP] = _number_steps(rows.values[CASE], rows.values.get(STEP))
        order = order[_sort_by_case_and_step(rows, order)]
        again = rows.find_duplicates(order)
        if again.any():
            left_out[DUPLICATE], order = order[again], order[~again]
        rows.check_neighbours(order)
    if rows.findings:
        if not skip_bad_rows:
            rows.refuse()
        order = _skip_bad_rows(rows, order, left_out, np.flatnonzero(~has_case))
    built = _build_records(rows, order, left_out)
    if not (named_states or named_actions):
        return built
    return replace(built, labels=_find_labels(table, goal, named_states, named_actions))


def _check_choice(columns: object, group: object) -> ColumnChoice:
    """Check which columns were asked for."""
    if columns is not None and not isinstance(columns, Mapping):
        raise InvalidInput(
            f"columns = {columns!r} was given; it must be a mapping such as {{'case': 'patient'}}"
        )
    for role in columns or {}:
        if str(role) not in ROLES:
            meant = did_you_mean(str(role), ROLES) or f"it must be one of {', '.join(ROLES)}"
            raise InvalidInput(
                f"columns has the key {str(role)!r}, which is not the role of a column; {meant}"
            )
    groups = (group,) if isinstance(group, str) else group
    if not isinstance(groups, Sequence):
        raise InvalidInput(
            f"group = {group!r} was given; it must be the name of a column, or several"
        )
    if len({*map(str, groups)}) < len(groups):
        raise InvalidInput(
            f"group = {', '.join(map(str, groups))} was given; it must name each column once"
        )
    return ColumnChoice(
        {str(role): str(name) for role, name in (columns or {}).items()}, tuple(map(str, groups))
    )


def _parse_columns(
    rows: Rows, named_states: dict[str, int], named_actions: dict[str, int]
) -> Bools:
    """Understand every cell, and apply the rules about cells; return which rows have a case."""
    table, goal = rows.table, rows.goal
    if not len(table.places):
        refuse(1, "no-rows", "the table names its columns but has no rows; it needs one per step")
    rows.find("cells", "", table.uneven, lambda _: _OTHER_CELLS)
    aggregated = CASE not in table.columns
    state = (
        f"it must be a whole number from 0 to {goal:,}, or be mapped to one (--map-state mild=3)"
    )
    number = f"it must be a whole number from 0 to {MOST_STEPS:,}"
    whole = partial(read_cells, read=partial(read_whole, most=MOST_STEPS))
    how: dict[str, tuple[Callable[[list[str]], Cells], str]] = {
        CASE: (number_texts, "every row needs the case that it belongs to"),
        STEP: (whole, number),
        STATE: (
            partial(read_cells, read=partial(read_state, goal=goal, named=named_states)),
            state,
        ),
        ACTION: (
            partial(read_cells, read=partial(read_action, named=named_actions)),
            "it must be continue (c, 0) or finish (f, 1), or be mapped to one of them"
            " (--map-action stop=finish)",
        ),
        NEXT_STATE: (
            partial(
                read_cells, read=partial(read_state, goal=goal, named={"": OPEN, **named_states})
            ),
            f"{state}, or be left empty while the case is open",
        ),
        ORDER: (rank_orders, "it must be a number or an ISO date, of the same kind in all rows"),
        COUNT: (whole, number),
    }
    unread = (STEP, ORDER) if aggregated else (COUNT,)
    has_case: Bools = np.ones(len(table.places), dtype=np.bool_)
    for role, column in table.columns.items():
        if role in unread:
            continue
        parse, allowed = how[role]
        cells = parse(column.texts)
        rows.values[role] = cells.values[column.codes]
        if cells.bad.any():
            rows.check_cells(role, column, cells.bad, allowed)
        if role == CASE:
            if column.decimal:
                _refuse_decimals(column)
            has_case = ~cells.bad[column.codes]
    for column in table.groups:
        rows.check_cells(
            "group", column, number_texts(column.texts).bad, "every row needs its group"
        )
    if table.groups:
        rows.values["group"] = _cross_groups(table.groups)
    return has_case


def _refuse_decimals(column: Column) -> None:
    """Refuse cases that a frame holds as decimal numbers, which are not what the user wrote."""
    first = next(text for text in column.texts if text)
    sentence = (
        f"the column {column.name!r} holds decimal numbers such as {first}; a case is exact"
        " text, so read the column as text or as whole numbers"
    )
    refuse(1, "case", sentence, column.name)


def _cross_groups(columns: Sequence[Column]) -> Ints:
    """Return one number for each combination of the columns' texts."""
    combined = columns[0].codes.astype(np.int64)
    for column in columns[1:]:
        combined = combined * len(column.texts) + column.codes
        combined = np.unique(combined, return_inverse=True)[1]
    return combined


def _number_steps(case: Ints, given: Ints | None) -> Ints:
    """Give a step to rows without one: that of the row before in the table, of the same case.

    Without a column of steps, rows keep their order in the table.
    """
    by_case = np.argsort(case, kind="stable")
    at = np.arange(len(case))
    start = np.maximum.accumulate(np.where(first_of_case(case[by_case]), at, 0))
    steps = np.empty(len(case), dtype=np.int64)
    if given is None:
        steps[by_case] = at - start + 1
    else:
        known = given[by_case]
        last = np.maximum.accumulate(np.where(known == NO_STEP, -1, at))
        steps[by_case] = np.where(last >= start, known[last], NO_STEP)
    return steps


def _sort_by_case_and_step(rows: Rows, order: Ints) -> Ints:
    """Give cases their numbers, in their order, and return how to sort rows by case and step."""
    case = rows.values[CASE]
    # The first row of each case, and the cases in the order of those rows.
    first = np.full(int(case.max()) + 1, len(case))
    first[case[order][::-1]] = order[::-1]
    keys = [first]
    if ORDER in rows.values:
        keys.append(rows.values[ORDER][np.minimum(first, len(case) - 1)])
    number = np.empty(len(first), dtype=np.int64)
    number[np.lexsort(keys)] = np.arange(len(first))
    rows.values[CASE] = case = number[case]
    here, step = case[order], rows.values[STEP][order]
    span = int(step.max(initial=0)) + 2
    if span * len(first) < 2**62:
        return np.argsort(here * span + step, kind="stable")
    return np.lexsort((step, here))


def _skip_bad_rows(rows: Rows, order: Ints, left_out: dict[str, Ints], homeless: Ints) -> Ints:
    """Leave out the first bad row of every case and those after it; return the rows kept."""
    broken = rows.broken[order] > 0
    if CASE in rows.values:
        first, rest = cut_cases(rows.values[CASE][order], broken)
    else:
        first, rest = broken, np.zeros(len(order), dtype=np.bool_)
    left_out |= rows.group_by_rule(np.concatenate([order[first], homeless]))
    if rest.any():
        left_out[REST] = order[rest]
    kept: Ints = order[~(first | rest)]
    if not len(kept):
        what = ", ".join(f"{len(rows)} by {rule}" for rule, rows in left_out.items())
        refuse(1, "no-rows", f"no row is left after the bad ones are skipped ({what})")
    return kept


def _build_records(rows: Rows, order: Ints, left_out: dict[str, Ints]) -> Records:
    """Make the records of the rows that are kept, in their order."""
    table, goal = rows.table, rows.goal
    notes = _write_notes(rows, left_out)
    if COUNT in rows.values:
        order = order[rows.values[COUNT][order] > 0]
        if not len(order):
            refuse(1, "no-rows", "every count of the table is 0, so there is nothing in it")
    values = {role: column[order] for role, column in rows.values.items()}
    zeros = np.zeros(len(order), dtype=np.int64)
    case, cases = renumber_cases(values[CASE]) if CASE in values else (zeros.copy(), 0)
    groups, group = _name_groups(rows, order) if table.groups else ((), zeros)
    empty, no_row = count_open_cases(goal, case, values[NEXT_STATE]) if cases else (0, 0)
    moves = values.get(COUNT, zeros + 1)
    if moves.sum(dtype=np.float64) > _MOST_MOVES:
        sentence = f"the counts add up to more than {_MOST_MOVES:,}, too many to compute shares"
        refuse(1, "count", sentence, rows.name(COUNT))
    stays = (values[ACTION] == Action.CONTINUE) & (values[NEXT_STATE] == values[STATE])
    if 2 * int(moves[stays].sum()) > int(moves.sum()):
        notes.append(
            "More than half of all rows stay in place: the rows seem to be visits rather than"
            " moves; that changes how long cases take, not who reaches the goal."
        )
    return Records(
        goal=goal,
        rows=len(table.places),
        cases=cases,
        case=case,
        step=values.get(STEP, zeros.copy()),
        state=values[STATE],
        action=values[ACTION],
        next_state=values[NEXT_STATE],
        count=moves,
        groups=groups,
        group=group,
        aggregated=CASE not in values,
        open_empty_next=empty,
        open_no_row=no_row,
        dropped=MappingProxyType({rule: len(those) for rule, those in left_out.items()}),
        first_lines=MappingProxyType(
            {rule: int(table.places[those].min()) for rule, those in left_out.items()}
        ),
        notes=tuple(notes),
    )


def _find_labels(
    table: Table, goal: int, named_states: dict[str, int], named_actions: dict[str, int]
) -> Labels:
    """Return the words of the table for its states and actions, as far as they occur in it."""
    states = _first_words(named_states, table.list_texts(STATE) | table.list_texts(NEXT_STATE))
    texts = table.list_texts(ACTION)
    actions = _first_words(named_actions, {text for text in texts if not text.isdigit()})
    # A word that stands beside our own for the same action is not what it is called.
    plain = {read_action(text, {}) for text in texts if text not in named_actions}
    return Labels(
        tuple(states.get(state, "") for state in range(goal + 1)) if states else (),
        tuple(
            ours if action in plain else actions.get(action, ours)
            for action, ours in enumerate(ACTIONS)
        ),  # type: ignore[arg-type]
    )


def _first_words(mapped: Mapping[str, int], texts: set[str]) -> dict[int, str]:
    """Return for each number the first word of a mapping that is among the texts of a table."""
    words: dict[int, str] = {}
    for text, number in mapped.items():
        if text in texts and text != str(number):
            # A short word on one line.
            plain = "".join(c if c.isprintable() else " " for c in text)
            words.setdefault(number, shorten(" ".join(plain.split())))
    return {number: word for number, word in words.items() if word}


def _name_groups(rows: Rows, order: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the names of the groups by first appearance among the rows kept, and their numbers."""
    group, in_table = rows.values["group"], np.sort(order)
    here, first = np.unique(group[in_table], return_index=True)
    if len(here) > MOST_GROUPS:
        raise InvalidInput(
            f"{rows.name('group')!r} makes {len(here):,} groups of cases; at most {MOST_GROUPS} are"
            " analysed, so choose a column with fewer different values"
        )
    names = tuple(
        " / ".join(column.texts[column.codes[row]] for column in rows.table.groups)
        for row in in_table[np.sort(first)].tolist()
    )
    if len(set(names)) < len(names):
        raise InvalidInput(
            "two groups have the same name when their columns are crossed with ' / ' between;"
            " write the names in the table without it"
        )
    number = np.argsort(np.argsort(first))
    return names, number[np.searchsorted(here, group[order])]


def _write_notes(rows: Rows, left_out: Mapping[str, Ints]) -> list[str]:
    """Say in whole sentences what a user should know of a table that was read."""
    table = rows.table
    notes = list(table.notes)
    if CASE in table.columns and STEP not in table.columns:
        notes.append("There is no column of steps: the rows of a case keep their order.")
    if CASE in table.columns and COUNT in table.columns:
        notes.append(
            f"The column {table.columns[COUNT].name!r} is not used, since rows belong to cases."
        )
    if DUPLICATE in left_out:
        places = table.places[left_out[DUPLICATE]]
        one = len(places) == 1
        notes.append(
            f"{len(places):,} {'row repeats' if one else 'rows repeat'} an earlier one of the same"
            f" case and step, and {'was' if one else 'were'} left out; the first is"
            f" {table.name_place(int(places.min()))}."
        )
    if COUNT in rows.values and (nothing := rows.values[COUNT] == 0).any():
        notes.append(f"{np.count_nonzero(nothing):,} rows have a count of 0 and add nothing.")
    return notes
