"""Times private joins of two files, from start to end, beside DuckDB's of the same files."""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import duckdb

from .parties import Parties

# Each side's rows, in an order that is not that of the keys. What is added to a row's number makes
# the second half of one side's keys the first half of the other's.
TABLE = """
select
    printf('u%010d@example.com', i + {added}) as email,
    'Name ' || (hash(i) % 1000000) as name,
    i as id,
    cast(hash(i + 1) % 100000 as double) / 100 as amount,
    date '2020-01-01' + cast(hash(i + 2) % 2000 as int) as day,
    'user' || lpad(cast((hash(i + {added}) % 10000000000) as varchar), 10, '0')
        || '@mail.com' || (i + {added}) % 10 as other
from range({rows}) t(i)
order by hash(i + {added} + 17)
"""

DUCKDB_THREADS = 2


@dataclass
class Run:
    """The cost of a join: psijoin's, and DuckDB's after it."""

    private_seconds: float
    clear_seconds: float
    receiver_bytes: int
    sender_bytes: int


def duckdb_join(mine: Path, theirs: Path, output: Path) -> None:
    """Writes the rows of the first file whose key is in the second one."""
    # A connection of its own, which has nothing of these files in memory.
    with duckdb.connect(config={"threads": DUCKDB_THREADS}) as connection:
        connection.execute(
            f"copy (select * from '{mine}' as a semi join '{theirs}' as b using (email)) "
            f"to '{output}'"
        )


def check_same_rows(one: Path, other: Path) -> None:
    """Makes sure that two files have the same rows, in whichever order."""
    with duckdb.connect() as connection:
        differing = connection.execute(
            f"select count(*) from ((from '{one}' except all from '{other}') "
            f"union all (from '{other}' except all from '{one}'))"
        ).fetchone()[0]
    if differing:
        raise SystemExit(f"{differing} rows are in one result only")


def seconds(work: Callable[[], None]) -> float:
    """Returns the time that it takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def make_tables(folder: Path, rows: int, ending: str) -> tuple[Path, Path]:
    """The receiver's and the sender's table."""
    tables = folder / f"mine.{ending}", folder / f"theirs.{ending}"
    with duckdb.connect() as connection:
        for table, added in zip(tables, (0, rows // 2), strict=True):
            connection.execute(f"copy ({TABLE.format(added=added, rows=rows)}) to '{table}'")
    return tables


def measure(arguments: argparse.Namespace, folder: Path) -> Iterable[Run]:
    """Joins by either program, in turns."""
    mine, theirs = make_tables(folder, arguments.rows, arguments.format)
    private, clear = (folder / f"{name}.{arguments.format}" for name in ("private", "clear"))
    parties = Parties(arguments.program.absolute(), folder, arguments.memory)
    for _ in range(arguments.runs):
        private.unlink(missing_ok=True)
        private_seconds = seconds(lambda: parties.join(mine, theirs, private))
        clear_seconds = seconds(lambda: duckdb_join(mine, theirs, clear))
        check_same_rows(private, clear)
        yield Run(private_seconds, clear_seconds, *parties.peak_bytes())


def row(name: str, *cells: str) -> None:
    """Prints a row."""
    print(f"{name:>7}", *(f"{cell:>13}" for cell in cells), flush=True)


def main() -> None:
    """Measures, and prints each run, and the minimum and the median of all."""
    arguments = parser().parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    row("", "psijoin, s", "DuckDB, s", "receiver, MB", "sender, MB")
    runs = []
    with tempfile.TemporaryDirectory(dir=arguments.folder.absolute()) as folder:
        for run in measure(arguments, Path(folder)):
            runs.append(run)
            megabytes = (f"{peak / 1e6:.0f}" for peak in (run.receiver_bytes, run.sender_bytes))
            row(
                str(len(runs)), f"{run.private_seconds:.2f}", f"{run.clear_seconds:.2f}", *megabytes
            )
    private = [run.private_seconds for run in runs]
    clear = [run.clear_seconds for run in runs]
    for name, of in (("minimum", min), ("median", median)):
        row(name, f"{of(private):.2f}", f"{of(clear):.2f}")
    print(f"psijoin takes {min(private) / min(clear):.2f} times as long, by the minima")


def parser() -> argparse.ArgumentParser:
    """Returns the arguments of the command line."""
    told = argparse.ArgumentParser(prog="whole_joins", description=__doc__)
    told.add_argument("--program", type=Path, required=True, help="psijoin's release binary")
    told.add_argument("--folder", type=Path, required=True, help="for the files, while it runs")
    told.add_argument(
        "--rows", type=positive, default=1_000_000, help="per side (default: 1000000)"
    )
    told.add_argument("--format", choices=("csv", "parquet"), default="csv", help="(default: csv)")
    told.add_argument("--runs", type=positive, default=3, help="of either program (default: 3)")
    told.add_argument("--memory", metavar="SIZE", help="passed on to psijoin, as 400MB")
    return told


def positive(text: str) -> int:
    """A number from 1 on, as 1000 or 1e7."""
    number = int(float(text))
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    main()
