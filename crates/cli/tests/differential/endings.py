"""The end of a join, and its exit codes (docs/tutorial.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .column_types import FLOATS
from .expectation import Expectation
from .formats import TYPED, Format
from .giving import Giving
from .groups import groups, number_of_groups, unlike
from .joined_rows import JoinedRows, added_names
from .joins import Join, written_as
from .labels import MOST_GROUPS
from .meanings import may_differ
from .pairs import Pair

DONE, WRONG_USAGE, UNUSABLE, OTHER_SETTINGS, REFUSED, OTHER_GAVE_UP = 0, 2, 3, 5, 6, 7

# A party that has a reason of its own ends with that, whatever the other one says.
OWN_FIRST = (WRONG_USAGE, UNUSABLE, OTHER_SETTINGS, REFUSED, OTHER_GAVE_UP, DONE)

# The characters that fields of TSV, and lines, cannot hold.
UNFIT = {"tsv": "[\\t\\n\\r]", "txt": "[\\n\\r]"}

# No column of this type can be given.
HALF_FLOAT = FLOATS[0]


@dataclass(frozen=True)
class Ending:
    """The end of a join in a word, and the exit codes of the receiver and the sender."""

    word: str
    codes: tuple[int, int]
    # The message of each, if it is known.
    told: tuple[str, str] = ("", "")
    # Other possible ends: if both have reasons, one may receive the other's before its own.
    instead: tuple["Ending", ...] = ()

    def with_codes(self, codes: tuple[int, int]) -> "Ending":
        """The one of the possible endings that has these codes, if any has."""
        return next((one for one in self.instead if one.codes == codes), self)

    def turned(self) -> "Ending":
        """Returns this end as the sender sees it."""
        return Ending(self.word, self.codes[::-1], self.told[::-1])


FINISHED = Ending("done", (DONE, DONE))


def failing(word: str, receiver: bool, sender: bool, told_by_sender: str = "") -> Ending:
    """An ending for reasons that lie in the table or the output of one party, or of both."""
    codes = tuple(UNUSABLE if fails else OTHER_GAVE_UP for fails in (receiver, sender))
    return Ending(word, codes, ("", told_by_sender))


@dataclass(frozen=True)
class View:
    """A join as the party sees it that writes rows: its own table is the receiver's."""

    role: str
    pair: Pair
    join: Join
    expectation: Expectation


def views(pair: Pair, join: Join, expectation: Expectation) -> list[View]:
    """The join as the receiver sees it, and as the sender does if it learns, too."""
    seen = [View("receiver", pair, join, expectation)]
    if join.back:
        seen.append(View("sender", pair.turned(), join.back, expectation.turned))
    return seen


def before_data(seen: Sequence[View]) -> Ending:
    """Returns the end for reasons that show in tables and settings alone, before data moves."""
    stages = [
        unfinished(seen, [reasons(one.pair, one.join, one.expectation) for one in seen])
        for reasons in REASONS
    ]
    failing_stages = [found for found in stages if found]
    if not failing_stages:
        return FINISHED
    # The documentation does not say which of the reasons of both directions shows first.
    instead = [one for found in failing_stages for one in found] if len(seen) > 1 else []
    return replace(together(failing_stages[0]), instead=tuple(instead))


def unfinished(seen: Sequence[View], endings: Sequence[Ending]) -> list[Ending]:
    """Of how each view ends: what fails, as the receiver sees it."""
    return [
        ending if view.role == "receiver" else ending.turned()
        for view, ending in zip(seen, endings, strict=True)
        if ending is not FINISHED
    ]


def together(found: Sequence[Ending]) -> Ending:
    """Returns the end if all of this fails: each party ends with its own reason if it has one."""
    if not found:
        return FINISHED
    codes = map(own_first, zip(*(one.codes for one in found), strict=True))
    # Only one of the views tells a party's message.
    told = map(max, zip(*(one.told for one in found), strict=True))
    return Ending(found[0].word, tuple(codes), tuple(told))


def own_first(codes: Sequence[int]) -> int:
    """The exit code of a party that has these reasons."""
    return min(codes, key=OWN_FIRST.index)


