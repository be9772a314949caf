"""Both parties in this process: what comes back, and what goes wrong."""

import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from decimal import Decimal
from pathlib import Path
from typing import Any

import psijoin
import pytest
from parties import Pair

MINE = ["ann", "bob", "eve", "joe"]
THEIRS = ["joe", "zoe", "bob"]


def test_lists_of_keys(pair: Pair) -> None:
    alice, bob = pair
    shared, sent = psijoin.together(lambda: alice.receive(MINE), lambda: bob.send(THEIRS))
    assert shared.rows == ["bob", "joe"]
    assert sent.rows is None
    assert "You learned 2 shared keys" in shared.statement
    assert "which of its keys you share" in sent.statement
    assert shared.report["result"]["shared_keys"] == 2
    assert sent.report["role"] == "sender"
    assert (alice.statement, alice.report) == (shared.statement, shared.report)


def test_both_learn(pair: Pair) -> None:
    alice, bob = pair
    mine, theirs = psijoin.together(
        lambda: alice.receive(MINE, learn="both"), lambda: bob.send(THEIRS, learn="both")
    )
    assert mine.rows == ["bob", "joe"]
    assert theirs.rows == ["joe", "bob"]


def test_aligned(pair: Pair) -> None:
    alice, bob = pair
    mine, theirs = psijoin.together(
        lambda: alice.receive(MINE, learn="both", align=True),
        lambda: bob.send(THEIRS, learn="both", align=True),
    )
    assert mine.rows == theirs.rows
    assert sorted(mine.rows) == ["bob", "joe"]


def test_a_count_and_a_threshold(pair: Pair) -> None:
    alice, bob = pair
    counted, _ = psijoin.together(
        lambda: alice.count(MINE), lambda: bob.send(THEIRS, output_kind="count")
    )
    assert counted.count == 2
    compared, _ = psijoin.together(
        lambda: alice.threshold(MINE, least=3),
        lambda: bob.send(THEIRS, output_kind="threshold:3"),
    )
    assert compared.is_reached is False
    assert not compared


def test_other_rows(pair: Pair) -> None:
    alice, bob = pair
    others, _ = psijoin.together(
        lambda: alice.receive(MINE, rows="unshared"), lambda: bob.send(THEIRS)
    )
    assert others.rows == ["ann", "eve"]


def test_other_settings_are_an_error_on_both_sides(pair: Pair) -> None:
    alice, bob = pair
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(bob.send, THEIRS, learn="both")
        with pytest.raises(psijoin.PeerError, match="who learns") as raised:
            alice.receive(MINE)
        assert isinstance(sent.exception(), psijoin.PeerError)
    assert raised.value.code == 5
    assert raised.value.report == alice.report
    assert alice.report and alice.report["outcome"] == "failed"
    assert alice.statement is None


def test_errors_say_what_to_do(pair: Pair) -> None:
    alice, _ = pair
    with pytest.raises(psijoin.UsageError, match="`rows`: .* shared, unshared or all"):
        alice.receive(MINE, rows="some")  # type: ignore[call-overload]
    with pytest.raises(psijoin.UsageError, match="colour"):
        alice.receive(MINE, colour="red")  # type: ignore[call-overload]
    with pytest.raises(psijoin.InputError, match="none"):
        alice.receive(MINE, on="none")
    with pytest.raises(TypeError, match="a table is a data frame"):
        alice.receive({"key": MINE})
    with pytest.raises(psijoin.UsageError, match="`peer`: a fingerprint has 28 characters"):
        psijoin.Session(peer="psi1-")


def test_post_quantum(pair: Pair) -> None:
    alice, bob = pair
    shared, _ = psijoin.together(
        lambda: alice.receive(MINE, post_quantum=True),
        lambda: bob.send(THEIRS, post_quantum=True),
    )
    assert shared.rows == ["bob", "joe"]
    assert shared.report["post_quantum"] is True
    assert shared.report["peer"]["key_exchange"] == "X25519MLKEM768"
    with pytest.raises(psijoin.UsageError, match="post_quantum=True"):
        alice.receive(MINE, post_quantum=True, protocol="dh")


def test_what_is_not_tried_has_a_report_too(pair: Pair) -> None:
    alice, _ = pair
    with pytest.raises(psijoin.UsageError, match="`min_intersection`") as raised:
        alice.receive(MINE, learn="both", min_intersection=0)
    report = raised.value.report
    assert report and report == alice.report
    assert (report["outcome"], report["exit_code"], report["role"]) == ("failed", 2, "receiver")
    assert (report["learners"], report["requested_protocol"]) == ("both", "auto")
    assert report["error"] in str(raised.value)
    with pytest.raises(psijoin.UsageError) as raised:
        alice.receive(MINE, output_kind="rowss", protocol="dhh")  # type: ignore[call-overload]
    report = raised.value.report
    assert report and (report["output"], report["requested_protocol"]) == (None, None)


