"""CREATE EXTENSION and DROP EXTENSION: there are none to be made.

plpgsql, which every PostgreSQL has, is taken for one that is there, since dumps and migrations make
it before anything else; a function in its language is refused where it is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.options import option_value
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class CreateExtension(Statement, tag="CREATE EXTENSION", defines=True):
    """CREATE EXTENSION [IF NOT EXISTS] name [WITH] [SCHEMA schema] [VERSION version] [CASCADE]."""

    name: str
    if_not_exists: bool


@dataclass(frozen=True)
class DropExtension(Statement, tag="DROP EXTENSION", defines=True):
    """DROP EXTENSION [IF EXISTS] names [CASCADE | RESTRICT]."""

    names: tuple[str, ...]
    if_exists: bool


@begins("create extension")
def create_extension(cursor: Cursor) -> CreateExtension:
    """Read CREATE EXTENSION."""
    cursor.expect("create", "extension")
    if_not_exists = cursor.accept_if_not_exists()
    name = cursor.name()
    cursor.accept("with")
    while not cursor.at_end_of_statement():
        if cursor.accept("schema"):
            cursor.name()
        elif cursor.accept("version"):
            option_value(cursor)
        else:
            cursor.expect("cascade")
    return CreateExtension(cursor.statement_text, name, if_not_exists)


@begins("drop extension")
def drop_extension(cursor: Cursor) -> DropExtension:
    """Read DROP EXTENSION."""
    cursor.expect("drop", "extension")
    if_exists = cursor.accept("if", "exists")
    names = cursor.several(Cursor.name)
    cursor.cascade()
    return DropExtension(cursor.statement_text, names, if_exists)
