"""Both parties in one process: for notebooks and tests."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, Unpack

from psijoin._call import Call
from psijoin._errors import PeerFailedError
from psijoin._identity import Identity
from psijoin._session import Session
from psijoin._types import Limits

A = TypeVar("A")
B = TypeVar("B")

# Below those that systems give to whoever connects, and might then take before a party listens.
_PORTS = range(12_000, 32_000)
_calls = count()


@contextmanager
def local_pair(**options: Unpack[Limits]) -> Iterator[tuple[Session, Session]]:
    """Creates two parties that trust each other's new keys, and meet on this machine.

    Their joins run at the same time, in two threads: see `together`. Options are those of
    `Session`.

    >>> import psijoin
    >>> with psijoin.local_pair(threads=1, progress=False) as (ann, bob):
    ...     shared, _ = psijoin.together(lambda: ann.receive(["a", "b"]), lambda: bob.send(["b", "c"]))
    >>> shared.rows
    ['b']
    """
    with tempfile.TemporaryDirectory() as folder:
        alice, bob = (Identity.create(Path(folder) / name) for name in ("alice.pem", "bob.pem"))
        address = free_address()
        with (
            Session(identity=alice, peer=bob.fingerprint, listen=address, **options) as one,
            Session(identity=bob, peer=alice.fingerprint, connect=address, **options) as other,
        ):
            yield one, other


def together(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """Runs two calls that need each other, the second one in a thread of its own, and returns both
    results.

    >>> together(lambda: 1, lambda: "two")
    (1, 'two')

    If one of them raises, the joins of the other one are stopped, and its exception is raised. If
    both raise, it is the one that came first, since the other one often follows from it. That the
    other party cannot continue follows in any case, though it may come first. Ctrl-C ends both.
    """
    one: Future[A] = Future()
    here, there = Call(), Call()
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(there.of, second)
        other.add_done_callback(lambda done: here.stop() if _is_at_fault(done) else None)
        # Ctrl-C reaches the main thread only. If this is it, the first call hears of it.
        try:
            one.set_result(here.of(first))
        except Exception as error:
            one.set_exception(error)
        except BaseException:
            there.stop()
            raise
        calls: list[Future[Any]] = [other, one] if other.done() else [one, other]
        if _is_at_fault(one):
            there.stop()
    for call in sorted(calls, key=_follows):
        call.result()
    return one.result(), other.result()


def _is_at_fault(call: Future[Any]) -> bool:
    """Returns whether the other call would wait in vain."""
    return call.exception() is not None and not _follows(call)


def _follows(call: Future[Any]) -> bool:
    return isinstance(call.exception(), PeerFailedError)


def free_address() -> str:
    """Returns an address of this machine at which nobody listens, another one at each call."""
    for _ in _PORTS:
        # Processes that run at the same time begin elsewhere.
        port = _PORTS[(os.getpid() * 61 + next(_calls)) % len(_PORTS)]
        with socket.socket() as unused, suppress(OSError):
            unused.bind(("127.0.0.1", port))
            return f"127.0.0.1:{port}"
    raise OSError("no port of this machine is free")
