"""The embedded engine: runs a bound relation over Arrow tables and durable tables in DuckDB and
answers as PostgreSQL would.

Enters: a relation tree and its inputs by scan name. Leaves: an Arrow table exactly in the forms of
`views.model.arrow_schema`, in order. Every call has a cursor of its own, so calls may come from
many threads; a cursor keeps its inputs registered for the next call.
`engine.tables.table_transaction` borrows cursors for longer. Must not know of sessions or of
continuous views.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa
from duckdb import _seam

from engine.embedded.columnless import for_duckdb
from engine.embedded.duckdb_errors import error_in_stream, sql_error
from engine.embedded.functions.registration import open_database, register_functions
from engine.embedded.kept_plans import KeptPlans
from engine.embedded.lockdown import lock_down
from engine.embedded.long_values import without_long_values
from engine.embedded.own_functions import RowFunction
from engine.embedded.result_forms import in_forms
from engine.embedded.result_rows import DEFAULT_LIMITS, ResultLimits, collected
from engine.embedded.row_functions import row_function
from engine.embedded.stopping import Run
from engine.embedded.value_limits import values_bytes_max
from sql import interrupts
from sql.emit.blocks.alike_rows import by_kind
from sql.emit.constant_failures import check_constants, is_one_row
from sql.emit.duckdb import DuckDbExpressions, emit_duckdb
from sql.emit.layout import laid_out
from sql.emit.names import StoredTable, column_names
from sql.emit.open_values import OpenText
from sql.emit.strict_nulls import without_strict_nulls
from sql.names.relation_keys import MARK, name_of
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import OutputColumn, Relation, Scan, Schema, Values
from sql.tree.walks import scans

STATEMENTS_CACHED_MAX = 256
# A long text is an INSERT's rows, which do not come again.
STATEMENT_CHARACTERS_CACHED_MAX = 16_384
INPUTS_PER_CURSOR_MAX = 64
DISK_BYTES_MAX = 1 << 34
# Some megabytes of wide rows, too.
BATCH_ROWS = 16_384
# Where rows may be wide: as many as DuckDB computes, and has measured, at once.
MEASURED_ROWS = 2_048
# Of the text of a query, in which the measuring comes first.
MEASURED_CHARACTERS = 1 << 20
LITERALS = DuckDbExpressions(())
# Kinds of scans whose rows are made for one statement.
PASSING = ("rows", "stream", "statistics")
SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET default_null_order = 'NULLS_LAST'",
    # An aggregate may be ordered by a constant, which DuckDB refuses but for an integer.
    "SET GLOBAL order_by_non_integer_literal = true",
    # A filter that guards another against an error must stay before it, and an operand that
    # COALESCE or CASE guards must stay inside: common_subexpressions takes a part that occurs twice
    # out of COALESCE and computes it for all rows.
    "SET disabled_optimizers = 'reorder_filter,common_subexpressions'",
    "SET enable_progress_bar = false",
    # The depth of trees is limited before (`sql.parse.grammar.cursor`), and DuckDB's threads have
    # the stacks for it.
    "SET GLOBAL max_expression_depth = 1000000",
)


class PassingRows:
    """Rows that DuckDB reads in one statement.

    DuckDB keeps what was registered until its transaction ends: this object, without the rows.
    """

    def __init__(self, rows: pa.Table) -> None:
        self._rows = for_duckdb(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows in the form of Arrow's stream interface."""
        return self._rows.__arrow_c_stream__(requested_schema)

    def forget(self) -> None:
        """Let go of the rows."""
        self._rows = self._rows.schema.empty_table()


@contextmanager
def passing_rows(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table | None) -> Iterator[None]:
    """Make rows known under a name for one statement; None: there are none.

    After an error the name goes with the transaction.
    """
    if rows is None:
        yield
        return
    passing = PassingRows(rows)
    connection.register(name, passing)
    try:
        yield
        connection.unregister(name)
    finally:
        passing.forget()


@dataclass
class Cursor:
    """A DuckDB cursor with its registered inputs.

    Attributes:
        inputs: input name -> the registered Arrow table.
        passing: the inputs for one statement.
    """

    connection: duckdb.DuckDBPyConnection
    inputs: OrderedDict[str, pa.Table] = field(default_factory=OrderedDict)
    passing: dict[str, PassingRows] = field(default_factory=dict)
    run: Run = field(init=False)
    plans: KeptPlans = field(init=False)

    def __post_init__(self) -> None:
        self.run = Run(self.connection.execute)
        self.plans = KeptPlans(self.connection.execute)

    def interrupt(self) -> None:
        """Stop the running call, also in the middle of a batch of rows; from another thread."""
        self.run.is_stopped = True
        self.connection.interrupt()


# DuckDB's own checkpoints come with a COMMIT. One that finds no room makes the COMMIT fail although
# it is durable, and the database unusable.
NEVER_CHECKPOINT = "1000TB"


