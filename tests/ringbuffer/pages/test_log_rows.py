"""Rows of the log come back as they were, damage is noticed, and the record packed in place is the
one made in pieces.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np
import pytest

from ringbuffer.decode.parameters import decode_parameters
from ringbuffer.memory import strings
from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.memory.columns import DTYPES, WIDE, ColumnLayout, Layout, Morsel, PhysicalType
from ringbuffer.pages import log_rows
from ringbuffer.pages.log_rows import (
    COUNTS,
    FLAG_COMMITS,
    HEADER,
    KIND_ROWS,
    MAGIC,
    ROW_FORM,
    ROWS_HEAD,
    ROWS_OFFSET,
    RowRecord,
    decode_rows,
    decode_single_rows,
    encode_rows,
    is_single_row,
)
from ringbuffer.warm_up.decoders import warm_up_decoders
from tests.ringbuffer.damage import refused_damages, refused_flips
from tests.ringbuffer.decode.test_decode_parameters import LAYOUT as PARAMETERS
from tests.ringbuffer.decode.test_decode_parameters import block, random_value
from tests.ringbuffer.decode.test_one_row import one_row
from tests.ringbuffer.memory.test_arrow import LAYOUT, random_rows
from tests.ringbuffer.plain_rows import make_morsel, plain_rows

P = PhysicalType
SEED = 4
FULL_MORSEL = 65_536
# Few columns of every width, so that each byte of some rows can be damaged.
SMALL: Layout = (
    ColumnLayout("small", P.INT16),
    ColumnLayout("flag", P.BOOL),
    ColumnLayout("words", P.TEXT),
    ColumnLayout("number", P.INT32),
    ColumnLayout("other", P.TEXT),
    ColumnLayout("amount", P.NUMERIC, 38, 2),
    ColumnLayout("moment", P.TIMESTAMP),
)
SMALL_ROWS: list[tuple[Any, ...]] = [
    (1, True, "short", -5, "a string that is longer than twelve bytes", 10**30, 7),
    (None, None, None, None, None, None, None),
    (-1, False, "another of the long strings", 0, "", -1, -7),
    (3, True, "exactly 12 b", 9, "thirteen byte", 0, 2**62),
]
STRINGS: Layout = (ColumnLayout("words", P.TEXT),)
NUMBERS = {"sequence": 3, "durable": 4096, "transaction": 12, "time_us": 10**15, "now_us": 10**15 - 5}
OID = 4_000_000_001


def encoded(morsel: Morsel, layout: Layout) -> bytes:
    return b"".join(encode_rows(morsel, layout))


def assert_well_formed(morsel: Morsel, layout: Layout) -> None:
    """Check the rules of columns.py in plain Python; what the bytes of a string mean is not among
    them.
    """
    heap = morsel.heap.tobytes()
    for column, data, nulls in zip(layout, morsel.data, morsel.nulls, strict=True):
        assert data.dtype == DTYPES[column.physical]
        assert data.shape == ((morsel.rows_count, 2) if column.physical in WIDE else (morsel.rows_count,))
        assert data.flags.aligned and data.flags.c_contiguous and data.flags.writeable
        for value, null in zip(data, nulls, strict=True):
            assert null in (0, 1)
            if null:
                assert not np.any(value)
            elif column.physical == P.BOOL:
                assert value in (0, 1)
            elif column.physical == P.TEXT:
                content = value.tobytes()
                length = int.from_bytes(content[:4], "little")
                if length <= 12:
                    assert not any(content[4 + length :])
                else:
                    at = int(value[1])
                    assert 0 <= at <= len(heap) - length
                    assert heap[at : at + 4] == content[4:8]


@pytest.mark.parametrize("rows_count", [0, 1, 2, 7, 300])
def test_round_trip_of_every_type(rows_count: int) -> None:
    rows = random_rows(rows_count, rows_count)
    data = encoded(make_morsel(rows, LAYOUT), LAYOUT)
    for given in (data, memoryview(data), memoryview(b"xyz" + data)[3:]):
        morsel = decode_rows(given, LAYOUT)
        assert plain_rows(morsel, LAYOUT) == rows
        assert_well_formed(morsel, LAYOUT)


@pytest.mark.parametrize("rows_count", [1, 2, 7, 300])
def test_single_rows_are_joined(rows_count: int) -> None:
    rows = random_rows(rows_count, rows_count)
    parts = [encoded(make_morsel([row], LAYOUT), LAYOUT) for row in rows]
    assert all(is_single_row(memoryview(part)) for part in parts)
    morsel = decode_single_rows(parts, LAYOUT)
    assert plain_rows(morsel, LAYOUT) == rows
    assert_well_formed(morsel, LAYOUT)


def test_single_rows_that_are_none() -> None:
    part = encoded(make_morsel([("a string that is longer",)], STRINGS), STRINGS)
    two = encoded(make_morsel([("s",), ("t",)], STRINGS), STRINGS)
    assert not is_single_row(two) and not is_single_row(part[:7])
    outside = bytearray(part)
    # The offset of the long string in its heap.
    outside[COUNTS.size + 8] = 1
    for bad in (part[:-1], part + b"\0", two, part[:20], bytes(outside)):
        with pytest.raises(ValueError, match=r"^a (row|string) "):
            decode_single_rows([part, bad], STRINGS)


@pytest.mark.parametrize("physical", list(P))
def test_round_trip_of_one_column(physical: P) -> None:
    layout: Layout = (ColumnLayout("c", physical, 38, 3),)
    index = [column.physical for column in LAYOUT].index(physical)
    rows = [(row[index],) for row in random_rows(SEED, 50)]
    assert plain_rows(decode_rows(encoded(make_morsel(rows, layout), layout), layout), layout) == rows


def test_round_trip_of_a_full_morsel() -> None:
    rng = np.random.default_rng(SEED)
    layout: Layout = tuple(column for column in SMALL if column.physical not in (P.TEXT, P.BOOL))
    nulls = [(rng.random(FULL_MORSEL) < 0.1).astype(np.uint8) for _ in layout]
    data = []
    for column, column_nulls in zip(layout, nulls, strict=True):
        shape = (FULL_MORSEL, 2) if column.physical in WIDE else (FULL_MORSEL,)
        limits = np.iinfo(DTYPES[column.physical])
        values = rng.integers(limits.min, limits.max, shape, dtype=DTYPES[column.physical])
        values[column_nulls != 0] = 0
        data.append(values)
    morsel = Morsel(FULL_MORSEL, tuple(data), tuple(nulls), np.zeros(0, dtype=np.uint8))
    found = decode_rows(encoded(morsel, layout), layout)
    for one, other in zip((*morsel.data, *morsel.nulls), (*found.data, *found.nulls), strict=True):
        assert np.array_equal(one, other)
    text = make_morsel([("a string that is longer", "s")] * FULL_MORSEL, STRINGS * 2)
    back = decode_rows(encoded(text, STRINGS * 2), STRINGS * 2)
    assert np.array_equal(back.data[0], text.data[0]) and np.array_equal(back.heap, text.heap)
    assert back.rows_count == FULL_MORSEL


def test_pieces_are_the_morsels_own_memory() -> None:
    morsel = make_morsel(SMALL_ROWS, SMALL)
    pieces = encode_rows(morsel, SMALL)
    for array in (*morsel.data, *morsel.nulls, morsel.heap):
        assert any(np.shares_memory(np.frombuffer(piece, dtype=np.uint8), array) for piece in pieces[1:])


def test_a_slice_takes_only_its_own_strings() -> None:
    rows = random_rows(SEED, 60)
    whole = make_morsel(rows, LAYOUT)
    size = len(encoded(whole, LAYOUT))
    parts = [encoded(slice_morsel(whole, start, 4), LAYOUT) for start in range(0, 60, 4)]
    assert sum(map(len, parts)) == size + (len(parts) - 1) * COUNTS.size
    found = [row for part in parts for row in plain_rows(decode_rows(part, LAYOUT), LAYOUT)]
    assert found == rows
    assert len(encoded(slice_morsel(whole, 9, 0), LAYOUT)) == COUNTS.size


def test_columns_that_lie_apart_and_strings_in_any_order() -> None:
    morsel = make_morsel(SMALL_ROWS, SMALL)
    strided = Morsel(
        2, tuple(array[::2] for array in morsel.data), tuple(array[::2] for array in morsel.nulls), morsel.heap
    )
    assert plain_rows(decode_rows(encoded(strided, SMALL), SMALL), SMALL) == SMALL_ROWS[::2]
    reversed_rows = Morsel(
        4, tuple(array[::-1] for array in morsel.data), tuple(array[::-1] for array in morsel.nulls), morsel.heap
    )
    assert plain_rows(decode_rows(encoded(reversed_rows, SMALL), SMALL), SMALL) == SMALL_ROWS[::-1]


def test_damaged_bytes_are_refused_or_still_a_morsel() -> None:
    data = encoded(make_morsel(SMALL_ROWS, SMALL), SMALL)
    assert refused_flips(data, lambda damaged: is_refused(damaged, SMALL), SEED) > len(data)
    for end in range(len(data)):
        with pytest.raises(ValueError, match="rows"):
            decode_rows(data[:end], SMALL)
    with pytest.raises(ValueError, match="rows of"):
        decode_rows(data + b"\0", SMALL)


def test_many_damages_at_once() -> None:
    refused = 0
    for seed in range(30):
        data = encoded(make_morsel(random_rows(seed, 1 + seed % 12), LAYOUT), LAYOUT)
        refused += refused_damages(data, 60, lambda damaged: is_refused(damaged, LAYOUT), seed)
    assert 30 * 60 / 2 < refused < 30 * 60


def is_refused(data: bytes, layout: Layout) -> bool:
    """Tell whether the bytes are refused; if not, they must be a morsel that makes the same trip
    again.
    """
    try:
        morsel = decode_rows(data, layout)
    except ValueError:
        return True
    assert_well_formed(morsel, layout)
    assert_well_formed(decode_rows(encoded(morsel, layout), layout), layout)
    return False


@pytest.mark.parametrize(
    ("words", "null", "problem"),
    [
        ((13, 0), 0, "string"),
        ((int.from_bytes(b"\x0d\0\0\0long", "little"), 0), 0, None),
        ((int.from_bytes(b"\x0d\0\0\0lonG", "little"), 0), 0, "string"),
        ((int.from_bytes(b"\x0d\0\0\0long", "little"), 2), 0, "string"),
        ((int.from_bytes(b"\x0d\0\0\0long", "little"), -1), 0, "string"),
        ((int.from_bytes(b"\x0d\0\0\0long", "little"), -(2**63)), 0, "string"),
        ((int.from_bytes(b"\x0d\0\0\0long", "little"), 2**63 - 1), 0, "string"),
        ((int.from_bytes(b"\xff\xff\xff\x7flong", "little"), 0), 0, "string"),
        ((-1, 0), 0, "string"),
        ((-1, -1), 1, None),
        ((0, 0), 2, "null"),
        ((int.from_bytes(b"\3\0\0\0abcd", "little"), 0), 0, "string"),
        ((int.from_bytes(b"\3\0\0\0abc\0", "little"), 1), 0, "string"),
        ((int.from_bytes(b"\4\0\0\0abcd", "little"), 0), 0, None),
        ((int.from_bytes(b"\5\0\0\0abcd", "little"), 0x101), 0, "string"),
        ((int.from_bytes(b"\x0b\0\0\0abcd", "little"), -1), 0, "string"),
        ((int.from_bytes(b"\x0c\0\0\0abcd", "little"), -1), 0, None),
    ],
)
def test_words_of_a_string(words: tuple[int, int], null: int, problem: str | None) -> None:
    heap = b"long string xy"
    data = COUNTS.pack(1, len(heap)) + np.array(words, dtype=np.int64).tobytes() + bytes([null]) + heap
    if problem is None:
        assert_well_formed(decode_rows(data, STRINGS), STRINGS)
    else:
        with pytest.raises(ValueError, match=rf'^column "words" has a {problem} .* in row 1 of 1$'):
            decode_rows(data, STRINGS)


def test_strings_that_share_their_bytes_beyond_the_heap_are_refused() -> None:
    one = make_morsel([("a string that is longer",)], STRINGS)
    three = Morsel(3, (np.repeat(one.data[0], 3, axis=0),), (np.zeros(3, dtype=np.uint8),), one.heap)
    assert plain_rows(decode_rows(encoded(three, STRINGS), STRINGS), STRINGS) == [("a string that is longer",)] * 3
    data = COUNTS.pack(3, len(one.heap)) + three.data[0].tobytes() + bytes(3) + one.heap.tobytes()
    with pytest.raises(ValueError, match="in row 2 of 3"):
        decode_rows(data, STRINGS)


@pytest.mark.parametrize("counts", [(2**64 - 1, 0), (2**63, 2**63), (0, 16), (1, 2**64 - 17), (2**32, 1)])
def test_counts_that_do_not_fit_the_bytes(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="rows of"):
        decode_rows(COUNTS.pack(*counts) + bytes(17), STRINGS)


def reference_record(morsel: Morsel, layout: Layout) -> bytes:
    payload = ROWS_HEAD.pack(OID, ROW_FORM, len(layout), NUMBERS["now_us"]) + encoded(morsel, layout)
    checked = HEADER.pack(
        0, 0, 0, KIND_ROWS, FLAG_COMMITS, NUMBERS["sequence"], NUMBERS["durable"], NUMBERS["transaction"], NUMBERS["time_us"],
    )[12:] + payload  # fmt: skip
    record = MAGIC.to_bytes(4, "little") + (12 + len(checked)).to_bytes(4, "little")
    record += zlib.crc32(checked).to_bytes(4, "little") + checked
    return record + bytes(-len(record) % 8)


def test_packed_records_are_those_made_in_pieces() -> None:
    buffer = np.full(100_000, 0xEE, dtype=np.uint8)
    for number, row in enumerate(random_rows(SEED, 100)):
        morsel = make_morsel([row], LAYOUT)
        position = 8 * (number % 5)
        size = RowRecord(morsel, LAYOUT, OID).pack(buffer, position, **NUMBERS)
        record = buffer[position : position + size].tobytes()
        assert record == reference_record(morsel, LAYOUT)
        assert buffer[position + size] == 0xEE or number % 5
        length = HEADER.unpack_from(record)[1]
        assert plain_rows(decode_rows(memoryview(record)[ROWS_OFFSET:length], LAYOUT), LAYOUT) == [row]
        buffer[:] = 0xEE


def test_a_row_is_packed_as_it_is_at_that_moment() -> None:
    """The row is filled in place, its heap is larger than its strings."""
    rng = random.Random(SEED)
    row = one_row(PARAMETERS)
    packer = RowRecord(row.morsel, PARAMETERS, OID)
    buffer = np.zeros(8192, dtype=np.uint8)
    codes = np.zeros(len(PARAMETERS), dtype=np.int8)
    packed = 0
    for _ in range(300):
        values = [None if rng.random() < 0.1 else random_value(rng, c.physical)[1].encode() for c in PARAMETERS]
        data = block(*values)
        if row.fill(data, 0, len(data)):
            packed += 1
            size = packer.pack(buffer, 0, **NUMBERS)
            expected = decode_parameters(data, np.zeros(1, dtype=np.int64), codes, PARAMETERS)
            length = HEADER.unpack_from(buffer.data)[1]
            assert 0 <= size - length < 8
            found = decode_rows(buffer[ROWS_OFFSET:length].data, PARAMETERS)
            assert repr(plain_rows(found, PARAMETERS)) == repr(plain_rows(expected, PARAMETERS))
    assert packed > 100


def test_strings_of_a_shared_heap_count_from_the_records_own() -> None:
    rows = [(f"a long string with number {number}",) for number in range(5)]
    morsel = slice_morsel(make_morsel(rows, STRINGS), 3, 1)
    buffer = np.zeros(1024, dtype=np.uint8)
    RowRecord(morsel, STRINGS, OID).pack(buffer, 0, **NUMBERS)
    length = HEADER.unpack_from(buffer.data)[1]
    found = decode_rows(buffer[ROWS_OFFSET:length].data, STRINGS)
    assert plain_rows(found, STRINGS) == rows[3:4]
    assert found.data[0][0][1] == 0 and len(found.heap) == len(rows[3][0])


@pytest.mark.parametrize("row", [SMALL_ROWS[0], SMALL_ROWS[1]])
def test_what_does_not_fit_leaves_the_buffer_alone(row: tuple[Any, ...]) -> None:
    morsel = make_morsel([row], SMALL)
    packer = RowRecord(morsel, SMALL, OID)
    size = len(reference_record(morsel, SMALL))
    for room in range(size):
        buffer = np.full(room + 16, 0xEE, dtype=np.uint8)
        assert packer.pack(buffer, 16, **NUMBERS) == 0
        assert np.all(buffer == 0xEE)
    buffer = np.full(size + 16, 0xEE, dtype=np.uint8)
    assert packer.pack(buffer, 16, **NUMBERS) == size
    assert packer.pack(buffer, size + 17, **NUMBERS) == packer.pack(buffer, -8, **NUMBERS) == 0


def test_form_1_stays_what_it_is() -> None:
    """Bytes as they are on disks; another form needs another ROW_FORM."""
    data = encoded(make_morsel([(1, True, "ab", 2, "thirteen byte", -1, 3)], SMALL), SMALL)
    expected = (
        "0100000000000000 0d00000000000000"  # counts
        "0200000061620000 0000000000000000 0d00000074686972 0000000000000000"  # words, other
        "ffffffffffffffff ffffffffffffffff"  # amount
        "0300000000000000 02000000 0100 01"  # moment, number, small, flag
        "00 00 00 00 00 00 00"  # their nulls
    )
    assert data == bytes.fromhex(expected) + b"thirteen byte"


def test_warm_up_compiles_all_that_the_log_needs() -> None:
    kernels: tuple[Any, ...] = (log_rows.pack_row, log_rows.check_rows, strings.heap_bytes, strings.copy_strings)
    warm_up_decoders()
    before = [len(one.signatures) for one in kernels]
    assert all(before)
    morsel = make_morsel(SMALL_ROWS, SMALL)
    decode_rows(encoded(morsel, SMALL), SMALL)
    decode_rows(encoded(slice_morsel(morsel, 1, 2), SMALL), SMALL)
    RowRecord(slice_morsel(morsel, 0, 1), SMALL, OID).pack(np.zeros(1000, dtype=np.uint8), 0, **NUMBERS)
    assert [len(one.signatures) for one in kernels] == before
