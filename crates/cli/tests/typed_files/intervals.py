"""Intervals of months, and of days and milliseconds, which pyarrow carries and has no Python class
for. They go through Arrow's C data interface, as integers of their width.
"""

import ctypes
from collections.abc import Callable

import pyarrow as pa

# The formats of the interface, each beside that of integers as wide.
INTEGERS = {"tiM": "i", "tiD": "l"}


class Schema(ctypes.Structure):
    """`ArrowSchema`."""


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
# `ArrowArray` is ten words long.
Array = ctypes.c_int64 * 10


def with_intervals(batch: pa.RecordBatch, formats: dict[str, str]) -> pa.RecordBatch:
    """A batch in which the integers of these columns are intervals of these formats."""
    return _in_formats(batch, lambda name, _: formats.get(name))


def without_intervals(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with integers in place of intervals."""
    return _in_formats(batch, lambda _, held: INTEGERS.get(held))


def formats_of(batch: pa.RecordBatch) -> dict[str, str]:
    """The formats of the columns that are intervals."""
    found: dict[str, str] = {}

    def note(name: str, held: str) -> None:
        if held in INTEGERS:
            found[name] = held

    _in_formats(batch, note)
    return found


def _in_formats(
    batch: pa.RecordBatch, format_of: Callable[[str, str], str | None]
) -> pa.RecordBatch:
    schema, array = Schema(), Array()
    batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
    kept = []
    for at in range(schema.n_children):
        child = schema.children[at].contents
        new = format_of(child.name.decode(), child.format.decode())
        if new:
            kept.append(new.encode())
            child.format = kept[-1]
    return pa.RecordBatch._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))
