"""Kinds of key values: random ones, the types that hold them, and the ways to write them.

Each kind is a class, and `KINDS` at the end lists them: another type or rule is a line or two.
"""

import datetime
import random
import unicodedata
import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa

from . import column_types as types
from .column_types import ColumnType
from .rules import COMPATIBLE, UNIX_UNITS, ZONES


class Kind:
    """The kind of a key column's values.

    `types` hold them in Parquet, besides strings; `rules` bring their texts to one form. Values
    are of any Python type that `draw` and the other functions agree on.
    """

    name: ClassVar[str]
    types: ClassVar[tuple[ColumnType, ...]] = ()
    rules: ClassVar[tuple[str, ...]] = ()

    def draw(self, rng: random.Random) -> Any:
        """A random value."""
        raise NotImplementedError

    def fits(self, value: Any, column_type: ColumnType) -> bool:
        """Returns whether a type, or any text, can hold the value."""
        return True

    def encode(self, value: Any, column_type: ColumnType) -> Any:
        """Returns the object for the value that pyarrow accepts in a column of this type."""
        return value

    def canonical(self, value: Any) -> str:
        """The value's text, as typed columns have it."""
        return str(value)

    def spelled(self, value: Any, rng: random.Random) -> str:
        """A text that the rules bring to the canonical one."""
        raise NotImplementedError

    def text(self, value: Any, rules: str, rng: random.Random) -> str:
        """The value as text, where these rules apply to it.

        Without a rule most texts are canonical, so that there are matches, but not all.
        """
        if not rules and rng.random() < 0.85:
            return self.canonical(value)
        text = self.spelled(value, rng)
        return padded(text, rng) if rules else text

    def draw_rules(self, sides: tuple[ColumnType, ...], rng: random.Random) -> list[str]:
        """Rules for each side, the same but for what may differ."""
        wanted = 0.85 if any(side.is_text for side in sides) else 0.3
        rules = rng.choice(self.rules) if self.rules and rng.random() < wanted else ""
        return [rules] * len(sides)


def padded(text: str, rng: random.Random) -> str:
    """The text with white space at its ends, now and then."""
    if rng.random() < 0.9:
        return text
    return rng.choice((" ", "  ", "\u00a0", "\u3000")) + text + rng.choice(("", " ", "\u2003"))


class Number(Kind):
    """Integers and decimals, exactly."""

    name = "number"
    types = (*types.INTEGERS, *types.DECIMALS, *types.FLOATS)
    rules = ("number", "number", "trim+number")

    # The largest value of each, as far as it has all integers below.
    FLOAT_BITS: ClassVar = {"halffloat": 11, "float": 24, "double": 53}

    def draw(self, rng: random.Random) -> Decimal:
        digits = rng.getrandbits(rng.choice((2, 7, 8, 10, 15, 16, 24, 31, 32, 53, 63, 64, 80)))
        sign = rng.choice((1, 1, 1, -1))
        scale = rng.choice((0, 0, 0, 0, 1, 2, 4, 9))
        return Decimal(sign * digits).scaleb(-scale)

    def fits(self, value: Decimal, column_type: ColumnType) -> bool:
        arrow = column_type.arrow
        if column_type.is_text:
            return True
        if pa.types.is_decimal(arrow):
            unscaled = value.scaleb(arrow.scale)
            return is_whole(unscaled) and abs(unscaled) < 10**arrow.precision
        if not is_whole(value):
            return False
        if pa.types.is_floating(arrow):
            return abs(value) < 2 ** self.FLOAT_BITS[str(arrow)]
        if pa.types.is_signed_integer(arrow):
            return -(2 ** (arrow.bit_width - 1)) <= value < 2 ** (arrow.bit_width - 1)
        return 0 <= value < 2**arrow.bit_width

    def encode(self, value: Decimal, column_type: ColumnType) -> Any:
        arrow = column_type.arrow
        if pa.types.is_decimal(arrow):
            return Decimal(f"{value:.{arrow.scale}f}")
        return float(value) if pa.types.is_floating(arrow) else int(value)

    def canonical(self, value: Decimal) -> str:
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text

    def spelled(self, value: Decimal, rng: random.Random) -> str:
        form = rng.randrange(7)
        if form == 0:
            exponent = rng.randint(-3, 3)
            return f"{value.scaleb(exponent):f}{rng.choice('eE')}{-exponent}"
        text = f"{value:f}"
        unsigned = text.lstrip("-")
        sign = "-" if text.startswith("-") else "+" if form in (1, 2) else ""
        if form in (2, 3):
            unsigned = "00" + unsigned
        if form in (3, 4):
            unsigned += "0" if "." in unsigned else ".0"
        return sign + unsigned


