"""Jobs of Spark: how others stop them, and what they are called in its UI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4


class Jobs:
    """Jobs of Spark that another thread can stop."""

    def __init__(self, spark: Any) -> None:
        self._tag = f"psijoin-{uuid4()}"
        # In the driver's own process, tags of a session miss the jobs that `toArrow` starts.
        self._context = None if is_remote(spark) else spark.sparkContext
        begin, end, stop = (
            (spark.addTag, spark.removeTag, spark.interruptTag)
            if self._context is None
            else (
                self._context.addJobTag,
                self._context.removeJobTag,
                self._context.cancelJobsWithTag,
            )
        )
        self._begin, self._end, self._stop = (partial(call, self._tag) for call in (begin, end, stop))
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True
        self._stop()

    @contextmanager
    def running(self, description: str | None = None) -> Iterator[None]:
        """Lets jobs of this thread be stopped. The description is for the UI."""
        self._begin()
        try:
            with self._described(description):
                yield
        finally:
            self._end()

    @contextmanager
    def _described(self, description: str | None) -> Iterator[None]:
        if self._context is None or description is None:
            yield
            return
        before = self._context.getLocalProperty(_DESCRIPTION)
        self._context.setJobDescription(description)
        try:
            yield
        finally:
            self._context.setLocalProperty(_DESCRIPTION, before)


_DESCRIPTION = "spark.job.description"


def is_remote(spark: Any) -> bool:
    """Returns whether this session is one of Spark Connect."""
    return ".connect." in type(spark).__module__
