"""The messages of a join name keywords of Python, and no option of the program."""

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psijoin
import pytest
from parties import OTHER, Pair, Role

Options = dict[str, Any]

KEYS = ["ann", "bob", "eve"]
HASH = "0" * 64
BOTH: Options = {"learn": "both"}

FAILURES: dict[str, tuple[Options, Options, str]] = {
    "who learns": (BOTH, {}, "`learn`"),
    "protocols": ({"protocol": "dh"}, {"protocol": "kkrt"}, "`protocol`"),
    "outputs": ({}, {"output_kind": "count"}, "`output_kind`"),
    "minima": ({"min_intersection": 1}, {}, "`min_intersection`"),
    "too few": ({"min_intersection": 4}, {"min_intersection": 4}, "`min_intersection`"),
    "aligned": ({**BOTH, "align": True}, BOTH, "align=True"),
    "taken": ({"take": "all"}, {}, "give columns"),
    "not offered": ({"take": "x"}, {"give": "key"}, "give"),
    "a large set": ({"max_peer_keys": 1}, {}, "`max_peer_keys`"),
    "strict": ({"strict": True, "normalize": {"key": "trim"}}, {}, "strict=True"),
    "checked": ({"check": True}, {}, "check"),
    "minimum with columns": ({"take": "all", "min_intersection": 2}, {}, "`min_intersection`"),
    "minimum of a threshold": (
        {},
        {"output_kind": "threshold:2", "min_intersection": 2},
        "`min_intersection`",
    ),
    "unable": ({"protocol": "cm20", "min_intersection": 2}, {}, "`protocol`"),
    "gives alone": ({"give": "key"}, {}, 'learn="both"'),
    "takes alone": ({}, {"take": "all"}, "`take`"),
    "aligned alone": ({"align": True}, {}, 'learn="both"'),
    "takes for unshared": ({"take": "all", "rows": "unshared"}, {}, "`take`"),
    "no file": ({"output_kind": "shares"}, {"output_kind": "shares"}, "`output`"),
    "a file for nothing": ({}, {"output": "rows.csv"}, "`output`"),
    "rows of none": ({}, {"rows": "all"}, "`rows`"),
    "no such column": ({"on": "none"}, {}, "none"),
    "nulls": ({"output": "rows.arrow", "quote_empty": True}, {}, "`quote_empty`"),
    "formulas": ({"output": "rows.arrow", "quote_formulas": True}, {}, "`quote_formulas`"),
    "cells": ({"normalize": {"key": "number"}}, {}, 'bad_keys="null"'),
    "long rows": ({"take": "all"}, {"give": "key", "give_bytes": 1}, "`give_bytes`"),
    "long rows there": ({"take": "all", "take_bytes": 1}, {"give": "key"}, "take_bytes"),
    "no number": ({"output_kind": "sum:key"}, {"output_kind": "sum:key"}, "key"),
    "a job without another": ({"job": "job"}, {}, "`job`"),
    "terms that are not there": ({"terms": "terms"}, {}, "terms"),
    "a typing error": ({"protcol": "dh"}, {}, "`protocol`"),
    "a rule that is none": ({"normalize": {"key": "trimm"}}, {}, "trim"),
    "bytes that are none": ({"take": "all", "take_bytes": "many"}, {}, "`take_bytes`"),
    "too many rows": ({"take": "all", "take_rows": 65_536}, {}, "from 1 to 65535"),
    "rows without columns": ({"take_rows": 3}, {}, "`take`"),
    "of a session": ({"threads": 1}, {}, "`Session`"),
}
"""The receiver's keywords, the sender's, and the advice to one of them."""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSIJOIN_HOME", str(tmp_path / "home"))


