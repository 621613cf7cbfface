"""The registers of a HyperLogLog as a state: a string of REGISTERS bytes in the heap of the table,
none before the first value. Two states merge into the larger of each two registers, in any order.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, Words, store_text
from ringbuffer.memory.addresses import load_byte, load_int32, signed_word, store_byte
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.scalar.texts.sketches import CELL_SHIFT, REGISTERS

RANK_MASK = (1 << CELL_SHIFT) - 1


@kernel
def registers_room(rows: Words, at: int) -> int:
    """Return how many bytes of the heap it takes to note a value."""
    return 0 if rows[at] != 0 else REGISTERS


@kernel
def note_cell(control: Words, rows: Words, at: int, cell: int) -> None:
    """Note the cell of a value. The heap of the table has `registers_room`."""
    if rows[at] == 0:
        begin = control[HEAP_USED]
        for register in range(REGISTERS):
            store_byte(control[HEAP_ADDRESS] + begin + register, 0)
        control[HEAP_USED] = begin + REGISTERS
        rows[at], rows[at + 1] = REGISTERS, begin
    address = control[HEAP_ADDRESS] + rows[at + 1]
    register, rank = cell >> CELL_SHIFT, cell & RANK_MASK
    if signed_word(load_byte(address + register)) < rank:
        store_byte(address + register, rank)
        rows[at] = first_word(address)


@kernel
def merge_registers(control: Words, rows: Words, at: int, w0: int, theirs: int) -> None:
    """Add the registers of a state that has seen values: a string whose bytes are at an address.
    The heap of the table has room for them.
    """
    if rows[at] == 0:
        rows[at], rows[at + 1] = w0, store_text(control, REGISTERS, theirs)
        return
    ours = control[HEAP_ADDRESS] + rows[at + 1]
    for register in range(REGISTERS):
        rank = load_byte(theirs + register)
        if load_byte(ours + register) < rank:
            store_byte(ours + register, signed_word(rank))
    rows[at] = first_word(ours)


@kernel
def first_word(address: int) -> int:
    """Return the first word of the string: its length, and beside it its first four bytes."""
    word: int = (signed_word(load_int32(address)) & LENGTH_MASK) << 32 | REGISTERS
    return word