def is_whole(value: Decimal) -> bool:
    """Returns whether the value is an integer."""
    return value == value.to_integral_value()


class Boolean(Kind):
    """True and false."""

    name = "boolean"
    types = (types.BOOLEAN,)
    rules = ("bool",)

    def draw(self, rng: random.Random) -> bool:
        return rng.random() < 0.5

    def canonical(self, value: bool) -> str:
        return "true" if value else "false"

    def spelled(self, value: bool, rng: random.Random) -> str:
        words = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
        text = rng.choice(words[0] if value else words[1])
        return rng.choice((text, text.upper(), text.capitalize()))


EPOCH = datetime.datetime(1970, 1, 1)
DAY_SECONDS = 86_400
# Beyond it 64 bits of nanoseconds do not reach.
LAST_NANOSECONDS = 2**63 - 1
FAR_NANOSECONDS = 10**9 * DAY_SECONDS * 365 * 1500
UNIT_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Date(Kind):
    """Dates of the years 1000 to 9999, as formats can have them."""

    name = "date"
    # A midnight counts as its date, by the rule.
    types = (*types.DATES, *types.TIMESTAMPS)
    rules = ("date",)

    FORMATS: ClassVar = ("%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%Y-%j", "%d-%b-%y", "excel")

    def draw(self, rng: random.Random) -> datetime.date:
        if rng.random() < 0.1:
            return datetime.date(1000, 1, 1) + datetime.timedelta(rng.randrange(3_280_000))
        # The reading of `%y`, both by psijoin and by DuckDB.
        return datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(98 * 365))

    def fits(self, value: datetime.date, column_type: ColumnType) -> bool:
        arrow = column_type.arrow
        is_nanoseconds = pa.types.is_timestamp(arrow or pa.null()) and arrow.unit == "ns"
        return not is_nanoseconds or abs(nanoseconds(value)) <= LAST_NANOSECONDS

    def encode(self, value: datetime.date, column_type: ColumnType) -> Any:
        arrow = column_type.arrow
        if pa.types.is_timestamp(arrow):
            return nanoseconds(value) // UNIT_NANOSECONDS[arrow.unit]
        return value

    def canonical(self, value: datetime.date) -> str:
        return value.isoformat()

    def spelled(self, value: datetime.date, rng: random.Random) -> str:
        day = value.isoformat()
        return rng.choice((day, value.strftime("%Y%m%d"), f"{day} 00:00:00", f"{day}T00:00:00.000"))

    def text(self, value: datetime.date, rules: str, rng: random.Random) -> str:
        _, _, date_format = rules.partition(":")
        if not date_format:
            return super().text(value, rules, rng)
        if date_format == "excel":
            # From there on, Excel counts days as others do.
            value = max(value, datetime.date(1900, 3, 1))
            return padded(str((value - datetime.date(1899, 12, 30)).days), rng)
        if date_format.endswith("%y") and not 1970 <= value.year <= 2068:
            value = value.replace(year=2000)
        return padded(value.strftime(date_format), rng)

    def draw_rules(self, sides: tuple[ColumnType, ...], rng: random.Random) -> list[str]:
        return detailed(super().draw_rules(sides, rng), self.FORMATS, rng)


def detailed(rules: list[str], details: Iterable[str], rng: random.Random) -> list[str]:
    """Each side's rule, if there is one, with a detail of its own or without."""
    return [
        f"{rule}:{rng.choice(tuple(details))}" if rule and rng.random() < 0.5 else rule
        for rule in rules
    ]


def nanoseconds(date: datetime.date) -> int:
    """The nanoseconds from 1970 to the date's midnight."""
    return (date - EPOCH.date()).days * DAY_SECONDS * 10**9


