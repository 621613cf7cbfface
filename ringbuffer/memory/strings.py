"""Kernels over whole columns of 16-byte strings: bytes in the heap, copies into another heap.

Enter: words int64[n, 2] (see columns) and the heap uint8[n] that they point into. A string of at
most 12 bytes lies in its words and needs no heap. Must not know rings or morsels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import copy_bytes, signed_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

# int64[n, 2] and uint8[n]; elements are Any, because in compiled code they are machine integers and
# no classes of numpy.
Words = npt.NDArray[Any]
Heap = npt.NDArray[Any]


@kernel
def heap_bytes(words: Words) -> int:
    """Return the bytes that the strings need in a heap, each with its own copy."""
    total = 0
    for row in range(words.shape[0]):
        length = words[row, 0] & LENGTH_MASK
        if length > INLINE_BYTES_MAX:
            total += length
    return total


@kernel
def copy_strings(words: Words, heap: Heap, target: Words, target_heap: Heap, at: int) -> int:
    """Copy strings to target int64[n, 2]; return the bytes of the target's heap used after `at`.

    The bytes of long strings go to target_heap[at:], which has room for them.
    """
    source_address = heap.ctypes.data
    target_address = target_heap.ctypes.data
    first = at
    for row in range(words.shape[0]):
        word = words[row, 0]
        target[row, 0] = word
        length = word & LENGTH_MASK
        if length > INLINE_BYTES_MAX:
            copy_bytes(target_address + at, source_address + words[row, 1], length)
            target[row, 1] = at
            at += length
        else:
            target[row, 1] = words[row, 1]
    return at - first


@kernel
def copy_shifted(words: Words, target: Words, distance: int) -> None:
    """Copy strings to target int64[n, 2], whose long strings lie `distance` bytes further on in its
    heap.
    """
    for row in range(words.shape[0]):
        word = words[row, 0]
        target[row, 0] = word
        target[row, 1] = words[row, 1] + (distance if word & LENGTH_MASK > INLINE_BYTES_MAX else 0)


@kernel
def shift_strings(words: Words, distance: int) -> None:
    """Add `distance` to the offsets of long strings, in place."""
    for row in range(words.shape[0]):
        if words[row, 0] & LENGTH_MASK > INLINE_BYTES_MAX:
            words[row, 1] += distance


@kernel
def strings_from_offsets(
    offsets: npt.NDArray[np.int32], data: Heap, nulls: Heap, words: Words, heap: Heap, at: int
) -> int:
    """Convert Arrow's strings to words int64[n, 2]; return the bytes of the heap used after `at`.

    Arrow's layout is offsets int32[n + 1] into data. A NULL has zero words.
    """
    data_address = data.ctypes.data
    heap_address = heap.ctypes.data
    first = at
    for row in range(words.shape[0]):
        start = signed_word(offsets[row])
        length = signed_word(offsets[row + 1]) - start
        words[row, 0] = 0
        words[row, 1] = 0
        if nulls[row] != 0:
            continue
        low = 0
        for index in range(min(length, 4)):
            low |= signed_word(data[start + index]) << (32 + 8 * index)
        words[row, 0] = length | low
        if length > INLINE_BYTES_MAX:
            copy_bytes(heap_address + at, data_address + start, length)
            words[row, 1] = at
            at += length
        else:
            high = 0
            for index in range(4, length):
                high |= signed_word(data[start + index]) << (8 * (index - 4))
            words[row, 1] = high
    return at - first


@kernel
def string_offsets(words: Words, offsets: npt.NDArray[np.int32]) -> int:
    """Return the bytes of all strings, -1 when they are over 2 GiB.

    offsets: int32[n + 1], gets the place where each string starts.
    """
    total = 0
    offsets[0] = 0
    for row in range(words.shape[0]):
        total += words[row, 0] & LENGTH_MASK
        if total > 0x7FFFFFFF:
            return -1
        offsets[row + 1] = total
    return total


@kernel
def string_bytes(words: Words, heap: Heap, offsets: npt.NDArray[np.int32], data: Heap) -> None:
    """Write the bytes of the strings one after the other to `data`, each at its offset."""
    heap_address = heap.ctypes.data
    data_address = data.ctypes.data
    for row in range(words.shape[0]):
        length = words[row, 0] & LENGTH_MASK
        start = signed_word(offsets[row])
        if length > INLINE_BYTES_MAX:
            copy_bytes(data_address + start, heap_address + words[row, 1], length)
            continue
        for index in range(min(length, 4)):
            data[start + index] = np.uint8((words[row, 0] >> (32 + 8 * index)) & 0xFF)
        for index in range(4, length):
            data[start + index] = np.uint8((words[row, 1] >> (8 * (index - 4))) & 0xFF)
