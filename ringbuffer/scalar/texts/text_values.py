"""Strings inside kernels: three words (w0, w1, heap), for comparison, hashing and measuring.

w0 and w1 are those of columns.py, heap is the address from which the offset of a string over 12
bytes counts. Functions that make strings return heap 0 and an absolute address as w1, so parts of
long strings need no copy. The owners of the bytes keep them alive. The order is that of the bytes
(the C collation), characters are those of UTF-8, which the decoders checked. Must not allocate.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import I64, load_byte
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.scalar.numbers.int128 import unsigned_word, words_intrinsic

I8 = ir.IntType(8)
I32 = ir.IntType(32)
POINTER = I8.as_pointer()

reserve_stack: Any = cgutils.alloca_once
insert_function: Any = cgutils.get_or_insert_function
copy_memory: Any = cgutils.raw_memcpy
fill_array: Any = populate_array
is_inline: Any = ir.Constant(I64, INLINE_BYTES_MAX)


def build_address(builder: Any, words: Any) -> list[Any]:
    """Emit the address of the bytes of (w0, w1, heap): short strings are laid out on the stack."""
    room = reserve_stack(builder, I64, size=2)
    prefix = builder.lshr(words[0], ir.Constant(I64, 32))
    builder.store(prefix, builder.bitcast(room, I64.as_pointer()), align=1)
    place = builder.bitcast(builder.gep(builder.bitcast(room, POINTER), [ir.Constant(I64, 4)]), I64.as_pointer())
    builder.store(words[1], place, align=1)
    short = builder.icmp_unsigned("<=", builder.and_(words[0], ir.Constant(I64, LENGTH_MASK)), is_inline)
    return [builder.select(short, builder.ptrtoint(room, I64), builder.add(words[1], words[2]))]


def build_text(builder: Any, words: Any) -> list[Any]:
    """Emit (w0, w1) of (address, length): up to 12 bytes are copied into the words."""
    address, length = words
    room = reserve_stack(builder, I64, size=2)
    builder.store(ir.Constant(I64, 0), builder.gep(room, [ir.Constant(I64, 0)]))
    builder.store(ir.Constant(I64, 0), builder.gep(room, [ir.Constant(I64, 1)]))
    short = builder.icmp_unsigned("<=", length, is_inline)
    copied = builder.select(short, length, ir.Constant(I64, 4))
    start = builder.bitcast(room, POINTER)
    copy_memory(builder, start, builder.inttoptr(address, POINTER), copied, 1)
    prefix = builder.zext(builder.load(builder.bitcast(room, I32.as_pointer()), align=4), I64)
    tail = builder.load(builder.bitcast(builder.gep(start, [ir.Constant(I64, 4)]), I64.as_pointer()), align=4)
    return [
        builder.or_(length, builder.shl(prefix, ir.Constant(I64, 32))),
        builder.select(short, tail, address),
    ]


def build_compare(builder: Any, words: Any) -> list[Any]:
    """Emit the C library's memcmp of (address, address, length)."""
    form = ir.FunctionType(I32, [POINTER, POINTER, I64])
    compare = insert_function(builder.module, form, "memcmp")
    pointers = [builder.inttoptr(word, POINTER) for word in words[:2]]
    return [builder.sext(builder.call(compare, [*pointers, words[2]]), I64)]


# (w0, w1, heap) -> address of the bytes. It is good in the calling function only, and until the
# same call is reached again.
text_address: Any = words_intrinsic(3, 1, build_address)
# (address, length in bytes) -> (w0, w1) with heap 0; a long string stays where it is.
make_text: Any = words_intrinsic(2, 2, build_text)
# (address, address, length) -> below, equal to or above 0
compare_bytes: Any = words_intrinsic(3, 1, build_compare)
swap_bytes: Any = words_intrinsic(1, 1, lambda builder, w: [builder.bswap(w[0])])


@kernel
def text_octet_length(w0: int, w1: int, heap: int) -> int:
    """Return the length in bytes."""
    return w0 & LENGTH_MASK


