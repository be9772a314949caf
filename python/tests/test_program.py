"""The program in the wheel, against Python at the other end."""

import os
import signal
import socket
import subprocess
import sys
import time

import psijoin
import pytest


def program(*args, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "psijoin", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def free_address():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{unused.getsockname()[1]}"


@pytest.fixture
def identities(tmp_path):
    return [psijoin.Identity.create(tmp_path / name) for name in ("ann.pem", "bob.pem")]


def test_the_program_is_there():
    said, _ = (shown := program("--version")).communicate(timeout=60)
    assert (shown.returncode, said) == (0, f"psijoin {psijoin.__version__}\n")
    demo = program("demo")
    assert "8 shared customers" in demo.communicate(timeout=60)[0]
    wrong = program("nonsense")
    assert "nonsense" in wrong.communicate(timeout=60)[1]
    assert wrong.returncode == 2


@pytest.mark.parametrize("role", ["receive", "send"])
def test_a_join_with_the_program(tmp_path, identities, role):
    ann, bob = identities
    address = free_address()
    table = tmp_path / "theirs.csv"
    table.write_text("id\nb\nc\nd\n")
    output = tmp_path / "out.csv"
    other = {"receive": "send", "send": "receive"}[role]
    trust = ["--identity", bob.path, "--peer", ann.fingerprint, "--input", str(table), "--key", "id"]
    writes = ["--output", str(output)] if other == "receive" else []
    running = program(other, "--connect", address, *trust, *writes)
    session = psijoin.Session(
        identity=ann, peer=bob.fingerprint, listen=address, progress=False
    )
    rows = getattr(session, role)(["a", "b", "c"])
    assert running.wait(timeout=60) == 0, running.stderr.read()
    assert rows == (["b", "c"] if role == "receive" else None)
    assert role == "receive" or output.read_text() == "id\nb\nc\n"


def test_an_identity_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("PSIJOIN_HOME", str(tmp_path / "home"))
    first = psijoin.Identity.load_or_create()
    assert psijoin.Identity.load_or_create() == first
    assert os.stat(first.path).st_mode & 0o777 == 0o600
    shown = program("fingerprint")
    assert shown.communicate(timeout=60)[0].strip() == first.fingerprint
    with pytest.raises(psijoin.InputError, match="exists already"):
        psijoin.Identity.create(first.path)


INTERRUPTED = """
import sys, psijoin
ann = psijoin.Identity.load_or_create(sys.argv[1])
session = psijoin.Session(identity=ann, peer=sys.argv[2], listen=sys.argv[3], progress=False)
print("begins", flush=True)
try:
    session.receive([str(number) for number in range(300_000)], protocol="dh")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def interrupted(identities, address):
    """A party that does not end before Ctrl-C."""
    ann, bob = identities
    party = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, ann.path, bob.fingerprint, address],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert party.stdout.readline() == "begins\n"
    return party


def interrupt(party):
    began = time.monotonic()
    party.send_signal(signal.SIGINT)
    assert party.stdout.readline() == "interrupted\n"
    assert time.monotonic() - began < 2
    assert party.wait(timeout=10) == 0


def test_ctrl_c_ends_the_wait_for_the_other_party(identities):
    party = interrupted(identities, free_address())
    time.sleep(0.5)
    interrupt(party)


def test_ctrl_c_ends_a_join_on_both_sides(tmp_path, identities):
    ann, bob = identities
    address = free_address()
    table = tmp_path / "theirs.txt"
    table.write_text("".join(f"{number}\n" for number in range(300_000)))
    party = interrupted(identities, address)
    trust = ["--identity", bob.path, "--peer", ann.fingerprint, "--input", str(table)]
    other = program("send", "--connect", address, *trust, "--protocol", "dh")
    while "dh: 300,000 keys" not in other.stderr.readline():
        assert other.poll() is None
    interrupt(party)
    assert "interrupted" in other.communicate(timeout=20)[1]
    assert other.returncode == 4
