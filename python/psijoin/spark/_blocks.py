"""What hides keys from Spark, which hands them on between executors.

Where Spark only hands them on, through shuffles and files, they are in sealed *blocks* of many
keys: a row of Spark is a block, so that Spark has little to do per key, and sees nothing of them.
Where it joins by them, they are veiled.
"""

from __future__ import annotations

from typing import Any

from psijoin import _psijoin
from psijoin._errors import InputError
from psijoin._tables import pyarrow_module


class Veil:
    """A permutation of fingerprints, under a key that only closures have: see `_psijoin.veil`. So
    Spark can join by them, and they tell nothing to whoever guesses a key of the table.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def put_on(self, keys: Any) -> Any:
        """Veils an array of fingerprints."""
        return _psijoin.veil(self._key, keys.cast(pyarrow_module().binary(32)))


class Blocks:
    """Seals under a key that only closures have. Each block is bound to the place where it belongs.

    Methods that make blocks return Arrow data with the columns `number`, `rows`, which counts those
    in the block, and `block`.
    """

    def __init__(self, key: bytes, for_buckets: bytes) -> None:
        self._key, self._for_buckets = key, for_buckets

    def seal(self, place: str, text: bytes) -> bytes:
        return _psijoin.seal(self._key, place, text)

    def open(self, place: str, block: bytes) -> bytes:
        """Opens what was sealed for this place.

        Raises `InputError` if it was not: somebody has changed what lies in a file.
        """
        try:
            return _psijoin.unseal(self._key, place, block)
        except ValueError:
            raise _changed() from None

    def of_rows(self, place: str, rows: Any) -> Any:
        """Makes blocks of rows, for this place."""
        return _psijoin.seal_rows(self._key, place, rows)

    def of_buckets(self, keys: Any, count: int) -> Any:
        """Makes blocks of keys of one bucket each: equal keys have the same bucket, which is their
        `number`, below `count`. Their place is called `bucket NUMBER`.
        """
        return _psijoin.seal_in_buckets(self._key, self._for_buckets, keys, count)

    def of_parts(self, keys: Any, router: Any) -> Any:
        """Makes blocks of keys of one part each, as a session has it. Their place is called
        `part NUMBER`.
        """
        return _psijoin.seal_in_parts(self._key, router, keys)

    def open_rows(self, place: str, block: bytes) -> Any:
        """Opens a block of rows, as Arrow data."""
        try:
            return _psijoin.open_rows(self._key, place, block)
        except ValueError:
            raise _changed() from None


def _changed() -> InputError:
    return InputError(
        "`work`: a file there is not as psijoin has written it: let nobody else write to that folder"
    )
