"""A join of a table that lies in several processes: `docs/lanes.md`.

Each portion of the table is read by a process of its own, and each lane is one. The engine between
them is this process: it brings equal keys together, and sorts them by part.

    python lanes.py receive ann.csv PEER --relay HOST:PORT
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import psijoin
import pyarrow
import pyarrow.csv
from psijoin import lanes

LANES = 3
PORTIONS = 2


def read(portion: pyarrow.Table) -> tuple[pyarrow.Table, bytes]:
    """In a reader: its keys, and facts about its rows."""
    read = lanes.read(portion, on="id", normalize={"id": "trim"})
    return pyarrow.table(read.keys), read.facts


def run(ticket: lanes.Ticket, keys: pyarrow.Table) -> tuple[list[pyarrow.Table], lanes.Report]:
    """In a lane: the shared keys, and its report."""
    lane = lanes.Lane(ticket)
    found = [pyarrow.table(shared) for shared in lane.run(keys)]
    return found, lane.report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["receive", "send"])
    parser.add_argument("table")
    parser.add_argument("peer", help="the fingerprint of the other party")
    parser.add_argument("--relay", required=True)
    args = parser.parse_args()

    table = pyarrow.csv.read_csv(args.table)
    rows = -(-len(table) // PORTIONS)
    portions = [table.slice(portion * rows, rows) for portion in range(PORTIONS)]
    with ProcessPoolExecutor(LANES, mp_context=get_context("spawn")) as processes:
        # Equal keys of several portions meet, are one, and are counted.
        parts_of_keys, facts = zip(*processes.map(read, portions))
        keys = pyarrow.table(lanes.merged(parts_of_keys))
        known = lanes.Facts.merge(facts, distinct=len(keys))
        with lanes.agree(
            args.role,
            known,
            on="id",
            normalize={"id": "trim"},
            lanes=LANES,
            peer=args.peer,
            relay=args.relay,
        ) as agreed:
            found = []
            if agreed.lanes > 0:
                # Each lane gets the keys of its parts, in the order of these.
                part = pyarrow.array(lanes.place(agreed.router, keys))
                keys = keys.append_column("part", part).sort_by("part")
                lane = keys["part"].to_numpy() % agreed.lanes
                running = [
                    processes.submit(run, agreed.ticket(i), keys.filter(pyarrow.array(lane == i)))
                    for i in range(agreed.lanes)
                ]
                for ran in running:
                    shared, report = ran.result()
                    agreed.take(report)
                    found.extend(shared)
            finished = agreed.finish()
    print(finished.statement)

    # The way back: shared keys find their rows.
    shared_keys = {key for keys in found for key in keys["key"].to_pylist()}
    of_rows = pyarrow.array(lanes.keys_of(table, on="id", normalize={"id": "trim"})).to_pylist()
    is_shared = [key is not None and key in shared_keys for key in of_rows]
    print(table.filter(pyarrow.array(is_shared))["id"].to_pylist())


if __name__ == "__main__":
    main()
