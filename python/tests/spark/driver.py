"""A driver in a process of its own, which `standalone` starts: it joins when it is told to, and the
join stops at a moment until the test lets it go on.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psijoin
import psijoin.spark
from psijoin import lanes
from psijoin.spark import _cluster, _lanes, _tasks, _work
from pyspark.sql import SparkSession

LANES = 2

PATIENCE = 600
"""The seconds in which Spark ends what it does, on a slow machine."""


class Stop(NamedTuple):
    """Where a join stops."""

    folder: str
    role: str
    moment: str

    def at(self, moment: str) -> None:
        """Stops if this is the moment, and says so by a file of its own, which has the number of
        this process in its name.
        """
        if moment != self.moment:
            return
        folder = Path(self.folder)
        (folder / f"{self.role}.{os.getpid()}.{uuid4()}").touch()
        # The test may be over.
        while folder.exists() and not (folder / "go").exists():
            time.sleep(0.02)


stop = Stop("", "", "")


class Merging(_tasks.Merging):
    """It has begun when it stops."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._stop = stop

    def __call__(self, batches: Any) -> Iterator[Any]:
        self._stop.at("merging")
        yield from super().__call__(batches)


class Running(_tasks.Running):
    """Lanes are open when they stop; have keys; or have answered, and reported nothing."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._stop = stop

    def __call__(self, batches: Any) -> Iterator[Any]:
        for batch in super().__call__(batches):
            if batch.column(_tasks.LANE)[0].is_valid:
                self._stop.at("answered")
            yield batch

    def _keys(self, batches: Any) -> Iterator[Any]:
        self._stop.at("lanes")
        for number, keys in enumerate(super()._keys(batches)):
            yield keys
            if number == 0:
                self._stop.at("parts")


class Work(_work.Work):
    """All is done but to remove the keys when it stops."""

    def remove(self, name: str) -> None:
        if name == _lanes.KEYS:
            stop.at("removal")
        super().remove(name)


def stopping(moment: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, after a stop."""

    def stopped(*args: Any, **options: Any) -> Any:
        stop.at(moment)
        return call(*args, **options)

    return stopped


def agree(*args: Any, **options: Any) -> lanes.Agreed:
    """Stops before both sides meet, and when they have agreed."""
    stop.at("meeting")
    agreed = lanes_agree(*args, **options)
    stop.at("agreed")
    return agreed


lanes_agree = lanes.agree


def joined(spark: SparkSession, role: str, told: dict[str, Any], folder: Path) -> dict[str, Any]:
    global stop
    stop = where = Stop(told["stops"], role, told["moment"])

    def scanned(batches: Any) -> Iterator[Any]:
        where.at("keys")
        yield from batches

    first, last = told["ids"]
    ids = spark.range(first, last, 1, 2).selectExpr("concat('key', id) as id")
    table = ids.mapInArrow(scanned, "id string")
    own = psijoin.Identity.load_or_create(told["identity"])
    common = {
        "on": "id", "lanes": LANES, "work": f"file://{folder}/work", "relay": told["relay"], "identity": own,
        "peer": told["peer"], "wait": told["wait"], "progress": False, "threads": 1,
    }  # fmt: skip
    try:
        match role, told["kind"]:
            case "ann", "rows":
                shared = psijoin.spark.receive(table, **common)
                return ended(sorted(row.id for row in shared.collect()), shared)
            case "ann", _:
                counted = psijoin.spark.count(table, **common)
                return ended(counted.count, counted)
            case _, kind:
                return ended(None, psijoin.spark.send(table, output_kind=kind, **common))
    except psijoin.Error as error:
        return {"error": type(error).__name__, "says": str(error)}


def ended(learned: Any, join: Any) -> dict[str, Any]:
    return {"learned": learned, "attempts": join.report["attempts"]}


def until_idle(spark: SparkSession) -> None:
    """Waits until Spark runs nothing any more, and executors have come in the place of others."""
    until = time.monotonic() + PATIENCE
    while (state := at_work(spark)) is not None:
        if time.monotonic() > until:
            raise TimeoutError(state)
        time.sleep(0.05)


def at_work(spark: SparkSession) -> str | None:
    """Says what Spark still does, or waits for."""
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    running = [executor.numRunningTasks() for executor in executors]
    slots = _cluster.slots_of(spark)
    # Dynamic allocation lets them come when there is something to do.
    is_waiting = slots < LANES and not _cluster.is_dynamic(spark)
    return f"{running} tasks run on executors, {slots} slots" if any(running) or is_waiting else None


def answer(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def main() -> None:
    master, role, folder, told = sys.argv[1:]
    settings = {
        "spark.ui.enabled": False, "spark.ui.showConsoleProgress": False, "spark.driver.host": "127.0.0.1",
        "spark.cores.max": LANES, "spark.executor.cores": 1, "spark.executor.memory": "512m",
        "spark.driver.memory": "512m", "spark.sql.shuffle.partitions": 2, "spark.local.dir": f"{folder}/local",
    }  # fmt: skip
    builder = SparkSession.builder.master(master).appName(f"psijoin {role}")
    further = {f"spark.{name}": value for name, value in json.loads(told).items()}
    for name, value in {**settings, **further}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    _tasks.Merging, _tasks.Running = Merging, Running  # type: ignore[misc, assignment]
    _lanes.Work = Work  # type: ignore[attr-defined]
    lanes.agree = agree
    lanes.Agreed.take = stopping("reports", lanes.Agreed.take)  # type: ignore[method-assign]
    lanes.Agreed.finish = stopping("finish", lanes.Agreed.finish)  # type: ignore[method-assign]
    until_idle(spark)
    answer({"app": spark.sparkContext.applicationId})
    for line in sys.stdin:
        came = joined(spark, role, json.loads(line), Path(folder))
        answer(came)
        try:
            until_idle(spark)
        except Exception as error:
            # Its JVM was killed, for example.
            answer({"idle": False, "says": f"{type(error).__name__}: {error}"[:200]})
        else:
            answer({"idle": True})


if __name__ == "__main__":
    main()
