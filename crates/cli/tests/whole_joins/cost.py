"""What work takes."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Cost:
    """Time, and the time of all processors, in seconds."""

    seconds: float
    processors: float

    @classmethod
    def of(cls, work: Callable[[], None]) -> "Cost":
        """Does some work, whose processes it waits for."""
        busy, started = _processors(), time.perf_counter()
        work()
        return cls(time.perf_counter() - started, _processors() - busy)


def _processors() -> float:
    """What this process has used, and those that it started and waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)
