"""Keys and comparisons of values that are kept as bytes agree with plain Python."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.memory.stored_values import bytes_of
from ringbuffer.scalar.texts.compared_bytes import LIST, Form, interval_span, stored_compare, stored_key
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.values.network_addresses import Address, address_key, cidr_value

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
        assert sign(stored_compare(Form.INTERVAL, *words[i], *words[j])) == sign(spans[i] - spans[j])


def test_padded_texts() -> None:
    rng = random.Random(3)
    values = ["".join(rng.choice("ab é \t") for _ in range(rng.randrange(16))) for _ in range(60)]
    strings = Strings([value.encode() for value in values])
    words = strings.words
    trimmed = [value.rstrip(" ").encode() for value in values]
    for i, j in pairs(len(values), 4):
        order = stored_compare(Form.BLANK_PADDED, *words[i], *words[j])
        assert sign(order) == (trimmed[i] > trimmed[j]) - (trimmed[i] < trimmed[j])


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


@pytest.mark.turns(2, 1)
def test_jsonb() -> None:
    rng = random.Random(5)
    texts = [random_json(rng, 2) for _ in range(150)]
    read = [json.loads(text, parse_float=Decimal, parse_int=Decimal) for text in texts]
    strings = Strings([text.encode() for text in texts])
    words = strings.words
    scratch = ScratchHeap(1 << 16)
    keys = [stored_key(Form.JSONB, *found, scratch.words) for found in words]
    assert all(error == 0 for *_, error in keys)
    same = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
    equal = 0
    for i, j in same:
        is_equal = json.dumps(read[i], default=plain) == json.dumps(read[j], default=plain)
        equal += is_equal and texts[i] != texts[j]
        assert (stored_compare(Form.JSONB, *words[i], *words[j]) == 0) == is_equal, (texts[i], texts[j])
        assert (stored_compare(Form.BYTES, *keys[i][:3], *keys[j][:3]) == 0) == is_equal
        if not is_equal or i == j:
            continue
        assert (keys[i][0], length_of(keys[i])) == (keys[j][0], length_of(keys[j]))
    assert equal > 10
    long = Strings([b'[1.0, "longer than twelve"]'])
    assert stored_key(Form.JSONB, *long.words[0], ScratchHeap(4).words)[3] == SCRATCH_FULL


def test_addresses() -> None:
    rng = random.Random(7)
    texts = ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/16", "10.1.2.3/8", "10.1.2.3", "9.8.7.6", "255.255.255.255", "::"]
    texts += ["::1", "::/0", "2001:db8::1/64", "::ffff:1.2.3.4", "::1.2.3.4", "ffff::", "1:2:3:4:5:6:7:8", "1::8/127"]
    for _ in range(40):
        texts.append(cidr_value(f"{rng.choice((0, 10))}.{rng.choice((0, 128))}.0.0/{rng.choice((16, 24))}"))
        number = rng.getrandbits(128) & rng.choice(((1 << 128) - 1, (1 << 64) - 1, 0xFFFF << 60, 0xF0 << 120))
        texts.append(Address(6, number, rng.choice((128, 96, 64, 1))).text(is_cidr=False))
    strings = Strings([text.encode() for text in texts])
    words = strings.words
    keys = [address_key(text) for text in texts]
    for i, j in pairs(len(texts), 8):
        order = stored_compare(Form.ADDRESS, *words[i], *words[j])
        assert sign(order) == (keys[i] > keys[j]) - (keys[i] < keys[j]), (texts[i], texts[j])


def test_times_with_zone() -> None:
    rng = random.Random(9)
    values = [(rng.choice((0, 3_600_000_000, 43_200_000_000)), rng.choice((0, 3600, -3600, 7200))) for _ in range(40)]
    strings = Strings([struct.pack("<qi", *value) for value in values])
    words = strings.words
    keys = [(micros + west * 1_000_000, west) for micros, west in values]
    for i, j in pairs(len(values), 10):
        order = stored_compare(Form.ZONED_TIME, *words[i], *words[j])
        assert sign(order) == (keys[i] > keys[j]) - (keys[i] < keys[j])


def float_key(value: float) -> tuple[bool, float]:
    return math.isnan(value), 0.0 if math.isnan(value) else value


def number(text: str) -> dict[str, Any]:
    value = Decimal(text)
    scale = max(-int(value.as_tuple().exponent), 0)
    return {"unscaled": value.scaleb(scale), "scale": scale}


LISTS: list[tuple[Form, pa.DataType, list[Any], Callable[[Any], Any]]] = [
    (Form.BYTES, pa.string(), ["", "a", "b", "ab", "longer than twelve"], str.encode),
    (Form.BOOL, pa.bool_(), [False, True], int),
    (Form.INT16, pa.int16(), [-1, 0, 300, -32768], int),
    (Form.INT32, pa.int32(), [-1, 0, 70_000], int),
    (Form.INT64, pa.int64(), [-1, 0, 2**62], int),
    (Form.FLOAT32, pa.float32(), [0.0, -0.0, 1.5, math.nan, -math.inf], float_key),
    (Form.FLOAT64, pa.float64(), [0.0, -0.0, 1.5, math.nan, -math.inf], float_key),
    (Form.BLANK_PADDED, pa.string(), ["a  ", "a", "", "b "], lambda text: text.rstrip(" ").encode()),
]


def test_lists() -> None:
    rng = random.Random(11)
    for form, kind, domain, key in LISTS:
        values = [[rng.choice([*domain, None]) for _ in range(rng.randrange(4))] for _ in range(60)]
        check_lists(form, pa.array(values, pa.list_(kind)), [[ranked(item, key) for item in value] for value in values])


def test_lists_of_numerics() -> None:
    rng = random.Random(12)
    kind = pa.struct([pa.field("unscaled", pa.decimal128(38, 0)), pa.field("scale", pa.int16())])
    domain = ["1", "1.0", "1.50", "-12.345", "0", "0.00", "100", "12345678901234567890.5", None]
    texts = [[rng.choice(domain) for _ in range(rng.randrange(4))] for _ in range(60)]
    values = [[None if text is None else number(text) for text in value] for value in texts]
    check_lists(
        Form.NUMERIC, pa.array(values, pa.list_(kind)), [[ranked(text, Decimal) for text in value] for value in texts]
    )


def ranked(value: Any, key: Callable[[Any], Any]) -> tuple[bool, Any]:
    """Return what compares as PostgreSQL compares elements: NULL is above all others."""
    return (True, 0) if value is None else (False, key(value))


def check_lists(form: Form, column: pa.Array, keys: list[list[tuple[bool, Any]]]) -> None:
    strings = Strings(bytes_of(column).to_pylist())
    words = strings.words
    scratch = ScratchHeap(1 << 16)
    common = [stored_key(LIST + form, *found, scratch.words) for found in words]
    # There is no room for a longer one.
    assert all(length_of(key) <= length_of(value) for key, value in zip(common, words, strict=True)), form
    for i, j in pairs(len(keys), 13):
        order = sign(stored_compare(LIST + form, *words[i], *words[j]))
        assert order == below_or_above(keys[i], keys[j]), (form, keys[i], keys[j])
        assert (stored_compare(Form.BYTES, *common[i][:3], *common[j][:3]) == 0) == (order == 0)


def below_or_above(left: list[tuple[bool, Any]], right: list[tuple[bool, Any]]) -> int:
    for one, other in zip(left, right, strict=False):
        if one != other:
            return 1 if one > other else -1
    return sign(len(left) - len(right))


def plain(value: Decimal) -> str:
    return f"number {value.normalize()}"


def length_of(words: tuple[int, ...]) -> int:
    return int(np.int64(words[0]) & 0xFFFFFFFF)
