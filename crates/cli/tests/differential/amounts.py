"""Random columns of numbers, to be added up."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from . import column_types as types
from .column_types import TEXT, ColumnType
from .formats import Format
from .kinds import Number
from .tables import Column


@dataclass
class Amount:
    """A column of numbers, and the decimals that its type shows; None if its cells differ."""

    column: Column
    scale: int | None


def draw_amount(rng: random.Random, choice: Format, name: str, rows: int) -> Amount:
    """A column of numbers in a table of this format, some of which are missing."""
    scale = rng.choice((0, 2, 2, 4, 9))
    form = "text" if choice.dialect else rng.choice(("text", "integer", "decimal", "float"))
    match form:
        case "text":
            held, shown = TEXT if choice.dialect else rng.choice(types.STRINGS), None
            draw = written(rng, scale)
        case "integer":
            held, shown = rng.choice(types.INTEGERS), 0
            draw = integers(rng, held)
        case "decimal":
            arrow = rng.choice(
                (pa.decimal64(18, 2), pa.decimal128(30, scale), pa.decimal128(38, 9))
            )
            held, shown = types.decimal(arrow), arrow.scale
            draw = decimals(rng, min(scale, arrow.scale))
        case "float":
            held, shown = rng.choice(types.FLOATS[1:]), None
            # Quarters, which both widths have exactly, and whose decimals need no exponent.
            draw = quarters(rng)
    null_rate = rng.choice((0, 0.1, 0.5, 0.5, 0.5, 1))
    cells = [None if rng.random() < null_rate else draw() for _ in range(rows)]
    return Amount(Column(name, held, cells), shown)


def decimals(rng: random.Random, scale: int) -> Callable[[], Decimal]:
    """Decimals with a limit on their places, and so small that most columns add up to 64 bits."""
    most = 10 ** min(9, 13 - scale)
    return lambda: Decimal(rng.randint(-most, most)).scaleb(-rng.randint(0, scale))


def written(rng: random.Random, scale: int) -> Callable[[], str]:
    """Decimals as texts, with a sign, an exponent or spaces around them now and then."""
    draw = decimals(rng, scale)

    def text() -> str:
        number = draw()
        sign = "+" if number >= 0 and rng.random() < 0.1 else ""
        space = " " if rng.random() < 0.05 else ""
        exponent = rng.choice((-2, 1, 3)) if rng.random() < 0.1 else None
        if exponent is None:
            return f"{space}{sign}{number:f}{space}"
        return f"{space}{sign}{number.scaleb(-exponent):f}e{exponent}{space}"

    return text


def integers(rng: random.Random, held: ColumnType) -> Callable[[], int]:
    """Integers of the type, of at most 32 bits."""

    def integer() -> int:
        while True:
            value = rng.randint(-(2**31), 2**31) >> rng.choice((0, 16, 24, 28))
            if Number().fits(Decimal(value), held):
                return value

    return integer


def quarters(rng: random.Random) -> Callable[[], float]:
    """Multiples of a quarter."""
    return lambda: rng.randint(-40_000, 40_000) / 4
