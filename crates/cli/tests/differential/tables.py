"""Tables: how they are written to files, how psijoin is told to read them, and how DuckDB is."""

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .column_types import ColumnType

# How psijoin calls the column of a file of lines.
LINE_COLUMN = "value"

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Dialect:
    """How a text is written."""

    delimiter: str = ","
    quote: str | None = '"'
    header: bool = True
    line_ending: str = "\n"
    byte_order_mark: bool = False

    def holds(self, text: str) -> bool:
        """Whether a field can hold the text."""
        return self.quote is not None or not any(
            letter in text for letter in (self.delimiter, "\n", "\r")
        )

    def field(self, text: str) -> str:
        """The text as a field, in quotes if need be."""
        special = (self.delimiter, self.quote, "\n", "\r")
        if self.quote is None or not any(letter in text for letter in special if letter):
            return text
        return self.quote + text.replace(self.quote, self.quote * 2) + self.quote

    def record(self, fields: Sequence[str]) -> bytes:
        """A line of these fields."""
        text = self.delimiter.join(map(self.field, fields))
        # Without the quotes it would be a blank line, which is no row.
        text = text or (self.quote or "") * 2
        return (text + self.line_ending).encode()


# What each text format is unless options say otherwise. In a file of lines nothing divides: the
# delimiter is a character that occurs nowhere.
USUAL = {
    "csv": Dialect(),
    "tsv": Dialect(delimiter="\t", quote=None),
    "txt": Dialect(delimiter="\x01", quote=None, header=False),
}

COMPRESSIONS = ("", "gz", "zst")
DUCKDB_COMPRESSIONS = {"": "none", "gz": "gzip", "zst": "zstd"}


@dataclass(frozen=True)
class Format:
    """What a file name's endings say, and for a text how it is written."""

    name: str
    compression: str = ""
    dialect: Dialect | None = None

    @classmethod
    def usual(cls, name: str, compression: str = "") -> "Format":
        """The format without options."""
        return cls(name, compression, USUAL.get(name))

    def fitted(self, text: str) -> str:
        """The text, or if the format cannot hold it, one like it that it can."""
        if self.dialect is None or self.dialect.holds(text):
            return text
        for letter in (self.dialect.delimiter, "\n", "\r"):
            text = text.replace(letter, "_")
        return text

    @property
    def ending(self) -> str:
        """The endings of a file's name."""
        return ".".join(filter(None, (self.name, self.compression)))

    def options(self) -> list[str]:
        """What psijoin has to be told beside the file's name."""
        if self.dialect is None or self.name == "txt":
            return []
        usual, options = USUAL[self.name], []
        if self.dialect.delimiter != usual.delimiter:
            options += [
                "--delimiter",
                {"\t": "tab"}.get(self.dialect.delimiter, self.dialect.delimiter),
            ]
        if self.dialect.quote != usual.quote:
            options += ["--quote", self.dialect.quote or "none"]
        return options if self.dialect.header else [*options, "--no-header"]

    def written_as_usual(self, name: str, compression: str) -> "Format":
        """The format of rows of such a table that are written to a file of another format."""
        usual = Format.usual(name, compression)
        keeps_no_header = usual.dialect and self.dialect and name != "txt" and self.name != "txt"
        if keeps_no_header and not self.dialect.header:
            return replace(usual, dialect=replace(usual.dialect, header=False))
        return usual

    def relation(self, path: Path, columns: int) -> str:
        """SQL for the file's rows, in order: `row` from 0, and `c0`, `c1`, …"""
        names = [f"c{index}" for index in range(columns)]
        if self.dialect is None:
            source = f"read_parquet({quoted(path)}) AS t({', '.join(names)})"
        else:
            dialect = self.dialect
            quote = quoted(dialect.quote or "")
            options = {
                "auto_detect": "false",
                "columns": "{" + ", ".join(f"{name}: 'VARCHAR'" for name in names) + "}",
                "compression": quoted(DUCKDB_COMPRESSIONS[self.compression]),
                "delim": quoted(dialect.delimiter),
                "quote": quote,
                "escape": quote,
                "header": str(dialect.header).lower(),
                "new_line": quoted(dialect.line_ending.encode("unicode_escape").decode()),
                "parallel": "false",
            }
            listed = ", ".join(f"{name} = {value}" for name, value in options.items())
            source = f"read_csv({quoted(path)}, {listed})"
        return f"(SELECT row_number() OVER () - 1 AS row, {', '.join(names)} FROM {source})"


