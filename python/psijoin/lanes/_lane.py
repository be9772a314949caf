"""A lane, in the process that runs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from psijoin import _psijoin
from psijoin._errors import raised
from psijoin._psijoin import Report, Rows, Ticket


class Lane:
    """A lane of a session, which runs the parts whose keys it is given. The other side's processes
    run the same lanes at the same time, and wait for each other.
    """

    def __init__(self, ticket: Ticket | bytes, *, proxy: str | None = None) -> None:
        """Takes the ticket of one lane, which works once. `proxy` is as for `Session`."""
        try:
            self._lane = _psijoin.Lane(ticket, proxy)
        except _psijoin.Failure as failure:
            raise raised(failure) from None

    def run(self, batches: Any) -> Iterator[Rows]:
        """Runs the lane's parts, and returns the shared keys of each, for a party that learns them:
        Arrow data with a column `key`. If it takes columns, there is a column `taken` of bytes:
        what the other party gave for each key, for `unpacked`, once the driver has finished.

        If a minimum was demanded for rows, it gives *all* keys of each part instead, with columns
        `part` and `place`. Which are shared is known once the driver has finished, and `shared`
        picks them.

        `batches` is Arrow data, or an iterator of such, with the keys of the lane's parts as `read`
        and `merged` give them, in the order of their parts. A part without keys need not be named.
        Each part runs when the keys of the next one have begun to come, so that those of one part
        are in memory at a time.

        All that it finds has to be taken. If that is broken off, the other side's lane ends, too.
        """
        is_finished = False
        try:
            self._lane.open()
            for batch in _each(batches):
                yield from self._lane.take(batch)
            found = self._lane.finish()
            is_finished = True
            yield from found
        except _psijoin.Failure as failure:
            raise raised(failure) from failure.__cause__
        finally:
            if not is_finished:
                self._lane.stop()

    @property
    def report(self) -> Report:
        """What the driver needs of it, once all that was found was taken. It is secret."""
        try:
            return self._lane.report()
        except _psijoin.Failure as failure:
            raise raised(failure) from None

    def stop(self) -> None:
        """Ends it, from any thread, as Ctrl-C does in the main thread: `run` raises `Error`."""
        self._lane.stop()


def _each(batches: Any) -> Iterable[Any]:
    return [batches] if hasattr(batches, "__arrow_c_stream__") else batches
