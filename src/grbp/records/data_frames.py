"""Read a table of past cases from a data frame, or a mapping of columns.

A column is read as the number of each cell's text among the different texts of the column. What
follows looks at those few texts, and goes over the rows with NumPy.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grbp.errors import InvalidInput
from grbp.records.columns import Column, ColumnChoice, Table, find_columns
from grbp.records.files import number_keys


def read_frame(source: Any, choice: ColumnChoice) -> Table:
    """Read a data frame, or a mapping from names to columns."""
    if hasattr(source, "collect"):
        raise InvalidInput("a lazy frame was given; collect() it first")
    keys = source if isinstance(source, Mapping) else getattr(source, "columns", None)
    if keys is None or isinstance(keys, str) or not hasattr(source, "__getitem__"):
        raise InvalidInput(
            f"a table of type {type(source).__name__} was given; it must be the path of a file,"
            " a pandas or Polars frame, or a mapping of names to columns"
        )
    by_name = {str(key): key for key in keys}
    found, notes = find_columns([str(key) for key in keys], choice, 0)
    read = [_frame_column(name, source[by_name[name]]) for name in [*found.values(), *choice.group]]
    rows = len(read[0].codes)
    for column in read:
        if len(column.codes) != rows:
            raise InvalidInput(
                f"the column {column.name!r} has {len(column.codes):,} rows and the first one has"
                f" {rows:,}; all columns must have the same number of rows"
            )
    return Table(
        "row",
        dict(zip(found, read, strict=False)),
        read[len(found) :],
        np.arange(1, rows + 1),
        np.zeros(rows, dtype=np.bool_),
        _read_index(source, rows),
        notes,
    )


def _read_index(source: Any, rows: int) -> list[object] | None:
    """Return the labels of a frame's rows, if there are any and they are not counted from 0."""
    index: Any = getattr(source, "index", None)
    labels = index.tolist() if hasattr(index, "tolist") else None
    return None if labels == list(range(rows)) else labels


def _frame_column(name: str, values: Any) -> Column:
    """Return a column of a frame; values that are missing are empty text."""
    try:
        # NumPy would turn what is missing in a list of texts into the text "nan".
        plain = isinstance(values, list | tuple)
        array: NDArray[Any] = np.asarray(values, dtype=object if plain else None)
    except ValueError:  # rows of unequal lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise InvalidInput(f"the column {name!r} does not hold one value for each row")
    if array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low <= 2 * len(array) and high < 2**63:
            codes = array.astype(np.int64) - low
            return Column(name, codes, [str(value) for value in range(low, high + 1)])
    if array.dtype.kind in "iufbM":
        different, codes = np.unique(array, return_inverse=True)
        texts = [_cell_text(value) for value in different]
        return Column(name, codes, texts, array.dtype.kind == "f" and any(texts))
    numbers: dict[Any, int] = number_keys()
    try:
        codes = np.fromiter(map(numbers.__getitem__, array.tolist()), np.int64, len(array))
    except TypeError as error:
        raise InvalidInput(
            f"the column {name!r} holds lists or other things that are not single values"
        ) from error
    texts = [_cell_text(value) for value in numbers]
    decimal = any(
        isinstance(value, float) and text for value, text in zip(numbers, texts, strict=True)
    )
    return _merge_equal_texts(Column(name, codes, texts, decimal))


def _merge_equal_texts(column: Column) -> Column:
    """Give equal texts of different values, such as 1 and "1", the same number."""
    numbers = number_keys()
    again = np.array([numbers[text] for text in column.texts], dtype=np.int64)
    if len(numbers) == len(again):
        return column
    return column._replace(codes=again[column.codes], texts=list(numbers))


def _cell_text(value: Any) -> str:
    """Return a value of a frame as text; one that is missing is empty."""
    if isinstance(value, str):
        return value
    missing = value is None or type(value).__name__ in ("NAType", "NaTType") or str(value) == "NaT"
    if missing or (isinstance(value, float | np.floating) and value != value):  # noqa: PLR0124
        return ""
    return str(value)
