"""Counts and sums of groups."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import psijoin
import pytest
from parties import Pair

CUSTOMERS: dict[str, list[Any]] = {
    "id": ["a", "b", "c", "d"],
    "segment": ["test", "test", None, "control"],
    "spend": [1, 2, 3, 4],
}
PAYMENTS: dict[str, list[Any]] = {"id": ["a", "b", "c", "e"], "paid": [Decimal("1.50"), Decimal(-3), None, Decimal(9)]}
KIND = "counts,sum:sender.paid"
BY = "receiver.segment"

GROUPS: list[dict[str, Any]] = [
    {BY: "control", "shared_keys": None, "withheld": True, "sum:sender.paid": None},
    {BY: "test", "shared_keys": 2, "withheld": False, "sum:sender.paid": Decimal("-1.50")},
    {BY: None, "shared_keys": None, "withheld": True, "sum:sender.paid": None},
]


def rows_of(library: str, frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame."""
    match library:
        case "polars":
            rows: list[dict[str, Any]] = frame.to_dicts()
        case "pandas":
            table = pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
            rows = table.to_pylist()
        case _:
            rows = frame.to_pylist()
    return rows


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas", "duckdb"])
def test_groups_are_a_frame_of_the_library(pair: Pair, library: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    customers, payments = pyarrow.table(CUSTOMERS), pyarrow.table(PAYMENTS)
    module = pytest.importorskip(library)
    tables: dict[str, Any] = {
        "pyarrow": lambda: customers,
        "polars": lambda: module.from_arrow(customers),
        "pandas": lambda: customers.to_pandas(),
        "duckdb": lambda: module.from_arrow(customers),
    }
    table = tables[library]()
    ann, bob = pair
    grouped, sent = psijoin.together(
        lambda: ann.grouped(table, "id", by=[BY], sums=["sender.paid"], min_group=2),
        lambda: bob.send(payments, "id", output_kind=KIND, group_by=BY, min_group=2),
    )
    frame = grouped.groups
    assert type(frame).__module__.partition(".")[0] == ("pyarrow" if library == "duckdb" else library)
    for row, expected in zip(rows_of(library, frame), GROUPS, strict=True):
        assert {name: row[name] for name in expected} == expected
    assert sent.rows is None
    assert "2 of the 3 groups have fewer than 2 shared keys" in grouped.statement
    assert [group["withheld"] for group in grouped.report["result"]["groups"]] == [True, False, True]


def test_means_are_quotients(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair
    grouped, _ = psijoin.together(
        lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=BY, means="sender.paid", min_group=1),
        lambda: bob.send(
            pyarrow.table(PAYMENTS),
            "id",
            output_kind="counts,mean:sender.paid",
            group_by=BY,
            min_group=1,
            allow_sums_that_reveal_keys=True,
        ),
    )
    rows = [(row["sum:sender.paid"], row["mean:sender.paid"]) for row in grouped.groups.to_pylist()]
    assert rows == [(None, None), (Decimal("-1.50"), Decimal("-0.75000000")), (Decimal("0.00"), Decimal("0.00000000"))]
    told = [group["means"] for group in grouped.report["result"]["groups"]]
    assert told == [[None], ["-0.75000000"], ["0.00000000"]]


def test_counts_of_crossed_groups_need_no_sums(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    plans = pyarrow.table({"id": ["a", "b", "z"], "plan": [1, 2, 2]})
    ann, bob = pair
    by = ["sender.plan", BY]
    grouped, _ = psijoin.together(
        lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=by),
        lambda: bob.send(
            plans, "id", output_kind=("counts", None), group_by=by, allow_sums_that_reveal_keys=True
        ),
    )
    counts = grouped.groups.to_pylist()
    assert [row["shared_keys"] for row in counts] == [0, 1, 0, 0, 1, 0]
    assert counts[4] == {"sender.plan": "2", BY: "test", "shared_keys": 1, "withheld": False}


@pytest.mark.parametrize("by_column", [False, True])
def test_labels_of_a_list_are_not_told(pair: Pair, by_column: bool) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair

    def lists(labels: list[str]) -> Any:
        return {BY: labels} if by_column else labels

    payments = pyarrow.table(PAYMENTS)
    grouped, sent = psijoin.together(
        lambda: ann.grouped(
            pyarrow.table(CUSTOMERS), "id", by=BY, sums="sender.paid", groups=lists(["vip", "control"]), min_group=2
        ),
        lambda: bob.send(
            payments, "id", output_kind=KIND, group_by=BY, groups=lists(["control", "vip", "vip"]), min_group=2
        ),
    )
    rows = grouped.groups.to_pylist()
    assert [row[BY] for row in rows] == ["control", "vip", "other", None]
    assert [row["shared_keys"] for row in rows] == [None, None, 2, None]
    for result in grouped, sent:
        assert "one list of 2 labels" in result.statement
        assert result.report["groups"]["by"] == [{"name": BY, "holder": "receiver", "labels": 4, "listed": True}]


def test_sides_with_other_lists_are_told(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair

    def refused(call: Any) -> None:
        with pytest.raises(psijoin.PeerError, match="say `groups` on both sides"):
            call()

    psijoin.together(
        lambda: refused(lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=BY, groups=["vip"], min_group=2)),
        lambda: refused(lambda: bob.send(["a"], output_kind="counts", group_by=BY, min_group=2)),
    )


def test_noise_is_added_and_told(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair
    # Noise that is 0, but for a probability below 2^-10,000; and numbers beyond their bounds.
    noise = "laplace:epsilon=100000,bound=sender.paid:-1..1.25"
    grouped, sent = psijoin.together(
        lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=BY, sums="sender.paid", noise=noise),
        lambda: bob.send(pyarrow.table(PAYMENTS), "id", output_kind=KIND, group_by=BY, noise=noise),
    )
    rows = grouped.groups.to_pylist()
    assert [(row["shared_keys"], row["sum:sender.paid"]) for row in rows] == [
        (0, Decimal("0.00")),
        (2, Decimal("0.25")),
        (1, Decimal("0.00")),
    ]
    for result in grouped, sent:
        assert "ε = 200000 in all" in result.statement
        told = result.report["groups"]["noise"]
        assert told["total_epsilon"] == "200000"
        assert told["columns"] == [{"name": "sender.paid", "low": "-1.00", "high": "1.25"}]


def test_a_budget_is_spent(pair: Pair, tmp_path: Path) -> None:
    budget = tmp_path / "payments.budget"
    made = [sys.executable, "-m", "psijoin", "budget", "create", str(budget), "--epsilon", "150000"]
    subprocess.run(made, check=True)
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair
    noise = "laplace:epsilon=100000"

    def ask() -> Any:
        return psijoin.together(
            lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=BY, noise=noise),
            lambda: bob.send(["a", "b"], output_kind="counts", group_by=BY, noise=noise, budget=budget),
        )

    _, sent = ask()
    assert sent.report["budget"]["epsilon_left"] == "50000"
    assert "ε = 50000 of 150000 left" in sent.statement
    with pytest.raises(psijoin.PolicyError):
        ask()


