"""COPY BINARY cut anywhere gives the rows that were written, and the errors of a header or a tuple
that is wrong; and back out again.
"""

from __future__ import annotations

import random
import struct

import pyarrow as pa
import pytest

from ringbuffer.decode.copy_binary import SIGNATURE, BinaryDecoder
from ringbuffer.encode.copy_binary import encode_binary_rows
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.error_codes import RowError

LAYOUT: Layout = (
    ColumnLayout("a", PhysicalType.INT64),
    ColumnLayout("b", PhysicalType.TEXT),
    ColumnLayout("c", PhysicalType.INT32, not_null=True),
    ColumnLayout("raw", PhysicalType.TEXT),
)
RAW = (False, False, False, True)
HEADER = SIGNATURE + bytes(8)
END = b"\xff\xff"
Row = tuple[int | None, str | None, int, bytes | None]


def field(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def tuple_of(row: Row) -> bytes:
    a, b, c, raw = row
    parts = (None if a is None else struct.pack(">q", a), None if b is None else b.encode(), struct.pack(">i", c), raw)
    return struct.pack(">h", len(parts)) + b"".join(map(field, parts))


def random_rows(count: int) -> list[Row]:
    numbers = random.Random(count)
    texts = [None, "", "é", "twelve bytes", "more than twelve bytes", "x" * 70_000]
    return [
        (
            numbers.choice([None, 0, -1, 1 << 62]),
            texts[5] if numbers.random() < 0.001 else numbers.choice(texts[:5]),
            numbers.randint(-9, 9),
            numbers.choice([None, b"", b"\0\xff", bytes(40)]),
        )
        for _ in range(count)
    ]


def rows_of(decoder: BinaryDecoder, pieces: list[bytes]) -> list[Row]:
    found: list[Row] = []
    for index in range(len(pieces) + 1):
        for morsel in decoder.feed(pieces[index]) if index < len(pieces) else decoder.finish():
            a, b, c, raw = (column.combine_chunks() for column in morsel_to_arrow(morsel, LAYOUT).columns)
            columns = (a.to_pylist(), b.to_pylist(), c.to_pylist(), raw.view(pa.binary()).to_pylist())
            found += zip(*columns, strict=True)
    return found


@pytest.mark.turns(2)
@pytest.mark.parametrize(("count", "piece_bytes"), [(0, 1), (5, 1), (300, 7), (3000, 65_536), (70_000, 1 << 20)])
@pytest.mark.parametrize("extension", [b"", b"unknown"])
def test_rows_in_pieces_of_any_size(count: int, piece_bytes: int, extension: bytes) -> None:
    rows = random_rows(count)
    head = SIGNATURE + bytes(4) + struct.pack(">i", len(extension)) + extension
    for end in (END, b""):
        data = head + b"".join(map(tuple_of, rows)) + end
        pieces = [data[start : start + piece_bytes] for start in range(0, len(data), piece_bytes)]
        decoder = BinaryDecoder(LAYOUT, RAW)
        assert rows_of(decoder, pieces) == rows
        assert decoder.lines_count == count


GOOD = tuple_of((1, "b", 2, b""))
FLAGS = struct.pack(">I", 1 << 16), struct.pack(">I", 1 << 20)


@pytest.mark.parametrize(
    ("data", "code", "row", "column"),
    [
        (b"", codes.COPY_SIGNATURE, 0, -1),
        (b"PGCOPY\n", codes.COPY_SIGNATURE, 0, -1),
        (b"1\t2\n" * 10, codes.COPY_SIGNATURE, 0, -1),
        (SIGNATURE, codes.COPY_FLAGS, 0, -1),
        (SIGNATURE + FLAGS[0] + bytes(4), codes.COPY_WITH_OIDS, 0, -1),
        (SIGNATURE + FLAGS[1] + bytes(4), codes.COPY_CRITICAL_FLAGS, 0, -1),
        (SIGNATURE + bytes(4), codes.COPY_HEADER_LENGTH, 0, -1),
        (SIGNATURE + bytes(4) + b"\xff" * 4, codes.COPY_HEADER_LENGTH, 0, -1),
        (SIGNATURE + bytes(4) + b"\0\0\0\5abc", codes.COPY_HEADER_EXTENSION, 0, -1),
        (HEADER + GOOD + b"\0\3", codes.COPY_FIELD_COUNT, 1, -1),
        (HEADER + GOOD + b"\0\4" + b"\xff\xff\xff\xfe", codes.COPY_FIELD_SIZE, 1, 0),
        *(
            (HEADER + GOOD + b"\0\4" + b"\xff" * 4 + size + bytes(9), codes.COPY_FIELD_SIZE, 1, 1)
            for size in (b"\xff\xff\xff\xfe", b"\xfe\xff\xff\xff", b"\x80\0\0\0", b"\x80\0\0\1")
        ),
        (HEADER + GOOD + GOOD[:5], codes.COPY_END, 1, 0),
        (HEADER + GOOD + GOOD[:-2], codes.COPY_END, 1, 3),
        (HEADER + GOOD + END + b"\0", codes.COPY_AFTER_END, 1, -1),
        (HEADER + GOOD + GOOD.replace(b"\0\0\0\x08", b"\0\0\0\x09\0"), codes.BINARY_FORMAT, 1, 0),
        (HEADER + GOOD + GOOD.replace(b"b", b"\xff"), codes.INVALID_ENCODING, 1, 1),
        (
            HEADER + GOOD + tuple_of((1, "b", 2, b"")).replace(b"\0\0\0\4\0\0\0\2", b"\xff" * 4),
            codes.NULL_VIOLATION,
            1,
            2,
        ),
    ],
)
def test_what_is_wrong(data: bytes, code: int, row: int, column: int) -> None:
    for piece_bytes in (len(data) or 1, 1):
        decoder = BinaryDecoder(LAYOUT, RAW)
        with pytest.raises(RowError) as raised:
            rows_of(decoder, [data[start : start + piece_bytes] for start in range(0, len(data), piece_bytes)])
        assert (raised.value.code, raised.value.row, raised.value.column) == (code, row, column)
        assert raised.value.line == (
            -1 if code <= codes.COPY_HEADER_EXTENSION and code >= codes.COPY_SIGNATURE else row + 1
        )
        assert raised.value.sqlstate[:2] in ("22", "23")


FIXED: tuple[tuple[PhysicalType, str], ...] = (
    (PhysicalType.INT16, ">h"),
    (PhysicalType.INT32, ">i"),
    (PhysicalType.INT64, ">q"),
    (PhysicalType.FLOAT32, ">f"),
    (PhysicalType.FLOAT64, ">d"),
    (PhysicalType.BOOL, ">?"),
    (PhysicalType.DATE, ">i"),
    (PhysicalType.TIMESTAMP, ">q"),
)
DAYS_2000, US_2000 = 10_957, 10_957 * 86_400_000_000
SINCE_1970 = {PhysicalType.DATE: DAYS_2000, PhysicalType.TIMESTAMP: US_2000}
FIXED_LAYOUT: Layout = tuple(ColumnLayout(f"c{number}", physical) for number, (physical, _) in enumerate(FIXED))


def fixed_row(chance: random.Random) -> list[tuple[bytes | None, object]]:
    """Return the bytes of each field with the value that they are, None for NULL."""
    found: list[tuple[bytes | None, object]] = []
    for physical, form in FIXED:
        data = chance.randbytes(struct.calcsize(form))
        if form in (">f", ">d"):
            data = struct.pack(form, chance.randint(-1000, 1000) / 4)
        elif physical in SINCE_1970:
            data = struct.pack(form, chance.randint(-100_000, 100_000))
        elif form == ">?":
            data = chance.choice([b"\0", b"\1"])
        value = struct.unpack(form, data)[0] + SINCE_1970.get(physical, 0)
        found.append((None, None) if chance.random() < 0.1 else (data, value))
    return found


def fixed_tuple(row: list[tuple[bytes | None, object]]) -> bytes:
    return struct.pack(">h", len(row)) + b"".join(field(data) for data, _ in row)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 3000])
