"""The rows that a join makes, as DuckDB joins the tables: an inner, a left or an anti join."""

from typing import Any

import pyarrow as pa

from .expectation import Expectation
from .formats import quoted
from .giving import PREFIX
from .joins import Join
from .pairs import Pair
from .tables import Table

# The column that marks the shared rows among all; and its prefix if that name is in use.
SHARED_COLUMN, SHARED_PREFIX = "shared", "psijoin_"

# The join of the receiver's table with the sender's columns for its keys.
JOINS = {"shared": "JOIN", "unshared": "ANTI JOIN", "all": "LEFT JOIN"}

# The receiver's first row of each key.
FIRST_ROWS = (
    "SELECT * FROM receiver WHERE key IS NOT NULL"
    " QUALIFY row_number() OVER (PARTITION BY key ORDER BY row) = 1"
)


class JoinedRows:
    """The rows that come out of a join.

    `origins` has them in order: the row of the receiver; that of the sender behind it, if there is
    one; and whether its key is shared. Aligned rows have no certain order until they are arranged.
    `added` names the columns behind the receiver's own, and `taken` are those of the sender, as
    places in its table.
    """

    def __init__(self, expectation: Expectation, pair: Pair, join: Join) -> None:
        self._connection = expectation.connection
        self._pair, self._join = pair, join
        self.taken = join.giving.taken if join.giving else []
        self.added = added_names(pair, join)
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE joined AS {joined(join)}")
        self.origins = self._fetch_origins()

    def _fetch_origins(self) -> list[tuple[int, int | None, bool]]:
        found = self._connection.execute("SELECT * EXCLUDE line FROM joined ORDER BY line")
        return found.fetchall()

    def arrange(self, order: list[int]) -> None:
        """Puts the rows in this order, in which each row's present place stands once."""
        lines = pa.table({"place": pa.array(order, pa.int64()), "line": range(len(order))})
        self._connection.register("arranged", lines)
        self._connection.execute(
            "CREATE OR REPLACE TEMP TABLE joined AS SELECT joined.* EXCLUDE line, arranged.line"
            " FROM joined JOIN arranged ON joined.line = place"
        )
        self.origins = self._fetch_origins()

    def texts(self, with_nulls: bool) -> list[tuple[str | None, ...]]:
        """All columns as texts, where nulls are told from empty texts or not."""
        return self._fetch(self._own_texts() + self._added_texts(), with_nulls)

    def own(self) -> list[tuple[str, ...]]:
        """The receiver's own columns as texts, whose nulls are empty."""
        return self._fetch(self._own_texts(), with_nulls=False)

    def own_cells(self, cells: list[str]) -> list[tuple[Any, ...]]:
        """Returns these SQL expressions' values on the receiver's columns, those of `mine`."""
        return self._fetch(cells, with_nulls=True)

    def further(self) -> list[tuple[str | None, ...]]:
        """The added columns as texts."""
        return self._fetch(self._added_texts(), with_nulls=True)

    def has_text(self, pattern: str) -> bool:
        """Returns whether the regular expression finds anything in a text of any column."""
        texts = ", ".join(self._own_texts() + self._added_texts())
        found = self._connection.execute(
            f"SELECT coalesce(bool_or(regexp_matches(concat({texts}), {quoted(pattern)})), false)"
            f" FROM {self._rows()}"
        )
        return found.fetchone()[0]

    def _fetch(self, texts: list[str], with_nulls: bool) -> list[tuple[str | None, ...]]:
        texts = texts if with_nulls else [f"coalesce({text}, '')" for text in texts]
        found = self._connection.execute(
            f"SELECT {', '.join(['joined.row', *texts])} FROM {self._rows()} ORDER BY joined.line"
        )
        return [tuple(cells) for _, *cells in found.fetchall()]

    def _own_texts(self) -> list[str]:
        columns = enumerate(self._pair.receiver.table.columns)
        return [one.type.shown.format(f"mine.c{place}") for place, one in columns]

    def _added_texts(self) -> list[str]:
        table = self._pair.sender.table
        flags = ["is_shared::VARCHAR"] if self._join.rows == "all" else []
        return flags + [given_text(table, place) for place in self.taken]

    def _rows(self) -> str:
        mine, theirs = (side.table.relation() for side in self._pair.sides)
        return (
            f"joined JOIN {mine} AS mine ON mine.row = joined.row"
            f" LEFT JOIN {theirs} AS theirs ON theirs.row = joined.partner"
        )


def joined(join: Join) -> str:
    """SQL for the origins of the rows that come out."""
    if join.giving is None:
        partners = "SELECT DISTINCT key, NULL::BIGINT AS row FROM given"
    else:
        partners = f"SELECT key, row FROM given WHERE place <= {join.giving.most}"
    partner = "NULL::BIGINT" if join.rows == "unshared" else "partners.row"
    is_shared = "false" if join.rows == "unshared" else "partners.key IS NOT NULL"
    own = f"({FIRST_ROWS}) AS receiver" if join.align else "receiver"
    return (
        f"SELECT receiver.row, {partner} AS partner, {is_shared} AS is_shared,"
        " row_number() OVER (ORDER BY receiver.row, partner) - 1 AS line"
        f" FROM {own} {JOINS[join.rows]} ({partners}) AS partners ON receiver.key = partners.key"
    )


def given_text(table: Table, place: int) -> str:
    """SQL for the text of a column of the sender, which is null where there is no partner."""
    column = f"theirs.c{place}"
    if table.format.dialect:
        # Its own cells are never null.
        return f"CASE WHEN joined.partner IS NOT NULL THEN coalesce({column}, '') END"
    return table.columns[place].type.shown.format(column)


def added_names(pair: Pair, join: Join) -> list[str]:
    """Returns the names of the columns behind the receiver's own."""
    own, names = pair.receiver.table.names, []
    for name in wanted_names(pair, join):
        prefix = SHARED_PREFIX if join.rows == "all" and not names else PREFIX
        while name in (*own, *names):
            name = prefix + name
        names.append(name)
    return names


def wanted_names(pair: Pair, join: Join) -> list[str]:
    """Returns their names if no name were in use."""
    taken = join.giving.taken if join.giving else []
    flags = [SHARED_COLUMN] if join.rows == "all" else []
    return flags + [pair.sender.table.names[place] for place in taken]
