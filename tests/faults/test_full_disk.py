"""A disk that is full at the moments that the sweep over all events meets by chance only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.history import History, Outcome
from tests.faults.machine import Machine, fast_starts
from tests.faults.operations import create_stream, create_table, create_view, insert, mixed


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with fast_starts(tmp_path / "kernels"):
        machine = Machine(tmp_path / "machine")
        found = History(machine)
        assert found.start()
        for operation in (create_stream(), create_table(), create_view("all_rows")):
            assert found.run(operation) is Outcome.COUNTS
        yield found
        machine.end()


def room(history: History) -> int:
    assert history.machine.world is not None
    return history.machine.world.database.log._segments.room


def test_what_the_tables_have_decided_is_done(history: History) -> None:
    """The log has room for a transaction up to its PREPARE, but not for the record that says that
    it was committed.
    """
    before = room(history)
    history.run(mixed(1))
    needed = before - room(history)
    before = room(history)
    history.run(insert(2))
    while room(history) > 2 * 60_000:
        history.run(insert(3, size=60_000))
    # How large the record of a row without a text is; then one whose text leaves too little room.
    history.run(insert(4, size=0))
    before = room(history)
    history.run(insert(4, size=0))
    small = before - room(history)
    # A thread that appends wants room for two headers more than it may need.
    history.run(insert(4, size=(room(history) - small - needed) // 8 * 8 - 32))
    assert 8 <= room(history) - needed < 56, (room(history), needed)
    disk = history.machine.disk
    disk.bytes_max = 0
    assert history.run(mixed(5)) is Outcome.COUNTS, history.told
    history.check_running("when COMMITTED has no room")
    disk.bytes_max = None
    history.machine.lose_power(1)
    assert history.start() and history.check_started("after a power loss"), history.problems
    assert not history.problems
