"""Whatever comes across the border from Python ends in an exception with words, and never in a
panic.
"""

import ctypes
import pathlib
from collections.abc import Callable
from typing import Any

import psijoin
import pytest
from parties import Pair
from psijoin import _psijoin


class Stream:
    """An object whose stream is whatever a function returns."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.make()


class Unlike:
    """Has a stream that takes other arguments."""

    def __arrow_c_stream__(self, one: int, more: int) -> object:
        raise AssertionError


def consumed() -> object:
    """A stream that somebody has read already."""
    capsule: object = texts().__arrow_c_stream__()
    with pytest.raises(psijoin.Error):
        received(Stream(lambda: capsule))
    return capsule


def texts() -> Any:
    return _psijoin.Rows.of_texts("id", ["a", "b"])


def empty() -> object:
    """A stream of zeros, which says that it was released."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule: object = make(ctypes.addressof(ZEROS), STREAM.value, None)
    return capsule


ZEROS = ctypes.create_string_buffer(64)
STREAM = ctypes.create_string_buffer(b"arrow_array_stream")


def fails() -> object:
    raise RuntimeError("no stream today")


def received(table: object, **options: Any) -> object:
    """Returns what becomes of a table if nobody is at the other end."""
    with psijoin.local_pair(threads=1, wait=1, progress=False) as (ann, _):
        return ann.receive(table, **options).rows


NO_TABLES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "nothing": (lambda: None, TypeError, "a table is"),
    "a number": (lambda: 3, TypeError, "a table is"),
    "a text": (lambda: "abc", TypeError, "a table is"),
    "a dictionary": (lambda: {"id": ["a"]}, TypeError, "a table is"),
    "numbers": (lambda: [1, 2], TypeError, "str"),
    "a text and nothing": (lambda: ["a", None], TypeError, "str"),
    "half of a character": (lambda: ["\ud800"], UnicodeEncodeError, "surrogates"),
    "a stream that raises": (lambda: Stream(fails), RuntimeError, "no stream today"),
    "no stream": (lambda: Stream(lambda: None), TypeError, "capsule"),
    "a number for a stream": (lambda: Stream(lambda: 3), TypeError, "capsule"),
    "another method": (Unlike, TypeError, "argument"),
    "a class": (lambda: Stream, TypeError, "argument"),
    "a stream that is consumed": (lambda: Stream(consumed), ValueError, "released"),
    "a stream of zeros": (lambda: Stream(empty), ValueError, "released"),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table(name: str) -> None:
    make, error, words = NO_TABLES[name]
    with pytest.raises((error, psijoin.InputError)) as raised:
        received(make())
    assert "panic" not in str(raised.value).lower()
    # The other library's exception is the cause.
    reason = raised.value.__cause__ or raised.value
    assert isinstance(reason, error)
    assert words in str(reason)


