"""How many bytes rows take that are given (crates/table/src/given.rs)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from .column_types import ColumnType
from .tables import Table

# Before a text, or binary data, of any length.
LENGTH_BYTES = 2


@dataclass(frozen=True)
class Widths:
    """The bytes of the longest row, at least and at most, and those of its flags."""

    least: int
    most: int
    flags: int

    @property
    def exactly(self) -> int | None:
        """How many these are, if that is certain."""
        return self.most if self.least == self.most else None


def flag_bytes(columns: int) -> int:
    """The bytes that say which columns are null."""
    return -(-columns // 8)


def row_bytes(table: Table, places: Sequence[int]) -> tuple[str, str]:
    """SQL for the bytes of a row in some columns: at least and at most."""
    least, most = [], []
    for place in places:
        held, column = table.columns[place].type, f"c{place}"
        if table.format.dialect:
            # Texts of such tables are never null.
            least.append(f"{LENGTH_BYTES} + strlen(coalesce({column}, ''))")
            most.append(least[-1])
            continue
        values = value_bytes(held, column)
        for said, value in zip((least, most), values, strict=True):
            said.append(f"CASE WHEN {column} IS NULL THEN 0 ELSE {value} END")
    flags = flag_bytes(len(places))
    return tuple(" + ".join((f"{flags}", *terms)) for terms in (least, most))


def value_bytes(held: ColumnType, column: str) -> tuple[str, str]:
    """SQL for the bytes of a value of a typed table, at least and at most."""
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
