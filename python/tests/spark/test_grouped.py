"""Counts and sums of groups of a DataFrame are those of Spark's own GROUP BY."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import psijoin
import psijoin.spark
import pytest
from parties import Meeting
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

# Of the last segment there is one shared key.
SEGMENTS = ("test", "control", None)
TIERS = ("x", "y")
LEAST = 2
BY = ["receiver.segment", "sender.tier"]


@pytest.mark.parametrize("in_lanes", [False, True])
def test_groups_are_a_dataframe(spark: SparkSession, meeting: Meeting, tmp_path: Path, in_lanes: bool) -> None:
    rows = [(f"c{row % 200}", SEGMENTS[row % 200 % 3]) for row in range(210)]
    columns = "id string, segment string"
    customers = spark.createDataFrame([*rows, ("last", "vip"), (None, "left out")], columns).repartition(3)
    paid = [(f"c{row % 150 + 100}", Decimal(row - 40) / 4, TIERS[row % 150 % 2]) for row in range(200)]
    columns = "id string, paid decimal(9, 2), tier string"
    payments = spark.createDataFrame([*paid, ("last", Decimal(7), "x")], columns).repartition(2)
    # Both sides run in one Spark here, which has two slots.
    common: dict[str, Any] = {"lanes": 1, "work": str(tmp_path / "work")} if in_lanes else {}
    (tmp_path / "work").mkdir()
    grouped, sent = psijoin.together(
        lambda: psijoin.spark.grouped(
            customers, "id", by=BY, sums="sender.paid", min_group=LEAST, **common, **meeting.ann
        ),
        lambda: psijoin.spark.send(
            payments, "id", output_kind="counts,sum:sender.paid", group_by=BY, min_group=LEAST, **common, **meeting.bob
        ),
    )
    assert isinstance(grouped.groups, DataFrame)
    assert sent.rows is None
    found = {
        (row[BY[0]], row[BY[1]]): (row["shared_keys"], row["sum:sender.paid"]) for row in grouped.groups.collect()
    }
    shared = payments.join(customers.distinct(), "id").groupBy("segment", "tier")
    totals = shared.agg(f.count_distinct("id").alias("keys"), f.sum("paid").alias("paid")).collect()
    expected = {(row["segment"], row["tier"]): (row["keys"], row["paid"]) for row in totals}
    assert expected.pop(("vip", "x")) == (1, Decimal(7))
    withheld = {(segment, tier): (None, None) for segment in (*SEGMENTS, "vip") for tier in TIERS}
    assert found == {**withheld, **expected}
    assert list((tmp_path / "work").glob("*/*")) == []


def test_rows_of_a_key_have_one_label(spark: SparkSession, meeting: Meeting, tmp_path: Path) -> None:
    """Wherever they are. The other party hears of it."""
    rows = [(f"c{row % 500}", f"psiKIND{row // 999}") for row in range(1_000)]
    customers = spark.createDataFrame(rows, "id string, segment string").repartition(4)
    errors = []

    def refused(call: Any) -> None:
        with pytest.raises(psijoin.Error) as error:
            call()
        errors.append(error.value)

    common: dict[str, Any] = {"lanes": 1, "work": str(tmp_path)}
    by: dict[str, Any] = {"group_by": BY[0], "min_group": LEAST}
    psijoin.together(
        lambda: refused(
            lambda: psijoin.spark.grouped(customers, "id", by=BY[0], min_group=LEAST, **common, **meeting.ann)
        ),
        lambda: refused(
            lambda: psijoin.Session(**meeting.bob).send(["c1"], output_kind="counts", **by)
        ),
    )
    assert {type(error) for error in errors} == {psijoin.InputError, psijoin.PeerFailedError}
    assert any("rows with the same key have different values" in str(error) for error in errors)
    assert not any("psiKIND" in str(error) for error in errors)
