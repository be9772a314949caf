"""Results are of the table's library, with its types, and in its order."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psijoin
import pytest
from parties import Pair


@pytest.fixture
def pair() -> Iterator[Pair]:
    with psijoin.local_pair(threads=1, wait=5, progress=False) as both:
        yield both


COLUMNS: dict[str, list[Any]] = {
    "id": ["c", None, "a", "b", "a"],
    "number": [1, 2, None, 4, 5],
    "ratio": [0.5, 1.5, 2.5, None, 4.5],
    "flag": [True, None, False, True, False],
    "day": [datetime.date(2026, 1, day) for day in range(1, 6)],
}
SHARED = [2, 3, 4]
"""The rows whose key is among `OTHERS`."""
OTHERS = {"key": ["b", "x", "a"], "plan": ["gold", "none", None]}


def joined(pair: Pair, mine: Any, theirs: Any, **options: Any) -> Any:
    alice, bob = pair
    rows, _ = psijoin.together(
        lambda: alice.receive(mine, on="id", take=["plan"], **options),
        lambda: bob.send(theirs, on="key", give="plan"),
    )
    return rows.rows


def test_polars(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    mine, theirs = polars.DataFrame(COLUMNS), polars.DataFrame(OTHERS)
    rows = joined(pair, mine, theirs)
    plans = polars.Series("plan", [None, "gold", None], dtype=polars.String)
    assert rows.equals(mine[SHARED].with_columns(plans))
    assert rows.schema == mine.with_columns(plan=polars.lit("")).schema
    lazy = joined(pair, mine.lazy(), theirs.lazy())
    assert lazy.equals(rows)


def test_polars_keeps_its_types(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    colours = polars.Enum(["red", "blue", "green"])
    mine = polars.DataFrame(COLUMNS).with_columns(
        polars.Series("category", ["x", "y", "x", None, "z"], dtype=polars.Categorical),
        polars.Series("colour", ["red", None, "blue", "green", "red"], dtype=colours),
        polars.Series("object", [object() for _ in range(5)], dtype=polars.Object),
        polars.Series("lists", [[1], [], None, [2, 3], [4]]),
    )
    rows = joined(pair, mine, polars.DataFrame(OTHERS))
    assert rows.drop("plan", "object").equals(mine[SHARED].drop("object"))
    assert rows.drop("plan").schema == mine.schema
    assert rows["object"].to_list() == mine["object"][SHARED].to_list()


def test_a_query_of_polars_is_read_as_it_comes(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    alice, bob = pair
    read = []

    def wide(frame: Any) -> Any:
        read.append(frame.columns)
        return frame

    theirs = polars.DataFrame(OTHERS).lazy().map_batches(wide, projection_pushdown=True)
    keys = polars.LazyFrame({"id": [f"{number:020}" for number in range(300_000)]})
    both = polars.concat([keys, polars.LazyFrame({"id": ["a", "b"]})])
    shared, _ = psijoin.together(
        lambda: alice.receive(both, on="id"), lambda: bob.send(theirs, on="key")
    )
    assert shared.rows["id"].to_list() == ["a", "b"]
    # A sender of rows needs no more than the key.
    assert read == [["key"]]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_query_that_fails_is_the_cause(pair: Pair, library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    alice, _ = pair
    with pytest.raises(psijoin.InputError, match="what gives its rows has failed") as raised:
        alice.receive(failing_query(library, tmp_path), on="id")
    assert raised.value.code == 3
    assert raised.value.__cause__ is not None
    assert "secret" not in str(raised.value)
    with pytest.raises(psijoin.InputError, match="none"):
        alice.receive(failing_query(library, tmp_path), on="none")


def failing_query(library: str, folder: Path) -> Any:
    if library == "polars":
        import polars

        texts = polars.LazyFrame({"id": ["1", "secret"]})
        return texts.with_columns(polars.col("id").cast(polars.Int64))
    import pyarrow
    from pyarrow import dataset, parquet

    path = folder / "secret.parquet"
    parquet.write_table(pyarrow.table({"id": ["a"] * 1000}), path)
    query = dataset.dataset(path)
    path.unlink()
    return query


def test_queries_of_pyarrow(pair: Pair, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset, parquet

    mine, theirs = pyarrow.table(COLUMNS), pyarrow.table(OTHERS)
    expected = joined(pair, mine, theirs)
    for name, rows in (("a.parquet", mine.slice(0, 2)), ("b.parquet", mine.slice(2))):
        parquet.write_table(rows, tmp_path / name)
    files = dataset.dataset(tmp_path)
    queries = [files, files.scanner(), mine.to_reader(max_chunksize=2), files.scanner().to_reader()]
    for query in queries:
        assert joined(pair, query, dataset.dataset(theirs)).equals(expected)


def test_pandas(pair: Pair) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    mine, theirs = pandas.DataFrame(COLUMNS), pandas.DataFrame(OTHERS)
    mine.index = [7, 7, 8, 9, 10]
    rows = joined(pair, mine, theirs)
    assert list(rows.columns) == [*COLUMNS, "plan"]
    assert rows["id"].tolist() == ["a", "b", "a"]
    assert rows["ratio"].tolist()[0] == 2.5
    assert rows["plan"].tolist()[1] == "gold"
    # The index goes with its rows.
    assert rows.index.tolist() == [8, 9, 10]


def test_pandas_keeps_its_types(pair: Pair) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    mine = pandas.DataFrame(COLUMNS).assign(
        category=pandas.Categorical(["x", "y", "x", None, "z"]),
        small=pandas.array([1, None, 3, 4, 5], dtype="Int8"),
        mixed=["text", 1, None, {}, ()],
    )
    mine[17] = "a name that is no text"
    rows = joined(pair, mine, pandas.DataFrame(OTHERS))
    pandas.testing.assert_frame_equal(rows.drop(columns="plan"), mine.iloc[SHARED])
    alice, _ = pair
    with pytest.raises(psijoin.InputError, match="'mixed'.*several types") as raised:
        alice.receive(mine, on="mixed")
    assert "text" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_other_rows_of_frames(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    mine = polars.DataFrame({**COLUMNS, "shared": 1, "plan": 2})
    rows = joined(pair, mine, polars.DataFrame(OTHERS), rows="all")
    assert rows.columns == [*mine.columns, "psijoin_shared", "partner_plan"]
    assert rows.select(mine.columns).equals(mine)
    assert rows["psijoin_shared"].to_list() == [row in SHARED for row in range(5)]
    both: Any = {"learn": "both", "align": True, "repeated": "first"}
    aligned, theirs = psijoin.together(
        lambda: pair[0].receive(mine, on="id", **both),
        lambda: pair[1].send(polars.DataFrame(OTHERS), on="key", **both),
    )
    assert aligned.rows["id"].to_list() == theirs.rows["key"].to_list()
    assert aligned.rows.schema == mine.schema


def test_pyarrow(pair: Pair) -> None:
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


def test_duckdb(pair: Pair) -> None:
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    mine, theirs = pyarrow.table(COLUMNS), pyarrow.table(OTHERS)
    # A connection is for one thread.
    with duckdb.connect() as one, duckdb.connect() as another:
        rows = joined(pair, one.from_arrow(mine), another.from_arrow(theirs))
    assert rows.column("id").to_pylist() == ["a", "b", "a"]
    assert rows.column("day").to_pylist() == [COLUMNS["day"][row] for row in SHARED]


def test_whatever_has_a_stream(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")

    class Stream:
        def __init__(self, columns: Any) -> None:
            self.table = pyarrow.table(columns)

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.table.__arrow_c_stream__(requested_schema)

    rows = joined(pair, Stream(COLUMNS), Stream(OTHERS))
    assert len(rows) == 3
    assert rows.columns() == [*COLUMNS, "plan"]
    assert pyarrow.table(rows).column("plan").to_pylist() == [None, "gold", None]


def test_columns_of_nulls_alone(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    mine = polars.DataFrame(COLUMNS).with_columns(polars.lit(None).alias("nothing"))
    theirs = polars.DataFrame(OTHERS).with_columns(polars.lit(None).alias("nothing"))
    for library in (polars.DataFrame, polars.DataFrame.lazy):
        rows, _ = psijoin.together(
            lambda: pair[0].receive(library(mine), on="id", take="all"),
            lambda: pair[1].send(library(theirs), on="key", give=["plan", "nothing"]),
        )
        assert rows.rows[:, :-2].equals(mine[SHARED])
        assert rows.rows["partner_nothing"].null_count() == 3
        nobody, _ = psijoin.together(
            lambda: pair[0].receive(library(mine), on="nothing"), lambda: pair[1].send(["a"])
        )
        assert len(nobody.rows) == 0


def test_types_that_are_not_known(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": polars.Series([1], dtype=polars.Int128)})
    with pytest.raises(psijoin.InputError, match="a type that psijoin does not know") as raised:
        pair[0].receive(frame, on="id")
    assert raised.value.__cause__ is not None


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_series_is_no_table(pair: Pair, library: str) -> None:
    frames = pytest.importorskip(library)
    with pytest.raises(TypeError, match="to_frame"):
        pair[0].receive(frames.Series(["a", "b"]))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_rows_go_to_a_file(pair: Pair, library: str, tmp_path: Path) -> None:
    frames = pytest.importorskip(library)
    pytest.importorskip("pyarrow")
    mine = frames.DataFrame({"number": [1, 2], "id": ["a", "b"]})
    path = tmp_path / "shared.csv"
    nothing, _ = psijoin.together(
        lambda: pair[0].receive(mine, on="id", output=path), lambda: pair[1].send(["b"])
    )
    assert nothing.rows is None
    assert path.read_text() == "number,id\n2,b\n"


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_nothing_shared_has_columns_all_the_same(pair: Pair, library: str) -> None:
    frames = pytest.importorskip(library)
    if library == "pandas":
        pytest.importorskip("pyarrow")
    mine = frames.DataFrame({"id": ["x1", "y1"]})
    theirs = frames.DataFrame({"key": ["z1"], "plan": ["gold"]})
    rows = joined(pair, mine, theirs)
    assert len(rows) == 0
    assert list(rows.columns) == ["id", "plan"]


def beyond(name: str) -> Any:
    """A table whose third row a library cannot hold in the column `far`."""
    pyarrow = pytest.importorskip("pyarrow")
    numbers, kind = {
        "date": ([0, None, 2**31 - 1], pyarrow.date32()),
        "seconds": ([0, None, 2**62], pyarrow.timestamp("s")),
        "midnight": ([0, None, 86_400], pyarrow.time32("s")),
        "nanoseconds": ([0, None, 1], pyarrow.time64("ns")),
    }[name]
    width = pyarrow.int64() if kind.bit_width == 64 else pyarrow.int32()
    return pyarrow.table({"id": ["a", "x", "b"], "far": pyarrow.array(numbers, width).view(kind)})


@pytest.mark.parametrize("name", ["date", "midnight", "nanoseconds"])
def test_what_pandas_cannot_hold_is_named(pair: Pair, name: str) -> None:
    pandas = pytest.importorskip("pandas")
    theirs = beyond(name)
    mine = pandas.DataFrame({"id": ["c", "a", "b"]})
    with pytest.raises(psijoin.InputError, match="'far' holds in row 3 of the table, a") as raised:
        psijoin.together(
            lambda: pair[0].receive(mine, on="id", take="far"),
            lambda: pair[1].send(theirs, on="id", give="far"),
        )
    assert "5881580" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("name", ["seconds", "midnight"])
def test_what_polars_cannot_hold_is_named(pair: Pair, name: str) -> None:
    polars = pytest.importorskip("polars")
    theirs = beyond(name)
    mine = polars.DataFrame({"id": ["c", "a", "b"]})
    for library, place in ((polars.DataFrame, "row 3 of the table"), (polars.DataFrame.lazy, "row 2 of the result")):
        with pytest.raises(psijoin.InputError, match=f"'far' holds in {place}, a"):
            psijoin.together(
                lambda: pair[0].receive(library(mine), on="id", take="far"),
                lambda: pair[1].send(theirs, on="id", give="far"),
            )


def test_decimals_that_polars_does_not_have_are_named(pair: Pair) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    theirs = pyarrow.table({"id": ["a"], "far": pyarrow.array([1], pyarrow.decimal256(76, 0))})
    with pytest.raises(psijoin.InputError, match="'far' holds decimals of 256 bits that polars cannot hold"):
        psijoin.together(
            lambda: pair[0].receive(polars.DataFrame({"id": ["a"]}), on="id", take="far"),
            lambda: pair[1].send(theirs, on="id", give="far"),
        )


def test_a_file_for_spreadsheets(pair: Pair, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    output = tmp_path / "output.csv"
    mine = pyarrow.table({"id": ["=a", "b"], "number": [-1, -2]})
    theirs = pyarrow.table({"id": ["=a", "b"], "+name": ["=1+1", "-5"]})
    psijoin.together(
        lambda: pair[0].receive(mine, on="id", take="all", output=output, quote_formulas=True),
        lambda: pair[1].send(theirs, on="id", give="+name"),
    )
    assert output.read_text() == 'id,number,"\'+name"\n"\'=a",-1,"\'=1+1"\nb,-2,-5\n'
    with pytest.raises(psijoin.UsageError, match="for .csv and .tsv"):
        pair[0].receive(mine, on="id", output=tmp_path / "output.arrow", quote_formulas=True)
