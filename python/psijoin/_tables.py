"""Tables of any library: in as Arrow data, and out in their own type."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, Literal

from psijoin._errors import InputError
from psijoin._psijoin import Rows
from psijoin._types import Stoppable, Which

KEY = "key"
"""The column of a list of keys."""


How = Literal["in memory", "by number", "stream"]


class Use(Enum):
    """The use that a join has for a table's rows, beside their keys."""

    NOTHING = "nothing"
    FILE = "file"
    """Some go to a file."""
    BACK = "back"
    """Some come back."""


@dataclass(frozen=True)
class Wanted:
    """The parts of a table that a join needs."""

    columns: Collection[str] | None
    """The columns that it reads. None if unknown."""
    use: Use
    either: Collection[Collection[str]] = ()
    """Of each of these, it reads one more that is there: a plus may continue a name, or be
    followed by a rule.
    """
    key: Collection[str] = ()
    """The columns of the key. None of them are named if it is a table's only column."""
    beside_key: Collection[str] = ()
    """The columns that it reads beside those of the key, if they are there: sums may be of either
    party's columns.
    """
    rows: Which = "shared"
    """The rows that come back."""
    is_aligned: bool = False
    """True if they come back in an order that both parties have."""
    stopped_with_join: Callable[[Stoppable], AbstractContextManager[None]] = lambda _: nullcontext()
    """Stops work of this party, within the context, if the join is stopped."""

    def reads(self, column: str) -> bool:
        """Returns whether it reads this column, even if rows are picked by number."""
        if self.use is Use.FILE or self.columns is None or column in self.columns:
            return True
        return any(column in names for names in self.either)

    def projection(self, columns: Sequence[str]) -> Projection:
        """Returns the part that it needs of a table with these columns."""
        if self.columns is None:
            return Projection(columns, is_complete=True)
        is_complete = set(self.columns) <= set(columns) and all(set(names) & set(columns) for names in self.either)
        is_all = self.use is not Use.NOTHING or not is_complete
        return Projection([name for name in columns if is_all or self.reads(name)], is_complete)


@dataclass(frozen=True)
class Projection:
    """Columns of a table."""

    columns: Sequence[str]
    is_complete: bool
    """True if a join can do with them. If not, it fails without reading a row."""


@dataclass(frozen=True)
class Given:
    """A table as it goes into a join, and the conversion of the result."""

    rows: Any
    """Something with `__arrow_c_stream__`, or an iterator of such, the first of which has the
    columns.
    """
    how: How
    back: Callable[[Rows, Mapping[str, Any]], Any]
    """Converts the rows of a join, given its report."""
    is_interrupted: bool = False
    """True if Ctrl-C came while the table was read: the rows raise `KeyboardInterrupt`."""


def given(table: Any, wanted: Wanted) -> Given:
    """Returns this table for a join that needs these parts of it."""
    if isinstance(table, list):
        return Given(Rows.of_texts(KEY, table), "in memory", _texts)
    return _BY_LIBRARY.get(library(table), _of_another_library)(table, wanted)


def library(table: Any) -> str:
    """Returns the library that a table comes from."""
    return type(table).__module__.partition(".")[0].lstrip("_")


def of_library(table: Any, rows: Rows) -> Any:
    """Returns rows that are not the table's own as a data frame of its library."""
    match library(table):
        case "pandas":
            return pyarrow_module().table(rows).to_pandas()
        case "polars":
            return _to_polars(rows, numbered=False)
        case "pyarrow" | "duckdb":
            return pyarrow_module().table(rows)
        case "pyspark":
            return table.sparkSession.createDataFrame(pyarrow_module().table(rows))
        case _:
            return rows


def _texts(rows: Rows, _: Mapping[str, Any]) -> Any:
    return rows.texts() if rows.columns() == [KEY] else rows


def _of_pandas(frame: Any, wanted: Wanted) -> Given:
    """Lets pandas pick rows, so that its types and the index are kept. Columns that are not read
    are not converted: their placeholders take no memory."""
    _check_frame(frame)
    pyarrow = pyarrow_module()
    names = [str(name) for name in frame.columns]

    def column(number: int) -> Any:
        if not wanted.reads(names[number]):
            return pyarrow.nulls(len(frame))
        try:
            return pyarrow.array(frame.iloc[:, number], from_pandas=True)
        except pyarrow.ArrowException:
            # Its words hold values.
            message = f"the column {names[number]!r} holds values of several types, or of one that Arrow does not have"
            raise InputError(message) from None

    columns = pyarrow.table([column(number) for number in range(len(names))], names=names)

    def back(rows: Rows, _: Mapping[str, Any]) -> Any:
        found = pyarrow.table(rows)
        picked = frame.take(found.column(0).to_numpy())
        if found.num_columns == 1:
            return picked
        added = _to_pandas(found.select(range(1, found.num_columns)), found.column(0))
        added.index = picked.index
        return sys.modules["pandas"].concat([picked, added], axis="columns")

    return Given(columns, _picked(wanted), back)


def _to_pandas(columns: Any, rows: Any) -> Any:
    """Converts columns of the other party to pandas, for the rows of the table with these
    numbers.
    """
    converted = _pandas_or_none(columns)
    if converted is not None:
        return converted
    number = next(number for number, column in enumerate(columns.columns) if _pandas_or_none(column) is None)
    column = columns.column(number)
    first = bisect_left(range(len(column)), True, key=lambda row: _pandas_or_none(column[: row + 1]) is None)
    types = pyarrow_module().types
    what = "a date" if types.is_date(column.type) else "a time" if types.is_time(column.type) else "a value"
    place = f"in row {rows[first].as_py() + 1} of the table"
    raise cannot_hold("pandas", columns.column_names[number], f"{place}, {what}")


