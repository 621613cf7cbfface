"""Damaged bytes for what reads records: how many of them it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable


def refused_flips(data: bytes, is_refused: Callable[[bytes], bool], seed: int) -> int:
    """Return how many of five changes of each byte are refused."""
    rng = random.Random(seed)
    refused = 0
    for at in range(len(data)):
        for flip in (1, 2, 0x80, 0xFF, rng.randrange(1, 256)):
            damaged = bytearray(data)
            damaged[at] ^= flip
            refused += is_refused(bytes(damaged))
    return refused


def refused_damages(data: bytes, count: int, is_refused: Callable[[bytes], bool], seed: int) -> int:
    """Return how many of `count` variants are refused, each with one to ten places overwritten,
    shorter or longer by up to eight bytes.
    """
    rng = random.Random(seed)
    refused = 0
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 2, 10))):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.choice((1, 8))] = rng.choice((b"", b"\xff" * 8, b"\x7f", rng.randbytes(8)))
        refused += is_refused(bytes(damaged))
    return refused
