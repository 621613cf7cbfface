"""Prepared statements and portals of the extended protocol.

Enters: Parse and Bind messages. Leaves: bound statements with known parameter and result types, and
literals for their parameters. A prepared statement is bound anew when the catalog has changed under
it; if its result type changed, that is 0A000, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from engine.catalog.image import CatalogImage
from engine.catalog.per_image import PerImage
from engine.execution.outcome import Outcome, expand, row_description
from engine.scans.subscriptions import subscribed_schema
from sql.bind.expressions.object_names import known_oids, names_objects
from sql.bind.queries.origins import returned
from sql.bind.queries.query import bind_query
from sql.bind.writes.delete import BoundDelete, bind_delete
from sql.bind.writes.insert import BoundInsert, bind_insert
from sql.bind.writes.update import BoundUpdate, bind_update
from sql.catalog.catalog import Catalog, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.cursors import Declare
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.delete import Delete
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from sql.parse.statements.subscribe import Subscribe
from sql.parse.statements.update import Update
from sql.parse.statements.variables import Show
from sql.parse.syntax import Query
from sql.settings.settings import Settings
from sql.settings.table import canonical_name
from sql.times.input_styles import InputStyles
from sql.tree.expressions import Literal
from sql.tree.relations import BoundQuery, OutputColumn, Schema
from sql.types.datatypes import JSON, TEXT, UNKNOWN, SqlType, by_oid
from sql.values.literal_binary import WRONG_FORMAT, binary_value, text_value
from sql.values.literals import input_value
from sql.wire import writer
from sql.wire.messages import Bind

if TYPE_CHECKING:
    import pyarrow as pa

    from engine.catalog.image import TableEntry
    from engine.execution.parameter_rows import Shape
    from ringbuffer.memory.columns import Morsel

ENCODING_ERRORS = ("22021", "22P05")
SHOW_ALL_COLUMNS = ("name", "setting", "description")


@dataclass(frozen=True)
class UnparsedInsert(Statement, tag="INSERT", writes=True):
    """An INSERT of literals whose rows a decoder has read from the text: it is parsed when it needs
    the general way.
    """


@dataclass
class Prepared:
    """A parsed and bound statement.

    Attributes:
        declared: parameter types as the client gave them (None: to be inferred; None instead of
            all: there can be none).
        from_sql: made by PREPARE.
        is_of_text: made of the text of a Query, not by the client: its result type may change.
        shown_text, made_us: the text and the time that pg_prepared_statements and pg_cursors show.
        constants: the zone and the styles of the session when it was first bound, in which its
            constants are read ever after; None for one of the text of a Query.
        bound_to: the settings that `bound` is right for, by its catalog.
        kept_bytes: about how many bytes the statement takes under a name.
        keyed_reads: how it is read by key, by result formats.
    """

    statement: Statement
    declared: tuple[SqlType | None, ...] | None
    parameter_types: tuple[SqlType, ...] = ()
    schema: Schema | None = None
    bound: BoundQuery | BoundInsert | BoundUpdate | BoundDelete | None = None
    constants: tuple[str, InputStyles] | None = None
    bound_to: PerImage[object] = field(default_factory=PerImage)
    was_bound: bool = False
    insert_row: PerImage[Shape | None] = field(default_factory=PerImage)
    keyed_reads: PerImage[dict[tuple[int, ...], Any]] = field(default_factory=PerImage)
    from_sql: bool = False
    is_of_text: bool = False
    shown_text: str = ""
    made_us: int = 0
    kept_bytes: int = 0

    @property
    def text(self) -> str:
        """The statement's own text."""
        return self.statement.text

    @property
    def is_parsed(self) -> bool:
        """True unless the rows of the text were decoded, and nothing else was needed so far."""
        return not isinstance(self.statement, UnparsedInsert)

    def is_bound_to(self, catalog: Catalog, settings: Settings) -> bool:
        """Tell whether the bound tree is still right for this catalog and these settings."""
        # The same object as long as no setting changes; to compare two takes a microsecond.
        bound_under, captured = self.bound_to.find(catalog), settings.captured()
        return bound_under is captured or bound_under == captured

    def refresh(self, catalog: Catalog, settings: Settings) -> None:
        """Bind again if the catalog or a captured setting is another one than last time."""
        if self.is_bound_to(catalog, settings):
            return
        now = captured = settings.captured()
        if not self.is_of_text:
            if self.constants is None:
                self.constants = captured.reads_constants
            elif self.constants != captured.reads_constants:
                captured = replace(captured, constants=self.constants)
        self.insert_row.forget()
        self.keyed_reads.forget()
        if not self.is_parsed:
            (self.statement,) = (one for one in parse(self.text) if not isinstance(one, Empty))
        before = self.schema, self.bound, self.parameter_types
        first = not self.was_bound
        statement = self.statement
        if isinstance(statement, Select | Declare | Subscribe):
            select = statement if isinstance(statement, Select) else statement.select
            self._refresh_select(select, catalog, captured)
            if isinstance(statement, Subscribe):
                assert self.schema is not None
                self.schema = subscribed_schema(self.schema, statement.progress)
            elif isinstance(statement, Declare):
                self.schema = None
        elif isinstance(statement, Insert):
            self._keep(bind_insert(statement, catalog, captured, self.declared))
        elif isinstance(statement, Update):
            self._keep(bind_update(statement, catalog, captured, self.declared))
        elif isinstance(statement, Delete):
            self._keep(bind_delete(statement, catalog, captured, self.declared))
        elif isinstance(statement, Show):
            if statement.name == "all":
                names: Sequence[str] = SHOW_ALL_COLUMNS
            else:
                settings.value(statement.name.lower())
                names = (canonical_name(statement.name),)
            self.schema = tuple(OutputColumn(name, TEXT) for name in names)
        elif isinstance(statement, Explain):
            kind = JSON if statement.options.get("format") == "json" else TEXT
            self.schema = (OutputColumn("QUERY PLAN", kind),)
            if isinstance(statement.statement, Select):
                self._keep_types(statement.statement.query, catalog, captured)
        elif isinstance(statement, CreateTable) and statement.query is not None:
            self._keep_types(statement.query, catalog, captured)
        if not first and before[0] != self.schema and not self.is_of_text:
            self.schema, self.bound, self.parameter_types = before
            raise SqlError("0A000", "cached plan must not change result type", routine="RevalidateCachedQuery")
        self.bound_to.keep(catalog, now)
        self.was_bound = True

    def read(self, catalog: Catalog, settings: Settings) -> None:
        """Do what the general way needs before the statement runs: parse a text that was only
        decoded so far, and bind it.
        """
        if not self.is_parsed:
            self.bound_to.forget()
        self.refresh(catalog, settings)

    def _refresh_select(self, select: Select, catalog: Catalog, settings: SessionSettings) -> None:
        self.bound = bind_query(select.query, catalog, settings, self.declared, locks=True, versions=True)
        self.schema = self.bound.told
        self.parameter_types = self.bound.parameters

    def _keep_types(self, query: Query, catalog: Catalog, settings: SessionSettings) -> None:
        """Keep the types of the parameters of a query, which is bound anew when it runs."""
        self.parameter_types = bind_query(query, catalog, settings, self.declared, versions=True).parameters

    def _keep(self, bound: BoundInsert | BoundUpdate | BoundDelete) -> None:
        self.bound = bound
        self.parameter_types = bound.parameters
        self.schema = None if bound.returning is None else returned(bound.returning, bound.relation)


