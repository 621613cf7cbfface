"""Recovery at a start: definitions, the newest checkpoint, and the log after it.

Enters: the data folder of a database that no client uses yet. Leaves: its catalog image, views and
rings with every committed row, and the log open after its last record. A replay depends on
checkpoint and log alone. Raises OSError, and SqlError XX001 or CorruptLogError that says what is
damaged and what can be done.
"""

from __future__ import annotations

import logging
from pathlib import Path

from engine.catalog.image import CatalogImage
from engine.log.batches import Batch
from engine.log.checkpoint import Checkpoint, restore_newest
from engine.log.checkpoint_contents import Restoring
from engine.log.commit_log import CommitLog
from engine.log.replay import DAMAGED, Replay
from engine.log.replayed_relations import ReplayedRelations
from engine.log.segments import FIRST_SEQUENCE
from engine.log.undecided_rows import UndecidedRowsStore
from engine.settings.config import ServerConfig
from engine.storage.storage import Storage
from engine.tables.table_store import TableStore
from sql.errors import SqlError
from views.model.protocols import Clock

log = logging.getLogger(__name__)

PROGRESS_S = 5.0


def checkpoints_dir(config: ServerConfig) -> Path:
    """Return the folder of the checkpoints."""
    return config.data_dir / "checkpoints"


def recover(
    image: CatalogImage,
    commit_log: CommitLog,
    store: TableStore,
    storage: Storage,
    clock: Clock,
    config: ServerConfig,
) -> int:
    """Recover the streams and views of `image`, which are empty, and open the log.

    store: the file of the tables, which knows which transactions it has committed. Returns the
    position of the checkpoint, or 0.
    """
    joins = [view.state.program.joins for view in image.chains if view.joins_at_arrival]
    now = [(one, one.tables, one.rows) for one in joins]
    folder = checkpoints_dir(config)
    checkpoint = restore_newest(
        storage, folder, commit_log.first_logged(), Restoring(folder, image.states, image.streams)
    )
    for text, time_us in () if checkpoint is None else checkpoint.batches:
        commit_log.batches.note(Batch.from_bytes(bytes.fromhex(text)), time_us)
    attached = () if checkpoint is None else [view.oid for view in checkpoint.views if view.attached]
    target = ReplayedRelations(image.states, image.streams, attached)
    keeper = UndecidedRowsStore(config.stage_memory_bytes_max, lambda: storage.temporary(config.data_dir))
    decided = store.decided_transactions()
    position, sequence = (0, FIRST_SEQUENCE) if checkpoint is None else (checkpoint.position, checkpoint.read_sequence)
    replay = Replay(target, decided, position, sequence, keeper, commit_log.batches)
    replay_log(commit_log, clock, replay, checkpoint)
    for one, tables, rows in now:
        # The tables as they are, even if some of the log was given up.
        one.set(tables, rows)
    if commit_log.place.position < position:
        raise SqlError(
            DAMAGED,
            f"the log ends at position {commit_log.place.position}, before the newest checkpoint at position {position}",
            hint="The files of the log are older than the checkpoint. Put back files of the same time.",
        )
    numbers = (replay.highest_transaction, *decided)
    next_transaction, newest_us = (1, 0) if checkpoint is None else (checkpoint.next_transaction, checkpoint.time_us)
    commit_log.open(max(max(numbers) + 1, next_transaction), max(replay.newest_us, newest_us))
    return position


def replay_log(commit_log: CommitLog, clock: Clock, replay: Replay, checkpoint: Checkpoint | None) -> None:
    """Let `replay` take the records after the checkpoint, and log the progress from time to
    time.
    """
    place = (0, FIRST_SEQUENCE) if checkpoint is None else (checkpoint.read_position, checkpoint.read_sequence)
    began_s = said_s = clock.monotonic_s()
    for record in commit_log.read(*place):
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
