"""The types that statements were read with, found in a catalog: the grammar leaves those open that are not PostgreSQL's own.

Enters: statements, what finds a type by its name. Leaves: the same statements with types of columns. Raises 42704 and 3F000 at the name's
position, and 0A000 for what a stream can't hold.
"""

from __future__ import annotations

from dataclasses import replace

from sql.errors import SqlError
from sql.parse.statements.statement import AlterTable, CreateStream, CreateTable, TableChange
from sql.parse.type_names import OwnTypes, found_column_type, found_type


def with_types(
    statement: CreateTable | CreateStream | AlterTable, own: OwnTypes
) -> CreateTable | CreateStream | AlterTable:
    """Return the statement with known types."""
    match statement:
        case CreateTable():
            return replace(
                statement, columns=tuple(replace(one, type=found_type(one.type, own)) for one in statement.columns)
            )
        case CreateStream():
            stored = tuple(replace(one, type=found_column_type(one.type, own)) for one in statement.columns)
            return replace(statement, columns=stored)
    return replace(statement, changes=tuple(_change(one, own) for one in statement.changes))


def _change(change: TableChange, own: OwnTypes) -> TableChange:
    if change.column is not None:
        return replace(change, column=replace(change.column, type=found_type(change.column.type, own)))
    if change.type is None:
        return change
    try:
        return replace(change, type=found_type(change.type, own))
    except SqlError as error:
        # PostgreSQL gives no position of a type that is not there.
        raise replace(error, position=None) from None
