"""Formats: what files are called, how texts are written, and how DuckDB reads them."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Dialect:
    """The form of a text."""

    delimiter: str = ","
    quote: str | None = '"'
    header: bool = True
    line_ending: str = "\n"
    byte_order_mark: bool = False
    # True if a backslash begins an escape, as in PostgreSQL's COPY.
    escapes: bool = False
    # As Python calls it, and as `--encoding` does, if it has to.
    encoding: str = "utf-8"
    said_encoding: str | None = None

    def holds(self, text: str) -> bool:
        """Returns whether a field can hold the text."""
        special = (self.delimiter, "\n", "\r")
        has_room = self.escapes or self.quote is not None
        return has_room or not any(letter in text for letter in special)

    def fitted(self, text: str) -> str:
        """The text, or if a field cannot hold it, one like it that it can."""
        if not self.holds(text):
            for letter in (self.delimiter, "\n", "\r"):
                text = text.replace(letter, "_")
        if self.can_encode(text):
            return text
        return "".join(map(self._encodable, text))

    def _encodable(self, letter: str) -> str:
        if self.can_encode(letter):
            return letter
        return " " if letter.isspace() else "_"

    def can_encode(self, text: str) -> bool:
        """Returns whether the encoding has all of its letters."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True

    def field(self, text: str | None) -> str:
        """The text as a field, in quotes or with escapes if need be."""
        if self.escapes:
            return "\\N" if text is None else self._escaped(text)
        text = text or ""
        special = (self.delimiter, self.quote, "\n", "\r")
        if self.quote is None or not any(letter in text for letter in special if letter):
            return text
        return self.quote + text.replace(self.quote, self.quote * 2) + self.quote

    def _escaped(self, text: str) -> str:
        for letter, escaped in {"\\": "\\", "\n": "n", "\r": "r", "\t": "t"}.items():
            text = text.replace(letter, f"\\{escaped}")
        return text.replace(self.delimiter, f"\\{self.delimiter}")

    def record(self, fields: Sequence[str | None]) -> str:
        """A line of these fields."""
        text = self.delimiter.join(map(self.field, fields))
        # Without the quotes it would be a blank line, which is no row.
        text = text or (self.quote or "") * 2
        return text + self.line_ending


# What each text format is unless options say otherwise. In a file of lines nothing divides: the
# delimiter is a character that occurs nowhere.
USUAL = {
    "csv": Dialect(),
    "tsv": Dialect(delimiter="\t", quote=None),
    "txt": Dialect(delimiter="\x01", quote=None, header=False),
}

# The formats that have types, and the endings of their files' names.
TYPED = {"parquet": ("parquet",), "arrow": ("arrow", "feather", "ipc")}

COMPRESSIONS = ("", "gz", "zst")
DUCKDB_COMPRESSIONS = {"": "none", "gz": "gzip", "zst": "zstd"}


@dataclass(frozen=True)
class Format:
    """The name of a file, and the form of a text."""

    name: str
    compression: str = ""
    dialect: Dialect | None = None
    # The ending of a file that is not called by the format's name.
    called: str | None = None

    @classmethod
    def usual(cls, name: str, compression: str = "") -> "Format":
        """The format without options."""
        return cls(name, compression, USUAL.get(name))

    def fitted(self, text: str) -> str:
        """The text, or if the format cannot hold it, one like it that it can."""
        return self.dialect.fitted(text) if self.dialect else text

    @property
    def ending(self) -> str:
        """Returns the end of a file's name, with the points."""
        called = self.name if self.called is None else self.called
        return "".join(f".{ending}" for ending in (called, self.compression) if ending)

    @property
    def is_told(self) -> bool:
        """Returns whether a file's name tells another format, or none."""
        return self.called is not None and self.called not in TYPED.get(self.name, (self.name,))

    def options(self) -> list[str]:
        """Returns the options that psijoin needs besides the file's name."""
        options = []
        if self.is_told:
            options += ["--input-format", {"txt": "lines"}.get(self.name, self.name)]
        if self.dialect is None:
            return options
        if self.dialect.said_encoding:
            options += ["--encoding", self.dialect.said_encoding]
        if self.name == "txt":
            return options
        usual = USUAL[self.name]
        if self.dialect.delimiter != usual.delimiter:
            options += [
                "--delimiter",
                {"\t": "tab"}.get(self.dialect.delimiter, self.dialect.delimiter),
            ]
        if self.dialect.quote != usual.quote:
            options += ["--quote", self.dialect.quote or "none"]
        if self.dialect.escapes:
            options.append("--escapes")
        return options if self.dialect.header else [*options, "--no-header"]

    def written_as_usual(self, name: str, compression: str) -> "Format":
        """The format of rows of such a table that are written to a file of another format."""
        usual = Format.usual(name, compression)
        keeps_no_header = usual.dialect and self.dialect and name != "txt" and self.name != "txt"
        if keeps_no_header and not self.dialect.header:
            return replace(usual, dialect=replace(usual.dialect, header=False))
        return usual


def relation(choice: Format, paths: Sequence[Path], columns: int, told: Sequence[str] = ()) -> str:
    """SQL for the rows of files that DuckDB can read, in order: `row` from 0, `c0`, `c1` and so on.

    `told` names the last columns, if folders tell them. Empty texts in quotes are empty texts, and
    other empty fields are nulls.
    """
    names = [f"c{index}" for index in range(columns)]
    files = f"[{', '.join(map(quoted, paths))}]"
    dialect = choice.dialect
    if dialect is None:
        # DuckDB has the columns of folders by their names.
        by_name = sorted(range(len(told)), key=lambda index: told[index])
        held = names[: columns - len(told)] + [names[columns - len(told) + at] for at in by_name]
        source = (
            f"read_parquet({files}, hive_partitioning = {str(bool(told)).lower()},"
            f" hive_types_autocast = false) AS t({', '.join(held)})"
        )
    else:
        quote = quoted(dialect.quote or "")
        options = {
            "allow_quoted_nulls": "false",
            "auto_detect": "false",
            "columns": "{" + ", ".join(f"{name}: 'VARCHAR'" for name in names) + "}",
            "compression": quoted(DUCKDB_COMPRESSIONS[choice.compression]),
            "delim": quoted(dialect.delimiter),
            "quote": quote,
            "escape": quote,
            "header": str(dialect.header).lower(),
            "hive_partitioning": "false",
            "new_line": quoted(dialect.line_ending.encode("unicode_escape").decode()),
            "parallel": "false",
        }
        listed = ", ".join(f"{name} = {value}" for name, value in options.items())
        source = f"read_csv({files}, {listed})"
    return f"(SELECT row_number() OVER () - 1 AS row, {', '.join(names)} FROM {source})"


def quoted(text: Any) -> str:
    """A literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def write_compressed(path: Path, content: bytes, compression: str) -> None:
    """Writes a file, compressed as its name says."""
    match compression:
        case "gz":
            path.write_bytes(gzip.compress(content, 1))
        case "zst":
            with pa.CompressedOutputStream(str(path), "zstd") as stream:
                stream.write(content)
        case _:
            path.write_bytes(content)


def read_compressed(path: Path, compression: str) -> bytes:
    """The content of such a file."""
    match compression:
        case "gz":
            return gzip.decompress(path.read_bytes())
        case "zst":
            with pa.input_stream(str(path), compression="zstd") as stream:
                return stream.read()
        case _:
            return path.read_bytes()
