"""The predicted cost of a join."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from psijoin import _psijoin
from psijoin._errors import raised
from psijoin._listening import Listener


class Plan(list[dict[str, Any]]):
    """The protocols that can do a join, the best first, each with its predicted cost: a list of
    dictionaries. `polars.DataFrame(plan)` makes a data frame of it."""

    text: str
    """The table that the program shows."""
    left_out: dict[str, str]
    """The other protocols, and why they cannot do it."""

    def __init__(self, text: str, lines: list[dict[str, Any]]) -> None:
        super().__init__(line for line in lines if "obstacle" not in line)
        self.text = text
        self.left_out = {line["protocol"]: line["obstacle"] for line in lines if "obstacle" in line}

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """A notebook shows this."""
        return f"<pre>{escape(self.text)}</pre>"


def plan(items: int | tuple[int, int], network: str | None = None, **options: Any) -> Plan:
    """Predicts the cost of a join of these sizes: time, bytes, flights and memory of each protocol.

    `items` are the distinct keys of both parties, or of the sender and of the receiver. `network`
    is the network between them, as "100mbps,80ms" or "lan". Other keywords mean what the options of
    `psijoin plan` mean: `output_kind`, `learn`, `sender_gives`, `receiver_gives`,
    `min_intersection`, `labels` (a pair), `min_group`, `noise`, `post_quantum`, `threads`,
    `memory`, `optimise`, `prices`, `regions`, `calibration`, `all`.

    >>> import psijoin
    >>> plan = psijoin.plan(items=(1_000_000, 2_000_000), network="100mbps,80ms", threads=1)
    >>> plan[0]["protocol"], plan[0]["flights"]
    ('rr22', 3)
    """
    said = {"items": items, "network": network, **options}
    try:
        text, lines = _psijoin.plan(said, Listener(None))
    except _psijoin.Failure as failure:
        raise raised(failure) from None
    return Plan(text, [json.loads(line) for line in lines])
