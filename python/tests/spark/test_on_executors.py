"""Joins in lanes, on executors, are those that Spark makes of the tables in the clear."""

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import psijoin
import psijoin.spark
import pyarrow
import pytest
from parties import PATIENCE, Meeting, program
from psijoin import lanes
from psijoin.spark import _tasks
from psijoin.spark._blocks import Blocks
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from random_tables import KEY, THEIR_KEY, content, keyed, random_tables
from test_kinds import KEYS

LONG = 10 * PATIENCE
"""The seconds that a machine may take that does other things, too."""


@pytest.fixture
def common(tmp_path: Path) -> dict[str, Any]:
    """Both sides run in one Spark here, which has two slots."""
    work = tmp_path / "work"
    work.mkdir()
    return {"lanes": 1, "work": str(work)}


def left_in(common: dict[str, Any]) -> list[str]:
    """The folders that joins have left in `work`, which are those that results read."""
    return [path.name for path in Path(common["work"]).glob("*/*")]


def test_rows(spark: SparkSession, meeting: Meeting, common: dict[str, Any]) -> None:
    """Of tables with nulls, repeated keys, and half of the rows of one key."""
    mine, theirs = random_tables(spark, 40)
    drawn = mine.withColumn("drawn", f.rand())
    shared, sent = psijoin.together(
        lambda: psijoin.spark.receive(drawn, on=KEY, learn="both", **common, **meeting.ann),
        lambda: psijoin.spark.send(theirs, on=THEIR_KEY, learn="both", **common, **meeting.bob),
    )
    expected = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(mine.columns)
    # A second action runs no session: nobody is at the other end any more.
    for _ in range(2):
        assert content(shared.drop("drawn")) == content(expected)
    assert shared.schema == drawn.schema
    counts = shared.report["table"]
    assert counts["rows"] == mine.count()
    assert counts["rows_without_key"] == mine.count() - keyed(mine).count()
    assert counts["distinct_keys"] == keyed(mine).select(KEY).distinct().count()
    assert f" {expected.select(KEY).distinct().count()} shared keys" in shared.statement
    expected = keyed(theirs).join(mine.select(KEY), KEY, "left_semi").select(theirs.columns)
    assert sent.rows is not None
    assert content(sent.rows) == content(expected)
    assert left_in(common) == ["found", "found"]


def test_a_partition_is_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they have the keys and the facts of all of it."""
    table = pyarrow.table({"id": ["a", None, "b", "a", "c", "d", "b", "e", None, "a"]})
    blocks = Blocks(bytes(32), bytes(16))
    monkeypatch.setattr(_tasks, "ROWS_OF_PORTION", 4)
    read = _tasks.Reading(table.schema, {"on": "id"}, {}, 3, blocks)
    found, facts = [], []
    for batch in read(iter(table.to_batches(max_chunksize=3))):
        for row in batch.to_pylist():
            if row["distinct"] is None:
                facts.append(blocks.open(_tasks.FACTS, row["block"]))
            else:
                found.append(blocks.open_rows(f"bucket {row['bucket']}", row["block"]))
    assert len(facts) == 2
    keys = lanes.merged(iter(found))
    whole = lanes.read(table, on="id")
    assert len(keys) == len(whole.keys) == 5
    assert lanes.Facts.merge(facts, 5) == lanes.Facts.merge([whole.facts], 5)


@pytest.mark.parametrize("rows", ["unshared", "all"])
def test_other_rows(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any], rows: Literal["unshared", "all"]
) -> None:
    """The other party joins in its driver's process."""
    mine, theirs = random_tables(spark, 41)
    # Spark compares names without regard to case.
    mine = mine.withColumn("Shared", f.lit(7))
    found, sent = psijoin.together(
        lambda: psijoin.spark.receive(mine, on=KEY, rows=rows, **common, **meeting.ann),
        lambda: psijoin.spark.send(theirs, on=THEIR_KEY, **meeting.bob),
    )
    assert sent.rows is None
    shared = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(mine.columns)
    unshared = content(mine) - content(shared)
    if rows == "unshared":
        assert content(found) == unshared
        return
    assert found.columns == [*mine.columns, "psijoin_shared"]
    assert content(found.where("psijoin_shared").drop("psijoin_shared")) == content(shared)
    assert content(found.where("not psijoin_shared").drop("psijoin_shared")) == unshared


