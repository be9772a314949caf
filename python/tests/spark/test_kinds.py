"""Keys and columns of all types of Spark."""

from typing import Any

import psijoin
import psijoin.spark
import pyarrow
import pytest
from parties import Meeting
from pyspark.sql import SparkSession
from pyspark.sql import types as kinds

KEYS = {
    "string": ["'a'", "'Straße'", "' a'"],
    "string collate UTF8_LCASE": ["'a'", "'A'", "'b'"],
    "byte": ["-7", "12", "0"],
    "short": ["-7", "12", "0"],
    "int": ["-7", "12", "0"],
    "bigint": ["-7", "9223372036854775807", "0"],
    "float": ["-7", "12", "0"],
    "double": ["-7", "12", "cast('-0' as double)"],
    "decimal(38,2)": ["-7.50", "12.00", "0.25"],
    "boolean": ["true", "false"],
    "date": ["'1969-12-31'", "'2024-02-29'", "'9999-12-31'"],
    "timestamp": ["'1969-12-31 23:59:59.5'", "'2024-02-29 13:05:00.000025'", "'0001-01-01'"],
    "timestamp_ntz": ["'1969-12-31 23:59:59.5'", "'2024-02-29 13:05:00.000025'", "'0001-01-01'"],
    "binary": ["X'00ff'", "X'61'", "X'0a'"],
}
"""Three values of each type, or two."""


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "UTC"])
def test_keys(spark: SparkSession, meeting: Meeting, kind: str, zone: str) -> None:
    """The first value and the last are shared, each in two rows."""
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        cells = [*KEYS[kind], "null"]
        one = [f"select cast({cell} as {kind}) as k, {row} as row" for row, cell in enumerate(cells)]
        mine = spark.sql(" union all ".join([*one, *one]))
        other = [cells[0], cells[-2], "null"]
        theirs = spark.sql(
            " union all ".join(f"select cast({cell} as {kind}) as k, {row} as n" for row, cell in enumerate(other))
        )
        shared, _ = psijoin.together(
            lambda: psijoin.spark.receive(mine, on="k", take="all", **meeting.ann),
            lambda: psijoin.spark.send(theirs, on="k", give="n", **meeting.bob),
        )
        assert shared.schema["k"] == mine.schema["k"]
        last = len(cells) - 2
        assert sorted((row["row"], row["n"]) for row in shared.select("row", "n").collect()) == [
            (0, 0), (0, 0), (last, 1), (last, 1)
        ]  # fmt: skip
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_two_zeros_are_one_key(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.sql("select cast(k as double) k from values ('0'), ('-0'), ('1') as t(k)")
    theirs = pyarrow.table({"id": ["0"], "n": [7]})
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, take="all", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(theirs, on="id", give="n"),
    )
    assert shared.collect() == [(0.0, 7), (0.0, 7)]


NESTED = ["array('a')", "map('a', 1)", "named_struct('a', 1)", "parse_json('1')"]


@pytest.mark.parametrize("value", NESTED)
def test_nested_columns_are_no_keys(spark: SparkSession, meeting: Meeting, value: str) -> None:
    mine = spark.sql(f"select {value} as nested, 'a' as id, raise_error('read') as unread")
    with pytest.raises((psijoin.InputError, psijoin.PeerFailedError)) as raised:
        psijoin.together(
            lambda: psijoin.spark.receive(mine, on="nested", **meeting.ann),
            lambda: psijoin.Session(**meeting.bob).send(["a"]),
        )
    assert isinstance(raised.value, psijoin.InputError)
    assert "'nested'" in str(raised.value) or "`nested`" in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("value", ["interval '1' month", "make_interval(1)"])
def test_types_that_arrow_does_not_have(
    spark: SparkSession, meeting: Meeting, value: str
) -> None:
    mine = spark.sql(f"select {value} as far, 'a' as id")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="id", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["a"]),
    )
    assert shared.schema == mine.schema
    with pytest.raises(psijoin.InputError, match="has failed"):
        psijoin.together(
            lambda: psijoin.spark.receive(mine, on="far", **meeting.ann),
            lambda: psijoin.Session(**meeting.bob).send(["a"]),
        )


def test_columns_of_other_types(spark: SparkSession, meeting: Meeting) -> None:
    """What another library gives has the nearest type that Spark has."""
    pa = pyarrow
    given = {
        "u8": pa.array([255], pa.uint8()),
        "u64": pa.array([2**64 - 1], pa.uint64()),
        "text": pa.array(["a"], pa.large_string()),
        "few": pa.array(["a"]).dictionary_encode(),
        "bytes": pa.array([b"ab"], pa.binary(2)),
        "day": pa.array([86_400_000], pa.int64()).view(pa.date64()),
        "seconds": pa.array([1], pa.timestamp("s")),
        "nanos": pa.array([1_000], pa.timestamp("ns", "+02:00")),
        "wide": pa.array([1], pa.decimal256(50, 2)),
        "at": pa.array([1_000], pa.time32("ms")),
        "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)], pa.binary(16))),
    }
    theirs = pa.table({"id": pa.array(["a"]), **given})
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(spark.sql("select 'a' as id"), take="all", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(theirs, on="id", give=list(given)),
    )
    types: dict[str, Any] = {
        "u8": kinds.ShortType(),
        "u64": kinds.DecimalType(20, 0),
        "text": kinds.StringType(),
        "few": kinds.StringType(),
        "bytes": kinds.BinaryType(),
        "day": kinds.DateType(),
        "seconds": kinds.TimestampNTZType(),
        "nanos": kinds.TimestampType(),
        "wide": kinds.DecimalType(38, 2),
        "at": kinds.TimeType() if hasattr(kinds, "TimeType") else kinds.StringType(),
        "uuid": kinds.StringType(),
    }
    assert {field.name: field.dataType for field in shared.schema.fields[1:]} == types
    row = shared.withColumn("at", shared["at"].cast("string")).collect()[0].asDict()
    assert (row["u64"], row["wide"], row["at"], str(row["day"])) == (2**64 - 1, 1, "00:00:01", "1970-01-02")
    assert row["uuid"] == "00000000-0000-0000-0000-000000000000"
    fine = pa.table({"id": ["a"], "fine": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(psijoin.InputError, match="'fine' holds a value that Spark cannot hold"):
        psijoin.together(
            lambda: psijoin.spark.receive(spark.sql("select 'a' as id"), take="all", **meeting.ann),
            lambda: psijoin.Session(**meeting.bob).send(fine, on="id", give="fine"),
        )
