"""Joins in lanes, by an engine of plain processes."""

from __future__ import annotations

import csv
import io
import itertools
import json
import pickle
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import parties
import psijoin
import pytest
from parties import Meeting, Role
from psijoin import _psijoin, lanes

pytest.importorskip("pyarrow")

import engine
import pyarrow
import pyarrow.csv
from engine import Ended, Party

PARTS = 24
KEYS = 3_000

LEAST = 5
"""More keys than are shared of the rare ones."""


def kind_of(seed: int, key: int) -> str | None:
    """The label of a key, in a table."""
    if seed == 1:
        return ("gold", None, "basic, or so")[key % 3]
    return "xy"[key % 2] if key % 700 else "rare"


def table(seed: int, keys: range) -> Any:
    """Rows with random keys out of these, some of them null, some several times, numbers, and a
    label for each key.
    """
    rng = random.Random(seed)
    ids = [str(key) for key in keys if rng.random() < 0.5]
    ids += rng.choices(ids, k=len(ids) // 10)
    rows: list[str | None] = [*ids, *[None] * (len(ids) // 20)]
    rng.shuffle(rows)
    paid = [Decimal(rng.randrange(-10**6, 10**6)).scaleb(-rng.randrange(3)) for _ in rows]
    kinds = ["left out" if key is None else kind_of(seed, int(key)) for key in rows]
    return pyarrow.table({"id": rows, "paid": [str(number) for number in paid], "kind": kinds})


def keys_of(table: Any) -> set[str]:
    return {key for key in table["id"].to_pylist() if key is not None}


def ids_of(table: Any, keys: list[bytes]) -> list[str]:
    """The ids of these keys, by the way back from keys to rows."""
    of_rows = pyarrow.array(lanes.keys_of(table, "id")).to_pylist()
    by_key = dict(zip(of_rows, table["id"].to_pylist()))
    return [by_key[key] for key in keys]


def sum_of(table: Any, ids: set[str]) -> Decimal:
    rows = zip(table["id"].to_pylist(), table["paid"].to_pylist())
    return sum((Decimal(paid) for key, paid in rows if key in ids), Decimal(0))


ANN = table(1, range(KEYS))
BOB = table(2, range(KEYS // 2, KEYS + KEYS // 2))
SHARED = keys_of(ANN) & keys_of(BOB)


def both(meeting: Meeting, kind: str, **options: Any) -> tuple[Party, Party]:
    """Both parties of a join in lanes: Ann receives."""
    asked, _, by = kind.partition(" by ")
    numbers = "paid" if "sum:" in asked else None
    groups = {"group_by": by.split(","), "min_group": LEAST} if by else {}
    options = {"output_kind": asked, "parts": PARTS, **groups, **options}
    allowed = {"allow_sums_that_reveal_keys": True} if numbers else {}
    labels = {role: "kind" if f"{role}.kind" in by else None for role in ("receiver", "sender")}
    return (
        Party("receive", ANN, meeting.ann, numbers=numbers, labels=labels["receiver"], options=options),
        Party(
            "send", BOB, meeting.bob, numbers=numbers, labels=labels["sender"], options={**options, **allowed}, workers=7
        ),
    )


def groups_of(by: str) -> list[dict[str, Any]]:
    """The totals of groups by these columns, but for means."""
    seeds = {"receiver.kind": 1, "sender.kind": 2}
    labels = {
        name: sorted({kind_of(seed, key) for key in range(2100)}, key=lambda label: (label is None, label))
        for name, seed in seeds.items()
    }
    rows = []
    for group in itertools.product(*(labels[name] for name in by.split(","))):
        named = dict(zip(by.split(","), group))
        keys = {key for key in SHARED if all(kind_of(seeds[name], int(key)) == named[name] for name in named)}
        is_shown = len(keys) >= LEAST
        sums = {f"sum:{name}.paid": sum_of(table, keys) for name, table in (("receiver", ANN), ("sender", BOB))}
        totals: dict[str, Any] = {"shared_keys": len(keys), "withheld": False, **sums}
        rows.append({**named, **(totals if is_shown else {**dict.fromkeys(totals), "withheld": True})})
    return rows


def assert_groups(by: str, rows: list[dict[str, Any]]) -> None:
    """Checks the rows of groups, whose means are rounded."""
    for row in rows:
        mean = row.pop("mean:sender.paid")
        if row["withheld"]:
            assert mean is None
        else:
            assert abs(mean * row["shared_keys"] - row["sum:sender.paid"]) < Decimal("0.01")
    assert rows == groups_of(by)
    assert any(row["withheld"] for row in rows) is ("sender" in by)


def assert_exact(kind: str, ended: Any, table: Any) -> None:
    assert isinstance(ended, Ended), ended
    match kind.partition(":")[0]:
        case "rows":
            assert sorted(ids_of(table, ended.keys)) == sorted(SHARED)
            assert f"{len(SHARED):,} shared keys" in ended.statement
        case "count":
            assert ended.learned == len(SHARED)
        case "threshold":
            assert ended.learned is (int(kind.partition(":")[2]) <= len(SHARED))
        case "sum":
            assert ended.learned == {
                "receiver.paid": sum_of(ANN, SHARED),
                "sender.paid": sum_of(BOB, SHARED),
            }
        case "counts,sum":
            assert_groups(kind.partition(" by ")[2], ended.learned)
        case _:
            raise AssertionError(kind)


TOTALS = "counts,sum:receiver.paid,mean:sender.paid"

GROUPED = [f"{TOTALS} by {by}" for by in ("receiver.kind", "sender.kind", "receiver.kind,sender.kind")]

KINDS = ["rows", "count", f"threshold:{len(SHARED)}", "sum:receiver.paid,sender.paid", *GROUPED]


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_join_in_lanes(meeting: Meeting, kind: str) -> None:
    ann, bob = both(meeting, kind, min_intersection=10 if kind.startswith(("count", "sum")) and "by" not in kind else None)
    received, sent = engine.run(ann, bob)
    assert_exact(kind, received, ANN)
    assert isinstance(sent, Ended), sent
    assert sent.keys == [] and sent.learned is None
    assert received.report["sizes"] == sent.report["sizes"]


@pytest.mark.parametrize("in_lanes", ["receive", "send"])
@pytest.mark.parametrize("kind", ["rows", "sum:receiver.paid,sender.paid", *GROUPED])
def test_one_side_joins_in_lanes_and_the_other_is_the_program(
    meeting: Meeting, tmp_path: Path, in_lanes: Role, kind: str
) -> None:
    ann, bob = both(meeting, kind)
    mine, theirs = (ann, bob) if in_lanes == "receive" else (bob, ann)
    running = the_program(theirs, tmp_path)
    [ended] = engine.run(mine)
    shown, told = running.communicate()
    assert running.returncode == 0, told
    if mine.role == "receive":
        assert_exact(kind, ended, ANN)
    else:
        assert isinstance(ended, Ended), ended
        assert ended.learned is None
        if kind == "rows":
            assert ids_in(shown) == SHARED
        if kind in GROUPED:
            assert_groups(kind.partition(" by ")[2], groups_in(shown))


def groups_in(shown: str) -> list[dict[str, Any]]:
    """The groups in rows that the program has written."""

    def value(name: str, text: str) -> Any:
        match name:
            case "shared_keys":
                return int(text)
            case "withheld":
                return text == "true"
            case _:
                return Decimal(text) if ":" in name else text

    rows = csv.DictReader(io.StringIO(shown))
    return [{name: value(name, text) if text else None for name, text in row.items()} for row in rows]


def the_program(party: Party, folder: Path) -> subprocess.Popen[str]:
    """The program, in the place of lanes."""
    csv = folder / "theirs.csv"
    pyarrow.csv.write_csv(party.table, csv)
    place, options = party.meeting, party.options
    ends = ["--relay", place["relay"], "--identity", place["identity"].path, "--peer", place["peer"]]
    table = ["--input", str(csv), "--key", party.on]
    told = [
        argument
        for name in ("output_kind", "parts", "min_intersection", "give", "repeated", "group_by", "min_group")
        if name in options
        for argument in (f"--{name.replace('_', '-')}", text_of(options[name]))
    ]
    sums = ["--allow-sums-that-reveal-keys"] if "allow_sums_that_reveal_keys" in options else []
    return parties.program(party.role, *ends, *table, *told, *sums, "--wait", "600", "--threads", "2")


def text_of(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def ids_in(shown: str) -> set[str]:
    """The ids in rows that the program has written."""
    as_text = pyarrow.csv.ConvertOptions(column_types={"id": pyarrow.string()})
    return keys_of(pyarrow.csv.read_csv(io.BytesIO(shown.encode()), convert_options=as_text))


def test_a_session_joins_with_lanes(meeting: Meeting) -> None:
    """It need not know of them: few keys are two parts then."""
    party = Party("receive", ANN, meeting.ann)
    engines = engine.Engine(party)
    try:
        engines.started()
        sent = psijoin.Session(**meeting.bob).send(BOB, on="id")
        ended = engines.ended()
    finally:
        engines.kill()
    assert_exact("rows", ended, ANN)
    assert isinstance(ended, Ended) and sent.report["sizes"] == ended.report["sizes"]


def test_nothing_runs_if_the_result_follows_from_the_sizes(meeting: Meeting) -> None:
    nobody = pyarrow.table({"id": pyarrow.array([None], pyarrow.string())})
    ann, bob = Party("receive", nobody, meeting.ann), Party("send", BOB, meeting.bob)
    received, sent = engine.run(ann, bob)
    assert isinstance(received, Ended) and isinstance(sent, Ended), (received, sent)
    assert received.keys == []


def test_fewer_keys_than_the_minimum_are_withheld(meeting: Meeting) -> None:
    for ended in engine.run(*both(meeting, "count", min_intersection=len(SHARED) + 1)):
        assert isinstance(ended, psijoin.PolicyError), ended


@pytest.mark.parametrize("in_lanes", ["receive", "send", "both"])
@pytest.mark.parametrize("missing", [0, 1])
def test_rows_under_a_minimum(meeting: Meeting, tmp_path: Path, in_lanes: str, missing: int) -> None:
    """Just as many are shared as are demanded, or one too few."""
    both_parties = both(meeting, "rows", min_intersection=len(SHARED) + missing)
    by_lanes = [party for party in both_parties if in_lanes in (party.role, "both")]
    programs = [(party, the_program(party, tmp_path)) for party in both_parties if in_lanes not in (party.role, "both")]
    for party, ended in zip(by_lanes, engine.run(*by_lanes)):
        if missing:
            assert isinstance(ended, psijoin.PolicyError), ended
        elif party.role == "receive":
            assert_exact("rows", ended, ANN)
        else:
            assert isinstance(ended, Ended) and ended.keys == [], ended
    for party, running in programs:
        shown, told = running.communicate()
        assert (running.returncode == 0) is (missing == 0), told
        if party.role == "receive":
            assert shown == "" if missing else ids_in(shown) == SHARED


def test_groups_by_a_list_of_labels(meeting: Meeting) -> None:
    """Values that are not on it are one group, and are not told."""
    labels = ["gold", "never"]
    ann, bob = both(meeting, "counts by receiver.kind", groups=labels, min_group=2)
    ann.lists = labels
    received, sent = engine.run(ann, bob)
    assert isinstance(received, Ended) and isinstance(sent, Ended), (received, sent)
    of_kinds = Counter(kind_of(1, int(key)) for key in SHARED)
    counts = {"gold": of_kinds["gold"], "never": None, "other": of_kinds["basic, or so"], None: of_kinds[None]}
    assert {row["receiver.kind"]: row["shared_keys"] for row in received.learned} == counts
    for ended in (received, sent):
        assert "one list of 2 labels" in ended.statement and "basic" not in ended.statement
    # Portions that were read with another list.
    ann.lists = labels[:1]
    _, facts = engine.read(ann)
    with pytest.raises(psijoin.UsageError, match="its list is another one here"):
        lanes.agree("receive", facts, "id", lanes=2, **ann.meeting, **ann.options)


def test_numbers_are_within_their_bounds_where_there_is_noise(meeting: Meeting) -> None:
    """Noise that is 0, but for a probability below 2^-10,000. Rows of a key are added up first."""
    noise = "laplace:epsilon=1000000000000,bound=receiver.paid:-100..2000,bound=sender.paid:-1e6..1e6"
    ann, bob = both(meeting, f"{TOTALS} by sender.kind", noise=noise)
    received, sent = engine.run(ann, bob)
    assert isinstance(received, Ended) and isinstance(sent, Ended), (received, sent)
    within = [min(max(sum_of(ANN, {key}), Decimal(-100)), Decimal(2000)) for key in SHARED if kind_of(2, int(key)) == "x"]
    [row] = [row for row in received.learned if row["sender.kind"] == "x"]
    assert (row["shared_keys"], row["sum:receiver.paid"]) == (len(within), sum(within))
    assert received.report["groups"]["noise"] == sent.report["groups"]["noise"]


@pytest.mark.parametrize(
    ("kinds", "kind", "expected"),
    [
        (["a", "b"], psijoin.InputError, "rows with the same key have different values"),
        (["a", "a"], Ended, ""),
        (None, psijoin.UsageError, "300 groups"),
    ],
)
def test_both_sides_hear_of_labels_that_cannot_be(meeting: Meeting, kinds: Any, kind: Any, expected: str) -> None:
    """Rows of a key in two portions have two labels, or there are too many in all portions."""
    ann, bob = both(meeting, "counts by receiver.kind")
    columns = {"id": ["1", "1"], "kind": kinds} if kinds else {"id": map(str, range(300)), "kind": map(str, range(300))}
    ann.table = pyarrow.table({name: list(values) for name, values in columns.items()})
    ann.portions = 2
    refused, told = engine.run(ann, bob)
    assert isinstance(refused, kind), refused
    if kind is not Ended:
        assert expected in str(refused)
        assert isinstance(told, psijoin.PeerFailedError if kind is psijoin.InputError else psijoin.UsageError), told


GIVEN: dict[str, Any] = {"give": ["plan", "row"], "repeated": "list:5"}


def with_plans(table: Any, word: str) -> Any:
    """The table, with columns to give: texts of several lengths, some of them null, and numbers."""
    texts = [None if row % 7 == 0 else f"{word} {'x' * (row % 5)}{row}" for row in range(len(table))]
    return table.append_column("plan", pyarrow.array(texts)).append_column("row", pyarrow.array(range(len(table))))


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """What is given for the shared keys of this table."""
    rows = table.select(["id", "plan", "row"]).to_pylist()
    return sorted((row["id"], str(row["plan"]), row["row"]) for row in rows if row["id"] in SHARED)


def taken_by(party: Party, ended: Any) -> list[tuple[Any, ...]]:
    """What a party in lanes has taken, for the ids of its keys."""
    assert isinstance(ended, Ended), ended
    ids = ids_of(party.table, [row["key"] for row in ended.taken])
    return sorted((key, str(row["plan"]), row["row"]) for key, row in zip(ids, ended.taken))


def trading(meeting: Meeting, learn: str) -> tuple[Party, Party]:
    """Ann takes Bob's columns, and if both learn, Bob takes hers."""
    ann, bob = both(meeting, "rows", learn=learn)
    ann.table, bob.table = with_plans(ANN, "ann"), with_plans(BOB, "bob")
    ann.options |= {"take": "all"}
    bob.options |= GIVEN
    if learn == "both":
        ann.options |= GIVEN
        bob.options |= {"take": ["plan", "row"]}
    return ann, bob


@pytest.mark.parametrize("learn", ["receiver", "both"])
def test_columns_of_the_other_party(meeting: Meeting, learn: str) -> None:
    ann, bob = trading(meeting, learn)
    received, sent = engine.run(ann, bob)
    assert taken_by(ann, received) == rows_of(bob.table)
    assert taken_by(bob, sent) == (rows_of(ann.table) if learn == "both" else [])
    assert received.report["given"] == sent.report["given"]


PILED_UP: dict[str, tuple[Iterable[int | None], Iterable[int | None]]] = {
    "disjoint": (range(1_000), range(1_000, 2_000)),
    "the same": (range(1_000), range(1_000)),
    "half of the rows of one key": ([*range(1_000), *[0] * 1_000, *[None] * 50], range(900, 1_900)),
    "neighbours": (range(10**6, 10**6 + 1_000), range(10**6 + 1, 10**6 + 1_001)),
}
"""Keys of both sides: always a thousand different ones."""


def test_bytes_depend_on_sizes_alone(meeting: Meeting) -> None:
    """Those on the wire, of either direction. Which protocol runs depends on the network, too."""
    of_kinds: dict[str, dict[str, Any]] = {
        "rows": {"protocol": "rr22"},
        "count": {"protocol": "rr22-circuit", "output_kind": "count"},
        "columns": {"protocol": "rr22", "give": ["plan"], "give_bytes": 40, "repeated": "first", "take": "all"},
    }
    for kind, options in of_kinds.items():
        traffic = set()
        for own, theirs in PILED_UP.values():
            tables = [
                pyarrow.table({"id": ids, "plan": [f"gold {number % 7}" for number in range(len(ids))]})
                for ids in (pyarrow.array(map(str_of, keys), pyarrow.string()) for keys in (own, theirs))
            ]
            takes: dict[str, Any] = {name: options[name] for name in ("protocol", "take", "output_kind") if name in options}
            gives = {name: value for name, value in options.items() if name != "take"}
            ann = Party("receive", tables[0], meeting.ann, options={"parts": PARTS, **takes})
            bob = Party("send", tables[1], meeting.bob, options={"parts": PARTS, **gives})
            received, sent = engine.run(ann, bob)
            assert isinstance(received, Ended) and isinstance(sent, Ended), (received, sent)
            [here, there] = [ended.report["traffic"] for ended in (received, sent)]
            assert here["sent_bytes"] == there["received_bytes"] and here["received_bytes"] == there["sent_bytes"]
            traffic.add((here["sent_bytes"], here["received_bytes"]))
        assert len(traffic) == 1, (kind, traffic)


def str_of(key: int | None) -> str | None:
    return None if key is None else str(key)


@pytest.mark.parametrize("learn", ["receiver", "both"])
@pytest.mark.parametrize("in_lanes", ["receive", "send"])
def test_columns_of_a_session(meeting: Meeting, in_lanes: Role, learn: str) -> None:
    """The layout, and so all lengths, are those that the other party would see of one process."""
    ann, bob = trading(meeting, learn)
    mine, theirs = (ann, bob) if in_lanes == "receive" else (bob, ann)
    # A session names none.
    for party in (mine, theirs):
        del party.options["parts"]
    engines = engine.Engine(mine)
    try:
        engines.started()
        session = psijoin.Session(**theirs.meeting)
        options = {name: value for name, value in theirs.options.items() if name != "output_kind"}
        call = session.receive if theirs.role == "receive" else session.send
        joined = call(theirs.table, on="id", **options)
        ended = engines.ended()
    finally:
        engines.kill()
    learns = mine.role == "receive" or learn == "both"
    assert isinstance(ended, Ended), ended
    assert taken_by(mine, ended) == (rows_of(theirs.table) if learns else [])
    assert joined.report["given"] == ended.report["given"]
    if theirs.role == "receive" or learn == "both":
        rows = joined.rows.to_pylist()
        found = sorted((row["id"], str(row["partner_plan"]), row["partner_row"]) for row in rows)
        once = {key: ids for key, ids in Counter(theirs.table["id"].to_pylist()).items()}
        assert found == sorted(row for row in rows_of(mine.table) for _ in range(once[row[0]]))


def test_columns_of_the_program(meeting: Meeting, tmp_path: Path) -> None:
    ann, bob = trading(meeting, "receiver")
    running = the_program(bob, tmp_path)
    [ended] = engine.run(ann)
    _, told = running.communicate()
    assert running.returncode == 0, told
    # A column of CSV is a text without nulls.
    expected = [(key, "" if plan == "None" else plan, str(row)) for key, plan, row in rows_of(bob.table)]
    assert taken_by(ann, ended) == sorted(expected)


def test_a_column_is_chosen_after_the_table_was_read(meeting: Meeting) -> None:
    ann, bob = trading(meeting, "receiver")
    ann.options["take"] = ["row"]
    received, sent = engine.run(ann, bob)
    assert sorted(row["row"] for row in received.taken) == sorted(row for _, _, row in rows_of(bob.table))
    assert received.taken[0].keys() == {"key", "row"}


@pytest.mark.parametrize(("repeated", "expected"), [("refuse", "repeat a key"), ("list:1", "no more can be given")])
def test_rows_that_repeat_a_key(meeting: Meeting, repeated: str, expected: str) -> None:
    ann, bob = trading(meeting, "receiver")
    bob.options["repeated"] = repeated
    received, sent = engine.run(ann, bob)
    assert isinstance(sent, psijoin.InputError) and expected in str(sent), sent
    assert isinstance(received, psijoin.PeerFailedError), received


def test_the_first_row_counts(meeting: Meeting) -> None:
    ann, bob = trading(meeting, "receiver")
    bob.options["repeated"] = "first"
    received, _ = engine.run(ann, bob)
    first: dict[str, tuple[Any, ...]] = {}
    for row in bob.table.select(["id", "plan", "row"]).to_pylist():
        first.setdefault(row["id"], (row["id"], str(row["plan"]), row["row"]))
    assert taken_by(ann, received) == sorted(row for key, row in first.items() if key in SHARED)


def test_what_is_malformed_is_not_unpacked(meeting: Meeting) -> None:
    taken = lanes.Taken.from_bytes(bytes([4, 0, 0, 0, 1, 1, 0, 1, 0, 97, 0, 0]))
    assert pyarrow.schema(taken).names == ["key", "a"]
    key = pyarrow.array([bytes(32)], pyarrow.binary(32))

    def unpacked(payload: bytes) -> list[Any]:
        found = pyarrow.table({"key": key, "taken": pyarrow.array([payload], pyarrow.binary())})
        return [row for some in lanes.unpacked(bytes(taken), found) for row in pyarrow.table(some).to_pylist()]

    assert unpacked(bytes([0, 1, 0, 120])) == [{"key": bytes(32), "a": "x"}]
    with pytest.raises(psijoin.PeerError, match="not UTF-8 in its column `a`"):
        unpacked(bytes([0, 1, 0, 255]))
    with pytest.raises(psijoin.UsageError, match="column `taken`"):
        unpacked(bytes(5))
    with pytest.raises(psijoin.UsageError, match="other party's columns"):
        lanes.unpacked(b"nothing", pyarrow.table({"key": key})).__next__()


def test_keys_that_lanes_did_not_give(meeting: Meeting) -> None:
    with pytest.raises(psijoin.UsageError, match="no bytes of places"):
        lanes.shared(b"nothing", pyarrow.table({"key": []}))
    # Of no part, as no lane ran.
    none = lanes.Places.from_bytes(b"")
    assert repr(none) == "Places(...)" and bytes(none) == none.to_bytes() == b""
    key = pyarrow.array([bytes(32)], pyarrow.binary(32))
    for columns in ({"part": [0], "place": [0]}, {"part": [-1], "place": [0]}, {"part": [0]}, {}):
        with pytest.raises(psijoin.UsageError, match="no keys that lanes of this session gave"):
            lanes.shared(none, pyarrow.table({**columns, "key": key}))


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("lost keys", "number of items"),
        ("unsorted", "order of their parts"),
        ("twice", "no report of a lane"),
        ("of another session", "no report of a lane"),
    ],
)
def test_what_is_wrong_is_told_on_both_sides(meeting: Meeting, spoil: str, expected: str) -> None:
    ann, bob = both(meeting, "rows")
    ann.spoil = spoil
    received, sent = engine.run(ann, bob)
    assert isinstance(received, psijoin.Error) and expected in str(received), received
    assert isinstance(sent, psijoin.Error), sent


@pytest.mark.parametrize("kind", ["rows", "count", GROUPED[2]])
def test_both_sides_meet_again_if_a_lane_is_lost(
    meeting: Meeting, tmp_path: Path, kind: str
) -> None:
    ann, bob = both(meeting, kind)
    for party in (ann, bob):
        party.attempts = 2
        party.options["record"] = tmp_path / f"{party.role}.json"
    ann.options = {**ann.options, "deadline": 600}
    bob.spoil = "lost lanes at first"
    received, sent = engine.run(ann, bob)
    assert_exact(kind, received, ANN)
    assert isinstance(sent, Ended), sent
    for ended in (received, sent):
        assert ended.report["attempts"] == 2
        assert "the join ran in 2 attempts" in ended.statement
    records = [json.loads((tmp_path / f"{role}.json").read_text()) for role in ("receive", "send")]
    told, signed = (record["document"] for record in records)
    assert told["settings"] == signed["settings"]
    assert told["settings"]["the attempt"].startswith("2 of ")
    assert not told["settings"]["the attempt"].endswith(told["session"])


def test_there_are_three_attempts(meeting: Meeting) -> None:
    ann, bob = both(meeting, "rows")
    ann.attempts = bob.attempts = 4
    ann.spoil = "lost lanes"
    for ended in engine.run(ann, bob):
        assert isinstance(ended, psijoin.Error), ended


@pytest.mark.parametrize("why", ["one side does not", "dishonest parties", "noise"])
def test_there_is_one_attempt(meeting: Meeting, why: str) -> None:
    """Either side would wait for the other one in vain otherwise."""
    because: dict[str, Any] = {"protocol": "rr22-malicious"} if why == "dishonest parties" else {}
    because |= {"noise": "laplace:epsilon=1"} if why == "noise" else {}
    ann, bob = both(meeting, "counts by receiver.kind" if why == "noise" else "rows", **because)
    ann.attempts, bob.attempts = 2, 1 if why == "one side does not" else 2
    ann.spoil = "lost lanes at first"
    failed, told = engine.run(ann, bob)
    assert isinstance(failed, psijoin.Error) and isinstance(told, psijoin.Error), (failed, told)


NO_DATES: dict[str, Any] = {"normalize": {"id": "date"}, "bad_keys": "null:5%"}
"""Under these rules no key can be read."""


@pytest.mark.parametrize("role", ["receive", "send"])
@pytest.mark.parametrize("in_lanes", [True, False])
def test_the_other_party_hears_of_a_table_that_cannot_be_used(
    meeting: Meeting, tmp_path: Path, role: Role, in_lanes: bool
) -> None:
    """It does not wait for the whole of its `wait`, which is longer than the test's patience."""
    party = Party(role, ANN, meeting.ann, options=NO_DATES)
    other = parties.OTHER[role]
    if in_lanes:
        refused, told = engine.run(party, Party(other, BOB, meeting.bob))
        assert isinstance(told, psijoin.PeerFailedError), told
        words = str(told)
    else:
        running = the_program(Party(other, BOB, meeting.bob), tmp_path)
        [refused] = engine.run(party)
        _, words = running.communicate(timeout=parties.PATIENCE)
        assert running.returncode != 0
    assert isinstance(refused, psijoin.InputError) and "cannot be read" in str(refused), refused
    assert "cannot use its own input or output" in words


def test_the_other_party_hears_of_terms_that_cannot_be_read(meeting: Meeting) -> None:
    ann = Party("receive", ANN, meeting.ann, options={"terms": "/no/such/file"})
    refused, told = engine.run(ann, Party("send", BOB, meeting.bob))
    assert isinstance(refused, psijoin.InputError) and "terms" in str(refused), refused
    assert isinstance(told, psijoin.PeerFailedError), told


def test_who_cannot_read_its_table_declines(meeting: Meeting) -> None:
    _, facts = engine.read(Party("receive", ANN, meeting.ann))
    theirs: dict[str, Any] = meeting.bob

    def other() -> None:
        with pytest.raises(psijoin.PeerFailedError, match="cannot use its own input or output"):
            lanes.agree("receive", facts, "id", lanes=2, **theirs)

    psijoin.together(lambda: lanes.decline(**meeting.ann), other)


def test_the_other_party_hears_that_a_driver_gives_up(meeting: Meeting) -> None:
    """It is not told of a fault of the table, which has none."""
    ann, bob = both(meeting, "rows")
    (_, mine), (_, theirs) = engine.read(ann), engine.read(bob)

    def other() -> None:
        with lanes.agree("send", theirs, "id", lanes=2, **bob.meeting) as agreed:
            with pytest.raises(psijoin.PeerFailedError, match="an internal failure, which is not this side's"):
                agreed.watch()

    psijoin.together(lambda: lanes.agree("receive", mine, "id", lanes=2, **ann.meeting).abort(), other)


def test_a_ticket_works_once_and_for_its_own_session(meeting: Meeting) -> None:
    with pytest.raises(psijoin.UsageError, match="no ticket"):
        list(lanes.Lane(b"nothing").run([]))
    with pytest.raises(psijoin.UsageError, match="neither what psijoin.lanes gave"):
        lanes.Lane("ticket")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"output": "rows.csv"}, "`output` is for a table that is here"),
        ({"job": "folder"}, "`job` is for a table that is here"),
        ({"align": True}, "`align` is for a table that is here"),
        ({"give": "paid"}, "the receiver gives columns only if both parties learn"),
        ({"learn": "both", "give": "paid"}, "same columns to give"),
        ({"take": "all", "min_intersection": 2}, "shared keys and columns for the other party"),
        ({"repeated": "first"}, "`repeated`"),
        ({"output_kind": "shares"}, "shares are for a table that is here"),
        ({"output_kind": "counts"}, "the columns to group by"),
        ({"output_kind": "counts", "group_by": "receiver.kind", "min_group": 2}, "column of labels `kind`"),
        ({"budget": "file"}, "`budget` is for a table that is here"),
        ({"check": True}, "`check` is for a table that is here"),
        ({"lisen": 1}, "there is no keyword `lisen`"),
        ({"lanes": 0}, "`lanes` is a whole number"),
        ({"normalize": {"id": "trim"}}, "the key of a portion was read as"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(meeting: Meeting, options: Any, expected: str) -> None:
    _, facts = engine.read(Party("receive", ANN, meeting.ann))
    call: dict[str, Any] = {"lanes": 2, **meeting.ann, **options}
    with pytest.raises(psijoin.UsageError, match=expected):
        lanes.agree("receive", facts, "id", **call)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"groups": ["x"]}, "`groups` goes with `labels`"),
        ({"labels": ["id", "paid", "kind"]}, "one or two columns"),
        ({"labels": ["id", "kind"], "groups": ["x"]}, "for which of the columns"),
        ({"labels": "kind", "groups": {"paid": ["x"]}}, "for which of the columns"),
        ({"labels": "kind", "groups": ["other"]}, "`other`"),
    ],
)
def test_labels_that_portions_are_not_read_with(options: Any, expected: str) -> None:
    with pytest.raises(psijoin.UsageError, match=expected):
        lanes.read(ANN, "id", **options)


