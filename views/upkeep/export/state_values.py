"""The states of groups as values: one string of bytes for each group, and back.

Enters: group tables, or such strings from anywhere. Leaves: strings as Arrow `binary`, or a table
whose groups may be merged into those of a state. A string is MAGIC with the form, the digest of
what the words mean (16 bytes), the words of the group's row without its hash, the bytes of its long
texts in the order of their words, and the CRC-32 of all that, little endian. The digest covers the
fingerprint of the state and the labels of enums. Strings that come in are checked before anything
is merged (`state_checks`). Must not know SQL's statements, nor files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.groups.aggregates import TEXT_STATES, TOO_LONG, WORDS, State
from ringbuffer.groups.hash_table import HEAP_USED, ROWS_COUNT, GroupTable, Words
from ringbuffer.groups.merge import merge_tables
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from sql import interrupts
from sql.errors import SqlError
from sql.types.datatypes import SqlType
from views.codegen.grouping import Grouping
from views.codegen.values import is_string
from views.upkeep.export.state_checks import refuse_strange
from views.upkeep.program import StreamProgram

MAGIC = b"AST1"
DIGEST_BYTES = 16
HEAD_BYTES = len(MAGIC) + DIGEST_BYTES
CHECKSUM_BYTES = 4
WORD_BYTES = 8
# So many bytes are made or read at once, or one string.
PIECE_BYTES = 1 << 25
# The places of texts in a row, and of the words after them that are the bytes of a place.
Places = tuple[list[int], list[int]]
Bytes = npt.NDArray[np.uint8]


def state_head(program: StreamProgram) -> bytes:
    """Return the first HEAD_BYTES of all states that a stream pipeline makes."""
    kinds = {id(kind): kind for kind in _kinds(program.grouping)}
    enums = sorted({str([(one.number, one.text) for one in kind.enum.labels]) for kind in kinds.values() if kind.enum})
    return MAGIC + hashlib.sha256("\n".join([program.fingerprint, *enums]).encode()).digest()[:DIGEST_BYTES]


def _kinds(grouping: Grouping) -> Iterator[SqlType]:
    for key in grouping.keys:
        yield key.type
    for slot in grouping.aggregates:
        for argument in slot.call.arguments:
            yield argument.type


def states_of_table(table: GroupTable, program: StreamProgram) -> pa.ChunkedArray:
    """Return the state of each group of a table as `binary`, in the order of its rows."""
    grouping, head = program.grouping, state_head(program)
    count, width = table.groups_count, grouping.table.row_words
    texts, rooms = text_places(grouping)
    rows = table.rows[: count * width].reshape(count, width)
    sizes = np.full(count, HEAD_BYTES + WORD_BYTES * (width - 1) + CHECKSUM_BYTES, dtype=np.int64)
    for place in texts:
        sizes += _long_lengths(rows[:, place])
    ends = np.cumsum(sizes)
    chunks, start = [], 0
    while start < count:
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + PIECE_BYTES, side="right")))
        chunks.append(_strings(rows[start:end].copy(), sizes[start:end], table.heap, head, texts, rooms))
        start = end
        interrupts.check()
    return pa.chunked_array(chunks, pa.binary())


def text_places(grouping: Grouping) -> Places:
    """Return where the words of a row are texts, in order, and where the bytes of their places."""
    layout = grouping.table
    texts = [1 + word for word in range(layout.entry_words - 1) if layout.text_mask >> word & 1]
    rooms = []
    for slot in grouping.inputs:
        for state, word in slot.states.items():
            if state in TEXT_STATES:
                texts.append(word)
                if WORDS[state] > 2:
                    rooms.append(word + 2)
    for first in grouping.firsts:
        for value in first.values:
            if is_string(value.expression.type):
                texts += [value.word + number * first.row_words for number in range(max(first.rows_max, 1))]
    return sorted(texts), rooms


def _strings(
    rows: Words, sizes: npt.NDArray[np.int64], heap: Bytes, head: bytes, texts: list[int], rooms: list[int]
) -> pa.Array:
    """Return the states of some rows, which it may change."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    content, words = np.zeros(int(offsets[-1]), dtype=np.uint8), WORD_BYTES * (rows.shape[1] - 1)
    starts = offsets[:-1]
    for room in rooms:
        rows[:, room] = np.where(rows[:, room] == TOO_LONG, TOO_LONG, 0)
    used = np.zeros(len(rows), dtype=np.int64)
    for place in texts:
        lengths = _long_lengths(rows[:, place])
        target = _spread(starts + HEAD_BYTES + words + used, lengths)
        content[target] = heap[_spread(rows[:, place + 1], lengths)]
        rows[lengths > 0, place + 1] = used[lengths > 0]
        used += lengths
    content[starts[:, None] + np.arange(HEAD_BYTES)] = np.frombuffer(head, dtype=np.uint8)
    _pieces(content, starts + HEAD_BYTES, words, np.ascontiguousarray(rows[:, 1:]).view(np.uint8))
    checks = _checksums(content, offsets).reshape(-1, 1).view(np.uint8)
    content[(offsets[1:] - CHECKSUM_BYTES)[:, None] + np.arange(CHECKSUM_BYTES)] = checks
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(rows), buffers)


