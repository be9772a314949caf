"""Joins of a table that lies in several processes, as an engine has it: `docs/lanes.md`.

This is for who writes an engine's side of it. Other users have `Session`, or `psijoin.spark`. It is
new, and its interface may change with any release.

- A *reader* has a portion of the table: `read` gives its keys, and facts about it.
- The *driver* has the identity: it merges the facts, and `agree` meets the other party. It gives a
  ticket of each lane, takes the report of each, and finishes.
- A *lane* has all keys of some parts: `Lane` runs these. Of rows under a minimum it gives all keys,
  and `shared` picks those that are shared once the driver has finished. Columns of the other party
  come as bytes, of which `unpacked` makes columns then.

>>> import psijoin, pyarrow
>>> from psijoin import lanes
>>> portions = [lanes.read(pyarrow.table({"id": ids}), on="id") for ids in (["a", "b"], ["b", "c", None])]
>>> keys = lanes.merged(portion.keys for portion in portions)
>>> facts = lanes.Facts.merge([portion.facts for portion in portions], distinct=len(keys))
>>> facts.rows_with_key, facts.distinct
(4, 3)

Totals of groups are by columns of `labels` that portions are read with: the driver tells the other
party the labels, and a lane knows a label by its place in their list.

What may be seen by whom is in `docs/lanes.md`. In short: tickets, routers, reports and places are
secret, as are keys, which are hashes that can be tested against guesses.
"""

from psijoin._psijoin import Column, Places, Report, Router, Rows, Taken, Ticket
from psijoin.lanes._driver import Agreed, Finished, agree, decline
from psijoin.lanes._lane import Lane
from psijoin.lanes._portions import Facts, Portion, keys_of, merged, place, read, shared, unpacked

__all__ = [
    "Agreed",
    "Column",
    "Facts",
    "Finished",
    "Lane",
    "Places",
    "Portion",
    "Report",
    "Router",
    "Rows",
    "Taken",
    "Ticket",
    "agree",
    "decline",
    "keys_of",
    "merged",
    "place",
    "read",
    "shared",
    "unpacked",
]
