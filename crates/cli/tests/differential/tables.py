"""Tables: their files, what pyarrow reads in them, and what DuckDB is given."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from .column_types import ColumnType
from .formats import (
    BYTE_ORDER_MARK,
    Format,
    read_compressed,
    relation,
    write_compressed,
)
from .parts import Part

# psijoin's name for the column of a file of lines.
LINE_COLUMN = "value"


@dataclass
class Column:
    """A column: texts, or what pyarrow takes for its type; None is a null."""

    name: str
    type: ColumnType
    cells: list[Any]


@dataclass
class Table:
    """A table and its files."""

    format: Format
    columns: list[Column]
    naming: str
    # In the order in which they are read.
    parts: list[Part]
    # The number of columns, the last ones, that folders tell.
    told: int = 0
    # Once it is written: the file or the folder, and where each part is.
    path: Path = field(default_factory=Path)
    paths: list[Path] = field(default_factory=list)
    _readable: tuple[Format, list[Path]] | None = None
    _blank_after: frozenset[int] = frozenset()

    @property
    def rows(self) -> int:
        """Returns the number of rows."""
        return len(self.columns[0].cells)

    @property
    def names(self) -> list[str]:
        """Returns psijoin's names for its columns."""
        if self.format.name == "txt":
            return [LINE_COLUMN]
        if self.format.dialect and not self.format.dialect.header:
            return [str(index + 1) for index in range(len(self.columns))]
        return [column.name for column in self.columns]

    def inputs(self, rng: random.Random) -> list[str]:
        """Returns the value of `--input`."""
        match self.naming:
            case "files":
                return [str(path) for path in rng.sample(self.paths, len(self.paths))]
            case "pattern":
                return [f"{self.path}/*{self.format.ending}"]
        return [str(self.path)]

    def relation(self) -> str:
        """SQL for its rows, as DuckDB reads them."""
        choice, paths = self._readable
        told = self.names[len(self.columns) - self.told :] if paths == self.paths else ()
        return relation(choice, paths, len(self.columns), told)

    def ranges(self) -> list[range]:
        """The rows of each part."""
        ranges, start = [], 0
        for part in self.parts:
            ranges.append(range(start, start + part.rows))
            start += part.rows
        return ranges

    def preamble(self, added: Sequence[str] = ()) -> str:
        """Returns the text before the rows, if some columns are added."""
        dialect = self.format.dialect
        mark = BYTE_ORDER_MARK if dialect.byte_order_mark else ""
        return mark + (dialect.record([*self.names, *added]) if dialect.header else "")

    def records(self) -> list[str]:
        """The rows of a text, with their line endings."""
        rows = zip(*(column.cells for column in self.columns), strict=True)
        return [self.format.dialect.record(row) for row in rows]

    def unended(self, records: list[str]) -> set[int]:
        """Rows of a text behind which their file has no line ending."""
        last = [
            rows[-1]
            for part, rows in zip(self.parts, self.ranges(), strict=True)
            if rows and not part.last_line_ends
        ]
        # The rest of a blank line would be no line.
        return {row for row in last if records[row] != self.format.dialect.line_ending}

    def text_of(
        self, rows: Sequence[int], added: Sequence[str], cells: Sequence[Sequence[str | None]]
    ) -> bytes:
        """A text of some rows, where columns are added: their names, and their cells by row.

        Each row has a line ending, but for the last if its file has none.
        """
        dialect = self.format.dialect
        text = self.preamble(added) + "".join(self.wider_records(rows, cells))
        if rows and rows[-1] in self.unended(self.records()):
            text = text.removesuffix(dialect.line_ending)
        return text.encode(dialect.encoding)

    def wider_records(
        self, rows: Sequence[int], cells: Sequence[Sequence[str | None]]
    ) -> list[str]:
        """Some rows of a text with further cells, and with their line endings."""
        records, dialect = self.records(), self.format.dialect
        return [
            dialect.delimiter.join(
                [records[row].removesuffix(dialect.line_ending), *map(dialect.field, further)]
            )
            + dialect.line_ending
            for row, further in zip(rows, cells, strict=True)
        ]

    def place(self, row: int) -> tuple[Path, str]:
        """The file of a row, and where it is there, as errors tell it."""
        for path, rows in zip(self.paths, self.ranges(), strict=True):
            if row in rows:
                if self.format.dialect is None:
                    return path, f"row {row - rows.start + 1}"
                records = self.records()
                before = self.preamble() + "".join(
                    records[other] + self._blank(other) for other in range(rows.start, row)
                )
                return path, f"line {before.count(chr(10)) + 1}"
        raise IndexError(row)

    def _blank(self, row: int) -> str:
        return self.format.dialect.line_ending if row in self._blank_after else ""

    def write(self, folder: Path, name: str, blank_after: Iterable[int] = ()) -> None:
        """Writes the table's files, with blank lines behind some rows of a text."""
        self._blank_after = frozenset(blank_after)
        if self.naming == "one":
            self.path = folder / f"{name}{self.format.ending}"
            self.paths = [self.path]
        else:
            self.path = folder / name
            self.paths = [self.path / f"{part.name}{self.format.ending}" for part in self.parts]
        if self.naming == "folder":
            # Files that do not count.
            for other in ("_SUCCESS", ".crc", "_temporary/0"):
                (self.path / other).parent.mkdir(parents=True, exist_ok=True)
                (self.path / other).write_text("not a table")
        for path, rows in zip(self.paths, self.ranges(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.format.dialect:
                self._write_text(path, rows)
            else:
                self._write_typed(path, rows)
        self._make_readable(folder, name)

    def _write_text(self, path: Path, rows: range) -> None:
        records, dialect = self.records(), self.format.dialect
        unended = self.unended(records)
        text = self.preamble()
        for row in rows:
            record = records[row] + self._blank(row)
            text += record.removesuffix(dialect.line_ending) if row in unended else record
        write_compressed(path, text.encode(dialect.encoding), self.format.compression)

    def _write_typed(self, path: Path, rows: range) -> None:
        held = self.columns[: len(self.columns) - self.told]
        table = arrow_table(held, rows)
        if self.format.name == "parquet":
            # Several row groups, the codecs that psijoin has, and with Arrow's schema or without.
            pq.write_table(
                table,
                path,
                row_group_size=max(1, len(rows) // 3),
                compression=("snappy", "zstd", "gzip", "none")[self.rows % 4],
                store_schema=self.rows % 3 > 0,
            )
            return
        # Files and streams of several batches.
        options = ipc.IpcWriteOptions(compression=("lz4", "zstd", None)[self.rows % 3])
        new = ipc.new_stream if self.rows % 4 == 0 else ipc.new_file
        with new(path, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=max(1, len(rows) // 3))

    def _make_readable(self, folder: Path, name: str) -> None:
        """Copies what DuckDB cannot read to files that it can."""
        dialect, copy = self.format.dialect, folder / f"readable-{name}"
        if self.format.name == "arrow" or (dialect and dialect.escapes):
            pq.write_table(arrow_table(self.columns, range(self.rows)), copy)
            self._readable = Format("parquet"), [copy]
        elif dialect and dialect.encoding != "utf-8":
            choice = Format(self.format.name, "", replace(dialect, encoding="utf-8"))
            copies = [copy.with_suffix(f".{index}") for index in range(len(self.paths))]
            for path, copied in zip(self.paths, copies, strict=True):
                content = read_compressed(path, self.format.compression)
                copied.write_bytes(content.decode(dialect.encoding).encode())
            self._readable = choice, copies
        else:
            self._readable = self.format, self.paths

    def read_typed(self) -> pa.Table:
        """Returns pyarrow's reading of a typed table, and the columns that its folders tell."""
        table = pa.concat_tables(read_typed(self.format.name, path) for path in self.paths)
        for column in self.columns[len(self.columns) - self.told :]:
            table = table.append_column(column.name, pa.array(column.cells, pa.string()))
        return table


def arrow_table(columns: list[Column], rows: range) -> pa.Table:
    """These rows of columns, with their types."""
    arrays = []
    for column in columns:
        cells = [column.cells[row] for row in rows]
        if column.type.is_text:
            arrays.append(pa.array(cells, pa.string()).cast(column.type.arrow or pa.string()))
        else:
            arrays.append(pa.array(cells, column.type.arrow))
    return pa.table(arrays, [column.name for column in columns])


def read_typed(name: str, path: Path) -> pa.Table:
    """Returns pyarrow's reading of a file of Parquet or Arrow."""
    if name == "parquet":
        return pq.read_table(path, partitioning=None)
    with pa.OSFile(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(file).read_all()
