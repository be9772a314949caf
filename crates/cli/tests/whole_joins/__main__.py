"""Times private joins of two files, from start to end, beside DuckDB's of the same files."""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import duckdb

from .cost import Cost
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

DUCKDB = "DuckDB"
DUCKDB_THREADS = 2


@dataclass
class Run:
    """A join by one program."""

    program: str
    cost: Cost
    # The most that the receiver and the sender had; nothing of DuckDB's.
    peak_bytes: tuple[int, ...] = ()


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


def make_tables(folder: Path, rows: int, ending: str) -> tuple[Path, Path]:
    """The receiver's and the sender's table."""
    tables = folder / f"mine.{ending}", folder / f"theirs.{ending}"
    with duckdb.connect() as connection:
        for table, added in zip(tables, (0, rows // 2), strict=True):
            connection.execute(f"copy ({TABLE.format(added=added, rows=rows)}) to '{table}'")
    return tables


def measure(arguments: argparse.Namespace, folder: Path) -> Iterator[Run]:
    """Joins by DuckDB and each program, in turns."""
    mine, theirs = make_tables(folder, arguments.rows, arguments.format)
    private, clear = (folder / f"{name}.{arguments.format}" for name in ("private", "clear"))
    pairs = [
        (name, Parties(program.absolute(), folder / name, arguments.memory))
        for name, program in arguments.program
    ]
    for _ in range(arguments.runs):
        yield Run(DUCKDB, Cost.of(lambda: duckdb_join(mine, theirs, clear)))
        for name, parties in pairs:
            private.unlink(missing_ok=True)
            cost = Cost.of(partial(parties.join, mine, theirs, private))
            check_same_rows(private, clear)
            yield Run(name, cost, parties.peak_bytes())


def table(runs: list[Run]) -> Iterator[str]:
    """Lines to paste into a document: minima and medians, and minima beside DuckDB's."""
    yield "| | time, s | processors, s | time beside DuckDB's | processors beside DuckDB's |"
    yield "|---|---|---|---|---|"
    costs: dict[str, list[Cost]] = {}
    for run in runs:
        costs.setdefault(run.program, []).append(run.cost)
    for name, of in costs.items():
        both = list(zip(columns(of), columns(costs[DUCKDB]), strict=True))
        figures = [f"{min(ours):.2f}, {median(ours):.2f}" for ours, _ in both]
        ratios = [f"{min(ours) / min(clear):.2f}" for ours, clear in both]
        yield f"| {' | '.join((name, *figures, *ratios))} |"


def columns(costs: list[Cost]) -> tuple[list[float], list[float]]:
    """Times, and those of the processors."""
    return [cost.seconds for cost in costs], [cost.processors for cost in costs]


def main() -> None:
    """Measures, and prints each run, and the minimum and the median of all."""
    arguments = parser().parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'':16}{'s':>8}{'processors, s':>15}{'receiver, MB':>14}{'sender, MB':>12}")
    runs = []
    with tempfile.TemporaryDirectory(dir=arguments.folder.absolute()) as folder:
        for run in measure(arguments, Path(folder)):
            runs.append(run)
            figures = f"{run.program:16}{run.cost.seconds:8.2f}{run.cost.processors:15.2f}"
            print(figures, *(f"{peak / 1e6:12.0f}" for peak in run.peak_bytes), flush=True)
    print("", *table(runs), sep="\n")


def parser() -> argparse.ArgumentParser:
    """Returns the arguments of the command line."""
    told = argparse.ArgumentParser(prog="whole_joins", description=__doc__)
    told.add_argument(
        "--program",
        type=named,
        action="append",
        required=True,
        metavar="[NAME=]FILE",
        help="a release binary of psijoin; several take turns",
    )
    told.add_argument("--folder", type=Path, required=True, help="for the files, while it runs")
    told.add_argument(
        "--rows", type=positive, default=1_000_000, help="per side (default: 1000000)"
    )
    told.add_argument("--format", choices=("csv", "parquet"), default="csv", help="(default: csv)")
    told.add_argument("--runs", type=positive, default=3, help="of each program (default: 3)")
    told.add_argument("--memory", metavar="SIZE", help="passed on to psijoin, as 400MB")
    return told


def named(text: str) -> tuple[str, Path]:
    """A program and what to call it, as before=target/release/psijoin."""
    name, _, path = text.rpartition("=")
    return name or Path(path).name, Path(path)


def positive(text: str) -> int:
    """A number from 1 on, as 1000 or 1e7."""
    number = int(float(text))
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    main()
