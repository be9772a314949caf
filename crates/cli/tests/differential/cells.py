"""Columns of random cells: of keys, and of what nothing is asked of."""

import random
from dataclasses import dataclass
from typing import Any

from . import column_types as types
from .column_types import TEXT, ColumnType
from .formats import Format
from .kinds import KINDS, Kind, Text
from .tables import Column

# Names that both tables may have, and such as psijoin gives to columns that it adds.
OTHER_NAMES = ("plan", "since", "shared", "psijoin_shared", "partner_plan", "partner_note")


@dataclass(frozen=True)
class KeyColumn:
    """A column of the key: its kind, and each side's type and rules."""

    kind: Kind
    types: tuple[ColumnType, ...]
    rules: tuple[str, ...]


def draw_value(rng: random.Random, one: KeyColumn, fitting: tuple[ColumnType, ...]) -> Any:
    """A value that all these types can hold."""
    while True:
        value = one.kind.draw(rng)
        if all(one.kind.fits(value, held) for held in fitting):
            return value


def draw_cells(
    rng: random.Random,
    choice: Format,
    name: str,
    one: KeyColumn,
    index: int,
    values: list[Any],
    null_rate: float,
) -> Column:
    """A column with cells for these values, some of which are left out."""
    held, rules = one.types[index], one.rules[index]

    def cell(value: Any) -> Any:
        if rng.random() < null_rate:
            return rng.choice((None, "")) if held.is_text else None
        if held.is_text:
            return choice.fitted(one.kind.text(value, rules, rng))
        return one.kind.encode(value, held)

    cells = [cell(value) for value in values]
    if held in types.FLOATS:
        # NaN is a null too; and zero has two signs.
        cells = [float("nan") if value is None and rng.random() < 0.5 else value for value in cells]
        cells = [-0.0 if value == 0 and rng.random() < 0.5 else value for value in cells]
    return Column(name, held, cells)


def draw_notes(rng: random.Random, choice: Format, rows: int) -> Column:
    """A column that nothing is asked of."""
    kind = Text()
    notes = [
        choice.fitted(kind.draw(rng)) if rng.random() < 0.8 else rng.choice((None, ""))
        for _ in range(rows)
    ]
    return Column("note", TEXT if choice.dialect else rng.choice(types.STRINGS), notes)


def draw_others(rng: random.Random, choice: Format, rows: int) -> list[Column]:
    """Columns of any kind that nothing is asked of."""
    names = rng.sample(OTHER_NAMES, rng.choice((0, 0, 1, 1, 2, 4)))
    return [draw_other(rng, choice, name, rows) for name in names]


def draw_other(rng: random.Random, choice: Format, name: str, rows: int) -> Column:
    """A column of one kind."""
    kind = rng.choice(KINDS)
    held = TEXT if choice.dialect else rng.choice(kind.types or types.STRINGS)
    one = KeyColumn(kind, (held,), ("",))
    pool = [draw_value(rng, one, one.types) for _ in range(rng.choice((1, 10, 100)))]
    values = [rng.choice(pool) for _ in range(rows)]
    return draw_cells(rng, choice, name, one, 0, values, rng.choice((0, 0.1, 0.5)))
