"""The differences between psijoin and DuckDB."""

import csv
import io
import json
import subprocess
from decimal import Decimal
from pathlib import Path

from .difference import expect
from .endings import (
    FINISHED,
    OTHER_GAVE_UP,
    UNUSABLE,
    Ending,
    View,
    before_data,
    of_one_party,
    output_format,
    together,
    unfinished,
    views,
    with_data,
)
from .expectation import Expectation, Share
from .formats import Format
from .groups import compare_groups
from .joined_rows import JoinedRows
from .joins import Ended, Join, Run
from .line_order import order_of
from .pairs import Pair
from .row_comparison import compare_rows

# The message of a party that refuses its own table. Odd texts have tests of their own.
DOUBTED = "this side's table is doubtful as said above"


def compare(program: Path, pair: Pair, join: Join, expectation: Expectation, run: Run) -> str:
    """Holds how a join ended against what DuckDB says, and returns how it ended in a word.

    Raises a `Difference` if they are not the same.
    """
    seen = views(pair, join, expectation)
    ending = before_data(seen)
    if run.checked:
        compare_check(ending, run.checked)
    if not join.back:
        expect("standard output of the sender", b"", run.ended["sender"].stdout)
    if ending is not FINISHED:
        compare_codes(ending, run)
        for role, ended in run.ended.items():
            compare_nothing(role, run)
            expect(f"standard output of the {role}", b"", ended.stdout)
        return ending.word
    return compare_results(program, seen, run)


def is_doubted(run: Run) -> bool:
    """Returns whether a party refused its own table for odd texts there, as `--strict` has it."""
    return any(DOUBTED in ended.stderr for ended in run.ended.values())


def compare_doubted(pair: Pair, join: Join, expectation: Expectation, run: Run) -> None:
    """Compares the end of a join with a doubtful table. The other may be unusable, too."""
    alone = of_one_party(pair, join, expectation).codes
    for role, code in zip(("receiver", "sender"), alone, strict=True):
        ended = run.ended[role]
        is_own = DOUBTED in ended.stderr
        fails = is_own or code == UNUSABLE
        expect(f"exit code of the {role}", UNUSABLE if fails else OTHER_GAVE_UP, ended.code)
        expect(f"standard output of the {role}", b"", ended.stdout)
        # The first warning is about the plaintext.
        says_why = ended.stderr.count("WARNING: ") > 1
        expect(f"whether the {role} says why", True, says_why or not is_own)
        compare_nothing(role, run)


def compare_codes(ending: Ending, run: Run) -> None:
    """The exit codes, and what each party says."""
    receiver, sender = run.ended["receiver"], run.ended["sender"]
    codes = (receiver.code, sender.code)
    ending = ending.with_codes(codes)
    expect("exit codes", ending.codes, codes)
    for told, ended in zip(ending.told, (receiver, sender), strict=True):
        if told not in ended.stderr:
            expect("what a party says", told, ended.stderr)


def compare_nothing(role: str, run: Run) -> None:
    """That a party has no file."""
    path = run.outputs.get(role)
    expect(f"whether the {role} has an output", False, path is not None and path.exists())


def compare_results(program: Path, seen: list[View], run: Run) -> str:
    """Compares the result of a join once data has moved; returns how it ended in a word."""
    rows = [
        JoinedRows(view.expectation, view.pair, view.join) if view.join.kind == "rows" else None
        for view in seen
    ]
    endings = [with_data(view, own) for view, own in zip(seen, rows, strict=True)]
    ending, [receiver, *_] = together(unfinished(seen, endings)), seen
    compare_codes(ending, run)
    for view, own, ended in zip(seen, rows, endings, strict=True):
        if ended is not FINISHED:
            compare_nothing(view.role, run)
            if ended.word != "unwritable":
                # Until it shows that a row cannot be written, others may have been.
                expect("standard output", b"", run.ended[view.role].stdout)
        elif own:
            compare_written(view, own, receiver.join, run)
    if ending is not FINISHED:
        return ending.word
    if receiver.join.align:
        compare_alignment(seen, rows)
    elif receiver.join.grouping:
        join, target = receiver.join, receiver.join.output or Format.usual("csv")
        compare_groups(
            receiver.expectation, join.grouping, join, target, run.rows["receiver"]
        )
    elif receiver.join.kind == "shares":
        compare_shares(program, receiver.join, receiver.expectation, run)
    elif receiver.join.kind != "rows":
        found = run.ended["receiver"].stdout.decode()
        expect(receiver.join.kind, answer(receiver.join, receiver.expectation), found)
    return ending.word


def compare_written(view: View, rows: JoinedRows, join: Join, run: Run) -> None:
    """The rows that a party wrote, and its report."""
    target, path = output_format(view.pair, view.join), run.rows[view.role]
    if view.join.align:
        rows.arrange(order_of(view.pair.receiver, target, view.expectation, rows, path))
    compare_rows(view.pair, view.join, target, view.expectation, rows, path)
    compare_report(view, join, rows, run.reports[view.role])


def compare_alignment(seen: list[View], rows: list[JoinedRows]) -> None:
    """That each line of one party belongs to the same line of the other."""
    keys = [
        view.expectation.keys("receiver", [row for row, *_ in own.origins])
        for view, own in zip(seen, rows, strict=True)
    ]
    expect("the keys in the order of the lines", *keys)


def compare_check(ending: Ending, checked: dict[str, Ended]) -> None:
    """Compares the end of a check."""
    receiver, sender = checked["receiver"], checked["sender"]
    codes = (receiver.code, sender.code)
    expect("exit codes of a check", ending.with_codes(codes).codes, codes)
    expect("standard output of a check", (b"", b""), (receiver.stdout, sender.stdout))


def compare_report(view: View, join: Join, rows: JoinedRows, path: Path) -> None:
    """Compares the rows and the given columns in a party's report."""
    report = json.loads(path.read_text())
    result = report["result"]
    expect("the rows in the report", view.join.rows, result["rows"])
    expect("how many rows were written", len(rows.origins), result["rows_written"])
    partners = {"receiver": "sender", "sender": "receiver"}
    givers = {partners[taker] for taker, half in join.halves().items() if half.giving}
    given = {one["giver"]: one for one in report["given"]}
    expect("who gave columns", givers, set(given))
    giving = view.join.giving
    if giving is None:
        return
    taken = given[partners[view.role]]
    names = [view.pair.sender.table.names[place] for place in rows.taken]
    expect("the columns that were given", names, taken["columns"])
    if giving.bytes_per_key is not None:
        expect("the bytes per key", giving.bytes_per_key, taken["bytes_per_key"])


def answer(join: Join, expectation: Expectation) -> str:
    """Compares the standard output, if no rows go there."""
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
    """Returns the values in both files of shares together, for each key of the receiver."""
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
