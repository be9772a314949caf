"""The differences between the rows that psijoin writes and those that DuckDB finds."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from .column_types import BINARIES, STRINGS
from .difference import Difference, expect
from .expectation import Expectation
from .formats import TYPED, Format, read_compressed, relation
from .joined_rows import JoinedRows
from .joins import Join
from .pairs import Pair
from .tables import Table, read_typed


def compare_rows(
    pair: Pair,
    join: Join,
    target: Format,
    expectation: Expectation,
    rows: JoinedRows,
    path: Path,
) -> None:
    """The rows of a join: of a text its own bytes, between typed formats types, and else texts."""
    table = pair.receiver.table
    if target.name == table.format.name and target.dialect:
        origins = [row for row, *_ in rows.origins]
        expected = table.text_of(origins, rows.added, rows.further())
        expect("the output's bytes", expected, read_compressed(path, target.compression))
    elif target.name in TYPED:
        compare_typed(pair, join, target, expectation, rows, path)
    else:
        compare_texts(join, table, target, expectation, rows, path)


def compare_typed(
    pair: Pair,
    join: Join,
    target: Format,
    expectation: Expectation,
    rows: JoinedRows,
    path: Path,
) -> None:
    """The rows with their types: the receiver's own columns, and those behind them."""
    table, found = pair.receiver.table, read_typed(target.name, path)
    names = [*table.names, *rows.added]
    expect("the columns", names, found.schema.names)
    width, own = len(table.names), [row for row, *_ in rows.origins]
    if table.format.name in TYPED:
        source = table.read_typed()
        if (table.format.name, target.name) == ("parquet", "parquet"):
            expect("the schema", source.schema, pa.schema(list(found.schema)[:width]))
            # DuckDB, other than pyarrow, sees the types of Parquet alone.
            whole = relation(target, [path], len(names))
            types = expectation.types(whole)[: width + 1]
            expect("the types", expectation.types(table.relation()), types)
        is_converted = target.name != table.format.name
        compare_columns(plain(source).take(places(own)), found, range(width), is_converted)
    else:
        # Its nulls are empty texts there.
        expected = texts_of(rows.own(), nullable=False, names=table.names)
        compare_columns(expected, found, range(width), is_converted=False)
    if join.rows == "all":
        flags = pa.array([is_shared for *_, is_shared in rows.origins], pa.bool_())
        field = pa.field(rows.added[0], pa.bool_(), nullable=False)
        expected = pa.table([flags], pa.schema([field]))
        compare_columns(expected, found, [width], is_converted=False)
    if rows.taken:
        compare_taken(pair.sender.table, join, target, rows, found)


def compare_taken(
    table: Table, join: Join, target: Format, rows: JoinedRows, found: pa.Table
) -> None:
    """The columns of the sender."""
    count = len(rows.taken)
    names = rows.added[-count:]
    last = range(len(found.schema) - count, len(found.schema))
    if table.format.name in TYPED:
        given = as_given(table.read_typed().select(rows.taken))
        partners = places([partner for _, partner, _ in rows.origins])
        expected = given.take(partners).rename_columns(names)
        compare_columns(expected, found, last, target.name != table.format.name)
    else:
        cells = [cells[-count:] for cells in rows.further()]
        expected = texts_of(cells, nullable=join.rows == "all", names=names)
        compare_columns(expected, found, last, is_converted=False)


def compare_columns(
    expected: pa.Table, found: pa.Table, columns: Sequence[int], is_converted: bool
) -> None:
    """Some of the columns that are found. Those that are converted have types of Parquet."""
    found = plain(found.select(list(columns)))
    if is_converted:
        # Parquet can say beside its own types what they were in Arrow.
        expected, found = (
            rows.cast(pa.schema(map(in_parquet, rows.schema))) for rows in (expected, found)
        )
    expect("the plain schema", expected.schema, found.schema)
    if not bits(expected).equals(bits(found)):
        raise Difference(f"the rows: expected {expected}, found {found}"[:4000])


def places(rows: Sequence[int | None]) -> pa.Array:
    """Numbers of rows, some of which may be missing."""
    return pa.array(rows, pa.int64())


def texts_of(
    rows: Sequence[Sequence[str | None]], nullable: bool, names: Sequence[str]
) -> pa.Table:
    """A table of texts."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    fields = [pa.field(name, pa.string(), nullable) for name in names]
    return pa.table([pa.array(cells, pa.string()) for cells in columns], pa.schema(fields))


def plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries, whose order tells nothing, and without views."""
    # From views pyarrow cannot take rows.
    types = {held.arrow: pa.string() for held in STRINGS} | {pa.binary_view(): pa.binary()}
    return cast(table, types)


def as_given(table: pa.Table) -> pa.Table:
    """The table with the types that its columns are given with."""
    types = {held.arrow: pa.string() for held in STRINGS}
    types |= {held.arrow: pa.binary() for held in BINARIES[:-1]}
    return cast(table, types)


def cast(table: pa.Table, types: dict[pa.DataType, pa.DataType]) -> pa.Table:
    """The table with some types instead of others."""
    fields = [one.with_type(types.get(one.type, one.type)) for one in table.schema]
    return table.cast(pa.schema(fields))


def bits(table: pa.Table) -> pa.Table:
    """The table with floating-point numbers as their bits: NaN equals itself, but no zero -0."""
    widths = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}
    columns = [
        pa.chunked_array([chunk.view(widths[one.type]) for chunk in one.chunks], widths[one.type])
        if one.type in widths
        else one
        for one in table.columns
    ]
    return pa.table(columns, table.schema.names)


def in_parquet(one: pa.Field) -> pa.Field:
    """A column with the type that Parquet has for its own: no seconds, but milliseconds."""
    held = one.type
    if pa.types.is_date64(held):
        return one.with_type(pa.date32())
    if pa.types.is_timestamp(held) and held.unit == "s":
        return one.with_type(pa.timestamp("ms", held.tz))
    return one.with_type(pa.time32("ms")) if held == pa.time32("s") else one


def compare_texts(
    join: Join,
    table: Table,
    target: Format,
    expectation: Expectation,
    rows: JoinedRows,
    path: Path,
) -> None:
    """The rows as texts, in another format than the input's."""
    names = [*table.names, *rows.added]
    if target.dialect.header:
        header = target.dialect.record(names).encode()
        content = read_compressed(path, target.compression)
        expect("the header", header, content[: len(header)])
    nulls = join.quote_empty
    found = expectation.texts(relation(target, [path], len(names)), len(names), nulls)
    expect("the rows", rows.texts(nulls), found)
