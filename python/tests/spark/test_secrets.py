"""No key and no value is in plans, in the event log or in messages."""

from pathlib import Path

import pytest
from parties import PATIENCE, python, relay
from psijoin.spark import _cluster
from pyspark.sql import SparkSession

RUN = """
import contextlib, io, sys, psijoin, psijoin.spark, pyarrow
from pathlib import Path
from pyarrow import parquet
from pyspark.sql import SparkSession
sys.path.insert(0, sys.argv[1])
from parties import meeting

folder, log = Path(sys.argv[2]), sys.argv[3]
meeting = meeting(folder, sys.argv[4])
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
builder = builder.config("spark.eventLog.enabled", True).config("spark.eventLog.dir", "file://" + log)
builder = builder.config("spark.eventLog.compress", False).config("spark.sql.shuffle.partitions", 2)
# Plans say all that they can.
builder = builder.config("spark.sql.maxMetadataStringLength", 100_000).config("spark.sql.debug.maxToStringFields", 1_000)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("INFO")
shown = io.StringIO()
# Spark keeps a small answer as a relation of its plan, and may look at a single row of it.
for place, rows in (("48MB", 1), ("48MB", 50), ("1b", 50)):
    spark.conf.set("spark.sql.execution.arrow.localRelationThreshold", place)
    mine = {"email": [f"psiKEY{row}" for row in range(rows)], "id": list(range(rows)), "nested": [["psiVALUE"]] * rows}
    theirs = {"email": [f"psiKEY{2 * row}" for row in range(rows)], "plan": ["psiPLAN"] * rows}
    frames = []
    for name, table in (("mine", mine), ("theirs", theirs)):
        path = folder / f"{name}-{place}-{rows}"
        parquet.write_table(pyarrow.table(table), path)
        frames.append(spark.read.parquet(str(path)))
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(frames[0], on="email", take="all", **meeting.ann),
        lambda: psijoin.spark.send(frames[1], on="email", give="plan", **meeting.bob),
    )
    both, _ = psijoin.together(
        lambda: psijoin.spark.receive(frames[0], on="email", **meeting.ann),
        lambda: psijoin.spark.send(frames[1], on="email", **meeting.bob),
    )
    with contextlib.redirect_stdout(shown):
        for frame in (shared, both):
            for mode in ("simple", "extended", "codegen", "cost", "formatted"):
                frame.explain(mode=mode)
            print(frame.statement, frame.report)
            assert frame.hint("broadcast").count() == (rows + 1) // 2
            frame.write.parquet(str(folder / f"shared-{place}-{rows}-{len(frame.columns)}"))
print(shown.getvalue())
spark.stop()
"""


def test_no_key_is_in_plans_logs_and_messages(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    here = str(Path(__file__).parent.parent)
    party = python("-c", RUN, here, str(tmp_path), str(log), relay())
    said, errors = party.communicate(timeout=10 * PATIENCE)
    assert party.returncode == 0, errors
    events = [path.read_bytes() for path in log.rglob("events_*")]
    assert b"LeftSemi" in b"".join(events)
    assert "LeftSemi" in said
    for secret in (b"psiKEY", b"psiPLAN", b"psiVALUE"):
        assert not [text for text in (said.encode(), errors.encode(), *events) if secret in text]


def test_connections_in_the_clear_are_warned_of(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a cluster. A Spark in one process has none."""
    _cluster.warn_of_clear_connections(spark)
    assert not caplog.messages
    monkeypatch.setattr(_cluster, "_is_local", lambda spark: False)
    _cluster.warn_of_clear_connections(spark)
    assert "spark.network.crypto.enabled" in caplog.text
    caplog.clear()
    for setting in ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled"):
        monkeypatch.setattr(_cluster, "_is_true", lambda spark, name, closed=setting: name == closed)
        _cluster.warn_of_clear_connections(spark)
        assert not caplog.messages
