"""What comes back of a join."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

Rows = TypeVar("Rows", covariant=True)


@dataclass(frozen=True)
class Joined(Generic[Rows]):
    """What `Session.receive` and `Session.send` return."""

    rows: Rows
    """This party's rows, as what its table was; None if it gets none, or they are in a file."""
    statement: str
    """What each side has learned, in words."""
    report: dict[str, Any]
    """What is known of the join, as the program writes it to a report."""


@dataclass(frozen=True)
class Counted:
    """What `Session.count` returns."""

    count: int
    """How many keys are shared."""
    statement: str
    """What each side has learned, in words."""
    report: dict[str, Any]
    """What is known of the join."""


@dataclass(frozen=True)
class Compared:
    """What `Session.threshold` returns. It is true if the threshold is reached."""

    is_reached: bool
    """Whether at least as many keys are shared as was asked."""
    statement: str
    """What each side has learned, in words."""
    report: dict[str, Any]
    """What is known of the join."""

    def __bool__(self) -> bool:
        return self.is_reached


@dataclass(frozen=True)
class Summed:
    """What `Session.sum` returns."""

    sums: dict[str, Decimal]
    """What columns add up to over the shared keys, by their names."""
    statement: str
    """What each side has learned, in words."""
    report: dict[str, Any]
    """What is known of the join."""
