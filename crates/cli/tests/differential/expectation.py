"""DuckDB's results for a pair of tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import duckdb

from . import rules
from .amounts import Amount
from .given_bytes import Widths, flag_bytes, row_bytes, widths
from .pairs import Pair, Side
from .tables import Column

# More decimals than any number has, and so many digits before them that no sum overflows.
NUMBER = "DECIMAL(38, 18)"


def connect() -> duckdb.DuckDBPyConnection:
    """A connection that knows the rules."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(rules.MACROS)
    return connection


@dataclass(frozen=True)
class Share:
    """Both shares of a place, added: whether its key is shared, and its numbers."""

    is_shared: bool
    numbers: tuple[Decimal, ...]


class Expectation:
    """A pair's keys, numbers and labels, in tables of DuckDB.

    `receiver` and `sender` have a row for each of the party's: `row` numbers them from 0; `key` is
    the list of the key's canonical texts, or null for a row without a key; `n0`, `n1` and so on are
    the numbers, and `s0`, `s1` the decimals that they show; `l0` and `l1` are the labels, where an
    empty text is null. `shared` has each shared key once.
    `given` has the sender's rows with a key; `place` numbers those of one key from 1.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, pair: Pair) -> None:
        self.connection = connection
        self._pair = pair
        for name, side in (("receiver", pair.receiver), ("sender", pair.sender)):
            self._load(name, side)
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE shared AS"
            " SELECT DISTINCT key FROM receiver SEMI JOIN sender USING (key)"
        )
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE given AS SELECT row, key,"
            " row_number() OVER (PARTITION BY key ORDER BY row) AS place"
            " FROM sender WHERE key IS NOT NULL"
        )
        self.shared: int = self._value("SELECT count(*) FROM shared")
        self.keyless_rows: int = self._value("SELECT count(*) - count(key) FROM receiver")
        self.most_repeated: int = self._value("SELECT coalesce(max(place), 0) FROM given")
        self.joined_rows: int = self._value("SELECT count(*) FROM receiver JOIN given USING (key)")
        self.matching_rows: int = self._value(
            "SELECT count(*) FROM receiver SEMI JOIN shared USING (key)"
        )

    @cached_property
    def turned(self) -> "Expectation":
        """Returns the sender's view of it: its table is `receiver` there."""
        return Expectation(connect(), self._pair.turned())

    def _load(self, name: str, side: Side) -> None:
        fields = []
        for place, applied in zip(side.key, side.rules, strict=True):
            held = side.table.columns[place].type
            canonical = held.canonical.format(f"c{place}")
            fields.append(rules.applied(applied, canonical, is_typed=not held.is_text))
        is_complete = " AND ".join(f"coalesce({one}, '') <> ''" for one in fields)
        key = f"CASE WHEN {is_complete} THEN [{', '.join(fields)}] END"
        numbers = [
            f", {number_of(side, amount)} AS n{index}, {decimals_of(side, amount)} AS s{index}"
            for index, amount in enumerate(side.amounts)
        ]
        labels = [
            f", nullif({column.type.canonical.format(f'c{side.place(column)}')}, '') AS l{index}"
            for index, column in enumerate(side.labels)
        ]
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS"
            f" SELECT row, {key} AS key{''.join(numbers)}{''.join(labels)}"
            f" FROM {side.table.relation()}"
        )
        found = self._value(f"SELECT count(*) FROM {name}")
        if found != side.table.rows:
            raise ValueError(f"DuckDB finds {found} of the {side.table.rows} rows of the {name}")

    def scale(self, holder: str, amount: Amount) -> int:
        """The most decimals of a column's numbers, in rows with a key."""
        index = self.index(holder, amount)
        return self._value(
            f"SELECT coalesce(max(s{index}), 0) FROM {holder}"
            f" WHERE key IS NOT NULL AND n{index} IS NOT NULL"
        )

    def overflows(self, holder: str, amount: Amount) -> bool:
        """Returns whether a column's positive or negative numbers exceed 64 bits together."""
        index, unit = self.index(holder, amount), 10 ** self.scale(holder, amount)
        above, below = self.connection.execute(
            f"SELECT coalesce(sum(n{index}) FILTER (n{index} > 0), 0),"
            f" coalesce(sum(n{index}) FILTER (n{index} < 0), 0) FROM {holder} WHERE key IS NOT NULL"
        ).fetchone()
        return above * unit >= 2**63 or below * unit < -(2**63)

    def sum(self, holder: str, amount: Amount) -> Decimal:
        """Returns the sum of a column's numbers over the shared keys."""
        number = f"n{self.index(holder, amount)}"
        return self._value(
            f"SELECT coalesce(sum({number}), 0) FROM {holder} SEMI JOIN shared USING (key)"
        )

    def shares(self, columns: list[tuple[str, Amount]]) -> dict[int, Share]:
        """For each key of the receiver, by the row that it is first in, what its shares make.

        If a set is empty, all is known from the sizes, and there are no shares.
        """
        if self._value("SELECT count(key) = 0 FROM sender"):
            return {}
        selected, totals = ["row", "is_shared"], ""
        for index, (holder, amount) in enumerate(columns):
            total = f"sum(n{self.index(holder, amount)}) AS total{index}"
            totals += f" LEFT JOIN (SELECT key, {total} FROM {holder} GROUP BY key) USING (key)"
            selected.append(f"CASE WHEN is_shared THEN coalesce(total{index}, 0) ELSE 0 END")
        found = self.connection.execute(
            f"SELECT {', '.join(selected)} FROM"
            " (SELECT key, min(row) AS row FROM receiver WHERE key IS NOT NULL GROUP BY key)"
            " LEFT JOIN (SELECT key, true AS is_shared FROM shared) USING (key)"
            f"{totals}"
        )
        return {row: Share(bool(shared), tuple(sums)) for row, shared, *sums in found.fetchall()}

    def first_beyond(self, most: int) -> int:
        """The first row of the sender that comes after this many others of its key."""
        return self._value(f"SELECT min(row) FROM given WHERE place > {most}")

    def widths(self, places: Sequence[int], most: int | None) -> Widths:
        """Returns the bytes of columns in the sender's rows: the first `most` of each key."""
        table, flags = self._pair.sender.table, flag_bytes(len(places))
        longest = tuple(
            self._value(
                f"SELECT coalesce(max({taken}), {flags}) FROM {table.relation()} JOIN given"
                f" USING (row) WHERE {most is None} OR place <= {most or 0}"
            )
            for taken in row_bytes(table, places)
        )
        return widths(table, places, longest)

    def labels(self, holder: str, label: Column) -> list[str]:
        """Returns the different labels of a column, without null, of rows with a key."""
        name = f"l{self.index(holder, label)}"
        found = self.connection.execute(
            f"SELECT DISTINCT {name} FROM {holder}"
            f" WHERE key IS NOT NULL AND {name} IS NOT NULL ORDER BY {name}"
        )
        return [text for (text,) in found.fetchall()]

    def keys(self, holder: str, rows: Sequence[int]) -> list[list[str] | None]:
        """The keys of some rows of a party."""
        found = dict(self.connection.execute(f"SELECT row, key FROM {holder}").fetchall())
        return [found[row] for row in rows]

    def texts(self, relation: str, columns: int, with_nulls: bool) -> list[tuple[str | None, ...]]:
        """The rows of an output that is a text."""
        texts = [
            f"c{place}" if with_nulls else f"coalesce(c{place}, '')" for place in range(columns)
        ]
        return self.connection.execute(
            f"SELECT {', '.join(texts)} FROM {relation} ORDER BY row"
        ).fetchall()

    def types(self, relation: str) -> list[str]:
        """The types of some columns."""
        described = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}")
        return [held for _, held, *_ in described.fetchall()]

    def columns(self, holder: str) -> list[str]:
        """Returns the names of a party's columns of numbers and of labels here."""
        side = {"receiver": self._pair.receiver, "sender": self._pair.sender}[holder]
        numbers = [f"n{index}" for index in range(len(side.amounts))]
        return numbers + [f"l{index}" for index in range(len(side.labels))]

    def index(self, holder: str, column: Amount | Column) -> int:
        """Returns the place of a column of numbers or labels among those of its holder."""
        side = {"receiver": self._pair.receiver, "sender": self._pair.sender}[holder]
        return (side.amounts if isinstance(column, Amount) else side.labels).index(column)

    def _value(self, query: str) -> Any:
        return self.connection.execute(query).fetchone()[0]


def number_of(side: Side, amount: Amount) -> str:
    """SQL for a number, whose spaces around it do not count; null where there is none."""
    column = column_of(side, amount)
    if amount.column.type.is_text:
        column = f"content({column})"
    # By way of text, as floating-point numbers stand for their shortest decimals.
    return f"{column}::VARCHAR::{NUMBER}"


def decimals_of(side: Side, amount: Amount) -> str:
    """SQL for the decimals that a number shows."""
    if amount.scale is not None:
        return str(amount.scale)
    text = f"{column_of(side, amount)}::VARCHAR"
    fraction = f"length(regexp_extract({text}, '\\.(\\d+)', 1))"
    exponent = f"coalesce(nullif(regexp_extract({text}, 'e(-?\\d+)', 1), '')::INTEGER, 0)"
    # An exponent moves the point.
    return f"greatest({fraction} - {exponent}, 0)"


def column_of(side: Side, amount: Amount) -> str:
    """Returns the name of a column of numbers in the table's relation."""
    return f"c{side.place(amount.column)}"