def test_a_sender_refuses_small_groups(pair: Pair) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair
    errors: list[psijoin.Error] = []

    def refused(call: Any) -> None:
        with pytest.raises(psijoin.Error) as error:
            call()
        errors.append(error.value)

    psijoin.together(
        lambda: refused(lambda: ann.grouped(pyarrow.table(CUSTOMERS), "id", by=BY)),
        lambda: refused(lambda: bob.send(["a"], output_kind="counts", group_by=BY)),
    )
    assert {type(error) for error in errors} == {psijoin.PolicyError, psijoin.PeerError}
    assert any("`min_group` on both sides" in str(error) for error in errors)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output_kind": "counts"}, "the columns to group by"),
        ({"output_kind": "counts", "group_by": "segment"}, "say whose column"),
        ({"output_kind": "counts", "group_by": ["sender.a"] * 2}, "twice"),
        ({"output_kind": "count", "group_by": "sender.a"}, "leave it out"),
        ({"min_group": 2}, "leave it out"),
        ({"noise": "laplace:epsilon=1"}, "leave it out"),
        ({"output_kind": "counts", "group_by": "sender.a", "noise": "laplace:epsilon=0"}, "epsilon is a number"),
        ({"output_kind": "counts,sum:a", "group_by": "sender.a", "noise": "laplace:epsilon=1"}, "needs bounds"),
        ({"output_kind": ("counts", ["a", "a"]), "group_by": "sender.a"}, "twice"),
        ({"groups": ["x"]}, "leave it out"),
        ({"output_kind": "counts", "group_by": "sender.a", "groups": "x"}, "`groups` is a list"),
        ({"output_kind": "counts", "group_by": "sender.a", "groups": [1]}, "`groups` is a list"),
        ({"output_kind": "counts", "group_by": "sender.a", "groups": []}, "no labels"),
        ({"output_kind": "counts", "group_by": "sender.a", "groups": ["other"]}, "`other`"),
        ({"output_kind": "counts", "group_by": "sender.a", "groups": {"sender.b": ["x"]}}, "not by `sender.b`"),
        ({"output_kind": "counts", "group_by": ["sender.a", "sender.b"], "groups": ["x"]}, "for which of"),
    ],
)
def test_what_does_not_go_together(pair: Pair, options: dict[str, Any], said: str) -> None:
    with pytest.raises(psijoin.UsageError, match=said):
        pair[1].send(["a"], **options)
