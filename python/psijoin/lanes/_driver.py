"""The driver of a join in lanes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack

from psijoin import _psijoin
from psijoin._call import stopped_with_its_call
from psijoin._errors import raised
from psijoin._listening import Listener, log
from psijoin._psijoin import Places, Report, Router, Rows, Taken, Ticket
from psijoin._session import Session
from psijoin._types import Asked, Columns, Labels, Learners, Meeting, Path
from psijoin.lanes._portions import Facts

Value = TypeVar("Value")


class Options(Meeting, total=False):
    """Options of `agree`: those of `Session`, and of its calls as far as they are not about a
    table that is here.
    """

    learn: Learners
    group_by: Columns
    groups: Labels
    min_group: int
    noise: str
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

    learned: int | bool | dict[str, Decimal] | Rows | None
    """The count, whether the threshold is reached, the sums by the names of columns, or the totals
    of groups, as Arrow data with the columns of `Session.grouped`. None for rows, which lanes have
    found, and if this party learns nothing.
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
    comes_again: bool = False,
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
    - `output_kind`: "rows", "count", "threshold:K", "sum:COLUMN,…" or, for totals of groups,
      "counts,sum:COLUMN,…,mean:COLUMN,…", on both sides.
    - `group_by`, `groups`, `min_group`, `noise`: as for `Session.send`, on both sides. The columns
      and lists of this party are those with which all portions were read. With noise, which the
      sender's driver draws, there is one attempt.
    - `give`, `repeated`: as all portions were read. A row takes as many bytes as the longest one if
      all columns are taken; otherwise the longest value of each column counts, unless `give_bytes`
      is told.
    - `take`: lanes give what the other party gave for each shared key, and `unpacked` makes columns
      of it.
    - `comes_again`: this side meets the other one again if a lane is lost: see `Agreed.again`.
    - `parts`: the number of parts, if both sides name one; otherwise it follows from the sizes.
    - Everything else is as for `Session`, `Session.receive` and `Session.send`. This side connects,
      or meets the other one at a relay, as its lanes do.

    If the table cannot be used, as too many of its keys cannot be read, the other party is told.
    """
    asked = {"on": on, "normalize": normalize, "output_kind": output_kind}
    return _Call(role, facts, comes_again, {**options, **asked}).meet(lanes)


class _Call:
    """A call of `agree`, for all attempts."""

    def __init__(
        self,
        role: Literal["receive", "send"],
        facts: Facts,
        comes_again: bool,
        options: Mapping[str, Any],
    ) -> None:
        self._role: Literal["receive", "send"] = role
        self._facts, self._comes_again, self._options = facts, comes_again, options
        self._began = time.monotonic()

    def meet(self, lanes: int, after: _psijoin.Agreed | None = None) -> Agreed:
        """Meets the other party, for the first time or after an attempt that has lost a lane."""
        options = self._options if after is None else self._left()
        meeting = of_meeting(options)
        told = {name: value for name, value in options.items() if name not in meeting}
        session = Session(**meeting)
        listener, stop = _listener(session), _psijoin.Stop()
        try:
            with stopped_with_its_call(stop):
                agreed = _psijoin.agree(
                    session._party,
                    self._role,
                    told,
                    self._facts.merged,
                    self._facts.distinct,
                    lanes,
                    self._comes_again,
                    after,
                    listener,
                    stop,
                )
        except _psijoin.Failure as failure:
            raise raised(failure) from None
        return Agreed(agreed, self)

    def _left(self) -> dict[str, Any]:
        """Returns the options of a further attempt, with what is left of the deadline."""
        deadline = self._options.get("deadline")
        if deadline is None:
            return dict(self._options)
        passed = int(time.monotonic() - self._began)
        return {**self._options, "deadline": max(deadline - passed, 1)}


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

    def __init__(self, agreed: _psijoin.Agreed, call: _Call) -> None:
        self._agreed, self._call = agreed, call

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
        """Ends the session once all lanes have reported, and returns the result. If both sides come
        again, this waits until the other one is done, too.
        """
        joined = self._told(self._agreed.finish)
        told = joined["learned"]
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

    def lose_lane(self, reason: str = "") -> None:
        """Gives up, if it is not over, as a process that ran a lane was lost. If both sides come
        again, the other party hears that this is the reason. What it was is logged here.
        """
        if self._agreed.is_over:
            return
        log.warning("a lane of the join was lost%s", f": {reason}" if reason else "")
        self._told(self._agreed.lose_lane)

    @property
    def meets_again(self) -> bool:
        """Whether both sides meet again, as either of them has lost a lane: call `again` then. So
        it is if both had said that they come again, three times at most, and if the protocol is for
        semi-honest parties: see `docs/lanes.md`.
        """
        return self._agreed.meets_again

    def again(self, lanes: int) -> Agreed:
        """Meets the other party for another attempt of the same join, with keys, seeds, tickets and
        a router of its own. The set must be the same. As it knows that this side comes, it is
        waited for no longer than 30 seconds.
        """
        return self._call.meet(lanes, self._agreed)

    def _told(self, call: Callable[[], Value]) -> Value:
        try:
            return call()
        except _psijoin.Failure as failure:
            raise raised(failure) from None