def test_rows_under_a_minimum(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    mine, theirs = random_tables(spark, 44)
    expected = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(mine.columns)
    number = expected.select(KEY).distinct().count()
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on=KEY, min_intersection=number, **common, **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, min_intersection=number, **common, **meeting.bob
        ),
    )
    for _ in range(2):
        assert content(shared) == content(expected)
    assert f" {number} shared keys" in shared.statement
    assert left_in(common) == ["found"]
    with pytest.raises(psijoin.PolicyError):
        psijoin.together(
            lambda: psijoin.spark.receive(
                mine, on=KEY, min_intersection=number + 1, **common, **meeting.ann
            ),
            lambda: psijoin.spark.send(theirs, on=THEIR_KEY, min_intersection=number + 1, **meeting.bob),
        )
    assert left_in(common) == ["found"]


def given(frame: DataFrame) -> dict[str, Any]:
    """What a sender of plans and payments says: all rows of a key are given."""
    most = keyed(frame).groupBy(KEY).count().agg(f.max("count")).collect()[0][0]
    return {"give": ["plan", "paid"], "repeated": f"list:{most}"}


@pytest.mark.parametrize("in_lanes", ["receive", "send", "both"])
def test_columns_of_the_other_party(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any], in_lanes: str
) -> None:
    mine, theirs = random_tables(spark, 45)
    by = {role: common if in_lanes in (role, "both") else {} for role in ("receive", "send")}
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on=KEY, take=["plan", "paid"], **by["receive"], **meeting.ann),
        lambda: psijoin.spark.send(theirs, on=THEIR_KEY, **given(theirs), **by["send"], **meeting.bob),
    )
    expected = keyed(mine).join(theirs, KEY).select(*mine.columns, "plan", "paid")
    for _ in range(2):
        assert content(shared) == content(expected)
    assert shared.schema.fields[: len(mine.columns)] == mine.schema.fields
    assert [field.dataType for field in shared.schema.fields[-2:]] == [
        theirs.schema[name].dataType for name in ("plan", "paid")
    ]
    assert left_in(common) == ([] if in_lanes == "send" else ["found"])


def test_both_give_columns(spark: SparkSession, meeting: Meeting, common: dict[str, Any]) -> None:
    """And take them. Of a list of rows, each is joined with each row of its key."""
    mine, theirs = random_tables(spark, 46)
    number = keyed(mine).groupBy(KEY).count().agg(f.max("count")).collect()[0][0]
    shared, sent = psijoin.together(
        lambda: psijoin.spark.receive(
            mine, on=KEY, learn="both", take=["paid"], give=["number", "price"],
            repeated=f"list:{number}", **common, **meeting.ann,
        ),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, learn="both", take="all", **given(theirs), **common, **meeting.bob
        ),
    )  # fmt: skip
    expected = keyed(mine).join(theirs, KEY).select(*mine.columns, "paid")
    assert content(shared) == content(expected)
    expected = keyed(theirs).join(mine, KEY).select(*theirs.columns, "number", "price")
    assert sent.rows is not None
    assert content(sent.rows) == content(expected)


def test_columns_of_all_types(spark: SparkSession, meeting: Meeting, common: dict[str, Any]) -> None:
    """They come as from a driver, there and here."""
    row = ", ".join(f"cast({values[0]} as {kind}) as `{kind}.`" for kind, values in KEYS.items())
    none = ", ".join(f"cast(null as {kind}) as `{kind}.`" for kind in KEYS)
    theirs = spark.sql(f"select 'a' as id, {row} union all select 'b', {none}")
    mine = spark.sql("select id from values ('a'), ('b'), ('c') as t(id)")
    give = theirs.columns[1:]
    joins = []
    for received, sent in ((common, common), (common, {}), ({}, {})):
        shared, _ = psijoin.together(
            lambda: psijoin.spark.receive(mine, on="id", take="all", **received, **meeting.ann),
            lambda: psijoin.spark.send(theirs, on="id", give=give, **sent, **meeting.bob),
        )
        joins.append(shared)
    assert content(joins[0]) == content(joins[1]) == content(joins[2])
    assert joins[0].schema == joins[1].schema == joins[2].schema