def test_values_of_fixed_widths(count: int) -> None:
    chance = random.Random(count)
    rows = [fixed_row(chance) for _ in range(count)]
    data = HEADER + b"".join(map(fixed_tuple, rows)) + END
    for piece_bytes in (len(data), 1000):
        decoder = BinaryDecoder(FIXED_LAYOUT, [False] * len(FIXED))
        found: list[list[object]] = []
        for start in range(0, len(data), piece_bytes):
            for morsel in decoder.feed(data[start : start + piece_bytes]):
                columns = [
                    [None if null else value for value, null in zip(values.tolist(), nulls.tolist(), strict=True)]
                    for values, nulls in zip(morsel.data, morsel.nulls, strict=True)
                ]
                found += map(list, zip(*columns, strict=True))
        assert decoder.finish() == []
        assert found == [[value for _, value in row] for row in rows]


@pytest.mark.parametrize("column", range(len(FIXED)))
@pytest.mark.parametrize("number", [0, 255, 256, 700])
def test_the_first_wrong_value_of_the_first_wrong_row(number: int, column: int) -> None:
    chance = random.Random(column)
    rows = [fixed_row(chance) for _ in range(900)]
    # Those after it, in every column.
    for later in range(len(FIXED)):
        for row in (number, number + 1 + later):
            if row > number or later >= column:
                rows[row][later] = (bytes(3), None)
    decoder = BinaryDecoder(FIXED_LAYOUT, [False] * len(FIXED))
    with pytest.raises(RowError) as raised:
        decoder.feed(HEADER + b"".join(map(fixed_tuple, rows)) + END)
    assert (raised.value.code, raised.value.row, raised.value.column) == (codes.BINARY_FORMAT, number, column)
    assert (raised.value.line, raised.value.raw) == (number + 1, bytes(3))


def test_good_rows_before_an_error_are_given_first() -> None:
    decoder = BinaryDecoder(LAYOUT, RAW)
    (morsel,) = decoder.feed(HEADER + GOOD + b"\0\3")
    assert morsel.rows_count == 1
    with pytest.raises(RowError):
        decoder.feed(b"")


def test_a_single_byte_at_the_end_is_passed_over() -> None:
    assert rows_of(BinaryDecoder(LAYOUT, RAW), [HEADER + GOOD + b"\0"]) == [(1, "b", 2, b"")]


def payloads(messages: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(messages):
        assert messages[at] == ord("d")
        (length,) = struct.unpack_from(">i", messages, at + 1)
        found.append(messages[at + 5 : at + 1 + length])
        at += 1 + length
    return found


@pytest.mark.parametrize("count", [0, 1, 500])
def test_rows_go_out_as_they_came(count: int) -> None:
    rows = random_rows(count)
    types = (pa.int64(), pa.string(), pa.int32(), pa.binary())
    columns = [pa.array([row[index] for row in rows], kind) for index, kind in enumerate(types)]
    families = ("int8", "text", "int4", "bytea")
    messages = payloads(encode_binary_rows(columns, families, True, True, count))
    assert len(messages) == count + 1
    assert rows_of(BinaryDecoder(LAYOUT, RAW), messages) == rows
    assert encode_binary_rows(columns, families, False, False, count) == b"".join(
        b"d" + struct.pack(">i", len(data) + 4) + data for data in map(tuple_of, rows)
    )
