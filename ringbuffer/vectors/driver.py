"""The call of a kernel for a chunk of an engine's vectors: C code that the engine itself calls.

Enters: the engine's call, its chunk of argument vectors, its result vector; and the *slot* of the
function, int64 words: how its vectors are read, and the address of its loop, 0 until the first
call. Leaves: the result vector; or a failure, which goes to `antumbra_fail`. The engine's functions
are symbols here, which the owner of the engine defines. Nothing here holds the interpreter lock,
and any thread of the engine may call. Must not know the engine.

A *block* is what one call knows of its vectors, int64 words as well: those up to ARGUMENTS, and
four for each argument: the addresses of its data, scales and validity, and its scale. The second
part of a struct is where scales are, the third one where the scale is.
"""

from __future__ import annotations

from ringbuffer.compile.jit import external, kernel
from ringbuffer.memory.addresses import call_at, load_word, store_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.memory.error_codes import OUT_OF_MEMORY, SCRATCH_FULL, TEXT_TOO_LONG

W = 8
# Words of a slot, from its address on. A form and a scale for each argument come last.
SLOT_LOOP, SLOT_FUNCTION, SLOT_BYTES_MAX, SLOT_COUNT, SLOT_NUMBER, SLOT_FORM, SLOT_ARGUMENTS = range(0, 7 * W, W)
# Words of a block.
ERROR, RESULT, RESULT_SCALES, RESULT_THIRD, RESULT_VALID, PARTS_VALID = range(0, 6 * W, W)
NUMBER, HEAP, SCRATCH = range(PARTS_VALID + 3 * W, PARTS_VALID + 6 * W, W)
SCRATCH_CAPACITY, SCRATCH_USED, SCRATCH_NEEDED = SCRATCH + W, SCRATCH + 2 * W, SCRATCH + 3 * W
ARGUMENTS = SCRATCH + 4 * W
ARGUMENT_BYTES = 4 * W
# Forms of vectors: one array of values, of 16-byte strings, or a struct of two or three arrays,
# such as an int128 and a scale.
PLAIN, TEXT, PAIR, TRIPLE = range(4)

TEXT_BYTES = 16
HEAP_BYTES = 1 << 16

# The engine's functions of words, by the number of their arguments.
SYMBOLS = {
    "antumbra_slot": 1,
    "antumbra_rows_count": 1,
    "antumbra_argument": 2,
    "antumbra_data": 1,
    "antumbra_validity": 1,
    "antumbra_make_validity": 1,
    "antumbra_part": 2,
    "antumbra_keep_text": 4,
    # Takes the address of a string, what the string names, and the block; returns the address of a
    # zone or of a template's program, or a number, or an error code below zero.
    "antumbra_look_up": 3,
    # Takes a slot, and puts the address of its loop there.
    "antumbra_load": 1,
    # Takes the engine's call, slot, block (0 where there is no room for one) and row; returns 1
    # where the row has a value now.
    "antumbra_fail": 4,
}
slot_of, rows_count_of, argument_of, data_of, validity_of, make_validity, part_of, keep_text, look_up, load, fail = (
    external(name, "int64", *["int64"] * count) for name, count in SYMBOLS.items()
)
allocate, release = external("malloc", "int64", "int64"), external("free", "void", "int64")


@kernel
def run(call: int, chunk: int, result: int) -> int:
    """Compute the result vector of a chunk."""
    slot = slot_of(call)
    if load_word(slot + SLOT_LOOP) == 0:
        load(slot)
    count = load_word(slot + SLOT_COUNT)
    block = allocate(ARGUMENTS + ARGUMENT_BYTES * count)
    if block == 0:
        fail(call, slot, 0, 0)
        return 0
    for index in range(count):
        note_argument(slot, block, argument_of(chunk, index), index)
    note_result(slot, block, result)
    rows_count = rows_count_of(chunk)
    row = run_loop(slot, block, 0, rows_count)
    while row < rows_count and fail(call, slot, block, row) == 1:
        row = run_loop(slot, block, row + 1, rows_count)
    if row == rows_count and load_word(slot + SLOT_FORM) == TEXT:
        row = keep_texts(slot, block, rows_count, result)
        if row < rows_count:
            fail(call, slot, block, row)
    heap = load_word(block + HEAP)
    while heap != 0:
        before = load_word(heap)
        release(heap)
        heap = before
    release(block)
    return 0


