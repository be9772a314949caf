"""Two Sparks join in lanes. No key, and none of the secrets that tasks get, is in files: in logs,
in plans, and at any time in the folder `work`.
"""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import parties
import psijoin
import pyarrow
import pytest
from parties import PATIENCE, python, relay
from psijoin import lanes
from psijoin.spark import _blocks
from pyarrow import parquet

RUN = """
import contextlib, io, json, shutil, sys, psijoin, psijoin.spark
from pathlib import Path
from pyspark.sql import SparkSession
from psijoin.spark import _blocks, _lanes, _tasks, _work
sys.path.insert(0, sys.argv[1])
from parties import meeting

both = meeting(Path(sys.argv[2]), sys.argv[4])
role, folder = sys.argv[3], Path(sys.argv[2]) / sys.argv[3]
secrets = []

class Veil(_blocks.Veil):
    def __init__(self, key):
        secrets.append(key)
        super().__init__(key)

class Blocks(_blocks.Blocks):
    def __init__(self, *keys):
        secrets.extend(keys)
        super().__init__(*keys)

class Running(_tasks.Running):
    def __init__(self, ticket, blocks, proxy):
        secrets.extend([bytes(ticket), bytes(ticket.of_lane(1))])
        super().__init__(ticket, blocks, proxy)

class Work(_work.Work):
    def _remove(self, name=None):
        path = Path((self._path if name is None else self._place(name)).toUri().getPath())
        shutil.copytree(path, folder / "seen" / str(len(secrets)) / path.name)
        super()._remove(name)

_lanes.Veil, _lanes.Blocks, _tasks.Running, _lanes.Work = Veil, Blocks, Running, Work
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
builder = builder.config("spark.eventLog.enabled", True).config("spark.eventLog.dir", f"file://{folder}/log")
builder = builder.config("spark.eventLog.compress", False).config("spark.sql.shuffle.partitions", 2)
# Plans say all that they can.
builder = builder.config("spark.sql.maxMetadataStringLength", 100_000).config("spark.sql.debug.maxToStringFields", 1_000)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("INFO")
table = spark.read.parquet(str(folder / "table.parquet"))
common = {"on": "id", "lanes": 2, "work": f"file://{folder}/work"}
by = ["receiver.kind", "sender.kind"]
if role == "ann":
    columns = {"learn": "both", "take": "all", "give": "word", "repeated": "list:3"}
    joined = psijoin.spark.receive(table, **columns, **common, **both.ann)
    learned = psijoin.spark.sum(table, columns="receiver.row", **common, **both.ann).sums
    groups = psijoin.spark.grouped(table, by=by, min_group=2, **common, **both.ann).groups.collect()
else:
    columns = {"learn": "both", "take": "all", "give": "word"}
    joined = psijoin.spark.send(table, **columns, **common, **both.bob)
    kind = {"output_kind": ("sum", "receiver.row"), "allow_sums_that_reveal_keys": True}
    learned = psijoin.spark.send(table, **kind, **common, **both.bob).rows or {}
    kind = {"output_kind": "counts", "group_by": by, "min_group": 2}
    groups = psijoin.spark.send(table, **kind, **common, **both.bob).rows or []
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    for mode in ("simple", "extended", "codegen", "cost", "formatted"):
        joined.rows.explain(mode=mode)
print(json.dumps({
    "rows": [[row.row, row.partner_word] for row in joined.rows.orderBy("row", "partner_word").collect()],
    "learned": [str(value) for value in learned.values()],
    "groups": [list(group)[:3] for group in groups],
    "explained": shown.getvalue(),
    "secrets": [secret.hex() for secret in secrets],
    "there": [path.name for path in (folder / "work").glob("*/*")],
}))
spark.stop()
"""

PIECE = 32
"""The bytes of a secret that nothing else has by chance."""


def test_two_sparks(tmp_path: Path) -> None:
    place = relay()
    parties.meeting(tmp_path, place)
    tables = {
        "ann": pyarrow.table({"id": [f"psiKEY{row % 1_000}" for row in range(3_000)], "row": range(3_000)}),
        "bob": pyarrow.table({"id": [f"psiKEY{2 * row}" for row in range(1_000)], "row": range(1_000)}),
    }
    for role, table in tables.items():
        words = [f"psiWORD{role}{row:04}" for row in range(len(table))]
        kinds = [f"psiKIND{role}{key.removeprefix('psiKEY')[-1:]}" for key in table["id"].to_pylist()]
        tables[role] = table.append_column("word", pyarrow.array(words)).append_column("kind", pyarrow.array(kinds))
    running = {}
    for role, table in tables.items():
        folder = tmp_path / role
        (folder / "work").mkdir(parents=True)
        (folder / "log").mkdir()
        parquet.write_table(table, folder / "table.parquet")
        here = str(Path(__file__).parent.parent)
        running[role] = python("-c", RUN, here, str(tmp_path), role, place)
    shared = [row for row in range(3_000) if row % 2 == 0]
    expected = {
        "ann": [[row, f"psiWORDbob{row % 1_000 // 2:04}"] for row in shared],
        "bob": [[row, f"psiWORDann{2 * row + 1_000 * other:04}"] for row in range(500) for other in range(3)],
    }
    both = itertools.product(range(10), range(0, 10, 2))
    groups = [[f"psiKINDann{own}", f"psiKINDbob{other}", 100 if own == other else None] for own, other in both]
    for role, party in running.items():
        told, said = ended(party)
        assert told["rows"] == expected[role]
        assert told["learned"] == ([str(sum(shared))] if role == "ann" else [])
        assert told["groups"] == (groups if role == "ann" else [])
        # What the rows are read from, as long as Spark's driver runs.
        assert told["there"] == ["found"]
        folder = tmp_path / role
        assert list((folder / "work").iterdir()) == []
        written = [path for part in ("log", "seen") for path in (folder / part).rglob("*") if path.is_file()]
        assert any("keys" in path.parts for path in written)
        contents = [said, told["explained"].encode(), *(path.read_bytes() for path in written)]
        assert b"MapInArrow" in b"".join(contents)
        for piece in [b"psiKEY", b"psiWORD", b"psiKIND", *pieces(tables[role], told["secrets"])]:
            assert not [content for content in contents if piece in content]


