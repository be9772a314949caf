"""In which order aligned rows were written, which no table tells."""

from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from .difference import Difference, expect
from .expectation import Expectation
from .formats import Format, read_compressed, relation
from .joined_rows import JoinedRows
from .pairs import Side
from .tables import Table, read_typed


def order_of(
    side: Side, target: Format, expectation: Expectation, rows: JoinedRows, path: Path
) -> list[int]:
    """The expected rows, by their places from 0, in the order of an output's lines.

    The rows have different keys, so that each is found by its own columns. Raises a `Difference`
    if it is not there exactly once.
    """
    if target.name == side.table.format.name and target.dialect:
        order = order_of_text(side.table, target, rows, path)
    else:
        order = order_of_keys(side, target, expectation, rows, path)
    expect("the rows in whatever order", list(range(len(rows.origins))), sorted(order))
    return order


def order_of_text(table: Table, target: Format, rows: JoinedRows, path: Path) -> list[int]:
    """The order of a text in the table's own dialect, whose rows keep their bytes."""
    dialect = target.dialect
    records = table.wider_records([row for row, *_ in rows.origins], rows.further())
    # Several records can begin alike where there are line endings in quotes.
    begun = defaultdict(list)
    for place, record in enumerate(records):
        begun[record.partition(dialect.line_ending)[0]].append(place)
    text = read_compressed(path, target.compression).decode(dialect.encoding)
    text = text.removeprefix(table.preamble(rows.added))
    if text and not text.endswith(dialect.line_ending):
        text += dialect.line_ending
    order, start = [], 0
    while start < len(text):
        line = text[start : text.index(dialect.line_ending, start)]
        found = [place for place in begun[line] if text.startswith(records[place], start)]
        if not found:
            raise Difference(f"a row that is not expected: {text[start:][:1000]!r}")
        order.append(found[0])
        start += len(records[found[0]])
    return order


def order_of_keys(
    side: Side, target: Format, expectation: Expectation, rows: JoinedRows, path: Path
) -> list[int]:
    """The order of an output that DuckDB reads, by the cells of the key."""
    held = [side.table.columns[place].type for place in side.key]
    own = [one.shown if target.dialect else one.canonical for one in held]
    written = ["{0}"] * len(held) if target.dialect else own
    expected = rows.own_cells(
        [text.format(f"mine.c{place}") for text, place in zip(own, side.key, strict=True)]
    )
    source = readable(target, path, len(side.table.columns) + len(rows.added))
    cells = [text.format(f"c{place}") for text, place in zip(written, side.key, strict=True)]
    found = expectation.connection.execute(f"SELECT {', '.join(cells)} FROM {source} ORDER BY row")
    places = {cells: place for place, cells in enumerate(expected)}
    order = [places.get(cells) for cells in found.fetchall()]
    if None in order:
        raise Difference(f"line {order.index(None) + 1} of the rows has an unexpected key")
    return order


def readable(target: Format, path: Path, columns: int) -> str:
    """SQL for the rows of an output, by way of a copy if DuckDB cannot read it."""
    if target.name != "arrow":
        return relation(target, [path], columns)
    copy = path.with_suffix(".parquet")
    pq.write_table(read_typed(target.name, path), copy)
    return relation(Format("parquet"), [copy], columns)