def quoted(text: Any) -> str:
    """A literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


@dataclass
class Column:
    """A column: texts, or what pyarrow takes for its type; None is a null."""

    name: str
    type: ColumnType
    cells: list[Any]


@dataclass
class Table:
    """A table and its file."""

    format: Format
    columns: list[Column]
    # Of a text: whether there is a line ending behind the last row.
    last_line_ends: bool = True
    path: Path = field(default_factory=Path)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[0].cells)

    @property
    def names(self) -> list[str]:
        """What psijoin calls its columns."""
        if self.format.name == "txt":
            return [LINE_COLUMN]
        if self.format.dialect and not self.format.dialect.header:
            return [str(index + 1) for index in range(len(self.columns))]
        return [column.name for column in self.columns]

    def relation(self) -> str:
        """SQL for its rows, as DuckDB reads them from the file."""
        return self.format.relation(self.path, len(self.columns))

    def preamble(self) -> bytes:
        """What stands before the rows of a text."""
        dialect = self.format.dialect
        mark = BYTE_ORDER_MARK if dialect.byte_order_mark else b""
        return mark + (dialect.record(self.names) if dialect.header else b"")

    def records(self) -> list[bytes]:
        """The rows of a text, with their line endings."""
        rows = zip(*(column.cells for column in self.columns), strict=True)
        records = [self.format.dialect.record([cell or "" for cell in row]) for row in rows]
        if records and not self.last_line_ends:
            # What is left of a blank line would be no line.
            records[-1] = records[-1].rstrip(b"\r\n") or records[-1]
        return records

    def write(self, folder: Path, name: str, blank_after: Iterable[int] = ()) -> None:
        """Writes the table's file, with blank lines behind some rows of a text."""
        self.path = folder / f"{name}.{self.format.ending}"
        if self.format.dialect is None:
            self._write_parquet()
            return
        records, blank = self.records(), self.format.dialect.line_ending.encode()
        for row in blank_after:
            records[row] += blank
        write_compressed(self.path, self.preamble() + b"".join(records), self.format.compression)

    def _write_parquet(self) -> None:
        arrays = [
            pa.array(column.cells, pa.string()).cast(column.type.arrow)
            if column.type.is_text
            else pa.array(column.cells, column.type.arrow)
            for column in self.columns
        ]
        table = pa.table(arrays, self.names)
        # Several row groups, the codecs that psijoin has, and with Arrow's schema or without.
        rows, codec = self.rows, ("snappy", "zstd", "gzip", "none")[self.rows % 4]
        pq.write_table(
            table,
            self.path,
            row_group_size=max(1, rows // 3),
            compression=codec,
            store_schema=rows % 3 > 0,
        )


def write_compressed(path: Path, content: bytes, compression: str) -> None:
    """Writes a file, compressed as its name says."""
    match compression:
        case "gz":
            path.write_bytes(gzip.compress(content, 1))
        case "zst":
            with pa.CompressedOutputStream(str(path), "zstd") as stream:
                stream.write(content)
        case _:
            path.write_bytes(content)


def read_compressed(path: Path, compression: str) -> bytes:
    """The content of such a file."""
    match compression:
        case "gz":
            return gzip.decompress(path.read_bytes())
        case "zst":
            with pa.input_stream(str(path), compression="zstd") as stream:
                return stream.read()
        case _:
            return path.read_bytes()
