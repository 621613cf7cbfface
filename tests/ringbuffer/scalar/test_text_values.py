"""Comparing, hashing and measuring strings against Python's bytes and characters."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.scalar.texts import text_values
from tests.ringbuffer.kernel_values import Texts
from tests.ringbuffer.kernel_values import text as text_of

SEED = 20_261_120
CASES = 5_000
ALPHABET = ["a", "b", "ab", "A", "z", "ä", "€", "😀", "\x01", "\x7f", " "]


def texts(chooser: random.Random) -> str:
    """Return a string over few characters, often around the 12 bytes that are kept inline, or with
    a common beginning.
    """
    length = chooser.choice([0, 1, 2, 3, 4, 5, 11, 12, 13, chooser.randint(0, 40)])
    start = chooser.choice(["", "", "aaaa", "abababababab"])
    return start + "".join(chooser.choice(ALPHABET) for _ in range(length))


def test_order_is_that_of_bytes() -> None:
    chooser, maker = random.Random(SEED), Texts()
    for _ in range(CASES):
        a, b = texts(chooser), texts(chooser)
        if chooser.random() < 0.2:
            b = a
        x, y = a.encode(), b.encode()
        words = (*maker.words(a), *maker.words(b))
        assert text_values.text_compare(*words) == (x > y) - (x < y), (a, b)
        assert text_values.text_equal(*words) == (a == b), (a, b)


def test_lengths_and_positions() -> None:
    chooser, maker = random.Random(SEED), Texts()
    for _ in range(CASES):
        a, b = texts(chooser), texts(chooser)[: chooser.randint(0, 4)]
        words = (*maker.words(a), *maker.words(b))
        assert text_values.text_char_length(*words[:3]) == len(a)
        assert text_values.text_octet_length(*words[:3]) == len(a.encode())
        assert text_values.text_starts_with(*words) == a.startswith(b)
        assert text_values.text_position(*words) == a.find(b) + 1


@kernel
def remade(w0: int, w1: int, heap: int) -> Any:
    address = text_values.text_address(w0, w1, heap)
    array = text_values.bytes_at(address, w0 & LENGTH_MASK)
    total = 0
    for byte in array:
        total += byte
    made_w0, made_w1 = text_values.make_text(address, w0 & LENGTH_MASK)
    return made_w0, made_w1, total


def test_words_of_bytes_are_the_words_of_the_string() -> None:
    chooser, maker = random.Random(SEED), Texts()
    for _ in range(CASES):
        string = texts(chooser)
        w0, w1, total = remade(*maker.words(string))
        assert text_of(w0, w1, 0) == string
        assert total == np.frombuffer(string.encode(), dtype=np.uint8).sum()
