"""Columns whose values stand for something else than their storage says."""

from typing import Any

import psijoin
import pytest
from parties import Pair

pyarrow = pytest.importorskip("pyarrow")


def refused(pair: Pair, table: Any, key: str = "id") -> str:
    """Returns the message about a table whose key cannot be used."""
    ann, bob = pair
    with pytest.raises(psijoin.InputError) as raised:
        psijoin.together(lambda: ann.receive(table, on=key), lambda: bob.send(["1"]))
    return str(raised.value)


def test_periods_are_no_numbers(pair: Pair) -> None:
    """Pandas stores a month as the number of months since 1970."""
    pandas = pytest.importorskip("pandas")
    months = pandas.period_range("1970-02", periods=3, freq="M")
    frame = pandas.DataFrame({"id": ["1", "2", "3"], "month": months})
    assert "`month`" in refused(pair, frame, "month")
    assert "pandas.period" in refused(pair, frame, "month")
    ann, bob = pair
    joined, _ = psijoin.together(lambda: ann.receive(frame, on="id"), lambda: bob.send(["2", "4"]))
    assert joined.rows.equals(frame[1:2])
    assert joined.rows["month"].dtype == frame["month"].dtype


def test_periods_are_not_given(pair: Pair) -> None:
    """The other party would get numbers."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["1"], "month": pandas.period_range("1970-02", periods=1, freq="M")})
    ann, bob = pair
    with pytest.raises(psijoin.InputError, match=r"`month`.*pandas\.period"):
        psijoin.together(
            lambda: ann.receive(["1"], take="all"),
            lambda: bob.send(frame, on="id", give="month"),
        )


def test_polars_types_nobody_reads_come_back(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "id": ["1", "2"],
            "wide": polars.Series([2**100, -1], dtype=polars.Int128),
            "short": polars.Series(["a", "b"], dtype=polars.Categorical),
            "while": polars.Series([1, 2], dtype=polars.Duration("us")),
            "all": polars.Series([[1], []], dtype=polars.List(polars.Int8)),
        }
    )
    ann, bob = pair
    joined, _ = psijoin.together(lambda: ann.receive(frame, on="id"), lambda: bob.send(["2"]))
    assert joined.rows.equals(frame[1:])
    assert joined.rows.schema == frame.schema


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_polars_texts_of_few_words_are_keys(pair: Pair, kind: str) -> None:
    polars = pytest.importorskip("polars")
    dtype = polars.Enum(["1", "2"]) if kind == "Enum" else polars.Categorical
    frame = polars.DataFrame({"id": polars.Series(["2", "1", None], dtype=dtype)})
    ann, bob = pair
    joined, _ = psijoin.together(lambda: ann.receive(frame, on="id"), lambda: bob.send(["1"]))
    assert joined.rows.equals(frame[1:2])


def test_polars_durations_are_no_keys(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": polars.Series([1], dtype=polars.Duration("ms"))})
    assert "`id`" in refused(pair, frame)


class Celsius(pyarrow.ExtensionType):  # type: ignore[misc, name-defined]
    """A type that nobody else knows."""

    def __init__(self) -> None:
        super().__init__(pyarrow.int64(), "test.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> "Celsius":
        return cls()


def test_unknown_extensions_are_no_keys_and_come_back(pair: Pair) -> None:
    degrees = pyarrow.ExtensionArray.from_storage(Celsius(), pyarrow.array([1, 2], pyarrow.int64()))
    table = pyarrow.table({"id": ["1", "2"], "degrees": degrees})
    said = refused(pair, table, "degrees")
    assert "`degrees`" in said
    assert "test.celsius" in said
    ann, bob = pair
    joined, _ = psijoin.together(lambda: ann.receive(table, on="id"), lambda: bob.send(["2"]))
    # Extensions that pyarrow has not registered come back as what it makes of them.
    field = joined.rows.schema.field("degrees")
    assert field.type == Celsius() or field.metadata[b"ARROW:extension:name"] == b"test.celsius"
    assert joined.rows.num_rows == 1


@pytest.mark.parametrize(
    ("extension", "storage", "key"),
    [
        (pyarrow.uuid(), pyarrow.array([bytes(16), bytes(range(16))], pyarrow.binary(16)), "00010203-0405-0607-0809-0A0B0C0D0E0F"),
        (pyarrow.bool8(), pyarrow.array([0, 3], pyarrow.int8()), "true"),
        (pyarrow.json_(), pyarrow.array(["{}", "[1]"]), "[1]"),
    ],
    ids=["uuid", "bool8", "json"],
)
def test_canonical_extensions_are_keys(pair: Pair, extension: Any, storage: Any, key: str) -> None:
    table = pyarrow.table({"id": pyarrow.ExtensionArray.from_storage(extension, storage), "n": [1, 2]})
    rule = "uuid" if extension == pyarrow.uuid() else "bool" if extension == pyarrow.bool8() else None
    theirs: Any = {"normalize": {"key": rule}} if rule else {}
    ann, bob = pair
    joined, _ = psijoin.together(lambda: ann.receive(table, on="id"), lambda: bob.send([key], **theirs))
    assert joined.rows["n"].to_pylist() == [2]


def test_opaque_values_are_no_keys(pair: Pair) -> None:
    opaque = pyarrow.opaque(pyarrow.int64(), "geometry", "somebody")
    column = pyarrow.ExtensionArray.from_storage(opaque, pyarrow.array([1], pyarrow.int64()))
    assert "arrow.opaque" in refused(pair, pyarrow.table({"id": column}))
