"""The work of executors in a join by lanes.

Each class here is a function for `mapInArrow`, or for a column, with all that it needs. Spark takes
it to the executors as a closure, which is in no plan, configuration, event log or file. So that is
where secrets are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from psijoin import lanes
from psijoin._errors import Error
from psijoin._tables import pyarrow_module
from psijoin.spark import _added, _frames
from psijoin.spark._blocks import Blocks, Veil

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]

KEY = "key"
"""The column of fingerprints: within a block as they are, and otherwise veiled."""

BLOCK = "block"
"""The column of blocks."""

BUCKET = "bucket"
"""The number by which equal keys come together."""

DISTINCT = "distinct"
"""The number of distinct keys in a block. It is null where a block has facts about a portion."""

PART, PLACE = "part", "place"
"""The columns that tell where a key is, in the words of `psijoin.lanes`."""

LANE = "lane"
"""The lane whose report a block has. It is null where a block has keys."""

AT_ONCE = 32
"""The blocks whose keys are placed together, so that those of a part are not too small."""

ROWS_OF_PORTION = 1 << 21
"""The rows whose keys are in memory together while a partition is read."""

FACTS, FOUND = "facts", "found"
"""What blocks are sealed for, as others are for `KEY`."""


def of_read() -> pyarrow.Schema:
    """Returns the columns of what is read, on its way to its bucket."""
    return _schema({BUCKET: "int32", DISTINCT: "int32", BLOCK: "binary"})


def of_keys() -> pyarrow.Schema:
    """Returns the columns of a table's keys, and of the facts about it."""
    return _schema({DISTINCT: "int32", BLOCK: "binary"})


def of_placed() -> pyarrow.Schema:
    """Returns the columns of keys that have their part."""
    return _schema({PART: "int32", BLOCK: "binary"})


def of_found() -> pyarrow.Schema:
    """Returns the columns of keys that lanes have found, and of their reports."""
    return _schema({LANE: "int32", BLOCK: "binary"})


def of_shared() -> pyarrow.Schema:
    """Returns the column of shared keys, veiled."""
    return _schema({KEY: "binary"})


def with_taken(taken: lanes.Taken, names: Sequence[str]) -> pyarrow.Schema:
    """Returns the columns of shared keys, veiled, and of what the other party gave, in types of
    Spark. None of them has one of these names, which are those of this party's columns.
    """
    pyarrow = pyarrow_module()
    columns = pyarrow.schema(taken).empty_table()
    added = _in_spark(columns, taken, names)
    [key] = _frames.unused("psijoin_key", 1, [*names, *added.column_names])
    return added.schema.insert(0, pyarrow.field(key, pyarrow.binary()))


def _in_spark(rows: Any, taken: lanes.Taken, names: Sequence[str]) -> Any:
    """Returns the other party's columns, behind that of keys, as Spark has them."""
    columns = rows.select(range(1, rows.num_columns)).rename_columns(taken.names)
    return _added.of_spark(columns, names)


def in_report(lane: int) -> str:
    """Returns what the report of a lane is sealed for."""
    return f"report {lane}"


def _schema(fields: Mapping[str, str]) -> pyarrow.Schema:
    return pyarrow_module().schema([(name, pyarrow_module().type_for_alias(kind)) for name, kind in fields.items()])


def _row(schema: pyarrow.Schema, **cells: Any) -> pyarrow.RecordBatch:
    """Returns a row with these cells, and nulls in the others."""
    return pyarrow_module().RecordBatch.from_pylist([cells], schema=schema)


def _rows(schema: pyarrow.Schema, blocks: Any, **named: str) -> Iterator[pyarrow.RecordBatch]:
    """Returns blocks, what is known of each in columns of these names, and nulls in the others."""
    pyarrow = pyarrow_module()
    for batch in _batches(blocks):
        cells = {BLOCK: batch.column("block"), **{own: batch.column(name) for own, name in named.items()}}
        none = partial(pyarrow.nulls, batch.num_rows)
        columns = [cells[field.name] if field.name in cells else none(field.type) for field in schema]
        yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _batches(rows: Any) -> Iterator[pyarrow.RecordBatch]:
    """Returns Arrow data in batches, without empty ones."""
    return (batch for batch in pyarrow_module().table(rows).to_batches() if batch.num_rows)


def _cells(batches: Batches, *names: str) -> Iterator[tuple[Any, ...]]:
    """Returns the cells of these columns, row by row."""
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


