"""Whether columns are the same, whatever the library makes of their types."""

import math
import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def plain(array: pa.Array) -> list[Any]:
    """Values that can be compared, exact whatever they are."""
    arrow = array.type
    if isinstance(arrow, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(arrow):
        return plain(array.dictionary_decode())
    if pa.types.is_date(arrow):
        length, width = (1, pa.int32()) if pa.types.is_date32(arrow) else (86400000, pa.int64())
        return [day if day is None else day / length for day in array.view(width).to_pylist()]
    if pa.types.is_timestamp(arrow) or pa.types.is_duration(arrow) or pa.types.is_time(arrow):
        width = pa.int32() if pa.types.is_time32(arrow) else pa.int64()
        length = NANOSECONDS[arrow.unit]
        return [value if value is None else value * length for value in array.view(width).to_pylist()]
    return [comparable(value) for value in array.to_pylist()]


def comparable(value: Any) -> Any:
    """Equal to itself, and told from what is equal to it but another value."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
    return value


def meaning(field: pa.Field, is_parquet: bool) -> tuple[Any, ...]:
    """What a column's values are: units aside that Parquet lacks, and dictionaries."""
    arrow = field.type
    name = None
    if isinstance(arrow, pa.BaseExtensionType):
        name, arrow = arrow.extension_name, arrow.storage_type
    metadata = {key.decode(): value for key, value in (field.metadata or {}).items()}
    name = metadata.get("ARROW:extension:name", name)
    if pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_timestamp(arrow) and arrow.unit in ("s", "ms"):
        # pyarrow writes seconds to Parquet as milliseconds, and keeps the name of their zone where
        # only it finds it.
        arrow = pa.timestamp("ms", "UTC" if arrow.tz else None)
    # pyarrow reads days of 64 bits from Parquet as such of 32, whatever its own schema there says.
    if arrow == pa.date64():
        arrow = pa.date32()
    if is_parquet:
        if arrow == pa.time32("s"):
            arrow = pa.time32("ms")
    # Names of what is within are the writer's own.
    shown = re.sub(r" \('\w+'\)", "", f"{arrow}").replace("<element:", "<item:")
    return shown, name if name is None or isinstance(name, str) else name.decode()


def logical_types(file: pq.ParquetFile, column: str) -> list[str]:
    """The logical types of a column's leaves, but for timestamps of 96 bits, which become
    others.
    """
    leaves = (file.schema.column(leaf) for leaf in range(len(file.schema)))
    return [
        leaf.logical_type.to_json()
        for leaf in leaves
        if leaf.path.split(".")[0] == column and leaf.physical_type != "INT96"
    ]
