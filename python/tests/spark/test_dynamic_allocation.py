"""Joins in lanes of a Spark that gets and gives back executors as it needs them."""

from pathlib import Path
from typing import Any

import parties
import psijoin
from standalone import Driver, Standalone

DYNAMIC = {
    "dynamicAllocation.enabled": True,
    "dynamicAllocation.shuffleTracking.enabled": True,
    "dynamicAllocation.minExecutors": 0,
    "dynamicAllocation.maxExecutors": 2,
}
RUNS_ONCE = {"stage.maxConsecutiveAttempts": 1}


def asked(drivers: list[Driver], folder: Path, **told: Any) -> list[Any]:
    """What comes of a join of these."""
    address = parties.relay()
    own = {driver.role: psijoin.Identity.create(folder / f"{driver.role}.pem") for driver in drivers}
    for driver in drivers:
        [peer] = [identity for role, identity in own.items() if role != driver.role]
        driver.ask(
            identity=str(own[driver.role].path), peer=peer.fingerprint, relay=address, wait=600, kind="rows",
            stops=str(folder), moment="none", **told,
        )  # fmt: skip
    answers = [driver.answer() for driver in drivers]
    assert [driver.answer() for driver in drivers] == [{"idle": True}] * len(drivers)
    return answers


def test_lanes_are_ordinary_tasks(standalone: Standalone, tmp_path: Path) -> None:
    """On one side. Spark has no executor when they begin."""
    ann = Driver(standalone, "ann", tmp_path / "ann", **DYNAMIC, **RUNS_ONCE)
    bob = Driver(standalone, "bob", tmp_path / "bob")
    try:
        received, sent = asked([ann, bob], tmp_path, ids=(0, 1_000))
        assert received == {"learned": sorted(f"key{number}" for number in range(1_000)), "attempts": 1}
        assert sent == {"learned": None, "attempts": 1}
    finally:
        ann.stop()
        bob.stop()


def test_settings_that_could_run_a_lane_twice(standalone: Standalone, tmp_path: Path) -> None:
    """They are refused before anybody is met. So are fewer executors than lanes."""
    refused = {
        "spark.stage.maxConsecutiveAttempts to 1": {},
        "a larger spark.dynamicAllocation.maxExecutors": {**RUNS_ONCE, "dynamicAllocation.maxExecutors": 1},
    }
    psijoin.Identity.create(tmp_path / "ann.pem")
    for place, (remedy, settings) in enumerate(refused.items()):
        folder = tmp_path / str(place)
        ann = Driver(standalone, "ann", folder, **{**DYNAMIC, **settings})
        try:
            ann.ask(
                ids=(0, 10), identity=str(tmp_path / "ann.pem"), peer="bob", relay="127.0.0.1:1", wait=600,
                kind="rows", stops=str(tmp_path), moment="none",
            )  # fmt: skip
            answer = ann.answer()
            assert answer is not None and answer["error"] == "UsageError" and remedy in answer["says"], answer
        finally:
            ann.stop()
