"""The parties of a join: Python here, and the program or another Python at the other end."""

import subprocess
import sys
from typing import Literal

import psijoin
from psijoin._pair import free_address as free_address

Pair = tuple[psijoin.Session, psijoin.Session]
Role = Literal["receive", "send"]
OTHER: dict[Role, Role] = {"receive": "send", "send": "receive"}

PATIENCE = 60
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
