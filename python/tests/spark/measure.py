"""Times joins of two tables that lie in Spark, beside Spark's own semi join of the same two. It
needs a wheel of the release profile:

python python/tests/spark/measure.py 1e7
python python/tests/spark/measure.py 1e7 --mode lanes

A cluster of a master and three workers runs on this machine. Each party is an application of its
own, with two slots. Figures are seconds, and seconds of processors: of the cluster, both drivers
and the relay together.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psijoin
import psijoin.spark
import pyspark
from psijoin.spark import _lanes
from psijoin.spark._work import Work
from pyspark.sql import DataFrame, SparkSession

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent.parent))

from parties import meeting, python, relay  # noqa: E402

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
WORKERS = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=lambda text: int(float(text)))
    parser.add_argument("--mode", choices=["driver", "lanes"], default="driver")
    parser.add_argument("--turns", type=int, default=3, help="the first one warms up, unless it is the only one")
    parser.add_argument("--party", nargs=4, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.party:
        party(told.mode, *told.party)
        return
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as master:
        folder = Path(name)
        print(f"{told.rows:,} rows a side, {told.mode}: minimum and median of {max(told.turns - 1, 1)}", flush=True)
        plain = application(master, told.mode, "plain", told, folder, "")
        ask(plain, "make")
        report("Spark's own semi join", [timed(plain, "join") for _ in range(told.turns)])
        finished(plain)
        place = relay()
        meeting(folder, place)
        parties = [application(master, told.mode, role, told, folder, place) for role in ("ann", "bob")]
        joins, results = [], []
        for _ in range(told.turns):
            joins.append(timed_together(parties, "join"))
            results.append(timed(parties[0], "result"))
        report("psijoin.spark, both parties", joins)
        report("the result, computed", results)
        if told.mode == "lanes":
            report("of it, one party reads keys", [timed(parties[0], "read") for _ in range(told.turns)])
        ask(parties[0], "phases")
        report("all of it", [(a + c, b + d) for (a, b), (c, d) in zip(joins, results, strict=True)])
        print(f"{'memory of all processes, at its peak':40} {peak():8.0f} MB", flush=True)
        list(map(finished, parties))


def application(master: str, mode: str, role: str, told: Any, folder: Path, place: str) -> "subprocess.Popen[str]":
    command = [str(HERE), str(told.rows), "--mode", mode, "--party", role, master, str(folder), place]
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ask(process: "subprocess.Popen[str]", what: str) -> None:
    begin(process, what)
    end(process)


def begin(process: "subprocess.Popen[str]", what: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{what}\n")
    process.stdin.flush()


def end(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"


def finished(process: "subprocess.Popen[str]") -> None:
    begin(process, "stop")
    process.wait()


def timed(process: "subprocess.Popen[str]", what: str) -> tuple[float, float]:
    return timed_together([process], what)


def timed_together(processes: "list[subprocess.Popen[str]]", what: str) -> tuple[float, float]:
    """The seconds, and those of processors."""
    started, used = time.monotonic(), processor_seconds()
    for process in processes:
        begin(process, what)
    for process in processes:
        end(process)
    return time.monotonic() - started, processor_seconds() - used


def report(what: str, times: list[tuple[float, float]]) -> None:
    cells = [what.ljust(40)]
    for values in zip(*(times[1:] or times), strict=True):
        cells.append(f"{min(values):8.1f} {statistics.median(values):8.1f}")
    print(" s, ".join(cells), "s of processors", flush=True)


def tree() -> Iterator[tuple[int, list[str]]]:
    """This process and those below it, and the fields of /proc/PID/stat from the state on."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
    below = {os.getpid()}
    for pid in sorted(fields):
        ancestor = pid
        while ancestor in fields and ancestor not in below:
            ancestor = int(fields[ancestor][1])
        if ancestor in below:
            below.add(pid)
            yield pid, fields[pid]


