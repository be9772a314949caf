"""The files of a table, and what psijoin is given for them."""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from .formats import Format

# The word for a null in the names of Hive's folders.
NULL = "__HIVE_DEFAULT_PARTITION__"

# The ways to name tables: by one file, all files, a pattern, or the folder that holds them.
NAMINGS = ("one", "files", "pattern", "folder")

# Texts that folders tell, in so far as folders' names can hold them.
FOLDER_TEXTS = ("2024-02-03", "a b/c", "é%41", "007", "x=y", None)
LONGEST_FOLDER = 200


@dataclass(frozen=True)
class Part:
    """A file of a table: its name without an ending, below the table's folder, and its rows."""

    name: str
    rows: int
    # Of a text: whether there is a line ending behind the last row.
    last_line_ends: bool = True
    # The values in its folders' names, for each column that they tell.
    values: tuple[str | None, ...] = ()


def draw_naming(rng: random.Random, choice: Format) -> str:
    """Draws the way to name a table of this format."""
    if rng.random() < 0.65:
        return "one"
    # A folder holds no texts.
    return rng.choice(("files", "pattern") if choice.dialect else NAMINGS[1:] + ("folder",) * 2)


def draw_parts(rng: random.Random, choice: Format, naming: str, rows: int) -> list[Part]:
    """Returns files for this many rows."""
    if naming == "one":
        return [Part("", rows, draw_last_line_ends(rng, choice, naming))]
    # Without a header the first row tells how many columns there are.
    least = 1 if choice.dialect and not choice.dialect.header and choice.name != "txt" else 0
    most = min(5, rows) if least else 5
    count = rng.randint(1, max(1, most))
    cuts = sorted(rng.randint(0, rows - least * count) for _ in range(count - 1))
    sizes = [
        end - start + least
        for start, end in zip([0, *cuts], [*cuts, rows - least * count], strict=True)
    ]
    names = draw_names(rng, naming, count)
    return [
        Part(name, size, draw_last_line_ends(rng, choice, naming))
        for name, size in zip(names, sizes, strict=True)
    ]


def draw_last_line_ends(rng: random.Random, choice: Format, naming: str) -> bool:
    """Draws whether a file ends with a line ending.

    Which one a row gets that has none, but needs one, can be told if the file shows another.
    """
    dialect = choice.dialect
    if naming != "one" and dialect and dialect.line_ending == "\r\n" and not dialect.header:
        return True
    return rng.random() < 0.8


def draw_names(rng: random.Random, naming: str, count: int) -> list[str]:
    """Names of files in the order in which they are read: byte by byte, folders included."""
    folders = ("", "", "x/", "x-y/", "x/y/") if naming == "folder" else ("",)
    stems = ("part-1", "part-2", "part-10", "Part_3", "part.4", "é", "z z", "0")
    drawn = {rng.choice(folders) + stem for stem in rng.sample(stems, count)}
    return sorted(drawn, key=os.fsencode)


def draw_told(
    rng: random.Random, rows: int, columns: Sequence[str]
) -> tuple[list[Part], list[list[str | None]]]:
    """Files in folders that tell columns of these names, and the cells of these columns."""
    count = rng.randint(1, 4)
    cuts = sorted(rng.randint(0, rows) for _ in range(count - 1))
    sizes = [end - start for start, end in zip([0, *cuts], [*cuts, rows], strict=True)]
    told = {tuple(rng.choice(FOLDER_TEXTS) for _ in columns) for _ in range(count)}
    files = [
        (folders(columns, values), values, stem)
        for values in told
        for stem in (("a", "b") if len(told) * 2 <= count else ("a",))
    ]
    files.sort(key=lambda file: os.fsencode(file[0] + file[2]))
    sizes[len(files) - 1 :] = [sum(sizes[len(files) - 1 :])]
    parts = [
        Part(folder + stem, size, values=values)
        for (folder, values, stem), size in zip(files, sizes, strict=True)
    ]
    cells = [
        [part.values[index] for part in parts for _ in range(part.rows)]
        for index in range(len(columns))
    ]
    return parts, cells


def parts_by(column: str, cells: Sequence[str | None]) -> tuple[list[Part], list[int]]:
    """A file for each text of a column, which its folder tells, and the order of the rows then."""
    values = sorted(set(cells), key=lambda value: os.fsencode(folders([column], [value])))
    parts = [
        Part(folders([column], [value]) + "a", cells.count(value), values=(value,))
        for value in values
    ]
    order = [row for value in values for row, cell in enumerate(cells) if cell == value]
    return parts, order


def folders(columns: Sequence[str], values: Sequence[str | None]) -> str:
    """The folders of a file, as Hive names them."""
    told = (
        f"{column}={NULL if value is None else quote(value, safe='')}/"
        for column, value in zip(columns, values, strict=True)
    )
    return "".join(told)
