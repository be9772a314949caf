"""Joins whose sessions run on executors, in lanes: `docs/spark.md`.

1. Executors read the keys, and write them to the folder `work`, sealed. From there on nothing is
   read from the DataFrame, so that a table that changes, or a `rand()`, cannot change the set.
2. The driver meets the other party, and agrees with it.
3. A barrier stage has a task for each lane, in which all keys of the lane's parts are. What a lane
   finds goes to `work`, and so does its report, sealed. If one is lost, both drivers meet again:
   steps 2 and 3 are done anew, with the keys that lie in `work`.
4. The driver takes the reports, and finishes. What comes back is joined with the DataFrame.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from secrets import token_bytes
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import psijoin
from psijoin import lanes
from psijoin._call import stopped_with_its_call
from psijoin._errors import Error, InputError, NetworkError, PeerFailedError, UsageError
from psijoin._listening import log
from psijoin._session import TO_TELL_SECONDS, countries, names_of, summed, without_holder
from psijoin._tables import Use, Wanted
from psijoin._types import Columns, Labels, Which
from psijoin.lanes._driver import of_meeting
from psijoin.spark import _cluster, _frames, _tasks
from psijoin.spark._blocks import Blocks, Veil
from psijoin.spark._jobs import Jobs
from psijoin.spark._work import Work

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

KEYS, FOUND = "keys", "found"
"""Folders within `work`."""

BUCKETS = 4
"""The buckets of a partition, one of which is in memory at a time."""

NOT_IN_LANES = {
    "align": "a common order",
    "job": "a job",
    "check": "a comparison of settings alone",
    "output": "an output",
    "budget": "a budget",
}
"""What only the driver does."""

Role = Literal["receive", "send"]


class Table(NamedTuple):
    """A DataFrame, and what a join reads of it."""

    frame: DataFrame
    schema: pyarrow.Schema
    """The columns that are read, as the DataFrame names them."""
    key: Mapping[str, Any]
    """`on`, `normalize` and `bad_keys` of `psijoin.lanes`."""
    beside: Mapping[str, Any]
    """`numbers`, `labels`, `groups`, `give` and `repeated` of `psijoin.lanes`."""
    veil: Veil
    blocks: Blocks

    def columns(self) -> Iterator[Any]:
        """Gives the columns that are read, as they are compared."""
        return (_frames.compared(self.frame, name) for name in self.schema.names)


class Ended(NamedTuple):
    """A join that has ended."""

    finished: lanes.Finished
    rows: DataFrame | None
    """This party's rows, if it learns them."""


def joined(
    role: Role,
    frame: DataFrame,
    on: Columns | None,
    at_once: int,
    work: str | None,
    options: Mapping[str, Any],
) -> Ended:
    """Joins in lanes, of which this number can run at once."""
    options = {name: value for name, value in options.items() if value is not None}
    rows = options.pop("rows", "shared")
    _check(options, rows, at_once, work)
    spark = frame.sparkSession
    _cluster.check(spark)
    table = _table(role, frame, on, options)
    _cluster.check_slots(spark, at_once, seconds=_cluster.SECONDS_TO_COME)
    with Work(spark, str(work)) as folder:
        with _declined_if_it_fails(options):
            facts = _read(table, folder, at_once)
            # Executors may have gone meanwhile, and others come in their place.
            _cluster.check_slots(spark, at_once, seconds=_cluster.SECONDS_TO_COME)
        agreed = lanes.agree(
            role, facts, lanes=at_once, comes_again=True, **{**options, **table.key}
        )
        finished, where = _attempts(agreed, table, folder, at_once, options)
        folder.remove(KEYS)
        if not _learns_rows(role, options):
            return Ended(finished, None)
        if where is None:
            # The result follows from the sizes of the sets.
            found = spark.createDataFrame([], _of_spark(_tasks.of_found()))
        else:
            folder.keep(where)
            found = folder.read(where, _of_spark(_tasks.of_found()))
        shared = _shared(table, found, finished)
        if finished.taken is not None:
            jobs = Jobs(spark)
            checking = jobs.running("psijoin checks columns")
            with stopped_with_its_call(jobs), _told_by_tasks(), checking:
                # What is malformed is told now, when the other party does not hear of it.
                shared.write.format("noop").mode("overwrite").save()
        return Ended(finished, _rows(table, shared, rows))


def _read(table: Table, folder: Work, at_once: int) -> lanes.Facts:
    """Writes all keys of the table, and returns the facts about it."""
    jobs = Jobs(table.frame.sparkSession)
    running = jobs.running("psijoin reads keys")
    with stopped_with_its_call(jobs), _told_by_tasks(reading=True), running:
        return _materialised(table, folder, at_once)


