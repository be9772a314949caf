"""The comparison of an output's columns with those of the files that they come from."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from differential.difference import Difference

from .column_types import Type, itself
from .files import File, read_arrow
from .footer import Footer, is_enum, said_of, write_plain, write_readable
from .plain import plain

csv.field_size_limit(1 << 20)


def check(condition: bool, what: str) -> None:
    if not condition:
        raise Difference(what)


class Output:
    """A file that was written, column by column."""

    def __init__(self, path: Path) -> None:
        self.path, self.format = path, path.suffix[1:]
        match self.format:
            case "csv":
                with path.open(newline="", encoding="utf-8") as lines:
                    header, *rows = csv.reader(lines)
                columns = list(zip(*rows, strict=True)) or [()] * len(header)
                self.texts = dict(zip(header, columns, strict=True))
            case "arrow":
                self.table, self.formats = read_arrow(path)
                self.table.validate(full=True)
            case "parquet":
                self.readable = path.with_suffix(".readable.parquet")
                write_readable(path, self.readable)

    def ids(self) -> list[int]:
        if self.format == "csv":
            return [int(text) for text in self.texts["id"]]
        return self.values("id")

    def field(self, name: str) -> pa.Field:
        """A column as it is in Arrow."""
        if self.format == "arrow":
            return self.table.schema.field(name)
        return told_field(self.path, name)

    def values(self, name: str, logical: Callable[[Any], Any] = itself) -> list[Any]:
        """The values of a column; where pyarrow does not know them, what `logical` makes of what
        they are physically.
        """
        if self.format == "arrow":
            return plain(self.table[name])
        try:
            read = plain(pq.read_table(self.readable, columns=[name])[name])
            # Texts that Parquet calls ENUM are bytes to pyarrow.
            if not is_enum(Footer(self.path).columns()[name]):
                return read
        except (pa.ArrowException, OSError):
            read = plain(read_plain(self.path)[name])
        return [None if value is None else logical(value) for value in read]


def read_plain(path: Path) -> pa.Table:
    """A file of Parquet as what its values are physically."""
    copy = path.with_suffix(".plain.parquet")
    write_plain(path, copy)
    return pq.read_table(copy)


def compare_column(file: File, rows: list[int], name: str, output: Output, is_given: bool) -> None:
    """Compares these rows of a column with what was written for them."""
    of = file.type_of(name)
    what = f"{name}, {of.name} in {file.path.name} by {file.writer} to {output.path.name}"
    values = Output(file.path).values(name) if of.is_as_written else file.expected(name)
    before = [values[row] for row in rows]
    if output.format == "csv":
        compare_texts(of, before, output.texts[name], what)
        return
    after = output.values(name, of.logical)
    check(before == after, f"{what}: {before} became {after}")
    if file.source == output.format == "parquet" and not is_given:
        compare_footers(file.path, rows, name, output.path, file.levels(name), what)
    compare_types(file, name, output, is_given, what)


def compare_texts(of: Type, values: list[Any], texts: list[str], what: str) -> None:
    """Compares what is written in CSV. A null is nothing there, like an empty text."""
    for value, text in zip(values, texts, strict=True):
        if value is None:
            check(text == "", f"{what}: a null became {text!r}")
        elif of.kind.by_value:
            of_value, of_text = of.kind.by_value
            check(of_value(value) == of_text(text), f"{what}: {value!r} became {text!r}")
        else:
            check(of.kind.cell is not None, f"{what}: {value!r} became {text!r}, and has no text")
            check(of.kind.cell(value) == text, f"{what}: {value!r} became {text!r}")


def compare_footers(
    source: Path, rows: list[int], name: str, output: Path, levels: int, what: str
) -> None:
    """Compares what Parquet's schemas say of a column, and its values as what they are
    physically.
    """
    before = said_of(Footer(source).columns()[name])
    after = said_of(Footer(output).columns()[name])
    # Timestamps of 96 bits become others, and lists get all of their levels.
    is_other = any(physical == "INT96" for _, physical, _, _ in before) or levels < 3
    if is_other:
        return
    check(meanings(before) == meanings(after), f"{what}: {before} became {after}")
    if before == after:
        held = plain(read_plain(source)[name])
        before, after = [held[row] for row in rows], plain(read_plain(output)[name])
        check(before == after, f"{what}, physically: {before} became {after}")


def meanings(said: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(children, meaning) for children, _, _, meaning in said]


def compare_types(file: File, name: str, output: Output, is_given: bool, what: str) -> None:
    """Compares a column's type in Arrow: units aside that Parquet lacks, and dictionaries."""
    is_footer_compared = file.source == output.format == "parquet" and not is_given
    if file.type_of(name).annotation and is_footer_compared and file.levels(name) == 3:
        return
    formats = {file.source, output.format}
    if output.format == "arrow":
        held, kept = file.type_of(name).c_format, output.formats.get(name)
        check(held == kept, f"{what}: {held} became {kept}")
    fields = expected_field(file, name), output.field(name)
    before, after = (meaning(field, formats, is_given) for field in fields)
    check(before == after, f"{what}: {before} became {after}")


