"""The checkpoints of one server: what one holds at the moment of its cut, and what it makes
superfluous.

Enters: the committed catalog, the log, the file of the tables. Leaves: checkpoints in the folder
`checkpoints`, and a log without what a start does not need any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.catalog.disabled_views import refuse_checkpoint
from engine.catalog.published import PublishedCatalog
from engine.log.checkpoint import Checkpoint
from engine.log.checkpoint_contents import Noted, make_checkpoint
from engine.log.checkpointer import Checkpointer
from engine.log.commit_log import CommitLog
from engine.log.commits import Mark
from engine.log.recovery import checkpoints_dir
from engine.settings.config import ServerConfig
from engine.storage.errors import disk_error
from engine.storage.storage import Storage
from engine.tables.table_store import TableStore
from views.model.protocols import Clock


class Checkpoints:
    """The checkpoints of one data folder. start() before they are made by themselves, stop() at the
    end.
    """

    def __init__(
        self,
        catalog: PublishedCatalog,
        log: CommitLog,
        store: TableStore,
        storage: Storage,
        clock: Clock,
        config: ServerConfig,
    ) -> None:
        self._catalog = catalog
        self._log = log
        self._store = store
        self._storage = storage
        self._clock = clock
        self._folder = checkpoints_dir(config)
        bounds = config.checkpoint_log_bytes, config.checkpoint_interval_s
        self.thread = Checkpointer(self._make, lambda: log.place.position, clock, *bounds)
        self._is_started = False

    def start(self, last_position: int) -> None:
        """Begin to make checkpoints. last_position: of the newest one."""
        self.thread.start(last_position)
        self._is_started = True

    def stop(self) -> None:
        """Make a last checkpoint, if any were made by themselves, and no more."""
        if self._is_started:
            self._is_started = False
            self.thread.stop(finally_one=True)

    def make(self, check_cancelled: Callable[[], None] = lambda: None) -> None:
        """Return once there is a checkpoint, so that the next start replays only what is committed
        from now on.

        Any thread may call it. check_cancelled: called now and then; what it raises ends the
        waiting. Raises SqlError 53100 or 58030; all is as before then.
        """
        if self._is_started:
            self.thread.request(check_cancelled)
            return
        try:
            self._make(check_cancelled)
        except OSError as error:
            raise disk_error(error, "write a checkpoint") from None

    def _make(self, check_cancelled: Callable[[], None]) -> int:
        """Make a checkpoint and remove what it makes superfluous; return its position.

        One at a time.

        Raises OSError and SqlError.
        """
        marks: list[Mark] = []
        log = self._log
        refuse_checkpoint(self._catalog.image)

        @contextmanager
        def standstill() -> Iterator[None]:
            with log.standstill() as mark:
                marks.append(mark)
                yield

        def note() -> Noted:
            (mark,) = marks
            image = self._catalog.image
            counts = tuple((stream, stream.ring.tuples_count) for stream in image.streams.values())
            kept = log.batches.kept(log.newest_us)
            batches = tuple((batch.to_bytes().hex(), time_us) for batch, time_us in kept)
            numbers = Checkpoint(*mark.decided, *mark.first, mark.next_transaction, image.next_oid, batches=batches)
            return Noted(numbers, tuple(image.states.values()), counts, log.newest_us)

        def make_log_durable() -> None:
            log.flush(sync=True)
            log.check()

        made = make_checkpoint(
            self._storage, self._folder, self._clock, standstill(), note, make_log_durable, check_cancelled
        )
        log.remove_before(marks[0].first.position)
        self._store.forget_transactions(marks[0].oldest_transaction)
        return made.position
