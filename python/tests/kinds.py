"""Kinds of values that can be keys, and the texts that they are compared as: docs/tables.md."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

TEXTS = ("", "Straße", '"a", b', "line\nfeed")
INTEGERS = (-7, 12, 0, 100)
WHOLE = (-7.0, 12.0, 0.0, 100.0)
DECIMALS = tuple(map(Decimal, ("-7.5", "12.00", "0.00", "0.25")))
DATES = tuple(map(date.fromisoformat, ("1969-12-31", "2024-02-29", "1970-01-01", "2100-03-01")))
SECONDS = (
    "1969-12-31 23:59:59",
    "2024-02-29 13:05:00",
    "1970-01-01 00:00:00",
    "2100-03-01 00:00:01",
)
FRACTIONS = (
    "1969-12-31 23:59:59.5",
    "2024-02-29 13:05:00.025",
    "1970-01-01 00:00:00",
    "2100-03-01 00:00:00.001",
)
TIMES = ("00:00:00", "13:05:00", "23:59:59", "01:02:03")
FINE_TIMES = ("00:00:00", "13:05:00.25", "23:59:59.999", "01:02:03.004")
BYTES = (b"", b"\x00\xff", b"abc", b"\n")
UUIDS = tuple(uuid.UUID(int=number) for number in (0, 2**127, 12, 2**128 - 1))


@dataclass(frozen=True)
class Kind:
    """Four values of one type, each with its text."""

    values: Sequence[Any]
    texts: Sequence[str]


def local(texts: Sequence[str]) -> list[datetime]:
    return [datetime.fromisoformat(text) for text in texts]


def universal(texts: Sequence[str]) -> list[datetime]:
    return [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in texts]


TEXT = Kind(TEXTS, TEXTS)
INTEGER = Kind(INTEGERS, ("-7", "12", "0", "100"))
NATURAL = Kind((1, 12, 0, 100), ("1", "12", "0", "100"))
FLOAT = Kind(WHOLE, INTEGER.texts)
LARGEST = Kind((2**63, 2**64 - 1, 0, 1), tuple(map(str, (2**63, 2**64 - 1, 0, 1))))
DECIMAL = Kind(DECIMALS, ("-7.5", "12", "0", "0.25"))
BOOLEAN = Kind((False, True, True, True), ("false", "true", "true", "true"))
DATE = Kind(DATES, tuple(map(str, DATES)))
TIMESTAMP = Kind(local(SECONDS), SECONDS)
FINE_TIMESTAMP = Kind(local(FRACTIONS), FRACTIONS)
ZONED = Kind(universal(FRACTIONS), tuple(text + "Z" for text in FRACTIONS))
ZONED_SECONDS = Kind(universal(SECONDS), tuple(text + "Z" for text in SECONDS))
TIME = Kind(tuple(map(time.fromisoformat, TIMES)), TIMES)
FINE_TIME = Kind(tuple(map(time.fromisoformat, FINE_TIMES)), FINE_TIMES)
BINARY = Kind(BYTES, tuple(value.hex() for value in BYTES))
SIXTEEN = Kind(tuple(value.bytes for value in UUIDS), tuple(value.hex for value in UUIDS))
UUID = Kind(SIXTEEN.values, tuple(map(str, UUIDS)))

MINE = (0, None, 1, 1, 2)
"""The content of a table's rows: a value of a kind, or null."""
THEIRS = (2, 1, None, 3, 1)


def cells(values: Sequence[Any], rows: Sequence[int | None]) -> list[Any]:
    return [None if row is None else values[row] for row in rows]


def shared(kind: Kind, mine: Sequence[int | None], theirs: Sequence[int | None]) -> list[int]:
    """The rows of `mine` whose key is among `theirs`, where an empty text is no key."""
    keys = set(filter(None, cells(kind.texts, theirs)))
    return [row for row, text in enumerate(cells(kind.texts, mine)) if text in keys]