def texts(value: object) -> Iterator[str]:
    """All texts in a report."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def said(call: Callable[[], Any]) -> list[str]:
    """Returns the result of a call, or its exception, in words."""
    try:
        joined = call()
    except psijoin.Error as error:
        return [str(error), *texts(error.report)]
    return [joined.statement, *texts(joined.report)]


def both(receives: Callable[[], Any], sends: Callable[[], Any]) -> list[str]:
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(said, sends)
        return [*said(receives), *sent.result()]


def check_names_no_option(told: list[str]) -> None:
    assert told
    assert not [text for text in told if re.search(r"(?<!\w)--[a-z]", text)]


@pytest.mark.parametrize("name", FAILURES)
def test_errors(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="psijoin")
    mine, theirs, way_out = FAILURES[name]
    with psijoin.local_pair(threads=1, wait=3, progress=False) as (ann, bob):
        receive: Any = ann.receive
        send: Any = bob.send
        told = both(lambda: receive(KEYS, **mine), lambda: send(KEYS, **theirs))
    assert any(way_out in text for text in told), told
    check_names_no_option(told + caplog.messages)


@pytest.mark.parametrize("role", ["receive", "send"])
def test_terms_that_cannot_be_read_end_both(pair: Pair, role: Role) -> None:
    ann, bob = pair
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(getattr(bob, OTHER[role]), KEYS)
        with pytest.raises(psijoin.InputError, match="terms"):
            getattr(ann, role)(KEYS, terms="none")
        assert isinstance(other.exception(), psijoin.PeerFailedError)


def test_sums_that_reveal_keys(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ann, bob = pair
    numbers = pyarrow.table({"key": KEYS, "n": [1, 2, 4]})
    for allowed in (False, True):
        told = both(
            lambda: ann.sum(numbers, "key", columns=["receiver.n"]),
            lambda: bob.send(
                KEYS,
                output_kind=("sum", ["receiver.n"]),
                allow_sums_that_reveal_keys=allowed,
            ),
        )
        assert allowed or any("`allow_sums_that_reveal_keys`" in text for text in told)
        check_names_no_option(told + caplog.messages)


WARNINGS: dict[str, tuple[list[str], Options, list[str], Options, str]] = {
    "kinds": (["12"], {}, ["12.0"], {"normalize": {"key": "number"}}, '"COLUMN": "number"'),
    "rules": (["a"], {"normalize": {"key": "trim"}}, ["a"], {}, "`normalize`"),
    "words for nothing": (["NULL"] * 50 + ["a"], {}, ["a"], {}, "null:"),
    "spaces": (["a ", "b\u00a0"], {}, ["a"], {}, '"COLUMN": "trim"'),
    "zeros": (["007", "8", "9"], {}, ["7"], {}, '"COLUMN": "number"'),
    "telephones": (["+4930123456", "030 123456"], {"normalize": {"key": "phone"}}, ["1"], {}, "phone"),
    "hashes": ([HASH], {}, ["ann@x.org"], {}, "sha256"),
    "few": (KEYS, {}, ["joe"], {}, "rules"),
    "many": ([str(number) for number in range(5_000)], {}, ["1"], {}, "`max_peer_keys`"),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(pair: Pair, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="psijoin")
    mine, as_mine, theirs, as_theirs, way_out = WARNINGS[name]
    ann, bob = pair
    receive: Any = ann.receive
    send: Any = bob.send
    told = both(lambda: receive(mine, **as_mine), lambda: send(theirs, **as_theirs))
    warnings = [it.getMessage() for it in caplog.records if it.levelno == logging.WARNING]
    assert any(way_out in text for text in warnings), warnings
    check_names_no_option(told + caplog.messages)


@pytest.mark.parametrize(
    "options",
    [
        {"rows": "all"},
        {"rows": "unshared"},
        {"check": True},
        {"output": "rows.csv", "quote_empty": True},
    ],
    ids=repr,
)
def test_statements(pair: Pair, options: Options) -> None:
    ann, bob = pair
    receive: Any = ann.receive
    check = {name: value for name, value in options.items() if name == "check"}
    told = both(lambda: receive(KEYS, **options), lambda: bob.send(KEYS, **check))
    check_names_no_option(told)


def test_another_partner(identities: tuple[psijoin.Identity, psijoin.Identity]) -> None:
    ann, bob = identities
    with psijoin.local_pair(wait=5, progress=False) as (here, there):
        stranger = psijoin.Session(
            identity=ann, peer=bob.fingerprint, connect=address_of(here), wait=5, progress=False
        )
        told = both(lambda: here.receive(KEYS), lambda: stranger.send(KEYS))
    assert any("Session(peer=)" in text for text in told)
    check_names_no_option(told)


def address_of(session: psijoin.Session) -> str:
    """Returns the address where a party of a pair listens."""
    found: list[str] = []

    class Addresses(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.extend(re.findall(r"listening on ([\d.:]+)", record.getMessage()))

    log, handler = logging.getLogger("psijoin"), Addresses()
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(said, lambda: session.receive(KEYS))
        waiting.result()
    log.removeHandler(handler)
    log.setLevel(level)
    return found[0]


def test_plans() -> None:
    plan = psijoin.plan(1000, threads=1)
    check_names_no_option([plan.text, *plan.left_out.values()])
    assert "all=True compares" in plan.text
    for wrong in (
        {"items": "many"},
        {"output_kind": "rows", "receiver_gives": 3},
        {"optimise": "money"},
        {"optimise": "fun"},
        {"regions": ["here"]},
        {"output_kind": "count", "sender_gives": 4},
        {"output_kind": "threshold:2", "min_intersection": 4},
    ):
        with pytest.raises(psijoin.UsageError) as raised:
            psijoin.plan(**{"items": 1000, **wrong})  # type: ignore[arg-type]
        check_names_no_option([str(raised.value)])


def test_identities(tmp_path: Path) -> None:
    made = psijoin.Identity.create(tmp_path / "me.pem")
    with pytest.raises(psijoin.InputError, match="exists already") as raised:
        psijoin.Identity.create(made.path)
    check_names_no_option([str(raised.value)])
    with pytest.raises(psijoin.InputError, match="Identity.create makes") as raised:
        psijoin.Identity.load_or_create(tmp_path / "none.pem")
    check_names_no_option([str(raised.value)])


def test_each_join_has_its_own_statement_and_report(pair: Pair) -> None:
    ann, bob = pair
    first, _ = psijoin.together(lambda: ann.receive(KEYS), lambda: bob.send(KEYS))
    statement, session = first.statement, first.report["session"]
    second, _ = psijoin.together(
        lambda: ann.count(KEYS), lambda: bob.send(KEYS, output_kind="count")
    )
    assert (first.statement, first.report["session"]) == (statement, session)
    assert second.report["session"] != session
    assert ann.statement == second.statement != statement


SLOW = "dh-ffdhe3072"
MANY = [str(number) for number in range(100_000)]


def test_a_deadline_ends_both_sides(pair: Pair) -> None:
    ann, bob = pair
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(lambda: bob.send(MANY, protocol=SLOW))
        with pytest.raises(psijoin.NetworkError, match="within the 1 second that") as raised:
            ann.receive(MANY, protocol=SLOW, deadline=1)
        other = sent.exception()
    assert raised.value.try_again
    assert raised.value.report and raised.value.report["exit_code"] == 4
    assert isinstance(other, psijoin.NetworkError)
    assert "deadline" in str(other)


def test_a_deadline_that_is_far_away_changes_nothing(pair: Pair) -> None:
    ann, bob = pair
    shared, _ = psijoin.together(
        lambda: ann.receive(KEYS, deadline=600), lambda: bob.send(KEYS, deadline=600)
    )
    assert shared.rows == KEYS
