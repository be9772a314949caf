"""If one side fails or is stopped, both end."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psijoin
import psijoin.spark
import pytest
from parties import PATIENCE, Meeting, python
from psijoin.spark import _cluster
from pyspark.sql import SparkSession

LONG = 10 * PATIENCE
"""The seconds that a machine may take that does other things, too."""


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_scan_that_fails(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.sql("select if(id = 7, raise_error('near the secret key'), 'a') as id from range(10)")
    calls = [
        lambda: psijoin.spark.receive(mine, on="id", **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["a"]),
    ]
    with ThreadPoolExecutor() as threads:
        failed, told = (call.exception(LONG) for call in [threads.submit(call) for call in calls])
    assert isinstance(failed, psijoin.InputError)
    assert "what gives its rows has failed" in str(failed)
    assert "secret" not in str(failed)
    assert "secret" in str(failed.__cause__)
    assert isinstance(told, psijoin.PeerFailedError)


def test_a_column_that_is_not_there(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.sql("select raise_error('read') as id")
    with pytest.raises(psijoin.InputError, match="none"):
        psijoin.together(
            lambda: psijoin.spark.receive(mine, on="none", **meeting.ann),
            lambda: psijoin.Session(**meeting.bob).send(["a"]),
        )


class Gone:
    """A session of Spark whose driver has ended."""

    @property
    def sparkContext(self) -> object:
        raise ConnectionRefusedError


def test_that_sparks_driver_has_ended_is_told(spark: SparkSession) -> None:
    with (
        pytest.raises(psijoin.Error, match="has ended during the join") as told,
        _cluster.end_is_told(Gone()),
    ):
        raise ConnectionRefusedError
    assert isinstance(told.value.__cause__, ConnectionRefusedError)
    with pytest.raises(ZeroDivisionError), _cluster.end_is_told(spark):
        raise ZeroDivisionError


INTERRUPTED = """
import sys, time, psijoin, psijoin.spark
from pyspark.sql import SparkSession

path, peer, place, begun, work = sys.argv[1:]

def slow(batches):
    open(begun, "w").close()
    time.sleep(3600)
    yield from batches

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
in_lanes = {"lanes": 1, "work": work} if work else {}
try:
    psijoin.spark.receive(
        spark.range(10).mapInArrow(slow, "id long"),
        identity=psijoin.Identity.load_or_create(path), peer=peer, relay=place, progress=False, wait=600,
        **in_lanes,
    )
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("in_lanes", [False, True])
def test_ctrl_c_during_a_scan(meeting: Meeting, tmp_path: Path, in_lanes: bool) -> None:
    """The other party, which waits, hears of it."""
    ann, begun = meeting.ann, tmp_path / "begun"
    work = str(tmp_path) if in_lanes else ""
    party = python(
        "-c", INTERRUPTED, ann["identity"].path, ann["peer"], ann["relay"], str(begun), work
    )
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(lambda: psijoin.Session(**meeting.bob).send(["a"]))
        eventually(lambda: begun.exists() or party.poll() is not None)
        party.send_signal(signal.SIGINT)
        said, errors = party.communicate(timeout=LONG)
        assert said == "interrupted\n", errors
        assert isinstance(waiting.exception(LONG), psijoin.PeerFailedError)
    assert not list(tmp_path.glob("psijoin-*"))


def test_a_session_is_stopped_during_a_scan(
    spark: SparkSession, meeting: Meeting, tmp_path: Path
) -> None:
    begun = str(tmp_path / "begun")

    def slow(batches):  # type: ignore[no-untyped-def]
        open(begun, "w").close()
        time.sleep(3600)
        yield from batches

    session = psijoin.Session(**{**meeting.ann, "wait": 1})
    with ThreadPoolExecutor() as threads:
        scanning = threads.submit(session.receive, spark.range(10).mapInArrow(slow, "id long"))
        eventually(lambda: (tmp_path / "begun").exists() or scanning.done())
        session.stop()
        assert isinstance(scanning.exception(LONG), psijoin.Error)


def test_the_other_party_fails(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.sql("select 'a' as id")
    with pytest.raises(psijoin.InputError, match="none"):
        psijoin.together(
            lambda: psijoin.spark.receive(mine, on="id", **meeting.ann),
            lambda: psijoin.spark.send(mine, on="none", **meeting.bob),
        )


def test_what_is_not_for_frames_of_spark(spark: SparkSession, meeting: Meeting) -> None:
    mine = spark.sql("select 'a' as id")
    with pytest.raises(psijoin.UsageError, match="`output`"):
        psijoin.Session(**meeting.ann).receive(mine, output="rows.csv")
    with pytest.raises(psijoin.UsageError, match="`align`"):
        psijoin.spark.receive(mine, learn="both", align=True, **meeting.ann)
    with pytest.raises(psijoin.UsageError, match="has no end"):
        psijoin.spark.receive(spark.readStream.format("rate").load(), on="value", **meeting.ann)
    with pytest.raises(TypeError, match="psijoin.spark takes DataFrames of Spark"):
        psijoin.spark.receive(["a"], **meeting.ann)  # type: ignore[arg-type]
    with pytest.raises(psijoin.UsageError, match="where the parties meet"):
        psijoin.spark.count(mine, peer=meeting.ann["peer"], identity=meeting.ann["identity"])
    with pytest.raises(psijoin.UsageError, match="outputs"):
        psijoin.spark.receive(mine, outputs=1, **meeting.ann)  # type: ignore[call-arg]