class QueryEngine:
    """The engine that runs relations; thread-safe.

    `memory_bytes_max` and `disk_bytes_max` bound what DuckDB may use.

    Attributes:
        file: holds the durable tables, if there are any.
        results: the limits of one answer, which DuckDB does not count.
    """

    def __init__(
        self,
        memory_bytes_max: int,
        threads_count: int = 2,
        file: Path | None = None,
        disk_bytes_max: int = DISK_BYTES_MAX,
        results: ResultLimits = DEFAULT_LIMITS,
    ) -> None:
        self._results = results
        bytes_max = values_bytes_max(memory_bytes_max)
        config = {
            "threads": threads_count,
            "memory_limit": f"{memory_bytes_max}B",
            "checkpoint_threshold": NEVER_CHECKPOINT,
        }
        self._database = open_database(":memory:" if file is None else str(file), config, bytes_max)
        for setting in (*SETTINGS, f"SET max_temp_directory_size = '{disk_bytes_max}B'"):
            self._database.execute(setting)
        register_functions(self._database, bytes_max)
        lock_down(self._database)
        self._lock = threading.Lock()
        self._idle: list[Cursor] = []
        self._running: dict[Hashable, Cursor] = {}
        self._texts: OrderedDict[tuple[Relation, tuple[tuple[str, str | StoredTable], ...]], OpenText] = OrderedDict()

    def run(
        self,
        root: Relation,
        inputs: Mapping[str, pa.Table],
        token: Hashable | None = None,
        values: Sequence[Literal] = (),
        state: Hashable | None = None,
    ) -> pa.Table:
        """Return the rows of `root`.

        token: names the call for `interrupt`. values: of the parameters of a tree that is open
        (`sql.emit.open_values`). state: all that the answer depends on but the inputs, whose rows
        stay what they are, None where that is not known: no plan is kept then.

        Raises SqlError for PostgreSQL's errors, and 57014 when interrupted.
        """
        cursor = self.take_cursor()
        try:
            with self._running_on(cursor, token):
                return self.run_on(cursor, root, inputs, {}, values, state)
        finally:
            # Not for `interrupt` to find.
            self.forget_passing(cursor)
            self.give_back(cursor)

    def run_on(
        self,
        cursor: Cursor,
        root: Relation,
        inputs: Mapping[str, pa.Table],
        sources: Mapping[str, str | StoredTable],
        values: Sequence[Literal] = (),
        state: Hashable | None = None,
    ) -> pa.Table:
        """Return the rows of `root` by way of `cursor`.

        sources: the texts in FROM for the scans that have no input. values, state: as for `run`.
        """
        text, long_values = self._text(root, sources, values)
        try:
            for scan in scans(root) if inputs else ():
                if scan.name in inputs:
                    register_input(cursor, scan, inputs[scan.name])
            with ExitStack() as registered:
                for name, row in long_values.items():
                    registered.enter_context(passing_rows(cursor.connection, name, row))
                if state is not None and not long_values:
                    return self._execute(cursor, text, root.schema, (state, list(inputs.values())))
                return self._execute(cursor, text, root.schema)
        except duckdb.Error as error:
            raise sql_error(error) from error
        except OSError as error:
            raise sql_error(error_in_stream(error)) from error

    def row_function(self, expression: Expression) -> RowFunction | None:
        """Return what computes an expression from Python values of one row, as `run` does."""
        return row_function(expression)

    def add_functions(self, register: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
        """Make more functions known to all cursors."""
        register(self._database)

    def forget_passing(self, cursor: Cursor) -> None:
        """Let go of the inputs that will not come again, and of the oldest of too many others."""
        for name in tuple(cursor.passing):
            cursor.inputs.pop(name, None)
            unregister_input(cursor, name)
        while len(cursor.inputs) > INPUTS_PER_CURSOR_MAX:
            unregister_input(cursor, cursor.inputs.popitem(last=False)[0])

    def take_cursor(self) -> Cursor:
        """Return a cursor for a caller that gives it back."""
        with self._lock:
            cursor = self._idle.pop() if self._idle else Cursor(self._database.cursor())
        # The statement that had the cursor before may have been cancelled.
        cursor.run.is_stopped = False
        return cursor

    def give_back(self, cursor: Cursor) -> None:
        """Take a cursor back; no transaction is open on it."""
        with self._lock:
            self._idle.append(cursor)

    def roll_back(self, cursor: Cursor) -> None:
        """Take a cursor back with the transaction that is open on it.

        Inputs that were registered in the transaction are gone with it.
        """
        # DuckDB has rolled the transaction back itself when COMMIT failed; the next statement is
        # told of other errors.
        with suppress(duckdb.Error):
            cursor.connection.rollback()
        for passing in cursor.passing.values():
            passing.forget()
        cursor.passing.clear()
        cursor.inputs.clear()
        self.give_back(cursor)

    def interrupt(self, token: Hashable) -> None:
        """Stop the call that runs under `token`, if any; from another thread."""
        with self._lock:
            cursor = self._running.get(token)
            if cursor is not None:
                cursor.interrupt()

    def explain(self, root: Relation, sources: Mapping[str, str | StoredTable] = MappingProxyType({})) -> str:
        """Return the SQL text that `run` executes, for people."""
        return laid_out(self._text(root, sources)[0])

    def close(self) -> None:
        """Release the database; no call may run."""
        with self._lock:
            for cursor in self._idle:
                cursor.connection.close()
            self._idle.clear()
            self._database.close()

    def _execute(
        self, cursor: Cursor, text: str, schema: Schema, kept_for: tuple[Hashable, Sequence[pa.Table]] | None = None
    ) -> pa.Table:
        """Return the rows of a text.

        kept_for: the state and the inputs for which its plan is kept.
        """
        batch_rows = (
            MEASURED_ROWS
            if text.startswith("SELECT") and text.find("wide_rows_fit(", 0, MEASURED_CHARACTERS) > 0
            else BATCH_ROWS
        )
        if kept_for is not None:
            text = cursor.plans.statement(text, *kept_for)
        # Batch by batch: DuckDB computes no further than it is asked to. `execute` would compute
        # all rows first. The call that `sql` comes to: `sql` has looked for parameters before, by a
        # call that keeps the interpreter, and bound the text.
        with _seam.submit(cursor.connection, text, None, "stream", batch_rows).arrow_reader() as reader:
            return collected(reader, reader.schema, self._results, lambda rows: in_forms(rows, schema))

    def _text(
        self, root: Relation, sources: Mapping[str, str | StoredTable], values: Sequence[Literal] = ()
    ) -> tuple[str, dict[str, pa.Table]]:
        """Return the SQL of `root`, and its long constants by the names that stand for them."""
        key = (root, tuple(sources.items()))
        with self._lock:
            known = self._texts.get(key)
            if known is not None:
                self._texts.move_to_end(key)
                return known.filled(values, LITERALS.literal), {}
        read = list(scans(root))
        if not is_one_row(root):
            # Constants fail without a row, too; for one row they are computed anyway.
            check_constants(root, self._constant, self._compute_all)
        names = {scan.name: sources.get(scan.name) or source_name(scan.name) for scan in read}
        short, long_values = without_long_values(without_strict_nulls(root))
        text = OpenText(emit_duckdb(short, names | {name: source_name(name) for name in long_values}), root)
        if not long_values and text.characters_count <= STATEMENT_CHARACTERS_CACHED_MAX:
            with self._lock:
                self._texts[key] = text
                if len(self._texts) > STATEMENTS_CACHED_MAX:
                    self._texts.popitem(last=False)
        return text.filled(values, LITERALS.literal), long_values

    def _constant(self, expression: Expression) -> bool | None:
        """Return whether a constant is true, or not NULL if it is no boolean; None for NULL.

        Raises SqlError.
        """
        schema = (OutputColumn("value", expression.type),)
        value = self.run(Values(((expression,),), schema), {}).column(0)[0]
        if not value.is_valid:
            return None
        return bool(value.as_py()) if expression.type.family == "bool" else True

    def _compute_all(self, expressions: Sequence[Expression]) -> None:
        """Compute constants; those of one kind are one column. Raises SqlError where one fails."""
        for relation in by_kind(expressions):
            interrupts.check()
            cursor = self.take_cursor()
            try:
                self._execute(cursor, emit_duckdb(relation, {}), relation.schema)
            except duckdb.Error as error:
                raise sql_error(error) from error
            finally:
                self.give_back(cursor)

    @contextmanager
    def _running_on(self, cursor: Cursor, token: Hashable | None) -> Iterator[None]:
        """Let `interrupt` find the running call."""
        if token is None:
            yield
            return
        with self._lock:
            self._running[token] = cursor
        try:
            yield
        finally:
            with self._lock:
                del self._running[token]


def register_input(cursor: Cursor, scan: Scan, table: pa.Table) -> None:
    """Make `table` known under the scan's name, unless this very table is known already."""
    name = source_name(scan.name)
    if cursor.inputs.get(name) is table:
        cursor.inputs.move_to_end(name)
        return
    named = for_duckdb(table.rename_columns(list(column_names(scan.schema))))
    if scan.kind in PASSING:
        cursor.passing[name] = PassingRows(named)
        cursor.connection.register(name, cursor.passing[name])
    else:
        cursor.connection.register(name, named)
    cursor.inputs[name] = table


def unregister_input(cursor: Cursor, name: str) -> None:
    """Take a name back from DuckDB."""
    cursor.connection.unregister(name)
    passing = cursor.passing.pop(name, None)
    if passing is not None:
        passing.forget()


def source_name(name: str) -> str:
    """Return the name of a relation in DuckDB, which folds case where PostgreSQL does not, and
    knows no keys.
    """
    if name == name.lower() and MARK not in name:
        return name
    # Longer than any name of a client.
    return f"{name_of(name)} {name.encode().hex():->64}"
