"""The commit point: how a transaction gets into the log, into the file of the tables, and in front of everybody.

Enters: transactions. Leaves: applied rows, published catalogs, answers. Rows of streams alone are decided by their last record in the log.
What also changes tables or definitions is decided by the COMMIT of the table engine, in which it leaves its number: the log has it as
prepared before that. Tables alone need no log. Must not know sessions or messages.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from engine.catalog.image import CatalogImage
from engine.catalog.stored_form import catalog_text
from engine.commit.arrival_joins import JoinChange, begun_joins, changed_joins, join_payloads
from engine.commit.parts import (
    Committed,
    Records,
    arrive,
    bytes_of,
    changed_relations,
    end,
    ignore_cancel,
    kept_tuples,
    prepare,
    reshapings_of,
    small_records,
    stages_of,
    streams_in,
)
from engine.commit.staging import StatementStage
from engine.commit.string_admission import FullBufferError, admissible, admit
from engine.commit.table_changes import check_changes, new_sequences
from engine.commit.transaction import Transaction
from engine.log.commit_log import CommitLog, statement_flags
from engine.log.commits import Commit, Waiting
from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, STATEMENTS_MAX, Bytes, checksum_of
from engine.log.replay import RECORDS_COUNT
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.pages.log_rows import FLAG_COMMITS, RowRecord
from ringbuffer.ring.ring import RowWriter
from sql.errors import SqlError
from views.upkeep.view import ContinuousView

log = logging.getLogger(__name__)

Answer = Callable[[SqlError | None], None]
Views = Sequence[ContinuousView]


class StagedCommit(Commit):
    """The staged rows of a transaction."""

    __slots__ = ("_stages",)

    def __init__(self, stages: Sequence[StatementStage], answer: Answer, waits: bool) -> None:
        super().__init__(answer, waits)
        self._stages = stages

    def apply(self) -> None:
        """See Commit."""
        for stage in self._stages:
            stage.apply()

    def publish(self) -> None:
        """See Commit."""
        for stage in self._stages:
            stage.append_to_ring()


class RowCommit(Commit):
    """One whole row of a stream that lies in the same memory each time, on its way to log, views and ring. arrival: its last column.

    It is used again and again; neither it nor the row's memory changes between the committing and the answer.
    """

    __slots__ = (
        "arrival", "checks", "folds", "now_us", "record", "ring_row", "room", "row", "string_bytes_max", "views",
    )  # fmt: skip

    def __init__(self, row: Morsel, record: RowRecord, ring_row: RowWriter) -> None:
        super().__init__(ignore, waits=False)
        self.row = row
        self.arrival: npt.NDArray[Any] = row.data[-1]
        self.record = record
        self.ring_row = ring_row
        self.room = ring_row.string_room
        self.string_bytes_max = row.heap.nbytes
        self.views: Views = ()
        self.checks: Sequence[Callable[[Morsel, int], None]] = ()
        self.folds: Sequence[Callable[[int], None]] = ()
        self.now_us = 0

    def meet(self, views: Views) -> None:
        """From now on the row is for these views. Between two commits of the row."""
        self.views = views
        self.checks = [view.state.check for view in views if view.state.can_fail]
        self.folds = [view.state.row_fold(self.row) for view in views]

    def arrive(self, now_us: int, newest_us: int) -> int:
        """The row arrives now, or when the newest one did if that was later; return when that is, in microseconds."""
        self.arrival[0] = self.now_us = now_us = max(now_us, newest_us)
        return now_us

    def passes(self) -> bool:
        """Tell whether all views can take the row, which has arrived."""
        try:
            for check in self.checks:
                check(self.row, self.now_us)
        except RowError:
            return False
        return True

    def apply(self) -> None:
        """See Commit."""
        for fold in self.folds:
            fold(self.now_us)
        for view in self.views:
            view.note_commit()

    def publish(self) -> None:
        """See Commit."""
        self.ring_row.append()


def ignore(_: SqlError | None) -> None:
    """Nobody waits for this answer."""


class Committer:
    """The commits of one database. log: what they write ahead."""

    def __init__(self, database: Committed, log: CommitLog) -> None:
        self.log = log
        self._database = database

    def commit(self, transaction: Transaction) -> None:
        """Commit, and return when it is done. Raises SqlError, and then nothing of the transaction is applied.

        After FullBufferError it can be tried again if it is of streams alone.
        """
        stages = stages_of(transaction)
        try:
            for stage in stages:
                stage.make_room()
            if transaction.is_durable:
                if transaction.tables is not None:
                    transaction.tables.references.check_deferred()
                self._commit_tables(transaction, stages)
            elif stages:
                waiting = Waiting()
                self._enter(transaction, stages, waiting.answer)
                if waiting.is_done:
                    self.log.write_out()
                else:
                    self.log.flush()
                waiting.wait()
        except BaseException as error:
            if transaction.is_durable or not isinstance(error, FullBufferError):
                transaction.drop()
            raise
        end(transaction)

    def require_room(self, transaction: Transaction) -> None:
        """Raise FullBufferError if the string buffers have no room for the transaction's rows now."""
        with self.log.lock:
            admissible(stages_of(transaction))

    def commit_soon(self, transaction: Transaction, answer: Answer) -> bool | None:
        """Commit rows of streams without waiting for the disk, on the event loop. Raises SqlError when a view refuses a row.

        True: done. False: `answer` will be called when it is durable and visible, or has failed; then `end` or `drop` the transaction.
        None: nothing has happened, and `commit` has to do it.
        """
        stages = stages_of(transaction)
        image = self._database.image
        records = small_records(stages)
        if records is None or any(stage.needs_room for stage in stages):
            return None
        prepare(transaction, image)
        log = self.log
        with log.lock:
            if not log.takes or self._database.image is not image or not log.fits(bytes_of(records)):
                return None
            arrive(transaction, stages, log.stamp())
            try:
                return self._append(transaction, stages, records, 0, answer)
            except FullBufferError:
                return None

    def commit_row(
        self, commit: RowCommit, views: Views, image: CatalogImage, waits: bool, answer: Answer
    ) -> bool | None:
        """Commit one whole row of a stream as a transaction of its own. Results as of `commit_soon`."""
        log = self.log
        now_us = commit.arrive(self._database.clock.now_us(), log.newest_us)
        if commit.views is not views:
            commit.meet(views)
        if not commit.passes():
            return None
        with log.lock:
            if not log.takes or self._database.image is not image:
                return None
            room = commit.room
            if room is not None and not room.takes_row(commit.string_bytes_max):
                return None
            size = log.add_row(commit.record, now_us)
            if not size:
                return None
            if room is not None:
                room.add_row(size - commit.record.plain_bytes)
            commit.waits, commit.answer = waits, answer
            if waits or log.unapplied:
                log.add_row_commit(commit, size)
                return False
            with self._database.commit_lock:
                commit.apply()
            commit.publish()
        return True

    # Rows of streams alone.

    def _enter(self, transaction: Transaction, stages: Sequence[StatementStage], answer: Answer) -> None:
        """Append the transaction to the log, whatever has to be waited for. Raises SqlError."""
        log = self.log
        self.require_room(transaction)
        with self._logged_ahead(stages) as (records, number):
            while True:
                image = self._database.image
                prepare(transaction, image)
                if number and any(stage.folds_on_arrival for stage in stages):
                    self._enter_alone(transaction, stages, number, answer)
                    return
                with log.lock:
                    if not log.takes:
                        log.wait_until_open()
                    if self._database.image is not image:
                        continue
                    if log.fits(bytes_of(records)):
                        arrive(transaction, stages, log.stamp())
                        if self._append(transaction, stages, records, number, answer):
                            answer(None)
                        return
                log.make_room(bytes_of(records))

    def _enter_alone(
        self, transaction: Transaction, stages: Sequence[StatementStage], number: int, answer: Answer
    ) -> None:
        """Decide a transaction that is in the log, with many rows for views that look at their arrival: others wait meanwhile."""
        log = self.log
        with log.exclusive():
            prepare(transaction, self._database.image)
            with log.lock:
                arrival_us = log.stamp()
            arrive(transaction, stages, arrival_us)
            while not log.fits(bytes_of([])):
                log.make_room(bytes_of([]))
            with log.lock:
                is_done = self._append(transaction, stages, [], number, answer)
        if is_done:
            answer(None)

    def _append(
        self,
        transaction: Transaction,
        stages: Sequence[StatementStage],
        records: Records,
        number: int,
        answer: Answer,
    ) -> bool:
        """Append the rest of a transaction, which fits, and what decides it; return whether it is visible already, or will be by a flush.

        number: of a transaction that has records in the log already, else 0. The caller holds the append lock. Raises FullBufferError,
        and nothing has happened.
        """
        log = self.log
        admit(admissible(stages))
        first = log.undecided_from(number)
        if number == 0 and len(records) == 1:
            last = first
            ((flags, payload),) = records
            log.add(ROWS, flags | FLAG_COMMITS, log.number(), payload, transaction.arrival_us)
        else:
            count = sum(stage.morsels_count for stage in stages)
            number = number or log.number()
            for flags, payload in records:
                log.add(ROWS, flags, number, payload)
            last = log.place
            log.add(COMMIT, 0, number, [RECORDS_COUNT.pack(count)], transaction.arrival_us)
        commit = StagedCommit(stages, answer, transaction.waits_for_log)
        if not transaction.waits_for_log and log.unapplied == 0:
            with self._database.commit_lock:
                commit.apply()
            commit.publish()
            return True
        log.add_commit(commit, first, last)
        return False

    @contextmanager
    def _logged_ahead(self, stages: Sequence[StatementStage]) -> Iterator[tuple[Records, int]]:
        """Give the records that go in with the transaction's last one; with many rows none do, since all of them are in the log then.

        Also gives the transaction's number, 0 when the log does not know it yet. What is never decided, nobody applies.
        """
        records = small_records(stages)
        if records is not None:
            yield records, 0
            return
        with self.log.lock:
            number = self.log.begin_undecided()
        try:
            for index, stage in enumerate(stages):
                flags = statement_flags(min(index, STATEMENTS_MAX))
                for morsel in stage.morsels():
                    self._add(ROWS, flags, number, stage.payload(morsel), waits=True)
                    self.log.write_out()
            yield [], number
        finally:
            with self.log.lock:
                self.log.end_undecided(number)

    def _add(
        self, kind: int, flags: int, number: int, payload: Sequence[Bytes], time_us: int = 0, waits: bool = False
    ) -> None:
        """Append a record, whatever has to be waited for; time_us: see `CommitLog.add`. Raises SqlError.

        waits: also for the end of an exclusive transaction, or of a change of segments, as all must who are not in it themselves.
        """
        log = self.log
        size = bytes_of([(flags, payload)])
        # Before the append lock is held.
        checksum = checksum_of(payload)
        while True:
            with log.lock:
                if waits and not log.takes:
                    log.wait_until_open()
                if log.fits(size):
                    log.add(kind, flags, number, payload, time_us, checksum)
                    return
            log.make_room(size)

    # With tables or definitions.

    def _commit_tables(self, transaction: Transaction, stages: Sequence[StatementStage]) -> None:
        """Commit in the file of the tables, which decides, and publish the rest: catalog, rows of streams, versions of tables."""
        database = self._database
        store = database.store
        reshapings = reshapings_of(transaction)
        with self._logged_ahead(stages) as (records, number), store.lock:
            if transaction.tables is None:
                transaction.tables = store.begin(database.image)
                transaction.snapshot = database.image
            tables = transaction.tables
            tables.serializable = transaction.serializable
            check_changes(transaction, database.image)
            sequences = [] if transaction.image is None else new_sequences(transaction.image)
            if transaction.image is not None:
                numbers = {entry.counter.number: entry.counter.record(entry.definition) for entry in sequences}
                store.save_catalog(tables, catalog_text(transaction.image), numbers)
            joins = changed_joins(transaction.image or database.image, tables)
            if not stages and transaction.image is None and not joins:
                store.commit(tables)
                return
            with self.log.exclusive(), self._joining(joins):
                # Of what is committed, so that nothing can be wrong with it once this transaction is, too.
                for reshaping in reshapings:
                    reshaping.carry_over(ignore_cancel)
                before = admit(admissible(stages))
                try:
                    number = self._prepare_in_log(
                        transaction, stages, records, number, [view for one in joins for view in one.views]
                    )
                    store.note_transaction(tables, number)
                    store.commit(tables)
                except BaseException:
                    admit(before)
                    raise
                self._note_committed(number)
                with database.commit_lock:
                    for operation in transaction.operations:
                        if isinstance(operation, StatementStage):
                            operation.apply()
                        else:
                            database.sharing.follow(operation.image.together)
                    if transaction.image is not None:
                        database.image = transaction.image
                        database.sharing.follow(transaction.image.together)
                for operation in transaction.operations:
                    if isinstance(operation, StatementStage):
                        operation.append_to_ring()
                    elif operation.reshaping is not None:
                        operation.reshaping.carry_over(ignore_cancel)
                for reshaping in reshapings:
                    reshaping.before.ring.retire()
                for stream in streams_in(transaction.image):
                    stream.ring.string_capacity = stream.string_capacity
            for entry in sequences:
                entry.counter.log = store.log_sequence

    @contextmanager
    def _joining(self, joins: Sequence[JoinChange]) -> Iterator[None]:
        """Have views join with changed tables from here on, or not after an error; whoever has evaluated rows before does it again."""
        if not joins:
            yield
            return
        database = self._database
        for change in joins:
            change.exchange()
        try:
            yield
        except BaseException:
            for change in joins:
                change.exchange()
            raise
        finally:
            with database.commit_lock:
                # Another object is another image to all who have prepared a commit for the one before.
                database.image = replace(database.image)

    def _note_committed(self, number: int) -> None:
        """Say in the log what the file of the tables has decided. A start knows it without: nothing that happens here can undo it."""
        try:
            self._add(COMMITTED, 0, number, ())
        except SqlError as error:
            log.warning("the log can't say that transaction %d is committed, but it is: %s", number, error.message)

    def _prepare_in_log(
        self, transaction: Transaction, stages: Sequence[StatementStage], records: Records, number: int, joined: Views
    ) -> int:
        """Have the transaction durable in the log, but not decided; return its number. Raises SqlError."""
        image = self._database.image
        attached = prepare(transaction, image)
        with self.log.lock:
            number = number or self.log.number()
            arrival_us = self.log.stamp()
        arrive(transaction, stages, arrival_us)
        for flags, payload in records:
            self._add(ROWS, flags, number, payload)
        created, dropped = changed_relations(image, transaction.image)
        joins_count = 0
        for payload in join_payloads({*joined, *begun_joins(transaction.image, created)}):
            self._add(ROWS, 0, number, payload)
            joins_count += 1
        told = {
            "created": created,
            "dropped": dropped,
            "views": [[view.definition.state_oid for view in then.led_by(views)] for then, views in attached],
            "records": sum(stage.morsels_count for stage in stages) + joins_count,
            "kept": kept_tuples(transaction),
        }
        self._add(PREPARE, 0, number, [json.dumps(told).encode()], arrival_us)
        self.log.flush(sync=True)
        self.log.check()
        return number
