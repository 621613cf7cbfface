"""From what lies on the disk to where the server was: definitions, the newest checkpoint, and what the log has behind it.

Enters: the data folder of a database that nobody uses yet. Leaves: its catalog image, views and rings with every committed row, and the log
open behind the last record. Replay is a function of checkpoint and log alone. Raises SqlError XX001 or CorruptLogError that says what is
damaged and what can be done, and OSError.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from engine.catalog import CatalogImage, StreamEntry, ViewEntry
from engine.log.checkpoint import Checkpoint, restore_newest
from engine.log.checkpoint_contents import Restoring
from engine.log.kept_rows import RowsKeeper
from engine.log.replay import DAMAGED, LoggedRows, Replay
from engine.log.segments import FIRST_SEQUENCE
from engine.stream import Stream
from ringbuffer.error_codes import RowError
from ringbuffer.log_rows import decode_rows
from sql.errors import SqlError
from views.view import ContinuousView

if TYPE_CHECKING:
    from engine.database import Database

log = logging.getLogger(__name__)

PROGRESS_S = 5.0


def recover(database: Database) -> int:
    """Bring streams and views of `database.image` to where they were, and open the log; return the position of the checkpoint, or 0."""
    views, streams = relations_of(database.image)
    storage = database.storage
    checkpoint = restore_newest(
        storage,
        database.checkpoints_dir,
        database.log.first_logged(),
        Restoring(database.checkpoints_dir, views, streams),
    )
    target = ReplayedRelations(views, streams, checkpoint)
    keeper = RowsKeeper(database.config.stage_memory_bytes_max, lambda: storage.temporary(database.config.data_dir))
    decided = database.store.decided_transactions()
    position, sequence = (0, FIRST_SEQUENCE) if checkpoint is None else (checkpoint.position, checkpoint.read_sequence)
    replay = Replay(target, decided, position, sequence, keeper)
    replay_log(database, replay, checkpoint)
    if database.log.place.position < position:
        raise SqlError(
            DAMAGED,
            f"the log ends at position {database.log.place.position}, before the newest checkpoint at position {position}",
            hint="The files of the log are older than the checkpoint. Put back files of the same time.",
        )
    numbers = (replay.highest_transaction, *decided)
    database.log.open(max(max(numbers) + 1, 1 if checkpoint is None else checkpoint.next_transaction))
    return position


def replay_log(database: Database, replay: Replay, checkpoint: Checkpoint | None) -> None:
    """Have `replay` take what the log has behind the checkpoint; say how far it is from time to time."""
    place = (0, FIRST_SEQUENCE) if checkpoint is None else (checkpoint.read_position, checkpoint.read_sequence)
    clock = database.clock
    began_s = said_s = clock.monotonic_s()
    for record in database.log.read(*place):
        replay.take(record)
        if record.sequence % 256 == 0 and clock.monotonic_s() - said_s >= PROGRESS_S:
            said_s = clock.monotonic_s()
            log.info(
                "replaying the log: %d MB, %d transactions so far", (record.end - place[0]) >> 20, replay.applied_count
            )
    replay.finish()
    if replay.applied_count:
        passed_s = clock.monotonic_s() - began_s
        log.info("replayed %d transactions of the log in %.1f s", replay.applied_count, passed_s)


def relations_of(image: CatalogImage) -> tuple[dict[int, ContinuousView], dict[int, Stream]]:
    """Return the continuous views and the streams by oid."""
    entries = image.entries.values()
    views = {entry.description.oid: entry.view for entry in entries if isinstance(entry, ViewEntry)}
    streams = {entry.description.oid: entry.stream for entry in entries if isinstance(entry, StreamEntry)}
    return views, streams


class ReplayedRelations:
    """The streams and views that a replay happens to (see ReplayTarget): those that are there at its end.

    A view counts from its own creation on, which is in the checkpoint or in the log.
    """

    def __init__(
        self, views: dict[int, ContinuousView], streams: dict[int, Stream], checkpoint: Checkpoint | None
    ) -> None:
        self._views = views
        self._streams = streams
        self._attached: set[int] = set()
        if checkpoint is not None:
            self.attach([view.oid for view in checkpoint.views])

    def apply_rows(self, stream_oid: int, rows: Iterable[LoggedRows], views: Collection[int] | None) -> None:
        """Apply one statement's rows."""
        stream = self._streams.get(stream_oid)
        if stream is None:
            return
        met = self._attached if views is None else views
        counting = [view for oid, view in self._views.items() if oid in met and view.stream_name == stream.name]
        for logged in rows:
            self._apply(stream, logged, counting)
        for view in counting:
            view.note_commit()

    def attach(self, oids: Sequence[int]) -> None:
        """Streams and views were created."""
        self._attached.update(oid for oid in oids if oid in self._views)

    def detach(self, oids: Sequence[int]) -> None:
        """Streams and views were dropped."""
        self._attached.difference_update(oids)

    @staticmethod
    def _apply(stream: Stream, logged: LoggedRows, views: Sequence[ContinuousView]) -> None:
        try:
            if logged.columns_count != len(stream.layout):
                raise ValueError(f"{logged.columns_count} columns instead of {len(stream.layout)}")
            morsel = decode_rows(logged.rows, stream.layout)
        except ValueError as error:
            raise SqlError(
                DAMAGED, f'the log has rows of the stream "{stream.name}" that can\'t be read: {error}'
            ) from None
        for view in views:
            try:
                view.state.apply(morsel, logged.now_us)
            except RowError as error:
                name = view.definition.name
                message = f'the log has rows that the view "{name}" can\'t evaluate any more'
                raise SqlError(DAMAGED, message, detail=view.state.expression_text(error.expression)) from None
        stream.ring.append(morsel)
