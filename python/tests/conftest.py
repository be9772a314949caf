"""The fixtures of many tests."""

from collections.abc import Iterator
from pathlib import Path

import parties
import psijoin
import pytest
from parties import Pair


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    parties.end()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Both parties, in this process."""
    with psijoin.local_pair(threads=1, wait=3, progress=False) as both:
        yield both


@pytest.fixture
def identities(tmp_path: Path) -> tuple[psijoin.Identity, psijoin.Identity]:
    """This party's identity, and that of the party at the other end."""
    ann, bob = (psijoin.Identity.create(tmp_path / name) for name in ("ann.pem", "bob.pem"))
    return ann, bob
