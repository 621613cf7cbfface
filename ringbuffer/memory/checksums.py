"""CRC-32 inside kernels, and of long runs of bytes, with zlib's polynomial and values.

Kernels build log records of one row, with their checksums. Enters: bytes by address. Leaves: the
checksum that zlib.crc32 gives for them. Must not know what the bytes mean.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.memory.addresses import load_byte, load_word, signed_word
from ringbuffer.memory.carryless import FOLD_BYTES, HAS_PRODUCT, fold

POLYNOMIAL = 0xEDB88320
ALL_ONES = 0xFFFFFFFF
# Fewer bytes are not worth the beginning and the end.
FOLDED_BYTES_MIN = 256
# Fewer bytes are not worth a kernel's call.
MUCH_BYTES = 1 << 14


def _tables() -> npt.NDArray[Any]:
    """Return uint32[8 * 256]: the effect on the checksum of each byte that more bytes follow.

    The effect of byte b, which k more bytes follow, is at 256 * k + b.
    """
    tables = np.zeros((8, 256), dtype=np.uint32)
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, (first >> 1) ^ np.uint32(POLYNOMIAL), first >> 1)
    tables[0] = first
    for behind in range(1, 8):
        tables[behind] = first[tables[behind - 1] & 0xFF] ^ (tables[behind - 1] >> 8)
    return tables.reshape(-1)


TABLES = _tables()


@inlined_kernel
def after_word(crc: int, word: int) -> int:
    """Return the inverted checksum after eight more bytes, given as a word, which may be signed."""
    word ^= crc
    after: int = (
        signed_word(TABLES[1792 + (word & 0xFF)])
        ^ signed_word(TABLES[1536 + ((word >> 8) & 0xFF)])
        ^ signed_word(TABLES[1280 + ((word >> 16) & 0xFF)])
        ^ signed_word(TABLES[1024 + ((word >> 24) & 0xFF)])
        ^ signed_word(TABLES[768 + ((word >> 32) & 0xFF)])
        ^ signed_word(TABLES[512 + ((word >> 40) & 0xFF)])
        ^ signed_word(TABLES[256 + ((word >> 48) & 0xFF)])
        ^ signed_word(TABLES[(word >> 56) & 0xFF])
    )
    return after


@kernel
def crc32_of(address: int, length: int, start: int = 0) -> int:
    """Return zlib.crc32 of `length` bytes at `address`, after bytes whose checksum is `start`."""
    crc = (start & ALL_ONES) ^ ALL_ONES
    end = address + length
    if HAS_PRODUCT and length >= FOLDED_BYTES_MIN:
        folds = length // FOLD_BYTES
        low, high = fold(address, folds, crc)
        crc = after_word(after_word(0, low), high)
        address += folds * FOLD_BYTES
    while address + 8 <= end:
        crc = after_word(crc, load_word(address))
        address += 8
    while address < end:
        crc = signed_word(TABLES[(crc ^ signed_word(load_byte(address))) & 0xFF]) ^ (crc >> 8)
        address += 1
    return crc ^ ALL_ONES


@kernel
def times_modulo(a: int, b: int) -> int:
    """Return the product of two polynomials modulo POLYNOMIAL.

    The highest of 32 bits stands for x^0, as in checksums.
    """
    product = 0
    bit = 1 << 31
    while bit != 0:
        if a & bit != 0:
            product ^= b
        b = (b >> 1) ^ POLYNOMIAL if b & 1 != 0 else b >> 1
        bit >>= 1
    return product


@kernel
def joined_crc32(first: int, second: int, second_length: int) -> int:
    """Return zlib.crc32 of two parts from their checksums.

    second_length: bytes of the second part.
    """
    # x^8, for the first byte; squared for each bit of the length.
    power = 1 << 23
    while second_length != 0:
        if second_length & 1 != 0:
            first = times_modulo(power, first)
        power = times_modulo(power, power)
        second_length >>= 1
    return first ^ second


def crc32(data: bytes | bytearray | memoryview, start: int = 0) -> int:
    """Return zlib.crc32 of contiguous bytes, by the faster way; many bytes release the
    interpreter.
    """
    if len(data) < MUCH_BYTES or not HAS_PRODUCT:
        return zlib.crc32(data, start)
    checksum: int = crc32_of(np.frombuffer(data, dtype=np.uint8).ctypes.data, len(data), start)
    return checksum
