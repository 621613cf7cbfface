"""COPY stream FROM STDIN: bytes of any size in, staged morsels out, published at intervals if asked
for.

Enters: CopyData payloads. They are collected to blocks, decoded in nogil kernels on a worker
thread, and staged. Must not write to the socket; the session does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from engine.catalog.image import CatalogImage
from engine.catalog.published import PublishedCatalog
from engine.commit.committer import Committer
from engine.commit.staging import StatementStage
from engine.commit.string_admission import FullBufferError
from engine.commit.transactions import Transactions
from engine.ingest.copy_blocks import BLOCKS_AT_ONCE_MAX, Beside, Submit
from engine.ingest.insert import InsertTarget
from engine.ingest.stream_copy import StreamCopy
from ringbuffer.memory.columns import Morsel
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions
from sql.times.input_styles import InputStyles
from views.model.protocols import Clock

# How often a COPY or a commit that waits for room in a string buffer looks again.
ROOM_WAIT_S = 0.01
# For so many views rows are folded beside the decoding of later rows; for one, handing them over
# was measured to take as long as folding them.
VIEWS_BESIDE_MIN = 2


@dataclass(frozen=True)
class CopyServer:
    """The parts of a server that a COPY uses.

    Attributes:
        block_bytes: how much of a COPY is decoded at once.
        beside: begins a call on another thread.
    """

    transactions: Transactions
    committer: Committer
    catalog: PublishedCatalog
    clock: Clock
    block_bytes: int
    beside: Submit


@dataclass(frozen=True)
class Publishing:
    """When a COPY commits what has come.

    Attributes:
        interval_ms: after each such interval; None: only at its end.
        waits: true if it may wait for room in a string buffer.
        waits_for_log: true if published rows are durable before the COPY goes on
            (synchronous_commit).
        is_first: true if no statement on a stream comes before the COPY in its transaction; its
            rows go into the log while it goes on.
    """

    interval_ms: int | None
    waits: bool
    waits_for_log: bool
    is_first: bool


class CopyIn(StreamCopy):
    """One COPY under way.

    Attributes:
        needs_room: true while it waits for room in a string buffer; the caller then calls `decode`
            again before it takes more data.
    """

    def __init__(
        self,
        server: CopyServer,
        target: InsertTarget,
        options: CopyOptions,
        image: CatalogImage,
        now_us: int,
        time_zone: str,
        styles: InputStyles,
        publishing: Publishing,
    ) -> None:
        super().__init__(target, options, now_us, time_zone, styles, server.block_bytes)
        self.needs_room = False
        self._server = server
        self._image = image
        self._publishing = publishing
        self._published_rows = 0
        self._said_published = False
        self._published_at_s = server.clock.monotonic_s()
        # A timer's publish may meet the client's data: this guards the decoder and the stage.
        self._decoding = threading.Lock()
        # Adds rows to the stage while later ones are decoded, but only while a thread decodes.
        self._staging = Beside(server.beside)
        self._is_finished = False
        self._stage = self._new_stage()

    def take(self, data: bytes | memoryview) -> bool:
        """Collect a payload; True when a block is full or the interval is over: `decode` is due."""
        return super().take(data) or self._publish_due()

    def decode(self) -> bool:
        """Decode and stage what was collected, and publish when that is due.

        Return whether a block waits again; the caller then calls once more. Raises SqlError. Runs
        on a worker thread.
        """
        with self._alone():
            for _ in range(BLOCKS_AT_ONCE_MAX):
                if self._is_finished or self._dropped.is_set():
                    # What is staged is the session's to commit: a timer came late.
                    return False
                if not self.needs_room:
                    self._decode()
                if self._publish_due():
                    self._staging.wait()
                    self._publish()
                if self.needs_room or not self._blocks.is_full:
                    break
            return self.needs_room or self._blocks.is_full

    def finish(self) -> None:
        """Decode the last bytes. Raises SqlError."""
        with self._alone():
            self._decode(is_end=True)
            self._is_finished = True

    def publish_wait_s(self) -> float | None:
        """Return how long the rows of an idle client may wait to be published.

        None without such rows.
        """
        if self._publishing.interval_ms is None or not (self._blocks.bytes_count or self._stage.rows_count):
            return None
        passed_s = self._server.clock.monotonic_s() - self._published_at_s
        return max(self._publishing.interval_ms / 1000 - passed_s, 0.0)

    def stages(self) -> list[StatementStage]:
        """Return the stages that the session has to commit."""
        return [self._stage]

    def drop(self) -> None:
        """Forget what is staged and not yet published.

        Rows that a worker thread is decoding are dropped after that.
        """
        super().drop()
        if self._decoding.acquire(blocking=False):
            self._stage.close()
            self._decoding.release()

    def with_published(self, error: SqlError) -> SqlError:
        """Return `error` with the number of lines that the COPY has already committed."""
        if self._published_rows and not self._said_published:
            self._said_published = True
            said = f"{self._published_rows} lines of this COPY are already committed."
            error.detail = said if error.detail is None else f"{error.detail}\n{said}"
        return error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other thread decode before the end of the block, when all rows are staged."""
        try:
            with self._decoding:
                try:
                    yield
                    self._staging.wait()
                except BaseException:
                    self._staging.end()
                    raise
        finally:
            # Not before: what is dropped while the lock is held is left to its holder.
            if self._dropped.is_set():
                self.drop()

    def _take_rows(self, rows: Morsel) -> None:
        if self._stage.views_count >= VIEWS_BESIDE_MIN:
            self._staging.do(self._stage_rows, rows)
        else:
            self._stage_rows(rows)

    def _settle(self) -> None:
        self._staging.wait()

    def _stage_rows(self, rows: Morsel) -> None:
        self._stage.add(rows)
        if self._publishing.is_first:
            self._server.committer.log_ahead(self._stage, rows)

    def _publish_due(self) -> bool:
        if self._publishing.interval_ms is None:
            return False
        return (self._server.clock.monotonic_s() - self._published_at_s) * 1000 >= self._publishing.interval_ms

    def _publish(self) -> None:
        if self._stage.rows_count:
            transaction = self._server.transactions.begin()
            transaction.waits_for_log = self._publishing.waits_for_log
            transaction.operations.append(self._stage)
            try:
                self._server.committer.commit(transaction)
            except FullBufferError as error:
                self.needs_room = self._publishing.waits and not error.is_lasting
                if self.needs_room:
                    return
                raise
            self.needs_room = False
            self._published_rows += self._stage.rows_count
            self._stage = self._new_stage()
        self._published_at_s = self._server.clock.monotonic_s()

    def _new_stage(self) -> StatementStage:
        image = self._image if self._publishing.interval_ms is None else self._server.catalog.image
        return self._server.transactions.stage(self._target.entry, image, self._now_us)
