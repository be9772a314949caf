"""Parquet's footers, read and written by hand.

pyarrow writes neither all logical types nor shows all that a footer claims. So a file's values are
written as what they are physically, and its schema is changed afterwards. The names of fields and
the numbers of types are those of `parquet.thrift`.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from .compact import BINARY, BYTE, I32, LIST, STRUCT, TRUE, Reader, Struct, written

PHYSICAL = [
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY",
]  # fmt: skip
CONVERTED = [
    "UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS",
    "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8",
    "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL",
]  # fmt: skip
# None has the number 9, which is kept for intervals.
LOGICAL = {
    1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", 7: "TIME", 8: "TIMESTAMP",
    10: "INTEGER", 11: "UNKNOWN", 12: "JSON", 13: "BSON", 14: "UUID", 15: "FLOAT16", 16: "VARIANT",
    17: "GEOMETRY", 18: "GEOGRAPHY", 19: "FILE",
}  # fmt: skip
# Any other is said to be of this number, which no version has yet.
LATER = 99
REPEATED = 2
UNITS = {"ms": 1, "us": 2, "ns": 3}

# Fields of FileMetaData, SchemaElement, RowGroup, ColumnChunk and ColumnMetaData.
SCHEMA, ROW_GROUPS, PAIRS = 2, 4, 5
TYPE, LENGTH, REPETITION, NAME, CHILDREN, CONVERTED_TYPE, SCALE, PRECISION = range(1, 9)
FIELD_ID, LOGICAL_TYPE = 9, 10
COLUMNS, SORTING = 1, 4
META_DATA, OFFSET_INDEX, COLUMN_INDEX = 3, 4, 6
CHUNK_TYPE, PATH, STATISTICS, BLOOM_FILTER = 1, 3, 12, 14


@dataclass(frozen=True)
class Annotation:
    """The annotation of a schema's element: in the old way, the new one, or both."""

    converted: str | None = None
    logical: str | None = None
    # The fields of the logical type's own struct.
    details: Struct = field(default_factory=dict)
    decimal: tuple[int, int] | None = None  # precision and scale
    # The physical type of the values, if pyarrow does not write it.
    physical: str | None = None
    # Of a list whose values and rows are not null, how many of its three levels are left, as old
    # programs have written them.
    levels: int = 3

    def put_on(self, element: Struct) -> None:
        """Says it of an element, in place of anything else."""
        for field_number in (CONVERTED_TYPE, SCALE, PRECISION, LOGICAL_TYPE):
            element.pop(field_number, None)
        if self.physical:
            element[TYPE] = number(PHYSICAL.index(self.physical))
            element.pop(LENGTH, None)
        if self.converted:
            element[CONVERTED_TYPE] = number(CONVERTED.index(self.converted))
        if self.decimal:
            element[PRECISION], element[SCALE] = map(number, self.decimal)
        if self.logical:
            code = next((at for at, name in LOGICAL.items() if name == self.logical), LATER)
            element[LOGICAL_TYPE] = (STRUCT, {code: (STRUCT, self.details)})


def text(value: str) -> tuple[int, bytes]:
    return (BINARY, value.encode())


def number(value: int) -> tuple[int, int]:
    return (I32, value)


def byte(value: int) -> tuple[int, int]:
    return (BYTE, value)


def flag(value: bool) -> tuple[int, bool]:
    return (TRUE, value)


def unit(name: str) -> tuple[int, Struct]:
    """A time unit."""
    return (STRUCT, {UNITS[name]: (STRUCT, {})})


class Footer:
    """The end of a file."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        (length,) = struct.unpack("<I", self.data[-8:-4])
        self.start = len(self.data) - 8 - length
        self.fields = Reader(self.data, self.start).struct()

    @property
    def elements(self) -> list[Struct]:
        """The schema's elements, the root first, each before its children."""
        return self.fields[SCHEMA][1][1]

    def columns(self) -> dict[str, list[Struct]]:
        """The elements of each column, by its name."""
        places, found = iter(self.elements[1:]), {}
        for element in places:
            found[element[NAME][1].decode()] = list(_with_children(element, places))
        return found

    def chunks(self) -> Iterator[tuple[int, Struct]]:
        """Each column chunk, with the number of its row group."""
        for number, group in enumerate(self.groups()):
            for chunk in group[COLUMNS][1][1]:
                yield number, chunk

    def groups(self) -> list[Struct]:
        return self.fields[ROW_GROUPS][1][1]

    def arrow_schema(self) -> pa.Schema | None:
        """Returns the Arrow types of the columns, if the file tells."""
        for pair in self.fields.get(PAIRS, (LIST, (STRUCT, [])))[1][1]:
            if pair[1][1] == b"ARROW:schema":
                return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(pair[2][1])))
        return None

    def drop_arrow_schema(self) -> None:
        """Leaves out what Arrow's types were."""
        if PAIRS in self.fields:
            kind, pairs = self.fields[PAIRS][1]
            others = [pair for pair in pairs if pair[1][1] != b"ARROW:schema"]
            self.fields[PAIRS] = (LIST, (kind, others))

    def replace(self, column: list[Struct], new: list[Struct]) -> None:
        """Puts other elements in the place of a column's."""
        at = next(at for at, each in enumerate(self.elements) if each is column[0])
        self.elements[at : at + len(column)] = new

    def write(self, path: Path) -> None:
        """Writes the file with what is changed."""
        footer = written(self.fields)
        tail = footer + struct.pack("<I", len(footer)) + b"PAR1"
        path.write_bytes(self.data[: self.start] + tail)


