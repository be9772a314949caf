"""An engine of plain processes: each driver is one, and so is each worker, which gets a ticket and
the keys of its parts over a pipe.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

import psijoin
from parties import PATIENCE, Role
from psijoin import lanes

FORK = multiprocessing.get_context("fork")
"""Other ways to start a process import everything once more."""


@dataclass
class Party:
    """One side of a join in lanes."""

    role: Role
    table: Any
    """A table of pyarrow."""
    meeting: dict[str, Any]
    on: str = "id"
    numbers: str | None = None
    labels: str | None = None
    lists: Any = None
    """The list of its labels, if both sides have one."""
    options: dict[str, Any] = field(default_factory=dict)
    workers: int = 6
    attempts: int = 1
    """So often there are workers."""
    portions: int = 3
    spoil: str | None = None
    """What goes wrong."""

    def reads(self) -> dict[str, Any]:
        """What is said to all that read the table, beside its key."""
        names = ("normalize", "bad_keys", "give", "repeated")
        told = {name: self.options[name] for name in names if name in self.options}
        return {**told, "labels": self.labels, "groups": self.lists}


@dataclass
class Ended:
    """What came of it."""

    keys: list[bytes]
    """The shared keys."""
    taken: list[dict[str, Any]]
    """The rows of the other party."""
    learned: Any
    statement: str
    report: dict[str, Any]


class Engine:
    """The driver's process of a party, and those of its workers."""

    def __init__(self, party: Party) -> None:
        self._result, theirs = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=_drive, args=(party, theirs))
        self.process.start()
        theirs.close()
        self.workers: list[int] = []
        self._answer: Any = None

    def started(self) -> list[int]:
        """Waits until the workers are there, and returns their process ids."""
        self.workers = self._next() or []
        return self.workers

    def ended(self) -> Ended | psijoin.Error | None:
        """Waits for the end: the result, or an error; None if it was killed."""
        if not self.workers:
            self.started()
        answer: Ended | psijoin.Error | None = self._next()
        self.process.join(PATIENCE)
        assert not self.process.is_alive(), "the driver's process does not end"
        return answer

    def _next(self) -> Any:
        assert self._result.poll(PATIENCE), "nothing comes from the driver's process"
        try:
            return self._result.recv()
        except EOFError:
            return None

    def kill(self) -> None:
        """Ends all that is left of it."""
        for process in [self.process.pid, *self.workers]:
            if process is not None:
                kill(process)
        self.process.join(PATIENCE)


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as stat:
            # Nobody may have asked how it ended.
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def run(*parties: Party) -> list[Any]:
    """Runs these parties at the same time, and returns what came of each."""
    engines = [Engine(party) for party in parties]
    try:
        return [engine.ended() for engine in engines]
    finally:
        for engine in engines:
            engine.kill()


def _drive(party: Party, result: Connection) -> None:
    """The driver. Workers are started before anything else, with no thread but this one."""
    workers = [_Worker() for _ in range(party.attempts * party.workers)]
    result.send([worker.process.pid for worker in workers])
    try:
        ended: Any = _join(party, workers)
    except Exception as error:
        # With the types of this package alone, it can be sent.
        ended = error
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
    result.send(ended)


def _join(party: Party, workers: list[_Worker]) -> Ended:
    try:
        keys, facts = read(party)
    except psijoin.InputError:
        lanes.decline(**party.meeting)
        raise
    agreed = lanes.agree(
        party.role, facts, party.on, lanes=party.workers, comes_again=party.attempts > 1, **party.meeting,
        **party.options,
    )  # fmt: skip
    for attempt in range(party.attempts):
        own = workers[attempt * party.workers :][: party.workers]
        try:
            return _attempt(party, keys, agreed, own)
        except psijoin.Error:
            if not agreed.meets_again:
                raise
        if party.spoil == "lost lanes at first":
            party.spoil = None
        agreed = agreed.again(party.workers)
    raise AssertionError("there are no more attempts")


def _attempt(party: Party, keys: Any, agreed: lanes.Agreed, workers: list[_Worker]) -> Ended:
    import pyarrow

    with agreed:
        found: list[Any] = []
        gone: list[psijoin.Error] = []
        watching = threading.Thread(target=_watch, args=(agreed, workers, gone), daemon=True)
        watching.start()
        if agreed.lanes > 0:
            part = pyarrow.array(lanes.place(agreed.router, keys)).to_numpy()
            keys = keys.append_column("part", pyarrow.array(part)).sort_by("part")
            if party.spoil == "lost keys":
                keys = keys.slice(1)
            if party.spoil == "unsorted":
                keys = keys.take(list(range(len(keys)))[::-1])
            lane = keys["part"].to_numpy() % agreed.lanes
            for number, worker in zip(range(agreed.lanes), workers):
                own = keys.filter(pyarrow.array(lane == number)).drop_columns("part")
                ticket = agreed.ticket(number)
                worker.give(ticket, own)
            running = workers[: agreed.lanes]
            if (party.spoil or "").startswith("lost lanes"):
                running[0].process.kill()
            for report, of_lane in _results(running, agreed, gone):
                agreed.take(report)
                found.extend(of_lane)
                if party.spoil == "twice":
                    agreed.take(report)
                if party.spoil == "of another session":
                    agreed.take(b"\xff" * 4 + bytes(report)[4:])
        finished = agreed.finish()
    keys = _shared(found, finished.places)
    taken = _taken(found, finished.taken)
    return Ended(keys, taken, _learned(finished.learned), finished.statement, finished.report)


