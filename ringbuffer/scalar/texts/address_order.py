"""The order of network addresses in kernels, on their texts: `10.1.2.3/8`, `::1`.

Enters: the address and the length of the text that `sql.values.network_addresses` writes. Leaves:
an order, which is that of PostgreSQL: family, common bits, bits of the network, the whole address.
Must not allocate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, signed_word

COLON, POINT, SLASH, ZERO, NINE, SMALL_A = 58, 46, 47, 48, 57, 97
WIDTH_4, WIDTH_6 = 32, 128
WORD_BITS = 64
GROUPS = 8
unsigned_word: Any = np.uint64


@kernel
def address_compare(a: int, a_length: int, b: int, b_length: int) -> int:
    """Return -1, 0 or 1."""
    a_hi, a_lo, a_bits, a_width = address_words(a, a_length)
    b_hi, b_lo, b_bits, b_width = address_words(b, b_length)
    if a_width != b_width:
        return -1 if a_width < b_width else 1
    common = min(a_bits, b_bits)
    order = unsigned_compare(first_bits(a_hi, common), first_bits(b_hi, common))
    if order == 0:
        order = unsigned_compare(first_bits(a_lo, common - WORD_BITS), first_bits(b_lo, common - WORD_BITS))
    if order == 0 and a_bits != b_bits:
        order = -1 if a_bits < b_bits else 1
    if order == 0:
        order = unsigned_compare(a_hi, b_hi)
    return order if order != 0 else unsigned_compare(a_lo, b_lo)


@kernel
def first_bits(word: int, count: int) -> int:
    """Return a word without the bits after its first ones."""
    if count <= 0:
        return 0
    return word if count >= WORD_BITS else word & ~((1 << (WORD_BITS - count)) - 1)


@kernel
def unsigned_compare(first: int, second: int) -> int:
    """Return -1, 0 or 1."""
    a, b = unsigned_word(first), unsigned_word(second)
    return (1 if a > b else 0) - (1 if a < b else 0)


@kernel
def address_words(address: int, length: int) -> tuple[int, int, int, int]:
    """Return (hi, lo, bits of the network, width) of a text, the address at the upper end of its
    128 bits.
    """
    end = length
    for at in range(length):
        if load_byte(address + at) == SLASH:
            end = at
    is_six = False
    for at in range(end):
        is_six = is_six or load_byte(address + at) == COLON
    width = WIDTH_6 if is_six else WIDTH_4
    network_bits = 0
    for at in range(end + 1, length):
        network_bits = network_bits * 10 + signed_word(load_byte(address + at)) - ZERO
    if end == length:
        network_bits = width
    if is_six:
        hi, lo = six_words(address, end)
        return hi, lo, network_bits, width
    return four_number(address, end) << 32, 0, network_bits, width


@kernel
def four_number(address: int, length: int) -> int:
    """Return the number of an address of IPv4."""
    number = octet = 0
    for at in range(length):
        byte = signed_word(load_byte(address + at))
        if byte == POINT:
            number = (number << 8) | octet
            octet = 0
        else:
            octet = octet * 10 + byte - ZERO
    return (number << 8) | octet


@kernel
def six_words(address: int, length: int) -> tuple[int, int]:
    """Return (hi, lo) of an address of IPv6."""
    # The groups before the double colon fill the words from the left, those after it from the
    # right.
    head_hi = head_lo = tail_hi = tail_lo = 0
    heads = 0
    in_tail = False
    at = 0
    while at < length:
        if load_byte(address + at) == COLON:
            in_tail = in_tail or (at + 1 < length and load_byte(address + at + 1) == COLON)
            at += 1
            continue
        end = at
        is_four = False
        while end < length and load_byte(address + end) != COLON:
            is_four = is_four or load_byte(address + end) == POINT
            end += 1
        number = four_number(address + at, end - at) if is_four else hexadecimal(address + at, end - at)
        size = 32 if is_four else 16
        kept = (1 << size) - 1
        if in_tail:
            tail_hi = (tail_hi << size) | ((tail_lo >> (WORD_BITS - size)) & kept)
            tail_lo = (tail_lo << size) | number
        else:
            head_hi = (head_hi << size) | ((head_lo >> (WORD_BITS - size)) & kept)
            head_lo = (head_lo << size) | number
            heads += size // 16
        at = end
    missing = 16 * (GROUPS - heads)
    if missing >= WORD_BITS:
        # No head is over 64 bits then.
        moved = head_lo << (missing - WORD_BITS) if missing < 2 * WORD_BITS else 0
        return moved | tail_hi, tail_lo
    if missing > 0:
        head_hi = (head_hi << missing) | ((head_lo >> (WORD_BITS - missing)) & ((1 << missing) - 1))
        head_lo <<= missing
    return head_hi | tail_hi, head_lo | tail_lo


@kernel
def hexadecimal(address: int, length: int) -> int:
    """Return a number of hexadecimal digits."""
    number = 0
    for at in range(length):
        byte = signed_word(load_byte(address + at))
        number = (number << 4) | (byte - ZERO if byte <= NINE else byte - SMALL_A + 10)
    return number