@dataclass
class Portal:
    """A prepared statement with its parameter values, and, once it ran, its outcome.

    Attributes:
        row, given: the decoded rows of an INSERT into a stream: those of the parameters, or of its
            text.
        table_rows: those of an INSERT into a table, and the table.
        values: the parameters otherwise.
        is_spent: the portal ran and has no rows to give.
        is_at_end: the cursor is after its last row.
        is_broken: a FETCH failed.
        scroll: False where the cursor may only go forward.
        holds: the cursor outlives its transaction.
        rows_bytes: the bytes of `kept_bytes` that are rows.
    """

    prepared: Prepared
    message: Bind
    values: tuple[Literal, ...] = ()
    row: Shape | None = None
    given: Morsel | None = None
    table_rows: tuple[TableEntry, pa.Table] | None = None
    outcome: Outcome | None = None
    is_spent: bool = False
    is_at_end: bool = False
    is_broken: bool = False
    scroll: bool | None = None
    holds: bool = False
    kept_bytes: int = 0
    rows_bytes: int = 0

    @property
    def result_formats(self) -> Sequence[int]:
        """The format codes of the result columns, in Bind's short form."""
        return self.message.result_formats

    def decode_parameters(self, settings: Settings) -> None:
        """Read the parameter values, whose texts are read as `settings` say, as literals.

        Raises 22P02, 22P03 and the like for a bad value, with its number in CONTEXT.
        """
        types = self.prepared.parameter_types
        formats = expand(self.message.parameter_formats, len(types))
        found: list[Literal] = []
        for value, kind, code in zip(self.message.parameters(), types, formats, strict=True):
            try:
                found.append(parameter(self.prepared, value, kind, code, settings, len(found) + 1))
            except SqlError as error:
                name = f'portal "{self.message.portal}"' if self.message.portal else "unnamed portal"
                error.context = f"{name} parameter ${len(found) + 1}"
                # PostgreSQL has room for the value, and does not show it either unless it is told
                # to.
                if code == 0 and error.sqlstate not in ENCODING_ERRORS:
                    error.context += " = '...'"
                raise
        self.values = tuple(found)

    def check_result_formats(self) -> None:
        """Raise 08P01 when there are neither none, nor one, nor as many formats as the result has
        columns.
        """
        formats, schema = self.message.result_formats, self.prepared.schema
        if schema is not None and len(formats) > 1 and len(formats) != len(schema):
            raise SqlError(
                "08P01", f"bind message has {len(formats)} result formats but query has {len(schema)} columns"
            )


