"""A random pair of tables, whose keys overlap."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

from . import column_types as types
from .amounts import Amount, draw_amount
from .cells import KeyColumn, draw_cells, draw_notes, draw_others, draw_value
from .column_types import TEXT
from .formats import TYPED, USUAL, Dialect, Format
from .kinds import KINDS
from .labels import draw_labels
from .parts import LONGEST_FOLDER, draw_naming, draw_parts, draw_told, folders, parts_by
from .tables import Column, Table

NAMES = ("id", "E-Mail", "Größe", "a=b", "key 3", "city", "née", "x'y", 'say "k"', "last, first")
# Those that a folder's name can hold as they are.
FOLDER_NAMES = ("id", "E-Mail", "Größe", "key 3", "city", "née", "x'y", "last, first")
LARGE = 100_000

# Columns by which keys are grouped.
LABEL_NAMES = ("segment", "Région", "a, b")

# Encodings of texts by Python's names; whether they have a mark; and the options for them.
ENCODINGS = (
    ("utf-16-le", True, (None, "utf-16", "utf-16le")),
    ("utf-16-be", True, (None, "utf-16be")),
    ("utf-16-le", False, ("utf-16le",)),
    ("utf-16-be", False, ("utf-16be",)),
    ("cp1252", False, ("windows-1252", "latin1")),
    ("iso8859-15", False, ("iso-8859-15", "l9")),
    ("utf-8", True, (None, "utf-8")),
)


@dataclass
class Side:
    """A party's table, where its key is, and its columns of numbers and of labels."""

    table: Table
    key: list[int]
    rules: list[str]
    amounts: list[Amount]
    labels: list[Column]

    def place(self, column: Column) -> int:
        """Returns the place of a column among the table's columns."""
        return [one.name for one in self.table.columns].index(column.name)

    def key_options(self, rng: random.Random) -> list[str]:
        """Returns the options for the key."""
        names = self.table.names
        is_only = len(names) == 1 and rng.random() < 0.5
        key = ",".join(listed(names[index]) for index in self.key)
        options = [] if is_only else ["--key", key]
        for index, rules in zip(self.key, self.rules, strict=True):
            options += ["--normalize", f"{names[index]}={rules}"] if rules else []
        return options


def listed(name: str) -> str:
    """A column's name as it stands in a list: in quotes if it holds a comma."""
    return f'"{name}"' if "," in name else name


@dataclass
class Pair:
    """The tables of the receiver and the sender."""

    key: list[KeyColumn]
    receiver: Side
    sender: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """The receiver's and the sender's."""
        return self.receiver, self.sender

    def turned(self) -> "Pair":
        """The pair as the sender sees it: its own table is the receiver's there."""
        return replace(self, receiver=self.sender, sender=self.receiver)

    @property
    def largest(self) -> int:
        """The rows of the larger table."""
        return max(side.table.rows for side in self.sides)


def draw_pair(rng: random.Random, folder: Path) -> Pair:
    """A random pair, with its files in the folder."""
    formats = [draw_format(rng) for _ in range(2)]
    is_narrow = any(is_of_one_column(choice) for choice in formats)
    width = 1 if is_narrow else rng.choice((1, 1, 1, 2, 2, 3))
    key = [draw_key_column(rng, formats) for _ in range(width)]
    overlap = rng.choice((0, 0.1, 0.5, 0.5, 0.9, 1))
    sizes = [draw_size(rng, choice) for choice in formats]
    # The fewer values there are, the more often each is repeated.
    pool = max(1, int(max(sizes) * rng.choice((0.3, 1, 1, 2))))
    shared = [tuple(draw_value(rng, one, one.types) for one in key) for _ in range(pool)]

    sides = []
    for index, (choice, size) in enumerate(zip(formats, sizes, strict=True)):
        own_types = [(one, (one.types[index],)) for one in key]
        own = [
            tuple(draw_value(rng, one, fitting) for one, fitting in own_types)
            for _ in range(pool if overlap < 1 else 0)
        ]
        values = [rng.choice(shared if rng.random() < overlap else own) for _ in range(size)]
        sides.append(draw_side(rng, choice, key, index, values))
    for name, side in zip(("receiver", "sender"), sides, strict=True):
        side.table.write(folder, name, blank_lines(rng, side.table))
    return Pair(key, *sides)


def draw_format(rng: random.Random) -> Format:
    """A format, as usual or in another dialect, of files that are called by it or otherwise."""
    name = rng.choice(("csv",) * 3 + ("tsv",) * 2 + ("txt",) + ("parquet",) * 3 + ("arrow",) * 2)
    if name in TYPED:
        called = rng.choice(("dat", "", "csv", "ipc" if name == "parquet" else "parquet"))
        return Format(name, called=called if rng.random() < 0.1 else rng.choice(TYPED[name]))
    compression, dialect = rng.choice(("", "", "", "gz", "zst")), USUAL[name]
    delimiter, quote, header = dialect.delimiter, dialect.quote, dialect.header
    if name != "txt" and rng.random() < 0.4:
        delimiter = rng.choice((",", ";", "\t", "|", "~"))
        quote = rng.choice(('"', "'", None))
        header = rng.random() < 0.6
    line_ending = rng.choice(("\n", "\n", "\r\n"))
    dialect = Dialect(delimiter, quote, header, line_ending)
    if name != "txt" and quote is None and rng.random() < 0.4:
        dialect = replace(dialect, escapes=True)
    if rng.random() < 0.3:
        encoding, marked, said = rng.choice(ENCODINGS)
        dialect = replace(
            dialect, encoding=encoding, byte_order_mark=marked, said_encoding=rng.choice(said)
        )
    called = None
    if rng.random() < 0.1:
        called = rng.choice(("dat", "") if compression else ("dat", "", "csv", "txt", "ipc"))
    return Format(name, compression, dialect, called)


