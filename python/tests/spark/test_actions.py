"""A join runs in its call, and never again."""

import json
from collections.abc import Iterator
from pathlib import Path

import psijoin
import psijoin.spark
import pyarrow
from parties import Meeting
from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def test_rows_are_read_at_each_action(
    spark: SparkSession, meeting: Meeting, tmp_path: Path
) -> None:
    """Keys that the join has not seen are never among them, whatever becomes of the table."""
    path = str(tmp_path / "rows.json")

    def write(rows: list[tuple[str | None, int]]) -> None:
        Path(path).write_text(json.dumps(rows))

    def read(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for _ in batches:
            with open(path) as file:
                names, numbers = zip(*json.load(file), strict=True)
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(names), pyarrow.array(numbers, pyarrow.int32())], ["id", "row"]
            )

    write([("a", 1), ("b", 2), ("b", 3), (None, 4)])
    mine = spark.range(0, 1, 1, 1).mapInArrow(read, "id string, row int")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="id", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["b", "c"]),
    )
    assert sorted(shared.collect()) == [("b", 2), ("b", 3)]
    # The other party has c, too, but nobody has asked it.
    write([("b", 7), ("c", 8)])
    assert shared.collect() == [("b", 7)]


def test_rows_that_are_drawn_anew(spark: SparkSession, meeting: Meeting) -> None:
    drawn = f.udf(lambda row: f"key {row}", "string").asNondeterministic()
    mine = spark.range(2_000).select(drawn((f.rand() * 1_000).cast("int")).alias("key"), "id")
    theirs = [f"key {number}" for number in range(0, 1_000, 2)]
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="key", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(theirs),
    )
    for _ in range(2):
        rows = shared.collect()
        assert rows
        assert {row["key"] for row in rows} <= set(theirs)


def test_another_action_runs_no_session(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.createDataFrame([("a", 1), ("b", 2)], "id string, row int")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="id", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["b", "c"]),
    )
    # Nobody is at the other end any more.
    cached = shared.cache()
    assert [cached.count(), shared.where("row = 2").count()] == [1, 1]
    cached.unpersist()
    assert shared.collect() == [("b", 2)]
    shared.createOrReplaceTempView("shared")
    assert spark.sql("select row from shared").collect() == [(2,)]
