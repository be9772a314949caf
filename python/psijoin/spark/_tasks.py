"""The work of executors in a join by lanes.

Each class here is a function for `mapInArrow`, or for a column, with all that it needs. Spark takes
it to the executors as a closure, which is in no plan, configuration, event log or file. So that is
where secrets are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from psijoin import _psijoin, lanes
from psijoin._errors import Error
from psijoin._tables import pyarrow_module

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]

KEY = "key"
"""The column of fingerprints. Spark has only veiled ones."""

NUMBER = "number"
"""Columns of numbers have this name and their place: Spark does not take all names in a query."""

FACTS = "facts"
"""The column of facts about a portion, in rows of their own, without a key."""

PART, PLACE = "part", "place"
"""The columns that tell where a key is, in the words of `psijoin.lanes`."""

LANE, REPORT = "lane", "report"
"""The columns of a lane's report, in a row of its own, without a key."""


def of_keys(numbers: int) -> pyarrow.Schema:
    """Returns the columns of a table's keys, and of the facts about it."""
    pyarrow = pyarrow_module()
    fields = {KEY: pyarrow.binary(), **_numbers(numbers), FACTS: pyarrow.binary()}
    return pyarrow.schema(fields.items())


def of_placed(numbers: int) -> pyarrow.Schema:
    """Returns the columns of keys that have their part."""
    pyarrow = pyarrow_module()
    fields = {PART: pyarrow.int32(), KEY: pyarrow.binary(), **_numbers(numbers)}
    return pyarrow.schema(fields.items())


def of_found() -> pyarrow.Schema:
    """Returns the columns of keys that lanes have found, and of their reports."""
    pyarrow = pyarrow_module()
    places = dict.fromkeys([PART, PLACE, LANE], pyarrow.int32())
    return pyarrow.schema({KEY: pyarrow.binary(), **places, REPORT: pyarrow.binary()}.items())


def of_shared() -> pyarrow.Schema:
    """Returns the column of shared keys."""
    return pyarrow_module().schema({KEY: pyarrow_module().binary()}.items())


def _numbers(count: int) -> dict[str, Any]:
    """Returns columns of numbers, of the one type that `psijoin.lanes` has for them."""
    return {f"{NUMBER}{place}": pyarrow_module().decimal128(38, 18) for place in range(count)}


def _batch(schema: pyarrow.Schema, columns: Mapping[str, Any]) -> pyarrow.RecordBatch:
    """Returns rows with these columns, and nulls in the others."""
    pyarrow = pyarrow_module()
    rows = len(next(iter(columns.values())))
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pyarrow.nulls(rows, field.type)
        for field in schema
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


