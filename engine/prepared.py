"""Prepared statements and portals of the extended protocol.

Enters: Parse and Bind messages. Leaves: bound statements with known parameter and result types, and literals for their parameters. A
prepared statement is bound anew when the catalog has changed under it; if its result type changed, that is 0A000, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.results import Outcome, expand, row_description
from sql.bind.insert import BoundInsert, bind_insert
from sql.bind.query import bind_query
from sql.catalog import Catalog
from sql.datatypes import TEXT, UNKNOWN, SqlType, by_oid
from sql.errors import SqlError
from sql.expressions import Literal
from sql.literals import binary_value, input_value
from sql.parse import parse
from sql.relations import BoundQuery, OutputColumn, Schema
from sql.settings import Settings, canonical_name
from sql.statements.statement import Empty, Explain, Insert, Select, Show, Statement
from sql.wire import writer
from sql.wire.messages import Bind

if TYPE_CHECKING:
    from engine.parameter_rows import ParameterRow

SHOW_ALL_COLUMNS = ("name", "setting", "description")


@dataclass
class Prepared:
    """A parsed and bound statement. declared: parameter types as the client gave them (None: to be inferred)."""

    statement: Statement
    declared: tuple[SqlType | None, ...]
    parameter_types: tuple[SqlType, ...] = ()
    schema: Schema | None = None
    bound: BoundQuery | BoundInsert | None = None
    bound_to: tuple[Catalog, object] | None = None
    insert_image: object = None
    insert_row: ParameterRow | None = None

    @property
    def text(self) -> str:
        """The statement's own text."""
        return self.statement.text

    def refresh(self, catalog: Catalog, settings: Settings) -> None:
        """Bind again if the catalog or a captured setting is another one than last time."""
        captured = settings.captured()
        if self.bound_to is not None and self.bound_to[0] is catalog and self.bound_to[1] == captured:
            return
        before = self.schema
        first = self.bound_to is None
        statement = self.statement
        if isinstance(statement, Select):
            self.bound = bind_query(statement.query, catalog, captured, self.declared)
            self.schema = self.bound.root.schema
            self.parameter_types = self.bound.parameters
        elif isinstance(statement, Insert):
            self.bound = bind_insert(statement, catalog, captured, self.declared)
            self.parameter_types = self.bound.parameters
        elif isinstance(statement, Show):
            names = SHOW_ALL_COLUMNS if statement.name == "all" else (canonical_name(statement.name),)
            self.schema = tuple(OutputColumn(name, TEXT) for name in names)
        elif isinstance(statement, Explain):
            self.schema = (OutputColumn("QUERY PLAN", TEXT),)
        if not first and before != self.schema:
            raise SqlError("0A000", "cached plan must not change result type")
        self.bound_to = (catalog, captured)


@dataclass
class Portal:
    """A prepared statement with its parameter values, and, once it ran, its outcome."""

    prepared: Prepared
    message: Bind
    time_zone: str
    outcome: Outcome | None = None

    @property
    def result_formats(self) -> Sequence[int]:
        """Format codes of the result columns, in Bind's short form."""
        return self.message.result_formats

    def parameters(self) -> tuple[Literal, ...]:
        """Return the parameter values as literals. Raises 22P02, 22P03 and the like for a bad one."""
        types = self.prepared.parameter_types
        formats = expand(self.message.parameter_formats, len(types))
        return tuple(
            _literal(value, kind, code, self.time_zone)
            for value, kind, code in zip(self.message.parameters(), types, formats, strict=True)
        )


def prepare(text: str, oids: Sequence[int], catalog: Catalog, settings: Settings) -> Prepared:
    """Return the prepared form of one statement. Raises SqlError for anything that makes it unusable."""
    statements = [statement for statement in parse(text) if not isinstance(statement, Empty)]
    if len(statements) > 1:
        raise SqlError("42601", "cannot insert multiple commands into a prepared statement")
    declared = tuple(_declared(oid) for oid in oids)
    prepared = Prepared(statements[0] if statements else Empty(text), declared)
    prepared.refresh(catalog, settings)
    return prepared


def make_portal(prepared: Prepared, message: Bind, settings: Settings) -> Portal:
    """Return the portal of a Bind. Raises 08P01 when the counts do not fit."""
    expected = len(prepared.parameter_types)
    if message.parameters_count != expected:
        raise SqlError(
            "08P01",
            f'bind message supplies {message.parameters_count} parameters, but prepared statement "{message.statement}" '
            f"requires {expected}",
        )
    formats_count = len(message.parameter_formats)
    if formats_count > 1 and formats_count != expected:
        raise SqlError("08P01", f"bind message has {formats_count} parameter formats but {expected} parameters")
    columns_count = len(prepared.schema or ())
    if len(message.result_formats) > 1 and len(message.result_formats) != columns_count:
        raise SqlError(
            "08P01",
            f"bind message has {len(message.result_formats)} result formats but query has {columns_count} columns",
        )
    return Portal(prepared, message, settings.time_zone)


def describe_prepared(prepared: Prepared) -> bytes:
    """Return ParameterDescription and RowDescription or NoData."""
    types = writer.parameter_description([kind.oid for kind in prepared.parameter_types])
    return types + (writer.NO_DATA if prepared.schema is None else row_description(prepared.schema, ()))


def describe_portal(portal: Portal) -> bytes:
    """Return RowDescription or NoData."""
    schema = portal.prepared.schema
    return writer.NO_DATA if schema is None else row_description(schema, portal.result_formats)


def _declared(oid: int) -> SqlType | None:
    if oid == 0:
        return None
    kind = by_oid(oid)
    if kind is None:
        raise SqlError("0A000", f"parameters of the type with OID {oid} are not supported yet")
    return None if kind == UNKNOWN else kind


def _literal(value: bytes | None, kind: SqlType, format_code: int, time_zone: str) -> Literal:
    if value is None:
        return Literal(None, kind)
    if format_code == 0:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            raise SqlError("22021", 'invalid byte sequence for encoding "UTF8"') from None
        return Literal(input_value(text, kind, time_zone, None), kind)
    if format_code == 1:
        return Literal(binary_value(value, kind), kind)
    raise SqlError("22023", f"unsupported format code: {format_code}")
