"""Sketches keep the bounds that their pages state, over a hundred distributions each, in any split
of the values and any order of the parts.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from engine.embedded.functions.sums import top_counts, top_values
from ringbuffer.groups.aggregates import SKETCHES, State
from ringbuffer.groups.sketches import Sketch
from ringbuffer.groups.top_values import ENTRIES_MAX
from ringbuffer.memory.error_codes import NOT_A_SKETCH, OK, PERCENTILE_RANGE, SKETCH_OF_OTHERS
from ringbuffer.scalar.texts.counters import COLUMNS, KIND_MASK, ROWS, contained, counted, word_hash
from ringbuffer.scalar.texts.quantiles import float_order, float_quantile, share_up_to, word_quantile
from ringbuffer.scalar.texts.sketches import word_cell
from sql.errors import SqlError

Words = npt.NDArray[np.int64]
RANK_ERROR, SURE = 0.0133, 0.99
FRACTIONS = np.linspace(0, 1, 101)


def words_of(data: bytes) -> tuple[int, int, npt.NDArray[np.uint8]]:
    """Return the words of a string, and what keeps its bytes."""
    kept = np.frombuffer(data.ljust(16, b"\0"), np.uint8)
    w0 = len(data) | int.from_bytes(data[:4].ljust(4, b"\0"), "little", signed=True) << 32
    return w0, kept.ctypes.data, kept


def made(state: State, values: Words, draw: random.Random, parts: int) -> bytes:
    """Return a sketch of values that were split, and merged in some order."""
    cuts = sorted(draw.randrange(len(values) + 1) for _ in range(parts - 1))
    sketches = []
    for low, high in pairwise([0, *cuts, len(values)]):
        sketch = Sketch()
        sketch.note(state, values[low:high])
        sketches += [sketch.bytes] if sketch.bytes else []
    while len(sketches) > 1:
        draw.shuffle(sketches)
        taken = draw.randint(2, len(sketches))
        merged = Sketch()
        for one in sketches[:taken]:
            merged.add(one)
        assert merged.bytes is not None
        sketches = [merged.bytes, *sketches[taken:]]
    return sketches[0]


def distribution(number: int, draw: np.random.Generator) -> Words:
    """Return the values of one of a hundred distributions, in one of its orders."""
    count = int(10 ** draw.uniform(2, 4.7))
    families = (
        lambda: draw.integers(-(1 << 62), 1 << 62, count),
        lambda: draw.normal(0, 1e6, count).astype(np.int64),
        lambda: draw.exponential(1e9, count).astype(np.int64),
        lambda: np.minimum(draw.lognormal(0, 8, count), 1e18).astype(np.int64),
        lambda: draw.zipf(1.3, count).clip(0, 1 << 40).astype(np.int64),
        lambda: draw.integers(0, 7, count),
        lambda: 10**15 + draw.integers(0, 100_000, count),
        lambda: np.where(draw.random(count) < 0.5, draw.integers(0, 10, count), draw.integers(10**9, 2 * 10**9, count)),
        lambda: np.full(count, number),
        lambda: np.arange(count) ** 2,
    )
    values = np.asarray(families[number % 10](), np.int64)
    match number // 10 % 5:
        case 0:
            values.sort()
        case 1:
            values[::-1].sort()
        case 2:
            values.sort()
            values = np.concatenate([values[::2], values[1::2][::-1]])
    return values


@pytest.mark.slow
def test_ranks_are_as_near_as_said() -> None:
    draw, order, errors = np.random.default_rng(3), random.Random(3), []
    for number in range(100):
        values = distribution(number, draw)
        data = made(State.QUANTILES, values, order, order.choice((1, 2, 9, 40)))
        assert len(data) < 12_000
        w0, w1, kept = words_of(data)
        ordered = np.sort(values)
        for fraction in FRACTIONS:
            found, error = word_quantile(w0, w1, 0, float(fraction))
            wanted = max(1, math.ceil(fraction * len(values)))
            # Equal values have all ranks from the first to the last of them.
            low, high = np.searchsorted(ordered, found, "left") + 1, np.searchsorted(ordered, found, "right")
            assert error == OK and high >= low
            errors.append(max(low - wanted, wanted - high, 0) / len(values))
            assert errors[-1] == 0 or len(values) > 200
        ends = [word_quantile(w0, w1, 0, float(end))[0] for end in (0, 1)]
        assert ends == [ordered[0], ordered[-1]]
        assert kept is not None
    assert np.mean(np.array(errors) <= RANK_ERROR) >= SURE
    assert max(errors) < 2 * RANK_ERROR


@pytest.mark.slow
def test_counts_are_as_near_as_said() -> None:
    draw, order, far, asked = np.random.default_rng(4), random.Random(4), 0, 0
    for number in range(100):
        values = distribution(number, draw)[:20_000]
        counts = Counter(values.tolist())
        hashes = np.array([word_hash(value, 1) for value in values.tolist()])
        w0, w1, kept = words_of(made(State.COUNTERS, hashes, order, order.choice((1, 3, 20))))
        for value in [*order.sample(sorted(counts), min(len(counts), 200)), 1 << 61, -17]:
            found, error = counted(w0, w1, 0, word_hash(value, 1))
            assert error == OK and found >= counts[value]
            asked += 1
            far += found - counts[value] > math.e / COLUMNS * len(values)
        assert kept is not None
    assert far / asked < math.exp(-ROWS)


@pytest.mark.slow
def test_what_came_most_often_is_as_near_as_said() -> None:
    draw, order = np.random.default_rng(7), random.Random(7)
    for number in range(100):
        values = distribution(number, draw)[:4_000].tolist()
        counts = Counter(str(value) for value in values)
        sketches = [Sketch() for _ in range(order.choice((1, 2, 7)))]
        for place, sketch in enumerate(sketches):
            sketch.count(str(value).encode() for value in values[place :: len(sketches)])
        whole = Sketch()
        for sketch in order.sample(sketches, len(sketches)):
            if sketch.bytes:
                whole.add(sketch.bytes)
        assert whole.bytes is not None
        found = dict(zip(top_values(whole.bytes, 256), top_counts(whole.bytes, 256), strict=True))
        limit = 2 * len(values) / ENTRIES_MAX
        assert all(0 <= times - counts[text] <= limit for text, times in found.items()), number
        assert {text for text, times in counts.items() if times > limit} <= found.keys(), number
        assert found == counts or len(counts) > ENTRIES_MAX
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0].encode()))
        assert list(found.items()) == ordered and top_values(whole.bytes, 3) == [text for text, _ in ordered[:3]]


def test_filters_say_yes_to_all_and_to_few_others() -> None:
    order, wrong = random.Random(5), 0
    known = np.array([word_hash(value, 1) for value in range(0, 2 * 16_384, 2)])
    w0, w1, kept = words_of(made(State.FILTER, known, order, 7))
    assert all(contained(w0, w1, 0, int(one)) == (True, OK) for one in known)
    wrong = sum(contained(w0, w1, 0, word_hash(value, 1))[0] for value in range(1, 40_000, 2))
    assert 0 < wrong / 20_000 < 0.025
    assert kept is not None


@pytest.mark.parametrize("state", sorted({*SKETCHES} - {State.COMBINED, State.QUANTILES, State.TOP}))
def test_splits_and_orders_make_no_difference(state: State) -> None:
    order, draw = random.Random(6), np.random.default_rng(6)
    for count in (1, 17, 3_000):
        values = draw.integers(0, 900, count).tolist()
        make = word_cell if state is State.REGISTERS else lambda value: word_hash(value, 1)
        words = np.array([make(value) for value in values])
        whole = made(state, words, order, 1)
        assert all(made(state, draw.permutation(words), order, parts) == whole for parts in (1, 2, 30))


def test_floats_have_the_order_of_the_words() -> None:
    ordered = [-math.inf, -1e300, -2.5, -5e-324, 0.0, 5e-324, 1.5, math.inf, math.nan]
    words = [float_order(value) for value in ordered]
    assert words == sorted(set(words)) and float_order(-0.0) == float_order(0.0)
    sketch = Sketch()
    sketch.note(State.QUANTILES, np.array(words))
    assert sketch.bytes is not None
    w0, w1, _kept = words_of(sketch.bytes)
    found = [float_quantile(w0, w1, 0, (place + 0.5) / len(ordered))[0] for place in range(len(ordered))]
    assert [repr(float(one)) for one in found] == [repr(one) for one in ordered]
    assert share_up_to(w0, w1, 0, 0.0) == (5 / 9, OK) and share_up_to(w0, w1, 0, math.nan) == (1.0, OK)


def test_other_bytes_are_no_sketches() -> None:
    sketch, draw = Sketch(), random.Random(8)
    sketch.note(State.QUANTILES, np.arange(1_000))
    whole = sketch.bytes
    assert whole is not None
    w0, w1, kept = words_of(whole)
    assert word_quantile(w0, w1, 0, 1.5)[1] == word_quantile(w0, w1, 0, math.nan)[1] == PERCENTILE_RANGE
    assert counted(w0, w1, 0, 1)[1] == contained(w0, w1, 0, 1)[1] == NOT_A_SKETCH and kept is not None
    for _ in range(300):
        # Whatever the header says, nothing beyond the bytes is read.
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(400)] = draw.randrange(256)
        given = bytes(data[: draw.choice((len(data), draw.randrange(len(data))))])
        w0, w1, kept = words_of(given)
        assert word_quantile(w0, w1, 0, 0.5)[1] in (OK, NOT_A_SKETCH)
        other = Sketch()
        other.add(whole)
        other.add(given)
    texts = Sketch()
    texts.count([b"a", b"", b"a longer text than twelve", b"a"])
    assert texts.bytes is not None and top_values(texts.bytes, 9) == ["a", "", "a longer text than twelve"]
    for at in range(len(texts.bytes)):
        changed = bytearray(texts.bytes)
        changed[at] ^= 1 << draw.randrange(8)
        for given in (bytes(changed), texts.bytes[:at]):
            with suppress(SqlError):
                assert len(top_values(given, 9)) <= 3
            other = Sketch()
            other.add(texts.bytes)
            other.add(given)
    counters = Sketch()
    counters.note(State.COUNTERS, np.array([word_hash(1, 1)]))
    assert counters.bytes is not None
    w0, w1, kept = words_of(counters.bytes)
    assert counted(w0, w1, 0, word_hash(1, 2))[1] == SKETCH_OF_OTHERS and word_hash(1, 2) & KIND_MASK == 2
    counters.add(whole)
    assert counters.bytes is None