def _attempts(
    agreed: lanes.Agreed, table: Table, folder: Work, at_once: int, options: Mapping[str, Any]
) -> tuple[lanes.Finished, str | None]:
    """Runs the lanes, and ends the session. If a lane is lost, both sides meet again, with the keys
    that lie in the folder. Returns the result, and where lanes have written; None if none ran.
    """
    for attempt in itertools.count(1):
        # A task of an earlier attempt may still be about to write.
        where = f"{FOUND}-{attempt}" if attempt > 1 else FOUND
        try:
            with agreed:
                if agreed.lanes:
                    _run_lanes(table, agreed, folder, where, options.get("proxy"))
                return agreed.finish(), where if agreed.lanes else None
        except Error as error:
            if not agreed.meets_again:
                raise
            lost = error
        log.warning("a lane was lost, and both sides meet again: %s", lost)
        folder.remove(where)
        with _declined_if_it_fails(options):
            slots = _cluster.slots_again(table.frame.sparkSession, at_once)
        agreed = agreed.again(slots)
    raise AssertionError("attempts end")


def _run_lanes(
    table: Table, agreed: lanes.Agreed, folder: Work, where: str, proxy: str | None
) -> None:
    """Runs all lanes, and takes their reports. If one is lost, the other side is told."""
    spark = table.frame.sparkSession
    jobs = Jobs(spark)
    running = jobs.running("psijoin runs lanes")
    try:
        with stopped_with_its_call(jobs), _stopped_with_session(agreed, jobs), _told_by_tasks(), running:
            _run(table, agreed, folder, where, proxy)
    except Error as error:
        if not jobs.is_stopped and _is_of_lane(error) and _cluster.is_alive(spark):
            agreed.lose_lane(str(error))
        raise


def _is_of_lane(error: Error) -> bool:
    """Returns whether this error of tasks is that a lane was lost. Nobody is at fault then, and
    nobody has told Spark to stop.
    """
    is_of_tasks = error.__cause__ is not None and "SPARK_JOB_CANCELLED" not in str(error.__cause__)
    return is_of_tasks and type(error) in (Error, NetworkError, PeerFailedError)


