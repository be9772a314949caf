"""Joins with the party at the other end."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any, Literal

from psijoin import _psijoin, _tables
from psijoin._errors import UsageError, raised
from psijoin._identity import Identity
from psijoin._listening import Listener, Progress, progress_bar
from psijoin._tables import Use, Wanted
from psijoin._words import Columns, listed, names, words


class Session:
    """Joins with one other party. Each join meets it anew, one side listening and the other connecting.

    A join waits for the other party, up to `wait` seconds, and both call what fits: `receive` here and `send` there, for
    example. It can run in any thread, and in `asyncio.to_thread`. Ctrl-C ends it, on both sides.
    """

    statement: str | None
    """What each side has learned in the last join, in words."""
    report: dict[str, Any] | None
    """What is known of the last join, as `psijoin --report` writes it, whether it went well or not."""

    def __init__(
        self,
        *,
        peer: str,
        connect: str | None = None,
        listen: str | None = None,
        identity: Identity | None = None,
        wait: int = 60,
        timeout: int = 30,
        threads: int | None = None,
        memory: str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
        progress: Progress | bool = True,
    ) -> None:
        """A session with the party that has the fingerprint `peer`, at `connect`, or coming to `listen` (both HOST:PORT).

        `identity` is this party's; without one, the user's own. `timeout` is how many seconds the other party may be silent. `threads`,
        `memory` (as "2GB") and `spill_dir` bound what a join takes of this machine. `progress` is called with what is being done, bytes done
        and bytes in all; True shows a bar if tqdm is installed and somebody can see it.
        """
        if (connect is None) == (listen is None):
            raise UsageError("say where the parties meet: connect or listen, and not both")
        identity = identity or Identity.load_or_create()
        meeting = {"connect": connect, "listen": listen}
        trust = {"peer": peer, "identity": identity.path}
        limits = {
            "wait": wait,
            "timeout": timeout,
            "threads": threads,
            "memory": memory,
            "spill-dir": spill_dir,
        }
        self._words = words(meeting | trust | limits)
        self._progress = progress
        self.statement = None
        self.report = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left to be closed: each join has ended."""

    def receive(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        take: Columns | Literal["all"] | None = None,
        give: Columns | None = None,
        learn: Literal["receiver", "both"] = "receiver",
        rows: Literal["shared", "unshared", "all"] = "shared",
        align: bool = False,
        output: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """The rows of `table` whose key the other party has, too, in their order. The other party calls `send`.

        `table` is a data frame of pandas, polars, pyarrow or DuckDB, or anything else with `__arrow_c_stream__`; or a list of texts, which
        are keys. What comes back is of the same library; of a DuckDB relation, a pyarrow table. `on` names the key: a column, or several; a
        table of one column needs none.
        `normalize` says by what rule a column's values are compared, as {"email": "email"}.

        `take` are the columns of the other party that come with its shared keys, or "all" that it gives. With `learn="both"` on both sides the
        other party gets its rows, too; then `give` are columns for it, and `align` lets both have their rows in one common order, a row
        per key. `rows` are those that come back: "unshared" ones, or "all" with a column `shared`. With `output`, they go to a file of that
        name, and nothing comes back.

        Other options are those of the program, as `psijoin receive --help` lists them, with underscores: `protocol`, `job`,
        `record`, `terms`, `repeated`, `give_bytes`, `min_intersection`, `max_peer_keys`, `strict`.
        """
        return self._rows(
            "receive", table, on, normalize, take, give, learn, rows, align, output, options
        )

    def send(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        give: Columns | None = None,
        take: Columns | Literal["all"] | None = None,
        learn: Literal["receiver", "both"] = "receiver",
        rows: Literal["shared", "unshared", "all"] = "shared",
        align: bool = False,
        output: str | os.PathLike[str] | None = None,
        output_kind: str = "rows",
        **options: Any,
    ) -> Any:
        """Helps the other party to its result: it calls `receive`, `count`, `sum` or `threshold`.

        `output_kind` says what it gets: "rows", "count", "threshold:K" or "sum:COLUMN,…". `give` are the columns that go with shared keys. With
        `learn="both"` this party's rows come back, as those of `receive`; otherwise nothing. All else is as there.
        """
        options = {"output_kind": output_kind, **options}
        return self._rows(
            "send", table, on, normalize, take, give, learn, rows, align, output, options
        )

    def count(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        **options: Any,
    ) -> int:
        """How many keys are shared, and not which. The other party calls `send` with `output_kind="count"`."""
        options = {"normalize": normalize, "output_kind": "count", **options}
        return int(self._learned("receive", table, on, options))

    def threshold(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        least: int,
        normalize: Mapping[str, str] | None = None,
        **options: Any,
    ) -> bool:
        """Whether at least `least` keys are shared, and neither which nor how many. The other party calls `send` with
        `output_kind="threshold:K"`."""
        options = {"normalize": normalize, "output_kind": f"threshold:{least}", **options}
        return bool(self._learned("receive", table, on, options))

    def sum(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        columns: Columns,
        normalize: Mapping[str, str] | None = None,
        **options: Any,
    ) -> dict[str, Decimal]:
        """What columns of either party add up to over the shared keys, by their names. The other party calls `send` with
        `output_kind="sum:COLUMN,…"`, the same columns in the same order."""
        kind = f"sum:{listed(columns)}"
        options = {"normalize": normalize, "output_kind": kind, **options}
        sums = self._learned("receive", table, on, options)
        return {name: Decimal(value) for name, value in sums}

    def _rows(
        self,
        role: str,
        table: Any,
        on: Columns | None,
        normalize: Mapping[str, str] | None,
        take: Columns | None,
        give: Columns | None,
        learn: str,
        rows: str,
        align: bool,
        output: str | os.PathLike[str] | None,
        options: Mapping[str, Any],
    ) -> Any:
        named = {
            "normalize": normalize,
            "take": take if take == "all" else listed(take),
            "give": listed(give),
            "learn": learn,
            "rows": rows if rows != "shared" else None,
            "align": align,
            "output": output,
        }
        use = Use.FILE if output else Use.BACK if role == "receive" or learn == "both" else Use.NOTHING
        return self._learned(role, table, on, {**named, **options}, use, give)

    def _learned(
        self,
        role: str,
        table: Any,
        on: Columns | None,
        options: Mapping[str, Any],
        use: Use = Use.NOTHING,
        give: Columns | None = None,
    ) -> Any:
        """Joins, and keeps what is known of it."""
        self.statement = self.report = None
        columns = _columns_read(on, give, options.get("output_kind", "rows"))
        given = _tables.given(table, Wanted(columns, use))
        said = [role, *self._words, *words({"key": listed(on), **options})]
        bar = progress_bar() if self._progress is True else None
        progress = self._progress if callable(self._progress) else bar
        try:
            listener = Listener(progress)
            joined = _psijoin.join(said, given.rows, "the table", given.how, listener)
        except _psijoin.Failure as failure:
            error = raised(failure)
            self.report = error.report
            raise error from failure.__cause__
        finally:
            if bar is not None:
                bar.close()
        self.statement = joined["statement"]
        self.report = json.loads(joined["report"])
        learned = joined["learned"]
        return given.back(learned) if isinstance(learned, _psijoin.Rows) else learned


def _columns_read(on: Columns | None, give: Columns | None, kind: str) -> set[str] | None:
    """The columns that a join reads. None if that is not known: the key is the only column of a table, or a kind of output names
    columns in its own way."""
    return None if on is None or ":" in kind else {*names(on), *names(give)}
