"""The folder in which lanes have their keys, and what they find."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from psijoin._errors import InputError
from psijoin._listening import log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

ATTEMPTS, PAUSE = 20, 0.1
"""How often what does not go is removed, and the seconds in between."""


class Work:
    """A folder for one join, in one that the driver and all executors see. It goes when the context
    ends, except for what is kept.
    """

    def __init__(self, spark: Any, within: str) -> None:
        self._spark = spark
        jvm = spark.sparkContext._jvm
        self._new_path = jvm.org.apache.hadoop.fs.Path
        name = f"psijoin-{uuid4()}"
        self._path = self._new_path(within, name)
        # For messages, as Spark's JVM may be gone then.
        self._name = f"{within}/{name}"
        try:
            self._files = self._path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
            self._files.mkdirs(self._path)
        except Exception as error:
            raise InputError(f"`work`: Spark cannot make a folder in {within!r}") from error
        # Whatever becomes of this process, if its JVM has the time.
        self._files.deleteOnExit(self._path)
        self._kept: set[str] = set()

    def __enter__(self) -> Work:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and self._kept:
            return
        self._remove()

    def write(self, rows: DataFrame, name: str) -> int:
        """Writes rows, once, and returns their number."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        seen = Observation()
        observed = rows.observe(seen, f.count(f.lit(1)).alias("rows"))
        # What is sealed cannot be compressed.
        observed.write.option("compression", "none").parquet(self._place(name).toString())
        return int(seen.get["rows"])

    def read(self, name: str, schema: StructType) -> DataFrame:
        """Returns what was written."""
        rows: DataFrame = self._spark.read.schema(schema).parquet(self._place(name).toString())
        return rows

    def check(self, *, is_whole: bool) -> None:
        """Checks that the driver has found what executors have written."""
        if not is_whole:
            message = (
                "`work`: the driver does not find there what executors have written: it must be a folder that all of "
                "them see"
            )
            raise InputError(message)

    def keep(self, name: str) -> None:
        """Keeps this until Spark's driver ends."""
        self._kept.add(name)

    def remove(self, name: str) -> None:
        """Removes what nobody reads again."""
        self._remove(name)

    def _place(self, name: str) -> Any:
        return self._new_path(self._path, name)

    def _remove(self, name: str | None = None) -> None:
        """Removes what has this name, or all of it. A task that Spark is ending may still write
        there, so this is tried until nothing is left.
        """
        path = self._path if name is None else self._place(name)
        try:
            for _ in range(ATTEMPTS):
                self._files.delete(path, True)
                if not self._files.exists(path):
                    return
                time.sleep(PAUSE)
            raise OSError("it is there again whenever it was removed")
        except Exception:
            message = "`work`: what is in the folder %s cannot be removed"
            log.warning(message, self._name, exc_info=True)
