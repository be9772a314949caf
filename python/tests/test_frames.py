"""Data frames of each library, with each of its types as the key, against the texts that
docs/tables.md has for its values.
"""

import importlib.util
from typing import Any

import kinds
import psijoin
import pytest
from kinds import MINE, THEIRS, Kind, cells, shared
from parties import Pair


def joined(pair: Pair, mine: Any, kind: Kind) -> Any:
    """The rows of `mine`, which has its key in `id`, from a join with texts. The texts that the
    other side gets are as they should be.
    """
    ann, bob = pair
    texts = [text or "" for text in cells(kind.texts, THEIRS)]
    rows, theirs = psijoin.together(
        lambda: ann.receive(mine, on="id", learn="both"), lambda: bob.send(texts, learn="both")
    )
    assert theirs.rows == [texts[row] for row in shared(kind, THEIRS, MINE)]
    return rows.rows


POLARS: dict[str, tuple[tuple[Any, ...], Kind]] = {
    "String": ((), kinds.TEXT),
    "Categorical": ((), kinds.TEXT),
    "Enum": ((kinds.TEXTS,), kinds.TEXT),
    "Int8": ((), kinds.INTEGER),
    "Int16": ((), kinds.INTEGER),
    "Int32": ((), kinds.INTEGER),
    "Int64": ((), kinds.INTEGER),
    "UInt8": ((), kinds.NATURAL),
    "UInt16": ((), kinds.NATURAL),
    "UInt32": ((), kinds.NATURAL),
    "UInt64": ((), kinds.LARGEST),
    "Float16": ((), kinds.FLOAT),
    "Float32": ((), kinds.FLOAT),
    "Float64": ((), kinds.FLOAT),
    "Decimal": ((20, 2), kinds.DECIMAL),
    "Boolean": ((), kinds.BOOLEAN),
    "Date": ((), kinds.DATE),
    "Datetime ms": (("ms",), kinds.FINE_TIMESTAMP),
    "Datetime us": (("us",), kinds.FINE_TIMESTAMP),
    "Datetime ns": (("ns",), kinds.FINE_TIMESTAMP),
    "Datetime ms UTC": (("ms", "UTC"), kinds.ZONED),
    "Datetime us Berlin": (("us", "Europe/Berlin"), kinds.ZONED),
    "Datetime ns UTC": (("ns", "UTC"), kinds.ZONED),
    "Time": ((), kinds.FINE_TIME),
    "Binary": ((), kinds.BINARY),
}
"""The class of a type, what it is made with, and values of it."""


@pytest.mark.parametrize("name", POLARS)
def test_polars(pair: Pair, name: str) -> None:
    polars = pytest.importorskip("polars")
    made_with, kind = POLARS[name]
    of = getattr(polars, name.partition(" ")[0])(*made_with)
    keys = polars.Series(cells(kind.values, MINE), dtype=of)
    mine = polars.DataFrame({"id": keys, "row": range(len(MINE))})
    rows = joined(pair, mine, kind)
    expected = mine[shared(kind, MINE, THEIRS)]
    if name in ("Categorical", "Enum"):
        # Categories may come back in another type.
        rows = rows.cast(mine.schema)
    assert rows.schema == expected.schema
    assert rows.rows() == expected.rows()


PANDAS: dict[str, Kind] = {
    "str": kinds.TEXT,
    "string[python]": kinds.TEXT,
    "string[pyarrow]": kinds.TEXT,
    "large_string[pyarrow]": kinds.TEXT,
    "category": kinds.TEXT,
    "Int8": kinds.INTEGER,
    "Int16": kinds.INTEGER,
    "Int32": kinds.INTEGER,
    "Int64": kinds.INTEGER,
    "UInt8": kinds.NATURAL,
    "UInt16": kinds.NATURAL,
    "UInt32": kinds.NATURAL,
    "UInt64": kinds.LARGEST,
    "Float32": kinds.FLOAT,
    "float64": kinds.FLOAT,
    "boolean": kinds.BOOLEAN,
    "datetime64[s]": kinds.TIMESTAMP,
    "datetime64[ms]": kinds.FINE_TIMESTAMP,
    "datetime64[us]": kinds.FINE_TIMESTAMP,
    "datetime64[ns]": kinds.FINE_TIMESTAMP,
    "datetime64[s, UTC]": kinds.ZONED_SECONDS,
    "datetime64[us, Europe/Berlin]": kinds.ZONED,
    "object": kinds.TEXT,
    "date32[pyarrow]": kinds.DATE,
    "time64[us][pyarrow]": kinds.FINE_TIME,
    "binary[pyarrow]": kinds.BINARY,
}