class Veil:
    """A permutation of fingerprints, under a key that only closures have: see `_psijoin.veil`. So
    what lies in files tells nothing to whoever guesses a key of the table.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def put_on(self, keys: Any) -> Any:
        """Veils an array of fingerprints."""
        return _psijoin.veil(self._key, keys.cast(pyarrow_module().binary(32)))

    def take_off(self, keys: Any) -> Any:
        """Returns the fingerprints of an array of veiled ones."""
        return _psijoin.unveil(self._key, keys.cast(pyarrow_module().binary(32)))


class Reading:
    """Reads a partition of a table: gives its distinct keys, with numbers, and a row of facts.
    `schema` has the columns as the table names them, and `key` is for `psijoin.lanes.read`.
    """

    def __init__(
        self, schema: pyarrow.Schema, key: Mapping[str, Any], numbers: Sequence[str], veil: Veil
    ) -> None:
        self._schema, self._key, self._numbers, self._veil = schema, key, numbers, veil

    def __call__(self, batches: Batches) -> Batches:
        pyarrow = pyarrow_module()
        schema = of_keys(len(self._numbers))
        portion = lanes.read(self._named(batches), numbers=self._numbers or None, **self._key)
        for batch in pyarrow.table(portion.keys).to_batches():
            numbers = {f"{NUMBER}{place}": batch.column(name) for place, name in enumerate(self._numbers)}
            yield _batch(schema, {KEY: self._veil.put_on(batch.column(KEY)), **numbers})
        yield _batch(schema, {FACTS: pyarrow.array([portion.facts], pyarrow.binary())})

    def _named(self, batches: Batches) -> Iterator[Any]:
        """Gives columns the names that they have in the table. At least one table comes, which has
        the columns.
        """
        first = next(batches, None)
        if first is None:
            yield self._schema.empty_table()
            return
        for batch in chain([first], batches):
            yield batch.rename_columns(self._schema.names)


class Merging:
    """Makes one of keys that are equal, as all of them are in one partition. Facts pass through."""

    def __init__(self, numbers: int) -> None:
        self._numbers = numbers

    def __call__(self, batches: Batches) -> Batches:
        pyarrow = pyarrow_module()
        schema = of_keys(self._numbers)
        columns = [name for name in schema.names if name != FACTS]
        facts = []

        def keys() -> Iterator[Any]:
            yield schema.empty_table().select(columns)
            for batch in batches:
                facts.append(batch.column(FACTS).drop_null())
                yield batch.filter(batch.column(KEY).is_valid()).select(columns)

        # Veiled ones are equal where keys are.
        for batch in pyarrow.table(lanes.merged(keys(), numbers=columns[1:])).to_batches():
            yield _batch(schema, {name: batch.column(name) for name in columns})
        yield from (_batch(schema, {FACTS: column}) for column in facts if len(column))


class Placing:
    """Finds the part of each key."""

    def __init__(self, router: Any, numbers: int, veil: Veil) -> None:
        self._router, self._numbers, self._veil = router, numbers, veil

    def __call__(self, batches: Batches) -> Batches:
        pyarrow = pyarrow_module()
        for batch in batches:
            keys = self._veil.take_off(batch.column(KEY))
            parts = pyarrow.array(lanes.place(self._router, pyarrow.table({KEY: keys})))
            columns = {name: batch.column(name) for name in batch.schema.names}
            yield _batch(of_placed(self._numbers), {PART: parts, **columns})


class Running:
    """Runs the lane of its partition: gives the keys that it has found, and its sealed report.

    It runs once. Whoever runs a lane again lets the other party ask again.
    """

    def __init__(
        self,
        tickets: Sequence[Any],
        numbers: Sequence[str],
        veil: Veil,
        sealing: bytes,
        proxy: str | None,
    ) -> None:
        self._tickets, self._numbers, self._veil = tickets, numbers, veil
        self._sealing, self._proxy = sealing, proxy

    def __call__(self, batches: Batches) -> Batches:
        from pyspark import TaskContext

        pyarrow = pyarrow_module()
        task = TaskContext.get()
        if task is None or task.attemptNumber() > 0:
            raise Error("a lane runs once, and Spark has started this one again: join again")
        number = task.partitionId()
        lane = lanes.Lane(self._tickets[number], proxy=self._proxy)
        for found in lane.run(self._keys(batches)):
            for batch in pyarrow.table(found).to_batches():
                columns = {name: batch.column(name) for name in batch.schema.names}
                veiled = self._veil.put_on(batch.column(KEY))
                yield _batch(of_found(), {**columns, KEY: veiled})
        report = _psijoin.seal(self._sealing, number, bytes(lane.report))
        columns = {LANE: pyarrow.array([number]), REPORT: pyarrow.array([report])}
        yield _batch(of_found(), columns)

    def _keys(self, batches: Batches) -> Iterator[Any]:
        pyarrow = pyarrow_module()
        for batch in batches:
            batch = batch.filter(batch.column(KEY).is_valid())
            numbers = [batch.column(f"{NUMBER}{place}") for place in range(len(self._numbers))]
            keys = self._veil.take_off(batch.column(KEY))
            yield pyarrow.table([keys, *numbers], names=[KEY, *self._numbers])


class Picking:
    """Picks the shared keys among those that lanes gave while a minimum withheld them."""

    def __init__(self, places: lanes.Places) -> None:
        self._places = places

    def __call__(self, batches: Batches) -> Batches:
        pyarrow = pyarrow_module()
        for batch in batches:
            shared = lanes.shared(self._places, pyarrow.table(batch))
            for found in pyarrow.table(shared).to_batches():
                yield _batch(of_shared(), {KEY: found.column(KEY)})


class Fingerprints:
    """Returns the veiled fingerprint of each row's key, null where there is none, as a column."""

    def __init__(self, schema: pyarrow.Schema, key: Mapping[str, Any], veil: Veil) -> None:
        self._schema, self._key, self._veil = schema, key, veil

    def __call__(self, *columns: Any) -> Any:
        pyarrow = pyarrow_module()
        rows = pyarrow.table(list(columns), names=self._schema.names)
        keys = pyarrow.array(lanes.keys_of(rows, **self._key))
        return self._veil.put_on(keys).cast(pyarrow.binary())