@kernel
def text_char_length(w0: int, w1: int, heap: int) -> int:
    """Return the length in characters."""
    address = text_address(w0, w1, heap)
    return count_chars(address, w0 & LENGTH_MASK)


@kernel
def count_chars(address: int, length: int) -> int:
    """Return the characters of some bytes: those bytes that don't continue one."""
    count = 0
    for i in range(length):
        if load_byte(address + i) & 0xC0 != 0x80:
            count += 1
    return count


@kernel
def skip_chars(address: int, length: int, count: int) -> int:
    """Return the bytes of the first `count` characters, or `length` if there are fewer."""
    i = 0
    while i < length:
        if load_byte(address + i) & 0xC0 != 0x80:
            if count <= 0:
                return i
            count -= 1
        i += 1
    return length


@kernel
def text_equal(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> bool:
    """Return whether two strings are the same bytes.

    The first words have the length and four bytes, so most differ there.
    """
    if a0 != b0:
        return False
    length = a0 & LENGTH_MASK
    if length <= INLINE_BYTES_MAX:
        return a1 == b1
    same: bool = compare_bytes(a1 + aheap, b1 + bheap, length) == 0
    return same


@kernel
def text_compare(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Return -1, 0 or 1 in the order of bytes."""
    a_prefix = unsigned_word(swap_bytes(a0 & ~LENGTH_MASK))
    b_prefix = unsigned_word(swap_bytes(b0 & ~LENGTH_MASK))
    # The first four bytes, the first one highest; a shorter string has zeros there.
    if a_prefix != b_prefix:
        return -1 if a_prefix < b_prefix else 1
    return compare_rest(a0, a1, aheap, b0, b1, bheap)


@kernel
def compare_rest(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Compare all bytes, then lengths."""
    a_address = text_address(a0, a1, aheap)
    b_address = text_address(b0, b1, bheap)
    a_length = a0 & LENGTH_MASK
    b_length = b0 & LENGTH_MASK
    order = compare_bytes(a_address, b_address, min(a_length, b_length))
    if order == 0:
        order = a_length - b_length
    if order == 0:
        return 0
    return -1 if order < 0 else 1


@kernel
def text_starts_with(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> bool:
    """Return whether the first string begins with the second."""
    length = b0 & LENGTH_MASK
    if length > a0 & LENGTH_MASK:
        return False
    a_address = text_address(a0, a1, aheap)
    b_address = text_address(b0, b1, bheap)
    same: bool = compare_bytes(a_address, b_address, length) == 0
    return same


@kernel
def find_bytes(address: int, length: int, wanted: int, wanted_length: int, start: int) -> int:
    """Return the offset of the first occurrence at or after `start`, or -1."""
    for i in range(start, length - wanted_length + 1):
        if compare_bytes(address + i, wanted, wanted_length) == 0:
            return i
    return -1


@kernel
def text_position(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Return strpos: the character, from 1, at which the first string has the second one, or 0.

    An empty one is at 1.
    """
    a_address = text_address(a0, a1, aheap)
    b_address = text_address(b0, b1, bheap)
    offset = find_bytes(a_address, a0 & LENGTH_MASK, b_address, b0 & LENGTH_MASK, 0)
    if offset < 0:
        return 0
    return count_chars(a_address, offset) + 1


def borrowed(kind: Any, bytes_count: int) -> Any:
    """Return an intrinsic (address, length) -> an array over memory that somebody else owns."""
    array_type = types.Array(kind, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        data = builder.inttoptr(words[0], context.get_data_type(kind).as_pointer())
        size = ir.Constant(I64, bytes_count)
        fill_array(array, data=data, shape=[words[1]], strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return intrinsic(lambda typing, address, length: (array_type(types.int64, types.int64), generate))


# (address, length) -> uint8[length] or int64[length], for functions that take arrays; nobody keeps
# the memory alive
bytes_at: Any = borrowed(types.uint8, 1)
words_at: Any = borrowed(types.int64, 8)
