"""Join tables: the immutable build sides that stream kernels probe, from key words to matching
rows.

A table is two arrays. `index` is a header and slots; the first word of a slot is 0 or (first row <<
32 | rows) of a key, because the rows of one key lie one after the other. `rows`, int64[(rows + 1) *
row_words], holds per row a mask of its NULL columns and the words of the columns; the last row is
all NULL, for a miss of an outer join. A single integer key whose values are dense is an address. If
each such key has one row, the address is that of the row itself, and the slots are bits, which stay
in the nearest cache. Other keys are hashed, and their words lie beside the first word of the slot:
a probe touches one cache line, a match one or two more.

Key words are those of an entry of a group table: a text counts its offset from the address of a
heap. Must not know SQL or views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import inlined_kernel, kernel, sized_kernel
from ringbuffer.groups.aggregates import NAN_KEY
from ringbuffer.groups.hash_table import HASH_SEED, HEAP_ADDRESS, Words, equal_entries, hash_entry, mix
from ringbuffer.memory.addresses import float_from_bits, prefetch
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.numbers.int128 import signed_word, unsigned_word
from ringbuffer.scalar.numbers.numeric import numeric_normalise
from ringbuffer.scalar.texts.compared_bytes import stored_key
from ringbuffer.scalar.texts.text_functions import ADDRESS, USED, ScratchHeap

Array = npt.NDArray[Any]
from_bits: Any = float_from_bits

# Words of the header.
KIND = 0
BASE = 1
SIZE = 2
NULL_ROW = 3
HEADER_WORDS = 8

HASHED = 0  # SIZE is the mask of slots
DENSE = 1  # BASE is the smallest key, SIZE the slots
UNIQUE = 2  # the same, but a slot is one bit, and row i is that of key BASE + i

HALF_MASK = 0xFFFFFFFF
WORD_BITS = 64
WORD_SHIFT = 6
WORD_MASK = WORD_BITS - 1
ROWS_MAX = 2**31 - 2
# How many rows ahead a kernel prefetches: the misses of one row then pass while others are worked
# on.
ROWS_AHEAD = 16
COLUMNS_MAX = 63  # bits of the mask of NULLs
KEY_ROOM = 64  # bytes of scratch for a key, at first
SLOTS_MIN = 16
# A dense table may have so many slots per row, or so many at all where rows are few.
DENSE_SLOTS_PER_ROW_MAX = 4
DENSE_SLOTS_ALWAYS = 4096


class KeyForm(StrEnum):
    """How a key is compared: as a word, a float's word, a text, a decimal of one scale, or of any
    scale.
    """

    WORD = "word"
    FLOAT = "float"
    TEXT = "text"
    DECIMAL = "decimal"
    NUMBER = "number"


KEY_WORDS: dict[KeyForm, int] = {
    KeyForm.WORD: 1,
    KeyForm.FLOAT: 1,
    KeyForm.TEXT: 2,
    KeyForm.DECIMAL: 2,
    KeyForm.NUMBER: 3,
}


@dataclass(frozen=True, slots=True)
class BuildColumn:
    """A column of the build side, in the forms of `memory.columns`.

    Attributes:
        scales: int16[n] of a decimal whose scale varies, otherwise None.
    """

    data: Array
    nulls: npt.NDArray[np.uint8]
    scale: int = 0
    scales: Array | None = None


class JoinTable:
    """The arrays of one build side.

    Attributes:
        keys_count: distinct keys.
        rows_count: rows whose keys are not NULL.
    """

    def __init__(
        self, index: Words, rows: Words, heap: npt.NDArray[np.uint8], rows_count: int, keys_count: int
    ) -> None:
        self.index = index
        self.rows = rows
        self.heap = heap
        self.rows_count = rows_count
        self.keys_count = keys_count
        index[HEAP_ADDRESS] = heap.ctypes.data

    @property
    def bytes_count(self) -> int:
        """Bytes of memory that the table holds."""
        return self.index.nbytes + self.rows.nbytes + self.heap.nbytes

    @property
    def is_dense(self) -> bool:
        """True where keys are addresses."""
        return int(self.index[KIND]) != HASHED


def build_join_table(
    rows_count: int,
    columns: Sequence[BuildColumn],
    keys: Sequence[tuple[BuildColumn, KeyForm]],
    heap: npt.NDArray[np.uint8],
) -> JoinTable:
    """Return the join table of some rows by their keys; without keys every row matches.

    columns: what a match yields, of `rows_count` rows; heap: the bytes of their long texts.
    """
    assert len(columns) <= COLUMNS_MAX and rows_count <= ROWS_MAX
    known = np.ones(rows_count, dtype=np.bool_)
    for column, _ in keys:
        known &= column.nulls == 0
    kept = np.flatnonzero(known)
    heap = np.ascontiguousarray(heap) if len(heap) else np.zeros(1, dtype=np.uint8)
    words = [word[kept] for column, form in keys for word in key_words(column, form)]
    positions = np.arange(len(kept), dtype=np.int64)
    if not keys:
        index, keys_count = np.zeros(HEADER_WORDS, dtype=np.int64), 0
    elif [form for _, form in keys] == [KeyForm.WORD] and _is_dense(words[0]):
        index, keys_count = _dense_index(words[0], positions)
    else:
        forms = [form for _, form in keys]
        index, keys_count = _hashed_index(np.column_stack(words), text_mask(forms), heap.ctypes.data, positions)
    places_count = int(index[SIZE]) if index[KIND] == UNIQUE else len(kept)
    index[NULL_ROW] = places_count
    return JoinTable(index, _payload(columns, kept, positions, places_count), heap, len(kept), keys_count)


def keyed_column(column: BuildColumn, form: int, heap: npt.NDArray[np.uint8]) -> tuple[BuildColumn, Array]:
    """Return the keys of a column of strings in a form of compared_bytes.py, and the heap with
    their bytes at its end.
    """
    scratch = ScratchHeap(len(heap) + KEY_ROOM * len(column.data))
    keys = np.zeros((len(column.data), 2), dtype=np.int64)
    nulls = np.ascontiguousarray(column.nulls)
    while not write_keys(form, np.ascontiguousarray(column.data), nulls, heap.ctypes.data, scratch.words, keys):
        scratch.grow()
    long = (keys[:, 0] & LENGTH_MASK) > INLINE_BYTES_MAX
    # Their addresses become offsets in the common heap.
    keys[long, 1] += len(heap) - int(scratch.words[ADDRESS])
    return replace(column, data=keys), np.concatenate([heap, scratch.heap[: int(scratch.words[USED])]])


@kernel
def write_keys(form: int, data: Array, nulls: Array, heap: int, scratch: Array, keys: Array) -> bool:
    """Write the keys of strings int64[n, 2] to keys int64[n, 2], by absolute addresses; False where
    the scratch heap is too small.
    """
    for row in range(len(data)):
        if nulls[row] == 0:
            w0, w1, _, error = stored_key(form, data[row, 0], data[row, 1], heap, scratch)
            if error != OK:
                return False
            keys[row, 0] = w0
            keys[row, 1] = w1
    return True


def key_words(column: BuildColumn, form: KeyForm) -> list[Array]:
    """Return the words by which the values of a key column are compared, int64[n] each."""
    data = column.data
    if form is KeyForm.FLOAT:
        values = data.astype(np.float64)
        words = np.where(values == 0.0, 0.0, values).view(np.int64)
        return [np.where(np.isnan(values), np.int64(NAN_KEY), words)]
    if form is KeyForm.NUMBER:
        scales = np.full(len(data), column.scale, dtype=np.int16) if column.scales is None else column.scales
        normal = np.zeros((len(data), 3), dtype=np.int64)
        normalise(np.ascontiguousarray(data), np.ascontiguousarray(scales), normal)
        return [normal[:, 0], normal[:, 1], normal[:, 2]]
    return value_words(BuildColumn(data, column.nulls))


def value_words(column: BuildColumn) -> list[Array]:
    """Return the words that keep the values of a column, int64[n] each; a float is its 64 bits."""
    data = column.data
    words = [data[:, 0], data[:, 1]] if data.ndim == 2 else [data]
    if data.dtype.kind == "f":
        words = [data.astype(np.float64).view(np.int64)]
    if column.scales is not None:
        words.append(column.scales)
    return [word.astype(np.int64) for word in words]


def row_words(columns_words: Sequence[int]) -> int:
    """Return how many words a row has whose columns have so many words each.

    One word more is for the mask of NULLs; a row of no columns has no words.
    """
    return 1 + sum(columns_words) if columns_words else 0


def text_mask(forms: Sequence[KeyForm]) -> int:
    """Return the mask with bit i set where key words i and i + 1 are a text."""
    mask = place = 0
    for form in forms:
        mask |= (form is KeyForm.TEXT) << place
        place += KEY_WORDS[form]
    return mask


def _is_dense(keys: Array) -> bool:
    if not len(keys):
        return False
    slots_count = int(keys.max()) - int(keys.min()) + 1
    return slots_count <= max(DENSE_SLOTS_PER_ROW_MAX * len(keys), DENSE_SLOTS_ALWAYS)


def _dense_index(keys: Array, positions: Words) -> tuple[Words, int]:
    """Return the index of dense keys and how many distinct keys it has.

    positions[i] becomes the place of row i.
    """
    base = int(keys.min())
    slots_count = int(keys.max()) - base + 1
    present = np.zeros(slots_count + -slots_count % WORD_BITS, dtype=np.bool_)
    present[keys - base] = True
    if int(present.sum()) == len(keys):
        bits = np.packbits(present, bitorder="little").view(np.int64)
        index = np.concatenate([np.zeros(HEADER_WORDS, dtype=np.int64), bits])
        index[KIND], index[BASE], index[SIZE] = UNIQUE, base, slots_count
        positions[:] = keys - base
        return index, len(keys)
    index = np.zeros(HEADER_WORDS + slots_count, dtype=np.int64)
    index[KIND], index[BASE], index[SIZE] = DENSE, base, slots_count
    return index, place_rows(index, 1, np.ascontiguousarray(keys - base + HEADER_WORDS), positions)


def _hashed_index(keys: Array, mask: int, heap: int, positions: Words) -> tuple[Words, int]:
    count, words_count = keys.shape
    slots_count = SLOTS_MIN
    while slots_count < 2 * count:
        slots_count *= 2
    index = np.zeros(HEADER_WORDS + slots_count * (1 + words_count), dtype=np.int64)
    index[KIND], index[SIZE] = HASHED, slots_count - 1
    # The place of the header's heap is known already while keys are compared.
    index[HEAP_ADDRESS] = heap
    slots = np.zeros(count, dtype=np.int64)
    flat = np.ascontiguousarray(keys).reshape(-1)
    if words_count == 1:
        enter_words(index, flat, slots)
    else:
        enter_entries(index, flat, words_count, mask, slots)
    return index, place_rows(index, 1 + words_count, slots, positions)


def _payload(columns: Sequence[BuildColumn], kept: Array, positions: Words, places_count: int) -> Words:
    """Return the words of the rows at their places, and after them the row of NULLs."""
    words = [value_words(column) for column in columns]
    width = row_words([len(column) for column in words])
    rows = np.zeros((places_count + 1, width), dtype=np.int64)
    if not width:
        return np.zeros(1, dtype=np.int64)
    place = 1
    for bit, (column, column_words) in enumerate(zip(columns, words, strict=True)):
        rows[positions, 0] |= column.nulls[kept].astype(np.int64) << bit
        for word in column_words:
            rows[positions, place] = word[kept]
            place += 1
    rows[-1, 0] = (1 << len(columns)) - 1
    return rows.reshape(-1)


@kernel
def normalise(values: Words, scales: Array, normal: Words) -> None:
    """Write decimals without trailing zeros to `normal` int64[n, 3]: (lo, hi, scale).

    The decimals are int64[n, 2] and their scales int16[n].
    """
    for row in range(values.shape[0]):
        lo, hi, scale = numeric_normalise(values[row, 0], values[row, 1], signed_word(scales[row]))
        normal[row, 0] = lo
        normal[row, 1] = hi
        normal[row, 2] = scale


@kernel
def enter_words(index: Words, keys: Words, slots: Words) -> None:
    """Enter keys int64[n] of one word into an empty index.

    slots[i] becomes the place in the index where the slot of row i begins; the first word of a slot
    becomes the number of its rows.
    """
    mask = index[SIZE]
    for row in range(len(keys)):
        slot = hash_word(keys[row]) & mask
        at = HEADER_WORDS + 2 * slot
        while index[at] != 0 and index[at + 1] != keys[row]:
            slot = (slot + 1) & mask
            at = HEADER_WORDS + 2 * slot
        index[at] += 1
        index[at + 1] = keys[row]
        slots[row] = at


@kernel
def enter_entries(index: Words, keys: Words, words_count: int, texts: int, slots: Words) -> None:
    """Enter keys int64[n * words_count] into an empty index, as `enter_words` does for keys of one
    word.
    """
    mask = index[SIZE]
    heap = index[HEAP_ADDRESS]
    for row in range(len(slots)):
        start = row * words_count
        slot = hash_entry(keys, start, heap, words_count, texts) & mask
        at = HEADER_WORDS + (1 + words_count) * slot
        while index[at] != 0 and not equal_entries(index, at + 1, heap, keys, start, heap, words_count, texts):
            slot = (slot + 1) & mask
            at = HEADER_WORDS + (1 + words_count) * slot
        index[at] += 1
        for word in range(words_count):
            index[at + 1 + word] = keys[start + word]
        slots[row] = at


@kernel
def place_rows(index: Words, slot_words: int, slots: Words, positions: Words) -> int:
    """Give each row its place, and return how many distinct keys there are.

    slots: int64[n], where in `index` the slot of each row begins; positions[i] becomes the place of
    row i. The first word of a slot becomes (first row << 32 | rows). Rows of one key keep their
    order; keys are in the order of their slots.
    """
    if slot_words == 1:
        for row in range(len(slots)):
            index[slots[row]] += 1
    keys_count = 0
    first = 0
    for at in range(HEADER_WORDS, len(index), slot_words):
        count = index[at]
        if count != 0:
            # The rows placed so far are counted in the lower half.
            index[at] = first << 32
            first += count
            keys_count += 1
    for row in range(len(slots)):
        match = index[slots[row]]
        positions[row] = (match >> 32) + (match & HALF_MASK)
        index[slots[row]] = match + 1
    return keys_count


@kernel
def hash_word(key: int) -> int:
    """Return the hash of a key of one word."""
    mixed: int = signed_word(mix(HASH_SEED, key))
    return mixed


@inlined_kernel
def probe_word(index: Words, key: int) -> tuple[int, int]:
    """Return (first, end) of the rows whose only key word is `key`."""
    if index[KIND] != HASHED:
        slot = key - index[BASE]
        # A key below the base is far above all slots when read without sign.
        if unsigned_word(slot) >= unsigned_word(index[SIZE]):
            return 0, 0
        if index[KIND] == UNIQUE:
            return slot, slot + ((index[HEADER_WORDS + (slot >> WORD_SHIFT)] >> (slot & WORD_MASK)) & 1)
        match = index[HEADER_WORDS + slot]
    else:
        mask = index[SIZE]
        slot = hash_word(key) & mask
        match = index[HEADER_WORDS + 2 * slot]
        while match != 0 and index[HEADER_WORDS + 2 * slot + 1] != key:
            slot = (slot + 1) & mask
            match = index[HEADER_WORDS + 2 * slot]
    first = match >> 32
    return first, first + (match & HALF_MASK)


@inlined_kernel
def prefetch_word(index: Words, rows: Words, key: int, width: int) -> None:
    """Begin to load the memory that a later `probe_word` of `key` reads first.

    width: words of a row.
    """
    if index[KIND] == HASHED:
        prefetch(signed_word(index.ctypes.data) + 8 * (HEADER_WORDS + 2 * (hash_word(key) & index[SIZE])))
    elif index[KIND] == UNIQUE:
        prefetch(signed_word(rows.ctypes.data) + 8 * width * (key - index[BASE]))
    else:
        prefetch(signed_word(index.ctypes.data) + 8 * (HEADER_WORDS + key - index[BASE]))


@sized_kernel
def probe_entry(index: Words, source: Words, start: int, words_count: int, texts: int) -> tuple[int, int]:
    """Return (first, end) of the rows whose key words equal those of a source.

    The words are source[start : start + words_count], in which texts have absolute addresses.
    """
    mask = index[SIZE]
    heap = index[HEAP_ADDRESS]
    slot = hash_entry(source, start, 0, words_count, texts) & mask
    at = HEADER_WORDS + (1 + words_count) * slot
    while index[at] != 0 and not equal_entries(index, at + 1, heap, source, start, 0, words_count, texts):
        slot = (slot + 1) & mask
        at = HEADER_WORDS + (1 + words_count) * slot
    first = index[at] >> 32
    return first, first + (index[at] & HALF_MASK)


@kernel
def word_float(word: int) -> float:
    """Return the float with these bits."""
    value: float = from_bits(unsigned_word(word))
    return value
