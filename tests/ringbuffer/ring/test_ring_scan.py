"""Scans of a ring: what they see, where they begin, and that no writer who comes round makes them
return a wrong row.
"""

from __future__ import annotations

import random
import threading
import time
import zlib

import pytest

from ringbuffer.memory.columns import ColumnLayout, Morsel, PhysicalType
from ringbuffer.ring.ring import OverwrittenError, Ring
from ringbuffer.ring.scan import RingScan
from tests.ringbuffer.plain_rows import Row, make_morsel, plain_rows

# The checksum of a row is over its number and its text.
LAYOUT = (
    ColumnLayout("number", PhysicalType.INT64),
    ColumnLayout("words", PhysicalType.TEXT),
    ColumnLayout("checksum", PhysicalType.INT64),
)
EVERY = (0, 1, 2)
WORK_S = 1.5


def make_row(number: int, text: str) -> Row:
    return number, text, zlib.crc32(f"{number} {text}".encode())


def is_right(row: Row) -> bool:
    return make_row(int(str(row[0])), str(row[1])) == row


def morsel_of(first: int, count: int, length: int = 20) -> Morsel:
    return make_morsel([make_row(first + index, "x" * (length + index % 7)) for index in range(count)], LAYOUT)


def all_rows(scan: RingScan, ring: Ring, rows_max: int = 100) -> list[Row]:
    """Return the rows that are there now."""
    rows: list[Row] = []
    below_tid = ring.tuples_count
    while (morsel := scan.take(below_tid, rows_max)) is not None:
        rows += plain_rows(morsel, LAYOUT)
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_a_scan_goes_from_the_oldest_to_what_has_come(seed: int) -> None:
    rng = random.Random(seed)
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, rng.randrange(200)))
    oldest, count = ring.oldest_tid, ring.tuples_count
    scan = RingScan(ring, EVERY)
    rows = all_rows(scan, ring, rng.randrange(1, 80))
    assert [row[0] for row in rows] == list(range(oldest, count)) and all(map(is_right, rows))
    assert scan.take(ring.tuples_count) is None
    ring.append(morsel_of(count, 10))
    assert [row[0] for row in all_rows(scan, ring)] == list(range(count, count + 10))


def test_a_scan_from_the_newest_sees_what_comes_later() -> None:
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, 30))
    scan = RingScan(ring, EVERY, from_newest=True)
    assert scan.take(ring.tuples_count) is None
    ring.append(morsel_of(30, 5))
    assert [row[0] for row in all_rows(scan, ring)] == list(range(30, 35))


def test_a_scan_ends_below_a_tid() -> None:
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, 30))
    scan = RingScan(ring, EVERY)
    morsel = scan.take(20)
    assert morsel is not None and morsel.rows_count == 20
    assert scan.take(20) is None


def test_only_the_columns_asked_for_are_copied() -> None:
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, 3))
    morsel = RingScan(ring, (1,)).take(3)
    assert morsel is not None and len(morsel.data) == 1
    assert plain_rows(morsel, (LAYOUT[1],)) == [("x" * 20,), ("x" * 21,), ("x" * 22,)]
    morsel = RingScan(ring, (2, 0)).take(3)
    assert morsel is not None and len(morsel.heap) == 0
    assert plain_rows(morsel, (LAYOUT[2], LAYOUT[0]))[1] == (make_row(1, "x" * 21)[2], 1)
    morsel = RingScan(ring, ()).take(3)
    assert morsel is not None and morsel.rows_count == 3 and morsel.data == ()


def test_a_scan_that_was_overtaken_says_so_and_one_that_has_not_begun_begins_later() -> None:
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, 64))
    begun, waiting = RingScan(ring, EVERY), RingScan(ring, EVERY)
    assert begun.take(64, 10) is not None
    ring.append(morsel_of(64, 30))
    with pytest.raises(OverwrittenError):
        begun.take(94, 10)
    assert [row[0] for row in all_rows(waiting, ring)] == list(range(30, 94))


def test_when_all_that_was_there_is_gone_the_answer_is_not_that_nothing_was() -> None:
    ring = Ring(LAYOUT, 64)
    ring.append(morsel_of(0, 64))
    scan = RingScan(ring, EVERY)
    ring.append(morsel_of(64, 64))
    with pytest.raises(OverwrittenError):
        scan.take(64)


def read_while_written(ring: Ring, lengths: tuple[int, ...]) -> tuple[int, int, int]:
    """Scan again and again while two writers go round; return the rows read, the wrong ones, and
    the scans that were overtaken.

    lengths: of the texts, or a few bytes more. They change, so that a text in another one's place
    has another checksum.
    """
    ends = threading.Event()
    lock = threading.Lock()
    next_number = 0

    def write(seed: int) -> None:
        nonlocal next_number
        rng = random.Random(seed)
        while not ends.is_set():
            count = rng.choice((1, 3, 300, 700))
            with lock:
                first, next_number = next_number, next_number + count
            ring.append(morsel_of(first, count, rng.choice(lengths)))

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(2)]
    for writer in writers:
        writer.start()
    read = wrong = overtaken = 0
    end_s = time.monotonic() + WORK_S
    while time.monotonic() < end_s:
        scan = RingScan(ring, EVERY)
        try:
            for row in all_rows(scan, ring, 256):
                read += 1
                wrong += not is_right(row)
        except OverwrittenError:
            overtaken += 1
        except (AssertionError, UnicodeDecodeError):
            wrong += 1
    ends.set()
    for writer in writers:
        writer.join()
    return read, wrong, overtaken


@pytest.mark.slow
def test_no_scan_returns_a_wrong_row_while_writers_come_round() -> None:
    read, wrong, overtaken = read_while_written(Ring(LAYOUT, 1024), (0, 9, 40, 300, 1000))
    assert read > 1000 and wrong == 0
    assert overtaken > 0


@pytest.mark.slow
def test_without_the_check_for_overwriting_there_would_be_wrong_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: Ring, first_tid: int) -> None:
        return

    monkeypatch.setattr(Ring, "_check_kept", never)
    # Short texts lie in the slots: those of the string buffers would be looked for anywhere in
    # memory.
    _, wrong, _ = read_while_written(Ring(LAYOUT, 1024), (0, 3, 5))
    assert wrong > 0
