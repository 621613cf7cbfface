"""A session without a socket or Spark: messages as bytes in, its replies as text out, and what it
has staged to look at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa

from engine.catalog.roles import BOOTSTRAP_OID
from engine.commit.staging import StatementStage
from engine.database import Database
from engine.server.connection import Connection
from engine.sessions.bind_runs import bind_run
from engine.sessions.session import Session, open_session
from engine.sessions.session_registry import Neighbours
from engine.settings.config import ServerConfig
from engine.spark.runtime import SparkRuntime
from engine.storage.clock import SystemClock
from engine.storage.storage import DiskStorage, Storage
from ringbuffer.compile.processes import CompileProcesses
from ringbuffer.memory.arrow import morsel_to_arrow
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.tree.relations import OutputColumn
from sql.values.encodings import UTF8
from sql.wire import writer
from sql.wire.conversation import Conversation
from tests.end_to_end.raw_client import Answer, in_full, query, render
from views.model.arrow_schema import arrow_schema
from views.model.protocols import Clock

MESSAGE_BYTES_MAX = 1 << 24
THREAD_END_S_MAX = 60.0
STARTUP = {"user": "someone", "database": "antumbra"}


class MemoryConnection:
    """Keeps what a session writes."""

    process_id = 7
    role = BOOTSTRAP_OID
    encoding = UTF8
    # What the session has to say waits for its next reply.
    is_idle = False

    session: Session

    def __init__(self) -> None:
        # Alone.
        self.neighbours = Neighbours({})
        self.conversation = Conversation(MESSAGE_BYTES_MAX, find_run=bind_run)
        self.written = bytearray()
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.packet_ended = asyncio.Event()

    def follow(self, settings: Settings) -> None:
        assert settings.encoding is UTF8

    def write(self, data: bytes) -> None:
        self.written += data

    def flush(self) -> None:
        return

    async def drain(self) -> None:
        return

    def terminate(self, error: SqlError) -> None:
        self.write(writer.error_response(error))

    def end_packet(self, error: SqlError | None) -> None:
        self.write(self.session.packets.end(error))
        self.packet_ended.set()


# All worlds of a test run share what compiles, which ends with it.
COMPILERS = CompileProcesses(2, 2 << 30, 120.0)
# A process has one JVM at most, which is that of the fixture `spark`: this one never starts.
NO_SPARK = SparkRuntime(1 << 10, 1, Path("no-spark"))
NO_SPARK.kill()


class World:
    """A database in a folder, never opened for business: no listener, no Spark but a given one. Its
    sessions share one event loop.

    last_checkpoint: the position of the checkpoint that was found.
    """

    def __init__(
        self,
        folder: Path,
        storage: Storage | None = None,
        clock: Clock | None = None,
        spark: SparkRuntime | None = None,
        **settings: object,
    ) -> None:
        self.runner = asyncio.Runner()
        self.config = ServerConfig(data_dir=folder, **{"log_segment_bytes": 1 << 20, **settings})  # type: ignore[arg-type]  # the fields' own types
        self.database = Database(
            self.config, clock or SystemClock(), storage or DiskStorage(), COMPILERS, spark or NO_SPARK
        )
        try:
            self.last_checkpoint = self.database.recover()
        except BaseException:
            self.abandon()
            raise

    def client(self, parameters: Mapping[str, str] = STARTUP) -> SessionClient:
        """Return a new session."""
        return SessionClient(self, parameters)

    def close(self) -> None:
        """Stop the threads."""
        self.database.warm_pipelines.stop()
        self.database.workers.shutdown(wait=True)
        self.database.log.close()
        self.database.store.close()
        self.runner.close()

    def abandon(self) -> None:
        """Let the threads end as those of a dead process; nothing more is written in order."""
        self.database.warm_pipelines.stop()
        log, checkpointer = self.database.log, self.database.checkpoints.thread
        log._ends = True
        log._wake.set()
        with checkpointer._changed:
            checkpointer._stopping = True
            checkpointer._changed.notify_all()
        # A hook that notes threads that fail must not hear of these, long after the test.
        for thread in (log._thread, checkpointer._thread):
            if thread.is_alive():
                thread.join(THREAD_END_S_MAX)
        self.database.workers.shutdown(wait=False)
        with suppress(duckdb.Error):
            self.database.store.close()
        self.runner.close()


class SessionClient:
    """One session, asked by bytes."""

    def __init__(self, world: World, parameters: Mapping[str, str], role: int = BOOTSTRAP_OID) -> None:
        self._runner = world.runner
        self._connection = MemoryConnection()
        self._connection.role = role
        self._connection.conversation.receive(startup_packet(parameters))
        self.session = self._runner.run(self._open(world.database, parameters))

    async def _open(self, database: Database, parameters: Mapping[str, str]) -> Session:
        self.session = open_session(database.shared, cast(Connection, self._connection), parameters)
        self._connection.session = self.session
        self.session.startup_reports()
        return self.session

    def ask(self, *messages: bytes | str) -> list[str]:
        """Send messages (a text is a Query) and return all answers, as `raw_client` renders
        them.
        """
        data = b"".join(query(message) if isinstance(message, str) else message for message in messages)
        self._runner.run(self._handle(data))
        return [render(kind, body) for kind, body in self._taken()]

    def at_once(self, packet: bytes) -> list[str] | None:
        """Return the answer to a packet if the session takes it as a whole."""
        return self.ask() if self._runner.run(self._packet(packet)) else None

    async def _packet(self, packet: bytes) -> bool:
        self._connection.packet_ended.clear()
        reply = self.session.packets.answer(packet)
        if isinstance(reply, bytes):
            self._connection.write(reply)
        elif reply:
            await self._connection.packet_ended.wait()
        return reply is not False

    def ask_in_full(self, *messages: bytes | str) -> list[Answer]:
        """Send messages (a text is a Query) and return all answers, errors and notices with all
        their fields.
        """
        data = b"".join(query(message) if isinstance(message, str) else message for message in messages)
        self._runner.run(self._handle(data))
        return [in_full(kind, body) for kind, body in self._taken() if kind != "Z"]

    def _taken(self) -> list[tuple[str, bytes]]:
        """Return the messages written since the last call."""
        written, self._connection.written = bytes(self._connection.written), bytearray()
        found, offset = [], 0
        while offset < len(written):
            end = offset + 1 + int.from_bytes(written[offset + 1 : offset + 5], "big")
            found.append((chr(written[offset]), written[offset + 5 : end]))
            offset = end
        return found

    def run(self, *texts: str) -> None:
        """Run statements that must succeed."""
        for text in texts:
            answer = self.ask(text)
            assert not any(line.startswith("E ") for line in answer), (text, answer)

    def after(self, *texts: str) -> SessionClient:
        """Return this session after statements that must succeed."""
        self.run(*texts)
        return self

    def rows(self, text: str) -> list[str]:
        """Return the DataRow lines of a SELECT that must succeed."""
        answer = self.ask(text)
        assert answer[-2].startswith("C "), answer
        return [line for line in answer if line.startswith("D ")]

    def staged(self) -> list[list[dict[str, object]]]:
        """Return the rows of each staged statement of the open transaction."""
        transaction = self.session.block.open
        assert transaction is not None
        stages = [operation for operation in transaction.operations if isinstance(operation, StatementStage)]
        return [rows_of(stage) for stage in stages]

    def arrow_rows(self, rows: list[dict[str, object]], stream: str = "everything") -> pa.Table:
        """Return decoded rows as Arrow again."""
        entry = self.session.server.catalog.image.entries[stream]
        schema = arrow_schema(tuple(OutputColumn(column.name, column.type) for column in entry.description.columns))
        return pa.Table.from_pylist(rows, schema)

    async def _handle(self, data: bytes) -> None:
        conversation = self._connection.conversation
        for message in conversation.receive(data):
            if conversation.admit(message):
                work = self.session.handle(message)
                if work is not None:
                    await work


def rows_of(stage: StatementStage) -> list[dict[str, object]]:
    """Return a stage's rows, decoded."""
    layout_of = stage.stream.layout_of
    return [row for morsel in stage.morsels() for row in morsel_to_arrow(morsel, layout_of(morsel)).to_pylist()]


def startup_packet(parameters: Mapping[str, str]) -> bytes:
    """Return the StartupMessage of `parameters`."""
    pairs = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items()) + b"\0"
    return (len(pairs) + 8).to_bytes(4, "big") + (0x30000).to_bytes(4, "big") + pairs
