"""Memory comes back when nobody can reach it any more, not before; and what it holds then does
nobody any harm.
"""

from __future__ import annotations

import gc
import random
import threading
import weakref

import numpy as np
import pytest

from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.kept_memory import PIECE_BYTES_MIN, KeptMemory, kept_memory
from ringbuffer.ring import ring as ring_module
from ringbuffer.ring.ring import Ring
from tests.ringbuffer.plain_rows import Row, make_morsel, plain_rows

SIZE = 3 * PIECE_BYTES_MIN
WHOLE = 4 * PIECE_BYTES_MIN
LAYOUT = (
    ColumnLayout("number", PhysicalType.INT64),
    ColumnLayout("text", PhysicalType.TEXT),
    ColumnLayout("time", PhysicalType.TIMESTAMP),
)


def test_is_used_again_when_the_last_view_is_gone() -> None:
    memory = KeptMemory(10 * WHOLE)
    array = memory.take(SIZE)
    address = array.ctypes.data
    assert len(array) == SIZE and memory.bytes_count == 0
    array[:] = 7
    view = np.ndarray((10, 2), np.int64, array, 160)
    reader = view[3:].data
    del array, view
    assert memory.bytes_count == 0
    other = memory.take(SIZE)
    assert other.ctypes.data != address
    other[:] = 8
    assert reader.tobytes() == b"\7" * 112
    del reader
    assert memory.bytes_count == WHOLE
    assert memory.take(2 * SIZE).ctypes.data != address
    assert memory.take(WHOLE).ctypes.data == address


def test_keeps_no_more_than_it_may() -> None:
    memory = KeptMemory(2 * WHOLE)
    arrays = [memory.take(SIZE) for _ in range(5)]
    assert len({array.ctypes.data for array in arrays}) == 5
    arrays.clear()
    assert memory.bytes_count == 2 * WHOLE
    array = memory.take(SIZE)
    memory.bytes_max = 0
    del array
    assert memory.bytes_count == WHOLE


def test_small_pieces_are_not_kept() -> None:
    memory = KeptMemory(WHOLE)
    assert len(memory.take(0)) == 0
    assert len(memory.take(PIECE_BYTES_MIN - 1)) == PIECE_BYTES_MIN - 1
    assert memory.bytes_count == 0


def test_arrays_that_go_while_the_lock_is_held() -> None:
    memory = KeptMemory(10 * WHOLE)
    array = memory.take(SIZE)
    with memory._lock:
        del array
    assert memory.bytes_count == WHOLE


def test_many_threads_never_have_the_same_memory() -> None:
    memory = KeptMemory(4 * WHOLE)
    failures: list[int] = []

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(200):
            array = memory.take(rng.choice((PIECE_BYTES_MIN, SIZE)))
            array[:64] = number
            array[-64:] = number
            if (array[:64] != number).any() or (array[-64:] != number).any():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert 0 < memory.bytes_count <= 4 * WHOLE


@pytest.fixture
def dirty(monkeypatch: pytest.MonkeyPatch) -> KeptMemory:
    """Rings get memory that is full of something."""

    class DirtyMemory(KeptMemory):
        def take(self, size: int) -> np.ndarray:
            array = super().take(size)
            array[:] = 0xA5
            return array

    memory = DirtyMemory(1 << 30)
    monkeypatch.setattr(ring_module, "kept_memory", memory)
    return memory


@pytest.mark.parametrize("capacity", [4, 1 << 17])
def test_a_ring_has_nothing_of_what_was_there(dirty: KeptMemory, capacity: int) -> None:
    ring = Ring(LAYOUT, capacity)
    rows: list[Row] = [(None if n % 3 else n, None if n % 2 else "x" * n, n) for n in range(10)]
    for row in rows:
        with_time = bool(row[2] % 2)
        layout = LAYOUT if with_time else LAYOUT[:2]
        ring.append(make_morsel([row[: len(layout)]], layout), int(row[2]))
    kept = min(capacity, 10)
    assert plain_rows(ring.read(10 - kept, kept), LAYOUT) == rows[-kept:]


def test_a_ring_gives_its_memory_back_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        ring = Ring(LAYOUT, 1 << 20)
        ring.append(make_morsel([(1, "a long text of some bytes", 2)], LAYOUT))
        place, before = ring.string_room.place, kept_memory.bytes_count
        assert place.tid == 1
        gone = weakref.ref(ring)
        del ring
        assert gone() is None
        assert kept_memory.bytes_count >= before + (8 + 16 + 8 + 2) * (1 << 20)
    finally:
        gc.enable()


def test_a_reader_keeps_the_strings_of_its_round(dirty: KeptMemory) -> None:
    rows: list[Row] = [(n, f"{n:04} " + "y" * (1 << 14), 0) for n in range(1 << 7)]
    ring = Ring(LAYOUT, 1 << 6)
    ring.append(make_morsel(rows[:64], LAYOUT))
    held = ring._strings[0]
    content = held.tobytes()
    for start in (64, 0, 64, 0):
        ring.append(make_morsel(rows[start : start + 64], LAYOUT))
    assert held.tobytes() == content
    assert plain_rows(ring.read(256, 64), LAYOUT) == rows[:64]


def test_a_string_buffer_grows_to_what_its_round_will_need() -> None:
    ring = Ring(LAYOUT, 1 << 16)
    rows: list[Row] = [(n, "a text of thirty-two bytes in all", 0) for n in range(4096)]
    morsel = make_morsel(rows, LAYOUT)
    sizes = set()
    for _ in range(16):
        ring.append(morsel)
        sizes.add(ring.string_bytes_counts[0])
    assert len(sizes) < 4
    assert 33 << 16 <= ring.string_bytes_counts[0] <= 2 * (33 << 16)
    assert plain_rows(ring.read((1 << 16) - 4096, 4096), LAYOUT) == rows
