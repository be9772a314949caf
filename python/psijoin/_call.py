"""Calls whose joins another thread can stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeVar

from psijoin._types import Stoppable

Result = TypeVar("Result")


class Call:
    """A call, and the joins that run in it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._joins: set[Stoppable] = set()
        self._is_stopped = False

    def of(self, function: Callable[[], Result]) -> Result:
        """Runs the function, and returns its result."""
        outer = _CALL.set(self)
        try:
            return function()
        finally:
            _CALL.reset(outer)

    def stop(self) -> None:
        """Stops its joins, also those that it would start from now on."""
        with self._lock:
            self._is_stopped = True
            joins = list(self._joins)
        for join in joins:
            join.stop()

    def _begin(self, join: Stoppable) -> None:
        with self._lock:
            self._joins.add(join)
            is_stopped = self._is_stopped
        if is_stopped:
            join.stop()

    def _end(self, join: Stoppable) -> None:
        with self._lock:
            self._joins.remove(join)


_CALL: ContextVar[Call | None] = ContextVar("call", default=None)


@contextmanager
def stopped_with_its_call(join: Stoppable) -> Iterator[None]:
    """Stops this join if the call in which it runs is stopped."""
    call = _CALL.get()
    if call is not None:
        call._begin(join)
    try:
        yield
    finally:
        if call is not None:
            call._end(join)