def _pieces(content: Bytes, starts: npt.NDArray[np.int64], width: int, written: Bytes | None = None) -> Bytes:
    """Write or return `width` bytes from each start, uint8[n, width]."""
    if written is None:
        written = np.empty((len(starts), width), dtype=np.uint8)
        for number, start in enumerate(starts.tolist()):
            written[number] = content[start : start + width]
        return written
    for number, start in enumerate(starts.tolist()):
        content[start : start + width] = written[number]
    return written


def _checksums(content: Bytes, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Return the checksums that strings should end with."""
    view, places = content.data, offsets.tolist()
    sums = [crc32(view[start : end - CHECKSUM_BYTES]) for start, end in pairwise(places)]
    return np.array(sums, dtype="<u4")


def _long_lengths(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many bytes of a heap each of some texts has."""
    lengths = words & LENGTH_MASK
    return np.where(lengths > INLINE_BYTES_MAX, lengths, 0)


def _spread(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the indexes of all bytes of pieces."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def table_of_states(values: pa.Array, program: StreamProgram) -> GroupTable:
    """Return a table of groups with their states, which are those of `program`'s head.

    values: `binary` without NULLs. States of equal groups are merged. Raises SqlError 22023 for
    bytes that are no state.
    """
    grouping = program.grouping
    found = GroupTable(grouping.table)
    start = 0
    while start < len(values):
        end, size = start, 0
        while end < len(values) and (end == start or size + len(values[end].as_buffer()) <= PIECE_BYTES):
            size += len(values[end].as_buffer())
            end += 1
        source = _read(values[start:end], grouping, start)
        merge_tables(found, source, program.merge_steps)
        start = end
        interrupts.check()
    return found


def _read(values: pa.Array, grouping: Grouping, first: int) -> GroupTable:
    """Return some states as the rows of a table that nobody can look up. first: the number of the
    first one.
    """
    _, places, data = values.buffers()
    offsets = np.frombuffer(places, dtype=np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    width, starts = grouping.table.row_words, offsets[:-1]
    words = WORD_BYTES * (width - 1)
    rests = np.diff(offsets) - (HEAD_BYTES + words + CHECKSUM_BYTES)
    _require(rests >= 0, first, "it is too short")
    written = _pieces(content, offsets[1:] - CHECKSUM_BYTES, CHECKSUM_BYTES).view("<u4").reshape(-1)
    _require(written == _checksums(content, offsets), first, "it does not have its checksum")
    count = len(values)
    table = GroupTable(grouping.table, max(count, 1))
    rows = table.rows[: count * width].reshape(count, width)
    rows[:, 1:] = _pieces(content, starts + HEAD_BYTES, words).view("<i8")
    table.grow_heap(int(rests.sum()))
    table.heap[: int(rests.sum())] = content[_spread(starts + HEAD_BYTES + words, rests)]
    table.control[ROWS_COUNT], table.control[HEAP_USED] = count, int(rests.sum())
    base, used = np.cumsum(rests) - rests, np.zeros(count, dtype=np.int64)
    texts, rooms = text_places(grouping)
    for place in texts:
        lengths = _long_lengths(rows[:, place])
        at = rows[:, place + 1]
        _require((lengths == 0) | ((at == used) & (lengths <= rests - used)), first, "its texts are not where they are")
        rows[:, place + 1] = np.where(lengths > 0, at + base, at)
        used += lengths
    _require(used == rests, first, "it has more bytes than texts")
    for room in rooms:
        _require((rows[:, room] == 0) | (rows[:, room] == TOO_LONG), first, "a place of it is wrong")
    for place in texts:
        _settle_text(rows, place, table.heap)
    refuse_strange(table, grouping, lambda fine, problem: _require(fine, first, problem))
    return table


def _settle_text(rows: Words, place: int, heap: Bytes) -> None:
    """Write the words of texts as all texts have them: zeros after a short one, the first four
    bytes of a long one beside its length.
    """
    lengths = rows[:, place] & LENGTH_MASK
    is_long = lengths > INLINE_BYTES_MAX
    if is_long.any():
        firsts = heap[rows[is_long, place + 1][:, None] + np.arange(4)].view("<u4").reshape(-1).astype(np.uint64)
        rows[is_long, place] = (firsts << np.uint64(32) | lengths[is_long].astype(np.uint64)).view(np.int64)
    short = ~is_long
    both = np.ascontiguousarray(rows[short, place : place + 2]).view(np.uint8)
    both[np.arange(16) >= 4 + lengths[short][:, None]] = 0
    rows[short, place : place + 2] = both.view(np.int64)


def _require(fine: npt.NDArray[np.bool_], first: int, problem: str) -> None:
    """Raise 22023 for the first state that is not fine."""
    if not fine.all():
        number = first + int(np.argmin(fine)) + 1
        raise SqlError("22023", f"row {number} is no state of a group", detail=f"Its bytes were changed: {problem}.")


def zeroed(table: GroupTable, grouping: Grouping, before: int) -> GroupTable:
    """Return a copy of a table in which only aggregates of the generations from `before` on have
    counted anything.
    """
    copied = table.copy()
    rows = copied.rows[: copied.groups_count * grouping.table.row_words].reshape(-1, grouping.table.row_words)
    for number, slot in enumerate(grouping.inputs):
        if slot.generation < before:
            rows[:, slot.count_word] = 0
            for state, word in slot.states.items():
                rows[:, word : word + WORDS[State(state)]] = 0
            for first in grouping.firsts:
                if first.input == number:
                    rows[:, first.mask_word : first.mask_word + first.words] = 0
    return copied
