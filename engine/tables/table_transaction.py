"""A session's transaction on durable tables: a DuckDB transaction with one snapshot, on a cursor.

Enters: bound relations to read, rows to write as Arrow tables, and the catalog image that belongs
to the snapshot. Leaves: Arrow tables. `engine.commit` begins the transaction, and commits it
together with the streams' part. One call at a time, from any thread; only `interrupt` may come in
between. Must not know sessions or SQL text of clients.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.embedded.duckdb_errors import CONFLICT, sql_error
from engine.embedded.query_engine import Cursor, QueryEngine, passing_rows
from engine.embedded.result_forms import in_forms
from engine.tables.arrow_values import by_number
from engine.tables.foreign_keys import References
from engine.tables.locks import SessionLocks
from engine.tables.physical_tables import TOUCHED, table_source
from engine.tables.row_checks import with_computed
from engine.tables.sequence_functions import ANSWERED, SequenceSession, in_session, uses_sequences
from engine.tables.table_expressions import hidden_keys, key_columns
from engine.tables.unique_errors import (
    duplicate_key,
    key_names,
    key_text,
    unique_violation,
    values_text,
    with_keys_of,
)
from engine.tables.write_journal import ROWS, Step, TableMark, WriteJournal, perform, repeat
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError
from sql.functions.volatility import has_volatile
from sql.tree.expressions import Literal
from sql.tree.relations import OutputColumn, Relation, Schema
from sql.tree.walks import scans
from sql.types.datatypes import INT8

if TYPE_CHECKING:
    from engine.storage.storage import Storage

ROWIDS_IN_TEXT_MAX = 16


class TableTransaction:
    """An open DuckDB transaction.

    Attributes:
        image: the catalog for names; DDL of the transaction replaces it.
        snapshot: the number of the last commit that is seen.
        written: tables with new, changed or deleted rows, as they were before the first write.
        unguarded: physical tables with keys that the transaction has made: DuckDB checks these at
            COMMIT only.
        changed: true if there is anything to make durable.
        time_zone: for the texts of errors.
        serializable: see `TableStore.commit`.
        journal: of a transaction block.
        unseen: oids of tables in `image` that were made or altered after the snapshot.
        saves_catalog: true if COMMIT makes another catalog.
        locks: of its session.
        references: its foreign keys; the caller that runs a statement calls `check` at the end.

    Arguments:
        reopen: returns a cursor with a fresh transaction of the same snapshot.
        keep: takes a cursor whose snapshot, of this number, the next reader may have; False: it may
            not.

    `_decisive` holds (table, constraint) of the unique keys that an ON CONFLICT of this transaction
    has looked up in its snapshot.
    """

    def __init__(
        self,
        engine: QueryEngine,
        cursor: Cursor,
        snapshot: int,
        image: CatalogImage,
        sequences: SequenceSession | None = None,
    ) -> None:
        self.image = image
        self._sequences = sequences
        self.snapshot = snapshot
        self.written: dict[str, TableEntry] = {}
        self.unguarded: set[str] = set()
        self.unseen: frozenset[int] = frozenset()
        self.saves_catalog = False
        self.changed = False
        self.time_zone = "UTC"
        self.serializable = False
        self.journal: WriteJournal | None = None
        self.reopen: Callable[[TableTransaction], Cursor] | None = None
        self.keep: Callable[[Cursor, int], bool] | None = None
        self.references = References(self)
        self.locks: SessionLocks | None = None
        self._is_dead = False
        # Nothing but tables was read: nothing has been registered or written.
        self._is_untouched = True
        self._decisive: set[tuple[str, str]] = set()
        self._engine = engine
        self._cursor: Cursor | None = cursor
        self._lock = threading.Lock()
        self._is_running = False

    def query(self, root: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of a bound relation as this transaction sees them, own writes included.

        Scans of kind 'table' read the table of that name in `image`; their schema is the table's
        columns in order, and may have `ROWID` at the end: a bigint that names the row for `update`
        and `delete`, valid until the next write to the table. All other scans read `inputs` by
        name: stored versions of views, and 'rows'. Raises SqlError; the DuckDB transaction is dead
        then, and the caller rolls it back.
        """
        return self.query_plain(self._in_session(root), inputs)

    def query_plain(self, root: Relation, inputs: Mapping[str, pa.Table], values: Sequence[Literal] = ()) -> pa.Table:
        """Return the rows as `query` does, of a relation whose calls have the session's number.

        values: as for `QueryEngine.run`.
        """
        read = list(scans(root))
        sources = {scan.name: table_source(self._table(scan.name), scan) for scan in read if scan.kind == "table"}
        self._is_untouched = self._is_untouched and all(scan.name in sources for scan in read)
        with self._running() as cursor:
            # After an error they go with the DuckDB transaction, which takes no more commands.
            self._is_dead = True
            found = self._engine.run_on(cursor, root, inputs, sources, values)
            self._is_dead = False
        self._engine.forget_passing(cursor)
        return found

    def insert(self, table: TableEntry, rows: pa.Table) -> None:
        """Append rows: one column per column of the table, in order, in the forms of
        `views.model.arrow_schema`.

        NOT NULL and CHECK were checked before. Raises 23505 with constraint, DETAIL and table, and
        40001.
        """
        named = self.numbered(table, rows)
        target = ", ".join((TOUCHED, *(f"c{name[1:]}" for name in named.column_names)))
        values = ", ".join(("0", *named.column_names))
        text = f'INSERT INTO stored.{table.physical} ({target}) SELECT {values} FROM "{ROWS}"'
        if self.journal is not None and self.journal.holds and rows.num_rows:
            self.refuse_known_keys(table, named)
        self._write(table, text, named)
        self.references.add(table, named)

    def numbered(self, table: TableEntry, rows: pa.Table) -> pa.Table:
        """Return rows with their columns called v<number>, and with what the table's indexes
        compute.
        """
        return with_computed(self, table, by_number(rows, table.description.columns))

    def insert_absent(self, table: TableEntry, rows: pa.Table, decisive: Collection[str]) -> None:
        """Append rows whose keys of the constraints `decisive` are not in the snapshot.

        If another transaction has inserted such a key in between, the error is 40001, here or at
        COMMIT: for the client that is no duplicate, since another try does what ON CONFLICT says.
        Raises as `insert` does.
        """
        self._decisive.update((table.description.name, name) for name in decisive)
        try:
            self.insert(table, rows)
        except SqlError as error:
            raise self._as_conflict(error) from error

    def update(self, table: TableEntry, columns: Sequence[int], rows: pa.Table, whole: pa.Table) -> None:
        """Change rows. Raises as `insert` does.

        columns: the attnums that get new values. rows: the rowid (bigint) first, each once, then
        one column per attnum. whole: the same rows with all columns of the table, for errors.
        """
        if columns:
            whole = self.numbered(table, whole)
            given = rows.rename_columns(["number", *(f"v{number}" for number in columns)])
            for name in whole.column_names[len(table.description.columns) :]:
                given = given.append_column(name, whole.column(name))
            assignments = ", ".join(f"c{name[1:]} = n.{name}" for name in given.column_names[1:])
            text = f'UPDATE stored.{table.physical} AS o SET {assignments} FROM "{ROWS}" AS n WHERE o.rowid = n.number'
            removals = self.references.before(table, rows.column(0), columns)
            keys = {number for one in table.description.constraints if one.is_key for number in one.columns}
            self._touch(table, rows.column(0), "FOR NO KEY UPDATE" if keys.isdisjoint(columns) else "FOR UPDATE")
            self._write(table, text, given, whole)
            self.references.add(table, whole, columns)
            self.references.changed(removals, given)

    def delete(self, table: TableEntry, rowids: pa.Table) -> None:
        """Delete the rows whose rowids are in the only column of `rowids`. Raises 40001."""
        removals = self.references.before(table, rowids.column(0))
        self._touch(table, rowids.column(0))
        self._write_by_number(table, f"DELETE FROM stored.{table.physical}", rowids.column(0))
        self.references.deleted(removals)

    def announce(self, table: TableEntry) -> None:
        """Wait until no other session has a lock that keeps others from writing to the table.

        Raises 40P01, 55P03, 57014.
        """
        if self.locks is not None:
            self.locks.take(("table", table.description.oid), "ROW EXCLUSIVE")

    def require_unchanged(self, table: TableEntry, rowids: pa.ChunkedArray) -> None:
        """Raise 40001 when one of these rows was changed or deleted after the snapshot.

        The session has locks of the rows.
        """
        if table.data.committed > self.snapshot:
            self._touch(table, rowids)

    def truncate(self, table: TableEntry) -> None:
        """Delete all rows. Raises 40001.

        The tables that refer to this one are truncated as well.
        """
        self.references.removed.add(table.description.oid)
        self._write(table, f"DELETE FROM stored.{table.physical}", None)

    def insert_from(self, table: TableEntry, root: Relation, source: TableEntry) -> None:
        """Fill a new table with the rows of a relation over another table, which may have its
        name.
        """
        scan = next(scan for scan in scans(root))
        root = self._in_session(root)
        text = self._engine.explain(root, {scan.name: table_source(source, scan)})
        hidden = [column for column, _ in hidden_keys(table)]
        target = ", ".join(f"c{column.number}" for column in (*table.description.columns, *hidden))
        insert = f"INSERT INTO stored.{table.physical} ({target or TOUCHED}) {text}"
        self._execute(Step(insert, repeatable=not has_volatile(root)))

    def fetch(self, text: str, schema: Schema, rows: pa.Table | None = None) -> pa.Table:
        """Return the answer to a query in DuckDB's own SQL. rows: the table `ROWS` of the query."""
        self._is_untouched = self._is_untouched and rows is None
        with self._running() as cursor:
            try:
                with passing_rows(cursor.connection, ROWS, rows):
                    return in_forms(cursor.connection.sql(text).to_arrow_table(), schema)
            except duckdb.Error as error:
                self._is_dead = True
                raise sql_error(error) from error

    def keys_of(self, table: TableEntry, numbers: Sequence[int], rowids: pa.ChunkedArray) -> pa.Table:
        """Return columns k<number> of these rows, in order of `rowids`, and each place (bigint)."""
        items = ", ".join((*(f"p.c{number}" for number in numbers), "r.place"))
        text = f'SELECT {items} FROM "{ROWS}" AS r JOIN stored.{table.physical} AS p ON p.rowid = r.number ORDER BY r.place'
        columns = tuple(OutputColumn(f"k{column.number}", column.type) for column in table.numbered(numbers))
        places = pa.array(range(len(rowids)), pa.int64())
        return self.fetch(text, (*columns, OutputColumn("place", INT8)), pa.table({"number": rowids, "place": places}))

    def execute_ddl(self, text: str, values: Sequence[object] = ()) -> None:
        """Run one statement of DuckDB that changes definitions or the catalog's own tables."""
        self._execute(Step(text, tuple(values)))

    def mark(self) -> TableMark:
        """Return where the transaction stands, for `roll_back_to`."""
        steps_count = 0 if self.journal is None else self.journal.steps_count
        written, unguarded = dict(self.written), frozenset(self.unguarded)
        decisive, deferral = frozenset(self._decisive), self.references.deferral
        return TableMark(steps_count, self.changed, written, unguarded, decisive, deferral)

    def roll_back_to(self, mark: TableMark, image: CatalogImage) -> None:
        """Undo what was done since the mark; `image` is the catalog that it had.

        Raises 40001, 0A000, and 57014 when interrupted.
        """
        self.image = image
        self.references.forget(mark.deferral)
        assert self.journal is not None, "savepoints are of transaction blocks"
        if self._is_dead or self.journal.steps_count != mark.steps_count:
            steps = self.journal.back_to(mark.steps_count)
            self._begin_anew()
            with self._running() as cursor:
                try:
                    self._is_dead = True
                    repeat(cursor, steps)
                    self._is_dead = False
                except duckdb.Error as error:
                    raise sql_error(error) from error
        self.changed, self.written = mark.changed, dict(mark.written)
        self.unguarded, self._decisive = set(mark.unguarded), set(mark.decisive)

    def commit(self, storage: Storage) -> None:
        """Make everything durable: the one moment at which the transaction happens.

        Raises SqlError, and nothing has happened then.
        """
        cursor = self._cursor
        assert cursor is not None, "the transaction is over"
        try:
            # Not for `interrupt` to find: a commit is not cancelled halfway.
            storage.commit_tables(cursor.connection)
        except duckdb.Error as error:
            tables = tuple(self.written.values())
            self.rollback()
            violation = unique_violation(self._engine, error, tables, None, self.time_zone, self.image)
            raise (sql_error(error) if violation is None else self._as_conflict(violation)) from error
        self._end()

    def rollback(self) -> None:
        """Undo everything; also after an error, and more than once."""
        with self._lock:
            cursor, self._cursor = self._cursor, None
        if cursor is None:
            return
        is_as_begun = self._is_untouched and not self._is_dead
        if not (is_as_begun and self.keep is not None and self.keep(cursor, self.snapshot)):
            self._engine.roll_back(cursor)
        self._drop_spares()

    def interrupt(self) -> None:
        """Stop the running call, if any, with 57014, from another thread."""
        with self._lock:
            if self._is_running and self._cursor is not None:
                self._cursor.interrupt()

    def repeated_key(self, table: TableEntry, constraint: ConstraintDescription) -> str | None:
        """Return columns and values of a key that several rows have, as PostgreSQL writes them."""
        columns = key_columns(table, constraint)
        key = ", ".join(f"c{column.number}" for column in columns)
        filled = " AND ".join(f"c{column.number} IS NOT NULL" for column in columns)
        text = f"SELECT {key} FROM stored.{table.physical} WHERE {filled} GROUP BY {key} HAVING count(*) > 1"
        return self.first_key(text, columns, None, (table, constraint))

    def first_key(
        self,
        text: str,
        columns: Sequence[ColumnDescription],
        rows: pa.Table | None = None,
        of: tuple[TableEntry, ConstraintDescription] | None = None,
    ) -> str | None:
        """Return columns and values of the first key that a query of DuckDB finds, as PostgreSQL
        writes them. rows: as for `fetch`. of: the key whose columns these are.
        """
        schema = tuple(OutputColumn(column.name, column.type) for column in columns)
        found = self.fetch(f"{text} LIMIT 1", schema, rows)
        if not found.num_rows:
            return None
        names = [one.name for one in columns] if of is None else key_names(self.image, *of)
        return key_text(names, values_text(found.columns, columns, self.time_zone))

    def _as_conflict(self, error: SqlError) -> SqlError:
        """Return an existing key as a conflict of transactions, if ON CONFLICT has not seen it."""
        if (error.table_name, error.constraint_name) not in self._decisive:
            return error
        return SqlError("40001", CONFLICT, detail=error.detail, read_oid=error.read_oid)

    def _require_distinct(self, table: TableEntry) -> None:
        for constraint in table.description.constraints:
            key = self.repeated_key(table, constraint) if constraint.is_key else None
            if key is not None:
                raise duplicate_key(table, constraint, key)

    def _in_session(self, root: Relation) -> Relation:
        if self._sequences is None or not uses_sequences(root, ANSWERED):
            return root
        self._sequences.image = self.image
        return in_session(root, self._sequences)

    def _table(self, name: str) -> TableEntry:
        entry = self.image.entries[name]
        assert isinstance(entry, TableEntry), f"{name} is scanned as a table"
        self._require_seen(entry)
        return entry

    def _require_seen(self, table: TableEntry) -> None:
        if table.description.oid in self.unseen:
            detail = f'Table "{table.description.name}" was made or altered in between.'
            raise SqlError("40001", CONFLICT, detail=detail)

    def _write(self, table: TableEntry, text: str, rows: pa.Table | None, whole: pa.Table | None = None) -> None:
        if rows is not None and rows.num_rows == 0:
            return
        self._require_seen(table)
        self.changed = True
        self.written.setdefault(table.description.name, table)
        with self._running() as cursor:
            try:
                self._perform(cursor, Step(text, (), rows))
            except duckdb.Error as error:
                suspect, shown = (table, rows) if whole is None else (with_keys_of(table, rows), whole)
                failure = unique_violation(self._engine, error, (suspect,), shown, self.time_zone, self.image)
                raise failure or sql_error(error) from error
        if rows is not None and table.physical in self.unguarded:
            self._require_distinct(table)

    def _touch(self, table: TableEntry, rowids: pa.ChunkedArray, mode: str = "FOR UPDATE") -> None:
        """Lock rows, and write to each, so that of two transactions with the same row the second
        gets 40001.

        DuckDB alone lets a DELETE pass an UPDATE, an UPDATE another one of other columns or to
        NULL, and a change of a key all of them (tests/engine/tables/test_conflicting_writes.py);
        two updates of one column to new values always conflict.
        """
        if self.locks is not None:
            self.locks.take_rows(table.description.oid, rowids.to_pylist(), mode)
        text = f"UPDATE stored.{table.physical} SET {TOUCHED} = {TOUCHED} + 1"
        self._write_by_number(table, text, rowids)

    def _write_by_number(self, table: TableEntry, text: str, rowids: pa.ChunkedArray) -> None:
        """Run `text` for these rowids. DuckDB goes straight to a few that are in the text."""
        if 0 < len(rowids) <= ROWIDS_IN_TEXT_MAX:
            few = ", ".join(map(str, rowids.to_pylist()))
            self._write(table, f"{text} WHERE rowid IN ({few})", None)
        else:
            rows = pa.table({"number": rowids})
            self._write(table, f'{text} WHERE rowid IN (SELECT number FROM "{ROWS}")', rows)

    def _execute(self, step: Step) -> None:
        self.changed = True
        with self._running() as cursor:
            try:
                self._perform(cursor, step)
            except duckdb.Error as error:
                if isinstance(error, duckdb.CatalogException) and self.unseen:
                    raise SqlError("40001", CONFLICT, detail="A table was made or altered in between.") from error
                raise sql_error(error) from error

    def refuse_known_keys(self, table: TableEntry, rows: pa.Table) -> None:
        """Raise 23505 for a key that exists already, or twice in `rows`, before DuckDB does.

        An error of DuckDB would end its transaction. rows: see `by_number`.
        """
        for constraint in table.description.constraints:
            if not constraint.is_key:
                continue
            columns = key_columns(table, constraint)
            values = ", ".join(f"n.v{column.number}" for column in columns)
            same = " AND ".join(f"o.c{column.number} = n.v{column.number}" for column in columns)
            filled = " AND ".join(f"n.v{column.number} IS NOT NULL" for column in columns)
            known = f'SELECT {values} FROM "{ROWS}" n JOIN stored.{table.physical} o ON {same}'
            key = self.first_key(known, columns, rows, (table, constraint))
            if key is None and rows.num_rows > 1:
                repeated = f'SELECT {values} FROM "{ROWS}" n WHERE {filled} GROUP BY {values} HAVING count(*) > 1'
                key = self.first_key(repeated, columns, rows, (table, constraint))
            if key is not None:
                raise duplicate_key(table, constraint, key)

    def _perform(self, cursor: Cursor, step: Step) -> None:
        self._is_untouched, self._is_dead = False, True
        count = perform(cursor, step)
        self._is_dead = False
        if self.journal is not None:
            self.journal.add(replace(step, count=count))

    def goes_on(self) -> bool:
        """Tell whether a query may follow: after one that failed, in a fresh DuckDB transaction."""
        if self._is_dead and not self.changed:
            with suppress(SqlError):
                self._begin_anew()
        return not self._is_dead

    def _begin_anew(self) -> None:
        """Take a fresh DuckDB transaction with the same snapshot. Raises 40001."""
        assert self.reopen is not None
        # The old one ends last: as long as any is open, DuckDB gives rows no other numbers.
        cursor = self.reopen(self)
        self._is_untouched = self._is_dead = False
        with self._lock:
            before, self._cursor = self._cursor, cursor
        assert before is not None, "the transaction is over"
        self._engine.roll_back(before)

    @contextmanager
    def _running(self) -> Iterator[Cursor]:
        """Let `interrupt` find the running call."""
        with self._lock:
            assert self._cursor is not None, "the transaction is over"
            cursor = self._cursor
            cursor.run.is_stopped = False
            self._is_running = True
        try:
            yield cursor
        finally:
            with self._lock:
                self._is_running = False

    def _end(self) -> None:
        with self._lock:
            cursor, self._cursor = self._cursor, None
        if cursor is not None:
            self._engine.give_back(cursor)
        self._drop_spares()

    def _drop_spares(self) -> None:
        journal, self.journal = self.journal, None
        if journal is not None:
            for spare in journal.end():
                self._engine.roll_back(spare)
