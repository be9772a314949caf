"""Ctrl-C ends a join within about a second, on both sides."""

import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psijoin
import pytest
from parties import OTHER, PATIENCE, Role, free_address, program, python

Identities = tuple[psijoin.Identity, psijoin.Identity]

SOON = 40
"""The seconds that are soon on a busy machine. A join that does not end takes minutes."""

PROTOCOL = "dh-ffdhe3072"
KEYS = 100_000
"""A join of this many takes minutes with this protocol."""

INTERRUPTED = """
import sys, psijoin
role, path, peer, address, keys = sys.argv[1:]
session = psijoin.Session(
    identity=psijoin.Identity.load_or_create(path), peer=peer, listen=address, wait=600,
    progress=lambda what, done, total: print("at", what, flush=True),
)
print("begins", flush=True)
try:
    getattr(session, role)([str(number) for number in range(int(keys))], protocol="dh-ffdhe3072")
except KeyboardInterrupt:
    print("interrupted", session.report, flush=True)
"""


def interrupted(
    identities: Identities, address: str, role: Role, keys: int
) -> subprocess.Popen[str]:
    """A party that does not end before Ctrl-C."""
    ann, bob = identities
    return python("-c", INTERRUPTED, role, ann.path, bob.fingerprint, address, str(keys))


def wait_for(party: subprocess.Popen[str], line: str) -> None:
    assert party.stdout
    for said in party.stdout:
        if said.startswith(line):
            return
    raise AssertionError(f"it has not said {line}")


def interrupt(party: subprocess.Popen[str]) -> None:
    """Sends Ctrl-C, after which Python has `KeyboardInterrupt` soon, and ends by itself."""
    began = time.monotonic()
    party.send_signal(signal.SIGINT)
    wait_for(party, "interrupted")
    assert time.monotonic() - began < SOON
    assert party.wait(timeout=SOON) == 0


@pytest.mark.parametrize("role", ["receive", "send"])
def test_it_ends_the_wait_for_the_other_party(identities: Identities, role: Role) -> None:
    party = interrupted(identities, free_address(), role, 3)
    wait_for(party, "begins")
    time.sleep(0.5)
    interrupt(party)


def program_amid_data(
    tmp_path: Path, identities: Identities, address: str, role: Role
) -> subprocess.Popen[str]:
    """The program as the other party, with as many keys."""
    ann, bob = identities
    table = tmp_path / "theirs.txt"
    table.write_text("".join(f"{number}\n" for number in range(KEYS)))
    trust = ["--identity", bob.path, "--peer", ann.fingerprint, "--input", str(table)]
    return program(role, "--connect", address, *trust, "--protocol", PROTOCOL)


def wait_for_data(running: subprocess.Popen[str]) -> None:
    assert running.stderr
    while f"{PROTOCOL}: {KEYS:,} keys" not in (said := running.stderr.readline()):
        assert said, "it has ended"


@pytest.mark.parametrize("role", ["receive", "send"])
def test_it_ends_the_join_of_the_program(
    tmp_path: Path, identities: Identities, role: Role
) -> None:
    address = free_address()
    party = interrupted(identities, address, role, KEYS)
    other = program_amid_data(tmp_path, identities, address, OTHER[role])
    wait_for_data(other)
    interrupt(party)
    _, said = other.communicate(timeout=SOON)
    assert "interrupted" in said
    assert other.returncode == 4


@pytest.mark.parametrize("role", ["receive", "send"])
def test_it_ends_the_join_of_python(identities: Identities, role: Role) -> None:
    ann, bob = identities
    address = free_address()
    party = interrupted(identities, address, role, KEYS)
    session = psijoin.Session(identity=bob, peer=ann.fingerprint, connect=address, progress=False)
    keys = [str(number) for number in range(KEYS)]

    def interrupt_amid_data() -> None:
        wait_for(party, f"at {PROTOCOL}")
        interrupt(party)

    other = threading.Thread(target=interrupt_amid_data)
    other.start()
    with pytest.raises(psijoin.NetworkError, match="interrupted") as raised:
        getattr(session, OTHER[role])(keys, protocol=PROTOCOL)
    other.join(PATIENCE)
    assert not other.is_alive()
    assert raised.value.code == 4
    assert session.report is not None
    assert session.report["outcome"] == "failed"


