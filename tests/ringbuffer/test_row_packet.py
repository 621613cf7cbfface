"""A packet taken in one go has the record and the row that its parts have one after the other; what isn't such a packet writes nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ringbuffer.decode.one_row import BLOCK_BYTES_MAX, OneRow
from ringbuffer.io.row_packet import RowPacket
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.row_block import PADDING_BYTES
from ringbuffer.pages.log_rows import RowRecord
from tests.ringbuffer.plain_rows import make_morsel, plain_rows
from tests.ringbuffer.test_decode_parameters import LAYOUT, block, random_value

SEED = 17
CASES = 600
BIND = ord("B")
HEAD, TAIL, REST = b"\0name\0\0\1\0\2", b"\0\0", b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
FORMATS = [index % 2 for index in range(len(LAYOUT))]
PAGE_BYTES = 4096
# Position, sequence, durable, transaction, time_us, now_us.
NUMBERS = (40, 7, 6, 5, 4, 3)


def made() -> tuple[OneRow, RowRecord]:
    row = OneRow(LAYOUT, FORMATS, make_morsel([(None,) * len(LAYOUT)], LAYOUT), range(len(LAYOUT)))
    return row, RowRecord(row.morsel, LAYOUT, 12)


def packet_of(values: bytes) -> bytes:
    body = HEAD + values + TAIL
    return b"B" + (len(body) + 4).to_bytes(4, "big") + body + REST


def packed(whole: RowPacket, data: bytes, padding: bytes = b"\xff" * PADDING_BYTES) -> bytes:
    """Return the record that is written, in a page that is like new otherwise."""
    whole.packet, whole.size = np.frombuffer(data + padding, dtype=np.uint8).copy(), len(data)
    page = np.full(PAGE_BYTES, 9, dtype=np.uint8)
    size = whole.pack(page, *NUMBERS)
    start = NUMBERS[0]
    assert (page[:start] == 9).all() and (page[start + size :] == 9).all()
    assert whole.tobytes() == data
    return page[start : start + size].tobytes()


def random_values(rng: random.Random) -> bytes:
    values: list[bytes | None] = []
    for column, binary in zip(LAYOUT, FORMATS, strict=True):
        _, text, form = random_value(rng, column.physical)
        values.append(None if rng.random() < 0.1 else form if binary else text.encode())
    if rng.random() < 0.2:
        values[rng.randrange(len(values))] = rng.choice((b"", b"x", b"\xff\xfe", b"\0", b"today", b"1" * 60))
    return block(*values)


def test_as_its_parts_one_after_the_other() -> None:
    rng = random.Random(SEED)
    row, record = made()
    other, other_record = made()
    whole = RowPacket(row, record, BIND, HEAD, TAIL + REST, len(REST))
    taken_count = 0
    for _ in range(CASES):
        values = random_values(rng)
        found = packed(whole, packet_of(values))
        if not other.fill(values, 0, len(values)):
            assert not found
            continue
        page = np.zeros(PAGE_BYTES, dtype=np.uint8)
        size = other_record.pack(page, *NUMBERS)
        assert found == page[NUMBERS[0] : NUMBERS[0] + size].tobytes(), values
        assert repr(plain_rows(row.morsel, LAYOUT)) == repr(plain_rows(other.morsel, LAYOUT))
        taken_count += 1
    assert taken_count > CASES / 2


def test_another_packet_is_refused() -> None:
    rng = random.Random(SEED + 1)
    row, record = made()
    whole = RowPacket(row, record, BIND, HEAD, TAIL + REST, len(REST))
    values = next(values for values in iter(lambda: random_values(rng), None) if row.fill(values, 0, len(values)))
    good = packet_of(values)
    assert packed(whole, good)
    values_end = len(good) - len(TAIL + REST)
    for at in range(len(good)):
        if 5 + len(HEAD) <= at < values_end:
            continue
        assert not packed(whole, good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]), at
    for size in range(len(good)):
        assert not packed(whole, good[:size], good[size:] + bytes(PADDING_BYTES)), "a packet in two parts"
    assert not packed(whole, good + b"\0") and not packed(whole, good + good)


def test_values_of_smaller_types() -> None:
    given = (ColumnLayout("a", PhysicalType.INT16), ColumnLayout("b", PhysicalType.FLOAT32))
    whole = (ColumnLayout("b", PhysicalType.FLOAT64), ColumnLayout("a", PhysicalType.INT64))

    def row() -> OneRow:
        return OneRow(given, (0, 0), make_morsel([(None, None)], whole), (1, 0))

    taken, other = row(), row()
    packets = RowPacket(taken, RowRecord(taken.morsel, whole, 1), BIND, HEAD, TAIL + REST, len(REST))
    record = RowRecord(other.morsel, whole, 1)
    for values, expected in (
        ((b"-7", b"1.5"), (1.5, -7)),
        ((None, b"0"), (0.0, None)),
        ((b"32767", None), (None, 32767)),
    ):
        found = packed(packets, packet_of(block(*values)))
        data = block(*values)
        assert other.fill(data, 0, len(data)) and plain_rows(taken.morsel, whole) == [expected]
        page = np.zeros(PAGE_BYTES, dtype=np.uint8)
        size = record.pack(page, *NUMBERS)
        assert found == page[NUMBERS[0] : NUMBERS[0] + size].tobytes()


@pytest.mark.parametrize("size", [BLOCK_BYTES_MAX - 4, BLOCK_BYTES_MAX - 3, 60_000])
def test_what_is_long_is_refused(size: int) -> None:
    layout = (ColumnLayout("t", PhysicalType.TEXT),)
    row = OneRow(layout, (0,), make_morsel([(None,)], layout), (0,))
    whole = RowPacket(row, RowRecord(row.morsel, layout, 1), BIND, HEAD, TAIL + REST, len(REST))
    assert bool(packed(whole, packet_of(block(b"a" * size)))) == (size + 4 <= BLOCK_BYTES_MAX)


def test_no_room_for_the_record() -> None:
    rng = random.Random(SEED)
    row, record = made()
    whole = RowPacket(row, record, BIND, HEAD, TAIL + REST, len(REST))
    size = 0
    while not size:
        size = len(packed(whole, packet_of(random_values(rng))))
    page = np.full(PAGE_BYTES, 9, dtype=np.uint8)
    assert whole.pack(page, PAGE_BYTES - size, *NUMBERS[1:]) == size
    page[:] = 9
    assert whole.pack(page, PAGE_BYTES - size + 8, *NUMBERS[1:]) == 0 and (page == 9).all()
