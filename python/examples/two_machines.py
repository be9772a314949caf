"""One side of a join between two machines. Each runs it with its own table, and the fingerprint of
the other:

python two_machines.py fingerprint
python two_machines.py receive customers.csv PEER --listen 0.0.0.0:7766
python two_machines.py send subscribers.csv PEER --connect ann.example.org:7766
"""

import argparse

import polars
import psijoin


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Joins a table with that of another machine.")
    does = parser.add_subparsers(dest="does", required=True)
    does.add_parser("fingerprint", help="print what the other side calls PEER")
    for role in ("receive", "send"):
        side = does.add_parser(role)
        side.add_argument("table")
        side.add_argument("peer")
        meeting = side.add_mutually_exclusive_group(required=True)
        meeting.add_argument("--listen")
        meeting.add_argument("--connect")
    return parser.parse_args()


def main() -> None:
    told = arguments()
    me = psijoin.Identity.load_or_create()
    if told.does == "fingerprint":
        print(me.fingerprint)
        return
    session = psijoin.Session(identity=me, peer=told.peer, listen=told.listen, connect=told.connect)
    table = polars.read_csv(told.table)
    rule = {"email": "email"}
    if told.does == "receive":
        joined = session.receive(table, on="email", normalize=rule, take=["plan"])
        print(joined.rows.write_csv(), end="")
        print(joined.statement)
    else:
        print(session.send(table, on="email", normalize=rule, give="plan").statement)


if __name__ == "__main__":
    main()
