"""The embedded engine of the catalog: a DuckDB of its own, in memory, with our functions and the
relations of each query.

Enters: a query's syntax, a session's context. Leaves: its columns with their types, and its rows as
Arrow. Catalog functions find the session that they are called for by a number, their first
argument. Thread-safe.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import re
import threading
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from engine.catalog.image import CatalogImage
from engine.embedded import query_engine
from engine.embedded.duckdb_errors import sql_error
from engine.embedded.error_mark import marked
from engine.embedded.functions.registration import open_database, register_functions
from engine.embedded.lockdown import lock_down
from engine.embedded.query_engine import MEASURED_ROWS
from engine.embedded.result_rows import ResultLimits, collected
from engine.system_catalog.catalog_access import require_readable
from engine.system_catalog.catalog_functions import FUNCTIONS, INTERNAL, CatalogFunction
from engine.system_catalog.functions import objects as functions_of_objects
from engine.system_catalog.functions import privileges as functions_of_privileges
from engine.system_catalog.functions import routines as functions_of_routines
from engine.system_catalog.functions import sessions as functions_of_sessions
from engine.system_catalog.functions import texts as functions_of_texts
from engine.system_catalog.printed import ARRAYS_FROM_0, REGISTERED, UNKNOWN, VECTORS, Printed, element_of, engine_type
from engine.system_catalog.queries.calls import FUNCTION_PREFIX
from engine.system_catalog.queries.casts import output, print_list_as_texts
from engine.system_catalog.queries.from_items import RELATION_PREFIX
from engine.system_catalog.queries.printing import Printing
from engine.system_catalog.queries.queries import PrintedQuery, print_query
from engine.system_catalog.queries.result_forms import NAMED, schema_of
from engine.system_catalog.relation_connections import RelationConnection, RelationConnections
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.snapshot import Snapshot, arrow_table
from engine.system_catalog.static_rows import relations
from sql.emit.wide_texts import measured_rows
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Query
from sql.tree.expressions import Literal

log = logging.getLogger(__name__)

# The tables of functions are filled when these modules are imported.
FILLED = (
    functions_of_objects,
    functions_of_routines,
    functions_of_privileges,
    functions_of_sessions,
    functions_of_texts,
)
MEMORY_LIMIT = "256MB"
ANSWER_LIMITS = ResultLimits(bytes_max=256 * 1024 * 1024)
# Functions that may make a long text of little; and how long a text of the client is that may be
# one.
MAKES_LONG = re.compile(r"\b(repeat|lpad|rpad|format|replace|regexp_replace)\s*\(|\brecursive\b", re.IGNORECASE)
LONG_CHARACTERS = 16_384
ROWS_MAX = 1_000_000
# The engine's advice for large answers, which answers of the catalog are not.
warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
SNAPSHOTS_KEPT = 4
# Without a file of its own, data that does not fit into memory would go into the folder that the
# server was started in.
SETTINGS = (*query_engine.SETTINGS, "SET temp_directory = ''")


class CatalogEngine:
    """The engine that answers queries on the catalog. The database is made with the first query."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._connections = RelationConnections(self._new_connection)
        self._contexts: dict[int, SessionContext] = {}
        self._keys = itertools.count(1)
        self._snapshots: dict[int, Snapshot] = {}
        self._running: dict[Hashable, RelationConnection] = {}

    def snapshot(self, image: CatalogImage) -> Snapshot:
        """Return the rows of an image; the rows of the last few images are kept."""
        with self._lock:
            found = self._snapshots.get(id(image))
            # The snapshot holds its image, so that no other one can have its id.
            if found is None:
                found = Snapshot(image)
                self._snapshots[id(image)] = found
                if len(self._snapshots) > SNAPSHOTS_KEPT:
                    del self._snapshots[next(iter(self._snapshots))]
            return found

    def describe(
        self, query: Query, context: SessionContext, declared: tuple[str | None, ...]
    ) -> tuple[PrintedQuery, tuple[str, ...]]:
        """Return a query's columns and the types of its parameters ('text' where nothing tells).

        Raises the query's errors.
        """
        printing = Printing(context, 0, declared)
        printed = print_query(printing, query, None)
        count = max([len(declared), *printing.parameter_types], default=0)
        kinds = (printing.parameter_types.get(number, "text") for number in range(1, count + 1))
        return printed, tuple("text" if kind == "unknown" else kind for kind in kinds)

    def run(
        self,
        query: Query,
        context: SessionContext,
        declared: tuple[str | None, ...],
        values: tuple[Literal, ...],
        text: str,
        token: Hashable,
    ) -> tuple[PrintedQuery, pa.Table]:
        """Return a query's columns and its rows, in the embedded engine's types.

        `token` names the call for `interrupt`.

        Raises SqlError; a query that the engine does not take is 0A000, and a line in the log with
        the query.
        """
        key = next(self._keys)
        if len(declared) < len(values) or None in declared:
            declared = self._found_types(query, context, declared, len(values))
        printing = Printing(context, key, declared, values, is_measured=makes_long(text, values))
        printed = print_query(printing, query, None)
        require_readable(printing.named.values(), context)
        tables = {RELATION_PREFIX + name: self._table(context, name) for name in printing.used}
        self._contexts[key] = context
        try:
            with self._connections.taken(tables) as taken:
                statement = shown(printing, printed)
                if printing.is_measured:
                    names = [column.text for column in printed.columns]
                    statement = measured_rows(statement, schema_of(printed.columns), names)
                return printed, self._answer(taken, printing.constants, statement, token)
        except duckdb.Error as error:
            raise self._client_error(error, text, printed) from error
        finally:
            del self._contexts[key]

    def _found_types(
        self, query: Query, context: SessionContext, declared: tuple[str | None, ...], count: int
    ) -> tuple[str | None, ...]:
        """Return the types that the query gives its parameters: a parameter has the type of the
        first place that tells one.
        """
        printing = Printing(context, 0, declared)
        print_query(printing, query, None)
        kinds = (printing.parameter_types.get(number, UNKNOWN) for number in range(1, count + 1))
        return tuple(None if kind == UNKNOWN else kind for kind in kinds)

    def _answer(self, taken: RelationConnection, constants: Sequence[str], statement: str, token: Hashable) -> pa.Table:
        with self._lock:
            taken.run.is_stopped = False
            self._running[token] = taken
        try:
            if constants:
                taken.connection.execute(f"SELECT {', '.join(constants)}").to_arrow_table()
            # A relation would be bound twice, which takes longer than most of these queries run.
            result = taken.connection.execute(f"SELECT * FROM ({statement}) LIMIT {ROWS_MAX + 1}")
            reader: pa.RecordBatchReader = result.to_arrow_reader(MEASURED_ROWS)
            with reader:
                table = collected(reader, reader.schema, ANSWER_LIMITS, lambda rows: rows)
            if table.num_rows > ROWS_MAX:
                hint = "Ask for fewer rows with WHERE, LIMIT or GROUP BY."
                detail = f"A query on the catalog may have {ROWS_MAX:,} rows."
                raise SqlError("53200", "the answer is too large", detail=detail, hint=hint)
            return table
        finally:
            with self._lock:
                self._running.pop(token, None)

    def explain(self, query: Query, context: SessionContext) -> tuple[str, list[str]]:
        """Return the embedded engine's text of a query, and the relations of the catalog that it
        reads.
        """
        printing = Printing(context, 0)
        printed = print_query(printing, query, None)
        require_readable(printing.named.values(), context)
        return printed.text, sorted(printing.used)

    def interrupt(self, token: Hashable) -> None:
        """Stop the query that runs under `token`, if any; from another thread."""
        with self._lock:
            taken = self._running.get(token)
            if taken is not None:
                taken.interrupt()

    def close(self) -> None:
        """Release the database; no query runs."""
        self._connections.close()
        if self._database is not None:
            self._database.close()

    def _table(self, context: SessionContext, name: str) -> pa.Table:
        schema, _, relation = name.partition(".")
        described = relations()[schema, relation]
        rows = context.activity(relation) if schema == "pg_catalog" else None
        return context.snapshot.table(described) if rows is None else arrow_table(described, rows)

    def _client_error(self, error: duckdb.Error, text: str, printed: PrintedQuery) -> Exception:
        found = sql_error(error)
        if isinstance(found, SqlError):
            return found
        log.warning("catalog: could not answer %s: %s; printed as %s", text, error, printed.text)
        message = "this query on the catalog is not supported yet"
        return SqlError("0A000", message, detail=str(error).splitlines()[0])

    def _new_connection(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._database is None:
                database = open_database(":memory:", {"threads": 1, "memory_limit": MEMORY_LIMIT})
                for setting in SETTINGS:
                    database.execute(setting)
                register_functions(database)
                for function in (*FUNCTIONS.values(), *INTERNAL.values()):
                    self._register(database, function)
                lock_down(database)
                self._database = database
            return self._database.cursor()

    def _register(self, database: duckdb.DuckDBPyConnection, function: CatalogFunction) -> None:
        arguments = ["BIGINT", *(engine_type(kind) for kind in function.arguments)]
        run = self._called(function)
        parameters = [
            inspect.Parameter(f"column_{index}", inspect.Parameter.POSITIONAL_ONLY) for index in range(len(arguments))
        ]
        setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010
        database.create_function(
            FUNCTION_PREFIX + function.name,
            run,
            [database.dtype(argument) for argument in arguments],
            database.dtype(function_type(function)),
            type=PythonUDFType.NATIVE,
            null_handling=FunctionNullHandling.SPECIAL,
        )

    def _called(self, function: CatalogFunction) -> Callable[..., Any]:
        contexts = self._contexts

        def run(key: int, *arguments: Any) -> Any:
            try:
                return function.run(contexts[key], *arguments)
            except SqlError as error:
                raise ValueError(marked(error)) from error

        return run


def shown(printing: Printing, printed: PrintedQuery) -> str:
    """Return the text of a query with its columns as a client gets them: names in the place of the
    OIDs that stand for them.
    """
    items = []
    for column in printed.columns:
        value = Printed(column.text, column.type)
        element = element_of(column.type)
        if column.type in NAMED:
            text = named(printing, value)
        elif column.type in (REGISTERED | VECTORS.keys()) - ARRAYS_FROM_0.keys():
            text = output(printing, value)
        elif element in REGISTERED:
            text = print_list_as_texts(printing, value)
        elif column.type.startswith("record"):
            raise not_supported("a row as a value in a query on the catalog")
        else:
            text = column.text
        items.append(f"{text} AS {column.text}")
    if not items:
        return printed.text
    return f"SELECT {', '.join(items)} FROM ({printed.text})"


def named(printing: Printing, value: Printed) -> str:
    """Return OIDs with the names by which they are shown, as structs of both."""
    element = element_of(value.type)
    if element is not None:
        item = printing.name("item")
        return f"list_transform({value.text}, lambda {item}: {named(printing, Printed(item, element))})"
    shown_as = output(printing, value)
    return f"CASE WHEN {value.text} IS NOT NULL THEN {{'oid': {value.text}, 'name': {shown_as}}} END"


def makes_long(text: str, values: tuple[Literal, ...]) -> bool:
    """Tell whether a query may have long texts, which are then measured where a function makes
    texts of them.
    """
    given = (len(value.value) for value in values if isinstance(value.value, str | bytes))
    return len(text) > LONG_CHARACTERS or max(given, default=0) > LONG_CHARACTERS or MAKES_LONG.search(text) is not None


def function_type(function: CatalogFunction) -> str:
    """Return the embedded engine's type of a function's result."""
    if function.fields:
        fields = ", ".join(f'"{name}" {engine_type(kind)}' for name, kind in function.fields)
        return f"STRUCT({fields})[]"
    return engine_type(function.result) + ("[]" if function.returns_rows else "")
