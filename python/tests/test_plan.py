"""The predicted cost of a join."""

import psijoin
import pytest


def test_a_plan_is_a_table() -> None:
    plan = psijoin.plan(items=(1000, 2000), network="10mbps,80ms", threads=1, all=True)
    assert plan[0]["ratio"] == 1
    assert [line["seconds"] for line in plan] == sorted(line["seconds"] for line in plan)
    assert sum(line["is_auto"] for line in plan) == 1
    assert plan.left_out
    assert not set(plan.left_out) & {line["protocol"] for line in plan}
    assert str(plan).startswith("1,000 items of the sender and 2,000 of the receiver")
    assert "<pre>" in plan._repr_html_()
    count = psijoin.plan(1000, threads=1, output_kind="count")
    assert {line["protocol"] for line in count} < {line["protocol"] for line in plan} | set(
        plan.left_out
    )


def test_a_plan_makes_a_data_frame() -> None:
    polars = pytest.importorskip("polars")
    plan = psijoin.plan(1000, threads=1)
    assert polars.DataFrame(plan)["protocol"].to_list() == [line["protocol"] for line in plan]


def test_wrong_plans_say_so() -> None:
    with pytest.raises(psijoin.UsageError, match="`network`"):
        psijoin.plan(1000, network="fast")
    with pytest.raises(psijoin.UsageError, match="colour"):
        psijoin.plan(1000, colour="red")
