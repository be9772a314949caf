"""Tables of whatever library: in as Arrow data, and out as what came in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from psijoin._psijoin import Rows

KEY = "key"
"""The column of a list of keys."""


def library(table: Any) -> str:
    """The library that a table comes from."""
    return type(table).__module__.partition(".")[0].lstrip("_")


def as_stream(table: Any) -> Any:
    """Something with `__arrow_c_stream__` that has the rows of this table."""
    known = library(table)
    if isinstance(table, list):
        return Rows.of_texts(KEY, table)
    if known == "polars" and hasattr(table, "collect"):
        return table.collect()
    if known == "pyarrow" and hasattr(table, "to_table"):
        return table.to_table()
    if known == "pandas":
        # The index of a data frame is no column.
        return _pyarrow().Table.from_pandas(table, preserve_index=False)
    return table


def back(table: Any) -> Callable[[Rows], Any]:
    """What makes of rows a table of the library that this one comes from."""
    known = library(table)
    if isinstance(table, list):
        return lambda rows: rows.texts() if rows.columns() == [KEY] else rows
    if known == "pandas":
        return lambda rows: _pyarrow().table(rows).to_pandas()
    if known == "polars":
        return lambda rows: sys.modules["polars"].DataFrame(rows)
    if known in ("pyarrow", "duckdb"):
        return lambda rows: _pyarrow().table(rows)
    return lambda rows: rows


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        message = "this takes pyarrow, which is not installed: pip install pyarrow"
        raise ImportError(message) from error
    return pyarrow
