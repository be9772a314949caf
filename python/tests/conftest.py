"""The fixtures of many tests."""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import parties
import psijoin
import pytest
from parties import Meeting, Pair

# Spark starts processes of this Python, too.
os.environ["PYSPARK_PYTHON"] = sys.executable
collect_ignore = [] if find_spec("pyspark") else ["spark"]


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    parties.end()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Both parties, in this process."""
    with psijoin.local_pair(threads=1, wait=5, progress=False) as both:
        yield both


@pytest.fixture
def identities(tmp_path: Path) -> tuple[psijoin.Identity, psijoin.Identity]:
    """This party's identity, and that of the party at the other end."""
    ann, bob = (psijoin.Identity.create(tmp_path / name) for name in ("ann.pem", "bob.pem"))
    return ann, bob


@pytest.fixture
def meeting(tmp_path: Path) -> Meeting:
    """Two parties that meet at a relay."""
    return parties.meeting(tmp_path, parties.relay())


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark of this machine."""
    builder = pytest.importorskip("pyspark.sql").SparkSession.builder.master("local[2]").appName("psijoin's tests")
    builder = builder.config("spark.ui.enabled", False).config("spark.sql.shuffle.partitions", 3)
    session = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark of several processes."""
    cluster = pytest.importorskip("standalone").Standalone(tmp_path_factory.mktemp("standalone"))
    yield cluster
    cluster.stop()