@kernel
def note_argument(slot: int, block: int, vector: int, index: int) -> int:
    """Write the addresses of an argument's vector into the block."""
    described = slot + SLOT_ARGUMENTS + 2 * W * index
    place = block + ARGUMENTS + ARGUMENT_BYTES * index
    form, third = load_word(described), load_word(described + W)
    if form >= PAIR:
        store_word(place, data_of(part_of(vector, 0)))
        store_word(place + W, data_of(part_of(vector, 1)))
        third = data_of(part_of(vector, 2)) if form == TRIPLE else third
    else:
        store_word(place, data_of(vector))
        store_word(place + W, 0)
    store_word(place + 2 * W, validity_of(vector))
    store_word(place + 3 * W, third)
    return 0


@kernel
def note_result(slot: int, block: int, result: int) -> int:
    """Write the addresses of the result's vector into the block; it has no scratch heap yet."""
    make_validity(result)
    form = load_word(slot + SLOT_FORM)
    if form >= PAIR:
        for index in range(form - PAIR + 2):
            part = part_of(result, index)
            make_validity(part)
            store_word(block + RESULT + W * index, data_of(part))
            store_word(block + PARTS_VALID + W * index, validity_of(part))
    else:
        store_word(block + RESULT, data_of(result))
    store_word(block + RESULT_VALID, validity_of(result))
    store_word(block + NUMBER, load_word(slot + SLOT_NUMBER))
    for place in (ERROR, HEAP, SCRATCH, SCRATCH_CAPACITY, SCRATCH_USED, SCRATCH_NEEDED):
        store_word(block + place, 0)
    return 0


@kernel
def run_loop(slot: int, block: int, start: int, rows_count: int) -> int:
    """Run the loop from a row on, with as much room for texts as it needs.

    Return `rows_count`, or the row that failed, with its error in the block.
    """
    loop, room = load_word(slot + SLOT_LOOP), load_word(slot + SLOT_BYTES_MAX)
    row: int = call_at(loop, start, rows_count, block)
    while row < rows_count and load_word(block + ERROR) == SCRATCH_FULL:
        # What was made stays where it is until it is kept; room that nobody used does not count.
        room -= load_word(block + SCRATCH_USED)
        needed = load_word(block + SCRATCH_NEEDED)
        if needed > room:
            store_word(block + ERROR, TEXT_TOO_LONG)
            return row
        size = max(needed, HEAP_BYTES)
        heap = allocate(size + W)
        if heap == 0:
            store_word(block + ERROR, OUT_OF_MEMORY)
            return row
        store_word(heap, load_word(block + HEAP))
        store_word(block + HEAP, heap)
        store_word(block + SCRATCH, heap + W)
        store_word(block + SCRATCH_CAPACITY, size)
        store_word(block + SCRATCH_USED, 0)
        row = call_at(loop, row, rows_count, block)
    return row


@kernel
def keep_texts(slot: int, block: int, rows_count: int, result: int) -> int:
    """Let the engine copy all texts that are not inline.

    Return `rows_count`, or the row at which they are too long together.
    """
    texts, room = load_word(block + RESULT), load_word(slot + SLOT_BYTES_MAX)
    for row in range(rows_count):
        length = load_word(texts + TEXT_BYTES * row) & LENGTH_MASK
        if length > INLINE_BYTES_MAX:
            room -= length
            if room < 0:
                store_word(block + ERROR, TEXT_TOO_LONG)
                return row
            keep_text(result, row, load_word(texts + TEXT_BYTES * row + W), length)
    return rows_count
