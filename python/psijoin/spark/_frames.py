"""DataFrames of Spark: their keys go into a join, and their rows come back as a DataFrame.

Only the columns that a join reads leave Spark, as Arrow data, before the parties meet. What comes
back is joined by the values of the key as they were read, and not by numbers of rows: Spark
computes a DataFrame anew for each action, and its rows may come in another order then.

The values go back to Spark as Arrow data, too. As literals (`lit`, `isin`) they would stand in
query plans, which the event log keeps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psijoin._errors import InputError, UsageError
from psijoin._listening import log
from psijoin._psijoin import Rows
from psijoin._tables import Given, Use, Wanted, pyarrow_module
from psijoin.spark import _added, _cluster
from psijoin.spark._jobs import Jobs

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

RESULTS_TOO_LARGE = "spark.driver.maxResultSize"
"""The setting that an error of Spark names if a result is larger than that."""

NESTED = ("ArrayType", "MapType", "StructType", "VariantType")
"""Types whose values are no keys, and are not shared."""

ROWS_OF_PARTITION = 1 << 18
"""Rows of a partition of what a join has found. Spark makes one of every 10,000, and with
each a block for each partition of the shuffle that follows.
"""


def given(frame: Any, wanted: Wanted) -> Given:
    """Returns the DataFrame for a join that needs these parts of it: reads them now.

    If that fails, what is returned raises the reason, so that the other party hears that this one
    cannot join.
    """
    check(frame, wanted)
    pyarrow = pyarrow_module()
    names = list(frame.columns)
    read = [name for name in dict.fromkeys(names) if is_read(name, names, wanted)]
    try:
        if _is_in_vain(frame, read, wanted):
            collected = _schema(frame, read).empty_table()
        else:
            collected = _collected(selected(frame, read), wanted)
    except BaseException as error:
        is_interrupted = is_interrupt(error)
        if not (is_interrupted or isinstance(error, Exception)):
            raise
        return Given(_raising(names, error), "by number", _no_rows, is_interrupted)
    # The others are there by name, as what is added must differ from them.
    others = pyarrow.nulls(collected.num_rows)
    columns = [collected.column(name) if name in read else others for name in names]
    table = pyarrow.table(columns, names=names)

    def back(rows: Rows, report: Mapping[str, Any]) -> Any:
        with _cluster.end_is_told(frame.sparkSession):
            return _joined_back(frame, collected, pyarrow.table(rows), wanted, report)

    return Given(table, "by number", back)


def check(frame: Any, wanted: Wanted) -> None:
    # A DataFrame takes any attribute for the name of a column.
    kind = type(frame)
    if hasattr(kind, "to_spark"):
        raise TypeError("a table is a DataFrame of Spark, not of pandas on Spark: see its method to_spark")
    if not hasattr(kind, "sparkSession") or not hasattr(kind, "columns"):
        raise TypeError(f"a table is a DataFrame of Spark, not {kind.__qualname__}")
    if not hasattr(kind, "toArrow"):
        raise ImportError("this takes PySpark 4.0 or later")
    if frame.isStreaming:
        raise UsageError("a stream of Spark has no end: join the table that it is written to")
    if wanted.use is Use.FILE:
        raise UsageError("`output`: leave it out, and write the DataFrame that comes back")
    if wanted.is_aligned:
        raise UsageError("`align`: the rows of a DataFrame of Spark have no order")


def is_read(name: str, names: Sequence[str], wanted: Wanted) -> bool:
    """Returns whether a join may read this column of these."""
    return _is_key(name, names, wanted) or name in wanted.beside_key


def _is_key(name: str, names: Sequence[str], wanted: Wanted) -> bool:
    """Returns whether a row's key depends on this column of these."""
    if not wanted.key:
        return len(names) == 1
    return name in wanted.key or any(name in countries for countries in wanted.either)


def _is_in_vain(frame: DataFrame, read: Sequence[str], wanted: Wanted) -> bool:
    """Returns whether a join refuses the table for its columns alone."""
    kinds = {field.name: type(field.dataType).__name__ for field in frame.schema.fields}
    return not read or not set(wanted.key) <= set(read) or any(kinds[name] in NESTED for name in read)


def _schema(frame: DataFrame, read: Sequence[str]) -> pyarrow.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema: pyarrow.Schema = to_arrow_schema(selected(frame, read).schema)
    return schema


def selected(frame: DataFrame, read: Sequence[str]) -> DataFrame:
    return frame.select([compared(frame, name).alias(name) for name in read])


def compared(frame: DataFrame, name: str) -> Any:
    """Returns a column as it is compared: a text by its bytes, whatever its collation."""
    column = frame["`" + name.replace("`", "``") + "`"]
    return column.cast("string") if _is_text(frame.schema[name].dataType) else column


def _is_text(kind: object) -> bool:
    return type(kind).__name__ == "StringType"


def _collected(frame: DataFrame, wanted: Wanted) -> pyarrow.Table:
    """Returns the content of a DataFrame."""
    jobs = Jobs(frame.sparkSession)
    with wanted.stopped_with_join(jobs), jobs.running():
        if jobs.is_stopped:
            raise InputError("interrupted")
        try:
            return frame.toArrow()
        except Exception as error:
            if RESULTS_TOO_LARGE not in str(error) or not hasattr(type(frame), "__arrow_c_stream__"):
                raise
        log.info(
            "the keys take more than %s: they are read partition after partition, which takes longer",
            RESULTS_TOO_LARGE,
        )
        table: pyarrow.Table = pyarrow_module().table(frame)
        return table


