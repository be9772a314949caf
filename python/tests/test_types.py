"""One value is one key, whatever its type, and whatever holds it: data frames here, files of the
program at the other end.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kinds
import psijoin
import pytest
from kinds import MINE, THEIRS, Kind, cells, shared
from parties import OTHER, PATIENCE, Pair, Role, free_address, program

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

Identities = tuple[psijoin.Identity, psijoin.Identity]

# Its name in pyarrow, and values of it.
TYPES: dict[str, tuple[Any, Kind]] = {
    "string": (pyarrow.string(), kinds.TEXT),
    "large_string": (pyarrow.large_string(), kinds.TEXT),
    "string_view": (pyarrow.string_view(), kinds.TEXT),
    "dictionary": (pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), kinds.TEXT),
    "dictionary of large texts": (
        pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string()),
        kinds.TEXT,
    ),
    "dictionary of integers": (
        pyarrow.dictionary(pyarrow.uint16(), pyarrow.int64()),
        kinds.INTEGER,
    ),
    "int8": (pyarrow.int8(), kinds.INTEGER),
    "int16": (pyarrow.int16(), kinds.INTEGER),
    "int32": (pyarrow.int32(), kinds.INTEGER),
    "int64": (pyarrow.int64(), kinds.INTEGER),
    "uint8": (pyarrow.uint8(), kinds.NATURAL),
    "uint16": (pyarrow.uint16(), kinds.NATURAL),
    "uint32": (pyarrow.uint32(), kinds.NATURAL),
    "uint64": (pyarrow.uint64(), kinds.LARGEST),
    "float16": (pyarrow.float16(), kinds.FLOAT),
    "float32": (pyarrow.float32(), kinds.FLOAT),
    "float64": (pyarrow.float64(), kinds.FLOAT),
    "decimal32": (pyarrow.decimal32(6, 2), kinds.DECIMAL),
    "decimal64": (pyarrow.decimal64(12, 2), kinds.DECIMAL),
    "decimal128": (pyarrow.decimal128(38, 9), kinds.DECIMAL),
    "decimal256": (pyarrow.decimal256(60, 3), kinds.DECIMAL),
    "bool": (pyarrow.bool_(), kinds.BOOLEAN),
    "date32": (pyarrow.date32(), kinds.DATE),
    "date64": (pyarrow.date64(), kinds.DATE),
    "timestamp[s]": (pyarrow.timestamp("s"), kinds.TIMESTAMP),
    "timestamp[ms]": (pyarrow.timestamp("ms"), kinds.FINE_TIMESTAMP),
    "timestamp[us]": (pyarrow.timestamp("us"), kinds.FINE_TIMESTAMP),
    "timestamp[ns]": (pyarrow.timestamp("ns"), kinds.FINE_TIMESTAMP),
    "timestamp[s, UTC]": (pyarrow.timestamp("s", "UTC"), kinds.ZONED_SECONDS),
    "timestamp[ms, +02:00]": (pyarrow.timestamp("ms", "+02:00"), kinds.ZONED),
    "timestamp[us, Europe/Berlin]": (pyarrow.timestamp("us", "Europe/Berlin"), kinds.ZONED),
    "timestamp[ns, UTC]": (pyarrow.timestamp("ns", "UTC"), kinds.ZONED),
    "time32[s]": (pyarrow.time32("s"), kinds.TIME),
    "time32[ms]": (pyarrow.time32("ms"), kinds.FINE_TIME),
    "time64[us]": (pyarrow.time64("us"), kinds.FINE_TIME),
    "time64[ns]": (pyarrow.time64("ns"), kinds.FINE_TIME),
    "binary": (pyarrow.binary(), kinds.BINARY),
    "large_binary": (pyarrow.large_binary(), kinds.BINARY),
    "binary_view": (pyarrow.binary_view(), kinds.BINARY),
    "fixed_size_binary": (pyarrow.binary(16), kinds.SIXTEEN),
    "uuid": (pyarrow.uuid(), kinds.UUID),
    "null": (pyarrow.null(), Kind((None,) * 4, ("",) * 4)),
}


def table(data_type: Any, kind: Kind, holds: Sequence[int | None], rows: Sequence[int]) -> Any:
    """These rows of a table: keys of this type in two chunks, and the numbers of the rows."""
    values = pyarrow.array(cells(kind.values, [holds[row] for row in rows]), data_type)
    keys = pyarrow.chunked_array([values[:2], values[2:]], data_type)
    return pyarrow.table({"id": keys, "row": pyarrow.array(rows, pyarrow.int64())})


def plain(data_type: Any) -> Any:
    """The type in which rows come back: that of a dictionary's values."""
    return data_type.value_type if pyarrow.types.is_dictionary(data_type) else data_type


def decoded(rows: Any) -> Any:
    """The rows, with values for dictionaries."""
    types = [plain(field.type) for field in rows.schema]
    return rows.cast(pyarrow.schema(zip(rows.column_names, types, strict=True)))


