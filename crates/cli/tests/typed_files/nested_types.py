"""The nested types of Arrow's `Schema.fbs`."""

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from . import values
from .column_types import ALL, ARROW_ONLY, IN_ARROW_ALONE, NEITHER_KEY_NOR_TEXT, Type
from .spelling import OTHER
from .values import INT64, STRINGS, Draw, some, text, whole


def run_ends(index: pa.DataType, draw: Draw, arrow: pa.DataType) -> Type:
    def drawn(rng: random.Random, rows: int) -> pa.Array:
        ends = sorted({rows, *(rng.randint(1, rows) for _ in range(10))})
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, index), draw(rng, len(ends)))

    return Type(
        f"run_end_encoded<{index}, {arrow}>",
        drawn,
        OTHER,
        NEITHER_KEY_NOR_TEXT,
        "RunEndEncoded",
        formats=ARROW_ONLY,
    )


def union(mode: str) -> Type:
    def drawn(rng: random.Random, rows: int) -> pa.Array:
        codes = [rng.choice([0, 5]) for _ in range(rows)]
        held = [INT64, some(text, pa.string())]
        children = {
            "sparse": [draw(rng, rows) for draw in held],
            "dense": [
                draw(rng, codes.count(code)) for code, draw in zip((0, 5), held, strict=True)
            ],
        }[mode]
        names, numbers, tags = ["a", "b"], [0, 5], pa.array(codes, pa.int8())
        if mode == "sparse":
            return pa.UnionArray.from_sparse(tags, children, names, numbers)
        places = [codes[:row].count(code) for row, code in enumerate(codes)]
        return pa.UnionArray.from_dense(
            tags, pa.array(places, pa.int32()), children, names, numbers
        )

    return Type(f"{mode}_union", drawn, OTHER, IN_ARROW_ALONE, "Union", formats=ARROW_ONLY)


def nested(
    name: str, arrow: pa.DataType, value: Callable[[random.Random], Any], called: str, **rest: Any
) -> Type:
    refused = rest.pop("refused", NEITHER_KEY_NOR_TEXT)
    return Type(name, some(value, arrow), OTHER, refused, called, **rest)


def list_view(name: str, arrow: pa.DataType, value: Callable[[random.Random], Any]) -> Type:
    """Views of lists, whose values rows may share. To Parquet alone they are lists."""
    return nested(
        name,
        arrow,
        value,
        "List",
        refused=NEITHER_KEY_NOR_TEXT | {"arrow"},
        unmarked=nested(f"{name} beneath", arrow, value, "List"),
    )


# List, LargeList, FixedSizeList, ListView, LargeListView, Struct_, Map, Union, RunEndEncoded.
NESTED_TYPES = [
    nested("list", pa.list_(pa.int64()), values.several(whole(64)), "List", written_by=ALL),
    # Polars writes views of texts in Arrow files, which lists of them may share: those are refused.
    nested(
        "large_list",
        pa.large_list(pa.string()),
        values.several(text),
        "List",
        written_by=("pyarrow", "duckdb"),
    ),
    nested(
        "fixed_size_list",
        pa.list_(pa.decimal128(38, 9), 2),
        lambda rng: [values.scaled(values.unscaled(38)(rng), 9), None],
        "List",
    ),
    nested(
        "list of lists",
        pa.list_(pa.list_(pa.int64())),
        values.several(values.several(whole(64))),
        "List",
        written_by=ALL,
    ),
    nested(
        "list of zoned timestamps",
        pa.list_(pa.timestamp("us", "Europe/Berlin")),
        values.several(values.shown_moments("us")),
        "List",
    ),
    nested("list of seconds", pa.list_(pa.time32("s")), values.several(values.of_day("s")), "List"),
    list_view("list_view", pa.list_view(pa.int64()), values.several(whole(64))),
    list_view("large_list_view", pa.large_list_view(pa.string()), values.several(text)),
    nested(
        "struct",
        pa.struct(
            [("a", pa.uint64()), ("b", pa.struct([("c", pa.float32()), ("d", pa.date32())]))]
        ),
        lambda rng: {"a": 2**64 - 1, "b": rng.choice([None, {"c": 1.5, "d": None}])},
        "Struct",
        written_by=ALL,
    ),
    nested(
        "map",
        pa.map_(pa.string(), pa.time64("ns")),
        lambda rng: [(text(rng), None), ("k", values.of_day("ns")(rng))],
        "Map",
    ),
    nested(
        "sorted map",
        pa.map_(pa.string(), pa.int64(), keys_sorted=True),
        lambda rng: [("a", whole(64)(rng)), ("b", None)],
        "Map",
    ),
    union("sparse"),
    union("dense"),
    *(run_ends(index, INT64, pa.int64()) for index in (pa.int16(), pa.int32(), pa.int64())),
    run_ends(pa.int32(), STRINGS, pa.string()),
]
