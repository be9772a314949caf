"""The results of joins."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

Rows = TypeVar("Rows", covariant=True)


@dataclass(frozen=True)
class Joined(Generic[Rows]):
    """The result of `Session.receive` and `Session.send`."""

    rows: Rows
    """This party's rows, in the type of its table; None if it gets none, or they are in a file."""
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join, as in the program's reports."""


@dataclass(frozen=True)
class Counted:
    """The result of `Session.count`."""

    count: int
    """The number of shared keys."""
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join."""


@dataclass(frozen=True)
class Compared:
    """The result of `Session.threshold`. It is true if the threshold is reached."""

    is_reached: bool
    """True if at least the requested number of keys are shared."""
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join."""

    def __bool__(self) -> bool:
        return self.is_reached


@dataclass(frozen=True)
class Grouped(Generic[Rows]):
    """The result of `Session.grouped`."""

    groups: Rows
    """A row for each group, in the type of the table: its labels, in columns that are called as
    they were asked for; `shared_keys`; `withheld`, true if the group is too small to be shown, and
    then its totals are null; a column `sum:COLUMN` for each sum; and a column `mean:COLUMN` for
    each mean, which is null where no key is shared, too."""
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join."""


@dataclass(frozen=True)
class Summed:
    """The result of `Session.sum`."""

    sums: dict[str, Decimal]
    """The sums of columns over the shared keys, by their names."""
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join."""
