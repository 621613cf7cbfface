"""The loop of a kernel over vectors in memory, without an engine."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int64
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ringbuffer.compile.loader import load_c_function
from ringbuffer.memory.error_codes import FIELD_ZERO, OK, SCRATCH_FULL
from ringbuffer.vectors import driver
from ringbuffer.vectors.loops import FUNCTION, Loop

SPLIT = Loop("texts.text_functions.text_split_part", ("TEXT", "TEXT", "INT32"), "TEXT")
REPEAT = Loop("texts.text_functions.text_repeat", ("TEXT", "INT32"), "TEXT")
ROWS = 70


def inline(text: bytes) -> list[int]:
    """Return the words of a short string."""
    words = np.frombuffer(len(text).to_bytes(4, "little") + text.ljust(12, b"\0"), np.int64)
    return [int(word) for word in words]


class Call:
    """A block with its vectors."""

    def __init__(self, loop: Loop, folder: Path, columns: list[npt.NDArray[Any]]) -> None:
        self.columns = columns
        self.result = np.zeros((ROWS, 2), np.int64)
        self.valid = np.full(2, -1, np.int64)
        self.given = np.full((len(columns), 2), -1, np.int64)
        self.block = np.zeros(driver.ARGUMENTS // 8 + 4 * len(columns), np.int64)
        self.block[driver.RESULT // 8] = self.result.ctypes.data
        self.block[driver.RESULT_VALID // 8] = self.valid.ctypes.data
        for index, column in enumerate(columns):
            place = driver.ARGUMENTS // 8 + 4 * index
            self.block[place] = column.ctypes.data
            self.block[place + 2] = self.given[index].ctypes.data
        address = load_c_function(folder, loop.name, loop.text, FUNCTION, 3)
        self._run = CFUNCTYPE(c_int64, c_int64, c_int64, c_int64)(address)

    def run(self, start: int = 0) -> int:
        """Return the row at which the loop stopped."""
        return int(self._run(start, ROWS, self.block.ctypes.data))

    @property
    def error(self) -> int:
        return int(self.block[driver.ERROR // 8])


def texts(value: bytes) -> npt.NDArray[Any]:
    return np.array([inline(value)] * ROWS, np.int64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loops")


def test_a_null_gives_a_null_and_other_rows_their_value(folder: Path) -> None:
    fields = np.full(ROWS, 2, np.int32)
    call = Call(SPLIT, folder, [texts(b"ab,cd"), texts(b","), fields])
    call.given[0, 0] &= ~(1 << 3)
    call.given[2, 1] &= ~1
    fields[3] = fields[64] = 0
    assert (call.run(), call.error) == (ROWS, OK)
    nulls = [row for row in range(ROWS) if not call.valid[row >> 6] >> (row & 63) & 1]
    assert nulls == [3, 64]
    assert [list(words) for words in call.result[[0, 69]]] == [inline(b"cd")] * 2


def test_a_loop_stops_at_the_row_that_fails(folder: Path) -> None:
    fields = np.full(ROWS, 1, np.int32)
    fields[5] = 0
    call = Call(SPLIT, folder, [texts(b"ab,cd"), texts(b","), fields])
    assert (call.run(), call.error) == (5, FIELD_ZERO)


def test_a_loop_goes_on_with_more_room(folder: Path) -> None:
    call = Call(REPEAT, folder, [texts(b"abcdefgh"), np.full(ROWS, 4, np.int32)])
    heaps = [np.zeros(40 * 32, np.uint8), np.zeros(40 * 32, np.uint8)]
    assert (call.run(), call.error) == (0, SCRATCH_FULL)
    row = 0
    for heap, stop in zip(heaps, (40, ROWS), strict=True):
        words = (driver.SCRATCH, driver.SCRATCH_CAPACITY, driver.SCRATCH_USED)
        for word, value in zip(words, (heap.ctypes.data, len(heap), 0), strict=True):
            call.block[word // 8] = value
        row = call.run(row)
        assert row == stop
    assert bytes(heaps[1][-32 * 10 - 32 : -32 * 10]) == b"abcdefgh" * 4
    assert call.result[69, 1] == heaps[1].ctypes.data + 29 * 32
