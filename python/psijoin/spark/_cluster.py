"""What lanes need of a cluster."""

from __future__ import annotations

import time
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
    run: that is what a barrier stage is. Spark has none under dynamic allocation.
    """
    if is_remote(spark):
        raise UsageError("`lanes`: Spark Connect has no way to them yet. Leave `lanes` out: then the client joins")
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as f

    if not hasattr(DataFrame, "repartitionById") or not hasattr(f, "arrow_udf"):
        raise UsageError("`lanes` takes PySpark 4.1 or later. Leave `lanes` out: then the driver joins")
    if _is_true(spark, "spark.dynamicAllocation.enabled"):
        message = (
            "`lanes` run in a barrier stage, which Spark refuses under dynamic allocation: set "
            "spark.dynamicAllocation.enabled to false, and spark.executor.instances to what the lanes need"
        )
        raise UsageError(message)


def check_slots(spark: Any, lanes: int, *, seconds: float = 0) -> None:
    """Checks that this number of lanes can run at once. Executors may need this time to come."""
    until = time.monotonic() + (0 if _is_local(spark) else seconds)
    while (slots := slots_of(spark)) < lanes:
        if time.monotonic() > until:
            message = (
                f"`lanes` is {lanes}, and Spark can run {slots} tasks at once here, while all lanes run at the same "
                "time: ask for fewer lanes, or for more executors or cores"
            )
            raise UsageError(message)
        time.sleep(0.2)


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


def slots_of(spark: Any) -> int:
    """Returns the number of tasks that can run at once."""
    context = spark.sparkContext._jsc.sc()
    profile = context.resourceProfileManager().defaultResourceProfile()
    return int(context.maxNumConcurrentTasks(profile))


def _is_local(spark: Any) -> bool:
    return bool(spark.sparkContext._jsc.sc().isLocal())


def _is_true(spark: Any, setting: str) -> bool:
    return str(spark.sparkContext.getConf().get(setting, "false")).lower() == "true"