OBJECTS = {
    "texts": kinds.TEXT,
    "booleans": kinds.BOOLEAN,
    "dates": kinds.DATE,
    "times": kinds.FINE_TIME,
    "decimals": kinds.DECIMAL,
    "bytes": kinds.BINARY,
}


CASES = [
    *((name, kind) for name, kind in PANDAS.items()),
    *(pytest.param("object", kind, id=f"objects-{name}") for name, kind in OBJECTS.items()),
]


@pytest.mark.parametrize(("dtype", "kind"), CASES)
def test_pandas(pair: Pair, dtype: str, kind: Kind) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    keys = pandas.Series(cells(kind.values, MINE), dtype=dtype)
    mine = pandas.DataFrame({"id": keys, "row": range(len(MINE))})
    rows = joined(pair, mine, kind)
    expected = mine.iloc[shared(kind, MINE, THEIRS)]
    assert rows["row"].tolist() == expected["row"].tolist()
    assert rows["id"].tolist() == expected["id"].tolist()
    assert rows["id"].dtype == expected["id"].dtype


DUCKDB: dict[str, tuple[str, Kind]] = {
    "VARCHAR": ("string", kinds.TEXT),
    "TINYINT": ("int8", kinds.INTEGER),
    "SMALLINT": ("int16", kinds.INTEGER),
    "INTEGER": ("int32", kinds.INTEGER),
    "BIGINT": ("int64", kinds.INTEGER),
    "HUGEINT": ("decimal128(38, 0)", kinds.INTEGER),
    "UTINYINT": ("uint8", kinds.NATURAL),
    "USMALLINT": ("uint16", kinds.NATURAL),
    "UINTEGER": ("uint32", kinds.NATURAL),
    "UBIGINT": ("uint64", kinds.LARGEST),
    "FLOAT": ("float", kinds.FLOAT),
    "DOUBLE": ("double", kinds.FLOAT),
    "DECIMAL(18,3)": ("decimal128(18, 3)", kinds.DECIMAL),
    "BOOLEAN": ("bool", kinds.BOOLEAN),
    "DATE": ("date32[day]", kinds.DATE),
    "TIMESTAMP_S": ("timestamp[s]", kinds.TIMESTAMP),
    "TIMESTAMP_MS": ("timestamp[ms]", kinds.FINE_TIMESTAMP),
    "TIMESTAMP": ("timestamp[us]", kinds.FINE_TIMESTAMP),
    "TIMESTAMP_NS": ("timestamp[ns]", kinds.FINE_TIMESTAMP),
    "TIMESTAMPTZ": ("timestamp[us, tz=UTC]", kinds.ZONED),
    "TIME": ("time64[us]", kinds.FINE_TIME),
    "BLOB": ("binary", kinds.BINARY),
    "UUID": ("string", Kind(kinds.UUID.texts, kinds.UUID.texts)),
}


@pytest.mark.parametrize("name", DUCKDB)
def test_duckdb(pair: Pair, name: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    came_as, kind = DUCKDB[name]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE mine (id {name}, row INTEGER)")
        for row, value in enumerate(cells(kind.values, MINE)):
            connection.execute("INSERT INTO mine VALUES (?, ?)", [value, row])
        rows = joined(pair, connection.table("mine").order("row"), kind)
    assert str(rows.schema.field("id").type) == came_as
    expected = shared(kind, MINE, THEIRS)
    assert rows["row"].to_pylist() == expected
    assert rows["id"].to_pylist() == [cells(kind.values, MINE)[row] for row in expected]


@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_it_is_said_that_pyarrow_is_missing(pair: Pair, library: str) -> None:
    frames = pytest.importorskip(library)
    if importlib.util.find_spec("pyarrow") is not None:
        pytest.skip("pyarrow is there")
    mine = (
        frames.DataFrame({"id": ["a", "b"]})
        if library == "pandas"
        else frames.sql("SELECT unnest(['a', 'b']) AS id")
    )
    with pytest.raises(ImportError, match="pip install pyarrow"):
        joined(pair, mine, kinds.TEXT)