def test_no_file_is_two_of_a_join(pair: Pair, tmp_path: Path) -> None:
    alice, _ = pair
    named = "`report` and `output` name the same file"
    with pytest.raises(psijoin.UsageError, match=named) as raised:
        alice.receive(MINE, report=tmp_path / "it.csv", output=tmp_path / "it.csv")
    assert raised.value.report and raised.value.report["exit_code"] == 2
    assert not list(tmp_path.iterdir())


def test_two_joins_of_one_session_at_once() -> None:
    """Only one of them can listen there; the other fails at once, and disturbs nobody."""
    with (
        psijoin.local_pair(wait=60, progress=False) as (alice, bob),
        ThreadPoolExecutor(2) as threads,
    ):
        joins = [threads.submit(alice.receive, MINE) for _ in range(2)]
        ended, waiting = wait(joins, return_when=FIRST_COMPLETED)
        failed = ended.pop().exception()
        assert isinstance(failed, psijoin.NetworkError)
        assert failed.try_again
        assert failed.report and failed.report["exit_code"] == 4
        bob.send(THEIRS)
        shared = waiting.pop().result()
    assert shared.rows == ["bob", "joe"]
    assert shared.report["outcome"] == "done"
    assert (alice.statement, alice.report) == (shared.statement, shared.report)


def test_too_few_keys_are_an_error_on_both_sides(pair: Pair) -> None:
    alice, bob = pair
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(lambda: bob.send(THEIRS, min_intersection=3))
        with pytest.raises(psijoin.PolicyError, match="fewer than 3 keys are shared") as raised:
            alice.receive(MINE, min_intersection=3)
        assert isinstance(sent.exception(), psijoin.PolicyError)
    assert raised.value.code == 6
    assert not raised.value.try_again


def test_together_raises_the_cause(pair: Pair) -> None:
    alice, bob = pair
    with pytest.raises(psijoin.InputError, match="given"):
        psijoin.together(
            lambda: alice.receive(MINE, take="all"), lambda: bob.send(["a", "a"], give="key")
        )
    with pytest.raises(ZeroDivisionError):
        psijoin.together(lambda: 1 / 0, lambda: bob.send(THEIRS))


def test_together_does_not_wait_for_a_side_that_made_a_mistake() -> None:
    def division() -> float:
        return 1 / 0

    began = time.monotonic()
    with psijoin.local_pair(wait=600, progress=False) as (alice, bob):
        with pytest.raises(ZeroDivisionError):
            psijoin.together(division, lambda: bob.send(THEIRS))
        with pytest.raises(ZeroDivisionError):
            psijoin.together(lambda: alice.receive(MINE), division)
        with pytest.raises(psijoin.InputError, match="no column `mail`"):
            psijoin.together(lambda: alice.receive(MINE, on="mail"), lambda: bob.send(THEIRS))
        with pytest.raises(psijoin.InputError, match="no column `mail`"):
            psijoin.together(lambda: alice.receive(MINE), lambda: bob.send(THEIRS, on="mail"))
        with pytest.raises(psijoin.UsageError, match="`protocol`: .* mean `dh`"):
            psijoin.together(lambda: alice.receive(MINE, protocol="dhh"), lambda: bob.send(THEIRS))
        for mistake in (["x", 1], ["x", None], {"key": ["x"]}, "x"):
            table: Any = mistake
            with pytest.raises(TypeError):
                psijoin.together(lambda: alice.receive(table), lambda: bob.send(THEIRS))
            with pytest.raises(TypeError):
                psijoin.together(lambda: alice.receive(MINE), lambda: bob.send(table))
        shared, _ = psijoin.together(lambda: alice.receive(MINE), lambda: bob.send(THEIRS))
    assert shared.rows == ["bob", "joe"]
    assert time.monotonic() - began < 60


def test_nobody_comes() -> None:
    with psijoin.local_pair(wait=1, progress=False) as (alice, bob):
        for call in (lambda: alice.receive(MINE), lambda: bob.send(THEIRS)):
            with pytest.raises(psijoin.NetworkError) as raised:
                call()
            assert raised.value.try_again


def test_sums_are_exact(pair: Pair) -> None:
    polars = pytest.importorskip("polars")
    alice, bob = pair
    mine = polars.DataFrame({"id": [1, 2, 3]})
    theirs = polars.DataFrame({"id": [3, 2, 9], "a, b": ["0.1", "0.2", "5"]})
    theirs = theirs.with_columns(polars.col("a, b").cast(polars.Decimal(20, 2)))
    kinds: list[Any] = ['sum:"a, b"', ("sum", ["a, b"])]
    for kind in kinds:
        summed, _ = psijoin.together(
            lambda: alice.sum(mine, "id", columns=["a, b"]),
            lambda: bob.send(theirs, "id", output_kind=kind),
        )
        assert summed.sums == {"a, b": Decimal("0.30")}
