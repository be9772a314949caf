"""Addresses of this machine for parties and servers that are still to start."""

import os
import socket
from contextlib import suppress
from itertools import count

# Below those that systems give to whoever connects, and might then take before somebody listens.
PORTS = range(12_000, 32_000)
calls = count()


def free_address() -> str:
    """Returns an address at which nobody listens, another one at each call."""
    while True:
        # Processes that run at the same time begin elsewhere.
        port = PORTS[(os.getpid() * 61 + next(calls)) % len(PORTS)]
        with socket.socket() as unused, suppress(OSError):
            unused.bind(("127.0.0.1", port))
            return f"127.0.0.1:{port}"
