"""Types of columns, and the treatment of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from .footer import Annotation
from .spelling import Kind
from .values import Draw

BOTH, ARROW_ONLY = ("parquet", "arrow"), ("arrow",)
ALL = ("pyarrow", "polars", "duckdb")

# A column can be a key, be given to the partner, or be kept in an output of a format. These are
# uses for which types are refused.
WITHOUT_TEXT = frozenset({"csv"})
NEITHER_KEY_NOR_TEXT = frozenset({"key", "given", "csv"})
IN_ARROW_ALONE = frozenset({"key", "given", "csv", "parquet"})
NOWHERE = frozenset({"key", "given", "csv", "parquet", "arrow"})
IN_PARQUET_ALONE = frozenset({"key", "given", "csv", "arrow"})

# DuckDB's spelling of values; a decimal without zeros at its end.
VARCHAR = "{0}::VARCHAR"
SHORT_DECIMAL = r"rtrim(regexp_replace({{0}}::DECIMAL(38, {0})::VARCHAR, '(\.\d*?)0+$', '\1'), '.')"


def short_decimal(scale: int) -> str:
    return SHORT_DECIMAL.format(scale)


def itself(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Type:
    """A type, how a column of it is drawn, and for which uses it is refused by name. For all others
    its values stay what they are.
    """

    name: str
    draw: Draw
    kind: Kind
    # Uses, or uses in files of a format, as `parquet>csv`.
    refused: frozenset[str] = frozenset()
    # The name of the type in a refusal; and in one of its text, if that is something else.
    called: str = ""
    called_as_text: str = ""
    formats: tuple[str, ...] = ("parquet", "arrow")
    written_by: tuple[str, ...] = ("pyarrow",)
    # What Parquet's footer says of the column, and of which of its elements. What is drawn is what
    # the values are physically; `logical` makes of them what they are.
    annotation: Annotation | None = None
    element: int = 0
    logical: Callable[[Any], Any] = itself
    # The Arrow type, of types of Parquet.
    arrow: pa.DataType | None = None
    # The C data interface's format, of types that pyarrow has no class for.
    c_format: str | None = None
    # DuckDB's spelling of a key.
    sql: str | None = None
    # DuckDB's expression for the column that it writes, from the drawn one.
    cast: str = "{0}"
    # The Polars type.
    polars: pl.DataType | None = None
    # True if its values are known only as they are in the file.
    is_as_written: bool = False
    # Of an extension type: the refusals that remain where a file of Parquet does not tell of it,
    # and the kind of what is beneath.
    unmarked: "Type | None" = None

    def is_refused(self, use: str, source: str) -> bool:
        """Returns whether it is refused for a use, from a file of this format."""
        return use in self.refused or f"{source}>{use}" in self.refused

    def name_for(self, use: str) -> str:
        """Returns the name of the type in a refusal for this use."""
        is_text = use in ("key", "csv")
        return self.called_as_text if is_text and self.called_as_text else self.called
