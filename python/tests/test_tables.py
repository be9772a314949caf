"""What comes back is of the library that went in, with its types, and in its order."""

import datetime

import psijoin
import pytest


@pytest.fixture
def pair():
    with psijoin.local_pair(threads=1, wait=3, progress=False) as both:
        yield both


COLUMNS = {
    "id": ["c", None, "a", "b", "a"],
    "number": [1, 2, None, 4, 5],
    "ratio": [0.5, 1.5, 2.5, None, 4.5],
    "flag": [True, None, False, True, False],
    "day": [datetime.date(2026, 1, day) for day in range(1, 6)],
}
SHARED = [2, 3, 4]
"""The rows whose key is among `OTHERS`."""
OTHERS = {"key": ["b", "x", "a"], "plan": ["gold", "none", None]}


def joined(pair, mine, theirs, **options):
    alice, bob = pair
    rows, _ = psijoin.together(
        lambda: alice.receive(mine, on="id", take=["plan"], **options),
        lambda: bob.send(theirs, on="key", give="plan"),
    )
    return rows


def test_polars(pair):
    polars = pytest.importorskip("polars")
    mine, theirs = polars.DataFrame(COLUMNS), polars.DataFrame(OTHERS)
    rows = joined(pair, mine, theirs)
    plans = polars.Series("plan", [None, "gold", None], dtype=polars.String)
    assert rows.equals(mine[SHARED].with_columns(plans))
    assert rows.schema == mine.with_columns(plan=polars.lit("")).schema
    lazy = joined(pair, mine.lazy(), theirs.lazy())
    assert lazy.equals(rows)


def test_pandas(pair):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    mine, theirs = pandas.DataFrame(COLUMNS), pandas.DataFrame(OTHERS)
    mine.index = [7, 7, 8, 9, 10]
    rows = joined(pair, mine, theirs)
    assert list(rows.columns) == [*COLUMNS, "plan"]
    assert rows["id"].tolist() == ["a", "b", "a"]
    assert rows["ratio"].tolist()[0] == 2.5
    assert rows["plan"].tolist()[1] == "gold"


def test_pyarrow(pair):
    pyarrow = pytest.importorskip("pyarrow")
    mine, theirs = pyarrow.table(COLUMNS), pyarrow.table(OTHERS)
    plans = pyarrow.array([None, "gold", None])
    expected = mine.take(SHARED).append_column("plan", plans)
    assert joined(pair, mine, theirs).equals(expected)
    chunked = pyarrow.concat_tables([mine.slice(0, 2), mine.slice(2)])
    assert joined(pair, chunked, theirs).equals(expected)
    batches = pyarrow.RecordBatch.from_pydict(COLUMNS)
    assert joined(pair, batches, theirs).equals(expected)
    with pytest.raises(psijoin.InputError, match="cannot be a key"):
        pair[0].receive(pyarrow.table({"id": [[1]]}), on="id")


def test_duckdb(pair):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    mine, theirs = pyarrow.table(COLUMNS), pyarrow.table(OTHERS)
    # A connection is for one thread.
    with duckdb.connect() as one, duckdb.connect() as another:
        rows = joined(pair, one.from_arrow(mine), another.from_arrow(theirs))
    assert rows.column("id").to_pylist() == ["a", "b", "a"]
    assert rows.column("day").to_pylist() == [COLUMNS["day"][row] for row in SHARED]


def test_whatever_has_a_stream(pair):
    pyarrow = pytest.importorskip("pyarrow")

    class Stream:
        def __init__(self, columns):
            self.table = pyarrow.table(columns)

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    rows = joined(pair, Stream(COLUMNS), Stream(OTHERS))
    assert len(rows) == 3
    assert rows.columns() == [*COLUMNS, "plan"]
    assert pyarrow.table(rows).column("plan").to_pylist() == [None, "gold", None]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_nothing_shared_has_columns_all_the_same(pair, library):
    frames = pytest.importorskip(library)
    mine = frames.DataFrame({"id": ["x1", "y1"]})
    theirs = frames.DataFrame({"key": ["z1"], "plan": ["gold"]})
    rows = joined(pair, mine, theirs)
    assert len(rows) == 0
    assert list(rows.columns) == ["id", "plan"]