def test_columns_of_another_library(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    """They have the nearest type that Spark has, and names that are no others."""
    columns = {
        "ID": pyarrow.array(["x"]).dictionary_encode(),
        "key": pyarrow.array([2**64 - 1], pyarrow.uint64()),
        "psijoin_key0": pyarrow.array([b"ab"], pyarrow.binary(2)),
        "at": pyarrow.array([1], pyarrow.timestamp("s")),
        "wide": pyarrow.array([1], pyarrow.decimal256(50, 2)),
        "uuid": pyarrow.ExtensionArray.from_storage(pyarrow.uuid(), pyarrow.array([bytes(16)], pyarrow.binary(16))),
    }
    theirs = pyarrow.table({"id": ["a"], **columns})
    mine = spark.sql("select 'a' as id")

    def joined(table: pyarrow.Table, lanes: dict[str, Any]) -> Any:
        give = table.column_names[1:]
        shared, _ = psijoin.together(
            lambda: psijoin.spark.receive(mine, on="id", take="all", **lanes, **meeting.ann),
            lambda: psijoin.Session(**meeting.bob).send(table, on="id", give=give),
        )
        return shared

    in_lanes, in_driver = joined(theirs, common), joined(theirs, {})
    assert in_lanes.schema == in_driver.schema
    assert in_lanes.collect() == in_driver.collect()
    fine = pyarrow.table({"id": ["a"], "fine": pyarrow.array([1], pyarrow.timestamp("ns"))})
    with pytest.raises(psijoin.InputError, match="'fine' holds a value that Spark cannot hold"):
        joined(fine, common)
    # None of the table's keys is there.
    assert joined(pyarrow.table({"id": ["z"], "plan": ["gold"]}), common).collect() == []


def test_rows_that_repeat_a_key(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    mine, theirs = random_tables(spark, 47)
    refused: list[dict[str, Any]] = [{}, {"repeated": "list:1"}]
    for repeated in refused:
        with ThreadPoolExecutor() as threads:
            calls = (
                lambda: psijoin.spark.send(theirs, on=THEIR_KEY, give="plan", **repeated, **common, **meeting.bob),
                lambda: psijoin.spark.receive(mine, on=KEY, take="all", **meeting.ann),
            )
            failed, told = (call.exception(LONG) for call in [threads.submit(call) for call in calls])
        assert isinstance(failed, psijoin.InputError) and "key" in str(failed)
        assert isinstance(told, psijoin.PeerFailedError)
    first, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, on=KEY, take="paid", **common, **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, give="paid", repeated="first", **common, **meeting.bob
        ),
    )
    expected = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(mine.columns)
    assert content(first.drop("paid")) == content(expected)
    assert content(first) - content(keyed(mine).join(theirs, KEY).select(*mine.columns, "paid")) == Counter()


@pytest.mark.parametrize("are_large", [False, True])
def test_keys_of_all_types(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any], are_large: bool
) -> None:
    """Executors read them twice, by two functions of Spark, and the other party in its driver."""
    settings = {
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.execution.arrow.useLargeVarTypes": str(are_large).lower(),
    }
    before = {name: str(spark.conf.get(name)) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        row = [f"cast({{}} as {kind}) as `{kind}.`" for kind in KEYS]
        first, last, none = (
            ", ".join(row).format(*cells)
            for cells in (
                [values[0] for values in KEYS.values()],
                [values[-1] for values in KEYS.values()],
                ["null", *(values[0] for values in list(KEYS.values())[1:])],
            )
        )
        mine = spark.sql(" union all ".join(f"select {cells}" for cells in (first, last, none, first)))
        theirs = spark.sql(f"select {first} union all select {none}")
        shared, _ = psijoin.together(
            lambda: psijoin.spark.receive(mine, on=mine.columns, **common, **meeting.ann),
            lambda: psijoin.spark.send(theirs, on=theirs.columns, **meeting.bob),
        )
        assert content(shared) == content(spark.sql(f"select {first} union all select {first}"))
        assert shared.schema == mine.schema
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_numbers(spark: SparkSession, meeting: Meeting, common: dict[str, Any]) -> None:
    mine, theirs = random_tables(spark, 42)
    keys = keyed(mine).join(theirs.select(KEY), KEY, "left_semi").select(KEY).distinct()
    number = keys.count()
    counted, _ = psijoin.together(
        lambda: psijoin.spark.count(mine, on=KEY, min_intersection=5, **common, **meeting.ann),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, output_kind="count", min_intersection=5, **meeting.bob
        ),
    )
    assert counted.count == number > 5
    for least in (number, number + 1):
        compared, _ = psijoin.together(
            lambda: psijoin.spark.threshold(mine, on=KEY, least=least, **common, **meeting.ann),  # noqa: B023
            lambda: psijoin.spark.send(
                theirs, on=THEIR_KEY, output_kind=f"threshold:{least}", **common, **meeting.bob  # noqa: B023
            ),
        )
        assert compared.is_reached is (least == number)
        assert "reading the table" not in {phase["name"] for phase in compared.report["phases"]}
    # Rows of one key are added up.
    columns = ["sender.paid", "price"]
    summed, _ = psijoin.together(
        lambda: psijoin.spark.sum(
            mine, on=KEY, columns=columns, min_intersection=5, **common, **meeting.ann
        ),
        lambda: psijoin.spark.send(
            theirs, on=THEIR_KEY, output_kind=("sum", columns), min_intersection=5,
            allow_sums_that_reveal_keys=True, **common, **meeting.bob,
        ),
    )  # fmt: skip
    paid = theirs.join(keys, KEY, "left_semi").agg(f.sum("paid")).collect()[0][0]
    price = mine.join(keys, KEY, "left_semi").agg(f.sum("price")).collect()[0][0]
    assert list(summed.sums.values()) == [paid, price]
    with pytest.raises(psijoin.PolicyError):
        psijoin.together(
            lambda: psijoin.spark.count(mine, on=KEY, min_intersection=10_000, **common, **meeting.ann),
            lambda: psijoin.spark.send(
                theirs, on=THEIR_KEY, output_kind="count", min_intersection=10_000, **meeting.bob
            ),
        )
    assert left_in(common) == []


