"""Hashes of values, and HyperLogLog: the cell of a value, and the number of different values that
registers tell.

A hash of 64 bits has the number of its register in the first REGISTER_BITS bits, and its rank is
the place of the first 1 among the others, from 1; a cell is register << 8 | rank. Registers are
bytes, each the largest rank that it has seen (Flajolet, Fusy, Gandouet, Meunier 2007). The estimate
is Ertl's improved raw one ("New cardinality estimation algorithms for HyperLogLog sketches", 2017,
algorithm 6), with a standard error of 1.04 / sqrt(REGISTERS) for any number. Equal values have
equal cells whatever their scale or sign of 0. Must not allocate.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, load_word, multiply_unsigned, signed_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import NOT_A_SKETCH, OK
from ringbuffer.scalar.numbers.int128 import unsigned_word
from ringbuffer.scalar.numbers.numeric import SPECIAL_SCALE, numeric_normalise
from ringbuffer.scalar.texts.text_values import text_address

REGISTER_BITS = 12
REGISTERS = 1 << REGISTER_BITS
RANK_BITS = 64 - REGISTER_BITS
CELL_SHIFT = 8
TOP_BITS = (1 << REGISTER_BITS) - 1
SEED, NAN_WORD = 0x51ED270B7A3C9F15, 0x7FF8000000000000
# The factors of the mixing, 2^64 divided by the golden ratio, and of Murmur3's last steps (fmix64).
FACTOR, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
LOW_BITS = (1 << 31) - 1


@kernel
def times(word: int, factor: int) -> int:
    """Return the low 64 bits of a product; numba's own may be another one where it overflows."""
    low, _ = multiply_unsigned(unsigned_word(word), unsigned_word(factor))
    product: int = signed_word(low)
    return product


@kernel
def mixed_with(mixed: int, word: int) -> int:
    """Return a hash state after one more word."""
    mixed = times(mixed ^ word, FACTOR)
    return mixed ^ ((mixed >> 32) & LENGTH_MASK)


@kernel
def finished(mixed: int) -> int:
    """Return the hash of a hash state."""
    mixed = times(mixed ^ ((mixed >> 33) & LOW_BITS), FIRST_FACTOR)
    mixed = times(mixed ^ ((mixed >> 33) & LOW_BITS), SECOND_FACTOR)
    return mixed ^ ((mixed >> 33) & LOW_BITS)


@kernel
def cell_of(mixed: int) -> int:
    """Return the cell of a hash state."""
    mixed = finished(mixed)
    register, rank, bit = (mixed >> RANK_BITS) & TOP_BITS, 1, 1 << (RANK_BITS - 1)
    while bit != 0 and mixed & bit == 0:
        rank += 1
        bit >>= 1
    cell: int = register << CELL_SHIFT | rank
    return cell


@kernel
def word_cell(word: int) -> int:
    """Return the cell of an integer, a date or a time."""
    cell: int = cell_of(mixed_with(SEED, word))
    return cell


@kernel
def float_state(value: float) -> int:
    """Return the hash state of a float."""
    word = 0
    if np.isnan(value):
        word = NAN_WORD
    elif value != 0.0:
        word = signed_word(np.float64(value).view(np.uint64))
    mixed: int = mixed_with(SEED, word)
    return mixed


@kernel
def float_cell(value: float) -> int:
    """Return the cell of a float."""
    cell: int = cell_of(float_state(value))
    return cell


@kernel
def numeric_state(lo: int, hi: int, scale: int) -> int:
    """Return the hash state of a decimal of any scale."""
    if scale != SPECIAL_SCALE:
        lo, hi, scale = numeric_normalise(lo, hi, scale)
    mixed: int = mixed_with(mixed_with(mixed_with(SEED, lo), hi), scale)
    return mixed


@kernel
def numeric_cell(lo: int, hi: int, scale: int) -> int:
    """Return the cell of a decimal of any scale."""
    cell: int = cell_of(numeric_state(lo, hi, scale))
    return cell


@kernel
def text_state(w0: int, w1: int, heap: int) -> int:
    """Return the hash state of a string."""
    address, length = text_address(w0, w1, heap), signed_word(w0 & LENGTH_MASK)
    mixed, at = mixed_with(SEED, length), 0
    while at + 8 <= length:
        mixed = mixed_with(mixed, load_word(address + at))
        at += 8
    while at < length:
        mixed = mixed_with(mixed, signed_word(load_byte(address + at)))
        at += 1
    return mixed


@kernel
def text_cell(w0: int, w1: int, heap: int) -> int:
    """Return the cell of a string."""
    cell: int = cell_of(text_state(w0, w1, heap))
    return cell


@kernel
def distinct_estimate(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (about how many different values registers have seen, error code). w0, w1: a string
    of them.
    """
    if (w0 & LENGTH_MASK) != REGISTERS:
        return 0, NOT_A_SKETCH
    address = text_address(w0, w1, heap)
    size, unseen = np.float64(REGISTERS), registers_of_rank(address, 0)
    if unseen == REGISTERS:
        return 0, OK
    highest = registers_of_rank(address, RANK_BITS + 1)
    total, known = size * share_above(1.0 - highest / size), unseen + highest
    for rank in range(RANK_BITS, 0, -1):
        found = registers_of_rank(address, rank)
        total, known = 0.5 * (total + found), known + found
    total += size * share_below(unseen / size)
    if known != REGISTERS or total <= 0.0:
        return 0, NOT_A_SKETCH
    return int(np.rint(size * size / (2.0 * np.log(2.0) * total))), OK


@kernel
def registers_of_rank(address: int, rank: int) -> int:
    """Return how many registers have a rank."""
    count = 0
    for register in range(REGISTERS):
        count += signed_word(load_byte(address + register)) == rank
    return count


@kernel
def share_below(share: float) -> float:
    """Return Ertl's sigma: what registers that have seen nothing stand for."""
    weight, total, before = 1.0, share, -1.0
    while total != before:
        share *= share
        before = total
        total += share * weight
        weight += weight
    return total


@kernel
def share_above(share: float) -> float:
    """Return Ertl's tau: what registers of the highest rank stand for."""
    if share in (0.0, 1.0):
        return 0.0
    weight, total, before = 1.0, 1.0 - share, -1.0
    while total != before:
        share = np.sqrt(share)
        before = total
        weight *= 0.5
        total -= (1.0 - share) * (1.0 - share) * weight
    return total / 3.0
