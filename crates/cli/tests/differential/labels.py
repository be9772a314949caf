"""Random columns of labels, by which keys are grouped."""

import random
from typing import Any

from . import column_types as types
from .cells import KeyColumn, draw_value
from .column_types import TEXT
from .formats import Format
from .kinds import KINDS, Kind, Text, TextAsBytes
from .tables import Column

# The most bytes of a label, and the most groups.
MOST_BYTES, MOST_GROUPS = 256, 256

# The label of what is not on a list, and labels that few columns have.
OTHER = "other"
UNSEEN = ("no row has it", 'a, "b"', "ünseen", "OTHER", " ")


def draw_labels(rng: random.Random, choice: Format, name: str, keys: list[tuple]) -> Column:
    """A column that has one label for each key, but for a few in which rows of a key differ."""
    kind = Text() if rng.random() < 0.5 else rng.choice(KINDS)
    if choice.dialect or isinstance(kind, TextAsBytes):
        held = TEXT if choice.dialect else rng.choice(types.STRINGS)
    else:
        held = rng.choice(kind.types or types.STRINGS)
    labels = [draw_label(rng, choice, kind, held) for _ in range(draw_number(rng))]
    if rng.random() < 0.5:
        labels[0] = rng.choice((None, "")) if held.is_text else None
    if rng.random() < 0.04:
        cells = [rng.choice(labels) for _ in keys]
    else:
        of_keys: dict[tuple, Any] = {}
        cells = [of_keys.setdefault(key, rng.choice(labels)) for key in keys]
    return Column(name, held, cells)


def draw_list(rng: random.Random, labels: list[str]) -> tuple[str, ...] | None:
    """A list of labels, which may lack some of these, and have some that are not there."""
    if rng.random() < 0.6:
        return None
    fit = [one for one in labels if one != OTHER and len(one.encode()) <= MOST_BYTES]
    known = rng.sample(fit, rng.randint(0, min(len(fit), 8)))
    unseen = rng.sample(UNSEEN, rng.randint(0 if known else 1, 2))
    return tuple(dict.fromkeys([*known, *unseen]))


def draw_number(rng: random.Random) -> int:
    """A number of labels: of some tables there are too many for groups."""
    return rng.choice((1, 2, 2, 3, 3, 5, 8, 15)) if rng.random() < 0.97 else 400


def draw_label(
    rng: random.Random, choice: Format, kind: Kind, held: types.ColumnType
) -> Any:
    """A label as a cell holds it, in its canonical text or as a value of the type."""
    value = draw_value(rng, KeyColumn(kind, (held,), ("",)), (held,))
    return choice.fitted(kind.canonical(value)) if held.is_text else kind.encode(value, held)
