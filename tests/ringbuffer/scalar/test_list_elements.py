"""Elements of lists against the bytes that stored values have."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.stored_values import bytes_of
from ringbuffer.scalar.texts.list_elements import (
    NULL_ELEMENT,
    float32_element,
    float64_element,
    numeric_element,
    text_element,
    word_element,
)
from ringbuffer.scalar.texts.text_functions import ScratchHeap, keep
from ringbuffer.scalar.texts.text_values import text_octet_length

NUMERIC = pa.struct([pa.field("unscaled", pa.decimal128(38, 0)), pa.field("scale", pa.int16())])


def bytes_in(words: tuple[int, ...]) -> bytes:
    """Return the bytes of a text that is in words or at an address."""
    w0, w1, heap = words[:3]
    length = text_octet_length(w0, w1, heap)
    if length <= 12:
        return ((w0 >> 32 & 0xFFFFFFFF) | (w1 & (1 << 64) - 1) << 32).to_bytes(12, "little")[:length]
    return ctypes.string_at(heap + w1, length)


def wanted(value: Any, kind: pa.DataType) -> bytes:
    found: bytes = bytes_of(pa.array([[value]], pa.list_(kind)))[0].as_py()
    return found


@pytest.mark.parametrize(("kind", "width"), [(pa.int16(), 2), (pa.int32(), 4), (pa.int64(), 8), (pa.bool_(), 1)])
def test_integers(kind: pa.DataType, width: int) -> None:
    most = 1 if width == 1 else (1 << (8 * width - 1)) - 1
    for value in (0, 1, most) if width == 1 else (0, 1, -1, 77, most, -most - 1):
        shown = bool(value) if width == 1 else value
        assert bytes_in(word_element(value, width)) == wanted(shown, kind)


def test_floats() -> None:
    for value in (0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf")):
        assert bytes_in(float64_element(value)) == wanted(value, pa.float64())
        assert bytes_in(float32_element(value)) == wanted(value, pa.float32())


def test_nulls() -> None:
    assert bytes_in((NULL_ELEMENT, 0, 0)) == wanted(None, pa.int32())


@pytest.mark.parametrize("value", ["", "a", "eight by", "nine byte", "a longer text, of many bytes", "é☃"])
def test_texts(value: str) -> None:
    scratch = ScratchHeap()
    content = np.frombuffer(value.encode() + bytes(16), dtype=np.uint8).copy()
    *words, error = text_element(*keep(scratch.words, content.ctypes.data, len(value.encode()))[:3], scratch.words)
    assert (bytes_in(tuple(words)), error) == (wanted(value, pa.string()), OK)


@pytest.mark.parametrize("unscaled", [0, 1, -1, 127, 128, -128, -129, 2**31, -(2**63), 2**63, 10**37, -(10**37)])
def test_numerics(unscaled: int) -> None:
    scratch = ScratchHeap()
    low = unscaled & ((1 << 64) - 1)
    *words, error = numeric_element(low - (1 << 64) if low >> 63 else low, unscaled >> 64, 3, scratch.words)
    row = {"unscaled": unscaled, "scale": 3}
    assert (bytes_in(tuple(words)), error) == (wanted(row, NUMERIC), OK)
