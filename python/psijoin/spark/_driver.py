"""The calls of `psijoin.spark`. A session runs in the driver's process, and executors read the keys
and the shared rows; or it runs on executors, as `_lanes` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

from psijoin._errors import UsageError
from psijoin._joined import Compared, Counted, Grouped, Joined, Summed
from psijoin._session import Session
from psijoin._tables import library, of_library
from psijoin._types import Agreed, Columns, Helped, Labels, Learners, Meeting, RowOptions
from psijoin.spark import _cluster

if TYPE_CHECKING:
    from psijoin.spark._lanes import Ended
    from pyspark.sql import DataFrame

    class Shared(DataFrame):
        """A DataFrame that a join has given. Those that are derived from it are like any other."""

        rows: DataFrame
        """The DataFrame itself, as a `psijoin.Joined` has it."""
        statement: str
        """The statement of who has learned what."""
        report: dict[str, Any]
        """The facts of the join, as in the program's reports."""

else:
    # To import this module takes no PySpark.
    Shared = Any


class InLanes(TypedDict, total=False):
    """Options of joins that run on executors: see `receive`."""

    lanes: int | None
    work: str | None


class Receiving(InLanes, Meeting, RowOptions, total=False):
    """Options of a receiver: those of `Session`, and of its `receive`."""

    learn: Learners


class Sending(InLanes, Meeting, RowOptions, Helped, total=False):
    """Options of a sender: those of `Session`, and of its `send`."""

    learn: Learners


class Learning(InLanes, Meeting, Agreed, total=False):
    """Options of a receiver of something else than rows."""

    normalize: Mapping[str, str] | None


def receive(frame: DataFrame, on: Columns | None = None, **options: Unpack[Receiving]) -> Shared:
    """Returns the rows of `frame` whose key the other party has, too, and with `take` columns of
    the other party beside them. The other party calls `send`, or runs `psijoin send`.

    The join runs in this call. What comes back is a DataFrame with two further attributes:
    `statement` and `report`, as in `psijoin.Joined`. It holds the keys that the join has found, and
    reads their rows of `frame` at each action. So what is done to it later never runs another join,
    and a row whose key was not in the join is never among its rows, whatever becomes of `frame`.

    Options are those of `psijoin.Session` (where and with whom the parties meet, and the driver's
    resources) and of its `receive` (what is joined and how). Those that are not for DataFrames are
    `output`, as they have a method `write`, and `align`, as their rows have no order.

    All calls of this module take two more:

    - `lanes`: the number of tasks in which executors run the session, all of them at the same time.
      Without it the driver runs it, whose memory holds all keys: that is simpler, can do all that a
      `Session` can, and is the faster of the two up to some 10^7 rows. With it no process holds
      more than a part of the keys. Executors need this package, and a way to the other party.
    - `work`: for lanes, a folder that the driver and all executors see, for sealed keys: a path, or
      an address as "s3a://bucket/tmp". What the result reads stays there until Spark's driver ends,
      and nothing else does.

    Lanes do not run under Spark Connect: see `docs/spark.md`.
    """
    if options.get("lanes") is not None:
        ended = _in_lanes("receive", frame, on, options)
        joined: Joined[Any] = Joined(ended.rows, ended.finished.statement, ended.finished.report)
    else:
        joined = _session(frame, options).receive(frame, on, **_of_join(options))
    rows: Any = joined.rows
    if rows is None:
        # It was only checked.
        return cast("Shared", joined)
    rows.rows, rows.statement, rows.report = rows, joined.statement, joined.report
    return cast("Shared", rows)


def send(
    frame: DataFrame, on: Columns | None = None, **options: Unpack[Sending]
) -> Joined[DataFrame | None]:
    """Helps the other party to its result, and gives it columns with `give`. That party calls
    `receive`, `count`, `sum`, `threshold` or `grouped`, or runs `psijoin receive`.

    The result has the `statement` and the `report`, and with `learn="both"` this party's `rows`, a
    DataFrame as `receive` returns it. Options are those of `psijoin.Session` and of its `send`:
    `output_kind="count"`, for example, helps to a count.
    """
    if options.get("lanes") is not None:
        ended = _in_lanes("send", frame, on, options)
        return Joined(ended.rows, ended.finished.statement, ended.finished.report)
    joined: Joined[Any] = _session(frame, options).send(frame, on, **_of_join(options))
    return joined


