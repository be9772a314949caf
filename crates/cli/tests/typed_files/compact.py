"""Thrift's compact protocol, in which Parquet's footers are written.

A struct is a dictionary from the numbers of its fields to their kinds and values, as it was read:
what is not known of it stays what it is.
"""

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

Struct = dict[int, tuple[int, Any]]


class Reader:
    """Bytes, and how far they are read."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, length: int) -> bytes:
        taken = self.data[self.place : self.place + length]
        if len(taken) < length:
            raise EOFError
        self.place += length
        return taken

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def number(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            if kind in (TRUE, FALSE):
                fields[number] = (TRUE, kind == TRUE)
            else:
                fields[number] = (kind, self.value(kind))
        return fields

    def value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:  # within a list
                return self.take(1)[0] == TRUE
            case 3:
                return self.take(1)[0]
            case 4 | 5 | 6:
                return self.number()
            case 7:
                return self.take(8)
            case 8:
                return self.take(self.varint())
            case 9 | 10:
                head = self.take(1)[0]
                length = head >> 4 if head >> 4 < 15 else self.varint()
                return (head & 15, [self.value(head & 15) for _ in range(length)])
            case 12:
                return self.struct()
        raise ValueError(f"a value of the kind {kind}")


def written(fields: Struct) -> bytes:
    """A struct, as it is written."""
    out, last = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        head = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else kind
        step = number - last
        out += bytes([step << 4 | head]) if 0 < step < 16 else bytes([head]) + _number(number)
        last = number
        if kind not in (TRUE, FALSE):
            out += _value(kind, value)
    return bytes(out) + b"\0"


def _value(kind: int, value: Any) -> bytes:
    match kind:
        case 1 | 2:  # within a list
            return bytes([TRUE if value else FALSE])
        case 3:
            return bytes([value])
        case 4 | 5 | 6:
            return _number(value)
        case 7:
            return value
        case 8:
            return _varint(len(value)) + value
        case 9 | 10:
            inner, items = value
            few = len(items) < 15
            head = bytes([(len(items) if few else 15) << 4 | inner])
            length = b"" if few else _varint(len(items))
            return head + length + b"".join(_value(inner, item) for item in items)
        case 12:
            return written(value)
    raise ValueError(f"a value of the kind {kind}")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(value: int) -> bytes:
    return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