def parameter(
    prepared: Prepared, value: bytes | None, kind: SqlType, format_code: int, settings: Settings, number: int
) -> Literal:
    """Return the value of a parameter as a literal. Raises 22P02, 22P03 and the like."""
    if value is None:
        return Literal(None, kind)
    if format_code == 0:
        text = text_value(value, settings.encoding)
        if names_objects(kind):
            return known_oids(text, kind, prepared.bound_to.image, settings.captured())
        return Literal(input_value(text, kind, settings.time_zone, None, settings.input_styles), kind)
    try:
        return Literal(binary_value(value, kind, settings.encoding), kind)
    except SqlError as error:
        if error.message == WRONG_FORMAT:
            error.message += f" in bind parameter {number}"
        raise


def prepare(text: str, oids: Sequence[int], image: CatalogImage) -> Prepared:
    """Return one statement, parsed and not yet bound.

    Raises SqlError for every error that makes it unusable.

    image: has own types.
    """
    statements = [statement for statement in parse(text) if not isinstance(statement, Empty)]
    if len(statements) > 1:
        raise SqlError("42601", "cannot insert multiple commands into a prepared statement")
    declared = tuple(_declared(oid, image) for oid in oids)
    return Prepared(statements[0] if statements else Empty(text), declared)


def make_portal(prepared: Prepared, message: Bind) -> Portal:
    """Return the portal of a Bind.

    Raises 08P01 when there are not as many parameters as the statement has.
    """
    expected = len(prepared.parameter_types)
    formats_count = len(message.parameter_formats)
    if formats_count > 1 and formats_count != message.parameters_count:
        raise SqlError(
            "08P01",
            f"bind message has {formats_count} parameter formats but {message.parameters_count} parameters",
        )
    if message.parameters_count != expected:
        raise SqlError(
            "08P01",
            f'bind message supplies {message.parameters_count} parameters, but prepared statement "{message.statement}" '
            f"requires {expected}",
        )
    return Portal(prepared, message)


def describe_prepared(prepared: Prepared) -> bytes:
    """Return ParameterDescription and RowDescription or NoData."""
    types = writer.parameter_description([kind.oid for kind in prepared.parameter_types])
    return types + (writer.NO_DATA if prepared.schema is None else row_description(prepared.schema, ()))


def describe_portal(portal: Portal) -> bytes:
    """Return RowDescription or NoData."""
    schema = portal.prepared.schema
    return writer.NO_DATA if schema is None else row_description(schema, portal.result_formats)


def _declared(oid: int, image: CatalogImage) -> SqlType | None:
    if oid == 0:
        return None
    kind = by_oid(oid) or image.types_by_oid.get(oid)
    if kind is None:
        raise SqlError("0A000", f"parameters of the type with OID {oid} are not supported yet")
    return None if kind == UNKNOWN else kind