def _learned(learned: Any) -> Any:
    """What was learned: of groups, their rows."""
    import pyarrow

    return pyarrow.table(learned).to_pylist() if hasattr(learned, "__arrow_c_stream__") else learned


def _taken(found: list[Any], taken: lanes.Taken | None) -> list[dict[str, Any]]:
    """What the other party gave, of what lanes gave."""
    import pyarrow

    if taken is None:
        assert all("taken" not in kept.column_names for kept in found)
        return []
    # As another process would.
    rows = [pyarrow.table(some) for some in lanes.unpacked(pickle.loads(pickle.dumps(taken)), found)]
    table = pyarrow.concat_tables([pyarrow.schema(taken).empty_table(), *rows])
    given: list[dict[str, Any]] = table.to_pylist()
    return given


def _shared(found: list[Any], places: lanes.Places | None) -> list[bytes]:
    """The shared keys in what lanes gave."""
    import pyarrow

    if places is not None:
        # As another process would, and an engine that brought all into another order.
        secret = pickle.loads(pickle.dumps(places))
        found = [lanes.shared(secret, kept) for kept in reversed(found)]
    tables = [pyarrow.table(shared) for shared in found]
    assert all(set(table.column_names) <= {"key", "taken"} for table in tables)
    return [key for table in tables for key in table["key"].to_pylist()]


def read(party: Party) -> tuple[Any, lanes.Facts]:
    """Reads the table in portions, as several processes would."""
    import pyarrow

    rows = -(-len(party.table) // party.portions) or 1
    tables = [party.table.slice(start * rows, rows) for start in range(party.portions)]
    names = [party.numbers] if party.numbers else []
    portions = [lanes.read(table, party.on, numbers=names or None, **party.reads()) for table in tables]
    keys = pyarrow.table(lanes.merged([portion.keys for portion in portions], names))
    return keys, lanes.Facts.merge([portion.facts for portion in portions], distinct=len(keys))


class _Worker:
    def __init__(self) -> None:
        self._pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=_work, args=(theirs, self._pipe))
        self.process.start()
        theirs.close()

    def give(self, ticket: lanes.Ticket, keys: Any) -> None:
        # Of one that was killed, there is no result either.
        with suppress(OSError):
            self._pipe.send((ticket, keys))

    @property
    def pipe(self) -> Any:
        return self._pipe


def _watch(agreed: lanes.Agreed, workers: list[_Worker], gone: list[psijoin.Error]) -> None:
    """Ends all workers if the other side's driver is gone: they may wait for lanes in vain."""
    try:
        agreed.watch()
    except psijoin.Error as error:
        gone.append(error)
        for worker in workers:
            worker.process.kill()


def _results(
    workers: list[_Worker], agreed: lanes.Agreed, gone: list[psijoin.Error]
) -> Any:
    """The results of all workers, in the order in which they come."""
    left = {worker.pipe: worker for worker in workers}
    while left:
        for pipe in wait(list(left), PATIENCE):
            assert isinstance(pipe, Connection)
            try:
                result = pipe.recv()
            except (EOFError, OSError):
                agreed.lose_lane("a worker was killed")
                raise (gone or [psijoin.Error("a worker was killed")])[0] from None
            if isinstance(result, (psijoin.NetworkError, psijoin.PeerFailedError)):
                # That of the other side was lost.
                agreed.lose_lane(str(result))
            if isinstance(result, Exception):
                raise result
            del left[pipe]
            yield result


def _work(pipe: Connection, drivers_end: Connection) -> None:
    """A worker. It ends if the driver does."""
    drivers_end.close()
    try:
        ticket, keys = pipe.recv()
        lane = lanes.Lane(ticket)
        threading.Thread(target=_stop_without_driver, args=(pipe, lane), daemon=True).start()
        found = []
        for given in lane.run(keys.to_batches(max_chunksize=500)):
            import pyarrow

            found.append(pyarrow.table(given))
        pipe.send((lane.report, found))
    except EOFError:
        pass
    except Exception as error:
        # Nobody may be there to hear it.
        with suppress(OSError):
            pipe.send(error)


def _stop_without_driver(pipe: Connection, lane: lanes.Lane) -> None:
    try:
        pipe.recv()
    except (EOFError, OSError):
        lane.stop()