class Reading:
    """Reads a partition of a table, portion by portion: gives blocks of its distinct keys, with
    numbers and with rows that are given, each of one of these many buckets, and one of facts.
    `schema` has the columns as the table names them, and `key` and `beside` are for
    `psijoin.lanes.read`.
    """

    def __init__(
        self,
        schema: pyarrow.Schema,
        key: Mapping[str, Any],
        beside: Mapping[str, Any],
        buckets: int,
        blocks: Blocks,
    ) -> None:
        self._schema, self._key, self._beside = schema, key, beside
        self._buckets, self._blocks = buckets, blocks

    def __call__(self, batches: Batches) -> Batches:
        for first in batches:
            some = chain([first], _next_rows(batches, ROWS_OF_PORTION - first.num_rows))
            portion = lanes.read(map(self._named, some), **self._beside, **self._key)
            blocks = self._blocks.of_buckets(portion.keys, self._buckets)
            yield from _rows(of_read(), blocks, bucket="number", distinct="rows")
            # Facts may go to any bucket.
            yield _row(of_read(), bucket=0, block=self._blocks.seal(FACTS, portion.facts))

    def _named(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """Gives columns the names and types that they have in the table."""
        return batch.rename_columns(self._schema.names).cast(self._schema)


def _next_rows(batches: Batches, rows: int) -> Batches:
    """Takes batches until they have so many rows."""
    while rows > 0 and (batch := next(batches, None)) is not None:
        yield batch
        rows -= batch.num_rows


class Merging:
    """Makes one of keys that are equal, as all of them are in one partition, which has its buckets
    in their order. So the keys of one bucket are in memory at a time. Facts pass through.
    """

    def __init__(self, numbers: Sequence[str], blocks: Blocks) -> None:
        self._numbers, self._blocks = numbers, blocks

    def __call__(self, batches: Batches) -> Batches:
        rows = _cells(batches, BUCKET, DISTINCT, BLOCK)
        for bucket, of_bucket in groupby(rows, itemgetter(0)):
            keys = []
            for _, distinct, block in of_bucket:
                if distinct is None:
                    yield _row(of_keys(), block=block)
                else:
                    keys.append(self._blocks.open_rows(f"bucket {bucket}", block))
            if keys:
                merged = lanes.merged(iter(keys), numbers=self._numbers)
                yield from _rows(of_keys(), self._blocks.of_rows(KEY, merged), distinct="rows")


class Placing:
    """Brings keys into blocks of one part each."""

    def __init__(self, router: Any, blocks: Blocks) -> None:
        self._router, self._blocks = router, blocks

    def __call__(self, batches: Batches) -> Batches:
        opened = (self._blocks.open_rows(KEY, block) for (block,) in _cells(batches, BLOCK))
        while some := list(islice(opened, AT_ONCE)):
            yield from _rows(of_placed(), self._blocks.of_parts(iter(some), self._router), part="number")


class Running:
    """Runs the lane of its partition: gives the keys that it has found, with what the other party
    gave for them, and its report.

    It runs once. Whoever runs a lane again lets the other party ask again. The ticket is of any
    lane: all tasks have the same closure, and it stays small.
    """

    def __init__(self, ticket: Any, blocks: Blocks, proxy: str | None) -> None:
        self._ticket, self._blocks, self._proxy = ticket, blocks, proxy

    def __call__(self, batches: Batches) -> Batches:
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is None or task.attemptNumber() > 0:
            raise Error("a lane runs once, and Spark has started this one again: join again")
        number = task.partitionId()
        lane = lanes.Lane(self._ticket.of_lane(number), proxy=self._proxy)
        for found in lane.run(self._keys(batches)):
            yield from _rows(of_found(), self._blocks.of_rows(FOUND, found))
        yield _row(of_found(), lane=number, block=self._blocks.seal(in_report(number), bytes(lane.report)))

    def _keys(self, batches: Batches) -> Iterator[Any]:
        for part, block in _cells(batches, PART, BLOCK):
            if block is not None:
                yield self._blocks.open_rows(f"part {part}", block)


class Opening:
    """Gives the shared keys, veiled. With places, lanes gave all keys while a minimum withheld
    which are shared.
    """

    def __init__(self, blocks: Blocks, veil: Veil, places: lanes.Places | None) -> None:
        self._blocks, self._veil, self._places = blocks, veil, places

    def __call__(self, batches: Batches) -> Batches:
        for (block,) in _cells(batches, BLOCK):
            found = self._blocks.open_rows(FOUND, block)
            shared = found if self._places is None else lanes.shared(self._places, found)
            for rows in _batches(shared):
                veiled = self._veil.put_on(rows.column(KEY)).cast(of_shared().field(KEY).type)
                yield pyarrow_module().RecordBatch.from_arrays([veiled], schema=of_shared())


class Unpacking:
    """Gives the shared keys, veiled, with the other party's columns, as `schema` has them."""

    def __init__(
        self, blocks: Blocks, veil: Veil, taken: lanes.Taken, names: Sequence[str], schema: pyarrow.Schema
    ) -> None:
        self._blocks, self._veil, self._taken = blocks, veil, taken
        self._names, self._schema = names, schema

    def __call__(self, batches: Batches) -> Batches:
        pyarrow = pyarrow_module()
        for (block,) in _cells(batches, BLOCK):
            found = self._blocks.open_rows(FOUND, block)
            for rows in map(pyarrow.table, lanes.unpacked(self._taken, found)):
                veiled = self._veil.put_on(rows.column(0).combine_chunks())
                columns = [veiled, *_in_spark(rows, self._taken, self._names).columns]
                named = pyarrow.table(columns, names=self._schema.names)
                yield from named.cast(self._schema).to_batches()


class Fingerprints:
    """Returns the veiled fingerprint of each row's key, null where there is none, as a column."""

    def __init__(self, schema: pyarrow.Schema, key: Mapping[str, Any], veil: Veil) -> None:
        self._schema, self._key, self._veil = schema, key, veil

    def __call__(self, *columns: Any) -> Any:
        pyarrow = pyarrow_module()
        rows = pyarrow.table(list(columns), names=self._schema.names)
        keys = pyarrow.array(lanes.keys_of(rows, **self._key))
        return self._veil.put_on(keys).cast(pyarrow.binary())
