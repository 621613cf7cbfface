"""The types that statements were read with, found in a catalog: the grammar leaves those open that are not PostgreSQL's own.

Enters: the columns of statements, or changes of them; what finds a type by its name. Leaves: the same with known types. Raises
42704 and 3F000 at the name's position, and 0A000 for what a stream can't hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from sql.errors import SqlError
from sql.parse.statements.parts import ColumnDefinition, TableChange, TableColumn
from sql.parse.type_names import OwnTypes, found_column_type, found_type

Part = TypeVar("Part", TableColumn, ColumnDefinition, TableChange)


def with_type(part: Part, own: OwnTypes) -> Part:
    """Return a column, or a change of one, with its known type."""
    if isinstance(part, TableColumn):
        return replace(part, type=found_type(part.type, own))
    if isinstance(part, ColumnDefinition):
        return replace(part, type=found_column_type(part.type, own))
    if part.column is not None:
        return replace(part, column=replace(part.column, type=found_type(part.column.type, own)))
    if part.type is None:
        return part
    try:
        return replace(part, type=found_type(part.type, own))
    except SqlError as error:
        # PostgreSQL gives no position of a type that is not there.
        raise replace(error, position=None) from None
