"""Whatever is killed while two standalone Sparks join in lanes, both sides end: with the exact
result, or with an error that says why. Nothing runs on, and nothing is left in `work`.

Some kills run here. PSIJOIN_KILLS=all runs each victim at each moment, of either side.
"""

import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import parties
import psijoin
import pytest
from standalone import Driver, Standalone, eventually, is_alive, kill

IDS = {"ann": (0, 3_000), "bob": (2_000, 5_000)}
SHARED = sorted(f"key{number}" for number in range(2_000, 3_000))
ROLES = ("ann", "bob")

BEFORE_MEETING, IN_LANES = ("keys", "merging", "meeting"), ("lanes", "parts", "answered")
MOMENTS = (*BEFORE_MEETING, "agreed", *IN_LANES, "reports", "finish", "removal")
"""In the order in which a join comes to them."""

VICTIMS = ("worker", "executor", "driver", "jvm", "relay")

SOME = (
    ("worker", "lanes", "ann"),
    ("worker", "answered", "bob"),
    ("relay", "lanes", "bob"),
    ("driver", "reports", "bob"),
)
"""None of an executor, for which Spark takes half a minute to have another."""

KILLS = list(product(VICTIMS, MOMENTS, ROLES)) if os.environ.get("PSIJOIN_KILLS") == "all" else SOME

LONG_WAIT, SHORT_WAIT = 600, 20
"""The seconds for which both sides wait for each other: short if that is in vain."""


class Sides:
    """Both sides, whose drivers run until they are killed."""

    def __init__(self, spark: Standalone, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._drivers: dict[str, Driver] = {}
        self.identities = [psijoin.Identity.create(folder / f"{role}.pem") for role in ROLES]

    def driver(self, role: str) -> Driver:
        if role not in self._drivers:
            self._drivers[role] = Driver(self._spark, role, self._folder / role)
        return self._drivers[role]

    def forget(self, role: str) -> None:
        self._drivers.pop(role).stop()

    def forget_all(self) -> None:
        for role in list(self._drivers):
            self.forget(role)


@pytest.fixture(scope="module")
def both_sides(standalone: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    both = Sides(standalone, tmp_path_factory.mktemp("sides"))
    yield both
    both.forget_all()


@pytest.fixture
def sides(both_sides: Sides, request: pytest.FixtureRequest) -> Iterator[Sides]:
    failed = request.session.testsfailed
    yield both_sides
    if request.session.testsfailed > failed:
        # They may still be at a join.
        both_sides.forget_all()


@pytest.mark.parametrize(("victim", "moment", "of"), KILLS)
def test_whatever_is_killed_both_sides_end(
    sides: Sides, tmp_path: Path, victim: str, moment: str, of: str
) -> None:
    relay = parties.program("relay", "--listen", "127.0.0.1:0")
    assert relay.stderr is not None
    address = relay.stderr.readline().removeprefix("listening on ").strip()
    # The relay has no side.
    kind = "count" if victim == "relay" and of == "ann" else "rows"
    is_in_vain = moment in BEFORE_MEETING and victim in ("driver", "jvm", "relay")
    drivers = {role: sides.driver(role) for role in ROLES}
    stops = tmp_path / "stops"
    stops.mkdir()
    before = {role: driver.left() for role, driver in drivers.items()}
    for (role, driver), own, peer in zip(drivers.items(), sides.identities, sides.identities[::-1]):
        driver.ask(
            ids=IDS[role], identity=str(own.path), peer=peer.fingerprint, relay=address,
            wait=SHORT_WAIT if is_in_vain else LONG_WAIT, kind=kind, stops=str(stops), moment=moment,
        )  # fmt: skip

    def are_there() -> bool:
        return all(any(stops.glob(f"{role}.*")) for role in ROLES)

    eventually(lambda: are_there() or any(driver.has_answered() for driver in drivers.values()))
    assert are_there(), "it has ended before"
    stopped = next(int(path.name.split(".")[1]) for path in stops.glob(f"{of}.*"))
    killed = relay.pid if victim == "relay" else drivers[of].process(victim, stopped)
    started = drivers[of].all_processes()
    if killed is not None:
        kill(killed)
    (stops / "go").touch()
    begun = time.monotonic()
    for role, driver in drivers.items():
        came = driver.answer()
        print(f"{victim} of {of} at {moment}: {role} {shown(came)} after {time.monotonic() - begun:.1f} s")
        if moment in IN_LANES and victim in ("worker", "executor"):
            # Both sides have met again.
            assert came is not None and came.get("attempts") == 2, came
        assert_ends_well(came, role, kind, is_killed=victim == "driver" and role == of)
        if came is not None:
            idle = driver.answer()
            assert idle == {"idle": True} or (victim, of) == ("jvm", role), idle
        expected = before[role]
        if came is not None and "learned" in came and role == "ann" and kind == "rows":
            attempts = came["attempts"]
            expected = sorted([*expected, ["found" if attempts == 1 else f"found-{attempts}"]])
        if victim in ("driver", "jvm") and role == of:
            sides.forget(role)
            eventually(lambda: not any(map(is_alive, started)))  # noqa: B023
            if victim == "jvm":
                driver.remove_left()
            # With its JVM, all that results read goes.
            expected = []
        eventually(lambda: driver.left() == expected)  # noqa: B023


def shown(came: dict[str, Any] | None) -> str:
    match came:
        case None:
            return "was killed"
        case {"error": error, "says": says}:
            return f"{error}: {says}"
        case _:
            return f"has the result of attempt {came['attempts']}"


def assert_ends_well(
    came: dict[str, Any] | None, role: str, kind: str, *, is_killed: bool
) -> None:
    if came is None:
        assert is_killed
    elif "error" in came:
        assert isinstance(getattr(psijoin, came["error"]), type) and came["says"]
    else:
        expected = SHARED if kind == "rows" else len(SHARED)
        assert came["learned"] == (expected if role == "ann" else None)
