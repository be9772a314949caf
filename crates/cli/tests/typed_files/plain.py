"""Values that can be compared, exact whatever they are: as integers, texts, bytes, and lists."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
NANOSECONDS_PER_DAY = 86_400 * 10**9


def plain(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an array. Those of floating-point numbers are their bits."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in plain(chunk)]
    arrow = array.type
    if isinstance(arrow, pa.BaseExtensionType):
        return plain(array.storage)
    inner = _inner(array)
    if inner:
        return [None if is_null else inner(row) for row, is_null in enumerate(_nulls(array))]
    if pa.types.is_dictionary(arrow):
        values, places = plain(array.dictionary), array.indices.to_pylist()
        return [None if place is None else values[place] for place in places]
    if pa.types.is_run_end_encoded(arrow):
        values, ends = plain(array.values), array.run_ends.to_pylist()
        runs = [
            value for value, run in zip(values, _lengths(ends), strict=True) for _ in range(run)
        ]
        return runs[array.offset : array.offset + len(array)]
    length = _length(arrow)
    if length is not None:
        return [None if value is None else value * length for value in _integers(array)]
    if pa.types.is_floating(arrow):
        return _integers(array)
    return array.to_pylist()


def _nulls(array: pa.Array) -> list[bool]:
    return (
        array.is_null().to_pylist() if not pa.types.is_union(array.type) else [False] * len(array)
    )


def _lengths(ends: list[int]) -> list[int]:
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _length(arrow: pa.DataType) -> int | None:
    """Returns the nanoseconds of the integer 1 of a type."""
    if pa.types.is_date32(arrow):
        return NANOSECONDS_PER_DAY
    if pa.types.is_date64(arrow):
        return 10**6
    if pa.types.is_timestamp(arrow) or pa.types.is_duration(arrow) or pa.types.is_time(arrow):
        return NANOSECONDS[arrow.unit]
    return None


def _integers(array: pa.Array) -> list[int | None]:
    return array.view(
        {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[array.type.bit_width]
    ).to_pylist()


def _inner(array: pa.Array) -> Callable[[int], Any] | None:
    """Returns the getter of a row in an array of nested values, if it is one."""
    arrow = array.type
    if pa.types.is_map(arrow):
        return _rows_of(array, list(zip(plain(array.keys), plain(array.items), strict=True)))
    if pa.types.is_fixed_size_list(arrow):
        values, width, offset = plain(array.values), arrow.list_size, array.offset
        return lambda row: values[(row + offset) * width : (row + offset + 1) * width]
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return _rows_of(array, plain(array.values))
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        values = plain(array.values)
        starts, sizes = array.offsets.to_pylist(), array.sizes.to_pylist()
        return lambda row: values[starts[row] : starts[row] + sizes[row]]
    if pa.types.is_struct(arrow):
        columns = [plain(array.field(at)) for at in range(arrow.num_fields)]
        names = [field.name for field in arrow]
        return lambda row: {name: of[row] for name, of in zip(names, columns, strict=True)}
    if pa.types.is_union(arrow):
        fields = {code: plain(array.field(at)) for at, code in enumerate(arrow.type_codes)}
        codes = array.type_codes.to_pylist()
        is_dense = arrow.mode == "dense"
        places = array.offsets.to_pylist() if is_dense else range(len(array))
        return lambda row: (codes[row], fields[codes[row]][places[row]])
    return None


def _rows_of(array: pa.Array, values: list[Any]) -> Callable[[int], Any]:
    offsets = array.offsets.to_pylist()
    return lambda row: values[offsets[row] : offsets[row + 1]]
