"""Columns that a party gives, and those of them that the other one takes (docs/join.md).

The sender gives here. What the receiver gives is drawn of the pair as the sender sees it.
"""

import random
from dataclasses import dataclass

from .expectation import Expectation
from .given_bytes import Widths
from .pairs import Pair, listed

# The prefix of a taken column whose name is in use.
PREFIX = "partner_"

# The protocols that carry columns.
CARRYING = ("auto", "auto", "auto", "rr22", "rr22-malicious", "dh")

# The treatments of several rows of the sender that have one key.
REPEATED = ("refuse", "first", "list")

# The longest payload (crates/table/src/share.rs), and the bytes before the rows of a list.
MOST_BYTES, COUNT_BYTES = 2**16 - 1, 2

# If all rows of a key are given, no more rows than these come out.
MOST_JOINED_ROWS = 20_000

# A name that no table has.
UNKNOWN = "nobody's"


@dataclass(frozen=True)
class Giving:
    """The given and the taken columns, as places in the sender's table, in `--give`'s order."""

    offered: list[int]
    taken: list[int]
    # The values of `--give` and `--take`.
    said_offered: str
    said_taken: str
    # One of `REPEATED`, and how many rows of a key a list has room for.
    repeated: str
    most: int
    # The value of `--give-bytes`, and the bytes of rows.
    row_bytes: int | None
    widths: Widths

    @property
    def is_offered(self) -> bool:
        """Returns whether all that the receiver takes is offered."""
        return UNKNOWN not in self.said_taken

    @property
    def bytes_per_key(self) -> int | None:
        """Returns the bytes per key, if they can be told."""
        row_bytes = self.row_bytes or self.widths.exactly_told
        if row_bytes is None:
            return None
        return COUNT_BYTES + self.most * row_bytes if self.repeated == "list" else row_bytes

    @property
    def said_repeated(self) -> str:
        """Returns the value of `--repeated`."""
        return f"list:{self.most}" if self.repeated == "list" else self.repeated

    def options(self) -> list[str]:
        """Returns the options of the giving party, besides `--repeated`."""
        options = ["--give", self.said_offered]
        options += [] if self.row_bytes is None else ["--give-bytes", f"{self.row_bytes}"]
        return options


def draw_giving(
    rng: random.Random, pair: Pair, expectation: Expectation, allowed: tuple[str, ...] = REPEATED
) -> Giving:
    """Columns to give and to take, some or all. `allowed` is what `--repeated` may say."""
    names = pair.sender.table.names
    offered = rng.sample(range(len(names)), rng.randint(1, len(names)))
    if rng.random() < 0.5:
        taken, said = offered, "all"
    else:
        taken = [place for place in offered if rng.random() < 0.5] or offered[:1]
        # They come in the sender's order, in whatever order they are asked for.
        said = ",".join(listed(names[place]) for place in rng.sample(taken, len(taken)))
        if rng.random() < 0.04:
            said = f"{said},{UNKNOWN}"
    repeated, most = draw_repeated(rng, expectation, allowed)
    widths = expectation.widths(taken, most if repeated == "first" else None)
    if repeated == "list" and COUNT_BYTES + most * widths.told[1] > MOST_BYTES:
        repeated, most = "first", 1
        widths = expectation.widths(taken, most)
    room = (MOST_BYTES - COUNT_BYTES) // most
    return Giving(
        offered,
        taken,
        ",".join(listed(names[place]) for place in offered),
        said,
        repeated,
        most,
        draw_row_bytes(rng, widths, room),
        widths,
    )


def draw_repeated(
    rng: random.Random, expectation: Expectation, allowed: tuple[str, ...]
) -> tuple[str, int]:
    """Draws the treatment of the rows of a key, and how many there may be."""
    repeated = expectation.most_repeated
    weights = {"refuse": 1, "first": 4, "list": 6} if repeated > 1 else dict.fromkeys(REPEATED, 1)
    [how] = rng.choices(allowed, [weights[one] for one in allowed])
    if how == "list":
        most = max(1, repeated + rng.choice((-1, 0, 0, 0, 1, 3)))
        if most < repeated or expectation.joined_rows <= MOST_JOINED_ROWS:
            return how, most
        how = "first"
    return how, 1


def draw_row_bytes(rng: random.Random, widths: Widths, room: int) -> int | None:
    """A number of bytes that every row takes: the least one, a larger one, or one too few."""
    if rng.random() < 0.6:
        return None
    longest, _ = widths.longest
    if longest > widths.flags and rng.random() < 0.2:
        return longest - 1
    _, enough = widths.told
    return min(room, enough + rng.choice((0, 1, 100)))
