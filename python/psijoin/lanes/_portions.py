"""Portions of a table, and all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psijoin import _psijoin
from psijoin._errors import raised
from psijoin._psijoin import Column, Places, Router, Rows, Taken
from psijoin._types import Columns, Labels


@dataclass(frozen=True, repr=False)
class Portion:
    """What is known of a portion of a table."""

    keys: Rows
    """The distinct keys: Arrow data with a column `key`, of 32 bytes each, and a column for each
    column of numbers, of decimals with 18 places: the sums over the rows of each key. If there are
    columns of labels, a hash of each label of a key is in a column `labels_of_key` of bytes. If
    columns are given, the rows of each key are in a column `given` of bytes.
    """
    facts: bytes
    """The facts that the driver merges."""


def read(
    table: Any,
    on: Columns | None = None,
    *,
    normalize: Mapping[str, str] | None = None,
    numbers: Columns | None = None,
    labels: Columns | None = None,
    groups: Labels | None = None,
    bad_keys: str | None = None,
    give: Columns | None = None,
    repeated: str | None = None,
) -> Portion:
    """Reads a portion of a table.

    - `table`: anything with `__arrow_c_stream__`, or an iterator of such, the first of which has
      the columns. All of it is in memory meanwhile.
    - `on`, `normalize`, `bad_keys`: as for `Session.receive`. All portions, and the driver, name
      the same.
    - `numbers`: the columns that are added up.
    - `labels`: the columns of this table whose values name groups, one or two. Rows with one key
      must have one value in each.
    - `groups`: the lists of labels, as for `Session.grouped`, if both parties have such: a list for
      the only column, or a mapping from columns of this table to lists. All portions name the same,
      and so does the driver.
    - `give`, `repeated`: as for `Session.send`, for a party that gives columns. All portions, and
      the driver, name the same.
    """
    options: dict[str, Any] = {"on": on, "normalize": normalize, "bad_keys": bad_keys}
    options |= {"numbers": numbers, "labels": labels, "groups": groups}
    options |= {"give": give, "repeated": repeated}
    try:
        keys, facts = _psijoin.read_portion(table, "the portion", options, _psijoin.Stop())
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__
    return Portion(keys, facts)


def keys_of(
    table: Any,
    on: Columns | None = None,
    *,
    normalize: Mapping[str, str] | None = None,
    bad_keys: str | None = None,
) -> Column:
    """Returns the key of each row, by which shared keys find their rows: a column of 32 bytes each,
    null where a row has no key. The arguments are those of `read`.
    """
    options = {"on": on, "normalize": normalize, "bad_keys": bad_keys}
    try:
        return _psijoin.keys_of(table, "the portion", options, _psijoin.Stop())
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__


def merged(keys: Any, numbers: Columns = ()) -> Rows:
    """Returns keys of several portions as those of one: equal ones are one key, and their numbers
    are added up. `keys` are Arrow data as `read` gives them, or an iterator of such. An engine can
    do this by itself for the keys of each of its partitions, once equal ones are in one of them.

    If there are columns of labels, equal keys must have equal labels. Otherwise this raises
    `InputError`, of which the other party hears by `decline`.

    If columns are given, the rows of a key are those of all portions, in the order in which these
    come: the first one counts, or a list has all of them. If a list is too long, this raises
    `InputError`, of which the other party hears by `decline`.

    >>> import pyarrow
    >>> from psijoin import lanes
    >>> table = pyarrow.table({"id": ["a", "b"], "paid": ["1.5", "2"]})
    >>> portions = [lanes.read(table, on="id", numbers="paid") for _ in range(2)]
    >>> keys = pyarrow.table(lanes.merged((portion.keys for portion in portions), "paid"))
    >>> sorted(keys["paid"].to_pylist())
    [Decimal('3.000000000000000000'), Decimal('4.000000000000000000')]
    """
    names = [numbers] if isinstance(numbers, str) else list(numbers)
    try:
        return _psijoin.merged(_in_order(keys), names, _psijoin.Stop())
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__


def place(router: Router | bytes, keys: Any) -> Column:
    """Returns the part of each of these keys, which are Arrow data with a column `key`: a column of
    numbers of 16 bits. The keys of a part are for the lane whose number is left when the part is
    divided by the number of lanes.
    """
    try:
        return _psijoin.place(router, _in_order(keys))
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__


def shared(places: Places | bytes, kept: Any) -> Rows:
    """Returns the shared keys among those that lanes gave while a minimum withheld rows, in any
    order and number: Arrow data with a column `key`. `places` is what `finish` returned.

    `kept` is Arrow data with the columns `part`, `place` and `key`, or an iterator of such. Keys
    may be any values of 32 bytes in the place of those that lanes gave, as an engine may have
    encrypted them.
    """
    try:
        return _psijoin.shared(places, _in_order(kept))
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__


def unpacked(taken: Taken | bytes, found: Any) -> Iterator[Rows]:
    """Returns what the other party gave for shared keys, some rows at a time: Arrow data with a
    column `key` and the columns of the other party, of which one that is called `key` gets the
    prefix `partner_`. If the other party gives several rows for a key, it is there as often.

    - `taken`: what `finish` returned. `pyarrow.schema(taken)` has the columns.
    - `found`: what lanes gave: Arrow data with the columns `key` and `taken`, or an iterator of
      such, in any order and number. Keys may be any values of 32 bytes in their place.

    Raises `PeerError` if the other party has given something malformed. It does not hear of that,
    since the session is over: otherwise it would learn that a key of its choice is shared.
    """
    if isinstance(found, Sequence) and not found:
        # No lane ran.
        return
    try:
        yield from _psijoin.unpacked(taken, _in_order(found))
    except _psijoin.Failure as failure:
        raise raised(failure) from failure.__cause__


def _in_order(keys: Any) -> Any:
    """Returns a list as an iterator: a table is anything else."""
    return iter(keys) if isinstance(keys, Sequence) else keys


@dataclass(frozen=True, repr=False)
class Facts:
    """The facts about a whole table."""

    merged: bytes
    """Those of all portions. They hold no key and no row's number, but the totals of numbers, and
    the values of columns of labels.
    """
    distinct: int
    """The number of distinct keys."""
    rows_with_key: int
    """The number of rows that have a key."""

    @classmethod
    def merge(cls, portions: Iterable[bytes], distinct: int) -> Facts:
        """Returns those of a table of these portions, which has this number of distinct keys: it
        must be exact.

        Raises `InputError` if the numbers of a column have too large a sum, as for one table. The
        other party hears of that by `decline`.
        """
        try:
            merged, rows_with_key = _psijoin.merge_facts(list(portions))
        except _psijoin.Failure as failure:
            raise raised(failure) from None
        return cls(merged, distinct, rows_with_key)

    def __repr__(self) -> str:
        return "Facts(...)"
