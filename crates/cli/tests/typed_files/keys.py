"""The keys of a column, against the documentation's spelling and DuckDB's."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
from differential.expectation import connect

from .column_types import Type
from .comparison import check
from .files import File, read_arrow
from .spelling import DATE, MOMENT, ZONED, Inexact
from .values import FIRST_SECOND, LAST_SECOND

EQUAL, REFUSED, UNSUITABLE = "equal", "refused", "no key is exact"


def compare_keys(program: Path, file: File, name: str) -> str:
    """Compares the keys that are in a column with what they are to be. Returns what was found."""
    of = file.type_of(name)
    what = f"the keys of {name}, {of.name} in {file.path.name} by {file.writer}"
    command = [str(program), "keys", str(file.path), "--key", name, "--first", "1000", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True)
    if of.is_refused("key", file.source):
        check(ended.returncode != 0, f"{what} are not refused")
        check_refusal(ended.stderr, name, of.name_for("key"))
        return REFUSED
    values = [value for value in file.expected(name) if value is not None]
    try:
        expected = {of.kind.key(value) for value in values} - {""}
    except Inexact:
        check(ended.returncode != 0, f"{what} are not refused")
        check_refusal(ended.stderr, name, "a floating-point number")
        return UNSUITABLE
    check(ended.returncode == 0, f"{what} are refused: {ended.stderr}")
    found = {key[0] for key in json.loads(ended.stdout)["first_keys"]}
    check(found == expected, f"{what}: {found - expected} for {expected - found}")
    if of.sql and shows(of, values):
        compare_with_duckdb(file, name, of.sql, found, what)
    return EQUAL


def check_refusal(said: str, name: str, called: str) -> None:
    """Checks that a refusal names this column, and its type as it calls that."""
    check("panicked" not in said, said)
    check(f"`{name}`" in said, f"{name} is refused without its name: {said}")
    check(called in said, f"{name} is refused without its type, {called}: {said}")


def shows(of: Type, values: list[Any]) -> bool:
    """Returns whether DuckDB shows such values: it has no years beyond those with four digits."""
    if of.kind not in (DATE, MOMENT, ZONED):
        return True
    seconds = [value // 10**9 for value in values]
    # The greatest integer of 64 bits is infinity.
    return all(FIRST_SECOND <= second <= LAST_SECOND for second in seconds) and all(
        abs(value) < 2**63 - 10**9 for value in values if value % 1000
    )


def compare_with_duckdb(file: File, name: str, sql: str, found: set[str], what: str) -> None:
    # DuckDB refuses to read a column if it cannot show the bounds of another one.
    path = file.path.with_name(f"{name}{file.path.suffix}")
    file.write([name], path)
    with connect() as connection:
        if file.source == "arrow":
            connection.register("held", as_values(name, read_arrow(path)[0][name]))
        else:
            connection.execute(f"CREATE VIEW held AS FROM read_parquet('{path}')")
        rows = connection.execute(
            f"SELECT DISTINCT {sql.format(name)} FROM held WHERE {name} IS NOT NULL"
        ).fetchall()
    expected = {row[0] for row in rows if row[0] is not None}
    check(found == expected, f"{what}, by DuckDB: {found - expected} for {expected - found}")


def as_values(name: str, column: pa.ChunkedArray) -> pa.Table:
    """A column without a dictionary: DuckDB crashes on some."""
    chunks = column.chunks
    if pa.types.is_dictionary(column.type):
        chunks = [chunk.dictionary_decode() for chunk in chunks]
    return pa.table({name: pa.chunked_array(chunks)})
