"""Results have the types of the tables: `mypy` and `pyright` check these functions, which
nothing runs.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_type

import psijoin

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars


def lists(session: psijoin.Session, keys: list[str]) -> None:
    assert_type(session.receive(keys), psijoin.Joined[list[str]])
    assert_type(session.receive(keys, rows="unshared", protocol="dh"), psijoin.Joined[list[str]])
    assert_type(session.send(keys, learn="both"), psijoin.Joined[list[str]])


def data_frames(
    session: psijoin.Session,
    of_polars: polars.DataFrame,
    lazy: polars.LazyFrame,
    of_pandas: pandas.DataFrame,
) -> None:
    assert_type(session.receive(of_polars, on="id"), psijoin.Joined[polars.DataFrame])
    assert_type(session.receive(of_polars, on=["id", "day"], take="all"), psijoin.Joined[polars.DataFrame])
    assert_type(session.receive(lazy, on="id"), psijoin.Joined[polars.DataFrame])
    assert_type(session.receive(of_pandas, on="id", rows="all"), psijoin.Joined[pandas.DataFrame])
    assert_type(session.send(of_pandas, on="id", learn="both", give="plan"), psijoin.Joined[pandas.DataFrame])


def files(session: psijoin.Session, frame: polars.DataFrame) -> None:
    assert_type(session.receive(frame, output="rows.csv", quote_empty=True), psijoin.Joined[None])
    assert_type(session.receive(frame, output="rows.csv", quote_formulas=True), psijoin.Joined[None])
    assert_type(session.send(frame), psijoin.Joined[None])
    assert_type(session.send(frame, output_kind="count"), psijoin.Joined[None])


def numbers(session: psijoin.Session, keys: list[str]) -> None:
    assert_type(session.count(keys, min_intersection=10), psijoin.Counted)
    assert_type(session.threshold(keys, least=3), psijoin.Compared)
    assert_type(session.sum(keys, columns="a").sums, dict[str, Decimal])
    assert_type(session.sum(keys, columns=["a", "b"]), psijoin.Summed)


def groups(session: psijoin.Session, frame: polars.DataFrame, lazy: polars.LazyFrame) -> None:
    by = ["receiver.segment", "sender.plan"]
    assert_type(session.grouped(frame, on="id", by=by), psijoin.Grouped[polars.DataFrame])
    lists = {"sender.plan": ["basic", "gold"]}
    assert_type(session.grouped(lazy, on="id", by=by, groups=lists, min_group=9).groups, polars.DataFrame)
    assert_type(session.send(frame, output_kind=("counts", ["a"]), group_by=by), psijoin.Joined[None])


def pairs(keys: list[str]) -> None:
    with psijoin.local_pair(threads=1) as (ann, bob):
        both = psijoin.together(lambda: ann.receive(keys), lambda: bob.send(keys))
    assert_type(both, tuple[psijoin.Joined[list[str]], psijoin.Joined[None]])


def what_has_no_type_of_its_own(
    session: psijoin.Session, table: Any, relation: duckdb.DuckDBPyRelation
) -> None:
    session.receive(table).rows.column_names.index("id")
    session.receive(relation, on="id").rows.column_names.index("id")
