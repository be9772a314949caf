"""The spelling of values as keys, and in CSV, by the documentation's words, not psijoin's code.

Values are as `plain` has them. A kind of values has a spelling as a key, a reading of its texts in
CSV, or neither.
"""

import math
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from .plain import NANOSECONDS_PER_DAY

DAYS_PER_ERA = 146_097


class Inexact(Exception):
    """A number that may mean its neighbours, too, and is no key."""


@dataclass(frozen=True)
class Kind:
    """The kind of values, whatever their type."""

    # The text of a value as a key; empty if it is none.
    key: Callable[[Any], str] | None = None
    # Its text in CSV.
    cell: Callable[[Any], str] | None = None
    # The forms to compare in its place there, of the value and of the text, if a value has
    # more than one text.
    by_value: tuple[Callable[[Any], Any], Callable[[str], Any]] | None = None


def write_date(nanoseconds: int) -> str:
    """A date of the Gregorian calendar, also beyond the years that Python has."""
    eras, days = divmod(nanoseconds // NANOSECONDS_PER_DAY, DAYS_PER_ERA)
    day = date.fromordinal(date(1970, 1, 1).toordinal() + days)
    year = day.year + 400 * eras
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    return f"{shown}-{day.month:02}-{day.day:02}"


def write_time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    fraction = f".{rest:09}".rstrip("0").rstrip(".")
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def write_moment(between: str, zone: str) -> Callable[[int], str]:
    """Date and time, with what stands between them and what behind."""
    return lambda value: (
        f"{write_date(value)}{between}{write_time(value % NANOSECONDS_PER_DAY)}{zone}"
    )


def write_decimal(value: Decimal) -> str:
    shown = f"{value:f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return "0" if shown == "-0" else shown


def write_truth(value: bool) -> str:
    return str(value).lower()


def write_uuid(value: bytes) -> str:
    return str(uuid.UUID(bytes=value))


FLOATS = {16: ("e", "h", 11), 32: ("f", "i", 24), 64: ("d", "q", 53)}


def floats(bits: int) -> Kind:
    """Floating-point numbers, whose bits `plain` has."""
    letter, whole, digits = FLOATS[bits]

    def value_of(held: int) -> float:
        return struct.unpack(f"<{letter}", struct.pack(f"<{whole}", held))[0]

    def key(held: int) -> str:
        value = value_of(held)
        if math.isnan(value):
            return ""
        if not value.is_integer() or abs(value) >= 2**digits:
            raise Inexact
        return str(int(value))

    def number(value: float) -> Any:
        return "NaN" if math.isnan(value) else struct.pack(f"<{letter}", value)

    return Kind(
        key, by_value=(lambda held: number(value_of(held)), lambda text: number(float(text)))
    )


TEXT = Kind(str, str)
INTEGER = Kind(str, str)
DECIMAL = Kind(write_decimal, by_value=(Decimal, Decimal))
TRUTH = Kind(write_truth, write_truth)
DATE = Kind(write_date, write_date)
TIME = Kind(write_time, write_time)
MOMENT = Kind(write_moment(" ", ""), write_moment("T", ""))
ZONED = Kind(write_moment(" ", "Z"), write_moment("T", "Z"))
BYTES = Kind(bytes.hex)
UUID = Kind(write_uuid)
# An integer of 8 bits that is a boolean.
BOOL8 = Kind(lambda value: write_truth(value != 0))
NULL = Kind(str, str)
# Neither keys nor texts.
OTHER = Kind()
