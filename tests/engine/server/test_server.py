"""The server over a real loopback socket, with sessions that have no database: raw bytes, psycopg,
asyncpg and psql.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator

import asyncpg
import psycopg
import pytest

from engine.server.server import ServerLimits, serve
from sql.wire.messages import Execute, Query
from tests.engine.fake_session import WAIT_S_MAX, FakeWorld
from tests.sql.wire.frames import SYNC_FRAME, TERMINATE_FRAME, bind, frame, opening, query, startup

LIMITS = ServerLimits(
    connections_max=4,
    message_bytes_max=1 << 20,
    read_high_water_bytes=1 << 16,
    write_high_water_bytes=1 << 16,
    shutdown_wait_s_max=5.0,
)


@pytest.fixture
def world() -> Iterator[FakeWorld]:
    running = FakeWorld(LIMITS).start()
    yield running
    running.stop()


class RawClient:
    """A socket that reads framed messages."""

    def __init__(self, world: FakeWorld) -> None:
        self.socket = socket.create_connection((world.host, world.port), timeout=WAIT_S_MAX)
        self.stream = self.socket.makefile("rb")

    def log_in(self, **parameters: str) -> list[tuple[bytes, bytes]]:
        """Send a startup packet; return the messages up to ReadyForQuery or the end."""
        self.socket.sendall(startup(version=0x30000, **{"user": "ann", "database": "antumbra", **parameters}))
        return self.until_ready()

    def message(self) -> tuple[bytes, bytes] | None:
        """Return type and body of the next message, None at the end."""
        head = self.stream.read(5)
        if not head:
            return None
        return head[:1], self.stream.read(struct.unpack("!i", head[1:])[0] - 4)

    def until_ready(self) -> list[tuple[bytes, bytes]]:
        """Return the messages up to ReadyForQuery or the end of the stream."""
        messages = []
        while (message := self.message()) is not None:
            messages.append(message)
            if message[0] == b"Z":
                break
        return messages

    def ask(self, data: bytes) -> bytes:
        """Send bytes; return the types of the answers up to ReadyForQuery."""
        self.socket.sendall(data)
        return b"".join(kind for kind, _ in self.until_ready())

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


@pytest.fixture
def client(world: FakeWorld) -> Iterator[RawClient]:
    raw = RawClient(world)
    raw.log_in()
    yield raw
    raw.close()


def error_fields(body: bytes) -> dict[str, str]:
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


class TestStartup:
    def test_encryption_is_refused_and_startup_goes_on(self, world: FakeWorld) -> None:
        raw = RawClient(world)
        for code in (80877103, 80877104):
            raw.socket.sendall(opening(code))
            assert raw.stream.read(1) == b"N"
        messages = raw.log_in(application_name="test")
        assert messages[0] == (b"R", b"\0\0\0\0")
        assert (b"S", b"application_name\0test\0") in messages
        assert [kind for kind, _ in messages[-2:]] == [b"K", b"Z"]
        raw.close()

    def test_newer_protocol_is_negotiated(self, world: FakeWorld) -> None:
        raw = RawClient(world)
        raw.socket.sendall(startup(version=0x30002, **{"user": "ann", "database": "antumbra", "_pq_.new": "1"}))
        messages = raw.until_ready()
        assert messages[0] == (b"v", struct.pack("!ii", 0x30000, 1) + b"_pq_.new\0")
        assert messages[-1] == (b"Z", b"I")
        raw.close()

    @pytest.mark.parametrize(
        ("parameters", "sqlstate"),
        [({"database": "other"}, "3D000"), ({"user": "unwanted"}, "28000"), ({"user": "buggy"}, "XX000")],
    )
    def test_refused(self, world: FakeWorld, parameters: dict[str, str], sqlstate: str) -> None:
        raw = RawClient(world)
        [(kind, body)] = raw.log_in(**parameters)
        assert kind == b"E"
        fields = error_fields(body)
        assert (fields["S"], fields["C"]) == ("FATAL", sqlstate)
        raw.close()

    def test_postgres_is_another_name_of_the_database(self, world: FakeWorld) -> None:
        raw = RawClient(world)
        assert raw.log_in(database="postgres")[-1] == (b"Z", b"I")
        raw.close()

    def test_too_many_clients(self, world: FakeWorld) -> None:
        clients = [RawClient(world) for _ in range(LIMITS.connections_max + 1)]
        for raw in clients[:-1]:
            assert raw.log_in()[-1] == (b"Z", b"I")
        [(_, body)] = clients[-1].log_in()
        assert error_fields(body)["C"] == "53300"
        clients[0].socket.sendall(TERMINATE_FRAME)
        assert clients[0].message() is None
        assert world.closed.acquire(timeout=WAIT_S_MAX)
        raw = RawClient(world)
        assert raw.log_in()[-1] == (b"Z", b"I")
        for each in [*clients, raw]:
            each.close()

    def test_a_silent_client_is_sent_away(self) -> None:
        world = FakeWorld(ServerLimits(startup_wait_s_max=0.05)).start()
        raw = RawClient(world)
        message = raw.message()
        assert message is not None
        assert error_fields(message[1])["M"] == "canceling authentication due to timeout"
        assert raw.message() is None
        raw.close()
        world.stop()

    def test_a_port_in_use_is_an_os_error(self, world: FakeWorld) -> None:
        async def again() -> None:
            await serve(
                world.host,
                world.port,
                LIMITS,
                world.door,
                lambda *_: pytest.fail("it listened"),
                lambda *_: None,
                asyncio.Event(),
            )

        with pytest.raises(OSError, match="in use") as caught:
            asyncio.run(again())
        assert caught.value.errno == errno.EADDRINUSE


class TestMessages:
    def test_order_is_kept_across_waits(self, client: RawClient) -> None:
        texts = ["echo 1", "later 2", "echo 3", "later 4", "later 5", "echo 6"]
        client.socket.sendall(b"".join(map(query, texts)))
        values = []
        for _ in texts:
            values += [body[6:] for kind, body in client.until_ready() if kind == b"D"]
        assert values == [b"1", b"2", b"3", b"4", b"5", b"6"]

    def test_a_bug_costs_one_statement(self, client: RawClient, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.ERROR, "engine.server.pump"):
            for text in ("bug", "later bug"):
                client.socket.sendall(query(text))
                (kind, body), ready = client.until_ready()
                assert (kind, ready) == (b"E", (b"Z", b"I"))
                assert error_fields(body)["C"] == "XX000"
                assert client.ask(query("echo x")) == b"TDCZ"
        assert [record.exc_info is not None for record in caplog.records] == [True, True]

    def test_a_bug_in_a_pipeline_skips_to_sync(self, client: RawClient) -> None:
        parse = frame(b"P", b"\0bug\0\0\0")
        assert client.ask(parse + bind([b"1"]) + frame(b"E", b"\0\0\0\0\0") + SYNC_FRAME) == b"EZ"
        assert client.ask(query("echo x")) == b"TDCZ"

    def test_pipeline(self, client: RawClient) -> None:
        one = bind([b"x"]) + frame(b"D", b"P\0") + frame(b"E", b"\0\0\0\0\0")
        assert client.ask(frame(b"P", b"\0echo\0\0\0") + one * 3 + SYNC_FRAME) == b"1" + b"2TDC" * 3 + b"Z"

    def test_malformed_message(self, client: RawClient) -> None:
        assert client.ask(frame(b"Q", b"echo \xff\0")) == b"EZ"
        assert client.ask(frame(b"P", b"x") + bind([b"1"]) + SYNC_FRAME) == b"EZ"

    def test_violation_after_a_good_message(self, client: RawClient) -> None:
        client.socket.sendall(query("later 1") + b"?\0\0\0\4")
        assert [kind for kind, _ in client.until_ready()] == [b"T", b"D", b"C", b"Z"]
        message = client.message()
        assert message is not None
        assert error_fields(message[1])["S"] == "FATAL"
        assert client.message() is None

    def test_copy(self, client: RawClient, world: FakeWorld) -> None:
        client.socket.sendall(query("copy") + SYNC_FRAME)
        assert client.message() == (b"G", b"\0\0\1\0\0")
        data = frame(b"d", b"line\n") * 1000
        assert client.ask(data + frame(b"c", b"")) == b"CZ"
        assert world.sessions[0].copied == b"line\n" * 1000

    def test_copy_fail(self, client: RawClient) -> None:
        client.socket.sendall(query("copy"))
        assert client.message() == (b"G", b"\0\0\1\0\0")
        assert client.ask(frame(b"d", b"line\n") + frame(b"f", b"stop\0") + frame(b"d", b"late\n")) == b"EZ"
        assert client.ask(query("echo x")) == b"TDCZ"

    def test_a_client_that_sends_ahead_is_not_read_while_its_statement_runs(
        self, client: RawClient, world: FakeWorld
    ) -> None:
        """The rest of what it sends stays in the socket; all of it is handled in the end."""
        count = 40_000
        sender = threading.Thread(target=client.socket.sendall, args=(query("wait") + query("echo x") * count,))
        sender.start()
        assert world.waiting.wait(WAIT_S_MAX)
        world.sessions[0].cancel()
        answers = 0
        for _ in range(count + 1):
            answers += len(client.until_ready())
        sender.join()
        assert answers == 2 + 4 * count

    def test_a_client_that_does_not_read_is_waited_for(self, client: RawClient) -> None:
        client.socket.sendall(query("big 20000") + query("echo end"))
        assert len(client.until_ready()) == 20_003
        assert [kind for kind, _ in client.until_ready()] == [b"T", b"D", b"C", b"Z"]

    def test_a_client_that_leaves_while_waiting(self, client: RawClient, world: FakeWorld) -> None:
        client.socket.sendall(query("wait"))
        assert world.waiting.wait(WAIT_S_MAX)
        client.close()
        assert world.closed.acquire(timeout=WAIT_S_MAX)

    def test_a_client_that_leaves_in_the_middle_of_a_result(self, client: RawClient, world: FakeWorld) -> None:
        client.socket.sendall(query("big 1000000"))
        client.message()
        client.close()
        assert world.closed.acquire(timeout=WAIT_S_MAX)


class TestEnd:
    def test_cancel_needs_the_secret(self, client: RawClient, world: FakeWorld) -> None:
        client.socket.sendall(query("wait"))
        assert world.waiting.wait(WAIT_S_MAX)
        connection = world.sessions[0].connection
        for secret in (connection.secret_key ^ 1, connection.secret_key):
            assert not world.sessions[0].cancelled.is_set()
            raw = RawClient(world)
            raw.socket.sendall(opening(80877102, struct.pack("!iI", connection.process_id, secret)))
            assert raw.message() is None
            raw.close()
        (kind, body), _ = client.until_ready()
        assert (kind, error_fields(body)["C"]) == (b"E", "57014")

    def test_shutdown_tells_everybody(self) -> None:
        world = FakeWorld(LIMITS).start()
        idle, busy = RawClient(world), RawClient(world)
        idle.log_in()
        busy.log_in()
        busy.socket.sendall(query("wait") + query("echo never"))
        assert world.waiting.wait(WAIT_S_MAX)
        world.stop()
        codes = [[error_fields(body)["C"] for kind, body in raw.until_ready() if kind == b"E"] for raw in (idle, busy)]
        codes[1] += [error_fields(body)["C"] for kind, body in busy.until_ready() if kind == b"E"]
        assert codes == [["57P01"], ["57014", "57P01"]]
        assert Query("echo never") not in world.handled
        assert world.closed.acquire(timeout=WAIT_S_MAX) and world.closed.acquire(timeout=WAIT_S_MAX)


class TestDrivers:
    def test_psycopg(self, world: FakeWorld) -> None:
        with psycopg.connect(world.dsn, autocommit=True, application_name="größe") as connection:
            assert connection.info.server_version == 150000
            assert connection.info.parameter_status("application_name") == "größe"
            assert connection.execute("echo hello").fetchone() == ("hello",)
            assert connection.execute("echo %s", ["später"]).fetchone() == ("später",)
            with pytest.raises(psycopg.errors.DivisionByZero) as caught:
                connection.execute("error")
            assert caught.value.diag.statement_position == "3"
            assert caught.value.diag.message_hint == "do not"
            with connection.cursor().copy("copy") as copy:
                copy.write(b"1\n2\n")
            with connection.pipeline():
                cursors = [connection.execute("echo %s", [str(index)]) for index in range(100)]
            assert [cursor.fetchone() for cursor in cursors] == [(str(index),) for index in range(100)]

    def test_psycopg_cancel(self, world: FakeWorld) -> None:
        with psycopg.connect(world.dsn, autocommit=True) as connection:
            errors: list[BaseException] = []

            def wait() -> None:
                try:
                    connection.execute("wait")
                except psycopg.Error as error:
                    errors.append(error)

            thread = threading.Thread(target=wait)
            thread.start()
            assert world.waiting.wait(WAIT_S_MAX)
            connection.cancel_safe(timeout=WAIT_S_MAX)
            thread.join(WAIT_S_MAX)
            assert [type(error) for error in errors] == [psycopg.errors.QueryCanceled]

    def test_asyncpg(self, world: FakeWorld) -> None:
        async def talk() -> tuple[object, object, object]:
            connection = await asyncpg.connect(
                host=world.host, port=world.port, user="ann", database="antumbra", ssl="prefer"
            )
            try:
                simple = await connection.execute("echo x")
                value = await connection.fetchval("echo $1", "größe")
                return simple, value, connection.get_server_version().major
            finally:
                await connection.close()

        assert asyncio.run(talk()) == ("SELECT 1", "größe", 15)
        assert any(isinstance(message, Execute) for message in world.handled)

    def test_psql(self, world: FakeWorld) -> None:
        output = subprocess.run(
            [
                "psql",
                "-X",
                "-At",
                "-d",
                world.dsn,
                "-c",
                "echo hello",
                "-c",
                "\\echo :SERVER_VERSION_NAME :SERVER_VERSION_NUM",
            ],
            capture_output=True,
            text=True,
            timeout=WAIT_S_MAX,
            check=True,
        )
        assert output.stdout.splitlines() == ["hello", "15.0 (Antumbra 0) 150000"]
        assert output.stderr == ""