def expected_field(file: File, name: str) -> pa.Field:
    """A column as it is in Arrow: as it was drawn, where the file tells; else as its table has it,
    or as pyarrow reads it.
    """
    of = file.type_of(name)
    if of.arrow is not None:
        return pa.field(name, of.arrow)
    if file.writer == "pyarrow" and (file.source == "arrow" or file.is_marked):
        # As pyarrow reads it, which has a class for some extension types.
        return pa.ipc.read_schema(file.table.schema.serialize()).field(name)
    # pyarrow may not know the types of other columns.
    alone = file.path.with_name(f"{name}-alone{file.path.suffix}")
    file.write([name], alone)
    return told_field(alone, name) if file.source == "parquet" else Output(alone).field(name)


def told_field(path: Path, name: str) -> pa.Field:
    """A column as a file of Parquet tells of it, or else as pyarrow reads it."""
    told = Footer(path).arrow_schema()
    return (told or pq.read_schema(path)).field(name)


def meaning(field: pa.Field, formats: set[str], is_given: bool) -> Any:
    """Returns a column's type. Names of its elements, and whether it can be null, are the writer's
    own.
    """
    arrow = field.type
    if isinstance(arrow, pa.BaseExtensionType):
        return (extension(field), meaning(pa.field("", arrow.storage_type), formats, is_given))
    told = extension(field)
    if told:
        inner = meaning(pa.field("", arrow), formats, is_given)
        return (told, inner)
    if pa.types.is_dictionary(arrow):
        return meaning(pa.field("", arrow.value_type), formats, is_given)
    if pa.types.is_run_end_encoded(arrow) and "parquet" in formats:
        return meaning(pa.field("", arrow.value_type), formats, is_given)
    if pa.types.is_nested(arrow):
        inner = [meaning(arrow.field(at), formats, is_given) for at in range(arrow.num_fields)]
        names = [each.name for each in arrow] if pa.types.is_struct(arrow) else None
        return (container(arrow, formats), names, inner)
    if pa.types.is_timestamp(arrow):
        # Parquet has no seconds.
        unit = "ms" if arrow.unit == "s" and "parquet" in formats else arrow.unit
        return ("timestamp", unit, arrow.tz)
    if arrow == pa.time32("s") and "parquet" in formats:
        return pa.time32("ms")
    # pyarrow reads days of 64 bits from Parquet as such of 32, whatever its own schema there says.
    if arrow == pa.date64() and "parquet" in formats:
        return pa.date32()
    if pa.types.is_decimal(arrow):
        return ("decimal", arrow.precision, arrow.scale)
    if is_given and any(is_text(arrow) for is_text in TEXTS):
        return "text"
    if is_given and any(is_binary(arrow) for is_binary in BINARIES):
        return "binary"
    return arrow


TEXTS = [pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view]
BINARIES = [pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view]


def container(arrow: pa.DataType, formats: set[str]) -> str:
    """Returns the type of a column of nested values. Parquet has no views of lists."""
    if pa.types.is_fixed_size_list(arrow):
        return f"fixed_size_list[{arrow.list_size}]"
    if pa.types.is_union(arrow):
        return f"{arrow.mode}_union{arrow.type_codes}"
    if pa.types.is_map(arrow):
        return f"map, sorted {arrow.keys_sorted}"
    name = f"{arrow}".partition("<")[0]
    return name.removesuffix("_view") if "parquet" in formats else name


def extension(field: pa.Field) -> tuple[str, bytes | str] | None:
    """The name and the parameters of an extension type, whether pyarrow knows it or not."""
    arrow, metadata = field.type, field.metadata or {}
    if isinstance(arrow, pa.ExtensionType):
        return arrow.extension_name, arrow.__arrow_ext_serialize__()
    if isinstance(arrow, pa.BaseExtensionType):
        return arrow.extension_name, f"{arrow}"
    if b"ARROW:extension:name" not in metadata:
        return None
    name = metadata[b"ARROW:extension:name"].decode()
    return name, metadata.get(b"ARROW:extension:metadata", b"")
