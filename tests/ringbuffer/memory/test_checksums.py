"""Checksums of kernels are those of zlib."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

from ringbuffer.memory.checksums import MUCH_BYTES, crc32, crc32_of, joined_crc32

SEED = 5
LENGTHS = [*range(301), 1000, 4095, 4096, 65_537, 1_000_003]


def test_equals_zlib_for_every_length_and_place() -> None:
    rng = random.Random(SEED)
    for length in LENGTHS:
        content = rng.randbytes(length + 8)
        array = np.frombuffer(content, dtype=np.uint8)
        shift = rng.randrange(8)
        expected = zlib.crc32(content[shift : shift + length])
        assert crc32_of(array.ctypes.data + shift, length) == expected, length
        assert crc32_of(array.ctypes.data + shift, length, 0) == expected, length


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"\xff" * 40, b"123456789"])
def test_known_values_and_continuation(content: bytes) -> None:
    array = np.frombuffer(content + b"!", dtype=np.uint8)
    address = array.ctypes.data
    for cut in range(len(content) + 1):
        first = crc32_of(address, cut, 0)
        assert crc32_of(address + cut, len(content) - cut, first) == zlib.crc32(content)
    assert zlib.crc32(b"123456789") == 0xCBF43926
    assert crc32_of(address, len(content), 0xFFFFFFFF) == zlib.crc32(content, 0xFFFFFFFF)


def test_of_two_parts_it_is_that_of_both() -> None:
    rng = random.Random(SEED)
    for length in LENGTHS:
        first, second = rng.randbytes(rng.randrange(100)), rng.randbytes(length)
        assert joined_crc32(zlib.crc32(first), zlib.crc32(second), length) == zlib.crc32(first + second), length


@pytest.mark.parametrize("length", [0, 1, MUCH_BYTES - 1, MUCH_BYTES, MUCH_BYTES + 77, 1_000_003])
def test_of_bytes_in_one_piece(length: int) -> None:
    rng = random.Random(SEED)
    content = rng.randbytes(length)
    for data in (content, bytearray(content), memoryview(content)):
        for start in (0, 1, 0xFFFFFFFF, rng.getrandbits(32)):
            assert crc32(data, start) == zlib.crc32(content, start)