def of_one_party(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end for reasons that a party finds alone."""
    overflowing = {
        column.holder
        for column in join.columns
        if expectation.overflows(column.holder, column.amount)
    }
    unfit = unlike(expectation, join.grouping) if join.grouping else set()
    if overflowing or unfit:
        failing_sides = overflowing | unfit
        word = "overflowing" if overflowing else "unlike labels"
        return failing(word, "receiver" in failing_sides, "sender" in failing_sides)
    giving, target = join.giving, output_format(pair, join)
    has_no_room = join.rows == "all" and target.name == "txt"
    cannot_give = giving is not None and not all(can_be_given(pair, giving))
    if has_no_room or cannot_give:
        return failing("unfit" if has_no_room else "ungivable", has_no_room, cannot_give)
    return FINISHED


def strictly(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if differences are refused."""
    is_refused = join.strict and may_differ(pair)
    return Ending("differing", (OTHER_SETTINGS, OTHER_SETTINGS)) if is_refused else FINISHED


def can_be_given(pair: Pair, giving: Giving) -> list[bool]:
    """Returns whether columns can be given, for each that is offered."""
    columns = pair.sender.table.columns
    return [columns[place].type is not HALF_FLOAT for place in giving.offered]


def not_aligned(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if several rows of the sender have one key, but are to be aligned."""
    is_refused = join.align and join.said_repeated == "refuse"
    return too_many(expectation, 1) if is_refused else FINISHED


def repeated(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if more rows of the sender have one key than it gives."""
    giving = join.giving
    is_limited = giving is not None and giving.repeated != "first"
    return too_many(expectation, giving.most) if is_limited else FINISHED


def too_many(expectation: Expectation, most: int) -> Ending:
    """Returns the end if a key of the sender can be in this many rows."""
    if expectation.most_repeated <= most:
        return FINISHED
    row = expectation.first_beyond(most) + 1
    return failing("repeated", False, True, f"row {row} of the table")


def not_offered(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if more is taken than is offered."""
    if join.giving is None or join.giving.is_offered:
        return FINISHED
    return Ending("not offered", (WRONG_USAGE, OTHER_SETTINGS))


def too_long(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if a row that is given takes more bytes than `--give-bytes` allows."""
    giving = join.giving
    if giving is None or giving.row_bytes is None or giving.row_bytes >= giving.widths.longest[0]:
        return FINISHED
    return failing("too long", False, True, f"takes more than {giving.row_bytes} bytes")


def too_narrow(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if the output has no room for the taken columns."""
    is_unfit = join.giving is not None and not can_hold(pair, join, join.giving)
    return failing("unfit", True, False) if is_unfit else FINISHED


def too_many_groups(pair: Pair, join: Join, expectation: Expectation) -> Ending:
    """Returns the end if there would be more groups than there can be."""
    grouping = join.grouping
    if grouping is None or number_of_groups(expectation, grouping) <= MOST_GROUPS:
        return FINISHED
    return Ending("too many groups", (WRONG_USAGE, WRONG_USAGE))


# Reasons in the order in which they show. Those of rows to align are in the table alone.
REASONS = (
    of_one_party,
    not_aligned,
    strictly,
    too_many_groups,
    repeated,
    not_offered,
    too_long,
    too_narrow,
)


def can_hold(pair: Pair, join: Join, giving: Giving) -> bool:
    """Returns whether the output has room for columns of these types and names."""
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


def with_data(view: View, rows: JoinedRows | None) -> Ending:
    """Returns the end of a view once data has moved. `rows` are those to write, if any."""
    pair, join, expectation = view.pair, view.join, view.expectation
    if join.min_intersection is not None and expectation.shared < join.min_intersection:
        return Ending("withheld", (REFUSED, REFUSED))
    if join.grouping and not can_write_groups(join, expectation):
        return Ending("unwritable", (UNUSABLE, DONE))
    if rows and not can_write(pair, join, rows):
        return Ending("unwritable", (UNUSABLE, DONE))
    return FINISHED


def can_write(pair: Pair, join: Join, rows: JoinedRows) -> bool:
    """Returns whether the output can hold the texts of these rows."""
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


def can_write_groups(join: Join, expectation: Expectation) -> bool:
    """Returns whether the output can hold the labels of groups: TSV has no quotes."""
    if join.output is None or join.output.name != "tsv":
        return True
    labels = [label for one in groups(expectation, join.grouping, []) for label in one.labels]
    return not any(letter in label for label in labels if label for letter in "\t\n\r")
