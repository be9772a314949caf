"""The parties of a join: Python here, and the program or another Python at the other end."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psijoin
from psijoin._pair import free_address as free_address

Pair = tuple[psijoin.Session, psijoin.Session]
Role = Literal["receive", "send"]
OTHER: dict[Role, Role] = {"receive": "send", "send": "receive"}


class Meeting(NamedTuple):
    """The arguments of each party's `Session`."""

    ann: dict[str, Any]
    bob: dict[str, Any]


PATIENCE = 120
"""The seconds that a party gets for what it must do soon."""


def program(*args: str) -> subprocess.Popen[str]:
    """The program, with these arguments."""
    return python("-m", "psijoin", *args)


def python(*args: str) -> subprocess.Popen[str]:
    """Another process of this Python."""
    command = [sys.executable, *args]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _started.append(process)
    return process


def end() -> None:
    """Ends all processes that have not ended by themselves, as after a test that failed."""
    while _started:
        process = _started.pop()
        process.kill()
        process.communicate()


_started: list[subprocess.Popen[str]] = []


def relay() -> str:
    """The address of a relay on this machine, which runs until the test ends."""
    process = program("relay", "--listen", "127.0.0.1:0")
    assert process.stderr is not None
    return process.stderr.readline().removeprefix("listening on ").strip()


def meeting(folder: Path, relay: str) -> Meeting:
    """Two parties that meet at this relay. Their identities are in the folder, or are made."""
    paths = (folder / "ann.pem", folder / "bob.pem")
    own = psijoin.Identity
    ann, bob = (own.load_or_create(path) if path.exists() else own.create(path) for path in paths)
    common = {"relay": relay, "wait": 600, "threads": 1, "progress": False}
    return Meeting(
        {"identity": ann, "peer": bob.fingerprint, **common},
        {"identity": bob, "peer": ann.fingerprint, **common},
    )
