"""Columns that a join adds to a DataFrame of Spark, in types that Spark has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psijoin._errors import InputError
from psijoin._tables import pyarrow_module

if TYPE_CHECKING:
    import pyarrow

DAY = 86_400_000_000
"""A day in microseconds."""


def of_spark(columns: pyarrow.Table, names: Sequence[str]) -> pyarrow.Table:
    """Returns these columns in types that Spark has, under names that are none of these: Spark
    compares names without regard to case.
    """
    taken = {name.casefold() for name in names}
    converted, new = [], []
    for name, column in zip(columns.column_names, columns.columns, strict=True):
        converted.append(_converted(name, column))
        while name.casefold() in taken:
            name = f"partner_{name}"
        taken.add(name.casefold())
        new.append(name)
    return pyarrow_module().table(converted, names=new)


def _converted(name: str, column: Any) -> Any:
    pyarrow = pyarrow_module()
    try:
        return _cast(column)
    except (pyarrow.ArrowException, OverflowError):
        # Its words hold the value.
        message = f"the column {name!r} holds a value that Spark cannot hold: leave it out of take"
        raise InputError(message) from None


def _cast(column: Any) -> Any:
    pyarrow = pyarrow_module()
    kind = column.type
    if isinstance(kind, pyarrow.UuidType):
        texts = [None if value is None else str(UUID(bytes=value)) for value in _storage(column).to_pylist()]
        return pyarrow.chunked_array([pyarrow.array(texts, pyarrow.string())])
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _cast(_storage(column))
    if pyarrow.types.is_time(kind):
        return _times(column)
    return column.cast(_in_spark(kind))


def _storage(column: Any) -> Any:
    chunks = [chunk.storage for chunk in column.chunks]
    return pyarrow_module().chunked_array(chunks, column.type.storage_type)


def _times(column: Any) -> Any:
    """Returns times of day, which Spark has from 4.1 on. Before that they are texts."""
    pyarrow = pyarrow_module()
    times = column.cast(pyarrow.time64("us"))
    from pyspark.sql import types

    if any(value is not None and value >= DAY for value in times.cast(pyarrow.int64()).to_pylist()):
        raise OverflowError
    return times.cast(pyarrow.time64("ns") if hasattr(types, "TimeType") else pyarrow.string())


def _in_spark(kind: Any) -> Any:
    """Returns the type in Spark that has the values of this one."""
    pyarrow = pyarrow_module()
    types = pyarrow.types
    wider = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20, 0),
        pyarrow.float16(): pyarrow.float32(),
        pyarrow.date64(): pyarrow.date32(),
    }
    if kind in wider:
        return wider[kind]
    if types.is_dictionary(kind):
        return _in_spark(kind.value_type)
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", "UTC" if kind.tz else None)
    if types.is_decimal(kind):
        return pyarrow.decimal128(min(kind.precision, 38), kind.scale)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pyarrow.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        return pyarrow.binary()
    return kind
