"""Room in string buffers: what is admitted is what the ring then holds, by a ring that is filled in
the same order.
"""

from __future__ import annotations

import random

import pytest

from ringbuffer.memory.columns import ColumnLayout, Morsel, PhysicalType
from ringbuffer.ring.ring import Ring
from ringbuffer.ring.string_room import EXACT_ROWS_MAX, STEP_ROWS, NoRoomError, Place, string_sizes
from tests.ringbuffer.plain_rows import make_morsel

LAYOUT = (
    ColumnLayout("k", PhysicalType.INT64),
    ColumnLayout("t", PhysicalType.TEXT),
    ColumnLayout("u", PhysicalType.TEXT),
)


def texts(*lengths: int) -> Morsel:
    """Return rows whose texts have these lengths."""
    return make_morsel([(length, b"x" * length, None if length % 2 else b"short") for length in lengths], LAYOUT)


def test_sizes_of_long_strings() -> None:
    sizes = string_sizes(texts(12, 13, 0, 100), (1, 2))
    assert (sizes.rows_count, sizes.step) == (4, 1) and sizes.sums is not None
    assert list(sizes.sums) == [0, 13, 0, 100]
    assert (sizes.between(0, 4), sizes.between(1, 2), sizes.between(2, 3), sizes.between(3, 3)) == (113, 13, 0, 0)
    assert string_sizes(texts(1, 2), (1, 2)).sums is None


def test_many_rows_are_counted_in_steps() -> None:
    count = EXACT_ROWS_MAX + 1
    sizes = string_sizes(texts(*[20] * count), (1, 2))
    assert sizes.step == STEP_ROWS and sizes.between(0, count) == 20 * count
    assert sizes.between(1, STEP_ROWS + 1) == 20 * 2 * STEP_ROWS


def test_a_round_is_full_until_the_next_one_begins() -> None:
    ring = Ring(LAYOUT, 4, string_capacity=100)
    room = ring.string_room
    place = room.after([string_sizes(texts(60, 40), ring.texts)])
    assert place == Place(2, 100)
    room.set(place)
    with pytest.raises(NoRoomError) as caught:
        room.after([string_sizes(texts(13), ring.texts)])
    assert (caught.value.wanted, caught.value.used, caught.value.limit, caught.value.is_lasting) == (
        13,
        100,
        100,
        False,
    )
    # Short texts need no room, and end the round.
    assert room.after([string_sizes(texts(1, 12, 90), ring.texts)]) == Place(5, 90)
    with pytest.raises(NoRoomError) as caught:
        room.after([string_sizes(texts(1, 12, 60, 41), ring.texts)])
    assert caught.value.is_lasting
    assert room.place == Place(2, 100)


def test_a_lower_limit_lets_short_texts_pass() -> None:
    ring = Ring(LAYOUT, 4, string_capacity=100)
    ring.append(texts(90))
    ring.string_capacity = 50
    assert ring.string_room.after([string_sizes(texts(3), ring.texts)]) == Place(2, 90)
    with pytest.raises(NoRoomError):
        ring.string_room.after([string_sizes(texts(13), ring.texts)])
    assert not ring.string_room.takes_row(0)


def test_what_nobody_asked_for_counts() -> None:
    ring = Ring(LAYOUT, 4, string_capacity=100)
    ring.append(texts(60, 1, 1, 1, 70))
    assert ring.string_room.place == Place(5, 70)
    ring.string_room.add_row(20)
    assert (
        ring.string_room.place == Place(6, 90) and ring.string_room.takes_row(10) and not ring.string_room.takes_row(11)
    )
    ring.string_room.add_row(0)
    ring.string_room.add_row(0)
    assert ring.string_room.place == Place(8, 0)


@pytest.mark.parametrize("seed", range(20))
def test_admitted_rows_stay_below_the_limit(seed: int) -> None:
    chance = random.Random(seed)
    ring = Ring(LAYOUT, 1 << chance.randint(2, 4), string_bytes=1, string_capacity=chance.randint(50, 120))
    refused = 0
    for _ in range(300):
        rows = texts(*(chance.choice((0, 5, 13, 30, 60)) for _ in range(chance.randint(1, 6))))
        try:
            place = ring.string_room.after([string_sizes(rows, ring.texts)])
        except NoRoomError:
            refused += 1
            rows = texts(0)
            place = ring.string_room.after([string_sizes(rows, ring.texts)])
        ring.string_room.set(place)
        ring.append(rows)
        assert (place.tid, place.used) == ring.strings_place()
        assert max(ring.string_bytes_counts) <= ring.string_capacity
    assert refused, "nothing was refused"
