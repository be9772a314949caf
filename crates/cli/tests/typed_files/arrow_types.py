"""The types of Arrow's `Schema.fbs` that are not nested: each member of its `Type`, with each of
its parameters.

They are written by pyarrow, to Arrow files and, if it can, to Parquet; some by others, too.
"""

import random
from functools import partial
from typing import Any

import pyarrow as pa

from . import values
from .column_types import (
    ALL,
    ARROW_ONLY,
    BOTH,
    IN_ARROW_ALONE,
    NEITHER_KEY_NOR_TEXT,
    VARCHAR,
    WITHOUT_TEXT,
    Type,
    short_decimal,
)
from .plain import NANOSECONDS
from .spelling import (
    BYTES,
    DATE,
    DECIMAL,
    INTEGER,
    MOMENT,
    NULL,
    OTHER,
    TEXT,
    TIME,
    TRUTH,
    ZONED,
    floats,
)
from .values import INT64, STRINGS, Draw, beneath, some, text, whole


def integer(arrow: pa.DataType, signed: bool) -> Type:
    draw = some(whole(arrow.bit_width, signed), arrow)
    return Type(f"{arrow}", draw, INTEGER, sql=VARCHAR, written_by=ALL)


def decimal(arrow: pa.DataType) -> Type:
    sql = short_decimal(arrow.scale) if arrow.scale >= 0 and arrow.precision <= 38 else None
    # Parquet's scales are not negative.
    formats = BOTH if arrow.scale >= 0 else ARROW_ONLY
    refused = frozenset({"parquet"} if arrow.scale < 0 else ())
    return Type(
        f"{arrow}", values.decimals(arrow), DECIMAL, refused, "Decimal", formats=formats, sql=sql
    )


def timestamp(unit: str, zone: str | None) -> Type:
    arrow = pa.timestamp(unit, zone)
    sql = "regexp_replace({0}::VARCHAR, '\\+00$', 'Z')" if zone else VARCHAR
    kind = ZONED if zone else MOMENT
    return Type(
        f"{arrow}",
        beneath(values.moments(unit), 64, arrow),
        kind,
        sql=None if zone and unit == "ns" else sql,
    )


def shown_timestamp(unit: str) -> Type:
    """Timestamps that other libraries can write, too."""
    arrow = pa.timestamp(unit)
    draw = beneath(values.shown_moments(unit), 64, arrow)
    return Type(f"shown {arrow}", draw, MOMENT, sql=VARCHAR, written_by=ALL)


def time(unit: str) -> Type:
    bits, arrow = (32, pa.time32(unit)) if unit in ("s", "ms") else (64, pa.time64(unit))
    return Type(f"{arrow}", beneath(values.of_day(unit), bits, arrow), TIME, sql=VARCHAR)


def dictionary(
    draw: Draw, arrow: pa.DataType, index: pa.DataType, ordered: bool = False, **rest: Any
) -> Type:
    """A dictionary, of whose values some are in no row, and some are there twice."""

    def drawn(rng: random.Random, rows: int) -> pa.Array:
        held = draw(rng, 30).drop_null()
        places = some(lambda rng: rng.randrange(len(held)), index)(rng, rows)
        return pa.DictionaryArray.from_arrays(places, held, ordered=ordered)

    mark = ", ordered" if ordered else ""
    return Type(f"dictionary<{arrow}, {index}{mark}>", drawn, **rest)


def dictionary_with_nulls() -> Type:
    """A dictionary that has nulls among its values, which pyarrow does not write to Parquet."""

    def drawn(rng: random.Random, rows: int) -> pa.Array:
        held = pa.array(["a", None, "", None])
        return pa.DictionaryArray.from_arrays(
            some(lambda rng: rng.randrange(4), pa.int8())(rng, rows), held
        )

    return Type("dictionary with nulls", drawn, TEXT, formats=ARROW_ONLY)


def month_day_nano(rng: random.Random) -> tuple[int, int, int]:
    return rng.choice([-(2**31), 0, 9]), 2**31 - 1, rng.choice([-(2**63), 2**63 - 1])


def in_units(unit: str, nanoseconds: int) -> int:
    return nanoseconds // NANOSECONDS[unit]


INDEXES = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]