def count(frame: DataFrame, on: Columns | None = None, **options: Unpack[Learning]) -> Counted:
    """Counts the shared keys, without learning which they are: the `count` of the result. The other
    party calls `send` with `output_kind="count"`. Options are those of `psijoin.Session` and of its
    `count`.
    """
    if options.get("lanes") is not None:
        return Counted(*_told(_in_lanes("receive", frame, on, options, output_kind="count")))
    return _session(frame, options).count(frame, on, **_of_join(options))


def threshold(
    frame: DataFrame, on: Columns | None = None, *, least: int, **options: Unpack[Learning]
) -> Compared:
    """Finds out whether at least `least` keys are shared, and neither which nor how many. The other
    party calls `send` with `output_kind="threshold:K"`. Options are those of `psijoin.Session` and
    of its `threshold`.
    """
    if options.get("lanes") is not None:
        kind = ("threshold", least)
        return Compared(*_told(_in_lanes("receive", frame, on, options, output_kind=kind)))
    return _session(frame, options).threshold(frame, on, least=least, **_of_join(options))


def sum(
    frame: DataFrame, on: Columns | None = None, *, columns: Columns, **options: Unpack[Learning]
) -> Summed:
    """Sums columns of either party over the shared keys: the `sums` of the result, by their names.
    The other party calls `send` with `output_kind="sum:COLUMN,…"`. Options are those of
    `psijoin.Session` and of its `sum`.
    """
    if options.get("lanes") is not None:
        kind = ("sum", columns)
        return Summed(*_told(_in_lanes("receive", frame, on, options, output_kind=kind)))
    return _session(frame, options).sum(frame, on, columns=columns, **_of_join(options))


def grouped(
    frame: DataFrame,
    on: Columns | None = None,
    *,
    by: Columns,
    sums: Columns | None = None,
    means: Columns | None = None,
    groups: Labels | None = None,
    min_group: int | None = None,
    noise: str | None = None,
    **options: Unpack[Learning],
) -> Grouped[DataFrame]:
    """Counts the shared keys of each group, and sums columns of either party over them: the
    `groups` of the result, a DataFrame. The other party calls `send` with
    `output_kind="counts,sum:COLUMN,…,mean:COLUMN,…"`, and the same `group_by`, `groups`,
    `min_group` and `noise`. Everything is as in `psijoin.Session.grouped`.
    """
    asked: dict[str, Any] = {"groups": groups, "min_group": min_group, "noise": noise}
    if options.get("lanes") is not None:
        kind = ("counts", sums, means)
        told = _told(_in_lanes("receive", frame, on, options, output_kind=kind, group_by=by, **asked))
        return Grouped(of_library(frame, told[0]), *told[1:])
    session, of_join = _session(frame, options), {**asked, **_of_join(options)}
    totals: Grouped[Any] = session.grouped(frame, on, by=by, sums=sums, means=means, **of_join)
    return totals


_OF_SESSIONS = frozenset(Meeting.__annotations__)

_OF_LANES = frozenset(InLanes.__annotations__)


def _in_lanes(
    role: Literal["receive", "send"],
    frame: Any,
    on: Columns | None,
    options: Mapping[str, Any],
    **asked: Any,
) -> Ended:
    """Joins in lanes."""
    _check(frame)
    from psijoin.spark import _lanes

    told = {name: value for name, value in options.items() if name not in _OF_LANES}
    with _cluster.end_is_told(frame.sparkSession):
        return _lanes.joined(role, frame, on, options["lanes"], options.get("work"), {**told, **asked})


def _told(ended: Ended) -> tuple[Any, str, dict[str, Any]]:
    return ended.finished.learned, ended.finished.statement, ended.finished.report


def _check(frame: Any) -> None:
    if library(frame) != "pyspark":
        message = f"psijoin.spark takes DataFrames of Spark, not {type(frame).__qualname__}: see psijoin.Session"
        raise TypeError(message)
    _cluster.warn_of_clear_connections(frame.sparkSession)


def _session(frame: object, options: Mapping[str, Any]) -> Session:
    _check(frame)
    if options.get("work") is not None:
        raise UsageError("`work` is for lanes: say their number with `lanes`, or leave it out")
    return Session(**{name: value for name, value in options.items() if name in _OF_SESSIONS})


def _of_join(options: Mapping[str, Any]) -> dict[str, Any]:
    others = _OF_SESSIONS | _OF_LANES
    return {name: value for name, value in options.items() if name not in others}
