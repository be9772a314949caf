"""Joins of random tables are those that Spark makes of them in the clear."""

from collections import Counter
from pathlib import Path
from typing import Any

import psijoin
import psijoin.spark
import pyarrow
import pytest
from parties import PATIENCE, Meeting, program
from pyarrow import parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from random_tables import KEY, THEIR_KEY, content, keyed, random_tables


def test_shared_rows(spark: SparkSession, meeting: Meeting) -> None:
    for seed in range(3):
        mine, theirs = random_tables(spark, seed)
        shared, sent = psijoin.together(
            lambda: psijoin.spark.receive(mine, on=KEY, learn="both", **meeting.ann),
            lambda: psijoin.spark.send(theirs, on=THEIR_KEY, learn="both", **meeting.bob),
        )
        expected = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(mine.columns)
        assert content(shared) == content(expected)
        assert shared.schema == mine.schema
        assert shared.rows is shared
        counts = shared.report["table"]
        assert counts["rows"] == mine.count()
        assert counts["rows_without_key"] == mine.count() - keyed(mine).count()
        assert counts["distinct_keys"] == keyed(mine).select(KEY).distinct().count()
        number = expected.select(KEY).distinct().count()
        assert f" {number} shared keys" in shared.statement
        expected = keyed(theirs).join(mine.select(KEY), KEY, "left_semi").select(theirs.columns)
        assert sent.rows is not None
        assert content(sent.rows) == content(expected)


@pytest.mark.parametrize("rows", ["unshared", "all"])
def test_other_rows(spark: SparkSession, meeting: Meeting, rows: Any) -> None:
    mine, theirs = random_tables(spark, 3)
    given, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on=KEY, rows=rows, **meeting.ann),
        lambda: psijoin.spark.send(theirs, on=THEIR_KEY, **meeting.bob),
    )
    keys = keyed(theirs).select(*KEY, f.lit(True).alias("found")).distinct()
    marked = mine.join(keys, KEY, "left").select(*mine.columns, f.coalesce("found", f.lit(False)))
    if rows == "unshared":
        expected = marked.where("not coalesce(found, false)").drop("coalesce(found, false)")
        assert given.schema == mine.schema
    else:
        expected = marked.withColumnRenamed("coalesce(found, false)", "shared")
        assert given.columns == [*mine.columns, "shared"]
    assert content(given) == content(expected)


def test_columns_of_the_other_party(spark: SparkSession, meeting: Meeting) -> None:
    for seed in range(3):
        mine, theirs = random_tables(spark, 10 + seed)
        most = keyed(theirs).groupBy(KEY).count().agg(f.max("count")).collect()[0][0]
        shared, _ = psijoin.together(
            lambda: psijoin.spark.receive(mine, on=KEY, take=["plan", "paid"], **meeting.ann),
            lambda: psijoin.spark.send(
                theirs, on=THEIR_KEY, give=["plan", "paid"], repeated=f"list:{most}", **meeting.bob
            ),
        )
        expected = keyed(mine).join(theirs, KEY).select(*mine.columns, "plan", "paid")
        assert content(shared) == content(expected)
        assert shared.schema.fields[: len(mine.columns)] == mine.schema.fields
        assert [field.dataType for field in shared.schema.fields[-2:]] == [
            theirs.schema[name].dataType for name in ("plan", "paid")
        ]


def test_names_differ_in_spark_without_regard_to_case(
    spark: SparkSession, meeting: Meeting
) -> None:
    mine = spark.createDataFrame([("a", 1, 2)], "`i.d` string, Plan int, psijoin_key0 int")
    theirs = spark.createDataFrame([("a", "gold")], "`i``d` string, plan string")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="i.d", take="all", **meeting.ann),
        lambda: psijoin.spark.send(theirs, on="i`d", give="plan", **meeting.bob),
    )
    assert shared.columns == ["i.d", "Plan", "psijoin_key0", "partner_plan"]
    assert shared.collect() == [("a", 1, 2, "gold")]


def test_normalized_keys(spark: SparkSession, meeting: Meeting) -> None:
    """Several values of a column are one key."""
    texts = ["Ann@x.org", " ann@x.org", "bob@x.org", "ANN@x.org", None, "eve@x.org", "bob@x.org"]
    mine = spark.createDataFrame([(text, row) for row, text in enumerate(texts)], "email string, row int")
    theirs = spark.createDataFrame([("ann@x.org", "gold"), ("BOB@x.org", "basic")], "mail string, plan string")
    rule = {"email": "email"}
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="email", normalize=rule, take=["plan"], **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on="mail", normalize={"mail": "email"}, give=["plan"], **meeting.bob
        ),
    )
    plans = {0: "gold", 1: "gold", 2: "basic", 3: "gold", 6: "basic"}
    assert content(shared) == Counter(
        str(row) for row in mine.sparkSession.createDataFrame(
            [(texts[row], row, plan) for row, plan in plans.items()], "email string, row int, plan string"
        ).collect()
    )


def test_each_row_has_its_country(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.createDataFrame(
        [("030 1234567", "DE"), ("030 1234567", "US"), ("+49301234567", None), (None, "DE")],
        "tel string, land string",
    )
    rule = {"tel": "phone:column:land"}
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="tel", normalize=rule, bad_keys="null", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["+49301234567"], normalize={"key": "phone:DE"}),
    )
    assert content(shared) == content(mine.where("land = 'DE' and tel is not null or land is null"))