def test_the_program_is_interrupted(tmp_path: Path, identities: Identities) -> None:
    ann, bob = identities
    address = free_address()
    other = program_amid_data(tmp_path, identities, address, "send")
    session = psijoin.Session(identity=ann, peer=bob.fingerprint, listen=address, progress=False)

    def interrupt_amid_data() -> None:
        wait_for_data(other)
        other.send_signal(signal.SIGINT)

    interrupting = threading.Thread(target=interrupt_amid_data)
    interrupting.start()
    with pytest.raises(psijoin.NetworkError, match="interrupted"):
        session.receive([str(number) for number in range(KEYS)], protocol=PROTOCOL)
    interrupting.join()
    other.communicate(timeout=SOON)
    assert other.returncode == 1


def test_a_join_after_it(identities: Identities) -> None:
    """The process can go on after `KeyboardInterrupt`: with another join, for example."""
    ann, bob = identities
    address = free_address()
    party = python("-c", AGAIN, ann.path, bob.fingerprint, address)
    wait_for(party, "begins")
    time.sleep(0.5)
    interrupt_and_go_on(party)
    session = psijoin.Session(identity=bob, peer=ann.fingerprint, connect=address, progress=False)
    session.send(["b"])
    said, _ = party.communicate(timeout=PATIENCE)
    assert said == "['b']\n"


AGAIN = """
import sys, psijoin
path, peer, address = sys.argv[1:]
session = psijoin.Session(
    identity=psijoin.Identity.load_or_create(path), peer=peer, listen=address, progress=False
)
print("begins", flush=True)
try:
    session.receive(["a", "b"])
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(session.receive(["a", "b"]).rows, flush=True)
"""


def interrupt_and_go_on(party: subprocess.Popen[str]) -> None:
    party.send_signal(signal.SIGINT)
    wait_for(party, "interrupted")


TOGETHER = """
import psijoin
keys = [str(number) for number in range(100_000)]
told = lambda what, done, total: print("at", what, flush=True)
with psijoin.local_pair(progress=told) as (ann, bob):
    try:
        psijoin.together(
            lambda: ann.receive(keys, protocol="dh-ffdhe3072"),
            lambda: bob.send(keys, protocol="dh-ffdhe3072"),
        )
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_it_ends_both_sides_in_one_process() -> None:
    party = python("-c", TOGETHER)
    wait_for(party, f"at {PROTOCOL}")
    interrupt(party)


IN_ASYNCIO = """
import asyncio, sys, psijoin

async def main():
    with psijoin.local_pair(wait=600) as (ann, _):
        print("begins", flush=True)
        await asyncio.to_thread(ann.receive, ["a"])

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_it_ends_a_join_in_a_thread_of_asyncio() -> None:
    party = python("-c", IN_ASYNCIO)
    wait_for(party, "begins")
    time.sleep(0.5)
    interrupt(party)


@pytest.mark.parametrize("leave", [False, True])
def test_a_session_is_stopped_from_another_thread(leave: bool) -> None:
    with ThreadPoolExecutor(1) as threads:
        with psijoin.local_pair(wait=600, progress=False) as (ann, _):
            waiting = threads.submit(ann.receive, ["a"])
            time.sleep(0.5)
            if not leave:
                ann.stop()
                assert waiting.exception(timeout=SOON)
        stopped = waiting.exception(timeout=SOON)
    assert type(stopped) is psijoin.Error
    assert stopped.code == 1
    assert "interrupted" in str(stopped)
