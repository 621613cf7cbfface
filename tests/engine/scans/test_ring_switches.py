"""A thread asks a stream for its positions while a writer comes in between, at any bytecode: the
answer is of one moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import engine.commit.parts
import engine.scans.rows
import engine.scans.scans
import engine.statements.explaining
import engine.streams.ring_rebuild
import engine.streams.statistics
import ringbuffer.ring.ring
import ringbuffer.ring.scan
from engine.catalog.image import StreamEntry
from engine.scans.scans import ScanSettings, begin, is_folded, overwritten
from engine.statements.explaining import stream_line
from engine.streams.ring_rebuild import Reshaping
from engine.streams.statistics import stream_statistics
from engine.streams.stream import Stream
from ringbuffer.memory.columns import Morsel
from ringbuffer.ring.ring import Ring
from tests.engine.session_client import World
from tests.ringbuffer.switches import at_every_place

MODULES = (
    engine.commit.parts,
    engine.streams.ring_rebuild,
    engine.statements.explaining,
    engine.scans.rows,
    engine.scans.scans,
    engine.streams.statistics,
)
FILES = tuple(Path(str(module.__file__)) for module in (*MODULES, ringbuffer.ring.ring, ringbuffer.ring.scan))
CAPACITY, BEFORE, ADDED = 4, 6, 11


@dataclass
class Filled:
    """A stream whose ring is made anew for each switch, full of rows."""

    stream: Stream
    rows: Morsel

    def again(self) -> Ring:
        self.stream = replace(self.stream, ring=Ring(self.stream.row_layout, CAPACITY))
        self.write(BEFORE)
        return self.stream.ring

    def write(self, count: int) -> None:
        for _ in range(count):
            self.stream.ring.append(self.rows)


@pytest.fixture
def filled(world: World) -> Filled:
    client = world.client()
    client.run(
        f"CREATE FOREIGN TABLE s (k bigint, t text) SERVER stream OPTIONS (capacity '{CAPACITY}')",
        "INSERT INTO s VALUES (1, 'x')",
    )
    (entry,) = (entry for entry in world.database.catalog.image.entries.values() if isinstance(entry, StreamEntry))
    return Filled(entry.stream, entry.stream.ring.read(0, 1))


def everywhere(filled: Filled, work: Callable[[], None]) -> None:
    """Do it with a writer in between, at every place."""
    for switch in at_every_place(*FILES):
        ring = filled.again()
        switch.runs(work, lambda: filled.write(ADDED), ring._lock)


def test_statistics(filled: Filled) -> None:
    def look() -> None:
        (row,) = stream_statistics([filled.stream]).to_pylist()
        assert row["newest_tid"] + 1 == row["tuples"] and row["newest_tid"] - row["oldest_tid"] + 1 == CAPACITY
        assert row["rounds"] == -(-row["tuples"] // CAPACITY)

    everywhere(filled, look)


def test_explain_and_errors(filled: Filled) -> None:
    whole = [f"tuples {end - CAPACITY} to {end - 1} are" for end in range(BEFORE, BEFORE + ADDED + 1)]
    told = [f"is left is {end - CAPACITY}, the newest {end - 1}." for end in range(BEFORE, BEFORE + ADDED + 1)]

    def look() -> None:
        line = stream_line(filled.stream, frozenset())
        assert any(text in line for text in whole), line
        detail = overwritten(filled.stream, 0).detail
        assert detail is not None and any(text in detail for text in told), detail

    everywhere(filled, look)


def test_the_beginning_of_scans(filled: Filled) -> None:
    settings = ScanSettings(from_newest=False, timeout_s=0.0, bytes_max=1 << 20, now_us=0)

    def look() -> None:
        (scan,) = begin([filled.stream], [], [], settings)
        assert scan.end is not None and scan.end - scan.scan.position > 0
        assert is_folded(filled.stream, settings) in (True, False)
        assert 0 <= filled.stream.ring.kept_count <= CAPACITY

    everywhere(filled, look)


def test_a_ring_that_is_made_anew(filled: Filled) -> None:
    for switch in at_every_place(*FILES):
        before = filled.again()
        after = replace(filled.stream, ring=Ring(filled.stream.row_layout, 2 * CAPACITY))
        reshaping = Reshaping(filled.stream, after)
        switch.runs(lambda: reshaping.carry_over(lambda: None), lambda: filled.write(ADDED), before._lock)  # noqa: B023
        # COMMIT, where nobody writes.
        reshaping.carry_over(lambda: None)
        assert after.ring.kept == (before.oldest_tid, before.tuples_count) or after.ring.oldest_tid < before.oldest_tid
        assert after.ring.tuples_count == before.tuples_count
