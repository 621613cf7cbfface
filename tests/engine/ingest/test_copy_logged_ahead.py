"""The log has the rows of a COPY while it goes on: once, and they count only after COMMIT."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.commit.staging import AT_ONCE_ROWS_MAX, StatementStage
from engine.ingest.copy_in import CopyIn
from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.ingest.test_copy_in import open_copy
from tests.engine.session_client import World

ROWS_COUNT = 4 * AT_ONCE_ROWS_MAX
LINES = [f"{key}\ttext {'x' * (key % 40)}\n".encode() for key in range(ROWS_COUNT)]
VIEWS = ("CREATE VIEW counted AS SELECT count(*) AS n, sum(k) AS total FROM s", "SELECT * FROM counted")
EXPECTED = [f"D [b'{ROWS_COUNT}', b'{sum(range(ROWS_COUNT))}']"]
NOTHING = ["D [b'0', None]"]
# What is copied after ours, and changes the log only.
OTHER = "CREATE FOREIGN TABLE other (a int) SERVER stream"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, copy_block_bytes=16_384)
    made.client().after("CREATE FOREIGN TABLE s (k int, t text) SERVER stream", VIEWS[0], OTHER)
    yield made
    made.close()


def copied(world: World, lines: list[bytes]) -> tuple[CopyIn, StatementStage]:
    """Return a COPY that has taken lines and its stage."""
    copy = open_copy(world)
    take(copy, lines)
    (stage,) = copy.stages()
    return copy, stage


def take(copy: CopyIn, lines: list[bytes]) -> None:
    for start in range(0, len(lines), 1000):
        if copy.take(b"".join(lines[start : start + 1000])):
            copy.decode()


def commit(world: World, copy: CopyIn) -> None:
    copy.finish()
    transaction = world.database.transactions.begin()
    transaction.operations.extend(copy.stages())
    world.database.committer.commit(transaction)


def after_a_crash(world: World, tmp_path: Path) -> object:
    """Return what a view has after a start that replays the log."""
    world.abandon()
    again = World(tmp_path)
    try:
        return again.client().rows(VIEWS[1])
    finally:
        again.close()


def test_rows_are_in_the_log_once_and_count_after_commit(world: World, tmp_path: Path) -> None:
    log = world.database.log
    before = log.place.position
    copy, stage = copied(world, LINES)
    ahead = stage.ahead
    assert ahead is not None and ahead.count == stage.morsels_count > 3
    written = log.place.position - before
    assert written > 100_000 and world.client().rows(VIEWS[1]) == NOTHING
    commit(world, copy)
    assert stage.ahead is None and log.place.position - before < 1.2 * written
    with log.standstill() as mark:
        assert mark.first == mark.decided
    assert world.client().rows(VIEWS[1]) == EXPECTED == after_a_crash(world, tmp_path)


def test_rows_of_a_copy_that_is_not_over_do_not_count_after_a_crash(world: World, tmp_path: Path) -> None:
    _, stage = copied(world, LINES)
    assert stage.ahead is not None
    assert world.client().ask(query("COPY other FROM STDIN"), copy_data(b"1\n"), COPY_DONE)[-1] == "Z I"
    world.database.log.flush(sync=True)
    assert after_a_crash(world, tmp_path) == NOTHING


def test_an_idle_copy_does_not_keep_the_log(world: World, tmp_path: Path) -> None:
    """The commit of a forgotten COPY appends all of its rows anew, once."""
    log = world.database.log
    copy, stage = copied(world, LINES[: ROWS_COUNT // 2])
    begun = log.place
    for is_kept in (True, False):
        world.client().run("CHECKPOINT")
        assert stage.ahead is not None and stage.ahead.is_kept == is_kept
        # Else there would be nothing for the next checkpoint.
        assert world.client().ask(query("COPY other FROM STDIN"), copy_data(b"1\n"), COPY_DONE)[-1] == "Z I"
    with log.standstill() as mark:
        assert mark.first.position >= begun.position
    take(copy, LINES[ROWS_COUNT // 2 :])
    commit(world, copy)
    assert world.client().rows(VIEWS[1]) == EXPECTED == after_a_crash(world, tmp_path)


def test_a_copy_that_is_given_up_does_not_keep_the_log(world: World) -> None:
    copy, stage = copied(world, LINES)
    copy.drop()
    assert stage.ahead is None
    with world.database.log.standstill() as mark:
        assert mark.first == mark.decided


@pytest.mark.parametrize("ends", ["COMMIT", "ROLLBACK", "ROLLBACK TO a"])
def test_copies_in_a_block(ends: str, world: World, tmp_path: Path) -> None:
    client = world.client()
    client.run("BEGIN")
    for _ in range(2):
        reply = client.ask(query("COPY s FROM STDIN"), copy_data(b"".join(LINES)), COPY_DONE)
        assert reply[-2:] == [f"C COPY {ROWS_COUNT}", "Z T"]
        client.run("SAVEPOINT a")
        client.run("INSERT INTO s VALUES (1, 'behind')")
    client.run(ends)
    client.run("COMMIT")
    times = {"COMMIT": 2, "ROLLBACK": 0, "ROLLBACK TO a": 2}[ends]
    behind = {"COMMIT": 2, "ROLLBACK": 0, "ROLLBACK TO a": 1}[ends]
    total = times * sum(range(ROWS_COUNT)) + behind
    expected = [f"D [b'{times * ROWS_COUNT + behind}', b'{total}']"] if times else NOTHING
    assert client.rows(VIEWS[1]) == expected == after_a_crash(world, tmp_path)
