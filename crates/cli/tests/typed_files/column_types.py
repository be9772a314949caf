"""The types, and how to draw values of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

Draw = Callable[[random.Random, int], pa.Array]

# What DuckDB and pyarrow both show: the years 1 to 9999, in seconds.
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799


@dataclass(frozen=True)
class Type:
    """A type, how to draw a column of it, and how DuckDB spells a key of it, if it can be one and
    DuckDB can.
    """

    name: str
    draw: Draw
    key: str | None = None
    in_parquet: bool = True
    # Whether Arrow has it as another type with something to it, for which psijoin knows no
    # spelling.
    is_unknown: bool = False
    # How keys are spelled where a file does not tell of the extension.
    unmarked_key: str | None = None


class Extension(pa.ExtensionType):
    """An extension type that has this name."""

    def __init__(self, storage: pa.DataType, name: str, parameters: bytes) -> None:
        self.parameters = parameters
        super().__init__(storage, name)

    def __arrow_ext_serialize__(self) -> bytes:
        return self.parameters

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Extension":
        raise NotImplementedError


def some(values: Callable[[random.Random], object], arrow: pa.DataType) -> Draw:
    """Values, and a null now and then."""

    def draw(rng: random.Random, rows: int) -> pa.Array:
        drawn = [None if rng.random() < 0.1 else values(rng) for _ in range(rows)]
        return pa.array(drawn, arrow)

    return draw


def whole(bits: int, signed: bool = True) -> Callable[[random.Random], int]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda rng: rng.choice([low, high, 0, 1, low + 1, rng.randint(low, high), rng.randint(0, 99)])


def viewed(values: Callable[[random.Random], int], bits: int, arrow: pa.DataType) -> Draw:
    """Integers as what they are beneath."""
    integers = some(values, pa.int32() if bits == 32 else pa.int64())
    return lambda rng, rows: integers(rng, rows).view(arrow)


def extension(storage: Draw, make: Callable[[pa.DataType], pa.DataType]) -> Draw:
    def draw(rng: random.Random, rows: int) -> pa.Array:
        values = storage(rng, rows)
        return pa.ExtensionArray.from_storage(make(values.type), values)

    return draw


def decimal(arrow: pa.DataType) -> Type:
    largest = 10**arrow.precision - 1
    values = lambda rng: Decimal(  # noqa: E731
        rng.choice([largest, -largest, 0, 1, rng.randint(-largest, largest)])
    ).scaleb(-arrow.scale)
    key = None
    if arrow.precision <= 38:
        key = f"rtrim(regexp_replace({{0}}::DECIMAL(38, {arrow.scale})::VARCHAR, '(\\.\\d*?)0+$', '\\1'), '.')"
    return Type(f"{arrow}", some(exact(values), arrow), key)


def exact(values: Callable[[random.Random], Decimal]) -> Callable[[random.Random], Decimal]:
    """Decimals with more digits than Python's context has."""

    def drawn(rng: random.Random) -> Decimal:
        import decimal

        with decimal.localcontext(prec=80):
            return values(rng)

    return drawn


def moments(unit: str) -> Callable[[random.Random], int]:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    low, high = FIRST_SECOND * per_second, LAST_SECOND * per_second
    if unit == "ns":
        # DuckDB's own have no room for the last values of 64 bits.
        low, high = -(2**63) + 10**15, 2**63 - 10**15
    return lambda rng: rng.choice([low, high, 0, -1, rng.randint(low, high)])


def timestamp(unit: str, zone: str | None) -> Type:
    arrow = pa.timestamp(unit, zone)
    key = "regexp_replace({0}::VARCHAR, '\\+00$', 'Z')" if zone else "{0}::VARCHAR"
    return Type(f"{arrow}", viewed(moments(unit), 64, arrow), None if zone and unit == "ns" else key)


def times(unit: str) -> Type:
    of_day = 86400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    bits, arrow = (32, pa.time32(unit)) if unit in ("s", "ms") else (64, pa.time64(unit))
    draw = viewed(lambda rng: rng.choice([0, of_day - 1, rng.randrange(of_day)]), bits, arrow)
    return Type(f"{arrow}", draw, "{0}::VARCHAR")


def text(rng: random.Random) -> str:
    return rng.choice(["", "a", "Straße", "\U0001f600", "null", " x ", "x" * 300, str(rng.randint(0, 50))])


