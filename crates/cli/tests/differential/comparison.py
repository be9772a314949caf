"""Where psijoin says something else than DuckDB."""

import csv
import io
import json
import subprocess
from decimal import Decimal
from pathlib import Path

from .difference import expect
from .endings import FINISHED, before_data, output_format, with_data
from .expectation import Expectation, Share
from .joined_rows import JoinedRows
from .joins import Ended, Join, Run
from .pairs import Pair
from .row_comparison import compare_rows


def compare(program: Path, pair: Pair, join: Join, expectation: Expectation, run: Run) -> str:
    """Holds how a join ended against what DuckDB says, and returns how it ended in a word.

    Raises a `Difference` if they are not the same.
    """
    ending, rows = before_data(pair, join, expectation), None
    receiver, sender = run.ended["receiver"], run.ended["sender"]
    if run.checked:
        compare_check(ending.codes, run.checked)
    if ending is FINISHED:
        rows = JoinedRows(expectation, pair, join) if join.kind == "rows" else None
        ending = with_data(pair, join, expectation, rows)
    expect("exit codes", ending.codes, (receiver.code, sender.code))
    expect("standard output of the sender", b"", sender.stdout)
    if ending is not FINISHED:
        if ending.word != "unwritable":
            # Until it shows that a row cannot be written, others may have been.
            expect("standard output", b"", receiver.stdout)
        expect("outputs", [], [path.name for path in run.outputs.values() if path.exists()])
        if ending.told_by_sender not in sender.stderr:
            expect("what the sender says", ending.told_by_sender, sender.stderr)
    elif rows:
        compare_rows(pair, join, output_format(pair, join), expectation, rows, run.rows)
        compare_report(pair, join, rows, run.report)
    elif join.kind == "shares":
        compare_shares(program, join, expectation, run)
    else:
        expect(join.kind, answer(join, expectation), receiver.stdout.decode())
    return ending.word


def compare_check(codes: tuple[int, int], checked: dict[str, Ended]) -> None:
    """How a `--check` ended."""
    receiver, sender = checked["receiver"], checked["sender"]
    expect("exit codes of --check", codes, (receiver.code, sender.code))
    expect("standard output of --check", (b"", b""), (receiver.stdout, sender.stdout))


def compare_report(pair: Pair, join: Join, rows: JoinedRows, path: Path) -> None:
    """What the receiver's report says of the rows, and of what was given."""
    report = json.loads(path.read_text())
    result = report["result"]
    expect("the rows in the report", join.rows, result["rows"])
    expect("how many rows were written", len(rows.origins), result["rows_written"])
    givers = [given["giver"] for given in report["given"]]
    expect("who gave columns", [] if join.giving is None else ["sender"], givers)
    if join.giving is None:
        return
    [given] = report["given"]
    names = [pair.sender.table.names[place] for place in rows.taken]
    expect("the columns that were given", names, given["columns"])
    if join.giving.bytes_per_key is not None:
        expect("the bytes per key", join.giving.bytes_per_key, given["bytes_per_key"])


def answer(join: Join, expectation: Expectation) -> str:
    """What goes to standard output instead of rows."""
    match join.kind:
        case "count":
            return f"{expectation.shared}\n"
        case "threshold":
            return "reached\n" if expectation.shared >= join.number else "not reached\n"
    sums = []
    for column in join.columns:
        scale = expectation.scale(column.holder, column.amount)
        total = expectation.sum(column.holder, column.amount)
        sums.append((column.said, f"{total:.{scale}f}"))
    if len(sums) == 1:
        return f"{sums[0][1]}\n"
    return "".join(f"{name}\t{text}\n" for name, text in sums)


def compare_shares(program: Path, join: Join, expectation: Expectation, run: Run) -> None:
    """What both files of shares make together, for each key of the receiver."""
    scales = {
        f"{column.holder}.{column.name}": expectation.scale(column.holder, column.amount)
        for column in join.columns
    }
    shown = {}
    for role, path in run.outputs.items():
        expect(f"columns of the {role}'s shares", scales, scales_of(path))
        listed = subprocess.run([program, "shares", path], check=True, capture_output=True)
        shown[role] = list(csv.DictReader(io.StringIO(listed.stdout.decode())))
    receiver, sender = shown["receiver"], shown["sender"]
    expect("places", [place["place"] for place in receiver], [place["place"] for place in sender])

    found = {}
    for mine, theirs in zip(receiver, sender, strict=True):
        is_shared = mine["shared"] != theirs["shared"]
        numbers = tuple(
            signed(int(mine[name]) + int(theirs[name])).scaleb(-scale)
            for name, scale in scales.items()
        )
        share = Share(is_shared, numbers)
        if mine["row"]:
            found[int(mine["row"])] = share
        else:
            expect("an empty place", Share(False, (Decimal(0),) * len(scales)), share)
    columns = [(column.holder, column.amount) for column in join.columns]
    expect("the keys of the shares", expectation.shares(columns), found)


def scales_of(path: Path) -> dict[str, int]:
    """The columns of a file of shares, and the decimals that each shows."""
    scales = {}
    with path.open("rb") as file:
        while line := file.readline().decode().rstrip("\n"):
            word, *rest = line.split(" ", 3)
            if word == "column":
                holder, scale, name = rest
                scales[f"{holder}.{name}"] = int(scale)
    return scales


def signed(number: int) -> Decimal:
    """A number modulo 2^64, as a signed one of 64 bits."""
    return Decimal((number + 2**63) % 2**64 - 2**63)