def ended(party: "subprocess.Popen[str]") -> tuple[dict[str, Any], bytes]:
    """What a process has told at its end, and its log."""
    said, errors = party.communicate(timeout=10 * PATIENCE)
    assert party.returncode == 0, errors
    return json.loads(said.splitlines()[-1]), errors.encode()


def pieces(table: pyarrow.Table, secrets: list[str]) -> set[bytes]:
    """Fingerprints of keys, and pieces of these secrets, as they are and in hexadecimal digits."""
    fingerprints = pyarrow.array(lanes.keys_of(table, "id")).to_pylist()[:500]
    secret = [bytes.fromhex(digits) for digits in secrets]
    # A ticket of a lane, a key of a veil, and what reports are sealed with.
    assert {len(it) > 100 for it in secret} == {True, False}
    cut = {it[start : start + PIECE] for it in secret for start in range(0, len(it), PIECE)}
    plain = {piece for piece in [*fingerprints, *cut] if len(piece) >= 16}
    return {*plain, *(piece.hex().encode() for piece in plain)}


def test_a_veil_hides_keys_and_keeps_them_apart() -> None:
    veil = _blocks.Veil(bytes(range(16)))
    keys = pyarrow.array([*(bytes([row]) * 32 for row in range(200)), None, bytes(32)], pyarrow.binary(32))
    veiled = veil.put_on(keys)
    assert veil.put_on(keys[70:170]).equals(veiled[70:170])
    values = veiled.to_pylist()
    assert values[0] == values[201]
    assert len({*values, *keys.to_pylist()}) == 2 * 200 + 1
    assert not _blocks.Veil(bytes(16)).put_on(keys).equals(veiled)


def test_a_text_is_sealed_for_its_place() -> None:
    blocks = _blocks.Blocks(bytes(range(32)), bytes(16))
    sealed = blocks.seal("part 3", b"keys")
    assert b"keys" not in sealed
    assert blocks.open("part 3", sealed) == b"keys"
    assert blocks.seal("part 3", b"keys") != sealed
    others = ("part 4", sealed), ("part 3", sealed[:-1] + bytes([sealed[-1] ^ 1])), ("part 3", b"")
    for place, other in others:
        with pytest.raises(psijoin.InputError, match="nobody else"):
            blocks.open(place, other)
        with pytest.raises(psijoin.InputError, match="nobody else"):
            blocks.open_rows(place, other)


def test_rows_are_sealed_in_blocks() -> None:
    blocks = _blocks.Blocks(bytes(range(32)), bytes(16))
    rows = pyarrow.table({"key": pyarrow.array([row.to_bytes(32) for row in range(70_000)], pyarrow.binary(32))})
    made = pyarrow.table(blocks.of_rows("found", rows)).to_pylist()
    assert [block["rows"] for block in made] == [32_768, 32_768, 4_464]
    # Rows that are long are fewer.
    wide = rows.slice(0, 8).append_column("given", pyarrow.array([bytes(1 << 20)] * 8))
    assert [block["rows"] for block in pyarrow.table(blocks.of_rows("found", wide)).to_pylist()] == [2] * 4
    assert opened(blocks, "found", made).equals(rows)


def test_equal_keys_have_one_bucket() -> None:
    blocks = _blocks.Blocks(bytes(range(32)), bytes(16))
    keys = pyarrow.array([bytes([row, 7]) * 16 for row in range(200)], pyarrow.binary(32))
    tables = [pyarrow.table({"key": keys, "paid": [row] * 200}) for row in range(2)]
    made = pyarrow.table(blocks.of_buckets(iter(tables), 24)).to_pylist()
    numbers = [block["number"] for block in made]
    assert numbers == sorted(set(numbers)) == list(range(24))
    buckets = {number: [block for block in made if block["number"] == number] for number in numbers}
    read = {number: opened(blocks, f"bucket {number}", found) for number, found in buckets.items()}
    for table in read.values():
        key, paid = table.column("key").to_pylist(), table.column("paid").to_pylist()
        assert sorted(zip(key, paid, strict=True)) == sorted((it, row) for it in set(key) for row in range(2))
    assert sum(table.num_rows for table in read.values()) == 400
    other = _blocks.Blocks(bytes(range(32)), bytes(range(16)))
    assert pyarrow.table(other.of_buckets(iter(tables), 24)).column("rows").to_pylist() != [
        block["rows"] for block in made
    ]


def opened(blocks: _blocks.Blocks, place: str, made: list[dict[str, Any]]) -> pyarrow.Table:
    """The rows in these blocks."""
    tables = [pyarrow.table(blocks.open_rows(place, block["block"])) for block in made]
    assert [table.num_rows for table in tables] == [block["rows"] for block in made]
    return pyarrow.concat_tables(tables).combine_chunks()
