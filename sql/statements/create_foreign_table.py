"""CREATE FOREIGN TABLE [IF NOT EXISTS] name (columns) SERVER stream [OPTIONS (capacity '...')]."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import expressions as grammar
from sql.grammar.cursor import Cursor
from sql.grammar.types import type_name
from sql.statements.options import foreign_options
from sql.statements.statement import ColumnDefinition, CreateStream
from sql.syntax import Expression
from sql.type_names import column_type

SERVER = "stream"
OPTIONS = frozenset({"capacity"})
COLUMNS_MAX = 1600
TABLE_CONSTRAINTS = ("constraint", "primary", "unique", "check", "foreign", "exclude", "like")


def create_foreign_table(cursor: Cursor) -> CreateStream:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("create", "foreign", "table")
    if_not_exists = cursor.accept_if_not_exists()
    name_position = cursor.position
    name = cursor.relation_name(creating=True)
    if cursor.at("partition"):
        raise not_supported("PARTITION OF", cursor.position)
    columns = column_definitions(cursor)
    if cursor.at("inherits"):
        raise not_supported("INHERITS", cursor.position)
    cursor.expect("server")
    server = cursor.name()
    options = foreign_options(cursor, OPTIONS) if cursor.at("options") else {}
    if server != SERVER:
        raise SqlError(
            "42704", f'server "{server}" does not exist', hint=f'The server of streams is called "{SERVER}".'
        )
    return CreateStream(cursor.text_since(first), name, columns, options, if_not_exists, name_position)


def column_definitions(cursor: Cursor) -> tuple[ColumnDefinition, ...]:
    """Read (name type constraints, ...)."""
    cursor.expect_operator("(")
    columns: list[ColumnDefinition] = []
    if cursor.at_operator(")"):
        raise not_supported("a stream without columns", cursor.position)
    while True:
        if cursor.at(*TABLE_CONSTRAINTS) and not cursor.ahead(1).kind == "operator":
            raise not_supported(f"{cursor.token.value.upper()} in a stream", cursor.position)
        column = column_definition(cursor)
        if any(column.name == other.name for other in columns):
            raise SqlError("42701", f'column "{column.name}" specified more than once')
        columns.append(column)
        if not cursor.accept_operator(","):
            break
    cursor.expect_operator(")")
    if len(columns) > COLUMNS_MAX:
        raise SqlError("54011", f"tables can have at most {COLUMNS_MAX} columns")
    return tuple(columns)


def column_definition(cursor: Cursor) -> ColumnDefinition:
    position = cursor.position
    name = cursor.name()
    kind = column_type(type_name(cursor))
    not_null: bool | None = None
    default: Expression | None = None
    default_text = ""
    while not cursor.at_operator(",", ")"):
        constraint_position = cursor.position
        if cursor.at("not", "null"):
            wanted = cursor.accept("not")
            cursor.expect("null")
            if not_null is not None and not_null != wanted:
                raise SqlError(
                    "42601", f'conflicting NULL/NOT NULL declarations for column "{name}"', constraint_position
                )
            not_null = wanted
        elif cursor.accept("default"):
            first = cursor.index
            # b_expr: a bare NOT NULL after the value is a constraint.
            value = grammar.expression(cursor, grammar.OPERATOR)
            if default is not None:
                raise SqlError("42601", f'multiple default values specified for column "{name}"', constraint_position)
            default, default_text = value, cursor.text_since(first)
        elif cursor.at("constraint", "check", "primary", "unique", "references", "generated", "options", "collate"):
            raise not_supported(f"{cursor.token.value.upper()} in a stream", constraint_position)
        else:
            cursor.fail()
    return ColumnDefinition(name, kind, bool(not_null), default, default_text, position)
