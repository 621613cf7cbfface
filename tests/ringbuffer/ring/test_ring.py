"""The ring against a list of rows: wrap-around, both string buffers, concurrent writers,
overwritten reads.
"""

from __future__ import annotations

import random
import threading
import zlib
from collections.abc import Iterable

import pytest

from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.memory.columns import ColumnLayout, Morsel, PhysicalType
from ringbuffer.ring.ring import OverwrittenError, Ring, RowWriter
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
    with pytest.raises(OverwrittenError):
        ring.read(ring.oldest_tid - 1, 1)
    with pytest.raises(ValueError):
        ring.read(len(rows) - 1, 2)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_column_may_be_one_value_for_all_rows(seed: int) -> None:
    rng = random.Random(seed)
    ring = Ring((*LAYOUT, ColumnLayout("time", PhysicalType.TIMESTAMP)), 64)
    rows: list[Row] = []
    for number in range(60):
        new = [make_row(rng, 0, number) for _ in range(rng.choice((1, 1, 2, 7, 64, 65, 200)))]
        if rng.random() < 0.5:
            ring.append(make_morsel(new, LAYOUT), number)
            rows += [(*row, number) for row in new]
        else:
            rows += [(*row, 1000 + index) for index, row in enumerate(new)]
            ring.append(make_morsel(rows[-len(new) :], ring.layout), number)
        assert plain_rows(ring.read(ring.oldest_tid, len(rows) - ring.oldest_tid), ring.layout) == rows[-64:]


def test_appends_slices_with_their_own_strings_only() -> None:
    rows = [(0, number, "long string " * number, number, None) for number in range(20)]
    whole = make_morsel(rows, LAYOUT)
    ring = Ring(LAYOUT, 8)
    for start in range(20):
        ring.append(slice_morsel(whole, start, 1))
    assert plain_rows(ring.read(12, 8), LAYOUT) == rows[12:]
    assert ring.bytes_count < 20_000


@pytest.mark.turns(6)
@pytest.mark.slow
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


def restored(capacity: int, tuples_count: int, pieces: Iterable[tuple[int, Morsel]]) -> Ring:
    ring = Ring(LAYOUT, capacity)
    ring.restore(tuples_count, pieces)
    return ring


@pytest.mark.parametrize("seed", range(8))
def test_a_restored_ring_goes_on_like_the_one_before(seed: int) -> None:
    rng = random.Random(seed)
    capacity = rng.choice((1, 2, 8, 64))
    rows = [
        make_row(rng, 0, number) for number in range(rng.choice((0, 1, capacity, 3 * capacity, rng.randrange(300))))
    ]
    ring = Ring(LAYOUT, capacity)
    for start in range(0, len(rows), 7):
        ring.append(make_morsel(rows[start : start + 7], LAYOUT))
    below = rng.randrange(ring.oldest_tid, len(rows) + 1)
    size = rng.choice((1, 3, 1000))
    again = restored(capacity, below, ring.tail(below, size))
    oldest = max(0, len(rows) - capacity)
    assert (again.tuples_count, again.newest_tid, again.oldest_tid) == (below, below - 1, oldest)
    assert plain_rows(again.read(oldest, below - oldest), LAYOUT) == rows[oldest:below]
    if oldest > 0:
        with pytest.raises(OverwrittenError):
            again.read(oldest - 1, 1)
    # What was not there at the position comes again.
    for start in range(below, len(rows), 5):
        again.append(make_morsel(rows[start : start + 5], LAYOUT))
    assert again.oldest_tid == ring.oldest_tid
    assert plain_rows(again.read(oldest, len(rows) - oldest), LAYOUT) == rows[oldest:]
    for _ in range(30):
        new = [make_row(rng, 0, 0) for _ in range(rng.choice((1, 5, 100)))]
        rows += new
        again.append(make_morsel(new, LAYOUT))
        oldest = again.oldest_tid
        assert plain_rows(again.read(oldest, len(rows) - oldest), LAYOUT) == rows[oldest:]


def test_a_row_writer_made_before_the_restoring_writes_to_the_restored_ring() -> None:
    rows = [(0, number, "long string " * number, number, None) for number in range(12)]
    ring = Ring(LAYOUT, 8)
    row = make_morsel([(1, 2, "short", 3, None)], LAYOUT)
    writer = RowWriter(ring, row)
    whole = make_morsel(rows, LAYOUT)
    ring.restore(12, [(8, slice_morsel(whole, 8, 4)), (5, slice_morsel(whole, 5, 3))])
    writer.append()
    assert ring.oldest_tid == 5
    assert plain_rows(ring.read(5, 8), LAYOUT) == [*rows[5:], (1, 2, "short", 3, None)]


def test_a_ring_whose_tuples_were_all_overwritten_goes_on_counting() -> None:
    ring = restored(8, 1000, [])
    assert (ring.tuples_count, ring.oldest_tid, ring.newest_tid) == (1000, 1000, 999)
    assert ring.append(make_morsel([(0, 1, "a", 2, "b")], LAYOUT)) == 1000
    with pytest.raises(OverwrittenError):
        ring.read(999, 2)
    assert ring.oldest_tid == 1000


def test_tuples_that_do_not_fit_are_not_restored() -> None:
    whole = make_morsel([(0, number, "text", number, None) for number in range(20)], LAYOUT)
    piece = slice_morsel(whole, 0, 4)
    other = make_morsel([(1,)], LAYOUT[:1])
    wrong: list[tuple[int, list[tuple[int, Morsel]]]] = [
        (20, [(15, piece)]),
        (20, [(16, piece), (11, piece)]),
        (20, [(0, whole)]),
        (2, [(-2, piece)]),
        (20, [(19, other)]),
        (20, [(16, Morsel(4, piece.data, piece.nulls[:4], piece.heap))]),
        (20, [(15, Morsel(5, piece.data, piece.nulls, piece.heap))]),
    ]
    for tuples_count, pieces in wrong:
        with pytest.raises(ValueError, match="tuples"):
            restored(8, tuples_count, pieces)


def test_the_tail_while_writers_go_on() -> None:
    """Pieces that are handed out adjoin, are whole, and end where they were asked to, whatever was
    overwritten before it.
    """
    ring = Ring(LAYOUT, 256)
    done = threading.Event()
    rng = random.Random(5)
    batches = [[make_row(rng, 0, batch * 10 + index) for index in range(10)] for batch in range(40)]

    def write() -> None:
        number = 0
        while not done.is_set():
            ring.append(make_morsel(batches[number % 40], LAYOUT))
            number += 1

    def whole(tid: int, row: Row) -> bool:
        return row == batches[tid // 10 % 40][tid % 10]

    writer = threading.Thread(target=write)
    writer.start()
    counts: list[int] = []
    try:
        while len(counts) < 200:
            below = end = ring.tuples_count
            if below < ring.capacity:
                continue
            for first, morsel in ring.tail(below, rng.choice((16, 100, 256))):
                assert first + morsel.rows_count == end
                assert all(whole(first + index, row) for index, row in enumerate(plain_rows(morsel, LAYOUT)))
                end = first
            counts.append(below - end)
    finally:
        done.set()
        writer.join(timeout=60)
    assert max(counts) > 0
