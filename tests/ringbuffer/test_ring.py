"""The ring against a list of rows: wrap-around, both string buffers, concurrent writers, overwritten reads."""

from __future__ import annotations

import random
import threading
import zlib

import pytest

from ringbuffer.arrow import slice_morsel
from ringbuffer.columns import ColumnLayout, PhysicalType
from ringbuffer.ring import OverwrittenError, Ring
from tests.ringbuffer.plain_rows import Row, make_morsel, plain_rows

LAYOUT = (
    ColumnLayout("writer", PhysicalType.INT32),
    ColumnLayout("number", PhysicalType.INT64),
    ColumnLayout("words", PhysicalType.TEXT),
    ColumnLayout("amount", PhysicalType.NUMERIC, 38, 2),
    ColumnLayout("other", PhysicalType.TEXT),
)


def make_row(rng: random.Random, writer: int, number: int) -> Row:
    words = (
        None
        if rng.random() < 0.1
        else "".join(chr(rng.choice((97, 233, 8364))) for _ in range(rng.choice((0, 3, 12, 13, 40, 300))))
    )
    return writer, number, words, rng.randrange(-(10**37), 10**37), "x" * rng.randrange(0, 30)


@pytest.mark.parametrize("seed", range(6))
def test_keeps_the_last_rows(seed: int) -> None:
    rng = random.Random(seed)
    ring = Ring(LAYOUT, 64)
    rows: list[Row] = []
    for number in range(60):
        new = [make_row(rng, 0, number) for _ in range(rng.choice((1, 1, 2, 7, 40, 64, 65, 200)))]
        assert ring.append(make_morsel(new, LAYOUT)) == len(rows)
        rows += new
        assert ring.newest_tid == len(rows) - 1
        assert ring.oldest_tid == max(0, len(rows) - 64)
        first = rng.randrange(ring.oldest_tid, len(rows))
        count = rng.randrange(0, len(rows) - first + 1)
        assert plain_rows(ring.read(first, count), LAYOUT) == rows[first : first + count]
    assert ring.tuples_count == len(rows)
    assert ring.rounds_count == -(-len(rows) // 64)
    with pytest.raises(OverwrittenError):
        ring.read(ring.oldest_tid - 1, 1)
    with pytest.raises(ValueError):
        ring.read(len(rows) - 1, 2)


def test_appends_slices_with_their_own_strings_only() -> None:
    rows = [(0, number, "long string " * number, number, None) for number in range(20)]
    whole = make_morsel(rows, LAYOUT)
    ring = Ring(LAYOUT, 8)
    for start in range(20):
        ring.append(slice_morsel(whole, start, 1))
    assert plain_rows(ring.read(12, 8), LAYOUT) == rows[12:]
    assert ring.bytes_count < 20_000


@pytest.mark.parametrize(("capacity", "writers_count"), [(64, 2), (256, 4), (4096, 3)])
def test_writers_in_parallel(capacity: int, writers_count: int) -> None:
    ring = Ring(LAYOUT, capacity)
    sums = [0] * writers_count
    firsts: list[dict[int, int]] = [{} for _ in range(writers_count)]
    done = threading.Event()

    def write(writer: int) -> None:
        rng = random.Random(writer)
        for number in range(60):
            rows = [make_row(rng, writer, number * 1000 + index) for index in range(rng.choice((1, 5, 300, 700)))]
            sums[writer] += len(rows)
            firsts[writer][ring.append(make_morsel(rows, LAYOUT))] = zlib.crc32(repr(rows).encode())

    seen = []

    def read() -> None:
        while not done.is_set():
            first = max(ring.oldest_tid, ring.newest_tid - 20)
            try:
                rows = plain_rows(ring.read(first, ring.newest_tid + 1 - first), LAYOUT)
            except (OverwrittenError, ValueError):
                continue
            seen.extend(rows[-1:])

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers_count)]
    reader = threading.Thread(target=read)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    done.set()
    reader.join(timeout=60)
    assert ring.tuples_count == sum(sums)
    starts = sorted((first, crc) for found in firsts for first, crc in found.items())
    ends = [first for first, _ in starts[1:]] + [ring.tuples_count]
    checked = 0
    for (first, crc), end in zip(starts, ends, strict=True):
        if first >= ring.oldest_tid:
            rows = plain_rows(ring.read(first, end - first), LAYOUT)
            assert len({row[0] for row in rows}) == 1
            assert zlib.crc32(repr(rows).encode()) == crc
            checked += 1
    assert checked > 0 or capacity <= 256