def is_interrupt(error: BaseException | None) -> bool:
    """Returns whether Ctrl-C is the reason. Spark's own handler cancels all jobs, whose errors then
    hide it.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _raising(names: Sequence[str], error: BaseException) -> Iterator[Any]:
    """Has these columns, and raises an error in place of rows."""
    pyarrow = pyarrow_module()
    yield pyarrow.table([pyarrow.nulls(0)] * len(names), names=list(names))
    raise error


def _no_rows(rows: Rows, report: Mapping[str, Any]) -> Any:
    raise AssertionError("the join has failed")


def _joined_back(
    frame: DataFrame,
    collected: pyarrow.Table,
    found: pyarrow.Table,
    wanted: Wanted,
    report: Mapping[str, Any],
) -> DataFrame:
    """Returns the rows of a DataFrame that a join has found, and what it adds to them.

    `found` has the numbers of rows in `collected`, and the columns that are added.
    """
    by = [name for name in collected.column_names if _is_key(name, frame.columns, wanted)]
    numbers = found.column(0)
    added = _added.of_spark(found.select(range(1, found.num_columns)), frame.columns)
    counts = report["table"]
    repeated = counts["rows_repeating_a_key"] + max(counts["rows_without_key"] - 1, 0)
    names = unused("psijoin_key", len(by), [*frame.columns, *added.column_names])
    keys = _rows_of(collected.select(by), numbers)
    answer = pyarrow_module().table(
        [*keys.columns, *added.columns], names=[*names, *added.column_names]
    )
    # Whoever looks whether a key is there finds it once; what is added to it would be added again.
    if repeated > (0 if added.num_columns else len(numbers) // 2):
        answer = answer.filter(_are_first(keys, numbers))
    answered = _to_spark(frame, by, answer)
    # Rows without a key are never shared. A country may be missing where a number has a code.
    is_exact = {name: wanted.rows == "shared" and name in wanted.key for name in by}
    same = [
        compared(frame, name) == answered[new]
        if is_exact[name]
        else compared(frame, name).eqNullSafe(answered[new])
        for name, new in zip(by, names, strict=True)
    ]
    if not added.num_columns:
        return frame.join(answered, same, "left_semi")
    return frame.join(answered, same, "inner").drop(*names)


def _rows_of(table: pyarrow.Table, numbers: pyarrow.ChunkedArray) -> pyarrow.Table:
    """Returns the rows with these numbers, which ascend. They are taken batch after batch: from all
    of the table at once Arrow takes a copy of it, in which no column may have 2 GiB of text.
    """
    import pyarrow.compute as compute

    taken, first, start = [], 0, 0
    for batch in table.to_batches():
        end = start + batch.num_rows
        last = bisect_left(numbers, end, first, key=lambda number: number.as_py())
        of_batch = numbers.slice(first, last - first).combine_chunks()
        taken.append(batch.take(compute.subtract(of_batch, start)))
        first, start = last, end
    return pyarrow_module().Table.from_batches(taken, table.schema)


def _are_first(keys: pyarrow.Table, numbers: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Returns for each row, whose number in the table is there too, whether no row with a lower
    number has its key, as Spark compares keys. If the other party gives several rows for a key, a
    row is there several times, under one number.
    """
    import pyarrow.compute as compute

    columns = [_as_grouped(column) for column in keys.columns]
    by = [str(place) for place in range(len(columns))]
    rows = pyarrow_module().table([*columns, numbers], names=[*by, "number"])
    first = rows.group_by(by).aggregate([("number", "min")]).column("number_min")
    return compute.is_in(numbers, value_set=first.combine_chunks())


def _as_grouped(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Returns a column that Arrow groups as Spark does, however long its texts are."""
    import pyarrow.compute as compute

    pyarrow = pyarrow_module()
    if pyarrow.types.is_floating(column.type):
        # There are two zeros.
        return compute.add(column, 0)
    wide = {pyarrow.string(): pyarrow.large_string(), pyarrow.binary(): pyarrow.large_binary()}
    return column.cast(wide.get(column.type, column.type))


def unused(name: str, count: int, used: Sequence[str]) -> list[str]:
    """Returns names that are none of these, which Spark compares without regard to case."""
    taken = {other.casefold() for other in used}
    while any(other.startswith(name) for other in taken):
        name += "_"
    return [f"{name}{number}" for number in range(count)]


def name_of_shared(used: Sequence[str]) -> str:
    """Returns the name of the column that tells which rows are shared."""
    return "psijoin_shared" if "shared" in map(str.casefold, used) else "shared"


def _to_spark(frame: DataFrame, by: Sequence[str], answer: pyarrow.Table) -> DataFrame:
    """Returns a DataFrame of keys with the types of these columns, and of what is added to them."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StringType, StructField, StructType

    kinds = [frame.schema[name].dataType for name in by]
    kinds = [StringType() if _is_text(kind) else kind for kind in kinds]
    added = answer.schema.types[len(by) :]
    kinds += [from_arrow_type(kind, prefer_timestamp_ntz=True) for kind in added]
    named = zip(answer.column_names, kinds, strict=True)
    schema = StructType([StructField(name, kind) for name, kind in named])
    answered = frame.sparkSession.createDataFrame(answer, schema=schema)
    return answered.coalesce(answer.num_rows // ROWS_OF_PARTITION + 1)
