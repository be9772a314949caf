"""Extension types: Arrow's canonical ones, and others, which psijoin does not know."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from . import values
from .column_types import NEITHER_KEY_NOR_TEXT, VARCHAR, WITHOUT_TEXT, Type
from .spelling import BOOL8, BYTES, INTEGER, OTHER, TEXT, UUID
from .values import INT64, Draw, extended, some, whole


def extension(name: str, parameters: bytes) -> type[pa.ExtensionType]:
    """An extension type of this name."""

    class Extension(pa.ExtensionType):
        def __init__(self, storage: pa.DataType) -> None:
            super().__init__(storage, name)

        def __arrow_ext_serialize__(self) -> bytes:
            return parameters

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: pa.DataType, _: bytes) -> "Extension":
            return cls(storage)

    return Extension


def named(name: str, parameters: bytes, beneath: Type, **rest: Any) -> Type:
    """An extension type that is known by its name alone: it stays in files of Parquet and Arrow.
    Where a file of Parquet does not tell of it, it is what is beneath.
    """
    draw = extended(beneath.draw, extension(name, parameters))
    refused = NEITHER_KEY_NOR_TEXT
    return Type(name, draw, OTHER, refused, name, unmarked=beneath, **rest)


def known(name: str, draw: Draw, make: Any, beneath: Type, **rest: Any) -> Type:
    """An extension type that pyarrow has."""
    drawn = extended(draw, make)
    return Type(name, drawn, **rest, unmarked=replace(beneath, draw=drawn))


WIDE = some(values.digits(16), pa.binary(16))
WIDE_BYTES = Type("binary(16)", WIDE, BYTES, WITHOUT_TEXT, "FixedSizeBinary")
WHOLE = Type("int64", INT64, INTEGER)
SMALL = Type("int8", some(whole(8), pa.int8()), INTEGER)
TEXTS = Type("string", some(values.text, pa.string()), TEXT)
DATA = Type("binary", some(values.data, pa.binary()), BYTES, WITHOUT_TEXT, "Binary")
PAIRS = Type(
    "fixed_size_list",
    some(lambda _: [1, 2], pa.list_(pa.int32(), 2)),
    OTHER,
    NEITHER_KEY_NOR_TEXT,
    "List",
)
TENSOR = Type(
    "tensor",
    some(
        lambda _: {"data": [1, 2], "shape": [2]},
        pa.struct([("data", pa.list_(pa.int32())), ("shape", pa.list_(pa.int32(), 1))]),
    ),
    OTHER,
    NEITHER_KEY_NOR_TEXT,
    "Struct",
)
VARIANT = Type(
    "variant",
    some(
        lambda _: {"metadata": b"\x01\0\0", "value": b"\x0c\x07"},
        pa.struct(
            [pa.field("metadata", pa.binary(), False), pa.field("value", pa.binary(), False)]
        ),
    ),
    OTHER,
    NEITHER_KEY_NOR_TEXT,
    "Struct",
)
OFFSET = Type(
    "moment beside its offset",
    some(
        lambda rng: {"timestamp": values.shown_moments("us")(rng), "offset_minutes": 90},
        pa.struct(
            [
                pa.field("timestamp", pa.timestamp("us", "UTC"), False),
                pa.field("offset_minutes", pa.int16(), False),
            ]
        ),
    ),
    OTHER,
    NEITHER_KEY_NOR_TEXT,
    "Struct",
)

EXTENSION_TYPES = [
    # Parquet itself tells of these.
    Type(
        "arrow.uuid",
        extended(WIDE, lambda _: pa.uuid()),
        UUID,
        WITHOUT_TEXT,
        "FixedSizeBinary",
        sql=VARCHAR,
    ),
    Type(
        "arrow.json",
        extended(some(values.json, pa.string()), pa.json_),
        TEXT,
        sql=VARCHAR,
    ),
    known(
        "arrow.bool8",
        SMALL.draw,
        lambda _: pa.bool8(),
        SMALL,
        kind=BOOL8,
        refused=frozenset({"given", "csv"}),
        called="arrow.bool8",
    ),
    known(
        "arrow.opaque",
        WIDE,
        lambda of: pa.opaque(of, "bit", "duckdb"),
        WIDE_BYTES,
        kind=OTHER,
        refused=NEITHER_KEY_NOR_TEXT,
        called="arrow.opaque",
    ),
    known(
        "arrow.fixed_shape_tensor",
        PAIRS.draw,
        lambda _: pa.fixed_shape_tensor(pa.int32(), [2]),
        PAIRS,
        kind=OTHER,
        refused=NEITHER_KEY_NOR_TEXT,
        called="arrow.fixed_shape_tensor",
    ),
    named("arrow.variable_shape_tensor", b'{"uniform_shape": [null]}', TENSOR),
    # pyarrow crashes when it writes these to Parquet.
    named("arrow.parquet.variant", b"", VARIANT, formats=("arrow",)),
    named("arrow.timestamp_with_offset", b"", OFFSET),
    named("pandas.period", b'{"freq": "M"}', WHOLE),
    named("pandas.interval", b'{"subtype": "int64", "closed": "right"}', PAIRS),
    # pyarrow makes GEOMETRY of it in Parquet.
    named("geoarrow.wkb", b'{"crs": "EPSG:25832"}', DATA, formats=("arrow",)),
    named("company.money", b"EUR", WHOLE),
    named("company.text", b"", TEXTS),
]
