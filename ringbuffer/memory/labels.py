"""The labels of an enum type, to numbers for decoders and back for encoders.

All other code knows the values of an enum as numbers. Enters: labels and their numbers. Leaves: for
kernels a hash table in memory, of which they need the address alone; for encoders whole columns of
labels. Words of the table: its slots less one; for each slot the bytes of a label (-1: none), where
they begin, and its number; then the bytes of all labels. Must not know where the numbers come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import inlined_kernel
from ringbuffer.memory.addresses import load_byte, load_word
from ringbuffer.memory.error_codes import INVALID_TEXT, OK

SLOT_BYTES = 24
HASH_FACTOR = 31
HASH_MASK = 0x7FFFFFFF
NO_LABEL = -1


class Labels:
    """The labels of one type in the order of their numbers.

    Attributes:
        oid: of the type; arrays in binary form have it for their elements.
    """

    def __init__(self, oid: int, numbers: Sequence[int], texts: Sequence[str]) -> None:
        self.oid = oid
        self._numbers = np.array(numbers, dtype=np.int64)
        self._texts = pa.array(texts, pa.string())

    def texts_of(self, numbers: pa.Array) -> pa.Array:
        """Return the labels of a column of numbers; NULL stays NULL."""
        values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        places = np.searchsorted(self._numbers, values)
        return self._texts.take(pa.array(places, mask=numbers.is_null().to_numpy(zero_copy_only=False)))

    @cached_property
    def table(self) -> npt.NDArray[np.int64]:
        """The hash table for `label_number`."""
        texts = [text.encode() for text in self._texts.to_pylist()]
        slots_count = 1 << (2 * len(texts)).bit_length()
        words = np.zeros(1 + 3 * slots_count, dtype=np.int64)
        slots = words[1:].reshape(slots_count, 3)
        words[0] = slots_count - 1
        slots[:, 0] = NO_LABEL
        start = words.nbytes
        for text, number in zip(texts, self._numbers.tolist(), strict=True):
            slot = label_hash(text) & (slots_count - 1)
            while slots[slot, 0] != NO_LABEL:
                slot = (slot + 1) & (slots_count - 1)
            slots[slot] = (len(text), start, number)
            start += len(text)
        data = b"".join(texts)
        return np.concatenate([words, np.frombuffer(data.ljust((len(data) + 7) // 8 * 8, b"\0"), dtype=np.int64)])


class LabelFamily(str):
    """The family of an enum, or of arrays of it, for encoders: 'enum' or 'enum[]', with the
    labels.
    """

    labels: Labels


def label_family(labels: Labels, is_array: bool) -> LabelFamily:
    """Return the family of an enum's values, or of arrays of them."""
    family = LabelFamily("enum[]" if is_array else "enum")
    family.labels = labels
    return family


def label_hash(text: bytes) -> int:
    """Return the hash by which `label_number` finds a label."""
    found = 0
    for byte in text:
        found = (found * HASH_FACTOR + byte) & HASH_MASK
    return found


@inlined_kernel
def label_number(table: int, buffer: npt.NDArray[Any], start: int, end: int) -> tuple[int, int]:
    """Return (number, error) of the label buffer[start:end].

    table: the address of `Labels.table`; buffer: uint8[n].
    """
    found = 0
    for at in range(start, end):
        found = (found * HASH_FACTOR + buffer[at]) & HASH_MASK
    mask = load_word(table)
    slot = found & mask
    while True:
        entry = table + 8 + slot * SLOT_BYTES
        size = load_word(entry)
        if size == NO_LABEL:
            return 0, INVALID_TEXT
        if size == end - start:
            first = table + load_word(entry + 8)
            same = 0
            while same < size and load_byte(first + same) == buffer[start + same]:
                same += 1
            if same == size:
                return load_word(entry + 16), OK
        slot = (slot + 1) & mask