def _pandas_or_none(columns: Any) -> Any:
    try:
        return columns.to_pandas()
    except (ValueError, OverflowError):
        # Its words hold the value.
        return None


def cannot_hold(library: str, column: str, what: str) -> InputError:
    message = (
        f"the column {column!r} holds {what} that {library} cannot hold: let output name a file for the rows, or leave the "
        "column out of take"
    )
    return InputError(message)


def _of_polars(table: Any, wanted: Wanted) -> Given:
    if hasattr(table, "collect_batches"):
        return _query_of_polars(table, wanted)
    _check_frame(table)
    return _frame_of_polars(table, wanted)


def _frame_of_polars(frame: Any, wanted: Wanted) -> Given:
    """Lets polars pick rows, so that its types are kept. The placeholders of columns that are not
    read take two bits per row.
    """
    polars = sys.modules["polars"]
    unread = [name for name in frame.columns if not wanted.reads(name)]

    def back(rows: Rows, _: Mapping[str, Any]) -> Any:
        found = _to_polars(rows, numbered=True)
        return frame[found.to_series(0)].hstack(found[:, 1:])

    return Given(_nulls(frame, {*unread, *_untyped(frame.schema)}), _picked(wanted), back)


def _query_of_polars(query: Any, wanted: Wanted) -> Given:
    polars = sys.modules["polars"]
    columns = query.collect_schema()
    projection = wanted.projection(columns.names())
    untyped = _untyped(columns)

    def chosen(table: Any) -> Any:
        return _nulls(table, untyped).select(projection.columns)

    def back(rows: Rows, _: Mapping[str, Any]) -> Any:
        return _to_polars(rows, numbered=False).with_columns(polars.lit(None).alias(name) for name in untyped)

    rows = chosen(query).collect_batches() if projection.is_complete else []
    return Given(chain([chosen(columns.to_frame())], rows), "stream", back)


def _to_polars(rows: Rows, *, numbered: bool) -> Any:
    """Converts rows to polars, which would silently change some values. If `numbered`, the first
    column has the numbers of the rows in the table."""
    polars = sys.modules["polars"]
    beyond = rows.beyond_polars()
    if beyond is None:
        return polars.DataFrame(rows)
    column, row, what = beyond
    if row is not None:
        number = polars.DataFrame(rows).item(row, 0) if numbered else row
        what = f"in row {number + 1} of the {'table' if numbered else 'result'}, {what}"
    raise cannot_hold("polars", column, what)


def _untyped(schema: Any) -> list[str]:
    """Returns the columns that hold nothing but nulls: others do not understand polars' type of
    them.
    """
    return [name for name, kind in schema.items() if kind == sys.modules["polars"].Null]


def _nulls(table: Any, columns: Collection[str]) -> Any:
    """Returns a table of polars with nulls in these columns."""
    polars = sys.modules["polars"]
    nothing = polars.lit(None, dtype=polars.Boolean)
    return table.with_columns(nothing.alias(name) for name in columns)


def _of_pyarrow(table: Any, wanted: Wanted) -> Given:
    back = _to_pyarrow(wanted)
    if hasattr(table, "scanner"):
        projection = wanted.projection(table.schema.names)
        nothing = table.schema.empty_table().select(projection.columns)
        rows = table.scanner(projection.columns).to_batches() if projection.is_complete else []
        return Given(chain([nothing], rows), "stream", back)
    if hasattr(table, "projected_schema"):
        # A scanner.
        return Given(table.to_reader(), "stream", back)
    return Given(table, "in memory" if hasattr(table, "__len__") else "stream", back)


def _of_duckdb(relation: Any, wanted: Wanted) -> Given:
    return Given(relation, "stream", _to_pyarrow(wanted))


def _of_another_library(table: Any, wanted: Wanted) -> Given:
    if not hasattr(table, "__arrow_c_stream__"):
        message = (
            "a table is a data frame of pandas, polars, pyarrow, DuckDB or Spark, or anything else with "
            f"__arrow_c_stream__, not {type(table).__qualname__}"
        )
        raise TypeError(message)
    # A table that does not know its number of rows is likely to compute them.
    return Given(table, "in memory" if hasattr(table, "__len__") else "stream", lambda rows, _: rows)


def _of_spark(table: Any, wanted: Wanted) -> Given:
    from psijoin.spark import _frames

    return _frames.given(table, wanted)


_BY_LIBRARY: dict[str, Callable[[Any, Wanted], Given]] = {
    "duckdb": _of_duckdb,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_pyarrow,
    "pyspark": _of_spark,
}


def _picked(wanted: Wanted) -> How:
    """Returns how rows come back if a library picks them by itself."""
    return "by number" if wanted.use is Use.BACK else "in memory"


def _to_pyarrow(wanted: Wanted) -> Callable[[Rows, Mapping[str, Any]], Any]:
    if wanted.use is not Use.BACK:
        return _texts
    # It is missing now, or not at all: not when the other party has been met.
    table = pyarrow_module().table
    return lambda rows, _: table(rows)


def _check_frame(table: Any) -> None:
    if not hasattr(table, "columns"):
        raise TypeError(f"a table has columns, and a {type(table).__qualname__} has none: see its method to_frame")


def pyarrow_module() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        message = "this takes pyarrow, which is not installed: pip install pyarrow"
        raise ImportError(message) from error
    return pyarrow