def test_lanes_come_where_the_other_side_is(meeting: Meeting) -> None:
    _, facts = engine.read(Party("receive", ANN, meeting.ann))
    options: dict[str, Any] = {**meeting.ann, "relay": None, "listen": parties.free_address()}
    with pytest.raises(psijoin.UsageError, match="meet at a relay"):
        lanes.agree("receive", facts, "id", lanes=2, **options)


VICTIMS = ["worker", "driver", "worker of the other side", "driver of the other side", "relay"]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_killed_both_sides_end(tmp_path: Path, seed: int) -> None:
    """Each with the exact result, or with an error that says why."""
    rng = random.Random(seed)
    for victim in VICTIMS:
        relay = parties.program("relay", "--listen", "127.0.0.1:0")
        assert relay.stderr is not None
        address = relay.stderr.readline().removeprefix("listening on ").strip()
        meeting = parties.meeting(tmp_path, address)
        kind = rng.choice(["rows", "count"])
        ann, bob = both(meeting, kind, parts=8)
        for party in (ann, bob):
            party.meeting["wait"] = 15
            party.workers = 3
        engines = [engine.Engine(party) for party in (ann, bob)]
        try:
            workers = [each.started() for each in engines]
            # Any moment will do, also one at which all is over.
            time.sleep(rng.random() * 1.5)
            match victim.partition(" ")[0]:
                case "worker":
                    killed = rng.choice(workers["other" in victim])
                case "driver":
                    driver = engines["other" in victim].process.pid
                    assert driver is not None
                    killed = driver
                case _:
                    killed = relay.pid
            engine.kill(killed)
            received, sent = (each.ended() for each in engines)
            left = [process for of_side in workers for process in of_side]
            until_ended(left)
        finally:
            for each in engines:
                each.kill()
            engine.kill(relay.pid)
        for ended, is_killed in ((received, victim == "driver"), (sent, victim == "driver of the other side")):
            assert isinstance(ended, (Ended, psijoin.Error)) or is_killed and ended is None, (victim, ended)
        if isinstance(received, Ended):
            assert_exact(kind, received, ANN)


