"""Both parties in one process: for notebooks and tests."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, Unpack

from psijoin._errors import PeerFailedError
from psijoin._identity import Identity
from psijoin._session import Session
from psijoin._types import Limits

A = TypeVar("A")
B = TypeVar("B")


@contextmanager
def local_pair(**options: Unpack[Limits]) -> Iterator[tuple[Session, Session]]:
    """Two parties that trust each other's new keys, and meet on this machine.

    Their joins run at the same time, in two threads: see `together`. Options are those of `Session`.

    >>> import psijoin
    >>> with psijoin.local_pair(threads=1, progress=False) as (ann, bob):
    ...     psijoin.together(lambda: ann.receive(["a", "b"]), lambda: bob.send(["b", "c"]))
    (['b'], None)
    """
    with tempfile.TemporaryDirectory() as folder:
        alice, bob = (Identity.create(Path(folder) / name) for name in ("alice.pem", "bob.pem"))
        address = f"127.0.0.1:{_free_port()}"
        yield (
            Session(identity=alice, peer=bob.fingerprint, listen=address, **options),
            Session(identity=bob, peer=alice.fingerprint, connect=address, **options),
        )


def together(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """What two calls return that need each other: each runs in a thread.

    >>> together(lambda: 1, lambda: "two")
    (1, 'two')

    If one of them raises, its exception is raised when both have ended; if both do, that which came first, since the other one
    often follows from it. That the other party cannot go on follows in any case, though it may come first.
    """
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.submit(first), threads.submit(second)
        calls: list[Future[Any]] = [one, other]
        first_failed = wait(calls, return_when=FIRST_EXCEPTION).done
    calls.sort(key=lambda call: (_follows(call), call not in first_failed))
    for call in calls:
        call.result()
    return one.result(), other.result()


def _follows(call: Future[Any]) -> bool:
    return isinstance(call.exception(), PeerFailedError)


def _free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])