def is_of_one_column(choice: Format) -> bool:
    """Returns whether such tables have no column but the key."""
    return choice.name == "txt"


def draw_size(rng: random.Random, choice: Format) -> int:
    """A number of rows."""
    # Without a header the first row tells how many columns there are.
    least = 0 if choice.dialect is None or choice.dialect.header or choice.name == "txt" else 1
    draw = rng.random()
    if draw < 0.04:
        return least
    if draw < 0.08:
        return 1
    if draw < 0.083:
        return LARGE
    return rng.randint(2, rng.choice((5, 30, 30, 300, 300, 300, 3000)))


def draw_key_column(rng: random.Random, formats: list[Format]) -> KeyColumn:
    """A column of the key, with a type and rules on either side."""
    kind = rng.choice(KINDS)
    held = tuple(
        TEXT if choice.dialect else rng.choice((*kind.types * 3, *types.STRINGS))
        for choice in formats
    )
    return KeyColumn(kind, held, tuple(kind.draw_rules(held, rng)))


def draw_side(
    rng: random.Random, choice: Format, key: list[KeyColumn], index: int, values: list[tuple]
) -> Side:
    """A party's table, where its rows have these keys."""
    null_rate = rng.choice((0, 0, 0.02, 0.3))
    names = [choice.fitted(name) for name in rng.sample(NAMES, len(key))]
    columns = [
        draw_cells(rng, choice, name, one, index, [row[place] for row in values], null_rate)
        for place, (name, one) in enumerate(zip(names, key, strict=True))
    ]
    naming = draw_naming(rng, choice)
    by = draw_told_key(rng, columns) if naming == "folder" else None
    if by:
        parts, order = parts_by(by.name, by.cells)
        for column in columns:
            column.cells = [column.cells[row] for row in order]
        values = [values[row] for row in order]
        told = [by]
    elif naming == "folder" and rng.random() < 0.5:
        names_of_told = rng.sample(("day", "region", "straße"), rng.choice((1, 1, 2)))
        parts, cells = draw_told(rng, len(values), names_of_told)
        told = [Column(*one) for one in zip(names_of_told, [TEXT] * 2, cells, strict=False)]
    else:
        parts, told = draw_parts(rng, choice, naming, len(values)), []
    columns = [column for column in columns if column is not by]

    amounts, labels = [], []
    is_narrow = columns and can_be_narrow(choice) and rng.random() < 0.25
    if not is_narrow and not is_of_one_column(choice):
        # Names that both tables may have.
        names_of_amounts = rng.sample(("amount", "price", "qty"), rng.choice((0, 1, 1, 2)))
        amounts = [draw_amount(rng, choice, name, len(values)) for name in names_of_amounts]
        columns += [amount.column for amount in amounts]
        names_of_labels = rng.sample(LABEL_NAMES, rng.choice((0, 1, 1, 2)))
        labels = [draw_labels(rng, choice, choice.fitted(one), values) for one in names_of_labels]
        columns += labels
        columns += draw_others(rng, choice, len(values))
        if len(columns) <= 1 or rng.random() < 0.5:
            columns.append(draw_notes(rng, choice, len(values)))
    rng.shuffle(columns)
    columns += told
    places = [column.name for column in columns]
    return Side(
        table=Table(choice, columns, naming, parts, len(told)),
        key=[places.index(name) for name in names],
        rules=[one.rules[index] for one in key],
        amounts=amounts,
        labels=labels,
    )


def draw_told_key(rng: random.Random, columns: list[Column]) -> Column | None:
    """A column of few texts that folders' names can hold, as one that folders tell."""
    fitting = [column for column in columns if column.type.is_text and is_told(column)]
    if not fitting or rng.random() < 0.3:
        return None
    told = rng.choice(fitting)
    told.type, told.cells = TEXT, [cell or None for cell in told.cells]
    return told


def is_told(column: Column) -> bool:
    """Returns whether folders can tell the column."""
    cells = set(column.cells)
    longest = max((len(folders([column.name], [cell])) for cell in cells), default=0)
    # A name with an equals sign would be told by its first part.
    return 0 < len(cells) <= 12 and longest <= LONGEST_FOLDER and column.name in FOLDER_NAMES


def can_be_narrow(choice: Format) -> bool:
    """Returns whether such a table of one column can hold an empty cell (in a text: in quotes)."""
    return choice.dialect is None or choice.dialect.quote is not None


def blank_lines(rng: random.Random, table: Table) -> list[int]:
    """Rows of a text behind which there is a blank line, which is no row."""
    if not table.format.dialect or len(table.columns) == 1 or rng.random() < 0.7:
        return []
    ended = sorted(set(range(table.rows)) - table.unended(table.records()))
    return rng.sample(ended, min(len(ended), rng.randint(0, 3)))
