"""Times a join of two Spark tables beside Spark's own semi join of them. The other party is the
program, which reads the same files. It needs a wheel of the release profile:

python python/tests/spark/measure.py 1e7
python python/tests/spark/measure.py 1e7 --mode lanes
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psijoin
import psijoin.spark
from pyspark.sql import DataFrame, SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
Result = TypeVar("Result")


def timed(what: str, work: Callable[[], Result]) -> Result:
    begun = time.monotonic()
    result = work()
    print(f"{what:40} {time.monotonic() - begun:6.1f} s", flush=True)
    return result


def computed(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=lambda text: int(float(text)))
    parser.add_argument("--mode", choices=["driver", "lanes"], default="driver")
    told = parser.parse_args()
    rows = told.rows
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", 8)
    spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        for name, first in (("mine", 0), ("theirs", rows // 2)):
            table = spark.range(first, first + rows, 1, 8).selectExpr(
                "format_string('user%09d@example.org', id) as email", "id", "id % 100 as plan"
            )
            table.orderBy("plan").write.parquet(f"{folder}/{name}")
        mine, theirs = (spark.read.parquet(f"{folder}/{name}") for name in ("mine", "theirs"))
        for turn in ("first", "second"):
            plain = mine.join(theirs, "email", "left_semi")
            timed(f"Spark's own semi join, {turn}", lambda: computed(plain))  # noqa: B023
        for turn in ("first", "second"):
            shared = timed(f"psijoin.spark.receive, {turn}", lambda: received(mine, Path(folder), told.mode))
            timed("the result, computed", lambda: computed(shared))  # noqa: B023
        assert shared.count() == rows // 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'Python, at its peak':40} {peak:6.0f} MB")


def received(mine: DataFrame, folder: Path, mode: str) -> DataFrame:
    own = psijoin.Identity
    paths = (folder / "ann.pem", folder / "bob.pem")
    ann, bob = (own.load_or_create(path) if path.exists() else own.create(path) for path in paths)
    files = sorted(str(path) for path in (folder / "theirs").glob("*.parquet"))
    relay = subprocess.Popen(
        [sys.executable, "-m", "psijoin", "relay", "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert relay.stderr is not None
    place = relay.stderr.readline().removeprefix("listening on ").strip()
    sender = subprocess.Popen(
        [sys.executable, "-m", "psijoin", "send", "--relay", place, "--identity", bob.path,
         "--peer", ann.fingerprint, "--key", "email", "--threads", "1", "--wait", "600", "--input", *files],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        common: dict[str, Any] = {"relay": place, "identity": ann, "peer": bob.fingerprint}
        if mode == "lanes":
            common |= {"lanes": 2, "work": str(folder / "work")}
        return psijoin.spark.receive(mine, on="email", threads=1, wait=600, progress=False, **common)
    finally:
        sender.wait()
        relay.kill()


if __name__ == "__main__":
    main()
