"""The drawing of columns of values: their extremes, and others in between."""

import decimal
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

Value = Callable[[random.Random], Any]
Draw = Callable[[random.Random, int], pa.Array]

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

# Years 1 to 9999, which DuckDB and Python show too.
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799


def some(value: Value, arrow: pa.DataType) -> Draw:
    """Values, and a null now and then, but for a column now and then."""

    def draw(rng: random.Random, rows: int) -> pa.Array:
        nulls = rng.choice([0, 0.1, 0.5])
        return pa.array([None if rng.random() < nulls else value(rng) for _ in range(rows)], arrow)

    return draw


def all_of(value: Value, arrow: pa.DataType) -> Draw:
    """Values without nulls."""
    return lambda rng, rows: pa.array([value(rng) for _ in range(rows)], arrow)


def beneath(value: Value, bits: int, arrow: pa.DataType) -> Draw:
    """Integers as what they stand for."""
    integers = some(value, {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits])
    return lambda rng, rows: integers(rng, rows).view(arrow)


def whole(bits: int, signed: bool = True) -> Value:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda rng: rng.choice(
        [low, high, 0, 1, low + 1, rng.randint(low, high), rng.randint(0, 99)]
    )


def as_signed(value: Value, bits: int) -> Value:
    """Unsigned integers as Parquet's integers of either sign hold them."""

    def signed(rng: random.Random) -> int:
        drawn = value(rng)
        return drawn - (1 << bits) if drawn >= 1 << bits - 1 else drawn

    return signed


def text(rng: random.Random) -> str:
    return rng.choice(
        [
            "", "a", "Straße", "e\u0301", "\U0001f600", "null", " x ", "\0", "a,\"b\"\n", "x" * 300,
            "y" * 20_000 if rng.random() < 0.02 else "y", str(rng.randint(0, 50)),
        ]
    )  # fmt: skip


def data(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\0", b"\xff" * 40, b"\x80", rng.randbytes(rng.randint(0, 20))])


def digits(width: int) -> Value:
    return lambda rng: rng.choice([b"\0" * width, b"\xff" * width, rng.randbytes(width)])


def json(rng: random.Random) -> str:
    return rng.choice(['{"a": 1}', "[]", "null", '{"a":1}', '"ü"'])


def truth(rng: random.Random) -> bool:
    return rng.random() < 0.5


def unscaled(precision: int) -> Value:
    """The integer of a decimal of full precision."""
    largest = 10**precision - 1
    return lambda rng: rng.choice(
        [largest, -largest, 0, 1, -1, 10 ** (precision - 1), rng.randint(-largest, largest)]
    )


def scaled(value: int, scale: int) -> Decimal:
    """A decimal, exactly: it may have more digits than Python's context."""
    with decimal.localcontext(prec=100):
        return Decimal(value).scaleb(-scale)


def decimals(arrow: pa.DataType) -> Draw:
    value = unscaled(arrow.precision)
    return some(lambda rng: scaled(value(rng), arrow.scale), arrow)


def twos_complement(width: int | None, value: Value) -> Value:
    """Integers as Parquet's decimals in bytes: of a width, or as short as they can be."""

    def drawn(rng: random.Random) -> bytes:
        number = value(rng)
        return number.to_bytes(width or number.bit_length() // 8 + 1, "big", signed=True)

    return drawn


def moments(unit: str) -> Value:
    """Timestamps: of years that all libraries show, or the first and the last ones."""
    per_second = PER_SECOND[unit]
    # Parquet has no seconds: milliseconds must have room for them.
    first, last = (-(2**63) // 1000 + 1, 2**63 // 1000) if unit == "s" else (-(2**63), 2**63 - 1)
    low, high = max(first, FIRST_SECOND * per_second), min(last, LAST_SECOND * per_second)
    return lambda rng: rng.choice([low, high, 0, -1, 1, rng.randint(low, high), first, last])


def shown_moments(unit: str) -> Value:
    """Timestamps of years that all libraries show."""
    per_second = PER_SECOND[unit]
    low, high = FIRST_SECOND * per_second, LAST_SECOND * per_second
    if unit == "ns":
        # DuckDB's own have no room for the last values of 64 bits.
        low, high = -(2**63) + 10**15, 2**63 - 10**15
    return lambda rng: rng.choice([low, high, 0, -1, rng.randint(low, high)])


def of_day(unit: str) -> Value:
    length = 86_400 * PER_SECOND[unit]
    return lambda rng: rng.choice([0, length - 1, rng.randrange(length)])


def shown_days(rng: random.Random) -> int:
    return rng.choice([-719_162, 2_932_896, 0, -1, rng.randint(0, 30_000)])


def days(rng: random.Random) -> int:
    """Days: also those that no library shows."""
    return rng.choice([shown_days(rng), -(2**31), 2**31 - 1])


def float_bits(bits: int) -> Value:
    """Floating-point numbers as their bits: NaNs of several payloads, infinities, both zeros, the
    smallest and the largest ones, and others.
    """
    fraction = {16: 10, 32: 23, 64: 52}[bits]
    sign, infinity = -(1 << bits - 1), ((1 << bits - 1 - fraction) - 1) << fraction
    quiet = infinity | 1 << fraction - 1
    specials = [
        0, sign, infinity, sign | infinity, quiet, sign | quiet, quiet | 5, infinity | 1,
        1, sign | 1, infinity - 1, sign | infinity - 1,
    ]  # fmt: skip
    return lambda rng: rng.choice([*specials, whole(bits)(rng)])


def whole_numbers(rng: random.Random) -> float:
    return float(rng.choice([0, 1, -7, 2047, rng.randint(0, 99)]))


def extended(storage: Draw, make: Callable[[pa.DataType], pa.DataType]) -> Draw:
    """Values of an extension type."""

    def draw(rng: random.Random, rows: int) -> pa.Array:
        values = storage(rng, rows)
        return pa.ExtensionArray.from_storage(make(values.type), values)

    return draw


def full(value: Value, most: int = 3) -> Value:
    """Lists without nulls."""
    return lambda rng: [value(rng) for _ in range(rng.randint(0, most))]


def several(value: Value, most: int = 3) -> Value:
    """Lists, with nulls in them."""
    return lambda rng: [
        None if rng.random() < 0.2 else value(rng) for _ in range(rng.randint(0, most))
    ]


INT64, STRINGS = some(whole(64), pa.int64()), some(text, pa.string())
