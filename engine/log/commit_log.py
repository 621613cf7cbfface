"""The write-ahead log: a transaction is durable in it before its rows are visible or its client is
answered.

Enters: records of rows and commits, in commit order. Leaves: commits applied in that order, and
answered. Appending only fills memory. A *flush* writes what has been appended, syncs it once for
all commits (group commit), applies them, and answers. The event loop flushes at the end of its turn
as long as the disk is quick. A thread flushes otherwise, and writes what no commit waits for. Must
not know SQL, views or streams.

Locks, in the order in which they may be taken: flush lock (one flusher), append lock, commit lock
of the code that applies.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from engine.log.batches import Batches
from engine.log.commits import Answer, Commit, Mark, Place
from engine.log.records import STATEMENT_SHIFT, Bytes, Record, pieces
from engine.log.segments import Segments
from engine.log.undecided import Undecided
from engine.log.unwritten import Unwritten
from engine.storage.errors import DISK_FULL, FULL, IO_ERROR
from engine.storage.storage import Storage
from ringbuffer.pages.log_rows import RowRecord
from sql.errors import SqlError
from views.model.protocols import Clock

log = logging.getLogger(__name__)

# The thread writes more than so many bytes in memory though no commit waits; beyond the second
# limit the appending thread writes.
WRITE_OUT_BYTES = 4 << 20
PENDING_BYTES_MAX = 32 << 20
# Where a sync takes longer than this, the event loop leaves it to the thread.
QUICK_SYNC_S = 0.001
SMOOTHING = 0.1
# How long a turn waits for the clients that committed together before, as a part of the time of a
# sync.
GATHERING = 0.5


class CommitLog:
    """The log of one server. `open` after `read` was read to its end; `close` syncs what is left.

    Attributes:
        lock: the append lock, which a thread holds while it appends.
        takes: false during an exclusive transaction, and after the log has failed.
        unapplied: how many commits are in the log and not visible yet.
        durable: the position up to which the log is synced.
        newest_us: the time of the newest record; no record gets an earlier time after it.
        undecided: transactions that have records and are not decided, under `lock`.
        batches: those that visible commits have applied last, under the commit lock.
    """

    def __init__(
        self,
        storage: Storage,
        folder: Path,
        clock: Clock,
        commit_lock: threading.Lock,
        segment_bytes: int,
        flush_interval_ms: int,
        batch_producer_ttl_s: float,
    ) -> None:
        self.lock = threading.Lock()
        self.batches = Batches(batch_producer_ttl_s)
        self.unapplied = 0
        self.durable = 0
        self.newest_us = 0
        self.next_transaction = 1
        self._clock = clock
        self._commit_lock = commit_lock
        self._segments = Segments(storage, folder, segment_bytes)
        self._half_bytes = segment_bytes // 2
        self._interval_s = flush_interval_ms / 1000
        self._flush_lock = threading.RLock()
        self._opened = threading.Condition(self.lock)
        self.takes = False
        self._failure: SqlError | None = None
        self._unwritten = Unwritten()
        self._commits: list[Commit] = []
        self.undecided = Undecided()
        # The turn of the event loop that has commits to flush; how many may come together, since so
        # many did before.
        self._turn_is_due = False
        self._turn_began_s = 0.0
        self._group_size = 0
        # The answer of the only commit of the last turn's flush.
        self._last_alone: Answer | None = None
        self._sync_s = 0.0
        self._wake = threading.Event()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="antumbra-log", daemon=True)

    # Beginning and end.

    def read(self, position: int, sequence: int) -> Iterator[Record]:
        """Yield the records from a checkpoint's position on; see Segments.read."""
        return self._segments.read(position, sequence)

    def first_logged(self) -> int | None:
        """Return the number of the first record of the first segment, None without any.

        Raises OSError.
        """
        return self._segments.first_logged()

    def open(self, next_transaction: int, newest_us: int) -> None:
        """Begin to take records, after `read` was read to its end. Raises OSError."""
        self._segments.open()
        self.durable = self._segments.position
        self.next_transaction = next_transaction
        self.newest_us = newest_us
        self.takes = True
        self._thread.start()

    def close(self) -> None:
        """Write and sync what has been appended, and take no more."""
        if self._thread.is_alive():
            self._ends = True
            self._wake.set()
            self._thread.join()
        with self._flush_lock:
            if self.takes:
                self._flush(sync=True)
            with self.lock:
                self.takes = False
            self._segments.close()

    # Appending. The caller holds `lock`.

    @property
    def place(self) -> Place:
        """The place of the next record."""
        return Place(self._segments.position, self._segments.sequence)

    @property
    def bytes_count(self) -> int:
        """Bytes of the segments in the folder."""
        return self._segments.bytes_count

    def number(self) -> int:
        """Return the number of a new transaction."""
        self.next_transaction += 1
        return self.next_transaction - 1

    def stamp(self) -> int:
        """Return the time for the next record in microseconds: never before the time of an earlier
        record.
        """
        self.newest_us = max(self._clock.now_us(), self.newest_us)
        return self.newest_us

    def add_row(self, record: RowRecord, now_us: int) -> int:
        """Append a row that is a transaction of its own, and return the bytes of its record.

        0: nothing has happened, since there is no room, or a record with a later time.
        """
        segments, unwritten = self._segments, self._unwritten
        if now_us < self.newest_us:
            return 0
        size = record.pack(
            unwritten.buffer, unwritten.used, segments.sequence, self.durable, self.next_transaction, now_us, now_us
        )
        if size == 0 or size > segments.room:
            return 0
        self.next_transaction += 1
        self.newest_us = now_us
        unwritten.grow(segments.take(size), size)
        if unwritten.is_much:
            self._note_growth()
        return size

    def fits(self, size: int) -> bool:
        """Tell whether there is room for records of `size` bytes together.

        If there is none, the caller calls `make_room` without the lock.
        """
        return size <= self._segments.room and self._unwritten.fits(size)

    def add(
        self, kind: int, flags: int, transaction: int, payload: Sequence[Bytes] = (), time_us: int = 0,
        checksum: int | None = None,
    ) -> None:  # fmt: skip
        """Append a record that fits.

        time_us: what `stamp` has returned, 0 for a new time; checksum: of the payload, if it is
        known.
        """
        segments = self._segments
        time_us = time_us or self.stamp()
        record = pieces(kind, flags, segments.sequence, self.durable, transaction, time_us, payload, checksum)
        size = sum(map(len, record))
        self._unwritten.add(segments.take(size), record, size)
        self.undecided.note(transaction, size)
        self._note_growth()

    def begin_undecided(self, ahead: bool = False) -> int:
        """Return the number of a transaction whose first records come before it decides to
        commit.

        ahead: see Undecided.begin.
        """
        number = self.number()
        self.undecided.begin(number, self.place, ahead)
        return number

    def add_commit(self, commit: Commit, first: Place, last: Place) -> None:
        """Queue `commit`, whose last record was appended, for the next flush."""
        commit.first, commit.last = first, last
        self._commits.append(commit)
        self.unapplied += 1

    def add_row_commit(self, commit: Commit, size: int) -> None:
        """Queue `commit` for the next flush.

        `add_row` has just appended its one record of `size` bytes.
        """
        segments = self._segments
        commit.first = commit.last = (segments.position - size, segments.sequence - 1)
        self._commits.append(commit)
        self.unapplied += 1

    def _note_growth(self) -> None:
        if self._unwritten.is_much and not self._wake.is_set():
            # A full buffer would send rows the long way.
            self._wake.set()

    # Flushing, without the append lock.

    def flush_soon(self, answer: Answer, call_soon: Callable[[Callable[[], None]], object]) -> None:
        """Flush at the end of this turn of the event loop, in which the commit with `answer` was
        added.

        A client that was alone in the last flush ends the turn at once: it would wait for nobody.
        """
        if self._turn_is_due:
            return
        self._turn_is_due = True
        self._turn_began_s = time.perf_counter()
        self._call_soon = call_soon
        if answer is self._last_alone and self.unapplied == 1:
            self._end_turn()
        else:
            call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """Flush, on the event loop.

        Clients that were answered together commit together again, if their commits wait for each
        other.
        """
        if self._sync_s <= QUICK_SYNC_S:
            waited_s = time.perf_counter() - self._turn_began_s
            if self.unapplied < self._group_size and waited_s < GATHERING * self._sync_s:
                self._call_soon(self._end_turn)
                return
        self._turn_is_due = False
        if self._sync_s > QUICK_SYNC_S or not self._flush_lock.acquire(blocking=False):
            self._wake.set()
            return
        try:
            commits = self._flush(sync=False)
            self._group_size = max(len(commits), self._group_size - 1)
            self._last_alone = commits[0].answer if len(commits) == 1 else None
        finally:
            self._flush_lock.release()

    def flush(self, sync: bool = False) -> None:
        """Write what has been appended, then apply and answer the commits.

        The log is synced if a commit, or the caller, needs it durable.
        """
        with self._flush_lock:
            self._flush(sync)

    def write_out(self) -> None:
        """Let the thread write what has been appended after it has become much.

        A caller waits if the thread does not keep up.
        """
        if self._unwritten.large_bytes > PENDING_BYTES_MAX:
            self.flush()
        elif self._unwritten.large_bytes > WRITE_OUT_BYTES:
            self._wake.set()

    def make_room(self, size: int) -> None:
        """Make room for records of `size` bytes together, in memory and in the files.

        Raises SqlError.
        """
        with self.exclusive():
            if self._segments.room < size:
                self._flush(sync=True)
                self.check()
                try:
                    self._segments.roll(size)
                except OSError as error:
                    if error.errno in FULL:
                        raise self._full(error) from None
                    raise self._fail(error) from None

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Apply all commits so far, and let no other thread append until the end of the block.

        Raises SqlError when the log has failed.
        """
        with self._flush_lock:
            while True:
                self._flush(sync=False)
                with self.lock:
                    if self._failure is not None:
                        raise self._failure
                    if self.unapplied == 0:
                        took, self.takes = self.takes, False
                        break
            try:
                yield
            finally:
                with self.lock:
                    self.takes = took and self._failure is None
                    self._opened.notify_all()

    def wait_until_open(self) -> None:
        """Wait for the end of an exclusive transaction; the caller holds `lock`.

        Raises SqlError when the log has failed.
        """
        self._opened.wait_for(lambda: self.takes or self._failure is not None or self._ends)
        if self._failure is not None:
            raise self._failure

    def check(self) -> None:
        """Raise SqlError 58030 when the log has failed."""
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def standstill(self) -> Iterator[Mark]:
        """Let no commit become visible, nor be appended, in the block, which is a checkpoint's
        cut.
        """
        with self._flush_lock, self.lock, self._commit_lock:
            self.undecided.forget_idle(self._segments.position)
            decided = Place(*self._commits[0].last) if self._commits else self.place
            begun = (*self.undecided.places(), *(commit.first for commit in self._commits))
            oldest = self.undecided.oldest(self.next_transaction)
            yield Mark(decided, Place(*min(begun, default=decided)), oldest, self.next_transaction)

    def remove_before(self, position: int) -> None:
        """Remove the segments before `position`, which a durable checkpoint makes needless.

        Raises OSError.
        """
        with self._flush_lock:
            self._segments.remove_before(position)

    def _flush(self, sync: bool) -> Sequence[Commit]:
        """Flush what has been appended by now, and return the commits of it.

        The threads that append later flush it themselves; otherwise this flush would never end.
        """
        with self.lock:
            writes = self._unwritten.take()
            commits, self._commits = self._commits, []
            target = self._segments.position
        sync = (sync and self.durable < target) or any(commit.waits for commit in commits)
        if not (writes or commits or sync):
            return commits
        error = self._write(writes, target if sync else None)
        if error is None and commits:
            with self._commit_lock:
                for commit in commits:
                    commit.apply()
            for commit in commits:
                try:
                    commit.publish()
                except SqlError:
                    # Rows that were spilled to a file, which can't be read back: the views have
                    # them, and so has the log.
                    log.exception("committed rows did not reach their ring")
        with self.lock:
            self.unapplied -= len(commits)
        for commit in commits:
            commit.answer(error)
        return commits

    def _write(self, writes: Sequence[tuple[int, Bytes]], target: int | None) -> SqlError | None:
        """Write, sync up to `target`, and return the error, which stays.

        After an error it is not known what the disk has.
        """
        if self._failure is not None:
            return self._failure
        try:
            began_ns = time.perf_counter_ns()
            if target is not None and len(writes) == 1 and writes[0][0] == self.durable:
                self._segments.write_durably(*writes[0])
            else:
                if writes:
                    # They adjoin one another.
                    self._segments.write_pieces(writes[0][0], [data for _, data in writes])
                if target is None:
                    return None
                self._segments.sync()
            self._note_sync(began_ns, target)
        except OSError as error:
            return self._fail(error)
        return None

    def _note_sync(self, began_ns: int, target: int) -> None:
        self._sync_s += SMOOTHING * ((time.perf_counter_ns() - began_ns) / 1e9 - self._sync_s)
        self.durable = target

    def _fail(self, error: OSError) -> SqlError:
        """Take no more records: after a failed write or sync it is not known what the disk has."""
        log.critical("the log can't be written: %s; streams take no more rows until the server is started again", error)
        failure = SqlError(
            IO_ERROR,
            f"could not write to the log: {error.strerror}",
            detail="Whether transactions that were being committed are kept is decided at the next start.",
            hint="Look after the disk of the data directory and start the server again; reading goes on.",
        )
        with self.lock:
            self._failure, self.takes = failure, False
            self._opened.notify_all()
        return failure

    @staticmethod
    def _full(error: OSError) -> SqlError:
        return SqlError(
            DISK_FULL,
            f"could not extend the log: {error.strerror}",
            hint="Free space on the disk of the data directory, or let CHECKPOINT remove log that is not needed any more.",
        )

    def tend(self, sync: bool) -> None:
        """Flush, and make the next segment in time: what the thread does in each round."""
        self.flush(sync)
        if self._segments.room < self._half_bytes and self._failure is None:
            try:
                self._segments.prepare()
            except OSError as error:
                log.warning("the next segment of the log can't be made yet: %s", error)

    def _run(self) -> None:
        """Tend the log when woken, and sync it after each interval: the main function of the
        thread.
        """
        due_s = time.monotonic() + self._interval_s
        while not self._ends:
            self._wake.wait(max(due_s - time.monotonic(), 0.0))
            self._wake.clear()
            is_due = time.monotonic() >= due_s
            self.tend(sync=is_due)
            if is_due:
                due_s = time.monotonic() + self._interval_s


def statement_flags(statement: int) -> int:
    """Return the flags of a record of rows for the number of the statement in its transaction."""
    return statement << STATEMENT_SHIFT