def processor_seconds() -> float:
    """What this process and those below it have used, with those that have ended."""
    return sum(int(value) for _, fields in tree() for value in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def peak() -> float:
    """The largest sizes of the processes that there are now, in all, in MB."""
    total = 0
    for pid, _ in tree():
        try:
            lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        except OSError:
            continue
        total += int(lines.get("VmHWM", "0 kB").split()[0])
    return total / 1024


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master and its workers, in processes below this one."""
    start = Path(os.environ["SPARK_HOME"]) / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_WORKER_DIR": str(folder / "workers"), "SPARK_LOCAL_DIRS": str(folder / "local")}
    package = "org.apache.spark.deploy"
    place = psijoin._pair.free_address()
    host, _, port = place.rpartition(":")
    commands = [[f"{package}.master.Master", "--host", host, "--port", port, "--webui-port", "0"]]
    worker = ["--host", host, "--webui-port", "0", "--cores", "2", "--memory", "4g"]
    commands += [[f"{package}.worker.Worker", *worker, f"spark://{place}"]] * WORKERS
    log = (folder / "cluster.log").open("w")
    running = [
        subprocess.Popen([start, *command], env=environment, stdout=log, stderr=log) for command in commands
    ]
    try:
        yield f"spark://{place}"
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def party(mode: str, role: str, master: str, folder: str, place: str) -> None:
    """Does what it is asked for by lines."""
    builder = SparkSession.builder.master(master).config("spark.cores.max", 2)
    # A lane takes memory that is not in the heap.
    builder = builder.config("spark.executor.cores", 2 if mode == "driver" else 1)
    builder = builder.config("spark.executor.memory", "1500m")
    # What one party has found goes back by its driver.
    of_driver = "1g" if mode == "lanes" else "3g" if role == "ann" else "1500m"
    builder = builder.config("spark.driver.memory", of_driver)
    builder = builder.config("spark.driver.maxResultSize", 0).config("spark.ui.enabled", False)
    # Some three million rows: an executor has the keys of a partition several times on their way.
    builder = builder.config("spark.sql.files.maxPartitionBytes", "24m")
    spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = int(float(sys.argv[1]))
    told = {"folder": Path(folder), "mode": mode, "place": place, "rows": rows}
    works = {"make": make, "join": {"plain": plain, "ann": receive, "bob": send}[role], "result": result}
    works |= {"phases": phases, "read": read}
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "stop\n":
            break
        works[line.strip()](spark, told)
        print("done", flush=True)
    spark.stop()


def make(spark: SparkSession, told: dict[str, Any]) -> None:
    rows = told["rows"]
    for name, first in (("mine", 0), ("theirs", rows // 2)):
        table = spark.range(first, first + rows, 1, 8).selectExpr(
            "format_string('user%09d@example.org', id) as email", "id", "id % 100 as plan"
        )
        table.orderBy("plan").write.parquet(str(told["folder"] / name))


def table(spark: SparkSession, told: dict[str, Any], name: str) -> DataFrame:
    return spark.read.parquet(str(told["folder"] / name))


def plain(spark: SparkSession, told: dict[str, Any]) -> None:
    mine, theirs = (table(spark, told, name) for name in ("mine", "theirs"))
    computed(mine.join(theirs, "email", "left_semi"))


def computed(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def options(told: dict[str, Any]) -> dict[str, Any]:
    work = str(told["folder"] / "work")
    return {"lanes": 2, "work": work} if told["mode"] == "lanes" else {"memory": "1GB"}


def receive(spark: SparkSession, told: dict[str, Any]) -> None:
    ann = meeting(told["folder"], told["place"]).ann
    told["shared"] = psijoin.spark.receive(table(spark, told, "mine"), on="email", **options(told), **ann)


def send(spark: SparkSession, told: dict[str, Any]) -> None:
    bob = meeting(told["folder"], told["place"]).bob
    psijoin.spark.send(table(spark, told, "theirs"), on="email", **options(told), **bob)


def read(spark: SparkSession, told: dict[str, Any]) -> None:
    """The first phase of a join in lanes, alone."""
    own = _lanes._table("receive", table(spark, told, "mine"), "email", {})
    with Work(spark, str(told["folder"] / "work")) as folder:
        _lanes._read(own, folder, 2)


def phases(spark: SparkSession, told: dict[str, Any]) -> None:
    """Says on stderr how long the last session took."""
    seconds = {phase["name"]: round(phase["seconds"], 1) for phase in told["shared"].report["phases"]}
    print(f"phases of the session: {seconds}", file=sys.stderr, flush=True)


def result(spark: SparkSession, told: dict[str, Any]) -> None:
    computed(told["shared"])


if __name__ == "__main__":
    main()
