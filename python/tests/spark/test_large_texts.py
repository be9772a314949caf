"""Rows are picked from tables whose texts do not fit into one array of Arrow, which has 2 GiB."""

import pyarrow
from psijoin.spark import _frames

TEXT = 1 << 20


def test_rows_of_more_text_than_an_array_has() -> None:
    batch = pyarrow.record_batch({"id": [letter * TEXT for letter in "abc"]})
    # The memory of one batch.
    table = pyarrow.Table.from_batches([batch] * 700)
    assert table.nbytes > 1 << 31
    numbers = pyarrow.chunked_array([[1, 1, 3], [], [2_099]], pyarrow.uint64())
    picked = _frames._rows_of(table, numbers)
    assert [text[0].as_py()[:1] for text in picked.column("id").chunks if len(text)] == ["b", "a", "c"]
    assert [len(chunk) for chunk in picked.column("id").chunks if len(chunk)] == [2, 1, 1]
    assert picked.schema == table.schema
    none = _frames._rows_of(table, numbers.slice(0, 0))
    assert none.num_rows == 0
    assert none.schema == table.schema
