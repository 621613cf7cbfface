"""The protocol side of COPY FROM STDIN: from CopyInResponse over data, timed publishing and the
client's end to the reply.

Enters: CopyData, CopyDone and CopyFail messages. Leaves: the stage in the session's transaction, or
an error. `engine.ingest.copy_in` does the work on the data; blocks of it are decoded on a worker
thread, one at a time, while the next ones come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from engine.ingest.copy_decoders import received_text
from engine.ingest.copy_in import ROOM_WAIT_S, CopyIn
from engine.statements.copy_into_table import CopyIntoTable
from sql.errors import SqlError
from sql.parse.statements.copy import CopyFrom
from sql.values.encodings import ReceivedText
from sql.wire import writer
from sql.wire.messages import CopyData, CopyDone, CopyFail

if TYPE_CHECKING:
    from engine.sessions.session import Session

RunningCopy = CopyIn | CopyIntoTable


class CopyExchange:
    """The COPY that a session is in, if any."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._copy: RunningCopy | None = None
        self._publish_task: asyncio.Task[None] | None = None
        # Decodes what has come, while more comes.
        self._decode_task: asyncio.Task[None] | None = None
        self._text: ReceivedText | None = None

    @property
    def is_open(self) -> bool:
        """True between CopyInResponse and the end of the COPY."""
        return self._copy is not None

    def under_way(self) -> asyncio.Task[None] | None:
        """Return the decoding that goes on beside the messages, None when nothing does."""
        return None if self._decode_task is None or self._decode_task.done() else self._decode_task

    async def begin(self, statement: CopyFrom, alone: bool) -> None:
        """Ask the client for data. Raises the errors of the statement.

        alone: no other statement of this message follows.
        """
        session = self._session
        self._decode_task = None
        self._forget_timer()
        self._text = received_text(statement.options, session.settings.encoding)
        transaction = session.block.current()
        autocommit = alone and not transaction.explicit and not transaction.operations
        session.timeout.start()
        try:
            self._copy = await session.runner.open_copy(statement, transaction, autocommit)
        except SqlError as error:
            session.timeout.stop()
            raise session.timeout.error_or(error) from None
        session.connection.write(self._copy.response())
        session.connection.conversation.begin_copy_in()
        session.connection.flush()

    def take(self, message: CopyData) -> Awaitable[None] | None:
        """Take data; the awaitable is there when too much waits to be decoded."""
        copy = self._copy
        if copy is None:
            return None
        data: bytes | memoryview = message.data
        if self._text is not None:
            data, error = self._text.feed(data)
            if error is not None:
                return self._fail_behind(copy, data, error)
        if not copy.take(data):
            self._publish_later(copy)
            return None
        task = self._decode_task
        if task is None or (task.done() and task.exception() is None):
            task = self._decode_task = asyncio.get_running_loop().create_task(self._decode_beside(copy))
        return self._decoded() if copy.is_too_full or task.done() else None

    async def done(self, _: CopyDone) -> None:
        """Finish the COPY: the client has sent all data."""
        await self._decoded()
        copy, session = self._copy, self._session
        if copy is None:
            return
        if self._text is not None:
            data, error = self._text.feed(b"", is_end=True)
            if error is not None:
                await self._fail_behind(copy, data, error)
                return
        try:
            session.check_cancelled()
            await session.in_worker(copy.finish)
            if self._copy is not copy:
                return  # A timed publish has failed meanwhile, and has told the client.
            session.block.current().operations.extend(copy.stages())
            self._copy = None
            if session.is_simple and not session.has_more_statements:
                await session.block.end_implicit()
        except SqlError as error:
            self._fail(copy, error)
            return
        session.timeout.stop()
        session.connection.write(writer.command_complete(f"COPY {copy.rows_count}"))
        if session.is_simple:
            await session.run_remaining()

    async def failed(self, message: CopyFail) -> None:
        """End the COPY that the client gives up.

        An error in a line that the client had sent before is reported first, as in PostgreSQL.
        """
        copy = self._copy
        if copy is None:
            return
        await self._fail_behind(copy, b"", SqlError("57014", f"COPY from stdin failed: {message.reason}"))

    async def _fail_behind(self, copy: RunningCopy, data: bytes, error: SqlError) -> None:
        """End the COPY with an error that comes after `data`, unless there is an error in the data
        or before.
        """
        await self._decoded()
        copy.take(data)
        await self._decode(copy)
        await self.end_with(error)

    async def end_with(self, error: SqlError) -> None:
        """End the COPY, if there is one, with an error to the client at the line that has been
        reached; not before a thread that decodes has ended.
        """
        await self._decoded()
        if self._copy is not None:
            error.context = self._copy.place
            self._fail(self._copy, error)

    def drop(self) -> None:
        """End the COPY, if there is one, without a word."""
        copy, self._copy = self._copy, None
        self._forget_timer()
        if copy is not None:
            self._session.timeout.stop()
            copy.drop()

    async def drop_decoded(self) -> None:
        """Do what `drop` does, not before a thread that decodes has ended."""
        # It ends after the present block, and tells the client nothing.
        copy, self._copy = self._copy, None
        decoding = self.under_way()
        if decoding is not None:
            await asyncio.wait([decoding])
        self._copy = copy
        self.drop()

    def _fail(self, copy: RunningCopy, error: SqlError) -> None:
        session = self._session
        self._copy = None
        copy.drop()
        session.timeout.stop()
        session.connection.conversation.end_copy_in()
        error = session.timeout.error_or(copy.with_published(error))
        if session.is_simple:
            session.fail_query(error)
        else:
            session.fail_pipeline(error)

    async def _decode_beside(self, copy: RunningCopy) -> None:
        await self._decode(copy)
        self._session.connection.flush()

    async def _decoded(self) -> None:
        """Wait until what has come is decoded. Raises the bug that has ended that."""
        if self._decode_task is not None:
            await self._decode_task

    async def _decode(self, copy: RunningCopy) -> None:
        session = self._session
        try:
            session.check_cancelled()
            while await session.in_worker(copy.decode) and self._copy is copy:
                if isinstance(copy, CopyIn) and copy.needs_room:
                    await session.cancellable(asyncio.sleep(ROOM_WAIT_S))
                session.check_cancelled()
        except SqlError as error:
            if self._copy is copy:
                self._fail(copy, error)
        else:
            self._publish_later(copy)

    def _publish_later(self, copy: RunningCopy) -> None:
        """Commit the rows of a publishing COPY in time even if the client sends nothing more."""
        wait_s = copy.publish_wait_s()
        if wait_s is not None and self._publish_task is None:
            self._publish_task = asyncio.get_running_loop().create_task(self._publish_after(copy, wait_s))

    def _forget_timer(self) -> None:
        """Stop waiting for the time of a COPY that is over."""
        if self._publish_task is not None:
            self._publish_task.cancel()
            self._publish_task = None

    async def _publish_after(self, copy: RunningCopy, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        self._publish_task = None
        if self._copy is copy:
            await self._decode(copy)
            self._session.connection.flush()