def test_tables_that_make_no_sense() -> None:
    pyarrow = pytest.importorskip("pyarrow")

    def lies() -> Any:
        schema = pyarrow.schema([pyarrow.field("id", pyarrow.string(), nullable=False)])
        return pyarrow.table([pyarrow.array(["a", None])], schema=schema)

    def fails_later() -> Any:
        def batches() -> Any:
            yield pyarrow.record_batch({"id": ["a"]})
            raise ValueError("near the key b")

        return pyarrow.RecordBatchReader.from_batches(
            pyarrow.schema({"id": pyarrow.string()}), batches()
        )

    def without_columns() -> Any:
        return pyarrow.Table.from_struct_array(pyarrow.array([{}, {}], pyarrow.struct([])))

    twice = pyarrow.table([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["id", "id"])
    for table, words in (
        (lies(), "cannot read the table"),
        (fails_later(), "what gives its rows has failed"),
        (without_columns(), "0 columns"),
        (pyarrow.table({}), "0 columns"),
        (twice, "key columns have to be named"),
        (pyarrow.chunked_array([["a", "b"]]), "no Arrow data"),
    ):
        with pytest.raises(psijoin.InputError, match=words) as raised:
            received(table)
        assert "key b" not in str(raised.value)


def test_a_table_of_many_columns(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    names = [f"c{number}" for number in range(20_000)]
    mine = pyarrow.table([pyarrow.array(["a", "b"])] * len(names), names=names)
    ann, bob = pair
    rows, _ = psijoin.together(lambda: ann.receive(mine, on="c7"), lambda: bob.send(["b"]))
    assert rows.rows.equals(mine.slice(1))


NAMES = [" ", ",", '"', '""', "a,b", 'a","b', "a=b", "--key", "ß", "\U0001f600", "all"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_columns(pair: Pair, name: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    mine = pyarrow.table({"other": [1, 2], name: ["a", "b "]})
    theirs = pyarrow.table({"id": ["b", "a"], name: [3, 4]})
    ann, bob = pair
    rows, _ = psijoin.together(
        lambda: ann.receive(mine, on=name, take=[name], normalize={name: "trim"}),
        lambda: bob.send(theirs, on="id", give=[name]),
    )
    assert rows.rows.column_names == ["other", name, f"partner_{name}"]
    assert rows.rows.column(2).to_pylist() == [4, 3]


def test_a_column_called_all(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    theirs = pyarrow.table({"id": ["b"], "all": [1], "more": [2]})
    ann, bob = pair
    mine = pyarrow.table({"id": ["b"]})
    rows, _ = psijoin.together(
        lambda: ann.receive(mine, take=["all"]),
        lambda: bob.send(theirs, on="id", give=["all", "more"]),
    )
    assert rows.rows.column_names == ["id", "all"]


def test_keys_that_cannot_be_read(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    mine = pyarrow.table({"id": ["1", "x", "02", "nan"]})
    ann, bob = pair
    rows, _ = psijoin.together(
        lambda: ann.receive(mine, on="id", normalize={"id": "null:common+number"}, bad_keys="null:25%"),
        lambda: bob.send(["1", "2"], normalize={"key": "number"}),
    )
    assert rows.rows.equals(mine.take([0, 2]))
    table = rows.report["table"]
    assert (table["rows_without_key"], table["rows_with_bad_key"]) == (2, 1)
    assert [place["row"] for place in table["bad_keys"][0]["first"]] == [2]


@pytest.mark.parametrize("column", ["land", "land+code"])
@pytest.mark.parametrize("then", ["", "+sha256", "+trim", "+trim+sha256"])
def test_each_row_has_its_country(pair: Pair, column: str, then: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    phones = ["030 1234567", "(202) 555-0123"]
    # A column that Arrow does not have, and that nobody reads.
    mine = pandas.DataFrame({column: ["DE", "US"], "tel": phones, "other": [object(), 1]})
    ann, bob = pair
    rows, _ = psijoin.together(
        lambda: ann.receive(mine, on="tel", normalize={"tel": f"phone:column:{column}{then}"}),
        lambda: bob.send(["+12025550123"], normalize={"key": f"phone:DE{then}"}),
    )
    assert rows.rows.equals(mine[1:])


@pytest.mark.parametrize("name", ["", "line\nfeed"])
def test_names_of_the_key_alone(pair: Pair, name: str) -> None:
    """Such columns are not given."""
    pyarrow = pytest.importorskip("pyarrow")
    mine = pyarrow.table({"other": [1, 2], name: ["a", "b "]})
    ann, bob = pair
    rows, _ = psijoin.together(
        lambda: ann.receive(mine, on=name, normalize={name: "trim"}), lambda: bob.send(["b"])
    )
    assert rows.rows.equals(mine.slice(1))
    with pytest.raises(psijoin.InputError, match="cannot be shared with the partner"):
        bob.send(mine, on="other", give=[name])


WRONG: list[dict[str, Any]] = [
    {"on": []},
    {"on": ["id", "id"]},
    {"on": ""},
    {"on": "\0"},
    {"on": "\ud800"},
    {"on": b"id"},
    {"on": 3},
    {"on": ["id", None]},
    {"give": []},
    {"give": "id"},
    {"take": 3},
    {"normalize": {"id": "none"}},
    {"normalize": {"": "email"}},
    {"normalize": "email"},
    {"normalize": {"id": "date:%"}},
    {"normalize": {"id": "timestamp:Nowhere"}},
    {"normalize": {"id": "sha256+trim"}},
    {"bad_keys": "drop"},
    {"rows": "some"},
    {"rows": "\ud800"},
    {"learn": ""},
    {"align": 1},
    {"output": ""},
    {"output": "\0"},
    {"output": "/"},
    {"output": pathlib.Path("rows.nonsense")},
    {"protocol": "x"},
    {"min_intersection": 0},
    {"min_intersection": 2**64},
    {"max_peer_keys": "1e99"},
    {"deadline": 10**30},
    {"deadline": float("nan")},
    {"parts": 10**9},
    {"job": "/proc/none"},
    {"record": "/proc/none/record.json"},
    {"terms": "/proc/none"},
    {"help": True},
    {"version": True},
    {"json": True},
    {"insecure_plaintext": True},
    {"output_kind": "shares"},
    {"output_kind": "threshold:0"},
    {"output_kind": object()},
    {"": 1},
    {"a b": 1},
    {"-": 1},
    {"\n": "x"},
    {"repeated": "x"},
    {"give_bytes": 10**9},
    {"take": "all", "take_rows": 0},
    {"take": "all", "take_bytes": 10**9},
    {"take_rows": 3},
    {"allow_sums_that_reveal_keys": True},
    {"listen": "x"},
    {"timeout": 5},
]


@pytest.mark.parametrize("options", WRONG, ids=repr)
def test_wrong_options(options: dict[str, Any]) -> None:
    kinds = (psijoin.UsageError, psijoin.InputError, TypeError, UnicodeEncodeError)
    with pytest.raises(kinds) as raised:
        received(texts(), **options)
    assert str(raised.value)


LIMITS: list[dict[str, Any]] = [
    {"wait": -1},
    {"wait": 10**20},
    {"threads": 0},
    {"threads": 1_000_000},
    {"memory": "1"},
    {"memory": "much"},
    {"timeout": 0},
    {"timeout": 1.5},
    {"peer": "x y"},
    {"peer": "psi1-\ud800"},
    {"connect": ""},
    {"connect": "localhost"},
    {"connect": "localhost:99999"},
]


@pytest.mark.parametrize("limits", LIMITS, ids=repr)
def test_wrong_sessions(
    identities: tuple[psijoin.Identity, psijoin.Identity], limits: dict[str, Any]
) -> None:
    ann, bob = identities
    right = {"identity": ann, "peer": bob.fingerprint, "connect": "127.0.0.1:1", "wait": 1}
    with pytest.raises(psijoin.UsageError) as raised:
        psijoin.Session(**{**right, **limits})
    assert "`" + next(iter(limits)) + "`" in str(raised.value)