def write_csv(rows: Any, kind: Kind, path: Path) -> None:
    """The texts of the keys, as a program would write them that knows only texts."""
    texts = [text or "" for text in cells(kind.texts, THEIRS)]
    lines = ('"' + text.replace('"', '""') + f'",{row}\n' for row, text in enumerate(texts))
    path.write_text("id,row\n" + "".join(lines))


def write_parquet(rows: Any, kind: Kind, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(rows, path)


def write_arrow(rows: Any, kind: Kind, path: Path) -> None:
    with pyarrow.ipc.new_file(path, rows.schema) as file:
        file.write_table(rows)


def read_csv(path: Path) -> list[int]:
    from pyarrow import csv

    rows: list[int] = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))[
        "row"
    ].to_pylist()
    return rows


def read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


def read_arrow(path: Path) -> Any:
    with pyarrow.ipc.open_file(path) as file:
        return file.read_all()


WRITE: dict[str, Callable[[Any, Kind, Path], None]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "arrow": write_arrow,
}
READ: dict[str, Callable[[Path], Any]] = {"parquet": read_parquet, "arrow": read_arrow}


@pytest.mark.parametrize("role", ["receive", "send"])
@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.parametrize("name", TYPES)
def test_types_against_files(
    tmp_path: Path, identities: Identities, name: str, ending: str, role: Role
) -> None:
    data_type, kind = TYPES[name]
    ann, bob = identities
    theirs, output = tmp_path / f"theirs.{ending}", tmp_path / f"output.{ending}"
    WRITE[ending](table(data_type, kind, THEIRS, range(5)), kind, theirs)
    address = free_address()
    trust = ["--identity", bob.path, "--peer", ann.fingerprint]
    does = [
        OTHER[role],
        "--connect",
        address,
        *trust,
        "--input",
        str(theirs),
        "--key",
        "id",
        "--threads",
        "1",
    ]
    running = program(*does, *(["--output", str(output)] if role == "send" else []))
    session = psijoin.Session(
        identity=ann, peer=bob.fingerprint, listen=address, threads=1, progress=False
    )
    mine = table(data_type, kind, MINE, range(5))
    rows = getattr(session, role)(mine, on="id").rows
    said = running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 0, said
    if role == "receive":
        assert rows.equals(table(plain(data_type), kind, MINE, shared(kind, MINE, THEIRS)))
        return
    assert rows is None
    expected = shared(kind, THEIRS, MINE)
    if ending == "csv":
        assert read_csv(output) == expected
    else:
        # A Parquet file has no seconds, and some other types only as types that are like them.
        schema = decoded(READ[ending](theirs)).schema
        written = table(plain(data_type), kind, THEIRS, expected).cast(schema)
        assert decoded(READ[ending](output)).equals(written)


PLAIN = Kind(("ann", "Straße", "x y", "zoe"), ("ann", "Straße", "x y", "zoe"))
"""Texts that need no quotes."""

TEXT_FILES = {"txt": None, "tsv": None, "csv.gz": "gzip", "csv.zst": "zstd", "tsv.gz": "gzip"}
"""Endings, and how files with them are compressed."""


@pytest.mark.parametrize("role", ["receive", "send"])
@pytest.mark.parametrize("ending", TEXT_FILES)
def test_texts_against_files_of_text(
    tmp_path: Path, identities: Identities, ending: str, role: Role
) -> None:
    ann, bob = identities
    header = "" if ending == "txt" else "id\n"
    lines = [f"{text or ''}\n" for text in cells(PLAIN.texts, THEIRS)]
    theirs, output = tmp_path / f"theirs.{ending}", tmp_path / f"output.{ending}"
    with pyarrow.output_stream(theirs, compression=TEXT_FILES[ending]) as file:
        file.write((header + "".join(lines)).encode())
    address = free_address()
    trust = ["--identity", bob.path, "--peer", ann.fingerprint]
    writes = ["--output", str(output)] if role == "send" else []
    running = program(OTHER[role], "--connect", address, *trust, "--input", str(theirs), *writes)
    session = psijoin.Session(
        identity=ann, peer=bob.fingerprint, listen=address, threads=1, progress=False
    )
    rows = getattr(session, role)([text or "" for text in cells(PLAIN.texts, MINE)]).rows
    said = running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 0, said
    if role == "receive":
        mine = cells(PLAIN.texts, MINE)
        assert rows == [mine[row] for row in shared(PLAIN, MINE, THEIRS)]
        return
    with pyarrow.input_stream(output, compression=TEXT_FILES[ending]) as file:
        written = file.read().decode()
    assert written == header + "".join(lines[row] for row in shared(PLAIN, THEIRS, MINE))


