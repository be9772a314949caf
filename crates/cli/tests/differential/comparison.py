"""Where psijoin says something else than DuckDB."""

import csv
import io
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .column_types import STRINGS
from .expectation import Expectation, Share
from .formats import TYPED, Format, read_compressed, relation
from .joins import Ended, Join, Run, written_as
from .meanings import may_differ
from .pairs import Pair
from .tables import Table, read_typed

# Exit codes (docs/tutorial.md).
DONE, UNUSABLE, OTHER_SETTINGS, REFUSED, OTHER_GAVE_UP = 0, 3, 5, 6, 7

# What fields of TSV, and lines, cannot hold.
UNFIT = {"tsv": "[\\t\\n\\r]", "txt": "[\\n\\r]"}


class Difference(Exception):
    """What was expected, and what was found instead."""


def expect(what: str, expected: object, found: object) -> None:
    """Checks that two things are the same."""
    if expected != found:
        raise Difference(f"{what}: expected {shortened(expected)}, found {shortened(found)}")


def shortened(thing: object) -> str:
    """The beginning of what would fill the screen."""
    text = repr(thing)
    return text if len(text) <= 1000 else f"{text[:1000]}… ({len(text)} characters)"


def compare(program: Path, pair: Pair, join: Join, expectation: Expectation, run: Run) -> str:
    """Holds how a join ended against what DuckDB says, and returns how it ended in a word.

    Raises a `Difference` if they are not the same.
    """
    ending, codes = expected_ending(pair, join, expectation)
    receiver, sender = run.ended["receiver"], run.ended["sender"]
    if run.checked:
        # What follows from tables and settings alone shows before data moves, and nothing else.
        before_data = codes if ending in ("overflowing", "differing") else (DONE, DONE)
        compare_check(before_data, run.checked)
    expect("exit codes", codes, (receiver.code, sender.code))
    expect("standard output of the sender", b"", sender.stdout)
    if ending != "done":
        expect("standard output", b"", receiver.stdout)
        expect("outputs", [], [path.name for path in run.outputs.values() if path.exists()])
    elif join.kind == "rows":
        compare_rows(pair, join, expectation, run)
    elif join.kind == "shares":
        compare_shares(program, join, expectation, run)
    else:
        expect(join.kind, answer(join, expectation), receiver.stdout.decode())
    return ending


def compare_check(codes: tuple[int, int], checked: dict[str, Ended]) -> None:
    """How a `--check` ended."""
    receiver, sender = checked["receiver"], checked["sender"]
    expect("exit codes of --check", codes, (receiver.code, sender.code))
    expect("standard output of --check", (b"", b""), (receiver.stdout, sender.stdout))


def output_format(pair: Pair, join: Join) -> Format:
    """The format of the rows: on standard output the input's, or CSV for what is no text."""
    table = pair.receiver.table
    name = "csv" if table.format.name in TYPED else table.format.name
    return join.output or written_as(table, name, "")


def expected_ending(
    pair: Pair, join: Join, expectation: Expectation
) -> tuple[str, tuple[int, int]]:
    """How a join ends, and the exit codes of the receiver and the sender."""
    overflowing = {
        column.holder
        for column in join.columns
        if expectation.overflows(column.holder, column.amount)
    }
    if overflowing:
        parties = ("receiver", "sender")
        codes = (UNUSABLE if party in overflowing else OTHER_GAVE_UP for party in parties)
        return "overflowing", tuple(codes)
    if join.strict and may_differ(pair):
        return "differing", (OTHER_SETTINGS, OTHER_SETTINGS)
    if join.min_intersection is not None and expectation.shared < join.min_intersection:
        return "withheld", (REFUSED, REFUSED)
    if join.kind == "rows":
        target = output_format(pair, join).name
        is_converted = target != pair.receiver.table.format.name
        if is_converted and target in UNFIT and expectation.has_text(UNFIT[target]):
            return "unwritable", (UNUSABLE, DONE)
    return "done", (DONE, DONE)


def compare_rows(pair: Pair, join: Join, expectation: Expectation, run: Run) -> None:
    """The matching rows: of a text its own bytes, between typed formats types, and else texts."""
    table, target = pair.receiver.table, output_format(pair, join)
    if target.name == table.format.name and target.dialect:
        expected = table.text_of(expectation.matching)
        expect("the output's bytes", expected, read_compressed(run.rows, target.compression))
    elif target.name in TYPED and table.format.name in TYPED:
        compare_typed(table, target, expectation, run.rows)
    else:
        compare_texts(join, table, target, expectation, run.rows)


def compare_typed(table: Table, target: Format, expectation: Expectation, path: Path) -> None:
    """The matching rows with their types."""
    source, found = table.read_typed(), read_typed(target.name, path)
    if (table.format.name, target.name) == ("parquet", "parquet"):
        expect("the schema", source.schema, found.schema)
        # DuckDB, other than pyarrow, sees the types of Parquet alone.
        whole = relation(target, [path], len(table.columns))
        expect("the types", expectation.types(table.relation()), expectation.types(whole))
    expected = plain(source).take(pa.array(expectation.matching, pa.int64()))
    found = plain(found)
    if target.name != table.format.name:
        # Parquet can say beside its own types what they were in Arrow.
        expected, found = (
            rows.cast(pa.schema(map(in_parquet, rows.schema))) for rows in (expected, found)
        )
    expect("the plain schema", expected.schema, found.schema)
    if not expected.equals(found):
        raise Difference(f"the rows: expected {expected}, found {found}"[:4000])


def plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries, whose order tells nothing, and without views."""
    # From views pyarrow cannot take rows.
    types = {held.arrow: pa.string() for held in STRINGS} | {pa.binary_view(): pa.binary()}
    fields = [one.with_type(types.get(one.type, one.type)) for one in table.schema]
    return table.cast(pa.schema(fields))


def in_parquet(one: pa.Field) -> pa.Field:
    """A column with the type that Parquet has for its own: no seconds, but milliseconds."""
    held = one.type
    if pa.types.is_date64(held):
        return one.with_type(pa.date32())
    if pa.types.is_timestamp(held) and held.unit == "s":
        return one.with_type(pa.timestamp("ms", held.tz))
    return one.with_type(pa.time32("ms")) if held == pa.time32("s") else one


def compare_texts(
    join: Join, table: Table, target: Format, expectation: Expectation, path: Path
) -> None:
    """The matching rows as texts, in another format than the input's."""
    width = len(table.columns)
    if target.name in TYPED:
        found = read_typed(target.name, path)
        expected = pa.schema([pa.field(name, pa.string(), False) for name in table.names])
        expect("the schema", expected, found.schema)
        if target.name == "arrow":
            target, path = Format("parquet"), path.with_suffix(".readable")
            pq.write_table(found, path)
    elif target.dialect.header:
        header = target.dialect.record(table.names).encode()
        content = read_compressed(path, target.compression)
        expect("the header", header, content[: len(header)])
    found = expectation.texts(relation(target, [path], width), width, join.quote_empty)
    expect("the rows", expectation.shown(join.quote_empty), found)


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
