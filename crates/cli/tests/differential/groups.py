"""The totals of groups, as DuckDB has them, and as psijoin writes them (docs/functions.md)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from pathlib import Path
from typing import Any

from .difference import expect
from .expectation import Expectation
from .formats import TYPED, Format, read_compressed
from .joins import Grouping, Join, Named
from .labels import MOST_BYTES, OTHER
from .tables import read_typed

# The columns behind the labels.
COUNT, WITHHELD = "shared_keys", "withheld"

# The decimals of a mean beside those of the sum.
MEAN_DECIMALS = 6


@dataclass(frozen=True)
class Group:
    """A group: its labels, and its totals unless it is withheld."""

    labels: tuple[str | None, ...]
    totals: tuple[int, tuple[Decimal, ...]] | None

    def mean(self, place: int, scale: int) -> Decimal | None:
        """Returns the mean of the numbers of its keys by the sum at this place."""
        if self.totals is None or self.totals[0] == 0:
            return None
        count, sums = self.totals
        with localcontext(prec=100):
            unit = Decimal(1).scaleb(-scale - MEAN_DECIMALS)
            # Nothing has no sign.
            return (sums[place] / count).quantize(unit, ROUND_HALF_EVEN) + 0


def groups(
    expectation: Expectation, grouping: Grouping, columns: Sequence[Named]
) -> list[Group]:
    """Returns all groups, in the order of their labels, with the sums of these columns."""
    labels = [f"by{place}" for place in range(len(grouping.by))]
    columns_of_labels = [
        (holder, f"l{expectation.index(holder, label)}", known)
        for (holder, label), known in zip(grouping.by, grouping.lists, strict=True)
    ]
    lists = [labels_of(*column) for column in columns_of_labels]
    own = [label_of(f"{holder}.{name}", known) for holder, name, known in columns_of_labels]
    totals = [f"{one.holder}.n{expectation.index(one.holder, one.amount)}" for one in columns]
    members = ", ".join(
        ["true AS is_member"]
        + [f"{label} AS {name}" for name, label in zip(labels, own, strict=True)]
        + [f"{total} AS total{place}" for place, total in enumerate(totals)]
    )
    is_of_group = " AND ".join(f"lists.{one} IS NOT DISTINCT FROM members.{one}" for one in labels)
    sums = "".join(f", coalesce(sum(total{place}), 0)" for place in range(len(columns)))
    listed = ", ".join(f"lists.{one}" for one in labels)
    ordered = ", ".join(
        f"lists.{one} NULLS LAST" if known is None else order_of(f"lists.{one}")
        for one, known in zip(labels, grouping.lists, strict=True)
    )
    crossed = ", ".join(
        f"(SELECT {name} FROM ({found}) AS t({name}))"
        for name, found in zip(labels, lists, strict=True)
    )
    found = expectation.connection.execute(
        f"SELECT {listed}, count(is_member){sums} FROM (SELECT * FROM {crossed}) AS lists"
        f" LEFT JOIN (SELECT {members} FROM shared JOIN ({of_keys(expectation, 'receiver')})"
        f" AS receiver USING (key) JOIN ({of_keys(expectation, 'sender')}) AS sender USING (key))"
        f" AS members ON {is_of_group} GROUP BY {listed} ORDER BY {ordered}"
    )
    return [
        group(row[: len(labels)], row[len(labels) :], grouping.least) for row in found.fetchall()
    ]


def group(labels: Sequence[str | None], totals: Sequence[Any], least: int | None) -> Group:
    """Returns a group, withheld if its count is too low."""
    count, *sums = totals
    return Group(tuple(labels), (count, tuple(sums)) if count >= (least or 0) else None)


def label_of(value: str, known: Sequence[str] | None) -> str:
    """SQL for the label of a value, given the list that both sides have, if there is one."""
    if known is None:
        return value
    texts = ", ".join(map(quoted, known))
    return f"CASE WHEN {value} IS NULL OR {value} IN ({texts}) THEN {value} ELSE '{OTHER}' END"


def order_of(label: str) -> str:
    """SQL for the order of the labels of a list: the one of all others is the last but null."""
    return f"{label} IS NULL, {label} = '{OTHER}', {label}"


def quoted(text: str) -> str:
    """SQL for a text."""
    return "'" + text.replace("'", "''") + "'"


def labels_of(holder: str, name: str, known: Sequence[str] | None) -> str:
    """SQL for the labels of a column: those of the list, or of rows with a key; if there are none,
    the one of null."""
    if known is not None:
        texts = ", ".join(f"({quoted(text)})" for text in [*known, OTHER])
        return f"SELECT * FROM (VALUES {texts}, (NULL))"
    of_keys = f"SELECT {name} FROM {holder} WHERE key IS NOT NULL"
    none = f"SELECT NULL WHERE NOT EXISTS ({of_keys})"
    return f"SELECT DISTINCT {name} FROM ({of_keys} UNION ALL {none})"


def of_keys(expectation: Expectation, holder: str) -> str:
    """SQL for a party's keys, each with its labels and what its numbers add up to."""
    columns = expectation.columns(holder)
    chosen = [f"{'min' if one.startswith('l') else 'sum'}({one}) AS {one}" for one in columns]
    return f"SELECT {', '.join(['key', *chosen])} FROM {holder} WHERE key IS NOT NULL GROUP BY key"


