"""A session without a database: it answers a few words, so that the server is tested by itself; and
a server that runs in a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping

from engine.catalog.roles import Roles
from engine.server.authentication import Authenticator
from engine.server.connection import Connection
from engine.server.server import Door, ServerLimits, run, serve
from engine.settings.hba import default_rules
from engine.storage.clock import SystemClock
from sql.errors import SqlError
from sql.types.datatypes import INT4, TEXT
from sql.wire import writer
from sql.wire.messages import (
    Bind,
    BindRun,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    FrontendMessage,
    Malformed,
    Parse,
    Query,
    Sync,
)
from sql.wire.reader import read_run

WAIT_S_MAX = 30.0


class FakePackets:
    """A query `packet x` is answered as a whole, `log x` once the log answers."""

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.logged = b""

    def answer(self, data: bytes) -> bytes | bool:
        word, _, rest = data[5:-1].partition(b" ")
        if word not in (b"packet", b"log"):
            return False
        self.session.simple = True
        self.logged = rest
        if word == b"packet":
            return self.end(None)
        self.session.world.waiting.set()
        return True

    def end(self, error: SqlError | None) -> bytes:
        if self.logged == b"bug":
            raise KeyError("in a packet")
        reply = writer.error_response(error) if error is not None else writer.data_row([self.logged])
        return reply + writer.ready_for_query("I")


class FakeSession:
    """Answers one-word statements. Extended statements give their only parameter back, as text.

    echo X; wait (until cancelled); later X (echo after a turn of the loop); bug; later bug; error;
    copy; big N (N rows of 1 kB); beside (done at once, but for something that goes on until it is
    cancelled). Packets: packet X (echo at once); log X (echo once `log_answers`
    is called); packet bug; log bug.
    """

    def __init__(self, connection: Connection, parameters: Mapping[str, str], world: FakeWorld) -> None:
        if parameters["user"] == "unwanted":
            raise SqlError("28000", "you are unwanted")
        if parameters["user"] == "buggy":
            raise RuntimeError("no session for you")
        self.connection = connection
        self.parameters = parameters
        self.world = world
        self.cancelled = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.copied = bytearray()
        self.packets = FakePackets(self)
        self.value: bytes | None = None
        self.rest: asyncio.Task[None] | None = None
        self.simple = True
        world.sessions.append(self)

    def startup_reports(self) -> Mapping[str, str]:
        return {
            "server_version": "15.0 (Antumbra 0)",
            "server_encoding": "UTF8",
            "client_encoding": "UTF8",
            "DateStyle": "ISO, MDY",
            "integer_datetimes": "on",
            "standard_conforming_strings": "on",
            "TimeZone": "UTC",
            "application_name": self.parameters.get("application_name", ""),
        }

    def handle(self, message: FrontendMessage) -> Awaitable[None] | None:
        if isinstance(message, BindRun):
            for one in read_run(message):
                self.handle(one)
            return None
        self.world.handled.append(message)
        write = self.connection.write
        match message:
            case Query():
                self.simple = True
                return self.query(message.text)
            case Parse():
                self.simple = False
                if message.text == "bug":
                    raise ValueError("in parse")
                write(writer.PARSE_COMPLETE)
            case Bind():
                [self.value] = message.parameters()
                write(writer.BIND_COMPLETE)
            case Describe(kind="S"):
                write(writer.parameter_description([25]) + writer.row_description([("value", TEXT, 0, (0, 0))]))
            case Describe():
                write(writer.row_description([("value", TEXT, 0, (0, 0))]))
            case Execute():
                write(writer.data_row([self.value]) + writer.command_complete("SELECT 1"))
            case Close():
                write(writer.CLOSE_COMPLETE)
            case Flush():
                self.connection.flush()
            case Sync():
                write(writer.ready_for_query("I"))
            case CopyData():
                self.copied += message.data
            case CopyDone():
                self.finish(f"COPY {self.copied.count(10)}")
            case CopyFail():
                self.fail(SqlError("57014", f"COPY from stdin failed: {message.reason}"))
            case Malformed():
                self.simple = not message.extended
                self.fail(message.error)
            case _:
                raise AssertionError(message)
        return None

    def query(self, text: str) -> Awaitable[None] | None:
        word, _, rest = text.partition(" ")
        match word:
            case "echo":
                self.answer(rest)
            case "wait":
                return self.wait()
            case "later":
                return self.later(rest)
            case "bug":
                raise ValueError("in a query")
            case "error":
                self.fail(SqlError("22012", "division by zero", position=3, hint="do not"))
            case "copy":
                self.copied.clear()
                self.connection.write(writer.copy_in_response(0, 1))
                self.connection.conversation.begin_copy_in()
            case "big":
                return self.big(int(rest))
            case "beside":
                self.rest = self.loop.create_task(self.beside())
                if rest == "bug":
                    raise KeyError("while a thread works")
                self.finish("BESIDE")
            case _:
                self.finish(text.upper() or "NOTHING")
        return None

    def answer(self, text: str) -> None:
        self.connection.write(writer.row_description([("value", TEXT, 0, (0, 0))]) + writer.data_row([text.encode()]))
        self.finish("SELECT 1")

    def finish(self, tag: str) -> None:
        self.connection.write(writer.command_complete(tag) + writer.ready_for_query("I"))

    def fail(self, error: SqlError) -> None:
        self.connection.write(writer.error_response(error))
        if self.simple:
            self.connection.write(writer.ready_for_query("I"))
        else:
            self.connection.conversation.fail_until_sync()

    async def wait(self) -> None:
        self.world.waiting.set()
        await self.cancelled.wait()
        self.cancelled.clear()
        self.fail(SqlError("57014", "canceling statement due to user request"))

    async def later(self, text: str) -> None:
        await asyncio.sleep(0)
        if text == "bug":
            raise KeyError("in a task")
        self.answer(text)

    async def big(self, rows_count: int) -> None:
        self.connection.write(writer.row_description([("n", INT4, 0, (0, 0))]))
        for _ in range(rows_count):
            self.connection.write(writer.data_row([b"7" * 1000]))
            await self.connection.drain()
        self.finish(f"SELECT {rows_count}")

    async def beside(self) -> None:
        await self.cancelled.wait()
        # A thread does not hear of it at once.
        await asyncio.sleep(0.01)

    def under_way(self) -> Awaitable[None] | None:
        return None if self.rest is None or self.rest.done() else self.rest

    def log_answers(self, error: SqlError | None = None) -> None:
        """Let the log answer a packet that waits, from any thread."""
        self.loop.call_soon_threadsafe(self.connection.end_packet, error)

    async def abort_after_bug(self) -> str | None:
        if self.rest is not None:
            self.cancel()
            await self.rest
        return "I" if self.simple else None

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self.cancelled.set)

    def end(self) -> None:
        self.cancel()

    def close(self) -> None:
        assert self.under_way() is None
        self.world.closed.release()


class FakeWorld:
    """A server of fake sessions in a thread of its own. start() and stop() may be called from the
    test's thread.
    """

    def __init__(self, limits: ServerLimits, door: Door | None = None) -> None:
        self.limits = limits
        # Whether packets are expected while they are looked for.
        rules = default_rules(listens_beyond_loopback=False, trusts_all=False)
        self.door = door or Door(Authenticator(rules, Roles, SystemClock().now_us), None)
        self.host, self.port = "127.0.0.1", 0
        self.sessions: list[FakeSession] = []
        self.handled: list[FrontendMessage] = []
        self.waiting = threading.Event()
        self.closed = threading.Semaphore(0)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._stop: Callable[[], object] = lambda: None

    @property
    def dsn(self) -> str:
        return f"host={self.host} port={self.port} user=ann dbname=antumbra"

    def start(self) -> FakeWorld:
        self._thread.start()
        assert self._ready.wait(WAIT_S_MAX)
        return self

    def stop(self) -> None:
        self.begin_stop()
        self.wait_until_stopped()

    def begin_stop(self) -> None:
        self._stop()

    def wait_until_stopped(self) -> None:
        self._thread.join(WAIT_S_MAX)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        run(self._serve())

    async def _serve(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stop.set)

        def ready(host: str, port: int) -> None:
            self.host, self.port = host, port
            self._ready.set()

        def open_session(connection: Connection, parameters: Mapping[str, str]) -> FakeSession:
            return FakeSession(connection, parameters, self)

        await serve("127.0.0.1", 0, self.limits, self.door, open_session, ready, stop)
