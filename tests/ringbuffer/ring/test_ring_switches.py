"""A thread reads a ring while a writer comes in between, between any two bytecodes: the rows are of
one moment, or an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import ringbuffer.ring.ring
import ringbuffer.ring.scan
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.ring.ring import OverwrittenError, Ring
from ringbuffer.ring.scan import RingScan
from tests.ringbuffer.plain_rows import make_morsel, plain_rows
from tests.ringbuffer.switches import Switch, at_every_place

LAYOUT = (ColumnLayout("number", PhysicalType.INT64), ColumnLayout("word", PhysicalType.TEXT))
CAPACITY = 4
FILES = (Path(ringbuffer.ring.ring.__file__), Path(ringbuffer.ring.scan.__file__))
# Rows that are there before, and that the writer adds: some, one round and less, several rounds.
AMOUNTS = [
    pytest.param(before, added, marks=() if (before, added) in {(3, 1), (6, 5)} else pytest.mark.slow)
    for before in (0, 3, 6)
    for added in (1, 3, 4, 5, 11)
]
# One of each of these, where a writer at every place takes seconds.
TAKEN = {(0, 1), (0, 11), (3, 1), (6, 1), (6, 5)}
SOME_AMOUNTS = [one if one.values in TAKEN else pytest.param(*one.values, marks=pytest.mark.long) for one in AMOUNTS]


def row(tid: int) -> tuple[int, str]:
    return tid, f"a text of more than twelve bytes {tid}" if tid % 2 else "short"


def fill(ring: Ring, count: int) -> None:
    first = ring.tuples_count
    ring.append(make_morsel([row(first + at) for at in range(count)], LAYOUT))


def made(before: int) -> Ring:
    ring = Ring(LAYOUT, CAPACITY)
    if before:
        fill(ring, before)
    return ring


def with_writer(switch: Switch, ring: Ring, added: int, work: object) -> object:
    assert callable(work)
    return switch.runs(work, lambda: fill(ring, added), ring._lock)


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.parametrize(("before", "added"), SOME_AMOUNTS)
def test_the_tail(before: int, added: int) -> None:
    for rows_max in (1, 3, CAPACITY):
        for switch in at_every_place(*FILES):
            ring = made(before)
            pieces = with_writer(switch, ring, added, lambda: list(ring.tail(before, rows_max)))  # noqa: B023
            end = before
            assert isinstance(pieces, list)
            for first, morsel in pieces:
                assert first + morsel.rows_count == end and morsel.rows_count > 0
                assert plain_rows(morsel, LAYOUT) == [row(first + at) for at in range(morsel.rows_count)]
                end = first
            # What nobody has written over is there.
            assert end <= max(0, min(before, before + added * switch.has_happened - CAPACITY))


@pytest.mark.parametrize(("before", "added"), AMOUNTS)
def test_what_is_kept(before: int, added: int) -> None:
    for switch in at_every_place(*FILES):
        ring = made(before)
        kept = with_writer(switch, ring, added, lambda: (ring.kept, ring.kept_count, ring.oldest_tid))  # noqa: B023
        moments = [(max(0, end - CAPACITY), end) for end in (before, before + added)]
        assert isinstance(kept, tuple) and kept[0] in moments
        assert kept[1] in [end - first for first, end in moments] and kept[2] in [first for first, _ in moments]


@pytest.mark.turns(3)
@pytest.mark.parametrize(("before", "added"), SOME_AMOUNTS)
@pytest.mark.parametrize("rows_max", [1, 3])
def test_a_scan(before: int, added: int, rows_max: int) -> None:
    for switch in at_every_place(*FILES):
        ring = made(before)
        found: list[object] = []

        def scan() -> None:
            scan = RingScan(ring, (0, 1))  # noqa: B023
            end = ring.tuples_count  # noqa: B023
            while (morsel := scan.take(end, rows_max)) is not None:
                found.extend(plain_rows(morsel, LAYOUT))  # noqa: B023
            assert scan.position == end

        try:
            with_writer(switch, ring, added, scan)
        except OverwrittenError:
            assert switch.has_happened
            continue
        numbers = [one[0] for one in found]  # type: ignore[index]
        assert found == [row(number) for number in numbers]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else not before
