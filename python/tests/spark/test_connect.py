"""The same joins by Spark Connect: the DataFrames are of a server, and the session runs here."""

import json
from pathlib import Path

from parties import PATIENCE, python, relay

RUN = """
import json, sys, time, psijoin, psijoin.spark
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
sys.path.insert(0, sys.argv[1])
from parties import meeting

meeting = meeting(Path(sys.argv[2]), sys.argv[3])
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
mine = spark.range(100).select(
    f.concat(f.lit("psiKEY"), f.col("id") % 60).alias("Email"), f.array("id").alias("ids"), "id"
)
theirs = spark.range(0, 80, 2).select(f.concat(f.lit("psiKEY"), "id").alias("mail"), f.col("id").alias("plan"))
shared, sent = psijoin.together(
    lambda: psijoin.spark.receive(mine, on="Email", take="all", learn="both", **meeting.ann),
    lambda: psijoin.spark.send(theirs, on="mail", give="plan", learn="both", **meeting.bob),
)
expected = mine.join(theirs, mine["Email"] == theirs["mail"]).drop("mail")
counted, _ = psijoin.together(
    lambda: psijoin.spark.count(mine, on="Email", **meeting.ann),
    lambda: psijoin.spark.send(theirs, on="mail", output_kind="count", **meeting.bob),
)
failing = spark.sql("select raise_error('near the secret') as id")
try:
    psijoin.spark.receive(failing, on="id", **{**meeting.ann, "wait": 1})
except psijoin.InputError as error:
    failed = str(error)
try:
    psijoin.spark.count(mine, on="Email", lanes=1, work=sys.argv[2], **meeting.ann)
except psijoin.UsageError as error:
    refused = str(error)
print(json.dumps({
    "refused": refused,
    "kind": type(shared).__module__,
    "columns": [shared.columns, mine.columns],
    "rows": sorted(map(str, shared.collect())),
    "again": sorted(map(str, shared.collect())),
    "expected": sorted(map(str, expected.collect())),
    "sent": sorted(row["plan"] for row in sent.rows.collect()),
    "count": counted.count,
    "failed": failed,
    "explained": shared._explain_string(mode="extended"),
}))
spark.stop()
"""


def test_joins_by_spark_connect(tmp_path: Path) -> None:
    party = python("-c", RUN, str(Path(__file__).parent.parent), str(tmp_path), relay())
    said, errors = party.communicate(timeout=10 * PATIENCE)
    assert party.returncode == 0, errors
    told = json.loads(said.splitlines()[-1])
    assert "connect" in told["kind"]
    assert told["columns"] == [["Email", "ids", "id", "plan"], ["Email", "ids", "id"]]
    assert told["rows"] == told["again"] == told["expected"]
    assert told["sent"] == list(range(0, 60, 2))
    assert told["count"] == 30
    assert "what gives its rows has failed" in told["failed"]
    assert "secret" not in told["failed"]
    assert "Leave `lanes` out" in told["refused"]
    assert "LocalRelation" in told["explained"]
    # That of its own expression is all.
    assert told["explained"].count("psiKEY") == told["explained"].count("concat(psiKEY")
