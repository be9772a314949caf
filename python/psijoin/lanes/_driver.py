"""The driver of a join in lanes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack

from psijoin import _psijoin
from psijoin._call import stopped_with_its_call
from psijoin._errors import raised
from psijoin._listening import Listener, log
from psijoin._psijoin import Places, Report, Router, Taken, Ticket
from psijoin._session import Session
from psijoin._types import Asked, Columns, Learners, Meeting, Path
from psijoin.lanes._portions import Facts

Value = TypeVar("Value")


class Options(Meeting, total=False):
    """Options of `agree`: those of `Session`, and of its calls as far as they are not about a
    table that is here.
    """

    learn: Learners
    protocol: str
    min_intersection: int
    post_quantum: bool
    max_peer_keys: int | str
    bad_keys: str
    strict: bool
    deadline: int
    terms: Path
    record: Path
    report: Path
    allow_sums_that_reveal_keys: bool
    give: Columns | None
    give_bytes: int
    repeated: str
    take: Columns | None
    take_rows: int
    take_bytes: int
    parts: int


@dataclass(frozen=True)
class Finished:
    """The result of a join in lanes."""

    learned: int | bool | dict[str, Decimal] | None
    """The count, whether the threshold is reached, or the sums by the names of columns. None for
    rows, which lanes have found, and if this party learns nothing.
    """
    statement: str
    """The statement of who has learned what."""
    report: dict[str, Any]
    """The facts of the join, as in the program's reports."""
    places: Places | None = None
    """For rows under a minimum, if that is reached: tells `shared` which of the keys that lanes
    gave are shared. None if lanes gave shared keys. It is secret.
    """
    taken: Taken | None = None
    """If columns were taken: tells `unpacked` how they stand in what lanes gave."""


def agree(
    role: Literal["receive", "send"],
    facts: Facts,
    on: Columns | None = None,
    *,
    lanes: int,
    normalize: Mapping[str, str] | None = None,
    output_kind: Asked = "rows",
    **options: Unpack[Options],
) -> Agreed:
    """Meets the other party, and agrees with it on a join of the table that these facts are about.

    The other party may join in lanes, too, or a table of its own by `Session` or the program.

    - `role`: "receive" or "send". The receiver learns the result.
    - `on`, `normalize`, `bad_keys`: as all portions were read.
    - `lanes`: the most lanes that this side can run at the same time. The other side has such a
      number, too; the smaller one counts.
    - `min_intersection`: for rows, lanes of the receiver give all of its keys, and which are shared
      is told in the end: see `shared`.
    - `output_kind`: "rows", "count", "threshold:K" or "sum:COLUMN,…", on both sides.
    - `give`, `repeated`: as all portions were read. A row takes as many bytes as the longest one if
      all columns are taken; otherwise the longest value of each column counts, unless `give_bytes`
      is told.
    - `take`: lanes give what the other party gave for each shared key, and `unpacked` makes columns
      of it.
    - `parts`: the number of parts, if both sides name one; otherwise it follows from the sizes.
    - Everything else is as for `Session`, `Session.receive` and `Session.send`. This side connects,
      or meets the other one at a relay, as its lanes do.

    If the table cannot be used, as too many of its keys cannot be read, the other party is told.
    """
    meeting = of_meeting(options)
    told = {name: value for name, value in options.items() if name not in meeting}
    session = Session(**meeting)
    told |= {"on": on, "normalize": normalize, "output_kind": output_kind}
    listener, stop = _listener(session), _psijoin.Stop()
    try:
        with stopped_with_its_call(stop):
            agreed = _psijoin.agree(
                session._party, role, told, facts.merged, facts.distinct, lanes, listener, stop
            )
    except _psijoin.Failure as failure:
        raise raised(failure) from None
    return Agreed(agreed)


def decline(**meeting: Unpack[Meeting]) -> None:
    """Meets the other party only to tell it that this one cannot join, since its table cannot be
    read. So it does not wait in vain. The keywords are those of `Session`.

    This takes as long as the other party is not there, up to `wait`. If it cannot be told, this is
    logged.
    """
    session, stop = Session(**meeting), _psijoin.Stop()
    try:
        with stopped_with_its_call(stop):
            _psijoin.decline(session._party, _listener(session), stop)
    except _psijoin.Failure as failure:
        raise raised(failure) from None


def of_meeting(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those of these options that are of a meeting."""
    names = Meeting.__required_keys__ | Meeting.__optional_keys__
    return {name: value for name, value in options.items() if name in names}


def _listener(session: Session) -> Listener:
    return Listener(session._progress if callable(session._progress) else None)


class Agreed:
    """A join on which both parties have agreed. As a context manager, it gives up at the end if it
    was not finished.
    """

    def __init__(self, agreed: _psijoin.Agreed) -> None:
        self._agreed = agreed

    def __enter__(self) -> Agreed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.abort("" if kind is None else kind.__name__)

    @property
    def lanes(self) -> int:
        """The number of lanes, all of which have to run at the same time. It is 0 if the result
        follows from the sizes of the sets: then nothing is left but to finish.
        """
        return self._agreed.lanes

    @property
    def parts(self) -> int:
        """The number of parts. Lane `i` runs the parts `i`, `i + lanes`, and so on."""
        return self._agreed.parts

    @property
    def router(self) -> Router:
        """Tells the part of each key: see `place`. It is secret."""
        return self._told(lambda: self._agreed.router)

    def ticket(self, lane: int) -> Ticket:
        """Returns the ticket of a lane, from 0 on, for one process. It is secret."""
        return self._told(lambda: self._agreed.ticket(lane))

    def watch(self) -> None:
        """Waits, in a thread of the driver, until the session is over. Raises the reason if the
        other side has given up, is gone or is silent: then the lanes can be stopped.
        """
        self._told(self._agreed.watch)

    def take(self, report: Report | bytes) -> None:
        """Takes the report of a lane, once."""
        self._told(lambda: self._agreed.take(report))

    def finish(self) -> Finished:
        """Ends the session once all lanes have reported, and returns the result."""
        joined = self._told(self._agreed.finish)
        told = joined["learned"]
        assert not isinstance(told, _psijoin.Rows), "rows are where their lanes ran"
        known = (joined["statement"], json.loads(joined["report"]))
        match told:
            case Places():
                return Finished(None, *known, told)
            case list():
                return Finished({name: Decimal(value) for name, value in told}, *known)
            case _:
                return Finished(told, *known, taken=joined["taken"])

    def abort(self, reason: str = "") -> None:
        """Gives up, if it is not over. The other party hears of it, and not of the reason, which is
        logged here.
        """
        if self._agreed.is_over:
            return
        log.warning("giving up the join%s", f": {reason}" if reason else "")
        self._told(self._agreed.abort)

    def _told(self, call: Callable[[], Value]) -> Value:
        try:
            return call()
        except _psijoin.Failure as failure:
            raise raised(failure) from None