def until_ended(processes: list[int]) -> None:
    for _ in range(10 * parties.PATIENCE):
        if not any(engine.is_alive(process) for process in processes):
            return
        time.sleep(0.1)
    raise AssertionError("a worker is left")


def test_secrets_are_not_shown(meeting: Meeting) -> None:
    """They are pickled, though, as they go to other processes."""
    ann, bob = both(meeting, "rows")
    (_, mine), (_, theirs) = engine.read(ann), engine.read(bob)

    def one() -> None:
        with lanes.agree("receive", mine, "id", lanes=2, **ann.meeting) as agreed:
            assert agreed.lanes == 2 and agreed.router.parts == agreed.parts
            for secret in (agreed.ticket(0), agreed.router):
                assert repr(secret) == f"{type(secret).__name__}(...)"
                again = pickle.loads(pickle.dumps(secret))
                assert bytes(again) == bytes(secret) == type(secret).from_bytes(bytes(secret)).to_bytes()
            with pytest.raises(psijoin.UsageError, match="there are 2 lanes"):
                agreed.ticket(2)
            assert bytes(agreed.ticket(0).of_lane(1)) == bytes(agreed.ticket(1))
            with pytest.raises(_psijoin.Failure, match="no ticket"):
                agreed.ticket(0).of_lane(2)
            with pytest.raises(psijoin.UsageError, match="no report"):
                agreed.take(b"nothing")
        with pytest.raises(psijoin.UsageError, match="over"):
            agreed.finish()

    def other() -> None:
        with pytest.raises(psijoin.UsageError, match="2 of 2 lanes have not reported"):
            with lanes.agree("send", theirs, "id", lanes=2, **bob.meeting) as agreed:
                agreed.finish()

    psijoin.together(one, other)
