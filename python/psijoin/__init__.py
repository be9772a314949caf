"""Private joins: two parties learn which keys of their tables they share, and no others.

>>> import psijoin
>>> with psijoin.local_pair() as (alice, bob):
...     shared, _ = psijoin.together(
...         lambda: alice.receive(["ann", "bob", "eve"]),
...         lambda: bob.send(["bob", "joe", "ann"]),
...     )
>>> shared.rows
['ann', 'bob']

A real join has a `Session` on each of two machines. `Identity` says who is at the other end, or
`invite` on one and `accept` on the other let both know each other by name.
"""

from psijoin._errors import (
    Error,
    InputError,
    NetworkError,
    PeerError,
    PeerFailedError,
    PolicyError,
    UsageError,
)
from psijoin._identity import Identity
from psijoin._joined import Compared, Counted, Grouped, Joined, Summed
from psijoin._pair import local_pair, together
from psijoin._peers import Peer, accept, invite, peers
from psijoin._plan import Plan, plan
from psijoin._psijoin import __version__
from psijoin._session import Session

__all__ = [
    "Compared",
    "Counted",
    "Error",
    "Grouped",
    "Identity",
    "InputError",
    "Joined",
    "NetworkError",
    "Peer",
    "PeerError",
    "PeerFailedError",
    "Plan",
    "PolicyError",
    "Session",
    "Summed",
    "UsageError",
    "__version__",
    "accept",
    "invite",
    "local_pair",
    "peers",
    "plan",
    "together",
]