def compare_groups(
    expectation: Expectation,
    grouping: Grouping,
    join: Join,
    target: Format,
    path: Path,
) -> None:
    """Compares the table of groups that the receiver wrote."""
    columns = join.columns
    by = zip(grouping.by, grouping.names, strict=True)
    header = [f"{holder}.{name}" for (holder, _), name in by]
    header += [COUNT, WITHHELD, *(f"sum:{one.said}" for one in columns)]
    header += [f"mean:{one.said}" for one in join.means]
    expected = groups(expectation, grouping, columns)
    scales = [expectation.scale(one.holder, one.amount) for one in columns]
    places = [columns.index(one) for one in join.means]
    means = [[one.mean(place, scales[place]) for place in places] for one in expected]
    if target.name in TYPED:
        found = read_typed(target.name, path)
        expect("the columns of groups", header, found.schema.names)
        rows = [tuple(row.values()) for row in found.to_pylist()]
        values = [
            (*as_values(one, len(columns)), *of) for one, of in zip(expected, means, strict=True)
        ]
        expect("the groups", values, rows)
        return
    text = read_compressed(path, target.compression).decode()
    texts = [
        [*as_texts(one, scales), *("" if mean is None else f"{mean:f}" for mean in of)]
        for one, of in zip(expected, means, strict=True)
    ]
    if target.name == "csv":
        # A line break in quotes keeps its bytes.
        found = list(csv.reader(io.StringIO(text, newline="")))
    else:
        found = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    expect("the groups", [header, *texts], found)


def as_values(one: Group, columns: int) -> tuple[Any, ...]:
    """A group as typed formats hold it."""
    count, sums = one.totals or (None, (None,) * columns)
    return (*one.labels, count, one.totals is None, *sums)


def as_texts(one: Group, scales: Sequence[int]) -> list[str]:
    """A group as texts hold it."""
    labels = [label or "" for label in one.labels]
    if one.totals is None:
        return [*labels, "", "true", *("" for _ in scales)]
    count, sums = one.totals
    shown = [f"{total:.{scale}f}" for total, scale in zip(sums, scales, strict=True)]
    return [*labels, str(count), "false", *shown]


def unlike(expectation: Expectation, grouping: Grouping) -> set[str]:
    """Returns the parties that have a key of several labels, or a label that is too long."""
    return {
        holder
        for (holder, label), known in zip(grouping.by, grouping.lists, strict=True)
        if has_unlike(expectation, holder, f"l{expectation.index(holder, label)}", known)
    }


def has_unlike(
    expectation: Expectation, holder: str, name: str, known: Sequence[str] | None
) -> bool:
    """Returns whether a column of labels has such. On no list, a label can be as long as it is."""
    label = label_of(name, known)
    found = expectation.connection.execute(
        f"SELECT coalesce(bool_or(number > 1 OR longest > {MOST_BYTES}), false) FROM"
        f" (SELECT count(DISTINCT coalesce({label}, '')) AS number,"
        f" max(coalesce(strlen({label}), 0)) AS longest"
        f" FROM {holder} WHERE key IS NOT NULL GROUP BY key)"
    )
    return found.fetchone()[0]


def number_of_groups(expectation: Expectation, grouping: Grouping) -> int:
    """Returns the number of groups."""
    number = 1
    for (holder, label), known in zip(grouping.by, grouping.lists, strict=True):
        labels = labels_of(holder, f"l{expectation.index(holder, label)}", known)
        counted = f"SELECT count(*) FROM ({labels})"
        number *= expectation.connection.execute(counted).fetchone()[0]
    return number
