"""The meanings of a key's columns, as each side tells the other (docs/tables.md)."""

from typing import Any

from . import column_types as types
from .column_types import ColumnType
from .kinds import Text, ZonedTimestamp
from .pairs import Pair, Side

# The meanings of columns, by type.
KINDS = {
    **dict.fromkeys((*types.INTEGERS, *types.DECIMALS, *types.FLOATS), "number"),
    **dict.fromkeys(types.DATES, "date"),
    **dict.fromkeys(types.TIMESTAMPS, "timestamp"),
    **dict.fromkeys(types.ZONED_TIMESTAMPS, "moment"),
    **dict.fromkeys(types.TIMES, "time"),
    **dict.fromkeys(types.BINARIES, "binary"),
    types.BOOLEAN: "bool",
    types.UUID: "uuid",
}

# Rules that read something: what they make of texts, and of types, is called like them.
READING = ("number", "bool", "uuid", "date", "time", "digits", "phone")


def meaning(held: ColumnType, rules: str, *, has_zones: bool) -> str:
    """Returns a column's meaning. `has_zones` tells of texts whether timestamps have zones."""
    kind, others = KINDS.get(held, "text"), []
    for rule in filter(None, rules.replace("email", "trim+lowercase").split("+")):
        name, _, zone = rule.partition(":")
        if name == "timestamp":
            is_moment = zone or kind == "moment" or (held.is_text and has_zones)
            kind, others = "moment" if is_moment else "timestamp", []
        elif name in READING:
            kind, others = name, []
        elif kind == "text":
            others.append(rule)
    return "+".join((kind, *others))


def may_differ(pair: Pair) -> bool | None:
    """Returns whether the sides' columns differ in meaning for `--strict`; None if that is unsure.

    Unsure is also what a table may be doubted for: texts that may be in quotes, or may be several
    columns.
    """
    if any(isinstance(one.kind, Text) for one in pair.key):
        return None
    if any(is_doubtful(side) or first_complete(side) is None for side in pair.sides):
        return None
    # Only the digits of telephone numbers tell which ones have a country code.
    if any("phone" in rules.split("+") for side in pair.sides for rules in side.rules):
        return None
    ours, theirs = ([side.table.names[place].lower() for place in side.key] for side in pair.sides)
    if ours != theirs and sorted(ours) == sorted(theirs):
        return None
    told = [
        [
            meaning(
                side.table.columns[place].type,
                rules,
                has_zones=isinstance(one.kind, ZonedTimestamp),
            )
            for one, place, rules in zip(pair.key, side.key, side.rules, strict=True)
        ]
        for side in pair.sides
    ]
    return told[0] != told[1]


def is_doubtful(side: Side) -> bool:
    """Returns whether a table may be written in another way than it is read."""
    return side.table.format.dialect is not None and len(side.table.columns) == 1


def first_complete(side: Side) -> int | None:
    """The first row whose key has no null and no empty text, if there is one."""
    columns = [side.table.columns[place].cells for place in side.key]
    rows = enumerate(zip(*columns, strict=True))
    return next((row for row, cells in rows if all(map(is_filled, cells))), None)


def is_filled(cell: Any) -> bool:
    """Returns whether a cell is neither a null nor empty; NaN is a null."""
    return cell not in (None, "") and cell == cell