# Null, Int, FloatingPoint, Bool.
NUMBERS = [
    Type(
        "null",
        some(lambda _: None, pa.null()),
        NULL,
        frozenset({"given"}),
        "Null",
        written_by=("pyarrow", "polars"),
    ),
    *(integer(arrow, True) for arrow in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *(integer(arrow, False) for arrow in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    *(
        Type(
            f"{arrow}",
            beneath(values.float_bits(bits), bits, arrow),
            floats(bits),
            frozenset({"given"} if bits == 16 else ()),
            "Float16",
            # DuckDB has one NaN only.
            written_by=("pyarrow",) if bits == 16 else ("pyarrow", "polars"),
        )
        for bits, arrow in ((16, pa.float16()), (32, pa.float32()), (64, pa.float64()))
    ),
    *(
        Type(
            f"whole {arrow}",
            some(values.whole_numbers, arrow),
            floats(bits),
            frozenset({"given"} if bits == 16 else ()),
            "Float16",
            written_by=("pyarrow",) if bits == 16 else ALL,
        )
        for bits, arrow in ((16, pa.float16()), (32, pa.float32()), (64, pa.float64()))
    ),
    Type("bool", some(values.truth, pa.bool_()), TRUTH, sql=VARCHAR, written_by=ALL),
]
# Decimal, of each width, with all digits.
DECIMALS = [
    *map(
        decimal,
        (
            pa.decimal32(9, 3),
            pa.decimal64(18, 0),
            pa.decimal128(38, 37),
            pa.decimal128(5, 2),
            pa.decimal256(76, 10),
            pa.decimal128(20, -3),
        ),
    )
]
# Utf8, LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView, FixedSizeBinary.
TEXTS = [
    *(
        Type(f"{arrow}", some(text, arrow), TEXT, sql="nullif({0}::VARCHAR, '')", written_by=ALL)
        for arrow in (pa.string(), pa.large_string(), pa.string_view())
    ),
    *(
        Type(
            f"{arrow}",
            some(values.data, arrow),
            BYTES,
            WITHOUT_TEXT,
            "Binary",
            written_by=ALL,
            sql="nullif(lower(hex({0})), '')",
        )
        for arrow in (pa.binary(), pa.large_binary(), pa.binary_view())
    ),
    *(
        Type(
            f"binary({width})",
            some(values.digits(width), pa.binary(width)),
            BYTES,
            WITHOUT_TEXT,
            "FixedSizeBinary",
            sql="lower(hex({0}))",
        )
        for width in (1, 12, 16)
    ),
]
# Date, Time, Timestamp, Duration, Interval, of each unit.
TIMES = [
    Type("date32", beneath(values.days, 32, pa.date32()), DATE, sql=VARCHAR),
    Type(
        "date64",
        beneath(lambda rng: 86_400_000 * values.days(rng), 64, pa.date64()),
        DATE,
        sql=VARCHAR,
    ),
    Type(
        "shown date32",
        beneath(values.shown_days, 32, pa.date32()),
        DATE,
        sql=VARCHAR,
        written_by=ALL,
    ),
    *map(time, ("s", "ms", "us", "ns")),
    *(
        timestamp(unit, zone)
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin", "+05:30")
    ),
    *map(shown_timestamp, ("ms", "us", "ns")),
    *(
        Type(
            f"{pa.duration(unit)}",
            beneath(whole(64), 64, pa.duration(unit)),
            OTHER,
            NEITHER_KEY_NOR_TEXT,
            "Duration",
            unmarked=Type(
                f"{pa.duration(unit)} beneath", INT64, INTEGER, logical=partial(in_units, unit)
            ),
        )
        for unit in ("s", "ms", "us", "ns")
    ),
    *(
        Type(
            f"interval<{unit}>",
            some(whole(arrow.bit_width), arrow),
            OTHER,
            IN_ARROW_ALONE,
            "Interval",
            formats=ARROW_ONLY,
            c_format=c_format,
        )
        for unit, arrow, c_format in (
            ("year_month", pa.int32(), "tiM"),
            ("day_time", pa.int64(), "tiD"),
        )
    ),
    Type(
        "interval<month_day_nano>",
        some(month_day_nano, pa.month_day_nano_interval()),
        OTHER,
        IN_ARROW_ALONE,
        "Interval",
        formats=ARROW_ONLY,
    ),
]
# Dictionaries of all indexes, and of values that are no texts.
DICTIONARIES = [
    *(
        dictionary(STRINGS, pa.string(), index, ordered, kind=TEXT)
        for index in INDEXES
        for ordered in (False, True)
    ),
    dictionary_with_nulls(),
    dictionary(INT64, pa.int64(), pa.int8(), kind=INTEGER),
    dictionary(
        some(values.data, pa.binary()),
        pa.binary(),
        pa.uint16(),
        kind=BYTES,
        refused=WITHOUT_TEXT,
        called="Binary",
    ),
    dictionary(
        beneath(values.moments("us"), 64, pa.timestamp("us", "Europe/Berlin")),
        pa.timestamp("us", "Europe/Berlin"),
        pa.int32(),
        kind=ZONED,
    ),
]
ARROW_TYPES = [*NUMBERS, *DECIMALS, *TEXTS, *TIMES, *DICTIONARIES]
