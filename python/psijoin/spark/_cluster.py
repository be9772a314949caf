"""What lanes need of a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psijoin._errors import Error, UsageError
from psijoin._listening import log
from psijoin.spark._jobs import is_remote

SECONDS_TO_COME = 30
"""The time for which executors are waited for that have not come yet."""

SECONDS_AGAIN = 15
"""As above, after a lane was lost. Less than the other party waits."""


def check(spark: Any) -> None:
    """Checks that lanes can run in this Spark at all.

    Lanes of both sides run at the same time, so that none waits for one that waits for a place to
    run: that is what a barrier stage is. Spark has none under dynamic allocation. Then lanes are
    ordinary tasks, for which it gets executors, and of which it must start none twice.
    """
    if is_remote(spark):
        raise UsageError("`lanes`: Spark Connect has no way to them yet. Leave `lanes` out: then the client joins")
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as f

    if not hasattr(DataFrame, "repartitionById") or not hasattr(f, "arrow_udf"):
        raise UsageError("`lanes` takes PySpark 4.1 or later. Leave `lanes` out: then the driver joins")
    if is_dynamic(spark) and (_is_true(spark, "spark.speculation") or _restarts_stages(spark)):
        message = (
            "`lanes` run once each: with dynamic allocation, set spark.speculation to false, and "
            "spark.stage.maxConsecutiveAttempts to 1, so that Spark starts no second one"
        )
        raise UsageError(message)


def is_dynamic(spark: Any) -> bool:
    """Returns whether executors come and go with the tasks that there are."""
    return _is_true(spark, "spark.dynamicAllocation.enabled") and not _is_local(spark)


def _restarts_stages(spark: Any) -> bool:
    """Returns whether Spark starts a stage again whose input it has lost, other than one with a
    barrier. Tasks of it that run already are started a second time then, and do not see it.
    """
    return str(spark.sparkContext.getConf().get("spark.stage.maxConsecutiveAttempts", "4")) != "1"


def check_slots(spark: Any, lanes: int, *, seconds: float = 0) -> None:
    """Checks that this number of lanes can run at once. Executors may need this time to come. Those
    that come for tasks do so later, if Spark may have them.
    """
    if is_dynamic(spark):
        most = _most_slots(spark)
        if most is not None and most < lanes:
            raise _too_few(lanes, most, "a larger spark.dynamicAllocation.maxExecutors")
        return
    until = time.monotonic() + (0 if _is_local(spark) else seconds)
    while (slots := slots_of(spark)) < lanes:
        if time.monotonic() > until:
            raise _too_few(lanes, slots, "more executors or cores")
        time.sleep(0.2)


def _too_few(lanes: int, slots: int, remedy: str) -> UsageError:
    message = (
        f"`lanes` is {lanes}, and Spark can run {slots} tasks at once here, while all lanes run at the same time: ask "
        f"for fewer lanes, or for {remedy}"
    )
    return UsageError(message)


def _most_slots(spark: Any) -> int | None:
    """Returns the number of tasks that can run at once if all executors have come that may; None if
    nobody has said.
    """
    conf = spark.sparkContext.getConf()
    executors = conf.get("spark.dynamicAllocation.maxExecutors")
    cores = conf.get("spark.executor.cores")
    if executors is None or cores is None:
        return None
    return int(executors) * (int(cores) // int(conf.get("spark.task.cpus", "1")))


def warn_of_clear_connections(spark: Any) -> None:
    """Warns if this Spark's own connections are in the clear: keys go over them, and closures with
    secrets of a session.
    """
    if is_remote(spark) or _is_local(spark):
        return
    if not any(_is_true(spark, f"spark.{kind}.enabled") for kind in ("network.crypto", "ssl.rpc")):
        log.warning(
            "Spark's own connections are in the clear, and keys of the table go over them: set spark.authenticate and "
            "spark.network.crypto.enabled, or see docs/spark-security.md"
        )


def slots_again(spark: Any, lanes: int) -> int:
    """Returns how many of these lanes can run at once after one was lost. Spark may need a moment
    to notice, and executors to come in the place of others; but at the other end somebody waits.
    """
    if is_dynamic(spark):
        return lanes
    until = time.monotonic() + SECONDS_AGAIN
    while (slots := slots_of(spark)) < lanes and time.monotonic() < until:
        time.sleep(0.2)
    if not slots:
        raise Error("no executor is left to run lanes")
    return min(slots, lanes)


def is_alive(spark: Any) -> bool:
    """Returns whether Spark's driver is there, and not only this process."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except Exception:
        return False


@contextmanager
def end_is_told(spark: Any) -> Iterator[None]:
    """Raises an error of this package if Spark's driver ends within the context, whichever call of
    it notices.
    """
    try:
        yield
    except Error:
        raise
    except Exception as error:
        if is_remote(spark) or is_alive(spark):
            raise
        message = "the JVM of Spark's driver has ended during the join: start a new SparkSession, and join again"
        raise Error(message) from error


def slots_of(spark: Any) -> int:
    """Returns the number of tasks that can run at once."""
    context = spark.sparkContext._jsc.sc()
    profile = context.resourceProfileManager().defaultResourceProfile()
    return int(context.maxNumConcurrentTasks(profile))


def _is_local(spark: Any) -> bool:
    return bool(spark.sparkContext._jsc.sc().isLocal())


def _is_true(spark: Any, setting: str) -> bool:
    return str(spark.sparkContext.getConf().get(setting, "false")).lower() == "true"
