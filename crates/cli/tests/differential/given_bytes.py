"""The bytes of rows that are given (crates/table/src/share.rs)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from .column_types import BINARIES, ColumnType
from .tables import Table

# Before a text, or binary data, of any length.
LENGTH_BYTES = 2


@dataclass(frozen=True)
class Widths:
    """The bytes of the longest row, and what the receiver is told without `--give-bytes`.

    Both are at least and at most so many; and there are those of a row's flags.
    """

    longest: tuple[int, int]
    told: tuple[int, int]
    flags: int

    @property
    def exactly_told(self) -> int | None:
        """Returns the number that is told, if that is certain."""
        least, most = self.told
        return least if least == most else None


def widths(table: Table, places: Sequence[int], longest: tuple[int, int]) -> Widths:
    """Returns the bytes of rows in these columns, if the longest has `longest`."""
    types, flags = [table.columns[place].type for place in places], flag_bytes(len(places))
    told = longest
    if not table.format.dialect and all(map(has_fixed_width, types)):
        # It follows from the types: there is room for all values, whether or not they are null.
        by_type = zip(*(map(int, value_bytes(held, "")) for held in types), strict=True)
        told = tuple(flags + sum(widths) for widths in by_type)
    return Widths(longest, told, flags)


def flag_bytes(columns: int) -> int:
    """The bytes that say which columns are null."""
    return -(-columns // 8)


def row_bytes(table: Table, places: Sequence[int]) -> tuple[str, str]:
    """SQL for the bytes of a row in some columns: at least and at most."""
    bounds = []
    for bound in range(2):
        terms = [f"{flag_bytes(len(places))}"]
        for place in places:
            value = value_bytes(table.columns[place].type, f"c{place}")[bound]
            # Texts of tables without types are empty where they are null.
            null = LENGTH_BYTES if table.format.dialect else 0
            terms.append(f"CASE WHEN c{place} IS NULL THEN {null} ELSE {value} END")
        bounds.append(" + ".join(terms))
    return tuple(bounds)


def has_fixed_width(held: ColumnType) -> bool:
    """Returns whether all values of the type take equally many bytes."""
    return not held.is_text and held not in BINARIES[:-1]


def value_bytes(held: ColumnType, column: str) -> tuple[str, str]:
    """SQL for the bytes of a value, at least and at most."""
    arrow = held.arrow
    if held.is_text:
        return (f"{LENGTH_BYTES} + strlen({column})",) * 2
    if pa.types.is_boolean(arrow):
        return ("1",) * 2
    if pa.types.is_decimal(arrow):
        # Parquet does not say how wide they are in memory.
        return "4", "16"
    if pa.types.is_date64(arrow):
        return "4", "8"
    if isinstance(arrow, pa.UuidType) or pa.types.is_fixed_size_binary(arrow):
        return ("16",) * 2
    if pa.types.is_primitive(arrow):
        return (f"{arrow.bit_width // 8}",) * 2
    return (f"{LENGTH_BYTES} + octet_length({column})",) * 2
