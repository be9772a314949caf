"""Threads, tasks and forked processes."""

import asyncio
import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import psijoin
from parties import PATIENCE

KEYS = [str(number) for number in range(20_000)]


def join(first: int = 0) -> list[str]:
    """A join of its own, of both parties."""
    with psijoin.local_pair(threads=2, progress=False) as (ann, bob):
        theirs = KEYS[first : first + 100]
        shared, _ = psijoin.together(lambda: ann.receive(KEYS), lambda: bob.send(theirs))
        return shared.rows


def test_joins_at_once() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(join, range(4))) == [
            KEYS[first : first + 100] for first in range(4)
        ]


def test_tasks_of_asyncio() -> None:
    async def joins() -> list[list[str]]:
        return await asyncio.gather(*(asyncio.to_thread(join, first) for first in range(3)))

    assert asyncio.run(joins()) == [KEYS[first : first + 100] for first in range(3)]


def test_python_goes_on_meanwhile() -> None:
    """Python's lock is free during a join: while it waits, and while it computes."""
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.01):
            ticks += 1

    ticking = threading.Thread(target=tick)
    ticking.start()
    with psijoin.local_pair(threads=1, progress=False) as (ann, bob):
        began = time.monotonic()
        psijoin.together(
            lambda: ann.receive(KEYS, protocol="dh"), lambda: bob.send(KEYS, protocol="dh")
        )
        seconds = time.monotonic() - began
    done.set()
    ticking.join()
    # It would be a hundred times in a second if nothing else ran.
    assert ticks > 10 * seconds


def test_a_forked_process_joins() -> None:
    """A join that is over is no hindrance."""
    join()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as processes:
        joins = processes.map(join, range(2), timeout=PATIENCE)
        assert list(joins) == [KEYS[first : first + 100] for first in range(2)]


def test_a_process_forked_during_a_join_joins() -> None:
    keys = KEYS[:3_000]
    slow = "dh-ffdhe3072"
    with (
        psijoin.local_pair(threads=2, progress=False) as (ann, bob),
        ThreadPoolExecutor() as threads,
    ):
        running = threads.submit(lambda: ann.receive(keys, protocol=slow))
        threads.submit(lambda: bob.send(keys, protocol=slow))
        time.sleep(0.5)
        children = [fork() for _ in range(5)]
        assert not running.done()
        for child in children:
            assert ended(child) == 0
        assert running.result().rows == keys


def fork() -> int:
    """A process that joins, and ends with 0 if all is well."""
    child = os.fork()
    if child == 0:
        os._exit(0 if join() == KEYS[:100] else 1)
    return child


def ended(child: int) -> int:
    """The exit code of a process, which is killed if it does not end."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the forked process hangs")