def test_the_program_is_the_other_party(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any], tmp_path: Path
) -> None:
    mine, theirs = random_tables(spark, 43)
    ann, bob = meeting
    # As it is asked for twice, it is the same content that both have.
    table = theirs.toArrow()
    theirs = spark.createDataFrame(table)
    parquet.write_table(table, tmp_path / "theirs.parquet")
    options = [
        "--relay", bob["relay"], "--wait", "600", "--key", "name,day", "--identity", bob["identity"].path,
        "--peer", bob["peer"], "--input", str(tmp_path / "theirs.parquet"),
    ]  # fmt: skip
    columns = [f"--{name}={','.join(value) if isinstance(value, list) else value}" for name, value in given(theirs).items()]
    sending = program("send", *options, *columns)
    shared = psijoin.spark.receive(mine, on=KEY, take="all", **{**common, "lanes": 2}, **ann)
    _, said = sending.communicate(timeout=LONG)
    assert sending.returncode == 0, said
    expected = keyed(mine).join(theirs, KEY).select(*mine.columns, "plan", "paid")
    assert content(shared) == content(expected)
    receiving = program("receive", *options, "--take", "all", "--output", str(tmp_path / "shared.parquet"))
    most = keyed(mine).groupBy(KEY).count().agg(f.max("count")).collect()[0][0]
    given_back: dict[str, Any] = {"give": ["price"], "repeated": f"list:{most}"}
    psijoin.spark.send(mine, on=KEY, **given_back, **{**common, "lanes": 2}, **ann)
    _, said = receiving.communicate(timeout=LONG)
    assert receiving.returncode == 0, said
    expected = keyed(theirs).join(mine, KEY).select(*theirs.columns, "price")
    assert content(spark.read.parquet(str(tmp_path / "shared.parquet"))) == content(expected)


def test_a_set_without_keys(spark: SparkSession, meeting: Meeting, common: dict[str, Any]) -> None:
    mine = spark.sql("select cast(null as string) as id")
    shared, _ = psijoin.together(
        lambda: psijoin.spark.receive(mine, **common, **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["a"]),
    )
    assert shared.collect() == []
    assert left_in(common) == []


def workers() -> list[int]:
    """The processes below this one in which Spark runs Python for its tasks."""
    parents: dict[int, int] = {}
    daemons = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"pyspark.daemon" in (path / "cmdline").read_bytes():
                daemons.add(int(path.name))
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            # It has ended.
            continue

    def is_below(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_below(parents[process]))

    return [process for process in daemons if parents[process] in daemons and is_below(process)]


Keys = Callable[[], Iterator[Any]]


def sending(meeting: Meeting, portion: lanes.Portion, keys: Keys) -> Callable[[], None]:
    """The other side, with a lane in this process that gets these keys."""

    def send() -> None:
        facts = lanes.Facts.merge([portion.facts], distinct=len(portion.keys))
        with lanes.agree("send", facts, on="id", lanes=1, **meeting.bob) as agreed:
            lane = lanes.Lane(agreed.ticket(0))
            for _ in lane.run(keys()):
                pass
            agreed.take(lane.report)
            agreed.finish()

    return send