def data(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\0", b"\xff" * 40, rng.randbytes(rng.randint(0, 20))])


def floats(arrow: pa.DataType) -> Type:
    largest = {16: 65504.0, 32: 3.4028234663852886e38, 64: 1.7976931348623157e308}[arrow.bit_width]
    specials = [0.0, -0.0, largest, -largest, float("inf"), float("-inf"), float("nan"), 5e-324, 1.5]
    return Type(f"{arrow}", some(lambda rng: rng.choice([*specials, float(rng.randint(0, 99))]), arrow))


def nested(name: str, arrow: pa.DataType, values: Callable[[random.Random], object], **rest: bool) -> Type:
    return Type(name, some(values, arrow), **rest)


def numbers(rng: random.Random) -> list[int | None]:
    return [rng.choice([None, -(2**63), 2**63 - 1, 7]) for _ in range(rng.randint(0, 3))]


INT64 = some(whole(64), pa.int64())
UUID = some(lambda rng: rng.randbytes(16), pa.binary(16))

INTEGERS = [
    Type(f"{arrow}", some(whole(arrow.bit_width, signed), arrow), "{0}::VARCHAR")
    for signed, of in (
        (True, (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
        (False, (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    )
    for arrow in of
]
DECIMALS = [
    decimal(arrow)
    for arrow in (
        pa.decimal32(9, 3), pa.decimal64(18, 0), pa.decimal128(38, 37), pa.decimal128(5, 2), pa.decimal256(76, 10)
    )
]
TEXTS = [
    Type(f"{arrow}", some(text, arrow), "nullif({0}::VARCHAR, '')")
    for arrow in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string()))
]
BINARIES = [
    Type(f"{arrow}", some(data, arrow), "nullif(lower(hex({0})), '')")
    for arrow in (pa.binary(), pa.large_binary(), pa.binary_view())
]
TIMESTAMPS = [
    timestamp(unit, zone)
    for unit in ("s", "ms", "us", "ns")
    for zone in (None, "UTC", "Europe/Berlin", "+05:30")
]
DURATIONS = [
    Type(f"{arrow}", viewed(whole(64), 64, arrow)) for arrow in map(pa.duration, ("s", "ms", "us", "ns"))
]
EXTENSIONS = [
    Type("uuid", extension(UUID, lambda _: pa.uuid()), "{0}::VARCHAR"),
    Type("json", extension(some(lambda _: '{"a": 1}', pa.string()), lambda _: pa.json_()), "{0}::VARCHAR"),
    Type(
        "bool8",
        extension(some(whole(8), pa.int8()), lambda _: pa.bool8()),
        "({0} <> 0)::VARCHAR",
        unmarked_key="{0}::VARCHAR",
    ),
    Type("opaque", extension(UUID, lambda of: pa.opaque(of, "bit", "duckdb")), is_unknown=True),
    Type(
        "pandas.period",
        extension(INT64, lambda of: Extension(of, "pandas.period", b'{"freq": "M"}')),
        is_unknown=True,
    ),
    Type("unknown", extension(INT64, lambda of: Extension(of, "company.money", b"EUR")), is_unknown=True),
    Type(
        "geoarrow.wkb",
        extension(some(data, pa.binary()), lambda of: Extension(of, "geoarrow.wkb", b'{"crs": "EPSG:25832"}')),
        is_unknown=True,
    ),
    Type(
        "fixed_shape_tensor",
        extension(
            some(lambda _: [1, 2], pa.list_(pa.int32(), 2)), lambda _: pa.fixed_shape_tensor(pa.int32(), [2])
        ),
        is_unknown=True,
    ),
]
NESTED = [
    nested("list", pa.list_(pa.int64()), numbers),
    nested("large_list", pa.large_list(pa.string()), lambda rng: [text(rng)]),
    nested("fixed_list", pa.list_(pa.decimal128(38, 9), 2), lambda _: [Decimal("0.000000001"), None]),
    nested("list_of_lists", pa.list_(pa.list_(pa.int64())), lambda rng: [numbers(rng), None]),
    nested(
        "struct",
        pa.struct([("a", pa.uint64()), ("b", pa.struct([("c", pa.float16()), ("d", pa.date32())]))]),
        lambda rng: {"a": 2**64 - 1, "b": rng.choice([None, {"c": 65504.0, "d": None}])},
    ),
    nested("map", pa.map_(pa.string(), pa.time64("ns")), lambda rng: [(text(rng), None), ("k", None)]),
    nested("list_view", pa.list_view(pa.int64()), numbers, in_parquet=False),
    nested("interval", pa.month_day_nano_interval(), lambda rng: (rng.randint(-9, 9), 2, 3), in_parquet=False),
]
OTHERS = [
    Type("bool", some(lambda rng: rng.random() < 0.5, pa.bool_()), "{0}::VARCHAR"),
    Type("null", some(lambda _: None, pa.null())),
    Type("date32", viewed(lambda rng: rng.choice([-719162, 2932896, 0, -1]), 32, pa.date32()), "{0}::VARCHAR"),
    Type(
        "date64",
        viewed(lambda rng: 86400000 * rng.choice([-719162, 2932896, 0, -1]), 64, pa.date64()),
        "{0}::VARCHAR",
    ),
    Type("binary12", some(lambda rng: rng.randbytes(12), pa.binary(12)), "lower(hex({0}))"),
    *map(times, ("s", "ms", "us", "ns")),
    *map(floats, (pa.float16(), pa.float32(), pa.float64())),
]

ALL = [
    *INTEGERS, *DECIMALS, *TEXTS, *BINARIES, *TIMESTAMPS, *DURATIONS, *EXTENSIONS, *NESTED, *OTHERS,
]  # fmt: skip
