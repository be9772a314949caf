"""How a join ends, and with which exit codes (docs/tutorial.md)."""

from dataclasses import dataclass

from .column_types import FLOATS
from .expectation import Expectation
from .formats import TYPED, Format
from .giving import Giving
from .joined_rows import JoinedRows, added_names
from .joins import Join, written_as
from .meanings import may_differ
from .pairs import Pair

DONE, WRONG_USAGE, UNUSABLE, OTHER_SETTINGS, REFUSED, OTHER_GAVE_UP = 0, 2, 3, 5, 6, 7

# What fields of TSV, and lines, cannot hold.
UNFIT = {"tsv": "[\\t\\n\\r]", "txt": "[\\n\\r]"}

# No column of this type can be given.
HALF_FLOAT = FLOATS[0]


@dataclass(frozen=True)
class Ending:
    """How a join ends in a word, and the exit codes of the receiver and the sender."""

    word: str
    codes: tuple[int, int]
    # What the sender says then, if that is known.
    told_by_sender: str = ""


FINISHED = Ending("done", (DONE, DONE))


def failing(word: str, receiver: bool, sender: bool, told_by_sender: str = "") -> Ending:
    """An ending for reasons that lie in the table or the output of one party, or of both."""
    codes = tuple(UNUSABLE if fails else OTHER_GAVE_UP for fails in (receiver, sender))
    return Ending(word, codes, told_by_sender)


def before_data(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """How it ends for reasons that show in tables and settings alone, before data moves."""
    overflowing = {
        column.holder
        for column in join.columns
        if expectation.overflows(column.holder, column.amount)
    }
    if overflowing:
        return failing("overflowing", "receiver" in overflowing, "sender" in overflowing)
    giving, target = join.giving, output_format(pair, join)
    has_no_room = join.rows == "all" and target.name == "txt"
    cannot_give = giving is not None and not all(can_be_given(pair, giving))
    if has_no_room or cannot_give:
        return failing("unfit" if has_no_room else "ungivable", has_no_room, cannot_give)
    if join.strict and may_differ(pair):
        return Ending("differing", (OTHER_SETTINGS, OTHER_SETTINGS))
    return before_giving(pair, join, expectation, giving) if giving else FINISHED


def can_be_given(pair: Pair, giving: Giving) -> list[bool]:
    """Whether columns can be given, for each that is offered."""
    columns = pair.sender.table.columns
    return [columns[place].type is not HALF_FLOAT for place in giving.offered]


def before_giving(pair: Pair, join: Join, expectation: Expectation, giving: Giving) -> Ending:
    """How it ends for reasons that show when both agree on columns."""
    if giving.repeated != "first" and expectation.most_repeated > giving.most:
        row = expectation.first_beyond(giving.most) + 1
        return failing("repeated", False, True, f"row {row} of the table")
    if not giving.is_offered:
        return Ending("not offered", (WRONG_USAGE, OTHER_GAVE_UP))
    if giving.row_bytes is not None and giving.row_bytes < giving.widths.longest[0]:
        told = f"takes more than {giving.row_bytes} bytes"
        return failing("too long", False, True, told)
    if not can_hold(pair, join, giving):
        return failing("unfit", True, False)
    return FINISHED


def can_hold(pair: Pair, join: Join, giving: Giving) -> bool:
    """Whether the output has room for columns of these types and names."""
    target = output_format(pair, join)
    if target.dialect is None:
        return True
    types = (pair.sender.table.columns[place].type for place in giving.taken)
    names = added_names(pair, join) if target.dialect.header else []
    return (
        target.name != "txt"
        and all(held.shown for held in types)
        and all(map(target.dialect.can_encode, names))
    )


def output_format(pair: Pair, join: Join) -> Format:
    """The format of the rows: on standard output the input's, or CSV for what is no text."""
    table = pair.receiver.table
    name = "csv" if table.format.name in TYPED else table.format.name
    return join.output or written_as(table, name, "")


def with_data(pair: Pair, join: Join, expectation: Expectation, rows: JoinedRows | None) -> Ending:
    """How it ends once data has moved. `rows` are those that are to be written, if any are."""
    if join.min_intersection is not None and expectation.shared < join.min_intersection:
        return Ending("withheld", (REFUSED, REFUSED))
    if rows and not can_write(pair, join, rows):
        return Ending("unwritable", (UNUSABLE, DONE))
    return FINISHED


def can_write(pair: Pair, join: Join, rows: JoinedRows) -> bool:
    """Whether the output can hold the texts of these rows."""
    target = output_format(pair, join)
    if target.name == pair.receiver.table.format.name and target.dialect:
        texts = [text for cells in rows.further() for text in cells if text]
        texts += rows.added if target.dialect.header else []
        dialect = target.dialect
        return all(dialect.holds(text) and dialect.can_encode(text) for text in texts)
    unfit = UNFIT.get(target.name)
    if target.name == "tsv" and len(pair.receiver.table.columns) + len(rows.added) == 1:
        # Alone, an empty field would be a blank line, which is no row.
        unfit = f"{unfit}|^$"
    return unfit is None or not rows.has_text(unfit)
