"""Types that DuckDB and Polars have of their own, as they write them to files."""

import random
import struct
import uuid
from typing import Any

import polars as pl
import pyarrow as pa

from . import values
from .column_types import (
    IN_PARQUET_ALONE,
    NEITHER_KEY_NOR_TEXT,
    NOWHERE,
    VARCHAR,
    WITHOUT_TEXT,
    Type,
    short_decimal,
)
from .spelling import DECIMAL, MOMENT, OTHER, TEXT, TIME, UUID, ZONED, Kind, floats
from .values import INT64, Draw, beneath, some, whole


def of_duckdb(name: str, draw: Draw, kind: Kind, **rest: Any) -> Type:
    """A type that DuckDB makes of what is drawn."""
    cast = rest.pop("cast", f"{{0}}::{name}")
    return Type(
        f"DuckDB {name}",
        draw,
        kind,
        formats=("parquet",),
        written_by=("duckdb",),
        cast=cast,
        **rest,
    )


def of_polars(name: str, draw: Draw, kind: Kind, polars: pl.DataType, **rest: Any) -> Type:
    """A type that Polars makes of what is drawn."""
    return Type(f"Polars {name}", draw, kind, written_by=("polars",), polars=polars, **rest)


def bits_of_float(value: int) -> int:
    return struct.unpack("<q", struct.pack("<d", float(value)))[0]


def written_uuid(rng: random.Random) -> str:
    return str(uuid.UUID(bytes=rng.randbytes(16)))


def timestamps(unit: str, zone: str | None = None) -> Draw:
    return beneath(values.shown_moments(unit), 64, pa.timestamp(unit, zone))


WORDS = some(lambda rng: rng.choice(["a", "b", "Straße"]), pa.string())
BITS = some(lambda rng: rng.choice(["0", "1", "101", "0" * 40]), pa.string())
TIMES = beneath(values.of_day("us"), 64, pa.time64("us"))

LIBRARY_TYPES = [
    # DuckDB writes its widest integers as floating-point numbers.
    of_duckdb(
        "HUGEINT",
        some(lambda rng: rng.randint(-99, 99), pa.int64()),
        floats(64),
        logical=bits_of_float,
    ),
    of_duckdb(
        "UHUGEINT",
        some(lambda rng: rng.randint(0, 99), pa.int64()),
        floats(64),
        logical=bits_of_float,
    ),
    of_duckdb("BIGNUM", some(lambda rng: rng.randint(-99, 99), pa.int64()), TEXT, logical=str),
    of_duckdb("BIT", BITS, TEXT),
    of_duckdb("ENUM", WORDS, TEXT, cast="{0}::ENUM('a', 'b', 'Straße')", sql=VARCHAR),
    of_duckdb("JSON", some(values.json, pa.string()), TEXT, sql=VARCHAR),
    of_duckdb(
        "UUID",
        some(written_uuid, pa.string()),
        UUID,
        refused=WITHOUT_TEXT,
        called="FixedSizeBinary",
        logical=lambda text: uuid.UUID(text).bytes,
        sql=VARCHAR,
    ),
    of_duckdb(
        "INTERVAL",
        some(whole(31, False), pa.int32()),
        OTHER,
        cast="to_days({0})",
        refused=NOWHERE,
        called="INTERVAL",
    ),
    of_duckdb("TIME", TIMES, TIME, sql=VARCHAR),
    of_duckdb("TIMETZ", TIMES, TIME),
    of_duckdb("TIMESTAMP_S", timestamps("s"), MOMENT),
    of_duckdb("TIMESTAMP_MS", timestamps("ms"), MOMENT),
    of_duckdb("TIMESTAMP_NS", timestamps("ns"), MOMENT),
    of_duckdb("TIMESTAMPTZ", timestamps("us", "UTC"), ZONED),
    *(
        of_duckdb(
            f"DECIMAL({precision}, {scale})",
            values.decimals(pa.decimal128(precision, scale)),
            DECIMAL,
            # DuckDB shows no zero before the point if no other digit can be there.
            sql=short_decimal(scale) if scale < precision else None,
        )
        for precision, scale in ((4, 1), (9, 0), (18, 3), (38, 38))
    ),
    of_duckdb(
        "UNION",
        INT64,
        OTHER,
        cast="union_value(a := {0})",
        refused=NEITHER_KEY_NOR_TEXT,
        called="Struct",
        is_as_written=True,
    ),
    of_duckdb(
        "VARIANT", INT64, OTHER, refused=IN_PARQUET_ALONE, called="VARIANT", is_as_written=True
    ),
    # For a null array, DuckDB writes something that pyarrow cannot read.
    of_duckdb(
        "ARRAY",
        values.all_of(lambda rng: [rng.randint(0, 9), None], pa.list_(pa.int32(), 2)),
        OTHER,
        cast="{0}::INT[2]",
        refused=NEITHER_KEY_NOR_TEXT,
        called="List",
    ),
    of_polars("Int128", INT64, OTHER, pl.Int128(), refused=NOWHERE, called="128 bits"),
    of_polars(
        "UInt128",
        some(whole(8, False), pa.uint8()),
        OTHER,
        pl.UInt128(),
        refused=NOWHERE,
        called="128 bits",
    ),
    of_polars("Categorical", WORDS, TEXT, pl.Categorical()),
    of_polars("Enum", WORDS, TEXT, pl.Enum(["a", "b", "Straße"])),
    of_polars("Time", beneath(values.of_day("ns"), 64, pa.time64("ns")), TIME, pl.Time()),
    of_polars(
        "Datetime", timestamps("us", "Europe/Berlin"), ZONED, pl.Datetime("us", "Europe/Berlin")
    ),
    of_polars("Decimal", values.decimals(pa.decimal128(38, 9)), DECIMAL, pl.Decimal(38, 9)),
    of_polars(
        "Duration",
        beneath(whole(64), 64, pa.duration("us")),
        OTHER,
        pl.Duration("us"),
        refused=NEITHER_KEY_NOR_TEXT,
        called="Duration",
    ),
    of_polars(
        "Float16",
        some(values.whole_numbers, pa.float16()),
        floats(16),
        pl.Float16(),
        refused=frozenset({"given"}),
        called="Float16",
    ),
    of_polars(
        "Array",
        some(lambda rng: [rng.randint(0, 9), None], pa.list_(pa.int32(), 2)),
        OTHER,
        pl.Array(pl.Int32, 2),
        refused=NEITHER_KEY_NOR_TEXT,
        called="List",
    ),
]