def _with_children(element: Struct, places: Iterator[Struct]) -> Iterator[Struct]:
    yield element
    for _ in range(element.get(CHILDREN, (I32, 0))[1]):
        yield from _with_children(next(places), places)


def annotate(path: Path, annotations: dict[str, tuple[Annotation, int]]) -> None:
    """Says in a file's schema what columns are, each in one of its elements."""
    footer = Footer(path)
    footer.drop_arrow_schema()
    columns = footer.columns()
    for name, (annotation, at) in annotations.items():
        annotation.put_on(columns[name][at])
        if annotation.levels < 3:
            footer.replace(columns[name], with_levels(columns[name], annotation.levels))
    for _, chunk in footer.chunks():
        described = chunk[META_DATA][1]
        kind, names = described[PATH][1]
        annotation, _ = annotations.get(names[0].decode(), (None, 0))
        if annotation and annotation.physical:
            described[CHUNK_TYPE] = number(PHYSICAL.index(annotation.physical))
        if annotation and annotation.levels < 3:
            described[PATH] = (LIST, (kind, [names[0], names[2]][: annotation.levels]))
    footer.write(path)


def with_levels(column: list[Struct], levels: int) -> list[Struct]:
    """A list of two levels, a group and values that are repeated, or of these alone."""
    group, _, values = column
    values[REPETITION] = number(REPEATED)
    if levels == 2:
        return [group, values]
    values[NAME] = group[NAME]
    return [values]


def write_plain(path: Path, copy: Path) -> None:
    """Copies a file without anything that it says of its values beyond what they are physically."""
    footer = Footer(path)
    footer.drop_arrow_schema()
    name_lists(footer.elements)
    for element in footer.elements:
        is_int96 = element.get(TYPE) == number(PHYSICAL.index("INT96"))
        Annotation(physical="FIXED_LEN_BYTE_ARRAY" if is_int96 else None).put_on(element)
        if is_int96:
            element[LENGTH] = number(12)
    for _, chunk in footer.chunks():
        described = chunk[META_DATA][1]
        if described[CHUNK_TYPE] == number(PHYSICAL.index("INT96")):
            described[CHUNK_TYPE] = number(PHYSICAL.index("FIXED_LEN_BYTE_ARRAY"))
    footer.write(copy)


def name_lists(elements: list[Struct]) -> None:
    """Names what is in lists alike: the names are the writer's own."""
    for at, element in enumerate(elements):
        # Lists of two levels have no group within.
        is_list = _meaning(element, None) == _plain_meaning("LIST", {}, None)
        if is_list and CHILDREN in elements[at + 1]:
            for inner, name in zip(elements[at + 1 : at + 3], ("list", "element"), strict=True):
                inner[NAME] = text(name)


def write_readable(path: Path, copy: Path) -> None:
    """Copies a file without the types of groups for which pyarrow refuses all of it."""
    footer = Footer(path)
    for element in footer.elements:
        meaning = _meaning(element, None)
        if CHILDREN in element and meaning and meaning[0] not in ("LIST", "MAP", "VARIANT"):
            Annotation().put_on(element)
    footer.write(copy)


def is_enum(column: list[Struct]) -> bool:
    """Returns whether a column has texts that are called ENUM."""
    return any(meaning and meaning[0] == "ENUM" for _, _, _, meaning in said_of(column))


def said_of(column: list[Struct]) -> list[tuple[Any, ...]]:
    """Returns the elements of a column: physical types, logical ones in either annotation,
    and their shape. Names within are the writer's own.
    """
    return [_said(element) for element in column]


def _said(element: Struct) -> tuple[Any, ...]:
    get: Callable[[int], Any] = lambda field: element.get(field, (None, None))[1]  # noqa: E731
    physical = None if get(TYPE) is None else PHYSICAL[get(TYPE)]
    length = get(LENGTH) if physical == "FIXED_LEN_BYTE_ARRAY" else None
    return (get(CHILDREN), physical, length, _meaning(element, physical))


def _meaning(element: Struct, physical: str | None) -> tuple[Any, ...] | None:
    """The logical type; that of an element which says it in the old way only, in the new one."""
    if LOGICAL_TYPE in element:
        ((code, (_, details)),) = element[LOGICAL_TYPE][1].items()
        return _plain_meaning(LOGICAL.get(code, code), details, physical)
    if CONVERTED_TYPE not in element:
        return None
    said = CONVERTED[element[CONVERTED_TYPE][1]]
    head, _, rest = said.partition("_")
    if head in ("TIME", "TIMESTAMP"):
        details = {1: flag(True), 2: unit({"MILLIS": "ms", "MICROS": "us"}[rest])}
        return _plain_meaning(head, details, physical)
    if head in ("INT", "UINT"):
        return _plain_meaning("INTEGER", {1: byte(int(rest)), 2: flag(head == "INT")}, physical)
    if head == "DECIMAL":
        scale = element.get(SCALE, number(0))
        return _plain_meaning(head, {1: scale, 2: element[PRECISION]}, physical)
    # Some have written the mark of a map's entries on the map itself.
    new = {"UTF8": "STRING", "MAP_KEY_VALUE": "MAP"}
    return _plain_meaning(new.get(said, said), {}, physical)


def _plain_meaning(name: Any, details: Struct, physical: str | None) -> tuple[Any, ...] | None:
    # Integers of their physical type's own width.
    if name == "INTEGER" and details[2][1] and physical == f"INT{details[1][1]}":
        return None
    return name, str(sorted(details.items()))
