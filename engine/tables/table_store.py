"""The file of the durable tables: opened once, one place for commits, and the text of the catalog.

Enters: catalog images and transactions. Leaves: transactions with one snapshot each, the stored
catalog, and tables as views read them. The file is one DuckDB database: schema `stored` holds the
rows, schema `catalog` the definitions and the counters of sequences, so that DDL and rows have one
commit point. DuckDB syncs its files, but not their names: that is done here. Must not know sessions
or streams.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from engine.catalog.image import CatalogImage, SequenceEntry, TableEntry
from engine.embedded.duckdb_errors import sql_error
from engine.embedded.lockdown import lock_down
from engine.embedded.query_engine import Cursor, QueryEngine
from engine.embedded.result_rows import ResultLimits
from engine.storage.errors import disk_error
from engine.storage.room import room_bytes
from engine.storage.storage import Storage
from engine.tables.sequence_functions import SequenceSession
from engine.tables.session_functions import register_session_functions
from engine.tables.snapshot_pool import SnapshotPool
from engine.tables.table_transaction import TableTransaction
from engine.tables.write_journal import SNAPSHOT_GONE, WriteJournal
from sql.errors import SqlError
from sql.tree.relations import OutputColumn, Scan
from views.model.protocols import TableExport

log = logging.getLogger(__name__)

FILE_NAME = "tables.duckdb"
WRITE_AHEAD_SUFFIX = ".wal"
# A checkpoint comes with the COMMIT after which DuckDB's log is so long. It writes what the log has
# and the row groups that this changes: at most so much of the file is expected to be written again.
CHECKPOINT_LOG_BYTES = 16 << 20
CHECKPOINT_ROOM_BYTES = 1 << 30
FORMAT_VERSION = 3
DAMAGED = "XX001"
# One row, with older ones after COMMITs of transactions that had begun before the catalog's last
# change: they can't replace what they don't see. New rows get greater numbers.
NEWEST_FIRST = "ORDER BY rowid DESC"
SCHEMA = (
    "CREATE SCHEMA stored",
    "CREATE SCHEMA catalog",
    "CREATE TABLE catalog.definitions (format INTEGER, text VARCHAR)",
    "CREATE TABLE catalog.sequences (number BIGINT, last BIGINT, called BOOLEAN)",
    "CREATE TABLE catalog.transactions (number BIGINT)",
)


class TableStore:
    """The open file of the durable tables.

    Attributes:
        lock: held from a DuckDB COMMIT until its effects are visible, and while a snapshot is
            taken, so that a snapshot, the catalog image and `commits_count` belong together. It is
            taken before the commit lock (`engine.catalog.published`).
    """

    def __init__(
        self, folder: Path, memory_bytes_max: int, disk_bytes_max: int, results: ResultLimits, storage: Storage
    ) -> None:
        """Open or make the file.

        Raises SqlError XX001, 53100 and 58030, and OSError when the folder can't be made.
        """
        self.path = folder / FILE_NAME
        self.lock = threading.Lock()
        # The number of the last serializable one among them.
        self._serialized = 0
        # Of the last one that made another catalog; how many catalogs are in the file.
        self._catalog_saved = 0
        self._catalogs_count = 1
        self._holding: weakref.WeakSet[TableTransaction] = weakref.WeakSet()
        self._storage = storage
        self._exports: dict[str, TableExport] = {}
        # Held for every commit, so that nobody else's is answered before the name of DuckDB's log
        # is durable.
        self._log_lock = threading.Lock()
        self._write_ahead = folder / (FILE_NAME + WRITE_AHEAD_SUFFIX)
        self._failed_sync: OSError | None = None
        storage.make_folder(folder)
        try:
            self.engine = QueryEngine(memory_bytes_max, 2, self.path, disk_bytes_max, results)
        except duckdb.Error as error:
            raise SqlError(DAMAGED, f"{self.path} can't be opened: {str(error).splitlines()[0]}") from None
        self.engine.add_functions(register_session_functions)
        self._snapshots = SnapshotPool(self.engine)
        self._log = self.engine.take_cursor().connection
        try:
            schemas = {name for (name,) in self._log.execute("SELECT schema_name FROM duckdb_schemas()").fetchall()}
        except duckdb.Error as error:
            raise SqlError(DAMAGED, f"{self.path} is damaged: {str(error).splitlines()[0]}") from None
        # The process that made the files may have been killed before this.
        self._sync_names()
        if "catalog" not in schemas:
            statements = (*SCHEMA, f"INSERT INTO catalog.definitions VALUES ({FORMAT_VERSION}, '')")
            self._commit_own(*((statement, ()) for statement in statements))

    def load(self) -> str | None:
        """Return the stored catalog, None in a new file.

        Raises SqlError XX001 for a damaged file or one of another format.
        """
        try:
            rows = self._log.execute(f"SELECT format, text FROM catalog.definitions {NEWEST_FIRST}").fetchall()
        except duckdb.Error as error:
            raise SqlError(DAMAGED, f"{self.path} is damaged: {str(error).splitlines()[0]}") from None
        if not rows:
            raise SqlError(DAMAGED, f"{self.path} is damaged: it has no catalog")
        self._catalogs_count = len(rows)
        version, text = rows[0]
        if version != FORMAT_VERSION:
            raise SqlError(DAMAGED, f"{self.path} has format {version}, but this server reads format {FORMAT_VERSION}")
        assert isinstance(text, str)
        return text or None

    def close(self) -> None:
        """Close the file; no transaction is open."""
        with self._snapshots.none_open():
            self._log.close()
            self.engine.close()

    # Transactions

    @property
    def commits_count(self) -> int:
        """How many transactions have changed tables or the catalog since the start."""
        return self._snapshots.commits_count

    def begin(self, image: CatalogImage, sequences: SequenceSession | None = None) -> TableTransaction:
        """Return a new transaction with the present snapshot. The caller holds `lock`.

        image: the catalog that it sees; sequences: of the session, None where no sequence can be
        used.
        """
        cursor = self._snapshots.take() or self._open_snapshot()
        transaction = TableTransaction(self.engine, cursor, self.commits_count, image, sequences)
        transaction.reopen, transaction.keep = self._reopened, self._snapshots.give
        return transaction

    def hold(self, transaction: TableTransaction, journal: WriteJournal) -> None:
        """Keep the snapshot of a transaction block, so that it can go back to a savepoint after
        other commits.

        The caller holds `lock`.
        """
        journal.holds = True
        self._holding.add(transaction)

    def _open_snapshot(self) -> Cursor:
        """Return a cursor with a transaction that has the present snapshot."""
        cursor = self.engine.take_cursor()
        try:
            cursor.connection.begin()
            # DuckDB takes the snapshot when the file is first read.
            cursor.connection.execute("SELECT format FROM catalog.definitions").fetchall()
        except duckdb.Error as error:
            self.engine.roll_back(cursor)
            raise sql_error(error) from error
        return cursor

    def _reopened(self, transaction: TableTransaction) -> Cursor:
        """Return a cursor with a fresh transaction of the same snapshot.

        Raises 40001 without a spare one.
        """
        with self.lock:
            if transaction.snapshot == self.commits_count:
                return self._open_snapshot()
        if transaction.journal is None:
            raise SqlError("40001", SNAPSHOT_GONE)
        return transaction.journal.take_spare()

    def _open_spares(self, committing: TableTransaction) -> None:
        """Open spare transactions for other blocks with savepoints, while their snapshot can be
        had.
        """
        for transaction in list(self._holding):
            journal = transaction.journal
            if journal is None:
                self._holding.discard(transaction)
            elif transaction is not committing and transaction.snapshot == self.commits_count:
                journal.provide(self._open_snapshot)

    def commit(self, transaction: TableTransaction) -> None:
        """Make a transaction durable and count it.

        The caller holds `lock`, and publishes the changes before it releases the lock. A
        serializable transaction fails with 40001 if another one of its kind has committed since its
        snapshot: those that commit saw the effects of those before them (backward validation; Kung
        and Robinson, On Optimistic Methods for Concurrency Control, section 4). Raises SqlError,
        and nothing of the transaction has happened then.
        """
        if transaction.serializable and transaction.snapshot < self._serialized:
            raise SqlError(
                "40001",
                "could not serialize access due to read/write dependencies among transactions",
                detail="Another serializable transaction has committed since this one began to read.",
            )
        with self._log_lock, self._snapshots.none_open():
            if not self._write_ahead.exists():
                # DuckDB begins a log after each of its checkpoints. Were its name not durable, that
                # would be known only after the COMMIT.
                self._commit_own(("INSERT INTO catalog.transactions VALUES (0)", ()))
            self._require_synced()
            self._open_spares(transaction)
            transaction.commit(self._storage)
            self._snapshots.advance()
            self._checkpoint_when_due()
        if transaction.serializable:
            self._serialized = self.commits_count
        if transaction.saves_catalog:
            self._catalogs_count = self._catalogs_count + 1 if transaction.snapshot < self._catalog_saved else 1
            self._catalog_saved = self.commits_count
        for table in transaction.written.values():
            table.data.committed = self.commits_count
            if table.description.oid in transaction.references.removed:
                table.data.removed = self.commits_count

    def save_catalog(self, transaction: TableTransaction, text: str, sequences: Mapping[int, tuple[int, bool]]) -> None:
        """Write the catalog's text and the records of new sequences as part of `transaction`.

        The caller holds `lock`.
        """
        values = [FORMAT_VERSION, text]
        if transaction.snapshot < self._catalog_saved:
            transaction.execute_ddl("INSERT INTO catalog.definitions VALUES (?, ?)", values)
        elif self._catalogs_count > 1:
            transaction.execute_ddl("DELETE FROM catalog.definitions")
            transaction.execute_ddl("INSERT INTO catalog.definitions VALUES (?, ?)", values)
        else:
            transaction.execute_ddl("UPDATE catalog.definitions SET format = ?, text = ?", values)
        transaction.saves_catalog = True
        for number, (last, called) in sequences.items():
            transaction.execute_ddl("INSERT INTO catalog.sequences VALUES (?, ?, ?)", [number, last, called])

    # Transactions that the log has prepared

    def note_transaction(self, transaction: TableTransaction, number: int) -> None:
        """Let the COMMIT of `transaction` also decide the log's prepared transaction with a
        number.
        """
        transaction.execute_ddl("INSERT INTO catalog.transactions VALUES (?)", [number])

    def decided_transactions(self) -> frozenset[int]:
        """Return the numbers of the prepared transactions that were committed and not forgotten
        yet.
        """
        return frozenset(
            number for (number,) in self._log.execute("SELECT number FROM catalog.transactions").fetchall()
        )

    def forget_transactions(self, before: int) -> None:
        """Forget the numbers below `before`, of which the log has no records any more."""
        with self._log_lock:
            self._commit_own(("DELETE FROM catalog.transactions WHERE number < ?", (before,)))

    # Sequences

    def log_sequence(self, number: int, last: int, called: bool) -> None:
        """Store the state of a sequence durably, in a transaction of its own."""
        text = "UPDATE catalog.sequences SET last = ?, called = ? WHERE number = ?"
        with self._log_lock:
            self._commit_own((text, (last, called, number)))

    def sequence_records(self) -> dict[int, tuple[int, bool]]:
        """Return the stored state of each sequence by its number: (last, called)."""
        rows = self._log.execute("SELECT number, last, called FROM catalog.sequences").fetchall()
        return {number: (last, called) for number, last, called in rows}

    def forget_sequences(self, kept: Iterable[int]) -> None:
        """Delete the records of sequences that were dropped."""
        gone = self.sequence_records().keys() - set(kept)
        if gone:
            with self._log_lock:
                self._commit_own(("DELETE FROM catalog.sequences WHERE number IN (SELECT unnest(?))", (list(gone),)))

    def settle(self, image: CatalogImage) -> None:
        """Store the real states of sequences, at an orderly end."""
        for entry in image.entries.values():
            if isinstance(entry, SequenceEntry):
                entry.counter.settle()

    # What views read

    def read_all(self, current: Callable[[], CatalogImage], names: Iterable[str]) -> dict[str, TableExport]:
        """Return committed tables as one read transaction sees them.

        An unchanged table is the same object.
        """
        found: dict[str, TableExport] = {}
        with self.lock:
            image = current()
            transaction = self.begin(image)
            versions = {name: version_of(table_entry(image, name)) for name in names}
        try:
            for name, version in versions.items():
                kept = self._exports.get(name)
                if kept is None or kept.version != version:
                    kept = self._exports[name] = TableExport(version, export(transaction, table_entry(image, name)))
                found[name] = kept
        finally:
            transaction.rollback()
        return found

    def read_once(self, current: Callable[[], CatalogImage], entry: TableEntry) -> TableExport:
        """Return a committed table, which is not kept for others. Raises SqlError 42P01 where the
        present catalog has another entry in its place.
        """
        with self.lock:
            image = current()
            if image.entries.get(entry.description.name) is not entry:
                raise SqlError("42P01", f'relation "{entry.description.name}" was altered')
            transaction = self.begin(image)
            version = version_of(entry)
        try:
            return TableExport(version, export(transaction, entry))
        finally:
            transaction.rollback()

    def forget_exports(self, image: CatalogImage) -> None:
        """Drop the exports of tables that were dropped."""
        for name in list(self._exports):
            if not isinstance(image.entries.get(name), TableEntry):
                self._exports.pop(name, None)

    # What is durable

    def _checkpoint_when_due(self) -> None:
        """Move DuckDB's log into its file where the log is long and the disk has room for that. The
        caller holds `_log_lock`; no snapshot is open in the pool.

        The commits are durable before: without a checkpoint the log grows, and the next commit
        tries again. A checkpoint that found no room would make the database unusable.
        """
        try:
            log_bytes = self._write_ahead.stat().st_size
            if log_bytes < CHECKPOINT_LOG_BYTES:
                return
            rewritten = min(self.path.stat().st_size, CHECKPOINT_ROOM_BYTES)
            if room_bytes(self.path) < 2 * log_bytes + rewritten:
                return
            self._log.execute("CHECKPOINT")
        except duckdb.TransactionException:
            # Another transaction is open.
            return
        except (duckdb.Error, OSError) as error:
            log.warning("the checkpoint of the tables failed, and their log keeps everything: %s", error)

    def _commit_own(self, *statements: tuple[str, Sequence[object]]) -> None:
        """Run a transaction on our own tables. The caller holds `_log_lock`. Raises SqlError."""
        self._require_synced()
        is_new = not self._write_ahead.exists()
        try:
            self._log.begin()
            for text, values in statements:
                self._log.execute(text, list(values))
            with self._snapshots.none_open():
                self._storage.commit_tables(self._log)
        except BaseException as error:
            with suppress(duckdb.Error):
                self._log.rollback()
            if isinstance(error, duckdb.Error):
                raise sql_error(error) from error
            raise
        if is_new:
            self._sync_names()

    def _sync_names(self) -> None:
        try:
            self._storage.sync_folder(self.path.parent)
        except OSError as error:
            self._failed_sync = error
            self._require_synced()

    def _require_synced(self) -> None:
        """Raise 58030 after the folder could not be synced: a later success says nothing of the
        names.
        """
        if self._failed_sync is not None:
            hint = "Restart the server: what was committed is kept."
            raise disk_error(self._failed_sync, "make the file of the tables durable", hint)


def table_entry(image: CatalogImage, name: str) -> TableEntry:
    """Return the entry of a table. Raises 42P01 when it was dropped in between."""
    entry = image.entries.get(name)
    if not isinstance(entry, TableEntry):
        raise SqlError("42P01", f'relation "{name}" does not exist')
    return entry


def version_of(entry: TableEntry) -> tuple[int, int]:
    """Return the version of a table's committed rows, which no other table has: two tables may be
    written by one commit, and change names.
    """
    return entry.description.oid, entry.data.committed


def export(transaction: TableTransaction, entry: TableEntry) -> pa.Table:
    """Return all rows of a table."""
    schema = tuple(OutputColumn(column.name, column.type) for column in entry.description.columns)
    return transaction.query(Scan(entry.description.name, "table", schema), {})


def read_closed(folder: Path) -> tuple[str, frozenset[int]]:
    """Return the catalog's text, and the committed prepared transactions, of a file that no server
    has open.

    Nothing on the disk is changed. Raises SqlError XX001 when the file can't be read.
    """
    path = folder / FILE_NAME
    try:
        with duckdb.connect(path, read_only=True) as connection:
            lock_down(connection)
            texts = connection.execute(f"SELECT text FROM catalog.definitions {NEWEST_FIRST} LIMIT 1").fetchall()
            numbers = connection.execute("SELECT number FROM catalog.transactions").fetchall()
    except duckdb.Error as error:
        raise SqlError(DAMAGED, f"{path} can't be read: {str(error).splitlines()[0]}") from None
    return "".join(text for (text,) in texts), frozenset(number for (number,) in numbers)