@contextmanager
def _declined_if_it_fails(options: Mapping[str, Any]) -> Iterator[None]:
    """Tells the other party, within the context, of a failure of this one. After Ctrl-C it is told
    if it is there already.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        meeting = of_meeting(options)
        if isinstance(error, KeyboardInterrupt):
            meeting["wait"] = min(meeting.get("wait", TO_TELL_SECONDS), TO_TELL_SECONDS)
        # How that went is logged: the failure counts.
        with suppress(Error):
            lanes.decline(**meeting)
        raise


def _learns_rows(role: Role, options: Mapping[str, Any]) -> bool:
    finds_rows = options.get("output_kind", "rows") == "rows"
    return finds_rows and (role == "receive" or options.get("learn") == "both")


def _check(options: Mapping[str, Any], rows: str, at_once: int, work: str | None) -> None:
    if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
        raise UsageError("`lanes` is a whole number of at least 1")
    if not work:
        raise UsageError("`lanes` needs `work`, a folder that the driver and all executors see")
    for name, what in NOT_IN_LANES.items():
        if options.get(name):
            raise UsageError(f"`{name}`: lanes do not know {what} yet. Leave `lanes` out: then the driver joins")
    kind = options.get("output_kind", "rows")
    beyond = {
        "`output_kind`: lanes do not know shares": str(kind).startswith("shares"),
    }
    if rows not in get_args(Which):
        raise UsageError('`rows`: they are "shared", "unshared" or "all"')
    if options.get("take") and rows != "shared":
        raise UsageError("`take`: the other party gives columns of shared rows: leave out `rows` or `take`")
    for message, is_asked in beyond.items():
        if is_asked:
            raise UsageError(f"{message} yet. Leave `lanes` out: then the driver joins")


def _table(role: Role, frame: DataFrame, on: Columns | None, options: Mapping[str, Any]) -> Table:
    """Checks the columns of the table, as far as that takes no rows of it."""
    kind = options.get("output_kind", "rows")
    normalize = options.get("normalize")
    wanted = Wanted(
        columns=None,
        use=Use.NOTHING,
        either=countries(normalize),
        key=names_of(on),
        beside_key={
            *map(without_holder, [*summed(kind), *names_of(options.get("group_by"))]),
            *names_of(options.get("give")),
        },
    )
    _frames.check(frame, wanted)
    read = [name for name in dict.fromkeys(frame.columns) if _frames.is_read(name, frame.columns, wanted)]
    with _told_by_tasks(reading=True):
        schema = _frames.selected(frame, read).limit(0).toArrow().schema
    beside: dict[str, Any] = {name: options[name] for name in ("give", "repeated") if name in options}
    beside["numbers"] = _own_numbers(role, frame.columns, kind) or None
    beside |= _own_labels(role, names_of(options.get("group_by")), options.get("groups"))
    key: dict[str, Any] = {"on": on, "normalize": normalize, "bad_keys": options.get("bad_keys")}
    # What is wrong with columns is said here.
    lanes.read(schema.empty_table(), **beside, **key)
    veil, blocks = Veil(token_bytes(16)), Blocks(token_bytes(32), token_bytes(16))
    return Table(frame, schema, key, beside, veil, blocks)


def _own_numbers(role: Role, columns: Sequence[str], kind: Any) -> list[str]:
    """Returns the columns of numbers that this party has."""
    own = "receiver." if role == "receive" else "sender."
    named = {name: without_holder(name) for name in summed(kind)}
    is_own = {name: name.startswith(own) or name in columns and named[name] == name for name in named}
    return list(dict.fromkeys(named[name] for name in named if is_own[name]))


def _own_labels(role: Role, by: Sequence[str], groups: Labels | None) -> dict[str, Any]:
    """Returns the columns of labels that this party has, and their lists, if both have such."""
    own = "receiver." if role == "receive" else "sender."
    lists = groups if isinstance(groups, Mapping) else {name: groups for name in by[:1] if groups}
    names = {name: name.removeprefix(own) for name in by if name.startswith(own)}
    listed = {names[name]: labels for name, labels in lists.items() if name in names}
    return {"labels": list(names.values()) or None, "groups": listed or None}


def _materialised(table: Table, folder: Work, at_once: int) -> lanes.Facts:
    """Writes all keys of the table, and returns the facts about it."""
    from pyspark.sql import functions as f

    # With dynamic allocation, there may be no executor yet.
    partitions = 4 * max(_cluster.slots_of(table.frame.sparkSession), at_once)
    named = [column.alias(f"column{place}") for place, column in enumerate(table.columns())]
    buckets = BUCKETS * partitions
    reading = _tasks.Reading(table.schema, table.key, table.beside, buckets, table.blocks)
    read = table.frame.select(named).mapInArrow(reading, _of_spark(_tasks.of_read()))
    # Equal keys are in one bucket, and a bucket in one partition.
    together = read.repartitionById(partitions, f.col(_tasks.BUCKET)).sortWithinPartitions(_tasks.BUCKET)
    merging = _tasks.Merging(table.beside["numbers"] or (), table.blocks)
    schema = _of_spark(_tasks.of_keys())
    written = folder.write(together.mapInArrow(merging, schema), KEYS)
    keys = folder.read(KEYS, schema)
    told = keys.agg(f.count("*"), f.sum(_tasks.DISTINCT)).collect()[0]
    folder.check(is_whole=told[0] == written)
    facts = keys.where(f.col(_tasks.DISTINCT).isNull()).select(_tasks.BLOCK).collect()
    nothing = lanes.read(table.schema.empty_table(), **table.beside, **table.key)
    opened = (table.blocks.open(_tasks.FACTS, bytes(block)) for (block,) in facts)
    return lanes.Facts.merge([nothing.facts, *opened], told[1] or 0)


def _run(
    table: Table, agreed: lanes.Agreed, folder: Work, where: str, proxy: str | None
) -> None:
    """Runs all lanes, and takes their reports."""
    from pyspark.sql import functions as f

    spark, blocks = table.frame.sparkSession, table.blocks
    keys = folder.read(KEYS, _of_spark(_tasks.of_keys())).where(f.col(_tasks.DISTINCT).isNotNull())
    placing = _tasks.Placing(agreed.router, blocks)
    placed = keys.select(_tasks.BLOCK).mapInArrow(placing, _of_spark(_tasks.of_placed()))
    # Without any row, Spark would leave out the stage.
    first = spark.range(0, agreed.lanes, 1, 1).select(f.col("id").cast("int").alias(_tasks.PART))
    placed = placed.unionByName(first, allowMissingColumns=True)
    by_lane = placed.repartitionById(agreed.lanes, _tasks.PART).sortWithinPartitions(_tasks.PART)
    running = _tasks.Running(agreed.ticket(0), blocks, proxy)
    schema = _of_spark(_tasks.of_found())
    # With dynamic allocation, executors come for tasks that wait, and each task for its other end.
    is_barrier = not _cluster.is_dynamic(spark)
    folder.write(by_lane.mapInArrow(running, schema, barrier=is_barrier), where)
    reports = folder.read(where, schema).where(f.col(_tasks.LANE).isNotNull()).collect()
    # Each is in the file of what its lane has found.
    folder.check(is_whole=len(reports) == agreed.lanes)
    for lane, report in reports:
        agreed.take(blocks.open(_tasks.in_report(lane), bytes(report)))


def _shared(table: Table, found: DataFrame, finished: lanes.Finished) -> DataFrame:
    """Returns the shared keys, veiled, and columns of the other party if some were taken."""
    from pyspark.sql import functions as f

    blocks = found.where(f.col(_tasks.LANE).isNull()).select(_tasks.BLOCK)
    if finished.taken is None:
        opening = _tasks.Opening(table.blocks, table.veil, finished.places)
        return blocks.mapInArrow(opening, _of_spark(_tasks.of_shared()))
    names = table.frame.columns
    schema = _tasks.with_taken(finished.taken, names)
    unpacking = _tasks.Unpacking(table.blocks, table.veil, finished.taken, names, schema)
    return blocks.mapInArrow(unpacking, _of_spark(schema))


def _rows(table: Table, shared: DataFrame, which: str) -> DataFrame:
    """Returns the rows of the table whose key is shared, or the others, or all with a column that
    tells which are shared. What stands behind the key comes with it.
    """
    from pyspark.sql import functions as f

    frame = table.frame
    fingerprints = _tasks.Fingerprints(table.schema, table.key, table.veil)
    theirs, *added = shared.columns
    [name] = _frames.unused("psijoin_key_of_row", 1, [*frame.columns, *shared.columns])
    # It wants a function, and one without type hints is from columns to a column. It may evaluate
    # it twice, unless that could give another result.
    of_rows: Any = f.arrow_udf(lambda *columns: fingerprints(*columns), "binary")  # type: ignore[attr-defined]
    key = of_rows.asNondeterministic()(*table.columns()).alias(name)
    rows = frame.select("*", key)
    if added:
        return rows.join(shared, rows[name] == shared[theirs], "inner").drop(name, theirs)
    how = {"shared": "left_semi", "unshared": "left_anti", "all": "left"}[which]
    joined = rows.join(shared, rows[name] == shared[theirs], how)
    if which == "all":
        is_shared = shared[theirs].isNotNull()
        joined = joined.withColumn(_frames.name_of_shared(frame.columns), is_shared).drop(theirs)
    return joined.drop(name)


def _of_spark(schema: pyarrow.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


@contextmanager
def _stopped_with_session(agreed: lanes.Agreed, jobs: Jobs) -> Iterator[None]:
    """Stops jobs of Spark, within the context, if the other side ends the session, whose reason is
    raised then.
    """
    told: list[Error] = []
    is_over = Event()

    def watch() -> None:
        try:
            agreed.watch()
        except Error as error:
            told.append(error)
            jobs.stop()
            # One that begins only now is stopped, too.
            while not is_over.wait(1):
                jobs.stop()

    Thread(target=watch, daemon=True).start()
    try:
        yield
    except Exception as error:
        if told:
            raise told[0] from error
        raise
    finally:
        is_over.set()


@contextmanager
def _told_by_tasks(*, reading: bool = False) -> Iterator[None]:
    """Raises the errors of this package that tasks of Spark have raised. The words of others may
    hold values: they are the cause.
    """
    try:
        yield
    except Error:
        raise
    except Exception as error:
        if _frames.is_interrupt(error):
            raise KeyboardInterrupt from error
        told = _of_task(str(error))
        if told is None and reading:
            told = InputError("cannot read the table: what gives its rows has failed")
        raise told or Error("Spark has failed to run the lanes of this join") from error


_OF_PYTHON = re.compile(
    r"^psijoin\._errors\.(\w+): (.*?)(?=\s*SQLSTATE:|\s*^\s+at |\s*\Z)", re.MULTILINE | re.DOTALL
)
"""An error of this package in the words of Spark."""


def _of_task(text: str) -> Error | None:
    """Returns the error of this package that an exception of Spark tells of."""
    found = _OF_PYTHON.search(text)
    kind = getattr(psijoin, found[1], None) if found else None
    if found and isinstance(kind, type) and issubclass(kind, Error):
        return kind(found[2])
    return None
