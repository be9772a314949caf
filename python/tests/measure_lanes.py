"""Times the protocol of one lane beside that of a session of the same two tables. It needs a wheel
of the release profile:

python python/tests/measure_lanes.py 1e7

Each party is a process with one thread. Keys are in the memory of the lane's process, in the order
of their parts. Figures are seconds, from the lane's opening to its end; of the session, all phases
but reading the table, meeting and writing the rows.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import psijoin
import pyarrow
from parties import Meeting, Role, meeting, relay
from psijoin import lanes

ROLES: dict[str, Role] = {"ann": "receive", "bob": "send"}
BESIDE = ("reading the table", "handshake (with waiting)", "writing the rows")
"""Phases of a session that are not the protocol's."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=lambda text: int(float(text)))
    parser.add_argument("--turns", type=int, default=6, help="of which the first one warms up")
    parser.add_argument("--party", nargs=3, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.party:
        party(told.rows, told.turns, *told.party)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = relay()
        meeting(Path(folder), place)
        command = [sys.executable, __file__, str(told.rows), "--turns", str(told.turns), "--party"]
        processes = [
            subprocess.Popen([*command, name, folder, place], stdout=subprocess.PIPE, text=True) for name in ROLES
        ]
        lines = [process.communicate()[0].splitlines() for process in processes]
    # Of each turn, that of the party that came second: it waited for nobody.
    turns = [tuple(map(min, *map(json.loads, both))) for both in zip(*lines, strict=True)][1:]
    for what, seconds in zip(("session", "lane"), zip(*turns, strict=True), strict=True):
        print(f"{what:8} {min(seconds):6.2f} s, median {statistics.median(seconds):6.2f} s")


def party(rows: int, turns: int, name: str, folder: str, place: str) -> None:
    both: Meeting = meeting(Path(folder), place)
    own: dict[str, Any] = getattr(both, name)
    first = 0 if name == "ann" else rows // 2
    table = emails(first, first + rows)
    for _ in range(turns):
        print(json.dumps([session(table, name, own), lane(table, name, own)]), flush=True)


def emails(first: int, end: int) -> Any:
    return pyarrow.table({"email": [f"user{number:09}@example.org" for number in range(first, end)]})


def session(table: Any, name: str, own: dict[str, Any]) -> float:
    joined = getattr(psijoin.Session(**own), ROLES[name])(table, on="email")
    phases = joined.report["phases"]
    return float(sum(phase["seconds"] for phase in phases if phase["name"] not in BESIDE))


def lane(table: Any, name: str, own: dict[str, Any]) -> float:
    portion = lanes.read(table, on="email")
    keys = pyarrow.table(lanes.merged(iter([portion.keys])))
    facts = lanes.Facts.merge([portion.facts], distinct=keys.num_rows)
    with lanes.agree(ROLES[name], facts, lanes=1, on="email", **own) as agreed:
        parts = pyarrow.array(lanes.place(agreed.router, keys))
        in_order = keys.append_column("part", parts).sort_by("part").drop_columns(["part"])
        only = lanes.Lane(agreed.ticket(0))
        begun = monotonic()
        for _ in only.run(in_order.to_batches(max_chunksize=1 << 15)):
            pass
        seconds = monotonic() - begun
        agreed.take(only.report)
        agreed.finish()
    return seconds


if __name__ == "__main__":
    main()
