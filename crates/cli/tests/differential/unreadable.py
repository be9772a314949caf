"""Cells that a rule cannot read."""

import copy
import random
from dataclasses import dataclass, replace
from pathlib import Path

from .difference import expect
from .endings import OTHER_GAVE_UP, UNUSABLE
from .joins import Join, command, meet
from .meanings import is_filled
from .pairs import Pair, blank_lines

# No rule that can fail reads it, and every format can hold it.
UNREADABLE = "not this"
FALLIBLE = ("number", "bool", "uuid", "date", "timestamp", "time")


@dataclass
class Spoiled:
    """A pair with an unreadable cell: whose it is, and where."""

    pair: Pair
    party: str
    row: int
    column: int
    folder: Path


def spoil(rng: random.Random, pair: Pair, folder: Path) -> Spoiled | None:
    """Writes a table again, with a cell that a rule cannot read, if any rule could fail."""
    candidates = [
        (party, row, place)
        for party, side in (("receiver", pair.receiver), ("sender", pair.sender))
        for place, rules in zip(side.key, side.rules, strict=True)
        if side.table.columns[place].type.is_text
        and place < len(side.table.columns) - side.table.told
        and any(rule.partition(":")[0] in FALLIBLE for rule in rules.split("+"))
        for row in range(side.table.rows)
        if all(is_filled(side.table.columns[one].cells[row]) for one in side.key)
    ]
    if not candidates:
        return None
    party, row, column = rng.choice(candidates)
    side = copy.deepcopy(getattr(pair, party))
    side.table.columns[column].cells[row] = UNREADABLE
    folder.mkdir()
    side.table.write(folder, party, blank_lines(rng, side.table))
    return Spoiled(replace(pair, **{party: side}), party, row, column, folder)


def compare_unreadable(program: Path, spoiled: Spoiled, rng: random.Random) -> None:
    """Checks that a spoiled pair ends as it should: the party says where, and shows no value."""
    join = Join("count", receiver_listens=rng.random() < 0.5)
    commands = {
        role: [str(program), *command(role, spoiled.pair, join, rng, None)]
        for role in ("receiver", "sender")
    }
    ended = meet(commands, join, spoiled.folder)
    for party, one in ended.items():
        code = UNUSABLE if party == spoiled.party else OTHER_GAVE_UP
        expect(f"exit code of the {party} of a spoiled pair", code, one.code)
        expect(f"standard output of the {party} of a spoiled pair", b"", one.stdout)
        expect("whether the value is shown", False, UNREADABLE in one.stderr)
    table = getattr(spoiled.pair, spoiled.party).table
    path, place = table.place(spoiled.row)
    where = f"{place}, column `{table.names[spoiled.column]}`: "
    told = ended[spoiled.party].stderr
    # A path with a blank in it stands in quotes.
    if not any(f"{name}, {where}" in told for name in (path, f"`{path}`")):
        expect("where a cell cannot be read", where, told)
