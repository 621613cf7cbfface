"""Keys and comparisons of values that are kept as bytes agree with plain Python."""

from __future__ import annotations

import json
import random
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.scalar.texts.compared_bytes import (
    bpchar_compare,
    bpchar_equal,
    interval_compare,
    interval_span,
    jsonb_equal,
    jsonb_key,
)
from ringbuffer.scalar.texts.text_functions import ScratchHeap

LAYOUT = (ColumnLayout("a", PhysicalType.TEXT, value_form=pa.binary()),)


class Strings:
    """Values as kernels take them."""

    def __init__(self, values: list[bytes]) -> None:
        self._morsel = morsel_from_arrow(pa.table({"a": pa.array(values, pa.binary())}), LAYOUT)
        address = self._morsel.heap.ctypes.data
        words: Any = self._morsel.data[0]
        self.words = [(int(w0), int(w1), address) for w0, w1 in words.tolist()]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def pairs(count: int, seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    return [(rng.randrange(count), rng.randrange(count)) for _ in range(2000)] + [(i, i) for i in range(count)]


def test_intervals() -> None:
    rng = random.Random(1)
    values = [
        (
            rng.choice((0, 1, -1, 2**31 - 1, -(2**31))),
            rng.choice((0, 30, -30, 1, -1)),
            rng.choice((0, 86_400_000_000, -1, 2**63 - 1)),
        )
        for _ in range(60)
    ]
    strings = Strings([struct.pack("<iiq", *value) for value in values])
    words = strings.words
    spans = [(months * 30 + days) * 86_400_000_000 + micros for months, days, micros in values]
    for span, found in zip(spans, words, strict=True):
        lo, hi = interval_span(*found)
        assert (hi << 64) + (lo & (2**64 - 1)) == span
    for i, j in pairs(len(values), 2):
        assert sign(interval_compare(*words[i], *words[j])) == sign(spans[i] - spans[j])


def test_padded_texts() -> None:
    rng = random.Random(3)
    values = ["".join(rng.choice("ab é \t") for _ in range(rng.randrange(16))) for _ in range(60)]
    strings = Strings([value.encode() for value in values])
    words = strings.words
    trimmed = [value.rstrip(" ").encode() for value in values]
    for i, j in pairs(len(values), 4):
        assert bpchar_equal(*words[i], *words[j]) == (trimmed[i] == trimmed[j])
        assert sign(bpchar_compare(*words[i], *words[j])) == (trimmed[i] > trimmed[j]) - (trimmed[i] < trimmed[j])


def random_json(rng: random.Random, depth: int) -> str:
    match rng.randrange(6 if depth else 4):
        case 0:
            return rng.choice(("1", "1.0", "1.00", "-1.50", "-1.5", "0", "0.00", "10", "100.0", "0.05", "0.5"))
        case 1:
            return json.dumps(rng.choice(("", "1.0", "1", 'a"1.0', "\\1.00", "longer than twelve 1.00 bytes")))
        case 2:
            return rng.choice(("true", "null"))
        case 3 | 4:
            return f"[{', '.join(random_json(rng, depth - 1) for _ in range(rng.randrange(3)))}]"
        case _:
            members = ", ".join(f'"{key}": {random_json(rng, depth - 1)}' for key in "ab"[: rng.randrange(3)])
            return f"{{{members}}}"


def test_jsonb() -> None:
    rng = random.Random(5)
    texts = [random_json(rng, 2) for _ in range(150)]
    read = [json.loads(text, parse_float=Decimal, parse_int=Decimal) for text in texts]
    strings = Strings([text.encode() for text in texts])
    words = strings.words
    scratch = ScratchHeap(1 << 16)
    keys = [jsonb_key(*found, scratch.words) for found in words]
    assert all(error == 0 for *_, error in keys)
    same = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
    equal = 0
    for i, j in same:
        is_equal = json.dumps(read[i], default=plain) == json.dumps(read[j], default=plain)
        equal += is_equal and texts[i] != texts[j]
        assert jsonb_equal(*words[i], *words[j]) == is_equal, (texts[i], texts[j])
        assert jsonb_equal(*keys[i][:3], *keys[j][:3]) == is_equal
        if not is_equal or i == j:
            continue
        assert (keys[i][0], length_of(keys[i])) == (keys[j][0], length_of(keys[j]))
    assert equal > 10
    long = Strings([b'[1.0, "longer than twelve"]'])
    assert jsonb_key(*long.words[0], ScratchHeap(4).words)[3] == SCRATCH_FULL


def plain(value: Decimal) -> str:
    return f"number {value.normalize()}"


def length_of(words: tuple[int, ...]) -> int:
    return int(np.int64(words[0]) & 0xFFFFFFFF)
