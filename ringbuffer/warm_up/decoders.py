"""Compiling of decoders, ring and log rows before the first client waits: seconds once, then half a
second.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ringbuffer.decode.bind_runs import find_binds
from ringbuffer.decode.copy_binary import SIGNATURE, BinaryDecoder
from ringbuffer.decode.copy_formats import CsvDecoder, TextDecoder
from ringbuffer.decode.json_texts import jsonb_texts, one_text
from ringbuffer.decode.literals import LiteralDecoder
from ringbuffer.decode.one_row import OneRow
from ringbuffer.decode.parameters import decode_parameters
from ringbuffer.memory.arrow import compact_morsel, concat_morsels, morsel_from_arrow, morsel_to_arrow
from ringbuffer.memory.checksums import crc32_of, joined_crc32
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.stored_values import bytes_of, values_of
from ringbuffer.pages.log_rows import RowRecord, decode_rows, encode_rows
from ringbuffer.pages.packed_rows import pack_rows
from ringbuffer.ring.ring import Ring, RowWriter
from ringbuffer.ring.string_room import string_sizes
from ringbuffer.scalar.numbers.assigned import assigned

LAYOUT: Layout = (ColumnLayout("number", PhysicalType.INT32), ColumnLayout("text", PhysicalType.TEXT))
NUMERIC = ColumnLayout("numeric", PhysicalType.NUMERIC, 6, 2)
RECORD_BYTES = 256
LONG_TEXT = b"longer than an inline string"


def warm_up_decoders() -> None:
    """Compile or load every kernel between a client's bytes, the ring and the log.

    The caller calls before other threads decode.
    """
    find_binds(b"B\0\0\0\0\0" + bytes(64), 0)
    LiteralDecoder(LAYOUT).decode(b"(1, 'a')", 0)
    parameters = b"\0\0\0\1" + b"1" + len(LONG_TEXT).to_bytes(4, "big") + LONG_TEXT
    morsel = decode_parameters(parameters, np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int8), LAYOUT)
    for decoder, line in ((TextDecoder(LAYOUT), b"1\ta\n"), (CsvDecoder(LAYOUT), b"1,a\n")):
        decoder.feed(line)
    BinaryDecoder(LAYOUT, (False, True)).feed(SIGNATURE + bytes(8) + b"\0\2\0\0\0\4\0\0\0\1\xff\xff\xff\xff")
    jsonb_texts(pa.array(["1"], pa.string()))
    one_text()
    lists = pa.array([["a"]])
    values_of(bytes_of(lists), lists.type)
    string_sizes(morsel, (1,))
    ring = Ring(LAYOUT, 8)
    ring.append(morsel)
    nulls = decode_parameters(b"\xff" * 8, np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int8), LAYOUT)
    for kind in (np.int64, np.float64):
        assigned(np.zeros(1, dtype=kind), NUMERIC, 0)
    row = OneRow(LAYOUT, (0, 0), nulls, (0, 1))
    row.fill(parameters, 0, len(parameters))
    row.fill_literals(b"(1, 'a')", 0)
    RowWriter(ring, row.morsel).append()
    record = RowRecord(row.morsel, LAYOUT, 0)
    record.pack(np.zeros(RECORD_BYTES, dtype=np.uint8), 0, 1, 0, 1, 0, 0)
    joined_crc32(crc32_of(morsel.heap.ctypes.data, len(morsel.heap)), 0, 1)
    decode_rows(b"".join(encode_rows(morsel, LAYOUT)), LAYOUT)
    decode_rows(pack_rows(morsel, LAYOUT), LAYOUT)
    ring.read(0, 1)
    morsel_from_arrow(morsel_to_arrow(morsel, LAYOUT), LAYOUT)
    compact_morsel(concat_morsels([morsel, morsel], LAYOUT), LAYOUT)
