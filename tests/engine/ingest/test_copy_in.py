"""COPY FROM STDIN on worker threads: pieces of any size, publishing on time, and threads that meet
at its end.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.catalog.image import StreamEntry
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.ingest.copy_blocks import Beside
from engine.ingest.copy_in import CopyIn, CopyServer, Publishing
from engine.ingest.insert import make_target
from ringbuffer.decode.copy_decoder import CopyDecoder
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.copy import CopyFrom
from sql.times.input_styles import USUAL
from sql.wire.messages import CopyData
from tests.end_to_end.raw_client import COPY_DONE, copy_data
from tests.engine.session_client import SessionClient, World, rows_of

SEED = 11
THREADS = ThreadPoolExecutor(2)
LINES = [f"{key}\ttext {'x' * (key % 40)}\n".encode() for key in range(3000)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, copy_block_bytes=4096)
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW counted AS SELECT count(*) AS n FROM s",
        "CREATE VIEW inverse AS SELECT sum(1000 / (k + 1)) AS total FROM s",
    )


def open_copy(world: World, options: str = "", publish_ms: int | None = None) -> CopyIn:
    image = world.database.catalog.image
    entry = image.entries["s"]
    assert isinstance(entry, StreamEntry)
    (statement,) = parse(f"COPY s FROM STDIN {options}")
    assert isinstance(statement, CopyFrom)
    target = make_target(entry, None, world.database.engines.tables, 0, "UTC")
    database = world.database
    server = CopyServer(
        database.transactions,
        database.committer,
        database.catalog,
        database.clock,
        world.config.copy_block_bytes,
        THREADS.submit,
    )
    publishing = Publishing(publish_ms, waits=False, waits_for_log=True, is_first=True)
    return CopyIn(server, target, statement.options, image, 0, "UTC", USUAL, publishing)


def keys(stage: StatementStage) -> list[object]:
    return [row["k"] for row in rows_of(stage)]


@pytest.mark.parametrize("seed", range(SEED, SEED + 5))
def test_pieces_of_any_size(world: World, client: SessionClient, seed: int) -> None:
    draw = random.Random(seed)
    data = b"".join(LINES)
    copy = open_copy(world)
    start = 0
    while start < len(data):
        size = draw.choice([1, 10, 500, 4000, 20_000])
        if copy.take(data[start : start + size]):
            copy.decode()
        start += size
    copy.finish()
    (stage,) = copy.stages()
    assert keys(stage) == list(range(len(LINES))) and copy.rows_count == len(LINES)


def test_a_timer_and_the_client_meet(world: World, client: SessionClient) -> None:
    """Bytes that one thread takes while another decodes are neither lost nor out of order."""
    copy = open_copy(world)
    is_over = threading.Event()

    def decode_often() -> None:
        while not is_over.is_set():
            copy.decode()

    timer = threading.Thread(target=decode_often)
    timer.start()
    for line in LINES:
        if copy.take(line):
            copy.decode()
    is_over.set()
    timer.join()
    copy.finish()
    (stage,) = copy.stages()
    assert keys(stage) == list(range(len(LINES)))


def test_published_rows_stay_and_the_error_counts_them(world: World, client: SessionClient) -> None:
    copy = open_copy(world, publish_ms=0)
    for start in range(0, 300, 100):
        copy.take(b"".join(LINES[start : start + 100]))
        copy.decode()
    assert client.rows("SELECT n FROM counted") == ["D [b'300']"]
    copy.take(b"1\ta\n-1\tb\n")
    with pytest.raises(SqlError) as caught:
        copy.decode()
    error = copy.with_published(caught.value)
    assert error.sqlstate == "22012" and error.detail == "300 lines of this COPY are already committed."
    copy.drop()
    assert client.rows("SELECT n FROM counted") == ["D [b'300']"]


def test_a_bad_line_after_published_ones(world: World, client: SessionClient) -> None:
    copy = open_copy(world, publish_ms=0)
    copy.take(b"1\ta\n")
    copy.decode()
    copy.take(b"x\tb\n")
    with pytest.raises(SqlError) as caught:
        copy.decode()
    assert caught.value.context == 'COPY s, line 2, column k: "x"'
    assert caught.value.detail == "1 lines of this COPY are already committed."


def test_how_long_an_idle_client_waits(world: World, client: SessionClient) -> None:
    copy = open_copy(world, publish_ms=60_000)
    assert copy.publish_wait_s() is None
    assert not copy.take(b"1\ta\n")
    wait_s = copy.publish_wait_s()
    assert wait_s is not None and 50 < wait_s <= 60
    assert open_copy(world).publish_wait_s() is None


def test_a_dropped_copy_does_nothing_more(world: World, client: SessionClient) -> None:
    copy = open_copy(world, publish_ms=0)
    copy.take(b"1\ta\n")
    copy.drop()
    copy.decode()
    copy.finish()
    (stage,) = copy.stages()
    assert stage.rows_count == 0
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]


def test_a_timer_that_comes_after_the_end_publishes_nothing(world: World, client: SessionClient) -> None:
    copy = open_copy(world, publish_ms=0)
    copy.take(b"1\ta\n")
    copy.finish()
    copy.decode()
    (stage,) = copy.stages()
    assert keys(stage) == [1]
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]


def test_options_that_name_columns(world: World, client: SessionClient) -> None:
    with pytest.raises(SqlError, match='column "nosuch" of relation "s" does not exist'):
        open_copy(world, "WITH (FORMAT csv, FORCE_NULL (nosuch))")


@pytest.mark.parametrize(("options", "publishes"), [("", True), ("WITH (publish '0')", False)])
def test_the_option_wins_over_the_setting(client: SessionClient, options: str, publishes: bool) -> None:
    client.run("SET stream_publish_interval = '1h'")
    client.ask(f"COPY s FROM STDIN {options}", copy_data(b"1\ta\n"))
    running = client.session._copy._copy
    assert running is not None and (running.publish_wait_s() is not None) == publishes
    assert client.ask(COPY_DONE) == ["C COPY 1", "Z I"]


def test_each_copy_of_a_session_is_published_in_its_own_time(world: World, client: SessionClient) -> None:
    client.ask("COPY s FROM STDIN WITH (publish '1h')", copy_data(LINES[0]), COPY_DONE)
    client.ask("COPY s FROM STDIN WITH (publish '1ms')", copy_data(LINES[1]))
    reader, end_s = world.client(), time.monotonic() + 30
    while reader.rows("SELECT n FROM counted") != ["D [b'2']"]:
        assert time.monotonic() < end_s, "the row of an idle client is not published"
        world.runner.run(asyncio.sleep(0.001))
    assert client.ask(COPY_DONE) == ["C COPY 1", "Z I"]


@pytest.mark.parametrize("value", ["on", "off"])
def test_what_is_published_waits_for_the_disk_as_the_session_says(
    world: World, client: SessionClient, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    waited: list[bool] = []
    commit = world.database.committer.commit

    def told(transaction: Transaction) -> None:
        waited.append(transaction.waits_for_log)
        commit(transaction)

    monkeypatch.setattr(world.database.committer, "commit", told)
    client.run(f"SET synchronous_commit = {value}")
    client.ask("COPY s FROM STDIN WITH (publish '1ms')", copy_data(LINES[0]))
    running = client.session._copy._copy
    assert isinstance(running, CopyIn)
    time.sleep(0.002)
    running.decode()
    assert waited and set(waited) == {value == "on"}
    assert client.ask(COPY_DONE) == ["C COPY 1", "Z I"]


@pytest.mark.parametrize("rows", [1, 3])
def test_a_long_row_is_not_copied_with_each_block(
    world: World, client: SessionClient, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[int] = []

    def pending(decoder: CopyDecoder) -> bytes:
        copied.append(len(decoder._pending))
        return bytes(decoder._pending)

    monkeypatch.setattr(CopyDecoder, "pending_bytes", property(pending))
    size = 4 << 20
    copy = open_copy(world)
    data = b"".join(b"%d\t%s\n" % (number, b"x" * size) for number in range(rows))
    for start in range(0, len(data), 16_384):
        if copy.take(data[start : start + 16_384]):
            copy.decode()
    copy.finish()
    assert copy.rows_count == rows
    # Each block with all before it would be 128 times as much.
    assert sum(copied) < 6 * len(data)
    copy.drop()


def test_the_error_of_an_earlier_block_comes_first(world: World, client: SessionClient) -> None:
    """A view refuses a row of the first block; a line of the second one is no row."""
    copy = open_copy(world)
    copy.take(b"-1\tno view takes this\n" + b"".join(LINES[:200]))
    copy.take(b"x\tno number\n" + b"".join(LINES[:200]))
    with pytest.raises(SqlError) as caught:
        copy.decode()
    assert caught.value.sqlstate == "22012"
    copy.drop()


def test_blocks_are_decoded_while_others_come(world: World, client: SessionClient) -> None:
    bad = [*LINES[:2500], b"x\tno number\n", *LINES[2500:]]
    sent = [copy_data(b"".join(bad[start : start + 100])) for start in range(0, len(bad), 100)]
    said = client.ask("COPY s FROM STDIN", *sent, COPY_DONE)
    assert said[1:] == ['E ERROR 22P02: invalid input syntax for type integer: "x"', "Z I"]
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]
    sent = [copy_data(b"".join(LINES[start : start + 100])) for start in range(0, len(LINES), 100)]
    assert client.ask("COPY s FROM STDIN", *sent, COPY_DONE)[-2:] == ["C COPY 3000", "Z I"]
    assert client.rows("SELECT n FROM counted") == ["D [b'3000']"]


def test_work_beside_another_thread_is_done_here_when_none_is_free() -> None:
    with ThreadPoolExecutor(1) as pool:
        is_over = threading.Event()
        done: list[int] = []
        pool.submit(is_over.wait)
        beside = Beside(pool.submit)
        beside.do(done.append, 1)
        beside.do(done.append, 2)
        beside.wait()
        is_over.set()
    assert done == [1, 2]


@pytest.mark.parametrize("is_bug", [False, True])
def test_nothing_is_rolled_back_under_a_thread_that_decodes(
    world: World, client: SessionClient, monkeypatch: pytest.MonkeyPatch, is_bug: bool
) -> None:
    client.run("CREATE TABLE IF NOT EXISTS stored (key integer, text text)")
    client.ask("COPY stored FROM STDIN")
    session, open_after = client.session, []
    running = session._copy._copy
    assert running is not None
    decode = running.decode

    def slowly() -> bool:
        time.sleep(0.05)
        open_after.append(session.block.open is not None)
        return decode()

    async def give_up() -> None:
        assert session.handle(CopyData(b"".join(LINES[:300]))) is None and session.under_way() is not None
        if not is_bug:
            await session._copy.end_with(SqlError("57014", "enough"))
            return
        assert await session.abort_after_bug() == "I"
        session.connection.conversation.end_copy_in()

    monkeypatch.setattr(running, "decode", slowly)
    world.runner.run(give_up())
    assert open_after and all(open_after) and session.under_way() is None
    assert client.rows("SELECT count(*) FROM stored") == ["D [b'0']"]
