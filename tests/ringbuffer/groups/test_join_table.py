"""Join tables against a dictionary: every key finds its rows in their order, with their values, and
nothing else does.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ringbuffer.groups.aggregates import text_key
from ringbuffer.groups.hash_table import Words
from ringbuffer.groups.join_table import (
    KEY_WORDS,
    BuildColumn,
    JoinTable,
    KeyForm,
    build_join_table,
    key_words,
    probe_entry,
    probe_word,
    text_mask,
    word_float,
)
from ringbuffer.memory.columns import INLINE_BYTES_MAX


def integers(values: list[int | None]) -> BuildColumn:
    nulls = np.array([value is None for value in values], dtype=np.uint8)
    return BuildColumn(np.array([value or 0 for value in values], dtype=np.int64), nulls)


def floats(values: list[float | None]) -> BuildColumn:
    nulls = np.array([value is None for value in values], dtype=np.uint8)
    return BuildColumn(np.array([value or 0 for value in values], dtype=np.float64), nulls)


def decimals(values: list[tuple[int, int] | None]) -> BuildColumn:
    """Return decimals of varying scale from (unscaled, scale)."""
    nulls = np.array([value is None for value in values], dtype=np.uint8)
    data = np.zeros((len(values), 2), dtype=np.int64)
    scales = np.zeros(len(values), dtype=np.int16)
    for row, value in enumerate(values):
        if value is not None:
            data[row] = [((value[0] + 2**63) % 2**64) - 2**63, value[0] >> 64]
            scales[row] = value[1]
    return BuildColumn(data, nulls, scales=scales)


def texts(values: list[str | None], heap: bytearray) -> BuildColumn:
    nulls = np.array([value is None for value in values], dtype=np.uint8)
    data = np.zeros((len(values), 2), dtype=np.int64)
    for row, value in enumerate(values):
        encoded = (value or "").encode()
        start = encoded[:INLINE_BYTES_MAX].ljust(INLINE_BYTES_MAX, b"\0")
        data[row, 0] = int.from_bytes(len(encoded).to_bytes(4, "little") + start[:4], "little", signed=True)
        data[row, 1] = int.from_bytes(start[4:], "little", signed=True)
        if len(encoded) > INLINE_BYTES_MAX:
            data[row, 1] = len(heap)
            heap += encoded
    return BuildColumn(data, nulls)


def make_column(form: KeyForm, values: list[Any], heap: bytearray) -> BuildColumn:
    if form is KeyForm.TEXT:
        return texts(values, heap)
    if form is KeyForm.FLOAT:
        return floats(values)
    if form in (KeyForm.NUMBER, KeyForm.DECIMAL):
        return decimals(values)
    return integers(values)


def random_value(form: KeyForm, choose: random.Random, spread: int) -> Any:
    if choose.random() < 0.1:
        return None
    number = choose.randint(-spread, spread)
    if form is KeyForm.TEXT:
        return f"value {number}" if choose.random() < 0.5 else f"a value that is long {number}"
    if form is KeyForm.FLOAT:
        return choose.choice([float(number), number / 3, -0.0, 0.0, float("nan"), float("inf")])
    if form is KeyForm.DECIMAL:
        return (number % 10**16 * 10**20, 2)
    if form is KeyForm.NUMBER:
        scale = choose.randint(0, 3)
        return (number * 10**scale, scale)
    return number


def model_key(form: KeyForm, value: Any) -> Any:
    if form is KeyForm.FLOAT:
        return "NaN" if value != value else value + 0.0
    return Fraction(value[0], 10 ** value[1]) if form is KeyForm.NUMBER else value


def probe(table: JoinTable, keys: list[tuple[BuildColumn, KeyForm]], row: int, heap: np.ndarray) -> range:
    """Return the rows that match the keys at `row` of some columns, as a generated kernel finds
    them.
    """
    words = [int(word[row]) for column, form in keys for word in key_words(column, form)]
    forms = [form for _, form in keys]
    if sum(KEY_WORDS[form] for form in forms) == 1:
        return range(*probe_word(table.index, words[0]))
    entry: Words = np.array([0, *words], dtype=np.int64)
    place = 1
    for form in forms:
        if form is KeyForm.TEXT:
            entry[place + 1] = text_key(entry[place], entry[place + 1], heap.ctypes.data)
        place += KEY_WORDS[form]
    return range(*probe_entry(table.index, entry, 1, len(words), text_mask(forms)))


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(60))
def test_every_key_finds_its_rows(seed: int) -> None:
    choose = random.Random(seed)
    forms = [choose.choice(list(KeyForm)) for _ in range(choose.choice([1, 1, 2, 3]))]
    spread = choose.choice([3, 100, 10**6, 2**62])
    count = choose.choice([0, 1, 10, 1000])
    heap, probe_heap = bytearray(), bytearray()
    values = [[random_value(form, choose, spread) for _ in range(count)] for form in forms]
    wanted = [
        [
            choose.choice(known) if known and choose.random() < 0.7 else random_value(form, choose, spread)
            for _ in range(300)
        ]
        for form, known in zip(forms, values, strict=True)
    ]
    keys = [(make_column(form, known, heap), form) for form, known in zip(forms, values, strict=True)]
    probes = [(make_column(form, known, probe_heap), form) for form, known in zip(forms, wanted, strict=True)]
    numbers = integers([None if choose.random() < 0.2 else row for row in range(count)])
    names = texts([f"row {row} of the build side" for row in range(count)], heap)
    build_heap = np.frombuffer(bytes(heap), dtype=np.uint8)
    table = build_join_table(count, [numbers, names], keys, build_heap)
    model: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*values, strict=True)):
        if None not in key:
            model[tuple(model_key(form, part) for form, part in zip(forms, key, strict=True))].append(row)
    assert table.rows_count == sum(map(len, model.values())) and table.keys_count == len(model)
    rows = table.rows.reshape(-1, 4)
    assert rows[-1].tolist() == [3, 0, 0, 0], "the last row is all NULL"
    other_heap = np.frombuffer(bytes(probe_heap) + b"\0", dtype=np.uint8)
    for row, key in enumerate(zip(*wanted, strict=True)):
        if None in key:
            continue
        found = rows[list(probe(table, probes, row, other_heap))]
        expected = model.get(tuple(model_key(form, part) for form, part in zip(forms, key, strict=True)), [])
        words = [(int(numbers.nulls[at]), int(numbers.data[at]), *map(int, names.data[at])) for at in expected]
        assert [tuple(line) for line in found.tolist()] == words


@pytest.mark.parametrize(
    ("keys", "dense"), [(list(range(5000)), True), ([1, 2**40], False), ([7, 4000], True), ([], False)]
)
def test_dense_integers_are_addresses(keys: list[int | None], dense: bool) -> None:
    table = build_join_table(len(keys), [], [(integers(keys), KeyForm.WORD)], np.zeros(0, dtype=np.uint8))
    assert table.is_dense == dense
    for absent in (-(2**63), 2**63 - 1, -1):
        assert len(range(*probe_word(table.index, absent))) == 0
    for key in keys:
        assert key is not None and len(range(*probe_word(table.index, key))) == 1


def test_floats_keep_their_bits() -> None:
    column = floats([1.5, -0.0, None])
    table = build_join_table(3, [column], [], np.zeros(0, dtype=np.uint8))
    assert [word_float(word) for word in table.rows.reshape(-1, 2)[:, 1].tolist()] == [1.5, 0.0, 0.0, 0.0]
    assert table.rows_count == 3