REFUSED: dict[str, Any] = {
    "list": pyarrow.array([[1], None], pyarrow.list_(pyarrow.int8())),
    "struct": pyarrow.array([{"a": 1}, None]),
    "map": pyarrow.array([[("a", 1)], None], pyarrow.map_(pyarrow.string(), pyarrow.int8())),
    "duration": pyarrow.array([1, None], pyarrow.duration("s")),
    "fractions": pyarrow.array([0.5, None]),
    "rounded integers": pyarrow.array([2.0**53, None]),
}
"""The types that cannot be a key."""


@pytest.mark.parametrize("role", ["receive", "send"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_key_is_refused_alike(
    tmp_path: Path, pair: Pair, name: str, role: Role
) -> None:
    mine = pyarrow.table({"id": REFUSED[name]})
    path = tmp_path / "mine.arrow"
    write_arrow(mine, kinds.TEXT, path)
    running = program("keys", str(path), "--key", "id")
    said = running.communicate(timeout=PATIENCE)[1]
    ann, bob = pair
    with ThreadPoolExecutor() as threads:
        other = threads.submit(getattr(bob, OTHER[role]), ["a"])
        with pytest.raises(psijoin.InputError) as raised:
            getattr(ann, role)(mine, on="id")
        assert isinstance(other.exception(), psijoin.PeerFailedError)
    assert running.returncode == raised.value.code == 3
    # The program says on a line of its own what to do.
    message = str(raised.value).split(" (bad_keys")[0]
    assert message in said.replace(str(path), "the table")


def given_type(data_type: Any) -> Any:
    """The type in which a column of this type comes to the other party:
    crates/table/src/share.rs.
    """
    like = {
        pyarrow.large_string(): pyarrow.string(),
        pyarrow.string_view(): pyarrow.string(),
        pyarrow.large_binary(): pyarrow.binary(),
        pyarrow.binary_view(): pyarrow.binary(),
    }
    data_type = plain(data_type)
    return like.get(data_type, data_type)


GIVEN = {name: of for name, of in TYPES.items() if name not in ("float16", "null")}
"""The types of columns that can be given."""


def give(rows: Sequence[int]) -> Any:
    """A column of each type that can be given, with values and a null: these rows."""
    holds = (3, None, 1, 0, 2)
    columns = {
        name: pyarrow.array(cells(kind.values, [holds[row] for row in rows]), data_type)
        for name, (data_type, kind) in GIVEN.items()
    }
    return pyarrow.table({"id": [f"key {row}" for row in rows], **columns})


def taken(rows: Any) -> Any:
    """These rows as the other party has them, whose key is `id`, too."""
    return rows.cast(
        pyarrow.schema([(field.name, given_type(field.type)) for field in rows.schema])
    )


NAMES = ",".join(f'"{name}"' for name in GIVEN)


@pytest.mark.parametrize("ending", READ)
def test_columns_of_all_types_are_taken(
    tmp_path: Path, identities: Identities, ending: str
) -> None:
    ann, bob = identities
    path = tmp_path / f"theirs.{ending}"
    WRITE[ending](give(range(5)), kinds.TEXT, path)
    address = free_address()
    trust = ["--identity", bob.path, "--peer", ann.fingerprint]
    running = program(
        "send", "--connect", address, *trust, "--input", str(path), "--key", "id", "--give", NAMES
    )
    session = psijoin.Session(
        identity=ann, peer=bob.fingerprint, listen=address, threads=1, progress=False
    )
    mine = pyarrow.table({"id": ["key 2", "x", "key 1"]})
    rows = session.receive(mine, on="id", take="all").rows
    assert running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 0
    # A Parquet file of pyarrow's says that it had date64. pyarrow itself reads date32.
    unlike = ["date64"] if ending == "parquet" else []
    assert rows.drop(unlike).equals(taken(READ[ending](path)).take([2, 1]).drop(unlike))


@pytest.mark.parametrize("ending", READ)
def test_columns_of_all_types_are_given(
    tmp_path: Path, identities: Identities, ending: str
) -> None:
    ann, bob = identities
    path, output = tmp_path / "theirs.csv", tmp_path / f"output.{ending}"
    path.write_text("id\nkey 2\nx\nkey 1\n")
    address = free_address()
    trust = ["--identity", bob.path, "--peer", ann.fingerprint]
    table = ["--input", str(path), "--key", "id", "--take", "all", "--output", str(output)]
    running = program("receive", "--connect", address, *trust, *table)
    session = psijoin.Session(
        identity=ann, peer=bob.fingerprint, listen=address, threads=1, progress=False
    )
    session.send(give(range(5)), on="id", give=list(GIVEN))
    assert running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 0
    expected = tmp_path / f"expected.{ending}"
    WRITE[ending](taken(give([2, 1])), kinds.TEXT, expected)
    # A key of CSV is never null.
    written, expected_rows = (READ[ending](file).drop(["id"]) for file in (output, expected))
    assert written.equals(expected_rows)
