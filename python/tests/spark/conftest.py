"""The fixtures of tests of Spark."""

from collections.abc import Iterator

import pytest
from standalone import Standalone


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """A cluster of this machine."""
    spark = Standalone(tmp_path_factory.mktemp("standalone"))
    yield spark
    spark.stop()