def test_a_worker_that_is_killed(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    """Both sides end, and nothing is left."""
    mine = spark.range(1_000).selectExpr("concat('key', id) as id")
    portion = lanes.read(mine.toArrow(), on="id")

    def keys() -> Iterator[Any]:
        # The lanes of both sides are open now.
        for process in workers():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        # Nobody is there to run it with.
        yield portion.keys

    with ThreadPoolExecutor() as threads:
        sent = threads.submit(sending(meeting, portion, keys))
        # The other side may be the first to say so.
        with pytest.raises(psijoin.Error, match="Spark has failed|the other party"):
            psijoin.spark.receive(mine, on="id", **common, **meeting.ann)
        assert isinstance(sent.exception(LONG), psijoin.Error)
    assert left_in(common) == []


def test_the_other_side_fails(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    mine = spark.range(1_000).selectExpr("concat('key', id) as id")
    portion = lanes.read(mine.toArrow(), on="id")

    def keys() -> Iterator[Any]:
        raise RuntimeError("the test")
        yield portion.keys

    with ThreadPoolExecutor() as threads:
        sent = threads.submit(sending(meeting, portion, keys))
        with pytest.raises(psijoin.Error):
            psijoin.spark.receive(mine, on="id", **common, **meeting.ann)
        assert isinstance(sent.exception(LONG), RuntimeError)
    assert left_in(common) == []


def test_the_other_side_gives_up_before_its_lanes_run(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    """Those of this side do not wait for them."""
    mine = spark.range(1_000).selectExpr("concat('key', id) as id")
    portion = lanes.read(mine.toArrow(), on="id")

    def give_up() -> None:
        facts = lanes.Facts.merge([portion.facts], distinct=len(portion.keys))
        lanes.agree("send", facts, on="id", lanes=1, **meeting.bob).abort()

    with ThreadPoolExecutor() as threads:
        given_up = threads.submit(give_up)
        with pytest.raises(psijoin.PeerFailedError):
            psijoin.spark.receive(mine, on="id", **common, **meeting.ann)
        given_up.result(LONG)
    assert left_in(common) == []


def test_errors_before_anybody_is_met(
    spark: SparkSession, meeting: Meeting, common: dict[str, Any]
) -> None:
    mine = spark.sql("select 'a' as id, array('a') as nested, 1 as number")
    ann: dict[str, Any] = {**common, **meeting.ann}
    for error, message, options in (
        (psijoin.UsageError, "`lanes` is 7, and Spark can run 2 tasks", {"lanes": 7}),
        (psijoin.UsageError, "at least 1", {"lanes": 0}),
        (psijoin.UsageError, "`work`", {"work": None}),
        (psijoin.UsageError, "`work` is for lanes", {"lanes": None}),
        (psijoin.UsageError, "`take`.*shared rows", {"take": "all", "rows": "unshared"}),
        (psijoin.InputError, "'nested'|`nested`", {"learn": "both", "give": "nested"}),
        (psijoin.InputError, "'none'|`none`", {"learn": "both", "give": "none"}),
        (psijoin.UsageError, "`rows`.*unshared", {"rows": "some"}),
        (psijoin.UsageError, "`check`.*the driver joins", {"check": True}),
        (psijoin.UsageError, "`budget`.*the driver joins", {"budget": "file"}),
        (psijoin.InputError, "'none'|`none`", {"on": "none"}),
        (psijoin.InputError, "'nested'|`nested`", {"on": "nested"}),
        (psijoin.InputError, "cannot make a folder", {"work": "/dev/null"}),
    ):
        with pytest.raises(error, match=message):
            psijoin.spark.receive(mine, **{"on": "id", **ann, **options})
    assert left_in(common) == []


@pytest.mark.parametrize(
    ("of", "normalize", "message"),
    [
        ("'near a key'", {"id": "date"}, "'id'|`id`"),
        ("raise_error('near a key')", {}, "gives its rows has failed"),
    ],
)
def test_a_table_that_cannot_be_read(
    spark: SparkSession,
    meeting: Meeting,
    common: dict[str, Any],
    of: str,
    normalize: dict[str, str],
    message: str,
) -> None:
    """The other party hears of it, before it waits in vain."""
    mine = spark.sql(f"select {of} as id")
    calls = [
        lambda: psijoin.spark.receive(mine, on="id", normalize=normalize, **common, **meeting.ann),
        lambda: psijoin.Session(**meeting.bob).send(["a"]),
    ]
    with ThreadPoolExecutor() as threads:
        failed, told = (call.exception(LONG) for call in [threads.submit(call) for call in calls])
    assert isinstance(failed, psijoin.InputError)
    assert re.search(message, str(failed)) and "near" not in str(failed)
    assert isinstance(told, psijoin.PeerFailedError)
    assert "cannot use its own input or output" in str(told)
    assert left_in(common) == []
