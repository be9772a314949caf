"""Parties that are known by name, and invitations."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeVar

from psijoin import _psijoin
from psijoin._errors import UsageError, raised
from psijoin._identity import Identity
from psijoin._types import Path

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Peer:
    """A party that is known by name. See `peers`."""

    name: str
    """Pass it as `peer` of a `Session`."""
    state: Literal["invited", "accepted", "over", "known"]
    """`known` once both have met; before that, `invited` or `accepted`. `over` if it was invited
    and has not come in time."""
    fingerprint: str | None
    """That of its key; None if it was invited and has not come."""
    place: str | None
    """Where both meet, in words."""
    _identity: str = field(repr=False)

    def rename(self, name: str) -> None:
        """Gives it another name."""
        _called(lambda: _psijoin.rename_peer(self._identity, self.name, name))

    def remove(self) -> None:
        """Forgets it: it is a stranger from now on, and its invitation does not work any more.
        What it has learned, it knows."""
        _called(lambda: _psijoin.remove_peer(self._identity, self.name))

    def confirm(self, fingerprint: str) -> None:
        """Confirms the fingerprint of a party that was invited with `confirm`, as it has told
        it."""
        _called(lambda: _psijoin.confirm_peer(self._identity, self.name, fingerprint))


def invite(
    name: str,
    *,
    relay: str | None = None,
    listen: str | None = None,
    via: Path | None = None,
    expires: timedelta = timedelta(hours=24),
    confirm: bool = False,
    own_name: str | None = None,
    identity: Identity | None = None,
    passphrase: str | None = None,
) -> str:
    """Invites another party, which is known by `name` from then on, and returns a link for it.

    Send the link over a channel that you trust: who has it is the other party. It works once, until
    it expires. Nobody waits: both get to know each other in their first session.

    - `relay`, `listen` or `via`: where both meet. `relay` is "HOST:PORT" or "wss://HOST/PATH",
      `listen` HOST:PORT as the other party has to dial it, and `via` a folder, which the other
      party has to name, too.
    - `confirm`: let nobody in before `Peer.confirm` was called with the other party's fingerprint.
    - `own_name`: the name that you suggest for yourself.
    - `identity`: this party's; without one, the user's own.
    - `passphrase`: that of the identity, if it has one.

    >>> import psijoin, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> ann = psijoin.Identity.create(folder + "/ann.pem")
    >>> link = psijoin.invite("bob", listen="127.0.0.1:7767", own_name="ann", identity=ann)
    >>> link.startswith("psijoin:1:")
    True
    >>> [(peer.name, peer.state) for peer in psijoin.peers(ann)]
    [('bob', 'invited')]
    """
    places: list[tuple[Literal["relay", "listen", "via"], str]] = []
    if relay is not None:
        places.append(("relay", relay))
    if listen is not None:
        places.append(("listen", listen))
    if via is not None:
        places.append(("via", os.fspath(via)))
    if len(places) != 1:
        raise UsageError("say where the parties meet by one of relay, listen and via")
    seconds = int(expires.total_seconds())
    if seconds < 1:
        raise UsageError("`expires` is a positive time")
    own = identity or Identity.load_or_create()
    asked = (name, places[0], seconds, confirm, own_name)
    return _called(lambda: _psijoin.invite(own.path, passphrase, *asked))


def accept(
    link: str,
    name: str | None = None,
    *,
    via: Path | None = None,
    identity: Identity | None = None,
) -> str:
    """Accepts an invitation, and returns the name by which the other party is known from then on:
    `name`, or the one that it suggests for itself. `via` is the folder where both meet, if the
    invitation is for one."""
    own = identity or Identity.load_or_create()
    folder = None if via is None else os.fspath(via)
    return _called(lambda: _psijoin.accept(own.path, link, name, folder))


def peers(identity: Identity | None = None) -> list[Peer]:
    """Returns the parties that are known by name."""
    own = identity or Identity.load_or_create()
    lines = _called(lambda: _psijoin.peers(own.path))
    shown = [json.loads(line) for line in lines]
    return [
        Peer(one["name"], one["state"], one["fingerprint"], one["place"], own.path) for one in shown
    ]


def _called(call: Callable[[], _Result]) -> _Result:
    try:
        return call()
    except _psijoin.Failure as failure:
        raise raised(failure) from None
