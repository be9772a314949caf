"""A join of ten million rows on each side. It takes more than a gigabyte on each side, and a wheel
of the release profile, so it runs if asked:

PSIJOIN_HEAVY=1 python -m pytest -s test_many_rows.py
"""

import json
import os
from typing import Any

import psijoin
import pytest
from parties import free_address, python

ROWS = 10_000_000

PARTY = """
import json, resource, sys, time
import numpy, pyarrow, psijoin

role, path, peer, meets, address, rows = sys.argv[1:]
rows = int(rows)
numbers = numpy.arange(rows)
if role == "receive":
    # In no order: 7919 and the number of rows have no common divisor.
    table = pyarrow.table({"id": numbers * 7919 % rows, "row": numbers})
else:
    table = pyarrow.table({"id": numbers + rows // 2, "plan": numbers})
session = psijoin.Session(
    identity=psijoin.Identity.load_or_create(path), peer=peer, progress=False, **{meets: address}
)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
began = time.monotonic()
if role == "receive":
    shared = session.receive(table, on="id", take=["plan"]).rows
else:
    session.send(table, on="id", give=["plan"])
told = {
    "frame_bytes": table.nbytes,
    "peak_bytes_before": before,
    "seconds": time.monotonic() - began,
    "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}
if role == "receive":
    ids, places = table["id"].to_numpy(), shared["row"].to_numpy()
    told["rows"] = len(shared)
    told["as_expected"] = bool(
        numpy.array_equal(places, numpy.flatnonzero(ids >= rows // 2))
        and numpy.array_equal(shared["id"].to_numpy(), ids[places])
        and numpy.array_equal(shared["plan"].to_numpy(), ids[places] - rows // 2)
    )
print(json.dumps(told))
"""


@pytest.mark.skipif("PSIJOIN_HEAVY" not in os.environ, reason="PSIJOIN_HEAVY=1 asks for it")
def test_ten_million_rows(identities: tuple[psijoin.Identity, psijoin.Identity]) -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("pyarrow")
    ann, bob = identities
    address = free_address()
    receiving, sending = (
        python("-c", PARTY, role, me.path, other.fingerprint, meets, address, str(ROWS))
        for role, me, other, meets in (
            ("receive", ann, bob, "listen"),
            ("send", bob, ann, "connect"),
        )
    )
    said = {"receiver": receiving.communicate(), "sender": sending.communicate()}
    assert receiving.returncode == sending.returncode == 0, said
    told: dict[str, dict[str, Any]] = {who: json.loads(out) for who, (out, _) in said.items()}
    print(json.dumps(told, indent=2))
    assert told["receiver"]["rows"] == ROWS // 2
    assert told["receiver"]["as_expected"]
