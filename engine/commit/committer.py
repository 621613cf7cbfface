"""The commit point: a transaction is written to the log and the tables, and becomes visible.

Enters: transactions. Leaves: applied rows, published catalogs, answers. The last record in the log
decides a transaction that has rows of streams alone. The COMMIT of the table engine decides a
transaction that also changes tables or definitions: the log has this transaction as prepared
before, and the COMMIT stores its number. A transaction of tables alone needs no log. Must not know
sessions or messages.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from engine.catalog.image import CatalogImage
from engine.catalog.published import PublishedCatalog
from engine.catalog.stored_form import catalog_text
from engine.commit.arrival_joins import JoinChange, changed_joins
from engine.commit.begun_states import first_payloads
from engine.commit.logged_ahead import LoggedAhead
from engine.commit.parts import (
    Records,
    arrive,
    bytes_of,
    capped,
    changed_relations,
    claimed,
    decision,
    end,
    ignore_cancel,
    kept_tuples,
    note_batch,
    prepare,
    reshapings_of,
    small_records,
    stages_of,
    streams_in,
)
from engine.commit.row_commit import RowCommit, Views
from engine.commit.staged_commit import StagedCommit
from engine.commit.staging import StatementStage
from engine.commit.string_admission import FullBufferError, admissible, admit
from engine.commit.table_changes import check_changes, new_sequences
from engine.commit.transaction import Transaction, with_derived
from engine.log.commit_log import CommitLog, statement_flags
from engine.log.commits import Answer, Waiting
from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, STATEMENTS_MAX, Bytes, checksum_of
from engine.tables.table_store import TableStore
from ringbuffer.memory.columns import Morsel
from ringbuffer.pages.log_rows import FLAG_COMMITS
from sql.errors import SqlError
from views.model.protocols import Clock
from views.upkeep.caps import StateCaps
from views.upkeep.twins import Sharing

log = logging.getLogger(__name__)


class Committer:
    """The commits of one server.

    Attributes:
        log: the write-ahead log.

    Arguments:
        sharing, caps: the sets of views that take rows together, and the caps of their states.
    """

    def __init__(
        self,
        catalog: PublishedCatalog,
        store: TableStore,
        clock: Clock,
        sharing: Sharing,
        caps: StateCaps,
        log: CommitLog,
    ) -> None:
        self.log = log
        self._catalog = catalog
        self._store = store
        self._clock = clock
        self._sharing, self._caps = sharing, caps

    def commit(self, transaction: Transaction) -> None:
        """Commit, and return after the commit.

        Raises SqlError, and applies nothing of the transaction then.

        After FullBufferError a transaction of streams alone can be tried again.
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
        """Raise FullBufferError if the string buffers have no room for the transaction's rows
        now.
        """
        with self.log.lock:
            admissible(stages_of(transaction))

    def log_ahead(self, stage: StatementStage, morsel: Morsel) -> None:
        """Append what a statement has staged, `morsel` at last, while it goes on, once that is
        much.

        Of all statements on streams it is the first of its transaction. The commit appends rows
        anew if the log has forgotten them. Raises SqlError.
        """
        ahead = stage.ahead
        if ahead is None and stage.is_many:
            ahead = stage.ahead = LoggedAhead(self.log)
            self._append_rows(ahead, stage, stage.morsels())
        elif ahead is not None and ahead.is_kept:
            self._append_rows(ahead, stage, (morsel,))

    def _append_rows(self, ahead: LoggedAhead, stage: StatementStage, morsels: Iterable[Morsel]) -> None:
        for morsel in morsels:
            self._add(ROWS, statement_flags(0), ahead.number, stage.payload(morsel), waits=True)
            ahead.count += 1
            self.log.write_out()

    def commit_soon(self, transaction: Transaction, answer: Answer) -> bool | None:
        """Commit rows of streams without waiting for the disk, on the event loop.

        True: done. False: `answer` will be called after the commit is durable and visible, or has
        failed; the caller then calls `end` or `drop`. None: nothing has happened, and the caller
        calls `commit`. Raises SqlError when a view refuses a row.
        """
        stages = stages_of(transaction)
        image = self._catalog.image
        records = small_records(stages)
        if records is None or any(stage.needs_room for stage in stages):
            return None
        prepare(transaction, image)
        if not self._reserve(stages, quickly=True):
            return None
        log = self.log
        with log.lock:
            if not log.takes or self._catalog.image is not image or not log.fits(bytes_of(records, transaction.batch)):
                return None
            arrive(transaction, stages, log.stamp())
            try:
                return self._append(transaction, stages, records, 0, answer)
            except FullBufferError:
                return None

    def _reserve(self, stages: Sequence[StatementStage], quickly: bool = False, waits: bool = True) -> bool:
        """Reserve room in states that have caps, after `prepare`; return whether there is room.

        quickly: where that can be told at once, else False. Raises SqlError 53200.
        """
        for stage in stages:
            stage.give_back()
        wanted = capped(stages)
        if not wanted:
            return True
        found = self._caps.reserve_quickly(wanted) if quickly else self._caps.reserve(wanted, waits)
        stages[0].reserved = found
        return found is not None

    def commit_row(
        self, commit: RowCommit, views: Views, image: CatalogImage, waits: bool, answer: Answer
    ) -> bool | None:
        """Commit one whole row of a stream as a transaction of its own, as `commit_soon` does."""
        log = self.log
        now_us = commit.arrive(self._clock.now_us(), log.newest_us)
        if commit.views is not views:
            commit.meet(views, self._caps)
        if commit.checks and not commit.passes():
            return None
        with log.lock:
            if not log.takes or self._catalog.image is not image:
                return None
            room = commit.room
            if room is not None and not room.takes_row(commit.string_bytes_max):
                return None
            if commit.most is not None and not commit.reserve(self._caps):
                return None
            size = log.add_row(commit.record, now_us)
            if not size:
                commit.end_reserving(is_applied=False)
                return None
            if room is not None:
                room.add_row(size - commit.record.plain_bytes)
            commit.waits, commit.answer = waits, answer
            if waits or log.unapplied:
                log.add_row_commit(commit, size)
                return False
            with self._catalog.lock:
                commit.apply()
            commit.publish()
        return True

    # Rows of streams alone.

    def _enter(self, transaction: Transaction, stages: Sequence[StatementStage], answer: Answer) -> None:
        """Append the transaction to the log, and wait as long as that takes. Raises SqlError."""
        log = self.log
        self.require_room(transaction)
        with self._logged_ahead(stages) as (records, number):
            while True:
                image = self._catalog.image
                prepare(transaction, image)
                self._reserve(stages)
                if number and any(stage.folds_on_arrival for stage in stages):
                    self._enter_alone(transaction, stages, number, answer)
                    return
                with log.lock:
                    if not log.takes:
                        log.wait_until_open()
                    if self._catalog.image is not image:
                        continue
                    if log.fits(bytes_of(records, transaction.batch)):
                        arrive(transaction, stages, log.stamp())
                        if self._append(transaction, stages, records, number, answer):
                            answer(None)
                        return
                log.make_room(bytes_of(records, transaction.batch))

    def _enter_alone(
        self, transaction: Transaction, stages: Sequence[StatementStage], number: int, answer: Answer
    ) -> None:
        """Decide a transaction that is in the log, while all other commits wait.

        The transaction has many rows for views that look at the arrival of rows.
        """
        log = self.log
        with log.exclusive():
            prepare(transaction, self._catalog.image)
            self._reserve(stages, waits=False)
            with log.lock:
                arrival_us = log.stamp()
            arrive(transaction, stages, arrival_us)
            while not log.fits(bytes_of([], transaction.batch)):
                log.make_room(bytes_of([], transaction.batch))
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
        """Append the rest of a transaction, which fits, and the record that decides it.

        Returns whether the transaction is visible already, or will be by a flush. number: of a
        transaction that has records in the log, else 0. The caller holds the append lock. Raises
        FullBufferError, and nothing has happened then.
        """
        log = self.log
        admit(admissible(stages))
        first = log.undecided.first(number, log.place)
        if number == 0 and len(records) == 1 and transaction.batch is None:
            last = first
            ((flags, payload),) = records
            log.add(ROWS, flags | FLAG_COMMITS, log.number(), payload, transaction.arrival_us)
        else:
            number = number or log.number()
            for flags, payload in records:
                log.add(ROWS, flags, number, payload)
            last = log.place
            log.add(COMMIT, 0, number, decision(transaction, stages), transaction.arrival_us)
        commit = StagedCommit(transaction, stages, answer, log.batches)
        if not transaction.waits_for_log and log.unapplied == 0:
            with self._catalog.lock:
                commit.apply()
            commit.publish()
            return True
        log.add_commit(commit, first, last)
        return False

    @contextmanager
    def _logged_ahead(self, stages: Sequence[StatementStage]) -> Iterator[tuple[Records, int]]:
        """Return the records that go in with the last one, and the number of the transaction.

        A transaction of many rows has no such records: all of them are put into the log here. The
        number is 0 while the log does not know the transaction. A replay applies nothing of a
        transaction that is never decided.
        """
        ahead, count = claimed(stages), 0
        if ahead is not None:
            number, count = ahead.number, 1
        else:
            records = small_records(stages)
            if records is not None:
                yield records, 0
                return
            with self.log.lock:
                number = self.log.begin_undecided()
        try:
            for index, stage in enumerate(stages[count:], count):
                flags = statement_flags(min(index, STATEMENTS_MAX))
                for morsel in stage.morsels():
                    self._add(ROWS, flags, number, stage.payload(morsel), waits=True)
                    self.log.write_out()
            yield [], number
        finally:
            with self.log.lock:
                self.log.undecided.end(number)

    def _add(
        self, kind: int, flags: int, number: int, payload: Sequence[Bytes], time_us: int = 0, waits: bool = False
    ) -> None:
        """Append a record, and wait as long as that takes.

        Raises SqlError. time_us: see `CommitLog.add`.

        waits: also for the end of an exclusive transaction, or of a change of segments. Only the
        exclusive transaction itself does not wait for these.
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
        """Commit in the tables' file, which decides; publish catalog, rows and table versions."""
        catalog, store = self._catalog, self._store
        reshapings = reshapings_of(transaction)
        with self._logged_ahead(stages) as (records, number), store.lock:
            if transaction.tables is None:
                transaction.tables = store.begin(catalog.image)
                transaction.snapshot = catalog.image
            tables = transaction.tables
            tables.serializable = transaction.serializable
            check_changes(transaction, catalog.image)
            sequences = [] if transaction.image is None else new_sequences(transaction.image)
            if transaction.image is not None:
                numbers = {entry.counter.number: entry.counter.record(entry.definition) for entry in sequences}
                store.save_catalog(tables, catalog_text(transaction.image), numbers)
            joins = changed_joins(transaction.image or catalog.image, tables)
            if not stages and transaction.image is None and not joins:
                store.commit(tables)
                return
            with self.log.exclusive(), self._following(transaction.image), self._joining(joins):
                # Of what is committed, so that nothing can be wrong with it once this transaction
                # is, too.
                for reshaping in reshapings:
                    reshaping.carry_over(ignore_cancel)
                before = admit(admissible(stages))
                try:
                    number = self._prepare_in_log(
                        transaction, stages, records, number, [chain for one in joins for chain in one.chains]
                    )
                    store.note_transaction(tables, number)
                    store.commit(tables)
                except BaseException:
                    admit(before)
                    raise
                self._note_committed(number)
                with catalog.lock:
                    for operation in with_derived(transaction.operations):
                        if isinstance(operation, StatementStage):
                            operation.apply()
                        else:
                            self._sharing.follow(operation.image.together)
                    note_batch(transaction, self.log.batches)
                    if transaction.image is not None:
                        catalog.image = transaction.image
                        self._sharing.follow(transaction.image.together)
                for operation in with_derived(transaction.operations):
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
    def _following(self, image: CatalogImage | None) -> Iterator[None]:
        """Follow the caps of a catalog that the block publishes, and after an error those of the
        catalog that there is.
        """
        if image is None:
            yield
            return
        with self._catalog.lock:
            self._caps.follow(image.chains)
        try:
            yield
        except BaseException:
            with self._catalog.lock:
                # What was prepared meanwhile, or has met the caps before, does so again.
                self._catalog.image = replace(self._catalog.image)
                self._caps.follow(self._catalog.image.chains)
            raise

    @contextmanager
    def _joining(self, joins: Sequence[JoinChange]) -> Iterator[None]:
        """Exchange the join tables of views for the block, and exchange them back after an error.

        A transaction that has evaluated rows with the old join tables evaluates them again. Raises
        SqlError 53200 for tables that would pass a cap.
        """
        if not joins:
            yield
            return
        exchanged: list[JoinChange] = []
        try:
            for change in joins:
                # With those that are exchanged.
                self._caps.require_joins((view.state.groups for view in change.chains), change.tables)
                exchanged.append(change)
                self._exchange(change)
            yield
        except BaseException:
            for change in exchanged:
                self._exchange(change)
            raise
        finally:
            with self._catalog.lock:
                # Another object is another image to every transaction that has prepared a commit
                # for the one before.
                self._catalog.image = replace(self._catalog.image)

    def _exchange(self, change: JoinChange) -> None:
        change.exchange()
        for view in change.chains:
            self._caps.forget(view.state.groups)

    def _note_committed(self, number: int) -> None:
        """Tell the log that the file of the tables has committed a transaction.

        A start finds that out without this record, so that no failure here can undo the commit.
        """
        try:
            self._add(COMMITTED, 0, number, ())
        except SqlError as error:
            log.warning("the log can't say that transaction %d is committed, but it is: %s", number, error.message)

    def _prepare_in_log(
        self, transaction: Transaction, stages: Sequence[StatementStage], records: Records, number: int, joined: Views
    ) -> int:
        """Make it durable in the log, but undecided; return its number. Raises SqlError."""
        image = self._catalog.image
        attached = prepare(transaction, image)
        self._reserve(stages, waits=False)
        with self.log.lock:
            number = number or self.log.number()
            arrival_us = self.log.stamp()
        arrive(transaction, stages, arrival_us)
        for flags, payload in records:
            self._add(ROWS, flags, number, payload)
        created, dropped = changed_relations(image, transaction.image)
        count = 0
        for payload in first_payloads(image, transaction.image, created, joined, self._catalog.lock):
            self._add(ROWS, 0, number, payload)
            count += 1
        told = {
            "created": created,
            "dropped": dropped,
            "views": [[view.state_oid for view in then.led_by(views)] for then, views in attached],
            "records": sum(stage.morsels_count for stage in stages) + count,
            "kept": kept_tuples(transaction),
            "batch": "" if transaction.batch is None else transaction.batch.to_bytes().hex(),
        }
        self._add(PREPARE, 0, number, [json.dumps(told).encode()], arrival_us)
        self.log.flush(sync=True)
        self.log.check()
        return number
