"""Counts and sums of groups of a DataFrame are those of Spark's own GROUP BY."""

from decimal import Decimal

import psijoin
from parties import Meeting
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

# Of the last segment there is one shared key.
SEGMENTS = ("test", "control", None)
LEAST = 2


def test_groups_are_a_dataframe(spark: SparkSession, meeting: Meeting) -> None:
    rows = [(f"c{row % 200}", SEGMENTS[row % 200 % 3]) for row in range(210)]
    customers = spark.createDataFrame([*rows, ("last", "vip"), (None, "left out")], "id string, segment string")
    paid = [(f"c{row % 150 + 100}", Decimal(row - 40) / 4) for row in range(200)]
    payments = spark.createDataFrame([*paid, ("last", Decimal(7))], "id string, paid decimal(9, 2)")
    by = "receiver.segment"
    grouped, sent = psijoin.together(
        lambda: psijoin.Session(**meeting.ann).grouped(
            customers, "id", by=by, sums="sender.paid", min_group=LEAST
        ),
        lambda: psijoin.Session(**meeting.bob).send(
            payments, "id", output_kind="counts,sum:sender.paid", group_by=by, min_group=LEAST
        ),
    )
    assert isinstance(grouped.groups, DataFrame)
    assert sent.rows is None
    found = {row[by]: (row["shared_keys"], row["sum:sender.paid"]) for row in grouped.groups.collect()}
    shared = payments.join(customers.distinct(), "id").groupBy("segment")
    totals = shared.agg(f.count_distinct("id").alias("keys"), f.sum("paid").alias("paid")).collect()
    expected = {row["segment"]: (row["keys"], row["paid"]) for row in totals}
    assert expected.pop("vip") == (1, Decimal(7))
    assert found.pop("vip") == (None, None)
    assert found == expected
