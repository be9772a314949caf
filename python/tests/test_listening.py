"""Messages of a running join."""

import logging
import os
import pty
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from typing import Any

import psijoin
import pytest
from parties import PATIENCE, Pair, python
from psijoin import _listening

SLOW = "dh-ffdhe3072"
MANY = [str(number) for number in range(1_000)]
"""So many that a join of them with this protocol takes long enough to be watched."""


def both(pair: Pair, keys: list[str]) -> list[str]:
    ann, bob = pair
    shared, _ = psijoin.together(
        lambda: ann.receive(keys, protocol=SLOW), lambda: bob.send(keys, protocol=SLOW)
    )
    return shared.rows


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    with psijoin.local_pair(threads=1, progress=lambda *position: told.append(position)) as pair:
        both(pair, MANY)
    assert SLOW in {what for what, _, _ in told}
    assert all(done <= total or total == 0 for _, done, total in told)


def test_progress_is_told_by_another_thread() -> None:
    threads: set[int] = set()
    with psijoin.local_pair(
        threads=1, progress=lambda *_: threads.add(threading.get_ident())
    ) as pair:
        both(pair, MANY)
    assert threads
    assert threading.get_ident() not in threads


def test_a_function_that_raises_does_not_end_the_join(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)

    def fails(what: str, done: int, total: int) -> None:
        raise RuntimeError("no room for a bar")

    with psijoin.local_pair(threads=1, progress=fails) as pair:
        assert both(pair, MANY) == MANY
    assert {str(error.exc_value) for error in raised} == {"no room for a bar"}


def test_what_the_program_says_goes_to_logging(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="psijoin")
    both(pair, ["ann", "bob"])
    assert any("read the table: 2 rows, 2 distinct keys" in said for said in caplog.messages)
    caplog.clear()
    ann, bob = pair
    psijoin.together(lambda: ann.receive(["12"]), lambda: bob.send(["12.0"]))
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings, "a receiver that finds no shared key is warned"
    assert not any("WARNING" in message for message in caplog.messages), "the level says it"


JOIN = """
import sys
for library in sys.argv[1:]:
    sys.modules[library] = None
import psijoin
keys = [str(number) for number in range(1_000)]
slow = "dh-ffdhe3072"
with psijoin.local_pair(threads=1) as (ann, bob):
    shared, _ = psijoin.together(
        lambda: ann.receive(keys, protocol=slow), lambda: bob.send(keys, protocol=slow)
    )
assert shared.rows == keys
"""
"""A join without these libraries."""


def seen(*without: str) -> str:
    """Returns what somebody at a terminal sees of a join."""
    terminal, end = pty.openpty()
    termios.tcsetwinsize(end, (30, 100))
    command = [sys.executable, "-c", JOIN, *without]
    running = subprocess.Popen(command, stderr=end, env={**os.environ, "TERM": "xterm"})
    os.close(end)
    said = b"".join(read(terminal)).decode()
    os.close(terminal)
    assert running.wait(PATIENCE) == 0, said
    return said


def read(terminal: int) -> Iterator[bytes]:
    try:
        while said := os.read(terminal, 1 << 16):
            yield said
    except OSError:
        # Nobody has the other end any more.
        return


def test_a_bar_of_tqdm() -> None:
    pytest.importorskip("tqdm")
    said = seen()
    assert f"{SLOW}:" in said
    assert "B/s" in said
    assert "━" not in said


def test_a_bar_of_rich() -> None:
    pytest.importorskip("rich")
    said = seen("tqdm")
    assert SLOW in said
    assert "━" in said


def test_quiet_without_both() -> None:
    assert seen("tqdm", "rich") == ""


def test_quiet_where_nobody_sees_it() -> None:
    _, said = python("-c", JOIN).communicate(timeout=PATIENCE)
    assert said == ""


@pytest.mark.parametrize("library", ["tqdm", "rich"])
def test_a_bar_that_is_closed_stays_so(library: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(library)
    bars: dict[str, type[_listening.Shown]] = {
        "tqdm": _listening.TqdmBar,
        "rich": _listening.RichBar,
    }
    bar = bars[library]()
    bar("reading", 1, 2)
    bar.close()
    capfd.readouterr()
    bar("reading", 2, 2)
    bar.close()
    assert capfd.readouterr().err.strip() == ""
