"""A party with its table in a data frame: reads commands, a line of JSON each, and answers so."""

import json
import logging
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import psijoin


class Addresses(logging.Handler):
    """Says where the party listens, as soon as it does."""

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.search(r"listening on ([\d.:]+)", record.getMessage()):
            answer(address=found[1])


def answer(**facts: object) -> None:
    """Says this to whoever gives commands."""
    print(json.dumps(facts), flush=True)


def memory(field: str) -> int:
    """A number of bytes from this process's status."""
    (line,) = re.findall(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(line) * 1024


def joined(frame: Any, command: dict[str, Any]) -> None:
    """Joins once, and says how long that took and what it took."""
    session = psijoin.Session(
        identity=psijoin.Identity.load_or_create(command["identity"]),
        peer=command["peer"],
        progress=False,
        **command["meeting"],
    )
    # The peak from here on.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    started = time.perf_counter()
    rows = getattr(session, command["role"])(frame, on="email", protocol="rr22").rows
    seconds = time.perf_counter() - started
    peak = memory("VmHWM")
    if rows is not None and command["output"]:
        write(rows, command["output"])
    answer(seconds=seconds, before_bytes=before, peak_bytes=peak)


def write(rows: Any, path: str) -> None:
    """Writes rows, as this library does."""
    if hasattr(rows, "write_parquet"):
        rows.write_parquet(path)
    else:
        rows.to_parquet(path, index=False)


def main() -> None:
    """Reads the table, and then joins as often as it is told to."""
    name, table = sys.argv[1:]
    logger = logging.getLogger("psijoin")
    logger.setLevel(logging.INFO)
    logger.addHandler(Addresses())
    library = import_module(name)
    before = memory("VmRSS")
    frame = library.read_parquet(table)
    answer(table_bytes=memory("VmRSS") - before)
    for line in sys.stdin:
        joined(frame, json.loads(line))


if __name__ == "__main__":
    main()
