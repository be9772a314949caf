"""The claims of a Parquet output about its values, checked: their least and greatest ones,
the nulls among them, in row groups and pages, and the order of rows.
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .compact import Reader, Struct
from .comparison import check
from .footer import (
    BLOOM_FILTER,
    CHUNK_TYPE,
    COLUMN_INDEX,
    FIELD_ID,
    META_DATA,
    OFFSET_INDEX,
    PATH,
    PHYSICAL,
    SORTING,
    STATISTICS,
    Footer,
    said_of,
    write_plain,
)  # fmt: skip
from .plain import plain

# Fields of Statistics, ColumnIndex and OffsetIndex.
OLD_MAX, OLD_MIN, NULLS, DISTINCT, MAX, MIN = 1, 2, 3, 4, 5, 6
NULL_PAGES, MINS, MAXES, _, NULL_COUNTS = range(1, 6)
LOCATIONS, FIRST_ROW = 1, 3


def check_claims(path: Path, source: Path | None) -> None:
    """Checks what a file says of its rows, and that the numbers of its columns are those of the
    file that they come from, if they have any.
    """
    footer = Footer(path)
    check_field_ids(footer, Footer(source) if source else None)
    copy = path.with_suffix(".plain.parquet")
    write_plain(path, copy)
    plain_file = pq.ParquetFile(copy)
    columns = footer.columns()
    for group, chunk in footer.chunks():
        described = chunk[META_DATA][1]
        check(BLOOM_FILTER not in described, "there is a Bloom filter")
        names = [name.decode() for name in described[PATH][1][1]]
        column = Column(
            physical=PHYSICAL[described[CHUNK_TYPE][1]],
            meaning=said_of(columns[names[0]])[-1][-1],
            values=None,
        )
        if len(names) == 1:
            held = plain_file.read_row_group(group, [names[0]])[names[0]].combine_chunks()
            column.values = physical_values(held)
        check_chunk(footer.data, chunk, described, column, f"{'.'.join(names)} of group {group}")
    check_sorting(footer, plain_file)


class Column:
    """The values of a column chunk, and their order."""

    def __init__(self, physical: str, meaning: Any, values: list[Any] | None) -> None:
        self.values = values
        self.read, self.order = reading(physical, meaning)


def reading(physical: str, meaning: Any) -> tuple[Callable[[bytes], Any], Callable[[Any], Any]]:
    """The reading of a bound's bytes as a value, and the part of a value that comparisons use."""
    name, details = meaning or (None, "")
    of_bytes = physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
    letters = {"INT32": "i", "INT64": "q", "FLOAT": "f", "DOUBLE": "d", "BOOLEAN": "?"}
    if of_bytes:
        read: Callable[[bytes], Any] = bytes
    else:
        read = lambda data: struct.unpack(f"<{letters[physical]}", data)[0]  # noqa: E731
    if of_bytes and name == "DECIMAL":
        return read, lambda value: int.from_bytes(value, "big", signed=True)
    if of_bytes and name == "FLOAT16":
        return read, lambda value: struct.unpack("<e", value)[0]
    if name == "INTEGER" and "(1, False)" in details:
        mask = (1 << int(physical[3:])) - 1
        return read, lambda value: value & mask
    return read, lambda value: value


def physical_values(held: pa.Array) -> list[Any]:
    return held.to_pylist() if pa.types.is_floating(held.type) else plain(held)


def check_chunk(data: bytes, chunk: Struct, described: Struct, column: Column, what: str) -> None:
    if STATISTICS in described:
        said = described[STATISTICS][1]
        check(DISTINCT not in said, f"{what}: distinct values are counted")
        if column.values is not None:
            bounds = [said.get(number, (None, None))[1] for number in (MIN, MAX)]
            check_bounds(column, column.values, bounds, f"{what}: statistics")
            old = [said.get(number, (None, None))[1] for number in (OLD_MIN, OLD_MAX)]
            check_bounds(column, column.values, old, f"{what}: old statistics")
            check_nulls(column.values, said.get(NULLS, (None, None))[1], what)
    if COLUMN_INDEX in chunk and column.values is not None:
        index = Reader(data, chunk[COLUMN_INDEX][1]).struct()
        offsets = Reader(data, chunk[OFFSET_INDEX][1]).struct()
        check_pages(index, offsets, column, what)


def check_pages(index: Struct, offsets: Struct, column: Column, what: str) -> None:
    starts = [location[FIRST_ROW][1] for location in offsets[LOCATIONS][1][1]]
    ends = [*starts[1:], len(column.values)]
    for page, (start, end) in enumerate(zip(starts, ends, strict=True)):
        values = column.values[start:end]
        of_page = f"{what}: page {page}"
        is_null = all(value is None for value in values)
        check(index[NULL_PAGES][1][1][page] == is_null, f"{of_page} is said to be null")
        if NULL_COUNTS in index:
            check_nulls(values, index[NULL_COUNTS][1][1][page], of_page)
        if not is_null:
            bounds = [index[number][1][1][page] for number in (MINS, MAXES)]
            check_bounds(column, values, bounds, of_page)


def check_bounds(column: Column, values: list[Any], bounds: list[bytes | None], what: str) -> None:
    """Checks that values are between these bounds. A NaN is in no order."""
    held = [column.order(value) for value in values if value is not None]
    held = [value for value in held if value == value]
    low, high = (bound if bound is None else column.order(column.read(bound)) for bound in bounds)
    check(low is None or not held or low <= min(held), f"{what}: {low!r} is not the least value")
    check(high is None or not held or high >= max(held), f"{what}: {high!r} is not the greatest")


def check_nulls(values: list[Any], said: int | None, what: str) -> None:
    check(said in (None, values.count(None)), f"{what}: {said} nulls for {values.count(None)}")


def check_sorting(footer: Footer, file: pq.ParquetFile) -> None:
    """Checks the order of rows, if it is told of, by a column of whole numbers."""
    for number, group in enumerate(footer.groups()):
        for said in group.get(SORTING, (None, (None, [])))[1][1]:
            name = file.schema.column(said[1][1]).path
            values = file.read_row_group(number, [name])[name].to_pylist()
            check(values == sorted(values, reverse=said[2][1]), f"{name} is not sorted")


def check_field_ids(footer: Footer, source: Footer | None) -> None:
    """Checks that a column has the number that it had, or none, and that no two have one."""
    before = dict(field_ids(source)) if source else {}
    after = dict(field_ids(footer))
    for name, number in after.items():
        check(before.get(name, number) == number, f"the field id {number} of {name} was {before}")
    check(len(set(after.values())) == len(after), f"field ids are there twice: {after}")


def field_ids(footer: Footer) -> Iterator[tuple[str, int]]:
    for name, elements in footer.columns().items():
        if FIELD_ID in elements[0]:
            yield name, elements[0][FIELD_ID][1]
