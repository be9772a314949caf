"""Joins with the party at the other end."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from threading import Timer
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack, overload

from psijoin import _psijoin, _tables
from psijoin._call import stopped_with_its_call
from psijoin._errors import UsageError, raised
from psijoin._identity import Identity
from psijoin._joined import Compared, Counted, Grouped, Joined, Summed
from psijoin._listening import Listener, progress_bar
from psijoin._tables import Use, Wanted
from psijoin._types import (
    Agreed,
    Asked,
    Columns,
    Distributed,
    FileOptions,
    Frame,
    HelpingFileOptions,
    HelpingOptions,
    HelpingRowOptions,
    Labels,
    Lazy,
    Learners,
    Options,
    Path,
    Progress,
    RowOptions,
    Stoppable,
    Which,
)

Table = TypeVar("Table", bound=Frame | Distributed)
Result = TypeVar("Result")

TO_TELL_SECONDS = 10
"""The time to tell the other party of a Ctrl-C that came before the parties met."""


class Session:
    """Joins with one other party. Each join meets it again, one side listening and the other
    connecting, or both at a relay or in a folder.

    A join waits for the other party, up to `wait` seconds, and both make matching calls:
    `receive` here and `send` there, for example. It can run in any thread, and in
    `asyncio.to_thread`. Ctrl-C ends it, on both sides.

    Ann's machine listens, and Bob's connects to it. Each knows the other by its fingerprint:

    >>> import psijoin, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> ann, bob = (psijoin.Identity.create(f"{folder}/{name}.pem") for name in ("ann", "bob"))
    >>> at_ann = psijoin.Session(identity=ann, peer=bob.fingerprint, listen="127.0.0.1:7765", progress=False)
    >>> at_bob = psijoin.Session(identity=bob, peer=ann.fingerprint, connect="127.0.0.1:7765", progress=False)
    >>> shared, _ = psijoin.together(lambda: at_ann.receive(["a", "b"]), lambda: at_bob.send(["b", "c"]))
    >>> shared.rows
    ['b']
    """

    statement: str | None
    """The statement of who has learned what in the last join that ended here. If several threads
    join, each has it in the result of its own call.
    """
    report: dict[str, Any] | None
    """The facts of that join, as in the program's reports, whether it succeeded or not."""

    def __init__(
        self,
        *,
        peer: str | Sequence[str],
        connect: str | None = None,
        listen: str | None = None,
        relay: str | None = None,
        relay_key: Path | None = None,
        via: Path | None = None,
        proxy: str | None = None,
        identity: Identity | None = None,
        passphrase: str | None = None,
        wait: int = 60,
        timeout: int | None = None,
        threads: int | None = None,
        memory: str | None = None,
        spill_dir: Path | None = None,
        progress: Progress | bool = True,
    ) -> None:
        """Creates a session with one other party.

        - `peer`: the other party's name, as `peers` lists it, or its fingerprint, as its `Identity`
          has it, or as its `psijoin fingerprint` prints it. With a list, whichever of them comes is
          the other party.
        - `connect` or `listen`: where the parties meet, as HOST:PORT. One side listens, for example
          at "0.0.0.0:7766", and the other connects; it does not matter which. A name may tell it.
        - `relay`: both sides meet at this relay: "HOST:PORT", or "wss://HOST/PATH" behind a web
          server. It carries what they say, and can neither read nor change it. `relay_key` is the
          file of an access key, if the relay demands one.
        - `via`: both sides meet in this folder, which both can read and write: the session goes
          through files.
        - `proxy`: the web proxy to connect through, as "http://HOST:PORT"; without it, what
          `https_proxy` and `no_proxy` in the environment say.
        - `identity`: this party's; without one, the user's own.
        - `passphrase`: that of the identity, if it has one. Take it from where secrets are kept,
          such as `getpass.getpass()`, and not from a program's text.
        - `wait`: the seconds for which to try to meet the other party.
        - `timeout`: the seconds for which the other party may be silent before it counts as gone:
          30, or 1800 in a folder, if nothing is said. A party that computes or waits gives signs of
          life.
        - `threads`: the number of threads that compute; by default, one per core.
        - `memory`: the memory that a join may use, as "2GB", at least "330MB"; without it, half of
          what the machine has left. Of a table that needs more, the rest goes to an encrypted file
          in the folder `spill_dir`, or where the system has temporary files.
        - `progress`: a function that another thread calls with the name of the work, bytes done and
          bytes in all (0 of 0 if unknown). True shows a bar of tqdm, or else of rich,
          where one of them is installed and somebody can see it.
        """
        if [connect, listen, relay, via].count(None) < 3:
            raise UsageError("say where the parties meet by one of connect, listen, relay and via")
        options = {
            "peer": peer if isinstance(peer, str) else list(peer),
            "connect": connect,
            "listen": listen,
            "relay": relay,
            "relay_key": relay_key,
            "via": via,
            "proxy": proxy,
            "identity": (identity or Identity.load_or_create()).path,
            "passphrase": passphrase,
            "wait": wait,
            "timeout": timeout,
            "threads": threads,
            "memory": memory,
            "spill_dir": spill_dir,
        }
        try:
            self._party = _psijoin.Party(options)
        except _psijoin.Failure as failure:
            raise raised(failure) from None
        self._progress = progress
        self._running: set[Stoppable] = set()
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
        """Stops joins that still run in other threads."""
        self.stop()

    def stop(self) -> None:
        """Stops the joins of this session that run in other threads, as Ctrl-C stops one in the
        main thread: they raise `Error`, and the other party hears of it."""
        for running in list(self._running):
            running.stop()

    @overload
    def receive(
        self,
        table: Table,
        on: Columns | None = None,
        *,
        learn: Learners = "receiver",
        output: None = None,
        **options: Unpack[RowOptions],
    ) -> Joined[Table]: ...
    @overload
    def receive(
        self,
        table: Lazy[Result],
        on: Columns | None = None,
        *,
        learn: Learners = "receiver",
        output: None = None,
        **options: Unpack[RowOptions],
    ) -> Joined[Result]: ...
    # A list that comes back with columns beside it has no type of its own.
    @overload
    def receive(
        self,
        table: list[str],
        on: Columns | None = None,
        *,
        take: None = None,
        rows: Literal["shared", "unshared"] = "shared",
        learn: Learners = "receiver",
        output: None = None,
        **options: Unpack[Options],
    ) -> Joined[list[str]]: ...
    @overload
    def receive(
        self,
        table: object,
        on: Columns | None = None,
        *,
        learn: Learners = "receiver",
        output: Path,
        **options: Unpack[FileOptions],
    ) -> Joined[None]: ...
    @overload
    def receive(
        self,
        table: object,
        on: Columns | None = None,
        *,
        learn: Learners = "receiver",
        output: None = None,
        **options: Unpack[RowOptions],
    ) -> Joined[Any]: ...
    def receive(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        take: Columns | Literal["all"] | None = None,
        give: Columns | None = None,
        learn: Learners = "receiver",
        rows: Which = "shared",
        align: bool = False,
        output: Path | None = None,
        **options: Any,
    ) -> Joined[Any]:
        """Returns the rows of `table` whose key the other party has, too, in their order. The other
        party calls `send`. The result has the `rows`, the `statement` and the `report` of this
        join.

        >>> import psijoin
        >>> with psijoin.local_pair() as (ann, bob):
        ...     shared, _ = psijoin.together(
        ...         lambda: ann.receive(["eve@x.org", "Ann@x.org"], normalize={"key": "email"}),
        ...         lambda: bob.send(["ann@x.org", "bob@x.org"], normalize={"key": "email"}),
        ...     )
        >>> shared.rows
        ['Ann@x.org']
        >>> print(shared.statement.splitlines()[0])
        The sender learned your set's size (2). You learned 1 shared key and the sender's set size (2).

        Both sides must agree on what is learned. Each chooses for itself:

        - `table`: a data frame of pandas, polars, pyarrow, DuckDB or Spark, or anything else with
          `__arrow_c_stream__`; or a list of texts, which are keys, in a column `key`. The rows
          come back in the type of that library; for a DuckDB relation, as a pyarrow table.
        - `on`: the key: a column, or several, in the same order on both
          sides; their names may differ. A table of one column needs none.
        - `normalize`: the rule by which a key column's values are compared, as {"email": "email",
          "born": "date:%d.%m.%Y"}: trim, lowercase, casefold, digits, nfc, nfkc, email
          (trim+lowercase), email:gmail, email:google, phone, null:WORDS (null:common), text, or a
          rule that reads a value: number, number:BITS, bool, uuid, phone:COUNTRY,
          phone:column:COLUMN, date, date:FORMAT, date:excel, timestamp, timestamp:ZONE,
          timestamp:unix or time. sha256 alone reads hashes, and as the last of several makes them:
          email+sha256.
        - `bad_keys`: the treatment of key cells that a rule cannot read: "refuse" (the default), an
          error that names them; "null", their rows have no key; or "null:5%", an error only if more
          than 5 percent of the rows have one.
        - `rows`: the rows that are returned: "shared"; "unshared", all others; or "all", with a
          column `shared`, which is true for shared ones. The other party does not learn this.
        - `output`: a file for the rows, whose ending determines its format (.csv, .parquet, .arrow
          and so on). Then no rows are returned. `no_clobber=True` refuses a file that exists;
          `quote_empty=True` writes empty texts as "" into CSV, unlike nulls; `quote_formulas=True`
          writes a single quote before each text in CSV and TSV that a spreadsheet would take for a
          formula.

        Columns of one party go to the other, for shared keys only:

        - `take`: columns of the other party that come with its shared keys, or "all" that it gives.
          A column whose name is taken gets the prefix `partner_`. This party learns names and types
          of all columns that are offered, and the other which are taken.
        - `take_rows`, `take_bytes`: the most rows for each key, and bytes for each row, to take of
          them; if the other party gives more, both sides end with an error. The result is in
          memory, and these bound it.
        - `give`: columns for the other party, if it learns, too (`learn="both"`).
        - `give_bytes`: the bytes of a row of these columns, which the other party learns; by
          default, those of the longest row.
        - `repeated`: what to do for `give` and `align` if several rows have one key: "refuse" (the
          default), "first", or "list:K", up to K rows.

        The two sides agree on:

        - `learn`: who learns which of its rows are shared: "receiver", or "both"; then `send`
          returns rows, too.
        - `align`: true if both have their rows in one common order, which tells nothing about the
          tables, with a row per key. It needs `learn="both"`. A side that breaks off and runs again
          gets another order.
        - `output_kind`: "shares" (with `output`) is the one that has no method of its own; see
          `count`, `threshold`, `sum`, and `grouped`, whose `by`, `groups`, `min_group` and `noise`
          are `group_by`, `groups`, `min_group` and `noise` here.
        - `min_intersection`: fewer shared keys than this are an error (`PolicyError`), and nothing
          more is learned.
        - `post_quantum`: nothing rests on what a quantum computer is known to break, so that
          whoever records the join now will not read it later. Both sides say it.
        - `protocol`: the protocol, as `psijoin protocols` lists them; without it, the one that
          suits sizes and network. Whoever can delay what passes on the line can steer that choice.
        - `terms`: a file with a text that both parties agree to. Any difference ends the join
          before data moves.
        - `record`: a new file for a record of the join, which both sides ask for, and sign.
        - `check`: compare all settings, and stop before data moves. No rows are returned.

        And each for itself, again:

        - `max_peer_keys`: refuse more keys than this of the other party: 1000000, or "1e6".
        - `strict`: raise an error where otherwise there is a warning, as of key columns that differ
          in kind.
        - `deadline`: the seconds that everything may take together; then there is a `NetworkError`,
          and the other party hears of it. Rows that are already there are returned.
        - `job`: a folder in which the join keeps its progress, so that a repeated call resumes
          where it stopped.
        - `report`: a file for the `report` of the result.

        Where and with whom the parties meet, and the resources of a join, are arguments of
        `Session`: `listen`, `connect`, `relay`, `via`, `proxy`, `identity`, `passphrase`,
        `peer`, `wait`, `timeout`, `threads`, `memory`, `spill_dir`.
        """
        options = {"take": take, "learn": learn, "align": align, **options}
        return self._rows("receive", table, on, normalize, give, rows, output, options)

    # With the same types as `receive` if this party learns, too.
    @overload
    def send(
        self,
        table: object,
        on: Columns | None = None,
        *,
        learn: Literal["receiver"] = "receiver",
        **options: Unpack[HelpingOptions],
    ) -> Joined[None]: ...
    @overload
    def send(
        self,
        table: object,
        on: Columns | None = None,
        *,
        learn: Learners = "receiver",
        output: Path,
        **options: Unpack[HelpingFileOptions],
    ) -> Joined[None]: ...
    @overload
    def send(
        self,
        table: Table,
        on: Columns | None = None,
        *,
        learn: Literal["both"],
        output: None = None,
        **options: Unpack[HelpingRowOptions],
    ) -> Joined[Table]: ...
    @overload
    def send(
        self,
        table: Lazy[Result],
        on: Columns | None = None,
        *,
        learn: Literal["both"],
        output: None = None,
        **options: Unpack[HelpingRowOptions],
    ) -> Joined[Result]: ...
    @overload
    def send(
        self,
        table: list[str],
        on: Columns | None = None,
        *,
        take: None = None,
        rows: Literal["shared", "unshared"] = "shared",
        learn: Literal["both"],
        output: None = None,
        **options: Unpack[HelpingOptions],
    ) -> Joined[list[str]]: ...
    @overload
    def send(
        self,
        table: object,
        on: Columns | None = None,
        *,
        learn: Literal["both"],
        output: None = None,
        **options: Unpack[HelpingRowOptions],
    ) -> Joined[Any]: ...
    def send(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        give: Columns | None = None,
        take: Columns | Literal["all"] | None = None,
        learn: Learners = "receiver",
        rows: Which = "shared",
        align: bool = False,
        output: Path | None = None,
        output_kind: Asked = "rows",
        **options: Any,
    ) -> Joined[Any]:
        """Helps the other party to its result. That party calls `receive`, `count`, `sum`,
        `threshold` or `grouped`.

        >>> import psijoin
        >>> with psijoin.local_pair() as (ann, bob):
        ...     _, sent = psijoin.together(
        ...         lambda: ann.receive(["a", "b"], learn="both"), lambda: bob.send(["b", "c"], learn="both")
        ...     )
        >>> sent.rows
        ['b']

        - `output_kind`: the other party's output: "rows", "count", "threshold:K" or
          "sum:COLUMN,…" (or a pair, ("sum", [COLUMN, …])), the same on both sides; "counts",
          "counts,sum:COLUMN,…" or "counts,sum:COLUMN,…,mean:COLUMN,…" (or ("counts", [COLUMN, …]),
          or ("counts", [COLUMN, …], [COLUMN, …])) for `grouped`. With "shares" and `output` on both
          sides, each gets a file of shares.
        - `group_by`, `groups`, `min_group`, `noise`: the columns by which `grouped` groups there,
          the lists of their labels, the least size, and the noise that this party adds.
        - `give`: the columns that go to the other party with the shared keys. It chooses those
          that it takes.
        - `learn`: with "both" this party's rows are returned, as those of `receive`; otherwise
          nothing is.
        - `allow_sums_that_reveal_keys`: help to sums of columns of the receiver, too, and to groups
          by them of however few keys. It chooses their numbers, and can tell from a sum which of
          some keys you have; and it chooses who is in a group, which may have a single key.
        - `budget`: a file that `psijoin budget create` made for this table: what the other party
          may have of it over all answers. More is an error on both sides (`PolicyError`).

        Everything else is as in `receive`.
        """
        options = {"take": take, "learn": learn, "align": align, **options}
        options = {"output_kind": output_kind, **options}
        return self._rows("send", table, on, normalize, give, rows, output, options)

    def count(
        self,
        table: object,
        on: Columns | None = None,
        *,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Counted:
        """Counts the shared keys, without learning which they are: the `count` of the result. The
        other party calls `send` with `output_kind="count"`.

        >>> import psijoin
        >>> with psijoin.local_pair() as (ann, bob):
        ...     shared, _ = psijoin.together(
        ...         lambda: ann.count(["a", "b"], min_intersection=1),
        ...         lambda: bob.send(["b", "c"], min_intersection=1, output_kind="count"),
        ...     )
        >>> shared.count
        1

        The options are those of `receive` that are not about rows.
        """
        told = {"normalize": normalize, "output_kind": "count", **options}
        return Counted(*self._learned("receive", table, on, told))

    def threshold(
        self,
        table: object,
        on: Columns | None = None,
        *,
        least: int,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Compared:
        """Finds out whether at least `least` keys are shared, and neither which nor how many: the
        result is true if so, as is its `is_reached`. The other party calls `send` with
        `output_kind="threshold:K"`.

        >>> import psijoin
        >>> with psijoin.local_pair() as (ann, bob):
        ...     shared, _ = psijoin.together(
        ...         lambda: ann.threshold(["a", "b"], least=2),
        ...         lambda: bob.send(["b", "c"], output_kind="threshold:2"),
        ...     )
        >>> shared.is_reached
        False

        The options are those of `receive` that are not about rows.
        """
        told = {"normalize": normalize, "output_kind": ("threshold", least), **options}
        return Compared(*self._learned("receive", table, on, told))

    def sum(
        self,
        table: object,
        on: Columns | None = None,
        *,
        columns: Columns,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Summed:
        """Sums columns of either party over the shared keys: the `sums` of the result, by their
        names. The other party calls `send` with `output_kind="sum:COLUMN,…"`, the same columns in
        the same order.

        >>> import psijoin, pyarrow
        >>> payments = pyarrow.table({"id": ["b", "c"], "paid": [20, 5]})
        >>> with psijoin.local_pair() as (ann, bob):
        ...     shared, _ = psijoin.together(
        ...         lambda: ann.sum(["a", "b"], columns="paid"),
        ...         lambda: bob.send(payments, on="id", output_kind="sum:paid"),
        ...     )
        >>> shared.sums
        {'paid': Decimal('20')}

        Without `min_intersection` the sum may be over one key, and is then that key's number.

        The options are those of `receive` that are not about rows.
        """
        told = {"normalize": normalize, "output_kind": ("sum", columns), **options}
        sums, statement, report = self._learned("receive", table, on, told)
        return Summed({name: Decimal(value) for name, value in sums}, statement, report)

    @overload
    def grouped(
        self,
        table: Table,
        on: Columns | None = None,
        *,
        by: Columns,
        sums: Columns | None = None,
        means: Columns | None = None,
        groups: Labels | None = None,
        min_group: int | None = None,
        noise: str | None = None,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Grouped[Table]: ...
    @overload
    def grouped(
        self,
        table: Lazy[Result],
        on: Columns | None = None,
        *,
        by: Columns,
        sums: Columns | None = None,
        means: Columns | None = None,
        groups: Labels | None = None,
        min_group: int | None = None,
        noise: str | None = None,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Grouped[Result]: ...
    @overload
    def grouped(
        self,
        table: object,
        on: Columns | None = None,
        *,
        by: Columns,
        sums: Columns | None = None,
        means: Columns | None = None,
        groups: Labels | None = None,
        min_group: int | None = None,
        noise: str | None = None,
        normalize: Mapping[str, str] | None = None,
        **options: Unpack[Agreed],
    ) -> Grouped[Any]: ...
    def grouped(
        self,
        table: Any,
        on: Columns | None = None,
        *,
        by: Columns,
        sums: Columns | None = None,
        means: Columns | None = None,
        groups: Labels | None = None,
        min_group: int | None = None,
        noise: str | None = None,
        normalize: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Grouped[Any]:
        """Counts the shared keys of each group, and sums columns of either party over them: the
        `groups` of the result, a data frame. The other party calls `send` with
        `output_kind="counts,sum:COLUMN,…,mean:COLUMN,…"`, and the same `group_by`, `groups`,
        `min_group` and `noise`.

        >>> import psijoin, pyarrow
        >>> customers = pyarrow.table({"id": ["a", "b", "c"], "segment": ["test", "test", "control"]})
        >>> payments = pyarrow.table({"id": ["a", "b", "d"], "paid": [20, 5, 1]})
        >>> groups = {"min_group": 2}
        >>> with psijoin.local_pair() as (ann, bob):
        ...     shared, _ = psijoin.together(
        ...         lambda: ann.grouped(customers, on="id", by="receiver.segment", sums="sender.paid", **groups),
        ...         lambda: bob.send(
        ...             payments, "id", output_kind="counts,sum:sender.paid", group_by="receiver.segment", **groups
        ...         ),
        ...     )
        >>> shared.groups.to_pylist()[1]
        {'receiver.segment': 'test', 'shared_keys': 2, 'withheld': False, 'sum:sender.paid': Decimal('25')}

        - `by`: the columns whose values name the groups: one, or two that are crossed, as
          "receiver.COLUMN" or "sender.COLUMN". There can be 256 groups. The other side learns the
          values of this side's columns, and not which key has which, unless both have a list. Rows
          with one key must have one value.
        - `groups`: a list of the labels of the column, ["test", "control"], or a mapping from
          columns to such lists, on both sides. Then the values of that column are not told. One
          that is not on the list counts as "other"; null is a group, too.
        - `sums`: the columns that are added up.
        - `means`: columns that are added up, and whose sums are divided by the number of shared
          keys.
        - `min_group`: a group of fewer shared keys is withheld: its count, and its sums. Without
          it, and without noise, the other party refuses groups by columns of this one.
        - `noise`: the noise that the other party adds to all counts and sums, so that no single key
          shows: "laplace:epsilon=E", with ",bound=COLUMN:LOW..HIGH" for each column that is added
          up. E is the privacy loss of the counts, and again of the sums of each column.

        The data frame is of the library of `table`: of pandas, polars, pyarrow or Spark, and of
        pyarrow for a relation of DuckDB; for any other table, it is something with
        `__arrow_c_stream__`.
        The options are those of `receive` that are not about rows.
        """
        totals = {"output_kind": ("counts", sums, means), "group_by": by, "groups": groups}
        told = {"normalize": normalize, **totals, "min_group": min_group, "noise": noise, **options}
        return Grouped(*self._learned("receive", table, on, told))

    def _rows(
        self,
        role: Literal["receive", "send"],
        table: Any,
        on: Columns | None,
        normalize: Mapping[str, str] | None,
        give: Columns | None,
        rows: str,
        output: Path | None,
        options: Mapping[str, Any],
    ) -> Joined[Any]:
        named = {
            "normalize": normalize,
            "give": give,
            # A party without rows may have this default, too.
            "rows": None if rows == "shared" else rows,
            "output": output,
        }
        gets_rows = role == "receive" or options["learn"] == "both"
        use = Use.FILE if output else Use.BACK if gets_rows else Use.NOTHING
        return Joined(*self._learned(role, table, on, {**named, **options}, use, give))

    def _learned(
        self,
        role: Literal["receive", "send"],
        table: Any,
        on: Columns | None,
        options: Mapping[str, Any],
        use: Use = Use.NOTHING,
        give: Columns | None = None,
    ) -> tuple[Any, str, dict[str, Any]]:
        """Joins, and returns the result, the statement and the report."""
        self.statement = self.report = None
        kind, by = options.get("output_kind", "rows"), options.get("group_by")
        wanted = Wanted(
            columns=None if by is not None else _columns_read(on, give, kind),
            use=use,
            either=countries(options.get("normalize")),
            key=names_of(on),
            beside_key={*names_of(give), *map(without_holder, [*summed(kind), *names_of(by)])},
            rows=options.get("rows") or "shared",
            is_aligned=bool(options.get("align")),
            stopped_with_join=self._stopped,
        )
        given = _tables.given(table, wanted)
        said = {"on": on, **options}
        bar = progress_bar() if self._progress is True else None
        progress = self._progress if callable(self._progress) else bar
        listener, stop = Listener(progress), _psijoin.Stop()
        telling = Timer(TO_TELL_SECONDS, stop.stop)
        if given.is_interrupted:
            telling.start()
        try:
            with self._stopped(stop):
                joined = _psijoin.join(
                    self._party, role, said, given.rows, "the table", given.how, listener, stop
                )
        except _psijoin.Failure as failure:
            if given.is_interrupted:
                raise KeyboardInterrupt from None
            error = raised(failure)
            self.report = error.report
            raise error from failure.__cause__
        finally:
            telling.cancel()
            if bar is not None:
                bar.close()
        statement, report = joined["statement"], json.loads(joined["report"])
        self.statement, self.report = statement, report
        learned = joined["learned"]
        if isinstance(learned, _psijoin.Rows):
            learned = given.back(learned, report) if by is None else _tables.of_library(table, learned)
        return learned, statement, report

    @contextmanager
    def _stopped(self, work: Stoppable) -> Iterator[None]:
        """Stops this work, within the context, if the session or the call is stopped."""
        self._running.add(work)
        try:
            with stopped_with_its_call(work):
                yield
        finally:
            self._running.remove(work)


def names_of(columns: Columns | None) -> Sequence[str]:
    """Returns the names, one by one."""
    return [columns] if isinstance(columns, str) else columns or []


def _columns_read(on: Columns | None, give: Columns | None, kind: Asked) -> set[str] | None:
    """Returns the columns that a join reads, beside those of countries. None if unknown: the key is
    the only column of a table, or a kind of output names columns in its own way."""
    is_unknown = on is None or not isinstance(kind, str) or ":" in kind
    return None if is_unknown else {*names_of(on), *names_of(give)}


def summed(kind: Asked) -> Sequence[str]:
    """Returns the columns of either party that a kind of output adds up, as it names them."""
    match kind:
        case str():
            # They are quoted as in CSV. Where means begin, a name that begins so is a column, too.
            name, _, columns = kind.partition(":")
            names = next(csv.reader([columns]), []) if name in ("sum", "counts,sum", "counts,mean") else []
            return [*names, *(name.removeprefix("mean:") for name in names if name.startswith("mean:"))]
        case ("sum" | "counts", str() | list() | tuple() as columns):
            return names_of(columns)
        case ("counts", sums, means):
            return [*names_of(sums), *names_of(means)]
        case _:
            return []


def without_holder(column: str) -> str:
    """Returns the name of a column in its table, without the party that has it."""
    holder, _, name = column.partition(".")
    return name if holder in ("sender", "receiver") else column


def countries(normalize: Mapping[str, str] | None) -> list[list[str]]:
    """Returns for each rule that takes countries from a column its possible names: behind a plus is
    another rule, or more of the name.
    """
    rules = normalize.values() if isinstance(normalize, Mapping) else ()
    behind = [str(rule).partition("phone:column:")[2].split("+") for rule in rules]
    return [["+".join(parts[: end + 1]) for end in range(len(parts))] for parts in behind if parts[0]]
