"""Files of columns: how they are written, by whom, and what is in them."""

import random
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from differential.expectation import connect

from .column_types import Type
from .footer import annotate
from .intervals import formats_of, with_intervals, without_intervals
from .plain import plain

ROWS = 40
KEYS = 60
ENDINGS = {"parquet": ".parquet", "arrow": ".arrow", "csv": ".csv"}
CODECS = ["NONE", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"]


class File:
    """A file of a column `id` and columns of these types, in a format, written by a library."""

    def __init__(
        self, rng: random.Random, path: Path, types: dict[str, Type], source: str, writer: str
    ) -> None:
        self.source, self.writer, self._types = source, writer, types
        self.path = path.with_suffix(ENDINGS[source])
        # The values drawn here stay if the file is written again, with fewer columns.
        self._seed = rng.random()
        self.is_sorted = rng.random() < 0.3
        ids = rng.sample(range(KEYS), ROWS)
        columns = {"id": pa.array(sorted(ids) if self.is_sorted else ids)}
        columns |= {name: each.draw(rng, ROWS) for name, each in types.items()}
        self.table = pa.table(columns, pa.schema([*self._fields(rng, columns)]))
        is_annotated = any(each.annotation for each in types.values())
        # A file of Parquet may tell the Arrow types of its columns.
        tells = {"duckdb": 0, "polars": 1, "pyarrow": 0.7}[writer]
        self.is_marked = not is_annotated and rng.random() < tells
        self.write(types)

    def _fields(self, rng: random.Random, columns: dict[str, pa.Array]) -> Iterable[pa.Field]:
        for number, (name, column) in enumerate(columns.items()):
            is_known = not isinstance(column.type, pa.BaseExtensionType)
            metadata = {"PARQUET:field_id": f"{number + 7}"} if rng.random() < 0.3 else None
            nullable = column.null_count > 0 or pa.types.is_null(column.type) or rng.random() < 0.5
            # A list of one level has no place for nulls; one of two levels has.
            levels = self.levels(name)
            nullable = levels == 2 or (levels == 3 and nullable)
            yield pa.field(name, column.type, nullable, metadata if is_known else None)

    def levels(self, name: str) -> int:
        annotation = self._types[name].annotation if name in self._types else None
        return annotation.levels if annotation else 3

    def type_of(self, name: str) -> Type:
        """Returns the part of a column's type that psijoin can know."""
        held = self._types[name]
        is_told = self.source == "arrow" or self.is_marked
        return held if is_told or held.unmarked is None else held.unmarked

    def drawn_type(self, name: str) -> Type:
        return self._types[name]

    @property
    def names(self) -> list[str]:
        return list(self._types)

    @cached_property
    def ids(self) -> list[int]:
        return self.table["id"].to_pylist()

    def expected(self, name: str) -> list[Any]:
        """The values of a column."""
        of = self.type_of(name)
        drawn = plain(self.table[name].combine_chunks())
        return [None if value is None else of.logical(value) for value in drawn]

    def write(self, names: Iterable[str], path: Path | None = None) -> None:
        """Writes these columns only, behind the one of keys, to another file if need be."""
        path = path or self.path
        rng = random.Random(self._seed)
        table = self.table.select(["id", *names])
        match self.source, self.writer:
            case _, "polars":
                self._write_by_polars(rng, table, path)
            case _, "duckdb":
                self._write_by_duckdb(rng, table, path)
            case "parquet", _:
                self._write_parquet(rng, table, path)
            case "arrow", _:
                self._write_arrow(rng, table, path)

    def _write_parquet(self, rng: random.Random, table: pa.Table, path: Path) -> None:
        types = {name: self._types[name] for name in table.column_names if name != "id"}
        annotations = {
            name: (each.annotation, each.element) for name, each in types.items() if each.annotation
        }
        # Their order is another one than that of what they are physically.
        claimed = [name for name in table.column_names if name not in annotations]
        flat = [name for name in claimed if can_have_bloom_filter(table.schema.field(name).type)]
        sorting = [pq.SortingColumn(0)] if self.is_sorted and rng.random() < 0.7 else None
        pq.write_table(
            table,
            path,
            store_schema=self.is_marked,
            compression=rng.choice(CODECS),
            use_dictionary=rng.random() < 0.5,
            row_group_size=rng.choice([7, ROWS]),
            max_rows_per_page=rng.choice([3, ROWS]),
            data_page_version=rng.choice(["1.0", "2.0"]),
            write_page_index=not annotations and rng.random() < 0.5,
            write_page_checksum=rng.random() < 0.3,
            write_statistics=claimed if annotations else rng.random() < 0.8,
            store_decimal_as_integer=rng.random() < 0.5,
            use_compliant_nested_type=rng.random() < 0.7,
            sorting_columns=sorting,
            bloom_filter_options=dict.fromkeys(flat, {"ndv": ROWS}) if rng.random() < 0.3 else None,
        )
        if annotations:
            annotate(path, annotations)

    def _write_arrow(self, rng: random.Random, table: pa.Table, path: Path) -> None:
        is_stream = rng.random() < 0.5
        # pyarrow writes what it cannot read if there is compression in the old version, in which
        # unions are others, and there are no runs.
        compression = rng.choice([None, "lz4", "zstd"])
        has_new = any(is_new(field.type) for field in table.schema)
        versions = [pa.ipc.MetadataVersion.V5, pa.ipc.MetadataVersion.V4]
        options = pa.ipc.IpcWriteOptions(
            compression=compression,
            metadata_version=versions[0] if compression or has_new else rng.choice(versions),
            emit_dictionary_deltas=rng.random() < 0.5,
            unify_dictionaries=not is_stream,
        )
        formats = {
            name: each.c_format
            for name, each in self._types.items()
            if each.c_format and name in table.column_names
        }
        batches = table.to_batches(rng.choice([7, ROWS]))
        batches = [with_intervals(batch, formats) for batch in batches] if formats else batches
        new = pa.ipc.new_stream if is_stream else pa.ipc.new_file
        with new(str(path), batches[0].schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)

    def _write_by_polars(self, rng: random.Random, table: pa.Table, path: Path) -> None:
        casts = {name: self._types[name].polars for name in table.column_names[1:]}
        frame = pl.from_arrow(table).cast(
            {name: of for name, of in casts.items() if of is not None}
        )
        if path.suffix == ".parquet":
            codecs = ["lz4", "uncompressed", "snappy", "gzip", "brotli", "zstd"]
            frame.write_parquet(
                path,
                compression=rng.choice(codecs),
                statistics=rng.choice([True, False, "full"]),
                row_group_size=rng.choice([7, None]),
            )
            return
        write = rng.choice([frame.write_ipc, frame.write_ipc_stream])
        write(
            path,
            compression=rng.choice(["uncompressed", "lz4", "zstd"]),
            compat_level=rng.choice([pl.CompatLevel.oldest(), pl.CompatLevel.newest()]),
        )

    def _write_by_duckdb(self, rng: random.Random, table: pa.Table, path: Path) -> None:
        casts = [
            f'{self._types[name].cast.format(name)} AS "{name}"' for name in table.column_names[1:]
        ]
        options = [
            f"COMPRESSION {rng.choice(['SNAPPY', 'GZIP', 'ZSTD', 'UNCOMPRESSED'])}",
            "FIELD_IDS 'auto'" if rng.random() < 0.3 else "",
        ]
        with connect() as connection:
            connection.register("drawn", table)
            connection.execute(
                f"COPY (SELECT {', '.join(['id', *casts])} FROM drawn) TO '{path}'"
                f" (FORMAT PARQUET, {', '.join(filter(None, options))})"
            )


def is_new(arrow: pa.DataType) -> bool:
    return pa.types.is_union(arrow) or pa.types.is_run_end_encoded(arrow)


def can_have_bloom_filter(arrow: pa.DataType) -> bool:
    return pa.types.is_integer(arrow) or pa.types.is_string(arrow) or pa.types.is_binary(arrow)


def read_arrow(path: Path) -> tuple[pa.Table, dict[str, str]]:
    """An Arrow file or stream, with integers in place of intervals that have no class, and the
    formats of these.
    """
    try:
        table = pa.ipc.open_file(str(path)).read_all()
    except pa.ArrowInvalid:
        with pa.OSFile(str(path)) as stream:
            table = pa.ipc.open_stream(stream).read_all()
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    formats = formats_of(batches[0])
    if not formats:
        return table, formats
    return pa.Table.from_batches([without_intervals(batch) for batch in batches]), formats
