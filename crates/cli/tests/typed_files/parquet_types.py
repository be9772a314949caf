"""The types of Parquet's `parquet.thrift`: each physical type, each member of `ConvertedType` and
of `LogicalType`, with each of its parameters, on each physical type that it is allowed on.

Their values are written as what they are physically, and the footer is changed by hand.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

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
from .footer import Annotation, byte, flag, number, text, unit
from .plain import NANOSECONDS, NANOSECONDS_PER_DAY
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
    UUID,
    ZONED,
    Kind,
    floats,
)
from .values import Draw, as_signed, scaled, some, unscaled, whole

BINARY = pa.binary()


def annotated(
    name: str, draw: Draw, kind: Kind, said: Annotation, called: str = "", **rest: Any
) -> Type:
    return Type(
        f"Parquet {name}", draw, kind, called=called, annotation=said, formats=("parquet",), **rest
    )


def physical(name: str, draw: Draw, kind: Kind, **rest: Any) -> Type:
    return annotated(name, draw, kind, Annotation(), **rest)


def both(
    name: str, draw: Draw, kind: Kind, converted: str | None = None, **rest: Any
) -> list[Type]:
    """A type that is said in the old way, and the new one, each alone, and both."""
    old, new = converted or name, Annotation(logical=name)
    return [
        annotated(f"{old}, converted", draw, kind, Annotation(converted=old), **rest),
        annotated(f"{name}, logical", draw, kind, new, **rest),
        annotated(name, draw, kind, replace(new, converted=old), **rest),
    ]


def encoded(value: values.Value) -> values.Value:
    """Texts as bytes."""
    return lambda rng: value(rng).encode()


def decode(value: bytes) -> str:
    return value.decode()


def integers(bits: int, signed: bool) -> list[Type]:
    held = pa.int64() if bits == 64 else pa.int32()
    value = whole(bits, signed)
    if not signed:
        value = as_signed(value, held.bit_width)
    mask = (1 << held.bit_width) - 1
    logical = (lambda value: value) if signed else (lambda value: value & mask)
    arrow = pa.type_for_alias(f"{'' if signed else 'u'}int{bits}")
    old = f"{'' if signed else 'U'}INT_{bits}"
    new = {1: byte(bits), 2: flag(signed)}
    said = [
        (f"{old}, converted", Annotation(converted=old), VARCHAR),
        # DuckDB takes no notice of these.
        (f"INTEGER({bits}, {signed})", Annotation(logical="INTEGER", details=new), None),
    ]
    return [
        annotated(name, some(value, held), INTEGER, of, logical=logical, arrow=arrow, sql=sql)
        for name, of, sql in said
    ]


def decimals(
    where: str, precision: int, scale: int, draw: Draw, unscaled_of: Callable[[Any], int]
) -> list[Type]:
    def logical(value: Any) -> Decimal:
        return scaled(unscaled_of(value), scale)

    details = {1: number(scale), 2: number(precision)}
    old = Annotation(converted="DECIMAL", decimal=(precision, scale))
    new = Annotation(logical="DECIMAL", details=details, decimal=(precision, scale))
    arrow = pa.decimal256(precision, scale)
    # DuckDB takes no notice of the new way.
    sql = short_decimal(scale) if where.startswith("INT") else None
    return [
        annotated(
            f"DECIMAL({precision}, {scale}) in {where}, {how}",
            draw,
            DECIMAL,
            said,
            logical=logical,
            arrow=arrow,
            sql=sql if how == "converted" else None,
        )
        for how, said in (("converted", old), ("logical", new))
    ]


def big_endian(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


def bytes_of(precision: int, width: int | None) -> Draw:
    arrow = pa.binary(width) if width else BINARY
    return some(values.twos_complement(width, unscaled(precision)), arrow)


def nanoseconds(name: str) -> Callable[[int], int]:
    return lambda value: value * NANOSECONDS[name]


def times(name: str, utc: bool) -> Type:
    arrow = pa.int32() if name == "ms" else pa.int64()
    said = Annotation(logical="TIME", details={1: flag(utc), 2: unit(name)})
    draw = some(values.of_day(name), arrow)
    arrow = pa.time32(name) if name == "ms" else pa.time64(name)
    return annotated(
        f"TIME({utc}, {name})", draw, TIME, said, logical=nanoseconds(name), arrow=arrow
    )


def timestamps(name: str, utc: bool) -> Type:
    said = Annotation(logical="TIMESTAMP", details={1: flag(utc), 2: unit(name)})
    draw, kind = some(values.moments(name), pa.int64()), ZONED if utc else MOMENT
    return annotated(
        f"TIMESTAMP({utc}, {name})",
        draw,
        kind,
        said,
        logical=nanoseconds(name),
        arrow=pa.timestamp(name, "UTC" if utc else None),
    )


def int96(value: bytes) -> int:
    """The nanoseconds of a timestamp: of a day, and the number of the day, by Julian count."""
    of_day, day = struct.unpack("<qi", value)
    return (day - 2_440_588) * NANOSECONDS_PER_DAY + of_day


def packed(days: Callable[[random.Random], int], step: int) -> values.Value:
    """Such timestamps, of days since 1970, and of nanoseconds that this divides."""

    def drawn(rng: random.Random) -> bytes:
        of_day = rng.choice([0, NANOSECONDS_PER_DAY - step, rng.randrange(10**6) * step])
        return struct.pack("<qi", of_day, days(rng) + 2_440_588)

    return drawn


def timestamps_of_96_bits(name: str, value: values.Value, held: str, **rest: Any) -> Type:
    said = Annotation(physical="INT96")
    draw, arrow = some(value, pa.binary(12)), pa.timestamp(held)
    return annotated(f"INT96 {name}", draw, MOMENT, said, logical=int96, arrow=arrow, **rest)


def far_days(rng: random.Random) -> int:
    """Days beyond those of nanoseconds in 64 bits."""
    return rng.choice([-(10**8), 10**8])


def near_days(rng: random.Random) -> int:
    return rng.choice([-106_751, 106_750, 0, -1, rng.randint(-9_999, 9_999)])


def alone(name: str, draw: Draw, said: Annotation, called: str) -> Type:
    """Types that Arrow lacks."""
    return annotated(name, draw, OTHER, said, called, refused=IN_PARQUET_ALONE)


def spatial(name: str, details: dict[int, Any], shown: str) -> Type:
    said = Annotation(logical=name, details=details)
    return alone(f"{name}({shown})", some(values.data, BINARY), said, name)


def within(
    inner: Type,
    called: str,
    refused: frozenset[str] = NEITHER_KEY_NOR_TEXT,
    called_as_text: str = "",
) -> Type:
    """A type in a group, whose own element says nothing."""

    def draw(rng: random.Random, rows: int) -> pa.Array:
        nulls = pa.array([rng.random() < 0.1 for _ in range(rows)])
        return pa.StructArray.from_arrays([inner.draw(rng, rows)], ["a"], mask=nulls)

    def logical(value: dict[str, Any]) -> dict[str, Any]:
        return {"a": None if value["a"] is None else inner.logical(value["a"])}

    return replace(
        inner,
        name=f"{inner.name} in a group",
        draw=draw,
        kind=OTHER,
        refused=refused,
        called=called,
        called_as_text=called_as_text,
        logical=logical,
        element=1,
        sql=None,
        arrow=inner.arrow and pa.struct([("a", inner.arrow)]),
    )


TEXTS = some(encoded(values.text), BINARY)
JSON = some(encoded(values.json), BINARY)
DATA = some(values.data, BINARY)
VARIANTS = some(
    lambda _: {"metadata": b"\x01\0\0", "value": b"\x0c\x07"},
    pa.struct([pa.field("metadata", BINARY, False), pa.field("value", BINARY, False)]),
)
LISTED, MAPPED = pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())
REQUIRED = pa.list_(pa.field("element", pa.int64(), nullable=False))
LISTS = some(values.several(whole(64)), LISTED)
MAPS = some(lambda rng: [("a", whole(64)(rng)), ("b", None)], MAPPED)
FILES = some(
    lambda rng: {"uri": values.text(rng), "offset": whole(64)(rng), "inline": None},
    pa.struct([("uri", pa.string()), ("offset", pa.int64()), ("inline", BINARY)]),
)
NULLS = {arrow: some(lambda _: None, arrow) for arrow in (pa.int32(), BINARY)}

PHYSICAL_TYPES = [
    physical("BOOLEAN", some(values.truth, pa.bool_()), TRUTH, sql=VARCHAR),
    physical("INT32", some(whole(32), pa.int32()), INTEGER, sql=VARCHAR),
    physical("INT64", some(whole(64), pa.int64()), INTEGER, sql=VARCHAR),
    timestamps_of_96_bits("of microseconds", packed(values.shown_days, 1_000), "us"),
    timestamps_of_96_bits("of nanoseconds", packed(near_days, 1), "ns"),
    timestamps_of_96_bits("of years that microseconds reach", packed(far_days, 1_000), "us"),
    timestamps_of_96_bits(
        "of nanoseconds in such years", packed(far_days, 1), "ns", called="INT96", refused=NOWHERE
    ),
    physical("FLOAT", values.beneath(values.float_bits(32), 32, pa.float32()), floats(32)),
    physical("DOUBLE", values.beneath(values.float_bits(64), 64, pa.float64()), floats(64)),
    physical("BYTE_ARRAY", DATA, BYTES, refused=WITHOUT_TEXT, called="Binary"),
    physical(
        "FIXED_LEN_BYTE_ARRAY",
        some(values.digits(5), pa.binary(5)),
        BYTES,
        refused=WITHOUT_TEXT,
        called="FixedSizeBinary",
    ),
]
TEXT_TYPES = [
    *both("STRING", TEXTS, TEXT, "UTF8", logical=decode, arrow=pa.string()),
    *both(
        "ENUM",
        TEXTS,
        TEXT,
        logical=decode,
        arrow=pa.string(),
        refused=frozenset({"given", "arrow"}),
        called="ENUM",
    ),
    *both("JSON", JSON, TEXT, logical=decode, arrow=pa.json_()),
    *both("BSON", DATA, OTHER, refused=IN_PARQUET_ALONE, called="BSON"),
]
NUMBER_TYPES = [
    *(
        each
        for bits in (8, 16, 32, 64)
        for signed in (True, False)
        for each in integers(bits, signed)
    ),
    *decimals("INT32", 9, 3, some(unscaled(9), pa.int32()), int),
    *decimals("INT64", 18, 18, some(unscaled(18), pa.int64()), int),
    *decimals("FIXED_LEN_BYTE_ARRAY", 38, 10, bytes_of(38, 16), big_endian),
    *decimals("FIXED_LEN_BYTE_ARRAY", 5, 2, bytes_of(5, 9), big_endian),
    *decimals("FIXED_LEN_BYTE_ARRAY", 76, 0, bytes_of(76, 32), big_endian),
    *decimals("BYTE_ARRAY", 20, 3, bytes_of(20, None), big_endian),
    *decimals("BYTE_ARRAY", 60, 3, bytes_of(60, None), big_endian),
    annotated(
        "FLOAT16",
        some(lambda rng: struct.pack("<h", values.float_bits(16)(rng)), pa.binary(2)),
        floats(16),
        Annotation(logical="FLOAT16"),
        "Float16",
        refused=frozenset({"given"}),
        logical=lambda value: struct.unpack("<h", value)[0],
        arrow=pa.float16(),
    ),
]
TIME_TYPES = [
    *both(
        "DATE",
        some(values.days, pa.int32()),
        DATE,
        logical=lambda days: days * NANOSECONDS_PER_DAY,
        arrow=pa.date32(),
    ),
    *(
        annotated(
            f"{old}, converted",
            some(value(name), held),
            kind,
            Annotation(converted=old),
            logical=nanoseconds(name),
            arrow=arrow,
        )
        for old, name, value, held, kind, arrow in (
            ("TIME_MILLIS", "ms", values.of_day, pa.int32(), TIME, pa.time32("ms")),
            ("TIME_MICROS", "us", values.of_day, pa.int64(), TIME, pa.time64("us")),
            (
                "TIMESTAMP_MILLIS",
                "ms",
                values.moments,
                pa.int64(),
                ZONED,
                pa.timestamp("ms", "UTC"),
            ),
            (
                "TIMESTAMP_MICROS",
                "us",
                values.moments,
                pa.int64(),
                ZONED,
                pa.timestamp("us", "UTC"),
            ),
        )
    ),
    *(times(name, utc) for name in ("ms", "us", "ns") for utc in (True, False)),
    *(timestamps(name, utc) for name in ("ms", "us", "ns") for utc in (True, False)),
    annotated(
        "INTERVAL",
        some(values.digits(12), pa.binary(12)),
        OTHER,
        Annotation(converted="INTERVAL"),
        "INTERVAL",
        refused=frozenset({*NOWHERE}),
    ),
]
OTHER_TYPES = [
    annotated(
        "UUID",
        some(values.digits(16), pa.binary(16)),
        UUID,
        Annotation(logical="UUID"),
        "FixedSizeBinary",
        refused=WITHOUT_TEXT,
        sql=VARCHAR,
        arrow=pa.uuid(),
    ),
    annotated(
        "UNKNOWN in INT32",
        NULLS[pa.int32()],
        NULL,
        Annotation(logical="UNKNOWN"),
        "Null",
        refused=frozenset({"given"}),
    ),
    annotated(
        "UNKNOWN in BYTE_ARRAY",
        NULLS[BINARY],
        NULL,
        Annotation(logical="UNKNOWN"),
        "Null",
        refused=frozenset({"given"}),
    ),
    alone("VARIANT", VARIANTS, Annotation(logical="VARIANT"), "VARIANT"),
    alone("VARIANT(1)", VARIANTS, Annotation(logical="VARIANT", details={1: byte(1)}), "VARIANT"),
    spatial("GEOMETRY", {}, ""),
    spatial("GEOMETRY", {1: text("EPSG:25832")}, "EPSG:25832"),
    spatial("GEOGRAPHY", {}, ""),
    spatial("GEOGRAPHY", {1: text("OGC:CRS83"), 2: number(4)}, "OGC:CRS83, KARNEY"),
    annotated("of a later version", DATA, OTHER, Annotation(logical="LATER"), "", refused=NOWHERE),
]
NESTED_TYPES = [
    *both("LIST", LISTS, OTHER, refused=NEITHER_KEY_NOR_TEXT, called="List", arrow=LISTED),
    *both("MAP", MAPS, OTHER, refused=NEITHER_KEY_NOR_TEXT, called="Map", arrow=MAPPED),
    annotated(
        "MAP_KEY_VALUE, converted",
        MAPS,
        OTHER,
        Annotation(converted="MAP_KEY_VALUE"),
        refused=NEITHER_KEY_NOR_TEXT,
        called="Map",
        arrow=MAPPED,
    ),
    annotated(
        "of a later version, nested", LISTS, OTHER, Annotation(logical="LATER"), "", refused=NOWHERE
    ),
    alone("FILE", FILES, Annotation(logical="FILE"), "FILE"),
    *(
        annotated(
            f"LIST of {levels} levels",
            values.all_of(values.full(whole(64)), REQUIRED),
            OTHER,
            Annotation(converted="LIST" if levels == 2 else None, levels=levels),
            "List",
            refused=NEITHER_KEY_NOR_TEXT,
            arrow=LISTED,
        )
        for levels in (2, 1)
    ),
    within(TEXT_TYPES[4], "ENUM", IN_PARQUET_ALONE, "Struct"),
    within(TEXT_TYPES[10], "BSON", IN_PARQUET_ALONE),
    within(times("us", True), "TIME_UTC", IN_PARQUET_ALONE),
    within(times("us", False), "Struct"),
    within(timestamps("ns", True), "Struct"),
    within(OTHER_TYPES[0], "Struct"),
    within(OTHER_TYPES[6], "GEOMETRY", IN_PARQUET_ALONE),
    within(NUMBER_TYPES[-1], "Struct"),
]

PARQUET_TYPES = [
    *PHYSICAL_TYPES,
    *TEXT_TYPES,
    *NUMBER_TYPES,
    *TIME_TYPES,
    *OTHER_TYPES,
    *NESTED_TYPES,
]
