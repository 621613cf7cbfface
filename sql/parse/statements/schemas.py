"""CREATE, ALTER and DROP SCHEMA."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.owners import or_owner
from sql.parse.statements.parts import RoleSpec
from sql.parse.statements.roles import role_spec
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class CreateSchema(Statement, tag="CREATE SCHEMA", defines=True):
    """The statement CREATE SCHEMA [IF NOT EXISTS] [name] [AUTHORIZATION role].

    Without a name, the schema has the name of the role.
    """

    name: str | None
    if_not_exists: bool
    role: RoleSpec | None


@dataclass(frozen=True)
class DropSchema(Statement, tag="DROP SCHEMA", defines=True):
    """DROP SCHEMA [IF EXISTS] names [CASCADE | RESTRICT]."""

    names: tuple[str, ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class RenameSchema(Statement, tag="ALTER SCHEMA", defines=True):
    """ALTER SCHEMA name RENAME TO new_name."""

    name: str
    new_name: str


@begins("create schema")
def create_schema(cursor: Cursor) -> CreateSchema:
    """Read CREATE SCHEMA [IF NOT EXISTS] name [AUTHORIZATION role], or without the name."""
    cursor.expect("create", "schema")
    if_not_exists = cursor.accept_if_not_exists()
    name = None if cursor.at("authorization") else cursor.name()
    role = role_spec(cursor) if cursor.accept("authorization") else None
    if cursor.at("create", "grant"):
        cursor.refuse("a statement in CREATE SCHEMA", cursor.position)
        cursor.skip_statement()
    return CreateSchema(cursor.statement_text, name, if_not_exists, role)


@begins("drop schema")
def drop_schema(cursor: Cursor) -> DropSchema:
    """Read DROP SCHEMA [IF EXISTS] names [CASCADE | RESTRICT]."""
    cursor.expect("drop", "schema")
    if_exists = cursor.accept("if", "exists")
    names = cursor.several(Cursor.name)
    cascade = cursor.cascade()
    return DropSchema(cursor.statement_text, names, if_exists, cascade)


@begins("alter schema")
@or_owner
def alter_schema(cursor: Cursor) -> RenameSchema:
    """Read ALTER SCHEMA name RENAME TO name."""
    cursor.expect("alter", "schema")
    name = cursor.name()
    cursor.expect("rename", "to")
    return RenameSchema(cursor.statement_text, name, cursor.name())
