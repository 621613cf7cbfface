"""CREATE FOREIGN TABLE [IF NOT EXISTS] name (columns) SERVER stream [OPTIONS (...)].

The options are capacity '...', string_capacity '...' and timeout '...'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.columns import table_column
from sql.parse.statements.constraints import at_table_constraint, refuse_inheritance, table_constraint
from sql.parse.statements.create_table import COLUMNS_MAX, check_names
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import foreign_options
from sql.parse.statements.parts import TableColumn
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class CreateStream(
    Statement,
    tag="CREATE FOREIGN TABLE",
    defines=True,
    named=(
        ("name", Naming.NEW_AT_POSITION),
        ("columns", Naming.TYPES),
    ),
    rights=(("name", Right.CREATE_AT_POSITION),),
):
    """CREATE FOREIGN TABLE [IF NOT EXISTS] name (...) SERVER stream [OPTIONS (...)]."""

    name: str
    columns: tuple[TableColumn, ...]
    options: Mapping[str, str]
    if_not_exists: bool
    name_position: int


SERVER = "stream"
OPTIONS = frozenset({"capacity", "string_capacity", "timeout"})


@begins("create foreign")
def create_foreign_table(cursor: Cursor) -> CreateStream:
    """Read the statement from its first word."""
    cursor.expect("create", "foreign", "table")
    if_not_exists = cursor.accept_if_not_exists()
    name, name_position = cursor.placed_relation()
    if cursor.at("partition"):
        raise not_supported("PARTITION OF", cursor.position)
    columns = column_definitions(cursor, name)
    refuse_inheritance(cursor)
    cursor.expect("server")
    server, server_position = cursor.placed_name()
    options = foreign_options(cursor, OPTIONS) if cursor.at("options") else {}
    if server != SERVER:
        hint = f'The server of streams is called "{SERVER}".'
        cursor.defer(SqlError("42704", f'server "{server}" does not exist', server_position, hint=hint))
    return CreateStream(cursor.statement_text, name, columns, options, if_not_exists, name_position)


def column_definitions(cursor: Cursor, table: str) -> tuple[TableColumn, ...]:
    """Read (name type constraints, ...)."""
    position = cursor.position
    columns: list[TableColumn] = []

    def element(cursor: Cursor) -> None:
        place = cursor.position
        if cursor.at("like"):
            raise not_supported("LIKE in a stream", place)
        if at_table_constraint(cursor):
            constraint = table_constraint(cursor)
            cursor.refuse(f"{'a constraint' if constraint is None else constraint.kind.upper()} in a stream", place)
        else:
            columns.append(column_definition(cursor, table))

    if not cursor.listed_or_none(element):
        cursor.refuse("a stream without columns", position)
    check_names(cursor, [column.name for column in columns])
    if len(columns) > COLUMNS_MAX:
        cursor.defer(SqlError("54011", f"tables can have at most {COLUMNS_MAX} columns"))
    return tuple(columns)


def column_definition(cursor: Cursor, table: str) -> TableColumn:
    """Read one column.

    Of all that can be written at a column, a stream keeps NOT NULL and DEFAULT.
    """
    position = cursor.position
    found = table_column(cursor, table)
    refused = [item.kind.upper() for item in found.constraints]
    if found.serial:
        refused.append("serial")
    if found.identity is not None:
        refused.append("GENERATED")
    for what in refused:
        cursor.refuse(f"{what} in a stream", position)
    return found
