"""The types of columns: how Parquet holds them, and their texts in SQL.

Left out, as DuckDB cannot hold them exactly: decimals of more than 38 digits (it reads them as
floating-point numbers).
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, by which it holds its values.

    `canonical` and `shown` are SQL with `{0}` for the column: the text that counts as the key, and
    the one that stands in a text file. `shown` is None for what has none.
    """

    name: str
    arrow: pa.DataType | None = None
    canonical: str = "{0}::VARCHAR"
    shown: str | None = "{0}::VARCHAR"

    @property
    def is_text(self) -> bool:
        """Returns whether the values are texts, which can be written in many ways."""
        return self in TEXTS


def decimal(arrow: pa.DataType) -> ColumnType:
    """A decimal, whose key has no zeros at the end."""
    # DuckDB shows no zero before the point of a type that has no digits there.
    shown = f"{{0}}::DECIMAL(38, {arrow.scale})::VARCHAR"
    canonical = f"rtrim(regexp_replace({shown}, '(\\.\\d*?)0+$', '\\1'), '.')"
    return ColumnType(f"{arrow}", arrow, canonical, shown)


def timestamp(unit: str, zone: str | None = None) -> ColumnType:
    """A timestamp. With a zone it is one of universal time, whatever the zone."""
    text = "regexp_replace({0}::VARCHAR, '\\+00$', 'Z')" if zone else "{0}::VARCHAR"
    arrow = pa.timestamp(unit, zone)
    return ColumnType(f"{arrow}", arrow, text, f"replace({text}, ' ', 'T')")


def of(arrow: pa.DataType) -> ColumnType:
    """A type whose canonical text is what DuckDB shows."""
    return ColumnType(f"{arrow}", arrow)


def floating(arrow: pa.DataType) -> ColumnType:
    """A floating-point number, whose key is a whole number. NaN is a null."""
    canonical = "TRY_CAST({0} AS HUGEINT)::VARCHAR"
    shown = "CASE WHEN isnan({0}) THEN 'NaN' ELSE {0}::VARCHAR END"
    return ColumnType(f"{arrow}", arrow, canonical, shown)


def binary(arrow: pa.DataType) -> ColumnType:
    """Bytes."""
    return ColumnType(f"{arrow}", arrow, "lower(hex({0}))", None)


TEXT = ColumnType("text")
STRINGS = tuple(
    of(arrow)
    for arrow in (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    )
)
TEXTS = (TEXT, *STRINGS)

INTEGERS = tuple(
    of(arrow)
    for arrow in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    )
)
DECIMALS = tuple(
    decimal(arrow)
    for arrow in (
        pa.decimal32(9, 0),
        pa.decimal64(15, 2),
        pa.decimal128(38, 9),
        pa.decimal128(12, 4),
        pa.decimal128(5, 5),
    )
)
FLOATS = tuple(floating(arrow) for arrow in (pa.float16(), pa.float32(), pa.float64()))
BOOLEAN = of(pa.bool_())
DATES = (of(pa.date32()), of(pa.date64()))
UNITS = ("s", "ms", "us", "ns")
TIMESTAMPS = tuple(timestamp(unit) for unit in UNITS)
ZONED_TIMESTAMPS = tuple(
    timestamp(unit, zone)
    for unit, zone in zip(UNITS, ("UTC", "Europe/Berlin", "+05:30", "UTC"), strict=True)
)
TIMES = tuple(
    of(arrow) for arrow in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
)
UUID = ColumnType("uuid", pa.uuid(), shown=None)
BINARIES = tuple(
    binary(arrow) for arrow in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(16))
)