def test_numbers(spark: SparkSession, meeting: Meeting) -> None:
    mine, theirs = random_tables(spark, 20)
    least = 5
    shared, _ = psijoin.together(
        lambda: psijoin.spark.count(mine, on=KEY, min_intersection=least, **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, output_kind="count", min_intersection=least, **meeting.bob
        ),
    )
    keys = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(KEY).distinct()
    assert shared.count == keys.count() > least
    # Rows of one key are added up.
    for columns in (["paid"], ["sender.paid", "price"]):
        sums, _ = psijoin.together(
            lambda: psijoin.spark.sum(
                mine, on=KEY, columns=columns, min_intersection=least, **meeting.ann
            ),
            lambda: psijoin.spark.send(
                theirs,
                on=THEIR_KEY,
                output_kind=("sum", columns),
                min_intersection=least,
                allow_sums_that_reveal_keys=True,
                **meeting.bob,
            ),
        )
        paid = theirs.join(keys, KEY, "left_semi").agg(f.sum("paid")).collect()[0][0]
        price = mine.join(keys, KEY, "left_semi").agg(f.sum("price")).collect()[0][0]
        assert list(sums.sums.values()) == [paid, price][: len(columns)]
    reached, _ = psijoin.together(
        lambda: psijoin.spark.threshold(mine, on=KEY, least=keys.count(), **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, output_kind=f"threshold:{keys.count()}", **meeting.bob
        ),
    )
    assert reached.is_reached
    with pytest.raises(psijoin.PolicyError):
        psijoin.together(
            lambda: psijoin.spark.count(mine, on=KEY, min_intersection=10_000, **meeting.ann),
            lambda: psijoin.spark.send(
                theirs, on=THEIR_KEY, output_kind="count", min_intersection=10_000, **meeting.bob
            ),
        )


def test_the_program_is_the_other_party(
    spark: SparkSession, meeting: Meeting, tmp_path: Path
) -> None:
    mine, theirs = random_tables(spark, 30)
    theirs = theirs.dropDuplicates(KEY)
    ann, bob = meeting
    # As it is asked for twice, it is the same content that both have.
    table = theirs.toArrow()
    theirs = spark.createDataFrame(table)
    parquet.write_table(table, tmp_path / "theirs.parquet")
    common = ["--relay", bob["relay"], "--wait", "600", "--key", "name,day"]
    sending = program(
        "send", *common, "--identity", bob["identity"].path, "--peer", bob["peer"],
        "--input", str(tmp_path / "theirs.parquet"), "--give", "plan",
    )  # fmt: skip
    shared = psijoin.spark.receive(mine, on=KEY, take="all", **ann)
    _, said = sending.communicate(timeout=10 * PATIENCE)
    assert sending.returncode == 0, said
    expected = keyed(mine).join(theirs, KEY).select(*mine.columns, "plan")
    assert content(shared) == content(expected)
    receiving = program(
        "receive", *common, "--identity", bob["identity"].path, "--peer", bob["peer"],
        "--input", str(tmp_path / "theirs.parquet"), "--output", str(tmp_path / "shared.parquet"),
    )  # fmt: skip
    sent = psijoin.spark.send(mine, on=KEY, **ann)
    _, said = receiving.communicate(timeout=10 * PATIENCE)
    assert receiving.returncode == 0, said
    assert sent.rows is None
    expected = keyed(theirs).join(mine.select(KEY), KEY, "left_semi").select(theirs.columns)
    assert content(spark.read.parquet(str(tmp_path / "shared.parquet"))) == content(expected)


def test_a_session_takes_frames_of_several_libraries(
    spark: SparkSession, meeting: Meeting
) -> None:
    """The same as `psijoin.spark`, for a session that is there."""
    mine = spark.createDataFrame([("a",), ("b",), ("b",)], "id string")
    theirs = pyarrow.table({"id": ["b", "c"], "plan": ["gold", "basic"]})
    ann, bob = psijoin.Session(**meeting.ann), psijoin.Session(**meeting.bob)
    shared, _ = psijoin.together(
        lambda: ann.receive(mine, take=["plan"]), lambda: bob.send(theirs, on="id", give="plan")
    )
    assert shared.rows.collect() == [("b", "gold"), ("b", "gold")]
    assert ann.statement == shared.statement
    theirs_shared, _ = psijoin.together(
        lambda: bob.receive(theirs, on="id"), lambda: ann.send(mine)
    )
    assert theirs_shared.rows.to_pylist() == [{"id": "b", "plan": "gold"}]


def test_nothing_is_shared(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.createDataFrame([("a", 1)], "id string, number int")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on="id", take="all", **meeting.ann),
        lambda: psijoin.spark.send(
            spark.createDataFrame([("x", 2)], "id string, plan int"), on="id", give="plan", **meeting.bob
        ),
    )
    assert shared.columns == ["id", "number", "plan"]
    assert shared.collect() == []


def test_settings_are_only_compared(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.createDataFrame([("a",)], "id string")
    checked, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, check=True, **meeting.ann),
        lambda: psijoin.spark.send(mine, check=True, **meeting.bob),
    )
    assert checked.rows is None
    assert checked.statement
