"""The types of a session's arguments and results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, Required, TypedDict, TypeVar

from psijoin._identity import Identity

Columns = str | Sequence[str]
"""A column by name, or several."""

Counts = tuple[Literal["counts"], Columns | None] | tuple[Literal["counts"], Columns | None, Columns | None]
"""Counts of groups: with the columns that are added up, and those that have means."""

Asked = str | tuple[Literal["sum"], Columns] | Counts | tuple[Literal["threshold"], int]
"""A kind of output: a text, or the kind with its argument."""

Labels = Sequence[str] | Mapping[str, Sequence[str]]
"""The labels of a column of groups, or those of each of some columns."""

Path = str | os.PathLike[str]
"""The name of a file or a folder."""

Learners = Literal["receiver", "both"]
"""Who learns which of its rows are shared."""

Which = Literal["shared", "unshared", "all"]
"""The rows that are returned."""

Progress = Callable[[str, int, int], None]
"""Is called with the name of the work, the bytes done, and the bytes in all: 0 of 0 if unknown."""


class Frame(Protocol):
    """A data frame of pandas, polars or pyarrow. Its rows are returned as the same type."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    # Not all of it is there in batches of records and relations of DuckDB, of which rows come back
    # as tables of pyarrow.
    @property
    def __array__(self) -> Callable[..., Any]: ...
    @property
    def drop(self) -> Callable[..., Any]: ...


Collected = TypeVar("Collected", covariant=True)


class Lazy(Protocol[Collected]):
    """A lazy frame of polars. Its rows are returned as a data frame."""

    def collect(self) -> Collected: ...


class Distributed(Protocol):
    """A DataFrame of Spark. Its rows are returned as the same type."""

    def toArrow(self) -> Any: ...
    @property
    def sparkSession(self) -> Any: ...


class Stoppable(Protocol):
    """Work that another thread can stop."""

    def stop(self) -> None: ...


class Agreed(TypedDict, total=False):
    """Options of all joins: see `Session.receive`."""

    protocol: str
    min_intersection: int
    post_quantum: bool
    max_peer_keys: int | str
    bad_keys: str
    strict: bool
    check: bool
    deadline: int
    job: Path
    terms: Path
    record: Path
    report: Path


class Options(Agreed, total=False):
    """Options of joins that give rows: see `Session.receive`."""

    normalize: Mapping[str, str] | None
    give: Columns | None
    give_bytes: int
    repeated: str
    align: bool


class RowOptions(Options, total=False):
    """Options of joins that return rows, and columns of the other party."""

    take: Columns | None
    take_rows: int
    take_bytes: int
    rows: Which


class FileOptions(RowOptions, total=False):
    """Options of joins that write rows to a file."""

    no_clobber: bool
    quote_empty: bool
    quote_formulas: bool


class Helped(TypedDict, total=False):
    """Options of a sender alone: see `Session.send`."""

    output_kind: Asked
    group_by: Columns
    groups: Labels
    min_group: int
    noise: str
    allow_sums_that_reveal_keys: bool
    budget: Path


class HelpingOptions(Options, Helped, total=False): ...


class HelpingRowOptions(RowOptions, Helped, total=False): ...


class HelpingFileOptions(FileOptions, Helped, total=False): ...


class Limits(TypedDict, total=False):
    """Options of a session besides its parties: see `Session`."""

    wait: int
    timeout: int
    threads: int | None
    memory: str | None
    spill_dir: Path | None
    progress: Progress | bool


class Meeting(Limits, total=False):
    """Options of a session: see `Session`."""

    peer: Required[str | Sequence[str]]
    connect: str | None
    listen: str | None
    relay: str | None
    relay_key: Path | None
    via: Path | None
    proxy: str | None
    identity: Identity | None
    passphrase: str | None