class Timestamp(Kind):
    """Nanoseconds since 1970, without a zone."""

    name = "timestamp"
    # A date counts as its midnight, by the rule.
    types = (*types.TIMESTAMPS, *types.DATES)
    rules = ("timestamp",)

    def draw(self, rng: random.Random) -> int:
        unit = rng.choice((DAY_SECONDS * 10**9, 10**9, 10**9, 25 * 10**7, 10**6, 10**3, 1))
        reach = FAR_NANOSECONDS if rng.random() < 0.1 else FAR_NANOSECONDS // 10
        return rng.randrange(-reach, reach) // unit * unit

    def fits(self, value: int, column_type: ColumnType) -> bool:
        arrow = column_type.arrow
        if column_type.is_text:
            return True
        if pa.types.is_date(arrow):
            return value % (DAY_SECONDS * 10**9) == 0
        return value % UNIT_NANOSECONDS[arrow.unit] == 0 and (
            arrow.unit != "ns" or abs(value) <= LAST_NANOSECONDS
        )

    def encode(self, value: int, column_type: ColumnType) -> Any:
        arrow = column_type.arrow
        if pa.types.is_date(arrow):
            return EPOCH.date() + datetime.timedelta(value // (DAY_SECONDS * 10**9))
        return value // UNIT_NANOSECONDS[arrow.unit]

    def canonical(self, value: int) -> str:
        return written(value, " ", fraction(value).rstrip("0"))

    def spelled(self, value: int, rng: random.Random) -> str:
        if value % (DAY_SECONDS * 10**9) == 0 and rng.random() < 0.5:
            return written(value, " ", "")[:10]
        if value % (60 * 10**9) == 0 and rng.random() < 0.3:
            return written(value, rng.choice(" T"), "")[:16]
        digits = fraction(value)
        digits = rng.choice((digits, digits.rstrip("0"), digits.rstrip("0") + "0"))
        return written(value, rng.choice(" T"), digits)

    def draw_rules(self, sides: tuple[ColumnType, ...], rng: random.Random) -> list[str]:
        # With a zone, what has none is local time there, so that both sides give one.
        rules = super().draw_rules(sides, rng)
        return rules if rng.random() < 0.6 else detailed(rules, ZONES, rng)


def fraction(value: int) -> str:
    """The nine digits behind the seconds' point."""
    return f"{value % 10**9:09}"


def written(value: int, between: str, digits: str) -> str:
    """A timestamp with these digits of a second's fraction."""
    moment = EPOCH + datetime.timedelta(seconds=value // 10**9)
    return moment.isoformat(between) + (f".{digits}" if digits else "")


class ZonedTimestamp(Timestamp):
    """Nanoseconds since 1970, in universal time."""

    name = "zoned timestamp"
    types = types.ZONED_TIMESTAMPS

    def canonical(self, value: int) -> str:
        return super().canonical(value) + "Z"

    def spelled(self, value: int, rng: random.Random) -> str:
        minutes = rng.choice((0, 0, 60, -60, 330, -570, 840))
        local = value + minutes * 60 * 10**9
        digits = rng.choice((fraction(value), fraction(value).rstrip("0")))
        hours, rest = divmod(abs(minutes), 60)
        offset = f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
        zone = rng.choice(("Z", offset)) if minutes == 0 else offset
        return written(local, rng.choice(" T"), digits) + zone


class Time(Kind):
    """Times of day in nanoseconds."""

    name = "time"
    types = types.TIMES
    rules = ("time",)

    def draw(self, rng: random.Random) -> int:
        unit = rng.choice((3600 * 10**9, 10**9, 10**9, 10**6, 10**3, 1))
        return rng.randrange(DAY_SECONDS * 10**9) // unit * unit

    def fits(self, value: int, column_type: ColumnType) -> bool:
        return column_type.is_text or value % UNIT_NANOSECONDS[column_type.arrow.unit] == 0

    def encode(self, value: int, column_type: ColumnType) -> int:
        return value // UNIT_NANOSECONDS[column_type.arrow.unit]

    def canonical(self, value: int) -> str:
        return written(value, " ", fraction(value).rstrip("0"))[11:]

    def spelled(self, value: int, rng: random.Random) -> str:
        if value % (60 * 10**9) == 0 and rng.random() < 0.7:
            moment = EPOCH + datetime.timedelta(seconds=value // 10**9)
            return moment.strftime(rng.choice(("%H:%M", "%I:%M %p")))
        return written(value, " ", fraction(value))[11:]


class Uuid(Kind):
    """UUIDs; as 16 bytes without a name they are hexadecimal digits without hyphens."""

    name = "uuid"
    types = (types.UUID, types.UUID, types.BINARIES[-1])
    rules = ("uuid",)

    def draw(self, rng: random.Random) -> uuid.UUID:
        return uuid.UUID(int=rng.getrandbits(128))

    def encode(self, value: uuid.UUID, column_type: ColumnType) -> bytes:
        return value.bytes

    def spelled(self, value: uuid.UUID, rng: random.Random) -> str:
        text = rng.choice((f"{value}", value.hex, f"{{{value}}}", value.urn))
        return rng.choice((text, text.upper()))


class Binary(Kind):
    """16 bytes."""

    name = "binary"
    types = types.BINARIES
    rules = ("lowercase", "trim+lowercase")

    def draw(self, rng: random.Random) -> bytes:
        return rng.randbytes(16)

    def canonical(self, value: bytes) -> str:
        return value.hex()

    def spelled(self, value: bytes, rng: random.Random) -> str:
        return rng.choice((value.hex(), value.hex().upper()))

    def text(self, value: bytes, rules: str, rng: random.Random) -> str:
        text = super().text(value, "", rng)
        return padded(text, rng) if "trim" in rules else text


class Text(Kind):
    """Texts of letters that need care: quotes, line breaks, delimiters, emoji, accents, spaces."""

    name = "text"
    rules = (
        *("trim", "lowercase", "casefold", "email", "nfc", "nfkc", "trim+lowercase+nfc"),
        *("null:a,1,X", "trim+sha256"),
    )

    LETTERS: ClassVar = (
        *"abcdeXYZ0129",
        *("é", "Å", "ß", "ñ", "Ж", "中", "😀", "👩‍👩‍👧", "e\u0301", "A\u030a"),
        *COMPATIBLE,
        *(" ", ",", ";", "|", "\t", "\n", "\r\n", '"', '""', "'", "\\", "`", "=", "+"),
    )

    def draw(self, rng: random.Random) -> str:
        return "".join(rng.choices(self.LETTERS, k=rng.choice((1, 2, 3, 5, 8, 13, 40))))

    def spelled(self, value: str, rng: random.Random) -> str:
        form = rng.randrange(8)
        if form == 0:
            return unicodedata.normalize("NFD", value)
        if form == 1:
            return value.upper()
        if form == 2:
            return value.lower()
        return f" {value} " if form == 3 else value


class Email(Text):
    """Addresses, several of which are one for some providers."""

    name = "email"
    rules = ("email", "email:gmail", "email:google", "email:gmail+sha256")

    def draw(self, rng: random.Random) -> str:
        name = "".join(rng.choices("ab.+1", k=rng.choice((1, 3, 4, 5))))
        domain = rng.choice(("gmail.com", "gmail.com", "googlemail.com", "x.gmail.com", "ann.org"))
        return f"{name}@{domain}"

    def spelled(self, value: str, rng: random.Random) -> str:
        name, _, domain = value.partition("@")
        if rng.random() < 0.4:
            place = rng.randrange(len(name) + 1)
            name = f"{name[:place]}{rng.choice(('.', '+tag'))}{name[place:]}"
        return rng.choice((f"{name}@{domain}", f"{name}@{domain}".upper()))


class TextAsBytes(Text):
    """Texts that some programs write as binary data."""

    name = "text as bytes"
    types = types.BINARIES[:3]
    rules = ("text", "text+lowercase")

    def encode(self, value: str, column_type: ColumnType) -> bytes:
        return value.encode()


class UnixTime(ZonedTimestamp):
    """Nanoseconds since 1970, as numbers of one unit or another."""

    name = "unix time"
    types = (types.INTEGERS[3],)
    rules = tuple(UNIX_UNITS)

    def draw(self, rng: random.Random) -> int:
        reach = FAR_NANOSECONDS // 10**9
        return rng.choice((0, -1, 1, rng.randrange(-reach, reach))) * 10**9

    def fits(self, value: int, column_type: ColumnType) -> bool:
        return True

    def encode(self, value: int, column_type: ColumnType) -> int:
        return value // 10**9

    def text(self, value: int, rules: str, rng: random.Random) -> str:
        unit = UNIX_UNITS.get(rules)
        if unit is None:
            return super().text(value, rules, rng)
        return padded(str(value * unit // 10**9), rng)

    def draw_rules(self, sides: tuple[ColumnType, ...], rng: random.Random) -> list[str]:
        # Numbers are of seconds; a text may be of any unit, or of the other kind.
        units = ("timestamp", *UNIX_UNITS)
        return [rng.choice(units) if side.is_text else "timestamp:unix" for side in sides]


class Phone(Kind):
    """Telephone numbers, whose digits a rule keeps."""

    name = "phone"
    rules = ("phone", "phone", "digits")

    def draw(self, rng: random.Random) -> str:
        prefix = rng.choice(("+49", "+1", "0", ""))
        return prefix + str(rng.randrange(10 ** rng.choice((1, 3, 9))))

    def spelled(self, value: str, rng: random.Random) -> str:
        if value.startswith("+") and rng.random() < 0.3:
            value = "00" + value[1:]
        parts = rng.choice(("", " ", "-", "/")).join(value)
        return rng.choice((parts, f"({parts})", f"tel. {parts}"))


KINDS: tuple[Kind, ...] = (
    Number(),
    Number(),
    Boolean(),
    Date(),
    Timestamp(),
    ZonedTimestamp(),
    Time(),
    Uuid(),
    Binary(),
    UnixTime(),
    Text(),
    Text(),
    TextAsBytes(),
    Email(),
    Phone(),
)
