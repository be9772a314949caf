"""One side of a join of two Spark tables. Both sides run on this machine, each with a Spark of its
own, in two terminals, in whichever order:

python party.py receive /tmp/demo
python party.py send /tmp/demo

They meet in the folder. Two organisations would meet at a relay, `relay="wss://…"`, and tell each
other their fingerprints by telephone, or know each other by an invitation.
"""

import argparse
import time
from pathlib import Path

import psijoin
import psijoin.spark
from pyspark.sql import SparkSession

OTHER = {"receive": "send", "send": "receive"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Joins two Spark tables, one of which the other side has.")
    parser.add_argument("role", choices=OTHER)
    parser.add_argument("folder", type=Path)
    told = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").appName(f"psijoin {told.role}")
    spark = builder.config("spark.ui.enabled", False).getOrCreate()
    me, peer = introduced(told.role, told.folder)
    common = {"identity": me, "peer": peer, "via": told.folder, "normalize": {"email": "email"}}
    if told.role == "receive":
        customers = spark.range(1_000).selectExpr(
            "concat('Customer', id, '@example.com') as email", "id", "array(id, id + 1) as orders"
        )
        shared = psijoin.spark.receive(customers, on="email", take=["plan"], **common)
        shared.write.mode("overwrite").parquet(str(told.folder / "shared"))
        spark.read.parquet(str(told.folder / "shared")).orderBy("id").show(3)
        print(shared.statement)
    else:
        subscribers = spark.range(0, 2_000, 5).selectExpr(
            "concat('customer', id, '@example.com') as email", "if(id % 2 = 0, 'gold', 'basic') as plan"
        )
        print(psijoin.spark.send(subscribers, on="email", give=["plan"], **common).statement)
    spark.stop()


def introduced(role: str, folder: Path) -> tuple[psijoin.Identity, str]:
    """Returns this side's identity, and the fingerprint of the other side, which is told by a file
    here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own, path = psijoin.Identity, folder / f"{role}.pem"
    me = own.load_or_create(path) if path.exists() else own.create(path)
    written = folder / f"{role}.fingerprint.part"
    written.write_text(me.fingerprint)
    written.rename(folder / f"{role}.fingerprint")
    theirs = folder / f"{OTHER[role]}.fingerprint"
    print("waiting for the other side", flush=True)
    while not theirs.exists():
        time.sleep(0.1)
    return me, theirs.read_text()


if __name__ == "__main__":
    main()
