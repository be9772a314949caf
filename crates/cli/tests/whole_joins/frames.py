"""Times joins of data frames in Python beside those of the program on Parquet files."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from .__main__ import check_same_rows, make_tables, positive
from .cost import Cost
from .parties import Parties


class Party:
    """A process of Python that has a table in a data frame."""

    def __init__(self, role: str, library: str, table: Path, trust: dict[str, str]) -> None:
        worker = [sys.executable, "-m", f"{__package__}.party", library, str(table)]
        self._process = subprocess.Popen(
            worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._order = {"role": role, **trust}
        self.table_bytes = self.answer()["table_bytes"]

    def begin(self, meeting: dict[str, str], output: Path | None = None) -> None:
        """Begins to join."""
        order = {**self._order, "meeting": meeting, "output": output and str(output)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Returns its next message."""
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a party has ended")
        return json.loads(line)

    def end(self) -> None:
        """Ends it."""
        self._process.stdin.close()
        self._process.wait()


class Pair:
    """A receiver and a sender, each with a data frame."""

    def __init__(self, library: str, tables: tuple[Path, Path], parties: Parties) -> None:
        self.receiver, self.sender = (
            Party(role, library, table, parties.trust(role))
            for role, table in zip(("receive", "send"), tables, strict=True)
        )

    def join(self, output: Path) -> float:
        """Returns the time of the receiver's call; the sender calls once it can be met."""
        self.receiver.begin({"listen": "127.0.0.1:0"}, output)
        self.sender.begin({"connect": self.receiver.answer()["address"]})
        self.took = self.receiver.answer(), self.sender.answer()
        return self.took[0]["seconds"]

    def end(self) -> None:
        """Ends both."""
        self.receiver.end()
        self.sender.end()


def measure(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[float, float, Pair]]:
    """Joins in either way, in turns."""
    tables = make_tables(folder, arguments.rows, "parquet")
    parties = Parties(arguments.program.absolute(), folder, None)
    pair = Pair(arguments.library, tables, parties)
    of_frame, of_file = (folder / f"{name}.parquet" for name in ("frame", "file"))
    for _ in range(arguments.runs):
        in_python = pair.join(of_frame)
        of_file.unlink(missing_ok=True)
        by_program = Cost.of(lambda: parties.join(*tables, of_file)).seconds
        check_same_rows(of_frame, of_file)
        yield in_python, by_program, pair
    pair.end()


def row(name: str, *cells: str) -> None:
    """Prints a row."""
    print(f"{name:>7}", *(f"{cell:>13}" for cell in cells), flush=True)


def main() -> None:
    """Measures, and prints each run, and the minimum and the median of all."""
    arguments = parser().parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    row("", "Python, s", "program, s", "frame, MB", "receiver, MB", "sender, MB")
    python, program = [], []
    with tempfile.TemporaryDirectory(dir=arguments.folder.absolute()) as folder:
        for in_python, by_program, pair in measure(arguments, Path(folder)):
            python.append(in_python)
            program.append(by_program)
            more = [took["peak_bytes"] - took["before_bytes"] for took in pair.took]
            megabytes = (f"{bytes / 1e6:.0f}" for bytes in (pair.receiver.table_bytes, *more))
            row(str(len(python)), f"{in_python:.2f}", f"{by_program:.2f}", *megabytes)
    for name, of in (("minimum", min), ("median", median)):
        row(name, f"{of(python):.2f}", f"{of(program):.2f}")
    pairs = zip(python, program, strict=True)
    ratio = median(one / other for one, other in pairs)
    print(
        f"Python takes {min(python) / min(program):.2f} times as long, by the minima; {ratio:.2f}, "
        "by the median of the pairs. The memory is what a join takes beside what its process had."
    )


def parser() -> argparse.ArgumentParser:
    """Returns the arguments of the command line."""
    told = argparse.ArgumentParser(prog="whole_joins.frames", description=__doc__)
    told.add_argument("--program", type=Path, required=True, help="psijoin's release binary")
    told.add_argument("--folder", type=Path, required=True, help="for the files, while it runs")
    told.add_argument("--library", choices=("polars", "pandas"), default="polars")
    told.add_argument(
        "--rows", type=positive, default=1_000_000, help="per side (default: 1000000)"
    )
    told.add_argument("--runs", type=positive, default=3, help="of either way (default: 3)")
    return told


if __name__ == "__main__":
    main()
